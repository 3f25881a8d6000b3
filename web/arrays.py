"""A small part of NumPy, in Python alone: arrays of integers, as the page has no other ones.

driver.py makes it the module `numpy`. What is here gives what NumPy gives (tests/test_arrays.py compares
them), but that integers never overflow and slices are copies; asking for anything else is an error that
says so.
"""

from __future__ import annotations

import builtins
import operator
import random as _random
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from math import isfinite as _isfinite
from math import prod as _prod
from math import sqrt as _sqrt
from typing import Any

__version__ = "0"
INT64, UINT64 = 2**63, 2**64


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"numpy.{name} is not in this page, which has a small part of NumPy; in a Python of your own it works"
    )


class Kind:
    """A kind of element, of so many bytes; called, it makes one."""

    hasobject = False

    def __init__(self, name: str, kind: str, make: Callable[[Any], Any], itemsize: int = 8):
        self.name, self.kind, self._make, self.itemsize = name, kind, make, itemsize
        self.str = f"<{kind}{itemsize}"
        self.most = 1 << 8 * itemsize - (kind == "i")

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, ndarray | list | tuple):
            return array(value, self)
        made = self._make(value)
        if self.kind == "i" and not -self.most <= made < self.most:
            raise OverflowError("Python int too large to convert to C long")
        return made % self.most if self.kind == "u" else made

    def __repr__(self) -> str:
        return f"dtype('{self.name}')"

    def __str__(self) -> str:
        return self.name


int8, int16, int32, int64 = (Kind(f"int{8 * n}", "i", int, n) for n in (1, 2, 4, 8))
uint8, uint16, uint32, uint64 = (Kind(f"uint{8 * n}", "u", int, n) for n in (1, 2, 4, 8))
float16, float32, float64 = (Kind(f"float{8 * n}", "f", float, n) for n in (2, 4, 8))
bool_, object_ = Kind("bool", "b", bool, 1), Kind("object", "O", lambda value: value)
object_.hasobject = True
_DTYPES: dict[Any, Kind] = {
    d.name: d
    for d in (
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
        float16,
        float32,
        float64,
        bool_,
        object_,
    )
}
_DTYPES |= {int: int64, float: float64, bool: bool_, object: object_}


def dtype(given: Any) -> Kind:
    if isinstance(given, Kind):
        return given
    if given not in _DTYPES:
        raise TypeError(f"data type {given!r} not understood")
    return _DTYPES[given]


integer = int


_named = dtype


def _kind(values: Sequence[Any]) -> Kind:
    kinds = {*map(type, values)}
    if kinds <= {bool}:
        return bool_ if kinds else float64
    if kinds <= {int, bool}:
        within = all(-INT64 <= v < INT64 for v in values)
        return int64 if within else uint64 if all(0 <= v < UINT64 for v in values) else object_
    return float64 if kinds <= {int, bool, float} else object_


def _joined(one: Kind, other: Kind) -> Kind:
    for each in (object_, float64):
        if each in (one, other):
            return each
    if bool_ in (one, other):
        return other if one is bool_ else one
    if one.kind != other.kind:
        return int64
    return max(one, other, key=lambda kind: kind.itemsize)


def _offsets(shape: Sequence[int], strides: Sequence[int], start: int = 0) -> list[int]:
    found = [start]
    for n, d in zip(shape, strides, strict=True):
        found = (
            [o + k for o in found for k in range(0, n * d, d)]
            if d
            else [o for o in found for _ in range(n)]
        )
    return found


def _strides(shape: Sequence[int]) -> list[int]:
    found, below = [], 1
    for n in reversed(shape):
        found.append(below)
        below *= n
    return found[::-1]


