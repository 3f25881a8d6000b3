"""GLSL: the ends of the type, both runners, names."""

import shutil
from math import isqrt

import numpy as np
import programs
import pytest
from test_programs import CASES

from lego_emit import registry
from lego_emit.emit import emit_program
from lego_emit.errors import ToolchainError, WidthError
from lego_emit.targets.glsl import GlslTarget, VulkanGlslTarget

LEAST, MOST = -(2**31), 2**31 - 1


@pytest.fixture(params=[GlslTarget, VulkanGlslTarget])
def runner(request):
    try:
        request.param().find()
    except ToolchainError as error:
        pytest.skip(str(error))
    return request.param()


def ends():
    a, b = programs.var("a"), programs.var("b")
    results = {
        "floored": programs.node("floormod", a, b),
        "quotient": programs.node("floordiv", a, b),
        "root": programs.node("isqrt", a),
        "least": programs.node("max", programs.const(LEAST), a),
    }
    functions = [programs.function(n, {"r": e}) for n, e in results.items()]
    functions.append(programs.function("uroot", {"r": results["root"]}, "uint32"))
    return emit_program(programs.Program("ends_", tuple(functions), "ends"), "glsl")


def test_helpers_are_exact_at_the_ends_of_the_type(runner):
    run = runner.compile([ends()])[0]
    dividends, divisors = (LEAST, LEAST + 1, -8, -1, 0, 1, 7, MOST), (LEAST, -3, -1, 1, 3)
    pairs = [(x, y) for x in dividends for y in divisors]
    a, b = np.array([(x, y) for x, y in pairs if LEAST <= x // y <= MOST]).T
    assert (run["quotient"](a, b) == a // b).all()
    a, b = np.array(pairs).T
    assert (run["floored"](a, b) == a % b).all()
    assert (run["least"](a, b) == a).all()
    squares = np.array([0, 1, 3, 4, 46340**2 - 1, 46340**2, MOST])
    assert run["root"](squares, 0).tolist() == [isqrt(int(x)) for x in squares]
    squares = np.array([0, 65535**2 - 1, 65535**2, 2**32 - 1])
    assert run["uroot"](squares, 0).tolist() == [isqrt(int(x)) for x in squares]


def test_every_program_compiles_for_vulkan(tmp_path):
    if shutil.which(GlslTarget.program) is None:
        pytest.skip(f"{GlslTarget.program} is not on PATH")
    units = [emit_program(programs.with_index_type(p, "int32"), "glsl") for p in CASES.values()]
    units += [emit_program(programs.every_operation(w), "glsl") for w in ("uint32", "int64")]
    for spirv in GlslTarget().spirv(units, tmp_path):
        assert spirv.read_bytes()[:4] == b"\x03\x02\x23\x07"


def test_both_runners_agree_on_several_outputs_and_long_arrays(runner):
    run = runner.compile([emit_program(programs.several_outputs(), "glsl"), ends()])
    a = np.arange(100_000)
    i, _, k = run[0]["several"](a, 2)
    assert (i == (a + 2) * 3).all() and (k == a).all()
    assert (run[1]["quotient"](-a, 7) == -a // 7).all()
    assert run[1]["quotient"](np.zeros(0, int), 7).shape == (0,)


def test_an_argument_that_does_not_fit_is_an_error(runner):
    run = runner.compile([ends()])[0]
    with pytest.raises(WidthError, match="a reaches from 2147483648"):
        run["quotient"](2**31, 1)


def test_names_that_glsl_keeps_for_itself():
    names = ("gl_x", "min", "texture2D", "imat4x3", "mat4x3", "a__b", "step")
    total = programs.var(names[0])
    for name in names[1:]:
        total = programs.node("add", total, programs.var(name))
    f = programs.function("transpose", {"r": total}, "int32", list(names))
    emitted = emit_program(programs.Program("unit_", (f,), "names"), "glsl")
    assert emitted.functions[0].name == "transpose_v"
    assert [p.name for p in emitted.functions[0].params] == [
        "v_gl_x", "min_v", "texture2D_v", "imat4x3", "mat4x3_v", "a_b", "step",
    ]  # fmt: skip
    code = [x for x in emitted.source.splitlines() if not x.startswith("//")]
    assert "__" not in "".join(code)


def test_remainders_of_negative_numbers_are_left_to_the_helper():
    a = programs.var("a", -9, 9)
    f = programs.function("f", {"r": programs.node("floormod", a, programs.const(4))}, params="a")
    text = emit_program(programs.Program("unit", (f,), "a % 4"), "glsl").source
    assert "return unit_floor_mod(a, 4);" in text
    assert registry.printer("glsl").default_index == ("int32",)
