"""Stencils over an array and over bricks (LEGO, Fig. 12c)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from ways import Copy, Experiment, Launch, Step, Way, of_baseline, of_example, support

SIZES = (384, 512)
SHAPES = [("star", 1), ("star", 2), ("star", 3), ("star", 4), ("cube", 1), ("cube", 2)]
HALO, EDGE = 8, 8
BLOCKS = [(32, 8, 1), (64, 4, 1), (128, 2, 1), (32, 4, 4)]  # of the kernel by hand
LAYOUTS = ("array", "bricks")
NAMES = ("array", "bricks", "array_threads", "bricks_threads")
PAIRS = 2  # columns of a thread
POISON = 0x7FFDDEAD


def neighbors(kind: str, radius: int) -> list[tuple[int, int, int]]:
    """Offsets along z, y and x, in the order of the weights."""
    near = range(-radius, radius + 1)
    if kind == "cube":
        return [(a, b, c) for b, c, a in product(near, repeat=3)]
    axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    far = [(a * z, a * y, a * x) for a in near if a for z, y, x in axes]
    return [(0, 0, 0), *far]


def ways(n: int, kind: str, radius: int) -> Iterator[Way]:
    """Ours, of a number N and of a symbol, and of two columns a thread; the kernel by hand in several
    blocks, and the paper's."""
    inner = n // EDGE - 2
    for layout in LAYOUTS:
        start = "from" if layout == "array" else "bricks"
        sources = [
            (f"ours_{layout}", 4, of_example("bricks", n, names=NAMES)),
            (f"ours_{layout}_symbolic", 4, of_example("bricks")),
        ]
        if kind == "star":
            pairs = of_example("bricks", n, PAIRS, names=NAMES)
            sources.append((f"ours_{layout}_pairs", 4 * PAIRS, pairs))
        for way, side, source in sources:
            grid = (-(-inner // side), inner, inner)
            given = (start, "weight", "to", np.int32(n))
            step = Launch(source, f"{kind}_{radius}_{layout}", grid, (256,), given)
            yield Way(way, (step,), "to", kind=layout)
    source, inside = of_baseline("stencils", SIZE=n), n - 2 * HALO
    for block in BLOCKS:
        grid = tuple(-(-inside // b) for b in block)
        step = Launch(source, f"row_major_{kind}_{radius}", grid, block, ("from", "weight", "to"))
        yield Way(f"row_major_{'x'.join(map(str, block))}", (step,), "to", kind="array")
    for layout in LAYOUTS:
        start = "from" if layout == "array" else "bricks"
        name, given = f"paper_{layout}_{kind}_{radius}", (start, "weight", "to")
        step = Launch(source, name, (inner,) * 3, (EDGE,) * 3, given)
        yield Way(f"paper_{layout}", (step,), "to", kind=layout)
    yield Way("copy", (Copy("to", "from", 4 * inside**3),), "to", kind="copy")


def experiments(
    sizes: tuple[int, ...] = SIZES, originals: Path | None = None
) -> Iterator[Experiment]:
    """For each size and shape. There is no comparison with originals."""
    for n, (kind, radius) in product(sizes, SHAPES):
        near = neighbors(kind, radius)
        count, points = np.uint64(n**3), np.int32(len(near))
        sizes_of = (np.int32(n), np.int32(HALO))
        prepare = (
            support("fill_uniform", "from", count, np.uint64(4)),
            support("fill_uniform", "weight", np.uint64(len(near)), np.uint64(5)),
            support("to_bricks", "from", "bricks", np.uint64(n)),
            support("stencil", "from", "weight", "offsets", points, "wanted", *sizes_of),
        )

        def compared(way: Way, n: int = n, sizes_of: tuple = sizes_of) -> tuple[Step, ...]:
            if way.kind == "copy":
                inside = np.uint64((n - 2 * HALO) ** 3)
                return (support("compare_floats", "to", "from", inside, "found"),)
            told = (*sizes_of, np.int32(way.kind == "bricks"), np.uint32(POISON))
            return (support("compare_stencils", way.result, "wanted", *told, "found"),)

        buffers: dict[str, tuple[int, Any]] = {
            name: (n**3, np.float32) for name in ("from", "bricks", "to")
        }
        buffers |= {"weight": (len(near), np.float32), "offsets": (3 * len(near), np.int32)}
        buffers["wanted"] = (n**3, np.float64)
        yield Experiment(
            f"stencil_{kind}_{len(near)}", n, "float32", buffers, prepare,
            tuple(ways(n, kind, radius)), compared,
            allowed=float(len(near) * np.finfo(np.float32).eps),
            uploaded={"offsets": np.array(near, np.int32)}, poison=POISON,
        )  # fmt: skip
