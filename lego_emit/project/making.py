"""Many layouts in many languages at once: layout files run, in several processes, texts back."""

from __future__ import annotations

import os
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..errors import BuildError, LegoError
from ..files import noting
from ..options import Options
from .config import COPIED, BuildUnit, CopyOf, function_named
from .loading import (
    MODULE_NAME,
    layout_of,
    matrix_of,
    of_element,
    subject,
    subjects,
    telling,
    user_file,
    with_given,
)

if TYPE_CHECKING:
    from ..emitted import Emitted

AGAIN = "To regenerate: lego-emit build"  # in the head of what a build makes
BATCH = 28  # units that one process makes at a time: 4 layouts in 7 languages

Progress = Callable[[int, int], None]


def quiet(done: int, total: int) -> None:
    """Progress that is not shown."""


@dataclass(frozen=True)
class Texts:
    """A unit's files; imported: the project's own modules and
    tables that its layout file uses; told: what it
    was warned of."""

    texts: tuple[str, ...]
    imported: tuple[str, ...]
    told: tuple[str, ...] = ()


Result = Texts | str  # or what is wrong


def emit_all(
    folder: Path, units: Sequence[BuildUnit], jobs: int | None = None, progress: Progress = quiet
) -> list[tuple[BuildUnit, Result]]:
    """The units in their order, each with its texts or with what is wrong.

    folder: the project's, where its layout files are. jobs: how many processes; default: one for
    each CPU. progress: called with the units done and those to do.

    Raises BuildError where a process dies.
    """
    found: dict[str, Result] = {}
    for batch, results in _results(folder, _batches(units), jobs):
        found |= {unit.outputs[0]: x for unit, x in zip(batch, results, strict=True)}
        progress(len(found), len(units))
    return [(unit, found[unit.outputs[0]]) for unit in units]


def _batches(units: Sequence[BuildUnit]) -> list[list[BuildUnit]]:
    """Units of one file together, so that it is run once for many."""
    by_file: dict[str, list[BuildUnit]] = defaultdict(list)
    for unit in units:
        by_file[unit.file].append(unit)
    return [
        group[start : start + BATCH]
        for group in by_file.values()
        for start in range(0, len(group), BATCH)
    ]


