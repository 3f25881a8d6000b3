"""The plain formulas of results: comments above bodies, and what cost="plain" emits."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import sympy
from index_functions import golden_cases
from marks import marked, rest_deep

from lego_emit import GroupBy, Lookup, OrderBy, Row, generate
from lego_emit.arith.sympy_nodes import BitAnd, IntAdd
from lego_emit.emit import registry
from lego_emit.errors import InternalError
from lego_emit.ir.nodes import Node, const
from lego_emit.ir.relations import replaced, says
from lego_emit.lower import function
from lego_emit.pipeline import build_program
from lego_emit.types import Array, NativeType

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = sorted(path.parent.name for path in GOLDEN.glob("*/table.txt"))
MARKS = {"python": "#", "numpy": "#", "triton": "#", "julia": "#", "fortran": "!"}
LANGUAGES = sorted(registry.own_targets())


def bricks(i, j):
    return 32 * (i // 4) + 16 * (j // 4) + 4 * (i % 4) + j % 4


BRICKS = {"ranges": {"i": (0, 8), "j": (0, 8)}}
FORMULA = "32*(i / 4) + 16*(j / 4) + 4*(i % 4) + j % 4"


def said(unit):
    """The formulas in a unit's comments."""
    mark = MARKS.get(unit.printer.name, "//")
    return re.findall(rf"^ +{mark} (.*[^.\n])$", str(unit), re.M)


# -- against the golden tables --------------------------------------------------------------------

TOKEN = re.compile(r"\s*(\d+|\w+|<=|>=|==|!=|&&|\|\||<<|>>|\S)")
BINDS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
CALLS = {"floor": "floor({})", "mod": "mod({})", "min": "min({})", "max": "max({})"}


class OfC:
    """A formula of a comment in C, as Python text by C's own rules: / rounds towards zero."""

    def __init__(self, text):
        self.tokens = [*TOKEN.findall(text), ""]

    def take(self, *wanted):
        token = self.tokens.pop(0)
        assert not wanted or token in wanted, (token, wanted)
        return token

    def whole(self):
        text = self.choice()
        self.take("")
        return text

    def choice(self):
        text = self.binary(1)
        if self.tokens[0] == "?":
            self.take("?")
            then = self.choice()
            self.take(":")
            text = f"({then} if {text} else {self.choice()})"
        return text

    def binary(self, least):
        text = self.unary()
        while BINDS.get(self.tokens[0], 0) >= least:
            op = self.take()
            right = self.binary(BINDS[op] + 1)
            word = {"/": "quotient", "%": "rest"}.get(op)
            plain = {"&&": "and", "||": "or"}.get(op, op)
            text = f"{word}({text}, {right})" if word else f"({text} {plain} {right})"
        return text

    def unary(self):
        token = self.take()
        if token == "(":
            text = self.choice()
            self.take(")")
            return text
        if token == "-":
            return f"(-{self.unary()})"
        if token == "floor":  # of one division
            self.take("(")
            over = self.binary(BINDS["/"] + 1)
            self.take("/")
            text = f"({over} // {self.binary(BINDS['/'] + 1)})"
            self.take(")")
            return text
        if self.tokens[0] != "(":
            assert token.isalnum() or "_" in token, token
            return token
        self.take("(")
        arguments = [self.choice()]
        while self.take(",", ")") == ",":
            arguments.append(self.choice())
        return f"{token}({', '.join(arguments)})"


def quotient(a, b):
    """C's a / b."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a, b):
    """C's a % b."""
    return a - b * quotient(a, b)


def root(n):
    """The square root, rounded down."""
    found = int(n**0.5)
    return next(r for r in (found + 1, found, found - 1) if r * r <= n)


WORDS = {
    "quotient": quotient, "rest": rest, "mod": lambda a, b: a % b, "isqrt": root,
    "min": min, "max": max,
}  # fmt: skip
TEXTS = {  # the file's end, a function's head, a comment in its body
    "c": (".h", r"static inline \w+ (\w+)\(([^)]*)\) *\{", r"  // (.*[^.\n])"),
    "numpy": ("_numpy.py", r"def (\w+)\(([^)]*)\):", r"    # (.*[^.\n])"),
}


