"""CuTe's example of a raked product: blocks of 2 x 5, interleaved."""

from lego_emit import cute

layout = cute.raked_product("(2,5):(5,1)", "(3,4):(1,3)")
