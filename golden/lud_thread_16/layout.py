"""Section V-B: the element that thread tid of LUD's step (ii, jj) owns, in numbers."""

from lego_emit import GroupBy, Row


def lud_thread_16(ii, jj, tid):
    layout = GroupBy([2, 2], [16, 16]).OrderBy(Row(32, 32))
    return layout.inv((ii * 2 + jj) * 256 + tid)


domain = {"ii": 2, "jj": 2, "tid": 256}
assume = ["ii < 2", "jj < 2", "0 <= tid", "tid < 256"]
