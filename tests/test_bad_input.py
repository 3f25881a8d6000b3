"""Bad input: one clear error of ours, naming the construct, the place and the way out."""

import itertools
import math
import random
import signal
import sys
from decimal import Decimal
from fractions import Fraction
from time import perf_counter_ns

import numpy as np
import pytest
import sympy
from conftest import TARGETS
from marks import marked, some_slow

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    LegoError,
    Linear,
    Lookup,
    OrderBy,
    RegP,
    Row,
    Strided,
    TileBy,
    ends,
    generate,
    isqrt,
    recognize,
    symbols,
)
from lego_emit.errors import (
    AssumptionError,
    IndexRangeError,
    InternalError,
    InverseError,
    LayoutError,
    TargetError,
    TraceError,
    WidthError,
    short_repr,
)

# ruff: noqa: F821


def asserting(i):
    assert i < 4
    return i


@pytest.fixture(autouse=True)
def no_file_and_an_end(tmp_path, monkeypatch):
    """Whatever is tried here writes nothing where it runs, and ends: 60 s of the processor, which do
    not depend on what else it does, are far more than the half second that the slowest takes."""

    def stop(*_):
        pytest.fail("it does not end")

    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 60)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    assert list(tmp_path.iterdir()) == []


def refused(kind, *words, call, **options):
    """call(), or generate(call, ..), raises exactly this kind, and the message has the words."""
    with pytest.raises(LegoError) as caught:
        call(**options)
    assert type(caught.value) is kind, repr(caught.value)
    text = str(caught.value)
    for word in words:
        assert word in text, (word, text)
    assert "Traceback" not in text and "\n" not in text
    assert len(text) < 400, text


def refused_by_generate(kind, *words, fn, target="cpp", **options):
    refused(kind, *words, call=lambda: generate(fn, target, **options))


# -- no integer, wherever one is wanted ----------------------------------------------------------


class Broken:
    """An integer that does not say which, nor lets itself be counted or kept."""

    def __index__(self):
        raise RuntimeError("broken")

    __hash__ = __len__ = __iter__ = __bool__ = __index__


in_itself: list = []
in_itself.append(in_itself)
nested: list = [2]
for _ in range(2000):
    nested = [nested]

NO_INTEGERS = {
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "complex": 1j,
    "float": np.float64(4),
    "fraction": Fraction(4),
    "decimal": Decimal(4),
    "text": "4",
    "bytes": b"4",
    "null": "\0",
    "list": [4],
    "ragged": [[2], 3],
    "nested": nested,
    "in itself": in_itself,
    "set": {2, 3},
    "dict": {2: 3},
    "generator": (n for n in [4]),
    "class": int,
    "function": len,
    "None": None,
    "broken": Broken(),
}
OF_SYMPY = {
    "infinity": sympy.oo,
    "no number": sympy.nan,
    "complex infinity": sympy.zoo,
    "half": sympy.Rational(1, 2),
    "pi": sympy.pi,
    "sympy float": sympy.Float(4.0),
    "imaginary": sympy.I * sympy.Symbol("z"),
    "a symbol's half": sympy.Symbol("z", integer=True) / 2,
}


def size_of(layout):
    """Of SymPy's the value shows when the layout is used."""
    return generate(GroupBy(layout.dims).OrderBy(layout), "cpp")


def identity(i):
    return i


