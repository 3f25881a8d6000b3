"""Kernels from templates: what is printed is the layout's position, and compiles in its place."""

import ctypes
import shutil
import subprocess
from itertools import product

import pytest
from click.testing import CliRunner

from lego_emit import Col, GroupBy, Lookup, RegP, Row, TileBy, catalogue, render, symbols
from lego_emit.cli import main
from lego_emit.emit.registry import printer
from lego_emit.errors import LegoError, TemplateError

M, N = symbols("M N")
TILED = TileBy([M // 4, N // 8], [4, 8]).OrderBy(Row(M, N))
SMALL = GroupBy([4, 8]).OrderBy(Col(4, 8))
SWIZZLED = GroupBy([8, 8]).OrderBy(RegP([2, 4, 8], [1, 0, 2]))
ODD = Lookup([7], [6, 1, 0, 3, 2, 4, 5])
GROUPED = catalogue["triton.grouped"](M // 4, N // 8, 3)

needs_gxx = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")


def line(text, target="cuda", **given):
    return str(render(text, target, **{"A": TILED, "S": SMALL, "L": ODD, **given}))


# -- what is printed -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("s[{{ S[i, j] }}]", "s[4 * j + i]"),
        ("x = {{ S[i, j] }};", "x = 4 * j + i;"),
        ("x = 2 * {{ S[i, j] }};", "x = 2 * (4 * j + i);"),
        (
            "f({{ S[i, j] }}, {{ S[i + 1, j] }})",
            "f(4 * j + i, 4 * j + i + 1)",
        ),
        ("if (x == {{ S[i, j] }})", "if (x == (4 * j + i))"),
        ("{{ S.size }} {{ S.dims[1] }}", "32 8"),
        ("n = {{ A.size }};", "n = M * N;"),
        ("{{ S[i, j].step(j=1) }}", "4"),
        ("p += {{ S[i, j].step(j=2, i=1) }};", "p += 9;"),
        ("if ({{ S.in_bounds(i, j) }})", "if (i >= 0 && i <= 3 && j >= 0 && j <= 7)"),
        ("a[{{ A[pm, 0, i, j] }}]", "a[N * (4 * pm + i) + j]"),
        ('s[{{ S["threadIdx.x", j] }}]', "s[4 * j + static_cast<int>(threadIdx.x)]"),
        ("s[{{ S['i', 'j'] }}]", "s[4 * j + i]"),
        ("({{ S.inv(p)[1] }},", "(p >> 2,"),
        ("{% for k in range(2) %}{{ S[i, k] }};{% endfor %}", "i;i + 4;"),
    ],
)
@pytest.mark.quick(4)
def test_expressions(text, wanted):
    assert line(f"{{% names i, j, p, pm %}}{text}") == wanted


def test_names_have_types():
    text = "{% names i: int64, j %}{{ S[i, j] }};"
    assert line(text) == "(4 * j + i);", "C makes j as wide as i"
    assert line(text, "rust") == "(4 * j + (i as i32));"
    wide = line("={{ S[i, j] }};", names="i j", index_type="int64")
    assert wide == "=static_cast<long long>(4 * j + i);", "what fits an int is computed in it"


def test_wider_and_unsigned_names_are_cast_to_the_index_type():
    text = "{% names k: int64, u: uint64, i %}\n{{ S[k, i] }};\n{% index a = S[i, k] %}\n{% index b = u %}\n"
    narrow = line(text, "c", index_type="int32")
    assert narrow.splitlines() == [
        "(int32_t)(4 * i + k);",
        "const int32_t a = (int32_t)(4 * k + i);",
        "const int32_t b = (int32_t)u;",
    ]
    assert "const int64_t b = (int64_t)u;" in line(text, "c")


def test_a_whole_expression_is_cast_as_one():
    wide = line("x = {{ S[i, j] }};", "rust", names="i j", index_type="int64")
    assert wide == "x = (4 * j + i) as i64;"


def test_statements_name_common_parts_once():
    found = line("{% names p %}\n  {% index i, j = S.inv(p) %}\n  s[{{ S[i, j] }}] = 0;\n")
    assert found == "  const int i = p & 3;\n  const int j = p >> 2;\n  s[4 * j + i] = 0;\n"


def test_a_name_that_is_declared_again_forgets_what_was_known_of_it():
    found = line(
        "{% names p, n %}{% index a, b = S.inv(p) %}[{{ a % 4 }}]{% index a, b = W.inv(p) %}[{{ a % 4 }}]"
        "{% assume 'n < 4' %}[{{ n % 4 }}]{% index n = a %}[{{ n % 4 }}]",
        W=GroupBy([16, 16]).OrderBy(Col(16, 16)),
        assume="n >= 0",
    )
    assert [x.split("]")[0] for x in found.split("[")[1:]] == ["a", "a & 3", "n", "n & 3"]


def test_what_is_said_from_outside_goes_with_a_name_that_is_declared_again():
    again = "{% names i, k %}{{ i // 4 }};{% index i = k %}{{ i // 4 }}"
    assert line(again, ranges={"i": (0, 4)}).endswith("(i >> 2)")
    again = "{% names i %}{% assume 'i >= 0', 'i < 4' %}{{ i // 4 }};{% names i %}{{ i // 4 }}"
    assert line(again) == "0;(i >> 2)"


@pytest.mark.parametrize(
    ("target", "text", "wanted"),
    [
        ("cuda", "2 * // twice;\n {{ S[i, j] }};", "2 * // twice;\n (4 * j + i);"),
        ("python", "f(2 * # twice,\n {{ S[i, j] }})", "f(2 * # twice,\n (4 * j + i))"),
        ("python", "f(k={{ S[i, j] }}\n  * 2)", "f(k=(4 * j + i)\n  * 2)"),
        ("python", "k = {{ S[i, j] }}\nx = 2", "k = 4 * j + i\nx = 2"),
    ],
)
def test_brackets_stand_where_an_expression_goes_on_over_lines(target, text, wanted):
    assert line("{% names i, j %}" + text, target) == wanted


@pytest.mark.slow
def test_common_parts_take_no_declared_name():
    found = line("{% names p, m_difference %}{% index m, n = G.inv(p) %}", G=GROUPED)
    assert " m_difference_2 = p - " in found and " m_difference =" not in found


def test_a_layout_size_is_a_name():
    wide = {"f": lambda n: n // 2 * N, "index_type": "auto"}
    assert line("[{{ M * 2 }}] [{{ f(M) }}]", **wide) == (
        "[2 * static_cast<long long>(M)] [static_cast<long long>(M >> 1) * N]"
    )


def test_entries_of_a_table_are_cast():
    given = {"R": Lookup([8], "owner"), "names": "i"}
    assert line("[{{ R[i] }}]", **given) == "[static_cast<int>(owner[i])]"
    assert line("[{{ R[i] }}]", "rust", **given) == "[(owner[i as usize]) as i32]"


def test_sizes_that_are_numbers_are_numbers_for_jinja():
    text = "{% for k in range(S.dims[0]) %}{{ S[k, 0] }};{% endfor %}"
    assert line(text) == "0;1;2;3;"
    text = "{% if S.size == 32 and 8 < S.size != 31 %}{{ S.size * 2 - 1 }}{% endif %}"
    assert line(text) == "63"
    assert line("{% names i %}[{{ S[i, S.size // 5] }}]") == "[i + 24]"


def test_whole_functions():
    assert "S_apply(int i, int j)" in line("{{ S.functions }}")


def test_what_it_rests_on_is_told():
    found = render("{% names pm, i, j %}{{ A[pm, 0, i, j] }}", A=TILED)
    assert {"M % 4 == 0", "N % 8 == 0"} <= set(found.assumptions)
    told = render('{{ S["threadIdx.x", 0] }}', S=SMALL).assumptions
    assert told == ("0 <= (threadIdx.x) < 4",)
    assert render('{{ S["t", 0] }}', S=SMALL, where={"t": (0, 4)}).assumptions == ()


def test_jinja_is_all_there(tmp_path):
    (tmp_path / "part.cuh").write_text("{% macro at(i) %}s[{{ S[i, 0] }}]{% endmacro %}")
    (tmp_path / "whole.cu").write_text(
        "{% names i %}\n{% import 'part.cuh' as part with context %}\n"
        "{% if WIDE %}wide{% else %}{{ part.at(i) }}{% endif %}\n"
    )
    assert render(tmp_path / "whole.cu", S=SMALL, WIDE=False) == "s[i]"


def test_imports_are_found_in_the_folder_above_unless_sandboxed(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "part.cuh").write_text("{% macro at() %}s{% endmacro %}")
    kernel = tmp_path / "other" / "whole.cu"
    kernel.write_text("{% from 'one/part.cuh' import at %}{{ at() }}")
    assert render(kernel) == "s"
    with pytest.raises(TemplateError, match=r"one/part\.cuh cannot be read"):
        render(kernel, sandboxed=True)


# -- compiled ------------------------------------------------------------------------------------

LOOPS = """{% names pm, pn, i, j %}
extern "C" void f(int M, int N, long long* out) {
  for (int pm = 0; pm < {{ A.dims[0] }}; ++pm)
    for (int pn = 0; pn < {{ A.dims[1] }}; ++pn)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) {
          *out++ = {{ A[pm, pn, i, j] }};
          *out++ = {{ G[pm, pn] }} * 3;
          *out++ = {{ S[i, j] }} - {{ S[i, 0] }};
        }
}
extern "C" void back(int M, int N, long long* out) {
  for (int flat = 0; flat < {{ G.size }}; ++flat) {
    {% index m, n = G.inv("flat") %}
    *out++ = m;
    *out++ = {{ n_twice(n) }};
  }
}
"""


@needs_gxx
@pytest.mark.slow
def test_a_kernel_in_cpp_computes_the_layouts(tmp_path):
    text = render(LOOPS, "cpp", A=TILED, G=GROUPED, S=SMALL, n_twice=lambda n: n * 2)
    (tmp_path / "k.cpp").write_text(f"#include <algorithm>\n#include <cstdint>\n{text}")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["g++", *flags, "-o", "k.so", "k.cpp"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    m, n = 20, 24
    tiled, grouped = TileBy([5, 3], [4, 8]).OrderBy(Row(m, n)), catalogue["triton.grouped"](5, 3, 3)
    out = (ctypes.c_longlong * (3 * m * n))()
    library.f(m, n, out)
    wanted = []
    for pm, pn, i, j in product(range(5), range(3), range(4), range(8)):
        wanted += [tiled.apply(pm, pn, i, j), 3 * grouped.apply(pm, pn)]
        wanted.append(SMALL.apply(i, j) - SMALL.apply(i, 0))
    assert list(out) == wanted
    library.back(m, n, out)
    pairs = [grouped.inv(flat) for flat in range(15)]
    assert list(out)[:30] == [v for a, b in pairs for v in (a, 2 * b)]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc")
def test_a_cuda_kernel_compiles_without_warnings(tmp_path):
    text = """{% names i, j %}
__global__ void k(const float* a, float* b, int M, int N) {
  __shared__ float s[{{ S.size }}];
  {% index pm, pn = G.inv("blockIdx.x") %}
  const int i = threadIdx.y, j = threadIdx.x;
  s[{{ S[i, j] }}] = a[{{ A[pm, pn, i, j] }}];
  __syncthreads();
  if ({{ S.in_bounds(i, j) }}) b[{{ A[pm, pn, "threadIdx.y", "threadIdx.x"] }}] = s[{{ S[i, j] }}];
}
"""
    (tmp_path / "k.cu").write_text(render(text, A=TILED, G=GROUPED, S=SMALL))
    command = ["nvcc", "-arch=sm_90", "-cubin", "-Werror", "all-warnings", "k.cu"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("c", "N * (4 * (int64_t)pm + i) + j"),
        ("cpp", "N * (4 * static_cast<std::int64_t>(pm) + i) + j"),
        ("hip", "N * (4 * static_cast<long long>(pm) + i) + j"),
        ("opencl", "N * (4 * (long)pm + i) + j"),
        ("metal", "N * (4 * long(pm) + i) + j"),
        ("rust", "(N as i64) * (4 * (pm as i64) + (i as i64)) + (j as i64)"),
        ("fortran", "N * (4_int64 * int(pm, int64) + i) + j"),
        ("glsl", "N * (4 * pm + i) + j"),
        ("wgsl", "N * (4 * pm + i) + j"),
        ("js", "N * (4 * pm + i) + j"),
        ("julia", "N * (4 * pm + i) + j"),
        ("numpy", "N * (4 * pm + i) + j"),
        ("python", "N * (4 * pm + i) + j"),
    ],
)
@pytest.mark.quick(8)
def test_other_languages(target, wanted):
    text = "{% names pm, i, j %}[{{ A[pm, 0, i, j] }}]"
    assert line(text, target, index_type="auto") == f"[{wanted}]"
    if printer(target).narrow_index:
        assert line(text, target) == "[N * (4 * pm + i) + j]"


# -- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ S[i, j] }}", "line 1: i is not a declared name"),
        ("{% names i, jj %}\n{{ S[i, j] }}", "line 2: j is not a declared name"),
        ("\n\n{{ x }}", "line 3: x is not a declared name"),
        ("{% names i %}\n{{ S[i, 8] }}", "line 2: .*index 1 is 8, never in 0..7"),
        ("{% names i %}\n{{ S[i] }}", "line 2: S takes 2 indices, 1 given"),
        ("{% names i %}\n{{ S[i, 1.5] }}", "line 2: 1.5 is not an index"),
        ("{% for %}", "line 1: Expected"),
        ("{{ S }}", "line 1: S is a layout, and no index"),
        ("{% names i %}{% if S[i, 0] %}{% endif %}", "is known when the kernel runs"),
        ("{% include 'nope' %}", "no template 'nope'"),
        ("{% names i: int23 %}", "no type 'int23'.*Did you mean 'int32'"),
        ("{% names p %}{% index a = S.inv(p) %}", "1 names for 2 values"),
        ("{% names i, j %}{{ S[i, j * j % 3].step(j=1) }}", "not the same for every j"),
        ("{% names i, j %}{{ 2 * S[i, j * j % 3].step(j=1) }}", "not the same for every j"),
        ("{% names i, j %}{% index d = S[i, j * j % 3].step(j=1) %}", "not the same for every j"),
        (
            "{% names p %}{% index i, j = S.inv(p) %}{{ S[i, j].step(p=1) }}",
            "i is made of p; write",
        ),
        (
            "{% names i, j %}{% index s = i %}{% index s = j %}{{ (s + i).step(j=1) }}",
            "s is made of j",
        ),
        ("{% names j %}{{ S['j | 0', 1].step(j=1) }}", r"j \| 0 is made of j; write it by"),
        ("{% names i %}{{ S[i, 0].step(k=1) }}", "k is not a declared name"),
        ("{{ A.size | int }}", "A.size is known when the kernel runs"),
        ("{% if A.size == 32 %}{% endif %}", "A.size is known when the kernel runs"),
        ("{% names i %}{{ S[i, 1] | string | first }}", "a filter has cut an index"),
        ("{% names i %}{{ both(i) }}", r"both\(i\) has 2 values"),
        ("{% names p %}{% index (a, b), c = S.inv(p) %}", "index takes names, each once"),
        ("{% names p %}{% index a, a = S.inv(p) %}", "index takes names, each once"),
        ("{% names i %}{{ i // -3 }}", "needs the helper function floor_div"),
        ("{{ S.mask(0, 0) }}", "masks nothing"),
        ("{{ S.nope }}", "S has no 'nope'"),
        ("{{ 1 // 0 }}", "ZeroDivisionError"),
        ("{% assume 'i <' %}{% names i %}{{ S[i, 0] }}", "i <"),
        ("{% names i %}\n{% assume 'q < 4' %}", "line 2: assume 'q < 4': q is not a declared name"),
        ("{% names int %}", "'int' is not a name in CUDA C"),
        ("{% names %}", "expected token 'name'"),
        ("{% index M = A.inv('p')[0] %}", "M is a size of a layout"),
        ("{% names p %}{% index p = p + 1 %}", "p is made of another p"),
        ("{% names i %}{% index i, j = S.inv('i + 1') %}", "i is made of another i"),
        ("{{ S.dims }}", r"S.dims has 2 values: write S.dims\[0\]"),
        ("{{ S.inv('p') }}", r"S.inv\(p\) has 2 values"),
        ("{{ S[None, 0] }}", "line 1: None is not an index"),
        ("{{ S['}{', 0] }}", "'}{' is not an expression"),
        ("{{ S[0:1, 0] }}", "Jinja takes no slice beside another index"),
        ("{{ L['i'] }}", "needs a constant table, which no kernel's text holds"),
    ],
)
@pytest.mark.quick(4)
def test_what_cannot_be_rendered_is_one_line_with_its_place(text, said):
    with pytest.raises(TemplateError, match=said) as caught:
        line(text, both=lambda i: (i, i))
    assert "\n" not in str(caught.value) and str(caught.value).startswith("<template>")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"where": {"t * 4": (0, 4)}},
            "where: the template gives no layout the text 't \\* 4'. Did you",
        ),
        ({"ranges": {"q": (0, 4)}}, "ranges: q is not a declared name"),
        ({"assume": "q < 4"}, "assume 'q < 4': q is not a declared name"),
    ],
)
def test_what_is_said_of_nothing_is_an_error(given, said):
    with pytest.raises(TemplateError, match=said):
        line("{{ S['t*4', 0] }}", **given)


