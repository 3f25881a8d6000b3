from lego_emit import catalogue

layout = catalogue["healpix.NESTED"](4)
