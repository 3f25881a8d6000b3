"""An image of 48 rows of 60 pixels, each row padded to 64."""

from lego_emit.algebra.strided import Strided

layout = Strided((48, 60), (64, 1))
