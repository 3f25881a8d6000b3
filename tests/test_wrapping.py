"""Arithmetic that wraps: hashes with known values, random functions compiled and compared, what is refused."""

from __future__ import annotations

import linecache
import random
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from conftest import _found
from marks import rest_deep, rest_slow, some_slow

from lego_emit import GroupBy, LegoError, Row, generate, golden, symbols
from lego_emit.errors import AssumptionError, TargetError, TraceError, VerifyError, WidthError
from lego_emit.trace.modular import Wrapped, kind
from lego_emit.types import Array

WRAP32 = {"index_type": "uint32", "wrapping": True}
WRAP64 = {"index_type": "uint64", "wrapping": True}
MOST32, MOST64 = 2**32 - 1, 2**64 - 1
LANGUAGES = "cpp rust javascript c python julia opencl glsl cuda hip metal wgsl mlir".split()
RUN = "cpp rust javascript c python julia mlir opencl glsl".split()
LAYOUT = GroupBy([8, 4]).OrderBy(Row(8, 4))
M = symbols("M")


def run(unit):
    """The compiled unit; where its toolchain is missing the test is skipped, and fails under CI."""
    return _found(unit.printer.name).compile([unit])[0]


# -- hashes, with the values that their authors publish ---------------------------------------------


def ngp(x, y, z, size):
    return (x ^ (y * 2654435761) ^ (z * 805459861)) % size


def fnv(X: Array[6]):
    h = 2166136261
    for k in range(6):
        h = (h ^ X[k]) * 16777619
    return h


def fnv_of_one(byte):
    return (0xCBF29CE484222325 ^ byte) * 0x100000001B3


def xorshift(x):
    x ^= x << 13
    x ^= x >> 17
    x ^= x << 5
    return x


def murmur(h):
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    h ^= h >> 16
    return h


def splitmix(z):
    z = z + 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


def djb2(a, b, c):
    h = 5381
    for byte in (a, b, c):
        h = (h << 5) + h + byte
    return h


def pcg(state):
    state = state * 747796405 + 2891336453
    word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737
    return (word >> 22) ^ word


FOOBAR = tuple(b"foobar")
KNOWN = [
    (fnv, WRAP32, FOOBAR, 0xBF9CF968), (fnv_of_one, WRAP64, (ord("a"),), 0xAF63DC4C8601EC8C),
    (xorshift, WRAP32, (1,), 270369), (murmur, WRAP32, (1,), 0x514E28B7),
    (splitmix, WRAP64, (0,), 0xE220A8397B1DCDAF), (djb2, WRAP32, tuple(b"abc"), 193485963),
    (ngp, WRAP32, (1, 2, 3, 2**19), (1 ^ 2 * 2654435761 % 2**32 ^ 3 * 805459861 % 2**32) % 2**19),
]  # fmt: skip


