"""docs/how-it-works.md answers where things are: each path of its table is looked up in the code."""

import doctest
import importlib
import inspect
import io
import re
from pathlib import Path

import pytest

import lego_emit
from lego_emit import LegoError, generate
from lego_emit.arith.analyzer import Analyzer
from lego_emit.check.verify import Verification
from lego_emit.emit.registry import printer
from lego_emit.ir.cost import Cost
from lego_emit.ir.nodes import var
from lego_emit.ir.relations import says
from lego_emit.lower import forms
from lego_emit.operations import OPS
from lego_emit.run.registry import toolchain

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")


def defines(*names):
    """Whether a module defines these itself."""
    return lambda m: all(getattr(m, name).__module__ == m.__name__ for name in names)


def all_its_own(functions, module):
    return len(functions) > 5 and {f.__module__ for f in functions} == {module.__name__}


def raises_in(module, **options):
    """Whether a wrong option of generate() is refused in a module."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(LegoError) as error:
        patch.setenv("LEGO_EMIT_TRACEBACK", "full")
        generate(lambda i: i, "cpp", **options)
    return Path(str(error.traceback[-1].path)) == Path(module.__file__)


def names_its_parameters(function):
    known = {*inspect.signature(function).parameters} - {"fn_or_layout"}
    return known <= {*re.findall(r"^\s*(\w+):", function.__doc__, re.M)}


def spells(name, operation):
    """Whether a module has a printer, and the text that it puts for an operation."""

    def check(m):
        text = printer(name).ops[operation].text
        return type(printer(name)).__module__ == m.__name__ and text in inspect.getsource(m)

    return check


QUESTIONS = {
    "a rule of division": lambda m: all_its_own(m.RULES, m),
    "an operation: operands, value, bounds, price": lambda m: (
        defines("Operation")(m) and m.OPS is OPS and {"takes", "value", "bounds", "price"}
        <= {*m.Operation.__slots__}
    ),
    "a rule that is no division: min, max, choices, bits": lambda m: (
        defines("Simplifier")(m) and {"min", "max", "select", "and"} <= {*m.MAKE}
    ),
    "how a range is read, and what no symbol's bounds say of it": defines(
        "parse_ranges", "beside_ranges"
    ),
    "the laws and proofs of a certificate's steps": lambda m: (
        defines("Step", "reasons")(m) and len(m.NO_DIVISION) == len(m.RULES)
    ),
    "the rule for an operation's bounds": lambda m: OPS["add"].bounds.__module__ == m.__name__,
    "the node type of programs": lambda m: type(var("i")).__module__ == m.__name__,
    "the spelling of a language, here Rust": spells("rust", "not"),
    "PTX and SPIR-V of MLIR": defines("ptx", "spirv"),
    "a toolchain, here Rust's": lambda m: type(toolchain("rust")).__module__ == m.__name__,
    "an option of generate()": lambda m: (
        generate.__module__ == m.__name__ and names_its_parameters(generate)
    ),
    "how an option is checked": lambda m: (
        raises_in(m, effort=0) and raises_in(m, base=2) and raises_in(m, strict="no")
    ),
    "a candidate generator": lambda m: all_its_own(m.GENERATORS, m),
    "a way to spell digits": defines("Style"),
    "a proof that something is not negative": lambda m: (
        type(Analyzer().prover).__module__ == m.__name__ and callable(Analyzer().prover.nonneg)
    ),
    "Z3": lambda m: defines("prove_nonneg")(m) and hasattr(m, "STEPS"),
    "what is known of a symbol": lambda m: type(Analyzer().facts).__module__ == m.__name__,
    "how an assumption is read": lambda m: (
        defines("parse")(m) and str(m.parse("M % 8 == 0")[0]) == "M % 8 == 0"
    ),
    "what an application of a layout teaches": defines("learn_application", "learn_layout"),
    "a layout over symbols": defines("Symbols", "apply", "inv"),
    "a layout on integers, the reference": defines("apply", "inv", "table"),
    "a block such as RegP": lambda m: lego_emit.RegP.__module__ == m.__name__,
    "a block of a user's functions, GenP": lambda m: lego_emit.GenP.__module__ == m.__name__,
    "a masked block such as ExpandBy": lambda m: lego_emit.ExpandBy.__module__ == m.__name__,
    "fields of words, Packed": lambda m: lego_emit.Packed.__module__ == m.__name__,
    "what reads and writes fields": defines("programs", "check", "Fields"),
    "a loop, fori_loop": lambda m: lego_emit.fori_loop.__module__ == m.__name__,
    "how a loop is spelled": defines("LoopForms", "lines"),
    "blocks of different lengths, Ragged": lambda m: lego_emit.Ragged.__module__ == m.__name__,
    "strided memory of any rank, AnyRank": lambda m: lego_emit.AnyRank.__module__ == m.__name__,
    "what a function does at single numbers of a parameter": defines("CaseForms", "lines"),
    "a function as an affine map": defines("AffineMap"),
    "pdep and pext where bits move": defines("Move", "moves"),
    "the steps of a walk": defines("Step", "steps_along"),
    "how a walk is spelled": defines("WalkForms", "walk_lines"),
    "what each axis gives by itself, split=": defines("with_parts"),
    "a choice of layouts by a tag": lambda m: lego_emit.Choice.__module__ == m.__name__,
    "a choice over symbols": lambda m: defines("chosen")(m) and hasattr(m, "Switch"),
    "how a switch is spelled": defines("SwitchForms", "lines"),
    "how an array is copied between layouts": defines("Plan", "plan_of"),
    "the statements of a copy": defines("Loop", "Apply", "Let"),
    "what the statements of a copy do": defines("Way", "runner", "Negative"),
    "how a copy is spelled": defines("NestForms", "NestLines"),
    "SymPy in": defines("from_sympy"),
    "SymPy out": defines("formulas_of"),
    "the choice of the index type": defines("choose_type"),
    "a header's conditions": defines("assumptions", "promised"),
    "what a model of prices is": lambda m: Cost.__module__ == m.__name__,
    "the common index types": lambda m: defines("IndexType")(m) and len(m.INDEX_TYPES) == 4,
    "the check of every emission": defines("check_emission"),
    "the verification of a unit": lambda m: Verification.__module__ == m.__name__,
    "an error class": lambda m: LegoError.__module__ == m.__name__,
}  # fmt: skip


def answers(page):
    """The path that a page gives for each question."""
    table = page.split("| you look for | it is in |\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^\| (.+) \| `(.+)` \|$", table, re.M))


# What knows isqrt for its own sake: as a method, as a function of a nest or a language, as a search's limit.
ISQRT_ALONE = {
    "arith/context.py", "check/minimal.py", "measure/nest.py", "proofcheck/stated.py",
    "proofcheck/languages/javascript.py", "proofcheck/languages/julia.py",
}  # fmt: skip


def test_what_an_operation_touches():
    """The files of the checklist are those of the package that know isqrt."""
    table = PAGE.split("| file | gets |\n")[1].split("\n\n")[0]
    listed = {*re.findall(r"^\| `(.+?)` \|", table, re.M)}
    for path in listed:
        folder = ROOT if path.startswith("printers/") else ROOT / "lego_emit"
        text = (folder / path).read_text(encoding="utf-8")
        assert re.search("isqrt|Isqrt|[^a-z]root[^a-z]", text), path
    known = {
        path.relative_to(ROOT / "lego_emit").as_posix()
        for folder in ("arith", "lower", "check", "measure", "ir", "emit", "proofcheck")
        for path in (ROOT / "lego_emit" / folder).rglob("*.py")
        if re.search(r'"isqrt"|Isqrt|\bisqrt\(', path.read_text(encoding="utf-8"))
    }
    assert known - listed == ISQRT_ALONE


def holds(question, path):
    """Whether a file is there and has the answer to a question."""
    place = Path(path) if path.startswith(("printers/", "targets/")) else Path("lego_emit") / path
    if not (ROOT / place).is_file():
        return False
    name = ".".join(place.with_suffix("").parts).removeprefix("lego_emit.")
    try:
        return bool(QUESTIONS[question](importlib.import_module(f"lego_emit.{name}")))
    except AttributeError:
        return False


def test_the_page_answers_every_question():
    assert {*answers(PAGE)} == {*QUESTIONS}
    assert [q for q, path in answers(PAGE).items() if not holds(q, path)] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_other_file_is_the_answer(question):
    """So that a page with the wrong file, or a thing that has moved, is found."""
    right = answers(PAGE)[question]
    others = {*answers(PAGE).values()} - {right}
    assert [path for path in sorted(others) if holds(question, path)] == []
    assert not holds(question, right.replace(".py", "_moved.py"))


def test_every_folder_and_file_of_the_package_is_on_the_page():
    here = [p for p in (ROOT / "lego_emit").iterdir() if not p.name.startswith("__")]
    names = {p.name for p in here if p.suffix == ".py"}
    names |= {f"{p.name}/" for p in here if p.is_dir()}
    assert len(names) > 30
    assert [n for n in sorted(names) if not re.search(rf"(?<![\w/]){re.escape(n)}", PAGE)] == []


def test_the_glossary_has_each_word_once():
    table = PAGE.split("| word | means |\n")[1].split("\n\n")[0]
    words = re.findall(r"^\| ([\w ,-]+) \| ", table, re.M)
    assert len(words) > 30 and len({*words}) == len(words)
    assert {"tile", "digit", "normal form", "analyzer", "candidate", "target", "toolchain"} <= {
        *words
    }


def with_examples():
    paths = sorted((ROOT / "lego_emit").rglob("*.py"))
    texts = ((path, path.read_text(encoding="utf-8")) for path in paths)
    return [path for path, text in texts if ">>> " in text.split('"""')[1]]  # its docstring


