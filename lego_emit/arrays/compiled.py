"""Movements by the compiled routines of lego_emit.copies, on NumPy's arrays and on tensors in main memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..algebra.block import Block
from ..copies.unit import Copy, copy
from ..errors import LayoutError
from ..packages import numpy as np
from .owners import NumPy, Owner
from .plan import Movement


def moved(found: Movement, x: Any, fill: Any, out: Any, owner: Owner) -> Any:
    """The destination's memory, row after row of x, (.., source_size).

    Raises LayoutError where elements are no bytes in main memory, ToolchainError where the C compiler is
    missing.
    """
    if not isinstance(owner, NumPy):
        raise LayoutError(
            "engine='compiled' takes NumPy's arrays; x.numpy() is a view of a tensor's memory"
        )
    if x.dtype.hasobject:
        raise LayoutError("engine='compiled' moves bytes, and the array holds Python objects")
    result = owner.new(x, (*x.shape[:-1], found.size), fill) if out is None else out
    if out is not None:
        result[...] = owner.new(x, (), fill)
    given = np.ascontiguousarray(x).reshape(-1, x.shape[-1])
    rows = result.reshape(-1, found.size)
    for one, row in zip(given, rows, strict=True):
        unit_of(found.source, found.destination, x.dtype.itemsize).run(one, out=row)
    if not np.may_share_memory(rows, result):
        result[...] = rows.reshape(result.shape)
    return result


@lru_cache(maxsize=32)
def unit_of(source: Block, destination: Block, element: int) -> Copy:
    """The routine, which leaves what it pads as it is."""
    return copy(source, destination, "c", element=element, zero=False)
