"""The B fragment of mma.m16n8k16: register and lane to row and column."""

from lego_emit import hardware

layout = hardware.mma("b", bits=16)
