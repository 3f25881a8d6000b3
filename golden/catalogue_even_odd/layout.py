from lego_emit import catalogue


def catalogue_even_odd(T, Z, Y, X):
    return catalogue["quda.even_odd"](T, Z, Y, 2 * X)


sizes = {"T": 2, "Z": 3, "Y": 2, "X": 2}
