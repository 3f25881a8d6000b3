"""Proven ranges of a graph's nodes.

Each value of a program lies between two numbers, lo and hi; None is an end that is not known. The
ranges decide the index type and whether an operation may be told that its operands are not negative,
so that they are proven and never guessed.

A node's range comes first from its operands' ranges, by the rules of intervals.py. That is quick, and
it loses what operands have in common. For 0 <= i <= 63, in

    i - 8*(i >> 3)      i is in 0..63 and 8*(i >> 3) in 0..56, so that the difference is in -56..63.

A node also has a value, the expression in normal form that it stands for: here i%8, which lies in 0..7.
To ask the analyzer for that is dearer, so that it is asked where the operands leave something open
that may matter: a number below 0, no upper end, or one beyond 32 bits.

What stands in one branch of a select, and nowhere else, is bounded under that branch's condition, in
languages that compute only the branch that is taken: in `8 - i if i <= 7 else i` the difference is at
least 1. A node that is used elsewhere, too, has a name; it is computed on every path, and keeps the
range that holds on all of them.

`program` promises that every value that a program computes lies in its node's range, for all
parameters that the facts allow. It does not promise the tightest range. A range that is too wide makes
the index type wider or the header longer, and the program is correct all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext

from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr
from ..intervals import ANY, Interval, both, tighter
from ..ir import index_types
from ..ir.nodes import Node
from ..operations import OPS, interval, is_condition
from .graph import Graph

INT32 = index_types.INT32.most


class Ranges:
    """Proven inclusive bounds of a graph's nodes: from the operands' bounds, and where those leave
    a negative number or an unbounded one possible, from the value that the node stands for."""

    def __init__(
        self,
        graph: Graph,
        analyzer: Analyzer,
        value: Callable[[Node], Expr | None],
        bounds: Mapping[Node, Interval],
        lazy: bool,
        signed: bool = True,
    ):
        """value: of a node, in the facts' symbols; bounds: of nodes where they are known already;
        lazy: a select computes only the branch that it takes; signed: whether negative numbers
        fit: where they do not, what is proven of them decides, and Z3 is asked, too."""
        self.graph, self.analyzer = graph, analyzer
        self._value, self._bounds, self._lazy, self._signed = value, bounds, lazy, signed
        self._known: dict[Node, Interval] = {}
        self._path: list[
            tuple[Node, bool]
        ] = []  # the conditions of the branches that are looked at
        self._last: tuple[tuple[Node, ...], dict[Node, Interval]] = (), {}
        analyzer = self.analyzer
        self._numbers = bool(analyzer.facts.constraints) or any(
            r.hi is not None and r.hi.constant is not None
            for r in (*analyzer.facts.ranges.values(), *analyzer.facts.original.values())
        )

    def forget(self) -> None:
        """Bounds that were given are others now."""
        self._known.clear()
        self._last = (), {}

    def program(self, roots: Sequence[Node]) -> dict[Node, Interval]:
        """The bounds of all that the roots need. What stands in one branch of a select only is
        bounded under that branch's condition: no other value is ever computed there."""
        key = tuple(roots)
        if key == self._last[0]:
            return self._last[1]
        analyzer, graph = self.analyzer, self.graph
        reached = graph.reached(roots)
        # a weaker proof for signed types only costs a longer header
        with analyzer.prover.quick() if self._signed else nullcontext():
            found = {k: self.of(k) for k in reached if not is_condition(k.op)}
        if self._lazy and any(k.op == "select" for k in reached):
            uses = dict(graph.uses(roots))
            for k in reached:
                if uses[k] > 1 or k in roots:
                    self._under(k, {}, uses, found)
        for k, last in self.lasts(reached, found).items():
            found[k] = k.value.between(0, last)
        self._last = key, found
        return found

    def lasts(self, reached: Iterable[Node], found: Mapping[Node, Interval]) -> dict[Node, int]:
        """The last place of each table that a look-up among reached nodes may read, where all places
        are known when it is emitted. found: the nodes' bounds."""
        lasts = dict[Node, int]()
        for k in reached:
            if k.op == "lookup":
                table, place = k.args[:2]
                entries, top = table.value, found[place][1]
                if entries.values:
                    end = len(entries) - 1
                    last = end if top is None else max(0, min(top, end))
                    lasts[table] = max(last, lasts.get(table, 0))
        return lasts

    def _under(
        self, node: Node, limits: dict[Node, Interval], uses: dict[Node, int], found: dict
    ) -> Interval:
        """A node's bounds where those of limits hold; found keeps them where it stands once."""
        op, args = node.op, node.args
        known = limits.get(node) or found.get(node, ANY)
        if not args:
            return known
        if op == "within":
            found[node] = known = both(known, self._inside(args[0], limits, uses, found))
            return known
        if op == "select":
            self._inside(args[0], limits, uses, found)
            bounds = [ANY]
            for branch, holds in zip(args[1:], (True, False), strict=True):
                those = limits | self._limits(args[0], holds, found)
                self._path.append((args[0], holds))
                bounds.append(self._inside(branch, those, uses, found))
                self._path.pop()
        else:
            bounds = [self._inside(a, limits, uses, found) for a in args]
        if is_condition(op):
            return ANY
        known = both(known, self._made(node, bounds))
        if op == "sub" and self._path and not self._signed and (known[0] is None or known[0] < 0):
            if self._nonnegative_here(node):
                known = 0, known[1]
        found[node] = known
        return known

    def _nonnegative_here(self, node: Node) -> bool:
        """Whether a node is not negative under the conditions of the branches that it stands in."""
        value, analyzer = self._value(node), self.analyzer
        if value is None:
            return False
        with analyzer.scope():
            for condition, holds in self._path:
                for c in self.conditions(condition, holds):
                    analyzer.assume(c)
            return analyzer.nonneg(value)

    def conditions(self, node: Node, holds: bool) -> list[Cond]:
        """What a condition says where it holds, or where it does not, as far as it compares values."""
        op, args = node.op, node.args
        if op in ("land", "lor"):
            if (op == "land") != holds:
                return []
            return [c for a in args for c in self.conditions(a, holds)]
        values = [self._value(a) for a in args] if node.row.opposite else []
        if len(values) != 2 or values[0] is None or values[1] is None:
            return []
        op = op if holds else node.row.opposite
        if op in ("gt", "ge"):
            op, values = OPS[op].flipped, values[::-1]
        return [Cond(op, *values)]

    def _inside(
        self, node: Node, limits: dict[Node, Interval], uses: dict[Node, int], found: dict
    ) -> Interval:
        if uses[node] > 1 or not node.args:  # computed before, wherever it stands
            return limits.get(node) or found.get(node, ANY)
        return self._under(node, limits, uses, found)

    def _limits(self, condition: Node, holds: bool, found: dict) -> dict[Node, Interval]:
        """What a comparison with a number says of the other operand."""
        op, opposite = condition.op, condition.row.opposite
        if not opposite:
            return {}
        op = op if holds else opposite
        a, b = condition.args
        number = b.value
        if b.op != "const" or not isinstance(number, int) or a not in found:
            return {}
        lo, hi = found[a]
        if op in ("le", "lt", "eq"):
            hi = tighter(min, hi, number - (op == "lt"))
        if op in ("ge", "gt", "eq"):
            lo = tighter(max, lo, number + (op == "gt"))
        return {a: (lo, hi)}

    def of(self, node: Node) -> Interval:
        """The bounds of a node whose operands were asked for before."""
        known = self._known.get(node)
        if known is None:
            known = self._of(node)
            if node in self.graph.positive and (known[0] is None or known[0] < 1):
                known = 1, known[1]
            if node in self.graph.tops:
                known = known[0], tighter(min, known[1], self.graph.tops[node])
            self._known[node] = known
        return known

    def _of(self, node: Node) -> Interval:
        graph = self.graph
        if node in self._bounds:
            return self._bounds[node]
        op, value = node.op, node.value
        if op == "const":
            return value, value
        if op == "table":
            return value.least, value.most
        if op == "round":
            return value.bounds[value.item]
        if op == "var":
            return self._refined(node, ANY)
        if op == "within":
            return self._refined(node, self.of(node.args[0]))
        if is_condition(op):
            return ANY
        lo, hi = self._made(node, [self.of(a) for a in node.args])
        if op == "lookup":
            return self._refined(node, (lo, hi))
        if (lo is None or lo < 0) and node in graph.nonnegative:
            lo = 0
        digit = op == "sub" and hi is None  # x//49 - 20*(x//980), which the operands do not bound
        if lo is None or lo < 0 or digit or (INT32 < hi if hi is not None else self._numbers):
            return self._refined(node, (lo, hi))
        if lo == 0 and node in graph.hoisted:
            return self._refined(node, (lo, hi))
        return lo, hi

    def _made(self, node: Node, operands: list[Interval]) -> Interval:
        """The bounds of a node's operation over bounded operands: of a look-up those of the entries
        that are reached."""
        op, args = node.op, node.args
        if op == "lookup":
            table = args[0].value
            return interval(op, operands) if table.array else table.between(*operands[1])
        return interval(op, operands)

    def _refined(self, node: Node, bounds: Interval) -> Interval:
        value = self._value(node)
        if value is None:
            return bounds
        analyzer = self.analyzer
        lo, hi = both(bounds, analyzer.interval(value))
        if (lo is None or lo < 0) and analyzer.nonneg(value):
            lo = 0
        if lo == 0 and node in self.graph.hoisted and analyzer.nonneg(value - 1):
            lo = 1  # a divisor
        if self._numbers and (hi is None or hi > INT32):
            hi = tighter(min, hi, analyzer.estimates.greatest(value))
        return lo, hi
