"""The layout algebra's blocks, as a user writes them (LEGO, sections III-A to III-D, Fig. 3).

Blocks are immutable values: they compare, hash and print as the expression that makes them. They
only hold structure. On integers and NumPy arrays lego_emit.reference evaluates them, on symbols
lego_emit.symbolic.

Indices and permutations are 0-based, as in NumPy; the paper's sigma is 1-based.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeAlias

from . import bijection
from .errors import IndexRangeError, InverseError, LayoutError, shown
from .sizes import (
    check_perm,
    check_same_size,
    check_sizes,
    comparable,
    is_array,
    is_integer,
    is_symbolic,
    is_sympy,
    listed,
    product,
    unwrapped,
)

__all__ = [
    "Block",
    "Col",
    "ExpandBy",
    "GenP",
    "GroupBy",
    "Layout",
    "OrderBy",
    "RegP",
    "Row",
    "TileBy",
    "isqrt",
]


ONE_WAY = (
    "write the other blocks as a layout L and what the GenP does as a function f of L's position: "
    "GroupBy(L.dims).OrderBy(GenP(L.dims, lambda *i: f(L.apply(*i))))"
)


class Block:
    """What all blocks share.

    dims are the sizes of the logical index that apply takes. size is their product.
    physical_size is the number of flat indices that inv takes.
    """

    dims: tuple[Any, ...]

    @property
    def size(self) -> Any:
        return product(self.dims)

    @property
    def physical_size(self) -> Any:
        return self.size

    @property
    def has_inverse(self) -> bool:
        """Whether inv may be asked: not for a GenP without inverse or a layout built on one."""
        return True

    def _sizes(self) -> tuple[Any, ...]:
        return self.dims

    def _value(self) -> tuple[Any, ...]:
        """What equality and the hash look at."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._value() == other._value()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._value()))

    @cached_property
    def is_concrete(self) -> bool:
        """Whether every size in this block, however deep, is an integer."""
        return all(isinstance(n, int) for n in self._sizes())

    def apply(self, *indices: Any) -> Any:
        """The flat physical index of a logical index (Figs. 4, 5 and 9).

        indices: one per entry of dims, or one list or tuple of them; each an integer in
        0 <= i < n, a NumPy integer array of such (arrays broadcast together and give an int64
        array), or a symbol. ExpandBy gives -1 where it masks.

        Raises IndexRangeError on a wrong number of indices, an index that is no integer, or one
        out of range; WidthError when an array cannot hold the result.
        """
        if len(indices) == 1 and isinstance(indices[0], list | tuple):
            indices = tuple(indices[0])
        check_count(self, indices)
        symbolic = [check_index(self, axis, i) for axis, i in enumerate(indices)]
        if any(symbolic) or not self.is_concrete:
            from .symbolic import apply
        else:
            from .reference import apply
        return apply(self, indices)

    def inv(self, flat: Any) -> tuple[Any, ...]:
        """The logical index of a flat physical index, as a tuple (Figs. 4, 5 and 9).

        flat: an integer in 0 <= flat < physical_size, a NumPy integer array (the tuple then holds
        int64 arrays of its shape), or a symbol.

        Raises InverseError where there is no inverse, and IndexRangeError as apply does.
        """
        if not self.has_inverse:
            raise InverseError(
                f"{self!r} has no inverse: its GenP was given without inv. Give GenP an inv if "
                "the map is a bijection"
            )
        if check_index(self, None, flat) or not self.is_concrete:
            from .symbolic import inv
        else:
            from .reference import inv
        return inv(self, flat)

    def check(self, **sizes: int) -> str:
        """Check at every index that apply is a bijection, stays in its range, and that inv undoes
        it; a line that says so.

        Masked positions of an ExpandBy are left out. Of a map without inverse (section III-D) the
        line says whether it is injective. sizes: a number for each size that is a symbol, as
        check(M=12, N=20).

        Raises LayoutError with the first counterexample, or where a size has no number.
        """
        from .check import check

        return check(self, sizes)


