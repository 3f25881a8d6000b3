"""Tables over F2: strided ones that are swizzled, and maps of bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..algebra.block import Block
from ..algebra.linear import Linear
from ..algebra.strided import Swizzle
from ..packages import numpy as np
from .strides import Wrong, cropped, leaves, lines, plain

MOST_BITS = 6  # that a swizzle exclusive-ors
TRIED = 64  # entries that a swizzle must fit, and
MOST_LINE = 4096  # entries of each axis, before all are looked at
MOST_COMPARED = 32  # swizzles for which all are looked at in vain


def swizzled(table: np.ndarray) -> tuple[str, Block] | None:
    """Strides behind a Swizzle, that of the fewest sizes and then of the fewest, nearest bits."""
    if int(table.min()) < 0:
        return None
    along = lines(table)
    draw = np.random.default_rng(0)
    at = [draw.integers(n, size=TRIED) for n in table.shape]
    ends, some = [line[:MOST_LINE] for line in along], table[tuple(at)]
    best: tuple[tuple[int, ...], Block] | None = None
    vain = 0
    for swizzle in _swizzles(table):
        zero = swizzle(int(table.flat[0]))
        parts = [swizzle(line[i]) - zero for line, i in zip(along, at, strict=True)]
        if (sum(parts, zero) != swizzle(some)).any():
            continue
        if any(isinstance(leaves(swizzle(end)), Wrong) for end in ends):
            continue
        if (found := plain(swizzle(table), swizzle)) is None:
            vain += 1
            if vain == MOST_COMPARED:
                break
        else:
            _, layout, count = found
            rank = (count, swizzle.B, abs(swizzle.S), swizzle.M, swizzle.S)
            if best is None or rank < best[0]:
                best = rank, layout
    return None if best is None else ("swizzled", best[1])


def _swizzles(table: np.ndarray) -> Iterator[Swizzle]:
    """Those within the bits of the entries whose outermost bits that are read change."""
    high = int(table.max()).bit_length()
    changing = int(np.bitwise_or.reduce((table ^ table.flat[0]).reshape(-1)))
    for count in range(1, min(MOST_BITS, high // 2) + 1):
        for far in range(count, high):
            for shift in (far, -far):
                for low in range(high - count - far + 1):
                    read = low + max(shift, 0)
                    if changing >> read & 1 and changing >> (read + count - 1) & 1:
                        yield Swizzle(count, low, shift)


def linear(
    tables: Sequence[np.ndarray], names: Sequence[str], results: Sequence[str]
) -> tuple[str, Block] | str:
    """The map of bits that has the results of these tables, or three inputs that contradict it.

    Sizes that are no power of two are rounded up: the map is then of the larger sizes, cropped.
    """
    dims = tables[0].shape
    widths = [(n - 1).bit_length() for n in dims]
    whole = [1 << width for width in widths]
    if min(int(table.min()) for table in tables) < 0:
        return "not linear over F2: an entry is negative"
    images = [[_bit_images(t, k, w) for k, w in enumerate(widths)] for t in tables]
    box = tuple(slice(n) for n in dims)
    for table, found in zip(tables, images, strict=True):
        first = int(table.flat[0])
        made = np.array([first])
        for columns in reversed(found):
            for column in columns:  # from the flat index's lowest bit on
                made = np.concatenate([made, made ^ column])
        wrong = np.argwhere(made.reshape(whole)[box] != table)
        if len(wrong):
            return f"not linear over F2: {_witness(table, found, tuple(map(int, wrong[0])))}"
    bases = {
        name: list(zip(*(found[k] for found in images), strict=True))
        for k, name in enumerate(names)
    }
    every = [
        [int(t.flat[0]), *(c for each in f for c in each)]
        for t, f in zip(tables, images, strict=True)
    ]
    reach = [max(v.bit_length() for v in values) for values in every]
    out = {name: 1 << bits for name, bits in zip(results, reach, strict=True)}
    offset = dict(zip(results, (values[0] for values in every), strict=True))
    kind = "affine" if any(offset.values()) else "linear"
    return kind, cropped(Linear(bases, out, offset), dims)


def _bit_images(table: np.ndarray, axis: int, width: int) -> list[int]:
    line = lines(table)[axis]
    return [int(line[1 << bit] ^ line[0]) for bit in range(width)]


def _witness(table: np.ndarray, images: list[list[int]], at: tuple[int, ...]) -> str:
    """Three indices, the last the exclusive or of the others, whose entries are not."""
    before = [0] * len(at)
    for k, i in enumerate(at):
        for bit, _ in enumerate(images[k]):
            if not i >> bit & 1:
                continue
            one = tuple(1 << bit if axis == k else 0 for axis in range(len(at)))
            both = tuple(b | o for b, o in zip(before, one, strict=True))
            first, added = int(table[tuple(before)]), int(table[one])
            zero = int(table.flat[0])
            if int(table[both]) != first ^ added ^ zero:
                text = ", ".join(f"{_at(p)} is {int(table[p])}" for p in (tuple(before), one, both))
                also = f" and of {zero}, that of zero" if zero else ""
                return f"entry {text}, which is not the exclusive or of the others{also}"
            before = list(both)
    raise AssertionError("an entry that differs is reached bit by bit")


def _at(index: tuple[int, ...]) -> str:
    return str(index[0] if len(index) == 1 else index)
