"""The checker's readers: where a random function's demands hold, its terms are what the machine computes."""

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import pytest
from machines import EDGES, RANGES, TYPED, WRITERS

from lego_emit.proofcheck import exhaustive
from lego_emit.proofcheck.languages import read, tree
from lego_emit.proofcheck.text import FITS, SHIFT, UnsupportedSyntax

pytest.importorskip("tree_sitter")
ROWS = 60  # points that are tried of a function, of which those are run at which all demands hold


PROGRAMS = {
    "rust": ("rustc", "apt-get install rustc"),
    "javascript": ("node", "apt-get install nodejs"),
    "julia": ("julia", "apt-get install julia"),
    "fortran": ("gfortran", "apt-get install gfortran"),
    "cpp": ("g++", "apt-get install g++"),
}


@dataclass
class Case:
    """A function, and rows of its arguments with what the checker takes it to give there."""

    name: str
    text: str
    params: list[str]
    rows: list[list[int]] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)


@pytest.fixture
def any_form(monkeypatch):
    """Texts by hand, in forms that are never emitted: it is their meaning that is asked for here."""
    monkeypatch.setattr(tree, "_foreign", lambda *_: None)


def ends(kind):
    bits, signed = kind
    return (-(2**53) + 1, 2**53 - 1) if bits == 54 else RANGES[bits, signed]


def row(draw, types):
    found = []
    for kind in types:
        low, high = ends(kind)
        pool = draw.choice((range(12), range(-9, 70), EDGES, EDGES))
        number = draw.choice(pool) * draw.choice((1, 1, -1))
        number = draw.choice((number, number, number, low + abs(number), high - abs(number)))
        found.append(max(low, min(high, number)))
    return found


TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
STRANGE = (
    "0 1.5 08 1_0 0b12 0o7 () [] {} ; , = == ! & | - + * ? : . .. -> => # // ++ -- += >>> ** && <= "
    "return if else end for while break x y int i32 i64 u8 unsigned Int16 number int64 real abs not "
    "max let const static var auto"
).split()


def changed(draw, text):
    """A text with tokens that are dropped, doubled, exchanged or new."""
    parts = TOKEN.findall(text)
    for _ in range(draw.choice((1, 1, 1, 2)) if parts else 0):
        at = draw.randrange(len(parts))
        new = [
            "",
            parts[at] * 2,
            draw.choice(parts),
            draw.choice(STRANGE),
            f" {draw.choice(STRANGE)} ",
        ]
        parts[at] = draw.choice(new)
    return "".join(parts)


def case_of(language, seed, number, seen, strange=False, writers=WRITERS):
    """A random case, changed where it is strange; None where the checker does not read it, or nowhere
    takes it to be defined."""
    draw = Random(f"{language} {seed} {number}")
    writer = writers[language](draw, number)
    text, params, _ = writer.function()
    if strange:
        head = next(line for line in text.splitlines() if re.search(rf"\b{writer.name}\(", line))
        start = text.index(head)
        start = text.rindex("/**", 0, start) if language == "javascript" else start
        end = text.index(head) + len(head)
        helpers, body = text[:start], text[end:]
        if helpers and draw.random() < 0.3:
            helpers = changed(draw, helpers)
        else:
            body = changed(draw, body)
        text = helpers + text[start:end] + body
    case = Case(writer.name, text, params)
    seen["texts"] += 1
    try:
        function = read(writer.whole([case]), language).read(writer.name)
    except UnsupportedSyntax:
        function = None
    if function is None or len(function.results) != 1:
        seen["not read"] += 1
        return None
    rows = [row(draw, [writer.TYPES[t] for t in params]) for _ in range(ROWS)]
    columns = {
        name: np.array(column, object)
        for (name, _), column in zip(function.params, zip(*rows, strict=True), strict=True)
    }
    values = exhaustive.Values(columns, ROWS)
    fine = np.ones(ROWS, bool)
    for demand in function.demands:
        holds, defined = values.at(demand.holds)
        fine &= np.broadcast_to(holds.astype(bool) & defined, ROWS)
    result, defined = (np.broadcast_to(a, ROWS) for a in values.at(function.results[0].term))
    for k in np.flatnonzero(fine):
        assert defined[k], f"no value where all demands hold: {rows[k]}\n{text}"
        case.rows.append(rows[k])
        case.wanted.append(int(result[k]))
    return case if case.rows else None


def compared(language, cases, seen):
    """Compile and run cases; those of a text that the compiler refuses one half at a time."""
    writer = WRITERS[language]
    if not cases:
        return []
    with tempfile.TemporaryDirectory() as folder:
        lines = writer.run(writer.program(cases), Path(folder))
    if lines is None and len(cases) > 1:
        half = len(cases) // 2
        return compared(language, cases[:half], seen) + compared(language, cases[half:], seen)
    if lines is None:
        seen["not compiled"] += 1
        return []
    wrong = []
    lines = iter(lines)
    for case in cases:
        seen["functions"] += 1
        for row, want in zip(case.rows, case.wanted, strict=True):
            got = next(lines, "nothing")
            seen["points"] += 1
            if got not in (str(want), "true" if want == 1 else "", "false" if want == 0 else ""):
                wrong.append(f"{language}: {got}, not {want}, at {row}\n{case.text}")
                break_ = got == "nothing"
                if break_:
                    return wrong
    return wrong


