"""Random pairs of memories as copies in C: compiled under sanitizers and compared with NumPy.

What a memory is stands here twice: as a layout of lego_emit, and as NumPy's reshape, transpose and pad of the
numbers of its indices. Memories have exactly as many bytes as they need, sizes lie at the borders of tiles and beside
them, and what a copy is not to write holds other bytes. Some copies are carried out part by part, as by threads,
the last part first.
"""

import subprocess
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np

from lego_emit import (
    Choice,
    GenP,
    GroupBy,
    RegP,
    Row,
    Strided,
    catalogue,
    copy,
    pack,
    symbols,
    unpack,
)
from lego_emit.algebra.masked import Padded
from lego_emit.copies import hints, kinds, pieces
from lego_emit.copies.plan import PAD
from lego_emit.copies.running import compared
from lego_emit.errors import LayoutError, LegoError

NAMES = ("M", "N", "K")
TAKEN = ("tile", "to", "into")  # names that routines have, too
TAG = "tag"  # which memory it is, where one is chosen
WHOLE = ("digits", "apart")  # memories of tiles that divide the sizes
ROUNDED = ("padded", "spread")  # memories of whole tiles, where sizes may end within one
ELEMENTS = (4, 4, 1, 2, 8, 3, 16, 12)
MOST = 2**14  # places of a memory
BATCH = 12  # copies that are compiled together
FILL = 0xA5
PIECE = 512  # bytes of a part, so that small memories have several
LARGE = 2**10  # bytes of a copy that is streamed
WIDTHS = (1, 1, 2, 3, 7)  # parts that are moved at once
STRICT = ("-Wall", "-Wextra", "-Wshadow", "-Wno-misleading-indentation", "-Werror")
GUARD = 64  # bytes before and behind a destination where no sanitizer looks at that
COMPILERS = {
    "gcc": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DGUARD=0"),
    "clang": ("-O1", "-fsanitize=undefined", "-fsanitize-trap=all", f"-DGUARD={GUARD}"),
    # NEON, or what SCALAR leaves, under qemu
    "aarch64-linux-gnu-gcc": ("-O2", "-static", f"-DGUARD={GUARD}"),
}
# Of Rust, with the feature that has registers.
RUSTC = {
    "rustc": ("--cfg", 'feature="simd"'),
    "rustc-v3": ("--cfg", 'feature="simd"', "-C", "target-cpu=x86-64-v3"),
}
RUNNERS = {"aarch64-linux-gnu-gcc": ["qemu-aarch64-static"]}


@dataclass(frozen=True)
class Axis:
    """name: of its size, "" where that is a number. tile: what the size is a multiple of, or what it is rounded up to."""

    name: str
    n: int
    tile: int

    @property
    def size(self):
        """The number, or a symbol."""
        return symbols(self.name) if self.name else self.n


