"""The command line: lego-emit generate, build, verify, bench, golden, targets."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .. import __version__
from ..algebra.block import Block
from ..emit import registry
from ..emitted import Emitted
from ..errors import GoldenError, LegoError, LegoWarning, LoadError, ToolchainError
from ..files import write_all
from ..project.loading import subject, telling, user_file
from ..run.registry import toolchain as toolchain_of

if TYPE_CHECKING:
    from ..project.build import Difference

FAILED, BAD_INPUT = 1, 2


class _Group(click.Group):
    """A group whose commands end on an error of ours with one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (LegoError, LegoWarning) as error:  # a warning where Python makes errors of them
            _stop(str(error))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            _stop(
                f"lego-emit itself failed ({Path(frame.filename).name}, line {frame.lineno}): "
                f"{type(error).__name__}: {error}. Please report it with your input"
            )


class _BadInput(click.ClickException):
    exit_code = BAD_INPUT


def _stop(message: str) -> NoReturn:
    raise _BadInput(_printable(message))


def _warn(text: str) -> None:
    click.echo(_printable(f"warning: {text}"), err=True)


def _printable(text: str) -> str:
    """Text without the parts of file names that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _cmake_dir(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo((Path(__file__).parents[1] / "cmake").as_posix())
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lego-emit")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_cmake_dir,
    help="Print where LegoEmit.cmake is.",
)
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
            form = "is not of the form BM=32" if len(text) <= 60 else "is too long"
            text = text if len(text) <= 60 else f"{text[:57]}..."
            raise click.BadParameter(f"{text!r} {form}", ctx, param)
        if sizes.setdefault(name, value) != value:
            raise click.BadParameter(f"{name} is given as {sizes[name]} and as {value}", ctx, param)
    return sizes


_strict = click.option(
    "--strict", is_flag=True, help="Refuse what is only warned of else: names that nobody defined."
)


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
@click.option(
    "--cost",
    type=click.Choice(["ops", "latency"]),
    help="What the cheapest form is counted in. Default: the language's own.",
)
@_strict
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
    explain: bool,
) -> None:
    """Emit the index functions of NAME, a function or a layout that FILE.py defines."""
    file, wanted = _file_and_name(source)
    names = _target_names(targets)
    where = _destination(output, names)
    from ..pipeline import generate as emit

    # What the user's file prints must not get into the emitted text.
    with redirect_stdout(sys.stderr), telling(_warn), user_file(file) as defined:
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
            )
            for target in names
        ]
        explained = [unit.explain() for unit in units] if explain else []
    for unit, text in zip(units, explained, strict=False):
        head = f"{unit.printer.title}\n\n" if len(units) > 1 else ""
        click.echo(_printable(head + text))
    if explain and where is None:
        return
    if where is None:
        for unit in units:
            click.echo(unit.source, nl=False)
        return
    for path in write_all(_files(units, where, is_folder=_is_folder(output, names))):
        click.echo(f"wrote {path}", err=True)


def _file_and_name(source: str) -> tuple[str, str]:
    file, colon, wanted = source.rpartition(":")
    if not colon or not file or not wanted:
        raise click.UsageError(
            f"{source!r} is not of the form FILE.py:NAME, as in layouts.py:index_kernel"
        )
    return file, wanted


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


# -- verify and bench ----------------------------------------------------------------------------


def _on_device(command: Any) -> Any:
    """The options of the commands that run what NAME gives, on a device."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option(
            "--index-type",
            default="auto",
            show_default=True,
            metavar="TYPE",
            help="auto, int32, int64, uint32 or uint64.",
        ),
        _strict,
        click.option("--assume", multiple=True, metavar="RELATION", help="What always holds."),
        click.option(
            "--symbolic",
            is_flag=True,
            help="Leave the sizes symbols in the text, and pass their numbers.",
        ),
        click.option(
            "--size",
            "sizes",
            multiple=True,
            callback=_size,
            metavar="NAME=NUMBER",
            help="Fix a size.",
        ),
        click.option("--target", "-t", help="Language. Default: cuda on a GPU, cpp on the CPU."),
        click.option(
            "--on",
            "device",
            default="cpu",
            show_default=True,
            metavar="DEVICE",
            help="cpu, gpu, or gpu:1 for the second one.",
        ),
        click.argument("source", metavar="FILE.py:NAME"),
    ):
        command = option(command)
    return command


