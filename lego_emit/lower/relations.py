"""Expressions and conditions as a header's nodes: over the parameters, in the order of their text."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr
from ..arith.terms import Atom, Monomial, without
from ..arith.text import factors, ordered
from ..errors import TraceError
from ..ir.nodes import Node
from ..ir.relations import const, var
from ..operations import LOGIC, OPS

LONG = 3  # terms of a sum, above which it is said as a product where it is one


def condition(c: Cond, analyzer: Analyzer) -> Node:
    """A condition in the user's own symbols."""
    return _Maker(analyzer).condition(c.rebuild(analyzer.unsubstitute))


def value(e: Expr, analyzer: Analyzer) -> Node:
    """An expression in the user's own symbols."""
    return _Maker(analyzer).value(analyzer.unsubstitute(e))


class _Maker:
    """What stands twice is one node."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.known: dict[str, Node] = {}
        self.analyzer = analyzer

    def condition(self, c: Cond, turned: bool = True) -> Node:
        """turned: x >= 0, and not 0 <= x; what `and` puts together may be a chain."""
        if c.op in LOGIC:
            turned = c.op != "and"
            return Node(LOGIC[c.op], tuple(self.condition(a, turned) for a in c.args))
        a, b = map(self.value, c.args)
        flipped = OPS[c.op].flipped
        if turned and a.op == "const" and flipped:  # what is said of stands first
            return Node(flipped, (b, a))
        return Node(c.op, (a, b))

    def value(self, e: Expr) -> Node:
        if len(e.terms) > LONG:  # a product, but for one term perhaps
            one = Expr.of(1)
            lone = [Expr({m: c}) for m, c in e.terms.items()]
            for more in (Expr.of(0), *lone, -one, one):
                if len(parts := _factors(e - more)) > 1:
                    made = (self.value(part) for part in parts)
                    return self._plus(reduce(lambda a, b: Node("mul", (a, b)), made), more)
        total: Node | None = None
        for mono, coefficient in ordered(e):
            turned = coefficient < 0 and self._rounded_up(mono)
            if turned:
                mono, coefficient = turned, -coefficient
            term = self._term(mono, abs(coefficient))
            if total is None:
                total = term if coefficient > 0 else _negative(term)
            else:
                total = Node("add" if coefficient > 0 else "sub", (total, term))
        return const(0) if total is None else total

    def _plus(self, node: Node, e: Expr) -> Node:
        for mono, c in e.terms.items():
            node = Node("add" if c > 0 else "sub", (node, self._term(mono, abs(c))))
        return node

    def _rounded_up(self, mono: Monomial) -> Monomial | None:
        """The factors of -mono with (n + d - 1) // d for the first -n // d; None without one."""
        for k, atom in enumerate(mono):
            if atom.kind == "digit" and atom.args[2] is None:
                base, by = atom.args[:2]
                if all(c < 0 for c in base.terms.values()) and self.analyzer.nonneg(by - 1):
                    up = Atom("digit", by - base - 1, by, None)
                    return (*mono[:k], up, *mono[k + 1 :])
        return None

    def _term(self, mono: Monomial, coefficient: int) -> Node:
        parts = [const(coefficient)] if coefficient != 1 or not mono else []
        for atom, count in factors(mono):
            part = self._atom(atom)
            parts.append(part if count == 1 else Node("pow", (part, const(count))))
        return reduce(lambda a, b: Node("mul", (a, b)), parts)

    def _atom(self, atom: Atom) -> Node:
        if atom.key not in self.known:
            self.known[atom.key] = self._made(atom)
        return self.known[atom.key]

    def _made(self, atom: Atom) -> Node:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            return var(args[0])
        if kind == "opaque":
            return self.value(args[0])
        if kind == "digit":
            base, lo, hi = args
            made = self.value(base)
            if hi is not None:
                made = Node("floormod", (made, self.value(hi)))
            alone = hi is not None and lo.constant == 1
            return made if alone else Node("floordiv", (made, self.value(lo)))
        if kind == "lookup":
            return Node("lookup", (Node("table", (), args[0]), *map(self.value, args[1:])))
        if kind == "switch":
            raise TraceError(
                f"a precondition would speak of {args[0].shown[1 + args[1]]}, which a Choice gives; bound it with "
                "ranges of the sizes, or take an index of a layout that has as many"
            )
        if kind == "loop":
            raise TraceError(
                f"a precondition would speak of {args[0].shown[1 + args[1]]}, which a loop gives; bound it "
                "with invariant="
            )
        return Node("int" if kind == "bool" else kind, tuple(map(self._any, args)))

    def _any(self, part: Any) -> Node:
        return self.condition(part) if isinstance(part, Cond) else self.value(part)


def _product(e: Expr) -> tuple[Expr, Expr] | None:
    """Two factors of a sum of several terms: an atom, or an atom and more; None where none are seen."""
    if len(e.terms) < 2:
        return None
    for x in sorted({a for mono in e.terms for a in mono}, key=lambda a: a.key):
        factor = Expr({without(m, (x,)) or (): c for m, c in e.terms.items() if x in m})
        rest = Expr({m: c for m, c in e.terms.items() if x not in m})
        times = _quotient(rest, factor) if len(factor.terms) > 1 or not rest.terms else None
        if times is not None:
            return Expr.atom(x) + times, factor
    return None


def _factors(e: Expr) -> list[Expr]:
    """The factors that are seen of a sum, symbols first; the sum itself where there are none."""
    parts = _product(e)
    if parts is None:
        return [e]
    found = [f for part in parts for f in _factors(part)]
    return sorted(found, key=lambda f: (len(f.terms), f.single is None or f.single.kind != "sym"))


def _quotient(e: Expr, by: Expr) -> Expr | None:
    """e / by of two sums; None where by does not divide e."""
    lead = max(by.terms, key=lambda mono: (len(mono), [a.key for a in mono]))
    total = Expr.of(0)
    for _ in range(len(e.terms) + 1):
        if not e.terms:
            return total
        first = max(e.terms, key=lambda mono: (len(mono), [a.key for a in mono]))
        mono, (c, beyond) = without(first, lead), divmod(e.terms[first], by.terms[lead])
        if mono is None or beyond:
            return None
        term = Expr({mono: c})
        total, e = total + term, e - term * by
    return None


def _negative(node: Node) -> Node:
    return const(-node.value) if node.op == "const" else Node("neg", (node,))
