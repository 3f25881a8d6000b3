"""A row of 16 that stands for 8 rows: stride 0."""

from lego_emit.algebra.strided import Strided

layout = Strided((8, 16), (0, 1))
