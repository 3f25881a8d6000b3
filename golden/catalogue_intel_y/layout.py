from lego_emit import catalogue


def catalogue_intel_y(M, N):
    return catalogue["intel.Y"](M, N)


sizes = {"M": 5, "N": 130}
