"""Affine maps: the golden functions that are ones, over their whole tables by an evaluator of the text, what
mlir-opt makes of them, refusals, memrefs, options and templates."""

import random
import subprocess
import sys
from collections import Counter
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from marks import golden_lowered

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Lookup,
    Row,
    TileBy,
    generate,
    render,
    symbols,
)
from lego_emit.cli import main
from lego_emit.errors import LegoError, TargetError

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import affine_maps

ROOT = Path(__file__).parents[1]

M, N = symbols("M N")
TILES = TileBy([M // 4, N // 8], [4, 8]).OrderBy(Row(M, N))
# Of each kind some, which every run looks at; --deep has all.
SOME = (
    "brick",
    "fig2",
    "linear_mma_a",
    "linear_swizzled",
    "morton_16x16",
    "grouped_pid_8_6_4",
    "brick_N6_B2",
)
LEAST = 185  # of the golden functions are maps
REASONS = {"a choice", "a minimum", "a table", "a square root", "a bitwise product of two indices"}


def of(function, **given):
    """The map of a function of indices."""
    return generate(function, "mlir", name="f", **given).affine_map()


# -- the golden functions ------------------------------------------------------------------------


@pytest.mark.slow
def test_some_golden_functions_are_maps():
    rows = [*affine_maps.rows(SOME.__contains__)]
    kinds = Counter(row.map.kind for row in rows if row.map is not None)
    assert len(kinds) == 3 and sum(kinds.values()) == len(rows) >= 10
    assert [affine_maps.mismatch(row)[1] for row in rows if row.map is not None] == [""] * len(rows)


@pytest.mark.deep
@golden_lowered
def test_golden_functions_are_maps_or_say_why():
    """Each over its whole table, semi-affine ones at three sizes; each as mlir-opt reads it, too, and each lowers."""
    found = affine_maps.checked()
    assert found.wrong == [] and found.count >= LEAST
    assert min(count for count, *_ in found.kinds.values()) > 30 and len(found.kinds) == 3
    assert sum(indices for _, indices, _ in found.kinds.values()) > 300_000
    assert max(longest for *_, longest in found.kinds.values()) <= 6000
    assert found.lowered and found.lowered == [*affine_maps.programs()]
    assert found.reasons.keys() <= REASONS


@pytest.mark.deep
def test_mlir_reads_maps_as_they_are_meant():
    """What it prints after its own simplifications has the table, too."""
    rows = [row for row in affine_maps.rows() if row.map is not None and not row.map.symbols]
    module = "".join(affine_maps.function_of(row.name, row.map) for row in rows)
    for program in affine_maps.programs().values():
        printed = affine_maps.printed_maps(affine_maps.optimized(program, module))
        compared = 0
        for row in rows:
            ((_, given, wanted),) = row.tables()
            results = [affine_maps.read(text) for text in printed[row.name]]
            if len(results) != len(wanted):  # a result that is an index alone is not applied
                continue
            for result, right in zip(results, wanted, strict=True):
                if len(result.dims) == len(given):  # in their order, unless MLIR dropped some
                    (got,) = result.at(given, [])
                    assert (np.broadcast_to(got, right.shape) == right).all(), row.name
                    compared += 1
        assert compared > 100


# -- what MLIR makes of them ---------------------------------------------------------------------------

RESULTS = ROOT / "benchmarks" / "results" / "affine.md"


def cells(text, columns):
    """The rows of the tables of so many columns, without their heads."""
    rows = [
        [c.strip() for c in line.strip()[1:-1].split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [row for row in rows if len(row) == columns and row[2].replace(",", "").isdigit()]


@pytest.fixture
def program():
    """benchmarks/affine as a module."""
    loader = SourceFileLoader("benchmarks_affine", str(ROOT / "benchmarks" / "affine"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_figures_of_the_page_are_those_of_the_results(program):
    """Its sums are of the rows, and no form has fewer operations than ours."""
    text = RESULTS.read_text()
    titles = ("ours", "latency", *program.COLUMNS)
    counts = [
        (kind, {t: int(n) for t, n in zip(titles, numbers, strict=True) if n})
        for _, kind, *numbers in cells(text, 2 + len(titles))
    ]
    assert len(counts) > 130 and program.summary(counts) in text
    sums = cells(text, 8)
    assert all(row[-1] == "0" for row in sums)
    page = (ROOT / "docs" / "languages" / "mlir.md").read_text()
    wanted = [row for row in sums if row[1] not in ("latency", "map")]
    assert wanted and cells(page, 8) == wanted


@pytest.mark.deep
def test_the_results_are_what_the_program_prints():
    """Where the same LLVM is the newest one; it says by its exit code whether all values are right."""
    run = [sys.executable, "benchmarks/affine"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("Wrong: none.\n"), (
        done.stdout + done.stderr
    )
    if f"LLVM {max(affine_maps.programs())}." in RESULTS.read_text():
        assert done.stdout == RESULTS.read_text()


# -- what there is, and what is not ----------------------------------------------------------------


@pytest.mark.parametrize(
    "layout, kind, text",
    [
        (GroupBy([6, 4]).OrderBy(Col(6, 4)), "affine", "(d0, d1) -> (d1 * 6 + d0)"),
        (TILES, "semi-affine", "(d0, d1, d2, d3)[s0, s1] -> ((d0 * 4 + d2) * s1 + d1 * 8 + d3)"),
        (
            GroupBy([4, 4]).OrderBy(GenP([4, 4], lambda i, j: 4 * i + (i ^ j))),
            "bits",
            "(d0, d1) -> ((d0 + d1) mod 2 + ((d0 floordiv 2 + d1 floordiv 2) mod 2) * 2 + d0 * 4)",
        ),
    ],
)
def test_layouts(layout, kind, text):
    found = layout.affine_map
    assert (found.kind, str(found)) == (kind, f"affine_map<{text}>")
    assert repr(found) == f"<AffineMap layout_apply: {kind}, {len(str(found))} characters>"


def test_what_it_rests_on():
    found = TILES.affine_map
    assert [e.name for e in found.dims] == ["i", "j", "k", "l"]
    assert [(e.name, e.least) for e in found.symbols] == [("M", 4), ("N", 8)]
    assert {"M % 4 == 0", "N % 8 == 0"} <= {*found.assumptions}


@pytest.mark.parametrize(
    "function, given, text",
    [
        (lambda i: i // 3 * 7 - i % 5, {}, "(d0 floordiv 3) * 7 - (d0 mod 5)"),
        (lambda i: (i - 3) // 4 * 4, {}, "((d0 - 3) floordiv 4) * 4"),
        (lambda i, j: i ^ j, {"i": (0, 4), "j": (0, 4)}, "(d0 + d1) mod 2 + ((d0 floordiv 2 + d1 floordiv 2) mod 2) * 2"),
        (lambda i: i ^ 7, {"i": (0, 8)}, "-d0 + 7"),
        (lambda i: i & 12, {}, "((d0 floordiv 4) mod 4) * 4"),
        (lambda i: ~i, {}, "-d0 - 1"),
    ],
)  # fmt: skip
def test_functions(function, given, text):
    found = of(function, ranges=given or None)
    (result,) = found.results
    if not given:
        given = {"i": (-40, 40)}
        assert affine_maps.read(str(found)).at([-9], [])[0] == function(-9)
    assert result == text
    grid = np.meshgrid(*(np.arange(*ends) for ends in given.values()))
    assert (affine_maps.read(str(found)).at(grid, [])[0] == function(*grid)).all()


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda: ExpandBy([5], [8], GroupBy([2, 4])).affine_map, "a choice"),
        (lambda: Lookup([6], [4, 0, 3, 5, 1, 2]).affine_map, "a table"),
        (lambda: of(lambda i, j: i * j), "a product of two indices"),
        (lambda: of(lambda i, j: i // j, ranges={"j": (1, 9)}), "a division by an index"),
        (lambda: of(lambda i, n: i // (n - 5)), "a divisor that may be negative"),
        (lambda: of(lambda i, j: i & j, ranges={"i": (0, 8), "j": (0, 8)}), "a bitwise product of two indices"),
        (lambda: of(lambda i: i >> 63), "a number that an index of 64 bits has not, 9223372036854775808"),
        (lambda: of(lambda i, j: i ^ j), "bits of a value that may be negative or has no bound"),
        (lambda: of(lambda i, j: i << j, ranges={"i": (0, 8), "j": (0, 8)}), "a shift by what is no number"),
        (lambda: generate(lambda i: i * i, "mlir", index_type="uint32", wrapping=True, name="f").affine_map(), "arithmetic that wraps"),
    ],
)  # fmt: skip
def test_what_is_no_map_says_why(make, reason):
    with pytest.raises(TargetError, match=rf"is no affine map: it has {reason}"):
        make()


def test_a_long_map_is_none():
    """Each bit of it is the exclusive or of many others."""
    found = generate(spread, "mlir", ranges={"i": (0, 2**60)})
    with pytest.raises(TargetError, match=r"it has [\d,]+ characters as one, more than 6,000"):
        found.affine_map()


def spread(i):
    """The Gray code again and again."""
    for k in range(1, 12):
        i = i ^ (i >> k)
    return i


def test_the_name_of_a_function():
    unit = generate(GroupBy([6, 4]), "cuda")
    assert str(unit.affine_map()) == str(unit.affine_map("layout_apply"))
    assert str(unit.affine_map("layout_inv")) == "affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>"
    with pytest.raises(TargetError, match="Did you mean 'layout_inv'"):
        unit.affine_map("layout_in")


# -- memrefs --------------------------------------------------------------------------------------


def test_the_type_of_a_buffer():
    assert (
        Col(6, 4).affine_map.memref("i8") == "memref<6x4xi8, affine_map<(d0, d1) -> (d1 * 6 + d0)>>"
    )
    assert TILES.affine_map.memref().startswith(
        "memref<?x?x4x8xf32, affine_map<(d0, d1, d2, d3)[s0, s1] ->"
    )
    with pytest.raises(TargetError, match="a memref's indices begin at 0, and i at no number"):
        of(lambda i: i + 1).memref()


@pytest.mark.slow
def test_normalize_memrefs_forgets_the_indices_of_loads_before_llvm_22():
    """memref.load keeps its index of a buffer whose place moved; affine.load doesn't."""
    kind = GroupBy([12]).OrderBy(Row(3, 4)).OrderBy(Col(3, 4)).affine_map.memref()
    text = f"""
func.func @f(%i: index, %x: f32) -> f32 {{
  %a = memref.alloc() : {kind}
  memref.store %x, %a[%i] : {kind}
  %y = LOAD %a[%i] : {kind}
  return %y : f32
}}
"""
    for version, program in affine_maps.programs().items():
        moved = affine_maps.optimized(
            program, text.replace("LOAD", "affine.load"), "--normalize-memrefs"
        )
        assert "affine.load %alloc[%arg0]" not in moved
        found = affine_maps.optimized(
            program, text.replace("LOAD", "memref.load"), "--normalize-memrefs"
        )
        if version <= 19 or version >= 22:  # those between were not looked at
            assert ("memref.load %alloc[%arg0]" in found) == (version < 22), found


# -- in files and templates -------------------------------------------------------------------------


def test_maps_in_a_file():
    source = generate(TILES, "mlir", name="tiles", affine=True).source
    assert f"\n#tiles_apply = {TILES.affine_map}\nfunc.func @tiles_apply(" in source
    assert (
        "// The map's dims: flat; its symbols: M, N\n#tiles_inv = affine_map<(d0)[s0, s1] -> ("
        in source
    )
    assert max(map(len, source.splitlines())) <= 100
    with pytest.raises(TargetError, match="layout_apply is no affine map: it has a choice"):
        generate(ExpandBy([5], [8], GroupBy([2, 4])), "mlir", affine=True)
    with pytest.raises(TargetError, match="CUDA C has no affine maps"):
        generate(GroupBy([6]), "cuda", affine=True)


@pytest.mark.slow
def test_a_file_with_maps_is_compiled():
    """Beside another one, which has the same names."""
    from lego_emit.run import registry

    units = [
        generate(GroupBy([6, 4]).OrderBy(layout), "mlir", affine=True)
        for layout in (Row(6, 4), Col(6, 4))
    ]
    first, second = registry.toolchain("mlir").compile(units)
    assert (first["layout_apply"](2, 3), second["layout_apply"](2, 3)) == (11, 20)
    assert units[1].verify()


def test_the_command_line(tmp_path):
    path = tmp_path / "layouts.py"
    path.write_text("from lego_emit import Col\n\ncolumns = Col(6, 4)\n")
    run = CliRunner().invoke(main, ["generate", f"{path}:columns", "-t", "mlir", "--affine"])
    assert (
        run.exit_code == 0
        and "#columns_apply = affine_map<(d0, d1) -> (d1 * 6 + d0)>" in run.stdout
    )
    assert "--affine" in run.stdout  # in the command that makes it again


def test_templates():
    text = render(
        "{{ A.affine_map }} {{ B.affine_map.memref('f16') }}", "mlir", A=TILES, B=Col(4, 5)
    )
    assert text == f"{TILES.affine_map} memref<4x5xf16, affine_map<(d0, d1) -> (d1 * 4 + d0)>>"
    assert "M % 4 == 0" in text.assumptions
    with pytest.raises(LegoError, match=r"line 1: layout_apply is no affine map: it has a table"):
        render("{{ A.affine_map }}", "mlir", A=Lookup([6], "perm"))


# -- at random ---------------------------------------------------------------------------------------


def tree(rng, depth):
    """The text of a function of i, j and k."""
    if not depth:
        return rng.choice(["i", "j", "k", str(rng.randrange(9))])
    a, op = (
        tree(rng, depth - 1),
        rng.choice(["*", "//", "%", "<<", ">>", "&", "|", "^", "~", "+", "-", "a&", "a|", "a^"]),
    )
    if op == "~":
        return f"(~{a})"
    numbers = {"*": (1, 2, 3, 5, 8, 17, 257, -3), "<<": range(4), ">>": range(4)} | dict.fromkeys(
        ("//", "%"), (1, 2, 3, 6, 8, 16)
    )
    numbers |= dict.fromkeys("&|^", (0, 1, 3, 5, 12, 15, 51, 85, 255))
    b = rng.choice([*numbers[op]]) if op in numbers else tree(rng, depth - 1)
    return f"({a} {op.strip('a')} {b})"


def test_functions_at_random(count=12, seed=0):
    rng, found = random.Random(seed), 0
    domain = {"i": (0, 16), "j": (0, 24), "k": (-5, 6)}
    grid = np.meshgrid(*(np.arange(*ends) for ends in domain.values()))
    for _ in range(count):
        text = tree(rng, rng.choice([2, 3, 4]))
        function = eval(f"lambda i, j, k: {text}")
        try:
            made = of(function, ranges=domain)
        except LegoError:  # what is no map, and no index
            continue
        values = dict(zip(domain, grid, strict=True))
        (got,) = affine_maps.read(str(made)).at([values[e.name] for e in made.dims], [])
        assert np.all(got == function(*grid)), text
        found += 1
    assert found > count // 3


@pytest.mark.deep
def test_more_functions_at_random():
    test_functions_at_random(400, 1)
