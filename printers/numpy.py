"""NumPy: functions on integers and arrays of integers, which broadcast.

One text for NumPy, for Numba and, with `import jax.numpy as np`, for JAX: there is no `if` and no
loop over elements, and no call that one of them lacks.

Reference: https://numpy.org/doc/stable/reference/routines.math.html; `//` and `%` round down, for
any sign, as Python's do.
"""

from __future__ import annotations

from collections.abc import Sequence

from lego_emit.emit.printer import BREAK, FunctionView, Op, call, infix
from lego_emit.ir.cost import LATENCY
from lego_emit.ir.index_types import IndexType
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Program
from lego_emit.printers.python import KEYWORDS, PYTHON_OPS, UNARY, PythonPrinter, operations
from lego_emit.table_lookup import Entries

ISQRT = '''
def _isqrt(n):
    """The integer square root, digit by digit: square roots of floats are rounded."""
    root = 0 * n
    for k in range({{ 30 if index_type == "int32" else 62 }}, -1, -2):
        digit = 1 * (n >= root + (1 << k))
        n = n - digit * (root + (1 << k))
        root = (root >> 1) + (digit << k)
    return root
'''


class NumpyPrinter(PythonPrinter):
    """NumPy's spellings. Unsigned types are left out: with a signed one they make floats."""

    loops = "lego_emit.printers.loop_forms:arrays"
    copies = "lego_emit.printers.copy_numpy:CopiesInNumpy"
    switches = ""  # each element has a tag of its own
    binds = False
    name = "numpy"
    where, rounds = "np.where", "range"  # what chooses elements, and what counts rounds
    cost = LATENCY
    aliases = ("np",)
    related = ("jax", "pytorch", "torch", "cupy")
    title = "NumPy"
    types = {"int32": "int32", "int64": "int64"}
    default_index = ("int32", "int64")
    ops = {
        **PYTHON_OPS,
        "lnot": call("np.logical_not({0})", 1),
        "land": infix("&", 8),
        "lor": infix("|", 6),
        "select": call(f"np.where({{0}},{BREAK}{{1}},{BREAK}{{2}})", 3),
        "min": call(f"np.minimum({{0}},{BREAK}{{1}})", 2),
        "max": call(f"np.maximum({{0}},{BREAK}{{1}})", 2),
        "isqrt": call("_isqrt({0})", 1, "isqrt"),
        "lookup": call(f"np.take({{0}},{BREAK}{{1}})", 2),
        "int": Op("1 * {0}", 11, (UNARY,)),
    }
    helpers = {"isqrt": ISQRT}
    reserved = KEYWORDS | {"namedtuple", "np", "range"}
    builtins = PythonPrinter.builtins | {"cuda", "jax", "jnp", "numba", "numpy"}
    bit_operations = True
    kernel_types = ("int64",)
    lazy_select = False
    broadcast = "np.broadcast_to"
    asserts = "assert np.all({})"
    receiver = ""
    has_structs = has_arrays = gives_arrays = False
    fills = ""
    has_fits = True  # of integers, one call for a shape: what Python computes

    def size_type(self, index_type: IndexType) -> IndexType:
        """64 bits, which a NumPy integer has at most."""
        return self.index_types["int64"]

    def op(self, node: Node, view: FunctionView) -> Op:
        """The spelling; that of Python in conditions on sizes, which are integers and no arrays."""
        return (PythonPrinter.ops if view.is_condition else self.ops)[node.op]

    def result_class(self, f: FunctionView) -> list[str]:
        """The line that makes the class: what Numba and JAX take, and of arrays or integers."""
        names = f",{BREAK}".join(f'"{name}"' for name, _ in f.outputs)
        name = self.result_name(f.name)
        return [self.line(f'{name} = namedtuple("{name}",{BREAK}[{names}])', 0)]

    def unit_name(self, name: str) -> str:
        """The name of the module, another one than that of the plain Python module."""
        return f"{super().unit_name(name)}_numpy"

    def table(self, entries: Entries, index_type: str) -> str:
        """The assignment of a NumPy array."""
        lines = self.entry_lines(entries, index_type, 4)
        return f"{entries.name} = np.array([\n{lines},\n], np.{index_type})  # fmt: skip"

    def table_parameter(self, form: str, T: str) -> str:
        """The parameter of a table that is given: an array of any integer type."""
        return "{name}"

    def imports(self, functions: Sequence[FunctionView]) -> list[str]:
        """NumPy where it is used."""
        arrays = [f for f in functions if not f.is_condition]
        calls = operations(arrays) & {
            "loop",
            *(op for op in self.ops if "np." in self.ops[op].text),
        }
        used = calls or any(f.axes or f.asserted for f in functions)
        found = ["from collections import namedtuple"] * any(f.named for f in functions)
        roots = "isqrt" in operations(f for f in functions if f.is_condition)
        return [*["import math"] * roots, *found, *["import numpy as np"] * bool(used)]

    def module_docs(self, program: Program) -> list[str]:
        """The lines of the module's docstring: how wide the arrays are to be, too, where it has more than copies."""
        of_copies = {name for routine in program.routines or () for name in routine.functions}
        if of_copies and of_copies >= {f.name for f in program.functions}:
            summary = "Copies of NumPy arrays from one memory layout to another."
            return self._docstring(summary, [], [program.title])
        summary = "Index functions on integers and arrays of integers, which broadcast."
        width = "Arrays are as wide as the functions say."
        return self._docstring(summary, [], [program.title, "", width])

    def head(self, f: FunctionView) -> str:
        """The line that defines the function."""
        return self._head(f.name, f.signature("{name}", None, f",{BREAK}"), "")

    def _head(self, name: str, parameters: str, result: str) -> str:
        return self.line(f"def {name}({parameters}):", 0)

    def values(self, f: FunctionView) -> list[str]:
        """The results; of integers a select makes an array without axes, and [()] a number of it."""
        body = dict(f.body)

        def selects(node: Node) -> bool:
            return node.op == "select" or (node.value in body and selects(body[node.value]))

        return [
            text + "[()]" * selects(node)
            for text, (_, node) in zip(f.texts(), f.outputs, strict=True)
        ]

    # -- the array form ----------------------------------------------------------------------

    def array(self, f: FunctionView) -> list[str]:
        """The lines of the function that gives a function's results over its ':' axes."""
        lines = self.array_docs(f, ", ")
        for k, (name, extent) in enumerate(f.axes):
            text = self.block(self.between(f, extent), k, len(f.axes))
            lines.append(self.line(f"{name} = {text}", 4))
        call = f"{f.name}({f',{BREAK}'.join(p.name for p in f.params)})"
        shape = "".join(f"{self.expression(extent, f)},{BREAK}" for _, extent in f.axes)
        shape = f"({shape.removesuffix(BREAK) if len(f.axes) == 1 else shape[:-2]})"
        axes = {name for name, _ in f.axes}
        short = [not axes <= _read(f, node) for _, node in f.outputs]
        forms = [f"{self.broadcast}({{}},{BREAK}{shape})" if s else "{}" for s in short]
        values = [f"_{name}" for name, _ in f.outputs]  # a user's names start otherwise
        if len(forms) == 1:
            values = [call]
        elif any(short):
            lines.append(self.line(f"{', '.join(values)} = {call}", 4))
        else:
            forms, values = ["{}"], [call]
        results = (form.format(value) for form, value in zip(forms, values, strict=True))
        together = f.named and values != [call]
        text = self.together(f, [*results]) if together else f",{BREAK}".join(results)
        lines.append(self.line(f"return {text}", 4))
        scalars = f",{BREAK}".join(self.array_parameters(f))
        return [self._head(self.array_name(f.name), scalars, ""), *(f"    {x}" for x in lines)]

    def block(self, size: str, axis: int, axes: int, vector: str = "") -> str:
        """A range with an axis for each that comes after; size: where it ends, or begins and ends."""
        after = axes - axis - 1
        return (vector or f"np.arange({size})") + f"[:{', None' * after}]" * bool(after)

    def array_parameters(self, f: FunctionView) -> list[str]:
        """The parameters of the array form."""
        return self.scalars(f)


def _read(f: FunctionView, node: Node) -> set[object]:
    """The names that a value comes of."""
    body = dict(f.body)
    names = {part.value for part in node.walk() if part.op == "var"}
    return names.union(*(_read(f, body[name]) for name in names if name in body))
