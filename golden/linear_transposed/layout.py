"""The bits of a word as a matrix of 3 rows and 4 columns, transposed."""

from lego_emit import Linear

layout = Linear({"x": [1 << k % 4 * 3 + k // 4 for k in range(12)]}, out={"y": 4096})
