"""Every rewriting step on both sides of its equality, with its side conditions true and false.

A rule writes instances: what is known, a text before and, where all conditions hold, the text that
it must become. One condition after another is then broken; the text must keep its value at every
point of a small domain, whatever the simplifier makes of it."""

import random
from itertools import product

import pytest
from small_worlds import World

INSTANCES = 24
RULES = {}  # (name, broken condition) -> what writes (known, before, after)


def rule(*conditions):
    """Register a rule and its side conditions. It draws an instance in which one is broken."""

    def register(write):
        for broken in (None, *conditions):
            RULES[write.__name__, broken] = write
        return write

    return register


SIZES = {"a": range(1, 5), "b": range(1, 5), "c": range(1, 4), "d": range(1, 4)}
WINDOWS = {
    "x": range(-14, 38),
    "y": range(-9, 9),
    "z": range(-3, 9),
    "M": range(1, 13),
    **SIZES,
}
GENERAL = {  # there is no one form that they must get
    "sums_are_multiplied",
    "any_division",
    "any_choice",
    "any_bit_operation",
    "any_shift",
}


def factor(draw):
    """A coefficient: a number, a symbol, or both."""
    return draw.choice(["1", "2", "-3", "y", "4*y", "-y", "a*y", "-2*b"])


def summed(draw, *terms):
    """(before, after): sums of the terms but the last in any order and of the last one, with
    others around them."""
    others = [t for t in ("5", "-y", "a*b", "7*(y // 3)", "isqrt(a)") if draw.random() < 0.2]
    *parts, whole = terms
    parts += others
    draw.shuffle(parts)
    return (" + ".join(f"({t})" for t in ts) for ts in (parts, [whole, *others]))


def borders(draw):
    """Texts lo, m, h of which each divides the next, and the quotients m/l and h/m."""
    if draw.random() < 0.5:
        low, middle, high = (draw.choice([1, 2, 3, 4]), draw.randint(2, 4), draw.randint(2, 3))
        return str(low), str(low * middle), str(low * middle * high), str(middle), str(high)
    low = draw.choice(["1", "2", "a"])
    middle, high = draw.choice([("b", "2"), ("b", "c"), ("3", "b"), ("a", "b")])
    return low, f"({low}*{middle})", f"({low}*{middle}*{high})", middle, high


@rule("same base", "l divides m", "quotients", "border", "coefficients")
def neighboring_digits_are_one(draw, broken):
    """c*((x % m) // l) + c*(m/l)*((x % h) // m) is c*((x % h) // l)."""
    lo, m, h, ratio, _ = borders(draw)
    c, top = factor(draw), draw.choice([f"% {h}", ""])
    other, start, by = "x", m, f"({c})*({ratio})"
    if broken == "same base":
        other = draw.choice(["(x + 1)", "(y + x)", "(2*x)"])
    if broken == "l divides m":
        m = start = f"({m} + 1)" if m.isdigit() else f"({ratio}*3 + 1)"
    if broken == "border":
        start = draw.choice([f"(2*{m})", f"({m}*a)", h])
    if broken == "coefficients":
        by = draw.choice([f"-{by}", f"({by} + 1)", f"2*{by}", f"({by})*a"])
    if broken == "quotients":
        by, start = f"({c})*({ratio}) * 2", f"({m}*2)"
    low, high = f"({c})*((x % {m}) // {lo})", f"{by}*(({other} {top}) // {start})"
    return [], *summed(draw, low, high, f"({c})*((x {top}) // {lo})")


