"""checks=True: debug builds assert ranges and preconditions, release builds have nothing of it."""

import hashlib
import os
import re
import subprocess
import sys
from random import Random

import pytest
from test_fits import EXACT, SIGNED, UNSIGNED, function, value

from lego_emit import GroupBy, Lookup, RegP, Row, TileBy, generate, symbols
from lego_emit.emit.fits import checks
from lego_emit.errors import TargetError
from lego_emit.ir.nodes import Node, const, evaluate
from lego_emit.ir.program import Param
from lego_emit.ir.relations import Range, read, says
from lego_emit.proofcheck.check import check

HOSTS = ("c", "cpp", "cuda", "hip", "rust", "fortran", "julia", "javascript", "python", "numpy")
M, N = symbols("M N")
TILES = TileBy([M // 4, N // 8], [4, 8]).OrderBy(Row(M, N))
BLOCKS = GroupBy([12, 10]).OrderBy(RegP([3, 4, 10], [1, 0, 2]))


def tiles(target, **given):
    return generate(TILES, target, name="tile", checks=True, **given)


# -- what is asserted, on every argument of a small type -------------------------------------------


def indexed(conditions, least, kind):
    """A function of sizes that satisfy the conditions, of an index below M*N, and of one below that."""
    subject = function(conditions, least, kind)
    i = Param("i", Range(const(0), read("M*N <= i").args[0]), 0, None)
    j = Param("j", Range(const(0), Node("var", (), "i")), 0, None)
    return subject.__class__(
        "f", (*subject.params, i, j), (), subject.outputs, kind, assumed=subject.assumed
    )


def header(subject):
    """All that the header says."""
    ranges = [c for p in subject.params for c in p.range.conditions(p.name)]
    return [*ranges, *subject.assumed]


def holds(subject, asserted, at, kind, lazy):
    """Whether all assertions hold, one after the other; where they are not lazy, each is computed as a
    whole."""
    for condition in asserted:
        if not lazy:
            for node in condition.walk():
                if node.args and node.op not in ("land", "lor", "lnot"):
                    value(node, at, kind)
        if not value(condition, at, kind):
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SIGNED, UNSIGNED], ids=["signed", "unsigned"])
@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "not lazy"])
def test_nothing_overflows_and_they_hold_where_the_header_does(kind, lazy):
    draw, holding, exact = Random(11), 0, 0
    for conditions in [*EXACT, ["M*N - K <= 100"], ["M*K - N >= 0", "N*N <= K + 90"]]:
        subject = indexed(conditions, 1, kind)
        asserted, wrong = checks(subject, True, lazy), 0
        for _ in range(250):
            at = {
                n: draw.randint(*draw.choice([(kind.least, kind.most), (1, 9), (0, 4), (1, 4)]))
                for n in "MNKij"
            }
            wanted = all(evaluate(c, at) is True for c in header(subject))
            answer = holds(subject, asserted, at, kind, lazy)
            assert answer or not wanted, (conditions, at, [says(c) for c in asserted])
            wrong += answer and not wanted
            holding += answer
        exact += not wrong
    assert holding > 200 and exact > 15


@pytest.mark.parametrize(("held", "wanted"), [(True, 0), (False, 3)])
def test_arguments_that_may_be_any_number_are_held_against_the_type(held, wanted):
    asserted = " and ".join(map(says, checks(function(["M <= N"], 1, SIGNED), held, True)))
    assert asserted.count("127") == wanted


# -- texts -----------------------------------------------------------------------------------------


def test_they_stand_before_all_that_is_computed():
    source = tiles("cpp").source
    assert "#include <cassert>\n" in source
    assert re.findall(r"assert\((.*)\);", source) == [
        "M >= 4 && N >= 8 && M % 4 == 0 && N % 8 == 0 && M <= INT64_MAX / N",
        "i >= 0 && i < M / 4", "j >= 0 && j < N / 8", "k >= 0 && k < 4", "l >= 0 && l < 8",
        "M >= 4 && N >= 8 && M % 4 == 0 && N % 8 == 0", "flat >= 0 && M > flat / N",
    ]  # fmt: skip
    assert "i >= 0" not in tiles("c", index_type="uint32").source


@pytest.mark.quick(3)
@pytest.mark.parametrize("target", HOSTS)
def test_without_the_option_there_is_nothing(target):
    plain, checked = (generate(TILES, target, name="tile", checks=c).source for c in (False, True))
    assert plain == generate(TILES, target, name="tile").source
    assert not re.search("assert|CHECKS|error stop", plain)
    assert len(re.findall("assert|CHECKS &&|error stop", checked)) > 6


