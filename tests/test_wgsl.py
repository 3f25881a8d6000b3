"""WGSL: every golden case through the compilers of Firefox (wgpu, which runs it) and of Chrome (Dawn,
which checks it), the ends of the type, array forms, remainders of negative numbers, names."""

import itertools
import os
import random
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
from conftest import TARGETS
from marks import every_width
from test_programs import CASES

from lego_emit import GroupBy, Packed, Row, generate, render, symbols
from lego_emit.emit import registry as printers
from lego_emit.emitted import emit_program
from lego_emit.errors import ToolchainError, WidthError
from lego_emit.ir.program import Program
from lego_emit.run import registry
from lego_emit.targets.shaders import shaders
from lego_emit.targets.wgsl import WgslShader, WgslTarget, open_device

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DAWN = ROOT / "build" / "node_modules" / "webgpu" / "index.js"
INDEX_TYPES = ("int32", "uint32", "int64", "uint64")
LEAST, MOST = -(2**31), 2**31 - 1
WGSL = printers.printer("wgsl")

# Dawn's null driver: everything of WebGPU but the work.
CHECK = """
import { readFileSync } from "node:fs";
const [, , dawn, ...files] = process.argv;
const { create } = await import(dawn);
const gpu = create(["backend=null"]);
const adapter = await gpu.requestAdapter();
const device = await adapter.requestDevice();
for (const file of files) {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code: readFileSync(file, "utf8") });
  for (const { lineNum, message } of (await module.getCompilationInfo()).messages)
    console.log(`${file}:${lineNum}: ${message}`);
  await device.popErrorScope();
}
process.exit(0);
"""


@pytest.fixture(scope="module")
def runner():
    try:
        WgslTarget().find()
    except ToolchainError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    return registry.toolchain("wgsl")


@pytest.fixture
def dawn(tmp_path):
    """dawn(units): what Chrome's compiler says of them, "" for nothing."""
    if not (DAWN.exists() and shutil.which("node")):
        reason = "needs node and Dawn: npm install --prefix build typescript webgpu"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)

    def check(units):
        places = shaders(WgslShader, units, tmp_path)
        assert len(places) >= len(units)
        (tmp_path / "check.mjs").write_text(CHECK)
        command = ["node", "check.mjs", DAWN, *sorted({p.name for p, _ in places.values()})]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return check


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


def trees():
    """Hand-built programs, where every operation meets every other one."""
    made = [programs.with_index_type(p, "int32") for p in CASES.values()]
    made += [programs.random_trees(99, 5, 3, "int32"), programs.every_operation("uint32")]
    return [emit_program(program, "wgsl") for program in made]


# -- golden cases --------------------------------------------------------------------------------


@pytest.mark.deep
def test_fields_of_words_in_chrome(dawn):
    """A file has no array of words: they are given one by one."""
    N, bits = symbols("N bits")
    ranges = {"bits": (1, 33)}
    units = [
        generate(
            Packed(Row(N), bits, order=order, signed=signed), "wgsl", name=f"f{k}", ranges=ranges
        )
        for k, (order, signed) in enumerate(itertools.product(("lsb", "msb"), (True, False)))
    ]
    units += [
        generate(Packed(Row(N), b, straddle=b % 2 > 0, offset=b % 3), "wgsl", name=f"g{b}")
        for b in (1, 3, 4, 13, 16, 29)
    ]
    units.append(generate(Packed(Row(8), 4, words="value"), "wgsl", name="one"))
    assert dawn(units) == ""


@pytest.mark.deep
@every_width
def test_every_case_in_other_index_types(runner, cases):
    """tests/test_golden.py has the usual one."""
    counts = index_functions.assert_every_width(cases, "wgsl", ["uint32", "int64"])
    assert counts["int64"] == counts["uint32"] == len(cases)


@pytest.mark.deep
def test_every_unit_in_chrome(dawn, cases):
    units = [c.emit("wgsl", numbers) for c in cases for numbers in (False, True)]
    units += [unit for unit, _, _ in index_functions.array_units("wgsl", INDEX_TYPES[:2])]
    assert dawn([*units, *trees()]) == ""
    for unit in units:
        longest = max(unit.source.splitlines(), key=len)
        assert len(longest) <= 100, longest


def test_chrome_refuses_what_the_grammar_does(dawn, monkeypatch):
    """The check sees a missing parenthesis."""
    monkeypatch.setitem(WGSL.ops, "and", printers.printer("glsl").ops["and"])
    a, b = programs.var("a"), programs.var("b")
    mixed = programs.node("and", programs.node("mul", a, b), programs.const(7))
    unit = emit_program(Program("unit", (programs.function("f", {"r": mixed}),), "mixed"), "wgsl")
    assert "return a * b & 7;" in unit.source
    assert "mixing '*' and '&' requires parenthesis" in dawn([unit])


# -- array forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_array_forms(runner, index_type):
    units = index_functions.array_units("wgsl", (index_type,))
    index_functions.assert_arrays(runner, units)


