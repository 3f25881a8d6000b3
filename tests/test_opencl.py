"""OpenCL C: every golden case under clang's OpenCL 1.2 to 3.0 and in every index type, array forms,
signs, and the names of the built-in functions. tests/test_golden.py runs the cases on a device."""

import os
import re
import subprocess
from pathlib import Path

import index_functions
import numpy as np
import programs
import pytest
from marks import golden_lowered

from lego_emit import Lookup, generate
from lego_emit.emit import registry as printers
from lego_emit.emitted import emit_program
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Program
from lego_emit.run import registry
from lego_emit.run.target import grouped
from lego_emit.targets import opencl

OPENCL = printers.printer("opencl")
INDEX_TYPES = ("int32", "int64", "uint32", "uint64")
STRICT = (
    "-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror -fsyntax-only".split()
)
BUILT_INS = "abs all any clamp distance dot get_global_id length max min rotate select".split()
TYPES = "bool complex constant event_t global half int4 kernel local main quad uint ulong".split()
pytestmark = pytest.mark.slow


@pytest.mark.deep
@golden_lowered
def test_every_golden_case_strictly(need, tmp_path):
    """With and without numbers, array forms and the hand-built programs."""
    clang = need("clang", "apt-get install clang")
    units = [case.emit("opencl") for case in index_functions.golden_cases()]
    units += [c.emit("opencl", True) for c in index_functions.golden_cases() if c.sizes]
    units += [unit for unit, _, _ in index_functions.array_units("opencl", INDEX_TYPES)]
    units += [emit_program(programs.every_operation(t), "opencl") for t in INDEX_TYPES]
    units += [emit_program(programs.nasty_names(t), "opencl") for t in INDEX_TYPES]
    for k, unit in enumerate(units):
        (tmp_path / f"{k}.cl").write_text(unit.source)
    names = []
    for g, group in enumerate(grouped(units)):
        names.append(f"group_{g}.cl")
        (tmp_path / names[-1]).write_text("".join(f'#include "{k}.cl"\n' for k in group))
    assert len(units) > 250 > 30 > len(names)
    for standard in ("CL1.2", "CL2.0", "CL3.0"):
        command = [clang, "-x", "cl", f"-cl-std={standard}", *STRICT, *names]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def device():
    target = registry.toolchain("opencl")
    try:
        target.find()
    except ToolchainError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return target


def test_array_forms(device):
    index_functions.assert_arrays(device, index_functions.array_units("opencl", INDEX_TYPES[:1]))


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_floors_and_the_greatest_values(device, index_type):
    compared = index_functions.assert_floors(device, index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)
    index_functions.assert_border(device, index_type)


def test_numbers_in_calls_of_overloaded_functions_have_the_index_type():
    a = programs.var("a")
    outputs = {"r": programs.node("max", programs.node("min", a, programs.const(9)), a)}
    outputs["s"] = programs.node("min", programs.const(-5), a)
    texts = {}
    for t in INDEX_TYPES[:2]:
        program = Program("u", (programs.function("f", outputs, t, "a"),), "u")
        texts[t] = emit_program(program, "opencl").source, emit_program(program, "metal").source
    assert "max(min(a, 9), a), min(-5, a)" in texts["int32"][0]
    assert "max(min(a, (long)9), a), min((long)-5, a)" in texts["int64"][0]
    assert "metal::min(long(-5), a)" in texts["int64"][1]


def test_names_of_the_language_and_its_functions(device):
    """As functions, and all of them as parameters of each."""
    names = [*BUILT_INS, *TYPES]
    total = programs.const(1)
    for k, name in enumerate(names):
        total = programs.node(
            "add", total, programs.node("mul", programs.const(k), programs.var(name))
        )
    least = programs.node(
        "min", total, programs.node("max", programs.var("abs"), programs.const(0))
    )
    made = [programs.function(name, {"r": least}, "int64", names) for name in names]
    unit = emit_program(Program("unit", tuple(made), "names"), "opencl")
    assert [f.name for f in unit.functions] == [f"{name}_v" for name in names]
    taken = {p.name for p in unit.functions[0].params}
    assert {"abs", "all", "min_v", "kernel_v"} <= taken, "a parameter may have a function's name"
    (run,) = device.compile([unit])
    values = [3 * k - 20 for k in range(len(names))]
    wanted = min(1 + sum(k * v for k, v in enumerate(values)), max(values[0], 0))
    assert {run[f.name](*values) for f in unit.functions} == {wanted}


def test_no_function_has_a_built_in_name(need):
    """What clang's header declares; of extensions, those of sub groups aside."""
    clang = need("clang", "apt-get install clang")
    done = subprocess.run(
        [clang, "-print-resource-dir"], capture_output=True, text=True, check=True
    )
    text = (Path(done.stdout.strip()) / "include" / "opencl-c.h").read_text()
    text = re.sub(r"__attribute__\(\(.*?\)\)", "", text)
    declared = set(re.findall(r"__ovld[^;(]*?\b(\w+)\s*\(", text))
    assert len(declared) > 1000
    extensions = re.compile("intel_|arm_|amd_|sub_group_")
    missing = {n for n in declared - OPENCL.reserved_functions if not extensions.match(n)}
    assert not missing, sorted(missing)


def test_tables(device):
    """Of every type, to its ends; one that is given is a pointer to global memory."""
    for t in INDEX_TYPES:
        low, high = (0, 2 ** int(t[-2:]) - 1) if t[0] == "u" else (-(2**31), 2**31 - 1)
        values = [7, high, low, 3, high - 1]
        place = programs.node("lookup", programs.table(*values), programs.var("a", 0, 4))
        function = programs.function("look", {"r": place}, t, "a")
        unit = emit_program(Program("unit", (function,), "table"), "opencl")
        assert "static constant " in unit.source
        (run,) = device.compile([unit])
        assert [int(x) % 2**64 for x in run["look"](np.arange(5))] == [v % 2**64 for v in values]
    source = generate(Lookup([6], "perm"), "opencl", name="given").source
    assert "given_apply(int i, global const int *perm)" in source


def test_what_the_compiler_refuses_is_told(device):
    with pytest.raises(ToolchainError, match=r"a program was refused(.|\n)*error"):
        opencl.open_device().build("kernel void f(global int *p) { p[0] = nothing; }")
