"""How texts are spelled and broken into lines, on nodes and texts made by hand: brackets, operators, what
one more character does, lints. clang-format and rustfmt leave the broken lines as they stand here."""

import os
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import programs
import pytest
from programs import const, node, var

from lego_emit import GroupBy, Lookup, RegP, TileBy, generate
from lego_emit.emit import registry
from lego_emit.emit.arrays import _product, _quotient
from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.errors import TargetError
from lego_emit.ir.program import Program
from lego_emit.operations import OPS
from lego_emit.printers import rust, rust_layout, rust_lints
from lego_emit.printers.rust_layout import END, IF, LIST, PAIR, Expr
from lego_emit.table_lookup import Entries

A, B, C = var("a"), var("b"), var("c")
LONG = "first_" + "a" * 24, "second_" + "b" * 24, "third_" + "c" * 18


def spelled(target, result, index_type="int32"):
    """The text of a function's result."""
    printer = registry.printer(target)
    function = programs.function("f", {"result": result}, index_type, "abc")
    (view,) = printer.fitted_views(Program("unit", (function,), "a result"))
    return view.texts()[0].replace(BREAK, " ")


def ranged(hi, lo=0):
    return var("a", lo, hi)


# -- operators and brackets ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "index_type", "result", "text"),
    [
        ("cuda", "int32", node("int", node("lt", node("shl", A, const(1)), B)),
         "static_cast<int>(static_cast<int>(static_cast<unsigned>(a) << 1) < b)"),
        ("cuda", "int32", node("int", node("lt", B, node("shr", A, const(1)))),
         "static_cast<int>(b < a >> 1)"),
        ("javascript", "int32", node("neg", node("mul", A, B)), "0 - a * b"),
        ("javascript", "int32", node("neg", node("add", A, B)), "0 - (a + b)"),
        ("javascript", "int53", node("not", ranged(2**31 - 1, -(2**31))), "~a"),
        ("javascript", "int53", node("not", ranged(2**31)), "-1 - a"),
        ("javascript", "int53", node("isqrt", ranged(2**52 - 1)), "Math.floor(Math.sqrt(a))"),
        ("javascript", "int53", node("isqrt", ranged(2**52)), "isqrt(a)"),
        ("fortran", "int32", node("shl", A, node("add", B, C)), "shiftl(a, b + c)"),
        ("javascript", "int53", node("mul", var("a", 0, 7), var("b", 0, 7)), "a * b"),
        ("javascript", "int53", node("mul", var("a", -1, 7), var("b", 0, 7)), "a * b + 0"),
        ("fortran", "int64", node("shr", A, const(3)), "shifta(a, 3)"),
        ("fortran", "integer", node("int", node("lt", A, B)), "merge(1, 0, a < b)"),
        ("rust", "int32", node("and", A, const(9)), "a & 9"),
        ("rust", "int32", node("and", A, const(10)), "a & 0xa"),
        ("c", "int32", node("and", A, const(1000)), "a & 0x3e8"),
    ],
)  # fmt: skip
def test_an_operation(target, index_type, result, text):
    assert plainly(spelled(target, result, index_type)) == text


def plainly(text):
    """Without what says where Rust's lists and pairs begin and end."""
    return re.sub(r"[\x00-\x1f]", "", text)


def test_bits_beyond_32_are_no_numbers_in_javascript():
    for most, refused in ((2**32 - 1, False), (2**32, True)):
        bits = node("or", var("a", 0, most), var("b", 0, 1))
        with pytest.raises(TargetError, match="'or' takes 32 bits") if refused else nullcontext():
            spelled("javascript", bits, "int53")


def test_javascript_s_tables_are_as_narrow_as_their_entries():
    table = registry.printer("javascript").table
    for most, array in ((2**31 - 1, "Int32Array"), (2**31, "Float64Array")):
        assert array in table(Entries("t", (0, most)), "int53")


def test_names_that_a_language_has_for_itself():
    for target in ("c", "cpp", "metal"):
        legal = registry.printer(target).legal_name
        for name in ("int32_t", "uint64_t", "uint_fast16_t", "INT_LEAST8_MAX", "UINT32_C"):
            assert legal(name) == f"{name}_v"
    fortran = registry.printer("fortran").legal_name
    assert [fortran(name) for name in ("IF", "b")] == ["IF_v", "b"]
    julia = registry.printer("julia").legal_name
    assert [julia(name) for name in ("begin", "div", "b")] == ["begin_v", "div_v", "b"]


