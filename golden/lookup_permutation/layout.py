"""A permutation of 24 positions that no formula is known for, given as data."""

from lego_emit import Lookup

layout = Lookup(
    [4, 6],
    [
        [20, 11, 23, 17, 21, 13],
        [5, 10, 9, 6, 0, 7],
        [1, 19, 16, 12, 22, 14],
        [15, 3, 8, 2, 18, 4],
    ],
)
