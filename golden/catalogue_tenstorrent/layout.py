from lego_emit import catalogue


def catalogue_tenstorrent(M, N):
    return catalogue["tenstorrent.TILE"](M, N)


sizes = {"M": 40, "N": 33}
