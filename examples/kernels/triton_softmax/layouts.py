"""The rows of a matrix."""

from lego_emit import Row, symbols

R, C = symbols("R C")

X = Row(R, C)
