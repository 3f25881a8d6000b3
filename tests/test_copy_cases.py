"""Golden copies: their files, their tables, and every toolchain that runs them; tests/copies has one of each family."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import golden
from lego_emit.errors import GoldenError

ROOT = Path(__file__).parent / "copies"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/layout.py"))
LANGUAGES = (
    "numpy", "c", "cpp", "rust", "fortran", "julia", "javascript", "cuda", "hip", "opencl", "metal", "glsl", "wgsl",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("targets", rest_deep([["c"], None]))
def test_golden_files_are_as_they_should_be(targets):
    """After a change that is meant: lego-emit golden update tests/copies."""
    found = golden.check(ROOT, targets)
    assert found == [], "\n".join(map(str, found))
    assert len([*ROOT.glob("*/*.hpp")]) == len(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 1))
@pytest.mark.parametrize("numbers", [False, True])
def test_golden_cases_are_run(language, numbers, toolchain_of):
    toolchain_of(language)
    cases = [case for case in golden.cases(ROOT) if case.text_path(language).is_file()]
    assert (
        len(cases) >= len(NAMES) - 1
    )  # shaders have no copy of halves whose positions are no sums
    found = golden.verify(cases, language, numbers)
    assert found.mismatches == []
    assert found.cases == sum(bool(case.sizes) or not numbers for case in cases)
    assert found.comparisons == sum(
        case.table.columns["source"].size for case in cases if case.sizes or not numbers
    )


@pytest.mark.slow
def test_some_golden_cases_in_c(toolchain_of):
    toolchain_of("c")
    found = golden.verify([golden.load(ROOT / name) for name in ("channels", "vnni")], "c")
    assert (found.cases, found.mismatches) == (2, [])


@pytest.mark.deep
@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
@pytest.mark.parametrize("more", [(), ("-march=x86-64-v3", "-O2"), ("-DSCALAR",)])
def test_strict_compilers_take_them(compiler, more, tmp_path):
    in_cpp, text = compiler.endswith("++"), ""
    for name in NAMES:
        scalar = f"#define {name.upper()}_SCALAR\n" if more == ("-DSCALAR",) else ""
        text += f'{scalar}#include "{ROOT / name / name}.{"hpp" if in_cpp else "h"}"\n'
    file = tmp_path / f"main.{'cpp' if in_cpp else 'c'}"
    file.write_text(f"{text}int main({'' if in_cpp else 'void'}) {{ return 0; }}\n")
    warned = [
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Wsign-conversion",
        "-Wshadow",
        "-Wcast-align",
        "-Wcast-qual",
        "-Werror",
    ]
    standard = "-std=c++17" if in_cpp else "-std=c99"
    subprocess.run(
        [compiler, standard, *warned, *more, "-c", file, "-o", tmp_path / "o"], check=True
    )


def test_tables_are_what_numpy_does():
    tables = {name: golden.load(ROOT / name).table.columns["source"] for name in NAMES}
    rows = np.arange(8 * 24).reshape(8, 24)
    tiled = rows[:, :].reshape(2, 4, 3, 8).transpose(0, 2, 1, 3).ravel()
    assert np.array_equal(tables["tiles"], tiled)
    back = np.full((8, 27), -1)
    back[:, :24] = np.argsort(tiled).reshape(8, 24)
    assert np.array_equal(tables["tiles_back"], back.ravel()[: 7 * 27 + 24])
    planes = np.pad(
        np.arange(2 * 20 * 6).reshape(2, 20, 6), ((0, 0), (0, 12), (0, 0)), constant_values=-2
    )
    assert np.array_equal(
        tables["channels"], planes.reshape(2, 2, 16, 6).transpose(0, 1, 3, 2).ravel()
    )
    pixels = np.arange(3 * 19 * 3).reshape(57, 3)
    assert np.array_equal(tables["colors"], pixels.T.ravel())
    weights = np.arange(256).reshape(4, 4, 16)
    assert np.array_equal(tables["vnni"], weights.transpose(0, 2, 1).ravel())
    padded = np.pad(np.arange(30).reshape(5, 6), ((0, 1), (0, 2)), constant_values=-1)
    assert np.array_equal(
        tables["unpadded"], padded.reshape(3, 2, 2, 4).transpose(0, 2, 1, 3).ravel()
    )


@pytest.mark.slow
def test_a_wrong_table_and_a_wrong_text_are_found(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    shutil.copytree(ROOT / "tiles", tmp_path / "tiles")
    path, text = tmp_path / "tiles" / "table.txt", tmp_path / "tiles" / "tiles.h"
    path.write_text(path.read_text().replace("24", "25"))
    text.write_text(text.read_text().replace("24 *", "25 *"))
    found = golden.check(tmp_path)
    assert sorted(d.path.name for d in found) == ["table.txt", "tiles.h"]
    golden.update(tmp_path)
    assert golden.check(tmp_path) == []
    path.write_text(path.read_text().replace("24..31", "24..30, 30"))
    case = golden.load(tmp_path / "tiles")
    assert golden.verify([case], "numpy").mismatches[0].startswith("tiles: as it stands: place")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("copied = 3", "copied is 3; give two layouts"),
        ("def copied(M):\n    return M", "no two layouts"),
        ("def copied(M):\n    return Q", "NameError"),
        ("from lego_emit import Row\ncopied = Row(4), Row(4)\nsizes = {'M': '3'}", "sizes is"),
        ("from lego_emit import Row\ncopied = Row(4), Row(4)\nelement = 0", "element is 0"),
    ],
)
def test_a_folder_that_is_no_copy(tmp_path, text, said):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "layout.py").write_text(text)
    with pytest.raises(GoldenError, match=said):
        golden.load(tmp_path / "bad").emit("c")
