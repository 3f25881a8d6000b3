"""The command line's root: errors as one line, options that several commands have."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .. import __version__
from ..emit import registry
from ..errors import LegoError, LegoWarning, TargetError

if TYPE_CHECKING:
    pass

FAILED, BAD_INPUT = 1, 2


class _Group(click.Group):
    """A group whose commands end on an error of ours with one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (LegoError, LegoWarning) as error:  # a warning where Python makes errors of them
            _stop(str(error))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            _stop(
                f"lego-emit itself failed ({Path(frame.filename).name}, line {frame.lineno}): "
                f"{type(error).__name__}: {error}. Please report it with your input"
            )


class _BadInput(click.ClickException):
    exit_code = BAD_INPUT


def _stop(message: str) -> NoReturn:
    raise _BadInput(printable(message))


def warn(text: str) -> None:
    """Tell what may not be meant, on standard error."""
    click.echo(printable(f"warning: {text}"), err=True)


def printable(text: str) -> str:
    """Text without the parts of file names that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _cmake_dir(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo((Path(__file__).parents[1] / "cmake").as_posix())
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lego-emit")
@click.option(
    "--cmake-dir",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_cmake_dir,
    help="Print where LegoEmit.cmake is.",
)
def main() -> None:
    """Write a memory layout once in Python; get its index functions in the languages of your kernels."""


def size_option(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> dict[str, int]:
    """The numbers of --size NAME=NUMBER, by name."""
    sizes: dict[str, int] = {}
    for text in values:
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = int(number, 0)
        except ValueError:
            value = None
        if not equals or not name.isidentifier() or value is None:
            form = "is not of the form BM=32" if len(text) <= 60 else "is too long"
            text = text if len(text) <= 60 else f"{text[:57]}..."
            raise click.BadParameter(f"{text!r} {form}", ctx, param)
        if sizes.setdefault(name, value) != value:
            raise click.BadParameter(f"{name} is given as {sizes[name]} and as {value}", ctx, param)
    return sizes


def numbers_option(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> tuple[int, ...] | None:
    """The numbers of --tile 8,16 or --dims 8,16."""
    if text is None:
        return None
    try:
        return tuple(int(n, 0) for n in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text[:60]!r} is not of the form 8,16", ctx, param) from None


strict_option = click.option(
    "--strict", is_flag=True, help="Refuse undefined names, which otherwise only cause a warning."
)


def file_and_name(source: str) -> tuple[str, str]:
    """The two parts of FILE.py:NAME."""
    file, colon, wanted = source.rpartition(":")
    if not colon or not file or not wanted:
        raise click.UsageError(
            f"{source!r} is not of the form FILE.py:NAME, as in layouts.py:index_kernel"
        )
    return file, wanted


def target_names(targets: Sequence[str]) -> list[str]:
    """The targets' own names, each once; of "all", a plug-in that does not load is left out."""
    if "all" not in targets:
        return list(dict.fromkeys(registry.printer(target).name for target in targets))
    found = []
    for target in registry.targets():
        try:
            found.append(registry.printer(target).name)
        except TargetError as error:
            warn(f"{error}; {target} is left out")
    return found
