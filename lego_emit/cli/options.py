"""The command line's options, made of the fields of lego_emit.options."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import click

from ..notation import is_name
from ..options import options_of
from ..surfaces import (
    Bases,
    Choice,
    Flag,
    Kind,
    Named,
    Number,
    Sizes,
    Text,
    Texts,
    Types,
    flags,
    kind_of,
)
from .root import numbers_by_name


def option_of(of: type, name: str, **settings: Any) -> Callable[[Any], Any]:
    """The option of a keyword of generate() or render(). settings: click's, in place of its own."""
    said, default = options_of(of)[name]
    names = (*flags(name, said), name)
    if isinstance(kind := kind_of(said), Sizes):
        return numbers_by_name(*names, help=settings.get("help", said.help))
    made = {"help": said.help, **_settings(kind, default), **settings}
    return click.option(*names, **made)


def options_for(of: type, *others: str) -> Callable[[Any], Any]:
    """All options of a class that the command line has, but for those named."""

    def made(command: Any) -> Any:
        for name, (said, _) in reversed(options_of(of).items()):
            if said.kind is not None and name not in others:
                command = option_of(of, name)(command)
        return command

    return made


def _settings(kind: Kind | None, default: Any) -> dict[str, Any]:
    """What click is told of an option's kind."""
    match kind:
        case Flag():
            return {"is_flag": True}
        case Texts(metavar="NAME"):
            return {
                "multiple": True,
                "metavar": "NAME",
                "callback": lambda context, option, texts: _names(texts),
            }
        case Texts(metavar=metavar):
            return {"multiple": True, "metavar": metavar}
        case Choice(names=names):
            return {"type": click.Choice(names)}
        case Number(least=least, most=most):
            return {"type": click.IntRange(least, most), "default": default, "show_default": True}
        case Types():
            return {
                "default": default,
                "metavar": "TYPE",
                "callback": lambda context, option, text: text and text.split(","),
            }
        case Bases():
            return {
                "multiple": True,
                "default": (str(default),),
                "show_default": True,
                "metavar": "0|1|NAME=1,..",
                "callback": lambda context, option, texts: _base(texts),
            }
        case Named():
            return {
                "multiple": True,
                "metavar": "NAME=TEXT,..",
                "callback": lambda context, option, texts: _named_texts(texts),
            }
        case Text(metavar=metavar):
            return {"metavar": metavar}
        case _:
            raise TypeError(f"the command line has no option of {type(kind).__name__}")


def _base(texts: Sequence[str]) -> int | dict[str, int]:
    """--base, once or more often: a number, or the names of what counts from 1. Raises BadParameter."""
    numbers = {text for text in texts if text in ("0", "1")}
    named = [text for text in texts if text not in numbers]
    if numbers and named:
        raise click.BadParameter(
            f"{min(numbers)} is for all indices, and {named[0][:60]!r} is for those that it names: "
            "give one number, or names alone"
        )
    if len(numbers) > 1:
        raise click.BadParameter("0 and 1 are both given; give one number, or names as g=1,local=1")
    return int(numbers.pop()) if numbers else _named_bases(named)


def _names(texts: Sequence[str]) -> Sequence[str]:
    """Names, none of them an option that stands where a name is missing. Raises BadParameter."""
    for text in texts:
        if text.startswith("-"):
            raise click.BadParameter(
                f"{text[:60]!r} is no name; write a parameter's name, as d1, or '*' for all"
            )
    return texts


def _named_bases(texts: Sequence[str]) -> dict[str, int]:
    """What names are given, as g=1,local=1. Raises BadParameter."""
    found: dict[str, int] = {}
    for text in texts:
        for part in text.split(","):
            name, _, number = (x.strip() for x in part.partition("="))
            if not is_name(name) or number not in ("0", "1"):
                raise click.BadParameter(f"{text[:60]!r} is not 0, 1, or of the form g=1,local=1")
            if name in found:
                raise click.BadParameter(
                    f"{name[:60]} is given more than once; name each once, of the form g=1,local=1"
                )
            found[name] = int(number)
    return found


def _named_texts(texts: Sequence[str]) -> dict[str, str]:
    """Texts by name, as i=int16,j=int8, of names and members as at.x. Raises BadParameter."""
    found: dict[str, str] = {}
    for part in (part for text in texts for part in re.split(r",(?=[^,=]*=)", text)):
        name, equals, text = (x.strip() for x in part.partition("="))
        if not name or not equals or not text:
            raise click.BadParameter(f"{part[:60]!r} is not of the form i=int16")
        if name in found:
            raise click.BadParameter(f"{name[:60]} is given more than once; name each once")
        found[name] = text
    return found
