"""generate(): the README's example, what a function may return, parameters, assumptions, widths,
and that the same text comes out everywhere."""

import copy
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import sympy
from net.machine import assert_sound
from net.points import holds
from net.words import indices

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    LegoError,
    LegoWarning,
    OrderBy,
    RegP,
    Row,
    TileBy,
    generate,
    symbols,
)
from lego_emit.algebra import reference
from lego_emit.errors import (
    IndexRangeError,
    LayoutError,
    TargetError,
    TraceError,
    WidthError,
)


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    offset = L[pid_m, pid_n, :, :]  # noqa: F821
    return offset


def function(fn, target="cpp", **options):
    (found,) = generate(fn, target, **options).functions
    return found


def names(found):
    return [p.name for p in found.params]


def test_a_function_is_shown_in_a_line():
    unit = generate(lambda M, N, x: {"row": GroupBy([M, N])[x, 2] // N, "x": x}, "cpp", name="f")
    assert [repr(f) for f in unit.functions] == [
        "<Function f(M, N, x) -> row, x: int64, 2 operations>"
    ]
    assert repr(unit.functions[0].params[2]) == "<Param 0 <= x < M>"
    (inv,) = generate(GroupBy([4, 6]), "cpp").functions[1:]
    assert repr(inv) == "<Function layout_inv(flat) -> i, j: int32, 2 operations>"
    assert repr(generate(lambda x: x + 1, "cpp").functions[0].params) == "(<Param x>,)"


@pytest.mark.parametrize(
    "assume, left, index_type",
    [
        (["M*N < 2**31"], (), "int32"),
        (["M*N <= 2**31"], (), "int64"),
        (["M*N <= 2**63 - 1"], (), "int64"),
        (["M*N < 2**64"], ("M*N <= 2**63 - 1",), "int64"),
    ],
)
def test_a_precondition_of_the_width_that_is_assumed_stands_once(assume, left, index_type):
    M, N = symbols("M N")
    apply, inv = generate(GroupBy([M, N]), "cpp", assume=assume).functions
    assert apply.assumptions == (*dict.fromkeys([*assume, *left]),)
    assert inv.assumptions == (*assume,)  # it only divides a position, which fits
    assert apply.index_type == inv.index_type == index_type


# -- the README's example ------------------------------------------------------------------------


def test_the_readme_example(target):
    unit = generate(index_kernel, target=target)
    found = unit.program.functions[0]
    assert len(unit.functions) == 1
    assert len(found.params) == 8
    given = dict(found.renamed)
    assert [given.get(n, n) for n in ("M", "N", "BM", "BN", "pid_m", "pid_n", "i", "j")] == names(
        found
    )
    assert found.op_count <= 7
    narrow = ["cuda", "glsl", "hip", "metal", "opencl", "triton", "wgsl"]
    limit = {**dict.fromkeys(narrow, 31), "javascript": 53}.get(target, 63)
    word = {v: k for k, v in given.items()}
    said = [re.sub(r"\w+", lambda m: word.get(m.group(), m.group()), a) for a in found.assumptions]
    needed = [f"M*N <= 2**{limit} - 1"] if target != "python" else []
    assert said == ["M % BM == 0", "N % BN == 0", *needed]
    types = {**dict.fromkeys(narrow, "int32"), "javascript": "int53", "python": "int"}
    assert found.index_type == types.get(target, "int64")
    assert str(unit) == unit.source
    assert unit.source.endswith("\n") and "\r" not in unit.source
    for param in found.params:
        assert param.name in unit.source


def test_the_readme_example_says_its_ranges():
    assert function(index_kernel).ranges == {
        "M": "M >= 1",
        "N": "N >= 1",
        "BM": "BM >= 1",
        "BN": "BN >= 1",
        "pid_m": "0 <= pid_m < M // BM",
        "pid_n": "0 <= pid_n < N // BN",
        "i": "0 <= i < BM",
        "j": "0 <= j < BN",
    }
    assert function(index_kernel).result_range == "0 <= the result < M*N"
    assert [p.name for p in function(index_kernel).params if p.axis] == ["i", "j"]


@pytest.mark.parametrize("given", [(4, 6, 2, 3), (6, 4, 3, 1), (8, 8, 8, 2), (5, 7, 5, 7)])
@pytest.mark.quick(8)
def test_the_readme_example_is_right(given, target):
    found = function(index_kernel, target)
    m, n, bm, bn = given
    for p, q, i, j in indices((m // bm, n // bn, bm, bn)):
        point = (*given, p, q, i, j)
        values = dict(zip(names(found), point, strict=True))
        assert list(found.evaluate(values).values()) == [n * (bm * p + i) + bn * q + j]
        assert_sound(found, values)


SIZES = {"BM": 128, "BN": 64}
SMALL = ["M < 2**20", "N < 2**20"]


@pytest.mark.parametrize(
    ("sizes", "assume"),
    [
        (SIZES, []),
        (SIZES, SMALL),
        ({}, SMALL),
        ({}, [*SMALL, "BM <= 128", "BN <= 128"]),
        ({}, ["M % BM == 0", "N % BN == 0"]),
        ({"M": 1024, "N": 512}, ["BM <= 1024"]),
        ({**SIZES, "M": 1024, "N": 512}, []),
    ],
)
@pytest.mark.quick(4)
def test_more_knowledge_never_costs_operations(sizes, assume):
    found = function(index_kernel, sizes=sizes, assume=assume)
    assert found.op_count <= 6
    assert names(found) == [n for n in names(function(index_kernel)) if n not in sizes]
    m, n, bm, bn = (sizes.get(k, v) for k, v in (("M", 1024), ("N", 512), ("BM", 128), ("BN", 64)))
    values = {"M": m, "N": n, "BM": bm, "BN": bn, "pid_m": 3, "pid_n": 2, "i": 100, "j": 63}
    given = {k: v for k, v in values.items() if k not in sizes}
    assert holds(found.assumptions, values)
    assert found.evaluate(given)["result"] == n * (bm * 3 + 100) + bn * 2 + 63


def test_bounded_sizes_that_divide_choose_a_width():
    """M, N < 2**15: every value is below 2**30, and nothing is left to assume of widths."""
    found = function(index_kernel, assume=["M < 2**15", "N < 2**15"])
    assert found.index_type == "int32"
    assert not any("2**" in a for a in found.assumptions if "<=" in a)


def test_save_is_atomic_and_leaves_an_unchanged_file_alone(tmp_path):
    unit = generate(index_kernel, target="cuda")
    path = tmp_path / "index.cuh"
    assert unit.save(path) is True
    assert path.read_bytes() == unit.source.encode()
    os.utime(path, (1, 1))
    assert unit.save(str(path)) is False
    assert path.stat().st_mtime == 1
    path.write_text("changed")
    assert unit.save(path) is True
    assert [p.name for p in tmp_path.iterdir()] == ["index.cuh"]


def test_a_failed_save_leaves_nothing(tmp_path):
    unit = generate(index_kernel, target="cuda")
    with pytest.raises(LegoError, match="no_such_folder"):
        unit.save(tmp_path / "no_such_folder" / "index.cuh")
    (tmp_path / "folder").mkdir()
    with pytest.raises(LegoError, match="folder"):
        unit.save(tmp_path / "folder")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]
    assert list((tmp_path / "folder").iterdir()) == []


# -- what a function returns ---------------------------------------------------------------------


def test_one_index():
    def one(i, j):
        return GroupBy([4, 6]).OrderBy(Col(4, 6))[i, j]

    found = function(one)
    assert [n for n, _ in found.outputs] == ["result"]
    assert names(found) == ["i", "j"]
    assert all(
        found.evaluate({"i": i, "j": j}) == {"result": 4 * j + i} for i, j in indices((4, 6))
    )


def test_a_tuple_and_a_list():
    def pair(flat):
        return GroupBy([4, 6]).inv(flat)

    found = function(pair)
    assert [n for n, _ in found.outputs] == ["out0", "out1"]
    assert found.evaluate({"flat": 23}) == {"out0": 3, "out1": 5}
    assert function(lambda i: [i, i + 1], assume=["0 <= i < 9"]).evaluate({"i": 4}) == {
        "out0": 4,
        "out1": 5,
    }


def test_a_dict_keeps_its_names_and_their_order():
    def both(i, j):
        return {"column": j, "at": GroupBy([4, 6])[i, j]}

    found = function(both)
    assert [n for n, _ in found.outputs] == ["column", "at"]
    assert found.evaluate({"i": 2, "j": 5}) == {"column": 5, "at": 17}


def test_results_named_as_parameters(target):
    unit = generate(lambda i: {"i": i + 1, "result": i}, target, assume=["0 <= i < 9"])
    (found,) = unit.functions
    assert list(found.evaluate({names(found)[0]: 4}).values()) == [5, 4]


def test_a_function_that_returns_a_layout():
    def tile(M, N):
        return GroupBy([M, N]).OrderBy(Col(M, N))

    forward, back = generate(tile, "cpp").functions
    assert (forward.name, back.name) == ("tile_apply", "tile_inv")
    assert names(forward) == ["M", "N", "i", "j"] and names(back) == ["M", "N", "flat"]
    assert [n for n, _ in forward.outputs] == ["flat"]
    assert [n for n, _ in back.outputs] == ["i", "j"]
    assert forward.evaluate({"M": 4, "N": 6, "i": 3, "j": 2}) == {"flat": 11}
    assert back.evaluate({"M": 4, "N": 6, "flat": 11}) == {"i": 3, "j": 2}


def test_a_layout_and_its_name():
    layout = TileBy([2, 3], [4, 5]).OrderBy(RegP([8, 15], [1, 0]))
    assert [f.name for f in generate(layout, "cpp").functions] == ["layout_apply", "layout_inv"]
    unit = generate(layout, "cpp", name="bricks")
    assert [f.name for f in unit.functions] == ["bricks_apply", "bricks_inv"]
    table = reference.table(layout)
    forward = unit.functions[0]
    for place, index in enumerate(indices(layout.dims)):
        values = dict(zip(names(forward), index, strict=True))
        assert forward.evaluate(values) == {"flat": table[place]}


def test_a_layout_without_inverse_gives_apply_only():
    def column(i, j):
        return j

    found = function(GroupBy([4, 6]).OrderBy(GenP([4, 6], column)))
    assert found.name == "layout_apply"
    assert found.evaluate({"i": 3, "j": 5}) == {"flat": 5}


def test_masked_positions_give_minus_one():
    layout = ExpandBy([5, 7], [6, 8], TileBy([3, 2], [2, 4]))
    forward, back = generate(layout, "cpp").functions
    for index in indices(layout.dims):
        values = dict(zip(names(forward), index, strict=True))
        assert forward.evaluate(values)["flat"] == layout.apply(*index)
    for flat in range(35):
        assert tuple(back.evaluate({"flat": flat}).values()) == layout.inv(flat)


@pytest.mark.parametrize("make", [symbols, lambda text: sympy.symbols(text, integer=True)])
def test_layouts_over_symbols(make):
    m, n = make("M N")
    forward, back = generate(GroupBy([m, n]).OrderBy(Col(m, n)), "cpp").functions
    assert names(forward) == ["M", "N", "i", "j"] and names(back) == ["M", "N", "flat"]
    assert forward.evaluate({"M": 4, "N": 6, "i": 3, "j": 2}) == {"flat": 11}
    assert forward.op_count == 2 and back.op_count == 2


def test_both_spellings_give_the_same_text(target):
    def logical_first(M, N):
        return GroupBy([M, N]).OrderBy(Row(M, N)).OrderBy(Col(M, N))

    def physical_first(M, N):
        return OrderBy(Col(M, N)).OrderBy(Row(M, N)).GroupBy([M, N])

    def tiled(M, N, BM, BN):
        return TileBy((M // BM, N // BN), (BM, BN)).OrderBy(Col(M, N))[p, q, :, :]  # noqa: F821

    def tiled_physical_first(M, N, BM, BN):
        return OrderBy(Col(M, N)).TileBy([M // BM, N // BN], [BM, BN])[p, q, :, :]  # noqa: F821

    for one, other in ((logical_first, physical_first), (tiled, tiled_physical_first)):
        texts = {generate(fn, target, name="same").source for fn in (one, other)}
        texts = {re.sub(r"(logical|physical)_first", "same", t) for t in texts}
        assert len(texts) == 1


# -- parameters ----------------------------------------------------------------------------------


def test_undefined_names_become_parameters_in_the_order_of_first_use():
    def free(M):
        first = GroupBy([M, 6])[zeta, alpha]  # noqa: F821
        return first + sum(beta for _ in range(2)) + alpha  # noqa: F821

    found = function(free)
    assert names(found) == ["M", "zeta", "alpha", "beta"]
    assert found.evaluate({"M": 4, "zeta": 1, "alpha": 2, "beta": 15}) == {"result": 40}


def test_names_that_somebody_defined_are_not_parameters():
    assert names(function(lambda i: i + SOME_GLOBAL + len("ab"), assume=["0 <= i < 9"])) == ["i"]


SOME_GLOBAL = 40
row, bm, HALO, lane = 2, 4, 1, np.int64(3)


def told(fn, **options):
    """What generate() warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        generate(fn, "cpp", **options)
    assert all(w.category is LegoWarning and w.filename == __file__ for w in found)
    return [str(w.message) for w in found]


def free(M, N, p):
    return GroupBy([M, N])[p, q]  # noqa: F821


def two():
    return GroupBy([4, 6])[zeta, alpha]  # noqa: F821


def slip(M, N, pid_m, pid_n):
    return GroupBy([M, N])[pid_m, pdi_n]  # noqa: F821


def captured(M, N, q):
    return GroupBy([M, N])[row, q]


def captured_position(M):
    return GroupBy([M, 4]).inv(row)


def around(row):
    def inner(M, N, q):
        return GroupBy([M, N]).apply(row, q)

    return inner


DOUBTS = {
    "a free name": (free, ["free: nobody defined q", "write it in", "def free(M, N, p, q)"]),
    "two": (two, ["two: nobody defined zeta, alpha", "parameters", "def two(zeta, alpha)"]),
    "a slip": (slip, ["slip: nobody defined pdi_n", "Did you mean 'pid_n'?"]),
    "a global": (
        captured,
        ["captured: row is 2", "as index 0;", "def captured(M, N, q, row)"],
    ),
    "a global position": (captured_position, ["row is 2", "as the position"]),
    "a closure": (around(1), ["inner: row is 1", "index 0", "def inner(M, N, q, row)"]),
    "a NumPy integer": (lambda M: GroupBy([M, 4])[:, lane], ["lane is 3", "index 1"]),
}  # fmt: skip


@pytest.mark.parametrize("case", DOUBTS)
def test_what_may_not_be_meant_is_told(case):
    fn, parts = DOUBTS[case]
    (text,) = told(fn)
    for part in parts:
        assert part in text
    assert len(text) < 300
    with pytest.raises(TraceError) as refused:
        generate(fn, "cpp", strict=True)
    assert str(refused.value) == text


def sized(M, N, p, q):
    return TileBy([M // bm, N // bm], [bm, bm])[p, q, p % bm, 0]


def counting():
    calls = 0

    def counted(M, p):
        nonlocal calls
        calls += 1
        return GroupBy([M, 99])[p, calls]

    return counted


@pytest.mark.parametrize(
    ("fn", "options"),
    [
        (lambda M, N, i, j: GroupBy([M, N])[i, j], {}),
        (lambda M, N: GroupBy([M, N])[:, :], {}),
        (lambda M, N, p: GroupBy([M, N])[p, HALO], {}),
        (lambda M, N, p: GroupBy([M, N])[p, 2], {}),
        (lambda M, N, p: GroupBy([M, N])[p, int(row)], {}),
        (lambda M, N, p: GroupBy([M, N])[p, q], {"sizes": {"q": 3}}),  # noqa: F821
        (lambda M, N, p, row=3: GroupBy([M, N])[p, row], {}),
        (lambda M, N, p: sum(GroupBy([M, N])[p, k] for k in range(row)), {}),
        (lambda M: GroupBy([M, symbols("N")])[symbols("i"), symbols("j")], {}),
        (GroupBy([symbols("M"), 4]), {}),
        (sized, {}),
    ],
)
@pytest.mark.quick(4)
def test_what_is_meant_is_not_told(fn, options):
    """Sizes, constants in capitals, numbers, parameters that are fixed, symbols."""
    assert told(fn, **options) == []
    generate(fn, "cpp", strict=True, **options)


five, offsets = 5, [0, 4, 8]


def by_type(i):
    return i * 2 if type(five) is int else i * 3


def by_type_in_a_dict(i):
    return i * {int: 2}.get(type(five), 3)


def test_a_variable_around_the_function_is_what_it_is():
    for fn in (by_type, by_type_in_a_dict):
        assert generate(fn, "cpp").functions[0].evaluate({"i": 7}) == {"result": 14}
    seen = []
    generate(lambda M: seen.append(row) or GroupBy([M, 4])[row, 0], "cpp")
    assert all(value is row for value in seen)
    assert told(lambda x: x + offsets[row]) == []  # no layout


@pytest.mark.parametrize("base", [0, 1])
def test_a_function_gives_the_same_every_time(base):
    with pytest.raises(TraceError, match="the same for the same arguments every time"):
        generate(counting(), "cpp", base=base)


def test_a_name_in_the_signature_changes_no_code(target):
    def signed(M, N, p, q):
        return GroupBy([M, N])[p, q]

    sources = [generate(fn, target, name="same").source for fn in (free, signed)]
    assert sources[0].replace("same(M, N, p)", "same(M, N, p, q)") == sources[1]
    assert (
        generate(captured, target, name="same").functions
        == generate(lambda M, N, q: GroupBy([M, N])[2, q], target, name="same").functions
    )


def test_defaults_are_values_and_sizes_replace_them():
    def tile(M, N=4):
        return GroupBy([M, N])[p, q]  # noqa: F821

    assert names(function(tile)) == ["M", "p", "q"]
    assert function(tile).evaluate({"M": 9, "p": 2, "q": 3}) == {"result": 11}
    assert function(tile, sizes={"N": 8}).evaluate({"M": 9, "p": 2, "q": 3}) == {"result": 19}


def test_parameters_with_names_that_the_tracer_uses():
    def f(i, *, name, function):
        return GroupBy([name, function])[i, 3]

    unit = generate(f, "python", sizes={"name": 6, "function": 4})
    assert unit.lowered.functions[0].evaluate({"i": 2}) == {"result": 11}


def test_a_copy_of_a_unit_is_the_unit_and_a_pickle_is_refused():
    unit = generate(GroupBy([6, 4]), "cpp")
    assert copy.deepcopy([unit]) == [unit]
    with pytest.raises(LegoError, match="layout: a unit cannot be pickled"):
        pickle.dumps(unit)


def test_keyword_only_parameters():
    def tile(M, *, N, K=2):
        return GroupBy([M, N, K])[p, q, 1]  # noqa: F821

    found = function(tile)
    assert names(found) == ["M", "N", "p", "q"]
    assert found.evaluate({"M": 9, "N": 5, "p": 2, "q": 3}) == {"result": 27}


def test_sizes_fix_parameters_of_any_kind():
    def tile(M, N):
        return GroupBy([M, N])[p, q]  # noqa: F821

    found = function(tile, sizes={"N": 8, "p": 2})
    assert names(found) == ["M", "q"]
    assert found.evaluate({"M": 9, "q": 3}) == {"result": 19}


def test_axes_avoid_names_that_are_taken():
    def taken(i):
        return GroupBy([4, 5, 6])[:, i, :]

    found = function(taken)
    assert names(found) == ["i", "j", "k"]
    assert [p.name for p in found.params if p.axis] == ["j", "k"]
    assert found.evaluate({"i": 1, "j": 2, "k": 3}) == {"result": 69}

    def taken_later():
        return GroupBy([4, 5, 6])[:, q, :] + i  # noqa: F821

    found = function(taken_later)
    assert [p.name for p in found.params if not p.axis] == ["q", "i"]
    assert len(found.params) == 4

    def many():
        return GroupBy([2] * 9)[(slice(None),) * 9]

    found = function(many)
    assert len(set(names(found))) == 9
    assert found.evaluate(dict.fromkeys(names(found), 1)) == {"result": 511}


def test_symbols_of_a_layout_made_outside_become_parameters():
    m = symbols("M")
    layout = GroupBy([m, 4]).OrderBy(Col(m, 4))

    def at():
        return layout[p, q]  # noqa: F821

    found = function(at)
    assert sorted(names(found)) == ["M", "p", "q"]
    assert found.evaluate({"M": 5, "p": 3, "q": 2}) == {"result": 13}


# -- assumptions ---------------------------------------------------------------------------------


def tile_of(M, N):
    return GroupBy([M, N])[p, q]  # noqa: F821


@pytest.mark.parametrize(
    "assume",
    [
        ["M < 100", "N <= 100"],
        ["1 <= M < 100", "100 >= N"],
        ["M < 100 and N <= 100"],
        [sympy.Symbol("M") < 100, sympy.Symbol("N") <= 100],
        [sympy.And(sympy.Symbol("M") < 100, sympy.Symbol("N") <= 100)],
        [symbols("M") < 100, symbols("N") <= 100],
        ["M < 2**7 - 28", "N == M"],
        (a for a in ["M < 100", "N <= 100"]),
    ],
)
def test_assumptions_bound_the_width(assume):
    found = function(tile_of, assume=assume)
    assert found.index_type == "int32"
    assert found.evaluate({"M": 50, "N": 50, "p": 2, "q": 3}) == {"result": 103}


def test_assumptions_are_written_down_as_they_were_given():
    found = function(tile_of, assume=["M < 2**20", "N % 8 == 0"])
    assert found.assumptions[:2] == ("M < 2**20", "N % 8 == 0")
    assert "M < 2^20" in generate(tile_of, "cpp", assume=["M < 2**20"]).source


@pytest.mark.parametrize(
    "relation", ["M % 8 == 0", sympy.Eq(sympy.Mod(sympy.Symbol("M"), 8), 0), symbols("M") % 8 == 0]
)
def test_divisibility_is_used(relation):
    def rest(M, i):
        return (M * i + 5) % 8

    found = function(rest, assume=[relation])
    assert found.op_count == 0
    assert found.evaluate({"M": 16, "i": 3}) == {"result": 5}


MULTIPLES = [*range(-48, 49, 4)]


@pytest.mark.parametrize(
    "text",
    ["x", "x // 4", "x // 8", "x % 8", "max(x, 0)", "1 if x >= 1 else 0", "abs(x) + x % 3"],
)
@pytest.mark.parametrize(
    ("assume", "least", "range_text"),
    [
        (["x % 4 == 0"], None, ""),
        (["x % -4 == 0"], None, ""),
        (["-x % 4 == 0"], None, ""),
        (["x % 4 == 0", "x >= -10"], -10, ""),
        (["x >= -10", "x % 4 == 0"], -10, ""),
        (["x % 4 == 0", "x >= 0"], 0, "x >= 0"),
        (["x >= 0", "x % 4 == 0"], 0, "x >= 0"),
        (["x % 4 == 0", "x >= 1"], 1, "x >= 4"),
        (["x >= 9", "x % 4 == 0"], 9, "x >= 12"),
        (["x % 4 == 0", "0 <= x < 40"], 0, "0 <= x < 37"),
    ],
)
@pytest.mark.quick(4)
def test_what_is_divisible_may_be_0_and_negative(text, assume, least, range_text):
    """It says no more than that: of what is no size of a layout the sign stays open."""
    fn = eval(f"lambda x: {text}")
    found = function(fn, assume=assume)
    assert found.ranges["x"] == range_text
    points = [x for x in MULTIPLES if least is None or x >= least]
    points = [x for x in points if "< 40" not in assume[-1] or x < 40]
    for x in points:
        assert found.evaluate({"x": x}) == {"result": int(fn(x))}, x
        assert_sound(found, {"x": x})


def test_a_divisor_is_positive_and_the_header_says_so():
    def quotient(x, d):
        return x // d + min(x, 0)

    for assume in (["x % d == 0"], ["x % d == 0", "d >= 0"], ["d >= -3", "x % d == 0"]):
        found = function(quotient, assume=assume)
        assert (found.ranges["x"], found.ranges["d"]) == ("", "d >= 1")
        for x, d in [(-12, 3), (0, 5), (12, 4), (-7, 7), (6, 1)]:
            assert found.evaluate({"x": x, "d": d}) == {"result": quotient(x, d)}
    found = function(quotient, assume=["d < 0", "x % d == 0"])
    assert found.ranges["d"] == "d < 0"
    assert found.evaluate({"x": 6, "d": -3}) == {"result": -2}


def test_divisors_that_are_divided():
    def quotient(x, b):
        return x // (2 * b)

    for assume in (["b % 4 == 0", "x % b == 0"], ["x % b == 0", "b % 4 == 0"]):
        found = function(quotient, assume=assume)
        assert (found.ranges["x"], found.ranges["b"]) == ("", "b >= 4")
        for x, b in [(-24, 8), (0, 4), (36, 12), (-4, 4)]:
            assert found.evaluate({"x": x, "b": b}) == {"result": quotient(x, b)}


@pytest.mark.parametrize(
    "assume",
    [["M % 4 == 0"], ["M % -4 == 0"], ["-M % 4 == 0"], ["M >= 0", "M % 4 == 0"], ["4*M % 16 == 0"]],
)
def test_a_size_is_positive_whatever_is_assumed_of_it(assume):
    """That it is a layout's size is known after the assumption."""
    unit = generate(lambda M: GroupBy([M, 4]).OrderBy(Row(M, 4)), "cpp", assume=assume)
    least = 1 if "16" in assume[0] else 4
    assert [f.ranges["M"] for f in unit.functions] == [f"M >= {least}"] * 2
    found = function(lambda M, x: (GroupBy([M])[x], max(M, 1)), assume=assume)
    assert found.op_count == 0


@pytest.mark.parametrize("divides", ["M % 4 == 0", "M % B == 0"])
def test_what_bounds_a_size_bounds_what_divides_it(divides):
    """Also where it gets to be a size after the assumptions."""

    def rows(M, N, B, i, j):
        return GroupBy([M, N, B])[i, j, 0]

    found = function(rows, assume=["M < 64", divides, "N < 64", "B < 64"])
    assert found.index_type == "int32"
    assert not any("<= 2**" in a for a in found.assumptions)


def test_what_is_positive_in_a_branch_is_so_in_no_other():
    def either(x, d):
        return x * 1000 if x > 3 else x + d

    for divides in ("x % 4 == 0", "x % d == 0"):
        found = function(either, assume=["x < 4096", divides])
        assert found.index_type == "int64" and found.ranges["x"] == ""
        for x, d in [(-(2**40), 4), (0, 8), (8, 4)]:
            assert found.evaluate({"x": x, "d": d}) == {"result": either(x, d)}


def test_a_size_that_can_be_no_multiple():
    for assume in (["M % 4 == 0", "M < 3"], ["M < 3", "M % 4 == 0"]):
        with pytest.raises(LayoutError, match="the size M is never positive"):
            generate(tile_of, "cpp", assume=assume)
        assert function(lambda M: M, assume=assume).evaluate({"M": -8}) == {"result": -8}


def test_a_divisor_that_is_a_difference_stands_in_brackets():
    found = function(lambda x, a, b: x // (a - b), assume=["x % (a - b) == 0"])
    assert found.assumptions[:2] == ("x % (a - b) == 0", "a - b != 0")
    assert found.ranges == {"x": "", "a": "", "b": ""}


def test_ranges_are_used():
    def rest(i):
        return i // 8 + i % 64

    found = function(rest, assume=["0 <= i < 64"])
    assert found.op_count == 2
    assert function(rest, assume=["0 <= i < 8"]).op_count == 0


def test_an_equality_replaces_a_symbol():
    found = function(tile_of, assume=["N == 2*M"])
    assert found.evaluate({"M": 3, "N": 6, "p": 2, "q": 5}) == {"result": 17}
    assert "N" not in {n.value for n in found.nodes()}


# -- indices out of range ------------------------------------------------------------------------


def test_an_index_that_may_leave_its_range_becomes_a_precondition():
    found = function(lambda: GroupBy([4, 6])[2 * p + 1, q])  # noqa: F821
    assert "0 <= 2*p + 1 < 4" in found.assumptions
    assert found.evaluate({"p": 0, "q": 3}) == {"result": 9}
    proven = function(lambda: GroupBy([4, 6])[p + 1, q], assume=["-1 <= p < 3"])  # noqa: F821
    assert set(proven.assumptions) <= {"-1 <= p < 3"}


@pytest.mark.parametrize(
    ("fn", "assume"),
    [
        (lambda: GroupBy([4, 6])[4, q], []),  # noqa: F821
        (lambda: GroupBy([4, 6])[-1, q], []),  # noqa: F821
        (lambda M: GroupBy([M, 6])[M, q], []),  # noqa: F821
        (lambda M: GroupBy([M, 6]).inv(6 * M), []),
        (lambda: GroupBy([4, 6])[p + 4, q], ["p >= 0"]),  # noqa: F821
        (lambda: GroupBy([4, 6])[p, q], ["p >= 4"]),  # noqa: F821
    ],
)
def test_an_index_provably_outside_raises(fn, assume):
    with pytest.raises(IndexRangeError, match="never in 0"):
        generate(fn, "cpp", assume=assume)


# -- branches ------------------------------------------------------------------------------------


def test_later_conditions_are_followed_in_every_branch():
    def twice(x, y):
        return (x if x < y else x * 1) + (3 * x if y < x else y)

    found = function(twice, assume=["0 <= x <= 9", "0 <= y <= 9"])
    for x, y in indices((10, 10)):
        assert found.evaluate({"x": x, "y": y}) == {"result": twice(x, y)}


def test_what_one_branch_needs_is_not_asked_of_the_other():
    def piecewise(i):
        if i >= 3:
            return GroupBy([4])[i - 3] + 100
        return GroupBy([3])[i]

    found = function(piecewise, assume=["0 <= i < 7"])
    for i in range(7):
        assert holds(found.assumptions, {"i": i})
        assert found.evaluate({"i": i}) == {"result": piecewise(i)}


def test_a_range_learned_in_one_branch_does_not_change_the_other():
    def either(i, j):
        if j < 3:
            return GroupBy([4])[i]
        return i // 4

    found = function(either, assume=["0 <= j < 9", "i >= 0"])
    assert found.evaluate({"i": 10, "j": 5}) == {"result": 2}


# -- widths --------------------------------------------------------------------------------------


def counted(i):
    return i


def doubled(i):
    return 2 * i


@pytest.mark.parametrize(
    ("fn", "top", "chosen"),
    [
        (counted, "2**31 - 1", "int32"),
        (counted, "2**31", "int64"),
        (counted, "2**63 - 1", "int64"),
        (doubled, "2**30 - 1", "int32"),
        (doubled, "2**30", "int64"),
        (doubled, "2**62 - 1", "int64"),
    ],
)
def test_auto_takes_32_bits_up_to_the_exact_border(fn, top, chosen):
    assert function(fn, assume=["0 <= i", f"i <= {top}"]).index_type == chosen


@pytest.mark.parametrize("rows", [2**16 - 1, 2**16])
def test_auto_knows_the_largest_intermediate_value(rows):
    """size 2**31 - 2**15 and 2**31: the last index of the second is 2**31 - 1."""
    found = function(lambda: GroupBy([rows, 2**15])[:, :])
    assert found.index_type == "int32"
    assert function(lambda: GroupBy([rows, 2**15])[:, :] + 2**15).index_type == (
        "int32" if rows < 2**16 else "int64"
    )


@pytest.mark.parametrize(
    ("kind", "fits", "too_much"),
    [
        ("int32", "2**31 - 1", "2**31"),
        ("uint32", "2**32 - 1", "2**32"),
        ("int64", "2**63 - 1", "2**63"),
        ("uint64", "2**64 - 1", "2**64"),
    ],
)
def test_a_width_that_was_asked_for_is_taken_or_refused(kind, fits, too_much):
    found = function(counted, index_type=kind, assume=[f"0 <= i <= {fits}"])
    assert found.index_type == kind
    with pytest.raises(WidthError, match=kind):
        generate(counted, "cpp", index_type=kind, assume=[f"{too_much} <= i"])
    with pytest.raises(WidthError, match=kind):
        generate(counted, "cpp", index_type=kind, assume=[f"0 <= i <= {too_much}"])


def test_a_shift_by_more_than_a_type_has_takes_a_wider_one():
    assert function(lambda i: i >> 40, assume=["0 <= i < 2**50"]).index_type == "int64"


@pytest.mark.parametrize("target", ["cpp", "wgsl", "javascript"])
def test_a_word_of_32_bits_is_moved_in_32_bits(target):
    """Several bytes moved by one product take more."""

    def swapped(x):
        return x % 256 * 2**24 + x // 256 % 256 * 2**16 + x // 2**16 % 256 * 256 + x // 2**24

    kind = "int53" if target == "javascript" else "uint32"
    made = function(swapped, target, index_type=kind, assume=["0 <= x < 2**32"])
    assert made.index_type == kind
    assert made.evaluate({"x": 0x12345678}) == {"result": 0x78563412}


def test_unsigned_types_take_no_negative_value():
    def gap(i, j):
        return i - j

    ends = ["0 <= i < 9", "0 <= j < 9"]
    assert "i >= j" in function(gap, index_type="uint32").assumptions
    assert function(gap, index_type="uint32", assume=ends).assumptions == ("i >= j",)
    assert function(gap, index_type="uint32", assume=[*ends, "j <= i"]).assumptions == ("j <= i",)
    with pytest.raises(WidthError, match="signed"):
        generate(gap, "cpp", index_type="uint32", assume=["0 <= i < 9", "9 < j < 20"])
    with pytest.raises(WidthError, match="signed"):  # the sizes say which indices there are

        def between_places(i, j):
            return GroupBy([9])[i] - GroupBy([9])[j]

        generate(between_places, "cpp", index_type="uint32")


def test_an_argument_that_nothing_needs_fits_too():
    """At its lower end as at its upper one."""

    def first(i, j):
        return i

    for ends, chosen in (
        ("-2**31 <= j < 9", "int32"),
        ("-2**31 <= j + 1 < 9", "int64"),
        ("0 <= j <= 2**31", "int64"),
    ):
        assert function(first, assume=["0 <= i < 9", ends]).index_type == chosen
    for kind, ends, way in (
        ("uint32", "-1 <= j < 9", "a signed"),
        ("int32", "-2**31 <= j + 1 < 9", "a wider"),
        ("auto", "-2**70 <= j < 9", "a wider"),
    ):
        with pytest.raises(WidthError, match=f"argument j .* choose {way} index_type"):
            generate(first, "cpp", index_type=kind, assume=["0 <= i < 9", ends])


@pytest.mark.parametrize("kind", ["int32", "int64", "uint32", "uint64"])
def test_what_stays_open_is_a_precondition(kind):
    top = {"int32": 31, "int64": 63, "uint32": 32, "uint64": 64}[kind]
    found = function(tile_of, index_type=kind)
    assert found.assumptions == (f"M*N <= 2**{top} - 1",)
    assert f"M*N <= {kind.upper()}_MAX" in generate(tile_of, "cpp", index_type=kind).source


def test_glsl_has_32_bits_and_javascript_53():
    for target, bits, chosen in (("glsl", 31, "int32"), ("javascript", 53, "int53")):
        assert function(tile_of, target).assumptions == (f"M*N <= 2**{bits} - 1",)
        last = f"i <= 2**{bits} - 1"
        assert function(counted, target, assume=["0 <= i", last]).index_type == chosen
        with pytest.raises(WidthError, match=chosen):
            generate(counted, target, assume=["0 <= i", f"i <= 2**{bits}"])


def test_js_is_javascript():
    assert generate(tile_of, "js").source == generate(tile_of, "javascript").source


def test_every_language_lists_its_own_widths():
    with pytest.raises(TargetError, match=r"uint32.*int32, int64"):
        generate(tile_of, "fortran", index_type="uint32")


# -- the same bytes ------------------------------------------------------------------------------

SAMPLES = """
import sys
sys.path.insert(0, sys.argv[1])
from net.words import build
from lego_emit import generate, symbols
from lego_emit.emit.registry import targets

def index_kernel(M, N, BM, BN):
    L = build("OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))", M=M, N=N, BM=BM, BN=BN)
    return L[pid_m, pid_n, :, :]

def branches(M, x, y):
    return {"a": max(x, y) % M + (x * y if x < y else y // M), "b": (x & 5) ^ (M | 8)}

a, b, M = symbols("a b M")
LAYOUTS = [
    build("GroupBy([6, 4]).OrderBy(RegP([2, 2], [1, 0]), Reversal(3, 2))"),
    build("GroupBy([a, 4, b]).OrderBy(Col(b*2, a*2))", a=a, b=b),
    build("TileBy([M//a, 3], [a, 2]).OrderBy(Col(M, 2, 3))", M=M, a=a),
    build("GroupBy([3, 3]).OrderBy(Antidiagonal(3, 3))"),
    build("ExpandBy([5, 7], [6, 8], TileBy([3, 2], [2, 4]).OrderBy(Col(6, 8)))"),
]
for target in [t for t in targets() if t in sys.argv[2:]]:
    print(generate(index_kernel, target))
    print(generate(branches, target, assume=["0 <= x < 90", "-9 <= y < 90", "1 <= M <= 50"]))
    for layout in LAYOUTS:
        print(generate(layout, target))
"""


@pytest.mark.deep
def test_the_same_bytes_under_every_hash_seed():
    from conftest import TARGETS

    here = str(Path(__file__).parent)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SAMPLES, here, *TARGETS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for seed in ("1", "4242")
    ]
    texts = []
    for process in running:
        text, error = process.communicate()
        assert process.returncode == 0, error.decode()
        texts.append(text)
    assert len(texts[0]) > 20_000
    assert texts[0] == texts[1]


def test_sizes_fix_the_symbols_of_a_layout_from_outside():
    P, Q = symbols("P Q")
    layout = GroupBy([P, Q]).OrderBy(Col(P, Q))

    def with_parameters(P, Q):
        return layout[:, :]

    def without(i, j):
        return layout[i, j]

    for subject in (with_parameters, without):
        assert "3 * j + i" in generate(subject, "c", sizes={"P": 3, "Q": 4}).source
