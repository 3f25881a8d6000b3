"""Tiles of 8 x 16 of a row-major array of 8*P x 16*Q, sizes at run time."""

from lego_emit import cute


def kernel(P, Q):
    return cute.zipped_divide(cute.layout((8 * P, 16 * Q), (16 * Q, 1)), (8, 16))


sizes = {"P": 3, "Q": 2}
