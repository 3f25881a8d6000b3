"""The command line's root: errors as one line, options that several commands have."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from .. import __version__
from ..emit import registry
from ..errors import LegoError, LegoWarning, TargetError
from ..notation import is_name
from ..project.loading import STDIN

FAILED, BAD_INPUT = 1, 2


class _Command(click.Command):
    """A command that does not take `-:NAME`, a name that standard input defines, for an option, nor
    -order for -o."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names = {name for param in self.params for name in param.opts if name[:2] == "--"}
        for arg in args:
            if arg[:2] != "--" and f"-{arg}" in names:  # -order is not -o rder
                raise click.NoSuchOption(arg, possibilities=[f"-{arg}"], ctx=ctx)
        return super().parse_args(ctx, [re.sub(r"^-(?=:)", STDIN, arg) for arg in args])


class _Group(click.Group):
    """A group whose commands end on an error of ours with one line and exit code 2."""

    command_class = _Command

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # the locale may lack a character
                stream.reconfigure(errors="replace")
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (LegoError, LegoWarning) as error:  # a warning where Python makes errors of them
            _stop(f"{error} [{error.code}]")
        except OSError as error:  # a full disk, a folder that is gone
            _stop(f"{error.strerror or error}{f': {error.filename}' * bool(error.filename)}")
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


def _cmake_options(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ..surfaces import cmake

        for kind, names in cmake().items():
            click.echo(f"{kind};{';'.join(names)}")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lego-emit")
@click.option(
    "--cmake-options",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    hidden=True,
    callback=_cmake_options,
)
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


def source_argument(name: str, what: str) -> Callable[[Any], Any]:
    """A layout or a function of a file, as file_and_name() takes it."""
    return click.argument(
        name,
        metavar=f"FILE.py:{what}",
        shell_complete=lambda ctx, param, begun: [CompletionItem(begun, type="file")],
    )


def numbers_by_name(*names: str, help: str) -> Callable[[Any], Any]:
    """An option that takes M=6,N=8, once or more often: a dict."""
    return click.option(
        *names, multiple=True, callback=_by_name, metavar="NAME=NUMBER,..", help=help
    )


def _by_name(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in (part for value in values for part in value.split(",")):
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = int(number, 0)
        except ValueError:
            value = None
        if not equals or not is_name(name) or value is None:
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


def target_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """--target, whose names a shell can complete."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
        return [name for name in registry.targets() if name.startswith(begun)]

    return click.option("--target", "-t", *names, shell_complete=complete, **settings)


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
