"""Slices of layouts in a template, A["pm, pn, :, :"], and what is proven of their positions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import TemplateError, short_repr
from .texts import filled
from .values import MOST, Kernel, Value

OTHER = re.compile(r"[?(\[{]|\w\s*::")  # a colon of the kernel's language
VECTOR = re.compile(r"([^\W\d]\w*)\s*\[\s*:\s*\]")
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)")  # the same number in every language: C's 010 is 8


class Axis:
    """A ':' among the indices. size: of ':8', the 8; None of ':', which is the whole axis. vector: of 'row[:]', the
    name of the kernel's own vector of indices."""

    def __init__(self, size: Any = None, vector: str = ""):
        self.size, self.vector = size, vector


class PerAxis(tuple):
    """A number for each ':', as Triton's hints take them."""

    def __str__(self) -> str:
        return f"({', '.join(map(str, self))})"


def parts_of(indices: Sequence[Any]) -> list[Any]:
    """The indices, with an Axis for each ':'; one text may hold all of them."""
    if len(indices) == 1 and isinstance(text := indices[0], str):
        ends = [m.start() for m in re.finditer(",", filled(text))]
        parts = zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)
        indices = [text[start:end].strip() for start, end in parts]
    return [_part(one) for one in indices]


def _part(index: Any) -> Any:
    if not isinstance(index, str):
        return index
    if DECIMAL.fullmatch(index.strip()):
        return int(index)
    if named := VECTOR.fullmatch(index.strip()):
        return Axis(vector=named[1])
    start, colon, stop = index.partition(":")
    if not colon or OTHER.search(index):
        return index
    if start.strip() not in ("", "0") or ":" in stop:
        raise TemplateError(
            f"the slice {short_repr(index)}: write ':' for all of an axis, or ':8' for 8 indices from 0 on"
        )
    stop = stop.strip()
    return Axis(int(stop) if DECIMAL.fullmatch(stop) else stop or None)


def values_of_parts(kernel: Kernel, parts: Sequence[Any], sizes: Sequence[Value]) -> list[Value]:
    """Values in place of the parts; sizes: of the axes."""
    axes = [k for k, part in enumerate(parts) if isinstance(part, Axis)]
    found = []
    for k, part in enumerate(parts):
        if isinstance(part, Axis):
            size = sizes[k] if part.size is None else kernel.value(part.size)
            place = axes.index(k), len(axes)
            part = kernel.block(size, *place, part.size is None, part.vector)
        found.append(kernel.value(part))
    return found


class Hints:
    """What is proven of the positions at parts of an index. at: the position of indices."""

    def __init__(
        self,
        kernel: Kernel,
        at: Callable[..., Value],
        parts: Sequence[Any],
        sizes: Sequence[Value],
    ):
        self.kernel, self.at = kernel, at
        self.axes = [k for k, part in enumerate(parts) if isinstance(part, Axis)]
        self.sizes = {
            k: sizes[k] if parts[k].size is None else kernel.value(parts[k].size) for k in self.axes
        }
        self.vectors = {k for k in self.axes if parts[k].vector}
        self.free = {k: kernel.unknown(f"index_{k}", self.sizes[k]) for k in self.axes}
        self.parts = [self.free.get(k, part) for k, part in enumerate(parts)]

    def alignment(self) -> Any:
        """The greatest power of two that divides the position; with ':' for each of them, where its
        runs of contiguous positions begin."""
        if not self.axes:
            return self._at({}).alignment()
        return self._per_axis(lambda k: self._at(self._starts(k)).alignment())

    def contiguity(self) -> Any:
        """How many positions follow one another along each ':': its size, or a power of two."""
        if not self.axes:
            raise TemplateError("contiguity() is of a slice: give it a ':', as in 'i, :'")
        return self._per_axis(self._run)

    def _per_axis(self, compute: Callable[[int], Any]) -> Any:
        found = PerAxis(compute(k) for k in self.axes)
        return found if len(found) > 1 else found[0]

    def _starts(self, axis: int) -> dict[int, Any]:
        """The indices at which the runs along an axis begin."""
        run = self._run(axis)
        if isinstance(run, Value):
            return {axis: 0}
        return {} if run == 1 else {axis: self._part(axis, run) * run}

    def _run(self, axis: int) -> Any:
        if axis in self.vectors:
            return 1
        size, free = self.sizes[axis], self.free[axis]
        if self.kernel.is_zero(self._at({axis: free}) - self._at({axis: 0}) - free):
            return size
        found = 1
        while found < MOST and self._runs(axis, 2 * found):
            found *= 2
        return found

    def _runs(self, axis: int, length: int) -> bool:
        """Whether the size is a multiple of a length, and positions within that follow another."""
        if not self.kernel.is_zero(self.sizes[axis] % length):
            return False
        start = self._part(axis, length) * length
        place = self.kernel.unknown(f"place_{length}", length)
        difference = self._at({axis: start + place}) - self._at({axis: start})
        return self.kernel.is_zero(difference - place)

    def _part(self, axis: int, length: int) -> Value:
        return self.kernel.unknown(f"part_{axis}_{length}", self.sizes[axis] // length)

    def _at(self, indices: dict[int, Any]) -> Value:
        return self.at(*(indices.get(k, part) for k, part in enumerate(self.parts)))
