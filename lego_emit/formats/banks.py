"""Memory in banks: the columns of a matrix, the rows of a DRAM bank, spread over all of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP
from ..algebra.labels import bits_of
from ..errors import LayoutError, LazyText, short_repr
from ..numeric import is_integer
from .entry import catalogue


@catalogue.entry(
    "banks.skewed",
    source="Budnik and Kuck, The Organization and Use of Parallel Memories, IEEE Trans. Computers (1971)",
    checked="",
    ragged="any size; rows and columns are without conflict where rows <= columns, the banks",
    rows=8,
    columns=8,
)
def skewed(rows: Any, columns: Any) -> Block:
    """Each row begins one place further to the right and goes round; an element's offset."""
    return GenP([rows, columns], partial(to_skewed, columns), partial(from_skewed, columns))


def to_skewed(columns: Any, row: Any, column: Any) -> Any:
    """Row by row, each turned by its number."""
    return row * columns + (row + column) % columns


def from_skewed(columns: Any, offset: Any) -> Any:
    """The row and the column of an element's offset, where each row is turned by its number."""
    row = offset // columns
    return row, (offset - row) % columns


@catalogue.entry(
    "dram.permutation",
    source="Zhang, Zhu and Zhang, A Permutation-based Page Interleaving Scheme, MICRO 2000",
    checked="ramulator's mappings/row_interleaving_randomized.map (bank bits 6 to 8 with 13 to 15)",
    ragged="refused: banks are a power of two; rows and columns are any",
    rows=16,
    banks=4,
    columns=4,
)
def permutation(rows: Any, banks: Any, columns: Any, bit: int = 0) -> Block:
    """The bits of the bank XORed with as many bits of the row; the position of (row, bank, column).

    The position is row-major in the row, the bank in the DRAM and the column. bit: the lowest bit of
    the row that is used, 4 in ramulator's map.
    """
    construct = LazyText('catalogue["dram.permutation"]({}, {}, ..)', rows, banks)
    bits_of(construct, "banks", banks)
    if not is_integer(bit) or not 0 <= bit < 64:
        raise LayoutError(
            f"{construct}: bit is {short_repr(bit)}; give the number of a bit of the row"
        )
    sizes = banks, columns, 1 << bit
    return GenP([rows, banks, columns], partial(to_bank, sizes), partial(from_bank, sizes))


def to_bank(sizes: tuple[Any, ...], row: Any, bank: Any, column: Any) -> Any:
    """The place in the DRAM."""
    banks, columns, unit = sizes
    return (row * banks + (bank ^ row // unit % banks)) * columns + column


def from_bank(sizes: tuple[Any, ...], place: Any) -> Any:
    """Back: an exclusive or undoes itself."""
    banks, columns, unit = sizes
    rest, column = divmod(place, columns)
    row, bank = divmod(rest, banks)
    return row, bank ^ row // unit % banks, column