@rule("l divides m", "same base", "same top", "coefficients")
def a_digit_is_split_off(draw, broken):
    """c*((x % h) // l) - c*(m/l)*((x % h) // m) is c*((x % m) // l)."""
    lo, m, h, ratio, _ = borders(draw)
    c, top = factor(draw), draw.choice([f"% {h}", ""])
    other, second, by = "x", top, f"({c})*({ratio})"
    if broken == "l divides m":
        if lo.isdigit() and m.isdigit():
            lo = str(draw.choice([2, 3, 4, 6, 12, 24]))
            m = str(draw.choice([k for k in range(2, 25) if k % int(lo)]))
            scale = draw.choice([1, 2, 3])
            c, by = f"{int(lo) * scale}*({c})", f"{int(m) * scale}*({c})"
            if draw.random() < 0.5:
                top = second = ""
        else:
            lo, m = draw.choice(
                [("a", "(4*a)"), ("(2*a)", "(3*a)"), ("a", "b"), ("(a*b)", "(a*c)")]
            )
            c, by = draw.choice([(f"({c})*{lo}", f"({c})*{m}"), (c, f"4*({c})")])
            top = second = ""
    if broken == "same base":
        other = draw.choice(["(x + 1)", "(y + x)", "(2*x)"])
    if broken == "same top":
        top, second = draw.choice([(f"% {h}", ""), ("", f"% {h}"), (f"% {h}", f"% ({h}*2)")])
    if broken == "coefficients":
        by = draw.choice([f"-{by}", f"({by} + 1)", f"2*{by}", f"({by})*a"])
    low, high = f"({c})*((x {top}) // {lo})", f"-({by})*(({other} {second}) // {m})"
    return [], *summed(draw, low, high, f"({c})*((x % {m}) // {lo})")


@rule("whole base", "coefficients", "divides")
def a_base_less_its_multiples_is_a_remainder(draw, broken):
    """c*x - c*m*(x // m) is c*(x % m), where x may be a sum."""
    base = draw.choice(["x", "(x + 3*y)", "(2*x - y + 5)", "(x*y - 4)", "(a*x + y)"])
    m, c = draw.choice(["2", "6", "a", "(2*b)", "(a*b)"]), factor(draw)
    other, by = base, f"({c})*{m}"
    if broken == "whole base":
        other = draw.choice(["(x + 1)", "(x - 3*y)", "y", "(2*x)"])
    if broken == "coefficients":
        by = draw.choice([f"-{by}", f"({by} + 1)", f"2*{by}", f"({by})*a", f"({c})"])
    if broken == "divides":
        by = f"({c})*{draw.choice(['3', '4', 'b', '(a + 1)'])}"
    terms = f"({c})*{other}", f"-({by})*({base} // {m})"
    return [], *summed(draw, *terms, f"({c})*({base} % {m})")


@rule("same base", "coefficients", "same divisor")
def quotient_and_remainder_by_any_divisor_are_the_base(draw, broken):
    """c*d*(x // d) + c*(x % d) is c*x, also for d < 0."""
    d = draw.choice(["y", "(2*y)", "(y*a)", "(-y)", "-3", "7"])
    base, c = draw.choice(["x", "(x + y)", "(3*x - a)"]), factor(draw)
    other, by, second = base, f"({c})*({d})", d
    if broken == "same base":
        other = f"({base} + 1)"
    if broken == "coefficients":
        by = draw.choice([f"-{by}", f"({by} + 1)", f"2*{by}"])
    if broken == "same divisor":
        second = f"(2*({d}))"
    terms = f"({by})*({base} // ({d}))", f"({c})*({other} % ({second}))"
    return [], *summed(draw, *terms, f"({c})*{base}")


# -- products ------------------------------------------------------------------------------------


def linear(draw, names="xyab"):
    return " + ".join(
        f"{draw.choice([-3, -2, -1, 1, 1, 2, 4])}*{n}" for n in (*draw.sample(names, 2), "1")
    )


@rule("shared", "sign")
def sums_are_multiplied(draw, broken):
    """Two sums stay factors; those that differ by a constant or a sign share theirs."""
    one = linear(draw)
    other = f"({one}) * {draw.choice([1, -1])} + {draw.choice([0, 1, -4])}"
    if broken == "shared":
        other = linear(draw)
    if broken == "sign":
        other = f"({one}) * 2 - x"
    more = draw.choice(["", f" * ({linear(draw)})", f" * ({one})", " // 3", " % 4", " % a"])
    return [], f"({one}) * ({other}){more} - y", None


