"""The hardware's layouts against the formulas of the instruction sets' own documents."""

from itertools import product
from random import Random

import pytest

from lego_emit import Linear, cute, hardware
from lego_emit.errors import LayoutError

LANES = [(lane, lane >> 2, lane & 3) for lane in range(32)]


def held(layout, **index):
    return {r: layout(register=r, **index) for r in range(layout.in_dims["register"])}


@pytest.mark.parametrize("lane, group, thread", LANES)
@pytest.mark.quick(4)
def test_mma(lane, group, thread):
    """PTX ISA, "Matrix Fragments for mma.m16n8k*": groupID is lane >> 2, threadID lane % 4."""
    for bits in (1, 4, 8, 16, 32, 64):
        packed = max(1, 32 // bits)  # elements of one 32-bit register
        a = held(hardware.mma("a", bits), lane=lane)
        for i, (row, column) in a.items():
            assert row == group + 8 * (i // packed % 2)
            assert column == thread * packed + i % packed + 4 * packed * (i // packed // 2)
        assert len(a) == (2 if bits == 64 else 4 * packed)
        b = held(hardware.mma("b", bits), lane=lane)
        for i, (row, column) in b.items():
            assert column == group
            assert row == thread * packed + i % packed + 4 * packed * (i // packed)
        assert len(b) == (1 if bits == 64 else 2 * packed)
    for i, (row, column) in held(hardware.mma("c"), lane=lane).items():
        assert (row, column) == (group + 8 * (i >= 2), 2 * thread + i % 2)


# PTX ISA, "Matrix Fragments for mma.m16n8k*": for each type and k the rows of ai beside groupID, the
# columns of ai and the rows of bi, of t = threadID_in_group, as the sections write them.
FRAGMENTS = {
    (64, 4): (lambda i: 8 * i, lambda i, t: t, lambda i, t: t),
    (64, 8): (lambda i: 8 * (i in (1, 3)), lambda i, t: t + 4 * (i >= 2), lambda i, t: t + 4 * i),
    (64, 16): (
        lambda i: 0 if i % 2 == 0 else 8,
        lambda i, t: i * 2 + t if i % 2 == 0 else i * 2 - 2 + t,
        lambda i, t: t + i * 4,
    ),
    (32, 4): (lambda i: 8 * i, lambda i, t: t, lambda i, t: t),
    (32, 8): (lambda i: 8 * (i in (1, 3)), lambda i, t: t + 4 * (i >= 2), lambda i, t: t + 4 * i),
    (16, 8): (
        lambda i: 8 * (i >= 2),
        lambda i, t: t * 2 + (i & 1),
        lambda i, t: t * 2 + i,
    ),
    (16, 16): (
        lambda i: 0 if i < 2 or 4 <= i < 6 else 8,
        lambda i, t: t * 2 + (i & 1) + 8 * (i >= 4),
        lambda i, t: t * 2 + (i & 1) + 8 * (i >= 2),
    ),
    (8, 16): (lambda i: 8 * (i >= 4), lambda i, t: t * 4 + (i & 3), lambda i, t: t * 4 + i),
    (8, 32): (
        lambda i: 0 if i < 4 or 8 <= i < 12 else 8,
        lambda i, t: t * 4 + (i & 3) + 16 * (i >= 8),
        lambda i, t: t * 4 + (i & 3) + 16 * (i >= 4),
    ),
    (4, 32): (lambda i: 8 * (i >= 8), lambda i, t: t * 8 + (i & 7), lambda i, t: t * 8 + i),
    (4, 64): (
        lambda i: 0 if i < 8 or 16 <= i < 24 else 8,
        lambda i, t: t * 8 + (i & 7) + 32 * (i >= 16),
        lambda i, t: t * 8 + (i & 7) + 32 * (i >= 8),
    ),
    (1, 128): (lambda i: 8 * (i >= 32), lambda i, t: t * 32 + (i & 31), lambda i, t: t * 32 + i),
    # The section has t * 32 + i for i < 64, which is outside of A's own half where 32 <= i.
    (1, 256): (
        lambda i: 0 if i < 32 or 64 <= i < 96 else 8,
        lambda i, t: t * 32 + (i & 31) + 128 * (i >= 64),
        lambda i, t: t * 32 + (i & 31) + 128 * (i >= 32),
    ),
}


@pytest.mark.parametrize(("bits", "k"), FRAGMENTS)
@pytest.mark.quick(4)
def test_mma_of_each_type_and_shape(bits, k):
    below, across, down = FRAGMENTS[bits, k]
    a, b = hardware.mma("a", bits, k), hardware.mma("b", bits, k)
    assert a.out_dims == {"dim0": 16, "dim1": k} and b.out_dims == {"dim0": k, "dim1": 8}
    assert a.is_invertible() and b.is_invertible()
    if k == 256 // bits:
        assert (a, b) == (hardware.mma("a", bits), hardware.mma("b", bits))
    for lane, group, t in LANES:
        for i, place in held(a, lane=lane).items():
            assert place == (group + below(i), across(i, t))
        for i, place in held(b, lane=lane).items():
            assert place == (down(i, t), group)


# CUTLASS writes wgmma's operand a by thread and value, the tile column-major, 64 elements a column
# (ALayout_64x8, _64x16 and _64x32 of its mma_traits_sm90_gmma.hpp; the last line is the same for b1).
WGMMA_A = {
    32: "((4,8,4),(2,2)):((64,1,16),(8,256))",
    16: "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))",
    8: "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))",
    1: "((4,8,4),(32,2,2)):((2048,1,16),(64,8,8192))",
}


@pytest.mark.slow
@pytest.mark.parametrize("bits", WGMMA_A)
def test_wgmma_operand_a(bits):
    layout, tile = hardware.wgmma("a", bits=bits), cute.layout(WGMMA_A[bits])
    for thread in range(0, 128, 3):
        for i, (row, column) in held(layout, lane=thread % 32, warp=thread // 32).items():
            assert tile.apply(thread, i) == row + 64 * column


@pytest.mark.parametrize("n", [8, 64, 256])
def test_wgmma(n):
    """PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16"."""
    layout = hardware.wgmma("d", n)
    assert layout.is_invertible() and layout.in_dims["register"] == n // 2
    for lane, group, thread in LANES[::5]:
        for warp in range(4):
            for i, place in held(layout, lane=lane, warp=warp).items():
                row = 16 * warp + group + 8 * (i // 2 % 2)
                assert place == (row, 8 * (i // 4) + 2 * thread + i % 2)
    assert hardware.wgmma("a").out_dims == {"dim0": 64, "dim1": 16}


def test_ldmatrix():
    """PTX ISA, "Warp-level matrix load instruction: ldmatrix": a row by four lanes of two."""
    layout, across = hardware.ldmatrix(4), hardware.ldmatrix(4, transposed=True)
    for lane, group, thread in LANES:
        for i in range(8):
            assert layout(i, lane) == (8 * (i // 2) + group, 2 * thread + i % 2)
            assert across(i, lane) == (8 * (i // 2) + 2 * thread + i % 2, group)


def test_mfma():
    """AMD Matrix Instruction Calculator: v_mfma_f32_32x32x8_f16, v_mfma_f32_16x16x16_f16 and
    v_mfma_f64_16x16x4_f64."""
    for lane in range(64):
        for i, place in held(hardware.mfma("c", 16, bits=64), lane=lane).items():
            assert place == (4 * i + lane // 16, lane % 16)
        for i, place in held(hardware.mfma("c", 32), lane=lane).items():
            assert place == (8 * (i // 4) + 4 * (lane // 32) + i % 4, lane % 32)
        for i, place in held(hardware.mfma("c", 16), lane=lane).items():
            assert place == (4 * (lane // 16) + i, lane % 16)
        for i in range(4):
            assert hardware.mfma("a", 32)(i, lane) == (lane % 32, 4 * (lane // 32) + i)
            assert hardware.mfma("b", 16)(i, lane) == (4 * (lane // 16) + i, lane % 16)


@pytest.mark.slow
def test_wmma():
    """AMD Matrix Instruction Calculator, v_wmma_f32_16x16x16_f16 of RDNA3 and RDNA4: in the former rows
    of the result alternate between the halves of a wave."""
    for lane in range(32):
        for i in range(8):
            k = 8 * (i // 4) + 4 * (lane // 16) + i % 4
            assert hardware.wmma("a", 2, k_width=4)(i, lane) == (lane % 16, k)
            assert hardware.wmma("b", 2, k_width=4)(i, lane) == (k, lane % 16)
            assert hardware.wmma("a", 2)(i, lane) == (lane % 16, 8 * (lane // 16) + i)
            assert hardware.wmma("b", 2)(i, lane) == (8 * (lane // 16) + i, lane % 16)
        for i in range(8):
            assert hardware.wmma("c")(i, lane) == (2 * i + lane // 16, lane % 16)
            assert hardware.wmma("c", 2)(i, lane) == (8 * (lane // 16) + i, lane % 16)
        for i in range(16):
            assert hardware.wmma("a")(i, lane) == (lane % 16, i)
            assert hardware.wmma("b")(i, lane) == (i, lane % 16)
    assert hardware.wmma("a").broadcast() == {"register": 0, "lane": 16}


def test_shared_memory():
    """Definition 4.11, and the three swizzles as exclusive ors of address bits 4.. with 7.. (in
    bytes), as CUTLASS writes them: Swizzle<1..3, 4, 3>."""
    layout = hardware.swizzled(16, 32, vec=4, per_phase=2, max_phase=4)
    for i in range(16):
        for j in range(32):
            phase = i // 2 % 4
            assert layout(i, j) == (32 * i + ((phase ^ j // 4) * 4 ^ j % 4),)
    for (swizzle, bits), size in product(((32, 1), (64, 2), (128, 3)), (1, 2, 4, 8)):
        layout = hardware.nvmma_shared(16, swizzle, 8 * size)
        assert layout.is_invertible()
        for i in range(16):
            for j in range(swizzle // size):
                plain = swizzle * i + size * j
                wanted = plain ^ (plain >> 7 & (1 << bits) - 1) << 4
                assert layout(i, j) == (wanted // size,)


def test_blocked():
    """Triton's own example of BlockedEncodingAttr: a tile that is repeated, and one too large."""
    layout = hardware.blocked([2, 2], [8, 4], [1, 2], order=[1, 0], shape=[16, 16])
    assert layout.is_invertible()
    assert layout(register=3, lane=5, warp=1) == (3, 11)
    repeated = hardware.blocked([1, 1], [8, 4], [1, 1], shape=[16, 8])
    assert repeated.in_dims == {"register": 4, "lane": 32, "warp": 1}
    shared = hardware.blocked([1, 4], [8, 4], [4, 1], shape=[8, 8])
    assert shared.broadcast() == {"register": 0, "lane": 2, "warp": 3}
    rows = hardware.sliced(shared, 1)
    assert rows.out_dims == {"dim0": 8} and rows(register=1, lane=12, warp=0) == (3,)


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda: hardware.ldmatrix(3), "ldmatrix(3): give 1, 2 or 4"),
        (lambda: hardware.mma("c", k=8), "mma('c', 16): the accumulator has no k; leave it out"),
        (lambda: hardware.wgmma("a", 8), "operand a has no n"),
        (lambda: hardware.mfma("d", k_width=4), "the accumulator has no k_width"),
        (lambda: hardware.mfma("a", bits=32), "operand a has no bits"),
        (lambda: hardware.wmma("c", 2, 8), "the accumulator has no k_width"),
        (lambda: hardware.wmma("a", 1, 8), "version 1 has no k_width"),
        (lambda: hardware.wgmma("d", 24), "n is 24; powers of two from 8 to 256"),
        (
            lambda: hardware.blocked([1, 1], [4, 8], [1, 1], shape=(4, 12)),
            "blocked([1, 1], [4, 8], [1, 1], shape=(4, 12)): dim1 is 12, no power of two",
        ),
    ],
)
def test_a_message_names_what_was_called(call, said):
    with pytest.raises(LayoutError) as error:
        call()
    assert said in str(error.value)


@pytest.mark.parametrize("make", [hardware.mma, hardware.wgmma, hardware.mfma, hardware.wmma])
def test_the_accumulator_has_both_names(make):
    assert make("c") == make("d")
    assert hardware.mfma("c", 16, bits=64) == hardware.mfma("d", 16, bits=64)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hardware.mma("e"),
        lambda: hardware.mma("a", 2),
        lambda: hardware.mma("a", 16, 32),
        lambda: hardware.mma("b", 64, 2),
        lambda: hardware.wgmma("a", bits=64),
        lambda: hardware.wgmma("a", bits=4),
        lambda: hardware.wgmma("d", 8, 3),
        lambda: hardware.mfma("c", 32, bits=64),
        lambda: hardware.wmma("a", 2, k_width=2),
        lambda: hardware.wgmma("b"),
        lambda: hardware.wgmma("d", 24),
        lambda: hardware.ldmatrix(3),
        lambda: hardware.mfma("c", 8),
        lambda: hardware.wmma("c", 3),
        lambda: hardware.swizzled(8, 16, 8, 1, 8),
        lambda: hardware.nvmma_shared(8, 96),
        lambda: hardware.blocked([1, 2], [32], [1, 1]),
        lambda: hardware.sliced(hardware.mma("c"), 2),
        lambda: hardware.sliced(hardware.mma("c"), "dim0"),
        lambda: hardware.sliced(3, 0),
        lambda: hardware.fitted(hardware.mma("c"), [32, 32], order=[0]),
        lambda: hardware.fitted(hardware.mma("c"), 32),
        lambda: hardware.blocked([], [], []),
        lambda: hardware.blocked([1, 2], [4, 8], [1, 1], order=3),
        lambda: hardware.swizzled(8, None, 1, 1, 1),
        lambda: hardware.nvmma_shared(None),
        lambda: hardware.wmma("c", 1.0),
    ],
)
def test_bad_input(call):
    with pytest.raises(LayoutError):
        call()


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_masks_take_the_integers_of_a_word_to_where_lop3_says(bits):
    order, word = hardware.lop3(bits), Random(bits).getrandbits(32)
    one = (1 << bits) - 1
    registers = [(word & (one * 0x10001) << bits * r) >> bits * r for r in range(16 // bits)]
    for place in range(32 // bits):
        register, half = divmod(order.apply(place), 2)
        assert registers[register] >> 16 * half & 0xFFFF == word >> bits * place & one


def test_each_lane_widens_its_words_to_its_fragments():
    """A piece of 16 x 128 weights of 4 bits, packed by a layout, against the fragments of eight mma."""
    word = hardware.lop3() * Linear.identity1D(32, "lane", "lane")
    packed = (hardware.mma("a") @ word) * Linear.identity1D(8, "step", "dim1")
    assert packed.is_bijection
    random, fragment = Random(7), hardware.mma("a")
    weights = [[random.randrange(16) for _ in range(128)] for _ in range(16)]
    for lane in range(32):
        for step in range(8):
            held = 0
            for place in range(8):
                n, k = packed.apply(place, lane, step)
                held |= weights[n][k] << 4 * place
            for register in range(4):
                pair = held >> 4 * register & 0x000F000F
                for half in range(2):
                    n, k = fragment.apply(2 * register + half, lane)
                    assert pair >> 16 * half & 15 == weights[n][k + 16 * step]


def test_other_integers_do_not_share_a_word():
    with pytest.raises(LayoutError, match="integers of 2, 4 or 8 bits"):
        hardware.lop3(3)
