"""CUDA C for the device: nvcc takes every emitted program without a warning, and the same file is
a host header."""

import shutil
from math import isqrt

import numpy as np
import programs
import pytest
from test_programs import CASES

from lego_emit.emit import emit_program
from lego_emit.targets.cuda import CudaTarget

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")
CUDA = CudaTarget()


@needs_nvcc
def test_every_program_compiles_for_the_device(tmp_path):
    units = [emit_program(program, "cuda") for program in CASES.values()]
    units.append(emit_program(programs.every_operation("uint32"), "cuda"))
    for cubin in CUDA.cubin(units, tmp_path):
        assert cubin.read_bytes()[:4] == b"\x7fELF"


@needs_nvcc
def test_device_and_host_in_one_translation_unit(tmp_path):
    """Two units in one file, compiled by nvcc for both sides with the host's strict warnings."""
    for program in (programs.every_operation("int64"), programs.several_outputs()):
        (tmp_path / f"{program.name}.cuh").write_text(emit_program(program, "cuda").source)
    (tmp_path / "both.cu").write_text(
        '#include "every_operation.cuh"\n#include "several_outputs.cuh"\n'
        "static_assert(op_floordiv(-7, 2) == -4);\n"
        "__global__ void run(int *out) { out[0] = several(out[1], out[2]).k; }\n"
        "int host(int a) { return several(a, a).j; }\n"
    )
    strict = "-Wall,-Wextra,-Wconversion,-Wsign-conversion,-Werror"
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler", strict]
    CUDA.execute([*command, "-c", "both.cu"], cwd=tmp_path)


@needs_gxx
def test_helpers_are_exact_at_the_ends_of_the_type():
    """floor_mod(least, -1), floor_div and the square root of the greatest, and least literals."""
    a, b = programs.var("a"), programs.var("b")
    for index_type, bits in (("int32", 31), ("int64", 63)):
        least, most = -(2**bits), 2**bits - 1
        outputs = {
            "mod": programs.node("floormod", a, b),
            "least": programs.node("max", programs.const(least), a),
        }
        ends = programs.function("ends", outputs, index_type)
        root = programs.function("root", {"r": programs.node("isqrt", a)}, index_type, "a")
        div = programs.function("quot", {"q": programs.node("floordiv", a, b)}, index_type)
        one = programs.const(1)
        wide = programs.node("shl", one, programs.var("a", 0, bits - 1))
        shift = programs.function("shift", {"s": wide}, index_type, "a")
        program = programs.Program("ends_unit", (ends, root, div, shift), "ends")
        run = emit_program(program, "cuda").compile()
        for x in (least, least + 1, -1, 0, 1, most):
            for y in (least, -3, -1, 1, 2, most):
                assert run["ends"](x, y) == (x % y, max(x, least))
                if least <= x // y <= most:
                    assert run["quot"](x, y) == x // y
        for x in (0, 1, 3, 4, most - 1, most):
            assert run["root"](x) == isqrt(x)
        assert run["shift"](np.arange(bits)).tolist() == [1 << k for k in range(bits)]


def test_names_of_the_headers_are_kept_free():
    result = {"result": programs.node("max", programs.var("unit_max"), programs.var("EOF"))}
    f = programs.function("div", result, "int32", ["unit_max", "EOF"])
    emitted = emit_program(programs.Program("unit", (f,), "names"), "cuda")
    assert emitted.functions[0].name == "div_v"
    assert [p.name for p in emitted.functions[0].params] == ["unit_max_2", "EOF_v"]
