"""render(): a kernel's template with layouts in, the kernel out (LEGO, section IV-A)."""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox
from jinja2.nodes import Node
from jinja2.parser import Parser

from ..emit import registry
from ..errors import LegoError, LegoWarning, TemplateError, brief, short_repr
from ..files import note
from ..numeric import is_symbolic
from ..options import RenderOptions, index_types_of, options_of, says
from .placed import PLACED, placed, sizes_of
from .spelling import Kernel
from .tags import INLINE, KERNEL, KernelTags, Scoped
from .texts import CLOSED, END, MARKED, NO_SIZE, NOTED, START, bracketed, defined_twice
from .values import Value


class Rendered(str):
    """The text of a kernel. assumptions: what its index expressions rest on, as a header says it."""

    assumptions: tuple[str, ...] = ()


@brief
@says(RenderOptions)
def render(text: str | Path, target: str = registry.DEFAULT, **context: Any) -> Rendered:
    """A kernel with index expressions in place of its placeholders.

    text: a Jinja2 template, or the Path of one; includes and imports lie beside it.
    target: the kernel's language, as generate() takes it.
    context: layouts and functions of indices by the names that the template uses, and anything else
        that it needs.
    OPTIONS

    {{ A[i, j] }} prints the position; {{ A.inv("tid")[0] }}, {{ A.in_bounds(i, j) }}, {{ A.size }} and
    {{ A[i, k].step(k=1) }} what they say; {% index i, j = A.inv("tid") %} writes statements. Brackets
    are put where the text around wants them, and names of another type are cast.

    Raises TemplateError with the template's file and line on a name that nobody declared, a wrong
    number of indices, an index out of range, and what Jinja refuses.

        >>> from lego_emit import Row, render
        >>> print(render("{% names i, j %}a[{{ A[i, j] }}]", "cuda", A=Row(4, 6)))
        a[6 * i + j]
    """
    if not isinstance(text, str | Path):
        raise TemplateError(
            f"{short_repr(text)} is not a template; give its text, or the Path of one"
        )
    said = options_of(RenderOptions)
    options = RenderOptions.of({n: context.pop(n) for n in said if n in context})
    (index_type, *others) = index_types_of(options)
    if others:
        raise TemplateError(f"index_type is {short_repr(options.index_type)}; a kernel has one")
    kernel = Kernel(
        registry.printer(target),
        index_type,
        options.assume,
        options.ranges or {},
        options.where or {},
    )
    kernel.arch = options.arch
    file = text if isinstance(text, Path) else None
    environment = _environment(file, options.sandboxed)
    environment.globals[KERNEL] = kernel
    tags = environment.extensions[KernelTags.identifier]
    assert isinstance(tags, KernelTags)
    kernel.counted, kernel.taken = tags.counted, tags.values
    with _placed(file):
        source = _read(file) if file else str(text)
        for name in options.names:
            name, _, of = name.partition(":")
            environment.globals[name] = kernel.declare(name, of or None)
        for name, value in context.items():
            if name in kernel.types:
                raise TemplateError(f"{name} is a declared name and given as {short_repr(value)}")
            environment.globals[name] = placed(kernel, name, value)
            if not is_symbolic(value):
                kernel.given.add(name)
        for name in (name for value in context.values() for name in sizes_of(value)):
            environment.globals.setdefault(name, kernel.size(name))
        template = (
            environment.from_string(source) if not file else environment.get_template(file.name)
        )
        found = template.render()
        kernel.finished()
    found = kernel.checked(found)
    if kernel.printer.kernel_lines and (name := defined_twice(found)):
        raise TemplateError(
            f"{file or INLINE}: {name} is defined twice in one region, where MLIR's names have one value: "
            "take another name for one of them, or a loop of scf for one of Jinja"
        )
    if kernel.printer.kernel_lines and NO_SIZE.search(found):
        raise TemplateError(
            f"{file or INLINE}: a size of symbols is ? in a type, as in memref<{{{{ A.size }}}}xf32>, and no value: "
            "write {% index s = A.size %} before, and %s here"
        )
    for told in kernel.told:
        warnings.warn(told, LegoWarning, stacklevel=3)
    found = MARKED.sub(bracketed(found, kernel.printer.statement_ends_line), found)
    ends_in_crlf = source.partition("\n")[0].endswith("\r")  # which Jinja makes \n of
    made = Rendered(re.sub("\r?\n", "\r\n", found) if ends_in_crlf else found)
    if any(mark in made for mark in (START, END, CLOSED, NOTED)):
        raise TemplateError(
            f"{file or INLINE}: a filter has cut an index expression, or the text has the "
            "characters U+E000 to U+E003, which mark one"
        )
    made.assumptions = tuple(kernel.assumptions)
    return made


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TemplateError(f"cannot be read: {reason}") from None


