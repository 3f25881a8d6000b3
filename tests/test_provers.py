"""What is proven of an expression is true, at every point of small worlds that are told at random:
ranges, sizes, divisibility, constraints. And enough is proven: each prover has questions that it
must answer."""

import random
from contextlib import suppress
from functools import cache
from operator import itemgetter

import pytest
from small_worlds import NO_VALUE, World

from lego_emit import symbols
from lego_emit.arith import z3_prover
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import Undefined, evaluate, holds
from lego_emit.arith.expr import Cond, Expr, maximum, opaque, select
from lego_emit.arith.terms import Atom
from lego_emit.arith.z3_prover import prove_nonneg
from lego_emit.errors import AssumptionError, TraceError
from lego_emit.lower.widths import at_most

pytestmark = pytest.mark.slow

WINDOWS = {
    "i": range(-3, 13),
    "j": range(-3, 13),
    "x": range(-9, 10),
    "y": range(-4, 14),
    "N": range(1, 9),
    "M": range(1, 13),
    "B": range(1, 7),
}


def known(draw):
    """Texts such as layouts and assume= make: sizes, indices below them, divisors, relations."""
    texts = ["N >= 1", "M >= 1", "B >= 1"]
    texts += draw.choice(
        [[], [], ["M % B == 0"], ["M % 3 == 0"], ["12 % B == 0"], ["M*N % B == 0"]]
    )
    texts += draw.choice([[], [], ["M <= 2*B"], ["N <= M"], ["B < N"], ["N <= 4"], ["M >= 3"]])
    texts += draw.choice(
        [["0 <= i < N"], ["0 <= i < M*N"], ["0 <= i < M // B"], ["0 <= i < 8"], []]
    )
    texts += draw.choice([["0 <= j < B"], ["0 <= j < 5"], ["i <= j"], ["-2 <= j"], []])
    texts += draw.choice([["x < 0"], ["-5 <= x <= 7"], ["x <= i"], ["x + y == 4"], []])
    texts += draw.choice([["0 <= y"], ["y <= 9"], ["y <= 2*x"], ["x <= y", "y <= 6"], []])
    return texts


def expression(draw, depth=3):
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(["i", "j", "x", "y", "N", "M", "B", "i", "j", "0", "1", "7", "-2"])
    one, other = expression(draw, depth - 1), expression(draw, depth - 1)
    return draw.choice(
        [
            "({0} + {1})",
            "({0} - {1})",
            "({0} - {1})",
            "({0} * {1})",
            "N*({0}) + ({1})",
            "({0}) // B",
            "({0}) % B",
            "({0}) // N % B",
            "({0}) // 3",
            "({0}) % 4",
            "({0}) // M",
            "({0}) // (B*N)",
            "({0}) // ({1})",
            "({0}) % ({1})",
            "min({0}, {1})",
            "max({0}, {1})",
            "pick({0} < {1}, {0}, {1} - 1)",
            "pick({0} <= 2, {1}, 3)",
            "flag({0} < {1})",
            "isqrt(max({0}, 0))",
            "(({0}) & ({1}))",
            "(({0}) | 5)",
            "(({0}) ^ ({1}))",
            "(({0}) >> 1)",
            "(3 << flag({0} < {1}))",
        ]
    ).format(one, other)


WORLDS, SEEDS = 40, range(8)


@cache
def worlds(seed):
    """Random questions: (world, text, its symbolic form, its value at every point that has one)."""
    draw, found = random.Random(f"worlds {seed}"), []
    while len(found) < WORLDS:
        text = expression(draw)
        try:
            world = World(known(draw), text, use_z3=seed == 0, limit=100, **WINDOWS)
            made = world.symbolic(text)
        except AssumptionError:  # what is told contradicts itself
            continue
        except (TraceError, *NO_VALUE) as error:  # of numbers
            assert "zero" in str(error) or "nonneg" in str(error), error
            continue
        cases = list(world.cases(text))
        if len(cases) > 4:
            found.append((world, text, made, cases))
    return found


