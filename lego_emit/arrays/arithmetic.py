"""A lowered program over arrays and tracers, by Python's operators.

The index functions of a layout are lowered as for NumPy, so that few operations are left, each of a proven
range: what an array's integers cannot hold is refused before anything is computed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..algebra.block import Block
from ..errors import LegoError
from .libraries import where

if TYPE_CHECKING:
    from ..ir.nodes import Node
    from ..ir.program import Function

_SIGNS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg,
    "div": operator.floordiv, "mod": operator.mod, "floordiv": operator.floordiv, "floormod": operator.mod,
    "shl": operator.lshift, "shr": operator.rshift, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "not": operator.invert, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
    "land": operator.and_, "lor": operator.or_, "lnot": operator.invert,
    "int": lambda c: where(c, 1, 0), "select": where,
    "min": lambda a, b: where(a <= b, a, b), "max": lambda a, b: where(a >= b, a, b),
}  # fmt: skip
_LEAVES = ("const", "var")


@dataclass(frozen=True)
class Arithmetic:
    """The operations of one index function. names: of its parameters; least, most: of all that is computed
    on the way."""

    function: Function
    names: tuple[str, ...]
    least: int
    most: int

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The results for arrays and integers, as many as the function has parameters."""
        known = dict(zip(self.names, values, strict=True))
        done: dict[int, Any] = {}
        for name, node in self.function.body:
            known[name] = _value(node, known, done)
        return [_value(node, known, done) for _, node in self.function.outputs]

    def used(self) -> list[frozenset[str]]:
        """The parameters that each result depends on."""
        known = {name: frozenset([name]) for name in self.names}
        for name, node in self.function.body:
            known[name] = _names(node, known)
        return [_names(node, known) for _, node in self.function.outputs]


def _names(node: Node, known: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(known[str(n.value)] for n in node.walk() if n.op == "var"))


def _value(node: Node, known: Mapping[str, Any], done: dict[int, Any]) -> Any:
    if node.op == "var":
        return known[str(node.value)]
    if node.op == "const":
        return node.value
    if id(node) not in done:
        values = [_value(a, known, done) for a in node.args]
        numbers = all(isinstance(v, int) for v in values)
        done[id(node)] = (node.row.value if numbers else _SIGNS[node.op])(*values)
    return done[id(node)]


@lru_cache(maxsize=256)
def arithmetic(layout: Block, inverse: bool) -> Arithmetic | None:
    """The operations of a layout's apply, or of its inv; None where operators do not do, as for a table, a
    root or a loop, or where no numbers of 64 bits do."""
    from ..emit import registry
    from ..pipeline import build_program

    try:
        program = build_program(layout, registry.printer("numpy"))
    except LegoError:
        return None
    function = program.functions[inverse]
    nodes = [n for n in function.nodes() if n.op not in _LEAVES]
    if any(n.op not in _SIGNS for n in nodes):
        return None
    integers = [n for n in (*function.nodes(), *dict(function.outputs).values()) if not n.is_bool]
    ends = [(n.value, n.value) if n.op == "const" else (n.lo, n.hi) for n in integers]
    ends += [(p.lo, p.hi) for p in function.params]
    least = min((-(2**63) if lo is None else lo for lo, _ in ends), default=0)
    most = max((2**63 - 1 if hi is None else hi for _, hi in ends), default=0)
    names = tuple(p.name for p in function.params)
    return Arithmetic(function, names, least, most)