def test_cuda_s_greatest_values_are_the_types_own():
    most = registry.printer("cuda").notation.most
    names = {"int32": "INT_MAX", "uint32": "UINT_MAX", "int64": "LLONG_MAX", "uint64": "ULLONG_MAX"}
    assert {t: most[programs.INDEX_TYPES[t].most.bit_length()] for t in names} == names


# -- lines ---------------------------------------------------------------------------------------


def broken(target, text):
    return registry.printer(target).line(text.replace("|", BREAK), 2)


def test_a_choice_whose_other_part_is_long_is_broken_at_both_marks():
    a, b, _ = LONG
    assert broken("cuda", f"return {a}|< {b}|? one|: min({a},|{b});") == dedent(f"""\
        return {a} < {b}
              ? one
              : min({a}, {b});""")


def test_a_product_in_an_argument_stands_below_its_sum():
    a, b, c = LONG
    assert broken("cuda", f"return f({a},|{a}|+ {b}|* ({c}|+ {a}|+ {b}|+ {c}));") == dedent(f"""\
        return f(
              {a},
              {a}
                  + {b}
                      * ({c} + {a}
                         + {b} + {c}));""")


def test_julia_breaks_a_comparison_before_the_bits_that_it_compares():
    a, b, _ = LONG
    text = f"x = {a}|> {b}|& {a}|& 0x55"
    assert broken("julia", text) == f"x = {a} >\n      {b} & {a} & 0x55"


def test_a_long_name_stands_below_its_type_with_its_parameters_where_they_fit():
    head, name = registry.printer("cuda").head, "f" * 82
    start = f"__host__ __device__ int {name}"
    assert head(start, "int a") == f"__host__ __device__ int\n{name}(int a) noexcept {{"
    assert head(f"{start}f", "int a").endswith(f"\n{name}f(\n    int a) noexcept {{")


def test_fortran_fills_lines_up_to_their_end():
    words = ["w" * n for n in (40, 53, 30, 59, 50)]
    one, two, three, four, five = words
    made = registry.printer("fortran").line(" ".join(words), 4)
    assert made == f"{one} {two} &\n        {three} {four} &\n        {five}"
    assert {len(line) for line in f"    {made}".splitlines()[:2]} == {100}
    for more in range(40, 60):  # the second line and the third
        made = registry.printer("fortran").line(
            " ".join(["w" * 90, "v" * 40, "u" * more, "t" * 80]), 4
        )
        assert max(map(len, f"    {made}".splitlines())) <= 100


def test_a_count_in_a_comment_is_not_broken():
    unit = generate(lambda M, N: GroupBy([M, N])[:, :], "glsl", name="f", index_type="int32")
    assert "0 <= n < M * N. The" in unit.source


def call(name, *arguments):
    return f"{name}({LIST}{BREAK.join(arguments)}{END})"


def pair(left, operator, right):
    return f"{PAIR}{left}{BREAK}{operator}{BREAK}{right}{END}"


def choice(condition):
    return f"{IF}{condition}{BREAK}one{BREAK}two{END}"


def bound(text):
    return rust_layout.binding("let x =", rust_layout.parse(text), 4)


def test_rust_breaks_a_long_only_argument_that_is_a_call():
    a, b, _ = LONG
    assert bound(call("f", pair(a, "+", f"{b}bbbb"))) == f"let x = f({a} + {b}bbbb);"
    assert bound(call("f", call("g", a, b))) == dedent(f"""\
        let x = f(g(
                {a},
                {b},
            ));""")


def test_a_call_stands_beside_a_short_first_operand():
    a, b, c = "d" * 27, "f" * 38, "c" * 26
    operand = call("eee", a, b, c)
    lines = f"{a},\n        {b},\n        {c},"
    assert bound(pair("c", "|", operand)) == f"let x = c | eee(\n        {lines}\n    );"
    assert bound(pair("ccc", "|", operand)).startswith("let x = ccc\n        | eee(")


def test_three_operands_of_one_kind_are_one_chain():
    a, b, c = LONG
    chain = pair(pair("x", "&", a), "&", pair(b, "&", c))
    assert all(name in bound(chain) for name in LONG)


def test_rust_s_condition_may_fill_its_line():
    """The brace stands on a line of its own, then."""
    a, b = "d" * 30, "e" * 30
    filled = pair(pair(a, "&", b), "<", call("eeeeee", "dddd", "cc", "f"))
    head, brace, *_ = bound(choice(filled)).splitlines()
    assert (len(f"    {head}"), brace) == (100, "    {")


