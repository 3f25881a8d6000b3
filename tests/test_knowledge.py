"""More knowledge never makes the result worse."""

from __future__ import annotations

import random

import pytest
from marks import rest_slow

from lego_emit import Col, GroupBy, OrderBy, Row
from lego_emit.ir.nodes import evaluate
from lego_emit.pipeline import build_program
from lego_emit.run import registry

CPP = registry.printer("cpp")

STEPS = 3  # assumptions that are added, one by one


def tiles(M, N, BM, BN, p, q, i, j):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[p, q, i, j]


def columns(M, N, i, j):
    return OrderBy(Col(M, N))[i, j]


def strided(M, N, K, i, j):
    return (GroupBy([M, N])[i, j] * K + i) // 4


def dealt(M, N, p, q):
    return M * (p // N) + p % N - q


def cubed(M, N, K, i, j, k):
    return GroupBy([M, N, K])[i, j, k], OrderBy(Col(M, N, K))[i, j, k]


def raised(M, N, x):
    return (x * M + 3) // N * N + x % 8


SIZES = ("M", "N", "K", "BM", "BN")


def drawn(draw):
    """(a function, an index type, what is assumed of it one after another, all of which holds for some sizes)."""
    fn = draw.choice([tiles, columns, strided, dealt, cubed, raised])
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    sizes = {n: draw.choice([1, 2, 12, 64, 1000, 10**5, 10**6]) for n in names if n in SIZES}
    if fn is tiles:
        sizes |= {"M": 4096 * draw.randint(1, 99), "N": 1024 * draw.randint(1, 99)}
        sizes |= {"BM": draw.choice([1, 16, 64]), "BN": draw.choice([4, 32])}
    known = [*sizes]

    def assumption():
        name, other = draw.choice(known), draw.choice(known)
        kind = draw.randrange(7)
        if kind == 0 and name != other:
            most = sizes[name] * sizes[other]
            return (
                f"{name}*{other} <= {draw.choice([most, 2 * most + 5, 2**31 - 1 + most, 10**12])}"
            )
        if kind == 1:
            return f"{name} >= {draw.choice([1, sizes[name]])}"
        if kind == 2 and sizes[name] % 4 == 0:
            return f"{name} % 4 == 0"
        if kind == 3 and fn in (dealt, raised):
            return f"0 <= {names[2]} < {draw.choice([9, 10**5, 2 * 10**9])}"
        if kind == 4 and sizes[name] <= sizes[other] and name != other:
            return f"{name} <= {other}"
        return f"{name} <= {draw.choice([sizes[name], 10 * sizes[name], 10**10, 2**31 - 1])}"

    index_type = draw.choice(["auto", "auto", "int64", "int32"])
    return fn, index_type, [assumption() for _ in range(STEPS)]


def packed(M, N, B, p, q, i, j):
    return GroupBy([M // B, N // B], [B, B])[p, q, i, j]


def contiguous(M, N, B, p, q, i, j):
    return GroupBy([M // B, N // B, B, B])[p, q, i, j]


def plain(M, N, i, j):
    return GroupBy([M, N])[i, j]


def related(draw):
    """As drawn: relations between two sizes, divisibility beside bounds, products with a bound and a
    bound of one factor."""
    fn = draw.choice([tiles, columns, plain, packed, contiguous, cubed])
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    sizes = {n: draw.choice([64, 128, 1024, 4096, 2**15]) for n in names if n in SIZES}
    sizes |= {n: draw.choice([1, 16, 64]) for n in names if n in ("B", "BM", "BN")}

    def assumption():
        name, other = sorted(draw.sample([*sizes], 2), key=lambda n: sizes[n])
        one = draw.choice([name, other])
        most = sizes[name] * sizes[other]
        return draw.choice(
            [
                f"{one} <= {draw.choice([sizes[one], 10 * sizes[one], 10**10])}",
                f"{one} >= {draw.choice([1, sizes[one]])}",
                f"{name}*{other} <= {draw.choice([most, 2 * most + 5])}",
                f"{other}*{name} <= {draw.choice([2**31 - 1, 10**12])}",
                draw.choice([f"{name} <= {other}", f"{other} >= {name}"]),
                f"{one} % {draw.choice([d for d in (1, 4, 16, 64) if sizes[one] % d == 0])} == 0",
                f"{other} % {name} == 0" if sizes[other] % sizes[name] == 0 else f"{name} >= 1",
            ]
        )

    return fn, draw.choice(["auto", "auto", "int64"]), [assumption() for _ in range(STEPS)]


def emitted(fn, index_type, assume):
    """(bits of the index type, what it needs beside what is stated) of each function."""
    functions = build_program(fn, CPP, assume=assume, index_type=index_type).functions
    assert all(f.checked[0] for f in functions), (fn.__name__, assume, functions[0].checked)
    stated = [{*f.record.problem.conditions.stated} for f in functions]
    return [
        (f.index_type.most, f.unseen, len([c for c in f.assumed if c not in said]))
        for f, said in zip(functions, stated, strict=True)
    ]


def assert_never_worse(seed, drawn=drawn):
    fn, index_type, assume = drawn(random.Random(f"knowledge {seed}"))
    before = emitted(fn, index_type, [])
    for count in range(1, STEPS + 1):
        now = emitted(fn, index_type, assume[:count])
        for (bits, unseen, needs), (fewer, open_, left) in zip(before, now, strict=True):
            said = fn.__name__, index_type, assume[:count], before, now
            assert fewer <= bits, said
            assert unseen or (left <= needs and not open_), said
        before = now


@pytest.mark.parametrize("seed", rest_slow(range(40), 10))
@pytest.mark.quick(4)
def test_more_knowledge_never_makes_the_result_worse(seed):
    assert_never_worse(seed)


@pytest.mark.parametrize("seed", rest_slow(range(60), 10))
@pytest.mark.quick(4)
def test_relations_between_sizes_never_make_the_result_worse(seed):
    assert_never_worse(seed, related)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(60, 400))
def test_relations_between_sizes_never_make_more_results_worse(seed):
    assert_never_worse(seed, related)


@pytest.mark.parametrize(
    ("fn", "assume"),
    [
        (tiles, ["M*N <= 2**31 - 1", "BM <= M"]),
        (tiles, ["M*N <= 2**31 - 1", "BM <= M", "M >= 1"]),
        (tiles, ["M*N <= 2**31 - 1", "BM <= 64"]),
        (tiles, ["M*N <= 4096", "N % 64 == 0"]),
        (tiles, ["M <= 1000", "N <= 1000", "M % 64 == 0"]),
        (plain, ["M*N <= 10**6", "M <= N"]),
        (plain, ["M*N <= 10**6", "N <= 10**10"]),
        (columns, ["M*N <= 10**6", "M % N == 0"]),
    ],
)
def test_a_relation_beside_a_bound_of_a_product_leaves_32_bits(fn, assume):
    (found,) = build_program(fn, CPP, assume=assume).functions
    assert (found.index_type, found.checked[0] > 0) == ("int32", True)
    assert found.ranges["M"].startswith(("M >= 1", "1 <= M", "64 <= M"))
    if fn is tiles:
        assert found.ranges["p"] == "0 <= p < M // BM"


def test_a_divisor_that_is_no_larger_says_that_the_dividend_is_positive():
    def blocks(n, nb, i):
        return GroupBy([n // nb, nb])[i // nb, i % nb]

    for assume in (["nb <= n", "n % nb == 0"], ["n % nb == 0", "nb <= n"]):
        (found,) = build_program(blocks, CPP, assume=assume).functions
        assert (found.ranges["n"], found.ranges["nb"]) == ("n >= 1", "nb >= 1")
        assert found.checked[0] > 0


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(40, 240))
def test_more_knowledge_never_makes_more_results_worse(seed):
    assert_never_worse(seed)


@pytest.mark.parametrize(
    ("assume", "index_type", "needs"),
    [
        ([], "int64", ("M*N <= 2**63 - 1",)),
        (["M <= 10**10", "N <= 10**10"], "int64", ("M*N <= 2**63 - 1",)),
        (["M*N <= 10**12"], "int64", ()),
        (["M*N <= 2**31 - 1"], "int32", ()),
        (["M <= 10**10", "N <= 10**10", "M*N <= 10**12"], "int64", ()),
        (["M <= 10**10", "N <= 10**10", "M*N <= 2**31 - 1"], "int32", ()),
        (["M*N <= K", "K <= 2**31 - 1"], "int32", ()),
    ],
)
def test_what_is_known_of_a_product_counts(assume, index_type, needs):
    def index_kernel(M, N, BM, BN, pid_m, pid_n, K):
        return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[pid_m, pid_n, :, :]

    (found,) = build_program(index_kernel, CPP, assume=assume).functions
    rest = [a for a in found.assumptions if a not in assume and "%" not in a]
    assert (found.index_type, tuple(rest)) == (index_type, needs)


@pytest.mark.parametrize(
    "options",
    [
        {"ranges": {"i": (0, "n")}},
        {"assume": ["0 <= i < n"]},
        {"assume": ["i < n", "0 <= i"]},
        {"assume": ["0 <= i <= n - 1"]},
        {"assume": ["i >= 3", "i < n"]},
        {"assume": ["i >= 0"], "ranges": {"i": (None, "n")}},
        {"assume": ["i < n"], "ranges": {"i": (0, None)}},
    ],
)
def test_an_index_below_a_number_says_that_it_is_positive(options):
    def squares(i, n):
        return i * i // (n * n)

    (found,) = build_program(squares, CPP, **options).functions
    assert (found.op_count, found.evaluate({"i": 5, "n": 6})) == (0, {"result": 0})


def test_where_0_is_no_index_the_end_may_be_0():
    (found,) = build_program(lambda i, n: i + n, CPP, assume=["-1 <= i < n"]).functions
    assert found.ranges["n"] == ""


def test_what_every_unsigned_value_meets_is_no_precondition():
    for fn, says in [
        (lambda dx, y: dx * y, ()),
        (lambda x, y: x // 8 * y + min(x, y), ()),
        (lambda dx, y: dx - y, ("dx >= y",)),
    ]:
        (found,) = build_program(fn, CPP, index_type="uint32").functions
        assert tuple(a for a in found.assumptions if ">=" in a) == says


def test_a_process_below_their_number_needs_no_corrections():
    def numroc(n, nb, ip, np):
        blocks = n // nb
        extra = blocks % np
        local = blocks // np * nb
        return local + (nb if ip < extra else n % nb if ip == extra else 0)

    (found,) = build_program(numroc, CPP, assume=["0 <= ip < np", "n >= 0", "nb >= 1"]).functions
    used = {node.op for node in found.nodes()}
    assert {"div", "mod"} <= used and used.isdisjoint({"floordiv", "floormod"})
    assert not any("!= 0" in said for said in found.assumptions)
    at = {"n": 23, "nb": 3, "np": 3}
    assert [found.evaluate({**at, "ip": ip})["result"] for ip in range(3)] == [9, 8, 6]


def test_what_a_branch_says_is_not_said_outside():
    """N*K*B fits in the branch because M*K*B does; N*K is computed outside of it, too."""

    def three(N, M, K, B, i, j, k, b):
        here = GroupBy([N, M, K, B])[i, j, k, b] * 0
        return N * K % 7, (N * K * B if N <= M else i) + here, M * K * B

    (found,) = build_program(three, CPP, index_type="int64").functions
    index = dict.fromkeys("ijkb", 0)
    for n, admitted in ((2**40, False), (2**20, True)):
        values = {"N": n, "M": 1, "K": n, "B": 1, **index}
        assert all(evaluate(c, values) for c in found.assumed) is admitted