@rule("divides", "same divisor", "coefficient")
def a_divisor_cancels_against_an_exact_quotient(draw, broken):
    """d * (n // d) * x is n * x where d is known to divide n, which is no symbol."""
    n, by = draw.choice([("12", "a"), ("(6*b)", "(2*a)"), ("(b*c)", "a"), ("24", "(2*a*b)")])
    known, exact, c = [f"{n} % {by} == 0"], f"({n} // {by})", draw.choice(["1", "3", "y"])
    if broken == "divides":
        known = draw.choice([[], [f"2*{n} % {by} == 0"]])
    if broken == "same divisor":
        by = draw.choice(["a", "b", "(a + 1)", "2", "(3*a)"])
    if broken == "coefficient":
        by = draw.choice([f"(-{by})", f"({by}*y)", f"(3*{by})"])
    return known, f"{by} * {exact} * ({c}) * x + y", f"({n}) * ({c}) * x + y"


# -- divisions -----------------------------------------------------------------------------------


def quotient_or_rest(draw, base, by, quotient, rest):
    """(before, after) of base // by or base % by."""
    if draw.random() < 0.5:
        return f"({base}) // ({by})", quotient
    return f"({base}) % ({by})", rest


@rule("divides", "coefficient", "range")
def a_term_is_divided_by_an_exact_quotient(draw, broken):
    """(n*x + y) // d is (n // d)*x where d is known to divide n and 0 <= y < d."""
    n, k = draw.choice([("12", "3"), ("(6*b)", "y"), ("(b*c)", "2")])
    d = by = draw.choice(["a", "(2*a)"])
    known, base = [f"{n} % {d} == 0", "0 <= y", f"y < {d}"], f"{n}*{k}*x + y"
    if broken == "divides":
        known = known[1:]
    if broken == "coefficient":
        base = draw.choice(["18*x + y", "b*x + y", "6*x + y", f"{n}*x + {n}*3"])
        by = draw.choice([d, "a", "(3*a)", "(4*a)"])
    if broken == "range":
        known = draw.choice([[*known[:2], f"y <= {d}"], [known[0], "-1 <= y", known[2]]])
    return known, *quotient_or_rest(draw, base, by, f"({n} // {d})*{k}*x", "y")


@rule("divides", "multiple", "range")
def a_symbol_is_divided_by_what_divides_it(draw, broken):
    """M is a * (M // a) where a is known to divide M."""
    known = ["M % a == 0", "0 <= y", "y < a", "M >= 1"]
    base, by, quotient, rest = draw.choice(
        [
            ("M*x + y", "a", "M // a * x", "y"),
            ("M", "a", "M // a", "0"),
            ("x*M*b + 3*a + y", "a", "M // a * x * b + 3", "y"),
            ("M*M", "a", "M // a * M", "0"),
            ("x % M", "a", "x % M // a", "x % a"),
            ("M*x + y", "M", "x", "y"),
        ]
    )
    if broken == "divides":
        known = known[1:]
    if broken == "multiple":
        by = draw.choice(["(2*a)", "(a*b)", "(a*a)", "(a + 1)", "3"])
    if broken == "range":
        known[2:3] = ["y <= a"]
    return known, *quotient_or_rest(draw, base, by, quotient, rest)


@rule("at least", "at most")
def a_remainder_that_fits(draw, broken):
    """(b*x + y) // b is x + k where k*b <= y < (k + 1)*b."""
    b, k = draw.choice(["a", "7", "(2*a)", "(a*c)"]), draw.choice([-1, 0, 1])
    if b == "7":
        k = draw.choice([-3, k])
    low, high = f"{k}*{b} <= y", f"y < {k + 1}*{b}"
    if broken == "at least":
        low = f"{k}*{b} - 1 <= y"
    if broken == "at most":
        high = f"y <= {k + 1}*{b}"
    base = draw.choice([f"{b}*x + y", f"y - {b}*x*c"])
    quotient = {f"{b}*x + y": f"x + {k}", f"y - {b}*x*c": f"{k} - x*c"}[base]
    return [low, high], *quotient_or_rest(draw, base, b, quotient, f"y - {k}*{b}")


