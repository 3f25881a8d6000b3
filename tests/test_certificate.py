"""unit.certificate() and `lego-emit check-certificate`: what is stated, and that it is proved again."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple
from zlib import crc32

import pytest
import z3
from click.testing import CliRunner
from index_functions import golden_cases
from marks import others_slow, rest_deep, rest_slow, some_deep
from net import corpus, foreign

from lego_emit import Col, GenP, GroupBy, RegP, Row, Strided, TileBy, generate, pipeline
from lego_emit.check.certificate import STATEMENTS
from lego_emit.cli import main
from lego_emit.emit.registry import printer
from lego_emit.errors import InternalError, LegoError, TargetError, VerifyError
from lego_emit.golden import load
from lego_emit.lower import widths
from lego_emit.proofcheck import check as checker
from lego_emit.proofcheck import terms
from lego_emit.proofcheck.check import CertificateError, check
from lego_emit.proofcheck.languages import READERS
from lego_emit.types import Array

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ["cpp", "cuda", "rust", "fortran", "julia", "glsl", "javascript"]
OTHER_TEXTS = {"cuda", "fortran", "glsl", "javascript"}  # the quick run leaves them out


def tiles(M, N, BM, BN):
    return TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))


SMALL = TileBy([4, 3], [5, 7]).OrderBy(Col(4, 3), Row(5, 7))


def checked(unit, subject):
    return check(json.loads(unit.certificate().json), unit.source, subject)


# -- what is stated ------------------------------------------------------------------------------


def test_a_certificate_states_six_things_of_each_function():
    made = generate(tiles, "cpp").certificate()
    assert [f["role"] for f in made.data["functions"]] == ["apply", "inv", "fits"]
    *functions, fits = made.data["functions"]
    assert [s["says"] for s in fits["statements"]] == [*list(STATEMENTS)[:3], "preconditions"]
    for function in functions:
        assert [s["says"] for s in function["statements"]] == list(STATEMENTS)
        assert all(s["known"] for s in function["statements"])
    apply, inv = functions
    assert "M*N <= 2**63 - 1" in apply["given"] and "0 <= flat < M*N" in inv["given"]
    assert {p["is"] for p in apply["parameters"]} == {"size", "index"}
    assert any(s["rule"] == "fits" and s["because"] == "0 <= l < BN" for s in apply["steps"])
    assert (
        "tiles_apply\n  fits: " in str(made)
        and repr(made) == "<certificate of tiles_apply, tiles_inv, tiles_fits in cpp>"
    )


def test_a_certificate_of_one_function():
    unit = generate(tiles, "rust")
    (only,) = unit.certificate("tiles_inv").data["functions"]
    assert only["name"] == "inv"  # in the text
    with pytest.raises(TargetError, match="no function 'tiles_in'"):
        unit.certificate("tiles_in")


def test_a_query_is_told_where_z3_was_asked():
    unit = generate(lambda i, n: i * i // (n * n), "cpp", assume=["0 <= i < n", "n >= 1"])
    assert unit.functions[0].op_count == 0
    (function,) = unit.certificate().data["functions"]
    queries = [q for step in function["steps"] for q in step["queries"]]
    assert [q["result"] for q in queries] == ["unsat", "unsat"]
    for query in queries:
        assert "(check-sat)" in query["smt2"]
        solver = z3.Solver()
        solver.from_string(query["smt2"])
        assert solver.check() == z3.unsat


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "before"),
    [
        (lambda i, M, x: min(i * i, M * i + x) % M, "min(i*i, M*i + x)"),
        (lambda i, M, x: abs(M * i + x - i * i), "max(M*i + x - i*i, i*i - M*i - x)"),
        (lambda i, M, x: i if i * i <= M * i + x else x, "(i*i <= M*i + x)"),
        (lambda i, M, x: (i * i == M * i + x + 1) + i, "(i*i == M*i + x + 1)"),
    ],
    ids=("min", "abs", "if", "equal"),
)
def test_a_query_is_told_where_no_division_rests_on_z3(function, before):
    unit = generate(function, "cpp", name="f", assume=["0 <= i < M", "x >= 0"])
    (told,) = unit.certificate().data["functions"]
    steps = [step for step in told["steps"] if step["before"] == before]
    assert [step["by"] for step in steps] == ["Z3"], told["steps"]
    (query,) = steps[0]["queries"]
    solver = z3.Solver()
    solver.from_string(query["smt2"])
    assert query["result"] == "unsat" and solver.check() == z3.unsat
    (definition,) = [s for s in told["statements"] if s["says"] == "definition"]
    assert "as it stands" not in str(definition["known"])
    assert check(json.loads(unit.certificate().json), unit.source, function)


def test_as_it_stands_is_said_where_no_rule_was_used():
    for function, stands in ((lambda i, N: 2 * (i + N), True), (lambda i, N: abs(i), False)):
        unit = generate(function, "cpp", name="f", ranges={"i": (0, "N")})
        assert ("as it stands" in str(unit.certificate())) is stands


def test_what_has_no_certificate():
    with pytest.raises(VerifyError, match="several subjects"):
        generate([tiles, SMALL], "cpp", name="both").certificate()


@pytest.mark.slow
def test_the_same_bytes_in_another_process():
    code = (
        "from lego_emit import *; "
        "L = TileBy([4, 3], [5, 7]).OrderBy(Col(4, 3), Row(5, 7)); "
        "print(generate(L, 'julia', name='small').certificate().json, end='')"
    )
    own = generate(SMALL, "julia", name="small").certificate().json
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": str(ROOT)},
        )
        assert run.stdout == own, run.stderr


# -- what is proved ------------------------------------------------------------------------------

pytest_trees = pytest.importorskip("tree_sitter")


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_proved_again(language):
    assert checked(generate(SMALL, language, name="small"), SMALL)
    assert checked(generate(tiles, language), tiles)


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_proved_again_whatever_is_asked_of_the_text(language):
    asked = [
        {"base": 1},
        {"prefix": "acme_", "header": ["Copyright: nobody; 0 <= i < 3"]},
        {"names": "camelCase", "sizes": {"BM": 32, "BN": 8}},
    ]
    for options in asked + [{"view": True}] * (language in ("cpp", "cuda", "rust", "julia")):
        unit = generate(tiles, language, **options)
        assert checked(unit, tiles), (options, checked(unit, tiles))


def slice_of_golden():
    """Each case of fixed sizes in one language, and some of symbolic ones."""
    symbolic = {
        "brick_array",
        "lud",
        "matmul_a_row",
        "matmul_c",
        "softmax",
        "strided_pitch_symbols",
    }
    for case in golden_cases():
        language = LANGUAGES[crc32(case.name.encode()) % len(LANGUAGES)]
        if not case.sizes or case.name in symbolic:
            yield pytest.param(case, language, id=f"{case.name}-{language}")


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("case, language", list(slice_of_golden()))
def test_golden_cases_are_proved(case, language):
    report = checked(case.emit(language), case.subject)
    assert report, str(report)


# -- faults that were, put back -------------------------------------------------------------------


@pytest.fixture
def unchecked(monkeypatch):
    """generate() without its own check, which refuses before there is a text."""
    return lambda: monkeypatch.setattr(pipeline, "check_emission", lambda *_: (0, "not asked"))


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_deep(["cpp", "rust", "fortran"]))
def test_a_forgotten_precondition_is_found(monkeypatch, unchecked, language):
    """An overflow that no header speaks of."""
    monkeypatch.setattr(widths._Needs, "width", lambda self: widths.Width(self.index_type))
    with pytest.raises(InternalError, match="no precondition says so"):
        generate(tiles, "cpp")
    unchecked()
    report = checked(generate(tiles, language), tiles)
    (line,) = [x for x in report.lines if x.says == "fits" and x.function.endswith("apply")]
    assert line.verdict == checker.REFUTED and "does not hold at M = " in line.how


@pytest.mark.slow
def test_a_forgotten_divisibility_is_found(monkeypatch, unchecked):
    from lego_emit.lower import header

    whole = header.assumptions
    monkeypatch.setattr(
        header,
        "assumptions",
        lambda *given: tuple(c for c in whole(*given) if "floormod" not in repr(c)),
    )
    with pytest.raises(InternalError, match="please report it"):
        generate(tiles, "cpp")
    unchecked()
    report = checked(generate(tiles, "cpp"), tiles)
    assert any(x.verdict == checker.REFUTED for x in report.lines)


def test_a_prover_that_believes_everything_is_found(monkeypatch, unchecked):
    from lego_emit.arith.prover import Prover

    there = lambda i, j: i * 7 + (j + 3) % 7  # noqa: E731
    layout = GroupBy([5, 7]).OrderBy(GenP([5, 7], there))
    assert checked(generate(layout, "rust", name="f"), layout)
    monkeypatch.setattr(Prover, "nonneg", lambda self, e: True)
    unchecked()
    found = 0
    for subject in (layout, tiles, SMALL):
        try:
            unit = generate(subject, "rust", name="f")
        except LegoError:
            continue  # seen by the generator itself
        found += not checked(unit, subject)
    assert found


# What was emitted, or promised, in the place of what is now: by the name in tests/corpus. What else
# stands there was refused, endless, a range inside of the generator, or an explanation: no text of it
# was wrong.
EMITTED = {
    "01_digits_merged_numbers": ("(x >> 1) % 12", "x / 2 % 3"),
    "01_digits_merged_symbols": ("x / N & 3", "x / N & 1"),
    "02_quotient_by_a_difference_compared": (r"return \S+floor_div.*;", "return 5;"),
    "02_quotient_by_a_difference_max": ("i / (M - N)", "0"),
    "02_quotient_without_a_least_divisor": ("return d >= 1.*;", "return 100;"),
    "03_exact_through_another_fact": ("3 * (total_2 & 63) + (total_2 >> 6)", "3 * total_2"),
    "07_inverse_of_a_padded_line": ("0 <= the result < 7", "0 <= the result < 5"),
    "net_base_1_axis_of_one": ("y 1 <= y < 2", "y 0 <= y < 1"),
    "net_base_1_there_and_back": ("p 1 <= p < 7", "p 0 <= p < 6"),
    "net_digits_of_negative_numbers": ("f_detail::floor_div(x, 3)", "(x / 3)"),
    "net_exact_quotient_in_a_table": (r"return (?=.*64 \* l).*;", "return 64 * l + n;"),
    "net_guard_does_not_imply_the_divisor": ("/// @pre x == y || n != 0\n", ""),
    "net_inverse_of_a_shift": (r"< 16\*b(?=\n.*\n.*\n.*\n/// @pre 32\*b)", "< 14*b"),
    "net_range_of_a_difference_of_digits": (
        "((scaled <= 2 ? scaled : 5 - scaled) - x1_div_11)",
        "0",
    ),
    "net_shift_named": ("int64_t", "int32_t"),
    "net_sign_of_a_product": (r"f_detail::floor_mod\(\n +(.*), N\);", r"\1 % N;"),
}


# With long proofs, most of them by solvers.
LONG = {
    "02_quotient_without_a_least_divisor",
    "net_exact_quotient_in_a_table",
    "net_inverse_of_a_shift",
    "net_sign_of_a_product",
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", rest_slow(some_deep(EMITTED, LONG), 4))
def test_what_was_emitted_once_is_refuted(name):
    case = replace(corpus.read(corpus.FOLDER / f"{name}.toml"), target="cpp")
    case = replace(
        case, text=case.text.replace("BN = symbols('BN')\nlayout =", "def f(BN):\n    return")
    )
    subject = case.subject()
    unit = case.generate(subject)
    right, wrong = EMITTED[name]
    if right in unit.source:
        text = unit.source.replace(right, wrong)
    else:
        text = re.sub(right, wrong, unit.source)
    assert text != unit.source
    data = json.loads(unit.certificate().json)
    assert all(line.verdict != checker.REFUTED for line in check(data, unit.source, subject).lines)
    data["sha256"] = sha256(text.encode()).hexdigest()
    assert any(
        line.verdict == checker.REFUTED or line.how.startswith("the certificate alone supposes")
        for line in check(data, text, subject).lines
    )


# What changes a text's meaning from beside its functions, before the mark; and in the body of one.
BESIDE = {
    "cpp": ("/// Logical index", """#else|asm("");|[[gnu::weak]]|__attribute__((weak))|import <x>;|// x ??/|
        #include "x"|#define return|using namespace x;|return 0;|// x \r return 0;"""),
    "rust": ("/// Logical index", """#[cfg(any())]|#[evil]|#[derive(Evil)]|#![no_core]|struct i32;|include!("x");|
        use x::*;|macro_rules! x { () => {} }|trait T {}|union i32 { a: u8 }|enum i32 {}"""),
    "fortran": ("contains\n", """include 'x.f90'|!$ integer :: mod|!GCC$ ATTRIBUTES x :: mod|external mod|integer :: mod|
        procedure(x), pointer :: iand|implicit real (i-l)|common /x/ i|entry g(i)|equivalence (i, j)|#define i j"""),
    "julia": ('"""\n    f_inv', """a * b = 3|Core.eval(F, :(1))|eval(x)|include("x")|struct Int32 end|macro inline(x) 0 end|
        abstract type Int32 end|Base.@assume_effects :total f() = 1|@fastmath f() = 1|≤ = 3|Ti = Int8|using X|(i = 0)"""),
    "glsl": ("// Logical index", """#else|#include "x"|// x ??/|discard;|j = 0;|for(;;) {}|#define int float|// x \v int y;"""),
    "javascript": ("/**\n * Logical", """<!-- x|--> x|import 'x';|class Math {}|label: ;|with (x) {}|eval('');|
        Math.trunc = 0;|({trunc: Math.trunc} = 0);|// x \u2028 Math = 0;|async|this.Math = 0;|'use strict';"""),
}  # fmt: skip


