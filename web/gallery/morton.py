"""Morton order: the bits of row and column take turns."""

from lego_emit import GroupBy, RegP

morton = GroupBy([8, 8]).OrderBy(RegP([2, 2, 2, 2, 2, 2], [0, 3, 1, 4, 2, 5]))
