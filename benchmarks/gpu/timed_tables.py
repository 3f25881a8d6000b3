"""The tables and the charts of docs/kernels-timed.md, made from benchmarks/results/h100/kernels/*.json;
those of counters are made by counted_tables.py.

Each figure is the middle of the processes' medians. A way's speed over another's is the other's time over its own.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]

import counted_tables as counted  # noqa: E402
import gemm_tables as gemm  # noqa: E402
import table_v_tables as compiled  # noqa: E402
import tutorial_tables as tutorials  # noqa: E402
from plot import bars  # noqa: E402
from table import table  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "h100" / "kernels"
GENERATED = ROOT / "benchmarks" / "results" / "kernels" / "README.md"
PARTS = (
    "transposition",
    "needleman_wunsch",
    "lud",
    "stencils",
    "copies",
    "triton",
    "gemm",
    "int4",
    "table_v",
)
COPIES = {
    "transposed": "transposition",
    "channels_last": "NCHW to NHWC",
    "blocked": "NCHW to nChw16c",
}
# Of a device copy, by the bytes of an element.
OF_A_COPY = {8: 0.85, 4: 0.75, 2: 0.65, 1: 0.5}
BLOCKS = (16, 32, 64)
ORDERS = {
    "row_major": "row by row",
    "padded": "padded",
    "antidiagonals": "antidiagonals",
    "swizzled": "swizzled",
}
SHAPES = ("star_7", "star_13", "star_19", "star_25", "cube_27", "cube_125")
EVEN = ("star_7", "star_13", "cube_27")  # where bricks shall be no slower than the array
CLOSE = 0.02  # of a baseline to its original
# LEGO's Table V: GB/s on an A100, naive and through shared memory.
TABLE_V = {
    2048: ((212.0, 206.8), (670.0, 681.7)),
    4096: ((175.8, 178.0), (718.2, 741.2)),
    8192: ((175.4, 190.7), (735.7, 759.4)),
}


def name_of(row: Mapping[str, Any]) -> str:
    """The experiment, with the bytes of an element where it was done for several, or with the type."""
    name = row["experiment"]
    if "config" in row or row["type"] in ("f16", "bf16"):
        return f"{name}_{row['type']}"
    if not name.startswith("copy_"):
        return name
    return f"{name}_{int(row['type'].removeprefix('uint')) // 8}"


class Times:
    """Milliseconds of each way."""

    def __init__(self, folder: Path = RESULTS):
        rows = [row for part in PARTS for row in json.loads((folder / f"{part}.json").read_text())]
        self.device, self.commit = rows[0]["device"], rows[0]["commit"]
        self._ms = {
            (name_of(row), row["size"], row["way"]): median(map(median, row["ms"])) for row in rows
        }
        self._errors = {(name_of(row), row["size"], row["way"]): row["max_error"] for row in rows}

    def ms(self, experiment: str, size: int, *ways: str) -> float:
        """Of the fastest of these ways."""
        return min(self._ms[experiment, size, way] for way in ways)

    def error(self, experiment: str, size: int, way: str) -> float:
        """The largest, relative to the largest value wanted."""
        return self._errors[experiment, size, way]

    def sizes(self, experiment: str) -> list[int]:
        """In the order of the results."""
        return [*dict.fromkeys(size for name, size, _ in self._ms if name == experiment)]

    def ways(self, experiment: str, size: int, begin: str = "") -> list[str]:
        """Those that begin with a text."""
        same = [way for name, n, way in self._ms if (name, n) == (experiment, size)]
        return [way for way in same if way.startswith(begin)]

    def experiments(self) -> list[tuple[str, int]]:
        """With sizes."""
        return [*dict.fromkeys((name, size) for name, size, _ in self._ms)]


# -- what was to be reached ----------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A speed over another's that each of the figures shall have at least."""

    part: str
    said: str
    least: float
    found: Mapping[str, float]

    @property
    def is_reached(self) -> bool:
        """By all figures as they stand: nothing is rounded up."""
        return min(self.found.values()) >= self.least

    def row(self) -> list[str]:
        """Of the table."""
        missed = [f"{place}: {x:.3f}" for place, x in self.found.items() if x < self.least]
        low, high = min(self.found.values()), max(self.found.values())
        spread = f"{low:.2f}" if len(self.found) == 1 else f"{low:.2f} to {high:.2f}"
        return [
            self.part,
            self.said,
            f"{self.least:.3g}",
            spread,
            f"no ({', '.join(missed)})" if missed else "yes",
        ]


