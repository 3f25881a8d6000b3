"""SymPy expressions in nodes of ours, spelled operation by operation as they stand."""

from __future__ import annotations

from typing import Any

from ..arith.divisors import guarded, nonzero
from ..arith.expr import Cond, Expr, opaque
from ..arith.from_sympy import Reader, entries_of
from ..arith.sympy_nodes import IntegerNode
from ..errors import TraceError
from ..ir.nodes import Node
from ..operations import OPS, is_condition
from ..packages import sympy
from .columns import Columns
from .header import not_zero
from .lower import Lowered, finished, is_narrow
from .lowering import Lowering
from .problem import Problem

MOST_BRANCHES = 4096  # places in branches that are looked at one by one
Path = tuple[Cond, ...]


def as_written(problem: Problem, lowering: Lowering) -> tuple[Lowered, list[Cond]]:
    """(the program of a problem's own form, what must hold for it beside what the values' own need:
    that divisors are not 0). What is shared and has no name is given one."""
    assert problem.written.form is not None
    replacements, expressions = problem.written.form
    form = Written(problem, lowering)
    given: dict[Node, str] = {}
    for symbol, e in replacements:
        node = form.local(symbol.name, e)
        given.setdefault(lowering.graph.plain(node), symbol.name)
    roots = [form.expr(expressions[name]) for name, _ in problem.outputs]
    for root, (_, e) in zip(roots, problem.outputs, strict=True):
        if root.args:
            lowering.sources.setdefault(root, e)
    best = lowering.priced(roots, ("as it was written",))
    if not is_narrow(lowering, best):
        form.columns.bound_all(roots)
    known = {d.identity for d, _ in nonzero((e for _, e in problem.outputs), problem.analyzer)}
    more = [(d, path) for d, path in form.divisors if d.identity not in known]
    if more and problem.written.is_equal:
        refuse_zero(problem, more[0][0])
    needed = [not_zero(d, path, problem) for d, path in more]
    return finished(problem, lowering, roots, given), needed


def refuse_zero(problem: Problem, divisor: Expr) -> None:
    """Raise TraceError: a rewritten form divides by what may be 0."""
    own = repr(problem.analyzer.unsubstitute(divisor))
    raise TraceError(
        f"rewrite, given {problem.name}, divides by {own}, which may be 0 where the result had a "
        f"value before; say that it is not with assume=['{own} >= 1']"
    )


