"""Expressions and conditions as a header's nodes: over the parameters, in the order of their text."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..arith.expr import Cond, Expr
from ..arith.facts import Facts
from ..arith.rebuild import unsubstitute
from ..arith.terms import Atom, Monomial
from ..arith.text import factors, ordered
from ..ir.nodes import Node
from ..ir.relations import FLIPPED, const, var

_OPS = {
    **{op: op for op in ("lt", "le", "eq", "ne", "min", "max", "isqrt", "shl", "shr")},
    **{op: op for op in ("xor", "select")},
    "fdiv": "floordiv",
    "fmod": "floormod",
    "bool": "int",
}
_BITS = {"and": "and", "or": "or"}
_WORDS = {"and": "land", "or": "lor", "not": "lnot"}


def condition(c: Cond, facts: Facts) -> Node:
    """A condition in the user's own symbols."""
    return _Maker().condition(c.rebuild(lambda e: unsubstitute(e, facts)))


def value(e: Expr, facts: Facts) -> Node:
    """An expression in the user's own symbols."""
    return _Maker().value(unsubstitute(e, facts))


class _Maker:
    """What stands twice is one node."""

    def __init__(self) -> None:
        self.known: dict[str, Node] = {}

    def condition(self, c: Cond, turned: bool = True) -> Node:
        """turned: x >= 0, and not 0 <= x; what `and` puts together may be a chain."""
        if c.op in _WORDS:
            turned = c.op != "and"
            return Node(_WORDS[c.op], tuple(self.condition(a, turned) for a in c.args))
        a, b = map(self.value, c.args)
        if turned and a.op == "const" and c.op in FLIPPED:  # what is said of stands first
            return Node(FLIPPED[c.op], (b, a))
        return Node(_OPS[c.op], (a, b))

    def value(self, e: Expr) -> Node:
        total: Node | None = None
        for mono, coefficient in ordered(e):
            term = self._term(mono, abs(coefficient))
            if total is None:
                total = term if coefficient > 0 else _negative(term)
            else:
                total = Node("add" if coefficient > 0 else "sub", (total, term))
        return const(0) if total is None else total

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
        if kind == "group":
            return self.value(args[0])
        if kind == "digit":
            base, lo, hi = args
            made = self.value(base)
            if hi is not None:
                made = Node("floormod", (made, self.value(hi)))
            alone = hi is not None and lo.constant == 1
            return made if alone else Node("floordiv", (made, self.value(lo)))
        if kind == "lookup":
            return Node("lookup", (Node("table", (), args[0]), self.value(args[1])))
        return Node(_BITS.get(kind) or _OPS[kind], tuple(map(self._any, args)))

    def _any(self, part: Any) -> Node:
        return self.condition(part) if isinstance(part, Cond) else self.value(part)


def _negative(node: Node) -> Node:
    return const(-node.value) if node.op == "const" else Node("neg", (node,))
