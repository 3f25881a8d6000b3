"""What a text means: its functions as exact terms, with what its language's machine demands.

A reader (lego_emit.proofcheck.languages) goes over a syntax tree and calls the methods of Machine,
one for each kind of operator. Each gives the value on unbounded integers and notes what must hold
for the machine to compute just that: a Demand. Whoever proves all demands has shown that nothing
wraps, traps or is undefined, and that the terms are what the text computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import LegoError
from .terms import FARTHEST, TRUE, Term, made, term_of, var


class UnsupportedSyntax(LegoError):
    """The checker does not know what something in a text means."""


@dataclass(frozen=True)
class Type:
    """A machine integer. bits: of a double's exact integers 54, with the sign; None for integers
    without bounds. wraps: whether arithmetic is modulo 2^bits by definition (it is still demanded
    that it does not come to that)."""

    name: str
    bits: int | None
    signed: bool = True

    @property
    def lowest(self) -> int | None:
        """The least value of the type; None where it has none."""
        if self.bits is None:
            return None
        if self.bits == 54:
            return -(2**53) + 1
        return -(2 ** (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int | None:
        """The greatest value of the type; None where it has none."""
        return None if self.bits is None else 2 ** (self.bits - self.signed) - 1


BOOL = Type("bool", 1, False)
I32, I64 = Type("int32", 32), Type("int64", 64)
U32, U64 = Type("uint32", 32, False), Type("uint64", 64, False)
I8, I16 = Type("int8", 8), Type("int16", 16)
U8, U16 = Type("uint8", 8, False), Type("uint16", 16, False)
INT53 = Type("int53", 54)
LITERAL = Type("literal", None)  # a number that takes the type of what it meets (Rust, Julia, JS)


@dataclass(frozen=True)
class Value:
    """A term and its machine type; BOOL has conditions."""

    term: Term
    type: Type

    @classmethod
    def of(cls, name: str, kind: Type) -> Value:
        """That of a parameter: a truth value is a number of 0 or 1, which is not 0."""
        return cls(made("ne", var(name), 0) if kind is BOOL else var(name), kind)

    @property
    def number(self) -> Term:
        """The term; of a truth value 1 or 0."""
        return made("select", self.term, 1, 0) if self.type is BOOL else self.term


FITS, DIVISOR, SHIFT, TABLE, HOLDS = "fits", "divisor", "shift", "table", "holds"


@dataclass(frozen=True)
class Demand:
    """What the machine asks for. kind: FITS (a value fits its type), DIVISOR (a divisor is positive,
    a truncated dividend not negative), SHIFT (a distance is within the width), TABLE (a place
    is within the table), HOLDS (what a compiler is told is true). holds: the condition, in the function's variables, with the branches
    that lead to it. place: the line, 1-based, and the text."""

    kind: str
    holds: Term
    line: int
    text: str


@dataclass
class Function:
    """A function of the text. params: (name, type) in order, run-time sizes included; results: of
    each output the term, in order; names: of the outputs where the text names them, else ();
    comment: what stands before it
    (lego_emit.proofcheck.stated parses it); trusted: what the terms rest on beside the text; static:
    the parameters that are known when a caller is compiled, the first ones; prepare: the
    function of which it takes the struct that it gives, in the place of that one's parameters; sizes: what
    that struct is called."""

    name: str
    params: tuple[tuple[str, Type], ...]
    results: tuple[Value, ...]
    demands: tuple[Demand, ...]
    comment: str
    names: tuple[str, ...] = ()
    line: int = 0
    trusted: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
    prepare: Function | None = None
    sizes: str = ""

    @property
    def read(self) -> frozenset[str]:
        """The parameters on which what it gives or demands depends."""
        terms = [*(value.term for value in self.results), *(d.holds for d in self.demands)]
        return frozenset().union(*(t.names() for t in terms))


@dataclass
class Machine:
    """Builds terms as a language's machine computes them, and notes its demands."""

    demands: list[Demand] = field(default_factory=list)
    guards: list[Term] = field(default_factory=list)
    line: int = 0
    text: str = ""
    depth: int = 0  # of calls: 0 in the function itself, more in a helper of the text
    trusted: set[str] = field(default_factory=set)  # what the terms rest on beside the text

    def at(self, node: Any) -> None:
        """The tree-sitter node that the next demands are about."""
        self.line = node.start_point[0] + 1
        self.text = node.text.decode()

    def demand(self, kind: str, condition: Any) -> None:
        """Note it, under the branches that lead here."""
        holds = term_of(condition)
        for guard in reversed(self.guards):
            holds = made("lor", made("lnot", guard), holds)
        if holds is not TRUE:
            self.demands.append(Demand(kind, holds, self.line, self.text))

    @contextmanager
    def under(self, condition: Term) -> Iterator[None]:
        """What is computed in the block is computed only where the condition holds."""
        self.guards.append(condition)
        try:
            yield
        finally:
            self.guards.pop()

    def fits(self, term: Term, kind: Type) -> Value:
        """A value of a type, in which it is demanded to fit."""
        if kind.lowest is not None:
            self.demand(FITS, made("land", term >= kind.lowest, term <= kind.highest))
        return Value(term, kind)

    def arithmetic(self, op: str, a: Value, b: Value, kind: Type) -> Value:
        """add, sub or mul in a type."""
        return self.fits(made(op, a.term, b.term), kind)

    def divided(self, op: str, a: Value, b: Value, kind: Type) -> Value:
        """op: tdiv, tmod: a truncating division. Dividend and divisor are demanded to be such that it
        is the floor's, too: 0 <= a, 0 < b; in a helper only to be defined."""
        if self.depth:
            self.demand(DIVISOR, b.term != 0)
            return self.fits(made(op, a.term, b.term), kind)
        self.demand(DIVISOR, b.term > 0)
        self.demand(DIVISOR, a.term >= 0)
        return self.fits(made("fdiv" if op == "tdiv" else "fmod", a.term, b.term), kind)

    def floored(self, op: str, a: Value, b: Value, kind: Type) -> Value:
        """op: fdiv, fmod: a division that rounds down in the language itself."""
        self.demand(DIVISOR, b.term != 0)
        return self.fits(made(op, a.term, b.term), kind)

    def shifted(self, op: str, a: Value, b: Value, kind: Type) -> Value:
        """shl or shr (arithmetic), in a type of so many bits. A negative value is not to be shifted
        left, and what is shifted must fit."""
        bits = kind.bits or FARTHEST
        self.demand(SHIFT, made("land", b.term >= 0, b.term < bits))
        return self.fits(made(op, a.term, b.term), kind)

    def bits(self, op: str, values: Sequence[Value], kind: Type) -> Value:
        """and, or, xor, not."""
        return self.fits(made(op, *(v.term for v in values)), kind)

    def chosen(self, condition: Value, a: Value, b: Value, kind: Type) -> Value:
        """a where the condition holds, else b. The reader evaluates them under()."""
        return Value(made("select", condition.term, a.term, b.term), kind)

    def converted(self, a: Value, kind: Type) -> Value:
        """A cast: the value is demanded to fit."""
        if a.type == BOOL:
            return Value(made("select", a.term, 1, 0), kind)
        return self.fits(a.term, kind)

    def looked_up(self, table: Sequence[int], place: Value, kind: Type) -> Value:
        """An entry of a constant table."""
        self.demand(TABLE, made("land", place.term >= 0, place.term < len(table)))
        return Value(made("lookup", place.term, *table), kind)


@dataclass
class Text:
    """A file. names: of all functions in it, one for each definition; read: one of them by its name and
    those of what it takes, None where there is none (it raises UnsupportedSyntax for what it does not
    understand)."""

    language: str
    names: Sequence[str]
    read: Callable[..., Function | None]
