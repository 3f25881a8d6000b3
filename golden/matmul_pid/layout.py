"""Fig. 1: program ids of a matrix product in groups of GM rows, column-major on both levels."""

from lego_emit import Col, TileBy


def matmul_pid(nm, nn, GM):
    return TileBy([nm, nn]).OrderBy(Col(max(nm // GM, 1), 1), Col(min(nm, GM), nn))


sizes = {"nm": 8, "nn": 6, "GM": 4}
assume = ["nm % GM == 0"]
