"""Fig. 9 to the letter over packed tiles: the mask is on the physical side."""

from lego_emit import ExpandBy, GroupBy, RegP

layout = ExpandBy([5, 7], [6, 8], GroupBy([6, 8]).OrderBy(RegP([3, 2, 4, 2], [0, 2, 1, 3])))
