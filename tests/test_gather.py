"""Gathers along an axis of a tile in registers: each plan is run, and its text by threads."""

import random

import numpy as np
import pytest
from threads import coordinates, numbers, run_by_threads

from lego_emit import Linear, hardware
from lego_emit.algebra import f2
from lego_emit.errors import LayoutError
from lego_emit.movement import gather
from lego_emit.plans.plan import MEMORY


def tables(made, seed=0):
    """What the threads hold, the indices, and what they shall get."""
    at = coordinates(made.layout, made.warps, made.lanes)
    sizes = [*made.layout.out_dims.values()]
    rng = np.random.default_rng(seed)
    index = rng.integers(0, made.layout.out_dims[made.axis], sizes)[tuple(at.values())]
    source = rng.permutation(int(np.prod(sizes))).reshape(sizes)
    moved = {**at, made.axis: index}
    return source[tuple(at.values())], index, source[tuple(moved.values())]


def checked(layout, axis, element_bytes=4, **options):
    """A gather that does what it says."""
    made = gather(layout, axis, element_bytes, **options)
    source, index, wanted = tables(made)
    assert (made.run(source, index) == wanted).all(), f"{layout} along {axis}: {made}"
    return made


ROWS = hardware.blocked([1, 4], [8, 4], [4, 1], shape=(32, 16))
CASES = {
    "a row is a register's": (
        hardware.blocked([1, 4], [32, 1], [2, 1], shape=(64, 4)),
        1,
        4,
        "shared memory",
    ),
    "bytes of a word": (
        hardware.blocked([1, 4], [32, 1], [2, 1], shape=(64, 4)),
        1,
        1,
        "registers",
    ),
    "halves of words": (
        hardware.blocked([1, 4], [32, 1], [2, 1], shape=(64, 4)),
        1,
        2,
        "registers",
    ),
    "lanes hold a row": (hardware.blocked([1, 1], [8, 4], [2, 1], shape=(32, 4)), 1, 8, "shuffles"),
    "lanes and bytes": (ROWS, 1, 1, "shared memory"),
    "lanes and halves": (ROWS, 1, 2, "shared memory"),
    "lanes and registers": (
        hardware.blocked([1, 2], [8, 4], [2, 1], shape=(32, 8)),
        1,
        4,
        "shuffles",
    ),
    "a fragment": (hardware.mma("c"), "dim1", 2, "shared memory"),
    "a fragment's columns": (hardware.mma("c"), "dim0", 4, "shuffles"),
    "a column of warps": (ROWS, 0, 4, "shared memory"),
    "held twice": (hardware.blocked([1, 2], [4, 8], [2, 2], shape=(8, 8)), 1, 4, "shuffles"),
    "other warps hold the same": (
        hardware.blocked([2, 1], [8, 4], [2, 2], shape=(32, 4)),
        0,
        1,
        "shared memory",
    ),
    "wide elements": (hardware.mma("c"), 1, 16, "shared memory"),
    "two bytes of two lanes": (
        Linear(
            {"register": [(16, 0), (0, 1)], "lane": [(1, 0), (2, 0), (4, 0), (0, 2), (8, 0)]},
            ["x", "y"],
        ),
        1,
        1,
        "shuffles",
    ),
    "bytes of lanes, from another on": (
        Linear(
            hardware.blocked([1, 2], [8, 4], [1, 1], shape=(8, 8)).bases,
            {"dim0": 8, "dim1": 8},
            {"dim0": 1, "dim1": 5},
        ),
        1,
        1,
        "shared memory",
    ),
    "two bytes of four lanes": (
        hardware.blocked([1, 2], [8, 4], [1, 1], shape=(8, 8)),
        1,
        1,
        "shared memory",
    ),
}


@pytest.mark.parametrize("layout, axis, element_bytes, kind", CASES.values(), ids=CASES)
def test_the_kind_of_a_plan(layout, axis, element_bytes, kind):
    made = checked(layout, axis, element_bytes)
    assert made.kind == kind and str(made).startswith(f"gather: {kind};")
    assert bool(made.shuffles) == (kind == "shuffles")
    assert bool(made.stores and made.loads) == (kind == "shared memory") == bool(made.shared_bytes)
    staged = checked(layout, axis, element_bytes, way="shared memory")
    assert made.price <= staged.price and staged.kind == "shared memory"


