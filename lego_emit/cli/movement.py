"""lego-emit conflicts: what an access of shared memory costs."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..algebra.block import Block
from ..files import write_all
from ..project.loading import subject, user_file
from .output import print_drawn, print_json
from .root import FAILED, file_and_name, json_option, main, source_argument


@main.command(epilog="lego-emit conflicts layouts.py:tile access.py:column")
@source_argument("memory", "MEMORY")
@source_argument("access", "ACCESS")
@click.option(
    "--element-bytes", default=4, show_default=True, help="Bytes of an element: 1, 2, 4, 8 or 16."
)
@click.option("--gpu", default="nvidia", show_default=True, help="nvidia or amd.")
@click.option("--write", is_flag=True, help="Look at stores instead of loads.")
@click.option("--registers", type=int, help="How many, of a function of lane and register.")
@click.option("--check", is_flag=True, help="Exit code 1 where lanes collide.")
@json_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A picture, too: .svg, .html, .tex (TikZ), or with CairoSVG .png; a table: .csv, .md.",
)
def conflicts(
    memory: str, access: str, check: bool, as_json: bool, output: Path | None, **options: Any
) -> None:
    """Say what it costs a warp to touch shared memory.

    MEMORY is a layout from coordinates to an offset. ACCESS is a layout of lane and register, or a
    function of lane, or of lane and register, that gives coordinates. Prints wavefronts, bank
    conflicts with the lanes that collide, and transactions of global memory, and draws what each lane
    touches, colored by bank.
    """
    from ..movement import bank_conflicts, conflict_sheet
    from ..show.sheet import terminal

    stored, asked = _named(memory), _named(access)
    found = bank_conflicts(stored, asked, **options)
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(str(found))
    options.pop("write")
    page = conflict_sheet(stored, asked, **options)
    if output is not None:
        from ..show.pictures import Picture

        write_all({output: Picture((page,)).contents(output)})
        click.echo(f"wrote {output}", err=True)
    elif not as_json:
        print_drawn(lambda width, height: terminal(page, width, height))
    if check and not found.is_free:
        sys.exit(FAILED)


def _named(source: str) -> Any:
    """The layout or function that FILE.py:NAME names; of a function without parameters, which
    makes one, the layout."""
    file, wanted = file_and_name(source)
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        found = subject(defined, wanted, file)
        if not isinstance(found, Block) and not found.__code__.co_argcount:
            return found()
        return found
