"""From LEGO's blocks to shapes and strides and back, and the mappings of std::mdspan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, islice, product
from typing import Any

from ..algebra.block import Block
from ..algebra.layout import GroupBy, Layout
from ..algebra.nested import checked, compact, flat, is_tuple, modes, number, same, times
from ..algebra.perms import RegP
from ..algebra.same import Same
from ..algebra.strided import Strided, Swizzled, is_one
from ..errors import LayoutError, LazyText, brief, short_repr
from ..numeric import is_integer
from ..trace.same import same_map
from .given import as_layout, as_shape
from .known import at_most, divides, facts_of, quotient

MOST_FACTOR = 2**16  # a prime factor beyond is not looked for
MOST_TRIED = 24  # ways to cut symbolic dims into sizes

# -- LEGO's blocks -------------------------------------------------------------------------------


@brief
def to_cute(layout: Any) -> Strided:
    """The strided layout that is the same map, its modes the layout's dims, each nested where it
    needs several strides.

    The strides are read off the positions of unit indices and digits. Then it is proven that they
    give the map: at all indices up to 2**22, above and over symbols by same_map.

    Raises LayoutError where no strides give the map, with an index that shows it, and where that
    is not decided.

        >>> from lego_emit import Row, TileBy, cute
        >>> print(cute.to_cute(TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))))
        (2,2,3,4):(24,4,8,1)
    """
    if isinstance(layout, Strided):
        return layout
    construct = LazyText("to_cute({})", layout)
    if not isinstance(layout, Block):
        raise LayoutError(
            f"{construct}: it is not a layout; give a GroupBy, TileBy or another block"
        )
    if isinstance(layout, Swizzled):
        layout.swizzle.check_concrete(construct)
    if layout.masks:
        raise LayoutError(
            f"{construct}: it gives -1 where it masks, which no strides do; give a layout that masks "
            "nothing, such as what is inside of an ExpandBy"
        )
    if len(layout.results or ()) > 1:
        raise LayoutError(
            f"{construct}: it gives {', '.join(layout.results or ())}, and strides give one "
            "position; flatten_outs() makes one of them"
        )
    origin = [0] * len(layout.dims)
    start = _position(layout, origin)

    def along(axis: int) -> Callable[[Any], Any]:
        def moved(i: Any) -> Any:
            index = [*origin[:axis], i, *origin[axis + 1 :]]
            return number(_position(layout, index) - start)

        return moved

    found = [islice(_leaves(n, along(k), layout), MOST_TRIED) for k, n in enumerate(layout.dims)]
    answers: list[tuple[Same, Strided]] = []
    for leaves in islice(product(*found), MOST_TRIED):
        shape, stride = (tuple(_unwrapped(each, side) for each in leaves) for side in (0, 1))
        if len(leaves) == 1 and len(leaves[0]) == 1:
            shape, stride = shape[0], stride[0]
        made = Strided(shape, stride, start)
        answers.append((same_map(layout, made), made))
        if answers[-1][0].verdict:
            return made
    raise _refusal(layout, answers, construct)


def _position(layout: Block, index: Sequence[Any]) -> Any:
    if not layout.is_concrete:
        from ..trace.layouts import in_general

        return number(in_general(layout, index))
    found = layout.apply(*index)
    return found[0] if isinstance(found, tuple) else found


def _unwrapped(leaves: Sequence[tuple[Any, Any]], side: int) -> Any:
    tree = tuple(leaf[side] for leaf in leaves)
    return tree[0] if len(tree) == 1 else tree


def _leaves(
    n: Any, moved: Callable[[Any], Any], layout: Block, unit: Any = 1
) -> Iterator[list[tuple[Any, Any]]]:
    """The sizes and strides of one dim from a unit on: a size ends at the first divisor of what is
    left at which the position is not the stride's multiple; over symbols, at each such one."""
    if is_one(n):
        yield [(1, 0)] if same(unit, 1) else []
        return
    d = moved(unit)
    ends = (t for t in _divisors(n, layout) if not same(moved(times(unit, t)), times(d, t)))
    for size in [*(islice(ends, 1) if is_integer(n) else ends)] or [n]:
        with facts_of(layout):
            left = quotient(n, size)
        for rest in _leaves(left, moved, layout, times(unit, size)):
            yield [(size, d), *rest]


