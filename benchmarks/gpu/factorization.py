"""LU decomposition (LEGO, Fig. 12b): blocks and coarsening by a layout, and Rodinia's kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ways import (
    Copy,
    Experiment,
    Launch,
    Solver,
    Source,
    Step,
    Way,
    of_baseline,
    of_example,
    support,
)

SIZES = (2048, 4096, 8192, 16384, 32768)
SHAPES = ((16, 2), (16, 4), (8, 8))  # threads of a block's row, elements of a thread's row
NAMES = ("A", "elements", "work", "tile")
FAST = "-use_fast_math"  # as Rodinia's makefile has it


def ours(n: int, threads: int, factor: int, restored: tuple[Copy, ...]) -> Way:
    """A coarsening of the example."""
    source, block = of_example("lud", threads, factor, names=NAMES), threads * factor
    steps = []
    for s in range(n // block):
        rest = n // block - s - 1
        given = ("a", np.int32(n), np.int32(s))
        steps.append(Launch(source, "factor", (1,), (block,), given))
        if rest:
            steps.append(Launch(source, "perimeter", (rest, 2), (block,), given))
            steps.append(Launch(source, "inner", (rest, rest), (threads, threads), given))
    return Way(f"ours_{block}_{factor}", tuple(steps), "a", restored)


def rodinia(
    n: int,
    block: int,
    way: str,
    source: Source,
    kernels: tuple[str, ...],
    restored: tuple[Copy, ...],
) -> Way:
    """Rodinia's loop of the host. kernels: of the diagonal, the perimeter and the rest."""
    diagonal, perimeter, inner = kernels
    steps = []
    for offset in range(0, n, block):
        rest = (n - offset) // block - 1
        given = ("a", np.int32(n), np.int32(offset))
        steps.append(Launch(source, diagonal, (1,), (block,), given))
        if rest:
            steps.append(Launch(source, perimeter, (rest,), (2 * block,), given))
            steps.append(Launch(source, inner, (rest, rest), (block, block), given))
    return Way(way, tuple(steps), "a", restored)


def prepare(n: int) -> Iterator[Step]:
    """A matrix that needs no pivots, and its factors in float64."""
    count, size = np.uint64(n * n), np.uint64(n)
    yield support("fill_uniform", "given", count, np.uint64(3))
    yield support("add_to_diagonal", "given", size, np.float32(4 * n**0.5))
    yield support("widen", "given", "wanted", count)
    for s in range(0, n, 32):
        rest, given = (n - s) // 32 - 1, ("wanted", size, np.uint64(s))
        yield support("wide_diagonal", *given, grid=(1,), block=(32,))
        if rest:
            yield support("wide_perimeter", *given, grid=(rest,), block=(32,))
            yield support("wide_inner", *given, grid=(rest, rest), block=(32, 32))


def experiments(
    sizes: tuple[int, ...] = SIZES,
    originals: Path | None = None,
    shapes: tuple[tuple[int, int], ...] = SHAPES,
    blocks: tuple[int, ...] = (16, 32),
    solver: bool = False,
) -> Iterator[Experiment]:
    """For each size. solver: cuSOLVER's beside them, which takes columns where the others take rows."""
    for n in sizes:
        restored = (Copy("a", "given", 4 * n * n),)
        ways = [ours(n, *shape, restored) for shape in shapes]
        for block in blocks:
            kernels = ("rodinia_diagonal", "rodinia_perimeter", "rodinia_inner")
            source = of_baseline("lud", FAST, TILE=block)
            ways.append(rodinia(n, block, f"rodinia_{block}", source, kernels, restored))
            if originals and n <= 8192:
                defines = (("RD_WG_SIZE_0", block),)
                path = originals / "lud_kernel.cu"
                source = Source(f"original_lud_{block}", path, defines, (FAST,))
                kernels = ("_Z12lud_diagonalPfii", "_Z13lud_perimeterPfii", "_Z12lud_internalPfii")
                way = f"rodinia_{block}_original"
                ways.append(rodinia(n, block, way, source, kernels, restored))

        size, names, first = np.uint64(n), ["a", "given"], list(prepare(n))
        if solver:
            columns = (Copy("a", "columns", 4 * n * n),)
            ways.append(Way("cusolver", (Solver("a", n),), "a", columns, kind="columns"))
            first.append(support("transposed", "given", "columns", size, size))
            names += ["columns", "rows"]

        def compared(way: Way, size: np.uint64 = size) -> tuple[Step, ...]:
            count = np.uint64(size * size)
            if way.kind == "columns":
                turned = support("transposed", way.result, "rows", size, size)
                return turned, support("compare_doubles", "rows", "wanted", count, "found")
            return (support("compare_doubles", way.result, "wanted", count, "found"),)

        buffers: dict[str, tuple[int, Any]] = {name: (n * n, np.float32) for name in names}
        buffers["wanted"] = (n * n, np.float64)
        allowed = float(4 * n**0.5 * np.finfo(np.float32).eps)
        yield Experiment("lud", n, "float32", buffers, tuple(first), tuple(ways), compared, allowed)
