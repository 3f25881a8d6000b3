"""The provers of lego_emit.proofcheck: what they prove holds; what is true of layouts is proved."""

from random import Random

import pytest

from lego_emit.proofcheck import cases, exhaustive, provers, signs, smt
from lego_emit.proofcheck.terms import Term, made, term_of, var

N, M, B, i, j, p = map(var, "NMBijp")
FITS = 2**63 - 1


def within(x, n):
    return [x >= 0, x < n]


SIZES = [N >= 1, M >= 1, B >= 1]
TILES = [*SIZES, made("eq", N % B, 0), *within(i, N // B), *within(j, B)]
FLAT = i * M + j
ROOT = made("isqrt", p)

TRUE = [
    ("digits of a sum", FLAT // M * M + FLAT % M == FLAT, SIZES),
    ("digits of a flat index", FLAT // M == i, [*SIZES, *within(j, M)]),
    ("a nested quotient", p // N // M == p // (N * M), SIZES),
    ("a remainder of a remainder", p % (N * M) // M == p // M % N, SIZES),
    ("a common factor", (N * M * i + j) // (N * B) == M * i // B, [*SIZES, *within(j, N)]),
    ("tiles lie within", i * B + j < N, TILES),
    ("a tile's index", (i * B + j) // B == i, TILES),
    ("whole tiles", N // B * B == N, TILES),
    ("tiles rounded up", N <= (N + B - 1) // B * B, SIZES),
    ("an index type", N * i + j <= FITS, [*SIZES, *within(i, N), *within(j, N), N * N <= FITS]),
    ("the last tile", made("select", i * B + B <= N, B, N - i * B) >= 1,
     [*SIZES, *within(i, (N + B - 1) // B)]),
    ("a square root", (p - ROOT * ROOT) <= 2 * ROOT, [p >= 0]),
    ("joined bits", ((i << 5) | j) >> 5 == i, [i >= 0, *within(j, 32)]),
    ("masks", (p & 12) == p // 4 % 4 * 4, []),
    ("a guard", made("lor", i >= N, i * M + M <= N * M), [*SIZES, i >= 0]),
    ("min", made("select", N < M, N, M) * 2 <= N + M, SIZES),
]  # fmt: skip
FALSE = [
    ("a leading digit", FLAT // M == i, [*SIZES, j >= 0]),
    ("no whole tiles", N // B * B == N, SIZES),
    ("divided by 0", p // N * N + p % N == p, [N >= 0]),
    ("beyond the last tile", i * B + j < N, [*SIZES, *within(i, (N + B - 1) // B), *within(j, B)]),
    ("an index type", N * i + j <= FITS, [*SIZES, *within(i, N), *within(j, N)]),
    ("bits that meet", ((i << 5) | j) >> 5 == i, [i >= 0, *within(j, 33)]),
    ("a root of what is negative", made("isqrt", p) >= 0, []),
    ("a place outside", made("lookup", p, 1, 2, 3) >= 1, within(p, 4)),
    ("a negative distance", made("shl", 0, i) >= 0, []),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "given"), [t[1:] for t in TRUE], ids=[t[0] for t in TRUE])
def test_what_is_true_of_digits_is_proved(goal, given):
    assert cases.prove(goal, given)


@pytest.mark.parametrize(("goal", "given"), [f[1:] for f in FALSE], ids=[f[0] for f in FALSE])
@pytest.mark.parametrize("pointless", [False, True])
def test_what_is_false_is_not(goal, given, pointless, monkeypatch):
    if pointless:  # the rules alone
        monkeypatch.setattr(cases, "_points", lambda names, given: [])
    assert provers.prove(goal, given) is None


# -- random goals ----------------------------------------------------------------------------------

# given, and a small domain in which a goal that is proved is tried
DOMAINS = [
    ([*SIZES, *within(i, N), *within(j, M)], "NMBij"),
    ([*SIZES, *within(i, N), *within(j, B), made("eq", N % B, 0)], "NMBij"),
    ([*SIZES, *within(i, N // B), *within(j, B), made("eq", N % B, 0)], "NMBij"),
    ([*SIZES, *within(i, (N + B - 1) // B), *within(j, B), i * B + j < N], "NMBij"),
    ([*SIZES, *within(p, N * M)], "NMBp"),
    ([*SIZES, *within(i, N), j >= -3], "NMBij"),
    ([N >= 0, M >= 1, made("eq", B, 2 * M), i >= 0, p >= 0, made("le", p, i)], "NMBip"),
    ([*within(i, 24), *within(j, 8)], "ij"),
    ([], "ijp"),
]
SMALL = {"N": range(0, 7), "M": range(1, 5), "B": range(0, 7), "i": range(-4, 25),
         "j": range(-4, 9), "p": range(-9, 25)}  # fmt: skip


def value(draw: Random, names: str, depth: int) -> Term:
    if depth == 0 or draw.random() < 0.15:
        return draw.choice([var(draw.choice(names)), term_of(draw.choice((0, 1, 2, 3, 4, 6, 8)))])
    op = draw.choice(
        ["add", "add", "sub", "mul", "mul", "fdiv", "fdiv", "fmod", "fmod", "tdiv", "tmod", "and",
         "or", "xor", "shr", "shl", "not", "select", "isqrt", "lookup"]
    )  # fmt: skip
    a = value(draw, names, depth - 1)
    sizes = [n for n in names if n in "NMB"]
    match op:
        case "fdiv" | "fmod" | "tdiv" | "tmod" if draw.random() < 0.9:
            d = draw.choice([*map(var, sizes), term_of(2), term_of(3), term_of(4), term_of(12)])
            if sizes and draw.random() < 0.3:
                d = made("mul", d, var(draw.choice(sizes)))
            return made(op, a, d)
        case "not" | "isqrt":
            return made(op, a)
        case "shl" | "shr":
            return made(op, a, draw.randrange(4))
        case "lookup":
            return made(op, made("fmod", a, 4), *(draw.randrange(-2, 9) for _ in range(4)))
        case "select":
            return made(op, condition(draw, names, depth - 1), a, value(draw, names, depth - 1))
    return made(op, a, value(draw, names, depth - 1))


def condition(draw: Random, names: str, depth: int) -> Term:
    op = draw.choice(("lt", "le", "eq", "ne", "le", "lor", "land"))
    if op in ("lor", "land"):
        return made(op, condition(draw, names, depth), condition(draw, names, depth))
    return made(op, value(draw, names, depth), value(draw, names, depth))


def goal_of(draw: Random, names: str) -> Term:
    """Something that often holds: a value between its likely ends, or one said in another way."""
    a = value(draw, names, 3)
    match draw.randrange(4):
        case 0:
            return condition(draw, names, 2)
        case 1:
            d = draw.choice([var(n) for n in names if n in "NMB"] or [term_of(6)])
            rest = draw.choice((a % d, a - a // d * d, made("tmod", a, d)))
            return draw.choice((rest < d, rest >= 0, a // d * d + rest == a, rest <= d - 2))
        case 2:
            d, e = (var(draw.choice(names)) if draw.random() < 0.5 else term_of(draw.randrange(1, 9))
                    for _ in range(2))  # fmt: skip
            sides = [a // d // e, a // (d * e), (a * e) // (d * e), a % (d * e) // d, a // d % e]
            return made("eq", draw.choice(sides), draw.choice(sides))
        case _:
            return made(draw.choice(("le", "lt", "eq")), a, value(draw, names, 1))


def wrong(goal: Term, given: list[Term], names: str) -> exhaustive.Failure | None:
    ranges = {n: SMALL[n] for n in names}
    return exhaustive.failure([goal], ranges, given)[1]


def tried(seed: int, count: int, prove) -> int:
    """How many random goals were proved, all of which hold in the small domain."""
    draw, proved = Random(seed), 0
    for _ in range(count):
        given, names = draw.choice(DOMAINS)
        if draw.random() < 0.3:  # and without one of its conditions
            given = [g for g in given if draw.random() < 0.8]
        if draw.random() < 0.2:
            given = [*given, condition(draw, names, 1)]
        goal = goal_of(draw, names)
        if prove(goal, given):
            found = wrong(goal, given, names)
            assert found is None, f"proved, but wrong at {found}: {goal!r}, given {given!r}"
            proved += 1
    return proved


@pytest.mark.slow
@pytest.mark.parametrize("pointless", [False, True])
def test_random_goals_that_digits_prove_hold(pointless, monkeypatch):
    if pointless:
        monkeypatch.setattr(cases, "_points", lambda names, given: [])
        monkeypatch.setattr(signs, "SEARCH", 8)  # nothing is refuted early, which takes its time
        monkeypatch.setattr(cases, "CASES", 30)
    assert tried(1, 100, cases.prove) > 10


def test_random_goals_that_solvers_prove_hold():
    assert tried(2, 40, smt.prove) > 3


# -- solvers ---------------------------------------------------------------------------------------


def test_a_question_is_the_same_text_every_time():
    goal = made("eq", (i ^ (j % 8)) ^ (j & 7), i)
    given = [*within(i, 2**20), *within(j, 2**20)]
    text = smt.to_smt2(goal, given)
    assert text == smt.to_smt2(goal, given)
    assert text.startswith("(set-logic QF_BV)\n(declare-const v0 (_ BitVec 24))\n")
    assert text.endswith("(check-sat)\n")
    assert smt.prove(goal, given) in ("Z3 and bitwuzla", "Z3 alone")
    assert smt.prove(made("eq", (i ^ (j % 8)) ^ (j & 3), i), given) is None


def test_one_solver_is_said_to_be_alone(monkeypatch):
    goal = made("eq", p // 2 - 12 * (p // 24), p % 24 // 2)
    monkeypatch.setattr(smt, "_cvc5", lambda query: "missing")
    assert smt.prove(goal, []) == "Z3 alone"
    monkeypatch.setattr(smt, "_cvc5", lambda query: "unsat")
    assert smt.prove(goal, []) == "Z3 and cvc5"


def test_solvers_that_contradict_each_other_are_an_error(monkeypatch):
    monkeypatch.setattr(smt, "_cvc5", lambda query: "sat")
    with pytest.raises(smt.DisagreementError, match="cvc5 that it does not"):
        smt.prove(p + 1 > p, [])
