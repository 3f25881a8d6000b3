"""What a function takes from around it: globals, variables of the functions that enclose it, builtins."""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

from ..algebra.block import Block

MISSING = object()


class Outer:
    """The names of a function that are not its own.

    taken: the layouts and integers that a rewritten text was made from, by what they are called.
    """

    def __init__(self, function: types.FunctionType, own: set[str]):
        """own: the names of the function's own."""
        self.function, self.own = function, own
        self.taken: dict[str, Any] = {}
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    def named(self, name: str) -> Any:
        """The value of a name, or MISSING."""
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:  # nothing was bound yet
                return MISSING
        found = self.function.__globals__.get(name, MISSING)
        return getattr(builtins, name, MISSING) if found is MISSING else found

    def value(self, node: ast.expr) -> Any:
        """The value of a name or of a chain of attributes, as in module.A; MISSING of all else."""
        match node:
            case ast.Name(id=name):
                return MISSING if name in self.own else self.named(name)
            case ast.Attribute(value=base, attr=attr):
                found = self.value(base)
                if found is MISSING or isinstance(found, Block):
                    return MISSING
                return getattr(found, attr, MISSING)
        return MISSING

    def take(self, node: ast.expr, value: Any) -> Any:
        """The value, which a rewritten text rests on from now on."""
        self.taken[ast.unparse(node)] = value
        return value

    def changed(self) -> str | None:
        """The name of something that is another value now than it was, or None."""
        for text, value in self.taken.items():
            now = self.value(ast.parse(text, mode="eval").body)
            if now is not value and not (isinstance(value, int) and now == value):
                return text
        return None


def number(value: Any) -> int | None:
    """An integer, also one of Triton's constexpr; None of all else."""
    if type(value).__name__ == "constexpr":
        value = getattr(value, "value", None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_ours(value: Any) -> bool:
    """Whether a value of a name around a function makes layouts: a class or a function of lego_emit, the
    catalogue, a function whose result is annotated as a layout."""
    if value is MISSING:
        return False
    module = getattr(value, "__module__", None) or type(value).__module__
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] == "lego_emit"
    if str(module).partition(".")[0] == "lego_emit":
        return True
    if not isinstance(value, types.FunctionType):
        return False
    result = value.__annotations__.get("return")
    if isinstance(result, str):
        result = value.__globals__.get(result.strip("\"'"))
    return isinstance(result, type) and issubclass(result, Block)
