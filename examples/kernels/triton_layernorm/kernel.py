"""Layer norm of each row, and its gradients."""

import triton
import triton.language as tl

import lego_emit
from lego_emit import Row


@lego_emit.jit
@triton.jit
def layer_norm_forward(x, y, weight, bias, mean, rstd, M, N, eps, B: tl.constexpr):
    tiles, columns = Row(M, N // B, B), Row(N // B, B)
    row = tl.program_id(0)
    lego_emit.assume(row < M)
    total = tl.zeros((B,), tl.float32)
    for k in range(tiles.dims[1]):
        total += tl.load(x + tiles[row, k, :]).to(tl.float32)
    average = tl.sum(total, axis=0) / N
    total = tl.zeros((B,), tl.float32)
    for k in range(tiles.dims[1]):
        difference = tl.load(x + tiles[row, k, :]).to(tl.float32) - average
        total += difference * difference
    scale = 1 / tl.sqrt(tl.sum(total, axis=0) / N + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for k in range(tiles.dims[1]):
        normal = (tl.load(x + tiles[row, k, :]).to(tl.float32) - average) * scale
        w = tl.load(weight + columns[k, :])
        b = tl.load(bias + columns[k, :])
        tl.store(y + tiles[row, k, :], normal * w + b)


# Each program has every PARTS-th row, and what it adds to the gradients of weight and bias is a row of
# the parts.
@lego_emit.jit
@triton.jit
def layer_norm_backward(
    dx, dy, x, weight, mean, rstd, weight_parts, bias_parts, M, N, PARTS, BLOCK: tl.constexpr
):
    rows, columns, parts = Row(M, N), Row(N), Row(PARTS, N)
    part = tl.program_id(0)
    lego_emit.assume(part < PARTS)
    inside = columns.in_bounds(":BLOCK")
    w = tl.load(weight + columns[:BLOCK], mask=inside, other=0).to(tl.float32)
    d_weight = tl.zeros((BLOCK,), tl.float32)
    d_bias = tl.zeros((BLOCK,), tl.float32)
    for row in range(part, M, PARTS):
        d = tl.load(dy + rows[row, :BLOCK], mask=inside, other=0).to(tl.float32)
        values = tl.load(x + rows[row, :BLOCK], mask=inside, other=0).to(tl.float32)
        scale = tl.load(rstd + row)
        normal = tl.where(inside, (values - tl.load(mean + row)) * scale, 0)
        along, across = tl.sum(normal * w * d, axis=0) / N, tl.sum(w * d, axis=0) / N
        tl.store(dx + rows[row, :BLOCK], (w * d - normal * along - across) * scale, mask=inside)
        d_weight += d * normal
        d_bias += d
    tl.store(weight_parts + parts[part, :BLOCK], d_weight, mask=inside)
    tl.store(bias_parts + parts[part, :BLOCK], d_bias, mask=inside)


@lego_emit.jit
@triton.jit
def layer_norm_gradients(
    d_weight, d_bias, weight_parts, bias_parts, N, PARTS, B: tl.constexpr, BP: tl.constexpr
):
    tiles, columns = Row(PARTS // BP, BP, N // B, B), Row(N // B, B)
    k = tl.program_id(0)
    w = tl.zeros((BP, B), tl.float32)
    b = tl.zeros((BP, B), tl.float32)
    for group in range(tiles.dims[0]):
        w += tl.load(weight_parts + tiles[group, :, k, :])
        b += tl.load(bias_parts + tiles[group, :, k, :])
    tl.store(d_weight + columns[k, :], tl.sum(w, axis=0))
    tl.store(d_bias + columns[k, :], tl.sum(b, axis=0))
