"""Whether two layouts are the same map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .block import Block
from .paper_definitions import reference_unravel
from .sizes import product


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


def _results(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def differing(a: Block, b: Block, count: int) -> Same | None:
    """The first difference among so many first indices, and as many spread over all; None where they
    show none, and where there are few more. Tables of a layout are not made for it."""
    size = product(a.dims)
    if size <= 4 * count:
        return None
    for number in (*range(count), *range(0, size, size // count), size - 1):
        at = tuple(map(int, reference_unravel(a.dims, number)))
        one, other = a.apply(*at), b.apply(*at)
        if one != other and len(_results(one)) == len(_results(other)):
            return Same(False, at, f"at {at} {one} and {other}")
    return None


def compared(a: Block, b: Block) -> Same:
    """Whether two layouts of the same dims, all integers, are the same map: all indices are looked
    at."""
    from ..packages import numpy as np
    from . import reference

    index = reference_unravel(a.dims, np.arange(product(a.dims)))
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
