"""Wrong code and endless runs that were, one test a mechanism: what is emitted is compared with
the user's own function, or the reference, at every point of a small domain."""

import sys
import threading
from itertools import product

import pytest
from net.judge import assert_sound
from net.operations import function
from net.points import holds
from net.words import build, indices

from lego_emit import Row, TileBy, registry, symbols
from lego_emit.errors import TraceError
from lego_emit.evaluate import evaluate
from lego_emit.expr import Atom, using
from lego_emit.facts import Facts
from lego_emit.generator import build_program
from lego_emit.layout import OrderBy

CPP = registry.printer("cpp")
FORTRAN = registry.printer("fortran")
JAVASCRIPT = registry.printer("javascript")


def defined(text, names):
    """def f(names): return text."""
    space = dict(function("0").__globals__)
    exec(f"def f({names}):\n    return {text}\n", space)
    return space["f"]


def assert_right(text, names, assume, domains, printer=CPP, **options):
    """The lowered function is the user's own wherever its header allows a point of the domains,
    and at least at one."""
    fn = defined(text, names)
    (lowered,) = build_program(fn, printer, assume=assume, **options).functions
    seen = 0
    for point in product(*domains):
        values = dict(zip(names.split(", "), point, strict=True))
        stated = [*assume, *lowered.assumptions, *(p.range_text for p in lowered.params)]
        if not holds(stated, values):
            continue
        seen += 1
        wanted = int(fn(**values))
        assert_sound(lowered, values, printer.lazy_select)
        assert lowered.evaluate(values) == {"result": wanted}, values
        if lowered.result_range:
            assert holds([lowered.result_range.replace("the result", "R")], {**values, "R": wanted})
    assert seen
    return lowered


# -- quotients with and without a common divisor -------------------------------------------------

SPLIT = [
    "-12*(x//24) + x//2",  # 2 divides 24: one digit
    "x//2 - 12*(x//24)",
    "-2*(x//3) + x//2",
    "-3*(x//2) + x//2",
    "x//4 - (x//2)*2 - x//3",
    "-4*(x//(4*N)) + x//N",
    "x//N - 4*(x//(4*N))",
    "-N*(x//(2*N)) + x//2",  # N times too much or too little: no digit of x
    "-2*(x//(2*N)) + x//N - 2*(x//(N*M)) + x//M",
    "(x % (6*N))//N - 2*((x % (6*N))//(2*N))",
    "(x % 24)//4 - 2*((x % 24)//6)",
    "x//N + M*(x//(N*M)) - M*(x//(M*N))",
]


@pytest.mark.parametrize("text", SPLIT)
def test_digits_are_split_off_where_one_divisor_divides_the_other(text):
    domains = [range(50), range(1, 5), range(1, 4)]
    assert_right(text, "x, N, M", ["x >= 0", "N >= 1", "M >= 1"], domains)


def test_a_split_in_a_chain_of_reorderings():
    layout = "GroupBy([N, 4, K, 3]).OrderBy(Col(K, 12, N))"
    N, K = symbols("N K")
    made = build_program(build(layout, N=N, K=K), CPP, assume=["N <= 40", "K <= 8"])
    apply, inv = made.functions
    for n, k in product((1, 2, 3, 5, 40), (1, 2, 3, 8)):
        known = build(layout, N=n, K=k)
        for index in indices(known.dims):
            values = {"N": n, "K": k, **dict(zip("ijkl", index, strict=True))}
            flat = known.apply(*index)
            assert_sound(apply, values)
            assert apply.evaluate(values) == {"flat": flat}
            values = {"N": n, "K": k, "flat": flat}
            assert_sound(inv, values)
            assert tuple(inv.evaluate(values).values()) == index


# -- divisors without a positive lower bound -----------------------------------------------------


def test_a_quotient_by_what_is_positive_in_its_branch_only():
    text = "(1 if x // d >= 1 else 100) if d > 0 else 0"
    assert_right(text, "x, d", ["0 <= x < 11"], [range(11), range(-3, 13)])
    text = "max(x // d, 2) if d > 0 else 7"
    assert_right(text, "x, d", ["-9 <= x < 11"], [range(-9, 11), range(-3, 13)])


@pytest.mark.parametrize(
    "text",
    [
        "max(i//(M-N), 0)",
        "5 if (i-50)//(M-N) >= 0 else 6",
        "min(i//(M-N), 100)",
        "i % (M-N)",
        "(i//(M-N)) % 3",
    ],
)
@pytest.mark.parametrize("assume", [["N < M"], ["M < N"], ["N < M", "i >= 0"]])
def test_a_quotient_by_a_difference(text, assume):
    domains = [(-70, -51, -7, -1, 0, 1, 6, 49, 50, 51, 60, 99), range(-3, 5), range(-3, 5)]
    assert_right(text, "i, M, N", assume, domains)


def test_a_division_in_a_branch_is_not_made_outside_of_it():
    """Shared parts are computed first, whatever the branch: they must not divide by 0."""
    for text in (
        "(x//d)*(x//d) + (x//d) % 3 if d > 0 else 0",
        "(x//d)*(x//d) + (x//d) % 3 if d != 0 else 0",
        "(x%d)*(x%d) + (x//d) if d < 0 else 5",
    ):
        for printer in (CPP, FORTRAN):
            found = assert_right(text, "x, d", ["0 <= x < 20"], [range(20), range(-4, 5)], printer)
            assert not any("!=" in a for a in found.assumptions)


def test_a_division_whatever_the_branch_is_a_precondition():
    found = assert_right("x // d + (1 if x > 3 else 2)", "x, d", [], [range(9), range(-4, 5)])
    assert "d != 0" in found.assumptions


# -- extents that only another fact divides ------------------------------------------------------


