"""Layouts that are typed on the command line, completion of names, whole helps, JSON of tables."""

import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import lego_emit
from lego_emit.cli import main
from lego_emit.emit import registry

TILES = "TileBy([2,2],[3,4]).OrderBy(Row(6,8))"
FILE = """
from lego_emit import GroupBy, Row, TileBy
tiles = TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))
bones, (x, _hidden) = GroupBy([2]), (1, 2)
size: int = 3
def rows(M, N):
    return Row(M, N)
raise RuntimeError("completion does not run it")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, **settings):
    return CliRunner().invoke(main, [*arguments], **settings)


def test_a_typed_layout_is_generated():
    Path("k.py").write_text("from lego_emit import *\nlayout = " + TILES)
    named = run("generate", "k.py:layout", "-t", "cuda").stdout.splitlines()
    for arguments in (
        ("-e", TILES, "-t", "cuda"),
        ("generate", "-e", TILES),
        ("generate", f"--expression={TILES}", "-t", "cuda"),
        ("generate", "-t", "cuda", "-e", TILES),
    ):
        lines = run(*arguments).stdout.splitlines()
        assert lines[4:6] + lines[7:] == named[4:6] + named[7:]  # but for the source and the guard
        again = shlex.split(lines[2].removeprefix("// To regenerate: "))
        assert run(*again[1:]).stdout.splitlines() == lines


def test_the_commands_that_take_a_layout_take_a_typed_one():
    assert run("show", "-e", "Col(2, 3)").stdout.endswith("0  0  2  4\n1  1  3  5\n")
    same = run("compare", "-e", "Col(2, 3)", "-e", "GroupBy([2, 3]).OrderBy(Col(2, 3))")
    assert same.stdout == "equal at all 6 indices\n"
    found = run("conflicts", "-e", "GroupBy([32, 32])", "-e", "lambda lane: (lane, 0)", "--json")
    assert json.loads(found.stdout)["wavefronts"] == 32
    helped = [name for name, command in main.commands.items() if "-e" in options_of(command)]
    assert {*helped} == {
        "generate",
        "copy",
        "pack",
        "unpack",
        "show",
        "compare",
        "conflicts",
        "swizzle",
        "verify",
        "bench",
    }


def options_of(command):
    return {option for param in command.params for option in param.opts}


def test_other_names_of_a_typed_layout_are_symbols():
    text = run("-e", "TileBy([M//4, N//4], [4, 4]).OrderBy(Row(M, N))", "-t", "c").stdout
    assert "layout_apply(" in text and "N % 4 == 0" in text
    assert "return 4 * i + j + k;" in run("-e", "lambda i, j: 4*i + j + k", "-t", "c").stdout
    swizzled = "cute.composition(cute.Swizzle(2, 0, 3), cute.layout('(8,8):(8,1)'))"
    assert "^" in run("-e", swizzled, "-t", "c").stdout


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("OrderBy(Row(q, p)).TileBy([p, 1], [1, q])", ["q", "p"]),
        ("GroupBy([p*mb, q*nb]).OrderBy(Col(p*mb, q*nb))", ["p", "mb", "q", "nb"]),
        ("Strided([4, N], [pitch, step], N - M)", ["N", "pitch", "step", "M"]),
    ],
)
def test_sizes_are_parameters_in_the_order_in_which_they_are_typed(text, sizes):
    for target, declared in (
        ("python", r"(\w+): int[,)]"),
        ("c", r"int64_t (\w+)[,)]"),
        ("rust", r"(\w+): i64[,)]"),
    ):
        source = run("-e", text, "-t", target).stdout
        head = source[source.index("apply(") :].split(")")[0] + ")"
        assert re.findall(declared, head)[: len(sizes)] == sizes, target
    names = {n: getattr(lego_emit, n) for n in lego_emit.__all__}
    given = eval(text, names | {n: lego_emit.symbols(n) for n in sizes})
    unit = lego_emit.generate(given, "python")
    own = [p.name for p in unit.functions[0].params][: len(sizes)]
    assert own == [*dict.fromkeys(n for n in re.findall(r"\w+", repr(given)) if n in sizes)]


def test_a_typed_layout_without_numbers_says_which_sizes_it_takes():
    said = run("show", "-e", "GroupBy([p*mb, 4])").stderr
    assert said.startswith("Error: -e 'GroupBy([p*mb, 4])' takes p, mb; give numbers: --size p=.. ")


@pytest.mark.parametrize(
    "text, words",
    [
        ("Rwo(6, 8)", "-e 'Rwo(6, 8)': no 'Rwo'. Did you mean 'Row'? [LE0703]"),
        ("Row(6", "no expression: '(' was never closed"),
        ("3", "layout is 3, an int, and so neither a function nor a layout"),
        ("1 / 0", "-e '1 / 0': ZeroDivisionError: division by zero"),
        ("Row(2, 2).TileBy", "has no attribute 'TileBy'; OrderBy(block).TileBy"),
        ("import os", "no expression: invalid syntax"),
    ],
)
def test_a_typed_layout_that_is_none_is_one_message(text, words):
    for command in (["generate"], ["show"], []):
        result = run(*command, "-e", text)
        assert result.exit_code == 2 and words in result.stderr and result.stdout == ""


def completed(line, shell="bash"):
    """What a shell is told; bash splits words at colons."""
    words = line.split(" ")
    if shell == "bash":
        words = [w for word in words for w in word.replace(":", " : ").split(" ") if w or not word]
    environment = {
        "_LEGO_EMIT_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
    }
    return run(env=environment, prog_name="lego-emit").stdout


def test_the_names_of_a_file_are_completed():
    Path("layouts.py").write_text(FILE)
    for command in ("show", "generate -t cuda", "compare layouts.py:tiles"):
        assert completed(f"lego-emit {command} layouts.py:") == "".join(
            f"plain,{name}\n" for name in ("tiles", "bones", "x", "size", "rows")
        )
        assert completed(f"lego-emit {command} layouts.py:ti") == "plain,tiles\n"
    assert completed("lego-emit show layouts.py:ti", "zsh") == (
        "plain\nlayouts.py\\:tiles\nin layouts.py\n"
    )
    assert "layouts.py:tiles" in completed("lego-emit show layouts.py:ti", "fish")
    assert completed("lego-emit show none.py:") == completed("lego-emit show :") == "\n"
    assert completed("lego-emit show lay") == "file,lay\n"


def test_the_beginning_of_a_command_suggests_it():
    assert "No such command 'gen'. Did you mean 'generate'?" in run("gen").stderr
    assert "Did you mean 'calibrate' or 'catalogue'?" in run("ca").stderr
    assert "Did you mean 'verify'?" in run("verfy").stderr


def commands(group=main, before=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


@pytest.mark.parametrize("path, command", [*commands()])
def test_every_command_has_an_example_that_it_takes(path, command):
    shown = run(*path, "--help").stdout
    assert "..." not in shown.replace("[ARGS]...", "")
    examples = shown.partition("Example:\n")[2].splitlines()
    assert examples
    for line in examples:
        words = shlex.split(line)
        assert words[:1] == ["lego-emit"] and tuple(words[1 : len(path) + 1]) == path
        for name in (w for w in words if "." in w and not w.startswith("TileBy")):
            Path(name.partition(":")[0]).touch()
        command.make_context("x", words[len(path) + 1 :])


def test_helps_are_whole_and_name_the_targets():
    shown = run("--help").stdout
    assert "..." not in shown.replace("[ARGS]...", "")
    text = " ".join(run("generate", "--help").stdout.split())
    assert f"One of {', '.join(registry.targets())}." in text and len(registry.own_targets()) == 16
    assert "..." not in run("golden", "--help").stdout.replace("[ARGS]...", "")


def test_one_default_target():
    defaults = {name: text for name in ("generate", "render", "init") if (text := default_of(name))}
    assert {*defaults.values()} == {registry.DEFAULT}
    run("init")
    assert f'targets = ["{registry.DEFAULT}"]' in Path("lego-emit.toml").read_text()


def default_of(name):
    (option,) = (p for p in main.commands[name].params if "--target" in p.opts)
    return option.default if isinstance(option.default, str) else "".join(option.default)


def test_tables_as_json():
    Path("t.txt").write_text("0 2 4\n1 3 5\n")
    Path("n.txt").write_text("0 7 1 30 2 100 77 3 5 11\n")
    found = json.loads(run("recognize", "t.txt", "--json").stdout)
    assert {*found} == {"layout", "kind", "why"} and run("-e", found["layout"]).exit_code == 0
    none = run("recognize", "n.txt", "--json")
    assert none.exit_code == 1 and json.loads(none.stdout)["layout"] is None
    differ = run("compare", "-e", "Col(2, 3)", "-e", "Row(2, 3)", "--json")
    assert differ.exit_code == 1 and json.loads(differ.stdout)["differ"] == 4
    rows = json.loads(run("catalogue", "onednn", "--json").stdout)
    assert {*rows[0]} == {"name", "parameters", "summary", "source"}
    assert "leave NAME out" in run("catalogue", "onednn.nchw", "--json").stderr


@pytest.mark.slow
def test_targets_as_json():
    rows = json.loads(run("targets", "--json").stdout)
    assert {row["target"] for row in rows} >= {*registry.own_targets()}


ACCESSES = """
from lego_emit import hardware
store = hardware.blocked((1, 1), (1, 32), (32, 1))
load = hardware.blocked((1, 1), (32, 1), (1, 32))
def by_rows(lane, register):
    return register, lane
