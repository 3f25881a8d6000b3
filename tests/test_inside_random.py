"""Random kernels under lego_emit.jit give what they give as they stand, on layouts by their definitions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from marks import rest_deep

RANDOM = Path(__file__).parent / "inside" / "random_kernels.py"


def right(form, first, end):
    """How many of these kernels are right, and what was said of the others."""
    program = (
        [RANDOM.with_name("random_descriptors.py")] if form == "descriptors" else [RANDOM, form]
    )
    done = subprocess.run(
        [sys.executable, *program, str(first), str(end)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("form", rest_deep(["python", "triton"]))
def test_random_kernels(form, request):
    if form == "triton":
        request.getfixturevalue("triton")
    assert right(form, 0, 10) == f"{form} 10 right\n"


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("form", ["python", "triton", "cutile", "cuda", "numba"])
def test_more_random_kernels(form, request):
    """random_kernels.py FORM 30 1000 judges more."""
    if form == "triton":
        request.getfixturevalue("triton")
    elif form != "python":
        pytest.importorskip("cuda.tile" if form == "cutile" else "numba")
    count = 10 if form == "numba" else 20  # which compiles each
    assert right(form, 10, 10 + count) == f"{form} {count} right\n"


@pytest.mark.slow
@pytest.mark.deep
def test_random_descriptors(triton):
    """random_descriptors.py 50 1000 judges more."""
    assert right("descriptors", 0, 50) == "descriptors 34 right 16 refused\n"
