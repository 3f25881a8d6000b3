"""Conditions in the notation of each language's comments."""

import pytest

from lego_emit import generate
from lego_emit.arith.assume import parse
from lego_emit.emit import registry
from lego_emit.errors import AssumptionError
from lego_emit.ir.relations import least, read, says

SIZES = {"M": 1, "N": 1, "i": 0}  # the least values; of x nothing is known
SPOKEN = {
    "M // N + 1 <= 2**63 - 1": {
        "python": "M // N + 1 <= 2**63 - 1",
        "c": "M / N + 1 <= INT64_MAX",
        "cuda": "M / N + 1 <= LLONG_MAX",
        "opencl": "M / N + 1 <= LONG_MAX",
        "rust": "M / N + 1 <= i64::MAX",
        "fortran": "M / N + 1 <= huge(0_int64)",
        "julia": "div(M, N) + 1 <= typemax(Int64)",
        "glsl": "M / N + 1 <= 2^63 - 1",
        "javascript": "Math.floor(M / N) + 1 <= 2**63 - 1",
    },
    "(M + i) // N < x // N": {
        "cpp": "(M + i) / N < floor(x / N)",
        "rust": "(M + i) / N < floor(x / N)",
        "fortran": "(M + i) / N < ((x - modulo(x, N)) / N)",
        "julia": "div(M + i, N) < fld(x, N)",
        "javascript": "Math.floor((M + i) / N) < Math.floor(x / N)",
        "numpy": "(M + i) // N < x // N",
    },
    "(x - 1) % N > i % N": {
        "cpp": "mod(x - 1, N) > i % N",
        "rust": "mod(x - 1, N) > i % N",
        "fortran": "modulo(x - 1, N) > mod(i, N)",
        "julia": "mod(x - 1, N) > i % N",
    },
    "(x + 1) % N == 0": {"cpp": "(x + 1) % N == 0", "fortran": "mod(x + 1, N) == 0"},
    "i != 3": {"fortran": "i /= 3", "julia": "i != 3"},
    "0 <= x < N": {"cpp": "0 <= x < N", "fortran": "0 <= x < N"},
    "(i & 3) + 1 < N": {"cpp": "(i & 3) + 1 < N", "fortran": "iand(i, 3) + 1 < N"},
    "i ^ 3 < N": {"cpp": "(i ^ 3) < N", "julia": "xor(i, 3) < N"},
    "M - 1 >= N": {"cpp": "M - 1 >= N"},
    "(M - 1) // N >= 0": {"cpp": "(M - 1) / N >= 0"},
    "(M - 2) // N >= 0": {"cpp": "floor((M - 2) / N) >= 0"},
    "M**2 < 2**20": {"cpp": "M*M < 2^20", "fortran": "M**2 < 2**20"},
}


@pytest.mark.parametrize(
    "text, language, wanted",
    [(text, name, wanted) for text, told in SPOKEN.items() for name, wanted in told.items()],
)
def test_a_condition_is_said_as_the_language_writes_it(text, language, wanted):
    assert says(read(text), registry.printer(language).notation, SIZES) == wanted


class Fortran(int):
    """An integer whose / rounds towards zero."""

    def __truediv__(self, other):
        magnitude = abs(int(self)) // abs(int(other))
        return Fortran(magnitude if (self < 0) == (other < 0) else -magnitude)

    def __sub__(self, other):
        return Fortran(int(self) - int(other))

    def __neg__(self):
        return Fortran(-int(self))


@pytest.mark.parametrize("text", ["x // N", "-x // N", "(x - 1) // 2"])
def test_a_quotient_in_fortran_s_notation_has_fortran_s_value(text):
    spoken = says(read(f"{text} < 9"), registry.printer("fortran").notation, SIZES)
    spoken = spoken.removesuffix(" < 9")
    assert "floor" not in spoken  # which takes no integers
    names = {"modulo": lambda a, b: Fortran(int(a) % int(b))}
    for x in range(-12, 13):
        for n in (1, 2, 3, 7):
            at = {"x": Fortran(x), "N": Fortran(n)}
            assert eval(spoken, names, at) == eval(text, {}, {"x": x, "N": n})


def test_python_s_notation_is_read_again():
    for text in SPOKEN:
        assert says(read(says(read(text)))) == says(read(text))


@pytest.mark.parametrize(
    "text, low",
    [("M", 1), ("x", None), ("M - 1", 0), ("M - 2", None), ("M*N + i", 1), ("x % N", None),
     ("M - x", None), ("M + x", None), ("3", 3)],
)  # fmt: skip
def test_the_least_value_is_proven_or_none(text, low):
    assert least(read(f"{text} < 9").args[0], SIZES) == low


def test_a_docstring_gives_the_meaning_of_parameters():
    def offset(M, N, i, j):
        """Where an element lies
        in a matrix.

        Args:
            M: rows of the matrix.
            i (int): the row

        Returns:
            the offset in elements
        """
        return i * N + j

    source = generate(offset, "cpp", assume=["0 <= i < M", "0 <= j < N"]).source
    for line in (
        "/// Where an element lies in a matrix.",
        "/// @param i the row; ",
        "/// @return the offset in elements",
    ):
        assert line in source
    rust = generate(offset, "rust", assume=["0 <= i < M", "0 <= j < N"]).source
    assert "/// - `i`: the row; `" in rust


@pytest.mark.parametrize(
    "doc, params",
    [
        ("Index.\n\nParameters\n----------\nM, N : int\n    sizes\n", {"M": "sizes", "N": "sizes"}),
        ("Index.\n\n:param M: rows\n", {"M": "rows"}),
        (
            "Index.\n\nArgs:\n  M: rows, of\n    the matrix */ \\\n",
            {"M": "rows, of the matrix * / U+005C"},
        ),
        ("Index.\n\nArgs:\n", {}),
        ("Index.\n\nExample:\n::\t:returns:Example:\n", {}),  # its parser fails
    ],
)
def test_forms_of_docstrings(doc, params):
    def index(M, N, i):
        return i % M * N

    index.__doc__ = doc
    unit = generate(index, "c")
    for name, meaning in params.items():
        assert f"/// @param {name} {meaning}" in unit.source
    assert "/// Index.\n" in unit.source


def test_the_head_of_a_file_has_the_lines_that_are_given():
    lines = ["SPDX-License-Identifier: MIT", "Source: a.py:b */"]
    for target, mark in [("cpp", "//"), ("fortran", "!"), ("julia", "#"), ("mlir", "//")]:
        head = generate(lambda i: i, target, header=lines).source.splitlines()[:3]
        assert head == [
            f"{mark} Code generated by lego-emit. DO NOT EDIT.",
            f"{mark} SPDX-License-Identifier: MIT",
            f"{mark} Source: a.py:b * /",
        ]


def test_names_may_be_keywords_of_python():
    (condition,) = parse("class % from == 0")
    assert {n for e in condition.exprs() for n in e.symbols()} == {"class", "from"}
    assert len(parse("0 <= lambda < 4 and pow2(for)")) == 4
    for text, said in [
        ("class <", "'class <': invalid syntax"),
        ("i if class else j", "invalid syntax"),
        ("i < 4 or class < 4", "is not a relation"),
    ]:
        with pytest.raises(AssumptionError, match=said):
            parse(text)
