"""The bodies of MLIR's functions: expressions as one operation a line, and array forms as loops."""

from lego_emit.emit.arrays import number
from lego_emit.emit.printer import BREAK, FunctionView, Printer
from lego_emit.ir.nodes import Node
from lego_emit.printers.c_array import free


class Block:
    """Operations one after the other. values: a statement's name -> the value that it is. constants
    and lines: an operation's text -> its result's name, so that none is computed twice."""

    def __init__(self, printer: Printer, view: FunctionView):
        self._printer, self._view = printer, view
        self.values: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self._numbers = 0

    def value(self, node: Node, name: str = "") -> str:
        """The name of a fitted node's value, after the operations that compute it; name: what it is
        called where that is not settled already."""
        T = self._view.T
        if node.op == "const":
            value = self._printer.literal(node.value, self._view.index_type)
            text = f"arith.constant {value} : {T}"
            if text not in self.constants:
                self.constants[text] = self._constant(value)
            return self.constants[text]
        if node.op == "var":
            return self.values.get(node.value, f"%{node.value}")
        if node.op == "table":
            return node.value.name
        operands = [self.value(a) for a in node.args]
        *first, last = self._printer.op(node, self._view).text.split("\n")
        for text in first:
            operands.append(self._line(text, operands, ""))
        return self._line(last, operands, name)

    def _line(self, text: str, operands: list[str], name: str, stem: str = "") -> str:
        """The name of an operation's result. stem: what it is like where it is not settled."""
        text = text.format(*operands, T=self._view.T, unit=self._view.unit)
        if text not in self.lines:
            self.lines[text] = f"%{name}" if name else self._numbered(stem)
            self._numbers += not (name or stem)
        return self.lines[text]

    def _constant(self, value: str) -> str:
        return f"%c{value}_{self._view.T}"

    def _numbered(self, stem: str) -> str:
        return f"%{self._numbers}"


class Fill:
    """The array form: a function that fills a buffer for each result over the ':' axes."""

    def __init__(self, printer: Printer, view: FunctionView):
        self._printer, self._view = printer, view
        self._axes = [name for name, _ in view.axes]
        self._taken = {p.name for p in view.params}
        several = len(view.outputs) > 1
        self._buffers = [self._free(f"out_{n}" if several else "out") for n, _ in view.outputs]
        sizes = (str(e.value) if e.op == "const" else "?" for _, e in view.axes)
        self._kind = f"memref<{'x'.join(sizes)}x{view.T}>"
        self._indices: dict[int, str] = {}
        self._numbers = 0

    def _free(self, name: str) -> str:
        name = free(name, self._taken)
        self._taken.add(name)
        return name

    def _index(self, value: int) -> str:
        """The name of a constant that is an index."""
        if value not in self._indices:
            self._indices[value] = f"%{self._free(f'c{value}')}"
        return self._indices[value]

    @property
    def head(self) -> str:
        """The function's head: the parameters that are no axes, then the buffers."""
        T = self._view.T
        scalars = (p.name for p in self._view.params if p.name not in self._axes)
        own = [f"%{name}: {T}" for name in scalars]
        own += [f"%{name}: {self._kind}" for name in self._buffers]
        name = self._printer.array_name(self._view.name)
        return self._printer.line(f"func.func @{name}({f',{BREAK}'.join(own)}) {{", 0)

    @property
    def doc(self) -> str:
        """What the function of the block computes, in a sentence."""
        axes = ", ".join(self._axes)
        buffers = " and ".join(f"%{name}" for name in self._buffers)
        text = f"Puts the results of {self._view.name} over its ':' axes ({axes}) into {buffers}, "
        text += f"which {'have' if len(self._buffers) > 1 else 'has'} their extents"
        return f"{text} and counts from 0." if self._view.base else f"{text}."

    @property
    def lines(self) -> list[str]:
        """The lines of its body: constants, the loops, and what is done in the innermost one."""
        f, T, kind = self._view, self._view.T, self._kind
        first, step = self._index(0), self._index(1)
        before: list[str] = []
        ends = [
            self._index(number(extent))
            if extent.op == "const"
            else self._put(before, f"memref.dim %{self._buffers[0]}, {self._index(k)} : {kind}")
            for k, (_, extent) in enumerate(f.axes)
        ]
        inner: list[str] = []
        values = {p.name: f"%{p.name}" for p in f.params}
        cast = "index_castui" if f.index_type.startswith("uint") else "index_cast"
        for name in self._axes:
            if T != "index":
                values[name] = self._put(inner, f"arith.{cast} %{name} : index to {T}")
            if f.base:
                text = f"arith.addi {values[name]}, %c{f.base}_{T} : {T}"
                values[name] = self._put(inner, text)
        arguments = f",{BREAK}".join(values.values())
        given = ", ".join([T] * len(values))
        results = len(f.outputs)
        made = T if results == 1 else f"({', '.join([T] * results)})"
        call = f"func.call @{f.name}({arguments}) :{BREAK}({given}) -> {made}"
        found = self._put(inner, call, results)
        place = ", ".join(f"%{name}" for name in self._axes)
        for k, name in enumerate(self._buffers):
            value = found if results == 1 else f"{found}#{k}"
            inner.append(f"memref.store {value}, %{name}[{place}] : {kind}")
        constants = [f"{name} = arith.constant {n} : index" for n, name in self._indices.items()]
        if f.base:
            constants.append(f"%c{f.base}_{T} = arith.constant {f.base} : {T}")
        depth = len(ends)
        loops = [
            f"{'  ' * k}scf.for %{name} = {first} to {end} step {step} {{"
            for k, (name, end) in enumerate(zip(self._axes, ends, strict=True))
        ]
        inner = [f"{'  ' * depth}{self._printer.line(x, 2 * depth + 2)}" for x in inner]
        closed = [f"{'  ' * k}}}" for k in reversed(range(depth))]
        return [*constants, *before, *loops, *inner, *closed, "return"]

    def _put(self, lines: list[str], text: str, results: int = 1) -> str:
        """The name of the operation that becomes the last of the lines."""
        name = f"%{self._numbers}"
        self._numbers += 1
        lines.append(f"{name} = {text}" if results == 1 else f"{name}:{results} = {text}")
        return name
