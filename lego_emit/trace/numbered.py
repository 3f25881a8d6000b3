"""Blocks with numbers for symbols: in their sizes, and in what a GenP's functions close over."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

from ..algebra.block import Block
from ..algebra.strided import Swizzle
from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..errors import LayoutError, LegoError
from ..numeric import is_symbolic


class Numbered:
    """Numbers for some of the symbols in a block (lego_emit.algebra.block.Change)."""

    def __init__(self, block: Block | Swizzle, sizes: Mapping[str, int]):
        self.block, self.sizes = block, sizes

    def size(self, n: Any) -> Any:
        """An int where no symbol is left."""
        try:
            return _value(n, self.sizes)
        except LegoError as error:
            raise LayoutError(
                f"{self.block!r}: the size {n!r} has no value with {dict(self.sizes)}: {error}"
            ) from None

    def function(self, f: Any) -> Any:
        """A function that closes over numbers."""
        return _numbered(f, self.sizes, {})


def numbered(subject: Any, sizes: Mapping[str, int]) -> tuple[Any, list[str]]:
    """(a layout, or a user's function, with numbers for the symbols in it or in the layouts that it
    reads from outside, the names of these)."""
    read = _Read(sizes)
    return (_numbered(subject, read, {}) if sizes else subject), sorted(read.names)


class _Read(dict[str, int]):
    """Numbers by name, and the names that were asked for."""

    def __init__(self, sizes: Mapping[str, int]):
        super().__init__(sizes)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.names.add(name)
        return super().__getitem__(name)


def _value(n: Any, sizes: Mapping[str, int]) -> Any:
    if type(n) is int:
        return n
    made = Analyzer(use_z3=False).with_numbers(Expr.of(n), sizes)
    return made if made.constant is None else made.constant


def _numbered(value: Any, sizes: Mapping[str, int], made: dict[int, Any]) -> Any:
    """A GenP's function, or what it closes over, with numbers for the symbols in it. made: what was
    made of what, by its id."""
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, FunctionType):
        made[id(value)] = value  # where it closes over itself
        made[id(value)] = _numbered_function(value, sizes, made)
        return made[id(value)]
    if isinstance(value, partial):
        inner = _numbered((value.func, *value.args), sizes, made)
        return partial(*inner, **_numbered(value.keywords, sizes, made))
    if type(value) in (tuple, list):
        return type(value)(_numbered(v, sizes, made) for v in value)
    if type(value) is dict:
        return {k: _numbered(v, sizes, made) for k, v in value.items()}
    if isinstance(value, Block | Swizzle):
        return value if value.is_concrete else value.with_sizes(Numbered(value, sizes))
    if not is_symbolic(value):
        return value
    try:
        return _value(value, sizes)
    except LegoError:
        return value


def _numbered_function(
    function: FunctionType, sizes: Mapping[str, int], made: dict[int, Any]
) -> FunctionType:
    codes, names = [function.__code__], set()
    for code in codes:
        names |= set(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
    own = function.__globals__
    told = (
        n
        for n in names
        if n in own and (is_symbolic(own[n]) or isinstance(own[n], Block | Swizzle))
    )
    new = {n: _numbered(own[n], sizes, made) for n in told}
    cells = tuple(
        CellType(_numbered(cell.cell_contents, sizes, made)) for cell in function.__closure__ or ()
    )
    defaults = _numbered(function.__defaults__, sizes, made)
    result = FunctionType(
        function.__code__, {**own, **new} if new else own, function.__name__, defaults, cells
    )
    result.__kwdefaults__ = _numbered(function.__kwdefaults__, sizes, made)
    return result
