"""Whether two layouts are the same map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import LayoutError, shown
from .block import Block, outside
from .figures import unflatten
from .sizes import product

MOST_COMPARED = 2**22  # indices of two layouts that are all looked at


@dataclass(frozen=True)
class Same:
    """Whether two layouts are the same map. verdict: True, False, or None where that is not decided;
    counterexample: an index at which they differ; why: in words."""

    verdict: bool | None
    counterexample: tuple[int, ...] | None = None
    why: str = ""

    def __bool__(self) -> bool:
        """Whether they are the same for certain."""
        return self.verdict is True

    def __str__(self) -> str:
        said = {True: "the same map", False: "different maps", None: "undecided"}[self.verdict]
        return f"{said}: {self.why}" if self.why else said


def same_map(a: Block, b: Block) -> Same:
    """Whether two layouts give the same position at every index; a != b may still hold, which is
    about how they are written.

    Up to 2**22 indices all are looked at. Above, and where sizes are symbols, the simplified
    formulas are compared, and samples: then it may stay undecided.
    Raises LayoutError where one is no layout.
    """
    for block in (a, b):
        if not isinstance(block, Block):
            raise LayoutError(f"same_map: {shown(block)} is not a layout")
    if len(a.dims) != len(b.dims):
        return Same(False, None, f"one has {len(a.dims)} dims, the other {len(b.dims)}")
    if not (a.is_concrete and b.is_concrete):
        return outside("symbols").same_map(a, b)
    if tuple(a.dims) != tuple(b.dims):
        return Same(False, None, f"the dims are {list(a.dims)} and {list(b.dims)}")
    if product(a.dims) > MOST_COMPARED:
        return outside("symbols").same_map(a, b)
    return _compared(a, b)


def _results(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _compared(a: Block, b: Block) -> Same:
    from ..packages import numpy as np
    from . import reference

    index = unflatten(a.dims, np.arange(product(a.dims)))
    one, other = (
        np.stack(np.broadcast_arrays(*_results(reference.apply(x, index)))) for x in (a, b)
    )
    if len(one) != len(other):
        return Same(False, None, f"one has {len(one)} results, the other {len(other)}")
    wrong = np.flatnonzero((one != other).any(axis=0))
    if not len(wrong):
        return Same(True)
    at = tuple(int(i[wrong[0]]) for i in index)
    return Same(False, at, f"at {at} {a.apply(*at)} and {b.apply(*at)}")