class ndarray:
    """Elements in row-major order, and a shape."""

    __array_priority__ = 1

    def __init__(self, values: list[Any], shape: Sequence[int], kind: Kind):
        self._v, self.shape, self.dtype = values, tuple(shape), kind

    # -- what it is --------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return len(self._v)

    @property
    def flat(self) -> ndarray:
        return self.reshape(-1)

    @property
    def T(self) -> ndarray:
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self))) if self.ndim != 1 else iter(self._v)

    def item(self) -> Any:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._v[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._v[0])

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if self.shape or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._v[0]

    __hash__ = None  # type: ignore[assignment]

    def tolist(self) -> Any:
        def nested(shape: tuple[int, ...], start: int) -> Any:
            if not shape:
                return self._v[start]
            if len(shape) == 1:
                return self._v[start : start + shape[0]]
            step = _prod(shape[1:])
            return [nested(shape[1:], start + k * step) for k in range(shape[0])]

        return nested(self.shape, 0)

    def tobytes(self) -> bytes:
        return repr(self._v).encode()

    def __str__(self) -> str:
        return _text(self, " ")

    def __repr__(self) -> str:
        kind = "" if self.dtype.kind in "ibf" else f", dtype={self.dtype}"
        return f"array({_text(self, ', ', 6)}{kind})"

    # -- shapes --------------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> ndarray:
        sizes = [*(shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape)]
        if -1 in sizes:
            known = _prod(n for n in sizes if n != -1)
            sizes[sizes.index(-1)] = self.size // known if known else 0
        if _prod(sizes) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(sizes)}")
        return ndarray(self._v, [*map(int, sizes)], self.dtype)

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def flatten(self) -> ndarray:
        return self.reshape(-1).copy()

    def squeeze(self) -> ndarray:
        return self.reshape([n for n in self.shape if n != 1])

    def copy(self) -> ndarray:
        return ndarray([*self._v], self.shape, self.dtype)

    def transpose(self, *axes: Any) -> ndarray:
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = [*order] or [*reversed(range(self.ndim))]
        strides = _strides(self.shape)
        shape = [self.shape[k] for k in order]
        return self._taken(shape, _offsets(shape, [strides[k] for k in order]))

    def astype(self, kind: Any) -> ndarray:
        kind = dtype(kind)
        if kind is self.dtype:
            return self.copy()
        return ndarray([*map(kind, self._v)], self.shape, kind)

    def _taken(self, shape: Sequence[int], offsets: Sequence[int]) -> ndarray:
        values = self._v
        return ndarray([values[o] for o in offsets], shape, self.dtype)

    # -- elements ------------------------------------------------------------------------------------

    def _places(self, key: Any) -> tuple[list[int], list[int]]:
        """The shape of what an index takes, and where its elements are."""
        given = []
        for k in key if isinstance(key, tuple) else (key,):
            if isinstance(k, list):
                k = array(k, None if k else int64)
            if isinstance(k, ndarray) and k.dtype is bool_ and k.ndim:
                given += [*k.nonzero()]
            else:
                given.append(k)
        if not any(k is Ellipsis for k in given):
            given.append(Ellipsis)
        at = next(k for k, each in enumerate(given) if each is Ellipsis)
        taken = sum(k is not None for k in given) - 1
        if taken > self.ndim:
            raise IndexError(
                f"too many indices for array: array is {self.ndim}-dimensional, but {taken} were indexed"
            )
        given[at : at + 1] = [slice(None)] * (self.ndim - taken)
        parts: list[tuple[list[int], list[int]] | None] = []  # shapes and offsets; None: of arrays
        arrays: list[ndarray] = []
        start, axis, strides = 0, 0, _strides(self.shape)
        for k in given:
            if k is None:
                parts.append(([1], [0]))
                continue
            n, d = self.shape[axis], strides[axis]
            axis += 1
            if isinstance(k, slice):
                run = range(*k.indices(n))
                parts.append(([len(run)], [i * d for i in run]))
            elif isinstance(k, ndarray) and k.ndim:
                arrays.append(ndarray(_all_inside(k._v, n, d, axis - 1), k.shape, int64))
                parts.append(None)
            else:
                start += _inside(operator.index(k), n, axis - 1) * d
        if arrays:
            all_of = broadcast_arrays(*arrays)
            block = (
                [*all_of[0].shape],
                [sum(row) for row in zip(*(a._v for a in all_of), strict=True)],
            )
            places = [k for k, part in enumerate(parts) if part is None]
            first = places[0] if places[-1] - places[0] == len(places) - 1 else 0
            rest = [part for part in parts if part is not None]
            parts = [*rest[:first], block, *rest[first:]]
        shape: list[int] = []
        offsets = [start]
        for part in parts:
            assert part is not None
            shape += part[0]
            offsets = [o + d for o in offsets for d in part[1]]
        return shape, offsets

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int and self.ndim == 1:
            return self._v[_inside(key, self.shape[0], 0)]
        if isinstance(key, ndarray) and key.dtype is bool_ and key.shape == self.shape != ():
            values = [*compress(self._v, key._v)]
            return ndarray(values, [len(values)], self.dtype)
        shape, offsets = self._places(key)
        if not shape and not (isinstance(key, tuple) and Ellipsis in key):
            return self._v[offsets[0]]
        return self._taken(shape, offsets)

    def __setitem__(self, key: Any, value: Any) -> None:
        shape, offsets = self._places(key)
        found = broadcast_to(value, shape)
        values = found._v if found.dtype is self.dtype else [*map(self.dtype, found._v)]
        for o, v in zip(offsets, values, strict=True):
            self._v[o] = v

    def nonzero(self) -> tuple[ndarray, ...]:
        places = [*compress(range(self.size), self._v)]
        if self.ndim == 1:
            return (ndarray(places, [len(places)], int64),)
        return unravel_index(ndarray(places, [len(places)], int64), self.shape)

    # -- over elements -------------------------------------------------------------------------------

    def _over(
        self, axis: int | None, function: Callable[[list[Any]], Any], kind: Kind | None = None
    ) -> Any:
        if axis is None:
            return function(self._v)
        moved = moveaxis(self, axis, -1)
        n, shape = moved.shape[-1], moved.shape[:-1]
        values = [function(moved._v[k * n : k * n + n]) for k in range(_prod(shape))]
        return ndarray(values, shape, kind or self.dtype) if shape else values[0]

    def min(self, axis: int | None = None) -> Any:
        return self._over(axis, min)

    def max(self, axis: int | None = None) -> Any:
        return self._over(axis, max)

    def sum(self, axis: int | None = None) -> Any:
        return self._over(axis, sum, int64 if self.dtype is bool_ else None)

    def any(self, axis: int | None = None) -> Any:
        return self._over(axis, any, bool_)

    def all(self, axis: int | None = None) -> Any:
        return self._over(axis, all, bool_)

    def argmax(self, axis: int | None = None) -> Any:
        return self._over(axis, lambda v: v.index(max(v)), int64)

    def argmin(self, axis: int | None = None) -> Any:
        return self._over(axis, lambda v: v.index(min(v)), int64)

    def __matmul__(self, other: ndarray) -> Any:
        if other.ndim == 1:
            rows = self.reshape(-1, self.shape[-1]) if self.ndim > 1 else [self]
            found = [sum(a * b for a, b in zip(row._v, other._v, strict=True)) for row in rows]
            return (
                ndarray(found, self.shape[:-1], _joined(self.dtype, other.dtype))
                if self.ndim > 1
                else found[0]
            )
        columns = [self @ column for column in other.T]
        return stack(columns, -1) if self.ndim > 1 else array(columns)

    def __neg__(self) -> ndarray:
        return ndarray([-v for v in self._v], self.shape, self.dtype)

    def __abs__(self) -> ndarray:
        return ndarray([*map(_absolute, self._v)], self.shape, self.dtype)

    def __invert__(self) -> ndarray:
        flip = operator.not_ if self.dtype is bool_ else operator.invert
        return ndarray([*map(flip, self._v)], self.shape, self.dtype)


