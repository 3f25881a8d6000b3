"""Layouts over SymPy symbols, and SymPy expressions in a user's function."""

import random

import pytest
import sympy
from hypothesis import assume, given, settings
from marks import rest_slow
from net.functions import expressions
from net.layouts import texts
from net.operations import EVERY_OPERATION, RANGES, corners, function, traced
from net.points import Relations
from net.words import build, indices
from sympy import Max, Min, Mod, Piecewise, floor

from lego_emit import Col, ExpandBy, GroupBy, RegP, TileBy, generate, simplify
from lego_emit.algebra import reference
from lego_emit.arith import sympy_nodes as ir
from lego_emit.arith.evaluate import Undefined, evaluate
from lego_emit.arith.from_sympy import from_sympy
from lego_emit.errors import LegoError, TraceError

M, N, i, j, k = sympy.symbols("M N i j k", integer=True)

FORBIDDEN = (sympy.Mod, sympy.floor, sympy.Max, sympy.Min, sympy.Piecewise, sympy.Rational)


def value(expression, **values):
    """A SymPy expression of our nodes at integers."""
    found = expression.subs({s: values[s.name] for s in expression.free_symbols}, simultaneous=True)
    assert found.is_Integer, found
    return int(found)


def assert_ours(expression):
    """Only sums, products, symbols, integers and the nodes of lego_emit.arith.sympy_nodes."""
    for part in sympy.preorder_traversal(expression):
        assert not isinstance(part, FORBIDDEN) or part.is_Integer, part
        assert (
            part.is_Add
            or part.is_Mul
            or part.is_Pow
            or part.is_Symbol
            or part.is_Integer
            or (isinstance(part, ir.IntegerNode))
        ), part


LAYOUTS = [
    GroupBy([4, 6]),
    GroupBy([4, 6]).OrderBy(RegP([2, 2, 3, 2], [3, 1, 0, 2])),
    GroupBy([6, 4]).OrderBy(RegP([4, 6], [1, 0])).OrderBy(Col(3, 8)),
    TileBy([2, 3], [4, 5]).OrderBy(Col(8, 15)),
    ExpandBy([5, 7], [6, 8], TileBy([3, 2], [2, 4]).OrderBy(Col(6, 8))),
    build("GroupBy([6, 6]).OrderBy(RegP([2, 2], [1, 0]), Antidiagonal(3, 3))"),
]


@pytest.mark.parametrize("layout", rest_slow(LAYOUTS, 3), ids=repr)
def test_a_layout_applied_to_symbols_is_a_sympy_expression(layout):
    parameters = sympy.symbols(f"x:{len(layout.dims)}", integer=True)
    flat = layout.apply(*parameters)
    back = layout.inv(sympy.Symbol("flat", integer=True))
    for e in (flat, *back):
        assert isinstance(e, sympy.Expr)
        assert_ours(e)
    for index in indices(layout.dims):
        values = {s.name: v for s, v in zip(parameters, index, strict=True)}
        assert value(flat, **values) == reference.apply(layout, index)
    for position in range(layout.physical_size):
        found = tuple(value(e, flat=position) for e in back)
        assert found == reference.inv(layout, position)


def test_an_index_of_zero_is_not_assumed_away():
    flat = GroupBy([4, 6]).OrderBy(Col(4, 6)).apply(i, j)
    assert value(flat, i=0, j=0) == 0
    assert value(GroupBy([4, 6]).inv(k)[1], k=0) == 0


def test_sizes_may_be_sympy_symbols():
    layout = GroupBy([M, N]).OrderBy(Col(M, N))
    flat, back = layout.apply(i, j), layout.inv(k)
    for e in (flat, *back):
        assert_ours(e)
    for m, n in ((3, 4), (1, 5), (5, 1)):
        concrete = GroupBy([m, n]).OrderBy(Col(m, n))
        for index in indices((m, n)):
            assert value(flat, M=m, N=n, i=index[0], j=index[1]) == concrete.apply(*index)
        for position in range(m * n):
            assert tuple(value(e, M=m, N=n, k=position) for e in back) == concrete.inv(position)


