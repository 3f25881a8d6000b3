"""Tensor descriptors of layouts in Triton's kernels."""

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from lego_emit import Col, ExpandBy, GroupBy, Row, Strided, TileBy, catalogue, jit, symbols
from lego_emit.errors import KernelError, LayoutError
from lego_emit.inside.descriptors import dims_of

HERE = Path(__file__).parent / "inside"
M, N, S, BM, BN, DOWN, ACROSS = symbols("M N S BM BN down across")

COMPILE = """
import sys
sys.path.insert(0, {here!r})
sys.argv.append("--gpu")  # no interpreter
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
import triton_descriptors as kernels

constants = dict(BM=128, BN=128, BK=64, GROUP=8, TA=False, TB=True)
kinds = {{p.name: "constexpr" if p.name in constants else "*fp16" if p.name in "abc" else "i32" for p in kernels.matmul.params}}
made = compile(ASTSource(kernels.matmul, kinds, constexprs=constants), target=GPUTarget("cuda", 90, 32))
ptx = made.asm["ptx"]
print(ptx.count("cp.async.bulk.tensor.2d.shared"), ptx.count("cp.async.bulk.tensor.2d.global"), ptx.count("ld.global.b16"))
"""


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_blocks_are_those_of_the_layouts(triton):
    *found, stride, address = run(HERE / "triton_descriptors.py")
    assert len(found) == 26
    assert all(line.endswith(" True") for line in found), found
    assert stride.startswith(
        "batched assumes (M * N) * sizeof(x) % 16 == 0, and M = 13, N = 13, x = "
    )
    assert address == "one_row assumes x % 16 == 0"


@pytest.mark.slow
@pytest.mark.deep
def test_triton_copies_them_by_tma(triton, tmp_path):
    (tmp_path / "compile.py").write_text(COMPILE.format(here=str(HERE)))
    found = run(tmp_path / "compile.py", TRITON_CACHE_DIR=str(tmp_path / "cache"))
    loads, stores, narrow = map(int, found[-1].split())
    assert loads >= 2 and stores >= 1 and narrow == 0


DIMS = {
    "tiles": (TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N)), {2: True, 3: True}, 2),
    "tiles of columns": (TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Col(M, N)), {2: True, 3: True}, 2),
    "ragged tiles in a batch": (
        ExpandBy([S, M, N], [S, DOWN * BM, ACROSS * BN], TileBy([S, DOWN, ACROSS], [1, BM, BN])),
        {4: True, 5: True}, 3,
    ),
    "a row": (Row(M, N), {1: False}, 2),
    "packed": (Row(M // BM, N // BN, BM, BN), {2: True, 3: True}, 3),
    "of numbers": (Row(4, 8, 16), {0: True, 2: True}, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", DIMS)
def test_dims(name):
    layout, tile, count = DIMS[name]
    found = dims_of(layout, tile)
    assert len(found) == count and found[-1].stride == 1
    assert {d.axis for d in found} - {None} == {*tile}


REFUSED = {
    "no sum": (GroupBy([8, 8]).OrderBy(catalogue["morton.2D"](8, 8)), {0: True, 1: True}, "no sum of multiples"),
    "no contiguous axis": (TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N)), {0: True}, "follow one another"),
    "rows that are not aligned": (Strided((8, 16), (17, 1)), {0: True, 1: True}, "17 elements apart"),
    "six dims": (Strided((2, 2, 2, 2, 2, 8), (1024, 400, 128, 48, 16, 1)), {0: True, 5: True}, "6 dims"),
    "a mask of addresses": (ExpandBy([5, 7], [6, 8], TileBy([3, 4], [2, 2]), guard="logical"), {3: True}, "no sum"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_layouts_without_a_descriptor(name):
    layout, tile, words = REFUSED[name]
    with pytest.raises(LayoutError, match=words):
        dims_of(layout, tile)


ERRORS = {
    "no name": ("tl.store(y, A.descriptor(x)[i, :])", "is given a name of its own"),
    "no block": ("d = A.descriptor(x)", "no d[..] says which part of A a block is"),
    "no slice": ("d = A.descriptor(x)\n    z = d[i, 0]", "a block has a ':'"),
    "two shapes": ("d = A.descriptor(x)\n    z = d[i, :]\n    z = d[:, i]", "blocks of another shape in line 11"),
    "too few indices": ("d = A.descriptor(x)\n    z = d[:]", "has 2 indices, 1 given"),
    "no pointer": ("d = A.descriptor()\n    z = d[i, :]", "takes the pointer"),
    "a layout assigned again": ("d = A.descriptor(x)\n    B = 8\n    z = d[i, :]", "assigned again"),
    "one of a branch": ("if i:\n        d = A.descriptor(x)\n    z = d[i, :]", "may not have run"),
    "a sum in place": ("d = A.descriptor(x)\n    d[i, :] += 1", "a block is stored by"),
    "within a function": ("d = A.descriptor(x)\n    z = d[i, :]\n    def f():\n        return d[i, :]", "by the kernel alone"),
}  # fmt: skip


def described(body, tmp_path):
    """What jit makes of a kernel of Triton's, without Triton."""
    path = tmp_path / "own.py"
    path.write_text(f"""import triton.language as tl
from lego_emit import Row





def kernel(x, y, i, M, B: tl.constexpr):
    A = Row(M, B)
    {body}
""")
    module = types.ModuleType("triton.language")
    module.constexpr = int
    space = {"__name__": "own"}
    text = path.read_text().replace("import triton.language as tl", "")
    exec(
        compile(text, str(path), "exec"),
        space | {"tl": module},
        space := {"Row": Row, "tl": module},
    )
    function = types.FunctionType(space["kernel"].__code__, {"Row": Row, "tl": module})
    function.__annotations__ = space["kernel"].__annotations__
    return jit(function, target="triton")


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, tmp_path):
    body, words = ERRORS[name]
    with pytest.raises(KernelError) as found:
        described(body, tmp_path)
    assert words in str(found.value), found.value


def test_blocks_of_one_layout_have_dims_of_their_own(tmp_path, monkeypatch):
    """In one kernel, and in another one that is made behind it with the same cache."""
    monkeypatch.setenv("LEGO_EMIT_CACHE", str(tmp_path / "cache"))
    wanted = {
        ":, :": ("x, [M * i, B], [B, 1], [i, B]", "d.load([i * i, 0])"),
        "0, :": ("x, [B * M * i], [1], [B]", "d.load([B * i * i])"),
        "0, :B": ("x, [i, M, B], [B, B * i, 1], [1, 1, B]", "d.load([0, i, 0])"),
    }
    for key, texts in wanted.items():
        body = f"C = Row(M, i, B)\n    d = C.descriptor(x)\n    z = d[i, {key}]"
        source = described(body, tmp_path).lego.source
        assert all(text in source for text in texts), source
    one, other = (
        f"{name} = C.descriptor({name})\n    {name}z = {name}[i, {key}]"
        for name, key in (("d", ":, :"), ("e", "0, :"))
    )
    body = f"C = Row(M, i, B)\n    d, e = x, y\n    {one}\n    {other}"
    source = described(body, tmp_path).lego.source
    assert "d, [M * i, B], [B, 1], [i, B]" in source and "e, [B * M * i], [1], [B]" in source


def test_a_language_without_them_says_so():
    def kernel(x, M, N):
        d = Row(M, N).descriptor(x)
        return d[0, :]

    with pytest.raises(KernelError, match="numpy has no tensor descriptors"):
        jit(kernel, target="numpy")
