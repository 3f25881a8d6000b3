"""lego-emit copy: routines that move arrays from one layout's memory to another's."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from os import cpu_count
from typing import Any

import click

from ..emit.registry import DEFAULT
from ..options import Options
from ..project.config import function_named
from ..project.loading import layout_of, of_element, subject, telling, user_file
from .generate import destination, provenance, write_units
from .options import option_of
from .output import print_json
from .root import file_and_name, main, source_argument, target_names, target_option, warn

SHARED = ("sizes", "assume", "namespace", "prefix")


def _shared(command: Any) -> Any:
    for name in reversed(SHARED):
        command = option_of(Options, name)(command)
    return command


@main.command(
    "copy",
    epilog='lego-emit copy layouts.py:rows layouts.py:tiles -t c -o pack.h\nlego-emit copy -e "Row(4, 8)" -e "Col(4, 8)" -t rust --plan',
)
@source_argument("one", "A")
@source_argument("other", "B")
@target_option(
    "targets",
    multiple=True,
    default=[DEFAULT],
    show_default=True,
    help="Language to emit; repeat it.",
)
@click.option(
    "-o", "--output", default="-", metavar="FILE-or-DIR",
    help="Where to write; a folder for several targets. Default: standard output.",
)  # fmt: skip
@click.option(
    "--element", default="uint32", show_default=True, metavar="TYPE",
    help="uint8 .. uint64, a number of bytes, or a NumPy type.",
)  # fmt: skip
@click.option("--name", default="copy", show_default=True, help="Of the routine and its file.")
@click.option("--zero/--no-zero", default=True, help="Whether padding of B is written with zeros.")
@click.option(
    "--value", metavar="EXPR or FILE:NAME",
    help="What is written in an element's place: an expression of v, or a function.",
)  # fmt: skip
@click.option("--threads", is_flag=True, help="Emit a copy that threads can share.")
@_shared
@click.option("--plan", is_flag=True, help="Print how the copy is done; with -o, write too.")
@click.option(
    "--time", is_flag=True, help="Measure it beside a copy of the same bytes; with -o, write too."
)
@click.option("--json", "as_json", is_flag=True, help="Print what --time measures as JSON.")
def copy(
    one: str,
    other: str,
    targets: Sequence[str],
    output: str,
    element: str,
    value: str | None,
    plan: bool,
    time: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Emit a routine that copies an array from the memory of layout A to that of layout B."""
    if as_json and (plan or not time):
        raise click.UsageError("--json is for --time, without --plan")
    from ..copies.joined import order_of, sizes_left
    from ..copies.unit import copy as made

    languages = target_names(targets)
    where = destination(output, languages)
    size: Any = int(element) if element.isdecimal() else element
    params: list[str] = []
    first, second = (_layout(source, options["sizes"], params) for source in (one, other))
    options["sizes"] = sizes_left(options["sizes"], params, (first, second))
    order = order_of(params, (first, second))
    made_of = None if value is None else _value(value)
    with telling(warn):
        units = [
            made(
                first,
                second,
                target,
                element=size,
                value=made_of,
                order=order,
                header=provenance((one, other), target),
                **options,
            )
            for target in languages
        ]
    if plan:
        click.echo(str(units[0].plan))
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
    write_units(shown, where, output, languages, (one, other), "the layouts'")


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
