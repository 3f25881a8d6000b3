"""ranges= beside assume=: whatever combination has a point is taken, and its header loses nothing."""

import random
from itertools import product

import pytest
from marks import rest_deep

from lego_emit import generate
from lego_emit.errors import AssumptionError, LegoError
from lego_emit.ir.relations import evaluate

NAMES = ("i", "j", "M", "N")
WINDOW = range(-2, 7)
BOUNDS = ("0", "1", "4", "M", "N", "i", "j", "2*i", "i + 1", "N - 1", "2*N + 1", "M*2", "i*j")
ASSUMED = (
    "{a}*{b} >= {c}", "{a} <= {b}", "{a} < {b} + 2", "{a} >= 2*{b}", "{a} == 2*{b}", "{a} % 2 == 0",
    "{a} >= {n}", "{a} < {n}", "{a} + {b} <= {c}", "{a} >= {b}*{b}", "{a} == {b}",
)  # fmt: skip
VALUES = (
    "{a}*{b} - {c}", "({a} + {b}) % {d}", "{a} // {d} + {b}", "min({a}, {b}) + {c}",
    "({a} if {a} < {b} else {c})", "abs({a} - {b})", "max({a}, {c}) % {d}",
)  # fmt: skip


def drawn(seed):
    """(ranges, assumptions, the text of a value) at random."""
    rng = random.Random(seed)

    def filled(text):
        a, b, c = rng.sample(NAMES, 3)
        return text.format(a=a, b=b, c=c, d=rng.choice(("2", "3", "M", "N")), n=rng.randint(0, 3))

    ranges = {}
    for name in rng.sample(NAMES, rng.randint(1, 3)):
        least, end = rng.choice((None, "0", "0", "1", *BOUNDS)), rng.choice((None, *BOUNDS))
        if least is not None or end is not None:
            ranges[name] = (least, end)
    assume = [filled(rng.choice(ASSUMED)) for _ in range(rng.randint(0, 3))]
    return ranges, assume, filled(rng.choice(VALUES))


def points(ranges, assume):
    """The points of the window for which all that is said holds."""
    said = [f"{least} <= {n}" for n, (least, _) in ranges.items() if least is not None]
    said += [f"{n} < {end}" for n, (_, end) in ranges.items() if end is not None]
    holds = compile(" and ".join([*said, *assume]) or "True", "<said>", "eval")
    for values in product(WINDOW, repeat=len(NAMES)):
        point = dict(zip(NAMES, values, strict=True))
        if eval(holds, {}, point):
            yield values


def function_of(text):
    names = {}
    exec(f"def f(i, j, M, N): return {text}", names)
    return names["f"]


def compared(seed):
    """How many points a random case was compared at; None where it was refused and has none."""
    ranges, assume, text = drawn(seed)
    wanted, here = function_of(text), {*points(ranges, assume)}
    said = f"generate({text!r}, ranges={ranges}, assume={assume})"
    try:
        unit = generate(wanted, "cpp", ranges=ranges, assume=assume)
    except LegoError as error:
        assert not here, f"{said} is refused: {error}"
        return None
    (function,) = unit.lowered.functions
    conditions = [c for p in function.params for c in p.range.conditions(p.name)]
    allowed = 0
    for values in product(WINDOW, repeat=len(NAMES)):
        point = dict(zip(NAMES, values, strict=True))
        if all(evaluate(c, point) for c in (*conditions, *function.assumed)):
            allowed += 1
            assert values in here, f"{said}: its header allows {point}"
            try:
                due = wanted(**point)
            except ZeroDivisionError:  # of which no promise is made
                continue
            assert [*function.evaluate(point).values()] == [due], (said, point)
    return allowed


@pytest.mark.slow
@pytest.mark.parametrize("part", rest_deep(range(4)))
def test_random_ranges_and_assumptions(part):
    counts = [compared(seed) for seed in range(40 * part, 40 * part + 40)]
    assert sum(map(bool, counts)) > 10


@pytest.mark.parametrize(
    ("assume", "ranges", "said"),
    [
        (["i*j >= N"], {"i": (0, "N"), "j": (0, "N")}, ["0 <= i < N", "0 <= j < N", "i*j >= N"]),
        (["N >= 5*i"], {"i": (0, "N")}, ["0 <= i < N", "N >= 5*i"]),
        ([], {"i": (0, "N"), "N": ("i", "2*i + 9")}, ["0 <= i < N", "N < 2*i + 9"]),
        ([], {"i": ("j", None), "j": (0, "i")}, ["i >= j", "j >= 0", "j < i"]),
        (["M == 2*N"], {"N": (1, "M"), "M": (1, 9)}, ["M == 2*N", "M < 9"]),
        (["M % 8 == 0"], {"M": (8, "N"), "N": (9, 100)}, ["M + 1 <= N < 100", "M % 8 == 0"]),
    ],
)
def test_a_relation_that_no_range_holds_is_a_precondition(assume, ranges, said):
    unit = generate(lambda i, j, M, N: i * j - N + M, "cpp", assume=assume, ranges=ranges)
    for text in said:
        assert f" {text}\n" in unit.source


def test_ranges_that_contradict_each_other():
    with pytest.raises(AssumptionError, match="the range of N contradicts what is known"):
        generate(lambda M, N: M + N, "cpp", ranges={"M": (0, "N"), "N": (0, "M")})
