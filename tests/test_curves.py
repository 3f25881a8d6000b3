"""The catalogue's space-filling curves of sides that are symbols, and the fact that these need: pow2(n)."""

import random
import re
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
import sympy
from formats import devices
from marks import rest_deep, rest_slow

from lego_emit import GenP, catalogue, generate, symbols
from lego_emit.check.points import Points
from lego_emit.errors import AssumptionError, LayoutError, LegoError

n, m = symbols("n m")
POWER, POWERS = ["pow2(n)"], ["pow2(n)", "pow2(m)"]
LANGUAGES = (
    "c",
    "rust",
    "javascript",
    "fortran",
    "numpy",
    "python",
    "julia",
    "glsl",
    "wgsl",
    "cpp",
    "opencl",
)
SQUARES, CUBES = [(k,) for k in (1, 2, 4, 8, 16, 64)], [(k,) for k in (1, 2, 4, 8)]
PAIRS = [(1, 1), (1, 8), (8, 1), (2, 16), (16, 4), (64, 8)]
CASES = {  # the entry, its sizes, what is assumed, and numbers for the symbols
    "hilbert": ("hilbert.2D", (n, n), POWER, SQUARES),
    "hilbert3": ("hilbert.3D", (n, n, n), POWER, CUBES),
    "morton": ("morton.2D", (n, n), POWER, SQUARES),
    "morton3": ("morton.3D", (n, n, n), POWER, CUBES),
    "unequal": ("morton.2D", (n, m), POWERS, PAIRS),
    "mixed": ("morton.3D", (n, 8, m), POWERS, PAIRS[:5]),
}  # fmt: skip