def functions(text, head, comment):
    """(name, names of parameters, formulas) of each function in a text."""
    for found in re.finditer(rf"^{head}\n((?:(?:[ #].*)?\n)*)", text, re.M):
        name, parameters, body = found.groups()
        names = [re.search(r"\w+$", p.strip()).group() for p in parameters.split(",") if p.strip()]
        yield name, names, re.findall(rf"^{comment}$", body, re.M)


def points(case, names, is_inverse):
    """(values of all parameters, the results) at each entry of a golden table."""
    table, sizes = case.table, {**case.sizes, **case.fixed}
    known = {n: sizes[n] for n in names if n in sizes}
    given = [column.tolist() for column in table.points()]
    results = [column.tolist() for column in table.columns.values()]
    axes = [n for n, _ in table.axes]
    if is_inverse:
        given, results, axes = results, given, [""] * len(results)
    rest = iter([n for n in names if n not in sizes and n not in axes])
    axes = [n if n in names else next(rest) for n in axes]
    for place, values in zip(zip(*given, strict=True), zip(*results, strict=True), strict=True):
        if not is_inverse or -1 not in place:
            yield {**known, **dict(zip(axes, place, strict=True))}, values


@cache
def all_cases():
    return {case.name: case for case in golden_cases()}


@pytest.mark.quick(1)
@pytest.mark.parametrize("target", TEXTS)
def test_formulas_in_golden_texts_give_the_golden_tables(target):
    """Over every entry of every table, read by the language's own rules."""
    end, head, comment = TEXTS[target]
    count = 0
    for name, case in all_cases().items():
        path = case.text_path(target)
        assert path.name.endswith(end)
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        found = list(functions(text, head, comment))
        assert sum(len(texts) for *_, texts in found) == len(re.findall(f"^{comment}$", text, re.M))
        for own_name, names, texts in found:
            is_inverse = own_name.endswith("_inv")
            for text in texts:
                result, equals, formula = text.rpartition(" = ")
                own = case.table.columns
                if is_inverse:  # its results are called as the indices are
                    (own,) = (n for f, n, _ in found if f == f"{own_name[:-4]}_apply")
                    own = [n for n in own if n not in {**case.sizes, **case.fixed}]
                own = [n if n in (result, "flat") else f"{n}_v" for n in own]
                at = own.index(result) if equals else 0
                code = compile(formula if target == "numpy" else OfC(formula).whole(), text, "eval")
                for values, wanted in points(case, names, is_inverse):
                    assert eval(code, WORDS, values) == wanted[at], (name, own_name, text, values)
                    count += 1
    assert count > 10_000


# -- what is said, and where ----------------------------------------------------------------------


@pytest.mark.parametrize("target", LANGUAGES)
@pytest.mark.quick(8)
def test_every_language_says_the_formula_in_its_notation(target):
    text = {
        "fortran": "32*(i / 4) + 16*(j / 4) + 4*mod(i, 4) + mod(j, 4)",
        "julia": "32*div(i, 4) + 16*div(j, 4) + 4*(i % 4) + j % 4",
        "javascript": "32*Math.floor(i / 4) + 16*Math.floor(j / 4) + 4*(i % 4) + j % 4",
    }
    python = FORMULA.replace("/", "//")
    wanted = text.get(target, python if MARKS.get(target) == "#" else FORMULA)
    unit = generate(bricks, target, **BRICKS)
    assert said(unit) == [wanted]
    assert said(generate(bricks, target, cost="plain", **BRICKS)) == []
    head, _, body = str(unit).partition(wanted)
    assert "return" not in head.splitlines()[-2] and body.count("\n") > 1


def test_terse_leaves_the_comments_out_and_nothing_else():
    layout = GroupBy([6, 8]).OrderBy(Row(2, 4, 3, 2))
    for target in ("numpy", "rust"):
        full, terse = (str(generate(layout, target, terse=t)) for t in (False, True))
        lines = [x for x in full.splitlines() if not re.match(r" +(//|#) .*[^.]$", x)]
        assert lines == terse.splitlines() != full.splitlines()


