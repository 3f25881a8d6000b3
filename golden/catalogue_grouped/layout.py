from lego_emit import catalogue


def catalogue_grouped(M, N):
    return catalogue["triton.grouped"](M, N, 8)


sizes = {"M": 11, "N": 5}
