"""Templates: scopes, types of names, brackets, line ends, and texts of the kernel's own language."""

import re
import warnings

import pytest

from lego_emit import (
    Col,
    GenP,
    GroupBy,
    LegoWarning,
    Linear,
    RegP,
    Row,
    Strided,
    TileBy,
    render,
    symbols,
)
from lego_emit.emit import registry
from lego_emit.errors import LegoError, TemplateError

SMALL = GroupBy([4, 8]).OrderBy(Col(4, 8))
INNER = "{% index i = S.inv(p)[0] %}"  # below 4


def line(text, target="cuda", **given):
    return str(render(text, target, **{"S": SMALL, **given}))


# -- scopes ------------------------------------------------------------------------------------

LEAKS = """\
{% names i: int32 %}
void first(int i) { // }
  if (i > 0) { '}'; "}"; /* } */
#if A
    if (i > 1) {
#else
    if (i > 2) {
#endif
      {% index t = i % 2 %}
      x = {{ t }};
  } }
AGAIN  y = {{ t // 2 }};
}
"""


@pytest.mark.parametrize("target", ["cuda", "cpp", "rust", "javascript", "wgsl", "glsl"])
def test_a_name_keeps_its_range_in_its_block_alone(target):
    """Behind it a name of the kernel's own may be called so, and is not below 2."""
    with pytest.raises(TemplateError, match="line 12: t was defined in a block that has ended"):
        line(LEAKS.replace("AGAIN", ""), target)
    assert "y = 0;" not in line(LEAKS.replace("AGAIN", "{% names t: int32 %}"), target)
    assert "y = 0;" in line(LEAKS.replace("} }\nAGAIN", ""), target)


@pytest.mark.parametrize(
    ("target", "begins", "ends"),
    [
        ("triton", ["@triton.jit\ndef first(i):", "def second(t):"], ""),
        ("numpy", ["def first(i):", "async def second(t):"], ""),
        ("julia", ["function first(i)", "@inline function second(t)"], "end"),
        ("julia", ["function first(i)", "second(t) = begin"], "end"),
        (
            "fortran",
            ["Subroutine first(i)", "pure integer(int32) function second(t)"],
            "end FUNCTION x",
        ),
    ],
)
def test_a_name_keeps_its_range_in_its_function_alone(target, begins, ends):
    """In a language without braces; an inner function knows it, and what is defined before all functions stays."""
    kind = "" if target in ("triton", "numpy") else ": int32"
    head = (
        f"{{% names i{kind} %}}\n{{% index u = i % 2 %}}\n{begins[0]}\n  {{% index t = i % 2 %}}\n"
    )
    inner, after = (
        f"{space}{begins[1]}\n{space}  y = {{{{ t // 2 + u // 2 }}}}\n" for space in ("  ", "")
    )
    again = f"{{% names t{kind} %}}\n"
    with pytest.raises(TemplateError, match="t was defined in a function that has ended"):
        line(f"{head}{ends}\n{after}{ends}\n", target)
    known = re.compile(r"y = 0(_int32)?$", re.M)
    assert known.search(line(f"{head}  if i > 0\n  end\n{inner}", target))
    assert not known.search(line(f"{head}{ends}\n{again}{after}{ends}\n", target))


@pytest.mark.parametrize("use", ["{{ i // 4 }}", "{{ S['i', 0] }}", "{% assume 'i < 9' %}"])
@pytest.mark.parametrize(
    "scope",
    [
        "{% for k in range(2) %}{}{% endfor %}",
        "{% macro f() %}{}{% endmacro %}{{ f() }}",
        "{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}{}{% endcall %}",
        "{% with %}{}{% endwith %}",
        "{% set text %}{}{% endset %}",
        "{% filter upper %}{}{% endfilter %}",
        "{% block one %}{}{% endblock %}",
        "{% for k in [] %}{% else %}{}{% endfor %}",
    ],
)
@pytest.mark.quick(4)
def test_what_an_inner_scope_declares_ends_with_it(scope, use):
    text = f"{scope.replace('{}', INNER)}\n"
    with pytest.raises(
        TemplateError, match=r"line 2: .*(i was declared again, or|i is not a decl)"
    ):
        line("{% names p %}" + text + use)
    assert line("{% names p %}" + text + "{% names i %}[{{ i // 4 }}]").endswith("[i >> 2]")
    assert line("{% names i, p %}" + text + "[{{ i // 4 }}]").endswith("[i >> 2]"), "no i < 4"


