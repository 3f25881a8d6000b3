"""Rust: every golden text through clippy, rustfmt and rustc, in two editions and two profiles;
iterators over ':' axes; files as modules."""

import os
import random
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise

import index_functions
import numpy as np
import programs
import pytest
import test_signatures
from marks import every_width, rest_deep
from test_programs import CASES
from test_signatures import Coord

from lego_emit import GroupBy, Row, generate, golden, symbols
from lego_emit.emitted import Emitted, emit_program
from lego_emit.errors import ToolchainError
from lego_emit.ir.index_types import INT32, INT64
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Param, Program
from lego_emit.ir.relations import between
from lego_emit.printers.rust import RustPrinter
from lego_emit.run import registry
from lego_emit.targets.rust import CheckedRustTarget, RustTarget
from lego_emit.types import Array

pytestmark = pytest.mark.slow

INDEX_TYPES = ("int32", "int64", "uint32", "uint64", "usize")
EDITIONS = ("2021", "2024")
RUST = RustTarget()


def needed(condition, reason):
    """Skip, or under CI fail, where a tool is missing."""
    if not condition:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="module")
def rustc():
    try:
        return RUST.find().path
    except ToolchainError as error:
        needed(False, str(error))


@pytest.fixture(params=EDITIONS)
def edition(request, rustc):
    assert_known([rustc, "--print", "sysroot"], request.param)
    return request.param


def assert_known(command, edition):
    """Skip where a tool is older than an edition; the tools may be of different versions."""
    done = subprocess.run([*command, "--edition", edition], capture_output=True, input=b"")
    if done.returncode:
        pytest.skip(f"this {command[0]} does not know edition {edition}")


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


@pytest.fixture(scope="module")
def units(cases):
    """Every golden text, with sizes as parameters and as numbers; array forms; every operation;
    nasty names."""
    found = [case.emit("rust") for case in cases]
    found += [case.emit("rust", numbers=True) for case in cases if case.sizes]
    found += [
        unit for unit, _, _ in index_functions.array_units("rust", ("int64", "uint32", "usize"))
    ]
    found += [emit_program(CASES[f"operations{bits}"], "rust") for bits in (32, 64)]
    found += [generate(f, "rust", index_type=t) for f in (moves, nasty) for t in ("auto", "usize")]
    layouts = GroupBy([6, 4]), GroupBy(symbols("M N"))
    found += [generate(x, "rust", view=True, index_type="usize") for x in layouts]
    found += [generate(f, "rust", view=True) for f in (of_struct, of_array)]
    found.append(generate(of_array, "rust", view=True, index_type="usize", base=1))
    return [*found, *test_signatures.rarer("rust")]


def of_struct(size: Coord):
    return GroupBy([size.x, size.y])


def of_array(X: Array[2]):
    return GroupBy([X[0], X[1]])


def nasty(N, n, mod, gen, Some, sample, long_long_long_name, long_long_long_fame):
    return GroupBy([N, n, mod])[gen, Some, sample] + long_long_long_name * long_long_long_fame


def moves(M, N):
    return {"source": GroupBy([M, N])[:, :], "target": N}


def crate(units, folder):
    """A library crate without std, each unit a public module."""
    for k, unit in enumerate(units):
        unit.save(folder / f"unit_{k}.rs")
    modules = "".join(f"pub mod unit_{k};\n" for k in range(len(units)))
    (folder / "lib.rs").write_text(f"#![no_std]\n\n{modules}")
    return folder / "lib.rs"


# -- the text ------------------------------------------------------------------------------------


@pytest.mark.parametrize("edition", rest_deep(EDITIONS[::-1]), indirect=True)
def test_clippy_finds_nothing(units, edition, tmp_path):
    needed(shutil.which("clippy-driver"), "clippy-driver is missing; apt-get install rust-clippy")
    assert_known(["clippy-driver", "--print", "sysroot"], edition)
    lints = ["-D", "warnings", "-W", "clippy::pedantic"]
    command = ["clippy-driver", "--edition", edition, "--crate-type=lib", "--emit=metadata"]
    RUST.execute([*command, *lints, str(crate(units, tmp_path))], cwd=tmp_path)


