"""C99: every golden case under two compilers, C99 to C23, and as C++; array forms, widths, signs, one
header in two translation units, the names of C's library, and clang-format."""

import re
import subprocess
from pathlib import Path

import index_functions
import programs
import pytest
from marks import every_width

from lego_emit import GroupBy, generate, golden
from lego_emit.emit import registry as printers
from lego_emit.emitted import emit_program
from lego_emit.ir.program import Program
from lego_emit.run import registry
from lego_emit.targets.c import FLAGS, CTarget

ROOT = Path(__file__).parent.parent
C = printers.printer("c")
INDEX_TYPES = ("int32", "int64", "uint32", "uint64")
PROGRAMS = (programs.every_operation, programs.several_outputs, programs.nasty_names)
STRICT = (*FLAGS[1:], "-Wstrict-prototypes", "-Wcast-qual", "-Wundef")
INSTALL = {
    "gcc": "apt-get install gcc",
    "g++": "apt-get install g++",
    "clang": "apt-get install clang",
    "clang++": "apt-get install clang",
    "clang-format": "apt-get install clang-format",
}
# The C library's headers: C99's, and what C11 has beside them.
HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdalign stdarg stdbool stddef stdint stdio stdlib stdnoreturn string time uchar wchar
    wctype""".split()
pytestmark = [pytest.mark.usefixtures("gcc"), pytest.mark.slow]


@pytest.fixture
def gcc(need):
    return need("gcc", INSTALL["gcc"])


@pytest.fixture(scope="module")
def cases():
    return index_functions.golden_cases()


@pytest.fixture(scope="module")
def units(cases):
    """Every golden case, with and without its numbers, array forms and the hand-built programs."""
    made = [case.emit("c", numbers) for case in cases for numbers in (False, True)]
    made += [unit for unit, _, _ in index_functions.array_units("c", INDEX_TYPES)]
    made += [emit_program(program(t), "c") for program in PROGRAMS for t in INDEX_TYPES[:2]]
    return made


def run(command, folder):
    """Run a command; what it printed. It must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


# -- golden cases --------------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize(  # tests/test_golden.py has gcc and C99
    ("compiler", "standard", "more"),
    [
        ("gcc", "c2x", ("-Wc++-compat",)),
        ("clang", "c99", ()),
        ("clang", "c2x", ("-Wimplicit-int-conversion", "-Wshorten-64-to-32")),
    ],
)
def test_every_golden_case_strictly(need, monkeypatch, cases, compiler, standard, more):
    need(compiler, INSTALL[compiler])

    class Strict(CTarget):
        program = compiler
        flags = (f"-std={standard}", *STRICT, *more)

    monkeypatch.setattr(registry, "toolchain", lambda target: Strict())
    result = golden.verify(cases, "c")
    assert result.cases == len(cases) > 60
    assert result.comparisons > 20000
    assert not result.mismatches, "\n".join(result.mismatches)


@pytest.mark.deep
@every_width
def test_every_case_in_every_index_type(cases):
    counts = index_functions.assert_every_width(cases, "c", INDEX_TYPES)
    assert counts["int32"] == counts["int64"] == len(cases)
    assert counts["uint32"] == counts["uint64"] == len(cases)  # padded ones, too


@pytest.mark.deep
def test_a_header_includes_what_it_needs(cases, tmp_path):
    """Each alone: where they are run, they share source files."""
    names = []
    for k, case in enumerate(cases):
        (tmp_path / f"{k}.c").write_text(case.emit("c").source)
        names.append(f"{k}.c")
    run(["gcc", *FLAGS, "-Wno-unused-function", "-fsyntax-only", *names], tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("compiler", "standard"), [("g++", "c++11"), ("g++", "c++20"), ("clang++", "c++17")]
)
def test_headers_are_cpp_too(need, units, tmp_path, compiler, standard):
    """Each in a namespace of its own: many have one name."""
    path = need(compiler, INSTALL[compiler])
    lines = ["#include <stdint.h>"]
    for k, unit in enumerate(units):
        (tmp_path / f"{k}.h").write_text(unit.source)
        lines += [
            f"#undef {C.guard(unit.program.name)}",
            f'namespace n{k} {{\n#include "{k}.h"\n}}',
        ]
    (tmp_path / "all.cpp").write_text("\n".join(lines))
    flags = [flag for flag in STRICT if flag != "-Wstrict-prototypes"]
    run([path, f"-std={standard}", *flags, "-fsyntax-only", "all.cpp"], tmp_path)


