"""Triton's orders of program ids."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..algebra.block import Block
from ..algebra.genp import GenP
from .entry import catalogue


@catalogue.entry(
    "triton.grouped",
    source="Triton, python/tutorials/03-matrix-multiplication.py (GROUP_SIZE_M)",
    checked="the tutorial's own lines for pid_m and pid_n",
    ragged="any size: the last group has the rows that are left, the tutorial's min()",
    rows=7,
    columns=4,
    group=3,
)
def grouped(rows: Any, columns: Any, group: Any) -> Block:
    """Groups of rows of tiles, each column by column; the program id of (pid_m, pid_n)."""
    sizes = rows, columns, group
    return GenP([rows, columns], partial(to_pid, sizes), partial(from_pid, sizes), sizes=[group])


def to_pid(sizes: tuple[Any, ...], m: Any, n: Any) -> Any:
    """The program id of the tile at row m and column n; all groups before its own are whole."""
    rows, columns, group = sizes
    first = m // group * group
    return first * columns + n * min(rows - first, group) + m - first


def from_pid(sizes: tuple[Any, ...], pid: Any) -> Any:
    """The row and the column of the tile that a program id computes, in groups of rows."""
    rows, columns, group = sizes
    row = pid // columns
    first = row // group * group
    n, m = divmod(pid - first * columns, min(rows - row + row % group, group))
    return first + m, n
