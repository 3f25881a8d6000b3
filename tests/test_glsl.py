"""GLSL: every golden case to SPIR-V and through both drivers, the ends of the type, array forms,
remainders of negative numbers, names."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from math import isqrt
from pathlib import Path

import index_functions
import numpy as np
import programs
import pytest
from marks import every_width
from test_programs import CASES

from lego_emit import Col, GroupBy, TileBy, generate, golden, symbols
from lego_emit.emitted import Emitted, emit_program
from lego_emit.errors import ToolchainError, WidthError
from lego_emit.run import registry
from lego_emit.targets.glsl import GlslTarget, VulkanGlslTarget

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
LEAST, MOST = -(2**31), 2**31 - 1


@pytest.fixture(params=[GlslTarget, VulkanGlslTarget])
def runner(request):
    try:
        request.param().find()
    except ToolchainError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return request.param()


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


@pytest.fixture
def validator(need):
    return need(GlslTarget.program, GlslTarget.install)


# -- golden cases --------------------------------------------------------------------------------


@pytest.mark.deep
def test_every_golden_case_becomes_spirv(validator, cases, tmp_path):
    units = [case.emit("glsl") for case in cases]
    units += [case.emit("glsl", numbers=True) for case in cases if case.sizes]
    compiled = GlslTarget().spirv(units, tmp_path)
    assert 1 < len(compiled) < len(units) / 4  # many units in one shader
    for spirv in compiled:
        assert spirv.read_bytes()[:4] == b"\x03\x02\x23\x07"


def test_index_functions_compile_as_webgl_has_them(validator, tmp_path):
    """GLSL ES 3.00: every committed text but copies, which are compute shaders."""
    head = "#version 300 es\nprecision highp int;\nprecision highp float;\n"
    texts = [*ROOT.glob("golden/**/*.glsl"), *ROOT.glob("tests/**/*.glsl")]
    texts = [path for path in texts if path.parents[1].name != "copies"]
    assert len(texts) > 140
    for n, path in enumerate(texts):
        text = f"{head}{path.read_text()}\nvoid main() {{}}\n"
        (tmp_path / f"{n}.frag").write_text(text)
    shaders = sorted(tmp_path.glob("*.frag"))
    done = subprocess.run([validator, *shaders], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.deep
def test_every_golden_case_on_both_drivers(runner, monkeypatch, cases):
    monkeypatch.setattr(registry, "toolchain", lambda target: runner)
    for numbers, most in ((False, 20000), (True, 5000)):
        result = golden.verify(cases, "glsl", numbers)
        assert result.comparisons > most
        assert not result.mismatches, "\n".join(result.mismatches)


@pytest.mark.deep
@every_width
def test_every_case_in_every_index_type(runner, monkeypatch, cases):
    """The narrow types on both drivers, the wide ones, which need an extension, on one."""
    monkeypatch.setattr(registry, "toolchain", lambda target: runner)
    types = ["int32", "uint32"]
    types += ["int64", "uint64"] if type(runner) is GlslTarget else []
    counts = index_functions.assert_every_width(cases, "glsl", types)
    assert counts["int32"] == counts["uint32"] == len(cases)


@pytest.mark.deep
def test_no_remainder_meets_a_negative_operand(cases):
    """Every % in the text is one of a mod node, whose operands are proven, of an unsigned
    floormod, of an array form's counter, or of magnitudes, in the helper."""
    units = [case.emit("glsl", numbers) for case in cases for numbers in (False, True)]
    units += [emit_program(programs.with_index_type(p, "int32"), "glsl") for p in CASES.values()]
    units.append(emit_program(programs.random_trees(99, 5, 3, "int32"), "glsl"))
    units += [unit for unit, _, _ in index_functions.array_units("glsl", ("int32", "uint32"))]
    counted = 0
    for unit in units:
        lines = [x for x in unit.source.splitlines() if not x.lstrip().startswith("//")]
        found = "\n".join(x for x in lines if " r = m % n" not in x).count("%")
        proven = 0
        for function in unit.program.functions:
            for node in function.nodes():
                if node.op == "mod":
                    assert node.args[0].lo >= 0 and node.args[1].lo >= 1, unit.source
                unsigned = node.op == "floormod" and function.index_type.startswith("uint")
                proven += node.op == "mod" or unsigned
            if function.axes:
                head = next(
                    k
                    for k, x in enumerate(lines)
                    if re.search(rf" {function.name}(_p|P)ositions\(", x)
                )
                proven += "".join(lines[head : head + 4]).count("%")
        assert found == proven, unit.source
        counted += found
    assert counted > 200


# -- array forms ---------------------------------------------------------------------------------


def test_array_forms(runner):
    index_functions.assert_arrays(runner, index_functions.array_units("glsl", ("int32", "uint32")))


