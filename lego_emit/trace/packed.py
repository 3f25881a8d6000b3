"""Packed fields, followed with symbols: where a field is, and how many words hold all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..algebra.packed import Packed
from ..algebra.slices import index_names
from ..arith.expr import Expr
from ..errors import LayoutError
from ..ir.packing import Packing
from ..ir.program import Doc, Function
from .definition import FEW, POINTS, Values, names_of, parameters_of
from .follow import TraceOptions, go_on, run_trace
from .learn import learn_layout, product_of
from .numbered import Numbered
from .trace import Trace
from .traced import Outputs, Subject, Traced


def packed_subject(given: Packed, unit: str, options: TraceOptions, alone: bool) -> Subject:
    """NAME_position, which NAME_get and NAME_set belong to, and NAME_words."""
    numbers = options.numbers()
    packed = given.with_sizes(Numbered(given, numbers)) if numbers else given  # pyright: ignore
    trace, _ = run_trace(lambda t: _declared(t, packed, given), options, alone)
    functions = _functions(unit, packed, trace)
    title = repr(given) + (options.in_title(" with ") if alone else "")
    return Subject(unit, " ".join(title.split()), functions)


def _symbols(packed: Packed, trace: Trace) -> list[str]:
    """The names of its symbols, in the order in which they stand."""
    layout = packed.layout
    said = trace.analyzer.unsubstitute
    own = names_of(said(Expr.of(n)) for n in (packed.bits, packed.offset))
    return [*dict.fromkeys([*parameters_of(layout, said), *own])]


def _declared(trace: Trace, packed: Packed, given: Packed) -> Packed:
    """Its symbols are parameters, the sizes first. given: before the numbers of sizes were put in."""
    trace.signature = _symbols(given, trace)
    learn_layout(packed.layout, trace.running())
    known, bits, offset = trace.analyzer, Expr.of(packed.bits), Expr.of(packed.offset)
    if bits.constant is None:
        least, most = known.interval(known.rebuilt(bits))
        if least is None or most is None:
            raise LayoutError(
                f"{given!r}: bits is the symbol {bits!r}, whose range is not known; give generate() "
                f"ranges={{'{bits!r}': (1, {given.word + 1})}}, or what it is at most"
            )
        room = given.word - (offset.constant or 0) * (not given.straddle)
        if least < 1 or most > room:
            raise LayoutError(
                f"{given!r}: {bits!r} is between {least} and {most}, and bits between 1 and {room}, "
                f"{'those of a word' if room == given.word else 'those behind offset'}; give generate() such "
                "ranges"
            )
    if offset.constant is None:
        most = None if packed.straddle else Expr.of(packed.word) - bits
        known.learn_range(str(offset.single.args[0]), Expr.of(0), most)  # pyright: ignore
    return packed


def with_values(packed: Packed, values: Values) -> Packed:
    """The same with numbers for its symbols; those that cancel out are any."""
    if packed.is_concrete:
        return packed
    own = *packed.layout.sizes(), *packed.layout.offsets(), packed.bits, packed.offset
    names = set[str]().union(*(Expr.of(n).symbols() for n in own))
    return packed.with_sizes(Numbered(packed.layout, {**dict.fromkeys(names, 1), **values}))


class OfPacked:
    """What the functions mean: at integers, by the layout's reference. position: whether it is where a field
    is, of an index by these names; else the number of words."""

    is_total = True

    def __init__(self, given: Packed, trace: Trace, name: str, indices: list[str], position: bool):
        self.name, self._given, self._trace = name, given, trace
        self._indices, self._position = indices, position
        self.points = POINTS if given.is_concrete else FEW

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small: the layout holds a GenP of symbolic sizes."""
        return self._trace.has_genp

    def __call__(self, values: Values) -> Any:
        """The word and the place in it, or the number of words."""
        sizes = {n: v for n, v in values.items() if n not in self._indices}
        packed = with_values(self._given, sizes)
        if not self._position:
            return packed.words()
        word, shift = packed.position(*(values[n] for n in self._indices))
        return shift if packed.by_value else (word, shift)


