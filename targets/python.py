"""Python: the interpreter that runs lego_emit runs the emitted modules, too."""

from __future__ import annotations

import platform
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function, Group
from lego_emit.run.target import Library, Target, Toolchain, call_arguments

if TYPE_CHECKING:
    import numpy as np


class PythonTarget(Target):
    """Python functions on integers, called for one index after the other."""

    name = "python"

    def find(self) -> Toolchain:
        """The interpreter that runs this program."""
        version = f"{platform.python_implementation()} {platform.python_version()}"
        return Toolchain(sys.executable, version)

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """The units' modules; a warning of the compiler is an error."""
        return PythonLibrary(units)


@contextmanager
def reported(what: str) -> Iterator[None]:
    """What emitted code raises, as a ToolchainError; a warning counts as an error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except Exception:
        raise ToolchainError(f"{what}:\n{traceback.format_exc(limit=-3)}".rstrip()) from None


class PythonLibrary:
    """The modules of the units, executed in this interpreter."""

    def __init__(self, units: Sequence[Unit]):
        self.modules: list[dict[str, Any]] = []
        self._printers = [unit.printer for unit in units]
        for k, unit in enumerate(units):
            module: dict[str, Any] = {"__name__": unit.program.name}
            with reported(f"target {unit.printer.name!r}: {unit.program.name} does not load"):
                file = f"unit_{k}{unit.printer.extension}"
                exec(compile(unit.source, file, "exec", dont_inherit=True), module)
            self.modules.append(module)

    def array_form(self, unit: int, function: Function) -> Callable[..., Any]:
        """The array form of a function of a unit."""
        return self.modules[unit][self._printers[unit].array_name(function.name)]

    def _called(self, unit: int, function: Function, name: str, count: int) -> Callable[..., Any]:
        """A function, or its array form, of so many integers: structs and arrays are made of them."""
        if not function.groups and function.receiver is None:
            return self.modules[unit][name]
        given = [f"lego_run_{k}" for k in range(count)]
        arguments = ", ".join(call_arguments(function, given, aggregate))
        if (receiver := function.receiver) is not None:
            held = ", ".join(call_arguments(function, given, aggregate, held=True))
            name = receiver.name if receiver.alone else f"{receiver.name}({held})"
            name = f"{name}.{receiver.method}" if receiver.method else name
        return eval(f"lambda {', '.join(given)}: {name}({arguments})", self.modules[unit])

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """A call for each index."""
        called = self._called(unit, function, function.name, len(function.params))
        kind = _type(function)
        columns = [a.view(kind).tolist() for a in inputs[: len(function.params)]]
        with reported(f"{function.name} fails"):
            rows = zip(*columns, strict=True) if columns else [()] * len(inputs[0])
            return _columns(function, [called(*row) for row in rows])

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        """The lists of the array form, flat."""
        with reported(f"{function.name} fails on arrays"):
            name = self._printers[unit].array_name(function.name)
            found = self._called(unit, function, name, len(scalars))(*scalars)
            for _ in function.axes[1:]:
                found = [element for part in found for element in part]
            return _columns(function, found)


def aggregate(group: Group, values: list[str]) -> str:
    """A struct or an array as an argument."""
    return f"{group.struct}({', '.join(values)},)"


def _columns(function: Function, results: list[Any]) -> list[np.ndarray]:
    """The results as one array for each output. Raises TypeError where one is no integer."""
    import numpy as np

    several = len(function.outputs) > 1 or function.aggregate is not None
    rows = results if several else [(r,) for r in results]
    if (whole := function.aggregate) is not None and whole.open:  # what is not written
        rows = [(*row, *[0] * (len(function.outputs) - len(row))) for row in rows]
    kind = bool if function.is_condition else int
    if wrong := [value for row in rows for value in row if type(value) is not kind]:
        raise TypeError(f"{wrong[0]!r} is not of the type {kind.__name__}")
    columns = zip(*rows, strict=True) if rows else [()] * len(function.outputs)
    return [np.array(column, _type(function)).view(np.int64) for column in columns]


def _type(function: Function) -> str:
    """What 64 bits of an argument or a result are."""
    return "uint64" if function.index_type == "uint64" else "int64"