def by_columns(lane, register):
    return lane, register
"""


@pytest.mark.slow
def test_the_best_tile_of_two_accesses(folder):
    (folder / "accesses.py").write_text(ACCESSES)
    sides = "accesses.py:store", "accesses.py:load"
    costs = json.loads(run("swizzle", *sides, "--json").stdout)
    wavefronts = [(c["write_wavefronts"], c["read_wavefronts"]) for c in costs]
    assert wavefronts == [(1, 32), (1, 1), (1, 1)]
    assert costs[1]["tile"] == "rows with a pitch of 33"
    done = run("swizzle", *sides, "-t", "c", "--prefix", "acme_")
    assert "return 33 * dim0 ^ dim1;" in done.stdout and "acme_tile_apply(" in done.stdout
    assert "// To regenerate: lego-emit swizzle accesses.py:store" in done.stdout
    assert "the best swizzle" in done.stderr and "the best swizzle" not in done.stdout
    done = run("swizzle", *sides, "-t", "cuda", "-t", "cpp", "-o", "out/")
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["tile.cuh", "tile.hpp"]
    assert "the best swizzle" in done.stdout and "wrote out/tile.cuh" in done.stderr
    typed = run("swizzle", "accesses.py:by_rows", "accesses.py:by_columns", "--registers", "32")
    assert typed.stdout.splitlines()[-1].split()[-4:] == ["8", "32", "32", "32"]


@pytest.mark.parametrize(
    "more, words",
    [
        (["-o", "tile.h"], "give a --target"),
        (["-t", "python", "-o", "accesses.py"], "is the accesses' own file"),
        (["--registers", "0"], "registers is 0, and must be at least 1"),
        (["--element-bytes", "3"], "element_bytes is 3"),
    ],
)
def test_a_swizzle_that_is_none_is_one_message(folder, more, words):
    (folder / "accesses.py").write_text(ACCESSES)
    done = run("swizzle", "accesses.py:store", "accesses.py:load", *more)
    assert done.exit_code == 2 and words in done.stderr
    assert [p.name for p in folder.iterdir()] == ["accesses.py"]


def test_a_copy_takes_sizes_of_functions_and_of_layouts(folder):
    (folder / "layouts.py").write_text(
        "from lego_emit import Col, Row, symbols\nM, N = symbols('M N')\n"
        "def rows(M, N):\n    return Row(M, N)\nturned = Col(M, N)\n"
    )
    for sides in (("rows", "rows"), ("rows", "turned"), ("turned", "turned")):
        one, other = (f"layouts.py:{side}" for side in sides)
        done = run("copy", one, other, "-t", "c", "-s", "M=4,N=6")
        assert done.exit_code == 0 and "24 elements" in done.stdout, done.stderr
        done = run("copy", one, other, "-t", "c", "-s", "K=4")
        assert done.exit_code == 2 and "sizes fixes K" in done.stderr


TILES_OF = (
    "from lego_emit import Row, symbols\nM, N = symbols('M N')\nrows = Row(M, N)\n"
    "tiles = Row(M // 8, N // 8, 8, 8)\ndef of_two(M, N):\n    return Row(M // 8, N // 8, 8, 8)\n"
)


def emitted(text):
    """A file without the comment at its head."""
    return text[text.index("\n#") :]


@pytest.mark.parametrize("called", ["pack", "unpack"])
def test_tiles_of_a_matrix_are_packed(folder, called):
    (folder / "layouts.py").write_text(TILES_OF)
    function, M, N = getattr(lego_emit, called), *lego_emit.symbols("M N")
    numbers = function(lego_emit.Row(4, 4, 8, 8), "c", of=(32, 32))
    named = function(lego_emit.Row(M // 8, N // 8, 8, 8), "c", of=(M, N))
    size = ("-s", "M=32,N=32")
    for source, of, more, due in (
        (("-e", "Row(4, 4, 8, 8)"), "32,32", (), numbers),
        (("-e", "Row(M//8, N//8, 8, 8)"), "M, N", (), named),
        (("layouts.py:tiles",), "M,N", (), named),
        (("layouts.py:of_two",), "M,N", (), named),
        (("layouts.py:of_two",), "M,N", size, numbers),
        (("layouts.py:of_two",), "32, 4 * 8", size, numbers),
        (("layouts.py:tiles",), "M,N", size, numbers),
        (("layouts.py:tiles",), "layouts.py:rows", (), named),
        (("layouts.py:tiles",), "layouts.py:rows", size, numbers),
    ):
        done = run(called, *source, "--of", of, "-t", "c", *more)
        assert done.exit_code == 0, done.stderr
        assert emitted(done.stdout) == emitted(str(due)), (source, of, more)
        again = shlex.split(done.stdout.split("To regenerate: ")[1].splitlines()[0])
        assert run(*again[1:]).stdout == done.stdout


def test_a_packed_routine_has_the_name_that_its_language_allows(folder):
    tiles = ("-e", "Row(4, 4, 8, 8)", "--of", "32,32")
    for target in ("c", "fortran"):
        assert run("pack", *tiles, "-t", target, "-o", "out/").exit_code == 0
    assert {path.name for path in (folder / "out").iterdir()} == {"pack.h", "pack_array.f90"}
    assert "runs of 32 bytes" in run("pack", *tiles, "-t", "c", "--plan").stdout


def test_a_copy_of_symbols_is_not_timed():
    done = run("copy", "-e", "Row(K, n)", "-e", "Col(K, n)", "-t", "c", "--time")
    assert done.exit_code == 2 and "needs a number for each size; give -s K=..,n=.." in done.stderr


@pytest.mark.parametrize(
    "of, parts",
    [
        ("32", ["of= has 32 on axis 0", "cover 1024"]),
        ("32,16", ["pack: of= has 16 on axis 1"]),
        ("32,", ["pack: of= has"]),
        ("layouts.py:columns", ["no 'columns'", "it defines"]),
        ("32,nope(3)", ["no 'nope'"]),
        ("32x32", ["Error: of '32x32': no expression"]),
    ],
)
def test_bad_sizes_of_a_matrix(folder, of, parts):
    (folder / "layouts.py").write_text(TILES_OF)
    done = run("pack", "-e", "Row(4, 4, 8, 8)", "--of", of, "-t", "c")
    assert done.exit_code == 2 and not done.stdout
    assert all(part in done.stderr for part in parts), done.stderr
