"""An XOR swizzle: a column of 32 x 32 words meets all 32 banks."""

from lego_emit import bank_conflicts, cute

plain = cute.layout("(32,32):(32,1)")
swizzled = cute.composition(cute.Swizzle(5, 0, 5), plain)

before, after = (bank_conflicts(tile, lambda lane: (lane, 0)) for tile in (plain, swizzled))
print(f"A warp reads a column in {before.wavefronts} wavefronts; swizzled, in {after.wavefronts}.")