# -- array forms, signs --------------------------------------------------------------------------


def test_array_forms():
    found = index_functions.array_units("c", INDEX_TYPES)
    index_functions.assert_arrays(registry.toolchain("c"), found)


def pair(A, B, out, n, pair_positions, pair_result):
    """Names that the file wants for itself."""
    rows = GroupBy([A, B])[out, :]
    return {"pair_result": rows + pair_positions, "result": GroupBy([B, A])[n, :] + pair_result}


def test_names_of_the_array_form():
    unit = generate(pair, "c", index_type="int32")
    assert "pair_result *out_2) {" in unit.source
    (found,) = registry.toolchain("c").compile([unit])
    first, second = found.array("pair")(2, 3, 1, 2, 70, 50)
    assert first.tolist() == [[73, 73], [74, 74], [75, 75]]
    assert second.tolist() == [[54, 55]] * 3


@pytest.mark.parametrize("index_type", INDEX_TYPES)
def test_floors_at_the_ends_of_the_type(index_type):
    compared = index_functions.assert_floors(registry.toolchain("c"), index_type)
    assert compared > (1000 if index_type.startswith("int") else 400)


def test_what_may_be_negative_is_not_shifted_to_the_left():
    a, b = programs.var("a", -50, 50), programs.var("b", 0, 50)
    outputs = {
        name: programs.node("shl", x, programs.const(25)) for name, x in (("x", a), ("y", b))
    }
    program = Program("shifts", (programs.function("shifts", outputs),), "shifts")
    unit = emit_program(program, "c")
    assert "(int32_t)((uint32_t)a << 25)" in unit.source and "b << 25" in unit.source
    (found,) = registry.toolchain("c").compile([unit])
    assert found["shifts"](-50, 50) == (-50 * 2**25, 50 * 2**25)


# -- one header in two translation units ---------------------------------------------------------

PART = """
#include "brick_star.h"
#include "index_kernel.h"
#include "nw.h"
#include "index_kernel.h"

int64_t NAME(void);

int64_t NAME(void) {
  int64_t positions[15], sum = nw_apply(3, 1, 2);
  index_kernel_positions(12, 20, 3, 5, 2, 1, positions);
  for (int k = 0; k < 15; ++k) sum += positions[k];
  return sum;
}
"""

