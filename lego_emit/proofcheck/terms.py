"""Exact integer terms: what an emitted text and a layout's definition both mean to the checker.

A Term is an operation over terms, on unbounded integers; conditions are terms of truth values. Equal
terms are one object, so that terms are graphs without repetition. Nothing is simplified but
constants: what two terms have in common is for a prover to find out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextvars import ContextVar
from math import isqrt, prod
from typing import Any, cast

FARTHEST = 2**12  # what shifts to the left by more has no value: no machine's integer is so wide


def _shl(a: int, b: int) -> int:
    if b > FARTHEST:
        raise ValueError(f"a shift by {b}")
    return a << b


def _entry(place: int, *table: int) -> int:
    if not 0 <= place < len(table):
        raise ValueError(f"entry {place} of a table of {len(table)}")
    return table[place]


# op -> its value on Python ints; fdiv and fmod round down, tdiv and tmod towards zero.
OPS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "fdiv": operator.floordiv,
    "fmod": operator.mod,
    "tdiv": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "tmod": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": operator.invert,
    "shl": _shl,
    "shr": operator.rshift,  # arithmetic: rounds down
    "isqrt": isqrt,
    "lt": operator.lt,
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    "land": lambda a, b: bool(a and b),
    "lor": lambda a, b: bool(a or b),
    "lnot": operator.not_,
    "select": lambda c, a, b: a if c else b,
    "lookup": _entry,
}
OF_NUMBERS = frozenset(
    {"add", "sub", "mul", "fdiv", "fmod", "tdiv", "tmod", "shl", "shr", "lt", "le"}
)
CONDITIONS = frozenset({"lt", "le", "eq", "ne", "land", "lor", "lnot", "true", "false"})
LEAVES = frozenset({"const", "var", "true", "false"})


def _names_of(args: Sequence[Any]) -> frozenset[str]:
    """The variables in operands; one set for those that have the same."""
    found = frozenset[str]()
    for a in args:
        if isinstance(a, Term) and not a._names <= found:
            found = found | a._names if found else a._names
    return found


class _Steps:
    """The operations of a term in turn, for terms that are evaluated often: of a select both branches."""

    def __init__(self, term: Term):
        places: dict[int, int] = {}
        self.values: list[Any] = []
        self.variables: list[tuple[int, str]] = []
        self.steps: list[tuple[int, Callable[..., Any], list[int]]] = []
        for k, part in enumerate(term.walk()):
            places[part.key] = k
            self.values.append(part.args[0] if part.op == "const" else part.op == "true")
            if part.op == "var":
                self.variables.append((k, part.args[0]))
            elif part.op not in LEAVES:
                self.steps.append((k, OPS[part.op], [places[a.key] for a in part.args]))

    def at(self, values: Mapping[str, int]) -> Any:
        """The value, on Python ints. Raises what any operation raises."""
        found = [*self.values]
        for k, name in self.variables:
            found[k] = values[name]
        for k, operation, places in self.steps:
            if len(places) == 2:
                found[k] = operation(found[places[0]], found[places[1]])
            else:
                found[k] = operation(*[found[p] for p in places])
        return found[-1]


class Term:
    """An operation: op is a key of OPS, "const" (args: one int), "var" (args: one name), "true" or
    "false". Compare two of them with `is`: == makes a term."""

    __slots__ = ("_names", "_steps", "args", "is_truth", "key", "op")
    __lego_symbolic__ = True  # what lego_emit.algebra takes as a size
    _made: dict[tuple[Any, ...], Term] = {}
    op: str
    args: tuple[Any, ...]
    key: int
    is_truth: bool  # whether its value is a truth value, be it that of a select
    _names: frozenset[str]
    _steps: _Steps | None

    def __new__(cls, op: str, *args: Any) -> Term:  # noqa: D102
        made = (op, *[a.key if isinstance(a, Term) else ("", a) for a in args])
        found = cls._made.get(made)
        if found is None:
            found = super().__new__(cls)
            found.op, found.args, found.key = op, args, len(cls._made)
            found.is_truth = args[1].is_truth if op == "select" else op in CONDITIONS
            found._names = frozenset(args) if op == "var" else _names_of(args)
            found._steps = None
            cls._made[made] = found
        return found

    def __hash__(self) -> int:
        return self.key

    def __reduce__(self) -> Any:
        return Term, (self.op, *self.args)

    @property
    def constant(self) -> int | None:
        """Its value where it is a number."""
        return self.args[0] if self.op == "const" else None

    @property
    def is_condition(self) -> bool:
        """Whether its value is a truth value."""
        return self.op in CONDITIONS

    @property
    def is_choice(self) -> bool:
        """Whether it is 1 where a condition holds, else 0."""
        return self.op == "select" and [a.constant for a in self.args[1:]] == [1, 0]

    def walk(self, known: Container[int] = ()) -> Iterator[Term]:
        """Every term in it once, operands first; but for those whose keys are known, and what is in them."""
        seen: set[int] = set()
        stack: list[Term | None] = [self]
        while stack:
            term = stack.pop()
            if term is None:  # what is in the one below has been given
                yield cast(Term, stack.pop())
            elif term.key not in seen and term.key not in known:
                seen.add(term.key)
                if term.op in LEAVES:
                    yield term
                else:
                    stack += (term, None, *reversed(term.args))

    def names(self) -> frozenset[str]:
        """The variables in it."""
        return self._names

    def at(self, values: Mapping[str, int]) -> Any:
        """Its value on Python ints. Of a select only the branch that it takes is evaluated, of land
        and lor as much as is needed. Raises KeyError for a variable without a value,
        ZeroDivisionError and ValueError as Python does."""
        if self._steps is None:
            self._steps = _Steps(self)
        try:
            return self._steps.at(values)
        except (ArithmeticError, ValueError, LookupError):  # maybe in a branch that is not taken
            pass
        known: dict[int, Any] = {}
        stack: list[Term] = [self]
        while stack:
            term = stack[-1]
            if term.key in known:
                stack.pop()
                continue
            waits = term._waits(known)
            if waits:
                stack += waits
                continue
            known[term.key] = term._value(known, values)
            stack.pop()
        return known[self.key]

    def _waits(self, known: Mapping[int, Any]) -> list[Term]:
        """The operands whose values are needed and not known yet, the first one last."""
        if self.op in ("const", "var", "true", "false"):
            return []
        needed = self.args
        if self.op in ("select", "land", "lor"):
            needed = needed[:1]
            if needed[0].key in known:
                holds = bool(known[needed[0].key])
                if self.op == "select":
                    needed = self.args[1 if holds else 2 :][:1]
                elif holds == (self.op == "land"):
                    needed = self.args[1:]
        return [a for a in reversed(needed) if isinstance(a, Term) and a.key not in known]

    def _value(self, known: Mapping[int, Any], values: Mapping[str, int]) -> Any:
        match self.op:
            case "const":
                return self.args[0]
            case "var":
                return values[self.args[0]]
            case "true" | "false":
                return self.op == "true"
            case "select":
                return known[self.args[1 if known[self.args[0].key] else 2].key]
            case "land" | "lor":
                first = bool(known[self.args[0].key])
                return bool(known[self.args[1].key]) if first == (self.op == "land") else first
        return OPS[self.op](*(known[a.key] for a in self.args))

    def put(self, values: Mapping[str, Any]) -> Term:
        """It with variables replaced, by integers or terms."""
        memo: dict[int, Term] = {}
        stack = [self]
        while stack:
            term = stack[-1]
            if term._names.isdisjoint(values):
                memo[term.key] = term
            elif term.op == "var":
                memo[term.key] = term_of(values[term.args[0]])
            elif waits := [a for a in term.args if a.key not in memo]:
                stack += waits
                continue
            else:
                memo[term.key] = made(term.op, *[memo[a.key] for a in term.args])
            stack.pop()
        return memo[self.key]

    def __bool__(self) -> bool:
        if self.op in ("true", "false"):
            return self.op == "true"
        return decide(self)

    def __index__(self) -> int:
        if self.op == "const":
            return self.args[0]
        raise TypeError(f"{self!r} is no number")

    def __add__(self, other: Any) -> Term:
        return made("add", self, other)

    def __radd__(self, other: Any) -> Term:
        return made("add", other, self)

    def __sub__(self, other: Any) -> Term:
        return made("sub", self, other)

    def __rsub__(self, other: Any) -> Term:
        return made("sub", other, self)

    def __mul__(self, other: Any) -> Term:
        return made("mul", self, other)

    def __rmul__(self, other: Any) -> Term:
        return made("mul", other, self)

    def __floordiv__(self, other: Any) -> Term:
        return made("fdiv", self, other)

    def __rfloordiv__(self, other: Any) -> Term:
        return made("fdiv", other, self)

    def __mod__(self, other: Any) -> Term:
        return made("fmod", self, other)

    def __rmod__(self, other: Any) -> Term:
        return made("fmod", other, self)

    def __divmod__(self, other: Any) -> tuple[Term, Term]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Term, Term]:
        return other // self, other % self

    def __and__(self, other: Any) -> Term:
        return made("land" if self.is_condition else "and", self, other)

    def __rand__(self, other: Any) -> Term:
        return made("land" if self.is_condition else "and", other, self)

    def __or__(self, other: Any) -> Term:
        return made("lor" if self.is_condition else "or", self, other)

    def __ror__(self, other: Any) -> Term:
        return made("lor" if self.is_condition else "or", other, self)

    def __xor__(self, other: Any) -> Term:
        return made("xor", self, other)

    def __rxor__(self, other: Any) -> Term:
        return made("xor", other, self)

    def __lshift__(self, other: Any) -> Term:
        return made("shl", self, other)

    def __rlshift__(self, other: Any) -> Term:
        return made("shl", other, self)

    def __rshift__(self, other: Any) -> Term:
        return made("shr", self, other)

    def __rrshift__(self, other: Any) -> Term:
        return made("shr", other, self)

    def __neg__(self) -> Term:
        return made("sub", 0, self)

    def __pos__(self) -> Term:
        return self

    def __invert__(self) -> Term:
        return made("lnot" if self.is_condition else "not", self)

    def __abs__(self) -> Term:
        return made("select", made("lt", self, 0), -self, self)

    def __pow__(self, exponent: int) -> Term:
        return term_of(prod([self] * operator.index(exponent), start=term_of(1)))

    def isqrt(self) -> Term:
        """The square root rounded down: what lego_emit.isqrt makes of it."""
        return made("isqrt", self)

    def entry_of(self, table: Any) -> Term:
        """The entry of a table of integers at this place: what a Lookup makes of it."""
        return made("lookup", self, *(int(n) for n in table))

    def __lt__(self, other: Any) -> Term:
        return made("lt", self, other)

    def __le__(self, other: Any) -> Term:
        return made("le", self, other)

    def __gt__(self, other: Any) -> Term:
        return made("lt", other, self)

    def __ge__(self, other: Any) -> Term:
        return made("le", other, self)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, Term | int):
            return NotImplemented
        return made("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        if not isinstance(other, Term | int):
            return NotImplemented
        return made("ne", self, other)

    def __repr__(self) -> str:
        if self.op in ("const", "var"):
            return str(self.args[0])
        if self.op == "lookup":
            return f"table[{self.args[0]!r}]"
        sign = _SIGNS.get(self.op)
        if sign is not None:
            return f"({self.args[0]!r} {sign} {self.args[1]!r})"
        return f"{self.op}({', '.join(map(repr, self.args))})"


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "fdiv": "//", "fmod": "%", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "shr": ">>", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "land": "and",
    "lor": "or",
}  # fmt: skip


def term_of(value: Any) -> Term:
    """An int or a truth value as a term; a term as it is."""
    if isinstance(value, Term):
        return value
    if isinstance(value, bool):
        return TRUE if value else FALSE
    return Term("const", operator.index(value))


def var(name: str) -> Term:
    """The variable of this name."""
    return Term("var", name)


def made(op: str, *args: Any) -> Term:
    """An operation over terms and ints; of constants its value, and what adds 0 or multiplies by 1
    is left out."""
    terms = tuple(map(term_of, args))
    if op in OF_NUMBERS and (terms[0].is_truth or terms[1].is_truth):
        terms = tuple(made("select", t, 1, 0) if t.is_truth else t for t in terms)
    asked = 1 if op == "select" else len(terms) if op in ("land", "lor", "lnot") else 0
    if asked and not all([t.is_truth for t in terms[:asked]]):  # a number is true where it is not 0
        terms = (*(t if t.is_truth else made("ne", t, 0) for t in terms[:asked]), *terms[asked:])
    first = terms[0]
    if op != "lookup" and not any([t._names for t in terms]) and all(t.op in LEAVES for t in terms):
        plain = [t.args[0] if t.op == "const" else t.op == "true" for t in terms]
        try:
            return term_of(OPS[op](*plain))
        except (ZeroDivisionError, ValueError):
            return Term(op, *terms)
    if op == "lookup" and first.constant is not None and 0 <= first.constant < len(terms) - 1:
        return terms[1 + first.constant]
    if op == "select" and first.op in ("true", "false"):
        return terms[1] if first.op == "true" else terms[2]
    if (
        op == "select" and first is terms[2] and terms[1].is_truth
    ):  # what is tested is kept if false
        return made("land", first, terms[1])
    if op in ("land", "lor"):
        for one, other in (terms, terms[::-1]):
            if one.op in ("true", "false"):
                return other if (one.op == "true") == (op == "land") else one
    if len(terms) == 2:
        a, b = first.constant, terms[1].constant
        if (op in ("add", "sub", "shl", "shr", "or", "xor") and b == 0) or (op == "mul" and b == 1):
            return first
        if (op in ("add", "or", "xor") and a == 0) or (op == "mul" and a == 1):
            return terms[1]
        if op == "mul" and 0 in (a, b):
            return term_of(0)
        if op in ("fdiv", "tdiv") and b == 1:
            return first
    return Term(op, *terms)


def both(conditions: Any) -> Term:
    """All of these conditions."""
    found = TRUE
    for condition in conditions:
        found = made("land", found, condition)
    return found


TRUE, FALSE = Term("true"), Term("false")


# -- a Python function that branches on terms ----------------------------------------------------


class Undecided(Exception):
    """A term was asked for its truth value outside of followed()."""


_path: ContextVar[tuple[list[bool], list[Term]] | None] = ContextVar("path", default=None)
PATHS = 4096


def decide(condition: Term) -> bool:
    """Which way a branch goes, in the run that followed() makes."""
    path = _path.get()
    if path is None:
        raise Undecided(f"{condition!r} is neither true nor false")
    decisions, seen = path
    for k, known in enumerate(seen):
        if known is condition:
            return decisions[k]
    if len(decisions) == len(seen):
        decisions.append(True)
    seen.append(condition)
    return decisions[len(seen) - 1]


def followed(function: Callable[[], Any]) -> list[tuple[Term, Any]]:
    """[(condition, result)] for each way through a function whose branches ask terms for their truth
    value; of all conditions together exactly one holds. Raises OverflowError beyond PATHS ways."""
    found: list[tuple[Term, Any]] = []
    decisions: list[bool] = []
    while True:
        seen: list[Term] = []
        token = _path.set((decisions, seen))
        try:
            result = function()
        finally:
            _path.reset(token)
        taken = zip(seen, decisions, strict=False)
        found.append((both(c if yes else made("lnot", c) for c, yes in taken), result))
        if len(found) > PATHS:
            raise OverflowError(f"more than {PATHS} ways")
        del decisions[len(seen) :]
        while decisions and not decisions[-1]:
            decisions.pop()
        if not decisions:
            return found
        decisions[-1] = False
