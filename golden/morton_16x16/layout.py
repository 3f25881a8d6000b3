"""The Morton (Z) order of 16x16: the bits of i and j take turns."""

from lego_emit import GenP, GroupBy


def spread(x):
    x = (x | x << 2) & 0x33
    return (x | x << 1) & 0x55


def squeeze(x):
    x = x & 0x55
    x = (x | x >> 1) & 0x33
    return (x | x >> 2) & 0x0F


def morton(i, j):
    return spread(i) << 1 | spread(j)


def morton_inv(flat):
    return squeeze(flat >> 1), squeeze(flat)


layout = GroupBy([16, 16]).OrderBy(GenP([16, 16], morton, morton_inv))
