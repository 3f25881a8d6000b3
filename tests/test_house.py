"""The house: every file says its business, none is too long, the page that draws it is right."""

import ast
import io
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from lego_emit.emit import registry
from lego_emit.ir.index_types import INDEX_TYPES

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    path
    for folder in ("lego_emit", "printers", "targets")
    for path in (ROOT / folder).rglob("*.py")
    if folder != "lego_emit" or path.parts[len(ROOT.parts) + 1] not in ("printers", "targets")
)
MOST_LINES = 670
MOST_PARAMETERS = 8
# What one generation of C++ loads: whoever raises a number says in the commit what the lines buy.
MOST_MODULES = 93
MOST_CODE = 13_965
MORE = (
    "more than one generation did so far. Import what few units need in the function that needs it, or "
    "put it into a module that is loaded with the first use; else raise the number in this file by no "
    "more than it must be, and say in the commit what the lines buy"
)


def nodes_in(text):
    """The tree of a module, and all that is in it."""
    return [*ast.walk(ast.parse(text))]


@cache
def nodes_of(path):
    return nodes_in(path.read_text(encoding="utf-8"))


def modules():
    for path in MODULES:
        yield path.relative_to(ROOT).as_posix(), nodes_of(path)


def test_every_file_says_its_business():
    silent = [name for name, nodes in modules() if not ast.get_docstring(nodes[0])]
    assert silent == []


def says_little(text):
    """Whether a docstring is too short to say anything, or names no more than an owner."""
    first = text.split("\n\n")[0].strip().rstrip(".")
    words = len(text.split())
    return words < 4 or (words < 12 and first.endswith(("'s", "s'")))


def test_every_docstring_says_something():
    assert says_little("The layout's.") and says_little("As the layout.")
    assert not says_little("The sizes of the layout.")
    riddles = [
        f"{name}:{node.lineno} {text}"
        for name, nodes in modules()
        for node in nodes
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        if (text := ast.get_docstring(node)) and says_little(text)
    ]
    assert riddles == []


def test_no_file_is_long():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path.name: n for path, n in lines.items() if n > MOST_LINES} == {}


NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text, nodes):
    """How many lines hold code: no docstring, no comment, no blank."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines |= {*range(token.start[0], token.end[0] + 1)}
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            lines -= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return len(lines)


@cache
def code_lines_of(path):
    return code_lines(path.read_text(encoding="utf-8"), nodes_of(path))


def by_package(paths):
    """Code lines by package, by name; a module beside the packages counts under lego_emit."""
    lines = Counter()
    for path in paths:
        package = path.parent.relative_to(ROOT).parts
        lines["/".join(package[:2])] += code_lines_of(path)
    return lines


def test_code_lines_leave_out_what_is_no_code():
    text = '"""Says."""\n\n# why\ndef f():\n    """A\n    value."""\n    return """a\nb"""  # yes\n'
    assert code_lines(text, nodes_in(text)) == 3


@cache
def loaded_modules():
    """What one generation of C++ loads."""
    code = (
        "import sys, lego_emit.pipeline\n"
        "from lego_emit import Col, GroupBy, generate\n"
        "str(generate(GroupBy([6, 4]).OrderBy(Col(6, 4)), target='cpp'))\n"
        "for name, module in [*sys.modules.items()]:\n"
        "    if name.partition('.')[0] == 'lego_emit':\n"
        "        print(module.__file__)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {Path(line).resolve() for line in done.stdout.splitlines()}


def test_one_generation_loads_no_more_code_than_it_did():
    loaded = loaded_modules()
    assert loaded <= {*MODULES}
    count = by_package(loaded).total()
    assert len(loaded) <= MOST_MODULES, f"{len(loaded)} modules are loaded, {MORE}"
    assert count <= MOST_CODE, f"{count:,} code lines are loaded, {MORE}"


@pytest.mark.slow
def test_code_lines_of_each_package(capsys):
    """Printed: in all, and of those that are loaded."""
    loaded = loaded_modules()
    every, some = by_package(MODULES), by_package(loaded)
    with capsys.disabled():
        print(f"\n{len(MODULES)} modules of {every.total():,} code lines, loaded {len(loaded)} of")
        print(
            f"{some.total():,}:", *(f"{p} {some[p]:,}/{n:,}" for p, n in every.items()), sep="\n  "
        )
    assert some.total() <= every.total()


@pytest.mark.slow
def test_no_function_has_many_parameters():
    """Options by keyword aside: of the command line's, click makes the call."""
    many = []
    for name, nodes in modules():
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and not name.startswith("lego_emit/cli"):
                given = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
                if len([a for a in given if a not in ("self", "cls")]) > MOST_PARAMETERS:
                    many.append(f"{name}: {node.name}")
    assert many == []


