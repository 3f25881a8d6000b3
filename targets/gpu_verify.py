"""The kernels that verify a unit on a GPU, and the checker that runs them.

Each thread strides over its share of the index space, counts what it sees in registers, and adds
up at its end. Sizes stand in the kernels as numbers, so that the compiler divides by constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from lego_emit.emit.unit import Unit
from lego_emit.errors import DeviceError, InternalError
from lego_emit.ir.program import Function
from lego_emit.packages import numpy as np
from lego_emit.printers.c_family import HeaderPrinter
from lego_emit.run.devices import Marks, Progress, Tally, Targets, Trip, round_trips
from lego_emit.run.space import Space
from lego_emit.run.target import outputs_of
from lego_emit.targets.cpp import called
from lego_emit.targets.gpu import GpuCompiled, Kernels, Module, call_text, describe, ready

AT_ONCE = 2**32  # indices of one launch: short enough to be interrupted
NONE = 2**64 - 1

KERNELS = Kernels("gpu_verify.jinja")


class Text:
    """How the functions and index spaces of a unit are spelled in a kernel."""

    def __init__(self, unit: Unit):
        printer = cast(HeaderPrinter, unit.printer)
        self.types, self.suffixes, self.printer = printer.types, printer.suffixes, printer

    def T(self, function: Function) -> str:
        """The function's index type."""
        return self.types[function.index_type]

    def number(self, value: int, function: Function) -> str:
        """A number of the function's index type."""
        text = f"{value}{self.suffixes[function.index_type]}"
        return f"({text})" if value < 0 else text

    def counter(self, space: Space) -> str:
        """A type that counts the space: the narrower one is twice as fast."""
        return "unsigned" if space.total <= 2**31 else "unsigned long long"

    def axes(self, function: Function, space: Space, n: str, prefix: str) -> list[str]:
        """Statements that take number n apart into <prefix>0, <prefix>1 .., one for each axis."""
        T, N = self.T(function), self.counter(space)
        lines = [f"{N} {prefix}_rest = {n};"] if space.axes else []
        for k in reversed(range(len(space.axes))):
            axis = space.axes[k]
            low = f" + {self.number(axis.lo, function)}" if axis.lo else ""
            if k == 0:
                lines.append(f"const {T} {prefix}0 = static_cast<{T}>({prefix}_rest){low};")
            else:
                digit = f"static_cast<{T}>({prefix}_rest % {axis.count}u)"
                lines.append(f"const {T} {prefix}{k} = {digit}{low};")
                lines.append(f"{prefix}_rest /= {axis.count}u;")
        return lines

    def call(self, function: Function, space: Space, axes: Sequence[str], scope: str = "::") -> str:
        """A call at an index; the sizes stand in it as numbers."""
        values = dict(zip((a.name for a in space.axes), axes, strict=True))
        texts = [
            values.get(p.name) or self.number(space.fixed[p.name], function)
            for p in function.passed
        ]
        return called(function, self.printer, texts, scope)

    def results(self, function: Function, name: str) -> list[str]:
        """What stands for each result of a call whose value has this name."""
        return outputs_of(function, name)


def _at(text: Text, function: Function, space: Space) -> dict[str, Any]:
    """What a template sees of a call at number n of a space."""
    axes = [f"i{k}" for k in range(len(space.axes))]
    return {
        "T": text.T(function),
        "counter": text.counter(space),
        "axes": text.axes(function, space, "n", "i"),
        "call": text.call(function, space, axes),
        "results": text.results(function, "r"),
    }


def _round_trip(text: Text, name: str, trip: Trip) -> str:
    there, back = trip.there, trip.back
    at, T = _at(text, there, trip.space), text.T(back)
    ends = [[text.number(end, there) for end in pair] for pair in trip.ends]
    at["results"] = [(r, *pair) for r, pair in zip(at["results"], ends, strict=True)]
    places = [f"static_cast<{T}>(r{k})" for k in range(len(trip.target.axes))]
    starts = [f"i{k}" for k in range(len(trip.space.axes))]
    returned = {
        "T": T,
        "call": text.call(back, trip.target, places),
        "same": list(zip(text.results(back, "s"), starts, strict=True)),
    }
    masks = [text.number(v, there) for v in there.masked] if trip.masked else []
    return KERNELS("round_trip", name, at, returned, masks)


def verify_text(unit: Unit, spaces: Mapping[str, Space]) -> str:
    """A unit with the kernels that verify it."""
    text = Text(unit)
    source = call_text(unit) + KERNELS("opaque")
    if unit.is_pair:
        for k, trip in enumerate(round_trips(unit, spaces)):
            source += _round_trip(text, f"lego_round_trip_{k}", trip)
        return source
    for k, function in enumerate(unit.program.functions):
        space = spaces[function.name]
        at = _at(text, function, space)
        wide = "unsigned long long" if at["T"].startswith("unsigned") else "long long"
        source += KERNELS("extremes", f"lego_extremes_{k}", at, wide)
        source += KERNELS("marks", f"lego_marks_{k}", at)
        source += KERNELS("meets", f"lego_meets_{k}", at)
    return source + KERNELS("gap")


