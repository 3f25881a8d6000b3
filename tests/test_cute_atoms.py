"""Copy atoms and the layouts of wgmma and TMA: each from what the instructions do (PTX ISA)."""

import itertools
import random

import pytest
from marks import some_deep
from test_cute import L, values

from lego_emit import GenP, GroupBy, OrderBy, Row, cute, generate, hardware
from lego_emit.errors import LayoutError

pytestmark = pytest.mark.slow

# SM80_16x8x16_F32F16F16F32_TN, CUTLASS's include/cute/atom/mma_traits_sm80.hpp
ATOM = cute.MMAAtom(
    (16, 8, 16),
    "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "((4,8),(2,2)):((16,1),(8,64))",
    "((4,8),(2,2)):((32,1),(16,8))",
)
KINDS = [f"{major}_{span}" for major in ("K", "MN") for span in ("INTER", "SW32", "SW64", "SW128")]


# -- ldmatrix and stmatrix -----------------------------------------------------------------------


def held(lane, value, transposed):
    """(the lane that gives the address, the element of its row) of a value of 16 bits that a lane
    gets: row lane // 4 and columns 2 * (lane % 4) and the next of each matrix; transposed, columns
    and rows change places (PTX ISA 9.7.14.5.15)."""
    matrix, c = divmod(value, 2)
    row, column = lane // 4, 2 * (lane % 4) + c
    if transposed:
        row, column = column, row
    return 8 * matrix + row, column


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(count, transposed):
    atom, other = cute.ldmatrix(count, transposed), cute.stmatrix(count, transposed)
    assert (atom.threads, atom.values) == (other.threads, other.values) == (32, 2 * count)
    assert (other.layout_src, other.layout_dst) == (atom.layout_dst, atom.layout_src)
    linear = hardware.ldmatrix(count, transposed)
    for lane, value in itertools.product(range(32), range(2 * count)):
        assert atom.layout_dst(lane, value) == atom.layout_src(*held(lane, value, transposed))
        row, column = linear(register=value, lane=lane)
        assert atom.layout_dst(lane, value) == 8 * row + column
    for lane, column in itertools.product(range(32), range(8)):
        assert atom.layout_src(lane, column) == atom.layout_src(lane % (8 * count), column)


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_other_widths_move_the_same_bytes(bits):
    atom, words = cute.ldmatrix(4, False, bits), cute.ldmatrix(4, False, 32)
    part = 32 // bits
    for lane, value in itertools.product(range(32), range(4 * part)):
        assert atom.layout_dst(lane, value) // part == words.layout_dst(lane, value // part)


COPIES = [
    ("a", 4, False, "(1,1,1)", (0, 1)),
    ("a", 2, False, "(2,2,1)", (1, 0)),
    ("a", 4, False, "(2,2,1)", (1, 0)),
    ("a", 1, False, "(1,2,1)", (1, 0)),
    ("a", 4, True, "(2,1,1)", (0, 1)),
    ("b", 2, False, "(2,2,1)", (1, 0)),
    ("b", 2, True, "(1,2,1)", (0, 1)),
    ("c", 2, False, "(2,2,1)", (1, 0)),
    ("c", 1, True, "(2,2,1)", (0, 1)),
]


@pytest.mark.parametrize("store", [False, True])
@pytest.mark.parametrize(
    "operand, count, transposed, warps, order", some_deep(COPIES, COPIES[1::2])
)
def test_tiled_copies_of_an_mma(operand, count, transposed, warps, order, store):
    """What the instruction brings a lane is what the MMA takes from there."""
    mma = cute.make_tiled_mma(ATOM, warps)
    atom = (cute.stmatrix if store else cute.ldmatrix)(count, transposed)
    made = {"a": cute.make_tiled_copy_A, "b": cute.make_tiled_copy_B, "c": cute.make_tiled_copy_C}
    copy = made[operand](atom, mma)
    shape = (2 * copy.tiler[0], 3 * copy.tiler[1])
    a = cute.make_ordered_layout(shape, order)
    rows, parts = copy.partition_S, copy.partition_D
    if store:
        rows, parts = parts, rows
    lines = {t: rows(a, t) for t in range(mma.size)}
    for t in range(0, mma.size, 5):
        warp, lane = t // 32 * 32, t % 32
        part, fragment = parts(a, t), mma.partition(operand, a, t)
        assert values(copy.retile(fragment)) == values(part)
        assert copy.retile(fragment).dims == part.dims
        assert part.dims[1:] == lines[t].dims[1:] == (2, 3)
        atoms = part.dims[0] // atom.values
        for v, k, i, j in itertools.product(range(atom.values), range(atoms), range(2), range(3)):
            thread, column = held(lane, v, transposed)
            line = lines[warp + thread](column + 8 * k, i, j)
            assert part(v + atom.values * k, i, j) == line
        wanted = order == (1, 0) if not transposed else order == (0, 1)
        first = [lines[t](c, 1, 2) for c in range(8)]
        assert (first == list(range(first[0], first[0] + 8))) is wanted


