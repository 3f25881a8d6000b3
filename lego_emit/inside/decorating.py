"""lego_emit.jit: a kernel in Python with layouts in it."""

from __future__ import annotations

import ast
import functools
import inspect
import numbers
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..emit.kernel_language import KernelLanguage
from ..errors import (
    KernelError,
    LegoWarning,
    StaleLayoutError,
    TargetError,
    brief,
    did_you_mean,
    short_repr,
)
from ..plugins import entries, load
from ..templates import OWN
from .ahead import MADE, Made
from .made import function_of, helper_of
from .outer import Outer
from .recalled import rewritten
from .source import Source

GROUP = "lego_emit.kernels"
FUNCTIONS = {
    "min": min,
    "max": max,
    "abs": abs,
    "sizeof": lambda array: getattr(array, "itemsize", 16),  # bytes; any where it is not known
}
REMEMBERED = 256  # launches with arguments of their own
CHECKS = ("off", "warn", "raise")


@dataclass(frozen=True)
class Rewritten:
    """What jit() has made of a function.

    source: its text without layouts, and without jit's own decorator; assumptions: what its index
    expressions rest on, as a header says it; layouts: the layouts in it, by name; unchecked: what
    assume() says of values that no launch is given; helpers: the functions beside it that it calls, for what is
    no expression, or a long one, as the texts of modules.
    """

    source: str
    assumptions: tuple[str, ...]
    layouts: Mapping[str, str]
    unchecked: tuple[str, ...] = ()
    helpers: str = ""


@brief
def jit(
    kernel: Any = None,
    *,
    target: str | None = None,
    assume: Sequence[Any] = (),
    ranges: Mapping[str, Any] | None = None,
    index_type: str | None = None,
    checks: str = "warn",
) -> Any:
    """A kernel in Python whose layouts are index expressions.

    kernel: what @triton.jit, @triton.autotune, @numba.njit, @numba.cuda.jit or @ct.kernel (cuTile) made of a
        function; or, with target=, the function itself. Left out, a decorator is returned.
    target: "triton", "numba", "cutile", "numpy" or "python", under the kernel language's own decorator or
        without one.
    assume, ranges: as generate() takes them, in addition to assume() in the kernel.
    index_type: "int32" or "int64"; in Triton int32 unless said, and where that does not suffice int64; in cuTile int32.
    checks: what happens at a launch where an assumption, of assume() or of the layouts, is false: "off", "warn"
        (LegoWarning) or "raise" (AssumptionError). What a tensor descriptor needs of addresses and strides is an
        error under "warn", too.

    In the function's text A[i, j], A[i, :], A.inv(p), A.in_bounds(i, j), A.size and the like become what
    generate() would compute, and assignments of layouts vanish. Everything else, each line's number
    among it, stays as it is. Layouts are taken from the function, the functions around it and the
    module when it is decorated; sizes are the function's own names. What was made has `lego`:
    the text without layouts, what it assumes, the layouts.

    Raises KernelError with the file, the line, the column and a caret where a layout is used as
    anything else; StaleLayoutError at a launch where the name of a layout stands for another one now.

        >>> from lego_emit import Row, jit
        >>> def last(x, M, N):
        ...     return x[Row(M, N)[M - 1, N - 1]]
        ...
        >>> try:
        ...     jit(last)
        ... except Exception as error:
        ...     print(str(error).partition(":")[0])
        ...
        jit
    """
    if checks not in CHECKS:
        raise KernelError(f"jit: checks is {short_repr(checks)}; it is one of {', '.join(CHECKS)}")
    known = sorted(entries(GROUP))
    if target is not None and target not in known:
        raise KernelError(
            f"jit: no target {short_repr(target)}; there are {', '.join(known)}."
            f"{did_you_mean(target, known)}"
        )
    if isinstance(assume, str) or not isinstance(ranges, Mapping | None):
        raise KernelError(
            'jit: assume is a list of conditions, and ranges a dict, as {"i": (0, "M")}'
        )
    options = assume, dict(ranges or {}), index_type, checks
    if kernel is None:
        return functools.partial(_jit, target=target, options=options)
    return _jit(kernel, target=target, options=options)


@brief
def _jit(kernel: Any, target: str | None, options: tuple[Any, ...]) -> Any:
    assume, ranges, index_type, checks = options
    if isinstance(kernel, staticmethod | classmethod):
        return type(kernel)(_jit(kernel.__func__, target=target, options=options))
    if isinstance(kernel, types.FunctionType):
        if target is None:
            raise KernelError(
                f"jit: {kernel.__qualname__} is a plain function; write @lego_emit.jit above the decorator of a "
                f"kernel language, or say which it is: target= takes {', '.join(sorted(entries(GROUP)))}"
            )
        language, function, wrap = _language(target), kernel, _itself
    else:
        language, function, wrap = _found(kernel, target)
    source = Source(function)
    made, outer = rewritten(source, language, assume, ranges, index_type)
    text = _undecorated(source, made.text)
    helpers = {n: language.helpers(module, kernel) for n, module in made.helpers.items()}
    if (collected := MADE.get()) is not None:
        lines = source.text.count("\n")
        collected.append(Made(source.file, source.first, lines, text, tuple(helpers.values())))
    said = {text: True for text in assume if isinstance(text, str)} | made.said
    signature = inspect.signature(function)
    told = _Launch(outer, said, made.needed, signature, checks, function.__qualname__)
    if not made.edits:
        result: Any = kernel
    else:
        for name, module in helpers.items():
            function.__globals__[name] = helper_of(source, name, module)
            outer.keep(name)
        inner = function_of(source, text, "".join(helpers.values()))
        result = wrap(inner)
    info = Rewritten(
        text, made.assumptions, made.layouts, told.unchecked, "\n\n".join(helpers.values())
    )
    if wrap is not _itself or not language.decorates:  # else what is launched is made later
        result = language.asking(result, told)
    result.lego = info
    return result


