"""lego-emit build: all that a project's lego-emit.toml asks for."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .output import progress_bar
from .root import FAILED, main, printable, warn
from .watching import Note
from .watching import watch as watching

if TYPE_CHECKING:
    from ..project.build import Difference
    from ..project.config import Project


@main.command(epilog="lego-emit build --check")
@click.option(
    "--config",
    "-c",
    type=click.Path(path_type=Path),
    help="A lego-emit.toml or pyproject.toml. Default: the nearest one in this folder or above.",
)
@click.option(
    "--out-dir",
    type=click.Path(path_type=Path),
    help="What outputs are relative to. Default: the configuration's folder.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when a file is out of date.")
@click.option("--diff", is_flag=True, help="As --check, and show the differences.")
@click.option("--list-outputs", is_flag=True, help="Print the files that are made, and stop.")
@click.option("--clean", is_flag=True, help="Remove the files that lego-emit wrote, and stop.")
@click.option("--force", is_flag=True, help="Overwrite and remove files that were edited, too.")
@click.option("--allow-outside", is_flag=True, help="Allow outputs outside of the project.")
@click.option(
    "--depfile",
    type=click.Path(path_type=Path),
    help="Write here what the outputs are made from, for Make and Ninja.",
)
@click.option("--depfile-target", metavar="NAME", help="Make the depfile one rule for this name.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="Processes. Default: one a CPU.")
@click.option("--watch", is_flag=True, help="Go on, and build again when a layout file changes.")
def build(
    config: Path | None,
    out_dir: Path | None,
    check: bool,
    diff: bool,
    list_outputs: bool,
    clean: bool,
    force: bool,
    allow_outside: bool,
    depfile: Path | None,
    depfile_target: str | None,
    jobs: int | None,
    watch: bool,
) -> None:
    """Make all files that lego-emit.toml (or pyproject.toml's [tool.lego-emit]) asks for.

    A second run does only what has changed. A file that was edited by hand is kept: exit code 1.
    """
    from ..project import build as builds
    from ..project.config import find_config, load

    if sum((check or diff, list_outputs, clean, watch)) > 1:
        raise click.UsageError(
            "--check, --list-outputs, --clean and --watch are different things to do"
        )
    command = ["lego-emit", "build"]
    for option, value in (("--config", config), ("--out-dir", out_dir)):
        command += [option, str(value)] if value is not None else []
    command += ["--allow-outside"] if allow_outside else []
    remedy = shlex.join(command)
    file = config or find_config()

    def loaded() -> Project:
        return load(file, out_dir, outside=allow_outside)

    def make(project: Project) -> bool:
        with progress_bar("building") as progress:
            outcome = builds.build(
                project, force=force, jobs=jobs, progress=progress, waiting=waiting
            )
        for text in dict.fromkeys(outcome.told):
            warn(text)
        if depfile is not None:
            builds.write_depfile(project, depfile, depfile_target)
        changed = [(len(outcome.written), "wrote"), (len(outcome.removed), "removed")]
        done = ", ".join(f"{verb} {_files_of(count)}" for count, verb in changed if count)
        if done or not outcome.kept:
            count = len(project.outputs)
            click.echo(done or f"{'all ' * (count > 1)}{_files_of(count)} up to date", err=True)
        return _report(outcome.kept, remedy)

    def waiting() -> None:
        click.echo("waiting for another build of the same folder", err=True)

    if watch:

        def again(note: Note) -> None:
            project = loaded()
            note(builds.inputs(project))
            make(project)
            note(builds.inputs(project))  # with what the layout files import

        watching([file], again)
        return
    project, good = loaded(), True
    if list_outputs:
        for path in project.outputs:
            click.echo(os.fsencode(project.base / path))
    elif check or diff:
        with progress_bar("checking") as progress:
            found = builds.check(project, jobs=jobs, progress=progress)
        good = _report(found, remedy, diff)
    elif clean:
        outcome = builds.clean(project, force=force, waiting=waiting)
        click.echo(f"removed {_files_of(len(outcome.removed))}", err=True)
        good = _report(outcome.kept, f"{remedy} --clean")
    else:
        good = make(project)
    if not good:
        sys.exit(FAILED)


def _files_of(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


def _report(found: Sequence[Difference], remedy: str, diff: bool = False) -> bool:
    """Print what is not as it should be, and the command that fixes it; False if there is any."""
    for difference in found:
        if diff:
            click.echo(printable(difference.diff), nl=False)
        click.echo(printable(f"{difference.path} {difference.problem}"), err=True)
    if any(not difference.edited for difference in found):
        click.echo(printable(f"run `{remedy}` to fix that"), err=True)
    edited = [difference for difference in found if difference.edited]
    if any(difference.template for difference in edited):
        click.echo(
            printable(
                f"where nobody edited a kernel, run `{remedy} --force`; a template whose first line has "
                '"Code generated by lego-emit" makes files that every clone knows'
            ),
            err=True,
        )
    if any(not difference.template for difference in edited):
        click.echo(
            printable(
                f"edited files are kept: move the change into the layout file, or run "
                f"`{remedy} --force` to lose it"
            ),
            err=True,
        )
    return not found
