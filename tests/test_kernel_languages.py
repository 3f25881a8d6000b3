"""Kernels in each language: what a template's placeholders compute, compiled with warnings as errors
and compared with the layouts themselves."""

import ctypes
import json
import re
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

from lego_emit import Col, GroupBy, RegP, Row, TileBy, catalogue, render, symbols

M, N = symbols("M N")
LAYOUTS = {
    "A": TileBy([M // 4, N // 8], [4, 8]).OrderBy(Row(M, N)),
    "S": GroupBy([4, 8]).OrderBy(Col(4, 8)),
    "X": GroupBy([8, 8]).OrderBy(RegP([2, 4, 8], [1, 0, 2])),
    "G": catalogue["triton.grouped"](M // 4, N // 8, 3),
}
SIZES = {"M": 20, "N": 24}
# What is stored, and the same of numbers. Names are 32 bits wide, b of B is any number.
STORED = [
    ("A[pm, pn, i, j]", lambda a, s, x, g, n: a(n.pm, n.pn, n.i, n.j)),
    ("A[pm, pn, i, j] * 3 - A[0, pn, 3 - i, j]", lambda a, s, x, g, n: (
        3 * a(n.pm, n.pn, n.i, n.j) - a(0, n.pn, 3 - n.i, n.j)
    )),
    ("S[i, j]", lambda a, s, x, g, n: s(n.i, n.j)),
    ("X[i + 4, j]", lambda a, s, x, g, n: x(n.i + 4, n.j)),
    ("X.inv(i * 8 + j)[1]", lambda a, s, x, g, n: x.inv(n.i * 8 + n.j)[1]),
    ("G[pm, pn]", lambda a, s, x, g, n: g(n.pm, n.pn)),
    ("b % 7 * 1000000 + i", lambda a, s, x, g, n: n.b % 7 * 1000000 + n.i),
    ("b * 3 // 5 - pm", lambda a, s, x, g, n: n.b * 3 // 5 - n.pm),
    ("twice(b, j)", lambda a, s, x, g, n: n.b * 7 + 2 * n.j),
]  # fmt: skip
BS = (0, 5, 2**31 - 1)


class Case:
    def __init__(self, *values):
        self.pm, self.pn, self.i, self.j, self.b = values


CASES = [*product(range(5), range(3), range(4), range(8), BS)]


def wanted():
    numbers = TileBy([5, 3], [4, 8]).OrderBy(Row(20, 24)), LAYOUTS["S"], LAYOUTS["X"]
    grouped = catalogue["triton.grouped"](5, 3, 3)
    layouts = [Called(layout) for layout in (*numbers, grouped)]
    found = []
    for case in map(lambda values: Case(*values), CASES):
        row = [compute(*layouts, case) for _, compute in STORED]
        found.append([*row, *grouped.inv(case.pm * 3 + case.pn), case.i < 3])
    return found


class Called:
    def __init__(self, layout):
        self.layout, self.inv = layout, layout.inv

    def __call__(self, *indices):
        return self.layout.apply(*indices)


def body(store, condition, first=0, indent="    ", before=""):
    """A template's body: each expression stored, then a statement's names, and a condition."""
    lines = ["{% names pm, pn, i, j, b %}{% assume 'b >= 0', 'pm >= 0', 'pn >= 0' %}"]
    lines += [
        f"{indent}{store.format(k=k + first, e='{{ ' + e + ' }}')}"
        for k, (e, _) in enumerate(STORED)
    ]
    lines.append(f"{indent}{{% index pid = pm * 3 + pn %}}")
    lines.append(f"{indent}{{% index q, r = G.inv(pid) %}}")
    more = len(STORED) + first
    lines += [
        indent + store.format(k=more + k, e=f"{{{{ {name} }}}}") for k, name in enumerate("qr")
    ]
    lines.append(indent + condition.format(k=more + 2, e="{{ S.in_bounds(i + 1, j) }}"))
    return "\n".join([before, *lines, ""])


def rendered(text, target, index_type="auto"):
    return render(text, target, index_type=index_type, twice=lambda b, j: b * 7 + 2 * j, **LAYOUTS)


# A file's text, the store and the condition, and how it is built.
COMPILED = {
    "c": (
        "#include <stdint.h>\nvoid f(int pm, int pn, int i, int j, int b, int M, int N, int64_t *o);\n"
        "void f(int pm, int pn, int i, int j, int b, int M, int N, int64_t *o) {\nBODY}\n",
        "o[{k}] = {e};", "if ({e}) o[{k}] = 1; else o[{k}] = 0;", "k.c",
        "gcc -std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O1 -shared -fPIC -o k.so",
    ),
    "cpp": (
        '#include <algorithm>\n#include <cstdint>\nextern "C" void f(int pm, int pn, int i, int j, int b, int M, int N,'
        " std::int64_t *o) {\nBODY}\n",
        "o[{k}] = {e};", "o[{k}] = {e} ? 1 : 0;", "k.cpp",
        "g++ -std=c++17 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror -O1 -shared -fPIC -o k.so",
    ),
    "rust": (
        "#![deny(warnings)]\n#![allow(non_snake_case)]\n#[no_mangle]\n"
        'pub extern "C" fn f(pm: i32, pn: i32, i: i32, j: i32, b: i32, M: i32, N: i32, o: *mut i64) {\n'
        "    let o = unsafe { std::slice::from_raw_parts_mut(o, 12) };\nBODY}\n",
        "o[{k}] = {e};", "o[{k}] = if {e} {{ 1 }} else {{ 0 }};", "k.rs",
        "rustc --edition 2021 --crate-type cdylib -C opt-level=1 -C overflow-checks=on -o k.so",
    ),
    "fortran": (
        "subroutine f(pm, pn, i, j, b, M, N, o) bind(c)\n"
        "    use, intrinsic :: iso_fortran_env, only: int32, int64\n    implicit none\n"
        "    integer(int32), value :: pm, pn, i, j, b, M, N\n"
        "    integer(int64), intent(out) :: o(12)\n"
        "    integer(int64) :: DECLARED\nBODYend subroutine f\n",
        "o({k}) = {e}", "o({k}) = merge(1_int64, 0_int64, {e})", "k.f90",
        "gfortran -std=f2018 -Wall -Wextra -Wconversion -Wno-c-binding-type -Werror -ffree-line-length-none -O1 -shared -fPIC -o k.so",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("index_type", rest_deep(["auto", "int64"]))
@pytest.mark.parametrize("language", COMPILED)
def test_compiled(language, index_type, tmp_path, need):
    frame, store, condition, file, command = COMPILED[language]
    wide = "int64" if language == "rust" else index_type  # what is stored is of one type
    text = rendered(body(store, condition, language == "fortran"), language, wide)
    names = re.findall(r"^    ((?:pid|q|r)\w*) =", text, re.M)
    text = frame.replace("BODY", text).replace("DECLARED", ", ".join(names))
    (tmp_path / file).write_text(text)
    need(command.split()[0], f"apt-get install {command.split()[0]}")
    done = subprocess.run([*command.split(), file], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    found = []
    for case in CASES:
        out = (ctypes.c_int64 * 12)()
        library.f(*case, *SIZES.values(), out)
        found.append(list(out))
    assert found == wanted()


# A whole file with nothing but what docs/kernels.md says that a template brings; x needs a cast.
BARE = {
    "c": (
        "#include <stdint.h>", "BRINGS\nlong f(const long *x);\nlong f(const long *x) { BODY return n; }\n",
        "k.c", "gcc -std=c99 -Wall -Wextra -Werror -fsyntax-only",
    ),
    "cpp": (
        "#include <cstdint>", "BRINGS\nlong f(const long *x) { BODY return n; }\n",
        "k.cpp", "g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only",
    ),
    "fortran": (
        "use, intrinsic :: iso_fortran_env, only: int32, int64",
        "integer function f(x)\nBRINGS\nimplicit none\ninteger(int64) :: x(0:8), m\n"
        "integer(int32) :: n\nm = 3\nBODY\nf = n\nend function f\n",
        "k.f90", "gfortran -std=f2018 -Wall -Wextra -Werror -fsyntax-only",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", BARE)
def test_what_a_template_brings_is_documented(language, tmp_path, need):
    brings, frame, file, command = BARE[language]
    assert f"`{brings}`" in (Path(__file__).parents[1] / "docs" / "kernels.md").read_text()
    text = "x(3)" if language == "fortran" else "x[3]"
    made = render("{% names x %}{% index n = S[0, there] %}", language, there=text, S=Row(4, 8))
    assert "int32" in made
    (tmp_path / file).write_text(frame.replace("BRINGS", brings).replace("BODY", made))
    need(command.split()[0], f"apt-get install {command.split()[0]}")
    done = subprocess.run([*command.split(), file], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}\n{made}"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["javascript", "julia"])
def test_run(language, tmp_path, need):
    if language == "javascript":
        text = rendered(body("o[{k}] = {e};", "o[{k}] = {e} ? 1 : 0;"), language)
        text = (
            f"function f(pm, pn, i, j, b, M, N) {{\nconst o = [];\n{text}return o;\n}}\n"
            f"console.log(JSON.stringify({json.dumps(CASES)}.map((c) => f(...c, 20, 24))));\n"
        )
        program, file = need("node", "apt-get install nodejs"), "k.js"
    else:
        text = rendered(body("o[{k}] = {e}", "o[{k}] = {e} ? 1 : 0", 1), language)
        text = (
            f"function f(pm, pn, i, j, b, M, N)\no = zeros(Int64, 12)\n{text}return o\nend\n"
            f"cases = {json.dumps(CASES)}\n"
            'print("[", join([string(f(c..., 20, 24)) for c in cases], ","), "]")\n'
        )
        program, file = need("julia", "apt-get install julia"), "k.jl"
    (tmp_path / file).write_text(text)
    done = subprocess.run([program, file], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    assert json.loads(done.stdout) == wanted()


@pytest.mark.slow
def test_python():
    text = rendered(body("o.append({e})", "o.append(1 if {e} else 0)"), "python")
    scope = {}
    exec(f"def f(pm, pn, i, j, b, M, N):\n    o = []\n{text}    return o\n", scope)
    assert [scope["f"](*case, 20, 24) for case in CASES] == wanted()


@pytest.mark.slow
def test_numpy():
    text = rendered(body("o.append({e})", "o.append({e} * 1)"), "numpy")
    scope = {"np": np}
    exec(f"def f(pm, pn, i, j, b, M, N):\n    o = []\n{text}    return o\n", scope)
    found = np.array(scope["f"](*np.array(CASES).T, 20, 24)).T
    assert found.tolist() == wanted()


@pytest.mark.slow
def test_glsl_compiles(tmp_path, need):
    text = rendered(body("o[{k}] = {e};", "o[{k}] = {e} ? 1 : 0;"), "glsl")
    (tmp_path / "k.comp").write_text(
        "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer B { int o[]; };\n"
        "uniform int pm, pn, i, j, b, M, N;\n"
        f"void main() {{\n{text}}}\n"
    )
    program = need("glslangValidator", "apt-get install glslang-tools")
    done = subprocess.run([program, "k.comp"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
