"""Table 3 of Linear Layouts: how wide a thread's loads are, by the layout's contiguity, and by Triton's compiler."""

import os
import subprocess
import sys

import pytest

from lego_emit import hardware

# The columns N of a tensor of 512 rows, the bytes of an element, and the instructions of Triton and Triton-Linear.
TABLE_3 = [
    (1, 1, "v1.b32", "v1.b32"),
    (2, 1, "v1.b16", "v4.b32"),
    (4, 1, "v1.b32", "v4.b32"),
    (8, 1, "v2.b32", "v4.b32"),
    (16, 1, "v4.b32", "v4.b32"),
    (1, 2, "v2.b32", "v2.b32"),
    (2, 2, "v1.b32", "v4.b32"),
    (4, 2, "v2.b32", "v4.b32"),
    (8, 2, "v4.b32", "v4.b32"),
    (16, 2, "v4.b32", "v4.b32"),
]
ROWS, WARPS, WIDEST = 512, 4, 16


def instruction(elements, size):
    """Of a vector of elements."""
    bits = 8 * size * min(elements, WIDEST // size)
    return f"v{bits // 32}.b32" if bits >= 32 else f"v1.b{bits}"


def tile(columns, elements):
    """Whole rows in each thread, so many elements of them."""
    across = min(elements, columns)
    lanes = [32 * across // columns, columns // across]
    return hardware.blocked([elements // across, across], lanes, [WARPS, 1], shape=(ROWS, columns))


@pytest.mark.parametrize(("columns", "size", "legacy", "linear"), TABLE_3)
def test_loads_are_as_wide_as_contiguity_says(columns, size, legacy, linear):
    """Over all dims in a linear layout; in the last dim alone, or the first where that has one column, in a legacy one.
    A thread's share of the 128 threads is at most 4 N elements. In [512, 2] of f8 that is 8, and the paper's 16 need
    a layout in which half of the warps has what the others have."""
    share = min(ROWS * columns // (32 * WARPS), WIDEST // size)
    found = tile(columns, share)
    assert found.is_surjective
    if (columns, size) == (2, 1):
        assert instruction(found.contiguity("register"), size) == "v2.b32"
        found = tile(columns, WIDEST)
        assert found.is_surjective and found.free_variables() == {
            "register": 0,
            "lane": 0,
            "warp": 2,
        }
    assert instruction(found.contiguity("register"), size) == linear
    only = found.sublayout(["register"], ["dim1" if columns > 1 else "dim0"])
    assert instruction(only.contiguity("register"), size) == legacy


COMPILE = """
import re
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

@triton.jit
def copy(x, y, R: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, R)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.load(x + at))

for kind in ("*fp8e5", "*fp16"):
    for N in (1, 2, 4, 8, 16):
        signature = {"x": kind, "y": kind, "R": "constexpr", "N": "constexpr"}
        aligned = {(k,): [["tt.divisibility", 16]] for k in range(2)}
        source = ASTSource(copy, signature, {"R": 512, "N": N}, aligned)
        ptx = compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]
        for which in ("ld", "st"):
            (found,) = set(re.findall(which + r"\\.global\\.(?:v\\d\\.)?b\\d+", ptx))
            print(found.removeprefix(which + ".global.").replace("v1.", ""))
"""


@pytest.mark.deep
def test_triton_s_own_loads_are_the_table_s(triton, tmp_path):
    """Triton's choice of a layout is still the legacy one: its column of the table, of loads and of stores."""
    path = tmp_path / "loads.py"
    path.write_text(COMPILE)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("TRITON_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, env=environment, check=False
    )
    wanted = [said.replace("v1.", "") for _, _, said, _ in TABLE_3 for _ in range(2)]
    assert done.stdout.split() == wanted, done.stderr
