"""Layouts with named coordinates as sheets: a tensor's elements with all their holders, or the
hardware's registers with the elements that they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.digits import ravel, unravel
from ..algebra.labels import listed
from ..algebra.strided import Strided, Swizzled
from ..errors import LayoutError, did_you_mean, short_repr
from ..ir.nodes import evaluate
from ..ir.program import Function
from ..numeric import is_integer
from ..run.space import space_of
from ..trace.definition import symbols_in
from .cells import MASKED, STRIP, Cell, Labels, Sheet, bank, bank_color, folded, hue, ramp

VIEWS = ("tensor", "hardware")
GRADED = ("bank", "position")  # colors without lines between them
MOST_CELLS = 2**16
MOST_HOLDERS = 32  # of one element

# The hardware's names: the letter in a cell, and which comes first there.
LETTERS = {"block": "B", "warp": "W", "lane": "T", "thread": "T", "register": "V", "value": "V"}
ALIKE = {"thread": "lane", "lane": "thread", "value": "register", "register": "value"}


@dataclass(frozen=True, eq=False, repr=False)
class Holders(Sheet):
    """A sheet whose cells have texts of their own.

    texts: the lines of each cell, by its number in logical. tensor: the names of its dimensions,
    where it is none of memory.
    """

    texts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    tensor: tuple[str, ...] = ()

    @property
    def path(self) -> list[tuple[int, int]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The cells in the order of memory. Raises LayoutError where it is a tensor."""
        if self.tensor:
            raise LayoutError(
                f"{self.title}: {', '.join(self.tensor)} are no memory, so there is no path through "
                "it; leave --order out"
            )
        return super().path

    def lines(self, row: int, column: int) -> Sequence[str]:
        """The holders in a cell, or the element; "-" where there is none."""
        number = self.cell(row, column).logical
        return self.texts.get(number, ("-",)) if number >= 0 else ("",)

    @property
    def stacked(self) -> bool:
        """Whether each cell has one holder, which is drawn as CuTe does: the thread above its value."""
        return self.deep == 1 and any(
            " " in line for lines in self.texts.values() for line in lines
        )

    def text(self, row: int, column: int) -> str:
        """All lines of a cell in one."""
        return "; ".join(self.lines(row, column))

    def note(self, row: int, column: int) -> str:
        """What a cell says under the mouse."""
        if self.inverse:
            return f"[{self.index(row, column)}]: {self.text(row, column)}"
        return f"[{self.index(row, column)}] holds [{self.text(row, column)}]"


@dataclass(frozen=True, eq=False)
class Points:
    """A layout at all indices: inputs and results with their sizes, and the results' numbers."""

    title: str
    ins: dict[str, int]
    outs: dict[str, int]
    index: list[tuple[int, ...]]  # in row-major order
    found: list[tuple[int, ...]]  # the results of each
    starts: Sequence[int] = ()  # the least value of each input, where not 0
    lows: Sequence[int] = ()  # of each result, where below 0

    @property
    def flat(self) -> list[int]:
        """The results of each index as one number from 0 on."""
        sizes = [*self.outs.values()]
        lows = self.lows or [0] * len(sizes)
        return [
            ravel(sizes, [n - low for n, low in zip(results, lows, strict=True)])
            for results in self.found
        ]

    @property
    def order(self) -> list[int]:
        """The inputs of more than one value: block, warp, thread, value; others before these."""
        rank = [*LETTERS]
        kept = [k for k, n in enumerate(self.ins.values()) if n > 1] or [0]
        names = [*self.ins]
        return sorted(kept, key=lambda k: rank.index(names[k]) if names[k] in rank else -1)

    def label(self, k: int, value: int) -> str:
        """An input's value as cells say it."""
        name = [*self.ins][k]
        letters = [LETTERS.get(n) for n in self.ins]
        letter = LETTERS.get(name)
        return f"{letter if letter and letters.count(letter) == 1 else name}{value}"

    def labels(self, inputs: Sequence[int]) -> Sequence[str]:
        """For each index of some inputs their values."""
        sizes = [[*self.ins.values()][k] for k in inputs]
        starts = [self.starts[k] if self.starts else 0 for k in inputs]
        if not any(starts) and not all([*self.ins][k] in LETTERS for k in inputs):
            return Labels(sizes)
        known = all([*self.ins][k] in LETTERS for k in inputs)
        return tuple(
            " ".join(self.label(k, v) for k, v in zip(inputs, index, strict=True))
            if known
            else ",".join(str(i + start) for i, start in zip(index, starts, strict=True))
            for index in product(*map(range, sizes))
        )


