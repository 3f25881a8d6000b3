"""How Rust spells kernels of copies, without unsafe code.

The rows of a block lie one after another in an array, and a perfect shuffle, which takes elements of the array's two halves
by turns, moves a bit of the row's number into that of the column: 16 x 16 elements are transposed by four of them. Compilers
make vectors of such a loop, which they don't of moves between registers that are 8 or 16 arrays. Few elements, of 4 or
8 bytes, are taken by turns from arrays that stay in registers, and other kernels name each element.

Reference: H. S. Stone, Parallel Processing with the Perfect Shuffle, IEEE Trans. Comput. C-20 (1971).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lego_emit.emit.nests import BITWISE, NestLines, rows, spelled
from lego_emit.emit.nests import VALUES as C_VALUES
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import (
    BUFFER,
    DESTINATION,
    ENTRIES,
    SOURCE,
    VALUE,
    Apply,
    Kernel,
    Let,
    Ref,
    plus,
)
from lego_emit.ir.nodes import Node, const, made, var
from lego_emit.printers import rust_layout
from lego_emit.printers.copy_kernels import kernels_said
from lego_emit.printers.rust_layout import END, LIST, WIDTH
from lego_emit.printers.rust_lints import allowed

CHAIN = 60  # columns of calls that rustfmt leaves on a line
LONG = 96  # elements of a block, whose loops compilers make vectors of and don't unroll
MOST_LINES = 96  # of a body, beside the lines that check the slices

# What kernels call.
HELPERS = {
    "load": """
#[inline]
fn NAME_load<T: Copy, const K: usize>(at: &[T]) -> [T; K] {
    let mut lanes = [at[0]; K];
    lanes.copy_from_slice(&at[..K]);
    lanes
}
""",
    "zip": """
/// Elements of two arrays by turns.
#[inline]
fn NAME_zip<T: Copy, const K: usize>(x: [T; K], y: [T; K]) -> [[T; 2]; K] {
    let mut both = [[x[0]; 2]; K];
    for (to, (x, y)) in both.iter_mut().zip(x.iter().zip(&y)) {
        *to = [*x, *y];
    }
    both
}
""",
    "shuffle": """