@pytest.mark.deep
def test_clippy_finds_what_is_allowed(units, tmp_path):
    """No lint is let off needlessly: each one that is named would be set off (similar names
    differ from version to version; missing docs are looked for where a program asks)."""
    needed(shutil.which("clippy-driver"), "clippy-driver is missing; apt-get install rust-clippy")
    version = RUST.execute(["clippy-driver", "--rustc", "--version"])
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < (1, 81):
        pytest.skip("this clippy does not know #[expect]")
    root = crate(units, tmp_path)
    for path in tmp_path.glob("unit_*.rs"):
        allowed = r"#\[allow\((?!dead_code|missing_docs|clippy::similar_names)"
        path.write_text(re.sub(allowed, "#[expect(", path.read_text()))
    command = ["clippy-driver", "--edition", "2021", "--crate-type=lib", "--emit=metadata"]
    RUST.execute([*command, "-D", "warnings", "-W", "clippy::pedantic", str(root)], cwd=tmp_path)


def test_every_allowed_lint_has_its_reason(units):
    """No lint is let off but those that names, their number and unused functions set off."""
    allowed = set()
    for unit in units:
        lines = unit.source.splitlines()
        for before, line in pairwise(lines):
            if line.startswith("#["):
                allowed.add(line)
                plain = line in ("#[allow(dead_code)]", "#[must_use]")
                assert plain or before.startswith(("#[", "// ", "///")), line
    assert allowed == {
        "#[must_use]",
        "#[inline]",
        "#[allow(dead_code)]",
        "#[allow(missing_docs)]",  # of a struct's fields, where a program asks for docs
        "#[allow(non_snake_case)]",
        "#[allow(non_camel_case_types)]",
        "#[allow(clippy::too_many_arguments)]",
        "#[allow(clippy::many_single_char_names)]",
        "#[allow(clippy::similar_names)]",
        "#[allow(clippy::cast_sign_loss)]",  # the place in a table, and of a view
        "#[allow(clippy::cast_possible_truncation)]",  # indices of a view
        "#[allow(clippy::cast_possible_wrap)]",
        "#[derive(Clone, Copy, Debug)]",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]",
        "#[rustfmt::skip]",
        '#[cfg(not(target_pointer_width = "64"))]',
    }


def random_iterators(count):
    """Units whose array forms have names and extents of every length."""
    rng = random.Random(1)
    for number in range(count):
        length = rng.choice([(0, 1, 3, 8, 20), (3, 4, 5, 6, 7)])
        sizes = [f"n{k}_{'x' * rng.choice(length)}y" for k in range(rng.randrange(13))]
        axes = [f"i{k}{'z' * rng.choice((0, 0, 6, 15))}" for k in range(rng.randrange(1, 4))]
        extents = []
        for _ in axes:
            size = programs.var(rng.choice(sizes), 1, 50) if sizes else programs.const(7)
            third = programs.node("div", size, programs.const(3))
            either = programs.node("select", programs.node("lt", size, third), size, third)
            extents.append(rng.choice([size, size, third, either, programs.const(1234)]))
        outputs = {"result": programs.const(0), "second": programs.const(1)}
        function = Function(
            "f" * rng.choice((1, 3, 10, 30)),
            tuple(Param(name, between(0, 4)) for name in (*sizes, *axes)),
            (),
            tuple(outputs.items())[: rng.choice((1, 2))],
            rng.choice((INT32, INT64)),
            axes=tuple(zip(axes, extents, strict=True)),
        )
        yield emit_program(Program(f"unit_{number}", (function,), "random"), "rust")


@pytest.mark.parametrize("edition", rest_deep(EDITIONS[::-1]), indirect=True)
def test_rustfmt_changes_nothing(units, edition, tmp_path):
    needed(shutil.which("rustfmt"), "rustfmt is missing; apt-get install rustfmt")
    assert_known(["rustfmt", "--check"], edition)
    every = [*units, *random_iterators(400)]
    if edition == "2021":  # a short `if` as the value of another one's branch differs in 2024
        every += [emit_program(CASES[name], "rust") for name in CASES if "trees" in name]
    crate(every, tmp_path)
    files = [f"unit_{k}.rs" for k in range(len(every))]
    RUST.execute(["rustfmt", "--check", "--edition", edition, *files], cwd=tmp_path)


