"""NC/32HW32: 64 channels of 5 x 6 pixels, 32 together."""

from lego_emit import cute

layout = cute.layout("((32,2),5,6):((1,960),192,32)")