SIZES = ("M", "N", "B", "K")


def relations(draw):
    """Texts of sizes: divisibility, relations between two, bounds of one and of products, in any order."""
    texts = []
    for _ in range(draw.randint(3, 7)):
        a, b = draw.sample(SIZES, 2)
        texts.append(
            draw.choice(
                [
                    f"{a} % {b} == 0",
                    f"{a} % {draw.choice([2, 3, 4])} == 0",
                    f"{a}*{b} % {draw.choice(SIZES)} == 0",
                    f"{a} <= {b}",
                    f"{a} >= {b}",
                    f"{a} <= {draw.randint(2, 9)}",
                    f"{a} >= {draw.randint(1, 4)}",
                    f"{a} == {draw.choice([2, 4, 6])}",
                    *[f"{a}*{b} <= {draw.randint(6, 60)}"] * 3,
                    f"{a} <= 2*{b}",
                ]
            )
        )
    if draw.random() < 0.7:
        texts[draw.randint(0, len(texts)) : 0] = [f"{n} >= 1" for n in SIZES]
    return texts


def product(draw):
    factors = [draw.choice([*SIZES, "M//B", "N//B", "i"]) for _ in range(draw.randint(1, 3))]
    return "*".join(f"({f})" for f in factors) + draw.choice(["", "", " - 1", " + N", " + M*N"])


@pytest.mark.parametrize("seed", range(6))
def test_relations_of_sizes_bound_their_products(seed):
    """What bounds products and sizes holds at every point, and knows a number often enough."""
    draw, bounded, asked = random.Random(f"relations {seed}"), 0, 0
    windows = {n: range(13) for n in SIZES} | {"i": range(-1, 9)}  # no divisor is negative
    for _ in range(60):
        texts = relations(draw) + draw.choice([[], ["0 <= i < B"], ["0 <= i < M // B"]])
        text, other = product(draw), product(draw)
        try:
            world = World(texts, f"{text} + {other}", use_z3=False, limit=150, **windows)
            made, top = world.symbolic(text), world.symbolic(other)
        except (AssumptionError, TraceError, *NO_VALUE):
            continue
        analyzer = world.analyzer
        lo, hi = analyzer.interval(made)
        greatest, less = analyzer.estimates.greatest(made), at_most(made, top, analyzer)
        asked += 1
        bounded += greatest is not None
        for want, values in world.cases(text):
            said = texts, text, lo, hi, greatest, want, values
            assert lo is None or lo <= want, said
            assert hi is None or want <= hi, said
            assert greatest is None or want <= greatest, said
        if less:
            for gap, values in world.cases(f"({other}) - ({text})"):
                assert gap >= 0, (texts, text, other, values)
    assert asked > 40 and bounded > 2, (bounded, asked)