_absolute = builtins.abs


def _all_inside(values: list[int], n: int, step: int, axis: int) -> list[int]:
    if values and min(values) >= 0 and max(values) < n:
        return values if step == 1 else [i * step for i in values]
    return [_inside(i, n, axis) * step for i in values]


def _inside(k: int, n: int, axis: int) -> int:
    if not -n <= k < n:
        raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
    return k + n if k < 0 else k


# Of an operation with one number on the right: twice as fast as a call for each element.
_WITH_ONE: dict[Any, Callable[[list[Any], Any], list[Any]]] = {
    getattr(operator, name): eval(f"lambda values, b: [a {sign} b for a in values]")
    for name, sign in {
        "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and_": "&", "or_": "|", "xor": "^",
        "lshift": "<<", "rshift": ">>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    }.items()
}  # fmt: skip


def _divided(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: operation(a, b) if b else 0


def _each(
    operation: Callable[[Any, Any], Any], one: Any, other: Any, kind: Kind | None = None
) -> Any:
    weak = type(one) is int, type(other) is int  # it takes the other's kind
    one, other = asarray(one), asarray(other)
    if kind is None:
        kind = _joined(one.dtype, other.dtype)
        for is_weak, strong in zip(weak, (other.dtype, one.dtype), strict=True):
            kind = strong if is_weak and strong.kind in "iu" else kind
        if kind is bool_ and operation not in (operator.and_, operator.or_, operator.xor):
            kind = int64
    if operation in (operator.floordiv, operator.mod) and 0 in other._v:
        operation = _divided(operation)  # NumPy gives 0, with a warning
    if not other.shape:
        b = other._v[0]
        with_one = _WITH_ONE.get(operation)
        values = with_one(one._v, b) if with_one else [operation(a, b) for a in one._v]
        shape = one.shape
    elif one.shape == other.shape:
        values, shape = [*map(operation, one._v, other._v)], one.shape
    else:
        one, other = broadcast_arrays(one, other)
        values, shape = [*map(operation, one._v, other._v)], one.shape
    if kind.kind == "u":
        values = [v % kind.most for v in values]
    return ndarray(values, shape, kind)


def _operators() -> None:
    def add(name: str, operation: Callable[[Any, Any], Any], kind: Kind | None = None) -> None:
        def method(self: ndarray, other: Any) -> Any:
            if not _is_operand(other):
                return NotImplemented
            return _each(operation, self, other, kind)

        def turned(self: ndarray, other: Any) -> Any:
            if not _is_operand(other):
                return NotImplemented
            return _each(operation, other, self, kind)

        setattr(ndarray, f"__{name}__", method)
        if kind is not bool_:
            setattr(ndarray, f"__r{name}__", turned)

    for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lshift", "rshift"):
        add(name, getattr(operator, name))
    for name in ("and", "or", "xor"):
        add(name, getattr(operator, f"{name}_" if name != "xor" else name))
    add("truediv", operator.truediv, float64)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        add(name, getattr(operator, name), bool_)


def _is_operand(value: Any) -> bool:
    return isinstance(value, ndarray | int | float | list | tuple) or value is None


_operators()


# -- how they are made --------------------------------------------------------------------------------


def array(given: Any, dtype: Any = None, copy: bool = True) -> ndarray:
    if isinstance(given, ndarray):
        return given.copy() if dtype is None else given.astype(dtype)
    shape: list[int] = []
    values, one = [given], given
    while isinstance(one, list | tuple | range | ndarray) and not (
        isinstance(one, ndarray) and not one.shape
    ):
        if not all(
            isinstance(v, list | tuple | range | ndarray) and len(v) == len(one) for v in values
        ):
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape"
            )
        shape.append(len(one))
        values = [v for part in values for v in part]
        if not values:
            break
        one = values[0]
    values = [v.item() if isinstance(v, ndarray) else v for v in values]
    if any(isinstance(v, list | tuple | range) for v in values):
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        )
    kind = _kind(values) if dtype is None else _named(dtype)
    return ndarray([*map(kind, values)], shape, kind)