def claims(times: Times) -> Iterator[Claim]:
    """All that can be computed from the results, part by part."""
    yield from _of_transposition(times)
    yield from _of_needleman_wunsch(times)
    yield from _of_lud(times)
    yield from _of_stencils(times)
    yield from _of_copies(times)
    yield from (Claim(*one) for part in (tutorials, gemm, compiled) for one in part.claims(times))


def _of_transposition(times: Times) -> Iterator[Claim]:
    def over(kind: str, way: str, sizes: Iterable[int]) -> dict[str, float]:
        name = f"transposition_{kind}"
        return {f"{n}": times.ms(name, n, way) / times.ms(name, n, "ours") for n in sizes}

    part, sizes = "transposition", times.sizes("transposition_naive")
    yield Claim(part, "naive, over the SDK's", 0.97, over("naive", "sdk", sizes))
    few, many = sizes[:2], sizes[2:]
    yield Claim(
        part,
        "shared, over `transposeNoBankConflicts`, 2048 and 4096",
        0.99,
        over("shared", "sdk", few),
    )
    yield Claim(part, "shared, over a copy, 8192 and 16384", 0.95, over("shared", "copy", many))


def _of_needleman_wunsch(times: Times) -> Iterator[Claim]:
    part, name = "Needleman-Wunsch", "needleman_wunsch"
    sizes = times.sizes(name)

    def over(ways: Sequence[str], others: Sequence[str], few: Sequence[int]) -> dict[str, float]:
        return {f"{n}": times.ms(name, n, *others) / times.ms(name, n, *ways) for n in few}

    def ours(block: int, *orders: str) -> list[str]:
        return [f"ours_{block}_{order}" for order in orders or ORDERS]

    def original(*blocks: int) -> list[str]:
        return [f"rodinia_{block}_original" for block in blocks]

    for b in BLOCKS:
        found = over(ours(b, "row_major"), original(b), sizes)
        yield Claim(
            part, f"block {b}, row by row, over Rodinia's original of that block", 0.97, found
        )
    plain = ours(64, "row_major")
    yield Claim(
        part,
        "block 64, antidiagonals over row by row",
        1.45,
        over(ours(64, "antidiagonals"), plain, sizes),
    )
    yield Claim(
        part, "block 64, the best layout over row by row", 1.65, over(ours(64), plain, sizes)
    )
    all_of_ours = [way for b in BLOCKS for way in ours(b)]
    found = over(all_of_ours, original(*BLOCKS), [n for n in sizes if 2048 <= n <= 16384])
    yield Claim(part, "the best over Rodinia's best original, 2048 to 16384", 1.55, found)


def _of_lud(times: Times) -> Iterator[Claim]:
    for ways, said, least in [
        (("rodinia_16",), "Rodinia's block 16", {2048: 2.4, 4096: 2.5, 8192: 4, 16384: 5}),
        (
            ("rodinia_16", "rodinia_32"),
            "the better of Rodinia's 16 and 32",
            {2048: 1.3, 4096: 1.3, 8192: 2, 16384: 2},
        ),
    ]:
        for n, wanted in least.items():
            best = times.ms("lud", n, *times.ways("lud", n, "ours"))
            found = {f"{n}": times.ms("lud", n, *ways) / best}
            yield Claim("LUD", f"{n}, the best over {said}", wanted, found)


