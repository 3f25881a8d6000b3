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
from itertools import combinations
from math import gcd, isqrt

from .exhaustive import parts
from .negation import negated
from .polynomials import (
    Atom,
    Budget,
    Key,
    Lost,
    Mono,
    Points,
    Poly,
    Split,
    constant,
    key_of,
    number,
    plus,
    times,
    without,
)
from .signs import Signs
from .terms import OPS, TRUE, Term, made, term_of, var

DEPTH = 60  # rules that are applied within each other


class Facts(Signs):
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
        self._forget()

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
        self._forget()
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
                self._reached.clear()
        elif constant(p) is not None and (constant(p) or 0) < 0:
            self.facts.insert(0, p)
            self._reached.clear()

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
                    value = OPS[op](*row, *table)
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
