"""Options outside of Python: lego-emit.toml, the command line, CMake, the documentation's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .emit import registry
from .errors import did_you_mean
from .options import Option, Options, options_of


class Kind:
    """What kind of value an option takes in lego-emit.toml, on the command line and in CMake.

    example: a value as lego-emit.toml writes it. cmake: how CMake writes it there: "text" in quotes,
    "bare" as it stands where it is a number, "flag" as true, "list" of texts, or "table".
    """

    example = ""
    cmake = "text"

    def of_toml(self, value: Any) -> Any:
        """The value that generate() takes. Raises ValueError, which says what to give."""
        raise NotImplementedError


class Flag(Kind):
    """True or false; on the command line it is given or not."""

    example, cmake = "true", "flag"

    def of_toml(self, value: Any) -> bool:
        """The value, true or false."""
        if not isinstance(value, bool):
            raise ValueError("give true or false")
        return value


class Text(Kind):
    """A text that is not empty. metavar: what the command line calls it."""

    def __init__(self, example: str, metavar: str = "NAME"):
        self.example, self.metavar = f'"{example}"', metavar

    def of_toml(self, value: Any) -> str:
        """A text that is not empty."""
        if not isinstance(value, str) or not value:
            raise ValueError(f"give text such as {self.example}")
        return value


class Members(Text):
    """true, or names in a text."""

    def of_toml(self, value: Any) -> Any:
        """True, false, or the text."""
        return value if isinstance(value, bool) else super().of_toml(value)


class Choice(Kind):
    """One of some names."""

    def __init__(self, *names: str):
        self.names, self.example = names, f'"{names[0]}"'

    def of_toml(self, value: Any) -> str:
        """The name, which is one of them."""
        return one_of(value, self.names)


class Number(Kind):
    """An integer from least to most."""

    cmake = "bare"

    def __init__(self, least: int, most: int):
        self.least, self.most, self.example = least, most, f"{min(4, most)}"

    def of_toml(self, value: Any) -> int:
        """The number, which lies between them."""
        if type(value) is not int or not self.least <= value <= self.most:
            raise ValueError(f"give a number from {self.least} to {self.most}")
        return value


class Texts(Kind):
    """A list of texts; on the command line, one at a time."""

    cmake = "list"

    def __init__(self, example: str, metavar: str):
        self.example, self.metavar = f'["{example}"]', metavar

    def of_toml(self, value: Any) -> tuple[str, ...]:
        """The texts, none of them empty."""
        if not isinstance(value, list) or not all(isinstance(x, str) and x for x in value):
            raise ValueError(f"give a list such as {self.example}")
        return tuple(value)


class Names(Texts):
    """Names in a text or in a list; on the command line i,j, or one at a time."""

    def __init__(self, example: str, metavar: str):
        super().__init__(example, metavar)
        self.example = f'"{example}"'

    def of_toml(self, value: Any) -> tuple[str, ...]:
        """The names, of a text as it is."""
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(x, str) and x for x in listed):
            raise ValueError(f"give text such as {self.example}, or a list of names")
        return tuple(listed)


class Sizes(Kind):
    """Numbers by name; on the command line M=6,N=8."""

    example, cmake = "{ BM = 32 }", "table"

    def of_toml(self, value: Any) -> dict[str, int]:
        """The numbers, each an integer."""
        if not isinstance(value, dict) or not all(type(n) is int for n in value.values()):
            raise ValueError(f"give a table of integers such as {self.example}")
        return value


class Named(Kind):
    """Texts by name; on the command line i=int16,j=int16."""

    cmake = "table"

    def __init__(self, example: str):
        self.example = f"{{ {example} }}"

    def of_toml(self, value: Any) -> dict[str, str]:
        """The texts, none of them empty."""
        if not isinstance(value, dict) or not all(isinstance(t, str) and t for t in value.values()):
            raise ValueError(f"give a table of texts such as {self.example}")
        return value


class Types(Kind):
    """An index type, or several; on the command line auto,int32."""

    example = '"int32"'

    def of_toml(self, value: Any) -> list[str]:
        """The types as a list."""
        known = ("auto", *registry.index_types())
        several = value.split(",") if isinstance(value, str) else value
        return [
            one_of(x, known)
            for x in (several if isinstance(several, list) and several else [value])
        ]


class Bases(Kind):
    """0, 1, or what counts from 1; on the command line g=1,local=1."""

    example, cmake = "1", "bare"

    def of_toml(self, value: Any) -> int | dict[str, int]:
        """The number, or the numbers by name."""
        if isinstance(value, dict):
            return {name: one_of(number, (0, 1)) for name, number in value.items()}
        if type(value) is int and value in (0, 1):
            return value
        raise ValueError("give 0, 1, or what counts from 1, as base = { g = 1, local = 1 }")


def one_of(value: Any, choices: Sequence[Any]) -> Any:
    """The value, which is one of these. Raises ValueError, with the nearest."""
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        names = [str(choice) for choice in choices]
        raise ValueError(f"give one of {', '.join(names)}.{did_you_mean(str(value), names)}")
    return value


KINDS: dict[str, type[Kind]] = {
    k.__name__: k
    for k in (Flag, Text, Members, Choice, Number, Texts, Names, Sizes, Named, Types, Bases)
}


def kind_of(said: Option) -> Kind | None:
    """The kind of an option's value; None where it is said in Python alone."""
    if said.kind is None:
        return None
    name, *arguments = said.kind
    return KINDS[name](*arguments)


def keys(of: type) -> dict[str, Kind]:
    """{key of lego-emit.toml: the kind of its value} of the options that have one."""
    found = {name: kind_of(said) for name, (said, _) in options_of(of).items()}
    return {name.replace("_", "-"): kind for name, kind in found.items() if kind is not None}


def cmake(of: type = Options) -> dict[str, list[str]]:
    """{how CMake writes a value: its arguments}, as `lego-emit --cmake-options` prints them."""
    found: dict[str, list[str]] = {kind: [] for kind in ("text", "bare", "flag", "list", "table")}
    for key, kind in keys(of).items():
        if key != "name":
            found[kind.cmake].append(key.replace("-", "_").upper())
    return found


def table(of: type = Options) -> str:
    """The options as a Markdown table: the keyword and its default, the command line's option, the key of
    lego-emit.toml, what it does."""
    rows = []
    for name, (said, default) in options_of(of).items():
        flag = key = ""
        if said.kind is not None:
            flag, key = f"`{flags(name, said)[0]}`", f"`{name.replace('_', '-')}`"
        rows.append([f"`{name}={default!r}`", flag, key, said.text])
    return _markdown(["keyword", "command line", "key", "what it does"], rows)


def keys_table(of: type = Options) -> str:
    """The keys of lego-emit.toml as a Markdown table, with an example of each and what it does."""
    known = options_of(of)
    rows = [
        [f"`{key} = {kind.example}`", known[key.replace("-", "_")][0].help]
        for key, kind in keys(of).items()
    ]
    return _markdown(["key", "what it does"], rows)


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *([x.replace("|", "\\|") for x in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def flags(name: str, said: Option) -> tuple[str, ...]:
    """The command line's names of an option."""
    return said.flags or (f"--{name.replace('_', '-')}",)
