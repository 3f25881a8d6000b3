"""The means of a proof that an expression is not negative, in the order of their cost.

They are bounds put in for indices, one after the other; a constraint k >= 0 with e - k >= 0; and, where
samples do not refute it, all values where these are few, and Z3.

For 0 <= i <= M - 1 and 0 <= j <= 7 the sum M*8 - 1 - 8*i - j has no constant bound. Its worst is at the
upper ends of i and j: M*8 - 1 - 8*(M - 1) - 7 is 0, and so it is not negative. This is what digits of
mixed radix need (coefficient and extent telescope), and why bounds may be symbolic.

Z3 has a limit on its own steps and on how often it is asked about the same symbols, for a limit in time
would make the output depend on the machine, and one on all questions would make an expression depend on
its neighbors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

from .bounds import Bounds
from .expr import Expr
from .facts import Facts, Range, distribute, divide_terms
from .points import MOST_PROVING, Points
from .samples import SAMPLES, Samples, value_at
from .terms import Atom, Terms, times, without

PROVERS = (
    "intervals", "mixed-radix bounds", "bounds put in one by one", "a known bound", "all values", "Z3",
)  # fmt: skip
SHIFTED_DEGREE = 6
REFUTING = 8  # of the samples, before a proof is tried
Z3_DEGREE = 3  # products of more factors take it long, and hardly a proof is found
Z3_UNKNOWN = 3  # queries that one counts for to which Z3 knows no answer
TRIES = 1000  # of proofs by a constraint, about the same symbols
Z3_QUERIES = (
    24  # about the same symbols; a bound in time would make the output depend on the machine
)


class Proofs:
    """Proofs from facts. prover: gives the prover that has these proofs, which answers smaller questions; they do
    not hold it, so that both go as soon as nobody needs them."""

    def __init__(self, facts: Facts, bounds: Bounds, prover: Callable[[], Any]):
        self.facts, self.bounds, self._prover = facts, bounds, prover
        self.samples = Samples(facts)
        # asked so far, by the symbols that are concerned: others cost an expression nothing
        self._z3_queries: dict[frozenset[str], int] = {}
        self._tries: dict[frozenset[str], int] = {}  # of constraints, in the same way

    def nonneg(self, e: Expr) -> bool:
        """Whether e >= 0 is proven: a smaller question."""
        return self._prover().nonneg(e)

    def found(self, e: Expr, use_z3: bool) -> bool:
        """Whether e >= 0, which its constant bounds leave open, has a proof."""
        numeric = self.bounds.is_independent(e)
        return (
            (not numeric and (self._telescopes(e) or self._prove(e, 12)))
            or self._by_constraint(e)
            or (not numeric and use_z3 and (self._by_points(e) or self._by_z3(e)))
        )

    def shown(self, e: Expr) -> tuple[str, Expr | None]:
        """(which of PROVERS shows e >= 0, which is proven; the constraint that it follows from)."""
        lo = self.bounds.interval(e)[0]
        if lo is not None and lo >= 0:
            return PROVERS[0], None
        if not self.bounds.is_independent(e):
            if self._telescopes(e):
                return PROVERS[1], None
            if self._prove(e, 12):
                return PROVERS[2], None
        for k in self.facts.constraints:
            if self._prove(e - k, 6):
                return PROVERS[3], k
        return PROVERS[4 if self._by_points(e) else 5], None

    def _telescopes(self, e: Expr) -> bool:
        """e >= 0 by putting every index's worst bound in at once: enough for mixed-radix sums,
        where coefficient and extent telescope."""
        factors: dict[Atom | None, Terms] = {}
        for mono, c in e.terms.items():
            index, rest = None, mono
            for k, atom in enumerate(mono):
                if atom.kind != "sym" or not self.facts.stays_in_bounds(atom.args[0]):
                    if index is not None:
                        return False
                    index, rest = atom, mono[:k] + mono[k + 1 :]
            factors.setdefault(index, {})[rest] = c
        total = factors.pop(None, {})
        for index, factor in factors.items():
            assert index is not None
            if all(c > 0 for c in factor.values()):
                least = self.bounds.of_atom(index)[0]
                if least is None:
                    return False
                bound = Expr.of(least)
            elif all(c < 0 for c in factor.values()):
                top = self._top(index)
                if top is None:
                    return False
                bound = top
            else:
                return False
            for m, c in factor.items():
                for n, k in bound.terms.items():
                    key = times(m, n)
                    total[key] = total.get(key, 0) + c * k
        left = Expr({m: c for m, c in total.items() if c})
        lo = self.bounds.interval(left)[0]
        return (lo is not None and lo >= 0) or self._shifted(left)

    def _top(self, atom: Atom) -> Expr | None:
        """An upper bound of an index in sizes only, None where none is seen at once."""
        if atom not in self.facts.cache.tops:
            kind, args, top = atom.kind, atom.args, None
            if kind == "sym":
                known = self.facts.ranges.get(args[0])
                top = known.hi if known is not None else None
            elif kind == "digit" and args[2] is not None:
                top = self._digit_count(args[1], args[2]) - 1
            elif kind == "digit":
                top = self.quotient_bound(args[0], args[1])
            elif kind == "opaque":
                top = args[2]
            if top is not None and any(
                a.kind != "sym" or not self.facts.stays_in_bounds(a.args[0])
                for m in top.terms
                for a in m
            ):
                top = None
            self.facts.cache.tops[atom] = top
        return self.facts.cache.tops[atom]

    def _prove(self, e: Expr, depth: int) -> bool:
        """e >= 0 by putting the worst bound of one atom after another into it."""
        lo, hi = self.bounds.interval(e)
        if lo is not None and lo >= 0:
            return True
        if depth == 0 or (hi is not None and hi < 0):
            return False
        known = self.facts.cache.attempts.get(e.identity)
        if known is not None and (known[0] or known[1] >= depth):
            return known[0]
        proven = not self._refuted(e) and self._prove_by_bounds(e, depth)
        self.facts.cache.attempts[e.identity] = (proven, depth)
        return proven

    def _refuted(self, e: Expr) -> bool:
        """Whether e is negative somewhere: most questions that have no proof end here."""
        if self._sinks(e):
            return True
        for sample in islice(self.samples.first(), REFUTING):
            value = value_at(e, sample)
            if value is None:
                return False
            if value < 0:
                return True
        return False

    def _sinks(self, e: Expr) -> bool:
        """Whether e, a sum of products of sizes, is negative where some sizes are as large as you
        like and all others are at their least: those of a negative product, or one alone."""
        if self.facts.exact or self.facts.constraints or len(e.terms) < 2:
            return False
        least: dict[Atom, int] = {}
        for atom in e.atoms():
            number = self.facts.least(atom.args[0]) if atom.kind == "sym" else None
            if number is None or number < 0:
                return False
            least[atom] = number
        if min(least.values()) < 1:
            return False
        negative = dict.fromkeys(frozenset(mono) for mono, c in e.terms.items() if c < 0)
        for large in (frozenset(), *negative, *(frozenset((atom,)) for atom in least)):
            degrees: dict[int, int] = {}
            for mono, c in e.terms.items():
                degree = 0
                for atom in mono:
                    if atom in large:
                        degree += 1
                    else:
                        c *= least[atom]
                degrees[degree] = degrees.get(degree, 0) + c
            leading = max((degree for degree, c in degrees.items() if c), default=None)
            if leading is not None and degrees[leading] < 0:
                return True
        return False

    def _prove_by_bounds(self, e: Expr, depth: int) -> bool:
        atoms = e.atoms()
        for atom in sorted(atoms, key=self.place_of, reverse=True):
            with_atom = {m: c for m, c in e.terms.items() if atom in m}
            if any(m.count(atom) > 1 for m in with_atom):
                continue
            rest = Expr({m: c for m, c in e.terms.items() if atom not in m})
            factor = Expr({tuple(a for a in m if a is not atom): c for m, c in with_atom.items()})
            choices = self.ends_of(atom)
            for sign, bounds, need_all in choices:
                if not bounds:
                    continue
                signed = factor if sign > 0 else -factor
                if not self._prove(signed, depth - 1):
                    continue
                # the worst of one atom does not depend on the others: no other order does better
                proofs = (
                    self._prove(rest + distribute(self.facts, factor, b), depth - 1) for b in bounds
                )
                return all(proofs) if need_all else any(proofs)
        return self._shifted(e)

    def place_of(self, atom: Atom) -> tuple[int, str]:
        """How late an atom's bounds can be put in: those that depend on others go first."""
        if atom.kind == "sym":
            known = self.facts.ranges.get(atom.args[0])
            if known is not None and known.hi is not None and known.hi.constant is None:
                return 2, atom.key
            return (1 if known is not None and known.hi is not None else 0), atom.key
        if atom.kind == "opaque" and atom.args[2] is None:
            return 0, atom.key  # a size, or a sum that is only kept together
        if atom.kind == "shl":
            return 0, atom.key  # as a size is: 1 << n, which others are below
        return 3, atom.key

    def ends_of(self, atom: Atom) -> list[tuple[int, list[Expr], bool]]:
        """(sign of the factor, bounds, whether all of them must do) for an atom."""
        kind, args = atom.kind, atom.args
        if kind == "sym":
            known = self.facts.ranges.get(args[0])
            if known is None:
                return []
            los = [known.lo] if known.lo is not None else []
            his = [known.hi] if known.hi is not None else []
            los += [Expr.of(known.least)] if known.least is not None else []
            his += [Expr.of(known.most)] if known.most is not None else []
            return [(-1, his, False), (1, los, False)]
        if kind == "digit":
            base, lo, hi = args
            if hi is not None:
                top = self._digit_count(lo, hi) - 1
                return [(1, [Expr.of(0)], False), (-1, [top], False)]
            bounds = []
            if self.nonneg(base):
                least = int(bool(self.facts.constraints) and self.nonneg(base - lo))
                bounds.append((1, [Expr.of(least)], False))
            most = self.quotient_bound(base, lo)
            if most is not None:
                bounds.append((-1, [most], False))
            return bounds
        if kind == "opaque":
            inner, lo, hi, _ = args
            if hi is None:
                return [(1, [inner], False), (-1, [inner], False)]
            return [(1, [lo], False), (-1, [hi], False)]
        if kind == "min":
            return [(-1, [args[0], args[1]], False), (1, [args[0], args[1]], True)]
        if kind == "max":
            return [(1, [args[0], args[1]], False), (-1, [args[0], args[1]], True)]
        if kind == "select":
            return [(1, [args[1], args[2]], True), (-1, [args[1], args[2]], True)]
        if kind == "lookup" and args[0].array:
            return self._ends_of_each(args[2:])
        lo, hi = self.bounds.of_atom(atom)
        return [
            (1, [Expr.of(lo)] if lo is not None else [], False),
            (-1, [Expr.of(hi)] if hi is not None else [], False),
        ]

    def quotient_bound(self, base: Expr, lo: Expr) -> Expr | None:
        """An upper bound of base // lo, None where none is known."""
        key = base.identity, lo.identity
        if key not in self.facts.cache.quotient_bounds:
            self.facts.cache.quotient_bounds[key] = (
                None  # a constraint on the quotient leads back here
            )
            self.facts.cache.quotient_bounds[key] = self._quotient_bound_of(base, lo)
        return self.facts.cache.quotient_bounds[key]

    def _quotient_bound_of(self, base: Expr, lo: Expr) -> Expr | None:
        highest = self.upper(base)
        bounds = [] if highest is None else [highest]
        # a constraint k >= 0 bounds base by base + k: of use where that leaves the base out
        bounds += [b for b in (base + k for k in self.facts.constraints) if len(b.terms) <= 2]
        least = None
        for bound in bounds:
            quotient, rest = divide_terms(self.facts, bound, lo)
            if not quotient.terms:
                continue
            below = self._prove(-rest - 1, 4)
            if below or self._prove(lo - rest - 1, 4):
                found = quotient - int(below)
                if least is None or ((least - found).constant or 0) > 0:
                    least = found
        return least

    def _digit_count(self, lo: Expr, hi: Expr) -> Expr:
        """hi / lo, or hi where it is not seen how often lo goes into it: more digits than there are."""
        quotient, rest = divide_terms(self.facts, hi, lo)
        return hi if rest.terms else quotient

    def upper(self, e: Expr, keep: Collection[str] = ()) -> Expr | None:
        """An upper bound in sizes (what no number bounds from above, and what keep names), None where
        there is none."""
        return self._bound(e, keep, 16)

    def lower(self, e: Expr, keep: Collection[str] = ()) -> Expr | None:
        """A lower bound in sizes (as in upper), None where there is none."""
        bound = self._bound(-e, keep, 16)
        return None if bound is None else -bound

    def _bound(self, e: Expr, keep: Collection[str], depth: int) -> Expr | None:
        if depth == 0:
            return None
        for atom in sorted(e.atoms(), key=self.place_of, reverse=True):
            if atom.kind == "sym" and (
                atom.args[0] in keep or self.facts.least(atom.args[0]) is not None
            ):
                continue
            with_atom = {m: c for m, c in e.terms.items() if atom in m}
            if any(m.count(atom) > 1 for m in with_atom):
                return None
            rest = Expr({m: c for m, c in e.terms.items() if atom not in m})
            factor = Expr({tuple(a for a in m if a is not atom): c for m, c in with_atom.items()})
            positive = self.nonneg(factor)
            if not positive and not self.nonneg(-factor):
                return None
            if positive and (top := self.quotient_top(atom, factor.constant)) is not None:
                return self._bound(rest + top, keep, depth - 1)
            for want, bounds, need_all in self.ends_of(atom):
                # an upper bound of the sum takes the upper bound where the factor is positive
                if (want < 0) is positive and bounds and not need_all:
                    return self._bound(
                        rest + distribute(self.facts, factor, bounds[0]), keep, depth - 1
                    )
            return None
        return e

    def _ends_of_each(self, members: Sequence[Expr]) -> list[tuple[int, list[Expr], bool]]:
        """The bounds that all elements of an array have, with the signs of the factor."""
        found: dict[int, list[Expr]] = {1: [], -1: []}
        for k, member in enumerate(members):
            atom = member.single
            own = {} if atom is None else {sign: ends for sign, ends, _ in self.ends_of(atom)}
            if atom is None:
                own = {1: [member], -1: [member]}
            for sign, ends in found.items():
                each = own.get(sign, [])
                found[sign] = [e for e in ends if any(e.same(x) for x in each)] if k else each
        return [(sign, ends, False) for sign, ends in found.items()]

    def _is_open(self, name: str) -> bool:
        """Whether nothing bounds a parameter that is no size from above."""
        known = self.facts.ranges.get(name)
        return not self.facts.is_size(name) and (known is None or known.hi is None)

    def quotient_top(self, atom: Atom, c: int | None) -> Expr | None:
        """What c * (x // n) is at most: x where c is n, a multiple of an x >= 0 else. None where x has
        bounds, of which the quotient's are made, and for other atoms."""
        if atom.kind != "digit" or atom.args[2] is not None or not c:
            return None
        base, n = atom.args[0], atom.args[1].constant
        if n is None or not any(map(self._is_open, atom.symbols)):
            return None
        if c % n and not self.nonneg(base):
            return None
        return base * -(-c // n)

    def _shifted(self, e: Expr) -> bool:
        """All symbols put as lower bound + something >= 0: are all coefficients >= 0?"""
        if max(map(len, e.terms)) > SHIFTED_DEGREE:
            return self._outweighed(e)  # the product of n shifted symbols has 2**n terms
        total: dict[tuple, int] = {(): 0}
        for mono, coefficient in e.terms.items():
            expanded: dict[tuple, int] = {(): coefficient}
            for atom in mono:
                lo = self.bounds.of_atom(atom)[0]
                if lo is None:
                    return False
                new: dict[tuple, int] = {}
                for m, c in expanded.items():
                    key = tuple(sorted((*m, atom.key)))
                    new[key] = new.get(key, 0) + c
                    new[m] = new.get(m, 0) + c * lo
                expanded = new
            for m, c in expanded.items():
                total[m] = total.get(m, 0) + c
        return all(c >= 0 for c in total.values())

    def _outweighed(self, e: Expr) -> bool:
        """Whether each product that is taken off is a part of one that is added."""
        if any((self.bounds.of_atom(a)[0] or 0) < 1 for a in e.atoms()):
            return False
        terms = sorted(e.terms.items(), key=lambda term: (len(term[0]), [a.key for a in term[0]]))
        left = {mono: c for mono, c in terms if c > 0}
        for mono, c in reversed(terms):
            for whole, many in left.items():
                if c < 0 < many and without(whole, mono) is not None:
                    left[whole] -= min(many, -c)
                    c += min(many, -c)
            if c < 0:
                return False
        return True

    def _by_constraint(self, e: Expr) -> bool:
        """e >= k for some known k >= 0."""
        if not self.facts.constraints:
            return False
        names = self._concerned(e)
        near = [k for k in self.facts.constraints if not names.isdisjoint(self._concerned(k))]
        if not near or self._refuted(e):
            return False
        beyond = (e - k for k in near)
        about = frozenset(names)
        return any(
            not self._refuted(d) and self._tried(about) and self._prove(d, 6) for d in beyond
        )

    def _tried(self, about: frozenset[str]) -> bool:
        """Whether one more proof by a constraint about these symbols may be tried: a long path has
        many constraints."""
        self._tries[about] = self._tries.get(about, 0) + 1
        return self._tries[about] <= TRIES

    def _concerned(self, e: Expr) -> set[str]:
        """The symbols in e, in their bounds, and so on."""
        key = e.identity
        if key not in self.facts.cache.symbols:
            found: set[str] = set()
            stack = [e]
            while stack:
                for name in stack.pop().symbols() - found:
                    found.add(name)
                    known = self.facts.ranges.get(name, Range())
                    stack += [b for b in (known.lo, known.hi) if b is not None and b.atoms()]
            self.facts.cache.symbols[key] = found
        return self.facts.cache.symbols[key]

    def _by_points(self, e: Expr) -> bool:
        """e >= 0 at all values of its symbols, where these are few."""
        ranges, count = {}, 1
        for name in sorted(e.symbols()):
            known = self.facts.ranges.get(name, Range())
            if known.lo is None or known.hi is None:
                return False
            lo, hi = known.lo.constant, known.hi.constant
            if lo is None or hi is None or not 0 < (count := count * (hi - lo + 1)) <= MOST_PROVING:
                return False
            ranges[name] = range(lo, hi + 1)
        if self._refuted(e):
            return False
        key = tuple(ranges.items())
        if key not in self.facts.cache.points:
            self.facts.cache.points[key] = Points(ranges)
        return self.facts.cache.points[key].nonneg(
            e, (k for k in self.facts.constraints if k.symbols() <= ranges.keys())
        )

    def _by_z3(self, e: Expr) -> bool:
        """Z3 is asked only where no sample refutes, so that a query usually ends in a proof."""
        if not e.atoms():
            return False
        concerned = frozenset(self._concerned(e))
        asked = self._z3_queries.get(concerned, 0)
        if asked >= Z3_QUERIES:
            return False
        if any(map(_beyond_z3, e.deep_atoms())):
            return False
        if _degree(e) > Z3_DEGREE:
            return False
        names = e.symbols()
        if any(n not in self.facts.ranges or self.facts.ranges[n].lo is None for n in names):
            return False
        found = 0
        for sample in self.samples.first():
            value = value_at(e, sample)
            if value is None:
                continue
            if value < 0:
                return False
            found += 1
        if found < SAMPLES // 3:
            return False
        from .z3_prover import prove_nonneg

        answer = prove_nonneg(self.facts, e)
        self._z3_queries[concerned] = asked + (Z3_UNKNOWN if answer is None else 1)
        return bool(answer)


def _beyond_z3(atom: Atom) -> bool:
    """Whether Z3 has no word for an atom, or hardly ever an answer: a division by a symbol."""
    if atom.kind == "digit":
        return any(n is not None and n.constant is None for n in atom.args[1:])
    return atom.kind in (
        "floordiv",
        "floormod",
        "isqrt",
        "and",
        "or",
        "xor",
        "shl",
        "shr",
        "lookup",
        "loop",
        "switch",
    )


def _degree(e: Expr) -> int:
    """The most factors of a product in e, however deep."""
    inner = [a for atom in e.deep_atoms() for a in atom.args if isinstance(a, Expr)]
    return max((len(mono) for x in (e, *inner) for mono in x.terms), default=0)