def _environment(file: Path | None, sandboxed: bool) -> jinja2.Environment:
    kind = _Sandbox if sandboxed else Scoped
    return kind(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=_Undefined,
        autoescape=False,
        extensions=[KernelTags],
        loader=_Beside(_folders(file, sandboxed)) if file else jinja2.DictLoader({}),
    )


def _folders(file: Path, sandboxed: bool) -> list[Path]:
    """Where a template's imports are looked for: beside it, then beside its folder."""
    return [file.parent] if sandboxed else [file.parent, file.parent.parent]


class _Sandbox(Scoped, jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Jinja's sandbox, in which values tell nothing of how they are made."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read it."""
        inner = isinstance(obj, Kernel) or (isinstance(obj, Value) and attr in ("kernel", "make"))
        return not inner and super().is_safe_attribute(obj, attr, value)


class _Undefined(jinja2.StrictUndefined):
    """What a template asked for and there is not."""

    @property
    def _undefined_message(self) -> str:
        value, name = self._undefined_obj, self._undefined_name
        if self._undefined_hint or not isinstance(
            value, Value
        ):  # the sandbox's, or of something else
            return super()._undefined_message
        if name in PLACED:
            return f"{value.said} is an index expression, and {name} belongs to a layout: A.{name}"
        return (
            f"{value.said} is an index expression without {name!r}; it has step() and alignment()"
        )


class _Beside(jinja2.FileSystemLoader):
    """Templates of a folder, then of those after it."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        """A template's text, its file noted."""
        try:
            found = super().get_source(environment, template)
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateError(f"{template} cannot be read: {error}") from None
        note(Path(found[1]))
        return found


@contextmanager
def _placed(file: Path | None) -> Iterator[None]:
    """Errors with the template's file and line in front."""
    try:
        yield
    except jinja2.TemplateSyntaxError as error:
        name = error.filename or file or INLINE
        raise TemplateError(f"{name}, line {error.lineno}: {error.message}") from None
    except jinja2.TemplateNotFound as error:
        raise TemplateError(
            f"{_place(file, error)}: no template {error.name!r} beside it"
        ) from None
    except jinja2.UndefinedError as error:
        raise TemplateError(f"{_place(file, error)}: {_undefined(error)}") from None
    except jinja2.TemplateError as error:
        raise TemplateError(f"{_place(file, error)}: {error.message}") from None
    except LegoError as error:
        if isinstance(error, TemplateError) and str(error).startswith(str(file or INLINE)):
            raise
        raise TemplateError(f"{_place(file, error)}: {error}") from error
    except SyntaxError as error:  # of the Python that Jinja makes of it
        deep = str(error.msg).startswith("too many")
        said = "Jinja takes no slice beside another index: write A.at('i, :')"
        raise TemplateError(f"{file or INLINE}: {'it nests too deep' if deep else said}") from None
    except RecursionError as error:
        raise TemplateError(f"{_place(file, error)}: it nests too deep") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TemplateError(f"{_place(file, error)}: {type(error).__name__}: {error}") from error


def _place(file: Path | None, error: BaseException) -> str:
    """The file and line of the template where an error was raised."""
    folder = str(file.parent.resolve()) if file else None
    place = None
    for frame in traceback.extract_tb(error.__traceback__):
        at = Path(frame.filename)
        own = folder and at.is_file() and str(at.resolve()).startswith(folder)
        if frame.filename == INLINE or (own and not frame.filename.endswith(".py")):
            place = f"{frame.filename}, line {frame.lineno}"
    if place is None and isinstance(error, RecursionError):  # while it was read
        for frame, _ in traceback.walk_tb(error.__traceback__):
            at = frame.f_locals.get("self"), frame.f_locals.get("node")
            if isinstance(at[0], Parser):
                place = f"{file or INLINE}, line {at[0].stream.current.lineno}"
            elif isinstance(at[1], Node):
                place = f"{file or INLINE}, line {at[1].lineno}"
    return place or str(file or INLINE)


def _undefined(error: jinja2.UndefinedError) -> str:
    message = str(error.message)
    match = re.fullmatch(r"'(\w+)' is undefined", message)
    if match is None:
        return message
    return f"{match[1]} is not a declared name, and nothing of that name was given"
