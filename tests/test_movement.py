"""Bank conflicts by looking and by rank, and the memory layouts with the fewest."""

import functools
import itertools
import random

import numpy as np
import pytest
from marks import rest_deep, rest_slow

from lego_emit import Col, ExpandBy, GroupBy, Linear, Strided, TileBy, cute, hardware, symbols
from lego_emit.algebra import f2
from lego_emit.errors import LayoutError
from lego_emit.movement import (
    NVIDIA,
    SharedMemory,
    bank_conflicts,
    optimal_padding,
    optimal_swizzle,
    swizzle_bound,
)
from lego_emit.movement.linear_access import linear_access, log2, vector_bits, wavefronts
from lego_emit.movement.memories import memory_of

ROWS = GroupBy([32, 32])


def groups(lanes, size):
    return tuple(tuple(range(k, k + size)) for k in range(0, lanes, size))


PHASES = {4: groups(4, 4), 8: groups(4, 2), 16: groups(4, 1)}
SMALL = SharedMemory("small", 4, PHASES, PHASES, banks=4)
TINY = SharedMemory("tiny", 2, {4: groups(2, 2)}, {4: groups(2, 2)}, banks=2)
# Pairs of lanes that read the same are served with others, which then may have to meet in a bank.
MERGING = SharedMemory("merging", 4, PHASES, PHASES, banks=4, partners=(1,))
HALVES = {2: groups(4, 4), 4: groups(4, 2), 8: groups(4, 1)}
HALF = SharedMemory("half", 4, HALVES, HALVES, banks=4, bank_bytes=2, partners=(1, 2))


