"""The row of a swizzled 64 x 64 tile (128 bytes) that a thread's ldmatrix.x4 reads, by thread and
tile: the partition of the source, value 0."""

from lego_emit import cute

atom = cute.MMAAtom(
    (16, 8, 16),
    "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "((4,8),(2,2)):((16,1),(8,64))",
    "((4,8),(2,2)):((32,1),(16,8))",
)
copy = cute.make_tiled_copy_A(cute.ldmatrix(4), cute.make_tiled_mma(atom, (2, 2, 1)))
tile = cute.tile_to_shape(cute.make_smem_layout_atom("K_SW128", 16), (64, 64))
layout = copy.tidfrg_S(tile)((None, 0), (None, None))
