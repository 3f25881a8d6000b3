"""Who owns an array: what NumPy, PyTorch, and libraries of the array API standard do to move its elements."""

from __future__ import annotations

from functools import reduce
from math import prod
from numbers import Complex, Real
from operator import or_
from typing import Any

from ..errors import LayoutError, short_repr
from ..numeric import bits_of, is_array
from ..packages import numpy as np
from .indices import apply, inv
from .libraries import ends_of, library_of
from .plan import MOST_TABLED, Movement

NUMBERS = "biufc"  # kinds of dtypes whose memory is a buffer
TEXTS = "T"  # the kind of texts of any length, which have no views of other strides


class Owner:
    """A library whose arrays are not written: JAX, and others of the standard."""

    has_views = False
    most_tabled = 2**16  # places in a table, which is a constant of what JAX compiles
    computes = True  # places of larger movements
    has_falling = False  # views with negative strides

    def __init__(self, library: Any):
        self.library = library

    # -- what a library has ------------------------------------------------------------------------

    def plain(self, x: Any) -> Any:
        """x as an array of the library's own class. Raises LayoutError where it is more than its elements."""
        return x

    def element(self, x: Any, fill: Any) -> Any:
        """fill as an element of x. Raises LayoutError where it is none: another number would stand for it."""
        if type(fill) is int and not fill:
            return fill
        if fill is None or isinstance(fill, list | tuple | str) or len(getattr(fill, "shape", ())):
            raise _no_element(x, fill)
        number: Any = fill
        if isinstance(fill, Real) and (known := _ends(x)) is not None:
            if not known[0] <= number <= known[1] or number != int(number):
                raise _no_element(x, fill)
        elif isinstance(fill, Complex) and not isinstance(fill, Real):
            if "complex" not in str(x.dtype):
                raise _no_element(x, fill)
        return fill

    def reshaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """x with other sizes, a view where there is one."""
        return self.library.reshape(x, shape)

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        """x with its axes in another order."""
        permuted = getattr(self.library, "permute_dims", None) or self.library.transpose
        return permuted(x, order)

    def taken(self, x: Any, table: Any) -> Any:
        """The elements at the places of a table along the last axis."""
        return self.library.take(x, table, axis=-1)

    def table_for(self, x: Any, table: Any) -> Any:
        """A table as the library takes it."""
        return self.library.asarray(table)

    def kept_table(self, found: Movement, x: Any) -> Any:
        """The table of a movement. In what JAX traces it is a constant, which no other trace may hold."""
        return self.table_for(x, np.maximum(found.table, 0))

    def filled(self, x: Any, holes: Any, fill: Any) -> Any:
        """x with fill where a NumPy array of truths says so, along the last axis."""
        value = self.library.asarray(fill, dtype=x.dtype)
        return self.library.where(self.library.asarray(holes), value, x)

    def joined(self, parts: list[Any]) -> Any:
        """Arrays one after the other along the last axis."""
        joined = getattr(self.library, "concat", None) or self.library.concatenate
        return parts[0] if len(parts) == 1 else joined(parts, axis=-1)

    def shares(self, one: Any, other: Any) -> bool:
        """Whether two arrays share memory, as far as that is known."""
        return one is other

    # -- movements ---------------------------------------------------------------------------------

    def way(self, found: Movement) -> str:
        """How a movement is done, in words."""
        if found.is_transposed:
            assert found.transposition is not None
            return "copy" if len(found.transposition.split) < 2 else str(found.transposition)
        if found.is_tabled and found.size <= self.most_tabled:
            return f"table of {found.size}"
        return "arithmetic" if found.transposition is None else str(found.transposition)

    def viewed(
        self, found: Movement, m: Any, batch: tuple[int, ...], shape: tuple[int, ...]
    ) -> Any:
        """A view of a memory as an array of this shape; None where there is none."""
        return None

    def moved(self, found: Movement, x: Any, fill: Any, out: Any) -> Any:
        """The destination's memory; x: (.., source_size)."""
        if out is not None:
            raise LayoutError(
                f"out: arrays of {self.library.__name__} are not written; leave it out"
            )
        tabled = found.is_tabled and found.size <= self.most_tabled
        if found.is_transposed or (found.transposition is not None and not tabled):
            return self.transposed(found, x)
        if tabled:
            return self.looked_up(found, x, fill)
        if self.computes and found.destination.has_inverse:
            return self.computed(found, x, fill)
        parts = []
        for _, _, places in found.chunks():
            part = self.taken(x, self.table_for(x, np.maximum(places, 0)))
            parts.append(self.filled(part, places < 0, fill) if (places < 0).any() else part)
        return self.joined(parts)

    def computed(self, found: Movement, x: Any, fill: Any) -> Any:
        """Each element from its place, which the library's own operations compute."""
        where, zero = self.library.where, self.library.asarray(0)
        index = inv(found.destination, self.library.arange(0, found.size, 1))
        holes = reduce(or_, [i < 0 for i in index])
        places = apply(found.source, [where(holes, zero, i) for i in index])
        if found.source.masks:
            holes = holes | (places < 0)
            places = where(holes, zero, places)
        value = self.library.asarray(fill, dtype=x.dtype)
        part = self.taken(x, places)
        return where(holes, value, part) if found.masks or found.destination.masks_inverse else part

    def transposed(self, found: Movement, x: Any) -> Any:
        """The transposition of x, new memory."""
        own = found.transposition
        assert own is not None
        batch = tuple(x.shape[:-1])
        order = (*range(len(batch)), *(len(batch) + k for k in own.order))
        return self.reshaped(
            self.permuted(self.reshaped(x, (*batch, *own.split)), order), (*batch, found.size)
        )

    def looked_up(self, found: Movement, x: Any, fill: Any) -> Any:
        """Each element from its place."""
        part = self.taken(x, self.kept_table(found, x))
        return part if found.holes is None else self.filled(part, found.holes, fill)


