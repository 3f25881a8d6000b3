"""Verifying an emitted unit over its whole index space, on the CPU or on a GPU.

A layout with an inverse: inv(apply(i)) = i and 0 <= apply(i) < size for every index i, which on a
finite set proves that apply is a bijection and inv its inverse (LEGO, section III-A); with masked
positions the same the other way round. Everything else: the results' extremes, and a bitmap of the
positions that are met, which shows the first collision and the first gap. All of it is compared
with the reference evaluator, which shares nothing with what is emitted: on a golden table whole,
else at the corners, the first and last indices and 2^20 random ones.
"""

from __future__ import annotations

import inspect
import os
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice, product, zip_longest
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import reference as evaluator
from . import registry
from .errors import LegoError, VerifyError
from .layout import Block
from .program import Function
from .relations import evaluate
from .space import Space, check_names, space_of
from .target import Compiled

if TYPE_CHECKING:
    from .emit import Emitted
    from .golden import Case

CHUNK = 2**18  # indices at a time
SAMPLES = 2**20
EDGE = 1024  # first and last numbers that are always compared
CORNERS = 2**16
CLAIMS = ("", "injective", "bijective")
CALLS = 4096  # of a user's function on plain integers
MOST = 2**63 - 1

Progress = Callable[[int, int], None]  # indices done, indices in all


# -- what comes out ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One thing that was checked: what, at how many indices, how it came out; seconds of the
    whole, kernel_ms of the GPU's kernels alone."""

    what: str
    indices: int
    ok: bool
    found: str = ""
    seconds: float = 0.0
    kernel_ms: float | None = None


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
                f"  {'ok   ' if check.ok else 'WRONG'} {check.what}: {check.found} "
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
    """A round trip to make: there over space, its results within target, back again; where masked,
    a position of mask is allowed to have no way back."""

    there: Function
    back: Function
    space: Space
    target: Space
    mask: int
    masked: bool


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

    def add(self, what: str, indices: int, begun: float, kernels: float, wrong: str, ok: str):
        now = self.checker.kernel_ms
        kernel_ms = None if now is None else now - kernels
        seconds = time.perf_counter() - begun
        self.checks.append(Check(what, indices, not wrong, wrong or ok, seconds, kernel_ms))
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
    spaces, given = spaces_of(unit, sizes or {}, domain or {}, case, _taken(reference))
    with ThreadPoolExecutor(1) as pool:
        # The reference is evaluated while the compiler is at work.
        expected = None
        if reference is not None and case is None:
            expected = pool.submit(_expected, unit, spaces, reference, given, samples)
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
        if expected is not None:
            waited = time.perf_counter()
            known = expected.result()
            waited = (time.perf_counter() - waited) / len(known)
            for function, part in zip(functions, known, strict=True):
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
    given = dict(sizes)
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
    found = [Trip(apply, inv, a, b, mask, masked)]
    if masked or a.total != b.total:
        found.append(Trip(inv, apply, b, a, mask, masked))
    return found


def _checker(unit: Emitted, on: str, spaces: Mapping[str, Space]) -> Checker:
    target = registry.toolchain(unit.printer.name)
    if on == "cpu":
        return CpuChecker(unit, target.find().version)
    return target.checker(unit, on, spaces)


def _round_trips(run: _Run, unit: Emitted, spaces: Mapping[str, Space], progress: Progress) -> None:
    held = {}
    for trip in round_trips(unit, spaces):
        there, back, space = trip.there, trip.back, trip.space
        begun, kernels = run.begin()
        tally = run.checker.round_trip(trip, progress)
        held[there.name] = space.total - tally.masked
        wrong = _broken(run.checker, trip, tally) if tally.first is not None else ""
        ok = "every index comes back"
        if trip.masked:
            ok += f"; {tally.masked:,} are masked"
        what = f"{back.name}({there.name}(..)) and the range of {there.name}"
        run.add(what, space.total, begun, kernels, wrong, ok)
        if wrong:
            break
    if len(held) == 2 and len(set(held.values())) != 1 and not run.counterexample:
        counts = " and ".join(f"{n} holds {count:,}" for n, count in held.items())
        begun, kernels = run.begin()
        run.add("as many indices as positions", 0, begun, kernels, f"{counts}", "")