@pytest.mark.parametrize("seed", SEEDS)
def test_values_and_constant_bounds(seed):
    """The form has the text's value, which lies in its interval."""
    bounded = 0
    for world, text, made, cases in worlds(seed):
        world.agree(text, made)
        lo, hi = world.analyzer.interval(made)
        for want, values in cases:
            assert lo is None or lo <= want, (world.known, text, made, lo, want, values)
            assert hi is None or want <= hi, (world.known, text, made, hi, want, values)
        bounded += lo is not None or hi is not None
    assert bounded > WORLDS / 3


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_not_negative(seed):
    """Asked of the form itself, and of what is 0 or -1 where it is least and where it is most."""
    proven = 0
    for world, text, made, cases in worlds(seed):
        least, most = min(cases, key=itemgetter(0))[0], max(cases, key=itemgetter(0))[0]
        asked = [
            made,
            made - least,
            most - made,
            made - least - 1,
            most - made - 1,
            made * made,
        ]
        asked += [made - e for e in map(world.symbolic, world.names)]
        for e in asked:
            if world.analyzer.nonneg(e):
                proven += 1
                for value, values in world.everywhere(e):
                    assert value >= 0, (world.known, text, e, values)
    assert proven > WORLDS


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_in_sizes(seed):
    """Upper and lower bounds, those that keep quotients, and a constant bound of what they say."""
    names = ("upper", "highest", "summits", "loosened", "lower", "lowest")
    found = dict.fromkeys((*names, "most"), 0)
    for world, text, made, cases in worlds(seed):
        analyzer = world.analyzer
        keep = {"N", "M", "B"} & analyzer.facts.ranges.keys()
        lowest = analyzer.estimates.highest(-made, keep)
        tops = {
            "upper": [analyzer.prover.proofs.upper(made)],
            "highest": [analyzer.estimates.highest(made, keep)],
            "summits": analyzer.estimates.summits(made, keep) or [],
            "loosened": [analyzer.estimates.loosened(made)],
        }
        bottoms = {
            "lower": analyzer.prover.proofs.lower(made),
            "lowest": None if lowest is None else -lowest,
        }
        top = tops["upper"][0]
        most = None if top is None else analyzer.estimates.most(analyzer.unsubstitute(top))
        for name, bounds in (*tops.items(), *((n, [b]) for n, b in bottoms.items())):
            known = [b for b in bounds if b is not None]
            found[name] += bool(known)
            if name in ("highest", "summits", "lowest"):
                open_ = {n for n in analyzer.facts.ranges if analyzer.facts.least(n) is not None}
                assert all(b.symbols() <= keep | open_ for b in known), (text, name, known)
        found["most"] += most is not None
        for want, values in cases:
            said = world.known, text, made, values, want
            for name, bounds in tops.items():
                ends = [_value(b, values) for b in bounds if b is not None]
                if ends and None not in ends:
                    assert max(ends) >= want, (name, bounds, *said)
            for name, bottom in bottoms.items():
                end = None if bottom is None else _value(bottom, values)
                assert end is None or end <= want, (name, bottom, *said)
            assert most is None or most >= want, (top, most, *said)
    assert all(n > 3 for n in found.values()), found


def _value(e, values):
    with suppress(Undefined):
        return evaluate(e, values)


@pytest.mark.parametrize("seed", SEEDS)
def test_decisions(seed):
    """A decided condition has that value everywhere; and, or, not too."""
    draw, decided = random.Random(f"decisions {seed}"), 0
    for world, text, _, _ in worlds(seed):
        names = ["0", "7", f"{text} + 1", text, *world.names, *(f"{n} - 1" for n in world.names)]
        for _ in range(4):
            one, other, third = (draw.choice(names) for _ in range(3))
            op = draw.choice(["<", "<=", "==", "!=", ">", ">="])
            question = draw.choice(
                [
                    "{0}",
                    "{0}",
                    "no({0})",
                    f"both({{0}}, {third} < {one})",
                    f"one({{0}}, {one} <= {third})",
                    f"no(one({{0}}, {third} != {other}))",
                ]
            ).format(f"{text} {op} {other}")
            condition = world.symbolic(question)
            if isinstance(condition, Cond):
                world.agree(question, condition, find=holds)
                answer = world.analyzer.decide(condition)
            else:
                answer = bool(condition.constant)
            if answer is not None:
                decided += 1
                for want, values in world.cases(question):
                    assert want == answer, (world.known, question, condition, values)
    assert decided > WORLDS / 2


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_learned(seed):
    """Ranges, constraints, exact quotients and substitutions hold wherever what was told holds, and
    samples satisfy what was told. What contradicts itself holds nowhere."""
    draw, ranges, refused = random.Random(f"learn {seed}"), 0, 0
    for _ in range(30):
        texts = known(draw)
        try:
            world = World(texts, limit=120, **WINDOWS)
        except AssumptionError:
            refused += 1
            told = World([], *texts, limit=4000, **WINDOWS)
            code = [compile(t, t, "eval") for t in texts]
            for values in told.points:
                with suppress(ZeroDivisionError):
                    assert not all(eval(c, {}, values) for c in code), (texts, values)
            continue
        analyzer = world.analyzer
        try:
            analyzer.check_consistent()
        except AssumptionError:
            assert not world.points, texts
            continue
        for values in map(world.all_values, world.points):
            for name, bounds in analyzer.facts.ranges.items():
                ranges += 1
                for lo, hi in (
                    (bounds.lo, Expr.of(values[name])),
                    (Expr.of(values[name]), bounds.hi),
                ):
                    if lo is not None and hi is not None:
                        assert evaluate(lo, values) <= evaluate(hi, values), (texts, name, values)
            for e in analyzer.facts.constraints:
                assert evaluate(e, values) >= 0, (texts, e, values)
            for atom, (dividend, divisor) in analyzer.facts.exact.items():
                by = evaluate(divisor, values)
                assert values[atom.args[0]] * by == evaluate(dividend, values), (texts, values)
            for name, made in analyzer.facts.substitutions.items():
                assert evaluate(made, values) == values[name], (texts, name, made, values)
        for sample in analyzer.samples.first():
            values = sample if isinstance(sample, dict) else sample.values
            space = {name: values[name] for name in WINDOWS if name in values}
            for text in texts:
                with suppress(NameError):
                    assert eval(text, {}, space), (texts, text, space)
    assert ranges > 2000


