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
from lego_emit.packages import numpy as np
from lego_emit.run.devices import Progress, Rivals
from lego_emit.run.space import Space
from lego_emit.targets.gpu import (
    THREADS,
    Device,
    Kernels,
    Module,
    describe,
    in_the_open,
    ready,
)
from lego_emit.targets.gpu_verify import KERNELS as VERIFYING
from lego_emit.targets.gpu_verify import Text
from lego_emit.targets.timing_cpp import C

ROUNDS = 512  # indices of one thread
BLOCKS = 64  # for each multiprocessor: many short ones, so that the last wave costs little
WIDE = 4  # elements that a thread has in flight
POISON = 0xFFFFFFFF  # a float32 that is no number
PIECE = 2**31  # bytes of one copy: PyCUDA takes 32 bits
TABLE_BYTES = 2**33  # a longer table is not made

KERNELS = Kernels("gpu_timing.jinja")


@dataclass(frozen=True)
class _Side:
    """One function of the unit and everything that its kernels are named and made from."""

    name: str  # apply, inv, or the index function's own
    function: Function
    space: Space
    results: Space | None  # what a table's entry is taken apart into


def _sides(unit: Unit, rivals: Rivals) -> list[_Side]:
    functions = unit.program.functions
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
    source = in_the_open(unit) + VERIFYING("opaque") + KERNELS("common")
    for way, number in _numbered(rivals):
        functions = []
        for side in sides:
            function = way.apply if side.name == "apply" else way.inv
            if function is not None:
                functions.append(_rival(side, function, _rival_type(text, side, way.name)))
        source += KERNELS("way", number, functions)
    judge = _judge(rivals)
    for side in sides:
        seen, ways = _seen(text, side, table), _ways(rivals, side, table)
        for key in ways:
            source += KERNELS("caller", seen, key)
            source += KERNELS("loop_kernel", seen, key)
            source += KERNELS("one", seen, key)
        source += KERNELS("loop_kernel", seen, "none")
        if table:
            source += KERNELS("table", seen, judge if judge in ways else "ours")
    side = sides[0]
    seen, counter = _seen(text, side, False), _counter(side)
    axes = text.axes(side.function, side.space, f"static_cast<{counter}>(inside)", "i")
    low = side.results.axes[0].lo if side.results else 0
    shift = f" - {low}" if low else ""
    for key in _ways(rivals, side, table):
        turns = _turns(side, rivals)
        source += KERNELS("at", seen, key, counter, side.space.total, turns, axes, shift)
        source += KERNELS("access", seen, key, counter, WIDE)
    return source + KERNELS("check", judge, counter)


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


def _rival(side: _Side, function: Callable[..., Any], T: str) -> dict[str, Any]:
    """What the template sees of a rival's function."""
    names = [f"i{k}" for k in range(len(side.space.axes))]
    outputs = [name for name, _ in side.function.outputs]
    return {
        "name": side.name,
        "T": T,
        "kind": T if len(outputs) == 1 else f"{side.name}_result",
        "names": names,
        "outputs": outputs,
        "lines": body(function, names, C, T),
    }


def _entry(side: _Side) -> str:
    """The type of a table's entry: narrow where it holds every entry and every number of one."""
    if side.results is None:  # nothing says how far they go but their type
        return "unsigned" if "32" in side.function.index_type else "unsigned long long"
    narrow = max(side.results.total, side.space.total) <= 2**31
    return "unsigned" if narrow else "unsigned long long"


def _seen(text: Text, side: _Side, table: bool) -> dict[str, Any]:
    """What the template sees of a side; table: with what a look-up table needs."""
    function, space, results = side.function, side.space, side.results
    names = [f"i{k}" for k in range(len(space.axes))]
    parts, entry = text.results(function, "r"), _entry(side)
    seen = {
        "name": side.name,
        "T": text.T(function),
        "wide": "unsigned long long" if "64" in function.index_type else "unsigned",
        "entry": entry,
        "names": names,
        "outputs": [name for name, _ in function.outputs],
        "parts": parts,
        "call": text.call(function, space, names),
        "draws": [(_spun(k), a, _plus(text, function, a.lo)) for k, a in enumerate(space.axes)],
    }
    if not table:
        return seen
    seen["number"] = _row_major(text, function, space, names, entry)
    seen["axes"] = text.axes(function, space, "n", "i")
    if results is None:
        assert len(parts) == 1
        return {**seen, "low": "0", "result": f"static_cast<{entry}>({parts[0]})"}
    digits = [(k, a.count, _plus(text, function, a.lo)) for k, a in enumerate(results.axes)]
    return {
        **seen,
        "low": text.number(results.axes[0].lo, function),
        "result": _row_major(text, function, results, parts, entry),
        "digits": digits[::-1],
    }


def _plus(text: Text, function: Function, low: int) -> str:
    return f" + {text.number(low, function)}" if low else ""


def _spun(k: int) -> str:
    """A random number for axis k, of the one that the loop draws."""
    return "x" if k == 0 else f"x * {(2654435769 + 2 * k * 40503) % 2**32 | 1}u"


def _row_major(
    text: Text, function: Function, space: Space, names: Sequence[str], counter: str
) -> str:
    """The number of an index."""
    number = ""
    for axis, name in zip(space.axes, names, strict=True):
        digit = f"static_cast<{counter}>({name}{f' - {axis.lo}' if axis.lo else ''})"
        number = f"({number}) * {axis.count}u + {digit}" if number else digit
    return number or "0"


def _turns(side: _Side, rivals: Rivals) -> int:
    """How often the layout is repeated over the arrays."""
    turns = max(1, -(-rivals.bytes // 4 // side.space.total))
    if _counter(side) == "unsigned":
        turns = min(turns, 2**31 // side.space.total)
    return turns


def _counter(side: _Side) -> str:
    return "unsigned" if side.space.total <= 2**31 else "unsigned long long"


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


def stopwatch(text: str, names: Sequence[str], device: str) -> Callable[[str, int], float]:
    """Target.stopwatch of CUDA C: the kernel lego_chain_K for the name number K."""
    found = ready(device)
    module = Module(found, text, "the chains of calibrate")
    kernels = {name: f"lego_chain_{k}" for k, name in enumerate(names)}
    with found.active():
        out = found.driver.mem_alloc(4)

    def seconds(name: str, turns: int) -> float:
        numbers = [np.int32(n) for n in (123_456_789, 37, 0x2B5A5A5A)]
        with found.active():
            return module.launch(kernels[name], np.uint32(turns), *numbers, out) / 1e3

    return seconds


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
