"""The simplifier keeps values and saves operations: Table II, divisibility, provers, and random
layouts and functions against plain Python."""

import functools
import itertools
import math
import operator
import random
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import given, settings
from marks import rest_slow
from naive import naive_counts
from net.functions import expressions
from net.layouts import texts
from net.machine import assert_sound
from net.operations import ASSUMED, EVERY_OPERATION, RANGES, corners, function
from net.points import holds
from net.words import build, indices
from small_worlds import World

from lego_emit import generate, isqrt, symbols
from lego_emit.algebra import reference
from lego_emit.arith import proofs, z3_prover
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import evaluate
from lego_emit.arith.expr import Expr, maximum, minimum, select
from lego_emit.arith.facts import Facts
from lego_emit.arith.terms import Atom, degree
from lego_emit.errors import LegoError, TraceError
from lego_emit.pipeline import build_program
from lego_emit.run import registry

CPP = registry.printer("cpp")
a, b, d, i, j, n, q, r, x, y, M = symbols("a b d i j n q r x y M")


class NoBits(type(CPP)):
    """A language that divides a power of two by dividing."""

    bit_operations = False


class Eager(type(CPP)):
    """A language that computes both branches."""

    lazy_select = False


def lowered(what, **options):
    program = build_program(what, CPP, **options)
    return program.functions


def known(**ranges):
    analyzer = Analyzer()
    for name, (lo, hi) in ranges.items():
        analyzer.learn_range(name, *(None if e is None else Expr.of(e) for e in (lo, hi)))
    return analyzer


# -- Table II ------------------------------------------------------------------------------------

POSITIVE = (1, None)
ANY = (None, None)

