"""Nodes: an operation over nodes. bool nodes are conditions, all others integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Any

# op -> (operand kinds, result kind, evaluation); "i" is an integer, "b" a condition, "t" a table.
# div and mod meet only non-negative operands and positive divisors: truncating and flooring agree.
# floordiv and floormod meet any sign of dividend and divisor.
OPS = {
    "add": ("ii", "i", lambda a, b: a + b),
    "sub": ("ii", "i", lambda a, b: a - b),
    "mul": ("ii", "i", lambda a, b: a * b),
    "neg": ("i", "i", lambda a: -a),
    "div": ("ii", "i", lambda a, b: a // b),
    "mod": ("ii", "i", lambda a, b: a % b),
    "floordiv": ("ii", "i", lambda a, b: a // b),
    "floormod": ("ii", "i", lambda a, b: a % b),
    "shl": ("ii", "i", lambda a, b: a << b),
    "shr": ("ii", "i", lambda a, b: a >> b),
    "and": ("ii", "i", lambda a, b: a & b),
    "or": ("ii", "i", lambda a, b: a | b),
    "xor": ("ii", "i", lambda a, b: a ^ b),
    "not": ("i", "i", lambda a: ~a),
    "min": ("ii", "i", min),
    "max": ("ii", "i", max),
    "isqrt": ("i", "i", isqrt),
    "lookup": ("ti", "i", lambda table, place: table.at(place)),
    "lt": ("ii", "b", lambda a, b: a < b),
    "le": ("ii", "b", lambda a, b: a <= b),
    "gt": ("ii", "b", lambda a, b: a > b),
    "ge": ("ii", "b", lambda a, b: a >= b),
    "eq": ("ii", "b", lambda a, b: a == b),
    "ne": ("ii", "b", lambda a, b: a != b),
    "land": ("bb", "b", lambda a, b: a and b),
    "lor": ("bb", "b", lambda a, b: a or b),
    "lnot": ("b", "b", lambda a: not a),
    "int": ("b", "i", int),
    "select": ("bii", "i", lambda c, a, b: a if c else b),
}


FREE = frozenset(
    {"const", "var", "table", "int", "within"}
)  # no operations; within: of a graph alone


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. op is a key of OPS, "const" (value: int), "var" (value: name of a
    parameter or of an earlier statement) or "table" (value: Entries, the range theirs). lo and hi are the proven inclusive range, None where
    there is no bound."""

    op: str
    args: tuple[Node, ...] = ()
    value: Any = None
    lo: int | None = field(default=None, compare=False)
    hi: int | None = field(default=None, compare=False)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, operands first."""
        found, stack = [], [self]
        while stack:
            found.append(stack.pop())
            stack.extend(found[-1].args)
        yield from reversed(found)

    @property
    def is_bool(self) -> bool:
        """Whether the node is a condition."""
        return self.op in OPS and OPS[self.op][1] == "b"

    @property
    def kind(self) -> str:
        """What it is as an operand: a key of the kinds in OPS."""
        return "b" if self.is_bool else "t" if self.op == "table" else "i"


def evaluated(node: Node, env: Mapping[str, int], known: dict[int, int]) -> int:
    """A node's value; known: those of the nodes that were evaluated, by identity. Of a select only
    the branch that it takes is evaluated."""
    if node.op in ("const", "table"):
        return node.value
    if node.op == "var":
        return env[node.value]
    if id(node) not in known:
        args = node.args
        if node.op == "select":
            taken = args[1] if evaluated(args[0], env, known) else args[2]
            known[id(node)] = evaluated(taken, env, known)
        else:
            known[id(node)] = OPS[node.op][2](*(evaluated(a, env, known) for a in args))
    return known[id(node)]
