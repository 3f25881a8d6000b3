"""How the names of a file are spelled: its namespace, a prefix, a style."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import TargetError, did_you_mean, short_repr

STYLES = ("snake_case", "camelCase", "PascalCase")
ARRAYS = ("pointer", "reference", "std::array")
RESULTS = ("struct", "array", "out", "inout")
ROLES = ("apply", "inv", "fits", "prepare", "walk")  # of a layout's functions
OF_COPIES = ("", "_fits", "_places", "_source_bytes", "_destination_bytes")
ROLES += tuple(f"{way}{of}" for way in ("pack", "unpack") for of in OF_COPIES)

WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[^_][^A-Z_]*")  # capitals in a row are one


@dataclass(frozen=True)
class Naming:
    """What the user says of a file's names; "" leaves them as they are.

    namespace: what the functions are in; the language's own choice unless given.
    prefix: what all public names begin with.
    style: one of STYLES, of functions and types; parameters and results are then in camelCase
        where those are in PascalCase. A name without lowercase letters stays: BM is a size.
    usual: whether the style, or module, is the language's own, and not the user's.
    module: the layout whose file is a module: its functions are apply and inv, not NAME_apply.
    arrays, results: the forms of parameters that are arrays, and of what is more than one integer.

    Raises TargetError where one of them is not of that kind.
    """

    namespace: str = ""
    prefix: str = ""
    style: str = ""
    arrays: str = ""
    results: str = ""
    usual: bool = field(default=False, kw_only=True)
    module: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        for option in ("namespace", "prefix"):
            text = getattr(self, option)
            if not isinstance(text, str):
                raise TargetError(f"{option} must be text, not {short_repr(text)}")
        if self.prefix and not re.fullmatch(r"[A-Za-z](_?[0-9A-Za-z])*_?", self.prefix):
            raise TargetError(
                f"prefix is {short_repr(self.prefix)}; write letters, digits and single underscores, as "
                "in 'acme_'"
            )
        if not isinstance(self.style, str) or (self.style and self.style not in STYLES):
            hint = did_you_mean(self.style, STYLES) if isinstance(self.style, str) else ""
            raise TargetError(
                f"names is {short_repr(self.style)}; there are {', '.join(STYLES)}.{hint}"
            )

    @classmethod
    def given(cls, *options: str | None) -> Naming:
        """As options are given, in the order of the fields, None for those that are not."""
        return cls(*("" if text is None else text for text in options))

    def public(self, name: str) -> str:
        """A function's or a layout's name, the prefix before it."""
        if self.module and name in {f"{self.module}_{role}" for role in ROLES}:
            return name.removeprefix(f"{self.module}_")
        words = WORD.findall(f"{self.prefix}_{name}" if self.style else "")
        stays = not self.prefix and name == name.upper()
        return f"{self.prefix}{name}" if stays or not words else _joined(words, self.style)

    def local(self, name: str) -> str:
        """A parameter's, a result's or a statement's name."""
        words = WORD.findall(name) if self.style and name != name.upper() else []
        style = "snake_case" if self.style == "snake_case" else "camelCase"
        return _joined(words, style) if words else name

    def unit(self, name: str) -> str:
        """The file's own name, which those of its helpers begin with."""
        apart = "_" if self.style and self.prefix[-1:].isalnum() else ""
        return f"{self.prefix}{apart}{name}"

    def after(self, name: str, word: str) -> str:
        """The name of what comes with a function, made of its name: tile_positions, or tilePositions."""
        if self.style in ("camelCase", "PascalCase"):
            return f"{name}{word.capitalize()}"
        return f"{name}_{word}"

    def type(self, name: str) -> str:
        """The name of a type of the user's, the prefix before it."""
        made = self.public(name)
        return made[:1].upper() + made[1:] if self.style == "camelCase" else made

    def type_after(self, name: str, word: str) -> str:
        """The name of a type that comes with a function: tile_result, or TileResult."""
        made = self.after(name, word)
        return made[:1].upper() + made[1:] if self.style == "camelCase" else made

    def check_apart(self, names: Iterable[str], spelled: Callable[[str], str]) -> None:
        """Raise TargetError where two names are one in this style; spelled: public or local."""
        if not self.style or self.usual:
            return  # fresh() numbers them
        found: dict[str, str] = {}
        for name in names:
            other = found.setdefault(spelled(name), name)
            if other != name:
                raise TargetError(
                    f"{other} and {name} are both {spelled(name)} with names="
                    f"{self.style!r}; rename one of them"
                )


