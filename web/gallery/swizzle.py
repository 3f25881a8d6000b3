"""An XOR swizzle: a column of shared memory meets all banks."""

from lego_emit import cute

plain = cute.layout("(8,8):(8,1)")
swizzled = cute.composition(cute.Swizzle(2, 1, 2), "(8,8):(8,1)")
