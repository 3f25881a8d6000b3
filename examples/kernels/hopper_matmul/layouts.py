"""Tiles of three matrices in global and in shared memory, who holds which sums, and the order of the tiles."""

from typing import Any

from lego_emit import Col, Row, TileBy, catalogue, cute, hardware, symbols

ROWS = 64  # of C, of a group of four warps and one wgmma
WIDTH = 128  # of C, that a group stores at a time


def layouts(
    M: Any,
    N: Any,
    K: Any,
    tile: Any = (128, 256, 64),
    stages: int = 4,
    group: int = 8,
    majors: str = "KK",
) -> tuple[Any, ...]:
    """A of M x K, B of N x K and C of M x N, in tiles of M x N x K elements of 16 bits.

    stages: tiles of A and B that are loaded ahead; group: rows of tiles whose columns are computed
    together; majors: of A and B, "K" where K is contiguous in memory and "M" where M or N is.
    """
    BM, BN, BK = tile
    a, b = ({"K": Row, "M": Col}[major] for major in majors)
    A = TileBy([M // BM, K // BK], [BM, BK]).OrderBy(a(M, K))
    B = TileBy([N // BN, K // BK], [BN, BK]).OrderBy(b(N, K))
    C = TileBy([M // BM, N // BN], [BM // ROWS, BN // WIDTH], [ROWS, WIDTH]).OrderBy(Row(M, N))
    shared_a, shared_b = (
        shared((n, BK, stages), major) for n, major in zip((BM, BN), majors, strict=True)
    )
    shared_c = shared((ROWS, WIDTH, BM // ROWS), "K")  # one part for each group of warps
    programs = catalogue["triton.grouped"](M // BM, N // BN, group)
    held = Row(BN // WIDTH, WIDTH * ROWS // 128)  # the sums of a thread: a part's, one by one
    return A, B, C, shared_a, shared_b, shared_c, programs, held


def shared(shape: tuple[int, int, int], major: str) -> Any:
    """Tiles in shared memory with the swizzle of 128 bytes, one behind the other."""
    kind, order = ("K_SW128", (0, 1, 2)) if major == "K" else ("MN_SW128", (1, 0, 2))
    return cute.tile_to_shape(cute.make_smem_layout_atom(kind, 16), shape, order)


A, B, C, shared_a, shared_b, shared_c, programs, held = layouts(*symbols("M N K"))
sums = hardware.wgmma("d", WIDTH)  # (register, lane, warp) to the place in a part of C