def test_rust_s_unused_parameters_are_one_tuple():
    printer = registry.printer("rust")
    for more, text in (
        (0, "let _ = ({}, {});"),
        (1, "let _ = (\n        {},\n        {},\n    );"),
    ):
        names = ["a" * 29, "b" * (29 + more)]  # 60 characters between brackets stand on one line
        function = programs.function("f", {"result": const(0)}, params=names)
        (view,) = printer.fitted_views(Program("unit", (function,), "a result"))
        assert printer.unused(view) == [text.format(*names)]


def test_rust_s_if_as_an_only_argument():
    """It keeps the line of the bracket where its head has no more than 60 characters."""
    a, b, c = LONG
    first, second = "a" * 25, "b" * 27
    assert bound(call("f", choice(pair(first, "<", second)))) == dedent(f"""\
        let x = f(if {first} < {second} {{
                one
            }} else {{
                two
            }});""")
    assert bound(call("f", choice(pair(first, "<", f"{second}b")))) == dedent(f"""\
        let x = f(
                if {first} < {second}b {{
                    one
                }} else {{
                    two
                }},
            );""")
    condition = pair(pair(a, "+", b), "<", pair(c, "+", a))
    assert f"f(\n        if {a} + {b}\n            < {c}" in bound(call("f", choice(condition)))


def test_rust_s_brace_stands_behind_a_condition_that_ends_in_a_bracket():
    condition = call("less", *LONG, "fourth", f"fifth_{'e' * 20}")
    assert "\n    ) {\n" in bound(choice(condition))
    condition = pair(pair(*LONG[:1], "+", LONG[1]), "<", pair(LONG[2], "+", LONG[0]))
    assert f"{LONG[0]}\n    {{\n        one\n" in bound(choice(condition))


def test_rust_s_struct_has_a_field_of_its_value_s_name_once():
    fields = [(name, Expr(name)) for name in ("first", "second_of_all")]
    lines = "R {\n        first,\n        second_of_all,\n        third: 3,\n    }"
    assert rust_layout.literal("R", [*fields, ("third", Expr("3"))], 4) == lines


# -- what stands beside the code -----------------------------------------------------------------


def test_a_function_without_a_summary_has_no_empty_line():
    function = programs.function("f", {"result": const(1)}, params="")
    printer = registry.printer("fortran")
    for summary, lines in (("", []), ("One.", ["One."])):
        view = FunctionView(printer, replace(function, summary=summary), "unit", "int32")
        assert [line for line in view.doxygen if not line.startswith("@")] == lines


def test_fortran_s_array_of_two_results_is_a_subroutine():
    def two(M, N):
        return {"a": GroupBy([M, N])[:, 0], "b": N}

    source = generate(two, "fortran").source
    assert "pure subroutine two_positions(M, N, a, b)\n" in source
    assert "call two(M, N, i, a(i), b(i))\n" in source


def test_typescript_has_its_types_in_the_signature_alone():
    unit = generate(lambda A: GroupBy([3, 4])[:, :] + A, "javascript", name="f")
    declared = unit.printer.declarations(unit.program)
    assert "function fPositions(A: number): Float64Array;" in declared
    assert "@returns" not in declared and "{number}" not in declared
    assert "@returns {Float64Array}" in unit.source


def test_rust_allows_more_than_seven_arguments():
    def seven(a, b, c, d, e, f, g):
        return a + b + c + d + e + f + g

    def eight(a, b, c, d, e, f, g, h):
        return a + b + c + d + e + f + g + h

    for function in (seven, eight):
        source = generate(function, "rust").source
        assert ("too_many_arguments" in source) is (function is eight)


def test_rust_s_usize_is_not_cast():
    source = generate(lambda M: GroupBy([M + 1])[:], "rust", name="f", index_type="usize").source
    assert "    let len = M + 1;\n" in source
    for index_type, call in (("usize", "(i, j)\n"), ("uint32", "(i as u32, j as u32) as usize\n")):
        unit = generate(GroupBy([3, 4]), "rust", view=True, index_type=index_type)
        assert f"        apply{call}" in unit.source


def test_rust_s_usize_of_64_bits_is_asked_for_where_it_is_needed():
    for size in (2**32, 2**32 + 1):
        source = generate(GroupBy([size]), "rust", index_type="usize").source
        assert ("compile_error!" in source) is (size > 2**32)


