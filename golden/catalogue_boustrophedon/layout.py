from lego_emit import catalogue


def catalogue_boustrophedon(M, N):
    return catalogue["arrays.boustrophedon"](M, N)


sizes = {"M": 5, "N": 4}
