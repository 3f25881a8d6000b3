"""docs/: every code block is run or compared, every picture made anew, and the site built.

A page's blocks run in order in a folder of its own, its Python blocks in one namespace; in the cookbook
each section begins with an empty one. What is done with a block stands in a comment before it:

    ```python, ```sh      without a comment: run
    <!-- raises -->       a Python block that raises; the error is its output
    <!-- needs: g++ -->   is left out where the program, or the module of Python, is missing
    <!-- file: NAME -->   written into the page's folder
    <!-- output -->       what the block before printed; "..." stands for anything
    <!-- in: NAME -->     lines of a file that a block before has written
    <!-- from: PATH -->   lines of a file of this repository
    <!-- picture: EXPR --> before an image: that layout's or sheet's; "picture with order" draws
                          arrows
    <!-- chart: NAME -->  before an image: the chart of benchmarks/gpu/timed_tables.py
    <!-- table: NAME -->  before a table: that one, of the same file
    <!-- tabs: ARGUMENTS --> before a group of tabs: the first function that generate(ARGUMENTS) gives, in
                          each language, and the layout in CuTe's notation

`LEGO_UPDATE_DOCS=1 pytest tests/test_docs.py` rewrites outputs, pictures and quoted lines (a quote
from its first to its last line).
"""

import ast
import contextlib
import difflib
import html
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import pytest

import lego_emit
from lego_emit import cute, generate
from lego_emit.algebra.block import Block
from lego_emit.emit.registry import printer
from lego_emit.errors import LegoError
from lego_emit.show.cells import Sheet
from lego_emit.show.pictures import Picture, svg
from lego_emit.show.sheet import sheet

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NAMES = [str(path.relative_to(DOCS)) for path in PAGES]
TABS = ("cuda", "cpp", "rust", "fortran", "julia", "javascript", "glsl")
UPDATE = os.environ.get("LEGO_UPDATE_DOCS", "") not in ("", "0")
OPTIONAL = {"nvcc"}  # CI goes on without: ci/setup does not install it
HOW = "LEGO_UPDATE_DOCS=1 pytest tests/test_docs.py writes it anew"
SEARCHED = {
    "transpose": "transpose.html",
    "changelog": "changelog.html",
    "padding:": "which-block.html#padding-three-masks",
    "walking": "walking.html",
    "swizzle": "cookbook.html#xor-swizzle",
}  # words that people type, each in the title of a section

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n+)?"
    r"(?:^```(?P<language>\S*)\n(?P<body>.*?)^```$|^!\[[^\]\n]*\]\((?P<image>[^)\n]+\.svg)\)"
    r"|(?P<tabs>^=== [^\n]*\n(?:\n|(?:    |=== )[^\n]*\n)*))",
    re.M | re.S,
)
MARKS = (
    "raises",
    "needs",
    "file",
    "output",
    "in",
    "from",
    "picture",
    "picture with order",
    "chart",
    "tabs",
)


def present(tool):
    """Whether a program is on PATH, or a module of Python installed."""
    return shutil.which(tool) or importlib.util.find_spec(tool)