@rule("at least", "at most")
def coefficients_hold_multiples_of_a_divisor(draw, broken):
    """((n*b + c)*y + (m*b + d)*z) // b is n*y + m*z where 0 <= c*y + d*z < b."""
    b, n, m = draw.choice([5, 8, 12]), draw.choice([-2, 1, 3]), draw.choice([-1, 0, 2])
    c, d = draw.randint(1, 3), draw.randint(0, 2)
    known = ["0 <= y", "0 <= z", f"{c}*y + {d}*z < {b}"]
    if d == 0 or draw.random() < 0.5:
        d, m = 0, 0
        known = ["0 <= y", f"y <= {(b - 1) // c}"]
    if broken == "at least":
        known[0] = "-1 <= y"
    if broken == "at most":
        known[-1] = known[-1].replace("<", "<=") if d else f"y <= {(b - 1) // c + 1}"
    base = f"{n * b + c}*y + {m * b + d}*z"
    return known, *quotient_or_rest(draw, base, str(b), f"{n}*y + {m}*z", f"{c}*y + {d}*z")


@rule("lowest digit", "middle digit", "divides")
def digits_are_read_off(draw, broken):
    """((x*m + y)*l + z) of mixed radix, 0 <= y < m and 0 <= z < l, by l, l*m and parts of them."""
    lo, m = draw.choice([("4", "6"), ("a", "b"), ("a", "4"), ("3", "c"), ("(2*a)", "b")])
    known = [f"0 <= z < {lo}", f"0 <= y < {m}"]
    if broken == "lowest digit":
        known[0] = draw.choice([f"0 <= z <= {lo}", f"-1 <= z < {lo}"])
    if broken == "middle digit":
        known[1] = draw.choice([f"0 <= y <= {m}", f"-1 <= y < {m}"])
    base = f"(x*{m} + y)*{lo} + z"
    by, quotient, rest = draw.choice(
        [
            (lo, f"x*{m} + y", "z"),
            (f"({lo}*{m})", "x", f"y*{lo} + z"),
            (f"({lo}*{m}*2)", "x // 2", f"(x % 2)*{m}*{lo} + y*{lo} + z"),
            (f"({lo}*{m}*d)", "x // d", f"(x % d)*{m}*{lo} + y*{lo} + z"),
        ]
    )
    if broken == "divides":
        by = draw.choice([f"({lo} + 1)", f"({lo}*{m} - 1)", f"({m}*2)", "5"])
    return known, *quotient_or_rest(draw, base, by, quotient, rest)


@rule("positive", "divides")
def a_quotient_of_a_quotient(draw, broken):
    """x // l // m is x // (l*m); x % h // l % m is x % (l*m) // l where l*m divides h."""
    lo, m = draw.choice([("2", "3"), ("a", "b"), ("4", "c"), ("(2*a)", "2")])
    if draw.random() < 0.5 and broken != "divides":
        if broken == "positive":
            lo, m = draw.choice([("-2", "3"), ("2", "-3"), ("y", "2"), ("2", "y"), ("y", "z")])
        return [], f"x // {lo} // {m} - z", f"x // ({lo}*{m}) - z"
    h = f"({lo}*{m}*{draw.choice(['2', 'b', '3'])})"
    if broken == "divides":
        h = draw.choice([f"({lo}*{m} + 1)", f"({lo}*5)", f"({m}*b)", "7"])
    if broken == "positive":
        h = draw.choice([f"(-{lo}*{m})", f"({lo}*y)", f"({lo}*{m}*z)"])
    return [], f"x % {h} // {lo} % {m} + z", f"x % ({lo}*{m}) // {lo} + z"


@rule("multiple")
def multiples_of_a_divisor_of_any_sign(draw, broken):
    """(d*x + z) // d is x + z // d, d != 0."""
    d = draw.choice(["y", "(-y)", "(y*a)", "-4", "(2*y)"])
    base = f"{d}*x + z"
    if broken == "multiple":
        base = draw.choice([f"({d})*x // 2 + z", f"x - z*({d} + 1)", "x + y"])
    return [], *quotient_or_rest(draw, base, d, f"x + z // ({d})", f"z % ({d})")


