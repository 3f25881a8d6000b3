"""A tensor of any rank: the position of a flat index, from arrays of run-time length."""

from lego_emit import fori_loop
from lego_emit.types import Array


def strided(index, rank, shape: Array[...], strides: Array[...]):
    """The position of a flat index in memory of these strides."""

    def axis(k, state):
        rest, position = state
        size = shape[rank - 1 - k]
        return rest // size, position + rest % size * strides[rank - 1 - k]

    return fori_loop(0, rank, axis, (index, 0), most=8)[1]


ranges = {"rank": (0, 9), "shape": (1, 1024), "strides": (-4096, 4096)}
domain = {"index": 24}
sizes = {"rank": 3, "shape[0]": 2, "shape[1]": 3, "shape[2]": 4}
sizes |= {"strides[0]": 1, "strides[1]": 8, "strides[2]": 2}
