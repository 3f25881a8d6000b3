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
layouts = [{layouts}]
output = "generated/{target}{{name}}.{{ext}}"
"""


@main.command(epilog="lego-emit init --target cpp --target rust")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@target_option("targets", multiple=True, default=[DEFAULT], show_default=True, help="Language.")
def init(folder: Path, targets: Sequence[str]) -> None:
    """Start a project: write lego-emit.toml and a first layout, layouts.py, into FOLDER.

    What is there already is not overwritten; of a layouts.py that is there, lego-emit.toml names
    the layouts and functions.
    """
    from ..project.config import config_in

    config, layouts = folder / "lego-emit.toml", folder / "layouts.py"
    there = [path for path in (config_in(folder), config) if path is not None and path.exists()]
    if there:
        raise BuildError(f"{there[0]} is there already; nothing was written")
    is_new = not layouts.exists()
    found = ["brick"] if is_new else _found(layouts)
    languages = target_names(targets)
    alike = len({registry.printer(name).extension for name in languages}) < len(languages)
    files: dict[Path, str | bytes] = {
        config: CONFIG.format(
            targets=", ".join(f'"{name}"' for name in languages),
            layouts=", ".join(f'"layouts.py:{name}"' for name in found),
            target="{target}/" * alike,
        )
    }
    if is_new:
        files[layouts] = LAYOUTS
    for path in write_all(files):
        click.echo(f"wrote {path}", err=True)
    into = f"cd {shlex.quote(str(folder))} && " * (folder != Path())
    click.echo(f"now: {into}lego-emit show layouts.py:{found[0]}, then lego-emit build", err=True)


def _found(layouts: Path) -> list[str]:
    """The layouts and functions of a file. Raises BuildError where it has none."""
    from ..project.loading import subjects, user_file

    with user_file(layouts) as names:
        found = [name for name in subjects(names) if not name.startswith("_")]
    if not found:
        raise BuildError(f"{layouts} is there already and defines no layout; nothing was written")
    return found
