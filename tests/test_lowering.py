"""Parts of the lowering by themselves: what looks at all values, names, bounds, conditions as text."""

import re
from types import SimpleNamespace

import index_functions
import numpy as np
import pytest
import sympy
from nested import as_tuple

from lego_emit import Col, GroupBy, RegP, generate
from lego_emit.arith import sympy_nodes
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.context import plain
from lego_emit.arith.expr import Cond, Expr, maximum, minimum
from lego_emit.arith.facts import Facts, Range
from lego_emit.arith.terms import Atom
from lego_emit.errors import WidthError
from lego_emit.ir.cost import cost_model
from lego_emit.ir.nodes import Node
from lego_emit.lower.assembler import Assembler
from lego_emit.lower.at_every_point import _fits, columns_of
from lego_emit.lower.columns import Columns
from lego_emit.lower.graph import Graph
from lego_emit.lower.lower import _harmless, _hint, _inside
from lego_emit.lower.lowering import Lowering
from lego_emit.lower.relations import condition
from lego_emit.lower.widths import at_most
from lego_emit.lower.words import word_of
from lego_emit.operations import OPS
from lego_emit.pipeline import dialect_of
from lego_emit.run import registry
from lego_emit.table_lookup import Entries


def symbol(name):
    return Expr.atom(Atom("sym", name))


def var(lo=None, hi=None):
    return Node("var", (), "x", lo, hi)


@pytest.mark.parametrize(
    ("op", "args", "fits"),
    [
        ("isqrt", [[-1, 4]], False),
        ("isqrt", [[0, 4]], True),
        ("lookup", [[5, 6], [0, 1, 1]], True),
        ("lookup", [[5, 6], [0, 2, 1]], False),
        ("lookup", [[5, 6], [0, -1, 1]], False),
        ("shl", [[1, 1], [-1, 0]], False),
        ("shr", [[1, 1], [-1, 0]], False),
        ("shl", [[1, 1], [3, 61]], True),
        ("shl", [[1, 1], [3, 62]], False),
    ],
)
def test_an_operation_has_a_value_at_all_points(op, args, fits):
    assert _fits(op, [np.array(a) for a in args]) is fits


def test_no_bounds_over_an_empty_range():
    analyzer = Analyzer()
    analyzer.facts.ranges["x"] = Range(Expr.of(1), Expr.of(0))
    lowering = Lowering(analyzer, dialect_of(registry.printer("cpp")))
    columns = Columns(lowering)
    columns.bound_all([lowering.graph.op("add", lowering.graph.var("x"), lowering.graph.const(1))])
    assert not lowering.bounds


def test_a_factor_that_multiplying_makes_dear_is_shifts_and_sums():
    dear, cheap = Assembler({"mul": 3}, 32), Assembler({}, 32)
    assert as_tuple(dear._times(word_of(0), 5)) == ("add", ("shl", ("in", 0), 2), ("in", 0))
    assert as_tuple(cheap._times(word_of(0), 5)) == ("mul", ("in", 0), 5)


def test_a_root_is_of_what_is_not_negative():
    assert _harmless("isqrt", (var(0, 9),), False).args == (var(0, 9),)
    for known in (var(), var(-1, 9)):
        assert _harmless("isqrt", (known,), False).args[0].op == "max"


def test_bounds_over_all_values_go_to_the_last_one():
    analyzer = Analyzer()
    analyzer.facts.ranges["x"] = Range(Expr.of(-2), Expr.of(5))
    lowering = Lowering(analyzer, dialect_of(registry.printer("cpp")))
    x = lowering.graph.var("x")
    square = lowering.graph.op("mul", x, x)
    Columns(lowering).bound_all([square])
    assert lowering.bounds[square] == (0, 25)


