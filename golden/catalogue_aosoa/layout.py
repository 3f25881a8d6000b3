from lego_emit import catalogue


def catalogue_aosoa(N, F):
    return catalogue["arrays.AoSoA"](N, F, 8)


sizes = {"N": 19, "F": 3}
