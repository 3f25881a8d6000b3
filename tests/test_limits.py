"""Where work ends: each case is done after little work, or is refused with what to do. Work is
counted (questions, paths, terms, digits), so that the answer is the same on every machine."""

import random
from itertools import product

import pytest
from net.machine import assert_sound
from test_bad_input import refused_by_generate

from lego_emit import Col, GenP, GroupBy, RegP, TileBy, generate, symbols
from lego_emit.arith import digits
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.bounds import Bounds
from lego_emit.arith.expr import Expr
from lego_emit.arith.text import CUT
from lego_emit.errors import AssumptionError, TraceError

QUESTIONS = 300_000  # several times what the cases here ask


@pytest.fixture(autouse=True)
def bounded(monkeypatch):
    """A run without an end fails: it asks for ever."""
    asked = 0
    interval = Bounds.interval

    def counted(bounds, e):
        nonlocal asked
        asked += 1
        assert asked < QUESTIONS
        return interval(bounds, e)

    monkeypatch.setattr(Bounds, "interval", counted)


def same_as_python(fn, sizes):
    """generate(fn) gives what fn gives, at every point; the unit."""
    unit = generate(fn, "cpp", assume=[f"0 <= {name} < {n}" for name, n in sizes.items()])
    (function,) = unit.functions
    for point in product(*map(range, sizes.values())):
        values = dict(zip(sizes, point, strict=True))
        assert tuple(function.evaluate(values).values()) == (fn(**values),), values
        assert_sound(function, values)
    return unit


# -- loops and branches --------------------------------------------------------------------------


def counted_down(x):
    n = 0
    while x:
        x = x - 1
        n += 2
    return n


def counted_up(x):
    n = 0
    while x != 5:
        x = x + 1
        n += 2
    return n


def bits_set(x):
    n = 0
    while x:
        x = x & (x - 1)
        n += 1
    return n


def steps_to_one(x):
    """Of the Collatz sequence from x + 1 on."""
    n, x = 0, x + 1
    while x != 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        n += 1
    return n


def unequal(x):
    """What is neither 1 nor 0 is 2 or more."""
    if x == 1 or x == 0:
        return 7
    return max(x, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fn", "sizes", "text"),
    [
        (counted_down, {"x": 4}, "return x << 1;"),
        (counted_up, {"x": 4}, None),
        (bits_set, {"x": 8}, None),
        (bits_set, {"x": 128}, None),
        pytest.param(steps_to_one, {"x": 30}, None, marks=pytest.mark.deep),
        (unequal, {"x": 5000}, "x == 0 ? 7 : x;"),
        (lambda x: 1 if x * x % 4 == 2 else 0, {"x": 8}, "return 0;"),
    ],
)
def test_a_loop_is_unrolled_to_its_end(fn, sizes, text):
    source = same_as_python(fn, sizes).source
    assert text is None or text in source


def test_only_paths_that_values_take_are_followed():
    calls = []

    def f(x):
        calls.append(x)
        return counted_down(x)

    generate(f, "cpp", assume=["0 <= x < 4"])
    symbolic = [x for x in calls if not isinstance(x, int)]
    # One a path, as what is learned later is learned from the tape; and one for all, joined.
    assert len(symbolic) == 4 + 1
    assert {*calls[len(symbolic) :]} == {0, 1, 2, 3}  # compared with what is emitted


def test_a_condition_that_contradicts_the_others_is_no_branch():
    """x*y >= 10 with x <= 2 and y <= 3 has no values."""
    followed = []

    def f(x, y):
        if x * y >= 10 and x <= 2 and y <= 3:
            followed.append((x, y))
        return x

    generate(f, "cpp", assume=["0 <= x", "0 <= y"])
    assert not followed


@pytest.mark.slow
def test_the_paths_of_a_function_inside_count_too():
    def spread(i):
        found = []
        for k in range(6):
            if i // 3**k % 3 == 1:
                found.append(k)
        return len(found)

    def f(x, y):
        return GroupBy([10**6]).OrderBy(GenP([10**6], spread))[x] + spread(y)

    refused_by_generate(TraceError, "256 paths", "assume=", fn=f, assume=["0 <= y < 1000000"])


def up(x):
    while x >= 0:
        x = x + 1
    return x


def past(x):
    """Ends for x >= 2 only."""
    while x != 2:
        x = x - 1
    return x


def bits(x):
    return len([k for k in range(10) if x >> k & 1])


