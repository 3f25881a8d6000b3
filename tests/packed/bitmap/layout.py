"""A bitmap whose rows are padded to bytes, as PBM has them: the first pixel is the highest bit."""

from lego_emit import Packed, Strided, symbols

h, w = symbols("h w")
layout = Packed(Strided((h, w), (8 * ((w + 7) // 8), 1)), 1, word=8, order="msb")
sizes = {"h": 5, "w": 19}
