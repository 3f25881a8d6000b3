"""lego-emit.toml: what a project generates, read and checked before anything runs.

    output = "generated/{target}/{name}.{ext}"    # what stands at the top holds for every layout
    targets = ["cuda", "rust"]

    [[layouts]]
    source = "layouts.py:index_kernel"            # and what stands here replaces it
    sizes = { BM = 32 }

    [[files]]                                     # several in one file
    name = "tiles"
    layouts = ["layouts.py:brick", { source = "layouts.py:turned", name = "flip" }]

    [[copies]]                                    # from one memory to another
    from = "layouts.py:rows"
    to = "layouts.py:brick"

    [[kernels]]
    template = "transpose.cu.j2"                  # is rendered to generated/transpose.cu
    layouts = "layouts.py"
    target = "cuda"

`layouts = ["layouts.py:index_kernel"]` is the short form. In pyproject.toml the same stands below
`[tool.lego-emit]`.
"""

from __future__ import annotations

import os
import re
import reprlib
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from ..emit import registry
from ..emit.naming import Naming
from ..errors import BuildError, LegoError, did_you_mean
from ..options import Options, RenderOptions, options_of
from ..surfaces import Flag, Text, Texts, keys

CONFIG = "lego-emit.toml"
PYPROJECT = "pyproject.toml"
OUTPUT = "generated/{target}/{name}.{ext}"
FIELDS = ("name", "target", "ext")
COPIED = ("sizes", "assume", "namespace", "prefix")  # options of generate() that a copy takes, too


@dataclass(frozen=True)
class CopyOf:
    """A copy that a file has. source, destination: the names of the layouts, "" for rows that the other
    one is packed from or unpacked to; options: what copy(), pack() or unpack() takes beside them."""

    source: str
    destination: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class BuildUnit:
    """One layout, or several in one file, in one language, or one kernel.

    file: the layout file, and depends: what else it reads, relative to the project's folder.
    subject: a layout's or a function's name; a kernel's template sees all where it is "".
    parts: of several layouts, what each is called in the emitted file -> its name.
    copies: those of the file, beside its layouts; it has none of these where subject is "" without parts.
    outputs: the emitted file and, for JavaScript, its declarations; relative to the project's base.
    options: what generate() takes beside the layout and the target, or render().
    place: what errors call it. template: a kernel's, which is among depends, too; else "".
    """

    file: str
    subject: str
    target: str
    outputs: tuple[str, ...]
    options: Mapping[str, Any]
    depends: tuple[str, ...]
    place: str
    template: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    copies: tuple[CopyOf, ...] = ()


@dataclass(frozen=True)
class Project:
    """A configuration file and what it asks for.

    folder: the configuration's, which layout files are relative to.
    base: the folder that outputs are relative to.
    """

    config: Path
    base: Path
    units: tuple[BuildUnit, ...]

    @property
    def folder(self) -> Path:
        """The folder of the lego-emit.toml."""
        return self.config.parent

    @property
    def outputs(self) -> dict[str, BuildUnit]:
        """Every file that the project makes, relative to base, and the unit that makes it."""
        return {path: unit for unit in self.units for path in unit.outputs}


def find_config() -> Path:
    """The lego-emit.toml, or the pyproject.toml with a [tool.lego-emit], of the current folder or
    the nearest one above. Raises BuildError where there is none."""
    here = Path.cwd()
    for folder in (Path(), *here.parents):
        if (found := config_in(folder)) is not None:
            return found
    raise BuildError(
        f"no {CONFIG} and no {PYPROJECT} with [tool.lego-emit] in {here} or above; "
        f"`lego-emit init` makes one"
    )


def config_in(folder: Path) -> Path | None:
    """A folder's lego-emit.toml, or its pyproject.toml with a [tool.lego-emit]; None where it has
    none. Raises BuildError where the latter cannot be read."""
    if (folder / CONFIG).is_file():
        return folder / CONFIG
    pyproject = folder / PYPROJECT
    if pyproject.is_file() and "lego-emit" in _table(_parsed(pyproject), "tool"):
        return pyproject
    return None


