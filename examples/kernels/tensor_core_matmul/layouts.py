"""Tiles of three matrices, who holds what of them, and the tiles in shared memory without conflicts."""

from lego_emit import (
    GroupBy,
    Linear,
    Row,
    TileBy,
    catalogue,
    cute,
    hardware,
    optimal_swizzle,
    symbols,
)

M, N, K = symbols("M N K")
BM, BN, BK = 128, 128, 32
STAGES, GROUP = 3, 8

A = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(Row(M, K))
B = TileBy([N // BN, K // BK], [BN, BK]).OrderBy(Row(N, K))
C = TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))
programs = catalogue["triton.grouped"](M // BM, N // BN, GROUP)
ring = Row(STAGES)  # of tiles of A and B

# Four warps, two by two, of mma.m16n8k16: two along n for each ldmatrix of four matrices.
atom = cute.MMAAtom.of(hardware.mma("a"), hardware.mma("b"), hardware.mma("c", bits=32))
mma = cute.make_tiled_mma(atom, (2, 2, 1), (32, 32, 16))
matrices_a = cute.make_tiled_copy_A(cute.ldmatrix(4), mma)
matrices_b = cute.make_tiled_copy_B(cute.ldmatrix(4), mma)
vectors = cute.make_tiled_copy("(32,4):(4,1)", "(1,8):(8,1)")  # 16 bytes a thread, along k
vectors_c = cute.make_tiled_copy("(8,16):(16,1)", "(1,8):(8,1)")  # and along n

# (thread, element of an instruction, instructions..) to the coordinates in a tile.
every = (None, None)
tile_mk, tile_nk, tile_mn = (cute.make_identity_layout(t) for t in ((BM, BK), (BN, BK), (BM, BN)))
given_a, given_b = vectors.tidfrg(tile_mk)(every, every), vectors.tidfrg(tile_nk)(every, every)
read_a = matrices_a.tidfrg_S(tile_mk)((None, (None, 0)), every)
read_b = matrices_b.tidfrg_S(tile_nk)((None, (None, 0)), every)
made_c = mma.thrfrg("c", tile_mn)(None, (every, every))
taken_c = vectors_c.tidfrg(tile_mn)(every, every)

# Of an instruction to a register, 32 bits wide: as ldmatrix fills them, as mma takes them.
MM, NN = BM // 32, BN // 16  # instructions of a warp
part_a, part_b = cute.layout(f"(8,{MM},1)"), cute.layout(f"(4,{NN},1)")
filled_a = cute.recast(matrices_a.retile(part_a), 16, 32)
filled_b = cute.recast(matrices_b.retile(part_b), 16, 32)
held_a, held_b = (cute.recast(part, 16, 32) for part in (part_a, part_b))
held_c = cute.layout(f"(2,2,{MM},{NN})")


def access(part, shape):
    """A part by lanes and warps, over F2: where the indices go that have a single bit."""
    columns = []
    for k, n in enumerate(part.dims):
        powers = [1 << bit for bit in range(n.bit_length() - 1)]
        columns.append([part.apply(*(p * (m == k) for m in range(part.rank))) for p in powers])
    threads, registers, *others = columns
    names = {"register": registers, "lane": threads[:5], "warp": threads[5:]}
    names |= {f"other{k}": found for k, found in enumerate(others)}
    return Linear(names, dict(zip(("row", "column"), shape, strict=True)))


def shared(shape, write, read):
    """A tile of 16 bits in shared memory, written and read so."""
    accesses = access(write, shape), access(read, shape)
    return GroupBy(shape).OrderBy(optimal_swizzle(*accesses, element_bytes=2))


shared_a = shared([BM, BK], given_a, read_a)
shared_b = shared([BN, BK], given_b, read_b)
shared_c = shared([BM, BN], made_c, taken_c)