def _divisors(n: Any, layout: Block) -> Iterable[Any]:
    """The divisors of n between 1 and n, growing; of a symbolic one those that are made of the
    layout's own sizes, those of fewer factors first."""
    if is_integer(n):
        return _of_integer(int(n))
    sizes: list[Any] = []
    for each in map(number, layout.sizes()):
        if not is_one(each) and not any(same(each, s) for s in sizes):
            sizes.append(each)
    tried: list[Any] = []
    for count in (1, 2, 3):
        for chosen in combinations(sizes, count):
            t: Any = 1
            for each in chosen:
                t = times(t, each)
            if any(same(t, s) for s in (n, *tried)):
                continue
            with facts_of(layout):
                if divides(t, n):
                    tried.append(t)
    return tried


def _of_integer(n: int) -> list[int]:
    found, left, p = [1], n, 2
    while left > 1:
        if p * p > left or p > MOST_FACTOR:
            p = left
        powers = [1]
        while left % p == 0:
            left //= p
            powers.append(powers[-1] * p)
        found = [a * b for a in found for b in powers]
        p += 1
    return sorted(found)[1:-1]


def _refusal(layout: Block, answers: list[tuple[Same, Strided]], construct: object) -> LayoutError:
    open_ = [(answer, made) for answer, made in answers if answer.verdict is None]
    if open_ or not layout.is_concrete:
        answer, made = (open_ or answers)[0]
        said = "not decided" if open_ else "not so"
        return LayoutError(
            f"{construct}: no strides are found that are proven to give it: whether {made} does is "
            f"{said} ({answer.why}); write the strides yourself, cute.layout(shape, stride), or give "
            "numbers for the sizes"
        )
    answer, made = answers[0]
    return LayoutError(
        f"{construct}: it is not strided: {answer.why}, first its own and then that of {made}, which "
        "its unit indices ask for; generate() and @ take any layout as it is"
    )


@brief
def from_cute(a: Any) -> Layout:
    """The same map as a GroupBy of a's dims, ordered by a RegP of its leaves.

    Raises LayoutError where a is no bijection onto 0..size-1.

        >>> from lego_emit import cute
        >>> cute.from_cute("(4,8):(8,1)")
        GroupBy([4, 8]).OrderBy(Row(4, 8))
    """
    a = as_layout(a, "from_cute(..)")
    if a.order is None or a.falling:
        raise LayoutError(
            f"from_cute({a}): it is not a bijection onto 0..size - 1 without negative strides, which a RegP is; OrderBy takes a "
            "Strided itself as the step next to the memory: GroupBy(dims).OrderBy(a)"
        )
    sizes: list[Any] = []
    place: dict[int, int] = {}  # of each leaf of a, in the RegP: a mode's fastest leaf comes last
    start = 0
    for shape in modes(a.shape):
        leaves = flat(shape)
        for k in reversed(range(len(leaves))):
            place[start + k] = len(sizes)
            sizes.append(leaves[k])
        start += len(leaves)
    still = [place[k] for k in range(len(sizes)) if k not in a.order]
    perm = still + [place[k] for k in reversed(a.order)]
    return GroupBy(list(a.dims)).OrderBy(RegP(sizes, perm))


# -- std::mdspan ---------------------------------------------------------------------------------


@brief
def layout_left(extents: Any) -> Strided:
    """std::layout_left: column-major, the first extent is contiguous.

    >>> from lego_emit import cute
    >>> print(cute.to_cute(cute.layout_left((4, 8))))
    (4,8):(1,4)
    """
    sizes = _extents(extents, "layout_left")
    return Strided(sizes, compact(sizes))