class GpuChecker:
    """Verifies one unit on a GPU (lego_emit.run.devices.Checker)."""

    def __init__(self, unit: Unit, device: str, spaces: Mapping[str, Space]):
        self.device = ready(device)
        self.what = describe(device)
        self.kernel_ms: float | None = 0.0
        self._positions = {f.name: k for k, f in enumerate(unit.program.functions)}
        self._compiled = GpuCompiled(unit, self.device, verify_text(unit, spaces))
        self._module: Module = self._compiled.library.module

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """The results at arrays of indices; of a function without parameters, one for each
        index."""
        given = arguments if function.params else []
        found = self._compiled[function.name](*given)
        values = found if isinstance(found, tuple) else (found,)
        if function.params:
            return values
        size = len(arguments[0]) if arguments else 1
        return tuple(np.full(size, v % 2**64, np.uint64).astype(np.int64) for v in values)

    def round_trip(self, trip: Trip, progress: Progress) -> Tally:
        """Make a round trip over the whole space, in kernels."""
        name = f"lego_round_trip_{self._positions[trip.there.name]}"
        found = self._over(name, trip.space, [], np.array([NONE, 0, 0], np.uint64), progress)
        first, bad, masked = (int(v) for v in found)
        return Tally(None if first == NONE else first, bad, masked)

    def extremes(self, space: Space, progress: Progress) -> list[tuple[int, int]]:
        """The least and the greatest of each result."""
        function = space.function
        name = f"lego_extremes_{self._positions[function.name]}"
        kind = np.dtype(np.uint64 if function.index_type.startswith("u") else np.int64)
        ends = [np.iinfo(kind).max, np.iinfo(kind).min] * len(function.outputs)
        found = self._over(name, space, [], np.array(ends, kind), progress)
        values = [int(v) for v in found]
        return list(zip(values[::2], values[1::2], strict=True))

    def marks(self, space: Space, targets: Targets, progress: Progress) -> Marks:
        """Mark the positions of all results in a bitmap on the device."""
        words = -(-targets.total // 32)
        what = f"the bitmap of {targets.total:,} positions"
        with self.device.active():
            self.device.check_room(4 * words, what)
            driver = self.device.driver
            bits = driver.mem_alloc(4 * words)
            try:
                driver.memset_d32(bits, 0, words)
                name = f"lego_marks_{self._positions[space.function.name]}"
                more = [*_radix(targets), bits]
                found = self._over(name, space, more, np.array([NONE, 0], np.uint64), progress)
                twice, again = (int(v) for v in found)
                distinct = space.total - again
                gap = None
                if distinct < targets.total:
                    gap = self._gap(targets, bits)
            finally:
                bits.free()
        return Marks(distinct, None if twice == NONE else twice, gap)

    def _gap(self, targets: Targets, bits: Any) -> int | None:
        found = self._found(np.array([NONE], np.uint64))
        self._launch("lego_gap", np.uint64(targets.total), bits, found)
        value = int(found.get()[0])
        return None if value == NONE else value

    def meets(self, space: Space, targets: Targets, position: int) -> list[int]:
        """The first two numbers whose results are at a position."""
        name = f"lego_meets_{self._positions[space.function.name]}"
        numbers: list[int] = []
        least = 0
        while len(numbers) < 2:
            more = [*_radix(targets), np.uint64(position), np.uint64(least)]
            start = np.array([NONE], np.uint64)
            first = int(self._over(name, space, more, start, lambda done, total: None)[0])
            if first == NONE:
                break
            numbers.append(first)
            least = first + 1
        return numbers

    def _over(
        self,
        name: str,
        space: Space,
        more: Sequence[Any],
        found: np.ndarray,
        progress: Progress,
    ) -> np.ndarray:
        """Launch a kernel over the whole space, a part at a time; what it found."""
        with self.device.active():
            there = self._found(found)
            for start in range(0, space.total, AT_ONCE):
                count = min(AT_ONCE, space.total - start)
                self._launch(name, np.uint64(start), np.uint64(count), *more, there)
                progress(start + count, space.total)
            return there.get()

    def _found(self, values: np.ndarray) -> Any:
        from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

        return gpuarray.to_gpu(values)

    def _launch(self, name: str, *arguments: Any) -> None:
        if self.kernel_ms is None:
            raise InternalError("a GPU checker counts its kernels' time")
        self.kernel_ms += self._module.launch(name, *arguments)


def _radix(targets: Targets) -> list[Any]:
    if max(targets.strides) >= 2**63:
        raise DeviceError(f"{targets.total:,} positions are too many for a bitmap")
    pairs = zip(targets.lows, targets.strides, strict=True)
    return [v for lo, stride in pairs for v in (np.int64(lo), np.uint64(stride))]
