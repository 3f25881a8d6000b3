"""What the docs, the gallery and the golden cases say of banks and conflicts in sentences, computed of
the layouts that stand beside them. What the docs' examples print is compared by test_docs.py."""

import contextlib
import io
import json
import re
from functools import partial
from pathlib import Path

import pytest

import lego_emit
from lego_emit import GroupBy, bank_conflicts, catalogue, cute, hardware

ROOT = Path(__file__).parent.parent
MODULES = {"cute": cute, "hardware": hardware}  # that a page has imported before


def text_of(path):
    """A file's text; of a notebook, that of its cells."""
    text = (ROOT / path).read_text()
    if path.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    return text


def names_of(path, after=""):
    """What a Python file makes; of a page or a notebook the first code after a text."""
    code = text_of(path)
    if path.endswith(".md"):
        code = re.search(r"^```python\n(.*?)^```$", code[code.index(after) :], re.M | re.S)[1]
    elif path.endswith(".ipynb"):
        code = code[code.index(after) :].split("\n\n", 1)[1].partition("rows.show")[0]
    names = {n: getattr(lego_emit, n) for n in lego_emit.__all__} | MODULES
    with contextlib.redirect_stdout(io.StringIO()):
        exec(re.sub(r"^.*\.save\(.*$", "", code, flags=re.M), names)
    return names


def row(lane):
    return 0, lane


def column(lane):
    return lane, 0


def taken(memory, access, element_bytes=4):
    """How many wavefronts a read takes."""
    return bank_conflicts(memory, access, element_bytes).wavefronts


def banks(memory, rows, element_bytes=4, at=0):
    """How many banks a column meets."""
    words = range(0, element_bytes, 4)
    starts = [memory.apply(r, at) * element_bytes for r in range(rows)]
    return len({(start + k) // 4 % 32 for start in starts for k in words})


def gallery():
    names = names_of("web/gallery/swizzle.py")
    plain, swizzled = names["plain"], names["swizzled"]
    return banks(swizzled, 32), taken(swizzled, column), taken(plain, column)


def xor_swizzle():
    names = names_of("docs/cookbook.md", "## XOR swizzle")
    return banks(names["plain"], 32), banks(names["swizzled"], 32)


def plain_tile():
    names = names_of("docs/cookbook.md", "## A tile without bank conflicts")
    found = bank_conflicts(GroupBy([32, 32]), names["columns"])
    return {*found.widths}, found.degree


def best_tile():
    names = names_of("docs/cookbook.md", "## A tile without bank conflicts")
    written = bank_conflicts(names["tile"], names["rows"], write=True)
    return (
        written.is_free,
        bank_conflicts(names["tile"], names["columns"]).is_free,
        {*written.widths},
    )


def ldmatrix():
    names = names_of("docs/cute.md", "## A swizzled tile for ldmatrix")
    tile, rows, access = names["tile"], names["rows"], hardware.ldmatrix(1)
    return banks(tile, 8, 2), taken(tile, access, 2), taken(rows, access, 2)


def template():
    tile = names_of("docs/kernels.md", "`layouts.py`:")["tile"]
    return taken(tile, column), taken(GroupBy([32, 32]), column)


def small_tile():
    tile = names_of("docs/linear.md", "A layout with one result is drawn by its indices")["small"]
    return {banks(tile, 8, 2, c) for c in range(32)}


def notebook():
    names = names_of("docs/notebook.ipynb", "swizzle does:")
    return banks(names["swizzle"], 16, 8), banks(names["rows"], 16, 8)


def two_rows():
    return bank_conflicts(GroupBy([16, 16]), hardware.mma("a"), 2).degree


def skewed():
    found = set()
    for rows in (1, 5, 32):
        layout = catalogue["banks.skewed"](rows, 32)
        found.add(taken(layout, row))
        found.add(taken(layout, partial(lambda rows, lane: (lane % rows, 0), rows)))
    return found


def padded():
    layout = names_of("golden/strided_padded_tile/layout.py")["layout"]
    return taken(layout, column), taken(layout, row)


CLAIMS = [
    ("web/gallery/swizzle.py", "a column of 32 x 32 words meets all 32 banks",
     gallery, (32, 1, 32)),
    ("docs/cookbook.md", "A column of plain rows lies in one bank", xor_swizzle, (1, 32)),
    ("docs/cookbook.md", "eight lanes of a read of 16 bytes collide in one bank",
     plain_tile, ({16}, 8)),
    ("docs/cookbook.md", "the best tile, which is also written in wide stores",
     best_tile, (True, True, {16})),
    ("docs/cute.md", "1 wavefront, where plain rows take 8", ldmatrix, (8, 1, 8)),
    ("docs/kernels.md", "reads a column in 1 wavefront, where plain rows take 32",
     template, (1, 32)),
    ("docs/linear.md", "The eight elements of a column lie in eight banks.", small_tile, {8}),
    ("docs/notebook.ipynb", "16 doubles lies in all 32 banks, without it in two",
     notebook, (32, 2)),
    ("docs/movement.md", "Two rows of a half-precision tile share their banks", two_rows, 2),
    ("docs/catalogue.md", "rows and columns are without conflict where rows <= columns, the banks",
     skewed, {1}),
    ("golden/strided_padded_tile/layout.py", "a padding of one word a row: no bank conflicts",
     padded, (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(
    "path, sentence, computed, wanted", CLAIMS, ids=[claim[2].__name__ for claim in CLAIMS]
)
def test_a_sentence_on_banks_is_what_is_computed(path, sentence, computed, wanted):
    assert sentence in " ".join(text_of(path).split())
    assert computed() == wanted