@pytest.mark.parametrize("language", BESIDE)
def test_what_stands_beside_a_function_is_known(language):
    mark, others = BESIDE[language]
    unit = generate(SMALL, language, name="f")
    data, (before, after) = json.loads(unit.certificate().json), unit.source.split(mark)
    for other in map(str.strip, others.split("|")):
        text = f"{before}{other}\n{mark}{after}"
        data["sha256"] = sha256(text.encode()).hexdigest()
        assert not check(data, text, SMALL), other


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_deep(foreign.FORMS, 3))
def test_a_form_that_no_text_has_is_refused(language):
    cases_ = [load(ROOT / "golden" / name) for name in ("layer_norm_forward", "lookup_permutation")]
    units = [
        (generate(tiles, language, terse=True), tiles),
        (generate(SMALL, language, name="f", terse=True), SMALL),
    ]
    units += [(case.emit(language), case.subject) for case in cases_]
    seen, missed = set(), []
    for unit, subject in units:
        missed += [(str(unit), what) for what in foreign.accepted(unit, subject, language, seen)]
    assert not missed
    assert seen >= {what for what, _, _ in foreign.FORMS[language]}
    if language not in ("rust", "julia", "glsl"):
        assert "names of parameters exchanged" in seen
    assert "names of a list exchanged" in seen


