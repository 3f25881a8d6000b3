"""The A fragment of mma.m16n8k16: register and lane to row and column."""

from lego_emit import hardware

layout = hardware.mma("a", bits=16)
