"""The A fragment of mma.m16n8k32 for elements of 8 bits."""

from lego_emit import hardware

layout = hardware.mma("a", bits=8)