def _broken(checker: Checker, trip: Trip, tally: Tally) -> str:
    """A round trip that fails, in words."""
    assert tally.first is not None
    start = trip.space.point(tally.first)
    outputs = _at(checker, trip.there, trip.space, start)
    text = f"{trip.there.name}({trip.space.described(start)}) gives {_shown(outputs)}"
    text += f" (logical {start}, number {tally.first:,} of the index space)"
    outside = [
        (value, axis)
        for value, axis in zip(outputs, trip.target.axes, strict=True)
        if not axis.lo <= value < axis.lo + axis.count
    ]
    if outside:
        value, axis = outside[0]
        text += f": {value} is outside {axis.lo}..{axis.lo + axis.count - 1}"
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
    wrong = _out_of_range(run.checker, function, space, found)
    spans = ", ".join(
        f"{name} in {lo}..{hi}" for (name, _), (lo, hi) in zip(function.outputs, found, strict=True)
    )
    run.add(f"the range of {function.name}", space.total, begun, kernels, wrong, spans)
    if wrong:
        return
    begun, kernels = run.begin()
    proven = _promised(function, space)
    lows, counts = [], []
    for (lo, hi), (least, most) in zip(found, proven, strict=True):
        # Onto is claimed of the promised range, which the extremes lie within.
        whole = claim == "bijective" and least is not None and most is not None
        first, last = (least, most) if whole else (lo, hi)
        lows.append(first)
        counts.append(last - first + 1)
    targets = Targets(tuple(lows), tuple(counts))
    if not claim and targets.total > 64 * max(space.total, 2**20):
        found_text = f"{targets.total:,} positions are too many for a bitmap; not asked for"
        run.add(f"collisions of {function.name}", 0, begun, kernels, "", found_text)
        return
    marks = run.checker.marks(function, space, targets, progress)
    wrong, ok = "", f"{marks.distinct:,} positions, each met once"
    if marks.twice is not None:
        first, second = run.checker.meets(function, space, targets, marks.twice)
        a, b = space.point(first), space.point(second)
        value = _shown(_at(run.checker, function, space, a))
        ok = (
            f"not injective: {function.name} gives {value} at ({space.described(a)}) and at "
            f"({space.described(b)}), numbers {first:,} and {second:,}; "
            f"{marks.distinct:,} positions are met"
        )
        wrong = ok if claim else ""
    elif marks.gap is not None:
        gap = _shown(_unravel(targets, marks.gap))
        ok += f"; the first that is not met is {gap}"
        if claim == "bijective":
            wrong = (
                f"not onto: {gap} is met by no index; {marks.distinct:,} of {targets.total:,} are"
            )
    else:
        ok += "; none is left out"
    run.add(f"collisions of {function.name}", space.total, begun, kernels, wrong, ok)


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
                return (
                    f"{function.name} gives {value} as {name}{where}; its range is "
                    f"{function.result_range or f'{least}..{most}'}"
                )
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


@dataclass(frozen=True)
class _Expected:
    """What one function must give at some indices; a note instead where that is not known."""

    points: Sequence[np.ndarray] = ()
    wanted: Sequence[np.ndarray] = ()
    note: str = ""


