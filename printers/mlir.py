"""MLIR: functions of the dialects func and arith; memref where there are tables, scf in a loop.

Reference: https://mlir.llvm.org/docs/Dialects/ArithOps/ (integers have no sign, operations do:
divsi and remsi round towards zero, floordivsi rounds down) and https://mlir.llvm.org/docs/LangRef/
(names are %x and @f, so that no word is reserved).
"""

import re
import textwrap
from dataclasses import replace

from lego_emit.emit import loops
from lego_emit.emit.printer import BREAK, FunctionView, Op, Printer, call, unsigned_fit
from lego_emit.ir.index_types import INT64, IndexType
from lego_emit.ir.nodes import Node
from lego_emit.notation import C
from lego_emit.operations import OPS
from lego_emit.printers.c_family import wrapped
from lego_emit.printers.mlir_block import Block, Fill
from lego_emit.printers.mlir_kernel import kernel_lines

ISQRT = """
// The square root rounded down, two bits of %n at a time.
func.func private @{{ unit }}_isqrt_{{ T }}(%n: {{ T }}) -> {{ T }} {
  %c0_{{ T }} = arith.constant 0 : {{ T }}
  %c1_{{ T }} = arith.constant 1 : {{ T }}
  %c2_{{ T }} = arith.constant 2 : {{ T }}
  %top = arith.constant {{ 2 ** 30 if T == "i32" else 2 ** 62 }} : {{ T }}
  %result:3 = scf.while (%rest = %n, %root = %c0_{{ T }}, %bit = %top)
      : ({{ T }}, {{ T }}, {{ T }}) -> ({{ T }}, {{ T }}, {{ T }}) {
    %more = arith.cmpi ne, %bit, %c0_{{ T }} : {{ T }}
    scf.condition(%more) %rest, %root, %bit : {{ T }}, {{ T }}, {{ T }}
  } do {
  ^bb0(%rest: {{ T }}, %root: {{ T }}, %bit: {{ T }}):
    %sum = arith.addi %root, %bit : {{ T }}
    %fits = arith.cmpi uge, %rest, %sum : {{ T }}
    %less = arith.subi %rest, %sum : {{ T }}
    %next_rest = arith.select %fits, %less, %rest : {{ T }}
    %half = arith.shrui %root, %c1_{{ T }} : {{ T }}
    %more_root = arith.addi %half, %bit : {{ T }}
    %next_root = arith.select %fits, %more_root, %half : {{ T }}
    %next_bit = arith.shrui %bit, %c2_{{ T }} : {{ T }}
    scf.yield %next_rest, %next_root, %next_bit : {{ T }}, {{ T }}, {{ T }}
  }
  return %result#1 : {{ T }}
}
"""

FLOOR_DIV = """
// The quotient rounded down, where the divisor may be negative.
func.func private @{{ unit }}_floor_div_{{ T }}(%a: {{ T }}, %b: {{ T }}) -> {{ T }} {
  %c-1_{{ T }} = arith.constant -1 : {{ T }}
  %c0_{{ T }} = arith.constant 0 : {{ T }}
  %quotient = arith.divsi %a, %b : {{ T }}
  %product = arith.muli %quotient, %b : {{ T }}
  %inexact = arith.cmpi ne, %product, %a : {{ T }}
  %signs = arith.xori %a, %b : {{ T }}
  %differ = arith.cmpi slt, %signs, %c0_{{ T }} : {{ T }}
  %above = arith.andi %inexact, %differ : i1
  %less = arith.addi %quotient, %c-1_{{ T }} : {{ T }}
  %result = arith.select %above, %less, %quotient : {{ T }}
  return %result : {{ T }}
}
"""

FLOOR_MOD = """
// The remainder of the quotient rounded down: it has the divisor's sign.
func.func private @{{ unit }}_floor_mod_{{ T }}(%a: {{ T }}, %b: {{ T }}) -> {{ T }} {
  %c-1_{{ T }} = arith.constant -1 : {{ T }}
  %c0_{{ T }} = arith.constant 0 : {{ T }}
  %c1_{{ T }} = arith.constant 1 : {{ T }}
  %is_minus_one = arith.cmpi eq, %b, %c-1_{{ T }} : {{ T }}
  // The least integer by -1 is undefined.
  %divisor = arith.select %is_minus_one, %c1_{{ T }}, %b : {{ T }}
  %rest = arith.remsi %a, %divisor : {{ T }}
  %signs = arith.xori %rest, %divisor : {{ T }}
  %differ = arith.cmpi slt, %signs, %c0_{{ T }} : {{ T }}
  %some = arith.cmpi ne, %rest, %c0_{{ T }} : {{ T }}
  %wrong = arith.andi %differ, %some : i1
  %sum = arith.addi %rest, %divisor : {{ T }}
  %result = arith.select %wrong, %sum, %rest : {{ T }}
  return %result : {{ T }}
}
"""


