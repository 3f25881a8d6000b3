"""Space-filling curves of sides that are symbols: a loop over the bits of the coordinates.

A side is a power of two, which is known of a number, and is said of a symbol with assume=["pow2(n)"]. The bit of a
round is a state of the loop: from side >> 1 down, or from 1 up. So nothing counts the bits of a side, which needs an
operation that few languages have.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from ..algebra.genp import GenP
from ..algebra.nested import same
from ..arith.expr import Cond, Expr, maximum
from ..arith.powers import is_power
from ..errors import LayoutError, short_repr
from ..numeric import is_integer
from ..trace.learn import note, parameter_of
from ..trace.loops import fori_loop
from ..trace.paths import Running, running

LONGEST = 2**63 - 1  # a position of sides that nothing bounds, whatever the language


def hilbert_2d(n: Any) -> GenP:
    """Hilbert's curve in a square of side n."""
    return GenP([n, n], _of(along_square, n), _of(in_square, n))


def hilbert_3d(n: Any) -> GenP:
    """Hilbert's curve in a cube of side n."""
    return GenP([n, n, n], _of(along_cube, n), _of(in_cube, n))


def morton(*sides: Any) -> GenP:
    """The bits of the coordinates in turn, the last one's lowest."""
    return GenP(sides, _of(interleaved, sides), _of(apart, sides))


def _of(function: Callable[..., Any], sides: Any) -> Callable[..., Any]:
    """A curve's function of its sides, which are the sizes of the curve's GenP, and are not said again."""
    found = partial(function, sides)
    found.__name__ = function.__name__  # type: ignore[attr-defined]
    return found


def _known(name: str, sides: Sequence[Any]) -> tuple[int, list[Any]]:
    """(how many bits a coordinate has at most, the sides). From here on a symbol is known to be so small that a
    position fits a word, or the header says so. Raises LayoutError where a side is not known to be a power of two."""
    bits, found = [0], list[Any]()
    for n in sides:
        if is_integer(n):
            if n & n - 1:
                raise LayoutError(f'catalogue["{name}"]: the side is {n}; it is a power of two')
            found.append(int(n))
            bits.append(int(n).bit_length() - 1)
            continue
        here, side = running(), Expr.of(n)
        least, last = (None, None) if here is None else here.analyzer.interval(side)
        if least is not None and last is not None and least > 1 << last.bit_length() - 1:
            raise LayoutError(
                f'catalogue["{name}"]: {short_repr(n)} lies in {least}..{last}, where no power of two is; give a '
                "wider range"
            )
        if here is None or here.trace is None or not is_power(here.analyzer, side):
            raise LayoutError(
                f'catalogue["{name}"]: {short_repr(n)} is not known to be a power of two; say so with '
                f'assume=["pow2({n})"], or give a number'
            )
        found.append(side)
        bits.append(_bits_of(side, len(sides), here))
    return max(bits), found


def _bits_of(side: Expr, count: int, here: Running) -> int:
    """How many bits a coordinate below a side has at most, so many of which fit the index type: else that is a
    precondition."""
    known = here.analyzer
    size = known.rebuilt(side)
    last = known.interval(size)[1]
    greatest = min(here.trace.greatest[last is not None], LONGEST)  # Python's has no end
    most = greatest.bit_length() // count
    if last is not None and last <= 1 << most:
        bits = last.bit_length() - 1
        if last != 1 << bits:  # no power of two lies between
            known.learn_nonneg((1 << bits) - size)
        return bits
    found = parameter_of(size, here)
    if found is not None and not known.facts.branch:
        known.learn_range(found[0], None, Expr.of(1 << most))
    else:
        note(Cond("le", known.unsubstitute(side), Expr.of(1 << most)), here.trace)
    return most


def _bits(most: int, sides: Sequence[Any], first: Any, body: Any, going: Any) -> Any:
    """The state behind a loop of at most so many bits."""
    if all(type(v) is int for v in (*sides, *first)):
        while going(0, first):  # on integers fori_loop takes several times as long
            first = body(0, first)
        return first
    return fori_loop(0, most, body, first, max(most, 1), while_=going)


def _is_left(_: Any, state: Any) -> Any:
    return state[0] != 0


# Four quadrants, each with a smaller curve: the first and the last one's are turned.


def along_square(n: Any, x: Any, y: Any) -> Any:
    """The distance of a point along Hilbert's curve in a square of side n."""
    most, (n, _) = _known("hilbert.2D", (n, n))

    def step(_: Any, state: Any) -> Any:
        bit, x, y, distance = state
        right, up = (x & bit) != 0, (y & bit) != 0
        if up:
            return bit >> 1, x, y, 4 * distance + 1 + right
        if right:
            return bit >> 1, n - 1 - y, n - 1 - x, 4 * distance + 3
        return bit >> 1, y, x, 4 * distance

    return _bits(most, [n], (n >> 1, x, y, 0), step, _is_left)[3]


