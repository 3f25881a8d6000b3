"""Where two layouts differ, and what copying from one into the other costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

from ..algebra.block import Block
from ..algebra.digits import ravel, unravel
from ..algebra.reference import table
from ..errors import LayoutError

MOST = 20  # differences that are shown


@dataclass(frozen=True, repr=False)
class Comparison:
    """What compare() found; true where the layouts are one.

    indices: how many there are. differ: how many have another position in the second layout.
    first: differences as "apply[4, 1]: 6 -> 8", the first ones. runs: the lengths of the stretches
    that are contiguous in both memories, in the order of the first; None where it is no one-to-one
    map.
    """

    indices: int
    differ: int
    first: tuple[str, ...]
    runs: list[int] | None

    def __bool__(self) -> bool:
        return not self.differ

    def __repr__(self) -> str:
        return f"<comparison: {self.differ} of {self.indices} indices differ>"

    def __str__(self) -> str:
        if not self.differ:
            return f"equal at all {self.indices} indices"
        lines = [f"{self.differ} of {self.indices} indices differ", *self.first]
        if self.runs is None:
            lines.append("no re-layout: one of them has several indices at one position")
        elif self.runs:
            least, most = min(self.runs), max(self.runs)
            each = f"{least} element{'s' * (least > 1)} each"
            if least != most:
                each = f"{least} to {most} elements, {median(self.runs):g} in the median"
            lines.append(
                f"a copy from the first to the second: {len(self.runs)} contiguous "
                f"run{'s' * (len(self.runs) > 1)} of {each}; lego_emit.copy emits it"
            )
        return "\n".join(lines)


def compare(one: Block, other: Block) -> Comparison:
    """Compare two layouts of integer sizes index by index.

    Layouts of different shapes but as many elements are compared by their flat logical index.
    Raises LayoutError where the numbers of elements differ, or are too large for a table.
    """
    if one.size != other.size:
        raise LayoutError(
            f"{one!r} has {one.size} elements and {other!r} has {other.size}; only layouts of one "
            "index space can be compared"
        )
    a, b = _flat(one), _flat(other)
    shape = one.dims if one.dims == other.dims else (one.size,)
    where = [k for k in range(one.size) if a[k] != b[k]]
    first = [f"apply{unravel(shape, k)}: {a[k]} -> {b[k]}" for k in where[:MOST]]
    if len(where) > MOST:
        first.append(f"and {len(where) - MOST} more of {one.size}")
    return Comparison(one.size, len(where), tuple(first), _runs(a, b))


def _flat(layout: Block) -> list[int]:
    """The position of every index; of several results their row-major flat index."""

    def position(found: Any) -> Any:
        return ravel(layout.physical_dims, found) if isinstance(found, tuple) else found

    try:
        found = position(table(layout))
    except ModuleNotFoundError:  # one by one where there is no NumPy
        indices = product(*map(range, layout.dims))
        return [position(layout.reference_apply(index)) for index in indices]
    return found.tolist() if found.ndim else [int(found)] * layout.size


def _runs(a: Sequence[int], b: Sequence[int]) -> list[int] | None:
    both = [(p, q) for p, q in zip(a, b, strict=True) if p >= 0 and q >= 0]
    if len({p for p, _ in both}) != len(both) or len({q for _, q in both}) != len(both):
        return None
    both.sort()
    runs: list[int] = []
    for k, (p, q) in enumerate(both):
        if k and both[k - 1] == (p - 1, q - 1):
            runs[-1] += 1
        else:
            runs.append(1)
    return runs