def _language(target: str | None, device: str) -> str:
    return _target_names([target or ("cpp" if device == "cpu" else "cuda")])[0]


@contextmanager
def _bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal; a call without effect elsewhere."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with click.progressbar(length=1000, label=label, file=sys.stderr) as bar:

        def progress(done: int, total: int) -> None:
            bar.update(1000 * done // total - bar.pos)

        yield progress


@main.command("verify")
@_on_device
@click.option(
    "--claim",
    type=click.Choice(["injective", "bijective"]),
    help="What an index function must be.",
)
def verify_unit(
    source: str,
    device: str,
    target: str | None,
    sizes: dict[str, int],
    symbolic: bool,
    assume: Sequence[str],
    strict: bool,
    index_type: str,
    as_json: bool,
    claim: str | None,
) -> None:
    """Check NAME over its whole index space, on the CPU or a GPU.

    A layout must come back from its round trip at every index and stay in its range; for an index
    function the range is checked, and collisions and gaps are shown. All is compared with the
    reference evaluator, or with the golden table beside the file.
    """
    file, wanted = _file_and_name(source)
    from ..pipeline import generate as emit

    with redirect_stdout(sys.stderr), telling(_warn), user_file(file) as defined:
        given = subject(defined, wanted, file)
        own = not (sizes or symbolic or assume or strict or index_type != "auto")
        case = _case_beside(file, wanted) if own else None
        if case is not None:
            unit = case.emit(_language(target, device))
        else:
            unit = emit(
                given,
                _language(target, device),
                name=wanted,
                sizes=None if symbolic else sizes or None,
                assume=assume,
                index_type=index_type,
                strict=strict,
            )
        with _bar(f"{unit.program.name} on {device}") as progress:
            found = unit.verify(
                device,
                sizes=sizes if symbolic or not isinstance(given, Block) else None,
                reference=case or given,
                claim=claim or "",
                progress=progress,
            )
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2))
    else:
        click.echo(str(found))
    if not found:
        sys.exit(FAILED)


@main.command()
@_on_device
@click.option(
    "--repeat", type=click.IntRange(1, 10000), default=30, show_default=True, help="How often."
)
@click.option(
    "--bytes",
    "count",
    type=click.IntRange(min=4),
    default=2**32,
    show_default=True,
    help="Of each array that a GPU gathers from and scatters to.",
)
def bench(
    source: str,
    device: str,
    target: str | None,
    sizes: dict[str, int],
    symbolic: bool,
    assume: Sequence[str],
    strict: bool,
    index_type: str,
    as_json: bool,
    repeat: int,
    count: int,
) -> None:
    """Measure the cost of one index of NAME, on the CPU or a GPU, beside its rivals.

    They are the unsimplified nest of divisions, a look-up table and, where FILE.py defines
    NAME_by_hand = (apply, inv), two Python functions of the indices, those. On a GPU a gather and a
    scatter through the layout are measured, too.
    """
    file, wanted = _file_and_name(source)
    from ..pipeline import generate as emit

    with redirect_stdout(sys.stderr), telling(_warn), user_file(file) as defined:
        given = subject(defined, wanted, file)
        unit = emit(
            given,
            _language(target, device),
            name=wanted,
            sizes=None if symbolic else sizes or None,
            assume=assume,
            index_type=index_type,
            strict=strict,
        )
        by_hand = defined.get(f"{wanted}_by_hand")
        good = by_hand is None or (
            isinstance(by_hand, tuple)
            and len(by_hand) == 2
            and callable(by_hand[0])
            and (by_hand[1] is None or callable(by_hand[1]))
        )
        if not good:
            raise LoadError(
                f"{file}: {wanted}_by_hand is {by_hand!r}; give a pair of functions, (apply, inv)"
            )
        with _bar(f"{unit.program.name} on {device}") as progress:
            found = unit.time(
                device,
                sizes=sizes if symbolic else None,
                layout=given if isinstance(given, Block) else None,
                by_hand=by_hand,
                bytes=count,
                repeat=repeat,
                progress=progress,
            )
    click.echo(json.dumps(found.as_dict(), indent=2) if as_json else str(found))


