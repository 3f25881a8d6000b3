"""lego-emit copy: routines that move arrays from one layout's memory to another's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from os import cpu_count
from typing import Any

import click

from ..emit.registry import DEFAULT
from ..options import Options
from ..project.config import function_named
from ..project.loading import layout_of, matrix_of, of_element, subject, telling, user_file
from .generate import destination, provenance, write_units
from .options import option_of
from .output import print_json
from .root import file_and_name, main, source_argument, target_names, target_option, warn

SHARED = ("sizes", "assume", "namespace", "prefix")


def _emits(name: str | None) -> Callable[[Any], Any]:
    """The options of each command that emits copies. name: of the routine unless it is given."""
    options = (
        target_option(
            "targets", multiple=True, default=[DEFAULT], show_default=True,
            help="Language to emit; repeat it.", having="copies",
        ),
        click.option(
            "-o", "--output", default="-", metavar="FILE-or-DIR",
            help="Where to write; a folder for several targets. Default: standard output.",
        ),
        click.option(
            "--element", default="uint32", show_default=True, metavar="TYPE",
            help="uint8 .. uint64, a number of bytes, or a NumPy type.",
        ),
        click.option(
            "--name", default=name, show_default=name is not None,
            help="Of the routine and its file.",
        ),
        click.option(
            "--zero/--no-zero", default=True, help="Whether padding is written with zeros."
        ),
        click.option(
            "--value", metavar="EXPR or FILE:NAME",
            help="What is written in an element's place: an expression of v, or a function.",
        ),
        click.option("--threads", is_flag=True, help="Emit a copy that threads can share."),
        *(option_of(Options, shared) for shared in SHARED),
        click.option("--plan", is_flag=True, help="Print how each language does the copy; with -o, write too."),
        click.option(
            "--time", is_flag=True,
            help="Measure it beside a copy of the same bytes; with -o, write too.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print what --time measures as JSON."
        ),
    )  # fmt: skip

    def made(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return made


def _of(command: Any) -> Any:
    return click.option(
        "--of", metavar="M,N or FILE:NAME",
        help="The sizes of the matrix that tiles are cut from, or a layout of it.",
    )(command)  # fmt: skip


@main.command(
    "copy",
    epilog='lego-emit copy layouts.py:rows layouts.py:tiles -t c -o pack.h\nlego-emit copy -e "Row(4, 8)" -e "Col(4, 8)" -t rust --plan',
)
@source_argument("one", "A")
@source_argument("other", "B")
@_emits("copy")
def copy(one: str, other: str, sizes: dict[str, int], **options: Any) -> None:
    """Emit a routine that copies an array from the memory of layout A to that of layout B."""
    params: list[str] = []
    ends = _layout(one, sizes, params), _layout(other, sizes, params)
    _emit((one, other), ends, params, sizes=sizes, **options)


@main.command("pack", epilog="lego-emit pack layouts.py:tiles --of 32,32 -t c -o pack.h")
@source_argument("source", "NAME")
@_of
@_emits(None)
def pack(source: str, of: str | None, **options: Any) -> None:
    """Emit a routine that copies the rows of a matrix into a layout's memory."""
    _emit_packed("pack", source, of, **options)


@main.command("unpack", epilog="lego-emit unpack layouts.py:tiles --of 32,32 -t c -o unpack.h")
@source_argument("source", "NAME")
@_of
@_emits(None)
def unpack(source: str, of: str | None, **options: Any) -> None:
    """Emit a routine that copies a layout's memory into the rows of a matrix."""
    _emit_packed("unpack", source, of, **options)


def _emit_packed(
    called: str, source: str, of: str | None, sizes: dict[str, int], **options: Any
) -> None:
    from ..copies.pairs import pair_of

    params: list[str] = []
    layout = _layout(source, sizes, params)
    matrix: Any = of
    if of is not None and function_named(of):
        matrix = _layout(of, sizes, params)
    elif of is not None:
        matrix = matrix_of([of], layout, sizes)
    ends = pair_of(layout, matrix, called, sizes)
    _emit(
        (source,), ends if called == "pack" else ends[::-1], params, called, sizes=sizes, **options
    )


def _emit(
    sources: Sequence[str],
    ends: Sequence[Any],
    params: Sequence[str],
    called: str = "copy",
    *,
    targets: Sequence[str],
    output: str,
    element: str,
    name: str | None,
    value: str | None,
    plan: bool,
    time: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Emit the copy between two layouts. params: names of sizes, in the order of definition; called: the command."""
    if as_json and (plan or not time):
        raise click.UsageError("--json is for --time, without --plan")
    from ..copies.joined import order_of, sizes_left
    from ..copies.unit import copy as made
    from ..copies.unit import name_of

    languages = target_names(targets, "copies")
    where = destination(output, languages)
    size: Any = int(element) if element.isdecimal() else element
    options["sizes"] = sizes_left(options["sizes"], params, ends)
    order = order_of(params, ends)
    made_of = None if value is None else _value(value)
    with telling(warn):
        units = [
            made(
                ends[0],
                ends[1],
                target,
                element=size,
                name=name_of(name, called, target),
                value=made_of,
                order=order,
                header=provenance(sources, target),
                **options,
            )
            for target in languages
        ]
    if time and (missing := units[0].plan.space.sizes):
        raise click.UsageError(
            f"--time needs a number for each size; give -s {','.join(f'{n}=..' for n in missing)}"
        )
    plans: dict[str, list[str]] = {}
    for unit in units if plan else ():
        plans.setdefault(str(unit.plan), []).append(unit.printer.title)
    for text, titles in plans.items():
        click.echo(f"{', '.join(titles)}:\n{text}" if len(units) > 1 else text)
    rows: list[dict[str, Any]] = []
    for unit in units if time else ():
        title = unit.printer.title
        count = (options["threads"] and cpu_count()) or 1
        for threads in {1: None, count: None}:
            timed = unit.time(threads=threads)
            if not as_json:
                click.echo(f"{title}{f', {threads} threads' * (threads > 1)}: {timed}")
            rows.append({"language": title, "threads": threads, **timed.as_dict()})
    if as_json:
        print_json(rows)
    shown = () if where is None and (plan or time) else units
    write_units(shown, where, output, languages, sources, "the layouts'")


def _value(text: str) -> Any:
    """The function that FILE.py:NAME names, or that an expression is."""
    named = function_named(text)
    if named is None:
        return of_element(text)
    with redirect_stdout(sys.stderr), user_file(named[0]) as defined:
        return subject(defined, named[1], named[0])


def _layout(source: str, sizes: Mapping[str, int], params: list[str]) -> Any:
    """The layout that FILE.py:NAME names; of a function the one that it makes of its parameters, numbers or
    symbols. params: gets the names of the sizes."""
    file, wanted = file_and_name(source)
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        return layout_of(subject(defined, wanted, file), sizes, file, params)