def load(config: Path, base: Path | None = None, *, outside: bool = False) -> Project:
    """The project that a configuration file describes.

    base: the folder that outputs are relative to; default: the configuration's.
    outside: allow outputs outside of base.

    Raises BuildError, with the file and the key, for whatever is wrong in it.
    """
    table = _parsed(config)
    if config.name == PYPROJECT:
        tool = _table(table, "tool")
        if "lego-emit" not in tool:
            raise BuildError(f"{config} has no [tool.lego-emit]")
        table = _table(tool, "lego-emit")
    base = config.parent if base is None else base
    lists = {"layouts": _layouts, "files": _tables, "copies": _tables, "kernels": _tables}
    shared = _checked(table, {**lists, **SHARED}, str(config))
    layouts, files, copies, kernels = (shared.pop(key, ()) for key in lists)
    if not layouts and not files and not copies and not kernels:
        raise BuildError(
            f'{config}: no layouts; list them, as in layouts = ["layouts.py:index_kernel"]'
        )
    if not layouts and not kernels and not any(entry.get("layouts") for entry in files):
        _check_of_copies(shared, bool(files), str(config))
    units = [
        unit
        for number, entry in enumerate(layouts, 1)
        for unit in _units(entry, shared, f"{config}: layout {number}", base)
    ]
    units += [
        unit
        for number, entry in enumerate(files, 1)
        for unit in _file(entry, shared, f"{config}: file {number}", base)
    ]
    units += [
        unit
        for number, entry in enumerate(copies, 1)
        for unit in _copy(entry, shared, f"{config}: copy {number}", base)
    ]
    units += [
        _kernel(entry, shared, f"{config}: kernel {number}", base)
        for number, entry in enumerate(kernels, 1)
    ]
    project = Project(config, base, tuple(units))
    _check_outputs(project, outside)
    _check_marks(project)
    return project


def _check_of_copies(shared: Mapping[str, Any], in_files: bool, place: str) -> None:
    """Raise BuildError where a key at the top is of nothing: of index functions, where there are copies alone."""
    taken = {*COPY, *(("names", "index-type") if in_files else ())}
    if wrong := next((key for key in shared if key not in taken), ""):
        raise BuildError(
            f"{place}: {wrong} is of index functions, and there are copies alone; leave it out, or list layouts"
        )


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise BuildError(f"{file}: no such file") from None
    except OSError as error:
        raise BuildError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BuildError(f"{file}, line {line}: not UTF-8; save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{file}: no TOML: {error}") from None


def _table(of: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = of.get(key, {})
    return value if isinstance(value, dict) else {}


# -- keys ----------------------------------------------------------------------------------------


def _checked(
    table: Mapping[str, Any],
    keys: Mapping[str, _Check],
    place: str,
    shared: Mapping[str, _Check] | None = None,
) -> dict[str, Any]:
    """The values of a table's keys. shared: keys that belong into the table around it."""
    checked, shared = {}, shared or {}
    for key, value in table.items():
        if key not in keys and key in shared:
            raise BuildError(
                f"{place}: {key} holds for the whole file; give it in [[files]], beside the file's name"
            )
        if key not in keys:
            raise BuildError(
                f"{place}: no key {key!r}; there are {', '.join(keys)}.{did_you_mean(key, keys)}"
            )
        try:
            checked[key] = keys[key](value)
        except (ValueError, LegoError) as error:
            raise BuildError(f"{place}: {key} is {reprlib.repr(value)}; {error}") from None
    return checked


_Check = Callable[[Any], Any]


def _texts(example: str) -> _Check:
    return Texts(example, "").of_toml


def _text(example: str) -> _Check:
    return Text(example).of_toml


def _targets(value: Any) -> tuple[str, ...]:
    names = registry.targets() if value in ("all", ["all"]) else _texts("cuda")(value)
    return tuple(dict.fromkeys(registry.printer(name).name for name in names))


def _output(value: Any) -> str:
    template = _text(OUTPUT)(value)
    for _, name, form, conversion in Formatter().parse(template):
        if name is not None and (name not in FIELDS or form or conversion):
            known = ", ".join(f"{{{x}}}" for x in FIELDS)
            raise ValueError(f"it may hold {known}, not {{{name}}}.{did_you_mean(name, FIELDS)}")
    if any(ord(c) < 32 for c in template):
        raise ValueError("a path has no control characters")
    return template


def _source(value: Any) -> tuple[str, str]:
    file, _, name = _text("layouts.py:index_kernel")(value).rpartition(":")
    if not file or not name:
        raise ValueError('give FILE.py:NAME, as in "layouts.py:index_kernel"')
    return file, name


def _layouts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(x, str | dict) for x in value):
        raise ValueError('give a list such as ["layouts.py:index_kernel"], or [[layouts]] tables')
    return [{"source": x} if isinstance(x, str) else x for x in value]


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(x, dict) for x in value):
        raise ValueError("give tables, as below [[files]], [[copies]] or [[kernels]]")
    return value


def _target(value: Any) -> str:
    return registry.printer(_text("cuda")(value)).name


