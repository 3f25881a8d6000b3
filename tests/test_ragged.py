"""Ragged: blocks of different lengths, by where each ends."""

import random

import numpy as np
import pytest
from click.testing import CliRunner
from marks import rest_deep

from lego_emit import LegoError, Ragged, generate
from lego_emit.cli import main

LANGUAGES = ("c", "rust", "javascript", "fortran", "cpp", "julia", "python", "cuda", "hip", "metal", "opencl", "glsl", "wgsl")  # fmt: skip
NAMED = ("c", "rust", "javascript", "fortran", "cpp", "julia", "python", "cuda", "hip", "metal")


def ragged(rng, blocks):
    """Random ends, with empty blocks; the last one is not 0."""
    ends = np.cumsum([rng.choice([0, 0, 1, 2, rng.randrange(9)]) for _ in range(blocks)])
    return [int(n) for n in ends + (ends[-1] == 0)]


def by_numpy(ends, flat):
    """(blocks, places in them) of positions."""
    blocks = np.searchsorted(ends, flat, side="right")
    return blocks, flat - np.array([0, *ends])[blocks]


def test_on_integers():
    """Thousands of random ragged arrays, as NumPy has them."""
    rng, positions = random.Random(3), 0
    for _ in range(2000):
        ends = ragged(rng, rng.randrange(1, 30))
        some, flat = Ragged(ends), rng.randrange(ends[-1])
        block, k = (int(n) for n in by_numpy(ends, flat))
        assert some.inv(flat) == (block, k) and some.apply(block, k) == flat
        positions += ends[-1]
    assert positions > 20000


def test_blocks_of_one_element(toolchain_of):
    """Positions that are block numbers are a matrix over F2, which no loop is looked at for."""
    toolchain_of("c")
    inv = generate(Ragged(range(1, 257)), "c", name="rows").compile()["rows_inv"]
    assert [tuple(map(int, inv(p))) for p in (0, 1, 127, 255)] == [
        (0, 0),
        (1, 0),
        (127, 0),
        (255, 0),
    ]


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 4))
def test_numbers(language, toolchain_of):
    """A table and a loop, and comparisons where there are few blocks."""
    toolchain_of(language)
    rng = random.Random(7)
    cases = {f"r{k}": Ragged(ragged(rng, k)) for k in (1, 2, 5, 8, 9, 23, 64)}
    run = generate(cases, language).compile()
    for name, some in cases.items():
        flat = np.arange(some.ends[-1])
        blocks, places = by_numpy(some.ends, flat)
        found = run[f"{name}_inv"](flat)
        assert (found[0] == blocks).all() and (found[1] == places).all()
        assert (run[f"{name}_apply"](blocks, places) == flat).all()


@pytest.mark.parametrize("language", rest_deep(NAMED, 4))
def test_a_name(language, toolchain_of):
    """Thousands of arrays that are known when the program runs."""
    toolchain_of(language)
    run, rng = generate(Ragged("offsets"), language, name="rows").compile(), random.Random(9)
    few = 40 if language in ("javascript", "julia", "python") else 3000
    arrays = [ragged(rng, rng.randrange(1, 9)) for _ in range(few)]
    flat = np.array([rng.randrange(ends[-1]) for ends in arrays])
    blocks = np.array([len(ends) for ends in arrays])
    wanted = np.array([by_numpy(ends, k) for ends, k in zip(arrays, flat, strict=True)])
    columns = np.array([ends + ends[-1:] * (8 - len(ends)) for ends in arrays]).T
    found = run.columns("rows_inv", [blocks, *columns, flat])
    assert (np.array(found).T == wanted).all()
    (found,) = run.columns("rows_apply", [blocks, *columns, *wanted.T])
    assert (found == flat).all()
    assert run["rows_inv"](3, [3, 3, 7], 4) == (2, 1)


TEXTS = {
    "c": ["static const int32_t rows_starts[11]", "for (int32_t turn = 0; turn < 4; ++turn)"],
    "rust": ["while turn < 4 {"], "fortran": ["do turn = 0_int32, 3_int32"], "glsl": ["turn < 4; ++turn"],
}  # fmt: skip
MANY = Ragged([1, 4, 4, 9, 12, 13, 20, 22, 30, 31, 33])


@pytest.mark.parametrize("language", TEXTS)
def test_the_text(language):
    source = generate(MANY, language, name="rows", index_type="int32").source
    for text in TEXTS[language]:
        assert text in source


def test_few_blocks_have_no_loop():
    source = generate(Ragged([3, 5, 9]), "c").source
    assert "for (" not in source and "flat >= 3" in source and "[" not in source.split("#ifndef")[1]


@pytest.mark.slow
def test_what_the_header_says():
    unit = generate(Ragged("ends"), "c", name="rows")
    apply, inv = unit.functions
    assert (
        "ends one past the last position of each block, in ascending order; at least" in unit.source
    )
    assert "0 <= block < blocks" in unit.source and "flat below the last of the ends" in unit.source
    assert [n for n, _ in inv.outputs] == ["block", "k"] and len(apply.outputs) == 1


