"""Rows in Morton order."""

from lego_emit import Row, catalogue

copied = Row(16, 16), catalogue["morton.2D"](16, 16)
element = "uint16"
