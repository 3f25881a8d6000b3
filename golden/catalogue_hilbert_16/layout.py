from lego_emit import catalogue

layout = catalogue["hilbert.2D"](16, 16)
