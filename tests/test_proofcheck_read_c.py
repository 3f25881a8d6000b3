"""The checker's readers: their terms are what the texts compute."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from index_functions import golden_cases
from marks import golden_lowered, rest_deep, rest_slow
from net import judge
from net.points import Relations
from net.settings import TYPES
from net.shrink import case_of

from lego_emit import LegoError, generate, golden
from lego_emit.check.tables import arguments_of, wanted_of
from lego_emit.proofcheck import exhaustive
from lego_emit.proofcheck.languages import read, tree
from lego_emit.proofcheck.text import DIVISOR, FITS, SHIFT, TABLE, UnsupportedSyntax

ROOT = Path(__file__).parent.parent / "golden"
LANGUAGES = ("cpp", "cuda", "c", "glsl", "javascript", "rust", "fortran", "julia")
SLICE = (
    "brick_N6_B2", "catalogue_hilbert_16", "expandby_5x7", "linear_swizzled", "lookup_permutation",
    "lud_thread", "nw_16", "transpose_shared",
)  # fmt: skip


@pytest.fixture
def any_form(monkeypatch):
    """Texts by hand, in forms that are never emitted: it is their meaning that is asked for here."""
    monkeypatch.setattr(tree, "_foreign", lambda *_: None)


def wrong(function, emitted, columns, wanted, demands=True):
    """What is not as it should be at points; "" where all is."""
    n = len(wanted[0])
    assert [name for name, _ in function.params] == [p.name for p in emitted.params]
    if function.names:
        assert list(function.names) == [name for name, _ in emitted.outputs]
    values = exhaustive.Values(columns, n)
    for result, want in zip(function.results, wanted, strict=True):
        got, defined = values.at(result.term)
        differ = np.broadcast_to(~defined | (got != want), (n,))
        if differ.any():
            at = int(np.argmax(differ))
            point = {name: int(c[at]) for name, c in columns.items()}
            return f"{function.name}: {np.broadcast_to(got, (n,))[at]}, not {want[at]} at {point}"
    goals = [d.holds for d in function.demands] if demands else []
    _, failure = exhaustive.failure_at(goals, columns, n)
    if failure is None:
        return ""
    demand = function.demands[failure.goal]
    return f"{function.name}, line {demand.line}: {demand.text} ({demand.kind}) at {failure}"


# -- the golden texts ------------------------------------------------------------------------------


def compared(case, language, numbers=False):
    """How many rows of a case's table were compared."""
    unit, rows = case.emit(language, numbers), 0
    text = read(unit.source, language)
    for position, known in enumerate(unit.functions):
        emitted = unit.program.functions[position]  # with the names of the text
        function = text.read(emitted.name)
        inverse = case.layout is not None and position == 1
        names, points, wanted = wanted_of(case, known, inverse)
        n = len(wanted[0])
        given = arguments_of(case, known, names, points)
        columns = {
            p.name: np.broadcast_to(np.asarray(a, np.int64), (n,))
            for p, a in zip(emitted.params, given, strict=True)
        }
        found = wrong(function, emitted, columns, wanted)
        assert not found, f"{case.name}: {found}"
        rows += n
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_slow(LANGUAGES))
def test_terms_of_golden_texts(language):
    assert sum(compared(golden.load(ROOT / name), language) for name in SLICE) > 3000


@pytest.mark.deep
@golden_lowered
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 2))
def test_terms_of_all_golden_texts(language, numbers):
    cases = [c for c in golden_cases() if c.sizes or not numbers]
    assert sum(compared(case, language, numbers) for case in cases) > 20000


# -- random texts ----------------------------------------------------------------------------------

SEED = 3
MORE_TYPES = {"cpp": ("size_t",), "cuda": ("size_t",), "c": ("size_t",)}


@cache
def expected(number):
    """A random case, with what its functions give: (function, arguments, results)."""
    case = case_of(SEED, number)
    if case is None:
        return None, []
    return case, judge.judge(case, count=20, deep=False, keep=True).expected


