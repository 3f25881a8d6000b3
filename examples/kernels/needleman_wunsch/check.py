"""The scores against a loop over all cells."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from harness import Found, Machine, main

B, GAP = 32, 10


def reference(weight: np.ndarray, gap: float) -> np.ndarray:
    """Cell by cell, along antidiagonals."""
    n = len(weight)
    score = np.zeros((n + 1, n + 1))
    score[0] = score[:, 0] = -gap * np.arange(n + 1)
    for d in range(2, 2 * n + 1):
        i = np.arange(max(1, d - n), min(n, d - 1) + 1)
        j = d - i
        alone = np.maximum(score[i - 1, j], score[i, j - 1]) - gap
        score[i, j] = np.maximum(score[i - 1, j - 1] + weight[i - 1, j - 1], alone)
    return score


def check(machine: Machine) -> Iterator[Found]:
    n = 2048 if machine.is_gpu else 96
    weight = np.random.default_rng(2).integers(-10, 11, (n, n)).astype(np.int32)
    score = np.full((n + 1, n + 1), -(2**30), np.int32)
    score[0] = score[:, 0] = -GAP * np.arange(n + 1)
    tiles = n // B
    for diagonal in range(2 * tiles - 1):
        first = max(0, diagonal - tiles + 1)
        count = min(diagonal, tiles - 1) - first + 1
        numbers = [np.int32(x) for x in (n, GAP, first, diagonal)]
        machine.launch("align", (count, 1), (B, 1), score, weight, *numbers)
    yield Found.of("align", f"{n} x {n}", score, reference(weight, GAP))


if __name__ == "__main__":
    main(check, __file__)
