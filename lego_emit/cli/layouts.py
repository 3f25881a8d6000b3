"""lego-emit show and compare: layouts themselves."""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path

import click

from ..algebra.block import Block
from ..algebra.perms import Row
from ..errors import LegoError
from ..files import noting
from ..ir.program import Function
from ..options import Options
from ..project.loading import subject, telling, user_file
from .options import option_of
from .output import DASH, OutputPath, print_drawn, print_json, print_table, put_picture
from .root import (
    EXPRESSION,
    FAILED,
    file_and_name,
    json_option,
    main,
    numbers_by_name,
    numbers_option,
    source_argument,
    typed_text,
    warn,
)
from .watching import Note
from .watching import watch as watching


@main.command(epilog="lego-emit show layouts.py:brick --order -o brick.svg")
@source_argument("source", "NAME")
@option_of(Options, "sizes")
@numbers_by_name("--domain", help="How far indices run whose range is not known, as x=8.")
@click.option("--inv", "inverse", is_flag=True, help="The memory, with what it holds.")
@click.option("--order", is_flag=True, help="Arrows along the path through memory.")
@click.option("--animate", is_flag=True, help="A frame that goes along it, in .svg and .html.")
@click.option(
    "--view",
    type=click.Choice(["tensor", "hardware"]),
    help="For threads and values: the tensor with its holders, or what each of them holds.",
)
@click.option(
    "--color",
    "--colour",
    "color",
    metavar="NAME",
    help="Color by tile, bank, position, thread, or another input of this name.",
)
@click.option("--bits", default=32, show_default=True, help="Bits of an element, for its bank.")
@click.option(
    "--tile",
    metavar="M,N",
    callback=numbers_option,
    help="The tensor that positions count, its first dimension fastest.",
)
@click.option("--beside", metavar="FILE.py:NAME", help="Another one, to the right of it.")
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="A picture instead: .svg, .html, .tex (TikZ), or with CairoSVG .png; a table: .csv, .md; - prints SVG.",
)
@click.option(
    "--watch", is_flag=True, help="Go on, and draw again when a Python file beside it changes."
)
@json_option
def show(
    source: str,
    sizes: dict[str, int],
    domain: dict[str, int],
    inverse: bool,
    order: bool,
    animate: bool,
    view: str | None,
    color: str | None,
    bits: int,
    tile: tuple[int, ...] | None,
    beside: str | None,
    output: Path | None,
    watch: bool,
    as_json: bool,
) -> None:
    """Show the layout NAME, or the one that the function NAME returns, or an index function.

    The logical grid with the physical position of each index, colored by tile; of a layout with
    named coordinates the tensor with all that hold an element; of an index function its result at
    each index.
    """
    from ..show.holders import values
    from ..show.pictures import drawn
    from ..show.sheet import sheet
    from ..show.tabular import data

    if as_json and (output is not None or watch):
        raise click.UsageError("--json prints the cells; leave -o and --watch out")
    if animate and (
        output is None or (output != DASH and output.suffix.lower() not in (".svg", ".html"))
    ):
        raise click.UsageError("--animate needs -o FILE.svg or -o FILE.html")

    def draw() -> None:
        pages = []
        for wanted in (source, beside):
            if wanted is None:
                continue
            found = _layout_or_function(wanted, sizes)
            if isinstance(found, Block):
                pages.append(sheet(found, inverse, view, color, tile, bits))
                continue
            if inverse or view or tile:
                raise click.UsageError(
                    f"--inv, --view and --tile are for layouts; {wanted} is none"
                )
            pages.append(values(found, sizes, domain, color, bits))
        if as_json:
            print_json([*map(data, pages)] if beside else data(pages[0]))
            return
        made = drawn(pages, order, animate)
        if output is not None:
            put_picture(output, made)
            return
        print_drawn(made.text)

    if not watch:
        draw()
        return
    files = [Path(file_and_name(wanted)[0]) for wanted in (source, beside) if wanted is not None]
    if not all(file.is_file() for file in files):
        raise click.UsageError("--watch needs layouts of files")

    def again(note: Note) -> None:
        beside = [path for file in files for path in sorted(file.parent.glob("*.py"))]
        note([*files, *beside])
        if sys.stdout.isatty():
            click.clear()
        with noting() as read:
            draw()
        note([*files, *beside, *sorted(read)])

    watching(files, again)