def random_text(number, language, index_type):
    """How many points of a random text were compared; None where there is no such text."""
    case, given = expected(number)
    if not given or case.family == "loop":  # of which a certificate knows nothing
        return None
    try:
        unit = case.generate(case.subject(), language, index_type)
    except LegoError:
        return None
    text, points = read(unit.source, language), 0
    for place, emitted in enumerate(unit.functions):
        own = unit.program.functions[place]  # with the names of the text
        function = text.read(own.name)
        least, most = emitted.index_type.ends
        names = [p.name for p in emitted.params]
        said = [*(p.range_text for p in emitted.params), *emitted.assumptions]
        header = Relations(said, names, least, most, case.sizes)
        rows = [
            (arguments, results)
            for arguments, results in judge.expected_of(given, place, emitted)
            if all(least <= v <= most for v in (*arguments, *results))
            and header.hold(dict(zip(names, arguments, strict=True)))
        ]
        if not rows:
            continue
        columns = {
            p.name: np.array([arguments[k] for arguments, _ in rows], object)
            for k, p in enumerate(own.params)
        }
        wanted = [np.array(column, object) for column in zip(*(r for _, r in rows), strict=True)]
        found = wrong(function, own, columns, wanted, not header.opaque)
        assert not found, f"{number}, {language}, {index_type}: {found}\n{unit.source}"
        points += len(rows)
    return points


def random_texts(language, numbers):
    """How many texts, and how many points of them."""
    types = ("auto", *TYPES[language], *MORE_TYPES.get(language, ()))
    found = [random_text(n, language, types[k % len(types)]) for k, n in enumerate(numbers)]
    found = [points for points in found if points is not None]
    return len(found), sum(found)


@pytest.mark.deep
@pytest.mark.parametrize("language", LANGUAGES)
def test_terms_of_random_texts(language):
    texts, points = random_texts(language, range(100))
    assert texts > 30 and points > 1000


# -- what a machine does ---------------------------------------------------------------------------


def function(language, text, name="f"):
    """The function of a name in a text; in JavaScript its parameters are Numbers."""
    return read(text, language).read(name)


def value(language, text, **point):
    """What f gives at a point, or the kind of the first demand that does not hold there."""
    found = function(language, text)
    for demand in found.demands:
        if not demand.holds.at(point):
            return demand.kind
    results = tuple(int(r.term.at(point)) for r in found.results)
    return results if len(results) > 1 else results[0]


def c(body, returns="int", parameters="int i, int n", before=""):
    return f"{before}\n{returns} f({parameters}) {{\n{body}\n}}\n"


