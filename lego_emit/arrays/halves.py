"""All positions of a memory at once: what their high bits give beside what their low bits give.

Shifts and exclusive ors of 2^22 numbers, and ands with a number, are those of 2^11 high and of 2^11 low parts. So a
Hilbert curve is a few thousand numbers, and the eight operations that need both parts, which are carried out row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import takes_arrays
from ..algebra.integer_eval import Plain
from ..packages import numpy as np

LEAST, MOST = 2**6, 2**16  # rows and columns: with fewer little is gained
MOST_STEPS = 32  # on all numbers; with more, lowered arithmetic may be faster
PIECE = 2**13  # numbers of each at a time, so that they stay in caches


class NotApart(Exception):
    """A layout asks for more than operators on integers."""


class Grid:
    """Integers in rows and columns. bits: what is set in any of them, all of which are no less than 0 then; None where
    that is not known."""

    __array_ufunc__ = None  # a NumPy array beside one is no array of them
    __lego_symbolic__ = True
    __hash__ = None  # type: ignore[assignment]
    bits: int | None

    def __and__(self, other: Any) -> Any:
        both = _and(self, other)
        return both if both is not None else _whole("bitwise_and", self, other)

    def __or__(self, other: Any) -> Any:
        both = _and(self, other)
        return self ^ other ^ both if both is not None else _whole("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Any:
        if _is(other, 0):
            return self
        if isinstance(self, Apart) and isinstance(other, Apart):
            return Apart(self.rows ^ other.rows, self.columns ^ other.columns)
        if isinstance(self, Apart) and isinstance(other, int) and other >= 0:
            return Apart(self.rows ^ other, self.columns)
        return _whole("bitwise_xor", self, other)

    def __add__(self, other: Any) -> Any:
        bits = _bits(other)
        if self.bits is not None and bits is not None and not self.bits & bits:
            return self ^ other  # nothing is carried
        return _whole("add", self, other)

    def __sub__(self, other: Any) -> Any:
        return _whole("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, int) and self.bits is not None and self.bits & ~other == 0 <= other:
            return self ^ other  # nothing is borrowed
        return _whole("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        if (power := _power(other)) is not None:
            return self << power
        return _whole("multiply", self, other)

    def __lshift__(self, other: Any) -> Any:
        return self if _is(other, 0) else _shifted("left_shift", self, other)

    def __rshift__(self, other: Any) -> Any:
        return self if _is(other, 0) else _shifted("right_shift", self, other)

    def __floordiv__(self, other: Any) -> Any:
        if isinstance(other, int) and self.bits is not None and self.bits < other:
            return 0
        if (power := _power(other)) is not None:
            return self >> power
        return _whole("floor_divide", self, other)

    def __mod__(self, other: Any) -> Any:
        if isinstance(other, int) and self.bits is not None and self.bits < other:
            return self
        if _power(other) is not None:
            return self & other - 1
        return _whole("remainder", self, other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__

    def _no_truth(self, *_: Any) -> Any:
        raise NotApart

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = _no_truth


class Apart(Grid):
    """The exclusive or of a number for each row and of one for each column."""

    def __init__(self, rows: Any, columns: Any):
        self.rows, self.columns = rows, columns

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The bits of rows and of columns."""
        return int(np.bitwise_or.reduce(self.rows)), int(np.bitwise_or.reduce(self.columns))

    @cached_property
    def bits(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What is set in any of them."""
        return self.ends[0] | self.ends[1]


class Whole(Grid):
    """What a function of NumPy gives for numbers that are not kept apart any longer."""

    def __init__(self, name: str, values: Sequence[Any], bits: int | None):
        self.name, self.values, self.bits = name, values, bits


def _is(value: Any, number: int) -> bool:
    return isinstance(value, int) and value == number


def _power(value: Any) -> int | None:
    """The power of two that a number is."""
    if isinstance(value, int) and value > 0 and value & value - 1 == 0:
        return value.bit_length() - 1
    return None


def _bits(value: Any) -> int | None:
    if isinstance(value, Grid):
        return value.bits
    return value if isinstance(value, int) and value >= 0 else None


def _and(x: Grid, y: Any) -> Apart | None:
    """x & y where rows and columns stay apart."""
    if isinstance(x, Apart) and isinstance(y, int):
        return Apart(x.rows & y, x.columns & y)
    if isinstance(x, Apart) and isinstance(y, Apart):
        (x_rows, x_columns), (y_rows, y_columns) = x.ends, y.ends
        if not x_rows & y_columns and not x_columns & y_rows:
            return Apart(x.rows & y.rows, x.columns & y.columns)
    return None


def _shifted(name: str, x: Grid, by: Any) -> Any:
    if (
        isinstance(x, Apart)
        and isinstance(by, int)
        and (name == "right_shift" or x.bits << by < 2**63)
    ):
        shift = getattr(np, name)
        return Apart(shift(x.rows, by), shift(x.columns, by))
    return _whole(name, x, by)


def _whole(name: str, x: Any, y: Any) -> Whole:
    """An operation on all numbers. Raises NotApart where 64 bits are not known to hold them."""
    if not isinstance(x, int | Grid) or not isinstance(y, int | Grid):
        raise NotApart
    a, b = _bits(x), _bits(y)
    found = None
    if name == "bitwise_and" and (a is not None or b is not None):
        found = (-1 if a is None else a) & (-1 if b is None else b)
    elif a is not None and b is not None and (known := _BITS.get(name)) is not None:
        found = known(a, b)
    if found is not None and found >= 2**63:
        raise NotApart
    return Whole(name, (x, y), found)


def _ones(greatest: int) -> int:
    return (1 << greatest.bit_length()) - 1


# The bits of a result by those of both sides.
_BITS = {
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a | b,
    "add": lambda a, b: _ones(a + b),
    "multiply": lambda a, b: _ones(a * b),
    "floor_divide": lambda a, b: _ones(a),
    "remainder": lambda a, b: _ones(b),
}


class _Numbers(Plain):
    """A GenP's functions where they take arrays; no table."""

    def called(self, block: Any, index: Sequence[Any]) -> Any:
        """What a GenP's apply gives."""
        if not takes_arrays(block.apply_function):
            raise NotApart
        return super().called(block, index)

    def called_back(self, block: Any, flat: Any) -> list[Any]:
        """What a GenP's inv gives."""
        if not takes_arrays(block.inv_function):
            raise NotApart
        return super().called_back(block, flat)

    def looked_up(self, entries: Any, place: Any) -> Any:
        """There is no table of rows and columns."""
        raise NotApart


def places(source: Block, destination: Block, size: int) -> tuple[Any, int, int] | None:
    """The source's place of each place of the destination, an int64 array, the least and the greatest of them; None where
    other ways are better. Neither masks anything, and the destination has an inverse."""
    best: list[Grid] | None = None
    half = size.bit_length() // 2
    for power in (half, half + 1):  # the digits of a curve have two bits
        columns = 1 << power
        if size % columns or not all(LEAST <= n <= MOST for n in (columns, size // columns)):
            continue
        rows = np.arange(0, size, columns, dtype=np.int64)
        try:
            index = destination.backward(
                _Numbers(), Apart(rows, np.arange(columns, dtype=np.int64))
            )
            steps = _steps(source.forward(_Numbers(), index))
        except Exception:  # NotApart, or what a user's block does with no number that it knows
            continue
        if steps and len(steps) < (MOST_STEPS if best is None else len(best)):
            best = steps
    return None if best is None else _carried_out(best)


def _steps(found: Any) -> list[Grid]:
    """All that a result is made of, what it needs before it."""
    left, steps = [found], dict[int, Grid]()
    while left:
        one = left.pop()
        if isinstance(one, Grid):
            steps.pop(id(one), None)
            steps[id(one)] = one
            left += one.values if isinstance(one, Whole) else ()
    return [*steps.values()][::-1]


def _carried_out(steps: Sequence[Grid]) -> tuple[Any, int, int]:
    """The numbers of the last step, row after row, and their ends; each step has one memory for all rows."""
    first = next(s for s in steps if isinstance(s, Apart))
    rows, columns = len(first.rows), len(first.columns)
    count = max(PIECE // columns, 1)
    found = np.empty((rows, columns), np.int64)
    held = {id(step): np.empty((count, columns), np.int64) for step in steps[:-1]}
    ends: list[int] = []
    for start in range(0, rows, count):
        part = found[start : start + count]
        n = len(part)
        for step in steps:
            out = part if step is steps[-1] else held[id(step)][:n]
            if isinstance(step, Apart):
                np.bitwise_xor(step.rows[start : start + n, None], step.columns, out=out)
            elif isinstance(step, Whole):
                given = (held[id(v)][:n] if isinstance(v, Grid) else v for v in step.values)
                getattr(np, step.name)(*given, out=out)
        ends += int(part.min()), int(part.max())
    return found.reshape(-1), min(ends), max(ends)