def in_square(n: Any, distance: Any) -> Any:
    """The point at a distance along it."""
    most, (n, _) = _known("hilbert.2D", (n, n))

    def step(_: Any, state: Any) -> Any:
        bit, x, y, rest = state
        right = rest >> 1 & 1
        if (rest & 1) != right:
            return 2 * bit, x + bit * right, y + bit, rest >> 2
        if right:
            return 2 * bit, 2 * bit - 1 - y, bit - 1 - x, rest >> 2
        return 2 * bit, y, x, rest >> 2

    return _bits(most, [n], (1, 0, 0, distance), step, lambda _, state: state[0] < n)[1:3]


# Skilling's AxestoTranspose and TransposetoAxes, their loops as one: what a bit of a coordinate does to the lower
# bits of all, and what the Gray code does to those of the distance. Bits that were read may be anything.


def along_cube(n: Any, x: Any, y: Any, z: Any) -> Any:
    """The distance of a point along Hilbert's curve in a cube of side n."""
    most, (n, *_) = _known("hilbert.3D", (n, n, n))

    def step(_: Any, state: Any) -> Any:
        bit, x, y, z, low, distance = state
        right, up, deep = (x & bit) != 0, (y & bit) != 0, (z & bit) != 0
        high = right ^ low
        middle = up ^ high
        low = deep ^ middle
        if right:
            x = x ^ n - 1
        if up:
            x = x ^ n - 1
        else:
            x, y = y, x
        if deep:
            x = x ^ n - 1
        else:
            x, z = z, x
        distance = 8 * distance + 4 * high + 2 * middle + low
        return bit >> 1, x, y, z, low, distance

    return _bits(most, [n], (n >> 1, x, y, z, 0, 0), step, _is_left)[5]


def in_cube(n: Any, distance: Any) -> Any:
    """The point at a distance along it."""
    most, (n, *_) = _known("hilbert.3D", (n, n, n))

    def step(_: Any, state: Any) -> Any:
        bit, x, y, z, rest = state
        low, middle, high, above = rest & 1, rest >> 1 & 1, rest >> 2 & 1, rest >> 3 & 1
        lower = bit - 1
        if low == middle:
            x, z = z, x
        else:
            x = x ^ lower
        if middle == high:
            x, y = y, x
        else:
            x = x ^ lower
        if high != above:
            x = x ^ lower
        x, y, z = x + bit * (high ^ above), y + bit * (middle ^ high), z + bit * (low ^ middle)
        return 2 * bit, x, y, z, rest >> 3

    return _bits(most, [n], (1, 0, 0, 0, distance), step, lambda _, state: state[0] < n)[1:4]


# A side that is no longer than a bit has none there: the bits above are those of the others alone.


def interleaved(sides: Any, *index: Any) -> Any:
    """The position of an index in Morton's order."""
    most, sides = _known(f"morton.{len(sides)}D", sides)
    longest, equal = _longest(sides)

    def step(_: Any, state: Any) -> Any:
        bit, position = state
        for side, i in zip(sides, index, strict=True):
            if equal or bit < side:
                position = 2 * position + ((i & bit) != 0)
        return bit >> 1, position

    return _bits(most, (*sides, *index), (longest >> 1, 0), step, _is_left)[1]


def apart(sides: Any, position: Any) -> Any:
    """The index at a position."""
    most, sides = _known(f"morton.{len(sides)}D", sides)
    longest, equal = _longest(sides)

    def step(_: Any, state: Any) -> Any:
        bit, rest, *index = state
        for axis, side in [*enumerate(sides)][::-1]:
            part = index[axis]
            if equal or bit < side:
                part = part + bit * (rest & 1)
                rest = rest >> 1
            index[axis] = part
        return 2 * bit, rest, *index

    first = _parts(len(sides))(1, position, *[0] * len(sides))
    return _bits(most, sides, first, step, lambda _, state: state[0] < longest)[2:]


@cache
def _parts(count: int) -> Any:
    """The state of a loop that takes a position apart into so many coordinates."""
    names = "xyz" if count <= 3 else [f"x{k}" for k in range(count)]
    return namedtuple("Parts", ["bit", "rest", *names[:count]])


def _longest(sides: Sequence[Any]) -> tuple[Any, bool]:
    """(the longest side, whether all are equal)."""
    found = sides[0]
    for n in sides[1:]:
        if not same(found, n):
            found = max(found, n) if is_integer(found) and is_integer(n) else maximum(found, n)
    return found, all(same(sides[0], n) for n in sides[1:])