def is_named(layout: Block) -> bool:
    """Whether a layout's coordinates or results have names."""
    return layout.results is not None or layout.coordinates is not None


def holders(
    layout: Block,
    view: str | None = None,
    color: str | None = None,
    tile: Sequence[int] | None = None,
    bits: int = 32,
) -> Sheet:
    """The cells of a layout with named coordinates, or of a Strided one from threads and values.

    view: "tensor", each element with all that hold it, or "hardware", each place with its element;
        without it the tensor, or of a layout with one result or without names the hardware.
    color: an input's name, "bank" or "position"; without it the threads.
    tile: the sizes of a tensor whose elements the one result counts, the first dimension fastest.
    bits: of an element, for "bank".

    Raises LayoutError on a tensor of more than two dimensions, too many cells, or unknown names.
    """
    points = _points(layout, tile)
    if view is None:
        named = len(points.outs) > 1 and (layout.coordinates is not None or tile is not None)
        view = "tensor" if named else "hardware"
    if view not in VIEWS:
        raise LayoutError(
            f"view is {short_repr(view)}; there are {', '.join(VIEWS)}.{did_you_mean(str(view), VIEWS)}"
        )
    names = [*points.ins]
    color = color or next((n for n in ("lane", "thread", "warp") if n in names), None)
    if color is None:
        color = "bank" if len(points.outs) == 1 else names[0]
    colors = _colors(points, color, bits)
    color = f"{color}, {bits} bits each" if color == "bank" else color
    return (_tensor if view == "tensor" else _hardware)(points, colors, color)


def values(
    function: Function,
    sizes: Mapping[str, int],
    domain: Mapping[str, int],
    color: str | None = None,
    bits: int = 32,
) -> Sheet:
    """The results of an emitted function over its index space, the last index along a row.

    sizes, domain: as in verify(). color: a parameter's name, "position", which is the default, or
    "bank".

    Raises VerifyError or AssumptionError on sizes that are missing or that the function rules out,
    LayoutError on too many cells, no index, or unknown names.
    """
    space = space_of(function, sizes, domain)
    given = ", ".join(f"{name}={value}" for name, value in space.fixed.items())
    title = f"{function.name}{f' at {given}' * bool(given)}"
    if not space.axes or not 0 < space.total <= MOST_CELLS:
        raise LayoutError(
            f"{title}: {space.total if space.axes else 'no'} indices, a picture has 1 to {MOST_CELLS}"
        )
    every = list(map(space.at, range(space.total)))
    found = [_evaluated(function, index.named) for index in every]
    lows = [min(0, *column) for column in zip(*found, strict=True)]
    highs = [max(0, *column) for column in zip(*found, strict=True)]
    outs = {
        name: high - low + 1
        for (name, _), low, high in zip(function.outputs, lows, highs, strict=True)
    }
    starts = tuple(axis.lo for axis in space.axes)
    ins = {axis.name: axis.count for axis in space.axes}
    points = Points(title, ins, outs, [index.values for index in every], found, starts, lows)
    color = color or ("position" if len(outs) == 1 else next(iter(ins)))
    return _hardware(points, _colors(points, color, bits), color, "")


def _evaluated(function: Function, known: dict[str, Any]) -> tuple[int, ...]:
    for name, node in (*function.body, *function.outputs):
        value = known[name] = evaluate(node, known)
        if value is None:
            raise LayoutError(
                f"{function.name}: {name} has no value here: it divides by 0, or looks a table up that is "
                "not in the file"
            )
    return tuple(int(known[name]) for name, _ in function.outputs)


