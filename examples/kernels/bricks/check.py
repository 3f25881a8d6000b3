"""The stencils against sums of NumPy's slices."""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import Found, Machine, main

B, G = 8, 4


def cube(radius: int) -> list[tuple[int, int, int]]:
    """The neighbors in the kernel's order."""
    near = range(-radius, radius + 1)
    return [(a, b, c) for b, c, a in product(near, repeat=3)]


def star(radius: int) -> list[tuple[int, int, int]]:
    """The neighbors in the kernel's order."""
    far = [a for a in range(-radius, radius + 1) if a]
    return [(0, 0, 0), *(at for a in far for at in [(a, 0, 0), (0, a, 0), (0, 0, a)])]


def in_bricks(cells: np.ndarray) -> np.ndarray:
    """Brick by brick."""
    n = len(cells) // B
    return np.ascontiguousarray(cells.reshape(n, B, n, B, n, B).transpose(0, 2, 4, 1, 3, 5))


def from_bricks(cells: np.ndarray) -> np.ndarray:
    """And back."""
    n = len(cells)
    return cells.transpose(0, 3, 1, 4, 2, 5).reshape(n * B, n * B, n * B)


def check(machine: Machine) -> Iterator[Found]:
    n = 256 if machine.is_gpu else 4 * B
    random = np.random.default_rng(4)
    cells = random.standard_normal((n, n, n)).astype(np.float32)
    inside = (slice(B, n - B),) * 3
    inner = n // B - 2
    blocks = (-(-inner // G), inner, inner)
    for near, radius in [(cube, 1), (cube, 2), (star, 1), (star, 2), (star, 3), (star, 4)]:
        neighbors = near(radius)
        weight = random.standard_normal(len(neighbors)).astype(np.float32)
        wanted = np.zeros((n - 2 * B,) * 3)
        for w, offsets in zip(weight, neighbors, strict=True):
            wanted += float(w) * cells[tuple(slice(B + o, n - B + o) for o in offsets)]
        allowed = float(len(neighbors) * np.finfo(np.float32).eps)
        sizes = f"{n} x {n} x {n}, {len(neighbors)} points"
        for layout, there, back in [
            ("array", np.copy, np.copy),
            ("bricks", in_bricks, from_bricks),
        ]:
            kernel = f"{near.__name__}_{radius}_{layout}"
            held = there(cells)
            to = np.full_like(held, np.nan)
            machine.launch(kernel, blocks, (G * B * B,), held, weight, to, np.int32(n))
            yield Found.of(kernel, sizes, back(to)[inside], wanted, allowed)


if __name__ == "__main__":
    main(check, __file__)