/// Elements of an array's two halves by turns.
#[inline]
fn NAME_shuffle<T: Copy, const N: usize>(of: &[T; N], to: &mut [T; N]) {
    let (x, y) = of.split_at(N / 2);
    for (to, (x, y)) in to.chunks_exact_mut(2).zip(x.iter().zip(y)) {
        to[0] = *x;
        to[1] = *y;
    }
}
""",
}


class KernelsInRust(NestLines):
    """Kernels on arrays, and what is made of an element."""

    generic, p = "<T: Copy>", ""
    kernels: list[Kernel]

    def _place(self, ref: Ref, count: Node, stem: str) -> tuple[list[Let], str]:
        """What names an offset that is no name itself, and the element or the slice of so many."""
        offset, lets = ref.offset, list[Let]()
        if offset.args and count != const(1):
            lets = [Let(stem, offset)]
            offset = var(stem)
        if count == const(1):
            return lets, f"{ref.array}[{self.text(offset)}]"
        start = "" if offset == const(0) else self.text(offset)
        end = self.text(count if offset == const(0) else sum_of(offset, count))
        return lets, f"{ref.array}[{start}..{end}]"

    def apply(self, s: Apply, indent: int) -> list[str]:
        """A call of the kernel's function."""
        at = self.kernels.index(s.kernel)
        own, other = self._strides(s.kernel)
        given = [self._from(s.of, "&"), self._from(s.to, "&mut ")]
        given += [self.text(s.of_strides[k]) for k in own]
        given += [self.text(s.to_strides[k]) for k in other]
        name = f"{self.p}block{at or ''}"
        line = f"{' ' * indent}{name}({', '.join(given)});"
        if len(", ".join(given)) <= rust_layout.LIST_WIDTH and len(line) <= WIDTH:
            return [line]
        pad = " " * indent
        before = [Let("src_at", s.of.offset), Let("dst_at", s.to.offset)]
        given[:2] = [f"&{s.of.array}[src_at..]", f"&mut {s.to.array}[dst_at..]"]
        found, line = self.lines(before, indent), f"{pad}{name}({', '.join(given)});"
        if len(line) > WIDTH or len(", ".join(given)) > rust_layout.LIST_WIDTH:
            return [*found, f"{pad}{name}(", *(f"{pad}    {one}," for one in given), f"{pad});"]
        return [*found, line]

    def _from(self, ref: Ref, borrow: str) -> str:
        if ref.offset == const(0):
            return ref.array if ref.array != BUFFER else f"{borrow}{BUFFER}"
        return f"{borrow}{ref.array}[{self.text(ref.offset)}..]"

    def _strides(self, kernel: Kernel) -> list[list[int]]:
        return [
            [k for k in range(len(kernel.block)) if any(index[k] for index, _ in places)]
            for places in (kernel.loads, kernel.stores)
        ]

    def _changed(self, of: str) -> str:
        """What is made of an element of the source."""
        return of if self.routine.value is None else f"{self.p}value({of})"

    def _value(self) -> list[str]:
        """The function of what is made of an element."""
        value, T = self.routine.value, self.type
        if value is None:
            return []
        if value.op == ENTRIES:
            name = f"{self.routine.name.rstrip('_')}_values".upper()
            return [
                "",
                "/// What is made of each byte.",
                "#[rustfmt::skip]",
                f"const {name}: [u8; 256] = [",
                *rows(value.value, 4),
                "];",
                "",
                "/// What is made of an element.",
                f"const fn {self.p}value({VALUE}: u8) -> u8 {{",
                f"    {name}[{VALUE} as usize]",
                "}",
            ]
        text = f"    {spelled(value, VALUES, partial(_literal, T))}"
        return [
            "",
            "/// What is made of an element.",
            *(["#[rustfmt::skip]"] if len(text) > CHAIN else []),
            f"const fn {self.p}value({VALUE}: {T}) -> {T} {{",
            text,
            "}",
        ]

    def helpers(self) -> list[str]:
        """The functions of kernels, and of what is made of an element."""
        found: list[str] = []
        for at, kernel in enumerate(self.kernels):
            found += ["", *([] if at else kernels_said(self)), *self._kernel(at, kernel)]
        text = "\n".join(found)
        own = [item for name, item in HELPERS.items() if f"{self.p}{name}(" in text]
        return [*self._value(), *"".join(own).replace("NAME_", self.p).split("\n")[:-1], *found]

    def _kernel(self, at: int, kernel: Kernel) -> list[str]:
        own, other = self._strides(kernel)
        strides = [*(f"a{k}" for k in own), *(f"b{k}" for k in other)]
        T = self.type
        parameters = [f"src: &[{T}]", f"dst: &mut [{T}]", *(f"{n}: usize" for n in strides)]
        head = f"fn {self.p}block{at or ''}{self.generic}"
        found = rust_layout.head(head, parameters, "").split("\n")
        loads = [self._offset(place, "a", own) for place in kernel.loads]
        stores = [self._offset(place, "b", other) for place in kernel.stores]
        shuffled, count = kernel.shuffled, len(loads)
        is_long = count * kernel.lanes >= LONG
        if shuffled is not None and (is_long or count == kernel.lanes or shuffled[2] < 0):
            *orders, rounds = shuffled
            loads, stores = (
                [some[k] for k in order]
                for some, order in zip((loads, stores), orders, strict=True)
            )
            if rounds < 0:
                found += self._packed(kernel, loads, stores)
            elif is_long:
                found += self._shuffles(kernel, loads, stores, rounds)
            else:
                found += self._zips(kernel, loads, stores)
        else:
            found += self._registers(loads, kernel.lanes)
            loaded = [[f"x{k}[{lane}]" for lane in range(kernel.lanes)] for k in range(count)]
            for offset, lanes in zip(stores, kernel.run(loaded), strict=True):
                array = rust_layout.parse(f"[{LIST}{BREAK.join(map(str, lanes))}{END}]")
                found.append(f"    {rust_layout.binding('let lanes =', array, 4)}")
                found += self._stored(offset, kernel.lanes, "&lanes")
        marks = [*allowed("", strides, len(parameters), False), "#[inline]"]
        if sum(text.count("\n") + 1 for text in found) > MOST_LINES:
            marks.insert(0, "#[allow(clippy::too_many_lines)]")
        return [*marks, *found, "}"]

    def _registers(self, loads: Sequence[Node], lanes: int) -> list[str]:
        """What loads so many neighbors from each place."""
        change = "" if self.routine.value is None else f".map({self.p}value)"
        own = [self._from(Ref(SOURCE, offset), "&") for offset in loads]
        T = f"[{self.type}; {lanes}]"
        return [f"    let x{k}: {T} = {self.p}load({of}){change};" for k, of in enumerate(own)]

    def _stored(self, offset: Node, count: int, of: str) -> list[str]:
        """What writes an array to a place."""
        _, to = self._place(Ref(DESTINATION, offset), const(count), "")
        lets: list[str] = []
        if offset.args:
            lets, to = self.lines((Let("at", offset),), 4), f"{DESTINATION}[at..at + {count}]"
        return [*lets, f"    {to}.copy_from_slice({of});"]

    def _zips(self, kernel: Kernel, loads: Sequence[Node], stores: Sequence[Node]) -> list[str]:
        """Two registers made one by turns, until one is left."""
        found, count = self._registers(loads, kernel.lanes), len(loads)
        names, of = [f"x{k}" for k in range(count)], [f"v{k}" for k in range(count)]
        while len(names) > 1:
            pairs = [*zip(names[::2], names[1::2], strict=True)]
            of = [f"[{x}, {y}]" for x, y in zip(of[::2], of[1::2], strict=True)]
            names = [f"x{len(found) + k}" for k in range(len(pairs))]
            found += [
                f"    let {name} = {self.p}zip({x}, {y});"
                for name, (x, y) in zip(names, pairs, strict=True)
            ]
        values = f"&[{', '.join(f'v{k}' for k in range(count))}]"
        if stride := _stride(stores):
            return [
                *found,
                f"    for (k, &{of[0]}) in {names[0]}.iter().enumerate() {{",
                f"        dst[k * {stride}..][..{count}].copy_from_slice({values});",
                "    }",
            ]
        for k, offset in enumerate(stores):
            found.append(f"    let {of[0]} = {names[0]}[{k}];")
            found += self._stored(offset, count, values)
        return found

    def _packed(self, kernel: Kernel, loads: Sequence[Node], stores: Sequence[Node]) -> list[str]:
        """Fields put side by side, element by element, of which compilers make better code than of shuffles' inverses."""
        own, ((offset, _, end),) = _joined(loads, kernel.lanes), _joined(stores, kernel.lanes)
        count = own[0][2]
        found = self._registers([offset for offset, _, _ in own], count)
        values = ", ".join(f"x{k}[k]" for k in range(len(own)))
        to = DESTINATION if offset == const(0) else f"{DESTINATION}[{self.text(offset)}..]"
        return [
            *found,
            f"    for (k, to) in {to}[..{end}].chunks_exact_mut({len(own)}).enumerate() {{",
            f"        to.copy_from_slice(&[{values}]);",
            "    }",
        ]

    def _shuffles(
        self, kernel: Kernel, loads: Sequence[Node], stores: Sequence[Node], rounds: int
    ) -> list[str]:
        """All lanes in an array, and perfect shuffles from one to another."""
        lanes, count = kernel.lanes, len(loads)
        found = [f"    let mut x = [src[0]; {lanes * count}];", "    let mut y = x;"]
        if stride := _stride(loads):
            found += [
                f"    for (k, row) in x.chunks_exact_mut({lanes}).enumerate() {{",
                f"        row.copy_from_slice(&src[k * {stride}..][..{lanes}]);",
                "    }",
            ]
        else:
            for offset, start, end in _joined(loads, lanes):
                of = f"src[{self.text(offset)}..]" if offset != const(0) else "src"
                to = f"x[{start}..{end}]" if end - start < lanes * count else "x"
                found.append(f"    {to}.copy_from_slice(&{of}[..{end - start}]);")
        if self.routine.value is not None:
            found += ["    for v in &mut x {", f"        *v = {self.p}value(*v);", "    }"]
        x, y = "x", "y"
        for _ in range(rounds):
            found.append(f"    {self.p}shuffle(&{x}, &mut {y});")
            x, y = y, x
        if stride := _stride(stores):
            return [
                *found,
                f"    for (k, row) in {x}.chunks_exact({lanes}).enumerate() {{",
                f"        dst[k * {stride}..][..{lanes}].copy_from_slice(row);",
                "    }",
            ]
        for offset, start, end in _joined(stores, lanes):
            of = f"&{x}[{start}..{end}]" if end - start < lanes * count else f"&{x}"
            found += self._stored(offset, end - start, of)
        return found

    def _offset(self, place: Any, stem: str, strides: list[int]) -> Node:
        index, beyond = place
        found = const(0)
        for k in strides:
            if index[k]:
                term = var(f"{stem}{k}")
                term = term if index[k] == 1 else made("mul", index[k], term)
                found = term if found == const(0) else made("add", found, term)
        return const(beyond) if found == const(0) else plus(found, beyond)