def test_what_a_plan_costs():
    """Elements are picked out of words at a price, and read in place where rows leave them side by side."""
    counts = [(g.shuffles, g.selects) for g in (gather(ROWS, 1, size) for size in (1, 2, 4, 8))]
    assert counts == [(0, 0)] * 4
    shuffled = [gather(ROWS, 1, size, way="shuffles") for size in (1, 2, 4)]
    assert [(g.shuffles, g.selects) for g in shuffled] == [(3, 0), (8, 0), (16, 12)]
    lanes = [(1, 1), (0, 2), (0, 4), (0, 8), (0, 16)]  # the first is in a register's row, too
    skewed = Linear({"register": [(1, 0)], "lane": lanes}, out={"dim0": 2, "dim1": 32})
    for layout, is_added in [(ROWS, True), (skewed, False)]:
        made = checked(layout, 1, way="shared memory")
        assert made.plan.is_added == is_added
        loads = [line for line in made.source.splitlines() if "loaded[" in line]
        assert loads and all(
            ("+" in line, "^" in line) == (is_added, not is_added) for line in loads
        )
    assert gather(ROWS, 1, 8, way="shuffles").shuffles == 32
    wide = hardware.fitted(ROWS, (32, 16)).resize_in("register", 16)
    twice = gather(wide, 1, way="shuffles")
    assert (twice.registers, twice.shuffles) == (16, 16)
    assert "4 times: shuffle 2 words of 2 elements and choose" in str(shuffled[1])
    assert "where the index says" in str(gather(ROWS, 0))


def test_each_lane_has_a_bank():
    """Where a lane holds its whole row, no two lanes meet in a bank, whatever their indices are."""
    made = gather(CASES["a row is a register's"][0], 1)
    start, plan = np.array([made.plan.start.apply(k, 0) for k in range(32)]), made.plan
    for index in np.random.default_rng(2).integers(0, 4, (8, 32)):
        at = start ^ np.array([plan.at.apply(int(k)) for k in index])
        assert len({*(at % 32).tolist()}) == 32
    assert made.price < gather(made.layout, 1, way="shuffles").price


