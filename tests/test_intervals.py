"""Every rule of the table of intervals against every value, over all intervals of a small domain.

An interval without an end is enumerated twice, as far as NEAR and as far as FAR: an end of the
values that moves along has no bound."""

from contextlib import suppress
from itertools import pairwise, product

import pytest
from net.machine import assert_sound
from net.points import holds

from lego_emit import GroupBy, intervals, isqrt
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.evaluate import Undefined, evaluate
from lego_emit.arith.expr import Cond, Expr
from lego_emit.arith.terms import Atom
from lego_emit.intervals import ANY, LONGEST
from lego_emit.operations import OPS, interval
from lego_emit.pipeline import build_program
from lego_emit.run import registry

CPP = registry.printer("cpp")

NEAR, FAR = 16, 32

SPANS = [
    (lo, hi)
    for lo in (None, *range(-4, 5))
    for hi in (None, *range(-4, 5))
    if lo is None or hi is None or lo <= hi
]


def values(span, limit):
    lo, hi = span
    return range(-limit if lo is None else lo, (limit if hi is None else hi) + 1)


def value(op, *args):
    """The operation's value, None where it has none."""
    try:
        return op(*args)
    except (ZeroDivisionError, ValueError):  # a divisor of 0; a root or a shift of what is negative
        return None


def joined(hulls):
    found = [h for h in hulls if h is not None]
    return (min(lo for lo, _ in found), max(hi for _, hi in found)) if found else None


def hulls(op, limit):
    """For each pair of spans the least and the greatest value; no entry where there is none."""
    reach = range(-limit, limit + 1)
    columns = {}
    for x, y in product(reach, SPANS):
        found = [v for b in values(y, limit) if (v := value(op, x, b)) is not None]
        columns[x, y] = (min(found), max(found)) if found else None
    return {
        (x, y): hull
        for x, y in product(SPANS, SPANS)
        if (hull := joined(columns[a, y] for a in values(x, limit))) is not None
    }


def without_moving_ends(near, far):
    return tuple(a if a == b else None for a, b in zip(near, far, strict=True))


def inside(hull, bounds):
    (a, b), (lo, hi) = hull, bounds
    return (lo is None or lo <= a) and (hi is None or b <= hi)


def excess(hull, bounds):
    """How much farther the bounds reach than the values; None: without an end where they have one."""
    (a, b), (lo, hi) = hull, bounds
    if (a is not None and lo is None) or (b is not None and hi is None):
        return None
    return (0 if a is None else a - lo) + (0 if b is None else hi - b)


BINARY = [op for op, row in OPS.items() if (row.takes, row.gives) == ("ii", "i")]
UNARY = [op for op, row in OPS.items() if (row.takes, row.gives) == ("i", "i")]

# Of about 4,000 pairs of intervals: op -> (how many have bounds that reach farther than the values,
# how much farther at most). All others are tight. A remainder by divisors that differ is 0 to the
# largest less 1; bits are counted, not looked at.
LOOSE = {
    "mod": (244, 3),
    "floormod": (244, 3),
    "and": (454, 4),
    "or": (808, 3),
    "xor": (1088, 7),
}


def test_every_operation_with_a_value_has_a_rule():
    wanted = {op for op, row in OPS.items() if row.gives == "i"}
    assert all((row.bounds is None) == (row.gives == "b") for row in OPS.values())
    assert wanted == {*BINARY, *UNARY, "int", "select", "lookup", "loop", "switch"}, (
        "each is tested below"
    )
    assert interval("lookup", [(3, 9), ANY]) == (3, 9), "those of the table"


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.quick(4)
def test_two_operands(op):
    compute = OPS[op].value
    near, far = hulls(compute, NEAR), hulls(compute, FAR)
    assert near.keys() == far.keys()
    loose = []
    for x, y in product(SPANS, SPANS):
        found = interval(op, (x, y))
        if (x, y) not in near:
            assert found == ANY, (x, y)
            continue
        assert inside(far[x, y], found), (x, y, far[x, y], found)
        tight = without_moving_ends(near[x, y], far[x, y])
        if found != tight:
            loose.append((excess(tight, found), x, y, tight, found))
    assert len(SPANS) == 64 and len(near) >= 4096 - 2 * 64 * 11
    endless = [case for case in loose if case[0] is None]
    assert not endless, (len(endless), endless[:5])
    farthest = max(loose, key=lambda case: case[0], default=(0,))
    assert (len(loose), farthest[0]) == LOOSE.get(op, (0, 0)), (farthest, loose[:8])


