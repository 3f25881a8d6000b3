"""Plain functions under lego_emit.jit: on integers, and on NumPy's arrays."""

import functools
import types
from typing import Any

from lego_emit.emit.kernel_language import Ask, KernelLanguage


class PythonKernels(KernelLanguage):
    """Plain functions, called with integers."""

    name = target = "python"

    def asking(self, kernel: types.FunctionType, ask: Ask) -> types.FunctionType:
        """A function around it."""

        @functools.wraps(kernel)
        def called(*arguments: Any, **named: Any) -> Any:
            ask(arguments, named, 2)
            return kernel(*arguments, **named)

        return called  # type: ignore[return-value]


class NumpyKernels(PythonKernels):
    """Plain functions, called with NumPy's arrays."""

    name = target = "numpy"
    aliases = {"np": "numpy"}
    imports = True
    package = "numpy"
    narrow = 0, 2**7 - 1
    wide = "np.asarray({}, np.int64)"
    pure = ("arange", "minimum", "maximum", "where", "abs")
