"""Conversions of register layouts: each plan is run, and its text too, by threads of the host."""

import random
import subprocess

import numpy as np
import pytest
from threads import elements, numbers, run_by_threads

from lego_emit import Linear, hardware
from lego_emit.algebra import f2
from lego_emit.errors import LayoutError, TargetError
from lego_emit.movement import AMD, SharedMemory, bank_conflicts, convert, optimal_swizzle
from lego_emit.movement.prices import WAIT
from lego_emit.movement.source import source

LANES = [4, 8, 16, 32, 64]


def line(out="x", **bases):
    """A layout of a tile of one dimension."""
    return Linear(bases, [out])


def checked(a, b, element_bytes=4, **options):
    """A conversion that does what its layouts say."""
    made = convert(a, b, element_bytes, **options)
    found = made.run(elements(a, made.warps, made.lanes))
    assert (found == elements(b, made.warps, made.lanes)).all(), f"{a} to {b}: {made}"
    return made


TRANSPOSED = line(register=[4, 8], lane=[1, 2, 16, 32, 64])
BLOCKED = line(register=[1, 2], lane=LANES)
MMA = hardware.fitted(hardware.mma("c") * Linear.identity1D(4, "warp", "dim0"), (64, 64))
PAIRS = {
    "the same": (hardware.mma("c"), hardware.mma("c"), 4, "none"),
    "a accumulator is an operand": (
        hardware.fitted(hardware.mma("c"), (16, 16)),
        hardware.mma("a"),
        2,
        "none",
    ),
    "other names": (BLOCKED, line(register=[2, 1], lane=LANES), 4, "registers"),
    "some of them": (BLOCKED, line(register=[2, 0, 0], lane=LANES), 1, "registers"),
    "chosen by lane": (BLOCKED, line(register=[1, 2], lane=[5, *LANES[1:]]), 4, "registers"),
    "other lanes": (BLOCKED, line(register=[1, 2], lane=[*LANES[1:], 4]), 8, "shuffles"),
    "lanes and registers": (BLOCKED, TRANSPOSED, 4, "shared memory"),
    "operands of bytes": (
        hardware.fitted(hardware.mma("c"), (16, 32)),
        hardware.mma("a", 8),
        1,
        "shared memory",
    ),
    "operands of halves": (
        hardware.mma("a"),
        hardware.fitted(hardware.mma("b"), (16, 16)),
        2,
        "shared memory",
    ),
    "lanes that hold the same": (
        line(register=[1, 2, 4], lane=[8, 16, 0, 0, 0]),
        line(register=[1, 2], lane=[4, 8, 16, 1, 2]),
        4,
        "shuffles",
    ),
    "less than is held": (
        line(register=[1, 2, 4], lane=[8, 16, 32, 64, 128]),
        line(register=[8, 16], lane=[1, 2, 4, 32, 64]).resize_out("x", 256),
        4,
        "shared memory",
    ),
    "warps": (
        hardware.blocked([1, 4], [8, 4], [4, 1], shape=(64, 64)),
        MMA,
        4,
        "shared memory",
    ),
    "halves in warps": (
        hardware.blocked([1, 8], [4, 8], [4, 1], shape=(64, 64)),
        MMA,
        2,
        "shared memory",
    ),
    "a row of it": (
        hardware.sliced(hardware.blocked([1, 4], [8, 4], [4, 1], shape=(64, 64)), 1),
        hardware.blocked([1], [32], [4], shape=(64,)),
        4,
        "shared memory",
    ),
    "wide elements": (BLOCKED, TRANSPOSED, 16, "shared memory"),
    "many registers": (
        line(register=[1, 2, 4, 8, 16], lane=[32, 64, 128, 256, 512]),
        line(register=[32, 64, 128, 256, 512], lane=[1, 2, 4, 8, 16]),
        4,
        "shared memory",
    ),
    "warps that hold the same": (
        line(register=[1], lane=[2, 4, 8, 16, 32], warp=[0, 64]),
        line(register=[1], lane=[2, 4, 8, 16, 32], warp=[64, 0]),
        1,
        "shared memory",
    ),
}


