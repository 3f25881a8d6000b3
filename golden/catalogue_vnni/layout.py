from lego_emit import catalogue


def catalogue_vnni(K, N):
    return catalogue["x86.vnni"](K, N)


sizes = {"K": 7, "N": 5}