def test_a_declared_type_holds_where_statements_name_none():
    text = "{% names p, a: int32, b %}\n{% index a, b = W.inv(p) %}"
    with pytest.raises(TemplateError, match="a is declared int32, and its value may need int64"):
        line(text, "fortran", W=GroupBy([M, N]))


def test_a_sandboxed_template_reaches_nothing_else():
    with pytest.raises(LegoError, match=r"unsafe|undefined|declared"):
        render("{{ ''.__class__.__mro__[1].__subclasses__() }}", sandboxed=True)
    for text in ("i.kernel.printer", "i.make", "_kernel.types", "S._layout", "[].append(1)"):
        with pytest.raises(LegoError, match=r"unsafe|undefined"):
            render("{% names i %}{{ " + text + " }}", sandboxed=True, S=SMALL)


def test_the_command_line(tmp_path):
    (tmp_path / "layouts.py").write_text(
        "from lego_emit import Col, GroupBy\nS = GroupBy([4, 8]).OrderBy(Col(4, 8))\n"
    )
    (tmp_path / "k.j2").write_text("{% names i %}\ns[{{ S[i, 2] }}];\n")
    given = [str(tmp_path / "k.j2"), "--layouts", str(tmp_path / "layouts.py")]
    done = CliRunner().invoke(main, ["render", *given, "-t", "cpp"])
    assert done.exit_code == 0 and done.output == "s[i + 8];\n"
    done = CliRunner().invoke(main, ["render", *given, "-o", str(tmp_path / "k.cu")])
    assert (tmp_path / "k.cu").read_text() == "s[i + 8];\n"
    for name in ("k.j2", "layouts.py"):
        done = CliRunner().invoke(main, ["render", *given, "-o", str(tmp_path / name)])
        assert done.exit_code == 2 and "the kernel is made of that file" in done.output
    (tmp_path / "k.j2").write_text("{% names i %}{% assume 'i % 8 == 0' %}s[{{ S[i // 8, 2] }}]\n")
    done = CliRunner().invoke(main, ["render", *given, "-t", "cpp"])
    assert done.stderr == "assumes i % 8 == 0\nassumes 0 <= i // 8 < 4\n", done.stderr
    (tmp_path / "k.j2").write_text(
        "{% for k in range(count) %}{{ kind }} {{ S[k, 2] }};{% endfor %}\n"
    )
    more = ["--given", "count=0x2", "--given", "kind=a, b"]
    done = CliRunner().invoke(main, ["render", *given, *more])
    assert done.output == "a, b 8;a, b 9;"
    for wrong, said in [
        (["--given", "2=3"], "'2=3' is not of the form T=64 or kind=star"),
        ([*more, "--given", "count=3"], "count is given twice"),
        (["--given", "S=3"], "S is given, and"),
    ]:
        done = CliRunner().invoke(main, ["render", *given, *wrong])
        assert done.exit_code == 2 and said in done.output, done.output
    (tmp_path / "k.j2").write_text("\n{{ T[0, 0] }}")
    done = CliRunner().invoke(main, ["render", *given])
    assert done.exit_code == 2 and "k.j2, line 2: T is not a declared name" in done.output


def test_in_bounds_of_the_index_of_a_position_asks_for_the_position():
    """As where more threads run than there are elements."""
    start = "{% names t, u %}{% index i, j = L.inv(t) %}"
    asked = start + "if ({{ L.in_bounds(i, j) }})"

    def last(text, target="cuda", **options):
        return render(text, target, L=Row(*symbols("M N")), **options).splitlines()[-1]

    assert last(asked) == "if (t >= 0 && t < M * N)"
    assert last(asked, "triton") == "if ((t >= 0) & (t < M * N))"
    assert last(asked, assume=["0 <= t", "t < M*N"]) == "if (true)"
    assert last(start + "{% index k = i + 1 %}if ({{ L.in_bounds(k, j) }})") == (
        "if (t >= 0 && t < M * N && k < M)"
    )
    for between in ("{% names t %}", "{% for k in [1] %}{% index j, i = L.inv(u) %}{% endfor %}"):
        with pytest.raises(TemplateError, match="is assigned again: ask before that"):
            last(asked.replace("if", f"{between}if"))
    with pytest.raises(TemplateError, match="within in_bounds: give it a name before"):
        last("{% names t %}{{ L.in_bounds(L.inv(t)[0], 0) }}")
