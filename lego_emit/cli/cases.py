"""lego-emit golden: check, update and verify golden cases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..emit import registry
from ..errors import GoldenError, ToolchainError
from .output import print_table
from .root import FAILED, json_option, main, target_names, target_option


@main.group()
def golden() -> None:
    """Check, update or run golden cases: tables of layouts and their emitted text."""


_root = click.argument("root", default="golden", type=click.Path(path_type=Path))
_languages = target_option("targets", multiple=True, help="Only this language.")


def _chosen(targets: Sequence[str]) -> list[str] | None:
    return target_names(targets) if targets else None


@golden.command(epilog="lego-emit golden check")
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


@golden.command(epilog="lego-emit golden update")
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


@golden.command(epilog="lego-emit golden verify -t cpp --case bricks")
@_root
@_languages
@click.option("--case", "names", multiple=True, metavar="NAME", help="Only this case.")
@json_option
def verify(root: Path, targets: Sequence[str], names: Sequence[str], as_json: bool) -> None:
    """Compile the cases below ROOT (./golden) and run them over their whole tables.

    Each is run twice: with symbolic sizes as parameters, and with the table's numbers put into the
    text. Languages whose toolchain is missing are skipped with a message.
    """
    from ..golden import verify as run
    from ..run.registry import toolchain as toolchain_of

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
    print_table(rows, as_json)
    for text in skipped:
        click.echo(f"skipped: {text}", err=as_json)
    for text in problems:
        click.echo(text, err=True)
    if problems:
        sys.exit(FAILED)


def _cases(root: Path, names: Sequence[str]) -> list[Any]:
    from ..errors import did_you_mean
    from ..golden import cases, load

    if not names:
        return cases(root)
    known = sorted(p.parent.name for p in root.glob("*/layout.py"))
    for name in names:
        if name not in known:
            raise GoldenError(f"{root}: no case {name!r}.{did_you_mean(name, known)}")
    return [load(root / name) for name in names]
