"""Tiles put together to rows that are pitched; what lies between them stays as it is."""

from lego_emit import GroupBy, RegP, Strided


def copied(P, Q, LD):
    tiles = GroupBy([4 * P, 8 * Q]).OrderBy(RegP([P, 4, Q, 8], [0, 2, 1, 3]))
    return tiles, Strided((4 * P, 8 * Q), (LD, 1))


assume = ["LD >= 8*Q"]
sizes = {"P": 2, "Q": 3, "LD": 27}
