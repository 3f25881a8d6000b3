"""One word out of others in one go: shifts and masks, gathers by multiplication, exchanges of bits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from math import gcd, inf

from ..ir.nodes import Node, made
from .trees import ZERO, cost
from .words import Groups, Part, Price, Sum, Word, bits_of


class Assembler:
    """Words out of words by moving groups of bits; knows the prices and the widest value."""

    def __init__(self, price: Price, width: int):
        self.width = width
        ops = ("add", "and", "or", "xor", "mul", "mod", "shl", "shr")
        self.price = {op: price.get(op, 1) for op in ops}
        self.trees: dict[Hashable, Node | None] = {}
        self.plans: dict[Hashable, list[Part] | None] = {}
        self.parts: dict[Hashable, Part | None] = {}
        self.effort = 0  # steps taken, to end a search after the same work everywhere

    def assemble(self, words: Sequence[Word], groups: Groups, merge: bool = True) -> Node | None:
        """The word whose bits are the XOR of the groups; merge False: shifts and masks only."""
        if not groups:
            return ZERO
        key = (merge, *words, *groups.items())
        if key not in self.trees:
            tree = self._parted(words, groups, merge)
            swapped = self._exchanged(words, groups) if merge else None
            if tree and swapped and cost([swapped], self.price) < cost([tree], self.price):
                tree = swapped
            self.trees[key] = tree
        return self.trees[key]

    def _parted(self, words: Sequence[Word], groups: Groups, merge: bool) -> Node | None:
        supports = [word.support for word in words]
        key = (merge, *supports, *groups.items())
        self.effort += 8
        if key not in self.plans:
            self.plans[key] = self._planned(supports, groups, merge)
        parts = self.plans[key]
        return None if parts is None else self._joined(words, parts)

    def _planned(self, supports: list[int], groups: Groups, merge: bool) -> list[Part] | None:
        """Groups of one word put into one multiplication or remainder while that pays."""
        chosen: list[Part] = []
        for (w, d), kept in groups.items():
            moved = self._moved(supports[w], w, d, kept)
            if moved is None:
                return None
            chosen.append(moved)
        if not merge or not 1 < len(chosen) <= 16:
            return chosen

        def united(parts: Sequence[Part]) -> Part | None:
            distances = [d for part in parts for d in part.distances]
            return self._united(supports, groups, parts[0].word, distances)

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

    def partitioned(self, words: Sequence[Word], groups: Groups) -> Node | None:
        """The word with its groups put together in the cheapest of all ways: for few groups."""
        supports = [word.support for word in words]
        best, chosen = inf, None

        def follow(left: Sequence[tuple[int, int]], parts: list[Part], spent: float) -> None:
            nonlocal best, chosen
            if spent >= best:
                return
            if not left:
                if (total := self._total(parts)) < best:
                    best, chosen = total, parts
                return
            (w, d), *rest = left
            same = [other for k, other in rest if k == w]
            for size in range(len(same), -1, -1):
                for more in combinations(same, size):
                    if more:
                        part = self._united(supports, groups, w, (d, *more))
                    else:
                        part = self._moved(supports[w], w, d, groups[w, d])
                    if part is not None:
                        others = [key for key in rest if key[0] != w or key[1] not in more]
                        more_spent = part.cost + self.price["or"] * bool(parts)
                        follow(others, [*parts, part], spent + more_spent)

        follow([*groups], [], 0)
        return None if chosen is None else self._joined(words, chosen)

    def _united(
        self, supports: Sequence[int], groups: Groups, w: int, distances: Iterable[int]
    ) -> Part | None:
        """Several groups of one word together, None where they cannot be."""
        distances = sorted(distances)
        key = (supports[w], w, *((d, groups[w, d]) for d in distances))
        self.effort += 1
        if key not in self.parts:
            self.effort += 2
            kept = {d: groups[w, d] for d in distances}
            self.parts[key] = self._gathered(supports[w], w, kept)
        return self.parts[key]

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

    def _exchanged(self, words: Sequence[Word], groups: Groups) -> Node | None:
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
        flips = made("and", made("xor", _shift(tree, -d), tree), low)
        tree = made("xor", tree, self._times(flips, 1 | 1 << d))
        wanted = stay | kept[d] | kept[-d]
        raw = support | low | low << d
        return tree if raw == wanted else made("and", tree, wanted)

    def _alone(self, part: Part) -> float:
        return part.cost + self.price["and"] * (part.raw != part.kept)

    def _total(self, parts: Sequence[Part]) -> float:
        """What the parts and joining them cost, about."""
        _, bins = _bins(parts)
        total = sum(part.cost for part in parts)
        return total + self.price["and"] * len(bins) + self.price["or"] * (len(parts) - 1)

    def _joined(self, words: Sequence[Word], parts: Sequence[Part]) -> Node:
        free, bins = _bins(parts)
        sums = self._sums(words, free)
        for members in bins:
            tree, _, kept = self._folded(self._sums(words, members))
            sums.append((made("and", tree, kept), kept, kept))
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
                [
                    (words[part.word].tree, words[part.word].support, _shifted(part.kept, -run[0]))
                    for part in first
                ]
            )
            kept = union(part.kept for by in run for part in alike[by])
            tree = _stepped(tree, run, raw.bit_length())
            sums.append((tree, union(_shifted(raw, by) for by in run), kept))
        return sums

    def _made(self, tree: Node, part: Part) -> Node:
        kind, mask, by, drop = part.how
        if kind == "remainder":
            tree = _shift(tree, -drop)
            return made("mod", made("and", tree, mask) if mask else tree, by)
        if mask:
            tree = made("and", tree, mask)
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
        heaps.sort(key=lambda heap: -union(one[1] for one in heap))
        return self._chained([self._chained(heap) for heap in heaps])

    def _chained(self, sums: list[Sum]) -> Sum:
        (tree, raw, kept), *others = sums
        for other, more, wanted in others:
            op = "xor" if kept & wanted else "or"
            if not raw & more:
                op = min(("add", "or", "xor"), key=self.price.__getitem__)
            tree, raw, kept = made(op, tree, other), raw | more, kept | wanted
        return tree, raw, kept

    def _times(self, tree: Node, factor: int) -> Node:
        """tree * factor, by shifts and sums where multiplying is dearer."""
        if self._factor_price(factor) == self.price["mul"]:
            return made("mul", tree, factor)
        first, *rest = bits_of(factor)
        total = _shift(tree, first)
        for d in rest:
            total = made("add", _shift(tree, d), total)
        return total

    def _factor_price(self, factor: int) -> float:
        ones = factor.bit_count()
        shifts = ones - (factor & 1)
        return min(self.price["mul"], self.price["shl"] * shifts + self.price["add"] * (ones - 1))


def _runs(shifts: list[int]) -> list[list[int]]:
    """The shifts that _stepped may take together: many to one side; else each by itself."""
    sides = [sorted(d for d in shifts if d <= 0)[::-1], sorted(d for d in shifts if d > 0)]
    return [run for side in sides for run in ([side] if len(side) > 3 else [[d] for d in side])]


def _stepped(tree: Node, shifts: list[int], size: int) -> Node:
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
            return made("xor", half, _shift(half, sign * step))
    total = _shift(tree, first)
    for d in shifts[1:]:
        total = made("xor", total, _shift(tree, d))
    return total


def union(masks: Iterable[int]) -> int:
    """The bits that are set in any of the masks."""
    total = 0
    for mask in masks:
        total |= mask
    return total


def _shifted(bits: int, d: int) -> int:
    return bits << d if d >= 0 else bits >> -d


def _shift(tree: Node, d: int) -> Node:
    return made("shl", tree, d) if d > 0 else made("shr", tree, -d) if d < 0 else tree


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
