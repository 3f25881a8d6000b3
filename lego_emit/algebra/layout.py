"""Views and the reorderings below them: OrderBy, GroupBy and TileBy (Figs. 3 to 5, section III-B).

Blocks are immutable values: they compare, hash and print as the expression that makes them.

Indices and permutations are 0-based, as in NumPy; the paper's sigma is 1-based.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from ..errors import LayoutError, LazyText, a_type, short_repr
from .block import Block, Change, Indexable, Numbers, whole_size
from .digits import ravel, unravel
from .paper_definitions import reference_ravel, reference_unravel
from .perms import RegP
from .sizes import check_same_size, check_sizes, comparable, listed

ONE_WAY = (
    "write the other blocks as a layout L and what the GenP does as a function f of L's position: "
    "GroupBy(L.dims).OrderBy(GenP(L.dims, lambda *i: f(L.apply(*i))))"
)


class PhysicalFirst:
    """The spelling that starts at the memory: OrderBy(O1).OrderBy(O2).GroupBy([6, 6]) is
    GroupBy([6, 6]).OrderBy(O2).OrderBy(O1)."""

    def _physical_first(self) -> tuple[Ordering, ...]:
        raise NotImplementedError

    def OrderBy(self, *perms: Block) -> OrderByChain:
        """One more step towards the logical side."""
        return OrderByChain((*self._physical_first(), OrderBy(*perms)))

    def GroupBy(self, *tiles: Any) -> Layout:
        """The layout of these tiles over the steps so far."""
        return self._over(GroupBy(*tiles))

    def TileBy(self, *tiles: Any) -> Layout:
        """The tiled layout of these tiles over the steps so far."""
        return self._over(TileBy(*tiles))

    def _over(self, layout: Layout) -> Layout:
        for order in reversed(self._physical_first()):
            layout = layout.OrderBy(order)
        return layout


@dataclass(frozen=True, repr=False, eq=False, init=False)
class OrderBy(Indexable, PhysicalFirst):
    """One reordering: a hierarchy of tiles, outermost first, each with its permutation (Fig. 4).

    perms: RegP and GenP blocks or any other layouts, or a single OrderBy, whose perms are taken. A
    layout that is no bijection (a pitch, padding, a broadcast) stands alone, and next to the memory:
    there is no inv then.

    Raises LayoutError on anything else.

        >>> from lego_emit import OrderBy, Row, TileBy
        >>> tiles = OrderBy(Row(6, 8)).TileBy([2, 2], [3, 4])
        >>> tiles == TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))
        True
    """

    perms: tuple[Block, ...]

    def __init__(self, *perms: Block):
        found = perms[0].perms if len(perms) == 1 and isinstance(perms[0], OrderBy) else perms
        if not found:
            raise LayoutError("OrderBy(): give at least one RegP, Row, Col or GenP")
        object.__setattr__(self, "perms", found)
        for perm in found:
            if not isinstance(perm, Block) or isinstance(perm, OrderBy):
                raise LayoutError(
                    f"OrderBy({listed(found)}): {short_repr(perm)} is {a_type(perm)}; OrderBy "
                    "takes RegP, Row, Col and GenP blocks and other layouts, or one OrderBy"
                )
            if len(perm.results or ()) > 1:
                raise LayoutError(
                    f"OrderBy({listed(found)}): {perm!r} gives {listed(perm.results or ())}, and memory "
                    "has one position; flatten_outs() makes one of them"
                )
            if perm.masks or perm.masks_inverse:
                raise LayoutError(
                    f"OrderBy({listed(found)}): {perm!r} gives -1 where it masks; put the "
                    f"{type(perm).__name__} around the whole layout"
                )
        alone = next((perm for perm in found if not perm.is_bijection), None)
        if len(found) > 1 and alone is not None and alone.is_one_way:
            raise LayoutError(
                f"{self!r}: a GenP without inverse must stand alone in its OrderBy (section III-D)"
                f"; {ONE_WAY}"
            )
        if len(found) > 1 and alone is not None:
            raise LayoutError(
                f"{self!r}: {alone!r} is not a bijection onto 0..size - 1 and must stand alone, next to "
                "the memory: order the tiles in an OrderBy before it"
            )

    @cached_property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of all its permutations, one after the other."""
        return tuple(n for perm in self.perms for n in perm.dims)

    @property
    def has_inverse(self) -> bool:
        """Whether each of its permutations has one."""
        return all(perm.has_inverse for perm in self.perms)

    @property
    def is_bijection(self) -> bool:
        """Whether each of its permutations is."""
        return all(perm.is_bijection for perm in self.perms)

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """Its own dims, or those of the layout next to the memory."""
        return self.perms[0].physical_dims if len(self.perms) == 1 else self.dims

    @property
    def is_bounded(self) -> bool:
        """Whether each of its permutations is."""
        return all(perm.is_bounded for perm in self.perms)

    def sizes(self) -> tuple[Any, ...]:
        """Those of all its permutations."""
        return tuple(n for perm in self.perms for n in perm.sizes())

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """Those of all its permutations."""
        return tuple(tag for perm in self.perms for tag in perm.tags)

    def offsets(self) -> tuple[Any, ...]:
        """Those of all its permutations."""
        return tuple(n for perm in self.perms for n in perm.offsets())

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """Those of all its permutations."""
        return (pair for perm in self.perms for pair in perm.equations())

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """Those of all its permutations."""
        return (pair for perm in self.perms for pair in perm.inequalities())

    def with_sizes(self, new: Change) -> OrderBy:
        """The same OrderBy with other sizes."""
        return OrderBy(*(perm.with_sizes(new) for perm in self.perms))

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The flat position: those of the permutations as the digits of one number."""
        flat, start = 0, 0
        for perm in self.perms:
            stop = start + len(perm.dims)
            flat = flat * whole_size(numbers, perm.dims) + perm.forward(numbers, index[start:stop])
            start = stop
        return flat

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index of a flat position: digit by digit, the last permutation's first."""
        index: list[Any] = []
        for k, perm in reversed([*enumerate(self.perms)]):
            part = flat
            if k:
                flat, part = divmod(flat, whole_size(numbers, perm.dims))
            index = perm.backward(numbers, part) + index
        return index

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The flat position of an index, by Fig. 4 on ints and int64 arrays."""
        flat, start = 0, 0
        for perm in self.perms:
            stop = start + len(perm.dims)
            flat = perm.reference_apply(index[start:stop]) + flat * perm.size
            start = stop
        return flat

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The index of a flat position, by Fig. 4 in reverse."""
        index: tuple[Any, ...] = ()
        for perm in reversed(self.perms):
            index = perm.reference_inv(flat % perm.size) + index
            flat = flat // perm.size
        return index

    def _value(self) -> tuple[Any, ...]:
        return self.perms

    def _physical_first(self) -> tuple[Ordering, ...]:
        return (self,)

    def __repr__(self) -> str:
        return f"OrderBy({', '.join(map(repr, self.perms))})"