@brief
def layout_right(extents: Any) -> Strided:
    """std::layout_right: row-major, the last extent is contiguous.

    >>> from lego_emit import cute
    >>> print(cute.to_cute(cute.layout_right((4, 8))))
    (4,8):(8,1)
    """
    sizes = _extents(extents, "layout_right")
    return Strided(sizes, compact(sizes[::-1])[::-1])


@brief
def layout_stride(extents: Any, strides: Any) -> Strided:
    """std::layout_stride: any positive strides under which no two indices meet.

    Raises LayoutError where the strides are not such, as far as is known; Strided takes any.

        >>> from lego_emit import cute
        >>> print(cute.to_cute(cute.layout_stride((4, 8), (10, 1))))
        (4,8):(10,1)
    """
    construct = LazyText("layout_stride({}, {})", extents, strides)
    sizes = _extents(extents, "layout_stride")
    given = modes(checked(strides, construct, "stride", None))
    if len(given) != len(sizes):
        raise LayoutError(f"{construct}: {len(sizes)} extents and {len(given)} strides")
    for k, d in enumerate(given):
        if at_most(d, 0):
            raise LayoutError(
                f"{construct}: stride {k} is {short_repr(d)}; std::mdspan takes positive ones. "
                "Strided(extents, strides) takes any"
            )
    if all(map(is_integer, (*sizes, *given))):
        reach, of = 0, None
        for k in sorted(range(len(sizes)), key=lambda k: (given[k], sizes[k])):
            if given[k] < reach and sizes[k] > 1:
                raise LayoutError(
                    f"{construct}: stride {k} is {given[k]} and extent {of} reaches {reach}, so that "
                    "indices may meet; std::mdspan asks that none do. Strided(extents, strides) "
                    "takes any"
                )
            if sizes[k] > 1:
                reach, of = given[k] * sizes[k], k
    return Strided(sizes, given)


@brief
def layout_left_padded(extents: Any, padding: Any) -> Strided:
    """std::layout_left_padded<padding>: column-major, the first extent rounded up to a multiple of
    the padding.

        >>> from lego_emit import cute
        >>> print(cute.to_cute(cute.layout_left_padded((4, 8), 5)))
        (4,8):(1,5)
    """
    sizes = _extents(extents, "layout_left_padded")
    return Strided(sizes, _padded(sizes, padding, "layout_left_padded"))


@brief
def layout_right_padded(extents: Any, padding: Any) -> Strided:
    """std::layout_right_padded<padding>: row-major, the last extent rounded up to a multiple of the
    padding: a pitch.

        >>> from lego_emit import cute
        >>> print(cute.to_cute(cute.layout_right_padded((4, 8), 10)))
        (4,8):(10,1)
    """
    sizes = _extents(extents, "layout_right_padded")
    return Strided(sizes, _padded(sizes[::-1], padding, "layout_right_padded")[::-1])


def _extents(extents: Any, name: str) -> tuple[Any, ...]:
    sizes = modes(as_shape(extents, LazyText("{!s}({})", name, extents)))
    if len(flat(sizes)) != len(sizes):
        raise LayoutError(f"{name}({short_repr(extents)}): give a size, or one level of sizes")
    return sizes


def _padded(sizes: tuple[Any, ...], padding: Any, name: str) -> tuple[Any, ...]:
    """The strides, the first one fastest."""
    construct = LazyText("{!s}(.., {})", name, padding)
    padding = checked(padding, construct, "padding", None)
    if is_tuple(padding) or at_most(padding, -1):
        raise LayoutError(f"{construct}: the padding is negative or a tuple; give one from 0")
    pitch = sizes[0]
    known = divides(padding, pitch) if not at_most(padding, 0) else True
    if known is not True:
        pitch = times(number(quotient(pitch + padding - 1, padding)), padding)
    return (1, *compact(sizes[1:], pitch)) if len(sizes) > 1 else (1,)