@pytest.mark.parametrize(
    ("language", "right", "wrong", "why"),
    [
        (
            "javascript",
            "  return [",
            "  return 0;\n  return [",
            "gives 1 results, and the certificate",
        ),
        ("julia", "    flat_div_35 = ", "    return 0\n    flat_div_35 = ", "does not know"),
        ("cpp", "/// @return 0 <= the", "/// @pre i == 0\n/// @return 0 <= the", "alone supposes"),
        ("rust", "`0 <= result < 420`", "`0 <= i < 420`", "do not promise the same"),
        ("julia", "`0 <= the result < 420`", "`0 <= x < 420`", "x, which is no result"),
        ("julia", "- `0 <= i < 4`", "- 0 <= i < 4`", "the certificate alone supposes"),
        ("rust", "    let flat_div_35", "    #[cfg(any())]\n    let flat_div_35", "does not know"),
    ],
)
def test_a_text_that_is_of_another_kind_is_not_proved(language, right, wrong, why):
    unit = generate(SMALL, language, name="f")
    data, text = json.loads(unit.certificate().json), unit.source.replace(right, wrong, 1)
    assert text != unit.source
    data["sha256"] = sha256(text.encode()).hexdigest()
    report = check(data, text, SMALL)
    assert not report and any(why in line.how for line in report.lines)


