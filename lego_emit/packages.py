"""The packages that some of the work needs, imported from here: `from ..packages import numpy`.

What is installed never changes what is made: a missing one is an error that names the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import MissingPackageError

if TYPE_CHECKING:
    import cffi as cffi
    import docstring_parser as docstring_parser
    import numpy as numpy
    import sympy as sympy
    import z3 as z3

INSTALL = {
    "cffi": "cffi",
    "docstring_parser": "docstring-parser",
    "numpy": "numpy",
    "sympy": "sympy",
    "z3": "z3-solver",
}


def __getattr__(name: str) -> Any:
    if name not in INSTALL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    try:
        return __import__(name)  # import_module is slower, and this is asked often
    except Exception as error:  # what is half installed fails in many ways
        reason = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise MissingPackageError(
            f"this needs the package {name}, which {'does not load' if reason else 'is missing'}"
            f"{reason}: pip install {INSTALL[name]}"
        ) from error
