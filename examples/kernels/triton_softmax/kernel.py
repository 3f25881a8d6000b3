"""The softmax of each row."""

import triton
import triton.language as tl

import lego_emit
from lego_emit import Row


@lego_emit.jit
@triton.jit
def softmax(x, y, R, C, BLOCK: tl.constexpr):
    X = Row(R, C)
    row = tl.program_id(0)
    lego_emit.assume(row < R)
    inside = X.in_bounds(row, ":BLOCK")
    values = tl.load(x + X[row, :BLOCK], mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + X[row, :BLOCK], powers / tl.sum(powers, axis=0), mask=inside)
