"""Swizzled atoms of 8 x 32, repeated to 32 x 64: what wgmma reads with 64-byte swizzling."""

from lego_emit import cute

atom = cute.layout("(8,32):(32,1)")
layout = cute.composition(cute.Swizzle(2, 3, 3), cute.tile_to_shape(atom, (32, 64)))