MAIN = """
#include <stdint.h>

int64_t first(void);
int64_t second(void);

int main(void) { return first() == second() ? 0 : 1; }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_headers_in_two_translation_units_of_one_program(need, cases, tmp_path, compiler):
    path = need(compiler, INSTALL[compiler])
    for case in cases:
        if case.unit in ("brick_star", "index_kernel", "nw"):
            (tmp_path / f"{case.unit}.h").write_text(case.emit("c").source)
    for name in ("first", "second"):
        (tmp_path / f"{name}.c").write_text(PART.replace("NAME", name))
    (tmp_path / "main.c").write_text(MAIN)
    run([path, *FLAGS, "first.c", "second.c", "main.c", "-o", "program"], tmp_path)
    run(["./program"], tmp_path)


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("standard", ["c99", "c2x"])
def test_no_function_has_a_name_of_the_library(gcc, tmp_path, standard):
    """What the headers declare, as the preprocessor shows it."""
    text = "".join(f"#include <{name}.h>\n" for name in HEADERS)
    (tmp_path / "all.c").write_text(text)
    shown = run([gcc, f"-std={standard}", "-E", "-P", "all.c"], tmp_path)
    # A declaration's name stands before its parameters, at the end of what is no attribute.
    shown = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", shown, flags=re.S)
    declared = set(re.findall(r"^extern [^(;{]*?\b([a-z]\w*) ?\(", shown, re.M))
    assert len(declared) > 300
    missing = declared - C.reserved_functions - C.reserved
    assert not missing, sorted(missing)


def test_names_of_the_library_and_of_the_compiler(gcc, tmp_path):
    """With every header before the file, and the names that gcc knows by itself."""
    names = ["index", "abs", "floor", "y0", "div", "exp10", "round", "time", "cabs", "size_t"]
    variables = ["linux", "errno", "bool", "int32_t", "class", "INT64_C", "typeof", "y1", "index"]
    total = programs.var(variables[0])
    for name in variables[1:]:
        total = programs.node("add", total, programs.var(name))
    made = [programs.function(name, {"r": total}, "int64", variables) for name in names]
    unit = emit_program(Program("unit", tuple(made), "names"), "c")
    assert [f.name for f in unit.functions] == [f"{name}_v" for name in names]
    assert unit.functions[0].params[-1].name == "index", "a variable may have its name"
    (tmp_path / "unit.h").write_text(unit.source)
    text = "".join(f"#include <{name}.h>\n" for name in HEADERS if name != "complex")
    (tmp_path / "all.c").write_text(f'{text}#include "unit.h"\nint main(void) {{ return 0; }}\n')
    for standard in ("gnu99", "gnu17", "gnu2x"):
        run([gcc, f"-std={standard}", *STRICT, "-D_GNU_SOURCE", "all.c"], tmp_path)


def test_helpers_of_two_index_types():
    made = [
        programs.function(
            f"f_{t}", {"r": programs.node(op, programs.var("a"), programs.var("b"))}, t
        )
        for t in INDEX_TYPES
        for op in ("min",)
    ]
    unit = emit_program(Program("unit", tuple(made), "helpers"), "c")
    assert [m for m in re.findall(r"unit_min_\w+(?=\(\w+ a)", unit.source)] == [
        "unit_min_i32", "unit_min_i64", "unit_min_u32", "unit_min_u64",
    ]  # fmt: skip
    (found,) = registry.toolchain("c").compile([unit])
    assert [found[f"f_{t}"](7, 5) for t in INDEX_TYPES] == [5] * 4


def test_no_parameters_and_parameters_that_are_not_read():
    source = emit_program(programs.one_parameterless(), "c").source
    assert "static inline int32_t answer(void) {\n  return 42;\n}" in source
    source = generate(lambda M, N, i: GroupBy([M, N])[2, i], "c", name="row").source
    assert ") {\n  (void)M;\n  return" in source


# -- idiom ---------------------------------------------------------------------------------------


@pytest.mark.deep
def test_clang_format_leaves_the_text_alone(need, units, tmp_path):
    """In the style of C++ and CUDA C, but for pointers."""
    formatter = need("clang-format", INSTALL["clang-format"])
    style = (ROOT / ".clang-format").read_text() + "PointerAlignment: Right\n"
    (tmp_path / "style").write_text(style)
    for k, unit in enumerate(units):
        (tmp_path / f"{k}.h").write_text(unit.source)
        assert max(map(len, unit.source.splitlines())) <= 100
    names = [f"{k}.h" for k in range(len(units))]
    run([formatter, "-i", f"--style=file:{tmp_path / 'style'}", *names], tmp_path)
    changed = [
        u.source for k, u in enumerate(units) if (tmp_path / f"{k}.h").read_text() != u.source
    ]
    assert not changed


def test_nothing_of_cpp_and_no_needless_casts(cases):
    for case in cases:
        source = case.emit("c").source
        assert not re.search(r"std::|static_cast|constexpr|noexcept|\[\[", source)
        if case.name != "nw":  # its comparisons count
            assert "_t)" not in source.replace("(void)", ""), case.name
