"""base=1: indices and positions that count from 1, as Fortran and Julia programmers expect."""

import itertools

import index_functions
import pytest

from lego_emit import Col, ExpandBy, GenP, GroupBy, OrderBy, RegP, Row, TileBy, generate
from lego_emit.errors import TargetError
from lego_emit.pipeline import build_program
from lego_emit.run import registry

LAYOUTS = [
    GroupBy([6, 6]).OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3])),
    TileBy([2, 3], [3, 2]).OrderBy(Col(6, 6)),
    GroupBy([1, 4]).OrderBy(Row(4)),
    GroupBy([7]),
]


TURNED = GroupBy([10]).OrderBy(GenP([10], lambda i: 9 - i, lambda p: 9 - p))


def from_one(index):
    return tuple(i + 1 for i in index)


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_every_index_and_position_is_one_more(layout):
    apply, inv = generate(layout, "fortran", base=1).functions
    names = [p.name for p in apply.params]
    for index in itertools.product(*map(range, layout.dims)):
        flat = layout.apply(*index) + 1
        given = dict(zip(names, from_one(index), strict=True))
        assert apply.evaluate(given) == {"flat": flat}
        assert tuple(inv.evaluate({"flat": flat}).values()) == from_one(index)


def test_a_masked_position_is_zero():
    layout = ExpandBy([5], [6], TileBy([3], [2]))
    apply, inv = generate(layout, "julia", base=1).functions
    assert [apply.evaluate({"i": i, "j": j})["flat"] for i in (1, 2, 3) for j in (1, 2)] == [
        1, 2, 3, 4, 5, 0,
    ]  # fmt: skip
    assert inv.evaluate({"flat": 5}) == {"i": 3, "j": 1}
    assert "0 where it is masked" in apply.summary


def index_kernel(M, N, BM, BN):
    L = OrderBy(Row(M, N)).TileBy((M // BM, N // BN), (BM, BN))
    return L[pid_m, pid_n, :, :]  # noqa: F821


def test_sizes_stay_and_indices_are_found():
    (found,) = generate(index_kernel, "julia", base=1).functions
    assert found.ranges["pid_m"] == "1 <= pid_m < M // BM + 1"
    assert found.ranges["i"] == "1 <= i < BM + 1"
    assert found.ranges["M"] == "M >= 1"
    sizes = {"M": 12, "N": 20, "BM": 3, "BN": 5}
    layout = TileBy([4, 4], [3, 5])
    for index in itertools.product(*map(range, layout.dims)):
        given = dict(zip(("pid_m", "pid_n", "i", "j"), from_one(index), strict=True))
        assert found.evaluate({**sizes, **given})["result"] == layout.apply(*index) + 1


def test_another_base_is_refused():
    with pytest.raises(TargetError, match="base is 2"):
        generate(index_kernel, "julia", base=2)


@pytest.mark.slow
def test_compiled(toolchain):
    layout = LAYOUTS[0]
    run = generate(layout, toolchain.name, base=1).compile()
    for i, j in itertools.product(range(1, 7), repeat=2):
        flat = run["layout_apply"](i, j)
        assert flat == layout.apply(i - 1, j - 1) + 1
        assert run["layout_inv"](flat) == (i, j)


@pytest.mark.slow
def test_every_array_form_counts_its_axes_from_the_base(toolchain):
    if toolchain.name == "triton":
        pytest.skip("blocks of Triton have a power of two of elements; test_triton.py has its own")
    index_functions.assert_arrays(
        toolchain, index_functions.array_units(toolchain.name, ("int32",))
    )


@pytest.mark.parametrize(
    ("fn", "assume"),
    [
        (lambda i: TURNED[i], ["1 <= i <= 10"]),
        (lambda i: TURNED[i], ["1 <= i", "i < 11"]),
        (lambda i: TURNED[i] if i < 5 else -1, ["1 <= i <= 10"]),
        (lambda i, n: TURNED[i] if i < n else -1, ["1 <= i <= 10", "n <= 10"]),
    ],
)
def test_an_index_whose_bounds_are_known(fn, assume):
    """It counts from the base like any other."""
    (made,) = build_program(fn, registry.printer("cpp"), assume=assume, base=1).functions
    for i in range(1, 11):
        values = {"i": i, "n": 7}
        given = {p.name: values[p.name] for p in made.params}
        want = fn(*(v - (name == "i") for name, v in given.items())) + 1
        assert made.evaluate(given) == {"result": want}
