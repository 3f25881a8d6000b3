"""The unsimplified index of a layout: Figs. 4 and 5 of the paper, written down on Trees.

Every digit is reduced, the leading one too, and an OrderBy's tiles are told apart before their
dimensions are: what somebody who trusts no range writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lego_emit.algebra.block import Block
from lego_emit.algebra.genp import GenP
from lego_emit.algebra.layout import Layout, OrderBy
from lego_emit.algebra.perms import RegP


def apply(layout: Layout, indices: Sequence[Any]) -> Any:
    """The position of a logical index."""
    flat = _flattened(layout.dims, indices)
    for order in layout.chain:
        position = 0
        for perm, part in zip(order.perms, _tiles(order, flat), strict=True):
            position = position * perm.size + _perm_apply(perm, _digits(perm.dims, part))
        flat = position
    return flat


def inv(layout: Layout, flat: Any) -> tuple[Any, ...]:
    """The logical index of a position."""
    for order in reversed(layout.chain):
        indices: list[Any] = []
        for perm, part in zip(order.perms, _tiles(order, flat), strict=True):
            indices += _perm_inv(perm, part)
        flat = _flattened(order.dims, indices)
    return tuple(_digits(layout.dims, flat))


def _tiles(order: OrderBy, flat: Any) -> list[Any]:
    return _digits([perm.size for perm in order.perms], flat)


def _perm_apply(perm: Block, indices: Sequence[Any]) -> Any:
    if isinstance(perm, GenP):
        return perm.apply_function(*indices)
    assert isinstance(perm, RegP)
    return _flattened([perm.dims[k] for k in perm.perm], [indices[k] for k in perm.perm])


def _perm_inv(perm: Block, flat: Any) -> Sequence[Any]:
    if isinstance(perm, GenP):
        return perm.inv_function(flat)
    assert isinstance(perm, RegP)
    found: list[Any] = [None] * len(perm.dims)
    digits = _digits([perm.dims[k] for k in perm.perm], flat)
    for k, digit in zip(perm.perm, digits, strict=True):
        found[k] = digit
    return found


def _flattened(dims: Sequence[Any], indices: Sequence[Any]) -> Any:
    flat: Any = 0
    for n, i in zip(dims, indices, strict=True):
        flat = flat * n + i
    return flat


def _digits(dims: Sequence[Any], flat: Any) -> list[Any]:
    if len(dims) == 1:
        return [flat]
    digits = []
    for n in reversed(dims):
        digits.append(flat % n)
        flat = flat // n
    return digits[::-1]