def check_numbers(layout: Block) -> None:
    """Raises LayoutError where sizes are symbols."""
    if layout.is_concrete:
        return
    names = sorted(symbols_in(layout))
    raise LayoutError(
        f"{layout!r}: a picture needs integer sizes; write numbers for {', '.join(names)}, or give them on the command "
        f"line, lego-emit show .. --size {names[0]}=12"
    )


def _points(layout: Block, tile: Sequence[int] | None) -> Points:
    check_numbers(layout)
    if layout.size > MOST_CELLS:
        raise LayoutError(
            f"{layout!r}: {layout.size} indices, a picture has at most {MOST_CELLS}; fix some by "
            "sublayout(inputs, outputs), or choose smaller sizes"
        )
    names = layout.coordinates
    if names is None and layout.results is not None:
        names = tuple(f"mode{k}" for k in range(len(layout.dims)))
    if names is None and isinstance(layout, Strided | Swizzled) and len(layout.dims) == 2:
        names = ("thread", "value")
    if names is None:
        raise LayoutError(
            f"{layout!r}: view, tile and an input's color are for layouts with named coordinates, "
            "and for Strided ones of two modes, threads and values; the colors of others are "
            "'tile', 'bank' and 'position'"
        )
    index = list(product(*map(range, layout.dims)))
    made = map(layout.reference_apply, index)
    found = [r if isinstance(r, tuple) else (r,) for r in made]
    least = min(map(min, found))
    if least < 0:
        raise LayoutError(f"{layout!r}: the position {least} is in no tensor")
    ins = dict(zip(names, layout.dims, strict=True))
    if layout.results is not None:
        outs = dict(zip(layout.results, layout.physical_dims, strict=True))
    else:
        outs = {"position": max(layout.physical_size, max(found)[0] + 1)}
    points = Points(repr(layout), ins, outs, index, found)
    return points if tile is None else _tiled(points, listed(tile))


def _tiled(points: Points, tile: list[int]) -> Points:
    """The one result taken apart, the first dimension fastest."""
    if len(points.outs) != 1:
        raise LayoutError(
            f"{points.title}: it has results {', '.join(points.outs)}; leave tile out"
        )
    if not tile or not all(map(is_integer, tile)):
        raise LayoutError(f"{points.title}: tile is {short_repr(tile)}; give sizes, as 8,8")
    last = max(points.found)[0]
    if min(tile, default=0) < 1 or last >= prod(tile):
        raise LayoutError(
            f"{points.title}: the position {last} is outside a tile of {tile}; give sizes "
            f"whose product is at least {last + 1}"
        )
    turned = tile[::-1]
    found = [tuple(reversed(unravel(turned, position))) for (position,) in points.found]
    outs = {f"dim{k}": n for k, n in enumerate(tile)}
    return Points(f"{points.title}, tile {tuple(tile)}", points.ins, outs, points.index, found)


def _colors(points: Points, color: str, bits: int) -> list[int]:
    """The color of each index."""
    names = [*points.ins]
    if color not in names and ALIKE.get(color) in names:
        color = ALIKE[color]
    if color in names:
        axis = names.index(color)
        return [hue(index[axis]) for index in points.index]
    if color not in GRADED:
        known = [*names, *GRADED]
        raise LayoutError(
            f"{points.title}: color is {short_repr(color)}; there are {', '.join(known)}."
            f"{did_you_mean(str(color), known)}"
        )
    if color == "position":
        size = prod(points.outs.values())
        return [ramp(number, size) for number in points.flat]
    if len(points.outs) != 1:
        raise LayoutError(
            f"{points.title}: a bank is asked for a layout whose one result is a position in "
            "memory; compose it with one"
        )
    return [bank_color(bank(position, bits)) for (position,) in points.found]


