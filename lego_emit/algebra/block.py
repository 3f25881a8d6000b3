"""What all blocks of the layout algebra share, and what each kind says of itself.

A new kind of block is one class that has Block's methods; it is evaluated over symbols, spelled in
other languages and checked by what it says there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import (
    IndexRangeError,
    InverseError,
    LayoutError,
    NoAttributeError,
    a_type,
    brief_methods,
    short_repr,
)
from ..numeric import is_array, is_integer, is_operand, is_symbolic
from ..table_lookup import Entries
from .later import later, symbols
from .sizes import product
from .slices import check_slice, place_of


class Numbers(Protocol):
    """One kind of number that layouts are evaluated over; it has Python's operators."""

    def size(self, n: Any) -> Any:
        """A size as such a number."""
        ...

    def whole(self, flat: Any, sizes: Sequence[Any]) -> Any:
        """A flat position below the product of sizes, about to be taken apart."""
        ...

    def called(self, block: Any, index: Sequence[Any]) -> Any:
        """A GenP's position of an index."""
        ...

    def called_back(self, block: Any, flat: Any) -> list[Any]:
        """A GenP's index of a position."""
        ...

    def looked_up(self, entries: Entries, place: Any) -> Any:
        """A table's entry at a place that it has."""
        ...

    def by_formula(self, entries: Entries) -> bool:
        """Whether a table for which a formula is known is computed by it."""
        ...

    def masked(
        self, sizes: Sequence[Any], coordinates: Sequence[Any], values: Sequence[Any]
    ) -> list[Any]:
        """The values where each coordinate lies below its size, else -1."""
        ...

    def chosen(
        self, block: Any, results: Callable[[Numbers, Any], list[Any]], inverse: bool
    ) -> list[Any]:
        """The results of the layout that a Choice takes, of such numbers. inverse: they are an index."""
        ...


def whole_size(numbers: Numbers, dims: Sequence[Any]) -> Any:
    """The product of sizes, as such a number."""
    return product([numbers.size(n) for n in dims])


class Change(Protocol):
    """Other sizes for a block."""

    def size(self, n: Any) -> Any:
        """What takes the place of a size."""
        ...

    def function(self, f: Any) -> Any:
        """What takes the place of a GenP's function."""
        ...


# What a kind of block says of itself to the stages, and not to who uses layouts: dir() leaves it out.
OF_A_KIND = frozenset((
    "backward", "before", "chain", "equations", "forward", "inequalities", "is_bounded", "is_concrete", "is_one_way",
    "masks", "masks_inverse", "offsets", "reference_apply", "reference_inv", "sizes", "tags", "tiled", "untiling",
    "with_sizes",
))  # fmt: skip
# What is written at a block and is no name of its own.
_WAYS = {  # by names in small letters
    "groupby": "GroupBy([..]).OrderBy(block) views a block as other sizes",
    "orderby": "an order needs a view: GroupBy([..]).OrderBy(block)",
    "tileby": "OrderBy(block).TileBy([..], [..]) tiles what a block orders",
    "left_inverse": "the inverse of a bijection is .inverse(), of others cute.left_inverse(layout)",
    "right_inverse": "the inverse of a bijection is .inverse(), of others cute.right_inverse(layout)",
    **dict.fromkeys(
        ("generate", "explain", "verify", "compile", "source"),
        "lego_emit.generate(layout, target) has the emitted code, with source, explain(), verify(), compile()",
    ),
    **dict.fromkeys(
        ("conflicts", "bank_conflicts", "swizzle", "optimal_swizzle"),
        "lego_emit.bank_conflicts(layout, access) counts, optimal_swizzle(write, read) avoids them",
    ),
    "copy": "lego_emit.copy(A, B, target) emits a routine from one layout to another",
}


