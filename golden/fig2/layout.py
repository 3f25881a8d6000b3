"""Fig. 2: a 6x4 view; its 2x2 grid of 3x2 tiles is transposed and each tile reversed."""

from lego_emit import GenP, GroupBy, RegP


def reverse(i, j):
    return (2 - i) * 2 + (1 - j)


def reverse_inv(flat):
    return 2 - flat // 2, 1 - flat % 2


layout = GroupBy([6, 4]).OrderBy(RegP([2, 2], [1, 0]), GenP([3, 2], reverse, reverse_inv))
