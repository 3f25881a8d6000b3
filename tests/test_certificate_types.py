"""Certificates of declared types and of out parameters: they are proved, and what is wrong is not."""

import json
import re
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

import pytest
from marks import others_slow, rest_slow

from lego_emit import Col, GroupBy, generate
from lego_emit.proofcheck.check import CertificateError, check
from lego_emit.types import I8, I16, I32, I64, U8, U16, U32, Array, Bool, Size

pytest.importorskip("tree_sitter")


class Cell(NamedTuple):
    x: I16
    y: I16
    inside: Bool


class Found(NamedTuple):
    odd: Bool
    n: I32


class Pair(NamedTuple):
    q: I16
    r: U8


class Word(NamedTuple):
    low: U32
    high: I32
    set: Bool


def far(i: I32, j: I32) -> I64:
    return i * j


def square(i: I16, j: I16) -> I32:
    return i * j + j


def below(i: I32, n: U32) -> Bool:
    return i < n


def picked(at: Cell, w: I32) -> Found:
    return Found(at.x % 2, at.y * w + at.x if at.inside else 0)


def parted(n: U16) -> Pair:
    return Pair(n // 16, n % 16)


def turned(i: I8, b: Bool) -> I8:
    return -i - 1 if b else i


def strided(n: U32, i: I32, b: Bool) -> U32:
    return n // 4 + i * b


def halved(n: I16):
    return n * 3, n // 2


def moved(X: Array[3], b: Bool) -> Array[3]:
    return X[1] + 1 if b else X[2], X[0], X[1]


def sized(M: Size, N: Size, i: I32, j: I32) -> I64:
    return j * M + i


def joined(word: Word, k: U32) -> I64:
    return word.high * 4 + word.low % 4 + k if word.set else k


def layout(M, N):
    return GroupBy([M, N]).OrderBy(Col(M, N))


SMALL = {"i": (0, 1000), "n": (0, 1000)}
# function -> options
TYPED = {
    far: {},
    square: {},
    below: {},
    picked: {"ranges": {"at.y": (0, 1000), "at.x": (0, "w"), "w": (1, 1000)}},
    parted: {},
    turned: {"ranges": {"i": (-127, 128)}},
    strided: {"ranges": SMALL},
    halved: {},
    moved: {"ranges": {f"X[{k}]": (0, 1000) for k in range(3)}},
    sized: {"ranges": {"i": (0, "M"), "j": (0, "N")}},
    joined: {"ranges": {"word.high": (0, 1000), "k": (0, 1000)}},
}
# What a language has not.
NOT_IN = {
    "fortran": {below, parted, strided, sized, joined},
    "glsl": {square, picked, parted, turned, halved, sized},
}
OUT = {"results": "out", "arrays": "pointer"}


def test_a_guard_that_is_made_again_is_the_same():
    for language in ("c", "cpp", "cuda"):
        text = emitted(language, picked).source
        assert changed(text, r"\Z", "\n") == text + "\n"


def emitted(language, function, out=False):
    options = {**TYPED[function], **(OUT if out else {})}
    return generate(function, language, terse=True, **options)  # what is changed stands once


def checked(unit, function, text=None):
    data = json.loads(unit.certificate().json)
    if text is not None:
        data["sha256"] = sha256(text.encode()).hexdigest()
    return check(data, text or unit.source, function)


@pytest.mark.parametrize("language", rest_slow(["glsl", "c", "cpp", "cuda", "rust", "fortran"]))
def test_declared_types_are_proved(language):
    for function in TYPED.keys() - NOT_IN.get(language, set()):
        unit = emitted(language, function)
        assert checked(unit, function), f"{checked(unit, function)}\n{unit}"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "cpp", "cuda"])
def test_results_that_are_written_are_proved(language):
    for function in (picked, parted, halved, moved):
        for options in (OUT, {"results": "out"}):
            unit = generate(function, language, **TYPED[function], **options)
            assert checked(unit, function), f"{checked(unit, function)}\n{unit}"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "rust"])