PLACES = {
    "size": (LayoutError, lambda x: size_of(Row(x, 4))),
    "tile": (LayoutError, lambda x: generate(TileBy([2], [x]), "cpp")),
    "permutation": (LayoutError, lambda x: RegP([2, 3], [0, x])),
    "expanded size": (LayoutError, lambda x: generate(ExpandBy([x], [4], GroupBy([4])), "cpp")),
    "size of GenP": (LayoutError, lambda x: size_of(GenP([x], identity, identity))),
    "apply": (LayoutError, lambda x: size_of(GenP([4], lambda i: x, identity))),
    "inv": (LayoutError, lambda x: size_of(GenP([4], identity, lambda p: (x,)))),
    "stride": (LayoutError, lambda x: generate(Strided([4], [x]), "cpp")),
    "entry": (LayoutError, lambda x: Lookup([2], [0, x])),
    "entry of a table": (LayoutError, lambda x: recognize([0, x])),
    "image": (LayoutError, lambda x: Linear({"a": [[x]]}, ["x"])),
    "number for a symbol": (LayoutError, lambda x: GroupBy([symbols("n")]).check(n=x)),
    "index": (IndexRangeError, lambda x: GroupBy([4, 6])[x, 0]),
    "position": (IndexRangeError, lambda x: GroupBy([4, 6]).inv(x)),
    "root": (LayoutError, isqrt),
    "result": (TraceError, lambda x: generate(lambda i: x, "cpp")),
    "named result": (TraceError, lambda x: generate(lambda i: {"a": x}, "cpp")),
    "term": (TraceError, lambda x: generate(lambda i: i + x, "cpp")),
    "divisor": (TraceError, lambda x: generate(lambda i: i // x, "cpp")),
    "distance": (TraceError, lambda x: generate(lambda i: i << x, "cpp")),
    "exponent": (TraceError, lambda x: generate(lambda i: i**x, "cpp")),
    "bound": (TraceError, lambda x: generate(lambda i: 1 if i < x else 0, "cpp")),
    "size by name": (TraceError, lambda x: generate(lambda n: n + 1, "cpp", sizes={"n": x})),
}


# What is something else there: a result may be a list or a dict.
MEANT = {("result", "list"), ("named result", "list"), ("result", "dict")}


@pytest.mark.parametrize("value", [*NO_INTEGERS, *OF_SYMPY])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.quick(8)
def test_what_is_no_integer(place, value):
    kind, call = PLACES[place]
    if value in OF_SYMPY:
        with pytest.raises((kind, TraceError)) as caught:
            call(OF_SYMPY[value])
        said = str(caught.value)
    elif (place, value) in MEANT:
        pytest.skip("it has a meaning there")
    else:
        with pytest.raises(kind) as caught:
            call(NO_INTEGERS[value])
        said = str(caught.value)
    assert "\n" not in said and len(said) < 600 and "Traceback" not in said, said


# -- functions that do not keep to what a GenP promises ------------------------------------------


def endless_on_a_line(*_):
    while True: pass  # fmt: skip  # noqa: E701


def endless_in_a_call(*_):
    return sum(1 for _ in iter(int, 1))


def counting(*_):
    for _ in itertools.count():
        pass


def calling_itself(*_):
    return calling_itself()


def calling_the_other(*_):
    return called_by_the_other()


def called_by_the_other():
    return calling_the_other()


def failing_at_length(*_):
    raise RuntimeError("at\nlength " * 1000)


def failing_without_words(*_):
    class Wordless(Exception):
        def __str__(self):
            raise RuntimeError

    raise Wordless


def leaving_the_program(*_):
    raise SystemExit("bye")


def of_too_many_digits(*_):
    return 2 ** (10**6)


def of_chance(*_):
    return random.randrange(2**30)


def of_time(*_):
    return perf_counter_ns()


LOOPS = [endless_on_a_line, endless_in_a_call, counting]
CALLS = [calling_itself, calling_the_other]
FAILURES = [failing_at_length, failing_without_words, leaving_the_program]
SAID = {f: ["has not ended after", "give its loops an end"] for f in LOOPS}
SAID |= {f: ["RecursionError"] for f in CALLS}
SAID |= {f: ["raised", "(line "] for f in FAILURES}
SAID |= {of_too_many_digits: ["outside"], of_chance: [], of_time: ["outside"]}


@pytest.mark.parametrize("function", SAID, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", some_slow([4, 2**40, symbols("n")], [2**40]), ids=str)
@pytest.mark.parametrize("direction", ["apply", "inv"])
@pytest.mark.quick(8)
def test_a_genp_that_cannot_be_called(function, size, direction, monkeypatch):
    if (size, direction) != (4, "apply"):  # the count itself is tried once
        monkeypatch.setattr(ends, "MOST", 2**14)
    pair = (function, identity) if direction == "apply" else (identity, function)
    with pytest.raises((LayoutError, TraceError)) as caught:
        generate(GroupBy([size]).OrderBy(GenP([size], *pair)), "cpp")
    said = str(caught.value)
    assert function.__name__ in said and direction in said and "GenP([" in said
    assert "\n" not in said and len(said) < 600, said
    if isinstance(size, int):
        assert all(word in said for word in SAID[function]), said


# -- names ---------------------------------------------------------------------------------------

NO_NAMES = [
    "",
    " ",
    "a b",
    "1a",
    "a-b",
    "a\nb",
    'a"b',
    "a'b",
    "*/",
    "--",
    "#=",
    '"""',
    "a\\",
    "??/",
]
NO_NAMES += ["\u202e", "a\u202eb", "\u2066", "\0", "\ud800", "a;b", "../a", "%s", "{x}", "<lambda>"]


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_a_name_that_no_language_takes(name):
    fn = lambda i: i + 1  # noqa: E731
    shows = repr(name)
    if name:  # else none is given
        refused_by_generate(TargetError, "prefix", shows, "letters, digits", fn=fn, prefix=name)
        refused_by_generate(TargetError, "namespace", shows, fn=fn, namespace=name)
        refused_by_generate(TraceError, "name", shows, "write one as", fn=fn, name=name)
    refused_by_generate(TraceError, shows, "not a name", fn=lambda i: {name: i, "b": i})
    if name.split():
        fn = lambda: GroupBy([sympy.Symbol(name, integer=True), 2])  # noqa: E731
        refused_by_generate(TraceError, "name", fn=fn)


# -- layouts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RegP([2, 3], [0, 0]), ["RegP([2, 3], [0, 0])", "0 stands twice"]),
        (lambda: RegP([2, 3], [1, 2]), ["RegP([2, 3], [1, 2])", "0-based", "[0, 1]"]),
        (lambda: RegP([2, 3], [0, 5]), ["5 is outside"]),
        (lambda: RegP([2, 3], [0]), ["2 sizes", "permutation of 1"]),
        (lambda: RegP([2, 3], [0.0, 1.0]), ["list of integers"]),
        (lambda: RegP([2, 3], "01"), ["list of integers"]),
        (lambda: Row(0), ["size 0 is 0", "at least 1"]),
        (lambda: Row(2, -3), ["size 1 is -3"]),
        (lambda: Row(2.0), ["2.0", "//"]),
        (lambda: Row("4"), ["'4'", "integer"]),
        (lambda: Row(True), ["True"]),
        (lambda: Row(10**5000), ["Row(about 10**5000)", "at most 2**256"]),
        (lambda: Row(-(10**5000)), ["about -10**5000", "at least 1"]),
        (lambda: Row([2, [10**5000]]), ["[about 10**5000]", "integer"]),
        (lambda: RegP([2, 10**5000], [0, 1]), ["RegP([2, about 10**5000], [0, 1])", "2**256"]),
        (lambda: RegP([2, 3], [0, 10**5000]), ["about 10**5000 is outside"]),
        (lambda: TileBy([2], [10**5000]), ["TileBy([2], [about 10**5000])"]),
        (lambda: ExpandBy([2], [10**5000], GroupBy([2])), ["about 10**5000"]),
        (lambda: GroupBy([2**254, 4]).OrderBy(Row(2)), ["*4 = about 10**77 elements"]),
        (lambda: GroupBy([]), ["at least one size"]),
        (lambda: GroupBy(), ["at least one tile"]),
        (lambda: GroupBy([2, 3]).OrderBy(Row(7)), ["6 elements", "7", "products equal"]),
        (lambda: TileBy([2], [3, 4]), ["1, 2", "dimensions"]),
        (lambda: TileBy([2, 3], [4, 5]).OrderBy(Row(60)), ["120", "60"]),
        (lambda: OrderBy(), ["at least one"]),
        (lambda: OrderBy(3), ["int"]),
        (lambda: ExpandBy([7], [6], GroupBy([6])), ["7 on axis 0", "6"]),
        (lambda: ExpandBy([5, 7], [6, 8], GroupBy([47])), ["48", "47"]),
        (lambda: ExpandBy([5], [6], Row(6)), ["GroupBy or a TileBy"]),
        (lambda: ExpandBy([5], [6], GroupBy([6]), guard="both"), ["'both'", "physical"]),
        (lambda: isqrt(-1), ["isqrt(-1)"]),
        (lambda: isqrt(2.0), ["2.0", "float"]),
    ],
)
def test_a_layout_that_cannot_exist(make, words):
    refused(LayoutError, *words, call=make)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: GenP([2, 2], lambda i, j: i + j, lambda f: (f // 2, f % 2)),
            ["apply(0, 1) and apply(1, 0) both give 1", "not a bijection", "leave inv out"],
        ),
        (
            lambda: GenP([2, 2], lambda i, j: 2 * i + j, lambda f: (f % 2, f // 2)),
            ["apply(0, 1) gives 1", "inv(1) gives (1, 0)"],
        ),
        (
            lambda: GenP([2, 2], lambda i, j: 2 * i + j + 1, lambda f: ((f - 1) // 2, (f - 1) % 2)),
            ["apply(1, 1) gives 4", "outside 0..3"],
        ),
        (lambda: GenP([2, 2], lambda i, j: (2 * i + j) / 1, lambda f: (0, 0)), ["0.0", "//"]),
        (lambda: GenP([2, 2], lambda i, j: None, lambda f: (0, 0)), ["None"]),
        (lambda: GenP([2, 2], lambda i: i, lambda f: (0, 0)), ["TypeError"]),
        (lambda: GenP([2, 2], lambda i, j: 2 * i + j, lambda f: f), ["tuple of 2"]),
        (lambda: GenP([2, 2], 3), ["apply is 3", "function"]),
    ],
)
def test_a_genp_that_is_no_bijection(make, words):
    refused(LayoutError, *words, call=make)


def test_a_genp_over_symbols_that_is_no_bijection():
    """Its sizes have no values: small ones are tried, and the counterexample says which."""
    n = symbols("n")

    def diagonal(i, j):
        return i + j

    def reference_unravel(flat):
        return flat // n, flat % n

    refused_by_generate(
        LayoutError,
        "GenP([n, n], diagonal, reference_unravel)",
        "not a bijection",
        "n=2",
        fn=GroupBy([n, n]).OrderBy(GenP([n, n], diagonal, reference_unravel)),
    )

    def transposed(i, j):
        return j * n + i

    refused_by_generate(
        LayoutError,
        "n=2",
        "inv(",
        fn=GroupBy([n, n]).OrderBy(GenP([n, n], transposed, reference_unravel)),
    )

    def too_far(i, j):
        return i * n + j + 1

    refused_by_generate(
        LayoutError, "outside", fn=GroupBy([n, n]).OrderBy(GenP([n, n], too_far, reference_unravel))
    )


def doubled(i):
    return i * 2


def halved(flat):
    return flat // 2


def test_a_genp_over_symbols_is_refused_every_time():
    """What was refused once is not taken for checked the second time."""
    n = symbols("n")
    for _ in range(2):
        refused_by_generate(
            LayoutError,
            "GenP([n], doubled, halved)",
            "not a bijection for n=2",
            fn=lambda i: GroupBy([n]).OrderBy(GenP([n], doubled, halved))[i],
        )


@pytest.mark.parametrize(
    ("size", "assume", "words"),
    [
        (lambda n: n, ["n == 5"], ["apply(3,) is 6", "0..4"]),
        (lambda n: 5000 * n, [], ["for n=1", "apply(4999,) is 9998"]),
        (lambda n: n - 100, [], ["for n=129"]),
    ],
)
def test_a_genp_whose_sizes_are_never_small(size, assume, words):
    """A symbol that is one number, a size that is always large, and one that starts at 101."""
    n = size(symbols("n"))
    layout = GroupBy([n]).OrderBy(GenP([n], doubled, halved))
    refused_by_generate(LayoutError, "not a bijection", *words, fn=layout, assume=assume)


def test_a_genp_in_a_branch_is_checked_in_every_branch():
    """One name for two maps: what passed on one path says nothing of the other."""
    n = symbols("n")

    def apply(i):
        return i * 2 if n > 4 else i

    def inv(flat):
        return flat // 2 if n > 4 else flat

    def chosen(i):
        layout = GroupBy([n]).OrderBy(GenP([n], apply, inv))
        return layout[i] if n > 4 else layout[i] + 1

    refused_by_generate(LayoutError, "not a bijection", fn=chosen)
    refused_by_generate(LayoutError, "not a bijection", fn=chosen, assume=["n > 4"])


def test_a_layout_that_was_refused_is_refused_again_in_the_same_function():
    def stubborn(M, i, j):
        layout = GroupBy([M, 4]).OrderBy(Row(M, 5))
        try:
            return layout[i, j]
        except LegoError:
            return layout[i, j]

    refused_by_generate(LayoutError, "4*M is not 5*M", fn=stubborn)


step = 1


def test_a_genp_whose_functions_read_something_else_now(monkeypatch):
    """What was found out of a function holds while the variables that it reads stay."""
    table = [1, 2, 3, 0]

    def rotated(i):
        return (i + step) % 4

    def back(flat):
        return (flat - step) % 4

    def back_by_one(flat):
        return (flat - 1) % 4

    def looked_up(i):
        return table[i]

    def found(flat):
        return table.index(flat)

    def layout(*functions):
        return GroupBy([4]).OrderBy(GenP([4], *functions))

    assert layout(rotated, back)[:].tolist() == [1, 2, 3, 0]
    assert layout(looked_up, found)[:].tolist() == [1, 2, 3, 0]
    layout(rotated, back_by_one)
    monkeypatch.setattr(sys.modules[__name__], "step", 3)
    table[:] = [0, 2, 1, 3]
    assert layout(rotated, back)[:].tolist() == [3, 0, 1, 2]
    assert layout(looked_up, found)[:].tolist() == [0, 2, 1, 3]
    refused(LayoutError, "inv must undo apply", call=lambda: layout(rotated, back_by_one))
    table[:] = [0, 2, 2, 3]
    refused(LayoutError, "not a bijection", call=lambda: layout(looked_up, found))


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda M: GroupBy([M, 4]).OrderBy(Row(M, 5)), ["4*M", "5*M", "multiply out"]),
        (lambda M: GroupBy([M - M]), ["size 0 is 0"]),
        (lambda M: GroupBy([-M * M - 1])[i], ["-M*M - 1", "never positive"]),
        (lambda M: RegP([M, M], [0, 0]), ["0 stands twice"]),
        (lambda M: ExpandBy([M + 1], [M], GroupBy([M]))[i], ["M + 1", "M"]),
    ],
)
def test_a_layout_over_symbols_that_cannot_exist(fn, words):
    refused_by_generate(LayoutError, *words, fn=fn)


def test_sizes_that_do_not_divide():
    def tile(M, BM):
        return TileBy([M // BM], [BM]).OrderBy(Row(M))

    refused_by_generate(LayoutError, "1000", fn=tile, sizes={"M": 1000, "BM": 128})


# -- indices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda: GroupBy([4, 6])[4, j], ["GroupBy([4, 6])", "index 0 is 4", "0..3"]),
        (lambda: GroupBy([4, 6])[j, -1], ["index 1 is -1", "0..5"]),
        (lambda M: GroupBy([M, 6])[M, j], ["index 0 is M", "0..M - 1"]),
        (lambda M: GroupBy([M, 6])[-1 - M, j], ["index 0"]),
        (lambda M: GroupBy([M, 6]).inv(6 * M), ["the position is 6*M", "0..6*M - 1"]),
        (lambda: GroupBy([4, 6]).inv(-1), ["-1", "0..23"]),
        (lambda M: GroupBy([M, 6])[M], ["2 indices wanted, 1 given"]),
        (lambda M: GroupBy([M, 6])[1, 2, 3], ["2 indices wanted, 3 given"]),
        (lambda M: GroupBy([M, 6])[1:2, 2], ["axis 0", "1:2", "':'"]),
        (lambda M: GroupBy([M, 6])["a", 2], ["index 0 is 'a'", "integer"]),
        (lambda M: GroupBy([M, 6])[0.5, 2], ["0.5", "float"]),
        (lambda M: GroupBy([M, 6])[None, 2], ["None"]),
    ],
)
def test_a_wrong_index(fn, words):
    refused_by_generate(IndexRangeError, *words, fn=fn)


def test_an_index_outside_what_was_assumed():
    refused_by_generate(
        IndexRangeError, "index 0 is p + 4", fn=lambda: GroupBy([4, 6])[p + 4, q], assume=["p >= 0"]
    )


def test_the_inverse_of_a_broadcast():
    layout = GroupBy([4, 6]).OrderBy(GenP([4, 6], lambda i, j: j))
    refused(InverseError, "no inverse", "without inv", call=lambda: layout.inv(3))
    refused_by_generate(InverseError, "no inverse", fn=lambda: layout.inv(at))


# -- functions -----------------------------------------------------------------------------------


def recursive(M):
    return recursive(M - 1) + 1


def recursive_with_an_end(M):
    return recursive_with_an_end(M - 1) + 1 if M > 0 else 0


def endless(M):
    k = 0
    while k < M:
        k += 1
    return k


def starred(*indices):
    return 1


def keywords(**sizes):
    return 1


def many_branches(a, b, c, d, e, f, g, h, k):
    return len([x for x in (a, b, c, d, e, f, g, h, k) if x > 3])


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (lambda i, j: i / j, ["(i) / (j)", "write //"]),
        (lambda i: 3 / i, ["write //"]),
        (lambda i: 1.5, ["1.5", "return an index"]),
        (lambda i: i * 1.5, ["1.5", "integer"]),
        (lambda i: i + 0.5, ["0.5", "integer"]),
        (lambda i: float(i), ["i is a symbol", "float", "write //"]),
        (lambda i: math.sqrt(i), ["i is a symbol", "lego_emit.isqrt"]),
        (lambda i: math.isqrt(i), ["i is a symbol", "lego_emit.isqrt"]),
        (lambda i: int(i), ["i is a symbol", "sizes="]),
        (lambda i: f"{i:d}", ["i is a symbol", "'d'"]),
        (lambda i: round(i, -1), ["round(i, -1)", "//"]),
        (lambda M: sum(range(M)), ["M is a symbol", "range", "sizes="]),
        (lambda M: [1, 2, 3][M], ["M is a symbol", "list", "sizes=", "line"]),
        (
            lambda i: np.array([3, 1])[i],
            ["NumPy array", "indexed by a symbol", "if i == 0", "line"],
        ),
        (lambda i: (np.array([3, 1]) + i)[0], ["array of shape (2,)", "one by one", "line"]),
        (lambda i: np.minimum(i, 3), ["a symbol", "ufuncs", "min", "line"]),
        (lambda i: {0: 5}[i], ["i is a symbol", "dict", "if i == 0", "line"]),
        (endless, ["64 undecided", "loop", "sizes="]),
        (recursive, ["recursive", "calls itself"]),
        (recursive_with_an_end, ["64 undecided"]),
        marked((many_branches, ["256 paths", "sizes="]), pytest.mark.slow),
        (starred, ["starred", "*indices", "named"]),
        (keywords, ["keywords", "sizes", "named"]),
        (lambda i: None, ["None", "return an index"]),
        (lambda i: "x", ["'x'", "return an index"]),
        (lambda i: True, ["True"]),
        (lambda i: [], ["nothing"]),
        (lambda i: {}, ["nothing"]),
        (lambda i: (i, None), ["out1"]),
        (lambda i: {"a b": i}, ["'a b'", "not a name"]),
        (lambda i: {3: i}, ["3", "not a name"]),
        (lambda i: {10**5000: i}, ["about 10**5000", "not a name"]),
        (lambda i: isqrt(i - i - 1), ["isqrt(-1)", "negative", "line"]),
        (lambda i: ((i, i), i), ["out0"]),
        (lambda i: i**-1, ["**", "exponent"]),
        (lambda i: 2**i, ["index: 1 << i", "shift distance", "0 <= i < 32"]),
        (lambda i: 3**i, ["(3) ** (i)", "1 << s", "sizes=", "line"]),
        (lambda i, j: i**j, ["(i) ** (j)", "number", "sizes=", "line"]),
        (lambda i, j: pow(i, j, 7), ["(i) ** (j)", "number", "sizes="]),
        (lambda i: pow(2, i, 7), ["a symbol", "**", "line"]),
        (lambda i: i.bit_length(), ["(i).bit_length()", "sum(x >= 1 << b", "line"]),
        (lambda i: i.bit_count(), ["(i).bit_count()", "sum(x >> b & 1", "line"]),
        (lambda i: i.foo, ["a symbol has no attribute 'foo'", "lego_emit.isqrt", "line"]),
        (lambda i: i(3), ["a symbol is not callable", "line"]),
        (lambda i: list(i), ["a symbol is not iterable", "line"]),
        (lambda i: i + "a", ["a symbol and 'str'", "line"]),
        (lambda i: i + 10**5000, ["about 10**5000", "too large", "line"]),
        (lambda i: sys.exit(3), ["ends the program", "SystemExit: 3", "line"]),
        (lambda i: i // 0, ["division by zero"]),
        (lambda i: i % 0, ["division by zero"]),
        (lambda i: i // (i - i), ["division by zero"]),
        (lambda i: 1 // 0, ["ZeroDivisionError", "line"]),
        (lambda i: i << j, ["shift distance", "0 <= j < 32"]),
        (lambda i: i >> j, ["shift distance", "0 <= j < 32"]),
        (lambda i: i << -1, ["(i) << -1", "not negative", "line"]),
        (lambda i: i >> -1, ["(i) >> -1", "not negative", "line"]),
        (lambda i: i << 10**10, ["(i) << 10000000000", "so many bits", "line"]),
        (lambda i: i >> 10**10, ["(i) >> 10000000000", "so many bits", "line"]),
        (lambda i: sympy.sin(sympy.Symbol("i")), ["sin"]),
        (lambda i: [x for x in GroupBy([4])], ["line"]),
    ],
)
@pytest.mark.quick(8)
def test_a_function_that_cannot_be_followed(fn, words):
    refused_by_generate(TraceError, *words, fn=fn)


@pytest.mark.parametrize(
    "text",
    [
        "def f(M, N, i):\n    return Col(M, N)[i, 0]\n",
        "def g(M):\n    return Col(M, 2)\ndef f(M, i):\n    return g(M)[i, 0]\n",
        "def f(i):\n    return hardware.mma('c')[i]\n",
    ],
)
def test_a_name_that_was_not_imported_is_said(text):
    names = {}
    exec(text, names)
    name = "hardware" if "hardware" in text else "Col"
    way = f"{name} is not defined; write from lego_emit import {name}"
    refused_by_generate(TraceError, "line", way, fn=names["f"])


def test_the_line_of_the_failure_is_named():
    def fails(i):
        k = i + 1
        return k.nothing

    first = fails.__code__.co_firstlineno
    refused_by_generate(TraceError, "fails failed", f"line {first + 2}", fn=fails)


def half(i):
    k = i + 1
    return k / 2


def ending(i):
    k = i + 1
    sys.exit(k)


def same(i):
    return i


@pytest.mark.parametrize("subject", ["layout", "function"])
@pytest.mark.parametrize(
    ("apply", "inv", "method", "words"),
    [
        (half, same, "apply", ["apply of GenP([n], half, same)", "(?flat + 1) / (2)", "write //"]),
        (same, half, "inv", ["inv of GenP([n], same, half)", "write //"]),
        (ending, same, "apply", ["apply of GenP([n], ending, same)", "ends the program"]),
        (same, ending, "inv", ["inv of GenP([n], same, ending)", "ends the program"]),
    ],
)
def test_the_line_of_the_failure_in_a_genp_is_named(apply, inv, method, words, subject):
    n = symbols("n")
    layout = GroupBy([n]).OrderBy(GenP([n], apply, inv))
    culprit = apply if method == "apply" else inv
    line = f"(line {culprit.__code__.co_firstlineno + 2} of test_bad_input.py)"
    words = [word for word in words if "?" not in word]
    fn = layout if subject == "layout" else lambda i: getattr(layout, method)(i)
    refused_by_generate(TraceError, line, *words, fn=fn)


def test_a_genp_of_numbers_that_fails():
    line = f"(line {ending.__code__.co_firstlineno + 2} of test_bad_input.py)"
    words = ["GenP([4], ending, same)", f"apply(0) raised SystemExit {line}: 1"]
    refused(LayoutError, *words, call=lambda: GenP([4], ending, same))


def test_an_interrupt_is_no_error_of_ours():
    def interrupted(i):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(interrupted, "cpp")


@pytest.mark.parametrize(
    "fn",
    [
        lambda i: 2**i,
        lambda i: 4**i,
        lambda i: pow(i, 3, 7),
        lambda i: i ** np.int64(2),
        lambda i: math.floor(i) + math.ceil(i) + math.trunc(i) + round(i) + round(i, 2),
        lambda i: 1 if i in {0, 2, 7} else 0,
        lambda i: sum(1 if i + k in {0, 2, 7} else 0 for k in range(3)),
        lambda i: 1 if (i < 3) == (i < 9) else 0,
        lambda i: 1 if (i < 3) != (i < 9) else 0,
        lambda i: 1 if (i < 3) == True else 0,  # noqa: E712
        lambda i: 1 if (i < 3) == 1 else 0,
        lambda i: 1 if (i < 3) < (i < 9) else 0,
        lambda i: ((i < 3) ^ (i < 9)) + ((i < 3) << 2) + (i < 3) // 1 + 7 % (1 + (i < 3)),
        lambda i: int(i < 3) + [5, 7][i < 9] + abs(i < 3) + (i < 3) ** 2 - -(i < 3),
        lambda i: ((i < 3) - i * (i < 9)) * (5 - (i < 6)),
        lambda i: round(i, 0) + sum(k * i for k in range(isqrt(i - i + 17))),
        lambda i: i >> 64,
    ],
)
@pytest.mark.quick(8)
def test_what_works_as_it_does_on_integers(fn):
    unit = generate(fn, "cpp", assume=["0 <= i", "i < 16"])
    for i in range(16):
        assert unit.functions[0].evaluate({"i": i}) == {"result": int(fn(i))}, i


def test_branches_that_give_different_things():
    refused_by_generate(TraceError, "cannot be joined", fn=lambda i: (i, i) if i < 3 else i)
    refused_by_generate(TraceError, fn=lambda i: GroupBy([4]) if i < 3 else GroupBy([5]))


def test_what_is_no_function():
    for thing in (42, "x", None, int, max):
        refused_by_generate(TraceError, fn=thing)
    refused_by_generate(TraceError, "42", "a function or a layout", fn=42)


def test_a_symbol_has_no_truth_outside_a_function():
    i = symbols("i")
    refused(TraceError, "undecided", "generate()", call=lambda: bool(i < 3))


@pytest.mark.parametrize("names", ["", "a b-c", "3"])
def test_no_names_for_symbols(names):
    refused(TraceError, call=lambda: symbols(names))


# -- what the caller gives -----------------------------------------------------------------------


def tile(M, BM):
    return GroupBy([M, BM])[i, j]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"BM": 1.5}, ["BM", "integer", "1.5"]),
        ({"BM": "4"}, ["BM", "'4'"]),
        ({"BM": None}, ["BM", "None"]),
        ({"BM": True}, ["BM", "True"]),
        (["BM"], ["dict", "['BM']"]),
        ("BM=2", ["dict", "'BM=2'"]),
        (3, ["dict", "3"]),
        ({"BN": 4}, ["BN", "not a parameter", "M, BM"]),
        ({"BMM": 4}, ["BMM", "Did you mean 'BM'?"]),
        ({1: 2}, ["1", "not a parameter"]),
        ({"BM": 10**5000}, ["BM", "about 10**5000", "no index type"]),
        ({"BM": [10**5000]}, ["BM[0]", "about 10**5000", "no index type"]),
        ({"BM": {10}}, ["BM", "{10}", "integer"]),
    ],
)
def test_wrong_sizes(sizes, words):
    refused_by_generate(TraceError, *words, fn=tile, sizes=sizes)