# How an operation on an element is spelled.
VALUES = {
    **C_VALUES,
    **{op: f"{{0}}.wrapping_{op}({{1}})" for op in ("add", "sub", "mul")},
    "not": "!{0}",
}


def _literal(T: str, value: int, op: str, at: int) -> str:
    """A number, with its type where a method may be called of it."""
    text = f"0x{value:_x}" if op in BITWISE and value > 9 else f"{value:_}"
    return f"{text}_{T}" if op in ("add", "sub", "mul") and at == 0 else text


def _stride(offsets: Sequence[Node]) -> str:
    """The name of the stride by which all offsets rise from 0; "" where none is."""
    step = offsets[1]
    rises = [made("mul", k, step) for k in range(2, len(offsets))]
    return str(step.value) if step.op == "var" and [*offsets] == [const(0), step, *rises] else ""


def _joined(offsets: Sequence[Node], lanes: int) -> list[tuple[Node, int, int]]:
    """Where registers lie in memory that are neighbors there, and from where to where in an array of all."""
    found: list[tuple[Node, int, int]] = []
    for k, offset in enumerate(offsets):
        if found and plus(found[-1][0], found[-1][2] - found[-1][1]) == offset:
            first, start, _ = found.pop()
            found.append((first, start, (k + 1) * lanes))
        else:
            found.append((offset, k * lanes, (k + 1) * lanes))
    return found


def sum_of(x: Node, y: Node) -> Node:
    """A sum of two nodes."""
    return plus(x, y.value) if y.op == "const" else made("add", x, y)
