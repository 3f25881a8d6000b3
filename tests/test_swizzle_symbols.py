"""Swizzles whose numbers are symbols: what they give, what is emitted, what is refused."""

import doctest
import shutil

import numpy as np
import pytest
import sympy
from marks import rest_slow

from lego_emit import cute, fori_loop, generate, symbols
from lego_emit.cute import Strided, Swizzle, Swizzled
from lego_emit.errors import IndexRangeError, LayoutError, TraceError
from lego_emit.proofcheck.check import check
from lego_emit.run.registry import toolchain

B, M, S, ROWS = symbols("b m s rows")
NUMBERS = [(b, m, s) for b in range(4) for m in range(5) for s in range(b, 5)]
X = {"x": (0, 1024)}
SYMBOLIC = Swizzle(B, M, S)
TILE = Swizzled(SYMBOLIC, Strided((16, 64), (64, 1)))


def swizzled(x, b, m, s):
    return Swizzle(b, m, s)(x)


def places(x, b, m, s):
    return Swizzled(Swizzle(b, m, s), Strided((16, 64), (64, 1)))[x // 64, x % 64]


def named(b, m, s):
    return {"b": b, "m": m, "s": s}


@pytest.mark.slow
@pytest.mark.parametrize("subject", rest_slow([swizzled, places]))
def test_emission_agrees_with_numbers(subject):
    unit = generate(subject, "c", ranges=X)
    (function,) = unit.functions
    for numbers in NUMBERS:
        wanted = Swizzle(*numbers)(np.arange(1024)).tolist()
        for x in range(0, 1024, 1 if subject is swizzled else 7):
            assert function.evaluate({"x": x, **named(*numbers)}) == {"result": wanted[x]}
            assert subject(x, *numbers) == wanted[x]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc")
def test_compiled_c_agrees_with_numbers():
    unit = generate(swizzled, "c", ranges=X)
    report = unit.verify(sizes=named(*NUMBERS[-1]))
    assert report and "swizzled and the Python function: equal (1,024 indices" in str(report)
    (compiled,) = toolchain("c").compile([unit])
    x = np.arange(1024)
    for numbers in NUMBERS:
        assert (compiled["swizzled"](x, *numbers) == Swizzle(*numbers)(x)).all()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc")
@pytest.mark.parametrize("subject", [SYMBOLIC, TILE])
def test_subjects_of_symbols_are_compared(subject):
    unit = generate(subject, "c", ranges={"position": (0, 1024)} if subject is SYMBOLIC else None)
    for numbers in [(0, 0, 0), (3, 4, 4), (2, 1, 3)]:
        report = unit.verify(sizes=named(*numbers))
        assert report and ": equal (1,024 indices" in str(report)


def test_expressions_agree_with_numbers():
    x, b, m, s = sympy.symbols("x b m s", integer=True)
    found = Swizzle(b, m, s)(x)
    assert found.free_symbols == {x, b, m, s} and Swizzle(2, 0, s)(3).free_symbols == {s}
    for at in [(0, 0, 0, 0), (1000, 3, 4, 4), (777, 2, 1, 3)]:
        value = found.subs(dict(zip((x, b, m, s), at, strict=True)))
        assert value == Swizzle(*at[1:])(at[0])
    unit = generate(Swizzle(b, m, s), "c", ranges={"position": (0, 1024)})
    assert unit.functions[0].evaluate({"position": 777, **named(2, 1, 3)}) == {
        "result": Swizzle(2, 1, 3)(777)
    }


def test_it_undoes_itself():
    unit = generate(lambda x, b, m, s: Swizzle(b, m, s)(Swizzle(b, m, s)(x)), "c", ranges=X)
    for x in range(0, 1024, 5):
        assert unit.functions[0].evaluate({"x": x, **named(3, 1, 3)}) == {"result": x}


@pytest.mark.parametrize(
    "target, text",
    [
        ("c", "return ((((1 << b) - 1) << m) & (x >> s)) ^ x;"),
        ("rust", "((((1 << b) - 1) << m) & (x >> s)) ^ x\n"),
        (
            "fortran",
            "= ieor(iand(shiftl(shiftl(1_int32, b) - 1_int32, m), shifta(x, s)), x)",
        ),
        ("javascript", "return ((((1 << b) - 1) << m) & (x >> s)) ^ x;"),
        ("glsl", "return ((((1 << b) - 1) << m) & (x >> s)) ^ x;"),
    ],
)
def test_text(target, text):
    unit = generate(swizzled, target, ranges=X)
    assert text in unit.source and "int64" not in unit.source
    for condition in ("0 <= b < 16", "0 <= m < 16", "b <= s < 32", "0 <= x < 1024"):
        assert condition in unit.source


def headed(function, **ranges):
    return generate(function, "c", ranges=X | ranges).source


def test_what_is_said_stays():
    text = headed(swizzled, b=(0, 3), m=(2, 20), s=(4, 9))
    assert all(f"@param {c}\n" in text for c in ["b 0 <= b < 3", "m 2 <= m < 20", "s 4 <= s < 9"])
    assert "@param b 0 <= b < 4\n" in headed(lambda x, b, m: Swizzle(b, m, 3)(x))
    assert "@param s 2 <= s < 32\n" in headed(lambda x, m, s: Swizzle(2, m, s)(x))
    text = headed(lambda x, b, m, k: Swizzle(b, m, b + k)(x), b=(0, 4), k=(0, 9))
    assert "x >> (b + k)" in text and "@pre" not in text
    text = headed(lambda x, b, m, k: Swizzle(b, m, b * k)(x), b=(0, 4), k=(0, 9))
    assert "/// @pre b <= b*k\n" in text


def test_sizes_fix_symbols():
    unit = generate(SYMBOLIC, "c", ranges={"position": (0, 1024)}, sizes=named(2, 1, 3))
    assert "return position ^ ((position >> 3) & 6);" in unit.source
    assert "return ((3 << m) & (position >> s)) ^ position;" in generate(
        SYMBOLIC, "c", ranges={"position": (0, 1024)}, sizes={"b": 2}
    ).source  # fmt: skip


def guarded(x, b, m, s):
    if s >= b:
        return Swizzle(b, m, s)(x)
    return x


def unguarded(x, b, m, s):
    if x > 99:
        return Swizzle(b, m, s)(x)
    return x


def test_in_a_branch():
    small = {"b": (0, 4), "m": (0, 8), "s": (0, 9)}
    text = headed(guarded, **small)
    assert "@pre" not in text and "@param s 0 <= s < 9\n" in text
    assert "/// @pre x <= 99 || b <= s\n" in headed(unguarded, **small)


def test_in_a_loop():
    def rounds(x, n, b, m, s):
        return fori_loop(0, n, lambda k, at: Swizzle(b, m, s)(at) + k, x)

    def of_the_round(x, n, m):
        return fori_loop(0, n, lambda k, at: Swizzle(k, m, k)(at), x)

    text = headed(rounds, n=(0, 4))
    assert all(c in text for c in ["@param b 0 <= b < 16", "@param s b <= s < 32"])
    unit = generate(of_the_round, "c", ranges={"n": (0, 4), **X})
    assert "of_the_round(int32_t x, int32_t n, int32_t m)" in unit.source
    wanted = of_the_round(777, 3, 1)
    assert unit.functions[0].evaluate({"x": 777, "n": 3, "m": 1}) == {"result": wanted}


def test_a_layout_of_symbols():
    layout = Swizzled(SYMBOLIC, Strided((ROWS, 64), (64, 1)))
    unit = generate(layout, "c")
    (function,) = unit.functions
    names = ["rows", "b", "m", "s", "i", "j"]
    assert function.name == "layout_apply" and [p.name for p in function.params] == names
    at = {"rows": 8, **named(3, 0, 3), "i": 3, "j": 5}
    wanted = Swizzled(Swizzle(3, 0, 3), Strided((8, 64), (64, 1))).apply(3, 5)
    assert function.evaluate(at) == {"flat": wanted}
    assert layout.check(rows=8, b=3, m=0, s=3).startswith("512 indices")
    composed = cute.composition(SYMBOLIC, "(8,64):(64,1)")
    assert composed == Swizzled(SYMBOLIC, Strided((8, 64), (64, 1)))
    assert str(composed) == "S<b,m,s> o 0 o (8,64):(64,1)"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc")
def test_a_distance_that_is_a_symbol_has_an_inverse():
    """The bits that change are numbers, and the size is a multiple of what they permute."""
    layout = Swizzled(Swizzle(3, 3, S), Strided((ROWS, 64), (64, 1)))
    unit = generate(layout, "c", walk="memory")
    for rows, s in ((8, 3), (5, 6), (1, 9)):
        assert unit.verify(sizes={"rows": rows, "s": s})
        assert layout.check(rows=rows, s=s).endswith("inv undoes apply")
        plain = Swizzled(Swizzle(3, 3, s), Strided((rows, 64), (64, 1)))
        at = {"rows": rows, "s": s, "flat": 37}
        assert tuple(unit.functions[1].evaluate(at).values()) == plain.inv(37)
    odd = Swizzled(Swizzle(3, 3, S), Strided((5, 9), (9, 1)))
    assert not odd.has_inverse and not TILE.has_inverse
    assert len(generate(odd, "c").functions) == 1


def test_equality():
    assert Swizzle(B, M, S) == SYMBOLIC and hash(Swizzle(B, M, S)) == hash(SYMBOLIC)
    assert Swizzle(B, M, 3) != SYMBOLIC != Swizzle(2, 0, 2) and SYMBOLIC != 3
    assert Swizzle(B - B + 2, 0, 2) == Swizzle(2, 0, 2) and Swizzle(sympy.Integer(2), 0, 2)(8) == 10
    assert not SYMBOLIC.is_concrete and Swizzle(2, 0, 2).is_concrete


@pytest.mark.parametrize("subject", [SYMBOLIC, swizzled, TILE])
def test_a_certificate_is_proved(subject):
    ranges = {"b": (0, 3), "m": (0, 2), "s": (3, 5)}
    name = {id(SYMBOLIC): "position", id(swizzled): "x"}.get(id(subject))
    unit = generate(subject, "c", ranges=ranges | ({name: (0, 64)} if name else {}))
    report = check(unit.certificate().data, unit.source, subject)
    assert {line.verdict for line in report.lines} == {"proved"}


NEEDS = (
    "Swizzle(b, m, s) has the symbol b, and this takes numbers alone; give a number for b, or call"
)


@pytest.mark.parametrize(
    "make, construct",
    [
        (lambda: SYMBOLIC.mask, "Swizzle(b, m, s).mask"),
        (lambda: SYMBOLIC.span, "Swizzle(b, m, s).span"),
        (lambda: TILE.inv(3), "the inv of Swizzled("),
        (lambda: TILE.inverse(), "the inverse of Swizzled("),
        (lambda: TILE.physical_size, "the physical_dims of Swizzled("),
        (lambda: cute.layout("S<b,m,s> o 0 o 8:1"), "layout('S<b,m,s> o 0 o 8:1')"),
        (lambda: cute.to_cute(TILE), "to_cute(Swizzled("),
        (lambda: cute.right_inverse(TILE), "right_inverse(S<b,m,s> o 0"),
        (lambda: cute.left_inverse(TILE), "left_inverse(S<b,m,s> o 0"),
        (lambda: cute.composition("8:1", SYMBOLIC), "composition(8:1, S<b,m,s>)"),
        (lambda: cute.composition("8:1", TILE), "composition(8:1, S<b,m,s> o 0"),
        (lambda: cute.upcast(TILE, 2), "upcast(S<b,m,s> o 0"),
        (lambda: cute.downcast(TILE, 2), "downcast(S<b,m,s> o 0"),
        (lambda: cute.max_common_layout(TILE, "8:1"), "max_common_layout("),
        (lambda: cute.tma_swizzle(TILE, 16), "tma_swizzle("),
    ],
)
def test_what_needs_numbers_refuses_symbols(make, construct):
    with pytest.raises(LayoutError) as error:
        make()
    assert str(error.value).startswith(construct) and f": {NEEDS}" in str(error.value)


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (lambda: Swizzle(B, 0, -3), LayoutError, "beside a symbol it is at least 0"),
        (lambda: Swizzle(B, -1, 3), LayoutError, "M is -1; give an integer from 0 on or a symbol"),
        (lambda: Swizzle(3, M, 2), LayoutError, "the 3 bits overlap those 2 away"),
        (lambda: Swizzle("b", 0, 3), LayoutError, "B is 'b'"),
        (lambda: SYMBOLIC(np.arange(3)), IndexRangeError, "or numbers for the symbols"),
        (lambda: SYMBOLIC("x"), IndexRangeError, "give an integer or a symbol"),
        (lambda: TILE.show(), LayoutError, "integer sizes"),
        (lambda: headed(swizzled, s=(0, 100)), TraceError, "0 <= s < 32"),
        (lambda: headed(unguarded), TraceError, "0 <= b < 32"),
    ],
)
def test_refused(make, kind, says):
    with pytest.raises(kind) as error:
        make()
    assert says in str(error.value)


def test_the_example_of_its_docstring():
    (example,) = doctest.DocTestFinder().find(Swizzle, "Swizzle", globs={"Swizzle": Swizzle})[:1]
    assert doctest.DocTestRunner().run(example) == (0, 1)