class Page:
    """A page, and the folder and namespace that its blocks run in."""

    def __init__(self, path, folder, tools):
        self.path, self.folder = path, folder
        self.text = path.read_text()
        self.namespace = {"__name__": "docs"}
        self.printed = ""
        self.missing = []
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        kept = {k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("PYTEST_")}
        self.environment = {**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self):
        """Run all blocks; the page's text as it should be."""
        pieces, at = [], 0
        for block in BLOCK.finditer(self.text):
            mark, _, what = (block["mark"] or "").partition(": ")
            line = self.text.count("\n", 0, block.start()) + 1
            self.place = f"{self.path.relative_to(ROOT)}, line {line}"
            assert not mark or mark in MARKS, f"{self.place}: no mark {mark!r}"
            if self.path.name == "cookbook.md" and "\n## " in self.text[at : block.start()]:
                self.namespace = {"__name__": "docs"}
            if block["tabs"]:
                assert mark == "tabs", f"{self.place}: what are these tabs?"
                pieces += [self.text[at : block.start("tabs")], self.tabs(what)]
                at = block.end("tabs")
                continue
            if block["image"] is not None:
                self.image(mark, what, block["image"])
                continue
            body = self.block(mark, what, block["language"], block["body"])
            pieces += [self.text[at : block.start("body")], body]
            at = block.end("body")
        return "".join([*pieces, self.text[at:]])

    def block(self, mark, what, language, body):
        """Do what is to be done with a block; its body as it should be."""
        if mark == "file":
            path = self.folder / what
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body)
        elif mark == "output":
            if self.printed is not None and not alike(body, self.printed):
                return self.printed
        elif mark in ("in", "from"):
            return quoted(body, (self.folder if mark == "in" else ROOT) / what)
        elif mark == "needs" and (gone := [p for p in what.split(", ") if not present(p)]):
            self.missing += gone
            self.printed = None
        elif language == "python":
            self.python(body, mark == "raises")
        elif language == "sh":
            self.shell(body)
        else:
            pytest.fail(f"{self.place}: nothing says what this {language or 'nameless'} block is")
        return body

    def python(self, code, raises):
        line = int(self.place.rpartition(" ")[2]) + 1 + raises
        code = compile("\n" * line + code, self.path, "exec", dont_inherit=True)
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(code, self.namespace)
        except Exception as error:
            if not raises:
                raise
            out.write(f"{type(error).__name__}: {error}\n")
        else:
            assert not raises, f"{self.place}: raises nothing"
        self.printed = trimmed(out.getvalue())

    def shell(self, commands):
        done = subprocess.run(
            ["sh", "-e", "-c", commands], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{self.place}:\n{done.stdout}"
        self.printed = trimmed(done.stdout)

    def tabs(self, arguments):
        """The group of tabs for what generate(arguments) gives."""
        name = arguments.partition(",")[0]
        subject, text = self.namespace[name], ""
        for target in TABS:
            call = f"generate({arguments}, target={target!r}, name={name!r})"
            unit = eval(call, {**self.namespace, "generate": generate})
            text += tab(printer(target).title, target, function(unit))
        with contextlib.suppress(LegoError):
            if isinstance(subject, Block):
                text += tab("CuTe", "text", f"{cute.to_cute(subject)}\n")
        return text

    def image(self, mark, what, target):
        if mark == "chart":
            return same(
                self.path.parent / target, timed_tables().CHARTS[what](timed_tables().Times())
            )
        assert mark.startswith("picture"), f"{self.place}: which layout is {target}?"
        drawn = eval(what, self.namespace)
        if isinstance(drawn, Picture):
            return same(self.path.parent / target, drawn.svg())
        page = drawn if isinstance(drawn, Sheet) else sheet(drawn)
        made = svg(page, order=mark.endswith("order"))
        same(self.path.parent / target, made)


@cache
def timed_tables():
    """The module of that name."""
    folder = ROOT / "benchmarks" / "gpu"
    before = [*sys.path]
    sys.path[:0] = [str(folder)]
    try:
        return importlib.import_module("timed_tables")
    finally:
        sys.path[:] = before


def function(unit):
    """A unit's first function, without its comment."""
    name = unit.program.functions[0].name
    begin = re.search(rf"^ {{0,2}}[^\s/*#!].*\b{name}\(", unit.source, re.M).start()
    return textwrap.dedent(unit.source[begin:].partition("\n\n")[0]).rstrip() + "\n"


def tab(title, language, text):
    return f'=== "{title}"\n\n' + textwrap.indent(f"```{language}\n{text}```\n\n", "    ")


def trimmed(text):
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def alike(expected, printed):
    pattern = ".*?".join(map(re.escape, trimmed(expected).split("...")))
    return re.fullmatch(pattern, printed, re.S) is not None


def quoted(body, path):
    """The lines of the file from the body's first to its last."""
    text = path.read_text()
    if body in text:
        return body
    lines, first, last = text.splitlines(), body.splitlines()[0], body.splitlines()[-1]
    assert first in lines, f"{path.name} has no line {first!r}:\n{text}"
    rest = lines[lines.index(first) :]
    assert last in rest, f"{path.name} has no line {last!r} after {first!r}:\n{text}"
    return "\n".join(rest[: rest.index(last) + 1]) + "\n"


def same(path, made):
    """A file of docs/ is what is made now; written where that is asked for."""
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(made)
    found = path.read_text() if path.exists() else ""
    if found != made:
        lines = difflib.unified_diff(
            found.splitlines(), made.splitlines(), str(path.relative_to(ROOT)), "now", lineterm=""
        )
        pytest.fail("\n".join([*list(lines)[:60], HOW]), pytrace=False)


@pytest.fixture
def page(tmp_path, monkeypatch, lego_emit_command):
    """page("tutorial.md"): that page, in a folder of its own, with lego-emit on its PATH."""
    folder, tools = tmp_path / "page", tmp_path / "bin"
    folder.mkdir()
    tools.mkdir()
    command = tools / "lego-emit"
    command.write_text(lego_emit_command)
    command.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield lambda name: Page(DOCS / name, folder, tools)
    for name in set(sys.modules) - before:  # a page's own layouts.py
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_block_of_a_page_holds(name, page):
    found = page(name)
    same(found.path, found.run())
    if found.missing:
        reason = f"all but what needs {', '.join(dict.fromkeys(found.missing))}"
        if os.environ.get("CI") and not OPTIONAL.issuperset(found.missing):
            pytest.fail(reason)
        pytest.skip(reason)


def test_the_tables_of_timed_kernels_are_those_of_the_results():
    path = DOCS / "kernels-timed.md"
    made = timed_tables().filled(path.read_text(), timed_tables().Times())
    assert {*re.findall("<!-- table: (.*?) -->", made)} == timed_tables().TABLES.keys()
    same(path, made)


def test_the_links_and_the_picture_of_the_readme_lead_to_files():
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert any(link.endswith(".svg") for link in links)


def test_no_picture_is_left_over():
    shown = set()
    for path in PAGES:
        shown |= {
            path.parent / block["image"]
            for block in BLOCK.finditer(path.read_text())
            if block["image"]
        }
    assert shown == set(DOCS.rglob("*.svg"))


def test_every_error_class_has_its_section():
    from lego_emit import errors

    text = (DOCS / "errors.md").read_text()
    found = (k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception))
    kinds = [k for k in found if k.__module__ == errors.__name__]
    assert re.findall(r"^## (\w+)$", text, re.M) == [k.__name__ for k in kinds]


