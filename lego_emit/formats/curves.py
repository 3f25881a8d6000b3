"""Space-filling curves: neighbors in the plane or in space lie close in memory.

A size that is a number and no power of two is rounded up to one, and the layout Padded. One that is a symbol is a
power of two (bit_by_bit.py).
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP, of_operators
from ..algebra.layout import GroupBy
from ..algebra.nested import same
from ..algebra.perms import RegP
from ..errors import LayoutError, short_repr
from ..numeric import is_integer
from .entry import catalogue
from .tiled import padded


def bits_above(name: str, sizes: dict[str, Any]) -> list[int]:
    """The bits of the next power of two of each size. Raises LayoutError where one is a symbol."""
    for which, n in sizes.items():
        if not is_integer(n):
            raise LayoutError(
                f'catalogue["{name}"]: {which} is {short_repr(n)}; the order of bits is that of one size: '
                "give a number"
            )
    return [int(n - 1).bit_length() for n in sizes.values()]


def one_side(name: str, sizes: dict[str, Any]) -> Any:
    """The side of all these sizes. Raises LayoutError where they differ."""
    first, *others = sizes.values()
    if not all(same(first, n) for n in others):
        given = ", ".join(f"{which} is {short_repr(n)}" for which, n in sizes.items())
        raise LayoutError(
            f'catalogue["{name}"]: {given}; sizes that are symbols are one size: give it for all'
        )
    return first


def interleaved(bits: list[int]) -> RegP:
    """Axes of so many bits each, the last the fastest: their bits in turn, from the lowest; axes that
    run out are left out."""
    first = [sum(bits[:k]) for k in range(len(bits))]
    order = [
        first[axis] + bits[axis] - 1 - level
        for level in range(max(bits))
        for axis in reversed(range(len(bits)))
        if level < bits[axis]
    ]
    return RegP([2] * sum(bits), order[::-1]) if order else RegP([1], [0])


def _morton(name: str, sizes: dict[str, Any]) -> Block:
    if not all(map(is_integer, sizes.values())):
        from .bit_by_bit import morton

        for which, n in sizes.items():
            if is_integer(n) and n & n - 1:
                raise LayoutError(
                    f'catalogue["{name}"]: {which} is {n}; beside a symbol it is a power of two'
                )
        return morton(*sizes.values())
    bits = bits_above(name, sizes)
    memory = GroupBy([1 << b for b in bits]).OrderBy(interleaved(bits))
    return padded([*sizes.values()], memory)


RAGGED = (
    "each size is rounded up to a power of two, Padded; a symbol has to be a power of two "
    '(assume=["pow2(n)"]). Where one size has more bits than the others, its highest bits are not interleaved'
)
OF_ONE_SIDE = (
    "{} sizes are rounded up to one power of two, which the larg{} one gives, Padded; a symbol is the size of {} axes, "
    'and has to be a power of two (assume=["pow2(n)"])'
)
MORTON = "Baert, libmorton; Morton, IBM 1966"


@catalogue.entry(
    "morton.2D",
    source=MORTON,
    checked="pymorton's interleave, run on it",
    ragged=RAGGED,
    rows=8,
    columns=16,
)
def morton_2d(rows: Any, columns: Any) -> Block:
    """Bits of row and column in turn, the column's lowest (Z-order); an element's offset."""
    return _morton("morton.2D", {"rows": rows, "columns": columns})


@catalogue.entry(
    "morton.3D",
    source=MORTON,
    checked="pymorton's interleave, run on it",
    ragged=RAGGED,
    planes=4,
    rows=4,
    columns=4,
)
def morton_3d(planes: Any, rows: Any, columns: Any) -> Block:
    """Bits of plane, row and column in turn, the column's lowest (Z-order); an element's offset."""
    return _morton("morton.3D", {"planes": planes, "rows": rows, "columns": columns})


@catalogue.entry(
    "hilbert.2D",
    source="Warren, Hacker's Delight, Hilbert's Curve (hil_s_from_xy, the table of states)",
    checked="its program's packed table, and the hilbertcurve package, run on it",
    ragged=OF_ONE_SIDE.format("both", "er", "both"),
    width=8,
    height=8,
)
def hilbert(width: Any, height: Any) -> Block:
    """Hilbert's curve from (0, 0) to (side - 1, 0); the distance along it of a point (x, y).

    The side is a power of two. The first step is along y where it is 2, 8, 32 .., along x where it is
    4, 16, 64 ..
    """
    sides = {"width": width, "height": height}
    if not all(map(is_integer, sides.values())):
        from .bit_by_bit import hilbert_2d

        return hilbert_2d(one_side("hilbert.2D", sides))
    order = max(bits_above("hilbert.2D", sides))
    side = 1 << order
    memory = GenP([side, side], partial(to_distance, order), partial(from_distance, order))
    return padded([width, height], memory)


@catalogue.entry(
    "hilbert.3D",
    source="Skilling, Programming the Hilbert curve, AIP 707 (2004), AxestoTranspose",
    checked="its program, and the hilbertcurve package, run on it",
    ragged=OF_ONE_SIDE.format("all", "est", "all"),
    width=4,
    height=4,
    depth=4,
)
def hilbert_3d(width: Any, height: Any, depth: Any) -> Block:
    """Hilbert's curve from (0, 0, 0) to (side - 1, 0, 0); the distance along it of a point (x, y, z).

    The side is a power of two. The first step is along z where it is 2, 16, 128 .., along y where it is
    4, 32 .., along x where it is 8, 64 ..
    """
    from .bit_by_bit import hilbert_3d

    sides = {"width": width, "height": height, "depth": depth}
    if not all(map(is_integer, sides.values())):
        return hilbert_3d(one_side("hilbert.3D", sides))
    side = 1 << max(bits_above("hilbert.3D", sides))
    return padded([width, height, depth], hilbert_3d(side))


# A digit of the distance has two bits, of each bit of x and y as the state turns them: high is x
# there, low is x ^ y, which no turn changes. The state is whether x and y are exchanged and whether
# both are complemented; a digit of 0 or 3 exchanges those below it, 3 complements them, too.


@of_operators
def to_distance(order: int, x: Any, y: Any) -> Any:
    """The distance of a point. All states are found in log2(order) steps: after each a bit knows what
    twice as many bits, itself and those above, do to the state below."""
    ones = (1 << order) - 1
    low = x ^ y
    # What they do to t, exchanged ^ complemented, and to c, complemented: t becomes a t + b c + p,
    # c becomes b t + (a ^ b) c + q, but for a single bit, where the step before the loop begins.
    p, q = (x | y) ^ ones, x & low
    above, p2, q2 = low >> 1, p >> 1, q >> 1
    a, b = low | (above ^ ones), low ^ above
    p, q = p ^ p2 ^ (q2 & (low ^ ones)), q ^ q2 ^ (p2 & low)
    reach = 2
    while reach < order:
        a2, b2, p2, q2 = a >> reach, b >> reach, p >> reach, q >> reach
        p, q = p ^ (a & p2) ^ (b & q2), q ^ (b & p2) ^ ((a ^ b) & q2)
        a, b = (a & a2) ^ (b & b2), (a & b2) ^ (b & (a2 ^ b2))
        reach *= 2
    t, c = p >> 1, q >> 1
    high = x ^ c ^ (low & (t ^ c))
    return (spread(order, high) << 1) | spread(order, low)


@of_operators
def from_distance(order: int, distance: Any) -> Any:
    """Back: a state is the exclusive or of what all digits above do."""
    ones = (1 << order) - 1
    high, low = collected(order, distance >> 1), collected(order, distance)
    exchanged, complemented = (high ^ low ^ ones) >> 1, (high & low) >> 1
    reach = 1
    while reach < order:
        exchanged ^= exchanged >> reach
        complemented ^= complemented >> reach
        reach *= 2
    x = high ^ complemented ^ (exchanged & low)
    return x, x ^ low


def spread(order: int, bits: Any) -> Any:
    """A zero above each bit, halves of the word apart from each other, then halves of these, .."""
    reach = (1 << (order - 1).bit_length()) >> 1
    while reach:
        bits = (bits | (bits << reach)) & _apart(order, reach)
        reach >>= 1
    return bits


def collected(order: int, bits: Any) -> Any:
    """The bits at even places, moved together; it undoes spread."""
    bits, reach = bits & _apart(order, 1), 1
    while reach < order:
        bits = (bits | (bits >> reach)) & _apart(order, 2 * reach)
        reach *= 2
    return bits


@lru_cache(256)
def _apart(order: int, reach: int) -> int:
    """The places of a word's bits when each so many of them have as many zeros above."""
    return sum(1 << (2 * k - k % reach) for k in range(order))
