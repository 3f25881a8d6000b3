"""The layout of CuTe's documentation with a nested mode."""

from lego_emit import cute

layout = cute.layout("((4,8),2):((32,1),16)")
