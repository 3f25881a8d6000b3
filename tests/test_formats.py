"""The catalogue: each entry against its definition, written a second time from the source."""

import contextlib
import os
import re
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from formats import devices, libraries
from marks import rest_slow

from lego_emit import Col, Packed, Row, TileBy, catalogue, copy, generate, symbols
from lego_emit.copies.unit import way_of
from lego_emit.errors import LayoutError
from lego_emit.trace.definition import parameters_of
from lego_emit.trace.same import same_map

DEFINITIONS = {**libraries.DEFINITIONS, **devices.DEFINITIONS}
CASES = [(name, *case) for name, cases in DEFINITIONS.items() for case in cases]
IDS = [f"{name}-{'x'.join(map(str, sizes))}" for name, _, sizes in CASES]


@pytest.mark.parametrize(("name", "define", "sizes"), rest_slow(CASES, 40), ids=IDS)
@pytest.mark.quick(4)
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


def copied(entry):
    """How rows get into it."""
    layout = entry(**entry.example)
    if layout.results is not None:
        return "Copy: of registers, `movement.convert`"
    return f"Copy from rows: {way_of(Row(*layout.dims), layout)}"


def written():
    """The part of the page that the entries say themselves."""
    lines, family = [], None
    for entry in catalogue.by_family():
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
            f"- {copied(entry)}.",
            "",
            f'<!-- picture: catalogue["{entry.name}"](**catalogue["{entry.name}"].example) -->',
            f"![{given}](pictures/catalogue/{file_name(entry.name)}.svg)",
            "",
        ]
    return "\n".join(lines).rstrip("\n") + "\n"


@pytest.mark.slow
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


def test_hilbert_steps_to_a_neighbor():
    layout = catalogue["hilbert.2D"](64, 64)
    walk = [layout.inv(k) for k in range(64 * 64)]
    assert (walk[0], walk[-1]) == ((0, 0), (63, 0))
    assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(walk))


@pytest.mark.parametrize(("order", "most"), [(4, 54), (16, 106)])
def test_hilbert_costs_log_of_the_order(order, most):
    unit = generate(catalogue["hilbert.2D"](1 << order, 1 << order), "cpp", name="hilbert")
    assert unit.functions[0].op_count <= most


# -- formats of libraries --------------------------------------------------------------------------


@pytest.mark.parametrize("tag", libraries.GRAMMAR)
@pytest.mark.quick(4)
def test_any_tag_of_onednn(tag):
    axes, cases = libraries.GRAMMAR[tag]
    entry = catalogue[f"onednn.{tag}"]
    for sizes in cases:
        layout, wanted = entry(*sizes), libraries.onednn(tag, axes)(*sizes)
        for index in product(*map(range, sizes)):
            assert layout.apply(*index) == wanted(*index), index


@pytest.mark.parametrize("name", [n for n in libraries.DEFINITIONS if "ggml" not in n])
def test_inverse_of_every_position(name):
    for _, sizes in libraries.DEFINITIONS[name]:
        layout = catalogue[name](*sizes)
        if layout.has_inverse:  # not with a pitch
            index = np.array([i.ravel() for i in np.indices(layout.dims)])
            back = np.array(layout.inv(np.arange(layout.physical_size)))
            position = layout.apply(*index)
            index, position = index[:, position >= 0], position[position >= 0]
            assert (back[:, position] == index).all()
            padding = np.setdiff1d(np.arange(layout.physical_size), position)
            assert (back[:, padding] == -1).all()


