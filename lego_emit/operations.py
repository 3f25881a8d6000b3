"""The integer operations: one table of what each takes, gives and is, which all others are made from.

Nodes (ir/nodes.py), the normal form's atoms (arith/terms.py) and SymPy's nodes (arith/sympy_nodes.py)
call an operation by its name here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from . import intervals
from .intervals import FLAG, Interval

FARTHEST = 200  # places that a number may be shifted by: no index type has so many bits


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table.

    takes: the kinds of the operands, gives: the result's; "i" is an integer, "b" a condition, "t" a
    table, a loop's round or a switch's cases, "*" more of the last kind. value: of numbers, and of truths. bounds: of the result by those of the operands; None of
    a condition. sign: between operands, in Python. price: by the model "latency" (ir/cost.py), of an
    operation that is free 0. defined: whether operands have a value; None where all have one.
    arrays: on NumPy arrays of objects, where value takes only numbers. name: what a value of it is
    called in a program.

    commutes: its operands may be swapped. bits: it moves or joins bits. nonnegative: of operands that are
    not negative it makes none that is. neutral: numbers that leave the other operand as it is, (on the
    left, on the right). floored: the division for operands of any sign; nonnegative_form: that for
    operands that are not negative. quotient: of the same operands, of a remainder. shift: what it is
    by a power of two. opposite: the comparison that holds where this one does not; flipped: the one of
    swapped operands.
    """

    takes: str
    gives: str
    value: Callable[..., Any]
    bounds: Callable[..., Interval] | None = None
    sign: str = ""
    price: float = 1
    defined: Callable[..., bool] | None = None
    arrays: Callable[..., Any] | None = None
    name: str = "part"
    commutes: bool = False
    bits: bool = False
    nonnegative: bool = False
    neutral: tuple[int | None, int | None] = (None, None)
    floored: str = ""
    nonnegative_form: str = ""
    quotient: str = ""
    shift: str = ""
    opposite: str = ""
    flipped: str = ""


def _chosen(condition: Any, then: Any, other: Any) -> Any:
    """then or other, element by element."""
    return then * condition + other * ~condition


def _each(function: Callable[..., int], *arrays: Any) -> Any:
    from .packages import numpy as np

    return np.frompyfunc(function, len(arrays), 1)(*arrays)


def _power(base: int, exponent: int) -> Any:
    """A power. Raises OverflowError where it has more bits than anything is compared with."""
    if isinstance(exponent, int) and exponent > 64 * FARTHEST and base not in (-1, 0, 1):
        raise OverflowError("a power of too many bits")
    return base**exponent


