"""Indices that are i + 1, n - i or d - i: the ranges that follow, and what must hold for them."""

import random
from itertools import product

import pytest
from marks import rest_slow

from lego_emit import Col, GroupBy, Row, catalogue, generate, render, symbols
from lego_emit.emit import registry
from lego_emit.errors import IndexRangeError, WidthError
from lego_emit.ir.nodes import evaluate
from lego_emit.pipeline import build_program

CPP = registry.printer("cpp")


def function(fn, **options):
    (found,) = build_program(fn, CPP, **options).functions
    return found


@pytest.mark.parametrize(
    ("fn", "ranges", "assumed"),
    [
        (
            lambda i, j: GroupBy([18, 18])[i + 1, j + 1],
            {"i": "-1 <= i < 17", "j": "-1 <= j < 17"},
            (),
        ),
        (lambda N, i: GroupBy([N])[N - 1 - i], {"N": "N >= 1", "i": "0 <= i < N"}, ()),
        (lambda N, M, i: GroupBy([N, M])[3, 2 - i], {"i": "-M + 3 <= i < 3"}, ("N > 3",)),
        (lambda i: GroupBy([9])[i - 1] + GroupBy([9])[i + 1], {"i": "1 <= i < 8"}, ()),
        (
            lambda i: GroupBy([9])[i + 1] + GroupBy([9])[i],
            {"i": "0 <= i < 9"},
            ("0 <= i + 1 < 9",),
        ),
        (
            lambda i, d: GroupBy([9])[d - i] + GroupBy([9])[i + 1],
            {"i": "-1 <= i < 8", "d": "-1 <= d < 16"},
            ("0 <= d - i < 9",),
        ),
        (
            lambda i, d: GroupBy([16, 16])[i, d - i],
            {"i": "0 <= i < 16", "d": "0 <= d < 31"},
            ("0 <= d - i < 16",),
        ),
    ],
)
def test_a_parameter_lies_where_the_index_does(fn, ranges, assumed):
    found = function(fn)
    assert ranges.items() <= found.ranges.items() and found.assumptions[: len(assumed)] == assumed
    if "N" not in found.ranges:
        assert (found.index_type, len(found.assumptions)) == ("int32", len(assumed))


def test_what_a_user_said_stays():
    found = function(lambda i: GroupBy([18])[i + 1], assume=["0 <= i < 40"])
    assert found.ranges == {"i": "0 <= i < 40"} and "0 <= i + 1 < 18" in found.assumptions
    found = function(lambda i: GroupBy([18])[i + 1], assume=["i >= 0"])
    assert found.ranges == {"i": "0 <= i < 17"}


def test_in_a_branch_an_index_says_nothing_of_the_others():
    def masked(i, c):
        return GroupBy([18])[i + 1] if c > 0 else i

    found = function(masked)
    assert found.ranges["i"] == "" and "c <= 0 or 0 <= i + 1 < 18" in found.assumptions
    assert found.evaluate({"i": -77, "c": 0}) == {"result": -77}


@pytest.mark.parametrize(
    "fn",
    [
        lambda d: GroupBy([4, 6]).OrderBy(Col(4, 6))[1 - d, 23 - d],
        lambda N, i: GroupBy([N])[i + 1] + GroupBy([4])[-3 - i],
    ],
)  # fmt: skip
def test_indices_of_one_parameter_that_exclude_each_other_are_an_error(fn):
    with pytest.raises(IndexRangeError, match=r"is never in 0\.\."):
        function(fn)


