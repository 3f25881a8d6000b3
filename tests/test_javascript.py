"""JavaScript: modules and their declarations through TypeScript, Numbers to 2^53 and BigInts to
2^64, typed arrays over ':' axes, modules in one program."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import index_functions
import numpy as np
import programs
import pytest
import test_signatures
from click.testing import CliRunner
from index_functions import ROOT
from marks import every_width
from test_programs import CASES, cases_for
from typed import offset, turned, unravel, voxel

from lego_emit import GroupBy, cli, generate
from lego_emit.emit.naming import Naming
from lego_emit.emitted import Emitted, emit_program
from lego_emit.errors import ToolchainError, WidthError
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Param, Program
from lego_emit.printers.javascript import INT53, JavaScriptPrinter
from lego_emit.targets.javascript import JavaScriptTarget

pytestmark = pytest.mark.slow

NUMBERS = ("int32", "uint32", "int53")
BIGINTS = ("int64", "uint64")
NODE = JavaScriptTarget()
# A parameter that nothing depends on stays, and without a statement that reads it, which
# --noUnusedParameters would ask for: a layout's sizes are its parameters.
STRICT = (
    "--strict --noImplicitReturns --noUnusedLocals "
    "--noEmit --allowJs --checkJs --target es2022 --module nodenext"
).split()


def needed(condition, reason):
    """Skip, or under CI fail, where a tool is missing."""
    if not condition:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def node():
    try:
        return NODE.find().path
    except ToolchainError as error:
        needed(False, str(error))


@pytest.fixture(scope="module")
def tsc(node):
    local = ROOT.parent / "build" / "node_modules" / ".bin" / "tsc"
    found = str(local) if local.exists() else shutil.which("tsc")
    needed(found, "TypeScript is missing; npm install --prefix build typescript")
    return found


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


@pytest.fixture(scope="module")
def units(cases):
    """Every golden text, with sizes as parameters and as numbers; array forms and every operation
    in Numbers and BigInts; nasty names."""
    found = [case.emit("javascript") for case in cases]
    found += [case.emit("javascript", numbers=True) for case in cases if case.sizes]
    found += [
        unit
        for unit, _, _ in index_functions.array_units("javascript", (*BIGINTS, "int32", "auto"))
    ]
    found += [emit_program(CASES["operations64"], "javascript")]
    found += [emit_program(program, "javascript") for _, program in cases_for("javascript")]
    found += [
        generate(f, "javascript", index_type="int64") for f in (voxel, unravel, offset, turned)
    ]
    return [*found, *test_signatures.rarer("javascript", checks=False)]


# -- types ---------------------------------------------------------------------------------------


def checked(tsc, units, folder):
    """Run tsc over modules and declarations, and compare the two: each module has its declared
    types, and no others."""
    for name in ("modules", "declared"):
        (folder / name).mkdir()
    lines = []
    for k, unit in enumerate(units):
        (folder / "modules" / f"unit_{k}.mjs").write_text(unit.source)
        for path, text in unit.files(folder / "declared" / f"unit_{k}.mjs").items():
            path.write_text(text)
        lines += [
            f'import * as module_{k} from "./modules/unit_{k}.mjs";',
            f'import * as declared_{k} from "./declared/unit_{k}.mjs";',
            f"export const a_{k}: typeof declared_{k} = module_{k};",
            f"export const b_{k}: typeof module_{k} = declared_{k};",
        ]
    (folder / "check.mts").write_text("\n".join(lines))
    return NODE.execute([tsc, *STRICT, "check.mts"], cwd=folder)


def test_typescript_takes_every_module_and_declaration(tsc, units, tmp_path):
    assert len(units) > 130
    checked(tsc, units, tmp_path)


@pytest.mark.parametrize(
    "right, wrong",
    [("BM: bigint", "BM: number"), ("): bigint", "): number"), ("BigInt64Array", "number[]")],
)
def test_a_mistake_in_the_declarations_is_found(tsc, tmp_path, right, wrong):
    class Broken(JavaScriptPrinter):
        def declarations(self, program):
            return super().declarations(program).replace(right, wrong)

    unit = generate(index_functions.tile, "javascript", index_type="int64")
    assert right in unit.printer.declarations(unit.program)
    with pytest.raises(ToolchainError, match="not assignable"):
        checked(tsc, [replace(unit, printer=Broken().spelling(Naming()))], tmp_path)


USE = """
import { tile, tilePositions } from "./tile.mjs";
import { tile as wide, tilePositions as wide_array } from "./wide.js";