def test_no_rule_fails_where_nothing_lies():
    """In a branch that is never taken bounds may exclude one another."""
    nowhere = [(lo, hi) for lo, hi in product(range(-3, 4), repeat=2) if hi < lo]
    rules = {op: OPS[op].bounds for op in (*BINARY, *UNARY)} | {"digit": intervals.digit}
    for op, rule in rules.items():
        for spans in product([*SPANS, *nowhere], repeat=1 if op in UNARY else 2):
            if any(span in nowhere for span in spans):
                assert len(rule(*spans)) == 2, (op, spans)


@pytest.mark.parametrize("op", UNARY)
def test_one_operand(op):
    compute = OPS[op].value
    seen = 0
    for x in SPANS:
        found = interval(op, (x,))
        near, far = (
            joined((v, v) for a in values(x, limit) if (v := value(compute, a)) is not None)
            for limit in (NEAR, FAR)
        )
        if near is None:
            assert op == "isqrt" and found == ANY, x
            continue
        seen += 1
        assert inside(far, found) and found == without_moving_ends(near, far), (x, found)
    assert seen == (64 if op != "isqrt" else 64 - 14), "four ends below 0, with each start"


@pytest.mark.parametrize("exponent", range(1, 7))
def test_powers(exponent):
    for x in SPANS:
        near, far = (joined((a**exponent,) * 2 for a in values(x, n)) for n in (NEAR, FAR))
        assert intervals.power(x, exponent) == without_moving_ends(near, far), x


def test_a_choice_and_a_flag():
    for x, y in product(SPANS, SPANS):
        near, far = (joined((a, a) for s in (x, y) for a in values(s, n)) for n in (NEAR, FAR))
        assert interval("select", (ANY, x, y)) == without_moving_ends(near, far)
    assert interval("int", (ANY,)) == (0, 1)


# -- digits --------------------------------------------------------------------------------------

BASES = [span for span in SPANS if span[0] in (None, -2, 0, 1)]
DIVISORS = [
    (lo, hi) for lo in (None, 0, 1, 2, 3) for hi in (None, 1, 2, 3, 4) if (lo or 0) <= (hi or 9)
]
EXTENTS = [
    (lo, hi) for lo in (None, -1, 1, 4, 6) for hi in (None, 1, 6, 8) if (lo or 0) <= (hi or 9)
]