# -- the command line ----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("layouts.py").write_text(
        "from lego_emit import TileBy, Row\n\n\ndef tiles(M, N, BM, BN):\n"
        "    return TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))\n"
    )
    run = CliRunner()
    made = run.invoke(
        main, "generate layouts.py:tiles -t rust -o tiles.rs --certificate tiles.json".split()
    )
    assert made.exit_code == 0, made.output
    assert "// Certificate: tiles.json (overflow, divisions" in Path("tiles.rs").read_text()
    words = "check-certificate tiles.json --source tiles.rs --layout layouts.py:tiles".split()
    found = run.invoke(main, words)
    assert found.exit_code == 0 and "\ninv\n  fits: proved; digit algebra" in found.output
    lines = json.loads(run.invoke(main, [*words, "--json"]).stdout)["lines"]
    assert {line["verdict"] for line in lines} == {"proved"}
    text = Path("tiles.rs").read_text()
    Path("tiles.rs").write_text(text.replace("N * ", "M * "))
    found = run.invoke(main, words)
    assert found.exit_code == 2 and "of another text" in found.output
    Path("tiles.rs").write_bytes(b"\xff\xfe\x00")
    found = run.invoke(main, words)
    assert found.exit_code == 2 and "of another text" in found.output
    assert "itself failed" not in found.output


def test_the_languages_that_are_read_are_documented():
    text = (Path(__file__).parents[1] / "docs" / "trust.md").read_text()
    (found,) = re.findall(r"^The checker reads ([^.\n]+)\. It names what it", text, re.M)
    titles = [printer(name).title for name in READERS]
    assert found == f"{', '.join(titles[:-1])} and {titles[-1]}"


OTHERS = """from lego_emit import Col, GroupBy, Row, symbols
M, N = symbols("M N")
square = GroupBy([6, 6]).OrderBy(Col(6, 6))
cube = GroupBy([2, 3, 6]).OrderBy(Col(6, 6))
open_sizes = Row(M, N)


def sized(n, m):
    return Row(n, m)


def tall(M, N, BM):
    return Row(M // BM, N, BM)


def at(i, j):
    return square[i, j]


def at_other(a, b, c):
    return cube[a, b, c]
"""
LAYOUT, FUNCTION = "certificate is of another layout: ", "certificate is of another function: "


@pytest.mark.parametrize(
    ("made_of", "given", "said"),
    [
        ("sized", "tall", LAYOUT + "the parameters of u_apply are n, m, i, j, and those of tall M, N, BM"),
        ("square", "sized", LAYOUT + "the parameters of u_apply are i, j, and those of sized n, m"),
        ("square", "cube", LAYOUT + "u_apply has 2 indices and 1 results, that of the layout .* 3 and 1"),
        ("cube", "square", LAYOUT + "u_inv has 1 indices and 3 results, that of the layout .* 1 and 2"),
        ("tall", "open_sizes", LAYOUT + "u_apply has 3 indices and 1 results, .* 2 and 1"),
        ("sized", "open_sizes", LAYOUT + "it has no size M, and the layout that is given has"),
        ("square", "open_sizes", LAYOUT + "it has no size M, and the layout that is given has"),
        ("square", "at", LAYOUT + "the parameters of u_inv are flat, and those of at i, j"),
        ("square", "at_other", LAYOUT + "the parameters of u_apply are i, j, and those of at_other a, b, c"),
        ("at", "square", "certificate is of a function, u, and what is given is a layout"),
        ("at", "sized", FUNCTION + "the parameters of u are i, j, and those of sized n, m"),
        ("at", "at_other", FUNCTION + "the parameters of u are i, j, and those of at_other a, b, c"),
        ("square", "square", ""),
        ("at", "at", ""),
        pytest.param("tall", "tall", "", marks=pytest.mark.slow),
        pytest.param("open_sizes", "open_sizes", "", marks=pytest.mark.slow),
    ],
)  # fmt: skip
@pytest.mark.quick(4)
def test_a_certificate_of_another_subject(tmp_path, monkeypatch, made_of, given, said):
    monkeypatch.chdir(tmp_path)
    Path("l.py").write_text(OTHERS)
    words = f"generate l.py:{made_of} -t c --name u -o u.h --certificate u.json"
    assert CliRunner().invoke(main, words.split()).exit_code == 0
    words = f"check-certificate u.json --source u.h --layout l.py:{given}"
    found = CliRunner().invoke(main, words.split())
    assert found.exit_code == (1 if said else 0), found.output
    assert re.search(f"not proved; the {said}" if said else "proved; ", found.output), found.output
    assert not re.search("TypeError|ValueError|zip|itself failed", found.output)


