"""What the functions of a unit must give.

The layout that was emitted by the reference evaluator, or the user's own function, called with plain
integers. Neither shares anything with what is emitted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from typing import Any

from ..algebra import reference as evaluator
from ..algebra.block import Block, is_packed
from ..algebra.reference import axes_at
from ..emit.unit import Unit
from ..errors import IndexRangeError, LegoError, VerifyError, error_text
from ..ir.program import Function
from ..packages import numpy as np
from ..run.space import Index, Space
from .called import called_at
from .exhaustive import fixed, symbols_of

EDGE = 1024  # first and last numbers that are always compared
CORNERS = 2**16
CALLS = 4096  # of a user's function on plain integers
FEW = 512  # of them, where the function takes arrays as well
SECONDS = 20  # after which no more calls are made


@dataclass(frozen=True)
class Expected:
    """What one function must give at some indices.

    index: the indices, in order of their numbers; None where nothing is known. wanted: an array for
    each result. note: what there is to say; wrong: what is wrong already. by: what was asked.
    """

    index: Index | None = None
    wanted: Sequence[np.ndarray] = ()
    note: str = ""
    wrong: str = ""
    by: str = "the reference evaluator"


def expected(
    unit: Unit,
    spaces: Mapping[str, Space],
    subject: Any,
    numbers: Mapping[str, int],
    samples: int,
    own: bool,
) -> list[Expected]:
    """For each function of the unit, what its reference gives. Needs no device.

    subject: a layout, or a function that returns one or indices. numbers: of its parameters, beside
    those of the spaces. own: it is what the unit was made of; a VerifyError is raised where another
    one cannot be evaluated, a note made where that one cannot.
    """
    found = []
    try:
        layout = _layout(unit, spaces, subject, numbers)
        for position, function in enumerate(unit.program.functions):
            space = spaces[function.name]
            if is_packed(subject):
                from ..trace.packed import Reference

                given = Reference(subject, function, numbers)
                found.append(_by_function(given, function, space, numbers, samples, own))
            elif layout is not None:
                found.append(_by_layout(layout, function, space, samples, inverse=position == 1))
            else:
                known = _by_function(subject, function, space, numbers, samples, own)
                by = getattr(subject, "by", "the Python function")
                found.append(replace(known, by=by))
    except LegoError as error:
        if not own:
            raise VerifyError(f"the reference {error}") from None
        missing = len(unit.program.functions) - len(found)
        found += [Expected(note=f"not compared: {error}")] * missing
    return found


# -- layouts -------------------------------------------------------------------------------------


def _layout(
    unit: Unit, spaces: Mapping[str, Space], subject: Any, numbers: Mapping[str, int]
) -> Block | None:
    """The layout of integer sizes that a unit was made of; None for an index function."""
    values = dict(numbers)
    for function in unit.program.functions:
        back = {new: old for old, new in function.renamed}
        values |= {back.get(n, n): v for n, v in spaces[function.name].fixed.items()}
    given = subject
    if is_packed(subject):
        return None
    if not isinstance(subject, Block):
        if any(function.axes for function in unit.program.functions):
            return None
        try:
            given = _called(subject, values, {})
        except VerifyError:  # an index function has more parameters
            return None
        if not isinstance(given, Block):
            return None
    return fixed(given, {n: values[n] for n in symbols_of(given) if n in values})


def _by_layout(
    layout: Block, function: Function, space: Space, samples: int, inverse: bool
) -> Expected:
    index = space.at(space.kept(numbers_of(space, samples)))
    known = index.named
    rank = len(layout.results or [0]) if inverse else len(layout.dims)
    indices = [p for p in function.params if p.axis]
    if len(indices) != rank:  # an index function beside a layout
        indices = [p for p in function.params if p.name not in space.fixed]
    if len(indices) != rank:
        raise VerifyError(
            f"{layout!r} has {rank} indices, and {function.name} runs over {len(indices)}"
        )
    zero = [known[p.name] - p.base for p in indices]
    try:
        wanted = layout.inv(*zero) if inverse else evaluator.apply(layout, zero)
    except IndexRangeError as error:
        return Expected(wrong=f"the header allows an index that the layout has not: {error}")
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    size = len(index.values[0]) if index.values else 1
    return Expected(
        index,
        [
            np.broadcast_to(np.where(np.equal(w, -1), masked, w + start), (size,))
            for w, start, masked in zip(wanted, function.starts, function.masked_bits, strict=True)
        ],
    )


# -- functions -----------------------------------------------------------------------------------


def _by_function(
    subject: Any,
    function: Function,
    space: Space,
    numbers: Mapping[str, int],
    samples: int,
    own: bool,
) -> Expected:
    """By arrays, which is many times faster, where the function takes them and they agree with
    plain integers at some indices; else by plain integers alone."""
    plain = _Plain(subject, function, space, numbers)
    many = space.kept(numbers_of(space, samples))
    if not len(many):
        return Expected(note="not compared: no index meets the assumptions")
    arrays = plain.arrays(many)
    rows: dict[int, list[int]] = {}
    failed = []
    chosen = few(space, many, CALLS)
    stop = time.monotonic() + SECONDS
    for number in chosen:
        try:
            rows[number] = plain.at(number)
        except VerifyError as error:
            if not own:
                raise
            failed.append(error)
        late = time.monotonic() > stop
        if late or (len(rows) == FEW and arrays is not None and _agree(arrays, many, rows)):
            break
    if not rows:
        return Expected(note=f"not compared: {failed[0]}")
    outside = [e for e in failed if isinstance(e.__cause__, IndexRangeError)]
    if outside and space.readable:
        return Expected(wrong=f"the header allows an index that the layout has not: {outside[0]}")
    note = ""
    if failed:
        calls = len(rows) + len(failed)
        note = f"{len(failed):,} of {calls:,} calls of it failed, such as {failed[0]}"
    if arrays is not None and _agree(arrays, many, rows):
        return Expected(space.at(many), arrays, note)
    column = np.array(sorted(rows), np.int64)
    wanted = [
        _integers([rows[n][k] for n in column.tolist()]) for k in range(len(function.outputs))
    ]
    return Expected(space.at(column), wanted, note)


def _agree(arrays: Sequence[np.ndarray], numbers: np.ndarray, rows: dict[int, list[int]]) -> bool:
    """Whether arrays gave what plain integers give, where those were tried: arrays overflow."""
    at = np.searchsorted(numbers, list(rows))
    return all(
        array[at].tolist() == [row[k] for row in rows.values()] for k, array in enumerate(arrays)
    )


def _integers(values: list[int]) -> np.ndarray:
    try:
        return np.array(values, np.int64)
    except OverflowError:
        if 0 <= min(values) and max(values) < 2**64:  # as an int64 has them, which a run gives
            return np.array(values, np.uint64).astype(np.int64)
        return np.array(values, object)


class _Plain:
    """A user's function on integers, or on arrays of them, in the emitted function's terms."""

    def __init__(
        self, subject: Any, function: Function, space: Space, numbers: Mapping[str, int]
    ) -> None:
        self.subject, self.function, self.space, self.numbers = subject, function, space, numbers
        self._back = {new: old for old, new in function.renamed}
        self._starts = {p.name: p.base for p in function.params}
        self._colons = [name for name, _ in function.axes]

    def at(self, number: int) -> list[int]:
        """The results at an index. Raises VerifyError where there are none."""
        found = self._results(self.space.at(number))
        values = [np.asarray(v) for v in found]
        for v, value in zip(values, found, strict=True):
            if v.shape or not (v.dtype.kind in "iub" or isinstance(value, int)):
                raise VerifyError(f"{_name(self.subject)} gives {value!r}, which is not an integer")
        return [int(v) + s for v, s in zip(found, self.function.starts, strict=True)]

    def arrays(self, numbers: np.ndarray) -> list[np.ndarray] | None:
        """The results at many indices at once; None where the function does not take arrays."""
        try:
            with np.errstate(all="raise"):
                found = [np.asarray(v) for v in self._results(self.space.at(numbers))]
            if any(v.dtype.kind not in "iub" for v in found):
                return None
            return [
                np.broadcast_to(v, numbers.shape).astype(np.int64) + start
                for v, start in zip(found, self.function.starts, strict=True)
            ]
        except (VerifyError, ValueError):
            return None

    def _results(self, index: Index) -> list[Any]:
        known = {name: value - self._starts[name] for name, value in index.named.items()}
        colons = [known.pop(name) for name in self._colons]
        running = {a.name for a in self.space.axes}
        named = {self._back.get(n, n): v for n, v in known.items()}
        shown = {self._back.get(n, n) for n in running}
        values = {**self.numbers, **{n: v for n, v in named.items() if n not in shown}}
        with axes_at(colons):
            result = _called(self.subject, values, {n: v for n, v in named.items() if n in shown})
        found = list(result.values()) if isinstance(result, Mapping) else result
        found = list(found) if isinstance(found, tuple | list) else [found]
        if len(found) != len(self.function.outputs):
            raise VerifyError(
                f"{_name(self.subject)} gives {len(found)} results where "
                f"{len(self.function.outputs)} were emitted"
            )
        return found


def _called(subject: Any, values: Mapping[str, int], point: Mapping[str, Any]) -> Any:
    """The user's function on integers or arrays; names that nobody defined are the values' and the
    point's. Raises VerifyError, from what it raises."""
    name = _name(subject)
    return called_at(subject, values, point, f"{name}: {name}", partial(_said, name), VerifyError)


