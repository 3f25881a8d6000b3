"""The digits of two layouts: what their positions have in common, index digit by index digit.

A position that is a sum of digits of the indices, each times a stride, is read off its normal form. The
borders of both layouts' digits are put together, so that both are sums over the same, finer digits: the
common refinement. A `Digit` has an extent and a stride on either side.

    >>> from lego_emit import Col, Row
    >>> from lego_emit.copies.digits import index_space
    >>> index_space(Row(6, 4), Col(6, 4)).digits()
    [Digit(n=6, a=4, b=1), Digit(n=4, a=1, b=6)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from textwrap import shorten
from typing import Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.layout import GroupBy
from ..algebra.masked import ExpandBy, Padded
from ..algebra.perms import RegP, Row
from ..algebra.slices import index_names
from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.signs import without_negative_parts
from ..errors import (
    AssumptionError,
    LayoutError,
    LegoError,
    TraceError,
    did_you_mean,
    short_repr,
)
from ..ir.nodes import DESTINATION, SOURCE
from ..numeric import is_integer
from ..packages import numpy as np
from ..trace.definition import parameters_of, symbols_in
from ..trace.follow import TraceOptions, go_on, run_trace
from ..trace.learn import learn_layout, product_of
from ..trace.trace import Trace

MOST_TABLED = 2**20  # indices of a layout whose digits are found in its table

# A size, a stride or a border: a number is an int, all else an Expr.
Size = Any


@dataclass(frozen=True)
class Digit:
    """An extent, and the strides of the source (a) and of the destination (b)."""

    n: Size
    a: Size
    b: Size

    def __repr__(self) -> str:
        return f"Digit(n={self.n}, a={self.a}, b={self.b})"


@dataclass(frozen=True)
class Axis:
    """One index of both layouts. name: its symbol; n: its extent; borders: where its digits begin, 1 first,
    each dividing the next one; a, b: the strides of the digits; rounded: the extent that the destination has
    room for, the same as n where it has no padding."""

    name: str
    n: Size
    borders: tuple[Size, ...]
    a: tuple[Size, ...]
    b: tuple[Size, ...]
    rounded: Size


class NoDigits(LegoError):
    """A position that is no sum of digits times strides, or whose digits don't fit the other's."""


@dataclass(frozen=True)
class IndexSpace:
    """The index space that two layouts share, and their positions over symbols.

    source, destination: the layouts, a masked one as a padded one; names: the indices' symbols; trace: what
    is known of these and of the sizes; positions: in both; sizes: the names of the size parameters; axes: of
    the common refinement, where there is one; why: what it fails on elsewhere.
    """

    source: Block
    destination: Block
    names: tuple[str, ...]
    trace: Trace
    positions: tuple[Expr, Expr]
    axes: tuple[Axis, ...] | None = None
    offsets: tuple[Size, Size] = (0, 0)
    why: str = ""
    known: Analyzer = field(repr=False, default=None)  # type: ignore[assignment]

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that are symbols, in order."""
        return tuple(n for n in self.trace.params() if n not in self.names)

    def digits(self) -> list[Digit]:
        """The digits of whole axes, the slowest of the last axis last; () where there are none. Of a
        ragged axis the last one counts what is begun, too."""
        arithmetic = Sizes(self.known)
        return [d for axis in self.axes or () for d in arithmetic.whole(axis)[::-1]]


