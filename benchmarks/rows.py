"""The index functions that are compared: the rows of the table that benchmarks/simplify prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import prod
from random import Random
from typing import Any

from lego_emit import Col, GenP, GroupBy, RegP, Row, TileBy

SEED, SECOND = 17, 35
RANDOM = 60


@dataclass(frozen=True)
class Formula:
    """An index function of indices below dims that no layout gives: its memory has gaps."""

    dims: tuple[int, ...]
    apply: Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One row.

    make(**sizes) is the layout, or a Formula; direction is apply or inv; best: the fewest
    operations known, where somebody looked. sizes: none, or small numbers for the sizes that are symbolic; multiples: {"M": "BM"} where a
    size is a multiple of another.
    """

    name: str
    make: Callable
    direction: str
    best: int | None = None
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


def blocks(m: int, a: int, n: int, b: int, order: tuple[int, ...] = (0, 2, 1, 3)):
    return GroupBy([m * a, n * b]).OrderBy(RegP([m, a, n, b], order))


def bit_reversal(bits: int):
    return GroupBy([2**bits]).OrderBy(RegP([2] * bits, range(bits)[::-1]))


def padded_swizzle(stride: int, width: int, chunk: int, rows: int, step: int = 1) -> Formula:
    """A row is longer in memory than what is stored, chunks exclusive-ored with the row."""
    return Formula(
        (64, width),
        lambda i, j: stride * i + (j // chunk ^ i // step % rows) * chunk + j % chunk,
    )


def image_columns(width: int, padded: int, stride: int) -> Formula:
    """Pixels of rows that are padded, beside an offset in a window."""
    return Formula((32, width * width), lambda k, m: stride * k + m // width * padded + m % width)


def there_and_back(rows: int, columns: int, first: int = 0) -> Formula:
    """Every other row backwards: the odd ones, or the even ones with first 1."""

    def position(i, j):
        back = (i + first) % 2
        return columns * i + (1 - back) * j + back * (columns - 1 - j)

    return Formula((rows, columns), position)


def fragment_column(lanes: int, values: int, apart: int) -> Formula:
    """The column of a value of a tensor core's fragment."""
    return Formula(
        (32, 4 * values),
        lambda lane, r: lane % lanes * values + r % values + r // (2 * values) * apart,
    )


def matrix_rows() -> Formula:
    """The addresses that a warp's lanes give to ldmatrix: 16 rows of 64, two columns of 8."""
    return Formula((32,), lambda i: i % 16 * 64 + i // 16 * 8)


def skewed(width: int, stride: int, step: int) -> Formula:
    return Formula((64, width), lambda i, j: stride * i + (j + step * i) % width)


def mixed_digits(dims: tuple[int, ...], digits: tuple[tuple[int, bool], ...]) -> Formula:
    """Digits of one index, the lowest first, each with a stride and some of them backwards."""

    def position(x):
        total, lo = 0, 1
        for n, (stride, back) in zip(dims, digits, strict=True):
            digit = x // lo % n if lo * n < prod(dims) else x // lo
            total, lo = total + (n - 1 - digit if back else digit) * stride, lo * n
        return total

    return Formula((prod(dims),), position)


def halves(rows: int, width: int, parts: int) -> Formula:
    """A row's parts interleaved, as rotary embeddings have it."""
    each = width // parts
    return Formula((rows, width), lambda h, d: h * width + d % each * parts + d // each)


def random_cases(
    seed: int = SEED, count: int = RANDOM, first: int = 0, more: bool = False
) -> tuple[Case, ...]:
    """Rows of random kinds, the same ones for a seed. first: the number of the first one; more: of more
    kinds."""
    draw = Random(seed)

    def two() -> int:
        return draw.choice([2, 4, 8, 16])

    def size() -> int:
        return draw.choice([two(), draw.choice([3, 5, 6, 7, 9, 10, 12])])

    def shuffled(n: int) -> tuple[int, ...]:
        return tuple(draw.sample(range(n), n))

    def blocked():
        dims, order = [size() for _ in range(4)], shuffled(4)
        return f"blocks {dims} {order}", partial(blocks, *dims, order)

    def retiled():
        tiles = [[size(), size()] for _ in range(3)]
        outer = draw.choice([Row, Col])
        whole = [prod(n) for n in zip(*tiles, strict=True)]
        return f"{outer.__name__} in tiles {tiles}", lambda: TileBy(*tiles).OrderBy(outer(*whole))

    def regrouped():
        dims = [size() for _ in range(draw.choice([3, 4]))]
        order = shuffled(len(dims))
        return f"digits {dims} {order}", lambda: GroupBy([prod(dims)]).OrderBy(RegP(dims, order))

    def bits():
        n = draw.choice([4, 5, 6, 7, 8])
        order, cut = shuffled(n), draw.choice([1, n // 2])
        dims = [2**cut, 2 ** (n - cut)]
        return f"bits {dims} {order}", lambda: GroupBy(dims).OrderBy(RegP([2] * n, order))

    def chained():
        a, b, c = size(), size(), size()
        return (
            f"reshapes {a} {b} {c}",
            lambda: GroupBy([a * b * c]).OrderBy(Col(a, b * c)).OrderBy(Col(a * b, c)),
        )

    def padded():
        width, chunk = draw.choice([16, 32, 64]), draw.choice([4, 8])
        stride, rows = width + draw.choice([4, 8, 16, 32]), draw.choice([2, width // chunk])
        given = stride, width, chunk, rows, draw.choice([1, 2, 4])
        return f"padded swizzle {given}", partial(padded_swizzle, *given)

    def columns():
        width = draw.choice([4, 7, 8, 14, 16, 28])
        given = width, draw.choice([width, 2 * width, 32, width + 4]), draw.choice([1, 32, 256])
        return f"image columns {given}", partial(image_columns, *given)

    def turning():
        given = size(), size(), draw.choice([0, 1])
        return f"there and back {given}", partial(there_and_back, *given)

    def fragment():
        given = draw.choice([4, 8]), draw.choice([2, 4]), draw.choice([8, 16, 32])
        return f"fragment column {given}", partial(fragment_column, *given)

    def banks():
        width = draw.choice([8, 16, 32, 5, 7, 12])
        given = width, draw.choice([width, 2 * width, 64]), draw.choice([1, 2, 3])
        return f"skewed {given}", partial(skewed, *given)

    def mixed():
        dims = [size() for _ in range(draw.choice([2, 3, 4]))]
        strides = [draw.choice([two() * two(), prod(dims) // n, n * size()]) for n in dims]
        digits = [(stride, draw.random() < 0.25) for stride in strides]
        return f"mixed digits {dims} {digits}", partial(mixed_digits, (*dims,), (*digits,))

    def interleaved():
        parts = draw.choice([2, 4, 3])
        given = size(), parts * draw.choice([two(), 3, 64]), parts
        return f"halves {given}", partial(halves, *given)

    kinds = [blocked, retiled, regrouped, bits, chained, padded, columns, turning, fragment, banks]
    kinds += [mixed, interleaved, mixed, interleaved, mixed] if more else []
    found = []
    for number in range(first, first + count):
        name, make = kinds[number % len(kinds)]()
        layout = not isinstance(make(), Formula)
        direction = draw.choice(["apply", "inv"]) if layout else "apply"
        found.append(Case(f"random {number}: {name}", make, direction))
    return tuple(found)


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
    Case("grouped pid", lambda: grouped(32, 16, 8), "inv", 4),
    Case("grouped pid, symbolic", grouped, "inv", 6, {"R": 12, "C": 5, "G": 3}, {"R": "G"}),
    Case("Fig. 2", fig2, "apply", 6),
    Case("Fig. 6 without antidiagonals", fig6, "apply", 5),
    Case("Fig. 6 without antidiagonals", fig6, "inv", 6),
    Case("bricks 8^3 in 64^3", lambda: bricks(64, 8), "apply", 8),
    Case("bricks, symbolic", bricks, "apply", 13, {"N": 6, "B": 2}, {"N": "B"}),
    Case("bricks 8^3 in 64^3", lambda: bricks(64, 8), "inv", 8),
    Case("five twos permuted", five_twos, "apply", 3),
    Case("XOR swizzle 64x64", xor_swizzle, "apply", 5),
    Case("Morton 16x16", morton, "apply", 9),
    Case("reshape chain 12", reshape_chain, "apply", 3),
    Case("blocks 4x5 of 8x6", lambda: blocks(8, 4, 6, 5), "apply", 8),
    Case("blocks 16x16 of 16x16", lambda: blocks(16, 16, 16, 16), "apply", 7),
    Case("blocks 16x16 of 16x16", lambda: blocks(16, 16, 16, 16), "inv", 8),
    Case("tiles 10x14", lambda: TileBy([10, 14], [2, 7]).OrderBy(Row(20, 98)), "apply", 6),
    *(
        Case(f"padded swizzle {n}", partial(padded_swizzle, n, w, 8, w // 8), "apply", best)
        for n, w, best in ((24, 16, 4), (40, 32, 4), (72, 64, 4), (96, 64, 5))
    ),
    Case("there and back 8x8", lambda: there_and_back(8, 8), "apply", 5),
    Case("there and back 6x10", lambda: there_and_back(6, 10), "apply", 6),
    Case("fragment column", lambda: fragment_column(4, 2, 8), "apply", 5),
    Case("image columns 4 in 8", lambda: image_columns(4, 8, 32), "apply", 4),
    Case("image columns 28 in 32", lambda: image_columns(28, 32, 1024), "apply", 5),
    Case("addresses for ldmatrix", matrix_rows, "apply", 2),
    Case("bit reversal 5", lambda: bit_reversal(5), "apply", 3),
    Case("bit reversal 8", lambda: bit_reversal(8), "apply"),
    Case("skewed banks 32", lambda: skewed(32, 32, 1), "apply", 4),
    Case(
        "columns backwards 12x10", lambda: mixed_digits((10, 12), ((12, True), (1, False))), "apply"
    ),
    Case("halves 8x128", lambda: halves(8, 128, 2), "apply"),
    Case(
        "scales of 128x16",
        lambda: mixed_digits((16, 8, 4, 4), ((8, False), (1, False), (512, False), (128, False))),
        "apply",
    ),
    *random_cases(),
    *random_cases(SECOND, first=RANDOM, more=True),
)
