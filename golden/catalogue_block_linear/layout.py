from lego_emit import catalogue


def catalogue_block_linear(M, N):
    return catalogue["nvidia.BLOCK_LINEAR_2D"](M, N)


sizes = {"M": 9, "N": 66}