class Sizes:
    """Arithmetic of sizes: numbers stay numbers, and what is known of symbols is used. own: whether results have the
    user's symbols alone, and none that stand for whole quotients."""

    def __init__(self, known: Analyzer, own: bool = False):
        self.known, self.own = known, own

    def of(self, value: Any) -> Size:
        """A size as a number, where it is one."""
        if isinstance(value, int):
            return value
        e = self.known.rebuilt(Expr.of(value))
        if e.constant is not None:
            return e.constant
        return self.known.unsubstitute(e) if self.own else e

    def times(self, a: Size, b: Size) -> Size:
        """The product of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self.of(self.known.simplifier.multiply(Expr.of(a), Expr.of(b)))

    def plus(self, a: Size, b: Size) -> Size:
        """The sum of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return self.of(self.known.simplifier.add(Expr.of(a), Expr.of(b)))

    def floor(self, a: Size, b: Size) -> Size:
        """The floor quotient of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return self.of(self.known.simplifier.floordiv(Expr.of(a), Expr.of(b)))

    def mod(self, a: Size, b: Size) -> Size:
        """The floor remainder of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return self.of(self.known.simplifier.mod(Expr.of(a), Expr.of(b)))

    def divides_no_negative(self, value: Size) -> bool:
        """Whether all dividends are known to be 0 or more."""
        atoms = Expr.of(value).deep_atoms()
        return all(self.known.nonneg(a.args[0]) for a in atoms if a.kind in ("floordiv", "digit"))

    def same(self, a: Size, b: Size) -> bool:
        """Whether two sizes are known to be equal."""
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        gap = self.known.simplifier.subtract(Expr.of(a), Expr.of(b))
        return not gap.terms

    def quotient(self, a: Size, b: Size) -> Size | None:
        """a / b where b is known to divide a."""
        found = self.floor(a, b)
        return found if self.same(self.times(found, b), a) else None

    def at_most(self, a: Size, b: Size) -> bool:
        """Whether a <= b is known."""
        if isinstance(a, int) and isinstance(b, int):
            return a <= b
        return self.known.nonneg(self.known.simplifier.subtract(Expr.of(b), Expr.of(a)))

    def whole(self, axis: Axis) -> list[Digit]:
        """The digits of an axis, the fastest first."""
        found = [
            Digit(self.floor(hi, lo), a, b)
            for (lo, hi), a, b in zip(pairwise(axis.borders), axis.a, axis.b, strict=False)
        ]
        last = axis.borders[-1]
        count = self.quotient(axis.n, last)
        if count is None:
            count = self.floor(self.plus(axis.n, self.plus(last, -1)), last)
        return [*found, Digit(count, axis.a[-1], axis.b[-1])]


def index_space(
    A: Block,
    B: Block,
    options: TraceOptions | None = None,
    order: Sequence[str] = (),
    taken: Sequence[str] = (),
) -> IndexSpace:
    """What two layouts of one index space share. options: what is assumed, ranges, and numbers of sizes; order: names
    of sizes that come first; taken: names that indices have not.

    Raises LayoutError where their dims differ, AssumptionError where what is assumed names no size of theirs,
    TraceError where a number is given for none.
    """
    source, destination = _unmasked(A, B)
    options = options or TraceOptions()
    _check_known(source, destination, options)
    if numbers := options.numbers():
        from ..trace.numbered import numbered

        source, destination = (numbered(L, numbers)[0] for L in (source, destination))
    source, destination = map(_rounded_up, (source, destination))
    _check_dims(source, destination)
    trace, names = _declared(source, destination, options, order, taken)
    _check_alike(source, destination, trace.analyzer)
    within = destination.layout if isinstance(destination, Padded) else destination
    positions = (_position(trace, source, names), _position(trace, within, names))
    space = IndexSpace(source, destination, names, trace, positions, known=trace.analyzer)
    try:
        axes, offsets = _refined(space)
    except NoDigits as error:
        return replace(space, why=str(error))
    return replace(space, axes=axes, offsets=offsets)


def _rounded_up(layout: Block) -> Block:
    """The layout, a size that is -(-n // 16) or -(n // -16) being (n + 15) // 16: copies divide nothing below 0."""
    if layout.is_concrete:
        return layout
    sizes = _Sizes(symbols_in(layout))
    made = layout.with_sizes(sizes)
    return made if sizes.differ else layout


class _Sizes:
    """Sizes in which nothing below 0 is divided (lego_emit.algebra.block.Change). names: those of symbols; differ:
    whether some had to be written in another way."""

    def __init__(self, names: Iterable[str]):
        self.differ = False
        self.known = Analyzer(use_z3=False)
        for name in names:
            self.known.learn_size(name)

    def size(self, n: Any) -> Any:
        """The size, with quotients of positive numbers alone."""
        found = n if is_integer(n) else without_negative_parts(Expr.of(n), self.known)
        self.differ |= repr(found) != repr(n)
        return found

    def function(self, f: Any) -> Any:
        """A GenP's function, as it is."""
        return f


