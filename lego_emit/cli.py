"""The command line: lego-emit generate, golden, targets."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

import click

from . import __version__, registry
from .emit import Emitted
from .errors import GoldenError, LegoError, ToolchainError
from .files import write_all
from .loading import subject, user_file

FAILED, BAD_INPUT = 1, 2


class _Group(click.Group):
    """A group whose commands end on an error of ours with one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except LegoError as error:
            _stop(str(error))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            _stop(
                f"lego-emit itself failed ({Path(frame.filename).name}, line {frame.lineno}): "
                f"{type(error).__name__}: {error}. Please report it with your input"
            )


def _stop(message: str) -> NoReturn:
    error = click.ClickException(message)
    error.exit_code = BAD_INPUT
    raise error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lego-emit")
def main() -> None:
    """Write a memory layout once in Python; get its index functions in seven languages."""


# -- generate ------------------------------------------------------------------------------------


def _size(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in values:
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = int(number, 0)
        except ValueError:
            value = None
        if not equals or not name.isidentifier() or value is None:
            raise click.BadParameter(f"{text!r} is not of the form BM=32", ctx, param)
        if sizes.setdefault(name, value) != value:
            raise click.BadParameter(f"{name} is given as {sizes[name]} and as {value}", ctx, param)
    return sizes


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
    "--size", "sizes", multiple=True, callback=_size, metavar="NAME=NUMBER", help="Fix a size."
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
def generate(
    source: str,
    targets: Sequence[str],
    output: str,
    sizes: dict[str, int],
    assume: Sequence[str],
    index_type: str,
    base: int,
    name: str | None,
) -> None:
    """Emit the index functions of NAME, a function or a layout that FILE.py defines."""
    file, colon, wanted = source.rpartition(":")
    if not colon or not file or not wanted:
        raise click.UsageError(
            f"{source!r} is not of the form FILE.py:NAME, as in layouts.py:index_kernel"
        )
    names = _target_names(targets)
    where = _destination(output, names)
    from .generator import generate as emit

    # What the user's file prints must not get into the emitted text.
    with redirect_stdout(sys.stderr), user_file(file) as defined:
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
            )
            for target in names
        ]
    if where is None:
        for unit in units:
            click.echo(unit.source, nl=False)
        return
    for path in write_all(_files(units, where, is_folder=_is_folder(output, names))):
        click.echo(f"wrote {path}", err=True)


def _target_names(targets: Sequence[str]) -> list[str]:
    wanted = registry.targets() if "all" in targets else targets
    return list(dict.fromkeys(registry.printer(target).name for target in wanted))


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


# -- golden --------------------------------------------------------------------------------------


@main.group()
def golden() -> None:
    """Check, update or run golden cases: tables of layouts and their emitted text."""


_root = click.argument("root", default="golden", type=click.Path(path_type=Path))
_languages = click.option("--target", "-t", "targets", multiple=True, help="Only this language.")


def _chosen(targets: Sequence[str]) -> list[str] | None:
    return _target_names(targets) if targets else None


@golden.command()
@_root
@_languages
def check(root: Path, targets: Sequence[str]) -> None:
    """Compare the tables and texts below ROOT (./golden) with what is made now."""
    from .golden import UPDATE
    from .golden import check as differences

    with redirect_stdout(sys.stderr):
        found = differences(root, _chosen(targets))
    for difference in found:
        click.echo(str(difference))
    if found:
        click.echo(
            f"{len(found)} difference{'s' * (len(found) != 1)}; if they are meant, run `{UPDATE}`",
            err=True,
        )
        sys.exit(FAILED)
    click.echo(f"{root}: all golden files are as they should be")


@golden.command()
@_root
@_languages
def update(root: Path, targets: Sequence[str]) -> None:
    """Rewrite the tables and texts below ROOT (./golden). Refused where CI is set."""
    from .golden import update as rewrite

    with redirect_stdout(sys.stderr):
        changed = rewrite(root, _chosen(targets))
    for path in changed:
        click.echo(f"{'wrote' if path.exists() else 'removed'} {path}")
    click.echo(f"{len(changed)} file{'s' * (len(changed) != 1)} changed")


@golden.command()
@_root
@_languages
@click.option("--case", "names", multiple=True, metavar="NAME", help="Only this case.")
def verify(root: Path, targets: Sequence[str], names: Sequence[str]) -> None:
    """Compile the cases below ROOT (./golden) and run them over their whole tables.

    Each is run twice: with symbolic sizes as parameters, and with the table's numbers put into the
    text. Languages whose toolchain is missing are skipped, and said so.
    """
    from .golden import TARGETS
    from .golden import verify as run

    with redirect_stdout(sys.stderr):
        chosen = _cases(root, names)
    rows: list[tuple[str, ...]] = [("target", "toolchain", "symbolic", "numbers", "result")]
    skipped, problems = [], []
    for target in _chosen(targets) or TARGETS:
        try:
            toolchain = registry.toolchain(target)
            version = toolchain.find().version
        except ToolchainError as error:
            skipped.append(str(error))
            rows.append((target, "missing", "", "", "skipped"))
            continue
        counts, wrong = [], []
        try:
            for numbers in (False, True):
                result = run(chosen, target, numbers)
                counts.append(f"{result.comparisons:,}")
                wrong += result.mismatches
        except ToolchainError as error:
            wrong.append(str(error))
        problems += [f"{target}: {text}" for text in wrong]
        counts += [""] * (2 - len(counts))
        rows.append((target, version, *counts, "WRONG" if wrong else "equal"))
    _print_table(rows)
    for text in skipped:
        click.echo(f"skipped: {text}")
    for text in problems:
        click.echo(text, err=True)
    if problems:
        sys.exit(FAILED)


def _cases(root: Path, names: Sequence[str]) -> list[Any]:
    from .errors import nearest
    from .golden import cases, load

    if not names:
        return cases(root)
    known = sorted(p.parent.name for p in root.glob("*/layout.py"))
    for name in names:
        if name not in known:
            raise GoldenError(f"{root}: no case {name!r}.{nearest(name, known)}")
    return [load(root / name) for name in names]


# -- targets -------------------------------------------------------------------------------------


@main.command()
def targets() -> None:
    """List the languages that are installed, and the toolchains that this machine has for them."""
    rows: list[tuple[str, ...]] = [("target", "language", "file", "toolchain")]
    for name in registry.targets():
        try:
            printer = registry.printer(name)
        except LegoError as error:
            rows.append((name, "does not load", "", str(error)))
            continue
        try:
            toolchain = registry.toolchain(name).find().version
        except LegoError as error:
            toolchain = f"missing: {error}"
        rows.append((name, printer.title, f"*{printer.extension}", toolchain))
    _print_table(rows)


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip())
