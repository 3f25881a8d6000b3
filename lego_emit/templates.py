"""Jinja templates. A template file lies beside the module of the class that it belongs to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

ENDING = ".jinja"


def folders(owner: type) -> list[Path]:
    """Where the template files of a class lie: beside its module and beside those of its bases."""
    modules = (sys.modules.get(base.__module__) for base in owner.__mro__)
    files = (getattr(module, "__file__", None) for module in modules)
    return list(dict.fromkeys(Path(file).parent for file in files if file))


def environment(owner: type) -> jinja2.Environment:
    """The environment that a class renders its templates in; a name that they do not know is an
    error."""
    import jinja2

    return jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        loader=jinja2.FileSystemLoader(folders(owner)),
    )