def asarray(given: Any, dtype: Any = None) -> ndarray:
    if isinstance(given, ndarray):
        return given if dtype is None or given.dtype is _named(dtype) else given.astype(dtype)
    if type(given) is int and dtype is None and -INT64 <= given < INT64:
        return ndarray([given], (), int64)
    return array(given, dtype)


def arange(*bounds: int, dtype: Any = int64) -> ndarray:
    values = [*range(*map(int, bounds))]
    return ndarray(values, [len(values)], int64)


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    sizes = [shape] if isinstance(shape, int) else [*shape]
    kind = _kind([value]) if dtype is None else _named(dtype)
    return ndarray([kind(value)] * _prod(sizes), sizes, kind)


def zeros(shape: Any, dtype: Any = float64) -> ndarray:
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = float64) -> ndarray:
    return full(shape, 1, dtype)


empty = zeros


def zeros_like(given: ndarray) -> ndarray:
    return zeros(given.shape, given.dtype)


def linspace(first: float, last: float, count: int) -> ndarray:
    step = (last - first) / max(count - 1, 1)
    return ndarray([first + step * k for k in range(count)], [count], float64)


def indices(shape: Sequence[int]) -> ndarray:
    values: list[int] = []
    for k, n in enumerate(shape):
        below = _prod(shape[k + 1 :])
        values += [i for i in range(n) for _ in range(below)] * _prod(shape[:k])
    return ndarray(values, [len(shape), *shape], int64)