def test_the_loop_in_the_comment_is_wgsl(runner, tmp_path):
    """What the comment of an array form shows compiles as it stands."""
    sources = []
    for unit, _, _ in index_functions.array_units("wgsl", ("int32",)):
        function = unit.program.functions[0]
        loop = re.findall(r"^/// ( +.*)$", unit.source, re.MULTILINE)
        assert loop[0].strip().startswith("for (var n = i32(local_index); n < ")
        axes = {name for name, _ in function.axes}
        T = "i32" if len(function.outputs) == 1 else unit.printer.result_name(function.name)
        lines = [unit.source, "const workgroup_size = 64;"]
        lines += [f"var<workgroup> results: array<{T}, 512>;", "@compute @workgroup_size(64)"]
        lines += ["fn main(@builtin(local_invocation_index) local_index: u32) {"]
        lines += [f"let {p.name} = 3;" for p in function.params if p.name not in axes]
        sources.append("\n".join([*lines, *loop, "}"]))
    for k, source in enumerate(sources):
        (tmp_path / f"{k}.wgsl").write_text(source)
        assert open_device().module(tmp_path / f"{k}.wgsl")


# -- signs and the ends of the type --------------------------------------------------------------


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_the_ends_of_the_type(runner, index_type):
    compared = index_functions.assert_floors(runner, index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)
    index_functions.assert_border(runner, index_type)


def ends():
    a, b = programs.var("a"), programs.var("b")
    results = {
        "floored": programs.node("floormod", a, b),
        "quotient": programs.node("floordiv", a, b),
        "root": programs.node("isqrt", a),
        "least": programs.node("max", programs.const(LEAST), a),
        "lower": programs.node("sub", a, programs.const(LEAST)),
    }
    functions = [programs.function(n, {"r": e}) for n, e in results.items()]
    functions += [
        programs.function("uroot", {"r": results["root"]}, "uint32"),
        programs.function("nothing", {"r": programs.node("neg", a)}, "uint32"),
        programs.function("bottom", {"r": programs.const(LEAST)}),
        programs.function("bottom64", {"r": programs.const(-(2**63))}, "int64"),
        programs.function("top64", {"r": programs.const(2**64 - 1)}, "uint64"),
    ]
    return emit_program(Program("ends_", tuple(functions), "ends"), "wgsl")