def differences(language, seed, count, strange=False, writers=WRITERS):
    """(what differs, how much was tried)."""
    seen = Counter()
    made = (case_of(language, seed, n, seen, strange, writers) for n in range(count))
    return compared(language, [case for case in made if case is not None], seen), seen


@pytest.mark.deep
@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize("language", WRITERS)
def test_random_functions_compute_what_the_checker_reads(language, need):
    need(*PROGRAMS[language])
    wrong, seen = differences(language, 1, 100)
    assert not wrong, wrong[0]
    assert seen["points"] > 300


@pytest.mark.deep
@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize("language", TYPED)
def test_random_functions_of_narrow_types(language, need):
    need(*PROGRAMS[language])
    wrong, seen = differences(language, 3, 300, writers=TYPED)
    assert not wrong, wrong[0]
    assert seen["points"] > 300


@pytest.mark.deep
@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize("language", WRITERS)
def test_strange_functions_are_not_read_or_compute_it(language, need):
    need(*PROGRAMS[language])
    wrong, seen = differences(language, 2, 250, strange=True)
    assert not wrong, wrong[0]
    assert seen["not read"] > 100 and seen["points"] > 50


# -- what seldom stands in a text, and does not mean what it seems to -------------------------------


def rust(body, before=""):
    return f"{before}\nfn f(i: i64, n: i64) -> i64 {{\n{body}\n}}\n"


def julia(body, before="", given="i::Int64, n::Int64", result="::Int64"):
    return f"{before}\nfunction f({given}){result}\n{body}\nend\n"


def fortran(body, declared="", before="", used="int32, int64"):
    return (
        f"module m\nuse, intrinsic :: iso_fortran_env, only: {used}\n{before}\ncontains\n"
        f"integer(int64) function f(i, n)\ninteger(int64), intent(in) :: i, n\n{declared}\n{body}\n"
        "end function f\nend module m\n"
    )


def javascript(body, before="", given="i, n", function="function"):
    tags = "\n".join(f" * @param {{number}} {p} {p}" for p in given.split(", "))
    return f"{before}\n/**\n{tags}\n */\nexport {function} f({given}) {{\n{body}\n}}\n"


def c(body, before=""):
    return f"{before}\nlong long f(long long i, long long n) {{\n{body}\n}}\n"