# -- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "memory, access, element_bytes, wanted",
    [
        (ROWS, lambda lane: (lane, 0), 4, (32, 1, 32)),
        (ROWS, lambda lane: (0, lane), 4, (1, 1, 1)),
        (ROWS, lambda lane: (0, 0), 4, (1, 1, 1)),
        (ROWS, lambda lane: 7 * lane, 4, (1, 1, 1)),
        (ROWS, lambda lane: 8 * lane, 4, (8, 1, 8)),
        (ROWS, lambda lane: (lane, 0), 1, (8, 1, 8)),
        (ROWS, lambda lane: (0, lane), 8, (2, 2, 1)),
        (Strided((32, 32), (33, 1)), lambda lane: (lane, 0), 4, (1, 1, 1)),
        (GroupBy([32, 32]).OrderBy(Col(32, 32)), lambda lane: (lane, 0), 4, (1, 1, 1)),
        (ROWS, lambda lane, register: (lane // 8, 4 * (lane % 8) + register), 4, (4, 4, 1)),
        (ROWS, lambda lane, register: (lane, register), 4, (32, 4, 8)),
        (ROWS, lambda lane: None if lane % 2 else (lane, 0), 4, (16, 1, 16)),
        (ExpandBy([5, 4], [8, 4], GroupBy([8, 4])), lambda lane: lane % 20, 4, (1, 1, 1)),
        (GroupBy([16, 16]), hardware.mma("a"), 2, (8, 4, 2)),
        (hardware.swizzled(16, 16, 8, 4, 2), hardware.mma("a"), 2, (4, 4, 1)),
        (GroupBy([8, 64]), hardware.ldmatrix(1), 2, (8, 1, 8)),
        (hardware.nvmma_shared(8), hardware.ldmatrix(1), 2, (1, 1, 1)),
        (ROWS, cute.layout("(32,4):(4,1)"), 4, (4, 4, 1)),
        (ROWS, GroupBy([32, 2]), 4, (2, 2, 1)),
    ],
)
def test_wavefronts_minimum_and_degree(memory, access, element_bytes, wanted):
    found = bank_conflicts(memory, access, element_bytes)
    assert (found.wavefronts, found.minimum, found.degree) == wanted
    assert found.is_free == (found.degree <= 1) and bool(found.pairs) == (found.degree > 1)


def test_pairs_and_words():
    found = bank_conflicts(ROWS, lambda lane: (lane % 3, 0))
    assert found.degree == 3 and (0, 1) in found.pairs and (0, 3) not in found.pairs
    assert "lanes that collide: 0 and 1" in str(found)
    wide = bank_conflicts(ROWS, lambda lane, register: 4 * lane + register, registers=4)
    assert wide.widths == (16,) and wide.instructions == 1
    assert "1 of 16 bytes" in str(wide)
    three = bank_conflicts(ROWS, lambda lane, register: 4 * lane + register, registers=3)
    assert three.widths == (8, 4)
    other = bank_conflicts(ROWS, lambda register, lane: 4 * lane + register, registers=4)
    assert other == wide


def test_pairs_of_lanes_that_read_the_same_are_served_together():
    """As counted on an H100: reads alone, of 8 and 16 bytes, where lane ^ 1 or lane ^ 2 agrees."""
    memory = GroupBy([1024])
    for by, saved in ((1, True), (2, True), (4, False)):
        access = Linear.of(lambda lane, by=by: lane & ~by, {"lane": 32})
        for width, halves in ((8, 1), (16, 2)):
            read = bank_conflicts(memory, access, width)
            stored = bank_conflicts(memory, access, width, write=True)
            assert stored.minimum == width // 4
            assert read.minimum == (halves if saved else width // 4)


def test_amd_and_transactions():
    found = bank_conflicts(ROWS, lambda lane: lane, gpu="amd")
    assert (found.wavefronts, found.transactions) == (2, 4)
    rows = GroupBy([64, 64])

    def across(lane, register):
        return lane % 32, 8 * (lane // 32) + register

    read = bank_conflicts(rows, across, 2, gpu="amd", registers=8)
    stored = bank_conflicts(rows, across, 2, gpu="amd", registers=8, write=True)
    assert read.wavefronts == stored.wavefronts == 64
    one = bank_conflicts(ROWS, lambda lane: 2 * lane)
    assert (one.transactions, one.least_transactions) == (8, 4)


@pytest.mark.parametrize(
    "memory, access, options, says",
    [
        (3, lambda lane: lane, {}, "the memory is 3"),
        (ROWS, 3, {}, "give a layout, or a function of lane"),
        (ROWS, lambda lane: 40 * lane, {}, "1040 for coordinate 0 .* 0..1023"),
        (ROWS, lambda lane: (lane, lane, 0), {}, "3 coordinates, and the memory .* takes 2"),
        (ROWS, lambda lane: "x", {}, "'x' for lane 0"),
        (ROWS, lambda lane: 1 // (3 - lane), {}, r"raised ZeroDivisionError \(line .* for lane 3"),
        (ROWS, lambda lane: (lane, -1), {}, "-1 for coordinate 1"),
        (ROWS, lambda lane: 2**70, {}, "gives 1180591620717411303424 for lane 0"),
        (ROWS, lambda lane, register: lane, {"registers": 2**40}, "more than 1048576 elements"),
        (ROWS, lambda: 0, {}, "asked with a lane"),
        (ROWS, lambda lane: lane, {"element_bytes": 3}, "element_bytes is 3"),
        (ROWS, lambda lane: lane, {"element_bytes": 0.5}, r"as in Packed\(layout, 4\)"),
        (ROWS, lambda lane: lane, {"gpu": "amdd"}, "Did you mean 'amd'"),
        (ROWS, lambda lane, register: lane, {"registers": 0}, "registers is 0"),
        (GroupBy(symbols("M N")), lambda lane: lane, {}, "sizes that are symbols"),
        (hardware.mma("c"), lambda lane: lane, {}, "gives dim0, dim1, and an offset .* inverse"),
        (GroupBy([16, 8]), hardware.mma("c").inverse(), {}, "and none is 'lane'"),
        (ROWS, GroupBy([48]), {}, "48 lanes, and a warp 32"),
    ],
)
def test_what_is_refused(memory, access, options, says):
    with pytest.raises(LayoutError, match=says):
        bank_conflicts(memory, access, **options)


# -- by rank ---------------------------------------------------------------------------------------


def distributed(draw, sizes, bits, names=("register", "lane", "warp")):
    """A distributed layout: unit vectors, each once, and zeros."""
    outs = {"x": 1 << sizes[0], "y": 1 << sizes[1]}
    units = [(1 << k, 0) for k in range(sizes[0])] + [(0, 1 << k) for k in range(sizes[1])]
    draw.shuffle(units)
    bases = {}
    for name, count in zip(names, bits, strict=True):
        bases[name] = [
            units.pop() if units and draw.random() < 0.85 else (0, 0) for _ in range(count)
        ]
    bases["register"] += units
    return Linear(bases, out=outs)


def mixed(draw, sizes, bits, chance=1.0):
    """A layout of registers, lanes and warps in which bits of the tile are added to others. chance: how
    often a lane bit makes a difference."""
    columns = [1 << k for k in range(sum(sizes))]
    draw.shuffle(columns)
    for _ in range(draw.choice([0, 2, 4, 8, 30])):
        one, other = draw.sample(range(len(columns)), 2)
        columns[one] ^= columns[other]
    _, lanes, warps = bits
    own = [columns.pop() if columns and draw.random() < chance else 0 for _ in range(lanes)]
    own += [columns.pop() if columns and draw.random() < 0.8 else 0 for _ in range(warps)]
    columns += [draw.choice([0, draw.randrange(1 << sum(sizes))]) for _ in range(bits[0])]
    draw.shuffle(columns)
    ins = [("register", len(columns)), ("lane", lanes), ("warp", warps)]
    return Linear._made(ins, [("x", sizes[0]), ("y", sizes[1])], [*columns, *own])


def any_invertible(draw, bits):
    while True:
        columns = [draw.randrange(1 << bits) for _ in range(bits)]
        if f2.rank(columns) == bits:
            return columns


@pytest.mark.slow
@pytest.mark.parametrize("count", rest_deep([60, 400]))
def test_rank_counts_what_is_looked_at(count):
    draw = random.Random(1)
    for _ in range(count):
        sizes = draw.randint(2, 4), draw.randint(2, 5)
        gpu = draw.choice([NVIDIA, "amd"])
        lanes = 5 if gpu is NVIDIA else 6
        access = distributed(draw, sizes, (draw.randint(0, 3), draw.choice([lanes, lanes, 3]), 0))
        if draw.random() < 0.3:  # any columns, not only unit vectors
            cols = [
                tuple(draw.randrange(n) for n in access.out_dims.values()) for _ in range(lanes)
            ]
            access = Linear({"register": access.bases["register"], "lane": cols}, access.out_dims)
        memory = Linear._made(
            access.outs, [("offset", sum(sizes))], any_invertible(draw, sum(sizes))
        )
        if draw.random() < 0.5:
            memory = Linear.of(GroupBy([*access.out_dims.values()]))
            memory = Linear._made(access.outs, memory.outs, memory.columns)
        for element_bytes, write in itertools.product((1, 2, 4, 8, 16), (False, True)):
            seen = bank_conflicts(memory, access, element_bytes, gpu=gpu, write=write)
            at = linear_access(access, memory_of(gpu, ""), "").after(memory)
            counted = wavefronts(at, element_bytes, memory_of(gpu, ""), write)
            assert counted == (seen.wavefronts, seen.instructions), (access, memory, element_bytes)


# -- the fewest ------------------------------------------------------------------------------------


def every_invertible(bits):
    """All columns of invertible matrices."""

    def go(columns):
        if len(columns) == bits:
            yield tuple(columns)
            return
        for c in range(1, 1 << bits):
            if f2.rank([*columns, c]) == len(columns) + 1:
                yield from go([*columns, c])

    return go([])


def judged(memory, sides, element_bytes, gpu):
    ats = [(linear_access(x, gpu, "").after(memory), w) for x, w in sides]
    most = gpu.widest // element_bytes
    vector = min(vector_bits(at, most.bit_length() - 1) for at, _ in ats)
    found = [wavefronts(at, element_bytes, gpu, w) for at, w in ats]
    return -vector, sum(n for n, _ in found), sum(n for _, n in found)


@pytest.mark.deep
@pytest.mark.parametrize(
    "gpu, kind",
    [(SMALL, distributed), (TINY, distributed), (MERGING, mixed), (HALF, mixed)],
    ids=["small", "tiny", "merging", "half"],
)
@pytest.mark.parametrize("bits, count", [(3, 40), (4, 1)])
def test_no_layout_is_better_than_the_optimal_one(gpu, bits, count, kind):
    draw = random.Random(bits)
    lanes = gpu.lanes.bit_length() - 1
    spaces = [*every_invertible(bits)]
    for _ in range(count):
        sizes = bits // 2, bits - bits // 2
        pair = [kind(draw, sizes, (draw.randint(0, 2), lanes, draw.randint(0, 1))) for _ in "ab"]
        element_bytes = draw.choice([1, 2, 4])
        found = optimal_swizzle(*pair, element_bytes, gpu=gpu)
        sides = [*zip(pair, (True, False), strict=True)]
        mine = judged(found, sides, element_bytes, gpu)
        best = min(
            judged(Linear._made(found.ins, found.outs, columns), sides, element_bytes, gpu)
            for columns in spaces
        )
        assert mine == best, (pair, element_bytes)
        assert (1 << -mine[0], mine[1]) == swizzle_bound(*pair, element_bytes, gpu=gpu)


def pair_of(draw):
    """Two distributed layouts of one tile, of full warps."""
    sizes = draw.randint(3, 5), draw.randint(3, 6)
    return [distributed(draw, sizes, (draw.randint(1, 4), 5, draw.randint(0, 2))) for _ in "ab"]


def mixed_pair(draw, lanes=5, chance=1.0):
    """Two layouts of one tile, bits of which are added to others; of full warps."""
    bits = draw.randint(lanes + 1, lanes + 6)
    across = draw.randint(1, bits - 1)
    return [
        mixed(
            draw, (across, bits - across), (draw.randint(0, 1), lanes, draw.randint(0, 2)), chance
        )
        for _ in "ab"
    ]


def costs(pair, element_bytes, gpu=NVIDIA):
    """What the optimal swizzle costs, as judged says, and the bound."""
    found = optimal_swizzle(*pair, element_bytes, gpu=gpu)
    sides = [*zip(pair, (True, False), strict=True)]
    mine = judged(found, sides, element_bytes, gpu)
    elements, least = swizzle_bound(*pair, element_bytes, gpu=gpu)
    assert 1 << -mine[0] >= elements, (pair, element_bytes)
    assert mine[1] >= least, (pair, element_bytes)
    return mine, least


TILE = {"x": 8, "y": 16}
WARPS = Linear.identity1D(2, "warp", "dim1") * Linear.identity1D(2, "warp", "dim0")
MISSED = {
    "two registers": (
        Linear(
            {
                "register": [(0, 1), (0, 8)],
                "lane": [(1, 0), (4, 0), (2, 0), (0, 4), (0, 2)],
            },
            TILE,
        ),
        Linear(
            {
                "register": [(0, 1), (0, 2)],
                "lane": [(4, 0), (2, 0), (1, 0), (0, 4), (0, 8)],
            },
            TILE,
        ),
        4,
        8,
    ),
    "a bit of both and of lanes": (
        Linear(
            {
                "register": [(2, 8), (0, 2), (8, 0)],
                "lane": [(1, 0), (14, 4), (0, 1), (10, 0), (0, 4)],
            },
            {"x": 16, "y": 16},
        ),
        Linear(
            {
                "register": [(2, 4), (0, 2), (0, 4)],
                "lane": [(1, 0), (8, 2), (1, 8), (4, 9), (0, 1)],
            },
            {"x": 16, "y": 16},
        ),
        1,
        6,
    ),
    "blocked to mma": (
        hardware.blocked((1, 2), (8, 4), (2, 2), shape=(32, 32)),
        hardware.mma("a") * WARPS,
        4,
        16,
    ),
}


@pytest.mark.parametrize("case", MISSED)
def test_the_bound_is_reached_where_it_was_missed(case):
    *pair, element_bytes, least = MISSED[case]
    (_, found, _), bound = costs(pair, element_bytes)
    assert found == bound == least


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_deep(range(16), 8))
def test_the_bound_is_reached(seed):
    draw = random.Random(seed)
    for _ in range(80):
        (_, found, _), least = costs(pair := pair_of(draw), size := draw.choice([1, 2, 4, 8]))
        assert found == least, (pair, size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_deep(range(16), 8))
def test_the_bound_is_reached_where_bits_are_mixed(seed):
    """No lane reads what another does, so that nothing collides, whatever the width."""
    draw = random.Random(100 + seed)
    for element_bytes in (1, 1, 1, 2, 2, 4, 8, 16) * 3:
        pair = mixed_pair(draw)
        (_, found, _), least = costs(pair, element_bytes)
        memory = optimal_swizzle(*pair, element_bytes)
        seen = [
            bank_conflicts(memory, x, element_bytes, write=w)
            for x, w in zip(pair, (True, False), strict=True)
        ]
        assert found == least == sum(c.wavefronts for c in seen), (pair, element_bytes)
        assert all(c.is_free for c in seen), (pair, element_bytes)


@pytest.mark.parametrize("seed", rest_slow(rest_deep(range(16), 8), 2))
def test_the_bound_is_reached_where_lanes_read_the_same(seed):
    draw = random.Random(200 + seed)
    for element_bytes in (1, 1, 2, 2, 4, 8) * 2:
        gpu, lanes = draw.choice([(NVIDIA, 5), (NVIDIA, 3), (memory_of("amd", ""), 6)])
        pair = mixed_pair(draw, lanes, 0.8)
        (_, found, _), least = costs(pair, element_bytes, gpu)
        assert found == least, (gpu.name, pair, element_bytes)


def spanned(columns):
    """All sums of columns."""
    found = [0]
    for c in columns:
        found += [x ^ c for x in found] if c not in found else []
    return found


def as_set(vectors):
    """A set of vectors as an int: bit v for vector v."""
    return sum(1 << v for v in {*vectors})


@functools.lru_cache(1 << 16)
def span_of(columns):
    """All sums of a frozenset of columns, as a set."""
    return as_set(spanned(columns))


@functools.cache
def spaces(dimensions, size):
    """All spaces of one dimension within another, as sets."""
    found = {(0,)}
    for _ in range(size):
        found = {
            tuple(sorted([*space, *(x ^ v for x in space)]))
            for space in found
            for v in range(1 << dimensions)
            if v not in space
        }
    return [as_set(space) for space in found]


def chains(vectors, size):
    """All sequences of so many independent vectors."""
    if not size:
        yield ()
        return
    for chain in chains(vectors, size - 1):
        inside = spanned(chain)
        yield from ((*chain, v) for v in vectors if v not in inside)


def better(pair, element_bytes, mine, gpu=NVIDIA):
    """A memory that lets both accesses move as many elements as mine, with fewer wavefronts, or None:
    (vector, common, word, index space) over all of them.

    What a memory costs is said by the columns of its inverse: the lowest ones, which registers make,
    the space of those within a word, and the space of the index's.
    """
    accesses = [linear_access(x, gpu, "") for x in pair]
    bits = sum(bits for _, bits in accesses[0].layout.outs)
    most = log2(gpu.widest // element_bytes)
    in_word = log2(max(1, gpu.bank_bytes // element_bytes))
    above = max(0, bits - log2(gpu.banks * gpu.bank_bytes // element_bytes))
    for writes, length in itertools.product((True, False), range(most + 1)):
        wide, narrow = accesses if writes else accesses[::-1]
        for common in range(-mine[0], length + 1):
            moved = [(wide, length, writes), (narrow, common, not writes)]
            alone = [
                x.phases(gpu, element_bytes << n, w) << f2.rank(x.registers) - n
                for x, n, w in moved
                if n <= f2.rank(x.registers)
            ]
            if len(alone) < 2 or (-common, sum(alone)) >= mine[:2]:
                continue
            lanes = [x.in_phase(gpu, element_bytes << n, w) for x, n, w in moved]
            for vector in chains(spanned(wide.registers)[1:], length):
                if not {*vector[:common]} <= {*spanned(narrow.registers)}:
                    continue
                for others in chains(range(1, 1 << bits), max(0, in_word - length)):
                    word = [*vector, *others][:in_word]
                    forbidden = _forbidden(vector, others, common, wide, narrow)
                    if forbidden is None:
                        continue
                    one = span_of(frozenset([*vector, *others, *lanes[0]]))
                    other = span_of(frozenset([*word, *vector[:common], *lanes[1]]))
                    for index in spaces(bits, above):
                        if index & forbidden:
                            continue
                        found = alone[0] * (index & one).bit_count()
                        found += alone[1] * (index & other).bit_count()
                        if (-common, found) < mine[:2]:
                            return vector, common, word, index
    return None


def _forbidden(vector, others, common, wide, narrow):
    """What no index column may be; None where the columns cannot be a memory's."""
    found = span_of(frozenset([*vector, *others])) & ~1
    for k, v in enumerate(vector):
        both = [narrow.lanes, narrow.others] if k < common else []
        rest = [x for x in (*vector, *others) if x != v]
        columns = [*rest, *itertools.chain(wide.lanes, wide.others, *both)]
        still = span_of(frozenset(columns))
        if still >> v & 1:
            return None
        found |= span_of(frozenset([v, *columns])) & ~still
    return found


@pytest.mark.deep
def test_no_memory_is_better_in_small_spaces():
    draw = random.Random(2)
    for _ in range(100):
        sizes = draw.choice([(3, 4), (4, 3), (2, 5), (3, 3), (2, 4)])
        pair = [
            distributed(
                draw, sizes, (draw.randint(0, 3), draw.choice([5, 5, 3]), draw.randint(0, 2))
            )
            for _ in "ab"
        ]
        for element_bytes in (1, 2, 4, 8):
            mine, least = costs(pair, element_bytes)
            assert mine[1] == least, (pair, element_bytes)
            assert better(pair, element_bytes, mine) is None, (pair, element_bytes)


def without_banks(pair, element_bytes, gpu):
    """The fewest wavefronts if each phase took one, whatever the banks."""
    accesses = [linear_access(x, gpu, "") for x in pair]
    most = log2(gpu.widest // element_bytes)
    common = log2(swizzle_bound(*pair, element_bytes, gpu=gpu)[0])

    def least(side, longest):
        phases = [
            accesses[side].phases(gpu, element_bytes << bits, side == 0)
            << f2.rank(accesses[side].registers) - bits
            for bits in range(common, longest + 1)
        ]
        return min(phases)

    own = [len(f2.complement([*x.lanes, *x.others], x.registers)) for x in accesses]
    longest = [min(most, bits) for bits in own]
    return min(least(0, longest[0]) + least(1, common), least(0, common) + least(1, longest[1]))


def compared(seed, count):
    """Check for random pairs on small machines that no memory has fewer wavefronts than the bound;
    for how many of them the banks make a difference."""
    draw, hindered = random.Random(seed), 0
    for _ in range(count):
        gpu = draw.choice([SMALL, MERGING, HALF, HALF])
        bits = draw.choice([4, 5])
        across = draw.randint(1, bits - 1)
        chance, warps = draw.choice([0.6, 1.0]), draw.randint(0, 1)
        pair = [mixed(draw, (across, bits - across), (0, 2, warps), chance) for _ in "ab"]
        element_bytes = draw.choice([1, 1, 2, 2, 4, 8])
        mine, least = costs(pair, element_bytes, gpu)
        assert mine[1] == least, (gpu.name, pair, element_bytes)
        assert better(pair, element_bytes, mine, gpu) is None, (gpu.name, pair, element_bytes)
        hindered += least > without_banks(pair, element_bytes, gpu)
    return hindered


@pytest.mark.slow
def test_no_memory_is_better_on_small_machines():
    assert compared(9, 150) >= 1


@pytest.mark.deep
def test_no_memory_is_better_on_small_machines_for_many():
    assert compared(12, 2_000) >= 10


@pytest.mark.deep
@pytest.mark.parametrize("kind", [pair_of, mixed_pair])
def test_the_bound_is_reached_by_many(kind):
    draw = random.Random(11)
    for _ in range(2_000):
        pair, size = kind(draw), draw.choice([1, 2, 4, 8, 16])
        (_, found, _), least = costs(pair, size)
        assert found == least, (pair, size)


def test_the_bound_knows_what_one_moves_and_the_other_s_warps_hold():
    """The reader would move 8 bytes at once in 2 wavefronts, as lanes 0 and 1 read the same. No index
    column is away from both accesses and leaves its order alone."""
    tile = {"x": 8, "y": 32}
    write = {
        "register": [(2, 0), (4, 0)],
        "lane": [(0, 16), (0, 2), (1, 0), (0, 1), (0, 4)],
        "warp": [(0, 8)],
    }
    read = {
        "register": [(0, 8), (4, 0), (2, 0)],
        "lane": [(0, 0), (0, 16), (0, 1), (1, 0), (0, 2)],
        "warp": [(0, 4)],
    }
    pair = [Linear(bases, tile) for bases in (write, read)]
    mine, least = costs(pair, 1)
    assert mine[1] == least == 3 and better(pair, 1, mine) is None


@pytest.mark.slow
def test_the_bound_is_reached_and_padding_is_no_better():
    draw = random.Random(4)
    for _ in range(60):
        sizes = draw.randint(3, 5), draw.randint(3, 6)
        pair = [distributed(draw, sizes, (draw.randint(1, 4), 5, draw.randint(0, 2))) for _ in "ab"]
        for element_bytes in (1, 2, 4, 8):
            memory = optimal_swizzle(*pair, element_bytes)
            seen = [
                bank_conflicts(memory, x, element_bytes, write=w)
                for x, w in zip(pair, (1, 0), strict=True)
            ]
            vector, least = swizzle_bound(*pair, element_bytes)
            assert all(c.is_free and c.widths[0] >= vector * element_bytes for c in seen)
            assert sum(c.wavefronts for c in seen) == least
    sides = (lambda lane: (lane, 0)), (lambda lane: (0, lane))
    assert optimal_padding(32, 32, *sides, np.int8(4)) == Strided((32, 32), (33, 1))
    with pytest.raises(LayoutError, match=r"^optimal_padding.* element_bytes is 0"):
        optimal_padding(32, 32, *sides, 0)


# The layouts of Triton's unittest/Tools/GenericSwizzlingTest.cpp, whose tests ask for no conflict.
TRITON = {
    "f8 128x128 transposed": (
        1,
        (128, 128),
        {
            "register": [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0), (2, 0)],
            "lane": [(0, 16), (0, 32), (0, 64), (4, 0), (8, 0)],
            "warp": [(16, 0), (32, 0), (64, 0)],
        },
        None,
    ),
    "bf16 16x16 blocked to mma": (
        2,
        (16, 16),
        {"register": [(0, 1), (0, 2), (0, 4)], "lane": [(0, 8), (1, 0), (2, 0), (4, 0), (8, 0)]},
        {"register": [(0, 1), (8, 0), (0, 8)], "lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]},
    ),
    "u4 16x256 to mma, two in a byte": (
        1,
        (16, 128),
        {
            "register": [(0, 1), (0, 2), (0, 4), (0, 8), (4, 0), (8, 0)],
            "lane": [(0, 16), (0, 32), (0, 64), (1, 0), (2, 0)],
        },
        {
            "register": [(0, 1), (0, 2), (8, 0), (0, 16), (0, 32), (0, 64)],
            "lane": [(0, 4), (0, 8), (1, 0), (2, 0), (4, 0)],
        },
    ),
    "f32 32x16 transposed": (
        4,
        (32, 16),
        {
            "register": [(4, 0), (8, 0), (16, 0)],
            "lane": [(0, 1), (0, 2), (0, 4), (0, 8), (1, 0)],
            "warp": [(2, 0)],
        },
        {
            "register": [(0, 2), (0, 4), (0, 8)],
            "lane": [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)],
            "warp": [(0, 1)],
        },
    ),
    "f16 128x128 transposed": (
        2,
        (128, 128),
        {
            "register": [(1, 0), (2, 0), (4, 0), (0, 32), (0, 64)],
            "lane": [(8, 0), (16, 0), (32, 0), (64, 0), (0, 1)],
            "warp": [(0, 2), (0, 4), (0, 8), (0, 16)],
        },
        None,
    ),
}


@pytest.mark.parametrize("case", TRITON)
def test_triton_s_cases_have_no_conflict(case):
    element_bytes, shape, write, read = TRITON[case]
    read = read or {n: [(y, x) for x, y in images] for n, images in write.items()}
    pair = [Linear(b, {"dim0": shape[0], "dim1": shape[1]}) for b in (write, read)]
    swizzled, rows = (
        [
            bank_conflicts(memory, access, element_bytes, write=writes)
            for access, writes in zip(pair, (True, False), strict=True)
        ]
        for memory in (optimal_swizzle(*pair, element_bytes), GroupBy(shape))
    )
    assert all(found.is_free for found in swizzled)
    assert sum(f.wavefronts for f in swizzled) <= sum(f.wavefronts for f in rows)


def test_accesses_of_other_families():
    rows, columns = GroupBy([32, 8]), TileBy([32, 8]).OrderBy(Col(32, 8))
    memory = optimal_swizzle(rows, columns)
    assert memory.is_invertible()
    assert memory == optimal_swizzle(rows, columns, np.int8(4))
    assert bank_conflicts(memory, rows, np.int8(4)) == bank_conflicts(memory, rows)
    assert bank_conflicts(memory, rows, write=True).is_free
    assert bank_conflicts(memory, columns).is_free
    with pytest.raises(LayoutError, match="both must have the same coordinates"):
        optimal_swizzle(hardware.mma("a"), hardware.mma("c"))
    with pytest.raises(LayoutError, match="not every element of the tile is read"):
        optimal_swizzle(hardware.mma("c"), Linear({"lane": [(1, 0)]}, hardware.mma("c").out_dims))
    with pytest.raises(LayoutError, match=r"not linear|no power of two"):
        optimal_swizzle(GroupBy([32, 3]), GroupBy([32, 3]))