@main.command(epilog="lego-emit compare layouts.py:brick layouts.py:rows")
@source_argument("one", "A")
@source_argument("other", "B")
@option_of(Options, "sizes")
@json_option
def compare(one: str, other: str, sizes: dict[str, int], as_json: bool) -> None:
    """Say where two layouts differ, how long the contiguous runs of a re-layout are, and what emits it.

    Exit code 1 where they differ.
    """
    from ..show.compare import compare as compared

    layouts = [_layout(source, sizes) for source in (one, other)]
    found = compared(*layouts)
    if as_json:
        print_json(asdict(found))
    else:
        click.echo(str(found))
        if way := found.differ and found.runs and _way_of_copy(*layouts):
            click.echo(f"lego-emit copy {_words(one)} {_words(other)} -t c: {way}")
    if not found:
        sys.exit(FAILED)


def _way_of_copy(one: Block, other: Block) -> str:
    """How a copy is done, in words; "" of layouts that have none."""
    from ..copies.unit import way_of

    try:
        return way_of(one, other)
    except LegoError:
        return ""


def _words(source: str) -> str:
    """What a shell is given for a layout."""
    text = typed_text(source)
    return shlex.join([EXPRESSION[0], text] if text else [source])


def _layout(source: str, sizes: dict[str, int]) -> Block:
    """The layout of integer sizes that FILE.py:NAME names."""
    from ..check.exhaustive import as_layout

    file, wanted = file_and_name(source)
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        return as_layout(subject(defined, wanted, file), sizes, _words(source))


def _layout_or_function(source: str, sizes: dict[str, int]) -> Block | Function:
    """As _layout, or where FILE.py:NAME is an index function the function that is emitted."""
    from ..check.exhaustive import as_layout
    from ..pipeline import generate

    file, wanted = file_and_name(source)
    with redirect_stdout(sys.stderr), telling(warn), user_file(file) as defined:
        given = subject(defined, wanted, file)
        if not isinstance(given, Block):
            try:
                unit = generate(given, "python")
            except LegoError:  # a layout may have sizes that only numbers make sense of
                return as_layout(given, sizes, _words(source))
            if f"{unit.program.name}_apply" not in [f.name for f in unit.functions]:
                return unit.functions[0]
        return as_layout(given, sizes, _words(source))


@main.command(epilog="lego-emit catalogue onednn")
@click.argument("name", required=False)
@option_of(Options, "sizes", help="Sizes, instead of the example's.")
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="A picture instead: .svg, .html, .tex (TikZ), or with CairoSVG .png; a table: .csv, .md; - prints SVG.",
)
@json_option
def catalogue(name: str | None, sizes: dict[str, int], output: Path | None, as_json: bool) -> None:
    """List the memory layouts that are known by name, or those of a family, or show the one called
    NAME.

    Of one it says what it is, its sizes and where it is defined, and draws an example.
    """
    from ..formats import catalogue as known
    from ..show.sheet import sheet, terminal

    listed = [e for e in known.by_family() if name is None or e.name.startswith(f"{name}.")]
    if listed:
        if sizes or output is not None:
            raise click.UsageError("--size and -o go with the NAME of one layout")
        if as_json:
            rows = [(e.name, ", ".join(e.parameters), e.summary, e.source) for e in listed]
            print_table([("name", "parameters", "summary", "source"), *rows], as_json)
            return
        for entry in listed:
            click.echo(f"{entry.name}({', '.join(entry.parameters)})")
            click.echo(f"    {entry.summary}")
        return
    assert name is not None
    if as_json:
        raise click.UsageError("--json lists layouts; leave NAME out, or give a family as onednn")
    entry = replace(known[name], example={**known[name].example, **sizes})
    page = sheet(entry(**entry.example))
    if output is not None:
        from ..show.pictures import Picture

        put_picture(output, Picture((page,)))
        return
    click.echo(str(entry))
    layout = entry(**entry.example)
    if way := _way_of_copy(Row(*layout.dims), layout):
        sizes_of = ", ".join(f"{k}={v!r}" for k, v in entry.example.items())
        rows, own = repr(Row(*layout.dims)), f'catalogue["{entry.name}"]({sizes_of})'
        command = shlex.join(["lego-emit", "copy", "-e", rows, "-e", own, "-t", "c"])
        click.echo(f"copied:  {command}: {way}")
    print_drawn(lambda width, height: terminal(page, width, height))
