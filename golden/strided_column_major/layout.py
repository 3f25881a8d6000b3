"""Column-major order of M x N, sizes at run time."""

from lego_emit import cute


def kernel(M, N):
    return cute.layout((M, N))


sizes = {"M": 5, "N": 7}
