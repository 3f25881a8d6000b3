"""Triton: the text in its interpreter and through its compiler, blocks, masks, what it refuses."""

import os
import subprocess
import sys
from dataclasses import replace

import index_functions
import numpy as np
import programs
import pytest
from index_functions import golden_cases

from lego_emit import (
    ExpandBy,
    GenP,
    GroupBy,
    Lookup,
    OrderBy,
    Row,
    TileBy,
    catalogue,
    generate,
    symbols,
)
from lego_emit.emit.printer import Op
from lego_emit.emitted import Emitted, emit_program
from lego_emit.errors import TargetError, ToolchainError
from lego_emit.ir.program import Program
from lego_emit.printers.triton import TritonPrinter

edge = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))


def tile(M, N, BM, BN, pid_m, pid_n):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[pid_m, pid_n, :, :]


# -- the text ------------------------------------------------------------------------------------


def test_blocks_are_made_by_arange():
    text = generate(tile, "triton").source
    assert "def tile_positions(M, N, BM: tl.constexpr, BN: tl.constexpr, pid_m, pid_n):" in text
    assert "i = tl.arange(0, BM)[:, None]\n    j = tl.arange(0, BN)[None, :]\n" in text
    assert "tl.cast" not in text, "32 bits are Triton's own"
    wide = generate(tile, "triton", index_type="auto").source
    assert "    N = tl.cast(N, tl.int64)\n" in wide and "    M = tl.cast" not in wide


def test_an_axis_is_a_power_of_two():
    with pytest.raises(TargetError, match="the axis k has 3 elements, and Triton's blocks"):
        generate(lambda i: GroupBy([4, 8, 3])[i, :, :], "triton", name="rows")
    assert "tl.arange(0, 8)" in generate(lambda i: GroupBy([4, 8])[i, :], "triton", name="f").source


def test_an_axis_is_of_a_size_that_the_compiler_knows():
    def f(N, p):
        return GroupBy([4, N])[p, :]

    program = generate(f, "triton").program
    (function,) = program.functions
    ((name, extent),) = function.axes
    size = programs.node("max", extent, programs.const(2), lo=2, hi=None)
    axes = replace(program, functions=(replace(function, axes=((name, size),)),))
    with pytest.raises(TargetError, match="computed with 'max', which Triton does not know"):
        TritonPrinter().emit(axes)


def test_unsigned_types_and_words_of_the_language():
    with pytest.raises(TargetError, match="Triton has no uint32; it has int32, int64"):
        generate(edge, "triton", index_type="uint32")
    assert "def f(tl_v, i):" in generate(lambda tl, i: tl + i, "triton", name="f").source


def test_tables():
    text = generate(Lookup([11], [(7 * k) % 11 for k in range(11)]), "triton", name="t").source
    assert "TABLE = tl.constexpr((" in text or "return 7 * i % 11" in text
    assert "return tl.load(perm + i)" in generate(Lookup([6], "perm"), "triton", name="t").source


# -- run -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_the_ends_of_each_index_type(triton, index_type):
    index_functions.assert_floors(triton, index_type)
    index_functions.assert_border(triton, index_type)


@pytest.mark.deep
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_array_forms(triton, index_type, base, numbers):
    def blocks(M, N, BM, BN, i, j):
        return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[:, :, i, j]

    def pair(A, B):
        return {"a": GroupBy([A, 4])[1, :], "b": GroupBy([B, 3])[:, 2]}

    def one(A, p):
        return GroupBy([A, 8])[p, :]

    for function, sizes, others in [
        (tile, {"M": 16, "N": 24, "BM": 4, "BN": 8}, (2, 1)),
        (blocks, {"M": 12, "N": 20, "BM": 3, "BN": 5}, (2, 4)),
        (pair, {"A": 3, "B": 4}, ()),
        (one, {"A": 5}, (3,)),
    ]:
        result = function(*sizes.values(), *others)
        if isinstance(result, dict):  # each ':' is an axis of its own
            a, b = result.values()
            result = tuple(np.broadcast_arrays(a[:, None], b))
        result = [r + base for r in (result if isinstance(result, tuple) else (result,))]
        given = sizes if numbers else None
        unit = generate(function, "triton", sizes=given, index_type=index_type, base=base)
        scalars = [*(() if numbers else sizes.values()), *(i + base for i in others)]
        found = unit.compile().array(function.__name__)(*scalars)
        found = found if isinstance(found, tuple) else (found,)
        assert [f.tolist() for f in found] == [r.tolist() for r in result], unit.source