# -- values --------------------------------------------------------------------------------------


@pytest.mark.deep
def test_every_case_in_each_profile(cases, edition, monkeypatch):
    """test_golden has edition 2021 without checks."""
    target = {"2021": CheckedRustTarget, "2024": RustTarget}[edition]()
    target.edition = edition
    monkeypatch.setattr(registry, "toolchain", lambda name: target)
    for numbers in (False, True):
        result = golden.verify(cases, "rust", numbers)
        assert result.comparisons > 5000
        assert not result.mismatches, "\n".join(result.mismatches)


@pytest.mark.deep
@every_width
def test_every_case_in_each_index_type(cases, rustc):
    counts = index_functions.assert_every_width(cases, "rust", INDEX_TYPES)
    assert counts["int32"] == counts["int64"] == len(cases)
    assert counts["uint32"] == counts["uint64"] == counts["usize"] == len(cases)


@pytest.mark.parametrize("profile", (RustTarget, CheckedRustTarget))
def test_floors_at_the_ends_of_each_type(profile, rustc):
    for index_type in INDEX_TYPES:
        assert index_functions.assert_floors(profile(), index_type) > 400


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_positions_up_to_the_greatest_value(rustc, index_type):
    index_functions.assert_border(CheckedRustTarget(), index_type)


# -- the array form ------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", rest_deep([CheckedRustTarget, RustTarget]))
def test_iterators_give_numpy_s_arrays(profile, rustc):
    index_functions.assert_arrays(profile(), index_functions.array_units("rust", INDEX_TYPES))


def test_iterator_of_the_golden_case(cases, rustc):
    (case,) = (c for c in cases if c.name == "readme_index_kernel")
    counts = [n for _, n in case.table.axes]
    table = case.table.columns["result"].reshape(counts)
    for numbers in (False, True):
        tile = case.emit("rust", numbers).compile().array("index_kernel")
        sizes = () if numbers else case.sizes.values()
        for pid_m, pid_n in np.ndindex(*counts[:2]):
            assert (tile(*sizes, pid_m, pid_n) == table[pid_m, pid_n]).all()


MISTAKES = {
    "axes swapped": lambda text: (
        text.replace("n / 3", "x").replace("n % 3", "n / 3").replace(" x", " n % 3")
    ),
    "one too few": lambda text: text.replace("= 3 * B;", "= 3 * B - 1;"),
    "one too many": lambda text: text.replace("= 3 * B;", "= 3 * B + 1;"),
    "scalars swapped": lambda text: text.replace("A, B,", "B, A,"),
}


@pytest.mark.parametrize("mistake", [None, *MISTAKES])
def test_a_mistake_in_the_iterator_is_found(mistake, rustc):
    class Broken(RustPrinter):
        def iterator_body(self, view):
            lines = super().iterator_body(view)
            return [MISTAKES[mistake](line) for line in lines] if mistake else lines

    i, j = programs.var("i", 0, 8), programs.var("j", 0, 8)
    scaled = programs.node("mul", i, programs.const(100))
    result = programs.node("add", scaled, programs.node("add", j, programs.var("A", 0, 9)))
    function = programs.function("f", {"result": result}, "int32", "ABij")
    function = replace(function, axes=(("i", programs.var("B", 0, 9)), ("j", programs.const(3))))
    program, printer = Program("unit", (function,), "a mistake"), Broken()
    run = RUST.compile([Emitted(printer.emit(program), program, printer)])[0]
    want = 100 * np.arange(4)[:, None] + np.arange(3) + 7
    assert np.array_equal(run.array("f")(7, 4), want) is (mistake is None)


def test_names_beside_an_iterator(rustc, tmp_path):
    """A function that is called like another one's iterator, a parameter like its own, and
    extents whose names are taken."""
    size = programs.node("div", programs.var("i_end", 0, 50), programs.const(2))
    result = programs.node("add", programs.var("i", 0, 50), programs.var("tile_positions", 0, 50))
    tile = programs.function("tile", {"result": result}, "int64", ["i_end", "tile_positions", "i"])
    tile = replace(tile, axes=(("i", size),))
    other = programs.function("tile_positions", {"result": Node("const", (), 5)}, "int64", "")
    unit = emit_program(Program("unit", (tile, other), "names"), "rust")
    assert len({"tile_positions", *(f.name for f in unit.functions)}) == 3
    run = unit.compile()
    assert run.array("tile")(10, 3).tolist() == [3, 4, 5, 6, 7]