def _case_beside(file: str, wanted: str) -> Any:
    """The golden case that the file is, where NAME is its subject and its table is there."""
    from ..golden import SOURCE, TABLE, load

    path = Path(file)
    if path.name != SOURCE or not (path.parent / TABLE).is_file():
        return None
    case = load(path.parent)
    return case if wanted in ("layout", "kernel", path.resolve().parent.name, case.unit) else None


# -- build ---------------------------------------------------------------------------------------


@main.command()
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    help="A lego-emit.toml or pyproject.toml. Default: the nearest one in this folder or above.",
)
@click.option(
    "--out-dir",
    type=click.Path(path_type=Path),
    help="What outputs are relative to. Default: the configuration's folder.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when a file is out of date.")
@click.option("--diff", is_flag=True, help="As --check, and show the differences.")
@click.option("--list-outputs", is_flag=True, help="Print the files that are made, and stop.")
@click.option("--clean", is_flag=True, help="Remove the files that lego-emit wrote, and stop.")
@click.option("--force", is_flag=True, help="Overwrite and remove files that were edited, too.")
@click.option("--allow-outside", is_flag=True, help="Allow outputs outside of the project.")
@click.option(
    "--depfile",
    type=click.Path(path_type=Path),
    help="Write here what the outputs are made from, for Make and Ninja.",
)
@click.option("--depfile-target", metavar="NAME", help="Make the depfile one rule for this name.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes. Default: one a CPU.")
def build(
    config: Path | None,
    out_dir: Path | None,
    check: bool,
    diff: bool,
    list_outputs: bool,
    clean: bool,
    force: bool,
    allow_outside: bool,
    depfile: Path | None,
    depfile_target: str | None,
    jobs: int | None,
) -> None:
    """Make all files that lego-emit.toml (or pyproject.toml's [tool.lego-emit]) asks for.

    A second run does only what has changed. A file that was edited by hand is kept: exit code 1.
    """
    from ..project import build as builds
    from ..project.config import find_config, load

    if sum((check or diff, list_outputs, clean)) > 1:
        raise click.UsageError("--check, --list-outputs and --clean are different things to do")
    command = ["lego-emit", "build"]
    for option, value in (("--config", config), ("--out-dir", out_dir)):
        command += [option, str(value)] if value is not None else []
    command += ["--allow-outside"] if allow_outside else []
    remedy = shlex.join(command)
    project = load(config or find_config(), out_dir, outside=allow_outside)

    def waiting() -> None:
        click.echo(f"waiting for another build of {project.base.absolute()}", err=True)

    if list_outputs:
        for path in project.outputs:
            click.echo(os.fsencode(project.base / path))
    elif check or diff:
        with _late_bar("checking") as progress:
            found = builds.check(project, jobs=jobs, progress=progress)
        _report(found, remedy, diff)
    elif clean:
        outcome = builds.clean(project, force=force, waiting=waiting)
        click.echo(f"removed {_files_of(len(outcome.removed))}", err=True)
        _report(outcome.kept, f"{remedy} --clean")
    else:
        with _late_bar("building") as progress:
            outcome = builds.build(
                project, force=force, jobs=jobs, progress=progress, waiting=waiting
            )
        for text in dict.fromkeys(outcome.told):
            _warn(text)
        if depfile is not None:
            builds.write_depfile(project, depfile, depfile_target)
        changed = [(len(outcome.written), "wrote"), (len(outcome.removed), "removed")]
        done = ", ".join(f"{verb} {_files_of(count)}" for count, verb in changed if count)
        if done or not outcome.kept:
            click.echo(done or f"all {_files_of(len(project.outputs))} up to date", err=True)
        _report(outcome.kept, remedy)