@pytest.mark.parametrize("size", [0, -4])
def test_a_size_that_is_not_positive(size):
    refused_by_generate(LayoutError, f"size 1 is {size}", fn=tile, sizes={"BM": size})


@pytest.mark.parametrize(
    ("assumption", "words"),
    [
        ("M <", ["'M <'", "invalid syntax"]),
        ("M % 16 = 0", ["'M % 16 = 0'", "write == for an equality"]),
        ("", ["''"]),
        ("M", ["'M'", "not a relation", "'M % BM == 0'"]),
        ("M + 1", ["not a relation"]),
        ("M is 3", ["cannot read"]),
        ("import os", ["cannot read"]),
        ("__import__('os').getcwd() == 3", ["cannot read"]),
        ("M / 2 == 3", ["cannot read 'M / 2'", "//"]),
        ("f(M) > 1", ["'f(M)'"]),
        ("M == 1.5", ["'1.5'"]),
        ("M % 0 == 0", ["division by zero"]),
        ("M << -1 < 4", ["'M << -1 < 4'", "(M) << -1", "not negative"]),
        ("M >> -1 < 4", ["'M >> -1 < 4'", "(M) >> -1", "not negative"]),
        ("M < 1 << 99999999999", ["(1) << 99999999999", "so many bits"]),
        ("M < 1 << 600 << 600 << 600 << 9000", ["so many bits"]),
        ("M < 10**5000", ["'M < 10**5000'", "no index type holds"]),
        ("M < 1" + "0" * 5000, ["'M < 1000", "digits"]),
        ("M < " + "-" * 5000 + "3", ["cannot read"]),
        ("M < " + "(" * 300 + "3" + ")" * 300, ["cannot read", "parentheses"]),
        ("M < 3\0", ["cannot read", "null"]),
        ("M < \ud800", ["cannot read"]),
        ("M < 3 or M > 5", ["not a relation"]),
        ("M != 3", ["only <"]),
        ("N < 3", ["names N", "not a parameter", "M, BM"]),
        ("BMM < 3", ["BMM", "Did you mean 'BM'?"]),
        (3, ["3", "not an assumption"]),
        (None, ["None", "not an assumption"]),
        (True, ["True"]),
        (["M < 3"], ["not an assumption"]),
        (lambda: 1, ["not an assumption"]),
        (sympy.sin(sympy.Symbol("M")) < 1, ["sin"]),
        (sympy.Symbol("M"), ["M"]),
        (sympy.Symbol("M") < 10**5000, ["about 10**5000"]),
    ],
)
@pytest.mark.quick(8)
def test_an_assumption_that_cannot_be_read(assumption, words):
    refused_by_generate(AssumptionError, *words, fn=tile, assume=[assumption])