@rule()
def any_division(draw, broken):
    """Sums with ranges of every kind, by numbers and sizes; twice."""
    known = []
    for n in "xyz":
        lo, hi = draw.choice([-9, -5, -1, 0, 0, 3]), draw.choice([3, 5, 8, 11, 17, 24])
        known += draw.choice([[f"{lo} <= {n} <= {hi}"], [f"{lo} <= {n}"], [f"{n} <= {hi}"], []])
    numbers = ["2", "3", "4", "6", "12", "a", "(2*a)", "(a*b)", "(a + b)", "-3"]
    base = " + ".join(
        f"{draw.choice([-12, -6, -1, 1, 1, 2, 3, 4, 8, 24])}*{draw.choice(['1', 'a', 'b'])}*{n}"
        for n in draw.sample(["x", "y", "z", "1"], draw.randint(1, 4))
    )
    text = f"(({base}) {draw.choice(['//', '%'])} {draw.choice(numbers)} + {draw.randint(-9, 9)})"
    return known, f"{text} {draw.choice(['//', '%'])} {draw.choice(numbers)}", None


# -- choices -------------------------------------------------------------------------------------


@rule("order")
def the_smaller_is_known(draw, broken):
    """min(p, q) is p and max(p, q) is q where p <= q."""
    known, p, q = draw.choice(
        [
            (["x <= y"], "x", "y"),
            (["0 <= x", "x < a*b"], "x", "a*b"),
            (["0 <= y", "x >= 3"], "2*a - y", "2*a + x - 3"),
            ([], "x % a", "a"),
            ([], "x // 4 * 4", "x"),
        ]
    )
    if broken == "order":
        q = draw.choice([f"{q} - 1", f"{q} - x", f"2 - {q}"])
    return known, *draw.choice(
        [(f"min({p}, {q})", p), (f"max({p}, {q})", q), (f"min({q}, {p})", p), (f"max({q}, {p})", q)]
    )


@rule("operands")
def a_choice_that_is_a_minimum(draw, broken):
    """pick(p < q, p + c, q + c) is min(p, q) + c; the other way around, and with other signs."""
    p, q = draw.choice([("x", "y"), ("x", "3*y - a"), ("x + y", "b"), ("x % 3", "y")])
    c = draw.choice(["0", "7", "b*x", "x // 3 - 2"])
    op = draw.choice(["<", "<=", ">", ">="])
    one, other = (p, q) if op[0] == "<" else (q, p)
    smaller = draw.random() < 0.5
    if not smaller:
        one, other = other, one
    if broken == "operands":
        one, other = draw.choice(
            [(f"{one} + 1", other), (one, f"-({other})"), (f"2*({one})", other)]
        )
    name = "min" if smaller else "max"
    before = f"pick({p} {op} {q}, {one} + {c}, {other} + {c})"
    return [], before, f"{name}({p}, {q}) + {c}" if broken is None else None


CONDITIONS = ["{p} < {q}", "{p} <= {q}", "{p} == {q}", "{p} != {q}", "{p} > {q}", "{p} >= {q}"]


def condition(draw, depth=2):
    if depth == 0 or draw.random() < 0.4:
        p, q = (
            draw.choice(["x", "y", "x + y", "2*x - a", "x % 3"]),
            draw.choice(["y", "4", "a", "0"]),
        )
        return draw.choice(CONDITIONS).format(p=p, q=q)
    inner = condition(draw, depth - 1), condition(draw, depth - 1)
    return draw.choice(["both({}, {})", "one({}, {})", "no({})"]).format(*inner)


BRANCHES = [
    ("1", "0"),
    ("0", "1"),
    ("x*a + y", "x*a - y"),
    ("x*a + y + 3", "y + 3"),
    ("x // 3", "x // 3"),
    ("5", "x"),
]


@rule()
def any_choice(draw, broken):
    """Conditions of every kind; branches with common terms, equal ones, 1 and 0."""
    one, other = draw.choice(BRANCHES)
    known = draw.choice([[], ["x <= y"], ["0 <= x", "y < 4"], ["x == 2*y"]])
    c = condition(draw)
    text = f"pick({c}, {one}, {other})"
    return (
        known,
        draw.choice([text, f"3*{text} - y", f"flag({c}) + x", f"{text} // 2 + flag({c})"]),
        None,
    )