@pytest.mark.parametrize("target", ["glsl", "wgsl", "metal", "opencl", "triton", "mlir"])
def test_a_language_without_assertions_refuses_them(target):
    with pytest.raises(TargetError, match=r"no assertions for checks=True; c, cpp, .*rust have"):
        tiles(target)


# -- compiled --------------------------------------------------------------------------------------

STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror".split()
CXX = """#include <cstdio>
#include <cstdlib>
#include "tile.hpp"
SCOPE
static_assert(tile_apply(8, 16, 1, 0, 0, 0) == 64 && tile_inv(8, 16, 70).l == 6, "");
int main(int, char** argv) {
  std::printf("%lld", static_cast<long long>(tile_apply(std::atoi(argv[1]), 16, std::atoi(argv[2]), 1, 0, 0)));
}
"""
SCRIPT = """import sys
from tile import tile_apply
print(int(tile_apply(int(sys.argv[1]), 16, int(sys.argv[2]), 1, 0, 0)), end="")
"""
# target: (the unit's file, a program that prints tile_apply(M, 16, i, 1, 0, 0) and its file)
PROGRAMS = {
    "c": ("tile.h", "main.c", """#include <stdio.h>
#include <stdlib.h>
#include "tile.h"
int main(int argc, char **argv) {
  printf("%lld", (long long)tile_apply(atoi(argv[1]), 16, atoi(argv[argc - 1]), 1, 0, 0));
  return 0;
}
"""),
    "cpp": ("tile.hpp", "main.cpp", CXX.replace("SCOPE", "using namespace lego;")),
    "cuda": ("tile.hpp", "main.cpp", CXX.replace("SCOPE", "")),
    "hip": ("tile.hpp", "main.cpp", CXX.replace("SCOPE", "")),
    "rust": ("tile.rs", "main.rs", """mod tile;
const AT: i64 = tile::apply(8, 16, 1, 0, 0, 0) + tile::inv(8, 16, 64).0;
fn main() {
    let given: Vec<i64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    print!("{}", tile::apply(given[0], 16, given[1], 1, 0, 0) + AT - 65);
}
"""),
    "fortran": ("tile.f90", "main.f90", """program main
  use tile_mod, only: tile_apply
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  character(20) :: given(2)
  integer(int64) :: n(2)
  call get_command_argument(1, given(1))
  call get_command_argument(2, given(2))
  read (given, *) n
  write (*, "(i0)", advance="no") tile_apply(n(1), 16_int64, n(2), 1_int64, 0_int64, 0_int64)
end program main
"""),
    "julia": ("tile.jl", "main.jl", """include("tile.jl")
print(Tile.tile_apply(parse(Int, ARGS[1]), 16, parse(Int, ARGS[2]), 1, 0, 0))
"""),
    "javascript": ("tile.mjs", "main.mjs", """import { tileApply } from "./tile.mjs";
const [M, i] = process.argv.slice(2).map(Number);
process.stdout.write(String(tileApply(M, 16, i, 1, 0, 0)));
"""),
    "python": ("tile.py", "main.py", SCRIPT),
    "numpy": ("tile.py", "main.py", SCRIPT),
}  # fmt: skip
# target: (program, what installs it, arguments of debug builds, of release builds)
COMPILED = {
    "c": ("gcc", "gcc", ["-std=c99", *STRICT, "main.c"], ["-DNDEBUG"]),
    "cpp": ("g++", "g++", ["-std=c++17", *STRICT, "main.cpp"], ["-DNDEBUG"]),
    "cuda": ("g++", "g++", ["-std=c++17", *STRICT, "main.cpp"], ["-DNDEBUG"]),
    "hip": ("clang++", "clang", ["-std=c++17", *STRICT, "main.cpp"], ["-DNDEBUG"]),
    "rust": ("rustc", "rustc", ["-Dwarnings", "main.rs"], ["-O"]),
    "fortran": ("gfortran", "gfortran", [*"-cpp -std=f2018 -Wall -Wextra -Werror".split(), "tile.f90",
                "main.f90"], []),
}  # fmt: skip
# target: (what runs the program, in debug and in release, and the environment of the latter)
INTERPRETED = {
    "julia": (["julia", "--startup-file=no", "-O0", "--compile=min"], None, {}),
    "javascript": (["node"], ["node"], {"NODE_ENV": "production"}),
    "python": ([sys.executable], [sys.executable, "-O"], {}),
    "numpy": ([sys.executable], [sys.executable, "-O"], {}),
}