@pytest.mark.deep
@pytest.mark.parametrize(
    ("fn", "assume", "words"),
    [
        (up, "0 <= x", ["4096 conditions", "0 <= x + 4096", "sizes="]),
        (past, "0 <= x < 4", ["4096 conditions", "x - 4096 != 2"]),
        (counted_down, "0 <= x", ["64 undecided", "x - 64 == 0", "assume="]),
        (bits_set, "0 <= x", ["64 undecided", "x - 1 & x", ".."]),
        (steps_to_one, "0 <= x", ["64 undecided"]),
        (bits, "0 <= x < 2**20", ["256 paths", "assume="]),
    ],
)
def test_a_loop_without_a_proven_end_is_refused(fn, assume, words):
    refused_by_generate(TraceError, *words, fn=fn, assume=[assume])


def never(x):
    """Needs its value, and has no end where that is not 3."""
    y = [1, 2, 3, 0][x]
    while y:
        x = y
    return x


def test_what_is_called_with_values_has_an_end():
    refused_by_generate(TraceError, "Python needs its value here", fn=never, assume=["0 <= x < 4"])


def test_no_values_at_all():
    def f(x, y, p, q):
        return x * y if p < q else 0

    refused_by_generate(
        AssumptionError, "contradict", fn=f, assume=["x*y >= 10", "0 <= x <= 2", "0 <= y <= 3"]
    )


def test_small_sizes_are_checked_whatever_was_decided():
    """A GenP over N is tried at N = 1 too where the function has N >= 4."""

    def place(N, i):
        if N >= 4:
            return i + 3 if i < N - 3 else i - (N - 3)
        return i

    def back(N, p):
        if N >= 4:
            return p - 3 if p >= 3 else p + N - 3
        return p

    def f(N, i):
        turned = GenP([N], lambda k: place(N, k), lambda p: back(N, p))
        return GroupBy([N]).OrderBy(turned)[i] if N >= 4 else 0

    (function,) = generate(f, "cpp").functions
    for N in range(1, 7):
        for i in range(N):
            wanted = place(N, i) if N >= 4 else 0
            assert function.evaluate({"N": N, "i": i}) == {"result": wanted}


# -- powers, products, sums ----------------------------------------------------------------------


def falling(x, count):
    """x * (x + 1) * .. of so many factors."""
    product = 1
    for k in range(count):
        product *= x + k
    return product


@pytest.mark.parametrize(
    ("fn", "sizes", "multiplications"),
    [
        (lambda x: x**20, {"x": 5}, 5),
        (lambda x: (x + 1) ** 20, {"x": 5}, 5),
        (lambda x: (x + y_of(x) - 3) ** 15 * 2, {"x": 6}, None),
        (lambda x, y: (x - y) ** 7 - (x + y) ** 4, {"x": 9, "y": 7}, 6),
        (lambda x: falling(x, 12), {"x": 9}, 11),
        (lambda x: x**2 + x**3 + x**4, {"x": 9}, None),
        (lambda x: (x**31 + 3) % 7, {"x": 4}, None),
    ],
)
def test_a_power_takes_few_multiplications(fn, sizes, multiplications):
    (function,) = same_as_python(fn, sizes).functions
    found = sum(node.op == "mul" for node in function.nodes())
    assert multiplications is None or found == multiplications


def y_of(x):
    return x // 2


def test_a_power_is_no_more_terms():
    """(x + y + z + 1)**64 has 47905, multiplied out."""
    (function,) = generate(
        lambda x, y, z: (x + y + z + 1) ** 64, "cpp", assume=["0 <= x", "0 <= y", "0 <= z"]
    ).functions
    assert sum(node.op == "mul" for node in function.nodes()) == 6
    assert "fits int64" in " ".join(function.assumptions)


def test_products_share_what_they_have_in_common():
    """Each factor doubles what would be looked at without it."""
    (function,) = generate(lambda x: falling(x, 26), "cpp", assume=["0 <= x"]).functions
    assert function.evaluate({"x": 3}) == {"result": falling(3, 26)}


