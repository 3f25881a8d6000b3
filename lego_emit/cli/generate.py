"""lego-emit generate: files to standard output or into a folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..emit.registry import DEFAULT
from ..emitted import Emitted
from ..errors import short_repr
from ..files import resolved, write_all
from ..options import Options
from ..project.config import function_named
from ..project.loading import STDIN, subject, telling, user_file
from .options import options_for
from .output import print_source
from .root import (
    EXPRESSION,
    file_and_name,
    main,
    printable,
    source_argument,
    target_names,
    target_option,
    typed_text,
    warn,
)

# What a command takes that does not change the text.
NOT_TEXT = ("source", "one", "other", "targets", "output", "explain", "plan", "time", "as_json")
NAMED = ("of", "value")  # what may be a FILE.py:NAME


@main.command(
    epilog='lego-emit generate layouts.py:brick -t cuda -t rust -o src/\nlego-emit generate -e "TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))" -t cuda'
)
@source_argument("source", "NAME")
@target_option(
    "targets",
    multiple=True,
    default=[DEFAULT],
    show_default=True,
    help="Language to emit; repeat it, or say 'all'.",
)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE-or-DIR",
    help="Where to write; a folder for several targets. Default: standard output.",
)
@options_for(Options)
@click.option(
    "--certificate",
    metavar="FILE.json",
    help="Write what the text promises, and how that is known; check-certificate proves it.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Print the steps from the layout's own formulas to the emitted ones; with -o, write too.",
)
def generate(
    source: str,
    targets: Sequence[str],
    output: str,
    certificate: str | None,
    explain: bool,
    **options: Any,
) -> None:
    """Emit the index functions of NAME, a function or a layout that FILE.py defines."""
    file, wanted = file_and_name(source)
    languages = target_names(targets)
    where = destination(output, languages)
    if certificate is not None and (where is None or len(languages) > 1):
        raise click.UsageError(
            "--certificate is of one file: give one --target and its name with -o"
        )
    from ..pipeline import generate as emit
    from ..proofcheck.languages import READERS

    # What the user's file prints must not get into the emitted text.
    with redirect_stdout(sys.stderr), telling(warn), user_file(file) as defined:
        given = subject(defined, wanted, file)

        def made(target: str, more: tuple[str, ...] = ()) -> Emitted:
            return emit(
                given,
                target,
                **{**options, "name": options["name"] or wanted},
                header=provenance((source,), target) + more,
            )

        units = [made(target) for target in languages]
        if certificate is not None:
            units = [made(languages[0], _certified(certificate, units[0]))]
        explained = [unit.explain() for unit in units] if explain else []
    for unit, text in zip(units, explained, strict=False):
        head = f"{unit.printer.title}\n\n" if len(units) > 1 else ""
        click.echo(printable(head + text))
    if explain and where is None:
        return
    if where is None:
        for unit in units:
            print_source(unit.source)
        return
    files = files_of(units, where, folder=is_folder(output, languages))
    if own := [path for path in files if resolved(path) == resolved(Path(file))]:
        raise click.UsageError(
            f"{own[0]} is the layouts' own file; choose another folder or --name"
        )
    if certificate is not None:
        path = Path(certificate)
        if certificate in ("", "-"):
            raise click.UsageError("--certificate needs the name of a file, as in tiles.json")
        if resolved(path) in {resolved(other) for other in (*files, Path(file))}:
            raise click.UsageError(
                f"--certificate {certificate} is the emitted file or the layouts' own; "
                "choose another name, as in tiles.json"
            )
        files[path] = units[0].certificate().json
        if (language := units[0].printer.name) not in READERS:
            warn(f"check-certificate does not read {language}; it reads {', '.join(READERS)}")
    for path in write_all(files):
        click.echo(f"wrote {path}", err=True)


def provenance(sources: Sequence[str], target: str) -> tuple[str, ...]:
    """Where the layouts are, and the command that makes the file; no path of this machine alone."""
    context = click.get_current_context()
    files = [*sources, *(str(context.params.get(name)) for name in NAMED)]
    if any(file.startswith(STDIN) for file in files):
        return ()
    short, given = [], list[str]()
    for source in sources:
        if text := typed_text(source):
            short.append(text)
            given += [EXPRESSION[0], text]
        else:
            short.append(_without_folder(source))
            given.append(short[-1])
    words = ["lego-emit", str(context.command.name), *given, "--target", target]
    for option in context.command.params:
        name = option.name or ""
        is_given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not is_given or name in NOT_TEXT:
            continue
        value, flag = context.params[name], max(option.opts, key=len)
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{name}")
            continue
        if name == "index_type":
            value = ",".join(value)
        if name == "base" and isinstance(value, dict):
            value = ",".join(f"{k}={v}" for k, v in value.items())
        if name in NAMED and function_named(value):
            value = _without_folder(value)
        if isinstance(value, dict):
            value = [f"{k}={short_repr(v)}" for k, v in value.items()]
        values = value if isinstance(value, (list, tuple)) else [value]
        words += [word for v in values for word in (flag, str(v))]
    return f"Source: {', '.join(short)}", f"To regenerate: {shlex.join(words)}"


def _without_folder(source: str) -> str:
    """A FILE.py:NAME without the folder, where that is of this machine alone."""
    path = Path(source)
    return path.name if path.is_absolute() else source.replace("\\", "/")


def _certified(path: str, unit: Emitted) -> tuple[str, ...]:
    """What is certified of every function."""
    covers = unit.certificate().covers
    return (f"Certificate: {Path(path).name} ({', '.join(covers)})",)


def destination(output: str, targets: Sequence[str]) -> Path | None:
    """The file or the folder that -o names; None for standard output."""
    if output == "-":
        return None
    if not output:
        raise click.UsageError(
            "-o '' is neither a file nor a folder; write `-o .` for the current one"
        )
    path = Path(output)
    if len(targets) > 1 and not path.is_dir():
        if path.exists():
            raise click.UsageError(f"-o {output} is a file; several targets need a folder")
        if path.suffix and not output.endswith(("/", "\\")):
            raise click.UsageError(
                f"-o {output} names one file, and several targets need a folder; if it is one, "
                f"write {output}/"
            )
    return path


def is_folder(output: str, targets: Sequence[str]) -> bool:
    """Whether -o names a folder."""
    return len(targets) > 1 or output.endswith(("/", "\\")) or Path(output).is_dir()


def write_units(
    units: Sequence[Emitted],
    where: Path | None,
    output: str,
    languages: Sequence[str],
    sources: Sequence[str],
    whose: str,
) -> None:
    """Print the units, or write their files where there is a place for them.

    sources: the FILE.py:NAMEs that they are made of, whose files are not written over; whose: what those are, in
    the error.
    """
    if where is None:
        for unit in units:
            print_source(unit.source)
        return
    files = files_of(units, where, folder=is_folder(output, languages))
    own = {resolved(Path(file_and_name(source)[0])) for source in sources}
    if clash := [path for path in files if resolved(path) in own]:
        raise click.UsageError(f"{clash[0]} is {whose} own file; choose another folder or --name")
    for path in write_all(files):
        click.echo(f"wrote {path}", err=True)


def files_of(units: Sequence[Emitted], where: Path, folder: bool) -> dict[Path, str]:
    """The files that are written, below a folder or one by its name, with their texts."""
    if not folder:
        return units[0].files(where)
    files: dict[Path, str] = {}
    for unit in units:
        path = where / f"{unit.program.name}{unit.printer.extension}"
        if path in files:
            raise click.UsageError(f"two of the targets write {path}; emit them one by one")
        files |= unit.files(path)
    return files
