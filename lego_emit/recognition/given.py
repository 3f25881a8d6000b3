"""What recognize() takes: arrays, nested lists, layouts and functions, as tables of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from ..algebra import reference
from ..algebra.block import Block
from ..algebra.paper_definitions import reference_unravel
from ..algebra.sizes import check_sizes
from ..algebra.slices import index_names
from ..errors import LayoutError, LazyText, a_type, error_text, line_in, short_repr
from ..numeric import is_integer
from ..packages import numpy as np

MOST_ENTRIES = 2**20
MOST_LEVELS = 64  # what NumPy has
LARGEST = 2**40


@dataclass(frozen=True)
class Given:
    """Tables of one shape, one for each result, and what indices and results are called."""

    tables: tuple[np.ndarray, ...]
    names: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the tables, which all of them share."""
        return self.tables[0].shape


def given_of(subject: Any, dims: Any) -> Given:
    """The tables of an array, nested lists, a layout or a function. Raises LayoutError."""
    if isinstance(subject, Block):
        return _of_block(subject, dims)
    if callable(subject):
        return _of_function(subject, dims)
    is_array = isinstance(subject, np.ndarray)
    place = "recognize(an array, ..)" if is_array else LazyText("recognize({}, ..)", subject)
    table = _array(subject, place)
    if dims is not None:
        sizes = _sizes(dims, place)
        if prod(sizes) != table.size:
            raise LayoutError(
                f"{place}: {table.size} entries, and dims {list(sizes)} have {prod(sizes)}; make the "
                "product equal"
            )
        table = table.reshape(sizes)
    return _named([table], place)


def _named(
    tables: Sequence[np.ndarray],
    place: object,
    names: Sequence[str] | None = None,
    results: Sequence[str] | None = None,
) -> Given:
    shape = tables[0].shape
    many = [f"out{k}" for k in range(len(tables))] if len(tables) > 1 else ["offset"]
    for table in tables:
        beyond = np.flatnonzero((table > LARGEST) | (table < -LARGEST))
        if len(beyond):
            at = _index(shape, int(beyond[0]))
            raise LayoutError(
                f"{place}: entry {at} is {int(table.flat[beyond[0]])}; entries lie within +-2**40"
            )
    return Given(tuple(tables), tuple(names or index_names(len(shape))), tuple(results or many))


def _index(shape: Sequence[int], place: int) -> str:
    found = tuple(map(int, np.unravel_index(place, tuple(shape))))
    return str(found[0] if len(found) == 1 else found)


def _sizes(dims: Any, place: object) -> tuple[int, ...]:
    dims = (dims,) if is_integer(dims) else dims
    sizes = check_sizes(dims, place)
    if not all(is_integer(n) for n in sizes):
        raise LayoutError(f"{place}: dims are {short_repr(dims)}; a table needs integer sizes")
    if prod(sizes) > MOST_ENTRIES:
        raise LayoutError(
            f"{place}: {short_repr(prod(sizes))} entries; at most 2**20 are looked at, choose smaller sizes"
        )
    return sizes


def _array(subject: Any, place: object) -> np.ndarray:
    if not isinstance(subject, np.ndarray | list | tuple | range):
        raise LayoutError(
            f"{place}: {a_type(subject)}; give an array or nested lists of integers, a layout, "
            "or a function with dims"
        )
    if isinstance(subject, np.ma.MaskedArray):
        raise LayoutError(
            f"{place}: a masked array; a layout has an entry for every index: filled() puts numbers "
            "where it is masked"
        )
    if not isinstance(subject, np.ndarray):
        shape = _shape(subject, place)
        subject = np.array(subject, dtype=object).reshape(shape)
    if not subject.ndim or not subject.size:
        raise LayoutError(f"{place}: no entries; a table has at least one")
    if subject.size > MOST_ENTRIES:
        raise LayoutError(f"{place}: {subject.size} entries; at most 2**20 are looked at")
    if subject.dtype.kind in "iu":
        if subject.dtype.kind == "u" and int(subject.max()) > LARGEST:
            subject = np.minimum(subject, LARGEST + 1)
        return subject.astype(np.int64)
    if subject.dtype.kind != "O":
        if subject.dtype.kind == "f" and np.isnan(subject).any():
            at = _index(subject.shape, int(np.flatnonzero(np.isnan(subject))[0]))
            raise LayoutError(
                f"{place}: entry {at} is NaN: a hole; a layout has an entry for every index"
            )
        raise LayoutError(f"{place}: an array of {subject.dtype}; give integers")
    for k, entry in enumerate(subject.reshape(-1)):
        if is_integer(entry):
            if abs(entry) > LARGEST:
                raise LayoutError(
                    f"{place}: entry {_index(subject.shape, k)} is {short_repr(int(entry))}; entries lie "
                    "within +-2**40"
                )
            continue
        hole = entry is None or (isinstance(entry, float) and entry != entry)
        why = "a hole; a layout has an entry for every index" if hole else "no integer"
        raise LayoutError(
            f"{place}: entry {_index(subject.shape, k)} is {short_repr(entry)}: {why}"
        )
    return subject.astype(np.int64)


