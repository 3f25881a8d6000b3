"""Python and NumPy: the text under CPython, NumPy, Numba and JAX, integers of any size, scalars and
arrays, array forms, what linters and formatters say."""

import ast
import itertools
import math
import re
import shutil
import subprocess
import sys

import index_functions
import numpy as np
import programs
import pytest
import test_signatures
from click.testing import CliRunner
from index_functions import golden_cases
from marks import every_width, golden_lowered

from lego_emit import ExpandBy, GroupBy, Lookup, Row, TileBy, cli, generate
from lego_emit.check.tables import arguments_of, wanted_of
from lego_emit.emitted import Emitted, emit_program
from lego_emit.errors import GoldenError, TargetError, ToolchainError, VerifyError
from lego_emit.golden import load
from lego_emit.ir.program import Program
from lego_emit.printers.numpy import NumpyPrinter
from lego_emit.printers.python import PythonPrinter
from lego_emit.run import registry

BOTH = ("python", "numpy")
edge = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]))


def loaded(text):
    """The names that a module defines."""
    module = {"__name__": "module"}
    exec(text, module)
    return module


# -- integers ------------------------------------------------------------------------------------


def test_python_s_integers_have_no_bound():
    def positions(M, N, i, j):
        return Row(M, N).apply(i, j)

    def tiles(M, N, B, p, q, i, j):
        return TileBy([M // B, N // B], [B, B]).OrderBy(Row(M, N))[p, q, i, j]

    unit = generate(positions, "python", assume=["0 <= i < M", "0 <= j < N"])
    assert unit.functions[0].index_type == "int" and "2**63" not in unit.source
    big = 10**40
    assert loaded(unit.source)["positions"](big, big, big - 1, big - 2) == big * big - 2
    unit = generate(tiles, "python")
    assert unit.functions[0].assumptions == ("M % B == 0", "N % B == 0")
    B, M, N = 7**20, 7**30, 3 * 7**25
    found = loaded(unit.source)["tiles"](M, N, B, 5, 6, 8, 9)
    assert found == (5 * B + 8) * N + 6 * B + 9


def test_an_index_type_of_python_s_is_what_the_header_says():
    def f(M, N, i, j):
        return Row(M, N).apply(i, j)

    unit = generate(f, "py", index_type="int64")
    assert unit.functions[0].index_type == "int64" and "2**63 - 1" in unit.source
    texts = {t: generate(GroupBy([4, 6]), "py", index_type=t).source for t in ("int32", "uint64")}
    assert texts["int32"].replace("int32", "uint64") == texts["uint64"]


def test_numpy_has_no_unsigned_types():
    with pytest.raises(TargetError, match="NumPy has no uint32; it has int32, int64"):
        generate(edge, "numpy", index_type="uint32")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "index_type"),
    [
        *itertools.product(["python"], ["int32", "int64", "uint32", "uint64"]),
        *itertools.product(["numpy"], ["int32", "int64"]),
    ],
)
def test_the_ends_of_each_index_type(target, index_type):
    toolchain = registry.toolchain(target)
    index_functions.assert_floors(toolchain, index_type)
    index_functions.assert_border(toolchain, index_type)


@pytest.mark.slow
@every_width
def test_every_case_of_numpy_in_32_bits():
    """Arrays of 32 bits are cut off where the header is wrong."""
    cases = golden_cases()
    counts = index_functions.assert_every_width(cases, "numpy", ["int32"])
    assert counts == {"int32": len(cases)}


