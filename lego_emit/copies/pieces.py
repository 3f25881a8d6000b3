"""A copy in pieces, for threads: boxes whose digits are ranges of a plan's.

The slowest digits that all boxes have are cut, or of each box its own, until there are pieces enough for many threads, each large enough to be
worth one. A piece is a box of its own, moved as any other is. As no two indices share a place in the destination, and
pieces share no index, no place is written by two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod
from typing import Any

from ..arith.expr import Expr
from ..arith.terms import Atom
from ..ir.nests import (
    FIRST,
    LAST,
    NOTHING,
    ONE,
    PART,
    Abilities,
    Body,
    Each,
    Let,
    Loop,
    Statement,
    plus,
    times,
)
from ..ir.nodes import Node, const, evaluated, made, var
from .digits import Digit, Size
from .hints import NEVER_LARGE
from .kinds import Kind, apart, kinds_of, length, moved
from .plan import Box, Plan
from .schedule import BoxNest
from .tiles import ALL, LINE, Names, with_names
from .values import least, node_of

PIECE = 2**16  # bytes that a piece has at least, about
MOST = 1024  # pieces of a box, about
LONG_PART = 80  # statements and ends, after which boxes share functions
ENOUGH = 64  # pieces, after which no more digits are cut
LARGE = 2**24  # bytes of a copy that is streamed, unless a user says otherwise
# Lines of the source and of the destination that a piece of a streamed copy has side by side: where it is large, and
# where sizes are symbols.
MANY, SOME = (16, 8), (8, 4)


@dataclass(frozen=True)
class Cut:
    """A digit that is cut. stride: its own in the destination; n: its extent; start: what names where a piece begins;
    extent: how much a piece has of it, a number where that is the same for all, else a name; grain: how much that is
    but for the last piece; count: how many ranges there are."""

    stride: Node
    n: Node
    start: str
    extent: Node
    grain: Node
    count: Node

    @property
    def names(self) -> list[str]:
        """What each piece names."""
        return [n for n in (self.start, self.extent.value) if isinstance(n, str)]


@dataclass(frozen=True)
class Pieces:
    """A nest of the pieces FIRST, .. up to LAST, which is not among them. lets: what names the integers before the
    loops; count: how many pieces there are; cuts: for each loop of the body, the digits that are cut."""

    lets: tuple[Let, ...]
    loops: tuple[Statement, ...]
    count: Node
    cuts: tuple[tuple[Cut, ...], ...]

    @cached_property
    def body(self) -> tuple[Statement, ...]:
        """All statements, without the names that only the number of pieces is made of."""
        return with_names(self.lets, self.loops)

    @property
    def counted(self) -> tuple[tuple[str, Node], ...]:
        """The named integers that the number of pieces is made of."""
        return self.named_in([self.count])

    def named_in(self, nodes: Sequence[Node]) -> tuple[tuple[str, Node], ...]:
        """The named integers that nodes are made of."""
        wanted = {n.value for node in nodes for n in node.walk() if n.op == "var"}
        found: list[tuple[str, Node]] = []
        for let in reversed(self.lets):
            if let.name in wanted:
                found.append((let.name, let.value))
                wanted |= {n.value for n in let.value.walk() if n.op == "var"}
        return tuple(reversed(found))


def folded(op: str, x: Node, y: Node) -> Node:
    """An operation on integers that are not negative, computed where both are numbers."""
    if x.op == y.op == "const":
        return const(int(evaluated(made(op, x, y), {}, {})))
    if (op in ("mul", "div") and y == ONE) or (op in ("add", "sub") and y == NOTHING):
        return x
    if (op == "mul" and x == ONE) or (op == "add" and x == NOTHING):
        return y
    return least(made(op, x, y), 0)


def over(x: Node, y: Node) -> Node:
    """The quotient that is rounded up."""
    if y == ONE:
        return x
    most = least(plus(x, y.value - 1), 0) if y.op == "const" else folded("add", x, y)
    return folded("div", most if y.op == "const" else folded("sub", most, ONE), y)


class Cutting:
    """Cuts boxes, and names what that takes."""

    def __init__(self, names: Names, piece: int = 0):
        self.names, self.piece = names, piece or PIECE

    def least_of(self, x: Node, y: Node, stem: str) -> Node:
        """The smaller one of two."""
        if x.op == y.op == "const":
            return const(min(x.value, y.value))
        return self.named(made("select", made("lt", x, y), x, y), stem, 1)

    def named(self, node: Node, stem: str, lo: int = 0) -> Node:
        """A name for what is no name and no number itself, and at least lo."""
        return least(self.names.of(least(node, lo), stem), lo)

    def wanted(self, total: Node) -> Node:
        """How many pieces there are to be of so many bytes."""
        wanted = folded("add", folded("div", least(total, 0), const(self.piece)), ONE)
        return self.least_of(self.named(wanted, "wanted", 1), const(MOST), "wanted")

    def cuts(self, digits: Sequence[tuple[Digit, int]], total: Node) -> tuple[Cut, ...]:
        """How digits are cut, in order. digits: each with what pieces have multiples of; total: bytes that are
        moved."""
        named = [(self.names.named(d.n, "n"), node_of(d.b), unit) for d, unit in digits]
        return self.cuts_of(named, total)

    def cuts_of(self, digits: Sequence[tuple[Node, Node, int]], total: Node) -> tuple[Cut, ...]:
        """The same of extents, strides and units."""
        wanted = self.wanted(total)
        found: list[Cut] = []
        known, share = 1, ONE
        for extent, stride, unit in digits:
            n = least(extent, 0)
            rounds = over(n, const(unit))
            if known >= ENOUGH or (rounds.op == "const" and rounds.value <= 1):
                continue
            if share != ONE:
                wanted, share = self.named(over(wanted, share), "wanted", 1), ONE
            if wanted == ONE:
                break
            may_be_zero = self.names.may_be_zero(n)
            grain = self.grain(n, rounds, unit, wanted)
            count = self.named(over(n, grain), "count", not may_be_zero)
            if count == ONE:
                continue
            start, extent = self.names.fresh("start", self.names.divisor(grain)), grain
            if n.op != "const" or grain.op != "const" or n.value % grain.value:
                extent = var(self.names.fresh("extent"))
            found.append(Cut(stride, n, start, extent, grain, count))
            known *= rounds.value if rounds.op == "const" else 1
            share = least(folded("add", count, ONE), 1) if may_be_zero else count
        return tuple(found)

    def grain(self, n: Node, rounds: Node, unit: int, wanted: Node) -> Node:
        """How much of a digit a piece has: of a number a divisor, where there is one that is not much more."""
        if rounds.op == wanted.op == "const":
            least_of = unit * -(-rounds.value // wanted.value)
            whole = (g for g in range(least_of, 2 * least_of, unit) if n.value % g == 0)
            return const(next(whole, least_of))
        grain = folded("add", folded("div", rounds, wanted), ONE)
        return self.named(folded("mul", const(unit), grain), "grain", 1)


def ranges(cuts: Sequence[Cut], part: Node) -> list[Let]:
    """What names the ranges of a piece by its number among those of its boxes."""
    lets: list[Let] = []
    for at, cut in enumerate(cuts):
        below = reduce(lambda x, y: folded("mul", x, y), (c.count for c in cuts[at + 1 :]), ONE)
        own = folded("div", part, below)
        if at:
            own = least(made("mod", own, cut.count), 0)
        lets.append(Let(cut.start, folded("mul", own, cut.grain)))
        if cut.extent.op == "var":
            rest = least(made("sub", cut.n, var(cut.start)), 0)
            less = made("lt", cut.grain, rest)
            lets.append(Let(cut.extent.value, made("select", less, cut.grain, rest)))
    return lets


class _Numbered:
    """Numbers the pieces of one loop after those of another."""

    def __init__(self, cutting: Cutting, loops: int):
        self.cutting, self.left, self.before = cutting, loops, NOTHING

    def loop(self, cuts: Sequence[Cut]) -> tuple[Loop, list[Let]]:
        """The loop over the pieces of some boxes, and what names their ranges."""
        count = reduce(lambda x, y: folded("mul", x, y), (c.count for c in cuts), ONE)
        self.left -= 1
        start, stop, before = var(FIRST), var(LAST), self.before
        end = folded("add", before, count)
        end = self.cutting.named(end, "end") if self.left else end
        if before != NOTHING:
            above = made("select", made("lt", start, before), before, start)
            start = self.cutting.named(above, "begin")
        if self.left:
            stop = self.cutting.named(made("select", made("lt", end, stop), end, stop), "stop")
        self.before = end
        part = folded("sub", least(var(PART), 0), before)
        return Loop(PART, stop, (), 1, start), ranges(cuts, part)


def in_pieces(
    plan: Plan, taken: Sequence[str] = (), abilities: Abilities = ALL, piece: int = 0
) -> Pieces:
    """The nest of a plan in pieces. taken: names that it has not; piece: bytes that a piece has at
    least, PIECE by default."""
    boxes: list[Box] = []
    found = _in_pieces(plan, taken, abilities, piece, {}, boxes)
    if not (plan.space.sizes and abilities.calls and _length(found) > LONG_PART):
        return found
    known = [*plan.space.sizes, *taken]
    kinds = kinds_of(boxes, plan.element_bytes, known, abilities)
    found = _in_pieces(plan, taken, abilities, piece, kinds, [])
    if _length(found) > LONG_PART:
        divided = _in_pieces(plan, taken, abilities, piece, kinds, [], True)
        boxes = []  # the pieces are others
        _in_pieces(plan, taken, abilities, piece, {}, boxes, True, True)
        kinds = kinds_of(boxes, plan.element_bytes, known, abilities)
        alike = _in_pieces(plan, taken, abilities, piece, kinds, [], True, True)
        found = min(divided, alike, key=_length)
    return found


def _length(pieces: Pieces) -> int:
    return length((*pieces.lets, *pieces.loops))


def _in_pieces(
    plan: Plan,
    taken: Sequence[str],
    abilities: Abilities,
    piece: int,
    kinds: Mapping[int, Kind],
    boxes: list[Box],
    is_apart: bool = False,
    is_alike: bool = False,
) -> Pieces:
    """The same, where boxes are moved by the functions of their kinds. boxes: is given those of each piece; is_apart:
    whether each loop calls a function of its own for a piece; is_alike: whether boxes with the same indices of an axis
    are cut along what they have in common."""
    names = Names([*plan.space.sizes, *taken, FIRST, LAST, PART])
    size = plan.destination_size
    main = not isinstance(size, int) or size * plan.element_bytes >= NEVER_LARGE
    total = times(node_of(size), plan.element_bytes)
    nests = [BoxNest(b, plan.element_bytes, names.aside(), None, abilities) for b in plan.boxes]
    lines = _lines_of(plan)
    shared = _shared(nests, lines)
    if shared:
        groups = [(nests, shared)]
    else:
        groups = _alike(nests, lines) if is_alike else _groups(plan, nests, lines, piece or PIECE)
    cutting = Cutting(names, piece)
    numbered = _Numbered(cutting, len(groups))
    loops: list[Statement] = []
    found: list[tuple[Cut, ...]] = []
    for group, digits in groups:
        whole = total
        if not shared and not is_alike:
            extents = [names.named(d.n, "n") for d in group[0].digits]
            if len(group) > 1:  # of all that a round has
                rest = sum(prod(_most(d.n) or 1 for d in nest.digits) for nest in group)
                extents = [*(names.named(d.n, "n") for d, _ in digits), const(rest)]
            whole = reduce(lambda x, y: folded("mul", x, y), extents, const(plan.element_bytes))
        cuts = cutting.cuts(digits, whole)
        loop, lets = numbered.loop(cuts)
        own_names = [name for cut in cuts for name in cut.names]
        own = names.within(own_names)
        if is_apart:
            own = Names([*plan.space.sizes, *taken, FIRST, LAST, PART, *own_names])
        body: list[Statement] = []
        for nest in group:
            large = total if main and nest is nests[0] else None
            at, box = len(boxes), _piece(nest.box, cuts)
            boxes.append(box)
            call = kinds[at].call(box, own) if at in kinds else None
            if at and call is not None:
                body.append(call)
                continue
            small = BoxNest(box, plan.element_bytes, own, large, abilities)
            body += moved(small, call)
        inner = own.before(body)
        inner = apart(inner, f"piece{len(loops) or ''}") if is_apart else inner
        loops.append(replace(loop, body=(*lets, *inner)))
        found.append(cuts)
    return Pieces(tuple(names.lets), tuple(loops), numbered.before, tuple(found))


def _groups(
    plan: Plan, nests: Sequence[BoxNest], lines: tuple[int, int], piece: int
) -> list[tuple[list[BoxNest], list[tuple[Digit, int]]]]:
    """Boxes that are cut alike, each group with its digits: of sizes that are symbols those that may be large, or
    all where the others make more than a piece; boxes without any are one piece together."""
    if not plan.space.sizes:
        return [([nest], _shared([nest], lines)) for nest in nests]
    groups: dict[Any, list[BoxNest]] = {}
    for nest in nests:
        large = [d for d in nest.digits if _most(d.n) is None]
        rest = prod(_most(d.n) or 1 for d in nest.digits) * plan.element_bytes
        key: Any = frozenset((node_of(d.n), node_of(d.b)) for d in large), nest.box.is_padding
        groups.setdefault(id(nest) if rest > piece else key, []).append(nest)
    found: list[tuple[list[BoxNest], list[tuple[Digit, int]]]] = []
    for key, group in groups.items():
        digits = _shared(group, lines)
        if isinstance(key, tuple):
            digits = [(d, u) for d, u in digits if (node_of(d.n), node_of(d.b)) in key[0]]
        found.append((group, digits))
    return found


def _alike(
    nests: Sequence[BoxNest], lines: tuple[int, int]
) -> list[tuple[list[BoxNest], list[tuple[Digit, int]]]]:
    """Boxes that have the same indices of the first axis that is cut, each group with the digits that they have in
    common; those beyond its extent are one."""
    ways = [nest.box.ways for nest in nests]
    axis = next((k for k, own in enumerate(zip(*ways, strict=True)) if len({*own}) > 1), 0)
    groups: dict[Any, list[BoxNest]] = {}
    for nest in nests:
        way = nest.box.ways[axis]
        groups.setdefault((nest.box.is_padding, way if way[1] else None), []).append(nest)
    return [(group, _shared(group, lines)) for group in groups.values()]


def _most(size: Size) -> int | None:
    """The most that an extent may be, None where it has no bound."""
    return _most_of(node_of(size))


def _most_of(node: Node) -> int | None:
    if node.op == "const":
        return node.value
    ends = [_most_of(arg) for arg in node.args]
    if node.op == "mod" and ends[1] is not None:
        return ends[1] - 1
    if not ends or ends[0] is None:
        return None
    if node.op == "sub":
        return ends[0]
    if ends[1] is None or node.op not in ("div", "add", "mul"):
        return None
    x, y = ends[0], ends[1]
    return (
        x // y
        if node.op == "div" and node.args[1].op == "const"
        else x + y
        if node.op == "add"
        else x * y
    )


def _piece(box: Box, cuts: Sequence[Cut]) -> Box:
    """The box of one piece."""
    digits, a, b = [*box.digits], box.a, box.b
    starts = [*box.starts]
    for cut in cuts:
        k = next(k for k, d in enumerate(box.digits) if node_of(d.b) == cut.stride)
        d, start = digits[k], Expr.atom(Atom("sym", cut.start))
        extent = cut.extent.value
        n = extent if isinstance(extent, int) else Expr.atom(Atom("sym", extent))
        digits[k] = Digit(n, d.a, d.b)
        a, b = (Expr.of(x) + start * Expr.of(y) for x, y in ((a, d.a), (b, d.b)))
        starts.append((start * Expr.of(d.a), start * Expr.of(d.b)))
    return Box(tuple(digits), 0 if box.is_padding else a, b, box.is_padding, tuple(starts))


def _lines_of(plan: Plan) -> tuple[int, int]:
    """How many lines on both sides a piece has side by side."""
    size = plan.destination_size
    if not isinstance(size, int):
        return SOME
    return MANY if size * plan.element_bytes >= LARGE else (1, 1)


def _shared(nests: Sequence[BoxNest], lines: tuple[int, int]) -> list[tuple[Digit, int]]:
    """The digits that all boxes have, in the order in which they are cut, each with what pieces have multiples of;
    none where there are too few of several boxes."""
    found: list[tuple[bool, Digit, int]] = []
    keys = [[(node_of(d.n), node_of(d.b)) for d in n.digits] for n in nests]
    for d, key in zip(nests[0].digits, keys[0], strict=True):
        own = [ks.index(key) if key in ks else None for ks in keys]
        units = [unit_of(n, k, lines) for n, k in zip(nests, own, strict=True) if k is not None]
        if len(units) == len(nests):
            is_run = any(is_run for is_run, _ in units)
            found.append((is_run, d, max(unit for _, unit in units)))
    known = prod(-(-d.n // unit) for _, d, unit in found if isinstance(d.n, int))
    if len(nests) > 1 and known < ENOUGH and all(isinstance(d.n, int) for _, d, _ in found):
        return []
    return [(d, unit) for _, d, unit in sorted(found, key=lambda one: one[0])]


def unit_of(nest: BoxNest, k: int, lines: tuple[int, int] = (1, 1)) -> tuple[bool, int]:
    """Whether a digit is a run, and what pieces have multiples of. lines: how many of both memories, where a kernel's
    tiles are lines that may be streamed."""
    is_run = nest.digits[k].b == 1 if nest.box.is_padding else nest.run == k
    if is_run:
        return True, max(1, LINE // nest.bytes)
    if nest.box.is_padding:
        return False, 1
    unit = max(nest.tile[k], nest.mover.cell[k], 1)
    if nest.abilities.streams and nest.has_lines:
        ends = [side[-1].digit for side in nest.chains]
        unit *= max([n for n, end in zip(lines, ends, strict=True) if end == k], default=1)
    return False, unit


def each_in_pieces(each: Each, taken: Sequence[str], element_bytes: int) -> Pieces:
    """The pieces of a loop over both index functions: ranges of its first index. taken: names that they have not."""
    names = Names([*taken, *each.names, FIRST, LAST, PART])
    cutting = Cutting(names)
    total = reduce(lambda x, y: folded("mul", x, y), each.extents, const(element_bytes))
    unit = each.block[0]
    cuts = cutting.cuts_of([(each.extents[0], NOTHING, unit)], total)
    loop, lets = _Numbered(cutting, 1).loop(cuts)
    for cut in cuts:
        stop = folded("add", var(cut.start), cut.extent)
        each = replace(each, start=var(cut.start), extents=(stop, *each.extents[1:]))
    count = cuts[0].count if cuts else ONE
    return Pieces(tuple(names.lets), (replace(loop, body=(*lets, each)),), count, (cuts,))


# -- checks ----------------------------------------------------------------------------------------


def count_of(pieces: Pieces, sizes: Mapping[str, int]) -> int:
    """How many pieces there are at numbers."""
    env: dict[str, Any] = dict(sizes)
    for name, node in pieces.counted:
        env[name] = evaluated(node, env, {})
    return int(evaluated(pieces.count, env, {}))


def covers_once(pieces: Pieces, body: Body, sizes: Mapping[str, int]) -> bool:
    """Whether a nest's pieces have each index of the digits that are cut, and each box, once. body: the nest."""
    env: dict[str, Any] = {**sizes, FIRST: 0, LAST: count_of(pieces, sizes)}

    def value(node: Node) -> int:
        return int(evaluated(node, env, {}))

    loops = iter(pieces.cuts)
    for s in body:
        if isinstance(s, Let):
            env[s.name] = value(s.value)
        if not isinstance(s, Loop):
            continue
        cuts, found = next(loops), list[tuple[tuple[int, int], ...]]()
        for env[PART] in range(value(s.start), value(s.stop)):
            for let in s.body[: sum(len(c.names) for c in cuts)]:
                assert isinstance(let, Let)
                env[let.name] = value(let.value)
            found.append(tuple((env[c.start], env[c.start] + value(c.extent)) for c in cuts))
        sides = [sorted({ranges[k] for ranges in found}) for k in range(len(cuts))]
        if len(found) != len({*found}) or len(found) != prod(map(len, sides)):
            return False
        for cut, own in zip(cuts, sides, strict=True):
            ends = [0, *(end for _, end in own)]
            if [start for start, _ in own] != ends[:-1] or ends[-1] != value(cut.n):
                if all(value(c.n) for c in cuts):
                    return False
    return True