def _of_stencils(times: Times) -> Iterator[Claim]:
    sizes = times.sizes("stencil_star_7")

    def over(way: str, other: str, shapes: Iterable[str]) -> dict[str, float]:
        found = {}
        for shape in shapes:
            for n in sizes:
                name = f"stencil_{shape}"
                others = times.ways(name, n, "row_major") if other == "row_major" else [other]
                place = f"{shape.replace('_', ' ')}, {n}"
                found[place] = times.ms(name, n, *others) / times.ms(name, n, way)
        return found

    part, first, rest = "stencils", SHAPES[:1], SHAPES[1:]
    others = [shape for shape in SHAPES if shape not in EVEN]
    yield Claim(
        part,
        "bricks over the array: star 7, star 13, cube 27",
        1,
        over("ours_bricks", "ours_array", EVEN),
    )
    yield Claim(
        part, "bricks over the array: the others", 0.88, over("ours_bricks", "ours_array", others)
    )
    for layout, least in [("array", 1.2), ("bricks", 1.25)]:
        way = f"ours_{layout}"
        yield Claim(
            part,
            f"{layout} over the best kernel by hand: star 7",
            least,
            over(way, "row_major", first),
        )
        yield Claim(
            part,
            f"{layout} over the best kernel by hand: the others",
            1.35,
            over(way, "row_major", rest),
        )
    for layout in ("array", "bricks"):
        pairs = over(f"ours_{layout}_pairs", "copy", first)
        yield Claim(part, f"star 7, {layout} in pairs, over a copy", 0.9, pairs)
    pairs = over("ours_bricks_pairs", "ours_array_pairs", first)
    yield Claim(part, "bricks over the array in pairs: star 7", 1, pairs)
    pairs = over("ours_array_pairs", "row_major", first)
    yield Claim(part, "array in pairs over the best kernel by hand: star 7", 1.2, pairs)
    found = over("ours_bricks", "ours_bricks_symbolic", SHAPES[-1:])
    yield Claim(part, "cube 125, bricks, N a number over N a symbol", 1 / 1.05, found)


def _of_copies(times: Times) -> Iterator[Claim]:
    def over(other: str, element: int) -> dict[str, float]:
        return {
            f"{said}, {n}": times.ms(name, n, other) / times.ms(name, n, "ours")
            for case, said in COPIES.items()
            for name in [f"copy_{case}_{element}"]
            for n in times.sizes(name)
        }

    for element, least in OF_A_COPY.items():
        said = f"elements of {element} byte{'s' * (element > 1)}"
        yield Claim("copies", f"{said}, over a device copy", least, over("copy", element))
        yield Claim("copies", f"{said}, over PyTorch's `copy_`", 1, over("torch", element))


# -- tables --------------------------------------------------------------------------------------


def reached(times: Times) -> str:
    """What was to be reached, and what was."""
    header = ["part", "speed", "at least", "found", "reached"]
    return table(header, [claim.row() for claim in claims(times)])


def originals(times: Times) -> str:
    """The baselines beside what they are written after."""
    found: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for name, n in times.experiments():
        for way in times.ways(name, n):
            if way.endswith("_original"):
                own = way.removesuffix("_original")
                gap = times.ms(name, n, own) / times.ms(name, n, way) - 1
                found.setdefault((name.replace("_", " "), own.replace("_", " ")), []).append(
                    (gap, n)
                )
    rows = []
    for (name, way), gaps in found.items():
        low, high = min(gaps)[0], max(gaps)[0]
        far = [str(n) for gap, n in gaps if abs(gap) > CLOSE]
        rows.append(
            [name, way, f"{low:+.1%} to {high:+.1%}", f"no ({', '.join(far)})" if far else "yes"]
        )
    return table(["experiment", "baseline", "time beside the original's", "within 2 %"], rows)


def transposition(times: Times) -> str:
    """GB/s."""
    rows = []
    for n in times.sizes("transposition_naive"):
        cells = [f"{n}"]
        for kind, ways in [
            ("naive", ("sdk", "ours")),
            ("shared", ("sdk_coalesced", "sdk", "ours", "copy")),
        ]:
            name = f"transposition_{kind}"
            cells += [f"{8 * n * n / times.ms(name, n, way) / 1e6:,.0f}" for way in ways]
        rows.append(cells)
    names = ["n", "naive: SDK", "ours", "shared: `Coalesced`", "`NoBankConflicts`", "ours", "copy"]
    return table(names, rows)