def _expected(
    unit: Emitted,
    spaces: Mapping[str, Space],
    subject: Any,
    sizes: Mapping[str, int],
    samples: int,
) -> list[_Expected]:
    """For each function of the unit, what the reference gives. Needs no device."""
    base = unit.functions[0].base
    layout = subject if isinstance(subject, Block) else None
    if layout is None:
        result = _called(subject, sizes, {}, quiet=True)
        layout = result if isinstance(result, Block) else None
    found = []
    for position, function in enumerate(unit.functions):
        space = spaces[function.name]
        if layout is not None and not layout.is_concrete:
            found.append(_Expected(note="not compared: the layout's sizes are symbols"))
        elif layout is not None:
            points = space.points(_numbers(space, samples))
            zero = [p - base if base else p for p in points]
            if position == 1:
                wanted = list(evaluator.inv(layout, zero[0]))
            else:
                wanted = [evaluator.apply(layout, zero)]
            found.append(_Expected(points, [np.asarray(w) + base if base else w for w in wanted]))
        else:
            points, wanted = _function_points(subject, function, space, sizes, samples)
            note = "" if wanted else "not compared: its ':' axes are too long"
            found.append(_Expected(points, wanted, note))
    return found


def _compare(
    run: _Run, function: Function, space: Space, expected: _Expected, waited: float
) -> None:
    begun, kernels = run.begin()
    begun -= waited
    what = f"{function.name} and the reference evaluator"
    points, wanted = expected.points, expected.wanted
    if expected.note:
        run.add(what, 0, begun, kernels, "", expected.note)
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
            f"{wants} (logical {point}, number {_number(space, point):,} of the index space); "
            f"{int(differs.sum()):,} of {size:,} differ"
        )
    run.add(what, size, begun, kernels, wrong, "equal")


def _first(space: Space, points: Sequence[np.ndarray], differs: np.ndarray) -> int:
    """The differing sample of the least number."""
    where = np.flatnonzero(differs)
    return min(where.tolist(), key=lambda k: _number(space, [int(p[k]) for p in points]))


def _number(space: Space, point: Sequence[int]) -> int:
    number = 0
    for axis, value in zip(space.axes, point, strict=True):
        number = number * axis.count + value - axis.lo
    return number


def _numbers(space: Space, samples: int) -> np.ndarray:
    """The numbers that are compared: all where they are few, else corners, both ends and random
    ones, always the same."""
    total = space.total
    if total <= samples:
        return np.arange(total)
    ends = [[0, 1, a.count - 2, a.count - 1] for a in space.axes]
    if 4 ** len(ends) > CORNERS:
        ends = [[0, a.count - 1] for a in space.axes]
    choices = (
        sorted({e for e in end if 0 <= e < a.count})
        for end, a in zip(ends, space.axes, strict=True)
    )
    corners = [
        _number(space, [e + a.lo for e, a in zip(c, space.axes, strict=True)])
        for c in islice(product(*choices), CORNERS)
    ]
    edges = np.concatenate([np.arange(min(EDGE, total)), np.arange(max(0, total - EDGE), total)])
    drawn = np.random.default_rng(0).integers(0, total, samples)
    return np.sort(np.concatenate([np.array(corners, np.int64), edges, drawn]))


def _called(subject: Any, sizes: Mapping[str, int], point: Mapping[str, Any], quiet: bool = False):
    """The user's function on integers or arrays; names that nobody defined are the point's."""
    from .golden import Case

    name = getattr(subject, "__name__", "the reference")
    case = Case(Path(name), subject, sizes)
    try:
        return case._call(point)
    except LegoError as error:
        if quiet:
            return None
        place = str(Path(name) / "layout.py")
        raise VerifyError(
            f"the reference {name} fails: {str(error).replace(place, name)}"
        ) from None