def builds(target, folder, need):
    """The commands that run the program of a target, in debug and in release, and the latter's
    environment."""
    file, main, text = PROGRAMS[target]
    (folder / file).write_text(tiles(target).source)
    (folder / main).write_text(text)
    if target in INTERPRETED:
        debug, release, environment = INTERPRETED[target]
        need(debug[0], f"apt-get install {debug[0]}")
        return [*debug, main], release and [*release, main], environment
    program, package, debug, release = COMPILED[target]
    path = need(program, f"apt-get install {package}")
    checking = ["-DLEGO_CHECKS"] if target == "fortran" else []
    for name, flags in (("debug", checking), ("release", release)):
        subprocess.run([path, *debug, *flags, "-o", name], cwd=folder, check=True)
    return ["./debug"], ["./release"], {}


@pytest.mark.slow
@pytest.mark.parametrize("target", HOSTS)
def test_a_bad_index_ends_a_debug_build_and_no_release_build(target, tmp_path, need):
    debug, release, environment = builds(target, tmp_path, need)
    formula = tiles(target).functions[0]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}

    def run(command, rows, i):
        return subprocess.run(
            [*command, str(rows), str(i)], cwd=tmp_path, capture_output=True, text=True,
            env=environment if command is release else os.environ,
        )  # fmt: skip

    def wanted(rows, i):
        at = {"M": rows, "N": 16, "i": i, "j": 1, "k": 0, "l": 0}
        return str(next(iter(formula.evaluate(at).values())))

    assert run(debug, 8, 1).stdout == wanted(8, 1)
    for bad in ((8, 2), (9, 1)):  # an index, a size
        done = run(debug, *bad)
        assert done.returncode != 0 and not done.stdout, done
        assert re.search("tile|assert|main", done.stderr, re.IGNORECASE)
    if release:
        done = run(release, 8, 2)
        assert (done.returncode, done.stdout) == (0, wanted(8, 2)), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["-DNDEBUG"]], ids=["debug", "release"])
def test_nvcc_takes_them_in_a_kernel(flags, tmp_path, need):
    path = need("nvcc", "apt-get install nvidia-cuda-toolkit")
    (tmp_path / "tile.cuh").write_text(tiles("cuda").source)
    (tmp_path / "main.cu").write_text(
        '#include "tile.cuh"\n__global__ void kernel(long long* out, int n) {\n'
        "  *out = tile_apply(8, 16, n, 0, 0, 0);\n}\n"
    )
    command = [path, "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-ptx", *flags]
    subprocess.run([*command, "main.cu", "-o", "main.ptx"], cwd=tmp_path, check=True)
    assert ("__assertfail" in (tmp_path / "main.ptx").read_text()) is not bool(flags)


@pytest.mark.slow
@pytest.mark.parametrize("target", HOSTS)
def test_no_allowed_argument_is_refused(target):
    """Debug builds with strict warnings at the points of verify(), with a table, where indices count
    from 1."""
    from conftest import _found

    _found(target)
    looked_up = Lookup([8], [3, 1, 4, 0, 5, 2, 6, 7])
    subjects = {"tiles": TILES, "blocks": BLOCKS, "table": looked_up}
    unit = generate(subjects, target, checks=True, base=1)
    assert all(f.asserted for f in unit.functions)
    assert unit.verify(sizes={"M": 8, "N": 16}).ok


def test_numpy_holds_whole_arrays_against_them():
    np = pytest.importorskip("numpy")
    scope = {}
    exec(tiles("numpy").source, scope)
    at = scope["tile_apply"](8, 16, np.arange(2)[:, None], np.arange(2), 0, 0)
    assert at.tolist() == [[0, 8], [64, 72]]
    with pytest.raises(AssertionError):
        scope["tile_apply"](8, 16, np.arange(3), 0, 0, 0)


# -- certificates ----------------------------------------------------------------------------------


def checked(unit, source):
    data = unit.certificate().data | {"sha256": hashlib.sha256(source.encode()).hexdigest()}
    return check(data, source, BLOCKS)


@pytest.mark.parametrize("target", ["c", "cpp", "cuda"])
def test_a_certificate_demands_what_is_asserted(target):
    unit = generate(BLOCKS, target, name="tile", checks=True)
    assert checked(unit, unit.source)
    wrong = unit.source.replace("assert(i >= 0 && i < 12)", "assert(i >= 0 && i < 11)")
    assert wrong != unit.source and not checked(unit, wrong)


@pytest.mark.parametrize("target", ["rust", "fortran", "julia", "javascript"])
def test_the_other_readers_say_that_they_do_not_read_them(target):
    unit = generate(BLOCKS, target, name="tile", checks=True)
    (how,) = {line.how for line in checked(unit, unit.source).lines}
    assert "what checks=True asserts in C, C++ and CUDA C alone" in how
