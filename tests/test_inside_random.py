"""Random kernels under lego_emit.jit give what they give as they stand, on layouts by their definitions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RANDOM = Path(__file__).parent / "inside" / "random_kernels.py"


def right(form, first, end):
    """How many of these kernels are right, and what was said of the others."""
    done = subprocess.run(
        [sys.executable, RANDOM, form, str(first), str(end)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", ["python", "triton"])
def test_random_kernels(form, request):
    if form == "triton":
        request.getfixturevalue("triton")
    assert right(form, 0, 10) == f"{form} 10 right\n"


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("form", ["python", "triton", "cuda", "numba"])
def test_more_random_kernels(form, request):
    if form == "triton":
        request.getfixturevalue("triton")
    elif form != "python":
        pytest.importorskip("numba")
    count = 40 if form == "numba" else 200  # which compiles each
    assert right(form, 10, 10 + count) == f"{form} {count} right\n"