# The classes below have a method OrderBy, which hides the class in their own annotations.
Ordering: TypeAlias = OrderBy


@dataclass(frozen=True, repr=False)
class OrderByChain(PhysicalFirst):
    """Several OrderBys, the one next to the memory first, still waiting for their GroupBy or
    TileBy."""

    orders: tuple[Ordering, ...]

    def _physical_first(self) -> tuple[Ordering, ...]:
        return self.orders

    def __repr__(self) -> str:
        return ".".join(map(repr, self.orders))


@dataclass(frozen=True, repr=False, eq=False)
class Layout(Indexable):
    """A logical view and the reorderings below it; GroupBy and TileBy make them (Fig. 5).

    tiled: whether it is a TileBy. tiles: the tiles' sizes, outermost first. chain: every OrderBy
    in the order of application, a TileBy's own included. _steps: what was chained, as written.
    before: this layout with fewer steps, which are not checked again.
    """

    tiled: bool
    tiles: tuple[tuple[Any, ...], ...]
    _steps: tuple[tuple[str, Ordering], ...] = ()
    before: InitVar[Layout | None] = None
    chain: tuple[Ordering, ...] = field(init=False)

    def __post_init__(self, before: Layout | None) -> None:
        if before is None:
            chain = () if self.untiling is None else (self.untiling,)
            steps, known = self._steps, 0
        else:
            chain = before.chain
            steps, known = self._steps[len(before._steps) :], max(0, len(chain) - 1)
        for name, order in steps:
            by_tile = self.tiled and len(order.perms) > 1
            if name == "TileOrderBy" or by_tile:
                chain += tile_order(order, self)
            else:
                chain += (order,)
        object.__setattr__(self, "chain", chain)
        for order in chain[known:]:
            check_same_size(self, f"the {self._name}", self.dims, order, order.dims)
        alone = len(chain) == 1 and comparable(chain[0].dims) == comparable(self.dims)
        for order in chain[known:-1]:
            if not order.is_bijection and not order.perms[0].is_one_way:
                raise LayoutError(
                    f"{self!r}: {order.perms[0]!r} is not a bijection onto 0..size - 1 and must be the "
                    "last step, next to the memory"
                )
        general = any(p.is_one_way for o in chain[known:] for p in o.perms)
        if general and (self.tiled or not alone):
            raise LayoutError(
                f"{self!r}: a GenP without inverse needs exactly one GroupBy followed by one "
                f"OrderBy of the same shape, with that GenP alone (section III-D); {ONE_WAY}"
            )

    @property
    def _name(self) -> str:
        return "TileBy" if self.tiled else "GroupBy"

    @cached_property
    def dims(self) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The sizes of all tiles, outermost first."""
        return tuple(n for tile in self.tiles for n in tile)

    @cached_property
    def untiling(self) -> Ordering | None:
        """A TileBy's own OrderBy, from tile coordinates to the untiled array; None on a GroupBy."""
        if not self.tiled:
            return None
        return OrderBy(RegP(self.dims, sigma(len(self.tiles[0]), len(self.tiles))))

    @property
    def has_inverse(self) -> bool:
        """Whether each of its orders has one."""
        return all(order.has_inverse for order in self.chain)

    @property
    def is_bijection(self) -> bool:
        """Whether each of its orders is."""
        return all(order.is_bijection for order in self.chain)

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """Its own dims, or those of the last step where that is no bijection."""
        return self.dims if self.is_bijection else self.chain[-1].physical_dims

    @property
    def is_bounded(self) -> bool:
        """Whether each of its orders is."""
        return all(order.is_bounded for order in self.chain)

    def sizes(self) -> tuple[Any, ...]:
        """The tiles' and those of all orders."""
        return self.dims + tuple(n for order in self.chain for n in order.sizes())

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """Those of all orders."""
        return tuple(tag for order in self.chain for tag in order.tags)

    def offsets(self) -> tuple[Any, ...]:
        """Those of all orders."""
        return tuple(n for order in self.chain for n in order.offsets())

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The tiles' product is that of each order, and what the orders say."""
        for order in self.chain:
            yield self.dims, order.dims
            yield from order.equations()

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """What the orders say."""
        return (pair for order in self.chain for pair in order.inequalities())

    def with_sizes(self, new: Change) -> Layout:
        """The same layout with other sizes."""
        tiles = tuple(tuple(new.size(n) for n in tile) for tile in self.tiles)
        steps = tuple((name, order.with_sizes(new)) for name, order in self._steps)
        return Layout(self.tiled, tiles, steps)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The flat position, through each order in turn."""
        sizes = [numbers.size(n) for n in self.dims]
        flat = ravel(sizes, index)
        for order in self.chain:
            flat = numbers.whole(flat, sizes)
            inner = [numbers.size(n) for n in order.dims]
            flat = order.forward(numbers, unravel(inner, flat))
        return flat

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index, through the orders from the last one to the first."""
        for order in reversed(self.chain):
            inner = [numbers.size(n) for n in order.dims]
            flat = numbers.whole(ravel(inner, order.backward(numbers, flat)), inner)
        return unravel([numbers.size(n) for n in self.dims], flat)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The flat position of an index, by Fig. 5 on ints and int64 arrays."""
        flat = reference_ravel(self.dims, index)
        for order in self.chain:
            flat = order.reference_apply(reference_unravel(order.dims, flat))
        return flat

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The index of a flat position, by Fig. 5 in reverse."""
        for order in reversed(self.chain):
            flat = reference_ravel(order.dims, order.reference_inv(flat))
        return reference_unravel(self.dims, flat)

    def _value(self) -> tuple[Any, ...]:
        return self.tiled, tuple(map(comparable, self.tiles)), self.chain

    def OrderBy(self, *perms: Block) -> Layout:
        """This layout, then one more reordering; the dots are in the order of application.

        perms: RegP and GenP blocks or other layouts, or one OrderBy. On a GroupBy this is Fig. 5's OrderBy. Under a
        TileBy several perms order tile by tile, as TileOrderBy does.

        Raises LayoutError when the sizes do not multiply out.
        """
        return self._then("OrderBy", perms)

    def TileOrderBy(self, *perms: Block) -> Layout:
        """This layout, then a reordering tile by tile: perms are the levels of a spatial tiling,
        outermost first, all of the same rank (section III-B).

        It stands for OrderBy(RegP(sigma(dims), sigma^-1)).OrderBy(*perms).
        """
        return self._then("TileOrderBy", perms)

    def _then(self, name: str, perms: tuple[Block, ...]) -> Layout:
        layout = Layout(self.tiled, self.tiles, (*self._steps, (name, OrderBy(*perms))), self)
        if "_arguments" in vars(self):  # an entry's order of parameters holds for what follows it
            object.__setattr__(layout, "_arguments", vars(self)["_arguments"])
        return layout

    def __repr__(self) -> str:
        tiles = ", ".join(f"[{listed(tile)}]" for tile in self.tiles)
        steps = "".join(
            f".{name}{repr(order).removeprefix('OrderBy')}" for name, order in self._steps
        )
        return f"{self._name}({tiles}){steps}"


