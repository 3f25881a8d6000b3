"""Conversions within warps: words are chosen by lane, shuffled, and chosen by lane again.

After Zhou et al., ASPLOS 2026, section 5.4. In a round lane t reads, for its word i ^ d(t), the word
i' ^ s(source) of the lane `source ^ const`, where d, s and source are linear; so that each register is
named by a constant, and what a lane chooses differently is swapped before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..algebra import f2
from ..packages import numpy as np
from ..plans.pair import Pair
from ..plans.steps import Pack, Shuffle, Step, Swap, Take, Unpack, run, threads
from .access import LANE
from .linear_access import log2

WORD = 4  # bytes that a shuffle moves
WIDEST = 8  # an element of two words


@dataclass(frozen=True)
class Words:
    """Registers as words of a few elements.

    inside, across: the masks of register bits that count the elements of a word, and the words;
    columns: what the bits of the words add.
    """

    inside: tuple[int, ...]
    across: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The registers, those of a word side by side."""
        masks = [*self.inside, *self.across]
        return tuple(f2.times(masks, k) for k in range(1 << len(masks)))


def plans(pair: Pair, element_bytes: int) -> Iterator[tuple[Step, ...]]:
    """The plans that move no element between warps, one for each size of words that serves; none
    where an element must leave its warp. An element wider than a word of ours is not taken apart:
    it stays in its lane, or there is no plan."""
    if not pair.is_within_warps():
        return
    most = log2(max(1, WORD // element_bytes))
    for count in range(most, -1, -1):
        found = _words(pair, count)
        if found is not None and (made := _plan(pair, *found)) is not None:
            steps = made.steps(pair, max(1, element_bytes // WORD))
            if element_bytes <= WIDEST or len(steps) == 1:
                yield steps


def _words(pair: Pair, count: int) -> tuple[Words, Words] | None:
    """Words of 2**count elements that lie together before and after."""
    one, other = _own(pair.start.registers), _own(pair.end.registers)
    a, b = [c for _, c in one], [c for _, c in other]
    both = [c for c in a if c in b]
    both += f2.complement(both, f2.intersection(a, b))
    inside = both[:count]
    if len(inside) < count:
        return None
    words = [_split(inside, own) for own in (one, other)]
    # Where an element of a word lies elsewhere in it, constantly: the registers are named otherwise.
    first, second = words
    held = f2.Echelon([*first.columns, *pair.start.lanes, *inside])
    across, columns = [], []
    for mask, column in zip(second.across, second.columns, strict=True):
        moved = (held.solve(column) or 0) >> len(first.columns) + len(pair.start.lanes)
        across.append(mask ^ f2.times(second.inside, moved))
        columns.append(column ^ f2.times(inside, moved))
    return first, Words(second.inside, tuple(across), tuple(columns))


def _own(registers: Sequence[int]) -> list[tuple[int, int]]:
    """The register bits that make a difference, with what they add."""
    return [(1 << k, registers[k]) for k in f2.Echelon(registers).pivots]


def _split(inside: Sequence[int], own: Sequence[tuple[int, int]]) -> Words:
    columns = [c for _, c in own]
    echelon = f2.Echelon(columns)
    masks = [f2.times([m for m, _ in own], echelon.solve(v) or 0) for v in inside]
    rest = f2.complement(inside, columns)
    return Words(
        tuple(masks), tuple(m for m, c in own if c in rest), tuple(c for c in columns if c in rest)
    )


# -- which lane reads which ----------------------------------------------------------------------


@dataclass(frozen=True)
class Exchange:
    """Lane t of warp w reads for word i ^ d(t) the word that `words` and N(t, w) say, of the lane
    that `lanes` and M(t, w) say; all as columns. virtual: words above those that are wanted."""

    start: Words
    end: Words
    words: tuple[int, ...]
    lanes: tuple[int, ...]
    d: tuple[int, ...]
    M: tuple[tuple[int, ...], tuple[int, ...]]  # of lane, of warp
    N: tuple[tuple[int, ...], tuple[int, ...]]
    virtual: int

    def steps(self, pair: Pair, units: int) -> tuple[Step, ...]:
        """The plan. units: instructions for a word."""
        bits = len(pair.start.lanes)
        chosen = _through(self.M[0], self.N[0], bits)
        beside = [n ^ f2.times(chosen, m) for n, m in zip(self.N[1], self.M[1], strict=True)]
        count = 1 << len(self.words)
        lanes = [f2.times(self.lanes, k) for k in range(count)]
        sent = [f2.times(self.words, k) ^ f2.times(chosen, lanes[k]) for k in range(count)]
        before = _swaps(chosen, beside, sorted({*sent}), units)
        after = _swaps(self.d, [0] * len(beside), range(count >> self.virtual), units)
        stays = self.M[0] == tuple(f2.identity(bits)) and not any(self.M[1])
        shuffle = Shuffle(threads(self.M, LANE, bits), tuple(sent), tuple(lanes), stays, units)
        made: list[Step] = [Take(self.start.order), Pack(1 << len(self.start.inside)), *before]
        made += [shuffle if shuffle.rounds else Take(tuple(sent)), *after, Unpack()]
        made.append(Take(tuple(self._places(pair.end.registers))))
        if before or after or shuffle.rounds:
            return tuple(made)
        registers = np.arange(1 << len(pair.start.registers))
        return (Take(tuple(int(k) for k in run(made, registers[None, None])[0, 0])),)

    def _places(self, registers: Sequence[int]) -> Iterator[int]:
        """Where among the words' elements each register's is."""
        place = {register: k for k, register in enumerate(self.end.order)}
        echelon = f2.Echelon(registers)
        for register in range(1 << len(registers)):
            yield place[echelon.solve(f2.times(registers, register)) or 0]


def _plan(pair: Pair, start: Words, end: Words) -> Exchange | None:
    """Who reads what, the fewest words chosen by lane. None where words do not stay together."""
    own, lanes = [*start.columns], [*pair.start.lanes]
    held = f2.Echelon([*own, *lanes])
    wanted = [*end.columns, *pair.end.lanes, *pair.moves]
    if any(held.solve(c) is None for c in wanted):
        return None
    free = [(x & (1 << len(own)) - 1, x >> len(own)) for x in held.kernel]
    columns, d = _apart(own, lanes, [*end.columns], [*pair.end.lanes], len(free))
    reads = [c ^ f2.times(columns, x) for c, x in zip(pair.end.lanes, d, strict=True)]

    def solved(column: int, lane: int = 0) -> tuple[int, int]:
        """The word and the lane that hold it, that lane where it is among them."""
        near = f2.Echelon(own).solve(column ^ f2.times(lanes, lane))
        if near is not None:
            return near, lane
        found = held.minimal(column) or 0
        return found & (1 << len(own)) - 1, found >> len(own)

    for near in (True, False):
        found = _sources(reads, solved, free, near)
        if found is not None:
            break
    else:
        return None
    across = [solved(c) for c in columns]
    beside = [solved(c) for c in pair.moves]
    return Exchange(
        start,
        end,
        tuple(w for w, _ in across),
        tuple(x for _, x in across),
        tuple(d),
        (tuple(x for _, x in found), tuple(x for _, x in beside)),
        (tuple(w for w, _ in found), tuple(w for w, _ in beside)),
        len(columns) - len(end.columns),
    )


def _apart(
    own: Sequence[int], lanes: Sequence[int], words: list[int], reads: Sequence[int], free: int
) -> tuple[list[int], list[int]]:
    """The d under which lanes that read different elements read different lanes, as far as the lanes
    that hold the same do not serve: for each bit of lane the words' bits that it adds. With the
    words' columns, and more of them where those do not suffice: words that nobody wants."""
    span, rest = [*own], []
    for k, column in enumerate(reads):
        if column and f2.Echelon(span).solve(column) is None:
            span.append(column)
        elif column:
            rest.append(k)
    # Of the rest those that ask for other words of a lane that is read already.
    first = [c for k, c in enumerate(reads) if k not in rest]
    pivots = f2.Echelon([*first, *(reads[k] for k in rest)]).pivots
    asked = [rest[p - len(first)] for p in pivots if p >= len(first)]
    d = [0] * len(reads)
    for k in asked[free:]:
        fresh = [i for i, c in enumerate(words) if f2.Echelon(span).solve(c) is None]
        if not fresh:
            words.append(next(c for c in lanes if f2.Echelon(span).solve(c) is None))
            fresh = [len(words) - 1]
        d[k] = 1 << fresh[0]
        span.append(words[fresh[0]])
    return words, d


def _sources(reads: Sequence[int], solved, free, near: bool) -> list[tuple[int, int]] | None:
    """For each bit of lane the word and the lane that it adds to what is read, so that lanes which
    read the same lane read the same word. near: its own lane, where that is possible; else lanes
    that read the same element read one lane. None where that cannot be."""
    echelon = f2.Echelon(reads)
    if near:
        found = [solved(c, 1 << k) for k, c in enumerate(reads)]
    else:
        found = [solved(c) if k in echelon.pivots else (0, 0) for k, c in enumerate(reads)]

    def settled() -> list[tuple[int, int]]:
        if near:
            return found
        basis = [found[p] for p in echelon.pivots]
        parts = [echelon.solve(c) or 0 for c in reads]
        return (
            [
                (f2.times([w for w, _ in found], x), f2.times([n for _, n in found], x))
                for x in parts
            ]
            if basis
            else found
        )

    while True:
        now = settled()
        clash = [x for x in f2.kernel([n for _, n in now]) if f2.times(reads, x)]
        if not clash:
            return now
        image = f2.Echelon([n for _, n in now])
        more = next(((w, n) for w, n in free if image.solve(n) is None), None)
        if more is None:
            return None
        bits = range(len(reads)) if near else echelon.pivots
        k = next(k for k in bits if clash[0] >> k & 1)
        found[k] = found[k][0] ^ more[0], found[k][1] ^ more[1]


# -- which words are swapped ---------------------------------------------------------------------


def _through(M: Sequence[int], N: Sequence[int], bits: int) -> list[int]:
    """The s with s M = N, zero beside what M reaches."""
    pivots = f2.Echelon(M).pivots
    basis = [M[p] for p in pivots]
    more = f2.complement(basis, f2.identity(bits))
    inverse = f2.inverse([*basis, *more]) or []
    return f2.multiplied([*(N[p] for p in pivots), *[0] * len(more)], inverse)


def _swaps(
    lanes: Sequence[int], warps: Sequence[int], outputs: Sequence[int], units: int
) -> list[Swap]:
    """Swaps that make word k of word k ^ f(lane, warp). lanes, warps: the columns of f."""
    columns = [*lanes, *warps]
    wide = max(columns, default=0).bit_length()
    rows = _reduced(f2.transposed(columns, wide))
    mask = (1 << len(lanes)) - 1
    made: list[Swap] = []
    used = tuple(outputs)
    inside = max(used, default=0).bit_length()
    # Backwards from what is used: first those that stay among the words that are.
    for row in sorted(rows, key=lambda row: columns[log2(row & -row)] >> inside):
        swap = Swap(row & mask, row >> len(lanes), columns[log2(row & -row)], used, units)
        made.append(swap)
        used = swap.inputs
    return made[::-1]


def _reduced(rows: Sequence[int]) -> list[int]:
    """A basis of what the rows span, the lowest bit of each in no other."""
    found: list[int] = []
    for row in rows:
        for other in found:
            if row & (other & -other):
                row ^= other
        if row:
            found = [other ^ row if other & (row & -row) else other for other in found]
            found.append(row)
    return sorted(found, key=lambda row: row & -row)
