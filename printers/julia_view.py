"""The view of a layout in Julia: an AbstractArray over a vector.

Reference: https://docs.julialang.org/en/v1/manual/interfaces/#man-interface-array
"""

from typing import Any

from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Group
from lego_emit.ir.relations import names_in, renamed
from lego_emit.printers.c_array import free

COMMA = f",{BREAK}"


class JuliaView:
    """What a template sees of a view. given, sizes: the integers of the layout's apply that are no
    indices, and the fields that hold them; indices: the indices; element, vector: the type's parameters; data,
    view, value: arguments; none is a parameter's name."""

    def __init__(self, printer: Any, apply: FunctionView, name: str):
        self._printer, self._apply, self._view = printer, apply, apply.view
        self.name = name
        self.indices = [p.name for p in apply.params if p.axis]
        self._sizes = [one for one in apply.entries if one.name not in self.indices]
        self.given = [p.name for p in apply.params if not p.axis]
        taken = {*apply.inputs}
        flat: dict[str, str] = {
            n: free(own, taken) for g in apply.groups for n, own in g.apart.items()
        }
        self._fields = {n: flat[n] if n in flat else n for n in self.given}
        self.sizes = [*self._fields.values()]
        taken |= {*self.sizes}
        wanted = ("T", "V", "data", "view", "value")
        self.element, self.vector, self.data, self.view, self.value = (
            free(n, taken) for n in wanted
        )
        # What is masked has no position: the vector is asked for it even where a caller, as fill! is one,
        # has switched the checks of the index off.
        masks = apply.view.masks
        self.method = "@inline function" if masks else "Base.@propagate_inbounds function"
        self.inbounds = "" if masks else "@inbounds "

    @property
    def docstring(self) -> list[str]:
        """The call, and what the array is."""
        rank, index = len(self.indices), ", ".join(self.indices)
        sizes = [one.name for one in self._sizes]
        place = self._call([*sizes, *self._counted()]).replace(BREAK, " ")
        text = (
            f"A vector as an array of {rank} dimension{'s' * (rank > 1)} by the index of a layout: "
        )
        text += f"`view[{index}]` is `data[{place}]`. Indices count from 1."
        text += " What is masked has no element." * self._view.masks
        return self._printer.docstring_lines(
            self._apply, self.name, [self.data, *sizes], "", [text]
        )

    @property
    def constructor(self) -> str:
        """The head of the constructor."""
        sizes = (self._printer.widened(one, "Int", self._apply)[0] for one in self._sizes)
        parameters = [f"{self.data}::{self.vector}", *sizes]
        where = f"{{{self.element}, {self.vector}<:AbstractVector{{{self.element}}}}}"
        return f"{self.name}({COMMA.join(parameters)}) where {where}"

    def declared(self, *first: str) -> str:
        """The parameters of a method that takes an index."""
        return COMMA.join([*first, *(f"{name}::Int" for name in self.indices)])

    @property
    def checked(self) -> str:
        """The view and an index."""
        return COMMA.join([self.view, *self.indices])

    @property
    def copied(self) -> str:
        """The view of a copy of its vector."""
        sizes = self._arguments("{}")
        return f"{self.name}({COMMA.join([f'Base.unaliascopy({self.view}.{self.data})', *sizes])})"

    @property
    def position(self) -> str:
        """The position of an index, counted from 1."""
        unsigned = self._apply.index_type.startswith("uint")
        form = "UInt64({})" if unsigned else "{}"
        return self._call([*self._arguments(form), *map(form.format, self._counted())])

    def _arguments(self, form: str) -> list[str]:
        """What the view holds as the arguments of the layout's apply; form: an integer's."""
        found = []
        for one in self._sizes:
            if isinstance(one, Group):
                texts = [form.format(f"{self.view}.{self._fields[n]}") for n in one.names]
                found.append(self._printer.aggregate(one, texts, ""))
            else:
                found.append(form.format(f"{self.view}.{one.name}"))
        return found

    @property
    def needed(self) -> str:
        """How many elements the vector has at least, exactly: a product of sizes may not fit an Int."""
        size = self._view.size
        if size.op in ("const", "var"):
            return self._text(size, self._printer.ops["lt"].needs[1])
        exact = ", ".join(
            f"{field} = big({name})"
            for name, field in self._fields.items()
            if name in names_in(size)
        )
        return f"let {exact}; {self._text(renamed(size, self._fields))} end"

    @property
    def extents(self) -> str:
        """The extents of the indices, of a view."""
        own = {name: f"{self.view}.{field}" for name, field in self._fields.items()}
        texts = [self._text(renamed(extent, own)) for extent in self._view.extents]
        return f"{COMMA.join(texts)}{',' * (len(texts) == 1)}"

    def _counted(self) -> list[str]:
        return [*self.indices] if self._apply.base else [f"{name} - 1" for name in self.indices]

    def _call(self, arguments: list[str]) -> str:
        call = f"{self._apply.name}({COMMA.join(arguments)})"
        return call if self._apply.base else f"{call} + 1"

    def _text(self, node: Node, need: int = 0) -> str:
        return self._printer.expression(node, self._apply.typed("int64"), need)
