"""Weights of 3 x 3 in blocks of 4 x 16 x 4 channels, for 8-bit dot products."""

from lego_emit import Row, catalogue

copied = Row(16, 32, 3, 3), catalogue["onednn.OIhw4i16o4i"](16, 32, 3, 3)
element = "int8"