def table_v(times: Times) -> str:
    """GB/s, and the paper's."""
    rows = []
    for n, kinds in TABLE_V.items():
        cells = [f"{n}"]
        for kind, way, (sdk, lego) in zip(
            ("naive", "shared"), ("sdk", "sdk_coalesced"), kinds, strict=True
        ):
            name = f"transposition_{kind}"
            ratio = times.ms(name, n, way) / times.ms(name, n, "ours")
            cells += [f"{sdk:.1f}", f"{lego:.1f}", f"{lego / sdk:.2f}", f"{ratio:.2f}"]
        rows.append(cells)
    kind = ["SDK", "LEGO", "LEGO / SDK", "ours / SDK"]
    return table(["n", *(f"naive: {kind[0]}", *kind[1:]), *(f"shared: {kind[0]}", *kind[1:])], rows)


def needleman_wunsch(times: Times) -> str:
    """Milliseconds."""
    name = "needleman_wunsch"
    sizes = times.sizes(name)
    ways = [
        (f"ours, {b}, {said}", f"ours_{b}_{order}")
        for b in BLOCKS
        for order, said in ORDERS.items()
    ]
    ways += [(f"Rodinia, {b}", f"rodinia_{b}_original") for b in BLOCKS]
    rows = [[said, *(_ms(times.ms(name, n, way)) for n in sizes)] for said, way in ways]
    return table(["ms", *map(str, sizes)], rows)


def layouts_of_scores(times: Times) -> str:
    """The speed of each layout over row by row, in the same block."""
    name = "needleman_wunsch"
    sizes, rows = times.sizes(name), []
    for b in BLOCKS:
        for order, said in [*ORDERS.items()][1:]:
            ratios = (
                times.ms(name, n, f"ours_{b}_row_major") / times.ms(name, n, f"ours_{b}_{order}")
                for n in sizes
            )
            rows.append([f"{b}, {said}", *(f"{x:.2f}" for x in ratios)])
    return table(["block", *map(str, sizes)], rows)


def lud(times: Times) -> str:
    """Milliseconds, and speeds."""
    sizes = times.sizes("lud")
    ways = [
        (f"ours, {way[5:].replace('_', '/')}", way) for way in times.ways("lud", sizes[0], "ours")
    ]
    ways += [(f"Rodinia, {b}", f"rodinia_{b}") for b in BLOCKS[:2]]
    ways.append(("cuSOLVER", "cusolver"))
    rows = [[said, *(_ms(times.ms("lud", n, way)) for n in sizes)] for said, way in ways]
    for said, others in [
        ("Rodinia's 16", ["rodinia_16"]),
        ("Rodinia's better of 16 and 32", ["rodinia_16", "rodinia_32"]),
        ("cuSOLVER's", ["cusolver"]),
    ]:
        cells = [f"our best over {said}"]
        for n in sizes:
            cells.append(
                f"{times.ms('lud', n, *others) / times.ms('lud', n, *times.ways('lud', n, 'ours')):.2f}"
            )
        rows.append(cells)
    return table(["ms", *map(str, sizes)], rows)


def stencils(times: Times) -> str:
    """Milliseconds, and the share of a copy's speed."""
    rows = []
    for shape in SHAPES:
        name = f"stencil_{shape}"
        for n in times.sizes(name):
            hand, copy = (
                times.ms(name, n, *times.ways(name, n, "row_major")),
                times.ms(name, n, "copy"),
            )
            array, bricks = (times.ms(name, n, f"ours_{layout}") for layout in ("array", "bricks"))
            figures = (copy, hand, array, bricks)
            cells = [shape.replace("_", " "), f"{n}", *map(_ms, figures)]
            cells += [f"{100 * copy / x:.0f} %" for x in (array, bricks)]
            rows.append([*cells, f"{hand / array:.2f}", f"{hand / bricks:.2f}"])
    names = [
        "stencil",
        "n",
        "copy",
        "by hand",
        "array",
        "bricks",
        "array: of copy",
        "bricks: of copy",
    ]
    return table([*names, "array / by hand", "bricks / by hand"], rows)