def test_the_header_s_line_says_what_is_stated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("layouts.py").write_text("def diag(i, j):\n    return (i + j) % 12 * 12 + j\n")
    given = ["generate", "layouts.py:diag", "-o", "out", "--certificate", "d.json", "-t"]
    assert CliRunner().invoke(main, [*given, "rust"]).exit_code == 0
    text = Path("out").read_text()
    assert "// Certificate: d.json (overflow: assumed, divisions, shifts, definition)\n" in text
    result = CliRunner().invoke(main, [*given, "python"])
    assert result.exit_code == 0 and "check-certificate does not read python" in result.output


@pytest.mark.parametrize("name", ["l.py", "./l.py", "l.rs", "./l.rs", "-", ""])
def test_a_certificate_takes_no_other_files_place(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text = "from lego_emit import Row, GroupBy\nL = GroupBy([6]).OrderBy(Row(6))\n"
    Path("l.py").write_text(text)
    found = CliRunner().invoke(
        main, ["generate", "l.py:L", "-t", "rust", "-o", "l.rs", "--certificate", name]
    )
    assert found.exit_code == 2 and "as in tiles.json" in found.output
    assert Path("l.py").read_text() == text and not Path("l.rs").exists()


@pytest.mark.parametrize(
    "text, why",
    [
        ("x", "is no certificate"),
        ("[]", "is no certificate"),
        ("{}", "is no certificate"),
        ('{"certificate": "lego-emit", "format": 7}', "format 7"),
        ('{"certificate": "lego-emit", "format": 1}', "says nothing of 'language'"),
        ('{"certificate": "lego-emit", "format": 1, "language": 5}', "'language' is 5"),
    ],
)
def test_what_is_no_certificate(tmp_path, monkeypatch, text, why):
    monkeypatch.chdir(tmp_path)
    Path("c.json").write_text(text)
    Path("l.py").write_text(
        "from lego_emit import Row, GroupBy\nL = GroupBy([6]).OrderBy(Row(6))\n"
    )
    found = CliRunner().invoke(
        main, "check-certificate c.json --source l.py --layout l.py:L".split()
    )
    assert found.exit_code == 2 and why in found.output


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda d: d.update(functions=[5]), "says nothing of 'name'"),
        (lambda d: d["functions"][0].update(parameters=[{}]), "says nothing of 'name'"),
        (lambda d: d["functions"][0].update(given=[7]), "holds .*7"),
        (lambda d: d["functions"][0].update(base=None), "'base' is None"),
        (lambda d: d["functions"][0].update(statements=["fits"]), "says nothing of 'says'"),
        (lambda d: d.pop("fixed"), "says nothing of 'fixed'"),
    ],
)
def test_a_certificate_that_was_changed(change, why):
    unit = generate(SMALL, "rust", name="small")
    data = json.loads(unit.certificate().json)
    change(data)
    with pytest.raises(CertificateError, match=why):
        check(data, unit.source, SMALL)


@pytest.mark.parametrize("left_out", [*STATEMENTS])
def test_a_statement_that_is_left_out_is_not_proved(left_out):
    unit = generate(SMALL, "rust", name="small")
    data = json.loads(unit.certificate().json)
    for function in data["functions"]:
        function["statements"] = [s for s in function["statements"] if s["says"] != left_out]
    report = check(data, unit.source, SMALL)
    assert not report and f"{left_out}: not proved; the certificate does not state it" in str(
        report
    )


def test_a_function_that_is_left_out_is_told():
    unit = generate(SMALL, "rust", name="small")
    report = check(unit.certificate("small_inv").data, unit.source, SMALL)
    assert "not certified: apply" in str(report)


def test_a_certificate_is_of_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("l.py").write_text(
        "from lego_emit import Row, GroupBy\nL = GroupBy([6]).OrderBy(Row(6))\n"
    )
    for words in ("-t cpp", "-t cpp -t rust -o d/"):
        found = CliRunner().invoke(main, f"generate l.py:L {words} --certificate c.json".split())
        assert found.exit_code == 2 and "--certificate is of one file" in found.output
    assert not Path("c.json").exists()