def GroupBy(*tiles: Any) -> Layout:
    """The logical view of an index space: tiles of sizes, outermost first (Figs. 3 and 5).

    tiles: lists or tuples of sizes, or plain sizes for a single tile. The hierarchy is a reshape
    of the flat index, not a spatial tiling: that is TileBy. OrderBys may follow the tiles, one by
    one or in a list, as in the paper's nested form, which applies the last of them first.

    Raises LayoutError on wrong sizes.

        >>> from lego_emit import Col, GroupBy
        >>> layout = GroupBy([6, 4]).OrderBy(Col(6, 4))
        >>> layout.apply(2, 1), layout.inv(8)
        (8, (2, 1))
    """
    rest = list(tiles)
    if rest and isinstance(rest[-1], list | tuple) and any(is_order(o) for o in rest[-1]):
        rest[-1:] = rest[-1]
    orders: list[OrderBy] = []
    while rest and is_order(rest[-1]):
        orders[:0] = rest.pop()._physical_first()
    return OrderByChain(tuple(orders))._over(Layout(False, check_tiles(rest, "GroupBy")))


def TileBy(*tiles: Any) -> Layout:
    """Spatial tiling on several levels, outermost first, all of the same rank (section III-B).

    It stands for GroupBy(*tiles).OrderBy(RegP(dims, sigma)): tile coordinates go to the row-major
    offset in the untiled array.

    Raises LayoutError on wrong sizes or on tiles of different ranks.

        >>> from lego_emit import Row, TileBy
        >>> tiles = TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))
        >>> tiles.apply(1, 0, 2, 3)  # tile (1, 0), element (2, 3) of it
        43
    """
    found = check_tiles(tiles, "TileBy")
    if len({len(tile) for tile in found}) > 1:
        raise LayoutError(
            f"TileBy({listed(map(list, found))}): the tiles have {listed(map(len, found))} "
            "dimensions; all tiles of a TileBy have the same number, write a size of 1 where a "
            "level does not tile (or use GroupBy for a mere reshape)"
        )
    return Layout(True, found)


