"""Records of 12 bytes, column by column."""

from lego_emit import Col, Row


def copied(M, N):
    return Row(M, N), Col(M, N)


element = 12
sizes = {"M": 5, "N": 7}
