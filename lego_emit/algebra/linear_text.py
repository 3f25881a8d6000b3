"""A layout over F2 in words: its bases, its matrix with labels, its cycles or its kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .labels import Dims, starts, values_of, width_of


class Matrix(Protocol):
    """What a layout over F2 has for its text."""

    @property
    def ins(self) -> Dims:
        """The inputs with their bits."""
        ...

    @property
    def outs(self) -> Dims:
        """The outputs with their bits."""
        ...

    @property
    def columns(self) -> tuple[int, ...]:
        """The images of the flat bits."""
        ...

    @property
    def start(self) -> int:
        """The image of zero."""
        ...

    @property
    def rank(self) -> int:
        """The dimension of the image."""
        ...

    def kernel(self) -> list[tuple[int, ...]]:
        """A basis of the kernel."""
        ...

    def free_variables(self) -> Mapping[str, int]:
        """For each input a mask of its free bits."""
        ...

    def broadcast(self) -> Mapping[str, int]:
        """For each input a mask of its zero columns."""
        ...


def explained(layout: Matrix) -> str:
    """The text of explain()."""
    high, wide, rank = width_of(layout.outs), len(layout.columns), layout.rank
    bases, matrix = _bases(layout), _matrix(layout) if wide and high else []
    parts = [
        [
            f"{_sizes(layout.ins)} -> {_sizes(layout.outs)}: "
            f"{_kind(rank, wide, high)}{' and affine' if layout.start else ''}"
        ],
        ["bases (where each bit goes):", *(bases or ["  none"])],
        ["matrix (input bits across, output bits down):", *(matrix or ["  none"])],
    ]
    if layout.start:
        parts.append([f"offset: {_point(layout.start, layout.outs)}"])
    if _permutes(layout):
        parts.append(["a permutation of bits; its cycles:", *_cycles(layout)])
    else:
        parts.append(_rank(layout, rank, high))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _kind(rank: int, wide: int, high: int) -> str:
    if rank == wide == high:
        return "a bijection"
    if rank == wide:
        return f"injective, it reaches {1 << rank} of {1 << high} outputs"
    if rank == high:
        return f"surjective, each output has {1 << wide - rank} inputs"
    return f"it reaches {1 << rank} of {1 << high} outputs, each of {1 << wide - rank} inputs"


def _sizes(dims: Dims) -> str:
    return ", ".join(f"{name} {1 << bits}" for name, bits in dims)


def _point(vector: int, dims: Dims) -> str:
    values = values_of(vector, dims)
    return ", ".join(f"{n}={v}" for (n, _), v in zip(dims, values, strict=True) if v) or "0"


def _bits(dims: Dims) -> list[str]:
    return [f"{name}.{k}" for name, bits in dims for k in range(bits)]


def _bases(layout: Matrix) -> list[str]:
    names = _bits(layout.ins)
    wide = max(map(len, names), default=0)
    return [
        f"  {name.ljust(wide)} -> {_point(column, layout.outs)}"
        for name, column in zip(names, layout.columns, strict=True)
    ]


def _matrix(layout: Matrix) -> list[str]:
    """Names over their bits, a group of columns for each; 0 as a dot."""
    rows = _bits(layout.outs)
    margin = max(map(len, rows), default=0)
    heads, groups = [], []
    for (name, bits), first in zip(layout.ins, starts(layout.ins), strict=True):
        if not bits:
            continue
        cells = [str(k).rjust(2) for k in range(bits)]
        wide = max(len(name), sum(map(len, cells)) + bits - 1)
        heads.append((name.ljust(wide), " ".join(cells).ljust(wide)))
        groups.append((first, bits, wide))
    lines = [" ".join(["  " + " " * margin, *(head[k] for head in heads)]) for k in (0, 1)]
    for r, row in enumerate(rows):
        parts = []
        for first, bits, wide in groups:
            ones = (layout.columns[first + k] >> r & 1 for k in range(bits))
            parts.append(" ".join(" 1" if one else " ." for one in ones).ljust(wide))
        lines.append(" ".join(["  " + row.rjust(margin), *parts]))
    return [line.rstrip() for line in lines]


def _permutes(layout: Matrix) -> bool:
    units = all(c and not c & c - 1 for c in layout.columns)
    return units and layout.rank == len(layout.columns) == width_of(layout.outs) > 0


def _cycles(layout: Matrix) -> list[str]:
    """Bits of inputs and of outputs are numbered alike, the first name's the lowest."""
    to = [c.bit_length() - 1 for c in layout.columns]
    ins, outs = _bits(layout.ins), _bits(layout.outs)
    cycles, fixed, seen = [], [], set()
    for k in range(len(to)):
        if k in seen:
            continue
        cycle = [k]
        while (following := to[cycle[-1]]) != k:
            cycle.append(following)
        seen.update(cycle)
        (fixed if len(cycle) == 1 else cycles).append(cycle)
    lines = []
    for cycle in cycles:
        moves = ", ".join(f"{ins[k]} -> {outs[to[k]]}" for k in cycle)
        lines.append(f"  ({' '.join(map(str, cycle))})  {moves}")
    if fixed:
        stay = ", ".join(f"{ins[k]} -> {outs[k]}" for (k,) in fixed)
        lines.append(f"  {' '.join(f'({k})' for (k,) in fixed)}  {stay}")
    return lines


def _rank(layout: Matrix, rank: int, high: int) -> list[str]:
    kernel = layout.kernel()
    said = [_named(x, layout.ins) for x in kernel]
    lines = [f"rank: {rank} of {len(layout.columns)} input bits and {high} output bits"]
    lines.append(f"kernel: {'; '.join(said) or 'zero alone'}")
    for what, masks in (
        ("free variables (their images follow from earlier bits')", layout.free_variables()),
        ("broadcast (bits that make no difference)", layout.broadcast()),
    ):
        found = [
            f"{n}.{k}"
            for n, mask in masks.items()
            for k in range(mask.bit_length())
            if mask >> k & 1
        ]
        lines.append(f"{what}: {', '.join(found) or 'none'}")
    return lines


def _named(values: Sequence[int], dims: Dims) -> str:
    return ", ".join(f"{n}={v}" for (n, _), v in zip(dims, values, strict=True) if v)
