"""Triton: `@triton.jit` functions to be called in kernels, on numbers and on blocks of numbers.

Reference: https://triton-lang.org/main/python-api/triton-semantics.html; of tensors `//` and `%`
round towards zero, as C's do, and of `tl.constexpr` down, as Python's: the helpers do for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lego_emit.emit.arrays import number
from lego_emit.emit.printer import ATOM, BREAK, FunctionView, Op, call, infix
from lego_emit.errors import TargetError
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Param, Program
from lego_emit.printers.numpy import NumpyPrinter
from lego_emit.printers.python import KEYWORDS, PYTHON_OPS, PythonPrinter
from lego_emit.table_lookup import Entries

FLOOR_DIV = '''
@triton.jit
def _floor_div(a, b):
    """a // b, rounded down."""
    quotient = a // b
    remainder = a % b
    return tl.where((remainder != 0) & ((remainder ^ b) < 0), quotient - 1, quotient)
'''

FLOOR_MOD = '''
@triton.jit
def _floor_mod(a, b):
    """a % b of a quotient that is rounded down."""
    remainder = a % b
    return tl.where((remainder != 0) & ((remainder ^ b) < 0), remainder + b, remainder)
'''

ISQRT = '''
@triton.jit
def _isqrt(n, T: tl.constexpr):
    """The integer square root of a number of the type T, digit by digit."""
    n = tl.cast(n, T)
    root = n * 0
    for k in tl.static_range(T.primitive_bitwidth - 2, -1, -2):
        digit = tl.cast(n >= root + (1 << k), T)
        n = n - digit * (root + (1 << k))
        root = (root >> 1) + (digit << k)
    return root
'''

ENTRY = '''
@triton.jit
def _entry(table: tl.constexpr, count: tl.constexpr, n):
    """The entry n of a constant table, by a choice for each: Triton has no constant arrays."""
    entry = n * 0
    for k in tl.static_range(count):
        entry = tl.where(n == k, table[k], entry)
    return entry
