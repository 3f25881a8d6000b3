"""Wrong code and endless runs that were, one test a mechanism: what is emitted is compared with
the user's own function, or the reference, at every point of a small domain."""

import subprocess
import sys
import threading
import warnings
from collections import namedtuple
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from net.machine import assert_sound
from net.operations import function
from net.points import holds
from net.words import build, indices

from lego_emit import Col, ExpandBy, GenP, GroupBy, Row, TileBy, generate, golden, symbols
from lego_emit.algebra.layout import OrderBy
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import evaluate
from lego_emit.arith.expr import Cond, Expr
from lego_emit.arith.flags import Flag
from lego_emit.arith.symbolic import Symbolic
from lego_emit.arith.terms import Atom
from lego_emit.errors import LayoutError, LegoWarning, TraceError
from lego_emit.pipeline import build_program
from lego_emit.run import registry
from lego_emit.trace.tape import TapedCond, TapedExpr

ROOT = Path(__file__).resolve().parents[1]
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
@pytest.mark.quick(4)
def test_digits_are_split_off_where_one_divisor_divides_the_other(text):
    domains = [range(50), range(1, 5), range(1, 4)]
    assert_right(text, "x, N, M", ["x >= 0", "N >= 1", "M >= 1"], domains)


@pytest.mark.slow
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
@pytest.mark.quick(4)
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
    n = symbols("n")
    for _ in range(60):
        n = n ^ (n >> 1)
    value = 2**40 + 12345
    wanted = value
    for _ in range(60):
        wanted ^= wanted >> 1
    assert evaluate(n, {"n": value}) == wanted
    assert max(len(a.key) for a in n.deep_atoms()) < 2000


@pytest.mark.slow
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


ALL_ALIKE = """
import sys
from lego_emit import generate, golden
from lego_emit.arith.expr import Cond, Expr
from lego_emit.arith.terms import Atom

if sys.argv[1] == "alike":
    for kind in (Atom, Expr, Cond):
        kind.__hash__ = lambda self: 0


def branches(i, j, N, M):
    if i < j and (i % 3 == 0 or j // 4 > 2):
        return (i * N + j) // M if i % 3 == 0 else min(i, j) % N
    return max(i - j, 0) * M + (i // 4 if j > 5 else j ^ i) - (i * 12 + j) // 16 % N


known = ["0 <= i < 64", "0 <= j < 64", "N >= 1", "M >= 1"]
units = [generate(branches, "cpp", assume=known), generate(branches, "cpp", sizes={"N": 8})]
units += [golden.load(f"{sys.argv[2]}/{name}").emit("cpp") for name in ("antidiag_5", "brick", "nw")]
for unit in units:
    print(unit.source, unit.explain())
"""


