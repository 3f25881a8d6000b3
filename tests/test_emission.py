"""The check of every emission: what a fault of the way to the program, or of the definition, does."""

import functools

import pytest
from index_functions import golden_cases
from marks import golden_lowered

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Lookup,
    Row,
    TileBy,
    generate,
    isqrt,
    render,
    symbols,
)
from lego_emit.arith import divisibility
from lego_emit.arith.terms import Atom
from lego_emit.check.emission import _as_text, _in_order, compiled
from lego_emit.check.points import Points
from lego_emit.emit import registry
from lego_emit.errors import InternalError, TemplateError, TraceError
from lego_emit.ir.nodes import evaluate
from lego_emit.lower import forms

CPP = registry.printer("cpp")
M, N = symbols("M N")

# -- faults of ours --------------------------------------------------------------------------------


def forgetful(terms):
    """_carried() as it was: it overwrites the coefficient of an equal term."""
    constant = terms.get((), 0)
    for mono, c in terms.items():
        if constant <= 0 or c <= 0 or constant % c or len(mono) != 1 or mono[0].kind != "digit":
            continue
        base, lo, hi = mono[0].args
        if hi is None and lo.constant and () in base.terms:
            rest = {m: k for m, k in terms.items() if m not in ((), mono)}
            return {**rest, (Atom("digit", base + constant // c * lo, lo, None),): c}
    return terms


SUMS = {
    "five": (lambda x: (x + 5) // 2 + (x + 5) // 12 + (x + 5) % 12 // 2, []),
    "mirrored": (lambda x: (15 - x) // 8 + (15 - x) % 16 // 8 + (15 - x) // 16, ["x >= 0"]),
    "six": (lambda x: (x + 5) // 6 + (x + 5) // 3 + (x + 5) % 6 + (x + 5) % 6 // 3, []),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_lost_term_is_found(name, monkeypatch):
    fn, assume = SUMS[name]
    generate(fn, "cpp", assume=assume)
    monkeypatch.setattr(forms, "_carried", forgetful)
    with pytest.raises(InternalError, match="please report it"):
        generate(fn, "cpp", assume=assume)


def one_more(rule):
    def wrong(*arguments):
        found = rule(*arguments)
        if found is not None:
            found.quotient = found.quotient + 1
        return found

    return wrong


DIVIDED = {
    "factor": lambda x, y: (8 * x + 16 * y) // 8,
    "fits": lambda x, y: (8 * x + y) // 8 + y,
    "split": lambda x, y: (y + 8 * x) // 24,
    "nested": lambda x, y: x // 4 // 5 + y,
    "stays": lambda x, y: (x + y) // 5,
}


@pytest.mark.parametrize("name", DIVIDED)
def test_a_wrong_rule_of_division_is_found(name, monkeypatch):
    ranges = {"x": (0, 100), "y": (0, 8)}
    generate(DIVIDED[name], "cpp", ranges=ranges)
    rules = [one_more(r) if r.__name__ == name else r for r in divisibility.RULES]
    monkeypatch.setattr(divisibility, "RULES", tuple(rules))
    with pytest.raises(InternalError, match="please report it"):
        generate(DIVIDED[name], "cpp", ranges=ranges)


# -- faults of the definition ----------------------------------------------------------------------


def by_type(i):
    return 2 * i if type(i) is int else 3 * i


def by_pattern(i):
    match i:
        case int():
            return i + 1
        case _:
            return i


def by_position(i, /):
    return 2 * i if type(i) is int else 3 * i


def by_a_name_nobody_defined(i):
    return i + (2 if type(nobody) is int else 3)  # noqa: F821


def by_a_size(n):
    return Row(n, 4 if type(n) is int else 5)


@pytest.mark.parametrize(
    "fn", [by_type, by_pattern, by_position, by_a_name_nobody_defined, by_a_size]
)
@pytest.mark.parametrize("target", ["cpp", "python"])
def test_a_type_decides_nothing(fn, target):
    with pytest.raises(TraceError, match="looks at the type of its arguments"):
        generate(fn, target)


def test_a_function_with_a_memory_is_refused_where_only_integers_show_it():
    seen = []

    def remembers(i):
        if isinstance(i, int) and type(i) is int:
            seen.append(i)
        return i + len(seen)

    with pytest.raises(TraceError, match="for the same arguments every time"):
        generate(remembers, "cpp")


def test_parameters_by_position_alone_are_compared_and_verified():
    def f(i, n=5, /, *, j):
        return i * n + j

    unit = generate(f, "python", ranges={"i": (0, 20), "j": (0, 5)})
    assert unit.self_check.points["f"] == 48 and unit.verify()


@pytest.mark.parametrize(
    "wrapped", [functools.cache, lambda f: functools.partial(functools.cache(f))]
)
def test_a_cached_function_is_refused_by_name(wrapped):
    with pytest.raises(TraceError, match="no argument of a cached function"):
        generate(wrapped(lambda i: 2 * i), "cpp", ranges={"i": (0, 20)})


# -- what is compared ------------------------------------------------------------------------------

SUBJECTS = {
    "a layout": (GroupBy([4, 6]).OrderBy(Col(4, 6)), {}),
    "symbols": (GroupBy([M, N]).OrderBy(Col(M, N)), {}),
    "fixed symbols": (GroupBy([M, N]).OrderBy(Col(M, N)), {"sizes": {"M": 4}}),
    "masked": (ExpandBy([5, 7], [6, 8], GroupBy([6, 8]).OrderBy(Col(6, 8))), {}),
    "a permutation": (GenP([6], lambda i: 5 - i, lambda p: (5 - p,)), {}),
    "a table": (Lookup([6], [3, 1, 4, 0, 5, 2]), {}),
    "outer symbols": (lambda i, j: GroupBy([M, N])[j, i], {}),
    "an axis": (lambda M, N, p: GroupBy([M, N])[p, :], {}),
    "free names": (lambda M: GroupBy([M, 4])[p, q], {}),  # noqa: F821
    "a layout's function": (lambda M, N: GroupBy([M, N]).OrderBy(Col(M, N)), {}),
    "divisors": (lambda M, B, p, i: TileBy([M // B], [B])[p, i], {}),
    "a dict": (lambda x: {"a": x // 3, "b": x % 3}, {}),
    "a range of none": (lambda x: x // 3 - x % 5, {"ranges": {"x": (-7, 7)}}),
}


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.quick(4)
def test_each_kind_of_definition_is_compared(name, base):
    subject, options = SUBJECTS[name]
    unit = generate(subject, "cpp", base=base, **options)
    check = unit.self_check
    assert check.reason == ""
    assert list(check.points) == [f.name for f in unit.functions]
    assert min(check.points.values()) >= 4


def test_expressions_are_compared():
    sympy = pytest.importorskip("sympy")
    x = sympy.Symbol("x", integer=True, nonnegative=True)
    unit = generate(sympy.floor(x / 4) + sympy.Mod(x, 3), "cpp")
    assert unit.self_check.points == {"index": 16}
    assert generate(unit.sympy, "rust").self_check.points == {"index": 16}


def test_a_placeholder_is_compared(monkeypatch):
    given = {"names": "x", "f": SUMS["five"][0], "A": GroupBy([4, 8]).OrderBy(Col(4, 8))}
    assert render("{{ A['x % 4', 0] }}", "cuda", **given)
    monkeypatch.setattr(forms, "_carried", forgetful)
    with pytest.raises(TemplateError, match="please report it"):
        render("{{ f(x) }}", "cuda", **given)


def test_why_a_unit_was_not_compared():
    def undefined(i):
        return [10, 20, 30][0] + i * {}["missing"] if type(i) is int else i

    unit = generate(undefined, "cpp")
    assert unit.self_check.points == {"undefined": 0}
    assert "KeyError" in unit.self_check.reason


@pytest.mark.slow  # with sizes as parameters: test_golden.py
@golden_lowered
def test_every_golden_function_is_compared():
    for case in golden_cases():
        unit = case.emit("cpp", numbers=True)
        for function in (unit.lowered or unit.program).functions:
            count, reason = function.checked
            assert count and not reason, (case.name, reason)


# -- the points ------------------------------------------------------------------------------------


def test_points_are_the_header_s():
    """They meet it, reach the ends of small ranges, and push sizes to its limits."""
    unit = generate(SUBJECTS["divisors"][0], "cpp", index_type="int32")
    (function,) = unit.lowered.functions
    points = list(Points(function).draw(48))
    assert points == list(Points(function).draw(48)) and len(points) == 48
    for values in points:
        assert all(evaluate(c, values) for c in function.assumed)
        assert 0 <= values["p"] < values["M"] // values["B"] and 0 <= values["i"] < values["B"]
    assert max(values["M"] for values in points) > 2**28
    assert min(values["M"] for values in points) == 1
    run = compiled(function)
    for values in points:
        assert run(values) == [*function.evaluate(values).values()]


@pytest.mark.parametrize(
    "fn, in_order",
    [
        (lambda i, j: (i * 7 + j) % 12 // 5 + (i ^ j), True),
        (lambda i, j: i // 3 if i < j else j * 2 + 1, True),
        (lambda i, j: min(i // (j + 1), 4) + isqrt(i), True),
        (lambda i, j: i // j if j > 0 else 5, False),
        (lambda i, j: isqrt(i - j) if i >= j else j - i, False),
    ],
)
def test_a_program_is_run_in_order_where_all_of_it_has_a_value(fn, in_order):
    """Else as Python's own code, where a branch that is not taken is not computed."""
    program = generate(fn, "python", ranges={"i": (0, 9), "j": (0, 7)}).lowered
    (function,) = program.functions
    assert (_in_order(function) is not None) == in_order
    runs = [r for r in (_in_order(function), _as_text(function)) if r is not None]
    for i in range(9):
        for j in range(7):
            assert all(run({"i": i, "j": j}) == [fn(i, j)] for run in runs)


def test_all_points_of_a_small_range():
    (function,) = generate(lambda x: x % 3, "cpp", ranges={"x": (-5, 6)}).lowered.functions
    assert [v["x"] for v in Points(function).draw(48)] == [*range(-5, 6)]


@pytest.mark.parametrize(
    "fn",
    [
        lambda i: i * 2 if repr(i).isdigit() else i * 3,
        lambda i: len(str(i)),
        lambda i: i + len(f"{i + 1}"),
    ],
)
def test_a_function_that_looks_at_a_symbol_s_text_is_to_blame(fn):
    with pytest.raises(TraceError, match="makes text of its arguments"):
        generate(fn, "c", assume=["0 <= i < 1000"])


def test_text_that_changes_nothing_is_allowed(capsys):
    def f(i):
        print(f"{i!r} {i}")
        return i + 1

    assert generate(f, "c").functions[0].checked[0] and "i i" in capsys.readouterr().out


@pytest.mark.parametrize(
    "assume, index_type",
    [(["0 <= i", "i < n", "i <= m"], "int64"), (["i < n", "i <= m"], "uint32")],
)
def test_points_lie_in_every_range_of_the_header(assume, index_type):
    """i <= m is said of m, whose values were doubled beyond what bounds them."""
    unit = generate(lambda n, m, i: n // 2 + (i > m) * 5, "c", assume=assume, index_type=index_type)
    (function,) = unit.functions
    assert function.checked[0]
    for values in Points(function).draw(48):
        assert values["i"] <= values["m"] and values["i"] < values["n"]
