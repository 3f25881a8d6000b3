"""C++: every golden case under two compilers, two standards and the sanitizer, array forms as
views, widths, signs, one header in two translation units, and clang-format."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import index_functions
import programs
import pytest
from marks import every_width, rest_deep

from lego_emit import GroupBy, generate, golden
from lego_emit.emitted import emit_program
from lego_emit.ir.program import Program
from lego_emit.run import registry
from lego_emit.targets.cpp import FLAGS, CppTarget

ROOT = Path(__file__).parent.parent
STRICT = FLAGS[1:]
INDEX_TYPES = ("int32", "int64", "uint32", "uint64")
PROGRAMS = (programs.every_operation, programs.several_outputs, programs.nasty_names)
INSTALL = {
    "g++": "apt-get install g++",
    "clang++": "apt-get install clang",
    "clang-format": "apt-get install clang-format",
}
both_compilers = pytest.mark.parametrize("compiler", ["g++", "clang++"])
both_standards = pytest.mark.parametrize("standard", ["c++17", "c++20"])
pytestmark = [pytest.mark.usefixtures("gxx"), pytest.mark.slow]


@pytest.fixture
def gxx(need):
    return need("g++", INSTALL["g++"])


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


def run(command, folder):
    """Run a command; what it printed. It must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


# -- golden cases --------------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize(  # tests/test_golden.py has g++ and C++20
    ("compiler", "standard"), [("g++", "c++17"), ("clang++", "c++17"), ("clang++", "c++20")]
)
def test_every_golden_case_strictly(need, monkeypatch, cases, compiler, standard):
    need(compiler, INSTALL[compiler])

    class Strict(CppTarget):
        program = compiler
        flags = (f"-std={standard}", *STRICT)

    monkeypatch.setattr(registry, "toolchain", lambda target: Strict())
    result = golden.verify(cases, "cpp")
    assert result.cases == len(cases) > 60
    assert result.comparisons > 20000
    assert not result.mismatches, "\n".join(result.mismatches)


@pytest.mark.deep
@every_width
def test_every_case_in_every_index_type(cases):
    counts = index_functions.assert_every_width(cases, "cpp", INDEX_TYPES)
    assert counts["int32"] == counts["int64"] == len(cases)
    assert counts["uint32"] == counts["uint64"] == len(cases)  # padded ones, too


SANITIZED = """
import pickle
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import index_functions
import programs
from lego_emit import golden
from lego_emit.emit import registry as printers
from lego_emit.run import registry
from lego_emit.emitted import emit_program
from lego_emit.targets.c import CTarget
from lego_emit.targets.cpp import CppTarget
from lego_emit.targets.cuda import CudaTarget

SANITIZE = ("-fsanitize=undefined", "-fno-sanitize-recover=all")
TARGETS = {
    name: type("Sanitized", (kind,), {"flags": (*kind.flags, *SANITIZE)})()
    for name, kind in (("c", CTarget), ("cpp", CppTarget), ("cuda", CudaTarget))
}
registry.toolchain = lambda name: TARGETS[name]
if sys.argv[2] == "overflow":
    total = programs.node("add", programs.var("a"), programs.var("b"))
    unit = programs.Program("sum", (programs.function("sum", {"r": total}),), "a + b")
    emit_program(unit, "cpp").compile()["sum"](2**31 - 1, 1)
    sys.exit("the sanitizer found nothing")
cases = golden.cases(index_functions.ROOT)
programs = pickle.loads(Path(sys.argv[2]).read_bytes())
for case in cases:
    case._programs[case.lowering(printers.printer("cpp"), False)] = programs[case.name]
compared = 0
for name, toolchain in TARGETS.items():
    result = golden.verify(cases, name)
    assert not result.mismatches, result.mismatches
    compared += result.comparisons
    index_functions.assert_arrays(toolchain, index_functions.array_units(name, ("int32",)))
    for index_type in ("int32", "int64"):
        index_functions.assert_floors(toolchain, index_type)
print(compared)
"""


def sanitized(what):
    command = [sys.executable, "-c", SANITIZED, str(Path(__file__).parent), what]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.deep
