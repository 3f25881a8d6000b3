"""The layouts of wgmma and TMA: each from what the instructions do (PTX ISA)."""

import itertools

import pytest

from lego_emit import GenP, GroupBy, OrderBy, Row, cute, hardware
from lego_emit.errors import LayoutError

pytestmark = pytest.mark.slow

KINDS = [f"{major}_{span}" for major in ("K", "MN") for span in ("INTER", "SW32", "SW64", "SW128")]


# -- wgmma and TMA -------------------------------------------------------------------------------


def bytes_of(address, bits):
    """Where a byte goes: chunks of 16 bytes are exclusive-ored with the rows of 128 (PTX ISA
    9.7.15.5.1)."""
    return address ^ ((address >> 7 & (1 << bits) - 1) << 4)


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("kind", KINDS)
def test_atoms(kind, width):
    major, span = kind.split("_")
    atom = cute.make_smem_layout_atom(kind, width)
    bits = {"INTER": 0, "SW32": 1, "SW64": 2, "SW128": 3}[span]
    long = (16 << bits) * 8 // width
    assert atom.dims == ((8, long) if major == "K" else (long, 8))
    for i, j in itertools.product(range(8), range(long)):
        byte = bytes_of((i * long + j) * width // 8, bits)
        assert atom(*((i, j) if major == "K" else (j, i))) * width // 8 == byte
    name = {0: "INTERLEAVE", 1: "B32", 2: "B64", 3: "B128"}[bits]
    assert cute.layout_type(atom, width).name == name
    assert cute.tma_swizzle(atom, width).name == name.replace("INTERLEAVE", "NONE")
    assert cute.tma_swizzle(atom, width) == bits
    if width == 16 and major == "K":
        assert (
            cute.layout_type(hardware.nvmma_shared(16, 16 << bits if bits else 0), 16).name == name
        )


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("kind", KINDS)
def test_descriptors_say_where_each_byte_is(kind, order, width):
    """The strides of the canonical layouts (PTX ISA 9.7.15.5.1), in bytes, put together again."""
    major, _ = kind.split("_")
    long = 1024 // width
    smem = cute.tile_to_shape(cute.make_smem_layout_atom(kind, width), (2 * long, 2 * long), order)
    depth = 256 // width
    for x, y in ((0, 0), (1, 0), (0, 1), (1, 3)):
        tile = cute.local_tile(smem, (long, depth), (x, y))
        found = cute.make_gmma_desc(tile, width, major)
        bits = {"INTERLEAVE": 0, "B32": 1, "B64": 2, "B128": 3}[found.layout_type.name]
        wide, leading, stride = 1 << bits, found.leading_byte_offset, found.stride_byte_offset
        for i, j in itertools.product(range(long), range(depth)):
            if major == "K":
                chunk, within = divmod(j * width // 8, 16)
                at = i % 8 * wide * 16 + i // 8 * stride + chunk * (16 if bits else leading)
            else:
                chunk, within = divmod(i * width // 8, 16)
                at = chunk % wide * 16 + j % 8 * wide * 16
                steps = (leading, stride) if bits else (stride, leading)
                at += chunk // wide * steps[0] + j // 8 * steps[1]
            at += tile.layout.offset * width // 8 + within
            assert tile(i, j) == bytes_of(at, bits) * 8 // width
    assert cute.make_gmma_desc(smem, width, major) == cute.make_gmma_desc(
        cute.local_tile(smem, (2 * long, depth), (0, 0)), width, major
    )


def test_a_descriptor_is_64_bits():
    smem = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
    found = cute.make_gmma_desc(smem, 16, "K")
    assert found == cute.GmmaDescriptor(cute.LayoutType.B128, 16, 1024)
    assert found.encoded(0x400) == 1 << 62 | 64 << 32 | 1 << 16 | 0x40


def test_blocks_of_other_families_are_recognised():
    def swizzled(i, j):
        return 64 * i + (j // 8 ^ i % 8) * 8 + j % 8

    def back(k):
        return k // 64, (k % 64 // 8 ^ k // 64 % 8) * 8 + k % 8

    block = OrderBy(GenP((16, 64), swizzled, back)).GroupBy([16, 64])
    assert cute.layout_type(block, 16) == cute.LayoutType.B128
    assert cute.make_gmma_desc(block, 16, "K").stride_byte_offset == 1024
    assert cute.layout_type(GroupBy([16, 8]).OrderBy(Row(16, 8)), 16) == 0
    assert cute.tma_swizzle("S<2,4,2> o 0 o (8,64):(64,1)", 16) == cute.TmaSwizzle.B128_ATOM_32B
    with pytest.raises(LayoutError, match="no descriptor"):
        cute.layout_type(block, 8)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: cute.make_smem_layout_atom("K_SW16", 16), "no such kind"),
        (lambda: cute.make_smem_layout_atom("K_SW32", 6), "6 bits"),
        (lambda: cute.layout_type("S<3,4,3> o 0 o (8,64):(64,1)", 16), "S<3,5,3> of bytes"),
        (lambda: cute.layout_type("S<2,4,2> o 0 o (8,64):(64,1)", 16), "no descriptor"),
        (lambda: cute.make_gmma_desc("(64,16):(16,1)", 16, "M"), "no such major"),
        (lambda: cute.make_gmma_desc("(64,8):(8,1)", 16, "K"), "multiple of 16"),
        (lambda: cute.make_gmma_desc("(64,16):(16,1)", 16, "K"), "mode 0 steps by 32 bytes"),
        (lambda: cute.make_gmma_desc("(4,16):(16,1)", 16, "K"), "multiple of 8"),
        (lambda: cute.make_gmma_desc("(64,16):(1,64)", 16, "K"), "mode 1 is not contiguous"),
        (lambda: cute.make_gmma_desc("S<3,3,3> o 64 o (64,64):(64,1)", 16, "K"), "byte 128"),
        (lambda: cute.make_gmma_desc("64:1", 16, "K"), "two modes"),
        (lambda: cute.GmmaDescriptor(cute.LayoutType.B128, 16, 8).encoded(), "multiple of 16"),
    ],
)
def test_refused(make, says):
    with pytest.raises(LayoutError) as error:
        make()
    assert says in str(error.value)
