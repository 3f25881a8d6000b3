"""lego-emit render: kernels from templates."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..errors import LegoError
from ..files import resolved, write_all
from ..options import RenderOptions
from ..project.loading import STDIN, subject, subjects, user_file
from .options import options_for
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
@options_for(RenderOptions)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
def render(template: Path, layouts: str, output: Path | None, **options: Any) -> None:
    """Render a kernel: {{ A[i, j] }} becomes the index of the layout A in the kernel's language.

    What the indices assume of the sizes is said on standard error.
    """
    from ..kernels import render

    file, _, wanted = layouts.partition(":")
    file = STDIN if file == "-" else file
    if output and resolved(output) in map(resolved, (template, Path(file))):
        raise LegoError(f"-o {output}: the kernel is made of that file; name another one")
    with redirect_stdout(sys.stderr), user_file(file) as defined:
        names = [wanted] if wanted else subjects(defined)
        context = {name: subject(defined, name, file) for name in names}
        given = {name: value for name, value in options.items() if value is not None}
        text = render(template, **given, **context)
    if output is None:
        print_source(text)
    else:
        write_all({output: text})
        click.echo(f"wrote {output}", err=True)
    for condition in text.assumptions:
        click.echo(f"assumes {condition}", err=True)
