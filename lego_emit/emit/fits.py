"""NAME_fits: the preconditions on sizes as one condition that a caller's sizes are put into; and what
debug builds assert of all parameters.

The header says M*N + 3*M <= 2**63 - 1 in numbers without end. Computed in the machine's, the product may
overflow; the condition is emitted as M <= (2**63 - 1)/3 and M <= (2**63 - 1 - 3*M)/N, which is the same and
cannot: each part divides, or computes what the parts before it show to fit. Where several factors of a product
may be 0, one of them is, or it divides. What provably fits is computed as the header says it. Where a sum cannot
be taken apart so (M*N - K), what is added must fit, too, and the summary is SURELY.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial, reduce
from math import inf
from typing import TypeAlias

from ..errors import TargetError
from ..intervals import Interval, both
from ..ir.index_types import IndexType
from ..ir.nodes import Node, const
from ..ir.program import Function, Param
from ..ir.relations import all_of, between, conjuncts, in_one_form, names_in, says
from ..operations import FARTHEST, OPS, interval
from . import registry
from .printer import Printer

Mono: TypeAlias = tuple[Node, ...]  # a product of names and of what is computed as it stands
Poly: TypeAlias = dict[Mono, int]
MOST_FACTORS = 8  # of a product
TRUE = const(1)
EXACTLY = "Whether all preconditions on the sizes hold."
SURELY = "True only where all preconditions on the sizes hold and the sums that they have fit."


class _Unsaid(Exception):
    """A condition that has no form here."""


def stem(functions: Sequence[Function]) -> str:
    """What a subject's functions are named after: a layout, of its apply and inv, fields of words, or the
    function."""
    first = functions[0]
    if first.packing is not None:
        return first.packing.name
    return first.name.removesuffix("_apply") if any(p.axis for p in first.params) else first.name


def fits(
    functions: Sequence[Function], kind: IndexType, held: bool, lazy: bool = True
) -> Function | None:
    """The function that gives whether sizes satisfy all that is assumed of them alone, in the order of
    the functions' parameters; None where nothing but a least size of 1 is, or where that cannot be told.
    kind: what it computes in; held: whether its arguments are numbers of that type, or any; lazy: whether
    `or` leaves out what need not be computed."""
    functions = [f.walk.beside(f) if f.walk else f for f in functions]
    if any(f.unseen or f.nonzero for f in functions):
        return None
    params: dict[str, Param] = {}
    conditions: dict[Node, Node] = {}
    for f in functions:
        params |= {p.name: p for p in f.params if p.size and p.name not in params}
    plain = {Node("le", (const(1), Node("var", (), name))) for name in params}
    for of_range in (True, False):
        for f in functions:
            ranges = [c for p in f.params if p.size for c in p.range.conditions(p.name)]
            ranges.sort(key=lambda c: len({*names_in(c)}))  # the others rest on those of one name
            for c in ranges if of_range else f.assumed:
                if params.keys() >= set(names_in(c)):
                    conditions.setdefault(in_one_form(c), c)
    if conditions.keys() <= plain:
        return None
    end = kind.most if held and kind.most < inf else None
    least_of_all = 0 if held and kind.least == 0 else None  # no comparison that is always true
    tests = _Tests(kind, {n: (least_of_all, end) for n in params}, lazy)
    try:
        for c in conditions.values():
            tests.add(c)
        least, most = (
            choose(end[k] for end in (f.index_type.ends for f in functions))
            for k, choose in ((0, max), (1, min))
        )
        for size in params:
            tests.within(size, least, most)
    except _Unsaid:
        return None
    if not tests.found:
        return None
    own = tuple(
        Param(p.name, size=True, static=p.static, default=p.default, apart=p.static and p.apart)
        for p in params.values()
    )
    outputs = (("fits", all_of(tests.found)),)
    name, summary = f"{stem(functions)}_fits", EXACTLY if tests.exact else SURELY
    return Function(name, own, (), outputs, kind, summary=summary, is_condition=True)


def checked(functions: Iterable[Function], printer: Printer) -> list[Function]:
    """The functions with what they assert. Raises TargetError where the language has no assertions."""
    if not printer.has_checks:
        known = [n for n, other in registry.working().items() if other.has_checks]
        raise TargetError(
            f"{printer.title} has no assertions for checks=True; {', '.join(known)} have. Check what the "
            "kernel is given on the host"
        )
    lazy = printer.lazy_logic and printer.lazy_select
    return [replace(f, asserted=checks(f, printer.holds_sizes, lazy)) for f in functions]


def checks(f: Function, held: bool, lazy: bool) -> tuple[Node, ...]:
    """What a function's header says of its parameters, sizes first, as conditions of which each computes
    nothing that overflows where those before it hold. What cannot be told so, or not exactly, is left
    out. held, lazy: as fits() has them; where not lazy, what needs a condition is not in one with it."""
    kind, (least, most) = f.index_type, f.index_type.ends
    any_number = f.wrapping and not held  # of which the function takes those of a word alone
    lo = None if any_number or least < 0 else 0
    end = kind.most if held and kind.most < inf else None
    tests = _Tests(kind, {p.name: (lo, end) for p in f.params}, lazy)
    sizes, names = [p for p in f.params if p.size], {p.name for p in f.params}

    def of(p: Param) -> list[Node]:  # what is prepared for a launch is no parameter
        word = between(0, int(most) + 1).conditions(p.name) if any_number else []
        return [c for c in (*p.range.conditions(p.name), *word) if names >= {*names_in(c)}]

    of_sizes = [c for c in f.assumed if {*names_in(c)} <= {p.name for p in sizes}]
    groups: list[list[Callable[[], None]]] = [
        [partial(tests.add, c) for p in sizes for c in of(p)]
        + [partial(tests.add, c) for c in of_sizes]
        + [partial(tests.within, p.name, least, most) for p in sizes]
    ]
    for p in f.alone:
        if not p.size:
            groups.append([partial(tests.add, c) for c in of(p)])
    others = (c for c in f.assumed if c not in of_sizes and names >= {*names_in(c)})
    groups += [[partial(tests.add, c)] for c in others]
    late: list[Callable[[], None]] = []  # what may need what comes later
    found: list[Node] = []
    for group in (*groups, late):
        tests.found = []
        for test in [*group]:
            if not tests.tried(test) and group is not late:
                late.append(test)
        joined = [c for c in tests.found if lazy or all(map(_needs_nothing, c.args))]
        found += [all_of(joined)] if joined else []
        found += [c for c in tests.found if c not in joined]
    return tuple(found)


def _needs_nothing(node: Node) -> bool:
    """Whether a value can be computed for all arguments: a name, or its quotient by a number."""
    if node.op in ("div", "mod", "floordiv", "floormod"):
        return not node.args[0].args and node.args[1].op == "const" and node.args[1].value > 0
    return not node.args


def _is_0(node: Node) -> Node:
    """That what is not negative is 0: n == 1 of n - 1."""
    number = node.op == "sub" and node.args[1].op == "const"
    return Node("eq", node.args if number else (node, const(0)))


@lru_cache(maxsize=1024)  # a comparison sorts the factors of every product
def _key(node: Node) -> tuple[bool, str]:
    return node.op != "var", says(node)


def _sum(*parts: tuple[Poly, int]) -> Poly:
    """The sum of polynomials, each times a number."""
    found = Counter[Mono]()
    for p, times in parts:
        for mono, c in p.items():
            found[mono] += c * times
    return {mono: c for mono, c in found.items() if c}


def _product(p: Poly, q: Poly) -> Poly:
    found = Counter[Mono]()
    for a, c in p.items():
        for b, d in q.items():
            if len(a) + len(b) > MOST_FACTORS:
                raise _Unsaid
            found[tuple(sorted(a + b, key=_key)) if a and b else a + b] += c * d
    return {mono: c for mono, c in found.items() if c}


def _root(n: int, power: int) -> int:
    """The greatest integer of which this power is at most n."""
    found, step = 0, 1 << max(n.bit_length(), 1) // power + 1
    while step:
        if (found + step) ** power <= n:
            found += step
        step >>= 1
    return found


def _signed(p: Poly) -> tuple[Poly, Poly]:
    """What is added and what is taken off, without the constant."""
    added = {m: c for m, c in p.items() if c > 0 and m}
    return added, {m: -c for m, c in p.items() if c < 0 and m}


@dataclass
class _Tests:
    """Conditions, each of which computes nothing that does not fit where those before it hold.

    ends: what each name is known to lie in by them; lazy: whether of an `or` no more is computed than is
    needed; known: polynomials that are at most 0; divides: divisions that leave no remainder."""

    kind: IndexType
    ends: dict[str, Interval]
    lazy: bool = True
    found: list[Node] = field(default_factory=list)
    known: list[Poly] = field(default_factory=list)
    divides: list[tuple[Node, ...]] = field(default_factory=list)
    exact: bool = True  # whether they hold wherever the conditions do

    def tried(self, test: Callable[[], None]) -> bool:
        """Whether a test could be added that is exact; else all is as it was."""
        before = dict(self.ends), [*self.found], [*self.known], [*self.divides]
        try:
            test()
        except _Unsaid:
            self.exact = False
        if not self.exact:
            self.ends, self.found, self.known, self.divides = before
        told, self.exact = self.exact, True
        return told

    # -- conditions ------------------------------------------------------------------------------

    def add(self, condition: Node) -> None:
        """Test a condition too."""
        op = condition.op
        if op == "land":
            for part in conjuncts(condition):
                self.add(part)
        elif op == "lor":
            ways = [self._apart(arg) for arg in condition.args]
            if TRUE not in ways:
                self.found.append(Node("lor", tuple(ways)))
        elif op == "lnot" and (opposite := OPS[condition.args[0].op].opposite):
            self.add(Node(opposite, condition.args[0].args))
        elif op in ("lt", "le", "gt", "ge"):
            self._compare(condition)
        elif op in ("eq", "ne"):
            a, b = (self._value(self._poly(arg)) for arg in condition.args)
            self.found.append(Node(op, (a, b)))
            if op == "eq" and a.op in ("mod", "floormod") and b.value == 0:
                self.divides.append(a.args)
        else:
            raise _Unsaid

    def within(self, name: str, least: float, most: float) -> None:
        """Test that a size is a number of a function's index type."""
        size = self._name(name)
        if most < inf:
            self._at_most({(size,): 1}, int(most), 0)
        if least > -inf and (size.lo is None or size.lo < least) and self.kind.least < least:
            self.add(Node("ge", (size, const(int(least)))))

    def _beside(self) -> _Tests:
        """Other tests, where these hold."""
        known, divides = [*self.known], [*self.divides]
        return _Tests(self.kind, dict(self.ends), self.lazy, [], known, divides)

    def _apart(self, condition: Node) -> Node:
        """One of several conditions of which one holds; TRUE where it always does."""
        own = self._beside()
        own.add(condition)
        self.exact &= own.exact
        if len(own.found) > 1 and not self.lazy:
            raise _Unsaid
        return all_of(own.found) if own.found else TRUE

    def _compare(self, condition: Node) -> None:
        op, (a, b) = condition.op, condition.args
        p, q = self._poly(a), self._poly(b)
        small, large = (p, q) if op in ("lt", "le") else (q, p)
        strict = int(op in ("lt", "gt"))
        least = _sum((small, 1), (large, -1), ({(): 1}, strict))
        if self._follows(least):
            return
        shown = self._exact(p), self._exact(q)
        if shown[0] is not None and shown[1] is not None:
            if a.op == "const":
                op, shown = OPS[op].flipped, shown[::-1]
            self.found.append(Node(op, shown))  # pyright: ignore[reportArgumentType]
        elif self._all_added(least) is not None or large == {(): self.kind.most}:
            limit = large.get((), 0) - strict if not large.keys() - {()} else 0
            self._at_most(least, limit, least.get((), 0) + limit)
        else:
            self._between(least)
        self._learn(least)

    def _between(self, least: Poly) -> None:
        """Test that a sum of what is added and taken off is at most 0."""
        added, taken = _signed(least)
        more = least.get((), 0)
        whole = self._exact(_sum((added, 1), (taken, -1)))
        if whole is not None and self._is_within((-more, -more)):
            self.found.append(Node("le", (whole, const(-more))))
            return
        rest = self._at_least_0(_sum((taken, 1), ({(): -more}, 1)), added)
        if rest is not None:
            self._under(added, rest)
            return
        rest = self._at_least_0(_sum((added, 1), ({(): more - 1}, 1)), taken)
        if rest is not None:  # what is taken off is not below what it is to be above
            own = self._beside()
            own._under(taken, rest)
            self.exact &= own.exact
            if len(own.found) != 1 and not (own.found and self.lazy):
                raise _Unsaid  # it never is, or is by parts that cannot be told one by one
            below = all_of(own.found)
            opposite = OPS[below.op].opposite
            self.found.append(Node(opposite, below.args) if opposite else Node("lnot", (below,)))
            return
        sides = (added, max(more, 0)), (taken, max(-more, 0))
        values = tuple(self._value(_sum((side, 1), ({(): over}, 1))) for side, over in sides)
        self.found.append(Node("le", values))

    def _at_least_0(self, p: Poly, other: Poly) -> Node | None:
        """What a polynomial is, and 0 where it is negative: nothing that is positive, as the other one
        is, is at most that either. None where it may not fit, or the other one be 0."""
        made, lo = self._exact(p), self._span(other)[0]
        if made is not None and self._is_never_negative(p):
            return made
        if lo is None or lo < 1:
            return None
        if made is not None:
            return self._clipped("max", made, const(0))
        less = -p.get((), 0)  # an unsigned number is not below 0 on the way
        made = self._exact(_sum((p, 1), ({(): less}, 1))) if less > 0 else None
        if made is None or not self._is_within((less, less)):
            return None
        return self._clipped("sub", self._clipped("max", made, const(less)), const(less))

    def _learn(self, p: Poly) -> None:
        """That p is at most 0 from here on."""
        self.known.append(p)
        rest = {mono: c for mono, c in p.items() if mono}
        for mono, c in rest.items():  # what is above others is above the least of these
            if (
                len(mono) == 1
                and mono[0].op == "var"
                and c < 0
                and self.ends[mono[0].value][0] is None
            ):
                least = self._span({m: d for m, d in p.items() if m != mono})[0]
                end = None if least is None else -(least // c)
                self.ends[mono[0].value] = both(self.ends[mono[0].value], (end, None))
        if len(rest) == 1:
            ((mono, c),) = rest.items()
            bound = p.get((), 0)
            if len(mono) == 1 and mono[0].op == "var":
                end = (None, -bound // c) if c > 0 else (-(bound // c), None)
                self.ends[mono[0].value] = both(self.ends[mono[0].value], end)
            elif c > 0 and all(map(self._is_positive, mono)):
                for factor, power in Counter(mono).items():
                    if factor.op == "var":
                        end = _root(-bound // c, power)
                        self.ends[factor.value] = both(self.ends[factor.value], (None, end))
        for lo, hi in self.ends.values():
            if lo is not None and hi is not None and lo > hi:
                raise _Unsaid  # no sizes satisfy what is assumed

    def _follows(self, p: Poly) -> bool:
        """Whether p <= 0 is known."""
        hi = self._span(p)[1]
        if hi is not None and hi <= 0:
            return True
        return any(self._is_never_negative(_sum((q, 1), (p, -1))) for q in self.known)

    def _is_never_negative(self, p: Poly) -> bool:
        """Whether that shows when each factor is its least value and what is above that."""
        for mono, c in p.items():  # what no other makes up for
            if c < 0 and not any(len(o) > len(mono) and not Counter(mono) - Counter(o) for o in p):
                return False
        least: Poly = {(): 0}
        for mono, c in p.items():
            part: Poly = {(): c}
            for factor in mono:
                lo = self._ends(factor)[0]
                if lo is None:
                    return False
                part = _product(part, {(factor,): 1, (): lo} if lo else {(factor,): 1})
            least = _sum((least, 1), (part, 1))
        return all(c >= 0 for c in least.values())

    # -- sums at most a number -------------------------------------------------------------------

    def _at_most(self, p: Poly, limit: int, more: int, exact: bool = True) -> None:
        """Test that p without its constant, and more, is at most the limit. exact: as _under has it."""
        p = {mono: c for mono, c in p.items() if mono}
        whole = _sum((p, 1), ({(): more - limit}, 1))
        if self._follows(whole):
            return
        limit = int(min(limit - min(more, 0), self.kind.most))
        added = self._all_added(p, limit - max(more, 0))
        if added is None:  # what is added must fit
            added, self.exact, exact = _signed(p)[0], False, False
        if limit < max(more, 0):
            raise _Unsaid
        rest = const(limit)
        rest = self._clipped("sub", rest, const(more)) if more > 0 else rest
        self._under(added, rest, exact)
        self._learn(whole)

    def _must_fit(self, p: Poly, more: int) -> None:
        """Test that what is computed on the way fits, of which the condition itself says nothing."""
        before = len(self.found)
        self._at_most(p, int(self.kind.most), more, exact=False)
        self.exact &= len(self.found) == before

    def _under(self, added: Poly, rest: Node, exact: bool = True) -> None:
        """Test that a sum is at most a value, which is not negative. exact: whether that is a condition
        itself; else none of several factors may be 0, for which no condition is better."""
        terms = sorted(added.items(), key=lambda term: len(term[0]))
        for k, (mono, c) in enumerate(terms):
            first, *others = map(self._again, sorted(mono, key=self._is_positive))
            maybe_0 = [x for x in others if not self._is_positive(x)]
            least = [self._ends(x)[0] for x in maybe_0]
            if c > self.kind.most or not {*least} <= {0} or (least and not exact):
                raise _Unsaid
            # Of three factors that may be 0 the product of two may not fit where the third one is.
            strict = len({*maybe_0} - {first}) > 1 and k < len(terms) - 1
            self.exact &= not strict
            bound = rest if c == 1 else self._clipped("div", rest, const(c))
            for by in others:
                if by in maybe_0:  # which is asked before
                    hi = self._ends(by)[1]
                    lazy = Node(by.op, by.args, by.value, 1, hi)
                    if not self.lazy or strict:
                        lazy = self._clipped("max", by, const(1))
                    by = lazy
                bound = self._clipped("div", bound, by)
            (lo, hi), least = self._ends(first), bound.lo
            if lo is None or lo < 0:
                raise _Unsaid
            if hi is None or least is None or hi > least:
                fits = Node("le", (first, bound))
                zeros = map(_is_0, () if strict else dict.fromkeys(maybe_0))
                self.found.append(reduce(lambda a, b: Node("lor", (a, b)), [*zeros, fits]))
            if rest.hi is not None:
                self._learn(_sum(({mono: c}, 1), ({(): -rest.hi}, 1)))
            if k < len(terms) - 1:
                term = self._scaled(mono, c, rest.hi)
                rest = self._clipped("sub", rest, term)
                rest.lo = max(rest.lo or 0, 0)

    def _all_added(self, p: Poly, limit: int | None = None) -> Poly | None:
        """The same sum without what is taken off: b*c - c as (b - 1)*c; None where there is no such.
        limit: what it is compared with; the sum may be larger then where both are at most that."""
        added, taken = _signed(p)
        whole = dict(added)
        for mono, c in taken.items():
            for other, d in added.items():
                inner = Counter(other) - Counter(mono)
                if Counter(mono) - Counter(other) or not inner:
                    continue
                own = sorted(inner.elements(), key=_key)
                left = _sum(({tuple(own): d}, 1), ({(): -c}, 1))
                if self._is_never_negative(left):
                    factor = self._value(left)
                elif limit is None or not self._is_at_most(whole, limit, left):
                    continue
                else:  # 0 where it is negative
                    raised = self._clipped("max", self._scaled(tuple(own), d), const(c))
                    factor = self._clipped("sub", raised, const(c))
                del added[other]
                product = tuple(sorted((*mono, factor), key=_key))
                added[product] = added.get(product, 0) + 1
                break
            else:
                return None
        return added

    def _is_at_most(self, p: Poly, limit: int, left: Poly) -> bool:
        """Whether a sum of what is added is at most a limit wherever n - k is negative."""
        (mono, c), *others = [(mono, c) for mono, c in left.items() if mono]
        if others or c != 1 or len(mono) != 1 or mono[0].op != "var":
            return False
        there, name = self._beside(), str(mono[0].value)
        there.ends[name] = both(there.ends[name], (None, -left.get((), 0)))
        hi = there._span(p)[1]
        return hi is not None and hi <= limit

    # -- values ----------------------------------------------------------------------------------

    def _poly(self, node: Node) -> Poly:
        """A header's value over the names, and over what is computed as it stands."""
        op, args = node.op, node.args
        if op == "const":
            return {(): node.value} if node.value else {}
        if op == "var":
            return {(self._name(str(node.value)),): 1}
        if op in ("shl", "shr") and args[1].op == "const" and 0 <= args[1].value <= FARTHEST:
            by = const(1 << args[1].value)
            return self._poly(Node("mul" if op == "shl" else "floordiv", (args[0], by)))
        if op == "shl" and args[0] != const(1):
            return _product(self._poly(args[0]), self._poly(Node("shl", (const(1), args[1]))))
        if op in ("add", "sub"):
            return _sum((self._poly(args[0]), 1), (self._poly(args[1]), 1 if op == "add" else -1))
        if op == "neg":
            return _sum((self._poly(args[0]), -1))
        if op == "mul":
            return _product(self._poly(args[0]), self._poly(args[1]))
        if op == "pow" and args[0] == const(2):
            return self._poly(Node("shl", (const(1), args[1])))
        if op == "pow" and args[1].op == "const":
            if args[0].op == "const":
                return {(): args[0].value ** args[1].value}
            if args[1].value > MOST_FACTORS:
                raise _Unsaid
            return reduce(_product, [self._poly(args[0])] * args[1].value, {(): 1})
        if op not in OPS or OPS[op].takes.strip("i"):
            raise _Unsaid
        if op == "floordiv" and args[1].op == "const" and args[1].value > 0:
            turned = self._rounded_up(self._poly(args[0]), args[1].value)
            if turned is not None:
                return turned
        made = self._made(op, *(self._value(self._poly(arg)) for arg in args))
        return {(made,): 1} if made.op != "const" else {(): made.value}

    def _rounded_up(self, p: Poly, by: int) -> Poly | None:
        """-x // by, where x is not negative, as -((x + by - 1) // by)."""
        lo, hi = self._span(p)
        if lo is not None or hi is None or hi > by - 1:
            return None
        above = self._value(_sum((p, -1), ({(): by - 1}, 1)))
        return {(self._made("floordiv", above, const(by)),): -1}

    def _made(self, op: str, *args: Node) -> Node:
        """An operation whose operands fit; a division as truncating where that is the same."""
        form = OPS[op].nonnegative_form
        for arg in args:
            if not form and not self._is_within((0, self._ends(arg)[1])):
                self._must_fit({(arg,): 1}, 0)
        if form:
            self._not_zero(args[1])
        signs = [self._ends(a)[0] for a in args]
        if form and signs[0] is not None and signs[0] >= 0 and (signs[1] or 0) > 0:
            op = form
        if OPS[op].defined and not form and not self._is_within_reach(op, *map(self._ends, args)):
            raise _Unsaid  # a shift by too much, a root of less than 0
        made = self._clipped(op, *args)
        if op in ("div", "floordiv") and (signs[0] or 0) > 0 and args in self.divides:
            made.lo = max(made.lo or 0, 1)
        if not self._is_within(interval(op, [self._ends(a) for a in args])) and not form:
            raise _Unsaid
        return made

    def _is_within_reach(self, op: str, *ends: Interval) -> bool:
        """Whether an operation has a value for all operands of these bounds, and is not wider than the type."""
        lo, hi = ends[-1]
        if lo is None or lo < 0:
            return False
        return op not in ("shl", "shr") or (hi is not None and hi < self.kind.width)

    def _not_zero(self, divisor: Node) -> None:
        """Test that a divisor, which is not negative, is not 0."""
        lo = self._ends(divisor)[0]
        if lo is None or lo < 0:
            raise _Unsaid
        if lo == 0:
            self.found.append(Node("ne", (divisor, const(0))))
            if divisor.op == "var":
                self.ends[divisor.value] = both(self.ends[divisor.value], (1, None))
            else:
                divisor.lo = 1

    def _value(self, p: Poly) -> Node:
        """What a polynomial is, after tests that it fits."""
        found = self._exact(p)
        if found is not None:
            return found
        added, taken = _signed(p)
        more = p.get((), 0)
        if not self._is_within((more, more)):
            raise _Unsaid
        natural, whole = self._is_never_negative(p), self._all_added(p) if taken else None
        if whole is not None:
            added, taken = {mono: c for mono, c in p.items() if mono}, {}
            p = whole | ({(): more} if more else {})
        for part, over in ((added, max(more, 0)), (taken, max(-more, 0))):
            if part:
                self._must_fit(part, over)
        if self.kind.least == 0 and not natural:
            raise _Unsaid
        made = self._summed(p)
        made.lo = max(made.lo or 0, 0) if natural and made.args else made.lo
        return made

    def _exact(self, p: Poly) -> Node | None:
        """What a polynomial is, None where something on the way may not fit."""
        found = self._summed(p)
        for node in found.walk():
            if node.op == "const" and not self._is_within((node.value, node.value)):
                return None
            if node.op in ("add", "sub", "mul"):
                if not self._is_within(interval(node.op, [self._ends(a) for a in node.args])):
                    return None
        return found

    def _summed(self, p: Poly) -> Node:
        """The operations, what is taken off last."""
        total: Node | None = None
        for mono, c in sorted(p.items(), key=lambda term: (term[1] < 0, -len(term[0]))):
            term = self._scaled(mono, abs(c))
            if total is None:
                total = term if c > 0 else self._clipped("sub", const(0), term)
                if c < 0 and not mono:
                    total = const(c)
            else:
                total = self._clipped("add" if c > 0 else "sub", total, term)
        return total or const(0)

    def _scaled(self, mono: Mono, c: int, most: int | None = None) -> Node:
        """A product; most: what it is at most."""
        factors = [self._again(x) for x in sorted(mono, key=self._is_positive)]
        first = [x for x in dict.fromkeys(factors) if not self._is_positive(x)]  # of 0 all is 0
        rest = [*(Counter(factors) - Counter(first)).elements()]
        scale = [const(c)] if c != 1 or not factors else []
        parts = [*first, *scale, *rest] if len(first) > 1 else [*scale, *first, *rest]
        found = reduce(lambda a, b: self._clipped("mul", a, b), parts)
        if most is not None and found.args:
            found.hi = both((None, found.hi), (None, most))[1]
        return found

    def _clipped(self, op: str, *args: Node) -> Node:
        """An operation that fits, by what is known or by a test."""
        lo, hi = both(interval(op, [self._ends(a) for a in args]), self._finite())
        return Node(op, args, None, lo, hi)

    def _finite(self) -> Interval:
        least, most = self.kind.ends
        return None if least == -inf else least, None if most == inf else most

    def _is_within(self, ends: Interval) -> bool:
        (lo, hi), (least, most) = ends, self._finite()
        return (least is None or (lo is not None and lo >= least)) and (
            most is None or (hi is not None and hi <= most)
        )

    # -- what is known of them -------------------------------------------------------------------

    def _name(self, name: str) -> Node:
        return Node("var", (), name, *self.ends[name])

    def _again(self, factor: Node) -> Node:
        """A name with what is known of it now."""
        return self._name(factor.value) if factor.op == "var" else factor

    def _ends(self, node: Node) -> Interval:
        return self.ends[node.value] if node.op == "var" else (node.lo, node.hi)

    def _is_positive(self, node: Node) -> bool:
        return (self._ends(node)[0] or 0) > 0

    def _span(self, p: Poly) -> Interval:
        """The bounds of a polynomial."""
        total: Interval = (0, 0)
        for mono, c in p.items():
            part: Interval = (c, c)
            for factor in mono:
                part = interval("mul", [part, self._ends(factor)])
            total = interval("add", [total, part])
        return total
