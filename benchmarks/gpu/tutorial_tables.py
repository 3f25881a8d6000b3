"""What docs/kernels-timed.md says of Triton's kernels, made from benchmarks/results/h100/kernels/triton.json."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from table import table

ROWS = {
    "softmax": "softmax",
    "layer_forward": "layer norm",
    "layer_backward": "layer norm, gradients",
}
ORDERS = ("nn", "nt", "tn", "tt")
TYPES = ("float32", "float16", "float8_e5m2")
LARGE = 2048  # products from there on are compared

Speed = Callable[[str, int, str], float]


def _cases(times: Any, begins: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The names, experiments and types that there are."""
    for begin in begins:
        for kind in TYPES:
            if times.sizes(name := f"{begin}_{kind}"):
                yield name, begin, kind


def _speed(times: Any, name: str, n: int, other: str) -> float:
    """Ours over another's."""
    return times.ms(name, n, other) / times.ms(name, n, "ours")


def claims(times: Any) -> Iterator[tuple[str, str, float, Mapping[str, float]]]:
    """Part, what is claimed, the least, and what was found."""

    def over(other: str, *begins: str, least: int = 0) -> dict[str, float]:
        return {
            f"{name.replace('_', ' ')}, {n}": _speed(times, name, n, other)
            for name, begin, kind in _cases(times, begins)
            if not begin.startswith("matmul") or kind == "float16"
            for n in times.sizes(name)
            if n >= least
        }

    part, orders = "Triton", [f"matmul_{order}" for order in ORDERS]
    for begin, least in [("softmax", 0.97), ("layer_forward", 0.97), ("layer_backward", 1.25)]:
        yield part, f"{ROWS[begin]}, over the tutorial's", least, over("tutorial", begin)
    said = "matmul of float16, from 2048 on, over the tutorial's"
    yield part, said, 0.95, over("tutorial", *orders, least=LARGE)
    yield part, f"{said} without masks", 0.97, over("tutorial_unmasked", *orders, least=LARGE)
    yield part, "grouped GEMM, over the tutorial's", 0.95, over("tutorial", "grouped_gemm")


def _filled(
    times: Any, named: Sequence[tuple[str, str, str]], sizes: Sequence[int], others: Sequence[str]
) -> list[list[str]]:
    """A row for each case: the speeds over all others at each size."""
    rows = []
    for name, said, kind in named:
        cells = [said, kind]
        for n in sizes:
            there = times.ways(name, n)
            cells.append(
                " / ".join(f"{_speed(times, name, n, way):.2f}" for way in others if way in there)
            )
        rows.append(cells)
    return rows


def rows(times: Any) -> str:
    """Of softmax and layer norm, over the tutorial's and PyTorch's."""
    named = [(name, ROWS[begin], kind) for name, begin, kind in _cases(times, [*ROWS])]
    sizes = times.sizes("softmax_float32")
    return table(
        ["kernel", "type", *map(str, sizes)],
        _filled(times, named, sizes, ["tutorial", "torch"]),
    )


def products(times: Any) -> str:
    """Over the tutorial's, the tutorial's without masks, and PyTorch's."""
    begins = [*(f"matmul_{order}" for order in ORDERS), "grouped_gemm"]
    named = [(name, begin.replace("_", " "), kind) for name, begin, kind in _cases(times, begins)]
    sizes = times.sizes("matmul_nn_float16")
    return table(
        ["kernel", "type", *map(str, sizes)],
        _filled(times, named, sizes, ["tutorial", "tutorial_unmasked", "torch"]),
    )


def teraflops(times: Any) -> str:
    """Of ours, 10^12 operations a second."""
    found = []
    begins = [*(f"matmul_{order}" for order in ORDERS), "grouped_gemm"]
    sizes = times.sizes("matmul_nn_float16")
    for name, begin, kind in _cases(times, begins):
        count = 4 if begin == "grouped_gemm" else 1
        there = times.sizes(name)
        found.append(
            [
                begin.replace("_", " "),
                kind,
                *(
                    f"{2 * count * n**3 / times.ms(name, n, 'ours') / 1e9:.0f}"
                    if n in there
                    else ""
                    for n in sizes
                ),
            ]
        )
    return table(["kernel", "type", *map(str, sizes)], found)
