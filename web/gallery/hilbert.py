"""A Hilbert curve, one of the layouts that the catalogue has by name."""

from lego_emit import catalogue

hilbert = catalogue["hilbert.2D"](8, 8)
