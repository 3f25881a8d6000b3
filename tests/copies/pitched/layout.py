"""A matrix whose rows are longer than its columns are many, transposed."""

from lego_emit import Col, Strided


def copied(M, N, LD):
    return Strided((M, N), (LD, 1)), Col(M, N)


assume = ["LD >= N"]
sizes = {"M": 9, "N": 17, "LD": 20}
