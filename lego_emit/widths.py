"""Ranges of a program's operations, and the index type that holds them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import WidthError, shown
from .expr import Expr, _without
from .graph import OPPOSITES
from .intervals import ANY, Interval, both, interval, tighter
from .program import INDEX_TYPES, OPS, Node
from .relations import FITS
from .symbolic import unsubstitute
from .text import CUT

if TYPE_CHECKING:
    from .facts import Facts
    from .forms import Lowering
    from .lower import Lowered

INT32 = INDEX_TYPES["int32"][1]
MOST_SHOWN = 100  # characters of a value in a message


class Ranges:
    """Proven inclusive bounds of a graph's nodes: from the operands' bounds, and where those leave
    a negative number or an unbounded one possible, from the value that the node stands for."""

    def __init__(self, lowering: Lowering):
        self.lowering, self.facts, self.graph = lowering, lowering.facts, lowering.graph
        self._known: dict[int, Interval] = {}
        self._last: tuple[tuple[int, ...], dict[int, Interval]] = (), {}
        facts = self.facts
        self._numbers = bool(facts.constraints) or any(
            r.hi is not None and r.hi.constant is not None
            for r in (*facts.ranges.values(), *facts.original.values())
        )

    def program(self, roots: Sequence[int]) -> dict[int, Interval]:
        """The bounds of all that the roots need. What stands in one branch of a select only is
        bounded under that branch's condition: no other value is ever computed there."""
        key = tuple(roots)
        if key == self._last[0]:
            return self._last[1]
        facts, graph = self.facts, self.graph
        reached = graph.reached(roots)
        with facts.quick():  # a weaker proof only costs a longer header
            found = {k: self.of(k) for k in reached if OPS.get(graph.ops[k], "ii")[1] != "b"}
        if self.lowering.lazy and any(graph.ops[k] == "select" for k in reached):
            uses = dict(graph.uses(roots))
            for k in reached:
                if uses[k] > 1 or k in roots:
                    self._under(k, {}, uses, found)
        self._last = key, found
        return found

    def _under(
        self, node: int, limits: dict[int, Interval], uses: dict[int, int], found: dict
    ) -> Interval:
        """A node's bounds where those of limits hold; found keeps them where it stands once."""
        graph = self.graph
        op, args = graph.ops[node], graph.args[node]
        known = limits.get(node) or found.get(node, ANY)
        if not args:
            return known
        if op == "within":
            found[node] = known = both(known, self._inside(args[0], limits, uses, found))
            return known
        if op == "select":
            self._inside(args[0], limits, uses, found)
            yes, no = (limits | self._limits(args[0], holds, found) for holds in (True, False))
            bounds = [ANY]
            bounds += [self._inside(a, x, uses, found) for a, x in ((args[1], yes), (args[2], no))]
        else:
            bounds = [self._inside(a, limits, uses, found) for a in args]
        if OPS[op][1] == "b":
            return ANY
        found[node] = known = both(known, interval(op, bounds))
        return known

    def _inside(
        self, node: int, limits: dict[int, Interval], uses: dict[int, int], found: dict
    ) -> Interval:
        if uses[node] > 1 or not self.graph.args[node]:  # computed before, wherever it stands
            return limits.get(node) or found.get(node, ANY)
        return self._under(node, limits, uses, found)

    def _limits(self, condition: int, holds: bool, found: dict) -> dict[int, Interval]:
        """What a comparison with a number says of the other operand."""
        graph = self.graph
        op = graph.ops[condition]
        if op not in OPPOSITES:
            return {}
        op = op if holds else OPPOSITES[op]
        a, b = graph.args[condition]
        number = graph.values[b]
        if graph.ops[b] != "const" or not isinstance(number, int) or a not in found:
            return {}
        lo, hi = found[a]
        if op in ("le", "lt", "eq"):
            hi = tighter(min, hi, number - (op == "lt"))
        if op in ("ge", "gt", "eq"):
            lo = tighter(max, lo, number + (op == "gt"))
        return {a: (lo, hi)}

    def of(self, node: int) -> Interval:
        """The bounds of a node whose operands were asked for before."""
        known = self._known.get(node)
        if known is None:
            known = self._of(node)
            if node in self.graph.positive and (known[0] is None or known[0] < 1):
                known = 1, known[1]
            self._known[node] = known
        return known

    def _of(self, node: int) -> Interval:
        graph = self.graph
        if node in self.lowering.bounds:
            return self.lowering.bounds[node]
        op, value = graph.ops[node], graph.values[node]
        if op == "const":
            assert isinstance(value, int)
            return value, value
        if op == "var":
            return self._refined(node, ANY)
        if op == "within":
            return self._refined(node, self.of(graph.args[node][0]))
        if OPS[op][1] == "b":
            return ANY
        lo, hi = interval(op, [self.of(a) for a in graph.args[node]])
        if (lo is None or lo < 0) and graph.natural[node]:
            lo = 0
        if lo is None or lo < 0 or (INT32 < hi if hi is not None else self._numbers):
            return self._refined(node, (lo, hi))
        if lo == 0 and graph.hoisted[node]:
            return self._refined(node, (lo, hi))
        return lo, hi

    def _refined(self, node: int, bounds: Interval) -> Interval:
        value = self.lowering.value(node)
        if value is None:
            return bounds
        facts = self.facts
        lo, hi = both(bounds, facts.interval(value))
        if (lo is None or lo < 0) and facts.nonneg(value):
            lo = 0
        if lo == 0 and self.graph.hoisted[node] and facts.nonneg(value - 1):
            lo = 1  # a divisor
        if self._numbers and (hi is None or hi > INT32):
            top = facts.upper(value)
            if top is not None:
                hi = tighter(min, hi, facts.most(unsubstitute(top, facts)))
        return lo, hi


