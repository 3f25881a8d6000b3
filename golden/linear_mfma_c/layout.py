"""The accumulator of v_mfma 32x32 on the 64 lanes of a wave."""

from lego_emit import hardware

layout = hardware.mfma("c", size=32)
