"""Candidate forms: expressions in normal form as operations, spelled in one style.

A `Form` makes the nodes of expressions by the decisions of one `Style` (style.py). For each digit
(x mod hi) // lo there are several ways. With 0 <= j < 100, in the sum 64*(j//8) + j%8 they give

    as it stands                  64*(j >> 3) + (j & 7)     4 operations
    difference of quotients       56*(j >> 3) + j           3    j%8 = j - 8*(j//8)
    difference of masked values   7*(j & 120) + j           3    and 8*(j//8) = j & 120
    difference of remainders      8*j - 7*(j & 7)           4    64*(j//8) = 8*(j - j%8)

A difference costs an operation and wins where its parts meet others: here the coefficients 64 and -8 of
j//8 become one. Whether it wins depends on the whole sum, so that it is priced and not decided here.

For each sum there are two ways: common factors are taken out (N*i + N*j is N*(i + j)), or all products
with the same coefficient in sizes stand together (`collect`). Within a sum, large strides come first,
and two summands that were added elsewhere are added first, so that the sum is shared.

Signs are decided here, too. A division by a power of two is a shift, which rounds down for every sign.
A division of what is proven not negative by what is proven positive is `div`; any other is `floordiv`,
which means what Python's // means. A proof that fails costs a longer operation and never changes the
value.

`Form.expr` promises a node of the same value wherever the facts hold. For types without negative
numbers, sums are ordered so that nothing on the way is below 0 where that is seen; whether a whole
candidate is free of negative values is asked when it is priced (lowering.py). A shift whose distance
is not known to lie in 0..63 raises TraceError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

from ..arith.expr import Cond, Expr, opaque
from ..arith.terms import Atom, Monomial, Terms, times
from ..errors import TraceError
from ..ir.nodes import Node
from ..operations import LOGIC, OPS
from .lowering import Lowering, identities
from .style import Style, census, with_floors

Part = tuple[int, Node, tuple]  # a summand: its sign, its value, its place in the sum


class Form:
    """One candidate: expressions in the user's symbols as nodes, spelled in one style."""

    def __init__(self, lowering: Lowering, style: Style, outputs: Iterable[Expr]):
        self.lowering, self.style, self.graph = lowering, style, lowering.graph
        self.built = 0
        self._memo: dict[Any, Node] = {}
        self._opened: dict[Atom, Terms] = {}
        in_sums = style.collect, style.nested, style.carry, style.plain
        self._leaves = lowering.leaves.setdefault(in_sums, {})
        outputs = [*outputs]
        key = identities(outputs)
        if key not in lowering.censuses:
            lowering.censuses[key] = census(outputs)
        self._single, self._borders, self._quotients = lowering.censuses[key]
        if style.rounds or style.masks:
            self._quotients = self._quotients - style.rounds - style.masks
        if style.floors:
            self._borders = with_floors(self._borders, style.floors)
        self._rounds = style.rounds | style.masks if style.masks else style.rounds
        self._inner = dict(style.inner)
        self._changed = style.floors | self._rounds | self._single | self._inner.keys()

    def expr(self, e: Expr) -> Node:
        """The node of an expression."""
        known = self._memo.get(e.identity)
        if known is None:
            terms = self._flat(e)
            known = self._memo[e.identity] = self._sum(terms)
            if terms is not e.terms and known.args and not _has_nodes(e):
                self.lowering.sources.setdefault(known, e)
        return known

    # -- sums and products --------------------------------------------------------------------

    def _flat(self, e: Expr) -> Terms:
        """The terms, with sums that need no name and digits taken as differences opened."""
        changed = self._changed
        if not changed or changed.isdisjoint([a for mono in e.terms for a in mono]):
            return e.terms
        floors, single = self.style.floors, self._single
        rounds, inner_digits = self._rounds, self._inner
        terms: Terms = {}
        for mono, c in e.terms.items():
            inner: Terms = {(): c}
            rest = []
            for atom in mono:
                if atom in floors:
                    inner = _multiplied(inner, self._as_quotients(atom))
                elif atom in inner_digits:
                    inner = _multiplied(inner, self._within_remainder(atom, inner_digits[atom]))
                elif atom in rounds and (round := self._as_remainders(mono, c, atom)):
                    inner = {}
                    for m, k in round.items():
                        inner[m] = inner.get(m, 0) + k
                    rest = []
                    break
                elif atom in single and len(mono) == 1 and abs(c) == 1:
                    inner = _multiplied(inner, self._flat(atom.args[0]))
                else:
                    rest.append(atom)
            for m, k in inner.items():
                m = times(m, tuple(rest))
                terms[m] = terms.get(m, 0) + k
        return {m: c for m, c in terms.items() if c}

    def _as_quotients(self, atom: Atom) -> Terms:
        """(x mod hi) // lo as x//lo - (hi/lo) * (x//hi)."""
        known = self._opened.get(atom)
        if known is None:
            base, lo, hi = atom.args
            low: Terms
            if lo.constant != 1:
                low = {(Atom("digit", base, lo, None),): 1}
            elif len(base.terms) > 1:
                low = {(Atom("opaque", base, None, None, False),): 1}
            elif base.single is not None and base.single.kind == "opaque":
                low = base.terms
            else:
                low = self._flat(base)
            ratio = self.lowering.ratio(hi, lo)
            assert ratio is not None
            ((mono, c),) = ratio.terms.items()
            known = dict(low)
            high = times(mono, (Atom("digit", base, hi, None),))
            known[high] = known.get(high, 0) - c
            self._opened[atom] = known
        return known

    def _within_remainder(self, atom: Atom, high: Atom) -> Terms:
        """(x mod hi) // lo as (x mod top) // lo - (hi/lo) * ((x mod top) // hi), high."""
        base, lo, hi = atom.args
        ratio = self.lowering.ratio(hi, lo)
        assert ratio is not None
        ((mono, c),) = ratio.terms.items()
        return {(Atom("digit", base, lo, high.args[2]),): 1, times(mono, (high,)): -c}

    def _as_remainders(self, mono: Monomial, c: int, atom: Atom) -> Terms | None:
        """c * mono, of which atom is a digit (x mod hi) // lo, as c/lo * (x mod hi - x mod lo); None
        where lo does not divide the coefficient."""
        base, lo, hi = atom.args
        at = mono.index(atom)
        factor = self.lowering.ratio(Expr({mono[:at] + mono[at + 1 :]: c}), lo)
        if factor is None:
            return None
        terms: Terms = {}
        masked = atom in self.style.masks and self.maskable(atom)
        for sign, border in ((1, hi), (-1, lo)):
            for m, k in self._rest(base, border, masked).items():
                for n, f in factor.terms.items():
                    product = times(m, n)
                    terms[product] = terms.get(product, 0) + sign * k * f
        return terms

    def _rest(self, base: Expr, border: Expr | None, masked: bool) -> Terms:
        """base mod border, or base less its bits from there on; base itself without a border."""
        if border is not None and border.constant == 1:
            return {}
        quotient = Atom("digit", base, Expr.of(1) if border is None else border, None)
        divided = not masked and quotient in self._quotients
        if border is not None and not divided and not masked:
            return {(Atom("digit", base, Expr.of(1), border),): 1}
        if len(base.terms) > 1:
            whole: Terms = {(Atom("opaque", base, None, None, False),): 1}
        elif base.single is not None and base.single.kind == "opaque":
            whole = base.terms
        else:
            whole = self._flat(base)
        if border is None:
            return whole
        if divided:  # it is computed anyway
            rest: Terms = dict(whole)
            for mono, c in border.terms.items():
                high = times(mono, (quotient,))
                rest[high] = rest.get(high, 0) - c
            return rest
        top = self.lowering.analyzer.interval(self.lowering.forward(base))[1]
        mask = (1 << (top or 0).bit_length()) - (border.constant or 0)
        high = (Atom("and", base, Expr.of(mask)),)
        return {**whole, high: whole.get(high, 0) - 1}

    def maskable(self, atom: Atom) -> bool:
        """Whether a digit can be taken as a difference of masked values."""
        base, *borders = atom.args
        lowering = self.lowering
        return (
            lowering.bit_operations
            and all(b is None or (b.constant and not b.constant & b.constant - 1) for b in borders)
            and lowering.nonnegative(base)
            and lowering.analyzer.interval(lowering.forward(base))[1] is not None
        )

    def _sum(self, terms: Terms) -> Node:
        if self.style.carry:
            terms = _carried(terms)
        if not terms:
            return self.graph.const(0)
        if len(terms) == 1 and not self.style.collect:
            ((mono, c),) = terms.items()
            node = self._term(mono, abs(c))
            return node if c > 0 else self._negated(node)
        return self._added(self._collected(terms) if self.style.collect else self._parts(terms))

    def _added(self, parts: list[Part]) -> Node:
        """The sum of (sign, node, place), two summands together that were added before."""
        graph = self.graph
        parts = sorted(parts, key=_place_of)
        if len(parts) > 2 and not self.style.plain:
            for (s, a, place), (t, b, other) in combinations(parts, 2):
                known = graph.known("add", a, b) if s == t else None
                if known is not None:
                    left = [p for p in parts if p[2] != place and p[2] != other]
                    return self._added([*left, (s, known, place)])
        # a sum that starts with what is subtracted needs a negation: start with another part
        first = next((k for k, p in enumerate(parts) if p[0] > 0), None)
        if first is None:
            result = self._negated(parts.pop(0)[1])
        else:
            result = parts.pop(first)[1]
        while parts:
            at = 0 if self.lowering.signed else self._next(result, parts)
            sign, node, _ = parts.pop(at)
            result = graph.op("add" if sign > 0 else "sub", result, node)
        return result

    def _negated(self, node: Node) -> Node:
        """-node; where there are no negative numbers, a difference that it is a multiple of the
        other way round."""
        graph = self.graph
        op, args = node.op, node.args
        if not self.lowering.signed and op == "sub":
            return graph.op("sub", *args[::-1])
        if not self.lowering.signed and op == "mul":
            for a, b in (args, args[::-1]):
                if a.op == "sub":
                    return graph.op("mul", self._negated(a), b)
        return graph.op("neg", node)

    def _next(self, result: Node, parts: list[Part]) -> int:
        """Which summand is next, so that no sum on the way is negative: the first one, unless it is
        subtracted and may be larger than what is there."""
        (sign, node, _), lowering = parts[0], self.lowering
        added = next((k for k, p in enumerate(parts) if p[0] > 0), 0)
        if sign > 0 or not added:
            return 0
        value, other = lowering.value(result), lowering.value(node)
        if value is None or other is None or not lowering.nonnegative(value - other):
            return added
        return 0

    def _parts(self, terms: Terms) -> list[Part]:
        """(sign, node, place) of the summands, common factors taken out."""
        factor = None if len(terms) < 2 or self.style.plain else self._best_factor(terms)
        if factor is None:
            return [self._part(mono, c) for mono, c in terms.items()]
        inside: Terms = {}
        outside: Terms = {}
        for mono, c in terms.items():
            divided = _divide(mono, c, factor, self.style.nested)
            if divided is None:
                outside[mono] = c
            else:
                inside[divided[0]] = divided[1]
        sign = -1 if all(c < 0 for c in inside.values()) else 1
        if sign < 0:
            inside = {m: -c for m, c in inside.items()}
        place = min(self._place(m, c) for m, c in terms.items() if m not in outside)
        node = self.graph.op("mul", self._product(*factor), self._sum(inside))
        return [(sign, node, place), *(self._parts(outside) if outside else [])]

    def _best_factor(self, terms: Terms) -> tuple[Monomial, int] | None:
        """The factor that saves most multiplications when it is taken out, if any does."""
        best = None
        if any(len(mono) > 1 for mono in terms):
            atoms: Counter[Atom] = Counter()
            for mono in terms:
                atoms.update(set(mono))
            for atom, count in atoms.items():
                if count > 1:
                    rank = (count, self.lowering.is_size_symbol(atom), atom.key)
                    if best is None or rank > best[0]:
                        best = (rank, ((atom,), 1))
        coefficients: dict[int, int] = {}
        for mono, c in terms.items():
            if mono and (c > 1 or c < -1):
                coefficients[abs(c)] = coefficients.get(abs(c), 0) + 1
        for c, count in coefficients.items():
            if self.style.nested and c & (c - 1):
                count = sum(n for k, n in coefficients.items() if _is_shift(k, c))
            if count > 1:
                rank = (count, False, f"{c:030}")
                if best is None or rank > best[0]:
                    best = (rank, ((), c))
        return best[1] if best else None

    def _collected(self, terms: Terms) -> list[Part]:
        """(sign, node, place) of the summands: each product of indices has one coefficient, which
        depends on sizes only, and those with the same one stand together."""
        is_size = self.lowering.is_size
        factors: dict[Monomial, Terms] = {}
        for mono, c in terms.items():
            sizes = tuple(a for a in mono if is_size(a))
            rest = tuple(a for a in mono if not is_size(a))
            factors.setdefault(rest, {})[sizes] = c
        if len(factors) == len(terms) or (() in factors and len(factors) == 1):
            if all(len(f) == 1 for f in factors.values()) and len(factors) <= 1:
                return self._parts(terms)
        same: dict[Any, list[tuple[Monomial, int]]] = {}
        for rest, factor in factors.items():
            leading = min(factor, key=lambda m: self._place(m, factor[m]))
            sign = 1 if factor[leading] > 0 else -1
            key = tuple(sorted(((m, c * sign) for m, c in factor.items()), key=_term_key))
            same.setdefault(key, []).append((rest, sign))
        parts = []
        for key, members in same.items():
            factor = dict(key)
            place = min(self._place((*r, *m), c) for r, _ in members for m, c in factor.items())
            if len(members) == 1 and not members[0][0]:  # what depends on sizes only
                sign = members[0][1]
                if self.lowering.signed or self.lowering.nonnegative(Expr(factor)):
                    parts.append((sign, self._plain_sum(factor), place))
                else:
                    parts += [(s * sign, n, p) for s, n, p in self._parts(factor)]
                continue
            sign = (
                members[0][1] if len(members) == 1 else -1 if all(s < 0 for _, s in members) else 1
            )
            inner = self._plain_sum({r: s * sign for r, s in members})
            if list(factor.items()) == [((), 1)]:
                node = inner
            else:
                node = self.graph.op("mul", self._plain_sum(factor), inner)
            parts.append((sign, node, place))
        return parts

    def _plain_sum(self, terms: Terms) -> Node:
        """A sum whose common factors are taken out in the ordinary way."""
        return self._added(self._parts(terms))

    def _place(self, mono: Monomial, c: int) -> tuple:
        """Where a term stands in a sum: large strides first, constants last."""
        lowering = self.lowering
        sizes = sum(map(lowering.is_size_symbol, mono)) if lowering.sizes else 0
        return (not mono, -sizes, -abs(c), [a.key for a in mono])

    def _part(self, mono: Monomial, c: int) -> Part:
        return 1 if c > 0 else -1, self._term(mono, abs(c)), self._place(mono, c)

    def _term(self, mono: Monomial, c: int) -> Node:
        """The node of one term, c > 0."""
        node = self._in_place(mono, c) if self.style.fuse else None
        return self._product(mono, c) if node is None else node

    def _product(self, mono: Monomial, c: int) -> Node:
        if len(mono) == 1 and c == 1:
            return self.atom(mono[0])
        node = self.graph.const(c)
        if not mono:
            return node
        if len(mono) == 1:
            return self.graph.op("mul", node, self.atom(mono[0]))
        is_size = self.lowering.is_size_symbol
        order = sorted(mono, key=lambda a: (not is_size(a), a.key))
        for atom, same in groupby(order):
            count = len([*same])
            for power in self._powers(self.atom(atom), count):
                node = self.graph.op("mul", node, power)
        return node

    def _powers(self, node: Node, count: int) -> list[Node]:
        """Factors whose product is node**count: itself so often, or squares of squares."""
        if count < 4:
            return [node] * count
        while not count & 1:
            node, count = self.graph.op("mul", node, node), count >> 1
        result = node
        while count := count >> 1:
            node = self.graph.op("mul", node, node)
            if count & 1:
                result = self.graph.op("mul", result, node)
        return [result]

    # -- atoms --------------------------------------------------------------------------------

    def atom(self, atom: Atom) -> Node:
        """The node of an atom."""
        known = self._memo.get(atom)
        if known is None:
            self.built += 1
            known = self._memo[atom] = self._atom(atom)
        return known

    def _atom(self, atom: Atom) -> Node:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            known, nonnegative = self.graph.parameter(args[0]), self.lowering.nonnegative
            return known or self.graph.var(args[0], nonnegative(Expr.atom(atom)))
        if kind == "digit":
            return self._digit(atom)
        if kind == "node":
            return self.graph.nodes[args[0]]
        if kind == "opaque":
            node = self.expr(args[0])
            return self._from(Expr.atom(atom), "within", node) if args[3] else node
        graph, source = self.graph, Expr.atom(atom)
        if kind in ("floordiv", "floormod"):
            a, b = map(self.expr, args)
            nonnegative, positive = self._nonnegative(a, args[0]), self._positive(b, args[1])
            op = OPS[kind].nonnegative_form if nonnegative and positive else kind
            made = self._from(source, op, a, b)
            if not positive and not self.lowering.negative(args[1]):
                self.graph.may_trap[made] = False
            return made
        if kind == "select":
            return self._from(source, kind, self.condition(args[0]), *map(self.expr, args[1:]))
        if kind == "bool":
            return self._from(source, "int", self.condition(args[0]))
        if kind == "lookup":
            last = None if args[0].is_open else Expr.of(args[0].size) - 1
            end = graph.last[args[0]] = None if last is None else self.expr(last)
            place = self.lowering.place(self.expr(args[1]), args[1], last, end)
            if args[0].below is not None and args[0].most is None:  # a promise, for the result, too
                source = opaque(source, Expr.of(0), Expr.of(args[0].below) - 1)
            operands = place, *map(self.expr, args[2:])
            return self._from(source, "lookup", graph.table(args[0]), *operands)
        if kind in ("loop", "switch"):
            return self.lowering.compound(self, atom)
        nodes = [self.expr(a) for a in args]
        if kind == "isqrt" and not self.lowering.nonnegative(args[0]):
            # a branch that is not taken is evaluated too, and must not meet a negative number
            zero = Expr.atom(Atom("max", args[0], Expr.of(0)))
            nodes = [self._from(zero, "max", nodes[0], graph.const(0))]
        if kind in ("shl", "shr"):
            _, hi = self.lowering.analyzer.interval(self.lowering.forward(args[1]))
            if not self.lowering.nonnegative(args[1]) or hi is None or hi >= 64:
                raise TraceError(
                    f"{source!r}: the shift distance is not known to lie in 0..63; say so with "
                    f"assume=['0 <= {args[1]!r} < 32'], in a loop with invariant="
                )
        return self._from(source, kind, *nodes)

    def _from(self, source: Expr, op: str, *args: Node) -> Node:
        """An operation that stands for an atom."""
        if op == "within":
            node = self.graph.within(args[0], source)
        else:
            node = self.graph.op(op, *args)
        if node.args:
            self.lowering.sources.setdefault(node, source)
        return node

    def _digit(self, atom: Atom) -> Node:
        """The node of a digit; of one that no style spells in another way, the one that it has."""
        if atom in self.style.rests:
            return self._spelled(atom)
        known = self._leaves.get(atom)
        if known is not None:
            self.expr(atom.args[0])  # what it is made of is built, too
        else:
            known = self._spelled(atom)
            if _is_leaf(*atom.args):
                self._leaves[atom] = known
        return known

    def _spelled(self, atom: Atom) -> Node:
        base, lo, hi = atom.args
        if hi is None:
            return self._quotient(base, lo)
        if lo.constant == 1:
            return self.divided(self.expr(base), base, hi, "mod")
        ratio = self.lowering.ratio(hi, lo)
        if ratio is None:  # the sizes' own symbols do not show that lo divides hi
            low = self.divided(self.expr(base), base, hi, "mod")
            return self.divided(low, Expr.atom(Atom("digit", base, Expr.of(1), hi)), lo, "div")
        if atom in self.style.rests:
            low = Expr.atom(Atom("digit", base, Expr.of(1), hi))
            return self.divided(self.divided(self.expr(base), base, hi, "mod"), low, lo, "div")
        high = self._quotient(base, lo)
        return self.divided(high, Expr.atom(Atom("digit", base, lo, None)), ratio, "mod")

    def _quotient(self, base: Expr, by: Expr) -> Node:
        """base // by, from a smaller quotient of the same base where there is one and sizes would
        have to be multiplied else."""
        if by.constant is None and not self.style.products:
            best = None
            for smaller in self._borders.get(base.identity, ()):
                if best is None or len(_only(smaller)) > len(_only(best[0])):
                    ratio = self.lowering.ratio(by, smaller)
                    if ratio is not None and ratio.constant != 1:
                        best = smaller, ratio
            if best is not None:
                value = Expr.atom(Atom("digit", base, best[0], None))
                return self.divided(self.atom(_only_atom(value)), value, best[1], "div")
        return self.divided(self.expr(base), base, by, "div")

    def divided(self, node: Node, value: Expr, by: Expr, op: str) -> Node:
        """The node of value div or mod by a number or a size; node computes value."""
        size = by.constant
        bits = self.lowering.bit_operations and not self.style.plain
        if bits and size is not None and size & (size - 1) == 0:
            if op == "div":
                return self.graph.op("shr", node, self.graph.const(size.bit_length() - 1))
            return self.graph.op("and", node, self.graph.const(size - 1))
        divisor = self.expr(by)
        nonnegative, positive = self._nonnegative(node, value), self._positive(divisor, by)
        op = op if nonnegative and positive else OPS[op].floored
        made = self.graph.op(op, node, divisor)
        if not positive:  # it was, in the branch where the digit was made
            self.graph.may_trap.setdefault(made, True)
        return made

    def _nonnegative(self, node: Node, value: Expr) -> bool:
        """Whether a node's value is proven to be >= 0; the graph remembers it, for its range."""
        if node not in self.graph.nonnegative and self.lowering.nonnegative(value):
            self.graph.nonnegative.add(node)
        return node in self.graph.nonnegative

    def _positive(self, node: Node, value: Expr) -> bool:
        """Whether a node's value is proven to be >= 1."""
        if node not in self.graph.positive and self.lowering.positive(value):
            self.graph.positive.add(node)
        return node in self.graph.positive

    def _in_place(self, mono: Monomial, c: int) -> Node | None:
        """c * ((x mod hi) // lo), all powers of two: masked where it stands, shifted once."""
        if len(mono) != 1 or mono[0].kind != "digit" or c & (c - 1):
            return None
        base, lo, hi = mono[0].args
        low, high = lo.constant, None if hi is None else hi.constant
        if not low or low & (low - 1) or (hi is not None and (not high or high & (high - 1))):
            return None
        if low == 1 or c == 1:
            return None
        graph, node = self.graph, self.expr(base)
        shift = c.bit_length() - low.bit_length()
        mask = -1 if high is None else high - low
        if mask == -1:
            if not self.lowering.nonnegative(base):
                return None
            top = self.lowering.analyzer.interval(self.lowering.forward(base))[1]
            if top is None:
                return None
            mask = (1 << top.bit_length()) - low
        if shift < 0:
            moved = graph.op("shr", node, graph.const(-shift))
            return graph.op("and", moved, graph.const(mask >> -shift))
        kept = graph.op("and", node, graph.const(mask))
        return graph.op("mul", graph.const(1 << shift), kept)

    # -- conditions ---------------------------------------------------------------------------

    def condition(self, condition: Cond) -> Node:
        """The node of a condition."""
        op, args = condition.op, condition.args
        graph = self.graph
        if op in LOGIC:
            return graph.op(LOGIC[op], *map(self.condition, args))
        gap = self._flat(args[1] - args[0])  # what the style makes of a digit may cancel
        positive = Expr({m: c for m, c in gap.items() if m and c > 0})
        negative = Expr({m: -c for m, c in gap.items() if m and c < 0})
        k = gap.get((), 0)
        if op == "lt":
            op, k = "le", k - 1
        if op in ("eq", "ne"):
            left, right = (
                (positive + k, negative)
                if k > 0 or not negative.terms
                else (positive, negative - k)
            )
            if not positive.terms:
                left, right = negative, Expr.of(k)
            elif not negative.terms:
                left, right = positive, Expr.of(-k)
            return graph.op(op, self.expr(left), self.expr(right))
        # negative <= positive + k
        if not positive.terms:
            return graph.op("le", self.expr(negative), graph.const(k))
        if not negative.terms:
            return graph.op("ge", self.expr(positive), graph.const(-k))
        if k == -1:
            return graph.op("lt", self.expr(negative), self.expr(positive))
        if k < 0:
            return graph.op("le", self.expr(negative - k), self.expr(positive))
        return graph.op("le", self.expr(negative), self.expr(positive + k))


