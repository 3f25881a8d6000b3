"""C = A B^T in half precision, by wgmma and TMA and by mma.sync, from layouts, beside cuBLAS (as PyTorch calls it)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from ways import (
    EXAMPLES,
    Experiment,
    Launch,
    Mapped,
    Source,
    Step,
    TorchProduct,
    Way,
    of_example,
    support,
)

SIZES = (2048, 4096, 8192)
CASES = (("f16", "KK"), ("bf16", "KK"), ("f16", "KM"), ("f16", "MK"), ("f16", "MM"))
LEAST = 4096  # of the cases after the first
TILE, STAGES, GROUP = (128, 256, 64), 4, 8
NAMES = "A B C shared_a shared_b shared_c programs held".split()
ALLOWED = {"f16": 2.0**-11, "bf16": 2.0**-8}  # of the largest value: half of its last place
CACHE = 1 << 26  # words that are read, so that the cache holds nothing of the matrices
FOLDER = EXAMPLES / "hopper_matmul"
OLDER, OLDER_TILE, OLDER_THREADS = of_example("tensor_core_matmul"), 128, 128  # for sm_80


@cache
def given(sizes: Any, tile: Any, stages: int, group: int, majors: str) -> dict[str, Any]:
    """The layouts by name, for M, N and K or a text of three symbols."""
    from lego_emit import symbols
    from lego_emit.project.loading import subject, subjects, user_file

    path = str(FOLDER / "layouts.py")
    with user_file(path) as defined:
        found = {name: subject(defined, name, path) for name in subjects(defined)}
        told = symbols(sizes) if isinstance(sizes, str) else sizes
        made = defined["layouts"](*told, tile, stages, group, majors)
    return found | dict(zip(NAMES, made, strict=True))


@dataclass(frozen=True)
class GemmSource(Source):
    """The example's kernel. settings: type, majors, tile, stages, group."""

    def text(self) -> str:
        """The CUDA C."""
        from lego_emit import render

        kind, majors, *others = self.settings
        return render(
            self.path, "cuda", arch="sm_90a", type=kind, **given("M N K", *others, majors)
        )


def source(
    kind: str, majors: str, tile: Any = TILE, stages: int = STAGES, group: int = GROUP
) -> Source:
    """The kernel of a type, of two majors and of tiles."""
    settings = kind, majors, tile, stages, group
    name = "_".join(re.findall(r"\w+", str(settings)))
    path = FOLDER / "kernel.cu.j2"
    return GemmSource(f"ours_matmul_{name}", path, settings=settings, arch="90a")


def launch(one: Source, sizes: tuple[int, int, int]) -> Launch:
    """Of matrices of M x K, N x K and M x N: a block for each multiprocessor, with what its layouts need of shared memory."""
    from lego_emit import cute

    _, majors, *others = one.settings
    made = given(sizes, *others, majors)
    pairs = [("a", "A", "shared_a"), ("b", "B", "shared_b"), ("c", "C", "shared_c")]
    maps = [Mapped(at, cute.make_tensor_map(made[x], made[y], 16)) for at, x, y in pairs]
    shared = 2 * sum(made[y].physical_size for _, _, y in pairs)
    threads = 128 * (1 + made["C"].dims[2])
    return Launch(one, "matmul", (0,), (threads,), (*maps, *map(np.int32, sizes)), shared)


def experiments(
    sizes: tuple[int, ...] = SIZES, originals: Path | None = None, torch: bool = True
) -> Iterator[Experiment]:
    """Each type and pair of majors. torch: cuBLAS beside ours."""
    for number, (kind, majors) in enumerate(CASES):
        for n in sizes:
            if n >= LEAST or not number:
                yield experiment(kind, majors, n, [source(kind, majors)], torch)


def experiment(
    kind: str, majors: str, n: int, sources: list[Source], torch: bool = True
) -> Experiment:
    """One case: ours, of each source, and cuBLAS."""
    count, is_upper = np.uint64(n * n), np.int32(kind == "bf16")
    strides = [(n, 1) if major == "K" else (1, n) for major in majors]
    prepare = (
        *(support("fill_halves", name, count, np.uint64(k), is_upper) for k, name in enumerate("ab", 1)),
        support("product_of_halves", "a", "b", "wanted", np.uint64(n), *(np.uint64(s) for pair in strides for s in pair), is_upper),
    )  # fmt: skip

    def compared(way: Way) -> tuple[Step, ...]:
        return (support("compare_halves", way.result, "wanted", count, "found", is_upper),)

    ways = [
        Way("ours" if k == 0 else f"ours_{one.name}", (launch(one, (n, n, n)),), "c")
        for k, one in enumerate(sources)
    ]
    if (kind, majors) == CASES[0]:
        grid, given = (n // OLDER_TILE,) * 2, ("a", "b", "c", *map(np.int32, (n, n, n)))
        ways.append(
            Way("ours_mma_sync", (Launch(OLDER, "matmul", grid, (OLDER_THREADS,), given),), "c")
        )
    if torch:
        ways.append(Way("cublas", (TorchProduct("c", "a", "b", (n, n, n), kind, majors),), "c"))
    buffers = {name: (n * n, np.uint16) for name in "abc"} | {"wanted": (n * n, np.float32)}
    buffers |= {"cache": (CACHE, np.uint32)}
    name = "matmul" if majors == "KK" else f"matmul_{majors.lower()}"
    flushed = (support("read_words", "cache", np.uint64(CACHE), "found"),)
    return Experiment(
        name, n, kind, buffers, prepare, tuple(ways), compared, ALLOWED[kind], flushed=flushed
    )