class Indexable(Block):
    """A block that takes [] (Layout and ExpandBy)."""

    __iter__ = None  # or Python would try [0], [1], ... and stop at the first IndexRangeError

    def _repr_html_(self) -> str:
        """A picture, for notebooks; the expression where sizes are symbols or there are many."""
        from .pictures import notebook

        return notebook(self)

    def __getitem__(self, key: Any) -> Any:
        """layout[i, j] is layout.apply(i, j). A full ':' runs over its whole axis: on concrete
        sizes and integers the result is an int64 array shaped by the ':' axes in order.

        Raises IndexRangeError as apply does, and on any slice other than ':'.
        """
        indices = key if isinstance(key, tuple) else (key,)
        check_count(self, indices)
        from .trace import running

        symbolic = running() is not None and any(isinstance(i, slice) for i in indices)
        for axis, i in enumerate(indices):
            if not isinstance(i, slice):
                symbolic = check_index(self, axis, i) or symbolic
            elif i != slice(None):
                parts = (i.start, i.stop) if i.step is None else (i.start, i.stop, i.step)
                text = ":".join("" if part is None else shown(part) for part in parts)
                raise IndexRangeError(
                    f"{self!r}: axis {axis} got the slice {text}; only a full ':' can be asked, "
                    "for a part of an axis give apply an array"
                )
        if symbolic or not self.is_concrete:
            from .symbolic import getitem
        else:
            from .reference import getitem
        return getitem(self, indices)


@dataclass(frozen=True, repr=False, eq=False, init=False)
class RegP(Block):
    """Regular permutation of a tile's dimensions (Figs. 3 and 4).

    dims: the tile's sizes. perm: a permutation of 0..d-1; a gather, so that dimension k of the
    permuted tile is dimension perm[k] of dims.

    Raises LayoutError on a wrong size or permutation.
    """

    dims: tuple[Any, ...]
    perm: tuple[int, ...]

    def __init__(self, dims: Sequence[Any], perm: Sequence[int]):
        construct = f"RegP({shown(dims)}, {shown(perm)})"
        object.__setattr__(self, "dims", check_sizes(dims, construct))
        object.__setattr__(self, "perm", check_perm(perm, len(self.dims), construct))

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.dims), self.perm

    def __repr__(self) -> str:
        identity = tuple(range(len(self.dims)))
        if self.perm == identity:
            return f"Row({listed(self.dims)})"
        if self.perm == identity[::-1]:
            return f"Col({listed(self.dims)})"
        return f"RegP([{listed(self.dims)}], [{listed(self.perm)}])"


def Row(*dims: Any) -> RegP:
    """Row-major order of a tile of these sizes: RegP with the identity. Also Row([n1, .., nd])."""
    sizes = check_sizes(unwrapped(dims), f"Row({listed(dims)})")
    return RegP(sizes, range(len(sizes)))


def Col(*dims: Any) -> RegP:
    """Column-major order of a tile of these sizes: RegP with the reversal. Also Col([n1, .., nd]).

    The paper prints the sizes reversed too, which gives the inverse permutation; this is the
    column-major order that its text and its examples mean.
    """
    sizes = check_sizes(unwrapped(dims), f"Col({listed(dims)})")
    return RegP(sizes, range(len(sizes))[::-1])


@dataclass(frozen=True, repr=False, eq=False, init=False)
class GenP(Block):
    """General permutation of a tile's elements by a user's functions (Figs. 3, 4 and 7).

    dims: the tile's sizes. apply(*index) gives the flat position. inv(flat) gives the index: a
    tuple, or for a tile of one dimension also a plain int. inv=None marks an injective or
    many-to-one map (section III-D).

    The functions are kept as apply_function and inv_function. They are plain Python, may use `if`
    and lego_emit.isqrt, and are called with Python ints or symbols, never with arrays.

    Raises LayoutError with a counterexample when dims are integers and the functions are no
    bijection: every position is tried up to 65536 of them, else the corners and 4096 others.
    """

    dims: tuple[Any, ...]
    apply_function: Callable[..., Any]
    inv_function: Callable[[Any], Any] | None

    def __init__(
        self,
        dims: Sequence[Any],
        apply: Callable[..., Any],
        inv: Callable[[Any], Any] | None = None,
    ):
        construct = f"GenP({shown(dims)}, ..)"
        object.__setattr__(self, "dims", check_sizes(dims, construct))
        for name, given in (("apply", apply), ("inv", inv)):
            if not callable(given) and not (name == "inv" and given is None):
                raise LayoutError(f"{construct}: {name} is {shown(given)}; give a function")
            try:
                hash(given)
            except TypeError:
                raise LayoutError(
                    f"{construct}: {name} is {shown(given)}, which cannot be hashed; blocks are "
                    "values: give a function, or freeze the class (dataclass(frozen=True))"
                ) from None
        object.__setattr__(self, "apply_function", apply)
        object.__setattr__(self, "inv_function", inv)
        if self.is_concrete:
            bijection.check(self)

    @property
    def has_inverse(self) -> bool:
        return self.inv_function is not None

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.dims), self.apply_function, self.inv_function

    def __repr__(self) -> str:
        names = [function_name(self.apply_function)]
        if self.inv_function is not None:
            names.append(function_name(self.inv_function))
        return f"GenP([{listed(self.dims)}], {', '.join(names)})"


