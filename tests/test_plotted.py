"""Pictures as TikZ, in Matplotlib, and drawn again while their file changes."""

import re
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from lego_emit import Col, ExpandBy, GroupBy, LegoError, Row, TileBy, hardware, symbols
from lego_emit.cli import main

TILES = TileBy([2, 2], [3, 4]).OrderBy(Row(6, 8))
NODE = re.compile(r"\\node\[fill=([\w!]+),draw=black\] at \(([\d.]+),([\d.]+)\) \{(.*)\};")


def test_tikz_has_a_node_for_each_cell():
    nodes = [(float(x), float(y), text) for _, x, y, text in NODE.findall(TILES.show().tikz())]
    assert [text for *_, text in nodes] == [str(k) for k in range(48)]
    assert [*map(int, {x for x, *_ in nodes})] and len({x for x, *_ in nodes}) == 6
    assert sorted(nodes) == nodes and len({y for _, y, _ in nodes}) == 8


def test_tikz_of_holders_masks_and_large_layouts():
    text = hardware.mma("c").show().tikz()
    assert len(NODE.findall(text)) == 128 and text.count("{") == text.count("}")
    edge = ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])).show()
    masked = [text for hue, _, _, text in NODE.findall(edge.tikz()) if hue == "black!4"]
    height, width = edge.pages[0].shape
    cells = [edge.pages[0].cell(r, c).position for r in range(height) for c in range(width)]
    assert masked == [""] * cells.count(-1) and masked
    assert len(NODE.findall(GroupBy([256, 256]).show().tikz())) < 64 * 64
    both = Row(2, 3).show(beside=Col(2, 3)).tikz()
    assert both.count(r"\begin{tikzpicture}") == 2 and both.count(r"\begin{document}") == 1


def test_a_picture_file_of_tikz(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert TILES.show().save("tiles.tex") and not TILES.show().save("tiles.tex")
    assert CliRunner().invoke(main, ["show", "-e", repr(TILES), "-o", "two.tex"]).exit_code == 0
    assert Path("two.tex").read_bytes() == Path("tiles.tex").read_bytes()


@pytest.mark.slow
def test_latex_takes_it(tmp_path):
    if (latex := shutil.which("pdflatex")) is None:
        pytest.skip("pdflatex is missing")
    hardware.mma("c").show(beside=TILES).save(tmp_path / "x.tex")
    subprocess.run([latex, "-halt-on-error", "x.tex"], cwd=tmp_path, check=True)


class Axes:
    """What a picture asks of Matplotlib's axes."""

    def __init__(self):
        self.texts, self.lines, self.colors = {}, [], None

    def imshow(self, colors):
        self.colors = colors

    def text(self, x, y, text, color, **_):
        assert color == "black"  # whatever the style is: the cells are light
        self.texts[y, x] = text

    def plot(self, xs, ys, **_):
        self.path = [*zip(ys, xs, strict=True)]

    def axhline(self, at, **_):
        self.lines.append(("h", at))

    def axvline(self, at, **_):
        self.lines.append(("v", at))

    def set_yticks(self, places, labels):
        self.rows = [*zip(places, labels, strict=True)]

    def set_xticks(self, places, labels):
        self.columns = [*zip(places, labels, strict=True)]

    def tick_params(self, **_):
        pass

    def set_xlabel(self, text):
        self.title = text


def test_axes_get_each_cell():
    axes = Axes()
    assert TILES.plot(axes) is axes and axes.title == repr(TILES)
    assert axes.texts == {(r, c): str(8 * r + c) for r in range(6) for c in range(8)}
    assert [len(row) for row in axes.colors] == [8] * 6 and len(axes.rows) == 6
    assert axes.colors[0][0] == axes.colors[2][3] != axes.colors[0][4]
    ordered = GroupBy([2, 3]).OrderBy(Col(2, 3)).plot(ax=Axes(), order=True)
    assert ordered.path == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    large = Axes()
    GroupBy([256, 256]).plot(large)
    assert not large.texts and len(large.columns) <= 65 and "…" in dict(large.columns).values()
    banks = Axes()
    GroupBy([4, 64]).plot(banks, color="bank")
    assert "bank" in banks.title


def test_without_matplotlib_it_is_the_picture(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert repr(TILES.plot()) == repr(TILES.show())
    assert TILES.plot()._repr_html_().startswith("<svg")
    with pytest.raises(
        LegoError, match=r"needs integer sizes; write numbers for M, N, or .* --size M=12"
    ):
        GroupBy([*symbols("M N")]).plot()


@pytest.mark.slow
def test_matplotlib_draws_it():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    axes = TILES.plot()
    axes.figure.canvas.draw()
    assert len(axes.texts) == 48 and len(TILES.plot(beside=Row(6, 8))) == 2


def test_watching_needs_a_file():
    result = CliRunner().invoke(main, ["show", "-e", "Row(2, 3)", "--watch"])
    assert result.exit_code == 2 and "--watch needs layouts of files" in result.stderr


@pytest.mark.slow
def test_show_draws_again_when_a_file_changes(tmp_path):
    (tmp_path / "sizes.py").write_text("rows = 2\n")
    layouts = tmp_path / "layouts.py"
    layouts.write_text("from sizes import rows\nfrom lego_emit import Row\nrow = Row(rows, 3)\n")
    code = "from lego_emit.cli import main; main()"
    command = [sys.executable, "-c", code, "show", "layouts.py:row", "--watch"]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background is deaf
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, preexec_fn=heard, **pipes) as watching:

        def told():
            lines = []
            while "watching 2 files" not in (line := watching.stdout.readline()):
                assert line, lines
                lines.append(line)
            return "".join(lines)

        guard = threading.Timer(300, watching.kill)
        guard.start()
        try:
            assert told().startswith("Row(2, 3)")
            (tmp_path / "sizes.py").write_text("rows = 4\n")
            assert told().startswith("Row(4, 3)")
            layouts.write_text("x = (\n")
            assert "layouts.py, line 1: SyntaxError" in told()
            watching.send_signal(signal.SIGINT)
            watching.stdout.read()
            assert watching.wait() == 0
        finally:
            guard.cancel()
            watching.kill()