def test_types_of_a_layout_are_proved(language):
    types = {"M": "int16", "N": "int16", "i": "int16"}
    unit = generate(layout, language, param_types=types)
    assert checked(unit, layout), f"{checked(unit, layout)}\n{unit}"
    types = {"M": "size", "N": "size"}
    unit = generate(layout, language, param_types=types, index_type="int64")
    report = checked(unit, layout)
    assert report and report.trusted == ["size_t and usize of 64 bits"]


# What is wrong: (languages, function, what stands there, what instead).
C = [
    # a cast that is missing, where 32 bits are too few
    ("c", far, r"\(int64_t\)i", "i"),
    ("cpp cuda", far, r"static_cast<[^>]*>\(i\)", "i"),
    ("c", far, r"\(int64_t\)i \* j", "(int64_t)(i * j)"),
    ("cpp cuda", far, r"static_cast<([^>]*)>\(i\) \* j", r"static_cast<\1>(i * j)"),
    ("c", far, r"\(int64_t\)i", "(uint64_t)i"),
    ("c", square, r"\(i \+ 1\)", "(int16_t)(i + 1)"),
    ("cpp", square, r"\(i \+ 1\)", "static_cast<std::int16_t>(i + 1)"),
    ("cuda", square, r"\(i \+ 1\)", "static_cast<short>(i + 1)"),
    # one that is too narrow
    ("c", far, r"\(int64_t\)i", "(int16_t)i"),
    ("c", sized, r"\(int64_t\)M", "(int32_t)M"),
    ("cpp cuda", sized, r"static_cast<[^>]*>\(M\)", "static_cast<int>(M)"),
    ("c", parted, r"\(int16_t\)\(n >> 4\)", "(int8_t)(n >> 4)"),
    ("cpp", parted, r"static_cast<std::int16_t>\(n >> 4\)", "static_cast<std::int8_t>(n >> 4)"),
    ("cuda", parted, r"static_cast<short>\(n >> 4\)", "static_cast<signed char>(n >> 4)"),
    ("c cpp cuda", parted, "n & 15", "n"),
    # numbers below 0 where there are none
    ("c", below, r"\(int64_t\)n", "n"),
    ("cpp cuda", below, r"static_cast<[^>]*>\(n\)", "n"),
    ("c", below, r"i < \(int64_t\)n", "(uint32_t)i < n"),
    ("cpp", below, r"i < .*;", "static_cast<std::uint32_t>(i) < n;"),
    ("cuda", below, r"i < .*;", "static_cast<unsigned>(i) < n;"),
    ("c", turned, r"\(int8_t\)", "(uint8_t)"),
    ("cpp", turned, "<std::int8_t>", "<std::uint8_t>"),
    ("cuda", turned, "<signed char>", "<unsigned char>"),
    ("c", turned, "-i - 1", "-(uint32_t)i - 1"),
    # another type than is declared
    ("c cpp", square, r"int16_t i\b", "int32_t i"),
    ("c cpp", square, r"int16_t i\b", "int8_t i"),
    ("c cpp", square, r"int16_t i\b", "uint16_t i"),
    ("cuda", square, r"short i\b", "int i"),
    ("cuda", square, r"short i\b", "unsigned short i"),
    ("cuda", square, r"short i\b", "char i"),
    ("c cpp", square, r"int32_t square", "int64_t square"),
    ("c cpp", square, r"int32_t square", "int16_t square"),
    ("cuda", square, "int square", "short square"),
    ("c cpp cuda", below, r"bool below", "int below"),
    ("c cpp", turned, "bool b", "int32_t b"),
    ("c cpp", turned, "bool b", "int8_t b"),
    ("cuda", turned, "bool b", "int b"),
    ("c cpp", parted, r"uint16_t n", "int16_t n"),
    ("c cpp", strided, r"uint32_t n", "uint64_t n"),
    ("c cpp", strided, r"uint32_t n", "int32_t n"),
    ("c cpp cuda", sized, r"size_t M", "int M"),
    ("c cpp", far, r"int32_t i\b", "bool i"),
    # a field of another type, or in another place
    ("c cpp", picked, r"int16_t x;", "int32_t x;"),
    ("c cpp", picked, r"int16_t x;", "uint16_t x;"),
    ("cuda", picked, r"short x;", "int x;"),
    ("c cpp cuda", picked, r"bool inside;", "int inside;"),
    ("c cpp cuda", picked, r"bool odd;", "int odd;"),
    ("c cpp", parted, r"uint8_t r;", "int8_t r;"),
    ("c cpp", parted, r"uint8_t r;", "uint16_t r;"),
    ("c cpp", joined, r"uint32_t low;", "int32_t low;"),
    ("c cpp", joined, r"( .*uint32_t low;)\n(.*)\n", r"\2\n\1\n"),
    # another value
    ("c cpp cuda", turned, r"b \? -i - 1 : i", "b ? i : -i - 1"),
    ("c cpp cuda", turned, r"b \? ", "i ? "),
    ("c cpp cuda", picked, r"at.inside \? ", "at.x ? "),
    ("c cpp cuda", picked, r"\(at.x & 1\) != 0", "(at.x & 2) != 0"),
    ("c cpp cuda", below, "i < ", "i <= "),
    ("c cpp cuda", parted, "n >> 4", "n >> 3"),
]  # fmt: skip
WRITTEN = [
    ("c", halved, r"\*out0 = (.*);\n  \*out1 = (.*);", r"*out0 = \2;\n  *out1 = \1;"),
    ("cpp cuda", halved, r" out0 = (.*);\n  out1 = (.*);", r" out0 = \2;\n  out1 = \1;"),
    ("c", halved, r"int32_t \*out0, int32_t \*out1", "int32_t *out1, int32_t *out0"),
    ("cpp", halved, r"&out0, std::int32_t &out1", "&out1, std::int32_t &out0"),
    ("cuda", halved, r"&out0, int &out1", "&out1, int &out0"),
    ("c", halved, r"\*out1 = .*", r"*out0 = n >> 1;"),
    ("c", halved, r"  \*out1 = .*\n", ""),
    ("cpp cuda", halved, r"  out1 = .*\n", ""),
    ("c", halved, r"(  \*out1 = .*\n)", r"\1\1"),
    ("c", halved, r"\*out1 = .*", "*out1 = *out0 >> 1;"),
    ("cpp cuda", halved, "  out1 = .*", "  out1 = out0 - n - n - n + (n >> 1);"),
    ("cpp cuda", halved, "  out1 = .*", "  out1 += n >> 1;"),
    ("c", halved, r"\*out1 = ", "out1 = "),
    ("c", halved, r"\*out1 = (.*);", r"if (n > 0) { *out1 = \1; }"),
    ("c", halved, r"void halved", "int32_t halved"),
    ("c", halved, r"int32_t \*out0", "int16_t *out0"),
    ("c", halved, r"int32_t \*out0", "uint32_t *out0"),
    ("c", halved, r"int32_t \*out0", "const int32_t *out0"),
    ("c", halved, r"int32_t \*out0", "int32_t out0[1]"),
    ("c", halved, r"int32_t \*out0", "int32_t **out0"),
    ("cpp", halved, r"std::int32_t &out0", "std::int16_t &out0"),
    ("cpp", halved, r"std::int32_t &out0", "std::int32_t out0"),
    ("cpp", halved, r"std::int32_t &out0", "const std::int32_t &out0"),
    ("cpp", halved, r"std::int32_t &out0", "std::int32_t *out0"),
    ("c cpp cuda", halved, r"out0,out1", "out1,out0"),
    ("c cpp cuda", halved, r"<= out0 < ", "<= out1 < "),
    ("c cpp cuda", halved, r"out1 < 16384", "out1 < 16383"),
    ("c", picked, "result->odd", "result->n"),
    ("c", picked, "result->odd", "result.odd"),
    ("c", picked, "result->odd", "at.inside"),
    ("c", picked, r"  result->odd = .*\n", ""),
    ("c", picked, r"Found \*result", "Found result"),
    ("c", picked, r"Found \*result", "Cell *result"),
    ("cpp cuda", picked, "result.odd", "result.n"),
    ("cpp cuda", picked, "result.odd", "at.inside"),
    ("cpp cuda", picked, r"Found &result", "Found result"),
    ("c cpp", picked, "int32_t n;", "int16_t n;"),
    # an element that is read after it may have been written
    ("c cpp cuda", moved, r"  const .* value_1 = .*\n((?s:.*))= value_1", r"\1= X[0]"),
    ("c cpp cuda", moved, r"(  const .* value_2 = .*\n)(  result\[0\] = .*\n)", r"\2\1"),
    ("c cpp cuda", moved, r"result\[2\] = value_2", "result[2] = result[0]"),
    ("c cpp cuda", moved, r"result\[2\] = value_2", "result[2] = value_1"),
    ("c cpp cuda", moved, r"result\[2\] = value_2", "result[1] = value_2"),
    ("c cpp cuda", moved, r"result\[2\] = value_2", "result[3] = value_2"),
    ("c cpp cuda", moved, r"result\[2\] = value_2", "X[2] = value_2"),
    ("c cpp cuda", moved, r"value_1 = X\[0\]", "value_1 = X[3]"),
    ("c cpp cuda", moved, r"value_1 = X\[0\]", "value_1 = X[b]"),
    ("c cpp cuda", moved, r"value_1 = X\[0\]", "value_1 = *X"),
    ("c cpp", moved, r"const (.*)int32_t \*X", r"const \1int64_t *X"),
    ("c cpp", moved, r"const (.*)int32_t \*X", r"const \1uint32_t *X"),
    ("c cpp cuda", moved, r"const ([\w:]+) \*X", r"\1 *X"),
    ("c", moved, r"int32_t result\[3\]", "int32_t result[4]"),
    ("c", moved, r"int32_t result\[3\]", "int32_t result[2]"),
    ("c", moved, r"int32_t result\[3\]", "const int32_t result[3]"),
    ("c", moved, r"int32_t result\[3\]", "int64_t result[3]"),
    ("cpp cuda", moved, r"\(&result\)\[3\]", "(&result)[4]"),
]  # fmt: skip
RUST = [
    ("rust", far, "i as i64 [*] j as i64", "(i * j) as i64"),
    ("rust", far, "i as i64", "i as i16 as i64"),
    ("rust", far, "i as i64", "i as u32 as i64"),
    ("rust", square, "i as i32 [+] 1", "(i + 1) as i32"),
    ("rust", square, "i: i16", "i: i8"),
    ("rust", square, "i: i16", "i: i32"),
    ("rust", square, "i: i16", "i: u16"),
    ("rust", square, "-> i32", "-> i64"),
    ("rust", below, r"\(?i as i64\)? < n as i64", "(i as u32) < n"),
    ("rust", below, r"\(?i as i64\)? < n as i64", "i < n as i32"),
    ("rust", below, r"\(?i as i64\)? < n as i64", "i < n"),
    ("rust", below, "-> bool", "-> i32"),
    ("rust", turned, " as i8", " as u8"),
    ("rust", turned, "-> i8", "-> i16"),
    ("rust", turned, "-> i8", "-> u8"),
    ("rust", turned, "b: bool", "b: i32"),
    ("rust", turned, "let i = i as i32;", "let i = -i as i32;"),
    ("rust", turned, "let i = i as i32;", "let b = i as i32;"),
    ("rust", parted, r"\(n >> 4\) as i16", "(n >> 4) as i8"),
    ("rust", parted, r"\(n & 0xf\) as u8", "(n & 0xf) as i8"),
    ("rust", parted, r"\(n & 0xf\) as u8", "n as u8"),
    ("rust", parted, "let n = n as i32;", "let n = n as i16;"),
    ("rust", parted, "n: u16", "n: i16"),
    ("rust", parted, "pub q: i16", "pub q: i32"),
    ("rust", parted, "pub q: i16", "pub q: u16"),
    ("rust", picked, "pub x: i16", "pub x: i8"),
    ("rust", picked, "pub inside: bool", "pub inside: i32"),
    ("rust", picked, "pub odd: bool", "pub odd: i32"),
    ("rust", picked, "odd: at_x_i32 & 1 != 0", "odd: at_x_i32 & 1"),
    ("rust", picked, "let at_x_i32", "let at"),
    ("rust", picked, "if at.inside ", "if !at.inside "),
    ("rust", strided, "b as i32 ", "b "),
    ("rust", strided, "b as i32 ", "n as i32 "),
    ("rust", strided, "n as i32", "n as u8 as i32"),
    ("rust", strided, "n: u32", "n: u64"),
    ("rust", sized, "M as i64", "M as i32 as i64"),
    ("rust", sized, "M: usize", "M: i32"),
    ("rust", joined, "pub low: u32", "pub low: i32"),
    ("rust", joined, "k as i64", "k as i32 as i64 - 1"),
]  # fmt: skip
FORTRAN = [
    ("fortran", far, r"int\(i, int64\) \* int\(j, int64\)", "i * j"),
    ("fortran", far, r"int\(i, int64\) \* int\(j, int64\)", "int(i * j, int64)"),
    ("fortran", far, r"int\(i, int64\)", "int(int(i, int16), int64)"),
    ("fortran", far, r"int\(i, int64\) \* int\(j, int64\)", "i * int(j)"),
    ("fortran", square, r"int\(i, int32\) \+ 1", "i + 1_int16"),
    ("fortran", square, r"int\(j, int32\) \* \(int\(i, int32\) \+ 1\)", "j * i + j"),
    ("fortran", square, r"integer\(int16\), intent", "integer(int8), intent"),
    ("fortran", square, r"integer\(int16\), intent", "integer(int32), intent"),
    ("fortran", square, r"integer\(int16\), intent", "logical, intent"),
    ("fortran", square, r"integer\(int32\) function", "integer(int64) function"),
    ("fortran", square, r"integer\(int32\) function", "integer(int16) function"),
    ("fortran", turned, r"integer\(int8\) function", "integer(int16) function"),
    ("fortran", turned, r"logical, intent", "integer(int32), intent"),
    ("fortran", turned, r"i_i32, b\)", "i_i32, .not. b)"),
    ("fortran", turned, r"i_i32, b\)", "i, b)"),
    ("fortran", turned, r"i_i32, b\)", "i_i32, i)"),
    ("fortran", turned, r"- 1_int32", "- 1_int32 - 1_int32"),
    ("fortran", picked, r"integer\(int16\) :: x, y", "integer(int32) :: x, y"),
    ("fortran", picked, r"integer\(int16\) :: x, y", "integer(int16) :: y, x"),
    ("fortran", picked, "logical :: inside", "integer(int32) :: inside"),
    ("fortran", picked, "logical :: odd", "integer(int32) :: odd"),
    ("fortran", picked, r"(    integer\(int16\) :: x, y\n)(    logical :: inside\n)", r"\2\1"),
    ("fortran", picked, r"at%inside\)", "at%x == 0_int16)"),
    ("fortran", picked, r" /= 0, &", ", &"),
    ("fortran", picked, r"integer\(int32\) :: n\n", "integer(int16) :: n\n"),
    ("fortran", halved, r"halved\(n, out0, out1\)", "halved(n, out1, out0)"),
    ("fortran", halved, "out1 = .*", "out1 = shifta(out0, 1)"),
    ("fortran", halved, "    out1 = .*\n", ""),
    ("fortran", halved, r"integer\(int32\), intent\(out\)", "integer(int16), intent(out)"),
    ("fortran", moved, r"X\(1\), X\(2\)\]", "X(2), X(1)]"),
    ("fortran", moved, r"logical, intent", "integer(int16), intent"),
]  # fmt: skip
GLSL = [
    ("glsl", far, r"int64_t\(i\) \* int64_t\(j\)", "int64_t(i * j)"),
    ("glsl", far, r"int64_t\(i\) \* int64_t\(j\)", "i * j"),
    ("glsl", far, r"int64_t\(i\)", "int64_t(uint(i))"),
    ("glsl", far, r"int64_t far", "int far"),
    ("glsl", far, r"int i,", "int64_t i,"),
    ("glsl", far, r"int i,", "uint i,"),
    ("glsl", far, r"int i,", "int16_t i,"),
    ("glsl", below, r"i < int\(n\)", "uint(i) < n"),
    ("glsl", below, r"i < int\(n\)", "i < n"),
    ("glsl", below, "bool below", "int below"),
    ("glsl", below, "uint n", "int n"),
    ("glsl", strided, r"int\(b\)", "int(n)"),
    ("glsl", strided, r"int\(b\)", "int(!b)"),
    ("glsl", strided, "uint strided", "int strided"),
    ("glsl", strided, "bool b", "int b"),
    ("glsl", strided, "uint n", "uint64_t n"),
    ("glsl", strided, r"\+ int\(b\)", "- int(b)"),
    ("glsl", moved, r"b \? ", "!b ? "),
    ("glsl", moved, "bool b", "uint b"),
    ("glsl", moved, r"int\[3\] moved", "bool[3] moved"),
    ("glsl", joined, "uint low", "int low"),
    ("glsl", joined, "bool set", "int set"),
    ("glsl", joined, r"int64_t\(word.high\)", "int64_t(word.low)"),
    ("glsl", joined, r"(  uint low;\n)(  int high;\n)", r"\2\1"),
    ("glsl", joined, r"int64_t\(k\)", "int64_t(int16_t(k))"),
    ("glsl", joined, "uint k", "uint64_t k"),
]  # fmt: skip


