"""Triton's kernels under lego_emit.jit."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

from lego_emit.emit.kernel_language import Ask, KernelLanguage, Wrap


class TritonKernels(KernelLanguage):
    """What @triton.jit makes, under any @triton.autotune and @triton.heuristics."""

    name = target = "triton"
    index_type = "int32"
    aliases = {"tl": "triton.language"}
    multiple = "{name} = tl.multiple_of({name}, {number})"
    natural = ("program_id", "num_programs")
    programs = ("program_id",)
    package = "triton"
    pure = (
        "program_id",
        "num_programs",
        "arange",
        "cdiv",
        "minimum",
        "maximum",
        "where",
        "full",
        "zeros",
        "to",
    )
    calls_by_value = True
    masked: Mapping[str, int] = {
        "load": 1,
        "store": 2,
        **{f"atomic_{name}": 2 for name in ("add", "and", "max", "min", "or", "xchg", "xor")},
    }
    narrow = 0, 2**7 - 1
    wide = "tl.cast({}, tl.int64)"
    loads = ("load", "gather", *masked)
    descriptors = {
        "make": "tl.make_tensor_descriptor({pointer}, [{}], [{}], [{}])",
        "load": "{name}.load([{offsets}])",
        "store": "{name}.store([{offsets}], ",
        "shape": "tl.reshape({}, [{}])",
        "order": "tl.permute({}, [{}])",
    }

    def is_constant(self, annotation: str) -> bool:
        """Whether it is tl.constexpr, by whatever name of the module."""
        return annotation.rpartition(".")[2] == "constexpr"

    def unwrap(self, given: Any) -> tuple[types.FunctionType, Wrap] | None:
        """The function of a JITFunction, or of an InterpretedFunction."""
        if not type(given).__module__.startswith("triton.runtime"):
            return None
        outer, inner = None, given
        while not isinstance(inner.fn, types.FunctionType):
            outer, inner = inner, inner.fn

        def wrap(made: types.FunctionType) -> Any:
            again = _jitted(inner, made)
            if outer is None:
                return again
            outer.fn = again
            if hasattr(outer, "base_fn"):
                outer.base_fn = made
            return given

        return inner.fn, wrap

    def asking(self, kernel: Any, ask: Ask) -> Any:
        """The kernel, whose run() asks what is launched: under @triton.autotune and @triton.heuristics these have
        given all arguments by then. Not that of a function which @triton.jit is to read."""
        inner = _innermost(kernel)
        if callable(run := getattr(inner, "run", None)):

            def asked(*arguments: Any, **named: Any) -> Any:
                ask(arguments, named, _depth())
                return run(*arguments, **named)

            inner.run = asked
        return kernel


def _innermost(kernel: Any) -> Any:
    """The kernel of @triton.jit below autotune, heuristics and other decorators."""
    while hasattr(inner := getattr(kernel, "fn", None), "fn"):
        kernel = inner
    return kernel


def _depth() -> int:
    """How many frames above ask's own the launch is: the first one that is not Triton's."""
    frame, depth = sys._getframe(2), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "triton":
        frame, depth = frame.f_back, depth + 1
    return depth


def _jitted(old: Any, made: types.FunctionType) -> Any:
    """Another function as @triton.jit made the old one."""
    kind = type(old)
    if kind.__name__ == "InterpretedFunction":
        return kind(made, **old.kwargs)
    again = kind(
        made,
        version=old.version,
        do_not_specialize=old.do_not_specialize,
        do_not_specialize_on_alignment=old.do_not_specialize_on_alignment,
        debug=old.debug,
        noinline=old.noinline,
        repr=old._repr,
        launch_metadata=old.launch_metadata,
    )
    users = old.fn.__code__.co_filename  # what PTX, profilers and errors name
    if hasattr(again, "file_name"):
        again.file_name = users
    made.__code__ = made.__code__.replace(co_filename=users)
    return again
