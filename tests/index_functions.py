"""Index functions with ':' axes and with divisors of either sign, and golden cases in every index
type: what a language's own tests put through its toolchain."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import programs
import pytest

from lego_emit import Col, GroupBy, OrderBy, Row, generate, golden
from lego_emit.errors import GoldenError, WidthError

ROOT = Path(__file__).parent.parent / "golden"


# -- ':' axes ------------------------------------------------------------------------------------


def tile(M, N, BM, BN, pid_m, pid_n):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]


def blocks(M, N, BM, BN, i, j):
    """The extents are quotients."""
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[:, :, i, j]


def line(N, p):
    return GroupBy([N, 7])[p, :]


def whole(N):
    return GroupBy([3, N])[:, :]


def fixed():
    return GroupBy([4, 3])[:, :]


def box(A, B, C, D, p):
    return OrderBy(Row(A, B, C, D)).GroupBy([A, B, C, D])[p, :, :, :]


def pair(A, B):
    return {"a": GroupBy([A, 4])[1, :], "b": GroupBy([B, 3])[2, :]}


ARRAYS = [
    (tile, {"M": 12, "N": 20, "BM": 3, "BN": 5}, (2, 1)),
    (blocks, {"M": 12, "N": 20, "BM": 3, "BN": 5}, (2, 4)),
    (line, {"N": 5}, (4,)),
    (whole, {"N": 6}, ()),
    (fixed, {}, ()),
    (box, {"A": 2, "B": 3, "C": 4, "D": 5}, (1,)),
    (pair, {"A": 3, "B": 5}, ()),
]


def array_units(target, index_types):
    """(unit, scalars, results): every function above with its sizes as parameters and with their
    numbers put in, in every index type and from both bases; results as NumPy has them from the
    concrete layouts."""
    units = []
    for (function, sizes, others), index_type in itertools.product(ARRAYS, index_types):
        result = function(*sizes.values(), *others)
        if isinstance(result, dict):  # each ':' is an axis of its own
            a, b = result.values()
            result = tuple(np.broadcast_arrays(a[:, None], b))
        for numbers, base in itertools.product((False, True) if sizes else (False,), (0, 1)):
            unit = generate(
                function,
                target,
                sizes=sizes if numbers else None,
                index_type=index_type,
                base=base,
            )
            given = () if numbers else tuple(sizes.values())
            counted = tuple(r + base for r in result) if type(result) is tuple else result + base
            units.append((unit, (*given, *(i + base for i in others)), counted))
    return units


def assert_arrays(toolchain, units):
    """Compile the units of array_units() together and compare every array form."""
    runs = toolchain.compile([unit for unit, _, _ in units])
    for run, (unit, scalars, result) in zip(runs, units, strict=True):
        got = run.array(unit.functions[0].name)(*scalars)
        assert np.array_equal(got, result), unit.source


# -- divisors of either sign ---------------------------------------------------------------------


def quotient(a, b):
    return a // b


def remainder(a, b):
    return a % b


def assert_floors(toolchain, index_type):
    """floor division and modulo over all four sign pairs and the ends of the width."""
    lo, hi = programs.INDEX_TYPES[index_type].ends
    ends = [lo, lo + 1, lo + 2, lo // 2, hi // 2, hi - 1, hi]
    values = [*ends, *(v for v in range(-9, 10) if v >= lo)]
    pairs = [(a, b) for a, b in itertools.product(values, repeat=2) if b]
    runs = toolchain.compile(
        [generate(f, toolchain.name, index_type=index_type) for f in (quotient, remainder)]
    )
    counted = 0
    for run, function in zip(runs, (quotient, remainder), strict=True):
        fitting = [(a, b) for a, b in pairs if lo <= function(a, b) <= hi]  # not least // -1
        counted += len(fitting)
        columns = zip(*fitting, strict=True)
        given = [np.array(column, object).astype(wide(index_type)) for column in columns]
        (called,) = run.values()  # a language may have a function of that name
        got = called(*given).astype(wide(index_type))
        wanted = np.array([function(a, b) for a, b in fitting], object).astype(wide(index_type))
        assert got.tolist() == wanted.tolist(), function.__name__
    return counted


def wide(index_type):
    """NumPy's type that holds the values; run[..] takes its bits as int64."""
    return np.uint64 if index_type in ("uint64", "usize") else np.int64


# -- the greatest values -------------------------------------------------------------------------

# Sizes whose product is one more than an index type holds.
BORDERS = {
    "int32": (2**15, 2**16),
    "uint32": (2**16, 2**16),
    "int53": (2**26, 2**27),
    "int64": (2**31, 2**32),
    "index": (2**31, 2**32),
    "uint64": (2**32, 2**32),
    "usize": (2**32, 2**32),
}


def assert_border(toolchain, index_type):
    """A layout whose positions fill the index type to its greatest value; one more is refused."""
    auto = "auto" if index_type == "int53" else index_type
    rows, columns = BORDERS[index_type]
    layout = GroupBy([rows, columns]).OrderBy(Col(rows, columns))
    run = toolchain.compile([generate(layout, toolchain.name, index_type=auto)])[0]
    rng = random.Random(1)
    points = [(0, 0), (rows - 1, columns - 1), (rows - 1, 0), (0, columns - 1)]
    points += [(rng.randrange(rows), rng.randrange(columns)) for _ in range(200)]
    flat = [layout.apply(*point) for point in points]
    assert max(flat) == rows * columns - 1
    bits = np.array(flat, object).astype(wide(index_type)).view(np.int64)
    i, j = np.array(points).T
    assert run["layout_apply"](i, j).tolist() == bits.tolist()
    assert np.array_equal(run["layout_inv"](bits), (i, j))
    with pytest.raises(WidthError):
        generate(GroupBy([rows, columns + 1]), toolchain.name, index_type=auto)


# -- golden cases --------------------------------------------------------------------------------


@cache
def golden_cases() -> list[golden.Case]:
    """All golden cases, loaded once; each text is made once."""
    found = golden.cases(ROOT)
    for case in found:
        vars(case)["emit"] = cache(case.emit)
    return found


@cache
def typed(folder: Path, index_type: str) -> golden.Case:
    """A case in an index type; every language's tests share what is lowered for it."""
    case = golden.load(folder)
    return replace(case, options=case.options.replace(index_type=index_type))


def retyped(cases, target, index_type):
    """The cases whose sizes are numbers, in an index type; how many have values that it lacks."""
    found: dict[bool, list[golden.Case]] = {False: [], True: []}
    refused = 0
    for case in cases:
        case = typed(case.folder, index_type)
        try:
            case.emit(target, bool(case.sizes))
        except GoldenError as error:
            assert isinstance(error.__cause__, WidthError), error
            refused += 1
        else:
            found[bool(case.sizes)].append(case)
    return found, refused


def assert_every_width(cases: Sequence[golden.Case], target: str, index_types: Sequence[str]):
    """Every case whose sizes are numbers, through every index type: the same table."""
    everything: dict[bool, list[golden.Case]] = {False: [], True: []}
    counts = {}
    for index_type in index_types:
        found, refused = retyped(cases, target, index_type)
        counts[index_type] = len(cases) - refused
        for numbers, those in found.items():
            everything[numbers] += those
    for numbers, those in everything.items():
        result = golden.verify(those, target, numbers)
        assert not result.mismatches, "\n".join(result.mismatches)
    return counts
