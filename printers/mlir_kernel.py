"""The operations of a kernel's template in MLIR: values have names that nothing else in the text has."""

from collections.abc import Mapping

from lego_emit.emit.printer import FunctionView, Printer
from lego_emit.ir.index_types import IndexType
from lego_emit.ir.nodes import Node
from lego_emit.printers.mlir_block import Block

ZERO = Node("const", (), 0, 0, 0)


class KernelBlock(Block):
    """The operations of one statement of a template. types: of the kernel's values, which are cast to
    the type of the operations; taken: the names that its text has, to which those of this statement are
    added; prefix: what the names of intermediate values begin with."""

    copies: list[str]  # what gives a result the value of another name, or a number

    def __init__(
        self,
        printer: Printer,
        view: FunctionView,
        types: Mapping[str, IndexType],
        taken: set[str],
        prefix: str,
    ):
        super().__init__(printer, view)
        self.copies = []
        self._types, self._taken, self._prefix = types, taken, prefix

    def value(self, node: Node, name: str = "") -> str:
        """As of a function; a value of another type than the operations have is cast once."""
        if node.op == "var" and node.value not in self.values:
            self.values[node.value] = self._cast(
                f"%{node.value}", self._types[node.value], self._view.index_type
            )
        return super().value(node, name)

    def result(self, node: Node, name: str, kind: IndexType | None) -> None:
        """The operations whose last one gives a name its value. kind: its type; None of a mask, an i1."""
        T = "i1" if kind is None else self._printer.types[kind]
        if kind is None and node.op == "int":
            (node,) = node.args
        if node.op == "const":
            value = node.value if kind is not None else self._printer.truths[bool(node.value)]
            of = f"{value} : {T}" if kind is not None else value
            self.copies.append(f"%{name} = arith.constant {of}")
            return
        if kind is None and not node.is_bool:
            node = Node("ne", (node, ZERO))
        if kind in (None, self._view.index_type):
            found = self.value(node, name)
        else:
            found = self._cast(self.value(node), self._view.index_type, kind, name)
        if found != f"%{name}":  # a value that has a name already
            self.copies.append(f"%{name} = arith.ori {found}, {found} : {T}")

    def _cast(self, value: str, own: IndexType, to: IndexType, name: str = "") -> str:
        """The name of a value in another type."""
        before, T = self._printer.types[own], self._printer.types[to]
        if before == T:
            return value
        unsigned = own.least == 0
        if "index" in (before, T):
            operation = "index_castui" if unsigned else "index_cast"
        elif to.width < own.width:
            operation = "trunci"
        else:
            operation = "extui" if unsigned else "extsi"
        stem = name or f"{value[1:]}_{T}"
        return self._line(f"arith.{operation} {{0}} : {before} to {T}", [value], name, stem)

    def _constant(self, value: str) -> str:
        T = self._view.T
        return f"%{self.free(f'c{value}' if T == 'index' else f'c{value}_{T}')}"

    def _numbered(self, stem: str) -> str:
        return f"%{self.free(stem or f'{self._prefix}_{self._numbers + 1}')}"

    def free(self, name: str) -> str:
        """The name, or with a number behind it where it is taken."""
        number, free = 1, name
        while free in self._taken:
            number += 1
            free = f"{name}_{number}"
        self._taken.add(free)
        return free


def kernel_lines(
    printer: Printer,
    view: FunctionView,
    kinds: Mapping[str, IndexType | None],
    types: Mapping[str, IndexType],
    taken: set[str],
) -> list[str]:
    """The lines that give the names of a view's outputs their values. kinds: their types, None of a
    mask; types: of the kernel's values; taken: the names that its text has, to which theirs are added."""
    taken.update(kinds)
    block = KernelBlock(printer, view, types, taken, next(iter(kinds)))
    whole = {
        n.value: name
        for name, n in view.outputs
        if n.op == "var" and kinds[name] == view.index_type
    }
    for name, node in view.body:
        block.values[name] = block.value(node, whole.get(name) or block.free(name))
    for name, node in view.outputs:
        block.result(node, name, kinds[name])
    made = (
        f"{name} = {text}" for part in (block.constants, block.lines) for text, name in part.items()
    )
    return [printer.inline(line) for line in (*made, *block.copies)]