class Written:
    """Expressions as nodes of a graph. Signs are proven, where they can be: in a branch of a
    Select under its condition."""

    def __init__(self, problem: Problem, lowering: Lowering):
        self.name = problem.name
        self.lowering, self.graph, self.analyzer = lowering, lowering.graph, lowering.analyzer
        self._values = {n: self.analyzer.symbol(n) for n in problem.parameters.names}
        self._reader = Reader(self._values, self.analyzer)
        self._nodes: dict[tuple[Any, ...], Node] = {}
        self._locals: dict[str, Node] = {}
        self.columns = Columns(lowering)
        self.divisors: list[tuple[Expr, Path]] = []  # that may be 0, and where

    def local(self, name: str, value: Any) -> Node:
        """The node of a common part, which has that name from here on."""
        node = self._locals[name] = self.expr(value)
        self._values[name] = self._reader.expr(value)
        return node

    def expr(self, value: Any, path: Path = ()) -> Node:
        """The node of an expression, where the conditions of path hold."""
        if isinstance(value, (int, sympy.Integer)):
            return self.graph.const(int(value))
        if isinstance(value, sympy.Symbol):
            return self._symbol(value.name)
        if len(self._nodes) > MOST_BRANCHES:
            path = ()
        key = value, *(c.identity for c in path)
        if key not in self._nodes:
            self._nodes[key] = self._made(value, path)
        return self._nodes[key]

    def _symbol(self, name: str) -> Node:
        if name in self._locals:
            return self._locals[name]
        return self.graph.var(name, self.lowering.nonnegative(self._values[name]))

    def _made(self, value: Any, path: Path) -> Node:
        op = value.op
        if is_condition(op):
            return self._from(value, "int", self.condition(value, path))
        if op == "select":
            return self._select(value, path)
        if op == "lookup":
            return self._looked_up(value, path)
        args = [self.expr(a, path) for a in value.args]
        if OPS[op].floored:
            return self._divided(value, op, args, path)
        if op == "isqrt" and not self.lowering.nonnegative(self._value(value.args[0])):
            # what is not needed may be computed all the same, and must not meet a negative number
            args = [self.graph.op("max", args[0], self.graph.const(0))]
        if op in ("shl", "shr"):
            self._check_distance(value)
        return self._from(value, op, *args)

    def _looked_up(self, value: Any, path: Path) -> Node:
        """An entry; at the nearest place where its own is not proven to be one."""
        entries, place = entries_of(value), value.args[1]
        last = len(entries) - 1
        node = self.graph.last[entries] = self.graph.const(last)
        at = self.lowering.place(self.expr(place, path), self._value(place), Expr.of(last), node)
        return self._from(value, "lookup", self.graph.table(entries), at)

    def _value(self, value: Any) -> Expr:
        """An expression's value in normal form, in the facts' symbols."""
        return self._reader.expr(value)

    def _from(self, value: Any, op: str, *args: Node) -> Node:
        node = self.graph.op(op, *args)
        if node.args:
            self.lowering.sources.setdefault(node, self._value(value))
        return node

    def _select(self, value: Any, path: Path) -> Node:
        condition, then, other = value.args
        known = self._reader.truth(condition)
        if isinstance(known, bool):
            return self.expr(then if known else other, path)
        branches = self.expr(then, (*path, known)), self.expr(other, (*path, ~known))
        return self._from(value, "select", self.condition(condition, path), *branches)

    def condition(self, value: Any, path: Path) -> Node:
        """The node of a condition; a number holds where it is not 0."""
        op = value.op if isinstance(value, IntegerNode) else ""
        if not is_condition(op):
            return self.graph.op("ne", self.expr(value, path), self.graph.const(0))
        kind = self.condition if op in ("land", "lor", "lnot") else self.expr
        return self.graph.op(op, *(kind(a, path) for a in value.args))

    def _divided(self, value: Any, op: str, args: list[Node], path: Path) -> Node:
        (a, b), (dividend, divisor) = args, map(self._value, value.args)
        nonnegative, positive = self._nonnegative(a, dividend), self._positive(b, divisor)
        if not nonnegative and path and self._holds(path, dividend):
            a = self._within(a, opaque_of(dividend))
            nonnegative = True
        made = self._from(value, OPS[op].nonnegative_form if nonnegative and positive else op, a, b)
        if not positive and not self.lowering.negative(divisor) and not guarded(divisor):
            here = self._holds(path, divisor - 1)
            self.graph.may_trap.setdefault(made, here)
            if not here and not self._holds(path, -divisor - 1) and not _is_excluded(path, divisor):
                self.divisors.append((divisor, path))
        return made

    def _within(self, node: Node, source: Expr) -> Node:
        """A node that is not negative here, and may be elsewhere."""
        made = self.graph.within(node, source)
        self.lowering.sources.setdefault(made, source)
        self.graph.nonnegative.add(made)
        return made

    def _nonnegative(self, node: Node, value: Expr) -> bool:
        if node not in self.graph.nonnegative:
            if self.lowering.nonnegative(value) or self.columns.least(node) >= 0:
                self.graph.nonnegative.add(node)
        return node in self.graph.nonnegative

    def _positive(self, node: Node, value: Expr) -> bool:
        if node not in self.graph.positive:
            if self.lowering.positive(value) or self.columns.least(node) >= 1:
                self.graph.positive.add(node)
        return node in self.graph.positive

    def _holds(self, path: Path, value: Expr) -> bool:
        """Whether a value is proven not to be negative in a branch."""
        if not path:
            return False
        with self.analyzer.scope():
            for condition in path:
                self.analyzer.assume(condition)
            return self.analyzer.nonneg(value)

    def _check_distance(self, value: Any) -> None:
        by = self._value(value.args[1])
        lo, hi = self.analyzer.interval(by)
        if lo is None or lo < 0 or hi is None or hi >= 64:
            raise TraceError(
                f"{self.name}: {value}: the shift distance is not known to lie in 0..63; "
                f"say so with ranges={{...}} or assume=['0 <= {by!r} < 32']"
            )


def _is_excluded(path: Path, divisor: Expr) -> bool:
    """Whether a branch is taken only where the divisor is not 0."""
    return Cond("ne", divisor, Expr.of(0)).key in {c.key for c in path}


def opaque_of(value: Expr) -> Expr:
    """A value that is known not to be negative in a branch."""
    return opaque(value, Expr.of(0), None, True)