def _said(name: str, error: BaseException) -> str:
    """An exception in one line."""
    if isinstance(error, SystemExit):
        return f"{name}: the file ends the program (SystemExit: {error.code})"
    text = error_text(error)
    return f"{name}: {type(error).__name__}{f': {text}' if text else ''}"


def _name(subject: Any) -> str:
    return getattr(subject, "__name__", type(subject).__name__)


# -- the indices that are compared ---------------------------------------------------------------


def numbers_of(space: Space, samples: int) -> np.ndarray:
    """The numbers that are compared: all where they are few, else corners, both ends and random
    ones, always the same."""
    total = space.total
    if total <= samples:
        return np.arange(total)
    edges = np.concatenate([np.arange(min(EDGE, total)), np.arange(max(0, total - EDGE), total)])
    drawn = np.random.default_rng(0).integers(0, total, samples)
    corners = np.array(list(islice(_corners(space), CORNERS)), np.int64)
    return np.unique(np.concatenate([corners, edges, drawn]))


def _corners(space: Space) -> Iterator[int]:
    ends = [[0, 1, a.count - 2, a.count - 1] for a in space.axes]
    if 4 ** len(ends) > CORNERS:
        ends = [[0, a.count - 1] for a in space.axes]
    choices = (
        sorted({e * stride for e in end if 0 <= e < a.count})
        for end, a, stride in zip(ends, space.axes, space.strides, strict=True)
    )
    return map(sum, product(*choices))


def few(space: Space, numbers: np.ndarray, count: int) -> list[int]:
    """So many of the numbers, corners first, then a random choice, always the same."""
    if len(numbers) <= count:
        return numbers.tolist()
    corners = np.array(list(islice(_corners(space), count // 2)), np.int64)
    corners = corners[np.isin(corners, numbers)]
    drawn = np.random.default_rng(0).permutation(numbers)[:count].tolist()
    return list(dict.fromkeys([*corners.tolist(), *drawn]))[:count]
