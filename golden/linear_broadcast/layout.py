"""A slice of a blocked layout: lanes and warps that hold the same row."""

from lego_emit import hardware

layout = hardware.sliced(hardware.blocked([1, 4], [8, 4], [2, 1], shape=[16, 32]), 1)