class PhysicalFirst:
    """The spelling that starts at the memory: OrderBy(O1).OrderBy(O2).GroupBy([6, 6]) is
    GroupBy([6, 6]).OrderBy(O2).OrderBy(O1)."""

    def _physical_first(self) -> tuple[Ordering, ...]:
        raise NotImplementedError

    def OrderBy(self, *perms: RegP | GenP | Ordering) -> OrderByChain:
        return OrderByChain((*self._physical_first(), OrderBy(*perms)))

    def GroupBy(self, *tiles: Any) -> Layout:
        return self._over(GroupBy(*tiles))

    def TileBy(self, *tiles: Any) -> Layout:
        return self._over(TileBy(*tiles))

    def _over(self, layout: Layout) -> Layout:
        for order in reversed(self._physical_first()):
            layout = layout.OrderBy(order)
        return layout


@dataclass(frozen=True, repr=False, eq=False, init=False)
class OrderBy(Block, PhysicalFirst):
    """One reordering: a hierarchy of tiles, outermost first, each with its permutation (Fig. 4).

    perms: RegP and GenP blocks, or a single OrderBy, whose perms are taken.

    Raises LayoutError on anything else, and on a GenP without inverse beside other perms.
    """

    perms: tuple[RegP | GenP, ...]

    def __init__(self, *perms: RegP | GenP | OrderBy):
        found = perms[0].perms if len(perms) == 1 and isinstance(perms[0], OrderBy) else perms
        if not found:
            raise LayoutError("OrderBy(): give at least one RegP, Row, Col or GenP")
        object.__setattr__(self, "perms", found)
        for perm in found:
            if not isinstance(perm, RegP | GenP):
                raise LayoutError(
                    f"OrderBy({listed(found)}): {shown(perm)} is a {type(perm).__name__}; OrderBy "
                    "takes RegP, Row, Col and GenP blocks, or one OrderBy"
                )
        if len(found) > 1 and not all(perm.has_inverse for perm in found):
            raise LayoutError(
                f"{self!r}: a GenP without inverse must stand alone in its OrderBy (section III-D)"
                f"; {ONE_WAY}"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # type: ignore[override]
        return tuple(n for perm in self.perms for n in perm.dims)

    @property
    def has_inverse(self) -> bool:
        return all(perm.has_inverse for perm in self.perms)

    def _value(self) -> tuple[Any, ...]:
        return self.perms

    def _physical_first(self) -> tuple[Ordering, ...]:
        return (self,)

    def __repr__(self) -> str:
        return f"OrderBy({listed(self.perms)})"


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
    in the order of application, a TileBy's own included. steps: what was chained, as written.
    """

    tiled: bool
    tiles: tuple[tuple[Any, ...], ...]
    steps: tuple[tuple[str, Ordering], ...] = ()
    chain: tuple[Ordering, ...] = field(init=False)

    def __post_init__(self) -> None:
        chain = () if self.untiling is None else (self.untiling,)
        for name, order in self.steps:
            by_tile = self.tiled and len(order.perms) > 1
            if name == "TileOrderBy" or by_tile:
                chain += tile_order(order, self)
            else:
                chain += (order,)
        object.__setattr__(self, "chain", chain)
        for order in chain:
            check_same_size(self, f"the {self._name}", self.dims, order, order.dims)
        alone = len(chain) == 1 and comparable(chain[0].dims) == comparable(self.dims)
        if not self.has_inverse and (self.tiled or not alone):
            raise LayoutError(
                f"{self!r}: a GenP without inverse needs exactly one GroupBy followed by one "
                f"OrderBy of the same shape, with that GenP alone (section III-D); {ONE_WAY}"
            )

    @property
    def _name(self) -> str:
        return "TileBy" if self.tiled else "GroupBy"

    @property
    def dims(self) -> tuple[Any, ...]:  # type: ignore[override]
        return tuple(n for tile in self.tiles for n in tile)

    @cached_property
    def untiling(self) -> Ordering | None:
        """A TileBy's own OrderBy, from tile coordinates to the untiled array; None on a GroupBy."""
        if not self.tiled:
            return None
        return OrderBy(RegP(self.dims, sigma(len(self.tiles[0]), len(self.tiles))))

    @property
    def has_inverse(self) -> bool:
        return all(order.has_inverse for order in self.chain)

    def _sizes(self) -> tuple[Any, ...]:
        return self.dims + tuple(n for order in self.chain for n in order.dims)

    def _value(self) -> tuple[Any, ...]:
        return self.tiled, tuple(map(comparable, self.tiles)), self.chain

    def OrderBy(self, *perms: RegP | GenP | Ordering) -> Layout:
        """This layout, then one more reordering; the dots are in the order of application.

        perms: RegP and GenP blocks, or one OrderBy. On a GroupBy this is Fig. 5's OrderBy. Under a
        TileBy several perms order tile by tile, as TileOrderBy does.

        Raises LayoutError when the sizes do not multiply out.
        """
        return Layout(self.tiled, self.tiles, (*self.steps, ("OrderBy", OrderBy(*perms))))

    def TileOrderBy(self, *perms: RegP | GenP | Ordering) -> Layout:
        """This layout, then a reordering tile by tile: perms are the levels of a spatial tiling,
        outermost first, all of the same rank (section III-B).

        It stands for OrderBy(RegP(sigma(dims), sigma^-1)).OrderBy(*perms).
        """
        return Layout(self.tiled, self.tiles, (*self.steps, ("TileOrderBy", OrderBy(*perms))))

    def __repr__(self) -> str:
        tiles = ", ".join(f"[{listed(tile)}]" for tile in self.tiles)
        steps = "".join(f".{name}({listed(order.perms)})" for name, order in self.steps)
        return f"{self._name}({tiles}){steps}"


def GroupBy(*tiles: Any) -> Layout:
    """The logical view of an index space: tiles of sizes, outermost first (Figs. 3 and 5).

    tiles: lists or tuples of sizes, or plain sizes for a single tile. The hierarchy is a reshape
    of the flat index, not a spatial tiling: that is TileBy. OrderBys may follow the tiles, one by
    one or in a list, as in the paper's nested form, which applies the last of them first.

    Raises LayoutError on wrong sizes.
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
    """
    found = check_tiles(tiles, "TileBy")
    if len({len(tile) for tile in found}) > 1:
        raise LayoutError(
            f"TileBy({listed(map(list, found))}): the tiles have {listed(map(len, found))} "
            "dimensions; all tiles of a TileBy have the same number, write a size of 1 where a "
            "level does not tile (or use GroupBy for a mere reshape)"
        )
    return Layout(True, found)


@dataclass(frozen=True, repr=False, eq=False, init=False)
class ExpandBy(Indexable):
    """A layout whose tiles do not divide the problem (Fig. 9).

    n: the problem's sizes. n_prime: the same, rounded up to what the tiles cover. layout: a layout
    of prod(n_prime) elements. Masked positions give -1.

    guard="physical" is Fig. 9: the mask is on the coordinates of the layout's flat result in
    n_prime, and apply gives a position in an array of n. inv takes such a position.

    guard="logical" is for tile-packed layouts, where Fig. 9 masks the wrong positions: the mask is
    on the coordinates of the index in the untiled array of n_prime, and apply gives an address
    in the padded storage of prod(n_prime) elements. inv takes such an address and gives -1 in
    every coordinate where it holds padding.

    Raises LayoutError unless n <= n_prime in every dimension and prod(n_prime) is the layout's
    size.
    """

    n: tuple[Any, ...]
    n_prime: tuple[Any, ...]
    layout: Layout
    guard: str

    def __init__(
        self, n: Sequence[Any], n_prime: Sequence[Any], layout: Layout, guard: str = "physical"
    ):
        construct = f"ExpandBy({shown(n)}, {shown(n_prime)}, {shown(layout)})"
        if not isinstance(layout, Layout):
            raise LayoutError(f"{construct}: the third argument must be a GroupBy or a TileBy")
        if not isinstance(guard, str) or guard not in ("physical", "logical"):
            raise LayoutError(
                f"{construct}: guard is {shown(guard)}; give guard='physical' (Fig. 9) or "
                "guard='logical'"
            )
        object.__setattr__(self, "n", check_sizes(n, construct))
        object.__setattr__(self, "n_prime", check_sizes(n_prime, construct))
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "guard", guard)
        if len(self.n) != len(self.n_prime):
            raise LayoutError(
                f"{construct}: n has {len(self.n)} dimensions and n_prime {len(self.n_prime)}; "
                "give both the same number"
            )
        for axis, (size, padded) in enumerate(zip(self.n, self.n_prime, strict=True)):
            if isinstance(size, int) and isinstance(padded, int) and size > padded:
                raise LayoutError(
                    f"{construct}: n is {size} on axis {axis}, more than n_prime, {padded}; "
                    "n_prime is n rounded up to whole tiles"
                )
        check_same_size(construct, "n_prime", self.n_prime, "the layout", self.layout.dims)
        if not self.layout.has_inverse:
            raise LayoutError(
                f"{construct}: the layout must be a bijection, give its GenP an inv, or {ONE_WAY}, "
                "which is -1 where this ExpandBy masks"
            )

    @property
    def dims(self) -> tuple[Any, ...]:  # type: ignore[override]
        return self.layout.dims

    @property
    def physical_size(self) -> Any:
        return product(self.n if self.guard == "physical" else self.n_prime)

    def _sizes(self) -> tuple[Any, ...]:
        return self.n + self.n_prime + self.layout._sizes()

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.n), comparable(self.n_prime), self.layout, self.guard

    def __repr__(self) -> str:
        guard = "" if self.guard == "physical" else f", guard={self.guard!r}"
        return f"ExpandBy([{listed(self.n)}], [{listed(self.n_prime)}], {self.layout!r}{guard})"


