"""The index space of an emitted function: which of its parameters are given, which run, how far.

It is read off the signature that the emitted file itself states, so that what is verified is what
was promised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from math import prod
from typing import TYPE_CHECKING, Any

from ..algebra.paper_definitions import reference_unravel
from ..emit.unit import Unit
from ..errors import AssumptionError, VerifyError, did_you_mean, short_repr
from ..ir.index_types import DECLARED
from ..ir.nodes import Node, evaluate
from ..ir.program import Function, Param
from ..ir.relations import OPEN, all_of, bounds, names_in, parts, says
from ..numeric import apart, is_integer

if TYPE_CHECKING:
    import numpy as np

MOST = 2**63 - 1  # indices that can be counted
SOME = 7  # numbers that elements of arrays of any length are of


@dataclass(frozen=True)
class Axis:
    """A parameter that runs over lo, lo + 1, .., lo + count - 1."""

    name: str
    lo: int
    count: int

    @property
    def hi(self) -> int:
        """The last value that the axis takes."""
        return self.lo + self.count - 1


@dataclass(frozen=True)
class Space:
    """All argument tuples of a function, numbered from 0 with the last axis fastest.

    fixed: the parameters with one value; axes: those that run. conditions: what the function
    assumes of those that run; readable: whether all that it assumes can be judged at numbers.
    """

    function: Function
    fixed: Mapping[str, int]
    axes: tuple[Axis, ...]
    conditions: tuple[Node, ...] = ()
    readable: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The function's parameters in order."""
        return tuple(p.name for p in self.function.params)

    @property
    def conditions_text(self) -> str:
        """The conditions as text."""
        return " and ".join(map(says, self.conditions))

    @property
    def total(self) -> int:
        """How many argument tuples there are."""
        return prod(axis.count for axis in self.axes)

    @property
    def strides(self) -> list[int]:
        """How far apart the numbers of an axis' neighbors are."""
        return [prod(a.count for a in self.axes[k + 1 :]) for k in range(len(self.axes))]

    @property
    def promised(self) -> list[tuple[int | None, int | None]]:
        """The inclusive range that the header gives each result, at these sizes."""
        found = []
        promises = chain(self.function.promises, repeat(OPEN))
        for (_, node), promise in zip(self.function.outputs, promises, strict=False):
            least, most = promise.at(self.fixed)
            lows = [lo for lo in (node.lo, least) if lo is not None]
            highs = [hi for hi in (node.hi, most) if hi is not None]
            found.append((max(lows, default=None), min(highs, default=None)))
        return found

    def at(self, number: Any) -> Index:
        """The index of a number; of an array of numbers, the indices."""
        digits = reference_unravel([a.count for a in self.axes], number) if self.axes else ()
        pairs = zip(digits, self.axes, strict=True)
        return Index(self, tuple(d + a.lo if a.lo else d for d, a in pairs))

    def kept(self, numbers: np.ndarray) -> np.ndarray:
        """Those numbers whose indices meet the conditions."""
        if not self.conditions:
            return numbers
        from ..packages import numpy as np

        values = self.at(numbers).exact
        good = np.ones(len(numbers), bool)
        for condition in self.conditions:
            held = evaluate(condition, values)
            if held is None:  # somewhere it has no value
                held = [
                    evaluate(condition, self.at(n).named) is not False for n in numbers.tolist()
                ]
            good &= np.broadcast_to(np.asarray(held, bool), good.shape)
        return numbers[good]


@dataclass(frozen=True)
class Index:
    """An index of a space: an integer for each axis; or many of them, an array for each axis."""

    space: Space
    values: tuple[Any, ...]

    def __str__(self) -> str:
        """The index as text: "i=3, j=1"."""
        return ", ".join(f"{a.name}={v}" for a, v in zip(self.space.axes, self.values, strict=True))

    @property
    def named(self) -> dict[str, Any]:
        """What each parameter of the function is there, by its name."""
        axes = zip(self.space.axes, self.values, strict=True)
        return {**self.space.fixed, **{axis.name: value for axis, value in axes}}

    @property
    def exact(self) -> dict[str, Any]:
        """As named, with arrays of integers of any size."""
        return Index(self.space, tuple(v.astype(object) for v in self.values)).named

    @property
    def arguments(self) -> list[Any]:
        """What to call the function with there."""
        named = self.named
        return [named[name] for name in self.space.names]

    @property
    def number(self) -> int:
        """Its number in the space."""
        axes = zip(self.values, self.space.axes, self.space.strides, strict=True)
        return sum((value - axis.lo) * stride for value, axis, stride in axes)

    def one(self, place: int) -> Index:
        """Of many indices, the one at a place."""
        return Index(self.space, tuple(int(v[place]) for v in self.values))


