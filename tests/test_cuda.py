"""CUDA C for the device: nvcc takes every emitted program without a warning, and the same file is
a host header; array forms as strided fills, widths, signs."""

import shutil
from math import isqrt

import index_functions
import numpy as np
import programs
import pytest
from marks import every_width
from test_programs import CASES

from lego_emit import GroupBy, generate, golden
from lego_emit.emitted import emit_program
from lego_emit.run import registry
from lego_emit.targets.cuda import CudaTarget

pytestmark = pytest.mark.slow

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on PATH")
CUDA = CudaTarget()
INDEX_TYPES = ("int32", "int64", "uint32", "uint64")


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


# -- golden cases --------------------------------------------------------------------------------


@needs_nvcc
def test_every_golden_case_compiles_for_the_device(cases, tmp_path):
    """One start of nvcc: with sizes as parameters and with their numbers put in."""
    units = [case.emit("cuda") for case in cases]
    units += [case.emit("cuda", numbers=True) for case in cases if case.sizes]
    cubins = CUDA.cubin(units, tmp_path)
    assert len(units) > 80 and len(cubins) == 2
    names = b"".join(cubin.read_bytes() for cubin in cubins)
    for u, unit in enumerate(units):
        for p, function in enumerate(unit.functions):
            assert f"lego_kernel_{u}_{p}".encode() in names
            assert (f"lego_fill_{u}_{p}".encode() in names) is bool(function.axes)


def test_every_golden_case_on_the_host_as_c_plus_plus_20(need, monkeypatch, cases):
    class Strict(CudaTarget):
        program = need("clang++", "apt-get install clang").rpartition("/")[2]
        flags = ("-std=c++20", *CudaTarget.flags[1:])

    monkeypatch.setattr(registry, "toolchain", lambda target: Strict())
    result = golden.verify(cases, "cuda")
    assert result.comparisons > 20000
    assert not result.mismatches, "\n".join(result.mismatches)


@pytest.mark.deep
@needs_gxx
@every_width
def test_every_case_in_every_index_type(cases):
    counts = index_functions.assert_every_width(cases, "cuda", INDEX_TYPES)
    assert counts["int32"] == counts["int64"] == len(cases)
    assert counts["uint32"] == counts["uint64"] == len(cases)


# -- array forms and signs -----------------------------------------------------------------------


@needs_gxx
def test_array_forms():
    """Each by three work items in turn."""
    units = index_functions.array_units("cuda", INDEX_TYPES)
    index_functions.assert_arrays(CUDA, units)


@needs_gxx
def test_a_fill_writes_its_own_share_and_no_more(tmp_path):
    unit = index_functions.array_units("cuda", ("int32",))[0][0]
    (tmp_path / "tile.cuh").write_text(unit.source)
    (tmp_path / "main.cpp").write_text(
        '#include "tile.cuh"\n\n'
        "int main() {\n"
        "  int one[16], four[16];\n"
        "  for (int n = 0; n < 16; ++n) one[n] = four[n] = -7;\n"
        "  tile_positions(12, 20, 3, 5, 2, 1, one, 0, 1);\n"
        "  for (int rank = 0; rank < 4; ++rank) {\n"
        "    tile_positions(12, 20, 3, 5, 2, 1, four, rank, 4);\n"
        "    for (int n = rank + 1; n < 4; ++n) if (four[n] != -7) return 1;\n"
        "  }\n"
        "  for (int n = 0; n < 15; ++n) {\n"
        "    if (one[n] != tile(12, 20, 3, 5, 2, 1, n / 5, n % 5) || four[n] != one[n]) return 2;\n"
        "  }\n"
        "  return one[15] == -7 && four[15] == -7 ? 0 : 3;\n"
        "}\n"
    )
    CUDA.execute(["g++", *CUDA.flags, "main.cpp", "-o", "main"], cwd=tmp_path)
    CUDA.execute([str(tmp_path / "main")])


def test_a_fill_counts_in_64_bits_where_32_are_not_proven():
    def pair(A, B, n, out, count):
        return GroupBy([A, B])[n, :], GroupBy([B, A])[out + count, :]

    unit = generate(pair, "cuda", index_type="int32")
    assert "const long long count_2 = static_cast<long long>(B) * A;" in unit.source
    assert "for (long long n_2 = rank; n_2 < count_2; n_2 += size) {" in unit.source
    assert "pair_result* out_2, int rank, int size)" in unit.source
    assert "static_cast<int>(n_2 / A), static_cast<int>(n_2 % A));" in unit.source
    fixed = generate(pair, "cuda", index_type="int32", sizes={"A": 4, "B": 8}).source
    assert "for (int n_2 = rank; n_2 < 32; n_2 += size) {" in fixed
    assert "n_2 >> 2, n_2 & 3);" in fixed


@needs_gxx
@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_floors_at_the_ends_of_the_type(index_type):
    compared = index_functions.assert_floors(CUDA, index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)


# -- hand-built programs -------------------------------------------------------------------------


@needs_nvcc
def test_every_program_compiles_for_the_device(tmp_path):
    units = [emit_program(program, "cuda") for program in CASES.values()]
    units.append(emit_program(programs.every_operation("uint32"), "cuda"))
    cubins = CUDA.cubin(units, tmp_path)
    assert cubins
    for cubin in cubins:
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
