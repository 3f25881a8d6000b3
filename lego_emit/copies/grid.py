"""From a box of a copy to what the threads of a GPU do.

A box whose digits are contiguous on one side each is moved tile by tile: a block of threads loads lines of the
source into shared memory and stores lines of the destination, both 64 to 256 bytes long. Rows of the tile are padded to
an odd number of words, so that the threads of a warp meet in no bank. Elements of 1 and 2 bytes are moved as words of 4
bytes, whose bytes are exchanged in registers; neighbors on both sides as words of up to 16 bytes. Where that takes
strides that are not known, or memory that may not be aligned, the kernel chooses when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import prod
from typing import Any

from ..errors import TargetError
from ..ir.grids import (
    PLACE,
    THREADS,
    TILE,
    VECTOR,
    Aligned,
    Arm,
    Barrier,
    Gather,
    Holds,
    Items,
    Load,
    Mix,
    Pieces,
    Spread,
    Store,
)
from ..ir.nests import DESTINATION, SOURCE, Let, Ref, Statement, When, all_of, plus
from ..ir.nodes import Node, const, made, var
from .bits import FEWEST, Counter
from .digits import Size, Sizes
from .plan import Box
from .scopes import Scopes
from .tiles import chain
from .values import least, node_of

WORD, BANKS = 4, 128  # bytes of a bank of shared memory, and of all
LINE = 256  # bytes of a tile's line
MOST_TILE = 2**14  # bytes of a tile of single elements
WHOLE = "whole"  # the name of whether a tile lies inside of the box
PACKED = 128  # elements of a line where words are packed
WAITING = THREADS * 16  # words that wait for the tile's threads: more are no faster


@dataclass(frozen=True)
class Cells:
    """How a box is cut into words. run: neighbors on both sides that are one cell; packed: cells of a word, whose
    bytes are exchanged; bytes: of a word; conditions: what it takes that is not known."""

    run: int
    packed: int
    bytes: int
    conditions: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Pitch:
    """Where a digit's steps lie in a tile, in words. pad: words behind so many rows, each a step."""

    step: int
    pad: int = 0
    rows: int = 1

    @property
    def each(self) -> int:
        """The words of so many rows, and the pad."""
        return self.rows * self.step + self.pad

    def places(self, index: Node, many: int = 1) -> list[tuple[Node, Node]]:
        """Strides and indices of a place; the index counts so many rows at once."""
        if self.rows == many:
            return [(const(self.each), index)]
        found = [(const(self.step * many), index)]
        return found + (
            [(const(self.pad), made("div", index, self.rows // many))] if self.pad else []
        )


class GridNest:
    """What threads do for one box."""

    def __init__(
        self,
        box: Box,
        element_bytes: int,
        names: Scopes,
        sizes: Sizes,
        tiles: bool,
        shared: int = 3 * 2**14,
    ):
        self.shared = shared  # bytes that a block of threads has for a tile and its padding
        self.box, self.bytes, self.names, self.sizes = box, element_bytes, names, sizes
        self.digits, self.tiles = box.digits, tiles
        self.kinds: list[str] = []

    # -- cells -------------------------------------------------------------------------------------

    def _divides(self, count: int, sizes: Sequence[Size]) -> list[Node] | None:
        """The conditions that a number divides all of these; None where it is known that it does not."""
        found: list[Node] = []
        for size in sizes:
            rest = self.sizes.mod(size, count) if count > 1 else 0
            if rest == 0:
                continue
            if isinstance(rest, int):
                return None
            found.append(made("eq", made("mod", node_of(size), count), 0))
        return found

    def cells(self, most: int = VECTOR) -> Cells:
        """The widest words that the box may be moved by, of at most so many bytes."""
        run = next((d for d in self.digits if (d.a, d.b) == (1, 1)), None)
        size, best = most, Cells(1, 1, self.bytes)
        while run is not None and size > self.bytes:
            count = size // self.bytes
            strides = [s for d in self.digits if d is not run for s in (d.a, d.b)]
            conditions = self._divides(count, [run.n, self.box.a, self.box.b, *strides])
            if conditions is not None:
                best = Cells(count, 1, size, tuple(conditions))
                break
            size //= 2
        return self._packed(best)

    def _packed(self, cells: Cells) -> Cells:
        """With bytes that are exchanged in words, where words are short and it can be."""
        ends = self.ends(cells)
        count = WORD // cells.bytes
        if ends is None or count < 2:
            return cells
        p, q = (self.digits[k] for k in ends)
        whole = count * cells.run
        others = [
            s for d in self.digits for s in ([] if d is p else [d.a]) + ([] if d is q else [d.b])
        ]
        more = self._divides(whole, [self.box.a, self.box.b, *others])
        extents = self._divides(count, [p.n, q.n])
        if more is None or extents is None:
            return cells
        return Cells(cells.run, count, WORD, (*cells.conditions, *more, *extents))

    def ends(self, cells: Cells) -> tuple[int, int] | None:
        """The digits whose cells are neighbors in the source and in the destination, where the box is moved
        through tiles."""
        if not self.tiles or self.box.is_padding:
            return None
        if any((d.a, d.b) == (1, 1) and (d.n != cells.run or cells.run == 1) for d in self.digits):
            return None
        p = next((k for k, d in enumerate(self.digits) if d.a == cells.run), None)
        q = next((k for k, d in enumerate(self.digits) if d.b == cells.run), None)
        return None if p is None or q is None else (p, q)

    # -- sizes in words ------------------------------------------------------------------------------

    def _over(self, size: Size, count: int, stem: str) -> Node:
        """A size over a number that divides it, by a name where it is no number."""
        if count == 1:
            return self.names.named(size, stem)
        exact = self.sizes.quotient(size, count)
        if exact is not None:
            return self.names.named(exact, stem)
        return self.names.kept(made("div", node_of(size), count), stem)

    def _count(self, k: int, cells: Cells) -> Node:
        """How many cells a digit has."""
        d = self.digits[k]
        if (d.a, d.b) == (1, 1) and cells.run > 1:
            return self._over(d.n, cells.run, "n")
        return self.names.named(d.n, "n")

    # -- all threads ---------------------------------------------------------------------------------

    def spread(self, cells: Cells) -> tuple[list[Statement], Node]:
        """A word for each thread, in the order of the destination; how many blocks that takes."""
        digits = [*range(len(self.digits))][::-1]
        counts = [self._count(k, cells) for k in digits]
        kept = [(k, n) for k, n in zip(digits, counts, strict=True) if n != const(1)]
        total = self.names.kept(product_of([n for _, n in kept]), "words")
        number = self.names.local("id")
        index, around = self._decoded(var(number), kept, "i")
        offsets = [
            _sum(self._over(start, cells.run, "from" if side == "a" else "to"),
                 [(self._stride(k, side, cells), index[k]) for k, _ in kept])
            for side, start in (("a", self.box.a), ("b", self.box.b))
        ]  # fmt: skip
        moved: list[Statement] = [Store(Ref(DESTINATION, offsets[1]), "", cells.bytes)]
        if not self.box.is_padding:
            name = self.names.local("x")
            moved = [
                Load(name, Ref(SOURCE, offsets[0]), cells.bytes),
                Store(Ref(DESTINATION, offsets[1]), name, cells.bytes),
            ]
            self._say(f"words of {cells.bytes} byte{'s' * (cells.bytes > 1)}")
        return [Spread(number, total, around(moved))], ceiling(total, THREADS)

    def _stride(self, k: int, side: str, cells: Cells) -> Node:
        d = self.digits[k]
        stride = getattr(d, side)
        if stride == cells.run or (stride == 1 and (d.a, d.b) == (1, 1)):
            return const(1)
        return self._over(stride, cells.run * cells.packed, side)

    def _decoded(
        self, number: Node, counts: Sequence[tuple[int, Node]], stem: str
    ) -> tuple[dict[int, Node], Callable[[Sequence[Statement]], tuple[Statement, ...]]]:
        """Names for the digits of a number, the fastest first, and what puts them before statements. More than three digits of
        two and more whose strides are numbers stay a number, whose bits are taken."""
        lets: list[Statement] = []
        counters: list[Counter] = []
        names = {k: self.names.local(f"{stem}{k}") for k, _ in counts}
        groups: list[list[tuple[int, Node]]] = []
        for n, same in groupby(counts, key=lambda count: count[1]):
            run = [*same]
            strides = [s for k, _ in run for s in (self.digits[k].a, self.digits[k].b)]
            is_bits = (
                n == const(2) and len(run) > FEWEST and all(isinstance(s, int) for s in strides)
            )
            groups += [run] if is_bits else [[own] for own in run]
        for at, group in enumerate(groups):
            own = product_of([n for _, n in group])
            is_last = at == len(groups) - 1
            value = number if is_last else made("mod", number, own)
            if len(group) == 1:
                lets.append(Let(names[group[0][0]], value))
            else:
                bits = self._named(lets, value, f"{stem}_bits{at}").value
                digits = [names[k] for k, _ in reversed(group)]
                counters.append(Counter(bits, digits, self.names.fresh))
            number = made("div", number, own)
            if at < len(groups) - 2:
                number = self._named(lets, number, f"{stem}_rest{at}")

        def around(body: Sequence[Statement]) -> tuple[Statement, ...]:
            for counter in counters:
                body = counter.body(body)
            return (*lets, *body)

        return {k: var(name) for k, name in names.items()}, around

    # -- tiles ---------------------------------------------------------------------------------------

    def _extents(self, cells: Cells, p: int, q: int) -> list[int]:
        """How many cells of each digit a tile has."""
        size = cells.bytes // cells.packed
        packs = cells.packed > 1
        line = PACKED if packs else max(1, min(64, LINE // size))
        most = PACKED**2 if packs else min(WAITING, MOST_TILE // size)
        while most * size >= self.shared:  # beside padding
            line, most = max(1, line // 2), most // 2
        found = [1] * len(self.digits)
        ends = []
        for side in "ab":
            strides = [getattr(d, side) for d in self.digits]
            taken = chain(self.digits, strides, line * cells.run, cells.run)
            for t in taken:
                found[t.digit] = max(found[t.digit], t.extent)
            ends.append(taken[-1].digit if taken else (p if side == "a" else q))
        for k in ends:
            n = self.digits[k].n
            while 2 * prod(found) <= most and (not isinstance(n, int) or n >= 2 * found[k]):
                found[k] *= 2
        for k in (p, q):  # a whole digit has whole words, too
            found[k] = -(-found[k] // cells.packed) * cells.packed
        return found

    def tiled(self, cells: Cells, p: int, q: int) -> tuple[list[Statement], Node]:
        """Tile by tile through shared memory; how many tiles."""
        names, pack = self.names, cells.packed
        tile = self._extents(cells, p, q)
        used = [k for k, t in enumerate(tile) if t > 1]
        partial = [k for k in used if self.digits[k].n != tile[k]]

        def scale(k: int) -> int:
            return pack if k in (p, q) else 1

        counts: list[tuple[int, Node]] = []
        for k in self._source_order(p):
            n = self._count(k, cells)
            if k in partial:
                counts.append((k, self._tiles_of(k, n, tile[k])))
            elif k not in used and n != const(1):
                counts.append((k, n))
        counts = [(k, n) for k, n in counts if n != const(1)]
        pieces = names.kept(product_of([n for _, n in counts]), "tiles")
        piece = names.local("piece")
        which, around = self._decoded(var(piece), counts, "k")
        lets: list[Statement] = []
        first: dict[int, Node] = {}
        for k, node in which.items():
            if k in partial:
                name = names.local(f"t{k}")
                lets.append(Let(name, made("mul", node, tile[k] // scale(k))))
                node = var(name)
            first[k] = node
        starts = []
        for side, start, own in (("a", self.box.a, p), ("b", self.box.b, q)):
            terms = []
            for k, node in first.items():
                stride = self._stride(k, side, cells)
                many = scale(k) if k != own else 1
                terms.append(_term(stride, node, many))
            offset = _sum(
                self._over(start, cells.run * pack, "from" if side == "a" else "to"), terms
            )
            if offset.args:
                name = names.local("reads" if side == "a" else "writes")
                lets.append(Let(name, offset))
                offset = var(name)
            starts.append(offset)
        within = self._in_tile(tile, p, q, cells)
        if whole := self._whole(tile, first, partial, scale):
            lets.append(whole)
        fill = self._fill(tile, p, q, cells, first, starts[0], within)
        drain = self._drain(tile, p, q, cells, first, starts[1], within)
        body = around([*lets, fill, Barrier(), drain, Barrier()])
        words = f" words of {cells.bytes} bytes" * (cells.run > 1 and pack == 1)
        what = f"tiles of {' x '.join(str(tile[k]) for k in used)}{words} through shared memory"
        if pack > 1:
            what += f", {pack} elements a word"
        self._say(what)
        return [Pieces(piece, pieces, body)], pieces

    def _tiles_of(self, k: int, n: Node, size: int) -> Node:
        if n.op == "const":
            return const(-(-n.value // size))
        return self.names.kept(ceiling(n, size), "count")

    def _source_order(self, p: int) -> list[int]:
        """All digits, the fastest one in the source first, the others by the destination, the fastest first."""
        others = [k for k in range(len(self.digits)) if k != p][::-1]
        known = [k for k in others if isinstance(self.digits[k].a, int)]
        ranked = sorted(known, key=lambda k: abs(self.digits[k].a))
        return [p, *ranked, *(k for k in others if k not in known)]

    def _in_tile(self, tile: Sequence[int], p: int, q: int, cells: Cells) -> dict[int, Pitch]:
        """The pitch of each digit in the tile in words, which has lines of the destination."""
        pack, phase = cells.packed, max(1, BANKS // cells.bytes)
        found = {q: Pitch(1)}
        running = tile[q] // pack
        for k in (k for k in reversed(range(len(tile))) if k != q and tile[k] > 1):
            found[k] = Pitch(running)
            if k == p:
                rows = phase // running if phase % running == 0 else 1
                rows = min(-(-max(rows, pack) // pack) * pack, tile[k])
                pad = _padding(rows * running, cells.bytes)
                found[k] = Pitch(running, pad if tile[k] > rows else 0, rows)
                running = (rows * running + pad) * -(-tile[k] // rows)
            else:
                running *= tile[k]
        return found

    def _inside(
        self, k: int, tile: int, first: dict[int, Node], own: Node, scale: int
    ) -> Node | None:
        """The condition that a step of a digit is below its extent."""
        n = self.digits[k].n
        if k not in first or (isinstance(n, int) and n % tile == 0):
            return None
        start = first[k]
        count = self._over(n, scale, "n") if scale > 1 else self.names.named(n, "n")
        return made("lt", made("add", start, own), count)

    def _fill(
        self, tile: Sequence[int], p: int, q: int, cells: Cells, first: dict[int, Node],
        start: Node, within: dict[int, Pitch],
    ) -> Statement:  # fmt: skip
        """A block of words from the source into the tile, exchanged where they are packed."""
        names, pack = self.names, cells.packed
        order = [k for k in self._source_order(p) if tile[k] > 1]
        blocks = [(k, const(tile[k] // pack if k in (p, q) else tile[k])) for k in order]
        blocks = [(k, n) for k, n in blocks if n != const(1)]
        item = names.local("item")
        index, around = self._decoded(var(item), blocks, "i")
        conditions = [
            found
            for k in order
            if (
                found := self._inside(
                    k, tile[k], first, index.get(k, const(0)), pack if k in (p, q) else 1
                )
            )
        ]
        terms, places = [], []
        for k in order:
            i = index.get(k)
            if i is None:
                continue
            many = pack if k == q else 1
            terms.append(_term(self._stride(k, "a", cells), i, many))
            places += within[k].places(i, pack if k == p else 1)
        of, to = _sum(start, terms), _sum(const(0), places)
        body: list[Statement] = []
        if pack > 1:
            of, to = (
                self._named(body, node, stem) for node, stem in ((of, "first"), (to, "place"))
            )
        condition = self._guarded(body, conditions)
        x = names.numbered("x")
        for k in range(pack):
            at = _sum(of, [(self._stride(q, "a", cells), const(k))]) if k else of
            body.append(Load(f"{x}{k}", Ref(SOURCE, at), cells.bytes, condition))
        mixes, held = transposed([f"{x}{k}" for k in range(pack)], x)
        body += mixes
        for k, word in enumerate(held):
            at = plus(to, k * within[p].step) if k else to
            body.append(Store(Ref(TILE, at), word, cells.bytes))
        return Items(item, prod(n.value for _, n in blocks), around(body))

    def _drain(
        self, tile: Sequence[int], p: int, q: int, cells: Cells, first: dict[int, Node],
        start: Node, within: dict[int, Pitch],
    ) -> Statement:  # fmt: skip
        """Words of the tile to the destination."""
        names, pack = self.names, cells.packed
        order = [q, *(k for k in reversed(range(len(tile))) if k != q and tile[k] > 1)]
        counts = [(k, const(tile[k] // pack if k == q else tile[k])) for k in order]
        counts = [(k, n) for k, n in counts if n != const(1)]
        item = names.local("item")
        index, around = self._decoded(var(item), counts, "i")
        conditions, terms, places = [], [], []
        for k, i in index.items():
            own = dict(first)
            if k == p and pack > 1 and k in first:
                own[k] = made("mul", first[k], pack)
            inside = self._inside(k, tile[k], own, i, pack if k == q else 1)
            conditions += [inside] if inside else []
            terms.append((self._stride(k, "b", cells), i))
            places += within[k].places(i)
        for k in (q,):  # a tile of one word of it
            if k not in index and (inside := self._inside(k, tile[k], first, const(0), pack)):
                conditions.append(inside)
        x, body = names.local("x"), list[Statement]()
        body.append(Load(x, Ref(TILE, _sum(const(0), places)), cells.bytes))
        condition = self._guarded(body, conditions)
        body.append(Store(Ref(DESTINATION, _sum(start, terms)), x, cells.bytes, condition))
        return Items(item, prod(n.value for _, n in counts), around(body))

    def _whole(
        self, tile: Sequence[int], first: dict[int, Node], partial: Sequence[int], scale: Any
    ) -> Holds | None:
        """The name of whether a tile lies inside of the box: then no word has to be asked for, and compilers make a
        loop of its own of that."""
        conditions = []
        for k in partial:
            n = self.digits[k].n
            if not isinstance(n, int) or n % tile[k]:
                end = plus(first[k], tile[k] // scale(k))
                conditions.append(made("le", end, self._over(n, scale(k), "n")))
        condition = all_of(conditions)
        return None if condition is None else Holds(self.names.local(WHOLE), condition)

    def _guarded(self, body: list[Statement], conditions: Sequence[Node]) -> Node | None:
        """The name of whether a word is inside of the box."""
        condition = all_of(conditions)
        if condition is None:
            return None
        name = self.names.local("inside")
        body.append(Holds(name, made("lor", var(self.names.local(WHOLE)), condition)))
        return var(name)

    def _named(self, body: list[Statement], node: Node, stem: str) -> Node:
        if not node.args:
            return node
        name = self.names.local(stem)
        body.append(Let(name, node))
        return var(name)

    # -- the box -------------------------------------------------------------------------------------

    def form(self, cells: Cells) -> tuple[list[Statement], Node]:
        """What is done with words of a kind."""
        ends = self.ends(cells)
        return self.spread(cells) if ends is None else self.tiled(cells, *ends)

    def statements(self) -> tuple[list[Statement], list[Node]]:
        """All that is done for the box, and how many blocks its parts take."""
        plain = Cells(1, 1, self.bytes)
        best = plain if self.box.is_padding else self.cells()
        if best == plain:
            body, blocks = self.form(plain)
            return body, [blocks]
        flag = self.names.fresh("wide")
        (then, one), said = self._scoped(best), len(self.kinds)
        otherwise, other = self._scoped(plain)
        self.kinds[said:] = [f"else {kind}" for kind in self.kinds[said:]]
        self.names.take(let.name for let in (*then, *otherwise) if isinstance(let, Let))
        first = Aligned(flag, best.bytes, all_of(best.conditions))
        return [first, When(None, then, otherwise, (flag,))], [one, other]

    def alone(self) -> tuple[list[Statement], list[Node]]:
        """The same with words that are elements."""
        body, blocks = self.form(Cells(1, 1, self.bytes))
        return body, [blocks]

    def packed(self, otherwise: Callable[[], Gather]) -> tuple[list[Statement], list[Node]]:
        """The same with words of 4 bytes of elements of fewer, where the box may be moved by them."""
        best = self.cells(WORD)
        may_be = not self.box.is_padding and best.bytes == WORD
        if may_be and not best.conditions:
            body, one = self.form(best)
            return body, [one]
        gather = otherwise()
        other = ceiling(gather.count, THREADS)
        if not may_be:
            return [gather], [other]
        then, one = self._scoped(best)
        flag = self.names.fresh("wide")
        first = Aligned(flag, 1, all_of(best.conditions))
        return [first, When(None, then, (gather,), (flag,))], [one, other]

    def arm(self, number: int) -> Arm:
        """Where an element comes from whose place is one of the box's. Raises TargetError where strides do not say
        which index a place has."""
        left: Node = var(PLACE)
        start = self.names.named(self.box.b, "to")
        lets, conditions, terms = list[Let](), list[Node](), list[tuple[Node, Node]]()
        if start != const(0):
            lets.append(Let(self.names.local(f"rest{number}"), made("sub", left, start)))
            left = var(lets[-1].name)
            conditions.append(made("ge", left, 0))
        reach: Size = 1
        for d in reversed(self.digits):
            if isinstance(d.b, int) and isinstance(reach, int) and d.b < reach:
                raise TargetError(
                    f"copy: places of {self.box} lie among each other, so that no word says which elements it has; give "
                    "an element of 4 bytes"
                )
            reach = self.sizes.times(d.n, d.b)
        bits = self._bits()
        others = len(self.digits) - len(bits)
        for k, d in enumerate(self.digits[:others]):
            index = left
            if d.b != 1:
                stride = self.names.named(d.b, "b")
                lets.append(Let(self.names.local(f"i{number}_{k}"), made("div", left, stride)))
                index = var(lets[-1].name)
                lets.append(Let(self.names.local(f"r{number}_{k}"), made("mod", left, stride)))
                left = var(lets[-1].name)
            else:
                left = const(0)
            is_remainder = k > 0 and self.digits[k - 1].b == self.sizes.times(d.n, d.b)
            if not is_remainder:  # which is below what it was divided by
                conditions.append(made("lt", index, self.names.named(d.n, "n")))
            terms.append((self.names.named(d.a, "a"), index))
        digits = {k: self.names.local(f"i{number}_{k}") for k in bits}
        of_bits = Counter(str(left.value), [*digits.values()], self.names.fresh)
        if bits:
            if not others or self.digits[others - 1].b != 2 ** len(bits):
                conditions.append(made("lt", left, 2 ** len(bits)))
            terms += [(node_of(self.digits[k].a), var(name)) for k, name in digits.items()]
            left = const(0)
        if left != const(0):
            conditions.append(made("eq", left, 0))
        source = None if self.box.is_padding else _sum(self.names.named(self.box.a, "from"), terms)
        if source is not None and bits:
            lets += [s for s in of_bits.body([Let("origin", source)]) if isinstance(s, Let)]
            source = lets.pop().value
        condition = all_of(conditions)
        assert condition is not None
        return Arm(tuple(lets), condition, source)

    def _bits(self) -> range:
        """The last digits, if they are bits of a place, and so many that they stay one number."""
        count = 0
        for d in reversed(self.digits):
            if (d.n, d.b) != (2, 2**count) or not isinstance(d.a, int):
                break
            count += 1
        return range(len(self.digits) - count * (count > FEWEST), len(self.digits))

    def _scoped(self, cells: Cells) -> tuple[tuple[Statement, ...], Node]:
        """The same with names that end with it."""
        lets, (body, blocks) = self.names.scoped(lambda: self.form(cells))
        return (*lets, *body), resolved(blocks, [*self.names.lets, *lets])

    def _say(self, kind: str) -> None:
        if kind not in self.kinds:
            self.kinds.append(kind)


def transposed(held: Sequence[str], stem: str) -> tuple[list[Mix], list[str]]:
    """A square of elements that several words have, with rows and columns exchanged: words are halved at one bit of
    their elements' numbers after the other, and exchange halves with the word whose number differs in that bit."""
    count = len(held)
    size, made_of, names = WORD // count, list[Mix](), [*held]
    for bit in (1 << k for k in range(count.bit_length() - 1)):
        after: list[str] = []
        for k in range(count):
            x, y = names[k & ~bit], names[k | bit]
            lanes = [
                (j if not j & bit else count + j - bit)
                if not k & bit
                else (j + bit if not j & bit else count + j)
                for j in range(count)
            ]
            after.append(f"{stem}{count + len(made_of)}")
            own = tuple(lane * size + byte for lane in lanes for byte in range(size))
            made_of.append(Mix(after[-1], x, y, own))
        names = after
    return made_of, names


def _padding(pitch: int, size: int) -> int:
    """Words that make a pitch of so many an odd number of banks, where it is a whole number."""
    unit = max(1, WORD // size)
    return unit if pitch % (2 * unit) == 0 else 0


def product_of(counts: Sequence[Node]) -> Node:
    """The product of counts, the numbers among them first."""
    known = prod(n.value for n in counts if n.op == "const")
    others = [n for n in counts if n.op != "const"]
    if not others:
        return const(known)
    found = reduce(lambda x, y: made("mul", x, y), others)
    return found if known == 1 else made("mul", known, found)


def ceiling(n: Node, size: int) -> Node:
    """How many pieces of a size there are, the last one perhaps smaller."""
    if n.op == "const":
        return const(-(-n.value // size))
    return made("div", plus(n, size - 1), size) if size > 1 else n


def _sum(start: Node, terms: Sequence[tuple[Node, Node]]) -> Node:
    """start plus each stride times an index."""
    found = start
    for stride, index in terms:
        if const(0) in (stride, index):
            continue
        term = index if stride == const(1) else made("mul", stride, index)
        if stride.op == index.op == "const":
            term = const(stride.value * index.value)
        elif index == const(1):
            term = stride
        found = term if found == const(0) else made("add", found, term)
    return found


def _term(stride: Node, index: Node, many: int) -> tuple[Node, Node]:
    """A stride and an index that counts so many steps at once."""
    if stride.op == "const":
        return const(stride.value * many), index
    return stride, index if many == 1 else made("mul", index, many)


def resolved(node: Node, lets: Sequence[Let]) -> Node:
    """A node of sizes, without the names of others, which are not negative."""
    values = {let.name: let.value for let in lets}

    def whole(node: Node) -> Node:
        if node.op == "var" and node.value in values:
            return whole(values[node.value])
        return least(made(node.op, *map(whole, node.args)), node.lo or 0) if node.args else node

    return whole(node)
