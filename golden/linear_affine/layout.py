"""A map y = A x ^ b of six bits that no permutation of them gives."""

from lego_emit import Linear

layout = Linear({"x": [9, 18, 36, 1, 2, 4]}, out={"y": 64}, offset={"y": 21})
