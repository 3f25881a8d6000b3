"""A user's function is called once with symbols; what it did is gone through from then on."""

import inspect
import itertools

import pytest
from net.judge import judge
from net.shrink import case_of

from lego_emit import Col, GenP, GroupBy, OrderBy, Row, TileBy, generate, isqrt
from lego_emit.arith.analyzer import Analyzer
from lego_emit.errors import TraceError
from lego_emit.trace.follow import TraceOptions
from lego_emit.trace.subject import traced_subject


def called_with_symbols(function, target="cpp", **options):
    """(the unit, how often the function was called with symbols)."""
    calls = []

    def counted(*values, **named):
        calls.append(any(type(v) is not int for v in (*values, *named.values())))
        return function(*values, **named)

    counted.__name__, counted.__signature__ = "f", inspect.signature(function)
    return generate(counted, target, **options), sum(calls)


def tiled(M, N, BM, BN, p, q, i, j):
    return OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))[p, q, i, j]


def axes(M, N, BM):
    return OrderBy(Row(M, N)).TileBy((M // BM, N), (BM, 1))[0, 1, :, :]


def other_digits(i):  # lowered with its flat position kept as one value, too
    return TileBy([6], [4]).OrderBy(Col(3, 8))[GroupBy([5, 5]).inv(i % 24)[0], 1]


def of_genp(M, i, j):
    return GroupBy([M, 4]).OrderBy(GenP([M, 4], lambda x, y: 4 * x + (y + x) % 4))[i, j]


def several(M, i, k):
    q, r = divmod(i, M)
    layout = GroupBy([M, M])
    return {
        "a": layout[r, -k % M],
        "b": layout.inv(r * M)[0] + isqrt(i * i),
        "c": [q][0],
    }


STRAIGHT = [tiled, axes, other_digits, of_genp, several]


def test_the_steps_of_a_tape_are_read_as_text():
    def f(x):
        row, column = OrderBy(Row(4, 8)).inv(x)
        return column - row

    (traced,) = traced_subject(f, None, TraceOptions()).functions
    assert str(traced.trace.tape).splitlines() == [
        "#0 = symbol('x')", "#1 = inv(OrderBy(Row(4, 8)), #0)", "#2 = sub(#1[1], #1[0])", "return #2",
    ]  # fmt: skip


@pytest.mark.parametrize("function", STRAIGHT)
def test_a_function_without_branches_is_called_once(function):
    unit, calls = called_with_symbols(function, assume=["i >= 0"] if function is several else ())
    assert calls == 1
    assert all(f.checked[0] for f in unit.functions), unit.functions[0].checked


@pytest.mark.parametrize("function", [tiled, axes, of_genp])
def test_what_counts_from_1_is_known_after_one_call(function):
    _, calls = called_with_symbols(function, "fortran", base=1)
    assert calls <= 2
    _, calls = called_with_symbols(function, "fortran", base={"i": 1, "j": 1})
    assert calls == 1


def branching(M, BM, i):
    layout = GroupBy([M // BM, BM])
    if i < BM:
        return layout[0, i]
    return layout[1 if M > BM else 0, i % BM]


def test_each_path_is_called_once():
    unit, calls = called_with_symbols(branching)
    assert calls == 3 + 1  # once more with its branches joined
    assert unit.functions[0].checked[0]


def test_what_a_path_teaches_closes_another_one():
    def f(M, i, k):
        r = i % M
        layout = GroupBy([M, M])
        first = layout[r if r > 0 else 0, k if k > -k else 0]
        return first + layout.inv(r * M)[0]

    unit, _ = called_with_symbols(f)
    assert unit.functions[0].checked[0]


def test_a_path_that_what_is_learned_later_closes_leaves_nothing():
    def f(M, BM, i):
        k = 1 if M % BM != 0 else 0  # open when it is asked
        return k * 7 + i % 2

    def after(M, BM, i):
        return f(M, BM, i) + GroupBy([M // BM, BM]).inv(i)[0]

    unit, calls = called_with_symbols(after, assume=["M % BM == 0"])
    assert calls == 1
    assert unit.functions[0].assumptions[0] == "M % BM == 0" and "?" not in unit.source


def test_a_name_that_an_axis_took_is_asked_for_again():
    source = """
def f(M):
    first = GroupBy([M, 4])[:, 0]
    return first + (i if i < M else 0)
"""
    names = {"GroupBy": GroupBy}
    exec(source, names)
    with pytest.warns(match="nobody defined i"):
        unit = generate(names["f"], "cpp")
    assert [p.name for p in unit.functions[0].params] == ["M", "i", "j"]
    assert unit.functions[0].checked[0]


def test_a_function_that_does_something_else_is_refused():
    counter = itertools.count()

    def f(i):
        k = i + 1 if next(counter) % 2 else i * 2
        return k if i > 3 else i

    with pytest.raises(TraceError, match=r"must|looks at"):
        generate(f, "cpp")


def at_least_one(n, m, i):
    if max(n, 1) != n:
        return 0
    layout = GroupBy([n, m])
    return layout[0, m - 1] if i < 3 else layout[n - 1, 0]


def one_of(n, m, i):
    if n in [abs(n), 5]:
        return GroupBy([n, m])[0, 0]
    return 1 if i > 2 else GroupBy([n, m])[n - 1, 0]


def quotient_of_a_rest(n, m, i):
    if i % n // n:
        return 3
    layout = GroupBy([n, m])
    return layout[i % n, 0] if i > 3 else layout[0, i]


@pytest.mark.parametrize("function", [at_least_one, one_of, quotient_of_a_rest])
@pytest.mark.parametrize("base", [0, 1])
def test_what_one_path_teaches_may_decide_a_condition_of_the_next(function, base):
    """The other path asks nothing there, and what was written down is no longer in step."""
    unit = generate(function, "fortran", base=base)
    assert unit.functions[0].checked[0]


@pytest.mark.slow
def test_a_symbol_of_another_call_is_what_it_was_there():
    kept = {}

    def f(a, b):
        if type(a) is int:
            quotient = a // 8
        else:
            quotient = kept.setdefault("quotient", a // 8)
        return quotient + a * 5 + b * quotient

    for _ in range(2):
        assert generate(f, "cpp").functions[0].checked[0]

    def outer(n, i):
        quotient = n // 8
        inner = generate(lambda x: x * 3 + quotient, "python")
        return len(inner.functions) + GroupBy([n, 4])[i, 1]

    assert generate(outer, "cpp").functions[0].checked[0]


def in_both_arms(i):
    if i < 8:
        return i % 8
    return i % 8 + 1


@pytest.mark.slow
def test_what_holds_on_a_path_holds_there_alone(monkeypatch):
    unit = generate(in_both_arms, "cpp", assume=["i >= 0"])
    assert unit.functions[0].checked[0]
    honest = Analyzer._forget

    def forget(self):
        if not self._scopes:
            honest(self)

    # by the node alone, and not by the path that it stands on
    monkeypatch.setattr(Analyzer, "_forget", forget)
    monkeypatch.setattr(Analyzer, "_recall", lambda self: None)
    cases = (case_of(1, number) for number in range(90, 150))
    assert any(judge(case, count=20, deep=False).findings for case in cases if case)


# -- a condition that a layout decides later -------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        lambda c, i: c * 1,
        lambda c, i: c * i + (-c),
        lambda c, i: abs(c) + (1 << c) + 2**c,
        lambda c, i: c % 2 + divmod(c, 2)[0] + sum([c, c]),
        lambda c, i: (c == 1) * 1,
        lambda c, i: (c & (i > 3)) * 1,
        lambda c, i: (c | (i > 3)) * 1,
        lambda c, i: ((i > 3) & c) * 5 + min(c, i),
        lambda c, i: 7 if c & (i > 3) else i,
    ],
)
@pytest.mark.parametrize("sign", ["==", "!="])
@pytest.mark.quick(4)
def test_a_condition_that_is_decided_later_counts_as_a_number(value, sign):
    """M % 8 == 0 is open when the function asks it, and holds once a layout has M // 8 as a size."""
    space = {"OrderBy": OrderBy, "Row": Row, "value": value}
    exec(
        f"def f(i, M):\n    c = M % 8 {sign} 0\n    x = value(c, i)\n"
        "    return OrderBy(Row(M // 8, 8))[0, 0] + x\n",
        space,
    )
    unit = generate(space["f"], "python", name="f", assume=["0 <= i < 8"])
    run = {}
    exec(unit.source, run)
    for i in range(8):
        for m in (8, 16, 40):
            assert run["f"](i, m) == value(m % 8 == 0 if sign == "==" else m % 8 != 0, i)
