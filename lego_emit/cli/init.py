"""lego-emit init: the first files of a project."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from ..emit import registry
from ..emit.registry import DEFAULT
from ..errors import BuildError
from ..files import write_all
from .root import main, target_names, target_option

LAYOUTS = '''"""The layouts of this project; `lego-emit build` writes their index functions."""

from lego_emit import GroupBy, RegP

# A matrix of 6 x 6 in bricks of 3 x 3, each of them contiguous in memory.
brick = GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
'''
CONFIG = """\
# `lego-emit build` makes all that stands here, `lego-emit build --check` says whether it is made.
targets = [{targets}]
layouts = ["layouts.py:brick"]
output = "generated/{target}{{name}}.{{ext}}"
"""


@main.command(epilog="lego-emit init --target cpp --target rust")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@target_option("targets", multiple=True, default=[DEFAULT], show_default=True, help="Language.")
def init(folder: Path, targets: Sequence[str]) -> None:
    """Start a project: write lego-emit.toml and a first layout, layouts.py, into FOLDER.

    What is there already is not overwritten.
    """
    from ..project.config import config_in

    languages = target_names(targets)
    names = ", ".join(f'"{name}"' for name in languages)
    alike = len({registry.printer(name).extension for name in languages}) < len(languages)
    files: dict[Path, str | bytes] = {
        folder / "lego-emit.toml": CONFIG.format(targets=names, target="{target}/" * alike),
        folder / "layouts.py": LAYOUTS,
    }
    there = [path for path in (config_in(folder), *files) if path is not None and path.exists()]
    if there:
        raise BuildError(f"{there[0]} is there already; nothing was written")
    for path in write_all(files):
        click.echo(f"wrote {path}", err=True)
    into = f"cd {shlex.quote(str(folder))} && " * (folder != Path())
    click.echo(f"now: {into}lego-emit show layouts.py:brick, then lego-emit build", err=True)
