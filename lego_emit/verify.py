"""Verifying an emitted unit over its whole index space, on the CPU or on a GPU.

A layout with an inverse: inv(apply(i)) = i and 0 <= apply(i) < size for every index i, which on a
finite set proves that apply is a bijection and inv its inverse (LEGO, section III-A); with masked
positions the same the other way round. Everything else: the results' extremes, and a bitmap of the
results that are given, which shows the first repeated one and the first that is left out. All of it
is compared with the reference evaluator or the user's own function on integers, which share nothing
with what is emitted: on a golden table whole, else at the corners, the first and last indices and
2^20 random ones. Indices that a header rules out are left alone.
"""

from __future__ import annotations

import inspect
import os
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import registry
from .errors import VerifyError, shown
from .expected import Expected, expected, number_of, numbers_of
from .layout import Block
from .program import Function
from .relations import evaluate
from .sizes import is_integer
from .space import Space, check_names, space_of
from .target import Compiled

if TYPE_CHECKING:
    from .emit import Emitted
    from .golden import Case

CHUNK = 2**18  # indices at a time
SAMPLES = 2**20
CLAIMS = ("", "injective", "bijective")
MOST = 2**63 - 1

Progress = Callable[[int, int], None]  # indices done, indices in all


# -- what comes out ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, at how many indices, how it came out; seconds of the
    whole, kernel_ms of the GPU's kernels alone. told: nothing was promised that could be wrong, or
    nothing could be compared; found only says what there is."""

    what: str
    indices: int
    ok: bool
    found: str = ""
    seconds: float = 0.0
    kernel_ms: float | None = None
    told: bool = False

    @property
    def verdict(self) -> str:
        """ok, WRONG, or note where nothing was at stake."""
        return "WRONG" if not self.ok else "note" if self.told else "ok"


@dataclass(frozen=True)
class Verification:
    """What verify() found; true where everything held.

    counterexample: the first index that breaks a promise, in logical and flat form.
    """

    unit: str
    target: str
    on: str
    device: str
    checks: tuple[Check, ...]
    seconds: float
    counterexample: str = ""

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{self.unit} ({self.target}) on {self.device}"]
        for check in self.checks:
            kernel = "" if check.kernel_ms is None else f", kernels {check.kernel_ms:.3f} ms"
            lines.append(
                f"  {check.verdict:5} {check.what}: {check.found} "
                f"({check.indices:,} indices, {check.seconds:.2f} s{kernel})"
            )
        if self.counterexample:
            lines.append(f"  first counterexample: {self.counterexample}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "unit": self.unit,
            "target": self.target,
            "on": self.on,
            "device": self.device,
            "ok": self.ok,
            "seconds": round(self.seconds, 4),
            "counterexample": self.counterexample or None,
            "checks": [vars(check) for check in self.checks],
        }


# -- what a device does --------------------------------------------------------------------------


@dataclass
class Tally:
    """A round trip: the first number that fails, how many fail, how many are masked."""

    first: int | None = None
    bad: int = 0
    masked: int = 0


@dataclass
class Marks:
    """A bitmap: how many positions are met, the least one that is met twice, the least that is
    not met; None where there is none."""

    distinct: int
    twice: int | None = None
    gap: int | None = None


@dataclass(frozen=True)
class Trip:
    """A round trip to make: there over space, its results within ends and so within target, back
    again; where masked, a position of mask is allowed to have no way back."""

    there: Function
    back: Function
    space: Space
    target: Space
    mask: int
    masked: bool
    ends: tuple[tuple[int, int], ...]  # inclusive: what both headers promise of each result


@dataclass(frozen=True)
class Targets:
    """The positions that results are marked at: mixed radix, the last result fastest."""

    lows: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        return prod(self.counts)

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(prod(self.counts[k + 1 :]) for k in range(len(self.counts)))


class Checker(Protocol):
    """Runs the checks of one unit on one device. kernel_ms adds up as it goes where the device
    has kernels, and is None where it has not."""

    what: str
    kernel_ms: float | None

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """The results at arrays of indices."""
        ...

    def round_trip(self, trip: Trip, progress: Progress) -> Tally: ...

    def extremes(
        self, function: Function, space: Space, progress: Progress
    ) -> list[tuple[int, int]]:
        """The least and the greatest of each result."""
        ...

    def marks(
        self, function: Function, space: Space, targets: Targets, progress: Progress
    ) -> Marks: ...

    def meets(self, function: Function, space: Space, targets: Targets, position: int) -> list[int]:
        """The first two numbers whose results are at a position."""
        ...


# -- the whole -----------------------------------------------------------------------------------


@dataclass
class _Run:
    """The checks so far."""

    checker: Checker
    checks: list[Check] = field(default_factory=list)
    counterexample: str = ""

    def add(
        self,
        what: str,
        indices: int,
        begun: float,
        kernels: float,
        wrong: str,
        ok: str,
        told: bool = False,
    ) -> None:
        now = self.checker.kernel_ms
        kernel_ms = None if now is None else now - kernels
        seconds = time.perf_counter() - begun
        self.checks.append(Check(what, indices, not wrong, wrong or ok, seconds, kernel_ms, told))
        self.counterexample = self.counterexample or wrong

    def begin(self) -> tuple[float, float]:
        return time.perf_counter(), self.checker.kernel_ms or 0.0


def verify(
    unit: Emitted,
    on: str = "cpu",
    *,
    sizes: Mapping[str, int] | None = None,
    domain: Mapping[str, int] | None = None,
    reference: Block | Callable[..., Any] | Case | None = None,
    claim: str = "",
    samples: int = SAMPLES,
    progress: Progress | None = None,
) -> Verification:
    """Check a unit over its whole index space; see Emitted.verify."""
    if claim not in CLAIMS:
        raise VerifyError(f"no claim {claim!r}; there are 'injective' and 'bijective'")
    begun = time.perf_counter()
    functions = unit.functions
    case = reference if hasattr(reference, "table") else None
    own = reference is None
    reference = unit.subject if own else reference
    spaces, given = spaces_of(unit, sizes or {}, domain or {}, case, _taken(reference))
    for name, space in spaces.items():
        if space.conditions and not len(space.kept(numbers_of(space, SAMPLES))):
            raise VerifyError(f"{name}: no index meets {' and '.join(space.conditions)}")
    with ThreadPoolExecutor(1) as pool:
        # The reference is evaluated while the compiler is at work.
        waiting = None
        if reference is not None and case is None:
            known = {**unit.fixed, **given}
            waiting = pool.submit(expected, unit, spaces, reference, known, samples, own)
        checker = _checker(unit, on, spaces)
        run = _Run(checker)
        quiet = progress or (lambda done, total: None)
        if is_layout_pair(unit):
            _round_trips(run, unit, spaces, quiet)
        else:
            for function in functions:
                _bitmap(run, function, spaces[function.name], claim, quiet)
        if case is not None:
            _compare_table(run, case, unit)
        if waiting is not None:
            waited = time.perf_counter()
            parts = waiting.result()
            waited = (time.perf_counter() - waited) / len(parts)
            for function, part in zip(functions, parts, strict=True):
                _compare(run, function, spaces[function.name], part, waited)
    return Verification(
        unit.program.name,
        unit.printer.name,
        on,
        checker.what,
        tuple(run.checks),
        time.perf_counter() - begun,
        run.counterexample,
    )


def spaces_of(
    unit: Emitted,
    sizes: Mapping[str, int],
    domain: Mapping[str, int],
    case: Case | None = None,
    others: Collection[str] = (),
) -> tuple[dict[str, Space], dict[str, int]]:
    """What each function runs over, by its name, and the sizes' numbers; a golden case's own where
    none are given. Raises as verify() does."""
    for what, numbers, example in (("sizes", sizes, "M"), ("domain", domain, "x")):
        if not isinstance(numbers, Mapping) or not all(map(is_integer, numbers.values())):
            raise VerifyError(
                f"{what} is {shown(numbers)}; give a number for each name, as {what}={{'{example}': 8}}"
            )
    given = {}
    for name, value in sizes.items():
        if unit.fixed.get(name, value) != value:
            raise VerifyError(f"{name} is {unit.fixed[name]} in this unit, and cannot be {value}")
        if name not in unit.fixed or name in others:
            given[name] = value
    if case is not None:
        known = {p.name for f in unit.functions for p in f.params}
        known |= {old for f in unit.functions for old, _ in f.renamed}
        own = {**case.sizes, **case.fixed}
        given = {**{n: v for n, v in own.items() if n in known}, **given}
        domain = {**case.domain, **domain}
    check_names(unit.functions, [name for name in given if name not in others])
    check_names(unit.functions, domain)
    spaces = {f.name: space_of(f, given, domain) for f in unit.functions}
    for name, space in spaces.items():
        if not 0 < space.total <= MOST:
            raise VerifyError(
                f"{name} runs over {space.total:,} indices; between 1 and 2**63 - 1 can be counted"
            )
    return spaces, given


def _taken(reference: Any) -> set[str]:
    """The names that a reference function takes: those that are numbers in the text already."""
    if isinstance(reference, Block) or not callable(reference):
        return set()
    try:
        names = set(inspect.signature(reference).parameters)
    except (TypeError, ValueError):
        return set()
    code = getattr(reference, "__code__", None)
    return names | set(code.co_names if code else ())


def is_layout_pair(unit: Emitted) -> bool:
    """Whether the unit is a layout's apply and inv, and not one index function."""
    if len(unit.functions) != 2:
        return False
    apply, inv = unit.functions
    axes = [p for p in apply.params if p.axis]
    return len(apply.outputs) == 1 and len(inv.outputs) == len(axes)