def _shape(nested: Any, place: object) -> tuple[int, ...]:
    """The shape of nested lists. Raises LayoutError where they are ragged."""
    shape: list[int] = []
    level: list[Any] = [nested]
    while level and all(isinstance(part, list | tuple | range) for part in level):
        sizes = {len(part) for part in level}
        if len(sizes) > 1:
            raise LayoutError(
                f"{place}: lists of {' and '.join(map(str, sorted(sizes)))} entries beside each other; "
                "make all of one level as long"
            )
        shape.append(sizes.pop())
        if len(shape) == MOST_LEVELS:
            raise LayoutError(f"{place}: lists nested more than {MOST_LEVELS} deep; flatten them")
        level = [entry for part in level for entry in part]
        if len(level) > MOST_ENTRIES:
            raise LayoutError(f"{place}: more than 2**20 entries; at most so many are looked at")
    if any(isinstance(part, list | tuple | range) for part in level):
        raise LayoutError(f"{place}: numbers and lists beside each other; nest all alike")
    return tuple(shape)


def _of_block(block: Block, dims: Any) -> Given:
    place = LazyText("recognize({})", block)
    if dims is not None and tuple(_sizes(dims, place)) != tuple(block.dims):
        raise LayoutError(
            f"{place}: dims are {short_repr(dims)}, and its own {list(block.dims)}; leave dims out"
        )
    if not block.is_concrete:
        raise LayoutError(f"{place}: a table needs integer sizes; give numbers for its symbols")
    _sizes(tuple(block.dims), place)
    return _named(positions(block), place, block.coordinates, block.results)


def positions(block: Block) -> list[np.ndarray]:
    """The results of a block at every index, each of the block's shape."""
    index = reference_unravel(block.dims, np.arange(block.size))
    found = reference.apply(block, index)
    return [
        np.broadcast_to(each, (block.size,)).reshape(block.dims)
        for each in (found if isinstance(found, tuple) else (found,))
    ]


def _of_function(function: Callable[..., Any], dims: Any) -> Given:
    name = getattr(function, "__name__", short_repr(function))
    place = LazyText("recognize({!s}, {})", name, dims)
    if dims is None:
        raise LayoutError(f"{place}: give dims, the sizes of the function's indices")
    sizes = _sizes(dims, place)
    rows: list[tuple[Any, ...]] = []
    for index in product(*map(range, sizes)):
        try:
            found = function(*index)
        except (Exception, SystemExit) as error:
            raise LayoutError(
                f"{place}: at {_shown(index)} it raised {type(error).__name__}"
                f"{line_in(function, error)}: {error_text(error)}"
            ) from error
        values = tuple(found) if isinstance(found, tuple | list) else (found,)
        if not values or not all(map(is_integer, values)):
            raise LayoutError(
                f"{place}: at {_shown(index)} it gives {short_repr(found)}, no integer"
            )
        if any(abs(v) > LARGEST for v in values):
            raise LayoutError(
                f"{place}: at {_shown(index)} it gives {short_repr(found)}; entries lie within +-2**40"
            )
        if rows and len(values) != len(rows[0]):
            raise LayoutError(
                f"{place}: at {_shown(index)} it gives {len(values)} results, before {len(rows[0])}"
            )
        rows.append(values)
    tables = np.array(rows, dtype=np.int64).T.reshape(-1, *sizes)
    return _named([*tables], place)


def _shown(index: tuple[int, ...]) -> str:
    return str(index[0] if len(index) == 1 else index)