def test_rust_s_iterator_names_the_casts_lints():
    def lints(index_type, fixed):
        extent = const(6) if fixed else var("a", 0, 9)
        function = replace(programs.function("f", {"result": B}, index_type), axes=(("b", extent),))
        view = FunctionView(registry.printer("rust"), function, "unit", "usize")
        return [name.removeprefix("cast_") for name in rust._iterator_casts(view)]

    assert lints("int32", True) == ["possible_truncation", "possible_wrap"]
    assert lints("int64", True) == ["possible_wrap"]
    assert lints("uint32", False) == lints("uint64", False) == ["possible_truncation"]
    assert lints("int64", False) == ["possible_truncation", "possible_wrap", "sign_loss"]


@pytest.mark.parametrize(
    ("a", "b", "similar"),
    [
        ("bma", "bna", True),
        ("tile_first", "tile_fist", True),
        ("abc", "abc", False),
        ("abc", "xyz", False),
        ("ab", "ac", False),
        ("row1", "row2", False),
        ("i_x", "i_y", False),
        ("x_i", "y_i", False),
        ("a_ix", "a_iy", True),
        ("Abc", "Abd", False),
    ],
)
def test_names_that_clippy_finds_similar(a, b, similar):
    assert rust_lints.similar(a, b) is rust_lints.similar(b, a) is similar


def test_places_of_a_view_are_products_and_quotients_without_ones():
    n = replace(var("n"), lo=0, hi=100)
    assert _product(const(1), n) is n and _product(n, const(1)) is n
    assert _quotient(node("shr", n, const(3)), const(4)) == node("shr", n, const(5))
    assert _quotient(node("div", n, const(3)), const(5)) == node("div", n, const(15))
    assert _quotient(n, const(1)) is n


def test_each_index_type_has_its_own_tables():
    layout = GroupBy([6]).OrderBy(Lookup([6], [3, 1, 4, 0, 5, 2]))
    text = generate(layout, "cpp", name="f", index_type=["int32", "int64"]).source
    for type_, table, function in (("32", "table", "f_apply"), ("64", "table_2", "f_i64_apply")):
        assert f"std::int{type_}_t {table}[6]" in text
        assert (
            f"return f_detail::{table}[i];" in text.partition(f" {function}(")[2].partition("}")[0]
        )


def test_what_is_said_of_a_bit_trick_names_the_result_where_there_are_several():
    order = [0, 3, 1, 4, 2, 5]
    one = generate(GroupBy([64]).OrderBy(RegP([2] * 6, order)), "cpp", name="f").source
    assert "// The bits " in one and "result: The bits" not in one
    inverse = GroupBy([8, 8]).OrderBy(RegP([2] * 6, [1, 3, 5, 0, 2, 4]))
    text = generate(inverse, "cpp", name="f").source.partition("f_inv(")[2]
    assert "  // i: The bits" in text or "  // j: The bits" in text


def test_a_unit_says_how_many_operations_its_functions_have():
    assert repr(generate(TileBy([2], [3]), "cpp", name="f")) == (
        "<f in C++: f_apply 2 operations, f_inv 2 operations>"
    )
    assert "f 1 operation>" in repr(generate(lambda i: i + 1, "cpp", name="f"))


def test_a_table_in_cuda_is_the_device_s_there():
    layout = GroupBy([6]).OrderBy(Lookup([6], [3, 1, 4, 0, 5, 2]))
    text = generate(layout, "cuda", name="f").source
    assert text.count("#ifdef __CUDA_ARCH__\n__device__\n#endif\nstatic constexpr int f_") == 2


def test_a_julia_view_of_one_dimension_has_a_tuple_of_one():
    def sizes(layout):
        return generate(layout, "julia", name="f", view=True).source

    one = sizes(GroupBy([6]))
    assert "Base.size(view::FView) = (6,)\n" in one and "an array of 1 dimension by" in one
    assert "Base.size(view::FView) = (6, 4)\n" in sizes(GroupBy([6, 4]))


def test_rust_says_nothing_of_a_parameter_of_which_nothing_is_known():
    text = generate(lambda n, m: 4 * n + m, "rust", name="f", assume=["0 <= n < 8"]).source
    assert "/// - `0 <= n < 8`\n///\n" in text and "/// - \n" not in text


def test_positions_that_count_from_1_are_said_to():
    text = generate(GroupBy([2, 3]), "cpp", name="f", base=1).source
    assert text.count("Indices and positions count from 1.") == 2
    assert "count from 1" not in generate(GroupBy([2, 3]), "cpp", name="f").source


# -- every operation inside every other one ------------------------------------------------------

