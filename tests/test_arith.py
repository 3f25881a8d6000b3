"""Arithmetic on symbols by itself: what it makes of operations and conditions, and what it knows."""

import operator
import random
import re
from itertools import product

import pytest
import sympy

from lego_emit import generate
from lego_emit.arith import steps
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import evaluate
from lego_emit.arith.expr import Cond, Expr, maximum, minimum, opaque, select
from lego_emit.arith.facts import Facts, Range
from lego_emit.arith.signs import without_negative_parts
from lego_emit.arith.terms import Atom
from lego_emit.arith.z3_prover import query
from lego_emit.errors import AssumptionError, TraceError


def symbol(name):
    return Expr.atom(Atom("sym", name))


def below(**ends):
    """What 0 <= name < end says."""
    analyzer = Facts({name: Range(Expr.of(0), Expr.of(end - 1)) for name, end in ends.items()})
    return Analyzer(facts=analyzer)


X, Y = symbol("x"), symbol("y")


def test_a_number_s_root_is_a_number():
    assert [Expr.of(n).isqrt().constant for n in (0, 3, 4, 15)] == [0, 1, 2, 3]


def test_a_choice_of_1_and_0_is_its_condition():
    assert select(X < 3, 1, 0).same((X < 3).as_expr())
    assert not select(X < 3, 2, 0).same((X < 3).as_expr())


def test_a_condition_counts_as_1_or_0():
    for op in (operator.add, operator.sub, operator.mul):
        for made in (lambda x, op=op: op(x < 3, 5), lambda x, op=op: op(5, x < 3)):
            unit = generate(made, "python", name="f", ranges={"x": (0, 9)})
            run = {}
            exec(unit.source, run)
            assert [run["f"](x) for x in range(9)] == [made(x) for x in range(9)]


def test_a_group_knows_its_bounds():
    assert opaque(X).same(X)
    analyzer = Analyzer()
    assert analyzer.interval(opaque(X, Expr.of(0), Expr.of(5))) == (0, 5)
    assert analyzer.interval(opaque(X, Expr.of(0), None))[0] == 0


