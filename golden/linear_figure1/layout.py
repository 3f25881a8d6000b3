"""Layout A of the Linear Layouts paper (Fig. 1a): 2x2 registers, 4x8 lanes, 2 warps over 16x16."""

from lego_emit import Linear

layout = Linear(
    {
        "register": [(0, 1), (1, 0)],
        "lane": [(0, 2), (0, 4), (0, 8), (2, 0), (4, 0)],
        "warp": [(8, 0)],
    },
    out={"i": 16, "j": 16},
)
