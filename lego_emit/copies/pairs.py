"""The rows of a matrix beside the layout that its tiles have, over one index space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algebra.block import Block, is_packed
from ..algebra.layout import GroupBy, Layout, TileBy
from ..algebra.masked import ExpandBy
from ..algebra.perms import Row
from ..algebra.sizes import check_sizes, product
from ..arith.expr import Expr
from ..errors import LayoutError, short_repr
from ..trace.definition import symbols_in
from ..trace.follow import TraceOptions, run_trace
from ..trace.learn import learn_layout
from ..trace.numbered import numbered


def pair_of(
    L: Any, of: Any, called: str, sizes: Mapping[str, int] | None = None
) -> tuple[Block, Block]:
    """The layout of the rows, and the layout, over one index space. sizes: numbers that a caller puts in."""
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
    own = _Sizes(L, TraceOptions(sizes).numbers())
    if isinstance(L, ExpandBy):
        if len(matrix) != len(L.n) or not all(map(own.equal, matrix, L.n)):
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
        if not own.equal(n, covered):
            n, covered = own.at(n), own.at(covered)
            way = "; give the sizes that they cover, or pack Padded([..sizes..], layout) without of= where they end beyond the matrix"
            raise LayoutError(
                f"{called}: of= has {n} on axis {axis}, and the tiles of {L!r} cover {covered}{way * ((n - covered).constant is None)}"
            )
    rows: Layout = TileBy(*tiles) if len(tiles) > 1 else GroupBy(*tiles)
    return rows if order is None else rows.OrderBy(order), L


class _Sizes:
    """Sizes of a layout with numbers for some symbols: what is equal as far as a copy's header assumes it, in which
    tiles of M // 8 have an M of which 8 is a factor."""

    def __init__(self, layout: Block, numbers: Mapping[str, int]):
        known = {name: n for name, n in numbers.items() if name in symbols_in(layout)}
        own = numbered(layout, known)[0] if known else layout
        trace, _ = run_trace(lambda t: learn_layout(own, t.running()), TraceOptions(), False)
        self._known, self._numbers = trace.analyzer, numbers

    def at(self, n: Any) -> Expr:
        """The size at the numbers."""
        e = Expr.of(n)
        is_same = e.symbols().isdisjoint(self._numbers)
        return e if is_same else self._known.with_numbers(e, self._numbers)

    def equal(self, n: Any, m: Any) -> bool:
        """Whether two sizes are equal wherever the header allows them."""
        return self._known.rebuilt(self.at(n) - self.at(m)).constant == 0


def check_layout(called: str, given: Any) -> None:
    """Raise LayoutError where what a function is given is no layout."""
    if not isinstance(given, Block):
        way = (
            ", and elements are whole bytes; fields of words are packed by NAME_set of generate(), or in a template by "
            "W.position"
        )
        raise LayoutError(f"{called}: {short_repr(given)} is not a layout{way * is_packed(given)}")