@pytest.mark.parametrize("a, b, element_bytes, kind", PAIRS.values(), ids=PAIRS)
@pytest.mark.quick(4)
def test_the_kind_of_a_plan(a, b, element_bytes, kind):
    made = checked(a, b, element_bytes)
    assert made.kind == kind and str(made).startswith(f"convert: {kind};")
    assert bool(made.shuffles) == (kind == "shuffles")
    assert made.barriers == (kind == "shared memory")
    assert made.shared_bytes == (kind == "shared memory") * a.physical_size * element_bytes
    assert made.shared_bytes == 0 or (made.stores and made.loads)
    checked(a, b, element_bytes, way="shared memory")


def test_what_a_plan_costs():
    made = convert(BLOCKED, TRANSPOSED, way="shuffles")
    assert (made.rounds, made.shuffles, made.selects) == (3, 3, 16)
    assert "swap words k and k ^ 2 where lane & 2 is set: 4 selects" in str(made)
    assert "3 rounds of shuffles: word 0 of the own lane" in str(made)
    assert convert(BLOCKED, TRANSPOSED, 8, way="shuffles").shuffles == 6
    lanes = convert(*PAIRS["other lanes"][:2], 8)
    assert (lanes.rounds, lanes.shuffles, lanes.selects) == (4, 8, 0)
    packed = convert(*PAIRS["operands of bytes"][:2], 1, way="shuffles")
    assert (packed.rounds, packed.selects) == (4, 8)
    wide = convert(*PAIRS["warps"][:2])
    assert (wide.stores, wide.loads, wide.shared_bytes) == (8, 8, 2**14)
    assert "8 stores of 16 bytes" in str(wide) and "wait for the block" in str(wide)
    a, b = PAIRS["warps"][:2]
    memory = optimal_swizzle(a, b)
    cost = [bank_conflicts(memory, x, write=x is a).wavefronts for x in (a, b)]
    assert wide.price == sum(cost) + WAIT


def test_a_word_moves_several_elements():
    """Where elements stay together a shuffle takes four bytes of them."""
    for element_bytes, rounds in ((1, 4), (2, 8), (4, 16), (8, 16)):
        a = line(register=[1, 2, 4, 8], lane=[16, 32, 64, 128, 256])
        b = line(register=[2, 1, 4, 8], lane=[32, 16, 64, 128, 256])
        made = checked(a, b, element_bytes, way="shuffles")
        assert made.rounds == rounds and made.selects == 0


def test_only_those_that_wait_for_others_do():
    alone = checked(BLOCKED, TRANSPOSED, way="shared memory")
    assert "wait for the warp" in str(alone) and "__syncwarp();" in alone.source
    warps = [Linear(x.bases | {"warp": [128]}, {"x": 256}) for x in (BLOCKED, TRANSPOSED)]
    assert "__syncwarp();" in checked(*warps, way="shared memory").source
    same = [x.resize_in("warp", 2) for x in warps[:1]]
    assert same == warps[:1]
    assert "__syncthreads();" in checked(*PAIRS["warps"][:3]).source
    idle = PAIRS["warps that hold the same"]
    assert "if ((warp & 1) == 0) {" in checked(*idle[:3]).source


def test_blocks_stay():
    """What both have alike in other names is no one's to move, and the tile is what is held."""
    a, b = (Linear(x.bases | {"block": [128]}, {"x": 256}) for x in (BLOCKED, TRANSPOSED))
    assert convert(a, b).steps == convert(BLOCKED, TRANSPOSED).steps
    staged = convert(a, b, way="shared memory")
    assert staged.shared_bytes == 512
    still = Linear(BLOCKED.bases | {"block": [0]}, {"x": 128})
    assert convert(still, TRANSPOSED).steps == convert(BLOCKED, TRANSPOSED).steps


