"""The kernels that verify a unit on a GPU, and the checker that runs them.

Each thread strides over its share of the index space, counts what it sees in registers, and adds
up at its end. Sizes stand in the kernels as numbers, so that the compiler divides by constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from lego_emit.check.verify import round_trips
from lego_emit.emit.unit import Unit
from lego_emit.errors import DeviceError, InternalError
from lego_emit.ir.program import Function
from lego_emit.printers.c_family import HeaderPrinter
from lego_emit.run.devices import Marks, Progress, Tally, Targets, Trip
from lego_emit.run.space import Space
from lego_emit.targets.gpu import GpuCompiled, Module, call_text, describe, ready

AT_ONCE = 2**32  # indices of one launch: short enough to be interrupted
NONE = 2**64 - 1

# What apply gave is hidden from the optimizer, or it would cancel inv against it: what runs is
# what was emitted.
OPAQUE = """
__device__ __forceinline__ int lego_opaque(int v) {
#ifdef __CUDA_ARCH__
  asm("" : "+r"(v));
#endif
  return v;
}

__device__ __forceinline__ unsigned lego_opaque(unsigned v) {
#ifdef __CUDA_ARCH__
  asm("" : "+r"(v));
#endif
  return v;
}

__device__ __forceinline__ long long lego_opaque(long long v) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(v));
#endif
  return v;
}

__device__ __forceinline__ unsigned long long lego_opaque(unsigned long long v) {
#ifdef __CUDA_ARCH__
  asm("" : "+l"(v));
#endif
  return v;
}
"""


class Text:
    """How the functions and index spaces of a unit are spelled in a kernel."""

    def __init__(self, unit: Unit):
        printer = cast(HeaderPrinter, unit.printer)
        self.types, self.suffixes = printer.types, printer.suffixes

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
        arguments = [
            values.get(name) or self.number(space.fixed[name], function) for name in space.names
        ]
        return f"{scope}{function.name}({', '.join(arguments)})"

    def results(self, function: Function, name: str) -> list[str]:
        """What stands for each result of a call whose value has this name."""
        if len(function.outputs) == 1:
            return [name]
        return [f"{name}.{output}" for output, _ in function.outputs]


def strided(counter: str, body: Sequence[str], indent: str = "    ") -> str:
    """A loop in which all threads share the numbers start .. start + count - 1, each called n."""
    lines = "\n".join(f"{indent}{line}" for line in body)
    return f"""  const {counter} step = gridDim.x * blockDim.x;
  const {counter} last = static_cast<{counter}>(start + count);
  for ({counter} n = static_cast<{counter}>(start) + blockIdx.x * blockDim.x + threadIdx.x;
       n < last; n += step) {{
{lines}
  }}"""


def round_trip_kernel(text: Text, name: str, trip: Trip) -> str:
    """found: the first number that fails, how many fail, how many are masked."""
    there, back = trip.there, trip.back
    T = text.T(there)
    starts = [f"i{k}" for k in range(len(trip.space.axes))]
    body = text.axes(there, trip.space, "n", "i")
    body.append(f"const auto r = {text.call(there, trip.space, starts)};")
    inside, hidden = [], []
    for k, (result, ends) in enumerate(zip(text.results(there, "r"), trip.ends, strict=True)):
        body.append(f"const {T} r{k} = lego_opaque({result});")
        low, most = (text.number(v, there) for v in ends)
        inside.append(f"r{k} >= {low} && r{k} <= {most}")
        hidden.append(f"r{k} == {text.number(trip.mask, there)}")
    body.append(f"bool good = {' && '.join(inside)};")
    body.append("if (good) {")
    places = [f"static_cast<{text.T(back)}>(r{k})" for k in range(len(trip.target.axes))]
    body.append(f"  const auto s = {text.call(back, trip.target, places)};")
    same = [
        f"{result} == static_cast<{text.T(back)}>({start})"
        for result, start in zip(text.results(back, "s"), starts, strict=True)
    ]
    body.append(f"  good = {' && '.join(same)};")
    body.append("}")
    if trip.masked:
        body.append(f"const bool hidden = {' && '.join(hidden)};")
        body.append("if (!good && hidden) ++masked;")
        body.append("if (!good && !hidden) {")
    else:
        body.append("if (!good) {")
    body += ["  if (n < first) first = n;", "  ++bad;", "}"]
    return f"""
