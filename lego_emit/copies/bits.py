"""One counter in place of loops over digits of two, which orders of interleaved bits have many of.

for i in 0, 1 { for j in 0, 1 { for k in 0, 1 { .. a + 16*i + 8*j + 4*k, b + 64*i + 4*j + 32*k .. } } } is
for i in 0 to 7 { to = (i & 4) * 16 + (i & 2) * 2 + (i & 1) * 32; .. a + 4*i, b + to .. }.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import prod
from typing import Any, cast

from ..ir.nests import (
    BUFFER,
    DESTINATION,
    NOTHING,
    SOURCE,
    Apply,
    Buffer,
    Let,
    Loop,
    Move,
    Ref,
    Statement,
    Vectors,
    When,
    inner,
    linear,
    names_of,
    names_read,
    walk,
)
from ..ir.nodes import Node, const, made, var

FEWEST = 3  # loops that a counter takes the place of
STEMS = {SOURCE: "from", DESTINATION: "to", BUFFER: "into"}  # of names of places
LEAST = 64  # elements that each of its steps moves: many bits take some time


def counted(
    body: Sequence[Statement], fresh: Callable[[str], str], least: int = LEAST
) -> tuple[Statement, ...]:
    """Statements with such counters. fresh: a new name that begins so; least: how many elements each step moves."""
    return tuple(_counted(s, fresh, least) for s in body)


def _counted(s: Statement, fresh: Callable[[str], str], least: int) -> Statement:
    if isinstance(s, When):
        then, otherwise = (counted(part, fresh, least) for part in (s.then, s.otherwise))
        return replace(s, then=then, otherwise=otherwise)
    if isinstance(s, Vectors):
        own, plain = (counted(part, fresh, least) for part in (s.body, s.plain))
        return replace(s, body=own, plain=plain)
    if isinstance(s, Buffer):
        return replace(s, body=counted(s.body, fresh, least))
    if not isinstance(s, Loop):
        return s
    chain = [s]
    while _is_of_two(chain[-1]) and len(chain[-1].body) == 1:
        (below,) = chain[-1].body
        if not isinstance(below, Loop) or not _is_of_two(below):
            break
        chain.append(below)
    if not _is_of_two(chain[-1]):
        chain.pop()
    moves = _moved(chain[-1].body) if chain else 0
    while chain and (moves < least or _is_read_apart(chain[-1])):
        chain.pop()
        moves *= 2
    if len(chain) < FEWEST:
        return replace(s, body=counted(s.body, fresh, least))
    counter = Counter(fresh("tile"), [loop.name for loop in chain], fresh)
    body = counter.body(counted(chain[-1].body, fresh, least))
    return Loop(counter.name, const(2 ** len(chain)), body)


def _moved(body: Sequence[Statement]) -> int:
    """How many elements statements move, as far as numbers say that."""
    found = 0
    for s in body:
        if isinstance(s, Apply):
            found += prod(s.kernel.cell)
        elif isinstance(s, Move):
            found += s.count.value if s.count.op == "const" else LEAST
        elif isinstance(s, Loop) and s.start == NOTHING and isinstance(s.step, int):
            rounds = -(-s.stop.value // s.step) if s.stop.op == "const" else LEAST
            found += rounds * _moved(s.body)
        else:
            found += _moved(inner(s))
    return found


def _is_read_apart(loop: Loop) -> bool:
    """Whether statements of a loop read its index, but not in places or as a number of strides."""
    return any(
        loop.name in names_of(v) and not (isinstance(s, Let) and _split(v, {loop.name}))
        for s in walk(loop.body, False)
        for v in vars(s).values()
        if isinstance(v, Node)
    )


def _is_of_two(s: Loop) -> bool:
    return s == Loop(s.name, const(2), s.body)


class Counter:
    """A number whose bits are indices of two, that of the first name the highest."""

    def __init__(self, name: str, names: Sequence[str], fresh: Callable[[str], str]):
        self.name, self.names, self.fresh = name, names, fresh
        self._found: dict[tuple[int, ...], Let] = {}

    def body(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        """Statements that read the number, behind what they read of it."""
        own = tuple(map(self._replaced, body))
        return (*self._lets(own), *own)

    def _replaced(self, s: Statement) -> Statement:
        """A statement whose places are those of the number."""
        changed: dict[str, Any] = {}
        for name, value in vars(s).items():
            if isinstance(value, Ref):
                changed[name] = Ref(value.array, self._place(value))
            elif isinstance(s, Let) and name == "value":
                changed[name] = self._place(Ref(s.name, value), is_named=True)
            elif name in ("body", "then", "otherwise", "plain"):
                changed[name] = tuple(map(self._replaced, value))
        return replace(cast(Any, s), **changed) if changed else s

    def _lets(self, body: Sequence[Statement]) -> list[Let]:
        """What the body reads of the number: indices, and places that are no multiples of it."""
        read = names_read(tuple(body))
        own = [
            Let(name, self._sum([int(name == other) for other in self.names]))
            for name in self.names
            if name in read
        ]
        return [*own, *self._found.values()]

    def _place(self, ref: Ref, is_named: bool = False) -> Node:
        split = _split(ref.offset, {*self.names})
        if split is None or not split[1]:
            return ref.offset
        rest, strides = split[0], tuple(split[1].get(name, 0) for name in self.names)
        (*_, last) = strides
        if all(stride == last << k for k, stride in enumerate(reversed(strides))):
            return linear(rest, [(const(last), self.name)])
        if is_named and rest == NOTHING and min(strides) >= 0:
            return self._sum(strides)
        for sign in (1, -1):  # what falls apart: there are languages without integers below 0
            if any(own := tuple(max(0, sign * stride) for stride in strides)):
                if own not in self._found:
                    name = self.fresh(STEMS.get(ref.array, "base"))
                    self._found[own] = Let(name, self._sum(own))
                rest = linear(rest, [(const(sign), self._found[own].name)])
        return rest

    def _sum(self, strides: Sequence[int]) -> Node:
        """The sum of the number's bits, each times its stride: bits whose strides double are taken together."""
        found, bit = list[Node](), len(strides)
        while bit:
            bit, of = bit - 1, 1
            stride = strides[-1 - bit]
            while stride and bit and 2 * strides[-bit] == stride:
                bit, of, stride = bit - 1, of + 1, stride // 2
            if stride:
                found.append(self._taken(bit, of, stride))
        return reduce(lambda x, y: made("add", x, y), found)

    def _taken(self, bit: int, count: int, stride: int) -> Node:
        """So many bits from one on, times the lowest one's stride."""
        mask, unit = (2**count - 1) << bit, 1 << bit
        node = replace(made("and", var(self.name), mask), lo=0, hi=mask)
        if stride % unit == 0:
            return node if stride == unit else made("mul", stride // unit, node)
        if unit % stride == 0:
            return made("shr", node, (unit // stride).bit_length() - 1)
        return made("mul", stride, made("shr", node, bit))


def _split(offset: Node, names: set[str]) -> tuple[Node, dict[str, int]] | None:
    """What a place is beside numbers times such names, and those numbers; None where it has names in another way."""
    strides: dict[str, int] = {}
    rest, waiting = const(0), [(1, offset)]
    while waiting:
        sign, node = waiting.pop()
        if node.op in ("add", "sub"):
            waiting += [(sign if node.op == "add" else -sign, node.args[1]), (sign, node.args[0])]
            continue
        factor = const(1)
        if node.op == "mul" and node.args[0].op == "const":
            factor, node = node.args
        if node.op == "var" and node.value in names:
            strides[node.value] = strides.get(node.value, 0) + sign * factor.value
            continue
        if names_of(node) & names:
            return None
        term = node if factor == const(1) else made("mul", factor, node)
        rest = (
            term
            if rest == const(0) and sign > 0
            else made("add" if sign > 0 else "sub", rest, term)
        )
    return rest, strides
