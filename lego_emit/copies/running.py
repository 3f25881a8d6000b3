"""Copies that are compiled: run, verified with guard bytes, and timed beside memcpy."""

from __future__ import annotations

import tempfile
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy as shallow
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..emit.nests import forms_of
from ..errors import (
    LayoutError,
    OptionError,
    TargetError,
    ToolchainError,
    VerifyError,
    a_type,
    short_repr,
)
from ..numeric import is_integer
from ..packages import cffi
from ..packages import numpy as np
from ..run import registry as toolchains
from .checks import allowed, sizes_of
from .plan import PAD, model
from .value import of_array
from .values import value_of

GUARD = 256  # bytes before and behind a memory that is verified
FILL = 0xA5  # what they, and a memory that is to be written, hold
BEST_OF, LEAST_SECONDS = 7, 0.02
MOST_VERIFIED = 2**22  # places of a memory
LEAST_SHARED = 2**18  # bytes of a copy that threads share, where that is verified
# Numbers for sizes in turn of such copies.
SHARED = (
    (521, 264, 9, 5, 2),
    (264, 521, 3, 2, 2),
    (2, 33, 65, 37, 2),
    (1, 40, 96, 33, 1),
    (33, 33, 21, 3, 2),
)
NATIVE = ("-O2", "-march=native")
LARGE = ("-DLARGE=0",)  # every copy, there
ASKED = ("-DSIMD",)  # for registers, in a language that has a feature for them


OPENMP = "-fopenmp"


