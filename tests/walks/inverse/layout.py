"""The index of each position of tiles of 6 by 5, in the order of memory."""

from lego_emit import GroupBy, RegP

layout = GroupBy([18, 10]).OrderBy(RegP([3, 6, 2, 5], [0, 2, 1, 3]))
walk = "memory"
