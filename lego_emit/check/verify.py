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
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Any

from ..algebra.block import Block
from ..emit.unit import Unit
from ..errors import VerifyError, shown
from ..html import line, table
from ..ir.program import Function
from ..ir.relations import OPEN
from ..packages import numpy as np
from ..run import registry
from ..run.devices import Checker, Progress, Tally, Targets, Trip
from ..run.space import Space, check_names, spaces_of
from .expected import Expected, expected, number_of, numbers_of
from .host import CpuChecker, HostChecker
from .tables import Tabled, arguments_of, mismatch, wanted_of

SAMPLES = 2**20
CLAIMS = ("", "injective", "bijective")


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


@dataclass(frozen=True, repr=False)
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
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        count = len(self.checks)
        found = self.counterexample or "WRONG"
        return (
            f"<verification of {self.unit} ({self.target}) on {self.device}: {count} "
            f"check{'s' * (count != 1)}, {'ok' if self.ok else found}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (check.verdict, check.what, check.found, f"{check.indices:,}", f"{check.seconds:.2f} s")
            for check in self.checks
        ]
        wrong = self.counterexample and line(f"first counterexample: {self.counterexample}")
        heading = ("", "check", "found", "indices", "time")
        return f"{line(self._about)}{table(heading, rows)}{wrong}"

    @property
    def _about(self) -> str:
        return f"{self.unit} ({self.target}) on {self.device}"

    def __str__(self) -> str:
        lines = [self._about]
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
        """The result as a dict that JSON can hold."""
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
    unit: Unit,
    on: str = "cpu",
    *,
    sizes: Mapping[str, int] | None = None,
    domain: Mapping[str, int] | None = None,
    reference: Any = None,
    subject: Any = None,
    claim: str = "",
    samples: int = SAMPLES,
    progress: Progress | None = None,
) -> Verification:
    """Check a unit over its whole index space; see Emitted.verify. subject: what it was made of."""
    if claim not in CLAIMS:
        raise VerifyError(f"no claim {claim!r}; there are 'injective' and 'bijective'")
    if domain and unit.is_pair:
        raise VerifyError(
            f"domain is {shown(domain)}: a layout's indices run over its sizes; domain is for index "
            f"functions"
        )
    begun = time.perf_counter()
    functions = unit.functions
    case = reference if hasattr(reference, "table") else None
    own = reference is None
    reference = subject if own else reference
    spaces, given = spaces_of(unit, sizes or {}, domain or {}, case, _taken(reference))
    for name, space in spaces.items():
        if space.conditions and not len(space.kept(numbers_of(space, SAMPLES))):
            raise VerifyError(f"{name}: no index meets {space.conditions_text}")
    with ThreadPoolExecutor(1) as pool:
        # The reference is evaluated while the compiler is at work.
        waiting = None
        if reference is not None and case is None:
            known = {**unit.fixed, **given}
            waiting = pool.submit(expected, unit, spaces, reference, known, samples, own)
        checker = _checker(unit, on, spaces)
        run = _Run(checker)
        quiet = progress or (lambda done, total: None)
        if unit.is_pair:
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


def verify_each(
    unit: Unit,
    subjects: Sequence[Any],
    on: str,
    sizes: Mapping[str, int] | None,
    domain: Mapping[str, int] | None,
    references: Sequence[Any] | None,
    options: Mapping[str, Any],
) -> Verification:
    """verify() of a unit of several subjects, one after the other."""
    parts = _parts(unit)
    references = [None] * len(parts) if references is None else references
    if not isinstance(references, list | tuple) or len(references) != len(parts):
        raise VerifyError(f"reference is {shown(references)}; give a list of {len(parts)}")
    check_names(unit.functions, sizes or {})
    check_names(unit.functions, domain or {})
    found = []
    for part, subject, reference in zip(parts, subjects, references, strict=True):
        known = {p.name for f in part.functions for p in f.params}
        known |= {old for f in part.functions for old, _ in f.renamed}
        given = {n: v for n, v in (sizes or {}).items() if n in known}
        runs = {n: v for n, v in (domain or {}).items() if n in known and not part.is_pair}
        found.append(
            verify(
                part, on, sizes=given, domain=runs, reference=reference, subject=subject, **options
            )
        )
    return replace(
        found[0],
        checks=tuple(check for one in found for check in one.checks),
        seconds=sum(one.seconds for one in found),
        counterexample=next((one.counterexample for one in found if one.counterexample), ""),
    )