@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_square_roots_are_exact(index_type):
    program = programs.every_operation(index_type)
    root = loaded(NumpyPrinter().emit(program))["_isqrt"]
    most = np.iinfo(index_type).max
    last = math.isqrt(most)
    squares = [
        k * k for k in (*range(50), *range(last - 50, last + 1), *range(0, last, last // 99))
    ]
    values = {v for s in squares for v in (s - 1, s, s + 1) if 0 <= v <= most} | {most}
    array = np.array(sorted(values), index_type)
    assert root(array).tolist() == [math.isqrt(v) for v in sorted(values)]
    assert all(root(v) == math.isqrt(v) for v in values)


# -- scalars and arrays --------------------------------------------------------------------------


def test_numpy_s_functions_take_integers_and_arrays():
    module = loaded(generate(edge, "numpy", name="edge").source)
    apply, inverse = module["edge_apply"], module["edge_inv"]
    grid = np.indices((3, 4, 2, 2))
    want = edge.apply(*grid)
    assert np.array_equal(apply(*grid), want)
    assert np.array_equal(apply(*np.ogrid[:3, :4, :2, :2]), want)
    one = apply(2, 3, 1, 1)
    assert isinstance(one, int | np.integer) and one == want[2, 3, 1, 1] == -1
    assert inverse(9) == edge.inv(9)
    parts = inverse(np.arange(35).reshape(5, 7))
    assert [p.shape for p in parts] == [(5, 7)] * 4
    narrow = apply(*(axis.astype(np.int32) for axis in grid))
    assert narrow.dtype == np.int32 and np.array_equal(narrow, want)


def points_of(case, unit):
    """(function, arguments, results) over a case's table."""
    for position, function in enumerate(unit.functions):
        names, points, wanted = wanted_of(case, function, inverse=position == 1)
        given = arguments_of(case, function, names, points)
        given = [np.ascontiguousarray(np.broadcast_to(g, wanted[0].shape)) for g in given]
        yield function, given, wanted


@pytest.mark.deep
@pytest.mark.parametrize("target", BOTH)
@golden_lowered
def test_every_golden_function_takes_integers(target):
    """Of integers, neither language makes an array."""
    for case in golden_cases():
        unit = case.emit(target)
        module = loaded(unit.source)
        for function, given, wanted in points_of(case, unit):
            for k in {0, len(wanted[0]) // 2, len(wanted[0]) - 1}:
                found = module[function.name](*(int(g[k]) for g in given))
                found = found if isinstance(found, tuple) else (found,)
                assert not any(isinstance(x, np.ndarray) for x in found), function.name
                assert [int(x) for x in found] == [int(w[k]) for w in wanted], function.name


@pytest.mark.slow
def test_array_forms():
    for target, types in (("python", ["int", "int32"]), ("numpy", ["int32", "int64"])):
        units = index_functions.array_units(target, types)
        index_functions.assert_arrays(registry.toolchain(target), units)


def test_array_forms_are_lists_and_arrays():
    def tile(i):
        return GroupBy([4, 2, 3])[i, :, :]

    lists = loaded(generate(tile, "python").source)["tile_positions"](1)
    assert lists == [[6, 7, 8], [9, 10, 11]] and "-> list[list[int]]" in generate(tile, "py").source
    array = loaded(generate(tile, "numpy").source)["tile_positions"](1)
    assert array.tolist() == lists


# -- Numba and JAX -------------------------------------------------------------------------------

SOME = 16  # each compilation takes a part of a second


def assert_golden(compiled, outputs=9):
    """The golden functions, as compiled makes them of a text and a name, over their tables."""
    for case in golden_cases()[::SOME]:
        unit = case.emit("numpy")
        for function, given, wanted in points_of(case, unit):
            if len(wanted) <= outputs:
                found = compiled(unit.source, function.name)(*given)
                found = found if isinstance(found, tuple | list) else (found,)
                for x, w in zip(found, wanted, strict=True):
                    assert np.array_equal(np.broadcast_to(x, w.shape), w), function.name


@pytest.mark.deep
@pytest.mark.parametrize("way", ["njit", "vectorize"])
def test_numba_compiles_the_same_text(way):
    numba = pytest.importorskip("numba")

    def compiled(text, name):
        module = loaded(text)
        if "_isqrt" in module:
            module["_isqrt"] = numba.njit(module["_isqrt"])
        return getattr(numba, way)(module[name])

    assert_golden(compiled, 1 if way == "vectorize" else 9)
    one = compiled(generate(edge, "numpy", name="edge").source, "edge_apply")(2, 3, 1, 1)
    assert not isinstance(one, np.ndarray) and one == -1


@pytest.mark.slow
@pytest.mark.xdist_group("jax")
def test_jax_compiles_the_same_text():
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        assert_golden(
            lambda text, name: jax.jit(
                loaded(text.replace("import numpy as np", "import jax.numpy as np"))[name]
            )
        )
    finally:
        jax.config.update("jax_enable_x64", before)


# -- the text ------------------------------------------------------------------------------------


def texts():
    """Emitted text of every golden case, of tables, and of awkward programs."""
    for target in BOTH:
        for case in golden_cases():
            yield case.emit(target)
        for program in (
            programs.every_operation(),
            programs.random_trees(60, 5, 3),
            programs.several_outputs(),
            programs.nasty_names(),
            programs.one_parameterless(),
        ):
            yield emit_program(program, target)
        yield generate(Lookup([4, 6], "table"), target)
        yield from test_signatures.units(target)


@pytest.mark.slow
@golden_lowered
def test_the_text_is_of_python_3_9_and_imports_little():
    for unit in texts():
        tree = ast.parse(unit.source, feature_version=(3, 9))
        assert ast.get_docstring(tree)
        found = {ast.unparse(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)}
        allowed = {"import math", "from collections.abc import Sequence"}
        is_numpy = unit.printer.name == "numpy"
        named = any(f.named for f in unit.functions) or unit.program.structs
        if is_numpy:
            allowed = {"import numpy as np"}
        if named:
            made = (
                "from collections import namedtuple"
                if is_numpy
                else "from typing import NamedTuple"
            )
            assert made in found
            found.remove(made)
        assert found <= allowed
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        assert all(ast.get_docstring(n) for n in functions)
        if unit.printer.name == "python":
            assert all(n.returns and all(a.annotation for a in n.args.args) for n in functions)
        elif unit.printer.name == "numpy":
            assert not any(isinstance(n, ast.If | ast.IfExp) for n in ast.walk(tree))


@pytest.mark.slow
@golden_lowered
def test_linters_find_nothing_and_the_formatter_little(tmp_path):
    """E741: a layout's index may be called l. RUF034, B002: random trees have choices of
    equals and signs of signs."""
    ruff = shutil.which("ruff") or shutil.which("ruff", path=str(sys.prefix) + "/bin")
    if ruff is None:
        pytest.skip("needs ruff: pip install ruff")
    for k, unit in enumerate(texts()):
        (tmp_path / f"unit_{k}.py").write_text(unit.source)
    options = ["--isolated", "--line-length", "100", "--target-version", "py39"]
    rules = ["--select", "E,F,W,I,D,UP,B,RUF,A,C4,RET,PIE,Q,N999", "--ignore", "E741,RUF034,B002"]
    rules += ["--config", "lint.pydocstyle.convention = 'google'"]
    checked = [ruff, "check", *options, *rules, "--output-format", "concise", "."]
    done = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    formatted = [ruff, "format", "--check", *options, "."]
    done = subprocess.run(formatted, cwd=tmp_path, capture_output=True, text=True)
    others = re.search(r"(\d+) files? would be reformatted", done.stdout)
    assert others is None or int(others[1]) <= 6, done.stdout  # the random trees, and a few


def test_words_of_the_language_are_renamed():
    def f(lambda_, np, range):
        return lambda_ + np * range

    text = generate(f, "numpy").source
    assert "def f(lambda_, np_v, range_v):" in text and "Renamed: np is np_v here." in text
    assert "def f(lambda_: int, np: int, range_v: int) -> int:" in generate(f, "python").source
    program = programs.nasty_names()
    for target in BOTH:
        assert loaded(emit_program(program, target).source)


def test_a_docstring_ends_where_it_should():
    def f(i):
        return i + 1

    for text in ('Ends in "quotes"', 'Has """ within', "A backslash \\n within", '"""'):
        f.__doc__ = text
        for target in BOTH:
            module = loaded(generate(f, target, name="f").source)
            assert module["f"](3) == 4
            assert module["f"].__doc__.startswith(text)


# -- files and errors ----------------------------------------------------------------------------

LAYOUT = "from lego_emit import GroupBy\n\ntiles = GroupBy([4, 6])\n"


def test_both_files_go_to_one_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiles.py").write_text(LAYOUT)
    command = ["generate", "tiles.py:tiles", "-t", "python", "-t", "numpy", "-o"]
    assert CliRunner().invoke(cli.main, [*command, "out/"]).exit_code == 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"tiles.py", "tiles_numpy.py"}
    refused = CliRunner().invoke(cli.main, [*command, "./"])
    assert refused.exit_code == 2 and "the layouts' own file" in refused.output
    assert (tmp_path / "tiles.py").read_text() == LAYOUT


def test_a_golden_case_called_layout_is_refused(tmp_path):
    folder = tmp_path / "layout"
    folder.mkdir()
    (folder / "layout.py").write_text("from lego_emit import GroupBy\n\nlayout = GroupBy([4])\n")
    with pytest.raises(GoldenError, match="rename the folder"):
        load(folder).text_path("python")


def broken(kind, **ops):
    """A unit of the printer with other spellings."""
    changed = {op: kind.ops[op].__class__(text, 100, (0, 0)) for op, text in ops.items()}
    printer = type("Broken", (kind,), {"ops": {**kind.ops, **changed}})()
    a, b = programs.var("a", -50, 50), programs.var("b", -50, 50)
    result = programs.node("add", a, b)
    program = Program("unit", (programs.function("f", {"result": result}),), "")
    return Emitted(printer.emit(program), program, printer)


@pytest.mark.parametrize("kind", [PythonPrinter, NumpyPrinter])
@pytest.mark.parametrize("text", ["({0} / {1})", "({0} < {1})", "({0} // 0)", "{0} +", "[]"])
def test_what_is_wrong_with_the_text_is_said(kind, text):
    with pytest.raises(ToolchainError, match=r"unit does not load|f fails"):
        broken(kind, add=text).compile()["f"](3, 4)


@pytest.mark.parametrize("target", BOTH)
def test_a_unit_is_verified_and_not_timed(target):
    unit = generate(edge, target)
    assert unit.verify()
    with pytest.raises(VerifyError, match=f"{target} is not timed on the CPU"):
        unit.time(repeat=1)