class Reference:
    """What a function of a subject of packed fields means, by the names of its parameters."""

    by = "the reference evaluator"

    def __init__(self, packed: Packed, function: Function, numbers: Mapping[str, int]):
        self.__name__, self._numbers = function.name, numbers
        self._packed, self._place = packed, function.packing is not None
        back = {new: old for old, new in function.renamed}
        names = [back.get(p.name, p.name) for p in function.params]
        kind = inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
        self._indices = [back.get(p.name, p.name) for p in function.params if p.axis]

    def __call__(self, **values: Any) -> Any:
        """The word and the place in it of a field, or the number of words."""
        sizes = {n: v for n, v in values.items() if n not in self._indices}
        packed = with_values(self._packed, {**self._numbers, **sizes})
        if not self._place:
            return packed.words()
        word, shift = packed.position(*(values[n] for n in self._indices))
        return shift if packed.by_value else (word, shift)


def _functions(unit: str, packed: Packed, trace: Trace) -> list[Traced]:
    layout = packed.layout
    taken = {*trace.signature, *trace.free}
    coordinates = [*(layout.coordinates or index_names(len(layout.dims), taken))]

    wrong = [n for n in ("word", "shift", "words") if n in (trace.named or ())]
    if wrong and wrong[0] not in coordinates:
        raise LayoutError(
            f"{packed!r}: base names {wrong[0]}, and words and their bits count from 0; name indices alone"
        )

    def declare(t: Trace) -> None:
        learn_layout(layout, t.running())
        if t.named is None and t.base:
            t.named = frozenset(coordinates)
        t.axes = [*coordinates]
        t.indices.update(n for n in coordinates if t.named is None or n in t.named)
        for n, size in zip(coordinates, layout.dims, strict=True):
            base = t.base_of(n)
            t.analyzer.learn_range(n, Expr.of(base), product_of((size,), t.analyzer) - 1 + base)

    def named(*names: str) -> Callable[[Any], Outputs]:
        def outputs(values: Any) -> Outputs:
            found = values if isinstance(values, tuple) else (values,)
            return [(n, Expr.of(v)) for n, v in zip(names, found[-len(names) :], strict=True)]

        return outputs

    def place(t: Trace) -> Any:
        flat = Expr.of(layout.apply(*(t.symbol(n) for n in coordinates)))
        if not t.analyzer.nonneg(t.analyzer.rebuilt(flat)):
            raise LayoutError(
                f"{packed!r}: the layout may have a negative position, {flat!r}; a field is at one of at "
                "least 0"
            )
        return packed.place_of(flat)

    at, (word, shift) = go_on(trace, declare, place)
    known = at.analyzer
    inside = known.nonneg(known.rebuilt(Expr.of(packed.word) - packed.bits - shift))
    if packed.by_value and (known.rebuilt(Expr.of(word)).constant != 0 or not inside):
        raise LayoutError(
            f"{packed!r}: words='value' takes one word of {packed.word} bits, in which all fields have to be; "
            "they are not known to be"
        )
    end = known.rebuilt(Expr.of(packed.word) - (packed.bits - 1 if inside else 0))
    spans = [(0, known.rebuilt(Expr.of(packed.words()))), (0, end)]
    index = ", ".join(coordinates)
    summary = f"The word of the field at ({index}), and the bits of it below the field."
    results, name = ("word", "shift"), f"{unit}_position"
    if packed.by_value:
        summary = f"How many bits of the word are below the field at ({index})."
        results, name = ("shift",), f"{unit}_shift"
    position = Traced(
        name, Doc(summary), at, (word, shift), named(*results), spans[-len(results) :]
    )
    position.by_name = len(results) > 1
    position.definition = OfPacked(packed, at, unit, coordinates, position=True)
    bits = Expr.of(packed.bits)
    position.packing = Packing(
        unit,
        bits.constant if bits.constant is not None else str(bits.single.args[0]),  # pyright: ignore
        packed.word, packed.order, packed.straddle and not inside, packed.signed, packed.by_value,
        f"{unit}_get", f"{unit}_set", f"{unit}_words",
    )  # fmt: skip
    if packed.by_value:
        return [position]

    def from_zero(t: Trace) -> None:
        t.named = frozenset()

    of, count = go_on(trace, from_zero, lambda t: packed.words())
    words = Traced(
        f"{unit}_words", Doc("How many words hold all fields."), of, count, named("words")
    )
    words.definition = OfPacked(packed, of, unit, [], position=False)
    return [position, words]
