"""Calls of a user's functions that may not end: stopped after so many lines of Python, not seconds,
so that the answer is the same on every machine."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from types import CellType, CodeType, FrameType, FunctionType, MethodType
from typing import Any

from .errors import is_users

MOST = 2**21  # lines of the user's, and calls of Python functions, in one call


class Endless(BaseException):
    """More than MOST lines were run: str() says it, and at which line. It is no Exception, so that
    a user's function does not catch it."""


def bounded(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """function(..), where it may not end. Raises Endless.

    Nothing is counted while a debugger traces, nor in what is not Python: sum(itertools.count()).
    """
    if sys.gettrace() is not None:
        return function(*arguments, **keywords)
    left = MOST
    users: dict[str, bool] = {}  # by file

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Endless(f"has not ended after {MOST} lines of Python, at line {frame.f_lineno}")
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        file = frame.f_code.co_filename
        if file not in users:
            users[file] = is_users(frame)
        if not users[file]:
            return None
        frame.f_trace_opcodes = _stands_still(frame.f_code)
        return line(frame, event, argument)

    try:
        sys.settrace(call)  # it takes its time, in which an interrupt may come
        return function(*arguments, **keywords)
    finally:
        sys.settrace(None)


def may_not_end(function: Any) -> bool:
    """Whether a user's function, or one that it calls by name, has a loop or calls itself."""
    return _may_not_end(function, ())


def _may_not_end(function: Any, around: tuple[CodeType, ...]) -> bool:
    while isinstance(function, partial | MethodType):
        function = function.func if isinstance(function, partial) else function.__func__
    if not isinstance(function, FunctionType):
        function = vars(type(function)).get("__call__")
        if not isinstance(function, FunctionType):
            return False
    module = function.__globals__.get("__name__", "").partition(".")[0]
    if module == "lego_emit":
        return False
    code = function.__code__
    if code in around or _loops(code):
        return True
    cells = [c.cell_contents for c in function.__closure__ or () if c != CellType()]  # not empty
    read = (function.__globals__.get(name) for name in names_in(code))
    inner: Iterable[Any] = (f for f in (*cells, *read) if isinstance(f, FunctionType | partial))
    return any(_may_not_end(f, (*around, code)) for f in inner)


_BACKWARD = {code for name, code in dis.opmap.items() if "JUMP_BACKWARD" in name}


@lru_cache(maxsize=1024)
def _loops(code: CodeType) -> bool:
    return not _BACKWARD.isdisjoint(code.co_code[::2]) or any(
        _loops(c) for c in code.co_consts if isinstance(c, CodeType)
    )


@lru_cache(maxsize=1024)
def _stands_still(code: CodeType) -> bool:
    """Whether a jump leads to itself, as in `while True: pass` on one line: no line is told of."""
    return any("JUMP" in i.opname and i.argval == i.offset for i in dis.get_instructions(code))


def names_in(code: CodeType) -> set[str]:
    """The names that code reads, its inner functions' too."""
    inner = [names_in(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)