@pytest.mark.slow
def test_own_modules_are_imported_by_name():
    """A module that is named in a string is seen by no linter; plug-ins are, by their registry."""
    found = [
        f"{name}: {node.value}"
        for name, nodes in modules()
        for node in nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "__import__")
        for node in node.args
        if isinstance(node, ast.Constant) and str(node.value).startswith((".", "lego_emit"))
    ]
    assert found == []


@pytest.mark.parametrize("page", ["docs/how-it-works.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_names_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    names = set(re.findall(r"[\w./-]+\.(?:py|md)\b", text))
    assert len(names) > 3
    places = (ROOT, ROOT / "lego_emit", (ROOT / page).parent)
    assert [n for n in sorted(names) if not any((place / n).is_file() for place in places)] == [
        n for n in sorted(names) if n.startswith(("printers/NAME", "targets/NAME"))
    ]


# -- the core knows no language --------------------------------------------------------------------

CORE = "The core knows no language and no toolchain"
LANGUAGES = ("printers", "targets")
# Words of a language that mean something else here.
OTHERS = {"c", "index", "int", "np", "numpy"}
# What users get who name no language, and examples of a name.
DEFAULTS = {
    "lego_emit/cli/device.py": {"cpp"},  # on a CPU
    "lego_emit/cli/layouts.py": {"python"},
    "lego_emit/copies/unit.py": {"cpp"},
    "lego_emit/emit/registry.py": {"cuda"},
    "lego_emit/formats/__init__.py": {"triton"},  # a library's layouts
    "lego_emit/measure/calibrate.py": {"cuda"},
    "lego_emit/methods.py": {"mlir"},  # whose affine maps are
    "lego_emit/movement/source.py": {"cuda"},
    "lego_emit/project/config.py": {"cuda"},
}


def not_covered(modules, contracts):
    """The modules of the package that may import a language without a contract that is broken."""
    (core,) = (c for c in contracts if c["name"] == CORE)
    assert core["type"] == "forbidden" and "ignore_imports" not in core
    assert core["forbidden_modules"] == [f"lego_emit.{name}" for name in LANGUAGES]
    return sorted({f"lego_emit.{m}" for m in modules} - {*core["source_modules"]})


def languages_named(name, nodes, words):
    """The words of languages that are texts of a module, but for what it may name."""
    found = {n.value for n in nodes if isinstance(n, ast.Constant)} & words
    return found - DEFAULTS.get(name, set())


def words_of_languages():
    """Names of languages, and of index types that not all of them have."""
    printers = [registry.printer(target) for target in registry.own_targets()]
    words = {w for p in printers for w in (p.name, *p.aliases, *p.index_types, *p.index_names)}
    return words - INDEX_TYPES.keys() - OTHERS


def test_every_package_stands_in_the_contract():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    here = [p for p in (ROOT / "lego_emit").iterdir() if p.suffix == ".py" or any(p.glob("*.py"))]
    modules = {p.stem for p in here} - {"__init__", *LANGUAGES}
    assert len(modules) > 30 and not_covered(modules, contracts) == []
    assert not_covered({*modules, "planted"}, contracts) == ["lego_emit.planted"]


def test_the_core_names_no_language():
    """A checker of certificates reads languages by itself, and so knows them."""
    words = words_of_languages()
    assert {"cuda", "rust", "usize", "size_t", "int53", "integer"} <= words
    core = [
        (n, own) for n, own in modules() if n.startswith("lego_emit/") and "/proofcheck/" not in n
    ]
    named = {name: languages_named(name, nodes, words) for name, nodes in core}
    assert {name: found for name, found in named.items() if found} == {}
    planted = nodes_in('def wide(types):\n    return {"int64", "usize"} & {*types}\n')
    assert languages_named("lego_emit/lower/search.py", planted, words) == {"usize"}


PLANTED = {
    "movement/planted.py": "def f():\n    from ..printers.cuda import CudaPrinter\n",
    "kernels/planted.py": "from lego_emit.targets import rust\n",
    "recognition/planted.py": "from ..printers import c\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", [None, *PLANTED])
def test_the_linter_finds_what_is_planted(path, tmp_path):
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        pytest.skip("import-linter is not installed")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "lego_emit", tmp_path / "lego_emit", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    if path is not None:
        (tmp_path / "lego_emit" / path).write_text(f'"""Planted."""\n\n{PLANTED[path]}')
    run = subprocess.run([linter, "--no-cache"], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode == 0) == (path is None), run.stdout + run.stderr
    assert (f"{CORE} BROKEN" in run.stdout) == (path is not None)
