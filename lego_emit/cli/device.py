"""lego-emit verify and bench: what runs on a device."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..algebra.block import Block
from ..emit.registry import DEFAULT
from ..errors import LoadError
from ..options import Options
from ..project.loading import subject, telling, user_file
from .options import option_of
from .output import DASH, OutputPath, progress_bar, put
from .root import (
    FAILED,
    file_and_name,
    json_option,
    main,
    numbers_by_name,
    source_argument,
    target_names,
    target_option,
    warn,
)


def _on_device(command: Any) -> Any:
    """The options of the commands that run what NAME gives, on a device."""
    for option in (
        json_option,
        option_of(Options, "index_type"),
        option_of(Options, "strict"),
        option_of(Options, "assume"),
        click.option(
            "--symbolic",
            is_flag=True,
            help="Leave the sizes symbols in the text, and pass their numbers.",
        ),
        option_of(Options, "sizes"),
        target_option(help=f"Language. Default: {DEFAULT}, and cpp on the CPU."),
        click.option(
            "--on",
            "device",
            default="cpu",
            show_default=True,
            metavar="DEVICE",
            help="cpu, gpu, or gpu:1 for the second one.",
        ),
        source_argument("source", "NAME"),
    ):
        command = option(command)
    return command


def _language(target: str | None, device: str) -> str:
    return target_names([target or ("cpp" if device == "cpu" else DEFAULT)])[0]


@main.command(epilog="lego-emit calibrate --compiler gcc")
@click.option(
    "--on",
    "device",
    default="cpu",
    show_default=True,
    metavar="DEVICE",
    help="cpu, gpu, or gpu:1 for the second one.",
)
@click.option(
    "--compiler",
    default="cc",
    show_default=True,
    metavar="PROGRAM",
    help="For the CPU: a C compiler that understands GCC's statements.",
)
@click.option(
    "--output",
    "-o",
    type=OutputPath(),
    metavar="FILE.json",
    help='Where the prices are stored. Default: where cost="measured" looks.',
)
@json_option
def calibrate(device: str, compiler: str, output: Path | None, as_json: bool) -> None:
    """Measure what operations cost on this machine's CPU or GPU, for --cost measured."""
    from ..ir.cost import as_json as stored
    from ..ir.cost import stored_path
    from ..measure.calibrate import calibrate as measured
    from ..measure.calibrate import described

    path = output or stored_path()
    cost, of = measured(compiler, on=device), described(compiler, device)
    if as_json:
        click.echo(stored(cost, of), nl=False)
    elif path != DASH:
        click.echo(f"Prices in additions ({of})")
        for name, price in sorted(cost.prices.items(), key=lambda one: (one[1], one[0])):
            click.echo(f"  {name:<10} {price:6g}")
        click.echo(f"  a divisor that is a symbol: {cost.symbolic:g} more")
        click.echo(f"  a remainder whose quotient is computed, too: {cost.remainder:g}")
    if not output:
        path.parent.mkdir(parents=True, exist_ok=True)
    if path != DASH or not as_json:
        put(path, stored(cost, of))


@main.command("verify", epilog="lego-emit verify layouts.py:brick --size M=64,N=48")
@_on_device
@option_of(Options, "base")
@click.option(
    "--claim",
    type=click.Choice(["injective", "bijective"]),
    help="What an index function must be.",
)
@numbers_by_name("--domain", help="How far indices run whose range is not known, as x=8.")
def verify_unit(
    source: str,
    device: str,
    target: str | None,
    sizes: dict[str, int],
    domain: dict[str, int],
    symbolic: bool,
    assume: Sequence[str],
    strict: bool,
    index_type: Sequence[str] | None,
    as_json: bool,
    base: int | dict[str, int],
    claim: str | None,
) -> None:
    """Check NAME over its whole index space, on the CPU or a GPU.

    A layout must come back from its round trip at every index and stay in its range; for an index
    function the range is checked, and collisions and gaps are shown. Everything is compared with the
    reference evaluator, or with the golden table beside the file.
    """
    file, wanted = file_and_name(source)
    from ..pipeline import generate as emit

    with redirect_stdout(sys.stderr), telling(warn), user_file(file) as defined:
        given = subject(defined, wanted, file)
        own = not (sizes or symbolic or assume or strict or base or index_type is not None)
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
                base=base,
            )
        with progress_bar(f"{unit.program.name} on {device}") as progress:
            found = unit.verify(
                device,
                sizes=sizes if symbolic or not isinstance(given, Block) else None,
                domain=domain,
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


@main.command(epilog="lego-emit bench layouts.py:brick -t cpp")
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
    help="Size of each array that a GPU gathers from and scatters to.",
)
def bench(
    source: str,
    device: str,
    target: str | None,
    sizes: dict[str, int],
    symbolic: bool,
    assume: Sequence[str],
    strict: bool,
    index_type: Sequence[str] | None,
    as_json: bool,
    repeat: int,
    count: int,
) -> None:
    """Measure the cost of one index of NAME, on the CPU or a GPU, beside its rivals.

    They are the unsimplified nest of divisions, a look-up table and, where FILE.py defines
    NAME_by_hand = (apply, inv), two Python functions of the indices, those. On a GPU a gather and a
    scatter through the layout are measured, too.
    """
    file, wanted = file_and_name(source)
    from ..measure.timing import is_pair
    from ..pipeline import generate as emit

    with redirect_stdout(sys.stderr), telling(warn), user_file(file) as defined:
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
        if not (by_hand is None or is_pair(by_hand)):
            raise LoadError(
                f"{file}: {wanted}_by_hand is {by_hand!r}; give a pair of functions, (apply, inv)"
            )
        with progress_bar(f"{unit.program.name} on {device}") as progress:
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