def pairs(times: Times) -> str:
    """Two columns a thread: milliseconds, the share of a copy's speed, and the speed over one column."""
    rows = []
    for shape in (shape for shape in SHAPES if shape.startswith("star")):
        name = f"stencil_{shape}"
        for n in times.sizes(name):
            copy, cells = times.ms(name, n, "copy"), [shape.replace("_", " "), f"{n}"]
            for layout in ("array", "bricks"):
                one, two = (times.ms(name, n, f"ours_{layout}{end}") for end in ("", "_pairs"))
                cells += [_ms(two), f"{100 * copy / two:.0f} %", f"{one / two:.2f}"]
            rows.append(cells)
    kinds = ["{}", "{}: of copy", "{}: over one column"]
    names = [kind.format(layout) for layout in ("array", "bricks") for kind in kinds]
    return table(["stencil", "n", *names], rows)


def _copied(times: Times) -> float:
    """GB/s of a copy of the stencils' 512^3 cells without their halo."""
    return 8 * (512 - 16) ** 3 / times.ms("stencil_star_7", 512, "copy") / 1e6


def papers_stencils(times: Times) -> str:
    """What the paper compares, beside what it does not."""
    rows = []
    for shape in SHAPES:
        name = f"stencil_{shape}"
        for n in times.sizes(name):
            array, bricks = (times.ms(name, n, f"paper_{layout}") for layout in ("array", "bricks"))
            hand = times.ms(name, n, *times.ways(name, n, "row_major"))
            ours = times.ms(name, n, *times.ways(name, n, "ours"))
            cells = [shape.replace("_", " "), f"{n}", *map(_ms, (array, bricks, hand, ours))]
            rows.append([*cells, f"{array / bricks:.2f}", f"{hand / bricks:.2f}"])
    names = ["stencil", "n", "paper's array", "paper's bricks", "by hand", "our best"]
    return table([*names, "bricks / array", "bricks / by hand"], rows)


def numbers(times: Times) -> str:
    """The time with N as a number over that with N as a symbol."""
    rows = []
    for shape in SHAPES:
        name = f"stencil_{shape}"
        cells = [shape.replace("_", " ")]
        for layout in ("array", "bricks"):
            for n in times.sizes(name):
                way = f"ours_{layout}"
                cells.append(f"{times.ms(name, n, way) / times.ms(name, n, f'{way}_symbolic'):.2f}")
        rows.append(cells)
    sizes = times.sizes("stencil_star_7")
    return table(
        ["stencil", *(f"{layout}, {n}" for layout in ("array", "bricks") for n in sizes)], rows
    )


def copies(times: Times) -> str:
    """Per cent of a device copy."""
    rows = []
    for case, said in COPIES.items():
        for element in OF_A_COPY:
            name = f"copy_{case}_{element}"
            cells = [said, f"{element}"]
            for way in ("ours", "torch"):
                for n in times.sizes(name):
                    cells.append(f"{100 * times.ms(name, n, 'copy') / times.ms(name, n, way):.0f}")
            rows.append(cells)
    sizes = times.sizes("copy_transposed_4")
    names = [f"{who}, {n}" for who in ("emitted", "PyTorch") for n in sizes]
    return table(["copy", "bytes", *names], rows)


def _ms(x: float) -> str:
    return (
        f"{x:,.0f}"
        if x >= 1000
        else f"{x:.3g}"
        if x >= 100
        else f"{x:.2f}"
        if x >= 10
        else f"{x:.3f}"
    )


def _generated(section: str) -> str:
    """A table of the kernels' own README."""
    text = GENERATED.read_text()
    found = re.search(rf"^## {section}\n.*?\n\n((?:\|[^\n]*\n)+)", text, re.M | re.S)
    assert found, f"{GENERATED} has no table of {section}"
    return found[1].rstrip("\n")


TABLES: dict[str, Callable[[Times], str]] = {
    "reached": reached,
    "originals": originals,
    "transposition": transposition,
    "table V": table_v,
    "compilers": compiled.compilers,
    "needleman_wunsch": needleman_wunsch,
    "layouts": layouts_of_scores,
    "lud": lud,
    "stencils": stencils,
    "pairs": pairs,
    "papers stencils": papers_stencils,
    "numbers": numbers,
    "copies": copies,
    "gemm": gemm.products,
    "int4": gemm.narrow,
    "triton rows": tutorials.rows,
    "triton products": tutorials.products,
    "triton teraflops": tutorials.teraflops,
    "wavefronts": lambda _: counted.wavefronts(counted.Counts()),
    "sectors": lambda _: counted.sectors(counted.Counts()),
    "rooflines": lambda times: counted.rooflines(counted.Counts(), _copied(times)),
    "operations": lambda _: _generated("Operations"),
    "generation": lambda _: _generated("Generation"),
}