@pytest.mark.parametrize(
    ("outer", "inner", "wanted"),
    [
        ("i", "i: int64", "static_cast<long long>(i) + 8"),
        ("i: int64", "i", "static_cast<long long>(i) + 8"),
        ("i: int64", "i: int64", "i + 8"),
    ],
)
def test_after_an_inner_scope_a_name_is_of_the_narrower_type(outer, inner, wanted):
    text = f"{{% names {outer} %}}{{% with %}}{{% names {inner} %}}{{% endwith %}}[{{{{ i + 8 }}}}]"
    assert line(text, index_type="auto") == f"[{wanted}]"


def test_after_an_inner_scope_a_name_of_two_signs_is_refused():
    with pytest.raises(TemplateError, match="i was declared again"):
        line("{% names i %}{% with %}{% names i: uint32 %}{% endwith %}{{ i }}")


@pytest.mark.parametrize(
    ("before", "value", "name"),
    [
        ("{% index i = 2 * q %}", "i", "q"),
        ("{% index i = 2 * q %}", "i", "p"),
        ("{% names i %}{% index j = 2 * i %}", "j", "i"),
    ],
)
def test_what_a_name_is_made_of_is_known_after_an_inner_scope(before, value, name):
    text = f"{{% names p, q %}}{before}{{% with %}}{{% index i = p %}}{{% endwith %}}"
    with pytest.raises(TemplateError, match=f"{value} is made of {name}"):
        line(f"{text}{{{{ ({value} + q).step({name}=1) }}}}")


@pytest.mark.parametrize("scope", ["for k in [1]", "with", "block one"])
def test_what_an_inner_scope_assumes_ends_with_it(scope):
    end = f"end{scope.split()[0]}"
    inner = f"{{% {scope} %}}{{% assume '0 <= i', 'i < 4' %}}{{{{ i // 4 }}}};{{% {end} %}}"
    text = "{% names i %}{% assume 'i < 64', 'i >= 0' %}" + inner
    assert line(text + "[{{ i // 4 }}][{{ i // 64 }}]") == "0;[i >> 2][0]"


def test_each_turn_of_a_loop_declares_its_own():
    turn = INNER + "{{ S['i', k] }};{{ i // 4 }}\n"
    found = line("{% names i, p %}{% for k in range(2) %}" + turn + "{% endfor %}")
    assert found == "const int i = p & 3;\ni;0\nconst int i = p & 3;\ni + 4;0\n"


@pytest.mark.parametrize("made", ["i // 4", "S[i, 0]", "S['i + 1', 0]", "S[0, i].step(i=1)"])
def test_a_value_of_a_name_that_was_declared_again_is_refused(made):
    for use in ("{{ old }}", "{% index a = old - 1 %}"):
        text = f"{{% names i, p %}}{{% set old = {made} %}}{INNER}{use}"
        with pytest.raises(TemplateError, match="i was declared again"):
            line(text)


@pytest.mark.parametrize("sandboxed", [False, True])
def test_scopes_in_other_templates(tmp_path, sandboxed):
    (tmp_path / "base.j2").write_text("{% names i %}{% block one %}{% endblock %}{{ i // 4 }};")
    (tmp_path / "part.j2").write_text(
        "{% macro at(x) %}{% index i = x % 4 %}{{ i // 4 }};{% endmacro %}"
    )
    text = (
        "{% extends 'base.j2' %}{% import 'part.j2' as part with context %}"
        "{% block one %}{% names p %}{% names i %}{{ part.at(p) }}{% endblock %}"
    )
    (tmp_path / "k.cu.j2").write_text(text)
    found = render(tmp_path / "k.cu.j2", sandboxed=sandboxed)
    assert found.endswith(" = p & 3;\n0;i >> 2;")


