"""From the plan of a copy to a launch: what the threads of a GPU do for all of its boxes, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ..ir.grids import PART, THREADS, TILE, VECTOR, Gather, Spread
from ..ir.nests import Abilities, Each, Let, Statement, walk
from ..ir.nodes import Node, const, made, var
from .digits import Digit, Size, Sizes
from .grid import WORD, GridNest, ceiling, product_of, resolved
from .plan import Box, Plan, by_stride
from .scopes import Scopes
from .tiles import falls

IN_THREADS = Abilities(threads=True)


def word_of(element_bytes: int) -> int:
    """The bytes of the widest word that divides an element."""
    return gcd(element_bytes, VECTOR)


def in_words(box: Box, parts: int, sizes: Sizes) -> Box:
    """A box of elements as one of their words."""
    if parts == 1:
        return box

    def times(size: Size) -> Size:
        return sizes.times(size, parts)

    digits = tuple(Digit(d.n, times(d.a), times(d.b)) for d in box.digits)
    within = Digit(parts, 0 if box.is_padding else 1, 1)
    return Box((*digits, within), times(box.a), times(box.b), box.is_padding)


def upright(box: Box, sizes: Sizes) -> Box:
    """The same box, whose digits rise in the destination: a place of it, taken apart, says which index it has."""
    a, b, digits = box.a, box.b, list[Digit]()
    for d in box.digits:
        if falls(d.b):
            last = sizes.plus(d.n, -1)
            a, b = (sizes.plus(at, sizes.times(last, s)) for at, s in ((a, d.a), (b, d.b)))
            d = Digit(d.n, sizes.times(-1, d.a), sizes.times(-1, d.b))
        digits.append(d)
    return Box(tuple(by_stride(digits, sizes)), a, b, box.is_padding)


def grid_of(
    plan: Plan, taken: Sequence[str] = (), abilities: Abilities = IN_THREADS
) -> tuple[tuple[Statement, ...], tuple[str, ...], Node]:
    """What threads do for a plan, what its boxes are moved by, in words, and how many blocks of threads a launch
    has. taken: names that it has not."""
    names = Scopes([*plan.space.sizes, *taken, TILE])
    sizes = Sizes(plan.space.known, own=True)
    word = word_of(plan.element_bytes)
    statements: list[Statement] = []
    kinds: list[str] = []
    blocks: list[Node] = []
    parts = plan.element_bytes // word
    boxes = [in_words(box, parts, sizes) for box in plan.boxes]
    if abilities.packs and word < WORD:
        each = WORD // word
        nests = [
            GridNest(upright(box, sizes), word, names, sizes, at == 0, abilities.shared)
            for at, box in enumerate(boxes)
        ]

        def gather() -> Gather:
            count = ceiling(names.named(sizes.times(plan.destination_size, parts), "count"), each)
            arms = tuple(nest.arm(at) for at, nest in enumerate(nests))
            return Gather(names.local("id"), names.kept(count, "words"), each, arms)

        if len(boxes) == 1:
            body, blocks = nests[0].packed(gather)
        else:
            body = [gather()]
            blocks = [ceiling(body[0].count, THREADS)]
        kinds = nests[0].kinds
        if any(isinstance(s, Gather) for s in walk(body)):
            kinds.append(f"a thread for each word of {each} elements")
        return (*names.lets, *body), tuple(kinds), launched(blocks, names.lets, abilities)
    for at, box in enumerate(boxes):
        nest = GridNest(box, word, names, sizes, at == 0, abilities.shared)
        body, some = nest.alone() if abilities.packs else nest.statements()
        statements += body
        blocks += some
        kinds += [kind for kind in nest.kinds if kind not in kinds]
    return (*names.lets, *statements), tuple(kinds), launched(blocks, names.lets, abilities)


def launched(blocks: Sequence[Node], lets: Sequence[Let], abilities: Abilities) -> Node:
    """How many blocks of threads a launch has: one for each piece, as far as there may be so many."""
    found: Node = const(1)
    for node in dict.fromkeys(resolved(node, lets) for node in blocks):
        if node.op == found.op == "const":
            found = const(max(node.value, found.value))
        else:
            found = made("max", node, found)
    most = abilities.most_blocks
    if found.op == "const":
        return const(min(found.value, most))
    return made("min", found, most)


def each_of(
    each: Each, parts: int, taken: Sequence[str], abilities: Abilities
) -> tuple[tuple[Statement, ...], Node]:
    """A thread for each index, which the loop over both index functions has; and how many blocks."""
    names = Scopes([*taken, *each.names])
    number = names.local("id")
    total: Node = product_of([*each.extents, const(parts)])
    if total.args:
        total = names.kept(total, "words")
    counts = [*([(PART, const(parts))] if parts > 1 else [])]
    counts += [*zip(reversed(each.names), reversed(each.extents), strict=True)]
    lets, node = list[Let](), var(number)
    for at, (name, n) in enumerate(counts):
        last = at == len(counts) - 1
        lets.append(Let(name, node if last else made("mod", node, n)))
        node = made("div", node, n)
    call = Each((), (), each.arguments, each.masked, each.places)
    body = (*names.lets, Spread(number, total, (*lets, call)))
    return body, launched([ceiling(total, THREADS)], names.lets, abilities)