STRUCT = r"#define LEGO_STRUCT_\w+ (0x[0-9a-f]{8})\n((?:typedef )?struct (?s:.*?)\n}[ \w]*;)"


def faults(*lists):
    found = [fault for one in lists for fault in one]
    return [(language, *rest) for languages, *rest in found for language in languages.split()]


def changed(text, right, wrong):
    found, count = re.subn(right, wrong, text, count=1, flags=re.MULTILINE)
    assert count and found != text, text
    for old, struct in re.findall(STRUCT, found):  # whoever changes a struct changes its guard
        found = found.replace(old, f"0x{crc32(struct.encode()) & 0x7FFFFFFF:08x}")
    return found


@pytest.mark.parametrize(
    ("language", "function", "right", "wrong"), others_slow(faults(C, RUST, FORTRAN, GLSL), "c")
)
@pytest.mark.quick(8)
def test_a_type_that_is_wrong_is_refuted_or_refused(language, function, right, wrong):
    unit = emitted(language, function)
    text = changed(unit.source, right, wrong)
    assert not checked(unit, function, text), text


@pytest.mark.parametrize(
    ("language", "function", "right", "wrong"), others_slow(faults(WRITTEN), "c")
)
@pytest.mark.quick(8)
def test_a_result_that_is_written_wrong_is_refuted_or_refused(language, function, right, wrong):
    unit = emitted(language, function, out=True)
    text = changed(unit.source, right, wrong)
    assert not checked(unit, function, text), text