@pytest.mark.slow
def test_hashes_that_are_all_the_same_change_nothing():
    """A look-up that met another expression would ask whether they are equal, and fork a trace."""

    def emitted(hashes):
        command = [sys.executable, "-c", ALL_ALIKE, hashes, f"{ROOT / 'golden'}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return done.stdout

    assert emitted("alike") == emitted("as they are")


@pytest.mark.slow
def test_nothing_of_ours_looks_an_expression_up_by_its_hash(monkeypatch):
    """Neither where a function is followed nor where it is lowered, checked and explained."""
    asked, own = [], tuple(f"lego_emit.{part}." for part in ("arith", "check", "lower", "trace"))

    def watched(honest):
        def hashed(self):
            module = sys._getframe(1).f_globals.get("__name__", "")
            asked.extend([f"{module}: {self!r}"] * module.startswith(own))
            return honest(self)

        return hashed

    for kind in (Symbolic, Flag):
        monkeypatch.setattr(kind, "__hash__", watched(kind.__hash__))
    for kind in (Expr, Cond, TapedExpr, TapedCond):
        monkeypatch.setattr(kind, "__hash__", watched(kind.__hash__))
    for name in ("antidiag_5", "brick", "nw", "lud_thread", "matmul_pid_any"):
        golden.load(ROOT / "golden" / name).emit("cpp").explain()
    assert {x: 1 for x in symbols("a b")} and not asked
    eval("{value}", {"__name__": f"{own[0]}a", "value": symbols("x")})
    assert asked == ["lego_emit.arith.a: x"] * len(asked) and asked


def test_symbols_in_a_user_s_set_are_compared_by_what_they_are():
    x, y = symbols("x y")
    big = [2**70 + 1000003 * k for k in range(50)] + [k - 2**61 for k in range(50)]
    for numbers in (range(-500, 500), big):
        assert len({x + c for c in [*numbers, *numbers]}) == len(numbers)
    assert len({x < y, x + 0 < y, y < x, x <= y}) == 3
    assert {-1: "a", -2: "b"}[x - x - 2] == "b"


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
    analyzer = Analyzer()
    with pytest.raises(ZeroDivisionError), analyzer.prover.quick():
        assert not analyzer.prover.use_z3
        raise ZeroDivisionError
    assert analyzer.prover.use_z3


# -- what holds in a branch ----------------------------------------------------------------------

TWO = GenP([2], lambda i: 2 * i - i * i, lambda p: p)


def apart(i, N):
    v = 2 * i - i * i
    return TWO.apply(i) // N if 0 <= i < 2 else v // N


def apart_again(i, N):
    v = 2 * i - i * i
    if 0 <= i < 2:
        return TWO.apply(i) ^ N
    return (v ^ N) + 1


def difference(M, B, x, y):
    if M > B:
        return GroupBy([4, M - B]).OrderBy(Row(M - B, 4)).inv(x)[1] * x if x < 4 * (M - B) else 1
    if M < B:
        return y // (M - B)
    return 0


def differences(M, B, x):
    if M > B:
        if x >= 4 * (M - B):
            return 3
        a, b = GroupBy([4, M - B]).inv(x)
        return b * b + a * a
    return 0


def guarded_pad(n, i, x):
    if n > 0:
        a = ExpandBy([5, 8], [8, 8], GroupBy([8, 8]), guard="logical").apply(i, (x % n) % 8)
        return a * a
    return 0


def remainder(x, d):
    if d > 0:
        r = x % d
        return r * r // 7 + r * r
    return 0


def rest_of(x, d):
    if d > 0:
        q = d - 1 - x % d
        return q // 3 + q % 5 + q
    return 0


@pytest.mark.parametrize("printer", [CPP, FORTRAN], ids=["lazy", "eager"])
@pytest.mark.parametrize(
    ("fn", "assume", "spans"),
    [
        (apart, ["-50 <= i <= 50", "1 <= N <= 20"], [range(-50, 51), range(1, 21)]),
        (
            apart_again,
            ["-100000 <= i <= 100000", "0 <= N <= 20"],
            [(-100000, -3, 0, 1, 2, 9, 100000), range(0, 21, 4)],
        ),
        (
            difference,
            ["1 <= M <= 9", "1 <= B <= 9", "0 <= x <= 20", "0 <= y <= 20"],
            [range(1, 10), range(1, 10), range(0, 21, 4), range(0, 21, 5)],
        ),
        (
            differences,
            ["1 <= M <= 9", "1 <= B <= 9", "0 <= x <= 20"],
            [range(1, 10), range(1, 10), range(21)],
        ),
        (
            guarded_pad,
            ["0 <= n <= 8", "0 <= i < 8", "0 <= x <= 20"],
            [range(9), range(8), range(0, 21, 3)],
        ),
        (remainder, ["0 <= x <= 99", "-3 <= d <= 9"], [range(0, 100, 7), range(-3, 10)]),
        (rest_of, ["-50 <= x <= 99", "-3 <= d <= 9"], [range(-50, 100, 7), range(-3, 10)]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
@pytest.mark.quick(4)
def test_what_holds_in_a_branch_is_said_of_it_alone(fn, assume, spans, printer):
    """A shared value has another range, sign or divisor in each of two branches, and outside."""
    (made,) = build_program(fn, printer, assume=assume).functions
    names = [p.name for p in made.params]
    for point in product(*spans):
        values = dict(zip(names, point, strict=True))
        assert_sound(made, values, printer is CPP)
        assert made.evaluate(values) == {"result": fn(*point)}, values


def test_a_divisor_that_is_learned_in_a_branch_has_the_bounds_from_outside():
    def f(M, i, k):
        if M > 100:
            return M * k
        L = GroupBy([M // 10, 10]).OrderBy(Col(M // 10, 10))
        return L[i % (M // 10), i % 10]

    assume = ["1 <= M < 2**33", "0 <= i <= 1000", "0 <= k < 1000"]
    (made,) = build_program(f, CPP, assume=assume).functions
    assert made.index_type == "int64"
    for values in ({"M": 10**7, "i": 0, "k": 999}, {"M": 50, "i": 999, "k": 1}):
        assert_sound(made, values)
        assert made.evaluate(values) == {"result": f(**values)}


@pytest.mark.parametrize("guards", [4, 5, 9])
def test_a_guard_behind_others_is_no_precondition(guards):
    names = [f"g{k}" for k in range(guards)]
    text = f"lambda x, {', '.join(names)}, d: x // d if {' and '.join(names)} and d else 0"
    (made,) = build_program(eval(text), CPP).functions
    assert not any("!= 0" in a for a in made.assumptions)


def test_an_axis_in_a_branch():
    L, K = GroupBy([4, 10]).OrderBy(Col(4, 10)), GroupBy([8, 10])
    with pytest.raises(TraceError, match="an axis of 4 and, in another branch, for one of 8"):
        build_program(lambda c: L[:, c] if c < 5 else K[:, c], CPP, assume=["0 <= c < 10"])
    (made,) = build_program(
        lambda c: L[:, c] if c < 5 else -1, CPP, assume=["0 <= c < 10"]
    ).functions
    assert made.ranges["i"] == "0 <= i < 4"


# -- what a symbol is not ------------------------------------------------------------------------

TABLE, MEMBERS = {0: 3, 1: 5, 2: 1}, {0, 2, 5}


@cache
def cached(i):
    return i % 8


def swallowed(i):
    try:
        return [3, 1, 2, 0][i]
    except Exception:
        return -1


@pytest.mark.parametrize(
    "fn",
    [
        lambda i: TABLE.get(i, 0),
        lambda i: TABLE[i],
        lambda i: 7 if i in MEMBERS else 3,
        lambda i, j: len({i, j}),
        lambda i: {i: 1}[i],
        lambda i: hash(i) % 8,
        lambda i: cached(i),
        swallowed,
    ],
)
def test_what_needs_a_value_is_refused_not_guessed(fn):
    with pytest.raises(TraceError, match="is a symbol"):
        build_program(fn, CPP)


def test_a_symbol_stands_for_an_int():
    (made,) = build_program(lambda i: i * 2 if isinstance(i, int) else 0, CPP).functions
    assert made.evaluate({"i": 21}) == {"result": 42}


def test_a_genp_over_another_symbol_is_checked_too():
    N, s = symbols("N s")

    def shifted(forward, back):
        return GroupBy([N]).OrderBy(GenP([N], forward, back))

    with pytest.raises(LayoutError, match="is not a bijection for N=2, s=1"):
        build_program(shifted(lambda i: i + s, lambda p: p - s), CPP)
    build_program(shifted(lambda i: (i + s) % N, lambda p: (p - s) % N), CPP)


def test_a_genp_is_checked_again_where_less_is_known():
    """What its functions give depends on what is known of the values that they hold."""

    def shifted(N, i):
        half = N // 2
        return GenP([N], lambda a: (a + 2 * half) % N, lambda p: p).apply(i)

    ranges = {"i": (0, "N"), "N": (1, None)}
    generate(shifted, "c", ranges=ranges, assume=["N % 2 == 0"])
    with pytest.raises(LayoutError, match="for N=3"):
        generate(shifted, "c", ranges=ranges)


def test_sizes_that_are_sums_multiply_out():
    def f(N, B):
        T = (N + B - 1) // B
        return ExpandBy([N, N], [T * B, T * B], TileBy([T, T], [B, B]))

    apply, _ = build_program(f, CPP).functions
    assert not any("==" in a for a in apply.assumptions)


def test_branches_that_return_named_tuples():
    Pair = namedtuple("Pair", "a b")
    (made,) = build_program(lambda i: Pair(i, 1) if i < 3 else Pair(0, i), CPP).functions
    assert [*made.evaluate({"i": 7}).values()] == [0, 7]


def test_a_branch_that_a_layout_rules_out_is_told():
    def f(M, B, x):
        position = GroupBy([M // B, B]).OrderBy(Col(M // B, B))[x // B, x % B]
        return x + 1 if M % B else position

    with pytest.warns(LegoWarning, match="f: it asks whether M % B == 0, and a layout in it"):
        generate(f, "cpp", assume=["0 <= x < M"])
    with pytest.raises(TraceError, match="emit the other branch as a function of its own"):
        generate(f, "cpp", assume=["0 <= x < M"], strict=True)


def test_a_branch_that_a_layout_of_another_branch_rules_out_is_emitted():
    def f(M, B, x):
        if M % B:
            return x + 1
        return GroupBy([M // B, B]).OrderBy(Col(M // B, B))[x // B, x % B]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (made,) = build_program(f, CPP, assume=["0 <= x < M"]).functions
    assert not any("M % B ==" in text for text in made.assumptions)
    for M, B in product(range(1, 13), range(1, 8)):
        for x in range(M):
            assert made.evaluate({"M": M, "B": B, "x": x}) == {"result": f(M, B, x)}


# -- a package that is missing -------------------------------------------------------------------


WITHOUT = """
import sys
{blocked}
import lego_emit
from lego_emit import generate
from lego_emit.errors import MissingPackageError

def told(call):
    try:
        call()
    except MissingPackageError as error:
        return str(error)

"""


def without(packages, code):
    """Run code where these packages are not installed."""
    blocked = "".join(f"sys.modules[{name!r}] = None\n" for name in packages)
    command = [sys.executable, "-c", WITHOUT.format(blocked=blocked) + code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_where_a_proof_needs_z3_there_is_no_other_text():
    """Nor where the user's function catches the error."""
    code = """
catalogue = lego_emit.catalogue
layout = catalogue["lapack.TP"](lego_emit.symbols("N"))
def catches(N, p):
    try:
        return catalogue["lapack.TP"](N).inv(p)[0]
    except Exception:
        return 0
for subject in (layout, layout, catches):
    print(told(lambda subject=subject: generate(subject, "cpp")))
"""
    told = "this needs the package z3, which is missing: pip install z3-solver\n"
    assert without(["z3"], code) == 3 * told
    assert without([], code) == "None\n" * 3


@pytest.mark.slow
def test_what_needs_another_package_says_how_it_is_installed():
    code = """
unit = generate(lego_emit.TileBy([2, 3], [3, 2]), "rust")
print(told(lambda: unit.sympy), told(lambda: lego_emit.recognize([0, 2, 1])), sep="\\n")
"""
    said = without(["numpy", "sympy", "z3", "cffi"], code).splitlines()
    assert [line.rpartition(": ")[2] for line in said] == ["pip install sympy", "pip install numpy"]
