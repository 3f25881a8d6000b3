"""recognize: tables of every family are made by NumPy and plain loops, and their layouts found."""

import random
import re
from math import prod
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from index_functions import golden_cases
from steps import at_most

import lego_emit
from lego_emit import GenP, GroupBy, RegP, Strided, generate, hardware, recognize
from lego_emit.algebra.masked import Padded
from lego_emit.algebra.reference import table
from lego_emit.cli import main
from lego_emit.cute import Swizzle, Swizzled
from lego_emit.errors import LayoutError

GOLDEN = Path(__file__).parent.parent / "golden"
NAMES = {
    **{n: getattr(lego_emit, n) for n in lego_emit.__all__},
    "Swizzle": Swizzle,
    "Padded": Padded,
}
NAMES["Swizzled"] = Swizzled


def found(table, *kinds, dims=None):
    """What is recognised, its own table being the given one, entry by entry, and that of its repr."""
    result = recognize(table, dims)
    assert result, result.why
    assert result.kind in kinds, str(result)
    table = np.asarray(table).reshape(result.layout.dims)
    again = eval(repr(result.layout), dict(NAMES))
    for index in np.ndindex(table.shape):
        assert result.layout.apply(*index) == table[index] == again.apply(*index)
    return result


def factors(draw, count, most=6):
    return [draw.randint(2, most) for _ in range(count)]


@pytest.mark.parametrize("seed", range(12))
def test_permuted_digits(seed):
    draw = random.Random(seed)
    sizes = factors(draw, draw.randint(1, 4), 5)
    perm = draw.sample(range(len(sizes)), len(sizes))
    places = np.empty(prod(sizes), int)
    places[np.arange(prod(sizes)).reshape(sizes).transpose(perm).ravel()] = np.arange(prod(sizes))
    result = found(places, "mixed radix")
    digits = [p for _, order in result.layout._steps for p in order.perms]
    assert sum(len(p.dims) for p in digits) <= len(sizes)
    assert result.layout.has_inverse
    cut = draw.choice([d for d in range(1, prod(sizes) + 1) if prod(sizes) % d == 0])
    found(places.reshape(cut, -1), "mixed radix")


@pytest.mark.parametrize("seed", range(12))
def test_strides(seed):
    """Nested sizes with any strides, the coordinates of a mode counted one by one."""
    draw = random.Random(seed)
    modes = [
        [(n, draw.choice([0, 1, -1, 3, 7, 64, -100])) for n in factors(draw, draw.randint(1, 3), 4)]
        for _ in range(draw.randint(1, 3))
    ]
    total = np.array(draw.randint(-50, 50))
    for mode in modes:
        line = np.array([0])
        for n, d in mode:
            line = (np.arange(n)[:, None] * d + line).ravel()
        total = total[..., None] + line
    result = found(total, "strided", "mixed radix")
    if result.kind == "strided" and isinstance(result.layout, Strided):
        assert len(result.layout.leaves) <= sum(map(len, modes))


def test_strides_across_the_dims():
    table = (np.arange(4)[:, None] * 100 + np.arange(6) * 7).reshape(3, 8)
    result = found(table, "strided")
    assert repr(result.layout) == "GroupBy([3, 8]).OrderBy(Strided((4, 6), (100, 7)))"


