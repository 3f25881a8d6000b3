"""Formats of devices, curves and distributions: name -> (sizes, the offset of an index)."""

from itertools import product


def mma(operand="c", bits=16, k=None):
    """PTX ISA: groupID is lane >> 2, threadID_in_group lane % 4, i the element of a thread."""
    each = 32 // bits

    def row(i, lane):
        if operand == "a":
            return lane // 4 + 8 * (i // each % 2)
        if operand == "b":
            return lane % 4 * each + i % each + 4 * each * (i // each)
        return lane // 4 + 8 * (i >= 2)

    def column(i, lane):
        if operand == "a":
            return lane % 4 * each + i % each + 4 * each * (i // (2 * each))
        return lane // 4 if operand == "b" else lane % 4 * 2 + i % 2

    return lambda i, lane: (row(i, lane), column(i, lane))


def ldmatrix(count, transposed=False):
    """PTX ISA: thread t holds elements 2t and 2t + 1 of each matrix, row-major."""

    def place(i, lane):
        row, column = divmod(2 * lane + i % 2, 8)
        return (column + 8 * (i // 2), row) if transposed else (row + 8 * (i // 2), column)

    return place


def wgmma(operand="d", n=8, bits=16):
    """PTX ISA: warp w of the warpgroup has rows 16 w .. 16 w + 15."""
    part = mma("a" if operand == "a" else "c", bits)

    def place(i, lane, warp):
        across = 0 if operand == "a" else i // 4
        row, column = part(i if operand == "a" else i % 4, lane)
        return row + 16 * warp, column + 8 * across

    return place


def mfma(operand="c", size=32, k_width=4, bits=32):
    """AMD's calculator: blocks of 4 rows, the lanes beyond the first `size` have the next block."""

    def place(i, lane):
        if operand in "ab":
            at = lane % size, k_width * (lane // size) + i
            return at if operand == "a" else at[::-1]
        if bits == 64:
            return 4 * i + lane // 16, lane % 16
        blocks = 64 // size
        return 4 * (lane // size) + 4 * blocks * (i // 4) + i % 4, lane % size

    return place


def wmma(operand="c", version=1, k_width=8):
    """AMD's calculator: lanes 16 to 31 have odd rows of RDNA3, rows from 8 on of RDNA4."""

    def place(i, lane):
        high = lane // 16
        if operand in "cd":
            return (2 * i + high if version == 1 else i + 8 * high), lane % 16
        k = i if version == 1 else i % k_width + k_width * (high + 2 * (i // k_width))
        return (lane % 16, k) if operand == "a" else (k, lane % 16)

    return place


def tenstorrent(rows, columns):
    """tilize_utils.cpp: tile, face row, face column, row, column."""
    across = -(-columns // 32)

    def offset(r, c):
        tile = r // 32 * across + c // 32
        face = r % 32 // 16 * 2 + c % 32 // 16
        return 1024 * tile + 256 * face + 16 * (r % 16) + c % 16

    return offset


def fractal(outer_rows, inner_rows):
    """CATLASS's GetOffset, of its (in, by) strides of rows and columns."""

    def made(rows, columns, element_bytes=2):
        c0, c1 = 32 // element_bytes, 512 // element_bytes
        tall, wide = (16, c0) if inner_rows else (c0, 16)
        up = -(-rows // tall) * tall, -(-columns // wide) * wide
        row = (c0, tall * up[1] if outer_rows else c1) if inner_rows else (1, c0 * up[1])
        column = (1, c1 if outer_rows else c0 * up[0]) if inner_rows else (c0, c1)
        return lambda r, c: (
            r // tall * row[1] + c // wide * column[1] + r % tall * row[0] + c % wide * column[0]
        )

    return made


def xla(tiles):
    """The document's linear_index_with_tile, repeated."""

    def made(*sizes):
        def offset(*index):
            d, e = [*sizes], [*index]
            for t in tiles:
                first = len(d) - len(t)
                pairs = [*zip(d[first:], e[first:], t, strict=True)]
                d = d[:first] + [-(-n // s) for n, _, s in pairs] + [*t]
                e = e[:first] + [x // s for _, x, s in pairs] + [x % s for _, x, s in pairs]
            found = 0
            for n, x in zip(d, e, strict=True):
                found = found * n + x
            return found

        return offset

    return made


def gobs(rows, columns, log2_gobs=1):
    """The TRM's address of a GOB and of a byte in it."""
    tall = 8 << log2_gobs

    def offset(y, x):
        gob = y // tall * (512 << log2_gobs) * -(-columns // 64) + x // 64 * (512 << log2_gobs)
        gob += y % tall // 8 * 512
        inside = x % 64 // 32 * 256 + y % 8 // 2 * 64 + x % 32 // 16 * 32 + y % 2 * 16 + x % 16
        return gob + inside

    return offset


def x_tiles(rows, columns):
    return lambda y, x: (y // 8 * -(-columns // 512) + x // 512) * 4096 + y % 8 * 512 + x % 512


def y_tiles(rows, columns):
    """linear_to_ytiled: position in a column, columns of 16 bytes, rows."""
    across = -(-columns // 128)
    return lambda y, x: (
        (y // 32 * across + x // 128) * 4096 + x % 16 + x % 128 // 16 * 512 + y % 32 * 16
    )


def four_tiles(rows, columns):
    """linear_to_tile4: cells of 16 bytes x 4 rows, BlkX of 256 and BlkY of 512 bytes beside them."""
    across = -(-columns // 128)

    def offset(y, x):
        cell = x % 128 // 16 * 64
        inside = cell + cell // 256 * 256 + x % 16
        inside += y % 32 // 8 * 512 + y % 32 // 4 * 256 + y % 4 * 16
        return (y // 32 * across + x // 128) * 4096 + inside

    return offset


# gfx10SwizzlePattern.h: the bit of x or y in each bit of the offset, the lowest first; 0 below an element.
GFX10 = {
    1: "X0 X1 X2 X3 Y0 Y1 Y2 Y3 Y4 X4 Y5 X5 Y6 X6 Y7 X7",
    2: "0 X0 X1 X2 Y0 Y1 Y2 X3 Y3 X4 Y4 X5 Y5 X6 Y6 X7",
    4: "0 0 X0 X1 Y0 Y1 Y2 X2 Y3 X3 Y4 X4 Y5 X5 Y6 X6",
    8: "0 0 0 X0 Y0 Y1 X1 X2 Y2 X3 Y3 X4 Y4 X5 Y5 X6",
    16: "0 0 0 0 Y0 Y1 X0 X1 Y2 X2 Y3 X3 Y4 X4 Y5 X5",
}


def standard_64kb(rows, columns, pixel_bytes=4):
    bits = [(name[0], int(name[1:])) for name in GFX10[pixel_bytes].split() if name != "0"]
    wide, tall = (sum(which == name for name, _ in bits) for which in "XY")
    across = -(-columns >> wide)

    def offset(y, x):
        block = (y >> tall) * across + (x >> wide)
        inside = sum(({"X": x, "Y": y}[n] >> k & 1) << at for at, (n, k) in enumerate(bits))
        return (block << len(bits)) + inside

    return offset


def morton(*sizes):
    """Bit by bit, the last coordinate first, while it has bits."""
    widths = [(n - 1).bit_length() for n in sizes]

    def offset(*index):
        found = place = 0
        for level in range(max(widths)):
            for width, i in zip(widths[::-1], index[::-1], strict=True):
                if level < width:
                    found |= (i >> level & 1) << place
                    place += 1
        return found

    return offset


# Hacker's Delight: state, then bits of x and y -> a digit of the distance and the next state, as its
# program's constants have them (the comment above that has another state twice, for (0, 0)).
TURNS = {
    "A": {(0, 0): (0, "B"), (0, 1): (1, "A"), (1, 1): (2, "A"), (1, 0): (3, "D")},
    "B": {(0, 0): (0, "A"), (1, 0): (1, "B"), (1, 1): (2, "B"), (0, 1): (3, "C")},
    "C": {(1, 1): (0, "D"), (1, 0): (1, "C"), (0, 0): (2, "C"), (0, 1): (3, "B")},
    "D": {(1, 1): (0, "C"), (0, 1): (1, "D"), (0, 0): (2, "D"), (1, 0): (3, "A")},
}


def hilbert(width, height):
    order = (max(width, height) - 1).bit_length()

    def distance(x, y):
        found, state = 0, "A"
        for k in reversed(range(order)):
            digit, state = TURNS[state][x >> k & 1, y >> k & 1]
            found = 4 * found + digit
        return found

    return distance


def hilbert_cube(*sizes):
    """Skilling's AxestoTranspose: undo from the highest bit, Gray encode, then the bits in turn."""
    order = (max(sizes) - 1).bit_length()

    def distance(*point):
        x = [*point]
        for level in reversed(range(1, order)):
            for i in range(3):
                if x[i] >> level & 1:
                    x[0] ^= (1 << level) - 1
                else:
                    t = (x[0] ^ x[i]) & (1 << level) - 1
                    x[0], x[i] = x[0] ^ t, x[i] ^ t
        x[1] ^= x[0]
        x[2] ^= x[1]
        t = 0
        for level in reversed(range(1, order)):
            if x[2] >> level & 1:
                t ^= (1 << level) - 1
        found = 0
        for level in reversed(range(order)):
            for i in range(3):
                found = 2 * found + ((x[i] ^ t) >> level & 1)
        return found

    return distance


def nested(nside):
    return lambda face, x, y: (
        face * nside * nside
        + sum((x >> k & 1) << 2 * k | (y >> k & 1) << 2 * k + 1 for k in range(nside.bit_length()))
    )


def ring(nside):
    """All pixels sorted: by ring from the north, then by longitude, a fraction of a turn times 8."""

    def place(face, x, y):
        row, column = divmod(face, 4)
        ring = (row + 2) * nside - x - y - 1
        across = min(ring, 4 * nside - ring, nside)
        centre = 2 * column + (row != 1)  # of the face, in eighths of a turn
        return ring, (centre * across + x - y) % (8 * across)

    pixels = sorted(product(range(12), range(nside), range(nside)), key=lambda p: place(*p))
    found = {pixel: number for number, pixel in enumerate(pixels)}
    return lambda *pixel: found[pixel]


def even_odd(nt, nz, ny, nx):
    """dslash_index.cuh: the lexicographic index >> 1 within a parity."""
    half = nt * nz * ny * nx // 2
    return lambda t, z, y, x: (t + z + y + x & 1) * half + ((((t * nz + z) * ny + y) * nx + x) >> 1)


def aosoa(count, fields, vector):
    """LLAMA's AoSoA with sizeof 1: block, offset of the field times the lanes, lane."""
    return lambda i, f: fields * vector * (i // vector) + f * vector + i % vector


def boustrophedon(rows, columns):
    return lambda y, x: y * columns + (columns - 1 - x if y & 1 else x)


def permutation(rows, banks, columns, bit=0):
    """ramulator's map: Ba k = address bits (6 + k) and (13 + k), where the row begins at bit 9."""
    return lambda r, b, c: (
        (r * banks + sum(((b >> k ^ r >> bit + k) & 1) << k for k in range(banks.bit_length() - 1)))
        * columns
        + c
    )


def grouped(rows, columns, group):
    """The tutorial, from every program id."""
    found = {}
    for pid in range(rows * columns):
        in_group = group * columns
        first = pid // in_group * group
        size = min(rows - first, group)
        found[first + pid % in_group % size, pid % in_group // size] = pid
    return lambda m, n: found[m, n]


DEFINITIONS = {
    "amd.64KB_S": [
        (standard_64kb, (70, 70, 16)),
        (standard_64kb, (66, 3, 8)),
        (standard_64kb, (3, 130)),
        (standard_64kb, (130, 3, 2)),
        (standard_64kb, (3, 300, 1)),
    ],
    "fragment.MFMA": [
        (mfma, ("c", 32)),
        (mfma, ("c", 16)),
        (mfma, ("c", 16, None, 64)),
        (mfma, ("a", 32)),
        (mfma, ("b", 16)),
    ],
    "fragment.WMMA": [(wmma, (x, v)) for x in "abc" for v in (1, 2)],
    "arrays.AoSoA": [(aosoa, (16, 3, 4)), (aosoa, (10, 3, 4)), (aosoa, (3, 2, 8))],
    "arrays.boustrophedon": [(boustrophedon, (4, 6)), (boustrophedon, (3, 5))],
    "ascend.NZ": [(fractal(False, True), (32, 32)), (fractal(False, True), (20, 70, 1))],
    "ascend.ZN": [(fractal(True, False), (32, 32)), (fractal(True, False), (20, 20, 4))],
    "ascend.ZZ": [(fractal(True, True), (32, 32)), (fractal(True, True), (20, 20, 4))],
    "dram.permutation": [(permutation, (40, 8, 6)), (permutation, (300, 8, 1, 4))],
    "healpix.NESTED": [(nested, (1,)), (nested, (2,)), (nested, (8,))],
    "healpix.RING": [(ring, (n,)) for n in (1, 2, 3, 4, 5, 7)],
    "hilbert.2D": [(hilbert, (n, n)) for n in (1, 2, 4, 8, 16, 32)] + [(hilbert, (5, 11))],
    "hilbert.3D": [(hilbert_cube, (n, n, n)) for n in (1, 2, 4, 8)] + [(hilbert_cube, (3, 5, 2))],
    "intel.4": [(four_tiles, (32, 128)), (four_tiles, (34, 150))],
    "intel.X": [(x_tiles, (8, 512)), (x_tiles, (9, 600))],
    "intel.Y": [(y_tiles, (32, 128)), (y_tiles, (34, 150))],
    "morton.2D": [(morton, (8, 8)), (morton, (2, 16)), (morton, (16, 4)), (morton, (5, 19))],
    "morton.3D": [(morton, (4, 4, 4)), (morton, (2, 8, 4)), (morton, (3, 5, 1))],
    "nvidia.BLOCK_LINEAR_2D": [(gobs, (16, 128)), (gobs, (20, 70, 0)), (gobs, (70, 66, 3))],
    "fragment.ldmatrix": [(ldmatrix, (n, t)) for n in (1, 2, 4) for t in (False, True)],
    "fragment.mma": [(mma, (x, bits)) for x in "ab" for bits in (8, 16, 32)] + [(mma, ("c",))],
    "fragment.wgmma": [(wgmma, ("d", 8)), (wgmma, ("d", 32)), (wgmma, ("a", None, 16))],
    "quda.even_odd": [(even_odd, (2, 2, 2, 4)), (even_odd, (3, 1, 5, 6))],
    "tenstorrent.TILE": [(tenstorrent, (32, 64)), (tenstorrent, (40, 33))],
    "triton.grouped": [(grouped, s) for s in ((7, 4, 3), (6, 4, 3), (2, 5, 8), (9, 1, 8))],
    "xla.{1,0:T(8,128)}": [(xla([(8, 128)]), (12, 200))],
    "xla.{1,0:T(8,128)(2,1)}": [(xla([(8, 128), (2, 1)]), s) for s in ((16, 128), (5, 130))],
    "xla.{1,0:T(8,128)(4,1)}": [(xla([(8, 128), (4, 1)]), (9, 130))],
    "xla.{1,0:T(2,4)(2,1,1,1)}": [(xla([(2, 4), (2, 1, 1, 1)]), s) for s in ((8, 8), (5, 7))],
    "xla.{2,1,0:T(2)}": [(xla([(2,)]), (2, 3, 5))],
}