def sigma(d: int, q: int) -> tuple[int, ...]:
    """sigma_dxq of section III-B, 0-based: from q levels of d dimensions to d dimensions of q
    levels."""
    return tuple(k + d * h for k in range(d) for h in range(q))


def tile_order(order: OrderBy, construct: object) -> tuple[OrderBy, ...]:
    """TileOrderBy's chain. The paper's text drops the perms; this is what its examples mean."""
    ranks = [len(perm.dims) for perm in order.perms]
    if len(set(ranks)) > 1:
        raise LayoutError(
            f"{construct}: the perms have {listed(ranks)} dimensions; ordering tile by tile needs "
            "the same number in each, write a size of 1 where a level does not tile (or use "
            "GroupBy and OrderBy)"
        )
    if len(ranks) == 1:
        return (order,)
    gather = sigma(ranks[0], len(ranks))
    back = [gather.index(k) for k in range(len(gather))]
    return (OrderBy(RegP([order.dims[k] for k in gather], back)), order)


def check_tiles(tiles: Sequence[Any], name: str) -> tuple[tuple[Any, ...], ...]:
    """The tiles as tuples of sizes. Raises LayoutError where they are none, or differ in rank."""
    nested = [isinstance(tile, list | tuple) for tile in tiles]
    construct = LazyText("{!s}({!l})", name, tiles)
    for tile in tiles:
        if isinstance(tile, Block | OrderByChain):
            raise LayoutError(
                f"{construct}: {tile!r} is not a tile; give reorderings with {name}(..).OrderBy(..)"
            )
    if not tiles:
        raise LayoutError(f"{construct}: give at least one tile, as in {name}([6, 4])")
    if all(nested):
        return tuple(check_sizes(tile, construct) for tile in tiles)
    if any(nested):
        raise LayoutError(f"{construct}: some tiles are lists and some are not; make all lists")
    return (check_sizes(tuple(tiles), construct),)


def is_order(x: Any) -> bool:
    """Whether x is an OrderBy or a chain of them."""
    return isinstance(x, OrderBy | OrderByChain)
