"""What the page's worker calls: a request and its answer are JSON texts.

A request is {"do": the name of a function below, and its arguments}. An answer is what the function
gives, or {"needs": the name of an archive without which there is none}, or {"error": {"kind",
"message", "line", "column", "end_line", "end_column"}}: lines count from 1, columns from 0, and they
are missing where no place is known.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import sys
import traceback
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any

try:
    import numpy  # noqa: F401
except ImportError:  # in the page: what is needed of it, in Python
    import arrays

    sys.modules["numpy"] = arrays

import lego_emit
from lego_emit import LegoError, generate
from lego_emit.algebra.block import Block
from lego_emit.check.exhaustive import fixed
from lego_emit.check.explain import naive_operations
from lego_emit.emit import registry
from lego_emit.errors import LayoutError, LoadError, VerifyError, way_to_import
from lego_emit.options import beside
from lego_emit.project.loading import subject, subjects, telling, user_file
from lego_emit.run.space import is_size
from lego_emit.show.cells import BANK, NONE, Sheet, bank
from lego_emit.show.holders import is_named, values
from lego_emit.show.pictures import MOST, svg
from lego_emit.show.sheet import COLORS, kept, sheet
from lego_emit.templates import environment

FILE = Path("layouts.py")  # what the text is called
ARCHIVES = ("z3",)  # packages that can be had
START = Path("start.json")  # what start() gives, and the compiled templates: made with the page
TEMPLATES = Path("templates")
COUNTS = ("sizes", "fixed", "domain")  # dicts of numbers that a text may have
TILE = re.compile(r"[Bbt]|.*[Bb]lock|.*[Tt]ile|.*[Gg]roup|nb$|p$|q$")  # what small sizes are called
TRIED = 200  # choices of sizes

opened = ExitStack()  # the text that was run last, and what it has defined
defined: dict[str, Any] = {}
places: dict[str, tuple[int, int]] = {}  # the lines of its definitions


def answer(request: str) -> str:
    """The answer to a request, both as JSON."""
    given = json.loads(request)
    printed, warned = io.StringIO(), []
    try:
        with redirect_stdout(printed), telling(warned.append):
            found = ACTIONS[given.pop("do")](**given)
    except (Exception, SystemExit) as error:
        missing = _missing(error)
        if missing in ARCHIVES:
            return json.dumps({"needs": missing})
        found = {"error": _told(error, given.get("name"), missing)}
        with suppress(KeyError, SyntaxError, ValueError):  # its sliders are those of this text
            found["numbers"] = _numbers(ast.parse(given["text"]))
    return json.dumps({**found, "printed": printed.getvalue(), "warnings": warned})


def start() -> dict[str, Any]:
    """The languages that there are, and the names that a text may import, each with a line on it."""
    if START.exists():
        return json.loads(START.read_text())
    found = {n: getattr(vars(lego_emit).get(n), "__doc__", None) or "" for n in lego_emit.__all__}
    printers = {n: registry.printer(n) for n in registry.own_targets()}
    return {
        "targets": {
            n: {"title": p.title, "takes": _takes(p), "types": [*p.types]}
            for n, p in printers.items()
        },
        "names": {name: doc.partition("\n\n")[0] for name, doc in found.items()},
    }


def _takes(printer: Any) -> list[str]:
    """Which of the options beside the code a language has."""
    has = {"hints": printer.has_hints, "view": printer.has_views, "methods": bool(printer.receiver)}
    return [name for name, there in has.items() if there]


def run(text: str) -> dict[str, Any]:
    """Run the text: what it defines that can be emitted, the numbers that sliders move, and where the
    dicts end that they stand in."""
    opened.close()
    defined.clear()
    _unit.cache_clear()
    _guessed.cache_clear()
    tree = ast.parse(text, str(FILE))
    places.clear()
    places.update(_places(tree))
    FILE.write_text(text, encoding="utf-8")
    defined.update(opened.enter_context(user_file(FILE)))
    names = subjects(defined)
    if not names and not getattr(sys.stdout, "getvalue", str)():
        raise LegoError("the text defines no layout and no function, and prints nothing")
    return {
        "subjects": {n: {"symbolic": not isinstance(defined[n], Block)} for n in names},
        "numbers": _numbers(tree),
        "ends": _ends(tree),
    }


def code(name: str, target: str, numbers: bool = False, options: str = "{}") -> dict[str, Any]:
    """The emitted text, and each function's operations beside those of the nest of divisions.
    numbers: put the sizes' numbers into the text. options: of generate(), as JSON."""
    unit = _unit(name, target, numbers, options)
    naive = naive_operations(unit)
    return {
        "files": {str(path): text for path, text in _files(unit).items()},
        "functions": [
            {"name": f.name, "operations": f.op_count, "naive": naive.get(f.name)}
            for f in unit.functions
        ],
    }