def alone(space: IndexSpace) -> IndexSpace:
    """The index space of the destination and itself."""
    of = space.positions[1]
    own = replace(space, source=space.destination, positions=(of, of), axes=None)
    try:
        axes, offsets = _refined(own)
    except NoDigits as error:
        return replace(own, why=str(error))
    return replace(own, axes=axes, offsets=offsets)


def _check_known(source: Block, destination: Block, options: TraceOptions) -> None:
    names = symbols_in(source) | symbols_in(destination)
    listed = f"its sizes are {', '.join(sorted(names))}" if names else "all its sizes are numbers"
    for condition, text in options.conditions():
        for name in sorted(n for e in condition.exprs() for n in e.symbols() - names):
            raise AssumptionError(
                f"copy: the assumption {text!r} names {name}; {listed}.{did_you_mean(name, names)}"
            )
    for given in options.ranges:
        for name in (given.name, *sorted(n for e in given.bounds for n in e.symbols())):
            if name not in names:
                raise AssumptionError(
                    f"copy: the range of {given.name} names {name}; {listed}.{did_you_mean(name, names)}"
                )
    for name in sorted(options.numbers().keys() - names):
        raise TraceError(f"copy: sizes fixes {name}; {listed}.{did_you_mean(name, names)}")


def _declared(
    source: Block,
    destination: Block,
    options: TraceOptions,
    order: Sequence[str],
    taken: Sequence[str],
) -> tuple[Trace, tuple[str, ...]]:
    """A trace that knows both layouts' sizes, and names for the indices: in lowercase, too, none of what is taken.
    order: names of sizes that come first."""

    def start(trace: Trace) -> None:
        both = [L for L in (source, destination) if not L.is_concrete]
        own = (n for L in both for n in parameters_of(L, trace.analyzer.unsubstitute))
        names = [*dict.fromkeys(own)]
        first = [n for n in dict.fromkeys(order) if n in names]
        trace.signature = [*first, *(n for n in names if n not in first)]
        for layout in (source, destination):
            learn_layout(layout, trace.running())

    trace, _ = run_trace(start, options, False)
    own = {name.lower() for name in (*trace.signature, *trace.free, *taken)}
    found: list[str] = []
    given = source.coordinates or destination.coordinates
    for stem in given or index_names(len(source.dims), own):
        name, k = stem, 1
        while name.lower() in own:
            name, k = f"{stem}{k}", k + 1
        own.add(name.lower())
        found.append(name)
    return trace, tuple(found)


def _position(trace: Trace, layout: Block, names: Sequence[str]) -> Expr:
    """The position of the index of these names, in normal form."""

    def declare(t: Trace) -> None:
        t.axes = [*names]
        t.indices.update(names)
        for name, n in zip(names, layout.dims, strict=True):
            t.analyzer.learn_range(name, Expr.of(0), product_of((n,), t.analyzer) - 1)

    forward, found = go_on(trace, declare, lambda t: layout.apply(*map(t.symbol, names)))
    return forward.analyzer.rebuilt(Expr.of(found))


def _check_dims(A: Block, B: Block) -> None:
    for layout in (A, B):
        if layout.results is not None:
            raise LayoutError(
                f"copy: {short_repr(layout)} gives {', '.join(layout.results)}, no position in a memory; "
                "movement.convert moves registers to registers"
            )
    pairs = [*zip(A.dims, B.dims, strict=False)]
    if len(A.dims) != len(B.dims) or any(
        isinstance(n, int) and isinstance(m, int) and n != m for n, m in pairs
    ):
        raise LayoutError(_unlike(A, B))


def _unlike(A: Block, B: Block, way: str = "") -> str:
    ones, others = (", ".join(map(str, L.dims)) for L in (A, B))
    return (
        f"copy: the index spaces are [{ones}] and [{others}]; both layouts take the same indices{way}. "
        "Where one is cut from the other's matrix, pack and unpack take of=, the sizes of the matrix"
    )


def _check_alike(A: Block, B: Block, known: Analyzer) -> None:
    """Raise LayoutError where sizes of symbols differ at some numbers."""
    arithmetic = Sizes(known)
    for n, m in zip(A.dims, B.dims, strict=True):
        x, y = Expr.of(n), Expr.of(m)
        if arithmetic.same(arithmetic.of(x), arithmetic.of(y)):
            continue
        if any(sample.expr(x) != sample.expr(y) for sample in known.samples.first()):
            one, other = (m, n) if x.constant is not None else (n, m)
            may_be = (x - y).constant is None
            way = f"; where these are equal, give assume=['{one} == {other}']" * may_be
            raise LayoutError(_unlike(A, B, way))