def round_trips(unit: Emitted, spaces: Mapping[str, Space]) -> list[Trip]:
    """The round trips of a layout: over the indices and, where some have no position or some
    positions no index, over the positions."""
    apply, inv = unit.functions
    a, b = spaces[apply.name], spaces[inv.name]
    mask = apply.base - 1
    low = _promised(apply, a)[0][0]
    masked = low is not None and low <= mask
    found = [Trip(apply, inv, a, b, mask, masked, _ends(apply, a, b))]
    if masked or a.total != b.total:
        found.append(Trip(inv, apply, b, a, mask, masked, _ends(inv, b, a)))
    return found


def _ends(there: Function, space: Space, target: Space) -> tuple[tuple[int, int], ...]:
    """Where each result must lie: as the header promises, and where the way back begins."""
    ends = []
    for (least, most), axis in zip(_promised(there, space), target.axes, strict=True):
        lo, hi = axis.lo, axis.lo + axis.count - 1
        ends.append(
            (lo if least is None else max(lo, least), hi if most is None else min(hi, most))
        )
    return tuple(ends)


def _checker(unit: Emitted, on: str, spaces: Mapping[str, Space]) -> Checker:
    target = registry.toolchain(unit.printer.name)
    if on == "cpu":
        return CpuChecker(unit, target.find().version)
    checker = target.checker(unit, on, spaces)
    # Kernels run over whole spaces.
    return HostChecker(checker) if any(s.conditions for s in spaces.values()) else checker