def _itself(made: types.FunctionType) -> Any:
    return made


def _found(
    kernel: Any, target: str | None
) -> tuple[KernelLanguage, types.FunctionType, Callable[..., Any]]:
    broken: TargetError | None = None
    for name in [target] if target else sorted(entries(GROUP)):
        try:
            language = _language(name)
        except TargetError as error:  # of a language that the kernel may not be of
            broken = error
            continue
        if (found := language.unwrap(kernel)) is not None:
            return language, *found
    if broken is not None:
        raise broken
    raise KernelError(
        f"jit: {short_repr(kernel)} is no function, and nothing that the decorator of a kernel language made; "
        "write @lego_emit.jit above that decorator"
    )


def _language(name: str) -> KernelLanguage:
    """A kernel language, which has the aliases of the target's own one, too."""
    found = load(GROUP, name, KernelLanguage)
    if not entries(GROUP)[name].value.startswith(OWN):
        from ..emit.language_check import check_language

        check_language(found, name)
        if found.target in entries(GROUP) and found.target != name:
            found.aliases = {**_language(found.target).aliases, **found.aliases}
    return found


def _undecorated(source: Source, text: str) -> str:
    """A function's text without the lines of jit's decorator."""
    outer = Outer(source.function, set())
    lines = text.split("\n")
    for node in source.node.decorator_list:
        made = node.func if isinstance(node, ast.Call) else node
        if outer.value(made) is jit:
            first = source.line(node) - source.first
            for k in range(first, first + source.lines_of(node) + 1):
                lines[k] = ""
    return "\n".join(lines)


class _Launch:
    """What is asked when a kernel is launched: whether its layouts are what they were, and whether its
    assumptions hold."""

    def __init__(
        self,
        outer: Outer,
        said: Mapping[str, bool],
        needed: set[str],
        signature: inspect.Signature,
        checks: str,
        name: str,
    ):
        self.outer, self.signature, self.checks, self.name = outer, signature, checks, name
        self.needed = needed
        own = {*signature.parameters, *FUNCTIONS}
        known = [text for text, asked in said.items() if asked and _names_in(text) <= own]
        known.sort(key=lambda text: text not in needed)
        self.unchecked = tuple(text for text in said if text not in known)
        self._fine: set[tuple[Any, ...]] = set()  # arguments for which all holds
        self._asked = {text: compile(text, "<assume>", "eval") for text in known}
        if checks == "off":
            self._asked.clear()
        self._names = sorted(
            {name for text in self._asked for name in _names_in(text)} - {*FUNCTIONS}
        )
        kinds = {p.kind for p in signature.parameters.values()}
        self._plain = kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD}

    def __bool__(self) -> bool:
        return bool(self._asked) or self.outer.is_watched

    def __call__(self, arguments: Sequence[Any], named: Mapping[str, Any], depth: int) -> None:
        """Raises StaleLayoutError or AssumptionError. depth: how many frames above this one the launch is."""
        if (text := self.outer.changed()) is not None:
            raise StaleLayoutError(
                f"{self.name}: {text} has changed since the kernel was decorated; decorate it again behind the change"
            )
        if not self._asked:
            return
        if (found := self._given(arguments, named)) is None:
            return  # the launch itself says what is wrong
        values = {name: _number(found[name]) for name in self._names if name in found}
        key = (*values.values(), *(getattr(v, "itemsize", 0) for v in values.values()))
        if key in self._fine:
            return
        for text, code in self._asked.items():
            names = [n for n in code.co_names if n not in FUNCTIONS]
            if any(values.get(n) is None for n in names):
                continue
            try:
                holds = eval(code, {"__builtins__": FUNCTIONS}, values)
            except ArithmeticError:  # a divisor of 0, which the kernel itself divides by
                continue
            if not holds:
                said = ", ".join(f"{n} = {values[n]}" for n in dict.fromkeys(names))
                message = f"{self.name} assumes {text}, and {said}"
                if needed := text in self.needed:
                    message += (
                        ": a tensor descriptor needs it; pad the tensor, or load by positions"
                    )
                if needed or self.checks == "raise":
                    from ..errors import AssumptionError

                    raise AssumptionError(message)
                warnings.warn(message, LegoWarning, stacklevel=depth + 1)
                return
        if len(self._fine) < REMEMBERED:
            self._fine.add(key)

    def _given(
        self, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The arguments by name; None where the function takes none like these."""
        parameters = self.signature.parameters
        if len(arguments) == len(parameters) and self._plain:
            return dict(zip(parameters, arguments, strict=True))
        own = {k: v for k, v in named.items() if k in parameters}
        try:
            given = self.signature.bind_partial(*arguments, **own)
        except TypeError:
            return None
        given.apply_defaults()
        return given.arguments


def _names_in(text: str) -> set[str]:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:  # with text of the kernel's own
        return {text}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _number(value: Any) -> int | None:
    """An argument as assumptions speak of it: an integer, or the address of an array's memory."""
    if type(value) is int:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if hasattr(value, "data_ptr"):
        return _Address(value.data_ptr(), value)
    for kind in ("__cuda_array_interface__", "__array_interface__"):
        if hasattr(value, kind):
            return _Address(getattr(value, kind)["data"][0], value)
    return None


class _Address(int):
    """Where an array lies. itemsize: of its elements, in bytes."""

    itemsize: int

    def __new__(cls, address: int, array: Any) -> _Address:
        made = super().__new__(cls, address)
        made.itemsize = getattr(getattr(array, "dtype", None), "itemsize", 16)
        return made