def test_a_cropped_axis():
    """Channels in blocks of 16, of which the last one is not full; nested lists."""
    rows = [[64 * n + c // 16 * 32 + c % 16 for c in range(20)] for n in range(3)]
    result = found(rows, "padded")
    assert result.layout == Padded([3, 20], Strided((3, (16, 2)), (64, (1, 32))))
    found([[k * 8 + j for j in range(5)] for k in range(3)], "strided")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.quick(4)
def test_swizzled(seed):
    """Sizes that are no powers of two as well: each position's bits by hand."""
    draw = random.Random(seed)
    bits, low = draw.randint(1, 3), draw.randint(0, 3)
    shift = draw.randint(bits, 4)
    rows, pitch = draw.choice([(32, 64), (24, 64), (24, 72), (20, 136)])
    table = np.arange(rows)[:, None] * pitch + np.arange(64)
    for bit in range(low, low + bits):
        table = table ^ (table >> bit + shift & 1) << bit
    result = found(table, "swizzled", "tiled", "linear")
    if pitch == 64 and rows == 32:
        assert result.kind == "swizzled"


@pytest.mark.parametrize("seed", range(10))
def test_bits(seed):
    draw = random.Random(seed)
    widths = factors(draw, draw.randint(1, 3), 3)
    size = sum(widths)
    columns = [draw.randrange(1 << size) for _ in range(size)]
    offset = draw.choice([0, draw.randrange(1 << size)])
    table = []
    for k in range(1 << size):
        y = offset
        for b, column in enumerate(columns):
            y ^= column if k >> b & 1 else 0
        table.append(y)
    dims = [1 << w for w in widths]
    kinds = ("linear", "affine", "swizzled", "strided", "mixed radix")
    found(np.reshape(table, dims), *kinds)
    rows = max(1, (1 << widths[0]) - 1)  # the same, cropped
    found(np.reshape(table, dims)[:rows], *kinds, "padded", "tiled", "piecewise", "formula")


def test_several_results():
    """A function of coordinates of an mma's accumulator, by its definition in the PTX ISA."""

    def element(register, lane):
        return lane // 4 + 8 * (register // 2), lane % 4 * 2 + register % 2

    result = recognize(element, (4, 32))
    assert (result.kind, result.layout.results) == ("linear", ("out0", "out1"))
    for register in range(4):
        for lane in range(32):
            assert result.layout.apply(register, lane) == element(register, lane)
    none = recognize(lambda g: (g // 8 % 3, g // 24 * 8 + g % 8), 96)
    assert not none
    assert "Each alone: out0: Strided(((8, 3, 4),), ((0, 1, 0),))" in none.why
    grouped = recognize(lambda p: (p // 28 * 4 + p % 4, p % 28 // 4), 56)
    assert "It is the inv of GroupBy([8, 7]).OrderBy(RegP([2, 4, 7], [0, 2, 1]))" in grouped.why


@pytest.mark.quick(1)
@pytest.mark.parametrize("pitch", [1024, 1500])
def test_a_permutation_that_repeats(pitch):
    """1,024 elements whose permutation is linear over F2, once for each of three blocks."""
    inner = np.arange(1024)
    inner = inner ^ inner >> 3
    table = (np.arange(3)[:, None] * pitch + inner).ravel()
    result = found(table, "tiled")
    assert "Row(3), Linear(" in repr(result.layout)
    assert result.layout.has_inverse == (pitch == 1024)


@pytest.mark.parametrize("seed", range(6))
def test_tiles_in_space(seed):
    """Tiles of 4 x 8 in any order and at any pitch, each permuted by bits."""
    draw = random.Random(seed)
    columns = [1, 2, 4, 8, 16]
    for _ in range(6):
        a, b = draw.sample(range(5), 2)
        columns[a] ^= columns[b]
    inner = np.array([0])
    for column in columns:
        inner = np.concatenate([inner, inner ^ column])
    outer = np.array([[draw.choice([32, 40]) * (3 * i + j) for j in range(3)] for i in range(5)])
    outer = 32 * np.arange(15).reshape(3, 5).T if seed % 2 else outer // 40 * 40
    table = (outer[:, None, :, None] + inner.reshape(4, 8)[:, None]).reshape(20, 24)
    if seed % 2:
        result = found(table, "tiled", "mixed radix", "strided")
        assert result.layout.has_inverse
    else:  # whatever it is, nothing wrong is said
        assert not (result := recognize(table)) or (result.layout[:, :] == table).all()


def test_even_and_odd_sites():
    """A lattice's sites, those of even parity first: 4 x 12 x 6 is no power of two."""
    table = np.empty((4, 12, 6), int)
    for t, x, y in np.ndindex(table.shape):
        table[t, x, y] = ((t * 12 + x) * 6 + y) // 2 + (t + x + y) % 2 * 144
    assert found(table, "tiled").layout.has_inverse


def test_two_permutations_that_do_not_line_up():
    flat = np.arange(24).reshape(4, 6).T.ravel().reshape(8, 3).T.ravel()
    result = found(np.argsort(flat), "mixed radix")
    assert len(result.layout._steps) == 2


def boustrophedon(i, j):
    return i * 9 + (j if i % 2 == 0 else 8 - j)


def antidiagonal(i, j):
    s = i + j
    return s * (s + 1) // 2 + i if s < 9 else 80 - ((16 - s) * (17 - s) // 2 + 8 - i)


def grouped(m, n):
    first = m // 4 * 4
    return first * 7 + n * min(4, 10 - first) + m - first


FORMULAS = [
    (lambda k: k * (k + 1) // 2, (100,), "polynomial", False),
    (lambda i, j: i + j * (j + 1) // 2, (12, 12), "polynomial", False),
    (lambda i, j: min(i, j) + max(i, j) * (max(i, j) + 1) // 2, (12, 12), "piecewise", False),
    (boustrophedon, (7, 9), "piecewise", True),
    (antidiagonal, (9, 9), "piecewise", False),
    (lambda i, j: i * 7 + (j + 3 * i) % 7, (24, 7), "piecewise", True),
    (lambda i, j: (i + j) % 8 * 24 + i, (24, 8), "piecewise", True),
    (grouped, (10, 7), "tiled", True),
    (lambda k: (5 * k + 3) % 24, (24,), "formula", True),
]


@pytest.mark.parametrize("function, dims, kind, inverse", FORMULAS)
@pytest.mark.quick(4)
def test_formulas(function, dims, kind, inverse):
    table = np.array([function(*map(int, index)) for index in np.ndindex(dims)]).reshape(dims)
    result = found(table, kind)
    assert recognize(function, dims) == result
    if inverse:
        for index in np.ndindex(dims):
            assert result.layout.inv(int(table[index])) == index
    unit = generate(result.layout, "rust", name="f")
    assert len(unit.functions) == 1 + inverse


@pytest.mark.slow
@pytest.mark.parametrize("function, dims, kind, inverse", FORMULAS)
def test_formulas_are_emitted(function, dims, kind, inverse):
    assert generate(recognize(function, dims).layout, "cpp", name="f").verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("dims", [(16,), (97,), (8, 8), (6, 10), (4, 4, 4)])
def test_what_is_random(dims):
    for seed in range(3):
        draw = np.random.default_rng(seed)
        result = recognize(draw.permutation(prod(dims)).reshape(dims))
        assert (bool(result), result.layout, result.kind) == (False, None, "")
        assert "not strided: entry" in result.why and "no formula" in result.why
    assert not recognize(draw.permutation(4096))


def test_one_entry_is_wrong():
    """Of a strided table, of bits, of a polynomial: the entry is told, or what is found has it."""
    table = np.arange(6)[:, None] * 80 + np.arange(10)
    table[4, 7] += 1
    result = recognize(table)
    assert not result and "entry (4, 7) is 328 where those before it ask for 327" in result.why
    bits = np.arange(64) ^ np.arange(64) >> 1
    bits[[21, 22]] = bits[[22, 21]]
    result = recognize(bits)
    told = re.search(r"entry (\d+) is (\d+), (\d+) is (\d+), (\d+) is (\d+), which", result.why)
    x, fx, y, fy, z, fz = map(int, told.groups())
    assert not result and x ^ y == z and fx ^ fy != fz
    assert [fx, fy, fz] == bits[[x, y, z]].tolist()


def test_a_layout_comes_back():
    for layout in (
        GroupBy([6, 4]).OrderBy(RegP([2, 3, 2, 2], [0, 2, 1, 3])),
        Strided((4, 6), (0, -1), 5),
        Swizzled(Swizzle(3, 3, 3), Strided((24, 64), (72, 1))),
        hardware.mma("a"),
    ):
        assert recognize(layout).layout == layout
    text = "GroupBy([8, 8]).OrderBy(Col(8, 8)): digits of a mixed radix"
    assert str(recognize(np.arange(64).reshape(8, 8).T)) == text


@pytest.mark.slow
def test_golden_layouts():
    """All but a permutation at random and those of one antidiagonal tile of 3 x 3, which is too small
    for its two polynomials."""
    kinds = {}
    for case in golden_cases():
        if case.layout is not None and case.layout.is_concrete and not case.layout.masks:
            kinds.setdefault(recognize(case.layout).kind, []).append(case.name)
    assert sorted(kinds.pop("")) == ["antidiag_3", "fig6_right", "lookup_map", "lookup_permutation"]
    assert sum(map(len, kinds.values())) > 80
    digits = {"mixed radix", "strided", "padded"}
    assert set(kinds) == digits | {"linear", "swizzled", "piecewise", "formula", "catalogue"}


HARDWARE = [
    hardware.mma("a"), hardware.mma("b"), hardware.mma("c"), hardware.wgmma("d", 16),
    hardware.ldmatrix(4, True), hardware.mfma("a"), hardware.mfma("c"), hardware.wmma("a"),
    hardware.blocked([1, 4], [8, 4], [2, 2], shape=(16, 32)), hardware.sliced(hardware.mma("c"), 1),
    hardware.swizzled(32, 64, vec=8, per_phase=1, max_phase=8), hardware.nvmma_shared(16, 32),
]  # fmt: skip


@pytest.mark.parametrize("layout", HARDWARE)
def test_hardware(layout):
    result = recognize(layout)
    assert result.kind in ("linear", "swizzled", "strided", "mixed radix")
    flat = recognize(layout.flatten_outs())
    assert flat.kind in ("linear", "swizzled", "strided", "mixed radix")


BAD = [
    ([0, None, 2], None, "entry 1 is None: a hole"),
    (np.array([0, np.nan]), None, "entry 1 is NaN: a hole"),
    ([0.5, 1], None, "entry 0 is 0.5: no integer"),
    (np.array([0.0, 1.0]), None, "an array of float64; give integers"),
    ([[0, 1], [2]], None, "lists of 1 and 2 entries"),
    ([[0, 1], 2], None, "numbers and lists beside each other"),
    ([], None, "no entries"),
    (np.zeros((0, 3), int), None, "no entries"),
    ([0, 1, 2], (2, 2), "3 entries, and dims .2, 2. have 4"),
    ([0, 1], (0, 2), "a size is at least 1"),
    ([0, 2**50], None, r"entry 1 is 1125899906842624; entries lie within"),
    (np.array([2**64 - 1], np.uint64), None, "entries lie within"),
    ("012", None, "a str; give an array"),
    (lambda i: i, None, "give dims"),
    (lambda i: i, (2**30,), "at most 2..20"),
    (
        lambda i: 1 // i,
        (3,),
        r"at 0 it raised ZeroDivisionError \(line \d+ of test_recognize\.py\): ",
    ),
    (lambda i: i / 2, (3,), "at 0 it gives 0.0, no integer"),
    (lambda i: (i, i) if i else i, (3,), "at 1 it gives 2 results, before 1"),
    (GroupBy([2, 3]), (3, 2), "dims are .3, 2., and its own .2, 3."),
]


@pytest.mark.parametrize("table, dims, message", BAD)
def test_bad_input(table, dims, message):
    with pytest.raises(LayoutError, match=message):
        recognize(table, dims)


def test_blocks_that_have_no_table():
    M = lego_emit.symbols("M")
    with pytest.raises(LayoutError, match="integer sizes"):
        recognize(GroupBy([M, 4]))


def test_what_masks_is_a_formula():
    upper = recognize(lego_emit.catalogue["lapack.TP"](6))
    assert upper.kind == "piecewise" and upper.layout.apply(3, 1) == -1


@pytest.mark.parametrize("function, text", [(min, "min(i, 4)"), (max, "max(i, 19)")])
def test_what_has_a_bound_is_a_formula(function, text):
    bound = 4 if function is min else 19
    found = recognize([function(i, bound) for i in range(24)])
    assert text in repr(found.layout)
    assert [found.layout.apply(i) for i in range(24)] == [function(i, bound) for i in range(24)]


@pytest.mark.parametrize("name", list(lego_emit.catalogue))
@pytest.mark.quick(4)
def test_the_catalogue(name):
    """Every entry from its table alone."""
    layout = lego_emit.catalogue[name](**lego_emit.catalogue[name].example)
    found = recognize(table_of(layout) if layout.results is None else layout)
    assert found and (found.kind == "catalogue") == (
        name in ("hilbert.2D", "hilbert.3D", "healpix.RING", "lapack.TF")
    )


def table_of(layout):
    return table(layout).reshape(layout.dims)


def test_within_a_function_that_is_followed():
    """What is being generated is not disturbed, whatever user functions the table is made by."""
    column = GroupBy([4, 8]).OrderBy(
        GenP([4, 8], lambda i, j: j * 4 + i, lambda p: (p % 4, p // 4))
    )

    def kernel(i, j):
        layout = recognize(column).layout
        return layout[i, j]

    unit = generate(kernel, "cpp", ranges={"i": (0, 4), "j": (0, 8)})
    assert "4 * j + i" in unit.source or "i + 4 * j" in unit.source


def test_the_command_line(tmp_path):
    table, made = tmp_path / "table.csv", tmp_path / "found.py"
    table.write_text("# of a 2 x 3 array\n0, 2, 4\n1, 3, 5\n")
    run = CliRunner().invoke
    result = run(main, ["recognize", str(table), "-o", str(made)])
    assert result.exit_code == 0
    assert (
        result.stdout
        == "GroupBy([2, 3]).OrderBy(Col(2, 3))\nmixed radix: digits of a mixed radix\n"
    )
    emitted = run(main, ["generate", f"{made}:layout", "-t", "cpp"])
    assert emitted.exit_code == 0 and "layout_inv" in emitted.stdout
    assert "import Col, GroupBy\n" in made.read_text()
    np.save(tmp_path / "t.npy", np.arange(16) ^ np.arange(16) >> 2)
    result = run(main, ["recognize", str(tmp_path / "t.npy"), "--dims", "4,4"])
    assert result.stdout.startswith("Swizzled(Swizzle(2, 0, 2), Strided((4, 4), (4, 1)))\n")
    table.write_text("\n".join(map(str, np.random.default_rng(0).permutation(50))))
    result = run(main, ["recognize", str(table)])
    assert result.exit_code == 1 and "not strided" in result.stdout


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("a.txt", "1 2\n3 x", "line 2: not integers"),
        ("a.txt", "1 2\n3", "lists of 1 and 2"),
        ("a.txt", "", "no entries"),
        ("a.txt", "0 1\n2,,3", "line 2: no entry between two commas"),
        ("a.npy", "1 2", "it is no array that numpy.save wrote"),
        ("missing.csv", None, "cannot be read: No such file"),
    ],
)
def test_bad_files(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    result = CliRunner().invoke(main, ["recognize", str(tmp_path / name)])
    assert result.exit_code == 2 and message in result.output, result.output


@pytest.mark.slow
def test_many_axes_are_quick():
    """A polynomial in twelve indices is tried on both sides of some hundred conditions."""
    draw = np.random.default_rng(1)
    table = draw.permutation(4096).reshape((2,) * 12)
    with at_most(3_000_000):
        assert recognize(table).layout is None


def test_a_masked_table_has_no_entry_for_some_index():
    with pytest.raises(LayoutError, match=r"a masked array; .* filled\(\)"):
        recognize(np.ma.array([0, 1, 2], mask=[0, 1, 0]))
