"""Section V-B: the element that thread tid of LUD's step (ii, jj) owns."""

from lego_emit import GroupBy, Row


def lud_thread(R, T, ii, jj, tid):
    layout = GroupBy([R, R], [T, T]).OrderBy(Row(R * T, R * T))
    return layout.inv((ii * R + jj) * T * T + tid)


sizes = {"R": 3, "T": 4}
domain = {"ii": 3, "jj": 3, "tid": 16}
assume = ["0 <= ii < R", "0 <= jj < R", "0 <= tid < T * T"]
