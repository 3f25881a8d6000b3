"""Needleman-Wunsch (LEGO, Fig. 12a): the layouts of the scores in shared memory, and Rodinia's kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ways import Experiment, Launch, Source, Step, Way, of_baseline, of_example, support

SIZES = (1024, 2048, 4096, 8192, 16384, 32768)
BLOCKS = (16, 32, 64)
ORDERS = ("row_major", "padded", "antidiagonals", "swizzled")
GAP = 10
NAMES = ("match", "pairs", "score", "buffer")


def ours(n: int, block: int, order: str) -> Way:
    """A layout of the example."""
    source, tiles = of_example("needleman_wunsch", block, order, names=NAMES), n // block
    steps = []
    for diagonal in range(2 * tiles - 1):
        first = max(0, diagonal - tiles + 1)
        count = min(diagonal, tiles - 1) - first + 1
        numbers = map(np.int32, (n, GAP, first, diagonal))
        steps.append(Launch(source, "align", (count,), (block,), ("score", "weight", *numbers)))
    return Way(f"ours_{block}_{order}", tuple(steps), "score")


def rodinia(
    n: int, block: int, way: str, source: Source, upper: str, lower: str, last: bool = False
) -> Way:
    """Rodinia's two loops of the host; last: whether both kernels take the number of tiles."""
    tiles, steps = n // block, []
    for name, numbers in [(upper, range(1, tiles + 1)), (lower, range(tiles - 1, 0, -1))]:
        for number in numbers:
            given = [n + 1, GAP, number, *[tiles] * (last or name == lower)]
            arguments = ("bordered", "score", *map(np.int32, given))
            steps.append(Launch(source, name, (number,), (block,), arguments))
    return Way(way, tuple(steps), "score")


def prepare(n: int) -> Iterator[Step]:
    """The inputs, and the scores cell by cell along antidiagonals."""
    size, numbers = np.uint64(n), (np.int32(-10), np.int32(21))
    yield support("fill_integers", "weight", np.uint64(n * n), np.uint64(2), *numbers)
    yield support("with_borders", "weight", "bordered", size)
    yield support("first_scores", "wanted", size, np.int32(GAP))
    for d in range(2, 2 * n + 1):
        cells = min(n, d - 1) - max(1, d - n) + 1
        grid = (-(-cells // 256),)
        yield support("scores_of", "weight", "wanted", size, np.int32(GAP), np.uint64(d), grid=grid)


def experiments(
    sizes: tuple[int, ...] = SIZES, originals: Path | None = None, blocks: tuple[int, ...] = BLOCKS
) -> Iterator[Experiment]:
    """For each size."""
    for n in sizes:
        ways = [ours(n, block, order) for block in blocks for order in ORDERS]
        for block in blocks:
            source = of_baseline("needleman_wunsch", TILE=block)
            ways.append(
                rodinia(n, block, f"rodinia_{block}", source, "rodinia_upper", "rodinia_lower")
            )
            if originals:
                defines = (("RD_WG_SIZE_0_0", block), ("OPTIM", 0))
                source = Source(f"original_nw_{block}", originals / "needle_kernel.cu", defines)
                kernels = [f"_Z20needle_cuda_shared_{k}PiS_iiii" for k in (1, 2)]
                way = f"rodinia_{block}_original"
                ways.append(rodinia(n, block, way, source, kernels[0], kernels[1], True))
        whole = (n + 1) * (n + 1)
        buffers: dict[str, tuple[int, Any]] = {
            name: (whole, np.int32) for name in ("score", "wanted", "bordered")
        }
        buffers["weight"] = (n * n, np.int32)

        def compared(way: Way, whole: int = whole) -> tuple[Step, ...]:
            return (support("compare_integers", way.result, "wanted", np.uint64(whole), "found"),)

        yield Experiment(
            "needleman_wunsch", n, "int32", buffers, tuple(prepare(n)), tuple(ways), compared,
            poison=0x80808080, first=(support("first_scores", "score", np.uint64(n), np.int32(GAP)),),
        )  # fmt: skip
