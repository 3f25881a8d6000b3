"""Every error that a user can cause. All of them derive from LegoError.

A message names the construct, the place and the way out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable
from contextvars import ContextVar
from functools import wraps
from string import Formatter
from types import FrameType, FunctionType
from typing import Any, ParamSpec, Self, TypeVar

# While a user's function is followed: the FatalErrors that were made, for it may catch them.
RAISED: ContextVar[list[FatalError] | None] = ContextVar("lego_emit_raised", default=None)


class LegoError(Exception):
    """Base of every error that lego_emit raises on purpose.

    >>> from lego_emit import LegoError, Row
    >>> try:
    ...     Row(0, 4)
    ... except LegoError as error:
    ...     print(error.code)
    ...
    LE0101
    """

    code = "LE0001"  # it does not change: what is searched for, and the docs' table of errors
    placed = (
        False  # whether the message names the function of a user that was followed, and its line
    )

    def __new__(cls, *arguments: object, **named: object) -> Self:
        """Raises nothing. A traceback shows the code and the section of the docs below the message."""
        self = super().__new__(cls, *arguments, **named)
        kind = next(k for k in cls.__mro__ if "code" in vars(k))
        self.__notes__ = [f"{cls.code}: docs/errors.md#{kind.__name__.lower()}"]
        return self

    def place(self, where: str) -> None:
        """Put the function of a user and its line in front of the message, once."""
        if not self.placed:
            self.args = (f"{where}: {self}",)
            self.placed = True


class LayoutError(LegoError, ValueError):
    """A layout that cannot exist: a wrong permutation, sizes that do not multiply out, a GenP
    that is no bijection."""

    code = "LE0101"


class IndexRangeError(LegoError, IndexError):
    """A wrong number of indices, or an index provably outside its dimension."""

    code = "LE0102"


class InverseError(LegoError):
    """An inverse was asked of a layout that has none."""

    code = "LE0103"


class FatalError(LegoError):
    """An error that a user's function cannot catch while it is traced: its result would be wrong."""

    code = "LE0200"

    def __init__(self, *arguments: object):
        super().__init__(*arguments)
        if (raised := RAISED.get()) is not None:
            raised.append(self)

    @property
    def caught_outside(self) -> bool:
        """Whether the last to catch it was a user's function."""
        where = self.__traceback__
        return where is not None and is_users(where.tb_frame)


class TraceError(FatalError):
    """A user's function could not be traced with symbols."""

    code = "LE0201"

    many_paths = False  # whether there were more paths than are followed


class MissingPackageError(FatalError, ModuleNotFoundError):
    """A Python package is needed that is not installed, or does not load; the message ends with the
    command that installs it."""

    code = "LE0202"


class MovedError(LegoError, ImportError):
    """A name that is imported from another module now; the message has the line to write."""

    code = "LE0301"


class NoAttributeError(LegoError, AttributeError):
    """A name that a module, a layout or a template's name does not have; the message has the nearest one.

    names: of all that there are, asked when the message is read, for hasattr() raises many that
    nobody reads. way: what to write instead, where that is known.
    """

    code = "LE0302"

    def __init__(
        self, construct: str, name: str, names: Callable[[], Iterable[str]], way: str = ""
    ):
        super().__init__(construct, name, way, name=name)
        self._names = names

    def __str__(self) -> str:
        construct, name, way = self.args
        public = [n for n in self._names() if not n.startswith("_")]
        known = f"; {way}" if way else "." * (not name.startswith("_")) + did_you_mean(name, public)
        return f"{construct} has no attribute {name!r}{known}"

    def place(self, where: str) -> None:
        """Put a function and its line in front of the message, once."""
        if not self.placed:
            construct, *rest = self.args
            self.args = (f"{where}: {construct}", *rest)
            self.placed = True

    def __reduce__(self) -> Any:
        construct, name, way = self.args
        return type(self), (construct, name, [*self._names()].copy, way)


class AssumptionError(LegoError, ValueError):
    """An assumption that cannot be read, names an unknown symbol or contradicts another."""

    code = "LE0203"


