"""The accumulator of wgmma m64n32 over the four warps of a warpgroup."""

from lego_emit import hardware

layout = hardware.wgmma("d", n=32)