def test_a_quotient_by_a_divisor_that_is_promised_to_be_positive():
    """What stands in a branch may have a divisor whose own bounds do not show its sign."""
    for base, by in product(SPANS, DIVISORS):
        found = intervals.digit(base, by)
        near, far = (
            joined((a // d, a // d) for a in values(base, n) for d in values(by, n) if d > 0)
            for n in (NEAR, FAR)
        )
        assert inside(far, found) and found == without_moving_ends(near, far), (base, by, found)
    assert intervals.digit((0, 9), (-3, 0)) == ANY


def test_a_digit():
    """lo is promised to divide hi, and both to be positive."""
    seen, loose = 0, []
    hulls = []
    for n in (NEAR, FAR):
        some = [(d, m) for m in range(1, n + 1) for d in range(1, m + 1) if m % d == 0]
        hulls.append(
            {
                (d, m): [joined((a % m // d,) * 2 for a in values(base, n)) for base in BASES]
                for d, m in some
            }
        )
    for lo, hi in product(DIVISORS, EXTENTS):
        near, far = (
            [h for (d, m), h in known.items() if inside((d, d), lo) and inside((m, m), hi)]
            for known in hulls
        )
        for k, base in enumerate(BASES) if far else ():
            seen += 1
            found = intervals.digit(base, lo, hi)
            least, most = (joined(h[k] for h in hull) for hull in (near, far))
            assert inside(most, found), (base, lo, hi, most, found)
            tight = without_moving_ends(least, most)
            if found != tight:
                loose.append((excess(tight, found), base, lo, hi, tight, found))
    farthest = max(loose, key=lambda case: case[0])
    assert (seen, len(loose), farthest[0]) == (10875, 120, 1), (farthest, loose[:8])
    for hi in ((0, 0), (-3, 0)):
        assert intervals.digit((0, 9), (1, 1), hi) == ANY


# -- large numbers -------------------------------------------------------------------------------


def test_long_distances_end():
    """No number is made of a distance that nobody could want."""
    for far in (LONGEST + 1, 10**10):
        assert interval("shl", ((1, 9), (0, far))) == (1, None)
        assert interval("shl", ((-9, -1), (0, far))) == (None, -1)
        assert interval("shl", ((0, 0), (0, far))) == (0, 0)
        assert interval("shl", ((3, 9), (far, None))) == (3 << LONGEST, None)
        assert interval("shl", ((-9, -3), (far, None))) == (None, -3 << LONGEST)
        assert interval("shr", ((-9, 9), (far, None))) == (-1, 0)
    assert interval("shl", ((-3, 5), (0, LONGEST))) == (-3 << LONGEST, 5 << LONGEST)


def test_numbers_of_any_length_are_exact():
    """Ends around the limits of the index types, no float in between."""
    ends = [s * 2**n + k for n in (31, 32, 53, 63, 64, 200) for s in (-1, 1) for k in (-1, 0, 1)]
    some = [(n, n) for n in ends] + [(a, b) for a, b in pairwise(sorted(ends))]
    for op in (*BINARY, *UNARY):
        kinds, compute = OPS[op].takes, OPS[op].value
        for spans in product(some, repeat=len(kinds)) if op not in ("shl", "shr") else ():
            found = interval(op, spans)
            corners = [v for p in product(*spans) if (v := value(compute, *p)) is not None]
            assert all(inside((v, v), found) for v in corners), (op, spans, found)


# -- what uses the table -------------------------------------------------------------------------

RANGES = {"x": (-3, 4), "y": (-2, 3), "z": (0, 3), "u": (1, 3), "w": (-4, -1)}
PAIRS = [(a, b) for a, b in product(RANGES, repeat=2) if a != b]
KINDS = ("floordiv", "floormod", "min", "max", "and", "or", "xor")


def sym(name):
    return Expr.atom(Atom("sym", name))


def atoms():
    """Every kind of atom over operands of every sign."""
    for kind, (a, b) in product(KINDS, PAIRS):
        yield Atom(kind, sym(a), sym(b))
    for kind, (a, b) in product(("shl", "shr"), PAIRS):
        if b in "zu":
            yield Atom(kind, sym(a), sym(b))
    for a, (lo, hi) in product(RANGES, ((2, None), (3, None), (1, 3), (2, 4), (2, 6))):
        yield Atom("digit", sym(a), Expr.of(lo), None if hi is None else Expr.of(hi))
    for a in RANGES:
        if a != "u":
            yield Atom("digit", sym(a), sym("u"), None)
        yield Atom("isqrt", sym(a))
        yield Atom("bool", Cond.compare("lt", sym(a), Expr.of(RANGES[a][1])))
        yield Atom("select", Cond.compare("lt", sym(a), Expr.of(1)), sym(a), sym("u"))
        yield Atom("opaque", sym(a) + sym("u"), None, None)


def points(names):
    for at in product(*(range(lo, hi + 1) for lo, hi in (RANGES[n] for n in names))):
        yield dict(zip(names, at, strict=True))


def bounded():
    analyzer = Analyzer()
    for name, (lo, hi) in RANGES.items():
        analyzer.learn_range(name, Expr.of(lo), Expr.of(hi))
    return analyzer


def hull_of(e):
    found = []
    for at in points(sorted(e.symbols())):
        with suppress(Undefined):
            found.append(evaluate(e, at))
    return min(found), max(found), len(found)


def test_atoms():
    analyzer, seen = bounded(), 0
    for atom in atoms():
        e = Expr.atom(atom)
        if e.symbols() == {"w"} and atom.kind == "isqrt":
            continue
        lo, hi, count = hull_of(e)
        seen += count
        found = analyzer.interval(e)
        if atom.kind in LOOSE:
            assert inside((lo, hi), found), (atom, found)
        elif atom.kind == "select":  # its condition bounds nothing
            assert inside((lo, hi), found) and found == intervals.either(
                *map(analyzer.interval, atom.args[1:])
            )
        else:
            assert found == (lo, hi), atom
    assert seen > 3000


def test_a_distance_without_a_value():
    for kind, distance in product(("shl", "shr"), (-1, 201)):
        with pytest.raises(Undefined):
            evaluate(Expr.atom(Atom(kind, sym("x"), sym("y"))), {"x": 1, "y": distance})


def test_products_and_powers():
    """A monomial's factors are taken for independent, equal ones for one."""
    analyzer = bounded()
    for a, b, c in product(RANGES, repeat=3):
        e = analyzer.simplifier.times(analyzer.simplifier.times(sym(a), sym(b)), sym(c))
        lo, hi, _ = hull_of(e)
        assert analyzer.interval(e) == (lo, hi), e
        assert analyzer.interval(-2 * e + 1) == (1 - 2 * hi, 1 - 2 * lo), e


NODES = [f"{a} {op} {b}" for op in ("+", "-", "*", "//", "%", "&", "|", "^") for a, b in PAIRS]
NODES += [f"{a} {op} {b}" for op in ("<<", ">>") for a in RANGES for b in "zu" if a != b]
NODES += [f"{f}({a}, {b})" for f in ("min", "max") for a, b in PAIRS]
NODES += [f"{op}{a}" for op in "-~" for a in RANGES] + ["isqrt(z)", "isqrt(max(x, 0))"]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(10))
def test_nodes(start):
    """Each lowered operation alone: every node's range at every point, and the header's."""
    seen = 0
    for text in NODES[start::10]:
        space = {"isqrt": isqrt}
        exec(f"def f({', '.join(RANGES)}):\n    return {text}", space)
        assume = [f"{lo} <= {n} <= {hi}" for n, (lo, hi) in RANGES.items()]
        (found,) = build_program(space["f"], CPP, assume=assume).functions
        assert found.index_type == "int32" and found.result_range, text
        for at in points(sorted({*text} & {*RANGES})):
            values = {n: lo for n, (lo, _) in RANGES.items()} | at
            if not holds(found.assumptions, values):  # a divisor that is 0
                continue
            seen += 1
            assert_sound(found, values)
            result = found.evaluate(values)["result"]
            assert holds([found.result_range.replace("the result", str(result))], values), text
    assert seen > 300


# -- faults that were found ----------------------------------------------------------------------


def test_a_bound_of_0_is_a_bound():
    analyzer = Analyzer()
    for lo in (0, 1):
        analyzer.learn_range("x", Expr.of(lo), Expr.of(7))
        assert analyzer.interval(sym("x") & sym("y")) == (0, 7)
        assert analyzer.interval(sym("y") & sym("x")) == (0, 7)


def test_a_quotient_by_a_divisor_without_a_positive_constant_bound():
    """Its upper bound was -1."""
    analyzer = Analyzer()
    analyzer.learn_range("i", Expr.of(0), Expr.of(99))
    for lo in (None, 0, -5):
        analyzer.learn_range("d", None if lo is None else Expr.of(lo), None)
        for base, bounds in (
            (sym("i"), (0, 99)),
            (sym("i") - 50, (-50, 49)),
            (sym("i") - 100, (-100, -1)),
        ):
            assert analyzer.interval(Expr.atom(Atom("digit", base, sym("d"), None))) == bounds


def quotient_of_a_branch(d):
    x = GroupBy([11])[x0]  # noqa: F821
    q = x // d if d > 0 else 0
    return q if q >= 1 else 100


def sign_of_a_quotient(M, N, i):
    return 5 if (i - 50) // (M - N) >= 0 else 6


def test_functions_of_such_quotients():
    (found,) = build_program(quotient_of_a_branch, CPP).functions
    for d, x in product((*range(1, 14),), range(11)):
        assert found.evaluate({"d": d, "x0": x}) == {"result": x // d if x >= d else 100}
    assume = ["N < M", "0 <= i < 100", "0 <= N", "M < 1000"]
    (found,) = build_program(sign_of_a_quotient, CPP, assume=assume).functions
    seen = set()
    for n, gap, i in product((0, 1, 7), (1, 2, 30, 200), range(100)):
        at = {"M": n + gap, "N": n, "i": i}
        seen.add(sign_of_a_quotient(**at))
        assert found.evaluate(at) == {"result": sign_of_a_quotient(**at)}
        assert_sound(found, at)
    assert seen == {5, 6}
