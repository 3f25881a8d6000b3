"""What docs/kernels-timed.md says of products beside cuBLAS, made from gemm.json and int4.json of
benchmarks/results/h100/kernels."""

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
NARROW = {"int4_28672_8192_f16": "28672, 8192", "int4_4096_14336_f16": "4096, 14336"}
LEAST = {
    "int4_28672_8192_f16": {1: 3.0, 16: 2.9, 64: 2.1, 256: 1.0, 4096: 0.7},
    "int4_4096_14336_f16": {1: 2.4, 16: 2.32, 64: 1.68, 256: 0.8, 4096: 0.56},
}
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
    part = "weights of 4 bits"
    for name, all_least in LEAST.items():
        for m, least in all_least.items():
            found = times.ms(name, m, "cublas") / times.ms(name, m, "ours")
            yield part, f"N, K = {NARROW[name]}, M = {m}, over cuBLAS FP16", least, {f"{m}": found}
        found = times.ms(name, 1, "torch_int4") / times.ms(name, 1, "ours")
        yield part, f"N, K = {NARROW[name]}, M = 1, over PyTorch's 4 bits", 1.0, {"1": found}
        found = times.ms(name, 256, "ours") / times.ms(name, 130, "ours")
        yield part, f"N, K = {NARROW[name]}, M = 130 over 256 rows", 1.0, {"130": found}


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


def narrow(times: Any) -> str:
    """Milliseconds of x in half precision times weights of 4 bits, and how many times as fast as cuBLAS."""
    rows = []
    for name, said in NARROW.items():
        for m in sorted(times.sizes(name)):
            ways = ("ours", "cublas", "torch_int4")
            found = [times.ms(name, m, way) if way in times.ways(name, m) else None for way in ways]
            ours, cublas, _ = found
            cells = [f"{ms:.4f}" if ms else "" for ms in found]
            rows.append([said, str(m), *cells, f"{cublas / ours:.2f}"])
    return table(["N, K", "M", "4 bits (ms)", "cuBLAS", "PyTorch's 4 bits", "over cuBLAS"], rows)


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
