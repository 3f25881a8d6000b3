"""The accumulator of mma.m16n8: register and lane to row and column."""

from lego_emit import hardware

layout = hardware.mma("c")