def test_a_condition_is_no_scope():
    text = "{% names p %}{% if true %}" + INNER + "{% endif %}{{ i // 4 }};"
    assert line(text).endswith("0;")


# -- types -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "index_type", "given", "wanted"),
    [
        ("cuda", "auto", "int64", "const long long i = p & 3;"),
        ("cuda", "auto", "uint32", "const unsigned i = static_cast<unsigned>(p & 3);"),
        ("c", "int64", "int32", "const int32_t i = p & 3;"),
        ("rust", "auto", "int64", "let i: i64 = (p & 3) as i64;"),
        ("rust", "int64", "int32", "let i: i32 = p & 3;"),
        ("wgsl", "auto", "uint32", "let i: u32 = u32(p & 3);"),
        ("glsl", "auto", "uint32", "uint i = uint(p & 3);"),
        ("fortran", "int64", "int32", "i = iand(p, 3_int32)"),
        ("triton", "int64", "int32", "i = p & 3"),
        ("triton", "int32", "int64", "i = tl.cast(p & 3, tl.int64)"),
    ],
)
def test_a_statement_gives_a_name_the_type_that_it_was_declared(target, index_type, given, wanted):
    found = line(f"{{% names p, i: {given} %}}{INNER}", target, index_type=index_type)
    assert found.strip() == wanted


@pytest.mark.parametrize("target", ["cuda", "rust", "fortran"])
def test_a_type_that_may_not_hold_the_value_is_refused(target):
    with pytest.raises(TemplateError, match="i is declared int32, and its value may need int64"):
        line("{% names p: int64, i: int32 %}{% index i = p + 1 %}", target, index_type="int64")


def test_a_name_of_triton_has_the_type_of_its_value():
    text = "{% names p, n %}{% index a = p %}\n{% index c = 5 + 0 * p %}\n[{{ a * n }}]"
    assert line(text, "triton", index_type="int64") == (
        "a = tl.cast(p, tl.int64)\nc = tl.cast(5, tl.int64)\n[a * n]"
    )


# -- text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Tile<1, {{ i // 8 }}, 3> x;", "Tile<1, (i >> 3), 3> x;"),
        ("Tile<{{ i // 8 }}>()", "Tile<(i >> 3)>()"),
        ("Tile<f(1), A<2>, {{ i // 8 }}, 3>()", "Tile<f(1), A<2>, (i >> 3), 3>()"),
        ("f(a < b, {{ i // 8 }}, 3)", "f(a < b, i >> 3, 3)"),
        ("Tile<1, {{ i + 8 }}, 3> x;", "Tile<1, i + 8, 3> x;"),
    ],
)
def test_brackets_among_a_template_s_arguments(text, wanted):
    assert line("{% names i %}{% assume 'i < 99', 'i > -99' %}" + text) == wanted


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_the_template_s(end, tmp_path):
    text = "{% names i, p %}\nx;\n  {% index i, j = S.inv(p) %}\ny;\n".replace("\n", end)
    wanted = f"x;{end}  const int i = p & 3;{end}  const int j = p >> 2;{end}y;{end}"
    (tmp_path / "k.cu.j2").write_bytes(text.encode())
    assert line(text) == wanted == render(tmp_path / "k.cu.j2", S=SMALL)


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("cuda", "{{ S.inv('i, j')[0] }}", "'i, j' is more than one expression"),
        ("cuda", "{{ S['i; j', 0] }}", "'i; j' is more than one expression"),
        ("cuda", "{{ S['i // x', 0] }}", "'i // x' has a comment, //"),
        ("rust", "{{ S['i /* x', 0] }}", r"'i /\* x' has a comment"),
        ("python", "{{ S['i # x', 0] }}", "'i # x' has a comment, #"),
        ("fortran", "{{ S['i ! x', 0] }}", "'i ! x' has a comment, !"),
        ("cuda", "{{ S['(i', 0] }}", "is not an expression"),
        ("cuda", "{{ S['i) + (i', 0] }}", "is not an expression"),
        *[
            (t, "{{ S['i\\n + 1', 0] }}", "has a line end")
            for t in registry.own_targets()
            if t != "mlir"
        ],
        ("javascript", "{{ S['i\u2028 + 1', 0] }}", "has a line end"),
        ("cuda", "{{ S.inv('i\\r+ 1') }}", "has a line end"),
        ("triton", "{{ S['0, :i\\n'] }}{{ S['i +\\n 1, :'] }}", "has a line end"),
        ("cuda", "{{ S['i\u202e', 0] }}", r"has the character U\+202E"),
        ("python", r"{{ S['i \\ + 1', 0] }}", "has a backslash"),
        ("fortran", "{{ S['i & + 1', 0] }}", "goes on over a line end, &"),
        ("cpp", "{{ S[\"1'000 / '//\", 0] }}", "has a comment, //"),
        ("julia", '{{ S["i\'", 0] }}', "has a quotation mark without its other half"),
        ("cuda", "{{ S['i = 3', 0] }}", "assigns a value"),
        ("cuda", "{{ S['i >>= 1', 0] }}", "assigns a value"),
        ("c", "{{ S['(i++)', 0] }}", "assigns a value"),
        ("python", "{{ S['(i := 3)', 0] }}", "assigns a value"),
        ("python", "{{ S['return i', 0] }}", "is a statement, return"),
        ("python", "{{ S['i<i, i>(i)', 0] }}", "is more than one expression"),
        ("cuda", "{{ S['i < i, i > i', 0] }}", "is more than one expression"),
    ],
)
def test_a_text_is_one_expression(target, text, said):
    with pytest.raises(TemplateError, match=f"<template>, line 1: .*{said}"):
        line("{% names i %}" + text, target)


