"""A function from a rewritten text, as it would be if its file had that text."""

from __future__ import annotations

import ast
import hashlib
import os
import tempfile
import types
from pathlib import Path
from typing import Any

from ..errors import KernelError
from ..files import is_stream, write_if_changed
from .source import Source

FUTURE = 0x1FFE000  # the bits of co_flags that `from __future__ import` sets


def function_of(source: Source, text: str, helpers: str) -> types.FunctionType:
    """A function of a text that takes the place of a source's: its globals, defaults, cells and annotations,
    in a file that tools can read, each line under its number. helpers: what it calls, without which the file of the
    same text is another one."""
    above = source.above
    content = "\n" * (source.first - 1 - above) + "if True:\n" * above + text
    path = _file(source, content, helpers)
    tree = ast.parse(content, str(path))
    old = source.function
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    node.name, node.decorator_list, node.returns = "__made", [], None
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    cells = dict(zip(old.__code__.co_freevars, old.__closure__ or (), strict=True))
    place = {
        "lineno": node.lineno, "col_offset": 0,
        "end_lineno": node.end_lineno, "end_col_offset": node.end_col_offset,
    }  # fmt: skip
    body: list[ast.stmt] = [node]
    (*_, holder, _) = ("<locals>", *old.__qualname__.split("."))
    if holder != "<locals>":  # a class, whose name is in that of __private
        body = [ast.ClassDef(holder, [], [], body, [], **place)]
    arguments = ast.arguments([], [ast.arg(name) for name in cells], None, [], [], None, [])
    around = ast.FunctionDef("around", arguments, body, [], **place)
    module = ast.fix_missing_locations(ast.Module([around], []))
    flags = old.__code__.co_flags & FUTURE
    code = compile(module, str(path), "exec", flags, dont_inherit=True)
    for name in ("around", holder, "__made")[:: 1 if holder != "<locals>" else 2]:
        code = next(
            c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name.endswith(name)
        )
    code = code.replace(co_name=old.__name__, co_qualname=old.__qualname__)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, old.__globals__, old.__name__, old.__defaults__, closure)
    made.__kwdefaults__ = old.__kwdefaults__
    made.__annotations__ = dict(old.__annotations__)
    made.__qualname__, made.__module__, made.__doc__ = old.__qualname__, old.__module__, old.__doc__
    made.__dict__.update(old.__dict__)
    return made


def helper_of(source: Source, name: str, text: str) -> Any:
    """A function that a module's text defines, in a file that tools can read."""
    path = _file(source, text)
    space: dict[str, Any] = {"__name__": source.function.__module__}
    exec(compile(text, str(path), "exec", dont_inherit=True), space)
    return space[name]


def _file(source: Source, content: str, more: str = "") -> Path:
    """The file of a text: the same for the same text, and for no other."""
    key = hashlib.sha256(f"{source.file}\0{content}{more}".encode()).hexdigest()[:20]
    name = f"{Path(source.file).stem.strip('<>') or 'kernel'}.py"
    path = cache_folder() / key / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if is_stream(path):
        raise KernelError(
            f"{path} is no file, and the text of a kernel is to stand there: remove it"
        )
    write_if_changed(path, content)
    return path


def cache_folder() -> Path:
    """Where rewritten functions lie: $LEGO_EMIT_CACHE, else lego_emit in the user's folder of caches, else in
    that of temporary files."""
    if said := os.environ.get("LEGO_EMIT_CACHE"):
        return Path(said).absolute() / "kernels"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(base) / "lego_emit" / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"lego_emit-{os.getuid()}" / "kernels"
    return folder
