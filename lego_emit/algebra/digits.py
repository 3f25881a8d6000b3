"""Mixed-radix digits over any kind of number: the steps that blocks are evaluated in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def ravel(sizes: Sequence[Any], index: Sequence[Any]) -> Any:
    """The row-major position of an index."""
    flat = 0
    for n, i in zip(sizes, index, strict=True):
        flat = flat * n + i
    return flat


def unravel(sizes: Sequence[Any], flat: Any) -> list[Any]:
    """The index of a row-major position; the first digit is what is left."""
    digits: list[Any] = []
    for n in reversed(sizes[1:]):
        flat, digit = divmod(flat, n)
        digits.insert(0, digit)
    return [flat, *digits]
