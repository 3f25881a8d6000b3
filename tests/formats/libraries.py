"""Formats of libraries: name -> (sizes, the offset of an index), written from the source."""

import re
from functools import cache
from math import prod

import numpy as np


def ceil(n, block):
    return -(-n // block) * block


def col32(rows, columns, ld=None):
    ld = ld or 32 * rows
    return lambda r, c: c // 32 * ld + 32 * r + c % 32


def col4_4r2_8c(rows, columns, ld=None):
    """As FasterTransformer's quantize_weight.cu has it, with shifts and comparisons."""
    ld = ld or 32 * ceil(rows, 8)

    def offset(r, c):
        eighth = (r >> 3 << 3) + ((r & 1) << 2) + ((c & 31) >> 3)
        return (c >> 5) * ld + (eighth << 5) + (4 * (c & 7 >= 4) + ((r & 7) >> 1) << 2) + (c & 3)

    return offset


def col32_2r_4r4(rows, columns, ld=None):
    """The header's formula for the offset within a tile."""
    ld = ld or 32 * ceil(rows, 32)

    def offset(row, col):
        r, c = row % 32, col % 32
        tile = (((r % 8) // 2 * 4 + r // 8) * 2 + r % 2) * 32 + c
        return col // 32 * ld + row // 32 * 1024 + tile

    return offset


def onednn(tag, axes):
    """A tag read from its end: a number and a letter is a block, a letter the blocks of a dimension."""
    digits = re.findall(r"(\d*)([a-z])", tag.lower())
    blocks = {x: prod(int(size) for size, name in digits if size and name == x) for x in axes}

    def define(*sizes):
        def offset(*index):
            left, found, step = dict(zip(axes, index, strict=True)), 0, 1
            for size, x in reversed(digits):
                n = int(size) if size else -(-sizes[axes.index(x)] // blocks[x])
                found, left[x], step = found + left[x] % n * step, left[x] // n, step * n
            return found

        return offset

    return define


def swizzled(width):
    """The address of a byte, its bits 4 and up exclusive-ored with those from 7 on."""

    def define(rows, bits=8):
        row = width * 8 // bits

        def offset(r, c):
            bit = (r * row + c) * bits
            byte = bit // 8
            parts = width // 16
            byte ^= byte // 128 % parts * 16
            return (8 * byte + bit % 8) // bits

        return offset

    return define


def block_scales(rows, columns):
    across = -(-columns // 4)

    def offset(r, c):
        outer, inner = r % 128, c % 4
        tile = (r // 128 * across + c // 4) * 512
        return tile + (outer % 32) * 16 + (outer // 32) * 4 + inner

    return offset


def vnni(K, N, bits=16):
    group = 32 // bits
    return lambda k, n: k // group * (N * group) + n * group + k % group


def panel_a(m, k, mr):
    """bli_packm_init's strides: that of a panel is its size, and one more where that is odd."""
    panel = mr * k + mr * k % 2
    return lambda i, p: i // mr * panel + p * mr + i % mr


def panel_b(k, n, nr):
    transposed = panel_a(n, k, nr)
    return lambda p, j: transposed(j, p)


def scattered(order, shape):
    """Offsets from the elements in memory order, given by their row-major indices."""
    found = np.empty(len(order), dtype=int)
    found[order] = np.arange(len(order))
    found = found.reshape(shape)
    return lambda *index: found[index]


@cache
def marlin_tile():
    """Each lane's four rows and two columns of four tiles, in the order in which they are packed."""
    order = []
    for lane in range(32):
        column, first = lane // 4, 2 * (lane % 4)
        rows = [first, first + 1, first + 8, first + 9]
        for tile in range(4):
            values = [(row, 16 * tile + column + 8 * half) for half in (0, 1) for row in rows]
            order += [values[k] for k in (0, 2, 4, 6, 1, 3, 5, 7)]
    return {index: position for position, index in enumerate(order)}


def marlin(K, N):
    tile = marlin_tile()
    return lambda k, n: k // 16 * 16 * N + n // 64 * 1024 + tile[k % 16, n % 64]


def awq_gemm(K, N):
    """Nibble i of a word holds column order[i] of its eight."""
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    return lambda k, n: 8 * (k * (N // 8) + n // 8) + order.index(n % 8)


def awq_pack_intweight(N, K):
    """Reshaped and transposed as pack_intweight does, four rows side by side at the end."""
    weight = np.arange(N * K).reshape(N, K // 32, 4, 4, 2).transpose(0, 1, 3, 2, 4)
    weight = weight.reshape(N, K // 32, 4, 4, 2).transpose(0, 1, 2, 4, 3).reshape(N, K)
    weight = weight.reshape(N // 4, 4, K // 64, 64).transpose(0, 2, 1, 3)
    return scattered(weight.ravel(), (N, K))


def tinygemm(n, k, inner=8):
    """The kernel's lanes, each with the words of its tiles of 16 inputs, two to a word."""
    found, word = {}, 0
    for n_tile in range(-(-n // 8)):
        for k_tile in range(-(-k // (16 * inner))):
            for lane in range(32):
                for pair in range(0, inner, 2):
                    start = (k_tile * inner + pair) * 16 + lane % 4 * 2
                    bytes_ = [start, start + 8, start + 16, start + 24]
                    inputs = bytes_ + [b + 1 for b in bytes_]
                    for nibble, at in enumerate(inputs):
                        found[n_tile * 8 + lane // 4, at] = 8 * word + nibble
                    word += 1
    return lambda i, j: found[i, j]


def q8_0x4(rows, columns, interleave=4):
    """Structs of four scales of two bytes, and 128 quants as make_block_q8_0x4's loop places them."""
    found = {}
    for block in range(rows // 4 * (columns // 32)):
        down, across = divmod(block, columns // 32)
        for i in range(128):
            row = i % (4 * interleave) // interleave
            source = i // (4 * interleave) * interleave + i % interleave
            found[4 * down + row, 32 * across + source] = 136 * block + 8 + i
    return lambda r, c: found[r, c]


def numroc(n, nb, process, processes):
    """How many elements of n a process has, where process 0 has the first block."""
    whole, part = divmod(n, nb)
    rounds, extra = divmod(whole, processes)
    return rounds * nb + (nb if process < extra else part if process == extra else 0)


def indxg2p(g, nb, processes):
    return g // nb % processes


def indxg2l(g, nb, processes):
    return nb * (g // (nb * processes)) + g % nb


def local_length(n, nb, p):
    """NUMROC of the first process, in whole blocks."""
    return ceil(numroc(n, nb, 0, p), nb)


def block_cyclic(n, nb, p):
    length = local_length(n, nb, p)
    return lambda g: indxg2p(g, nb, p) * length + indxg2l(g, nb, p)


def block_cyclic_2d(m, n, mb, nb, p, q):
    down, across = local_length(m, mb, p), local_length(n, nb, q)

    def offset(i, j):
        process = indxg2p(i, mb, p) * q + indxg2p(j, nb, q)
        return process * down * across + indxg2l(j, nb, q) * down + indxg2l(i, mb, p)

    return offset


def filled(memory, n):
    """Offsets in a column-major memory of row-major element numbers of an n x n matrix; else -1."""
    found = np.full(n * n, -1)
    flat = memory.ravel(order="F")
    found[flat] = np.arange(len(flat))
    return lambda i, j: found[n * i + j]


def packed(n, uplo="U"):
    """The loops of DTPTTR, from 0."""
    rows = [range(j + 1) if uplo == "U" else range(j, n) for j in range(n)]
    return filled(np.array([n * i + j for j in range(n) for i in rows[j]]), n)


def rectangular(n, uplo="U"):
    """A trapezoid of columns, and beside it the triangle of the others, transposed."""
    a, lower, half = np.arange(n * n).reshape(n, n), np.tri(n, dtype=bool), n // 2
    memory = np.empty((n + 1 - n % 2, n - half), dtype=int)
    if uplo == "U":
        stand, turned, kept = memory[:n], memory[half + 1 :, :half], lower.T[:, half:]
        from_, triangle = a[:half, :half].T, lower[:half, :half]
        columns = a[:, half:]
    else:
        stand, turned, kept = memory[1 - n % 2 :], memory[:half, n % 2 :], lower[:, : n - half]
        from_, triangle = a[n - half :, n - half :].T, lower.T[:half, :half]
        columns = a[:, : n - half]
    stand[kept], turned[triangle] = columns[kept], from_[triangle]
    return filled(memory, n)


TRIANGLES = [(n, uplo) for n in (1, 2, 5, 8) for uplo in "UL"]
# The columns of RFP A, as DTRTTF's comments print them for N = 6 and N = 5.
PRINTED = {
    (6, "U"): "03 13 23 33 00 01 02 04 14 24 34 44 11 12 05 15 25 35 45 55 22",
    (6, "L"): "33 00 10 20 30 40 50 43 44 11 21 31 41 51 53 54 55 22 32 42 52",
    (5, "U"): "02 12 22 00 01 03 13 23 33 11 04 14 24 34 44",
    (5, "L"): "00 10 20 30 40 33 11 21 31 41 43 44 22 32 42",
}
TAGS = {
    "nchw": ("nchw", [(2, 3, 4, 5)]),
    "nhwc": ("nchw", [(2, 3, 4, 5)]),
    "nChw8c": ("nchw", [(2, 16, 2, 3), (1, 10, 3, 2)]),
    "nChw16c": ("nchw", [(2, 32, 2, 3), (1, 20, 3, 2)]),
    "NChw16n16c": ("nchw", [(16, 16, 1, 2), (3, 20, 2, 1)]),
    "hwio": ("oihw", [(4, 3, 2, 5)]),
    "OIhw16i16o": ("oihw", [(16, 32, 1, 2), (5, 20, 2, 1)]),
    "OIhw4i16o4i": ("oihw", [(32, 16, 2, 3), (17, 20, 1, 2)]),
    "gOIhw16i16o": ("goihw", [(2, 16, 16, 1, 2), (2, 3, 20, 2, 1)]),
    "Goihw16g": ("goihw", [(32, 1, 1, 2, 3), (20, 1, 2, 1, 3)]),
    "ldigo": ("ldigo", [(1, 2, 3, 4, 5)]),
    "BA16a16b2a": ("ab", [(32, 32), (33, 20)]),
}
GRAMMAR = {
    "x": ("x", [(7,)]),
    "abcdefghijkl": ("abcdefghijkl", [(1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)]),
    "aBc4b": ("abc", [(2, 5, 3)]),
    "ABcd2b8a16b4a": ("abcd", [(40, 33, 2, 1)]),
    "ABcde40a16b": ("abcde", [(41, 17, 1, 2, 1)]),
    "gIOhw4i8o8i2o": ("goihw", [(2, 17, 33, 1, 1)]),
    "IwO16o48i4o": ("oiw", [(65, 49, 2)]),
    "dhwioG8g": ("goidhw", [(9, 2, 3, 1, 2, 1)]),
    "ntc": ("tnc", [(3, 2, 4)]),
    "ldgOI32o2i": ("ldigo", [(1, 2, 3, 4, 33)]),
}


SWIZZLED = [(8, 8), (13, 16), (32, 4), (9, 128)]
DEFINITIONS = {
    "cublaslt.COL32": [(col32, s) for s in [(4, 64), (3, 40), (3, 40, 128)]],
    "cublaslt.COL4_4R2_8C": [(col4_4r2_8c, s) for s in [(16, 64), (11, 40), (11, 40, 1000)]],
    "cublaslt.COL32_2R_4R4": [(col32_2r_4r4, s) for s in [(32, 32), (37, 40), (5, 33, 4096)]],
    "nvidia.SW32": [(swizzled(32), s) for s in SWIZZLED],
    "nvidia.SW64": [(swizzled(64), s) for s in SWIZZLED],
    "nvidia.SW128": [(swizzled(128), s) for s in SWIZZLED],
    "nvidia.block_scales": [(block_scales, s) for s in [(128, 4), (256, 8), (130, 9)]],
    "x86.vnni": [(vnni, s) for s in [(32, 16), (5, 3), (8, 16, 8), (7, 3, 8)]],
    "blis.panel_a": [(panel_a, s) for s in [(12, 5, 6), (13, 3, 5), (7, 4, 8)]],
    "blis.panel_b": [(panel_b, s) for s in [(5, 16, 8), (3, 13, 5), (4, 7, 8)]],
    "marlin.B": [(marlin, s) for s in [(16, 64), (32, 128)]],
    "awq.GEMM": [(awq_gemm, s) for s in [(3, 8), (2, 32)]],
    "awq.pack_intweight": [(awq_pack_intweight, s) for s in [(4, 64), (8, 192)]],
    "tinygemm.int4": [(tinygemm, s) for s in [(16, 64, 2), (12, 64, 4), (8, 256), (3, 40, 2)]],
    "ggml.q8_0x4": [(q8_0x4, s) for s in [(4, 32), (8, 96), (8, 64, 8)]],
    "lapack.TP": [(packed, s) for s in TRIANGLES],
    "lapack.TF": [(rectangular, s) for s in TRIANGLES],
    "scalapack.block_cyclic": [(block_cyclic, s) for s in [(24, 2, 3), (23, 4, 3), (5, 4, 1)]],
    "scalapack.block_cyclic_2d": [
        (block_cyclic_2d, s) for s in [(8, 12, 2, 2, 2, 3), (7, 11, 2, 3, 3, 2), (3, 3, 4, 4, 2, 2)]
    ],
    **{f"onednn.{t}": [(onednn(t, axes), s) for s in sizes] for t, (axes, sizes) in TAGS.items()},
}
