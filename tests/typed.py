# pyright: strict
"""Index functions with structs and arrays, as strict type checkers take them."""

from dataclasses import dataclass
from typing import NamedTuple

from lego_emit import generate
from lego_emit.emitted import Emitted
from lego_emit.types import I16, I32, I64, U32, Array, Bool, Size, Static


class Coord(NamedTuple):
    x: int
    y: int
    z: int


@dataclass(frozen=True)
class Box:
    low: int
    high: int


def voxel(size: Coord, at: Coord) -> int:
    return (at.z * size.y + at.y) * size.x + at.x


def unravel(size: Coord, n: int) -> Coord:
    return Coord(n % size.x, n // size.x % size.y, n // (size.x * size.y))


def offset(X: Array[4], i: Array[4]) -> int:
    flat = 0
    for k in range(4):
        flat = flat * X[k] + i[k]
    return flat


def turned(i: tuple[int, int, int]) -> tuple[int, int, int]:
    return i[1], i[2], i[0]


def clipped(box: Box, n: int) -> Box:
    return Box(min(box.low, n), max(box.high, n))


class Cell(NamedTuple):
    x: I16
    y: U32


def declared(at: Cell, X: tuple[I16, I16], n: Size, flag: Bool) -> I64:
    return (at.x * X[0] + at.y // X[1]) * n + flag


def elements(X: Array[4]) -> int:
    first, *others = X
    return first * len(X) + sum(others)


def tile(BM: Static[int], BN: Static[int], M: int, N: int, i: int, j: int) -> int:
    return i // BM * BM * N + j // BN * BM * BN + i % BM * BN + j % BN


def halved(n: Static[I32], i: int) -> int:
    return tile(n, 2, n, n * 2, i, max(i, n))


def four_by_five() -> Emitted:
    return generate(voxel, "cpp", sizes={"size": Coord(4, 5, 6)}, ranges={"at.x": (0, 4)})
