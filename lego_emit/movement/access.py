"""Where each lane's registers lie in memory: a memory layout after what says where a lane reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.linear import Linear
from ..errors import LayoutError, error_text, line_in, short_repr
from ..numeric import is_integer
from ..packages import numpy as np
from .memories import SharedMemory

LANE, REGISTER = "lane", "register"
MOST = 2**20  # lanes times registers that are looked at
OFF = -1  # of a lane that takes no part
Access = Block | Callable[..., Any]


def offsets(
    memory: Any, access: Any, gpu: SharedMemory, registers: int, construct: str
) -> np.ndarray:
    """The element that each register of each lane of each warp has in memory, -1 where it takes no
    part: an array (warps, lanes, registers). Raises LayoutError where there is none."""
    _check_memory(memory, construct)
    if isinstance(access, Block):
        index, shape = _of_layout(access, gpu, construct)
    elif callable(access):
        index, shape = _of_function(access, gpu, registers, construct)
    else:
        raise LayoutError(
            f"{construct}: the access is {short_repr(access)}; give a layout, or a function of lane (and "
            "register) that gives coordinates"
        )
    return _positions(memory, access, index, construct).reshape(shape)


def called(call: str, *given: Any) -> str:
    """A call as errors name it; functions by their names, linear layouts by those of their sides."""
    return f"{call}({', '.join(map(_said, given))})"


def _said(given: Any) -> str:
    if isinstance(given, Linear):
        return f"Linear({', '.join(given.coordinates)} to {', '.join(given.results)})"
    return getattr(given, "__name__", None) or short_repr(given)


def _check_memory(memory: Any, construct: str) -> None:
    if not isinstance(memory, Block):
        raise LayoutError(
            f"{construct}: the memory is {short_repr(memory)}; give a layout from coordinates to an offset"
        )
    if len(memory.results or ()) > 1:
        way = "its inverse() does" if memory.has_inverse else "flatten_outs() makes one of them"
        raise LayoutError(
            f"{construct}: the memory {memory!r} gives {', '.join(memory.results or ())}, and an "
            f"offset is asked for; {way}"
        )
    _check_concrete(memory, construct)


def _check_concrete(layout: Block, construct: str) -> None:
    if not layout.is_concrete:
        raise LayoutError(
            f"{construct}: {layout!r} has sizes that are symbols; give numbers for them"
        )


# -- what a lane reads ---------------------------------------------------------------------------

Index = list[np.ndarray]  # the access' results, one array for each, of all warps, lanes, registers
Shape = tuple[int, int, int]


def _of_layout(access: Block, gpu: SharedMemory, construct: str) -> tuple[Index, Shape]:
    """The results of a layout at every index, lanes and registers by name; where it has none, its
    first dim counts the lanes and the others the registers."""
    _check_concrete(access, construct)
    dims = [int(n) for n in access.dims]
    names = [*(access.coordinates or [LANE, *[REGISTER] * (len(dims) - 1)])]
    if LANE not in names:
        raise LayoutError(
            f"{construct}: the access {access!r} takes {', '.join(names)}, and none is {LANE!r}"
        )
    if np.prod(dims, dtype=object) > MOST:
        raise LayoutError(f"{construct}: the access {access!r} has more than {MOST} elements")
    order = [k for k, n in enumerate(names) if n not in (LANE, REGISTER)]
    warps = int(np.prod([dims[k] for k in order], dtype=np.int64))
    lanes = dims[names.index(LANE)]
    order.append(names.index(LANE))
    order += [k for k, n in enumerate(names) if n == REGISTER]
    if lanes > gpu.lanes:
        if lanes % gpu.lanes:
            raise LayoutError(
                f"{construct}: the access {access!r} has {lanes} lanes, and a warp {gpu.lanes}"
            )
        warps, lanes = warps * (lanes // gpu.lanes), gpu.lanes
    grid = np.indices(dims).transpose(0, *(1 + k for k in order)).reshape(len(dims), -1)
    found = reference.apply(access, [*grid])
    results = found if isinstance(found, tuple) else (found,)
    count = grid.shape[1]
    made = [np.broadcast_to(np.asarray(r), (count,)).astype(np.int64) for r in results]
    return made, (warps, lanes, count // (warps * lanes))


def _of_function(
    access: Callable[..., Any], gpu: SharedMemory, registers: int, construct: str
) -> tuple[Index, Shape]:
    """The results of a function of lane, or of lane and register."""
    try:
        names = [*inspect.signature(access).parameters]
    except (TypeError, ValueError):
        names = [LANE]
    if len(names) not in (1, 2):
        raise LayoutError(
            f"{construct}: the access takes {', '.join(names) or 'nothing'}; it is asked with a lane, "
            "or with lane and register"
        )
    count = 1 if len(names) == 1 else registers
    if gpu.lanes * count > MOST:
        raise LayoutError(f"{construct}: more than {MOST} elements of {count} registers")
    swapped = len(names) == 2 and names[0] == REGISTER
    found = []
    for lane in range(gpu.lanes):
        for register in range(count):
            given = (lane, register)[: len(names)]
            try:
                value = access(*(given[::-1] if swapped else given))
            except (Exception, SystemExit) as error:
                raise LayoutError(
                    f"{construct}: the access raised {type(error).__name__}{line_in(access, error)} "
                    f"for lane {lane}, register {register}: {error_text(error)}"
                ) from error
            found.append(_coordinates(value, lane, register, construct))
    wide = max(map(len, found), default=0)
    rows = [row or (OFF,) * wide for row in found]
    if any(len(row) != wide for row in rows):
        raise LayoutError(f"{construct}: the access gives now more, now fewer coordinates")
    return [*np.array(rows, dtype=np.int64).T], (1, gpu.lanes, count)


def _coordinates(value: Any, lane: int, register: int, construct: str) -> tuple[int, ...]:
    """What a function gave; () where the lane takes no part."""
    if value is None:
        return ()
    row = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not all(is_integer(v) and -(2**63) <= v < 2**63 for v in row):
        raise LayoutError(
            f"{construct}: the access gives {short_repr(value)} for lane {lane}, register {register}; "
            "give integers, or None where a lane takes no part"
        )
    return tuple(int(v) for v in row)


# -- where it lies -------------------------------------------------------------------------------


def _positions(memory: Block, access: Any, index: Index, construct: str) -> np.ndarray:
    dims = [int(n) for n in memory.dims]
    active = np.logical_or.reduce([i != OFF for i in index])
    if len(index) == 1 and len(dims) > 1:
        total = int(np.prod(dims, dtype=object))
        _check_inside(index, [total], active, memory, construct)
        index = [*np.unravel_index(np.where(active, index[0], 0), dims)]
    elif len(index) != len(dims):
        raise LayoutError(
            f"{construct}: the access gives {len(index)} coordinates, and the memory {memory!r} takes "
            f"{len(dims)}"
        )
    else:
        _check_inside(index, dims, active, memory, construct)
    inside = [np.where(active, i, 0) for i in index]
    found = reference.apply(memory, inside)
    found = found[0] if isinstance(found, tuple) else found
    found = np.broadcast_to(np.asarray(found), active.shape)
    if (found[active] < 0).any() and not memory.masks:
        raise LayoutError(
            f"{construct}: the memory {memory!r} has negative offsets; banks count from 0"
        )
    return np.where(active & (found >= 0), found, OFF).astype(np.int64)


def _check_inside(
    index: Sequence[np.ndarray],
    dims: Sequence[int],
    active: np.ndarray,
    memory: Block,
    construct: str,
) -> None:
    for k, (i, n) in enumerate(zip(index, dims, strict=True)):
        wrong = active & ((i < 0) | (i >= n))
        if wrong.any():
            raise LayoutError(
                f"{construct}: the access gives {int(i[np.flatnonzero(wrong)[0]])} for coordinate {k} "
                f"of the memory {memory!r}, which lies in 0..{n - 1}"
            )
