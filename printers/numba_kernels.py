"""Numba's functions and kernels under lego_emit.jit."""

from __future__ import annotations

import importlib
import re
import types
from typing import Any

from lego_emit.emit.kernel_language import Ask, KernelLanguage, Wrap

# Numba has no math.isqrt.
ISQRT = '''
def _isqrt(n):
    """The integer square root, digit by digit."""
    root = 0
    for k in range(62, -1, -2):
        digit = root + (1 << k)
        root >>= 1
        if n >= digit:
            n -= digit
            root += 1 << k
    return root
'''


class NumbaKernels(KernelLanguage):
    """What @numba.njit and @numba.cuda.jit make, and the kernels of CUDA's simulator."""

    name, target = "numba", "python"
    natural = ("grid", "gridsize")
    package = "numba"
    # Two unsigned integers have an unsigned difference; literals are signed.
    narrow = 0, 2**63 - 1
    wide = "(1 * {})"
    pure = ("grid", "gridsize", "int32", "int64", "uint32", "uint64")

    def unwrap(self, given: Any) -> tuple[types.FunctionType, Wrap] | None:
        """The function of a dispatcher, or of a simulated kernel."""
        kind = type(given)
        if not _is_numba(kind):
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

    def helpers(self, text: str, kernel: Any) -> str:
        """The functions under the kernel's own decorator."""
        cuda = "cuda" in type(kernel).__module__
        first, said = (
            ("from numba import cuda", "cuda.jit(device=True)")
            if cuda
            else ("import numba", "numba.njit")
        )
        head, functions = text.split("\n\n\n", 1)
        if "math.isqrt(" in functions:
            functions = f"{ISQRT.strip()}\n\n\n{functions.replace('math.isqrt(', '_isqrt(')}"
        functions = re.sub(r"^def ", f"@{said}\ndef ", functions, flags=re.M)
        return "\n\n\n".join([head.replace("\n\nimport math", "") + f"\n\n{first}", functions])

    def asking(self, kernel: Any, ask: Ask) -> Any:
        """The kernel, in a class of its own: calls of Python ask, and those of compiled functions, which read the
        function within, do not. A device function is called by kernels alone."""
        kind = type(kernel)
        device = getattr(kernel, "_device", False) or getattr(kernel, "targetoptions", {}).get(
            "device"
        )
        if not ask or not _is_numba(kind) or device:
            return kernel
        name = "call" if hasattr(kind, "call") else "__call__"  # of a CUDA kernel with its grid
        launch = getattr(kind, name)

        def asked(own: Any, *given: Any, **named: Any) -> Any:
            if name == "call":
                ask(given[0], {}, 3)
            else:
                ask(given, named, 2)
            return launch(own, *given, **named)

        own = {name: asked, "__module__": kind.__module__, "_reduce_class": lambda own: kind}
        kernel.__class__ = types.new_class(
            kind.__name__, (kind,), {}, lambda made: made.update(own)
        )
        return kernel


def _is_numba(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("numba", "numba_cuda")