def test_a_name_that_is_missing_makes_no_difference():
    every = line(register=[1, 2], lane=LANES, warp=[0, 0])
    assert convert(line(register=[1, 2], lane=LANES), every).kind == "none"
    one = line(register=[1, 2, 4])
    made = checked(one, line(register=[4, 1]))
    assert (made.kind, made.lanes, made.registers) == ("registers", 1, (8, 4))
    spread = checked(one, line(register=[4, 1], lane=[0, 0, 2, 0, 0]))
    assert (spread.kind, spread.selects) == ("registers", 4)
    assert checked(one, line(register=[4, 1]), 16).kind == "registers"
    for a in (one, line(register=[1, 2], warp=[4])):
        made = checked(a, line(register=[4, 2], warp=[1]))
        assert (made.lanes, made.warps) == (32, 2)
        assert made.kind == ("registers" if a is one else "shared memory")


def test_a_plan_for_other_lanes_is_data():
    phases = {4: (tuple(range(4)),), 8: ((0, 1), (2, 3)), 16: tuple((k,) for k in range(4))}
    small = SharedMemory("small", 4, phases, phases, banks=4)
    a, b = line(register=[1, 2], lane=[4, 8]), line(register=[4, 8], lane=[1, 2])
    for way in (None, "shared memory"):
        assert (checked(a, b, gpu=small, way=way).run(elements(a, 1, 4)) == elements(b, 1, 4)).all()
    with pytest.raises(LayoutError, match="a warp of CUDA has 32 lanes, and the plan 4"):
        assert convert(a, b, gpu=small).source
    wave = [
        line(register=[1], lane=[2, 4, 8, 16, 32, 64]),
        line(register=[64], lane=[1, 2, 4, 8, 16, 32]),
    ]
    assert checked(*wave, gpu=AMD).lanes == 64


@pytest.mark.parametrize(
    "a, b, options, says",
    [
        (3, BLOCKED, {}, "3 is not a Linear; Linear.of makes one"),
        (
            BLOCKED,
            line("y", register=[1, 2], lane=LANES),
            {},
            "both must have the same coordinates",
        ),
        (BLOCKED, BLOCKED, {"element_bytes": 3}, "element_bytes is 3"),
        (
            BLOCKED,
            BLOCKED,
            {"way": "magic"},
            "way is 'magic'; there are 'shuffles' and 'shared mem",
        ),
        (BLOCKED, BLOCKED, {"gpu": "nvidea"}, "Did you mean 'nvidia'"),
        (line(register=[1, 0], lane=LANES), TRANSPOSED.resize_out("x", 128), {}, "does not hold"),
        (BLOCKED, Linear(BLOCKED.bases, {"x": 128}, {"x": 1}), {}, "the offsets .* differ"),
        (
            line(lane=[1, 2]),
            line(lane=[2, 1]),
            {},
            r"4 lanes, and a warp 32; resize_in\('lane', 32\)",
        ),
        (
            Linear(BLOCKED.bases | {"block": [128]}, {"x": 256}),
            Linear(BLOCKED.bases | {"block": [0]}, {"x": 256}),
            {},
            "block is not the same in both",
        ),
        (*PAIRS["warps"][:2], {"way": "shuffles"}, "must leave its warp"),
        (
            *PAIRS["warps"][:2],
            {"shared_bytes": 1000},
            "16384 bytes of shared memory, and there are",
        ),
        (
            line(register=[1], lane=[2, 4, 8, 16, 32], warp=[64]),
            line(register=[1], lane=[2, 4, 8, 16, 32], warp=[64, 0]),
            {},
            r"2 warps, the other 4; resize_in\('warp', 4\)",
        ),
        (
            line(register=[1 << k for k in range(20)], lane=[1 << k for k in range(20, 25)]),
            line(lane=[1 << k for k in range(5)], register=[1 << k for k in range(5, 25)]),
            {},
            r"^convert\(Linear\(register, lane to x\), Linear\(lane, register to x\), 4\): a thread "
            "holds 1048576 elements, and a plan has at most 1024",
        ),
    ],
)
def test_refusals(a, b, options, says):
    with pytest.raises(LayoutError, match=says):
        convert(a, b, **options)