@pytest.mark.parametrize("assume", [3, None, 1.5])
def test_assumptions_that_are_no_list(assume):
    refused_by_generate(AssumptionError, "not an assumption", fn=tile, assume=assume)


@pytest.mark.parametrize(
    ("assume", "words"),
    [
        (["M > 4", "M < 3"], ["'M < 3'", "contradicts"]),
        (["M < BM", "BM < M"], ["'BM < M'", "contradicts"]),
        (["M == 3", "M == 4"], ["'M == 4'", "contradicts"]),
        (["M % 4 == 0", "1 <= M <= 3"], ["contradict"]),
        (["1 < 0"], ["contradict"]),
        (["M % 4 == 0", "M == 6"], ["contradict"]),
    ],
)
def test_assumptions_that_contradict_each_other(assume, words):
    refused_by_generate(AssumptionError, *words, fn=tile, assume=assume)


def test_an_assumption_that_contradicts_a_size():
    refused_by_generate(AssumptionError, "contradict", fn=tile, sizes={"M": 3}, assume=["M > 4"])
    refused_by_generate(
        AssumptionError, "contradict", fn=tile, sizes={"M": 6}, assume=["M % 4 == 0"]
    )
    refused_by_generate(LayoutError, "never positive", fn=tile, assume=["M < 0"])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("cudaa", ["'cudaa'", "installed: ", "Did you mean 'cuda'?"]),
        ("rustt", ["Did you mean 'rust'?"]),
        ("cp", ["'cp'", "Did you mean 'cpp'?"]),
        ("c+++", ["Did you mean 'c++'?"]),
        ("all", ["Call generate() for each", "lego-emit generate -t all"]),
        ("zig", ["'zig'", ", ".join(TARGETS)]),
        ("", ["''"]),
        (None, ["None", "'cuda'"]),
        (3, ["3"]),
        (["cpp"], ["['cpp']", "'cuda'"]),
    ],
)
def test_an_unknown_target(target, words):
    refused_by_generate(TargetError, *words, fn=tile, target=target)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("int16", ["'int16'", "int32, int64, uint32, uint64", "Did you mean 'int64'?"]),
        ("INT", ["'INT'"]),
        ([None, "int32"], ["[None, 'int32']"]),
        (32, ["32"]),
        ([], ["[]"]),
        (["int32", "int16"], ["'int16'"]),
        ({"int32": 1}, ["{'int32': 1}"]),
        (np.array([1, 2]), ["array([1, 2])"]),
        ([10**5000], ["[about 10**5000]"]),
    ],
)
def test_an_unknown_index_type(kind, words):
    refused_by_generate(TargetError, *words, fn=tile, index_type=kind)


