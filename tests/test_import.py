"""`import lego_emit` is light: nothing heavy and no plug-in is loaded by it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "z3", "cffi", "pycuda", "sympy", "numpy", "jinja2", "click", "moderngl", "wgpu", "hypothesis",
    "subprocess", "setuptools",
)  # fmt: skip


def loaded_by(statement):
    """The modules that importing adds, by `python -X importtime`."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", statement],
        capture_output=True,
        text=True,
        check=True,
    )
    names = re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s*(\S+)$", done.stderr, re.MULTILINE)
    assert "lego_emit" in names
    return set(names) - before()


def before():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "pass"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(re.findall(r"\|\s*(\S+)$", done.stderr, re.MULTILINE))


@pytest.mark.parametrize(
    "statement",
    [
        "import lego_emit",
        "from lego_emit import Col, ExpandBy, GenP, GroupBy, LegoError, OrderBy, RegP, Row, TileBy",
        "import lego_emit; lego_emit.OrderBy(lego_emit.Row(4, 6)).TileBy([2, 3], [2, 2])",
    ],
)
def test_importing_loads_nothing_heavy(statement):
    names = loaded_by(statement)
    tops = {n.split(".")[0] for n in names}
    assert not tops & set(HEAVY), sorted(tops & set(HEAVY))
    plugins = {n for n in names if n.startswith(("lego_emit.printers", "lego_emit.targets"))}
    assert not plugins


def test_generating_needs_neither_z3_nor_a_toolchain():
    names = loaded_by(
        "from lego_emit import GroupBy, generate; generate(GroupBy([4, 6]), 'rust').source"
    )
    tops = {n.split(".")[0] for n in names}
    assert not tops & {"z3", "cffi", "pycuda", "sympy", "numpy", "click", "moderngl"}
    assert not {n for n in names if n.startswith("lego_emit.targets.")}


def test_the_command_line_starts_light():
    names = loaded_by("import lego_emit.cli")
    tops = {n.split(".")[0] for n in names}
    assert not tops & {"z3", "cffi", "pycuda", "sympy", "numpy", "jinja2", "moderngl"}


def test_the_printers_and_targets_are_one_class_each():
    """The bare folders must not be importable as other modules with other classes."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", "import printers"], capture_output=True, text=True, cwd="/"
    )
    assert "No module named 'printers'" in done.stderr


def test_what_is_there_is_listed_and_what_is_not_has_a_nearest():
    import lego_emit

    assert {*lego_emit.__all__} < {*dir(lego_emit)}
    for name in dir(lego_emit):
        assert getattr(lego_emit, name) is not None
    assert not {"Any", "sys", "kinds", "provide", "TYPE_CHECKING"} & {*dir(lego_emit)}
    for wrong, right in {
        "Groupby": "GroupBy",
        "generat": "generate",
        "Hardware": "hardware",
    }.items():
        with pytest.raises(AttributeError, match=rf"{wrong}'\. Did you mean '{right}'\?"):
            getattr(lego_emit, wrong)


def test_every_name_that_it_offers_is_there():
    import lego_emit

    for name in lego_emit.__all__:
        assert getattr(lego_emit, name) is not None
    with pytest.raises(AttributeError, match="generat"):
        _ = lego_emit.generat


WITHOUT_NUMPY = r"""
import sys
from pathlib import Path
import re
sys.modules["numpy"] = None
from pathlib import Path
from lego_emit import Col, GroupBy, Lookup, Row, TileBy, catalogue, cute, generate, hardware
from lego_emit.check.exhaustive import as_layout
from lego_emit.show.compare import compare
from lego_emit.show.pictures import svg
from lego_emit.show.sheet import sheet, terminal

for entry in catalogue.values():
    drawn = svg(sheet(entry(**entry.example)))
    kept = Path("docs/pictures/catalogue", "-".join(re.findall(r"\w+", entry.name)) + ".svg")
    assert drawn == kept.read_text(), entry.name
tiled = TileBy([2, 2], [3, 2]).OrderBy(Row(6, 4))
table = Lookup([2, 3], [5, 3, 1, 0, 2, 4])
for layout in (tiled, table, hardware.mma("c"), cute.layout("((4,8),2):((16,1),8)")):
    assert layout._repr_html_().startswith("<svg")
    assert terminal(sheet(layout, color="bank" if layout is tiled else None))
    layout.apply(*(0 for _ in layout.dims))
sized = as_layout(lambda M, N: GroupBy([M, N]), {"M": 2, "N": 3}, "layouts.py")
assert sized.apply(1, 2) == 5 and sized.inv(5) == (1, 2)
assert table.inv(3) == (0, 1) and table.apply(1, 1) == 2
assert compare(GroupBy([4, 6]), GroupBy([4, 6]).OrderBy(Col(4, 6))).differ == 22
unit = generate(tiled, "rust")
assert "Steps" in unit.explain()
"""


@pytest.mark.slow
def test_pictures_explanations_and_integers_need_no_numpy():
    root = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], cwd=root, check=True)
