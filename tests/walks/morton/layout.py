"""A texture in Morton order: the bits of j are counted where they stand."""

from lego_emit import catalogue

layout = catalogue["morton.2D"](8, 8)
walk = "logical"