@pytest.mark.parametrize(
    ("target", "text", "wanted"),
    [
        ("cuda", "f(a, b)", "static_cast<int>(f(a, b))"),
        ("cuda", "f<1, 2>(x)", "static_cast<int>(f<1, 2>(x))"),
        ("cuda", "x[',']", "static_cast<int>(x[','])"),
        ("cuda", "1'000 + x", "static_cast<int>(1'000 + x)"),
        ("cuda", "x >= 2 && x != 3", "static_cast<int>(x >= 2 && x != 3)"),
        ("cuda", "x |\t1", "static_cast<int>(x |\t1)"),
        ("cuda", "x +\t1", "x + 1"),
        ("cuda", "x + 010", "static_cast<int>(x + 010)"),
        ("rust", "f::<1, 2>(x)", "(f::<1, 2>(x)) as i32"),
        ("python", "x // 2", "x // 2"),
        ("python", "f(a, b=x)", "f(a, b=x)"),
        ("fortran", "merge(a, b, a /= b)", "int(merge(a, b, a /= b), int32)"),
    ],
)
def test_texts_that_are_one(target, text, wanted):
    assert line(f'[{{{{ S["{text}", 0] }}}}]', target, names="a b f x") == f"[{wanted}]"


def test_indices_in_one_text_are_parted_outside_of_brackets():
    given = {"T": GroupBy([2, 4, 8]), "names": "f x y"}
    assert line('{{ T["f(x, (y)), x, 0"] }}', **given) == (
        "(32 * static_cast<int>(f(x, (y))) + 8 * x)"
    )
    assert line("{{ T[\"f<1, 2>(x), y[','], 0\"] }}", **given).count("static_cast<int>") == 2


