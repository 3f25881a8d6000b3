"""The kernels that time a unit on a GPU, and the timer that runs them.

The cost of one index: every thread draws random indices in registers, calls the function on them
and folds the results into one number, which it stores at its end, so that nothing can be left out;
the same loop with no function in it is taken off. Gather and scatter run through the layout over
arrays that no cache holds, and every element of what they wrote is checked.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np

from lego_emit.emit.unit import Unit
from lego_emit.errors import DeviceError
from lego_emit.ir.program import Function
from lego_emit.measure.nest import body
from lego_emit.measure.timing import (
    BY_HAND,
    LOOP,
    NAIVE,
    OURS,
    TABLE,
    IndexCost,
    Quartiles,
    Timing,
    Traffic,
)
from lego_emit.run.devices import Progress, Rivals
from lego_emit.run.space import Space
from lego_emit.targets.gpu import THREADS, Device, Module, describe, ready
from lego_emit.targets.gpu_verify import OPAQUE, Text
from lego_emit.targets.timing_cpp import C

ROUNDS = 512  # indices of one thread
BLOCKS = 64  # for each multiprocessor: many short ones, so that the last wave costs little
WIDE = 4  # elements that a thread has in flight
POISON = 0xFFFFFFFF  # a float32 that is no number
PIECE = 2**31  # bytes of one copy: PyCUDA takes 32 bits
TABLE_BYTES = 2**33  # a longer table is not made

COMMON = """
// A random float32 in 1 .. 2 for each position.
__device__ __forceinline__ unsigned lego_random(unsigned long long n) {
  unsigned x = static_cast<unsigned>(n) * 2654435769u + static_cast<unsigned>(n >> 32);
  x ^= x >> 16;
  x *= 2246822519u;
  x ^= x >> 13;
  x *= 3266489917u;
  return 0x3f800000u | (x ^ x >> 16) >> 9;
}

extern "C" __global__ void lego_fill_random(unsigned long long count, unsigned *to) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long n = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; n < count; n += step) to[n] = lego_random(n);
}

extern "C" __global__ void lego_copy(
    unsigned long long count, const float4 *__restrict__ from, float4 *__restrict__ to) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long n = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; n < count; n += step) to[n] = from[n];
}
"""


@dataclass(frozen=True)
class _Side:
    """One function of the unit and everything that its kernels are named and made from."""

    name: str  # apply, inv, or the index function's own
    function: Function
    space: Space
    results: Space | None  # what a table's entry is taken apart into


def _sides(unit: Unit, rivals: Rivals) -> list[_Side]:
    functions = unit.functions
    if not unit.is_pair:
        (function,) = functions
        return [_Side("apply", function, rivals.spaces[function.name], None)]
    apply, inv = functions
    a, b = rivals.spaces[apply.name], rivals.spaces[inv.name]
    return [_Side("apply", apply, a, b), _Side("inv", inv, b, a)]


def timing_text(unit: Unit, rivals: Rivals, table: bool = True) -> str:
    """A unit with the kernels that time it and its rivals; table: with a look-up table."""
    text = Text(unit)
    sides = _sides(unit, rivals)
    source = unit.source + OPAQUE + COMMON
    for way, number in _numbered(rivals):
        source += f"\nnamespace lego_way_{number} {{\n"
        for side in sides:
            function = way.apply if side.name == "apply" else way.inv
            source += _rival(side, function, _rival_type(text, side, way.name))
        source += "}\n"
    for side in sides:
        for key in _ways(rivals, side, table):
            source += _caller(text, side, key)
            source += _loop_kernel(text, side, key)
            source += _one_kernel(text, side, key)
        source += _loop_kernel(text, side, "none")
        if table:
            source += _table_kernel(text, side, rivals)
    for key in _ways(rivals, sides[0], table):
        source += _access_kernels(text, sides[0], key, _turns(sides[0], rivals))
    source += _check_kernels(text, sides[0], _judge(rivals))
    return source


def _numbered(rivals: Rivals) -> list[tuple[Any, int]]:
    return [(way, k) for k, way in enumerate(rivals.ways)]


def _ways(rivals: Rivals, side: _Side, table: bool) -> dict[str, str]:
    """Kernel name -> the way's name."""
    found = {"ours": OURS}
    for way, k in _numbered(rivals):
        if (way.apply if side.name == "apply" else way.inv) is not None:
            found[f"way_{k}"] = way.name
    return {**found, "table": TABLE} if table else found


