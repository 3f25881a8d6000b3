"""hints=True: the compiler is told the ranges of the arguments."""

import json
import re
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from lego_emit import GroupBy, RegP, Row, TileBy, generate, symbols
from lego_emit.cli import main
from lego_emit.errors import TargetError
from lego_emit.proofcheck.check import check

M, N = symbols("M N")
BLOCKS = GroupBy([12, 7]).OrderBy(RegP([3, 4, 7], [1, 0, 2]))
TILES = TileBy([M // 4, N // 8], [4, 8]).OrderBy(Row(M, N))
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror".split()


def told(source):
    return re.findall(r"_ASSUME\((.*)\);", source)


def test_each_parameter_s_range_is_told_as_far_as_numbers_and_sizes_bound_it():
    source = generate(BLOCKS, "cpp", hints=True).source
    assert told(source) == ["0 <= i && i < 12", "0 <= j && j < 7", "0 <= flat && flat < 84"]
    source = generate(TILES, "cuda", hints=True, index_type="uint32").source
    assert told(source)[:4] == ["4u <= M", "8u <= N", "k < 4u", "l < 8u"]
    assert told(generate(TILES, "c", hints=True).source)[2] == "0 <= i"


def test_nothing_is_told_unless_it_is_asked_for():
    assert "ASSUME" not in generate(BLOCKS, "cpp").source


def test_the_file_says_what_a_hint_means_and_leaves_no_macro():
    source = generate(BLOCKS, "cpp", hints=True, name="tile").source
    assert "outside of them, what it makes does anything" in source
    assert "\n#undef LEGO_TILE_HPP_ASSUME\n\n#elif LEGO_TILE_HPP != " in source


@pytest.mark.parametrize("target", ["rust", "julia", "fortran", "glsl", "python", "opencl"])
def test_a_language_without_hints_refuses_them(target):
    with pytest.raises(TargetError, match="no way to tell its compiler ranges; c, cpp, cuda, hip"):
        generate(BLOCKS, target, hints=True)


def test_the_command_line_and_the_project_file(tmp_path):
    Path(tmp_path, "layouts.py").write_text(
        "from lego_emit import Row\n\nlayout = Row(4, 6)\n", encoding="utf-8"
    )
    source = str(tmp_path / "layouts.py") + ":layout"
    done = CliRunner().invoke(main, ["generate", source, "-t", "cpp", "--hints"])
    assert done.exit_code == 0 and "_ASSUME(0 <= i && i < 4);" in done.output
    Path(tmp_path, "lego-emit.toml").write_text(
        'targets = ["cpp"]\noutput = "out.hpp"\nhints = true\n\n[[layouts]]\nsource = "layouts.py:layout"\n',
        encoding="utf-8",
    )
    done = CliRunner().invoke(main, ["build", "--config", str(tmp_path / "lego-emit.toml")])
    assert done.exit_code == 0, done.output
    assert "_ASSUME(" in Path(tmp_path, "out.hpp").read_text()


def test_a_certificate_demands_what_is_told():
    unit = generate(BLOCKS, "cpp", hints=True, name="tile")
    certificate = json.loads(unit.certificate().json)
    assert check(certificate, unit.source, BLOCKS)
    wrong = unit.source.replace("flat < 84)", "flat < 83)")
    certificate["sha256"] = sha256(wrong.encode()).hexdigest()
    assert not check(certificate, wrong, BLOCKS)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_strict_cpp_and_constant_evaluation(need, tmp_path, compiler, standard):
    path = need(compiler, "apt-get install g++ clang")
    for name, layout in (("blocks", BLOCKS), ("tiles", TILES)):
        for index_type in ("int32", "uint32", "int64"):
            unit = generate(layout, "cpp", hints=True, name=name, index_type=index_type)
            Path(tmp_path, f"{name}.hpp").write_text(unit.source)
            text = f'#include "{name}.hpp"\n'
            if name == "blocks":
                text += "static_assert(lego::blocks_apply(3, 4) == 21 * 3 - 77 * 0 + 4);\n"
            Path(tmp_path, "main.cpp").write_text(text)
            flags = [f"-std={standard}", *WARNINGS, "-fsyntax-only", "-O2"]
            subprocess.run([path, *flags, "main.cpp"], cwd=tmp_path, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "cpp"])
@pytest.mark.parametrize("index_type", ["int32", "uint32", "int64"])
def test_the_values_are_the_layout_s(target, index_type):
    for layout in (BLOCKS, GroupBy([12, 10]).TileOrderBy(RegP([2, 2], [1, 0]), Row(6, 5))):
        generate(layout, target, hints=True, index_type=index_type).verify()
