"""The layouts of GPU hardware by name, as maps over F2 with their sources.

Distributed layouts go from register, lane, warp to row and column (dim0, dim1); memory layouts from
row and column to an offset in elements.

Sources, by the titles of their sections, as the numbers change between versions: NVIDIA's PTX ISA,
"Matrix Fragments for mma.m16n8k*", "Warp-level matrix load instruction: ldmatrix", "Register Fragments"
and "Shared Memory Matrix Layout" of wgmma.mma_async; Triton's GPU dialect (BlockedEncodingAttr,
SliceEncodingAttr, NvidiaMmaEncodingAttr, AMDMfmaEncodingAttr, AMDWmmaEncodingAttr,
SwizzledSharedEncodingAttr, NVMMASharedEncodingAttr); the AMD Matrix Instruction Calculator; Zhou et al.,
Linear Layouts, ASPLOS 2026.

    >>> from lego_emit import hardware
    >>> hardware.mma("c").apply(1, 5)  # register 1 of lane 5 holds the element of row 1 and column 3
    (1, 3)
    >>> hardware.swizzled(8, 64, vec=8, per_phase=1, max_phase=8).apply(1, 0)
    72
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .algebra.labels import bits_of, listed
from .algebra.linear import Linear
from .errors import LayoutError, LazyText, brief, no_attribute, short_repr
from .numeric import is_integer

__all__ = [
    "LANE", "REGISTER", "WARP", "blocked", "fitted", "ldmatrix", "lop3", "mfma", "mma", "nvmma_shared", "sliced",
    "swizzled", "wgmma", "wmma",
]  # fmt: skip

REGISTER, LANE, WARP = "register", "lane", "warp"

if not TYPE_CHECKING:
    __getattr__ = no_attribute(__name__, __all__)


def _dims(rank: int) -> list[str]:
    return [f"dim{k}" for k in range(rank)]


def _tile(
    *steps: tuple[str, int, int], rank: int = 2, ins: Sequence[str] = (REGISTER, LANE)
) -> Linear:
    """Identities one above the other: (input, dimension, bits) as in the proof of Proposition 9.2."""
    bits = dict.fromkeys(_dims(rank), 0)
    bases: dict[str, list[tuple[int, ...]]] = {name: [] for name in ins}
    for name, dim, count in steps:
        for _ in range(count):
            bases[name].append(tuple((k == dim) << bits[f"dim{dim}"] for k in range(rank)))
            bits[f"dim{dim}"] += 1
    return Linear(bases, {n: 1 << b for n, b in bits.items()})


def _element(construct: object, bits: int, known: Sequence[int]) -> int:
    if bits not in known:
        raise LayoutError(
            f"{construct}: elements of {short_repr(bits)} bits; there are {', '.join(map(str, known))}"
        )
    return bits_of(construct, "bits", bits)


def _unused(construct: object, what: str, **given: Any) -> None:
    """Raise LayoutError where an option is given that makes no difference."""
    for name, value in given.items():
        if value is not None:
            raise LayoutError(f"{construct}: {what} has no {name}; leave it out")


def _order(construct: object, rank: int, order: Sequence[int] | None) -> list[int]:
    """The dimensions, the fastest first; the last one unless given."""
    way = [*range(rank)][::-1] if order is None else listed(order)
    if not all(map(is_integer, way)) or sorted(way) != [*range(rank)]:
        raise LayoutError(
            f"{construct}: order is {short_repr(order)}; give the numbers 0..{rank - 1}, each once"
        )
    return way


def _linear(construct: object, layout: Linear) -> Linear:
    if not isinstance(layout, Linear):
        raise LayoutError(f"{construct}: {short_repr(layout)} is not a Linear")
    return layout


@brief
def blocked(
    per_thread: Sequence[int],
    threads: Sequence[int],
    warps: Sequence[int],
    order: Sequence[int] | None = None,
    shape: Sequence[int] | None = None,
) -> Linear:
    """A tile of registers, of lanes, of warps above each other (Triton's BlockedEncodingAttr).

    per_thread, threads, warps: sizes by dimension; order: the dimensions, the fastest first, the last
    one unless given. shape: of the tensor; where the tile is smaller registers repeat it, where it
    is larger elements have several holders.

        >>> from lego_emit import hardware
        >>> hardware.blocked((1, 4), (8, 4), (4, 1)).apply(1, 9, 2)
        (18, 5)
    """
    construct = LazyText("blocked({}, {}, {})", per_thread, threads, warps)
    tiles = [(REGISTER, listed(per_thread)), (LANE, listed(threads)), (WARP, listed(warps))]
    rank = len(tiles[0][1])
    if not rank or any(len(sizes) != rank for _, sizes in tiles):
        raise LayoutError(f"{construct}: give each a size for every dimension")
    way = _order(construct, rank, order)
    steps = []
    for name, sizes in tiles:
        steps += [(name, dim, bits_of(construct, name, sizes[dim])) for dim in way]
    made = _tile(*steps, rank=rank, ins=(REGISTER, LANE, WARP))
    for dim, size in enumerate(() if shape is None else listed(shape)):
        whole = LazyText("blocked({}, {}, {}, shape={})", per_thread, threads, warps, shape)
        bits_of(whole, f"dim{dim}", size)
    return made if shape is None else fitted(made, shape, way)


@brief
def fitted(layout: Linear, shape: Sequence[int], order: Sequence[int] | None = None) -> Linear:
    """A layout on a tensor of a shape: registers repeat what is smaller, elements of what is larger
    have several holders (section 5.1). order: in which dimensions are repeated, the last one
    first unless given.

        >>> from lego_emit import hardware
        >>> hardware.fitted(hardware.mma("c"), (32, 8)).in_dims
        {'register': 8, 'lane': 32}
    """
    place = LazyText("fitted({}, {})", layout, shape)
    dims, wanted = [*_linear(place, layout).out_dims], listed(shape)
    if len(wanted) != len(dims):
        raise LayoutError(f"{place}: give {len(dims)} sizes")
    sizes = layout.out_dims
    made = layout
    for dim in _order(place, len(dims), order):
        name, bits = dims[dim], bits_of(place, dims[dim], wanted[dim])
        if wanted[dim] > sizes[name]:
            more = wanted[dim] // sizes[name]
            made = made * Linear.identity1D(more, REGISTER, name)
        elif wanted[dim] < sizes[name]:
            made = made.resize_out(name, 1 << bits)
    ins = [n for n in (REGISTER, LANE, WARP) if n in made.in_dims]
    return made.transpose_ins([*ins, *(n for n in made.in_dims if n not in ins)]).transpose_outs(
        dims
    )


@brief
def sliced(layout: Linear, dim: int) -> Linear:
    """What is left of a layout when a dimension is reduced (Triton's SliceEncodingAttr,
    Proposition 4.8).

        >>> from lego_emit import hardware
        >>> hardware.sliced(hardware.mma("c"), 1).apply(2, 5)
        9
    """
    construct = LazyText("sliced({}, {})", layout, dim)
    dims = [*_linear(construct, layout).out_dims]
    if not is_integer(dim) or not 0 <= dim < len(dims) or len(dims) < 2:
        raise LayoutError(f"{construct}: no dimension to take away; there are {', '.join(dims)}")
    left = layout.sublayout(layout.in_dims, [n for k, n in enumerate(dims) if k != dim])
    names = {n: size for n, size in zip(_dims(len(dims) - 1), left.out_dims.values(), strict=True)}
    return left.reshape_outs(names)


@brief
def mma(operand: str, bits: int = 16, k: int | None = None) -> Linear:
    """A fragment of mma.sync m16n8 (PTX ISA, "Matrix Fragments for mma.m16n8k*"): operand a (16 x k),
    b (k x 8), or c or d, the accumulator (16 x 8).

    bits: of an element. k: 256 / bits unless given (16 for f16, 8 for tf32, 4 for f64, 256 for b1);
    or half of it, and for f64 8 or 16.

        >>> from lego_emit import hardware
        >>> hardware.mma("a").apply(2, 5)
        (9, 2)
        >>> hardware.mma("a").in_dims
        {'register': 8, 'lane': 32}
    """
    construct = LazyText("mma({}, {})", operand, bits)
    if operand not in ("a", "b", "c", "d"):
        raise LayoutError(f"{construct}: the operands are 'a', 'b', and 'c' or 'd'")
    if operand in ("c", "d"):
        _unused(construct, "the accumulator", k=k)
        _element(construct, bits, (16, 32, 64))
        return _tile((REGISTER, 1, 1), (LANE, 1, 2), (LANE, 0, 3), (REGISTER, 0, 1))
    wide = _element(construct, bits, (1, 4, 8, 16, 32, 64))
    packed = max(0, 5 - wide)  # elements of one register
    known = (4, 8, 16) if bits == 64 else (128 // bits, 256 // bits)
    k = 256 // bits if k is None else k
    if k not in known:
        listed_k = " and ".join(map(str, known))
        raise LayoutError(f"{construct}: k is {short_repr(k)}; of {bits} bits there are {listed_k}")
    steps = bits_of(construct, "k", k) - packed - 2  # registers one after the other in k
    if operand == "a":
        rows = (LANE, 1, 2), (LANE, 0, 3), (REGISTER, 0, 1)
        return _tile((REGISTER, 1, packed), *rows, (REGISTER, 1, steps))
    return _tile((REGISTER, 0, packed), (LANE, 0, 2), (LANE, 1, 3), (REGISTER, 0, steps))


@brief
def wgmma(operand: str = "d", n: int | None = None, bits: int = 16) -> Linear:
    """A fragment of wgmma.mma_async m64 (PTX ISA, "Register Fragments" of wgmma.mma_async), over the
    four warps of a warpgroup: operand a (64 x 256/bits), or d or c, the accumulator (64 x n, n a
    power of two of at least 8, which is the default).

        >>> from lego_emit import hardware
        >>> hardware.wgmma("d", 16).in_dims
        {'register': 8, 'lane': 32, 'warp': 4}
    """
    construct = LazyText("wgmma({}, {}, {})", operand, n, bits)
    if operand not in ("a", "c", "d"):
        raise LayoutError(f"{construct}: the operands in registers are 'a', and 'c' or 'd'")
    if operand == "a":
        _unused(construct, "operand a", n=n)
        _element(construct, bits, (1, 8, 16, 32))
        return mma("a", bits) * Linear.identity1D(4, WARP, "dim0")
    _element(construct, bits, (16, 32))
    n = 8 if n is None else n
    if n not in (8, 16, 32, 64, 128, 256):
        raise LayoutError(
            f"{construct}: n is {short_repr(n)}; powers of two from 8 to 256 are linear over F2"
        )
    tile = mma("c") * Linear.identity1D(n // 8, REGISTER, "dim1")
    return tile * Linear.identity1D(4, WARP, "dim0")


@brief
def ldmatrix(count: int = 4, transposed: bool = False) -> Linear:
    """What ldmatrix and stmatrix of b16 hold (PTX ISA, "Warp-level matrix load instruction: ldmatrix"):
    1, 2 or 4 matrices of 8 x 8 below one another; transposed: as .trans gives them.

        >>> from lego_emit import hardware
        >>> hardware.ldmatrix(4).in_dims
        {'register': 8, 'lane': 32}
        >>> hardware.ldmatrix(4).apply(1, 5)
        (1, 3)
    """
    construct = LazyText("ldmatrix({})", count)
    if count not in (1, 2, 4):
        raise LayoutError(f"{construct}: give 1, 2 or 4 matrices")
    row, column = (1, 0) if transposed else (0, 1)
    tile = _tile((REGISTER, column, 1), (LANE, column, 2), (LANE, row, 3))
    return tile * Linear.identity1D(count, REGISTER, "dim0")


@brief
def lop3(bits: int = 4) -> Linear:
    """Where the integers of a word of 32 bits come to lie when masks make pairs of 16 bits of them: place
    to register, in elements of 16 bits as in mma, so that mma("a") after it says what a word must hold.

    One lop3 with the mask 0x000f000f << 4 * r takes the nibbles r and r + 4 to the halves of one register,
    and so for bits of 2, 4 and 8 (PTX ISA, "lop3"; Frantar et al., MARLIN, PPoPP 2025).

        >>> from lego_emit import Linear, hardware
        >>> word = hardware.lop3() * Linear.identity1D(32, "lane", "lane")
        >>> (hardware.mma("a") @ word).apply(4, 0)
        (0, 1)
    """
    if bits not in (2, 4, 8):
        raise LayoutError(f"lop3({short_repr(bits)}): integers of 2, 4 or 8 bits share a word so")
    count = 32 // bits
    places = [(2 * place,) for place in (1 << k for k in range(count.bit_length() - 2))]
    return Linear({"place": [*places, (1,)]}, {REGISTER: count})


@brief
def mfma(
    operand: str = "c", size: int = 32, k_width: int | None = None, bits: int | None = None
) -> Linear:
    """A fragment of AMD's v_mfma on 64 lanes (AMDMfmaEncodingAttr; Matrix Instruction Calculator).

    operand: c or d (size x size), a (size x k) or b (k x size), size 32 or 16. k_width: consecutive
    elements of k in a lane, 4 unless given. bits: of an element of c, 32 unless given; those of 64
    have the size 16.

        >>> from lego_emit import hardware
        >>> hardware.mfma("c").apply(4, 33)
        (12, 1)
    """
    construct = LazyText("mfma({}, {})", operand, size)
    if size not in (16, 32):
        raise LayoutError(f"{construct}: size is 16 or 32")
    across = bits_of(construct, "size", size)
    groups = 6 - across  # lanes beside those of one row
    if operand in ("c", "d"):
        _unused(construct, "the accumulator", k_width=k_width)
    elif operand in ("a", "b"):
        _unused(construct, f"operand {operand}", bits=bits)
    wide = bits_of(construct, "k_width", 4 if k_width is None else k_width)
    bits = 32 if bits is None else bits
    _element(construct, bits, (32, 64) if size == 16 else (32,))
    if operand in ("c", "d") and bits == 64:  # the lanes hold rows in turn
        return _tile((LANE, 1, 4), (LANE, 0, 2), (REGISTER, 0, 2))
    if operand in ("c", "d"):
        # four rows in the registers of a lane, then the other lanes', then again
        return _tile(
            (REGISTER, 0, 2),
            (LANE, 1, across),
            (LANE, 0, groups),
            (REGISTER, 0, across - 2 - groups),
        )
    if operand == "a":
        return _tile((REGISTER, 1, wide), (LANE, 0, across), (LANE, 1, groups))
    if operand == "b":
        return _tile((REGISTER, 0, wide), (LANE, 1, across), (LANE, 0, groups))
    raise LayoutError(f"{construct}: the operands are 'a', 'b', and 'c' or 'd'")


@brief
def wmma(operand: str = "c", version: int = 1, k_width: int | None = None) -> Linear:
    """A fragment of AMD's v_wmma 16 x 16 x 16 of 16 bits on 32 lanes (AMDWmmaEncodingAttr; Matrix
    Instruction Calculator).

    operand: a, b (each in both halves of a wave in version 1), c or d. version: 1 for RDNA3, 2 for
    RDNA4. k_width: consecutive elements of k in a lane of version 2: 8 unless given, as Triton has
    them, or 4, as the calculator; a product is the same where a and b have one order of k.

        >>> from lego_emit import hardware
        >>> hardware.wmma("c").apply(1, 20)
        (3, 4)
    """
    construct = LazyText("wmma({}, {})", operand, version)
    if not is_integer(version) or version not in (1, 2):
        raise LayoutError(f"{construct}: the versions are 1 (RDNA3) and 2 (RDNA4)")
    if operand in ("c", "d"):
        _unused(construct, "the accumulator", k_width=k_width)
        if version == 1:  # the halves of a wave hold rows in turn
            return _tile((LANE, 1, 4), (LANE, 0, 1), (REGISTER, 0, 3))
        return _tile((REGISTER, 0, 3), (LANE, 1, 4), (LANE, 0, 1))
    if operand not in ("a", "b"):
        raise LayoutError(f"{construct}: the operands are 'a', 'b', and 'c' or 'd'")
    k, across = (1, 0) if operand == "a" else (0, 1)
    if version == 1:
        _unused(construct, "version 1", k_width=k_width)
        tile = _tile((REGISTER, k, 4), (LANE, across, 4))
        return tile * Linear.zeros1D(2, LANE, "dim0")
    k_width = 8 if k_width is None else k_width
    if k_width not in (4, 8):
        raise LayoutError(f"{construct}: k_width is {short_repr(k_width)}; it is 4 or 8")
    wide = bits_of(construct, "k_width", k_width)
    lanes = (LANE, across, 4), (LANE, k, 1)
    return _tile((REGISTER, k, wide), *lanes, (REGISTER, k, 3 - wide))


@brief
def swizzled(rows: int, columns: int, vec: int, per_phase: int, max_phase: int) -> Linear:
    """Shared memory swizzled for mma (Definition 4.11, with the row that it leaves out;
    SwizzledSharedEncodingAttr): (dim0, dim1) to the offset in elements.

        >>> from lego_emit import hardware
        >>> hardware.swizzled(8, 64, 8, 1, 8).apply(1, 0)
        72
    """
    construct = LazyText("swizzled({}, {}, {}, ..)", rows, columns, vec)
    high, wide = bits_of(construct, "rows", rows), bits_of(construct, "columns", columns)
    for name, size in (("vec", vec), ("per_phase", per_phase), ("max_phase", max_phase)):
        bits_of(construct, name, size)
    if vec * max_phase > columns:
        raise LayoutError(
            f"{construct}: {max_phase} phases of {vec} elements do not fit {columns} columns"
        )

    def offset(i: int, j: int) -> int:
        phase = i // per_phase % max_phase
        return columns * i + (((phase ^ j // vec) * vec) ^ j % vec)

    bases = {
        "dim0": [offset(1 << k, 0) for k in range(high)],
        "dim1": [offset(0, 1 << k) for k in range(wide)],
    }
    return Linear(bases, {"offset": rows * columns})


@brief
def nvmma_shared(rows: int, swizzle: int = 128, bits: int = 16) -> Linear:
    """Shared memory as wgmma and TMA take it (NVMMASharedEncodingAttr; PTX ISA, "Shared Memory Matrix
    Layout"): rows of 32, 64 or 128 bytes whose chunks of 16 bytes are swizzled; 0 for none, rows of
    16 bytes.

    (dim0, dim1) to the offset in elements.

        >>> from lego_emit import hardware
        >>> hardware.nvmma_shared(128).apply(1, 0)
        72
    """
    construct = LazyText("nvmma_shared({}, {}, {})", rows, swizzle, bits)
    if swizzle not in (0, 32, 64, 128):
        raise LayoutError(f"{construct}: the swizzles are 0, 32, 64 and 128 bytes")
    _element(construct, bits, (4, 8, 16, 32, 64, 128))
    bits_of(construct, "rows", rows)
    columns, vec = 8 * max(swizzle, 16) // bits, 128 // bits
    phases = max(swizzle, 16) // 16
    return swizzled(rows, columns, vec, 8 // phases, phases)
