"""What docs/kernels-timed.md says of products beside cuBLAS, made from benchmarks/results/h100/kernels/gemm.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plot import bars
from table import table

CASES = {
    "matmul_f16": "FP16, C = A Bᵀ",
    "matmul_bf16": "BF16, C = A Bᵀ",
    "matmul_km_f16": "FP16, C = A B",
    "matmul_mk_f16": "FP16, C = Aᵀ Bᵀ",
    "matmul_mm_f16": "FP16, C = Aᵀ B",
}
FIRST, OTHERS = "matmul_f16", [*CASES][1:]
COLORS = {"wgmma and TMA": "#1b7f5c", "cuBLAS": "#8fb8de", "mma.sync": "#d98f4e"}
WAYS = dict(zip(COLORS, ("ours", "cublas", "ours_mma_sync"), strict=True))


def claims(times: Any) -> Iterator[tuple[str, str, float, Mapping[str, float]]]:
    """Part, what is claimed, the least, and what was found."""

    def over(way: str, *names: str, least: int = 0, most: int = 1 << 20) -> dict[str, float]:
        return {
            f"{CASES[name]}, {n}": times.ms(name, n, "cublas") / times.ms(name, n, way)
            for name in names
            for n in times.sizes(name)
            if least <= n <= most
        }

    part = "products"
    yield part, "FP16, C = A Bᵀ, over cuBLAS, 2048", 0.9, over("ours", FIRST, most=2048)
    yield part, "the same, 4096 and 8192", 0.95, over("ours", FIRST, least=4096)
    yield part, "BF16 and the other transpositions, over cuBLAS", 0.93, over("ours", *OTHERS)
    said = "FP16, by mma.sync, over cuBLAS, 4096 and 8192"
    yield part, said, 0.5, over("ours_mma_sync", FIRST, least=4096)


def _teraflops(times: Any, name: str, n: int, way: str) -> float:
    return 2 * n**3 / times.ms(name, n, way) / 1e9


def products(times: Any) -> str:
    """Teraflops of each way, and the errors."""
    rows = []
    for name, said in CASES.items():
        for n in times.sizes(name):
            speeds = [
                _teraflops(times, name, n, way) if way in times.ways(name, n) else None
                for way in WAYS.values()
            ]
            ours, cublas, _ = speeds
            cells = [f"{speed:.0f}" if speed else "" for speed in speeds]
            errors = [f"{times.error(name, n, way):.2e}" for way in ("ours", "cublas")]
            rows.append([said, str(n), *cells, f"{ours / cublas:.2f}", *errors])
    head = ["product", "n", *WAYS, "over cuBLAS", "error", "cuBLAS's"]
    return table(head, rows)


def chart(times: Any) -> str:
    """Teraflops of each way."""
    groups = [
        (
            f"{said}, {n}",
            {
                way: _teraflops(times, name, n, short)
                for way, short in WAYS.items()
                if short in times.ways(name, n)
            },
        )
        for name, said in CASES.items()
        for n in times.sizes(name)
    ]
    unit = "10^12 operations a second"
    return bars("Products in half precision", times.device, groups, unit, False, COLORS)