def test_floor_of_sympy_symbols_in_sizes_divides():
    b = sympy.Symbol("B", integer=True)
    layout = GroupBy([floor(M / b), b]).OrderBy(Col(M))
    flat = layout.apply(i, j)
    assert_ours(flat)
    assert value(flat, M=12, B=4, i=2, j=3) == 11
    made = generate(GroupBy([M // b, b]), "cpp").functions[0]
    assert "M % B == 0" in made.assumptions


def test_generate_takes_sympy_sizes():
    forward, back = generate(TileBy([M, 2], [3, N]).OrderBy(Col(3 * M, 2 * N)), "cpp").functions
    assert [p.name for p in forward.params][:2] == ["M", "N"]
    concrete = TileBy([2, 2], [3, 5]).OrderBy(Col(6, 10))
    names = [p.name for p in forward.params][2:]
    for index in indices(concrete.dims):
        values = {"M": 2, "N": 5, **dict(zip(names, index, strict=True))}
        flat = forward.evaluate(values)["flat"]
        assert flat == reference.apply(concrete, index)
        assert tuple(back.evaluate({"M": 2, "N": 5, "flat": flat}).values()) == index


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(texts(symbolic=False))
def test_random_layouts_over_symbols(made):
    text, _, _ = made
    layout = build(text)
    parameters = sympy.symbols(f"x:{len(layout.dims)}", integer=True)
    flat, back = layout.apply(*parameters), layout.inv(k)
    draw = random.Random(text)
    for _ in range(5):
        index = tuple(draw.randrange(n) for n in layout.dims)
        position = reference.apply(layout, index)
        assert (
            value(flat, **{s.name: v for s, v in zip(parameters, index, strict=True)}) == position
        )
        assert tuple(value(e, k=position) for e in back) == index


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(texts(symbolic=True))
def test_random_layouts_over_symbolic_sizes(made):
    text, names, relations = made
    sizes = Relations(relations, names, 1, 64).draw(random.Random(text))
    assume(sizes is not None)
    layout, concrete = (
        build(text, **{n: sympy.Symbol(n, integer=True) for n in sizes}),
        build(text, **sizes),
    )
    parameters = sympy.symbols(f"x:{len(layout.dims)}", integer=True)
    flat, back = layout.apply(*parameters), layout.inv(k)
    draw = random.Random(text)
    for _ in range(3):
        index = tuple(draw.randrange(n) for n in concrete.dims)
        position = reference.apply(concrete, index)
        at = {s.name: v for s, v in zip(parameters, index, strict=True)}
        assert value(sympy.sympify(flat), **sizes, **at) == position
        assert tuple(value(sympy.sympify(e), **sizes, k=position) for e in back) == index


# -- there and back ------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(expressions)
def test_every_expression_goes_to_sympy_and_back(text):
    try:
        _, outputs = traced(text)
    except LegoError:
        return  # a division by zero
    (e,) = outputs
    there = e.to_sympy()
    back = from_sympy(there)
    draw = random.Random(text)
    for _ in range(6):
        values = {n: draw.randint(lo, hi) for n, (lo, hi) in RANGES.items()}
        try:
            want = evaluate(e, values)
        except Undefined:
            continue
        assert evaluate(back, values) == want
        assert value(sympy.sympify(there), **values) == want


@pytest.mark.slow
@pytest.mark.parametrize("case", EVERY_OPERATION)
def test_every_operation_goes_to_sympy_and_back(case):
    plain = function(EVERY_OPERATION[case])
    _, outputs = traced(EVERY_OPERATION[case])
    there = [sympy.sympify(e.to_sympy()) for e in outputs]
    back = [from_sympy(e) for e in there]
    for values in corners(random.Random(case), 8):
        if not values["x"]:  # x divides in some of them
            continue
        want = plain(**values)
        for k, (e, f) in enumerate(zip(there, back, strict=True)):
            assert value(e, **values) == want[k], (e, values)
            assert evaluate(f, values) == want[k], (f, values)


def test_sympify_knows_our_expressions():
    from lego_emit import symbols

    m, n = symbols("M N")
    assert sympy.sympify(m * n + 3) == M * N + 3
    assert sympy.Symbol("K", integer=True) + m // 4 == sympy.Symbol(
        "K", integer=True
    ) + ir.FloorDiv(M, 4)


@pytest.mark.parametrize(("a", "b"), [(7, 4), (-7, 4), (7, -4), (-7, -4), (0, 3), (8, -4), (-1, 2)])
def test_the_nodes_have_floor_semantics(a, b):
    assert ir.FloorDiv(a, b) == a // b
    assert ir.FloorMod(a, b) == a % b
    assert ir.FloorDiv(M, N).subs({M: a, N: b}) == a // b
    assert ir.ShiftRight(a, 1) == a >> 1
    assert ir.BitAnd(a, b) == a & b and ir.BitOr(a, b) == a | b and ir.BitXor(a, b) == a ^ b


def test_sympys_own_mod_does_not_come_back():
    """Mod(2*Mod(x, 3), 6) is 2 at x = 2 in SymPy, and 4 in truth."""
    e = ir.FloorMod(2 * ir.FloorMod(M, 3), 6)
    assert value(e, M=2) == 4
    for q in range(2, 9):
        for c in range(1, 7):
            nested = ir.FloorMod(c * ir.FloorMod(M, q), 6)
            assert [value(nested, M=x) for x in range(12)] == [c * (x % q) % 6 for x in range(12)]


# -- SymPy in a user's function ------------------------------------------------------------------

M_, N_ = (sympy.Symbol(n, integer=True) for n in "MN")

CASES = {
    "floor": (floor(M / 3) + floor((M - 5 * N) / 4), lambda m, n: m // 3 + (m - 5 * n) // 4),
    "floor of a symbolic divisor": (floor(M / (N + 10)), lambda m, n: m // (n + 10)),
    "floor of fractions": (
        floor(M * sympy.Rational(2, 3) + sympy.Rational(1, 2)),
        lambda m, n: (4 * m + 3) // 6,
    ),
    "Mod": (Mod(M, 7) + Mod(-N, 3), lambda m, n: m % 7 + -n % 3),
    "Max and Min": (Max(M, N, 3) - Min(M, 2 * N, 1), lambda m, n: max(m, n, 3) - min(m, 2 * n, 1)),
    "Piecewise": (
        Piecewise((M, M < N), (N - 3, sympy.And(M > 2, N > 2)), (7, True)),
        lambda m, n: m if m < n else n - 3 if m > 2 and n > 2 else 7,
    ),
    "Piecewise of relations": (
        Piecewise((1, sympy.Eq(M, N)), (2, sympy.Ne(M, 3)), (3, True)),
        lambda m, n: 1 if m == n else 2 if m != 3 else 3,
    ),
    "Piecewise of Or and Not": (
        Piecewise((1, sympy.Or(M < -3, sympy.Not(sympy.Eq(N, 2)))), (2, True)),
        lambda m, n: 1 if m < -3 or n != 2 else 2,
    ),
    "a power": ((M + N) ** 3 - M**2, lambda m, n: (m + n) ** 3 - m**2),
    "our nodes": (ir.FloorDiv(M, 3) + ir.Isqrt(N * N), lambda m, n: m // 3 + abs(n)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.quick(4)
def test_sympy_expressions_are_accepted_and_right(case):
    expression, wanted = CASES[case]

    def given(M, N):
        return expression

    (found,) = generate(given, "cpp", assume=["-9 <= M <= 9", "-9 <= N <= 9"]).functions
    for m in range(-9, 10):
        for n in range(-9, 10):
            assert found.evaluate({"M": m, "N": n})["result"] == wanted(m, n), (m, n)


def piecewise_expression(rng, depth):
    """A random expression of M and N with choices, quotients and remainders."""
    if depth == 0:
        return rng.choice([M, N, M + N, 2 * M - N, sympy.Integer(rng.randint(-3, 9))])
    kind = rng.random()
    if kind < 0.4:
        bound = rng.randint(1, 20)
        conditions = [M < bound, sympy.Eq(N, bound % 5), M >= 2 * N, (M < bound) & (N > 2)]
        condition = rng.choice([*conditions, sympy.Ne(M, bound)])
        branches = [piecewise_expression(rng, depth - 1) for _ in range(2)]
        return Piecewise((branches[0], condition), (branches[1], True))
    inner, number = piecewise_expression(rng, depth - 1), rng.choice([2, 3, 8, 12])
    if kind < 0.75:
        return Mod(inner, number) if kind < 0.55 else floor(inner / number)
    return inner + rng.choice([1, 2, -1]) * piecewise_expression(rng, depth - 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_slow(range(8)))
def test_the_pieces_of_a_choice_are_right_under_their_conditions(seed):
    rng = random.Random(seed)
    expression = piecewise_expression(rng, 4) + M + N
    found = simplify(expression, ranges={"M": (0, 24), "N": (1, 7)})
    for m, n in [(rng.randrange(24), rng.randrange(1, 7)) for _ in range(20)]:
        assert value(found, M=m, N=n) == value(expression, M=m, N=n), (m, n)


def test_a_piece_is_simplified_under_its_condition_and_no_other():
    rest = Mod(M, 8)
    found = simplify(Piecewise((rest, M < 8), (rest + 1, True)), ranges={"M": (0, 64)})
    assert found == ir.Select(ir.Less(M, 8), M, ir.FloorMod(M, 8) + 1)
    nested = Piecewise((Piecewise((rest, M < 8), (5, True)), N < 3), (rest, True)) + rest
    found = simplify(nested, ranges={"M": (0, 64)})
    inner = ir.Select(ir.Less(M, 8), M, 5)
    remainder = ir.FloorMod(M, 8)
    assert found == remainder + ir.Select(ir.Less(N, 3), inner, remainder)


@pytest.mark.parametrize(
    "expression, end, wanted",
    [
        (Piecewise((M, M < 4), (M - 4, True)), 8, ir.FloorMod(M, 4)),
        (Piecewise((M - 4, M >= 4), (M, True)), 8, ir.FloorMod(M, 4)),
        (Piecewise((M - 5, M > 4), (M, True)), 10, ir.FloorMod(M, 5)),
        (Piecewise((M, M <= 4), (M - 5, True)), 6, ir.FloorMod(M, 5)),
        (Piecewise((3 * M, M < 4), (3 * M - 12, True)) + N, 8, 3 * ir.FloorMod(M, 4) + N),
        (N * Piecewise((M, M < 5), (M - 5, True)), 10, N * ir.FloorMod(M, 5)),
        (Piecewise((M, M < 4), (M - 4, True)), 9, M + ir.Select(ir.Less(M, 4), 0, -4)),
        (Piecewise((5, M < 4), (7, True)), 8, ir.Select(ir.Less(M, 4), 5, 7)),
        (Piecewise((M, M < 4), (M - 3, True)), 8, M + ir.Select(ir.Less(M, 4), 0, -3)),
    ],
)
@pytest.mark.quick(4)
def test_a_choice_that_is_a_remainder_is_one(expression, end, wanted):
    found = simplify(expression, ranges={"M": (0, end)})
    assert found == wanted
    for m in range(end):
        for n in (-3, 0, 2):
            assert value(found, M=m, N=n) == value(expression, M=m, N=n), (m, n)


@pytest.mark.slow
def test_reading_choices_within_choices_ends():
    expression = M
    for number in range(16):  # each has the one before twice
        flag = ir.Less(sympy.Symbol(f"x{number}", integer=True), 3)
        expression = ir.Select(flag, ir.FloorMod(expression, 7), ir.FloorDiv(expression, 2))
    text = str(generate({"f": expression}, target="python"))
    assert all(f"x{number} <= 2" in text for number in range(16))


def test_sympy_functions_of_the_parameters_themselves():
    def given(M, N):
        return Max(M, N) + Mod(sympy.sympify(M), 4)

    (found,) = generate(given, "cpp", assume=["0 <= M < 9", "0 <= N < 9"]).functions
    for m, n in indices((9, 9)):
        assert found.evaluate({"M": m, "N": n})["result"] == max(m, n) + m % 4


@pytest.mark.parametrize(
    "expression",
    [
        sympy.sin(M),
        M / 2,
        sympy.sqrt(M),
        2**M,
        1 / M,
        sympy.pi,
        sympy.Float(2),
        sympy.oo,
        sympy.nan,
        sympy.I,
        sympy.factorial(M),
        sympy.sign(M),
        sympy.Sum(M, (M, 0, 3)),
        floor(0.5 * M),
        M < 3,
        sympy.Symbol("two words"),
        Piecewise((M, M < 3)),
        sympy.Function("f")(M),
    ],
    ids=str,
)
def test_what_is_no_integer_operation_raises(expression):
    with pytest.raises(TraceError) as caught:
        generate(lambda M, N: expression, "cpp")
    assert (
        str(expression) in str(caught.value)
        or "fraction" in str(caught.value)
        or "0.5" in str(caught.value)
    )


@pytest.mark.parametrize(
    "expression", [sympy.Symbol("Q", integer=True) * 2, sympy.Symbol("lambda")]
)
def test_a_symbol_that_is_no_parameter(expression):
    """It becomes a parameter, or is named in an error of the user's: never an internal one."""
    from lego_emit.errors import InternalError

    try:
        (found,) = generate(lambda M: M + expression, "cpp").functions
    except InternalError:
        raise
    except LegoError as error:
        assert str(next(iter(expression.free_symbols))) in str(error)
    else:
        assert len(found.params) == 2