def test_every_golden_case_under_the_sanitizer(cases, tmp_path):
    """In a process of its own: undefined behavior ends it. What is lowered already goes along."""
    lowered = {}
    for case in cases:
        case.emit("cpp")
        lowered[case.name] = case._programs[case.lowering(golden.registry.printer("cpp"), False)]
    (tmp_path / "programs").write_bytes(pickle.dumps(lowered))
    done = sanitized(str(tmp_path / "programs"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "runtime error" not in done.stderr
    assert int(done.stdout) > 50000


def test_the_sanitizer_finds_an_overflow():
    """A test of the test above."""
    done = sanitized("overflow")
    assert done.returncode != 0
    assert "runtime error: signed integer overflow" in done.stderr


# -- array forms ---------------------------------------------------------------------------------


def test_array_forms():
    units = index_functions.array_units("cpp", INDEX_TYPES)
    index_functions.assert_arrays(registry.toolchain("cpp"), units)


def pair(A, B, n, element, pair_positions, pair_result):
    """Names that the array form wants for itself."""
    rows = GroupBy([A, B])[n, :]
    return {
        "pair_result": rows + pair_positions,
        "element": GroupBy([B, A])[element, :] + pair_result,
    }


VIEWS = """
#include "pair.hpp"
#include "index_kernel.hpp"

#include <iterator>

constexpr auto view = lego::index_kernel_positions(12, 20, 3, 5, 2, 1);
static_assert(std::ranges::random_access_range<decltype(view)>);
static_assert(std::ranges::sized_range<decltype(view)>);
static_assert(view.size() == 15);
static_assert(view[7] == lego::index_kernel(12, 20, 3, 5, 2, 1, 1, 2));

// 2^32 elements of a function of 32-bit integers.
constexpr auto wide = lego::pair_positions(65536, 65536, 0, 0, 0, 0);
static_assert(wide.size() == 65536ull * 65536ull);
static_assert(wide[4294967295].pair_result_2 == 65535);

int main() {
  auto from = view.begin();
  std::ranges::advance(from, 14);
  return *from == view.back() ? 0 : 1;
}
"""


def test_a_view_is_what_ranges_are(gxx, cases, tmp_path):
    case = next(c for c in cases if c.name == "readme_index_kernel")
    (tmp_path / "index_kernel.hpp").write_text(case.emit("cpp").source)
    unit = generate(pair, "cpp", index_type="int32")
    assert "static_cast<std::int64_t>" in unit.source
    (tmp_path / "pair.hpp").write_text(unit.source)
    (tmp_path / "views.cpp").write_text(VIEWS)
    run([gxx, *FLAGS, "views.cpp", "-o", "views"], tmp_path)
    run(["./views"], tmp_path)


# -- signs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_floors_at_the_ends_of_the_type(index_type):
    compared = index_functions.assert_floors(registry.toolchain("cpp"), index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)


# -- embedding -----------------------------------------------------------------------------------

PART = """
#include "brick_star.hpp"
#include "index_kernel.hpp"
#include "nw.hpp"
#include "index_kernel.hpp"

using Function = decltype(&lego::nw_apply);
Function NAME() { return &lego::nw_apply; }
long NAME_sum() {
  long sum = 0;
#if __cplusplus >= 202002L && (!defined(__clang__) || __clang_major__ >= 16)
  for (const auto x : lego::index_kernel_positions(12, 20, 3, 5, 2, 1)) sum += x;
#else
  for (long n = 0; n < 15; ++n) sum += lego::index_kernel(12, 20, 3, 5, 2, 1, n / 5, n % 5);
#endif
  return sum;
}
"""

MAIN = """
#include "nw.hpp"

using Function = decltype(&lego::nw_apply);
Function first();
Function second();
long first_sum();
long second_sum();

int main() { return first() == second() && first_sum() == second_sum() ? 0 : 1; }
"""


@both_compilers
@both_standards
def test_headers_in_two_translation_units_of_one_program(need, cases, tmp_path, compiler, standard):
    path = need(compiler, INSTALL[compiler])
    for case in cases:
        if case.unit in ("brick_star", "index_kernel", "nw"):
            (tmp_path / f"{case.unit}.hpp").write_text(case.emit("cpp").source)
    for name in ("first", "second"):
        declared = f"{PART}".replace("Function NAME", "Function NAME();\nFunction NAME")
        declared = declared.replace("long NAME_sum", "long NAME_sum();\nlong NAME_sum")
        (tmp_path / f"{name}.cpp").write_text(declared.replace("NAME", name))
    (tmp_path / "main.cpp").write_text(MAIN)
    sources = ["first.cpp", "second.cpp", "main.cpp"]
    run([path, f"-std={standard}", *STRICT, *sources, "-o", "program"], tmp_path)
    run(["./program"], tmp_path)


@pytest.mark.parametrize("target", ["c", "cpp", "cuda"])
def test_units_of_one_name_are_kept_apart(target):
    """Functions of one signature in one library: the linker must not take them for one."""

    def made(k):
        def f(i, j):
            return {"sum": i // j + k, "rest": i % j}

        return generate(f, target, index_type="int64")

    runs = registry.toolchain(target).compile([made(k) for k in range(4)])
    assert [run["f"](-7, 2) for run in runs] == [(k - 4, 1) for k in range(4)]


# -- idiom ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "extension"), rest_deep([("cpp", ".hpp"), ("cuda", ".cuh")]))
def test_clang_format_leaves_the_text_alone(need, cases, tmp_path, target, extension):
    """Every golden case with and without its numbers."""
    formatter = need("clang-format", INSTALL["clang-format"])
    texts = {}
    for numbers in (False, True):
        for case in cases:
            texts[f"{case.name}_{numbers}{extension}"] = case.emit(target, numbers).source
    for index_type in INDEX_TYPES:
        for program in PROGRAMS:
            made = program(index_type)
            texts[f"{made.name}_{index_type}{extension}"] = emit_program(made, target).source
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert max(map(len, text.splitlines())) <= 100, name
    run([formatter, "-i", f"--style=file:{ROOT / '.clang-format'}", *texts], tmp_path)
    changed = [name for name, text in texts.items() if (tmp_path / name).read_text() != text]
    assert not changed


def test_no_needless_casts_and_parentheses(cases):
    source = next(c for c in cases if c.name == "readme_index_kernel").emit("cpp").source
    assert "  return N * (BM * pid_m + i) + BN * pid_n + j;\n" in source
    for case in cases:
        if case.name not in ("nw", "catalogue_packed_upper"):  # its comparisons count; its root
            lines = case.emit("cpp").source.splitlines()
            meant = ("std::sqrt(", "static_cast<Element* const*>")  # of a root, of a view
            casts = [x for x in lines if "static_cast" in x and not any(m in x for m in meant)]
            assert not casts, case.name


def test_names_that_a_header_keeps_for_itself():
    names = ["unit_detail", "LEGO_UNIT_HPP", "f_result", "std", "lego"]
    total = programs.var(names[0])
    for name in names[1:]:
        total = programs.node("add", total, programs.var(name))
    f = programs.function("f", {"f_result": total, "b": total}, "int64", names)
    g = programs.function("f_result", {"r": total}, "int64", names)
    unit = emit_program(Program("unit", (f, g), "names"), "cpp")
    assert [p.name for p in unit.functions[0].params] == [
        "unit_detail_2", "LEGO_UNIT_HPP_2", "f_result_2", "std_v", "lego_v",
    ]  # fmt: skip
    assert unit.functions[1].name == "f_result_2"
    compiled = unit.compile()
    assert compiled["f"](1, 2, 3, 4, 5) == (15, 15)
    assert compiled["f_result_2"](1, 2, 3, 4, 5) == 15


def test_names_that_headers_and_compilers_define(gxx, tmp_path):
    """With headers before the file; in g++'s own dialect, typeof is a keyword."""
    names = ["EOF", "errno", "NAN", "linux", "typeof", "INT32_MAX", "EDOM", "contract_assert"]
    total = programs.var(names[0])
    for name in names[1:]:
        total = programs.node("add", total, programs.var(name))
    made = [programs.function(name, {"r": total}, "int64", names) for name in ("assert", "EOF")]
    unit = emit_program(Program("unit", tuple(made), "names"), "cpp")
    assert [p.name for p in unit.functions[0].params] == [f"{name}_v" for name in names]
    text = "".join(f"#include <{name}>\n" for name in ("cassert", "cerrno", "cmath", "cstdio"))
    (tmp_path / "main.cpp").write_text(f"{text}\n{unit.source}")
    for standard in ("gnu++17", "gnu++20"):
        run([gxx, f"-std={standard}", *STRICT, "-fsyntax-only", "main.cpp"], tmp_path)


# -- include guards ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["c", "cpp", "cuda", "glsl"])
def test_guards_of_names_that_differ_in_case_only(target):
    names = ["tile_a", "tile_A", "Tile_a", "TILE_A", "tilea", "tileA"]
    printer = registry.printer(target)
    guards = [printer.guard(name) for name in names]
    assert len(set(guards)) == len({g.lower() for g in guards}) == len(names)
    end = printer.extension[1:].upper()
    assert guards[0] == f"LEGO_TILE_A_{end}" and guards[1] == f"LEGO_TILE_A_{end}_20"
    for name, guard in zip(names, guards, strict=True):
        lines = generate(GroupBy([4]), target, name=name).source.splitlines()
        found = [x for x in lines if guard in x.split()]
        checksum = found[1].split()[-1]
        assert re.fullmatch("0x[0-7][0-9a-f]{7}", checksum) and found == [
            f"#ifndef {guard}",
            f"#define {guard} {checksum}",
            f"#elif {guard} != {checksum}",
            f"#endif  // {guard}",
        ]


@pytest.mark.parametrize("target", ["c", "cpp", "cuda"])
def test_two_headers_whose_names_differ_in_case_only(target):
    units = [generate(GroupBy([n]), target, name=name) for n, name in ((4, "t_a"), (9, "t_A"))]
    one, other = registry.toolchain(target).compile(units)
    assert one["t_a_apply"](3) == 3 and other["t_A_apply"](8) == 8