def explain(name: str, target: str, numbers: bool = False, options: str = "{}") -> dict[str, Any]:
    """The steps that led to the emitted text."""
    return {"text": _unit(name, target, numbers, options).explain()}


def free(name: str) -> dict[str, Any]:
    """Numbers for what a picture needs and the text does not say: {"sizes": .., "domain": ..}, {}
    where there are none at which there is a picture."""
    if isinstance(defined[name], Block) and defined[name].is_concrete:
        return {}
    with suppress(LegoError):
        return _guessed(name, json.dumps(_counts("sizes") | _counts("fixed")))
    return {}


def picture(
    name: str, color: str = "", order: bool = False, animate: bool = False, inverse: bool = False
) -> dict[str, Any]:
    """The drawing; for each of its cells in order [the flat logical index, the position]; what can
    be colored by; and what the drawing lacks. A color that is not to be had is the usual one."""
    guessed = free(name)
    layout = _layout(name, guessed.get("sizes", {}))
    colors = _colors(layout)
    by_bank = (color if color in colors else colors[0]) == "bank"
    page = _page(name, layout, inverse, color if color in colors else None, guessed)
    if by_bank and type(page) is Sheet:
        legend = page.legend.replace("says its position in memory", "says its bank")
        page = Banked(**vars(page) | {"legend": legend})
    notes = []
    if order or animate:
        try:
            _ = page.path
        except LayoutError:
            order = animate = False
            notes.append("no order: it is no path through a memory")
    if by_bank and layout is not None and not inverse:
        notes += _wavefronts(layout)
    drawn = ([k for k in kept(n, MOST) if k is not None] for n in page.shape)
    cells = [page.cell(row, column) for row, column in product(*drawn)]
    return {
        "svg": svg(page, order, animate),
        "cells": [
            [c.logical, c.position, bank(c.position, BANK) if by_bank and c.position >= 0 else NONE]
            for c in cells
            if c.position != NONE
        ],
        "colors": colors,
        "note": "; ".join(notes),
    }


ACTIONS = {f.__name__: f for f in (start, run, code, picture, explain, free)}


@cache
def _unit(name: str, target: str, numbers: bool, options: str = "{}") -> Any:
    printer = registry.printer(target)
    if TEMPLATES.is_dir():
        from jinja2 import FileSystemBytecodeCache

        environment(type(printer)).bytecode_cache = FileSystemBytecodeCache(
            str(TEMPLATES.resolve())
        )
    said = beside(defined)
    chosen = {**said, **json.loads(options)}
    if chosen.get("view") and not printer.has_views:
        del chosen["view"]
    if chosen.get("methods") and "methods" not in said and not printer.receiver:
        del chosen["methods"]
    if chosen.get("hints") and not printer.has_hints:
        del chosen["hints"]
    sizes = {**_counts("fixed"), **(_counts("sizes") if numbers else {})}
    return generate(subject(defined, name, FILE), target, name=name, sizes=sizes or None, **chosen)


