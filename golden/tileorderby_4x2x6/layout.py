"""Section III-B: TileOrderBy on a 4x2x6 view with a permutation on each level."""

from lego_emit import RegP, TileBy

layout = TileBy([4, 2, 6]).TileOrderBy(RegP([2, 2, 3], [1, 2, 0]), RegP([2, 1, 2], [2, 0, 1]))