VALUES = [
    ("a quotient", c("return i / n;"), {"i": 7, "n": 2}, 3),
    ("of a negative number", c("return i / n;"), {"i": -7, "n": 2}, DIVISOR),
    ("by zero", c("return i % n;"), {"i": 7, "n": 0}, DIVISOR),
    ("a sum that is too large", c("return i + n;"), {"i": 2**31 - 1, "n": 1}, FITS),
    ("on the way", c("return i + n - n;"), {"i": 2**31 - 1, "n": 1}, FITS),
    ("a product of narrow operands", c("return 2LL * (i * n);", "long long"), {"i": 2**16, "n": 2**15}, FITS),
    ("of one wide operand", c("return 2LL * i * n;", "long long"), {"i": 2**16, "n": 2**15}, 2**32),
    ("a narrowed parameter", c("return i;", "int", "long long i"), {"i": 2**31}, FITS),
    ("a narrowed variable", c("const int t = i; return t;", "long long", "long long i"), {"i": 2**31}, FITS),
    ("a cast", c("return static_cast<int>(i);", "long long", "long long i"), {"i": 2**31}, FITS),
    ("braces", c("return std::int32_t{i};", "int", "long long i"), {"i": 5}, 5),
    ("a negative number as unsigned", c("return (i - n) / 2u;", "unsigned"), {"i": 1, "n": 2}, FITS),
    ("compared with an unsigned", c("return i < n;", "int", "int i, unsigned n"), {"i": -1, "n": 0}, FITS),
    ("below zero in unsigned", c("return i - n;", "unsigned", "unsigned i, unsigned n"), {"i": 1, "n": 2}, FITS),
    ("a shift by the width", c("return i << n;"), {"i": 1, "n": 32}, SHIFT),
    ("a shift by less than nothing", c("return i >> n;"), {"i": 1, "n": -1}, SHIFT),
    ("a shift of a literal", c("return 1 << n;", "long long"), {"i": 1, "n": 31}, FITS),
    ("of a wide one", c("return 1LL << n;", "long long"), {"i": 1, "n": 31}, 2**31),
    ("of a negative number to the left", c("return i << n;"), {"i": -1, "n": 1}, FITS),
    ("of it as an unsigned one", c("return static_cast<int>(static_cast<unsigned>(i) << n);"), {"i": -9, "n": 2}, -36),
    ("in C", c("return (int)((unsigned)i << n);"), {"i": -1, "n": 31}, -(2**31)),
    ("whose product does not fit", c("return (int)((unsigned)i << n);"), {"i": -3, "n": 30}, FITS),
    ("by the width", c("return (int)((unsigned)i << n);"), {"i": -3, "n": 32}, SHIFT),
    ("of another width", c("return (int)((unsigned long long)i << n);"), {"i": -3, "n": 1}, FITS),
    ("that stays unsigned", c("return (unsigned)i << n;", "unsigned"), {"i": -3, "n": 1}, FITS),
    ("shifts bind less than sums", c("return i + 1 >> 1;"), {"i": 4, "n": 0}, 2),
    ("masks bind less than comparisons", c("return (i & 3 == n);"), {"i": 1, "n": 3}, 1),
    ("a complement", c("return ~i & 7;", "unsigned", "unsigned i"), {"i": 2}, 5),
    ("a truth value", c("return (i < n) + (i > n);"), {"i": 4, "n": 3}, 1),
    ("a guard", c("return n == 0 ? 0 : i / n;"), {"i": 4, "n": 0}, 0),
    ("a guard turned around", c("return n == 0 ? i / n : 0;"), {"i": 4, "n": 0}, DIVISOR),
    ("what comes first", c("return n != 0 && i / n > 1;"), {"i": 4, "n": 0}, 0),
    ("what comes too late", c("return i / n > 1 && n != 0;"), {"i": 4, "n": 0}, DIVISOR),
    ("an early return", c("if (n == 0) { return -1; }\nreturn i % n;"), {"i": 4, "n": 0}, -1),
    ("without it", c("if (n == 1) { return -1; }\nreturn i % n;"), {"i": 4, "n": 0}, DIVISOR),
    ("a return in a loop", c("for (int k = 0; k < 4; k += 1) { return k; }\nreturn 9;"), {"i": 0, "n": 0}, 0),
    ("a loop", c("int s = i;\nfor (int k = 0; k < 4; k += 1) { const int t = k; s += t; }\nreturn s;"),
     {"i": 1, "n": 0}, 7),
    ("a table", c("return t[i];", before="static constexpr int t[3] = {5, 6, 7};"), {"i": 2, "n": 0}, 7),
    ("beside it", c("return t[i];", before="static constexpr int t[3] = {5, 6, 7};"), {"i": 3, "n": 0}, TABLE),
    ("a helper", c("return g(i, n);", before="int g(int a, int b) { return a % b < 0 ? a % b + b : a % b; }"),
     {"i": -7, "n": 4}, 1),
    ("of another type", c("return g(i, n);", "long long", "long long i, int n",
                          "int g(int a, int b) { return a - b; }"), {"i": 2**31, "n": 1}, FITS),
    ("hexadecimal numbers are unsigned", c("return i & 0xFFFFFFFF;"), {"i": -1, "n": 0}, FITS),
]  # fmt: skip
UNREAD = [
    ("another function", c("return rand();")),
    ("a name from elsewhere", c("return i + blockDim;")),
    ("a number that is no integer", c("return i * 1.5;")),
    ("a narrow type", c("return i;", "short")),
    ("a narrow variable", c("short t = i; return t;")),
    ("a pointer", c("return i;", "int *")),
    ("a file of its own", c("return i;", before='#include "names.h"')),
    ("a file of a library", c("return i;", before="#include <names.hpp>")),
    ("a macro of nothing", c("return (i - 1);", before="#define i")),
    ("a keyword that goes", c("return i;", before="#define return")),
    ("a guard's name in the code", c("return (A_B - 1);", before="#define A_B")),
    ("a macro", c("return i;", before="#define i 5")),
    ("a macro with parameters", c("return max(i, n);", before="#define max(a, b) a")),
    ("a type of another meaning", c("return i;", before="using int32_t = short;")),
    ("an old type of another meaning", c("return i;", before="typedef short int32_t;")),
    ("two functions", c("return i;") + c("return n;")),
    ("two helpers", c("return g(i);", before="int g(int a) { return a; }\nint g(long long a) { return 0; }")),
    ("a template beside a helper", c("return g(i);",
                                     before="int g(long long a) { return 0; }\n"
                                     "template <class T> T g(T a) { return a; }")),
    ("two tables", c("return t[i];", before="const int t[1] = {1};\nnamespace x { const int t[1] = {2}; }")),
    ("a hidden variable", c("int q = 1;\nif (i < n) { int q = 2; q += 1; }\nreturn q;")),
    ("a variable that stays", c("static int q = i; return q;")),
    ("an assignment inside", c("int q = 0; return (q = i) + q;")),
    ("a count on the way", c("return i++;")),
    ("a comma", c("return (i, n);")),
    ("an open loop", c("int s = 0;\nfor (int k = 0; k < n; k += 1) { s += k; }\nreturn s;")),
    ("an endless loop", c("int s = 0;\nfor (int k = 0; k < 1; k += 0) { s += 0; }\nreturn s;")),
    ("no way out", c("for (;;) { }\nreturn i;")),
    ("a way without a result", c("if (i < n) { return 1; }")),
    ("what the compiler decides", c("#ifdef FAST\nreturn 1;\n#else\nreturn 0;\n#endif")),
    ("a recursion", c("return f(i - 1, n);")),
    ("no text of C++", "int f(int i) { return (i; }"),
]  # fmt: skip


