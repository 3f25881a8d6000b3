"""Transposition by nvcc and by MLIR (LEGO, Table V): naive, and through tiles of 32 x 32 that differ in their layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from transposition import SDK, SIZES, theirs
from ways import EXAMPLES, HERE, Copy, Experiment, Launch, Source, Step, Way, support

LAYOUTS = EXAMPLES / "transpose" / "layouts.py"
TEMPLATES = {"nvcc": HERE / "transposes.cu.j2", "mlir": LAYOUTS.parent / "kernel.mlir.j2"}
SHARED = ("coalesced", "padded", "swizzled")
CHIP = "sm_90"


@dataclass(frozen=True)
class TileSource(Source):
    """A template under one layout of the tile. settings: the compiler and the layout's name; ptx: a folder
    where the PTX of MLIR is, or goes."""

    ptx: Path | None = None

    @property
    def suffix(self) -> str:
        """What nvcc is given."""
        return ".ptx" if self.settings[0] == "mlir" else ".cu"

    def text(self) -> str:
        """The CUDA C, or MLIR's PTX."""
        compiler, kind = self.settings
        kept = self.ptx / f"{self.name}.ptx" if self.ptx and compiler == "mlir" else None
        if kept and kept.exists():
            return kept.read_text()
        text = self._under(kind, "mlir" if compiler == "mlir" else "cuda")
        if compiler == "mlir":
            from lego_emit.targets.mlir import ptx

            text = ptx(text, CHIP)
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(text)
        return text

    def _under(self, kind: str, target: str) -> str:
        from lego_emit import GroupBy, Row, Strided, render
        from lego_emit.project.loading import subject, subjects, user_file

        tiles: dict[str, Any] = {
            "coalesced": Row(32, 32),
            "padded": GroupBy([32, 32]).OrderBy(Strided([32, 32], [33, 1])),
        }
        file = str(LAYOUTS)
        with user_file(file) as defined:
            given = {name: subject(defined, name, file) for name in subjects(defined)}
            given["small_tile"] = tiles.get(kind, given["small_tile"])
            return str(render(self.path, target, **given))


def made(compiler: str, kind: str, n: int, ptx: Path | None) -> Way:
    """A kernel of ours by one compiler. kind: of the tile, or "naive"."""
    tile = kind if kind in SHARED else "swizzled"
    source = TileSource(
        f"{compiler}_{tile}", TEMPLATES[compiler], settings=(compiler, tile), ptx=ptx
    )
    name, rows = ("shared", 8) if kind in SHARED else ("naive", 16)
    given: tuple[Any, ...] = ("a", "b", np.int32(n), np.int32(n))
    if compiler == "mlir":  # a memref: the pointer twice, where it begins, its size and its stride
        flat = (np.int64(0), np.int64(n * n), np.int64(1))
        given = ("a", "a", *flat, "b", "b", *flat, np.int64(n), np.int64(n))
    step = Launch(source, f"transpose_{name}", (n // 32, n // 32), (32, rows), given)
    return Way(f"{compiler}_{kind}", (step,), "b")


def experiments(
    sizes: tuple[int, ...] = SIZES, originals: Path | None = None, ptx: Path | None = None
) -> Iterator[Experiment]:
    """All ways, for each size."""
    for n in sizes:
        count = np.uint64(n * n)
        prepare = (
            support("fill_uniform", "a", count, np.uint64(1)),
            support("transposed", "a", "wanted", np.uint64(n), np.uint64(n)),
        )

        def compared(way: Way, count: np.uint64 = count) -> tuple[Step, ...]:
            return (support("compare_floats", way.result, way.kind or "wanted", count, "found"),)

        ways = [theirs(f"sdk_{kind}", n, SDK, f"sdk_{kind}") for kind in ("naive", *SHARED[:2])]
        for kind in ("naive", *SHARED):
            ways += [made(compiler, kind, n, ptx) for compiler in TEMPLATES]
        ways.append(Way("copy", (Copy("b", "a", 4 * n * n),), "b", kind="a"))
        buffers = {name: (n * n, np.float32) for name in ("a", "b", "wanted")}
        yield Experiment("table_v", n, "float32", buffers, prepare, tuple(ways), compared)
