"""Where two layouts differ, and what copying from one into the other costs."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.block import Block
from ..algebra.reference import table
from ..errors import LayoutError
from ..packages import numpy as np
from ..tables import Table, differences


@dataclass(frozen=True)
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
    runs: np.ndarray | None

    def __bool__(self) -> bool:
        return not self.differ

    def __str__(self) -> str:
        if not self.differ:
            return f"equal at all {self.indices} indices"
        lines = [f"{self.differ} of {self.indices} indices differ", *self.first]
        if self.runs is None:
            lines.append("no re-layout: one of them has several indices at one position")
        elif len(self.runs):
            least, most = int(self.runs.min()), int(self.runs.max())
            each = f"{least} element{'s' * (least > 1)} each"
            if least != most:
                each = f"{least} to {most} elements, {np.median(self.runs):g} in the median"
            lines.append(
                f"a copy from the first to the second: {len(self.runs)} contiguous "
                f"run{'s' * (len(self.runs) > 1)} of {each}"
            )
        return "\n".join(lines)


def compare(one: Block, other: Block) -> Comparison:
    """Compare two layouts of integer sizes index by index.

    Layouts of different shapes but as many elements are compared by their flat logical index.
    Raises LayoutError where the numbers of elements differ.
    """
    if one.size != other.size:
        raise LayoutError(
            f"{one!r} has {one.size} elements and {other!r} has {other.size}; only layouts of one "
            "index space can be compared"
        )
    a, b = _flat(one), _flat(other)
    shape = one.dims if one.dims == other.dims else (one.size,)
    found = differences(*(Table.of("apply", x.reshape(shape)) for x in (a, b)))
    return Comparison(one.size, int((a != b).sum()), tuple(found), _runs(a, b))


def _flat(layout: Block) -> np.ndarray:
    """The position of every index; of several results their row-major flat index."""
    found = table(layout)
    if not isinstance(found, tuple):
        return np.broadcast_to(found, layout.size)
    every = tuple(np.broadcast_to(x, layout.size) for x in found)
    return np.asarray(np.ravel_multi_index(every, layout.physical_dims))


def _runs(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    both = (a >= 0) & (b >= 0)
    order = np.argsort(a[both])
    source, target = a[both][order], b[both][order]
    if len(np.unique(source)) != len(source) or len(np.unique(target)) != len(target):
        return None
    breaks = np.flatnonzero((np.diff(source) != 1) | (np.diff(target) != 1)) + 1
    ends = np.concatenate([[0], breaks, [len(source)]])
    return np.diff(ends) if len(source) else np.zeros(0, int)
