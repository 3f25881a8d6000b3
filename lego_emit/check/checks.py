"""The checks of a unit, made with a device's checker: round trips, the results' range and bitmap, and
comparisons with a golden table and the reference."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..emit.unit import Unit
from ..ir.program import Function
from ..packages import numpy as np
from ..run.devices import Checker, Progress, Tally, Targets, Trip
from ..run.space import Index, Space
from .expected import Expected
from .tables import TableQuery


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


@dataclass
class Checks:
    """The checks made so far. counterexample: the first index that breaks a promise."""

    checker: Checker
    progress: Progress
    made: list[Check] = field(default_factory=list)
    counterexample: str = ""
    _begun: tuple[float, float] = (0.0, 0.0)

    def _begin(self, waited: float = 0.0) -> None:
        self._begun = time.perf_counter() - waited, self.checker.kernel_ms or 0.0

    def _add(self, what: str, indices: int, wrong: str, ok: str, told: bool = False) -> None:
        """Add the check that was begun: what is wrong, else what is fine."""
        begun, kernels = self._begun
        now = self.checker.kernel_ms
        kernel_ms = None if now is None else now - kernels
        seconds = time.perf_counter() - begun
        self.made.append(Check(what, indices, not wrong, wrong or ok, seconds, kernel_ms, told))
        self.counterexample = self.counterexample or wrong

    def _called(
        self, function: Function, arguments: Sequence[Any], size: int
    ) -> tuple[np.ndarray, ...]:
        """The results at so many indices."""
        columns = [np.ascontiguousarray(np.broadcast_to(a, (size,)), np.int64) for a in arguments]
        return self.checker.call(function, columns or [np.zeros(size, np.int64)])

    def _given(self, index: Index) -> tuple[int, ...]:
        """The results at one index."""
        found = self._called(index.space.function, index.arguments, 1)
        return tuple(int(np.ravel(x)[0]) for x in found)

    # -- round trips -----------------------------------------------------------------------------

    def round_trips(self, trips: Sequence[Trip]) -> None:
        """Every index comes back from its position and, where that is another trip, every position
        from its index."""
        held = {}
        for trip in trips:
            self._begin()
            there, back = trip.there.name, trip.back.name
            tally = self.checker.round_trip(trip, self.progress)
            held[there] = trip.space.total - tally.masked
            wrong = self._broken(trip, tally) or ("" if trip.masked else _narrow(trip))
            ok = "every index comes back"
            if trip.masked:
                ok += f"; {tally.masked:,} are masked"
            what = f"{back}({there}(..)) and the range of {there}"
            self._add(what, trip.space.total, wrong, ok)
            if wrong:
                return
        whole = not any(trip.space.conditions for trip in trips)
        if whole and len(set(held.values())) > 1:
            counts = " and ".join(f"{n} holds {count:,}" for n, count in held.items())
            self._begin()
            self._add("as many indices as positions", 0, counts, "")

    def _broken(self, trip: Trip, tally: Tally) -> str:
        """A round trip that fails, in words; "" where all come back."""
        if tally.first is None:
            return ""
        start = trip.space.at(tally.first)
        outputs = self._given(start)
        text = f"{trip.there.name}({start}) gives {_shown(outputs)}"
        text += f" (logical {start.values}, number {tally.first:,} of the index space)"
        outside = [
            (value, lo, hi)
            for value, (lo, hi) in zip(outputs, trip.ends, strict=True)
            if not lo <= value <= hi
        ]
        if outside:
            value, lo, hi = outside[0]
            text += f": {value} is outside {lo}..{hi}"
        else:
            position = Index(trip.target, outputs)
            text += f", and {trip.back.name}({position}) gives {_shown(self._given(position))}"
        return f"{text}; {tally.bad:,} of {trip.space.total:,} fail"

    # -- the results -----------------------------------------------------------------------------

    def results(self, space: Space, claim: str) -> None:
        """The results lie in their range, and are as different as is claimed."""
        function, total = space.function, space.total
        self._begin()
        found = self.checker.extremes(space, self.progress)
        wrong = self._out_of_range(space, found)
        names = [name for name, _ in function.outputs]
        spans = ", ".join(f"{n} in {lo}..{hi}" for n, (lo, hi) in zip(names, found, strict=True))
        only = f" where {space.conditions_text}" if space.conditions else ""
        promise = function.result_range and f", as the header promises: {function.result_range}"
        self._add(f"the range of {function.name}", total, wrong, spans + only + promise)
        if wrong:
            return
        self._begin()
        ends = found
        if claim == "bijective":
            # Onto is claimed of the promised range, which the extremes lie within.
            ends = [
                (lo, hi) if least is None or most is None else (least, most)
                for (lo, hi), (least, most) in zip(found, space.promised, strict=True)
            ]
        targets = Targets.over(ends)
        what = f"{function.name} is {claim}" if claim else f"the results of {function.name}"
        if not claim and targets.total > 64 * max(total, 2**20):
            text = f"{targets.total:,} possible results are too many to look for repeated ones"
            self._add(what, 0, "", f"{text}; nothing is claimed of them", told=True)
            return
        marks = self.checker.marks(space, targets, self.progress)
        twice = gap = ""
        if marks.twice is not None:
            first, second = self.checker.meets(space, targets, marks.twice)
            a, b = space.at(first), space.at(second)
            twice = (
                f"({a}) and ({b}), numbers {first:,} and {second:,}, "
                f"both give {_named(names, self._given(a))}"
            )
        if marks.gap is not None:
            gap = f"no index gives {_named(names, targets.at(marks.gap))}"
        share = f"{marks.distinct:,} of the {targets.total:,} possible results are given"
        if claim:
            if twice or (gap and claim == "bijective"):
                wrong = f"{'not one-to-one' if twice else 'not onto'}: {twice or gap}; {share}"
            ok = "no result is given twice" + ("" if gap else ", and none is left out")
            self._add(what, total, wrong, ok)
            return
        ok = f"repeated: {twice}" if twice else "none is repeated"
        ok += f"; left out: {gap}" if gap else "; none is left out"
        ok += f"; {share}" if twice or gap else ""
        self._add(what, total, "", f"{ok} (allowed: no claim was made)", told=True)

    def _out_of_range(self, space: Space, found: Sequence[tuple[int, int]]) -> str:
        """An extreme that the header rules out, in words; "" where there is none."""
        function = space.function
        for (name, _), (lo, hi), (least, most) in zip(
            function.outputs, found, space.promised, strict=True
        ):
            if function.wrapping and most is not None and most >= 2**63:
                continue  # they have the bits of an int64
            if least is not None and lo < least:
                value = lo
            elif most is not None and hi > most:
                value = hi
            else:
                continue
            where = ""
            if len(found) == 1:
                number = self.checker.meets(space, Targets.over(found), value - lo)[0]
                where = f" at ({space.at(number)}), number {number:,} of the index space"
            ends = " and ".join(
                f"{sign} {end}" for sign, end in ((">=", least), ("<=", most)) if end is not None
            )
            return f"{function.name} gives {value} as {name}{where}; it should be {ends}"
        return ""

    # -- comparisons -----------------------------------------------------------------------------

    def table(self, asked: TableQuery) -> None:
        """A function gives what its golden table has."""
        self._begin()
        outputs = self._called(asked.function, asked.given, asked.size)
        what = f"{asked.function.name} and the golden table"
        self._add(what, asked.size, asked.mismatch(outputs), "equal")

    def reference(self, function: Function, known: Expected, waited: float) -> None:
        """A function gives what is expected; waited: the seconds until that was known."""
        self._begin(waited)
        what = f"{function.name} and {known.by}"
        index, wanted = known.index, known.wanted
        if index is None or known.wrong or not wanted:
            self._add(what, 0, known.wrong, known.note, told=not known.wrong)
            return
        size = len(wanted[0])
        got = self._called(function, index.arguments, size)
        differs = np.any([x != w for x, w in zip(got, wanted, strict=True)], axis=0)
        wrong = ""
        if differs.any():
            at = int(np.argmax(differs))
            first = index.one(at)
            gives = _shown([int(x[at]) for x in got])
            wants = _shown([int(w[at]) for w in wanted])
            wrong = (
                f"{function.name}({first}) gives {gives}, the reference {wants} (logical "
                f"{first.values}, number {first.number:,} of the index space); "
                f"{int(differs.sum()):,} of {size:,} differ"
            )
        wrong = wrong or _outside_promise(index, got)
        self._add(what, size, wrong, "; ".join(filter(None, ["equal", known.note])))

    def walk(self, space: Space) -> None:
        """The walk over a function's results gives what the function does."""
        self._begin()
        function, compiled = space.function, getattr(self.checker, "compiled", None)
        assert function.walk is not None
        what = f"{function.walk.names['walk']} and {function.name}"
        if compiled is None or space.conditions:
            why = "it is run on the CPU alone" if compiled is None else "some indices are left out"
            self._add(what, 0, "", f"not compared: {why}", told=True)
            return
        from .compiled_walks import compared

        count, wrong = compared(space, compiled)
        self._add(what, count, wrong, "equal, one after the other")

    def fields(
        self, unit: Unit, packed: Any, spaces: Mapping[str, Space], numbers: Mapping[str, int]
    ) -> None:
        """Fields are read and written as they are bit by bit."""
        compiled = getattr(self.checker, "compiled", None)
        for function in unit.program.functions:
            if function.packing is None:
                continue
            self._begin()
            if compiled is None:
                what = f"{function.packing.get} and {function.packing.set}"
                self._add(what, 0, "", "not compared: they are run on the CPU alone", told=True)
                continue
            from .fields import compared

            what, count, wrong, ok = compared(
                unit, packed, spaces[function.name], numbers, compiled
            )
            self._add(what, count, wrong, ok, told=not count)


