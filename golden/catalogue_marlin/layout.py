from lego_emit import catalogue

layout = catalogue["marlin.B"](16, 64)