def filled(page: str, times: Times) -> str:
    """A page in which each table after <!-- table: NAME --> is made anew."""

    def anew(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n{TABLES[found[1]](times)}\n"

    return re.sub(r"^<!-- table: ([^\n]*) -->\n(?:\|[^\n]*\n)*", anew, page, flags=re.M)


# -- charts --------------------------------------------------------------------------------------

OURS, SECOND, HAND, COPY, PAPER = "#1b7f5c", "#74b99b", "#d98f4e", "#9a8fb5", "#8fb8de"


def chart_transposition(times: Times) -> str:
    """GB/s of each way."""
    ways = {"copy": COPY, "ours": OURS, "no conflicts": HAND, "coalesced": PAPER}
    names = dict(zip(ways, ("copy", "ours", "sdk", "sdk_coalesced"), strict=True))
    name = "transposition_shared"
    groups = [
        (
            f"{n} x {n}",
            {said: 8 * n * n / times.ms(name, n, way) / 1e6 for said, way in names.items()},
        )
        for n in times.sizes(name)
    ]
    return bars(
        "Transposition through shared memory",
        times.device,
        groups,
        "GB/s, read and written",
        False,
        ways,
    )


def chart_needleman_wunsch(times: Times) -> str:
    """The speed over Rodinia's original of block 16."""
    name = "needleman_wunsch"
    ways = {"padded": OURS, "swizzled": SECOND, "antidiagonals": HAND, "row by row": PAPER}
    orders = {said: order for order, said in ORDERS.items()}
    groups = [
        (
            f"{n}, block {b}",
            {
                said: times.ms(name, n, "rodinia_16_original")
                / times.ms(name, n, f"ours_{b}_{orders[said]}")
                for said in ways
            },
        )
        for n in (2048, 8192, 32768)
        for b in BLOCKS
    ]
    unit = "speed over Rodinia's original of block 16"
    return bars(
        "Needleman-Wunsch: the layout of the scores", times.device, groups, unit, False, ways
    )


def chart_lud(times: Times) -> str:
    """The speed over Rodinia's block of 16."""
    ways = {"ours 64/4": OURS, "ours 64/8": SECOND, "ours 32/2": HAND, "Rodinia 32": PAPER}
    names = dict(zip(ways, ("ours_64_4", "ours_64_8", "ours_32_2", "rodinia_32"), strict=True))
    groups = [
        (
            f"{n} x {n}",
            {
                said: times.ms("lud", n, "rodinia_16") / times.ms("lud", n, way)
                for said, way in names.items()
            },
        )
        for n in times.sizes("lud")
    ]
    return bars(
        "LU decomposition", times.device, groups, "speed over Rodinia's block 16", False, ways
    )


def chart_stencils(times: Times) -> str:
    """The share of a copy's speed."""
    ways = {
        "bricks": OURS,
        "array": SECOND,
        "by hand": HAND,
        "paper's bricks": PAPER,
        "paper's array": COPY,
    }
    groups = []
    for shape in SHAPES:
        name, n = f"stencil_{shape}", 512
        names = (
            ["ours_bricks"],
            ["ours_array"],
            times.ways(name, n, "row_major"),
            ["paper_bricks"],
            ["paper_array"],
        )
        found = {
            said: 100 * times.ms(name, n, "copy") / times.ms(name, n, *some)
            for said, some in zip(ways, names, strict=True)
        }
        groups.append((shape.replace("_", " "), found))
    unit = "% of the speed of a copy of the same cells"
    return bars("Stencils, 512 x 512 x 512", times.device, groups, unit, False, ways)


CHARTS: dict[str, Callable[[Times], str]] = {
    "transposition": chart_transposition,
    "needleman_wunsch": chart_needleman_wunsch,
    "lud": chart_lud,
    "stencils": chart_stencils,
    "gemm": gemm.chart,
    "rooflines": lambda times: counted.chart(counted.Counts(), _copied(times)),
}
