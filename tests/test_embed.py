"""examples/embed: each README's commands are run as they stand, and again with a changed layout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from marks import rest_deep, some_deep

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "embed"
TILED = "TileBy([4, 4], [3, 5]).OrderBy(Row(12, 20))"
CHANGED = "TileBy([4, 4], [3, 5]).OrderBy(RegP([12, 20], [1, 0]))"
BEFORE, AFTER = "73", "159"  # tiled.apply(1, 2, 0, 3): 3 * 20 + 13, and 13 * 12 + 3

INSTALL = {
    "make": "apt-get install make",
    "g++": "apt-get install g++",
    "cmake": "apt-get install cmake",
    "ninja": "apt-get install ninja-build",
    "cargo": "apt-get install cargo",
    "meson": "apt-get install meson",
    "gfortran": "apt-get install gfortran",
    "julia": "apt-get install julia",
    "node": "apt-get install nodejs",
    "npm": "apt-get install npm",
    "tsc": "npm install --prefix build typescript",
    "fpm": "https://fpm.fortran-lang.org/install",
    "glslangValidator": "apt-get install glslang-tools",
    "nvcc": "apt-get install nvidia-cuda-toolkit",
}
NEEDS = {
    "make": ["make", "g++"],
    "cmake": ["cmake", "g++"],
    "cargo": ["cargo"],
    "meson": ["meson", "ninja", "g++"],
    "fortran": ["gfortran"],
    "julia": ["julia"],
    "npm": ["npm", "node"],
    "glsl": ["glslangValidator"],
    "cuda": ["cmake", "nvcc"],
}
OPTIONAL = {"nvcc"}  # not in Debian's main archive: CI goes on without it


@pytest.fixture
def tools(need, monkeypatch):
    """tools("make", "g++") skips the test, with the reason, where one is missing."""

    # where ci/setup puts tsc, and pip fpm
    beside = [str(ROOT / "build" / "node_modules" / ".bin"), str(Path(sys.executable).parent)]
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ["PATH"], *beside]))

    def find(*programs):
        for program in programs:
            if program in OPTIONAL and shutil.which(program) is None:
                pytest.skip(f"needs {program}, which is not on PATH: {INSTALL[program]}")
            need(program, INSTALL[program])

    return find


@pytest.fixture
def embed(tmp_path, tools, lego_emit_command):
    """embed("make"): a copy of that example in which commands can be run."""

    def copied(system, *more):
        tools(*NEEDS[system], *more)
        folder = tmp_path / "an example"
        shutil.copytree(EXAMPLES / system, folder)
        (tmp_path / "bin").mkdir()
        command = tmp_path / "bin" / "lego-emit"
        command.write_text(lego_emit_command)
        command.chmod(0o755)
        return Example(folder, command.parent)

    return copied


class Example:
    """A folder, and lego-emit on its PATH."""

    def __init__(self, folder, tools):
        self.folder = folder
        readme = (folder / "README.md").read_text()
        (self.commands,) = re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S)
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([str(tools), os.environ["PATH"]]),
            "JULIA_DEPOT_PATH": str(folder.parent / "julia"),
        }

    def run(self, commands=None):
        done = subprocess.run(
            ["sh", "-e", "-c", commands or self.commands], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def answer(self):
        return self.run().split()[-1]

    def change(self):
        (source,) = self.folder.rglob("layouts.py")
        text = source.read_text().replace("import Row", "import RegP").replace(TILED, CHANGED)
        source.write_text(text)

    def generated(self, extension):
        (path,) = [p for p in self.folder.rglob(f"tiled{extension}")]
        return path


EXTENSIONS = {
    "make": ".hpp", "cmake": ".hpp", "cargo": ".rs", "meson": ".hpp", "fortran": ".f90",
    "julia": ".jl", "npm": ".mjs", "cuda": ".cuh",
}  # fmt: skip
MADE_BY = {  # what the compiler makes of the text; it stays where that is as it was
    "make": "app", "cmake": "build/app", "cargo": "target/debug/app", "meson": "build/app",
    "cuda": "build/app",
}  # fmt: skip


@pytest.mark.parametrize("system", some_deep(EXTENSIONS, {"meson", "julia", "cuda"}))
def test_the_readme(system, embed):
    """It builds; nothing is made anew without a reason; a changed layout is noticed."""
    example = embed(system)
    one = system == "julia"  # counts from 1
    assert example.answer() == str(int(BEFORE) + one)
    paths = [example.generated(EXTENSIONS[system])]
    paths += [example.folder / MADE_BY[system]] if system in MADE_BY else []
    stamps = [path.stat().st_mtime_ns for path in paths]
    source = next(example.folder.rglob("layouts.py"))
    source.write_text(source.read_text() + "# a remark\n")
    assert example.answer() == str(int(BEFORE) + one)
    if system != "cargo":  # which compiles again whatever the build script wrote
        assert [path.stat().st_mtime_ns for path in paths] == stamps
    example.change()
    assert example.answer() == str(int(AFTER) + one)
    assert all(path.stat().st_mtime_ns != old for path, old in zip(paths, stamps, strict=True))


@pytest.mark.parametrize(
    "gone", ["lego-emit build --clean", "rm -r generated", "rm generated/*.hpp"]
)
def test_make_makes_what_is_gone(embed, gone):
    example = embed("make")
    example.run()
    assert example.run(f"{gone} && make && ./app").split()[-1] == BEFORE
    assert "std=c++17" not in example.run("make")  # nor is it compiled again


@pytest.mark.parametrize("system", rest_deep([s for s in NEEDS if s not in ("cmake", "cuda")], 3))
def test_check_notices_a_changed_layout(system, tmp_path, embed):
    example = embed(system)
    folder = f'--out-dir "{tmp_path / "out"}"'
    example.run(f"lego-emit build {folder} && lego-emit build --check {folder}")
    example.change()
    example.run(f"! lego-emit build --check {folder}")


@pytest.mark.deep
@pytest.mark.parametrize("system", ["cmake", "cuda"])
def test_check_notices_a_changed_layout_below_cmake(system, embed):
    """The module keeps what it asks for in the build tree."""
    example = embed(system)
    example.run()
    (config,) = (example.folder / "build").rglob("lego-emit.toml")
    example.run(f'lego-emit build --check --config "{config}"')
    example.change()
    example.run(f'! lego-emit build --check --config "{config}"')


def test_readmes_are_ten_lines():
    for system in NEEDS:
        lines = (EXAMPLES / system / "README.md").read_text().splitlines()
        assert 8 <= len(lines) <= 12, (system, len(lines))


@pytest.mark.deep
def test_cmake_with_ninja_and_fortran(embed):
    """Sources that are generated, options, and a module that the layout imports."""
    example = embed("cmake", "ninja", "gfortran")
    (example.folder / "sizes.py").write_text("TILE = [3, 5]\n")
    example.folder.joinpath("layouts.py").write_text(
        "from lego_emit import Row, TileBy\nfrom sizes import TILE\n"
        "def at(i, j, k, l, BM):\n"
        "    return TileBy([4, 4], TILE).OrderBy(Row(4 * TILE[0], 20)).apply(i, j, k, l) + BM\n"
    )
    example.folder.joinpath("main.f90").write_text(
        "program main\n  use at_mod, only: mine => at\n  print '(i0)', mine(2, 3, 1, 4)\nend program\n"
    )
    lists = example.folder / "CMakeLists.txt"
    text = lists.read_text().replace("CXX)", "Fortran)").replace("main.cpp", "main.f90")
    text = re.sub(r"target_compile_features.*\n", "", text)
    text = re.sub(
        r"lego_emit_generate\(.*", "lego_emit_generate(TARGET app LAYOUTS layouts.py:at "
        'LANGUAGE fortran SIZES BM=7 BASE 1\n  ASSUME "i % 1 == 0" "0 <= j" INDEX_TYPE int32)', text,
    )  # fmt: skip
    lists.write_text(text)
    commands = "cmake -G Ninja -S . -B build && cmake --build build && build/app"
    assert example.run(commands).split()[-1] == "81"
    assert "no work to do" in example.run("cmake --build build")
    (example.folder / "sizes.py").write_text("TILE = [6, 5]\n")
    assert example.run("cmake --build build && build/app").split()[-1] == "141"


def test_cmake_with_names_and_one_file_of_several(embed):
    example = embed("cmake")
    layouts, lists, main = (
        example.folder / name for name in ("layouts.py", "CMakeLists.txt", "main.cpp")
    )
    layouts.write_text(f"{layouts.read_text()}\nrow = Row(12, 20)\n")
    generated = (
        "LAYOUTS layouts.py:tiled layouts.py:row LANGUAGE cpp FILE both NAMESPACE acme::tiles "
        "PREFIX ac_ NAMES camelCase INDEX_TYPE size_t"
    )
    lists.write_text(lists.read_text().replace("LAYOUTS layouts.py:tiled LANGUAGE cpp", generated))
    main.write_text(
        main.read_text()
        .replace("tiled.hpp", "both.hpp")
        .replace("lego::tiled_apply(1, 2, 0, 3)", "acme::tiles::acRowApply(1, 2)")
    )
    assert example.run().split()[-1] == "22"
    header = next(example.folder.glob("build/**/both.hpp")).read_text()
    assert "// Source: layouts.py:tiled, row\n//\n" in header  # no folder of this machine


def test_cmake_calls_of_one_library(embed):
    """Of one language: a view of a layout, and a function, which has none; what links the library has both."""
    example = embed("cmake")
    layouts, lists, main = (
        example.folder / name for name in ("layouts.py", "CMakeLists.txt", "main.cpp")
    )
    layouts.write_text(f"{layouts.read_text()}\ndef twice(i):\n    return 2 * i\n")
    text = lists.read_text()
    made = "lego_emit_generate(TARGET tiles LAYOUTS layouts.py:"
    text = re.sub(
        r"lego_emit_generate\(.*", "add_library(tiles INTERFACE)\ntarget_link_libraries(app PRIVATE tiles)\n"
        f"{made}tiled LANGUAGE cpp VIEW)\n{made}twice LANGUAGE cpp)", text,
    )  # fmt: skip
    lists.write_text(text)
    main.write_text(
        main.read_text()
        .replace('#include "tiled.hpp"', '#include "tiled.hpp"\n#include "twice.hpp"')
        .replace("lego::tiled_apply(1, 2, 0, 3)", "lego::twice(lego::tiled_apply(1, 2, 0, 3))")
    )
    assert example.answer() == str(2 * int(BEFORE))
    assert "tiled_view" in example.generated(".hpp").read_text()
    example.change()
    assert example.answer() == str(2 * int(AFTER))
    lists.write_text(text.replace("LANGUAGE cpp)", "LANGUAGE fortran)"))
    with pytest.raises(AssertionError, match="tiles is an INTERFACE library, which compiles no"):
        example.run()


def test_cmake_copies(embed):
    """A layout's own routines, and one from a layout's memory to another's, in one file and in several."""
    example = embed("cmake")
    layouts, lists, main = (
        example.folder / name for name in ("layouts.py", "CMakeLists.txt", "main.cpp")
    )
    layouts.write_text(
        "from lego_emit import Col, Row, symbols\nrows, columns = Row(4, 6), Col(4, 6)\n"
        "tiles = Row(2, 2, 2, 3)\nSIZE = symbols('SIZE')\nsized = Row(SIZE // 2, 2, 2, 3)\n"
    )
    text = lists.read_text()
    generated = (
        "LAYOUTS layouts.py:tiles PACK OF 4 6 COPY layouts.py:rows layouts.py:columns ELEMENT uint16 "
        "ZERO OFF LANGUAGE cpp FILE both PREFIX ac_"
    )
    lists.write_text(text.replace("LAYOUTS layouts.py:tiled LANGUAGE cpp", generated))
    program = """
#include <cstdint>
#include <cstdio>

#include "both.hpp"

int main() {
  std::uint16_t x[24], y[24], z[24];
  for (int k = 0; k < 24; ++k) x[k] = static_cast<std::uint16_t>(k);
  lego::ac_rows_to_columns(x, y);
  lego::ac_tiles_pack(x, z);
  std::printf("%d %d\\n", y[1], z[3]);
}
"""
    main.write_text(program)
    assert example.run().split()[-2:] == ["6", "6"]
    # A layout of the matrix, and a size that is like the argument SIZES.
    for of, size in ("layouts.py:rows", ""), ("SIZE 6", "4, "):
        name = "sized" if size else "tiles"
        again = generated.replace("4 6", of).replace("tiles", name)
        lists.write_text(text.replace("LAYOUTS layouts.py:tiled LANGUAGE cpp", again))
        main.write_text(program.replace("tiles_pack(", f"{name}_pack({size}"))
        assert example.run().split()[-2:] == ["6", "6"]
    main.write_text(program)
    copied = "COPY layouts.py:rows layouts.py:columns"
    lists.write_text(text.replace("LAYOUTS layouts.py:tiled", f"{copied} NAME turned"))
    main.write_text(
        main.read_text()
        .replace("both.hpp", "turned.hpp")
        .replace("lego::ac_tiles_pack(x, z)", "z[3] = 1")
        .replace("lego::ac_rows_to_columns", "lego::turned")
        .replace("std::uint16_t", "std::uint32_t")
        .replace('"%d %d\\n", y[1], z[3]', '"%d %d\\n", int(y[1]), int(z[3])')
    )
    assert example.run().split()[-2:] == ["6", "1"]
    layouts.write_text(layouts.read_text().replace("Col(4, 6)", "Row(4, 6)"))
    assert example.run().split()[-2:] == ["1", "1"]
    main.write_text(
        main.read_text()
        .replace("turned.hpp", "rows_to_columns.hpp")
        .replace("lego::turned", "lego::rows_to_columns")
        .replace("z[3] = 1", "z[3] = 1; lego::rows_to_columns_part(x, y, 0, 1)")
        .replace("rows_to_columns(", "rows_to_columns<std::uint32_t>(")
    )
    for value in ('"v ^ 8"', "layouts.py:changed"):
        lists.write_text(
            text.replace("LAYOUTS layouts.py:tiled", f"{copied} THREADS VALUE {value}")
        )
        layouts.write_text(layouts.read_text() + "\n\ndef changed(v):\n    return v ^ 4\n")
        assert example.run().split()[-2:] == [str(1 ^ (8 if "8" in value else 4)), "1"]