@pytest.mark.parametrize("language", some_slow(RUN, RUN[1:]))
@pytest.mark.parametrize(
    "hash_, options, at, value", KNOWN, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_hash_has_its_known_value(hash_, options, at, value, language):
    if language == "glsl" and options == WRAP64:
        pytest.skip("not every OpenGL has 64-bit integers")
    unit = generate(hash_, language, name="f", **options)
    assert unit.self_check.points["f"] > 10
    given = [np.array([v], np.uint64).astype(np.int64) for v in at]
    found = run(unit)["f"](*given)
    assert int(found[0]) % 2**64 == value


def test_the_text_is_what_a_programmer_writes():
    unit = generate(ngp, "cpp", **WRAP32)
    assert "return (x ^ y * 2654435761u ^ z * 805459861u) % size;" in unit.source
    assert "All arithmetic is modulo 2^32" in unit.source and "@pre" not in unit.source
    (function,) = unit.functions
    assert function.assumptions == () and function.result_range == "0 <= the result < size"
    assert function.op_count == 5
    rust = generate(ngp, "rust", **WRAP32).source
    assert "(x ^ u32::wrapping_mul(y, 2_654_435_761) ^ u32::wrapping_mul(z, 805_459_861))" in rust
    script = generate(ngp, "javascript", **WRAP32).source
    assert "(((x ^ Math.imul(y, 2654435761)) ^ Math.imul(z, 805459861)) >>> 0) % size" in script
    python = generate(ngp, "python", **WRAP32).source
    assert "(x ^ ((y * 2654435761) & 0xFFFFFFFF) ^ ((z * 805459861) & 0xFFFFFFFF)) % size" in python


def simplified(x, y):
    return (
        x * 8,
        x % 8,
        x + 0 - 0,
        x * 1,
        x // 4,
        x - -1,
        -x,
        x ^ -1,
        ~~x,
        x - x,
        (x & 7) + 1,
        x * -1,
    )


def test_what_holds_modulo_a_power_of_two_is_simplified():
    text = generate(simplified, "c", **WRAP32).source
    named = "const uint32_t bits = x & 7u;\n  const uint32_t difference = 0u - x;"
    forms = "x << 3u, bits, x, x, x >> 2u, x + 1u, difference, ~x, x, 0u, bits + 1u, difference,"
    assert named in text and forms in " ".join(text.split())


# -- the reference -----------------------------------------------------------------------------------


def test_the_reference_wraps_after_every_operation():
    a = kind(MOST32)
    assert a(-1) == MOST32 and a(MOST32) + 1 == 0 and a(0) - 1 == MOST32 and 1 - a(2) == MOST32
    assert a(2**31) * 2 == 0 and 2 * a(2**31) == 0 and (a(1) << 40) == 0 and (a(9) >> 40) == 0
    assert (1 << a(31)) == 2**31 and (a(0) - 1) // 2 == 2**31 - 1 and (a(0) - 1) % 10 == 5
    assert -a(1) == MOST32 and ~a(0) == MOST32 and a(3) ** 40 == 3**40 % 2**32
    assert bool(a(5) < -1) and not a(5) == 6 and a(5) == 2**32 + 5 and divmod(a(7), 2) == (3, 1)
    assert (a(7) & -2) == 6 and (a(1) | -2) == MOST32 and (a(1) ^ -1) == MOST32 - 1
    assert 7 // a(2) == 3 and 7 % a(4) == 3 and abs(+a(5)) == 5 and {a(5): 1}[a(5)] == 1
    with pytest.raises(ValueError, match="negative shift"):
        a(1) << -1
    assert Wrapped(lambda x: (min(x, -1), max(x, -1)), MOST32)({"x": 7}) == (7, MOST32)


def crc(c):
    for _ in range(8):
        c = (c >> 1) ^ (0xEDB88320 if c & 1 else 0)
    return c


def crc_by_if(c):
    for _ in range(8):
        if c & 1:
            c = (c >> 1) ^ 0xEDB88320
        else:
            c >>= 1
    return c


@pytest.mark.parametrize("function", [crc, crc_by_if])
def test_branches_are_joined_where_they_meet(function):
    unit = generate(function, "cpp", name="f", **WRAP32)
    assert unit.functions[0].op_count == 40 and unit.self_check.points["f"] == 48
    assert run(unit)["f"](1) == 0x77073096


def seeded(x, c, d, e):
    k = -1
    if c > 3:
        k = x
    if d > 3:
        k = k - 5
    if e > 3:
        k = k ^ 9
    return k // 2


def test_a_number_of_a_branch_is_computed_with_as_python_does():
    """-1 - 5 is -6 before it meets a value, and half of that is -3."""
    unit = generate(seeded, "cpp", **WRAP32)
    compiled = run(unit)["seeded"]
    assert compiled(0, 0, 4, 0) == 2**32 - 3 and compiled(0, 4, 4, 0) == (2**32 - 5) // 2


def half(v):
    return max(v, -1) // 2


@pytest.mark.slow
def test_helpers_and_long_functions():
    unit = generate(lambda x: half(x) + x, "c", name="f", **WRAP32)
    assert run(unit)["f"](7) == 2**31 - 1 + 7

    def long(x):
        for _ in range(300):
            x = (x ^ 5) * 31
        return x

    unit = generate(long, "rust", **WRAP32)
    assert unit.functions[0].op_count == 600 and unit.self_check.points["long"] > 20
    assert run(unit)["long"](3) == Wrapped(long, MOST32)({"x": 3})


def test_numbers_in_a_distance_have_the_type():
    f = lambda x, y: (x << (4294967291 >> (y & 31) & 31), x >> ((-3 if y > 4 else 5) % 32))  # noqa: E731
    unit = generate(f, "rust", name="f", **WRAP32)
    assert "4_294_967_291_u32 >> " in unit.source and run(unit)["f"](5, 7) == (2**31, 0)


# -- random functions --------------------------------------------------------------------------------

NAMES = ("x", "y", "z")


class Author:
    """Writes functions in everything that wraps."""

    def __init__(self, seed, bits):
        self.random, self.bits = random.Random(seed), bits

    def number(self):
        kinds = (
            0,
            1,
            -1,
            2,
            3,
            7,
            8,
            255,
            -5,
            self.bits - 1,
            2 ** (self.bits - 1),
            2**self.bits - 1,
        )
        own = self.random.randrange(2**self.bits)
        return str(self.random.choice([*kinds, own, own]))

    def leaf(self):
        return self.random.choice([*self.names, *self.names, f"({self.number()})"])

    def value(self, depth):
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(self.random.randrange(depth))
        few = self.random.randrange(self.bits + 2)
        forms = [f"({a} {op} {b})" for op in "+-*&|^" for _ in range(2)]
        forms += [
            f"(-{a})", f"(~{a})", f"({a} << {few})", f"({a} >> {few})", f"({a} ** 2)",
            f"({a} << ({b} & {self.bits - 1}))", f"({a} >> ({b} % {self.bits}))",
            f"({a} // {self.random.randrange(1, 999)})", f"({a} % {self.random.choice([1, 8, 10, 999])})",
            f"({a} // ({b} | 1))", f"({a} % max({b}, 3))", f"min({a}, {b})", f"max({a}, {b})",
            f"({self.truth(depth - 1)} + {a})", f"({a} if {self.truth(depth - 1)} else {b})",
        ]  # fmt: skip
        return self.random.choice(forms)

    def truth(self, depth):
        op = self.random.choice("< <= > >= == !=".split())
        return f"({self.leaf()} {op} {self.value(max(depth, 0))})"

    def function(self, name):
        self.names = [*NAMES]
        lines = [f"def {name}(x, y, z):"]
        for k in range(self.random.randrange(1, 4)):
            lines.append(f"    v{k} = {self.value(3)}")
            self.names += [f"v{k}"] * 2
        for _ in range(self.random.choice([0, 0, 1, 2, 4])):
            name = self.random.choice(self.names)
            kept = self.random.choice([self.number(), self.value(2), self.value(2)])
            lines.append(f"    if {self.truth(2)}:\n        {name} = {kept}")
        lines.append(f"    return x ^ {self.value(3)}, y + {self.value(2)}, z")
        return "\n".join(lines)


def written(seed, bits, count):
    author, names, file = Author(seed, bits), {}, f"<random {seed} {bits}>"
    texts = {f"f{k}": author.function(f"f{k}") for k in range(count)}
    whole = "\n".join(texts.values())
    linecache.cache[file] = (
        len(whole),
        None,
        whole.splitlines(True),
        file,
    )  # branches are read there
    exec(compile(whole, file, "exec"), names)
    return {name: (names[name], text) for name, text in texts.items()}


def points(seed, bits, count):
    draw = random.Random(seed)
    ends = (0, 1, 2, 3, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 2, 2**bits - 1)
    values = [
        draw.choice([draw.choice(ends), draw.randrange(256), draw.randrange(2**bits)])
        for _ in range(3 * count)
    ]
    return [values[3 * k : 3 * k + 3] for k in range(count)]


@cache
def wanted(seed, bits):
    """Random functions with their texts, points, and what each gives there, which all languages share."""
    functions, at = written(seed, bits, 24), points(seed, bits, 150)
    meant = [Wrapped(function, 2**bits - 1) for function, _ in functions.values()]
    values = [[f(dict(zip(NAMES, point, strict=True))) for point in at] for f in meant]
    return functions, at, dict(zip(functions, values, strict=True))


@pytest.mark.parametrize("language", rest_slow(rest_deep(RUN, 4), 0))
@pytest.mark.parametrize("seed, bits", rest_deep([(1, 32), (2, 64), (3, 32), (4, 64)], 1))
def test_random_functions_wrap(seed, bits, language):
    if language == "glsl" and bits == 64:
        pytest.skip("not every OpenGL has 64-bit integers")
    functions, at, due = wanted(seed, bits)
    options = WRAP32 if bits == 32 else WRAP64
    unit = generate({n: f for n, (f, _) in functions.items()}, language, **options)
    assert all(n > 20 for n in unit.self_check.points.values())
    compiled = run(unit)
    given = [np.array(column, np.uint64).astype(np.int64) for column in zip(*at, strict=True)]
    for name, (_, text) in functions.items():
        got = [v.astype(np.uint64) & np.uint64(2**bits - 1) for v in compiled[name](*given)]
        for k, point in enumerate(at):
            assert tuple(int(v[k]) for v in got) == due[name][k], (text, point)


# -- results, branches, parameters -------------------------------------------------------------------


class Cell(NamedTuple):
    x: int
    y: int


def moved(at: Cell, by: Array[2]) -> Cell:
    if at.x < by[0] - 1:
        return Cell(at.x - by[0], ~at.y)
    return Cell(x=-at.x, y=at.y * by[1])


@pytest.mark.parametrize("language", some_slow(LANGUAGES, LANGUAGES[3:]))
def test_structs_and_arrays_are_as_elsewhere(language):
    unit = generate(moved, language, **WRAP32)
    assert unit.self_check.points["moved"] > 20
    if language in RUN[:6]:
        found = run(unit)["moved"](Cell(1, 5), (0, 2**31 + 1))
        assert found == Cell(1 - 0, MOST32 - 5)
        assert run(unit)["moved"](Cell(9, 5), (3, 2**31 + 1)) == Cell(2**32 - 9, 2**31 + 5)


def test_a_tuple_a_dict_and_one_of_each_branch():
    unit = generate(
        lambda a: {"low": a - 1, "high": -1 if a < 3 else a}, "python", name="f", **WRAP32
    )
    assert run(unit)["f"](0) == (MOST32, MOST32) and run(unit)["f"](9) == (8, 9)


def divided(i, n):
    return i % n if n else 7


@pytest.mark.slow
def test_a_divisor_is_not_0_where_the_branch_or_the_header_says_so():
    unit = generate(divided, "cpp", **WRAP32)
    assert unit.functions[0].assumptions == () and run(unit)["divided"](9, 0) == 7
    assert run(unit)["divided"](9, 5) == 4
    unit = generate(lambda i, n: (i - 1) // n, "cpp", name="f", **WRAP32)
    assert unit.functions[0].ranges == {"i": "", "n": "n >= 1"}
    assert run(unit)["f"](0, 2) == 2**31 - 1
    unit = generate(lambda i, n: i % n + 1 if i > 4 else i % n, "c", name="f", **WRAP32)
    assert unit.functions[0].assumptions == ("i <= 4 or n != 0", "i > 4 or n != 0")


def test_sizes_ranges_and_assumptions_hold_as_they_are_given():
    unit = generate(ngp, "cpp", sizes={"size": 2**19}, **WRAP32)
    assert (
        "& 524287u" in unit.source and unit.functions[0].result_range == "0 <= the result < 524288"
    )
    unit = generate(lambda i, k: i >> k, "rust", name="f", ranges={"k": (0, 32)}, **WRAP32)
    assert "i >> k" in unit.source and run(unit)["f"](2**31, 31) == 1
    unit = generate(lambda i, n: 5 // n + i, "c", name="f", assume=["n >= 2"], **WRAP32)
    assert unit.functions[0].ranges["n"] == "n >= 2"
    unit = generate(lambda i: i < 100, "c", name="f", ranges={"i": (0, 50)}, **WRAP32)
    assert "return 1u;" in unit.source
    unit = generate(lambda i: ((i < 9) | (i > 60)) + ((i < 50) & (i < 4)), "c", name="f",
        ranges={"i": (0, 50)}, **WRAP32)  # fmt: skip
    assert "return (uint32_t)(i < 9u) + (uint32_t)(i < 4u);" in unit.source
    unit = generate(lambda i: ((i & 6) == 8) + ((i | 6) != 8) * 2, "c", name="f", **WRAP32)
    assert "return 2u;" in unit.source  # gcc warns of a comparison that is always false


def test_names_that_nobody_defined_are_parameters():
    with pytest.warns(UserWarning, match="nobody defined N"):
        unit = generate(lambda i: i * N - 7, "cpp", name="f", **WRAP32)  # noqa: F821
    verified = unit.verify(sizes={"N": 2**31 + 5}, domain={"i": 300})
    assert verified and "and the Python function: equal" in str(verified)


@pytest.mark.slow
@pytest.mark.parametrize("options", [WRAP32, WRAP64])
def test_verify_compares_with_a_function_that_wraps(options):
    unit = generate(splitmix, "cpp", **options)
    verified = unit.verify(domain={"z": 3000})
    assert verified and "the Python function: equal (3,000" in str(verified)
    assert unit.explain("splitmix") and unit.sympy["splitmix"].expressions


def test_declared_types_are_converted():
    types = {"h": "uint16", "return": "uint64"}
    unit = generate(lambda h: h * 0x85EBCA6B, "rust", name="f", param_types=types, **WRAP32)
    assert "pub const fn f(h: u16) -> u64" in unit.source
    assert run(unit)["f"](65535) == 65535 * 0x85EBCA6B % 2**32


CASE = '''"""A hash."""

index_type, wrapping = "uint32", True
domain = {"x": 5, "y": 7}


def kernel(x, y):
    return (x * 2654435761 ^ y * 805459861) - 1, x - y
'''


def test_a_golden_case_wraps(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "hashed").mkdir()
    (tmp_path / "hashed" / "layout.py").write_text(CASE)
    golden.update(tmp_path, ["cpp", "rust"])
    (case,) = golden.cases(tmp_path)
    columns = case.table.columns
    assert columns["out0"][0] == MOST32 and [*columns["out1"][[1, 7]]] == [MOST32, 1]
    assert golden.check(tmp_path, ["cpp", "rust"]) == []


# -- what is refused ---------------------------------------------------------------------------------


REFUSED = [
    (ngp, {"index_type": "auto"}, TargetError, "give index_type='uint32' or 'uint64'"),
    (ngp, {"index_type": "int32"}, TargetError, "index_type is int32; give index_type='uint32'"),
    (ngp, {"index_type": "size_t"}, TargetError, "index_type is size_t"),
    (ngp, {"index_type": ["uint32", "uint64"]}, TargetError, "give one index_type"),
    (LAYOUT, {}, TraceError, "whose indices never wrap"),
    (lambda i, j: LAYOUT[i, j] * 3, {}, TraceError, "comes from a layout"),
    (lambda i, j: LAYOUT[i, j], {}, TraceError, "comes from a layout"),
    (lambda k: LAYOUT[:, k], {}, TraceError, "leave out wrapping"),
    (lambda n: GroupBy([n, 4]), {}, TraceError, "never wrap: leave out wrapping"),
    (lambda i: M * i, {}, TraceError, "make the symbol a parameter"),
    (M * 3, {}, TraceError, "not for layouts, whose indices never wrap, and not for expressions"),
    (murmur, {"base": 1}, TraceError, "together with base"),
    (murmur, {"rewrite": lambda name, outputs: outputs}, TraceError, "together with rewrite"),
    (murmur, {"param_types": {"return": "uint16"}}, TargetError, "declare it as uint32"),
    (murmur, {"ranges": {"h": (-4, 4)}}, WidthError, "does not fit uint32"),
    (murmur, {"assume": ["k < 4"]}, AssumptionError, "which is not a parameter"),
    (lambda i, n: i // (n * 3), {}, TraceError, r"the divisor n \* 3 may be 0; divide by max"),
    (lambda i: i // 0, {}, TraceError, "a division by 0"),
    (lambda i, j: i << j, {}, TraceError, "the shift distance j is not known to lie in 0..31"),
    (lambda i: i >> -1, {}, TraceError, "the shift distance is -1"),
    (lambda i: i * 0.5, {}, TraceError, "float"),
    (lambda i: i / 2, {}, TraceError, "write //"),
    (lambda i, j: i**j, {}, TraceError, "whose exponent is 0 to 64"),
    (lambda i: len(str(i)) * i, {}, TraceError, "makes text of its arguments"),
]  # fmt: skip


@pytest.mark.parametrize("subject, options, kind, message", REFUSED, ids=lambda v: "")
def test_what_has_no_meaning_is_an_error_with_a_way_out(subject, options, kind, message):
    with pytest.raises(kind, match=message):
        generate(subject, "cpp", **WRAP32 | options)


@pytest.mark.parametrize("language", ["fortran", "numpy", "triton"])
def test_languages_without_it_say_so(language):
    with pytest.raises(TargetError, match="has no uint32; it has"):
        generate(ngp, language, **WRAP32)


@pytest.mark.slow
def test_views_and_certificates_are_of_what_does_not_wrap():
    with pytest.raises(TraceError, match="together with view"):
        generate(LAYOUT, "cpp", view=True, **WRAP32)
    with pytest.raises(VerifyError, match="a certificate proves that nothing does"):
        generate(ngp, "cpp", **WRAP32).certificate()


@pytest.mark.deep
def test_nothing_else_changes():
    """The ordinary path: the same function, where values must fit."""
    with pytest.raises(LegoError):
        generate(lambda x: x - 5 * x // 7, "c", name="f", index_type="uint32", wrapping="yes")
    unit = generate(lambda x: (x * 3 + x) % 8, "c", name="f", index_type="uint32")
    assert not unit.functions[0].wrapping and "modulo" not in unit.source


def greater(x, y):
    return (x > y) * 3 + x


@pytest.mark.parametrize("bits", [32, 64])
def test_debug_builds_assert_that_arguments_are_words(bits):
    """Where a language's arguments are any integers; elsewhere their type says it."""

    def text(language, **more):
        given = {"index_type": f"uint{bits}", "wrapping": True, "checks": True, **more}
        return generate(greater, language, **given)

    unit = text("python")
    most, names = 2**bits - 1, {}
    exec(unit.source, names)
    f = names["greater"]
    assert f"assert x >= 0 and x <= {most:#x}\n" in unit.source
    assert f(most, 1) == 2 and f(1, most) == 1
    for x, y in ((most + 1, 1), (1, most + 1), (-1, 1)):
        with pytest.raises(AssertionError):
            f(x, y)
    n = "n" if bits == 64 else ""
    javascript = text("javascript").source
    assert f"x >= 0{n} && x <= {most:#x}{n}" in javascript
    assert "assert" not in text("c").source and "assert" not in text("rust").source
    ranged = text("python", ranges={"y": (0, 100)}).source
    assert "assert y >= 0 and y < 100\n" in ranged