@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize(
    ("text", "point", "want"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES]
)
@pytest.mark.parametrize("language", ["cpp", "cuda"])
def test_what_c_computes(language, text, point, want):
    assert value(language, text, **point) == want


@pytest.mark.parametrize("text", [u[1] for u in UNREAD], ids=[u[0] for u in UNREAD])
def test_what_is_not_understood_is_not_read(text):
    with pytest.raises(UnsupportedSyntax):
        assert function("cpp", text) is None


RESULT = "struct R { int i; int j; };"


@pytest.mark.usefixtures("any_form")
def test_results_have_the_names_of_their_fields():
    assert function("cpp", c("return {i, n};", "R", before=RESULT)).names == ("i", "j")
    assert function("glsl", "void f(int a, out int j, out int i) { i = a; j = 2 * a; }").names == (
        "j",
        "i",
    )
    other = RESULT.replace("int j", "float j")
    for text in (c("return {i};", "R", before=RESULT), c("return {i, n};", "R", before=other)):
        with pytest.raises(UnsupportedSyntax):
            function("cpp", text)


GLSL = [
    ("a quotient of a negative number in a helper", "int g(int a) { return a / 2; }\nint f(int i) { return g(i); }",
     {"i": -3}, DIVISOR),
    ("an output", "void f(int i, out int o) { o = i % 4; }", {"i": 7}, 3),
    ("a wide output", "void f(int64_t i, out int64_t o) { o = i + 1L; }", {"i": 2**40}, 2**40 + 1),
    ("a table", "const int[3] t = int[3](5, 6, 7);\nint f(int i) { return t[i]; }", {"i": 1}, 6),
    ("a name of C++", "int f(int i) { int new = i + 1; return new; }", {"i": 1}, 2),
    ("unsigned numbers", "uint f(uint i) { return i * 2u; }", {"i": 2**31}, FITS),
]  # fmt: skip


@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize(("text", "point", "want"), [v[1:] for v in GLSL], ids=[v[0] for v in GLSL])
def test_what_glsl_computes(text, point, want):
    assert value("glsl", text, **point) == want


def js(body, parameters="i, n", kind="number", before=""):
    tags = "\n".join(f" * @param {{{kind}}} {p} {p}" for p in parameters.split(", "))
    return f"{before}\n/**\n{tags}\n */\nexport function f({parameters}) {{\n{body}\n}}\n"