def test_every_code_has_its_paragraph():
    from lego_emit import errors

    kinds = [k for k in vars(errors).values() if isinstance(k, type) and "code" in vars(k)]
    codes = {k.code: k for k in kinds}
    assert len(codes) == len(kinds) and all(re.fullmatch(r"LE\d{4}", code) for code in codes)
    rows = ["| code | error | what it says |", "| --- | --- | --- |"]
    for code, kind in sorted(codes.items()):
        says = " ".join(kind.__doc__.partition("\n\n")[0].split())
        rows.append(f"| {code} | [{kind.__name__}](#{kind.__name__.lower()}) | {says} |")
    page = DOCS / "errors.md"
    text = page.read_text()
    start, end = "<!-- codes -->\n", "<!-- end of codes -->"
    before, rest = text.split(start)
    wanted = before + start + "\n" + "\n".join(rows) + "\n\n" + end + rest.partition(end)[2]
    if UPDATE:
        page.write_text(wanted)
    assert page.read_text() == wanted, HOW


def test_every_language_has_its_page():
    from conftest import TARGETS

    pages = "".join(path.read_text() for path in (DOCS / "languages").iterdir())
    assert [t for t in TARGETS if f'"{t}"' not in pages and f"-t {t}" not in pages] == []


LANGUAGES = """# Languages

What each target has, and what runs its emitted functions here: all golden cases, every index, against a
table of the layout that an independent evaluator made. `lego-emit targets` says what this machine has.
What a host runs has [`NAME_fits`](../tutorial.md#4-emit-it) for preconditions on sizes; OpenCL, Metal, GLSL,
WGSL, MLIR and Triton do not have it.

| target | file | index types | templates | views | run by |
| --- | --- | --- | --- | --- | --- |
"""


def languages():
    """docs/languages/index.md, of what the plug-ins say of themselves."""
    from conftest import TARGETS

    from lego_emit.emit import registry
    from lego_emit.run.registry import toolchain

    text = LANGUAGES
    for name in TARGETS:
        printer = registry.printer(name)
        said = " ".join((type(toolchain(name)).__doc__ or "").split("\n\n")[0].split())
        flags = ("yes" if flag else "" for flag in (has_templates(printer), printer.has_views))
        cells = (f"{printer.title}, `{name}`", f"`{printer.extension}`", ", ".join(printer.types))
        text += f"| {' | '.join((*cells, *flags, said))} |\n"
    return text


def test_the_page_of_languages():
    page = DOCS / "languages" / "index.md"
    if os.environ.get("LEGO_UPDATE_DOCS"):
        page.write_text(languages())
    assert page.read_text() == languages(), "LEGO_UPDATE_DOCS=1 pytest tests/test_docs.py writes it"


def has_templates(printer):
    return printer.declaration or printer.kernel_lines


