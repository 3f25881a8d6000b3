"""HIP and Metal: device code of every golden case for gfx90a, array forms, signs, every index type;
what stands in HIP's header and in Metal's file. tests/test_golden.py runs the cases on the host."""

import index_functions
import programs
import pytest
from marks import golden_lowered

from lego_emit import Lookup, generate
from lego_emit.emit import registry as printers
from lego_emit.emitted import emit_program
from lego_emit.ir.program import Program
from lego_emit.run import registry
from lego_emit.targets.hip import HipTarget

INDEX_TYPES = ("int32", "int64", "uint32", "uint64")
CLANG = "apt-get install clang"
pytestmark = pytest.mark.slow


@pytest.fixture(params=["hip", "metal"])
def target(request, need):
    found = registry.toolchain(request.param)
    need(found.program, CLANG)
    return found


def test_array_forms(target):
    units = index_functions.array_units(target.name, INDEX_TYPES[:1])
    index_functions.assert_arrays(target, units)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_floors_and_the_greatest_values(target, index_type):
    compared = index_functions.assert_floors(target, index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)


@golden_lowered
def test_device_code_of_every_golden_case(need, tmp_path):
    """Kernels that call each function and each fill, with the host's strict warnings."""
    need("clang++", CLANG)
    units = [case.emit("hip") for case in index_functions.golden_cases()]
    (path,) = HipTarget().assembly(units, tmp_path)
    text = path.read_text()
    for u, unit in enumerate(units):
        for p, function in enumerate(unit.functions):
            assert f".amdhsa_kernel lego_kernel_{u}_{p}\n" in text
            assert (f".amdhsa_kernel lego_fill_{u}_{p}\n" in text) is bool(function.axes)


@golden_lowered
def test_nothing_of_a_later_cpp_in_metal():
    words = ("[[no", "[[may", "constexpr", "long long", "std::", "noexcept", "static_cast")
    for case in index_functions.golden_cases():
        source = case.emit("metal").source
        assert not [word for word in words if word in source], case.name


def test_a_table_of_the_device_and_of_the_host():
    layout = Lookup([11], [6, 1, 9, 0, 10, 3, 2, 8, 4, 5, 7])
    hip = generate(layout, "hip", name="t").source
    assert "#ifdef __HIP_DEVICE_COMPILE__\n__device__\n#endif\nstatic constexpr int t_table" in hip
    assert "CUDA" not in hip and "__forceinline__" not in hip and "sqrt(" not in hip
    assert "static constant int t_table[11] = {" in generate(layout, "metal", name="t").source
    given = generate(Lookup([6], "perm"), "metal", name="given").source
    assert "givenApply(int i, device const int* perm)" in given


def test_names(target):
    """Words of the languages and of their headers, as functions and as parameters."""
    names = {
        "hip": ["int4", "uint", "dim3", "blockDim", "texture", "time", "HW_ID", "size_t"],
        "metal": [
            "all",
            "device",
            "constant",
            "half",
            "float4",
            "kernel",
            "metal",
            "vertex",
            "uint",
        ],
    }[target.name]
    total = programs.const(1)
    for k, name in enumerate(names):
        total = programs.node(
            "add", total, programs.node("mul", programs.const(k), programs.var(name))
        )
    made = [programs.function(name, {"r": total}, "int64", names) for name in names]
    unit = emit_program(Program("unit", tuple(made), "names"), target.name)
    assert [f.name for f in unit.functions] == [f"{name}_v" for name in names]
    (run,) = target.compile([unit])
    wanted = 1 + sum(k * k for k in range(len(names)))
    assert {run[f.name](*range(len(names))) for f in unit.functions} == {wanted}


def test_no_metal_compiler_has_seen_it(need):
    need("clang++", CLANG)
    assert "no Metal compiler has seen it" in registry.toolchain("metal").find().version
    assert printers.printer("msl").name == "metal"
