from lego_emit import catalogue


def catalogue_awq(K, N):
    return catalogue["awq.GEMM"](K, 8 * N)


sizes = {"K": 3, "N": 4}
