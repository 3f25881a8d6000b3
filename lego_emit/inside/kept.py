"""What was made of kernels, kept on disk by all that it follows from."""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import os
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ..algebra.block import Block
from ..arith.expr import Cond, Expr
from ..errors import LegoError
from ..files import is_stream, write_if_changed
from ..formats.entry import catalogue
from ..table_lookup import Entries
from .made import cache_folder
from .outer import comes_from

PURE = "abs bool divmod enumerate int len list max min pow range reversed sum tuple zip".split()
# What functions do that do more than return a value, or another one in another run, as the order of a set.
OTHERS = "IMPORT", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "BUILD_SET"
ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"
DIGEST = 32
T = TypeVar("T")


class Unknown(Exception):
    """A value of which it is not known whether another run has the same."""


def kept(
    parts: Callable[[], Any], make: Callable[[], T], lasts: Callable[[T], bool] = lambda _: True
) -> T:
    """What make() gives, or what it gave in another run for the same parts; parts that no text tells apart are made
    each time. lasts: whether what was made follows from the parts alone, and is kept."""
    try:
        path = cache_folder() / "lowered" / _key(parts())
        if not _is_ours(path.parent) or is_stream(path):  # of which a read would wait
            return make()
    except (Unknown, OSError):
        return make()
    try:
        content = path.read_bytes()
        if _digest(path, content[DIGEST:]) == content[:DIGEST]:
            return pickle.loads(content[DIGEST:])
    except Exception:  # nothing is there, or what another Python has written
        pass
    made = make()
    if not lasts(made):
        return made
    try:
        content = pickle.dumps(made)
        write_if_changed(path, _digest(path, content) + content)
    except (LegoError, OSError, pickle.PicklingError, TypeError, AttributeError):
        pass  # a folder that takes no files
    return made


def _digest(path: Path, content: bytes) -> bytes:
    """By which a file shows that it is whole, and the one of its name."""
    return hashlib.sha256(path.name.encode() + content).digest()


def _is_ours(folder: Path) -> bool:
    """Whether nobody else writes into a folder, from which a run loads what it executes."""
    folder.mkdir(0o755, parents=True, exist_ok=True)  # where a umask leaves groups writing, too
    if os.name == "nt":
        return True
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def _key(parts: Any) -> str:
    text = repr((_version(), told(parts, ())))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@functools.cache
def _version() -> tuple[Any, ...]:
    """The Python that runs, and the text of lego_emit."""
    found = hashlib.sha256()
    root = Path(__file__).parents[1]
    for folder, names, files in os.walk(root, followlinks=True):
        names[:] = sorted({*names} - {"targets", "__pycache__"})  # of which none is asked here
        for name in sorted(files):
            if name.endswith(".py"):
                with open(f"{folder}/{name}", "rb") as file:
                    content = file.read()
                found.update(f"{name} {len(content)} ".encode() + content)
    return sys.version_info[:3], found.hexdigest()


def told(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """A value as plain ones, the same in each run and another one for any other value. around: the functions that it
    is a part of.

    Raises Unknown where there is none.
    """
    if value is None or type(value) in (int, str, bool, bytes):
        return value
    if isinstance(value, tuple | list | dict):
        own = type(value) in (tuple, list, dict)  # other classes have more than their parts
        kind = type(value).__name__ if own else named(type(value))
        parts = value.items() if isinstance(value, dict) else value
        return kind, *(told(part, around) for part in parts)
    if isinstance(value, Block):
        return named(type(value)), repr(value), told(value._value(), around)
    if isinstance(value, Expr | Cond | Entries):
        return type(value).__name__, value.key
    if value is catalogue:
        makers = [*(entry.make for entry in catalogue.values()), *catalogue._grammars.values()]
        if not all(comes_from(make, ("lego_emit",)) for make in makers):
            raise Unknown
        return "catalogue"
    if type(value) is functools.partial:
        parts = value.func, value.args, value.keywords, vars(value)
        return "partial", *(told(part, around) for part in parts)
    if isinstance(value, types.FunctionType) and _found(value) is not value:
        return _function(value, around)
    if isinstance(value, types.CodeType):
        return _code(value)
    return named(value)


def named(value: Any, package: str = "lego_emit") -> tuple[str, str]:
    """Something of a package's by its name, of which the package's version says what it is.

    Raises Unknown where the name is another's.
    """
    if value is None or _found(value, package) is not value:
        raise Unknown
    return value.__module__, value.__qualname__


def _found(value: Any, package: str = "lego_emit") -> Any:
    """What a package has by the name of a value."""
    module, name = (str(getattr(value, n, "")) for n in ("__module__", "__qualname__"))
    found: Any = sys.modules.get(module) if module.partition(".")[0] == package else None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _function(function: types.FunctionType, around: tuple[Any, ...]) -> Any:
    """A function: its code, and all that it reads."""
    if function in around:
        return "again", around.index(function)
    around, space, read = (*around, function), function.__globals__, dict[str, Any]()
    modules: list[types.ModuleType] = []
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    for code in codes:
        for one in dis.get_instructions(code):
            hidden = one.opname in ATTRIBUTES and str(one.argval).startswith("__")
            if hidden or one.opname.startswith(OTHERS):
                raise Unknown
    names = {name for code in codes for name in code.co_names}
    for name in names:
        if name in space and isinstance(space[name], types.ModuleType):
            modules.append(space[name])
        elif name in space:
            read[name] = told(space[name], around)
        elif hasattr(builtins, name) and name not in PURE:
            raise Unknown
    for module in modules:
        if module.__name__.partition(".")[0] != "lego_emit":
            raise Unknown
        for name in names & {*vars(module), *dir(module)}:
            found = getattr(module, name)
            if not isinstance(found, types.ModuleType):
                read[f"{module.__name__}.{name}"] = told(found, around)
            elif found not in modules:
                modules.append(found)
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # nothing is bound yet
        raise Unknown from None
    defaults = function.__defaults__, function.__kwdefaults__
    parts = function.__code__, cells, *defaults, vars(function)
    return "function", *(told(part, around) for part in parts), (*sorted(read.items()),)


def _code(code: types.CodeType) -> Any:
    texts = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    consts = (told(c, ()) for c in code.co_consts)
    return (
        "code",
        code.co_code,
        code.co_exceptiontable,
        texts,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        *consts,
    )
