"""A layout that is given as data: Lookup."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import LayoutError, LazyText, short_repr
from ..files import integers
from ..numeric import is_array, is_integer, is_symbolic
from ..table_lookup import Entries
from .block import Block, Change, Indexable, Numbers
from .digits import ravel, unravel
from .later import later
from .paper_definitions import reference_ravel, reference_unravel
from .sizes import check_sizes, comparable, listed, multiplied, product, way_out

if TYPE_CHECKING:
    import numpy as np

FILES = (".csv", ".txt", ".npy")
MOST = 2**24  # entries
WRITTEN = 16  # entries that repr() writes out
ROWS = (list, tuple, range)
LARGE = 2**16  # entries from which on arrays are faster, though they be loaded for it
DEEPEST = 64  # rows in rows, as NumPy has them


class Lookup(Indexable):
    """A permutation, or another map, given as data.

    dims: the sizes of the index. table: the position of each index in row-major order,
    integers that are at least 0: a list or a NumPy integer array, of as many entries as there are
    indices or of shape dims; or a file of them, a path that ends in .npy, .csv or .txt.

    There is an inv where the table is a permutation of 0..size - 1; any other one is a map as a
    GenP without inv is, whose physical_size is its largest entry and 1. Where every entry is below
    size, a permutation is expected. many: what is none is meant.

    A table may be a name instead, as "perm": it is known at run time only, each emitted function
    has a parameter for it, and dims may be symbols. Its entries are a caller's promise: a permutation
    of 0..size - 1; with many each is below size; with below, an integer or a symbol, each is below
    that. There is no inv: the inverse table is another Lookup.

    `entries` has the table as it is looked up; a layout that gives the same positions by a formula
    takes its place in emitted code, where one is known, and on a CPU unless the table is cheaper by the
    cost model. as_table: it stays a table, whatever a formula costs.

        >>> from lego_emit import Lookup, generate
        >>> columns = Lookup([6], [0, 2, 4, 1, 3, 5])
        >>> kept = Lookup([6], [0, 2, 4, 1, 3, 5], as_table=True)
        >>> ["table[i]" in generate(layout, "c").source for layout in (columns, kept)]
        [False, True]

    Raises LayoutError on a table of another length, an entry that is no such integer, one that
    stands twice and one that is missing, and a file that cannot be read.
    """

    dims: tuple[int, ...]
    entries: Entries
    many: bool
    below: Any
    as_table: bool

    def __init__(
        self,
        dims: Sequence[Any],
        table: Any,
        *,
        many: bool = False,
        below: Any = None,
        as_table: bool = False,
    ):
        construct = LazyText("Lookup({}, {!s})", dims, _in_short(table))
        self.dims, self.many = check_sizes(dims, construct), many or below is not None
        self.below = None if below is None else _bound(below, construct)
        if not isinstance(as_table, bool):
            raise LayoutError(
                f"{construct}: as_table is {short_repr(as_table)}; give True, and no formula takes the "
                "table's place, or False"
            )
        self.as_table = as_table
        if isinstance(table, str) and table.isidentifier():
            self.entries = Entries(table, size=product(self.dims), below=self.below)
            return
        if below is not None:
            raise LayoutError(
                f"{construct}: below is said of a table that is known at run time only; of this one "
                "the largest entry is known: leave it out"
            )
        if not self.is_concrete:
            raise LayoutError(
                f"{construct}: the sizes of a table that is given are integers; one that is known at "
                'run time only may have symbols: Lookup(dims, "name")'
            )
        values = _read(table, self.dims, construct)
        if not many:
            _check_permutation(values, self.dims, construct)
        self.entries = Entries("table", values, kept=as_table)

    @cached_property
    def _inverse(self) -> tuple[int, ...] | None:
        """The row-major index at each position; None where the table is no permutation."""
        if self.entries.given or self.entries.most != len(self.entries) - 1:
            return None
        found = [-1] * len(self.entries)
        for place, position in enumerate(self.entries.values):
            found[position] = place
        return None if -1 in found else tuple(found)

    @cached_property
    def _values(self) -> tuple[int, ...]:
        if self.entries.given:
            raise LayoutError(
                f"{self!r}: the table is known at run time only; give Lookup its entries to evaluate it"
            )
        return self.entries.values

    @cached_property
    def _arrays(self) -> list[np.ndarray]:
        """The table, and the inverse one where there is one, as arrays."""
        from ..packages import numpy as np

        return [np.array(x, np.int64) for x in (self._values, self._inverse) if x is not None]

    @cached_property
    def _inverse_entries(self) -> Entries:
        assert self._inverse is not None
        return Entries("inverse", self._inverse, kept=self.as_table)

    @cached_property
    def _formula(self) -> Block | None:
        """A layout of the same positions whose formula is known."""
        if self.entries.given or self.as_table:
            return None
        try:
            found = later().recognized(self._arrays[0], self.dims)
        except LayoutError:  # more, or larger entries than it takes
            return None
        return found if found is not None and found.dims == self.dims else None

    @property
    def has_inverse(self) -> bool:
        """Whether the table is a permutation."""
        return self._inverse is not None

    @property
    def is_bijection(self) -> bool:
        """Whether it is a permutation, or promised to be one."""
        return self.has_inverse or (self.entries.given and not self.many)

    @property
    def is_bounded(self) -> bool:
        """Always: no entry is larger than the largest."""
        return True

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """Its dims, or how far the positions of another map go."""
        return self.dims if self.is_bijection else (self.entries.below,)

    def sizes(self) -> tuple[Any, ...]:
        """Its dims, and the bound of its entries."""
        return self.dims if self.below is None else (*self.dims, self.below)

    def with_sizes(self, new: Change) -> Lookup:
        """The same table of run time with other sizes; another one's are integers."""
        if not self.entries.given:
            return self
        below = None if self.below is None else new.size(self.below)
        dims = [new.size(n) for n in self.dims]
        name = self.entries.name
        return Lookup(dims, name, many=self.many, below=below, as_table=self.as_table)

    def forward(self, numbers: Numbers, index: Sequence[Any]) -> Any:
        """The entry at the index's row-major place, or what the formula gives."""
        if self._formula is not None and numbers.by_formula(self.entries):
            return self._formula.forward(numbers, index)
        sizes = [numbers.size(n) for n in self.dims]
        return numbers.looked_up(self.entries, ravel(sizes, index))

    def backward(self, numbers: Numbers, flat: Any) -> list[Any]:
        """The place where a position stands, taken apart, or what the formula gives."""
        formula = self._formula
        if formula is not None and formula.has_inverse and numbers.by_formula(self.entries):
            return formula.backward(numbers, flat)
        place = numbers.looked_up(self._inverse_entries, flat)
        return unravel([numbers.size(n) for n in self.dims], place)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The entry of the table at an index, on ints, arrays and terms."""
        place = reference_ravel(self.dims, index)
        if is_symbolic(place):
            return place.entry_of(self._values)
        return self._arrays[0][place] if is_array(place) else self._values[place]

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """Where the table has a position."""
        assert self._inverse is not None
        if is_symbolic(flat):
            return reference_unravel(self.dims, flat.entry_of(self._inverse))
        return reference_unravel(
            self.dims, (self._arrays[1] if is_array(flat) else self._inverse)[flat]
        )

    def _value(self) -> tuple[Any, ...]:
        return comparable(self.dims), self.many, self.entries.key, self.as_table

    def __repr__(self) -> str:
        values = self.entries.values
        kept = ", as_table=True" * self.as_table
        if self.entries.given:
            said = f", below={short_repr(self.below)}" if self.below is not None else ""
            said = said or ", many=True" * self.many
            return f"Lookup([{listed(self.dims)}], {self.entries.name!r}{said}{kept})"
        text = listed(values)
        if len(values) > WRITTEN:
            text = f"{listed(values[: WRITTEN // 2])}, .., {values[-1]}"
        many = self.entries.below <= len(values) and not self.has_inverse
        return f"Lookup([{listed(self.dims)}], [{text}]{', many=True' * many}{kept})"


def _bound(below: Any, construct: object) -> Any:
    """What the entries of a table are below."""
    try:
        return check_sizes([below], construct)[0]
    except LayoutError:
        raise LayoutError(
            f"{construct}: below is {short_repr(below)}, and each entry is at least 0; give an integer "
            f"that is at least 1, or a symbol{way_out(below)}"
        ) from None


def _in_short(table: Any) -> str:
    """The table as a message names it."""
    return repr(table) if isinstance(table, str | PathLike) else ".."


def _read(table: Any, dims: tuple[int, ...], construct: object) -> list[int]:
    """The entries in row-major order."""
    size = product(dims)
    if size > MOST:
        raise LayoutError(
            f"{construct}: {short_repr(size)} indices; a table has at most {MOST} entries"
        )
    found = _from_file(table, construct) if isinstance(table, str | PathLike) else _entries(table)
    if isinstance(found, str):
        raise LayoutError(f"{construct}: {found}")
    shape, values = found
    if len(values) != size or shape not in ((size,), dims):
        given = multiplied(shape) if shape else "no"
        raise LayoutError(
            f"{construct}: {given} entries for {multiplied(dims)} indices; give one for each, in "
            "row-major order or in the shape of the sizes"
        )
    if min(values) < 0 or max(values) >= 2**63:
        at = next(k for k, value in enumerate(values) if not 0 <= value < 2**63)
        raise LayoutError(
            f"{construct}: entry {_at(at, dims)} is {short_repr(values[at])}; a position is at least "
            "0 and below 2**63"
        )
    return values


def _entries(table: Any) -> tuple[tuple[int, ...], list[int]] | str:
    """A table's shape and its integers in row-major order, or what is wrong with it."""
    if not isinstance(table, ROWS) and not is_array(table):
        return f"the table is {short_repr(table)}; give a list or an array of integers, or a file of them"
    if hasattr(table, "mask"):
        return "the table is a masked array; filled() puts numbers where it is masked"
    try:
        shape, values = _flattened(table, DEEPEST)
    except ValueError:
        return "the table is no array: its rows are not of one length"
    others = [x for x in values if type(x) is not int and not is_integer(x)]
    if not others:
        return shape, [x if type(x) is int else int(x) for x in values]
    wrong = next((x for x in others if not isinstance(x, float) or x % 1), others[0])
    hint = "; astype(int) makes integers of whole numbers" * isinstance(wrong, float)
    return f"{short_repr(wrong)} in the table is not an integer{hint}"


