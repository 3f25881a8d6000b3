"""CuTe's example of a blocked product: 3 x 4 blocks of 2 x 5."""

from lego_emit import cute

layout = cute.blocked_product("(2,5):(5,1)", "(3,4):(1,3)")
