"""Bar charts as SVG: a group of bars for each layout, one bar for each way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from lego_emit.measure.timing import BY_HAND, NAIVE, OURS, TABLE, Timing

COLORS = {OURS: "#1b7f5c", BY_HAND: "#8fb8de", NAIVE: "#d98f4e", TABLE: "#9a8fb5"}
LABELS, WIDTH, BAR, GAP, TOP = 230, 560, 11, 16, 76

Group = tuple[str, dict[str, float]]


def bars(
    title: str,
    subtitle: str,
    groups: Sequence[Group],
    unit: str,
    logarithmic: bool,
    colors: Mapping[str, str] = COLORS,
) -> str:
    """Horizontal bars; groups: (label, {way: value}); colors: of the ways."""
    values = [v for _, ways in groups for v in ways.values() if v > 0]
    most = max(values, default=1.0)
    least = 10 ** math.floor(math.log10(min(values, default=1.0))) if logarithmic else 0.0
    most = max(10 ** math.ceil(math.log10(most)), 10 * least) if logarithmic else most * 1.05

    def length(value: float) -> float:
        if value <= 0:
            return 0.0
        if not logarithmic:
            return WIDTH * value / most
        return WIDTH * max(0.0, math.log10(value / least)) / math.log10(most / least)

    rows: list[str] = []
    y = float(TOP)
    for label, ways in groups:
        middle = y + BAR * len(ways) / 2 + 4
        rows.append(
            f'<text x="{LABELS - 10}" y="{middle:.1f}" text-anchor="end">{escape(label)}</text>'
        )
        for way, value in ways.items():
            wide = length(value)
            rows.append(
                f'<rect x="{LABELS}" y="{y:.1f}" width="{wide:.1f}" height="{BAR - 1}" '
                f'fill="{colors.get(way, "#888")}"/>'
            )
            rows.append(
                f'<text class="value" x="{LABELS + wide + 4:.1f}" y="{y + BAR - 2:.1f}">'
                f"{_number(value)}</text>"
            )
            y += BAR
        y += GAP
    names = [way for way in colors if any(way in ways for _, ways in groups)]
    key = "".join(
        f'<rect x="{LABELS + 110 * k}" y="48" width="11" height="11" fill="{colors[way]}"/>'
        f'<text x="{LABELS + 110 * k + 16}" y="58">{escape(way)}</text>'
        for k, way in enumerate(names)
    )
    ticks = _ticks(least, most, logarithmic)
    grid = "".join(
        f'<line x1="{LABELS + length(t):.1f}" y1="{TOP - 6}" x2="{LABELS + length(t):.1f}" '
        f'y2="{y - GAP + 4:.1f}"/>'
        for t in ticks
    )
    scale = "".join(
        f'<text class="value" text-anchor="middle" x="{LABELS + length(t):.1f}" y="{y + 4:.1f}">'
        f"{_number(t)}</text>"
        for t in ticks
    )
    height = y + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABELS + WIDTH + 70}" '
        f'height="{height:.0f}" font-family="sans-serif" font-size="12">\n'
        "<style>.value{font-size:9px;fill:#555}line{stroke:#ddd}</style>\n"
        '<rect width="100%" height="100%" fill="#fff"/>\n'
        f'<text x="10" y="20" font-size="15">{escape(title)}</text>\n'
        f'<text x="10" y="37" fill="#555">{escape(subtitle)}</text>\n'
        f"{key}\n{grid}\n" + "\n".join(rows) + f"\n{scale}\n"
        f'<text class="value" x="{LABELS}" y="{y + 20:.1f}">{escape(unit)}</text>\n</svg>\n'
    )


def _ticks(least: float, most: float, logarithmic: bool) -> list[float]:
    if logarithmic:
        first, last = round(math.log10(least)), round(math.log10(most))
        return [10.0**k for k in range(first, last + 1)]
    step = 10 ** math.floor(math.log10(most))
    step = next(s for s in (step / 5, step / 2, step) if most / s <= 8 or s == step)
    return [step * k for k in range(int(most / step) + 1)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def costs(timings: Sequence[tuple[str, Timing]], device: str) -> str:
    """Picoseconds for one index, by layout and function."""
    groups = [
        (f"{title}, {f}", {c.way: c.ns.median * 1e3 for c in t.costs if c.function == f})
        for title, t in timings
        for f in dict.fromkeys(c.function for c in t.costs)
    ]
    return bars("The cost of one index", device, groups, "ps for each index, logarithmic", True)


def traffic(timings: Sequence[tuple[str, Timing]], device: str) -> str:
    """The share of a copy's speed, by layout and access."""
    groups = [
        (f"{title}, {kind}", {x.way: 100 * x.share for x in t.traffic if x.kind == kind})
        for title, t in timings
        for kind in dict.fromkeys(x.kind for x in t.traffic)
    ]
    return bars(
        "Gather and scatter through the layout", device, groups, "% of the device's own copy", False
    )
