"""NumPy: the emitted modules on whole arrays of the index type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function
from lego_emit.run.target import Library, Target, Toolchain
from lego_emit.targets.python import PythonLibrary, reported

if TYPE_CHECKING:
    import numpy as np


class NumpyTarget(Target):
    """NumPy functions on arrays, called once for all indices; Numba and JAX run the same text."""

    name = "numpy"

    def find(self) -> Toolchain:
        """The NumPy that this interpreter imports."""
        try:
            import numpy as np
        except ImportError:
            raise ToolchainError("target 'numpy' needs NumPy: pip install numpy") from None
        return Toolchain(np.__file__, f"NumPy {np.__version__}")

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """The modules of the units, executed in this interpreter."""
        return _NumpyLibrary(units)

    def copy_runner(self, unit: Unit, threads: int = 1, is_timed: bool = False) -> Any:
        """What runs a copy."""
        from lego_emit.targets.copy_scripts import NumpyCopies

        return NumpyCopies(unit)


class _NumpyLibrary(PythonLibrary):
    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        if function.is_condition:  # not of arrays
            return super().call(unit, function, inputs)
        given = [a.astype(function.index_type) for a in inputs[: len(function.params)]]
        with reported(f"{function.name} fails"):
            found = self.modules[unit][function.name](*given)
            return _arrays(function, found, inputs[0].shape)

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        import numpy as np

        with reported(f"{function.name} fails on arrays"):
            found = self.array_form(unit, function)(*scalars)
            outputs = found if len(function.outputs) > 1 else [found]
            shapes = {np.shape(a) for a in outputs}
            if len(shapes) > 1 or any(len(shape) != len(function.axes) for shape in shapes):
                raise TypeError(f"arrays of the shapes {shapes}")
            flat = [np.reshape(a, -1) for a in outputs]
            return _arrays(function, flat if flat[1:] else flat[0], (count,))


def _arrays(function: Function, found: Any, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The results as int64 arrays of a shape. Raises TypeError where one is not of integers."""
    import numpy as np

    outputs = [np.asarray(a) for a in (found if len(function.outputs) > 1 else [found])]
    if wrong := [a.dtype for a in outputs if a.dtype.kind != "i"]:
        raise TypeError(f"an array of {wrong[0]}")
    return [np.array(np.broadcast_to(a, shape), np.int64) for a in outputs]
