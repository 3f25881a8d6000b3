"""The view of a layout in Julia: an AbstractArray over a vector.

Reference: https://docs.julialang.org/en/v1/manual/interfaces/#man-interface-array
"""

from typing import Any

from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.ir.nodes import Node
from lego_emit.ir.relations import names_in, renamed
from lego_emit.printers.c_array import free

COMMA = f",{BREAK}"


class JuliaView:
    """What a template sees of a view. sizes, indices: the parameters of the layout's apply; element,
    vector: the type's parameters; data, view, value: arguments; none is a parameter's name."""

    def __init__(self, printer: Any, apply: FunctionView, name: str):
        self._printer, self._apply, self._view = printer, apply, apply.view
        self.name = name
        self.sizes = [p.name for p in apply.params if not p.axis]
        self.indices = [p.name for p in apply.params if p.axis]
        taken = {p.name for p in apply.params}
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
        place = self._call([*self.sizes, *self._counted()]).replace(BREAK, " ")
        text = (
            f"A vector as an array of {rank} dimension{'s' * (rank > 1)} by the index of a layout: "
        )
        text += f"`view[{index}]` is `data[{place}]`. Indices count from 1."
        text += " What is masked has no element." * self._view.masks
        return self._printer.docstring_lines(
            self._apply, self.name, [self.data, *self.sizes], "", [text]
        )

    @property
    def constructor(self) -> str:
        """The head of the constructor."""
        parameters = [f"{self.data}::{self.vector}", *(f"{name}::Integer" for name in self.sizes)]
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
        sizes = [f"{self.view}.{name}" for name in self.sizes]
        return f"{self.name}({COMMA.join([f'Base.unaliascopy({self.view}.{self.data})', *sizes])})"

    @property
    def position(self) -> str:
        """The position of an index, counted from 1."""
        sizes = [f"{self.view}.{name}" for name in self.sizes]
        unsigned = self._apply.index_type.startswith("uint")
        arguments = [*sizes, *self._counted()]
        return self._call([f"UInt64({x})" for x in arguments] if unsigned else arguments)

    @property
    def needed(self) -> str:
        """How many elements the vector has at least, exactly: a product of sizes may not fit an Int."""
        size = self._view.size
        if size.op in ("const", "var"):
            return self._text(size, self._printer.ops["lt"].needs[1])
        exact = ", ".join(f"{name} = big({name})" for name in self.sizes if name in names_in(size))
        return f"let {exact}; {self._text(size)} end"

    @property
    def extents(self) -> str:
        """The extents of the indices, of a view."""
        own = {name: f"{self.view}.{name}" for name in self.sizes}
        texts = [self._text(renamed(extent, own)) for extent in self._view.extents]
        return f"{COMMA.join(texts)}{',' * (len(texts) == 1)}"

    def _counted(self) -> list[str]:
        return [*self.indices] if self._apply.base else [f"{name} - 1" for name in self.indices]

    def _call(self, arguments: list[str]) -> str:
        call = f"{self._apply.name}({COMMA.join(arguments)})"
        return call if self._apply.base else f"{call} + 1"

    def _text(self, node: Node, need: int = 0) -> str:
        return self._printer.expression(node, self._apply.typed("int64"), need)
