"""What each thread gets of a 32 x 32 tile by ldmatrix.x4: (thread, value) of the copy's destination,
and the tile along K, of a row-major tensor with a pitch of 40."""

from lego_emit import cute

atom = cute.MMAAtom(
    (16, 8, 16),
    "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "((4,8),(2,2)):((16,1),(8,64))",
    "((4,8),(2,2)):((32,1),(16,8))",
)
copy = cute.make_tiled_copy_A(cute.ldmatrix(4), cute.make_tiled_mma(atom, (2, 1, 1)))
layout = copy.tidfrg_D("(32,32):(40,1)")((None, None), (0, None))