def _joined(words: Sequence[str], style: str) -> str:
    """Words as one name."""
    small = [word.lower() for word in words]
    if style == "snake_case":
        return "_".join(small)
    capitals = [word[:1].upper() + word[1:] for word in small]
    return "".join([small[0] if style == "camelCase" else capitals[0], *capitals[1:]])


AS_WRITTEN = Naming()


def type_name(name: str, ending: str = "") -> str:
    """What a type that belongs to something is called where types are in PascalCase: of nw_tile NwTileView."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) + ending


Beside = Callable[[str], set[str]] | None


def fresh(name: str, printer: Any, taken: set[str], beside: Beside = None) -> str:
    """A legal name, not taken until now; beside: the names that come with it are not taken either."""
    legal = candidate = printer.legal_name(name)
    number = 2
    while (keys := keys_of(candidate, printer, beside)) & taken:
        candidate = printer.legal_name(f"{legal[: printer.max_name - 4]}_{number}")
        number += 1
    taken |= keys
    return candidate


def keys_of(name: str, printer: Any, beside: Beside = None) -> set[str]:
    """What a name takes from the others; see fresh()."""
    key = name.lower() if printer.case_insensitive else name
    return {key, *beside(name)} if beside else {key}


def in_spelling(printer: Any, naming: Naming, index_types: Iterable[str] = ()) -> Any:
    """A printer for one file, whose names and index types are spelled as the user says, in the language's
    own style where that says none. Raises TargetError where the language has no such namespace or prefix."""
    if naming.namespace == printer.default_namespace:
        naming = replace(naming, namespace="")
    if printer.style and not naming.style:
        naming = replace(naming, style=printer.style, usual=True)
    if naming.namespace:
        _check_namespace(naming.namespace, printer)
    if not printer.legal_name(f"{naming.prefix}x").startswith(naming.prefix):
        raise TargetError(f"prefix: no name begins with {naming.prefix!r} in {printer.title}")
    for option, wanted, known in (
        ("arrays", naming.arrays, filter(None, printer.array_forms)),
        ("results", naming.results, printer.result_forms),
    ):
        if wanted and wanted not in (listed := [*known]):
            has = ", ".join(listed) or "none to choose from"
            raise TargetError(f"{option} is {wanted!r}; {printer.title} has {has}")
    spelled = dict(printer.index_names[t] for t in index_types if t in printer.index_names)
    if naming == printer.naming and not spelled:
        return printer
    made = copy(printer)
    made.naming, made.types = naming, {**printer.types, **spelled}
    return made


def as_written(printer: Any) -> Any:
    """A printer for one file without the language's own style of names."""
    if not printer.naming.usual:
        return printer
    made = copy(printer)
    made.naming = replace(printer.naming, style="", module="", usual=False)
    return made


def of_module(printer: Any, program: Any, naming: Naming) -> Naming:
    """The naming of a file that holds a program alone: where that is a module of one layout, functions have
    no NAME_."""
    if not (printer.is_module and program.is_layout) or naming.style or naming.prefix:
        return naming
    return replace(naming, module=program.name, usual=True)


def _check_namespace(namespace: str, printer: Any) -> None:
    if printer.namespaces is None:
        raise TargetError(
            f"namespace: a file has none in {printer.title}; give its names a prefix, or the file "
            "that name"
        )
    parts = namespace.split(printer.namespaces) if printer.namespaces else [namespace]
    for part in parts:
        legal = part and part in (printer.legal_name(part), printer.default_namespace)
        if not legal or part in printer.taken_namespaces:
            example = (printer.namespaces or "_").join(("acme", "tiles"))
            raise TargetError(
                f"namespace is {short_repr(namespace)}, no name for one in {printer.title}; write one "
                f"as {example!r}"
            )