def _element(value: Any) -> str | int:
    if type(value) is int and value > 0:
        return value
    if not isinstance(value, str) or not value:
        raise ValueError('give text such as "uint8", or a number of bytes')
    return value


def _of(value: Any) -> tuple[int | str, ...] | str:
    if isinstance(value, str):
        return ":".join(_source(value))
    if not isinstance(value, list) or not value or not all(type(n) in (int, str) for n in value):
        raise ValueError('give sizes such as [32, "N"], or a layout of them as "layouts.py:rows"')
    return tuple(value)


def function_named(text: str) -> tuple[str, str] | None:
    """The file and the function that FILE.py:NAME names; None where a text is an expression.

    >>> function_named("layouts.py:changed"), function_named("v ^ 0x88")
    (('layouts.py', 'changed'), None)
    """
    found = re.fullmatch(r"(.+\.py|<stdin>):([^\W\d]\w*)", text.strip())
    return None if found is None else (found[1], found[2])


def _value(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(
            'give an expression of v, as "v ^ 0x88", or a function as "layouts.py:changed"'
        )
    return value


def _of_options(of: type) -> dict[str, _Check]:
    return {key: kind.of_toml for key, kind in keys(of).items()}


_DEPENDS = {"depends": _texts("sizes.json")}
_OPTIONS = _of_options(Options)
_NAME = {"name": _OPTIONS.pop("name")}  # it is of one layout
SHARED: dict[str, _Check] = {"targets": _targets, "output": _output, **_OPTIONS, **_DEPENDS}
_FLAG = Flag().of_toml
_MOVED: dict[str, _Check] = {
    "element": _element,
    "zero": _FLAG,
    "threads": _FLAG,
    "value": _value,
    "of": _of,
}
PACKED: dict[str, _Check] = {"pack": _FLAG, "unpack": _FLAG, **_MOVED}
OWN: dict[str, _Check] = {"source": _source, **_NAME, **PACKED}
FILE: dict[str, _Check] = {"layouts": _layouts, "copies": _tables, **_NAME}
ENDS: dict[str, _Check] = {"from": _source, "to": _source, **_NAME, **_MOVED}
COPY: dict[str, _Check] = {
    **ENDS,
    **{k: SHARED[k] for k in ("targets", "output", "depends", *COPIED) if k in SHARED},
}


def _given(value: Any) -> dict[str, int | str]:
    if not isinstance(value, dict) or not all(type(x) in (int, str) for x in value.values()):
        raise ValueError('give integers and texts by name, as in given = { T = 64, kind = "star" }')
    for name in value:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no name")
    return value


KERNEL: dict[str, _Check] = {
    "template": _text("transpose.cu.j2"),
    "layouts": _text("layouts.py"),
    "target": _target,
    "output": _text("generated/transpose.cu"),
    "given": _given,
    **_of_options(RenderOptions),
    **_DEPENDS,
}


# -- units ---------------------------------------------------------------------------------------


def _units(
    entry: Mapping[str, Any], shared: Mapping[str, Any], place: str, base: Path
) -> Iterator[BuildUnit]:
    own = _checked(entry, {**OWN, **SHARED}, place)
    if "source" not in own:
        raise BuildError(f'{place}: no source; give one, as in source = "layouts.py:index_kernel"')
    file, subject = own["source"]
    values = {"name": subject, **shared, **own}
    place = f"{place} ({file}:{subject})"
    copies = _packed(own, subject, values["name"], file, place)
    return _emitted(values, place, base, file, subject, {}, copies)


def _packed(
    own: Mapping[str, Any], subject: str, name: str, file: str, place: str
) -> tuple[CopyOf, ...]:
    """The copies to and from rows that a layout's entry asks for."""
    wanted = [way for way in ("pack", "unpack") if own.get(way)]
    if not wanted and (moved := [key for key in _MOVED if key in own]):
        raise BuildError(
            f"{place}: {moved[0]} is of a copy; give pack = true or unpack = true, too"
        )
    options = _moved(own, file, place)
    ends = {"pack": ("", subject), "unpack": (subject, "")}
    return tuple(CopyOf(*ends[way], {**options, "name": f"{name}_{way}"}) for way in wanted)


def _moved(own: Mapping[str, Any], file: str, place: str) -> dict[str, Any]:
    """What the keys of a copy say of its elements."""
    found = {key: own[key] for key in _MOVED if key in own}
    of = found.get("of")
    if isinstance(of, str):
        other, _, found["of"] = of.rpartition(":")
        _one_file([file, other], place)
    if "value" in found and (named := function_named(found["value"])) is not None:
        _one_file([file, named[0]], place)
    return found


def _ends(entry: Mapping[str, Any], place: str) -> tuple[str, CopyOf]:
    """The layout file of a checked copy, and what it moves."""
    named = [entry[end] for end in ("from", "to") if end in entry]
    if not named:
        raise BuildError(f'{place}: no from and no to; give them, as in from = "layouts.py:rows"')
    if len(named) == 2 and "of" in entry:
        raise BuildError(f"{place}: of is where rows are packed or unpacked; leave out from, or to")
    _one_file([file for file, _ in named], place)
    file = named[0][0]
    source, destination = (entry.get(end, ("", ""))[1] for end in ("from", "to"))
    usual = f"{source}_to_{destination}" if len(named) == 2 else ""
    usual = usual or (f"pack_{destination}" if destination else f"unpack_{source}")
    options = {**_moved(entry, file, place), "name": entry.get("name", usual)}
    return file, CopyOf(source, destination, options)


def _one_file(files: Sequence[str], place: str) -> None:
    if len(set(files)) > 1:
        raise BuildError(
            f"{place}: layouts of {files[0]} and of {next(f for f in files if f != files[0])}; those "
            "of one file come from one layout file, which can import the others"
        )


def _copy(
    entry: Mapping[str, Any], shared: Mapping[str, Any], place: str, base: Path
) -> Iterator[BuildUnit]:
    own = _checked(entry, COPY, place)
    file, copied = _ends(own, place)
    said = " to ".join(f"{file}:{end}" for end in (copied.source, copied.destination) if end)
    values = {
        **{k: v for k, v in shared.items() if k in COPY},
        **own,
        "name": copied.options["name"],
    }
    return _emitted(values, f"{place} ({said})", base, file, "", {}, (copied,))


def _file(
    entry: Mapping[str, Any], shared: Mapping[str, Any], place: str, base: Path
) -> Iterator[BuildUnit]:
    own = _checked(entry, {**FILE, **SHARED}, place)
    if "name" not in own:
        raise BuildError(f'{place}: no name; give one, as in name = "tiles"')
    place = f"{place} ({own['name']})"
    if not own.get("layouts") and not own.get("copies"):
        raise BuildError(f'{place}: no layouts; list them, as in layouts = ["layouts.py:brick"]')
    parts: dict[str, str] = {}
    files: list[str] = []
    copies: list[CopyOf] = []
    for number, layout in enumerate(own.pop("layouts", ()), 1):
        within = f"{place}, layout {number}"
        checked = _checked(layout, OWN, within, SHARED)
        if "source" not in checked:
            raise BuildError(f"{within}: no source; give FILE.py:NAME")
        file, subject = checked["source"]
        name = checked.get("name", subject)
        if name in parts:
            raise BuildError(
                f"{place}: {parts[name]} and {subject} are both called {name}; give one of them "
                "another name"
            )
        files.append(file)
        parts[name] = subject
        copies += _packed(checked, subject, name, file, within)
    for number, entry in enumerate(own.pop("copies", ()), 1):
        within = f"{place}, copy {number}"
        file, copied = _ends(_checked(entry, ENDS, within, SHARED), within)
        files.append(file)
        copies.append(copied)
    _one_file(files, place)
    return _emitted({**shared, **own}, place, base, files[0], "", parts, tuple(copies))


def _emitted(
    given: Mapping[str, Any],
    place: str,
    base: Path,
    file: str,
    subject: str,
    parts: Mapping[str, str],
    copies: tuple[CopyOf, ...] = (),
) -> Iterator[BuildUnit]:
    """A unit for each target."""
    values = {"output": OUTPUT, "depends": (), **given}
    if not values.get("targets"):
        raise BuildError(f'{place}: no targets; list them, as in targets = ["cuda", "rust"]')
    name = values["name"]
    options = _keywords(values, Options) | {"name": name}
    for target in values["targets"]:
        printer = registry.printer(target)
        extension = printer.extension.removeprefix(".")
        path = Path(values["output"].format(name=name, target=printer.name, ext=extension))
        paths = [path, printer.declarations_path(path)]
        outputs = tuple(_below(base, base / p) for p in paths if p is not None)
        where = f"{place}, {target}"
        depends = values["depends"]
        yield BuildUnit(
            file,
            subject,
            printer.name,
            outputs,
            options,
            depends,
            where,
            parts=parts,
            copies=copies,
        )


def _kernel(
    entry: Mapping[str, Any], shared: Mapping[str, Any], place: str, base: Path
) -> BuildUnit:
    own = _checked(entry, KERNEL, place)
    for key in ("template", "layouts", "target"):
        if key not in own:
            example = {"template": "transpose.cu.j2", "layouts": "layouts.py", "target": "cuda"}
            raise BuildError(f'{place}: no {key}; give one, as in {key} = "{example[key]}"')
    template = own["template"]
    values = {**{k: shared[k] for k in ("index-type", "depends") if k in shared}, **own}
    file, colon, subject = own["layouts"].rpartition(":")
    file, subject = (file, subject) if colon and subject.isidentifier() else (own["layouts"], "")
    name = Path(template).name.removesuffix(".j2")
    output = own.get("output", f"generated/{name}")
    options = {**_keywords(values, RenderOptions), "given": own.get("given", {})}
    depends = tuple(dict.fromkeys([template, *values.get("depends", ())]))
    where, outputs = f"{place} ({template})", (_below(base, base / output),)
    return BuildUnit(file, subject, own["target"], outputs, options, depends, where, template)


def _keywords(values: Mapping[str, Any], of: type) -> dict[str, Any]:
    """The options among the values of keys, as keywords, the defaults of those that are not there."""
    defaults = options_of(of)
    names = (key.replace("-", "_") for key in keys(of))
    return {name: values.get(name.replace("_", "-"), defaults[name][1]) for name in names}


def _below(base: Path, path: Path) -> str:
    """path relative to base, with slashes; absolute where it lies on another drive."""
    try:
        return Path(os.path.relpath(path, base)).as_posix()
    except ValueError:
        return path.absolute().as_posix()


def _check_outputs(project: Project, outside: bool) -> None:
    makers: dict[str, tuple[BuildUnit, Path]] = {}
    files = [project.config]
    for unit in project.units:
        files += [project.folder / f for f in (unit.file, *unit.depends)]
    inputs = {_folded(os.path.realpath(file)) for file in files}
    base = os.path.realpath(project.base)
    resolved = cache(os.path.realpath)  # most outputs share their folder
    for unit in project.units:
        for output in unit.outputs:
            path = project.base / output
            real = os.path.join(resolved(path.parent), path.name)
            if not outside and os.path.commonpath([base, real]) != base:
                raise BuildError(
                    f"{unit.place}: the output {path} lies outside of {base}; change output, or "
                    f"allow it with --allow-outside"
                )
            if _folded(real) in inputs:
                raise BuildError(f"{unit.place}: {path} is an input; change output")
            other, first = makers.setdefault(_folded(real), (unit, path))
            if other is not unit:
                both = f"both write {path}"
                if path != first:
                    both = f"write {first} and {path}, which are one file where case is ignored"
                raise BuildError(
                    f"{other.place} and {unit.place} {both}; put {{name}}, {{target}} or {{ext}} "
                    f"into output, or give one of them another name"
                )
            _check_file(path, unit)


def _folded(path: str) -> str:
    """What paths that are one file on some system have in common."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _check_marks(project: Project) -> None:
    """Refuse units of different names that could not be used in one program."""
    owners: dict[tuple[str, str], BuildUnit] = {}
    for unit in (u for u in project.units if not u.template):
        name = unit.options["name"]
        given = (unit.options[key] for key in ("namespace", "prefix", "names"))
        try:
            naming = Naming.given(*given)
            printer = registry.printer(unit.target).spelling(naming)
            _check_copies(unit, printer)
        except LegoError as error:
            raise BuildError(f"{unit.place}: {error}") from None
        mark = printer.unit_mark(printer.unit_name(naming.unit(name)))
        other = owners.setdefault((unit.target, mark), unit) if mark else unit
        if other.options["name"] != name:
            raise BuildError(
                f"{other.place} and {unit.place}: {other.options['name']} and {name} would both be "
                f"{mark}; give one of them another name or namespace, or make one file of them, in "
                "[[files]]"
            )


def _check_copies(unit: BuildUnit, printer: Any) -> None:
    """Raise LegoError where a language has no copies, or none of such a name, before others are emitted."""
    if unit.copies:
        from ..copies.unit import check_name
        from ..emit.nests import forms_of

        forms_of(printer)
        for one in unit.copies:
            check_name(one.options["name"], printer)


def _check_file(path: Path, unit: BuildUnit) -> None:
    if path.is_symlink():
        raise BuildError(
            f"{unit.place}: {path} is a symbolic link to {os.readlink(path)}, and what it points to "
            f"is not to be overwritten; remove the link, or change output"
        )
    if path.is_dir():
        raise BuildError(f"{unit.place}: {path} is a folder; change output")
