"""Figures in the prose of docs/: each is computed from the results that benchmarks/ stored."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KERNELS = RESULTS / "h100" / "kernels"


def said(page):
    return " ".join((ROOT / "docs" / page).read_text().split())


def rows_of(part, folder=KERNELS):
    return json.loads((folder / f"{part}.json").read_text())


def tables(path):
    """The rows of all tables of a page of results, by their first cell."""
    found = {}
    for line in path.read_text().splitlines():
        if line.startswith("| "):
            first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(first, rest)
    return found


def spread(values, form=".2f"):
    values = [*values]
    return f"{min(values):{form}} to {max(values):{form}}"


@pytest.fixture(scope="module")
def timed():
    before = [*sys.path]
    sys.path.insert(0, str(ROOT / "benchmarks" / "gpu"))
    try:
        yield import_module("timed_tables")
    finally:
        sys.path[:] = before


def sentences(timed):
    """What docs/kernels-timed.md says, made of the times."""
    times = timed.Times()
    ms, sizes, ways = times.ms, times.sizes, times.ways
    clocks = {part: {r["size"]: r["mhz"] for r in rows_of(part)} for part in timed.PARTS}
    slow = {part for part in timed.PARTS if min(r["mhz"] for r in rows_of(part)) < 1980}
    lud = [r for r in rows_of("lud") if r["mhz"] < 1980]
    assert slow == {"lud", "triton", "gemm", "int4"} and set(clocks) >= slow
    falling = min(r["mhz"] for part in slow - {"lud"} for r in rows_of(part))
    yield (
        f"1,980 MHz, except in LUD from {min(r['size'] for r in lud)} on, which draws up to "
        f"{max(r['watt'] for r in lud)} W ({min(r['mhz'] for r in lud):,} MHz or more), and in Triton's tutorials "
        f"and the products in half precision ({falling:,} MHz or more)"
    )
    gaps = {}
    for name, n in times.experiments():
        for way in ways(name, n):
            if way.endswith("_original"):
                own = way.removesuffix("_original")
                gaps.setdefault((name, own), []).append(ms(name, n, own) / ms(name, n, way) - 1)
    far = {key: max(map(abs, found)) for key, found in gaps.items()}
    (loses,) = [key for key, gap in far.items() if gap > timed.CLOSE]
    assert loses == ("needleman_wunsch", "rodinia_16")
    yield (
        f"within {100 * timed.CLOSE:.0f} % of them; Rodinia's Needleman-Wunsch of block 16 is up to "
        f"{100 * far[loses]:.0f} % slower"
    )
    name = "transposition_shared"
    shares = [ms(name, n, "copy") / ms(name, n, "ours") for n in sizes(name)]
    yield f"reach {100 * min(shares):.0f} % of a copy or more. At 2048 the copy itself is slower"
    assert shares[0] > 1
    name, tiles = "table_v", ("naive", "coalesced", "padded", "swizzled")
    beside = {k: [ms(name, n, f"nvcc_{k}") / ms(name, n, f"mlir_{k}") - 1 for n in sizes(name)] for k in tiles}  # fmt: skip
    everywhere = max(abs(x) for found in beside.values() for x in found)
    without = max(abs(x) for k in tiles[2:] for x in beside[k])
    yield (
        f"MLIR is within {100 * everywhere:.1f} % of nvcc everywhere, and within {100 * without:.1f} % where the tile "
        f"has no bank conflicts. A pitch of 33 is as fast as the swizzle, but takes {100 * (33 / 32 - 1):.0f} % more"
    )
    assert all(ms(name, n, "nvcc_padded") <= 1.01 * ms(name, n, "nvcc_swizzled") for n in sizes(name))  # fmt: skip
    longer = [100 * (ms(name, n, "sdk_padded") / ms(name, n, "nvcc_padded") - 1) for n in sizes(name)]  # fmt: skip
    yield f"which has two steps, takes {spread(longer, '.0f')} % longer than the same tile in four"
    name, others = "needleman_wunsch", [o for o in timed.ORDERS if o != "row_major"]

    def gains(block, orders, most=1 << 20):
        for order in orders:
            for n in sizes(name):
                if n <= most:
                    yield ms(name, n, f"ours_{block}_row_major") / ms(name, n, f"ours_{block}_{order}")  # fmt: skip

    small = [100 * (gain - 1) for gain in gains(16, others, 16384)]
    yield f"In blocks of 16 a layout gains {min(small):.0f} % to {max(small):.0f} % up to 16384"
    large = [gain for block in (32, 64) for gain in gains(block, ["antidiagonals"])]
    yield (
        f"in blocks of 32 and 64 ({spread(large)}), but not in Rodinia's own blocks of 16 "
        f"({spread(gains(16, ['antidiagonals']))})"
    )
    best = {n: ms("lud", n, *ways("lud", n, "ours")) for n in sizes("lud")}
    faster = [n for n in best if ms("lud", n, "rodinia_32") < ms("lud", n, "rodinia_16")]
    assert faster == [n for n in best if n >= faster[0]]
    yield f"Rodinia's own block of 32 is faster than its 16 from {faster[0]} on"
    ahead = [best[n] / ms("lud", n, "cusolver") for n in best]
    yield f"cuSOLVER, without pivots too, is {spread(ahead, '.1f')} times as fast as our best"
    cells = {(shape, n): f"stencil_{shape}" for shape in timed.SHAPES for n in sizes(f"stencil_{shape}")}  # fmt: skip
    bricks = {key: ms(name, key[1], "ours_bricks") / ms(name, key[1], "ours_array") for key, name in cells.items()}  # fmt: skip
    assert all(bricks[key] <= 1 for key in bricks if key[0] in timed.EVEN)
    most = max(x for (shape, _), x in bricks.items() if shape == "cube_125")
    yield f"and take up to {100 * (most - 1):.0f} % longer on cube 125"
    paper = [ms(name, n, "paper_array") / ms(name, n, "paper_bricks") for (_, n), name in cells.items()]  # fmt: skip
    yield f"Its kernels, measured here, agree: {spread(paper, '.1f')}."
    hand = [ms(name, n, "paper_bricks") / ms(name, n, *ways(name, n, "row_major")) for (_, n), name in cells.items()]  # fmt: skip
    yield f"lie along x is {spread(hand, '.1f')} times as fast as the paper's bricks"

    def over(begin, few):
        name = f"{begin}_float16"
        return [ms(name, n, "ours") / ms(name, n, "torch") for n in sizes(name) if few(n)]

    products = {order: over(f"matmul_{order}", lambda n: n >= 2048) for order in ("nt", "tt")}
    little = [x for order in ("nn", "nt", "tn", "tt") for x in over(f"matmul_{order}", lambda n: n < 2048)]  # fmt: skip
    yield (
        f"cuBLAS is up to {max(map(max, products.values())):.2f} times faster in nt and tt from 2048 on, "
        f"{spread(over('grouped_gemm', lambda n: n >= 2048), '.1f')} times in grouped products from 2048 on, and up to "
        f"{max(little):.1f} times in small ones"
    )
    behind = 1 - ms("matmul_f16", 2048, "cublas") / ms("matmul_f16", 2048, "ours")
    yield f"128 tiles for 132 multiprocessors, and cuBLAS is {100 * behind:.0f} % faster"
    assert f"and cuBLAS is {100 * behind:.0f} % faster" in said("hopper.md")
    gemm = rows_of("gemm")
    assert all(r["mhz"] == 1980 for r in gemm if r["size"] < 4096)
    medians = [[*map(median, r["ms"])] for r in gemm if r["way"] == "cublas" and r["size"] == 4096]
    yield (
        f"to a mean of {min(r['mhz'] for r in gemm):,} MHz in one row. In one process cuBLAS's median at 4096 is "
        f"{max(max(found) / min(found) for found in medians):.1f} times that in another"
    )
    counted = {(r["way"], r["counter"]): (r["counted"], r["predicted"]) for r in rows_of("gemm", KERNELS.parent / "counters")}  # fmt: skip
    loads, stores, matrices = (counted["ours_mma_sync", f"shared_{k}"] for k in ("loads", "stores", "matrices"))  # fmt: skip
    assert all(found == wanted for found, wanted in (loads, stores, matrices)) and loads == stores
    yield (
        f"at 2048, {loads[0]:,} loads, as many stores and {matrices[0]:,} wavefronts of `ldmatrix` are predicted and "
        f"counted; the pipe's total is {counted['ours_mma_sync', 'pipe_shared_loads'][0]:,}, where "
        f"{loads[1] + matrices[1]:,} are predicted"
    )


def test_the_page_of_timed_kernels(timed):
    page = said("kernels-timed.md")
    assert [text for text in sentences(timed) if text not in page] == []


def test_other_pages(timed):
    times = timed.Times()
    micro = 1000 * times.ms("int4_4096_14336_f16", 1, "ours")
    product = {way: row[0] for way, row in tables(RESULTS / "h100" / "inside.md").items()}
    case = ("rows to mma c", [64, 128], 2)
    counted = [r for r in rows_of("movement", KERNELS.parent / "counters") if (r["title"], r["shape"], r["bytes"]) == case]  # fmt: skip
    ours, hand = (next(r for r in counted if r["way"] == way) for way in ("ours", "padded"))
    text = (RESULTS / "h100" / "convert" / "README.md").read_text()
    slowest = re.findall(
        r"^\| rows to mma c \| 64 x 128 \| 2 \|(?:[^|]*\|){4} (\S+) \|", text, re.M
    )
    columns = tables(RESULTS / "arrays.md")["columns"]
    walks = [row.split("|") for row in (RESULTS / "walk.md").read_text().partition("by division")[2].splitlines() if re.match(r"\| (gcc|clang) ", row)]  # fmt: skip
    least = min(float(row[4]) / float(row[2]) for row in walks)
    wanted = {
        "hopper.md": f"one row of 4096 x 14336 takes {micro:.0f} microseconds",
        "inside.md": f"takes {product['pointers']} ms by pointers and {product['pointers, masked']} under masks, "
        f"{product['masks by hand']} under masks by hand, {product['descriptors']} by the descriptors below and "
        f"{product['PyTorch']} in PyTorch",
        "movement.md": f"({slowest[0]}), has as many wavefronts as the padded exchange and fewer instructions, but "
        f"{ours['registers']} registers instead of {hand['registers']}, so that {ours['blocks'] // 132} blocks instead "
        f"of {hand['blocks'] // 132} run at a time",
        "arrays.md": f"{float(columns[2]) / float(columns[3]):.0f} times as fast as NumPy",
        "walking.md": f"at least {least:.1f} times as fast as one that divides",
    }
    count, first, again = tables(RESULTS / "inside.md")["all"]
    assert int(count) == 9
    kept = f"Nine kernels take {float(first) / 1000:.1f} s in a first run and {float(again) / 1000:.2f} s in a later one"
    assert kept in said("inside.md")
    assert {page: text for page, text in wanted.items() if text not in said(page)} == {}


def table_rows(page):
    """The rows of a page of results, by their heads; of two heads of one name the second has a space behind it."""
    lines = [line.split("|")[1:-1] for line in page.read_text().splitlines() if line[:1] == "|"]
    head, _, *rows = ([cell.strip() for cell in line] for line in lines)
    names = [name + " " * head[:k].count(name) for k, name in enumerate(head)]
    return [dict(zip(names, row, strict=True)) for row in rows]


def reached_of(rows):
    """How many figures are reached, and what in the mean, in words."""
    counted = [r["reached"] for r in rows if r["reached"]]
    mean = next(r["copy "] for r in rows if r["what"] == "geometric mean")
    return f"{counted.count('yes')} of {len(counted)} figures are reached, and {mean} percent"


def test_the_page_of_copies():
    page, rows = said("copies.md"), table_rows(RESULTS / "copy_xeon.md")
    limits = table_rows(RESULTS / "copy_limits.md")
    found = {(r["copy"], r["bytes"]): int(r["copy "]) for r in rows if r["what"] == "transposition"}
    reached = [
        spread((found[r["what"], r["bytes"]] for r in limits if r["bytes"] == size), ".0f")
        for size in "8421"
    ]
    assert (
        "transpositions there reach {} percent of its speed for elements of 8 bytes, {} for 4, {} for 2 and {} for "
        "single bytes".format(*reached)
    ) in page
    moves = spread((int(r["moves"]) for r in limits if r["bytes"] == "1"), ".0f")
    assert f"without them they reach {moves} percent" in page
    slower = [
        r["copy"]
        for r in rows
        if r["wanted"] and r["NumPy"] and int(r["NumPy"]) > 1.1 * int(r["copy "])
    ]
    faster = (
        f"NumPy is faster for {' and '.join(slower)}" if slower else "NumPy is not faster for any"
    )
    said_of = f"on a Xeon with AVX-512 {reached_of(rows)} of memcpy in the mean; {faster}."
    assert said_of in page
    rows = table_rows(RESULTS / "copy.md")
    assert f"of the destination: {reached_of(rows)} in the mean" in page
    languages = table_rows(RESULTS / "copy_languages.md")
    count = {name: value for name, value in languages[-1].items() if value}
    assert count["what"] == f"reached of {len(languages) - 1}"
    assert (
        f"Of {len(languages) - 1} figures for one thread, GCC's C reaches {count['gcc, v3']} with AVX2, Clang's "
        f"{count['clang, v3']}, and Rust {count['rustc simd, v3']} with the feature and {count['rustc, v3']} without it; of 0.8 "
        f"times those figures with SSE2 alone GCC's C reaches {count['gcc, SSE2']}, Clang's {count['clang, SSE2']}, and Rust "
        f"{count['rustc simd, SSE2']} and {count['rustc, SSE2']}"
    ) in page


def test_the_page_of_copies_without_registers():
    page, rows = said("copies.md"), table_rows(RESULTS / "copy_plain.md")
    rows = [r for r in rows if r["what"].startswith("transposition") and r["bytes"] == "4"]

    def times(*heads):
        return spread(float(r[head].split()[0]) for r in rows for head in heads)

    ways = ("gfortran -O2", "gfortran -O3 v3", "Julia", "Node")
    loops = [times(f"{way}: loop") for way in ways]
    assert (
        "a loop over both index functions takes {} times as long in Fortran at -O2, {} at -O3 with AVX2, {} in Julia and {} in "
        "JavaScript for transpositions of 4 bytes".format(*loops)
    ) in page
    own = times(*(f"{way}: transpose" for way in ways[:2])), times("Julia: permutedims!")
    assert "`transpose()` takes {} times as long, and `permutedims!` {}.".format(*own) in page
