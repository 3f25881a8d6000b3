"""A blocked layout over 32x64: 4 elements of a row in a thread, 8x4 lanes, 4 warps."""

from lego_emit import hardware

layout = hardware.blocked([1, 4], [8, 4], [4, 1], shape=[32, 64])