def _narrow(trip: Trip) -> str:
    """A range that the way back promises, and leaves, since it gives every index."""
    back = trip.back
    for (name, _), (least, most), axis in zip(
        back.outputs, trip.target.promised, trip.space.axes, strict=True
    ):
        if (least is not None and least > axis.lo) or (most is not None and most < axis.hi):
            return (
                f"{back.name} gives {axis.lo}..{axis.hi} as {name}; its range is "
                f"{back.result_range}"
            )
    return ""


def _outside_promise(index: Index, got: Sequence[np.ndarray]) -> str:
    """A result outside the range that the header gives it at its own index."""
    function, values = index.space.function, index.exact
    for (name, _), promise, hidden, result in zip(
        function.outputs, function.promises, function.masked_bits, got, strict=False
    ):
        is_masked = (result == hidden) if promise.masked is not None else False
        for bound, sign in zip(promise.at(values), (1, -1), strict=True):
            if bound is None:
                continue
            room = np.where(is_masked, 0, sign * (result.astype(object) - bound))
            if (room < 0).any():
                at = int(np.argmax(room < 0))
                return (
                    f"{function.name}({index.one(at)}) gives {int(result[at])} as {name}; the "
                    f"header promises {function.result_range}"
                )
    return ""


def _shown(values: Sequence[int]) -> str:
    return str(values[0]) if len(values) == 1 else str(tuple(values))


def _named(names: Sequence[str], values: Sequence[int]) -> str:
    """Results with their names, where there are several."""
    if len(values) == 1:
        return str(values[0])
    return f"({', '.join(f'{n}={v}' for n, v in zip(names, values, strict=True))})"
