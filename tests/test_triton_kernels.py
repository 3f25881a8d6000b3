"""The Triton kernels of the paper's evaluation, from templates: right against float64."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "kernels").glob("triton_*/check.py"))


@pytest.mark.slow
@pytest.mark.parametrize("check", EXAMPLES, ids=[c.parent.name for c in EXAMPLES])
def test_a_kernel_is_right(triton, check):
    done = subprocess.run([sys.executable, check], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) >= 1 and "allowed" not in done.stdout


@pytest.mark.parametrize("check", EXAMPLES, ids=[c.parent.name for c in EXAMPLES])
def test_a_readme_s_command_makes_a_module(check, monkeypatch):
    from click.testing import CliRunner

    from lego_emit.cli import main

    monkeypatch.chdir(ROOT)
    readme = (check.parent / "README.md").read_text()
    (command,) = [x for x in readme.splitlines() if x.startswith("lego-emit render")]
    done = CliRunner().invoke(main, command.split()[1:])
    assert done.exit_code == 0, done.output
    compile(done.output, "kernel.py", "exec")
    assert "tl.cast" not in done.output and "{{" not in done.output


def test_there_are_the_paper_s_four():
    names = {c.parent.name.removeprefix("triton_") for c in EXAMPLES}
    assert names == {"matmul", "softmax", "layernorm", "grouped_gemm"}
