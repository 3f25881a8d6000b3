"""Nodes: an operation over nodes. bool nodes are conditions, all others integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..operations import IN_RELATIONS, LEAF, OPS, Operation
from ..table_lookup import Entries

# Names in the nests of copies.
SOURCE, DESTINATION = "src", "dst"
VALUE = "v"  # an element that is read, in what is made of it
ENTRIES = "entries"  # the op of what is made of a byte where it is a table, whose 256 numbers are the node's value
LEAVES = ("const", "var", "table", "round")
FREE = frozenset(
    {*LEAVES, "within", *(op for op, row in OPS.items() if not row.price)}
)  # no operations


class _Hashed:
    """Room for a hash that is no field: it is this process's alone."""

    __slots__ = ("_hash",)
    _hash: int


@dataclass(slots=True)
class Node(_Hashed):
    """One operation. op is a key of OPS, "const" (value: int), "var" (value: name of a
    parameter or of an earlier statement), "table" (value: Entries, the range theirs) or "round" (value: Round,
    of a loop, or Cases, of a switch). lo and hi are the proven inclusive range, None where
    there is no bound."""

    op: str
    args: tuple[Node, ...] = ()
    value: Any = None
    lo: int | None = field(default=None, compare=False)
    hi: int | None = field(default=None, compare=False)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:  # that of a node below may be asked for by many above
            found = self._hash = hash((self.op, self.args, self.value))
            return found

    def __reduce__(self) -> Any:  # a hash is this process's alone
        return Node, (self.op, self.args, self.value, self.lo, self.hi)

    def over(self, args: tuple[Node, ...]) -> Node:
        """The node with other operands: seven times as quick as dataclasses.replace()."""
        return Node(self.op, args, self.value, self.lo, self.hi)

    def walk(self) -> Iterator[Node]:
        """This node and all below it, operands first."""
        found, stack = [], [self]
        while stack:
            found.append(stack.pop())
            stack.extend(found[-1].args)
        yield from reversed(found)

    def deep(self) -> Iterator[Node]:
        """This node and all below it, in rounds of loops and cases, too."""
        for node in self.walk():
            if node.op == "round":
                yield from node.value.nodes()
            yield node

    @property
    def takes(self) -> str:
        """The kinds of its operands that its operation wants."""
        kinds, _, more = self.row.takes.partition("*")
        return kinds[:-1] + kinds[-1:] * (len(self.args) - len(kinds) + 1) if _ else kinds + more

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
        return "b" if self.is_bool else "t" if self.op in ("table", "round") else "i"


@lru_cache(4096, typed=True)
def const(value: int) -> Node:
    """The node of a number, which is its own range."""
    return Node("const", (), value, value, value)


def var(name: str) -> Node:
    """The node of a parameter or a named part, without a range."""
    return Node("var", (), name)


def made(op: str, *args: Node | int) -> Node:
    """An operation over nodes and numbers: the same object of the same operands, as long as their ranges are."""
    found = _made(op, *args)
    for own, given in zip(found.args, args, strict=True):
        if own is not given and isinstance(given, Node):
            if given.args or (own.lo, own.hi) != (given.lo, given.hi):
                return _made.__wrapped__(op, *args)
    return found


@lru_cache(2**14)
def _made(op: str, *args: Node | int) -> Node:
    return Node(op, tuple([const(a) if isinstance(a, int) else a for a in args]))


def evaluated(node: Node, env: Mapping[Any, Any], known: dict[int, Any]) -> Any:
    """A node's value over integers or NumPy arrays of objects; known: those of the nodes that were
    evaluated, by identity. What a number or a truth decides alone is not asked for: the other branch
    of a select, what stands behind a false one in an `and`."""
    args = node.args
    if not args:
        return env[node.value] if node.op == "var" else node.value
    key = id(node)
    if key in known:
        return known[key]
    op, first = node.op, evaluated(args[0], env, known)
    row = IN_RELATIONS[op]
    if isinstance(first, bool) and op in ("select", "land", "lor"):
        if op == "select":
            found = evaluated(args[1 if first else 2], env, known)
        else:
            found = first if first is (op == "lor") else evaluated(args[1], env, known)
    elif len(args) == 2 and row.arrays is None:  # most
        found = row.value(first, evaluated(args[1], env, known))
    else:
        values = [first, *[evaluated(arg, env, known) for arg in args[1:]]]
        plain = row.arrays is None or all(isinstance(v, int | Entries) for v in values)
        found = (row.value if plain else row.arrays)(*values)  # type: ignore[misc]
    return known.setdefault(key, found)


def evaluate(node: Node, values: Mapping[str, Any]) -> Any:
    """A relation or an expression on integers or NumPy arrays of objects; None where it has no
    value, or a name has none."""
    try:
        return evaluated(node, values, {})
    except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError):
        return None


def tabulate(nodes: Iterable[Node], columns: dict[Node, Sequence[Any]], count: int) -> None:
    """Put the values of nodes, operands first, at so many points beside those that columns has of
    variables; none of what needs a variable without values. Both branches of a select are looked at.
    Raises ArithmeticError or ValueError where an operation has no value."""
    for node in nodes:
        if node in columns or node.op == "var":
            continue
        if not node.args:
            columns[node] = [node.value] * count
        elif all(a in columns for a in node.args):
            args = [columns[a] for a in node.args]
            columns[node] = args[0] if node.op == "within" else [*map(node.row.value, *args)]
