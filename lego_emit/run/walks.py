"""Walks that run: the sequence of one as arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import VerifyError
from ..ir.program import Function
from ..ir.walks import Odometer

if TYPE_CHECKING:
    import numpy as np


def walk_symbol(unit: int, position: int) -> str:
    """The exported name of a walk's wrapper."""
    return f"lego_walk_{unit}_{position}"


def parameters(function: Function) -> list[str]:
    """What a caller passes to the walk of a function: sizes and fixed indices, first indices, last ones; of memory of
    any rank the rank, and as many elements of shape and of strides as there may be."""
    walk = function.walk
    assert walk is not None
    if isinstance(walk, Odometer):
        return [
            "rank",
            *(f"{name}[{k}]" for name in ("shape", "strides") for k in range(walk.most)),
        ]
    ends = [walk.names[f"{end} {n}"] for end in ("first", "last") for n in walk.axes]
    return [*walk.fixed, *ends]


def c_walk_declaration(unit: int, position: int, function: Function) -> str:
    """The C declaration of a walk's wrapper: how many results are wanted, what the walk takes, and an array for
    each result with room for one more. The first array's last element is how many there were."""
    assert function.walk is not None
    scalars = [f"int64_t s{k}" for k in range(len(parameters(function)))]
    outputs = [f"int64_t *out{k}" for k in range(len(function.walk.results))]
    return f"void {walk_symbol(unit, position)}({', '.join(['int64_t n', *scalars, *outputs])})"


def runner(library: Any, position: int, function: Function, name: str) -> Callable[..., Any]:
    """What runs the walk of a function: takes integers, and gives the sequence of its results as an int64 array, or
    a tuple of those."""
    names, walk = parameters(function), function.walk
    assert walk is not None
    if isinstance(walk, Odometer):
        return _of_any_rank(library, position, function, name, walk.most)

    def run(*arguments: Any) -> Any:
        if len(arguments) != len(names):
            raise TypeError(
                f"{name} takes {len(names)} arguments ({', '.join(names)}), got {len(arguments)}"
            )
        scalars = [operator.index(a) for a in arguments]
        first, last = _box(scalars[len(walk.fixed) :])
        count = math.prod(max(b - a, 0) for a, b in zip(first, last, strict=True))
        *outputs, ended = library.call_walk(position, function, scalars, count)
        if ended != count:
            raise VerifyError(f"{name}: the walk gave {ended} results where the box has {count}")
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    run.__name__ = run.__qualname__ = name
    return run


def _of_any_rank(
    library: Any, position: int, function: Function, name: str, most: int
) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        if len(arguments) != 3:
            raise TypeError(
                f"{name} takes 3 arguments (rank, shape, strides), got {len(arguments)}"
            )
        rank, shape, strides = operator.index(arguments[0]), [*arguments[1]], [*arguments[2]]
        if not 0 <= rank <= most or len(shape) != rank or len(strides) != rank:
            raise TypeError(f"{name} takes a rank from 0 to {most}, and as many sizes and strides")
        more = [0] * (most - rank)
        scalars = [rank, *map(operator.index, [*shape, *more, *strides, *more])]
        outputs, ended = library.call_walk(position, function, scalars, count := math.prod(shape))
        if ended != count:
            raise VerifyError(f"{name}: the walk gave {ended} results where the shape has {count}")
        return outputs

    run.__name__ = run.__qualname__ = name
    return run


def _box(ends: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    half = len(ends) // 2
    return ends[:half], ends[half:]


def native_walk(
    ffi: Any, wrapper: Any, function: Function, scalars: list[int], count: int
) -> list[Any]:
    """The sequences of a walk that a native library runs, and how many results it gave."""
    from ..packages import numpy as np

    assert function.walk is not None
    outputs: list[np.ndarray] = [
        np.full(count + 1, np.iinfo(np.int64).min, np.int64) for _ in function.walk.results
    ]
    wrapper(count, *scalars, *(ffi.cast("int64_t *", a.ctypes.data) for a in outputs))
    return [*(a[:count] for a in outputs), int(outputs[0][count])]