def _round_trips(run: _Run, unit: Emitted, spaces: Mapping[str, Space], progress: Progress) -> None:
    held = {}
    for trip in round_trips(unit, spaces):
        there, back, space = trip.there, trip.back, trip.space
        begun, kernels = run.begin()
        tally = run.checker.round_trip(trip, progress)
        held[there.name] = space.total - tally.masked
        wrong = _broken(run.checker, trip, tally) if tally.first is not None else ""
        if not wrong and not trip.masked:
            wrong = _narrow(back, trip)
        ok = "every index comes back"
        if trip.masked:
            ok += f"; {tally.masked:,} are masked"
        what = f"{back.name}({there.name}(..)) and the range of {there.name}"
        run.add(what, space.total, begun, kernels, wrong, ok)
        if wrong:
            break
    whole = not any(spaces[name].conditions for name in held)
    if whole and len(held) == 2 and len(set(held.values())) != 1 and not run.counterexample:
        counts = " and ".join(f"{n} holds {count:,}" for n, count in held.items())
        begun, kernels = run.begin()
        run.add("as many indices as positions", 0, begun, kernels, f"{counts}", "")


def _narrow(back: Function, trip: Trip) -> str:
    """A range that the way back promises, and leaves, since it gives every index."""
    for (name, _), (least, most), axis in zip(
        back.outputs, _promised(back, trip.target), trip.space.axes, strict=True
    ):
        lo, hi = axis.lo, axis.lo + axis.count - 1
        if (least is not None and least > lo) or (most is not None and most < hi):
            return f"{back.name} gives {lo}..{hi} as {name}; its range is {back.result_range}"
    return ""