# rule of the paper: (what is known, before, after)
TABLE_2 = {
    "t2_1": (dict(d=POSITIVE), lambda: (d * q + r) % d, lambda: r % d),
    "t2_2a": (dict(d=POSITIVE, r=(0, d - 1)), lambda: (d * q + r) // d, lambda: q),
    "t2_2b": (dict(d=POSITIVE), lambda: (d * q + r) // d, lambda: q + r // d),
    "t2_3": (dict(d=POSITIVE), lambda: (x % d) // d, lambda: Expr.of(0)),
    "t2_4": (dict(a=POSITIVE, x=(0, a - 1)), lambda: x // a, lambda: Expr.of(0)),
    "t2_5": (dict(a=POSITIVE, x=(0, a - 1)), lambda: x % a, lambda: x),
    "t2_6": (dict(), lambda: (n + y) // 1, lambda: n + y // 1),
    "t2_7": (dict(a=POSITIVE), lambda: a * (x // a) + x % a, lambda: x),
    "1, any divisor": (dict(d=ANY), lambda: (d * q + r) % d, lambda: r % d),
    "2b, any divisor": (dict(d=ANY), lambda: (d * q + r) // d, lambda: q + r // d),
    "2b, minus": (dict(d=POSITIVE), lambda: (r - d * q) // d, lambda: r // d - q),
    "2, two divisors": (
        dict(a=POSITIVE, b=POSITIVE, y=(0, a - 1)),
        lambda: (a * x + y) // (a * b),
        lambda: x // b,
    ),
    "1, two divisors": (
        dict(a=POSITIVE, b=POSITIVE, y=(0, a - 1)),
        lambda: (a * x + y) % (a * b),
        lambda: a * (x % b) + y,
    ),
    "3, twice": (dict(d=POSITIVE), lambda: x % d % d, lambda: x % d),
    "5, minus": (dict(a=POSITIVE, x=(-a, Expr.of(-1))), lambda: x % a, lambda: x + a),
    "7, product": (
        dict(a=POSITIVE, b=POSITIVE),
        lambda: a * b * (x // (a * b)) + x % (a * b),
        lambda: x,
    ),
    "7, digits": (
        dict(a=POSITIVE, b=POSITIVE),
        lambda: a * (x // a % b) + x % a,
        lambda: x % (a * b),
    ),
    "7, backwards": (dict(a=POSITIVE), lambda: x - a * (x // a), lambda: x % a),
    "a quotient of a quotient": (
        dict(a=POSITIVE, b=POSITIVE),
        lambda: x // a // b,
        lambda: x // (a * b),
    ),
}


@pytest.mark.parametrize("rule", TABLE_2)
def test_table_2(rule):
    ranges, before, after = TABLE_2[rule]
    analyzer = known(**ranges)
    made, wanted = analyzer.rebuilt(before()), analyzer.rebuilt(after())
    assert made.same(wanted), (made, wanted)


def test_rule_7_for_any_divisor():
    analyzer = known(a=ANY)
    assert analyzer.rebuilt(a * (x // a) + x % a).same(x)


@pytest.mark.parametrize("rule", TABLE_2)
def test_table_2_keeps_the_value(rule):
    """Before the rule, computed in Python; after it, by the evaluator."""
    ranges, before, _ = TABLE_2[rule]
    draw = random.Random(rule)
    analyzer = known(**ranges)
    made = analyzer.rebuilt(before())
    code = before.__code__
    tried = 0
    for _ in range(300):
        values = {name: draw.randint(-7, 7) for name in "abdijnqrxyM"}
        if values["d"] == 0 or not all(
            (lo is None or evaluate(Expr.of(lo), values) <= values[s])
            and (hi is None or values[s] <= evaluate(Expr.of(hi), values))
            for s, (lo, hi) in ranges.items()
        ):
            continue
        tried += 1
        plain = eval(code, {**values, "Expr": Expr})
        plain = plain if isinstance(plain, int) else plain.constant
        assert evaluate(made, values) == plain, values
    assert tried > 10


def test_a_rule_without_its_condition_is_not_applied():
    analyzer = known(d=POSITIVE)
    assert not analyzer.rebuilt((d * q + r) // d).same(q)
    assert not analyzer.rebuilt(x // d).same(Expr.of(0))
    assert not analyzer.rebuilt(x % d).same(x)
    analyzer = known(a=POSITIVE, x=(0, a))  # one too many
    assert not analyzer.rebuilt(x // a).same(Expr.of(0)) and not analyzer.rebuilt(x % a).same(x)
    analyzer = known(a=POSITIVE, x=(-1, a - 1))  # one too few
    assert not analyzer.rebuilt(x // a).same(Expr.of(0)) and not analyzer.rebuilt(x % a).same(x)
    analyzer = known(a=ANY, x=(0, 5))
    assert not analyzer.rebuilt(x % a).same(x)


# -- divisibility --------------------------------------------------------------------------------


def divides(divisor, dividend, **ranges):
    analyzer = known(**ranges)
    analyzer.learn_divides(divisor, dividend)
    return analyzer


def test_divisibility_of_symbols():
    analyzer = divides(a, M, a=POSITIVE, M=POSITIVE)
    assert analyzer.rebuilt(M % a).same(Expr.of(0))
    assert analyzer.rebuilt((M * x + 3 * a) % a).same(Expr.of(0))
    assert analyzer.unsubstitute(analyzer.rebuilt(M // a * a)).same(M)
    assert analyzer.unsubstitute(analyzer.rebuilt(x % M % a)).same(analyzer.rebuilt(x % a))
    wanted = analyzer.unsubstitute(analyzer.rebuilt(M // a * x + y // a))
    assert analyzer.unsubstitute(analyzer.rebuilt((M * x + y) // a)).same(wanted)
    assert not analyzer.rebuilt((M + 1) % a).same(Expr.of(0))


def test_divisibility_by_a_number():
    analyzer = divides(Expr.of(8), M, M=POSITIVE)
    assert analyzer.rebuilt(M % 4).same(Expr.of(0))
    assert analyzer.rebuilt((M + 5) % 8).same(Expr.of(5))
    assert analyzer.rebuilt((M * x + 12) // 8 % 1).same(Expr.of(0))
    assert not analyzer.rebuilt(M % 16).same(Expr.of(0))


def test_divisors_of_a_number():
    analyzer = divides(b, Expr.of(512), b=POSITIVE)
    assert analyzer.interval(b) == analyzer.interval(512 // b) == (1, 512)


def test_a_bound_of_what_is_divided():
    analyzer = divides(a, M, a=POSITIVE, M=POSITIVE)
    analyzer.learn_range("M", None, Expr.of(100))
    assert analyzer.nonneg(analyzer.rebuilt(100 - M)) and analyzer.nonneg(100 - a)


def test_a_tile_makes_its_divisibility_known():
    def digits(M, BM):
        L = build("TileBy([M // BM], [BM])", M=M, BM=BM)
        return L[p, :] % BM, L[p, :] // BM, L[p, :] // M  # noqa: F821

    (found,) = lowered(digits)
    assert found.op_count <= 2
    values = {"M": 12, "BM": 4, "p": 2, **{p.name: 3 for p in found.params if p.axis}}
    assert found.evaluate(values) == {"out0": 3, "out1": 2, "out2": 0}


# -- provers -------------------------------------------------------------------------------------

LADDER = {
    "intervals": (dict(x=(0, 9), y=(3, 5)), lambda: x - 2 * y < 10),
    "bounds": (dict(n=POSITIVE, i=(0, n - 1), j=(0, n - 1)), lambda: n * i + j < n * n),
}
HARD = {
    "a product of indices": lambda: i * i < n * i + 1,
    "a square": lambda: a * a + b * b >= 2 * a * b,
    "a smaller one": lambda: minimum(i, j) * 2 <= i + j,
}
COMMON = dict(n=POSITIVE, a=POSITIVE, b=POSITIVE, i=(0, n - 1), j=(0, n - 1))


def counting_z3(monkeypatch):
    asked = []
    real = z3_prover.prove_nonneg
    monkeypatch.setattr(
        z3_prover, "prove_nonneg", lambda analyzer, e: asked.append(e) or real(analyzer, e)
    )
    return asked


@pytest.mark.parametrize("case", LADDER)
def test_the_cheap_provers_do_without_z3(case, monkeypatch):
    asked = counting_z3(monkeypatch)
    ranges, condition = LADDER[case]
    analyzer = known(**ranges)
    assert analyzer.decide(condition().rebuild(analyzer.rebuilt)) is True
    assert not asked


@pytest.mark.parametrize("case", HARD)
def test_z3_is_asked_where_the_others_do_not_know(case, monkeypatch):
    asked = counting_z3(monkeypatch)
    analyzer = known(**COMMON)
    assert analyzer.decide(HARD[case]().rebuild(analyzer.rebuilt)) is True
    assert asked
    analyzer = known(**COMMON)
    analyzer.prover.use_z3 = False
    assert analyzer.decide(HARD[case]().rebuild(analyzer.rebuilt)) is None


@pytest.mark.parametrize(
    "fn",
    [
        lambda i, j, n: i * i // (n * n + j),
        lambda i, j, n: 2 * i * j // (i * i + j * j + n),
        lambda i, j, n: minimum(i, j) * 2 % (i + j + n) - 2 * minimum(i, j),
    ],
)
def test_a_function_is_simplified_by_what_z3_shows(fn):
    (found,) = build_program(fn, CPP, assume=["0 <= i < n", "0 <= j", "n >= 1"]).functions
    assert found.op_count == 0 and found.result_range == "0 <= the result < 1"


@pytest.mark.parametrize(
    "condition",
    [
        lambda: i < n - 1,
        lambda: i * j < n * n - 1,
        lambda: a * b > a,
        lambda: i < j,
        lambda: (i + j) // 2 < n - 1,
        lambda: i * i + 1 < n * n,
    ],
)
def test_what_is_not_so_is_not_proved(condition):
    analyzer = known(**COMMON)
    assert analyzer.decide(condition().rebuild(analyzer.rebuilt)) is None


def test_bounds_that_depend_on_each_other_are_put_in():
    """i is at most 7, too, but not where n is 1."""
    analyzer = known(n=(1, 8), i=(0, n - 1))
    analyzer.prover.use_z3 = False
    assert analyzer.nonneg(n - 1 - i) and analyzer.nonneg(n * n - 1 - i * n)


BETWEEN_NUMBERS = {
    "a remainder": (lambda x, B: x % B // B, 0),
    "the smaller one": (lambda x, B: minimum(x % B, B), 1),
    "a difference": (lambda x, B: maximum(x - x // 3, 0), 2),
}


@pytest.mark.parametrize("case", BETWEEN_NUMBERS)
def test_what_lies_between_numbers_may_depend_on_the_rest(case):
    fn, operations = BETWEEN_NUMBERS[case]
    (found,) = build_program(fn, CPP, assume=["0 <= x < 100", "1 <= B <= 8"]).functions
    assert found.op_count == operations


def test_z3_is_told_that_divisors_are_positive():
    digit = Expr.atom(Atom("digit", x, b, n))
    assert z3_prover.prove_nonneg(Facts(), digit + b - 1)
    assert z3_prover.prove_nonneg(Facts(), digit + b - 2) is not True


UNKNOWN_TO_Z3 = {
    "a root": lambda: x - x.isqrt(),
    "bits": lambda: x * x - (x & y),
    "a quotient by a symbol": lambda: x - x // y,
    "bits in a condition": lambda: select((x & y) < x, x * x - x, x),
}


@pytest.mark.parametrize("case", UNKNOWN_TO_Z3)
def test_z3_is_not_asked_for_what_it_has_no_word(case, monkeypatch):
    asked = counting_z3(monkeypatch)
    analyzer = known(x=(0, None), y=POSITIVE)
    assert not analyzer.nonneg(UNKNOWN_TO_Z3[case]()) and not asked


def test_a_question_without_an_answer_counts_for_several(monkeypatch):
    asked = []
    monkeypatch.setattr(z3_prover, "prove_nonneg", lambda analyzer, e: asked.append(e))
    analyzer = known(a=POSITIVE, b=POSITIVE)
    assert not any(analyzer.nonneg(a * a + b * b - 2 * a * b + k) for k in range(30))
    assert len(asked) == proofs.Z3_QUERIES // proofs.Z3_UNKNOWN


@pytest.mark.parametrize("count", rest_slow([1, 16, 40], 2))
def test_an_output_does_not_depend_on_how_many_others_there_are(count):
    """Each of these needs Z3."""
    pairs = [(f"i{k}", f"n{k}") for k in range(count)]
    names = ", ".join(n for pair in pairs for n in pair)
    results = ", ".join(f"'{i}_': {i}*{i} // ({n}*{n}) + {i}" for i, n in pairs)
    made = {}
    exec(f"def f({names}):\n    return {{{results}}}", made)
    (function,) = generate(made["f"], "c", assume=[f"0 <= {i} < {n}" for i, n in pairs]).functions
    assert [str(node.value) for _, node in function.outputs] == [i for i, _ in pairs]


def test_what_was_found_out_in_a_branch_is_known_there_again(monkeypatch):
    """Also after something more was learned outside."""
    asked = counting_z3(monkeypatch)

    def branch(condition):
        with analyzer.scope():
            analyzer.assume(condition)
            assert analyzer.nonneg(a * a + b * b - 2 * a * b + 1)

    analyzer = known(a=POSITIVE, b=POSITIVE, n=POSITIVE)
    for times in (1, 2):
        for _ in range(3):
            branch(a < n)
        assert len(asked) == times
        analyzer.learn_range("n", None, Expr.of(1000))


def test_tries_are_for_constraints_that_may_do(monkeypatch):
    """Neither for what a sample refutes nor for what is said of other symbols."""
    monkeypatch.setattr(proofs, "TRIES", 1)
    for ranges, other in (
        (dict(x=(0, 99), y=(0, 99)), 90 - x - y),
        (dict(x=(0, None), y=(0, None), i=(0, 9), j=(0, 9)), 9 - i - j),
    ):
        analyzer = known(**ranges)
        analyzer.prover.use_z3 = False
        analyzer.constrain(other)
        analyzer.constrain(x - y - 30)
        assert analyzer.nonneg(x - y - 20) and not analyzer.nonneg(x - y - 31)


def test_what_is_known_already_is_no_constraint():
    analyzer = known(n=POSITIVE, i=(0, n - 1))
    analyzer.constrain(n - 1 - i)
    analyzer.constrain(Expr.of(3))
    assert analyzer.facts.constraints == []
    analyzer.constrain(n - 2 - i)
    assert len(analyzer.facts.constraints) == 1


def test_a_factor_that_may_be_0_outweighs_nothing():
    """Of a product with many factors, and at values that no sample has."""
    factors = symbols("a b c d e f")
    analyzer = known(**{repr(factor): POSITIVE for factor in factors}, x=(0, None))
    rest = math.prod(factors)
    gap = maximum(40 - x, 0)
    assert analyzer.nonneg(rest * a - rest)
    assert not analyzer.nonneg(rest * gap * gap - rest)


def test_a_bound_in_the_users_own_symbols():
    analyzer = known(M=(None, 100))
    analyzer.learn_divides(b, M, positive=False)
    assert (analyzer.estimates.most(M), analyzer.estimates.most(-M)) == (100, None)
    analyzer.assume(M >= 5)
    assert (analyzer.estimates.most(M), analyzer.estimates.most(-M)) == (100, -5)
    analyzer = known(M=(5, None))
    analyzer.learn_divides(b, M)
    analyzer.assume(M <= 100)
    assert (analyzer.estimates.most(M), analyzer.estimates.most(-M)) == (100, -5)


@pytest.mark.slow
def test_z3_is_not_imported_where_nobody_asks_it():
    code = """
import sys
from lego_emit import OrderBy, Row, generate, GroupBy, RegP
def f(M, N, BM, BN):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[pid_m, pid_n, :, :]
generate(f, "cuda")
generate(GroupBy([6, 4]).OrderBy(RegP([2, 2, 3, 2], [3, 0, 2, 1])), "rust")
assert "z3" not in sys.modules and "sympy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_was_rebuilt_before_is_not_rebuilt_again():
    """Where replace() rebuilds parts itself, each level would double what is done."""
    made = {}
    assert Analyzer().rebuild(x * x + 1, lambda atom: Expr.of(3), made).constant == 10
    assert Analyzer().rebuild(x + 5, lambda atom: pytest.fail("again"), made).constant == 8


@pytest.mark.parametrize("operation", [operator.and_, operator.or_, operator.xor])
def test_bit_operations_are_simplified_again(operation):
    values = {x.single: Expr.of(12), y.single: Expr.of(8)}
    assert Analyzer().rebuild(operation(x, y + 2), values.get).constant == operation(12, 10)


def test_min_max_and_select_are_decided_by_what_is_known():
    analyzer = known(n=POSITIVE, i=(0, n - 1))
    for made, wanted in (
        (minimum(i, n), i),
        (maximum(i, n), n),
        (select(i < n, i, 7), i),
        (maximum(i, 0), i),
        (select(i < n - 1, x, x), x),
        (select(x < 5, 1, 0), (x < 5).as_expr()),
    ):
        assert analyzer.rebuilt(made).same(wanted)
    assert not analyzer.rebuilt(maximum(i, 1)).same(i)  # index 0 counts


# -- random layouts ------------------------------------------------------------------------------


def agree(functions, layout, sizes):
    """apply and inv on the whole table equal the reference; ranges and assumptions hold."""
    forward, *back = functions
    names = [p.name for p in forward.params if p.name not in sizes]
    for index in indices(layout.dims):
        values = {**sizes, **dict(zip(names, index, strict=True))}
        assert forward.evaluate(values)["flat"] == reference.apply(layout, index), values
        assert holds([*forward.ranges.values(), *forward.assumptions], values)
        assert_sound(forward, values)
        result = reference.apply(layout, index)
        assert holds(
            [forward.result_range.replace("the result", "result_")], {**values, "result_": result}
        )
    for found in back:
        (position,) = [p.name for p in found.params if p.name not in sizes]
        for flat in range(layout.physical_size):
            values = {**sizes, position: flat}
            got = found.evaluate(values)
            assert tuple(got.values()) == reference.inv(layout, flat), values
            assert holds([*found.ranges.values(), *found.assumptions], values)
            assert_sound(found, values)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(texts(symbolic=False))
def test_random_layouts_without_bit_operations(made):
    layout = build(made[0])
    agree(build_program(layout, NoBits()).functions, layout, {})


def symbolic_against_reference(text, names, points):
    functions = build_program(build(text, **{s: symbols(s) for s in names}), CPP).functions
    draw = random.Random(text)
    for _ in range(points):
        sizes = {s: draw.choice([1, 2, 3, 4]) for s in "abc"}
        sizes["M"] = sizes["a"] * draw.choice([1, 2, 3])
        sizes = {s: v for s, v in sizes.items() if s in names}
        layout = build(text, **sizes)
        if layout.size <= 200:
            agree(functions, layout, sizes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "GroupBy([a, a]).OrderBy(Antidiagonal(a, a))",
        "GroupBy([a, a]).OrderBy(Antidiagonal(a, a)).OrderBy(Col(a, a))",
        "GroupBy([a, 2, a]).OrderBy(Row(2), Antidiagonal(a, a))",
        "TileBy([b], [a]).OrderBy(Row(a * b))",
        "TileBy([2, b], [a, 3]).OrderBy(Col(2, b), Reversal(a, 3))",
    ],
)
def test_branches_over_symbolic_sizes(text):
    symbolic_against_reference(text, [s for s in "ab" if f"{s}]" in text or f"{s}," in text], 6)


def test_a_layout_and_its_own_inverse_cancel():
    for text in (
        "GroupBy([4, 6]).OrderBy(Col(4, 6))",
        "GroupBy([a, b]).OrderBy(RegP([b, a], [1, 0]))",
    ):
        names = [s for s in "ab" if f"{s}," in text or f"{s}]" in text]
        layout = build(text, **{s: symbols(s) for s in names})

        def there_and_back(a, b, layout=layout):
            return layout.apply(*layout.inv(flat))  # noqa: F821

        (found,) = build_program(there_and_back, CPP).functions
        assert found.op_count == 0


# -- operations ----------------------------------------------------------------------------------


def operations(text, names=()):
    layout = build(text, **{s: symbols(s) for s in names})
    functions = build_program(layout, CPP, cost="ops").functions
    return tuple(f.op_count_hoisted for f in functions), naive_counts(partial(build, text), names)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True)
@given(texts(symbolic=False, calm=True))
def test_no_more_operations_than_the_plain_nest(made):
    ours, plain = operations(made[0])
    assert sum(ours) <= sum(plain)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(texts(symbolic=True, calm=True))
def test_no_more_operations_than_the_plain_nest_over_symbols(made):
    text, names, _ = made
    ours, plain = operations(text, names)
    assert sum(ours) <= sum(plain)


@pytest.mark.parametrize(
    "text",
    [
        "GroupBy([15, 6]).OrderBy(Col(3, 6, 1), Col(5))",
        "GroupBy([30, 3]).OrderBy(RegP([3, 6, 1], [1, 0, 2]), Row(5))",
    ],
)
def test_no_more_operations_in_each_direction(text):
    ours, plain = operations(text)
    assert ours[0] <= plain[0] and ours[1] <= plain[1]


@pytest.mark.parametrize(
    ("text", "names", "most"),
    [
        ("GroupBy([M, N])", "MN", (2, 2)),
        ("GroupBy([M, N]).OrderBy(Col(M, N))", "MN", (2, 2)),
        ("GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))", "", (10, 10)),
        ("TileBy([M // a, N // b], [a, b]).OrderBy(Row(M, N))", "MNab", (6, 7)),
        ("GroupBy([4, 8]).OrderBy(Row(8, 4)).OrderBy(Row(32))", "", (2, 2)),
        ("GroupBy([4, 8]).OrderBy(Reversal(4, 8)).OrderBy(Reversal(32))", "", (2, 2)),
    ],
)
def test_how_many_operations_well_known_layouts_take(text, names, most):
    ours = tuple(
        f.op_count
        for f in build_program(build(text, **{s: symbols(s) for s in names}), CPP).functions
    )
    assert ours[0] <= most[0] and ours[1] <= most[1], ours


# -- functions ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("case", EVERY_OPERATION)
def test_every_operation_over_every_kind_of_operand(case):
    plain = function(EVERY_OPERATION[case])
    (found,) = build_program(plain, CPP, assume=list(ASSUMED.values())).functions
    tried = 0
    for values in corners(random.Random(case), 60):
        if holds(found.assumptions, values):
            tried += 1
            assert list(found.evaluate(values).values()) == list(plain(**values)), values
            assert_sound(found, values)
    assert tried > 30


def test_a_divisor_that_may_be_zero_is_a_precondition():
    (found,) = build_program(
        lambda x, v: x // v, CPP, assume=["0 <= x < 9", "-3 <= v <= 3"]
    ).functions
    assert "v != 0" in found.assumptions
    (found,) = build_program(
        lambda x, v: x // v, CPP, assume=["0 <= x < 9", "1 <= v <= 3"]
    ).functions
    assert "v != 0" not in found.assumptions


# -- random functions ----------------------------------------------------------------------------


@pytest.mark.deep
@pytest.mark.parametrize("printer", [CPP, Eager()], ids=["lazy", "eager"])
@settings(max_examples=250, deadline=None, derandomize=True)
@given(expressions)
def test_random_functions(printer, text):
    """Negative ranges, divisors of unknown sign, branches: traced and lowered it is plain Python,
    where the stated assumptions hold; every part stays in its proven range and in the type."""
    plain = function(text)
    try:
        (found,) = build_program(plain, printer, assume=list(ASSUMED.values())).functions
    except LegoError as error:
        assert any(t in str(error) for t in ("by zero", "does not fit", "modulo")), error
        return
    draw = random.Random(text)
    for _ in range(25):
        values = {s: draw.choice([lo, hi, draw.randint(lo, hi)]) for s, (lo, hi) in RANGES.items()}
        try:
            want = plain(**values)
        except ZeroDivisionError:
            continue
        if not holds(found.assumptions, values):
            continue
        assert found.evaluate(values) == {"result": want}, values
        assert_sound(found, values, printer.lazy_select)
        if found.result_range:
            assert holds(
                [found.result_range.replace("the result", "result_")], {**values, "result_": want}
            )


def test_a_branch_not_taken_is_evaluated_too():
    """abs(v) is v where v > 0 and was simplified so; printed code evaluates both branches."""

    def guarded(v):
        return isqrt(abs(v)) if v > 0 else 7

    (found,) = build_program(guarded, CPP, assume=["-9 <= v <= 9"]).functions
    assert [found.evaluate({"v": v})["result"] for v in range(-9, 10)] == [
        guarded(v) for v in range(-9, 10)
    ]


def test_powers_of_two_by_an_index_are_shifts():
    for base in (2, 4, 8):
        (found,) = build_program(lambda v, b=base: b**v, CPP, assume=["0 <= v < 9"]).functions
        assert [found.evaluate({"v": v})["result"] for v in range(9)] == [base**v for v in range(9)]
        assert found.op_count <= 2
    assert 3 ** Expr.of(4) == 81 and 0 ** Expr.of(0) == 1
    for base in (1, 3, 0, -2):
        with pytest.raises(TraceError, match="known of 2 alone"):
            build_program(lambda v, b=base: b**v, CPP, assume=["0 <= v < 9"])


def test_what_is_known_of_a_replaced_symbol_is_known_of_its_value():
    world = World(
        ["1 <= x <= 7", "x == 2*y", "y == N + 1"], "x", "y", "N", x=range(9), y=range(9), N=range(9)
    )
    for text in ("7 - 2*y", "2*y - 1", "5 - 2*N", "2*N + 1"):
        assert world.analyzer.nonneg(world.symbolic(text)), text
    assert world.analyzer.decide(world.symbolic("x - 2*N") == 2)
    assert not world.analyzer.nonneg(world.symbolic("5 - 2*y"))


def test_the_degree_that_a_value_grows_with():
    windows = {"x": range(9), "y": range(9), "N": range(1, 9)}
    for text, grows in {
        "x": 1, "x*y*N": 3, "x & 7": 0, "x & -4": 1, "x*y // N": 2, "x*y % N": 1, "x*y & 5": 0,
        "x*y & x": 2, "x*y*N & -8": 3, "7": 0,
    }.items():  # fmt: skip
        world = World([], text, **windows)
        assert degree(world.symbolic(text)) == grows, text


def interleaved(bits, x, y, join=operator.add):
    """x in the even bits, y in the odd ones."""
    moved = ((v >> k & 1) << 2 * k + odd for k in range(bits) for odd, v in enumerate((x, y)))
    return functools.reduce(join, moved)


@pytest.mark.parametrize("join", rest_slow([operator.add, operator.or_]))
@pytest.mark.parametrize(
    ("bits", "index_type", "most"), rest_slow([(16, "uint32", 26), (32, "uint64", 32)])
)
def test_bits_fill_an_unsigned_word(join, bits, index_type, most):
    (found,) = build_program(
        lambda x, y: interleaved(bits, x, y, join),
        registry.printer("c"),
        ranges={"x": (0, 2**bits), "y": (0, 2**bits)},
        index_type=index_type,
    ).functions
    assert found.op_count <= most and found.index_type == index_type
    ends = (0, 1, 2**bits - 1, 2**bits // 3, 2 ** (bits - 1), 0x5A3C96E1 % 2**bits)
    for x, y in itertools.product(ends, ends):
        assert found.evaluate({"x": x, "y": y}) == {"result": interleaved(bits, x, y)}


@pytest.mark.parametrize("join", rest_slow([operator.add, operator.or_]))
@pytest.mark.parametrize(
    ("around", "more"),
    [
        (lambda z, o: z + 1, 1), (lambda z, o: z + o, 1), (lambda z, o: 3 * z, 1),
        (lambda z, o: 3 * z + 5, 2), (lambda z, o: z * o, 1), (lambda z, o: z * o + 7, 2),
    ],
)  # fmt: skip
@pytest.mark.quick(4)
def test_what_stands_around_an_interleave_leaves_it(join, around, more):
    for bits in (4, 8):
        (plain, one) = (
            build_program(
                lambda x, y, o, a=a, bits=bits: a(interleaved(bits, x, y, join), o),
                CPP,
                ranges={"x": (0, 2**bits), "y": (0, 2**bits), "o": (0, 9)},
            ).functions[0]
            for a in (lambda z, o: z, around)
        )
        assert one.op_count <= plain.op_count + more
        ends = (0, 1, 2**bits - 1, 2**bits // 3, 2 ** (bits - 1))
        for x, y, o in itertools.product(ends, ends, (0, 1, 8)):
            wanted = around(interleaved(bits, x, y), o)
            assert one.evaluate({"x": x, "y": y, "o": o}) == {"result": wanted}