# div and mod meet only non-negative operands and positive divisors: truncating and flooring agree.
# floordiv and floormod meet any sign of dividend and divisor.
#
# A multiplication takes 1 to 2 issue slots on CPUs and GPUs; a division by a constant becomes a
# multiplication, a shift and corrections, a modulo is that with the quotient's product and a
# difference, and floor semantics add a comparison and a subtraction. A look-up is a load from the nearest cache: measured
# with gcc and clang, in loops over independent places and where each place comes from the last value, a
# formula is as quick as a table at a price of 5 to 6, which is this one and the margin of "latency".
OPS = {
    "add": Operation(
        "ii", "i", operator.add, intervals.add, "+",
        commutes=True, nonnegative=True, neutral=(0, 0), name="total",
    ),
    "sub": Operation(
        "ii", "i", operator.sub, intervals.sub, "-", neutral=(None, 0), name="difference",
    ),
    "mul": Operation(
        "ii", "i", operator.mul, intervals.product, "*", 1.5,
        commutes=True, nonnegative=True, neutral=(1, 1), shift="shl", name="scaled",
    ),
    "neg": Operation("i", "i", operator.neg, intervals.neg, name="negated"),
    "div": Operation(
        "ii", "i", operator.floordiv, intervals.floordiv, "//", 4, lambda a, b: b != 0,
        nonnegative=True, floored="floordiv", shift="shr", name="quotient",
    ),
    "mod": Operation(
        "ii", "i", operator.mod, intervals.floormod, "%", 6.5, lambda a, b: b != 0,
        nonnegative=True, floored="floormod", quotient="div", shift="and", name="rest",
    ),
    "floordiv": Operation(
        "ii", "i", operator.floordiv, intervals.floordiv, "//", 7, lambda a, b: b != 0,
        floored="floordiv", nonnegative_form="div", name="quotient",
    ),
    "floormod": Operation(
        "ii", "i", operator.mod, intervals.floormod, "%", 9.5, lambda a, b: b != 0,
        floored="floormod", nonnegative_form="mod", quotient="floordiv", name="rest",
    ),
    "shl": Operation(
        "ii", "i", operator.lshift, intervals.shift_left, "<<", defined=lambda a, b: 0 <= b <= FARTHEST,
        bits=True, nonnegative=True, neutral=(None, 0), name="shifted",
    ),
    "shr": Operation(
        "ii", "i", operator.rshift, intervals.shift_right, ">>", defined=lambda a, b: 0 <= b <= FARTHEST,
        bits=True, nonnegative=True, neutral=(None, 0), name="quotient",
    ),
    "and": Operation(
        "ii", "i", operator.and_, intervals.bit_and, "&",
        commutes=True, bits=True, nonnegative=True, name="bits",
    ),
    "or": Operation(
        "ii", "i", operator.or_, intervals.bit_or, "|",
        commutes=True, bits=True, nonnegative=True, neutral=(0, 0), name="bits",
    ),
    "xor": Operation(
        "ii", "i", operator.xor, intervals.bit_xor, "^",
        commutes=True, bits=True, nonnegative=True, neutral=(0, 0), name="bits",
    ),
    "not": Operation("i", "i", operator.invert, intervals.bit_not),
    "min": Operation(
        "ii", "i", min, intervals.minimum, arrays=lambda a, b: _chosen(a <= b, a, b),
        commutes=True, nonnegative=True, name="smaller",
    ),
    "max": Operation(
        "ii", "i", max, intervals.maximum, arrays=lambda a, b: _chosen(a >= b, a, b),
        commutes=True, nonnegative=True, name="larger",
    ),
    "isqrt": Operation(
        "i", "i", isqrt, intervals.root, price=8, defined=lambda a: a >= 0,
        arrays=lambda a: _each(isqrt, a), nonnegative=True, name="root",
    ),
    "lookup": Operation(
        "ti*", "i", lambda table, *args: table.read(*args), intervals.entry, price=4.5,
        arrays=lambda table, *args: _each(table.read, *args), nonnegative=True, name="found",
    ),
    # A few rounds: no form of a loop is compared with one that has none.
    "loop": Operation(
        "ti*", "i", lambda made, *args: made.values(*args)[made.item], lambda made, *_: made, price=40,
        name="state",
    ),
    # Beside what the dearest case costs.
    "switch": Operation(
        "ti*", "i", lambda made, *args: made.values(*args)[made.item], lambda made, *_: made, price=4,
        name="chosen",
    ),
    "lt": Operation("ii", "b", operator.lt, sign="<", opposite="ge", flipped="gt"),
    "le": Operation("ii", "b", operator.le, sign="<=", opposite="gt", flipped="ge"),
    "gt": Operation("ii", "b", operator.gt, sign=">", opposite="le", flipped="lt"),
    "ge": Operation("ii", "b", operator.ge, sign=">=", opposite="lt", flipped="le"),
    "eq": Operation("ii", "b", operator.eq, sign="==", opposite="ne", commutes=True),
    "ne": Operation("ii", "b", operator.ne, sign="!=", opposite="eq", commutes=True),
    "land": Operation("bb", "b", lambda a, b: a and b, sign="and", arrays=operator.and_),
    "lor": Operation("bb", "b", lambda a, b: a or b, sign="or", arrays=operator.or_),
    "lnot": Operation("b", "b", operator.not_, arrays=operator.invert),
    "int": Operation(
        "b", "i", int, lambda condition: FLAG, price=0, arrays=lambda c: c.astype(object) * 1,
        nonnegative=True, name="flag",
    ),
    "select": Operation(
        "bii", "i", lambda c, a, b: a if c else b, lambda c, x, y: intervals.either(x, y),
        arrays=_chosen, name="choice",
    ),
}  # fmt: skip

# a header's conditions have powers, too
IN_RELATIONS = OPS | {"pow": Operation("ii", "i", _power, sign="**")}
DIVISIONS = ("div", "mod", "floordiv", "floormod")
LEAF = Operation("", "i", lambda: None)  # a number or a name is no operation

# what joins conditions in the normal form, where "and" and "or" would be taken for operations on bits
LOGIC = {"and": "land", "or": "lor", "not": "lnot"}


def interval(op: str, args: Sequence[Interval]) -> Interval:
    """Bounds of an integer operation over bounded operands. Those of a condition are not looked at."""
    bounds = OPS[op].bounds
    assert bounds is not None
    return bounds(*args)


def is_condition(op: str) -> bool:
    """Whether an operation has a truth for its result; no leaf has."""
    return OPS.get(op, LEAF).gives == "b"
