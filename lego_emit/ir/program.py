"""The lowered form: what a printer gets. Short straight-line integer programs.

All meaning is settled here: every operation's operands have proven signs and ranges, so that a
printer only spells. A node is an operation over nodes; bool nodes are conditions, all others are
integers of the function's one index type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from math import isqrt
from typing import Any

from ..errors import InternalError

INDEX_TYPES = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "int53": (-(2**53 - 1), 2**53 - 1),  # exact integers in a double (JavaScript's Number)
}

# op -> (operand kinds, result kind, evaluation); "i" is an integer, "b" a condition.
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


FREE = frozenset({"const", "var", "int", "within"})  # no operations; within: of a graph alone


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. op is a key of OPS, "const" (value: int) or "var" (value: name of a
    parameter or of an earlier statement). lo and hi are the proven inclusive range, None where
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


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. range_text is what the header says ("0 <= i < BM"); lo and hi are its proven
    inclusive bounds where they are numbers. axis: a ':' or an index of a layout; size: a layout's
    size, which a caller fixes once for many indices; base: what an index of 0 is called."""

    name: str
    range_text: str = ""
    lo: int | None = None
    hi: int | None = None
    axis: bool = False
    size: bool = False
    base: int = 0


@dataclass(frozen=True, slots=True)
class Function:
    """One emitted function: parameters, named statements in order, named results."""

    name: str
    params: tuple[Param, ...]
    body: tuple[tuple[str, Node], ...]
    outputs: tuple[tuple[str, Node], ...]
    index_type: str  # a key of INDEX_TYPES
    summary: str = ""  # one line: what it computes
    assumptions: tuple[str, ...] = ()
    width_note: str = ""  # why the index type is wide enough
    renamed: tuple[tuple[str, str], ...] = ()  # (the user's name, the emitted name)
    axes: tuple[tuple[str, Node], ...] = ()  # the ':' parameters (the last ones) and their extents
    # of each output: (least, end), which the parameters' names and numbers make; "" is no bound
    promises: tuple[tuple[str, str], ...] = ()
    base: int = 0  # what the first index and the first position are called
    cost: float = 0  # of one call by the cost model that chose the form
    # how it came about (lego_emit.lower.function.Record), to be explained
    record: Any = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> list[Any]:
        """Without the record: it holds what is known in this process alone."""
        return [None if f.name == "record" else getattr(self, f.name) for f in fields(self)]

    @property
    def problem(self) -> Any:
        """What it was lowered from; None where that is not known."""
        return None if self.record is None else self.record.problem

    def nodes(self) -> Iterator[Node]:
        """Every node of every statement and output, operands first."""
        for _, node in (*self.body, *self.outputs):
            yield from node.walk()

    @property
    def ranges(self) -> dict[str, str]:
        """What is known of each parameter, as text: {"i": "0 <= i < BM"}."""
        return {p.name: p.range_text for p in self.params}

    @property
    def result_range(self) -> str:
        """What is promised of the results, as text: "0 <= the result < M*N"."""
        return self.result_text()

    def result_text(
        self, single: str = "the result", reword: Callable[[str], str] = lambda text: text
    ) -> str:
        """As result_range; single: what a lone result is called, reword: changes the bounds."""
        texts = []
        for (name, _), (least, end) in zip(self.outputs, self.promises, strict=False):
            shown = single if len(self.outputs) == 1 else name
            least, end = reword(least), reword(end)
            if least and end:
                texts.append(f"{least} <= {shown} < {end}")
            elif least or end:
                texts.append(f"{shown} >= {least}" if least else f"{shown} < {end}")
        return ", ".join(texts)

    @property
    def op_count(self) -> int:
        """Operations: + - * / % & | ^ << >> ~, comparisons, selects, min, max and square
        roots; each once, as emitted."""
        return sum(node.op not in FREE for node in self.nodes())

    @property
    def op_count_hoisted(self) -> int:
        """As op_count, less the operations on sizes alone: a caller's loop does those once."""
        sizes = {p.name for p in self.params if p.size}

        def fixed(node: Node) -> bool:
            return node.value in sizes if node.op == "var" else all(map(fixed, node.args))

        for name, node in self.body:
            if fixed(node):
                sizes.add(name)
        return sum(node.op not in FREE and not fixed(node) for node in self.nodes())

    def evaluate(self, values: Mapping[str, int]) -> dict[str, int]:
        """The outputs for given parameter values, in exact Python integers."""
        env, known = dict(values), {}
        for name, node in self.body:
            env[name] = _evaluate(node, env, known)
        return {name: int(_evaluate(node, env, known)) for name, node in self.outputs}

    def extents(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """How far each ':' axis runs, for given values of the other parameters."""
        return tuple(_evaluate(extent, values, {}) for _, extent in self.axes)

    def check(self) -> None:
        """Raise InternalError unless every node is well formed: a program is checked before it
        is printed."""
        known = {p.name for p in self.params}
        if len(known) != len(self.params):
            raise InternalError(f"{self.name}: a parameter name appears twice")
        lo, hi = INDEX_TYPES[self.index_type]
        axes = {name for name, _ in self.axes}
        for _, extent in self.axes:
            for part in extent.walk():
                self._check_node(part, known - axes, lo, hi)
        for name, node in self.body:
            for part in node.walk():
                self._check_node(part, known, lo, hi)
            known.add(name)
        for _, node in self.outputs:
            for part in node.walk():
                self._check_node(part, known, lo, hi)

    def _check_node(self, node: Node, known: set[str], lo: int, hi: int) -> None:
        if node.op == "const":
            if not isinstance(node.value, int) or not lo <= node.value <= hi:
                raise InternalError(f"{self.name}: {node}: a constant outside {self.index_type}")
        elif node.op == "var":
            if node.value not in known:
                raise InternalError(f"{self.name}: {node}: an undefined name")
        elif node.op not in OPS:
            raise InternalError(f"{self.name}: {node}: an unknown operation")
        else:
            kinds = "".join("b" if arg.is_bool else "i" for arg in node.args)
            if kinds != OPS[node.op][0]:
                raise InternalError(
                    f"{self.name}: {node}: operands {kinds!r}, wanted {OPS[node.op][0]!r}"
                )
            if node.op in ("div", "mod"):
                num, den = node.args
                if num.lo is None or num.lo < 0 or den.lo is None or den.lo < 1:
                    raise InternalError(f"{self.name}: {node}: signs are not proven")
            if node.op in ("shl", "shr"):
                width = 64 if hi > 2**32 else 32
                by = node.args[1]
                if by.lo is None or by.lo < 0 or by.hi is None or by.hi >= width:
                    raise InternalError(f"{self.name}: {node}: the shift distance is not proven")


def _evaluate(node: Node, env: Mapping[str, int], known: dict[int, int]) -> int:
    """A node's value; known: those of the nodes that were evaluated, by identity. Of a select only
    the branch that it takes is evaluated."""
    if node.op == "const":
        return node.value
    if node.op == "var":
        return env[node.value]
    if id(node) not in known:
        args = node.args
        if node.op == "select":
            taken = args[1] if _evaluate(args[0], env, known) else args[2]
            known[id(node)] = _evaluate(taken, env, known)
        else:
            known[id(node)] = OPS[node.op][2](*(_evaluate(a, env, known) for a in args))
    return known[id(node)]


@dataclass(frozen=True, slots=True)
class Program:
    """What one file holds: a name (the namespace, module or file stem), the functions, and the
    layout's text for the header."""

    name: str
    functions: tuple[Function, ...]
    title: str = ""  # the layout or the user's function, as Python text
    doubts: tuple[str, ...] = field(default=(), compare=False)  # what may not be meant in it

    def check(self) -> None:
        """Check every function."""
        for function in self.functions:
            function.check()
