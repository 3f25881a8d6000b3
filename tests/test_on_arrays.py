"""Layouts on arrays: indices that are arrays or tracers, and arrays moved by pack and unpack."""

import operator
import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from marks import rest_deep

import lego_emit
from lego_emit import (
    Choice,
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    Linear,
    Lookup,
    Pattern,
    RegP,
    Row,
    Strided,
    TileBy,
    catalogue,
    symbols,
)
from lego_emit.algebra import reference
from lego_emit.algebra.masked import Padded
from lego_emit.arrays import moving
from lego_emit.arrays import plan as planning
from lego_emit.arrays.owners import Owner
from lego_emit.cute import Swizzle, Swizzled
from lego_emit.errors import IndexRangeError, LayoutError, LegoError, OptionError, WidthError

# As PyPI has it, with CUDA's libraries.
NO_TORCH = "needs torch, which is over 2 GB: pip install .[torch]"

M, N, t = symbols("M N t")


def shifted(i, j):
    return i * 6 + (j + i) % 6


def unshifted(flat):
    return flat // 6, (flat % 6 - flat // 6) % 6


def by_digits(n):
    """A permutation in which the bits of two indices alternate."""
    return GroupBy([2**n, 2**n]).OrderBy(
        RegP([2] * (2 * n), [k // 2 + n * (k % 2) for k in range(2 * n)])
    )


FAMILIES = {
    "rows": Row(4, 6),
    "columns": Col(4, 6),
    "one": Row(1, 1),
    "size 1": Col(1, 6, 1),
    "tiles": TileBy([2, 3], [4, 2]).OrderBy(Row(2, 3), Col(4, 2)),
    "many digits": by_digits(4),
    "functions": GroupBy([4, 6]).OrderBy(GenP([4, 6], shifted, unshifted)),
    "one way": GroupBy([4, 6]).OrderBy(GenP([4, 6], lambda i, j: 23 - 6 * i - j)),
    "table": Lookup([6], [3, 0, 2, 1, 5, 4]),
    "pitch": Strided((4, 6), (8, 1)),
    "negative": Strided((4, 6), (-6, 1), 18),
    "broadcast": Strided((4, 6), (0, 1)),
    "swizzle": Swizzled(Swizzle(2, 0, 2), Strided((4, 8), (8, 1))),
    "padded": Padded([5, 7], GroupBy([8, 8]).OrderBy(RegP([2, 4, 2, 4], [0, 2, 1, 3]))),
    "masked": ExpandBy([5, 7], [8, 8], TileBy([2, 2], [4, 4])),
    "masked tiles": ExpandBy([5, 7], [8, 8], TileBy([2, 2], [4, 4]).OrderBy(Row(2, 2), Col(4, 4)), "logical"),
    "linear": Linear.identity1D(8, "i", "o"),
    "composed": Col(4, 6) @ GroupBy([4, 6]).OrderBy(RegP([2, 2, 6], [2, 0, 1])),
}  # fmt: skip
FROM_CATALOGUE = [n for n, e in catalogue.items() if e(**e.example).results is None]
DTYPES = (
    "int8", "uint64", "float16", "complex128", "bool", "O", "U7", "M8[s]", [("a", "i4"), ("b", "u1")]
)  # fmt: skip


def table_of(layout):
    """The position of every index, by the reference evaluator."""
    found = reference.apply(layout, [*np.indices(layout.dims)])
    return np.broadcast_to(found[0] if isinstance(found, tuple) else found, layout.dims)


def random_layout(rng):
    """A layout of some tiles in some order."""
    rank, levels = rng.randint(1, 3), rng.randint(1, 3)
    tiles = [[rng.choice((1, 2, 3, 4)) for _ in range(rank)] for _ in range(levels)]
    layout = rng.choice((TileBy, GroupBy))(*tiles)
    for _ in range(rng.randint(0, 2)):
        dims = [*layout.dims]
        layout = layout.OrderBy(RegP(dims, rng.sample(range(len(dims)), len(dims))))
    if rng.random() < 0.4:
        return Padded([rng.randint(1, n) for n in layout.dims], layout)
    return layout


# -- indices ---------------------------------------------------------------------------------------


class Operand:
    """An array that has Python's operators alone, as a tracer does: no method, no library, no divmod."""

    def __init__(self, values):
        self._values = values
        self.dtype, self.shape = f"int{8 * values.dtype.itemsize}", values.shape

    def __getitem__(self, key):
        return Operand(self._values[key])

    def __bool__(self):
        raise AssertionError("a tracer has no truth")


def operand(x):
    return x._values if isinstance(x, Operand) else x


for _name in "add sub mul floordiv mod and_ or_ xor lshift rshift lt le gt ge eq ne".split():
    _own, _way = _name.strip("_"), getattr(operator, _name)
    setattr(Operand, f"__{_own}__", lambda a, b, f=_way: Operand(f(a._values, operand(b))))
    setattr(Operand, f"__r{_own}__", lambda a, b, f=_way: Operand(f(operand(b), a._values)))
Operand.__invert__ = lambda a: Operand(~a._values)  # pyright: ignore
Operand.__neg__ = lambda a: Operand(-a._values)  # pyright: ignore


@pytest.mark.parametrize("name", [n for n in FAMILIES if n != "table"])
@pytest.mark.quick(4)
def test_operators_alone_give_the_positions_of_the_reference(name):
    layout = FAMILIES[name]
    wanted = table_of(layout)
    found = layout.apply(*map(Operand, np.indices(layout.dims)))
    found = found[0] if isinstance(found, tuple) else found
    assert found.shape == layout.dims and np.array_equal(found._values, wanted)
    if layout.has_inverse and layout.results is None:
        flat = np.arange(layout.physical_size)
        for own, due in zip(layout.inv(Operand(flat)), layout.inv(flat), strict=True):
            assert np.array_equal(own._values, due) and own.shape == flat.shape


@pytest.mark.parametrize("name", rest_deep(FROM_CATALOGUE, 5))
def test_operators_alone_on_the_catalogue(name):
    entry = catalogue[name]
    layout = entry(**entry.example)
    try:
        found = layout.apply(*map(Operand, np.indices(layout.dims)))
    except IndexRangeError as error:
        assert "Python's operators alone" in str(error)
        return
    assert np.array_equal(found._values, table_of(layout))


KEYS = {
    "2 apart": (np.array([0, 1, 1]), slice(None), 1, slice(None)),
    "behind": (slice(None), np.array([2, 0]), np.array([[0], [3]]), slice(None)),
    "before and behind": (np.array([1, 0]), slice(None), np.array([[1], [3]]), 2),
    "parts": (slice(0, 1), np.array([1]), slice(1, 4, 2), np.array([[4], [0]])),
    "a number": (1, slice(None), np.array([3, 3]), slice(None)),
    "numbers alone": (slice(None), 1, slice(None), 4),
    "arrays alone": (np.array([1, 0]), 2, np.array([[3], [1]]), 0),
    "one axis": (slice(None), slice(None), np.array(2), np.array([0, 4])),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_slices_and_arrays_are_placed_as_numpy_does(key):
    layout = GroupBy([2, 3, 4, 5]).OrderBy(Col(2, 3, 4, 5))
    wanted = layout[:, :, :, :][key]
    assert np.array_equal(layout[key], wanted) and layout[key].shape == wanted.shape


def test_a_number_of_a_library_without_arange_has_no_slices():
    with pytest.raises(IndexRangeError, match="needs its library's arange"):
        Col(4, 6)[Operand(np.arange(4)), :]


def test_operands_are_refused_where_their_integers_are_too_narrow():
    tiles = TileBy([20, 20], [32, 32])
    for dtype in (np.int8, np.int16):
        with pytest.raises(WidthError, match=r"go from 0 to 409599, and an array of int\d+ holds"):
            tiles[Operand(np.zeros(3, dtype)), 0, 0, 0]
    assert tiles[Operand(np.ones(3, np.int32)), 0, 0, 0]._values.dtype == np.int32


WRONG = {
    "floats": (lambda: Col(4, 6)[np.array([1.0]), 0], "an array of float64; give an integer, an array of"),
    "truths": (lambda: Col(4, 6)[np.array([True]), 0], "an array of bool"),
    "two libraries": (lambda: Col(4, 6)[np.array([1]), Operand(np.array([1]))], "give arrays of one library"),
    "a symbol beside": (lambda: Col(4, 6)[M, Operand(np.array([1]))], "give numbers for the symbols"),
    "a size": (lambda: Row(M, 6)[1, Operand(np.array([1]))], "give numbers for the symbols"),
    "a bound of a symbol": (lambda: Row(4, 6).in_bounds(M, 0), "in a template write"),
    "bounds of symbols": (lambda: Row(M, 6).in_bounds(1, 0), "give numbers for the symbols"),
    "too few": (lambda: Row(4, 6).in_bounds(1), "2 indices wanted, 1 given"),
    "half": (lambda: Row(4, 6).in_bounds(0.5, 0), "index 0 is 0.5, a float"),
}  # fmt: skip


@pytest.mark.parametrize("ask, words", WRONG.values(), ids=WRONG)
def test_wrong_indices_are_refused(ask, words):
    with pytest.raises(IndexRangeError, match=words):
        ask()


@pytest.mark.parametrize("name", ["rows", "padded", "masked", "masked tiles", "functions"])
def test_in_bounds_is_where_there_is_an_element(name):
    layout = FAMILIES[name]
    wanted = table_of(layout) >= 0
    whole = layout.in_bounds(*":" * len(layout.dims))
    assert np.array_equal(np.broadcast_to(whole, layout.dims), wanted)
    around = np.meshgrid(*(np.arange(-2, n + 2) for n in layout.dims), indexing="ij")
    found = layout.in_bounds(*around)
    assert found.dtype == bool and found.sum() == wanted.sum()
    assert np.array_equal(layout.in_bounds(*map(Operand, around))._values, found)
    assert layout.in_bounds(*(0 for _ in layout.dims)) is True
    assert layout.in_bounds(*layout.dims) is False


# -- pack and unpack -------------------------------------------------------------------------------


def check_moves(layout, dtype=np.int64, batch=(2, 1), fill=-7):
    """pack, unpack and out against the definition, memory[L[i]] = x[i]."""
    table = table_of(layout)
    held = table >= 0
    x = (
        (np.arange(np.prod((*batch, *layout.dims))) % 100 + 1)
        .astype(dtype)
        .reshape(*batch, *layout.dims)
    )
    wanted = np.full((*batch, layout.physical_size), fill, dtype)
    wanted[..., table[held]] = x[..., held]
    if len(np.unique(table[held])) < held.sum():
        with pytest.raises(LayoutError, match="puts several indices in one place"):
            layout.pack(x)
    else:
        found = layout.pack(x, fill=fill)
        assert found.dtype == x.dtype and not np.may_share_memory(found, x)
        assert found.shape == wanted.shape and np.array_equal(found, wanted), layout.plan(x)
        out = np.zeros((*batch, 2 * layout.physical_size), dtype)[..., ::2]
        assert layout.pack(x, fill=fill, out=out) is out and np.array_equal(out, wanted)
        turned = np.moveaxis(
            np.moveaxis(x, -1, 0).copy(), 0, -1
        )  # the same in another memory order
        assert np.array_equal(layout.pack(turned, fill=fill), wanted)
    due = np.where(held, wanted[..., np.where(held, table, 0)], np.array(fill).astype(dtype))
    given = np.zeros((*batch, 2 * layout.physical_size), dtype)[..., ::2]
    given[...] = wanted
    for memory in (wanted, given):
        for copy in (None, True):
            found = layout.unpack(memory, fill=fill, copy=copy)
            assert found.shape == due.shape and np.array_equal(found, due)
            assert not copy or not np.may_share_memory(found, memory)
    try:
        view = layout.unpack(wanted, copy=False)
    except LayoutError as error:
        assert "no view of the memory" in str(error)
    else:
        assert np.array_equal(view, due) and (np.may_share_memory(view, wanted) or not view.size)


@pytest.mark.parametrize("name", FAMILIES)
def test_arrays_are_moved_as_the_reference_says(name):
    check_moves(FAMILIES[name])
    check_moves(FAMILIES[name], batch=())
    check_moves(FAMILIES[name], batch=(2, 0, 1))


@pytest.mark.parametrize("name", rest_deep(FROM_CATALOGUE, 8))
def test_the_catalogue_moves_arrays(name):
    entry = catalogue[name]
    check_moves(entry(**entry.example))


@pytest.mark.parametrize("seed", rest_deep(range(200), 15))
def test_random_layouts_move_arrays(seed):
    check_moves(random_layout(random.Random(seed)))


def in_any_memory(rng, x):
    """The elements of an array in another memory: turned, with gaps, off their alignment, read-only, swapped."""
    other, size = x.astype(x.dtype.newbyteorder()), x.dtype.itemsize
    gaps = np.zeros([2 * n + 1 for n in x.shape], x.dtype)[(slice(1, None, 2),) * x.ndim]
    gaps[...] = x
    off = np.zeros(x.size * size + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    off[...] = x
    fixed = x.copy()
    fixed.flags.writeable = False
    axis = rng.randrange(x.ndim)
    turned = np.flip(np.flip(x, axis).copy(), axis)
    return rng.choice((x, np.asfortranarray(x), turned, gaps, off, fixed, other))


@pytest.mark.parametrize("seed", rest_deep(range(300), 20))
def test_arrays_lie_in_any_memory(seed):
    rng = random.Random(seed)
    layout = FAMILIES[rng.choice([*FAMILIES])] if rng.random() < 0.5 else random_layout(rng)
    table, batch = table_of(layout), rng.choice(((), (2,), (0,), (1, 3)))
    held, dtype = table >= 0, rng.choice(("int8", "float16", "float64", "complex64"))
    numbers = np.arange(np.prod((*batch, *layout.dims))) % 100
    x = in_any_memory(rng, numbers.astype(dtype).reshape(*batch, *layout.dims))
    memory = np.full((*batch, layout.physical_size), 7, x.dtype)
    memory[..., table[held]] = x[..., held]
    if len(np.unique(table[held])) == held.sum():
        found = layout.pack(x, fill=7)
        assert found.dtype == x.dtype and np.array_equal(found, memory)
        out = in_any_memory(rng, np.zeros_like(memory))
        if out.flags.writeable and out.dtype == x.dtype:
            assert layout.pack(x, fill=7, out=out) is out and np.array_equal(out, memory)
    given = in_any_memory(rng, memory)
    wanted = np.where(held, memory[..., np.maximum(table, 0)], np.array(7, x.dtype))
    for copy in (None, True):
        found = layout.unpack(given, fill=7, copy=copy)
        assert found.dtype == given.dtype and np.array_equal(found, wanted)
    assert np.array_equal(given, memory)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_may_be_of_any_type(dtype):
    layouts = [FAMILIES[name] for name in ("columns", "many digits", "padded", "masked", "swizzle")]
    for layout in layouts:
        numbers = np.arange(layout.size).reshape(layout.dims)
        if isinstance(dtype, list):
            x = np.zeros(layout.dims, dtype)
            x["a"], x["b"] = numbers, numbers % 5
        else:
            x = (numbers % 2 if dtype == "bool" else numbers).astype(dtype)
        table = table_of(layout)
        found = layout.pack(x)
        assert found.dtype == x.dtype and (found[table[table >= 0]] == x[table >= 0]).all()
        assert (layout.unpack(found)[table >= 0] == x[table >= 0]).all()
        empty = np.setdiff1d(np.arange(found.size), table)
        assert (found[empty] == np.zeros((), x.dtype)).all()


IN_BLOCKS = ["many digits", "functions", "padded", "masked", "one way", "swizzle"]


@pytest.mark.parametrize("name", IN_BLOCKS)
def test_large_arrays_are_moved_in_blocks_and_chunks(name, monkeypatch):
    torch = __import__("torch") if find_spec("torch") else None
    in_blocks_and_chunks(name, monkeypatch, torch and torch.from_numpy, np.asarray)


@pytest.mark.gpu
@pytest.mark.parametrize("name", IN_BLOCKS)
def test_cupy_moves_large_arrays_in_blocks_and_chunks(name, monkeypatch):
    cupy = pytest.importorskip("cupy")
    in_blocks_and_chunks(name, monkeypatch, cupy.asarray, cupy.asnumpy)


def in_blocks_and_chunks(name, monkeypatch, there, back):
    layout = FAMILIES[name]
    for block, most in ((16, 2**24), (4, 2**24), (2**16, 0)):
        monkeypatch.setattr(planning, "MOST_TABLED", 8)
        monkeypatch.setattr(planning, "MOST_AXES", 2)
        monkeypatch.setattr(planning, "CHUNK", 7)
        monkeypatch.setattr(planning, "PIECE", 5)
        monkeypatch.setattr(planning, "FEW", 0)
        monkeypatch.setattr(planning, "BLOCK", block)
        monkeypatch.setattr(reference, "TABLE_MOST", most)
        planning.movement.cache_clear()
        check_moves(layout)
        if there is not None and name != "one way":
            x = np.arange(layout.size).reshape(layout.dims)
            assert np.array_equal(back(layout.pack(there(x))), layout.pack(x))
    planning.movement.cache_clear()


@pytest.mark.parametrize("step", [1, 2**28, 2**33])
def test_positions_beyond_32_bits_are_computed_in_64(step, monkeypatch):
    monkeypatch.setattr(planning, "FEW", 0)
    layout = Strided((4, 6), (6 * step, step))
    (found,) = planning.evaluated(layout, np.indices((4, 6)))
    assert found.tolist() == [[step * (6 * i + j) for j in range(6)] for i in range(4)]
    assert found.dtype == (np.int32 if step == 1 else np.int64)


def test_a_layout_s_next_array_is_moved_without_planning(monkeypatch):
    """And without its hash, which takes longer than a small array does."""
    monkeypatch.setattr(
        moving, "_recent", {}
    )  # it is emptied when full, in the middle of this test maybe
    layout, tiles = Strided((4, 6), (8, 1)), Row(2, 3, 2, 2)
    x, sizes = np.arange(24).reshape(4, 6), [4, 6]
    ways = [
        lambda: layout.pack(x),
        lambda: layout.unpack(layout.pack(x)),
        lambda: layout.plan(x),
        lambda: tiles.pack(x, of=(4, 6)),
        lambda: tiles.pack(x, of=sizes),
        lambda: tiles.pack(x.reshape(-1), of=Row(4, 6)),
    ]
    found = [way() for way in ways]
    calls = []
    for kind in (Strided, type(tiles)):
        monkeypatch.setattr(kind, "__hash__", lambda own: calls.append(own))
        monkeypatch.setattr(kind, "_value", lambda own: calls.append(own))
    again = [way() for way in ways[:5]]
    assert not calls
    for one, other in zip(found, again, strict=False):
        assert np.array_equal(one, other)


def test_sizes_in_a_list_are_those_of_now():
    tiles, sizes = Row(2, 3, 2, 2), [4, 6]
    assert np.array_equal(
        tiles.pack(np.arange(24).reshape(4, 6), of=sizes),
        tiles.pack(np.arange(24).reshape(4, 6), of=(4, 6)),
    )
    sizes[:] = [6, 4]
    with pytest.raises(LayoutError):
        tiles.pack(np.arange(24).reshape(4, 6), of=sizes)


def test_what_was_moved_lately_is_of_layouts_that_live():
    """An address that is taken again is not taken for the layout that was there."""
    x = np.arange(24).reshape(4, 6)
    for _ in range(3 * moving.MOST_RECENT):
        assert np.array_equal(Row(4, 6).pack(x), x.reshape(-1))
        assert np.array_equal(Col(4, 6).pack(x), x.ravel("F"))
    assert len(moving._recent) <= moving.MOST_RECENT


PLANS = {
    "transposition": (Col(4, 6), None, "transposition (a b -> b a) of 4 x 6"),
    "tiles": (Row(2, 3, 4, 5), (8, 15), "transposition (a b c d -> a c b d) of 2 x 4 x 3 x 5"),
    "rows": (Row(4, 6), None, "copy"),
    "pitch": (Strided((4, 6), (8, 1)), None, "assignment to a strided view"),
    "padding": (FAMILIES["padded"], None, "assignments to 4 strided views"),
    "bits": (by_digits(6), None, "table of 4096"),
    "many bits": (by_digits(12), None, "256 blocks of 65536, table"),
    "functions": (FAMILIES["functions"], None, "table of 24"),
}  # fmt: skip


@pytest.mark.parametrize("layout, of, words", PLANS.values(), ids=PLANS)
def test_a_plan_says_how(layout, of, words):
    assert layout.plan(np.empty(of or layout.dims), of=of) == words


def test_tiles_are_cut_from_a_matrix():
    x = np.arange(3 * 8 * 15).reshape(3, 8, 15)
    tiles = Row(2, 3, 4, 5)
    memory = tiles.pack(x, of=(8, 15))
    assert np.array_equal(memory, x.reshape(3, 2, 4, 3, 5).transpose(0, 1, 3, 2, 4).reshape(3, -1))
    assert np.array_equal(tiles.unpack(memory, of=(8, 15)), x)
    columns = Col(8, 15).pack(x)
    assert np.array_equal(tiles.pack(columns, of=Col(8, 15)), memory)
    assert np.array_equal(tiles.unpack(memory, of=Col(8, 15)), columns)
    masked = ExpandBy(
        [5, 7], [8, 8], TileBy([2, 2], [4, 4]).OrderBy(Row(2, 2), Col(4, 4)), "logical"
    )
    y = np.arange(35).reshape(5, 7) + 1
    memory = masked.pack(y, of=(5, 7), fill=-1)
    assert memory.size == 64 and (memory >= 0).sum() == 35
    assert np.array_equal(masked.unpack(memory, of=(5, 7)), y)


def test_columns_are_fortran_order():
    x = np.arange(24).reshape(4, 6)
    assert np.array_equal(Col(4, 6).pack(x), x.ravel("F"))


def test_a_copy_is_asked_for_by_any_truth():
    memory = np.arange(24)
    assert not np.may_share_memory(Col(4, 6).unpack(memory, copy=np.True_), memory)
    with pytest.raises(LayoutError, match="no view"):
        by_digits(2).unpack(np.zeros(16), copy=np.False_)


def test_a_view_is_written_through():
    memory = np.zeros(30)
    Strided((4, 6), (8, 1)).unpack(memory, copy=False)[:, 0] = 1
    assert np.flatnonzero(memory).tolist() == [0, 8, 16, 24]
    tiles = TileBy([2, 2], [4, 4]).OrderBy(Row(2, 2), Col(4, 4))
    with pytest.raises(LayoutError, match="an axis has several strides"):
        Row(2, 2, 4, 4).unpack(np.zeros(64), of=(8, 8), copy=False)
    memory = np.zeros(64)
    assert np.may_share_memory(tiles.unpack(memory, copy=False), memory)


def test_sizes_that_are_symbols_are_those_of_the_array():
    x = np.arange(24).reshape(4, 6)
    assert np.array_equal(GroupBy([M, N]).OrderBy(Col(M, N)).pack(x), x.ravel("F"))
    assert TileBy([M // 2, N // 3], [2, 3]).plan is not None
    with pytest.raises(LayoutError, match="sizes that are symbols; give numbers"):
        Row(M, N).unpack(np.zeros(24))


def test_patterns_are_what_einops_rearranges():
    einops = pytest.importorskip("einops")
    x = np.arange(4 * 6 * 5).reshape(4, 6, 5)
    text, sizes = "(h p) (w q) c -> h w c p q", {"p": 2, "q": 3}
    pattern = Pattern(text, h=2, w=2, c=5, **sizes)
    moved = einops.rearrange(x, text, **sizes)
    assert np.array_equal(pattern.unpack(x.reshape(-1)), moved)
    assert np.array_equal(Pattern(text, **sizes).pack(moved), x.reshape(-1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["columns", "tiles", "many digits", "pitch", "padded", "functions"]
)
def test_the_compiled_routine_gives_the_same(name):
    layout = FAMILIES[name]
    x = np.random.default_rng(0).integers(0, 100, (2, *layout.dims)).astype(np.float32)
    wanted = layout.pack(x, fill=3)
    assert np.array_equal(layout.pack(x, fill=3, engine="compiled"), wanted)
    out = np.empty_like(wanted)
    assert layout.pack(x, fill=3, engine="compiled", out=out) is out
    assert np.array_equal(out, wanted)


X = np.zeros((4, 6))
REFUSED = {
    "a shape": (lambda: Col(4, 6).pack(np.zeros((6, 4))), r"shape is \[6, 4\], and \(.., 4, 6\) is wanted\n"),
    "no of=": (lambda: Row(2, 3, 4, 5).pack(np.zeros((8, 15))), "of= takes the matrix's sizes"),
    "no rank": (lambda: Col(4, 6).pack(np.zeros(())), r"\(.., 4, 6\) is wanted"),
    "a memory": (lambda: Col(4, 6).unpack(np.zeros(23)), r"unpack: .* \(.., 24\) is wanted"),
    "a list": (lambda: Col(4, 6).pack([1, 2]), "was given .*, a list"),
    "a language": (lambda: Col(4, 6).pack("cpp"), "pack.layout, 'cpp'. of lego_emit emits a routine"),
    "out of another shape": (lambda: Col(4, 6).pack(X, out=np.zeros(23)), r"shape \[23\] .* give one of shape \[24\]"),
    "out of another type": (lambda: Col(4, 6).pack(X, out=np.zeros(24, int)), "int64; give one of .* float64"),
    "no out": (lambda: Col(4, 6).pack(X, out=[0]), "out is a list"),
    "out that is x": (lambda: Row(24).pack(X.reshape(-1), out=X.reshape(-1)), "shares memory"),
    "below 0": (lambda: Strided((4, 6), (6, -1)).pack(X), r"positions go from -5 to 18, and its memory has 19 places"),
    "read below 0": (lambda: Strided((4, 6), (6, -1)).unpack(np.zeros(19)), "positions go from -5 to 18"),
    "too far": (lambda: GroupBy([9]).OrderBy(GenP([9], lambda i: 2 * i)).pack(np.zeros(9)), "go from 0 to 16"),
    "tiles": (lambda: Row(2, 3, 4, 5).pack(np.zeros((8, 14)), of=(8, 14)), "the tiles of .* cover 15"),
    "results": (lambda: lego_emit.hardware.mma("c").pack(np.zeros((32, 4))), "memory has one position"),
    "no numbers": (lambda: Choice(t, {0: Row(2, 2), 1: Col(2, 2)}).pack(np.zeros((2, 2))), "symbols"),
    "no view": (lambda: by_digits(2).unpack(np.zeros(16), copy=False), "copy=None lets it be copied"),
    "objects": (lambda: Col(4, 6).pack(X.astype(object), engine="compiled"), "moves bytes"),
    "a mask": (lambda: Col(4, 6).pack(np.ma.masked_less(X, 1)), "pack: a memory holds no mask"),
    "a memory with a mask": (lambda: Row(24).unpack(np.ma.masked_less(X.ravel(), 1)), "unpack: a memory holds no mask"),
    "out with a mask": (lambda: Col(4, 6).pack(X, out=np.ma.masked_less(X.ravel(), 1)), "a memory holds no mask"),
}  # fmt: skip


@pytest.mark.parametrize("ask, words", REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(ask, words):
    with pytest.raises(LayoutError, match=words):
        ask()


FILLS = {
    "uint8": [300, -1, 1.5, float("nan"), np.int64(300), np.array(256), None, "1", [1, 2], np.arange(20), 1j],
    "bool": [2, 0.5], "float32": [None, 1j, np.complex128(1j), "nan", [1.0]], "int64": [2**63, float("inf")],
    "U2": ["abc"], "S2": [b"abc"], "M8[s]": ["never"], "i4,f8": [(1,), [1, 2, 3]],
}  # fmt: skip


@pytest.mark.parametrize("dtype", FILLS)
def test_what_fills_is_an_element(dtype):
    padded, x = Strided((3, 4), (8, 1)), np.zeros((3, 4), dtype)
    for fill in FILLS[dtype]:
        for ask in (padded.pack, FAMILIES["masked"].unpack):
            given = x if ask == padded.pack else np.zeros(FAMILIES["masked"].physical_size, dtype)
            with pytest.raises(
                LayoutError, match=r"pack: fill is .*, which is no element of an array of"
            ):
                ask(given, fill=fill)


def test_elements_that_fill():
    pitched = Strided((3, 4), (8, 1))
    for dtype, fill in (
        *(
            ("uint8", 255),
            ("uint8", 7.0),
            ("bool", True),
            ("float32", 0.1),
            ("float16", np.nan),
            ("c8", 1j),
        ),
        *(
            (object, None),
            (object, "q"),
            ("i4,f8", (7, 2.5)),
            ("M8[s]", np.datetime64("NaT")),
            ("U2", "ab"),
        ),
        *((np.dtypes.StringDType(), "a longer text"), (">i4", np.int8(-3)), ("int64", np.array(5))),
    ):
        x = np.zeros((3, 4), dtype)
        wanted = np.empty((), dtype)
        wanted[()] = fill
        for layout in (pitched, FAMILIES["masked"]):
            found = (
                pitched.pack(x, fill=fill)[4]
                if layout is pitched
                else layout.unpack(np.zeros(layout.physical_size, dtype), fill=fill)[
                    table_of(layout) < 0
                ][0]
            )
            assert str(found) == str(wanted[()]), (dtype, fill)


def test_a_matrix_of_numpy_is_an_array():
    x = np.arange(24).reshape(4, 6)
    for layout in (Row(4, 6), Col(4, 6), Strided((4, 6), (8, 1))):
        assert np.array_equal(layout.pack(x.view(np.matrix)), layout.pack(x))


def test_texts_of_any_length_are_moved():
    for name in ("columns", "many digits", "padded", "masked", "swizzle"):
        check_moves(FAMILIES[name], np.dtypes.StringDType(), fill="-7")


def test_unknown_options_are_refused():
    for ask in (
        lambda: Col(4, 6).pack(X, engine="fast"),
        lambda: Col(4, 6).unpack(np.zeros(24), copy="yes"),
    ):
        with pytest.raises(OptionError):
            ask()


@pytest.mark.parametrize("name", ["pack", "unpack"])
def test_the_function_that_emits_names_the_method(name):
    with pytest.raises(LayoutError, match=rf"emits a routine, .* layout\.{name}\(x\) moves"):
        getattr(lego_emit, name)(Col(4, 6), X)


# -- other libraries -------------------------------------------------------------------------------


class Namespace:
    """The functions of the array API standard that are used, on arrays that nobody writes."""

    __name__ = "standard"

    @staticmethod
    def asarray(x, dtype=None, device=None):
        return x if isinstance(x, Standard) else Standard(np.asarray(x, dtype))

    @staticmethod
    def arange(first, last, step, dtype=None, device=None):
        return Standard(np.arange(first, last, step, dtype))

    @staticmethod
    def reshape(x, shape):
        return Standard(x._values.reshape(shape))

    @staticmethod
    def permute_dims(x, axes):
        return Standard(x._values.transpose(axes))

    @staticmethod
    def take(x, places, axis):
        return Standard(np.take(x._values, places._values, axis=axis))

    @staticmethod
    def where(condition, then, otherwise):
        return Standard(np.where(*map(operand, (condition, then, otherwise))))

    @staticmethod
    def concat(parts, axis):
        return Standard(np.concatenate([p._values for p in parts], axis=axis))


class Standard(Operand):
    """An array of that namespace."""

    def __init__(self, values):
        super().__init__(values)
        self.dtype, self.device = values.dtype, "cpu"

    def __array_namespace__(self):
        return Namespace

    def __getitem__(self, key):
        return Standard(self._values[key._values if isinstance(key, Operand) else key])


@pytest.mark.parametrize("most", (2**16, 4))
@pytest.mark.parametrize("name", [n for n in FAMILIES if n not in ("linear", "broadcast")])
@pytest.mark.quick(4)
def test_a_library_of_the_standard_moves_arrays(name, most, monkeypatch):
    monkeypatch.setattr(Owner, "most_tabled", most)
    layout = FAMILIES[name]
    x = np.arange(2 * layout.size).reshape(2, *layout.dims) + 1
    memory = layout.pack(x, fill=-1)
    assert np.array_equal(layout.pack(Standard(x), fill=-1)._values, memory)
    assert np.array_equal(
        layout.unpack(Standard(memory), fill=5)._values, layout.unpack(memory, fill=5)
    )
    with pytest.raises(LayoutError, match=r"no view of the memory .* this library has no views"):
        layout.unpack(Standard(memory), copy=False)
    with pytest.raises(LayoutError, match="are not written"):
        layout.pack(Standard(x), out=Standard(memory))


def test_slices_and_tables_beside_arrays_of_the_standard():
    layout = FAMILIES["tiles"]
    for key in (
        (1, Standard(np.array([2, 0])), slice(None), 1),
        (slice(None), 0, slice(1, 3), Standard(np.array(1))),
    ):
        wanted = layout[tuple(operand(k) if isinstance(k, Operand) else k for k in key)]
        assert np.array_equal(layout[key]._values, wanted)
    entries = Lookup([2, 3], [3, 0, 2, 1, 5, 4])
    assert np.array_equal(entries[Standard(np.array([0, 1])), 2]._values, [2, 4])


BLOCKS = Row(8, 8, 8, 8)  # of a matrix of 64 x 64


def block_sums(x):
    return BLOCKS.pack(x, of=(64, 64)).reshape(64, 64).sum(axis=1)


def first_rows(memory, p):
    return memory[BLOCKS[p, 0, 0, :]]


@pytest.mark.slow
@pytest.mark.xdist_group("jax")
def test_jax_traces_layouts():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    x = np.arange(64 * 64).reshape(64, 64)
    assert np.array_equal(
        jax.jit(block_sums)(x), x.reshape(8, 8, 8, 8).sum(axis=(1, 3)).reshape(-1)
    )
    memory = jnp.asarray(BLOCKS.pack(x, of=(64, 64)))
    assert np.array_equal(jax.jit(first_rows)(memory, jnp.arange(8)), x[::8, :8])
    layout = FAMILIES["tiles"]
    assert np.array_equal(jax.jit(lambda i: layout[1, i, :, :])(2), layout[1, 2, :, :])
    assert [*map(int, jax.jit(layout.inv)(7))] == [*layout.inv(7)]
    each = jax.vmap(lambda i: layout[1, 0, i, 1])(jnp.arange(4))
    assert np.array_equal(each, layout[1, 0, :, 1])
    for name in (
        "columns",
        "many digits",
        "functions",
        "padded",
        "masked tiles",
        "pitch",
        "negative",
    ):
        layout = FAMILIES[name]
        x = np.arange(2 * layout.size, dtype=np.float32).reshape(2, *layout.dims)
        memory = layout.pack(x, fill=-1)
        for way in (jax.jit, lambda f: f):
            assert np.array_equal(
                way(lambda x, L=layout: L.pack(x, fill=-1))(jnp.asarray(x)), memory
            )
            found = way(lambda m, L=layout: L.unpack(m, fill=5))(jnp.asarray(memory))
            assert np.array_equal(found, layout.unpack(memory, fill=5))
        found = jax.grad(lambda x, L=layout: (L.pack(x) ** 2).sum())(jnp.asarray(x))
        assert np.array_equal(found, 2 * x * (table_of(layout) >= 0))


@pytest.mark.parametrize("name", [n for n in FAMILIES if n not in ("linear", "broadcast")])
def test_torch_moves_tensors(name):
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    layout = FAMILIES[name]
    x = torch.arange(2 * layout.size, dtype=torch.float64).reshape(2, *layout.dims)
    memory = layout.pack(x.numpy(), fill=-1)
    found = layout.pack(x, fill=-1)
    assert found.dtype == x.dtype and np.array_equal(found.numpy(), memory)
    out = torch.zeros(2, 2 * layout.physical_size, dtype=x.dtype)[..., ::2]
    assert layout.pack(x, fill=-1, out=out) is out and np.array_equal(out.numpy(), memory)
    back = layout.unpack(memory, fill=5)
    for copy in (None, True):
        assert np.array_equal(layout.unpack(found, fill=5, copy=copy).numpy(), back)
    for move, given in ((layout.pack, x), (layout.unpack, found)):
        assert torch.autograd.gradcheck(move, given.clone().requires_grad_(), fast_mode=True)
    index = [torch.from_numpy(i) for i in np.indices(layout.dims)]
    assert np.array_equal(layout.apply(*index).numpy(), table_of(layout))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [n for n in FAMILIES if n not in ("linear", "broadcast")])
def test_torch_moves_tensors_of_a_gpu(name):
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    layout = FAMILIES[name]
    x = torch.arange(2 * layout.size, dtype=torch.float32).reshape(2, *layout.dims)
    memory, there = layout.pack(x, fill=-1), x.cuda()
    found = layout.pack(there, fill=-1)
    assert found.is_cuda and torch.equal(found.cpu(), memory)
    back = layout.unpack(found, fill=5)
    assert back.is_cuda and torch.equal(back.cpu(), layout.unpack(memory, fill=5))
    index = [torch.from_numpy(i).cuda() for i in np.indices(layout.dims)]
    at = layout.apply(*index)
    assert at.is_cuda and np.array_equal(at.cpu().numpy(), table_of(layout))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [n for n in FAMILIES if n not in ("linear", "broadcast")])
def test_cupy_moves_arrays_of_a_gpu(name, monkeypatch):
    cupy = pytest.importorskip("cupy")
    monkeypatch.setattr(planning, "MOST_TABLED", 16)  # larger ones in chunks
    layout = FAMILIES[name]
    x = np.arange(2 * layout.size, dtype=np.float32).reshape(2, *layout.dims)
    memory, there = layout.pack(x, fill=-1), cupy.asarray(x)
    found, out = layout.pack(there, fill=-1), cupy.zeros(memory.shape, memory.dtype)
    assert type(found) is cupy.ndarray and np.array_equal(found.get(), memory)
    assert layout.pack(there, fill=-1, out=out) is out and np.array_equal(out.get(), memory)
    back = layout.unpack(found, fill=5)
    assert np.array_equal(back.get(), layout.unpack(memory, fill=5))
    assert layout.plan(there) == layout.plan(x)
    views = []
    for given in (memory, found):
        try:
            views.append(layout.unpack(given, copy=False))
        except LayoutError as error:
            views.append(str(error))
    assert type(views[0]) is type(views[1]) or np.array_equal(views[1].get(), views[0])
    index = [*np.indices(layout.dims)]
    on = [cupy.asarray(i) for i in index]
    at = layout.apply(*on)
    assert type(at) is cupy.ndarray and np.array_equal(at.get(), table_of(layout))
    if layout.has_inverse and not layout.masks:
        assert all(np.array_equal(a.get(), b) for a, b in zip(layout.inv(at), index, strict=True))
    rest = [slice(None)] * (len(index) - 1)
    wanted = layout[(index[0].reshape(-1)[-1:], *rest)]
    assert np.array_equal(layout[(on[0].reshape(-1)[-1:], *rest)].get(), wanted)
    assert np.array_equal(cupy.asnumpy(layout.in_bounds(*on)), layout.in_bounds(*index))


COMPILED = """
import sys
import torch
import test_on_arrays as tests

for name in sys.argv[2:]:
    layout = tests.FAMILIES[name]
    x = torch.randn(2, *layout.dims, dtype=torch.float64, device=sys.argv[1], requires_grad=True)

    def both(x):
        return layout.unpack(layout.pack(x, fill=1) * 2, fill=3)

    wanted = both(x)
    (expected,) = torch.autograd.grad((wanted**2).sum(), x)
    for backend in ("eager", "aot_eager"):
        for dynamic in (None, True):
            torch._dynamo.reset()
            found = torch.compile(both, fullgraph=True, backend=backend, dynamic=dynamic)
            more = torch.randn(5, *layout.dims, dtype=torch.float64, device=sys.argv[1])
            assert torch.equal(found(x), wanted) and torch.equal(found(more), both(more)), (name, backend)
            (gradient,) = torch.autograd.grad((found(x) ** 2).sum(), x)
            assert torch.equal(gradient, expected), (name, backend)
    print(name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_torch_compiles_moves_into_one_graph(device):
    pytest.importorskip("torch")
    names = ["columns", "table", "pitch", "negative", "masked", "padded"]
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, device, *names], capture_output=True, text=True, cwd=here,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])},
    )  # fmt: skip
    assert done.stdout.splitlines() == names, done.stderr


def test_torch_compile_tells_what_it_does_not_take():
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    layout, x = Col(4, 6), torch.zeros(4, 6)
    packed = torch.compile(lambda x: layout.pack(x), fullgraph=True, backend="eager")
    assert torch.equal(packed(x), layout.pack(x))
    with pytest.raises(Exception, match="s shape is"):  # in a text of PyTorch's
        packed(torch.zeros(3, 6))
    layout = Row(4, 6)  # is asked for before each call
    x = torch.arange(24.0).reshape(4, 6)
    assert torch.equal(packed(x), x.ravel())
    made_inside = torch.compile(lambda x: Col(4, 6).pack(x), fullgraph=True, backend="eager")
    with pytest.raises(Exception, match="make the layout outside"):
        made_inside(x)


def test_a_view_of_a_tensor_shares_its_memory():
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    memory = torch.zeros(30)
    Strided((4, 6), (8, 1)).unpack(memory, copy=False)[:, 0] = 1
    assert memory.nonzero().flatten().tolist() == [0, 8, 16, 24]
    with pytest.raises(LayoutError, match="a stride is negative"):
        FAMILIES["negative"].unpack(torch.zeros(24), copy=False)
    with pytest.raises(LegoError, match="NumPy's arrays"):
        Col(4, 6).pack(torch.zeros(4, 6), engine="compiled")
