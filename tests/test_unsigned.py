"""Unsigned index types: what stands for a masked index, and forms that never go negative."""

import itertools
import json
import random
from hashlib import sha256

import numpy as np
import programs
import pytest
from marks import rest_slow
from net.machine import Machine
from net.points import Relations
from steps import at_most

from lego_emit import Col, ExpandBy, GroupBy, Strided, TileBy, catalogue, generate, symbols
from lego_emit.algebra import reference
from lego_emit.algebra.masked import Padded
from lego_emit.errors import WidthError
from lego_emit.ir.nodes import evaluate
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


@pytest.mark.slow
@pytest.mark.parametrize("target", ["rust", "wgsl", "c"])
def test_a_negative_that_is_always_0(target, toolchain_of):
    """Rust and WGSL have no minus of an unsigned number."""
    toolchain_of(target)

    def nothing(a, b):
        return -(((a - 1) & b) // 5 * b)

    run = generate(nothing, target, index_type="uint32", ranges={"a": (0, 4)}).compile()["nothing"]
    assert [run(a, b) for a in (1, 2, 3) for b in (0, 7, 2**31)] == 9 * [0]


@pytest.mark.parametrize("said", [{"ranges": {"y": ("-n", 10)}}, {"assume": ["y + n >= 0"]}])
def test_a_bound_of_other_symbols_is_no_less_than_0(said):
    """A comparison that holds in any unsigned type is none: compilers warn of it."""
    unit = generate(lambda y, n: n + 2 * (y >= 0), "c", name="f", index_type="uint32", **said)
    assert "return n + 2u;" in unit.source
    signed = generate(lambda y, n: n + 2 * (y >= 0), "c", name="f", index_type="int64", **said)
    assert "y >= 0" in signed.source


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


def test_a_quotient_by_a_negative_is_rounded_up():
    """A layout of -(n // -8) rows does not take n to be a multiple of 8, and no type needs a sign for it."""
    n = symbols("n")
    for rows in (-(n // -8), -(-n // 8)):
        unit = generate(Col(rows, 8), "python")
        assert "n % 8" not in str(unit) and unit.compile()["layout_apply"](13, 1, 1) == 3
        assert "(n + 7u) >> 3u) + i" in str(generate(Col(rows, 8), "c", index_type="uint32"))
    m = symbols("m")
    apply = generate(Col(-(n // -m), 8), "python").compile()["layout_apply"]
    assert [apply(n, 3, 1, 1) for n in (4, 6, 7)] == [3, 3, 4]


@pytest.mark.deep
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


def in_the_ring(i, k):
    return (i + 16 - k) % 16


def wrapped(i, n, k):
    return (i + n - k) % n


def below(a, b, n):
    return (n - a) * (n - b)


def two_below(n, i, j, k):
    return (n * j - k) * (n - i)


def one_below(n, m, k):
    return (n - m) * (n - k // 3)


def rounded_up(n, b):
    return (n + b - 1) // b


def up_by_minus(n, b):
    return -(-n // b) * b


def reversed_(n, i):
    return n - 1 - i


def padded(m, n, b, i, j):
    return Padded([m, n], GroupBy([m, -(-n // b) * b]))[i, j]


NEGATIVE = (reversed_, one_below)  # where their own values may be


@pytest.mark.parametrize(
    "fn, assume, domain",
    [
        (in_the_ring, ["i < 16", "k <= 16"], "i < 16 and k <= 16"),
        (wrapped, ["i < n", "k <= n"], "i < n and k <= n"),
        (below, ["a <= n", "b <= n"], "a <= n and b <= n"),
        (two_below, ["i < n", "k <= n*j"], "i < n and k <= n*j"),
        (one_below, ["m <= n"], "m <= n and k // 3 <= n"),
        (rounded_up, [], "b > 0 and n + b > 0"),
        (rounded_up, ["b >= 1"], "b > 0"),
        (up_by_minus, ["n >= 1", "b >= 1"], "n > 0 and b > 0"),
        (up_by_minus, ["b >= 1"], "b > 0"),
        (up_by_minus, [], "b > 0"),
        (reversed_, [], "n - 1 - i >= 0"),
        (reversed_, ["i < n"], "i < n"),
        (padded, [], "min(m, n, b) > 0 and i < m and j < n"),
    ],
)
@pytest.mark.parametrize("index_type", ["uint32", "uint64"])
@pytest.mark.quick(4)
def test_a_header_forbids_nothing_that_is_never_negative(fn, assume, domain, index_type):
    """At all small values where the definition stays above 0, though our own forms may not."""
    (function,) = generate(fn, "c", name="f", index_type=index_type, assume=assume).functions
    names = [p.name for p in function.params]
    texts = [*(p.range_text for p in function.params), *function.assumptions]
    assert not any("-" in t.split(">= 0")[0] for t in texts if ">= 0" in t and fn not in NEGATIVE)
    header = Relations(texts, names, *programs.INDEX_TYPES[index_type].ends)
    machine = Machine(function, eager=False)
    count = 0
    for point in itertools.product(range(6 if len(names) < 5 else 4), repeat=len(names)):
        values = dict(zip(names, point, strict=True))
        if eval(domain, {"min": min}, values):
            assert header.hold(values), (values, header.broken(values))
            assert [*machine.run(values).values()] == [fn(**values)]
            count += 1
        elif header.hold(values):  # a promise beyond the domain is kept, too
            assert [*machine.run(values).values()] == [fn(**values)]
    assert count >= 12


def test_an_argument_fits_and_need_not_be_said_to():
    (function,) = generate(reversed_, "c", index_type="uint32").functions
    assert function.assumptions == ("n >= i + 1",)


def test_what_is_left_of_a_size_is_not_said_to_be_positive():
    n, m, b = symbols("n m b")
    unit = generate(catalogue["triton.grouped"](n, m, b), "c", index_type="uint32")
    assert not any(">= 0" in a for f in unit.functions for a in f.assumptions)


def interleaved(x, y):
    """The bits of two words of 16, in turns."""
    return sum(((x >> k & 1) << 2 * k) + ((y >> k & 1) << 2 * k + 1) for k in range(16))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change, operations, said",
    rest_slow(
        [
            (lambda z, o: z, 26, ()),
            (lambda z, o: z - 1, 27, ("x + y >= 1",)),
            (lambda z, o: z % 7, 27, ()),
            (lambda z, o: o - z, 27, ("every intermediate value fits uint32",)),
            (lambda z, o: z + o, 27, ("every intermediate value fits uint32",)),
        ]
    ),
)
def test_arithmetic_on_a_whole_word_of_bits(change, operations, said):
    """One operation more, or as many as the arithmetic has, and a condition that can be read."""
    with at_most(1_500_000, "styles of 32 digits"):
        unit = generate(
            lambda x, y, o: change(interleaved(x, y), o),
            "c",
            name="f",
            index_type="uint32",
            ranges={"x": (0, 2**16), "y": (0, 2**16)},
        )
    (function,) = unit.functions
    assert function.op_count <= operations and function.assumptions == said
    rng = random.Random(0)
    for _ in range(200):
        x, y, o = (rng.getrandbits(16), rng.getrandbits(16), rng.getrandbits(32))
        want = change(interleaved(x, y), o)
        assert [*function.evaluate({"x": x, "y": y, "o": o}).values()] == [want]


@pytest.mark.parametrize(
    "change, operations",
    rest_slow(
        [
            (lambda z, o: z % 7, 18),
            (lambda z, o: (z + o) % 7, 19),
            (lambda z, o: (z + o) // 7, 19),
            (lambda z, o: (3 * z + 5 * o) % 13, 21),
            (lambda z, o: z // 7 % 10 * 3 + z % 7, 22),
            (lambda z, o: (z - o) % 7, 19),  # it may be negative
            (lambda z, o: (o - z) % 7, 19),
            (lambda z, o: (z - o) // 7, 19),
            (lambda z, o: (z - o) // 7 % 10, 20),
            (lambda z, o: (z - o) // 8 % 16, 21),
            (lambda z, o: (z - o) // 7 % 10 * 3 + (z - o) % 7, 23),
        ],
        2,
    ),
)
def test_a_word_that_is_joined_bit_by_bit_and_an_offset_under_a_division(change, operations):
    def spread(v):
        r = 0
        for k in range(16):
            r |= (v >> k & 1) << 2 * k
        return r

    def f(x, y, o):
        return change(spread(x) | spread(y) << 1, o)

    ranges = {"x": (0, 2**16), "y": (0, 2**16), "o": (0, 100)}
    (function,) = generate(f, "c", index_type="int64", ranges=ranges).functions
    assert function.op_count <= operations
    rng = random.Random(1)
    points = [(rng.getrandbits(16), rng.getrandbits(16), rng.randrange(100)) for _ in range(200)]
    for x, y, o in [(0, 0, 99), (2**16 - 1, 2**16 - 1, 99), *points]:
        assert function.evaluate({"x": x, "y": y, "o": o}) == {"result": f(x, y, o)}


def joined(x, y, width):
    """The bits of two words in turns, joined one by one."""
    r = 0
    for k in range(width):
        r |= (x >> k & 1) << 2 * k | (y >> k & 1) << 2 * k + 1
    return r


@pytest.mark.parametrize(
    "change, width, said",
    rest_slow(
        [
            (lambda z, o: z - 1, 16, "x + y >= 1"),
            (lambda z, o: z - 5, 16, "x + y >= 5"),
            (
                lambda z, o: (z - 1) // 3,
                16,
                "every intermediate value fits uint32",
            ),  # (z + 2)/3 - 1
            (lambda z, o: z - 1 + o, 8, "o + x + y >= 1"),
            (lambda z, o: z + o, 16, "every intermediate value fits uint32"),
            (lambda z, o: (z + o) % 7, 16, "every intermediate value fits uint32"),
            (lambda z, o: (z + o) // 7 % 10, 16, "every intermediate value fits uint32"),
            (lambda z, o: z + o, 15, "o + 1073741823 <= 2**32 - 1"),
            (lambda z, o: (z + o) % 7, 12, "o + 16777215 <= 2**32 - 1"),
            (lambda z, o: 5 * z + 3 * o, 12, "3*o + 83886075 <= 2**32 - 1"),
        ],
        2,
    ),
)
def test_a_condition_on_a_word_of_bits_is_short(change, width, said):
    """And where it holds nothing overflows; less 1 it holds nowhere else."""
    ranges = {"x": (0, 2**width), "y": (0, 2**width), "o": (0, 2**32)}
    (function,) = generate(
        lambda x, y, o: change(joined(x, y, width), o),
        "c",
        name="f",
        index_type="uint32",
        ranges=ranges,
    ).functions
    assert said in function.assumptions and len(function.assumptions) <= 2, function.assumptions
    rng, held = random.Random(2), 0
    points = [(rng.getrandbits(a), rng.getrandbits(b), rng.getrandbits(c))
              for a in (0, 1, 2, width) for b in (0, 1, 2, width) for c in (0, 3, 31, 32)]  # fmt: skip
    for x, y, o in points:
        at, z = {"x": x, "y": y, "o": o}, joined(x, y, width)
        fits = all(evaluate(c, at) for c in function.assumed)
        if fits and not function.unseen:
            assert [*function.evaluate(at).values()] == [change(z, o)] and change(z, o) >= 0
            held += 1
        if said.endswith(">= 1") and not fits and z + o + 2**16 < 2**32:
            assert z + o * ("o" in said) == 0
    assert held or function.unseen


@pytest.mark.parametrize(
    "function, ranges, said",
    [
        (lambda b: b - 7, {"b": (0, 8)}, "b >= 7"),
        (lambda a, b: a + b - 7, {"a": (0, 8), "b": (0, 8)}, "a + b >= 7"),
        (lambda a, b: a - b, {"a": (0, 8), "b": (0, 8)}, "a >= b"),
        (lambda a, b: 2 * a - 3 * b - 4, {"a": (0, 8), "b": (0, 8)}, "2*a >= 3*b + 4"),
        (lambda b: 7 - b, {"b": (0, 10)}, "b <= 7"),
    ],
)
def test_what_is_taken_off_stands_on_the_other_side(function, ranges, said):
    """b - 7 >= 0 says nothing to who computes in unsigned numbers."""
    (made,) = generate(function, "c", name="f", index_type="uint32", ranges=ranges).functions
    assert made.assumptions == (said,)


@pytest.mark.slow
def test_a_condition_is_not_shortened_beyond_what_it_says():
    """A bit that is left out may be the only one that is set."""

    def f(x, y):
        bits = [k for k in range(8) if k != 3]
        return sum(((x >> k & 1) << 2 * k) + ((y >> k & 1) << 2 * k + 1) for k in bits) - 1

    ranges = {"x": (0, 256), "y": (0, 256)}
    (function,) = generate(f, "c", index_type="uint32", ranges=ranges).functions
    assert function.assumptions == ("every intermediate value fits uint32",)


@pytest.mark.parametrize("index_type", ["uint32", "uint64"])
def test_nothing_is_asked_of_a_value_that_is_not_negative(index_type):
    """A precondition may keep it from that, which no path knew of."""

    def f(x, n, turned):
        q = n + 2 if turned else x
        q = q - n if 0 <= q < 8 else n % 3
        return n * 2 if 0 <= q < 8 else q

    text = str(generate(f, "c", index_type=index_type, ranges={"turned": (0, 2)}))
    assert ">= 0" not in text.partition("static inline")[2] and "< 0" not in text

    def g(x):
        return x if not x < 0 else 5

    assert str(generate(g, "c", index_type=index_type)).count("return x;") == 1


def sign_of_a_quotient(w, m, k):
    return 5 if (w - 50) // (m // k) >= 0 else 6


def sign_and_more(w, n):
    return 5 if (w - 50) // n >= 0 and w % n == 0 else 6


def sign_as_a_number(w, n):
    return int((w - 50) // n >= 0) + w


def sign_of_two(w, n):
    return 5 if (w + 3) // n >= 0 and (w - n) // 3 >= 0 else 6


def sign_below_a_branch(w, n):
    if w < 50:
        return 9
    return w if (w - 50) // n >= 0 else 6


def sign_beside_a_condition(w, n):
    return 5 if w >= 50 and (w - 50) // n >= 0 else 6


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (sign_of_a_quotient, "w >= 50"),
        (sign_and_more, "w >= 50"),
        (sign_as_a_number, "w >= 50"),
        (sign_of_two, "w >= n"),
        (sign_below_a_branch, None),
        (sign_beside_a_condition, None),
    ],
)
@pytest.mark.parametrize("target", ["c", "wgsl"])
def test_a_sign_that_is_not_asked_for_is_said(target, function, said):
    """What would be negative in a comparison that is left out is a precondition, where it is computed."""
    unit = generate(function, target, index_type="uint32", ranges={"w": (0, None)})
    (f,) = unit.functions
    assert (said is None) or said in f.assumptions
    assert said or not any(">=" in text for text in f.assumptions)
    answers = 0
    for point in itertools.product((0, 1, 2, 7, 49, 50, 51, 99, 100), repeat=len(f.params)):
        at = dict(zip((p.name for p in f.params), point, strict=True))
        within = all(evaluate(c, at) for p in f.params for c in p.range.conditions(p.name))
        if 0 not in point[1:] and within and all(evaluate(c, at) for c in f.assumed):
            assert [*f.evaluate(at).values()] == [function(*point)], at
            answers += 1
    assert answers > 10


def test_an_offset_over_symbols_counted_from_one():
    size = symbols("S")
    layout = Strided(((5, 5),), ((size, 5),), 7)
    apply = generate(layout, "javascript", index_type="uint32", base=1, cost="ops").functions[0]
    for s in (1, 2, 9):
        for i in range(1, 26):
            at = layout_at(i - 1, s)
            assert [*apply.evaluate({"S": s, "i": i}).values()] == [at + 1]


def layout_at(i, size):
    """By the definition of the strides: the first of a mode is the fastest."""
    return 7 + i % 5 * size + i // 5 * 5
