from lego_emit import catalogue


def catalogue_col32_2r_4r4(M, N):
    return catalogue["cublaslt.COL32_2R_4R4"](M, N)


sizes = {"M": 33, "N": 40}
