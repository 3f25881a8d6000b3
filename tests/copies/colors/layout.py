"""Pixels of three bytes to three planes."""

from lego_emit import RegP, Row


def copied(H, W):
    return Row(H, W, 3), RegP([H, W, 3], [2, 0, 1])


element = "uint8"
sizes = {"H": 3, "W": 19}
