"""Array forms whose elements follow each other by a step: the positions along a ':' axis as in a walk."""

from __future__ import annotations

from typing import Any

from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.emit.walks import WalkForms, WalkParts
from lego_emit.printers.c_array import ArrayForm
from lego_emit.printers.c_lines import free


def c(printer: Any, f: FunctionView, array: ArrayForm) -> list[str]:
    """The lines of the body in C: loops over the other axes, the first element of a row, a loop over the others."""
    row = _Row(printer, f, "const {T} {name} = {expr};", "{T} {name} = {expr};")
    put, T, indent, found = f"*{array.names['out']}++ = {row.result};", f.T, 2, list[str]()
    *outer, (axis, end) = array.loops
    for name, extent in outer:
        found += row.line(f"for ({T} {name} = 0; {name} < {extent}; ++{name}) {{", indent)
        indent += 2
    found += [*row.first(indent), *row.line(put, indent)]
    found += row.line(f"for ({T} {axis} = 1; {axis} < {end}; ++{axis}) {{", indent)
    found += [*row.next(indent + 2), *row.line(put, indent + 2)]
    return [*found, *(" " * k + "}" for k in range(indent, 0, -2))]


def javascript(
    printer: Any, f: FunctionView, ends: list[str], array: str, position: str
) -> list[str]:
    """The lines of the loops in JavaScript. ends: the extents; array, position: what is filled, from where."""
    row = _Row(printer, f, "const {name} = {expr};", "let {name} = {expr};")
    zero, one = (printer.literal(n, f.index_type) for n in (0, 1))
    *outer, (axis, end) = zip((n for n, _ in f.axes), ends, strict=True)
    indent, found = 2, list[str]()
    for name, extent in outer:
        found += row.line(
            f"for (let {name} = {zero}; {name} < {extent}; {name} += {one}) {{", indent
        )
        indent += 2

    def put(indent: int) -> list[str]:
        lines = (f"{array}[{position}] = {row.result};", f"{position} += 1;")
        return [line for text in lines for line in row.line(text, indent)]

    found += [*row.first(indent), *put(indent)]
    found += row.line(f"for (let {axis} = {one}; {axis} < {end}; {axis} += {one}) {{", indent)
    found += [*row.next(indent + 2), *put(indent + 2)]
    return [*found, *(" " * k + "}" for k in range(indent, 0, -2))]


def fortran(printer: Any, f: FunctionView, values: str, indent: int) -> list[str]:
    """The lines of the loops in Fortran, the first axis the innermost one; values: the array."""
    form = "{name} = {expr}"
    row, found = _Row(printer, f, form, form, form, ""), list[str]()
    (_, end), *outer = [
        bounds.replace(":", f",{BREAK}", 1).split(",", 1) for bounds in printer.bounds(f)
    ]
    names = [name for name, _ in f.axes]
    for name, (first, last) in reversed([*zip(names[1:], outer, strict=True)]):
        found += row.line(f"do {name} = {first},{last}", indent)
        indent += 2

    def put(place: str, indent: int) -> list[str]:
        return row.line(f"{values}({f',{BREAK}'.join([place, *names[1:]])}) = {row.result}", indent)

    found += [*row.first(indent), *put("0", indent)]
    found += row.line(f"do {names[0]} = 1,{end}", indent)
    found += [*row.next(indent + 2), *put(names[0], indent + 2)]
    return [*found, *(" " * k + "end do" for k in range(indent, indent - 2 * len(names), -2))]


def julia(printer: Any, f: FunctionView) -> list[str]:
    """The lines of the body in Julia, the first axis the innermost loop."""
    form = "{name} = {expr}"
    row = _Row(printer, f, form, form, form, "{name} {sign}= {expr}")
    array, indent = free("values", {*f.inputs, *f.stepped, f.name}), 4
    sizes = f",{BREAK}".join(printer.expression(e, f) for _, e in f.axes)
    found = row.line(f"{array} = {printer.array_kind(f)}(undef,{BREAK}{sizes})", indent)
    for name, extent in f.axes[:0:-1]:
        found += row.line(f"for {name} in {printer.range_of(extent, f)}", indent)
        indent += 4
    names = [name for name, _ in f.axes[1:]]

    def put(first: str, indent: int) -> list[str]:
        places = f",{BREAK}".join([first, *(f"{n} + 1" for n in names)])
        return row.line(f"{array}[{places}] = {row.result}", indent)

    (axis, extent) = f.axes[0]
    found += [*row.first(indent), *put("1", indent)]
    last = printer.range_of(extent, f).partition(":")[2]
    found += row.line(f"for {axis} in {printer.literal(1, f.index_type)}:{last}", indent)
    found += [*row.next(indent + 4), *put(f"{axis} + 1", indent + 4)]
    return [*found, *(" " * k + "end" for k in range(indent, 0, -4)), f"    return {array}"]


class _Row:
    """The elements along an axis: the lines of the first one, and those of the next one."""

    def __init__(
        self,
        printer: Any,
        f: FunctionView,
        constant: str,
        variable: str,
        set: str = "{name} = {expr};",
        compound: str = "{name} {sign}= {expr};",
    ):
        """The forms of names that stay, of those that change, and of what gives these another value."""
        steps = f.steps
        self._printer, self._view, self._constant, self._variable = printer, f, constant, variable
        self._changed = {name for part in steps.step for name, _ in part.outputs}
        forms = WalkForms(lambda v: [], constant, set, compound, "{name}")
        self._parts = WalkParts(printer, f, steps, forms)
        (self.result,), (self._axis,) = steps.results, steps.axes

    def line(self, text: str, indent: int) -> list[str]:
        """A line, broken where it is too long."""
        return (" " * indent + self._printer.line(text, indent)).split("\n")

    def first(self, indent: int) -> list[str]:
        """Those that declare the first element and what is kept."""
        printer, f = self._printer, self._view
        zero = printer.literal(0, f.index_type)
        arguments = f",{BREAK}".join(zero if n == self._axis else n for n in f.inputs)
        call = f"{f.name}({arguments})"
        found = self.line(self._variable.format(T=f.T, name=self.result, expr=call), indent)
        for line in self._parts.start(indent, self._declared):
            found += f"{' ' * indent}{line}".split("\n")
        return found

    def next(self, indent: int) -> list[str]:
        """Those that set the element to the next one."""
        lines = self._parts.step(indent)
        return [part for line in lines for part in f"{' ' * indent}{line}".split("\n")]

    def _declared(self, name: str) -> str:
        return self._variable if name in self._changed else self._constant
