"""The catalogue's Morton order of two run-time sides, powers of two that may differ."""

from lego_emit import catalogue


def morton_sides(rows, columns):
    return catalogue["morton.2D"](rows, columns)


assume = ["pow2(rows)", "pow2(columns)"]
sizes = {"rows": 4, "columns": 32}
