"""Readers: the text of each language as terms."""

from __future__ import annotations

import re
from importlib import import_module

from ..launch import without
from ..text import Text, UnsupportedSyntax

READERS = {
    "c": "c_family",
    "cpp": "c_family",
    "cuda": "c_family",
    "glsl": "c_family",
    "fortran": "fortran",
    "javascript": "javascript",
    "julia": "julia",
    "rust": "rust",
}

# What checks=True asserts, in the languages whose readers do not know it.
ASSERTED = re.compile(r"debug_assert!\(|^#ifdef LEGO_CHECKS$|@assert |\(CHECKS && !", re.MULTILINE)


def read(source: str, language: str) -> Text:
    """What a text says. Raises UnsupportedSyntax for a language that the checker does not read, and for what it
    does not understand."""
    if language not in READERS:
        raise UnsupportedSyntax(
            f"the checker does not read {language}; it reads {', '.join(READERS)}"
        )
    if READERS[language] != "c_family" and ASSERTED.search(source):
        raise UnsupportedSyntax(
            "the checker reads what checks=True asserts in C, C++ and CUDA C alone; certify the text that "
            "is generated without it"
        )
    plain, divisions = without(source, language)
    return import_module(f".{READERS[language]}", __name__).read(plain, language, divisions)
