"""web/driver.py and web/arrays.py, which the page runs, in CPython: the blocks of the documentation without NumPy, and
each function of the part of NumPy that the page has beside NumPy's own; the page's colors."""

import importlib.util
import json
import math
import random
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from lego_emit import catalogue, recognize
from lego_emit.algebra import reference
from lego_emit.html import COLORS
from lego_emit.show.cells import BANKS, PALETTE, bank_color

ROOT = Path(__file__).parent.parent


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


arrays = loaded(ROOT / "web" / "arrays.py")
hooks = loaded(ROOT / "docs" / "hooks.py")
OUTPUT = re.compile(r"\s*<!-- output -->\s*```\S*\n(.*?)^```", re.M | re.S)


def run(texts, folder):
    """What the page shows of texts, in a Python without NumPy."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "page_blocks.py"], cwd=folder, text=True,
        input=json.dumps(texts), capture_output=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.deep
@pytest.mark.parametrize("of_copies", [False, True])
def test_every_block_that_needs_nothing_else_runs_without_numpy(of_copies, tmp_path):
    """of_copies: those that plan copies, which takes seconds without NumPy."""
    found = []
    for page in hooks.OPENED:
        text = (ROOT / "docs" / page).read_text()
        for end, block, needs in hooks.recipes(text, page):
            if not needs:
                output = OUTPUT.match(text, end)
                found.append((f"{page}: {block}", block, output[1] if output else ""))
    found += [(p.name, p.read_text(), "") for p in sorted((ROOT / "web/gallery").glob("*.py"))]
    found = [block for block in found if ("copy" in block[1]) is of_copies]
    assert len(found) > (5 if of_copies else 50)
    answers = run([block for _, block, _ in found], tmp_path)
    for (place, _, expected), said in zip(found, answers, strict=True):
        assert said["error"] is None, f"{place}\n{said['error']}"
        assert said["printed"].endswith(expected), f"{place}\n{said['printed']}"


@pytest.mark.slow
def test_what_else_runs_without_numpy(tmp_path):
    texts = (
        "from lego_emit import *\nL = Row(2, 3)\nprint(L[0, :])\n",
        "from lego_emit import recognize\nprint(recognize([k * k for k in range(8)]))\n",
        "from lego_emit import Row, copy\nprint(copy(Row(4, 6), Row(4, 6), 'c').name)\n",
    )
    answers = run(texts, tmp_path)
    assert [said["error"] for said in answers] == [None, None, None]
    row, square, _ = (said["printed"] for said in answers)
    assert row == "[0 1 2]\n"
    assert square.endswith("GenP([8], lambda i: i * i)): a polynomial of degree two\n")


@pytest.mark.deep
def test_what_is_recognized_without_numpy_is_the_same(tmp_path):
    layouts = (entry(**entry.example) for entry in catalogue.values())
    tables = [reference.table(one) for one in layouts if one.results is None and one.size <= 1024]
    tables = [table.reshape(-1).tolist() for table in tables]
    draw = random.Random(1)
    for n in (6, 12, 16, 24):
        tables += [draw.sample(range(n), n) for _ in range(5)]
        tables += [
            [(a * k * k + b * k) // 2 for k in range(n)] for a, b in ((1, 1), (3, 5), (2, 0))
        ]
    text = (
        "from lego_emit import Lookup, generate, recognize\nfound = {}\nprint(recognize(found))\n"
    )
    texts = [text.format(table) for table in tables]
    for table, said in zip(tables, run(texts, tmp_path), strict=True):
        assert said["printed"] == f"{recognize(table)}\n"


def test_what_a_block_needs_is_said():
    text = (ROOT / "docs" / "tutorial.md").read_text()
    needs = {needs for _, _, needs in hooks.recipes(text, "tutorial.md")}
    assert needs == {"", "g++"}
    linked = hooks.with_links(text, "tutorial.md")
    assert linked.count("playground/index.html#") == 6
    assert "Needs g++, which the playground has not." in linked


SQUARE = [[5, 3, 9], [0, 3, 7]]
LINE = [4, 4, 0, 2, 9, 2]
CASES = """
a.T; a.reshape(-1); a.reshape(3, 2).tolist(); a.sum(); a.min(axis=0); a.max(axis=1); (a > 3).any(axis=0)
a.transpose(1, 0); a[1]; a[-1, 2]; a[:, 1]; a[::-1, ::2]; a[..., None].shape; a[None, :, 0]; a[a > 3]; a[[1, 0, 1]]
a[b % 2, b % 3]; a[:, b % 3]; a[0, b % 3]; a[b % 2][:, 0]; a[(a > 3).any(axis=1)]; a.astype(bool); a.astype(float)
a + b[:3]; a - 2; 2 - a; a * a; a // 2; -7 // (a + 1); -a % 4; a ** 2; a << 1; 64 >> a; a & 5; a | 8; a ^ 1; ~a; -a
a / 2; a == 3; a != b[:3]; (a > 3) & (a < 9); ~(a > 3); (a > 3) * a; (a > 3).sum(); abs(a - 4); a @ b[:3]; a.T @ a
len(a); [*b]; b.argmax(); (b == 2).nonzero(); a.flat[4]; a.squeeze().shape; a.ndim, a.size, a.shape, a.dtype.kind
np.arange(3, 9, 2); np.zeros((2, 2), bool); np.ones(3, np.int64); np.full(3, 7); np.array([]); np.array([True, 2])
np.array([[1, 2], [3, 4]], dtype=object); np.array(4)[..., None] + np.arange(3); np.linspace(0, 5, 4).tolist()
np.broadcast_to(b[:3], (2, 3)); np.broadcast_arrays(a, 1, b[:3]); np.broadcast_shapes((2, 1), (3,))
np.moveaxis(np.arange(24).reshape(2, 3, 4), 1, 0); np.stack([b, b + 1], axis=1); np.concatenate([b, b[:2]])
np.indices((2, 3)); np.ix_(b[:2], b[:3]); np.pad(a, ((1, 0), (2, 3))); np.unravel_index(b, (3, 4)); np.ravel_multi_index((b % 2, b % 3), (2, 3))
np.unique(b); np.unique(b, return_inverse=True); np.unique(b, return_counts=True); np.unique(a[:, [0, 1, 0]], axis=1)
np.sort(b); np.argsort(a[0]); np.bincount(b); np.diff(b); np.diff(a, axis=0); np.flatnonzero(b > 2); np.count_nonzero(b); np.argwhere(a > 3)
np.array_equal(a, a + 0), np.array_equal(a, b); np.minimum(a, 4); np.maximum(a, 4); np.where(a > 3, a, -1)
np.bitwise_or.reduce(b); np.logical_or.reduce([b > 2, b < 1]); np.bitwise_xor(a, 1); np.abs(a - 4); np.ndim(a); np.ndim(3); np.shape(a); np.sqrt(a * a)
np.isnan(a / 1); np.isfinite(a / 1); np.frompyfunc(lambda x, y: x + y, 2, 1)(a, 1).tolist(); np.int64(3) + a
np.frompyfunc(divmod, 2, 2)(a, 2)[1].tolist(); b.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
b.astype(np.uint8) * 100; np.dtype("uint16").itemsize; np.arange(2) @ np.zeros((2, 0)); b.astype(np.int16) + b
np.prod([2, 3, 4], dtype=object); np.asarray(a) is a; bool(a[:1, :1] == 5); int(np.array([3])[0]); range(9)[np.array(4)]
str(a); repr(a); str(b); str(np.arange(8).reshape(2, 2, 2)); repr(a > 3); str(a - 5)
"""


def alike(one, other):
    if isinstance(other, tuple | list) and not isinstance(one, np.ndarray):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, arrays.ndarray):
        other = np.asarray(other)
        kind = one.dtype.kind == other.dtype.kind
        return kind and one.shape == other.shape and one.tolist() == other.tolist()
    return one == other


@pytest.mark.parametrize("line", CASES.strip().splitlines())
def test_an_array_of_the_page_is_that_of_numpy(line):
    for code in line.split("; "):
        made, expected = (
            eval(code, {"np": module, "a": module.array(SQUARE), "b": module.array(LINE)})
            for module in (arrays, np)
        )
        assert alike(made, expected), f"{code}: {made} is not {expected}"


def test_least_squares():
    matrix = [[1.0, 0.0, 0.5], [1, 1, 0], [1, 2, 4], [1, 3, 9], [1, 4, 15]]
    made, expected = (
        m.linalg.lstsq(m.array(matrix), m.array([1.0, 2, 4, 8, 1]), rcond=None)[0]
        for m in (arrays, np)
    )
    assert made.tolist() == pytest.approx(expected.tolist())


def test_an_element_is_written():
    for module in (arrays, np):
        a = module.array(SQUARE)
        a[0, 1:] = [7, 8]
        a[1] = 1
        assert a.tolist() == [[5, 7, 8], [1, 1, 1]]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("np.array([[1], [2, 3]])", ValueError),
        ("a[5]", IndexError),
        ("a[0, 0, 0]", IndexError),
        ("a + b", ValueError),
        ("bool(a)", ValueError),
        ("a.reshape(4)", ValueError),
        ("np.array([2**64], dtype=np.int64)", OverflowError),
        ("np.nothing_like_that", AttributeError),
    ],
)
def test_what_goes_wrong_raises_as_in_numpy(code, error):
    for module in (arrays, np):
        with pytest.raises(error):
            eval(code, {"np": module, "a": module.array(SQUARE), "b": module.array(LINE)})


# -- colors -----------------------------------------------------------------------------------------


def linear(color):
    """Red, green and blue as sRGB makes light of them."""
    levels = [c / 255 for c in channels(color)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in levels]


def channels(color):
    parts = color.lstrip("#")
    parts = "".join(2 * c for c in parts) if len(parts) == 3 else parts
    return [int(parts[k : k + 2], 16) for k in (0, 2, 4)]


def contrast(one, other):
    """As WCAG defines it."""
    light = sorted(
        sum(f * c for f, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True))
        for x in (one, other)
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


def lab(color):
    r, g, b = linear(color)
    xyz = (
        (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
        0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
        (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, other):
    """The difference of two colors in CIELAB, after Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    scale = 1.5 - 0.5 * math.sqrt(mean**7 / (mean**7 + 25**7))
    c1, c2 = math.hypot(a1 * scale, b1), math.hypot(a2 * scale, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * scale)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    hue = h1 + turn / 2 if c1 * c2 else h1 + h2
    dl, dc, dh = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    terms = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    t = 1 + sum(f * math.cos(math.radians(k * hue + shift)) for f, k, shift in terms)
    sl = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    angle = math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2)))
    turned = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(angle)
    parts = (dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + turned * dc / sc * dh / sh
    return math.sqrt(parts)


def test_the_difference_of_colors_is_that_of_its_authors():
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    for one, other, expected in pairs:
        assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


def test_banks_are_told_apart():
    colors = [PALETTE[bank_color(k)][0] for k in range(BANKS)]
    assert min(ciede2000(lab(a), lab(b)) for a, b in combinations(colors, 2)) >= 12


def mixed(one, other, share):
    """Two colors, share of the first, as color-mix(in srgb) mixes them."""
    pairs = zip(channels(one), channels(other), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def test_texts_are_legible_in_both_themes():
    style = (ROOT / "web" / "style.css").read_text()
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", style)
    share = int(re.search(r"activeLine .*\(in srgb, var\(--accent\) (\d+)%", style)[1]) / 100
    for theme in (1, 2):
        colors = {pair[0]: pair[theme] for pair in pairs}
        colors["active"] = mixed(colors["accent"], colors["panel"], share)  # the line of the cursor
        texts = colors.keys() - {"page", "panel", "active", "line", "bad-back"}
        assert texts > {"text", "quiet", "link", "comment"}
        for name in texts:
            for behind in ("page", "panel", "active"):
                assert contrast(colors[name], colors[behind]) >= 4.5, (
                    f"{name} on {behind}: {colors}"
                )
        assert contrast(colors["bad"], colors["bad-back"]) >= 4.5
    assert all(contrast(color, "#111") >= 4.5 for color, _ in PALETTE)
    assert all(
        contrast(color, back) >= 4.5 for color in COLORS.values() for back in ("#fff", "#000")
    )