def test_atoms_in_conditions_are_found():
    chosen = select(Cond("lt", X // 4, Y), X * X, Y)
    kinds = {atom.kind for atom in chosen.deep_atoms()}
    assert kinds >= {"select", "digit", "sym"}


def test_operations_on_what_becomes_a_number():
    made = (X & Y) + 10 * (X | Y) + 100 * (X ^ Y)
    found = below(x=9, y=9).rebuild(
        made, lambda a: Expr.of({"x": 6, "y": 3}[a.args[0]]) if a.kind == "sym" else None
    )
    assert found.constant == 2 + 70 + 500


@pytest.mark.parametrize(("low", "high"), [(12, 24), (24, 12), (12, 12), (24, 24)])
def test_digits_of_other_remainders_are_not_split_off(low, high):
    made = below(x=72).rebuilt(X % low // 2 - 2 * (X % high // 4))
    for x in range(72):
        assert evaluate(made, {"x": x}) == x % low // 2 - 2 * (x % high // 4)


def test_rounding_a_symbol_to_a_whole_number_changes_nothing():
    assert round(X) is X and round(X, 0) is X and round(X, 2) is X
    with pytest.raises(TraceError, match="round"):
        round(X, -1)


def test_rules_have_short_names():
    laws = [law for law in vars(steps).values() if isinstance(law, steps.Law)]
    assert len(laws) >= 5 and all(re.fullmatch("[a-z]+( [a-z]+)?", law.name) for law in laws)


def test_what_z3_is_asked_can_be_read():
    text = query(below(x=9).facts, X * X - X)
    assert "(declare-fun x () Int)" in text and text.rstrip().endswith("(check-sat)")


def test_a_range_is_given_once():
    with pytest.raises(AssumptionError, match="ranges has x twice"):
        generate(lambda x: x, "c", ranges={"x": (0, 4), sympy.Symbol("x"): (0, 5)})


def test_a_size_that_is_a_number_ends_a_range():
    text = generate(lambda N, i: i, "c", name="f", sizes={"N": 8}, ranges={"i": (0, "N")}).source
    assert "0 <= i < 8" in text
    for least, end in ((4, None), (None, 2)):
        with pytest.raises(AssumptionError, match="sizes fixes N to 2, outside of its range"):
            generate(lambda N, i: i, "c", sizes={"N": 2}, ranges={"N": (least, end)})


@pytest.mark.parametrize(
    "known", [["N % 4 == 0", "1 <= N", "N < 103"], ["1 <= N", "N < 103", "N % 4 == 0"]]
)
def test_a_multiple_keeps_its_upper_bound(known):
    text = generate(lambda N, x: N * x, "c", name="f", assume=[*known, "0 <= x < 10"]).source
    assert "int32_t f(" in text and "@param N 4 <= N < 101\n" in text
    assert "the result < 901" in text


def test_results_have_names():
    with pytest.raises(TraceError, match="'1st' is not a name for a result"):
        generate({"1st": sympy.Symbol("x")}, "c")


def test_all_values_of_small_sums():
    """Whatever proves a bound, it holds."""
    analyzer = below(x=5, y=7)
    for a, b, c in product((-3, 1, 2), (-2, 1, 5), (-9, 0, 4)):
        made = analyzer.rebuilt(a * (X // 2) + b * (Y % 3) + c)
        least = min(evaluate(made, {"x": x, "y": y}) for x in range(5) for y in range(7))
        assert analyzer.nonneg(made) == (least >= 0)


# -- whom an expression asks -----------------------------------------------------------------------


def test_operators_of_plain_expressions_ask_nobody():
    """Neither the trace that is running nor anything else decides what x % 9 is."""
    from lego_emit.trace.paths import Running

    known = below(x=9)
    with Running(known).entered():
        made = X % 9
    assert not made.same(X) and known.rebuilt(made).same(X)


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y: x % 9,
        lambda x, y: x // 9 + y,
        lambda x, y: divmod(x, 9)[1],
        lambda x, y: minimum(x, 20),
        lambda x, y: maximum(y, -1) * (x < 9),
        lambda x, y: select(x < 9, y, x),
        lambda x, y: abs(y) + (x & 15) % 9,
        lambda x, y: 3 * (x // 3) + x % 3,
    ],
)
def test_an_analyzer_s_symbols_compute_as_it_simplifies(operation):
    """In its context each operation gives what making the plain one anew gives, and its value."""
    known = below(x=9, y=9)
    made, plain_one = operation(known.bind(X), known.bind(Y)), operation(X, Y)
    assert Expr.of(made).same(known.rebuilt(plain_one))
    for x, y in product(range(9), repeat=2):
        assert evaluate(Expr.of(made), {"x": x, "y": y}) == evaluate(plain_one, {"x": x, "y": y})


def test_values_without_negative_parts_are_the_same():
    """Digits of all borders, quotients and factors of what may be negative, one inside another."""
    known, numbers, turned = below(x=40, y=9), random.Random(1), 0
    x, y = known.bind(X), known.bind(Y)
    for _ in range(150):
        made = numbers.choice([x, y, x - y, x + 3 * y])
        for _ in range(numbers.randint(1, 3)):
            lo, times = numbers.choice([1, 2, 5, y + 1, -(y // -4) + 1]), numbers.choice([3, 64])
            made = numbers.choice([numbers.randint(0, 300) - made, made * (y - 9) + x, -made])
            made = numbers.choice(
                [made // lo, made % times, made % (lo * times) // lo, made // -times]
            )
        plain = known.rebuilt(Expr.of(made))
        found = without_negative_parts(plain, known)
        turned += not found.same(plain)
        assert "// (-" not in str(found), (plain, found)
        for at in product(range(0, 40, 3), range(9)):
            values = dict(zip("xy", at, strict=True))
            assert evaluate(found, values) == evaluate(plain, values), (plain, found, values)
    assert turned > 30


def test_what_is_learned_in_a_scope_ends_with_it():
    known = Analyzer()
    before = known.rebuilt(X % 9)
    with known.scope():
        known.assume(Cond("le", Expr.of(0), X))
        known.assume(Cond("lt", X, Expr.of(9)))
        assert known.rebuilt(X % 9).same(X)
    assert known.rebuilt(X % 9).same(before) and not before.same(X)


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient", "rest"),
    [
        ("i*m + i + j", "m + 1", "i", "j"),
        ("i*m + i*p + j", "m + p", "i", "j"),
        ("i*m + i - 1", "m + 1", "i - 1", "m"),
        ("i*m*m + 2*i*m + i + j", "m*m + 2*m + 1", "i", "j"),
        ("i*m*p + i*m + i*p + i + j*p + j", "m*p + m + p + 1", "i", "j*p + j"),
        ("i*m + i + j", "m + 2", None, None),
    ],
)
def test_a_sum_divided_by_a_sum(dividend, divisor, quotient, rest):
    """As polynomials are, where the terms of the dividend do not show the divisor."""
    known = Analyzer()
    for name, least, most in (("m", 1, None), ("p", 1, None), ("i", 0, None), ("j", 0, "m")):
        end = None if most is None else symbol(most) - 1
        known.learn_range(name, Expr.of(least), end)
    names = {name: symbol(name) for name in "ijmp"}

    def read(text):
        return known.rebuilt(eval(text, names))

    found = known.simplifier.divmod(read(dividend), read(divisor))
    values = product(range(3), range(3), (1, 2, 5), (1, 2, 3))
    for i, j, m, p in values:
        at = {"i": i, "j": min(j, m - 1), "m": m, "p": p}
        wanted = divmod(*(eval(text, at) for text in (dividend, divisor)))
        assert tuple(evaluate(e, at) for e in found) == wanted, at
    if quotient is not None:
        assert [e.same(read(w)) for e, w in zip(found, (quotient, rest), strict=True)] == [True] * 2