const position: number = tile(12, 20, 3, 5, 2, 1, 0, 4);
const positions: Float64Array = tilePositions(12, 20, 3, 5, 2, 1);
const wide_position: bigint = wide(12n, 20n, 3n, 5n, 2n, 1n, 0n, 4n);
const wide_positions: BigInt64Array = wide_array(12n, 20n, 3n, 5n, 2n, 1n);
console.log(position, positions.join(), wide_position, wide_positions.join());
"""


def test_modules_of_one_name_in_one_program(tsc, node, tmp_path):
    """Written for TypeScript, which finds the declarations beside the modules; run by Node."""
    generate(index_functions.tile, "javascript").save(tmp_path / "tile.mjs")
    generate(index_functions.tile, "javascript", index_type="int64").save(tmp_path / "wide.js")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "use.mts").write_text(USE)
    types = [word for word in STRICT if word not in ("--allowJs", "--checkJs")]
    NODE.execute([tsc, *types, "use.mts"], cwd=tmp_path)
    (tmp_path / "use.mjs").write_text(re.sub(r"(const \w+): \w+", r"\1", USE))
    numbers = "125,126,127,128,129,145,146,147,148,149,165,166,167,168,169"
    assert NODE.execute([node, "use.mjs"], cwd=tmp_path) == f"129 {numbers} 129n {numbers}\n"
    (tmp_path / "use.mts").write_text(USE.replace("tile(12,", "tile(12n,"))
    with pytest.raises(ToolchainError, match="not assignable"):
        NODE.execute([tsc, *types, "use.mts"], cwd=tmp_path)


# -- files ---------------------------------------------------------------------------------------


def test_declarations_are_saved_beside_the_module(tmp_path):
    unit = generate(index_functions.tile, "javascript")
    assert unit.save(tmp_path / "tile.mjs") and not unit.save(tmp_path / "tile.mjs")
    assert unit.save(str(tmp_path / "tile.js"))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"tile.mjs", "tile.d.mts", "tile.js", "tile.d.ts"}
    (tmp_path / "tile.d.mts").write_text("stale")
    assert unit.save(tmp_path / "tile.mjs")
    text = (tmp_path / "tile.d.mts").read_text()
    assert text == unit.printer.declarations(unit.program)
    assert text.startswith("// Code generated by lego-emit. DO NOT EDIT.\n")


def test_the_command_line_writes_declarations(tmp_path):
    subject = f"{Path(index_functions.__file__)}:tile"
    for target, output in (("javascript", "some/"), ("cpp", "some/"), ("js", "one.mjs")):
        arguments = ["generate", subject, "-t", target, "-o", f"{tmp_path}/{output}"]
        result = CliRunner().invoke(cli.main, arguments)
        assert result.exit_code == 0, result.output
    names = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.*"))
    assert names == ["one.d.mts", "one.mjs", "some/tile.d.mts", "some/tile.hpp", "some/tile.mjs"]


# -- values --------------------------------------------------------------------------------------


@pytest.mark.deep
@every_width
def test_every_case_in_each_index_type(cases, node):
    counts = index_functions.assert_every_width(cases, "javascript", ("int32", "uint32", *BIGINTS))
    assert counts["int32"] == counts["int64"] == len(cases)
    assert counts["uint32"] == counts["uint64"] == len(cases)


def test_floors_at_the_ends_of_each_type(node):
    for index_type in (*NUMBERS, *BIGINTS):
        assert index_functions.assert_floors(NODE, index_type) > 400


@pytest.mark.parametrize("index_type", (*NUMBERS, *BIGINTS))
def test_positions_up_to_the_greatest_value(node, index_type):
    index_functions.assert_border(NODE, index_type)


def test_a_number_from_2_to_the_53_is_refused():
    with pytest.raises(WidthError, match="int53"):
        generate(GroupBy([2**53 + 1]), "javascript")
    assert "bigint" in generate(GroupBy([2**53 + 1]), "javascript", index_type="int64").source


# -- the array form ------------------------------------------------------------------------------


def test_typed_arrays_are_numpy_s_arrays(node):
    index_types = ("auto", "int32", "uint32", *BIGINTS)
    index_functions.assert_arrays(NODE, index_functions.array_units("javascript", index_types))


def test_typed_array_of_the_golden_case(cases, node):
    (case,) = (c for c in cases if c.name == "readme_index_kernel")
    counts = [n for _, n in case.table.axes]
    table = case.table.columns["result"].reshape(counts)
    for numbers in (False, True):
        tile = case.emit("javascript", numbers).compile().array("index_kernel")
        sizes = () if numbers else case.sizes.values()
        for pid_m, pid_n in np.ndindex(*counts[:2]):
            assert (tile(*sizes, pid_m, pid_n) == table[pid_m, pid_n]).all()


@pytest.mark.parametrize(
    "index_type, kind",
    {
        "int32": "Int32Array",
        "uint32": "Uint32Array",
        "int53": "Int32Array",  # the results are proven to fit
        "int64": "BigInt64Array",
        "uint64": "BigUint64Array",
    }.items(),
)
def test_the_array_holds_the_index_type(node, index_type, kind, tmp_path):
    auto = "auto" if index_type == "int53" else index_type
    generate(index_functions.pair, "javascript", index_type=auto).save(tmp_path / "pair.mjs")
    sizes = "3n, 5n" if index_type in BIGINTS else "3, 5"
    (tmp_path / "use.mjs").write_text(
        'import { pairPositions } from "./pair.mjs";\n'
        f"const arrays = Object.values(pairPositions({sizes}));\n"
        "console.log(arrays.map((a) => `${a.constructor.name} ${a}`).join());\n"
    )
    a, b = "4,4,4,5,5,5,6,6,6,7,7,7", "6,7,8,6,7,8,6,7,8,6,7,8"
    got = NODE.execute([node, "use.mjs"], cwd=tmp_path)
    assert got == f"{kind} {a},{kind} {b}\n"


def near_and_far(N):
    near = GroupBy([3, 4])[:, :]
    return {"near": near, "far": near + N, "same": N}


def test_results_by_name_are_an_object(node):
    """Arrays of 32 bits where every result is proven to fit them; a parameter that is not needed has
    its own name in the declarations."""
    unit = generate(near_and_far, "javascript")
    assert "  const near = new Int32Array(12);\n  const far = new Float64Array(12);" in unit.source
    assert "  return {\n" in unit.source or "  return { near: " in unit.source
    run = unit.compile()
    assert run["near_and_far"](100, 1, 2) == (6, 106, 100)
    near, far, same = run.array("near_and_far")(100)
    assert near.tolist() == np.arange(12).reshape(3, 4).tolist()
    assert (far == near + 100).all() and (same == 100).all()
    declared = unit.printer.declarations(unit.program)
    assert "{ near: number; far: number; same: number }" in declared
    assert "{ near: Int32Array; far: Float64Array; same: Float64Array }" in declared


def test_a_parameter_that_is_not_read_keeps_its_name():
    unit = generate(lambda M, N, i: GroupBy([M, N])[i, 0], "javascript", name="f")
    assert "function f(M, N, i) {\n  return N * i;\n" in unit.source
    declared = unit.printer.declarations(unit.program)
    assert "function f(M: number, N: number, i: number): number;" in declared
    assert "_M" not in declared and "_M" not in unit.source


MISTAKES = {
    None: {},
    "order": {
        "let i = 0; i < B; i": "let j = 0; j < 3; j",
        "let j = 0; j < 3; j": "let i = 0; i < B; i",
    },
    "count": {"(3 * B)": "(3 * B + 1)"},
    "scalars": {"f(A, B": "f(B, A"},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_array_is_found(mistake, node):
    class Broken(JavaScriptPrinter):
        def array_body(self, view):
            wrong = MISTAKES[mistake]
            return [
                next((line.replace(a, b) for a, b in wrong.items() if a in line), line)
                for line in super().array_body(view)
            ]

    i, j = programs.var("i", 0, 8), programs.var("j", 0, 8)
    scaled = programs.node("mul", i, programs.const(100))
    result = programs.node("add", scaled, programs.node("add", j, programs.var("A", 0, 9)))
    function = programs.function("f", {"result": result}, "int32", "ABij")
    function = replace(function, axes=(("i", programs.var("B", 0, 9)), ("j", programs.const(3))))
    program, printer = Program("unit", (function,), "a mistake"), Broken()
    run = NODE.compile([Emitted(printer.emit(program), program, printer)])[0]
    want = 100 * np.arange(4)[:, None] + np.arange(3) + 7
    if mistake == "count":
        with pytest.raises(ToolchainError, match="wanted 12"):
            run.array("f")(7, 4)
    else:
        assert np.array_equal(run.array("f")(7, 4), want) is (mistake is None)


def test_names_beside_an_array(node):
    """A function that is called like another one's array form, and parameters and results that
    are called like what the array form names."""
    names = ["i_end", "tilePositions", "results", "position", "length", "Float64Array", "i"]
    extent = programs.node("div", programs.var("i_end", 0, 50), programs.const(2))
    total = programs.var("i", 0, 50)
    for name in names[1:-1]:
        total = programs.node("add", total, programs.var(name, 0, 50))
    tile = Function(
        "tile",
        tuple(Param(name) for name in names),
        (),
        (("results", total), ("i", programs.var("i", 0, 50))),
        INT53,
        axes=(("i", extent),),
    )
    other = programs.function("tile_positions", {"result": Node("const", (), 5)}, "int53", "")
    unit = emit_program(Program("unit", (tile, other), "names"), "javascript")
    assert len({"tile_positions", *(f.name for f in unit.functions)}) == 3
    sums, indices = unit.compile().array("tile")(6, 1, 2, 3, 4, 5)
    assert sums.tolist() == [15, 16, 17] and indices.tolist() == [0, 1, 2]
