"""The catalogue's Hilbert curve in a cube of run-time side, a power of two."""

from lego_emit import catalogue


def hilbert_cube(n):
    return catalogue["hilbert.3D"](n, n, n)


assume = ["pow2(n)"]
sizes = {"n": 8}