@pytest.mark.parametrize(
    ("function", "change", "why"),
    [
        (square, lambda f: f["parameters"][0].update(type="int32"), "i is int16"),
        (square, lambda f: f["parameters"][0].update(type="int17"), "which is no type"),
        (square, lambda f: f["parameters"][0].pop("type"), "i is int16"),
        (square, lambda f: f.update(types=["int64"]), "is int32"),
        (turned, lambda f: f.pop("types"), "is int8"),
        (turned, lambda f: f["parameters"][1].pop("type"), "b is bool"),
        (far, lambda f: f["parameters"][0].update(type="uint32"), "i is int32"),
        (picked, lambda f: f.update(types=["", ""]), "odd is bool"),
        (picked, lambda f: f.update(types=["bool"]), None),
        (square, lambda f: f.update(types=[8]), None),
        (square, lambda f: f["parameters"][0].update(type=16), None),
    ],
)  # fmt: skip
@pytest.mark.quick(4)
def test_a_certificate_that_states_another_type(function, change, why):
    unit = emitted("c", function)
    data = json.loads(unit.certificate().json)
    change(data["functions"][0])
    if why is None:
        with pytest.raises(CertificateError):
            check(data, unit.source, function)
    else:
        report = check(data, unit.source, function)
        assert not report and why in str(report), str(report)