def test_an_index_type_that_the_language_lacks():
    refused_by_generate(
        TargetError, "Fortran", "uint64", fn=tile, target="fortran", index_type="uint64"
    )


class Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "thing",
    [3.5, ["x"], {"a": 1}, 10**5000, np.array([1, 2]), Unprintable(), symbols("z") < 3],
    ids=lambda thing: type(thing).__name__,
)
def test_things_that_are_none_of_what_is_wanted(thing):
    """Whatever it is, the message is ours and shows it, if it can be shown."""
    as_shown = short_repr(thing)
    refused_by_generate(TargetError, as_shown, fn=tile, target=thing)
    words = short_repr("x") if isinstance(thing, list) else as_shown  # a list is of several types
    refused_by_generate(TargetError, words, fn=tile, index_type=thing)
    refused_by_generate(TargetError, as_shown, fn=tile, base=thing)
    refused_by_generate(TargetError, as_shown, fn=tile, cost=thing)
    refused_by_generate(TraceError, as_shown, fn=tile, name=thing)
    refused_by_generate(TraceError, as_shown, fn=thing)
    refused(TraceError, as_shown, call=lambda: symbols(thing))
    refused(LayoutError, as_shown, call=lambda: OrderBy(thing))
    refused(LayoutError, as_shown, call=lambda: GenP([4], thing))
    refused(LayoutError, as_shown, call=lambda: ExpandBy([4], [4], GroupBy([4]), guard=thing))
    refused(LayoutError, as_shown, call=lambda: GroupBy([symbols("M")]).check(M=thing))