def choose_type(
    name: str, lowered: Lowered, candidates: Sequence[str], size: Expr | None
) -> tuple[str, list[str], str]:
    """(index type, preconditions, why it is wide enough). Raises WidthError where a value
    provably does not fit the widest candidate."""
    lowering = lowered.lowering
    facts = lowering.facts
    nodes = {k: n for k, n in lowered.nodes.items() if not n.is_bool}
    lows = [n.lo for n in nodes.values()]
    highs = [n.hi for n in nodes.values()]
    bounded = None not in lows and None not in highs
    for candidate in candidates:
        least, most = INDEX_TYPES[candidate]
        shifts = [n.args[1].hi for n in nodes.values() if n.op in ("shl", "shr")]
        farthest = None if None in shifts else max(shifts, default=0)
        if farthest is None or farthest >= (32 if most <= 2**32 else 64):
            if candidate == candidates[-1]:
                raise WidthError(
                    f"{name}: a shift by up to {_shown(farthest)} does not fit {candidate}"
                )
            continue
        outside = {
            k: n
            for k, n in nodes.items()
            if (n.lo is not None and n.lo < least)
            or (n.hi is not None and n.hi > most)
            or (n.op == "neg" and least == 0)  # of 0 at best, and no operation there
        }
        fits = not outside
        if fits and bounded:
            low, high = min(lows, default=0), max(highs, default=0)
            return candidate, [], f"{candidate} is enough: every value lies in {low}..{high}."
        if candidate != candidates[-1]:
            continue
        if not fits:
            k, culprit = next(iter(outside.items()))
            raise WidthError(
                f"{name}: {_named(k, culprit, lowering)} lies in "
                f"{_shown(culprit.lo)}..{_shown(culprit.hi)}, which does not fit {candidate} "
                f"({least}..{most}); "
                + (
                    "choose a signed index_type"
                    if least == 0 and (culprit.op == "neg" or (culprit.lo or 0) < 0)
                    else "choose a wider index_type or smaller sizes"
                )
            )
        with facts.quick():  # a weaker proof only costs a longer header
            needed = _preconditions(lowered, nodes, lowering, candidate, size)
        whom = "under the assumptions" if needed else "for every argument"
        return candidate, needed, f"{candidate} is enough {whom}."
    raise WidthError(f"{name}: no index type to choose from")


