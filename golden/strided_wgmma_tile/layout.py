"""A 128 x 64 tile of 16 bits, M-major with the swizzle of 64 bytes, as wgmma and TMA read it
(CuTe's tile_to_shape of GMMA::Layout_MN_SW64_Atom)."""

from lego_emit import cute

layout = cute.tile_to_shape(cute.make_smem_layout_atom("MN_SW64", 16), (128, 64))