@dataclass(frozen=True)
class Memory:
    """One side of a copy. kind: of _KINDS; tiles: of each axis the factors of its digits, the slowest one's left
    out; perm: the order of the digits; more: of a pitch, what a swizzle exchanges, or the axis that goes backward or
    stands still; gaps: how many places follow each digit, by its number in perm; options: the memories of which a tag,
    which follows the sizes, chooses one; falls: the digits that go backward; lead: the name of a leading dimension, which
    follows the sizes, too, and is `more` than what it holds; behind: the digit that is the last one in it."""

    kind: str
    axes: tuple[Axis, ...]
    tiles: tuple[tuple[int, ...], ...] = ()
    perm: tuple[int, ...] = ()
    more: int = 0
    gaps: tuple[int, ...] = ()
    options: tuple["Memory", ...] = ()
    falls: tuple[int, ...] = ()
    lead: str = ""
    behind: int = 0

    def factors(self, sizes):
        """The extents of the digits of whole tiles."""
        found = []
        for n, tiles in zip(sizes, self.tiles, strict=True):
            whole = prod(tiles)
            found += [-(-n // whole) if self.kind in ROUNDED else n // whole, *tiles]
        return found

    @property
    def layout(self):
        """The layout, of symbols where sizes have names."""
        dims = [axis.size for axis in self.axes]
        if self.options:
            return Choice(symbols(TAG), {k: one.layout for k, one in enumerate(self.options)})
        if self.kind == "rows":
            return Row(*dims)
        if self.kind == "pitched":
            strides = [1]
            for n in dims[:0:-1]:
                strides.insert(0, strides[0] * n + (self.more if len(strides) == 1 else 0))
            return Strided(tuple(dims), tuple(strides))
        if self.kind in ("flipped", "repeated"):
            strides = [1]
            for n in dims[:0:-1]:
                strides.insert(0, strides[0] * n)
            offset = strides[self.more] * (dims[self.more] - 1)
            flipped = self.kind == "flipped"
            strides[self.more] *= -1 if flipped else 0
            return Strided(tuple(dims), tuple(strides), offset=offset if flipped else 0)
        if self.kind == "exchanged":
            width, mask = dims[1], self.more
            return GroupBy(dims).OrderBy(
                GenP(dims, partial(_exchanged, width, mask), partial(_back, width, mask))
            )
        if self.kind == "morton":
            return catalogue["morton.2D"](*dims)
        factors = self._factors
        if self.gaps:
            found = self._spread(factors)
            return Padded(dims, found) if self.kind == "spread" else found
        order, at = RegP(factors, [*self.perm]), 0
        rounded = []
        for tiles in self.tiles:
            rounded.append(factors[at] * prod(tiles))
            at += 1 + len(tiles)
        if self.kind == "padded":
            return Padded(dims, GroupBy(rounded).OrderBy(order))
        return GroupBy(dims).OrderBy(order)

    @property
    def _factors(self):
        """The extents of the digits, of symbols where sizes have names."""
        factors = []
        for axis, tiles in zip(self.axes, self.tiles, strict=True):
            whole, n = prod(tiles), axis.size
            up = n + (whole - 1) if self.kind in ROUNDED else n
            factors += [up // whole if whole > 1 else n, *tiles]
        return factors

    @property
    def cut(self):
        """The layout of tiles of as many sizes on each level, whose index is that of the tile and that within it."""
        levels, rank, factors = 1 + len(self.tiles[0]), len(self.axes), self._factors
        order = [axis * levels + level for level in range(levels) for axis in range(rank)]
        dims = [factors[k] for k in order]
        if self.gaps:
            strides, offset = self._signed(factors)
            return Strided(tuple(dims), tuple(strides[k] for k in order), offset)
        return GroupBy(dims).OrderBy(RegP(dims, [*map(order.index, self.perm)]))

    def _signed(self, factors):
        """Strides that rise and fall, and the offset that makes room for these."""
        strides = self._strides(factors, symbols(self.lead) if self.lead else None)
        offset = sum(strides[k] * (factors[k] - 1) for k in self.falls)
        return [-s if k in self.falls else s for k, s in enumerate(strides)], offset

    def least(self, factors):
        """The least leading dimension."""
        return self._strides(factors)[self.behind] * factors[self.behind] + self.gaps[self.behind]

    @property
    def assumed(self):
        """What holds of the leading dimension."""
        return [f"{self.lead} >= {self.least(self._factors)}"] if self.lead else []

    def _spread(self, factors):
        """The memory of digits that gaps follow; in Strided an axis begins with its fastest digit."""
        (strides, offset), at = self._signed(factors), 0
        shapes, steps = [], []
        for tiles in self.tiles:
            own = slice(at, at + 1 + len(tiles))
            shapes.append(tuple(factors[own][::-1]))
            steps.append(tuple(strides[own][::-1]))
            at = own.stop
        return Strided(tuple(shapes), tuple(steps), offset)

    def _strides(self, factors, lead=None):
        """How far apart the values of each digit are, where gaps follow. lead: the leading dimension."""
        strides, apart = [0] * len(factors), 1
        for k in reversed(self.perm):
            strides[k] = apart
            apart = apart * factors[k] + self.gaps[k]
            apart = apart if lead is None or k != self.behind else lead
        return strides

    def model(self, sizes):
        """(the position of each index as an array, how many places there are, those of padding), by NumPy."""
        if self.options:
            *sizes, tag = sizes
            models = [one.model(sizes) for one in self.options]
            return models[tag][0], max(one[1] for one in models), models[tag][2]
        sizes = sizes[: len(self.axes)]
        rows = np.arange(prod(sizes)).reshape(sizes)
        if self.kind == "rows":
            return rows, rows.size, []
        if self.kind == "pitched":
            wide = np.arange(prod(sizes[:-1]) * (sizes[-1] + self.more))
            found = wide.reshape(*sizes[:-1], sizes[-1] + self.more)[..., : sizes[-1]]
            return found, int(found.max()) + 1, []
        if self.kind == "flipped":
            return np.flip(rows, self.more), rows.size, []
        if self.kind == "repeated":
            found = np.broadcast_to(rows.take([0], self.more), sizes)
            return found, int(found.max()) + 1, []
        if self.kind == "exchanged":
            i, j = np.indices(sizes)
            return rows - j + (j ^ (i & self.more)), rows.size, []
        if self.kind == "morton":
            i, j = np.indices(sizes)
            found = sum(((i >> k & 1) << 2 * k + 1) + ((j >> k & 1) << 2 * k) for k in range(8))
            return found, rows.size, []
        factors = self.factors(sizes)
        if self.gaps:
            digits = np.indices(factors)
            for k in self.falls:
                digits[k] = factors[k] - 1 - digits[k]
            lead = self.least(factors) + self.more if self.lead else None
            places = np.tensordot(self._strides(factors, lead), digits, 1)
            found = self._whole(places, factors)[tuple(map(slice, sizes))]
            count = int(places.max()) + 1
            return found, count, np.setdiff1d(places, found)
        memory = np.arange(prod(factors)).reshape(factors).transpose(self.perm).reshape(-1)
        places = np.empty(memory.size, np.int64)
        places[memory] = np.arange(memory.size)
        found = self._whole(places, factors)[tuple(map(slice, sizes))]
        return found, memory.size, np.setdiff1d(places, found)

    def _whole(self, places, factors):
        """An array of digits as one of the axes that they are of."""
        whole, at = [], 0
        for tiles in self.tiles:
            whole.append(prod(factors[at : at + 1 + len(tiles)]))
            at += 1 + len(tiles)
        return places.reshape(whole)


def _exchanged(width, mask, i, j):
    return i * width + (j ^ (i & mask))


def _back(width, mask, flat):
    i = flat // width
    return i, (flat % width) ^ (i & mask)


@dataclass(frozen=True)
class Pair:
    """A copy. number: of the case; mode: of the macros that its text has, or PARTS."""

    number: int
    source: Memory
    destination: Memory
    element: int
    zero: bool
    mode: str

    @property
    def name(self):
        """What the routine is called."""
        return f"copy_{self.number}"

    @property
    def axes(self):
        """Those of the memories, the tag where one is chosen, and leading dimensions."""
        is_chosen = self.source.options or self.destination.options
        leads = [Axis(one.lead, 0, 1) for one in self._led]
        return (*self.source.axes, *[Axis(TAG, 2, 1)] * bool(is_chosen), *leads)

    @property
    def _led(self):
        return [one for one in (self.source, self.destination) if one.lead]

    @property
    def _routine(self):
        return partial(copy, self.source.layout, self.destination.layout)

    @property
    def names(self):
        """The sizes that are symbols."""
        return [axis.name for axis in self.axes if axis.name]

    @property
    def is_whole(self):
        """Whether tiles divide the sizes."""
        ends = (self.source, self.destination)
        return any(one.kind in WHOLE for end in ends for one in (end.options or (end,)))

    def emit(self, target="c"):
        """The unit. Raises LegoError where the copy is refused."""
        assume = [
            f"{a.name} % {a.tile} == 0"
            for a in self.source.axes
            if a.name and a.tile > 1 and self.is_whole
        ]
        assume += [text for one in self._led for text in one.assumed]
        emit = partial(
            self._routine, target, element=self.element, name=self.name, zero=self.zero, assume=assume,
            order=self.names if self.axes != self.source.axes else (),
        )  # fmt: skip
        if self.mode == "LARGE":
            with ExitStack() as stack:
                for module in (hints, kinds, pieces):
                    stack.enter_context(patch.object(module, "NEVER_LARGE", LARGE))
                return emit()
        if self.mode == "PARTS":
            try:
                with patch.object(pieces, "PIECE", PIECE):
                    return emit(threads=True)
            except LayoutError as error:  # padding of what are no sums of digits
                if "leave out threads" not in str(error):
                    raise
        return emit()

    def sizes(self, count=5):
        """Numbers for all axes: those at and around the borders of tiles."""
        rng, choices = Random(self.number), []
        whole, rank = self.is_whole, len(self.source.axes)
        for axis in self.source.axes:
            t = axis.tile
            tried = [t, 2 * t, 5 * t, 16 * t] if whole else [1, t, t + 1, 2 * t - 1, 3, 16, 17, 33]
            choices.append(sorted({*tried}) if axis.name else [axis.n])
        if any(axis.name == TAG for axis in self.axes):
            choices.append([0, 1])
        every = [sizes for sizes in product(*choices) if prod(sizes[:rank]) <= MOST]
        first = [sizes for sizes in every if max(sizes) == max(map(max, every))]
        picked = rng.sample(every, min(count, len(every)))
        leads = [
            [one.least(one.factors(sizes[:rank])) + one.more for one in self._led]
            for sizes in every
        ]
        every = dict(zip(every, leads, strict=True))
        return [
            (*sizes, *every[sizes]) for sizes in dict.fromkeys([*every][:1] + first[:1] + picked)
        ]

    def due(self, sizes):
        """(the source's bytes, the destination's after the copy)."""
        source_size = self.source.model(sizes)[1]
        source = np.random.default_rng(self.number).integers(
            0, 256, (source_size, self.element), np.uint8
        )
        places = self.places(sizes)
        found = np.full((len(places), self.element), FILL, np.uint8)
        found[places == PAD] = 0
        found[places >= 0] = source[places[places >= 0]]
        return source.tobytes(), found.tobytes()

    def places(self, sizes):
        """For each place of the destination that of the source, PAD where it gets a zero, -1 where nothing."""
        a, b = self.source.model(sizes)[0], self.destination.model(sizes)
        found = np.full(b[1], -1)
        if self.zero:
            found[b[2]] = PAD
        found[b[0].reshape(-1)] = a.reshape(-1)
        return found


class Cut(Pair):
    """A matrix and the tiles that are cut from it."""

    @property
    def _routine(self):
        ends = (self.source, self.destination)
        matrix, tiles = ends if any(self.destination.tiles) else ends[::-1]
        of = (
            matrix.layout
            if matrix.kind != "rows"
            else tuple(axis.size for axis in self.source.axes)
        )
        return partial(pack if tiles is self.destination else unpack, tiles.cut, of=of)


def pair_of(seed, number):
    """Case number k of a seed."""
    rng = Random(seed * 1_000_003 + number)
    rank = rng.choice((1, 2, 2, 2, 3, 3))
    axes = []
    for name in NAMES[:rank]:
        tile = rng.choice((1, 2, 3, 4, 4, 8, 16))
        axes.append(Axis(name if rng.random() < 0.6 else "", tile * rng.choice((1, 2, 3, 5)), tile))
    if rng.random() < 0.15:
        side = rng.choice((4, 8, 16, 32))
        axes = [Axis("", side, side)] * 2
    found = [_memory(rng, tuple(axes)) for _ in "ab"]
    if rng.random() < 0.06:
        found[0] = Memory("repeated", tuple(axes), more=rng.randrange(len(axes)))
    if found[0].kind == found[1].kind == "rows":
        found[1] = _memory(rng, tuple(axes), "digits")
    return Pair(
        number, *found, rng.choice(ELEMENTS), rng.random() < 0.8,
        rng.choice(("", "", "SCALAR", "LARGE", "PARTS")),
    )  # fmt: skip


def rare_of(seed, number):
    """Case number k of a seed, of which one memory or both are chosen at run time, or have gaps, beside padding or not."""
    rng = Random(f"{seed} {number}")
    pair = pair_of(seed, number)
    axes = pair.source.axes
    rare = [
        _chosen(rng, axes)
        if rng.random() < 0.5
        else _memory(rng, axes, rng.choice(("spread", "apart")))
        for _ in "ab"
    ]
    source = pair.source if rng.random() < 0.4 else rare[0]
    destination = pair.destination if source == rare[0] and rng.random() < 0.5 else rare[1]
    # Which places are padding, and which a gap, is known where both are sums of the same digits.
    zero = pair.zero and source.kind in ("rows", "pitched", "flipped") and not destination.options
    return replace(pair, source=source, destination=destination, zero=zero)


def bits_of(seed, number):
    """Case number k of a seed, of which one memory or both have interleaved or exchanged bits, strides that fall, and
    leading dimensions."""
    rng = Random(f"bits {seed} {number}")
    rank, names = rng.choice((1, 2, 2, 2, 3, 4)), rng.choice((NAMES, NAMES, TAKEN))
    bits = [0] * rank
    for _ in range(rng.randint(7, 11)):
        bits[rng.randrange(rank)] += 1
    axes = []
    for k, count in enumerate(bits):
        is_named = k < len(names) and rng.random() < 0.4
        n = 2**count * rng.choice((1, 1, 1, 2, 3))
        axes.append(Axis(names[k] if is_named else "", n, 2**count))
    found = [_bits(rng, tuple(axes), bits, lead) for lead in ("LA", "LB")]
    if rng.random() < 0.5:
        found[rng.randrange(2)] = Memory("rows", tuple(axes))
    mode = rng.choice(("", "SCALAR", "LARGE", "LARGE", "PARTS", "PARTS"))
    return Pair(number, *found, rng.choice(ELEMENTS), rng.random() < 0.8, mode)


def _bits(rng, axes, bits, lead):
    """A memory whose digits are bits, and what is left of each axis."""
    digits, at = [], 0  # (how slow it is in its axis, its number)
    for count in bits:
        digits += [(99 - (k > 0) * (98 - count + k), at + k) for k in range(1 + count)]
        at += 1 + count
    perm = [k for _, k in sorted(digits, key=lambda digit: (-digit[0], rng.random() < 0.5))]
    way = rng.random()
    if way < 0.25:  # any order
        rng.shuffle(perm)
    elif way < 0.4:  # rows, and bits of some tiles
        own = rng.randrange(at)
        perm = sorted(perm[:own]) + perm[own:]
    tiles = tuple((2,) * count for count in bits)
    if rng.random() < 0.5:
        return Memory("digits", axes, tiles, tuple(perm))
    gaps = tuple(rng.choice((0,) * 9 + (1, 8)) for _ in perm)
    falls = tuple(k for k in range(at) if rng.random() < rng.choice((0, 0.3, 1)))
    behind = rng.randrange(1, at)
    slower = perm[behind - 1]
    if slower in {k for slow, k in digits if slow == 99} or rng.random() < 0.4:
        lead = ""  # no symbol where nothing has its stride
    more = rng.choice((0, 1, 16))
    return Memory("apart", axes, tiles, tuple(perm), more, gaps, (), falls, lead, perm[behind])


def cut_of(seed, number):
    """Case number k of a seed, tiles and the matrix that they are cut from."""
    rng = Random(f"cut {seed} {number}")
    levels = rng.choice((1, 1, 2))
    axes, tiles = [], []
    for name in NAMES[: rng.choice((1, 2, 2, 2, 3))]:
        own = [rng.choice((2, 3, 4, 8)) for _ in range(levels)]
        whole = prod(own)
        is_named = rng.random() < 0.6
        axes.append(Axis(name if is_named else "", whole * rng.choice((1, 2, 3)), whole))
        tiles.append(tuple(own))
    axes, count = tuple(axes), len(axes) * (1 + levels)
    order = tuple(rng.sample(range(len(axes)), len(axes)))
    matrix = Memory("digits", axes, ((),) * len(axes), order)
    perm = tuple(rng.sample(range(count), count))
    pitched = tuple(rng.choice((0, 0, 0, 8)) for _ in perm)
    falls = tuple(k for k in range(count) if rng.random() < 0.2)
    more = {"gaps": pitched, "falls": falls} if rng.random() < 0.4 else {}
    found = [
        matrix if rng.random() < 0.4 else Memory("rows", axes),
        Memory("apart" if more else "digits", axes, tuple(tiles), perm, **more),
    ]
    mode = rng.choice(("", "SCALAR", "LARGE", "PARTS"))
    ends = found if rng.random() < 0.6 else found[::-1]
    return Cut(number, *ends, rng.choice(ELEMENTS), True, mode)


def _chosen(rng, axes):
    """One of two memories of as many places, so that the largest one is known."""
    kinds = ("rows", "digits", "flipped") if rng.random() < 0.6 else ("padded",)
    first, second = (_memory(rng, axes, rng.choice(kinds)) for _ in "ab")
    if kinds == ("padded",):  # of the same tiles
        second = replace(first, perm=tuple(rng.sample(first.perm, len(first.perm))))
    return Memory("chosen", axes, options=(first, second))


def _memory(rng, axes, kind=""):
    square = (
        len(axes) == 2 and not axes[0].name and axes[0] == axes[1] and axes[0].n == axes[0].tile
    )
    powers = len(axes) == 2 and not axes[1].name and axes[1].n & (axes[1].n - 1) == 0
    kinds = ["rows", "digits", "digits", "padded", "padded", "pitched", "flipped"]
    kinds += ["exchanged"] * 2 * powers + ["morton"] * 4 * (square and axes[0].n > 1)
    kind = kind or rng.choice(kinds)
    if kind == "pitched":
        return Memory(kind, axes, more=rng.choice((0, 1, 3, 8)))
    if kind == "flipped":
        return Memory(kind, axes, more=rng.randrange(len(axes)))
    if kind == "exchanged":
        return Memory(kind, axes, more=rng.randrange(axes[1].n))
    if kind not in (*WHOLE, *ROUNDED):
        return Memory(kind, axes)
    tiles = []
    for axis in axes:
        left, own = axis.tile, []
        while left > 1 and rng.random() < 0.8:
            factor = rng.choice([f for f in range(2, left + 1) if left % f == 0])
            own.append(factor)
            left //= factor
        if kind in ROUNDED and rng.random() < 0.5:
            own = [rng.choice((2, 3, 4, 5, 8))]
        tiles.append(tuple(own))
    count = sum(1 + len(own) for own in tiles)
    perm = rng.sample(range(count), count)
    gaps = [rng.choice((0, 0, 0, 1, 3, 8)) for _ in perm] if kind in ("spread", "apart") else ()
    return Memory(kind, axes, tuple(tiles), tuple(perm), gaps=tuple(gaps))


# -- compiled --------------------------------------------------------------------------------------

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{includes}
static unsigned char *read_bytes(FILE *file, size_t count) {{
  unsigned char *found = malloc(count ? count : 1);
  if (found == NULL || fread(found, 1, count, file) != count) exit(2);
  return found;
}}
int main(int argc, char **argv) {{
  FILE *file = fopen(argv[argc - 1], "rb");
  {cases}
  return 0;
}}
"""
CASE = """{{
    unsigned char *src = read_bytes(file, {a}), *due = read_bytes(file, {b});
    unsigned char *whole = malloc({b} + 2 * GUARD), *dst = whole + GUARD;
    memset(whole, {fill}, {b} + 2 * GUARD);
    if ({name}_source_bytes({sizes}) != {a} || {name}_destination_bytes({sizes}) != {b}) puts("{name} bytes {sizes}");
    {call}
    if (memcmp(dst, due, {b})) puts("{name} values {sizes}");
    for (int k = 0; k < GUARD; ++k)
      if (whole[k] != {fill} || dst[{b} + k] != {fill}) puts("{name} guards {sizes}");
    free(src); free(due); free(whole);
  }}"""
CALL = "{name}({given}(const void *)src, (void *)dst);"
PARTS = """for (int64_t end = {name}_parts({sizes}); end > 0; end -= {width})
      {name}_part({given}(const void *)src, (void *)dst, end > {width} ? end - {width} : 0, end);"""


RUST_MAIN = """
#![allow(dead_code, non_snake_case)]
{includes}
const FILL: u8 = {fill};
const GUARD: usize = 64;
fn case<const E: usize>(
    data: &mut &[u8], said: &str, count: usize, size: usize, copy: impl FnOnce(&[[u8; E]], &mut [[u8; E]]),
) {{
    let (src, rest) = data.split_at(count);
    let (due, rest) = rest.split_at(size);
    *data = rest;
    let (of, to) = (said.len() % 64, said.len() * 7 % 64); // bytes that memories begin beyond a line
    let mut source = vec![FILL; of];
    source.extend_from_slice(src);
    let mut whole = vec![FILL; to + size + 2 * GUARD];
    let at = whole[GUARD + to..].as_mut_ptr().cast();
    copy(unsafe {{ std::slice::from_raw_parts(source[of..].as_ptr().cast(), count / E) }}, unsafe {{
        std::slice::from_raw_parts_mut(at, size / E)
    }});
    let (before, rest) = whole.split_at(GUARD + to);
    if &rest[..size] != due {{ println!("{{said}} values") }}
    if before.iter().chain(&rest[size..]).any(|&x| x != FILL) {{ println!("{{said}} guards") }}
}}
fn main() {{
    let file = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let mut data = &file[..];
    {cases}
}}
"""
RUST_CASE = """case::<{element}>(&mut data, "{name} {sizes}", {a}, {b}, |src, dst| {{
        assert_eq!(({a}, {b}), ({name}::{name}_source_bytes({sizes}), {name}::{name}_destination_bytes({sizes})));
        {name}::{name}({given}src, dst);
    }});"""


def judge(pairs, compiler="gcc", told=None):
    """What is wrong with copies that are compiled together: (number, what) of each finding. told: a Counter of refusals
    and of what was compared."""
    told = Counter() if told is None else told
    includes, cases, data, found = [], [], b"", []
    in_rust = compiler in RUSTC
    with tempfile.TemporaryDirectory(prefix="lego_emit_") as name:
        folder = Path(name)
        for pair in pairs:
            try:
                unit = pair.emit("rust" if in_rust else "c")
            except LegoError as error:
                found.append((pair.number, f"{type(error).__name__}: {error}"))
                continue
            source_text = unit.source
            if in_rust and pair.mode == "LARGE":
                source_text = source_text.replace(
                    "const LARGE: usize = 16 << 20", "const LARGE: usize = 0"
                )
            (folder / f"{pair.name}.{'rs' if in_rust else 'h'}").write_text(source_text)
            shared = f"{pair.name}_parts(" in unit.source
            if pair.mode in ("SCALAR", "LARGE") and not in_rust:
                includes.append(f"#define {pair.name.upper()}_{pair.mode} 0")
            includes.append(f"mod {pair.name};" if in_rust else f'#include "{pair.name}.h"')
            for sizes in pair.sizes():
                source, due = pair.due(sizes)
                data += source + due
                named = [n for n, axis in zip(sizes, pair.axes, strict=True) if axis.name]
                told["copies"] += 1
                told["bytes"] += len(due)
                told[f"{pair.source.kind} to {pair.destination.kind}"] += 1
                told["in parts"] += shared
                own = {
                    "name": pair.name, "sizes": ", ".join(map(str, named)),
                    "given": "".join(f"{n}, " for n in named), "width": WIDTHS[pair.number % 5],
                }  # fmt: skip
                call = (PARTS if shared else CALL).format(**own)
                own |= {"a": len(source), "b": len(due), "fill": FILL, "call": call}
                cases.append((RUST_CASE if in_rust else CASE).format(element=pair.element, **own))
        if not cases:
            return found
        (folder / "data").write_bytes(data)
        file = folder / f"main.{'rs' if in_rust else 'c'}"
        text = (RUST_MAIN if in_rust else MAIN).format(
            includes="\n".join(includes), cases="\n  ".join(cases), fill=FILL
        )
        file.write_text(text)
        if in_rust:
            checked = ("-C", "opt-level=1", "-C", "debug-assertions=on")
            command = ["rustc", "--edition", "2021", *checked, *RUSTC[compiler], file.name]
        else:
            flags = (*STRICT, *COMPILERS[compiler])
            command = [compiler, "-std=c99", "-g1", *flags, file.name, "-o", "main"]
        run = partial(subprocess.run, cwd=folder, capture_output=True, text=True, check=False)
        if (done := run(command)).returncode:
            return [*found, (pairs[0].number, f"does not compile: {done.stderr[:2000]}")]
        done = run([*RUNNERS.get(compiler, ()), "./main", "data"])
    for line in dict.fromkeys(done.stdout.splitlines()):
        copied, _, what = line.partition(" ")
        found.append((int(copied.removeprefix("copy_")), what))
    if done.returncode:
        if len(pairs) > 1:  # whose it is
            alone = [judge([pair], compiler) for pair in pairs]
            return [one for own in alone for one in own] or [(pairs[0].number, done.stderr[:2000])]
        found.append((pairs[0].number, f"exit code {done.returncode}: {done.stderr[:2000]}"))
    return found


def judge_in(language, pairs):
    """The same in a language whose routines are run one by one, by what verify runs them by."""
    found = []
    for pair in pairs:
        try:
            unit = pair.emit(language)
            for sizes in pair.sizes(3):
                axes = zip(pair.axes, sizes, strict=True)
                named = {axis.name: n for axis, n in axes if axis.name}
                if wrong := compared(unit, named, pair.places(sizes), ("-O1",)):
                    found.append((pair.number, wrong))
        except LegoError as error:
            found.append((pair.number, f"{type(error).__name__}: {error}"))
    return found


def report(given):
    """ci/fuzz --copies: print what was found; the exit code."""
    begun, told, wrong, number = time.monotonic(), Counter(), [], given.first
    minutes = given.minutes if given.minutes is not None or given.cases else 1.0
    last = None if given.cases is None else given.first + given.cases
    while last is None or number < last:
        if minutes is not None and time.monotonic() > begun + 60 * minutes:
            break
        end = number + BATCH if last is None else min(last, number + BATCH)
        made = (rare_of, pair_of, pair_of, bits_of, cut_of)[number // BATCH % 5]
        pairs = [made(given.seed, k) for k in range(number, end)]
        compilers = [*RUSTC] if "rust" in given.targets else ["gcc", "clang"]
        compiler = compilers[number // BATCH % 2]
        for k, what in judge(pairs, compiler, told):
            wrong.append(k)
            print(f"-- case {k} with {compiler}: {what}\n{made(given.seed, k)}")
        number = end
    for what, count in sorted(told.items()):
        print(f"  {count:8} {what}")
    print(
        f"seed {given.seed}: {number - given.first} copies in {time.monotonic() - begun:.0f} s; "
        f"{len(wrong)} findings"
    )
    return 1 if wrong else 0