def _tensor(points: Points, colors: list[int], color: str) -> Sheet:
    wide = {n: size for n, size in points.outs.items() if size > 1}
    if len(wide) > 2:
        raise LayoutError(
            f"{points.title}: a tensor of {len(wide)} dimensions ({', '.join(wide)}) has no "
            'picture; take a slice by sublayout(inputs, outputs), flatten_outs(), or view="hardware"'
        )
    shape = tuple(points.outs.values())
    size = prod(shape)
    if size > MOST_CELLS:
        raise LayoutError(
            f"{points.title}: a tensor of {size} elements, a picture has at most {MOST_CELLS}; "
            'take a part by sublayout(inputs, outputs), or view="hardware"'
        )
    # One result is a memory: its positions lie in a line.
    flat = points.flat
    order = points.order
    single = not {*points.ins} & {*LETTERS}
    texts: dict[int, list[str]] = {}
    shade: dict[int, int] = {}
    for k in sorted(range(len(flat)), key=lambda k: [points.index[k][i] for i in order]):
        values = [points.index[k][i] for i in order]
        said = (
            ",".join(map(str, values))
            if single
            else " ".join(points.label(i, v) for i, v in zip(order, values, strict=True))
        )
        shade.setdefault(flat[k], colors[k])
        texts.setdefault(flat[k], []).append(said)
    deep = max(map(len, texts.values()))
    if deep > MOST_HOLDERS:
        raise LayoutError(
            f"{points.title}: {deep} holders of one element, a cell has at most {MOST_HOLDERS}; fix "
            'an input by sublayout(inputs, outputs), or view="hardware"'
        )
    axes = [*points.outs] if len(points.outs) == 2 else [*wide] or [*points.outs][:1]
    down, across = axes if len(axes) == 2 else ("", axes[0])
    height, width = points.outs[down] if down else 1, points.outs[across]

    def find(row: int, column: int) -> Cell:
        number = row * width + column
        if number not in texts:
            return Cell(MASKED, number)
        return Cell(number, number, shade[number])

    said = f"down: {down}, across: {across}" if down else f"across: {across}"
    page = Holders(
        f"{points.title}: tensor view; colored by {color}",
        shape,
        (height, width),
        find,
        Labels([height] if down else []),
        Labels([width]),
        (height, width),
        inverse=True,
        axes=f"{down}/{across}" if down else across,
        deep=deep,
        outlined=not color.startswith(GRADED),
        legend=f"{said}; a cell says who holds the element",
        tensor=tuple(points.outs) if len(points.outs) > 1 else (),
        texts={at: tuple(lines) for at, lines in texts.items()},
    )
    return page if down or width <= STRIP else folded(page)


def _hardware(
    points: Points, colors: list[int], color: str, what: str = "hardware view, "
) -> Sheet:
    names, sizes = [*points.ins], [*points.ins.values()]
    order = points.order
    rows, columns = order[:-1], order[-1:]
    height, width = prod(sizes[k] for k in rows), prod(sizes[k] for k in columns)
    flat = points.flat

    def find(row: int, column: int) -> Cell:
        digits = unravel([sizes[k] for k in order], row * width + column)
        index = [0] * len(sizes)
        for k, digit in zip(order, digits, strict=True):
            index[k] = digit
        number = ravel(sizes, index)
        return Cell(flat[number], number, colors[number])

    texts = {k: (",".join(map(str, results)),) for k, results in enumerate(points.found)}
    said = [" ".join(names[k] for k in part) for part in (rows, columns)]
    where = [f"{way}: {part}" for way, part in zip(("down", "across"), said, strict=True) if part]
    page = Holders(
        f"{points.title}: {what}colored by {color}",
        tuple(sizes),
        (height, width),
        find,
        points.labels(rows) if rows else Labels([]),
        points.labels(columns),
        (sizes[rows[-1]] if len(rows) > 1 else height, width),
        axes="/".join(part for part in said if part),
        outlined=not color.startswith(GRADED),
        legend=f"{', '.join(where)}; a cell says its {', '.join(points.outs)}",
        tensor=tuple(points.outs) if len(points.outs) > 1 else (),
        texts=texts,
    )
    return page if rows or width <= STRIP else folded(page)
