"""What a notebook shows, and the notebook of the docs."""

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lego_emit import Col, GroupBy, RegP, Row, TileBy, generate, symbols
from lego_emit.html import code, table
from lego_emit.measure.timing import IndexCost, Quartiles, Timing

M, N = symbols("M N")
TARGETS = [
    "c", "cpp", "cuda", "fortran", "glsl", "javascript", "julia", "mlir", "numpy", "opencl", "python",
    "rust", "triton", "wgsl",
]  # fmt: skip


class Reader(HTMLParser):
    """Checks that tags are closed and that nothing is loaded; keeps the text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        for name, value in attributes:
            assert name not in ("src", "href", "srcset") and not name.startswith("on")
            assert "url(" not in (value or "") and ("//" not in (value or "") or name == "xmlns")

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.quick(3)
def test_a_unit_shows_its_whole_code(target):
    def less(i, j):
        return GroupBy([4, 6])[i, j] * 2

    for subject in (GroupBy([M, N]), less):
        unit = generate(subject, target)
        shown = Reader(unit._repr_html_()).text
        for line in unit.source.splitlines():
            assert line in shown
        header, rest = shown.partition("header")[::2]
        assert f"{unit.functions[0].op_count} operation" in header
        assert "DO NOT EDIT" in rest and len(repr(unit)) < 120 and "\n" not in repr(unit)
        assert repr(unit).startswith(f"<{unit.program.name} in ")


def test_code_is_plain_without_pygments(monkeypatch):
    colored = code("int a = 1; // <b>\n", "a.c")
    assert "color" in colored and "&lt;b&gt;" in colored
    assert "color" not in code("a < b\n", "a.none-such")
    monkeypatch.setitem(sys.modules, "pygments", None)
    assert Reader(code("int a = 1; // <b>\n", "a.c")).text == "int a = 1; // <b>\n\n"


def test_words_of_a_user_are_escaped():
    def f(i):
        """<script>alert(1)</script>"""
        return GroupBy([4])[i]

    assert "<script" not in generate(f, "cuda")._repr_html_()
    assert "<script" not in table(["<script>"], [["<script>"]])


def test_an_explanation_is_a_text_in_parts():
    found = generate(TileBy([2, 2], [3, 3]).OrderBy(Row(6, 6)), "c").explain()
    assert repr(found) == "<explanation of layout_apply(i, j, k, l), layout_inv(flat)>"
    assert isinstance(found, str) and "\n".join(found.parts) == found
    shown = Reader(found._repr_html_()).text
    assert "".join(shown.split()) == "".join(found.split())


def test_verifications():
    good = generate(GroupBy([4, 6]).OrderBy(Col(4, 6)), "python").verify()
    assert re.fullmatch(r"<verification of layout \(python\) on .*: \d checks, ok>", repr(good)), (
        repr(good)
    )
    shown = Reader(good._repr_html_()).text
    assert all(check.what in shown and check.found in shown for check in good.checks)
    bad = generate(GroupBy([4, 6]), "python").verify(reference=GroupBy([4, 6]).OrderBy(Col(4, 6)))
    assert bad.counterexample in repr(bad) and "WRONG" in bad._repr_html_()


def test_timings():
    costs = (IndexCost("apply", "ours", Quartiles(2.5, 2, 3)),)
    found = Timing("brick", "cpp", "cpu", "the CPU", 8, 2, costs, notes=("a < b",))
    assert repr(found) == "<timing of brick (cpp) on the CPU: apply 2.500 ns>"
    shown = Reader(found._repr_html_()).text
    assert "2.000 ns .. 3.000 ns" in shown and "a < b" in shown


def test_pictures_close_their_tags():
    layout = GroupBy([4, 4]).OrderBy(RegP([2, 2, 2, 2], [0, 2, 1, 3]))
    Reader(layout._repr_html_())
    Reader(layout.show(order=True, animate=True, beside=layout)._repr_html_())


# -- the notebook of the docs --------------------------------------------------------------------

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
HOW = "LEGO_UPDATE_DOCS=1 pytest tests/test_notebook.py writes it"


@pytest.mark.slow
def test_the_notebook_gives_what_it_shows(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    made = nbformat.read(NOTEBOOK, 4)
    client.NotebookClient(
        made,
        record_timing=False,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    made.metadata.pop("language_info", None)
    text = nbformat.writes(made) + "\n"
    if os.environ.get("LEGO_UPDATE_DOCS"):
        NOTEBOOK.write_text(text, encoding="utf-8")
    assert steady(NOTEBOOK.read_text(encoding="utf-8")) == steady(text), HOW


def steady(text):
    """The text without what differs from run to run, and from Python to Python."""
    return re.sub(r"\d+\.\d\d s\b|CPython [\d.]+", "..", text)
