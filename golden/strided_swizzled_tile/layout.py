"""A tile of 64 x 64 half words, swizzled for ldmatrix: CuTe's Swizzle<3, 3, 3>."""

from lego_emit import cute

layout = cute.composition(cute.Swizzle(3, 3, 3), "(64,64):(64,1)")