@pytest.mark.parametrize("around", ["{}", "no({})", "no(both({}, y < a))", "one({}, x == y)"])
def test_every_choice(around):
    seen = 0
    for one, (a, b), (p, q) in product(CONDITIONS, BRANCHES, [("x", "y"), ("x % 3", "0")]):
        text = f"pick({around.format(one.format(p=p, q=q))}, {a}, {b})"
        world = World(["a >= 1"], text, limit=40, **WINDOWS)
        seen += world.agree(text, world.symbolic(text))
    assert seen == 72 * 40


# -- bits ----------------------------------------------------------------------------------------


@rule("one run of ones")
def a_mask_is_a_digit(draw, broken):
    """x & m, for x of any sign."""
    low, length = draw.randint(0, 3), draw.randint(1, 4)
    mask = (2**length - 1) << low
    after = f"{2**low} * ((x % {2 ** (low + length)}) // {2**low})"
    if broken is not None:
        mask, after = draw.choice([0b101, 0b1001, 0b110110, -3, -8, -1, 0, 2**40, 2**40 + 1]), None
    base = draw.choice(["x", "(x + 3*y)", "(4*x - y)"])
    before = draw.choice([f"{base} & {mask}", f"{mask} & {base}"])
    return [], before, after and after.replace("x", base)


BITS = ["x", "y", "(x - y)", "(~x)", "(-y)", "(x % 8)", "0", "-1", "5", "-6", "12", "48"]


@rule()
def any_bit_operation(draw, broken):
    """Numbers, symbols, equal operands and complements, of any sign."""
    text = draw.choice(BITS)
    for _ in range(draw.randint(2, 4)):
        text = f"({text} {draw.choice('&|^')} {draw.choice(BITS)})"
    known = draw.choice([[], ["0 <= x", "0 <= y"], ["x < 0"]])
    return known, f"{text} + {draw.randint(-2, 2)}", None


@pytest.mark.parametrize("op", "&|^")
def test_every_bit_operation(op):
    seen = 0
    for a, b in product(BITS, BITS):
        text = f"{a} {op} {b}"
        world = World([], text, limit=40, **WINDOWS)
        seen += world.agree(text, world.symbolic(text))
    assert seen > 3000


@rule()
def any_shift(draw, broken):
    """By numbers and symbols, of any sign; a distance below 0 has no value."""
    base = draw.choice(["x", "(x - 3*y)", "5", "-6", "(4*x)", "(8*x + 3)"])
    by = draw.choice(["0", "1", "3", "a", "(a - 1)", "(b + 1)"])
    text = f"{base} {draw.choice(['<<', '>>'])} {by}"
    return (
        [],
        draw.choice([text, f"({text}) >> 2", f"({text}) % 4", f"({text}) << 1", f"-({text}) // 2"]),
        None,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "broken"), RULES, ids=lambda v: str(v).replace(" ", "_"))
def test_values(name, broken):
    """Whatever the simplifier makes of it has the text's value, with products multiplied out too."""
    draw, seen = random.Random(f"{name} {broken}"), 0
    for _ in range(INSTANCES):
        known, before, _ = RULES[name, broken](draw, broken)
        world = World(known + [f"{n} >= 1" for n in SIZES if n in before], before, **WINDOWS)
        made = world.symbolic(before)
        seen += world.agree(before, made)
        expanded = world.analyzer.simplifier.expand_opaque(made)
        if not expanded.same(made):
            world.agree(before, expanded)
    assert seen > 25 * INSTANCES


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name for name, _ in RULES} - GENERAL))
def test_a_rule_is_applied_where_its_conditions_hold(name):
    draw, applied = random.Random(name), 0
    for _ in range(INSTANCES):
        known, before, after = RULES[name, None](draw, None)
        if after is None:
            continue
        applied += 1
        world = World(known + [f"{n} >= 1" for n in SIZES if n in before], before, **WINDOWS)
        made, wanted = world.symbolic(before), world.symbolic(after)
        assert made.same(wanted), (known, before, made, wanted)
    assert applied > INSTANCES / 3
