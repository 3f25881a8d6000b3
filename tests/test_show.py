"""Seeing a layout: the terminal, the pictures, the notebook, the two commands."""

import io
import itertools
import json
import re
import sys
from csv import reader
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Linear,
    Lookup,
    OrderBy,
    RegP,
    Row,
    TileBy,
    cute,
    generate,
    hardware,
    symbols,
)
from lego_emit.cli import main
from lego_emit.errors import InverseError, LayoutError, LegoError
from lego_emit.show.cells import MASKED, PALETTE, PLAIN
from lego_emit.show.pictures import Picture, svg
from lego_emit.show.sheet import kept, sheet, terminal
from lego_emit.show.tabular import csv, markdown

COL = GroupBy([4, 3]).OrderBy(Col(4, 3))


def plain(text):
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    return [line.rstrip() for line in lines]


def grid(page, what):
    """One of a sheet's cells' numbers, as an array."""
    height, width = page.shape
    cells = [[getattr(page.cell(r, c), what) for c in range(width)] for r in range(height)]
    return np.array(cells)


def positions(page):
    return grid(page, "position")


def colors_of(page):
    return grid(page, "color")


def contents(layout, path):
    return Picture((sheet(layout),)).contents(path)


def test_the_grid_of_positions():
    assert plain(terminal(sheet(COL))) == [
        "GroupBy([4, 3]).OrderBy(Col(4, 3))",
        "down: index 0, across: index 1; a cell says its position in memory",
        "   0  1  2",
        "0  0  4  8",
        "1  1  5  9",
        "2  2  6 10",
        "3  3  7 11",
    ]


def test_the_order_and_the_inverse():
    shown = plain(terminal(sheet(COL), order=True))
    assert shown[3] == "0  0↓  4↓  8↓"
    assert shown[6] == "3  3•  7• 11"
    memory = sheet(GroupBy([2, 2]).OrderBy(Col(2, 2)), inverse=True)
    assert [memory.text(0, k) for k in range(4)] == ["0,0", "1,0", "0,1", "1,1"]


def test_a_tileby_is_shown_untiled():
    page = sheet(TileBy([2, 2], [3, 2]).OrderBy(Row(6, 4)))
    assert (positions(page) == np.arange(24).reshape(6, 4)).all()
    colors = colors_of(page)
    assert len(set(colors.ravel().tolist())) == 4
    assert colors[0, 0] == colors[2, 1] != colors[3, 1]
    assert page.index(4, 3) == "1,1,1,1"


@pytest.mark.parametrize(
    ("layout", "tile"),
    [
        (GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3])), (3, 3)),
        (GroupBy([4, 6]).OrderBy(Row(4, 6)), (1, 6)),
        (GroupBy([4, 6]).OrderBy(Col(4, 6)), (4, 1)),
    ],
)
def test_boxes_of_memory_are_tiles(layout, tile):
    colors = colors_of(sheet(layout))
    assert (colors[: tile[0], : tile[1]] == colors[0, 0]).all()
    neighbors = [colors[tile[0], 0]] if tile[0] < len(colors) else []
    neighbors += [colors[0, tile[1]]] if tile[1] < len(colors[0]) else []
    assert all(n != colors[0, 0] for n in neighbors)


@pytest.mark.parametrize(
    ("dims", "shape", "blocks"),
    [
        ([5], (1, 5), (1, 5)),
        ([50], (2, 32), (2, 32)),
        ([2, 3], (2, 3), (2, 3)),
        ([4, 2, 3], (2, 12), (2, 3)),
        ([4, 5, 2, 3], (8, 15), (2, 3)),
        ([2, 4, 5, 2, 3], (8, 30), (2, 3)),
    ],
)
def test_dimensions_are_laid_out(dims, shape, blocks):
    page = sheet(GroupBy(dims))
    assert page.shape == shape
    assert page.blocks == blocks
    held = positions(page)[positions(page) >= 0]
    assert sorted(held.tolist()) == list(range(np.prod(dims)))


def test_masked_cells():
    page = sheet(ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2])))
    assert (positions(page)[5] == MASKED).all()
    assert page.text(5, 0) == "-"
    memory = sheet(ExpandBy([3], [4], TileBy([2], [2]), guard="logical"), inverse=True)
    assert [memory.text(0, k) for k in range(4)] == ["0,0", "0,1", "1,0", "-"]