def test_blocks_of_one_length_are_a_product():
    assert "4 * block + k" in generate(Ragged(range(4, 44, 4)), "c").source


@pytest.mark.parametrize("language", rest_deep(("c", "python", "rust"), 1))
def test_verified(language, toolchain_of):
    toolchain_of(language)
    report = generate(MANY, language, name="rows").verify()
    assert report and "rows_inv and the Python function" in str(report)
    sizes = {"blocks": 4, **{f"ends[{k}]": n for k, n in enumerate([2, 2, 5, 9, 9, 9, 9, 9])}}
    unit = generate(Ragged("ends"), language, ranges={"flat": (0, 9), "k": (0, 1)})
    assert unit.verify(sizes=sizes)


def test_check():
    assert MANY.check() == "11 blocks, 33 positions: inv undoes apply"


def test_in_a_function(toolchain_of):
    """With symbols, among others."""

    def neighbor(i):
        block, k = MANY.inv(i)
        return MANY.apply(block, 0) * 100 + k

    run = generate(neighbor, "c", ranges={"i": (0, 33)}).compile()["neighbor"]
    for i in range(33):
        assert run(i) == neighbor(i)


def test_parameters_of_a_function_lie_in_the_blocks():
    """As the indices of a layout do: where no range says it, the header asks for it."""
    rows = Ragged([3, 3, 7, 12, 20, 21, 30, 31, 40])
    (at,) = generate(lambda b, k: rows.apply(b, k) + 1, "c", name="at").functions
    assert at.ranges == {"b": "0 <= b < 9", "k": "0 <= k < 9"}
    assert at.assumptions == ("k < lengths[b]",)
    (block,) = generate(lambda p: rows.inv(p)[0], "c", name="block").functions
    assert block.ranges == {"p": "0 <= p < 40"} and not block.assumptions
    (block,) = generate(lambda p: rows.inv(p)[0], "c", ranges={"p": (0, 99)}).functions
    assert block.assumptions == ("0 <= p < 40",)
    with pytest.raises(LegoError, match=r"a \+ 40, never in 0..39"):
        generate(lambda a: rows.inv(a + 40), "c", ranges={"a": (0, 9)})


def test_on_the_command_line(tmp_path, toolchain_of):
    file = tmp_path / "rows.py"
    file.write_text(
        "from lego_emit import AnyRank, Ragged\nrows = Ragged([3, 3, 7])\nnd = AnyRank(2)\n"
    )

    def run(*arguments):
        return CliRunner().invoke(main, arguments).output

    for name, end in (("rows", "inv"), ("nd", "at")):
        assert f" {name}_{end}(" in run("generate", f"{file}:{name}", "--target", "c")
    said = run("verify", f"{file}:rows", "--target", "c")
    assert "rows_inv and the Python function: equal" in said


def test_equality():
    assert Ragged([3, 7]) == Ragged((3, 7)) == Ragged(np.array([3, 7])) != Ragged([3, 8])
    assert Ragged("ends") != Ragged("offsets") and len({Ragged("ends"), Ragged("ends")}) == 1
    assert repr([Ragged([3, 7]), Ragged("ends")]) == "[Ragged([3, 7]), Ragged('ends')]"


@pytest.mark.parametrize("wrong, message", [
    (lambda: Ragged([3, 2]), r"ends\[1\] is 2, below ends\[0\], which is 3; give them in ascending order"),
    (lambda: Ragged([-1, 2]), r"ends\[0\] is -1, below 0"),
    (lambda: Ragged([]), "there are no blocks"),
    (lambda: Ragged([0, 0]), "every block is empty"),
    (lambda: Ragged([1.5]), "give integers such as"),
    (lambda: Ragged([True]), "give integers such as"),
    (lambda: Ragged(7), "ends is 7, an int; give integers"),
    (lambda: Ragged("3 4"), "'3 4' is no name for the array of ends"),
    (lambda: Ragged("flat"), "'flat' is no name for the array of ends"),
    (lambda: Ragged([3]).apply(1, 0), "block is 1, and there are 1 blocks"),
    (lambda: Ragged([3, 3]).apply(1, 0), "k is 0, and block 1 has 0 elements"),
    (lambda: Ragged([3]).apply(0, -1), "k is -1"),
    (lambda: Ragged([3]).inv(3), "flat is 3, and there are 3 positions"),
    (lambda: Ragged([3]).inv("x"), "flat is 'x'; give an integer"),
    (lambda: Ragged("ends").apply(0, 0), "the ends are known when the program runs"),
    (lambda: Ragged("ends").check(), "give Ragged the numbers to check them"),
    (lambda: Ragged([2**30]).check(), "too many to check"),
    (lambda: generate(Ragged(range(5000)), "c"), r"5000 blocks, .* Ragged\('ends'\)"),
    (lambda: generate(Ragged("ends"), "glsl"), "GLSL gives functions no tables and no arrays"),
    (lambda: generate(MANY, "numpy"), "is not there in NumPy"),
    (lambda: generate(MANY, "mlir"), "MLIR has no loop"),
])  # fmt: skip
@pytest.mark.quick(4)
def test_refused(wrong, message):
    with pytest.raises(LegoError, match=message):
        wrong()