def _named(k: int, node: Node, lowering: Lowering) -> str:
    value = lowering.value(k)
    if value is not None:
        text = repr(unsubstitute(value, lowering.facts))
        return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + CUT
    return node.op if node.value is None else str(node.value)


def _shown(bound: int | None) -> str:
    return "?" if bound is None else shown(bound)


def _preconditions(
    lowered: Lowered,
    nodes: dict[int, Node],
    lowering: Lowering,
    index_type: str,
    size: Expr | None,
) -> list[str]:
    """What must hold for every unbounded value to fit, the strongest conditions only."""
    facts, graph = lowering.facts, lowering.graph
    least, most = INDEX_TYPES[index_type]
    limit = f"2**{most.bit_length()} - 1"
    tops: list[Expr] = []
    texts: list[str] = []
    covered = _covered(lowered, nodes)
    for k, node in nodes.items():
        if node.lo is not None and (node.hi is not None or k in covered):
            continue
        if graph.ops[k] == "var":
            continue  # an argument of the type fits the type
        value = lowering.value(k)
        if value is None:
            texts.append(f"{FITS} {index_type}")
            continue
        if node.lo is None and least == 0:
            texts.append(f"{unsubstitute(value, facts)!r} >= 0")
        found = []
        if node.hi is None:
            found.append(facts.upper(value))
        if node.lo is None:
            bottom = facts.lower(value)
            found.append(None if bottom is None else -bottom)
        if None in found:
            found = [facts.magnitude(value)]
        if None in found:
            texts.append(f"{FITS} {index_type}")
        else:
            tops += found  # type: ignore[arg-type]
    if size is not None and tops and all(_at_most(top, size, facts) for top in tops):
        tops = [size]
    kept: list[Expr] = []
    for top in tops:
        constant = top.terms.get((), 0)
        if constant < 0:
            top = top - constant
        if not any(_at_most(top, other, facts) for other in kept):
            kept = [other for other in kept if not _at_most(other, top, facts)] + [top]
    said = [unsubstitute(top, facts) for top in kept]
    said = [e for e in said if e.single is None or e.single.kind != "sym"]  # an argument fits
    return list(dict.fromkeys([*(f"{e!r} <= {limit}" for e in said), *texts]))


def _at_most(e: Expr, top: Expr, facts: Facts) -> bool:
    """Whether e <= top is proven; at once where e is a part of the product that top is."""
    positive = [(m, c) for m, c in e.terms.items() if c > 0]
    if len(positive) == 1 and len(top.terms) == 1:
        ((mono, c),) = top.terms.items()
        rest = _without(mono, positive[0][0])
        if rest is not None and 0 < positive[0][1] <= c:
            factors = [a for m in (mono, *e.terms) for a in m]
            if all((facts.interval(Expr.atom(a))[0] or 0) >= 1 for a in dict.fromkeys(factors)):
                return True
    return facts.nonneg(top - e)


def _covered(lowered: Lowered, nodes: dict[int, Node]) -> set[int]:
    """Nodes that are never larger than another unbounded one: summands and factors of it."""
    graph = lowered.lowering.graph
    covered: set[int] = set()
    for k, node in nodes.items():
        if node.hi is not None or graph.ops[k] not in ("add", "mul"):
            continue
        a, b = graph.args[k]
        least = 0 if graph.ops[k] == "add" else 1
        for one, other in ((a, b), (b, a)):
            lo, other_lo = nodes[one].lo, nodes[other].lo
            if lo is not None and lo >= 0 and other_lo is not None and other_lo >= least:
                covered.add(one)
    return covered