def squared(x):
    for _ in range(10):
        x = x * x + 1
    return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda x: x**10**6, ["1000000 factors", "256", "%"]),
        (lambda x: (x + 1) ** 300, ["300 factors"]),
        (lambda x: (x // 3 * x) ** 140, ["280 factors"]),
        (squared, ["512 factors"]),
        (lambda x: x + Expr.of(9) ** 10**9, ["bits", "4096"]),
        (lambda x: sum(x // k for k in range(1, 2000)), ["512 terms"]),
    ],
)
def test_a_product_or_sum_of_too_much_is_refused(fn, words):
    refused_by_generate(TraceError, *words, fn=fn, assume=["0 <= x"])


def test_a_product_of_sums_is_multiplied_out_up_to_a_number_of_terms():
    for m, n in ((8, 8), (13, 5)):
        a, b = (symbols(" ".join(f"{s}{k}" for k in range(c))) for s, c in (("a", m), ("b", n)))
        made = sum(a) * sum(b)
        expanded = Analyzer().simplifier.expand_opaque(made)
        assert len(made.terms) == 1 and (expanded is None) is (m * n > 64)
        assert expanded is None or len(expanded.terms) == m * n


def test_all_values_are_looked_at_where_they_are_few():
    x, y = symbols("x y")
    for most, prover in ((63, "all values"), (64, "Z3")):
        analyzer = Analyzer()
        analyzer.learn_range("x", Expr.of(0), Expr.of(63))
        analyzer.learn_range("y", Expr.of(0), Expr.of(most))
        assert analyzer.prover.proofs.shown(x * x - 2 * x * y + y * y) == (prover, None)


def test_a_product_that_is_reduced_on_the_way_is_not_too_much():
    def power(x):
        for _ in range(10):
            x = x * x % 251
        return x

    assert same_as_python(power, {"x": 9})


def test_numbers_to_huge_powers_have_a_value_where_that_is_small():
    assert (Expr.of(-1) ** 10**30).same(Expr.of(1)) and (Expr.of(1) ** 10**30).same(Expr.of(1))
    assert (Expr.of(0) ** 10**30).same(Expr.of(0)) and (Expr.of(-3) ** 5).same(Expr.of(-243))


@pytest.mark.parametrize(
    ("assumption", "words"),
    [
        ("M < 2**99999999", ["about 99999999 bits"]),
        ("M < 9**9**9", ["bits", "4096"]),
        ("M**100000 < 5", ["100000 factors"]),
        ("(M + 1)**300 < 5", ["300 factors"]),
    ],
)
def test_an_assumption_of_too_much_is_refused(assumption, words):
    fn = lambda M: M  # noqa: E731
    refused_by_generate(AssumptionError, "M", *words, fn=fn, assume=[assumption])


@pytest.mark.slow
def test_a_sum_of_many_quotients():
    """Neighboring digits are put together by what they have in common, not pair by pair."""
    looked_at = 0
    without = digits.without

    def counted(*monomials):
        nonlocal looked_at
        looked_at += 1
        return without(*monomials)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digits, "without", counted)
        (function,) = generate(
            lambda x: sum(x // k for k in range(1, 200)), "cpp", assume=["0 <= x < 9000"]
        ).functions
    assert looked_at < 200 * 200 * 10
    assert function.evaluate({"x": 8999}) == {"result": sum(8999 // k for k in range(1, 200))}


# -- big layouts (benchmarks/big measures bigger ones) -------------------------------------------


def reordered(times):
    layout = GroupBy([64, 256])
    for k in range(times):
        layout = layout.OrderBy((Col(64, 256), RegP([8, 16, 128], [1, 0, 2]), Col(2, 2**13))[k % 3])
    return layout


@pytest.mark.parametrize(
    "layout",
    [
        GroupBy([2**31, 2**31]).OrderBy(Col(2**31, 2**31)),
        GroupBy([2**31 - 1, 2**31 - 1]).OrderBy(Col(2**31 - 1, 2**31 - 1)),
        GroupBy([3] * 32).OrderBy(RegP([3] * 32, [*reversed(range(32))])),
        TileBy(*([[2, 1], [1, 2]] * 31), [1, 1], [1, 1]).OrderBy(Col(2**31, 2**31)),
        reordered(100),
    ],
    ids=["2**62", "nearly 2**62", "rank 32", "64 levels", "100 reorderings"],
)
def test_a_big_layout(layout):
    forth, back = generate(layout, "cpp", index_type="int64").functions
    rng = random.Random(1)
    for k in range(40):
        pick = (lambda n: n - 1) if k == 0 else rng.randrange
        index, flat = tuple(map(pick, layout.dims)), pick(layout.physical_size)
        values = dict(zip((p.name for p in forth.params), index, strict=True))
        assert [*forth.evaluate(values).values()] == [layout.reference_apply(index)]
        values = {back.params[0].name: flat}
        assert tuple(back.evaluate(values).values()) == tuple(layout.reference_inv(flat))


# -- text ----------------------------------------------------------------------------------------


def test_the_text_of_a_power():
    x = symbols("x")
    assert [repr(x**k) for k in (3, 4)] == ["x*x*x", "x**4"]


def test_the_text_of_a_value_that_shares_its_parts_is_cut_off():
    x = symbols("x")
    for k in range(1, 14):
        x = x ^ x >> k
    assert CUT in repr(x) and len(repr(x)) < 50_000
    assert CUT in repr(x < 3) and len(repr(x < 3)) < 50_000