def test_helpers_and_literals_are_exact_at_the_ends_of_the_type(runner):
    run = runner.compile([ends()])[0]
    dividends, divisors = (LEAST, LEAST + 1, -8, -1, 0, 1, 7, MOST), (LEAST, -3, -1, 1, 3)
    pairs = [(x, y) for x in dividends for y in divisors]
    a, b = np.array([(x, y) for x, y in pairs if LEAST <= x // y <= MOST]).T
    assert (run["quotient"](a, b) == a // b).all()
    a, b = np.array(pairs).T
    assert (run["floored"](a, b) == a % b).all()
    assert (run["least"](a, b) == a).all()
    assert run["lower"](np.array([LEAST, -1]), 0).tolist() == [0, MOST]
    squares = np.array([0, 1, 3, 4, 46340**2 - 1, 46340**2, MOST])
    assert run["root"](squares, 0).tolist() == [isqrt(int(x)) for x in squares]
    squares = np.array([0, 65535**2 - 1, 65535**2, 2**32 - 1])
    assert run["uroot"](squares, 0).tolist() == [isqrt(int(x)) for x in squares]
    assert run["nothing"](0, 0) == 0 and run["bottom"](0, 0) == LEAST
    assert run["bottom64"](0, 0) == -(2**63) and run["top64"](0, 0) == 2**64 - 1


def test_long_arrays_and_arguments_that_do_not_fit(runner):
    run = runner.compile([ends()])[0]
    a = np.arange(100_000)
    assert (run["quotient"](-a, 7) == -a // 7).all()
    assert run["quotient"](np.zeros(0, int), 7).shape == (0,)
    with pytest.raises(WidthError, match="quotient: a = 2147483648 does not fit its type, int32"):
        run["quotient"](2**31, 1)


def test_a_device_without_64_bits(runner, monkeypatch):
    monkeypatch.setattr(open_device(), "wide", False)
    with pytest.raises(WidthError, match=r"no 64-bit integers.*'int32' or 'uint32'"):
        runner.compile([generate(GroupBy([4]), "wgsl", index_type="int64")])
    assert "browsers have neither" in generate(GroupBy([4]), "wgsl", index_type="uint64").source


def test_shifts_and_tables_are_placed_by_32_bits(runner, dawn):
    """A distance is a u32, whatever is shifted, and any integer finds an entry."""
    n = programs.node("and", programs.var("b"), programs.const(3), lo=0, hi=3)
    table = programs.table(31, 7, 0, 2**31 - 1)
    functions = [
        programs.function(
            f"{op}_{index_type}", {"r": programs.node(op, x, n, lo=0, hi=2**31 - 1)}, index_type
        )
        for index_type in INDEX_TYPES
        for op, x in (("shl", programs.var("a")), ("shr", programs.var("a")), ("lookup", table))
    ]
    unit = emit_program(Program("places", tuple(functions), "places"), "wgsl")
    run = runner.compile([unit])[0]
    for index_type in INDEX_TYPES:
        assert run[f"shl_{index_type}"](5, np.arange(4)).tolist() == [5, 10, 20, 40]
        assert run[f"shr_{index_type}"](40, np.arange(4)).tolist() == [40, 20, 10, 5]
        assert run[f"lookup_{index_type}"](0, np.arange(4)).tolist() == [31, 7, 0, 2**31 - 1]
    narrow = emit_program(Program("places", tuple(functions[:6]), "places"), "wgsl")
    assert "a << u32(b & 3)" in narrow.source and "a << (b & 3u)" in narrow.source
    assert dawn([narrow]) == ""


# -- names ---------------------------------------------------------------------------------------


def test_no_name_meets_a_word_of_wgsl(runner, dawn, tmp_path):
    """Every word that any of the languages keeps for itself, as the name of a parameter and of a
    result, and those of WGSL as a function's."""
    own = {"__x", "_", "x__y", "f_result", "f_positions", "vec2f", "unit"}
    own |= WGSL.reserved | WGSL.reserved_functions
    words = {w for t in TARGETS for w in printers.printer(t).reserved if w.isidentifier()}
    words = sorted(words | own)
    random.Random(3).shuffle(words)
    groups = [words[k : k + 60] for k in range(0, len(words), 60)]
    functions = [
        programs.function(f"f{k}_", {x: programs.var(x) for x in group[::4]}, "int32", group)
        for k, group in enumerate(groups)
    ]
    functions += [programs.function(name, {"r": programs.var("a")}) for name in sorted(own)]
    unit = emit_program(Program("unit", tuple(functions), "names"), "wgsl")
    assert {"min_v", "layout_v"} <= {p.name for f in unit.functions for p in f.params}
    assert {"read_v", "vec2f_v"} <= {f.name for f in unit.functions}
    assert dawn([unit]) == ""
    (tmp_path / "unit.wgsl").write_text(unit.source)
    assert open_device().module(tmp_path / "unit.wgsl")


def test_names_that_the_file_wants_for_itself(runner, dawn):
    def pair(A, B, n, pair_positions, pair_result, unit_floor_mod_i32):
        rows = GroupBy([A, B])[n, :]
        return {"n": rows + pair_positions, "pair": GroupBy([B, A])[n, :] + pair_result % 5}

    unit = generate(pair, "wgsl", name="unit")
    assert dawn([unit]) == ""
    first, second = runner.compile([unit])[0].array("unit")(2, 3, 1, 70, -2, 0)
    assert first.tolist() == [[73, 73], [74, 74], [75, 75]]
    assert second.tolist() == [[5, 6]] * 3


def test_helpers_of_two_index_types(runner, dawn):
    root = programs.node("isqrt", programs.var("a"))
    functions = [programs.function(f"root_{t}", {"r": root}, t) for t in INDEX_TYPES[:2]]
    unit = emit_program(Program("unit", tuple(functions), "helpers"), "wgsl")
    assert "fn unit_isqrt_i32(" in unit.source and "fn unit_isqrt_u32(" in unit.source
    assert dawn([unit]) == ""
    run = runner.compile([unit])[0]
    assert run["root_int32"](99, 0) == run["root_uint32"](99, 0) == 9


@pytest.mark.parametrize("index_type", ["int32", "uint32"])
def test_built_in_values_in_the_place_of_parameters(runner, dawn, tmp_path, index_type):
    """They are u32, whatever the function computes in."""
    unit = generate(
        lambda M, z, k: z // 4 * M + z % 4 + k,
        "wgsl",
        name="place",
        bind={"z": "workgroup_id.z", "k": "local_invocation_index"},
        ranges={"z": (0, 64), "k": (0, "M")},
        index_type=index_type,
    )
    assert ("i32(local_invocation_index)" in unit.source) is (index_type == "int32")
    values = "var<private> workgroup_id: vec3u;\nvar<private> local_invocation_index: u32;\n"
    source = unit.source + values
    assert dawn([replace(unit, source=source)]) == ""
    (tmp_path / "unit.wgsl").write_text(source)
    assert open_device().module(tmp_path / "unit.wgsl")


# -- kernels -------------------------------------------------------------------------------------

KERNEL = """{% names i, j: uint32 %}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(8, 4)
fn lego_run(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = i32(id.y);
  let j = id.x;
  b[{{ S[i, j] }}] = a[{{ S[i, "id.x"] }}];
  {% index k, l = S.inv("id.x") %}
  if ({{ S.in_bounds("k", "l") }}) { b[k] = a[l]; }
}
"""


def test_a_kernel_compiles(runner, tmp_path):
    layout = GroupBy([4, 8]).OrderBy(GroupBy([4, 8]))
    text = render(KERNEL, "wgsl", S=layout)
    assert "b[8 * i + i32(j)] = a[8 * i + i32(id.x)];" in text
    assert "let k: i32 = i32(id.x) >> 3u;" in text
    (tmp_path / "kernel.wgsl").write_text(text)
    assert open_device().module(tmp_path / "kernel.wgsl")
