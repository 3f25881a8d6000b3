from lego_emit import catalogue


def catalogue_ascend_nz(M, N):
    return catalogue["ascend.NZ"](M, N)


sizes = {"M": 20, "N": 33}
