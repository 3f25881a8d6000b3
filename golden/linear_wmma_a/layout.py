"""The A fragment of v_wmma on RDNA3, held by both halves of a wave."""

from lego_emit import hardware

layout = hardware.wmma("a")
