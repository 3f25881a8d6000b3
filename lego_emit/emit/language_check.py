"""The check of a kernel language that another package brings, when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..errors import TargetError, error_text, short_repr
from .kernel_language import KernelLanguage

TEXTS = ("target", "multiple", "package", "wide")
TUPLES = ("natural", "pure", "programs", "loads")
TABLES = ("aliases", "masked", "descriptors")
METHODS = ("printer", "unwrap", "helpers", "asking", "is_constant")


def check_language(language: KernelLanguage, name: str) -> None:
    """Raise TargetError where the attributes of a language say nothing that jit() can follow. name: what its package
    calls it."""
    for problem in _problems(language, name):
        raise TargetError(f"{type(language).__name__}: {problem}")


def _problems(language: KernelLanguage, name: str) -> Iterator[str]:
    own = getattr(language, "name", None)
    if own != name:
        yield f"name is {short_repr(own)}, and its package's entry point {name!r}; give both one name"
    for attribute, kinds, wanted in (
        *((a, str, "a text") for a in TEXTS),
        *((a, tuple | list, "a tuple of texts, as ('arange',)") for a in TUPLES),
        *((a, Mapping, "a dict") for a in TABLES),
    ):
        if not isinstance(found := getattr(language, attribute, None), kinds):
            yield f"{attribute} is {short_repr(found)}; give {wanted}"
    for attribute in METHODS:
        if not callable(found := getattr(language, attribute)):
            yield f"{attribute} is {short_repr(found)}; write a method"
    if more := {*language.programs} - {*language.natural}:
        yield f"programs has {min(more)!r}, and natural has not; name it in both"
    if language.multiple:
        try:
            language.multiple.format(name="K", number=16)
        except (LookupError, ValueError) as error:
            yield f"multiple is {language.multiple!r}, which has more than {{name}} and {{number}}: {error_text(error)}"
    if (ends := language.narrow) is not None:
        if not isinstance(ends, tuple) or [type(end) for end in ends] != [int, int]:
            yield f"narrow is {short_repr(ends)}; give the least and the greatest number, as (0, 127)"
        if "{}" not in language.wide:
            yield f"wide is {language.wide!r}; narrow needs a conversion with {{}} for the index, as 'int64({{}})'"