# -- names in texts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "before", "text"),
    [
        ("cuda", "void f(int kx) {", "kk"),
        ("cuda", "void f(int kx) {", "kx + kk"),
        ("cuda", "const int kx = 2 * kk;", "kk"),
        ("cuda", "x[kk] = 3;", "kk"),
        ("cuda", "x.kk = 3;", "kk"),
        ("cuda", "// int kk\n/* int kk */", "kk"),
        ("cuda", 'f("int kk");', "kk"),
        ("cuda", "", "gridDims.x"),
        ("opencl", "", "get_globl_id(0)"),
        ("glsl", "", "gl_GlobalInvocationId.x"),
        ("triton", "kx = tl.program_id(0)", "kk"),
        ("python", "def f(kx):  # kk", "kx + kk"),
        ("numpy", "", "np.arange(kk)"),
        ("fortran", "integer :: kx ! kk", "KX + kk"),
        ("julia", "kx = 3 # kk", "kk"),
        ("rust", "let kx = 3;", "kk"),
        ("javascript", "const kx = 3;", "x.map((q) => q + kk)"),
        ("javascript", "const {kx, kk: ky} = x;", "kk"),
        ("javascript", "const {kx, kk: {ky} = 3} = x;", "ky + kk"),
        ("javascript", "const y = {\n  kx: [3, x], // of x\n  kk : 4,\n};", "kk"),
        ("javascript", "function f(kx, {kk: [ky]}) {", "kk"),
        ("rust", "let P { kx, kk: ky } = x;", "kk"),
        ("rust", "struct P { kx: usize, kk: usize }", "kk"),
        ("python", "y = {kx: 3, kk: 4}", "kk"),
    ],
)
@pytest.mark.quick(8)
def test_a_name_that_nobody_declared_is_refused(target, before, text):
    name = re.findall(r"kk|\w+s(?=\.)|get\w+|gl_\w+", text)[0]
    said = f"line {before.count(chr(10)) + 2}: {name} in the text .* names {name} %"
    for use in ("{{ S[index, 0] }}", "{% index i = S[index, 0] %}", "{{ S.alignment(index, 0) }}"):
        whole = "{% names x %}" + before + "\n" + use
        with pytest.raises(TemplateError, match=said):
            line(whole, target, index=text)
        assert line(f"{{% names {name} %}}{whole}", target, index=text)


def test_what_a_name_may_be_is_told():
    for text, meant in [("kk", "kx"), ("gridDims.x", "gridDim"), ("threadIdk.x", "threadIdx")]:
        with pytest.raises(TemplateError, match=f"Did you mean '{meant}'"):
            line("void f(int kx) {\n{{ S[index, 0] }}", index=text)


def test_a_name_is_declared_before_and_not_after():
    with pytest.raises(TemplateError, match=r"line 2: k in the text 'k \+ 1' is neither"):
        line("x;\n{{ S['k + 1', 0] }};\nint k = 3;")
    macro = "{% macro at() %}{{ S['k + 1', 0] }}{% endmacro %}\n"
    assert line(macro + "int k = 3; {{ at() }};").endswith("static_cast<int>(k + 1);")
    with pytest.raises(TemplateError, match="line 1: k in the text"):
        line(macro + "{{ at() }}; int k = 3;")


@pytest.mark.parametrize(
    ("target", "before", "texts"),
    [
        ("cuda", "template <int R, class T> void f(const T* a, int b, std::vector<int> c) {", "R b a[b]"),
        ("cuda", "auto [a, b] = f(); int c, d; c += 1;\n#define E(x) x", "a b c+d E(3)"),
        ("cuda", "using std::min; struct P { int x; }; P p;", "min(p.x,3)"),
        ("cuda", "", "threadIdx.x+blockIdx.x*blockDim.x __popc(3) std::size_t(3) 0xFFu&1 sizeof(int)"),
        ("hip", "", "hipThreadIdx_x threadIdx.x"),
        ("opencl", "", "get_global_id(0) get_local_size(1)"),
        ("glsl", "", "gl_GlobalInvocationID.x int(gl_LocalInvocationIndex)"),
        ("metal", "kernel void f(uint2 id [[thread_position_in_grid]]) {", "id.x metal::min(3,4)"),
        ("wgsl", "fn f(@builtin(global_invocation_id) id: vec3<u32>) {", "id.x i32(id.y)"),
        ("c", "static void f(int n, int a[n]) {", "(int)a[n]"),
        ("rust", "fn f<const R: usize>(a: &[usize], n: i32) { let (x, mut y) = g(); for i in 0..n {",
         "R a[R] n x+y i a.iter().map(|q|q+1).sum::<usize>() usize::MAX"),
        ("python", "import math, os as o\nfrom p import q\ndef f(a, *b, c: int = 3):\n"
         "    for i, j in a:\n        with a as z, (w := 3):", "math.floor(3) o q(a) b c i+j z w len(a)"),
        ("python", "y = 'a # b'; n = 3\nmatch y:\n  case c:", "n c"),
        ("triton", "def f(x, B: tl.constexpr):\n    p = q = tl.program_id(0)", "x B p+q tl.num_programs(0)"),
        ("numpy", "", "np.arange(3) numpy.arange(3)"),
        ("fortran", "subroutine f(a, n)\ninteger, intent(in) :: n, a(n)\ndo i = 1, n", "A(I) mod(n,3) a%b"),
        ("julia", "function f(a, n::Int; k=1)\n  for i in 1:n, j ∈ 2:3\n  x, y = g()",
         "a[n] k i+j x+y threadIdx().x length(a)"),
        ("javascript", "function f(a, {b, c}) {\n  const [d, e] = a; let g;", "a[b] c+d e+g Math.min(b,c)"),
        ("javascript", "const {a, x: b, y: {c, z: [d]}, w: e = {v: 3}} = f; function g({u: h}) {", "a b c d e h"),
        ("javascript", "function f(a: number, b: number) { let c = 1, d: number;", "a b c+d"),
        ("rust", "let P { a, x: b, y: Q { z: c } } = e; { let f = |g: usize, h: usize| g + h;", "a b c f g h"),
        ("python", "f = {0: lambda a, b: a, (c := 1): {(d := 2), e := 3}}", "a b c d e"),
    ],
)  # fmt: skip
@pytest.mark.quick(8)
def test_names_that_a_kernel_declares_or_its_language_has(target, before, texts):
    for text in texts.split():
        assert text in line(f"{before}\n{{{{ S[index, 0] }}}}", target, index=text)