def _function_points(
    subject: Any, function: Function, space: Space, sizes: Mapping[str, int], samples: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Indices of an index function, and what the user's function gives there on integers."""
    back = {new: old for old, new in function.renamed}
    ranged = [name for name, _ in function.axes]
    outer = Space(space.names, space.fixed, tuple(a for a in space.axes if a.name not in ranged))
    inner = prod(a.count for a in space.axes if a.name in ranged)
    if inner > 16 * SAMPLES:
        return [], []
    numbers = _numbers(outer, max(1, -(-samples // inner)))
    base = function.base
    if not ranged:
        found = _by_arrays(subject, outer, numbers, sizes, back, base, len(function.outputs))
        if found is not None:
            return outer.points(numbers), found
    if len(numbers) > CALLS:
        numbers = numbers[np.linspace(0, len(numbers) - 1, CALLS).astype(np.int64)]
    columns: list[list[np.ndarray]] = [[] for _ in function.outputs]
    for number in numbers.tolist():
        values = outer.point(number)
        point = {
            back.get(a.name, a.name): v - base for a, v in zip(outer.axes, values, strict=True)
        }
        results = [np.asarray(v) for v in _results(_called(subject, sizes, point))]
        shape = tuple(n for r in results for n in r.shape)
        before = 0
        for column, result in zip(columns, results, strict=True):
            after = len(shape) - before - result.ndim
            column.append(
                np.broadcast_to(
                    result.reshape((1,) * before + result.shape + (1,) * after), shape
                ).ravel()
                + base
            )
            before += result.ndim
    whole = (numbers[:, None] * inner + np.arange(inner)[None, :]).ravel()
    return space.points(whole), [np.concatenate(c).astype(np.int64) for c in columns]


def _by_arrays(
    subject: Any,
    space: Space,
    numbers: np.ndarray,
    sizes: Mapping[str, int],
    back: Mapping[str, str],
    base: int,
    count: int,
) -> list[np.ndarray] | None:
    """The user's function on arrays, where it takes them: many times faster."""
    points = [p - base for p in space.points(numbers)]
    point = {back.get(a.name, a.name): p for a, p in zip(space.axes, points, strict=True)}
    try:
        results = [np.asarray(v) for v in _results(_called(subject, sizes, point))]
        if len(results) != count or any(r.dtype.kind not in "iu" for r in results):
            return None
        return [np.broadcast_to(r, numbers.shape).astype(np.int64) + base for r in results]
    except (VerifyError, ValueError, TypeError):
        return None


def _results(result: Any) -> list[Any]:
    if isinstance(result, Mapping):
        return list(result.values())
    return list(result) if isinstance(result, tuple | list) else [result]


# -- the CPU -------------------------------------------------------------------------------------


class CpuChecker:
    """Checks in chunks of NumPy arrays through a target that runs on the CPU; several chunks at a
    time where the compiled library allows it."""

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

    def round_trip(self, trip: Trip, progress: Progress) -> Tally:
        def one(start: int, stop: int) -> Tally:
            points = trip.space.points(np.arange(start, stop))
            results = self._over(trip.there, trip.space, points, stop - start)
            inside = np.ones(stop - start, bool)
            hidden = np.full(stop - start, trip.masked)
            for result, axis in zip(results, trip.target.axes, strict=True):
                inside &= (result >= axis.lo) & (result < axis.lo + axis.count)
                hidden &= result == trip.mask
            kept = [
                np.where(inside, r, a.lo) for r, a in zip(results, trip.target.axes, strict=True)
            ]
            good = inside
            for back, point in zip(
                self._over(trip.back, trip.target, kept, stop - start), points, strict=True
            ):
                good = good & (back == point)
            bad = np.flatnonzero(~(good | hidden))
            first = start + int(bad[0]) if len(bad) else None
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
            points = space.points(np.arange(start, stop))
            results = self._over(function, space, points, stop - start)
            return [(int(r.min()), int(r.max())) for r in results]

        found = list(self._chunks(space.total, one, progress))
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
            points = space.points(np.arange(start, stop))
            return self._positions(function, space, targets, points, stop - start)

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
            points = space.points(np.arange(start, stop))
            found = self._positions(function, space, targets, points, stop - start)
            return [start + int(k) for k in np.flatnonzero(found == position)[:2]]

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
        points: list[np.ndarray],
        count: int,
    ) -> np.ndarray:
        results = self._over(function, space, points, count)
        position = np.zeros(count, np.int64)
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


def _free_memory() -> int:
    """Bytes; a guess where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 2**32