@pytest.mark.deep
def test_cmake_says_what_is_wrong(embed):
    example = embed("cmake")
    lists = example.folder / "CMakeLists.txt"
    text = lists.read_text()
    for old, new, says in (
        ("LANGUAGE cpp", "LANGUAGE cp", "Did you mean 'cpp'?"),
        ("LANGUAGE cpp", "", "needs LANGUAGE"),
        ("TARGET app", "app", "has no argument app. Write TARGET app."),
        ("LAYOUTS layouts.py:tiled", "", "needs LAYOUTS, or COPY"),
        ("LANGUAGE cpp", "LANGUAGE cpp COPY layouts.py:tiled", "COPY takes two layouts"),
        (
            "LANGUAGE cpp",
            "LANGUAGE cpp NAME x COPY layouts.py:a layouts.py:b",
            "NAME is that of one",
        ),
        ("LANGUAGE cpp", "LANGUAGE cpp ZERO OFF PACK ELEMENT 0", "element is 0"),
        ("LANGUAGE cpp", "LANGUAGE cpp INDEX_TYPE int33", "index-type is 'int33'"),
        ("LANGUAGE cpp", "LANGUAGE cpp HINTS OFF", "has no argument OFF"),
        ("LANGUAGE cpp", "LANGUAGE cpp ELMENT uint8", "argument ELMENT. Did you mean 'ELEMENT'?"),
        ("LANGUAGE cpp", "THREAD LANGUAGE cpp", "argument THREAD. Did you mean 'THREADS'?"),
        (
            "LANGUAGE cpp",
            "LANGUAGE cpp PACK OF 12 20 ELMENT 1",
            "argument ELMENT. Did you mean 'ELE",
        ),
        (
            "LANGUAGE cpp",
            "LANGUAGE cpp PACK OF 12 20 THREDS",
            "argument THREDS. Did you mean 'THRE",
        ),
        (
            "LANGUAGE cpp",
            "LANGUAGE cpp DEPENDS a.json VALEU 1",
            "argument VALEU. Did you mean 'VALUE'",
        ),
        (
            "LAYOUTS layouts.py:tiled",
            "VIEW COPY layouts.py:tiled layouts.py:tiled",
            "view is of index functions, and there are copies alone",
        ),
        ("LANGUAGE cpp", "LANGUAGE cpp EFFORT x", "effort is 'x'; give a number from 1 to 64"),
        ("LANGUAGE cpp", "LANGUAGE cpp INDEX_TYPE BASE 1", "no value for INDEX_TYPE"),
        ("LANGUAGE cpp", "LANGUAGE cpp SIZES M", "SIZES has M; write SIZES BM=32"),
        ("LANGUAGE cpp", 'LANGUAGE cpp NAMESPACE [[a"b@CMAKE_VERSION@]]', 'a"b@CMAKE_VERSION@'),
    ):
        lists.write_text(text.replace(old, new))
        said = example.run("cmake -S . -B build 2>&1 && exit 1 || true")
        assert says in " ".join(said.split())


def test_shaders_are_valid(embed):
    example = embed("glsl")
    example.run()
    first = (example.folder / "shader.spv").read_bytes()
    example.change()
    example.run()
    assert (example.folder / "shader.spv").read_bytes() != first


def test_fpm(embed):
    example = embed("fortran", "fpm")
    assert example.run("lego-emit build && fpm run").split()[-1] == BEFORE


def test_types_of_the_npm_package(embed):
    example = embed("npm", "tsc")
    example.folder.joinpath("use.ts").write_text(
        'import { tiledApply } from "tiled-matrix";\nexport const at: number = tiledApply(1, 2, 0, 3);\n'
    )
    example.run("lego-emit build")
    example.run("tsc --noEmit --strict --module nodenext --moduleResolution nodenext use.ts")
