"""MLIR: every golden case as mlir-opt reads it, the oldest and the newest, widths, signs, array forms,
names, tables of run time, and that nothing is computed twice."""

import ctypes
import math
import os
import re
import subprocess

import index_functions
import numpy as np
import programs
import pytest
from marks import every_width

from lego_emit import GroupBy, Lookup, generate, golden, isqrt
from lego_emit.emit import registry as printers
from lego_emit.emitted import emit_program
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Program
from lego_emit.run import registry
from lego_emit.targets import mlir
from lego_emit.targets.mlir import MlirTarget

INDEX_TYPES = ("int32", "int64", "uint32", "uint64", "index")
PROGRAMS = (programs.every_operation, programs.several_outputs, programs.nasty_names)
SPLIT = "\n// -----\n"
NAME = r"%[\w.$-]+"


@pytest.fixture(scope="module")
def toolchain():
    found = registry.toolchain("mlir")
    try:
        found.find()
    except ToolchainError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return found


@pytest.fixture
def oldest(toolchain, monkeypatch):
    """LLVM 16 in place of the newest."""
    monkeypatch.setattr(mlir, "VERSIONS", ("-16",))
    return toolchain


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


@pytest.fixture(scope="module")
def units(cases):
    """Every golden case, with and without its numbers, array forms and the hand-built programs."""
    made = [case.emit("mlir") for case in cases]
    made += [case.emit("mlir", True) for case in cases if case.sizes]
    made += [unit for unit, _, _ in index_functions.array_units("mlir", INDEX_TYPES)]
    return made + [
        emit_program(program(t), "mlir") for program in PROGRAMS for t in INDEX_TYPES[:2]
    ]