def test_a_block_has_warps_enough():
    rows = hardware.blocked([1, 4], [8, 4], [64, 1], shape=(512, 16))
    with pytest.raises(LayoutError, match="at most 32 warps, and the plan 64"):
        assert convert(rows, rows).source


@pytest.mark.parametrize("name", ["int", "max", "T", "a b", "2x", 3, "memcpy"])
def test_names_that_are_none(name):
    with pytest.raises(LayoutError, match="no function of the name"):
        assert convert(BLOCKED, TRANSPOSED, name=name).source


def test_bytes_as_numpy_has_them():
    made = convert(BLOCKED, TRANSPOSED, np.int8(2), way="shared memory")
    assert made.source == convert(BLOCKED, TRANSPOSED, 2, way="shared memory").source


def test_values_of_another_shape():
    with pytest.raises(LayoutError, match=r"\(1, 32, 4\)"):
        convert(BLOCKED, TRANSPOSED).run(np.zeros((32, 4)))


def test_saved(tmp_path):
    made = convert(BLOCKED, TRANSPOSED, name="turn", way="shuffles")
    assert made.save(tmp_path / "turn.cuh") and not made.save(tmp_path / "turn.cuh")
    assert (tmp_path / "turn.cuh").read_text() == made.source
    assert "#ifndef LEGO_TURN_CUH" in made.source and made.source.endswith("LEGO_TURN_CUH\n")
    assert "__shfl_xor_sync(0xffffffffu, word[3], 3)" in made.source


# -- at random -------------------------------------------------------------------------------------


def any_pair(rng):
    """Two layouts: columns that are bits of the tile, or any; the other one related or not."""
    bits, warps = rng.randint(3, 9), rng.choice([0, 0, 1, 2])
    few = max(0, bits - 5 - warps)

    def made(registers, columns):
        ins = [("register", registers), ("lane", 5), ("warp", warps)]
        return Linear._made(ins, [("x", bits)], columns)

    def anything(registers):
        count = registers + 5 + warps
        columns = [1 << k for k in range(bits)] + [0] * (count - bits)
        if rng.random() < 0.5:
            rng.shuffle(columns)
            return columns
        columns = []
        while f2.rank(columns) < bits:
            columns = [rng.randrange(1 << bits) * (rng.random() < 0.8) for _ in range(count)]
        return columns

    registers = few + rng.randint(0, 2)
    columns = anything(registers)
    if rng.random() < 0.4:
        other = few + rng.randint(0, 2)
        return made(registers, columns), made(other, anything(other))
    own, more, way = columns[: registers + 5], rng.randint(0, 1), rng.random()
    if way < 0.2:
        own = rng.sample(own[:registers], registers) + own[registers:]
    elif way < 0.6:
        rng.shuffle(own)
    else:
        own = [f2.times(own, rng.randrange(1 << len(own))) for _ in own]
    own = own[:registers] + [0] * more + own[registers:]
    return made(registers, columns), made(registers + more, own + columns[registers + 5 :])


def tried(seed, count):
    rng = random.Random(seed)
    kinds = set()
    for _ in range(count):
        a, b = any_pair(rng)
        size = rng.choice([1, 2, 4, 8, 16])
        best = checked(a, b, size)
        staged = checked(a, b, size, way="shared memory")
        assert best.price <= staged.price
        kinds.add(best.kind)
        if best.kind != "shared memory":
            assert checked(a, b, size, way="shuffles").steps == best.steps
    return kinds


@pytest.mark.slow
def test_pairs_at_random():
    assert tried(1, 60) >= {"shuffles", "shared memory"}


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_pairs_at_random(seed):
    assert tried(seed, 500) >= {"registers", "shuffles", "shared memory"}


