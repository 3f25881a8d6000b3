from lego_emit import catalogue


def catalogue_block_cyclic(N, NB, P):
    return catalogue["scalapack.block_cyclic"](N, NB, P)


sizes = {"N": 23, "NB": 4, "P": 3}
