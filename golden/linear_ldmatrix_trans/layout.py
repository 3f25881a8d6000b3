"""Four 8x8 matrices as ldmatrix.x4.trans gives them."""

from lego_emit import hardware

layout = hardware.ldmatrix(4, transposed=True)
