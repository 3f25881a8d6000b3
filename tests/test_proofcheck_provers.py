"""The provers of lego_emit.proofcheck: what they prove holds; what is true of layouts is proved."""

from collections import Counter
from math import prod
from random import Random

import numpy as np
import pytest

from lego_emit.proofcheck import cases, exhaustive, negation, polynomials, provers, signs, smt
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
    ([*SIZES, made("eq", N, M * B), *within(p, N), *within(i, M)], "NMBip"),
    ([*SIZES, made("eq", 6 * N % 4, 0), made("eq", N % M, 0), *within(p, N // M)], "NMBp"),
    ([*SIZES, i >= -2, made("eq", i % B, 0), made("lor", p < N, made("eq", p, M))], "NMBip"),
    ([B >= 1, made("eq", made("tmod", p, B), 0), made("ne", p, 0), made("lnot", i < p)], "Bip"),
    ([*within(i, 24), *within(j, 8)], "ij"),
    ([], "ijp"),
]
SMALL = {"N": range(0, 7), "M": range(1, 5), "B": range(0, 7), "i": range(-3, 12),
         "j": range(-4, 9), "p": range(-9, 25)}  # fmt: skip


def value(draw: Random, names: str, depth: int) -> Term:
    if depth == 0 or draw.random() < 0.15:
        number = draw.choice((0, 1, 2, 3, 4, 6, 8, -1, -5))
        return draw.choice([var(draw.choice(names)), term_of(number)])
    op = draw.choice(
        ["add", "add", "sub", "mul", "mul", "fdiv", "fdiv", "fmod", "fmod", "tdiv", "tmod", "and",
         "or", "xor", "shr", "shl", "not", "select", "isqrt", "lookup", "truth"]
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
        case "truth":
            return made("add", condition(draw, names, depth - 1), a)
    return made(op, a, value(draw, names, depth - 1))


def condition(draw: Random, names: str, depth: int) -> Term:
    op = draw.choice(("lt", "le", "eq", "ne", "le", "lor", "land", "lnot", "select"))
    if op in ("lor", "land"):
        return made(op, condition(draw, names, depth), condition(draw, names, depth))
    if op == "lnot":
        return made(op, condition(draw, names, depth))
    if op == "select" and depth:
        return made(op, *(condition(draw, names, depth - 1) for _ in range(3)))
    op = "lt" if op == "select" else op
    return made(op, value(draw, names, depth), value(draw, names, depth))


def goal_of(draw: Random, names: str, given: list[Term]) -> Term:
    """Something that often holds, or nearly: a value between its likely ends, one said in another way,
    what is given multiplied and added up."""
    a = value(draw, names, draw.choice((2, 3)))
    match draw.randrange(6):
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
        case 3:  # a sum of what is known to be never negative, with something off
            known = [q.args[1] - q.args[0] for q in given if q.op in ("lt", "le")] or [a]
            found = term_of(draw.randrange(-3, 3))
            for _ in range(draw.randrange(1, 4)):
                found += draw.choice(known) * draw.choice([*known, *map(var, names), term_of(2)])
            return found >= 0
        case 4:
            case = condition(draw, names, 1)
            other = draw.choice((made("lnot", case), condition(draw, names, 1), a < a + case))
            return made(draw.choice(("lor", "land")), case, other)
        case _:
            return made(draw.choice(("le", "lt", "eq")), a, value(draw, names, 1))


def wrong(goal: Term, given: list[Term], names: str) -> exhaustive.Failure | None:
    ranges = {n: SMALL[n] for n in names}
    return exhaustive.failure([goal], ranges, given)[1]


def tried(seed: int, count: int, prove) -> Counter[str]:
    """How many random goals hold in the small domain, how many do not, and how many were proved, all of
    which hold."""
    draw, found = Random(seed), Counter()
    for _ in range(count):
        given, names = draw.choice(DOMAINS)
        if draw.random() < 0.3:  # and without one of its conditions
            given = [g for g in given if draw.random() < 0.8]
        if draw.random() < 0.2:
            given = [*given, condition(draw, names, 1)]
        goal = goal_of(draw, names, given)
        failure, proved = wrong(goal, given, names), prove(goal, given)
        assert failure is None or not proved, (
            f"proved, but wrong at {failure}: {goal!r}, given {given!r}"
        )
        found.update(["true" if failure is None else "false", *["proved"] * bool(proved)])
    return found


def rules_alone(monkeypatch):
    """No number refutes a wrong guess; the search is short, for nothing ends it early."""
    monkeypatch.setattr(cases, "_points", lambda names, given: [])
    monkeypatch.setattr(signs, "SEARCH", 8)
    monkeypatch.setattr(signs, "_in_vain", {})  # as far as that
    monkeypatch.setattr(cases, "CASES", 30)


@pytest.mark.slow
@pytest.mark.parametrize("pointless", [False, True])
def test_random_goals_that_digits_prove_hold(pointless, monkeypatch):
    if pointless:
        rules_alone(monkeypatch)
    found = tried(1, 60 if not pointless else 120, cases.prove)
    assert found["proved"] > 10 and found["false"] > 10


@pytest.mark.slow
def test_random_goals_that_solvers_prove_hold():
    found = tried(2, 40, smt.prove)
    assert found["proved"] > 3 and found["false"] > 3


def test_a_kept_search_changes_no_answer_and_no_count(monkeypatch):
    """With what was searched in vain kept: the same proofs, in the same number of steps."""
    rules_alone(monkeypatch)
    budgets, searched = [], Counter()
    search = signs.Signs._search
    monkeypatch.setattr(cases, "Budget", lambda: budgets.append(b := polynomials.Budget(800)) or b)
    monkeypatch.setattr(
        signs.Signs, "_search", lambda self, p: searched.update([kept]) or search(self, p)
    )
    draw, goals = Random(5), [t[1:] for t in (*TRUE, *FALSE)]
    for _ in range(12):
        given, names = draw.choice(DOMAINS)
        goals.append((goal_of(draw, names, given), given))
    found = {}
    for kept in (False, True):
        for goal, given in goals:
            if not kept:
                signs._in_vain.clear()
            answer = cases.prove(goal, given)
            found.setdefault(kept, []).append((answer, budgets[-1].steps, budgets[-1].cases))
    assert found[False] == found[True]
    assert any(steps < 0 for _, steps, _ in found[True])  # one that ran out of them
    assert searched[True] < searched[False]


# -- the parts of the provers ----------------------------------------------------------------------


def polynomial(draw: Random) -> polynomials.Poly:
    monos = [tuple(sorted(draw.choices(range(3), k=draw.randrange(4)))) for _ in range(4)]
    return {mono: c for mono in monos if (c := draw.randrange(-3, 4))}


def test_polynomials_have_the_values_of_what_makes_them():
    draw = Random(3)
    for _ in range(400):
        a, b, factor = polynomial(draw), polynomial(draw), draw.randrange(-3, 4)
        point = [draw.randrange(-9, 10) for _ in range(3)]

        def at(p, point=point):
            return sum(c * prod(point[a] for a in mono) for mono, c in p.items())

        assert at(polynomials.plus(a, b, factor)) == at(a) + factor * at(b)
        assert at(polynomials.times(a, b)) == at(a) * at(b)
        assert all(polynomials.plus(a, b, factor).values())
        for mono, part in zip(a, b, strict=False):
            rest = polynomials.without(mono, part)
            if rest is not None:
                assert at({rest: 1}) * at({part: 1}) == at({mono: 1})
        assert polynomials.constant(a) in (None, at(a))


def tried_negations(seed: int, count: int) -> None:
    """The contrary of a condition is its contrary, and its cases are all of it."""
    draw = Random(seed)
    for _ in range(count):
        names = draw.choice(("ij", "NMB"))
        goal = condition(draw, names, 1)
        point = {n: draw.choice(SMALL[n]) for n in names}
        try:
            holds = goal.at(point)
        except (ArithmeticError, ValueError):
            continue
        assert negation.negated(goal).at(point) == (not holds), goal
        if not holds:  # one of its cases may still be wider
            continue
        ways = negation.alternatives(goal)
        assert any(all(known(c, point) for c in way) for way in ways), goal


def known(condition: Term, point: dict[str, int]) -> bool:
    try:
        return bool(condition.at(point))
    except (ArithmeticError, ValueError):
        return False


def test_a_contrary_is_one_and_cases_are_all():
    tried_negations(4, 400)


def tried_bounds(seed: int, count: int) -> int:
    """How often names had bounds; every point that is allowed lies within them."""
    draw, bounded = Random(seed), 0
    for _ in range(count):
        given = [*within(i, draw.randrange(1, 9)), j >= draw.randrange(-5, 1)]
        given += [draw.choice((made("le", j, i), i + j <= 3, made("eq", j, i - 4), j < 4))]
        op = draw.choice(("fdiv", "tdiv", "add", "sub", "mul"))
        end = made(op, value(draw, "ij", 1), draw.choice((term_of(2), i, j, term_of(-3))))
        low = made(draw.choice(("fdiv", "tdiv", "sub")), j, 3)
        given += [made(draw.choice(("le", "lt", "eq")), p, end), made("le", low, p)]
        found = exhaustive.bounds("ijp", given)
        bounded += found is not None
        for columns in exhaustive.points({n: SMALL[n] for n in "ijp"}, given) if found else ():
            for name, column in columns.items():
                assert min(column) in found[name] and max(column) in found[name], given
    return bounded


def test_bounds_leave_nothing_out():
    assert tried_bounds(5, 60) > 10
    x = var("x")
    ends = [*(-3 <= x, x <= -1), i >= -5, made("le", i, made("tdiv", x, 2))]
    assert exhaustive.bounds("xi", ends)["i"] == range(-5, 1)


def tried_columns(seed: int, count: int) -> None:
    """Terms have the same values in columns as one by one, at large numbers, too."""
    draw = Random(seed)
    large = [2**k + d for k in (31, 32, 53, 62, 63, 64) for d in (-1, 0, 1)]
    for _ in range(count):
        term = draw.choice((value, condition))(draw, "ijp", 3)
        if draw.random() < 0.2:
            table = [draw.choice((1, -1)) * draw.choice((*large, 0, 7)) for _ in range(4)]
            term += made("lookup", made("fmod", term, draw.choice((4, 5))), *table)
        rows = [
            [draw.choice((0, 1, -7, *large)) * draw.choice((1, -1)) for _ in "ijp"]
            for _ in range(6)
        ]
        columns = {}
        for n, column in zip("ijp", zip(*rows, strict=True), strict=True):
            fits = all(-(2**63) <= v < 2**63 for v in column)
            columns[n] = np.array(column, np.int64 if fits else object)
        got, defined = exhaustive.Values(columns, 6).at(term)
        got, defined = np.broadcast_to(got, 6), np.broadcast_to(defined, 6)
        for k, row in enumerate(rows):
            try:
                want = term.at(dict(zip("ijp", row, strict=True)))
            except (ArithmeticError, ValueError):
                assert not defined[k], (term, row)
                continue
            assert defined[k] and got[k] == want, (term, row)


def test_columns_have_the_values_of_terms():
    large = made("shl", 2**63, p % 2)  # a number and a column
    columns = {"p": np.array([0, 1])}
    for term in (large ^ 1, Term("shl", term_of(2**63), term_of(0)) ^ p,
                 Term("tdiv", term_of(2**64), term_of(-1)) + p):  # fmt: skip
        got, _ = exhaustive.Values(columns, 2).at(term)
        assert [int(v) for v in got] == [term.at({"p": k}) for k in (0, 1)]
    tried_columns(6, 150)


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
