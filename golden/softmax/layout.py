"""Section V-A: a row of softmax's input and output."""

from lego_emit import OrderBy, Row


def softmax(R, C):
    return OrderBy(Row(R, C)).TileBy([R, C])[row, :]  # noqa: F821


sizes = {"R": 5, "C": 7}
domain = {"row": 5}