def test_a_header_that_nothing_satisfies_breaks_no_search():
    L = GroupBy([4, 6]).OrderBy(catalogue["triton.grouped"](4, 6, 2))
    found = function(lambda i, d: L[i, 23 - d] + 5 * L[4 * (d // 4) + i, -i], base=1)
    assert "d" in found.ranges and "0 <= -i + 1 < 6" in found.assumptions


def test_an_unsigned_parameter_is_not_negative():
    found = function(lambda i: GroupBy([18])[i + 1], index_type="uint32")
    assert found.ranges == {"i": "0 <= i < 17"} and not found.assumptions


@pytest.mark.parametrize("target", ["cuda", "fortran", "python", "wgsl"])
def test_a_constant_index_says_how_large_a_size_is(target):
    unit = generate(lambda A: GroupBy([A, 4])[1, 2], target)
    assert unit.functions[0].assumptions == ("A > 1",)
    assert "A > 1" in unit.source and "0 <= 1" not in unit.source


def test_an_index_that_is_computed_before_it_is_masked():
    """The mask stays: it is what a user relies on, whatever the header says."""

    def masked(i):
        position = GroupBy([18])[i + 1]
        return position if i < 17 else -1

    found = function(masked)
    assert found.ranges == {"i": "-1 <= i < 17"} and found.index_type == "int32"
    assert found.evaluate({"i": 17}) == {"result": -1}
    index = "{% names i, j %}{% index p, ok = A[i + 1, j], A.in_bounds(i + 1, j) %}"
    assert "int ok = static_cast<int>(i >= -1 && i <= 16);" in render(index, A=Row(18, 18))


def test_indices_count_from_1():
    found = function(lambda i, d: GroupBy([16, 16])[i, d - i], base=1)
    assert found.ranges == {"i": "1 <= i < 17", "d": "0 <= d < 31"}
    assert found.evaluate({"i": 3, "d": 5}) == {"result": 16 * 2 + 3 + 1}


def test_a_kernel_says_the_range_that_it_rests_on():
    text = "{% names i, j %}a[{{ A[i + 1, j] }}] a[{{ A[i, j] }}]"
    made = render(text, "cuda", A=GroupBy([18, 18]))
    assert made == "a[18 * i + j + 18] a[18 * i + j]" and made.assumptions == ("-1 <= i < 17",)


@pytest.mark.slow
@pytest.mark.parametrize("known", rest_slow(["pm < N, pn < 3", "", "pn < 3", "pm < 64, pn < 64"]))
def test_a_position_in_a_kernel_that_is_a_sum(known):
    """It is divided as what is not negative, for it lies in the layout."""
    N, M = symbols("N M")
    said = ["0 <= pm", "0 <= pn", *filter(None, known.split(", "))]
    G = catalogue["triton.grouped"](M, 8 * N, 3)
    for axis in (0, 1):
        text = f"{{% names pm, pn %}}{{{{ G.inv(pm * 3 + pn)[{axis}] }}}}"
        assert "pm" in render(text, "cuda", G=G, assume=said, N=N)  # no helper is needed
        code = compile(render(text, "python", G=G, assume=said, N=N), text, "eval")
        for n, m in ((1, 2), (2, 4), (5, 3)):
            layout = catalogue["triton.grouped"](m, 8 * n, 3)
            for pm, pn in product(range(6), range(3)):
                if pm * 3 + pn < layout.size and ("N" not in known or pm < n):
                    names = {"pm": pm, "pn": pn, "N": n, "M": m}
                    assert eval(code, names) == layout.inv(pm * 3 + pn)[axis], names


INDICES = ["i + 1", "i - 2", "3 - i", "n - 1 - i", "n - i", "d - i", "i", "d", "2*i + 1", "i + d",
           "n - 2 - d", "4*(d // 4) + i", "i + n // 2 - 1", "i % 3 + d", "2"]  # fmt: skip
RESULTS = ["L[{0}, {1}]", "L[{0}, {1}] + 5*L[{2}, {3}]", "L[{0}, {1}] if {4} else i - d",
           "later(L[{0}, {1}], {4})", "L[{0}, {1}] - i // 3 + (d + 7) % 5",
           "L.inv({0})[1] + 3*L.inv({1})[0]", "(L[{0}, {1}] if {4} else 3) + L[{2}, {3}] // 4"]  # fmt: skip
CONDITIONS = ["i + 1 < n", "(i >= 0) & (i < 4)", "d - i < m", "d > 2", "n - i > 2"]
LAYOUTS = [
    lambda n, m: GroupBy([n, m]).OrderBy(Col(n, m)),
    lambda n, m: GroupBy([n, m]).OrderBy(Row(n, m)),
    lambda n, m: GroupBy([m, n]).OrderBy(Col(n, m)),
    lambda n, m: GroupBy([n, m]).OrderBy(catalogue["triton.grouped"](n, m, 2)),
]


def later(value, condition):
    """An index that was computed before it is masked."""
    return value if condition else -1


def drawn(seed):
    """A function of indices in terms of i, d and sizes."""
    draw = random.Random(seed)
    parts = [draw.choice(INDICES) for _ in range(4)]
    text = draw.choice(RESULTS).format(*parts, draw.choice(CONDITIONS))
    layout, numbers = draw.choice(LAYOUTS), draw.choice([None, (5, 4), (4, 6)])
    code = compile(text, text, "eval")

    def of_symbols(n, m, i, d):
        return eval(code, {"L": layout(n, m), "later": later, "n": n, "m": m, "i": i, "d": d})

    of_numbers = (lambda i, d: of_symbols(*numbers, i, d)) if numbers else of_symbols
    return text, of_numbers, numbers


def judge(seed, **options):
    """How often the header holds: where it does the value is that of the evaluator on integers, and
    where that has a value the header holds."""
    text, fn, numbers = drawn(seed)
    try:
        found = function(fn, **options)
    except (IndexRangeError, WidthError):
        return 0
    held = 0
    sizes = [()] if numbers else [(4, 5), (1, 3), (6, 2), (3, 3)]
    for given in sizes:
        for index in product(range(-6, 9), range(-4, 13)):
            values = dict(zip((p.name for p in found.params), (*given, *index), strict=True))
            unsigned = options.get("index_type", "").startswith("u")
            if unsigned and min(values.values(), default=0) < 0:
                continue  # no argument of the type
            header = all(
                evaluate(c, values) is True
                for c in (
                    *found.assumed, *(c for p in found.params for c in p.range.conditions(p.name))
                )
            )  # fmt: skip
            try:
                wanted = fn(*given, *index)
            except IndexRangeError:
                assert not header, (text, values, "the header allows it")
                continue
            if unsigned and not header:
                continue
            assert header, (text, values, found.ranges, found.assumptions)
            assert found.evaluate(values) == {"result": int(wanted)}, (text, values)
            held += 1
    return held


@pytest.mark.parametrize("seed", rest_slow(range(6), 2))
def test_functions_of_such_indices(seed):
    assert sum(judge(10 * seed + k) for k in range(2)) > 0


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1000, 1080))
def test_many_functions_of_such_indices(seed):
    judge(seed)
    judge(seed, index_type="uint64")
