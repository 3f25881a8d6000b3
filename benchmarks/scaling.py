"""How ours takes longer with more tile levels and dimensions.

scaling.py FAMILY N is one entry: it prints "ready", then the milliseconds of each run.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from threading import Timer
from time import perf_counter

from lego_emit import Col, GroupBy, Row, TileBy, symbols

COUNTS = (2, 4, 8, 16, 32, 64)
RUNS = 5


def constants(count: int) -> list[int]:
    """Sizes 2; 1 beyond the 63 bits that an index has."""
    return [2] * min(count, 62) + [1] * (count - 62)


def named(count: int) -> list:
    return [symbols(f"n{k}") for k in range(count)]


# Title -> (layout of so many sizes, the sizes).
FAMILIES = {
    "TileBy, twos": (lambda sizes: TileBy(*([n] for n in sizes)), constants),
    "TileBy, symbols": (lambda sizes: TileBy(*([n] for n in sizes)), named),
    "TileBy 2-d, twos": (
        lambda sizes: TileBy(*zip(sizes[::2], sizes[1::2], strict=True)),
        lambda count: constants(2 * count),
    ),
    "TileBy 2-d, symbols": (
        lambda sizes: TileBy(*zip(sizes[::2], sizes[1::2], strict=True)),
        lambda count: named(2 * count),
    ),
    "Row, twos": (lambda sizes: GroupBy(sizes).OrderBy(Row(sizes)), constants),
    "Row, symbols": (lambda sizes: GroupBy(sizes).OrderBy(Row(sizes)), named),
    "Col, twos": (lambda sizes: GroupBy(sizes).OrderBy(Col(sizes)), constants),
    "Col, symbols": (lambda sizes: GroupBy(sizes).OrderBy(Col(sizes)), named),
}


def measured(limit: float) -> dict[str, dict[int, float | str]]:
    """Milliseconds for each family and count, or "> 10 s" from where the limit was passed."""
    found: dict[str, dict[int, float | str]] = {}
    for family in FAMILIES:
        entries = found[family] = {}
        for count in COUNTS:
            last = next(reversed(entries.values()), 0.0)
            slow = isinstance(last, str) and last.startswith(">")
            entries[count] = last if slow else _entry(family, count, limit)
    return found


def _entry(family: str, count: int, limit: float) -> float | str:
    process = subprocess.Popen(
        [sys.executable, __file__, family, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = iter(process.stdout)
    next(lines, "")  # loaded: the clock starts
    timer = Timer(limit, process.kill)
    timer.start()
    times = [float(line) for line in lines]
    _, errors = process.communicate()
    timer.cancel()
    if times:
        return median(times)
    if process.returncode > 0:
        return (errors.strip().splitlines() or ["failed"])[-1].split(":")[0].rpartition(".")[2]
    return f"> {limit:g} s"


def main(family: str, count: int) -> None:
    from peers import ours

    make, sizes = FAMILIES[family]
    layout = make(sizes(count))
    names = [f"i{k}" for k in range(len(layout.dims))]
    lower = ours.lowering(layout, "apply", names)
    print("ready", flush=True)
    spent = 0.0
    for run in range(1 + RUNS):
        ours.forget()
        start = perf_counter()
        lower()
        taken = perf_counter() - start
        spent += taken
        if run or spent > 1:
            print(1000 * taken, flush=True)
        if spent > 1:
            return


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
