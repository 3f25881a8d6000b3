"""Nodes: an operation over nodes. bool nodes are conditions, all others integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..operations import LEAF, OPS, Operation

LEAVES = ("const", "var", "table")
FREE = frozenset(
    {*LEAVES, "within", *(op for op, row in OPS.items() if not row.price)}
)  # no operations


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
    _hash: int | None = field(default=None, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        if self._hash is None:  # that of a node below may be asked for by many above
            object.__setattr__(self, "_hash", hash((self.op, self.args, self.value)))
        return cast(int, self._hash)

    def __reduce__(self) -> Any:  # a hash is this process's alone
        return Node, (self.op, self.args, self.value, self.lo, self.hi)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, operands first."""
        found, stack = [], [self]
        while stack:
            found.append(stack.pop())
            stack.extend(found[-1].args)
        yield from reversed(found)

    @property
    def row(self) -> Operation:
        """What the table says of the operation; LEAF of a number, a name and a table."""
        return OPS.get(self.op, LEAF)

    @property
    def is_bool(self) -> bool:
        """Whether the node is a condition."""
        return self.row.gives == "b"

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
            known[id(node)] = OPS[node.op].value(*(evaluated(a, env, known) for a in args))
    return known[id(node)]
