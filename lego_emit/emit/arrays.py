"""Array forms, as nodes.

How many elements the ':' axes have, and the indices of the element that is number n in row-major
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ..ir.index_types import INT64, UINT64, IndexType
from ..ir.nodes import Node
from ..ir.program import Function


def count(extents: Sequence[Node]) -> Node:
    """How many elements there are."""
    return reduce(_product, extents)


def counter(function: Function, most: int) -> IndexType:
    """The index type of what counts the elements: the function's own where at most so many elements
    are proven, or none is wider, else one of 64 bits."""
    hi = count([extent for _, extent in function.axes]).hi if function.axes else 0
    own = function.index_type
    if (hi is not None and hi <= most) or own.most >= INT64.most:
        return own
    return INT64 if own.least < 0 else UINT64


def coordinates(extents: Sequence[Node], counter: str, base: int) -> list[Node]:
    """The indices of element number counter, 0 <= counter < count(extents); base: what an index of 0
    is called."""
    rest = Node("var", (), counter)
    found: list[Node] = []
    for extent in reversed(extents[1:]):
        found.append(_remainder(rest, extent))
        rest = _quotient(rest, extent)
    return [_from_base(c, base) for c in (rest, *reversed(found))]


def number(node: Node) -> int:
    """The value of a const."""
    assert isinstance(node.value, int)
    return node.value


def _const(value: int) -> Node:
    return Node("const", (), value, value, value)


def _product(a: Node, b: Node) -> Node:
    """a * b with numbers multiplied and in front."""
    if a.op == b.op == "const":
        return _const(number(a) * number(b))
    if b.op == "const":
        a, b = b, a
    if a.value == 1:
        return b
    most = None if a.hi is None or b.hi is None else a.hi * b.hi
    return Node("mul", (a, b), None, 0, most)


def _quotient(n: Node, by: Node) -> Node:
    """n // by, by shifting where it can be."""
    if by.op != "const":
        return Node("div", (n, by))
    if n.op in ("shr", "div") and n.args[1].op == "const":
        divisor = number(n.args[1])
        by = _const(number(by) * (1 << divisor if n.op == "shr" else divisor))
        n = n.args[0]
    value = number(by)
    if value == 1:
        return n
    if value & (value - 1):
        return Node("div", (n, by))
    return Node("shr", (n, _const(value.bit_length() - 1)))


def _remainder(n: Node, by: Node) -> Node:
    """n % by, by masking where it can be."""
    if by.op != "const":
        return Node("mod", (n, by))
    value = number(by)
    if value == 1:
        return _const(0)
    if value & (value - 1):
        return Node("mod", (n, by))
    return Node("and", (n, _const(value - 1)))


def _from_base(n: Node, base: int) -> Node:
    """n, counted from base."""
    if n.op == "const":
        return _const(number(n) + base)
    return Node("add", (n, _const(base))) if base else n