@pytest.mark.parametrize("op", ["div", "mod"])
def test_a_divisor_that_may_be_0_is_1_there(op):
    for least, positive, kind in ((1, False, op), (0, True, op), (0, False, f"floor{op}")):
        found = _harmless(op, (var(0, 9), var(least, 5)), positive)
        assert found.op == kind
    assert found.args[1].op == "select" and found.args[1].args[2].value == 1


def test_a_place_without_an_upper_bound_is_held_inside_of_the_table():
    last = Node("const", (), 5, 5, 5)
    assert _inside(var(0, 5), last) == var(0, 5)
    assert _inside(var(0), last).op == "min" == _inside(var(0, 6), last).op


def columns(made, bits):
    """columns_of the one node that is made of the graph and a variable of so many bits."""
    graph = Graph(cost_model("ops"), ())
    x = graph.var("x", True)
    root = made(graph, x)
    return columns_of(graph, graph.reached([root]), [root], ((x, bits),))


def test_a_node_that_no_numpy_array_gives_has_no_columns():
    assert columns(lambda g, x: g.op("xor", x, g.const(5)), 3) == [(5, [1, 2, 4])]
    for entries in (Entries("t", size=4), Entries("t", (0, 2**62))):
        assert columns(lambda g, x, t=entries: g.op("lookup", g.table(t), x), 1) is None
    short = Entries("t", [0] * 5000)  # the first points and the powers of two have an entry
    assert columns(lambda g, x: g.op("lookup", g.table(short), x), 13) is None


def test_a_name_has_no_sign():
    assert _hint(Node("mul", (var(), Node("const", (), -3))), set()) == "scaled"
    assert _hint(Node("floordiv", (var(), Node("const", (), 3))), set()) == "x_div_3"


def test_a_name_is_short():
    """It is made of parameters and numbers, and of none that was made so."""

    def hint(op, a, b, made=()):
        right = Node("const", (), b) if isinstance(b, int) else Node("var", (), b)
        return _hint(Node(op, (Node("var", (), a), right)), {*made})

    assert hint("mod", "at.x", 8) == "at_x_mod_8" and hint("shr", "i", 5) == "i_div_32"
    assert hint("div", "i", "BM") == "i_div_BM" and hint("floormod", "X[0]", 4) == "X0_mod_4"
    assert hint("div", "i_div_3", 5, ["i_div_3"]) == hint("div", "i", "m", ["m"]) == "quotient"
    assert hint("div", "i", "group_size_m") == "quotient" and hint("mod", "i", "a_b") == "rest"
    assert hint("and", "a_parameter_that_is_long", 7) == "bits"


@pytest.mark.slow
def test_names_of_statements_in_golden_cases():
    """Beyond a parameter, two words."""
    kinds = {row.name for row in OPS.values()}
    for case in index_functions.golden_cases()[::7]:
        for f in case.emit("cpp").lowered.functions:
            parameters = {p.name.replace(".", "_") for p in f.params}
            for name, _ in f.body:
                kind, _, number = name.partition("_")
                whole = kind in kinds and (not number or number.isdigit())
                parts = re.fullmatch(r"(\w+)_(div|mod)_([^\W_]+)", name)
                assert whole or (parts and parts[1] in parameters and len(name) <= 20), name


def test_what_a_chain_compares_stays_in_its_order():
    least, most = Cond("le", Expr.of(0), symbol("x")), Cond("lt", symbol("x"), Expr.of(5))
    assert condition(least, Analyzer()).op == "ge"
    assert [n.op for n in condition(Cond("and", least, most), Analyzer()).args] == ["le", "lt"]
    assert [n.op for n in condition(Cond("or", least, most), Analyzer()).args] == ["ge", "lt"]


