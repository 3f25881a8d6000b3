"""Index functions that only move bits: the cheapest word program that we know how to find.

Where every size is a power of two, an index function is a wiring: each output bit is the XOR of
some input bits, mostly of one. Two ideas make up the module:

assemble    one word out of others in one go. The bits are grouped by source word and distance.
            A group is a shift and a mask; several groups of one word may be one multiplication
            (x * (2**12 + 2**6)) & mask, a gather ((x & m) * M >> s) & mask, a remainder
            ((x >> s) & m) % N, or an exchange of bits; groups share a mask where they can.
detours     where that is dear, the bits are first brought to other places, from which the rest
            is cheap: packed into one word and spread or squeezed in log steps (Hacker's Delight,
            7-4 and 7-5), exchanged (delta swaps, ibid. 7-1), or picked from copies of the word.

A detour is no more than a list of placements: every step of it is made by assemble, and what
comes out is proved bit by bit (meaning) before it counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import gcd, inf
from typing import NamedTuple

Tree = int | tuple
Price = Mapping[str, float]

UNKNOWN = -1  # a bit of a word that carries may reach
EFFORT = 1500  # steps of the search after which no further detour is tried: some 7 ms


def wire(
    widths: Sequence[int],
    outputs: Sequence[Sequence[frozenset]],
    price: Price,
    width: int,
) -> list[Tree] | None:
    """The cheapest program found that computes every output.

    widths: bits of each input word; every value below 2**bits occurs, independently.
    outputs: for each output word its bits, low bit first; a bit is the set of the (input, bit)
        pairs whose XOR it is, None in it standing for 1.
    price: what an operation costs; what is missing costs 1.
    width: no intermediate value reaches 2**width, none is negative.

    One tree per output: an int, ("in", k), or (op, a, b) with op one of add, mul, and, or, xor,
    shl, shr, mod; equal subtrees are meant to be computed once. None where nothing fits the width.
    """
    return _Search(widths, outputs, price, width).run()


def cost(trees: Iterable[Tree], price: Price) -> float:
    """The price of computing all trees, equal subtrees once."""
    seen: set[Tree] = set()
    total = 0.0
    stack = list(trees)
    while stack:
        tree = stack.pop()
        if isinstance(tree, int) or tree[0] == "in" or tree in seen:
            continue
        seen.add(tree)
        total += price.get(tree[0], 1)
        stack += tree[1:]
    return total


# --------------------------------------------------------------------------- proof


def meaning(tree: Tree, widths: Sequence[int], width: int) -> list[int] | None:
    """What each bit of the tree is, low bit first: 2 << k stands for the source bit k, 1 for the
    constant, sums of them for their XOR; or UNKNOWN. None where a value might reach 2**width, or
    an operation does more than move bits.
    """
    starts = _starts(widths)
    known: dict[Tree, list[int] | None] = {}

    def of(tree: Tree) -> list[int] | None:
        if isinstance(tree, int):
            return [tree >> bit & 1 for bit in range(tree.bit_length())] if tree >= 0 else None
        if tree not in known:
            bits = made(tree)
            while bits and bits[-1] == 0:
                bits.pop()
            known[tree] = None if bits is None or len(bits) > width else bits
        return known[tree]

    def made(tree: tuple) -> list[int] | None:
        op, left, right = tree if len(tree) == 3 else (*tree, 0)
        if op == "in":
            return [2 << starts[left] + bit for bit in range(widths[left])]
        a = of(left)
        if a is None:
            return None
        if op in ("xor", "or", "add"):
            b = of(right)
            if b is None:
                return None
            if op == "add":
                return _summed([a, b])
            size = max(len(a), len(b))
            pairs = zip(a + [0] * (size - len(a)), b + [0] * (size - len(b)), strict=True)
            return [_xor(p, q) if op == "xor" else _or(p, q) for p, q in pairs]
        if not isinstance(right, int) or right < 0:
            return None
        if op == "shl":
            return [0] * right + a
        if op == "shr":
            return a[right:]
        if op == "and":
            return [bit if right >> place & 1 else 0 for place, bit in enumerate(a)]
        if op == "mul":
            return _summed([[0] * d + a for d in range(right.bit_length()) if right >> d & 1])
        if op == "mod" and right:
            return _rest(a, right)
        return None

    return of(tree)


def _xor(p: int, q: int) -> int:
    return UNKNOWN if p < 0 or q < 0 else p ^ q


def _or(p: int, q: int) -> int:
    if p == 0 or q == 0 or p == q:
        return p or q
    return UNKNOWN


def _summed(addends: list[list[int]]) -> list[int]:
    bits: list[int] = []
    carry = 0
    size = max(map(len, addends), default=0)
    while len(bits) < size or carry:
        column = [a[len(bits)] for a in addends if len(bits) < len(a) and a[len(bits)]]
        bits.append(UNKNOWN if carry or len(column) > 1 else column[0] if column else 0)
        carry = (carry + len(column)) // 2
    return bits


def _rest(a: list[int], divisor: int) -> list[int] | None:
    bits = [0] * divisor.bit_length()
    for place, bit in enumerate(a):
        if bit:
            to = (1 << place) % divisor
            if to == 0:
                continue
            if to & (to - 1) or bits[to.bit_length() - 1]:
                return None
            bits[to.bit_length() - 1] = bit
    return bits if sum(1 << place for place, bit in enumerate(bits) if bit) < divisor else None


def _starts(widths: Sequence[int]) -> list[int]:
    return [sum(widths[:k]) for k in range(len(widths))]


# --------------------------------------------------------------------------- one word


class Word(NamedTuple):
    """A tree and the bits of it that are not always 0."""

    tree: Tree
    support: int


class Part(NamedTuple):
    """Groups of one word, moved: how, and which bits may be set then and which are wanted."""

    word: int
    distances: tuple[int, ...]
    cost: float
    raw: int
    kept: int
    how: tuple[str, int, int, int]  # "shift", "product" or "remainder"; mask before, by, drop


Sum = tuple[Tree, int, int]  # a tree, its bits that may be set, its bits that are wanted
Groups = dict[tuple[int, int], int]  # (word, distance) -> the bits wanted from it, where they go


class Assembler:
    """Words out of words by moving groups of bits; knows the prices and the widest value."""

    def __init__(self, price: Price, width: int):
        self.width = width
        ops = ("add", "and", "or", "xor", "mul", "mod", "shl", "shr")
        self.price = {op: price.get(op, 1) for op in ops}
        self.trees: dict[Hashable, Tree | None] = {}
        self.plans: dict[Hashable, list[Part] | None] = {}
        self.parts: dict[Hashable, Part | None] = {}
        self.effort = 0  # steps taken, to end a search after the same work everywhere

    def assemble(self, words: Sequence[Word], groups: Groups, merge: bool = True) -> Tree | None:
        """The word whose bits are the XOR of the groups; merge False: shifts and masks only."""
        if not groups:
            return 0
        key = (merge, *words, *groups.items())
        if key not in self.trees:
            tree = self._parted(words, groups, merge)
            swapped = self._exchanged(words, groups) if merge else None
            if tree and swapped and cost([swapped], self.price) < cost([tree], self.price):
                tree = swapped
            self.trees[key] = tree
        return self.trees[key]

    def _parted(self, words: Sequence[Word], groups: Groups, merge: bool) -> Tree | None:
        supports = [word.support for word in words]
        key = (merge, *supports, *groups.items())
        self.effort += 8
        if key not in self.plans:
            self.plans[key] = self._planned(supports, groups, merge)
        parts = self.plans[key]
        return None if parts is None else self._joined(words, parts)

    def _planned(self, supports: list[int], groups: Groups, merge: bool) -> list[Part] | None:
        """Groups of one word put into one multiplication or remainder while that pays."""
        chosen = [self._moved(supports[w], w, d, kept) for (w, d), kept in groups.items()]
        if None in chosen:
            return None
        if not merge or len(chosen) > 16:
            return chosen

        def united(parts: Sequence[Part]) -> Part | None:
            w = parts[0].word
            distances = tuple(sorted(d for part in parts for d in part.distances))
            key = (supports[w], w, *((d, groups[w, d]) for d in distances))
            self.effort += 1
            if key not in self.parts:
                self.effort += 2
                kept = {d: groups[w, d] for d in distances}
                self.parts[key] = self._gathered(supports[w], w, kept)
            return self.parts[key]

        def without(parts: list[Part], gone: Sequence[Part]) -> list[Part]:
            return [part for part in parts if part not in gone]

        def gains(one: Part, others: Sequence[Part]) -> list[tuple]:
            found = []
            for other in others:
                if one.word == other.word and (part := united((one, other))):
                    apart = self._alone(one) + self._alone(other) + self.price["or"]
                    found.append((apart - self._alone(part), (one, other), part))
            return found

        starts = [chosen]
        for w in range(len(supports)):
            own = [part for part in chosen if part.word == w]
            if len(own) > 2 and (part := united(own)):
                starts.append([*without(chosen, own), part])
        best = inf
        for current in starts:
            found = [one for k, part in enumerate(current) for one in gains(part, current[:k])]
            while True:
                if (total := self._total(current)) < best:
                    chosen, best = current, total
                most = max((gain for gain, _, _ in found), default=-inf)
                if most < 0:
                    break
                equal = [one for one in found if one[0] == most][:6]
                nexts = [[*without(current, pair), part] for _, pair, part in equal]
                current = min(nexts, key=self._total)
                found = [one for one in found if one[1][0] in current and one[1][1] in current]
                found += gains(current[-1], current[:-1])
        return chosen

    def _moved(self, support: int, w: int, d: int, kept: int) -> Part | None:
        """One group: a shift at most; the mask comes later, unless the shift would be too wide."""
        raw = _shifted(support, d)
        price = self.price["shl"] if d > 0 else self.price["shr"] if d < 0 else 0
        if raw.bit_length() <= self.width:
            return Part(w, (d,), price, raw, kept, ("shift", 0, d, 0))
        if kept.bit_length() <= self.width:
            price += self.price["and"]
            return Part(w, (d,), price, kept, kept, ("shift", kept >> d, d, 0))
        return None

    def _gathered(self, support: int, w: int, kept: dict[int, int]) -> Part | None:
        """Several groups of one word by one multiplication or one remainder."""
        wanted = needed = 0
        for d, bits in kept.items():
            if wanted & bits:
                return None
            wanted |= bits
            needed |= bits << -d if d < 0 else bits >> d
        drop = max(0, -min(kept))
        places = [d + drop for d in kept]
        factor = sum(1 << place for place in places)
        best = None
        for mask in (0, needed) if needed != support else (0,):
            raw = _product(mask or support, places, wanted << drop)
            if raw is None or raw.bit_length() > self.width:
                continue
            price = self._factor_price(factor) + self.price["shr"] * (drop > 0)
            price += self.price["and"] * (mask > 0)
            how = ("product", mask, factor, drop)
            part = Part(w, tuple(kept), price, raw >> drop, wanted, how)
            if best is None or self._alone(part) < self._alone(best):
                best = part
        if best is None or self._alone(best) > self.price["mod"]:
            part = self._remainder(support, w, kept, needed, wanted)
            if part and (best is None or self._alone(part) < self._alone(best)):
                best = part
        return best

    def _remainder(
        self, support: int, w: int, kept: dict[int, int], needed: int, wanted: int
    ) -> Part | None:
        """The groups by a remainder: N divides 2**at - 2**to for every bit and exceeds the rest."""
        lowest = (needed & -needed).bit_length() - 1
        for drop in sorted({0, *(-d for d in kept if 0 < -d <= lowest)}):
            divisor = 0
            for d, bits in kept.items():
                d += drop
                first = bits & -bits  # 2**at - 2**to of the lowest bit divides those of all
                divisor = gcd(divisor, (first >> max(d, 0)) * ((1 << abs(d)) - 1))
            if divisor > wanted:
                price = self.price["mod"] + self.price["shr"] * (drop > 0)
                price += self.price["and"] * (needed != support)
                mask = needed if needed != support else 0
                how = ("remainder", mask >> drop, divisor, drop)
                return Part(w, tuple(kept), price, wanted, wanted, how)
        return None

    def _exchanged(self, words: Sequence[Word], groups: Groups) -> Tree | None:
        """Pairs of bits at one distance exchanged, the other bits in place: a delta swap."""
        if len({w for w, _ in groups}) > 1:
            return None
        w = next(iter(groups))[0]
        kept = {d: bits for (_, d), bits in groups.items()}
        d = max(kept)
        if d <= 0 or set(kept) - {0} != {d, -d}:
            return None
        tree, support = words[w]
        low = (kept[d] >> d) | kept[-d]
        stay = kept.get(0, 0)
        if stay & (low | low << d) or low & low << d or kept[d] & kept[-d]:
            return None
        if (support | low << d).bit_length() > self.width:
            return None
        flips = ("and", ("xor", _shift(tree, -d), tree), low)
        tree = ("xor", tree, self._times(flips, 1 | 1 << d))
        wanted = stay | kept[d] | kept[-d]
        raw = support | low | low << d
        return tree if raw == wanted else ("and", tree, wanted)

    def _alone(self, part: Part) -> float:
        return part.cost + self.price["and"] * (part.raw != part.kept)

    def _total(self, parts: Sequence[Part]) -> float:
        """What the parts and joining them cost, about."""
        _, bins = _bins(parts)
        total = sum(part.cost for part in parts)
        return total + self.price["and"] * len(bins) + self.price["or"] * (len(parts) - 1)

    def _joined(self, words: Sequence[Word], parts: Sequence[Part]) -> Tree:
        free, bins = _bins(parts)
        sums = self._sums(words, free)
        for members in bins:
            tree, _, kept = self._folded(self._sums(words, members))
            sums.append((("and", tree, kept), kept, kept))
        return self._folded(sums)[0]

    def _sums(self, words: Sequence[Word], parts: list[Part]) -> list[Sum]:
        """The parts, to be joined; words that are shifted alike are joined before the shift, and shifts
        of one word that double (x ^ x >> 1 ^ x >> 2 ^ x >> 3) take log steps."""
        sums = []
        alike: dict[int, list[Part]] = {}
        for part in parts:
            kind, mask, by, _ = part.how
            if kind == "shift" and not mask:
                alike.setdefault(by, []).append(part)
            else:
                sums.append((self._made(words[part.word].tree, part), part.raw, part.kept))
        shifts: dict[tuple[int, ...], list[int]] = {}
        for by, members in alike.items():
            shifts.setdefault(tuple(part.word for part in members), []).append(by)
        for run in (run for places in shifts.values() for run in _runs(places)):
            first = alike[run[0]]
            tree, raw, _ = self._folded(
                [(*words[part.word], _shifted(part.kept, -run[0])) for part in first]
            )
            kept = _union(part.kept for by in run for part in alike[by])
            tree = _stepped(tree, run, raw.bit_length())
            sums.append((tree, _union(_shifted(raw, by) for by in run), kept))
        return sums

    def _made(self, tree: Tree, part: Part) -> Tree:
        kind, mask, by, drop = part.how
        if kind == "remainder":
            tree = _shift(tree, -drop)
            return ("mod", ("and", tree, mask) if mask else tree, by)
        if mask:
            tree = ("and", tree, mask)
        return _shift(tree, by) if kind == "shift" else _shift(self._times(tree, by), -drop)

    def _folded(self, sums: list[Sum]) -> Sum:
        """Joined, the highest first, those that overlap before the others."""
        if len(sums) == 1:
            return sums[0]
        heaps: list[list[Sum]] = []
        for one in sorted(sums, key=lambda one: -one[1]):
            touched = [heap for heap in heaps if any(one[1] & other[1] for other in heap)]
            heaps = [heap for heap in heaps if heap not in touched]
            heaps.append([*(other for heap in touched for other in heap), one])
        heaps.sort(key=lambda heap: -_union(one[1] for one in heap))
        return self._chained([self._chained(heap) for heap in heaps])

    def _chained(self, sums: list[Sum]) -> Sum:
        (tree, raw, kept), *others = sums
        for other, more, wanted in others:
            op = "xor" if kept & wanted else "or"
            if not raw & more:
                op = min(("add", "or", "xor"), key=self.price.__getitem__)
            tree, raw, kept = (op, tree, other), raw | more, kept | wanted
        return tree, raw, kept

    def _times(self, tree: Tree, factor: int) -> Tree:
        """tree * factor, by shifts and sums where multiplying is dearer."""
        if self._factor_price(factor) == self.price["mul"]:
            return ("mul", tree, factor)
        first, *rest = _bits_of(factor)
        total = _shift(tree, first)
        for d in rest:
            total = ("add", _shift(tree, d), total)
        return total

    def _factor_price(self, factor: int) -> float:
        ones = factor.bit_count()
        shifts = ones - (factor & 1)
        return min(self.price["mul"], self.price["shl"] * shifts + self.price["add"] * (ones - 1))


def _runs(shifts: list[int]) -> list[list[int]]:
    """The shifts that _stepped may take together: many to one side; else each by itself."""
    sides = [sorted(d for d in shifts if d <= 0)[::-1], sorted(d for d in shifts if d > 0)]
    return [run for side in sides for run in ([side] if len(side) > 3 else [[d] for d in side])]


def _stepped(tree: Tree, shifts: list[int], size: int) -> Tree:
    """The XOR of the tree, of so many bits, shifted by each of the shifts, all to one side."""
    first, sign = shifts[0], 1 if shifts[-1] > 0 else -1
    away = [abs(d - first) for d in shifts]
    if len(shifts) == 1:
        return _shift(tree, first)
    for step in away[1:]:
        heads: list[int] = []
        for d in away:
            if d - step not in heads:
                heads.append(d)
        gone = size - abs(first) if sign < 0 else inf
        if all(d + step in away or d + step >= gone for d in heads) and len(heads) < len(away):
            half = _stepped(tree, [first + sign * d for d in heads], size)
            return ("xor", half, _shift(half, sign * step))
    total = _shift(tree, first)
    for d in shifts[1:]:
        total = ("xor", total, _shift(tree, d))
    return total


def _union(masks: Iterable[int]) -> int:
    total = 0
    for mask in masks:
        total |= mask
    return total


def _bits_of(number: int) -> list[int]:
    return [place for place in range(number.bit_length()) if number >> place & 1]


def _shifted(bits: int, d: int) -> int:
    return bits << d if d >= 0 else bits >> -d


def _shift(tree: Tree, d: int) -> Tree:
    return ("shl", tree, d) if d > 0 else ("shr", tree, -d) if d < 0 else tree


def _product(support: int, places: list[int], wanted: int) -> int | None:
    """The bits that may be set in a word times the sum of 2**place; None where a wanted bit
    would be more than one bit of the word, moved."""
    once = twice = 0
    for d in places:
        twice |= once & support << d
        once |= support << d
    if twice & wanted:
        return None
    column, carry = (twice & -twice).bit_length() - 1, 0
    while twice and (carry or twice >> column):
        count = carry + sum(column >= d and support >> (column - d) & 1 for d in places)
        if (carry or count > 1) and wanted >> column & 1:
            return None
        once |= (count > 0) << column
        carry = count // 2
        column += 1
    return once


def _bins(parts: Sequence[Part]) -> tuple[list[Part], list[list[Part]]]:
    """Parts that need no mask, and sets of parts that one mask serves."""
    free: list[Part] = []
    bins: list[list[Part]] = []
    unions: list[tuple[int, int]] = []  # of each bin: what is kept and what is not
    for part in parts:
        wanted, litter = part.kept, part.raw ^ part.kept
        if not litter:
            free.append(part)
            continue
        for k, (kept, dropped) in enumerate(unions):
            if not (kept | wanted) & (dropped | litter):
                unions[k] = kept | wanted, dropped | litter
                bins[k].append(part)
                break
        else:
            unions.append((wanted, litter))
            bins.append([part])
    return free, bins


# --------------------------------------------------------------------------- search


Places = dict[int, tuple[int, int]]  # source bit -> (word, place in it)
Stage = list[dict[int, int]]  # the words of a stage: source bit -> place


class Problem(NamedTuple):
    """Words, what each output bit is the XOR of, and the stages that a way has to end with."""

    words: Sequence[Word]
    rows: list[list[list[int]]]
    end: list[Stage]


class _Search:
    def __init__(
        self,
        widths: Sequence[int],
        outputs: Sequence[Sequence[frozenset]],
        price: Price,
        width: int,
        assembler: Assembler | None = None,
    ):
        starts = _starts(widths)
        self.widths, self.outputs, self.price, self.width = widths, outputs, price, width
        self.assembler = assembler or Assembler(price, width)
        self.inputs = [{starts[k] + b: b for b in range(bits)} for k, bits in enumerate(widths)]
        self.rows = [
            [sorted(starts[b[0]] + b[1] for b in bit if b is not None) for bit in output]
            for output in outputs
        ]
        self.flips = [
            sum(1 << place for place, bit in enumerate(output) if None in bit) for output in outputs
        ]
        words = [Word(("in", k), (1 << bits) - 1) for k, bits in enumerate(widths)]
        self.plain = Problem(words, self.rows, [])
        self.alone: list[list[Tree]] = [[] for _ in self.rows]
        self.best: list[Tree] | None = None
        self.price_of_best = inf
        self.way: tuple[list[Stage], Problem] = [], self.plain
        self.price_of_way = inf
        price = self.assembler.price
        self.cheapest_move = min(price["mul"], price["mod"], price["shl"] + price["or"])

    def run(self) -> list[Tree] | None:
        self.follow([], self.plain)
        if len(self.rows) > 1 and len(self.widths) > 1:
            for k, output in enumerate(self.outputs):
                alone = _Search(self.widths, [output], self.price, self.width, self.assembler)
                self.alone[k] = alone.run() or []
            self.follow([], self.plain)
        if targets := _targets(self.rows):
            self._detour(targets)
        return self.best

    def _detour(self, targets: Places) -> None:
        """Ways over other places, the kinds of them while they may pay."""
        inputs = [{b: at for b, at in word.items() if b in targets} for word in self.inputs]
        outs: Stage = [{} for _ in self.rows]
        for bit, (k, at) in targets.items():
            outs[k][bit] = at
        problems = self._problems(targets, outs)
        inputs, outs = [word for word in inputs if word], [word for word in outs if word]
        price = self.assembler.price
        steps = 2 * self.cheapest_move + price["and"]
        picks = price["mul"] + price["and"] + min(price["mod"], price["mul"] + price["shr"])
        swaps = price["mul"] + price["shr"] + price["and"] + 2 * price["xor"]
        for detours, least in ((_steps, steps), (_picks, picks), (_swaps, swaps)):
            if self.price_of_best > least:
                for stages in detours(inputs, outs, self.width):
                    for problem in problems:
                        self.follow(stages, problem)
                self._shorten()

    def _problems(self, targets: Places, outs: Stage) -> list[Problem]:
        """This one; or, where bits are XORed, the two that move each bit to its target once: with
        the XORs done after that, and with those done before."""
        if all(len(bits) < 2 for row in self.rows for bits in row):
            return [self.plain]
        problems = [self.plain._replace(end=[outs])]
        main: list[list[list[int]]] = [[[] for _ in row] for row in self.rows]
        mixed: dict[int, list[int]] = {}
        for bit, (k, place) in targets.items():
            main[k][place], mixed[bit] = [bit], self.rows[k][place]
        if sum(map(bool, chain(*main))) == sum(map(bool, chain(*self.rows))):
            words = []
            for word in self.inputs:
                row = [mixed.get(bit, []) for bit in word]
                groups = _groups(_moves(row), _where(self.inputs))
                tree = self.assembler.assemble(self.plain.words, groups)
                words.append(Word(tree, _union(1 << at for at, bits in enumerate(row) if bits)))
            if all(word.tree is not None for word in words):
                problems.append(Problem(words, main, []))
        for problem in problems:
            self.follow([], problem)
        return problems

    def _shorten(self) -> None:
        """Leave out stages of the best detour."""
        while len(self.way[0]) > 1:
            stages, problem = self.way
            price = self.price_of_way
            for k in range(len(stages)):
                self.follow([*stages[:k], *stages[k + 1 :]], problem)
            if self.price_of_way == price:
                return

    def follow(self, detour: list[Stage], problem: Problem) -> None:
        """Try the way over these stages."""
        stages = [*detour, *problem.end]
        if stages and self.assembler.effort > EFFORT:
            return
        if any(place >= self.width for stage in stages for w in stage for place in w.values()):
            return
        limit = self.price_of_best + self.cheapest_move * (len(stages) > 2)
        words, places = problem.words, self.inputs
        for k, stage in enumerate(stages):
            where = _where(places)
            made = []
            for word in stage:
                tree = self.assembler.assemble(words, _groups(word.items(), where))
                if tree is None:
                    return
                made.append(Word(tree, _union(1 << place for place in word.values())))
            words, places = made, stage
            spent = cost([word.tree for word in words], self.price)
            if spent + self.cheapest_move * (len(stages) - 1 - k) >= limit:
                return
        where = _where(places)
        ways: list[list[Tree]] = []
        for row, flips, alone in zip(problem.rows, self.flips, self.alone, strict=True):
            groups = _groups(_moves(row), where)
            self.assembler.effort += len(groups)
            trees = [self.assembler.assemble(words, groups, merge) for merge in (True, False)]
            flipped = [self._flipped(tree, groups, flips) for tree in trees if tree is not None]
            ways.append([*alone, *flipped])
            if not ways[-1]:
                return
        self._offer(_settled(ways, self.price), detour, problem)

    def _flipped(self, tree: Tree, groups: Groups, flips: int) -> Tree:
        if not flips:
            return tree
        if tree == 0:
            return flips
        used = any(bits & flips for bits in groups.values())
        return ("xor" if used else "add", tree, flips)

    def _offer(self, trees: list[Tree], detour: list[Stage], problem: Problem) -> None:
        price = cost(trees, self.price)
        if detour and price < self.price_of_way:
            self.way, self.price_of_way = (detour, problem), price
        if price < self.price_of_best and all(map(self._right, trees, self.rows, self.flips)):
            self.best, self.price_of_best = trees, price

    def _right(self, tree: Tree, row: list[list[int]], flips: int) -> bool:
        bits = meaning(tree, self.widths, self.width)
        wanted = [sum(2 << k for k in bit) | flips >> at & 1 for at, bit in enumerate(row)]
        while wanted and not wanted[-1]:
            wanted.pop()
        return bits == wanted


def _targets(rows: list[list[list[int]]]) -> Places | None:
    """A place in an output for every bit: where it stands alone, else where no other does; None
    where one finds no place."""
    targets: Places = {}
    columns = [(k, place, bits) for k, row in enumerate(rows) for place, bits in enumerate(row)]
    for alone in (True, False):
        for k, place, bits in columns:
            free = [bit for bit in bits if bit not in targets]
            if free and (len(bits) == 1) == alone:
                targets[free[0]] = k, place
    used = {bit for _, _, bits in columns for bit in bits}
    return targets if used <= targets.keys() else None


def _where(places: list[dict[int, int]]) -> Places:
    return {bit: (w, place) for w, word in enumerate(places) for bit, place in word.items()}


def _groups(moves: Iterable[tuple[int, int]], where: Places) -> Groups:
    """Bits and the places that they go to, by the word they are in and the distance."""
    groups: Groups = {}
    for bit, to in moves:
        w, at = where[bit]
        groups[w, to - at] = groups.get((w, to - at), 0) | 1 << to
    return groups


def _moves(row: list[list[int]]) -> list[tuple[int, int]]:
    return [(bit, to) for to, bits in enumerate(row) for bit in bits]


def _settled(ways: list[list[Tree]], price: Price) -> list[Tree]:
    """One tree of each list, such that they are cheap together."""
    chosen = [options[0] for options in ways]
    best = cost(chosen, price)
    improved = True
    while improved:
        improved = False
        for k, options in enumerate(ways):
            for option in options[1:]:
                changed = [*chosen[:k], option, *chosen[k + 1 :]]
                if (now := cost(changed, price)) < best:
                    chosen, best, improved = changed, now, True
    return chosen


# --------------------------------------------------------------------------- detours


def _steps(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """Bits spread or squeezed in log steps."""
    targets = _where(outs)
    if len(outs) == 1:
        fields = [run for word in inputs for run in _rising(word, targets)]
        if 1 < len(fields) <= 4:
            yield from _spreads(fields, targets)
    if len(inputs) == 1:
        fields = [run for out in outs for run in _rising_out(out, inputs[0])]
        if len(fields) <= 4:
            yield from _squeezes(fields, targets)


def _picks(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """Bits picked from copies of all words behind one another."""
    word, first = _concatenation(inputs)
    goal, last = _concatenation(outs)
    if len(word) <= 12:
        for stage in _copies(word, goal, width):
            yield [*first, stage, *last]


def _swaps(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """One or two exchanges of bits at a distance, whatever is left assembled."""
    if len(inputs) > 1 or len(outs) > 1:
        return
    word, goal = inputs[0], outs[0]
    span = max(word.values()) + 1

    def left(stage: dict[int, int]) -> int:
        return len({goal[bit] - place for bit, place in stage.items()})

    before = left(word)
    ones = [_swapped(word, goal, d) for d in range(1, span)]
    yield from ([[one]] for one in sorted(ones, key=left)[:4] if left(one) < before)
    twos = (
        stage
        for d in range(1, span)
        for e in range(1, span)
        if d != e and (stage := _first_of_two(word, goal, d, e))
    )
    yield from ([[two]] for two in islice(twos, 2))


def _concatenation(words: Stage) -> tuple[dict[int, int], list[Stage]]:
    """The words in one, the first one highest, and the stage that this makes."""
    whole: dict[int, int] = {}
    for word in reversed(words):
        start = max(whole.values(), default=-1) + 1
        whole |= {bit: start + at for bit, at in word.items()}
    return whole, [[whole]] if len(words) > 1 else []


def _rising(word: dict[int, int], targets: Places) -> Stage:
    """The word cut where the next bit goes to a lower place."""
    runs: Stage = []
    last = inf
    for bit, at in sorted(word.items(), key=lambda one: one[1]):
        if targets[bit][1] < last:
            runs.append({})
        runs[-1][bit] = at
        last = targets[bit][1]
    return runs


def _rising_out(out: dict[int, int], word: dict[int, int]) -> Stage:
    """The bits of the word cut where the next bit of the output comes from a lower place."""
    runs = _rising(out, {bit: (0, word[bit]) for bit in out})
    return [{bit: word[bit] for bit in run} for run in runs]


def _packed(fields: Stage, room: dict[int, int], apart: tuple[int, ...]) -> Iterator[Stage]:
    """Fields beside one another in one word, two to a word, or each alone.

    room: how much farther a bit will go. apart: where the second field may begin, so that moving
    it does not hit the bits of the first one.
    """
    count = len(fields)
    seen = []
    for size in sorted({count, *(size for size in (2, 1) if size < count)}, reverse=True):
        for least in (*apart, 0):
            stage: Stage = []
            for k in range(0, count, size):
                start, packed = 0, {}
                for field in fields[k : k + size]:
                    packed |= {bit: at + start for bit, at in field.items()}
                    top = max(at + room.get(bit, 0) for bit, at in field.items()) + 1
                    start += max(top, least)
                stage.append(packed)
            if stage not in seen:
                seen.append(stage)
                yield stage


def _digits(numbers: dict[int, int]) -> list[int]:
    """The binary digits of the numbers, rising; those that always come together are one."""
    users: dict[tuple[int, ...], int] = {}
    for digit in range(max(numbers.values()).bit_length()):
        if those := tuple(key for key, number in numbers.items() if number >> digit & 1):
            users[those] = users.get(those, 0) | 1 << digit
    return list(users.values())


def _spreads(fields: Stage, targets: Places) -> Iterator[list[Stage]]:
    """Fields packed, spread apart from the highest digit of the way down, folded by the end."""
    fields = sorted(fields, key=lambda field: min(_ways(field, targets).values()))
    least = [min(_ways(field, targets).values()) for field in fields]
    way: dict[int, int] = {}
    for base, field in zip(least, fields, strict=True):
        way |= {bit: d - base for bit, d in _ways(field, targets).items()}
    wide = max(targets[bit][1] for bit in way) + 1
    for stage in _packed(fields, way, (wide, wide + max(map(abs, least)))):
        stages = [stage]
        for digit in reversed(_digits(way)):
            stages.append([{b: at + (way[b] & digit) for b, at in w.items()} for w in stages[-1]])
        if len(stages) > 1:
            yield stages


def _squeezes(fields: Stage, targets: Places) -> Iterator[list[Stage]]:
    """Fields of one word taken apart, then squeezed from the lowest digit of the way up."""
    fields = sorted(fields, key=lambda field: -max(_ways(field, targets).values()))
    most = [max(_ways(field, targets).values()) for field in fields]
    way: dict[int, int] = {}
    for base, field in zip(most, fields, strict=True):
        way |= {bit: base - d for bit, d in _ways(field, targets).items()}
    wide = max(at for field in fields for at in field.values()) + 1
    apart = [{bit: targets[bit][1] + way[bit] for bit in field} for field in fields]
    for stage in _packed(apart, {}, (wide, wide + max(map(abs, most)))):
        stages = [stage]
        for digit in _digits(way):
            stages.append([{b: at - (way[b] & digit) for b, at in w.items()} for w in stages[-1]])
        if len(stages) > 1:
            yield stages


def _ways(field: dict[int, int], targets: Places) -> dict[int, int]:
    """How far each bit has to go."""
    return {bit: targets[bit][1] - at for bit, at in field.items()}


def _copies(word: dict[int, int], goal: dict[int, int], width: int) -> Iterator[Stage]:
    """Copies of the word side by side, each bit picked from one such that the places agree with
    the goal modulo some k; a remainder by 2**k - 1 or a multiplication then sums the digits."""
    size = max(word.values()) + 1
    found = []
    for k in range(max(goal.values(), default=0) + 1, size + 4):
        for stride in range(size, size + 3):
            for offset in range(k):
                picked = _picked(word, goal, k, stride, offset, width)
                if picked is None:
                    continue
                highest = max(picked.values())
                digits = {(picked[b] - goal[b] - offset) // k for b in picked}
                top = highest + k * (max(digits) - min(digits))
                if offset == 0:
                    found.append((0, highest, k, stride, offset, picked))
                if top < width:
                    found.append((1, top, k, stride, offset, picked))
    found.sort(key=lambda one: one[:5])
    for kind in (0, 1):
        for one in [one for one in found if one[0] == kind][:3]:
            yield [one[-1]]


def _picked(word, goal, k: int, stride: int, offset: int, width: int) -> dict[int, int] | None:
    picked = {}
    for bit, at in word.items():
        place = at
        while place < width and (place - goal[bit] - offset) % k:
            place += stride
        if place >= width or place - at > stride * k:
            return None
        picked[bit] = place
    return picked


def _swapped(word: dict[int, int], goal: dict[int, int], d: int) -> dict[int, int]:
    """Exchange at distance d wherever that brings a bit home."""
    at = {place: bit for bit, place in word.items()}
    result = dict(word)
    done: set[int] = set()
    for low in sorted(at):
        high = low + d
        if high not in at or low in done:
            continue
        if goal[at[low]] == high or goal[at[high]] == low:
            result[at[low]], result[at[high]] = high, low
            done |= {low, high}
    return result


def _first_of_two(word: dict, goal: dict, d: int, e: int) -> dict[int, int] | None:
    """Places after an exchange at distance d, if another at distance e then ends it."""
    result = {}
    for bit, place in word.items():
        way = goal[bit] - place
        for step in (0, d, -d):
            if way - step in (0, e, -e):
                result[bit] = place + step
                break
        else:
            return None
    return result if set(result.values()) == set(word.values()) else None
