"""fori_loop: on integers, followed with symbols, emitted in each language, and what is refused."""

import random
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from marks import rest_deep

import lego_emit
from lego_emit import Col, GroupBy, LegoError, Lookup, RegP, fori_loop, generate, golden
from lego_emit.arith.analyzer import Analyzer
from lego_emit.arith.expr import Expr
from lego_emit.errors import InternalError
from lego_emit.lower import loops
from lego_emit.types import U16, Array, Static

LANGUAGES = (
    "c", "cpp", "cuda", "hip", "opencl", "metal", "rust", "fortran", "julia", "glsl", "wgsl", "javascript",
    "python", "numpy", "triton",
)  # fmt: skip
ARRAYS = ("numpy", "triton")  # where elements that have no more rounds are masked


def bits(n, i):
    return fori_loop(0, n, lambda k, s: s + (i >> k & 1) * 3, 0)


def hilbert(n, x, y):
    """The place of (x, y) on the Hilbert curve of 2^n by 2^n points."""

    def step(k, state):
        x, y, d = state
        rx, ry = x >> n - 1 - k & 1, y >> n - 1 - k & 1
        if ry == 0:
            if rx == 1:
                x, y = (1 << n) - 1 - x, (1 << n) - 1 - y
            x, y = y, x
        return x, y, d * 4 + (3 * rx ^ ry)

    return fori_loop(0, n, step, (x, y, 0))[2]


def hilbert_inv(n, d):
    """The point at a place of the Hilbert curve of 2^n by 2^n points."""

    def step(k, state):
        x, y, t = state
        rx, ry = 1 & t >> 1, 1 & (t ^ t >> 1)
        if ry == 0:
            if rx == 1:
                x, y = (1 << k) - 1 - x, (1 << k) - 1 - y
            x, y = y, x
        return x + (rx << k), y + (ry << k), t >> 2

    x, y, _ = fori_loop(0, n, step, (0, 0, d))
    return x, y


class Both(NamedTuple):
    low: int
    high: int


def deinterleave(n, z):
    def step(k, both):
        return Both(
            both.low | (z >> 2 * k & 1) << k,
            both.high | (z >> 2 * k + 1 & 1) << k,
        )

    return fori_loop(0, n, step, Both(0, 0))


def chain(n, i):
    a = fori_loop(0, n, lambda k, s: s + i, 1)
    return fori_loop(1, 4, lambda k, s: s * 2 + a - k, a)


def gcd(a, b):
    state = fori_loop(
        0, 64, lambda k, s: (s[1], s[0] % s[1]), (a, b), 64, while_=lambda k, s: s[1] > 0
    )
    return state[0]


def nested(n, m, i):
    def outer(a, total):
        return total + fori_loop(a, m, lambda b, t: t + (a * b ^ i), 1)

    return fori_loop(0, n, outer, 0) + i


def in_branch(n, i):
    if i > 5:
        return fori_loop(0, n, lambda k, s: s + k % (i - 5), i)
    return i * 2


def swapped(n, i):
    return fori_loop(0, n, lambda k, s: (s[1], s[2], s[0] + i), (1, 2, i))[0]


def halved(n, i):
    """Rounds as long as a bit is left: nothing counts them."""

    def step(_, state):
        bit, sum = state
        return bit >> 1, 3 * sum + ((bit & i) != 0)

    return fori_loop(0, 6, step, (n, i), while_=lambda _, state: state[0] != 0)[1]


PERM = Lookup([8], [3, 1, 4, 0, 5, 7, 2, 6])


def looked_up(n, i):
    return fori_loop(0, n, lambda k, s: s + PERM[(k + i) % 8], 0)


SMALL = ["0 <= n", "n < 6", "0 <= i", "i < 40"]
CASES = {
    bits: ["0 <= n", "n < 11", "0 <= i", "i < 100"],
    hilbert: ["0 <= n", "n <= 3", "0 <= x", "x < 8", "0 <= y", "y < 8"],
    hilbert_inv: ["0 <= n", "n <= 3", "0 <= d", "d < 64"],
    deinterleave: ["0 <= n", "n <= 3", "0 <= z", "z < 64"],
    chain: SMALL,
    swapped: SMALL,
    halved: ["0 <= n", "n < 64", "0 <= i", "i < 64"],
}
ENDING = {
    gcd: ["0 <= a", "0 <= b", "a < 40", "b < 40"],
    nested: ["0 <= n", "n <= 4", "0 <= m", "m <= 4", "0 <= i", "i < 9"],
    in_branch: SMALL,
    looked_up: SMALL,
}


