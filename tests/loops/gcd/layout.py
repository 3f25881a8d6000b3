"""Euclid's algorithm: a loop that ends early."""

from lego_emit import fori_loop


def gcd(a, b):
    """The greatest common divisor."""

    def step(k, state):
        x, y = state
        return y, x % y

    return fori_loop(0, 48, step, (a, b), 48, while_=lambda k, state: state[1] > 0)[0]


assume = ["0 <= a", "a < 2**30", "0 <= b", "b < 2**30"]
domain = {"a": 20, "b": 30}