def _flattened(table: Any, deepest: int) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested rows and what stands in them. Raises ValueError on rows that differ."""
    if is_array(table):
        return table.shape, table.reshape(-1).tolist()
    if not isinstance(table, ROWS):
        return (), [table]
    if not any(isinstance(x, ROWS) or is_array(x) for x in table):
        return (len(table),), list(table)
    if not deepest:
        raise ValueError
    rows = [_flattened(row, deepest - 1) for row in table]
    if len({shape for shape, _ in rows}) > 1:
        raise ValueError
    return (len(rows), *rows[0][0]), [value for _, values in rows for value in values]


def _from_file(
    name: str | PathLike[str], construct: object
) -> tuple[tuple[int, ...], list[int]] | str:
    """A file's entries and their shape, or what is wrong with it."""
    path = Path(name)
    if path.suffix not in FILES:
        return f"{str(path)!r} is neither a name nor a file of a table, which ends in {', '.join(FILES)}"
    try:
        rows = integers(path)
    except LayoutError as error:
        return str(error)
    if is_array(rows):
        return _entries(rows)
    whole = len({len(row) for row in rows}) == 1 and len(rows) > 1 and len(rows[0]) > 1
    return _entries(rows if whole else [value for row in rows for value in row])


def _check_permutation(values: list[int], dims: tuple[int, ...], construct: object) -> None:
    """Raise LayoutError where every entry is below their number, but no permutation; and where it is
    one from 1 on."""
    size = len(values)
    least, most = min(values), max(values)
    if most > size or (most == size and least == 0):
        return
    if most == size - 1 and _all_different(values):
        return
    counts = [0] * (size + 1)
    for value in values:
        counts[value] += 1
    if most == size:
        if min(counts[1:]) == 1:
            raise LayoutError(
                f"{construct}: the table is a permutation of 1..{size}; positions count from 0: "
                "subtract 1, or say many=True if it is meant"
            )
        return
    twice = next(k for k, count in enumerate(counts) if count > 1)
    first = values.index(twice)
    second = values.index(twice, first + 1)
    raise LayoutError(
        f"{construct}: {twice} stands at {_at(first, dims)} and at {_at(second, dims)}, and "
        f"{counts.index(0)} nowhere: no permutation of 0..{size - 1}. Correct the table, or say "
        "many=True if it is meant to be many-to-one"
    )


def _all_different(values: list[int]) -> bool:
    """Whether no entry stands twice."""
    if len(values) < LARGE:
        return len(set(values)) == len(values)
    from ..packages import numpy as np

    return bool(np.bincount(values).max() == 1)


def _at(place: int, dims: tuple[int, ...]) -> str:
    return f"[{listed(int(i) for i in reference_unravel(dims, place))}]"
