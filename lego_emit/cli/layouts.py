"""lego-emit show and compare: layouts themselves."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import click

from ..algebra.block import Block
from ..files import write_all
from ..project.loading import subject, user_file
from .output import print_drawn
from .root import FAILED, file_and_name, main, numbers_option, sizes_option, source_argument


@main.command()
@source_argument("source", "NAME")
@sizes_option()
@click.option("--inv", "inverse", is_flag=True, help="The memory, with what it holds.")
@click.option("--order", is_flag=True, help="Arrows along the path through memory.")
@click.option(
    "--view",
    type=click.Choice(["tensor", "hardware"]),
    help="Of threads and values: the tensor with its holders, or what each of them holds.",
)
@click.option("--colour", metavar="NAME", help="Colour by this input, or by bank.")
@click.option("--bits", default=32, show_default=True, help="Of an element, for its bank.")
@click.option(
    "--tile",
    metavar="M,N",
    callback=numbers_option,
    help="The tensor that positions count, its first dimension fastest.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A picture instead: .svg, .html, or with lego-emit[plot] .png; a table: .csv, .md.",
)
def show(
    source: str,
    sizes: dict[str, int],
    inverse: bool,
    order: bool,
    view: str | None,
    colour: str | None,
    bits: int,
    tile: tuple[int, ...] | None,
    output: Path | None,
) -> None:
    """Show the layout NAME, or the one that the function NAME returns.

    The logical grid with the physical position of each index, coloured by tile; of a layout with
    named coordinates the tensor with all that hold an element.
    """
    from ..show.sheet import sheet, terminal

    page = sheet(_layout(source, sizes), inverse, view, colour, tile, bits)
    if output is not None:
        from ..show.pictures import picture

        write_all({output: picture(page, output, order)})
        click.echo(f"wrote {output}", err=True)
        return
    print_drawn(lambda width, height: terminal(page, width, height, order))


@main.command()
@source_argument("one", "A")
@source_argument("other", "B")
@sizes_option()
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

    file, wanted = file_and_name(source)
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        return as_layout(subject(defined, wanted, file), sizes, source)


@main.command()
@click.argument("name", required=False)
@sizes_option("Sizes, instead of the example's.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A picture instead: .svg, .html, or with lego-emit[plot] .png; a table: .csv, .md.",
)
def catalogue(name: str | None, sizes: dict[str, int], output: Path | None) -> None:
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
        for entry in listed:
            click.echo(f"{entry.name}({', '.join(entry.parameters)})")
            click.echo(f"    {entry.summary}")
        return
    assert name is not None
    entry = replace(known[name], example={**known[name].example, **sizes})
    page = sheet(entry(**entry.example))
    if output is not None:
        from ..show.pictures import picture

        write_all({output: picture(page, output, False)})
        click.echo(f"wrote {output}", err=True)
        return
    click.echo(str(entry))
    print_drawn(lambda width, height: terminal(page, width, height))
