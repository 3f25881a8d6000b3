"""Ragged: blocks of different lengths one after the other, given by where each ends."""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from ..algebra.lookup import Lookup
from ..algebra.perms import Row
from ..errors import IndexRangeError, LayoutError, a_type, short_repr
from ..numeric import as_integer, is_symbolic
from ..table_lookup import Entries
from ..types import Array
from .bundle import Bundle
from .loops import fori_loop
from .trace import running_trace

MOST = 4096  # blocks of a constant table
FEW = 8  # blocks up to which the ends are compared without a loop
OWN = ("blocks", "block", "k", "flat")  # parameters beside the ends
CHECKED = 2**20  # positions


class Ragged(Bundle):
    """Blocks of different lengths one after the other: rows of a sparse matrix, sequences of a batch.

    ends: where each block ends, so that block b has the positions ends[b - 1] .. ends[b] - 1, from 0 on: integers of
    at least 0 in ascending order, or the name of an array parameter, "ends", that has them when the program runs. A
    block may be empty.

    generate(Ragged(ends), target, name="rows") gives two functions. `rows_apply(block, k)` is the position of the k-th
    element of a block, and `rows_inv(flat)` the block and k of a position, by binary search; it skips empty blocks, as
    NumPy's `searchsorted(ends, flat, side="right")` does. With a name both take the number of blocks and the array
    first: `rows_apply(blocks, ends, block, k)`. On integers apply() and inv() answer themselves, where the ends are
    numbers; in a function that is followed they take symbols.

        >>> from lego_emit import Ragged
        >>> rows = Ragged([3, 3, 7])
        >>> rows.apply(2, 1), rows.inv(4), rows.inv(2)
        (4, (2, 1), (0, 2))

    Raises LayoutError for ends that are not sorted, below 0 or no integers, for no blocks, and for blocks without any
    element; IndexRangeError for an index or a position that there is not.
    """

    unit = "ragged"

    def __init__(self, ends: Iterable[int] | str):
        self.name = ""
        self.ends: tuple[int, ...] = ()
        if isinstance(ends, str):
            if not ends.isidentifier() or ends in OWN:
                raise LayoutError(
                    f"Ragged: {short_repr(ends)} is no name for the array of ends; write one such as 'ends', beside "
                    f"{', '.join(OWN)}"
                )
            self.name = ends
            return
        try:
            found = [None if isinstance(n, bool) else as_integer(n) for n in ends]
        except TypeError:
            found = [None]
        if None in found:
            raise LayoutError(
                f"Ragged: ends is {short_repr(ends)}, {a_type(ends)}; give integers such as [3, 3, 7], or a name"
            )
        self.ends = tuple(n for n in found if n is not None)
        for k, (one, other) in enumerate(zip((0, *self.ends), self.ends, strict=False)):
            if other < one:
                said = f"below ends[{k - 1}], which is {one}" if k else "below 0"
                raise LayoutError(
                    f"Ragged: ends[{k}] is {other}, {said}; give them in ascending order"
                )
        if not self.ends or not self.ends[-1]:
            what = "every block is empty" if self.ends else "there are no blocks"
            raise LayoutError(f"Ragged: {what}, so that there is no position")

    def __repr__(self) -> str:
        return f"Ragged({self.name!r})" if self.name else f"Ragged({short_repr([*self.ends])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ragged) and (self.name, self.ends) == (other.name, other.ends)

    def __hash__(self) -> int:
        return hash((Ragged, self.name, self.ends))

    # -- on integers ---------------------------------------------------------------------------

    def apply(self, block: Any, k: Any) -> Any:
        """The position of the k-th element of a block."""
        ends = self._numbers("apply")
        if is_symbolic(block) or is_symbolic(k):
            lengths = [b - a for a, b in zip((0, *ends), ends, strict=False)]
            at = self.own()["apply"](Row(len(ends)).apply(block), Row(max(lengths)).apply(k))
            if min(lengths) < max(lengths) and (trace := running_trace()) is not None:
                known = Lookup([len(ends)], lengths, many=True)
                known.entries = Entries("lengths", known.entries.values)
                trace.coordinate(k, known.apply(block))
            return at
        b, i = _integer("block", block), _integer("k", k)
        if not 0 <= b < len(ends):
            raise IndexRangeError(f"Ragged: block is {b}, and there are {len(ends)} blocks")
        first = ends[b - 1] if b else 0
        if not 0 <= i < ends[b] - first:
            raise IndexRangeError(f"Ragged: k is {i}, and block {b} has {ends[b] - first} elements")
        return first + i

    def inv(self, flat: Any) -> tuple[Any, Any]:
        """(the block, k) of a position."""
        ends = self._numbers("inv")
        if is_symbolic(flat):
            return self.own()["inv"](Row(ends[-1]).apply(flat))
        at = _integer("flat", flat)
        if not 0 <= at < ends[-1]:
            raise IndexRangeError(f"Ragged: flat is {at}, and there are {ends[-1]} positions")
        block = bisect_right(ends, at)
        return block, at - (ends[block - 1] if block else 0)

    def check(self) -> str:
        """Check at every position, at most 2^20 of them, that inv undoes apply, both ways; a line that says so."""
        ends, first = self._numbers("check"), 0
        if ends[-1] > CHECKED:
            raise LayoutError(
                f"Ragged: {ends[-1]} positions are too many to check, {CHECKED} at most"
            )
        for block, end in enumerate(ends):
            for k in range(end - first):
                flat = self.apply(block, k)
                if flat != first + k or self.inv(flat) != (block, k):
                    raise LayoutError(
                        f"Ragged: apply({block}, {k}) is {flat}, inv {self.inv(flat)}"
                    )
            first = end
        return f"{len(ends)} blocks, {ends[-1]} positions: inv undoes apply"

    def _numbers(self, method: str) -> tuple[int, ...]:
        if self.name:
            raise LayoutError(
                f"Ragged({self.name!r}): the ends are known when the program runs; give Ragged the numbers to "
                f"{'check them' if method == 'check' else f'evaluate {method}'}"
            )
        return self.ends

    # -- what is emitted -----------------------------------------------------------------------

    def own(self) -> dict[str, Callable[..., Any]]:
        """The functions, of a constant table or of an array."""
        found = self._of_array() if self.name else self._of_table()
        found["inv"].outputs = "block", "k"  # type: ignore[attr-defined]
        return found

    def _of_table(self) -> dict[str, Callable[..., Any]]:
        ends = self.ends
        blocks, lengths = len(ends), [b - a for a, b in zip((0, *ends), ends, strict=False)]
        if blocks > MOST:
            raise LayoutError(
                f"Ragged: {blocks} blocks, and a file holds a table of at most {MOST}; name an array that has them "
                "when the program runs, Ragged('ends')"
            )
        starts = Lookup([blocks], [0, *ends[:-1]], many=True)
        starts.entries = Entries("starts", starts.entries.values)

        def apply(block, k):
            """The position of element k of a block.

            Args:
                k: below the number of elements of the block
            """
            return starts.apply(block) + k

        def inv(flat):
            """The block that a position is in, and k, its place in that block."""
            if blocks > FEW:
                rounds = (blocks - 1).bit_length()
                return _searched(starts.apply, flat, blocks - 1, rounds)
            block = sum((flat >= end) * 1 for end in ends[:-1])
            return block, flat - starts.apply(block)

        apply.ranges = {"block": (0, blocks), "k": (0, max(lengths))}  # type: ignore[attr-defined]
        inv.ranges = {"flat": (0, ends[-1])}  # type: ignore[attr-defined]
        return {"apply": apply, "inv": inv}

    def _of_array(self) -> dict[str, Callable[..., Any]]:
        def apply(blocks, ends, block, k):
            return (ends[block - 1] if block > 0 else 0) + k

        def inv(blocks, ends, flat):
            return _searched(lambda b: ends[b - 1], flat, blocks - 1, 64)

        told = f"\n\nArgs:\n    blocks: how many blocks there are\n    {self.name}: one past the last position of each "
        told += "block, in ascending order\n    "
        apply.__doc__ = f"The position of element k of a block.{told}k: below the number of elements of the block"
        inv.__doc__ = f"The block that a position is in, and k, its place in that block.{told}flat: below the last of the ends"
        more = {"apply": {"block": (0, "blocks"), "k": (0, None)}, "inv": {"flat": (0, None)}}
        found = {"apply": apply, "inv": inv}
        for key, fn in found.items():
            names = ["blocks", self.name, *more[key]]
            own = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
            fn.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
            fn.__annotations__ = {self.name: Array[...]}
            fn.ranges = {"blocks": (1, None), self.name: (0, None), **more[key]}  # type: ignore[attr-defined]
        return found


def _searched(start: Callable[[Any], Any], flat: Any, last: Any, rounds: int) -> tuple[Any, Any]:
    """(the last block whose start is not above a position, k in it). start: of every block but the first one."""

    def halve(turn, state):
        low, high, first = state
        middle = (low + high + 1) // 2
        found = start(middle)
        return (middle, high, found) if found <= flat else (low, middle - 1, first)

    def ordered(turn, state):
        low, high, _ = state
        return [low >= 0, low <= high, high <= last]

    low, _, first = fori_loop(
        0,
        rounds,
        halve,
        (0, last, 0),
        rounds,
        while_=lambda turn, s: s[0] < s[1],
        invariant=ordered,
    )
    return low, flat - first


def _integer(name: str, given: Any) -> int:
    number = None if isinstance(given, bool) else as_integer(given)
    if number is None:
        raise LayoutError(f"Ragged: {name} is {short_repr(given)}; give an integer")
    return number
