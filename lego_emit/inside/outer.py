"""What a function takes from around it: globals, variables of the functions that enclose it, builtins."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
from typing import Any

from ..algebra.block import Block

MISSING = object()


class Outer:
    """The names of a function that are not its own.

    taken: what a rewritten text was made from, by what it is called.
    """

    def __init__(self, function: types.FunctionType, own: set[str]):
        """own: the names of the function's own."""
        self.function, self.own = function, own
        self.taken: dict[str, Any] = {}
        self._read: list[tuple[str, dict[str, Any], str, Any]] = []  # of functions that were called
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
        """The value of a name, of a chain of attributes, as in module.A, or of a part of a list, a tuple or a dict by
        a constant; MISSING of all else. No property is asked."""
        match node:
            case ast.Name(id=name):
                return MISSING if name in self.own else self.named(name)
            case ast.Attribute(value=base, attr=attr):
                found = self.value(base)
                if found is MISSING or isinstance(found, Block):
                    return MISSING
                return _attribute(found, attr)
            case ast.Subscript(value=base, slice=ast.Constant(value=key)):
                found = self.value(base)
                if type(found) in (list, tuple, dict):
                    try:
                        return found[key]
                    except (LookupError, TypeError):
                        return MISSING
        return MISSING

    def take(self, node: ast.expr, value: Any) -> Any:
        """The value, which a rewritten text rests on from now on."""
        self.taken[ast.unparse(node)] = _snapshot(value)
        if isinstance(value, types.FunctionType):
            for name in value.__code__.co_names:
                read = value.__globals__.get(name, MISSING)
                if isinstance(read, int | tuple | list | dict | Block):
                    self._read.append((name, value.__globals__, name, _snapshot(read)))
        return value

    def changed(self) -> str | None:
        """The name of something that is another value now than it was, or None."""
        for text, was in self.taken.items():
            if not _same(self.value(ast.parse(text, mode="eval").body), was):
                return text
        for text, space, name, was in self._read:
            if not _same(space.get(name, MISSING), was):
                return text
        return None


def _attribute(found: Any, name: str) -> Any:
    """An attribute that no code computes; that of a module by any way."""
    if isinstance(found, types.ModuleType):
        return getattr(found, name, MISSING)
    made = inspect.getattr_static(found, name, MISSING)
    if isinstance(made, staticmethod | classmethod):
        return made.__func__
    plain = isinstance(made, types.FunctionType) or not hasattr(type(made), "__get__")
    return made if plain and not isinstance(made, types.MemberDescriptorType) else MISSING


def _snapshot(value: Any) -> Any:
    """A value, or a copy of one whose parts may be changed."""
    return value.copy() if type(value) in (list, dict) else value


def _same(now: Any, was: Any) -> bool:
    if type(was) in (list, dict):
        return type(now) is type(was) and now == was
    return now is was or (isinstance(was, int | tuple) and type(now) is type(was) and now == was)


def number(value: Any) -> int | None:
    """An integer, also one of Triton's constexpr; None of all else."""
    if type(value).__name__ == "constexpr":
        value = getattr(value, "value", None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def comes_from(value: Any, packages: tuple[str, ...]) -> bool:
    """Whether a function is one of these packages."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0] in packages


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
