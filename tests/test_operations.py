"""Every table that has a row for each operation has those of operations.py, and no others."""

import pytest

from lego_emit.arith import from_sympy, node_spelling, simplifier, sympy_nodes
from lego_emit.check import emission
from lego_emit.emit.registry import printer, targets
from lego_emit.lower import at_every_point, lowering
from lego_emit.operations import LOGIC, OPS

SPELLED = {op: row for op, row in OPS.items() if op not in ("loop", "switch")}  # statements
ONE = {
    row.floored or op for op, row in SPELLED.items()
}  # div and mod are one with those of any sign
NODES = ONE - {"int"}  # a condition is 0 or 1 in SymPy
NAMES = {kind.__name__ for kind in sympy_nodes.NODES.values()}
INTEGERS = {op for op, row in SPELLED.items() if row.gives == "i"}
POLYNOMIALS = {"add", "sub", "mul", "neg", "not"}  # the normal form has no atom of these
ATOMS = {
    "sym",
    "node",
    "digit",
    "opaque",
    "bool",
    "loop",
    "switch",
}  # that are no operation, or "int"
NO_ROOT = NAMES - {"Isqrt"}  # Python's is math.isqrt, which no template imports

# table: (its keys, those that it must have)
TABLES = {
    "check/emission.py, _PYTHON": ({*emission._PYTHON}, {row.sign or op for op, row in SPELLED.items()}),
    "arith/sympy_nodes.py, the node classes": ({*sympy_nodes.NODES}, NODES),
    "arith/from_sympy.py, _READ": (
        {k.op for k in from_sympy._READ if issubclass(k, sympy_nodes.IntegerNode)}, NODES,
    ),
    "arith/from_sympy.py, _COMPARISONS": (
        {*from_sympy._COMPARISONS.values()}, {op for op, row in OPS.items() if row.opposite},
    ),
    "arith/simplifier.py, MAKE": (
        {*simplifier.MAKE} - ATOMS, (ONE & INTEGERS) - POLYNOMIALS - {"int"},
    ),
    "lower/at_every_point.py, _COLUMNS": ({*at_every_point._COLUMNS}, {*OPS}),
    "lower/lowering.py, _VALUES": (
        {*lowering._VALUES}, {op for op in INTEGERS if OPS[op].sign} | {"neg"},
    ),
    "operations.py, LOGIC": ({*LOGIC.values()}, {op for op, row in OPS.items() if "b" in row.takes and row.gives == "b"}),
    "arith/node_spelling.py, PYTHON": ({*node_spelling.PYTHON}, NO_ROOT),
    "arith/node_spelling.py, ARRAY": ({*node_spelling.ARRAY}, NAMES),
    "arith/node_spelling.py, C": ({*node_spelling.C}, NAMES),
    "arith/node_spelling.py, LATEX": ({*node_spelling.LATEX}, NAMES),
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_a_row_for_each_operation(table):
    found, wanted = TABLES[table]
    assert wanted - found == set(), (
        f"{table} has no row for an operation of lego_emit/operations.py"
    )
    assert found - wanted == set(), f"{table} has a row for what lego_emit/operations.py has not"


LACKS = {"mlir": {"neg", "not", "lnot"}}  # printers/mlir.py makes these of others


@pytest.mark.parametrize("language", targets())
def test_a_printer_spells_each_operation(language):
    """Further keys are spellings that a printer's fit() chooses."""
    lacking = {*SPELLED} - {*printer(language).ops}
    assert lacking == LACKS.get(language, set()), f"the ops of the printer of {language}"
