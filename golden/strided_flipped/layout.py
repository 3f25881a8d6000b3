"""An image of 12 x 20, stored from its last row on: a negative stride."""

from lego_emit.algebra.strided import Strided

layout = Strided((12, 20), (-20, 1), 220)
