"""The array form of a function with ':' axes, for the languages with C's operators.

How many elements there are, and the call that gives element n of them in row-major order.
"""

from dataclasses import replace

from lego_emit.emit.arrays import coordinates, count, number
from lego_emit.emit.printer import BREAK, FunctionView, Printer
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Param
from lego_emit.printers.c_lines import cast_need, free


class ArrayForm:
    """What a template sees of a function's array form.

    names: those that the text wants for itself (n is the counter), as attributes; one that a
        parameter has already gets a number.
    """

    def __init__(self, printer: Printer, view: FunctionView, names: tuple[str, ...]):
        self._printer, self._view = printer, view
        axes = {name for name, _ in view.axes}
        self.scalars = [name for name in view.inputs if name not in axes]
        taken = {*view.inputs, view.name, *printer.companions(view.name)}
        arguments = printer.outputs_are_variables and view.several and not view.aggregate
        self._outputs = [n for n, _ in view.outputs] if arguments else []
        taken |= set(self._outputs) | view.stepped
        self.names = {}
        for name in names:
            self.names[name] = free(name, taken)
            taken.add(self.names[name])
        self._extents = [extent for _, extent in view.axes]
        self._count = count(self._extents)
        self.index_type = view.counter
        self.wide = self.index_type != view.index_type

    @property
    def C(self) -> str:
        """The type in which the loops count."""
        return self._printer.types[self.index_type]

    def signature(self, form: str, *more: str) -> str:
        """The parameters; form has {name} and {T}. more: parameters after them."""
        texts = zip(self._view.inputs, self._view.parameters(form), strict=True)
        own = (text for name, text in texts if name in self.scalars)
        return f",{BREAK}".join((*own, *more))

    @property
    def over(self) -> str:
        """The axes, in words."""
        names = [name for name, _ in self._view.axes]
        if len(names) == 1:
            return f"its ':' axis {names[0]}"
        return f"its ':' axes ({', '.join(names)}) in row-major order, {names[-1]} fastest"

    @property
    def fixed(self) -> bool:
        """Whether the count is a number."""
        return self._count.op == "const"

    @property
    def plain_count(self) -> str:
        """How many elements there are, for a comment."""
        text = self._printer.expression(self._count, self._view).replace(BREAK, " ")
        return str(self._count.value) if self.fixed else text

    @property
    def count(self) -> str:
        """How many elements there are."""
        if self.fixed:
            return self._printer.literal(number(self._count), self.index_type)
        if not self.wide:
            return self._printer.expression(self._count, self._view)
        factors = sorted(self._extents, key=lambda e: e.op == "const")
        tight = self._printer.ops["neg"].prec
        texts = [self._printer.expression(e, self._view, tight) for e in factors[1:]]
        return f"{BREAK}* ".join([self._cast(factors[0], self.C), *texts])

    @property
    def loops(self) -> list[tuple[str, str]]:
        """The axes' names, and the extents as they stand behind a <, outermost first."""
        need = self._printer.ops["lt"].needs[1]
        texts = (self._printer.expression(e, self._view, need) for e in self._extents)
        return [(name, t) for (name, _), t in zip(self._view.axes, texts, strict=True)]

    @property
    def call(self) -> str:
        """The scalar function's call for element n."""
        found = coordinates(self._extents, self.names["n"], self._view.base)
        if self.wide:
            texts = [self._cast(c, self._view.T) for c in found]
        else:
            texts = [self._printer.expression(c, self._view) for c in found]
        arguments = f",{BREAK}".join([*self.scalars, *texts, *self._outputs])
        return f"{self._view.name}({arguments})"

    def _cast(self, node: Node, T: str) -> str:
        form = self._printer.cast
        return form.format(self._printer.expression(node, self._view, cast_need(form)), T=T)


def array_function(function: Function, name: str, counter: str = "n") -> Function:
    """The signature of element n as a function of its own: the scalars, then n."""
    axes = {axis for axis, _ in function.axes}
    scalars = [p for p in function.params if p.name not in axes]
    while counter in {one.name for one in function.entries}:
        counter += "_"
    return replace(function, name=name, params=(*scalars, Param(counter)), axes=())
