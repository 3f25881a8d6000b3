"""The index functions that are compared: the rows of the table that benchmarks/simplify prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lego_emit import Col, GenP, GroupBy, RegP, Row, TileBy


@dataclass(frozen=True)
class Case:
    """One row.

    make(**sizes) is the layout; direction is apply or inv; best: the fewest operations known.
    sizes: none, or small numbers for the sizes that are symbolic; multiples: {"M": "BM"} where a
    size is a multiple of another.
    """

    name: str
    make: Callable
    direction: str
    best: int
    sizes: dict[str, int] = field(default_factory=dict)
    multiples: dict[str, str] = field(default_factory=dict)


def reverse(i, j):
    return (2 - i) * 2 + (1 - j)


def reverse_inv(flat):
    return 2 - flat // 2, 1 - flat % 2


def swizzle(i, j):
    return 64 * i + (j // 8 ^ i // 2 % 4) * 8 + j % 8


def swizzle_inv(flat):
    i, j = flat // 64, flat % 64
    return i, (j // 8 ^ i // 2 % 4) * 8 + j % 8


def tile_row(M, N, BM, BN):
    return TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))


def grouped(R, C, G):
    return GroupBy([R, C]).OrderBy(RegP([R // G, G, C], [0, 2, 1]))


def bricks(N, B):
    n = N // B
    return GroupBy([N, N, N]).OrderBy(RegP([n, B, n, B, n, B], [0, 2, 4, 1, 3, 5]))


def fig2():
    return GroupBy([6, 4]).TileOrderBy(RegP([2, 2], [1, 0]), GenP([3, 2], reverse, reverse_inv))


def fig6():
    return (
        GroupBy([6, 6])
        .OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
        .OrderBy(RegP([2, 2], [1, 0]), Row(3, 3))
    )


def five_twos():
    return GroupBy([32]).OrderBy(RegP([2, 2, 2, 2, 2], [4, 1, 3, 2, 0]))


def xor_swizzle():
    return GroupBy([64, 64]).OrderBy(GenP([64, 64], swizzle, swizzle_inv))


def morton():
    return GroupBy([16, 16]).OrderBy(RegP([2] * 8, [0, 4, 1, 5, 2, 6, 3, 7]))


def reshape_chain():
    return GroupBy([12]).OrderBy(Col(3, 4)).OrderBy(Col(2, 6))


CASES = (
    Case("tile_row_c", lambda: tile_row(1024, 1024, 32, 32), "apply", 6),
    Case(
        "tile_row_s",
        tile_row,
        "apply",
        6,
        {"M": 12, "N": 20, "BM": 3, "BN": 5},
        {"M": "BM", "N": "BN"},
    ),
    Case("grouped pid", lambda: grouped(32, 16, 8), "inv", 6),
    Case("grouped pid, symbolic", grouped, "inv", 6, {"R": 12, "C": 5, "G": 3}, {"R": "G"}),
    Case("Fig. 2", fig2, "apply", 6),
    Case("Fig. 6 without antidiagonals", fig6, "apply", 5),
    Case("Fig. 6 without antidiagonals", fig6, "inv", 6),
    Case("bricks 8^3 in 64^3", lambda: bricks(64, 8), "apply", 8),
    Case("bricks, symbolic", bricks, "apply", 13, {"N": 6, "B": 2}, {"N": "B"}),
    Case("bricks 8^3 in 64^3", lambda: bricks(64, 8), "inv", 12),
    Case("five twos permuted", five_twos, "apply", 10),
    Case("XOR swizzle 64x64", xor_swizzle, "apply", 5),
    Case("Morton 16x16", morton, "apply", 11),
    Case("reshape chain 12", reshape_chain, "apply", 4),
)
