"""Walks: from the position of an index to that of the next one along an axis, without a division.

A walk goes along one axis as long as that has a next index. What the next position is can be said in several
ways, of which the cheapest is taken:

- a stride: with x, 4*x + y grows by 4;
- a choice of strides: where x crosses a tile of 8, x//8*64 + x%8 grows by 57, elsewhere by 1;
- counting in masked bits: where the bits of x stand apart in the position, as in Morton order, (bits - mask) & mask
  is the next number in them;
- the position anew, of which x//6 and x%6 are counters that the walk keeps: x%6 grows by 1, or is 0 again when it
  was 5, and then x//6 grows by 1.

Where an outer axis has its next index, the position is computed from the index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..algebra.block import Block
from ..arith.analyzer import Analyzer
from ..arith.context import plain
from ..arith.expr import Cond, Expr
from ..arith.terms import Atom
from ..errors import LayoutError, short_repr
from ..numeric import is_integer
from .trace import running_trace
from .traced import Outputs

MOST_TILES = 2  # whose borders a choice of strides asks for
DIVISIONS = ("digit", "floordiv", "floormod")
COMPOUND = {"loop": "a loop", "switch": "a choice of layouts"}
Kept = tuple[str, Expr, int | None, int | None]


@dataclass(frozen=True)
class Step:
    """One way from an index to the next along an axis. known: what is known of the next index, before: of any; kept: (name, value at an index,
    its least, its last number) of what a walk keeps beside the positions, None for what is not known; stages: the
    new values of what changes, in the names of indices, positions, and what is kept, one stage after the other, so
    that each reads what those before it set."""

    known: Analyzer
    before: Analyzer
    kept: Sequence[Kept]
    stages: Sequence[Outputs]


def steps_along(
    axis: str, base: int, results: Outputs, known: Analyzer, taken: Collection[str], unsigned: bool
) -> list[Step]:
    """The ways along an axis of a function with these results. base: what its first index is called; known: what is
    known of an index; taken: names that are used; unsigned: whether there are no negative numbers."""
    return [*_Making(axis, results, known, base, {*taken}, unsigned).steps()]


def step(layout: Block, by: Mapping[str, Any]) -> Expr:
    """The next position along an axis, in the names of the index and the position. Raises LayoutError where no step
    without a division is known."""
    from .follow import TraceOptions
    from .subject import traced_subject

    place = f"{short_repr(layout)}.step({', '.join(f'{n}={short_repr(k)}' for n, k in by.items())})"
    traced = traced_subject(layout, None, TraceOptions()).functions[0]
    known, (results, axes) = (
        traced.trace.analyzer,
        (traced.counted(traced.result), traced.trace.axes),
    )
    ((axis, count),) = by.items() if len(by) == 1 else [("", None)]
    if axis not in axes or not is_integer(count):
        raise LayoutError(
            f"{place}: name one coordinate and how far it goes, as {axes[-1]}=1; there are {', '.join(axes)}"
        )
    if len(results) != 1:
        raise LayoutError(
            f"{place}: the layout gives {len(results)} results; a step goes from one position to the next"
        )
    making, name = _Making(axis, results, known, 0, {*axes}, False), results[0][0]
    found, simplifier, flat = making.growths(), known.simplifier, Expr.atom(Atom("sym", name))
    if found is not None and not found[0]:
        stride = simplifier.multiply(Expr.of(count), found[1][0][0])
        return known.unsubstitute(simplifier.add(flat, stride))
    made = making.by_strides() or making.in_bits() if count == 1 else None
    found = {a.kind for a in results[0][1].deep_atoms()} & COMPOUND.keys()
    if made is None and found:
        what = " and ".join(COMPOUND[kind] for kind in sorted(found))
        raise LayoutError(
            f"{place}: {what} gives the position, which is computed anew at each index: call apply there"
        )
    if made is None:
        raise LayoutError(
            f'{place}: no step without a division is known; generate(.., walk=["{axis}"]) may keep counters for one'
        )
    if not made.kept:
        ((_, value),) = made.stages[-1]
        before = Expr.atom(Atom("sym", axis)) + 1
        value = simplifier.rebuild(value, lambda a: before if a is making.x else None)
        return known.unsubstitute(value)
    (_, _, _, mask), (_, _, _, rest) = made.kept
    counted = simplifier.add(simplifier.bits("or", flat, Expr.of(rest)), Expr.of(1))
    counted = simplifier.bits("and", counted, Expr.of(mask))
    return simplifier.bits("or", counted, simplifier.bits("and", flat, Expr.of(rest)))


def step_between(value: Any, name: str) -> Expr | None:
    """How a value of the running trace grows where a name grows by 1: a choice of strides by the tiles that it
    crosses; None where it is one stride, or no such choice is known."""
    trace = running_trace()
    if trace is None:
        return None
    known = trace.analyzer
    making = _Making(name, [("", plain(Expr.of(value)))], known, 0, {name}, False)
    found = making.growths()
    if found is None or not found[0]:
        return None
    tiles, growths = found
    chosen = making.chosen(making.known, tiles, [g[0] for g in growths])
    after = Expr.atom(making.x) + 1
    return known.bind(known.simplifier.rebuild(chosen, lambda a: after if a is making.x else None))


class _Making:
    """The ways along one axis."""

    def __init__(
        self,
        axis: str,
        results: Outputs,
        known: Analyzer,
        base: int,
        taken: set[str],
        unsigned: bool,
    ):
        self.axis, self.results, self.known, self.base = axis, results, known, base
        self.taken, self.unsigned = taken | {n for n, _ in results}, unsigned
        self.x, self.before = Atom("sym", axis), known.copy()
        for name, e in results:
            low, high = (None if n is None else Expr.of(n) for n in known.interval(e))
            self.before.learn_range(name, low, high)

    def steps(self) -> Iterator[Step]:
        """The ways, each with counters for what would be a division."""
        for make in (self.by_strides, self.in_bits, self._anew):
            made = make()
            if made is not None and (counted := self._counted(made)) is not None:
                yield counted

    def _next(self) -> Analyzer:
        """What is known where the axis' symbol is the next index."""
        known = self.before.copy()
        known.learn_range(self.axis, Expr.of(self.base + 1), None)
        return known

    def _at(self, known: Analyzer, value: Expr) -> list[Expr]:
        """The results at another value of the axis' symbol."""
        return [
            known.simplifier.rebuild(e, lambda a: value if a is self.x else None)
            for _, e in self.results
        ]

    # -- strides --------------------------------------------------------------------------------

    def by_strides(self) -> Step | None:
        """A stride, or a choice of strides where the axis crosses tiles."""
        known, found = self._next(), self.growths()
        if found is None:
            return None
        tiles, growths = found
        return self._grown(
            known,
            [self.chosen(known, tiles, [g[k] for g in growths]) for k in range(len(self.results))],
        )

    def growths(self) -> tuple[list[Expr], list[list[Expr]]] | None:
        """(sizes of tiles, each a multiple of the one before; how the results grow from one index to the next: where
        no tile is crossed, and where one is, and none of the next size). None where that depends on the index."""
        single = self._growth(self._next(), Expr.atom(self.x))
        if single is not None:
            return [], [single]
        tiles, found = self._tiles(), list[list[Expr]]()
        if not tiles or len(tiles) > MOST_TILES:
            return None
        for tile, above in zip([Expr.of(1), *tiles], [*tiles, None], strict=True):
            growth = self._growth_within(tile, above)
            if growth is None:
                return None
            found.append(growth)
        return tiles, found

    def chosen(self, known: Analyzer, tiles: Sequence[Expr], values: Sequence[Expr]) -> Expr:
        """The one of these values, one more than tiles, that belongs to the greatest tile that is crossed."""
        simplifier, value = known.simplifier, values[-1]
        x = Expr.atom(self.x) - self.base
        for tile, inner in zip(tiles[::-1], values[-2::-1], strict=True):
            crossed = Cond.compare("eq", simplifier.mod(x, tile), Expr.of(0))
            value = simplifier.select(crossed, value, inner)
        return value

    def _grown(self, known: Analyzer, growth: Sequence[Expr]) -> Step:
        add = known.simplifier.add
        outputs = [
            (n, add(known.symbol(n), g)) for (n, _), g in zip(self.results, growth, strict=True)
        ]
        return Step(
            known, self.before, [], [[(n, e) for n, e in outputs if not e.same(known.symbol(n))]]
        )

    def _tiles(self) -> list[Expr]:
        """The sizes of tiles whose borders matter, each a multiple of the one before; [] where they are none."""
        sizes = dict[Any, Expr]()
        for _, e in self.results:
            for atom in e.deep_atoms():
                if atom.kind != "digit" or self.axis not in atom.symbols:
                    continue
                base, lo, hi = atom.args
                gap = base - Expr.atom(self.x)
                if gap.constant is None or (gap.constant + self.base) != 0:
                    return []
                for size in filter(None, (lo, hi)):
                    if size.constant != 1:
                        sizes[size.identity] = size
        found = [*sizes.values()]
        if any(self.axis in s.symbols() for s in found):
            return []
        if all(s.constant is not None for s in found):
            found.sort(key=lambda s: s.constant or 0)
            if any((b.constant or 0) % (a.constant or 1) for a, b in pairwise(found)):
                return []
        return found if len(found) < 2 or all(s.constant is not None for s in found) else []

    def _growth_within(self, tile: Expr, next_tile: Expr | None) -> list[Expr] | None:
        """How the results grow where the axis crosses a tile, and none of the next size."""
        known, q, r = self.known.copy(), "quotient of walk", "rest of walk"
        one = tile.constant == 1
        simplifier, count = known.simplifier, None
        value = known.symbol(q)
        if next_tile is not None:
            count = next_tile if one else Expr.of((next_tile.constant or 0) // (tile.constant or 1))
            known.learn_range(r, Expr.of(1), count - 1)
            known.learn_range(q, Expr.of(0), None)
            value = simplifier.add(simplifier.multiply(count, value), known.symbol(r))
        else:
            known.learn_range(q, Expr.of(1), None)
        x = simplifier.add(simplifier.multiply(tile, value), Expr.of(self.base))
        found = self._growth(known, x, {q, r})
        return found

    def _growth(self, known: Analyzer, x: Expr, own: set[str] = frozenset()) -> list[Expr] | None:  # pyright: ignore[reportArgumentType]
        """How the results grow from the index before x to x, where that does not depend on x."""
        after, before = self._at(known, x), self._at(known, x - 1)
        found = [known.simplifier.subtract(a, b) for a, b in zip(after, before, strict=True)]
        if any(not (own | {self.axis}).isdisjoint(g.symbols()) for g in found):
            return None
        return found

    # -- masked bits ----------------------------------------------------------------------------

    def in_bits(self) -> Step | None:
        """Counting in the bits that the axis alone sets."""
        if self.base:
            return None
        known, kept, counted, outputs = self._next(), list[Kept](), Outputs(), Outputs()
        simplifier = known.simplifier
        for name, e in self.results:
            if self.axis not in e.symbols():
                continue
            mask, most = mask_of(e, self.axis, self.known), known.interval(e)[1]
            if mask is None or most is None:
                return None
            over = (1 << most.bit_length()) - 1 & ~mask
            bits, rest = self.own(f"{name}_bits"), self.own(f"{name}_rest")
            for n, own in ((bits, mask), (rest, over)):
                kept.append((n, simplifier.bits("and", known.symbol(name), Expr.of(own)), 0, own))
                known.learn_range(n, Expr.of(0), Expr.of(own))
            value = known.symbol(bits)
            if self.unsigned:
                value = simplifier.add(simplifier.bits("or", value, Expr.of(over)), Expr.of(1))
            else:
                value = simplifier.subtract(value, Expr.of(mask))
            value = simplifier.bits("and", value, Expr.of(mask))
            counted.append((bits, value))
            both = simplifier.bits("or", known.symbol(rest), known.symbol(bits))
            outputs.append((name, both))
        return Step(known, self.before, kept, [counted, outputs])

    # -- anew, and counters ---------------------------------------------------------------------

    def _anew(self) -> Step:
        known = self._next()
        outputs = [(n, known.rebuilt(e)) for n, e in self.results]
        return Step(known, self.before, [], [outputs])

    def own(self, name: str) -> str:
        """A name that nothing else has."""
        own, number = name, 2
        while own in self.taken:
            own, number = f"{name}_{number}", number + 1
        self.taken.add(own)
        return own

    def _counted(self, step: Step) -> Step | None:
        """The step with counters for divisions of what the axis changes; None where one cannot be counted."""
        try:
            return _Counters(self, step).step()
        except _NoCounter:
            return None


class _NoCounter(Exception):
    """A quotient does not follow the axis by one at a time."""


class _Counters:
    """Digits of an index that a walk keeps: each grows by 1, or is 0 again, where all below it are."""

    def __init__(self, making: _Making, step: Step):
        self.making, self.start = making, step
        self.known = step.known.copy()
        self.kept, self.stages = [*step.kept], list[Outputs]()
        self.made: dict[Any, Expr] = {}
        self.digits = [
            atom
            for stage in step.stages
            for _, e in stage
            for atom in sorted(e.deep_atoms(), key=lambda a: a.key)
            if self._is_division(atom)
        ]

    def _is_division(self, atom: Atom) -> bool:
        """Whether an atom is a quotient or a remainder, of what the axis changes, that no shift gives."""
        if self.making.axis not in atom.symbols or not _divides(atom):
            return False
        if atom.kind != "digit":
            raise _NoCounter
        return True

    def _fixed(self, atom: Atom) -> Expr | None:
        """What is kept of a division that stays what it is along the axis, as one of sizes; None of another
        operation."""
        if not (
            _divides(atom) or (atom.kind == "sym" and atom.args[0] in self.known.facts.quotients)
        ):
            return None
        key = atom, None, None
        if key not in self.made:
            value, known = Expr.atom(atom), self.known
            name = self.making.own("quotient" if atom.kind != "floormod" else "rest")
            ends = known.interval(value)
            self.kept.append((name, value, *ends))
            known.learn_range(name, *(None if n is None else Expr.of(n) for n in ends))
            self.made[key] = known.symbol(name)
        return self.made[key]

    def step(self) -> Step:
        """The step in which they stand for what they count."""
        for atom in self.digits:
            self._counter(*atom.args)
        last = [[(n, self._read(e)) for n, e in stage] for stage in self.start.stages]
        counting = [[(n, self._read(e)) for n, e in stage] for stage in self.stages]
        return Step(self.known, self.start.before, self.kept, [*counting, *last])

    @staticmethod
    def _key(base: Expr, lo: Expr, hi: Expr | None) -> Any:
        return base.identity, lo.identity, None if hi is None else hi.identity

    def _counter(self, base: Expr, lo: Expr, hi: Expr | None) -> Expr:
        """(base mod hi) // lo, which is kept."""
        key = self._key(base, lo, hi)
        if key not in self.made:
            axis, rest = self.making.axis, base - Expr.atom(self.making.x)
            if any(axis in e.symbols() for e in (lo, hi) if e is not None):
                raise _NoCounter
            self.made[key] = (
                self._jumping(base, lo, hi)
                if axis in rest.symbols()
                else self._counting(base, lo, hi)
            )
        return self.made[key]

    def _kept(self, base: Expr, lo: Expr, hi: Expr | None, last: Expr | None) -> Expr:
        """The symbol of what is kept of that; last: its last number, None for what is not known."""
        known, value = self.known, Expr.atom(Atom("digit", base, lo, hi))
        name = self.making.own(f"{self.making.axis}_{'rest' if lo.constant == 1 else 'quotient'}")
        low, high = known.interval(value)
        self.kept.append((name, value, low, high))
        known.learn_range(name, None if low is None else Expr.of(low), last)
        if high is not None:
            known.learn_type(name, low if low is not None else -high - 1, high)
        return known.symbol(name)

    def _counting(self, base: Expr, lo: Expr, hi: Expr | None) -> Expr:
        """That of a base that grows by 1."""
        simplifier = self.known.simplifier
        crossed = self._crossed(base, lo)
        last = None if hi is None else simplifier.subtract(simplifier.floordiv(hi, lo), Expr.of(1))
        counter = self._kept(base, lo, hi, last)
        grown = simplifier.add(counter, Expr.of(1))
        if last is not None:
            grown = simplifier.select(Cond.compare("eq", counter, last), Expr.of(0), grown)
        new = grown if crossed is None else simplifier.select(crossed, grown, counter)
        self.stages.append([(self.kept[-1][0], new)])
        return counter

    def _jumping(self, base: Expr, lo: Expr, hi: Expr | None) -> Expr:
        """That of a base that grows by one of a few numbers."""
        low, high = lo.constant, None if hi is None else hi.constant
        making = _Making(
            self.making.axis, [("", base)], self.making.known, self.making.base, set(), False
        )
        found = making.growths()
        if found is None or low is None or (hi is not None and high is None):
            raise _NoCounter
        tiles, growths = found
        if any(g.constant is None for (g,) in growths):
            raise _NoCounter
        numbers = [g.constant or 0 for (g,) in growths]
        simplifier, count = self.known.simplifier, None if high is None else high // low

        def grown(counter: Expr, by: Sequence[int], end: int | None, carry: Expr) -> Expr:
            chosen = making.chosen(self.known, tiles, [Expr.of(n) for n in by])
            total = simplifier.add(simplifier.add(counter, self._read(chosen)), carry)
            if end is None:
                return total
            over = Cond.compare("le", Expr.of(end), total)
            return simplifier.select(over, simplifier.subtract(total, Expr.of(end)), total)

        carry = Expr.of(0)
        if low > 1:
            by, key = [n % low for n in numbers], self._key(base, Expr.of(1), lo)
            if key not in self.made:
                rest = self.made[key] = self._kept(base, Expr.of(1), lo, Expr.of(low - 1))
                self.stages.append([(self.kept[-1][0], grown(rest, by, low, Expr.of(0)))])
            rest = self.made[key]
            # It is less than what was added where it went around.
            chosen = self._read(making.chosen(self.known, tiles, [Expr.of(n) for n in by]))
            carry = simplifier.as_number(Cond.compare("lt", rest, chosen))
        last = None if count is None else Expr.of(count - 1)
        counter = self._kept(base, lo, hi, last)
        by = [n // low if count is None else n // low % count for n in numbers]
        self.stages.append([(self.kept[-1][0], grown(counter, by, count, carry))])
        return counter

    def _read(self, e: Expr) -> Expr:
        """An expression with counters for the divisions of the axis in it, and what is kept for others."""

        def counted(atom: Atom) -> Expr | None:
            if self.making.axis not in atom.symbols:
                return self._fixed(atom)
            return self._counter(*atom.args) if self._is_division(atom) else None

        return self.known.simplifier.rebuild(e, counted)

    def _crossed(self, base: Expr, size: Expr) -> Cond | None:
        """The condition that base // size has grown: all digits below are 0. None where it always has."""
        if size.constant == 1:
            return None
        ends = (a for a in self.digits if a.args[0].same(base) and a.args[2] is not None)
        below = next((a.args[1] for a in ends if a.args[2].same(size)), Expr.of(1))
        counter = self._counter(base, below, size)
        zero = Cond.compare("eq", counter, Expr.of(0))
        before = self._crossed(base, below)
        return zero if before is None else Cond("and", before, zero)


def _divides(atom: Atom) -> bool:
    """Whether an atom is a quotient or a remainder that no shift gives."""
    if atom.kind != "digit":
        return atom.kind in DIVISIONS
    sizes = [s.constant for s in atom.args[1:] if s is not None]
    return any(s is None or s & (s - 1) for s in sizes)


def mask_of(e: Expr, axis: str, known: Analyzer) -> int | None:
    """The bits of a value that an axis alone sets, in their order, as in Morton order; None where it sets them
    otherwise, or all are beside each other."""
    mask, places, others = 0, list[tuple[int, int, int]](), 0
    for mono, coefficient in e.terms.items():
        if len(mono) != 1 or coefficient <= 0 or coefficient & (coefficient - 1):
            return None
        place, atom = coefficient.bit_length() - 1, mono[0]
        most = known.interval(Expr.atom(atom))
        if most[0] is None or most[0] < 0 or most[1] is None:
            return None
        bits = (1 << most[1].bit_length()) - 1 << place
        if axis not in atom.symbols:
            if bits & (mask | others):
                return None
            others |= bits
            continue
        first = 0
        if atom.kind == "digit":
            base, lo, hi = atom.args
            sizes = [s.constant or 0 for s in (lo, hi) if s is not None]
            if any(s < 1 or s & (s - 1) for s in sizes):
                return None
            atom, first = base.single, sizes[0].bit_length() - 1
        if atom is None or (atom.kind, atom.args[0]) != ("sym", axis) or bits & (mask | others):
            return None
        mask |= bits
        places.append((first, place, bits.bit_count()))
    places.sort()
    next_bit = end = 0
    for first, place, count in places:
        if first != next_bit or place < end:
            return None
        next_bit, end = first + count, place + count
    high = known.interval(Expr.atom(Atom("sym", axis)))[1]
    whole = high is not None and high.bit_length() == next_bit and not high & (high + 1)
    return mask if whole and len(places) > 1 else None