def space_of(
    function: Function, sizes: Mapping[str, int], domain: Mapping[str, int] | None = None
) -> Space:
    """The space that a function runs over when its sizes have these numbers.

    sizes: by the user's names or the emitted ones; an index may be given, too, and stands still
        then.
    domain: how far an index runs whose range the function does not state, as {"x": 8}.
    Elements of an array of any length that neither names stand still at numbers of their range.

    Raises VerifyError where a parameter has no number and no range, AssumptionError where the
    numbers break what the function assumes, or do not fit its index type.
    """
    emitted = dict(function.renamed)
    given = {p.name: p.default for p in function.params if p.default is not None}
    for name, value in sizes.items():
        own = emitted.get(name, name)
        if value != given.get(own, value) and any(p.name == own for p in function.static):
            raise VerifyError(
                f"{function.name} is compiled for {name} = {given[own]}, and cannot be verified with {value}; "
                f"give generate() sizes={{'{name}': {value}}} for that"
            )
        given[own] = value
    runs = {emitted.get(name, name): count for name, count in (domain or {}).items()}
    known = {n: k for group in function.groups if group.open for k, n in group.places}
    params = [p for p in function.params if p.name in known.keys() - given.keys() - runs.keys()]
    given |= {p.name: _element(p, known[p.name]) for p in params}
    needed = [p.name for p in function.params if is_size(p.name, function) and p.name not in runs]
    missing = [n for n in needed if n not in given]
    if missing:
        first = next(p for p in function.params if p.name == missing[0])
        said = {own: name for name, own in function.renamed}  # as in Python
        name = said.get(first.name, first.name)
        way = f"sizes={_given(name, '..')}, on the command line --size {name}=.."
        if not first.size and first.range.end is None and first.hi is None:
            way = (
                f"domain={_given(name, '8')}, on the command line --domain {name}=8, for an "
                f"index; {way} for a size"
            )
        names = ", ".join(said.get(n, n) for n in missing)
        raise VerifyError(f"{function.name} needs a number for {names}: {way}")
    fixed = {p.name: int(given[p.name]) for p in function.params if p.name in given}
    axes = []
    for param in function.params:
        if param.name in fixed:
            continue
        lo, hi = param.range.at(fixed)
        wide = param.type != "" and DECLARED[param.type].width >= 16  # its ends are no range
        lo = (
            param.lo
            if lo is None and not (wide and param.lo == DECLARED[param.type].least < 0)
            else lo
        )
        hi = param.hi if hi is None and not (wide and param.hi == DECLARED[param.type].most) else hi
        if param.name in runs:
            lo = param.base if lo is None else lo
            hi = lo + runs[param.name] - 1 if hi is None else min(hi, lo + runs[param.name] - 1)
        if lo is None or hi is None:
            raise VerifyError(
                f"{function.name}: {param.name} has no known range"
                f"{f' ({param.range_text})' * bool(param.range_text)}; give it a number in sizes or in "
                f"domain"
            )
        axes.append(Axis(param.name, lo, max(0, hi - lo + 1)))
    running = {axis.name for axis in axes}
    known = [(a, set(names_in(a))) for a in function.assumed]
    space = Space(
        function,
        fixed,
        tuple(axes),
        tuple(
            a
            for a, names in known
            if names & running and names <= running | set(fixed) and not _implied(a, axes, fixed)
        ),
        all(names and names <= running | set(fixed) for _, names in known),
    )
    _check(function, space)
    return space


def _element(param: Param, place: int) -> int:
    """The element of an array of any length at a place, where nobody gives one: a number of its range."""
    lo, hi = param.lo, param.hi
    least = lo if lo is not None else 0 if hi is None else hi - SOME
    count = SOME if hi is None else min(SOME, hi - least + 1)
    return least + place * place * 5 % count