def _results(
    folder: Path, batches: list[list[BuildUnit]], jobs: int | None
) -> Iterator[tuple[list[BuildUnit], list[Result]]]:
    jobs = min(jobs or _cpus(), len(batches))
    if jobs <= 1 or sum(map(len, batches)) <= BATCH:  # a process takes half a second to start
        for batch in batches:
            yield batch, _run(folder, batch)
        return
    pool = ProcessPoolExecutor(jobs, initializer=_start)
    try:
        waiting = {pool.submit(_run, folder, batch): batch for batch in batches}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenProcessPool:
        raise BuildError(
            "a process that ran the layout files died, perhaps for want of memory; try --jobs 1"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _start() -> None:
    """A worker leaves Ctrl-C to the build, and ends with it however that ends: a killed build's
    worker would wait for ever, and hold the build's lock, which it has inherited."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(parent_process(),), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(folder: Path, units: Sequence[BuildUnit]) -> list[Result]:
    """What each unit of one file gives."""
    file = folder / units[0].file
    before = set(sys.modules)
    found: list[tuple[tuple[str, ...], list[str]] | str] = []
    try:
        with redirect_stdout(sys.stderr), noting() as read, user_file(file) as defined:
            for unit in units:
                try:
                    told: list[str] = []
                    with telling(told.append):
                        texts = _texts(unit, folder, defined, file)
                    found.append((texts, told))
                except LegoError as error:
                    found.append(str(error))
            own = _imported(folder, file)
    except LegoError as error:
        return [str(error)] * len(units)
    for name in own.keys() - before:  # the next file shall import it again, and be seen to
        sys.modules.pop(name, None)
    root = os.path.realpath(folder)
    tables = {_within(root, os.path.realpath(path)) for path in read}
    files = tuple(sorted({*own.values(), *tables}))
    return [x if isinstance(x, str) else Texts(x[0], files, tuple(x[1])) for x in found]


def _texts(unit: BuildUnit, folder: Path, defined: dict[str, Any], file: Path) -> tuple[str, ...]:
    """The files of one unit."""
    from ..kernels import render

    if not unit.template:
        return tuple(_emitted(unit, defined, file).files(unit.outputs[0]).values())
    names = [unit.subject] if unit.subject else subjects(defined)
    layouts = {name: subject(defined, name, file) for name in names}
    options = {name: value for name, value in unit.options.items() if name != "given"}
    context = with_given(layouts, unit.options["given"], file)
    return (render(folder / unit.template, unit.target, **options, **context),)


def _emitted(unit: BuildUnit, defined: dict[str, Any], file: Path) -> Emitted:
    """A unit of functions, of copies, or of both."""
    from ..pipeline import generate

    moved = [end for one in unit.copies for end in (one.source, one.destination)]
    named = dict.fromkeys([*unit.parts.values(), unit.subject, *moved])
    names = ", ".join(filter(None, named))
    again = [f"Source: {unit.file}:{names}", AGAIN]
    if Path(unit.file).is_absolute():  # as CMake has it: a head names no folder of a machine
        again = [f"Source: {Path(unit.file).name}:{names}"]
    parts = {own: subject(defined, name, file) for own, name in unit.parts.items()}
    given = parts or (subject(defined, unit.subject, file) if unit.subject else None)
    if not unit.copies:
        return generate(given, unit.target, header=again, **unit.options)
    from ..copies.joined import apart, joined, order_of, sizes_left

    params = [list[str]() for _ in unit.copies]
    ends = [_ends(*one, unit, defined, file) for one in zip(unit.copies, params, strict=True)]
    if given is not None:
        said = apart(unit.options, [*parts.values()] or [given], ends)
    else:
        used = [n for own in params for n in own]
        left = sizes_left(unit.options["sizes"], used, [end for own in ends for end in own])
        said = [{"sizes": left}] * 2
        if len(ends) > 1:
            said = apart({**unit.options, "sizes": left}, [], ends)
    units: list[Emitted] = []
    if given is not None:
        units.append(generate(given, unit.target, header=again, **{**unit.options, **said[0]}))
    for one, layouts, names, own in zip(unit.copies, ends, params, said[1:], strict=True):
        options = {key: unit.options[key] for key in COPIED}
        options["order"] = order_of(names, layouts)
        told = dict(one.options)
        if "value" in told:
            told["value"] = _value(told["value"], defined, file)
        if (of := told.get("of")) is not None:
            sizes = unit.options["sizes"] or {}
            told["of"] = layouts[1] if isinstance(of, str) else matrix_of(of, layouts[0], sizes)
        one = replace(one, options=told)
        units.append(_copied(one, layouts, unit.target, {**options, **own}))
    options = Options.of(unit.options)
    return joined(
        unit.options["name"], units, unit.target, options.naming, again, options.index_type or ()
    )


def _ends(
    one: CopyOf, params: list[str], unit: BuildUnit, defined: dict[str, Any], file: Path
) -> list[Any]:
    """The layouts of a copy: source and destination, or the one and, where it is a layout, what the rows are of.
    params: gets the names of the sizes, in the order of the definitions."""
    of = one.options.get("of")
    names = [*filter(None, (one.source, one.destination)), *([of] if isinstance(of, str) else [])]
    sizes = unit.options["sizes"] or {}
    return [layout_of(subject(defined, name, file), sizes, file, params) for name in names]


def _value(text: str, defined: dict[str, Any], file: Path) -> Any:
    """What a copy makes of an element: a function of the layout file, or an expression."""
    named = function_named(text)
    return of_element(text) if named is None else subject(defined, named[1], file)


def _copied(one: CopyOf, layouts: list[Any], target: str, options: dict[str, Any]) -> Emitted:
    """A copy of a file. options: what the file says that it takes."""
    from ..copies.unit import copy, pack, unpack

    options |= one.options
    if one.source and one.destination:
        return copy(layouts[0], layouts[1], target, **options)
    return (unpack if one.source else pack)(layouts[0], target, **options)


def _imported(folder: Path, file: Path) -> dict[str, str]:
    """The project's own modules that are loaded: name -> file."""
    root, beside = os.path.realpath(folder), os.path.realpath(file.parent)
    own = tuple(os.path.join(f, "") for f in (root, beside))
    found: dict[str, str] = {}
    folders: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        origin = getattr(module, "__file__", None)
        if not origin or name in (MODULE_NAME, "__main__") or name.split(".")[0] == "lego_emit":
            continue
        path = _real(origin, folders)
        if not path.startswith(own):
            continue
        if {"site-packages", "dist-packages"}.isdisjoint(Path(path).parts):
            found[name] = _within(root, path)
    return found


def _real(file: str, folders: dict[str, str]) -> str:
    """os.path.realpath(file); folders: those of the folders of other files, which thousands of
    modules share."""
    if os.path.islink(file):
        return os.path.realpath(file)
    folder, name = os.path.split(file)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


def _within(root: str, path: str) -> str:
    """A path as a build remembers it: relative where it lies in the root."""
    inside = path.startswith(os.path.join(root, ""))
    return Path(os.path.relpath(path, root)).as_posix() if inside else path
