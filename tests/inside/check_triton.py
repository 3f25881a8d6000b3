"""The kernels of triton_kernels.py in Triton's interpreter; on a GPU with --gpu."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np

GPU = "--gpu" in sys.argv
if not GPU:
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"
sys.path.insert(0, str(EXAMPLES))


def main() -> None:
    import triton_kernels
    from triton_harness import Machine

    machine = Machine(triton_kernels, on_gpu=GPU)
    path = EXAMPLES / "triton_matmul" / "check.py"
    spec = importlib.util.spec_from_file_location("check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for found in module.check(machine):
        print(f"{found.kernel} {found.sizes}", "right" if found.is_right else found, flush=True)
    ragged(machine)


def ragged(machine) -> None:
    """Products of matrices whose sizes no tile divides."""
    rng = np.random.default_rng(1)
    for m, n, k in ((100, 70, 50), (16, 32, 32), (1, 1, 1), (33, 31, 65)):
        a, b = (rng.standard_normal(size).astype(np.float16) for size in ((m, k), (k, n)))
        c = machine.tensor(np.full((m, n), np.nan, np.float16))
        grid = (-(-m // 16) * -(-n // 32),)
        given = map(machine.tensor, (a, b))
        machine.launch("matmul_ragged", grid, *given, c, m, n, k, 16, 32, 32, 3)
        error = np.abs(machine.array(c) - a.astype(np.float64) @ b).max()
        print(f"ragged {m} x {n} x {k}", "right" if error < 0.05 else error, flush=True)


if __name__ == "__main__":
    main()
