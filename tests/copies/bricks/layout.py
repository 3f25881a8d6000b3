"""A field in bricks of 2 x 2 x 4, of sizes that are known when the program runs."""

from lego_emit import GroupBy, RegP, Row


def copied(P, Q, R):
    rows = Row(2 * P, 2 * Q, 4 * R)
    return rows, GroupBy([2 * P, 2 * Q, 4 * R]).OrderBy(
        RegP([P, 2, Q, 2, R, 4], [0, 2, 4, 1, 3, 5])
    )


element = "float64"
sizes = {"P": 2, "Q": 3, "R": 2}
