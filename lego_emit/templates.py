"""Jinja templates. A template file lies beside the module of the class that it belongs to."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import LegoError, TargetError, error_text

if TYPE_CHECKING:
    import jinja2

ENDING = ".jinja"
OWN = "lego_emit."  # what the modules of our own printers and targets begin with


def folders(owner: type) -> list[Path]:
    """Where the template files of a class lie: beside its module and beside those of its bases."""
    modules = (sys.modules.get(base.__module__) for base in owner.__mro__)
    files = (getattr(module, "__file__", None) for module in modules)
    return list(dict.fromkeys(Path(file).parent for file in files if file))


@contextmanager
def named(owner: type, language: str, template: str) -> Iterator[None]:
    """Jinja's errors, and of another package's printer what its own code or forms raise, as a
    TargetError that names the file and the language. template: the name of a file, or its text."""
    import jinja2

    try:
        yield
    except jinja2.TemplateNotFound as error:
        places = ", ".join(map(str, folders(owner)))
        raise TargetError(
            f"{language}: the template {error.name} is not in {places}; put it there, or correct "
            f"its name in {owner.__module__}"
        ) from None
    except (LegoError, RecursionError, MemoryError):
        raise
    except Exception as error:
        if not isinstance(error, jinja2.TemplateError) and owner.__module__.startswith(OWN):
            raise
        own = template if template.endswith(ENDING) else f"of {owner.__module__}"
        file, line = own, None
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename.endswith(ENDING) or frame.filename == "<template>":
                file, line = frame.filename, frame.lineno
        if isinstance(error, jinja2.TemplateSyntaxError):
            file, line = error.filename or own, error.lineno
        is_jinjas = isinstance(error, jinja2.TemplateError)
        said = error.message if is_jinjas else f"{type(error).__name__}: {error_text(error)}"
        place = own if file == "<template>" else file
        raise TargetError(
            f"{language}: the template {place}, line {line}, cannot be used: {said}"
        ) from error


def environment(owner: type) -> jinja2.Environment:
    """The environment that a class renders its templates in; a name that they do not know is an
    error. Classes of the same folders share it, and what it has compiled."""
    return _environment_of(*folders(owner))


@cache
def _environment_of(*places: Path) -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        loader=jinja2.FileSystemLoader(places),
    )


@lru_cache(2**9)
def template_of(environment: jinja2.Environment, source: str) -> jinja2.Template:
    """A template's text, compiled once."""
    return environment.from_string(source)
