"""The matrix over F2 of a graph's nodes, compared with them at every point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algebra.reference import isqrt_array
from ..ir.nodes import Node
from ..operations import OPS
from ..packages import numpy as np
from .graph import Graph, Inputs, apart

CHUNK = 2**12  # points that are looked at together
LARGE = 2**62


def columns_of(
    graph: Graph, reached: Sequence[Node], roots: Sequence[Node], inputs: Inputs
) -> list[tuple[int, list[int]]] | None:
    """(the image of zero, the images of the input bits) of each root; None where it is not affine at
    some point."""
    bits = sum(bits for _, bits in inputs)
    basis = np.array([0, *(1 << k for k in range(bits))])
    first = _over(graph, reached, roots, apart(inputs, basis))
    if first is None or any((f < 0).any() for f in first):
        return None
    found = [(int(f[0]), [int(v) ^ int(f[0]) for v in f[1:]]) for f in first]
    for begin in range(0, 1 << bits, CHUNK):
        points = np.arange(begin, min(begin + CHUNK, 1 << bits))
        values = _over(graph, reached, roots, apart(inputs, points))
        if values is None:
            return None
        for (start, images), value in zip(found, values, strict=True):
            wanted = np.full(len(points), start)
            for k, image in enumerate(images):
                wanted ^= (points >> k & 1) * image
            if (wanted != value).any():
                return None
    return found


def _over(
    graph: Graph,
    reached: Sequence[Node],
    roots: Sequence[Node],
    values: Mapping[Node, np.ndarray],
) -> list[np.ndarray] | None:
    """The roots' values at many points; None where one has no value or is too large for NumPy."""
    known = dict(values)
    size = len(next(iter(values.values())))
    for k in reached:
        if k in known:
            continue
        op, args = k.op, [known[a] for a in k.args]
        if op == "const":
            if abs(k.value) >= LARGE:
                return None
            known[k] = np.full(size, k.value)
        elif op == "table":
            if not k.value.values or k.value.most >= LARGE:
                return None
            known[k] = np.array(k.value.values)
        elif op == "within":
            known[k] = args[0]
        elif not _fits(op, args):
            return None
        else:
            known[k] = _COLUMNS[op](*args)
    return [known[r].astype(np.int64) for r in roots]


def _fits(op: str, args: Sequence[np.ndarray]) -> bool:
    """Whether an operation has a value everywhere, and none overflows."""
    if OPS[op].floored:
        return not (args[1] == 0).any()
    if op == "isqrt":
        return not (args[0] < 0).any()
    if op == "lookup":
        return bool((args[1] >= 0).all() and (args[1] < len(args[0])).all())
    if op not in ("add", "sub", "mul", "shl", "shr"):
        return True
    a, b = (max(abs(int(x.min())), abs(int(x.max()))) for x in args)
    if op in ("shl", "shr"):
        return int(args[1].min()) >= 0 and b < 62 and (op == "shr" or a << b < LARGE)
    return (a * b if op == "mul" else a + b) < LARGE


_COLUMNS: dict[str, Any] = {
    **{op: row.arrays or row.value for op, row in OPS.items()},
    "isqrt": isqrt_array,  # of 64 bits each, where any length would be slow
    "lookup": lambda table, place: table[place],
    "int": lambda c: c.astype(np.int64),
    "select": np.where,
}