BRACKETS = Path(__file__).with_name("brackets.txt")
DIALECTS = [
    *((target, "int32") for target in registry.own_targets() if target != "mlir"),
    ("javascript", "int53"), ("javascript", "int64"), ("rust", "usize"),
]  # fmt: skip
NESTED = {op: (row.takes, row.gives) for op, row in OPS.items() if "t" not in row.takes}


def nested(op, names, place=None, inner=None):
    """An operation on variables, on conditions where it takes them, with another one in a place."""
    few = [var(name, 1, 7) for name in names]
    args = [
        node("lt", v, const(3)) if kind == "b" else v
        for v, kind in zip(few, NESTED[op][0], strict=False)
    ]
    if inner is not None:
        args[place] = inner
    return node(op, *args, lo=1, hi=7)


def shown(target, index_type, made):
    return spelled(target, node("int", made) if made.is_bool else made, index_type)


def brackets(target, index_type):
    """A line for each place of each operation: its text there, the operations that stand in brackets, and
    behind a bar those that are spelled otherwise than alone."""
    inside = {op: nested(op, "abc") for op in NESTED} | {"-5": const(-5)}
    alone = {op: spelled(target, made, index_type) for op, made in inside.items()}
    for op, (kinds, _) in NESTED.items():
        for place, kind in enumerate(kinds):
            found = {True: [], False: []}
            for name, made in inside.items():
                if made.is_bool != (kind == "b") or (op in ("shl", "shr") and name == "-5"):
                    continue
                text = shown(target, index_type, nested(op, "aba", place, made))
                if f"({alone[name]})" in text:
                    found[True].append(name)
                elif alone[name] not in text:
                    found[False].append(name)
            own = shown(target, index_type, nested(op, "aba", place))
            bar = f" | {' '.join(found[False])}" if found[False] else ""
            yield f"{plainly(own):40} {place}: {' '.join(found[True])}{bar}".rstrip()


@pytest.mark.slow
def test_brackets():
    """LEGO_UPDATE_BRACKETS=1 writes them anew."""
    lines = []
    for target, index_type in DIALECTS:
        lines += ["", f"{target} {index_type}", "", *brackets(target, index_type)]
    text = "\n".join(lines[1:]) + "\n"
    if os.environ.get("LEGO_UPDATE_BRACKETS"):
        BRACKETS.write_text(text)
    assert text == BRACKETS.read_text()


# -- array forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "made", "options", "text"),
    [
        ("c", lambda N, k: GroupBy([N, 6])[k, :], {"index_type": "uint32"}, "room for 6 results"),
        ("cuda", lambda N: GroupBy([N, 1])[:, :], {"base": 1, "index_type": "auto"}, "out[n] = f(N, n + 1, 1);"),
        ("cuda", lambda: GroupBy([2**16, 2**16])[:, :] // 4096, {}, "long long n = rank; n < 4294967296;"),
        ("cuda", lambda: GroupBy([2**15, 2**14])[:, :] // 4096, {}, "int n = rank; n < 536870912;"),
        ("fortran", lambda k: {"n": GroupBy([4, 6])[k, :], "m": k}, {}, "dimension(0:5), intent(out) :: n, m"),
        ("glsl", lambda: GroupBy([2**16, 2**15 - 1])[:, :] // 4096, {}, "int fPositions(int n)"),
        ("glsl", lambda k: {"n": GroupBy([4, 6])[k, :], "m": k}, {}, "fPositions(int k, int n_2, out int n,"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_array_form(target, made, options, text):
    assert text in generate(made, target, name="f", **options).source


def test_a_shader_has_no_array_form_of_more_elements_than_its_integers_count():
    for target in ("glsl", "wgsl"):
        assert (
            "Positions"
            not in generate(lambda: GroupBy([2**16, 2**16])[:, :] // 4096, target).source
        )


@pytest.mark.parametrize(
    "text, marked",
    [
        (
            "RuntimeShape<u32, 3>::linearize of a shape.",
            "`RuntimeShape<u32, 3>::linearize` of a shape.",
        ),
        ("A `Vec<u8>` of i, by offset(i, j).", "A `Vec<u8>` of `i`, by `offset(i, j)`."),
        ("Where i < n holds, a<b as well.", "Where `i < n` holds, `a<b` as well."),
        ("Of Vec<Vec<u32, A>, B>::x and x->y.", "Of `Vec<Vec<u32, A>, B>::x` and `x->y`."),
    ],
)
def test_rustdoc_marks_code_once(text, marked):
    assert rust.in_backticks(text, {"i", "n"}) == marked