class WidthError(LegoError, OverflowError):
    """A value provably does not fit the index type."""

    code = "LE0204"

    def __init__(self, message: str, way_out: str = ""):
        """way_out: what index_type= can do about it, behind the message; "" where another type is no way out."""
        super().__init__(f"{message}; {way_out}" if way_out else message)
        self.way_out = way_out


class TargetError(LegoError, ValueError):
    """An unknown target, a duplicate name, or something that the target cannot express."""

    code = "LE0401"

    def __init__(self, message: str, way_out: str = ""):
        """way_out: what index_type= can do about it, behind the message, as in a WidthError."""
        super().__init__(f"{message}; {way_out}" if way_out else message)
        self.way_out = way_out


class OptionError(LegoError, TypeError):
    """An option that does not exist, or a value that it does not take."""

    code = "LE0402"


class TemplateError(LegoError, ValueError):
    """A kernel's template that cannot be rendered; the message begins with its file and line."""

    code = "LE0501"


class KernelError(LegoError, ValueError):
    """A layout in a Python kernel that cannot become index expressions; the message has the file, the line, the
    column and a caret."""

    code = "LE0502"


class StaleLayoutError(LegoError, RuntimeError):
    """A kernel is launched, and a layout that it was rewritten with has another value now."""

    code = "LE0503"


class ToolchainError(LegoError):
    """A toolchain is missing, or refused what was emitted."""

    code = "LE0601"


class DeviceError(ToolchainError):
    """A GPU cannot be used: PyCUDA, the driver, the device or the toolkit is missing, the memory
    does not suffice, or a kernel was refused."""

    code = "LE0602"


class VerifyError(LegoError, ValueError):
    """Something that cannot be verified or timed as it was asked for."""

    code = "LE0603"


class BuildError(LegoError):
    """A lego-emit.toml that cannot be read or built."""

    code = "LE0701"


class GoldenError(LegoError):
    """A golden case that cannot be read."""

    code = "LE0702"


class LoadError(LegoError):
    """A user's Python file that is not there, does not run, or lacks what was asked of it."""

    code = "LE0703"


class InternalError(LegoError):
    """A broken promise inside lego_emit: please report it."""

    code = "LE0901"


class LegoWarning(UserWarning):
    """Something that works and may be a mistake: an undefined name, a variable of the module that is
    taken as an index, a range of a name that no expression has.

        >>> import warnings
        >>> from lego_emit import GroupBy, generate
        >>> def at(M):
        ...     return GroupBy([M])[k]  # k is not in the signature
        ...
        >>> with warnings.catch_warnings(record=True) as found:
        ...     warnings.simplefilter("always")
        ...     unit = generate(at, "c")
        ...
        >>> print(found[0].category.__name__)
        LegoWarning
    """

    code = "LE0902"


def is_users(frame: FrameType) -> bool:
    """Whether a user's function runs in a frame, not one of ours, SymPy's or Python's own."""
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    return package not in ("lego_emit", "sympy") and package not in sys.stdlib_module_names


P = ParamSpec("P")
R = TypeVar("R")