# -- on integers -----------------------------------------------------------------------------------


def test_it_runs_on_integers():
    assert fori_loop(0, 5, lambda k, s: s + k, 0) == 10
    assert fori_loop(3, 3, lambda k, s: s + k, 7) == 7
    assert fori_loop(5, 3, lambda k, s: s + k, 7) == 7
    assert fori_loop(0, 3, lambda k, s: Both(s.high, s.low + k), Both(1, 2)) == Both(3, 3)
    assert fori_loop(0, 9, lambda k, s: s + 1, 0, while_=lambda k, s: s < 4) == 4
    assert hilbert(3, 5, 2) == 55
    assert hilbert_inv(3, 55) == (5, 2)


# -- emitted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_loops_are_verified_whole(language, toolchain_of):
    toolchain_of(language)
    cases = CASES if language in ARRAYS else CASES | ENDING
    for function, assume in cases.items():
        unit = generate(function, language, assume=assume)
        assert unit.verify()


@pytest.mark.parametrize("language", rest_deep(("c", "rust", "julia", "javascript", "wgsl")))
def test_without_signs(language, toolchain_of):
    toolchain_of(language)
    for function in (bits, deinterleave, chain, looked_up):
        unit = generate(function, language, assume=(CASES | ENDING)[function], index_type="uint32")
        assert unit.verify()


def test_random_arguments(toolchain_of):
    """Of run-time order up to 15, in 64 bits of C, beside the function itself."""
    toolchain_of("c")
    rng, call = (
        random.Random(1),
        generate(hilbert, "c", assume=["0 <= n", "n <= 15"]).compile()["hilbert"],
    )
    for _ in range(300):
        n = rng.randrange(16)
        x, y = rng.randrange(1 << n), rng.randrange(1 << n)
        assert call(n, x, y) == hilbert(n, x, y)


class Point(NamedTuple):
    x: int
    y: int


def turned(p: Point, n: int) -> Point:
    return Point(*fori_loop(0, n, lambda k, s: (s[1], s[0] + p.x), (p.x, p.y)))


def of_array(dims: Array[2], i: int, n: int) -> int:
    return fori_loop(0, n, lambda k, s: s * 2 + i % dims[0], dims[1])


def narrow(n: U16, i: U16) -> int:
    return fori_loop(0, n, lambda k, s: s + i % 7, 0)