@contextmanager
def _late_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A _bar that is not there before there is progress."""
    with ExitStack() as stack:
        bar = cache(lambda: stack.enter_context(_bar(label)))
        yield lambda done, total: bar()(done, total)


def _files_of(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


def _report(found: Sequence[Difference], remedy: str, diff: bool = False) -> None:
    """Print what is not as it should be, and the command that fixes it; exit 1 if there is any."""
    for difference in found:
        if diff:
            click.echo(_printable(difference.diff), nl=False)
        click.echo(_printable(f"{difference.path} {difference.problem}"), err=True)
    if any(not difference.edited for difference in found):
        click.echo(_printable(f"run `{remedy}` to fix that"), err=True)
    if any(difference.edited for difference in found):
        click.echo(
            _printable(
                f"edited files are kept: move the change into the layout file, or run "
                f"`{remedy} --force` to lose it"
            ),
            err=True,
        )
    if found:
        sys.exit(FAILED)


# -- show and compare ----------------------------------------------------------------------------


@main.command()
@click.argument("source", metavar="FILE.py:NAME")
@click.option(
    "--size", "sizes", multiple=True, callback=_size, metavar="NAME=NUMBER", help="Fix a size."
)
@click.option("--inv", "inverse", is_flag=True, help="The memory, with what it holds.")
@click.option("--order", is_flag=True, help="Arrows along the path through memory.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A picture instead: .svg, .html, or with lego-emit[plot] .png.",
)
def show(
    source: str, sizes: dict[str, int], inverse: bool, order: bool, output: Path | None
) -> None:
    """Show the layout NAME, or the one that the function NAME returns.

    The logical grid with the physical position of each index, coloured by tile.
    """
    from ..show.sheet import sheet, terminal, wants_colour

    page = sheet(_layout(source, sizes), inverse)
    if output is not None:
        from ..show.pictures import picture

        write_all({output: picture(page, output, order)})
        click.echo(f"wrote {output}", err=True)
        return
    size = shutil.get_terminal_size()
    click.echo(terminal(page, size.columns, size.lines, order), color=wants_colour())


@main.command()
@click.argument("one", metavar="FILE.py:A")
@click.argument("other", metavar="FILE.py:B")
@click.option(
    "--size", "sizes", multiple=True, callback=_size, metavar="NAME=NUMBER", help="Fix a size."
)
def compare(one: str, other: str, sizes: dict[str, int]) -> None:
    """Say where two layouts differ, and how long the contiguous runs of a re-layout are.

    Exit code 1 where they differ.
    """
    from ..show.compare import compare as compared

    found = compared(_layout(one, sizes), _layout(other, sizes))
    click.echo(str(found))
    if not found:
        sys.exit(FAILED)


def _layout(source: str, sizes: dict[str, int]) -> Block:
    """The layout of integer sizes that FILE.py:NAME names."""
    from ..check.exhaustive import as_layout

    file, wanted = _file_and_name(source)
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        return as_layout(subject(defined, wanted, file), sizes, source)


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
    from ..golden import UPDATE
    from ..golden import check as differences

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
    from ..golden import update as rewrite

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
    from ..golden import verify as run

    with redirect_stdout(sys.stderr):
        chosen = _cases(root, names)
    rows: list[tuple[str, ...]] = [("target", "toolchain", "symbolic", "numbers", "result")]
    skipped, problems = [], []
    for target in _chosen(targets) or registry.own_targets():
        try:
            toolchain = toolchain_of(target)
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
    from ..errors import nearest
    from ..golden import cases, load

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
            toolchain = toolchain_of(name).find().version
        except LegoError as error:
            toolchain = f"missing: {error}"
        rows.append((name, printer.title, f"*{printer.extension}", toolchain))
        with suppress(LegoError):
            for device, state in toolchain_of(name).devices():
                rows.append((f"  on {device}", "", "", state))
    _print_table(rows)


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip())