def operation(name: str, arity: int) -> Op:
    """An operation of arith on values of the index type."""
    values = f",{BREAK}".join(f"{{{k}}}" for k in range(arity))
    return call(f"arith.{name} {values} : {{T}}", arity)


def called(helper: str, arity: int) -> Op:
    """The call of a helper, which has the type in its name."""
    values = ", ".join(f"{{{k}}}" for k in range(arity))
    types = ", ".join(["{T}"] * arity)
    return call(f"call @{{unit}}_{helper}_{{T}}({values}) : ({types}) -> {{T}}", arity, helper)


def steps(*texts: str, arity: int) -> Op:
    """Several operations, a line each: the results of the first ones have the numbers after the
    operands'."""
    return call("\n".join(texts), arity)


def compared(sign: str) -> dict[str, Op]:
    """The comparisons of signed or unsigned integers."""
    order = {name: f"{sign}{name}" for name in ("lt", "le", "gt", "ge")}
    return {
        name: call(f"arith.cmpi {predicate}, {{0}}, {{1}} : {{T}}", 2)
        for name, predicate in (order | {"eq": "eq", "ne": "ne"}).items()
    }


def place(cast: str) -> dict[str, Op]:
    """Look-ups: a place of the index type becomes an index by a cast."""
    index = f"arith.{cast} {{1}} : {{T}} to index"
    return {
        "lookup": steps(
            "memref.get_global @{0} : {table}", index, "memref.load {2}[{3}] : {table}", arity=2
        ),
        "lookup.given": steps(index, "memref.load %{0}[{2}] : {table}", arity=2),
    }


SIGNED: dict[str, Op] = {
    **{name: operation(f"{name}i", 2) for name in ("add", "sub", "mul", "and", "or", "xor")},
    "div": operation("divsi", 2),
    "mod": operation("remsi", 2),
    "floordiv": called("floor_div", 2),
    "floordiv.positive": operation("floordivsi", 2),
    "floormod": called("floor_mod", 2),
    "floormod.positive": steps(
        "arith.remsi {0}, {1} : {T}",
        "arith.cmpi slt, {3}, {2} : {T}",
        "arith.addi {3}, {1} : {T}",
        "arith.select {4}, {5}, {3} : {T}",
        arity=3,
    ),
    "shl": operation("shli", 2),
    "shr": operation("shrsi", 2),
    "min": operation("minsi", 2),
    "max": operation("maxsi", 2),
    "isqrt": called("isqrt", 1),
    **compared("s"),
    "land": call("arith.andi {0}, {1} : i1", 2),
    "lor": call("arith.ori {0}, {1} : i1", 2),
    "int": call("arith.extui {0} : i1 to {T}", 1),
    "select": operation("select", 3),
    **place("index_cast"),
}

UNSIGNED: dict[str, Op] = {
    **SIGNED,
    "div": operation("divui", 2),
    "mod": operation("remui", 2),
    "shr": operation("shrui", 2),
    "min": operation("minui", 2),
    "max": operation("maxui", 2),
    **compared("u"),
    **place("index_castui"),
}

INDEX = IndexType(
    "index", *INT64.ends
)  # as wide as a pointer, which is 64 bits on all targets here
INDICES: dict[str, Op] = {
    "int": call("arith.index_castui {0} : i1 to {T}", 1),
    "lookup": steps("memref.get_global @{0} : {table}", "memref.load {2}[{1}] : {table}", arity=2),
    "lookup.given": call("memref.load %{0}[{1}] : {table}", 2),
}

COMPLEMENTS = {op: row.opposite for op, row in OPS.items() if row.opposite}
COMPLEMENTS |= {"land": "lor", "lor": "land"}
CONSTANT = re.compile(r"c\d+_(i32|i64|index)")  # what constants are called