class Block:
    """What all blocks share.

    dims are the sizes of the logical index that apply takes. size is their product.
    physical_size is the number of flat indices that inv takes.

    A new kind of block is a class derived from Block, or from Indexable where it takes []:
    a dataclass with frozen=True and eq=False (a generated == would compare sizes that are symbols;
    Block's compares `_value()`), or a plain class with a __repr__ that says how it was made.
    It has dims, a field or a property, and the methods with_sizes, forward, backward,
    reference_apply, reference_inv and _value; physical_dims, masks, masks_inverse, has_inverse,
    sizes, equations and inequalities where what Block says of them is not right.
    What is left out raises LayoutError, with what to write, when it is asked for.
    """

    dims: tuple[Any, ...]  # some kinds keep them, some work them out: a field or a property

    @property
    def size(self) -> Any:
        """How many logical indices there are."""
        return product(self.dims)

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """Sizes whose product is physical_size."""
        return self.dims

    @property
    def physical_size(self) -> Any:
        """How many flat indices inv takes."""
        return product(self.physical_dims)

    @property
    def coordinates(self) -> tuple[str, ...] | None:
        """The names of the index's coordinates; None where they have none."""
        return None

    @property
    def results(self) -> tuple[str, ...] | None:
        """The names of the results of apply, of the sizes physical_dims, which inv takes in this
        order; None where there is one, the flat position."""
        return None

    @property
    def masks(self) -> bool:
        """Whether apply gives -1 for some indices."""
        return False

    @property
    def masks_inverse(self) -> bool:
        """Whether inv gives -1 for some positions."""
        return False

    @property
    def has_inverse(self) -> bool:
        """Whether inv may be asked: not for a GenP without inverse or a layout built on one."""
        return True

    @property
    def is_one_way(self) -> bool:
        """Whether it is a GenP without inverse."""
        return False

    @property
    def is_bijection(self) -> bool:
        """Whether it is one onto 0..size - 1: also where it is only promised, and has no inv."""
        return self.has_inverse

    @property
    def is_bounded(self) -> bool:
        """Whether every position lies in 0..physical_size - 1."""
        return self.has_inverse

    # -- what a kind of block says of itself ---------------------------------------------------

    def sizes(self) -> tuple[Any, ...]:
        """All sizes in this block, however deep."""
        return self.dims

    @property
    def tags(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """Numbers in this block that choose a layout, and those that there is one for."""
        return ()

    def offsets(self) -> tuple[Any, ...]:
        """Numbers in this block, however deep, that are no sizes and may be negative."""
        return ()

    def equations(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """Pairs of sizes whose products must be equal."""
        return iter(())

    def inequalities(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of sizes of which the first must be at most the second."""
        return iter(())

    def with_sizes(self, new: Change) -> Any:
        """The same block with other sizes."""
        raise _left_out(self, "with_sizes(self, new)", "the block with new.size(n) for each size n")

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The flat position of an index over any kind of number."""
        raise _left_out(self, "forward(self, numbers, index)", "the flat position of an index")

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The index of a flat position over any kind of number."""
        raise _left_out(
            self, "backward(self, numbers, flat)", "the index of a flat position, a list"
        )

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """As forward on ints and int64 arrays, written from the paper's figure and for the golden
        tables alone."""
        what = "the flat position of an index of ints or int64 arrays"
        raise _left_out(self, "reference_apply(self, index)", what)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """As backward on ints and int64 arrays, written from the paper's figure and for the golden
        tables alone."""
        what = "the index of a flat position, a tuple of ints or int64 arrays"
        raise _left_out(self, "reference_inv(self, flat)", what)

    def _value(self) -> tuple[Any, ...]:
        """What equality and the hash look at: a tuple, sizes through algebra.sizes.comparable."""
        raise _left_out(self, "_value(self)", "a tuple of what makes two of them equal")

    def __repr__(self) -> str:
        raise _left_out(self, "__repr__(self)", "how it was made, which stands in headers")

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in OF_A_KIND]

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        brief_methods(cls, OF_A_KIND)

    if not TYPE_CHECKING:  # or a checker of types would take any name

        def __getattr__(self, name: str) -> Any:
            construct = f"{type(self).__name__}(..)"
            raise NoAttributeError(
                construct, name, lambda: self.__dir__(), _WAYS.get(name.lower(), "")
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Block) or type(self) is not type(other):
            return NotImplemented
        return self._value() == other._value()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._value()))

    @cached_property
    def is_concrete(self) -> bool:
        """Whether every size in this block, however deep, is an integer."""
        return all(isinstance(n, int) for n in (*self.sizes(), *self.offsets()))

    def apply(self, *indices: Any) -> Any:
        """The flat physical index of a logical index (Figs. 4, 5 and 9).

        indices: one per entry of dims, or one list or tuple of them; each an integer in
        0 <= i < n, a NumPy integer array of such (arrays broadcast together and give an int64
        array), an integer array or tracer of PyTorch, JAX, CuPy or a library like them, or a symbol.
        ExpandBy gives -1 where it masks. The values of arrays that are not NumPy's are not looked at:
        what an index out of range gives is undefined. The result has their type.

        Raises IndexRangeError on a wrong number of indices, an index that is no integer, or one
        out of range; WidthError when an array cannot hold the result.
        """
        if len(indices) == 1 and isinstance(indices[0], list | tuple):
            indices = tuple(indices[0])
        check_count(self, indices)
        symbolic = [check_index(self, axis, i) for axis, i in enumerate(indices)]
        if any(symbolic) or not self.is_concrete:
            return symbols().apply(self, indices)
        from . import reference

        return reference.apply(self, indices)

    def inv(self, flat: Any) -> tuple[Any, ...]:
        """The logical index of a flat physical index, as a tuple (Figs. 4, 5 and 9).

        flat: an integer in 0 <= flat < physical_size, a NumPy integer array (the tuple then holds
        int64 arrays of its shape), an array or tracer of another library, as apply takes it, or a
        symbol.

        Raises InverseError where there is no inverse, and IndexRangeError as apply does.
        """
        if not self.has_inverse:
            why = "it is not a bijection onto 0..size - 1"
            if self.is_bijection:
                why = "a table is known at run time only; the inverse table is another Lookup"
            elif "GenP(" in repr(self):
                why = "its GenP was given without inv. Give GenP an inv if the map is a bijection"
            raise InverseError(f"{self!r} has no inverse: {why}")
        if check_index(self, None, flat) or not self.is_concrete:
            return symbols().inv(self, flat)
        from . import reference

        return reference.inv(self, flat)

    def in_bounds(self, *indices: Any) -> Any:
        """Whether an index lies within dims and holds an element, which no mask leaves out: True or False,
        or an array of them. Nothing is out of range here.

        indices: integers, integer arrays or tracers, as apply takes them; ':' or a slice runs over its
        axis, as in [].

        Raises IndexRangeError on a wrong number of indices, or one that is no integer.

            >>> from lego_emit import ExpandBy, GroupBy
            >>> A = ExpandBy([5], [8], GroupBy([2, 4]))
            >>> A.in_bounds(1, 0), A.in_bounds(1, 1), A.in_bounds(2, 0)
            (True, False, False)
            >>> A.in_bounds(1, ":")
            array([ True, False, False, False])
        """
        return later().in_bounds(self, indices)

    def pack(
        self, x: Any, *, of: Any = None, fill: Any = 0, out: Any = None, engine: str | None = None
    ) -> Any:
        """The memory that holds the elements of an array in this layout: memory[L[i]] = x[i].

        x: an array of the shape (.., *dims), of NumPy, PyTorch, or a library of the array API standard
            (JAX, CuPy), of any dtype; the axes in front are a batch.
        of: the sizes of the matrix that the layout's tiles are cut from, x then being (.., *of), or a
            layout of it, x then being its memory, (.., physical_size).
        fill: what stands where no element does; 0 is the zero of any dtype, "" of text.
        out: memory to write, of the result's shape and x's dtype, which shares none with x.
        engine: "compiled" for a routine that is compiled from C, once for each layout and size of element.

        Returns an array of the shape (.., physical_size), memory of its own, or out.

        Raises LayoutError where shapes do not fit, a position holds two elements, fill is no element of x's dtype,
        x is a masked array, or sizes are symbols that x's shape does not decide.

            >>> import numpy as np
            >>> from lego_emit import Col
            >>> Col(2, 3).pack(np.array([[0, 1, 2], [3, 4, 5]]))
            array([0, 3, 1, 4, 2, 5])
        """
        return later().pack(self, x, of, fill, out, engine)

    def unpack(self, m: Any, *, of: Any = None, fill: Any = 0, copy: bool | None = None) -> Any:
        """The array whose elements a memory holds in this layout: x[i] = m[L[i]].

        m: (.., physical_size), as pack gives it. of: as pack takes it; the result then is that matrix.
        fill: what an index gets that is masked.
        copy: None for a view of m where the layout's axes have one stride each, else a copy; False for a
            view or an error; True for a copy.

        Returns an array of the shape (.., *dims).

        Raises LayoutError where shapes do not fit, fill is no element of m's dtype, m is a masked array, and with
        copy=False where there is no view.

            >>> import numpy as np
            >>> from lego_emit import Col
            >>> Col(2, 3).unpack(np.arange(6))
            array([[0, 2, 4],
                   [1, 3, 5]])
        """
        return later().unpack(self, m, of, fill, copy)

    def plan(self, x: Any, *, of: Any = None) -> str:
        """How pack would move an array, in words: by a transposition, strided views, a table or arithmetic.

        >>> import numpy as np
        >>> from lego_emit import Col
        >>> Col(2, 3).plan(np.zeros((2, 3)))
        'transposition (a b -> b a) of 2 x 3'
        """
        return later().plan(self, x, of)

    def descriptor(self, pointer: Any) -> Any:
        """In a Triton kernel under lego_emit.jit, the tensor descriptor of an array in this layout:
        d = A.descriptor(a) becomes tl.make_tensor_descriptor(..), and d[p, k, :, :] loads a block or stores it.

        pointer: to the array's first element. Raises LayoutError anywhere else, where there is no descriptor.

            >>> from lego_emit import Row
            >>> Row(64, 64).descriptor(None)
            Traceback (most recent call last):
            lego_emit.errors.LayoutError: Row(64, 64).descriptor: only a Triton kernel under @lego_emit.jit has descriptors; write d = A.descriptor(a) there
            LE0101: docs/errors.md#layouterror
        """
        raise LayoutError(
            f"{short_repr(self)}.descriptor: only a Triton kernel under @lego_emit.jit has descriptors; write "
            "d = A.descriptor(a) there"
        )

    def __matmul__(self, inner: Any) -> Block:
        """self @ inner: inner first. Its results are taken for self's index where they are as many and
        as large as self's dims, else its flat position is, row-major: a LegoWarning says so where
        the results look like an index. Raises LayoutError where inner's positions are no indices of
        self."""
        return later().composed(self, inner)

    def __rmatmul__(self, outer: Any) -> Block:
        return later().composed(outer, self)

    def inverse(self) -> Block:
        """The layout from positions to row-major indices. Raises InverseError where there is none."""
        return later().inverse(self)

    def __mul__(self, other: Any) -> Any:
        raise LayoutError(
            f"({self!r}) * ({short_repr(other)}): there is no such product; of strided layouts and of "
            f"linear ones there is. For one layout after the other write A @ B"
        )

    __rmul__ = __mul__

    def step(self, **by: int) -> Any:
        """The next position along an axis, as an expression of the index and the position, called flat.

        by: the name of a coordinate and how far it goes: 1, or any integer where the position grows by a
        stride. What comes out is a sum, a choice of strides at the borders of tiles, or a count in masked bits.

        Raises LayoutError where no such step is known, as where it would divide.

            >>> from lego_emit import GroupBy, RegP
            >>> GroupBy([32, 32]).OrderBy(RegP([4, 8, 4, 8], [0, 2, 1, 3])).step(j=1)
            (57 if (j + 1) % 8 == 0 else 1) + flat
        """
        return later().step(self, by)

    def to_cute(self) -> Any:
        """The Strided that is the same map, its modes this layout's dims. Raises LayoutError where
        no strides give it."""
        return later().to_cute(self)

    def show(
        self,
        *,
        order: bool = False,
        inv: bool = False,
        color: str | None = None,
        view: str | None = None,
        tile: Sequence[int] | None = None,
        bits: int = 32,
        beside: Block | None = None,
        animate: bool = False,
    ) -> Any:
        """A picture of the layout, of integer sizes: a notebook draws it, print() writes it as in a
        terminal, and save("file.svg") makes a file (.svg, .html, .png, .tex for TikZ, .csv, .md).

        order: arrows from each element to the next one in memory.
        inv: the memory in order, each cell with the index that it holds; default: the grid of
            indices, each cell with its position.
        color: "tile", "bank" of shared memory, "position", "thread", or another named coordinate;
            default: threads, else tiles, or of rows that are permuted the place in the row.
        view: of a layout of threads and values "tensor", each element with what holds it, or
            "hardware", what each thread holds.
        tile: the sizes of the tensor whose elements its positions count, the first one fastest.
        bits: of an element, for its bank.
        beside: another layout, drawn to the right of this one.
        animate: a frame that goes through memory, in SVG.

        Raises LayoutError on symbolic sizes, a path through memory that there is not, and unknown
        names; InverseError where inv is asked of a layout that has none.
        """
        return later().picture(
            self,
            order=order,
            inv=inv,
            color=color,
            view=view,
            tile=tile,
            bits=bits,
            beside=beside,
            animate=animate,
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The picture of show() in Matplotlib's axes: in ax, or in those of a new figure; they are returned.

        options: of show(). Where Matplotlib is missing, show()'s picture is returned, which a notebook draws
        as SVG.

            >>> GroupBy([4, 6]).plot(color="bank")  # doctest: +SKIP
            <Axes: xlabel='GroupBy([4, 6]): colored by bank, 32 bits each'>
        """
        return self.show(**options).plot(ax)

    @property
    def affine_map(self) -> Any:
        """apply as an affine_map of MLIR (lego_emit.affine.maps.AffineMap): indices are its dims, sizes that
        are symbols its symbols. That of inv is `generate(layout).affine_map("layout_inv")`.

        Raises TargetError with the reason where it is none, as of a mask, a choice or a table.

            >>> from lego_emit import Row, TileBy
            >>> print(TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8)).affine_map)
            affine_map<(d0, d1, d2, d3) -> ((d0 * 6 + d2 * 2 + d1) * 4 + d3)>
        """
        return later().affine_map(self)

    def check(self, **sizes: int) -> str:
        """Check at every index that apply is a bijection, stays in its range, and that inv undoes
        it; a line that says so.

        Masked positions of an ExpandBy are left out. Of a map without inverse (section III-D) the
        line says whether it is injective. sizes: a number for each size that is a symbol, as
        check(M=12, N=20).

        Raises LayoutError with the first counterexample, or where a size has no number.
        """
        return later().check(self, sizes)


brief_methods(Block, OF_A_KIND)


def is_packed(subject: Any) -> bool:
    """Whether it is fields of words that a layout places (lego_emit.Packed)."""
    return hasattr(subject, "place_of")


def is_bundle(subject: Any) -> bool:
    """Whether it is several index functions in one (lego_emit.AnyRank, lego_emit.Ragged)."""
    return hasattr(subject, "functions_of")


def holds_bundle(subject: Any) -> bool:
    """Whether it is one, or a list or a dict with one in it."""
    parts = subject.values() if isinstance(subject, dict) else subject
    return is_bundle(subject) or (
        isinstance(subject, list | tuple | dict) and any(map(is_bundle, parts))
    )


def _left_out(block: Block, method: str, what: str) -> LayoutError:
    """A kind of block lacks a method."""
    return LayoutError(
        f"{type(block).__name__} is a kind of block without {method.partition('(')[0]}; write "
        f"def {method} in it, which gives {what}"
    )


class Indexable(Block):
    """A block that takes [], as all of ours do."""

    __iter__ = None  # or Python would try [0], [1], ... and stop at the first IndexRangeError

    def _repr_html_(self) -> str:
        """A picture, for notebooks, of many cells the borders; the expression where sizes are symbols."""
        return later().notebook(self)

    def __getitem__(self, key: Any) -> Any:
        """layout[i, j] is layout.apply(i, j). A slice runs over its axis, or over the part of it
        that NumPy takes: on concrete sizes the result is an int64 array shaped by the sliced axes in
        order; beside arrays it has the shape that NumPy gives `table[i, :]`, table being `layout[:, :]`.

        Raises IndexRangeError as apply does, and on a slice of an axis whose size is a symbol
        other than ':' or one that starts at least at 0 and goes up to the end, as '1::2'.
        """
        indices = key if isinstance(key, tuple) else (key,)
        check_count(self, indices)
        symbolic = any(isinstance(i, slice) for i in indices) and symbols().is_following()
        for axis, i in enumerate(indices):
            if not isinstance(i, slice):
                symbolic = check_index(self, axis, i) or symbolic
            else:
                check_slice(self, axis, i)
        if symbolic or not self.is_concrete:
            return symbols().getitem(self, indices)
        from . import reference

        return reference.getitem(self, indices)


def check_count(block: Block, indices: tuple[Any, ...]) -> None:
    """Raise IndexRangeError unless there is one index for each of the block's dims."""
    wanted = len(block.dims)
    if len(indices) != wanted:
        raise IndexRangeError(
            f"{block!r}: {wanted} {'index' if wanted == 1 else 'indices'} wanted, "
            f"{len(indices)} given"
        )


def check_index(block: Block, axis: int | None, index: Any) -> bool:
    """Whether index is a symbol, or an array or a tracer of another library than NumPy; raises
    IndexRangeError if it is no index at all."""
    if is_integer(index) or (is_array(index) and index.dtype.kind in "iu"):
        return False
    if is_symbolic(index) or is_operand(index):
        return True
    place = "the flat index" if axis is None else place_of(block, axis)
    kind = f"an array of {index.dtype}" if getattr(index, "shape", ()) else a_type(index)
    raise IndexRangeError(
        f"{block!r}: {place} is {short_repr(index)}, {kind}; give an integer, an array of integers or a "
        "symbol"
    )
