"""Templates: scopes, types of names, brackets, line ends, and texts of the kernel's own language."""

import pytest

from lego_emit import Col, GroupBy, Linear, render, symbols
from lego_emit.errors import LegoError, TemplateError

SMALL = GroupBy([4, 8]).OrderBy(Col(4, 8))
INNER = "{% index i = S.inv(p)[0] %}"  # below 4


def line(text, target="cuda", **given):
    return str(render(text, target, **{"S": SMALL, **given}))


# -- scopes ------------------------------------------------------------------------------------


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
    assert line(text) == f"[{wanted}]"


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
    ],
)
def test_a_text_is_one_expression(target, text, said):
    with pytest.raises(TemplateError, match=f"<template>, line 1: .*{said}"):
        line(text, target)


@pytest.mark.parametrize(
    ("target", "text", "wanted"),
    [
        ("cuda", "f(a, b)", "static_cast<int>(f(a, b))"),
        ("cuda", "f<1, 2>(x)", "static_cast<int>(f<1, 2>(x))"),
        ("cuda", "x[',']", "static_cast<int>(x[','])"),
        ("python", "x // 2", "x // 2"),
    ],
)
def test_texts_that_are_one(target, text, wanted):
    assert line(f'[{{{{ S["{text}", 0] }}}}]', target) == f"[{wanted}]"


@pytest.mark.parametrize(
    ("target", "wanted"),
    [("rust", "true false"), ("c", "1 0"), ("fortran", ".true. .false."), ("triton", "True False")],
)
def test_conditions_that_are_known(target, wanted):
    assert line("{{ S.in_bounds(0, 7) }} {{ S.in_bounds(0, 8) }}", target) == wanted


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