def test_the_same_expression_is_not_said_again():
    assert said(generate(lambda i, j: 7 * i + j, "c", name="f")) == []
    assert said(generate(bricks, "c", cost="plain", **BRICKS)) == []
    both = generate(lambda n: {"a": n // 3, "b": n % 8}, "c", name="f", ranges={"n": (0, 99)})
    assert said(both) == ["b = n % 8"]


def test_a_formula_is_said_up_to_a_hundred_columns():
    for letters, is_said in ((87, True), (88, False)):
        name = "i" * letters
        f = eval(f"lambda {name}: {name} // 8 % 4")
        unit = generate(f, "c", name="f", ranges={name: (0, 999)})
        formula = f"{name} / 8 % 4"
        assert said(unit) == [formula] * is_said
        assert (len(f"  // {formula}") <= 100) == is_said


def test_what_looks_up_a_table_has_no_formula():
    table = Lookup(
        [64], [(k * k + 7 * k) % 11 + 20 * (k % 3) for k in range(64)], as_table=True, many=True
    )
    assert (
        said(generate(lambda i: table[i % 64] + i // 4, "c", name="f", ranges={"i": (0, 99)})) == []
    )


def test_divisions_of_what_may_be_negative_say_so():
    ranges = {"k": (-9, 100)}

    def f(k):
        return 5 * (k // 4) + k % 4

    wanted = {
        "c": "5*floor(k / 4) + mod(k, 4)",
        "fortran": "5*((k - modulo(k, 4)) / 4) + modulo(k, 4)",
        "julia": "5*fld(k, 4) + mod(k, 4)",
        "javascript": "5*Math.floor(k / 4) + mod(k, 4)",
        "numpy": "5*(k // 4) + k % 4",
    }
    for target, formula in wanted.items():
        assert said(generate(f, target, ranges=ranges)) == [formula]
    for target in ("c", "python"):
        generate(f, target, ranges=ranges, cost="plain").verify()


def test_choices_and_conditions_are_said_in_the_notation():
    def f(i, j):
        return 9 * (i // 8) + i % 8 + 5 * (j < 3) + (i % 4 if j > 4 else 7)

    wanted = {
        "c": "9*(i / 8) + 5*(j <= 2) + i % 8 + (j >= 5 ? i % 4 : 7)",
        "rust": "9*(i / 8) + 5*(if j <= 2 { 1 } else { 0 }) + i % 8 + (if j >= 5 { i % 4 } else { 7 })",
        "fortran": "9*(i / 8) + 5*merge(1, 0, j <= 2) + mod(i, 8) + merge(mod(i, 4), 7, j >= 5)",
        "glsl": "9*(i / 8) + 5*int(j <= 2) + i % 8 + (j >= 5 ? i % 4 : 7)",
        "numpy": "9*(i // 8) + 5*(j <= 2) + i % 8 + (i % 4 if j >= 5 else 7)",
    }
    for target, formula in wanted.items():
        unit = generate(f, target, ranges={"i": (0, 99), "j": (0, 9)})
        assert said(unit) == [formula]


class Coord(NamedTuple):
    x: int
    y: int


def test_members_elements_and_texts_are_as_the_body_has_them():
    def cell(size: Coord, at: Coord, X: Array[2]) -> Coord:
        return Coord(4 * size.y * (at.x // 4) + at.x % 4 + X[1], at.y // 2 % 8)

    ranges = {"at.x": (0, 99), "at.y": (0, 99), "size.y": (1, 9), "X[1]": (0, 9)}
    wanted = {
        "c": ["4*(at.x / 4)*size.y + at.x % 4 + X[1]", "at.y / 2 % 8"],
        "fortran": ["4*(at%x / 4)*size_v%y + mod(at%x, 4) + X(2)", "mod(at%y / 2, 8)"],
        "numpy": ["4*(at_x // 4)*size_y + at_x % 4 + X_1", "at_y // 2 % 8"],
    }
    for target, (x, y) in wanted.items():
        assert said(generate(cell, target, ranges=ranges)) == [f"x = {x}", f"y = {y}"]
    bound = generate(cell, "c", ranges=ranges, bind={"size": "params->size"})
    assert said(bound)[0] == "x = 4*(at.x / 4)*params->size.y + at.x % 4 + X[1]"
    glm = NativeType("glm::ivec2", members="[{k}]", make="{type}({})")
    native = generate(cell, "cpp", ranges=ranges, types={"Coord": glm})
    assert said(native)[1] == "y = at[1] / 2 % 8"

    def pair(n: int) -> Array[2]:
        return n // 4, n % 4

    array = generate(pair, "cpp", ranges={"n": (0, 99)})
    assert said(array) == ["result[0] = n / 4", "result[1] = n % 4"]


# -- cost="plain" ---------------------------------------------------------------------------------


def plain(f):
    """A function's results as texts, its statements put in."""
    named = {}
    for name, node in f.body:
        named[name] = replaced(node, lambda v: named.get(v.value, v))
    return {n: says(replaced(e, lambda v: named.get(v.value, v))) for n, e in f.outputs}


@pytest.mark.parametrize("name", rest_deep(CASES, 12))
@pytest.mark.quick(4)
def test_plain_is_what_the_comments_say(name):
    case = all_cases()[name]
    options = {"assume": case.options.assume, "index_type": case.options.index_type}
    found, other = (
        build_program(
            case.subject, registry.printer("c"), "f", cost=cost, sizes=case.fixed, **options
        )
        for cost in (None, "plain")
    )
    for own, by_plain in zip(found.functions, other.functions, strict=True):
        texts = plain(by_plain)
        assert not by_plain.formulas
        for result, formula in own.formulas:
            assert says(formula) == texts[result]


def test_plain_emits_strides_times_digits():
    layout = OrderBy(Row(2, 3, 4, 2))
    unit = generate(
        lambda i, j: layout[i // 4, j // 2, i % 4, j % 2],
        "c",
        name="f",
        cost="plain",
        ranges={"i": (0, 8), "j": (0, 6)},
    )
    assert "return 24 * (i / 4) + 8 * (j / 2) + 2 * (i % 4) + j % 2;" in str(unit)
    assert unit.self_check.points["f"] > 0


@pytest.mark.parametrize("target", ["c", "javascript", marked("fortran", pytest.mark.deep)])
def test_plain_runs_and_agrees_with_the_definition(target, toolchain_of):
    toolchain_of(target)
    layout = GroupBy([6, 8]).OrderBy(Row(2, 4, 3, 2))
    generate(layout, target, cost="plain").verify()


def test_unsigned_types_compute_the_formula_without_signs():
    ranges = {"i": (5, 100), "j": (0, 5)}

    def f(i, j):
        return 4 * ((i - j) // 4) + (j if i - j >= 0 else 9)

    unit = generate(f, "c", index_type="uint32", ranges=ranges)
    assert said(unit) == ["4*((i - j) / 4) + j"]
    by_plain = generate(f, "c", index_type="uint32", ranges=ranges, cost="plain")
    assert "return 4u * ((i - j) / 4u) + j;" in str(by_plain)


def test_what_the_user_spells_stays_as_it_is():
    """A form of SymPy's nodes, and arithmetic that wraps, are no formulas of ours."""
    x = sympy.Symbol("x", nonnegative=True)
    for cost in (None, "plain"):
        unit = generate(IntAdd(BitAnd(x, 7), 1), "c", name="f", ranges={"x": (0, 99)}, cost=cost)
        assert said(unit) == [] and "return (x & 7) + 1;" in str(unit)
    hashed = generate(lambda x: x * 7 // 8, "c", name="f", index_type="uint32", wrapping=True)
    assert said(hashed) == []


# -- the check ------------------------------------------------------------------------------------


def test_a_wrong_formula_is_not_given_out(monkeypatch):
    def wrong(problem, *rest):
        ((name, formula),) = formulas(problem, *rest)
        return ((name, Node("add", (formula, const(1)))),)

    formulas = function._formulas
    assert generate(bricks, "c", **BRICKS).self_check.points["bricks"] > 0
    monkeypatch.setattr(function, "_formulas", wrong)
    with pytest.raises(InternalError, match="bricks: its plain formula gives 1 at i = 0, j = 0"):
        generate(bricks, "c", **BRICKS)


def test_names_of_python_do_not_disturb_the_check():
    """Where the check cannot spell the program as Python, it goes through the nodes."""
    f = eval("lambda isqrt, int: (isqrt // 4 % 8 if isqrt > int else 16 // (int + 1), int % 4)")
    unit = generate(f, "c", name="f", ranges={"isqrt": (0, 99), "int": (0, 99)})
    assert len(said(unit)) == 2 and unit.self_check.points["f"] > 0