@pytest.mark.parametrize("name", rest_slow(libraries.DEFINITIONS, 8))
@pytest.mark.quick(4)
def test_with_symbols(name):
    entry = catalogue[name]
    required = [n for n in entry.parameters if "=" not in n]
    _, sizes = libraries.DEFINITIONS[name][:2][-1]
    layout = entry(*sizes)
    unit = generate(entry(*map(symbols, required), *sizes[len(required) :]), "cpp")
    apply, *inverse = unit.functions
    known = dict(zip(required, sizes, strict=False))
    names = [p.name for p in apply.params if p.name not in required]
    for flat in range(0, layout.size, 1 + layout.size // 50):
        index = [int(i) for i in np.unravel_index(flat, layout.dims)]
        given = known | dict(zip(names, index, strict=True))
        assert [*apply.evaluate(given).values()] == [layout.apply(*index)]
    for flat in range(0, layout.physical_size, 1 + layout.physical_size // 50):
        for inv in inverse:
            assert tuple(inv.evaluate(known | {"flat": flat}).values()) == layout.inv(flat)


def test_local_arrays_hold_what_numroc_says():
    for n, nb, p in product(range(1, 30), (1, 2, 3, 5), (1, 2, 3, 4)):
        layout = catalogue["scalapack.block_cyclic"](n, nb, p)
        held = np.array(layout.inv(np.arange(layout.physical_size))[0]).reshape(p, -1) >= 0
        for process in range(p):
            count = libraries.numroc(n, nb, process, p)
            assert held[process, :count].all() and not held[process, count:].any()


@pytest.mark.parametrize(("n", "uplo"), libraries.PRINTED)
def test_the_rectangles_that_lapack_prints(n, uplo):
    layout = catalogue["lapack.TF"](n, uplo)
    found = [layout.inv(flat) for flat in range(layout.physical_size)]
    assert " ".join(f"{i}{j}" for i, j in found) == libraries.PRINTED[n, uplo]


@pytest.mark.parametrize(("bits", "K", "N"), [(16, 32, 16), (8, 64, 16)])
def test_a_product_of_tiles(bits, K, N):
    """TDPBF16PS and TDPBSSD as their pseudocode has them, over 4-byte columns of a row."""
    group = 32 // bits
    a, b = np.arange(16 * K).reshape(16, K) % 7, np.arange(K * N).reshape(K, N) % 11
    rows = np.empty(K * N, dtype=int)
    rows[catalogue["x86.vnni"](K, N, bits=bits).apply(*np.indices((K, N)))] = b
    rows, found = rows.reshape(K // group, group * N), np.zeros((16, N), dtype=int)
    for m, k, n, i in product(range(16), range(K // group), range(N), range(group)):
        found[m, n] += a[m, group * k + i] * rows[k, group * n + i]
    assert (found == a @ b).all()
    tag = {16: "BA16a16b2a", 8: "BA16a16b4a"}[bits]  # one block of columns
    assert same_map(catalogue["x86.vnni"](K, N, bits=bits), catalogue[f"onednn.{tag}"](K, N))


def test_what_sources_print():
    """AutoAWQ's inverse order, cuBLAS's way back from an offset, the least ld in cublasLt.h."""
    assert [catalogue["awq.GEMM"](1, 8).apply(0, n) for n in range(8)] == [0, 4, 1, 5, 2, 6, 3, 7]
    scales = catalogue["nvidia.block_scales"](128, 4)
    assert all(scales.inv(x) == (x % 16 // 4 * 32 + x // 16, x % 4) for x in range(512))
    for name, rows, ld in [("COL32", 2, 64), ("COL4_4R2_8C", 1, 256), ("COL32_2R_4R4", 1, 1024)]:
        entry = catalogue[f"cublaslt.{name}"]
        assert entry(rows, 33).apply(0, 32) == ld and entry(rows, 33, ld=ld).apply(0, 32) == ld
        with pytest.raises(LayoutError, match=f"ld: {ld - 1}; .* have {ld} elements"):
            entry(rows, 33, ld=ld - 1)


@pytest.mark.parametrize(
    ("name", "sizes", "options", "message"),
    [
        ("marlin.B", (24, 64), {}, "24 is not a multiple of 16; pad it to 32"),
        ("marlin.B", (16, 32), {}, "32 is not a multiple of 64; pad it to 64"),
        ("awq.GEMM", (2, 9), {}, "9 is not a multiple of 8; pad it to 16"),
        ("awq.pack_intweight", (6, 64), {}, "6 is not a multiple of 4; pad it to 8"),
        ("ggml.q8_0x4", (4, 40), {}, "40 is not a multiple of 32; pad it to 64"),
        ("ggml.q8_0x4", (4, 32, 5), {}, "interleave is 5; there are 4, 8"),
        ("tinygemm.int4", (8, 32), {"inner_k_tiles": 3}, "inner_k_tiles is 3; there are 2, 4, 8"),
        ("nvidia.SW128", (8,), {"bits": "16"}, "bits is '16'; there are 4, 8"),
        ("x86.vnni", (4, 4), {"bits": 32}, "bits is 32; there are 16, 8"),
        ("cublaslt.COL32", (4, 64), {"ld": "x"}, "a size is an integer or a symbol"),
        ("blis.panel_a", (4, 4), {}, "missing a required argument: 'mr'"),
        ("blis.panel_a", (4, 4, 0), {}, "a size is at least 1"),
        ("lapack.TP", (4, "u"), {}, "uplo is 'u'; there are 'U', 'L'"),
        ("lapack.TF", ("n",), {}, "a size is an integer or a symbol"),
        ("scalapack.block_cyclic", (4, 2.5, 2), {}, "a size is an integer or a symbol"),
    ],
)
def test_refusals_of_libraries_formats(name, sizes, options, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        catalogue[name](*sizes, **options)


def test_options_may_be_numpys():
    for name, sizes, option in (("nvidia.SW128", (8,), 16), ("fragment.mma", ("a",), 8)):
        assert catalogue[name](*sizes, np.int64(option)) == catalogue[name](*sizes, option)


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("nCh-w", "no tag; write dimensions and then blocks"),
        ("nChw1c", "a block of 1; a block is at least 2"),
        ("nchw16c", "c, which is no capital before; write nChw"),
        ("nChw16x", "x, which is not a dimension"),
        ("OhwI24o", "I is a capital and has no block"),
        ("nnhw", "n stands twice"),
        ("nqw", "the dimensions n, q, w are no tensor's"),
    ],
)
def test_what_is_no_tag(tag, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        catalogue[f"onednn.{tag}"]


def test_an_entry_is_a_function_of_its_sizes():
    entry = catalogue["onednn.nChw16c"]
    assert len({entry, catalogue["onednn.nChw16c"], catalogue["nvidia.SW128"]}) == 2
    unit = generate(entry, "cpp")
    assert "nChw16c(n, c, h, w)" in unit.source and "a Entry" not in unit.source
    assert unit.functions[0].ranges["n"] == "n >= 1"


def with_symbols(entry):
    """The layout of symbols named as the entry's parameters, their names; the last ones are numbers where an entry
    takes nothing else."""
    given = {n: symbols(n) for n in entry.parameters if "=" not in n}
    for name in [*reversed(given), None]:
        try:
            return entry(**given), [n for n, v in given.items() if not isinstance(v, int)]
        except LayoutError:
            given[name] = entry.example[name]
    return None


@pytest.mark.parametrize("name", list(catalogue))
def test_parameters_are_in_the_order_of_the_entry(name):
    layout, wanted = with_symbols(catalogue[name])
    assert parameters_of(layout) == wanted


@pytest.mark.slow
def test_the_order_of_an_entry_stays():
    m, n, mb, nb, p, q = symbols("m n mb nb p q")
    order = ["m", "n", "mb", "nb", "p", "q"]
    cyclic = catalogue["scalapack.block_cyclic_2d"](m, n, mb, nb, p, q)
    assert repr(cyclic).index("p") < repr(cyclic).index("nb")  # else it would be in order anyway
    for given, sizes, wanted in (
        (cyclic, {}, order),
        (cyclic, {"mb": 4, "q": 3}, ["m", "n", "nb", "p"]),
        (cyclic @ Row(m, n), {}, order),
        (Packed(cyclic, 8), {}, order),
    ):
        for function in generate(given, "fortran", sizes=sizes).functions:
            names = [x.name for x in function.params]
            assert [x for x in names if x in order] == wanted, function.name
    copied = copy(cyclic, Row(m, n), "fortran")
    assert [x.name for x in copied.functions[0].params] == order
    tiled = replace(
        catalogue["arrays.boustrophedon"],
        make=lambda p, m, n: TileBy([m // p, n // p], [p, p]).OrderBy(Row(m, n)),
    )(p, m, n)
    for chained in (tiled.OrderBy(Col(m, n)), tiled.TileOrderBy(Row(m // p, n // p), Col(p, p))):
        assert parameters_of(chained) == ["p", "m", "n"]
    other = catalogue["scalapack.block_cyclic_2d"](n, m, 2 * mb, p * nb, q, 3)
    assert parameters_of(other) == ["n", "m", "mb", "nb", "p", "q"]


def test_an_entry_changes_no_layout_that_its_function_returns():
    m, n = symbols("m n")
    shared = Row(m, n)
    found = replace(catalogue["arrays.boustrophedon"], make=lambda n, m: shared)(n, m)
    assert found == shared and parameters_of(found) == ["n", "m"]
    assert parameters_of(shared) == ["m", "n"]
