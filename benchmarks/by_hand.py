"""Index functions after well-known ones, each by hand in C and as lego_emit gets it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import Any

from lego_emit import GroupBy, Lookup, OrderBy, RegP, Row, generate

MOST = 1 << 16
DRAWN = 10000


@dataclass(frozen=True)
class Original:
    """One index function.

    after: what it is known from; by_hand: the body of a C function of the parameters, which returns the
    result or stores several in out; ours: the same for lego_emit; ranges: of each parameter, in order:
    its least value and its end, a number or the name of a size; kind: of all integers, in C; small: numbers
    or ranges for some parameters, under which all others are run through; results: how many; assume: what else
    holds; reason: why ours takes more instructions, where it does.
    """

    name: str
    after: str
    by_hand: str
    ours: Callable[..., Any]
    ranges: Mapping[str, tuple[int, int | str]]
    kind: str = "unsigned"
    small: tuple[dict[str, int | range], ...] = ()
    results: int = 1
    assume: tuple[str, ...] = ()
    reason: str = ""

    def sources(self, cost: str = "latency") -> dict[str, str]:
        """A C file of each: the function `position`, and `over`, which calls it for many indices."""
        index_type = "int32" if self.kind == "int" else "uint32"
        unit = generate(
            self.ours, "c", name="ours", ranges=dict(self.ranges), assume=list(self.assume),
            index_type=index_type, cost=cost,
        )  # fmt: skip
        (function,) = unit.functions
        call = f"ours({', '.join(p.name for p in function.params)})"
        body = f"return {call};"
        if self.results > 1:
            names = [name for name, _ in function.outputs]
            stores = " ".join(f"out[{k}] = all.{n};" for k, n in enumerate(names))
            body = f"const ours_result all = {call}; {stores}"
        return {"by hand": self._file("", self.by_hand), "ours": self._file(unit.source, body)}

    def _file(self, head: str, body: str) -> str:
        kind, single = self.kind, self.results == 1
        taken = [f"{kind} {n}" for n in self.ranges]
        declared = f"{kind} position({', '.join(taken)})"
        given = ", ".join(f"in[{k} * count + at]" for k in range(len(taken)))
        call = f"out[at] = position({given});"
        if not single:
            declared = f"void position({', '.join(taken)}, {kind} *restrict out)"
            call = f"position({given}, out + {self.results} * at);"
        return f"""{head}
{declared};
{declared} {{
{body}
}}
void over(const {kind} *in, long count, {kind} *out);
void over(const {kind} *in, long count, {kind} *out) {{
  for (long at = 0; at < count; ++at)
    {call}
}}
"""

    def run(self, library: ctypes.CDLL, points: Sequence[tuple[int, ...]]) -> list[int]:
        """What a compiled form gives at the points."""
        kind = ctypes.c_int if self.kind == "int" else ctypes.c_uint
        columns = [n for column in zip(*points, strict=True) for n in column]
        results = (kind * (len(points) * self.results))()
        library.over((kind * len(columns))(*columns), ctypes.c_long(len(points)), results)
        return list(results)

    def points(self, drawn: int = DRAWN) -> list[tuple[int, ...]]:
        """All points where there are at most MOST; else all of those under each of `small`, and random ones
        of all."""
        spans = [range(least, end) for least, end in self.ranges.values() if isinstance(end, int)]
        if len(spans) == len(self.ranges) and prod(map(len, spans)) <= MOST:
            return [p for p in product(*spans) if self._is_meant(p)]
        found = [p for sizes in self.small for p in self._all(sizes) if self._is_meant(p)]
        draw = Random(self.name)
        while drawn:
            if self._is_meant(point := self._one(draw)):
                found.append(point)
                drawn -= 1
        return found

    def _all(self, sizes: Mapping[str, int | range]) -> Iterator[tuple[int, ...]]:
        spans = {n: _span(given) for n, given in sizes.items()}
        for n, (least, end) in self.ranges.items():
            if n not in spans:
                spans[n] = range(least, spans[end].start if isinstance(end, str) else end)
        return product(*(spans[n] for n in self.ranges))

    def _one(self, draw: Random) -> tuple[int, ...]:
        found: dict[str, int] = {}
        for n, (least, end) in sorted(self.ranges.items(), key=lambda r: isinstance(r[1][1], str)):
            found[n] = draw.randrange(least, found[end] if isinstance(end, str) else end)
        return tuple(found[n] for n in self.ranges)

    def _is_meant(self, point: tuple[int, ...]) -> bool:
        values = dict(zip(self.ranges, point, strict=True))
        return all(eval(condition, {}, values) for condition in self.assume)

    def value(self, point: tuple[int, ...]) -> tuple[int, ...]:
        """The results at a point, as Python has them."""
        found = self.ours(*point)
        return found if self.results > 1 else (found,)


def _span(given: int | range) -> range:
    return range(given, given + 1) if isinstance(given, int) else given


# -- as lego_emit gets them ------------------------------------------------------------------------


def uif(x, y, h):
    row = y // 8 ^ x // 32 % 2 * 16
    block = x // 32 * ((h + 7) // 8 - 1) * 4 + x // 8 + row * 4
    return block * 256 + y // 4 % 2 * 128 + x // 4 % 2 * 64 + (y % 4 * 4 + x % 4) * 4


def y_tile(x, y, pitch):
    return x // 128 * 4096 + y // 32 * (pitch * 32) + x % 128 // 16 * 512 + y % 32 * 16 + x % 16


def reorg(k, j, i, w, h, c, stride):
    kept = c // (stride * stride)
    channel, offset = k % kept, k // kept
    column, row = i * stride + offset % stride, j * stride + offset // stride
    return column + w * stride * (row + h * stride * channel)


def im2col(c, h, w, height, width, size, stride, pad):
    row = c // size % size + h * stride - pad
    column = c % size + w * stride - pad
    if row < 0 or column < 0 or row >= height or column >= width:
        return -1
    return column + width * (row + height * (c // size // size))


def channels_last(n, c, h, w, C, H, W):
    return OrderBy(Row(1, H, W, C))[0, h, w, c] + n * (C * H * W)


PLANES = GroupBy([8 * 3 * 224]).OrderBy(RegP([8, 3, 224], [0, 2, 1]))


def planes_last(i):
    return PLANES.apply(i)


def blocked_channels(n, c, h, w, C, H, W):
    return (((n * (C // 16) + c // 16) * H + h) * W + w) * 16 + c % 16


def crosswise(s, c):
    vector = c // 8 + s % 2 * 4
    line = s // 2
    inner = vector % 4 ^ line % 4
    outer = vector // 4 ^ line % 8 // 4
    return line * 64 + (outer * 4 + inner) * 8 + c % 8


def owner(g, nb, source, p):
    return (source + g // nb) % p


def local_index(g, nb, p):
    return g // (nb * p) * nb + g % nb


def global_index(x, nb, me, source, p):
    return p * nb * (x // nb) + x % nb + (p + me - source) % p * nb


def packed_upper(i, j):
    return i + j * (j + 1) // 2


def packed_symmetric(i, j):
    low, high = min(i, j), max(i, j)
    return high * (high + 1) // 2 + low


def condensed(i, j, n):
    return n * i + j - (i + 2) * (i + 1) // 2


def interleave(x, y):
    return sum((x >> k & 1) << 2 * k | (y >> k & 1) << 2 * k + 1 for k in range(8))


def interleave_3(x, y, z):
    bits = [(x, 0), (y, 1), (z, 2)]
    return sum((v >> k & 1) << 3 * k + at for k in range(6) for v, at in bits)


HILBERT = (0, 1, 14, 15, 3, 2, 13, 12, 4, 7, 8, 11, 5, 6, 9, 10)
CURVE = Lookup([4, 4], HILBERT)


def hilbert(x, y):
    return CURVE[y, x]


def checkerboard(cb, parity, X0, X1, X2):
    za = cb // (X0 // 2)
    zb = za // X1
    x1, x3 = za % X1, zb // X2
    x2 = zb % X2
    odd = (x1 + x2 + x3 + parity) % 2
    return 2 * cb + odd - za * X0, x1, x2, x3


def cell_digit(cell, r):
    return cell >> 3 * (9 - r) & 7


def region_chunk(x, z):
    return x // 16 % 32 + z // 16 % 32 * 32


def game_boy_map(x, y, scx, scy):
    return 0x9800 + (y + scy) % 256 // 8 * 32 + (x + scx) % 256 // 8


def inward_tiles(xo, xi, yo, yi, W, H):
    x = min(xo * 32, W - 32) + xi
    y = min(yo * 8, H - 8) + yi
    return y * W + x


def nested(face, x, y):
    return face * 65536 + interleave(x, y)


def q4_0(i, row, stride):
    return row * stride + i // 32 * 18 + 2 + i % 16


def col32(row, col, rows):
    return col // 32 * (rows * 32) + row * 32 + col % 32


def col32_2r_4r4(row, col, rows):
    r = row % 32
    inner = (r % 8 // 2 * 4 + r // 8) * 2 + r % 2
    return col // 32 * (rows * 32) + row // 32 * 1024 + inner * 32 + col % 32


REVERSED = GroupBy([1024]).OrderBy(RegP([2] * 10, range(10)[::-1]))


def bit_reversed(i):
    return REVERSED.apply(i)


def serpentine(x, y, W):
    return y * W + (W - 1 - x if y % 2 else x)


def fragment(lane, r):
    return lane // 4 + r // 2 % 2 * 8, lane % 4 * 2 + r % 2 + r // 4 * 8


def oriented(x, y, swapped, mirrored, flipped, W, H):
    if swapped:
        x, y = y, x
    if mirrored:
        x = W - 1 - x
    if flipped:
        y = H - 1 - y
    return y * W + x


def nv12(x, y, plane, W, H):
    return W * H + y // 2 * W + x // 2 * 2 + plane


# -- all of them -----------------------------------------------------------------------------------

SPREAD = """
  {0} = ({0} | {0} << 4) & 0x0f0f; {0} = ({0} | {0} << 2) & 0x3333; {0} = ({0} | {0} << 1) & 0x5555;"""
SPREAD_3 = """
  {0} = ({0} | {0} << 8) & 0x300f; {0} = ({0} | {0} << 4) & 0x30c3; {0} = ({0} | {0} << 2) & 0x9249;"""

BESIDE = "x86 has a remainder beside its quotient; other machines multiply and subtract"

ORIGINALS = (
    Original(
        "uif",
        "Mesa: the address of a pixel of 4 bytes in Broadcom's UIF tiling with XOR",
        """
  unsigned across = x >> 3, down = y >> 3;
  if (across >> 2 & 1) down ^= 16;
  unsigned padded = (h + 7) >> 3;
  unsigned block = (across >> 2) * ((padded - 1) * 4) + across + down * 4;
  unsigned quarter = (y >> 2 & 1) * 128 + (x >> 2 & 1) * 64;
  return block * 256 + quarter + ((y & 3) * 4 + (x & 3)) * 4;""",
        uif,
        {"x": (0, 256), "y": (0, "h"), "h": (1, 2049)},
        small=({"h": 8}, {"h": 100}),
    ),
    Original(
        "Y tile",
        "Intel: a byte of a Y-tiled surface",
        """
  unsigned tile = (y >> 5) * (pitch << 5) + ((x >> 7) << 12);
  return tile + ((x & 127) >> 4) * 512 + (y & 31) * 16 + (x & 15);""",
        y_tile,
        {"x": (0, "pitch"), "y": (0, 256), "pitch": (128, 16385)},
        small=({"pitch": 256},),
    ),
    Original(
        "reorg",
        "darknet: where a value goes in its reorg layer",
        """
  int kept = c / (stride * stride);
  int channel = k % kept, offset = k / kept;
  int column = i * stride + offset % stride, row = j * stride + offset / stride;
  return column + w * stride * (row + h * stride * channel);""",
        reorg,
        {
            "k": (0, "c"),
            "j": (0, "h"),
            "i": (0, "w"),
            "w": (1, 513),
            "h": (1, 513),
            "c": (4, 513),
            "stride": (1, 9),
        },
        "int",
        ({"w": 5, "h": 7, "c": 16, "stride": 2}, {"w": 4, "h": 3, "c": 27, "stride": 3}),
        assume=("stride * stride <= c",),
        reason=BESIDE,
    ),
    Original(
        "im2col",
        "Caffe and darknet: the pixel of a column's entry, -1 in the padding",
        """
  int row = c / size % size + h * stride - pad;
  int column = c % size + w * stride - pad;
  int channel = c / size / size;
  if (row < 0 || column < 0 || row >= height || column >= width) return -1;
  return column + width * (row + height * channel);""",
        im2col,
        {
            "c": (0, 512),
            "h": (0, 512),
            "w": (0, 512),
            "height": (1, 513),
            "width": (1, 513),
            "size": (1, 12),
            "stride": (1, 5),
            "pad": (0, 6),
        },
        "int",
        tuple(
            {
                "c": range(2 * size * size),
                "h": range(4),
                "w": range(5),
                "height": 5,
                "width": 6,
                "size": size,
                "stride": 2,
                "pad": pad,
            }
            for size, pad in ((3, 1), (2, 0))
        ),
        reason="the same operations; gcc joins other comparisons",
    ),
    Original(
        "NCHW to NHWC",
        "TensorFlow and PyTorch: channels last, its sizes given",
        "return ((n * H + h) * W + w) * C + c;",
        channels_last,
        {
            "n": (0, 16),
            "c": (0, "C"),
            "h": (0, "H"),
            "w": (0, "W"),
            "C": (1, 513),
            "H": (1, 513),
            "W": (1, 513),
        },
        small=({"C": 3, "H": 5, "W": 7}, {"C": 8, "H": 4, "W": 6}),
    ),
    Original(
        "planes to pixels",
        "the flat position in channels last of one in 8 images of 3 planes of 224",
        """
  unsigned image = i / 672, rest = i % 672;
  unsigned channel = rest / 224, pixel = rest % 224;
  return image * 672 + pixel * 3 + channel;""",
        planes_last,
        {"i": (0, 8 * 3 * 224)},
    ),
    Original(
        "nChw16c",
        "oneDNN: blocks of 16 channels",
        """
  unsigned outer = c >> 4, inner = c & 15;
  return (((n * (C >> 4) + outer) * H + h) * W + w) * 16 + inner;""",
        blocked_channels,
        {
            "n": (0, 16),
            "c": (0, "C"),
            "h": (0, "H"),
            "w": (0, "W"),
            "C": (16, 513),
            "H": (1, 257),
            "W": (1, 257),
        },
        small=({"C": 16, "H": 5, "W": 7}, {"C": 48, "H": 4, "W": 3}),
        assume=("C % 16 == 0",),
    ),
    Original(
        "crosswise",
        "CUTLASS: shared memory for tensor cores, 32 halves of k crosswise",
        """
  unsigned line = s >> 1, vector = (c >> 3) + ((s & 1) << 2);
  unsigned swizzled = (((vector >> 2) ^ (line >> 2 & 1)) << 2) + ((vector ^ line) & 3);
  return (line << 6) + (swizzled << 3) + (c & 7);""",
        crosswise,
        {"s": (0, 128), "c": (0, 32)},
    ),
    Original(
        "INDXG2P",
        "ScaLAPACK: the process that owns a global index",
        "return (source + g / nb) % p;",
        owner,
        {"g": (0, 100000), "nb": (1, 513), "source": (0, "p"), "p": (1, 65)},
        "int",
    ),
    Original(
        "INDXG2L",
        "ScaLAPACK: the local index of a global one",
        "return nb * (g / (nb * p)) + g % nb;",
        local_index,
        {"g": (0, 100000), "nb": (1, 513), "p": (1, 65)},
        "int",
    ),
    Original(
        "INDXL2G",
        "ScaLAPACK: the global index of a local one",
        "return p * nb * (x / nb) + x % nb + ((p + me - source) % p) * nb;",
        global_index,
        {"x": (0, 100000), "nb": (1, 513), "me": (0, "p"), "source": (0, "p"), "p": (1, 65)},
        "int",
        reason=BESIDE,
    ),
    Original(
        "packed upper",
        "LAPACK: columns of an upper triangle",
        "return i + j * (j + 1) / 2;",
        packed_upper,
        {"i": (0, 200), "j": (0, 200)},
        assume=("i <= j",),
    ),
    Original(
        "packed symmetric",
        "LAPACK: either triangle of a symmetric matrix",
        """
  unsigned high = i > j ? i : j, low = i > j ? j : i;
  return high * (high + 1) / 2 + low;""",
        packed_symmetric,
        {"i": (0, 200), "j": (0, 200)},
    ),
    Original(
        "condensed",
        "SciPy: the distance of two of n points",
        "return n * i + j - (i + 2) * (i + 1) / 2;",
        condensed,
        {"i": (0, "n"), "j": (0, "n"), "n": (2, 1025)},
        "int",
        ({"n": 9}, {"n": 40}),
        assume=("i < j",),
    ),
    Original(
        "Morton 3D",
        "libmorton: three coordinates of 6 bits",
        "".join(map(SPREAD_3.format, "xyz")) + "\n  return x | y << 1 | z << 2;",
        interleave_3,
        {"x": (0, 64), "y": (0, 64), "z": (0, 64)},
    ),
    Original(
        "Hilbert",
        "a curve through 4 x 4, as a table",
        """
  static const unsigned char curve[16] = {0, 1, 14, 15, 3, 2, 13, 12, 4, 7, 8, 11, 5, 6, 9, 10};
  return curve[y * 4 + x];""",
        hilbert,
        {"x": (0, 4), "y": (0, 4)},
    ),
    Original(
        "checkerboard",
        "QUDA: the coordinates of a site of one parity",
        """
  int za = cb / (X0 >> 1);
  int zb = za / X1;
  int x1 = za - zb * X1;
  int x3 = zb / X2;
  int x2 = zb - x3 * X2;
  int odd = (x1 + x2 + x3 + parity) & 1;
  out[0] = 2 * cb + odd - za * X0; out[1] = x1; out[2] = x2; out[3] = x3;""",
        checkerboard,
        {
            "cb": (0, 32768),
            "parity": (0, 2),
            "X0": (2, 65),
            "X1": (1, 65),
            "X2": (1, 65),
        },
        "int",
        results=4,
        assume=("X0 % 2 == 0",),
    ),
    Original(
        "digit of a cell",
        "H3: the digit of 3 bits of a resolution, here of 9",
        "return cell >> 3 * (9 - r) & 7;",
        cell_digit,
        {"cell": (0, 1 << 30), "r": (0, 10)},
    ),
    Original(
        "chunk of a region",
        "Minecraft: a block's chunk in its region's file, of coordinates of any sign",
        "return (x >> 4 & 31) + (z >> 4 & 31) * 32;",
        region_chunk,
        {"x": (-600, 600), "z": (-600, 600)},
        "int",
    ),
    Original(
        "background map",
        "Game Boy: the address of the tile at a pixel of the screen, which is scrolled",
        """
  unsigned char column = x + scx, row = y + scy;
  return 0x9800 + (row >> 3 << 5) + (column >> 3);""",
        game_boy_map,
        {"x": (0, 160), "y": (0, 144), "scx": (0, 256), "scy": (0, 256)},
    ),
    Original(
        "tiles shifted inwards",
        "Halide: tiles of 32 x 8, the last ones moved back into the image",
        """
  int left = xo * 32 < W - 32 ? xo * 32 : W - 32;
  int top = yo * 8 < H - 8 ? yo * 8 : H - 8;
  return (top + yi) * W + left + xi;""",
        inward_tiles,
        {
            "xo": (0, 64),
            "xi": (0, 32),
            "yo": (0, 256),
            "yi": (0, 8),
            "W": (32, 2049),
            "H": (8, 2049),
        },
        "int",
        (
            {"W": 70, "H": 20, "xo": range(3), "yo": range(3)},
            {"W": 64, "H": 16, "xo": range(2), "yo": range(2)},
        ),
    ),
    Original(
        "HEALPix",
        "the number of a pixel, nested, 256 to a side",
        SPREAD.format("x") + SPREAD.format("y") + "\n  return (face << 16) + (x | y << 1);",
        nested,
        {"face": (0, 12), "x": (0, 256), "y": (0, 256)},
    ),
    Original(
        "q4_0",
        "ggml: the byte of an element in blocks of 32",
        "return row * stride + (i >> 5) * 18 + 2 + (i & 15);",
        q4_0,
        {"i": (0, 4096), "row": (0, 4096), "stride": (18, 4097)},
    ),
    Original(
        "COL32",
        "cuBLASLt: columns in blocks of 32",
        "return (col >> 5) * (rows << 5) + (row << 5) + (col & 31);",
        col32,
        {"row": (0, "rows"), "col": (0, 1024), "rows": (1, 4097)},
        small=({"rows": 7}, {"rows": 32}),
    ),
    Original(
        "COL32_2R_4R4",
        "cuBLASLt: the order of int8 for Ampere",
        """
  unsigned r = row & 31;
  unsigned inner = ((((r & 7) >> 1) << 2) + (r >> 3)) * 2 + (r & 1);
  return (col >> 5) * (rows << 5) + ((row >> 5) << 10) + (inner << 5) + (col & 31);""",
        col32_2r_4r4,
        {"row": (0, "rows"), "col": (0, 256), "rows": (32, 4097)},
        small=({"rows": 32}, {"rows": 96}),
        assume=("rows % 32 == 0",),
    ),
    Original(
        "bit reversal",
        "FFTs: the place of one of 1024 values",
        """
  i = (i >> 1 & 0x5555) | (i & 0x5555) << 1;
  i = (i >> 2 & 0x3333) | (i & 0x3333) << 2;
  i = (i >> 4 & 0x0f0f) | (i & 0x0f0f) << 4;
  return (i >> 8 | (i & 0xff) << 8) >> 6;""",
        bit_reversed,
        {"i": (0, 1024)},
    ),
    Original(
        "serpentine",
        "rows of lights, every other one backwards",
        "return y * W + (y & 1 ? W - 1 - x : x);",
        serpentine,
        {"x": (0, "W"), "y": (0, 256), "W": (1, 257)},
        "int",
        ({"W": 1}, {"W": 16}, {"W": 31}),
    ),
    Original(
        "fragment",
        "PTX: row and column of an element of m16n8k16's first operand",
        """
  out[0] = (lane >> 2) + ((r >> 1 & 1) << 3);
  out[1] = ((lane & 3) << 1) + (r & 1) + ((r >> 2) << 3);""",
        fragment,
        {"lane": (0, 32), "r": (0, 8)},
        results=2,
    ),
    Original(
        "orientation",
        "EXIF: a pixel of a picture that three flags turn",
        """
  if (swapped) { int t = x; x = y; y = t; }
  if (mirrored) x = W - 1 - x;
  if (flipped) y = H - 1 - y;
  return y * W + x;""",
        oriented,
        {
            "x": (0, 4096),
            "y": (0, 4096),
            "swapped": (0, 2),
            "mirrored": (0, 2),
            "flipped": (0, 2),
            "W": (1, 4097),
            "H": (1, 4097),
        },
        "int",
        (
            {"W": 6, "H": 6, "x": range(6), "y": range(6)},
            {"W": 5, "H": 7, "x": range(5), "y": range(5)},
        ),
    ),
    Original(
        "NV12",
        "video: a pixel's chroma, its two planes interleaved",
        "return W * H + (y >> 1) * W + (x >> 1) * 2 + plane;",
        nv12,
        {"x": (0, "W"), "y": (0, "H"), "plane": (0, 2), "W": (2, 4097), "H": (2, 4097)},
        small=({"W": 8, "H": 6}, {"W": 32, "H": 10}),
    ),
)
