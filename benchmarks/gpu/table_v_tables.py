"""What docs/kernels-timed.md says of nvcc and MLIR, made from benchmarks/results/h100/kernels/table_v.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from table import table

NAME = "table_v"
KINDS = {"naive": "naive", "coalesced": "rows", "padded": "pitch 33", "swizzled": "swizzled"}
SDK = ("naive", "coalesced", "padded")


def claims(times: Any) -> Iterator[tuple[str, str, float, Mapping[str, float]]]:
    """Part, what is claimed, the least, and what was found."""
    found = {
        f"{n}": times.ms(NAME, n, "nvcc_swizzled") / times.ms(NAME, n, "mlir_swizzled")
        for n in times.sizes(NAME)
    }
    yield "MLIR", "swizzled, over nvcc's with the same layouts", 0.97, found


def compilers(times: Any) -> str:
    """GB/s of each kernel by each compiler."""
    rows = []
    for n in times.sizes(NAME):
        speeds = {way: 8 * n * n / times.ms(NAME, n, way) / 1e6 for way in times.ways(NAME, n)}
        for kind, said in KINDS.items():
            nvcc, mlir = speeds[f"nvcc_{kind}"], speeds[f"mlir_{kind}"]
            sdk = f"{speeds[f'sdk_{kind}']:,.0f}" if kind in SDK else ""
            ratios = f"{mlir / nvcc:.2f}", f"{mlir / speeds['copy']:.2f}"
            rows.append([str(n), said, sdk, f"{nvcc:,.0f}", f"{mlir:,.0f}", *ratios])
    head = ["n", "tile", "SDK", "nvcc", "MLIR", "MLIR over nvcc", "over a copy"]
    return table(head, rows)
