"""Layouts by their definitions, on integers and on arrays of them, and Triton's functions on NumPy's arrays: what a
kernel gives as it stands, without lego_emit."""

import math
import sys
import types

import numpy as np

NONE = -(10**9)  # a position or an index that there is not
held_in = set()  # lines of kernels in which in_bounds was true of something


class Array(np.ndarray):
    """An array whose [:] is an axis of its own among a layout's indices."""

    def __getitem__(self, key):
        whole = isinstance(key, slice) and key == slice(None) and self.ndim == 1
        return Axis(np.asarray(self)) if whole else super().__getitem__(key)


class Axis:
    def __init__(self, numbers):
        self.numbers = numbers


def made(values):
    values = np.asarray(values)
    return values.item() if values.ndim == 0 else values.view(Array)


def raveled(index, dims):
    flat = 0
    for i, n in zip(index, dims, strict=True):
        flat = flat * n + i
    return flat


def unraveled(flat, dims):
    found = []
    for n in reversed(dims):
        found.append(flat % n)
        flat = flat // n
    return found[::-1]


class Layout:
    """place: the position of an index within dims; held: whether it has one."""

    def held(self, *index):
        return True

    def _index(self, key):
        axes = [k for k, part in enumerate(key) if isinstance(part, slice | str | Axis)]
        found = []
        for k, (part, n) in enumerate(zip(key, self.dims, strict=True)):
            if k in axes:
                numbers = part.numbers if isinstance(part, Axis) else np.arange(n)
                shape = [len(numbers) if a == k else 1 for a in axes]
                found.append(numbers.reshape(shape))
            else:
                found.append(np.asarray(part, np.int64))
        return np.broadcast_arrays(*found)

    def _within(self, index):
        return np.logical_and.reduce(
            [(i >= 0) & (i < n) for i, n in zip(index, self.dims, strict=True)]
        )

    def in_bounds(self, *key):
        index = self._index(key)
        within = self._within(index)
        found = within & self.held(*(np.where(within, i, 0) for i in index))
        caller = sys._getframe(1)
        if np.any(found) and caller.f_code.co_name == "kernel":
            held_in.add(caller.f_lineno)
        return made(found)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        index = self._index(key)
        within, held = self._within(index), np.asarray(self.in_bounds(*key))
        return made(np.where(held, self.place(*index), np.where(within, -1, NONE)))

    def inv(self, position):
        every = np.indices(self.dims).reshape(len(self.dims), -1)
        indices = dict(zip(np.ravel(self.place(*every)).tolist(), every.T.tolist(), strict=True))
        none, position = [NONE] * len(self.dims), np.asarray(position)
        found = np.array([indices.get(p, none) for p in position.ravel().tolist()])
        return tuple(made(column.reshape(position.shape)) for column in found.T)

    @property
    def size(self):
        return math.prod(self.dims)


class Row(Layout):
    def __init__(self, *dims):
        self.dims = dims

    def place(self, *index):
        return raveled(index, self.dims)


class Col(Row):
    def place(self, *index):
        return raveled(index[::-1], self.dims[::-1])


class Strided(Layout):
    def __init__(self, dims, strides):
        self.dims, self.strides = dims, strides

    def place(self, *index):
        return sum(i * d for i, d in zip(index, self.strides, strict=True))


class GenP(Layout):
    def __init__(self, dims, place, inverse=None):
        self.dims, self.place = tuple(dims), place


class TileBy(Layout):
    def __init__(self, *levels, order=None):
        self.levels, self.order = levels, order
        self.dims = tuple(n for level in levels for n in level)
        self.whole = tuple(math.prod(sizes) for sizes in zip(*levels, strict=True))

    def OrderBy(self, order):
        return TileBy(*self.levels, order=order)

    def place(self, *index):
        rank = len(self.whole)
        parts = zip(*self.levels, strict=True)
        at = raveled([raveled(index[k::rank], sizes) for k, sizes in enumerate(parts)], self.whole)
        return at if self.order is None else self.order.place(*unraveled(at, self.order.dims))


