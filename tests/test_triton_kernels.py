"""The Triton kernels of the paper's evaluation, which hold their layouts: right against float64."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from marks import rest_deep

# Each kernel of a file through Triton's compiler and assembler, without a GPU.
COMPILE = """
import importlib.util, re, sys
from itertools import product
from triton import JITFunction
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

spec = importlib.util.spec_from_file_location("kernel", "kernel.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name, kernel in vars(module).items():
    if isinstance(kernel, JITFunction):
        of = {"eps": "fp32", "sizes": "*i32", **dict.fromkeys("MNKRCG", "i32"), "PARTS": "i32"}
        signature = {
            p.name: "constexpr" if p.is_constexpr else of.get(p.name, sys.argv[1])
            for p in kernel.params
        }
        tiles = {"BM": 128, "BN": 128}
        known = [p for p, kind in signature.items() if kind == "constexpr"]
        choices = [(False, True) if p in ("TA", "TB") else (tiles.get(p, 64),) for p in known]
        for values in product(*choices):
            source = ASTSource(kernel, signature, dict(zip(known, values)))
            made = compile(source, target=GPUTarget("cuda", 90, 32))
            ptx = made.asm["ptx"]
            wide = len(re.findall(r"cp\\.async\\.cg\\.shared\\.global[^;]*, 0x10,", ptx))
            print(name, wide, ptx.count("ld.global.b16"), "wgmma" in ptx)
"""

# How many wide multiplications the loop of a matrix product has.
SASS = """
if __name__ == "__main__":
    import os, subprocess
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile
    from triton.knobs import nvidia

    for name in ("nn", "tn"):
        signature = {**dict.fromkeys("abc", "*fp16"), **dict.fromkeys("MNK", "i32")}
        constants = {"BM": 128, "BN": 256, "BK": 64, "GROUP": 8, "TA": name == "tn", "TB": False}
        signature |= dict.fromkeys(constants, "constexpr")
        source = ASTSource(
            matmul, signature, constants, {(k,): [["tt.divisibility", 16]] for k in range(6)}
        )
        made = compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8})
        with open("kernel.cubin", "wb") as file:
            file.write(made.asm["cubin"])
        text = subprocess.check_output([nvidia.cuobjdump.path, "-sass", "kernel.cubin"], text=True)
        loop = text[text.index("HGMMA"):].partition("BRA")[0]
        print(name, loop.count("IMAD.WIDE"))
"""

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "kernels").glob("triton_*/check.py"))


@pytest.mark.slow
@pytest.mark.parametrize("check", EXAMPLES, ids=[c.parent.name for c in EXAMPLES])
def test_a_kernel_is_right(triton, check):
    done = subprocess.run([sys.executable, check], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= 1 and "allowed" not in done.stdout


def rewrite(*arguments):
    """The command on a file that imports Triton, in a process of its own: one that has Triton's LLVM beside that of
    Mesa's drivers ends."""
    command = [sys.executable, "-m", "lego_emit", "rewrite", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done


def rewritten(name, path):
    """An example's kernels as Triton reads them, in a file."""
    rewrite(ROOT / "examples" / "kernels" / f"triton_{name}" / "kernel.py", "-o", path)
    return path.read_text()


def compiled(path, pointers):
    """For each kernel of a file its name, how many cp.async of 16 bytes and loads of 2 bytes it has, and whether
    it multiplies by warpgroups: as Triton compiles it for sm_90."""
    tmp_path = path.parent
    (tmp_path / "compile.py").write_text(COMPILE)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("TRITON_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, "compile.py", pointers], cwd=tmp_path, capture_output=True, text=True,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = (line.split() for line in done.stdout.splitlines())
    return [(name, int(wide), int(narrow), of == "True") for name, wide, narrow, of in lines]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pointers", "kernels"),
    rest_deep([("softmax", "*fp32", 1), ("layernorm", "*fp32", 3), ("matmul", "*fp16", 4)], 2),
)
def test_the_compiler_takes_a_kernel(triton, tmp_path, name, pointers, kernels):
    rewritten(name, tmp_path / "kernel.py")
    found = compiled(tmp_path / "kernel.py", pointers)
    assert len(found) == kernels
    assert all(multiplies == (name == "matmul") for *_, multiplies in found)


@pytest.mark.slow
@pytest.mark.deep
def test_loads_of_a_grouped_gemm_are_wide_by_what_is_assumed(triton, tmp_path):
    """Its sizes and pointers are loaded: Triton knows of their divisors what tl.multiple_of says of both."""
    path = tmp_path / "kernel.py"
    text = rewritten("grouped_gemm", path)
    ((_, wide, narrow, multiplies),) = compiled(path, "*i64")
    assert wide >= 24 and not narrow and multiplies
    for names in ("abc", "MNK", "abcMNK"):
        path.write_text(re.sub(rf"tl\.multiple_of\(([{names}]), 16\)", r"\1", text))
        assert path.read_text() != text
        ((_, wide, narrow, _),) = compiled(path, "*i64")
        assert wide == 0 and narrow >= 64, names


@pytest.mark.slow
@pytest.mark.deep
def test_a_matrix_product_s_remainders_are_kept(triton, tmp_path):
    """They change no number; without them addresses are multiplied out in the loop that multiplies."""
    path = tmp_path / "kernel.py"
    text = rewritten("matmul", path)
    assert text.count(" % M\n") == text.count(" % N\n") == 1
    path.write_text(text + SASS)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path)
    with_them = done.stdout.splitlines()
    path.write_text(re.sub(r" % [MN]\n", "\n", text) + SASS)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path)
    without = done.stdout.splitlines()
    assert with_them == ["nn 0", "tn 0"], done.stderr
    assert [line[:3] for line in without] == ["nn ", "tn "] and "nn 0" not in without


@pytest.mark.slow
def test_grouped_program_ids_have_the_tutorial_s_form(triton, tmp_path):
    """One division by the programs of a group, one pair by its height, and a minimum; nothing is divided again."""
    text = rewritten("matmul", tmp_path / "kernel.py")
    (ids,) = [line for line in text.splitlines() if line.strip().startswith("position = ")]
    assert ids.strip().split("; ") == [
        "position = tl.program_id(0)",
        "p_scaled = GROUP * (N // BN)",
        "p_quotient = position // p_scaled",
        "p_scaled_2 = GROUP * p_quotient",
        "p_difference = position - p_scaled * p_quotient",
        "p_smaller = tl.minimum(M // BM - p_scaled_2, GROUP)",
        "p = p_scaled_2 + p_difference % p_smaller",
        "q = p_difference // p_smaller",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("check", EXAMPLES, ids=[c.parent.name for c in EXAMPLES])
def test_a_readme_s_command_makes_a_module(triton, check):
    readme = (check.parent / "README.md").read_text()
    (command,) = [x for x in readme.splitlines() if x.startswith("lego-emit rewrite")]
    done = rewrite(*command.partition("#")[0].split()[2:])
    compile(done.stdout, "kernel.py", "exec")
    assert "tl.cast" not in done.stdout and "import lego_emit" not in done.stdout


def test_there_are_the_paper_s_four():
    names = {c.parent.name.removeprefix("triton_") for c in EXAMPLES}
    assert names == {"matmul", "softmax", "layernorm", "grouped_gemm"}
