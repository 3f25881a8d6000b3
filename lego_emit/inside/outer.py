"""What a function takes from around it: globals, variables of the functions that enclose it, builtins."""

from __future__ import annotations

import ast
import builtins
import inspect
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..algebra.block import Block
from ..algebra.lookup import Lookup

MISSING = object()


class Outer:
    """The names of a function that are not its own.

    taken: what a rewritten text was made from, by what it is called.
    """

    def __init__(self, function: types.FunctionType, own: set[str]):
        """own: the names of the function's own."""
        self.function, self.own = function, own
        self.taken: dict[str, Any] = {}
        self._nodes: dict[str, ast.expr] = {}  # of what was taken
        # What functions read, of each what it is called and whose it is.
        self._read: dict[tuple[str, int], tuple[Callable[[], Any], Any]] = {}
        self._watched: dict[int, types.FunctionType] = {}
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    def named(self, name: str) -> Any:
        """The value of a name, or MISSING."""
        if name in self._cells:
            return _content(self._cells[name])
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
        self.taken[text := ast.unparse(node)] = _frozen(value)
        self._nodes[text] = node
        self.watch(value)
        if isinstance(value, types.FunctionType) and isinstance(node, ast.Attribute):
            base = node.value  # of which a method reads attributes
            if not isinstance(self.value(base), types.ModuleType):
                self._follow(ast.unparse(base), id(value), lambda: self.value(base), _names(value))
        return value

    def take_again(self, texts: Sequence[str]) -> None:
        """Take what these texts call, as another run has."""
        for text in texts:
            node = ast.parse(text, mode="eval").body
            self.take(node, self.value(node))

    def layouts(self) -> Iterator[Block]:
        """The layouts that were taken."""
        values = map(self.value, self._nodes.values())
        return (value for value in values if isinstance(value, Block))

    def keep(self, name: str) -> None:
        """Remember what a name is, which the rewritten text reads."""
        self._note(name, 0, lambda: self.function.__globals__.get(name))

    def watch(self, value: Any) -> None:
        """Remember what a function, or those in a layout, read: names, their attributes, cells and defaults."""
        if isinstance(value, Block):
            for part in _parts(value):
                if not isinstance(part, Block):
                    self.watch(part)
        if not isinstance(value, types.FunctionType) or comes_from(value, ("lego_emit",)):
            return
        if id(value) in self._watched:
            return
        self._watched[id(value)] = value
        name, key = f"{value.__module__}.{value.__qualname__}", id(value)
        defaults = f"the defaults of {name}"
        self._note(defaults, key, lambda: (value.__defaults__, value.__kwdefaults__))
        names, space = _names(value), value.__globals__
        for one in sorted(names & space.keys()):
            label = f"{one}, which {name} reads,"
            self._follow(label, key, lambda one=one: space.get(one, MISSING), names)
        for one, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            label = f"{one}, which {name} reads,"
            self._follow(label, key, lambda cell=cell: _content(cell), names)

    def watch_made(self, layout: Block, space: Mapping[str, Any]) -> bool:
        """As watch, of a layout that an expression of the function has made. Returns whether all of it was watched before,
        or is of functions in the expression, whose globals are space."""
        before = {*self._watched}
        self.watch(layout)
        new = (f for at, f in self._watched.items() if at not in before)
        return all(f.__globals__ is space for f in new)

    def _follow(self, label: str, key: int, read: Callable[[], Any], names: set[str]) -> None:
        """What is read, and the attributes of these names that it has."""
        value = read()
        if comes_from(value, ("lego_emit",)) and not isinstance(value, Block):
            return
        self._note(label, key, read)
        self.watch(value)
        if isinstance(value, Block) or type(value) in (int, float, str, list, tuple, dict):
            return
        if isinstance(value, types.FunctionType):
            names = names & vars(value).keys()
        for name in sorted(names):
            if _attribute(value, name) is not MISSING:
                self._note(f"{name} of {label}", key, lambda name=name: _attribute(read(), name))

    def _note(self, label: str, key: int, read: Callable[[], Any]) -> None:
        self._read[label, key] = read, _frozen(read())

    @property
    def is_watched(self) -> bool:
        """Whether anything was taken that may change."""
        return bool(self.taken or self._read)

    def changed(self) -> str | None:
        """The name of something that is another value now than it was, or None."""
        for text, was in self.taken.items():
            if _frozen(self.value(self._nodes[text])) != was:
                return text
        for (label, _), (read, was) in self._read.items():
            if _frozen(read()) != was:
                return label
        return None


class _Same:
    """A value that is no other."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _frozen(value: Any) -> Any:
    """A value as it is now: what can change is taken apart, and what cannot is itself."""
    if isinstance(value, list | tuple):
        return type(value), *map(_frozen, value)
    if isinstance(value, dict):
        return dict, *((_frozen(k), _frozen(v)) for k, v in value.items())
    if isinstance(value, int | float | str | bytes | None):
        return type(value), value
    return _Same(value)


def _parts(layout: Block) -> Iterator[Any]:
    """A layout and what it is made of, however deep."""
    values: list[Any] = [layout]
    while values:
        one = values.pop()
        if isinstance(one, tuple | list):
            values += one
            continue
        yield one
        if isinstance(one, Block):
            values += one._value()


def tables_in(layout: Block) -> list[str]:
    """The names of the tables that a layout reads when the kernel runs."""
    return [x.entries.name for x in _parts(layout) if isinstance(x, Lookup) and x.entries.given]


def _names(function: types.FunctionType) -> set[str]:
    """The names of globals and attributes that a function speaks of."""
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return {name for code in codes for name in code.co_names}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is bound yet
        return MISSING


def _attribute(found: Any, name: str) -> Any:
    """An attribute that no code computes; that of a module by any way."""
    if isinstance(found, types.ModuleType):
        if name in vars(found):
            return vars(found)[name]
        with warnings.catch_warnings():  # a module may warn of a name, as NumPy does of np.str
            warnings.simplefilter("ignore")
            return getattr(found, name, MISSING)
    made = inspect.getattr_static(found, name, MISSING)
    if isinstance(made, staticmethod | classmethod):
        return made.__func__
    plain = isinstance(made, types.FunctionType) or not hasattr(type(made), "__get__")
    return made if plain and not isinstance(made, types.MemberDescriptorType) else MISSING


def number(value: Any) -> int | None:
    """An integer, also one of Triton's constexpr; None of all else."""
    if type(value).__name__ == "constexpr":
        value = getattr(value, "value", None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def comes_from(value: Any, packages: tuple[str, ...]) -> bool:
    """Whether a function is one of these packages."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return str(module).partition(".")[0] in packages


def makes_layouts(value: Any) -> bool:
    """Whether a value is a function that may make layouts, and does not say so."""
    if not isinstance(value, types.FunctionType) or is_ours(value):
        return False
    return any(is_ours(value.__globals__.get(n, MISSING)) for n in value.__code__.co_names)


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