class MlirPrinter(Printer):
    """MLIR's operations, one a line, each result with a name."""

    binds = False
    name = "mlir"
    title = "MLIR"
    notation = C
    remark = "//"
    extension = ".mlir"
    types = {"int32": "i32", "int64": "i64", "uint32": "i32", "uint64": "i64", INDEX: "index"}
    wrapping = {"uint32": "wraps", "uint64": "wraps"}
    ops = SIGNED
    typed_ops = {"uint32": UNSIGNED, "uint64": UNSIGNED, "index": INDICES}
    helpers = {"floor_div": FLOOR_DIV, "floor_mod": FLOOR_MOD, "isqrt": ISQRT}
    kernel_types, kernel_lines = ("index",), kernel_lines
    template = "mlir.jinja"
    has_maps = True
    lazy_select = False
    caches_tables = False

    def legal_name(self, name):
        """Constants keep their names for themselves."""
        legal = super().legal_name(name)
        return f"{legal}_v" if CONSTANT.fullmatch(legal) else legal

    def unit_scope(self, unit):
        """The helpers, which have the type in their names."""
        return {f"{unit}_{helper}_{T}" for helper in self.helpers for T in self.types.values()}

    def companions(self, name):
        """The array form's name."""
        return {self.array_name(name)}

    def fit(self, node, function):
        """No operation negates or complements: a difference, an exclusive or, another comparison.
        Constants come last. A positive divisor needs no helper: floordivsi is for those alone, as
        LLVM 16 expands it to what divides the least integer by -1."""
        node = unsigned_fit(node, function)
        if node.op == "neg":
            return Node("sub", (constant(0), *node.args))
        if node.op == "not":
            return Node("xor", (*node.args, constant(-1)))
        if node.op == "lnot":
            return self.fit(complement(node.args[0]), function)
        if node.row.commutes and node.args[0].op == "const":
            return node.over(node.args[::-1])
        if node.op == "floordiv" and positive(node.args[1]):
            return replace(node, op="floordiv.positive")
        if node.op == "floormod" and positive(node.args[1]):
            return Node("floormod.positive", (*node.args, constant(0)))
        if node.op == "lookup" and node.args[0].value.given:
            return replace(node, op="lookup.given")
        return node

    def op(self, node, view):
        """A look-up says what type its table has."""
        op = super().op(node, view)
        if node.op.startswith("lookup"):
            entries = node.args[0].value
            table = f"memref<{'?' if entries.given else len(entries)}x{view.T}>"
            return replace(op, text=op.text.replace("{table}", table))
        return op

    def table_name(self, name, unit):
        """It begins with the unit's: there is no namespace."""
        return f"{unit}_{name}"

    def table(self, entries, index_type):
        """A constant of the module."""
        kind = f"memref<{len(entries)}x{self.types[index_type]}>"
        lines = self.entry_lines(entries, index_type, 4)
        head = f'memref.global "private" constant @{entries.name} : {kind} = dense<['
        return f"{head}\n{lines}\n]>"

    def table_parameter(self, form, T):
        """The parameter of a table that is given: a buffer of any length."""
        return f"%{{name}}: memref<?x{T}>"

    def comment(self, text: str) -> list[str]:
        """A paragraph of a comment as lines."""
        return wrapped(text, self.line_width - 3)

    def map_lines(self, f: FunctionView) -> list[str]:
        """The function's affine map, by a name, and what the dims and the symbols are."""
        found = f.map
        if found is None:
            return []
        symbols = ", ".join(extent.name for extent in found.symbols)
        dims = ", ".join(extent.name for extent in found.dims)
        about = (
            self.comment(f"The map's dims: {dims or 'none'}; its symbols: {symbols}")
            if symbols
            else []
        )
        text = textwrap.fill(
            f"#{f.name} = {found}",
            self.line_width,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [*(f"{self.remark} {line}" for line in about), *text.split("\n")]

    def head(self, f: FunctionView) -> str:
        """The line that begins a function, with its parameters and results."""
        parameters = f.signature("%{name}: {T}", separator=f",{BREAK}")
        results = ", ".join([f.T] * len(f.outputs))
        results = f"({results})" if len(f.outputs) > 1 else results
        return self.line(f"func.func @{f.name}({parameters}) -> {results} {{", 0)

    def fill(self, f: FunctionView) -> Fill:
        """What spells the array form of a function."""
        return Fill(self, f)

    def operations(self, f: FunctionView) -> list[str]:
        """The lines of a function's body: constants, then what is computed."""
        for _, node in f.body:
            if node.op == "loop":
                loops.lines(f, node, (), "", 0)  # which says that there is none
        block = Block(self, f)
        for name, node in f.body:
            block.values[name] = block.value(node, name)
        results = f",{BREAK}".join(block.value(node) for _, node in f.outputs)
        types = ", ".join([f.T] * len(f.outputs))
        lines = [*block.constants.items(), *block.lines.items()]
        return [
            *f.formulas(2),
            *(self.line(f"{name} = {text}", 2) for text, name in lines),
            self.line(f"return {results} : {types}", 2),
        ]


def constant(value: int) -> Node:
    """The node of a number, as loops in the array form need it."""
    return Node("const", (), value, value, value)


def positive(node: Node) -> bool:
    """Whether a node is proven to be at least 1."""
    low = node.value if node.op == "const" else node.lo
    return low is not None and low >= 1


def complement(node: Node) -> Node:
    """The condition that holds where the node does not."""
    if node.op == "lnot":
        return node.args[0]
    if node.op in ("land", "lor"):
        return Node(COMPLEMENTS[node.op], tuple(Node("lnot", (a,)) for a in node.args))
    return replace(node, op=COMPLEMENTS[node.op])
