"""Rows whose elements are exchanged in groups of 4: the position is computed anew."""

from lego_emit import GenP, GroupBy


def swizzle(i, j):
    return i * 16 + (j ^ i % 4 * 4)


def swizzle_inv(flat):
    return flat // 16, flat % 16 ^ flat // 16 % 4 * 4


layout = GroupBy([8, 16]).OrderBy(GenP([8, 16], swizzle, swizzle_inv))
walk = "j"
