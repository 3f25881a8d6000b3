from lego_emit import catalogue


def catalogue_skewed(M, N):
    return catalogue["banks.skewed"](M, N)


sizes = {"M": 5, "N": 7}
