"""Layouts and functions of indices as a template sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from operator import and_
from typing import Any

from ..algebra.bijection import symbols_in
from ..algebra.block import Block, is_packed
from ..arith.context import bound
from ..arith.expr import Cond, Expr
from ..errors import LayoutError, TemplateError, did_you_mean, short_repr
from ..numeric import is_integer, is_symbolic
from ..trace.learn import learn_layout, product_of
from ..trace.paths import here
from . import hopper
from .slices import Hints, parts_of, values_of_parts
from .values import Kernel, Number, Several, Size, Test, Value


class Placed:
    """A layout as a template sees it: A[i, j], A.apply(..), A.inv(..), A.size and so on."""

    def __init__(self, kernel: Kernel, layout: Block, name: str):
        self._kernel, self._layout, self._name = kernel, layout, name

    def __getitem__(self, key: Any) -> Any:
        return self.apply(*(key if isinstance(key, tuple) else (key,)))

    def apply(self, *indices: Any) -> Any:
        """The position of an index: names, numbers, expressions of them, or text of the kernel's own
        language. A tuple where the layout has several results. ':' stands for all of an axis and
        ':8' for 8 of it, as in "i, :": the positions as an array of an axis for each of them."""
        given = self._given(indices, "")
        said = f"{self._name}[{', '.join(v.said for v in given)}]"

        results = self._layout.results

        def make() -> Any:
            return self._layout.apply(*self._made(given))

        if results is None or len(results) == 1:
            return Value(self._kernel, make, said, given, (self._layout,))
        return self._several(make, said, len(results), given)

    at = apply

    def alignment(self, *indices: Any) -> Any:
        """The greatest power of two that is proven to divide the position of an index; of a slice, for
        each ':' where its contiguous runs begin (Triton's tl.multiple_of)."""
        return self._hints(indices, "alignment").alignment()

    def contiguity(self, *indices: Any) -> Any:
        """How many positions are proven to follow one another along each ':' of a slice: its size or a
        power of two (Triton's tl.max_contiguous)."""
        return self._hints(indices, "contiguity").contiguity()

    def _hints(self, indices: Sequence[Any], user: str) -> Hints:
        if len(self._layout.results or ()) > 1:
            raise TemplateError(f"{self._name}.{user}(): its positions are {self._layout.results}")
        return Hints(self._kernel, self.apply, self._parts(indices, f".{user}"), self.dims)

    def _given(self, indices: Sequence[Any], user: str) -> list[Value]:
        return values_of_parts(self._kernel, self._parts(indices, user), self.dims)

    def _parts(self, indices: Sequence[Any], user: str) -> list[Any]:
        parts, wanted = parts_of(indices), len(self._layout.dims)
        if len(parts) != wanted:
            raise TemplateError(
                f"{self._name}{user} takes {wanted} {'index' if wanted == 1 else 'indices'}, "
                f"{len(parts)} given"
            )
        return parts

    def inv(self, *position: Any) -> Several:
        """The index of a position, a value for each of the layout's dims."""
        given = [self._kernel.value(p) for p in position]
        wanted = len(self._layout.results or ("flat",))
        if len(given) != wanted:
            raise TemplateError(f"{self._name}.inv takes {wanted}, {len(given)} given")
        said = f"{self._name}.inv({', '.join(v.said for v in given)})"

        def make() -> Any:
            return self._layout.inv(*self._made(given))

        found = self._several(make, said, len(self._layout.dims), given)
        if self._kernel.doubts(given):
            held = Held(self._layout, said, given, self._has_holes())
            for value in found:
                value.positions[held] = None
        return found

    def _made(self, given: Sequence[Value]) -> list[Any]:
        """Indices or positions, as integers where they and the layout's sizes are numbers: its reference
        evaluator takes less time."""
        found = [Expr.of(v.make()) for v in given]
        numbers = [e.constant for e in found]
        return found if None in numbers or not self._layout.is_concrete else numbers

    def in_bounds(self, *indices: Any) -> Value:
        """Whether an index holds an element, a condition: each lies in 0..n - 1, and no mask leaves it out."""
        given = self._given(indices, ".in_bounds")
        positions = dict.fromkeys(x for value in given for x in value.positions)
        for one in positions:
            if one.lost:
                raise TemplateError(
                    f"{self._name}.in_bounds asks for the position of {one.said}, and {one.lost}"
                )
        for value in given:
            if value.positions.keys() - {x for name in value.made_of for x in name.positions}:
                raise TemplateError(f"{value.said} within in_bounds: give it a name before")

        def make() -> Any:
            learn_layout(self._layout, here())
            known = here().analyzer
            # Before what these indices teach of their positions.
            every = {c.identity: c for one in positions for c in one.limits()}
            asked = [c for c in every.values() if known.decide(c) is not True]
            limits: list[Any] = []
            for value, n in zip(given, self._layout.dims, strict=True):
                i = Expr.of(value.make())
                limits += [Cond("le", Expr.of(0), i), Cond("lt", i, known.rebuilt(Expr.of(n)))]
            decided = [known.decide(c) for c in limits]
            if False in decided:
                return 0
            pairs = zip(limits, decided, strict=True)
            open_ones = [*asked, *(c for c, known_so in pairs if known_so is not True)]
            if self._layout.masks:
                with known.scope():  # the mask is asked of an index within the sizes alone
                    for condition in open_ones:
                        known.assume(condition)
                    held = _held(self._layout.apply(*self._made(given)))
                open_ones.append(held)
            return known.simplifier.select(reduce(and_, open_ones), 1, 0) if open_ones else 1

        said = f"{self._name}.in_bounds({', '.join(v.said for v in given)})"
        said += "".join(f", where {one.said} is one" for one in positions)
        of = [*given, *(v for one in positions for v in one.given)]
        layouts = dict.fromkeys((self._layout, *(one.layout for one in positions)))
        return Test(self._kernel, make, said, of, tuple(layouts))

    def mask(self, *indices: Any) -> Value:
        """Whether an index has a position, of a layout that masks: a condition."""
        if not self._layout.masks:
            raise TemplateError(f"{self._name}.mask(): {self._layout!r} masks nothing")
        position = self.apply(*indices)

        def make() -> Any:
            return here().analyzer.simplifier.select(_held(position.make()), 1, 0)

        return Test(self._kernel, make, f"{position.said} is there", [position])

    @property
    def size(self) -> Value:
        """How many indices there are."""
        made = self._number(self._layout.dims, "size")
        if self._has_holes():
            made.holed = {self._name: None}
        return made

    def _has_holes(self) -> bool:
        """Whether there may be more positions than indices."""
        size, physical = self._layout.size, self._layout.physical_size
        if is_integer(size) and is_integer(physical):
            return int(size) < int(physical)
        return not self._layout.masks and Expr.of(physical) != Expr.of(size)

    @property
    def physical_size(self) -> Value:
        """How many positions there are."""
        return self._number(self._layout.physical_dims, "physical_size")

    @property
    def dims(self) -> Several:
        """The sizes of the index."""
        found = (self._number((n,), f"dims[{k}]") for k, n in enumerate(self._layout.dims))
        return Several(found, f"{self._name}.dims")

    @property
    def affine_map(self) -> Any:
        """The position as an affine_map of MLIR, of the layout's dims and sizes."""
        found = self._layout.affine_map
        self._kernel.assumptions.update(dict.fromkeys(found.assumptions))
        return found

    def _number(self, sizes: Sequence[Any], said: str) -> Value:
        if all(map(is_integer, sizes)):
            return Number(self._kernel, prod(map(int, sizes)), f"{self._name}.{said}")

        def make() -> Any:
            learn_layout(self._layout, here())
            return bound(product_of(sizes, here().analyzer))

        return Size(self._kernel, make, f"{self._name}.{said}", (), (self._layout,))

    @property
    def functions(self) -> str:
        """The whole functions, NAME_apply and NAME_inv, as a file of the language has them."""
        return self._kernel.functions(self._layout, self._name)

    def gmma_desc(self, address: Any, *index: Any, rows: Any, bits: int = 16) -> str:
        """wgmma's descriptor, 64 bits, of the operand of rows x (256 / bits) elements from an index on, of a
        tile (M or N, K, ..) of elements of so many bits. address: where shared memory holds the tile, 32
        bits unsigned, a declared name or text of the kernel's own."""
        made = hopper.operand(self._kernel, self._layout, rows, bits)
        given = self._given(index, ".gmma_desc")
        plain = Placed(self._kernel, made.plain, self._name)
        return hopper.descriptor(
            self._kernel, self._name, made, address, given, plain.apply(*given)
        )

    def gmma_major(self, rows: Any, bits: int = 16) -> str:
        """The contiguous mode of the operands that gmma_desc describes, "K" or "MN"."""
        return hopper.operand(self._kernel, self._layout, rows, bits).major

    def tensor_map(self, tile: Any, bits: int = 16) -> hopper.Map:
        """What TMA needs to copy tiles of this layout of global memory, its last two axes, to or from
        shared memory. tile: the layout there, of elements of so many bits."""
        if not isinstance(tile, Placed):
            raise TemplateError(
                f"{self._name}.tensor_map takes a layout of shared memory, and {short_repr(tile)} is none"
            )
        return hopper.mapped(self._kernel, self._name, self._layout, tile._layout, bits)

    def _several(
        self, make: Callable[[], Any], said: str, count: int, given: Sequence[Value]
    ) -> Several:
        def one(k: int) -> Value:
            return Value(self._kernel, lambda: make()[k], f"{said}[{k}]", given, (self._layout,))

        return Several(map(one, range(count)), said)

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raises TemplateError: a layout is indexed and not called."""
        raise TemplateError(f"{self._name} is a layout, and no function; write {self._name}[..]")

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "jinja_")):  # Jinja asks what it calls
            raise AttributeError(name)
        raise TemplateError(f"{self._name} has no {name!r}.{did_you_mean(name, PLACED)}")

    def __repr__(self) -> str:
        return f"{self._name} = {self._layout!r}"

    def __str__(self) -> str:
        raise TemplateError(
            f"{self._name} is a layout, and no index; write {self._name}[..], or "
            f"{self._name}.functions for whole functions"
        )


class Held:
    """A position whose index was taken: whether it is one. holes: whether there may be positions without an index."""

    def __init__(self, layout: Block, said: str, given: Sequence[Value], holes: bool):
        self.layout, self.said, self.given, self.holes = layout, said, given, holes
        self.names = {*sizes_of(layout)}.union(*(value.names for value in given))
        self.lost = ""  # why it can't be asked for, and what to write

    def limits(self) -> list[Cond]:
        """What holds of a position."""
        learn_layout(self.layout, here())
        known, sizes = here().analyzer, self.layout.physical_dims
        if len(self.given) == 1:
            sizes = (product_of(sizes, known),)
        found: list[Cond] = []
        for value, n in zip(self.given, sizes, strict=True):
            p = Expr.of(value.make())
            found += [Cond("le", Expr.of(0), p), Cond("lt", p, known.rebuilt(Expr.of(n)))]
        return found


class PlacedFields:
    """Packed fields as a template sees them. size, dims, inv and in_bounds count fields, as its layout
    does; words counts words."""

    def __init__(self, kernel: Kernel, packed: Any, name: str):
        self._kernel, self._packed, self._name = kernel, packed, name
        self._fields = Placed(kernel, packed.layout, name)
        self.bits = packed.bits if is_integer(packed.bits) else placed(kernel, name, packed.bits)
        self.word = packed.word
        self.inv, self.in_bounds = self._fields.inv, self._fields.in_bounds

    def position(self, *indices: Any) -> Several:
        """The word of the field at an index, and how many bits of it are below the field. Raises LayoutError
        where the layout may have a negative position."""
        given = self._fields._given(indices, ".position")
        flat = self._fields.apply(*given)
        said = f"{self._name}.position({', '.join(v.said for v in given)})"

        def make() -> Any:
            known, found = here().analyzer, Expr.of(flat.make())
            if not known.nonneg(known.rebuilt(found)):
                raise LayoutError(
                    f"{said}: the position {found!r} may be negative, and fields count from 0"
                )
            return self._packed.place_of(bound(found))

        def one(k: int) -> Value:
            names = sizes_of(self._packed)
            layouts = (self._packed.layout,)
            return Value(self._kernel, lambda: make()[k], f"{said}[{k}]", [flat], layouts, names)

        return Several(map(one, range(2)), said)

    @property
    def words(self) -> Value:
        """How many words hold all fields."""
        layout, said = self._packed.layout, f"{self._name}.words"
        if self._packed.is_concrete:
            return Number(self._kernel, int(self._packed.words()), said)

        def make() -> Any:
            learn_layout(layout, here())
            return bound(self._packed.words())

        return Size(self._kernel, make, said, (), (layout,), sizes_of(self._packed))

    @property
    def size(self) -> Value:
        """How many fields there are."""
        return self._fields.size

    @property
    def dims(self) -> Several:
        """The sizes of the index."""
        return self._fields.dims

    @property
    def functions(self) -> str:
        """The whole functions, NAME_get, NAME_set and so on, as a file of the language has them."""
        return self._kernel.functions(self._packed, self._name)

    def __getitem__(self, key: Any) -> Any:
        raise TemplateError(
            f"{self._name}[..]: a field of {self._packed.bits} bits is no element of an array; write {{% index word, shift = "
            f"{self._name}.position(..) %}}, or take {self._name}.functions"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "jinja_")):
            raise AttributeError(name)
        raise TemplateError(
            f"{self._name} has no {name!r}: it is fields of words.{did_you_mean(name, FIELDS)}"
        )

    def __repr__(self) -> str:
        return f"{self._name} = {self._packed!r}"

    def __str__(self) -> str:
        raise TemplateError(
            f"{self._name} is fields of words, and no index; write {self._name}.position(..), or "
            f"{self._name}.functions for whole functions"
        )


FIELDS = ["bits", "word", "inv", "in_bounds", *(n for n in vars(PlacedFields) if n[0] != "_")]


def _held(position: Any) -> Any:
    """The condition that a position which may be masked is none of -1."""
    found = Expr.of(position)
    choice = found.single
    if choice is not None and choice.kind == "select" and here().analyzer.nonneg(choice.args[1]):
        condition, _, masked = choice.args
        if masked.constant == -1:
            return condition
    return found >= 0


PLACED = [name for name in vars(Placed) if not name.startswith("_")]


def placed(kernel: Kernel, name: str, value: Any) -> Any:
    """What a template sees of a value of its context: layouts and functions of indices give values;
    symbols are names; all others stay."""
    if isinstance(value, Block):
        return Placed(kernel, value, name)
    if is_packed(value):
        return PlacedFields(kernel, value, name)
    if is_symbolic(value):
        return Value(kernel, lambda: bound(value), repr(value), names=sizes_of(value))
    if callable(value) and not isinstance(value, type):

        def called(*arguments: Any) -> Value:
            given = [kernel.value(a) for a in arguments]
            said = f"{name}({', '.join(v.said for v in given)})"

            def make() -> Any:
                return value(*(bound(v.make()) for v in given))

            return Value(kernel, make, said, given, names=sizes_of(value))

        return called
    return value


def sizes_of(value: Any) -> list[str]:
    """The names of the symbols that a layout, fields or a function of indices hold."""
    held: Sequence[Any] = ()
    if isinstance(value, Block):
        held = (*value.sizes(), *value.offsets())
    elif is_packed(value):
        held = (*value.layout.sizes(), *value.layout.offsets(), value.bits, value.offset)
    elif callable(value) or is_symbolic(value):
        held = symbols_in(value)
    return [name for n in held for name in Expr.of(n).symbols()]