# -- parameters that are known when a caller is compiled -------------------------------------------


def tile(BM, M, i, j):
    return (i // BM * M + j) * BM + i % BM


# (language, the head with BM among the others, the head of a function that is compiled for BM)
HEADS = [
    ("cpp", r"(\[\[nodiscard\]\] constexpr std::int64_t tile\(\s*)std::int64_t BM, ",
     r"template <std::int64_t BM>\n\1"),
    ("cuda", r"(\[\[nodiscard\]\] LEGO_HOST_DEVICE constexpr long long tile\(\s*)long long BM, ",
     r"template <long long BM>\n\1"),
    ("rust", r"pub const fn tile\((\s*)BM: i64, ", r"pub const fn tile<const BM: i64>(\1"),
]  # fmt: skip
RANGES = {"i": (0, None), "j": (0, "M"), "BM": (1, None)}


def compiled_for(language, right, wrong, static=("BM",)):
    """(the certificate, the text) of a function whose parameter stands in its head."""
    unit = generate(tile, language, index_type="int64", ranges=RANGES, terse=True)
    text = changed(unit.source, right, wrong)
    data = json.loads(unit.certificate().json)
    for p in data["functions"][0]["parameters"]:
        if p["name"] in static:
            p["static"] = True
    return data, text


def proved(data, text):
    data["sha256"] = sha256(text.encode()).hexdigest()
    return check(data, text, tile)


@pytest.mark.parametrize(("language", "right", "wrong"), HEADS)
def test_a_function_that_is_compiled_for_a_number_is_proved(language, right, wrong):
    data, text = compiled_for(language, right, wrong)
    assert proved(data, text), f"{proved(data, text)}\n{text}"


@pytest.mark.slow
@pytest.mark.parametrize(("language", "right", "wrong"), HEADS)
def test_a_head_that_is_wrong_is_refuted_or_refused(language, right, wrong):
    data, text = compiled_for(language, right, wrong, ())
    assert not proved(data, text) and "is compiled for BM" in str(proved(data, text))
    data, text = compiled_for(language, right, wrong, ("BM", "M"))
    assert not proved(data, text)
    data, text = compiled_for(language, right, wrong)
    for one, other in (
        (r"(template <.*|<const )BM", r"\1M"),
        (r"(template <.*) BM>", r"\1 BM, int N>"),
        (r"template <.*>", "template <int BM>"),
        (r"template <.*>", "template <class BM>"),
        (r"template <.*>", "template <long long ...BM>"),
        (r"template <.*\n", ""),
        (r"<const BM: i64>", "<const BM: i32>"),
        (r"<const BM: i64>", "<const BM: i64, const N: i64>"),
        (r"<const BM: i64>", "<BM>"),
        (r"<const BM: i64>", ""),
        (r"BM \+ ", "M + "),
        (r"% BM", "% M"),
    ):
        if re.search(one, text):
            broken = changed(text, one, other)
            assert not proved(data, broken), broken
