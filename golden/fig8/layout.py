"""Fig. 8: tiles that are contiguous in neither dimension."""

from lego_emit import GroupBy, RegP

layout = GroupBy([2, 2, 2, 2, 2]).OrderBy(RegP([2, 2, 2, 2, 2], [4, 1, 3, 2, 0]))
