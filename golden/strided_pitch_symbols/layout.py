"""An image of M rows of N pixels with a pitch of P."""

from lego_emit.algebra.strided import Strided


def kernel(M, N, P):
    return Strided((M, N), (P, 1))


sizes = {"M": 5, "N": 7, "P": 8}
