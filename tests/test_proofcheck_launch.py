"""Certificates of divisions by prepared numbers: the lemmas, and what the checker takes for such a division."""

import hashlib
import json
import re

import pytest
from marks import rest_deep, some_deep

import lego_emit
from lego_emit import LegoError, TileBy, symbols
from lego_emit.proofcheck import launch
from lego_emit.proofcheck.check import check
from lego_emit.types import Array

LANGUAGES = ("cpp", "cuda", "rust", "julia", "glsl")
TYPES = ("int32", "uint32", "int64", "uint64")
POSITIVE = ["i >= 0", "d >= 1", "N >= 1"]


def rows(i, d, N):
    return i // d * N + i % (d * N)


def wide(i, d, N):
    difference = i - i // d
    return (difference ^ i) % N + difference


def flat(i: int, dims: Array[2]) -> int:
    return i % dims[0] * 2 + i // dims[0] % dims[1]


def made(subject, language, index_type="int32", **options):
    options = {"assume": POSITIVE, "prepare": True, "name": "f", **options}
    return lego_emit.generate(subject, language, index_type=index_type, **options)


def proved(unit, subject, text=None):
    """(the verdicts of a unit's certificate, what they rest on) for another text, its checksum made its own."""
    data = json.loads(unit.certificate().json)
    if text is not None:
        data["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    report = check(data, text or unit.source, subject)
    return {line.verdict for line in report.lines}, report


# -- the lemmas ------------------------------------------------------------------------------------


def test_the_lemmas():
    """Of n = k*d + r, by Z3: with what is given put in, the product is at least k*S, and below (k + 1)*S."""
    z3 = pytest.importorskip("z3")
    k, r, d, q, e, S, P = z3.Ints("k r d q e S P")
    n = k * d + r
    given = [k >= 0, r >= 0, r < d, S > 0, e >= 0]
    times_d = n * (S + e)  # n*m*d
    within = z3.And(times_d >= k * S * d, times_d < (k + 1) * S * d)
    assert refuted(z3, [*given, n * e < S], within)
    assert refuted(z3, [r < d, q >= 0], (r + 1) * q <= d * q)
    product = k * (S - e) + (r + 1) * q  # (n + 1)*q
    within = z3.And(product >= k * S, product < (k + 1) * S)
    assert refuted(z3, [*given, e > 0, k * e <= q, q >= 0, (r + 1) * q <= S - e], within)
    product = n * P + (P - 1 - n)  # (n + 1)*(P - 1)
    within = z3.And(product >= k * (P * d), product < (k + 1) * (P * d))
    assert refuted(z3, [*given, n < P], within)
    assert not refuted(z3, [*given, n * e <= S], times_d < (k + 1) * S * d)


def refuted(z3, given, goal):
    """Whether no numbers are such that the goal does not hold."""
    solver = z3.Solver()
    solver.set("rlimit", 50_000_000)
    solver.add(*given, z3.Not(goal))
    return solver.check() == z3.unsat


@pytest.mark.parametrize("bits", [2, 3, 5, 8])
@pytest.mark.parametrize("signed", [True, False])
def test_the_numbers_of_all_divisors_of_short_words(bits, signed):
    top = 2 ** (bits - signed)
    for d in range(1, top):
        log = (d - 1).bit_length() if signed else d.bit_length() - 1
        power = 2 ** (bits - signed + log)
        q, e = divmod(power, d)
        mul, add = (q + (e > 0), 0) if signed or (e and d - e <= 2**log) else (q, q)
        mul, add = (2**bits - 1,) * 2 if not signed and e == 0 else (mul, add)
        assert mul < 2**bits and add < 2**bits
        for n in range(top):
            assert (n * mul + add) // power == n // d


# -- the checker -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_texts_that_are_known_are_those_that_are_emitted():
    found = {}
    for language in ("c", *LANGUAGES):
        for kind in (*TYPES, *(["size_t"] if language in ("c", "cpp", "cuda") else [])):
            try:
                unit = made(rows, language, kind, name="a_unit_with_a_name")
            except LegoError:
                assert language == "glsl" and kind.endswith("64")
                continue
            own = [unit.source[a:b] for a, b, _ in launch._definitions(unit.source, language)]
            found[launch.digest(language, own)] = kind.replace("size_t", "uint64")
    assert found == launch.KNOWN


@pytest.mark.slow
@pytest.mark.parametrize("kind", some_deep(TYPES, TYPES[1:3]))
@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_prepared_functions_are_proved(language, kind):
    if language == "glsl" and kind.endswith("64"):
        pytest.skip("GLSL has no product of 128 bits")
    M, N = symbols("M N")
    sizes = ["i >= 0", "dims[0] >= 1", "dims[1] >= 1"]
    for subject, options in (
        (rows, {}),
        (flat, {"assume": sizes}),
        (TileBy([M, N], [8, 4]), {"assume": ()}),
    ):
        unit = made(subject, language, kind, **options)
        verdicts, report = proved(unit, subject)
        assert verdicts == {"proved"}, report
        assert any("the division by a product and a shift" in t for t in report.trusted)


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


EDITS = {
    "a factor of another divisor": ("sizes.d_mul", "sizes.N_d_mul"),
    "a shift of another divisor": ("sizes.N_d_shift", "sizes.d_shift"),
    "a summand for a factor": ("sizes.d_mul, sizes.d_add", "sizes.d_add, sizes.d_mul"),
    "a factor that is read as a number": ("return i - ", "return i - sizes.d_shift + "),
    "fields in another order": ("d_mul;\n  std::uint32_t d_add", "d_add;\n  std::uint32_t d_mul"),
    "another divisor": ("fast_div_mul(N * d)", "fast_div_mul(N * d + 1)"),
    "what another one makes": ("f_detail::fast_div_add(d)", "f_detail::fast_div_add(N)"),
    "another value": ("      N,\n", "      d,\n"),
    "a divisor that may be 0": ("/// @param d d >= 1", "/// @param d d >= 0"),
    "a product that wraps": ("/// @pre N*d <= UINT32_MAX\n", ""),
    "a factor for one more": ("? q + 1 : q;", "? q + 2 : q;"),
    "a shift of one less": ("return l + 32;", "return l + 31;"),
    "a wider loop": ("x >>= 1) ++l", "x >>= 2) ++l"),
    "another quotient": ("(product >> shift)", "(product >> shift | 1)"),
    "a second helper": (
        "/// What f takes",
        "constexpr int fast_div_mul(std::int64_t d) noexcept {\n  return 0;\n}\n\n/// What f takes",
    ),
    "a helper in a comment": ("// The factor of fast_div", "/*\n\n// The factor of fast_div"),
}


@pytest.mark.parametrize("what", EDITS)
@pytest.mark.quick(4)
def test_another_text_is_not_proved(what):
    unit = made(rows, "cpp", "uint32")
    text = changed(unit.source, *EDITS[what])
    if what == "a helper in a comment":
        text = changed(text, "// The summand of", "*/\n\n// The summand of")
    verdicts, report = proved(unit, rows, text)
    assert verdicts != {"proved"}, report


@pytest.mark.parametrize("language", rest_deep(LANGUAGES))
def test_a_changed_line_of_a_helper_is_not_proved(language):
    """Each line of each helper, with a number or a sign changed."""
    unit = made(rows, language, "uint32")
    tried = 0
    for start, end, name in launch._definitions(unit.source, language):
        for sign in re.finditer(
            r"(?m)^(?!//|#).*?(?<![\w.>])(\d+|>>|<<|\+|<=|==)", unit.source[start:end]
        ):
            at = start + sign.start(1)
            other = {">>": "<<", "<<": ">>", "+": "-", "<=": "<", "==": "!="}.get(
                sign[1], f"{sign[1]}1"
            )
            text = unit.source[:at] + other + unit.source[start + sign.end(1) :]
            verdicts, _ = proved(unit, rows, text)
            assert verdicts != {"proved"}, (name, sign[0], other)
            tried += 1
    assert tried > 8


OTHERS = [
    ("cpp", "++l;", "+ +l;"),
    ("cpp", "std::uint32_t l = 0;\n", "std::uint32_t l = 0;\n// \\\n"),
    ("cpp", "namespace f_detail {\n", "namespace f_detail {\n\n/*/ the one below is not meant\n"),
    (
        "cpp",
        "/// What f takes",
        "constexpr struct { int operator()(int) const; } fast_div_mul;\n\n/// What f takes",
    ),
    ("cuda", "  const unsigned difference", "  LEGO_HOST_DEVICE const unsigned difference"),
    ("glsl", "// The quotient by", "int findMSB(uint x) {\n  return 3;\n}\n\n// The quotient by"),
    ("julia", "export F", "f_fast_div_mul(d) = 1\n\nexport F"),
    ("julia", "end # module", "F.f_fast_div(n::UInt32, a, b, c) = n\n\nend # module"),
    ("julia", "end # module", "F.f(sizes::FSizes, i::UInt32) = i\n\nend # module"),
    ("julia", "end # module", "Base.cld(a::UInt128, b::UInt128) = a\n\nend # module"),
    ("julia", "# The quotient by", "#=\n\n# The quotient by"),
]


@pytest.mark.parametrize("language, old, new", OTHERS)
def test_another_meaning_of_a_helper_is_not_proved(language, old, new):
    unit = made(wide, language, "uint32")
    verdicts, report = proved(unit, wide, changed(unit.source, old, new))
    assert verdicts != {"proved"}, report


@pytest.mark.slow
def test_types_of_parameters_are_not_exchanged():
    kinds = {"param_types": {"i": "uint16", "N": "uint32"}}
    unit = made(rows, "cpp", "uint32", **kinds)
    assert proved(unit, rows)[0] == {"proved"}
    text = unit.source.replace("std::uint16_t i", "std::uint32_t i")
    text = changed(text, "std::uint32_t N) noexcept", "std::uint16_t N) noexcept")
    assert proved(unit, rows, text)[0] != {"proved"}


def test_julia_takes_prepared_numbers_of_one_type(toolchain_of):
    unit = made(rows, "julia", "int32")
    assert "Union" not in unit.source
    assert unit.verify(sizes={"d": 3, "N": 4, "i": 50})


def test_a_dividend_may_not_be_negative():
    unit = made(rows, "cpp")
    text = changed(unit.source, "/// @param i i >= 0", "/// @param i i >= -1")
    assert proved(unit, rows, text)[0] != {"proved"}


def test_what_is_not_certified():
    with pytest.raises(LegoError, match="rounded reciprocal"):
        made(rows, "javascript").certificate()