def test_a_comprehension_declares_behind():
    assert line("y = [{{ S['k', 0] }} for k in range(4)]", "python").startswith("y = [")
    with pytest.raises(TemplateError, match="line 1: k in the text"):
        line("y = {{ S['k', 0] }}\nz = [k for k in y]", "python")


def test_what_is_given_is_no_name_of_the_kernel():
    with pytest.raises(TemplateError, match=r"line 1: B is given to the .*; write B without quot"):
        line("{{ S['i + B', 0] }}", B=8, names="i")


def test_a_name_of_which_where_speaks_is_known():
    assert line("[{{ S['lane', 0] }}]", where={"lane": (0, 4)}).endswith("(lane)]")


@pytest.mark.parametrize(
    "tag", ["{% names A %}", "{% index A = S[0, 1] * 1 %}", "{% names A: int64, b %}"]
)
def test_no_name_hides_what_is_given(tag):
    for given in (SMALL, lambda i: i, 32):
        with pytest.raises(TemplateError, match=r"line 2: A is given, .* would hide it"):
            line(f"\n{tag}", A=given)
    assert line("{% names M %}{{ M }}", M=symbols("M")) == "M"


@pytest.mark.parametrize(
    ("target", "wanted"),
    [("rust", "true false"), ("c", "1 0"), ("fortran", ".true. .false."), ("triton", "True False")],
)
def test_conditions_that_are_known(target, wanted):
    assert line("{{ S.in_bounds(0, 7) }} {{ S.in_bounds(0, 8) }}", target) == wanted


# -- storage -----------------------------------------------------------------------------------

N = symbols("N")
PADDED = GroupBy([4, 8]).OrderBy(Strided((4, 8), (9, 1)))
DECLARED = [
    ("cuda", "__shared__ float s[{{ A.size }}];"),
    ("cuda", "alignas(16) __shared__ __half s[2 * {{ A.size }}];"),
    ("cuda", "float x[3], *s[2][{{ A.size + 1 }}] = {};"),
    ("cuda", "{% set n = A.size %}float s[{{ n * 2 }}];"),
    ("cuda", "x = (float*)malloc({{ A.size }} * sizeof(float));"),
    ("cuda", "k<<<1, 2, {{ 4 * A.size }}>>>(x);"),
    ("c", "static double a[{{ A.size }}];"),
    ("cpp", "std::array<float, {{ A.size }}> a;"),
    ("cpp", "std::vector<float> a({{ A.size }});"),
    ("opencl", "__local float a[{{ A.size }}];"),
    ("metal", "threadgroup float a[{{ A.size }}];"),
    ("glsl", "shared float a[{{ A.size }}];"),
    ("wgsl", "var<workgroup> a: array<f32, {{ A.size }}>;"),
    ("rust", "let a = [0f32; {{ A.size }}];"),
    ("rust", "let a = vec![0; {{ A.size }}];"),
    ("fortran", "real :: a({{ A.size }})"),
    ("fortran", "allocate(a({{ A.size }}))"),
    ("python", "a = [0] * {{ A.size }}"),
    ("numpy", "a = np.empty({{ A.size }})"),
    ("triton", "a = torch.zeros(({{ A.size }},))"),
    ("julia", "a = Vector{Int}(undef, {{ A.size }})"),
    ("javascript", "const a = new Float32Array({{ A.size }});"),
]