# -- shapes ---------------------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    found: list[int] = []
    for k in range(max(map(len, shapes), default=0)):
        sizes = {s[-1 - k] for s in shapes if k < len(s)} - {1}
        if len(sizes) > 1:
            raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
        found.append(sizes.pop() if sizes else 1)
    return tuple(found[::-1])


def broadcast_to(given: Any, shape: Sequence[int]) -> ndarray:
    made = asarray(given)
    if made.shape == tuple(shape):
        return made
    if broadcast_shapes(made.shape, shape) != tuple(shape):
        raise ValueError(
            f"could not broadcast input array from shape {made.shape} into shape {tuple(shape)}"
        )
    own = zip(made.shape, _strides(made.shape), strict=True)
    strides = [0] * (len(shape) - made.ndim) + [d if n > 1 else 0 for n, d in own]
    return made._taken(shape, _offsets(shape, strides))


def broadcast_arrays(*given: Any) -> list[ndarray]:
    made = [*map(asarray, given)]
    shape = broadcast_shapes(*(a.shape for a in made))
    return [broadcast_to(a, shape) for a in made]


def moveaxis(given: ndarray, source: int, target: int) -> ndarray:
    order = [*range(given.ndim)]
    order.insert(target % given.ndim, order.pop(source))
    return given.transpose(order)


def stack(arrays: Sequence[Any], axis: int = 0) -> ndarray:
    parts = [*map(asarray, arrays)]
    kind = parts[0].dtype
    for part in parts:
        kind = _joined(kind, part.dtype)
    made = ndarray([v for part in parts for v in part._v], [len(parts), *parts[0].shape], kind)
    return moveaxis(made, 0, axis) if axis else made


def concatenate(arrays: Sequence[Any], axis: int = 0) -> ndarray:
    parts = [asarray(part) for part in arrays]
    kind = parts[0].dtype
    for part in parts:
        kind = _joined(kind, part.dtype)
    if axis:
        return moveaxis(concatenate([moveaxis(part, axis, 0) for part in parts]), 0, axis)
    values = [v for part in parts for v in part._v]
    return ndarray(values, [sum(map(len, parts)), *parts[0].shape[1:]], kind)


def pad(given: ndarray, widths: Sequence[tuple[int, int]]) -> ndarray:
    shape = [a + n + b for n, (a, b) in zip(given.shape, widths, strict=True)]
    found = zeros(shape, given.dtype)
    found[tuple(slice(a, a + n) for n, (a, _) in zip(given.shape, widths, strict=True))] = given
    return found


