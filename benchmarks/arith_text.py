"""What lowered operations of MLIR's dialect arith compute, from mlir-opt's text, over NumPy's arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LINE = re.compile(r"\s*(%[\w#-]+) = arith\.(\w+) (.*?)(?: overflow<[^>]*>)?(?: : .*)?$")
CALL = re.compile(r"\s*(?:func\.)?call @use_\d+\((.*?)\)")
COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal, "sgt": np.greater,
    "sge": np.greater_equal,
}  # fmt: skip


def _towards_zero(a: Any, b: Any) -> Any:
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


def _unsigned(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation without signs, on what is not negative. Raises ValueError on what is."""

    def of(a: Any, b: Any) -> Any:
        if np.any(a < 0) or np.any(b < 0):
            raise ValueError("an unsigned operation on a negative number")
        return compute(a, b)

    return of


OPERATIONS: dict[str, Callable[..., Any]] = {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "andi": np.bitwise_and, "ori": np.bitwise_or,
    "xori": np.bitwise_xor, "shli": np.left_shift, "shrsi": np.right_shift, "minsi": np.minimum,
    "maxsi": np.maximum, "floordivsi": np.floor_divide, "divsi": _towards_zero,
    "remsi": lambda a, b: a - _towards_zero(a, b) * b, "select": np.where,
    "divui": _unsigned(np.floor_divide), "remui": _unsigned(np.mod), "shrui": _unsigned(np.right_shift),
    "minui": _unsigned(np.minimum), "maxui": _unsigned(np.maximum),
}  # fmt: skip
UNSIGNED = {f"u{order}": _unsigned(COMPARED[f"s{order}"]) for order in ("lt", "le", "gt", "ge")}


@dataclass
class Body:
    """The operations of a function that gives its indices and its results to another one. used: the names
    of both."""

    operations: list[tuple[str, str, list[str]]]
    used: list[str]

    @property
    def count(self) -> int:
        """How many operations there are, constants left out."""
        return sum(op != "constant" for _, op, _ in self.operations)

    def results(self, indices: Sequence[Any]) -> list[Any]:
        """The results at indices. Raises ValueError for an operation that is not known here."""
        values: dict[str, Any] = dict(zip(self.used, indices, strict=False))
        for name, op, operands in self.operations:
            if op == "constant":
                text = operands[0]
                values[name] = text == "true" if text in ("true", "false") else np.int64(text)
            elif op == "cmpi":
                predicate, a, b = operands
                values[name] = (COMPARED | UNSIGNED)[predicate](values[a], values[b])
            elif op in OPERATIONS:
                values[name] = OPERATIONS[op](*(values[x] for x in operands))
            else:
                raise ValueError(f"arith.{op}")
        return [values[name] for name in self.used[len(indices) :]]


def bodies(text: str) -> dict[str, Body]:
    """The functions of a module by their names. Raises ValueError on a line that is not read."""
    found = {}
    for part in re.split(r"^  func\.func (?!private)", text, flags=re.M)[1:]:
        head, *lines = part.split("\n")
        name = re.match(r"@(\w+)", head)
        assert name is not None
        body = found[name[1]] = Body([], [])
        for line in lines:
            if match := LINE.match(line):
                body.operations.append((match[1], match[2], re.split(r", *", match[3])))
            elif match := CALL.match(line):
                body.used = re.split(r", *", match[1])
            elif not re.fullmatch(r"\s*(scf\.for .*|\}|return|func\.func private .*|)", line):
                raise ValueError(line)
    return found