def test_array_forms_of_64_bits(runner):
    # wgpu's reader of SPIR-V has no remainder of signed 64-bit integers.
    types = ("int64", "uint64") if type(runner) is GlslTarget else ("uint64",)
    index_functions.assert_arrays(runner, index_functions.array_units("glsl", types))


def test_the_loop_in_the_comment_is_glsl(validator, tmp_path):
    """What the comment of an array form shows compiles as it stands."""
    for k, (unit, _, _) in enumerate(index_functions.array_units("glsl", ("int32",))):
        function = unit.program.functions[0]
        loop = re.findall(r"^// ( +.*)$", unit.source, re.MULTILINE)
        assert loop[-2].strip().startswith("for (int n = int(gl_LocalInvocationIndex); n < ")
        names = ["results"] if len(function.outputs) == 1 else [n for n, _ in function.outputs]
        axes = {name for name, _ in function.axes}
        lines = ["#version 450", "layout(local_size_x = 8, local_size_y = 8) in;", unit.source]
        lines += [f"shared int {name}[512];" for name in names]
        lines += ["void main() {"]
        lines += [f"int {p.name} = 3;" for p in function.params if p.name not in axes]
        (tmp_path / f"loop_{k}.comp").write_text("\n".join([*lines, *loop, "}"]))
    GlslTarget().execute([validator, *(p.name for p in tmp_path.glob("*.comp"))], tmp_path)


# -- vectors -------------------------------------------------------------------------------------


def layouts():
    """(a layout, its index type, its sizes)"""
    for index_type in ("int32", "uint32"):
        yield GroupBy([6, 4]).OrderBy(Col(6, 4)), index_type, {}
        yield GroupBy([2, 3, 4]), index_type, {}
        yield TileBy([2, 2], [3, 5]).OrderBy(Col(6, 10)), index_type, {}
        yield GroupBy(symbols("M N")), index_type, {"M": 3, "N": 4}


@pytest.mark.deep
def test_overloads_take_and_give_vectors(runner):
    """A function of scalars that calls them, in each number of indices."""
    for layout, index_type, sizes in layouts():
        unit = generate(layout, "glsl", index_type=index_type, name="t")
        T, vector = ("int", "ivec") if index_type == "int32" else ("uint", "uvec")
        apply, inv = unit.functions
        names, rank = [p.name for p in apply.params if p.axis], len(inv.outputs)
        given, own = "".join(f"{n}, " for n in sizes), "".join(f"{T} {n}, " for n in sizes)
        index = f"{vector}{rank}({', '.join(names)})"
        declared = own + ", ".join(f"{T} {n}" for n in names)
        again = f"tInv({given}tApply({given}{index}))"
        text = f"bool back({declared}) {{ return {again} == {index}; }}\n"
        text += f"{T} place({declared}) {{ return back({given}{', '.join(names)}) ? "
        text += f"tApply({given}{index}) : {T}(-1); }}\n"
        source = unit.source.replace("\n#elif", f"\n{text}\n#elif")
        place = replace(apply, name="place")
        probe = Emitted(source, replace(unit.program, functions=(place,)), unit.printer)
        extents = [sizes.get(str(n), n) for n in layout.dims]
        points = np.indices([int(n) for n in extents]).reshape(rank, -1)
        want = unit.compile()["t_apply"](*sizes.values(), *points)
        assert (runner.compile([probe])[0]["place"](*sizes.values(), *points) == want).all()


def test_no_overload_where_no_vector_holds_the_indices():
    assert "vec" not in generate(GroupBy([2, 2, 2, 2, 2]), "glsl").source
    assert "vec" not in generate(GroupBy([2]), "glsl").source
    assert "i64vec2 index" in generate(GroupBy([2, 3]), "glsl", index_type="int64").source


# -- signs and the ends of the type --------------------------------------------------------------


@pytest.mark.parametrize("index_type", ["int32", "uint32", "int64", "uint64"])
def test_floors_at_the_ends_of_the_type(runner, index_type):
    compared = index_functions.assert_floors(runner, index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)


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
    with pytest.raises(WidthError, match="quotient: a = 2147483648 does not fit its type, int32"):
        run["quotient"](2**31, 1)


def test_lines_fit(cases):
    for case in cases[::3]:
        for numbers in (False, True):
            longest = max(case.emit("glsl", numbers).source.splitlines(), key=len)
            assert len(longest) <= 100, longest


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


@pytest.mark.parametrize("index_type", ["int32", "uint32"])
def test_built_in_variables_in_the_place_of_parameters(runner, tmp_path, index_type):
    """They are uint, whatever the function computes in."""
    unit = generate(
        lambda M, z: z // 4 * M + z % 4,
        "glsl",
        name="place",
        bind={"z": "gl_WorkGroupID.z"},
        ranges={"z": (0, 64)},
        index_type=index_type,
    )
    assert ("int(gl_WorkGroupID.z)" in unit.source) is (index_type == "int32")
    assert runner.spirv([unit], tmp_path)