def test_more_indices_than_can_be_tried():
    refused(LayoutError, str(2**70), "too many to try", call=GroupBy([2**70]).check)


def test_a_name_that_is_no_text():
    refused_by_generate(TraceError, "name", "3", fn=tile, name=3)


def test_a_value_that_does_not_fit():
    refused_by_generate(
        WidthError,
        "uint32",
        "0..4294967295",
        "wider index_type or smaller sizes",
        fn=tile,
        sizes={"M": 2**20, "BM": 2**20},
        index_type="uint32",
    )
    refused_by_generate(WidthError, "int64", fn=tile, sizes={"M": 2**40, "BM": 2**40})
    refused_by_generate(
        WidthError, "int32", fn=tile, target="glsl", sizes={"M": 2**20, "BM": 2**20}
    )
    refused_by_generate(WidthError, "int53", fn=tile, target="js", sizes={"M": 2**30, "BM": 2**30})


# -- the kinds -----------------------------------------------------------------------------------


def test_errors_are_the_builtin_kinds_too():
    """except ValueError catches a LayoutError, as Python's users expect."""
    assert issubclass(LayoutError, ValueError) and issubclass(TargetError, ValueError)
    assert issubclass(AssumptionError, ValueError)
    assert issubclass(IndexRangeError, IndexError)
    assert issubclass(WidthError, OverflowError)
    assert issubclass(InternalError, LegoError)