class Library:
    """A copy in a shared library. flags: of the compiler; threads: how many share a copy, more than one of OpenMP."""

    _by_parts = False

    def __init__(self, unit: Any, flags: Sequence[str] = ("-O2",), threads: int = 1):
        self.unit, self._threads = unit, threads
        if threads > 1:
            flags = (*flags, OPENMP)
        self._folder = tempfile.TemporaryDirectory(prefix="lego_emit_", ignore_cleanup_errors=True)
        target: Any = toolchains.toolchain_of(unit.printer)
        path, declarations = target.copy_library(unit, Path(self._folder.name), flags)
        self._ffi = cffi.FFI()
        self._ffi.cdef(declarations)
        self._library: Any = self._ffi.dlopen(str(path))

    def in_parts(self) -> Library:
        """The same, which moves a copy part by part, the last one first."""
        found = shallow(self)
        found._by_parts = True
        return found

    def _sizes(self, sizes: Mapping[str, int]) -> Any:
        values = [sizes[n] for n in self.unit.plan.space.sizes]
        return self._ffi.new("int64_t[]", values or [0])

    def bytes(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """The bytes of both memories, by the emitted functions."""
        found = self._ffi.new("int64_t[2]")
        self._library.lego_copy_bytes(self._sizes(sizes), found)
        return found[0], found[1]

    def copy(
        self, sizes: Mapping[str, int], source: Any, destination: Any, rounds: int = 1
    ) -> None:
        """Run the routine on two arrays."""
        to, of = (self._ffi.cast("char *", a.ctypes.data) for a in (destination, source))
        self._share()
        if self._by_parts:
            self._library.lego_copy_parts(self._sizes(sizes), of, to)
        elif self._library.lego_copy(rounds, self._sizes(sizes), of, to):
            raise ToolchainError(f"{self.unit.name}: the routine panics at {dict(sizes)}")

    def memcpy(self, count: int, source: Any, destination: Any, rounds: int = 1) -> None:
        """Run memcpy on two arrays."""
        to, of = (self._ffi.cast("char *", a.ctypes.data) for a in (destination, source))
        self._share()
        self._library.lego_memcpy(rounds, count, of, to)

    def _share(self) -> None:
        if self._threads > 1:
            self._library.lego_threads(self._threads)


_compiled: dict[tuple[Any, ...], Any] = {}


def library(
    unit: Any,
    flags: Sequence[str],
    threads: int = 1,
    by_parts: bool = False,
    is_timed: bool = False,
) -> Any:
    """What runs the routine of a unit, compiled once in a process: a Library, or what has its methods. is_timed: whether
    an interpreter is to optimize as it does for users."""
    runner = getattr(toolchains.toolchain_of(unit.printer), "copy_runner", None)
    given: tuple[Any, ...] = (threads, is_timed) if threads > 1 or is_timed else ()
    key = (unit.printer.name, unit.source, *(given if runner else (threads, *flags)))
    if key not in _compiled:
        _compiled[key] = runner(unit, *given) if runner else Library(unit, flags, threads)
    return _compiled[key].in_parts() if by_parts and not runner else _compiled[key]


def run(unit: Any, array: Any, out: Any, sizes: Mapping[str, int]) -> Any:
    """What Copy.run does, for these sizes."""
    plan = unit.plan
    sizes = checked_sizes(unit, sizes)
    if any(isinstance(one, np.ma.MaskedArray) for one in (array, out)):
        raise LayoutError(
            f"{unit.name}: a copy moves no masks; give a plain array, as array.filled(0)"
        )
    given = np.asarray(array)
    if given.dtype.itemsize != plan.element_bytes or given.dtype.hasobject:
        raise LayoutError(
            f"{unit.name}: the array has elements of {given.dtype}, and the copy moves {plan.element_bytes} bytes "
            "each; give element= their type"
        )
    ends = [value_of(size, sizes) for size in (plan.source_size, plan.destination_size)]
    given = np.ascontiguousarray(given)
    if given.size != ends[0]:
        raise LayoutError(
            f"{unit.name}: the source has {ends[0]} elements, and the array has {given.size}"
        )
    if out is None:
        out = np.zeros(ends[1], given.dtype)
    elif not isinstance(out, np.ndarray):
        raise LayoutError(
            f"{unit.name}: out is {short_repr(out)}, {a_type(out)}; give a NumPy array"
        )
    elif out.size != ends[1] or out.dtype != given.dtype or not out.flags.c_contiguous:
        raise LayoutError(
            f"{unit.name}: out must be a contiguous array of {ends[1]} elements of {given.dtype}"
        )
    elif not out.flags.writeable:
        raise LayoutError(f"{unit.name}: out is an array that can only be read")
    elif np.may_share_memory(out, given):
        raise LayoutError(
            f"{unit.name}: out shares memory with the array; a copy is from one memory to another"
        )
    given, written = _aligned(given, plan.element_bytes), _aligned(out, plan.element_bytes)
    library(unit, NATIVE).copy(sizes, given, written)
    if written is not out:
        out[...] = written
    return out


def _aligned(array: Any, element_bytes: int) -> Any:
    """The array, or one of the same contents where compiled code may have elements begin."""
    boundary = min(element_bytes & -element_bytes, 16)
    if array.ctypes.data % boundary == 0:
        return array
    memory = np.empty(array.nbytes + boundary, np.uint8)
    start = -memory.ctypes.data % boundary
    found = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def checked_sizes(unit: Any, sizes: Mapping[str, int] | None) -> dict[str, int]:
    """Numbers for the sizes. Raises VerifyError where one is missing, unknown or ruled out."""
    names, found = unit.plan.space.sizes, dict(sizes or {})
    missing = [n for n in names if n not in found]
    unknown = [n for n in found if n not in names]
    if missing or unknown:
        listed = ", ".join(names) or "none"
        what = f"{unknown[0]} is no size" if unknown else f"{missing[0]} has no number"
        way = "" if unknown else f"; give run(.., {missing[0]}=..) or sizes={{'{missing[0]}': ..}}"
        raise VerifyError(f"{unit.name}: {what}; its sizes are {listed}{way}")
    for name, value in found.items():
        if not is_integer(value):
            raise VerifyError(f"{unit.name}: {name} is {short_repr(value)}; give an integer")
    found = {n: int(v) for n, v in found.items()}
    if not allowed(unit.plan, found):
        low = "; a size is at least 1" if min(found.values(), default=1) < 1 else ""
        raise VerifyError(f"{unit.name}: its header rules out {found}{low}")
    return found


@dataclass(frozen=True)
class Verified:
    """What verify found; true where every place had what it should. lines: what was compared."""

    lines: tuple[str, ...]
    wrong: str = ""

    def __bool__(self) -> bool:
        return not self.wrong

    def __str__(self) -> str:
        marks = [f"  ok    {line}" for line in self.lines]
        return "\n".join([*marks, *([f"  WRONG {self.wrong}"] if self.wrong else [])])


def verify(unit: Any, sizes: Mapping[str, int] | None, flags: Sequence[str] = ("-O2",)) -> Verified:
    """What Copy.verify does; flags: of the compiler."""
    plan = unit.plan
    tried = sizes_of(plan) if sizes is None else [checked_sizes(unit, sizes)]
    if sizes is None and _routine(unit).is_shared:
        tried += sizes_of(plan, 2, SHARED, LEAST_SHARED)
    lines: list[str] = []
    for title, more, how in _ways(unit):
        built = library(unit, (*flags, *more), **how)
        places = 0
        for one in tried:
            if value_of(plan.destination_size, one) > MOST_VERIFIED:
                if sizes is None:
                    continue
                raise VerifyError(
                    f"{unit.name}: {one} is more than {MOST_VERIFIED} places; give smaller sizes"
                )
            wanted = model(plan, one)
            if not plan.pads:
                wanted[wanted == PAD] = -1
            if wrong := _everywhere(built, one, wanted):
                return Verified(tuple(lines), f"{title}: {wrong} at {one}")
            places += len(wanted)
        lines.append(f"{title}: {places:,} places at {len(tried)} sizes")
    return Verified(tuple(lines))


def compared(
    unit: Any, sizes: Mapping[str, int], wanted: Any, flags: Sequence[str] = ("-O2",)
) -> str:
    """What is wrong with a run of these sizes, in each way that the text has; "" where nothing is.

    wanted: for each place of the destination the place in the source, PAD where it gets a zero, -1 where none.
    """
    for title, more, how in _ways(unit):
        if wrong := _everywhere(library(unit, (*flags, *more), **how), sizes, wanted):
            return f"{title}: {wrong} at {dict(sizes)}"
    return ""


def _everywhere(built: Any, sizes: Mapping[str, int], wanted: Any) -> str:
    """What is wrong with runs on memories that are aligned, and that are not."""
    shifts = sorted({0, 1, max(1, 16 // built.unit.plan.element_bytes)})
    return next(filter(None, (_compared(built, sizes, wanted, k) for k in shifts)), "")


def _routine(unit: Any) -> Any:
    return unit.program.routines[0]


def _ways(unit: Any) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """How a copy is verified: in words, by which flags, and what else library() is told."""
    macro = unit.name.upper()
    checks = getattr(toolchains.toolchain_of(unit.printer), "copy_checks", ())
    yield "as it stands", checks, {}
    if f"{macro}_LARGE" in unit.source:
        yield "every copy a large one", (f"-D{macro}_LARGE=0",), {}
    if "__AVX2__" in unit.source:
        yield "with the machine's vectors", NATIVE[1:], {}
    if f"{macro}_SCALAR" in unit.source:
        yield "without vectors", (f"-D{macro}_SCALAR",), {}
    if _routine(unit).registers:
        yield "with registers", (*ASKED, *checks), {}
        if "LARGE" in unit.source:
            yield "with registers, every copy a large one", (*ASKED, *LARGE, *checks), {}
        yield "with the machine's registers", (*ASKED, *NATIVE[1:]), {}
    if _routine(unit).is_shared:
        if forms_of(unit.printer).has_parts:
            yield "part by part", (), {"by_parts": True}
        yield "in two threads", (), {"threads": 2}


def _memory(count: int, shift: int) -> tuple[Any, Any]:
    """Bytes between guards, all of FILL, and the part of them in between, a multiple of 64 bytes and a shift."""
    whole = np.full(count + 2 * GUARD + 64 + shift, FILL, np.uint8)
    start = GUARD + -(whole.ctypes.data + GUARD) % 64 + shift
    return whole, whole[start : start + count]


def _compared(built: Any, sizes: Mapping[str, int], wanted: Any, shift: int) -> str:
    """What is wrong with a run between guard bytes; "" where nothing is. shift: by how many elements memories
    are out of line."""
    plan = built.unit.plan
    size = plan.element_bytes
    counts = [value_of(n, sizes) * size for n in (plan.source_size, plan.destination_size)]
    if tuple(counts) != built.bytes(sizes):
        return f"the functions of bytes give {built.bytes(sizes)}, and not {tuple(counts)}"
    _, source = _memory(counts[0], shift * size)
    source[:] = np.random.default_rng(0).integers(0, 256, counts[0], np.uint8)
    whole, found = _memory(counts[1], shift * size)
    due_whole = whole.copy()
    at = found.ctypes.data - whole.ctypes.data
    due = due_whole[at : at + counts[1]].reshape(-1, size)
    given = source.reshape(-1, size)
    if plan.value is not None:
        given = of_array(plan.value, source.view(f"u{size}")).view(np.uint8).reshape(-1, size)
    due[wanted >= 0] = given[wanted[wanted >= 0]]
    due[wanted == PAD] = 0
    before = source.copy()
    built.copy(sizes, source, found)
    wrong = np.flatnonzero(whole != due_whole)
    if len(wrong):
        place = (int(wrong[0]) - at) // size
        return f"place {place} of {len(wanted)} holds other bytes than it should"
    return "" if np.array_equal(source, before) else "the source was written"


@dataclass(frozen=True)
class Timed:
    """seconds: of one copy; gb_s: bytes of the destination in it, in 10**9 a second; memcpy_gb_s: of memcpy of as
    many bytes, in turn with it; percent: of memcpy."""

    seconds: float
    gb_s: float
    memcpy_gb_s: float

    @property
    def percent(self) -> float:
        """How fast the copy is, in per cent of memcpy."""
        return 100 * self.gb_s / self.memcpy_gb_s

    def as_dict(self) -> dict[str, float]:
        """All of it, as JSON has it."""
        return {**vars(self), "percent": self.percent}

    def __str__(self) -> str:
        return f"{self.gb_s:.1f} GB/s, {self.percent:.0f} % of memcpy ({self.memcpy_gb_s:.1f} GB/s)"


def time(
    unit: Any, sizes: Mapping[str, int], flags: Sequence[str] = NATIVE, threads: int = 1
) -> Timed:
    """What Copy.time does; flags: of the compiler."""
    if forms_of(unit.printer).abilities.threads:
        raise TargetError(
            f"{unit.name}: {unit.printer.title} runs on the host here, whose times say nothing of a GPU; "
            "benchmarks/gpu/kernels copies measures kernels there"
        )
    sizes = checked_sizes(unit, sizes)
    if not is_integer(threads) or threads < 1:
        raise OptionError(f"threads is {short_repr(threads)}; give how many share the copy")
    if threads > 1 and not _routine(unit).is_shared:
        raise OptionError(
            f"{unit.name}: threads is {threads}, and the copy is done by one; make it by copy(.., threads=True)"
        )
    built = library(unit, flags, threads, is_timed=True)
    source, destination = (_memory(n, 0)[1] for n in built.bytes(sizes))
    source[:] = 1
    moved = min(len(source), len(destination))

    def copied(rounds: int) -> None:
        built.copy(sizes, source, destination, rounds)

    def plain(rounds: int) -> None:
        built.memcpy(moved, source, destination, rounds)

    ours, theirs = interleaved([copied, plain])
    return Timed(ours, moved / ours / 1e9, moved / theirs / 1e9)


def interleaved(
    functions: Sequence[Any],
    best_of: int = BEST_OF,
    now: Callable[[], float] = clock.perf_counter,
    least: float = LEAST_SECONDS,
) -> list[float]:
    """The least seconds of each function, a round of one call, measured in turn. now: the clock; least: the seconds
    of a round."""
    return [min(own) for own in in_turns(functions, best_of, now, least)]


def in_turns(
    functions: Sequence[Any],
    runs: int,
    now: Callable[[], float],
    least: float = LEAST_SECONDS,
) -> list[list[float]]:
    """The seconds of each function in each run; otherwise as interleaved()."""
    rounds = []
    for function in functions:
        function(1)  # the first call looks its symbol up, which may take longer than a round
        count, seconds = 1, 0.0
        while True:
            start = now()
            function(count)
            seconds = now() - start
            if seconds >= least / 4 or count >= 2**20:
                break
            count *= 4
        rounds.append(max(1, round(count * least / max(seconds, 1e-9))))
    found: list[list[float]] = [[] for _ in functions]
    for _ in range(runs):
        for own, function, count in zip(found, functions, rounds, strict=True):
            start = now()
            function(count)
            own.append((now() - start) / count)
    return found


__all__ = ["Timed", "Verified", "compared", "interleaved", "library", "run", "time", "verify"]
