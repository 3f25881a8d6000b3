"""The functions that a followed function calls: min, max and isinstance take symbols there, too."""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import TraceError


class Helpers:
    """The functions that a function calls, which take symbols as it does: in copies of theirs, min, max
    and isinstance are what they are in the function itself."""

    def __init__(self, own: Mapping[str, Any], copied: Callable[..., types.FunctionType]) -> None:
        self._own = own  # what the names are in a function that is followed
        self._copied = copied  # a function with other code, globals and cells
        self._made: dict[types.FunctionType, types.FunctionType | None] = {}

    def named_in(self, fn: types.FunctionType) -> dict[str, types.FunctionType]:
        """The copies of the helpers among a function's globals, by name."""
        held = {n: fn.__globals__.get(n) for n in _names_in(fn.__code__)}
        return {n: made for n, value in held.items() if (made := self._of(value)) is not None}

    def cells(self, fn: types.FunctionType) -> tuple[types.CellType, ...] | None:
        """A function's closure with the copies in it."""
        return fn.__closure__ and tuple(map(self._cell, fn.__closure__))

    def taking_symbols(self, fn: Any) -> Any:
        """A function that is called with symbols, or a partial of one, as a copy where it needs one."""
        if isinstance(fn, partial):
            return partial(self.taking_symbols(fn.func), *fn.args, **fn.keywords)
        made = self._copy(fn) if isinstance(fn, types.FunctionType) else None
        return fn if made is None else made

    def _cell(self, cell: types.CellType) -> types.CellType:
        try:
            made = self._of(cell.cell_contents)
        except ValueError:  # it is empty
            return cell
        return cell if made is None else types.CellType(made)

    def _of(self, value: Any) -> types.FunctionType | None:
        """The copy of a helper, None where it, and what it calls, needs none."""
        if not isinstance(value, types.FunctionType):
            return None
        if (value.__module__ or "").startswith("lego_emit."):
            return None
        if value not in self._made:
            self._made[value] = None  # one that calls itself
            self._made[value] = self._copy(value)
        return self._made[value]

    def _copy(self, value: types.FunctionType) -> types.FunctionType | None:
        own = {n: v for n, v in self._own.items() if n not in value.__globals__}
        own = {n: v for n, v in own.items() if n in _names_in(value.__code__)}
        changed: dict[str, Any] = {**own, **self.named_in(value)}
        cells, before = self.cells(value) or (), value.__closure__ or ()
        same = all(a is b for a, b in zip(cells, before, strict=True))
        if (same and not changed) or _writes_globals(value.__code__):
            return None
        return self._copied(value, value.__code__, {**value.__globals__, **changed}, cells or None)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code, and that of the functions inside."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names_in(code: types.CodeType) -> set[str]:
    return {name for each in _codes(code) for name in each.co_names}


def _writes_globals(code: types.CodeType) -> bool:
    """Whether a copy, which has globals of its own, would not write where the function writes."""
    ops = (dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"])
    return any(op in ops for each in _codes(code) for op in each.co_code[::2])


def check_globals(fn: types.FunctionType) -> None:
    """Raise TraceError where a function, or one that it calls, assigns a global that another of them
    reads: the function that is followed has globals of its own."""
    called = [fn]
    for f in called:
        held = [v for v in read_around(f) if isinstance(v, types.FunctionType)]
        called += [v for v in held if v not in called and v.__globals__ is fn.__globals__]
    if len(called) == 1 or not any(_writes_globals(f.__code__) for f in called):
        return
    written = {n: f for f in called for n in _globals_in(f, ("STORE_GLOBAL", "DELETE_GLOBAL"))}
    for reader in called:
        for name in _globals_in(reader, ("LOAD_GLOBAL",)):
            writer = written.get(name, reader)
            if writer is not reader:
                raise TraceError(
                    f"{writer.__name__} assigns the global {name}, which {reader.__name__} reads; "
                    f"give it as an argument, or return it"
                )


def _globals_in(fn: types.FunctionType, operations: Sequence[str]) -> list[str]:
    """The names of the globals with which a function does one of these operations."""
    steps = [s for code in _codes(fn.__code__) for s in dis.get_instructions(code)]
    return [s.argval for s in steps if s.opname in operations]


def read_around(fn: types.FunctionType) -> Iterator[Any]:
    """What a function reads from around it."""
    for code in _codes(fn.__code__):
        yield from (fn.__globals__[n] for n in code.co_names if n in fn.__globals__)
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # an empty cell
            continue
