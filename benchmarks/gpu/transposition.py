"""Transposition, naive and through shared memory (LEGO, Table V)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ways import Copy, Experiment, Launch, Source, Step, Way, of_baseline, of_example, support

SIZES = (2048, 4096, 8192, 16384)
OURS, SDK = of_example("transpose"), of_baseline("transpose")


def ours(name: str, n: int, tile: int, rows: int) -> Way:
    """A kernel of the example: blocks of 32 x rows threads."""
    given = ("a", "b", np.int32(n), np.int32(n))
    step = Launch(OURS, f"transpose_{name}", (n // tile, n // tile), (32, rows), given)
    return Way("ours", (step,), "b")


def theirs(way: str, n: int, source: Source, kernel: str, to: str = "b", start: str = "a") -> Way:
    """A kernel of cuda-samples, whose width and height are both n."""
    given = (start, to, np.int32(n), np.int32(n))
    return Way(way, (Launch(source, kernel, (n // 32, n // 32), (32, 16), given),), "b")


def experiments(
    sizes: tuple[int, ...] = SIZES, originals: Path | None = None
) -> Iterator[Experiment]:
    """Both, for each size."""
    for n in sizes:
        count = np.uint64(n * n)
        prepare = (
            support("fill_uniform", "a", count, np.uint64(1)),
            support("transposed", "a", "wanted", np.uint64(n), np.uint64(n)),
        )

        def compared(way: Way, count: np.uint64 = count) -> tuple[Step, ...]:
            return (support("compare_floats", way.result, way.kind or "wanted", count, "found"),)

        copy = Way("copy", (Copy("b", "a", 4 * n * n),), "b", kind="a")
        naive = [ours("naive", n, 32, 16), theirs("sdk", n, SDK, "sdk_naive"), copy]
        shared = [ours("shared", n, 64, 8), theirs("sdk", n, SDK, "sdk_padded")]
        shared += [theirs("sdk_coalesced", n, SDK, "sdk_coalesced"), copy]
        if originals:
            their = Source("original_transpose", originals / "transpose.cu")
            for ways, way, name in [
                (naive, "sdk_original", "_Z14transposeNaivePfS_ii"),
                (shared, "sdk_original", "_Z24transposeNoBankConflictsPfS_ii"),
                (shared, "sdk_coalesced_original", "_Z18transposeCoalescedPfS_ii"),
            ]:
                ways.append(theirs(way, n, their, name, to="a", start="b"))
        buffers = {name: (n * n, np.float32) for name in ("a", "b", "wanted")}
        for name, ways in [("naive", naive), ("shared", shared)]:
            yield Experiment(
                f"transposition_{name}", n, "float32", buffers, prepare, tuple(ways), compared
            )
