"""Copies between memory layouts, as lego_emit.copy emits them, beside a device copy of the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from ways import Copy, Experiment, Launch, Source, Step, TorchCopy, Way, support

SIZES = (4096, 8192, 16384)
THREADS = 256
# Of elements: the type that NumPy has, that of the kernel, and its letter in a mangled name.
ELEMENTS = {
    8: ("uint64", "unsigned long long", "y"),
    4: ("uint32", "unsigned", "j"),
    2: ("uint16", "unsigned short", "t"),
    1: ("uint8", "unsigned char", "h"),
}


@dataclass(frozen=True)
class Case:
    """A copy of an array of five axes in rows. dims: of the array; to: the strides of the axes in the destination; sizes:
    the numbers of its parameters."""

    name: str
    dims: tuple[int, ...]
    to: tuple[int, ...]
    sizes: tuple[int, ...]

    def unit(self, element: int) -> Any:
        """The emitted copy."""
        return emitted(self.name, element)


@cache
def emitted(name: str, element: int) -> Any:
    """The copy of a name, of any sizes."""
    from lego_emit import Col, RegP, Row, catalogue, copy, symbols

    m, n = symbols("M N")
    n0, c, h, w = symbols("N C H W")
    rows = Row(n0, c, h, w)
    pairs = {
        "transposed": (Row(m, n), Col(m, n)),
        "channels_last": (rows, RegP([n0, c, h, w], [0, 2, 3, 1])),
        "blocked": (rows, catalogue["onednn.nChw16c"](n0, c, h, w)),
    }
    A, B = pairs[name]
    return copy(A, B, "cuda", element=element, name=name)


def cases(n: int) -> Iterator[Case]:
    """Of about n * n elements."""
    yield Case("transposed", (1, 1, 1, n, n), (0, 0, 0, 1, n), (n, n))
    images, c, h = max(1, n * n // (64 * 56 * 56)), 64, 56
    flat = h * h
    dims = (images, c // 16, 16, h, h)
    yield Case("channels_last", dims, (c * flat, 16, 1, h * c, c), (images, c, h, h))
    yield Case("blocked", dims, (c * flat, 16 * flat, 1, 16 * h, 16), (images, c, h, h))


@dataclass(frozen=True)
class CopySource(Source):
    """The file of a copy, with its kernel for one type. settings: (name, bytes of an element)."""

    @property
    def is_ours(self) -> bool:
        """Emitted."""
        return True

    @property
    def kernel(self) -> str:
        """The mangled name of NAME<T>(sizes.., const T*, T*)."""
        name, element = self.settings
        count = 2 if name == "transposed" else 4
        return f"_Z{len(name)}{name}I{ELEMENTS[element][2]}Ev{'x' * count}PKT_PS0_"

    def text(self) -> str:
        """The CUDA C."""
        name, element = self.settings
        (case,) = (one for one in cases(64) if one.name == name)
        unit, T = case.unit(element), ELEMENTS[element][1]
        given = ", ".join([*["long long"] * len(case.sizes), f"const {T}*", f"{T}*"])
        return f"{unit}\ntemplate __global__ void {name}<{T}>({given});\n"


def experiments(
    sizes: tuple[int, ...] = SIZES, originals: Path | None = None, torch: bool = False
) -> Iterator[Experiment]:
    """Each case, for elements of 8, 4, 2 and 1 bytes and sizes n that give about n * n elements. torch: PyTorch's
    copy_ beside them."""
    for n in sizes:
        for element, (kind, _, _) in ELEMENTS.items():
            for case in cases(n):
                yield experiment(case, n, element, kind, torch)


def experiment(case: Case, n: int, element: int, kind: str, torch: bool = False) -> Experiment:
    """One case of one type: ours, a device copy, and where it is asked for PyTorch's."""
    unit_bytes = prod(case.dims) * element
    words, bytes_of = np.uint64(unit_bytes // 4), np.uint64(unit_bytes)
    source = CopySource(
        f"copy_{case.name}_{element}", Path(__file__), settings=(case.name, element)
    )
    blocks = blocks_of(case, element)
    given = (*map(np.int64, case.sizes), "a", "b")
    strides = tuple(map(np.uint64, (*case.dims, *case.to)))
    prepare = (
        support("fill_integers", "a", words, np.uint64(1), np.int32(-(2**31)), np.int32(2**31 - 1)),
        support("permuted", "a", "wanted", bytes_of, np.int32(element), *strides),
    )

    def compared(way: Way) -> tuple[Step, ...]:
        return (support("compare_integers", way.result, way.kind or "wanted", words, "found"),)

    ours = Way("ours", (Launch(source, source.kernel, (blocks,), (THREADS,), given),), "b")
    copied = Way("copy", (Copy("b", "a", unit_bytes),), "b", kind="a")
    ways = ours, copied
    if torch:
        ways += (Way("torch", (TorchCopy("b", "a", element, case.dims, case.to),), "b"),)
    buffers = {name: (unit_bytes // 4, np.int32) for name in ("a", "b", "wanted")}
    return Experiment(f"copy_{case.name}", n, kind, buffers, prepare, ways, compared)


def blocks_of(case: Case, element: int) -> int:
    """The launch, by the emitted function, which Python evaluates."""
    from lego_emit.ir.nodes import evaluated

    unit = case.unit(element)
    function = next(f for f in unit.functions if f.name.endswith("_blocks"))
    names = [p.name for p in function.params]
    return int(evaluated(function.outputs[0][1], dict(zip(names, case.sizes, strict=True)), {}))
