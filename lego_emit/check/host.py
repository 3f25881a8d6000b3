"""Checks in chunks of NumPy arrays.

For a target that runs on the CPU, and wherever indices are left out.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..emit.unit import Unit
from ..errors import VerifyError
from ..ir.program import Function
from ..packages import numpy as np
from ..run.devices import Checker, Marks, Progress, Tally, Targets, Trip
from ..run.space import Index, Space
from ..run.target import Compiled, Target

CHUNK = 2**18  # indices at a time


class HostChecker:
    """Checks in chunks of NumPy arrays by another checker's calls, at those indices only that meet
    the conditions of their space; several chunks at a time where there are workers."""

    def __init__(self, checker: Checker, workers: int = 1):
        self._checker, self._workers = checker, workers
        self.what: str = checker.what

    @property
    def kernel_ms(self) -> float | None:
        """How long the other checker's kernels ran, in ms; None where it has none."""
        return self._checker.kernel_ms

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """The results at arrays of indices."""
        return self._checker.call(function, arguments)

    def round_trip(self, trip: Trip, progress: Progress) -> Tally:
        """Make a round trip over the whole space."""

        def one(start: int, stop: int) -> Tally:
            numbers = trip.space.kept(np.arange(start, stop))
            index, count = trip.space.at(numbers), len(numbers)
            results = self._over(index, count)
            inside = np.ones(count, bool)
            hidden = np.full(count, trip.masked)
            bits = trip.there.masked_bits
            for result, (lo, hi), masked in zip(results, trip.ends, bits, strict=True):
                inside &= (result >= lo) & (result <= hi)
                hidden &= result == masked
            ends = zip(results, trip.target.axes, strict=True)
            kept = Index(trip.target, tuple(np.where(inside, r, axis.lo) for r, axis in ends))
            good = inside
            for back, point in zip(self._over(kept, count), index.values, strict=True):
                good = good & (back == point)
            bad = np.flatnonzero(~(good | hidden))
            first = int(numbers[bad[0]]) if len(bad) else None
            return Tally(first, len(bad), int((hidden & ~good).sum()))

        whole = Tally()
        for tally in self._chunks(trip.space.total, one, progress):
            whole.first = tally.first if whole.first is None else whole.first
            whole.bad += tally.bad
            whole.masked += tally.masked
        return whole

    def extremes(self, space: Space, progress: Progress) -> list[tuple[int, int]]:
        """The least and the greatest of each result."""

        def one(start: int, stop: int) -> list[tuple[int, int]]:
            numbers = space.kept(np.arange(start, stop))
            if not len(numbers):
                return []
            results = self._over(space.at(numbers), len(numbers))
            return [(int(r.min()), int(r.max())) for r in results]

        found = [x for x in self._chunks(space.total, one, progress) if x]
        return [(min(a for a, _ in x), max(b for _, b in x)) for x in zip(*found, strict=True)]

    def marks(self, space: Space, targets: Targets, progress: Progress) -> Marks:
        """Mark the positions of all results in a bitmap. Raises VerifyError where the memory is too
        small for it."""
        if targets.total > 8 * _free_memory():
            raise VerifyError(
                f"a bitmap of {targets.total:,} positions needs {targets.total / 2**33:.3g} GiB, "
                f"and this machine has {_free_memory() / 2**30:.3g} GiB free; choose smaller sizes"
            )
        bits = np.zeros(-(-targets.total // 8), np.uint8)
        twice: int | None = None
        distinct = 0

        def one(start: int, stop: int) -> np.ndarray:
            numbers = space.kept(np.arange(start, stop))
            return self._positions(space, targets, numbers)

        for positions in self._chunks(space.total, one, progress):
            unique, counts = np.unique(positions, return_counts=True)
            byte, bit = unique >> 3, np.left_shift(1, unique & 7).astype(np.uint8)
            again = (counts > 1) | ((bits[byte] & bit) != 0)
            if again.any():
                least = int(unique[np.argmax(again)])
                twice = least if twice is None else min(twice, least)
            distinct += int(((bits[byte] & bit) == 0).sum())
            np.bitwise_or.at(bits, byte, bit)
        gap = None
        if distinct < targets.total:
            for start in range(0, len(bits), CHUNK):
                open_bytes = np.flatnonzero(bits[start : start + CHUNK] != 255)
                if len(open_bytes):
                    byte = start + int(open_bytes[0])
                    free = next(k for k in range(8) if not int(bits[byte]) >> k & 1)
                    gap = 8 * byte + free
                    break
        return Marks(distinct, twice, gap)

    def meets(self, space: Space, targets: Targets, position: int) -> list[int]:
        """The first two numbers whose results are at a position."""

        def one(start: int, stop: int) -> list[int]:
            run = space.kept(np.arange(start, stop))
            found = self._positions(space, targets, run)
            return run[found == position][:2].tolist()

        numbers: list[int] = []
        for some in self._chunks(space.total, one, lambda done, total: None):
            numbers += some
            if len(numbers) >= 2:
                break
        return numbers[:2]

    def _positions(self, space: Space, targets: Targets, numbers: np.ndarray) -> np.ndarray:
        results = self._over(space.at(numbers), len(numbers))
        position = np.zeros(len(numbers), np.int64)
        for result, lo, stride in zip(results, targets.lows, targets.strides, strict=True):
            position += (result - lo) * stride
        return position

    def _over(self, index: Index, count: int) -> tuple[np.ndarray, ...]:
        arguments = index.arguments
        if not arguments or all(np.ndim(a) == 0 for a in arguments):
            arguments = [np.full(count, a, np.int64) for a in arguments] or [np.zeros(count)]
        return self.call(index.space.function, arguments)

    def _chunks(
        self, total: int, one: Callable[[int, int], Any], progress: Progress
    ) -> Iterator[Any]:
        """one(start, stop) over all chunks, in order, with few of them in hand at a time."""
        spans = ((s, min(s + CHUNK, total)) for s in range(0, total, CHUNK))
        if self._workers == 1 or total <= CHUNK:
            for start, stop in spans:
                yield one(start, stop)
                progress(stop, total)
            return
        with ThreadPoolExecutor(self._workers) as pool:
            waiting: deque[tuple[int, Any]] = deque()
            try:
                for start, stop in spans:
                    waiting.append((stop, pool.submit(one, start, stop)))
                    if len(waiting) > 2 * self._workers:
                        stop, result = waiting.popleft()
                        yield result.result()
                        progress(stop, total)
                while waiting:
                    stop, result = waiting.popleft()
                    yield result.result()
                    progress(stop, total)
            finally:
                for _, result in waiting:
                    result.cancel()


class CpuChecker(HostChecker):
    """Checks through a target that runs on the CPU."""

    def __init__(self, target: Target, compiled: Callable[[], Compiled]):
        self.what = f"the CPU, {target.find().version}"
        self.compiled = compiled()
        free = getattr(self.compiled._library, "takes_threads", False)
        self._workers = os.cpu_count() or 1 if free else 1

    @property
    def kernel_ms(self) -> None:
        """There are no kernels."""
        return None

    def call(self, function: Function, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """The results at arrays of indices; of a function without parameters, one for each
        index."""
        given = list(arguments) if function.params else []
        if not given:
            size = len(arguments[0]) if len(arguments) else 1
            values = self.compiled.columns(function, ())
            return tuple(np.full(size, v % 2**64, np.uint64).astype(np.int64) for v in values)
        return self.compiled.columns(function, given)


def checker_of(
    target: Target,
    unit: Unit,
    on: str,
    spaces: Mapping[str, Space],
    compiled: Callable[[], Compiled],
) -> Checker:
    """What checks a unit through its toolchain on a device. compiled: gives the unit for the CPU."""
    if on == "cpu":
        return CpuChecker(target, compiled)
    checker = target.checker(unit, on, spaces)
    # Kernels run over whole spaces.
    return HostChecker(checker) if any(s.conditions for s in spaces.values()) else checker


def _free_memory() -> int:
    """Bytes; a guess where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 2**32