@pytest.mark.slow
def test_what_is_large_is_cut():
    assert kept(5, 5) == [0, 1, 2, 3, 4]
    assert kept(9, 5) == [0, 1, 2, None, 8]
    shown = plain(terminal(sheet(GroupBy([1000, 1000])), width=80, height=20))
    assert max(map(len, shown)) <= 80 and len(shown) <= 20
    assert shown[-1].startswith("14 of 1000 rows and ")
    ElementTree.fromstring(svg(sheet(GroupBy([200, 200])), order=True))
    for dims in ([10**12], [10**6, 10**6], [2**40, 2**40]):
        last = str(np.prod(dims, dtype=object) - 1)
        for inverse in (False, True):
            page = sheet(GroupBy(dims), inverse)
            assert last in plain(terminal(page))[-2] or inverse
            assert f">{page.text(page.shape[0] - 1, page.shape[1] - 1)}</text>" in svg(page)
    with pytest.raises(LayoutError, match="a path through memory has at most 1048576; choose"):
        svg(sheet(GroupBy([2**20, 2])), order=True)


def test_maps_without_inverse():
    broadcast = GroupBy([3, 2]).OrderBy(GenP([3, 2], lambda i, j: i))
    page = sheet(broadcast)
    assert positions(page).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert (colors_of(page) == PLAIN).all()
    with pytest.raises(InverseError):
        sheet(broadcast, inverse=True)
    with pytest.raises(LayoutError, match="leave --order out"):
        terminal(page, order=True)


@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(
    "layout",
    [
        COL,
        TileBy([2, 2], [3, 2]),
        GroupBy([7]),
        GroupBy([1]),
        GroupBy([2, 3, 4, 5]),
        ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]), guard="logical"),
        OrderBy(Row(2, 2), Col(2, 3)),
    ],
)
def test_pictures_are_well_formed(layout, inverse, order):
    page = sheet(layout, inverse)
    root = ElementTree.fromstring(svg(page, order))
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    held = np.argwhere(positions(page) >= 0).tolist()
    assert all(page.text(*cell) in texts for cell in held)
    assert svg(page, order) == svg(sheet(layout, inverse), order)
    assert "nan" not in svg(page, order)


def test_names_are_escaped():
    def less(i):
        return i

    less.__name__ = "<i>&"
    layout = GroupBy([3]).OrderBy(GenP([3], less))
    ElementTree.fromstring(svg(sheet(layout)))
    assert "<i>" not in layout._repr_html_()


def test_cells_are_printed_as_json(tmp_path):
    run = CliRunner().invoke
    layout = "-e", "ExpandBy([3, 4], [4, 4], GroupBy([4, 4]))"
    found = json.loads(run(main, ["show", *layout, "--json"]).stdout)
    assert found["rows"] == [*"0123"] and found["columns"] == [*"0123"]
    assert found["cells"] == [*np.arange(12).reshape(3, 4).tolist(), ["-"] * 4]
    (tmp_path / "two.py").write_text("from lego_emit import *\nA, B = Row(2, 2), Col(2, 2)\n")
    names = f"{tmp_path}/two.py:A", "--beside", f"{tmp_path}/two.py:B"
    beside = json.loads(run(main, ["show", *names, "--json"]).stdout)
    assert [page["cells"] for page in beside] == [[[0, 1], [2, 3]], [[0, 2], [1, 3]]]
    refused = run(main, ["show", *layout, "--json", "-o", "x.csv"])
    assert refused.exit_code == 2 and "leave -o and --watch out" in refused.output


def test_notebooks():
    M, N = symbols("M N")
    assert GroupBy([4, 6])._repr_html_().startswith("<svg ")
    assert GroupBy([M, N])._repr_html_() == "<code>GroupBy([M, N])</code>"
    assert "999999999999" in GroupBy([10**6, 10**6])._repr_html_()


def test_png_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(LegoError, match=r"pip install cairosvg.*libcairo2"):
        contents(COL, "x.png")
    with pytest.raises(LegoError, match=r"x.gif: a picture is one of .svg, .png, .html, .tex"):
        contents(COL, "x.gif")


def test_png():
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):
        pytest.skip("needs CairoSVG and libcairo2: pip install cairosvg")
    assert contents(COL, "x.png").startswith(b"\x89PNG")


# -- show() --------------------------------------------------------------------------------------

