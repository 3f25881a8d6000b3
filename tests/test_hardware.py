"""The hardware's layouts against the formulas of the instruction sets' own documents."""

import pytest

from lego_emit import hardware
from lego_emit.errors import LayoutError

LANES = [(lane, lane >> 2, lane & 3) for lane in range(32)]


def held(layout, **index):
    return {r: layout(register=r, **index) for r in range(layout.in_dims["register"])}


@pytest.mark.parametrize("lane, group, thread", LANES)
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
    """AMD Matrix Instruction Calculator: v_mfma_f32_32x32x8f16 and v_mfma_f32_16x16x16f16."""
    for lane in range(64):
        for i, place in held(hardware.mfma("c", 32), lane=lane).items():
            assert place == (8 * (i // 4) + 4 * (lane // 32) + i % 4, lane % 32)
        for i, place in held(hardware.mfma("c", 16), lane=lane).items():
            assert place == (4 * (lane // 16) + i, lane % 16)
        for i in range(4):
            assert hardware.mfma("a", 32)(i, lane) == (lane % 32, 4 * (lane // 32) + i)
            assert hardware.mfma("b", 16)(i, lane) == (4 * (lane // 16) + i, lane % 16)


def test_wmma():
    """RDNA3 ISA, 7.9: rows of the result alternate between the halves of a wave."""
    for lane in range(32):
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
    for swizzle, bits in ((32, 1), (64, 2), (128, 3)):
        layout = hardware.nvmma_shared(16, swizzle, 16)
        assert layout.is_invertible()
        for i in range(16):
            for j in range(swizzle // 2):
                plain = swizzle * i + 2 * j
                wanted = plain ^ (plain >> 7 & (1 << bits) - 1) << 4
                assert layout(i, j) == (wanted // 2,)


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
    "call",
    [
        lambda: hardware.mma("d"),
        lambda: hardware.mma("a", 2),
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