# -- masks -----------------------------------------------------------------------------------------


def _unmasked(A: Block, B: Block) -> tuple[Block, Block]:
    """The layouts over the indices of the problem, where they are masked over those of whole tiles."""
    masks = [L for L in (A, B) if isinstance(L, ExpandBy)]
    if not masks:
        return A, B
    mask = masks[0]
    return tuple(untiled(L, mask) for L in (A, B))  # type: ignore[return-value]


def untiled(layout: Block, mask: ExpandBy) -> Block:
    """A layout over the coordinates of the problem that a mask is of. Raises LayoutError where it has
    another mask, or masks positions of its own order."""
    view = GroupBy(list(mask.n_prime))
    own = layout.layout if isinstance(layout, ExpandBy) else layout
    if tuple(map(str, own.dims)) != tuple(map(str, mask.layout.dims)):
        _check_dims(layout, mask)
    if isinstance(layout, ExpandBy):
        sizes = ([*map(str, L.n), *map(str, L.n_prime)] for L in (layout, mask))
        if len({tuple(s) for s in sizes}) > 1:
            raise LayoutError(f"copy: {layout!r} and {mask!r} mask other sizes; mask both alike")
        if layout.guard == "physical":
            if len(layout.layout.chain) > bool(layout.layout.untiling):
                raise LayoutError(
                    f"copy: {layout!r} masks positions in its own order; write guard='logical', or a Padded"
                )
            return Row(*layout.n)
    back = mask.layout.untiling
    if back is not None:
        perm = back.perms[0]
        assert isinstance(perm, RegP)
        order = [perm.perm.index(k) for k in range(len(perm.perm))]
        view = view.OrderBy(RegP([perm.dims[k] for k in perm.perm], order))
    return Padded(mask.n, view.OrderBy(own))


# -- the digits ------------------------------------------------------------------------------------

Term = tuple[Size, Size | None, Size]  # (lo, hi, stride) of a digit; hi None: all above


def _refined(space: IndexSpace) -> tuple[tuple[Axis, ...], tuple[Size, Size]]:
    """The axes of the common refinement, and the positions of index 0."""
    arithmetic = Sizes(space.known)
    layouts = (space.source, space.destination)
    read = [_terms(p, L, space) for p, L in zip(space.positions, layouts, strict=True)]
    axes = []
    for k, name in enumerate(space.names):
        n = arithmetic.of(space.source.dims[k])
        rounded = n
        if isinstance(space.destination, Padded):
            rounded = arithmetic.of(space.destination.layout.dims[k])
        terms = [of[name] for of, _ in read]
        ends = [end for side in terms for lo, hi, _ in side for end in (lo, hi) if end is not None]
        borders = _chain(ends, rounded, arithmetic)
        a, b = (
            tuple(
                _stride(side, border, following, arithmetic)
                for border, following in _spans(borders)
            )
            for side in terms
        )
        axes.append(Axis(name, n, tuple(borders), a, b, rounded))
    return tuple(axes), (read[0][1], read[1][1])


def _spans(borders: Sequence[Size]) -> list[tuple[Size, Size | None]]:
    return [*zip(borders, [*borders[1:], None], strict=True)]


def _terms(position: Expr, layout: Block, space: IndexSpace) -> tuple[dict[str, list[Term]], Size]:
    """The digits of each index in a position, and the rest. Raises NoDigits."""
    try:
        return _of_formula(position, space)
    except NoDigits:
        found = _of_table(layout, space.names)
        if found is None:
            raise
        return found