GroupBy = TileBy


class ExpandBy(Layout):
    def __init__(self, sizes, rounded, layout, guard="physical"):
        self.sizes, self.rounded, self.layout, self.dims = sizes, rounded, layout, layout.dims
        self.physical = guard == "physical"
        self.counted = layout if self.physical else TileBy(*layout.levels)

    def held(self, *index):
        at = unraveled(self.counted.place(*index), self.rounded)
        return np.logical_and.reduce([i < n for i, n in zip(at, self.sizes, strict=True)])

    def place(self, *index):
        at = self.layout.place(*index)
        return raveled(unraveled(at, self.rounded), self.sizes) if self.physical else at


def grouped(rows, columns, group):
    order = [
        (m, n)
        for first in range(0, rows, group)
        for n in range(columns)
        for m in range(first, min(first + group, rows))
    ]
    places = np.zeros((rows, columns), int)
    places[tuple(np.transpose(order))] = np.arange(len(order))
    return GenP([rows, columns], lambda m, n: places[m, n])


def morton(rows, columns):
    def place(i, j):
        return sum(((j >> k & 1) << 2 * k) + ((i >> k & 1) << 2 * k + 1) for k in range(5))

    return GenP([rows, columns], place)


LAYOUTS = {kind.__name__: kind for kind in (Row, Col, Strided, GenP, TileBy, ExpandBy)}
LAYOUTS |= {"GroupBy": GroupBy, "catalogue": {"triton.grouped": grouped, "morton.2D": morton}}


def assume(*conditions):
    assert all(conditions)


class Pointer:
    __array_ufunc__ = None

    def __init__(self, memory, at=0):
        self.memory, self.at = memory, at

    def __add__(self, other):
        return Pointer(self.memory, self.at + np.asarray(other))

    __radd__ = __add__


def load(pointer, mask=True, other=0):
    at, mask = np.broadcast_arrays(pointer.at, mask)
    found = pointer.memory[np.where(mask, at, 0)]  # an IndexError beyond it
    assert not np.any(mask & (at < 0))
    return made(np.where(mask, found, other))


def store(pointer, value, mask=True):
    at, value, mask = np.broadcast_arrays(pointer.at, value, mask)
    assert not np.any(mask & (at < 0))
    pointer.memory[at[mask]] = value[mask]


def language(program):
    """triton.language, in the program of this number."""
    return types.SimpleNamespace(
        constexpr=None, program_id=lambda axis: program, load=load, store=store, static_range=range,
        arange=lambda start, end: made(np.arange(start, end)), cdiv=lambda a, b: -(-a // b),
        minimum=lambda a, b: made(np.minimum(a, b)), where=lambda c, a, b: made(np.where(c, a, b)),
        sum=lambda x, axis: made(np.sum(np.asarray(x), axis=axis)),
    )  # fmt: skip


def gather(array, index, mask=True, padding_value=0):
    return load(Pointer(array, np.asarray(index)), mask, padding_value)


def scatter(array, index, value):
    store(Pointer(array, np.asarray(index)), value)


def tiles(program):
    """cuda.tile, in the program of this number; of a grid of one axis."""
    return types.SimpleNamespace(
        kernel=lambda function: function, bid=lambda axis: program, gather=gather, scatter=scatter, int32=np.int32,
        arange=lambda size, dtype: made(np.arange(size)), cdiv=lambda a, b: -(-a // b), astype=lambda x, dtype: made(np.asarray(x, dtype)),
        minimum=lambda a, b: made(np.minimum(a, b)), maximum=lambda a, b: made(np.maximum(a, b)),
        where=lambda c, a, b: made(np.where(c, a, b)), logical_not=lambda x: made(np.logical_not(x)),
    )  # fmt: skip
