"""Tiles of 6 by 5: a counter says where one ends."""

from lego_emit import GroupBy, RegP

layout = GroupBy([18, 10]).OrderBy(RegP([3, 6, 2, 5], [0, 2, 1, 3]))
walk = "logical"