FEATURES = (
    ("a type that holds an array and is indexed as the layout", "`--view`",
     "[Views](../kernels.md#views)", lambda p: p.has_views),
    ("your structs, arrays and types as parameters and results", "annotations",
     "[Signatures](../signatures.md)", lambda p: p.has_structs or p.receiver),
    ("the sizes in an object, the functions as its methods", "`--methods true`",
     "[Methods](../signatures.md#methods-sizes-given-once)", lambda p: p.receiver),
    ("sizes that the compiler knows", "`Static[int]`",
     "[Static sizes](../signatures.md#static-sizes)", lambda p: p.static),
    ("divisions by sizes of a launch as multiplications", "`--prepare '*'`",
     "[Launch constants](../launch_constants.md)", lambda p: p.dividing is not None),
    ("positions one after the other, without a division", "`--walk logical`",
     "[Walking](../walking.md)", lambda p: p.walks),
    ("a whole array in another layout", "`lego-emit copy A B`",
     "[Copies](../copies.md)", lambda p: getattr(p, "copies", "")),
    ("fields of a few bits in words", "`Packed(layout, bits)`",
     "[Packed words](../launch_constants.md#packed-words)", lambda p: p.has_packed),
    ("expressions in a kernel of your own", "`lego-emit render`",
     "[Kernels from templates](../kernels.md)", has_templates),
)  # fmt: skip


def features(targets):
    """The table of what the languages of a page have beside index functions."""
    from lego_emit.emit import registry

    printers = [registry.printer(name) for name in targets]
    rows = ["| you want | write | page |", "| --- | --- | --- |"]
    for what, written, page, has in FEATURES:
        having = [p.title for p in printers if has(p)]
        alone = f" ({', '.join(having)} alone)" if len(having) < len(printers) else ""
        rows += [f"| {what}{alone} | {written} | {page} |"] if having else []
    return "\n".join(rows)


def test_the_pages_of_languages_list_what_each_has():
    listed = set()
    for page in sorted((DOCS / "languages").iterdir()):
        text = page.read_text()
        found = re.search("<!-- has: (.*?) -->\n\n(.*?)\n\n<!-- end of has -->", text, re.S)
        if found is None:
            assert page.name == "index.md", f"{page.name} does not say what the language has"
            continue
        names = found[1].split(", ")
        listed |= {*names}
        same(page, text[: found.start(2)] + features(names) + text[found.end(2) :])
    from conftest import TARGETS

    assert listed == {*TARGETS}


def test_every_build_system_has_its_section():
    text = (DOCS / "build-systems.md").read_text()
    for folder in sorted((ROOT / "examples" / "embed").iterdir()):
        assert f"examples/embed/{folder.name}`" in text


def test_every_public_name_has_its_page():
    code = (DOCS / "hooks.py").read_text()
    (pages,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "API"
    )
    listed = " ".join(pages.values()).split()
    assert len(listed) == len({*listed})
    assert {*listed} == {name for name in dir(lego_emit) if name not in ("__version__", "errors")}
    linked = re.findall(r"\(api/(\w+)\.md\)", (DOCS / "api.md").read_text())
    assert sorted(linked) == sorted(listed)


@pytest.mark.deep
@pytest.mark.xdist_group("playground")
def test_the_site_is_built(built_site):
    site = built_site.folder
    for name in NAMES:
        assert (site / name).with_suffix(".html").exists()
    for name in (*lego_emit.__all__, "copy", "pack", "unpack"):
        page = (site / "api" / f"{name}.html").read_text()
        assert page.count('class="gp">&gt;&gt;&gt;') > 0, f"the page of {name} shows no example"
        code = html.unescape(
            re.sub("<.*?>", "", "\n".join(re.findall("<code>.*?</code>", page, re.S)))
        )
        wide = [line for line in code.splitlines() if len(line) > 100]
        assert not wide, f"the page of {name}: {wide[0]}"
    for page in [*site.glob("api*.html"), *(site / "api").iterdir()]:
        emphasis = re.findall("<(?:em|strong)>.*?</", page.read_text().partition("<article")[2])
        assert not emphasis, f"{page.name}: a power or a name is emphasis: {emphasis[0]}"
    listed = json.loads((site / "search/search_index.json").read_text())["docs"]
    for word, place in SEARCHED.items():
        titles = [d["location"] for d in listed if word in d["title"].lower().split()]
        assert place in titles, f"a search for {word!r} does not find {place}"