@pytest.mark.parametrize("path", with_examples(), ids=lambda path: path.stem)
def test_the_examples_of_an_essay_hold(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    module = importlib.import_module(name)
    (essay,) = doctest.DocTestFinder(recurse=False).find(module, name)
    printed = io.StringIO()
    done = doctest.DocTestRunner().run(essay, out=printed.write)
    assert done.attempted and not done.failed, printed.getvalue()


def test_the_table_of_forms_is_what_is_tried():
    unit = generate(lambda j: 64 * (j // 8) + j % 8, "cpp", name="f", ranges={"j": (0, 100)})
    tried = {}
    for attempt in unit.lowered.functions[0].record.forms:
        tried[says(attempt.candidate.roots[0])] = attempt.operations
    rows = re.findall(r"^    [\w ]+? {2,}(\S.*?\S) {3,}(\d)", forms.__doc__, re.M)
    assert len(rows) == 4 and {text: int(count) for text, count in rows}.items() <= tried.items()


def test_the_paths_of_an_essay_are_joined_so():
    def f(i):
        if i < 8:
            return i % 8
        return i % 8 + 1

    unit = generate(f, "python", ranges={"i": (0, None)})
    result = unit.sympy["f"].expressions["result"]
    assert str(result) == "Select(LessEqual(i, 7), i, IntAdd(FloorMod(i, 8), 1))"