def test_a_coordinate_beside_an_axis():
    strided, rows = Strided((4, (2, 3)), (6, (3, 1))), GroupBy([4, 6])

    def f(i):
        return strided(i, None)(3) + rows[:, 0]

    def g(i):
        return strided(i, None)(2) + rows[:, 0]

    unit = generate(f, "cpp", name="f", assume=["i >= 0", "i < 4"])
    found = {subject: {line.verdict for line in checked(unit, subject).lines} for subject in (f, g)}
    assert found == {f: {"proved"}, g: {"proved", "refuted"}}


@pytest.mark.quick(3)
@pytest.mark.parametrize("language", LANGUAGES)
def test_indices_of_sizes_that_divide_a_number(language):
    """What the comment allows of the indices is asked at the sizes that it allows, and at no others."""

    def halves(B):
        return TileBy([B, 16 // B], [2, 1]).OrderBy(Col(2 * B, 16 // B))

    assert checked(generate(halves, language, assume=["B <= 8"]), halves)


@pytest.mark.slow
def test_a_name_that_stands_in_a_quotient_alone_is_a_size():
    def rows(N, K, B):
        return GroupBy([N * (K // B), 2]).OrderBy(RegP([N * (K // B) * 2], [0]))

    unit = generate(rows, "cpp", assume=["K % B == 0"])
    kinds = {
        p["name"]: p["is"]
        for p in json.loads(unit.certificate().json)["functions"][0]["parameters"]
    }
    assert kinds == {"N": "size", "K": "size", "B": "size", "i": "index", "j": "index"}
    assert checked(unit, rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_divisor_of_either_sign(language):
    """Fortran's modulo, Julia's mod and the helpers round down whatever the divisor's sign."""

    def f(x, y):
        return x % y if y != 0 else x

    assume = ["-9 <= x <= 9", "-5 <= y <= 5"]
    assert checked(generate(f, language, assume=assume), f)


def test_truth_values_and_numbers_are_told_apart():
    x, y = terms.var("x"), terms.var("y")
    assert repr(terms.made("add", x < y, 1)) == "(select((x < y), 1, 0) + 1)"
    assert repr(terms.made("land", x, x < y)) == "((x != 0) and (x < y))"
    assert repr(terms.made("select", x, 1, 2)) == "select((x != 0), 1, 2)"


def test_a_language_that_is_not_read():
    unit = generate(SMALL, "wgsl", name="small")
    report = checked(unit, SMALL)
    assert not report and "does not read wgsl" in str(report)
    with pytest.raises(CertificateError, match="of another text"):
        check(unit.certificate().data, unit.source + " ", SMALL)


# -- structs and arrays ----------------------------------------------------------------------------


class Coord(NamedTuple):
    x: int
    y: int


def position(size: Coord, at: Coord) -> int:
    return at.y * size.x + at.x


def unravel(size: Coord, n: int) -> Coord:
    return Coord(n % size.x, n // size.x)


def rotated(i: Array[3]) -> Array[3]:
    return i[1], i[2], i[0]


def const(p: Annotated[Coord, "in cells"]) -> Coord:
    """Of a name that the languages keep."""
    return Coord(p.y, p.x)


class Words(NamedTuple):
    end: int
    type: int


class Wide(NamedTuple):
    a: int
    b: int
    c: int
    d: int
    e: int


def mixed(words: Words, i: Array[2], wide: Wide) -> Wide:
    return Wide(words.end, words.type, i[1], i[0], wide.e)


def parted(X: Array[2], n: int) -> Array[2]:
    return n % X[1], n // X[1]


def narrowed(wide: Wide) -> Words:
    return Words(wide.b, wide.d)


GROUPED = {
    const: {},
    position: {"at.x": (0, "size.x"), "at.y": (0, "size.y")},
    unravel: {"n": (0, "size.x*size.y"), "size.x": (1, None)},
    rotated: {},
    mixed: {"wide.e": (0, 9), "words.type": (0, "words.end")},
    narrowed: {},
    parted: {"n": (0, "X[0]*X[1]"), "X[1]": (1, None)},
}


@pytest.mark.slow
@pytest.mark.parametrize("language", rest_deep(["c", "fortran", "cpp", "cuda", "glsl"], 2))
def test_structs_and_arrays_are_proved(language):
    for function, ranges in GROUPED.items():
        for sizes in ({}, {"size.y": 5}) if "size" in function.__annotations__ else ({},):
            unit = generate(function, language, ranges=ranges, sizes=sizes)
            assert checked(unit, function), f"{checked(unit, function)}\n{unit}"
    cells = lambda size, k: GroupBy([size.x, size.y])  # noqa: E731
    cells.__annotations__ = {"size": "Coord"}
    unit = generate(cells, language, name="cells", sizes={"k": 1})
    assert checked(unit, cells), f"{checked(unit, cells)}\n{unit}"


# What is wrong in a text with a struct or an array: (language, function, what stands there, what instead).
FAULTS = [
    ("cpp c", position, "size.x * at.y", "size.y * at.y"),
    ("cpp c", position, "+ at.x;", "+ at.y;"),
    ("cpp c", position, "+ at.x;", "+ size.x;"),
    ("cpp c", position, "+ at.x;", "+ at.z;"),
    ("cpp c", position, "+ at.x;", "+ at;"),
    ("cpp c", position, "(Coord size, Coord at)", "(Coord at, Coord size)"),
    ("cpp c", position, "0 <= at.x < size.x", "0 <= at.x < size.y"),
    ("cpp c", position, "@param at ", "@param size "),
    ("cpp c", position, "int64_t x;", "int32_t x;"),
    ("cpp c", position, "int64_t x;", "int64_t w;"),
    ("cpp c", unravel, r"(.*int64_t) x;\n(.*) y;", r"\1 y;\n\2 x;"),
    ("cpp c", unravel, r"( .*int64_t) y;\n", r"\1 y;\n\1 z;\n"),
    ("cpp c", unravel, r"{n % size.x, n / size.x}", "{n / size.x, n % size.x}"),
    ("cpp c", unravel, r"{n % size.x, n / size.x}", "{n % size.x}"),
    ("c", unravel, "return result;", "return size;"),
    ("c", unravel, "} Coord;", "} Coordinate;"),
    ("cpp", unravel, "struct Coord {", "struct Coord { Coord(int64_t a, int64_t b) : x(b), y(a) {}"),
    ("cpp", unravel, "struct Coord {", "struct Coord {};\nstruct Coord {"),
    ("cpp", unravel, "LEGO_STRUCT_lego_Coord", "LEGO_UNRAVEL_HPP"),
    ("cpp c", unravel, "(#define LEGO_STRUCT_(lego_)?Coord) 0x.", r"\1 0xf"),
    ("cpp c", unravel, "int64_t n[,)]", "int64_t size, int64_t n)"),
    ("cpp", unravel, r"noexcept {", "noexcept {\n  const Coord size = {1, 2};"),
    ("cpp", unravel, r"noexcept {", "noexcept {\n  size = {1, 2};"),
    ("cpp c", rotated, r"{i\[1\]", "{i[0]"),
    ("cpp c", rotated, r"{i\[1\]", "{i[3]"),
    ("cpp c", rotated, r"{i\[1\]", "{i"),
    ("cpp", rotated, r"\(&i\)\[3\]", "(&i)[4]"),
    ("cpp", rotated, r"\(&i\)\[3\]", "i[3]"),
    ("c", rotated, r"int64_t i\[3\]", "int64_t i[2]"),
    ("cpp", rotated, "const std::int64_t ", "std::int64_t "),
    ("cpp", rotated, "const std::int64_t ", "const std::int32_t "),
    ("cpp", rotated, "array<std::int64_t, 3>", "array<std::int64_t, 4>"),
    ("cpp", rotated, "array<std::int64_t, 3>", "array<std::int32_t, 3>"),
    ("cpp", rotated, "std::array<std::int64_t, 3>", "std::tuple<std::int64_t, 3>"),
    ("fortran", position, "size_v%x * at%y", "size_v%y * at%y"),
    ("fortran", position, "+ at%x", "+ at%y"),
    ("fortran", position, "+ at%x", "+ at%z"),
    ("fortran", position, "+ at%x", "+ at"),
    ("fortran", position, "+ at%x", "+ position%x"),
    ("fortran", position, r"position\(size_v, at\)", "position(at, size_v)"),
    ("fortran", position, "0 <= at.x < size_v.x", "0 <= at.x < size_v.y"),
    ("fortran", position, "@param at ", "@param size_v "),
    ("fortran", position, ":: x, y", ":: y, x"),
    ("fortran", position, ":: x, y", ":: x, y, z"),
    ("fortran", position, r"int64\) :: x, y", "int32) :: x, y"),
    ("fortran", position, r"intent\(in\) :: size_v, at", "intent(out) :: size_v, at"),
    ("fortran", position, "(  type, public .*\n.*\n.*\n)", r"\1\1"),
    ("fortran", unravel, r"Coord\((.*), (n / .*)\)", r"Coord(\2, \1)"),
    ("fortran", unravel, r"Coord\((.*), (n / .*)\)", r"Coord(\2)"),
    ("fortran", unravel, r"= Coord\((.*), (n / .*)\)", r"= [\1, \2]"),
    ("fortran", unravel, r"= Coord\(", "= Place("),
    ("fortran", unravel, r"type\(Coord\) function", "type(Place) function"),
    ("fortran", unravel, r"type\(Coord\) function", "integer(int64) function"),
    ("fortran", unravel, r"  unravel = ", "  unravel = size_v\n    unravel = "),
    ("fortran", rotated, r"\[i\(2\)", "[i(1)"),
    ("fortran", rotated, r"\[i\(2\)", "[i(4)"),
    ("fortran", rotated, r"\[i\(2\)", "[i(0)"),
    ("fortran", rotated, r"\[i\(2\)", "[i(1 + 1)"),
    ("fortran", rotated, r"\[i\(2\)", "[i"),
    ("fortran", rotated, r"\[i\(2\)", "[rotated(2)"),
    ("fortran", rotated, r"\[i\(2\), ", "["),
    ("fortran", rotated, r"dimension\(3\), intent\(in\)", "dimension(4), intent(in)"),
    ("fortran", rotated, r"dimension\(3\), intent\(in\)", "dimension(0:2), intent(in)"),
    ("fortran", rotated, r"dimension\(3\) :: rotated", "dimension(4) :: rotated"),
    ("fortran", rotated, r"int64\), dimension\(3\), ", "int32), dimension(3), "),
    ("glsl", position, "size.x \\* at.y", "size.y * at.y"),
    ("glsl", position, "\\+ at.x;", "+ at.y;"),
    ("glsl", position, "\\+ at.x;", "+ at.z;"),
    ("glsl", position, "\\+ at.x;", "+ at;"),
    ("glsl", position, r"\(ivec2 size, ivec2 at\)", "(ivec2 at, ivec2 size)"),
    ("glsl", position, r"\(ivec2 size, ivec2 at\)", "(ivec2 size, ivec3 at)"),
    ("glsl", position, r"\(ivec2 size, ivec2 at\)", "(ivec2 size, uvec2 at)"),
    ("glsl", position, "0 <= at.x < size.x", "0 <= at.x < size.y"),
    ("glsl", unravel, r"ivec2\((n % .*), (n / .*)\)", r"ivec2(\2, \1)"),
    ("glsl", unravel, r"ivec2\((n % .*), (n / .*)\)", r"ivec2(\1)"),
    ("glsl", unravel, "return ivec2", "return ivec3"),
    ("glsl", unravel, "ivec2 unravel", "ivec3 unravel"),
    ("glsl", unravel, "ivec2 unravel", "uvec2 unravel"),
    ("glsl", rotated, r"3\]\(i\[1\]", "3](i[0]"),
    ("glsl", rotated, r"3\]\(i\[1\]", "3](i[3]"),
    ("glsl", rotated, r"3\]\(i\[1\]", "3](i"),
    ("glsl", rotated, r"int i\[3\]", "int i[4]"),
    ("glsl", rotated, r"int i\[3\]", "int i"),
    ("glsl", rotated, r"int\[3\] rotated", "int[4] rotated"),
    ("glsl", rotated, r"return int\[3\]", "return int[4]"),
    ("glsl", rotated, r"int\[3\] rotated", "uint[3] rotated"),
    ("glsl", mixed, "  int a;\n  int b;", "  int b;\n  int a;"),
    ("glsl", mixed, "words.y, i", "words.x, i"),
    ("glsl", mixed, "  int e;", "  int e;\n  int f;"),
    ("glsl", narrowed, "struct Wide", "struct Wider"),
    ("fortran", parted, r"result\[0\] <", "result[1] <"),
    ("glsl cpp", parted, r"result\[0\] < X\[1\]", "result[0] < X[0]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "function", "right", "wrong"),
    others_slow(
        [(language, *rest) for languages, *rest in FAULTS for language in languages.split()], "cpp"
    ),
)
@pytest.mark.quick(8)
def test_a_struct_that_is_wrong_is_refuted_or_refused(language, function, right, wrong):
    unit = generate(function, language, ranges=GROUPED[function])
    body = unit.source
    text = body.replace(right, wrong) if right in body else re.sub(right, wrong, body)
    assert text != body
    data = json.loads(unit.certificate().json)
    data["sha256"] = sha256(text.encode()).hexdigest()
    report = check(data, text, function)
    assert not report, text


def test_a_struct_in_another_function():
    """What is given has another struct, or none."""
    unit = generate(position, "cpp", ranges=GROUPED[position])

    def other(size: tuple[int, int], at: Coord) -> int:
        return at.y * size[0] + at.x

    def plain(size, at):
        return at.y * size.x + at.x

    def turned(size: Coord, at: Coord) -> int:
        return at.x * size.x + at.y

    for function, said in ((other, "is a struct in it"), (plain, "is a struct"), (turned, "hold")):
        report = checked(unit, function)
        assert not report and any(said in line.how for line in report.lines), str(report)


def test_a_member_that_is_fixed_is_not_read():
    unit = generate(position, "cpp", ranges=GROUPED[position], sizes={"size.y": 5})
    assert "Coord size" in unit.source and checked(unit, position)
    text = unit.source.replace("+ at.x;", "+ at.x + size.y - 5;")
    data = json.loads(unit.certificate().json)
    data["sha256"] = sha256(text.encode()).hexdigest()
    report = check(data, text, position)
    assert not report and "reads size.y, which is fixed" in str(report)


@pytest.mark.parametrize("says", ["", "Where i < j.", "The place where i < j", "i"])
def test_a_comment_in_glsl_may_have_no_sentence(says):
    def f(i, j):
        return 8 * i + j

    f.__doc__ = says
    assert checked(generate(f, "glsl", assume=["0 <= i < 8", "0 <= j < 8"]), f)
