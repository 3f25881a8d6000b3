"""Plain functions under lego_emit.jit: on integers, and on NumPy's arrays."""

from lego_emit.emit.kernel_language import KernelLanguage


class PythonKernels(KernelLanguage):
    """Plain functions, called with integers."""

    name = target = "python"
    calls = True


class NumpyKernels(KernelLanguage):
    """Plain functions, called with NumPy's arrays."""

    name = target = "numpy"
    aliases = {"np": "numpy"}
    calls = True
