"""Numba's functions and kernels under lego_emit.jit."""

from __future__ import annotations

import importlib
import types
from typing import Any

from lego_emit.emit.kernel_language import KernelLanguage, Wrap


class NumbaKernels(KernelLanguage):
    """What @numba.njit and @numba.cuda.jit make, and the kernels of CUDA's simulator. Launches are not
    asked: other functions that are compiled call the same object."""

    name, target = "numba", "python"
    natural = ("grid", "gridsize")
    package = "numba"
    pure = ("grid", "gridsize", "int32", "int64", "uint32", "uint64")

    def unwrap(self, given: Any) -> tuple[types.FunctionType, Wrap] | None:
        """The function of a dispatcher, or of a simulated kernel."""
        kind = type(given)
        if kind.__module__.partition(".")[0] not in ("numba", "numba_cuda"):
            return None
        function = getattr(given, "py_func", None) or getattr(given, "fn", None)
        if not isinstance(function, types.FunctionType):
            return None

        def wrap(made: types.FunctionType) -> Any:
            if kind.__name__ == "FakeCUDAKernel":
                return kind(made, given._device, given._fastmath, [*given.extensions], given._debug)
            options = dict(given.targetoptions)
            if "cuda" in kind.__module__:
                options.pop("nopython", None)
                return importlib.import_module("numba.cuda").jit(**options)(made)
            again = importlib.import_module("numba").jit(locals=given.locals, **options)(made)
            if type(given._cache).__name__ != "NullCache":
                again.enable_caching()
            for signature in given.signatures:  # that it was compiled for at once
                again.compile(signature)
            return again

        return function, wrap
