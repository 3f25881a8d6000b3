"""Boxes of one kind, which one function moves: it is called with where a box begins, and its extents and strides.

A ragged axis of three digits has three boxes, and two such axes have nine, whose loops differ in extents alone. Where
a routine would be long, the boxes that are moved by the same mover have one function with all digits that they have;
a box that lacks one has 1 of it. The first box, which is the largest one, keeps its own loops.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

from ..arith.expr import Expr
from ..arith.terms import Atom
from ..ir.nests import (
    Abilities,
    Before,
    Body,
    Call,
    Flag,
    Helper,
    Let,
    Loop,
    Statement,
    Strided,
    Vectors,
    When,
    names_read,
    times,
    walk,
)
from ..ir.nodes import Node, const, made, var
from .bits import counted
from .digits import Digit, Size
from .hints import NEVER_LARGE
from .plan import Box, Plan
from .schedule import BoxNest
from .tiles import ALL, Names
from .values import node_of

FEW = 20  # of those of a box that stay in its routine
SOME = 60  # statements of a function of padding, after which another one has the rest

Key: TypeAlias = tuple[Node, Node]  # the strides of a digit in both memories
Role: TypeAlias = tuple[str, Key | None]


@dataclass(frozen=True)
class Kind:
    """A function that moves boxes. keys: the digits that are asked for, slowest first; roles: what each parameter is
    of a box: its begin, or an extent or a stride of one of its digits."""

    helper: Helper
    roles: tuple[Role, ...]

    def call(self, box: Box, names: Names) -> Call:
        """What moves a box."""
        extents = {_key(d): node_of(d.n) for d in box.digits}
        given, due = list[Node](), list[Node]()
        for what, key in self.roles:
            if key is None:
                given.append(_begin(box, what, names))
                due.append(node_of(box.a if what == "from" else box.b))
                continue
            node = extents.get(key, const(1)) if what == "n" else key["ab".index(what)]
            given.append(names.of(node, what))
            due.append(node)
        return Call(self.helper, tuple(given), tuple(due))


def _begin(box: Box, what: str, names: Names) -> Node:
    """Where a box begins in a memory, as a sum of what other boxes have, too."""
    side = ("from", "to").index(what)
    nodes: list[Node] = []
    for both in box.starts or [(box.a, box.b)]:
        a, b = map(node_of, both)
        own = (a, b)[side]
        if own != const(0):
            nodes.append(names.of(own, "base" if a == b else what))
    return reduce(lambda x, y: made("add", x, y), nodes) if nodes else const(0)


def _key(d: Digit) -> Key:
    return node_of(d.a), node_of(d.b)


def length(body: Body) -> int:
    """About how many lines statements have."""
    found = 0
    for s in walk(body):
        found += 1 + isinstance(s, Loop | When) + (isinstance(s, When) and bool(s.otherwise))
        found += 2 * isinstance(s, Vectors) + 8 * isinstance(s, Strided)
    return found


def kinds_of(
    boxes: Sequence[Box], element_bytes: int, taken: Sequence[str], abilities: Abilities
) -> dict[int, Kind]:
    """The kinds of boxes, by the number of a box. taken: names that parameters have not."""
    found: dict[int, Kind] = {}
    groups: dict[Any, list[int]] = {}
    for at, box in enumerate(boxes):
        nest = BoxNest(box, element_bytes, Names(taken), None, abilities)
        if len({*map(_key, box.digits)}) == len(box.digits) and not nest.falls_unsigned:
            groups.setdefault(_moved_by(nest, [*map(_key, box.digits)]), []).append(at)
    for moved_by, members in groups.items():
        own = [boxes[k] for k in members]
        stem = f"box{len({*found.values()}) or ''}"
        kind = _kind(own, moved_by, stem, element_bytes, taken, abilities)
        found |= {} if kind is None else dict.fromkeys(members, kind)
    return found


def _moved_by(nest: BoxNest, keys: Sequence[Key]) -> Any:
    """What boxes of one kind have in common: the mover, the tile, and the extents of digits that it takes."""
    one = const(1)
    if nest.box.is_padding:
        inside = {k for k, key in enumerate(keys) if key[1] == one}
        return True, _known(nest, keys, inside)
    inside = {k for k, key in enumerate(keys) if one in key or nest.tile[k]}
    passes = nest.passes
    if passes is not None:
        inside |= {*passes.held, passes.across}
    cells = frozenset((keys[k], n) for k, n in enumerate(nest.mover.cell) if n > 1)
    tile = frozenset((keys[k], n) for k, n in enumerate(nest.tile) if n)
    way = nest.mover.kernel is not None, passes is not None, nest.run is not None
    return False, way, cells, tile, _known(nest, keys, inside)


def _known(nest: BoxNest, keys: Sequence[Key], inside: Collection[int]) -> Any:
    """Some digits with their extents, None where that is no number."""
    extents = (d.n if isinstance(d.n, int) else None for d in nest.digits)
    return frozenset(
        (key, n) for k, (key, n) in enumerate(zip(keys, extents, strict=True)) if k in inside
    )


def _kind(
    boxes: Sequence[Box],
    moved_by: Any,
    stem: str,
    element_bytes: int,
    taken: Sequence[str],
    abilities: Abilities,
) -> Kind | None:
    """The function of some boxes; None where it would not move them as they are moved alone."""
    digits = [{_key(d): d for d in box.digits} for box in boxes]
    names, roles = Names(taken), list[Role]()
    parameters: dict[tuple[Node, ...], str] = {}

    def of(role: Role, given: Sequence[Size]) -> Size:
        """What all boxes have, a number, or a parameter."""
        if isinstance(given[0], int) and all(n == given[0] for n in given):
            return given[0]
        nodes = tuple(map(node_of, given))
        if nodes not in parameters:
            may_be_zero = role[0] == "n" and any(map(names.may_be_zero, nodes))
            parameters[nodes] = names.parameter(role[0], 0 if may_be_zero else 1)
            roles.append(role)
        return Expr.atom(Atom("sym", parameters[nodes]))

    begins = [
        of((what, None), [getattr(b, side) for b in boxes])
        for what, side in (("from", "a"), ("to", "b"))
    ]
    own, keys = list[Digit](), _order(boxes)
    for key in keys:
        n = of(("n", key), [of_box[key].n if key in of_box else 1 for of_box in digits])
        d = next(of_box[key] for of_box in digits if key in of_box)
        a, b = (of((what, key), [s] * len(boxes)) for what, s in (("a", d.a), ("b", d.b)))
        own.append(Digit(n, a, b))
    box = Box(tuple(own), begins[0], begins[1], boxes[0].is_padding)
    nest = BoxNest(box, element_bytes, names, None, abilities)
    if _moved_by(nest, keys) != moved_by:
        return None
    body = moved(nest)
    return Kind(Helper(stem, tuple(parameters.values()), names.before(body)), tuple(roles))


def _order(boxes: Sequence[Box]) -> list[Key]:
    """All digits of some boxes, in an order that each of them has."""
    found: list[Key] = []
    for box in boxes:
        at = 0
        for key in map(_key, box.digits):
            if key in found:
                at = found.index(key) + 1
            else:
                found.insert(at, key)
                at += 1
    return found


def nest_of(
    plan: Plan, taken: Sequence[str] = (), abilities: Abilities = ALL
) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """The nest of a plan, and what its boxes are moved by, in words. taken: names that it has not."""
    found = _nest(plan, taken, abilities, {})
    if plan.space.sizes and abilities.calls and length(found[0]) > abilities.most:
        known = [*plan.space.sizes, *taken]
        kinds = kinds_of(plan.boxes, plan.element_bytes, known, abilities)
        said, found = found[1], _nest(plan, taken, abilities, kinds)
        if length(found[0]) > abilities.most:
            found = _nest(plan, taken, abilities, kinds, True)
        found = found[0], said
    return found


def apart(body: Body, stem: str) -> tuple[Statement, ...]:
    """Statements as a function of their own, which is called."""
    own = {s.name for s in walk(body, False) if isinstance(s, Let | Loop | Flag | Before)}
    names = sorted(names_read(body) - own)
    return (Call(Helper(stem, tuple(names), tuple(body)), tuple(map(var, names))),)


def moved(nest: BoxNest, call: Call | None = None) -> tuple[Statement, ...]:
    """What moves a box, or writes its zeros. call: of a function that does so, but not past the caches."""
    if nest.abilities.strided:
        return (nest.strided(),)
    if nest.abilities.block is not None and not nest.box.is_padding:
        from .blocks import blocks_of

        if (blocks := blocks_of(nest)) is not None:
            return counted(blocks.statements(), nest.names.fresh)
    body = nest.zeros() if nest.box.is_padding else nest.statements(call)
    body = counted(body, nest.names.fresh)
    return apart(body, "bulk") if call is not None and length(body) > FEW else body


def _nest(
    plan: Plan,
    taken: Sequence[str],
    abilities: Abilities,
    kinds: Mapping[int, Kind],
    pads_apart: bool = False,
) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """The same, where boxes are moved by the functions of their kinds. pads_apart: whether padding has functions of its
    own."""
    elements, zeros = Names([*plan.space.sizes, *taken]), Names([*plan.space.sizes, *taken])
    statements: list[Statement] = []
    padding: list[Statement] = []
    parts: list[Body] = []
    said: list[str] = []
    main = not isinstance(plan.destination_size, int) or (
        plan.destination_size * plan.element_bytes >= NEVER_LARGE
    )
    total = times(node_of(plan.destination_size), plan.element_bytes)
    for at, box in enumerate(plan.boxes):
        is_apart = pads_apart and box.is_padding
        names, found = (zeros, padding) if is_apart else (elements, statements)
        call = kinds[at].call(box, names) if at in kinds else None
        if at and call is not None:
            found.append(call)
        else:
            own = total if main and at == 0 else None
            nest = BoxNest(box, plan.element_bytes, names, own, abilities)
            found += moved(nest, call)
            said += [kind for kind in nest.kinds if kind not in said]
        if is_apart and len(zeros.before(padding)) > SOME:
            parts.append(zeros.before(padding))
            zeros, padding = Names([*plan.space.sizes, *taken]), []
    parts += [zeros.before(padding)] if padding else []
    for at, part in enumerate(parts):
        statements += apart(part, f"padding{at or ''}")
    return elements.before(statements), tuple(said)
