"""Readers: the text of each language as terms."""

from __future__ import annotations

from importlib import import_module

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


def read(source: str, language: str) -> Text:
    """What a text says. Raises UnsupportedSyntax for a language that the checker does not read, and for what it
    does not understand."""
    if language not in READERS:
        raise UnsupportedSyntax(
            f"the checker does not read {language}; it reads {', '.join(READERS)}"
        )
    return import_module(f".{READERS[language]}", __name__).read(source, language)