def _parts(unit: Unit) -> list[Unit]:
    """A unit's subjects, each with its functions and the whole text."""
    found, start = [], 0
    for count in unit.program.parts:
        functions = unit.functions[start : start + count]
        found.append(replace(unit, program=replace(unit.program, functions=functions, parts=())))
        start += count
    return found


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


def round_trips(unit: Unit, spaces: Mapping[str, Space]) -> list[Trip]:
    """The round trips of a layout: over the indices and, where some have no position or some
    positions no index, over the positions."""
    apply, inv = unit.functions
    a, b = spaces[apply.name], spaces[inv.name]
    masked = _masks(apply, a)
    found = [Trip(apply, inv, a, b, masked, _ends(apply, a, b))]
    if masked or a.total != b.total:
        masked = masked or _masks(inv, b)
        found.append(Trip(inv, apply, b, a, masked, _ends(inv, b, a)))
    return found


def _masks(there: Function, space: Space) -> bool:
    """Whether a result may be what is masked."""
    if any(promise.masked is not None for promise in there.promises):
        return True
    low = _promised(there, space)[0][0]
    return low is not None and low < there.starts[0]


def _ends(there: Function, space: Space, target: Space) -> tuple[tuple[int, int], ...]:
    """Where each result must lie: as the header promises, and where the way back begins."""
    ends = []
    for (least, most), axis in zip(_promised(there, space), target.axes, strict=True):
        lo, hi = axis.lo, axis.lo + axis.count - 1
        ends.append(
            (lo if least is None else max(lo, least), hi if most is None else min(hi, most))
        )
    return tuple(ends)


def _checker(unit: Unit, on: str, spaces: Mapping[str, Space]) -> Checker:
    target = registry.toolchain(unit.printer.name)
    if on == "cpu":
        return CpuChecker(unit, target.find().version)
    checker = target.checker(unit, on, spaces)
    # Kernels run over whole spaces.
    return HostChecker(checker) if any(s.conditions for s in spaces.values()) else checker


def _round_trips(run: _Run, unit: Unit, spaces: Mapping[str, Space], progress: Progress) -> None:
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
    only = f" where {space.conditions_text}" if space.conditions else ""
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
        first, last = lo, hi
        if claim == "bijective" and least is not None and most is not None:
            first, last = least, most
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
    promises = chain(function.promises, repeat(OPEN))
    for (_, node), promise in zip(function.outputs, promises, strict=False):
        least, most = promise.at(space.fixed)
        lows = [lo for lo in (node.lo, least) if lo is not None]
        highs = [hi for hi in (node.hi, most) if hi is not None]
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


def _compare_table(run: _Run, case: Tabled, unit: Unit) -> None:
    for position, function in enumerate(unit.functions):
        begun, kernels = run.begin()
        names, points, wanted = wanted_of(case, function, inverse=position == 1)
        given = arguments_of(case, function, names, points)
        size = len(wanted[0])
        spread = [np.ascontiguousarray(np.broadcast_to(a, (size,)), np.int64) for a in given]
        if not spread:
            spread = [np.zeros(size, np.int64)]
        outputs = run.checker.call(function, spread)
        got = [np.broadcast_to(x, w.shape) for x, w in zip(outputs, wanted, strict=True)]
        differs = np.zeros(size, bool)
        for x, w in zip(got, wanted, strict=True):
            differs |= x != w
        wrong = mismatch(case, function, given, got, wanted, differs) if differs.any() else ""
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
    for (name, _), promise, hidden, result in zip(
        function.outputs, function.promises, function.masked_bits, got, strict=False
    ):
        is_masked = (result == hidden) if promise.masked is not None else False
        for bound, sign in zip(promise.at(values), (1, -1), strict=True):
            if bound is None:
                continue
            room = np.where(is_masked, 0, sign * (result.astype(object) - bound))
            if (room < 0).any():
                at = _first(space, points, room < 0)
                where = space.described([int(p[at]) for p in points])
                return (
                    f"{function.name}({where}) gives {int(result[at])} as {name}; the header "
                    f"promises {function.result_range}"
                )
    return ""
