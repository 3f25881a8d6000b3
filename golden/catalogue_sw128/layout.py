from lego_emit import catalogue

layout = catalogue["nvidia.SW128"](24, 16)
