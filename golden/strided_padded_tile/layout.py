"""A tile of 32 x 32 in shared memory with a padding of one word a row: no bank conflicts."""

from lego_emit.algebra.strided import Strided

layout = Strided((32, 32), (33, 1))
