"""Tiles in a memory: the layout that most formats are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.layout import GroupBy
from ..algebra.masked import Padded
from ..algebra.nested import same, times
from ..algebra.strided import Strided
from ..errors import LayoutError, short_repr


def tiled(
    sizes: Sequence[Any],
    blocks: Sequence[Sequence[Any]],
    order: Sequence[tuple[int, int]],
    *,
    pitch: Any = None,
    whole: str | None = None,
) -> Block:
    """The layout of a tensor whose dimensions fall into blocks.

    sizes: the tensor's. blocks: for each dimension the sizes of its inner blocks, outermost first.
    order: the digits as memory has them, the slowest first: (dimension, level), level 0 counting
    the dimension's outermost blocks. pitch: the stride of the slowest digit, unless the memory is
    dense. Where the blocks do not divide a size the memory is rounded up, and the layout Padded; with
    whole, a construct's name, such a size is refused (LayoutError), and symbols are assumed to divide.
    """
    digits = [
        [over(n, prod(inner)) if whole is None else count(n, prod(inner), whole), *inner]
        for n, inner in zip(sizes, blocks, strict=True)
    ]
    strides: dict[tuple[int, int], Any] = {}
    running: Any = 1
    for axis, level in reversed(order):
        strides[axis, level] = running
        running = times(running, digits[axis][level])
    if pitch is not None:
        strides[order[0]] = pitch
    steps = [[strides[axis, k] for k in range(len(each))] for axis, each in enumerate(digits)]
    memory = Strided(tuple(map(_mode, digits)), tuple(map(_mode, steps)))
    return padded(sizes, memory) if whole is None else filled(sizes, memory)


def _mode(digits: Sequence[Any]) -> Any:
    """A dimension's digits as a mode, the fastest first."""
    return tuple(reversed(digits)) if len(digits) > 1 else digits[0]


def padded(sizes: Sequence[Any], memory: Block) -> Block:
    """The layout itself where it has these sizes, else the part of it that they fill."""
    return memory if _has(memory, sizes) else Padded(sizes, memory)


def filled(sizes: Sequence[Any], memory: Block) -> Block:
    """The layout, of these sizes: symbols are assumed to be what its own are."""
    return memory if _has(memory, sizes) else GroupBy(sizes).OrderBy(memory)


def _has(memory: Block, sizes: Sequence[Any]) -> bool:
    return all(same(n, whole) for n, whole in zip(sizes, memory.dims, strict=True))


def over(n: Any, block: Any) -> Any:
    """How many blocks cover n."""
    return n if same(block, 1) else (n + block - 1) // block


def count(n: Any, block: int, whole: str) -> Any:
    """How many blocks n has, of a construct that takes whole ones only. Raises LayoutError."""
    if block == 1:
        return n
    if isinstance(n, int) and n % block:
        raise LayoutError(
            f"{whole}: {short_repr(n)} is not a multiple of {block}; pad it to {over(n, block) * block}"
        )
    return n // block
