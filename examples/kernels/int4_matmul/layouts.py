"""Weights of 4 bits as lanes take them, who holds which sums, and the tiles of all matrices."""

from typing import Any

from lego_emit import Linear, Packed, Row, Strided, TileBy, cute, hardware, symbols

PIECE = 16  # rows of weights that a warp holds in one fragment
GROUP = 128  # of K, that share a scale

# A nibble of a word of a vector of 16 bytes of a lane, of both halves of a group: to a row and to K. What
# lop3 makes of a word is the fragment, words follow one another along K.
nibbles = hardware.mma("a") @ (hardware.lop3() * Linear.identity1D(32, "lane", "lane"))
packed = nibbles * Linear.identity1D(4, "word", "dim1") * Linear.identity1D(2, "half", "dim1")
fragment = hardware.mma("a")  # (register, lane) to the row of a piece and to K
accumulator = hardware.mma("c")  # and to the row and a row of x
# As movmatrix leaves it, each 8 x 8 transposed: to the row of x and the row.
stored = hardware.ldmatrix(1) * Linear.identity1D(2, "register", "dim1")
row_of = fragment.sublayout(["lane"], ["dim0"])  # a lane's first row


def layouts(
    P: Any, N: Any, K: Any, tile: Any = (16, 224), pieces: int = 1, stages: int = 10
) -> tuple[Any, ...]:
    """W of N x K, x of P tiles of rows x K and c = x W^T, in tiles of M x N.

    pieces: that a warp multiplies; stages: groups of K that are loaded ahead. Tiles of 32 rows or more
    are multiplied by wgmma, of four warps, smaller ones by mma.sync.
    """
    BM, BN = tile
    together = 4 if BM > PIECE else 1  # warps of an instruction
    parts = BN // PIECE // pieces // together  # of all warps, that multiply together
    count = parts * pieces * together  # pieces of a tile: of less than BN no layout of W is made
    # Weights in global memory: by rows, one a byte, and packed, by themselves, in words and in vectors.
    plain = TileBy([N // BN, K // GROUP], [count, 1], [PIECE, GROUP]).OrderBy(Row(N, K))
    fields = Packed(Row(N // BN, K // GROUP, count, 2, 32, 4, 8), 4)
    words = Row(N // BN, K // GROUP, count, 2, 32, 4)
    vectors = Row(N // BN, K // GROUP, count, 2, 32)
    # A scale for each row and group: by rows, and the two of a lane side by side.
    plain_scales = TileBy([N // BN, K // GROUP], [count, 1], [2, 1], [8, 1]).OrderBy(
        Row(N, K // GROUP)
    )
    scales = Strided((N // BN, K // GROUP, count, 2, 8), (K // GROUP * BN, BN, PIECE, 1, 2))
    X = TileBy([P, K // GROUP], [BM, GROUP]).OrderBy(Row(P * BM, K))
    C = TileBy([P, N // BN], [BM // 8, count], [8, PIECE]).OrderBy(Row(P * BM, N))
    # The same in shared memory, a tile behind the other.
    shared_w = Row(stages, count, 2, 32)
    shared_s = Strided((stages, count, 2, 8), (BN, PIECE, 1, 2))
    shared_x = cute.tile_to_shape(
        cute.make_smem_layout_atom("K_SW128", 16), (BM, GROUP, stages), (0, 1, 2)
    )
    units = Row(N // BN, P, K // GROUP)  # in the order of the work
    tiles, rows_of_x = Row(N // BN, P), Row(P, BM // 8, 8)
    # A warp's pieces: those of the four warps of wgmma follow one another.
    piece = Strided(((together, parts), pieces), ((1, together * pieces), together))
    turn = Row(2, pieces)  # of the fragments of a group
    held = Row(BM // 8, 4)  # sums of a piece: of 8 rows of x, one by one
    sums = Row(N // BN, P, pieces, BM // 8, 32 * parts * together)  # fours of them in global memory
    return (
        plain, fields, words, vectors, plain_scales, scales, X, C, shared_w, shared_s, shared_x,
        units, tiles, rows_of_x, turn, piece, held, sums, rows_read(BM),
    )  # fmt: skip


def rows_read(BM: int) -> Any:
    """A lane of ldmatrix to the row and the column of x whose 16 bytes it points at."""
    beyond = (8, 0) if BM >= 16 else (0, 0)
    return Linear({"lane": [(1, 0), (2, 0), (4, 0), (0, 8), beyond]}, {"row": 16, "column": 16})


(
    plain, fields, words, vectors, plain_scales, scales, X, C, shared_w, shared_s, shared_x,
    units, tiles, rows_of_x, turn, piece, held, sums, read,
) = layouts(*symbols("P N K"))  # fmt: skip
