"""How registers, lanes and warps of the accumulator of wgmma get to those of a blocked layout."""

from lego_emit import hardware

layout = hardware.wgmma("d", n=16).invert_and_compose(
    hardware.blocked([1, 4], [8, 4], [4, 1], shape=[64, 16])
)
