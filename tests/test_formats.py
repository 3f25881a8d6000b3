"""The catalogue: each entry against its definition, written a second time from the source."""

import contextlib
import os
import re
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from formats import devices, libraries

from lego_emit import catalogue, generate, symbols
from lego_emit.errors import LayoutError

DEFINITIONS = {**libraries.DEFINITIONS, **devices.DEFINITIONS}
CASES = [(name, *case) for name, cases in DEFINITIONS.items() for case in cases]
IDS = [f"{name}-{'x'.join(map(str, sizes))}" for name, _, sizes in CASES]


@pytest.mark.parametrize(("name", "define", "sizes"), CASES, ids=IDS)
def test_equals_its_definition(name, define, sizes):
    layout, wanted = catalogue[name](*sizes), define(*sizes)
    for index in product(*map(range, layout.dims)):
        assert layout.apply(*index) == wanted(*index), index


@pytest.mark.parametrize("name", list(catalogue))
def test_says_where_it_comes_from(name):
    entry = catalogue[name]
    assert entry.name == name and entry.summary.endswith(".") and entry.source and entry.ragged
    assert entry.is_verified == (name in DEFINITIONS), "checked= says whether it was compared"


def test_few_could_not_be_verified():
    assert len([e for e in catalogue.values() if not e.is_verified]) <= 5


@pytest.mark.parametrize("name", list(catalogue))
def test_is_a_layout(name):
    entry = catalogue[name]
    layout = entry(**entry.example)
    assert "many-to-one" not in layout.check()


# -- the page ------------------------------------------------------------------------------------

PAGE = Path(__file__).parent.parent / "docs" / "catalogue.md"
FIRST = "## "


def file_name(name):
    return "-".join(re.findall(r"\w+", name))


def written():
    """The part of the page that the entries say themselves."""
    lines, family = [], None
    for entry in sorted(catalogue.values(), key=lambda e: e.name.partition(".")[0]):
        if entry.name.partition(".")[0] != family:
            family = entry.name.partition(".")[0]
            lines += [f"{FIRST}{family}", ""]
        given = ", ".join(f"{k}={v}" for k, v in entry.example.items())
        lines += [
            f"### {entry.name}({', '.join(entry.parameters)})",
            "",
            entry.about,
            "",
            f"- Source: {entry.source}.",
            f"- Checked: {entry.checked or 'unverified'}.",
            f"- Sizes: {entry.ragged}.",
            "",
            f'<!-- picture: catalogue["{entry.name}"](**catalogue["{entry.name}"].example) -->',
            f"![{given}](pictures/catalogue/{file_name(entry.name)}.svg)",
            "",
        ]
    return "\n".join(lines).rstrip("\n") + "\n"


def test_the_page_has_every_entry():
    text = PAGE.read_text(encoding="utf-8")
    start = text.find(f"\n{FIRST}") + 1
    if os.environ.get("LEGO_UPDATE_DOCS"):
        PAGE.write_text((text[:start] if start else text) + written(), encoding="utf-8")
        text, start = PAGE.read_text(encoding="utf-8"), start or len(text)
    assert text[start:] == written(), "LEGO_UPDATE_DOCS=1 pytest tests/test_formats.py writes it"


# -- devices, curves and distributions ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sizes", "index", "offset"),
    [
        ("{1,0:T(2,2)}", (3, 5), (2, 3), 17),  # the document's own examples
        ("{1,0:T(2,4)(2,1,1,1)}", (8, 8), (6, 5), 51),
        ("{1,0}", (3, 5), (2, 3), 13),
        ("{0,1}", (3, 5), (2, 3), 11),
    ],
)
def test_xla_offsets(text, sizes, index, offset):
    assert catalogue[f"xla.{text}"](*sizes).apply(*index) == offset


def test_xla_combines_dimensions():
    """F32[2,7,8,11,10] with the tile (*,*,2,*,3) is F32[112,110] with (2,3); here smaller."""
    combined = catalogue["xla.{4,3,2,1,0:T(*,*,2,*,3)}"](2, 3, 4, 3, 5)
    plain = catalogue["xla.{1,0:T(2,3)}"](24, 15)
    for a, b, c, d, e in product(range(2), range(3), range(4), range(3), range(5)):
        assert combined.apply(a, b, c, d, e) == plain.apply((a * 3 + b) * 4 + c, d * 5 + e)
    assert "bijection" in combined.check()


