"""Unsigned index types: what stands for a masked index, and forms that never go negative."""

import json
from hashlib import sha256

import numpy as np
import pytest

from lego_emit import ExpandBy, GroupBy, Padded, TileBy, catalogue, generate
from lego_emit.algebra import reference
from lego_emit.errors import WidthError
from lego_emit.proofcheck.check import check
from lego_emit.run import registry

PADDED = Padded([5, 7], TileBy([8, 8]))
NAMES = [
    ("c", "uint32", "UINT32_MAX"), ("c", "size_t", "SIZE_MAX"), ("cpp", "uint64", "UINT64_MAX"),
    ("cuda", "uint32", "0xffffffffu"), ("opencl", "uint64", "ULONG_MAX"),
    ("rust", "usize", "usize::MAX"), ("rust", "uint32", "u32::MAX"),
    ("julia", "uint64", "typemax(UInt64)"), ("julia", "uint32", "Ti(typemax(UInt32))"),
    ("javascript", "uint64", "0xffffffffffffffffn"), ("python", "uint32", "0xffffffff"),
    ("glsl", "uint32", "0xffffffffu"), ("wgsl", "uint32", "0xffffffffu"),
]  # fmt: skip
BELOW_0 = "healpix.RING"  # its own formulas are


@pytest.mark.parametrize("target, index_type, name", NAMES)
def test_the_greatest_number_stands_for_what_is_masked(target, index_type, name):
    unit = generate(PADDED, target, index_type=index_type)
    most = 2 ** (32 if "32" in index_type else 64) - 1
    assert name in unit.source and "-1 where" not in unit.source
    inv = unit.functions[1]
    assert inv.masked == (most, most) and "where it is masked" in inv.summary
    (position,) = (p.name for p in inv.params)
    assert [*inv.evaluate({position: 63}).values()] == [most, most]
    assert [*inv.evaluate({position: 9}).values()] == [1, 1]
    assert unit.functions[0].masked == (-1,)  # nothing is masked there
    assert f"i < 5 or i == 2**{most.bit_length()} - 1" in inv.result_range


def test_a_type_with_a_sign_keeps_its_number():
    unit = generate(PADDED, "cpp", index_type="int64")
    assert "(-1, -1) where it is masked" in unit.source and unit.functions[1].masked == (-1, -1)


def test_what_counts_from_1_has_0():
    inv = generate(PADDED, "rust", index_type="uint64", base=1).functions[1]
    assert inv.evaluate({"flat": 64}) == {"i": 0, "j": 0} and "(0, 0) where" in inv.summary
    inv = generate(PADDED, "rust", index_type="uint64", base={"i": 1}).functions[1]
    assert inv.evaluate({"flat": 63}) == {"i": 0, "j": 2**64 - 1}
    assert "(0, u64::MAX) where" in inv.summary


def test_a_position_is_never_that_number():
    layout = ExpandBy([2**16, 2**16], [2**16, 2**17], GroupBy([2**16, 2**17]))
    with pytest.raises(WidthError, match="may be 4294967295, which stands for what is masked"):
        generate(layout, "cpp", index_type="uint32")


def test_a_function_of_a_masked_layout_is_refused_as_before():
    layout = ExpandBy([5, 7], [8, 8], TileBy([8, 8]))
    with pytest.raises(WidthError, match="choose a signed index_type"):
        generate(lambda i, j: layout[i, j] + 1, "cpp", index_type="uint32")


@pytest.mark.parametrize("target, index_type", [("c", "uint64"), ("rust", "uint32")])
def test_the_catalogue_compiled(target, index_type):
    made = []
    for number, entry in enumerate(catalogue.values()):
        if entry.name != BELOW_0:
            layout = entry(**entry.example)
            unit = generate(layout, target, index_type=index_type, name=f"unit{number}")
            made.append((layout, unit))
    found = registry.toolchain(target)
    runs = found.compile([unit for _, unit in made])
    for (layout, unit), run in zip(made, runs, strict=True):
        for function, inverse in zip(unit.functions, (False, True), strict=False):
            whole = inverse and layout.results is None
            dims = layout.physical_dims if inverse else layout.dims
            sizes = [layout.physical_size] if whole else dims
            numbers = np.unique(np.linspace(0, np.prod(sizes) - 1, 2000).astype(np.int64))
            index = [*np.unravel_index(numbers, sizes)]
            wanted = layout.inv(*index) if inverse else reference.apply(layout, index)
            pair = (
                v if isinstance(v, tuple) else (v,) for v in (wanted, run[function.name](*index))
            )
            for w, g, masked in zip(*pair, function.masked_bits, strict=True):
                assert np.array_equal(np.where(np.equal(w, -1), masked, w), g), unit.source


@pytest.mark.parametrize("name", ["lapack.TF", "lapack.TP", "ascend.NZ", "arrays.AoSoA"])
def test_an_entry_with_symbols(name):
    for function in generate(catalogue[name], "cpp", index_type="uint64").functions:
        assert not function.unseen and ">= 0" not in " ".join(function.assumptions)


@pytest.mark.parametrize(
    "target, name, other",
    [("cpp", "UINT64_MAX", "7"), ("rust", "u64::MAX", "7"), ("julia", "typemax(UInt64)", "UInt64(7)")],
)  # fmt: skip
def test_the_checker_knows_the_number(target, name, other):
    unit = generate(PADDED, target, index_type="uint64")
    data = json.loads(unit.certificate().json)
    assert check(data, unit.source, PADDED)
    before, _, after = unit.source.rpartition(name)
    wrong = f"{before}{other}{after}"
    data["sha256"] = sha256(wrong.encode()).hexdigest()
    assert not check(data, wrong, PADDED)


@pytest.mark.parametrize(
    "fn, options, text",
    [
        (lambda a, b, c: a - b + c, {"assume": ["a + c >= b"]}, "a + c - b"),
        (lambda m, i: 4 * m - 4 - 4 * i, {"ranges": {"i": (0, "m")}}, "4ull * (m - i) - 4ull"),
        (lambda k, i: 32 * k - 30 + i, {"assume": ["k >= 1"]}, "32ull * k + i - 30ull"),
        (
            lambda k, i: (k - 1) * 32 * (i // 4) + 2 * (i // 4) + i % 4,
            {"assume": ["k >= 1"]},
            "(i >> 2ull) * (32ull * k - 30ull) + (i & 3ull)",
        ),
    ],
)
def test_forms_that_stay_above_zero(fn, options, text):
    unit = generate(fn, "c", name="f", index_type="uint64", **options)
    assert f"return {text};" in unit.source
    assert "- 30 >= 0" not in " ".join(unit.functions[0].assumptions)
