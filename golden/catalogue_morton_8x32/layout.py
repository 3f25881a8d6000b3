from lego_emit import catalogue

layout = catalogue["morton.2D"](8, 32)
