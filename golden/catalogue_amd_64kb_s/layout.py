from lego_emit import catalogue


def catalogue_amd_64kb_s(M, N):
    return catalogue["amd.64KB_S"](M, N, 8)


sizes = {"M": 70, "N": 3}
