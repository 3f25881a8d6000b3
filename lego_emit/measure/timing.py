"""How long an emitted index takes, beside the same index written otherwise.

Four ways are measured in one run, taking turns: ours; by hand; the unsimplified nest of divisions;
a look-up table in memory. On a GPU the cost of one index is that of a loop over random indices, less
that of the loop alone; on the CPU it is a step of a chain in which each index depends on the last.
Medians and quartiles of many repetitions, after a warm-up.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.block import Block
from ..emit.unit import Unit
from ..errors import LegoError, VerifyError, short_repr
from ..html import line, table
from ..ir.program import Function
from ..run import registry
from ..run.devices import BYTES, REPEAT, Progress, Rivals, Way
from ..run.space import Space, spaces_of
from ..run.target import check_given
from .nest import naive

LOOP = "the loop alone"
BELOW = "below what can be measured"
OURS, BY_HAND, NAIVE, TABLE = "ours", "by hand", "naive nest", "table"

Pair = tuple[Callable[..., Any], Callable[..., Any] | None]


@dataclass(frozen=True)
class Quartiles:
    """The median and the quartiles of repeated measurements."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Quartiles:
        """The quartiles of at least one sample."""
        if len(samples) < 2:
            return cls(samples[0], samples[0], samples[0])
        low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
        return cls(median, low, high)

    @property
    def spread(self) -> float:
        """The distance of the quartiles."""
        return self.high - self.low

    def less(self, other: float) -> Quartiles:
        """These, with a number taken off each."""
        return Quartiles(self.median - other, self.low - other, self.high - other)

    def times(self, factor: float) -> Quartiles:
        """These, multiplied by a number of either sign."""
        a, b = sorted((self.low * factor, self.high * factor))
        return Quartiles(self.median * factor, a, b)


@dataclass(frozen=True)
class IndexCost:
    """Of one index: ns, on a GPU without the loop's own share; the registers that a kernel takes and
    the machine instructions of one call, None where they are not known."""

    function: str
    way: str
    ns: Quartiles
    registers: int | None = None
    instructions: int | None = None


@dataclass(frozen=True)
class Traffic:
    """A gather or a scatter of float32 through the layout: GB/s, read and write together, and the
    share of the device's own copy."""

    kind: str
    way: str
    rate: Quartiles
    share: float


@dataclass(frozen=True, repr=False)
class Timing:
    """What time() found. copy: GB/s of the device's own copies; loop_ns: the loop alone."""

    unit: str
    target: str
    on: str
    device: str
    indices: int
    repeat: int
    costs: tuple[IndexCost, ...]
    traffic: tuple[Traffic, ...] = ()
    elements: int = 0
    copy: Mapping[str, float] = field(default_factory=dict)
    loop_ns: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def cost(self, function: str, way: str) -> IndexCost | None:
        """What a function costs by one of the ways, None where it was not measured."""
        return next((c for c in self.costs if (c.function, c.way) == (function, way)), None)

    def not_slower(self, function: str) -> bool | None:
        """Whether ours is at most as slow as by hand, within the spread; None without it."""
        ours, hand = self.cost(function, OURS), self.cost(function, BY_HAND)
        if ours is None or hand is None:
            return None
        slack = max(ours.ns.spread, hand.ns.spread, 0.01 * self.loop_ns.get(function, 0.0))
        return ours.ns.median <= hand.ns.median + slack

    def measurable(self, cost: IndexCost) -> bool:
        """Whether a cost is more than what the loop around it, which is taken off on a GPU, may differ by:
        a compiler does not make of the loop alone what it makes of it around a function."""
        alone = 0.0 if self.on == "cpu" else self.loop_ns.get(cost.function, 0.0)
        return self.on == "cpu" or cost.ns.median > max(cost.ns.spread, 0.01 * alone, 0.0)

    def rows(self) -> list[tuple[str, ...]]:
        """A table: first its heading."""
        found = [
            (
                "function",
                "way",
                "per index",
                "quartiles",
                "registers",
                "instructions",
                "against by hand",
            )
        ]
        for cost in self.costs:
            hand = self.cost(cost.function, BY_HAND)
            verdict = ""
            if cost.way == OURS and hand is not None:
                verdict = "not slower" if self.not_slower(cost.function) else "SLOWER"
            found.append(
                (
                    cost.function,
                    cost.way,
                    _time(cost.ns.median) if self.measurable(cost) else BELOW,
                    f"{_time(cost.ns.low)} .. {_time(cost.ns.high)}" * self.measurable(cost),
                    _known(cost.registers),
                    _known(cost.instructions),
                    verdict,
                )
            )
        return found

    def traffic_rows(self) -> list[tuple[str, ...]]:
        """The same for gather and scatter; the heading alone where they were not measured."""
        found = [("access", "way", "GB/s", "quartiles", "of a copy")]
        for t in self.traffic:
            low, high = t.rate.low, t.rate.high
            found.append(
                (
                    t.kind,
                    t.way,
                    f"{t.rate.median:,.0f}",
                    f"{low:,.0f} .. {high:,.0f}",
                    f"{t.share:.0%}",
                )
            )
        return found

    def __repr__(self) -> str:
        ours = (c for c in self.costs if c.way == OURS)
        costs = ", ".join(
            f"{c.function} {_time(c.ns.median) if self.measurable(c) else BELOW}" for c in ours
        )
        return f"<timing of {self._about}: {costs}>"

    def _repr_html_(self) -> str:
        made = line(self._about) + _html(self.rows())
        if self.traffic:
            made += line(self._copies) + _html(self.traffic_rows())
        return made + "".join(map(line, self.notes))

    @property
    def _about(self) -> str:
        return f"{self.unit} ({self.target}) on {self.device}"

    @property
    def _copies(self) -> str:
        copies = ", ".join(f"{name} {rate:,.0f} GB/s" for name, rate in self.copy.items())
        return f"{self.elements:,} float32; the device's own copy: {copies}"

    def __str__(self) -> str:
        lines = [self._about]
        lines += _aligned(self.rows())
        if self.traffic:
            lines.append(self._copies)
            lines += _aligned(self.traffic_rows())
        return "\n".join([*lines, *self.notes])

    def as_dict(self) -> dict[str, Any]:
        """The timing as a dict that JSON can hold."""
        return {
            "unit": self.unit,
            "target": self.target,
            "on": self.on,
            "device": self.device,
            "indices": self.indices,
            "repeat": self.repeat,
            "costs": [
                {**vars(c), "ns": vars(c.ns), "measurable": self.measurable(c)} for c in self.costs
            ],
            "not_slower_than_by_hand": {
                f: self.not_slower(f) for f in dict.fromkeys(c.function for c in self.costs)
            },
            "elements": self.elements,
            "copy_gb_s": dict(self.copy),
            "traffic": [{**vars(t), "rate": vars(t.rate)} for t in self.traffic],
            "loop_ns": dict(self.loop_ns),
            "notes": list(self.notes),
        }