def _judge(rivals: Rivals) -> str:
    """The way that the others' results are held against: the least clever one."""
    names = {way.name: f"way_{k}" for way, k in _numbered(rivals)}
    return names.get(NAIVE) or next(iter(names.values()), "ours")


def _rival_type(text: Text, side: _Side, way: str) -> str:
    """By hand one takes the narrowest type that holds every index and position."""
    most = max(side.space.total, side.results.total if side.results else 2**31 + 1)
    narrow = way == BY_HAND and most <= 2**31
    return text.types["int32"] if narrow else text.T(side.function)


def _rival(side: _Side, function: Callable[..., Any] | None, T: str) -> str:
    if function is None:
        return ""
    names = [f"i{k}" for k in range(len(side.space.axes))]
    outputs = side.function.outputs
    kind = T if len(outputs) == 1 else f"{side.name}_result"
    text_of = ""
    if len(outputs) > 1:
        members = " ".join(f"{T} {name};" for name, _ in outputs)
        text_of += f"struct {kind} {{ {members} }};\n"
    parameters = ", ".join(f"[[maybe_unused]] {T} {n}" for n in names)
    lines = "\n".join(body(function, names, C, T))
    return f"{text_of}__device__ __forceinline__ {kind} {side.name}({parameters}) {{\n{lines}\n}}\n"


def _entry(side: _Side) -> str:
    """The type of a table's entry: narrow where it holds every entry and every number of one."""
    if side.results is None:  # nothing says how far they go but their type
        return "unsigned" if "32" in side.function.index_type else "unsigned long long"
    narrow = max(side.results.total, side.space.total) <= 2**31
    return "unsigned" if narrow else "unsigned long long"


def _caller(text: Text, side: _Side, key: str) -> str:
    """lego_call_<side>_<way>(index.., table): one call, in one form for all ways."""
    T = text.T(side.function)
    names = [f"i{k}" for k in range(len(side.space.axes))]
    outputs = side.function.outputs
    parameters = ", ".join([*(f"{T} {n}" for n in names), f"const {_entry(side)} *table"])
    head = f"__device__ __forceinline__ auto lego_{side.name}_{key}({parameters}) {{"
    if key == "ours":
        call = text.call(side.function, side.space, names)
        return f"\n{head}\n  (void)table;\n  return {call};\n}}\n"
    if key.startswith("way_"):
        # By hand is narrower where ours is not: its parameters say which type they take.
        call = f"lego_{key}::{side.name}({', '.join(names)})"
        return f"\n{head}\n  (void)table;\n  return {call};\n}}\n"
    number = _row_major(text, side.function, side.space, names, _entry(side))
    lines = [f"const {_entry(side)} entry = table[{number}];"]
    if len(outputs) == 1:
        low = text.number(side.results.axes[0].lo, side.function) if side.results else "0"
        lines.append(f"return static_cast<{T}>(static_cast<{T}>(entry) + {low});")
    else:
        assert side.results is not None
        members = " ".join(f"{T} {name};" for name, _ in outputs)
        head = f"struct lego_{side.name}_entry {{ {members} }};\n\n{head}"
        lines += _digits(text, side.function, side.results, "entry", _entry(side))
        fields = ", ".join(f"r{k}" for k in range(len(outputs)))
        lines.append(f"return lego_{side.name}_entry{{{fields}}};")
    return "\n".join(["", head, *(f"  {line}" for line in lines), "}", ""])


def _digits(text: Text, function: Function, space: Space, n: str, counter: str) -> list[str]:
    T = text.T(function)
    lines = [f"{counter} rest = {n};"]
    for k in reversed(range(len(space.axes))):
        axis = space.axes[k]
        digit = f"rest % {axis.count}u" if k else "rest"
        low = f" + {text.number(axis.lo, function)}" if axis.lo else ""
        lines.append(f"const {T} r{k} = static_cast<{T}>({digit}){low};")
        if k:
            lines.append(f"rest /= {axis.count}u;")
    return lines