def placed(lowering: Lowering, node: Node) -> Expr:
    """A node as a summand of an expression."""
    return Expr.atom(Atom("node", lowering.graph.places[node]))


_place_of = itemgetter(2)  # of a part


def _is_leaf(base: Expr, lo: Expr, hi: Expr | None) -> bool:
    """Whether a digit by numbers is one of a symbol, or of a sum in which no style of digits matters,
    nor what was added before."""
    if lo.constant is None or (hi is not None and hi.constant is None) or len(base.terms) > 2:
        return False
    return all(not mono or (len(mono) == 1 and mono[0].kind == "sym") for mono in base.terms)


def _has_nodes(e: Expr) -> bool:
    """Whether a summand is a node already, which has no value of its own."""
    return any(atom.kind == "node" for mono in e.terms for atom in mono)


def _only(e: Expr) -> Monomial:
    return next(iter(e.terms))


def _only_atom(e: Expr) -> Atom:
    return next(iter(e.terms))[0]


def _term_key(term: tuple[Monomial, int]) -> tuple:
    return [a.key for a in term[0]], term[1]


def _multiplied(a: Terms, b: Terms) -> Terms:
    product: Terms = {}
    for m, c in a.items():
        for n, k in b.items():
            key = times(m, n)
            product[key] = product.get(key, 0) + c * k
    return product


