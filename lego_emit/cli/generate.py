"""lego-emit generate: files to standard output or into a folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..emitted import Emitted
from ..errors import shown
from ..files import write_all
from ..project.loading import subject, telling, user_file

if TYPE_CHECKING:
    pass
from .root import file_and_name, main, printable, size_option, strict_option, target_names, warn


@main.command()
@click.argument("source", metavar="FILE.py:NAME")
@click.option(
    "--target",
    "-t",
    "targets",
    multiple=True,
    required=True,
    help="Language to emit; repeat it, or say 'all'. `lego-emit targets` lists them.",
)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE-or-DIR",
    help="Where to write; a folder for several targets. Default: standard output.",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    callback=size_option,
    metavar="NAME=NUMBER",
    help="Fix a size.",
)
@click.option(
    "--assume", multiple=True, metavar="RELATION", help="What always holds, as 'M % BM == 0'."
)
@click.option(
    "--index-type",
    default="auto",
    show_default=True,
    metavar="TYPE",
    help="auto, int32, int64, uint32 or uint64.",
)
@click.option(
    "--base",
    type=click.IntRange(0, 1),
    default=0,
    show_default=True,
    help="What the first index is called.",
)
@click.option("--name", help="Of the unit and its functions. Default: NAME.")
@click.option(
    "--cost",
    type=click.Choice(["ops", "latency"]),
    help="What the cheapest form is counted in. Default: the language's own.",
)
@strict_option
@click.option("--view", is_flag=True, help="With the view of a layout that holds an array.")
@click.option(
    "--explain",
    is_flag=True,
    help="Print the steps from the layout's own formulas to the emitted ones; with -o, write too.",
)
def generate(
    source: str,
    targets: Sequence[str],
    output: str,
    sizes: dict[str, int],
    assume: Sequence[str],
    index_type: str,
    base: int,
    name: str | None,
    cost: str | None,
    strict: bool,
    view: bool,
    explain: bool,
) -> None:
    """Emit the index functions of NAME, a function or a layout that FILE.py defines."""
    file, wanted = file_and_name(source)
    names = target_names(targets)
    where = _destination(output, names)
    from ..pipeline import generate as emit

    # What the user's file prints must not get into the emitted text.
    with redirect_stdout(sys.stderr), telling(warn), user_file(file) as defined:
        given = subject(defined, wanted, file)
        units = [
            emit(
                given,
                target,
                name=name or wanted,
                sizes=sizes or None,
                assume=assume,
                index_type=index_type,
                base=base,
                cost=cost,
                strict=strict,
                view=view,
                header=_provenance(source, target),
            )
            for target in names
        ]
        explained = [unit.explain() for unit in units] if explain else []
    for unit, text in zip(units, explained, strict=False):
        head = f"{unit.printer.title}\n\n" if len(units) > 1 else ""
        click.echo(printable(head + text))
    if explain and where is None:
        return
    if where is None:
        for unit in units:
            click.echo(unit.source, nl=False)
        return
    files = _files(units, where, is_folder=_is_folder(output, names))
    if own := [path for path in files if path.resolve() == Path(file).resolve()]:
        raise click.UsageError(
            f"{own[0]} is the layouts' own file; choose another folder or --name"
        )
    for path in write_all(files):
        click.echo(f"wrote {path}", err=True)


def _provenance(source: str, target: str) -> tuple[str, ...]:
    """Where the layout is, and the command that makes the file; no path of this machine alone."""
    context = click.get_current_context()
    if Path(source).is_absolute():
        source = Path(source).name
    source = source.replace("\\", "/")
    words = ["lego-emit", "generate", source, "--target", target]
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not given or name in ("source", "targets", "output", "explain"):
            continue
        value, flag = context.params[name], max(option.opts, key=len)
        if isinstance(value, bool):
            words.append(flag)
            continue
        if isinstance(value, dict):
            value = [f"{k}={shown(v)}" for k, v in value.items()]
        values = value if isinstance(value, (list, tuple)) else [value]
        words += [word for v in values for word in (flag, str(v))]
    return f"Source: {source}", f"To regenerate: {shlex.join(words)}"


def _destination(output: str, targets: Sequence[str]) -> Path | None:
    if output == "-":
        return None
    path = Path(output)
    if len(targets) > 1 and path.exists() and not path.is_dir():
        raise click.UsageError(f"-o {output} is a file; several targets need a folder")
    return path


def _is_folder(output: str, targets: Sequence[str]) -> bool:
    return len(targets) > 1 or output.endswith(("/", "\\")) or Path(output).is_dir()


def _files(units: Sequence[Emitted], where: Path, is_folder: bool) -> dict[Path, str]:
    if not is_folder:
        return units[0].files(where)
    files: dict[Path, str] = {}
    for unit in units:
        path = where / f"{unit.program.name}{unit.printer.extension}"
        if path in files:
            raise click.UsageError(f"two of the targets write {path}; emit them one by one")
        files |= unit.files(path)
    return files
