from lego_emit import catalogue

layout = catalogue["triton.grouped"](11, 5, 8)