def test_xla_takes_dimensions_in_memory_order():
    swapped, plain = catalogue["xla.{0,1:T(2,4)}"](8, 6), catalogue["xla.{1,0:T(2,4)}"](6, 8)
    for i, j in product(range(8), range(6)):
        assert swapped.apply(i, j) == plain.apply(j, i)


NO_LAYOUTS = (
    " T(2) {0,2} {1,1} {1,0:T()} {1,0:T(0,2)} {1,0:T(1,2,3)} {1,0:T(4,4)(3,1)} {1,0:T(2,*)} "
    "{1,0:T(2,2)(*,1)} {0:T(*,2)}"
)


@pytest.mark.parametrize("text", NO_LAYOUTS.split(" "))
def test_no_layout_of_xla(text):
    with pytest.raises(LayoutError, match=r"catalogue\[.*xla"):
        catalogue[f"xla.{text}"]


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("amd.64KB_S", (8, 8, 3)),
        ("fragment.MFMA", ("c", 8)),
        ("arrays.AoSoA", (8, 3, 0)),
        ("ascend.NZ", (16, 16, 8)),
        ("dram.permutation", (8, 3, 4)),
        ("dram.permutation", (8, 4, 4, -1)),
        ("healpix.NESTED", (6,)),
        ("healpix.NESTED", (symbols("N"),)),
        ("healpix.RING", (0,)),
        ("hilbert.2D", (symbols("N"), 4)),
        ("nvidia.BLOCK_LINEAR_2D", (8, 64, 6)),
        ("nvidia.BLOCK_LINEAR_2D", (8, 64, True)),
        ("fragment.mma", ("e",)),
        ("fragment.wgmma", ("d", 24)),
        ("quda.even_odd", (2, 2, 2, 3)),
        ("triton.grouped", (8, 4, 0)),
        ("xla.{1,0:T(*,4)}", (3, 2)),
    ],
)
def test_refuses(name, sizes):
    with pytest.raises(LayoutError):
        catalogue[name](*sizes)


@pytest.mark.parametrize("name", list(devices.DEFINITIONS))
def test_nonsense_is_a_layout_error(name):
    entry = catalogue[name]
    for wrong in (None, "x", 0, -1, 2.5, [], [4], {}, object(), np.array([4, 4])):
        for axis in range(len(entry.parameters)):
            sizes: list[object] = [2] * len(entry.parameters)
            sizes[axis] = wrong
            with contextlib.suppress(LayoutError):
                entry(*sizes)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("arrays.AoSoA", {"count": 10, "fields": 3, "vector": 4}),
        ("arrays.boustrophedon", {"rows": 5, "columns": 6}),
        ("ascend.NZ", {"rows": 20, "columns": 18}),
        ("banks.skewed", {"rows": 5, "columns": 7}),
        ("healpix.RING", {"nside": 3}),
        ("intel.Y", {"rows": 33, "bytes": 130}),
        ("triton.grouped", {"rows": 7, "columns": 4}),
    ],
)
def test_sizes_may_be_symbols(name, sizes):
    rest = {"group": 3} if name == "triton.grouped" else {}
    named = catalogue[name](**{n: symbols(n) for n in sizes}, **rest)
    assert "inv undoes apply" in named.check(**sizes)
    assert named.check(**sizes) == catalogue[name](**sizes, **rest).check()


def test_any_even_side_of_a_lattice():
    layout = catalogue["quda.even_odd"](*symbols("T Z Y"), 2 * symbols("H"))
    assert "bijection onto 0..59" in layout.check(T=1, Z=2, Y=5, H=3)


def test_banks_without_conflict():
    layout = catalogue["banks.skewed"](5, 8)
    assert all(len({layout.apply(r, c) % 8 for r in range(5)}) == 5 for c in range(8))
    assert all(sorted(layout.apply(r, c) % 8 for c in range(8)) == [*range(8)] for r in range(5))


def test_hilbert_steps_to_a_neighbour():
    layout = catalogue["hilbert.2D"](64, 64)
    walk = [layout.inv(k) for k in range(64 * 64)]
    assert (walk[0], walk[-1]) == ((0, 0), (63, 0))
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(walk))


@pytest.mark.parametrize(("order", "most"), [(4, 54), (16, 106)])
def test_hilbert_costs_log_of_the_order(order, most):
    unit = generate(catalogue["hilbert.2D"](1 << order, 1 << order), "cpp", name="hilbert")
    assert unit.functions[0].op_count <= most
