"""The rows of a matrix beside the layout that its tiles have, over one index space."""

from __future__ import annotations

from random import Random
from typing import Any

from ..algebra.block import Block, is_packed
from ..algebra.layout import GroupBy, Layout, TileBy
from ..algebra.masked import ExpandBy
from ..algebra.perms import Row
from ..algebra.sizes import check_sizes, product
from ..arith.expr import Expr
from ..errors import LayoutError, short_repr
from .values import value_of


def pair_of(L: Any, of: Any, called: str) -> tuple[Block, Block]:
    """The layout of the rows, and the layout, over one index space."""
    check_layout(called, L)
    if of is None:
        if isinstance(L, ExpandBy):
            return ExpandBy(L.n, L.n_prime, TileBy(*L.layout.tiles)), L
        return Row(*L.dims), L
    if isinstance(of, Block):
        matrix, order = of.dims, of
    else:
        matrix, order = (
            check_sizes(list(of) if isinstance(of, tuple) else of, f"{called}(of=)"),
            None,
        )
    if isinstance(L, ExpandBy):
        if len(matrix) != len(L.n) or any(
            _signs(*pair) != {0} for pair in zip(matrix, L.n, strict=True)
        ):
            raise LayoutError(
                f"{called}: of= is {short_repr(of)}, and {L!r} has a matrix of {', '.join(map(str, L.n))}; leave out of="
            )
        return ExpandBy(L.n, L.n_prime, TileBy(*L.layout.tiles)), L
    d = len(matrix)
    if len(L.dims) % d:
        raise LayoutError(
            f"{called}: {L!r} has {len(L.dims)} indices, no multiple of the {d} sizes of of={short_repr(of)}; "
            "tiles have as many sizes as the matrix on each level"
        )
    tiles = [list(L.dims[k : k + d]) for k in range(0, len(L.dims), d)]
    for axis, n in enumerate(matrix):
        covered = product([tile[axis] for tile in tiles])
        signs = _signs(n, covered)
        if 0 not in signs or 1 in signs:  # tiles of M // 8 have an M of which 8 is a factor
            way = "; give the sizes that they cover, or pack Padded([..sizes..], layout) without of= where they end beyond the matrix"
            raise LayoutError(
                f"{called}: of= has {n} on axis {axis}, and the tiles of {L!r} cover {covered}{way * (0 in signs)}"
            )
    rows: Layout = TileBy(*tiles) if len(tiles) > 1 else GroupBy(*tiles)
    return rows if order is None else rows.OrderBy(order), L


def _signs(n: Any, m: Any) -> set[int]:
    """The signs of m - n: of numbers, or with symbols at each of some numbers that sizes may be."""
    x, y = Expr.of(n), Expr.of(m)
    names, found = sorted(x.symbols() | y.symbols()), set[int]()
    for seed in range(32):
        draw = Random(seed)
        most = 0 if seed == 0 else 6
        numbers = {
            name: 2 ** draw.randint(0, most) * 3 ** draw.randint(0, most // 6) for name in names
        }
        more = value_of(y, numbers) - value_of(x, numbers)
        found.add((more > 0) - (more < 0))
    return found


def check_layout(called: str, given: Any) -> None:
    """Raise LayoutError where what a function is given is no layout."""
    if not isinstance(given, Block):
        way = (
            ", and elements are whole bytes; fields of words are packed by NAME_set of generate(), or in a template by "
            "W.position"
        )
        raise LayoutError(f"{called}: {short_repr(given)} is not a layout{way * is_packed(given)}")