# -- faults that were found ----------------------------------------------------------------------


def test_a_symbol_that_may_be_negative_is_no_size():
    """A product with it keeps no sign: max(i*j, 0) was i*j."""
    world = World(["0 <= i < N", "-2 <= j"], **WINDOWS)
    text = "max(i*j, 0)"
    assert world.agree(text, world.symbolic(text)) > 50
    assert not world.analyzer.nonneg(world.symbolic("i*j"))
    assert world.analyzer.estimates.highest(world.symbolic("i*j"), set()) is None


def test_what_is_known_in_a_branch_is_not_known_outside(monkeypatch):
    """Z3 was told without a condition that a position that is only taken in a branch is in its
    range, and that a divisor there is positive."""
    analyzer = Analyzer()
    for name in "xd":
        analyzer.learn_range(name, Expr.of(0), Expr.of(999))
    x, d = symbols("x d")
    swapped = opaque(select(x < 8, x + 8, x - 8), Expr.of(0), Expr.of(15))
    e = select(x < 16, swapped, select(x < 400, x, select(x < 410, -1000, x)))
    assert evaluate(e, {"x": 405}) == -1000
    assert prove_nonneg(analyzer.facts, e) is False and not analyzer.nonneg(e)
    assert prove_nonneg(analyzer.facts, select(x < 16, swapped, x)) is True
    gap = opaque(maximum(d - 500, 500 - d) - 3)
    quotient = Expr.atom(Atom("digit", Expr.of(7), gap, None))
    e = select(gap >= 1, maximum(quotient, 3), -5)
    assert evaluate(e, {"d": 500}) == -5
    monkeypatch.setattr(z3_prover, "STEPS", 3_000_000)
    assert prove_nonneg(analyzer.facts, e) is False
    assert prove_nonneg(analyzer.facts, select(gap >= 1, maximum(quotient, 3), 5)) is True


def test_all_values_are_looked_at_where_they_are_few(monkeypatch):
    """Without Z3: products of a choice by itself, where they are at least 0 and where one is not."""
    monkeypatch.setattr(z3_prover, "prove_nonneg", None)
    analyzer = Analyzer()
    for name in "ij":
        analyzer.learn_range(name, Expr.of(0), Expr.of(32))
    i, j = symbols("i j")
    d = select(i + j < 33, i + j, 64 - i - j)
    assert analyzer.nonneg(d * (d + 1)) and analyzer.nonneg(i + d * d)
    e = select(i + 2 * j - 3 * i * j < -2975, d - 1, d * (d + 1))
    below = [(a, b) for a in range(33) for b in range(33) if evaluate(e, {"i": a, "j": b}) < 0]
    assert below == [(32, 32)] and not analyzer.nonneg(e)
    assert analyzer.nonneg(e + 1)
    analyzer.constrain(63 - i - j)
    assert analyzer.nonneg(e) and not analyzer.nonneg(e - 1)
