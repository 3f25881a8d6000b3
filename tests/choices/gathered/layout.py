"""An element of a matrix in one of three orders, with borders: a choice among what else is computed."""

from lego_emit import Choice, Col, GroupBy, RegP, Row


def gathered(M, N, order, i, j):
    """Two elements' positions, whose rows stand at the border of the matrix beyond it."""
    tiles = GroupBy([M, N]).OrderBy(RegP([M // 4, 4, N // 8, 8], [0, 2, 1, 3]))
    matrix = Choice(order, {-1: Row(M, N), 0: tiles, 4: Col(M, N)})
    return matrix[min(i, M - 1), j], matrix[max(M - 1 - i, 0), j]


assume = ["0 <= i", "i < 4096", "M < 4096", "N < 4096", "M % 4 == 0", "N % 8 == 0"]
sizes = {"M": 8, "N": 16, "order": 4}
domain = {"i": 12, "j": 16}