def _is_shift(a: int, b: int) -> bool:
    """Whether a is b times a power of two."""
    ratio, rest = divmod(a, b)
    return not rest and ratio & (ratio - 1) == 0


def _divide(
    mono: Monomial, c: int, factor: tuple[Monomial, int], nested: bool
) -> tuple[Monomial, int] | None:
    atoms, coefficient = factor
    if atoms:
        (atom,) = atoms
        if atom not in mono:
            return None
        k = mono.index(atom)
        return mono[:k] + mono[k + 1 :], c
    if not mono or (abs(c) != coefficient and not (nested and _is_shift(abs(c), coefficient))):
        return None
    return mono, c // coefficient


def _carried(terms: Terms) -> Terms:
    """The terms, a positive constant put into the quotient of a sum that has one already."""
    constant = terms.get((), 0)
    for mono, c in terms.items():
        if constant <= 0 or c <= 0 or constant % c or len(mono) != 1 or mono[0].kind != "digit":
            continue
        base, lo, hi = mono[0].args
        if hi is None and lo.constant and () in base.terms:
            carried = Atom("digit", base + constant // c * lo, lo, None)
            rest = {m: k for m, k in terms.items() if m not in ((), mono)}
            rest[carried,] = rest.get((carried,), 0) + c
            return {m: k for m, k in rest.items() if k}
    return terms