@cache
def emitted(name, language="c", short=False):
    """short: sides are so short that positions fit 30 bits."""
    entry, sizes, assume, _ = CASES[name]
    most = (1 << 30 // len(sizes)) + 1
    ranges = {str(size): (1, most) for size in sizes if size in (n, m)} if short else {}
    return generate(catalogue[entry](*sizes), language, name=name, assume=assume, ranges=ranges)


def called(unit):
    """NAME_apply and NAME_inv."""
    known = unit.compile()
    return [known[f.name] for f in unit.functions]


def numbers(sizes, values):
    """The sizes where the symbols n and m have these values."""
    known = dict(zip("nm", values, strict=False))
    return [known.get(str(size), size) for size in sizes]


# -- equal to the catalogue of numbers -------------------------------------------------------------


@pytest.mark.parametrize("language", rest_deep(LANGUAGES, 1))
@pytest.mark.parametrize("name", CASES)
def test_every_point(name, language, toolchain_of):
    """The curve of symbols, at numbers, is the catalogue's of these numbers."""
    toolchain_of(language)
    entry, sizes, _, given = CASES[name]
    apply, inv = called(emitted(name, language, language != "c"))
    for values in given:
        dims = numbers(sizes, values)
        index = np.indices(dims).reshape(len(dims), -1)
        position = np.array(catalogue[entry](*dims).apply(*index))
        assert np.array_equal(apply(*values, *index), position), values
        back = inv(*values, np.arange(position.size))
        assert np.array_equal(np.array(back)[:, position], index), values


REFERENCE = {"hilbert.2D": devices.hilbert, "hilbert.3D": devices.hilbert_cube}


@pytest.mark.parametrize("name", CASES)
def test_points_of_long_sides(name, toolchain_of):
    """Random points and the corners, of sides as long as 63 bits leave, beside the definitions."""
    toolchain_of("c")
    entry, sizes, _, _ = CASES[name]
    apply, inv = called(emitted(name))
    rng, most = random.Random(name), 63 // len(sizes)
    count = len({str(size) for size in sizes if size in (n, m)})
    for _ in range(20):
        values = [1 << rng.randrange(most + 1) for _ in range(count)]
        dims = numbers(sizes, values)
        define = REFERENCE.get(entry, devices.morton)(*dims)
        points = [*product(*({0, d - 1} for d in dims))]
        points += [tuple(rng.randrange(d) for d in dims) for _ in range(20)]
        position = apply(*values, *np.array(points).T)
        assert position.tolist() == [define(*index) for index in points], values
        assert np.array(inv(*values, position)).T.tolist() == [*map(list, points)]


def test_the_curves_step_to_a_neighbor():
    layout = catalogue["hilbert.3D"](8, 8, 8)
    walk = [layout.inv(k) for k in range(8**3)]
    assert (walk[0], walk[-1]) == ((0, 0, 0), (7, 0, 0))
    assert all(sum(map(abs, np.subtract(a, b))) == 1 for a, b in pairwise(walk))


# -- the text --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", rest_slow(CASES, 2))
def test_the_text_is_one_loop_over_the_bits(name):
    unit = emitted(name)
    parts = re.findall(
        r"^static inline \w+ \w+_(?:apply|inv)\((?s:.*?)^\}", unit.source, re.MULTILINE
    )
    assert [text.count("while (") for text in parts] == [1, 1]
    assert "for (" not in unit.source
    assert max(text.count("\n") for text in parts) <= 30
    assert all(f.op_count <= 100 for f in unit.functions)


def test_what_a_careful_programmer_writes():
    text = emitted("morton", short=True).source
    assert (
        """\
  int32_t bit = n >> 1;
  int32_t position = 0;
  while (bit != 0) {
    position = 4 * position + 2 * ((bit & i) != 0) + ((bit & j) != 0);
    bit >>= 1;
  }
  return position;
"""
        in text
    )
    assert (
        """\
  while (bit < n) {
    x += ((rest >> 1) & 1) * bit;
    y += (rest & 1) * bit;
    bit *= 2;
    rest >>= 2;
  }
"""
        in text
    )


@pytest.mark.parametrize("language, index_type, most", rest_slow([
    ("c", "int64", 2**31), ("cuda", "int32", 2**15), ("glsl", "int32", 2**15), ("javascript", "int53", 2**26),
]))  # fmt: skip
def test_a_position_fits(language, index_type, most):
    """A side that nothing bounds is so small that a position fits the type of the language."""
    unit = emitted("hilbert", language)
    for f in unit.functions:
        assert f.index_type == index_type
        assert not f.unseen
        assert next(p for p in f.params if p.name == "n").hi == most


@pytest.mark.parametrize("end", rest_slow([2**14, 2**14 + 1, 2**15, 100]))
@pytest.mark.parametrize("name", ["hilbert.2D", "morton.2D"])
def test_a_side_has_no_more_bits_than_its_range(name, end):
    unit = generate(catalogue[name](n, n), "c", assume=POWER, ranges={"n": (1, end)})
    assert unit.source.count("while (") == 2
    assert {f.index_type for f in unit.functions} == {"int32"}


@pytest.mark.parametrize("name", ["hilbert", "hilbert3", "unequal"])
def test_without_signs(name, toolchain_of):
    toolchain_of("c")
    entry, sizes, assume, _ = CASES[name]
    unit = generate(catalogue[entry](*sizes), "c", name=name, assume=assume, index_type="uint32")
    assert unit.verify(sizes={"n": 8, "m": 4} if m in sizes else {"n": 8})


@pytest.mark.slow
def test_a_range_beyond_32_bits_takes_64():
    unit = generate(
        catalogue["hilbert.2D"](n, n), "cuda", assume=POWER, ranges={"n": (1, 2**20 + 1)}
    )
    assert {f.index_type for f in unit.functions} == {"int64"}
    assert next(p for p in unit.functions[0].params if p.name == "n").hi == 2**20


@pytest.mark.slow
def test_a_product_fits_by_a_precondition():
    for text, said in (
        (
            generate(catalogue["hilbert.2D"](n * m, n * m), "c", assume=POWERS).source,
            "m*n <= 2147483648",
        ),
        (generate(in_branch, "c", assume=POWER).source, "x <= y || n <= 2147483648"),
    ):
        assert f"@pre {said}\n" in text
        assert "k < 31" in text


def in_branch(n, x, y):
    return catalogue["hilbert.2D"](n, n)[x, y] if x > y else 0


@pytest.mark.slow
def test_the_header_says_it():
    unit = emitted("unequal")
    assert unit.functions[0].assumptions == (
        "n >= 1 and n & n - 1 == 0",
        "m >= 1 and m & m - 1 == 0",
    )
    fits = unit.compile()["unequal_fits"]
    assert [fits(8, k) for k in range(9)] == [k in (1, 2, 4, 8) for k in range(9)]


def test_in_a_function(toolchain_of):
    toolchain_of("c")
    curve = catalogue["hilbert.2D"]

    def place(n, base, x, y):
        return base + 4 * curve(n, n)[x, y]

    call = generate(place, "c", assume=POWER, ranges={"base": (0, 9)}).compile()["place"]
    known = curve(8, 8)
    assert all(call(8, 5, x, y) == 5 + 4 * known.apply(x, y) for x in range(8) for y in range(8))


def test_of_numbers_in_a_function(toolchain_of):
    """The cube's curve of numbers is the loop of symbols: made in a function, at symbols and at numbers."""
    toolchain_of("c")

    def place(x, y, z):
        cube = catalogue["hilbert.3D"](8, 8, 8)
        return cube[x, y, z] + cube[1, 2, 3]

    unit, cube = generate(place, "c"), catalogue["hilbert.3D"](8, 8, 8)
    assert unit.source.count("while (") == 1
    call = unit.compile()["place"]
    assert call(5, 2, 7) == cube.apply(5, 2, 7) + cube.apply(1, 2, 3)


@pytest.mark.parametrize("name", ["hilbert", "unequal"])
def test_verify_and_check(name, toolchain_of):
    toolchain_of("c")
    entry, sizes, _, _ = CASES[name]
    unit, given = emitted(name), {"n": 8, "m": 4} if m in sizes else {"n": 8}
    assert unit.verify(sizes=given)
    assert "inv undoes apply" in catalogue[entry](*sizes).check(**given)
    with pytest.raises(LegoError, match=r"n & n - 1 == 0, which is false for n = 6"):
        unit.verify(sizes=given | {"n": 6})


@pytest.mark.slow
def test_sizes_of_sympy():
    side = sympy.Symbol("n", integer=True, positive=True)
    text = generate(catalogue["hilbert.2D"](side, side), "c", name="hilbert", assume=POWER).source
    assert text == emitted("hilbert").source


# -- the fact --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, assume", rest_slow([
    (n, ["n >= 1", "n & n - 1 == 0"]),
    (n, ["n >= 1 and pow2(n)"]),
    (2 * n, ["pow2(n)"]),
    (2 * n, ["pow2(2*n)"]),
    (n * m, ["pow2(m)", "pow2(n)"]),
    (n // 8, ["pow2(n)", "n % 8 == 0"]),
    (n // 8, ["n % 8 == 0", "pow2(n)"]),
    (n // 8, ["pow2(n // 8)"]),
], 2))  # fmt: skip
def test_it_is_known_of_what_is_made_of_it(size, assume):
    unit = generate(catalogue["morton.2D"](size, size), "c", name="curve", assume=assume)
    values = {"n": 16, "m": 2, "i": 1, "j": 1}
    given = {p.name: values[p.name] for p in unit.functions[0].params}
    assert unit.functions[0].evaluate(given) == {"flat": 3}


@pytest.mark.parametrize("size, assume", [
    (n, []), (n, ["n >= 8"]), (n, ["n & n - 2 == 0"]), (m * n, ["pow2(m)"]), (3 * n, ["pow2(n)"]),
    (n + 8, ["pow2(n)"]),
])  # fmt: skip
def test_it_is_not_known_of_others(size, assume):
    with pytest.raises(
        LayoutError, match=r"is not known to be a power of two; say so with assume=\[.pow2"
    ):
        generate(catalogue["morton.2D"](size, size), "c", assume=assume)


def test_points_are_drawn_of_powers():
    (apply, _) = emitted("unequal").program.functions
    sides = {(point["n"], point["m"]) for point in Points(apply).draw(200)}
    assert len(sides) > 30
    assert all(not a & a - 1 and not b & b - 1 for a, b in sides)


def test_a_bijection_of_powers_alone():
    """An own layout that is one for powers of two only is looked at for those, and refused for others."""
    flip = GenP([n], lambda i: i ^ n - 1 & 5, lambda flat: flat ^ n - 1 & 5)
    assert "n & (n - 1)" in generate(flip, "c", assume=POWER).source
    with pytest.raises(LayoutError, match="not a bijection"):
        generate(flip, "c")


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("call, said", [
    (lambda: generate(catalogue["hilbert.2D"](n, n), "c"),
     'catalogue["hilbert.2D"]: n is not known to be a power of two; say so with assume=["pow2(n)"], or give a number'),
    (lambda: generate(catalogue["morton.2D"](n, m), "c", assume=POWER),
     'catalogue["morton.2D"]: m is not known to be a power of two; say so with assume=["pow2(m)"], or give a number'),
    (lambda: generate(catalogue["hilbert.2D"](n, n), "c", assume=POWER, ranges={"n": (5, 8)}),
     'catalogue["hilbert.2D"]: n lies in 5..7, where no power of two is; give a wider range'),
    (lambda: catalogue["hilbert.2D"](n, m), "width is n, height is m; sizes that are symbols are one size"),
    (lambda: catalogue["hilbert.3D"](n, n, 8), "width is n, height is n, depth is 8; sizes that are symbols"),
    (lambda: catalogue["morton.2D"](12, n), "rows is 12; beside a symbol it is a power of two"),
    (lambda: catalogue["hilbert.2D"](n, n).check(n=6), "the side is 6; it is a power of two"),
    (lambda: generate(catalogue["hilbert.2D"](n, n), "c", assume=POWER, sizes={"n": 6}), "the side is 6"),
    (lambda: catalogue["hilbert.2D"](n, n).apply(1, 2), "n is not known to be a power of two"),
    (lambda: generate(catalogue["hilbert.2D"](n, n), "mlir", assume=POWER), "MLIR has no loop"),
])  # fmt: skip
@pytest.mark.quick(4)
def test_refuses(call, said):
    with pytest.raises(LegoError, match=re.escape(said)):
        call()


@pytest.mark.parametrize(
    "text", ["pow2(n, 2)", "pow2()", "pow2(n) + 1 == 2", "pow2(n) == 1", "pow2 == n(1)"]
)
def test_no_such_fact(text):
    with pytest.raises(AssumptionError, match=r"is not a relation|cannot read"):
        generate(catalogue["hilbert.2D"](n, n), "c", assume=[text])


def test_a_side_that_is_a_number_ends_its_loop(toolchain_of):
    """while_ is asked behind the last round, too, where the bit is no bit of the side: it is not known to hold."""
    toolchain_of("c")
    n = symbols("n")
    for side in (1, 4, 16):
        unit = generate(catalogue["hilbert.2D"](n, n), "c", assume=["pow2(n)"], sizes={"n": side})
        assert "while (1" not in unit.source
        run, curve = unit.compile(), catalogue["hilbert.2D"](side, side)
        for i, j in product(range(side), repeat=2):
            flat = run["layout_apply"](i, j)
            assert flat == curve.apply(i, j) and run["layout_inv"](flat) == (i, j)
