"""(thread, value) to the 32 x 16 tile of a tiled MMA's accumulator: 2 x 2 warps of m16n8k16."""

from lego_emit import cute

atom = cute.MMAAtom(
    (16, 8, 16),
    "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "((4,8),(2,2)):((16,1),(8,64))",
    "((4,8),(2,2)):((32,1),(16,8))",
)
layout = cute.make_tiled_mma(atom, (2, 2, 1)).layout_tv("c")
