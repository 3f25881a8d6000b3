from lego_emit import catalogue


def catalogue_xla_tiled(M, N):
    return catalogue["xla.{1,0:T(8,128)(2,1)}"](M, N)


sizes = {"M": 9, "N": 130}