def _row_major(
    text: Text, function: Function, space: Space, names: Sequence[str], counter: str
) -> str:
    """The number of an index."""
    number = ""
    for axis, name in zip(space.axes, names, strict=True):
        digit = f"static_cast<{counter}>({name}{f' - {axis.lo}' if axis.lo else ''})"
        number = f"({number}) * {axis.count}u + {digit}" if number else digit
    return number or "0"


def _draw(text: Text, side: _Side) -> list[str]:
    """Statements that draw a random index into i0, i1 ..."""
    T = text.T(side.function)
    lines = ["x = x * 1664525u + 1013904223u;"]
    for k, axis in enumerate(side.space.axes):
        spun = "x" if k == 0 else f"x * {(2654435769 + 2 * k * 40503) % 2**32 | 1}u"
        if axis.count <= 2**32 - 1:
            value = f"__umulhi({spun}, {axis.count}u)"
        else:
            wide = f"static_cast<unsigned long long>({spun}) << 32 | x * 747796405u"
            value = f"__umul64hi({wide}, {axis.count}ull)"
        low = f" + {text.number(axis.lo, side.function)}" if axis.lo else ""
        lines.append(f"const {T} i{k} = lego_opaque(static_cast<{T}>({value}){low});")
    return lines


def _loop_kernel(text: Text, side: _Side, key: str) -> str:
    """Each thread folds the results at `rounds` random indices into one number."""
    names = [f"i{k}" for k in range(len(side.space.axes))]
    lines = _draw(text, side)
    if key == "none":
        parts = names
    else:
        lines.append(f"const auto r = lego_{side.name}_{key}({', '.join([*names, 'table'])});")
        parts = text.results(side.function, "r")
    wide = "unsigned long long" if "64" in side.function.index_type else "unsigned"
    for k, part in enumerate(parts):
        lines.append(f"sum {'+=' if k % 2 else '^='} static_cast<{wide}>({part});")
    inner = "\n".join(f"    {line}" for line in lines)
    return f"""
extern "C" __global__ void lego_loop_{side.name}_{key}(
    unsigned rounds, unsigned seed, const {_entry(side)} *table, unsigned long long *sums) {{
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = (thread ^ seed) * 2246822519u;
  {wide} sum = 0;
#pragma unroll 4
  for (unsigned k = 0; k < rounds; ++k) {{
{inner}
  }}
  sums[thread] = sum;
}}
"""


def _one_kernel(text: Text, side: _Side, key: str) -> str:
    """One call, to count its instructions and registers."""
    T = text.T(side.function)
    count = len(side.space.axes)
    loads = ", ".join([*(f"in[{k}]" for k in range(count)), "table"])
    stores = "\n".join(
        f"  out[{k}] = {part};" for k, part in enumerate(text.results(side.function, "r"))
    )
    return f"""
extern "C" __global__ void lego_one_{side.name}_{key}(
    const {T} *in, const {_entry(side)} *table, {T} *out) {{
  const auto r = lego_{side.name}_{key}({loads});
{stores}
}}
"""


def _table_kernel(text: Text, side: _Side, rivals: Rivals) -> str:
    """Makes a look-up table from one of the ways: the number of the result of each index."""
    lines = text.axes(side.function, side.space, "n", "i")
    names = [f"i{k}" for k in range(len(side.space.axes))]
    key = _judge(rivals)
    if key not in _ways(rivals, side, False):
        key = "ours"
    lines.append(f"const auto r = lego_{side.name}_{key}({', '.join([*names, 'nullptr'])});")
    parts = text.results(side.function, "r")
    if side.results is None:
        number = f"static_cast<{_entry(side)}>({parts[0]})"
    else:
        number = _row_major(text, side.function, side.results, parts, _entry(side))
    lines.append(f"table[n] = {number};")
    inner = "\n".join(f"    {line}" for line in lines)
    return f"""
extern "C" __global__ void lego_table_{side.name}(
    unsigned long long count, {_entry(side)} *table) {{
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long n = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; n < count; n += step) {{
{inner}
  }}
}}
"""


