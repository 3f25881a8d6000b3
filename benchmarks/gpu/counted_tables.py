"""Tables and a chart of docs/kernels-timed.md of what Nsight Compute counted, made from
benchmarks/results/h100/counters/*.json."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from table import table

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "h100" / "counters"
PARTS = ("transposition", "needleman_wunsch", "lud", "stencils")
# Of an H100 at 1980 MHz: 132 multiprocessors with 128 fused multiply-adds each.
MOST_GFLOPS = 132 * 128 * 2 * 1.98

Launch = tuple[str, str]  # experiment, way
Point = tuple[str, float, float]  # a name, operations a byte, GFLOP/s


class Counts:
    """The counters of each launch, and what was predicted of them."""

    def __init__(self, folder: Path = RESULTS):
        rows = [row for part in PARTS for row in json.loads((folder / f"{part}.json").read_text())]
        self.device = rows[0]["device"]
        self.counted: dict[Launch, dict[str, int]] = {}
        self.predicted: dict[Launch, dict[str, int]] = {}
        for row in rows:
            launch = row["experiment"], row["way"]
            self.counted.setdefault(launch, {})[row["counter"]] = row["counted"]
            if row["predicted"] is not None:
                self.predicted.setdefault(launch, {})[row["counter"]] = row["predicted"]

    def intensity(self, launch: Launch) -> tuple[float, float]:
        """Operations a byte of DRAM, and GFLOP/s."""
        found = self.counted[launch]
        operations = found["additions"] + found["multiplications"] + 2 * found["fused"]
        return operations / found["dram_bytes"], operations / found["nanoseconds"]


def wavefronts(counts: Counts) -> str:
    """Of shared memory, where they were predicted: by the layouts, by the instructions, and of the pipe."""
    rows = []
    for launch, predicted in counts.predicted.items():
        counted, cells = counts.counted[launch], [_said(launch)]
        if "shared_loads" not in predicted:
            continue
        for what in ("shared_loads", "shared_stores"):
            excess = counted[f"pipe_{what}"] / counted[what] - 1
            cells += [f"{predicted[what]:,}", f"{counted[what]:,}", f"{excess:+.1%}"]
        rows.append(cells)
    kinds = ["predicted", "counted", "pipe"]
    return table(["launch", *(f"{k}: {what}" for k in ("loads", "stores") for what in kinds)], rows)


def sectors(counts: Counts) -> str:
    """Of global memory, where they were predicted."""
    rows = []
    for launch, predicted in counts.predicted.items():
        if "global_loads" in predicted:
            counted, cells = counts.counted[launch], [_said(launch)]
            for what in ("global_loads", "global_stores"):
                cells += [f"{predicted[what]:,}", f"{counted[what]:,}"]
            rows.append(cells)
    names = [f"{k}: {what}" for k in ("loads", "stores") for what in ("predicted", "counted")]
    return table(["launch", *names], rows)


def rooflines(counts: Counts, copied: float) -> str:
    """GFLOP/s beside the roof: the arithmetic units', or DRAM's at a copy's GB/s."""
    rows = []
    for launch in _on_roofs(counts):
        at, speed = counts.intensity(launch)
        roof = min(MOST_GFLOPS, at * copied)
        by_l2 = counts.counted[launch]["l2_bytes"] / counts.counted[launch]["dram_bytes"]
        cells = [_said(launch), f"{at:.2f}", f"{speed:,.0f}", f"{roof:,.0f}"]
        rows.append([*cells, f"{100 * speed / roof:.0f} %", f"{by_l2:.1f}"])
    names = ["launch", "operations / byte", "GFLOP/s", "roof", "of roof", "bytes of L2 / DRAM"]
    return table(names, rows)


def chart(counts: Counts, copied: float) -> str:
    """The same as a plot with two logarithmic scales (Fig. 13)."""
    series = [("ours", "#1b7f5c", []), ("others", "#d98f4e", [])]
    for launch in _on_roofs(counts):
        series[not launch[1].startswith("ours")][2].append(
            (_said(launch), *counts.intensity(launch))
        )
    return roofs("Rooflines", counts.device, MOST_GFLOPS, copied, series)


def _on_roofs(counts: Counts) -> Iterator[Launch]:
    for experiment, way in counts.counted:
        plain = "row_major" not in way or way == "row_major_128x2x1"
        if experiment == "lud" or (experiment.startswith("stencil") and plain):
            yield experiment, way


def _said(launch: Launch) -> str:
    experiment, way = launch
    return f"{experiment.removeprefix('stencil_')}, {way}".replace("_", " ")


def roofs(
    title: str,
    subtitle: str,
    most: float,
    bandwidth: float,
    series: Sequence[tuple[str, str, Sequence[Point]]],
) -> str:
    """Points below two lines, as SVG: GFLOP/s of the units, and GB/s of memory times operations a byte."""
    left, top, wide, high = 60, 60, 600, 360
    lows, highs = (0.5, 200.0), (64.0, 100_000.0)

    def x(at: float) -> float:
        return left + wide * math.log(at / lows[0]) / math.log(lows[1] / lows[0])

    def y(speed: float) -> float:
        return top + high * (1 - math.log(speed / highs[0]) / math.log(highs[1] / highs[0]))

    corner = most / bandwidth
    line = [(lows[0], lows[0] * bandwidth), (corner, most), (lows[1], most)]
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line)
    parts = [f'<polyline points="{path}" fill="none" stroke="#555" stroke-width="1.5"/>']
    for k in range(8):
        a = 2.0**k
        parts.append(
            f'<text class="value" text-anchor="middle" x="{x(a):.1f}" y="{top + high + 14}">{a:g}</text>'
        )
    for b in (100, 1000, 10_000, 100_000):
        parts.append(
            f'<text class="value" text-anchor="end" x="{left - 6}" y="{y(b) + 3:.1f}">{b:,}</text>'
        )
        parts.append(f'<line x1="{left}" y1="{y(b):.1f}" x2="{left + wide}" y2="{y(b):.1f}"/>')
    for k, (name, color, points) in enumerate(series):
        at = left + 110 * k
        parts.append(
            f'<circle cx="{at + 5}" cy="48" r="4" fill="{color}"/><text x="{at + 14}" y="52">{name}</text>'
        )
        for said, a, b in points:
            parts.append(
                f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" fill="{color}"><title>{escape(said)}</title></circle>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 20}" height="{top + high + 44}" '
        'font-family="sans-serif" font-size="12">\n'
        "<style>.value{font-size:9px;fill:#555}line{stroke:#ddd}</style>\n"
        '<rect width="100%" height="100%" fill="#fff"/>\n'
        f'<text x="10" y="20" font-size="15">{escape(title)}</text>\n'
        f'<text x="10" y="37" fill="#555">{escape(subtitle)}</text>\n' + "\n".join(parts) + "\n"
        f'<text class="value" x="{left}" y="{top + high + 32}">operations for each byte of DRAM; upwards GFLOP/s</text>\n</svg>\n'
    )