def brief(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator for a public function: the traceback of a LegoError that leaves it has the frames of the
    user alone, and those of what caused it, and so has the TypeError of wrong arguments. LEGO_EMIT_TRACEBACK=full keeps all."""

    @wraps(function)
    def called(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return function(*arguments, **named)
        except InternalError:
            raise
        except LegoError as error:
            if os.environ.get("LEGO_EMIT_TRACEBACK") != "full":
                _cut(error)
            raise
        except TypeError as error:  # of a call that does not fit the function
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                error.__traceback__ = None
            raise

    return called


def brief_methods(cls: type[R], but: Container[str] = ()) -> type[R]:
    """A decorator for a public class: brief() for its public methods, but for these, and for [] and @."""
    for name, method in list(vars(cls).items()):
        if (name[0] != "_" and name not in but) or name in OPERATORS:
            if isinstance(method, FunctionType):
                setattr(cls, name, brief(method))
            elif isinstance(method, classmethod):
                setattr(cls, name, classmethod(brief(method.__func__)))
    return cls


OPERATORS = ("__getitem__", "__matmul__", "__rmatmul__")


def _cut(error: BaseException | None) -> None:
    """Leave our own frames out of the tracebacks of an error and of its causes."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        kept, where = [], error.__traceback__
        while where is not None:
            if is_users(where.tb_frame):
                kept.append(where)
            where = where.tb_next
        for k, one in enumerate(kept):
            one.tb_next = kept[k + 1] if k + 1 < len(kept) else None
        error.__traceback__ = kept[0] if kept else None
        error = error.__cause__ or error.__context__


LONGEST = 256  # bits of a number that a message writes out, and of a size


MOST_SHOWN = 240  # characters of a value that a message writes out


def short_repr(value: Any, levels: int = 8) -> str:
    """repr(value) for a message, on one line; of a number that is too long to read, or for Python to
    write, how long it is; of what is too long or nested too deep, the beginning."""
    if isinstance(value, int) and value.bit_length() > LONGEST:
        return f"about {'-' * (value < 0)}10**{int(value.bit_length() * 0.30103)}"
    try:
        text = repr(value)
    except Exception:
        if not isinstance(value, list | tuple):
            return a_type(value)
        text = ", ".join(short_repr(part, levels - 1) for part in value) if levels else "..."
        text = f"[{text}]" if isinstance(value, list) else f"({text})"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}.."


class LazyText:
    """Text for messages, made each time that one needs it: an f-string would be made in each call,
    for an error that seldom comes.

    form: text with {} for short_repr(value), {!r} for repr(value), {!s} for str(value) and {!l} for
    short_repr() of each item, with commas between them; values: in this order.
    """

    __slots__ = ("_form", "_values")

    def __init__(self, form: str, *values: Any):
        self._form, self._values = form, values

    def __str__(self) -> str:
        return _FORMS.format(self._form, *self._values)


class _Forms(Formatter):
    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion is None:
            return short_repr(value)
        if conversion == "l":
            return ", ".join(map(short_repr, value))
        return super().convert_field(value, conversion)


_FORMS = _Forms()


def error_text(error: BaseException) -> str:
    """What an exception that is not ours says, for a message: on one line, and not at length."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        return ""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}.."


def way_to_import(name: str | None) -> str:
    """What a message adds of a name that a text did not import and that lego_emit has; else the empty string.

    >>> import lego_emit
    >>> way_to_import("Row")
    '; write from lego_emit import Row'
    """
    package = __name__.partition(".")[0]
    return f"; write from {package} import {name}" if name in dir(sys.modules[package]) else ""


def a_type(value: Any) -> str:
    """ "an int", "a str": what a message says a value is."""
    name = type(value).__name__
    return f"a{'n' * (name[0] in 'aeiou' or name == 'ndarray')} {name}"


def line_in(function: Any, error: BaseException) -> str:
    """ " (line 3 of layouts.py)": where in a user's function an exception came up; the empty string where
    that is not known."""
    while hasattr(function, "func"):  # a functools.partial
        function = function.func
    code = getattr(function, "__code__", getattr(type(function).__call__, "__code__", None))
    where, line = error.__traceback__, None
    while where is not None:
        if where.tb_frame.f_code is code:
            line = where.tb_lineno
        where = where.tb_next
    if line is None or code is None:
        return ""
    file = os.path.basename(code.co_filename)
    return (
        f" (line {line}{f' of {file}' if file.endswith('.py') and not file[:-3].isdigit() else ''})"
    )


def no_attribute(module: str, names: Iterable[str]) -> Callable[[str], Any]:
    """A module's __getattr__: of what it does not have the nearest one of its names."""

    def absent(name: str) -> Any:
        raise NoAttributeError(f"module {module!r}", name, lambda: names)

    return absent


def did_you_mean(name: object, choices, alike: float = 0.5) -> str:
    """ " Did you mean 'x'?" for the choice nearest to name, or the empty string."""
    import difflib

    choices, name = list(choices), str(name)
    found = [c for c in choices if c.lower() == name.lower()]
    found = found or difflib.get_close_matches(name, choices, n=1, cutoff=alike)
    found = found or [c for c in choices if len(name) > 2 and name.lower() in c.lower()]
    return f" Did you mean {found[0]!r}?" if found else ""