def _at(text: Text, side: _Side, key: str, counter: str, turns: int) -> str:
    """lego_at_<way>(n, table): where element n lies; a small layout is repeated."""
    low = side.results.axes[0].lo if side.results else 0
    lines = [f"const {counter} turn = 0, inside = n;"]
    if turns > 1:
        lines = [
            f"const {counter} turn = n / {side.space.total}u * {side.space.total}u;",
            f"const {counter} inside = n - turn;",
        ]
    if key == "table":
        # In row-major order the table is read as it lies.
        lines.append("return turn + table[inside];")
    else:
        lines += text.axes(side.function, side.space, f"static_cast<{counter}>(inside)", "i")
        names = [f"i{k}" for k in range(len(side.space.axes))]
        lines.append(f"const auto r = lego_{side.name}_{key}({', '.join([*names, 'table'])});")
        shift = f" - {low}" if low else ""
        lines.append(f"return turn + static_cast<{counter}>(r{shift});")
    inner = "\n".join(f"  {line}" for line in lines)
    return f"""
__device__ __forceinline__ {counter} lego_at_{key}({counter} n, const {_entry(side)} *table) {{
  (void)table;
{inner}
}}
"""


def _turns(side: _Side, rivals: Rivals) -> int:
    """How often the layout is repeated over the arrays."""
    turns = max(1, -(-rivals.bytes // 4 // side.space.total))
    if _counter(side) == "unsigned":
        turns = min(turns, 2**31 // side.space.total)
    return turns


def _access_kernels(text: Text, side: _Side, key: str, turns: int) -> str:
    """to[n] = from[at(n)], and to[at(n)] = from[n]; loads first, so that several are under way."""
    made = ""
    for kind, load, store in (
        ("gather", "from[lego_at_{0}(m, table)]", "to[m]"),
        ("scatter", "from[m]", "to[lego_at_{0}(m, table)]"),
    ):
        made += f"""
extern "C" __global__ void lego_{kind}_{key}(
    COUNTER count, const float *__restrict__ from, float *__restrict__ to,
    const {_entry(side)} *__restrict__ table) {{
  const COUNTER step = gridDim.x * blockDim.x;
  for (COUNTER n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += {WIDE} * step) {{
    float held[{WIDE}];
#pragma unroll
    for (unsigned k = 0; k < {WIDE}; ++k) {{
      const COUNTER m = n + k * step;
      if (m < count) held[k] = {load.format(key)};
    }}
#pragma unroll
    for (unsigned k = 0; k < {WIDE}; ++k) {{
      const COUNTER m = n + k * step;
      if (m < count) {store.format(key)} = held[k];
    }}
  }}
}}
"""
    counter = _counter(side)
    return _at(text, side, key, counter, turns) + made.replace("COUNTER", counter)


def _counter(side: _Side) -> str:
    return "unsigned" if side.space.total <= 2**31 else "unsigned long long"


def _check_kernels(text: Text, side: _Side, judge: str) -> str:
    """Counts the elements that are not where the judge says."""
    counter = _counter(side)
    made = ""
    for kind, test in (
        ("gather", "to[n] != lego_random(lego_at_{0}(n, nullptr))"),
        ("scatter", "to[lego_at_{0}(n, nullptr)] != lego_random(n)"),
    ):
        made += f"""
extern "C" __global__ void lego_check_{kind}(
    {counter} count, const unsigned *to, unsigned long long *wrong) {{
  const {counter} step = gridDim.x * blockDim.x;
  unsigned long long bad = 0;
  for ({counter} n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step) {{
    if ({test.format(judge)}) ++bad;
  }}
  if (bad != 0) atomicAdd(wrong, bad);
}}
"""
    return made


# -- running -------------------------------------------------------------------------------------


class GpuTimer:
    """Times one unit on a GPU (lego_emit.run.devices.Timer)."""

    def __init__(self, unit: Unit, device: str, rivals: Rivals):
        self.unit, self.rivals = unit, rivals
        self.device: Device = ready(device)
        self.what, self.on = describe(device), device
        self.sides = _sides(unit, rivals)
        size = 4 if _entry(self.sides[0]) == "unsigned" else 8
        self.table = all(side.space.total * size <= TABLE_BYTES for side in self.sides)
        text = timing_text(unit, rivals, self.table)
        self.module = Module(self.device, text, f"{unit.program.name}.cuh")
        self.text = text

    def run(self, progress: Progress) -> Timing:
        """Time all ways in turn. Raises DeviceError where they give different indices."""
        ways = [len(_ways(self.rivals, side, self.table)) for side in self.sides]
        steps = sum(count + 1 + self.rivals.repeat for count in ways)
        if self._permutes:
            steps += 1 + 2 * ways[0] + self.rivals.repeat
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            progress(min(done, steps), steps)

        counts = instructions(self.device, self.text)
        notes = [] if counts else ["no cuobjdump and no nvdisasm: instructions are not counted"]
        if not self.table:
            notes.append("the look-up table would be too long and is left out")
        costs: list[IndexCost] = []
        loops: dict[str, float] = {}
        with self.device.active():
            for side in self.sides:
                found, alone = self._costs(side, counts, step)
                costs += found
                loops[side.name] = alone
            # Another of a layout's functions would gather as this one does.
            traffic, elements, copy = self._traffic(step)
        return Timing(
            self.unit.program.name,
            self.unit.printer.name,
            self.on,
            self.what,
            self.sides[0].space.total,
            self.rivals.repeat,
            tuple(costs),
            tuple(traffic),
            elements,
            copy,
            loops,
            tuple(notes),
        )

    @property
    def _permutes(self) -> bool:
        """Whether the layout is a permutation of an array: neither masked nor a mere index."""
        side = self.sides[0]
        return side.results is not None and side.results.total == side.space.total

    def _launch(self, name: str, *arguments: Any) -> float:
        return self.module.launch(name, *arguments, grid=BLOCKS * self.device.processors)

    def _table(self, side: _Side, keep: ExitStack) -> Any:
        """A look-up table on the device; a few bytes where there is none."""
        driver = self.device.driver
        size = 4 if _entry(side) == "unsigned" else 8
        count = side.space.total if self.table else 1
        self.device.check_room(count * size, f"a look-up table of {count:,} entries")
        table = driver.mem_alloc(count * size)
        keep.callback(table.free)
        if self.table:
            self._launch(f"lego_table_{side.name}", np.uint64(count), table)
        return table

    def _costs(
        self, side: _Side, counts: Mapping[str, int], step: Callable[[], None]
    ) -> tuple[list[IndexCost], float]:
        from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

        threads = BLOCKS * self.device.processors * THREADS
        indices = threads * ROUNDS
        ways = {"none": LOOP, **_ways(self.rivals, side, self.table)}
        samples: dict[str, list[float]] = {key: [] for key in ways}
        with ExitStack() as keep:
            table = self._table(side, keep)
            sums = {key: gpuarray.empty((threads,), np.uint64) for key in ways}

            def once(key: str, seed: int) -> float:
                return self._launch(
                    f"lego_loop_{side.name}_{key}",
                    np.uint32(ROUNDS),
                    np.uint32(seed),
                    table,
                    sums[key],
                )

            for key in ways:  # warm up, and see that all ways agree
                once(key, 1)
                step()
            wanted = sums["ours"].get()
            for key, name in ways.items():
                if key != "none" and not (sums[key].get() == wanted).all():
                    raise DeviceError(
                        f"{self.unit.program.name}: {side.name} by the way {name!r} gives other "
                        f"indices than ours; verify both"
                    )
            for k in range(self.rivals.repeat):
                for key in ways:
                    samples[key].append(once(key, k) * 1e6 / indices)
                step()
        alone = Quartiles.of(samples["none"]).median
        found = []
        for key, name in ways.items():
            if key == "none":
                continue
            kernel = f"lego_one_{side.name}_{key}"
            found.append(
                IndexCost(
                    side.name,
                    name,
                    Quartiles.of(samples[key]).less(alone),
                    int(self.module.function(kernel).num_regs),
                    counts.get(kernel),
                )
            )
        return found, alone

    def _traffic(self, step: Callable[[], None]) -> tuple[list[Traffic], int, dict[str, float]]:
        driver, side = self.device.driver, self.sides[0]
        if not self._permutes:
            return [], 0, {}
        kind = np.uint32 if _counter(side) == "unsigned" else np.uint64
        elements = _turns(side, self.rivals) * side.space.total
        ways = _ways(self.rivals, side, self.table)
        with ExitStack() as keep:
            self.device.check_room(8 * elements, f"two arrays of {elements:,} float32")
            source, to = driver.mem_alloc(4 * elements), driver.mem_alloc(4 * elements)
            keep.callback(source.free)
            keep.callback(to.free)
            wrong = driver.mem_alloc(8)
            keep.callback(wrong.free)
            table = self._table(side, keep)
            self._launch("lego_fill_random", np.uint64(elements), source)
            copy = self._copies(source, to, elements)
            step()
            best = max(copy.values())
            samples: dict[tuple[str, str], list[float]] = {}
            for access in ("gather", "scatter"):
                for key, name in ways.items():
                    driver.memset_d32(to, POISON, elements)
                    self._launch(f"lego_{access}_{key}", kind(elements), source, to, table)
                    driver.memset_d32(wrong, 0, 2)
                    self._launch(f"lego_check_{access}", kind(elements), to, wrong)
                    bad = self._read(wrong)
                    if bad:
                        raise DeviceError(
                            f"{self.unit.program.name}: the {access} by the way {name!r} puts "
                            f"{bad:,} of {elements:,} elements wrong; verify the unit"
                        )
                    step()
            for _ in range(self.rivals.repeat):
                for access in ("gather", "scatter"):
                    for key in ways:
                        ms = self._launch(f"lego_{access}_{key}", kind(elements), source, to, table)
                        rate = 8 * elements / ms / 1e6
                        samples.setdefault((access, key), []).append(rate)
                step()
        found = []
        for (access, key), rates in samples.items():
            rate = Quartiles.of(rates)
            found.append(Traffic(access, ways[key], rate, rate.median / best))
        return found, elements, copy

    def _copies(self, source: Any, to: Any, elements: int) -> dict[str, float]:
        """GB/s, read and written, of the device's own copy and of a kernel of float4."""
        driver = self.device.driver

        def memcpy() -> float:
            before, after = driver.Event(), driver.Event()
            before.record()
            for start in range(0, 4 * elements, PIECE):
                size = min(PIECE, 4 * elements - start)
                driver.memcpy_dtod(int(to) + start, int(source) + start, size)
            after.record()
            after.synchronize()
            return before.time_till(after)

        def kernel() -> float:
            return self._launch("lego_copy", np.uint64(elements // 4), source, to)

        found = {}
        for name, run in (("memcpy", memcpy), ("float4 kernel", kernel)):
            run()
            times = [run() for _ in range(self.rivals.repeat)]
            found[name] = 8 * elements / Quartiles.of(times).median / 1e6
        return found

    def _read(self, pointer: Any) -> int:
        value = np.zeros(1, np.uint64)
        self.device.driver.memcpy_dtoh(value, pointer)
        return int(value[0])


# -- instructions --------------------------------------------------------------------------------

_SECTION = re.compile(r"Function : (\S+)|\.section\s+\.text\.([\w.$]+)")
_LINE = re.compile(r"/\*[0-9a-f]{4,6}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)")


def count_instructions(listing: str) -> dict[str, int]:
    """Kernel -> its machine instructions, in a listing of cuobjdump -sass or nvdisasm; without the
    padding and the endless branch behind the last one."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in listing.splitlines():
        section = _SECTION.search(line)
        if section:
            name = section[1] or section[2]
            continue
        operation = _LINE.search(line)
        if name and operation:
            found.setdefault(name, []).append(operation[1])
    counts = {}
    for kernel, operations in found.items():
        while operations and operations[-1] in ("NOP", "BRA"):
            operations.pop()
        counts[kernel] = len(operations)
    return counts


def instructions(device: Device, text: str) -> dict[str, int]:
    """The instruction counts of a text's kernels; nothing where no disassembler is found."""
    from pycuda.compiler import compile  # pyright: ignore[reportMissingImports]

    from lego_emit.targets.gpu import OPTIONS

    tool = which("cuobjdump") or which("nvdisasm")
    if tool is None:
        return {}
    cubin = compile(text, options=list(OPTIONS), arch=device.arch, no_extern_c=True)
    with tempfile.TemporaryDirectory(prefix="lego_emit_") as folder:
        path = Path(folder) / "kernels.cubin"
        path.write_bytes(cubin)
        option = ["-sass"] if tool.endswith("cuobjdump") else ["-c"]
        done = subprocess.run(
            [tool, *option, str(path)], capture_output=True, text=True, check=False
        )
    return count_instructions(done.stdout) if done.returncode == 0 else {}
