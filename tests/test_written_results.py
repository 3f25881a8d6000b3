"""A struct or an array that is written and an integer that is returned."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pytest
from marks import rest_slow

from lego_emit import generate
from lego_emit.errors import TraceError, VerifyError
from lego_emit.proofcheck.check import check
from lego_emit.types import I16, I32, I64, Array, NativeType

C_FAMILY = ["c", "cpp", "cuda", "hip", "opencl", "metal"]
OTHERS = ["rust", "fortran", "julia", "javascript", "glsl", "wgsl", "python", "numpy"]


class Cell(NamedTuple):
    x: int
    y: int


class Small(NamedTuple):
    x: I16
    y: I16


def site(X: Array[3], cb: int, parity: int) -> tuple[Array[3], int]:
    """Where a site of a checkerboard is.

    Returns:
        the number of the site among both colors
    """
    row, half = divmod(cb, X[0] // 2)
    plane, y = divmod(row, X[1])
    odd = (y + plane + parity) % 2
    return (2 * half + odd, y, plane), 2 * cb + odd


def swapped(c: Cell, n: int) -> tuple[Cell, int]:
    return Cell(c.y + n, c.x), c.x - c.y


def narrow(at: Small, n: I32) -> tuple[Small, I64]:
    return Small(at.y, at.x), at.x * n


SITE: dict[str, Any] = {
    "ranges": {"X[0]": (2, 100), "X[1]": (1, 100), "X[2]": (1, 100), "parity": (0, 2),
               "cb": (0, "X[0]*X[1]*X[2]//2")},
    "assume": ["X[0] % 2 == 0"],
}  # fmt: skip
SHAPE = (4, 3, 5)
SWAPPED: dict[str, Any] = {"ranges": {"c.x": (-99, 100), "c.y": (-99, 100), "n": (-9, 10)}}


def sites() -> np.ndarray:
    return np.indices((30, 2)).reshape(2, -1)


@pytest.mark.parametrize("results", ["out", "inout"])
@pytest.mark.parametrize("language", rest_slow(C_FAMILY, 0))
def test_an_array_is_written_and_a_number_is_returned(language, results, toolchain_of):
    unit = generate(site, language, results=results, index_type="int32", **SITE)
    other = generate(swapped, language, results=results, index_type="int32", **SWAPPED)
    one, two = toolchain_of(language).compile([unit, other])
    places = sites()
    *at, number = one.columns("site", [*SHAPE, *places])
    assert np.array_equal(np.sort(number), np.arange(60))
    flat = np.ravel_multi_index([*reversed(at)], SHAPE[::-1])
    assert np.array_equal(flat, number)
    assert one["site"](SHAPE, 7, 1) == site(SHAPE, 7, 1) == ((2, 0, 1), 14)
    assert two["swapped"](Cell(3, 4), 5) == swapped(Cell(3, 4), 5) == (Cell(9, 3), -1)


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_the_text(language):
    unit = generate(site, language, results="out", index_type="int32", **SITE)
    line = next(x for x in unit.source.splitlines() if " site(" in x and not x.startswith("//"))
    T = "int32_t" if language == "c" else "std::int32_t"
    assert f"{T} site(" in line and "void" not in line
    assert "/// @param[out] result 0 <= result[0] < 98, 0 <= result[1] < 4851, 0" in unit.source
    said = "/// @return the number of the site among both colors; 0 <= the result"
    assert said in unit.source
    assert ("[[nodiscard]]" in unit.source) == (language == "cpp")
    both = generate(swapped, language, results="inout", index_type="int32", **SWAPPED).source
    assert "/// @return -198 <= the result < 199" in both
    assert "/// @param[in,out] c -99 <= c.x < 100, -99 <= c.y < 100; afterwards -108 <= " in both


@pytest.mark.parametrize("language", rest_slow(OTHERS, 0))
def test_elsewhere_they_are_results_beside_each_other(language, toolchain_of):
    more: dict[str, Any] = {} if language in ("python", "numpy") else {"index_type": "int32"}
    unit = generate(swapped, language, **SWAPPED, **more)
    found = toolchain_of(language).compile([unit])[0]["swapped"](Cell(3, 4), 5)
    assert found == (Cell(9, 3), -1)


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_declared_types(language, toolchain_of):
    unit = generate(narrow, language, results="inout")
    T = "int64_t" if language == "c" else "std::int64_t"
    assert f"{T} narrow(" in unit.source
    (run,) = toolchain_of(language).compile([unit])
    assert run["narrow"](Small(-32768, 7), 2**31 - 1) == (Small(7, -32768), -32768 * (2**31 - 1))


@pytest.mark.parametrize("form", [".{}", ".{}()"])
def test_a_type_of_a_code_base(form, toolchain_of, tmp_path):
    header = tmp_path / "cell.hpp"
    header.write_text(
        "#pragma once\nclass Pair {\n  int a, b;\n public:\n"
        "  constexpr Pair(int x, int y) : a(x), b(y) {}\n  constexpr Pair() : a(0), b(0) {}\n"
        "  constexpr int x() const { return a; }\n  constexpr int y() const { return b; }\n};\n"
        "struct Plain { int x, y; };\n"
    )
    name, make = ("Plain", "") if form == ".{}" else ("Pair", "Pair({})")
    native = NativeType(name, form, make, str(header), "int32", "{type} &{name}")
    options: dict[str, Any] = {"types": {"Cell": native}, "index_type": "int32", **SWAPPED}
    for results in ("out", "inout"):
        unit = generate(swapped, "cpp", results=results, **options)
        (run,) = toolchain_of("cpp").compile([unit])
        c = np.indices((7, 5, 3)).reshape(3, -1)
        x, y, n = run.columns("swapped", c)
        assert np.array_equal([x, y, n], [c[1] + c[2], c[0], c[0] - c[1]])


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_the_checker_reads_no_text_that_returns_and_writes(language):
    unit = generate(swapped, language, results="out", index_type="int32", **SWAPPED)
    report = check(json.loads(unit.certificate().json), unit.source, swapped)
    assert not report and "results that are returned and others that are written" in str(report)


def test_names_of_what_is_written_and_of_what_is_returned():
    for outputs, results in (("x, number", "out"), ("a, b, c, number", "struct")):
        unit = generate(site, "c", results=results, outputs=outputs, index_type="int32", **SITE)
        named = [name for name, _ in unit.functions[0].outputs]
        assert named[-1] == "number" and ("x[3]" in unit.source) == (results == "out")
    with pytest.raises(TraceError, match="outputs names its results X, n, and X is a parameter"):
        generate(site, "c", results="out", outputs="X, n", **SITE)
    with pytest.raises(TraceError, match="outputs names its results a, b, c, and it has 4"):
        generate(site, "c", results="out", outputs="a, b, c", **SITE)


def test_what_verify_asks_for_is_called_as_in_python():
    unit = generate(swapped, "c", results="inout")
    with pytest.raises(VerifyError, match=r'a number for c\.x, c\.y, n: domain={"c\.x": 8}'):
        unit.verify()


def test_another_result_than_the_annotation_says_is_refused():
    def wrong(c: Cell, n: int) -> tuple[Cell, int]:
        return c.x, n, n  # pyright: ignore[reportReturnType]

    with pytest.raises(TraceError, match=r"wrong returns .*, and its annotation says "):
        generate(wrong, "c", results="out")
