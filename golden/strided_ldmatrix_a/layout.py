"""The operand A of m16n8k16 (16 bits): 32 threads, 8 values each, to a column-major 16 x 16 tile
(CuTe's SM80_16x8x16, ALayout)."""

from lego_emit import cute

layout = cute.layout("((4,8),(2,2,2)):((32,1),(16,8,128))")