@cache
def _guessed(name: str, given: str) -> dict[str, dict[str, int]]:
    """Numbers at which there is a picture. given: those that the text says, as JSON."""
    functions = _unit(name, "python", False).functions
    if not functions:
        return {}
    function = functions[0]
    said = json.loads(given)
    back = {own: user for user, own in function.renamed}
    is_layout = isinstance(defined[name], Block)
    missing = {
        back.get(p.name, p.name): "sizes" if p.size or is_layout else "domain"
        for p in function.params
        if is_size(p.name, function) and p.default is None
    }
    missing = {n: what for n, what in missing.items() if n not in {*said, *_counts("domain")}}
    if not missing or not all(n.isidentifier() for n in missing):
        return {}
    small = tuple(4 if TILE.match(n) else 8 for n in missing)
    for numbers in [small, *islice(product((8, 4, 2, 16, 1), repeat=len(missing)), TRIED)]:
        found: dict[str, dict[str, int]] = {"sizes": {}, "domain": {}}
        for (n, what), number in zip(missing.items(), numbers, strict=True):
            found[what][n] = number
        with suppress(LegoError):
            _page(name, _layout(name, found["sizes"]), False, None, found)
            return found
    return {}


@dataclass(frozen=True, eq=False, repr=False)
class Banked(Sheet):
    """A sheet whose cells say their bank."""

    def text(self, row: int, column: int) -> str:
        """The bank; of the memory, the index, as ever."""
        position = self.cell(row, column).position
        if self.inverse or position < 0:
            return super().text(row, column)
        return str(bank(position, BANK))

    def note(self, row: int, column: int) -> str:
        """What a cell says under the mouse."""
        position = self.cell(row, column).position
        said = super().note(row, column)
        return said if position < 0 else f"{said}, in bank {bank(position, BANK)}"


def _wavefronts(layout: Block) -> list[str]:
    """What a warp costs that reads a row, and one that reads a column, of a layout of two indices."""
    if len(layout.dims) != 2 or layout.results is not None:
        return []
    from lego_emit.movement import bank_conflicts

    def count(axis: int) -> int:
        def access(lane: int) -> tuple[int, int] | None:
            return ((lane, 0), (0, lane))[axis] if lane < layout.dims[axis] else None

        return bank_conflicts(layout, access).wavefronts

    with suppress(LegoError):
        down, across = count(0), count(1)
        said = f"wavefront{'s' * (across != 1)}"
        return [f"a warp reads a row in {across} {said}, a column in {down}"]
    return []


def _counts(name: str) -> dict[str, int]:
    """The sizes that the text has by that name. Raises LegoError where they are no dict."""
    given = defined.get(name, {})
    if not isinstance(given, dict):
        raise LegoError(f'{name} is {given!r}; give a dict such as {{"M": 12}}')
    return given


def _files(unit: Any) -> dict[Path, str]:
    return unit.files(Path(unit.program.name + unit.printer.extension))


def _layout(name: str, guessed: dict[str, int]) -> Block | None:
    """A definition as a layout of numbers; None where it is a function of indices."""
    found = defined[name]
    sizes = {**_counts("sizes"), **_counts("fixed"), **guessed}
    if not isinstance(found, Block):
        wanted = inspect.signature(found).parameters
        if not set(wanted) <= set(sizes):
            return None
        with suppress(NameError):  # an index that is a parameter by its use
            found = found(**{n: sizes[n] for n in wanted})
    if isinstance(found, Block) and sizes and not found.is_concrete:
        found = fixed(found, sizes)
    return found if isinstance(found, Block) else None


def _page(
    name: str, layout: Block | None, inverse: bool, color: str | None, guessed: dict[str, Any]
) -> Sheet:
    """The cells of a layout, or of the results of a function of indices."""
    if layout is not None:
        return sheet(layout, inverse=inverse, color=color)
    if inverse:
        raise LegoError(f"{name} is no layout: there is no memory to show")
    function = _unit(name, "python", False).functions[0]
    sizes = {**_counts("sizes"), **guessed.get("sizes", {})}
    domain = {**_counts("domain"), **guessed.get("domain", {})}
    try:
        return values(function, sizes, domain, color)
    except VerifyError:
        raise LegoError(
            f"a picture of {name} takes numbers for its sizes, sizes = {{..}}, and where their ranges "
            "are not known for its indices, domain = {..}"
        ) from None


