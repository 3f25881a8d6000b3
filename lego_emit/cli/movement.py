"""lego-emit conflicts and swizzle: what accesses of shared memory cost, and the tile that costs least."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..algebra.block import Block
from ..options import Options
from ..project.loading import subject, telling, user_file
from .generate import destination, provenance, write_units
from .options import option_of
from .output import (
    DASH,
    OutputPath,
    check_one_print,
    print_drawn,
    print_json,
    print_table,
    put_picture,
)
from .root import (
    FAILED,
    file_and_name,
    json_option,
    main,
    source_argument,
    target_names,
    target_option,
    warn,
)

element_bytes_option = click.option(
    "--element-bytes", default=4, show_default=True, help="Bytes of an element: 1, 2, 4, 8 or 16."
)
gpu_option = click.option("--gpu", default="nvidia", show_default=True, help="nvidia or amd.")
registers_option = click.option(
    "--registers", type=int, help="How many, of a function of lane and register."
)


@main.command(epilog="lego-emit conflicts layouts.py:tile access.py:column")
@source_argument("memory", "MEMORY")
@source_argument("access", "ACCESS")
@element_bytes_option
@gpu_option
@click.option("--write", is_flag=True, help="Look at stores instead of loads.")
@registers_option
@click.option("--check", is_flag=True, help="Exit code 1 where lanes collide.")
@json_option
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="A picture, too: .svg, .html, .tex (TikZ), or with CairoSVG .png; a table: .csv, .md; - prints SVG.",
)
def conflicts(
    memory: str, access: str, check: bool, as_json: bool, output: Path | None, **options: Any
) -> None:
    """Say what it costs a warp to touch shared memory.

    MEMORY is a layout from coordinates to an offset. ACCESS is a layout of lane and register, or a
    function of lane, or of lane and register, that gives coordinates. Prints wavefronts and the lanes
    that collide, and draws what each lane touches, colored by bank.
    """
    check_one_print(output, as_json)
    from ..movement import bank_conflicts, conflict_sheet
    from ..show.sheet import terminal

    stored, asked = _named(memory), _named(access)
    found = bank_conflicts(stored, asked, **options)
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(str(found), err=output == DASH)
    options.pop("write")
    page = conflict_sheet(stored, asked, **options)
    if output is not None:
        from ..show.pictures import Picture

        put_picture(output, Picture((page,)))
    elif not as_json:
        print_drawn(lambda width, height: terminal(page, width, height))
    if check and not found.is_free:
        sys.exit(FAILED)


@main.command(
    epilog="lego-emit swizzle transpose.py:store transpose.py:load -t cuda -o tile.cuh\nlego-emit swizzle access.py:rows access.py:columns --element-bytes 2"
)
@source_argument("write", "WRITE")
@source_argument("read", "READ")
@element_bytes_option
@gpu_option
@registers_option
@target_option("targets", multiple=True, help="Language to emit the tile in; repeat it.")
@click.option(
    "-o", "--output", default="-", metavar="FILE-or-DIR",
    help="Where to write; a folder for several targets. Default: standard output.",
)  # fmt: skip
@click.option("--name", default="tile", show_default=True, help="Of the functions and their file.")
@option_of(Options, "namespace")
@option_of(Options, "prefix")
@option_of(Options, "index_type")
@json_option
def swizzle(
    write: str,
    read: str,
    element_bytes: int,
    gpu: str,
    registers: int | None,
    targets: Sequence[str],
    output: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the tile of shared memory that a warp writes and reads at the least cost.

    WRITE and READ are layouts from lane, register and warp to the coordinates of one tile, linear over
    F2, or functions of lane and register. Prints what a row-major tile, one with a pitch, and the best
    one cost; with --target it emits the index functions of the best one.
    """
    from ..movement import optimal_swizzle
    from ..pipeline import generate

    languages = target_names(targets)
    where = destination(output, languages)
    if where is not None and not languages:
        raise click.UsageError("-o writes what --target emits; give a --target, as -t cuda")
    sides = _named(write), _named(read)
    asked: dict[str, Any] = {"gpu": gpu, "registers": registers}
    tile = optimal_swizzle(*sides, element_bytes, **asked)
    costs = _costs(tile, sides, element_bytes, asked)
    if as_json:
        print_json(costs)
    else:
        names = [name.replace("_", " ") for name in costs[0]]
        rows = [names, *([str(value) for value in cost.values()] for cost in costs)]
        with redirect_stdout(sys.stderr if languages and where is None else sys.stdout):
            print_table(rows)
    with telling(warn):
        units = [
            generate(tile, target, header=provenance((write, read), target), **options)
            for target in languages
        ]
    write_units(units, where, output, languages, (write, read), "the accesses'")


def _costs(
    best: Any, sides: tuple[Any, Any], element_bytes: int, asked: dict[str, Any]
) -> list[dict[str, Any]]:
    """What each tile costs: the row-major one, of rows and columns the one with the best pitch, the best one."""
    from ..algebra.layout import GroupBy
    from ..movement import bank_conflicts, optimal_padding

    dims = [*best.dims]
    tiles: dict[str, Block] = {"row-major": GroupBy(dims)}
    if len(dims) == 2:
        rows, columns = dims
        padded = optimal_padding(rows, columns, *sides, element_bytes, **asked)
        tiles[f"rows with a pitch of {padded.stride[0]}"] = padded
    tiles["the best swizzle"] = best
    costs: list[dict[str, Any]] = []
    for name, tile in tiles.items():
        written = bank_conflicts(tile, sides[0], element_bytes, write=True, **asked)
        loaded = bank_conflicts(tile, sides[1], element_bytes, **asked)
        cost = {
            "tile": name,
            "stores": written.instructions,
            "write_wavefronts": written.wavefronts,
        }
        costs.append({**cost, "loads": loaded.instructions, "read_wavefronts": loaded.wavefronts})
    return costs


def _named(source: str) -> Any:
    """The layout or function that FILE.py:NAME names; of a function without parameters, which
    makes one, the layout."""
    file, wanted = file_and_name(source)
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        found = subject(defined, wanted, file)
        if not isinstance(found, Block) and not found.__code__.co_argcount:
            return found()
        return found
