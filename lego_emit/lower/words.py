"""Programs on whole words: what they cost, and what they compute, bit by bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..ir.nodes import Node

Price = Mapping[str, float]
UNKNOWN = -1  # a bit of a word that carries may reach


def word_of(k: int) -> Node:
    """The input word of that number."""
    return Node("var", (), k)


def meaning(tree: Node, widths: Sequence[int], width: int) -> list[int] | None:
    """What each bit of the tree is, low bit first: 2 << k stands for the source bit k, 1 for the
    constant, sums of them for their XOR; or UNKNOWN. None where a value might reach 2**width, or
    an operation does more than move bits.
    """
    return _Meaning(widths, width).of(tree)


class _Meaning:
    """What trees are, bit by bit; see meaning()."""

    def __init__(self, widths: Sequence[int], width: int):
        self.widths, self.width, self.starts = widths, width, first_bits(widths)
        self.known: dict[Node, list[int] | None] = {}

    def of(self, tree: Node) -> list[int] | None:
        """What each bit of one of them is, without those on top that are always 0."""
        if tree.op == "const":
            number = tree.value
            return (
                [number >> bit & 1 for bit in range(number.bit_length())] if number >= 0 else None
            )
        if tree not in self.known:
            bits = self._found(tree)
            while bits and bits[-1] == 0:
                bits.pop()
            self.known[tree] = None if bits is None or len(bits) > self.width else bits
        return self.known[tree]

    def _found(self, tree: Node) -> list[int] | None:
        if tree.op == "var":
            k = tree.value
            return [2 << self.starts[k] + bit for bit in range(self.widths[k])]
        op, (left, right) = tree.op, tree.args
        a = self.of(left)
        if a is None:
            return None
        if op in ("xor", "or", "add"):
            b = self.of(right)
            if b is None:
                return None
            if op == "add":
                return _summed([a, b])
            size = max(len(a), len(b))
            pairs = zip(a + [0] * (size - len(a)), b + [0] * (size - len(b)), strict=True)
            return [_xor(p, q) if op == "xor" else _or(p, q) for p, q in pairs]
        if right.op != "const" or right.value < 0:
            return None
        by = right.value
        if op == "shl":
            return [0] * by + a
        if op == "shr":
            return a[by:]
        if op == "and":
            return [bit if by >> place & 1 else 0 for place, bit in enumerate(a)]
        if op == "mul":
            return _summed([[0] * d + a for d in range(by.bit_length()) if by >> d & 1])
        if op == "mod" and by:
            return _rest(a, by)
        return None


def _xor(p: int, q: int) -> int:
    return UNKNOWN if p < 0 or q < 0 else p ^ q


def _or(p: int, q: int) -> int:
    if p == 0 or q == 0 or p == q:
        return p or q
    return UNKNOWN


def _summed(addends: list[list[int]]) -> list[int]:
    """The bits of a sum. The carry into a place is `low` where `bit` is 0 and `high` where it is 1,
    or unknown and at most `high` (bit: None)."""
    bits: list[int] = []
    low = high = 0
    bit: int | None = 0
    size = max(map(len, addends), default=0)
    while len(bits) < size or high or low:
        column = [a[len(bits)] for a in addends if len(bits) < len(a) and a[len(bits)]]
        several = {b & ~1 for b in column if b != 1}
        if bit:
            several.add(bit)
        if bit is None or UNKNOWN in column or len(several) > 1:
            carry = max(low, high)
            bits.append(UNKNOWN if carry or len(column) > 1 else column[0] if column else 0)
            low, high = 0, (carry + len(column)) // 2
            bit = None if high else 0
            continue
        (bit,) = several or {0}
        low += sum(b & 1 for b in column)
        high = high + sum(b & 1 ^ (b > 1) for b in column) if bit else low
        bits.append(low & 1 ^ (bit if (low ^ high) & 1 else 0))
        low, high = low >> 1, high >> 1
        bit = bit if low != high else 0
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


def first_bits(widths: Sequence[int]) -> list[int]:
    """The number of each input's first bit, where the bits of all inputs are counted through."""
    return [sum(widths[:k]) for k in range(len(widths))]


class Word(NamedTuple):
    """A tree and the bits of it that are not always 0."""

    tree: Node
    support: int


class Part(NamedTuple):
    """Groups of one word, moved: how, and which bits may be set then and which are wanted."""

    word: int
    distances: tuple[int, ...]
    cost: float
    raw: int
    kept: int
    how: tuple[str, int, int, int]  # "shift", "product" or "remainder"; mask before, by, drop


Sum = tuple[Node, int, int]  # a tree, its bits that may be set, its bits that are wanted
Groups = dict[tuple[int, int], int]  # (word, distance) -> the bits wanted from it, where they go


def bits_of(number: int) -> list[int]:
    """The places of the bits that are set, lowest first."""
    return [place for place in range(number.bit_length()) if number >> place & 1]


Places = dict[int, tuple[int, int]]  # source bit -> (word, place in it)
Stage = list[dict[int, int]]  # the words of a stage: source bit -> place


class Problem(NamedTuple):
    """Words, what each output bit is the XOR of, and the stages that a way has to end with."""

    words: Sequence[Word]
    rows: list[list[list[int]]]
    end: list[Stage]


def targets_of(rows: list[list[list[int]]]) -> Places | None:
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


def places_of(places: Stage) -> Places:
    """Where each bit is in the words of a stage."""
    return {bit: (w, place) for w, word in enumerate(places) for bit, place in word.items()}


def groups_of(moves: Iterable[tuple[int, int]], where: Places) -> Groups:
    """Bits and the places that they go to, by the word they are in and the distance."""
    groups: Groups = {}
    for bit, to in moves:
        w, at = where[bit]
        groups[w, to - at] = groups.get((w, to - at), 0) | 1 << to
    return groups


def moves_of(row: list[list[int]]) -> list[tuple[int, int]]:
    """(bit, the place that it goes to) of all bits that an output's are the XOR of."""
    return [(bit, to) for to, bits in enumerate(row) for bit in bits]
