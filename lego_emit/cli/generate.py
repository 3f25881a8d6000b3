"""lego-emit generate: files to standard output or into a folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import click

from ..emit.naming import STYLES
from ..emitted import Emitted
from ..errors import short_repr
from ..files import resolved, write_all
from ..ir.cost import MOST_EFFORT
from ..project.loading import STDIN, subject, telling, user_file
from .output import print_source
from .root import (
    file_and_name,
    main,
    printable,
    sizes_option,
    source_argument,
    strict_option,
    target_names,
    target_option,
    warn,
)


@main.command()
@source_argument("source", "NAME")
@target_option(
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
@sizes_option()
@click.option(
    "--assume", multiple=True, metavar="RELATION", help="What always holds, as 'M % BM == 0'."
)
@click.option(
    "--index-type",
    default="auto",
    show_default=True,
    metavar="TYPE",
    help="auto, int32, int64, uint32 or uint64; size_t (C's languages), usize (Rust), integer "
    "(Fortran); several as auto,int32.",
)
@click.option(
    "--base",
    multiple=True,
    default=("0",),
    callback=lambda context, option, texts: _base(texts),
    metavar="0|1|NAME=1,..",
    show_default=True,
    help="The number of the first index and position; names shift those alone, as g=1,local=1.",
)
@click.option("--name", help="Name of the unit and its functions. Default: NAME.")
@click.option(
    "--cost",
    type=click.Choice(["ops", "latency", "measured"]),
    help="What the cheapest form is counted in. Default: the language's own.",
)
@strict_option
@click.option("--view", is_flag=True, help="With the view of a layout that holds an array.")
@click.option(
    "--namespace", metavar="NAME", help="Of the functions: acme::tiles, or a module's name."
)
@click.option("--prefix", metavar="TEXT", help="What all public names begin with.")
@click.option("--names", metavar="STYLE", help=f"Style of names: {', '.join(STYLES)}.")
@click.option(
    "--hints",
    is_flag=True,
    help="Tell the compiler the ranges of the arguments (C's languages): an argument out of its range "
    "is undefined behaviour then.",
)
@click.option(
    "--effort",
    type=click.IntRange(1, MOST_EFFORT),
    default=1,
    show_default=True,
    help="How many times the usual steps the searches for cheaper forms may take.",
)
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
    sizes: dict[str, int],
    assume: Sequence[str],
    index_type: str,
    base: int | dict[str, int],
    name: str | None,
    cost: str | None,
    strict: bool,
    view: bool,
    namespace: str | None,
    prefix: str | None,
    names: str | None,
    hints: bool,
    effort: int,
    certificate: str | None,
    explain: bool,
) -> None:
    """Emit the index functions of NAME, a function or a layout that FILE.py defines."""
    file, wanted = file_and_name(source)
    languages = target_names(targets)
    where = _destination(output, languages)
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
                name=name or wanted,
                sizes=sizes or None,
                assume=assume,
                index_type=index_type.split(","),
                base=base,
                cost=cost,
                strict=strict,
                view=view,
                namespace=namespace,
                prefix=prefix,
                names=names,
                hints=hints,
                effort=effort,
                header=_provenance(source, target) + more,
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
    files = _files(units, where, is_folder=_is_folder(output, languages))
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


def _base(texts: Sequence[str]) -> int | dict[str, int]:
    """--base, once or more often: a number, or the names of what counts from 1. Raises BadParameter."""
    numbers = {text for text in texts if text in ("0", "1")}
    named = [text for text in texts if text not in numbers]
    if numbers and named:
        raise click.BadParameter(
            f"{min(numbers)} is for all indices, and {named[0][:60]!r} is for those that it names: "
            "give one number, or names alone"
        )
    if len(numbers) > 1:
        raise click.BadParameter("0 and 1 are both given; give one number, or names as g=1,local=1")
    return int(numbers.pop()) if numbers else _named_bases(named)


def _named_bases(texts: Sequence[str]) -> dict[str, int]:
    """What names are given, as g=1,local=1. Raises BadParameter."""
    found: dict[str, int] = {}
    for text in texts:
        for part in text.split(","):
            name, _, number = (x.strip() for x in part.partition("="))
            if not name.isidentifier() or number not in ("0", "1"):
                raise click.BadParameter(f"{text[:60]!r} is not 0, 1, or of the form g=1,local=1")
            if name in found:
                raise click.BadParameter(
                    f"{name[:60]} is given more than once; name each once, of the form g=1,local=1"
                )
            found[name] = int(number)
    return found


def _provenance(source: str, target: str) -> tuple[str, ...]:
    """Where the layout is, and the command that makes the file; no path of this machine alone."""
    if source.startswith(STDIN):
        return ()
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
        if name == "base" and isinstance(value, dict):
            value = ",".join(f"{k}={v}" for k, v in value.items())
        if isinstance(value, dict):
            value = [f"{k}={short_repr(v)}" for k, v in value.items()]
        values = value if isinstance(value, (list, tuple)) else [value]
        words += [word for v in values for word in (flag, str(v))]
    return f"Source: {source}", f"To regenerate: {shlex.join(words)}"


def _certified(path: str, unit: Emitted) -> tuple[str, ...]:
    """What is certified of every function."""
    covers = unit.certificate().covers
    return (f"Certificate: {Path(path).name} ({', '.join(covers)})",)


def _destination(output: str, targets: Sequence[str]) -> Path | None:
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
