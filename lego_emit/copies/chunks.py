"""A copy in parts each of which writes a slice of the destination of its own, for threads of languages that ask
for one.

The destination is cut along the digit that is slowest in it, whose indices are rows that lie one behind the other, and
along the next digit within a row. A part has some rows, or a range of one row; a box is moved as far as it lies
there, to places that count from where the slice begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from random import Random
from typing import Any

from ..arith.expr import Expr
from ..arith.terms import Atom
from ..errors import LayoutError
from ..ir.nests import (
    ONE,
    PART,
    Abilities,
    Let,
    Statement,
    When,
    all_of,
    plus,
    times,
)
from ..ir.nodes import Node, const, evaluated, made, var
from .digits import Digit, Size, Sizes
from .hints import NEVER_LARGE
from .kinds import Kind, apart, kinds_of, length, moved
from .pieces import ENOUGH, LONG_PART, PIECE, Cut, Cutting, Pieces, folded, over, ranges, unit_of
from .plan import Box, Plan
from .schedule import BoxNest
from .tiles import ALL, Names
from .values import least, node_of, value_of

FEW = 8  # rows of which each is a part, whatever they have
DRAWS, DRAWN = 64, 600  # sizes at which a box is seen to lie in a row, and the largest one


@dataclass(frozen=True)
class Chunks(Pieces):
    """The nest of the part PART. chunks: how many elements a slice has of the destination, of such a slice, and so on,
    each with how many parts there are in one; boxes: of a part, each with what is named for it and its condition."""

    chunks: tuple[tuple[Node, Node], ...] = ()
    boxes: tuple[tuple[tuple[Let, ...], Node | None, Box], ...] = field(default=(), repr=False)

    @property
    def sliced(self) -> tuple[tuple[str, Node], ...]:
        """The named integers that the lengths of slices are made of."""
        return self.named_in([node for pair in self.chunks for node in pair])

    def slices(self, sizes: Mapping[str, int], end: int) -> Iterator[tuple[int, int, int]]:
        """Each part at numbers with where its slice begins and ends. end: of the destination."""
        env: dict[str, Any] = dict(sizes)
        for name, node in self.sliced:
            env[name] = evaluated(node, env, {})
        lengths = [[int(evaluated(node, env, {})) for node in pair] for pair in self.chunks]

        def within(level: int, part: int, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
            if level == len(lengths):
                yield part, start, stop
                return
            length, count = lengths[level]
            for k, at in enumerate(range(start, stop, max(1, length))):
                yield from within(level + 1, part + k * count, at, min(at + length, stop))

        return within(0, 0, 0, end)

    def pairs(self, part: int, sizes: Mapping[str, int]) -> Iterator[tuple[Box, Any, Any]]:
        """The boxes of a part, and their positions in the source and in its slice."""
        for box in self.boxes_of(part, sizes):
            yield box, *box.pairs({})

    def boxes_of(self, part: int, sizes: Mapping[str, int]) -> Iterator[Box]:
        """The boxes of a part, of numbers."""
        env: dict[str, Any] = {**sizes, PART: part}

        def name(lets: Sequence[Statement]) -> None:
            for let in lets:
                assert isinstance(let, Let)
                env[let.name] = evaluated(let.value, env, {})

        name(self.lets)
        name(self.loops[: sum(len(c.names) for cuts in self.cuts for c in cuts)])
        for lets, condition, box in self.boxes:
            name(lets)
            if condition is None or evaluated(condition, env, {}):
                yield box.at(env)


@dataclass(frozen=True)
class _Level:
    """Rows that lie one behind the other. stride: between two of them; length: that, or 1 where there are none; n: how
    many there are in one of the level before; digits: that of each box, if it has one; starts: the row where each box
    begins; unit: what parts have multiples of."""

    stride: Size
    length: Node
    n: Node
    digits: tuple[Digit | None, ...]
    starts: tuple[Node, ...]
    unit: int


def in_chunks(
    plan: Plan,
    samples: Sequence[Mapping[str, int]],
    taken: Sequence[str] = (),
    abilities: Abilities = ALL,
    piece: int = 0,
) -> Chunks:
    """The nest of a part of a plan. samples: numbers for sizes, at which rows are looked for; taken: names that it has
    not; piece: bytes that a part has at least, about.

    Raises LayoutError where the destination is not made of such rows.
    """
    boxes: list[Box] = []
    plan = _with_rows(plan)
    found = _in_chunks(plan, samples, taken, abilities, piece, {}, boxes)
    if plan.space.sizes and abilities.calls and length(found.body) > LONG_PART:
        known = [*plan.space.sizes, *taken]
        kinds = kinds_of(boxes, plan.element_bytes, known, abilities)
        found = _in_chunks(plan, samples, taken, abilities, piece, kinds, [])
        if length(found.body) > LONG_PART:
            found = _in_chunks(plan, samples, taken, abilities, piece, kinds, [], True)
    return found


def _in_chunks(
    plan: Plan,
    samples: Sequence[Mapping[str, int]],
    taken: Sequence[str],
    abilities: Abilities,
    piece: int,
    kinds: Mapping[int, Kind],
    pieces: list[Box],
    is_apart: bool = False,
) -> Chunks:
    """The same, where boxes are moved by the functions of their kinds. pieces: is given those of a part; is_apart:
    whether boxes with one condition have a function of their own, and padding has one."""
    names = Names([*plan.space.sizes, *taken, PART])
    size = node_of(plan.destination_size)
    nests = [BoxNest(b, plan.element_bytes, names.aside(), None, abilities) for b in plan.boxes]
    levels, starts = _levels(plan, nests, samples, names)
    cutting = Cutting(names, piece)
    cuts = _cuts(levels, cutting, times(size, plan.element_bytes))
    counts = [cut.count for cut in cuts]
    if not cuts and (size.op != "const" or size.value * plan.element_bytes >= 2 * PIECE):
        raise LayoutError(
            f"copy: threads each write a slice of the destination, and each slice of {plan.space.destination!r} that has "
            "whole blocks is all of it; leave out threads"
        )
    count = reduce(lambda x, y: folded("mul", x, y), counts, ONE)
    chunks = _slices(cuts, cutting)
    total = times(size, plan.element_bytes)
    main = size.op != "const" or size.value * plan.element_bytes >= NEVER_LARGE
    found: list[Statement] = [*ranges(cuts, least(var(PART), 0))]
    boxes: list[tuple[tuple[Let, ...], Node | None, Box]] = []
    known: dict[Node, str] = {}
    groups: dict[tuple[Node | None, bool], list[int]] = {}
    for at, whole in enumerate(plan.boxes):
        before, condition, box = _part(whole, at, starts[at], levels, cuts, names, known)
        if at:
            a, b = (_summands(side, plan.space.sizes) for side in (box.a, box.b))
            box = replace(box, starts=(*((e, 0) for e in a), *((0, e) for e in b)))
        boxes.append((tuple(before), condition, box))
        pieces.append(box)
        groups.setdefault((condition, box.is_padding), []).append(at)
        found += before
    local = [*(n for c in cuts for n in c.names), *known.values()]
    padding: list[Statement] = []
    for number, ((condition, pads), members) in enumerate(groups.items()):
        own = names.aside() if is_apart else names.within(local)
        body: list[Statement] = []
        for at in members:
            box = boxes[at][2]
            call = kinds[at].call(box, own) if at in kinds else None
            if at and call is not None:
                body.append(call)
                continue
            large = total if main and at == 0 else None
            body += moved(BoxNest(box, plan.element_bytes, own, large, abilities), call)
        inner = own.before(body)
        inner = apart(inner, f"rows{number or ''}") if is_apart and len(members) > 1 else inner
        into = padding if is_apart and pads else found
        into += inner if condition is None else (When(condition, inner),)
    found += apart(padding, "padding") if padding else ()
    return Chunks(tuple(names.lets), tuple(found), count, (tuple(cuts),), chunks, tuple(boxes))


def _with_rows(plan: Plan) -> Plan:
    """The plan whose padding has digits apart that are one in it, but two in the boxes of elements: rows, and what
    lies in one."""
    arithmetic = Sizes(plan.space.known)
    rows = {node_of(d.b): d.b for box in plan.boxes if not box.is_padding for d in box.digits}

    def apart(digit: Digit) -> list[Digit]:
        for row in rows.values():
            ratio = arithmetic.quotient(arithmetic.of(row), arithmetic.of(digit.b))
            if ratio is None or ratio == 1:
                continue
            count = arithmetic.quotient(arithmetic.of(digit.n), ratio)
            if count is not None and count != 1:
                n, within = (_own(size, plan) for size in (count, ratio))
                return [replace(digit, n=n, b=row), *apart(replace(digit, n=within))]
        return [digit]

    def of(box: Box) -> Box:
        return replace(box, digits=tuple(e for d in box.digits for e in apart(d)))

    return replace(plan, boxes=tuple(of(box) if box.is_padding else box for box in plan.boxes))


def _levels(
    plan: Plan, nests: Sequence[BoxNest], samples: Sequence[Mapping[str, int]], names: Names
) -> tuple[list[_Level], list[Size]]:
    """How the destination is made of rows, and where each box begins in the last ones."""
    arithmetic = Sizes(plan.space.known)
    found: list[_Level] = []
    left = [[*box.digits] for box in plan.boxes]
    starts: list[Size] = [box.b for box in plan.boxes]
    end: Size = plan.destination_size
    dynamic, known = 0, 1
    draw = Random(0)
    tried = [{n: draw.randint(1, DRAWN) for n in plan.space.sizes} for _ in range(DRAWS)]
    tried = [*samples, *tried] if plan.space.sizes else samples
    while dynamic < 2:
        strides = {node_of(d.b): d.b for digits in left for d in digits}
        stride = next((s for s in strides.values() if _has_rows(s, left, starts, samples)), None)
        if stride is None:
            break
        node = node_of(stride)
        own = [next((d for d in ds if node_of(d.b) == node), None) for ds in left]
        unit = max(_unit(nest, d) for nest, d in zip(nests, own, strict=True) if d is not None)
        ends = arithmetic.of(end), arithmetic.of(stride)
        exact = arithmetic.quotient(*ends)
        length = names.of(node, "row")
        if not arithmetic.at_most(1, ends[1]):
            length = names.of(made("max", node, const(1)), "row")
        length = least(length, 1)
        n = over(node_of(end), length) if exact is None else node_of(_own(exact, plan))
        firsts: list[Node] = []
        for k, (start, digit) in enumerate(zip(starts, own, strict=True)):
            is_whole = digit is not None and node_of(digit.n) == n  # and begins in the first row
            whole: tuple[Size, Size] = 0, start
            if not is_whole:
                others = [d for d in left[k] if d is not digit]
                whole = _row_of(start, ends[1], others, tried, arithmetic)
            firsts.append(names.of(node_of(_own(whole[0], plan)), "first"))
            if firsts[-1] != const(0):
                starts[k] = _own(whole[1], plan)
        found.append(_Level(stride, length, n, tuple(own), tuple(firsts), unit))
        left = [[e for e in ds if e is not d] for ds, d in zip(left, own, strict=True)]
        known *= n.value if n.op == "const" else ENOUGH
        dynamic += known >= ENOUGH
        end = stride
        if unit > 1:
            break
    if not found:
        raise LayoutError(
            f"copy: threads each write a slice of the destination, and {plan.space.destination!r} is not made of rows that "
            "lie one behind the other; leave out threads"
        )
    return found, starts


def _row_of(
    start: Size,
    length: Size,
    digits: Sequence[Digit],
    samples: Sequence[Mapping[str, int]],
    arithmetic: Sizes,
) -> tuple[Size, Size]:
    """The row where a box begins, and where in it: what is left of the sum without whole rows, where that is within a
    row whenever the box has elements, is not divided. digits: of the box in a row."""

    def divides(atom: Atom) -> bool:
        is_quotient = atom.kind == "floordiv" or (atom.kind == "digit" and atom.args[2] is None)
        return is_quotient and arithmetic.same(Expr.of(atom.args[1]), length)

    start = arithmetic.of(start)
    row = arithmetic.floor(start, length)
    terms = Expr.of(row).terms
    kept = Expr({m: c for m, c in terms.items() if not any(map(divides, m))})
    for some in (kept, _multiple(start, length)):
        if some is None or len(kept.terms) == len(terms):
            continue
        whole = arithmetic.of(some)
        rest = arithmetic.plus(start, -Expr.of(arithmetic.times(whole, length)))
        if all(_is_within(rest, length, digits, sizes) for sizes in samples):
            return whole, rest
    return row, arithmetic.mod(start, length)


def _multiple(start: Size, length: Size) -> Expr | None:
    """What a length's first product of symbols is multiplied by in a sum."""
    first = next((m for m in Expr.of(length).terms if m), None)
    if first is None:
        return None
    factor, found = Expr.of(length).terms[first], Expr.of(0)
    for mono, own in Expr.of(start).terms.items():
        rest = [*mono]
        if own % factor or any(a not in rest for a in first):
            continue
        for atom in first:
            rest.remove(atom)
        found = found + Expr({tuple(rest): own // factor})
    return found


def _is_within(
    start: Size, length: Size, digits: Sequence[Digit], sizes: Mapping[str, int]
) -> bool:
    """Whether a box that begins there has no element outside of a row at numbers."""
    try:
        counts = [value_of(d.n, sizes) for d in digits]
        if not all(counts):
            return True
        reach = sum((n - 1) * value_of(d.b, sizes) for n, d in zip(counts, digits, strict=True))
        return 0 <= value_of(start, sizes) < value_of(length, sizes) - reach
    except ZeroDivisionError:  # of sizes that may not be
        return False


def _own(size: Size, plan: Plan) -> Size:
    """A size in symbols of the user's own."""
    return size if isinstance(size, int) else plan.space.known.unsubstitute(Expr.of(size))


def _has_rows(
    stride: Size,
    boxes: Sequence[Sequence[Digit]],
    starts: Sequence[Size],
    samples: Sequence[Mapping[str, int]],
) -> bool:
    """Whether each box lies in rows of so many elements, of which one of its digits counts whole ones."""
    node = node_of(stride)
    for sizes in samples:
        length = value_of(stride, sizes)
        for digits, start in zip(boxes, starts, strict=True):
            numbers = [(d, value_of(d.n, sizes), value_of(d.b, sizes)) for d in digits]
            if not all(n for _, n, _ in numbers):
                continue
            if length < 1 or any(b < 0 for _, _, b in numbers):
                return False
            reach = sum((n - 1) * b for d, n, b in numbers if node_of(d.b) != node)
            if value_of(start, sizes) % length + reach >= length:
                return False
    return True


def _unit(nest: BoxNest, digit: Digit) -> int:
    k = next(k for k, d in enumerate(nest.digits) if d is digit)
    return unit_of(nest, k)[1]


def _cuts(levels: Sequence[_Level], cutting: Cutting, total: Node) -> list[Cut]:
    """How much of each level a part has: one row, but for the last level that is cut."""
    wanted = cutting.wanted(total)
    found: list[Cut] = []
    several = ONE  # rows of the levels before that a part has
    for level in levels:
        n = cutting.named(level.n, "rows") if level.n.args else level.n
        rounds = cutting.named(over(n, const(level.unit)), "rounds")
        is_last = level is levels[-1]
        if rounds == ONE:
            break
        most = wanted.value if wanted.op == "const" else FEW
        if not is_last and n.op == "const" and n.value <= most:
            grain = ONE
        else:
            grain = cutting.grain(n, rounds, level.unit, wanted)
        if several.op == "const" and several != ONE:
            break
        if several != ONE:
            whole = made("select", made("gt", several, 1), n, grain)
            grain = cutting.named(whole, "grain", 1)
        count = cutting.named(over(n, grain), "count", 0 if cutting.names.may_be_zero(n) else 1)
        if count == ONE:
            break
        start, extent = cutting.names.fresh("start"), grain
        if grain != ONE and (n.op != "const" or grain.op != "const" or n.value % grain.value):
            extent = var(cutting.names.fresh("extent"))
        found.append(Cut(level.length, n, start, extent, grain, count))
        several = folded("mul", several, grain)
        if not is_last:
            share = least(plus(count, 1), 1) if cutting.names.may_be_zero(n) else count
            wanted = cutting.named(over(wanted, share), "wanted", 1)
    return found


def _slices(cuts: Sequence[Cut], cutting: Cutting) -> tuple[tuple[Node, Node], ...]:
    """The lengths of slices of slices, without those that are whole numbers of the next ones."""
    found: list[tuple[Node, Node]] = []
    several = ONE
    for k, cut in enumerate(cuts):
        several = folded("mul", several, cut.grain)
        length = cutting.named(folded("mul", several, cut.stride), "length", 1)
        count = reduce(lambda x, y: folded("mul", x, y), (c.count for c in cuts[k + 1 :]), ONE)
        if found and found[-1][0].op == length.op == "const":
            before, parts = found[-1]
            own = parts.value // count.value if parts.op == count.op == "const" else 0
            if before.value == own * length.value:
                found.pop()
        found.append((length, count))
    return tuple(found)


def _size(node: Node) -> Expr:
    """A number or a name as a size."""
    return Expr.of(node.value) if node.op == "const" else _symbol(node.value)


def _symbol(name: Any) -> Expr:
    return Expr.atom(Atom("sym", name))


def _part(
    whole: Box,
    at: int,
    start: Size,
    levels: Sequence[_Level],
    cuts: Sequence[Cut],
    names: Names,
    known: dict[Node, str],
) -> tuple[list[Let], Node | None, Box]:
    """What lies of a box in a part: what is named, the condition that there is something, and the box. start: where it
    begins in the rows of the last level; known: names of what other boxes have, too."""
    digits = [*whole.digits]
    a: Any = Expr.of(whole.a)
    b: Any = Expr.of(start)
    lets: list[Let] = []
    conditions: list[Node] = []

    def named(node: Node, stem: str) -> Node:
        if node not in known:
            known[node] = names.fresh(stem)
            lets.append(Let(known[node], node))
        return var(known[node])

    last = levels[len(cuts) :]
    for level in last:  # which are not cut
        b = b + _size(level.starts[at]) * Expr.of(level.stride)
    for level, cut in zip(levels, cuts, strict=False):
        digit, first = level.digits[at], level.starts[at]
        begin, end = var(cut.start), folded("add", var(cut.start), cut.extent)
        offset: Any = _symbol(
            cut.start
        )  # of the first row that the box has here, among its own ones
        behind: Any = 0  # rows of the part before that
        if digit is None:
            conditions += _within(first, begin, cut)
            if cut.extent != ONE:
                behind = _size(first) - offset
            b = b + behind * Expr.of(level.stride)
            continue
        k = next(k for k, d in enumerate(digits) if d is digit)
        n = node_of(digit.n)
        extent: Any = cut.extent.value if cut.extent.op == "const" else _symbol(cut.extent.value)
        if first != const(0) or n != level.n:
            stop = folded("add", first, n)
            if cut.extent == ONE:
                conditions += [made("le", first, begin)] * (first != const(0))
                conditions.append(made("lt", begin, stop))
            else:
                lo = begin
                if first != const(0):
                    lo = named(made("select", made("lt", begin, first), first, begin), "begin")
                stops = named(made("select", made("lt", end, stop), end, stop), "stop")
                conditions.append(made("lt", lo, stops))
                offset, extent = _size(lo), _size(stops) - _size(lo)
                behind = offset - _symbol(cut.start)
            offset = offset - _size(first)
        digits[k] = Digit(extent, digit.a, digit.b)
        a = a + offset * Expr.of(digit.a)
        b = b + behind * Expr.of(level.stride)
    condition = all_of(conditions)
    kept = tuple(d for d in digits if d.n != 1)
    a, b = (e if e.constant is None else e.constant for e in (a, b))
    return lets, condition, Box(kept, 0 if whole.is_padding else a, b, whole.is_padding)


def _summands(size: Size, sizes: Sequence[str]) -> list[Size]:
    """Sums that are a size together, none of which is negative, as many boxes have the same ones. sizes: names of
    those that a copy takes; terms of what is named for a part stay together."""
    groups: dict[Any, Expr] = {}
    for mono, factor in Expr.of(size).terms.items():
        term = Expr({mono: factor})
        own = frozenset(term.symbols())
        key = own if own.issubset(sizes) else None
        if factor < 0 and key is not None:
            return [size]
        groups[key] = groups.get(key, Expr.of(0)) + term
    return [e if e.constant is None else e.constant for e in groups.values()]


def _within(first: Node, begin: Node, cut: Cut) -> list[Node]:
    """The conditions that a part has a row."""
    if cut.extent == ONE:
        return [made("eq", begin, first)]
    end = folded("add", begin, cut.extent)
    return [made("le", begin, first), made("lt", first, end)]