def test_a_quotient_of_a_quotient_as_a_size():
    text = (
        "GroupBy([3, 64//BN//2], [BN*2]).OrderBy(Col(3, 64//BN//2), Row(2*BN)).OrderBy(Col(3, 64))"
    )
    BN = symbols("BN")
    apply, inv = build_program(build(text, BN=BN), CPP, assume=["BN <= 16"]).functions
    for bn in (1, 2, 4, 8, 16):
        known = build(text, BN=bn)
        for index in indices(known.dims):
            values = {"BN": bn, **dict(zip("ijk", index, strict=True))}
            flat = known.apply(*index)
            assert_sound(apply, values)
            assert apply.evaluate(values) == {"flat": flat}
            assert tuple(inv.evaluate({"BN": bn, "flat": flat}).values()) == index


# -- bounds that lead back to themselves ---------------------------------------------------------


@pytest.mark.parametrize("bound", ["M <= 2*BM", "M <= 128*BM", "BM <= M", "M < BM + 7"])
def test_a_size_bounded_by_what_divides_it(bound):
    M, BM = symbols("M BM")
    apply, inv = build_program(TileBy([M // BM], [BM]), CPP, assume=[bound]).functions
    assert apply.evaluate({"M": 6, "BM": 3, "i": 1, "j": 2}) == {"flat": 5}
    assert inv.evaluate({"M": 6, "BM": 3, "flat": 5}) == {"i": 1, "j": 2}


def test_bounds_in_a_circle():
    fn = defined("a + b", "a, b")
    assume = ["a <= b + 1", "b <= a + 1", "a >= 0", "b >= 0"]
    (made,) = build_program(fn, CPP, assume=assume).functions
    assert made.evaluate({"a": 2, "b": 3}) == {"result": 5}


# -- sizes that are numbers beside sizes that are not --------------------------------------------


@pytest.mark.parametrize("printer", [CPP, FORTRAN])
def test_a_number_divided_by_a_symbol(printer):
    """The quotient that the facts speak of is written as the user writes it."""

    def tiled(M, N, BM, BN):
        return OrderBy(Row(M, N)).TileBy([M // BM, N // BN], [BM, BN])

    def packed(M, N, BM, BN):
        return TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M // BM, N // BN), Row(BM, BN))

    for made in (tiled, packed):
        apply, inv = build_program(made, printer, sizes={"N": 24}).functions
        for m, bm, bn in ((4, 2, 3), (3, 1, 8), (6, 6, 24)):
            known = made(m, 24, bm, bn)
            for index in indices(known.dims):
                values = {"M": m, "BM": bm, "BN": bn}
                flat = known.apply(*index)
                found = apply.evaluate({**values, **dict(zip("ijkl", index, strict=True))})
                assert found == {"flat": flat}
                assert tuple(inv.evaluate({**values, "flat": flat}).values()) == index


@pytest.mark.parametrize("printer", [CPP, JAVASCRIPT])
def test_a_remainder_of_what_divides_the_divisor(printer):
    domains = [range(1, 9), range(1, 17)]
    assert_right("N % B", "N, B", ["B % N == 0", "N >= 1", "B >= 1"], domains, printer)


# -- what is shared ------------------------------------------------------------------------------


def test_shared_parts_are_evaluated_once():
    facts = Facts()
    with using(facts):
        n = symbols("n")
        for _ in range(60):
            n = n ^ (n >> 1)
        value = 2**40 + 12345
        wanted = value
        for _ in range(60):
            wanted ^= wanted >> 1
        assert evaluate(n, {"n": value}) == wanted
        assert max(len(a.key) for a in n.deep_atoms()) < 2000


def test_long_chains_of_shared_parts_are_lowered():
    for step in ("n ^ (n >> 1)", "(n // 3) + (n % 7)*2", "(n*n) % 17 + 1"):
        fn = defined("n", "n")
        space = dict(fn.__globals__)
        exec(f"def f(n):\n    for _ in range(24):\n        n = {step}\n    return n\n", space)
        (made,) = build_program(space["f"], CPP, assume=["0 <= n < 2**20"]).functions
        for value in (0, 1, 12345, 2**20 - 1):
            assert made.evaluate({"n": value}) == {"result": space["f"](value)}


def test_what_nests_too_deep_is_refused():
    space = dict(defined("n", "n").__globals__)
    exec("def f(n):\n    for k in range(3000):\n        n = (n*n) % 17 + k\n    return n\n", space)
    with pytest.raises(TraceError, match="nests"):
        build_program(space["f"], CPP, assume=["0 <= n < 2**20"])


# -- what an expression is looked up by ----------------------------------------------------------


def test_different_expressions_have_different_hashes():
    """A look-up that met another expression would ask whether they are equal, and fork a trace."""
    x = symbols("x")
    big = [2**70 + 1000003 * k for k in range(50)] + [-(2**61) + k for k in range(50)]
    found = {hash(x + c) for c in [*big, *range(-500, 500), *(2**k for k in range(20, 80))]}
    assert len(found) == len({*big, *range(-500, 500), *(2**k for k in range(20, 80))})


def test_equal_atoms_are_one_object_in_every_thread():
    start = threading.Barrier(8)
    made: list[list[Atom]] = []

    def make():
        start.wait()
        made.append([Atom("sym", f"race_{k}") for k in range(300)])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(made) == 8
    assert all(len({id(atom) for atom in same}) == 1 for same in zip(*made, strict=True))


def test_z3_is_allowed_again_after_an_error(monkeypatch):
    facts = Facts()
    with pytest.raises(ZeroDivisionError), facts.quick():
        assert not facts.use_z3
        raise ZeroDivisionError
    assert facts.use_z3