def optimized(toolchain, text, *passes, program=""):
    """What mlir-opt makes of modules that are split by // -----."""
    program = program or toolchain.find().path
    command = [program, "--split-input-file", "--verify-each", *passes, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def operations(text):
    """How many operations have a result, or return one."""
    return len(re.findall(rf"^\s*(?:{NAME}(?::\d+)? = |return|memref\.store|scf\.)", text, re.M))


# -- every golden case ---------------------------------------------------------------------------


@pytest.mark.slow
def test_mlir_opt_takes_every_file_as_it_stands(toolchain, units):
    whole = SPLIT.join(u.source for u in units)
    versions = [*mlir.installed()]
    if os.environ.get("CI"):
        assert versions[0].number > versions[-1].number == 16
    for llvm in versions[:: max(1, len(versions) - 1)]:
        modules = optimized(toolchain, whole, program=llvm.opt).split("// -----")
        assert len(modules) == len(units) > 250
        for unit, module in zip(units, modules, strict=True):
            assert operations(module) == operations(unit.source)
            assert max(map(len, unit.source.splitlines())) <= 100 or "long_long" in unit.source


@pytest.mark.deep
def test_every_case_over_every_index_by_the_oldest(oldest, cases):
    """tests/test_golden.py has the newest."""
    assert oldest.find().path.endswith("-16")
    result = golden.verify(cases, "mlir")
    assert result.comparisons > 20000 and not result.mismatches


@pytest.mark.deep
def test_nothing_is_computed_twice(toolchain, cases):
    """Common subexpressions are none, and each constant stands once."""
    for case in cases:
        for body in re.split(r"^func\.func", case.emit("mlir").source, flags=re.M)[1:]:
            made = re.findall(rf"^  {NAME} = (.*)", body, re.M)
            assert len(made) == len(set(made))
    plain = SPLIT.join(case.emit("mlir").source for case in cases)
    assert operations(optimized(toolchain, plain, "--cse")) == operations(plain)


@pytest.mark.deep
@every_width
def test_cases_without_a_sign(toolchain, cases):
    counts = index_functions.assert_every_width(cases, "mlir", ["uint32"])
    assert len(cases) - 7 == counts["uint32"]  # an anti-diagonal in the form for MLIR goes below 0


@pytest.mark.deep
@every_width
def test_every_case_in_mlirs_index(toolchain, cases):
    """Each parses and has its table; a look-up takes its place without a cast."""
    assert index_functions.assert_every_width(cases, "mlir", ["index"]) == {"index": len(cases)}


def test_index_needs_no_cast():
    table = generate(
        Lookup([6], [4, 0, 3, 5, 1, 2]), "mlir", name="perm", index_type="index"
    ).source
    assert "memref.load %0[%i] : memref<6xindex>" in table and "index_cast" not in table
    filled = generate(lambda i: GroupBy([4, 6])[i, :], "mlir", name="f", index_type="index").source
    assert "%0 = func.call @f(%i, %j) : (index, index) -> index" in filled
    assert "index_cast" not in filled


# -- array forms, signs, ends --------------------------------------------------------------------


@pytest.mark.slow
def test_array_forms(toolchain):
    index_functions.assert_arrays(toolchain, index_functions.array_units("mlir", INDEX_TYPES))


@pytest.mark.slow
@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_floors_and_positions_at_the_ends_of_the_type(toolchain, index_type):
    """Among them what LLVM 16 divides wrongly: -(2**31 - 1) by -1, rounded down."""
    compared = index_functions.assert_floors(toolchain, index_type)
    assert compared > (400 if index_type.startswith("uint") else 1000)
    index_functions.assert_border(toolchain, index_type)


def by_seven(a):
    return a // 7, a % 7


@pytest.mark.slow
@pytest.mark.parametrize("index_type", ["int32", "int64", "index"])
def test_a_positive_divisor_needs_no_helper(toolchain, index_type):
    unit = generate(by_seven, "mlir", index_type=index_type)
    assert "call" not in unit.source and "arith.floordivsi %a, %c7" in unit.source
    low, high = programs.INDEX_TYPES[index_type].ends
    values = np.array([low, low + 1, low + 6, *range(-15, 16), high - 1, high], np.int64)
    (run,) = toolchain.compile([unit])
    quotient, rest = run["by_seven"](values)
    wanted = [(int(a) // 7, int(a) % 7) for a in values]
    assert list(zip(quotient.tolist(), rest.tolist(), strict=True)) == wanted


@pytest.mark.slow
def test_roots(toolchain):
    made = [generate(lambda n: isqrt(n), "mlir", name="f", index_type=t) for t in INDEX_TYPES]
    for run, index_type in zip(toolchain.compile(made), INDEX_TYPES, strict=True):
        high = programs.INDEX_TYPES[index_type].most
        top = math.isqrt(high)
        values = [*range(70), top**2 - 1, top**2, high - 1, high]
        given = np.array(values, np.uint64).view(np.int64)
        assert run["f"](given).tolist() == [math.isqrt(v) for v in values]


@pytest.mark.slow
@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_conditions_and_constants(toolchain, index_type):
    """Complements of every condition, the ends of the type, negation, all bits turned."""
    low, high = programs.INDEX_TYPES[index_type].ends
    a, b = programs.var("a", 0, 50), programs.var("b", 0, 50)
    node, const = programs.node, programs.const
    tests = [node(op, a, b) for op in ("lt", "le", "gt", "ge", "eq", "ne")]
    both, either = node("land", tests[0], tests[5]), node("lor", tests[4], node("lnot", tests[2]))
    whole = [*tests, both, either, node("lnot", both), node("lnot", node("lnot", either))]
    outputs = {f"c{k}": node("int", node("lnot", test)) for k, test in enumerate(whole)}
    outputs["low"] = node("select", tests[0], const(low), const(high))
    outputs["bits"] = node("and", node("not", a), const(255))
    outputs["least"], outputs["most"] = node("min", a, const(7)), node("max", const(7), b)
    function = programs.function("f", outputs, index_type)
    unit = emit_program(Program("f", (function,), "f"), "mlir")
    (run,) = toolchain.compile([unit])
    points = [(x, y) for x in (0, 1, 7, 9, 50) for y in (0, 1, 7, 9, 50)]
    found = np.stack(run["f"](*np.array(points).T), axis=-1)
    mask = 2**64 - 1 if index_type == "uint64" else -1
    for row, (x, y) in zip(found.tolist(), points, strict=True):
        wanted = [v & mask for v in function.evaluate({"a": x, "b": y}).values()]
        assert [v & mask for v in row] == wanted


# -- names, tables of run time -------------------------------------------------------------------


def f(c4_i32, c1, func, i32, true, out, ü):
    return GroupBy([c1, 4])[:, (c4_i32 + func + i32 + true + out + ü) % 4]


@pytest.mark.slow
def test_names(toolchain):
    helpers = {"f": f, "f_positions": lambda n, i: GroupBy([n])[i], "f_floor_mod_i32": by_seven}
    units = [generate(helpers, "mlir", name="f", index_type=t) for t in ("int32", "uint32")]
    for unit, run in zip(units, toolchain.compile(units), strict=True):
        first = unit.functions[0]
        assert ("c4_i32", "c4_i32_v") in first.renamed and ("ü", "ufc") in first.renamed
        assert [p.name for p in first.params][1:6] == ["c1", "func", "i32", "true", "out"]
        array = run.array(first.name)(1, 3, 1, 1, 1, 1, 1)
        assert array.tolist() == [4 * i + 2 for i in range(3)]
        names = re.findall(r"^func\.func (?:private )?@(\w+)", unit.source, re.M)
        assert len(names) == len(set(names)) == 4


def given(i, j, k):
    return GroupBy([5, 24])[k, Lookup([4, 6], "perm")[i, j]]


@pytest.mark.slow
def test_a_table_of_run_time_is_a_buffer(toolchain, tmp_path):
    unit = generate(given, "mlir")
    assert "%perm: memref<?xi32>) -> i32" in unit.source
    MlirTarget().shared(unit.source, tmp_path, tmp_path / "given.so")
    called = ctypes.CDLL(str(tmp_path / "given.so")).given
    table = np.roll(np.arange(24, dtype=np.int32), 5)
    pointer, wide = ctypes.c_void_p(table.ctypes.data), ctypes.c_int64
    for i, j, k in [(0, 0, 0), (3, 5, 4), (1, 2, 3)]:
        buffer = (pointer, pointer, wide(0), wide(24), wide(1))
        assert called(i, j, k, *buffer) == 24 * k + table[6 * i + j]


def test_tables_are_private_constants():
    unit = generate(Lookup([6], [4, 0, 3, 5, 1, 2]), "mlir", name="perm")
    assert 'memref.global "private" constant @perm_table : memref<6xi32>' in unit.source
    assert "arith.index_cast %i : i32 to index" in unit.source
    unsigned = generate(Lookup([6], [4, 0, 3, 5, 1, 2]), "mlir", index_type="uint32")
    assert "arith.index_castui" in unsigned.source


# -- idiom ---------------------------------------------------------------------------------------


def test_the_text():
    def shifted(i, shift):
        return (i + shift) % 7 - 3

    source = generate(shifted, "mlir", index_type="int32").source
    assert source.endswith(
        """
func.func @shifted(%i: i32, %shift: i32) -> i32 {
  %c7_i32 = arith.constant 7 : i32
  %c0_i32 = arith.constant 0 : i32
  %c3_i32 = arith.constant 3 : i32
  %0 = arith.addi %i, %shift : i32
  %1 = arith.remsi %0, %c7_i32 : i32
  %2 = arith.cmpi slt, %1, %c0_i32 : i32
  %3 = arith.addi %1, %c7_i32 : i32
  %4 = arith.select %2, %3, %1 : i32
  %5 = arith.subi %4, %c3_i32 : i32
  return %5 : i32
}
"""
    )


def test_no_parameters_and_parameters_that_are_not_read():
    source = emit_program(programs.one_parameterless(), "mlir").source
    assert "func.func @answer() -> i32 {\n  %c42_i32 = arith.constant 42 : i32\n" in source
    source = generate(lambda M, N, i: GroupBy([M, N])[2, i], "mlir", name="row").source
    assert "@row(%M: i64, %N: i64, %i: i64) -> i64" in source


def test_a_missing_program_is_told(monkeypatch, tmp_path):
    (tmp_path / "mlir-opt").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="mlir-opt, mlir-translate, llc of one version"):
        MlirTarget().find()


def test_no_word_is_reserved():
    assert printers.printer("mlir").legal_name("func") == "func"
    assert printers.printer("mlir").legal_name("c12_i64") == "c12_i64_v"
