from lego_emit import catalogue


def catalogue_block_scales(M, K):
    return catalogue["nvidia.block_scales"](M, K)


sizes = {"M": 130, "K": 5}