TABLE_OF_2 = "const T: [i64; 2] = [7, 8];"
UNREAD = [
    *(
        (f"{item} before it", "rust", rust("i", item))
        for item in ("use evil::i64;", "mod evil;", "macro_rules! e { () => {} }", "include!(\"e.rs\");",
                     "trait Evil { fn abs(self) -> Self; }")
    ),
    ("a file that is imported", "javascript", javascript("return i;", "import './evil.mjs';")),
    ("what is done beforehand", "javascript", javascript("return i;", "globalThis.Math = {};")),
    ("a name that is hidden in a block", "rust", rust("let q = i; if n > 1 { let q = n; } q")),
    ("one value repeated", "rust", rust("T[i as usize]", "const T: [i64; 9] = [7; 9];")),
    ("two tables of a name", "rust",
     rust("T[i as usize]", f"{TABLE_OF_2} mod a {{ const T: [i64; 2] = [1, 2]; }}")),
    ("a table that is computed", "rust", rust("T[0]", "const T: [i64; 2] = rev([7, 8]);")),
    ("entries that are computed", "rust", rust("T[0]", "const T: [i64; 2] = [7 + 1, 8];")),
    ("rows of a table", "rust", rust("T[0]", "const T: [[i64; 2]; 1] = [[7, 8]];")),
    ("a number of 8 bits", "rust", rust("(1u8 << 3) as i64 + i")),
    ("another meaning of a type", "rust", rust("i", "type i64 = i32;")),
    ("nothing is returned", "rust", rust("return; i")),
    ("a future", "rust", rust("i").replace("fn f", "async fn f")),
    ("a number of 8 bits", "julia", julia("return ~0b1 + i")),
    ("a chain of comparisons", "julia", julia("return 1 < i == true ? 1 : 2")),
    ("several values in brackets", "julia", julia("return (i; n)")),
    ("a number as a condition", "julia", julia("return Int64(i || n > 2)")),
    ("a result of another type", "julia", julia("return i", result="::Int16")),
    ("a method for what is wider", "julia",
     julia("return g(Int32(i))", "g(a::Int64) = a\ng(a::Integer) = 4")),
    ("a method that replaces one", "julia",
     julia("return g(i)", "function g(a::Int64)\nreturn a\nend\ng(a::Int) = 4")),
    ("a method of default values", "julia",
     julia("return g(i)", "function g(a::Int64)\nreturn a\nend\ng(a::Int64, b=5) = 4")),
    ("another meaning of a function", "julia", julia("return div(i, n)", "const div = fld")),
    ("another meaning of an operator", "julia", julia("return i + n", "Base.:+(a::Int64, b::Int64) = 5")),
    ("a function that is generated", "julia", "@generated " + julia("return i").strip()),
    ("a matrix", "julia", julia("return T[1]", "const T = Int64[1 2 3]")),
    ("a number as a table", "julia", julia("T = 5\nreturn T[1]", "const T = Int64[1, 2]")),
    ("signed by unsigned", "julia", julia("return div(i, n) - 10", given="i::UInt32, n::Int64")),
    ("a variable that is a real", "fortran", fortran("q = i\nf = int(q / 2 * 2, int64)", "real :: q")),
    ("a variable of no type", "fortran", fortran("q = i\nf = int(q / 2 * 2, int64)")),
    ("a variable that keeps its value", "fortran", fortran("q = q + 1\nf = q", "integer(int64) :: q = 5")),
    ("another meaning of a kind", "fortran", fortran("f = i", used="int64 => int32")),
    ("a kind of the text's own", "fortran", fortran("f = i", before="integer, parameter :: int32 = 8")),
    ("names from elsewhere", "fortran", fortran("f = mod(i, n)").replace("\ncontains", "\nuse q\ncontains")),
    ("a function of the text's own", "fortran", fortran("f = mod(i, n)").replace(
        "end module", "integer function mod(a, b)\ninteger :: a, b\nmod = 5\nend function\nend module")),
    ("an array with a known name", "fortran", fortran("f = mod(1, 2)", "integer(int64) :: mod(3, 3)")),
    ("two tables of a name", "fortran", fortran(
        "f = t(2)", "integer(int64), parameter :: t(2) = [5, 6]", "integer(int64), parameter :: t(2) = [1, 2]")),
    ("entries that are computed", "fortran",
     fortran("f = t(2)", before="integer(int64), parameter :: t(2) = [(k, k = 1, 2)]")),
    ("a result that is not set", "fortran", fortran("if (i > 7) f = 2")),
    ("a macro", "fortran", fortran("f = i", before="#define i n")),
    ("another Math", "javascript", javascript("return Math.floor(i / n);", "const Math = { floor: (x) => x };")),
    ("a Math that is given", "javascript", javascript("return Math.floor(i / n);", given="i, n, Math")),
    ("a Math that is changed", "javascript",
     javascript("return Math.floor(i / n);", "Math.floor = (x) => x;")),
    ("a constant that is set", "javascript", javascript("const q = i; q = 5; return q;")),
    ("a name that is not declared", "javascript", javascript("q = i; return q;")),
    ("a table that is changed", "javascript",
     javascript("return t[0];", "const t = Int32Array.of(5, 6);\nt[0] = 9;")),
    ("a table in other hands", "javascript",
     javascript("return t[0];", "const t = Int32Array.of(5, 6);\nt.fill(9);")),
    ("a value on the next line", "javascript", javascript("return\n(i) >> 2;")),
    ("a promise", "javascript", javascript("return i;", function="async function")),
    ("a table that may be changed", "cpp", c("return t[i];", "long long t[2] = {1, 2};")),
    ("the C library's abs", "cpp", c("return abs(i);")),
]  # fmt: skip
VALUES = [
    ("a number of any base", "rust", rust("0x1_f + 0b11_i64 + 0o17 + 1_0"), 31 + 3 + 15 + 10),
    ("a shift of a number of no type", "rust", rust("(1 << n) as i64"), {"i": 0, "n": 31}, FITS),
    ("by its own width", "rust", rust("(1 << n) as i64"), {"i": 0, "n": 32}, SHIFT),
    ("of a known one", "rust", rust("1i64 << n"), {"i": 0, "n": 32}, 2**32),
    ("zeros first", "julia", julia("return 010 + i"), 15),
    ("a variable of two types", "julia", julia("q = i\nq = Int32(65536)\nreturn q * q"), FITS),
    ("a choice of two types", "julia",
     julia("return (i > 4 ? i : n) + i", given="i::Int32, n::Int64"), {"i": 2**31 - 1, "n": 1}, FITS),
    ("capitals", "fortran", fortran("F = I + N"), 8),
    ("a table", "fortran", fortran("f = t(i)", before="integer(int64), parameter :: t(5) = [1, 2, 3, 4, 9]"), 9),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), [u[1:] for u in UNREAD], ids=[u[0] for u in UNREAD])
def test_what_means_something_else_is_not_read(language, text):
    with pytest.raises(UnsupportedSyntax):
        assert read(text, language).read("f") is None


@pytest.mark.usefixtures("any_form")
@pytest.mark.parametrize(
    ("language", "text", "point", "want"),
    [(v[1], v[2], *(v[3:] if len(v) == 5 else ({"i": 5, "n": 3}, v[3]))) for v in VALUES],
    ids=[v[0] for v in VALUES],
)
def test_what_a_machine_computes(language, text, point, want):
    function = read(text, language).read("f")
    broken = [d.kind for d in function.demands if not d.holds.at(point)]
    assert (broken[0] if broken else function.results[0].term.at(point)) == want
