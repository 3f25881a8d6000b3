"""benchmarks/simplify counts and checks; its times are nobody's promise."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_a_row_is_counted_and_checked():
    program = [
        sys.executable,
        "benchmarks/simplify",
        "--only",
        "naive,ours",
        "--row",
        "reshape chain",
    ]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    (row,) = (line for line in lines if line.startswith("| reshape chain 12, apply"))
    naive, *ours, best = (cell.strip() for cell in row.strip("| ").split("|")[1:])
    assert naive == "10"
    assert int(ours[0].split()[0]) <= int(best)
    assert (
        lines[-1]
        == f"Checked {1 + len(ours)} results over {12 * (1 + len(ours))} indices: none wrong."
    )


@pytest.mark.deep
def test_prepared_divisions_take_no_more_instructions_than_by_hand(need):
    """benchmarks/prepared says so by its exit code; the table names each way."""
    need("nvcc", "the CUDA toolkit")
    if shutil.which("nvdisasm") is None and find_spec("triton") is None:
        pytest.skip("needs nvdisasm, which is not on PATH; Triton has one: pip install triton")
    program = [sys.executable, "benchmarks/prepared"]
    run = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    counts = [line.split("|")[-2].strip() for line in run.stdout.splitlines() if "| " in line]
    assert [n for n in counts if n.isdigit()] and "rolled loop" in run.stdout
