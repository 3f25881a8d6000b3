"""How NumPy spells copies between memory layouts: each box is one assignment between views of flat arrays.

Reference: https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html, whose constructor refuses a view
beyond its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lego_emit.emit.nests import VALUES as C_VALUES
from lego_emit.emit.nests import CopyTexts, NestForms, NestLines, hexadecimal, rows, spelled
from lego_emit.emit.ops import BREAK
from lego_emit.ir.nests import ENTRIES, VALUE, Abilities, Each, Helper, Strided, helpers, walk
from lego_emit.ir.nodes import Node

NUMPY = NestForms(let="{name} = {expr}", box="{name}({given})", indent=4)
COMMA = f",{BREAK}"
BOX = '''
def _box(array, start, shape, strides):
    """A view of a flat array that begins at start; strides count elements."""
    if 0 in shape:
        return np.empty(shape, array.dtype)
    size = array.itemsize
    steps = [size * n for n in strides]
    return np.ndarray(shape, array.dtype, array, size * start, steps)
'''


VALUES = {**C_VALUES, "div": "{0} // {1}"}


def _literal(T: str, value: int, op: str, at: int = 0) -> str:
    return f"{T}({hexadecimal(value, op)})"


class LinesInNumpy(NestLines):
    """The boxes of a routine."""

    forms = NUMPY

    def _tuple(self, nodes: Any) -> str:
        texts = [self.text(n) for n in nodes]
        return f"({COMMA.join(texts)}{',' * (len(texts) == 1)})"

    def _view(self, array: str, offset: Node, s: Strided, strides: Any) -> str:
        given = (array, self.text(offset), self._tuple(s.extents), self._tuple(strides))
        return f"_box({COMMA.join(given)})"

    def strided(self, s: Strided, indent: int) -> list[str]:
        """An assignment of one view to another one, or of zeros."""
        if not s.extents:
            value = "blank"
            if s.of is not None:
                at = self.text(s.of.offset)
                value = (
                    f"src[{at}]" if self.routine.value is None else self._changed(f"src[{at}:][:1]")
                )
            return [self.line(f"flat[{self.text(s.to.offset)}] = {value}", indent)]
        to = self._view("flat", s.to.offset, s, s.to_strides)
        value = "blank"
        if s.of is not None:
            value = self._changed(self._view("src", s.of.offset, s, s.of_strides))
        return [self.line(f"np.copyto({to}{COMMA}{value})", indent)]

    def given(self, helper: Helper, integers: Sequence[str]) -> list[str]:
        """The arrays come first; instead of a source there may be a zero."""
        arrays = [*(["src"] if helper.reads else []), "flat", *(["blank"] if helper.pads else [])]
        return [*arrays, *integers]

    def box_name(self, helper: Helper) -> str:
        """A name of the module's own."""
        return f"_{super().box_name(helper)}"

    def box_lines(self) -> list[str]:
        """The functions that move boxes of one kind."""
        p, found = self.printer, list[str]()
        for helper in helpers(self.routine.body):
            parameters = COMMA.join(self.given(helper, self.box_names(helper)))
            found += ["", "", self.line(f"def {self.box_name(helper)}({parameters}):", 0)]
            found += [
                f"    {line}".rstrip() for line in p._docstring(self.box_told(helper), [], [])
            ]
            found += self.lines(helper.body, 4)
        return found

    def zero(self, s: Any, indent: int) -> list[str]:
        """Zeros in all of the destination."""
        return [self.line("flat[...] = blank", indent)]

    def each(self, s: Each, indent: int) -> list[str]:
        """All indices at once."""
        extents = self._tuple(s.extents)
        names = f"{', '.join(s.names)}{',' * (len(s.names) == 1)}"
        arguments = COMMA.join(self.names.get(n, n) for n in s.arguments)
        call = f"np.broadcast_arrays(*{self.routine.functions[-1]}({arguments}))"
        found = [
            self.line(f"{names} = np.indices({extents}).reshape({len(s.names)},{BREAK}-1)", indent),
            self.line(f"src_at, dst_at = {call}", indent),
        ]
        if s.masked:
            found.append(self.line("kept = (src_at >= 0) & (dst_at >= 0)", indent))
            moved = self._changed("src[src_at[kept]]")
            return [*found, self.line(f"flat[dst_at[kept]] = {moved}", indent)]
        return [*found, self.line(f"flat[dst_at] = {self._changed('src[src_at]')}", indent)]

    def _changed(self, of: str) -> str:
        """What is made of elements of the source."""
        return of if self.routine.value is None else f"_{self.routine.name}_value({of})"

    def value_lines(self) -> list[str]:
        """The function of what is made of elements."""
        value, size = self.routine.value, self.routine.element_bytes
        if value is None:
            return []
        table: list[str] = []
        if value.op == ENTRIES:
            name = f"_{self.routine.name}_values"
            table = ["", "", "# What is made of each byte.", f"{name} = np.array("]
            table += ["    [", *rows(value.value, 8), "    ],", "    np.uint8,", ")  # fmt: skip"]
            text = f"{name}[{VALUE}]"
        else:
            text = spelled(value, VALUES, partial(_literal, f"np.uint{8 * size}"))
        return [
            *table,
            "",
            "",
            f"def _{self.routine.name}_value({VALUE}):",
            '    """What is made of elements, an array of unsigned integers."""',
            self.line(f"return {text}", 4),
        ]

    def routine_lines(self) -> list[str]:
        """The function with its docstring."""
        r, p, sizes = self.routine, self.printer, [*self.names.values()]
        size, plural = r.element_bytes, "s" * (r.element_bytes != 1)
        given = f"{self.inline(r.source)} elements of {size} byte{plural}, contiguous"
        made = f"{self.inline(r.destination)} elements of src's type; a new array of zeros unless given"
        wrong = [
            "TypeError: If src or out is no NumPy array, or has a mask.",
            f"ValueError: If elements do not have {size} byte{plural}, an array is too short, out is not contiguous, or both overlap.",
        ]
        sections = [
            ("Args:", [*(f"{n}: A size" for n in sizes), f"src: {given}", f"out: {made}"]),
            ("Returns:", ["out"]), ("Raises:", wrong),
        ]  # fmt: skip
        count = self.text(r.destination)
        head = p.line(f"def {r.name}({COMMA.join([*sizes, 'src', 'out=None'])}):", 0)
        integers = [f"{n} = operator.index({n})" for n in sizes]
        body = [
            *integers,
            "for array in (src, src if out is None else out):",
            "    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):",
            '        raise TypeError("src and out must be NumPy arrays without masks")',
            f"if src.itemsize != {size}:",
            f'    raise ValueError("the elements must have {size} byte{plural}")',
            "src = np.ascontiguousarray(src).reshape(-1)",
            "if out is None:",
            f"    out = np.zeros({count}{COMMA}src.dtype)",
            "if out.dtype != src.dtype or not out.flags.c_contiguous or np.may_share_memory(src, out):",
            '    raise ValueError("out is of another type, not contiguous, or overlaps src")',
            "flat = out.reshape(-1)",
            *(
                [f"src, flat = src.view(np.uint{8 * size}), flat.view(np.uint{8 * size})"]
                if r.value is not None
                else []
            ),
            f"if src.nbytes < {r.functions[0]}({COMMA.join(sizes)}):",
            '    raise ValueError("src is too short")',
            f"if flat.nbytes < {r.functions[1]}({COMMA.join(sizes)}):",
            '    raise ValueError("out is too short")',
            *(["blank = np.zeros((), src.dtype)"] if r.pads else []),
        ]
        docs = p._docstring(r.summary, sections, [])
        pad = "    "
        found = ["", head, *(f"{pad}{line}".rstrip() for line in docs)]
        for text in body:
            deep = len(text) - len(text.lstrip())
            found.append(f"{pad}{' ' * deep}{p.line(text.lstrip(), 4 + deep)}")
        return [*found, *self.lines(r.body, 4), "    return out"]


class CopiesInNumpy(CopyTexts):
    """What a file's template has of its copies."""

    lines_of = LinesInNumpy
    abilities = Abilities(kernels=False, streams=False, strided=True, calls=True, most=80)
    threads = "NumPy copies in one thread"

    own = ("array", "operator", "np")

    imports = ["import numpy as np"]

    @property
    def modules(self) -> list[str]:
        """The imports of Python's own modules."""
        return ["import operator"] * any(part.routine.sizes for part in self.parts)

    @property
    def lines(self) -> list[str]:
        """The lines that follow the functions of places and bytes."""
        boxes = any(
            isinstance(s, Strided) and s.extents for p in self.parts for s in walk(p.routine.body)
        )
        found: list[str] = [*BOX.rstrip("\n").split("\n")] if boxes else []
        for part in self.parts:
            found += [*part.value_lines(), *part.box_lines(), *part.routine_lines()]
        return found