def isqrt(x: Any) -> Any:
    """Exact integer square root, rounded down: of an integer, of a NumPy integer array (an int64
    array), or of a symbolic value. For use in GenP's functions.

    Raises LayoutError on a negative or non-integer x.
    """
    if is_symbolic(x):
        if hasattr(x, "isqrt"):
            return x.isqrt()
        from .expr import Expr

        root = Expr.of(x).isqrt()
        return root.to_sympy() if is_sympy(x) else root
    if is_integer(x):
        if x < 0:
            raise LayoutError(f"isqrt({shown(x)}): only a non-negative integer has a square root")
        return math.isqrt(int(x))
    if is_array(x) and x.dtype.kind in "iu":
        from .reference import isqrt_array

        return isqrt_array(x)
    raise LayoutError(f"isqrt({shown(x)}): give an integer, not a {type(x).__name__}")


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
    nested = [isinstance(tile, list | tuple) for tile in tiles]
    construct = f"{name}({listed(tiles)})"
    for tile in tiles:
        if isinstance(tile, RegP | GenP | OrderBy | OrderByChain):
            raise LayoutError(
                f"{construct}: {tile!r} is no tile; give reorderings with {name}(..).OrderBy(..)"
            )
    if not tiles:
        raise LayoutError(f"{construct}: give at least one tile, as in {name}([6, 4])")
    if all(nested):
        return tuple(check_sizes(tile, construct) for tile in tiles)
    if any(nested):
        raise LayoutError(f"{construct}: some tiles are lists and some are not; make all lists")
    return (check_sizes(tuple(tiles), construct),)


