"""Formats of libraries: name -> (sizes, the offset of an index), written from the source."""


def col32(rows, columns):
    return lambda r, c: c // 32 * (32 * rows) + 32 * r + c % 32


def nchw16c(n, c, h, w):
    blocks = -(-c // 16)
    return lambda i, j, y, x: (((i * blocks + j // 16) * h + y) * w + x) * 16 + j % 16


DEFINITIONS = {
    "cublaslt.COL32": [(col32, (4, 64)), (col32, (3, 40))],
    "onednn.nChw16c": [(nchw16c, (2, 32, 2, 3)), (nchw16c, (1, 20, 3, 2))],
}
