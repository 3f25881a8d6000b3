"""A texture in one of four orders, by a tag that an IntEnum names."""

from enum import IntEnum

from lego_emit import Choice, GenP, GroupBy, RegP, Row, catalogue


class Order(IntEnum):
    ROWS = 0
    TILES = 1
    MORTON = 2
    SWIZZLED = 3


SWIZZLED = GenP([64, 64], lambda y, x: 64 * y + (x ^ y), lambda p: (p // 64, p % 64 ^ p // 64))


def texture(order):
    """A texture of 64 x 64 texels."""
    return Choice(
        order,
        {
            Order.ROWS: Row(64, 64),
            Order.TILES: GroupBy([64, 64]).OrderBy(RegP([8, 8, 8, 8], [0, 2, 1, 3])),
            Order.MORTON: catalogue["morton.2D"](64, 64),
            Order.SWIZZLED: SWIZZLED,
        },
    )


sizes = {"order": 1}