@pytest.mark.slow
def test_a_block_that_is_no_power_of_two_is_refused(triton):
    run = generate(tile, "triton").compile()
    with pytest.raises(ToolchainError, match="of tile would be a block of 15 elements"):
        run.array("tile")(12, 20, 3, 5, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["({0} / {1})", "({0} // 0)", "{0} +", "nothing"])
def test_what_is_wrong_with_the_text_is_said(triton, text):
    ops = {**TritonPrinter.ops, "add": Op(text, 100, (0, 0))}
    printer = type("Broken", (TritonPrinter,), {"ops": ops})()
    a, b = programs.var("a", -50, 50), programs.var("b", -50, 50)
    result = programs.node("add", a, b)
    program = Program("unit", (programs.function("f", {"result": result}),), "")
    with pytest.raises(ToolchainError, match=r"unit does not load|f fails"):
        Emitted(printer.emit(program), program, printer).compile()["f"](3, 4)


# -- the compiler --------------------------------------------------------------------------------

# Triton's own passes and assembler, without a GPU: a kernel that calls all functions of a file.
COMPILE = """
import importlib.util, pathlib, sys
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

for path in sorted(pathlib.Path(sys.argv[1]).glob("unit_*.py")):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = module.everything
    signature = {name: "*i64" if name == "out" else "i32" for name in kernel.arg_names}
    compile(ASTSource(kernel, signature), target=GPUTarget("cuda", 80, 32))
    print(path.stem)
"""


def everything(program):
    """A kernel that calls all functions of a program with blocks."""
    lines = ["", "", "@triton.jit", "def everything(out, one, two):"]
    lines += ["    place = tl.arange(0, 32)"]
    for f in program.functions:
        given = ", ".join(f"place + {('one', 'two')[k % 2]}" for k, _ in enumerate(f.params))
        results = [f"result_{k}" for k, _ in enumerate(f.outputs)]
        lines.append(f"    {', '.join(results)} = {f.name}({given})")
        lines += [f"    tl.store(out + place, {r})" for r in results]
    return "\n".join([*lines, ""])


@pytest.mark.slow
def test_the_compiler_takes_every_construct(triton, tmp_path):
    units = [case.emit("triton") for case in golden_cases()[::25]]
    units += [
        emit_program(programs.every_operation(index_type), "triton")
        for index_type in ("int32", "int64")
    ]
    for k, unit in enumerate(units):
        text = unit.source + everything(unit.program)
        (tmp_path / f"unit_{k:02}.py").write_text(text)
    (tmp_path / "compile.py").write_text(COMPILE)
    done = subprocess.run(
        [sys.executable, "compile.py", "."], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.stdout.split() == [f"unit_{k:02}" for k, _ in enumerate(units)], done.stderr


def test_the_grouped_program_ids_have_the_form_of_the_tutorial():
    M, N, G = symbols("M N GROUP")
    pids = catalogue["triton.grouped"](M, N, G)
    unit = generate(pids, "triton", assume=["M >= 1", "N >= 1", "GROUP >= 1"], terse=True)
    assert "tl.where" not in str(unit)
    body = str(unit).partition("_inv")[2]
    assert body.count("//") + body.count("%") == 3 and body.count("tl.minimum") == 1
    assert "flat // scaled" in body  # scaled is GROUP * N, which is computed anyway
    inv = unit.functions[1]
    for m, n, group in [(1, 1, 1), (7, 4, 3), (6, 5, 2), (5, 3, 8)]:
        plain = catalogue["triton.grouped"](m, n, group)
        for flat in range(m * n):
            at = {"M": m, "N": n, "GROUP": group, "flat": flat}
            assert (*inv.evaluate(at).values(),) == plain.inv(flat), at


def test_min_in_the_functions_of_a_genp_takes_symbols():
    def clipped(i):
        return min(i, 7 - i) * 2 + (i > 3)

    def back(p):
        return p // 2 if p % 2 == 0 else 7 - p // 2

    unit = generate(GenP([8], clipped, back), "python")
    assert "min(" in str(unit) and " if " not in str(unit).partition("_inv")[0]
    (name,) = dict(unit.functions[0].outputs)
    assert [unit.functions[0].evaluate({"i": i})[name] for i in range(8)] == [
        0, 2, 4, 6, 7, 5, 3, 1,
    ]  # fmt: skip
