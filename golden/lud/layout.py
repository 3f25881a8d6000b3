"""Section V-B: LUD's matrix of R*T x R*T, seen as R x R threads' tiles of T x T."""

from lego_emit import GroupBy, Row


def lud(R, T):
    return GroupBy([R, R], [T, T]).OrderBy(Row(R * T, R * T))


sizes = {"R": 3, "T": 4}