# -- use in a program ----------------------------------------------------------------------------

MAIN = """
mod tile;
mod tiles {
    pub mod mine {
        include!("tile.rs");
    }
    pub mod yours {
        include!("nested/tile.rs");
    }
}
mod fig2;
mod moves;
mod trees;

const FIRST: i64 = tile::tile(12, 20, 3, 5, 0, 0, 0, 0);

fn main() {
    let results = tile::tile_positions(12, 20, 3, 5, 2, 1);
    let expected = [125, 126, 127, 128, 129, 145, 146, 147, 148, 149, 165, 166, 167, 168, 169];
    assert!(results.clone().eq(expected));
    assert!(results.clone().rev().eq(expected.into_iter().rev()));
    assert_eq!(results.len(), 15);
    assert_eq!(results.clone().collect::<Vec<_>>().capacity(), 15);
    let moved = moves::moves(2, 3, 1, 2);
    let moves::MovesResult { source, target } = moved;
    assert_eq!((source, target), (5, moved.target));
    assert_eq!(moves::moves_positions(2, 3).nth(4), Some(moves::MovesResult { source: 4, target: 3 }));
    assert_eq!(results.skip(14).next(), Some(169));
    assert_eq!(tile::tile_positions(12, 20, 3, 0, 2, 1).next(), None);
    assert_eq!(tiles::mine::tile(12, 20, 3, 5, 0, 0, 0, 1), 1 + FIRST);
    assert_eq!(tiles::yours::tile_positions(2, 1).last(), Some(169));
    assert_eq!(fig2::apply(4, 1), 6);
    assert_eq!(trees::op_floordiv(-7, 2), -4);
    println!("all right");
}
"""


def test_a_program_of_several_units(cases, edition, tmp_path, rustc):
    """Files as modules and included; two of one name; warnings are errors though not every
    function is called."""
    (fig2,) = (case for case in cases if case.name == "fig2")
    sizes = {"M": 12, "N": 20, "BM": 3, "BN": 5}
    (tmp_path / "nested").mkdir()
    generate(index_functions.tile, "rust").save(tmp_path / "tile.rs")
    generate(index_functions.tile, "rust", sizes=sizes).save(tmp_path / "nested" / "tile.rs")
    fig2.emit("rust").save(tmp_path / "fig2.rs")
    generate(moves, "rust", index_type="usize").save(tmp_path / "moves.rs")
    emit_program(programs.every_operation("int32"), "rust").save(tmp_path / "trees.rs")
    (tmp_path / "main.rs").write_text(MAIN)
    command = [rustc, "--edition", edition, "-D", "warnings", "-o", "program", "main.rs"]
    RUST.execute(command, cwd=tmp_path)
    assert RUST.execute([str(tmp_path / "program")]) == "all right\n"


@pytest.mark.slow
def test_an_iterator_over_more_than_32_bits_count(rustc, tmp_path):
    def f(P, Q):
        rows, columns = GroupBy([P]).OrderBy(Row(P)), GroupBy([Q]).OrderBy(Row(Q))
        return rows[:] + columns[:]

    fixed = generate(f, "rust", name="f", sizes={"P": 65536, "Q": 65536}).source
    sized = generate(f, "rust", name="f", assume=["P <= 65536", "Q <= 65536"]).source
    (tmp_path / "fixed.rs").write_text(fixed)
    (tmp_path / "sized.rs").write_text(sized)
    main = """mod fixed;
mod sized;
fn main() {
    assert_eq!(fixed::f_positions().nth(3_000_000_000), Some(69840));
    assert_eq!(fixed::f_positions().next_back(), Some(131_070));
    let all = sized::f_positions(65536, 65536);
    assert_eq!((all.len(), all.clone().nth(3_000_000_000)), (1 << 32, Some(69840)));
}
"""
    (tmp_path / "main.rs").write_text(main)
    words = ["rustc", "--edition", "2021", "-O", "-C", "overflow-checks=on", "main.rs"]
    subprocess.run(words, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)