'''

# What the compiler computes of constexpr values; its quotients are Python's.
STATIC = {"add", "sub", "mul", "neg", "div", "mod", "shl", "shr", "and", "or", "xor"}


class TritonPrinter(NumpyPrinter):
    """Triton's spellings. A number's own type is as narrow as its value: what is computed in 64 bits
    is cast first."""

    binds = False
    copies = ""
    name = "triton"
    where, rounds = "tl.where", "tl.static_range"
    aliases = ()
    related = ()
    title = "Triton"
    types = {"int32": "tl.int32", "int64": "tl.int64"}
    caches_tables = False
    ops = {
        **PYTHON_OPS,
        "floordiv": call(f"_floor_div({{0}},{BREAK}{{1}})", 2, "floor_div"),
        "floormod": call(f"_floor_mod({{0}},{BREAK}{{1}})", 2, "floor_mod"),
        "lnot": Op("{0} == 0", 5, (6,)),
        "land": infix("&", 8),
        "lor": infix("|", 6),
        "select": call(f"tl.where({{0}},{BREAK}{{1}},{BREAK}{{2}})", 3),
        "select.numbers": call(
            f"tl.cast(tl.where({{0}},{BREAK}{{1}},{BREAK}{{2}}),{BREAK}{{T}})", 3
        ),
        "min": call(f"tl.minimum({{0}},{BREAK}{{1}})", 2),
        "max": call(f"tl.maximum({{0}},{BREAK}{{1}})", 2),
        "isqrt": call("_isqrt({0}, {T})", 1, "isqrt"),
        "lookup": call(f"_entry({{0}},{BREAK}COUNT,{BREAK}{{1}})", 2, "entry"),
        "lookup.given": Op("tl.load({0} + {1})", ATOM, (10, 11)),
        "int": call(f"tl.cast({{0}},{BREAK}{{T}})", 1),
    }
    helpers = {"floor_div": FLOOR_DIV, "floor_mod": FLOOR_MOD, "isqrt": ISQRT, "entry": ENTRY}
    reserved = KEYWORDS | {"tl", "triton"}
    broadcast = "tl.broadcast_to"
    has_fits = has_checks = False
    narrow_index = True
    kernel_types = ()
    static = "argument"
    cast = "tl.cast({0}, {T})"
    declaration = "{name} = {expr}"
    infers = widens = True

    def unit_name(self, name: str) -> str:
        """The name of the module, another one than that of the plain Python module."""
        return f"{super(NumpyPrinter, self).unit_name(name)}_triton"

    # -- what the language can compute -------------------------------------------------------

    def extent(self, size: Node, axis: str) -> Node:
        """A size that the compiler knows, a power of two; quotients are Python's there."""
        if size.op == "const" and number(size).bit_count() != 1:
            raise TargetError(
                f"the axis {axis} has {number(size)} elements, and {self.title}'s blocks a power of two; "
                "give the axis an index, or a size that is a parameter"
            )
        size = replace(
            size,
            op=size.op.removeprefix("floor"),
            args=tuple(self.extent(a, axis) if a.args else a for a in size.args),
        )
        if size.args and size.op not in STATIC:
            raise TargetError(
                f"the size of the axis {axis} is computed with {size.op!r}, which {self.title} does not "
                "know when it compiles; give the axis an index, or a size that is a parameter"
            )
        return size

    def fitted(self, function: Function) -> Function:
        """Several results are a plain tuple: no more comes back from a function of Triton's."""
        return replace(super().fitted(function), named=False)

    def fit(self, node: Node, function: Function) -> Node:
        """A choice of numbers is an int32 unless it is cast; given tables are pointers."""
        if node.op == "select" and function.index_type == "int64":
            if all(a.op == "const" for a in node.args[1:]):
                return replace(node, op="select.numbers")
        if node.op == "lookup" and node.args[0].value.given:
            return replace(node, op="lookup.given")
        return node

    def op(self, node: Node, view: FunctionView) -> Op:
        """The spelling; a table's length is put in."""
        found = super().op(node, view)
        if node.op != "lookup":
            return found
        return replace(found, text=found.text.replace("COUNT", str(len(node.args[0].value.values))))

    def dividing(self):
        """By tl.umulhi; the host is Python."""
        from lego_emit.printers.prepared_texts import triton

        return triton(self, PythonPrinter())

    # -- texts for the template --------------------------------------------------------------

    def emit(self, program: Program) -> str:
        """The module, with two blank lines before each function."""
        return super().emit(program).replace("\n\n@triton", "\n\n\n@triton")

    def imports(self, functions: Sequence[FunctionView]) -> list[str]:
        """The imports of Triton and its language."""
        return ["import triton\nimport triton.language as tl"]

    def module_docs(self, program: Program) -> list[str]:
        """The lines of the module's docstring."""
        summary = (
            "Index functions to be called in Triton's kernels, on numbers and on blocks of them."
        )
        return self._docstring(summary, [], [program.title])

    def table(self, entries: Entries, index_type: str) -> str:
        """A tuple that the compiler knows."""
        lines = self.entry_lines(entries, index_type, 4)
        return f"{entries.name} = tl.constexpr((\n{lines},\n))  # fmt: skip"

    def _head(self, name: str, parameters: str, result: str) -> str:
        return f"@triton.jit\n{super()._head(name, parameters, result)}"

    def statements(self, f: FunctionView) -> list[str]:
        """The function's statements; of 64 bits what is read is as wide first."""
        wide = [p.name for p in f.passed if p.name in f.used] * (f.index_type == "int64")
        casts = [f"{name} = tl.cast({name}, {f.T})" for name in wide]
        return [*casts, *super().statements(f)]

    def static_parameter(self, form: str, one: Param, T: str) -> str:
        """One that the compiler knows."""
        return f"{one.name}: tl.constexpr"

    def values(self, f: FunctionView) -> list[str]:
        """The expressions of the results, in order."""
        return f.texts()

    # -- the array form ----------------------------------------------------------------------

    def array_parameters(self, f: FunctionView) -> list[str]:
        """The parameters of the array form: of a block's size the compiler must know the numbers."""
        sizes = {n.value for _, extent in f.axes for n in extent.walk() if n.op == "var"}
        return [f"{name}: tl.constexpr" if name in sizes else name for name in self.scalars(f)]

    def block(self, size: str, axis: int, axes: int, vector: str = "") -> str:
        """A range among axes of one element."""
        places = ("None",) * axis + (":",) + ("None",) * (axes - axis - 1)
        text = f"tl.arange({size})" if "," in size else f"tl.arange(0, {size})"
        return (vector or text) + f"[{', '.join(places)}]" * (axes > 1)
