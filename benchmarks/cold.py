"""The wall time of fresh processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

RUNS = 5
KERNEL = """\
from lego_emit import OrderBy, Row


def index_kernel(M, N, BM, BN, pid_m, pid_n):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]
"""


def measured() -> dict[str, float]:
    """Median seconds of `lego-emit generate` on the README's example, and of importing SymPy."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "layouts.py")
        path.write_text(KERNEL)
        generate = ["generate", f"{path}:index_kernel", "--target", "cuda"]
        program = "from lego_emit.cli import main; main()"
        return {
            "lego-emit generate": _median([sys.executable, "-c", program, *generate]),
            'python -c "import sympy"': _median([sys.executable, "-c", "import sympy"]),
        }


def _median(command: list[str]) -> float:
    times = []
    for _ in range(1 + RUNS):
        start = perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(perf_counter() - start)
    return median(times[1:])  # the first one fills the disk's cache