def is_order(x: Any) -> bool:
    return isinstance(x, OrderBy | OrderByChain)


def check_count(block: Block, indices: tuple[Any, ...]) -> None:
    wanted = len(block.dims)
    if len(indices) != wanted:
        raise IndexRangeError(
            f"{block!r}: {wanted} {'index' if wanted == 1 else 'indices'} wanted, "
            f"{len(indices)} given"
        )


def check_index(block: Block, axis: int | None, index: Any) -> bool:
    """Whether index is symbolic; raises IndexRangeError if it is no index at all."""
    if is_integer(index) or (is_array(index) and index.dtype.kind in "iu"):
        if type(index) is not int:  # maybe a variable that the function being followed captured
            from .trace import running

            if (trace := running()) is not None:
                trace.indexed(block, axis, index)
        return False
    if is_symbolic(index):
        return True
    place = "the flat index" if axis is None else f"index {axis}"
    kind = f"an array of {index.dtype}" if is_array(index) else f"a {type(index).__name__}"
    raise IndexRangeError(
        f"{block!r}: {place} is {shown(index)}, {kind}; give an integer, a NumPy integer array or a "
        "symbol"
    )


def function_name(function: Callable[..., Any]) -> str:
    if isinstance(function, partial):
        keywords = [f"{name}={value!r}" for name, value in function.keywords.items()]
        given = [function_name(function.func), *map(repr, function.args), *keywords]
        return f"partial({', '.join(given)})"
    return getattr(function, "__name__", None) or repr(function)