def _html(rows: Sequence[Sequence[str]]) -> str:
    return table(rows[0], rows[1:])


def _time(ns: float) -> str:
    return f"{ns * 1e3:.3f} ps" if abs(ns) < 0.1 else f"{ns:.3f} ns"


def _known(value: int | None) -> str:
    return "" if value is None else str(value)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  " + "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def measure(
    unit: Unit,
    on: str = "cpu",
    *,
    sizes: Mapping[str, int] | None = None,
    layout: Block | None = None,
    by_hand: Pair | None = None,
    bytes: int = BYTES,
    repeat: int = REPEAT,
    progress: Progress | None = None,
) -> Timing:
    """Measure a unit; see Emitted.time."""
    if not (by_hand is None or is_pair(by_hand)):
        raise VerifyError(
            f"by_hand is {short_repr(by_hand)}; give a pair of functions, by_hand=(apply, inv), or "
            f"(apply, None) where there is no inverse"
        )
    if repeat < 1 or bytes < 4:
        raise VerifyError(f"repeat is {repeat} and bytes {bytes}; give at least 1 and 4")
    check_given(unit)
    if any(f.prepare for f in unit.functions):
        raise VerifyError(
            f"{unit.program.name} takes what {unit.functions[0].prepare} makes once for a launch, and would "
            "be timed with that; time the same without prepare="
        )
    spaces, _ = spaces_of(unit, sizes or {}, {})
    if not unit.is_pair and len(unit.program.functions) != 1:
        raise VerifyError(f"{unit.program.name} is neither a layout nor one index function")
    if any(len(f.outputs) != 1 for f in unit.program.functions[:1]):
        raise VerifyError(
            f"{unit.program.functions[0].name} returns several indices; time them one by one"
        )
    ways = []
    if by_hand is not None:
        ways.append(Way(BY_HAND, *by_hand))
    if layout is not None and layout.is_concrete and not _counts_from_1(unit.program.functions[0]):
        try:
            ways.append(Way(NAIVE, *naive(layout)))
            _tried(ways[-1], spaces[unit.program.functions[0].name])
        except LegoError:
            ways.pop()
    rivals = Rivals(spaces, tuple(ways), bytes, repeat)
    timer = registry.toolchain_of(unit.printer).timer(unit, on, rivals)
    return timer.run(progress or (lambda done, total: None))


def is_pair(by_hand: Any) -> bool:
    """Whether it is (apply, inv), two functions of which the second may be None."""
    return (
        isinstance(by_hand, tuple | list)
        and len(by_hand) == 2
        and callable(by_hand[0])
        and (by_hand[1] is None or callable(by_hand[1]))
    )


def _tried(way: Way, space: Space) -> None:
    """Raise where a way cannot be followed: it is one index, on integers."""
    way.apply(*space.at(0).values)


def _counts_from_1(function: Function) -> bool:
    """Whether an index or a result of it does."""
    return any(p.base for p in function.params) or any(function.starts)