extern "C" __global__ void {name}(
    unsigned long long start, unsigned long long count, unsigned long long *found) {{
  unsigned long long first = ~0ull, bad = 0, masked = 0;
{strided(text.counter(trip.space), body)}
  if (bad != 0) {{
    atomicMin(found, first);
    atomicAdd(found + 1, bad);
  }}
  if (masked != 0) atomicAdd(found + 2, masked);
}}
"""


def extremes_kernel(text: Text, name: str, function: Function, space: Space) -> str:
    """found: the least and the greatest of each result."""
    T = text.T(function)
    wide = "unsigned long long" if T.startswith("unsigned") else "long long"
    axes = [f"i{k}" for k in range(len(space.axes))]
    body = text.axes(function, space, "n", "i")
    body.append(f"const auto r = {text.call(function, space, axes)};")
    before, after = [], []
    for k, result in enumerate(text.results(function, "r")):
        before.append(f"  {wide} lo{k} = found[{2 * k}], hi{k} = found[{2 * k + 1}];")
        body.append(f"if ({result} < lo{k}) lo{k} = {result};")
        body.append(f"if ({result} > hi{k}) hi{k} = {result};")
        after.append(f"  if (lo{k} < found[{2 * k}]) atomicMin(found + {2 * k}, lo{k});")
        after.append(f"  if (hi{k} > found[{2 * k + 1}]) atomicMax(found + {2 * k + 1}, hi{k});")
    lines = "\n".join(before)
    ends = "\n".join(after)
    return f"""
extern "C" __global__ void {name}(
    unsigned long long start, unsigned long long count, {wide} *found) {{
{lines}
{strided(text.counter(space), body)}
{ends}
}}
"""


def _position(text: Text, function: Function, space: Space) -> tuple[list[str], str]:
    """Statements that compute the position of number n, and the parameters that they need."""
    axes = [f"i{k}" for k in range(len(space.axes))]
    body = text.axes(function, space, "n", "i")
    body.append(f"const auto r = {text.call(function, space, axes)};")
    terms, parameters = [], []
    for k, result in enumerate(text.results(function, "r")):
        parameters.append(f"long long low{k}, unsigned long long stride{k}")
        terms.append(
            f"stride{k} * static_cast<unsigned long long>(static_cast<long long>({result}) - low{k})"
        )
    body.append(f"const unsigned long long p = {' + '.join(terms)};")
    return body, ", ".join(parameters)


def marks_kernel(text: Text, name: str, function: Function, space: Space) -> str:
    """Sets the bit of each position; found: the least position met twice, how often one was."""
    body, parameters = _position(text, function, space)
    body += [
        "const unsigned bit = 1u << (p & 31);",
        "if ((atomicOr(bits + (p >> 5), bit) & bit) != 0) {",
        "  if (p < twice) twice = p;",
        "  ++again;",
        "}",
    ]
    return f"""
extern "C" __global__ void {name}(
    unsigned long long start, unsigned long long count, {parameters}, unsigned *bits,
    unsigned long long *found) {{
  unsigned long long twice = ~0ull, again = 0;
{strided(text.counter(space), body)}
  if (again != 0) {{
    atomicMin(found, twice);
    atomicAdd(found + 1, again);
  }}
}}
"""


def meets_kernel(text: Text, name: str, function: Function, space: Space) -> str:
    """found: the first number from `least` on whose position is `wanted`."""
    body, parameters = _position(text, function, space)
    body.append("if (p == wanted && n >= least && n < first) first = n;")
    return f"""
