"""Weights in groups of four rows, as VNNI reads them."""

from lego_emit import Row, catalogue

copied = Row(16, 16), catalogue["x86.vnni"](16, 16, 8)
element = "int8"