# -- the text, run by threads ----------------------------------------------------------------------


def called(made):
    """A program's part that converts the numbers of elements, and returns how many are wrong."""
    before, after = made.registers
    size, memory = made.element_bytes, ", bytes" * (made.memory is not None)
    given, wanted = (elements(x, made.warps, made.lanes) for x in (made.start, made.end))
    return f"""{made.source}
{numbers(f"given_{made.name}", given)}
{numbers(f"wanted_{made.name}", wanted)}
static int wrong_{made.name}() {{
  return launch({made.warps * made.lanes}, [](unsigned thread) {{
    Element<{size}> from[{before}], to[{after}];
    for (unsigned k = 0; k < {before}; ++k) {{
      from[k] = element<{size}>(given_{made.name}[thread * {before} + k]);
    }}
    {made.name}(from, to{memory});
    return wrong(to, wanted_{made.name} + thread * {after});
  }});
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", [None, "shared memory"])
def test_the_text_moves_what_the_plan_does(tmp_path, way):
    made = [
        checked(a, b, size, name=f"c{k}", way=way)
        for k, (a, b, size, _) in enumerate(PAIRS.values())
    ]
    run_by_threads({c.name: called(c) for c in made}, tmp_path)


@pytest.mark.slow
def test_nvcc_moves_vectors_whole(tmp_path, need):
    """As many instructions of shared memory as the plan has, whatever is taken out of a vector."""
    nvcc = need("nvcc", "apt-get install nvidia-cuda-toolkit")
    rows = hardware.blocked([1, 16], [4, 8], [8, 1], shape=(64, 128))
    mma = hardware.fitted(hardware.mma("c") * Linear.identity1D(8, "warp", "dim0"), (64, 128))
    text, plans = "#include <cstring>\n", [(rows, mma, 1), (mma, rows, 1), (rows, mma, 2)]
    made = [
        convert(a, b, size, name=f"c{k}", way="shared memory")
        for k, (a, b, size) in enumerate(plans)
    ]
    for c in made:
        kind = {1: "unsigned char", 2: "unsigned short"}[c.element_bytes]
        before, after = c.registers
        text += f"""{c.source}
__global__ void run_{c.name}(const {kind}* source, {kind}* out) {{
  extern __shared__ __align__(16) unsigned char memory[];
  {kind} from[{before}], to[{after}];
  for (int k = 0; k < {before}; ++k) from[k] = source[k * 256 + threadIdx.x];
  {c.name}(from, to, memory);
  for (int k = 0; k < {after}; ++k) out[k * 256 + threadIdx.x] = to[k];
}}
"""
    (tmp_path / "k.cu").write_text(text)
    options = ["-std=c++17", "-O3", "-arch=sm_90", "-Werror", "all-warnings"]
    subprocess.run([nvcc, *options, "-ptx", "k.cu", "-o", "k.ptx"], cwd=tmp_path, check=True)
    kernels = (tmp_path / "k.ptx").read_text().split(".entry ")[1:]
    for c, kernel in zip(made, kernels, strict=True):
        assert f"run_{c.name}" in kernel
        counts = kernel.count("ld.shared"), kernel.count("st.shared")
        assert counts == (c.loads, c.stores), c


@pytest.mark.deep
def test_texts_at_random(tmp_path):
    rng = random.Random(7)
    made = [checked(*any_pair(rng), rng.choice([1, 2, 4, 8, 16]), name=f"c{k}") for k in range(20)]
    assert len({c.kind for c in made}) > 1
    run_by_threads({c.name: called(c) for c in made}, tmp_path)


def test_a_language_that_moves_no_tiles():
    plan = convert(BLOCKED, TRANSPOSED, name="turn")
    assert source(plan) == plan.source
    for target in ("hip", "rust"):
        with pytest.raises(TargetError, match="has no function that moves a tile"):
            source(plan, target)
