"""c = x W^T, x in half precision and W in 4 bits with a scale for 128 of K, from layouts, beside cuBLAS of W in half
precision, and of one row beside PyTorch's own kernel of 4 bits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
    TorchInt4,
    TorchProduct,
    Way,
    support,
)

SIZES = (1, 16, 64, 256, 4096)
OTHERS = (1, 16, 64, 130, 256, 4096)  # of the second shape
SHAPES = {(28672, 8192): (*SIZES, 130), (4096, 14336): OTHERS}
GROUP = 128
NAMES = (
    "plain fields words vectors plain_scales scales X C shared_w shared_s shared_x units tiles rows_of_x turn piece "
    "held sums read"
).split()
ALLOWED = 2.0**-10  # of the largest value: W in half precision is rounded, too
ALLOWED_UPPER = 2.0**-7  # where x, the scales and c are in bfloat16
BLOCKS = 132  # multiprocessors of an H100
CACHE = 1 << 26  # words that are read, so that the cache holds nothing of the matrices
FOLDER = EXAMPLES / "int4_matmul"

Setting = tuple[tuple[int, int], int, int]  # a tile of M x N, pieces of a warp, stages


@cache
def given(sizes: Any, *setting: Any) -> dict[str, Any]:
    """The layouts by name, for P, N and K or a text of three symbols."""
    from lego_emit import symbols
    from lego_emit.project.loading import subject, subjects, user_file

    path = str(FOLDER / "layouts.py")
    with user_file(path) as defined:
        found = {name: subject(defined, name, path) for name in subjects(defined)}
        told = symbols(sizes) if isinstance(sizes, str) else sizes
        return found | dict(zip(NAMES, defined["layouts"](*told, *setting), strict=True))


@dataclass(frozen=True)
class Int4Source(Source):
    """A template of the example. settings: tile, pieces, stages."""

    def text(self) -> str:
        """The CUDA C."""
        from lego_emit import render

        return render(self.path, "cuda", arch="sm_90a", **given("P N K", *self.settings))


def source(template: str, setting: Setting) -> Source:
    """A template under a setting."""
    name = "_".join(re.findall(r"\w+", str(setting)))
    path = FOLDER / f"{template}.cu.j2"
    return Int4Source(f"ours_int4_{template}_{name}", path, settings=setting, arch="90a")


def setting(m: int, n: int) -> Setting:
    """For m rows of x and n rows of W: tiles of x as high as they need to be."""
    rows = -(-m // -(-m // 256))
    rows = -(-rows // 8) * 8
    if rows <= 16:
        wide = 224 if n % 224 == 0 else 256
        return (rows, wide), 2, 11 if rows == 8 else 10
    if rows <= 64:
        return (rows, 256), 2, 6
    return (rows, 128), 1, min(6, 222_000 // (rows * 256 + 8448))


def launch(one: Source, sizes: tuple[int, int, int]) -> Launch:
    """Of M, N and K, with what its layouts need of shared memory: as many blocks for each tile as there are
    multiprocessors for, and none has parts of two tiles; of more tiles, a block for each multiprocessor."""
    from lego_emit import cute

    m, n, k = sizes
    rows = one.settings[0][0]
    made = given((tiles := -(-m // rows), n, k), *one.settings)
    # Rows that there are: TMA fills the others with zeros.
    x = replace(cute.make_tensor_map(made["X"], made["shared_x"], 16), dims=(k, m))
    shared = 16 * made["shared_w"].physical_size
    shared += 2 * (made["shared_s"].physical_size + made["shared_x"].physical_size)
    names = "packed", "packed_scales", Mapped("x", x), "c", "partial", "arrivals"
    given_sizes = map(np.int32, (m, tiles, n, k))
    threads = 32 * made["piece"].dims[0] + (128 if rows > 16 else 32)
    count = tiles * n // one.settings[0][1]
    blocks = min(BLOCKS // count, k // GROUP) * count
    return Launch(one, "matmul", (blocks,), (threads,), (*names, *given_sizes), shared)


def experiments(
    sizes: tuple[int, ...] = (), originals: Path | None = None, torch: bool = True
) -> Iterator[Experiment]:
    """Each shape of W and number of rows of x. torch: cuBLAS beside ours."""
    for (n, k), rows in SHAPES.items():
        for m in sizes or rows:
            yield experiment((m, n, k), [setting(m, n)], torch)


def experiment(
    sizes: tuple[int, int, int], settings: list[Setting], torch: bool = True
) -> Experiment:
    """One case: ours, of each setting, cuBLAS, and PyTorch's kernel of 4 bits for one row. The settings have tiles of W of one width."""
    m, n, k = sizes
    told = tuple(map(np.uint64, (n, k, GROUP)))
    pack, packed_sizes = source("pack", settings[0]), (np.int32(n), np.int32(k))
    space = max(-(-m // s[0][0]) * s[0][0] for s in settings) * n
    prepare = (
        support("fill_halves", "x", np.uint64(m * k), np.uint64(1), np.int32(0)),
        support("fill_int4", "weights", np.uint64(n * k), np.uint64(2)),
        support("fill_halves", "scales", np.uint64(n * k // GROUP), np.uint64(3), np.int32(0)),
        support("widen_int4", "weights", "scales", "wide", *told),
        support("product_of_int4", "x", "weights", "scales", "wanted", np.uint64(m), *told),
        Launch(pack, "pack", (), (256,), ("weights", "packed", *packed_sizes)),
        Launch(pack, "pack_scales", (), (256,), ("scales", "packed_scales", *packed_sizes)),
        support("fill_words", "partial", np.uint64(space), np.uint32(0)),
        support("fill_words", "arrivals", np.uint64(n), np.uint32(0)),
    )

    def compared(way: Way) -> tuple[Step, ...]:
        count = np.uint64(m * n)
        is_upper = np.int32(way.kind == "bf16")
        return (support("compare_halves", way.result, "wanted", count, "found", is_upper),)

    ways = [
        Way("ours" if j == 0 else f"ours_{one.name}", (launch(one, sizes),), "c")
        for j, one in enumerate(source("kernel", s) for s in settings)
    ]
    if torch:
        ways.append(Way("cublas", (TorchProduct("c", "x", "wide", sizes, "f16", "KK"),), "c"))
    if torch and m == 1:
        step = TorchInt4("c", "x", "weights", "scales", sizes, GROUP)
        ways.append(Way("torch_int4", (step,), "c", kind="bf16", allowed=ALLOWED_UPPER))
    buffers = {
        "x": (m * k, np.uint16),
        "weights": (n * k, np.uint8),
        "scales": (n * k // GROUP, np.uint16),
        "wide": (n * k, np.uint16),
        "wanted": (m * n, np.float32),
        "packed": (n * k // 8, np.uint32),
        "packed_scales": (n * k // GROUP, np.uint16),
        "partial": (space, np.float32),
        "arrivals": (n, np.int32),
        "c": (m * n, np.uint16),
        "cache": (CACHE, np.uint32),
    }
    flushed = (support("read_words", "cache", np.uint64(CACHE), "found"),)
    return Experiment(
        f"int4_{n}_{k}",
        m,
        "f16",
        buffers,
        prepare,
        tuple(ways),
        compared,
        ALLOWED,
        flushed=flushed,
        graphs=True,
    )