class Written(Owner):
    """A library whose arrays are written, and have views of any strides that are not negative."""

    has_views = True
    most_tabled = MOST_TABLED
    computes = False

    def new(self, x: Any, shape: tuple[int, ...], fill: Any = None) -> Any:
        """New memory, filled unless fill is None."""
        raise NotImplementedError

    def strided(self, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
        """A view of x, (.., size), whose last axis is taken apart: sizes and strides in its elements."""
        raise NotImplementedError

    def assign(self, view: Any, value: Any) -> None:
        """Write value into a view."""
        view[...] = value

    def way(self, found: Movement) -> str:
        """How a movement is done, in words."""
        if not found.is_transposed and self._is_strided(found):
            count = len(found.boxes or ())
            return (
                "assignment to a strided view"
                if count == 1
                else f"assignments to {count} strided views"
            )
        if not found.is_transposed and not found.is_tabled and found.blocks is not None:
            return str(found.blocks)
        return super().way(found)

    def viewed(
        self, found: Movement, m: Any, batch: tuple[int, ...], shape: tuple[int, ...]
    ) -> Any:
        """A view of a memory as an array of this shape; None where there is none."""
        if found.is_falling and not self.has_falling:
            return None
        strides = found.strides(shape)
        if strides is None or found.boxes is None:
            return None
        return self.strided(m, shape, strides, found.boxes[0].a)

    def _is_strided(self, found: Movement) -> bool:
        return found.is_strided and (self.has_falling or not found.is_falling)

    def moved(self, found: Movement, x: Any, fill: Any, out: Any) -> Any:
        """The destination's memory; x: (.., source_size)."""
        shape = (*x.shape[:-1], found.size)
        if found.is_transposed:
            own = found.transposition
            assert own is not None
            result = self.new(x, shape) if out is None else out
            batch = tuple(x.shape[:-1])
            order = (*range(len(batch)), *(len(batch) + k for k in own.order))
            view = self.permuted(self.reshaped(x, (*batch, *own.split)), order)
            wanted = (*batch, *(own.split[k] for k in own.order))
            self.assign(self.split(result, wanted), view)
            return result
        if self._is_strided(found) and found.boxes is not None:
            whole = sum(prod(d.n for d in box.digits) for box in found.boxes) == found.size
            result = self.new(x, shape, None if whole else fill) if out is None else out
            if out is not None and not whole:
                self.assign(result, self.new(x, (), fill))
            for box in found.boxes:
                sizes = tuple(d.n for d in box.digits)
                given = self.strided(x, sizes, tuple(d.a for d in box.digits), box.a)
                self.assign(
                    self.strided(result, sizes, tuple(d.b for d in box.digits), box.b), given
                )
            return result
        result = self.gathered(found, x, fill, out)
        if out is None or result is out:
            return result
        self.assign(out, result)
        return out

    def split(self, x: Any, shape: tuple[int, ...]) -> Any:
        """A view of x whose last axis has these sizes."""
        return self.reshaped(x, shape)

    def gathered(self, found: Movement, x: Any, fill: Any, out: Any) -> Any:
        """Each element from its place."""
        if found.is_tabled or found.blocks is None:
            return super().moved(found, x, fill, None)
        table = self.table_for(x, found.blocks.table)
        span = int(found.blocks.table.max()) + 1
        starts = found.blocks.starts.tolist()
        return self.joined([self.taken(x[..., s : s + span], table) for s in starts])


class LikeNumPy(Written):
    """CuPy, which has NumPy's names and views of any strides; tables stay on the device of an array."""

    has_falling = True

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        """x with its axes in another order, a view."""
        return x.transpose(order)

    def shares(self, one: Any, other: Any) -> bool:
        """Whether two arrays may share memory."""
        return bool(self.library.may_share_memory(one, other))

    def new(self, x: Any, shape: tuple[int, ...], fill: Any = None) -> Any:
        """New memory, filled unless fill is None."""
        if fill is None:
            return self.library.empty(shape, x.dtype)
        if type(fill) is int and not fill:  # memory that the system has zeroed
            return self.library.zeros(shape, x.dtype)
        return self.library.full(shape, fill, x.dtype)

    def strided(self, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
        """A view of x, (.., size), whose last axis is taken apart."""
        steps = (*x.strides[:-1], *(d * x.strides[-1] for d in strides))
        as_strided = self.library.lib.stride_tricks.as_strided
        return as_strided(x[..., start:], (*x.shape[:-1], *shape), steps)

    def split(self, x: Any, shape: tuple[int, ...]) -> Any:
        """A view of x whose last axis has these sizes."""
        strides, step = [], x.strides[-1]
        for n in reversed(shape[x.ndim - 1 :]):
            strides.append(step)
            step *= n
        as_strided = self.library.lib.stride_tricks.as_strided
        return as_strided(x, shape, (*x.strides[:-1], *reversed(strides)))

    def kept_table(self, found: Movement, x: Any) -> Any:
        """The table of a movement on the device of x, made once."""
        device = self.library.__name__, x.device.id
        if device not in found.on_devices:
            found.on_devices[device] = super().kept_table(found, x)
        return found.on_devices[device]


class NumPy(LikeNumPy):
    """NumPy, whose routines write into what they are given."""

    def plain(self, x: Any) -> Any:
        """x as an ndarray. Raises LayoutError for a masked array."""
        if type(x) is not np.ndarray and isinstance(x, np.ma.MaskedArray):
            raise LayoutError(
                "a memory holds no mask of a masked array; move x.filled(..) and np.ma.getmaskarray(x)"
            )
        return np.asarray(x)

    def element(self, x: Any, fill: Any) -> Any:
        """fill as an array of one element of x. Raises LayoutError where it is none."""
        if type(fill) is int and not fill:
            return fill
        kind, found = x.dtype.kind, np.empty((), x.dtype)
        given: Any = fill
        fill = given[()] if is_array(given) and not given.ndim else given
        try:
            if kind in NUMBERS:
                super().element(x, fill)
            elif kind in "SU" and isinstance(fill, str | bytes):
                if len(fill) > x.dtype.itemsize // (4 if kind == "U" else 1):
                    raise _no_element(x, fill)
            found[()] = fill
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_element(x, fill) from error
        return found

    def viewed(
        self, found: Movement, m: Any, batch: tuple[int, ...], shape: tuple[int, ...]
    ) -> Any:
        """A view of a memory as an array of this shape; None where there is none."""
        return None if m.dtype.kind == TEXTS else super().viewed(found, m, batch, shape)

    def moved(self, found: Movement, x: Any, fill: Any, out: Any) -> Any:
        """The destination's memory; x: (.., source_size)."""
        if x.dtype.kind == TEXTS:
            return self.gathered(found, x, fill, out)
        return super().moved(found, x, fill, out)

    def strided(self, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
        """A view of x, (.., size), whose last axis is taken apart."""
        if (
            x.size and x.flags.c_contiguous and x.dtype.kind in NUMBERS
        ):  # at a tenth of as_strided's time
            own = x.strides[-1]
            steps = (*x.strides[:-1], *(d * own for d in strides))
            return np.ndarray((*x.shape[:-1], *shape), x.dtype, x, start * own, steps)
        return super().strided(x, shape, strides, start)

    def gathered(self, found: Movement, x: Any, fill: Any, out: Any) -> Any:
        """Each element from its place; indices are in range, so that nothing is asked of them."""
        result = np.empty((*x.shape[:-1], found.size), x.dtype) if out is None else out
        zero = np.zeros((), x.dtype)
        if not found.is_tabled and found.blocks is not None:
            table, n = found.blocks.table, len(found.blocks.table)
            span = int(table.max()) + 1
            for k, start in enumerate(found.blocks.starts.tolist()):
                part = x[..., start : start + span]
                np.take(part, table, axis=-1, out=result[..., k * n : (k + 1) * n], mode="clip")
            return result
        parts = [(0, found.size, found.table)] if found.is_tabled else found.chunks()
        for first, last, places in parts:
            np.take(x, places, axis=-1, out=result[..., first:last], mode="clip")
            holes = found.holes if found.is_tabled else places < 0
            if holes is not None:
                result[..., first:last][..., holes] = (
                    zero if type(fill) is int and not fill else fill
                )
        return result


class Torch(Written):
    """PyTorch: what is written is known to autograd, and tables stay on the device of a tensor."""

    def reshaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """x with other sizes, a view where there is one."""
        return x.reshape(shape)

    def permuted(self, x: Any, order: tuple[int, ...]) -> Any:
        """x with its axes in another order, a view."""
        return x.permute(order)

    def shares(self, one: Any, other: Any) -> bool:
        """Whether two tensors have one storage."""
        return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr() != 0

    def new(self, x: Any, shape: tuple[int, ...], fill: Any = None) -> Any:
        """New memory, filled unless fill is None."""
        if fill is None:
            return x.new_empty(shape)
        return x.new_full(shape, fill) if fill else x.new_zeros(shape)

    def strided(self, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
        """A view of x, (.., size), whose last axis is taken apart."""
        *outer, own = x.stride()
        steps = (*outer, *(d * own for d in strides))
        return x.as_strided((*x.shape[:-1], *shape), steps, x.storage_offset() + start * own)

    def split(self, x: Any, shape: tuple[int, ...]) -> Any:
        """A view of x whose last axis has these sizes."""
        return x.view(shape)

    def taken(self, x: Any, table: Any) -> Any:
        """The elements at the places of a table along the last axis."""
        return x.index_select(-1, table)

    def table_for(self, x: Any, table: Any) -> Any:
        """A table on the device of x, of 32 bits where they do."""
        dtype = np.int32 if not len(table) or table.max() < 2**31 else np.int64
        return self.library.from_numpy(table.astype(dtype)).to(x.device)

    def kept_table(self, found: Movement, x: Any) -> Any:
        """The table of a movement on the device of x, made once."""
        if x.device not in found.on_devices:
            found.on_devices[x.device] = super().kept_table(found, x)
        return found.on_devices[x.device]

    def filled(self, x: Any, holes: Any, fill: Any) -> Any:
        """x with fill where a NumPy array of truths says so, along the last axis."""
        return x.masked_fill(self.library.from_numpy(holes).to(x.device), fill)

    def joined(self, parts: list[Any]) -> Any:
        """Tensors one after the other along the last axis."""
        return parts[0] if len(parts) == 1 else self.library.cat(parts, -1)


def _ends(x: Any) -> tuple[int, int] | None:
    """The least and the greatest number that an array of integers or truths holds; None of others."""
    if "bool" in str(x.dtype):
        return 0, 1
    return None if bits_of(x) is None else ends_of(x)


def _no_element(x: Any, fill: Any) -> LayoutError:
    return LayoutError(
        f"fill is {short_repr(fill)}, which is no element of an array of {x.dtype}; give one, or convert the array"
    )


_owners: dict[Any, Owner] = {}


def owner_of(x: Any) -> Owner | None:
    """Who moves the elements of an array; None where that is not known."""
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return None
    library = library_of(x)
    if library is None:
        return None
    if library not in _owners:
        if is_array(x):
            _owners[library] = NumPy(library)
        elif hasattr(x, "index_select"):
            _owners[library] = Torch(library)
        else:
            _owners[library] = (LikeNumPy if library.__name__ == "cupy" else Owner)(library)
    return _owners[library]