def told(text, target, layout):
    """The warnings of a rendering."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        render(text, target, A=layout)
    assert all(one.category is LegoWarning and one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


@pytest.mark.parametrize(("target", "text"), DECLARED)
@pytest.mark.quick(8)
def test_storage_of_a_layout_with_holes_has_its_physical_size(target, text):
    for layout in (PADDED, Strided((N, 8), (9, 1))):
        assert told(f"\n{text}", target, layout) == [
            "<template>, line 2: A.size counts indices, and A has more positions: where its storage is "
            "declared write A.physical_size"
        ]
    for layout in (SMALL, Col(N, 8), GroupBy([8, 8]).OrderBy(RegP([2, 4, 8], [1, 0, 2]))):
        assert not told(text, target, layout)
    assert not told(text.replace("size", "physical_size"), target, PADDED)


@pytest.mark.parametrize(
    "text",
    ["for (int i = 0; i < {{ A.size }}; ++i)", "x = s[{{ A.size - 1 }}];", "return s[{{ A.size - 1 }}];"],
)  # fmt: skip
def test_a_size_elsewhere_counts_indices(text):
    assert not told(text, "cuda", PADDED)


# -- layouts of one result ---------------------------------------------------------------------


def test_a_layout_of_one_named_result_gives_a_value():
    layout = Linear({"i": [5, 2], "j": [1, 4]}, out={"o": 8})
    text = "{% names i, j %}{{ A[i, j] }};{{ A.alignment(i, 0) }};{{ A.alignment(0, j) }}\n{% index a = A[j, i] %}"
    first, second = line(text, "python", A=layout).splitlines()
    expression, *numbers = first.split(";")
    assert numbers == ["1", "1"]
    for i in range(4):
        for j in range(4):
            scope = {"i": i, "j": j}
            exec(second, scope)
            assert eval(expression, scope) == layout.apply(i, j)
            assert scope["a"] == layout.apply(j, i)


# -- messages ----------------------------------------------------------------------------------

DEEP = "(" * 400 + "1" + ")" * 400


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("{% names i %}{{ S(i, 1) }}", {}, r"line 1: S is a layout, and no function; write S\[\.\.\]"),
        ("{% names range %}{% for k in range(2) %}{% endfor %}", {}, "range is an index expression"),
        ("", {"ranges": [1]}, r"ranges is \[1\]; write a dict"),
        ("", {"where": [1]}, r"where is \[1\]; write a dict"),
        ("", {"where": {1: (0, 2)}}, "where is {1: .*; write a dict"),
        ("{{ S['t', 0] }}", {"where": {"t": 5}}, r"where: the range of \(t\) is 5; write two bounds"),
        ("", {"names": 5}, "names is 5; write text"),
        ("", {"names": ["i", 3]}, r"names is \['i', 3\]; write text"),
        ("", {"assume": 5}, "5 is not an assumption"),
        (None, {}, "None is not a template"),
        ("", {"index_type": "int7"}, "no index type 'int7'.*Did you mean"),
        ("", {"index_type": 3}, "no index type 3"),
        ("\n{{ " + DEEP + " }}", {}, "^<template>, line 2: it nests too deep"),
        ("\n" + "{% if 1 %}" * 500 + "{% endif %}" * 500, {}, "line 2: it nests too deep"),
        ("{% for k in [1] %}" * 25 + "{% endfor %}" * 25, {}, "it nests too deep"),
        ("{% macro f() %}\n{{ f() }}{% endmacro %}{{ f() }}", {}, "line [12]: it nests too deep"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(text, given, said):
    with pytest.raises(LegoError, match=said) as caught:
        line(text, **given)
    assert "\n" not in str(caught.value)


def test_what_is_said_later_of_a_name_that_a_function_brings_is_known():
    def f(i):
        return (i + symbols("Z Y")[0]) % 5

    text = "{% names i %}[{{ f(i) }}]{% with %}{% assume 'Z == 5' %}[{{ f(i) }}]{% endwith %}[{{ f(i) }}]"
    assert line(text, "python", f=f) == "[(Z + i) % 5][i % 5][(Z + i) % 5]"


@pytest.mark.parametrize(
    "text, wanted",
    [
        ('A["010", i]', "16 * static_cast<std::int32_t>(010) + i"),
        ('A["010, i"]', "16 * static_cast<std::int32_t>(010) + i"),
        ('A["10", i]', "i + 160"),
        ('A["0", i]', "i"),
    ],
)
def test_a_text_is_a_number_only_where_all_languages_agree(text, wanted):
    found = render(f"{{{{ {text} }}}}", "cpp", names="i", A=Row(16, 16))
    assert found.strip("()") == wanted.strip("()")


@pytest.mark.parametrize("text", ["8 * i + k", "k + 8*(i)", "8*i - -k"])
def test_a_text_of_sums_and_products_knows_what_its_names_are(text):
    A = GroupBy([64, 64]).OrderBy(RegP([8, 8, 8, 8], [0, 2, 1, 3]))
    head = '{% names i, j, k %}{% assume "0 <= i < 8", "0 <= k < 8" %}'
    plain = render(f"{head}{{{{ A[8 * i + k, j] }}}}", A=A)
    for quoted in (f'A["{text}", j]', f'A["{text}, j"]'):
        made = render(f"{head}{{{{ {quoted} }}}}", A=A)
        assert made == plain and made.assumptions == plain.assumptions == ()
    with pytest.raises(TemplateError, match=r"i is made of|never in 0..63"):
        render(f"{head}{{{{ A['64 + i', j] }}}}", A=A)


@pytest.mark.parametrize("text", ["8 * i + 010", "i * y", "i ** 1", "8 * i + 1_0", "f(i)"])
def test_any_other_text_is_taken_as_it_stands(text):
    head = "{% names i, f %}"
    given = {"A": GroupBy([64]), "target": "cuda"}
    assert text in render(f"{head}int y = 0;\n{{{{ A['{text}'] }}}}", **given)


def test_sizes_that_are_numbers_count_beside_symbols():
    M, N = symbols("M N")
    C = TileBy([M // 8, N // 16], [8, 16]).OrderBy(Row(M, N))
    made = render("{% for k in range(C.dims[3] // 2) %}{{ C.dims[2] * k }} {% endfor %}", C=C)
    assert made == "0 8 16 24 32 40 48 56 " and made.assumptions == ()
    with pytest.raises(TemplateError, match="is known when the kernel runs"):
        render("{% if C.dims[0] == 3 %}{% endif %}", C=C)


def test_a_choice_is_not_made_again_within_its_own_branches():
    def position(i, j):
        line = i + j if i + j < 8 else 14 - (i + j)
        half = line * (line + 1) // 2
        return half + i if i + j < 8 else 63 - half - (7 - i)

    order = {position(i, j): (i, j) for i in range(8) for j in range(8)}
    assert len(order) == 64
    A = GroupBy([8, 8]).OrderBy(GenP([8, 8], position))
    made = render("{% names i, j %}{{ A[i, j] }}", "cpp", A=A)
    assert made.count("?") == 1
    python = re.sub(r"\((i \+ j <= 7) \? (.*) : (.*)\) \+ i", r"((\2 if \1 else \3) + i)", made)
    for i, j in order.values():
        assert eval(python, {}, {"i": i, "j": j}) == position(i, j), made
