from lego_emit import catalogue


def catalogue_dram(M, N):
    return catalogue["dram.permutation"](M, 8, N)


sizes = {"M": 20, "N": 3}