def test_nothing_is_written_when_generation_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for fn in (lambda i: None, lambda: GroupBy([4])[5]):
        with pytest.raises(LegoError):
            generate(fn, "cuda").save("index.cuh")
    assert list(tmp_path.iterdir()) == []


def test_a_good_call_after_a_bad_one():
    for fn in (endless, recursive, lambda i: None):
        with pytest.raises(LegoError):
            generate(fn, "cpp")
    assert (
        generate(Col(2, 3) and GroupBy([2, 3]).OrderBy(Col(2, 3)), "cpp").functions[0].op_count == 2
    )


# -- numbers that Python does not write out ------------------------------------------------------


def long_function(flat):
    return flat, 10**5000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "words", "call"),
    [
        (
            IndexRangeError,
            ["index 0 is about 10**5000", "0..3"],
            lambda: GroupBy([4]).apply(10**5000),
        ),
        (IndexRangeError, ["about -10**5000"], lambda: GroupBy([4])[-(10**5000)]),
        (IndexRangeError, ["the slice about 10**5000:"], lambda: GroupBy([4])[10**5000 :]),
        (IndexRangeError, ["about 10**5000"], lambda: GroupBy([4]).inv(10**5000)),
        (
            IndexRangeError,
            ["is -1", "0..about 10**1541"],
            lambda: GroupBy(*[[2**256 - 1]] * 20).inv(-1),
        ),
        (LayoutError, ["isqrt(about -10**5000)"], lambda: isqrt(-(10**5000))),
        (
            LayoutError,
            ["apply(0) gives about 10**5000", "0..3"],
            lambda: GenP([4], lambda i: 10**5000, int),
        ),
        (
            LayoutError,
            ["inv(0) gives (0, about 10**5000)", "outside its sizes"],
            lambda: GenP([4, 1], lambda i, j: i, long_function),
        ),
        (
            WidthError,
            ["lies in 0..about 10**90", "does not fit int64"],
            lambda: generate(lambda i: GroupBy([10**45])[i] * i, "cpp"),
        ),
        (
            WidthError,
            ["layout_apply: 9223372036854775808 does not fit int64", "index_type='uint64'"],
            lambda: generate(Linear({"x": [1 << 63 - k for k in range(64)]}, {"y": 2**64}), "cpp"),
        ),
        (
            TraceError,
            ["it does not hold for all values; say what is asserted with assume=, as in"],
            lambda: generate(asserting, "cpp"),
        ),
        (
            TraceError,
            ["about 10**2408 is too large", "no index type"],
            lambda: generate(lambda i: i * 2**4000 * 2**4000, "cpp"),
        ),
    ],
)
def test_a_number_of_thousands_of_digits(kind, words, call):
    with pytest.raises(kind) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
