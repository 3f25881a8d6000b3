"""Which lane's which register holds each element of a matrix instruction's operands.

From (register, lane, and warp) to (dim0, dim1), row and column; the functions of lego_emit.hardware,
which names its sources.
"""

from __future__ import annotations

from typing import Any

from .. import hardware
from ..algebra.block import Block
from .entry import catalogue

PTX = 'PTX ISA, "{}"'
AMD = "AMD Matrix Instruction Calculator; Triton, {}"
WHOLE = "an instruction has one size; a larger tile repeats it"


@catalogue.entry(
    "fragment.mma",
    source=PTX.format("Matrix Fragments for mma.m16n8k*"),
    checked="the formulas of its sections for each type and k",
    ragged=WHOLE,
    operand="a",
)
def mma(operand: str = "c", bits: int = 16, k: Any = None) -> Block:
    """A fragment of mma.sync m16n8; a register is one element.

    operand: 'a' (16 x k), 'b' (k x 8), 'c' or 'd' (16 x 8). bits: of an element. k: 256 / bits unless
    given, or half of that; for f64 it is 4, 8 or 16.
    """
    return hardware.mma(operand, bits, k)


@catalogue.entry(
    "fragment.ldmatrix",
    source=PTX.format("Warp-level matrix load instruction: ldmatrix"),
    checked="what its section says of rows and threads",
    ragged=WHOLE,
    count=2,
)
def ldmatrix(count: int = 4, transposed: bool = False) -> Block:
    """What ldmatrix and stmatrix of b16 hold, 8 x 8 matrices below one another; a register is one element."""
    return hardware.ldmatrix(count, transposed)


@catalogue.entry(
    "fragment.wgmma",
    source=PTX.format("Register Fragments for wgmma.mma_async.m64nNk16"),
    checked="the formulas of its section",
    ragged="n is a power of two: others are not linear over F2 and refused",
    n=8,
)
def wgmma(operand: str = "d", n: Any = None, bits: int = 16) -> Block:
    """A fragment of wgmma.mma_async m64 over four warps; a register is one element.

    operand: 'a' (64 x 256/bits), 'c' or 'd' (64 x n, n = 8 unless given, 16, .. 256). bits: of an element.
    """
    return hardware.wgmma(operand, n, bits)


@catalogue.entry(
    "fragment.MFMA",
    source=AMD.format("AMDMfmaEncodingAttr"),
    checked="what the calculator prints of f16 and f64 instructions",
    ragged=WHOLE,
    operand="c",
    size=16,
)
def mfma(operand: str = "c", size: int = 32, k_width: Any = None, bits: Any = None) -> Block:
    """A fragment of v_mfma on 64 lanes; a register is one element.

    operand: 'c' or 'd' (size x size), 'a' (size x k), 'b' (k x size), size 32 or 16. k_width:
    consecutive elements of k in a lane of a and b, 4 unless given. bits: of an element of c, 32
    unless given.
    """
    return hardware.mfma(operand, size, k_width, bits)


@catalogue.entry(
    "fragment.WMMA",
    source=AMD.format("AMDWmmaEncodingAttr"),
    checked="what the calculator prints of the f16 instructions of both versions",
    ragged=WHOLE,
    operand="c",
)
def wmma(operand: str = "c", version: int = 1, k_width: Any = None) -> Block:
    """A fragment of v_wmma 16 x 16 x 16 on 32 lanes; a register is one element.

    operand: 'a', 'b', 'c' or 'd'. version: 1 for RDNA3, 2 for RDNA4. k_width: of version 2, 8 unless
    given, or 4.
    """
    return hardware.wmma(operand, version, k_width)
