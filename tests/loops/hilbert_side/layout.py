"""The catalogue's Hilbert curve of a run-time side, a power of two."""

from lego_emit import catalogue


def hilbert_side(n):
    return catalogue["hilbert.2D"](n, n)


assume = ["pow2(n)"]
sizes = {"n": 16}