def _of_formula(position: Expr, space: IndexSpace) -> tuple[dict[str, list[Term]], Size]:
    names = frozenset(space.names)
    found: dict[str, list[Term]] = {name: [] for name in space.names}
    arithmetic, offset = Sizes(space.known), Expr.of(0)
    for mono, coefficient in position.terms.items():
        held = [atom for atom in mono if not names.isdisjoint(atom.symbols)]
        rest = Expr({tuple(a for a in mono if a not in held): coefficient})
        if not held:
            offset = offset + rest
            continue
        atom, base = held[0], held[0]
        lo, hi = 1, None
        if atom.kind == "digit":
            base, lo, hi = atom.args[0].single, *map(arithmetic.of, atom.args[1:2]), atom.args[2]
            hi = None if hi is None else arithmetic.of(hi)
        if len(held) > 1 or base is None or base.kind != "sym" or base.args[0] not in names:
            raise NoDigits(f"{shorten(repr(Expr({mono: 1})), 80)} is no digit of one index")
        if any(isinstance(e, Expr) and not names.isdisjoint(e.symbols()) for e in (lo, hi)):
            raise NoDigits(f"{shorten(repr(Expr({mono: 1})), 80)} is divided by an index")
        found[base.args[0]].append((lo, hi, arithmetic.of(rest)))
    return found, arithmetic.of(offset)


def _of_table(layout: Block, names: Sequence[str]) -> tuple[dict[str, list[Term]], Size] | None:
    """The digits of a layout of numbers, from all its positions."""
    from ..recognition.strides import Axes, axes

    if not layout.is_concrete or layout.size > MOST_TABLED or layout.masks:
        return None
    found = axes(reference.table(layout).reshape(layout.dims))
    if not isinstance(found, Axes):
        return None
    terms: dict[str, list[Term]] = {}
    for name, mode in zip(names, found.modes, strict=True):
        lo, own = 1, []
        for at, (n, stride) in enumerate(mode):
            own.append((lo, None if at == len(mode) - 1 else lo * n, stride))
            lo *= n
        terms[name] = own
    return terms, found.offset


def neighbors(space: IndexSpace) -> tuple[int, str]:
    """How many indices of the last axis are neighbors in both memories, wherever so many of them begin, and the
    memory in which they fall somewhere; (1, "") where that isn't known."""
    layouts = space.source, space.destination
    if any(not L.is_concrete or L.masks or L.size > MOST_TABLED for L in layouts):
        return 1, ""
    if isinstance(space.destination, Padded) or not space.source.size:
        return 1, ""
    tables = [reference.table(L).reshape(-1) for L in layouts]
    n = space.source.dims[-1]
    for count in (k for k in range(n, 1, -1) if n % k == 0):
        steps = [np.diff(table.reshape(-1, count), axis=1) for table in tables]
        rises = [(step == 1).all(axis=1) for step in steps]
        falls = [(step == -1).all(axis=1) for step in steps]
        for own, other, name in ((0, 1, DESTINATION), (1, 0, SOURCE)):
            if rises[own].all() and (rises[other] | falls[other]).all():
                return count, name if falls[other].any() else ""
    return 1, ""


def _chain(ends: Sequence[Size], extent: Size, arithmetic: Sizes) -> list[Size]:
    """The borders in order, 1 first, without those that no index reaches. Raises NoDigits where one
    doesn't divide the next."""
    borders: list[Size] = [1]
    for end in ends:
        if any(arithmetic.same(end, known) for known in borders):
            continue
        if isinstance(end, int) and isinstance(extent, int) and end >= extent:
            continue
        if arithmetic.same(end, extent):
            continue
        at = 0
        while at < len(borders) and arithmetic.quotient(end, borders[at]) is not None:
            at += 1
        borders.insert(at, end)
    for lower, upper in pairwise(borders):
        if arithmetic.quotient(upper, lower) is None:
            raise NoDigits(
                f"digits begin at {lower} and {upper}, of which neither divides the other"
            )
    return borders


def _stride(terms: Sequence[Term], lo: Size, hi: Size | None, arithmetic: Sizes) -> Size:
    """The stride of one digit of the refinement: of what holds it, how often it counts."""
    total: Size = 0
    for own_lo, own_hi, stride in terms:
        factor = arithmetic.quotient(lo, own_lo)
        if factor is None:
            continue
        ends = own_hi is None or (hi is not None and arithmetic.quotient(own_hi, hi) is not None)
        if not ends and hi is None:
            # the last digit of the axis: a border that the index doesn't reach was left out
            ends = arithmetic.quotient(own_hi, lo) not in (None, 1)
        if ends:
            total = arithmetic.plus(total, arithmetic.times(stride, factor))
    return total