def ix_(*lines: Any) -> tuple[ndarray, ...]:
    made = [*map(asarray, lines)]
    return tuple(
        line.reshape([-1 if k == axis else 1 for k in range(len(made))])
        for axis, line in enumerate(made)
    )


def unravel_index(flat: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    digits = []
    for n in reversed([shape] if isinstance(shape, int) else [*shape]):
        digits.append(flat % n)
        flat = flat // n
    return tuple(reversed(digits))


def ravel_multi_index(index: Sequence[Any], shape: Sequence[int]) -> Any:
    flat: Any = 0
    for i, n in zip(index, shape, strict=True):
        flat = flat * n + i
    return flat


# -- over elements ----------------------------------------------------------------------------------------


class _Function:
    """A function of two arrays, element by element."""

    def __init__(self, operation: Callable[[Any, Any], Any], kind: Kind | None = None):
        self._operation, self._kind = operation, kind

    def __call__(self, one: Any, other: Any) -> Any:
        found = _each(self._operation, one, other, self._kind)
        return found if found.shape else found.item()

    def reduce(self, arrays: Any) -> Any:
        found, *rest = arrays
        for each in rest:
            found = self(found, each)
        return found


minimum, maximum = _Function(min), _Function(max)
bitwise_and, bitwise_or = _Function(operator.and_), _Function(operator.or_)
bitwise_xor = _Function(operator.xor)
logical_or = _Function(lambda a, b: bool(a or b), bool_)
logical_and = _Function(lambda a, b: bool(a and b), bool_)


def where(condition: Any, then: Any, other: Any) -> ndarray:
    conditions, one, two = broadcast_arrays(condition, then, other)
    values = [a if c else b for c, a, b in zip(conditions._v, one._v, two._v, strict=True)]
    return ndarray(values, conditions.shape, _joined(one.dtype, two.dtype))


def ndim(given: Any) -> int:
    """The number of axes; 0 of a number."""
    return asarray(given).ndim


def shape(given: Any) -> tuple[int, ...]:
    """How long each axis is."""
    return asarray(given).shape


def abs(given: Any) -> Any:
    return _absolute(given)


absolute = abs


def _mapped(function: Callable[[Any], Any], given: Any, kind: Kind) -> Any:
    if not isinstance(given, ndarray):
        return function(given)
    return ndarray([*map(function, given._v)], given.shape, kind)


def sqrt(given: Any) -> Any:
    return _mapped(_sqrt, given, float64)


def isnan(given: Any) -> Any:
    return _mapped(lambda v: v != v, given, bool_)


def isfinite(given: Any) -> Any:
    return _mapped(_isfinite, given, bool_)


def frompyfunc(function: Callable[..., Any], count: int, results: int) -> Callable[..., Any]:
    def each(*given: Any) -> Any:
        if not any(isinstance(g, ndarray) for g in given):
            return function(*given)
        arrays = broadcast_arrays(*given)
        rows = [function(*row) for row in zip(*(a._v for a in arrays), strict=True)]
        columns = (
            [rows] if results == 1 else [*map(list, zip(*rows, strict=True))] or [[]] * results
        )
        made = [ndarray(column, arrays[0].shape, object_) for column in columns]
        return made[0] if results == 1 else tuple(made)

    return each


def prod(given: Any, dtype: Any = None) -> Any:
    return _prod(given)


def count_nonzero(given: Any) -> int:
    return sum(map(bool, asarray(given)._v))


def flatnonzero(given: Any) -> ndarray:
    return asarray(given).reshape(-1).nonzero()[0]


def argwhere(given: ndarray) -> ndarray:
    return stack(given.nonzero(), -1) if given.ndim else zeros((int(bool(given)), 0), int64)


def array_equal(one: Any, other: Any) -> bool:
    one, other = asarray(one), asarray(other)
    return one.shape == other.shape and one._v == other._v


def argmax(given: Any, axis: int | None = None) -> Any:
    return asarray(given).argmax(axis)


def sort(given: ndarray) -> ndarray:
    return (
        given._over(-1, lambda v: v)
        if given.ndim > 1
        else ndarray(sorted(given._v), given.shape, given.dtype)
    )


def argsort(given: ndarray) -> ndarray:
    return ndarray(sorted(range(given.size), key=given._v.__getitem__), given.shape, int64)


def diff(given: ndarray, axis: int = -1) -> ndarray:
    moved = moveaxis(asarray(given), axis, 0)
    return moveaxis(moved[1:] - moved[:-1], 0, axis)


def bincount(given: ndarray) -> ndarray:
    counts = [0] * (max(given._v, default=-1) + 1)
    for value in given._v:
        counts[value] += 1
    return ndarray(counts, [len(counts)], int64)


def unique(
    given: Any, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None
) -> Any:
    made = asarray(given)
    if axis is not None:
        rows = [tuple(row.reshape(-1).tolist()) for row in moveaxis(made, axis, 0)]
        kept = sorted({*rows})
        first = {row: k for k, row in reversed([*enumerate(rows)])}
        return moveaxis(moveaxis(made, axis, 0)[[first[row] for row in kept]], 0, axis)
    values = sorted({*made._v})
    found: list[Any] = [ndarray(values, [len(values)], made.dtype)]
    ranks = {value: k for k, value in enumerate(values)}
    places = ndarray([ranks[v] for v in made._v], made.shape, int64)
    if return_inverse:
        found.append(places)
    if return_counts:
        found.append(bincount(places))
    return tuple(found) if len(found) > 1 else found[0]


class random:
    """Numbers that look random; others than NumPy's."""

    class default_rng:
        def __init__(self, seed: int = 0):
            self._draw = _random.Random(seed)

        def integers(self, low: int, high: int | None = None, size: Any = None) -> Any:
            first, end = (0, low) if high is None else (low, high)
            if size is None:
                return self._draw.randrange(first, end)
            shape = [size] if isinstance(size, int) else [*size]
            return ndarray(
                [self._draw.randrange(first, end) for _ in range(_prod(shape))], shape, int64
            )


class linalg:
    """The least squares alone."""

    @staticmethod
    def lstsq(matrix: ndarray, values: ndarray, rcond: Any = None) -> tuple[ndarray]:
        """Of columns that are independent, by two rounds of Gram and Schmidt's orthogonalization."""
        basis: list[ndarray] = []
        rows: list[list[float]] = []  # each column in the basis
        for column in matrix.T:
            rest, row = column, [0.0] * (len(basis) + 1)
            for _ in range(2):
                for k, known in enumerate(basis):
                    part = rest @ known
                    row[k] += part
                    rest = rest - known * part
            row[-1] = _sqrt(rest @ rest)
            basis.append(rest / row[-1])
            rows.append(row)
        found = [values @ known for known in basis]
        for k in reversed(range(len(found))):
            found[k] /= rows[k][k]
            for below in range(k):
                found[below] -= found[k] * rows[k][below]
        return (ndarray(found, [len(found)], float64),)


class ma:
    """No masked arrays: none is one."""

    class MaskedArray:
        pass


# -- as text ------------------------------------------------------------------------------------------------


def _text(given: ndarray, between: str, indent: int = 0) -> str:
    cells = [*map(repr if given.dtype is object_ else str, given._v)]
    wide = max(map(len, cells), default=0)
    cells = [cell.rjust(wide) for cell in cells]

    def nested(shape: tuple[int, ...], start: int, depth: int) -> str:
        if not shape:
            return cells[start]
        step = _prod(shape[1:])
        parts = [nested(shape[1:], start + k * step, depth + 1) for k in range(shape[0])]
        if len(shape) == 1:
            return f"[{between.join(parts)}]"
        lines = "\n" * (len(shape) - 1)
        joint = between.rstrip() + lines + " " * (indent + depth + 1)
        return f"[{joint.join(parts)}]"

    return nested(given.shape, 0, 0)
