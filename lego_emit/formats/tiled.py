"""Tiles in a memory: the layout that most formats are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.layout import GroupBy
from ..algebra.nested import same
from ..algebra.padded import Padded
from ..algebra.perms import RegP


def tiled(
    sizes: Sequence[Any], blocks: Sequence[Sequence[int]], order: Sequence[tuple[int, int]]
) -> Block:
    """The layout of a tensor whose dimensions fall into blocks, in a dense memory.

    sizes: the tensor's. blocks: for each dimension the sizes of its inner blocks, outermost first.
    order: the digits as memory has them, the slowest first: (dimension, level), level 0 counting
    the dimension's outermost blocks. Where the blocks do not divide a size the memory is rounded
    up, and the layout Padded.
    """
    digits: list[Any] = []
    places: dict[tuple[int, int], int] = {}
    whole: list[Any] = []
    for k, (n, inner) in enumerate(zip(sizes, blocks, strict=True)):
        each = prod(inner)
        count = over(n, each)
        whole.append(count * each)
        for level, size in enumerate([count, *inner]):
            places[k, level] = len(digits)
            digits.append(size)
    memory = GroupBy(whole).OrderBy(RegP(digits, [places[at] for at in order]))
    return padded(sizes, memory)


def padded(sizes: Sequence[Any], memory: Block) -> Block:
    """The layout itself where it has these sizes, else the part of it that they fill."""
    if all(same(n, whole) for n, whole in zip(sizes, memory.dims, strict=True)):
        return memory
    return Padded(sizes, memory)


def over(n: Any, block: int) -> Any:
    """How many blocks cover n."""
    return n if block == 1 else (n + block - 1) // block