@pytest.mark.parametrize(
    "width, element_bytes, says",
    [(4, 1, "1 word of 4"), (8, 1, "2 words of 4"), (8, 2, "4 words of 2")],
)
def test_elements_of_few_words_are_permuted_together(width, element_bytes, says):
    """Once a lane has all words of its row, one permutation picks as many elements as a word has."""
    rows = hardware.blocked([1, 4], [128 // width, width // 4], [1, 1], shape=(128 // width, width))
    made = checked(rows, 1, element_bytes, way="shuffles")
    held = 4 * element_bytes // 4
    assert made.shuffles == held * (width // 4 - 1)
    assert f"permute {4 // element_bytes} elements out of {says}" in str(made)
    assert made.kind == ("shuffles" if width > 4 else "registers")


def test_only_those_that_wait_for_others_do():
    assert "__syncwarp();" in gather(ROWS, 1, way="shared memory").source
    assert "__syncthreads();" in gather(ROWS, 0).source


@pytest.mark.parametrize(
    "axis, options, says",
    [
        (2, {}, "2 is not a coordinate; there are dim0, dim1"),
        ("dim2", {}, "Did you mean 'dim"),
        (1, {"element_bytes": 3}, "element_bytes is 3"),
        (1, {"way": "magic"}, "way is 'magic'"),
        (0, {"way": "shuffles"}, "no warp holds the whole axis"),
        (0, {"shared_bytes": 100}, "2048 bytes of the shared memory"),
        (0, {"shared_bytes": "100"}, "shared_bytes is '100', no number of bytes"),
    ],
)
def test_refusals(axis, options, says):
    with pytest.raises(LayoutError, match=says):
        gather(ROWS, axis, **options)


def test_what_is_not_held_is_not_gathered():
    with pytest.raises(LayoutError, match="does not hold the whole tile"):
        gather(ROWS.resize_out("dim0", 64), 1)
    with pytest.raises(LayoutError, match=r"\(4, 32, 4\)"):
        gather(ROWS, 1).run(np.zeros((4, 32, 4)), np.zeros((4, 32)))
    moved = Linear(ROWS.bases | {"block": [(0, 8)]}, ROWS.out_dims)
    with pytest.raises(LayoutError, match="block moves along dim1"):
        gather(moved, 1)
    assert checked(moved, 0).kind == MEMORY


@pytest.mark.parametrize(
    "index, says", [(16, "16, and dim1 lies in 0..15"), (-1, "is -1"), (0.5, "float64")]
)
def test_indices_that_are_none(index, says):
    with pytest.raises(LayoutError, match=says):
        gather(ROWS, 1).run(np.zeros((4, 32, 4)), np.full((4, 32, 4), index))


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("way", ["shuffles", "shared memory"])
def test_an_index_counts_from_the_first_coordinate(way, size):
    """An offset of the layout moves what threads hold, and no index."""
    moved = Linear(ROWS.bases, ROWS.out_dims, {"dim0": 9, "dim1": 13})
    made = checked(moved, 1, size, way=way)
    assert "dim1 from 9, 13 on" in made.source
    if way == "shared memory":
        checked(moved, 0, size, way=way)


def test_saved(tmp_path):
    made = gather(ROWS, 1, name="rows")
    assert made.save(tmp_path / "rows.cuh") and not made.save(tmp_path / "rows.cuh")
    assert (tmp_path / "rows.cuh").read_text() == made.source


def any_layout(rng):
    """A layout of two dimensions: its columns are bits of the tile, or any."""
    bits, warps = rng.randint(3, 9), rng.choice([0, 0, 1, 2])
    registers = max(0, bits - 5 - warps) + rng.randint(0, 2)
    count, down = registers + 5 + warps, rng.randint(0, bits)
    columns = rng.sample([1 << k for k in range(bits)] + [0] * (count - bits), count)
    while rng.random() < 0.4 or f2.rank(columns) < bits:
        columns = [rng.randrange(1 << bits) * (rng.random() < 0.8) for _ in range(count)]
    ins = [("register", registers), ("lane", 5), ("warp", warps)]
    return Linear._made(ins, [("x", down), ("y", bits - down)], columns)


@pytest.mark.slow
def test_layouts_at_random():
    rng, kinds = random.Random(1), set()
    for _ in range(200):
        layout, axis, size = any_layout(rng), rng.choice("xy"), rng.choice([1, 2, 4, 8, 16])
        made = checked(layout, axis, size)
        kinds.add(made.kind)
        assert made.price <= checked(layout, axis, size, way="shared memory").price
        if made.kind != "shared memory":
            checked(layout, axis, size, way="shuffles")
    assert kinds == {"registers", "shuffles", "shared memory"}


def called(made):
    """A program's part that gathers the numbers of elements, and returns how many are wrong."""
    n, size, memory = made.registers, made.element_bytes, ", bytes" * bool(made.shared_bytes)
    source, index, wanted = tables(made)
    return f"""{made.source}
{numbers(f"given_{made.name}", source)}
{numbers(f"index_{made.name}", index)}
{numbers(f"wanted_{made.name}", wanted)}
static int wrong_{made.name}() {{
  return launch({made.warps * made.lanes}, [](unsigned thread) {{
    Element<{size}> from[{n}], to[{n}];
    int index[{n}];
    for (unsigned k = 0; k < {n}; ++k) {{
      from[k] = element<{size}>(given_{made.name}[thread * {n} + k]);
      index[k] = static_cast<int>(index_{made.name}[thread * {n} + k]);
    }}
    {made.name}(from, index, to{memory});
    return wrong(to, wanted_{made.name} + thread * {n});
  }});
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["shuffles", "shared memory"])
def test_the_text_gathers_what_the_plan_does(tmp_path, way):
    rng = random.Random(5)
    asked = [case[:3] for case in CASES.values()]
    asked += [(any_layout(rng), rng.choice("xy"), rng.choice([1, 2, 4, 8])) for _ in range(9)]
    made = []
    for k, case in enumerate(asked):
        try:
            made.append(checked(*case, name=f"g{k}", way=way))
        except LayoutError:
            made.append(checked(*case, name=f"g{k}"))  # where elements leave their warp
    run_by_threads({g.name: called(g) for g in made}, tmp_path)
