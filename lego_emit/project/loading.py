"""Users' Python files: run as a script would be, without leaving anything behind."""

from __future__ import annotations

import ast
import builtins
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from inspect import signature
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TextIO

from ..algebra.block import Block, is_bundle, is_packed
from ..errors import (
    LegoError,
    LegoWarning,
    LoadError,
    a_type,
    did_you_mean,
    error_text,
    way_to_import,
)

MODULE_NAME = "_lego_emit_user_file"
STDIN = "<stdin>"  # the file that is read from standard input
TYPED = "-e "  # before a layout that is typed in the place of a file
NAMELESS = "layout"  # what such a layout is called


@contextmanager
def user_file(path: str | Path) -> Iterator[dict[str, Any]]:
    """The names that a user's Python file defines.

    While the block runs, modules beside the file can be imported, as when it is run as a script
    (by the file itself, or by its functions when they are called); afterwards sys.path and
    sys.modules hold nothing of it. `__name__` is not "__main__". No bytecode is written: a check leaves
    the folder as it is, and a module that changes twice in a second is read again.

    Raises LoadError, with the file and the line, where the file cannot be read or fails.
    """
    if str(path).startswith(TYPED):
        yield {NAMELESS: typed(str(path).removeprefix(TYPED))}
        return
    file = Path(path)
    code = _compiled(file)
    folder = file.resolve().parent  # of standard input the current folder
    module = ModuleType(MODULE_NAME)
    module.__file__ = str(file.resolve())
    before, search, bytecode = dict(sys.modules), list(sys.path), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.modules[MODULE_NAME] = module  # dataclasses look their module up
    sys.path.insert(0, str(folder))
    try:
        _run(code, module, file)
        yield vars(module)
    finally:
        sys.path[:], sys.dont_write_bytecode = search, bytecode
        _forget(before, folder)


@contextmanager
def telling(tell: Callable[[str], None]) -> Iterator[None]:
    """While the block runs each warning of ours is told once, not shown as Python shows warnings."""
    told: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", LegoWarning, append=True)
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any) -> None:
            if not issubclass(category, LegoWarning):
                usual(message, category, *place)
            elif str(message) not in told:
                told.add(str(message))
                tell(str(message))

        warnings.showwarning = show
        yield


def subject(names: Mapping[str, Any], name: str, place: str | Path) -> Any:
    """The function or layout of this name; place is what errors call the file.

    Raises LoadError where there is none, with the nearest name that is one.
    """
    value = names.get(name)
    if isinstance(value, Block) or (callable(value) and not isinstance(value, type)):
        return value
    if (is_packed(value) or is_bundle(value)) and not isinstance(value, type):
        return value
    own = subjects(names)
    has = f"it defines {', '.join(own)}" if own else "it defines no function and no layout"
    if name in names:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise LoadError(
            f"{place}: {name} is {shown}, {a_type(value)}, and so neither a function nor "
            f"a layout; {has}"
        )
    raise LoadError(f"{place}: no {name!r}; {has}.{did_you_mean(name, own)}")


def layout_of(given: Any, sizes: Mapping[str, int], place: str | Path, params: list[str]) -> Any:
    """The layout that a name stands for; of a function the one that it makes of its parameters, numbers or
    symbols. place is what errors call the file; params: gets the names of the sizes, in the order of the definition.

    Raises LoadError where the function fails.
    """
    from ..arith.expr import symbols
    from ..trace.definition import parameters_of

    if isinstance(given, Block):
        params += parameters_of(given)
    if isinstance(given, Block) or not callable(given):
        return given
    values = {name: sizes.get(name, symbols(name)) for name in signature(given).parameters}
    params += values
    try:
        return given(**values)
    except LegoError:
        raise
    except Exception as error:
        raise LoadError(described(error, Path(place))) from error


def matrix_of(texts: Iterable[int | str], layout: Any, sizes: Mapping[str, int]) -> tuple[Any, ...]:
    """The sizes of the matrix that a layout's tiles are cut from, as texts say them. sizes: numbers by name, for
    what is no symbol of the layout any more.

    Raises LoadError where one cannot be read.

        >>> from lego_emit import Row
        >>> matrix_of(["M, 8 * N"], Row(4, 4, 8, 8), {"M": 32, "N": 4})
        (32, 32)
    """
    from ..trace.definition import symbols_in

    text, known = ", ".join(map(str, texts)), symbols_in(layout)
    left = {n: value for n, value in sizes.items() if n not in known}
    place = f"of {text!r}"
    return layout_of(typed(f"Row({text})", place), left, place, []).dims


