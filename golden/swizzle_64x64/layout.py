"""A 64x64 tile in shared memory, its vectors of 8 swizzled by XOR: 4 phases of 2 rows."""

from lego_emit import GenP, GroupBy


def swizzle(i, j):
    phase = i // 2 % 4
    return 64 * i + (j // 8 ^ phase) * 8 + j % 8


def swizzle_inv(flat):
    i, j = flat // 64, flat % 64
    phase = i // 2 % 4
    return i, (j // 8 ^ phase) * 8 + j % 8


layout = GroupBy([64, 64]).OrderBy(GenP([64, 64], swizzle, swizzle_inv))
