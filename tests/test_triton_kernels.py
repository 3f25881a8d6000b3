"""The Triton kernels of the paper's evaluation, from templates: right against float64."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lego_emit.cli import main

# Each kernel of a file through Triton's compiler and assembler, without a GPU.
COMPILE = """
import importlib.util, sys
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
        constants = {p: 64 for p, kind in signature.items() if kind == "constexpr"}
        made = compile(ASTSource(kernel, signature, constants), target=GPUTarget("cuda", 90, 32))
        print(name, "wgmma" in made.asm["ptx"])
"""

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "kernels").glob("triton_*/check.py"))


@pytest.mark.slow
@pytest.mark.parametrize("check", EXAMPLES, ids=[c.parent.name for c in EXAMPLES])
def test_a_kernel_is_right(triton, check):
    done = subprocess.run([sys.executable, check], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= 1 and "allowed" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pointers", "kernels"),
    [("matmul", "*fp16", 4), ("softmax", "*fp32", 1), ("layernorm", "*fp32", 3),
     ("grouped_gemm", "*i64", 1)],
)  # fmt: skip
def test_the_compiler_takes_a_kernel(triton, tmp_path, name, pointers, kernels):
    folder = ROOT / "examples" / "kernels" / f"triton_{name}"
    given = ["--layouts", str(folder / "layouts.py"), "-t", "triton", "--index-type", "int32"]
    output = ["-o", str(tmp_path / "kernel.py")]
    done = CliRunner().invoke(main, ["render", str(folder / "kernel.py.j2"), *given, *output])
    assert done.exit_code == 0, done.output
    (tmp_path / "compile.py").write_text(COMPILE)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("TRITON_INTERPRET", None)
    compiled = subprocess.run(
        [sys.executable, "compile.py", pointers], cwd=tmp_path, capture_output=True, text=True,
        env=environment,
    )  # fmt: skip
    found = compiled.stdout.splitlines()
    assert len(found) == kernels, compiled.stderr
    assert all(line.endswith(str(name in ("matmul", "grouped_gemm"))) for line in found)


@pytest.mark.slow
@pytest.mark.parametrize("check", EXAMPLES, ids=[c.parent.name for c in EXAMPLES])
def test_a_readme_s_command_makes_a_module(check, monkeypatch):
    monkeypatch.chdir(ROOT)
    readme = (check.parent / "README.md").read_text()
    (command,) = [x for x in readme.splitlines() if x.startswith("lego-emit render")]
    done = CliRunner().invoke(main, command.split()[1:])
    assert done.exit_code == 0, done.output
    compile(done.stdout, "kernel.py", "exec")
    assert "tl.cast" not in done.stdout and "{{" not in done.stdout


def test_there_are_the_paper_s_four():
    names = {c.parent.name.removeprefix("triton_") for c in EXAMPLES}
    assert names == {"matmul", "softmax", "layernorm", "grouped_gemm"}