def typed(text: str, place: str = "") -> Any:
    """What an expression over the names of lego_emit gives. Other names in it are symbols. A layout with
    symbols is a function of them, in the order in which they are typed; a lambda has its own parameters.
    place: what errors call it, unless it is what -e gives.

    Raises LoadError where it cannot be read or evaluated, and where it calls what there is not.

        >>> typed("TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))").dims
        (2, 2, 3, 4)
        >>> list(signature(typed("GroupBy([p*mb, q])")).parameters)
        ['p', 'mb', 'q']
    """
    import lego_emit as top

    place = place or f"{TYPED}{text!r}"
    tree, code = _parsed(text, place)
    known = {*dir(top)} - {"errors", "__version__"}
    scope: dict[str, Any] = {"__name__": MODULE_NAME}
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {node.id for node in calls if isinstance(node, ast.Name)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    own: list[str] = []  # symbols
    for name in dict.fromkeys(node.id for node in names):
        if name in known:
            scope[name] = getattr(top, name)
        elif name in called and not hasattr(builtins, name):
            raise LoadError(f"{place}: no {name!r}.{did_you_mean(name, known)}")
        elif not isinstance(tree.body, ast.Lambda) and not hasattr(builtins, name):
            scope[name] = top.symbols(name)
            own.append(name)
    try:
        value = eval(code, scope)
    except LegoError:
        raise
    except (Exception, SystemExit) as error:
        raise LoadError(f"{place}: {type(error).__name__}: {error_text(error)}") from error
    if not (own and isinstance(value, Block)):
        return value
    parameters = [ast.arg(name) for name in own]
    function = ast.Lambda(ast.arguments([], parameters, None, [], [], None, []), tree.body)
    made = ast.fix_missing_locations(ast.Expression(function))
    return eval(compile(made, place, "eval", dont_inherit=True), scope)


def of_element(text: str) -> Any:
    """The function of an element v that an expression is.

    Raises LoadError where it cannot be read.

        >>> of_element("v ^ 0x88")(1)
        137
    """
    place = f"value is {text!r}"
    _parsed(text, place)
    return typed(f"lambda v: ({text.strip()})", place)


def _parsed(text: str, place: str) -> tuple[ast.Expression, CodeType]:
    """An expression as a tree, and compiled. Raises LoadError where it is none."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return tree, compile(tree, place, "eval", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else error
        raise LoadError(f"{place}: no expression: {said}") from None


def names_in(path: Path) -> list[str]:
    """What a Python file gives names to at its top, read and not run; none where it cannot be read."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [
                x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name)
            ]
    return [name for name in dict.fromkeys(found) if not name.startswith("_")]


def subjects(names: Mapping[str, Any]) -> list[str]:
    """The layouts and functions of a file's own, without what it imports."""
    return [
        name
        for name, value in names.items()
        if isinstance(value, Block)
        or ((is_packed(value) or is_bundle(value)) and not isinstance(value, type))
        or (isinstance(value, FunctionType) and value.__module__ == MODULE_NAME)
    ]


def with_given(
    layouts: Mapping[str, Any], given: Mapping[str, int | str], place: str | Path
) -> dict[str, Any]:
    """What a template sees: a file's layouts, and numbers and texts that are given beside them. Raises
    LoadError where a name is both."""
    if twice := sorted(layouts.keys() & given.keys()):
        raise LoadError(
            f"{twice[0]} is given, and {place} has a layout of that name; give it another"
        )
    return {**layouts, **given}


def _compiled(file: Path) -> Any:
    try:
        source = _stdin(sys.stdin) if str(file) == STDIN else file.read_bytes()
    except FileNotFoundError:
        raise LoadError(f"{file}: no such file") from None
    except IsADirectoryError:
        raise LoadError(f"{file} is a folder; give a Python file") from None
    except OSError as error:
        raise LoadError(f"{file}: cannot be read: {error.strerror or error}") from None
    try:
        return compile(source, str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise LoadError(_syntax(file, error)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise LoadError(f"{file}: no Python file: {error or type(error).__name__}") from None


@cache
def _stdin(stream: TextIO | None) -> bytes:
    """What standard input holds; two layouts of one command may come from it."""
    if stream is None:  # closed
        raise FileNotFoundError
    return stream.buffer.read()


def _syntax(file: Path, error: SyntaxError) -> str:
    place = f"{error.filename or file}{f', line {error.lineno}' if error.lineno else ''}"
    text = f"{place}: {type(error).__name__}: {error.msg}"
    line = (error.text or "").strip()
    return f"{text}: {line}" if line else text


def _run(code: Any, module: ModuleType, file: Path) -> None:
    try:
        exec(code, vars(module))
    except (Exception, SystemExit) as error:
        raise LoadError(described(error, file)) from error


def described(error: BaseException, file: Path) -> str:
    """An exception as one line: the line of the user's file, its type, its message."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    where = f"{file}, line {lines[-1]}" if lines else str(file)
    if isinstance(error, SystemExit):
        return f"{where}: the file ends the program (SystemExit: {error.code})"
    if isinstance(error, SyntaxError):  # of a module that the file imports
        return f"{where}: {_syntax(file, error)}"
    message = error_text(error)
    if isinstance(error, NameError):
        message += way_to_import(error.name)
    return f"{where}: {type(error).__name__}{f': {message}' if message else ''}"


def _forget(before: Mapping[str, ModuleType], folder: Path) -> None:
    """Drop the modules that were imported from the folder; all others stay: an extension module
    such as NumPy's cannot be imported twice."""
    new = [name for name in sys.modules if name not in before]
    local = {
        name
        for name in new
        if "." not in name and _lies_in(getattr(sys.modules[name], "__spec__", None), folder)
    }
    for name in new:
        if name == MODULE_NAME or name.partition(".")[0] in local:
            del sys.modules[name]
    if MODULE_NAME in before:
        sys.modules[MODULE_NAME] = before[MODULE_NAME]


def _lies_in(spec: ModuleSpec | None, folder: Path) -> bool:
    if spec is None:
        return False
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
    package = folder / spec.name
    found = [Path(p).resolve() for p in places]
    return any(p == package or p.parent in (folder, package) for p in found)