NUMBERS = [
    ("a quotient", js("return Math.trunc(i / n);"), {"i": 7, "n": 2}, 3),
    ("rounded down", js("return Math.floor(i / n);"), {"i": -7, "n": 2}, -4),
    ("by a negative number", js("return Math.floor(i / n);"), {"i": 7, "n": -2}, -4),
    ("by zero", js("return Math.floor(i / n);"), {"i": 7, "n": 0}, DIVISOR),
    ("of a negative number", js("return Math.trunc(i / n);"), {"i": -7, "n": 2}, DIVISOR),
    ("a sum of 53 bits", js("return i + n;"), {"i": 2**53 - 1, "n": 1}, FITS),
    ("a shift", js("return i << n;"), {"i": 1, "n": 31}, FITS),
    ("of a wide number", js("return i >> n;"), {"i": 2**31, "n": 1}, FITS),
    ("made unsigned", js("return (i << n) >>> 0;"), {"i": 1, "n": 31}, 2**31),
    ("a mask of wide numbers", js("return i & n;"), {"i": 2**40, "n": 2**40}, FITS),
    ("a narrow mask of one", js("return i & 255;"), {"i": 2**40 + 3, "n": 0}, 3),
    ("an or of a wide number", js("return i | n;"), {"i": 2**40, "n": 1}, FITS),
    ("a root", js("return Math.floor(Math.sqrt(i));"), {"i": 2**52, "n": 0}, 2**26),
    ("of too large a number", js("return Math.floor(Math.sqrt(i));"), {"i": 2**52 + 1, "n": 0}, FITS),
    ("a wide BigInt", js("return i * n;", kind="bigint"), {"i": 2**40, "n": 2**40}, 2**80),
    ("a table", js("return t[i];", before="const t = Int32Array.of(5, 6);"), {"i": 2, "n": 0}, TABLE),
    ("the end of a block", js("let s = 0; while (s < 3) { const t = 1; s += t; } return s + i;"),
     {"i": 1, "n": 0}, 4),
]  # fmt: skip
NO_NUMBERS = [
    ("a quotient that is not rounded", js("return i / n;")),
    ("in a sum", js("return i / n + 1;")),
    ("chosen", js("return Math.trunc(i < n ? i / n : n / i);")),
    ("in a table", js("return t[i / n];", before="const t = Int32Array.of(5, 6);")),
    ("a root that is not rounded", js("return Math.sqrt(i);")),
    ("rounded to nearest", js("return Math.round(i / n);")),
    ("a truth value as a number", js("return i + (i < n);")),
    ("BigInts and Numbers", js("return i + 1;", kind="bigint")),
    ("a number beyond 2^53", js("return i - 9007199254740993;")),
    ("old octal numbers", js("return i + 010;")),
    ("an entry that is too large", js("return t[i];", before="const t = Int8Array.of(500);")),
    ("a table that is changed", js("t[0] = 5; return t[i];", before="const t = Int32Array.of(5, 6);")),
    ("two functions", js("return i;") + "function f(i, n) { return n; }"),
    ("a hidden variable", js("let q = 1; if (i < n) { let q = 2; q += 1; } return q;")),
    ("a parameter of no type", "export function f(i) { return i; }"),
    ("nothing", js("return;")),
    ("an assignment after void", js("void (i = 5); return i;")),
    ("a value that is not used", js("void i; return i;")),
]  # fmt: skip


@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize(
    ("text", "point", "want"), [v[1:] for v in NUMBERS], ids=[v[0] for v in NUMBERS]
)
def test_what_javascript_computes(text, point, want):
    assert value("javascript", text, **point) == want


@pytest.mark.parametrize("text", [u[1] for u in NO_NUMBERS], ids=[u[0] for u in NO_NUMBERS])
def test_what_is_no_integer_is_not_read(text):
    with pytest.raises(UnsupportedSyntax):
        assert function("javascript", text) is None


# -- helpers that give square roots ----------------------------------------------------------------

MISTAKES = [
    ("cpp", "root >>= 1", "root >>= 2"),
    ("cpp", "1LL << 62", "1LL << 60"),
    ("cpp", "n >= root + bit", "n > root + bit"),
    ("cpp", "? r - 1", "? r"),
    ("cpp", "static_cast<double>(n)", "static_cast<double>(n / 2)"),
    ("javascript", "? root - 1", "? root"),
    ("javascript", "? root - 1", "? root - 2"),
]


def rooted(language):
    """A text with a helper that gives square roots of large numbers."""

    def f(n):
        return lego_emit_isqrt(8 * n + 1)

    from lego_emit import isqrt as lego_emit_isqrt

    return generate(f, language, index_type="int64" if language == "cpp" else "auto").source


@pytest.mark.slow
@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize(("language", "old", "new"), rest_slow([("cpp", "", ""), *MISTAKES]))
def test_a_square_root_with_a_mistake_is_none(language, old, new):
    text = rooted(language)
    assert old in text
    try:
        found = function(language, text.replace(old, new))
        root = any("square root by" in what for what in found.trusted)
    except UnsupportedSyntax:
        root = False
    assert root == (old == new)