def _colors(layout: Block | None) -> list[str]:
    """What the cells of a layout's picture, or of a function's, can be colored by, the usual one
    first."""
    if layout is None:
        return ["position", "bank"]
    if not is_named(layout):
        return list(COLORS)
    names = [*(layout.coordinates or ()), "bank", "position"]
    usual = next((n for n in ("lane", "thread", "warp") if n in names), None)
    usual = usual or ("bank" if len(layout.results or ()) < 2 else names[0])
    return sorted(names, key=lambda name: name != usual)


def _places(tree: ast.Module) -> dict[str, tuple[int, int]]:
    """The first and last line of what the text defines."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node.lineno, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    found[name.id] = node.lineno, node.end_lineno
    return found


def _numbers(tree: ast.Module) -> list[dict[str, Any]]:
    """The integers that the text gives names to: `M = 6`, `M, N = 6, 8`, and those of `sizes`."""
    found = []

    def take(name: Any, value: ast.expr) -> None:
        if isinstance(name, str) and isinstance(value, ast.Constant) and type(value.value) is int:
            place = {"line": value.lineno, "column": value.col_offset, "end": value.end_col_offset}
            found.append({"name": name, "value": value.value, **place})

    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, part in zip(target.elts, value.elts, strict=False):
                take(getattr(name, "id", None), part)
        elif isinstance(value, ast.Dict) and getattr(target, "id", None) in COUNTS:
            for key, part in zip(value.keys, value.values, strict=True):
                take(getattr(key, "value", None), part)
        else:
            take(getattr(target, "id", None), value)
    return found


def _ends(tree: ast.Module) -> dict[str, dict[str, int | bool]]:
    """Where the dicts of numbers end, before their brace."""
    return {
        getattr(node.targets[0], "id", ""): {
            "line": node.value.end_lineno or 1,
            "column": (node.value.end_col_offset or 1) - 1,
            "empty": not node.value.keys,
        }
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Dict)
        and getattr(node.targets[0], "id", None) in COUNTS
    }


def _missing(error: Any) -> str | None:
    """The package for lack of which an error was raised."""
    while error is not None and not (isinstance(error, ModuleNotFoundError) and error.name):
        error = error.__cause__
    return error.name if error else None


def _told(error: BaseException, name: str | None, missing: str | None) -> dict[str, Any]:
    """An error with its place in the text."""
    cause = error.__cause__ if isinstance(error, LoadError) and error.__cause__ else error
    if isinstance(cause, SyntaxError) and cause.lineno:
        start, end = cause.offset or 1, cause.end_offset or 0
        place = {
            "line": cause.lineno,
            "column": start - 1,
            "end_line": cause.end_lineno or cause.lineno,
            "end_column": max(end - 1, start),
        }
        return {"kind": type(cause).__name__, "message": cause.msg, **place}
    kind, text = type(cause).__name__, str(cause)
    if isinstance(cause, NameError):
        text += way_to_import(cause.name)
    if not isinstance(cause, LegoError):
        text = f"{kind}: {text}" if text else kind
    found: dict[str, Any] = {"kind": kind, "message": text}
    if missing:
        found["message"] = f"{missing} is not in this page; in a Python of your own it works"
    for frame in traceback.extract_tb(cause.__traceback__):
        if frame.filename == str(FILE) and frame.lineno:
            found |= {"line": frame.lineno, "end_line": frame.end_lineno or frame.lineno}
            found |= {"column": frame.colno or 0, "end_column": frame.end_colno}
    if "line" not in found and name in places:
        found["line"], found["end_line"] = places[name]
    return found
