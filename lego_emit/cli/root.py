"""The command line's root: errors as one line, options that several commands have."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from .. import __version__
from ..emit import registry
from ..errors import LegoError, LegoWarning, TargetError, did_you_mean
from ..notation import is_name
from ..project.loading import NAMELESS, STDIN, TYPED, names_in

FAILED, BAD_INPUT = 1, 2


EXPRESSION = ("-e", "--expression")
_TYPED = "<expression>"  # before a typed layout that stands as an argument


class _Command(click.Command):
    """A command that does not take `-:NAME`, a name that standard input defines, for an option, nor
    -order for -o; `-e TEXT` is an argument, a layout in the place of FILE.py:NAME."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names = {name for param in self.params for name in param.opts if name[:2] == "--"}
        for arg in args:
            if arg[:2] != "--" and f"-{arg}" in names:  # -order is not -o rder
                raise click.NoSuchOption(arg, possibilities=[f"-{arg}"], ctx=ctx)
        args = [re.sub(r"^-(?=:)", STDIN, arg) for arg in args]
        if EXPRESSION[0] in {name for param in self.params for name in param.opts}:
            args = _with_typed(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example of its use, or the examples."""
        if self.epilog:
            with formatter.section("Example"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  {line}\n")


def _with_typed(args: list[str]) -> list[str]:
    """-e TEXT as one argument that click takes for no option."""
    made, rest = [], [*args]
    while rest:
        arg = rest.pop(0)
        name, equals, text = arg.partition("=")
        if arg == "--":
            return [*made, arg, *rest]
        if arg in EXPRESSION and rest:
            made.append(_TYPED + rest.pop(0))
        elif name == EXPRESSION[1] and equals:
            made.append(_TYPED + text)
        else:
            made.append(arg)
    return made


class _Group(click.Group):
    """A group whose commands end on an error of ours with one line and exit code 2."""

    command_class = _Command
    group_class = type

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].partition("=")[0] in EXPRESSION:  # `lego-emit -e LAYOUT` generates
            args = ["generate", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the first argument; of its beginning, those that begin so are suggested."""
        begun = [name for name in self.list_commands(ctx) if args and name.startswith(args[0])]
        if begun and args[0] not in begun:
            meant = " or ".join(map(repr, begun))
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {meant}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with the whole first sentence of its help."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(n, c.get_short_help_str(1000)) for n, c in found if c])

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


def _cmake_nearest(ctx: click.Context, param: click.Parameter, text: str | None) -> None:
    """Print which of some words a misspelled one is like: MISSPELLED;WORD;.."""
    if text is not None:
        word, *known = text.split(";")
        click.echo(did_you_mean(word, known, 0.7) if len(word) > 3 else "")  # OFF is no OF
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
    "--cmake-nearest", is_eager=True, expose_value=False, hidden=True, callback=_cmake_nearest
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
    argument = click.argument(name, metavar=f"FILE.py:{what}", shell_complete=_names_of_a_file)
    option = click.option(
        *EXPRESSION,
        expose_value=False,
        metavar="LAYOUT",
        help="In the place of FILE.py:NAME: what it is, as 'TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))'.",
    )

    def made(command: Any) -> Any:
        has = any(EXPRESSION[0] in param.opts for param in getattr(command, "__click_params__", []))
        return argument(command if has else option(command))

    return made


def _names_of_a_file(
    ctx: click.Context, param: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Files, and behind `layouts.py:` what this file defines."""
    file, colon, name = begun.rpartition(":")
    if not colon:
        return [CompletionItem(begun, type="file")]
    found = [n for n in names_in(Path(file)) if n.startswith(name)]
    return [CompletionItem(f"{file}:{n}", help=f"in {file}") for n in found]


@add_completion_class
class _Bash(BashComplete):
    """Bash's completion, for which `layouts.py:brick` is three words, of which the last one is replaced."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is begun, and this one, each put together again."""
        args, begun = super().get_completion_args()
        words: list[str] = []
        after = False  # a colon
        for word in (*args, begun):
            if words and (after or word == ":"):
                words[-1] += word
            else:
                words.append(word)
            after = word == ":"
        *args, begun = words
        self.before = begun[: begun.rfind(":") + 1]
        return args, begun

    def format_completion(self, item: CompletionItem) -> str:
        """A completion, without what stands before the colon."""
        return f"{item.type},{item.value.removeprefix(self.before)}"


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


def target_option(
    *names: str, help: str, having: str = "", **settings: Any
) -> Callable[[Any], Any]:
    """--target, whose names a shell can complete and the help lists. having: what its languages have."""

    def known() -> Iterable[str]:  # those that have something are loaded for it
        return registry.working(having) if having else registry.targets()

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
        return [name for name in known() if name.startswith(begun)]

    class Target(click.Option):
        def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
            self.help = f"{help} One of {', '.join(known())}."
            return super().get_help_record(ctx)

    own = {"shell_complete": complete, "cls": Target}
    return click.option("--target", "-t", *names, **own, **settings)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def typed_text(source: str) -> str | None:
    """The text of a layout that was typed with -e; None of FILE.py:NAME."""
    return source.removeprefix(_TYPED) if source.startswith(_TYPED) else None


def file_and_name(source: str) -> tuple[str, str]:
    """The two parts of FILE.py:NAME; of a typed layout the text, and what it is called."""
    if text := typed_text(source):
        return TYPED + text, NAMELESS
    file, colon, wanted = source.rpartition(":")
    if not colon or not file or not wanted or file == "catalogue":
        way = "FILE.py:NAME, as in layouts.py:index_kernel"
        from ..formats import catalogue

        if (name := source.removeprefix("catalogue:")) in catalogue:
            entry = catalogue[name]
            way += f"; of the catalogue it is -e '{entry.construct}({', '.join(entry.parameters)})'"
        raise click.UsageError(f"{source!r} is not of the form {way}")
    return file, wanted


def target_names(targets: Sequence[str], having: str = "") -> list[str]:
    """The targets' own names, each once; of "all", a plug-in that does not load is left out. having: what all have."""
    if "all" not in targets:
        return list(dict.fromkeys(registry.printer(target).name for target in targets))
    found = []
    for target in registry.targets():
        try:
            printer = registry.printer(target)
            found += [printer.name] if not having or getattr(printer, having, "") else []
        except TargetError as error:
            warn(f"{error}; {target} is left out")
    return found
