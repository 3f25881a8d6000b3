"""lego-emit render: kernels from templates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

import click

from ..errors import LegoError
from ..files import resolved, write_all
from ..project.loading import STDIN, subject, subjects, user_file
from .output import print_source
from .root import main, target_option


@main.command()
@click.argument("template", metavar="FILE.j2", type=click.Path(path_type=Path))
@click.option(
    "--layouts",
    required=True,
    metavar="FILE.py[:NAME]",
    help="Whose layouts and functions the template uses: all, or the one called NAME.",
)
@target_option(default="cuda", show_default=True, help="The kernel's language.")
@click.option("--names", default="", help="The kernel's index variables, as 'pm pn: int64 i'.")
@click.option(
    "--assume", multiple=True, metavar="RELATION", help="What always holds, as 'M % BM == 0'."
)
@click.option("--index-type", default="auto", show_default=True, metavar="TYPE")
@click.option("--sandboxed", is_flag=True, help="For a template of somebody else.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
def render(
    template: Path, layouts: str, assume: Sequence[str], output: Path | None, **options: str
) -> None:
    """Render a kernel: {{ A[i, j] }} becomes the index of the layout A in the kernel's language."""
    from ..kernels import render

    file, _, wanted = layouts.partition(":")
    file = STDIN if file == "-" else file
    if output and resolved(output) in map(resolved, (template, Path(file))):
        raise LegoError(f"-o {output}: the kernel is made of that file; name another one")
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        names = [wanted] if wanted else subjects(defined)
        context = {name: subject(defined, name, file) for name in names}
        text = render(template, assume=assume, **options, **context)  # pyright: ignore
    if output is None:
        print_source(text)
    else:
        write_all({output: text})
        click.echo(f"wrote {output}", err=True)