SWIZZLE = GroupBy([32, 32]).OrderBy(
    GenP([32, 32], lambda i, j: i * 32 + (i ^ j), lambda k: (k // 32, k // 32 ^ k % 32))
)


def test_show_is_a_picture(tmp_path):
    made = COL.show(order=True)
    assert repr(made) == "<picture of GroupBy([4, 3]).OrderBy(Col(4, 3))>"
    assert str(made).splitlines()[3] == "0  0↓  4↓  8↓" and not re.search(r" $", str(made), re.M)
    assert made._repr_html_() == made.svg() == svg(sheet(COL), order=True)
    assert made.save(tmp_path / "x.svg") and not made.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text() == made.svg()
    assert COL.show(inv=True).pages[0].inverse
    with pytest.raises(InverseError):
        GroupBy([3]).OrderBy(GenP([3], lambda i: i)).show(inv=True)
    with pytest.raises(LayoutError, match="leave --order out"):
        MMA.show(animate=True)
    with pytest.raises(LayoutError, match="needs integer sizes"):
        GroupBy([*symbols("M N")]).show()


def test_banks_show_a_swizzle():
    tiles, banks = (colors_of(SWIZZLE.show(color=c).pages[0]) for c in ("tile", "bank"))
    assert (tiles == tiles[:, :1]).all()
    assert all(len({*column}) == 32 for column in banks.T.tolist())
    pairs = zip(colors_of(sheet(SWIZZLE)).ravel(), banks.ravel(), strict=True)
    assert len({*pairs}) == 32  # each place in a row is a bank
    assert sheet(SWIZZLE).legend.endswith("colored by its place among 32 neighbors in memory")
    row = colors_of(GroupBy([4, 64]).show(color="position").pages[0]).ravel()
    assert (np.diff(row) >= 0).all() and len({*row.tolist()}) == 32
    lanes = MMA.show(color="position").pages[0]
    assert len({*colors_of(lanes).ravel().tolist()}) == 32


@pytest.mark.parametrize("grid", [[4, 4], [4, 8], [32], [2, 4, 4]])
def test_up_to_32_tiles_have_colors_of_their_own(grid):
    layout = TileBy(grid, [2] * len(grid))
    page = sheet(layout)
    of_tile = {}
    for r, c in np.ndindex(*page.shape):
        number = page.cell(r, c).logical // 2 ** len(grid)
        of_tile.setdefault(number, set()).add(page.cell(r, c).color)
    assert len(of_tile) == np.prod(grid) and {len(found) for found in of_tile.values()} == {1}
    assert len(set().union(*of_tile.values())) == np.prod(grid)


@pytest.mark.parametrize(
    "layout",
    [
        COL,
        GroupBy([8, 8]).OrderBy(RegP([2] * 6, [0, 3, 1, 4, 2, 5])),
        GroupBy([8, 8]).OrderBy(
            GenP([8, 8], lambda i, j: i * 8 + (i ^ j), lambda k: (k // 8, k // 8 ^ k % 8))
        ),
        GroupBy([3, 3]).OrderBy(GenP([3, 3], lambda i, j: (i + 2 * j) % 3 * 3 + i, None)),
        GroupBy([40]),
    ],
)
def test_arrows_cross_no_number(layout):
    root = ElementTree.fromstring(svg(sheet(layout), order=True))
    boxes = []
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        if text.get("text-anchor") is None and text.text.isdigit():
            boxes.append((float(text.get("x")), float(text.get("y")), len(text.text)))
    boxes = [(x, y, x + 5.6 * n) for x, y, n in boxes][-layout.size :]
    paths = [p.get("d") for p in root.iter("{http://www.w3.org/2000/svg}path")][-3:-1]
    for line in re.findall(r"M([^M]+)", "".join(paths)):
        points = [tuple(map(float, p.split())) for p in line.split("L")]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            for k in range(41):
                x, y = x0 + (x1 - x0) * k / 40, y0 + (y1 - y0) * k / 40
                assert not any(a < x < end and b - 7.5 < y < b for a, b, end in boxes), line


def test_threads_stand_above_their_values():
    texts = [t.text for t in ElementTree.fromstring(MMA.show().svg()).iter()]
    assert texts.count("T5") == texts.count("V1") * 4 // 32 == 4
    assert sheet(hardware.wmma("a")).stacked is False


def test_two_side_by_side_and_a_walk():
    made = COL.show(beside=GroupBy([4, 3]), animate=True)
    root = ElementTree.fromstring(made.svg())
    inner = [e for e in root if e.tag.endswith("svg")]
    assert len(inner) == 2 and float(inner[0].get("x")) == 0
    assert float(root.get("width")) == sum(float(e.get("width")) for e in inner)
    moves = [e for e in root.iter() if e.tag.endswith("animate")]
    assert [len(e.get("values").split(";")) for e in moves] == [12] * 4
    assert str(made).count("colored") == 0 and str(made).count("GroupBy") == 2


def test_functions_are_shown():
    def f(i, j):
        return GroupBy([4, 6])[i, j] * 2 - 7

    unit = generate(f, "rust")
    page = unit.show().pages[0]
    assert [[page.text(r, c) for c in range(6)] for r in range(4)] == [
        [str(f(i, j)) for j in range(6)] for i in range(4)
    ]
    assert (np.diff(colors_of(page).ravel()) > 0).all()
    ElementTree.fromstring(unit.show(order=True).svg())
    pair = generate(GroupBy([*symbols("M N")]), "c")
    assert pair.show("layout_inv", sizes={"M": 2, "N": 3}).pages[0].text(0, 4) == "1,1"
    with pytest.raises(LegoError, match="Did you mean 'layout_inv'"):
        pair.show("layout_in")
    with pytest.raises(LegoError, match="needs a number for M"):
        pair.show()
    with pytest.raises(LayoutError, match="looks a table up"):
        generate(Lookup([2, 3], "perm"), "c").show()
    broadcast = GroupBy([512, 512]).OrderBy(GenP([512, 512], lambda i, j: i))
    with pytest.raises(LayoutError, match="how far its positions go"):
        broadcast.show(color="position")
    with pytest.raises(LayoutError, match="beside is 3"):
        COL.show(beside=3)


# -- named coordinates ---------------------------------------------------------------------------

MMA = hardware.mma("c")
THREADS = cute.layout("((4,8),2):((16,1),8)")  # the same for 8 x 8, as threads and values
NAMED = [
    MMA,
    hardware.wmma("a"),
    hardware.wgmma("d", 16),
    hardware.ldmatrix(2, transposed=True),
    hardware.mfma("c", 16),
    hardware.blocked([2, 1], [8, 4], [2, 2], [0, 1]),
    hardware.swizzled(16, 64, 8, 1, 8),
    hardware.sliced(MMA, 0),
    Linear({"x": [(1, 1), (2, 3)], "lane": [(0, 0)]}, {"a": 4, "b": 8}, {"b": 4}),
    Linear({"x": []}, {"y": 1}),
]


def cells(page):
    height, width = page.shape
    return [[list(page.lines(r, c)) for c in range(width)] for r in range(height)]


def test_the_tensor_and_its_holders():
    page = sheet(MMA)
    assert cells(page)[9][2:4] == [["T5 V2"], ["T5 V3"]]  # PTX: row = lane / 4 + 8
    twice = hardware.wmma("a")
    assert cells(sheet(twice))[3][5] == ["T3 V5", "T19 V5"]
    assert sheet(twice).deep == 2 and sheet(twice).text(3, 5) == "T3 V5; T19 V5"
    warps = sheet(hardware.wgmma("d"))
    assert cells(warps)[16][0] == ["W1 T0 V0"]


def test_the_hardware_and_its_elements():
    page = sheet(MMA, view="hardware")
    assert (page.rows[9], page.columns[3]) == ("T9", "V3")
    assert page.text(9, 3) == "10,3"
    warps = sheet(hardware.wgmma("d"), view="hardware")
    assert warps.rows[33] == "W1 T1" and warps.text(33, 0) == "16,2"
    assert sheet(hardware.swizzled(8, 8, 2, 1, 4)).text(1, 0) == "10"


@pytest.mark.slow
@pytest.mark.parametrize("layout", NAMED, ids=lambda n: repr(n)[:40])
def test_every_index_is_in_both_views(layout):
    outs, points = layout.physical_dims, list(np.ndindex(*layout.dims))
    tensor, lanes = sheet(layout, view="tensor"), sheet(layout, view="hardware")
    count = {}
    for index in points:
        count[layout(*index)] = count.get(layout(*index), 0) + 1
    shown = {}
    for r, c in np.ndindex(*tensor.shape):
        if tensor.cell(r, c).logical >= 0:
            place = tuple(map(int, np.unravel_index(tensor.cell(r, c).logical, outs)))
            shown[place] = list(tensor.lines(r, c))
    assert {k: len(v) for k, v in shown.items() if v != ["-"]} == count
    assert len(shown) == np.prod(outs)
    assert all(len(set(v)) == len(v) for v in shown.values())
    for r, c in np.ndindex(*lanes.shape):
        if lanes.cell(r, c).logical >= 0:
            index = np.unravel_index(lanes.cell(r, c).logical, layout.dims)
            assert lanes.text(r, c) == ",".join(map(str, layout(*map(int, index))))
    for page in (tensor, lanes):
        root = ElementTree.fromstring(svg(page))
        texts = {t.text for t in root.iter("{http://www.w3.org/2000/svg}text")}
        words = {word for text in texts if text for word in text.split()}
        assert {*page.text(0, 0).replace(";", "").split()} <= words
        drawn = plain(terminal(page, 400, 400))
        assert all(line in "\n".join(drawn) for line in page.lines(0, 0))


def test_threads_and_values():
    page = sheet(THREADS, tile=(8, 8))
    assert cells(page)[1][:3] == [["T4 V0"], ["T4 V1"], ["T5 V0"]]
    flat = hardware.mma("c").sublayout(["register", "lane"], ["dim0", "dim1"])
    low = cells(sheet(flat))[:8]
    assert cells(page) == low
    few = sheet(cute.layout("(4,2):(4,1)"), tile=(4, 4))
    assert few.text(2, 0) == "-" and few.cell(2, 0).position == MASKED
    assert "-" in [t.text for t in ElementTree.fromstring(svg(few)).iter()]
    swizzled = cute.layout("Sw<1,1,1> o 0 o (4,2):(4,1)")
    assert sheet(swizzled, tile=(4, 4)).text(0, 0) == "T0 V0"


def test_colors_of_inputs_and_banks():
    lanes, registers = (colors_of(sheet(MMA, color=n)) for n in ("thread", "value"))
    assert lanes[0, 0] == lanes[8, 1] != lanes[0, 2]
    assert registers[0, 0] == registers[5, 6] != registers[0, 1]
    assert len({*lanes.ravel().tolist()}) == 32 and lanes.max() < len(PALETTE)
    tile = hardware.swizzled(8, 32, 4, 1, 8)  # f16: four chunks of two banks in a row
    column = colors_of(sheet(tile, color="bank", bits=16))[:, 0]
    assert len({*column[:2].tolist()}) == 2
    row = colors_of(sheet(GroupBy([2, 64]), color="bank", bits=16))
    assert (row[0] == row[1]).all() and row[0, 0] == row[0, 1] != row[0, 2]


@pytest.mark.parametrize(
    ("layout", "options", "message"),
    [
        (MMA, {"view": "tensr"}, "Did you mean 'tensor'"),
        (MMA, {"color": "lan"}, "there are register, lane, bank, position. Did you mean 'lane'"),
        (MMA, {"color": 3}, "color is 3"),
        (cute.layout("(4,8):(8,1)"), {"tile": ["a", 4]}, "tile is"),
        (cute.layout("(4,8):(8,1)"), {"tile": 3}, "position 31 is outside"),
        (MMA, {"color": "bank"}, "one result is a position"),
        (MMA, {"tile": (4, 4)}, "leave tile out"),
        (hardware.blocked([1, 1, 2], [2, 4, 4], [2, 2, 1]), {}, r"sublayout.*flatten_outs\(\)"),
        (hardware.swizzled(1024, 1024, 8, 1, 8), {}, "at most 65536"),
        (Linear({"x": [1]}, {"a": 2**20}), {"view": "tensor"}, "1048576 elements"),
        (Linear.zeros1D(64, "lane", "a", 2), {"view": "tensor"}, "64 holders of one element"),
        (cute.layout("(4,8):(8,1)"), {"tile": (4, 4)}, "position 31 is outside"),
        (cute.layout("(4,8):(8,-1)"), {"view": "tensor"}, "the position -7 is in no tensor"),
        (GroupBy([4, 4]), {"color": "bank", "bits": 0}, "bits is 0"),
        (MMA, {"inverse": True}, "it gives dim0, dim1, so there is no memory to show; view="),
        (GroupBy([4, 4]), {"view": "tensor"}, "named coordinates"),
        (GroupBy([4, 4]), {"color": "lane"}, "named coordinates"),
    ],
)
def test_pictures_of_names_say_what_is_wrong(layout, options, message):
    with pytest.raises(LayoutError, match=message):
        sheet(layout, **options)


@pytest.mark.parametrize("view", ["tensor", "hardware"])
def test_arrows_need_a_memory(view):
    for draw in (terminal, svg):
        with pytest.raises(LayoutError, match=r"dim0, dim1 are no memory.*leave --order out"):
            draw(sheet(MMA, view=view), order=True)
    tile = hardware.swizzled(8, 8, 2, 1, 4)
    drawn = plain(terminal(sheet(tile, view="hardware"), 200, 50, order=True))
    assert drawn[3].split()[:4] == ["0", "0→", "1→", "2→"]
    assert "svg" in svg(sheet(tile, inverse=True), order=True)


def test_coordinates_are_drawn_by_their_index():
    identity = cute.make_identity_layout((4, 8))
    assert cells(sheet(identity))[2][:2] == [["2,0"], ["2,1"]]
    part = cute.local_tile(cute.make_identity_layout((8, 8)), (2, 4), (1, 1))
    assert cells(sheet(part)) == [[[f"{i},{j}"] for j in range(4, 8)] for i in (2, 3)]
    assert sheet(part, view="tensor").lines(2, 4) == ("0,0",)
    copy = cute.make_tiled_copy("(4,8):(8,1)", "(2,4):(4,1)")
    mine = copy.partition(cute.make_identity_layout((16, 64)), 9)
    page = sheet(mine)
    found = {page.text(r, c) for r, c in np.ndindex(*page.shape)}
    assert len(found) == 32 and "10,7" in found


def test_notebooks_draw_linear_layouts():
    assert MMA._repr_html_().startswith("<svg ")
    deep = hardware.blocked([1, 1, 2], [2, 4, 4], [1, 1, 1])
    assert deep._repr_html_().startswith("<code>")


def test_tables():
    rows = list(reader(io.StringIO(csv(sheet(hardware.wmma("a"))))))
    assert rows[0][:3] == ["dim0/dim1", "0", "1"]
    assert rows[4][6] == "T3 V5; T19 V5"
    assert len(rows) == 17 and {len(row) for row in rows} == {17}
    lines = markdown(sheet(MMA, view="hardware")).splitlines()
    assert lines[0] == "| lane/register | V0 | V1 | V2 | V3 |"
    assert lines[11] == "| T9 | 2,2 | 2,3 | 10,2 | 10,3 |"
    assert csv(sheet(COL)).splitlines()[:2] == [",0,1,2", "0,0,4,8"]


# -- the commands --------------------------------------------------------------------------------

FILE = """
from lego_emit import Col, GroupBy, OrderBy, Row, TileBy, cute, hardware, symbols

mma = hardware.mma("c")
copy = cute.layout("((4,8),2):((16,1),8)")
M, N = symbols("M N")
row = GroupBy([4, 6])
col = GroupBy([4, 6]).OrderBy(Col(4, 6))
free = GroupBy([M, N])

def tiled(M, N, B=2):
    return OrderBy(Row(M, N)).TileBy((M // B, N // B), (B, B))

def index(M, N):
    return GroupBy([M, N])[i, j]

def square(x):
    return x * x % 5 - 2, x // 2
"""


@pytest.fixture
def lego(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(FILE)

    def run(*arguments):
        return CliRunner().invoke(main, [str(x) for x in arguments])

    return run


def test_catalogue(lego, tmp_path):
    done = lego("catalogue", "morton.2D", "--size", "rows=2", "--size", "columns=4")
    assert "example: rows=2, columns=4" in done.output and "1  2  3  6  7" in done.output
    assert lego("catalogue", "lapack.TP", "-o", "x.csv").exit_code == 0
    assert (tmp_path / "x.csv").read_text().splitlines()[2] == "1,-,2,4,7,11,16"
    for wrong, said in (
        (["--size", "rows=2"], "go with the NAME of one layout"),
        (["morton", "-o", "x.svg"], "go with the NAME of one layout"),
        (["morton.2d"], "Did you mean 'morton.2D'?"),
        (["morton.2D", "--size", "m=2"], "it takes rows, columns"),
    ):
        done = lego("catalogue", *wrong)
        assert done.exit_code == 2 and said in done.output


def test_show(lego, tmp_path):
    done = lego("show", "a.py:col")
    assert done.exit_code == 0 and "\x1b" not in done.output
    assert "1  1  5  9 13 17 21" in done.output
    assert lego("show", "a.py:tiled", "--size", "M=4", "--size", "N=6").exit_code == 0
    assert lego("show", "a.py:free", "--size", "M=4", "--size", "N=6", "--inv").exit_code == 0
    for name in ("x.svg", "x.html"):
        done = lego("show", "a.py:col", "--order", "--animate", "--beside", "a.py:row", "-o", name)
        assert done.exit_code == 0
        assert (tmp_path / name).read_text().count("<animate ") == 4
    both = lego("show", "a.py:row", "--beside", "a.py:col", "--color", "position").output
    assert "GroupBy([4, 6]): colored by position" in both and "\n1  1  5  9 13" in both


def test_show_of_index_functions(lego):
    done = lego("show", "a.py:index", "--size", "M=2", "--size", "N=3")
    assert done.exit_code == 0 and "down: i, across: j; a cell says its result" in done.output
    assert plain(done.output)[-1] == "1  3  4  5"
    done = lego("show", "a.py:square", "--domain", "x=4", "--color", "x")
    assert plain(done.output)[-1].split() == ["-2,0", "-1,0", "2,1", "2,1"]


def test_show_of_named_coordinates(lego, tmp_path):
    assert "T9 V3" in lego("show", "a.py:mma").output
    done = lego("show", "a.py:mma", "--view", "hardware", "--colour", "register")
    assert "V0   V1   V2   V3" in done.output
    for name in ("x.csv", "x.md", "x.svg"):
        assert lego("show", "a.py:copy", "--tile", "8,8", "-o", name).exit_code == 0
        assert "T31 V1" in (tmp_path / name).read_text()
    assert lego("show", "a.py:col", "--color", "bank", "--bits", "16").exit_code == 0
    assert lego("compare", "a.py:mma", "a.py:mma").output == "equal at all 128 indices\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.py:free"], "M, N have no number"),
        (["a.py:tiled"], "a.py:tiled takes M, N; give numbers: --size M=.. --size N=.."),
        (["a.py:tiled", "--size", "Q=1"], "no size Q; its sizes are M, N, B"),
        (
            ["a.py:index", "--size", "M=2", "--size", "N=2", "--inv"],
            "are for layouts; a.py:index is",
        ),
        (["a.py:index", "--size", "M=2"], "needs a number for N"),
        (["a.py:square"], "needs a number for x"),
        (["a.py:square", "--domain", "x=99999"], "99999 indices, a picture has 1 to 65536"),
        (["a.py:row", "--animate"], "--animate needs -o FILE.svg"),
        (["a.py:row", "--animate", "-o", "x.png"], "--animate needs -o FILE.svg"),
        (["a.py:row", "--beside", "a.py:col", "-o", "x.csv"], "a table has one layout"),
        (["a.py:mma", "--animate", "-o", "x.svg"], "are no memory"),
        (["a.py:what"], "no 'what'"),
        (["a.py:row", "-o", "x.gif"], ".svg, .png, .html, .tex"),
        (["a.py:row", "-o", "a.py/x.svg"], "cannot write"),
        (["a.py:copy", "--tile", "8x8"], "'8x8' is not of the form 8,16"),
        (["a.py:copy", "--tile", "4,4"], "position 63 is outside a tile of [4, 4]"),
        (["a.py:mma", "--color", "lan"], "Did you mean 'lane'"),
    ],
)
@pytest.mark.quick(4)
def test_show_says_what_is_wrong(lego, arguments, message):
    done = lego("show", *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_compare(lego):
    done = lego("compare", "a.py:row", "a.py:row")
    assert (done.exit_code, done.output) == (0, "equal at all 24 indices\n")
    done = lego("compare", "a.py:row", "a.py:col")
    assert done.exit_code == 1
    assert "22 of 24 indices differ" in done.output
    assert "apply[0, 1]: 1 -> 4" in done.output
    assert "24 contiguous runs of 1 element each" in done.output
