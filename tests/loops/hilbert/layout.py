"""The Hilbert curve of run-time order: a loop in each language."""

from lego_emit import fori_loop


def hilbert(n, x, y):
    """The place of (x, y) on the Hilbert curve of 2^n by 2^n points."""

    def step(k, state):
        x, y, d = state
        rx, ry = x >> n - 1 - k & 1, y >> n - 1 - k & 1
        if ry == 0:
            if rx == 1:
                x, y = (1 << n) - 1 - x, (1 << n) - 1 - y
            x, y = y, x
        return x, y, d * 4 + (3 * rx ^ ry)

    return fori_loop(0, n, step, (x, y, 0))[2]


assume = ["0 <= n", "n < 16", "0 <= x", "x < 2**n", "0 <= y", "y < 2**n"]
sizes = {"n": 3}
domain = {"x": 8, "y": 8}
