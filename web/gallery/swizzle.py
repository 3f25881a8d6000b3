"""An XOR swizzle: a column of 32 x 32 words meets all 32 banks, in one wavefront and not 32."""

from lego_emit import cute

plain = cute.layout("(32,32):(32,1)")
swizzled = cute.composition(cute.Swizzle(5, 0, 5), plain)
