"""Bits whose images are one pattern, moved with them: (x >> b & 1) * w, (x & 7) * 9. Where a matrix is
dense this takes fewer operations than moving bits by each distance."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.nodes import Node, const, made
from .assembler import Assembler, union
from .trees import ZERO
from .words import Groups, Word, first_bits, groups_of, meaning, word_of

MOST = 32  # input bits that are looked at
FEWEST, FEW = 3, 6  # distances of which all ways to put them together are looked at

Bits = frozenset[tuple[int, int]]  # (input, bit)
Pattern = tuple[int, int, int]  # input, pattern, distance


def patterned(
    widths: Sequence[int], output: Sequence[frozenset], assembler: Assembler
) -> list[Node]:
    """Programs for one output word, some of its bits by patterns and the others by distances."""
    images, flips = _images(output)
    if len(images) > MOST or all(len(bit) < 2 for bit in output):
        return []
    parts = _parts(images)
    price = assembler.price
    step = price["shl"] + price["and"] + price["xor"]

    def spent(chosen: list[tuple[Pattern, Bits]]) -> float:
        done = union_of(chosen)
        left = {
            (source[0], to - source[1])
            for source, image in images.items()
            if source not in done
            for to in range(image.bit_length())
            if image >> to & 1
        }
        return step * len(left) + sum(_price(part, assembler) for part, _ in chosen)

    found: list[Node] = []
    for start in ([], parts):
        chosen, best = [*start], spent(start)
        while True:
            others = [[p for p in chosen if p != one] for one in chosen]
            others += [[*chosen, one] for one in parts if one not in chosen]
            least = min(others, key=spent, default=chosen)
            if not spent(least) < best:
                break
            chosen, best = least, spent(least)
        tree = _tree(widths, images, chosen, assembler) if chosen else None
        if tree is not None:
            found.append(made("xor", tree, flips) if flips else tree)
    return [tree for tree in found if _right(tree, widths, output, assembler.width)]


def partitioned(
    widths: Sequence[int], output: Sequence[frozenset], assembler: Assembler
) -> list[Node]:
    """Programs for one output word whose bits, XORs of several among them, go by few distances: all ways
    to put these together are looked at."""
    images, flips = _images(output)
    if len(images) > MOST or all(len(bit) < 2 for bit in output):
        return []
    words, groups = _moved(widths, images, frozenset())
    if not FEWEST <= len(groups) <= FEW:
        return []
    tree = assembler.partitioned(words, groups)
    if tree is None:
        return []
    tree = made("xor", tree, flips) if flips else tree
    return [tree] if _right(tree, widths, output, assembler.width) else []


def by_bits(widths: Sequence[int], output: Sequence[frozenset], width: int) -> Node | None:
    """One output word as the sum of each input bit by its image: (x >> b & 1) * w. Several outputs
    share the bits."""
    images, flips = _images(output)
    total = const(flips)
    for (word, bit), image in sorted(images.items()):
        tree = made("shr", word_of(word), bit) if bit else word_of(word)
        if bit < widths[word] - 1:
            tree = made("and", tree, 1)
        low = image.bit_length() - 1
        if image == 1 << low:
            tree = made("shl", tree, low) if low else tree
        else:
            tree = made("mul", tree, image)
        total = tree if total == ZERO else made("xor", tree, total)
    return total if _right(total, widths, output, width) else None


def carried(widths: Sequence[int], output: Sequence[frozenset], assembler: Assembler) -> list[Node]:
    """Programs for one output word in which an addition carries the highest bit of an input up,
    beside others that stay: (x + 4) & 9."""
    if any(len(bit) > 1 or None in bit for bit in output):
        return []
    starts = first_bits(widths)
    where = {starts[w] + b: (w, b) for w, width in enumerate(widths) for b in range(width)}
    moves = [(source, to) for to, bit in enumerate(output) for source in bit]
    words = [Word(word_of(k), (1 << width) - 1) for k, width in enumerate(widths)]
    found = []
    for w, width in enumerate(widths):
        tops = [to for source, to in moves if source == (w, width - 1)]
        others = {to - b for (k, b), to in moves if k == w and b < width - 1}
        for by in others if len(tops) == 1 else ():
            top = width - 1 + min(by, 0)
            up = tops[0] - max(by, 0)
            if not 0 < top < up:
                continue
            those = [(s, to) for s, to in moves if s[0] == w and to - s[1] == by]
            tree = word_of(w) if by >= 0 else made("shr", word_of(w), -by)
            mask = union(1 << to - max(by, 0) for _, to in those) | 1 << up
            tree = made("and", made("add", tree, (1 << up) - (1 << top)), mask)
            tree = made("shl", tree, by) if by > 0 else tree
            rest = [m for m in moves if m not in those and m[0] != (w, width - 1)]
            groups = groups_of([(starts[k] + b, to) for (k, b), to in rest], where)
            total = assembler.assemble(words, groups)
            if total is not None:
                found.append(made("add", total, tree) if groups else tree)
    return [tree for tree in found if _right(tree, widths, output, assembler.width)]


def _images(output: Sequence[frozenset]) -> tuple[dict[tuple[int, int], int], int]:
    """The image of each input bit, and the bits that are flipped."""
    images: dict[tuple[int, int], int] = {}
    for place, sources in enumerate(output):
        for source in sources - {None}:
            images[source] = images.get(source, 0) | 1 << place
    return images, sum(1 << place for place, bit in enumerate(output) if None in bit)


def union_of(chosen: Sequence[tuple[Pattern, Bits]]) -> Bits:
    """The bits of all parts."""
    return frozenset(source for _, bits in chosen for source in bits)


def _parts(images: dict[tuple[int, int], int]) -> list[tuple[Pattern, Bits]]:
    """The bits of each pattern, apart where their images overlap."""
    found: dict[Pattern, list[tuple[int, set[tuple[int, int]]]]] = {}
    for (word, bit), image in sorted(images.items()):
        low = (image & -image).bit_length() - 1
        heaps = found.setdefault((word, image >> low, low - bit), [])
        for k, (taken, bits) in enumerate(heaps):
            if not taken & image:
                heaps[k] = taken | image, bits | {(word, bit)}
                break
        else:
            heaps.append((image, {(word, bit)}))
    return [(key, frozenset(bits)) for key, heaps in found.items() for _, bits in heaps]


def _price(part: Pattern, assembler: Assembler) -> float:
    price = assembler.price
    total = price["and"] + price["xor"]
    if part[2]:
        total += price["shl"]
    if part[1] > 1:
        total += price["mul"]
    return total


def _tree(
    widths: Sequence[int],
    images: dict[tuple[int, int], int],
    chosen: Sequence[tuple[Pattern, Bits]],
    assembler: Assembler,
) -> Node | None:
    total = assembler.assemble(*_moved(widths, images, union_of(chosen)))
    if total is None:
        return None
    for (word, pattern, by), bits in chosen:
        mask = union(1 << b for _, b in bits)
        tree = word_of(word)
        if by < 0:
            tree, mask = made("shr", tree, -by), mask >> -by
        if mask != (1 << max(0, widths[word] + min(by, 0))) - 1:
            tree = made("and", tree, mask)
        if by > 0:
            tree = made("shl", tree, by)
        if pattern > 1:
            tree = made("mul", tree, pattern)
        total = tree if total == ZERO else made("xor", total, tree)
    return total


def _moved(
    widths: Sequence[int], images: dict[tuple[int, int], int], done: Bits
) -> tuple[list[Word], Groups]:
    """(the input words, the groups that their bits move in, but for those that are done)."""
    starts = first_bits(widths)
    where = {starts[w] + b: (w, b) for w, width in enumerate(widths) for b in range(width)}
    moves = [
        (starts[w] + b, to)
        for (w, b), image in images.items()
        if (w, b) not in done
        for to in range(image.bit_length())
        if image >> to & 1
    ]
    words = [Word(word_of(k), (1 << width) - 1) for k, width in enumerate(widths)]
    return words, groups_of(moves, where)


def _right(tree: Node, widths: Sequence[int], output: Sequence[frozenset], width: int) -> bool:
    starts = first_bits(widths)
    wanted = [
        sum(1 if source is None else 2 << starts[source[0]] + source[1] for source in bit)
        for bit in output
    ]
    while wanted and not wanted[-1]:
        wanted.pop()
    return meaning(tree, widths, width) == wanted
