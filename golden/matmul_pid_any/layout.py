"""Fig. 1 as it stands, with fewer rows than a group has, or groups that are all full."""

from lego_emit import Col, TileBy


def matmul_pid_any(nm, nn, GM):
    return TileBy([nm, nn]).OrderBy(Col(max(nm // GM, 1), 1), Col(min(nm, GM), nn))


sizes = {"nm": 4, "nn": 5, "GM": 8}