def static(BM: Static[int], n: int, i: int) -> int:
    return fori_loop(0, n, lambda k, s: s + i // BM, 0)


def of_layout(n, j):
    tile = GroupBy([8, 4]).OrderBy(Col(8, 4))
    return fori_loop(0, n, lambda k, s: s + tile[k, j], 0)


@pytest.mark.parametrize(
    "language", rest_deep(("cpp", "c", "rust", "fortran", "julia", "glsl", "javascript"))
)
def test_signatures_and_layouts(language, toolchain_of):
    toolchain_of(language)
    inside = ["0 <= n", "n < 5", "0 <= i", "i < 9"]
    point = [f"{c} p.{m} {b}" for m in "xy" for c, b in (("0 <=", ""), ("", "< 9"))]
    cases = [
        (turned, {"assume": [*point, "0 <= n", "n < 5"]}),
        (
            of_array,
            {"assume": [*inside, "1 <= dims[0]", "dims[0] < 5", "0 <= dims[1]", "dims[1] < 5"]},
        ),
        (static, {"assume": inside, "sizes": {"BM": 4}}),
        (of_layout, {"assume": ["0 <= n", "n <= 8"]}),
    ]
    if language in ("cpp", "c", "rust"):
        cases.append((narrow, {"assume": ["n < 5", "i < 60"]}))
    for function, options in cases:
        assert generate(function, language, **options).verify()


@pytest.mark.parametrize("results", ["out", "inout"])
def test_results_that_are_written(results, toolchain_of):
    toolchain_of("c")
    unit = generate(
        turned, "c", assume=["0 <= p.x", "p.x < 9", "0 <= p.y", "p.y < 9", "n < 5"], results=results
    )
    assert unit.verify(sizes={"n": 4})


@pytest.mark.parametrize("options", [{"checks": True}, {"hints": True}, {"methods": "n"}])
def test_options(options, toolchain_of):
    toolchain_of("cpp")
    assert generate(bits, "cpp", assume=CASES[bits], **options).verify()


# -- the text --------------------------------------------------------------------------------------


def body(unit):
    text = unit.source
    start = text.index("{\n", text.index("static inline")) + 2
    return text[start : text.index("\n}", start)]


def test_the_text_is_a_loop():
    unit = generate(
        hilbert, "c", assume=["0 <= n", "n <= 15", "0 <= x", "x < 2**n", "0 <= y", "y < 2**n"]
    )
    assert (
        body(unit)
        == """\
  int32_t x_2 = x;
  int32_t y_2 = y;
  int32_t d = 0;
  for (int32_t k = 0; k < n; ++k) {
    const int32_t difference = n - k - 1;
    const int32_t bits = (y_2 >> difference) & 1;
    const int32_t bits_2 = (x_2 >> difference) & 1;
    const int32_t shifted = 1 << n;
    const int32_t next_x_2 = bits == 0 ? (bits_2 == 1 ? shifted - y_2 - 1 : y_2) : x_2;
    d = 4 * d + (bits ^ 3 * bits_2);
    y_2 = bits == 0 ? (bits_2 == 1 ? shifted - x_2 - 1 : x_2) : y_2;
    x_2 = next_x_2;
  }
  return d;"""
    )


def test_a_loop_that_ends_early():
    assert (
        body(generate(gcd, "c", assume=["a >= 0", "b >= 0"]))
        == """\
  int64_t s0 = a;
  int64_t s1 = b;
  for (int64_t k = 0; k < 64; ++k) {
    if (s1 < 1) break;
    const int64_t next_s0 = s1;
    s1 = s0 % s1;
    s0 = next_s0;
  }
  return s0;"""
    )


def test_a_loop_that_its_condition_ends():
    assert (
        body(generate(halved, "c", assume=CASES[halved]))
        == """\
  int32_t bit = n;
  int32_t sum = i;
  while (bit != 0) {
    sum = 3 * sum + ((bit & i) != 0);
    bit >>= 1;
  }
  return sum;"""
    )


@pytest.mark.parametrize("part", ["going", "next"])
def test_a_loop_that_does_not_end_is_not_given_out(part, monkeypatch):
    """The check of an emission runs a loop as the text has it, which has no number of rounds."""

    def without_end(loop):
        return [p and (endless(p) if p.name == part else p) for p in of_round(loop)]

    def endless(problem):
        states = [known.symbol(n) for n in problem.parameters.names[1:3]] if part == "next" else []
        outputs = [
            (n, e) for (n, _), e in zip(problem.outputs, states or [Expr.of(1)], strict=True)
        ]
        return replace(problem, outputs=outputs)

    known, of_round = Analyzer(), loops._of_round
    monkeypatch.setattr(loops, "_of_round", without_end)
    with pytest.raises(
        InternalError, match="the loop of bit, sum goes on after 6 rounds, its most"
    ):
        generate(halved, "c", name="f", assume=CASES[halved])


@pytest.mark.parametrize("going", ["!= 0", "> 0", ">= 1", "* 2 > 1"])
@pytest.mark.parametrize("first", ["n", "32"])
def test_each_way_to_say_that_bits_are_left(going, first):
    names = {"fori_loop": fori_loop}
    step = "lambda _, s: (s[0] >> 1, s[1] * 2 + (s[0] & i & 1))"
    text = (
        f"lambda n, i: fori_loop(0, 6, {step}, ({first}, n), while_=lambda _, s: s[0] {going})[1]"
    )
    unit = generate(eval(text, names), "c", name="f", assume=CASES[halved])
    assert "while (" in unit.source
    assert "for (" not in unit.source


def of_bits(n, i, upper=6, most=32, number=0, **more):
    """The bits of n, in a loop that counts its rounds where something asks for that."""

    def step(k, s):
        return s[0] >> 1, s[1] + i + k * number

    return fori_loop(0, upper, step, (n, 0), most, while_=lambda k, s: s[0] != k * number, **more)[
        1
    ]


@pytest.mark.parametrize("counted", [
    lambda n, i: of_bits(n, i, upper=5),
    lambda n, i: of_bits(n, i, upper=i),
    lambda n, i: of_bits(n, i, upper=70, most=70),
    lambda n, i: of_bits(n, i, number=1),
    lambda n, i: of_bits(n, i) if i > 2 else i,
    lambda n, i: fori_loop(0, 6, lambda k, s: s + i, n, while_=lambda k, s: k < n),
    lambda n, i: fori_loop(
        0, 4, lambda k, s: s + 1, 0, while_=lambda k, s: s < 4, invariant=lambda k, s: s == k
    ) + fori_loop(0, 3, lambda k, s: s + 1, i * 0, while_=lambda k, s: s < n, invariant=lambda k, s: s <= k),
])  # fmt: skip
def test_a_loop_that_may_end_otherwise_counts(counted, toolchain_of):
    """Where the last round is not known to be that of the condition, the number of rounds ends the loop."""
    toolchain_of("c")
    unit = generate(counted, "c", name="f", assume=["0 <= n", "n < 64", "0 <= i", "i < 6"])
    assert "while (" not in unit.source
    assert "for (" in unit.source
    assert unit.verify()


def test_what_no_symbol_changes_is_a_number():
    unit = generate(
        lambda i: fori_loop(0, 5, lambda k, s: s + k, 0) + i, "c", name="f", ranges={"i": (0, 9)}
    )
    assert "for" not in unit.source
    assert "i + 10" in unit.source


@pytest.mark.slow
def test_a_state_is_bounded():
    """By what a few rounds make of it, by the range of the parameter that it is at first, or by an invariant."""
    (f,) = generate(bits, "c", assume=CASES[bits]).functions
    assert f.index_type == "int32"
    (f,) = generate(
        hilbert, "c", assume=["0 <= n", "n <= 15"], ranges={"x": (0, "2**n"), "y": (0, "2**n")}
    ).functions
    assert f.index_type == "int32"
    assert not f.unseen

    def within(n, i, m):
        return fori_loop(0, n, lambda k, s: (s + i) % m, 0, invariant=lambda k, s: [s >= 0, s < m])

    (f,) = generate(
        within, "c", assume=["n >= 0", "0 <= i", "i < 99", "1 <= m", "m <= 50"]
    ).functions
    assert f.result_range == "0 <= the result < 50"


def test_the_number_of_rounds_is_a_precondition():
    unit = generate(bits, "c", assume=["n >= 0", "0 <= i", "i < 99"])
    assert unit.functions[0].assumptions == ("n <= 32",)
    assert unit.functions[0].evaluate({"n": 32, "i": 98}) == {"result": bits(32, 98)}


def test_a_certificate_does_not_cover_it():
    unit = generate(bits, "cpp", assume=CASES[bits])
    with pytest.raises(LegoError, match="bits has a loop, of which a certificate knows nothing"):
        unit.certificate()


# -- what is refused -------------------------------------------------------------------------------


def two(k, s):
    return s, s


def grows(k, s):
    return (*s, 1)


REFUSED = [
    (lambda n: fori_loop(0, n, two, 0), {}, r"the body gives \(s, s\) for s; a state is an integer"),
    (lambda n: fori_loop(0, n, grows, (1, 2)), {}, "the state is a tuple of 2"),
    (lambda n: fori_loop(0, n, lambda k, s: "a", 0), {}, "the body gives 'a' for s"),
    (lambda n: fori_loop(0, n, None, 0), {}, "body is None, not a function"),
    (lambda n: fori_loop(0, n, lambda k, s: s, ()), {}, "init is empty"),
    (lambda n: fori_loop(0, n, lambda k, s: s, "x"), {}, "init has a str for s"),
    (lambda n: fori_loop(0, n, lambda k, s: s + 1, 0, 0), {}, "most is 0; give the number of rounds"),
    (lambda n: fori_loop(0, n, lambda k, s: s + 1, 0, 5000), {}, "from 1 to 4096"),
    (lambda n: fori_loop(0, 40, lambda k, s: s + n, 0), {}, "40 rounds or more, and most is 32"),
    (lambda n: fori_loop(0, 5000, lambda k, s: s + n, 0), {}, "most is 32; a loop has 4096 at most"),
    (lambda n: fori_loop(0, n, lambda k, s: s + 1, 0, while_=lambda k, s: 3), {}, "while_ gives 3"),
    (
        lambda n: fori_loop(0, n, lambda k, s: s + 1, 0, invariant=lambda k, s: s < 2),
        {},
        "the invariant is not proven behind a round",
    ),
    (
        lambda n: fori_loop(0, n, lambda k, s: s, 5, invariant=lambda k, s: s < 2),
        {},
        "the invariant",
    ),
    (of_layout, {"assume": ["0 <= n", "n < 20"]}, "not known to lie within its layout in every round"),
    (lambda n: fori_loop(0, n, lambda k, s: s + 1, 0), {"wrapping": True, "index_type": "uint32"}, "wraps"),
    (lambda n: sum(range(n)), {}, "lego_emit.fori_loop"),
]  # fmt: skip


@pytest.mark.parametrize("function, options, said", REFUSED)
def test_what_is_refused(function, options, said):
    with pytest.raises(LegoError, match=said):
        generate(function, "c", name="f", **options)


def test_on_integers_too_many_rounds_are_refused():
    with pytest.raises(LegoError, match="40 rounds, and most is 32; give most=40 or more"):
        fori_loop(0, 40, lambda k, s: s + 1, 0)
    with pytest.raises(LegoError, match="5000 rounds, and most is 32; a loop has 4096 at most"):
        fori_loop(0, 5000, lambda k, s: s + 1, 0)


@pytest.mark.parametrize("bounds", [(0, 2.5), (None, 3), (0, "n")])
def test_on_integers_a_bound_is_an_integer(bounds):
    with pytest.raises(
        LegoError, match=r"a bound is .*; give an integer, or a symbol in a function"
    ):
        fori_loop(*bounds, lambda k, s: s + 1, 0)


def test_outside_of_a_function():
    n = lego_emit.symbols("n")
    with pytest.raises(LegoError, match="no function is followed"):
        fori_loop(0, n, lambda k, s: s + 1, 0)


def of_an_extreme(n, i):
    return fori_loop(min(n, 4), 9, lambda k, s: s + i, max(n, i))


@pytest.mark.parametrize("target, function, said", [
    ("mlir", bits, "MLIR has no loop"),
    ("mlir", of_an_extreme, "MLIR has no loop"),
    ("numpy", gcd, "ends early"),
    ("triton", nested, "another loop in it"),
])  # fmt: skip
def test_languages_without(target, function, said):
    with pytest.raises(LegoError, match=said):
        generate(function, target, assume=(CASES | ENDING).get(function, SMALL))


def test_sympy_has_no_loops():
    with pytest.raises(LegoError, match="no SymPy expression"):
        _ = generate(bits, "c", assume=CASES[bits]).sympy


# -- golden cases ----------------------------------------------------------------------------------

GOLDEN = Path(__file__).parent / "loops"
OF_ARRAYS = ("any_rank_apply", "any_rank_at", "any_rank_inv", "ragged_rows", "strided")


GOLDEN_LOOPS = pytest.mark.xdist_group("golden loops")  # one worker's, which lowers them once


@cache
def golden_cases():
    return golden.cases(GOLDEN)


@pytest.mark.slow
@GOLDEN_LOOPS
@pytest.mark.parametrize("targets", rest_deep([("c", "cpp", "rust", "julia"), None]))
def test_golden_files_are_as_they_should_be(targets, monkeypatch):
    """After a change that is meant: lego-emit golden update tests/loops. Those named share what is lowered."""
    cases = golden_cases()
    monkeypatch.setattr(golden, "cases", lambda root: cases)
    found = golden.check(GOLDEN, targets)
    assert found == [], "\n".join(map(str, found))


@GOLDEN_LOOPS
@pytest.mark.parametrize("language", rest_deep(LANGUAGES[:13], 2))
def test_golden_cases_are_run(language, toolchain_of):
    toolchain_of(language)
    cases, arrays = golden_cases(), language not in ("opencl", "glsl", "wgsl")
    cases = [case for case in cases if arrays or case.name not in OF_ARRAYS]
    found = [golden.verify(cases, language, fixed) for fixed in (False, True)]
    assert [each.mismatches for each in found] == [[], []]
    assert [each.cases for each in found] == [8 + 5 * arrays, 5 + 5 * arrays]
    assert sum(each.comparisons for each in found) > 1000


# -- what an adversary found -----------------------------------------------------------------------

WIDE = ["0 <= n", "n <= 20", "0 <= m", "m <= 10**7"]


def changed_later(n, m):
    c, r = 1, m
    if m == 7654321:
        r = fori_loop(0, n, lambda k, s: s + c * k, m)
        c = 2
    return r * c


def of_no_round(n, m):
    def body(k, s):
        return s + 1 if s > k else s - k

    if m == 777777:
        return fori_loop(n & 3, n % 4 - 2, body, n)
    return fori_loop(0, -(n & 1), body, m) + fori_loop(0, n, body, 1, while_=lambda k, s: False)


def chosen(n, m):
    a = fori_loop(0, n, lambda k, s: s + m, 1)
    b = fori_loop(0, n, lambda k, s: s + k, 2)
    return a if m < 3 else b


def in_part(n, m):
    """A state that nothing reads, and one that stays what it is."""
    first = fori_loop(0, n, lambda k, s: (7, s[1] ^ k), (m, n))[1]
    return first + fori_loop(0, n, lambda k, s: (s[0], s[1] + s[0]), (m, n))[1]


def of_a_table(n, m):
    if m < 8:
        return fori_loop(0, n, lambda k, s: s + PERM[m], 0)
    return 5


def read_by_the_unread(n, m):
    """A state of an inner loop that only a state reads that nothing does."""

    def outer(k, state):
        a, x = state
        b, c = fori_loop(k, m % 5, lambda j, s: (s[1], s[1] + j), (2 * k, m % 7))
        return a + (c if c < b else k), (x + c) % 50

    return fori_loop(0, n, outer, (n, m % 3))[1]


def inside_alone(n, m):
    """A loop of a round, which reads nothing of it, has a value only where there is one."""

    def outer(k, s):
        return s + fori_loop(0, 3, lambda j, t: t + n // (m - 2), 0) + k

    return fori_loop(0, n, outer, 0, while_=lambda k, s: m > 2)


def mixed(n, m):
    """Three states, each of which reads the others."""
    a, b, c = fori_loop(
        0,
        n,
        lambda k, s: ((s[1] + s[2]) % 97, (s[0] ^ s[2]) & 63, (s[0] + 3 * s[1]) % 89),
        (m % 7, 1, 2),
    )
    return a + 100 * b + 10000 * c


def with_and(n, m):
    return fori_loop(0, n, lambda k, s: s + m, 0, while_=lambda k, s: k < 3 and s < 9)


def bounded_by_another(n, m):
    count = fori_loop(0, n, lambda k, s: s + 1, 0)
    inner = fori_loop(
        0, count, lambda k, s: fori_loop(0, s % 5, lambda j, t: t + j, s) % 100, m % 7
    )
    return inner + fori_loop(0, 8, lambda k, s: s + m % 9, 1, while_=lambda k, s: k < count)


def named_as_the_counter(n, m):
    """A state of an inner loop is called as the outer loop's counter."""

    def outer(p, s):
        q = p * 2
        return fori_loop(0, m % 7, lambda j, p: (p + q) & 63, s)

    return fori_loop(0, n, outer, 1)


@pytest.mark.parametrize("language", rest_deep(("c", "rust", "python", "fortran"), 2))
@pytest.mark.parametrize(
    "function",
    [
        changed_later,
        of_no_round,
        chosen,
        in_part,
        of_a_table,
        mixed,
        inside_alone,
        read_by_the_unread,
        with_and,
        bounded_by_another,
        named_as_the_counter,
    ],
)
def test_corners(function, language, toolchain_of):
    toolchain_of(language)
    call = generate(function, language, assume=WIDE).compile()[function.__name__]
    for n in (0, 1, 2, 3, 5, 20):
        for m in (0, 1, 2, 3, 7, 8, 9, 777777, 7654321, 10**7):
            assert call(n, m) == function(n, m), (n, m)


def test_what_a_loop_is_given_in_a_branch_has_a_value_elsewhere():
    def remainder(n, i):
        if i > 5:
            return fori_loop(0, n, lambda k, s: s + k, n % (i - 5))
        return i

    with pytest.raises(LegoError, match="may have no value where the branch is not taken"):
        generate(remainder, "c", assume=["0 <= n", "n < 9", "0 <= i"])


def test_a_state_that_grows_without_end():
    unit = generate(
        lambda n, m: fori_loop(0, n, lambda k, s: s * s + m, m),
        "c",
        name="f",
        assume=["n >= 0", "m >= 0"],
    )
    assert unit.functions[0].unseen
    with pytest.raises(LegoError, match="more than 256 bits"):
        fori_loop(0, 30, lambda k, s: s * s + 2, 2)


def test_preconditions_speak_of_parameters_alone():
    def of_loops(n, m):
        count = fori_loop(0, n, lambda k, s: s + m * m, 0) % 7
        return fori_loop(0, count, lambda k, s: s + m * n * n, 1)

    (f,) = generate(of_loops, "c", assume=["0 <= n", "n < 9", "0 <= m"]).functions
    assert f.assumptions == ("every intermediate value fits int64",)


def test_what_a_loop_before_left_is_as_it_was_there(toolchain_of):
    """Of what is known in a round nothing holds where a loop before it is run."""
    toolchain_of("c")

    def before(n, first):
        return fori_loop(0, n, lambda k, s: s + k & 7, first)

    def by_number(n, m):
        r = fori_loop(0, n, lambda k, s: 8, 24 // ((m & 3) + 1))
        return fori_loop(0, n, lambda k, x: r + 1 & 31, 1, while_=lambda k, x: m == 1)

    def shifted(n, m):
        r = before(n, 1 >> (m & 3))
        return fori_loop(0, n, lambda k, x: r + x & 31, 1, while_=lambda k, x: m == 1)

    def alike(n, m):
        p, q = before(n, 24 // ((m & 3) + 1)), before(n, 25 // ((m & 3) + 1))
        return fori_loop(0, n, lambda k, x: p + 3 * q + x & 31, 1, while_=lambda k, x: m == 1)

    def within(n, m):
        r = before(n, 24 // ((m & 3) + 1))

        def outer(k, x):
            return fori_loop(0, n, lambda j, y: y + r & 31, x, while_=lambda j, y: m < 3)

        return fori_loop(0, n, outer, 1, while_=lambda k, x: m >= 1)

    for function in (by_number, shifted, alike, within):
        unit = generate(function, "c", ranges={"n": (0, 5), "m": (-4, 6)})
        assert unit.functions[0].assumptions in ((), ("every intermediate value fits int64",))
        run = unit.compile()[function.__name__]
        for n, m in product(range(5), range(-4, 6)):
            assert run(n, m) == function(n, m)


def test_the_parts_of_a_round_share_its_names(toolchain_of):
    """What while_ computes, and what the body does, stand in one block."""
    toolchain_of("c")

    def shared(n, m, p):
        q = (p + m) ^ m

        def step(i, s):
            return (s + fori_loop(n, q, lambda j, x: x + (j != q), i)) & 7, i

        return fori_loop(n, 3, lambda i, s: step(i, s)[0], 1, while_=lambda i, s: q != i and q > n)

    unit = generate(shared, "c", ranges={"n": (-4, 6), "m": (1, 9), "p": (0, 9)})
    run = unit.compile()["shared"]
    for n, m, p in product(range(-4, 6), range(1, 9), range(9)):
        assert run(n, m, p) == shared(n, m, p)


def test_a_precondition_names_no_table():
    """A caller knows the parameters, and not the tables that a file has for itself."""
    table = Lookup([8], [3, 1, 4, 0, 5, 7, 2, 6])

    def up_to(n, m):
        return fori_loop(m, table[n % 8] & 3, lambda k, s: s + k, 0)

    unit = generate(up_to, "c", ranges={"n": (0, 100), "m": (None, 6)})
    assert "m + 32 >= 3" in unit.functions[0].assumptions
    assert "table" not in " ".join(unit.functions[0].assumptions)


def test_a_layout_with_sizes_that_divide(toolchain_of):
    """The body speaks of M // 4, which the loop computes from M."""
    toolchain_of("c")

    def f(M, n, i):
        tiles = GroupBy([M, 8]).OrderBy(RegP([M // 4, 4, 8], [1, 0, 2]))
        return fori_loop(0, n, lambda k, s: tiles[s % 4, s % 8] + k, i)

    ranges = {"n": (0, 4), "i": (0, 32), "M": (1, 100)}
    assert generate(f, "c", ranges=ranges).verify(sizes={"M": 16})
