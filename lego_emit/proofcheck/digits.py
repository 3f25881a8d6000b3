"""Proofs over numbers of any size by the algebra of digits: no solver, every step an exact rule.

A term becomes a polynomial with integer coefficients over atoms: variables, quotients that cannot be
taken further, and what else is left as it is. x % d is x - d*(x//d). What is asked in the end is
whether a polynomial is never negative; it is answered by adding multiples of what is known.

The rules, each with its condition (d, m and g are positive):

- `N % d == 0`: N is d*q;
- (d*a + r)//d = a where 0 <= r < d;
- (g*a + r)//(g*d) = a//d where 0 <= r < g;
- (x//d + y)//m = (x + d*y)//(d*m);
- x//d <= s exactly where x < d*(s + 1), and x//d >= s where x >= d*s;
- p >= 0 where a*p - m*f >= 0, a a positive number, f a fact f >= 0, m a product of things that are
  never negative;
- isqrt(n) = r with r*r <= n < (r + 1)^2;
- what a select asks, if it is not decided: both cases;
- bits: x & mask as digits in base 2, a | b and a ^ b as a + b where a is a multiple of 2^k and
  0 <= b < 2^k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations, islice
from math import gcd, isqrt, prod
from random import Random
from typing import TypeAlias

from .exhaustive import parts
from .terms import TRUE, Term, made, term_of, var

Mono: TypeAlias = tuple[int, ...]  # atoms by number, in order, each as often as it is a factor
Poly: TypeAlias = dict[Mono, int]
Key: TypeAlias = frozenset[tuple[Mono, int]]

SEARCH = 120  # polynomials looked at to find out whether one is never negative
STEPS = 8_000  # of those in all for one goal
CASES = 400  # cases of one goal
DEPTH = 60  # rules that are applied within each other
POINTS = 48  # points at which a wrong guess is found out


class Lost(Exception):
    """No rule applies."""


class Split(Exception):
    """A comparison that must be decided first."""

    def __init__(self, condition: Term):
        super().__init__(condition)
        self.condition = condition


def prove(goal: Term, given: Sequence[Term]) -> int | None:
    """In how many cases a goal was shown to hold wherever the given conditions do, and to have a value
    there; None where it was not shown."""
    budget = Budget()
    names = sorted(goal.names().union(*(g.names() for g in given)))
    try:
        holds = _case(goal, tuple(given), budget, _points(names, given))
    except (Lost, RecursionError):
        return None
    return budget.cases if holds else None


@dataclass
class Budget:
    """What is left, in steps: the same answer on every machine."""

    steps: int = STEPS
    cases: int = 0

    def spend(self) -> None:
        """A step. Raises Lost where none is left."""
        self.steps -= 1
        if self.steps < 0:
            raise Lost


Points: TypeAlias = list[dict[str, int]]


def _case(goal: Term, given: tuple[Term, ...], budget: Budget, points: Points) -> bool:
    """Whether the goal follows, in one case."""
    if goal is TRUE:
        return True
    if goal.op == "land":
        return all(_case(part, given, budget, points) for part in goal.args)
    if goal.op == "lnot":
        return _case(negated(goal.args[0]), given, budget, points) if _opens(goal) else False
    budget.cases += 1
    if budget.cases > CASES:
        raise Lost
    facts = Facts(given, budget, points)
    condition, last = goal, goal.op != "lor"
    try:
        if not last:  # the first one must have a value, too
            return facts.decided(goal.args[0]) or _case(goal.args[1], given, budget, points)
        if facts.decided(goal):
            return True
    except Split as split:
        condition = split.condition
    except Lost:
        pass
    if facts.impossible():
        return True
    if condition is goal and facts.open:
        condition = facts.open[0]
    if condition is goal or condition is negated(goal):
        return False
    if not last and condition is goal.args[0]:
        return _cases(goal.args[1], given, alternatives(negated(condition)), budget, points)
    ways = [way for c in (condition, negated(condition)) for way in alternatives(c)]
    return _cases(goal, given, ways, budget, points)


def _cases(
    goal: Term, given: tuple[Term, ...], ways: list[list[Term]], budget: Budget, points: Points
) -> bool:
    for way in ways:
        inside = [p for p in points if all(_holds(c, p) for c in way)]
        if not _case(goal, (*given, *way), budget, inside):
            return False
    return True


def _opens(negation: Term) -> bool:
    return negated(negation.args[0]) is not negation


NOT = {"lt": "le", "le": "lt", "eq": "ne", "ne": "eq"}


def negated(condition: Term) -> Term:
    """The contrary, without lnot where there is another way to say it."""
    args = condition.args
    match condition.op:
        case "lt" | "le":
            return made(NOT[condition.op], args[1], args[0])
        case "eq" | "ne":
            return made(NOT[condition.op], *args)
        case "land" | "lor":
            return made("lor" if condition.op == "land" else "land", *map(negated, args))
        case "lnot":
            return args[0]
    return made("lnot", condition)


def alternatives(condition: Term) -> list[list[Term]]:
    """Cases that make up a condition, each a list of comparisons. What would be too many is said by
    fewer, wider ones."""
    match condition.op:
        case "lor":
            return [way for arg in condition.args for way in alternatives(arg)]
        case "land":
            first, second = map(alternatives, condition.args)
            if len(first) * len(second) > 16:
                return first
            return [a + b for a in first for b in second]
        case "ne":
            a, b = condition.args
            return [[made("lt", a, b)], [made("lt", b, a)]]
        case "lnot":
            found = negated(condition.args[0])
            return [[]] if found is condition else alternatives(found)
        case "false":
            return []
        case "true":
            return [[]]
    return [[condition]]


def _holds(condition: Term, point: dict[str, int]) -> bool:
    try:
        return bool(condition.at(point))
    except (ArithmeticError, ValueError, LookupError):
        return False


def _points(names: Sequence[str], given: Sequence[Term]) -> Points:
    """Some numbers at which the given conditions hold. They refute guesses; they prove nothing."""
    key = tuple(names), tuple(g.key for g in given)
    if key not in _known_points:
        _known_points.clear()
        draw = Random(0)
        plan = _plan(names, [p for g in given for p in parts(g)])
        drawn = (_point(draw, plan) for _ in range(6 * POINTS))
        good = (p for p in drawn if p is not None and all(_holds(g, p) for g in given))
        _known_points[key] = list(islice(good, POINTS))
    return _known_points[key]


@dataclass
class _Draw:
    """How a number for a variable is drawn: its ends in those before it, with what is added to them,
    and what divides it."""

    name: str
    lows: list[tuple[Term, int]] = field(default_factory=list)
    highs: list[tuple[Term, int]] = field(default_factory=list)
    factors: list[Term] = field(default_factory=list)


def _plan(names: Sequence[str], known: Sequence[Term]) -> list[_Draw]:
    """The variables in an order in which those that bound or divide another one come before it."""
    plan: list[_Draw] = []
    done: set[str] = set()
    waits: dict[str, set[str]] = {n: set() for n in names}
    for part in known:
        if part.op in ("lt", "le", "eq"):
            a, b = part.args
            if a.op == "var":
                waits[a.args[0]] |= b.names() - {a.args[0]}
            elif a.op in ("fmod", "tmod") and a.args[0].op == "var":
                waits[a.args[0].args[0]] |= a.args[1].names()
    while len(done) < len(names):
        name = min((n for n in names if n not in done), key=lambda n: len(waits[n] - done))
        plan.append(found := _Draw(name))
        x = var(name)
        for part in known:
            if part.op not in ("lt", "le", "eq"):
                continue
            (a, b), off = part.args, int(part.op == "lt")
            if a is x and b.names() <= done:
                found.highs.append((b, -off))
            if b is x and a.names() <= done:
                found.lows.append((a, off))
            if part.op == "eq" and (a is x or b is x):
                found.lows += [(t, 0) for t, _ in found.highs[-1:]]
                found.highs += [(t, 0) for t, _ in found.lows[-1:]]
            if part.op == "eq" and a.op in ("fmod", "tmod") and b.constant == 0:
                if a.args[0] is x and a.args[1].names() <= done:
                    found.factors.append(a.args[1])
        done.add(name)
    return plan


def _point(draw: Random, plan: Sequence[_Draw]) -> dict[str, int] | None:
    """Numbers that may be allowed."""
    point: dict[str, int] = {}
    large = draw.random() < 0.5
    for one in plan:
        try:
            low = max((t.at(point) + off for t, off in one.lows), default=-40)
            high = min((t.at(point) + off for t, off in one.highs), default=2**62)
            factor = prod(t.at(point) for t in one.factors) or 1
        except (ArithmeticError, ValueError, LookupError):
            return None
        if low > high:
            return None
        if high - low > 2**30:
            size = draw.choice((1, 2, 3, 4, 5, 6, 8, 9, 16))
            if large:
                size <<= draw.choice((0, 0, 3, 10, 20, 31))
            low = low if low > -(2**31) else 0
            value = low + size - (low > 0) if factor == 1 else factor * size
        else:
            value = draw.choice((low, high, high, draw.randint(low, high)))
            value -= value % factor
        point[one.name] = value
    return point


_known_points: dict[tuple[tuple[str, ...], tuple[int, ...]], Points] = {}


# -- polynomials ---------------------------------------------------------------------------------


def number(value: int) -> Poly:
    """A constant."""
    return {(): value} if value else {}


def plus(a: Poly, b: Poly, factor: int = 1) -> Poly:
    """a + factor*b."""
    found = dict(a)
    for mono, c in b.items():
        value = found.get(mono, 0) + factor * c
        if value:
            found[mono] = value
        else:
            found.pop(mono, None)
    return found


def times(a: Poly, b: Poly) -> Poly:
    """a*b."""
    found: Poly = {}
    for one, c in a.items():
        for other, d in b.items():
            mono = tuple(sorted(one + other))
            found[mono] = found.get(mono, 0) + c * d
    return {mono: c for mono, c in found.items() if c}


def without(mono: Mono, part: Mono) -> Mono | None:
    """mono/part where part divides it."""
    rest = list(mono)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def constant(p: Poly) -> int | None:
    """Its value where it is a number."""
    return p.get((), 0) if not p or (len(p) == 1 and () in p) else None


def key_of(p: Poly) -> Key:
    """Equal for equal polynomials."""
    return frozenset(p.items())


@dataclass
class Atom:
    """What a polynomial is made of. value: the term of a variable, or the operation and its operands.
    positive: whether it is known to be never negative. rank: what is bounded by others comes after
    them."""

    op: str
    of: tuple[Poly, ...] = ()
    name: str = ""
    positive: bool = False
    rank: int = 0
    most: Poly | None = None
    table: tuple[int, ...] = ()
    values: list[int | None] = field(default_factory=list)


class Facts:
    """What is known in one case, and the polynomials in it."""

    def __init__(self, given: Sequence[Term], budget: Budget, points: Points):
        self.given, self.budget = given, budget
        self.points = [dict(p) for p in points]
        self.put: dict[str, Term] = {}
        self.low: dict[str, int] = {}
        self.open: list[Term] = []  # to be decided, so that more of what is given can be used
        for part in (p for g in given for p in parts(g)):
            self._least(part)
        while True:
            self._start()
            if not self._replaced():
                break
        self._start()
        self._learn()

    def _start(self) -> None:
        self.atoms: list[Atom] = []
        self.facts: list[Poly] = []
        self.numbers: dict[object, int] = {}
        self.memo: dict[Term, Poly] = {}
        self.quotients: dict[tuple[Key, Key], Poly] = {}
        self.shown: dict[Key, bool | int] = {}
        self.depth = 0
        self.order = list(range(len(self.points)))

    # -- what is given ---------------------------------------------------------------------------

    def _least(self, part: Term) -> None:
        if part.op in ("lt", "le", "eq"):
            a, b = part.args
            low = a.constant
            if b.op == "var" and low is not None:
                name, low = b.args[0], low + (part.op == "lt")
                self.low[name] = max(low, self.low.get(name, low))

    def _replaced(self) -> bool:
        """Whether an equation says what a variable is: it is put in for it."""
        for part in (p for g in self.given for p in parts(g)):
            if part.op != "eq":
                continue
            try:
                if self._replace(*part.args) or self._replace(*part.args[::-1]):
                    return True
            except (Split, Lost):
                continue
        return False

    def _replace(self, a: Term, b: Term) -> bool:
        if a.op == "var" and a.args[0] not in self.put and self._free_of(b, a.args[0]):
            self.put[a.args[0]] = b
            return True
        if a.op not in ("fmod", "tmod") or b.constant != 0:
            return False
        whole, d = self.poly(a.args[0]), self.poly(a.args[1])
        if len(whole) != 1 or not self.never_negative(plus(d, number(-1))):
            return False
        ((mono, factor),) = whole.items()
        if len(mono) != 1 or factor < 1 or self.atoms[mono[0]].op != "var":
            return False
        divisor = a.args[1]
        if factor > 1:
            n = constant(d)
            if n is None:
                return False
            divisor = term_of(n // gcd(n, factor))
            if divisor.constant == 1:
                return False
        name = self.atoms[mono[0]].name
        if not self._free_of(divisor, name):
            return False
        new = f"{name}/{divisor!r}"
        self.put[name] = made("mul", divisor, var(new))
        if name in self.low:  # q >= 1 exactly where d*q >= 1
            self.low[new] = min(self.low[name], 1)
        for point in self.points:
            point[new] = made("fdiv", var(name), divisor).at(point)
        return True

    def _free_of(self, term: Term, name: str) -> bool:
        """Whether the value of a term is one without the variable."""
        seen = set(term.names())
        todo = list(seen)
        while todo:
            for other in self.put[n].names() if (n := todo.pop()) in self.put else ():
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return name not in seen

    def _learn(self) -> None:
        known: list[Poly] = []
        for part in (p for g in self.given for p in parts(g)):
            try:
                match part.op:
                    case "lt" | "le":
                        a, b = map(self.poly, part.args)
                        known.append(plus(plus(b, a, -1), number(-(part.op == "lt"))))
                    case "eq":
                        a, b = map(self.poly, part.args)
                        known += [plus(a, b, -1), plus(b, a, -1)]
                    case _:
                        continue
            except Split as split:
                self.open.append(split.condition)
                continue
            except Lost:
                continue
        self._bounds(known)
        for p in known:
            self.know(p)
        # Now that more is known, quotients may be taken further.
        self.memo.clear()
        self.quotients.clear()
        self.shown.clear()

    def _bounds(self, known: Sequence[Poly]) -> None:
        """Which variables are bounded by others, and by what."""
        variables = [n for n, atom in enumerate(self.atoms) if atom.op == "var"]
        ends = {n: [m for p in known if (m := self._bound(p, n)) is not None] for n in variables}
        done = {n for n in variables if all(constant(m) is not None for m in ends[n])}
        sizes: set[int] = set()
        while True:
            new = set()
            for n in variables:
                for m in ends[n]:
                    used = self._variables(m)
                    if n not in done and used and used <= done:
                        atom = self.atoms[n]
                        rank = 1 + max(self.atoms[a].rank for mono in m for a in mono)
                        if rank > atom.rank:
                            atom.most, atom.rank = m, rank
                        sizes |= used
                        new.add(n)
            if not new:
                break
            done |= new
            for atom in self.atoms:
                if atom.op != "var":
                    atom.rank = self._rank(atom.of)
        for n in variables:
            numbers = [c for m in ends[n] if (c := constant(m)) is not None]
            if numbers and n not in sizes and self.atoms[n].most is None:
                self.atoms[n].most = number(min(numbers))

    def _variables(self, p: Poly) -> set[int]:
        """The variables in it, and in what its atoms are of."""
        atoms = {a for mono in p for a in mono}
        found = {a for a in atoms if self.atoms[a].op == "var"}
        return found.union(*(self._variables(q) for a in atoms for q in self.atoms[a].of))

    def _rank(self, of: Sequence[Poly]) -> int:
        return 1 + max((self.atoms[a].rank for p in of for m in p for a in m), default=0)

    @staticmethod
    def _bound(p: Poly, n: int) -> Poly | None:
        """The upper bound of atom n that p >= 0 is: p + n, where nothing else in p has it."""
        if p.get((n,)) != -1 or sum(n in m for m in p) != 1:
            return None
        return plus(p, {(n,): 1})

    def know(self, p: Poly) -> None:
        """p >= 0, as a fact."""
        if any(mono for mono in p) and p not in self.facts:
            if self._bad(p):
                self.facts.append(p)
        elif constant(p) is not None and (constant(p) or 0) < 0:
            self.facts.insert(0, p)

    def impossible(self) -> bool:
        """Whether the case cannot be."""
        return not self.points and self.never_negative(number(-1))

    # -- terms as polynomials --------------------------------------------------------------------

    def poly(self, term: Term) -> Poly:
        """Raises Split where a comparison must be decided first, Lost where no rule applies."""
        found = self.memo.get(term)
        if found is None:
            found = self.memo[term] = self._poly(term)
        return found

    def _poly(self, term: Term) -> Poly:
        match term.op:
            case "const":
                return number(term.args[0])
            case "var":
                name = term.args[0]
                return self.poly(self.put[name]) if name in self.put else self._variable(name)
            case "select":
                return self.poly(term.args[1 if self.decided(term.args[0]) else 2])
            case "lookup":
                return self._lookup(term)
        if term.is_condition:
            raise Lost
        args = [self.poly(a) for a in term.args]
        a, b = args[0], args[-1]
        match term.op:
            case "add":
                return plus(a, b)
            case "sub":
                return plus(a, b, -1)
            case "mul":
                return times(a, b)
            case "fdiv" | "fmod" | "tdiv" | "tmod":
                if not self.never_negative(plus(b, number(-1))):
                    self._ask(made("lt", 0, term.args[1]))
                if term.op in ("tdiv", "tmod") and not self.never_negative(a):
                    self._ask(made("le", 0, term.args[0]))
                q = self.quotient(a, b)
                return q if term.op in ("fdiv", "tdiv") else plus(a, times(b, q), -1)
            case "shl" | "shr":
                n = constant(b)
                if n is None or not 0 <= n < 4096:
                    raise Lost
                power = number(2**n)
                return times(a, power) if term.op == "shl" else self.quotient(a, power)
            case "not":
                return plus(number(-1), a, -1)
            case "and":
                return self._masked(a, b)
            case "or" | "xor":
                return self._joined(term.op, a, b)
            case "isqrt":
                if not self.never_negative(a):
                    self._ask(made("le", 0, term.args[0]))
                return self._root(a)
        raise Lost

    def _ask(self, condition: Term) -> None:
        """Raises Split for a comparison that may be the other way; Lost where it is known to be."""
        if any(condition is g for g in self.given) or any(
            negated(condition) is g for g in self.given
        ):
            raise Lost
        raise Split(condition)

    def decided(self, condition: Term) -> bool:
        """Whether a condition holds. Raises Split where that is not known."""
        match condition.op:
            case "true" | "false":
                return condition is TRUE
            case "land":
                return self.decided(condition.args[0]) and self.decided(condition.args[1])
            case "lor":
                return self.decided(condition.args[0]) or self.decided(condition.args[1])
            case "lnot":
                return not self.decided(condition.args[0])
            case "select":
                return self.decided(condition.args[1 if self.decided(condition.args[0]) else 2])
            case "lt" | "le":
                a, b = map(self.poly, condition.args)
                difference = plus(plus(b, a, -1), number(-(condition.op == "lt")))
                if self.never_negative(difference):
                    return True
                if self.never_negative(plus(number(-1), difference, -1)):
                    return False
            case "eq" | "ne":
                a, b = map(self.poly, condition.args)
                difference = plus(a, b, -1)
                if not difference:
                    return condition.op == "eq"
                up, down = difference, plus({}, difference, -1)
                if self.never_negative(plus(up, number(-1))) or self.never_negative(
                    plus(down, number(-1))
                ):
                    return condition.op == "ne"
                if self.never_negative(up) and self.never_negative(down):
                    return condition.op == "eq"
            case _:
                raise Lost
        if any(condition is g for g in self.given):
            return True
        if any(negated(condition) is g for g in self.given):
            return False
        raise Split(condition)

    # -- atoms -----------------------------------------------------------------------------------

    def _variable(self, name: str) -> Poly:
        low = self.low.get(name)
        if name not in self.numbers:
            values: list[int | None] = [p[name] for p in self.points]
            if low is not None and low < 0:  # what is counted from the lower bound
                values = [None if v is None else v - low for v in values]
            self.numbers[name] = len(self.atoms)
            self.atoms.append(Atom("var", name=name, positive=low is not None, values=values))
            if low is not None and low > 0:
                self.know({(self.numbers[name],): 1, (): -low})
        atom = {(self.numbers[name],): 1}
        return plus(atom, number(low)) if low is not None and low < 0 else atom

    def _atom(
        self, op: str, of: tuple[Poly, ...], positive: bool, table: tuple[int, ...] = ()
    ) -> tuple[int, bool]:
        """The number of an atom, and whether it is new."""
        key = (op, tuple(map(key_of, of)), table)
        found = self.numbers.get(key)
        if found is not None:
            return found, False
        atom = Atom(op, of, positive=positive, rank=self._rank(of), table=table)
        operands = [self.values(p) for p in of]
        for row in zip(*operands, strict=True):
            value: int | None = None
            try:
                if None not in row:
                    args = [Term("const", v) for v in row]
                    value = Term(op, *args, *(Term("const", n) for n in table)).at({})
            except (ArithmeticError, ValueError, LookupError):
                pass
            atom.values.append(value)
        number_ = self.numbers[key] = len(self.atoms)
        self.atoms.append(atom)
        return number_, True

    def _root(self, n: Poly) -> Poly:
        value = constant(n)
        if value is not None:
            if value < 0:  # shown of a case that cannot be
                raise Lost
            return number(isqrt(value))
        r, new = self._atom("isqrt", (n,), True)
        if new:
            square = {(r, r): 1}
            self.know(plus(n, square, -1))
            self.know(plus(plus(square, {(r,): 2}), n, -1))
        return {(r,): 1}

    def _lookup(self, term: Term) -> Poly:
        place, table = self.poly(term.args[0]), tuple(t.args[0] for t in term.args[1:])
        inside = self.never_negative(place) and self.never_negative(
            plus(number(len(table) - 1), place, -1)
        )
        if not inside:
            raise Lost
        at = constant(place)
        if at is not None:
            return number(table[at])
        low, high = min(table), max(table)
        entry, new = self._atom("lookup", (place,), True, tuple(n - low for n in table))
        if new:
            self.know({(): high - low, (entry,): -1})
        return plus({(entry,): 1}, number(low))

    # -- bits ------------------------------------------------------------------------------------

    def _masked(self, a: Poly, b: Poly) -> Poly:
        if constant(a) is not None:
            a, b = b, a
        mask, other = constant(b), constant(a)
        if mask is not None and other is not None:
            return number(mask & other)
        if key_of(a) == key_of(b):
            return a
        if mask is None:
            return self._bits("and", a, b)
        if mask < 0:  # the bits that are not in its contrary
            return plus(a, self._masked(a, number(~mask)), -1)
        found: Poly = {}
        place = 0
        while mask >> place:
            if not mask >> place & 1:
                place += 1
                continue
            end = place
            while mask >> end & 1:
                end += 1
            high = self.quotient(a, number(2**end))
            low = self.quotient(a, number(2**place))
            found = plus(found, times(number(2**place), low))
            found = plus(found, times(number(2**end), high), -1)
            place = end
        return found

    def _joined(self, op: str, a: Poly, b: Poly) -> Poly:
        x, y = constant(a), constant(b)
        if x is not None and y is not None:
            return number(x | y if op == "or" else x ^ y)
        if key_of(a) == key_of(b):
            return a if op == "or" else {}
        for one, other in ((a, b), (b, a)):
            if not one:
                return other
            factor = gcd(*one.values())
            power = factor & -factor
            if self._within(other, number(power)):
                return plus(one, other)
            ones = constant(one)
            if op == "xor" and ones is not None and ones > 0 and ones & (ones + 1) == 0:
                if self._within(other, number(ones + 1)):
                    return plus(one, other, -1)
        return self._bits(op, a, b)

    def _bits(self, op: str, a: Poly, b: Poly) -> Poly:
        a, b = sorted((a, b), key=lambda p: sorted(p.items()))
        if not (self.never_negative(a) and self.never_negative(b)):
            return {(self._atom(op, (a, b), False)[0],): 1}
        atom, new = self._atom(op, (a, b), True)
        if new:
            self.know(plus(plus(a, b), {(atom,): 1}, -1))  # a + b = (a | b) + (a & b)
            if op == "and":
                self.know(plus(a, {(atom,): 1}, -1))
                self.know(plus(b, {(atom,): 1}, -1))
            elif op == "or":
                self.know(plus({(atom,): 1}, a, -1))
                self.know(plus({(atom,): 1}, b, -1))
            most = [self.most(p) for p in (a, b)]
            ends = [None if p is None else constant(p) for p in most]
            if op != "and" and ends[0] is not None and ends[1] is not None:
                self.know({(): 2 ** max(ends[0], ends[1]).bit_length() - 1, (atom,): -1})
        return {(atom,): 1}

    # -- quotients -------------------------------------------------------------------------------

    def quotient(self, p: Poly, d: Poly) -> Poly:
        """floor(p/d); d > 0 has been shown."""
        if not d:
            raise Lost
        key = key_of(p), key_of(d)
        found = self.quotients.get(key)
        if found is None:
            n = constant(d)
            if self.depth > DEPTH or (n is not None and n < 1):  # shown of a case that cannot be
                raise Lost
            self.depth += 1
            try:
                found = self._quotient(p, d)
            finally:
                self.depth -= 1
            self.quotients[key] = found
        return found

    def _quotient(self, p: Poly, d: Poly) -> Poly:
        found = self._whole(p, d)
        if found is not None:
            return found
        whole, rest = self._parted(p, d)
        for g in self._factors(rest, d):
            high, low = self._multiples(rest, g)
            divisor = self._multiples(d, g)[0]
            if not low or self._within(low, {g[0]: g[1]}):
                return plus(whole, self.quotient(high, divisor))
        for mono, factor in sorted(rest.items(), reverse=True):
            inner = self.atoms[mono[0]] if len(mono) == 1 and factor == 1 else None
            if inner is not None and inner.op == "fdiv" and sum(mono[0] in m for m in rest) == 1:
                x, n = inner.of
                more = plus(x, times(n, plus(rest, {mono: 1}, -1)))
                return plus(whole, self.quotient(more, times(n, d)))
        q, new = self._atom("fdiv", (rest, d), self.never_negative(rest))
        if new:
            # The quotient's own bounds come first: they are what is looked for most.
            most = self.most(rest)
            end = None if most is None or most == rest else self.quotient(most, d)
            self.atoms[q].most = end
            if end is not None:
                self.know(plus(end, {(q,): 1}, -1))
            self.know(plus(rest, times(d, {(q,): 1}), -1))
            self.know(plus(plus(plus(d, number(-1)), rest, -1), times(d, {(q,): 1})))
        return plus(whole, {(q,): 1})

    def _whole(self, p: Poly, d: Poly) -> Poly | None:
        """The quotient where the rest can be shown to be less than d."""
        whole, rest = self._parted(p, d)
        tried = {0}
        for a, b in zip(self.values(rest), self.values(d), strict=True):
            if a is not None and b is not None and b > 0:
                tried = {a // b}
                break
        for k in tried:
            if self._within(plus(rest, d, -k), d):
                return plus(whole, number(k))
        return None

    def _within(self, rest: Poly, d: Poly) -> bool:
        return self.never_negative(rest) and self.never_negative(
            plus(plus(d, number(-1)), rest, -1)
        )

    @staticmethod
    def _parted(p: Poly, d: Poly) -> tuple[Poly, Poly]:
        """(a, r) with p = d*a + r, r without multiples of d's leading monomial."""
        lead = max(d, key=lambda mono: (len(mono), mono))
        whole: Poly = {}
        rest, left = dict(p), {}
        while rest:
            mono = max(rest, key=lambda mono: (len(mono), mono))
            other = without(mono, lead)
            times_ = 0 if other is None else rest[mono] // d[lead]
            if times_ and other is not None and d[lead] > 0:
                whole[other] = whole.get(other, 0) + times_
                rest = plus(rest, times({other: 1}, d), -times_)
            if mono in rest:
                left[mono] = left.get(mono, 0) + rest.pop(mono)
        return tuple({m: c for m, c in p.items() if c} for p in (whole, left))  # pyright: ignore

    def _factors(self, p: Poly, d: Poly) -> Iterator[tuple[Mono, int]]:
        """Products that divide d, the largest first: all its atoms are never negative, so that they
        are positive where d is."""
        monos = list(d)
        common = [a for a in monos[0] if self.atoms[a].positive] if monos else []
        shared: Mono = ()
        for a in common:
            more = tuple(sorted((*shared, a)))
            if all(without(m, more) is not None for m in monos):
                shared = more
        content = gcd(*d.values())
        ints = {content, 1} | {gcd(content, c) for c in p.values()}
        ints |= {gcd(a, b) for a in ints for b in ints}
        found = [
            (mono, n)
            for size in range(len(shared), -1, -1)
            for mono in dict.fromkeys(combinations(shared, size))
            for n in sorted(ints, reverse=True)
        ]
        return iter([g for g in found if g != ((), 1)])

    @staticmethod
    def _multiples(p: Poly, g: tuple[Mono, int]) -> tuple[Poly, Poly]:
        """(a, r) with p = g*a + r."""
        high: Poly = {}
        low: Poly = {}
        for mono, c in p.items():
            rest = without(mono, g[0])
            times_, left = (0, c) if rest is None else divmod(c, g[1])
            if times_ and rest is not None:
                high[rest] = times_
            if left:
                low[mono] = left
        return high, low

    def most(self, p: Poly) -> Poly | None:
        """An upper bound in what is bounded by nothing else, where each monomial has one."""
        found: Poly = {}
        for mono, c in p.items():
            if not all(self.atoms[a].positive for a in mono):
                return None
            if c < 0:
                if all(self.atoms[a].most is None for a in mono):
                    found = plus(found, {mono: c})
                continue
            product = number(c)
            for a in mono:
                end = self.atoms[a].most
                product = times(product, {(a,): 1} if end is None else end)
            found = plus(found, product)
        if any(self.atoms[a].most is not None for m in found for a in m):
            return self.most(found) if self.depth < DEPTH else None
        return found

    # -- never negative --------------------------------------------------------------------------

    def _wrong(self, p: Poly) -> bool:
        """Whether p < 0 at one of the points."""
        for place, k in enumerate(self.order):
            total = 0
            for mono, c in p.items():
                for a in mono:
                    value = self.atoms[a].values[k]
                    if value is None:
                        break
                    c *= value
                else:
                    total += c
                    continue
                break
            else:
                if total < 0:
                    if place:  # it is likely to show the next one wrong, too
                        self.order.insert(0, self.order.pop(place))
                    return True
        return False

    def values(self, p: Poly) -> list[int | None]:
        """Its values at the points; None where one has none."""
        found: list[int | None] = []
        for k in range(len(self.points)):
            total: int | None = 0
            for mono, c in p.items():
                factors = [self.atoms[a].values[k] for a in mono]
                if None in factors:
                    total = None
                    break
                total += c * prod(f for f in factors if f is not None)  # pyright: ignore
            found.append(total)
        return found

    def never_negative(self, p: Poly) -> bool:
        """Whether p >= 0 follows from what is known."""
        if all(c > 0 and all(self.atoms[a].positive for a in mono) for mono, c in p.items()):
            return True
        key = key_of(p)
        known = self.shown.get(key)
        if known is not True and known != len(self.facts):  # more may be known than at that time
            known = self.shown[key] = (not self._wrong(p) and self._search(p)) or len(self.facts)
        return known is True

    def _search(self, p: Poly) -> bool:
        """Adds multiples of what is known until no monomial can be negative, the best one first."""
        seen: set[Key] = set()
        p = self._reduced(p)
        todo = [(self._score(p), 0, p)]
        made_ = 0
        for _ in range(SEARCH):
            if not todo:
                return False
            p = heappop(todo)[2]
            self.budget.spend()
            target = self._target(p)
            if target is None:
                return True
            for other in self._steps(p, target):
                other = self._reduced(other)
                key = key_of(other)
                if key not in seen and not self._wrong(other):
                    seen.add(key)
                    made_ += 1
                    heappush(todo, (self._score(other), made_, other))
        return False

    def _reduced(self, p: Poly) -> Poly:
        """Without a common factor; what is not a multiple of it is rounded down."""
        factor = gcd(*(c for mono, c in p.items() if mono))
        if factor > 1:
            p = {m: c // factor for m, c in p.items() if c // factor}
        return p

    def _bad(self, p: Poly) -> list[Mono]:
        return [m for m, c in p.items() if c < 0 or not all(self.atoms[a].positive for a in m)]

    def _score(self, p: Poly) -> tuple[int, int, int, int]:
        bad = self._bad(p)
        rank = max((self._order(m)[0] for m in bad), default=-1)
        return rank, len(bad), max(map(len, p), default=0), len(p)

    def _order(self, mono: Mono) -> tuple[int, int, Mono]:
        return sum(self.atoms[a].rank for a in mono), len(mono), mono

    def _target(self, p: Poly) -> Mono | None:
        """The monomial to get rid of next."""
        return max(self._bad(p), key=self._order, default=None)

    def _steps(self, p: Poly, target: Mono) -> Iterator[Poly]:
        """Polynomials of which one being never negative shows it of p."""
        c = p[target]
        for mono, n in p.items():
            atom = self.atoms[mono[0]] if len(mono) == 1 and n in (1, -1) else None
            if atom is None or atom.op != "fdiv" or sum(mono[0] in m for m in p) != 1:
                continue
            x, d = atom.of
            rest = plus(p, {mono: n}, -1)
            if n > 0:  # -rest <= x//d
                yield plus(x, times(d, rest))
            elif mono == target:  # x//d <= rest
                yield plus(plus(times(d, rest), plus(d, number(-1))), x, -1)
        for fact in self.facts:
            for mono, f in fact.items():
                if (f < 0) != (c < 0):
                    continue
                m = without(target, mono)
                if m is None or not all(self.atoms[a].positive for a in m):
                    continue
                g = gcd(c, f)
                yield plus(
                    {k: n * (abs(f) // g) for k, n in p.items()}, times(fact, {m: abs(c) // g}), -1
                )