def test_plain_vectors():
    draw = random.Random(1)
    for _ in range(20):
        bits, vector = draw.choice([(16, 128), (32, 128), (8, 32), (32, 32)])
        n = vector // bits
        threads = cute.make_ordered_layout((draw.choice([2, 4]), draw.choice([2, 4])), (1, 0))
        atom = cute.universal_copy(vector, bits)
        copy = cute.make_tiled_copy(atom, threads, (1, 2 * n))
        plain = cute.make_tiled_copy(threads, (1, 2 * n))
        assert copy == cute.make_tiled_copy(threads, (1, 2 * n), atom)
        a = L((2 * copy.tiler[0], copy.tiler[1]), (copy.tiler[1] + 3, 1))
        for t in range(copy.size):
            one = copy.partition_S(a, t)
            assert one.shape[0] == (n, 2)
            assert values(one) == values(copy.partition_D(a, t)) == values(plain.partition(a, t))
            assert values(one) == values(copy.retile(plain.partition(a, t)))


def test_coordinates_and_swizzles_go_through_a_copy():
    copy = cute.make_tiled_copy_A(cute.ldmatrix(4), cute.make_tiled_mma(ATOM, (2, 1, 1)))
    smem = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
    where = cute.make_identity_layout((64, 64))
    for t in (0, 9, 63):
        part, at = copy.partition_S(smem, t), copy.partition_S(where, t)
        assert part.dims == at.dims
        for index in itertools.product(*map(range, part.dims)):
            assert part(*index) == smem(*at(*index))
    banks = {copy.partition_S(smem, t)(0, 0, 0) // 2 % 32 for t in range(8)}
    assert len(banks) == 8  # no two rows begin in one bank


def test_a_row_of_a_matrix_is_emitted():
    copy = cute.make_tiled_copy_A(cute.ldmatrix(4), cute.make_tiled_mma(ATOM, (2, 1, 1)))
    smem = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))

    def row(thread, i, j):
        return copy.partition_S(smem, thread)(0, i, j)

    unit = generate(row, "cuda", ranges={"thread": (0, 64), "i": (0, 2), "j": (0, 4)})
    for t, i, j in itertools.product(range(64), range(2), range(4)):
        (found,) = unit.functions[0].evaluate({"thread": t, "i": i, "j": j}).values()
        assert found == row(t, i, j)


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


@pytest.mark.parametrize("width", some_deep([8, 16, 32], [8, 32]))
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
        (lambda: cute.ldmatrix(3), "1, 2 and 4 matrices"),
        (lambda: cute.ldmatrix(4, True, 32), "up to 16"),
        (lambda: cute.stmatrix(4, False, 24), "up to 32"),
        (lambda: cute.universal_copy(128, 24), "no whole number"),
        (lambda: cute.universal_copy(0, 16), "not a number of bits"),
        (lambda: cute.CopyAtom("(32,4)", "(16,8)", "(32,4)"), "of 32 threads"),
        (lambda: cute.CopyAtom("(32,4)", "(32,4)", "(32,4):(4,0)"), "each element once"),
        (lambda: cute.make_tiled_copy(cute.ldmatrix(4), (4, 4), (1, 8)), "16 threads are no"),
        (lambda: cute.make_tiled_copy(cute.ldmatrix(4), (4, 8), (1, 4)), "4 values are no"),
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