def _broken(checker: Checker, trip: Trip, tally: Tally) -> str:
    """A round trip that fails, in words."""
    assert tally.first is not None
    start = trip.space.point(tally.first)
    outputs = _at(checker, trip.there, trip.space, start)
    text = f"{trip.there.name}({trip.space.described(start)}) gives {_shown(outputs)}"
    text += f" (logical {start}, number {tally.first:,} of the index space)"
    outside = [
        (value, lo, hi)
        for value, (lo, hi) in zip(outputs, trip.ends, strict=True)
        if not lo <= value <= hi
    ]
    if outside:
        value, lo, hi = outside[0]
        text += f": {value} is outside {lo}..{hi}"
    else:
        found = _at(checker, trip.back, trip.target, outputs)
        text += f", and {trip.back.name}({trip.target.described(outputs)}) gives {_shown(found)}"
    return f"{text}; {tally.bad:,} of {trip.space.total:,} fail"


def _at(
    checker: Checker, function: Function, space: Space, point: Sequence[int]
) -> tuple[int, ...]:
    arguments = [np.array([a], np.int64) for a in space.arguments(point)]
    return tuple(int(np.ravel(x)[0]) for x in checker.call(function, arguments))


def _shown(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else str(tuple(values))


def _bitmap(run: _Run, function: Function, space: Space, claim: str, progress: Progress) -> None:
    begun, kernels = run.begin()
    found = run.checker.extremes(function, space, progress)
    proven = _promised(function, space)
    wrong = _out_of_range(run.checker, function, space, found)
    names = [name for name, _ in function.outputs]
    spans = ", ".join(f"{n} in {lo}..{hi}" for n, (lo, hi) in zip(names, found, strict=True))
    only = f" where {' and '.join(space.conditions)}" if space.conditions else ""
    promise = f", as the header promises: {function.result_range}" if function.result_range else ""
    run.add(
        f"the range of {function.name}", space.total, begun, kernels, wrong, spans + only + promise
    )
    if wrong:
        return
    begun, kernels = run.begin()
    lows, counts = [], []
    for (lo, hi), (least, most) in zip(found, proven, strict=True):
        # Onto is claimed of the promised range, which the extremes lie within.
        whole = claim == "bijective" and least is not None and most is not None
        first, last = (least, most) if whole else (lo, hi)
        lows.append(first)
        counts.append(last - first + 1)
    targets = Targets(tuple(lows), tuple(counts))
    what = f"{function.name} is {claim}" if claim else f"the results of {function.name}"
    if not claim and targets.total > 64 * max(space.total, 2**20):
        text = f"{targets.total:,} possible results are too many to look for repeated ones"
        run.add(what, 0, begun, kernels, "", f"{text}; nothing is claimed of them", told=True)
        return
    marks = run.checker.marks(function, space, targets, progress)
    twice = gap = ""
    if marks.twice is not None:
        first, second = run.checker.meets(function, space, targets, marks.twice)
        a, b = space.point(first), space.point(second)
        value = _named(names, _at(run.checker, function, space, a))
        twice = (
            f"({space.described(a)}) and ({space.described(b)}), numbers {first:,} and {second:,}, "
            f"both give {value}"
        )
    if marks.gap is not None:
        gap = f"no index gives {_named(names, _unravel(targets, marks.gap))}"
    share = f"{marks.distinct:,} of the {targets.total:,} possible results are given"
    if claim:
        if twice or (gap and claim == "bijective"):
            wrong = f"{'not one-to-one' if twice else 'not onto'}: {twice or gap}; {share}"
        ok = "no result is given twice" + ("" if gap else ", and none is left out")
        run.add(what, space.total, begun, kernels, wrong, ok)
        return
    ok = f"repeated: {twice}" if twice else "none is repeated"
    ok += f"; left out: {gap}" if gap else "; none is left out"
    ok += f"; {share}" if twice or gap else ""
    run.add(what, space.total, begun, kernels, "", f"{ok} (allowed: no claim was made)", told=True)


def _named(names: Sequence[str], values: Sequence[int]) -> str:
    """Results with their names, where there are several."""
    if len(values) == 1:
        return str(values[0])
    return f"({', '.join(f'{n}={v}' for n, v in zip(names, values, strict=True))})"


def _unravel(targets: Targets, position: int) -> tuple[int, ...]:
    return tuple(
        lo + position // stride % count
        for lo, stride, count in zip(targets.lows, targets.strides, targets.counts, strict=True)
    )


def _promised(function: Function, space: Space) -> list[tuple[int | None, int | None]]:
    """The inclusive range that the header gives each result, at these sizes."""
    found = []
    for (_, node), promise in zip_longest(function.outputs, function.promises, fillvalue=("", "")):
        least, end = (evaluate(text, space.fixed) if text else None for text in promise)
        lows = [lo for lo in (node.lo, least) if lo is not None]
        highs = [node.hi] if node.hi is not None else []
        highs += [end - 1] if end is not None else []
        found.append((max(lows, default=None), min(highs, default=None)))
    return found


def _out_of_range(
    checker: Checker, function: Function, space: Space, found: Sequence[tuple[int, int]]
) -> str:
    for k, ((lo, hi), (least, most)) in enumerate(
        zip(found, _promised(function, space), strict=True)
    ):
        for value, outside in (
            (lo, least is not None and lo < least),
            (hi, most is not None and hi > most),
        ):
            if outside:
                lows = tuple(a for a, _ in found)
                targets = Targets(lows, tuple(b - a + 1 for a, b in found))
                where = ""
                if len(found) == 1:
                    number = checker.meets(function, space, targets, value - lo)[0]
                    point = space.point(number)
                    where = f" at ({space.described(point)}), number {number:,} of the index space"
                name = function.outputs[k][0]
                ends = " and ".join(
                    f"{sign} {end}"
                    for sign, end in ((">=", least), ("<=", most))
                    if end is not None
                )
                return f"{function.name} gives {value} as {name}{where}; it should be {ends}"
    return ""


# -- the reference -------------------------------------------------------------------------------


def _compare_table(run: _Run, case: Case, unit: Emitted) -> None:
    from .golden import _arguments, _mismatch, _wanted

    for position, function in enumerate(unit.functions):
        begun, kernels = run.begin()
        names, points, wanted = _wanted(case, function, inverse=position == 1)
        given = _arguments(case, function, names, points)
        size = len(wanted[0])
        spread = [np.ascontiguousarray(np.broadcast_to(a, (size,)), np.int64) for a in given]
        if not spread:
            spread = [np.zeros(size, np.int64)]
        outputs = run.checker.call(function, spread)
        got = [np.broadcast_to(x, w.shape) for x, w in zip(outputs, wanted, strict=True)]
        differs = np.zeros(size, bool)
        for x, w in zip(got, wanted, strict=True):
            differs |= x != w
        wrong = _mismatch(case, function, given, got, wanted, differs) if differs.any() else ""
        run.add(f"{function.name} and the golden table", size, begun, kernels, wrong, "equal")


def _compare(run: _Run, function: Function, space: Space, known: Expected, waited: float) -> None:
    begun, kernels = run.begin()
    begun -= waited
    what = f"{function.name} and {known.by}"
    points, wanted = known.points, known.wanted
    if known.wrong or not wanted:
        run.add(what, 0, begun, kernels, known.wrong, known.note, told=not known.wrong)
        return
    size = len(wanted[0])
    spread = [
        np.ascontiguousarray(np.broadcast_to(a, (size,)), np.int64) for a in space.arguments(points)
    ] or [np.zeros(size, np.int64)]
    got = run.checker.call(function, spread)
    differs = np.zeros(size, bool)
    for x, w in zip(got, wanted, strict=True):
        differs |= x != w
    wrong = ""
    if differs.any():
        at = _first(space, points, differs)
        point = tuple(int(p[at]) for p in points)
        gives = _shown([int(x[at]) for x in got])
        wants = _shown([int(w[at]) for w in wanted])
        wrong = (
            f"{function.name}({space.described(point)}) gives {gives}, the reference "
            f"{wants} (logical {point}, number {number_of(space, point):,} of the index space); "
            f"{int(differs.sum()):,} of {size:,} differ"
        )
    wrong = wrong or _outside_promise(function, space, points, got)
    run.add(what, size, begun, kernels, wrong, "; ".join(filter(None, ["equal", known.note])))


def _first(space: Space, points: Sequence[np.ndarray], differs: np.ndarray) -> int:
    """The differing sample of the least number."""
    where = np.flatnonzero(differs)
    return min(where.tolist(), key=lambda k: number_of(space, [int(p[k]) for p in points]))


def _outside_promise(
    function: Function, space: Space, points: Sequence[np.ndarray], got: Sequence[np.ndarray]
) -> str:
    """A result outside the range that the header gives it at its own index."""
    values = {**space.fixed, **space.named(p.astype(object) for p in points)}
    for (name, _), promise, result in zip(function.outputs, function.promises, got, strict=False):
        for text, sign in zip(promise, (1, -1), strict=True):
            bound = evaluate(text, values) if text else None
            if bound is None:
                continue
            room = sign * (result.astype(object) - bound) - (sign < 0)
            if (room < 0).any():
                at = _first(space, points, room < 0)
                where = space.described([int(p[at]) for p in points])
                return (
                    f"{function.name}({where}) gives {int(result[at])} as {name}; the header "
                    f"promises {function.result_range}"
                )
    return ""


# -- the CPU -------------------------------------------------------------------------------------


class HostChecker:
    """Checks in chunks of NumPy arrays by another checker's calls, at those indices only that meet
    the conditions of their space; several chunks at a time where there are workers."""

    def __init__(self, checker: Any, workers: int = 1):
        self._checker, self._workers = checker, workers
        self.what: str = checker.what

    @property
    def kernel_ms(self) -> float | None:
        return self._checker.kernel_ms

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        return self._checker.call(function, arguments)

    def round_trip(self, trip: Trip, progress: Progress) -> Tally:
        def one(start: int, stop: int) -> Tally:
            numbers = trip.space.kept(np.arange(start, stop))
            points, count = trip.space.points(numbers), len(numbers)
            results = self._over(trip.there, trip.space, points, count)
            inside = np.ones(count, bool)
            hidden = np.full(count, trip.masked)
            for result, (lo, hi) in zip(results, trip.ends, strict=True):
                inside &= (result >= lo) & (result <= hi)
                hidden &= result == trip.mask
            kept = [
                np.where(inside, r, a.lo) for r, a in zip(results, trip.target.axes, strict=True)
            ]
            good = inside
            for back, point in zip(
                self._over(trip.back, trip.target, kept, count), points, strict=True
            ):
                good = good & (back == point)
            bad = np.flatnonzero(~(good | hidden))
            first = int(numbers[bad[0]]) if len(bad) else None
            return Tally(first, len(bad), int((hidden & ~good).sum()))

        whole = Tally()
        for tally in self._chunks(trip.space.total, one, progress):
            whole.first = tally.first if whole.first is None else whole.first
            whole.bad += tally.bad
            whole.masked += tally.masked
        return whole

    def extremes(
        self, function: Function, space: Space, progress: Progress
    ) -> list[tuple[int, int]]:
        def one(start: int, stop: int) -> list[tuple[int, int]]:
            numbers = space.kept(np.arange(start, stop))
            if not len(numbers):
                return []
            results = self._over(function, space, space.points(numbers), len(numbers))
            return [(int(r.min()), int(r.max())) for r in results]

        found = [x for x in self._chunks(space.total, one, progress) if x]
        return [(min(a for a, _ in x), max(b for _, b in x)) for x in zip(*found, strict=True)]

    def marks(
        self, function: Function, space: Space, targets: Targets, progress: Progress
    ) -> Marks:
        if targets.total > 8 * _free_memory():
            raise VerifyError(
                f"a bitmap of {targets.total:,} positions needs {targets.total / 2**33:.3g} GiB, "
                f"and this machine has {_free_memory() / 2**30:.3g} GiB free; choose smaller sizes"
            )
        bits = np.zeros(-(-targets.total // 8), np.uint8)
        twice: int | None = None
        distinct = 0

        def one(start: int, stop: int) -> np.ndarray:
            numbers = space.kept(np.arange(start, stop))
            return self._positions(function, space, targets, numbers)

        for positions in self._chunks(space.total, one, progress):
            unique, counts = np.unique(positions, return_counts=True)
            byte, bit = unique >> 3, np.left_shift(1, unique & 7).astype(np.uint8)
            again = (counts > 1) | ((bits[byte] & bit) != 0)
            if again.any():
                least = int(unique[np.argmax(again)])
                twice = least if twice is None else min(twice, least)
            distinct += int(((bits[byte] & bit) == 0).sum())
            np.bitwise_or.at(bits, byte, bit)
        gap = None
        if distinct < targets.total:
            for start in range(0, len(bits), CHUNK):
                open_bytes = np.flatnonzero(bits[start : start + CHUNK] != 255)
                if len(open_bytes):
                    byte = start + int(open_bytes[0])
                    free = next(k for k in range(8) if not int(bits[byte]) >> k & 1)
                    gap = 8 * byte + free
                    break
        return Marks(distinct, twice, gap)

    def meets(self, function: Function, space: Space, targets: Targets, position: int) -> list[int]:
        def one(start: int, stop: int) -> list[int]:
            run = space.kept(np.arange(start, stop))
            found = self._positions(function, space, targets, run)
            return run[found == position][:2].tolist()

        numbers: list[int] = []
        for some in self._chunks(space.total, one, lambda done, total: None):
            numbers += some
            if len(numbers) >= 2:
                break
        return numbers[:2]

    def _positions(
        self,
        function: Function,
        space: Space,
        targets: Targets,
        numbers: np.ndarray,
    ) -> np.ndarray:
        results = self._over(function, space, space.points(numbers), len(numbers))
        position = np.zeros(len(numbers), np.int64)
        for result, lo, stride in zip(results, targets.lows, targets.strides, strict=True):
            position += (result - lo) * stride
        return position

    def _over(
        self, function: Function, space: Space, points: Sequence[np.ndarray], count: int
    ) -> tuple[np.ndarray, ...]:
        arguments = space.arguments(points)
        if not arguments or all(np.ndim(a) == 0 for a in arguments):
            arguments = [np.full(count, a, np.int64) for a in arguments] or [np.zeros(count)]
        return self.call(function, arguments)

    def _chunks(
        self, total: int, one: Callable[[int, int], Any], progress: Progress
    ) -> Iterator[Any]:
        """one(start, stop) over all chunks, in order, with few of them in hand at a time."""
        spans = ((s, min(s + CHUNK, total)) for s in range(0, total, CHUNK))
        if self._workers == 1 or total <= CHUNK:
            for start, stop in spans:
                yield one(start, stop)
                progress(stop, total)
            return
        with ThreadPoolExecutor(self._workers) as pool:
            waiting: deque[tuple[int, Any]] = deque()
            try:
                for start, stop in spans:
                    waiting.append((stop, pool.submit(one, start, stop)))
                    if len(waiting) > 2 * self._workers:
                        stop, result = waiting.popleft()
                        yield result.result()
                        progress(stop, total)
                while waiting:
                    stop, result = waiting.popleft()
                    yield result.result()
                    progress(stop, total)
            finally:
                for _, result in waiting:
                    result.cancel()


class CpuChecker(HostChecker):
    """Checks through a target that runs on the CPU."""

    kernel_ms = None

    def __init__(self, unit: Emitted, version: str):
        self.what = f"the CPU, {version}"
        self._compiled: Compiled = unit.compile()
        free = getattr(self._compiled._library, "takes_threads", False)
        self._workers = os.cpu_count() or 1 if free else 1

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        given = list(arguments) if function.params else []
        if not given:
            size = len(arguments[0]) if len(arguments) else 1
            value = self._compiled[function.name]()
            values = value if isinstance(value, tuple) else (value,)
            return tuple(np.full(size, v, np.int64) for v in values)
        found = self._compiled[function.name](*given)
        return found if isinstance(found, tuple) else (found,)


def _free_memory() -> int:
    """Bytes; a guess where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 2**32
