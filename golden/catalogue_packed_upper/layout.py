from lego_emit import catalogue


def catalogue_packed_upper(N):
    return catalogue["lapack.TP"](N)


sizes = {"N": 7}