extern "C" __global__ void {name}(
    unsigned long long start, unsigned long long count, {parameters}, unsigned long long wanted,
    unsigned long long least, unsigned long long *found) {{
  unsigned long long first = ~0ull;
{strided(text.counter(space), body)}
  if (first != ~0ull) atomicMin(found, first);
}}
"""


GAP = """
// found: the first of the count positions whose bit is not set.
extern "C" __global__ void lego_gap(
    unsigned long long count, const unsigned *bits, unsigned long long *found) {
  const unsigned long long step = gridDim.x * blockDim.x, words = (count + 31) / 32;
  for (unsigned long long w = blockIdx.x * blockDim.x + threadIdx.x; w < words; w += step) {
    if (bits[w] == ~0u) continue;
    unsigned k = 0;
    while ((bits[w] >> k & 1u) != 0) ++k;
    if (32 * w + k < count) {
      atomicMin(found, 32 * w + k);
      break;
    }
  }
}
"""


def verify_text(unit: Unit, spaces: Mapping[str, Space]) -> str:
    """A unit with the kernels that verify it."""
    text = Text(unit)
    source = call_text(unit) + OPAQUE
    if unit.is_pair:
        for k, trip in enumerate(round_trips(unit, spaces)):
            source += round_trip_kernel(text, f"lego_round_trip_{k}", trip)
        return source
    for k, function in enumerate(unit.functions):
        space = spaces[function.name]
        source += extremes_kernel(text, f"lego_extremes_{k}", function, space)
        source += marks_kernel(text, f"lego_marks_{k}", function, space)
        source += meets_kernel(text, f"lego_meets_{k}", function, space)
    return source + GAP


class GpuChecker:
    """Verifies one unit on a GPU (lego_emit.run.devices.Checker)."""

    def __init__(self, unit: Unit, device: str, spaces: Mapping[str, Space]):
        self.device = ready(device)
        self.what = describe(device)
        self.kernel_ms: float | None = 0.0
        self._positions = {f.name: k for k, f in enumerate(unit.functions)}
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
        return tuple(np.full(size, v, np.int64) for v in values)

    def round_trip(self, trip: Trip, progress: Progress) -> Tally:
        """Make a round trip over the whole space, in kernels."""
        name = f"lego_round_trip_{self._positions[trip.there.name]}"
        found = self._over(name, trip.space, [], np.array([NONE, 0, 0], np.uint64), progress)
        first, bad, masked = (int(v) for v in found)
        return Tally(None if first == NONE else first, bad, masked)

    def extremes(
        self, function: Function, space: Space, progress: Progress
    ) -> list[tuple[int, int]]:
        """The least and the greatest of each result."""
        name = f"lego_extremes_{self._positions[function.name]}"
        kind = np.dtype(np.uint64 if function.index_type.startswith("u") else np.int64)
        ends = [np.iinfo(kind).max, np.iinfo(kind).min] * len(function.outputs)
        found = self._over(name, space, [], np.array(ends, kind), progress)
        values = [int(v) for v in found]
        return list(zip(values[::2], values[1::2], strict=True))

    def marks(
        self, function: Function, space: Space, targets: Targets, progress: Progress
    ) -> Marks:
        """Mark the positions of all results in a bitmap on the device."""
        words = -(-targets.total // 32)
        what = f"the bitmap of {targets.total:,} positions"
        with self.device.active():
            self.device.check_room(4 * words, what)
            driver = self.device.driver
            bits = driver.mem_alloc(4 * words)
            try:
                driver.memset_d32(bits, 0, words)
                name = f"lego_marks_{self._positions[function.name]}"
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

    def meets(self, function: Function, space: Space, targets: Targets, position: int) -> list[int]:
        """The first two numbers whose results are at a position."""
        name = f"lego_meets_{self._positions[function.name]}"
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
