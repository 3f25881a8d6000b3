"""lego-emit render: kernels from templates."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from ..emit.registry import DEFAULT
from ..errors import LegoError
from ..files import resolved
from ..notation import is_name
from ..options import RenderOptions
from ..project.loading import STDIN, subject, subjects, user_file, with_given
from .options import options_for
from .output import DASH, OutputPath, put
from .root import FAILED, main, target_option


@main.command(epilog="lego-emit render copy.cu.j2 --layouts layouts.py -o copy.cu")
@click.argument("template", metavar="FILE.j2", type=click.Path(path_type=Path))
@click.option(
    "--layouts",
    required=True,
    metavar="FILE.py[:NAME]",
    help="Whose layouts and functions the template uses: all, or the one called NAME.",
)
@target_option(default=DEFAULT, show_default=True, help="The kernel's language.")
@click.option(
    "--given",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda context, option, texts: _given(texts),
    help="A number or a text that the template uses.",
)
@options_for(RenderOptions)
@click.option("-o", "--output", type=OutputPath(), metavar="FILE")
def render(
    template: Path,
    layouts: str,
    given: Mapping[str, int | str],
    output: Path | None,
    **options: Any,
) -> None:
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
        context = with_given({name: subject(defined, name, file) for name in names}, given, file)
        said = {name: value for name, value in options.items() if value is not None}
        text = render(template, **said, **context)
    put(output or DASH, text)
    for condition in text.assumptions:
        click.echo(f"assumes {condition}", err=True)


@main.command(epilog="lego-emit rewrite kernels.py -o kernels_made.py")
@click.argument("file", metavar="FILE.py", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=OutputPath(), metavar="FILE")
@click.option(
    "--check", is_flag=True, help="Write nothing; end with 1 where the output is another text."
)
def rewrite(file: Path, output: Path | None, check: bool) -> None:
    """Rewrite a file of Python kernels under @lego_emit.jit: layouts become index expressions.

    What was made needs no lego_emit, and its lines have the numbers that they have in FILE.py.
    """
    from ..inside.ahead import collecting, rewritten_file

    if output and resolved(output) == resolved(file):
        raise LegoError(f"-o {output}: the kernels are made of that file; name another one")
    if check and output in (None, DASH):
        raise click.UsageError("--check compares with a file: name it with -o")
    with redirect_stdout(sys.stderr), collecting() as made, user_file(str(file)) as defined:
        text = rewritten_file(file, _text_of(file), defined, made)
    if not made:
        raise LegoError(f"{file} has no function under @lego_emit.jit")
    if output is None or not check:
        put(output or DASH, text)
    elif not output.is_file() or output.read_bytes() != text.encode():
        click.echo(f"{output} is not what {file} makes now; run this without --check", err=True)
        sys.exit(FAILED)


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LegoError(f"{file} is not UTF-8 text") from None


def _given(texts: Sequence[str]) -> dict[str, int | str]:
    """{name: value} of NAME=VALUE; what is no integer is a text."""
    found: dict[str, int | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not is_name(name):
            raise click.BadParameter(f"{text[:60]!r} is not of the form T=64 or kind=star")
        if name in found:
            raise click.BadParameter(f"{name} is given twice")
        try:
            found[name] = int(value, 0)
        except ValueError:
            found[name] = value
    return found