def _implied(relation: Node, axes: Iterable[Axis], fixed: Mapping[str, int]) -> bool:
    """Whether an axis' own range says all that a relation says."""
    for axis in axes:
        found = [bounds(part, axis.name, fixed) for part in parts(relation)]
        if all(
            (lo, hi) != (None, None)
            and (lo is None or lo <= axis.lo)
            and (hi is None or hi >= axis.hi)
            for lo, hi in found
        ):
            return True
    return False


def check_names(functions: Iterable[Function], sizes: Iterable[str]) -> None:
    """Raise VerifyError on a size that no function has."""
    known: dict[str, None] = {}
    for function in functions:
        back = {new: old for old, new in function.renamed}
        known.update((back.get(p.name, p.name), None) for p in function.params)
        known.update((p.name, None) for p in function.params)
        known.update((old, None) for old, new in function.renamed if new in known)
    for name in sizes:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise VerifyError(
                f"no parameter {name!r} to give a number; {has}.{did_you_mean(name, known)}"
            )


def _given(name: str, number: str) -> str:
    """How a caller gives a number by name: a member's name is no keyword."""
    return f"dict({name}={number})" if name.isidentifier() else f'{{"{name}": {number}}}'


def is_size(name: str, function: Function) -> bool:
    """Whether a parameter needs a number: others depend on it, or it has no upper bound."""
    param = next(p for p in function.params if p.name == name)
    if param.axis:
        return False
    if any(name in p.range.names() for p in function.params if p.name != name):
        return True
    extents = (part for _, extent in function.axes for part in extent.walk())
    if any(part.op == "var" and part.value == name for part in extents):
        return True
    return param.hi is None and param.range.end is None


def _check(function: Function, space: Space) -> None:
    least, most = function.index_type.ends
    for name, value in space.fixed.items():
        if not least <= value <= most:
            raise AssumptionError(
                f"{function.name}: {name} = {value} does not fit its type, {function.index_type}"
            )
    for axis in space.axes:
        if axis.count and axis.hi > most:
            raise AssumptionError(
                f"{function.name}: {axis.name} runs up to {axis.hi}, which does "
                f"not fit its type, {function.index_type}"
            )
    ranges = (all_of(c) for p in function.params if (c := p.range.conditions(p.name)))
    for condition in (*function.assumed, *ranges):
        names = names_in(condition)
        if set(names) <= set(space.fixed) and evaluate(condition, space.fixed) is False:
            numbers = ", ".join(f"{n} = {space.fixed[n]}" for n in names)
            raise AssumptionError(
                f"{function.name} assumes {says(condition)}, which is false for {numbers}"
            )


def spaces_of(
    unit: Unit,
    sizes: Mapping[str, int],
    domain: Mapping[str, int],
    case: Any = None,
    others: Collection[str] = (),
) -> tuple[dict[str, Space], dict[str, int]]:
    """What each function runs over, by its name, and the sizes' numbers; a golden case's own where
    none are given. Raises as verify() does."""
    sizes, domain = (
        dict(apart(given)) if isinstance(given, Mapping) else given for given in (sizes, domain)
    )
    for what, numbers, example in (("sizes", sizes, "M"), ("domain", domain, "x")):
        if not isinstance(numbers, Mapping) or not all(map(is_integer, numbers.values())):
            raise VerifyError(
                f"{what} is {short_repr(numbers)}; give a number for each name, as {what}={{'{example}': 8}}"
            )
    given = {}
    for name, value in sizes.items():
        if unit.fixed.get(name, value) != value:
            raise VerifyError(f"{name} is {unit.fixed[name]} in this unit, and cannot be {value}")
        if name not in unit.fixed or name in others:
            given[name] = value
    if case is not None:
        known = {p.name for f in unit.program.functions for p in f.params}
        known |= {old for f in unit.program.functions for old, _ in f.renamed}
        own = {**case.sizes, **case.fixed}
        given = {**{n: v for n, v in own.items() if n in known}, **given}
        domain = {**case.domain, **domain}
    check_names(unit.program.functions, [name for name in given if name not in others])
    check_names(unit.program.functions, domain)
    spaces = {f.name: space_of(f, given, domain) for f in unit.program.functions}
    for name, space in spaces.items():
        if not 0 < space.total <= MOST:
            raise VerifyError(
                f"{name} runs over {space.total:,} indices; between 1 and 2**63 - 1 can be counted"
            )
    return spaces, given
