"""The accumulator of m16n8: 32 threads, 4 values each, to a column-major 16 x 8 tile
(CuTe's SM80_16x8_Row)."""

from lego_emit import cute

layout = cute.layout("((4,8),(2,2)):((32,1),(16,8))")