@pytest.mark.parametrize("least", [0, 1])
def test_a_part_of_a_product_is_at_most_the_product(least):
    """Whatever its factors are, where none is 0."""
    ranges = {name: Range(Expr.of(1)) for name in "abc"} | {"e": Range(Expr.of(least))}
    analyzer = Analyzer(facts=Facts(ranges))
    a, b, c, e, x = analyzer.bind([*map(symbol, "abcex")])
    with analyzer.prover.quick():
        part = maximum(x, 1) * minimum(x * x + 1, c) * minimum(a, b)
        whole = part * b * e * maximum(x // a, 2)
        less, more = plain(part - maximum(x, 1)), plain(5 * part)
        assert at_most(less, plain(whole), analyzer) == (least == 1)
        assert not at_most(more, plain(2 * whole), analyzer)


def test_a_difference_is_not_negative_where_that_is_known():
    (made,) = generate(lambda j, N: N - 1 - j, "cpp", assume=["0 <= j < N"]).functions
    ((_, node),) = made.outputs
    assert (node.lo, node.args[0].lo) == (0, 0)


def test_a_branch_bounds_what_stands_in_it():
    for fn in (lambda x: x - 5 if x >= 5 else 0, lambda x: x - 5 if x > 4 else 0):
        made = generate(fn, "cpp", name="f", ranges={"x": (0, 10)}, index_type="uint32")
        assert made.functions[0].evaluate({"x": 7}) == {"result": 2}


def test_a_condition_of_what_is_computed_before_its_branch():
    nodes, x, y = sympy_nodes, *sympy.symbols("x y", integer=True)
    large = nodes.Greater(nodes.FloorDiv(x, y), 3)
    choice = nodes.Select(large, x, nodes.IntAdd(y, 1))
    square = nodes.IntAdd(nodes.IntMul(choice, choice), nodes.Select(large, 5, y))
    (made,) = generate(nodes.Select(nodes.Unequal(y, 0), square, 0), "cpp", name="f").functions
    assert [name for name, _ in made.body] == ["choice"]
    for values, wanted in (((9, 2), 86), ((9, 3), 19), ((9, 0), 0), ((-9, -2), 86)):
        assert made.evaluate(dict(zip("xy", values, strict=True))) == {"result": wanted}


@pytest.mark.parametrize(
    "layout",
    [
        GroupBy([270336]).OrderBy(Col(8192, 33)),
        GroupBy([8000000]).OrderBy(RegP([8, 1000, 1000], [1, 0, 2])),
    ],
)
def test_a_form_that_needs_wider_values_than_its_results_is_not_taken(layout):
    found = generate(layout, "cpp", name="f").functions
    assert [f.index_type for f in found] == ["int32", "int32"]


def test_an_unsigned_form_has_no_negative_values_on_the_way():
    layout = GroupBy([256, 28]).OrderBy(RegP([16, 16, 4, 7], [2, 0, 3, 1]))
    found = generate(layout, "cpp", name="f", index_type="uint32").functions
    assert [f.op_count for f in found] == [8, 10]


def test_a_message_says_what_is_not_bounded():
    with pytest.raises(WidthError, match=r"x \+ y lies in \?\.\.-4294967296, which"):
        generate(
            lambda x, y: x + y, "cpp", name="f", index_type="int32",
            assume=["x <= -2**31", "y <= -2**31"],
        )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda x: x**3 + 1, "return x * x * x + 1;"),
        (lambda x, y: 1 if x == y + 1 else 0, "return std::int32_t{y + 1 == x};"),
        (lambda x, y: 7 * x + 7 * y + 7, "return 7 * (x + y) + 7;"),
    ],
)
def test_a_form(made, text):
    ranges = {name: (0, 9) for name in "xy"[: made.__code__.co_argcount]}
    assert text in generate(made, "cpp", name="f", ranges=ranges).source


@pytest.mark.parametrize(
    ("least", "is_nonnegative"), [(None, False), (-1, False), (0, True), (1, True)]
)
def test_what_a_loop_gives_is_nonnegative_from_0_on(least, is_nonnegative):
    graph = Graph(cost_model("ops"), ())
    made = graph.round(SimpleNamespace(key="loop", item=0, bounds=[(least, 9)]))
    assert (made in graph.nonnegative) is is_nonnegative
