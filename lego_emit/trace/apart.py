"""What loops and switches left before, as symbols in another loop or switch."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr
from ..arith.terms import Atom
from ..ir.loops import COMPOUND
from .trace import Trace

OUTSIDE = " before"  # what ends the symbol of what another loop left


class Apart:
    """Symbols that stand for what loops and switches leave that come before a part of a function, as it
    was there. trace: of that part, which knows the loops and switches in it; values: what was found, by
    symbol."""

    def __init__(self, known: Analyzer, trace: Trace):
        self.known, self.trace = known, trace
        self.values: dict[str, Expr] = {}

    def expr(self, e: Expr) -> Expr:
        """An expression in which symbols stand for what is computed before: what a round makes may have no
        value where there is no round."""
        if not any(atom.kind in COMPOUND for atom in e.deep_atoms()):
            return e
        return self.known.rebuild(e, self._symbol)

    def condition(self, condition: Cond | None) -> Cond | None:
        """The same of a condition, in the user's own symbols."""
        if condition is None:  # one has no truth of its own
            return None
        return condition.rebuild(lambda e: self.known.unsubstitute(self.expr(e)))

    def _symbol(self, atom: Atom) -> Expr | None:
        if atom.kind not in COMPOUND or atom.args[0].key in self.trace.loops:
            return None
        value = self._outside(atom)
        for name, known in self.values.items():
            if known.same(value):
                self._bound(name, value)
                return symbol(name)
        number = len(self.values)
        name = (
            f"{atom.args[0].shown[1 + atom.args[1]]}{OUTSIDE}{f' {number + 1}' if number else ''}"
        )
        self.values[name] = value
        self._bound(name, value)
        return symbol(name)

    def _outside(self, atom: Atom) -> Expr:
        """What a loop or a switch before this one leaves, as it was there: what is known in a round does not hold
        where it is computed."""
        value, found = Expr.atom(atom), dict[Any, Expr]()
        for e in self.trace.states.get(atom.args[0].key, []):
            own = e.single
            if own is not None and own.args[1] == atom.args[1]:
                found[e.identity] = e
        if len(found) == 1:
            return next(iter(found.values()))
        same = (e for e in found.values() if e.same(value) or self.known.rebuilt(e).same(value))
        return next(same, value)

    def _bound(self, name: str, value: Expr) -> None:
        ends = [None if end is None else Expr.of(end) for end in self.known.interval(value)]
        self.known.learn_range(name, *ends)

    def given(self, read: Collection[str], own: Collection[str] = ()) -> dict[str, Expr]:
        """What is taken from outside, by symbol: of the symbols that are read, own being no such."""
        found = {n: e for n, e in self.values.items() if n in read}
        return found | {n: symbol(n) for n in sorted({*read} - {*own} - found.keys())}


def symbol(name: str) -> Expr:
    """The symbol of a name."""
    return Expr.atom(Atom("sym", name))
