"""Packed: fields of a few bits in words; emitted get and set in every language against one big integer."""

from __future__ import annotations

import random
import re
import subprocess
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from marks import marked, rest_deep

from lego_emit import (
    Col,
    ExpandBy,
    GenP,
    GroupBy,
    LegoError,
    Lookup,
    Packed,
    Row,
    Strided,
    TileBy,
    generate,
    golden,
    symbols,
)
from lego_emit.cli import main
from lego_emit.emit import fields, registry
from lego_emit.emitted import emit_program
from lego_emit.errors import (
    IndexRangeError,
    InternalError,
    LayoutError,
    TargetError,
    ToolchainError,
    TraceError,
    VerifyError,
)
from lego_emit.pipeline import build_program, dialect_of
from lego_emit.run.registry import toolchain as registry_of
from lego_emit.trace.packed import with_values

LANGUAGES = "c cpp cuda hip metal opencl rust fortran julia javascript glsl wgsl".split()
DAILY = "c cpp".split()
DIALECTS = "cuda hip metal opencl".split()  # of C++ and C, that share all fields
WORDS, ORDERS = (8, 16, 32, 64), ("lsb", "msb")


# -- one big integer of all bits: what a field is ------------------------------------------------


class Stream:
    """The words as one integer whose bits are counted as the order says."""

    def __init__(self, packed, words):
        self.p, self.count = packed, len(words)
        ordered = words if packed.order == "lsb" else words[::-1]
        self.bits = sum(int(w) << (packed.word * k) for k, w in enumerate(ordered))

    def shift(self, flat):
        """How far a field is above the end of the integer."""
        p = self.p
        start = p.offset + flat * p.bits
        if not p.straddle:
            count = (p.word - p.offset) // p.bits
            start = flat // count * p.word + p.offset + flat % count * p.bits
        return start if p.order == "lsb" else self.count * p.word - start - p.bits

    def get(self, flat):
        value = self.bits >> self.shift(flat) & (1 << self.p.bits) - 1
        return value - (1 << self.p.bits) if self.p.signed and value >> (self.p.bits - 1) else value

    def set(self, flat, value):
        mask = (1 << self.p.bits) - 1
        at = self.shift(flat)
        self.bits = self.bits & ~(mask << at) | (value & mask) << at

    @property
    def words(self):
        found = [self.bits >> (self.p.word * k) & 2**self.p.word - 1 for k in range(self.count)]
        return found if self.p.order == "lsb" else found[::-1]


def kinds(word):
    """Fields of numbers in all ways that a word can hold them."""
    some = sorted({1, 2, 3, 4, 5, word // 2, word - 1, word})
    ways = ((True, 0, False), (True, 3, True), (False, 0, True), (False, 1, False))
    for order, bits, (straddle, offset, signed) in product(ORDERS, some, ways):
        if straddle or offset + bits <= word:
            yield Packed(Row(3, 13), bits, word, order, straddle, offset, signed)


def of_symbols(word):
    """Fields whose bits, and offset, are known at run time."""
    N, bits, o = symbols("N bits o")
    ranges = {"bits": (1, word + 1)}
    for order, straddle in product(ORDERS, (True, False)):
        packed = Packed(Row(N), bits, word, order, straddle, o if straddle else 0, straddle)
        for n, b in ((29, 1), (17, word), (23, word // 2 + 1), (31, 5)):
            yield (
                packed,
                {"ranges": ranges},
                {"N": n, "bits": b} | ({"o": word + 2} if straddle else {}),
            )


H3 = Packed(Row(15), 3, word=64, order="msb", offset=19, words="value")
NIBBLES = Packed(Row(8), 4, word=32, signed=True, words="value")


def bitmap():
    h, w = symbols("h w")
    return Packed(Strided((h, w), (8 * ((w + 7) // 8), 1)), 1, word=8, order="msb")


def drawn(packed, seed=0):
    """Random words that hold all fields."""
    draw = random.Random(seed)
    return [draw.getrandbits(packed.word) for _ in range(packed.words())]


def compare(run, unit, packed, values):
    """Every field is read, and set, as the big integer has it."""
    position = unit.functions[0]
    p = position.packing
    packed = with_values(packed, values)
    words = drawn(packed)
    indices = [*product(*map(range, packed.layout.dims))]
    flats = [packed.layout.apply(*i) for i in indices]
    columns = [np.array(c) for c in zip(*indices, strict=True)]
    sizes = [values[q.name] for q in position.params if not q.axis]
    draw = random.Random(1)
    kind = np.dtype(f"{'int' if packed.signed else 'uint'}{packed.word}")
    new = [draw.getrandbits(packed.word) for _ in flats]
    new = np.array(new, np.uint64).astype(f"uint{packed.word}").view(kind)
    if packed.by_value:
        own = np.array([draw.getrandbits(packed.word) for _ in flats], f"uint{packed.word}")
        found = run[p.get](own, *sizes, *columns)
        assert found.dtype == kind
        assert found.tolist() == [
            Stream(packed, [w]).get(k) for w, k in zip(own, flats, strict=True)
        ]
        due = [Stream(packed, [w]) for w in own]
        for one, k, value in zip(due, flats, new.tolist(), strict=True):
            one.set(k, value)
        changed = run[p.set](own, *sizes, *columns, new)
        assert changed.tolist() == [one.words[0] for one in due]
        return len(flats)
    assert run[f"{p.name}_words"](*sizes) == packed.words()
    given = np.array(words, f"uint{packed.word}")
    stream = Stream(packed, words)
    found = run[p.get](given, *sizes, *columns)
    assert found.dtype == kind
    assert found.tolist() == [stream.get(k) for k in flats], (packed, values)
    for one in range(0, len(flats), 5):  # one field alone
        alone = Stream(packed, words)
        alone.set(flats[one], int(new[one]))
        changed = run[p.set](given, *sizes, *indices[one], int(new[one]))
        assert changed.tolist() == alone.words, (packed, values, indices[one])
    for k, value in zip(flats, new.tolist(), strict=True):
        stream.set(k, value)
    changed = run[p.set](given, *sizes, *columns, new)
    assert changed.tolist() == stream.words, (packed, values)
    assert given.tolist() == words
    return len(flats)


# -- in Python -----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", WORDS)
def test_positions_and_fields_in_python(word):
    for packed in kinds(word):
        words = drawn(packed)
        stream = Stream(packed, words)
        for i in product(range(3), range(13)):
            flat = packed.layout.apply(*i)
            assert packed.get(words, *i) == stream.get(flat)
            at, shift = packed.position(*i)
            in_order = at if packed.order == "lsb" else len(words) - 1 - at
            assert in_order * word + shift == stream.shift(flat)
            value = hash((word, i)) & 2**word - 1
            packed.set(words, *i, value)
            stream.set(flat, value)
            assert words == stream.words


def test_one_word_in_python():
    h = 0x0859_1234_5678_9ABC
    assert [H3.get(h, i) for i in range(15)] == [h >> (42 - 3 * i) & 7 for i in range(15)]
    assert H3.position(2) == (0, 36)
    changed = H3.set(h, 4, 5)
    assert (changed >> 30 & 7, changed & ~(7 << 30)) == (5, h & ~(7 << 30))
    assert H3.words() == 1


# -- in languages --------------------------------------------------------------------------------


def subjects(every):
    """(fields, options, numbers) of all kinds, or some of each."""
    for word in WORDS:
        plain = [(packed, {}, {}) for packed in kinds(word)]
        yield from plain if every else plain[word // 8 % 5 :: 7]
        named = [*of_symbols(word)]
        yield from named if every else named[word // 16 % 3 :: 5]
    for h, w in ((3, 13), (2, 16), (1, 1)):
        yield bitmap(), {}, {"h": h, "w": w}
    yield H3, {}, {}
    yield NIBBLES, {}, {}
    yield Packed(Col(4, 6), 32), {}, {}


PROGRAMS = {}  # by fields, their options, and what lowering takes from a language


def shared(packed, language, options):
    """generate(), with one program for all languages that agree on it."""
    printer = registry.printer(language)
    key = repr(packed), repr(options), dialect_of(printer)
    if key not in PROGRAMS:
        PROGRAMS[key] = build_program(packed, printer, f"f{len(PROGRAMS)}", **options)
    return emit_program(PROGRAMS[key], language, subject=packed)


def compared(toolchain_of, language, every):
    toolchain = toolchain_of(language)
    narrow = language in ("glsl", "wgsl")
    found = [s for s in subjects(every) if not narrow or s[0].word == 32]
    if every and language in DIALECTS:
        found = found[DIALECTS.index(language) % 2 :: 2]
    made = {}
    for packed, options, _ in found:
        key = repr(packed), repr(options)
        if key not in made:
            made[key] = shared(packed, language, options)
    units = [*made.values()]
    runs = dict(zip(made, toolchain.compile(units), strict=True))
    count = 0
    for packed, options, values in found:
        key = repr(packed), repr(options)
        count += compare(runs[key], made[key], packed, values)
    assert count > 25 * len(found) > (150 if narrow else 700)


@pytest.mark.slow
@pytest.mark.parametrize("language", DAILY)
def test_fields_of_every_kind(toolchain_of, language):
    compared(toolchain_of, language, every=False)


@pytest.mark.deep
@pytest.mark.parametrize("language", LANGUAGES)
def test_fields_of_all_words(toolchain_of, language):
    compared(toolchain_of, language, every=True)


# -- sanitizers: no shift by the width, no word behind the last one ------------------------------

MAIN = """{includes}
int main(void) {{
  uint64_t seed = 88172645463325252u, sum = 0;
{body}
  return sum == 1;
}}
"""
USE = """  {{
    {U} *const words = ({U} *)malloc({words} * sizeof({U}));
    for (int64_t k = 0; k < (int64_t)({words}); ++k) words[k] = ({U})(seed ^= seed << 13, seed ^= seed >> 7);
    for (int i = 0; i < {n}; ++i) {{
      const {F} before = {get};
      {set_same};
      if ({get} != before) return 2;
      {set};
      sum += (uint64_t){get};
    }}
    free(words);
  }}
"""
SANITIZE = (
    "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Wconversion",
    "-Wsign-conversion", "-Wshadow", "-Werror", "-g1",
)  # fmt: skip


def sanitized(language, tmp_path, need, some):
    """A program that reads and sets every field of arrays that are just as long as need be."""
    program, name, standard, include = {
        "c": ("gcc", "main.c", "-std=c99", "#include <stdlib.h>"),
        "cpp": ("g++", "main.cpp", "-std=c++17", "#include <cstdlib>\n#include <cstdint>"),
    }[language]
    command = need(program, f"apt-get install {program}")
    includes, body = [include], ""
    scope = "" if language == "c" else "lego::"
    for k, (packed, options, values) in enumerate(some):
        unit = generate(packed, language, name=f"f{k}", **options)
        (tmp_path / f"f{k}.h").write_text(unit.source)
        includes.append(f'#include "f{k}.h"')
        sizes = [str(values[q.name]) for q in unit.functions[0].params if not q.axis]
        own = ", ".join(["words", *sizes, "i"])
        F = f"{'int' if packed.signed else 'uint'}{packed.word}_t"
        body += USE.format(
            U=f"uint{packed.word}_t", F=F, n=with_values(packed, values).layout.size,
            words=f"(size_t){scope}f{k}_words({', '.join(sizes)})", get=f"{scope}f{k}_get({own})",
            set_same=f"{scope}f{k}_set({own}, before)", set=f"{scope}f{k}_set({own}, ({F})(seed >> 3))",
        )  # fmt: skip
    (tmp_path / name).write_text(MAIN.format(includes="\n".join(includes), body=body))
    subprocess.run([command, standard, *SANITIZE, name, "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], cwd=tmp_path, check=False).returncode == 0


def flat_subjects():
    for word in WORDS:
        for packed in kinds(word):
            flat = Packed(
                Row(3 * 13), packed.bits, word, packed.order, packed.straddle, packed.offset, packed.signed
            )  # fmt: skip
            yield flat, {}, {}
        yield from of_symbols(word)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_sanitizers_find_nothing(language, tmp_path, need):
    sanitized(language, tmp_path, need, [*flat_subjects()][::13])


@pytest.mark.deep
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_sanitizers_find_nothing_in_any(language, tmp_path, need):
    sanitized(language, tmp_path, need, [*flat_subjects()])


# -- what others wrote by hand -------------------------------------------------------------------


def bwa(n):
    """bwa's bases: _get_pac(pac, l) is pac[l >> 2] >> ((~l & 3) << 1) & 3."""
    return Packed(Row(n), 2, word=8, order="msb"), lambda pac, i: pac[i >> 2] >> ((~i & 3) << 1) & 3


def bit_array(n, bits):
    """Minecraft's BitArray until 1.15: entries go on in the next long."""

    def get(longs, i):
        start, end = i * bits // 64, ((i + 1) * bits - 1) // 64
        at = i * bits % 64
        mask = (1 << bits) - 1
        if start == end:
            return longs[start] >> at & mask
        return (longs[start] >> at | longs[end] << (64 - at)) & mask

    return Packed(Row(n), symbols("bits"), word=64), get


def padded_bit_array(n, bits):
    """The same from 1.16 on: 64 // bits entries in each long."""
    per = 64 // bits

    def get(longs, i):
        return longs[i // per] >> (i % per * bits) & (1 << bits) - 1

    return Packed(Row(n), symbols("bits"), word=64, straddle=False), get


def int4(n):
    """Weights of four bits in words of 32, the first one lowest, as GPTQ has them."""
    return Packed(Row(n), 4, word=32), lambda words, i: words[i // 8] >> (4 * (i % 8)) & 15


@pytest.mark.parametrize(
    ("made", "bits"),
    [
        (bwa, None),
        (int4, None),
        *((f, b) for f in (bit_array, padded_bit_array) for b in (4, 5, 15)),
    ],
)
@pytest.mark.parametrize("language", ["c", marked("cpp", pytest.mark.deep)])
def test_what_others_pack(toolchain_of, language, made, bits):
    n = 4096 if bits else 203
    packed, by_hand = made(n, bits) if bits else made(n)
    options = {"ranges": {"bits": (1, 33)}} if bits else {}
    unit = generate(packed, language, name="own", **options)
    (run,) = toolchain_of(language).compile([unit])
    sizes = [bits] if bits else []
    count = run["own_words"](*sizes)
    draw = random.Random(0)
    words = [draw.getrandbits(packed.word) for _ in range(count)]
    given = np.array(words, f"uint{packed.word}")
    found = run["own_get"](given, *sizes, np.arange(n))
    assert found.tolist() == [by_hand(words, i) for i in range(n)]
    if made is padded_bit_array:
        assert count == -(-n // (64 // bits))
    else:
        assert count == -(-n * (bits or packed.bits) // packed.word)


def test_digits_of_h3():
    """H3_GET_INDEX_DIGIT of resolution r is h >> (15 - r) * 3 & 7."""
    text = generate(H3, "c", name="digit").source
    assert "const int32_t shift = 42 - 3 * i;\n  return (word >> shift) & 7ull;" in text


def test_a_bitmap_takes_a_shift_and_a_mask():
    text = generate(bitmap(), "c", name="pixel").source
    assert "const int64_t word = i * ((w + 7) >> 3) + (j >> 3);" in text
    assert "const int64_t shift = 7 - (j & 7);" in text
    assert "return h * ((w + 7) >> 3);" in text
    assert "if (" not in text


# -- the unit ------------------------------------------------------------------------------------


def test_the_second_word_is_read_only_where_a_field_straddles():
    def reads(**given):
        return generate(Packed(Row(symbols("N")), **given), "c", name="f").source.count(
            "words[word"
        )

    assert reads(bits=5, word=32) == 6  # read and written
    assert reads(bits=4, word=32) == reads(bits=5, word=32, straddle=False) == 3
    assert reads(bits=4, word=32, offset=8) == reads(bits=4, word=32, order="msb", offset=4) == 3
    assert reads(bits=4, word=32, offset=2) == reads(bits=8, word=64, order="msb", offset=1) == 6
    assert reads(bits=16, word=16) == 0  # words[i] is the field


@pytest.mark.parametrize("language", ["c", marked("cpp", pytest.mark.deep)])
def test_verify_reads_and_sets_fields(toolchain_of, language):
    toolchain_of(language)
    N, bits = symbols("N bits")
    unit = generate(Packed(Row(N), bits, word=64), language, name="f", ranges={"bits": (1, 65)})
    found = unit.verify(sizes={"N": 50, "bits": 7})
    assert found, found
    last = found.checks[-1]
    assert (last.what, last.indices) == ("f_get and f_set, and fields bit by bit", 50)
    fixed = generate(Packed(Row(N), bits, order="msb"), language, sizes={"bits": 3, "N": 21})
    assert fixed.verify()
    assert generate(H3, language).verify()


def test_verify_finds_a_wrong_function(toolchain_of):
    from dataclasses import replace

    toolchain_of("c")
    unit = generate(Packed(Row(40), 5), "c", name="f")
    wrong = replace(unit, source=unit.source.replace("& 0x1fu;\n}", "& 0x0fu;\n}"))
    assert wrong.source != unit.source
    found = wrong.verify()
    assert not found and "f_get(" in found.counterexample
    wrong = replace(unit, source=unit.source.replace("~(0x1fu << shift)", "~(0x0fu << shift)"))
    assert wrong.source != unit.source
    found = wrong.verify()
    assert not found and "f_set leaves" in found.counterexample


def test_programs_are_compared_before_they_are_emitted(monkeypatch):
    whole = fields.programs

    def planted(p, width, shift=fields.SHIFT):
        _, put = whole(p, width, shift)
        return [("return", ("narrow", ("shr", ("load", 0), shift)))], put

    fields.check.cache_clear()
    monkeypatch.setattr(fields, "programs", planted)
    with pytest.raises(InternalError, match=r"field 0 of .* is read as .* and not"):
        generate(Packed(Row(40), 5, straddle=False), "c")
    fields.check.cache_clear()


def test_shifts_are_checked_in_python():
    from lego_emit.ir.packing import Packing

    p = Packing("f", 64, 64, "lsb", True, False, False, "f_get", "f_set", "f_words")
    get, _ = fields.programs(p, 64)
    assert fields.run(get, p, 64, [5, 7], {".word": 0, ".shift": 0}) == 5
    shifted = [("return", ("shl", ("load", 0), fields.SHIFT))]
    with pytest.raises(InternalError, match="64 bits are shifted by 64"):
        fields.run(shifted, p, 64, [5], {".word": 0, ".shift": 64})
    with pytest.raises(InternalError, match="word 1 of 1 is read"):
        fields.run(get, p, 64, [5], {".word": 0, ".shift": 3})


def test_words_that_are_not_there_are_not_read(toolchain_of):
    unit = generate(Packed(Row(40), 5), "c", name="f")
    (run,) = toolchain_of("c").compile([unit])
    assert {*run} == {"f_position", "f_words", "f_get", "f_set"}
    words = np.arange(7, dtype=np.uint32)
    assert run["f_get"](words, 6) == words[0] >> 30 | (words[1] & 7) << 2
    with pytest.raises(IndexRangeError, match="f_get: a field is in word 1, and there are 1"):
        run["f_get"](words[:1], 6)
    any_bits = generate(Packed(Row(40), symbols("bits")), "c", name="g", ranges={"bits": (1, 33)})
    (other,) = toolchain_of("c").compile([any_bits])
    assert other["g_get"](words, 5, 6) == run["f_get"](words, 6)
    with pytest.raises(IndexRangeError, match="g_get: a field is in word 1, and there are 1"):
        other["g_get"](words[:1], 5, 6)
    with pytest.raises(TypeError, match=r"f_set takes 3 arguments \(words, i, value\), got 2"):
        run["f_set"](words, 6)
    with pytest.raises(TypeError, match="f_get: words must be integers, not float64"):
        run["f_get"](words * 0.5, 6)


def test_a_device_without_fields():
    from lego_emit.run.fields import accessor

    position = generate(Packed(Row(4), 3), "c", name="f").functions[0]
    with pytest.raises(ToolchainError, match="f_set is compiled there, and run on the CPU alone"):
        accessor(object(), 0, position, True)


def test_names_and_types(toolchain_of):
    words, value = symbols("words value")
    packed = Packed(Row(words, value), 3, word=16)
    options = {
        "names": "camelCase",
        "prefix": "acme",
        "param_types": {"i": "int16"},
        "checks": True,
    }
    unit = generate(packed, "cpp", name="some_fields", namespace="a::b", **options)
    assert "acmeSomeFieldsGet(" in unit.source and "acmeSomeFieldsSet(" in unit.source
    assert (
        "const std::uint16_t *words_2, [[maybe_unused]] std::int64_t words,"
        in unit.source.replace("\n    ", " ")
    )
    assert unit.verify(sizes={"words": 5, "value": 7})
    assert generate(packed, "cpp", index_type="uint32").verify(sizes={"words": 5, "value": 7})
    several = generate(
        {"a": Packed(Row(9), 3), "b": Packed(Row(9), 5, signed=True), "c": Row(6, 4)}, "c"
    )
    assert several.verify()


class Sizes(NamedTuple):
    M: int
    N: int


class Index(NamedTuple):
    i: int
    j: int


M, N = symbols("M N")
OPTIONS = [
    {"base": 1},
    {"base": {"i": 1}},
    {"index_type": "uint32"},
    {"index_type": ["auto", "int32"]},
    {"param_types": {"i": "int16", "M": "int32"}},
    {"group": {"size": Sizes(M, N)}, "index": Index},
    {"hints": True, "checks": True, "results": "out", "arrays": "pointer"},
    {"sizes": {"M": 3}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: ",".join(o))
@pytest.mark.parametrize("language", ["c", marked("rust", pytest.mark.deep)])
def test_options(toolchain_of, language, options):
    toolchain_of(language)
    if language == "rust":
        options = {n: v for n, v in options.items() if n not in ("hints", "results", "arrays")}
    unit = generate(Packed(Row(M, N), 5, word=16, order="msb"), language, name="f", **options)
    sizes = {"size": Sizes(3, 7)} if "group" in options else {"M": 3, "N": 7}
    found = unit.verify(sizes=sizes)
    assert found, found
    assert found.checks[-1].indices == 21


@pytest.mark.parametrize(
    "language",
    [
        "c",
        *(marked(t, pytest.mark.deep) for t in ("rust", "julia", "fortran", "javascript", "wgsl")),
    ],
)
def test_parameters_that_are_called_as_what_the_text_names(toolchain_of, language):
    toolchain_of(language)
    shift, word, field, mask = symbols("shift word field mask")
    packed = Packed(Row(word, mask), shift, offset=field, order="msb", signed=True)
    unit = generate(packed, language, name="words", ranges={"shift": (1, 33)})
    assert unit.verify(sizes={"word": 4, "mask": 5, "shift": 7, "field": 9})


@pytest.mark.parametrize(
    "language", ["javascript", *(marked(t, pytest.mark.deep) for t in LANGUAGES)]
)
@pytest.mark.parametrize("order", ORDERS)
def test_fields_as_wide_as_words_in_two_of_them(toolchain_of, language, order):
    """No mask is needed: of a negative value BigInts have no end of ones."""
    toolchain = toolchain_of(language)
    words = [32] if language in ("glsl", "wgsl") else WORDS
    made = [Packed(Row(9), word, word, order, offset=3, signed=True) for word in words]
    units = [generate(packed, language, name=f"f{k}") for k, packed in enumerate(made)]
    for packed, unit, run in zip(made, units, toolchain.compile(units), strict=True):
        assert compare(run, unit, packed, {}) == 9


TYPES = {
    "c": "size_t", "cuda": "uint32", "fortran": "integer", "glsl": "int64", "javascript": "int64",
    "julia": "uint32", "opencl": "uint64", "rust": "usize", "wgsl": "uint64",
}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("language", TYPES)
def test_index_types(toolchain_of, language):
    toolchain_of(language)
    for bits, order, straddle in (
        (symbols("bits"), "msb", True),
        (7, "lsb", False),
        (5, "lsb", True),
    ):
        packed = Packed(Row(N), bits, 32, order, straddle, 0, signed=True)
        known = isinstance(bits, int)
        options = {} if known else {"ranges": {"bits": (1, 33)}}
        sizes = {"N": 40} if known else {"N": 40, "bits": 9}
        for index_type in sorted({TYPES[language], "int64"}):
            unit = generate(packed, language, index_type=index_type, **options)
            found = unit.verify(sizes=sizes)
            assert found, found


def test_kinds_of_layouts(toolchain_of):
    toolchain_of("c")
    xor = GenP([8, 8], lambda i, j: (i ^ j) * 8 + j, lambda f: (f // 8 ^ f % 8, f % 8))
    for layout in (
        Lookup([6], [3, 1, 2, 0, 5, 4]),
        Lookup([6], [3, 1, 2, 9, 5, 4], many=True),
        Strided((4, 3), (1, 5)),
        GroupBy([8, 8]).OrderBy(xor),
        TileBy([2, 4], [4, 2]),
    ):
        assert generate(Packed(layout, 3), "c").verify()


@pytest.mark.parametrize("language", ["c", "rust", "julia", "fortran", "javascript", "opencl"])
def test_a_table_that_is_given_comes_before_the_value(language):
    text = generate(Packed(Lookup([N], "perm"), 3), language, name="f").source
    head = re.findall(r"(?:f_set|fSet|set)\(\s*(.*?)\)", text.replace("\n", " "))
    assert any(re.search(r"words.*perm.*value", given) for given in head), head


def test_no_methods():
    with pytest.raises(
        TargetError, match="methods: f is fields of words, whose functions take the"
    ):
        generate(Packed(Row(N), 3), "cpp", name="f", methods=True)


def test_no_certificate():
    with pytest.raises(VerifyError, match="f is fields of words, which have no certificate"):
        generate(Packed(Row(4), 3), "c", name="f").certificate()


def test_declarations_have_the_types_of_words():
    unit = generate(Packed(Row(N), 5, word=64, signed=True), "javascript", name="f")
    text = unit.printer.declarations(unit.program)
    assert "export function fGet(words: BigUint64Array, N: number, i: number): bigint;" in text
    assert (
        "export function fSet(words: BigUint64Array, N: number, i: number, value: bigint): void;"
        in text
    )


@pytest.mark.deep
def test_device_code_compiles(need, tmp_path):
    need("nvcc", "apt-get install nvidia-cuda-toolkit")
    units = [
        generate(p, "cuda", name=f"f{k}", **o) for k, (p, o, _) in enumerate(subjects(every=False))
    ]
    assert all(path.stat().st_size for path in registry_of("cuda").cubin(units, tmp_path))


@pytest.mark.deep
def test_hip_device_code_compiles(need, tmp_path):
    need("clang++", "apt-get install clang")
    units = [
        generate(p, "hip", name=f"f{k}", **o) for k, (p, o, _) in enumerate(subjects(every=False))
    ]
    assert all(path.stat().st_size for path in registry_of("hip").assembly(units, tmp_path))


@pytest.mark.deep
def test_rust_is_formatted_and_sets_off_no_lint(need, tmp_path):
    need("rustfmt", "rustup component add rustfmt")
    need("clippy-driver", "rustup component add clippy")
    names = []
    for k, (packed, options, _) in enumerate(subjects(every=False)):
        unit = generate(packed, "rust", name=f"f{k}", checks=k % 2 > 0, **options)
        unit.save(tmp_path / f"f{k}.rs")
        names.append(f"f{k}")
    (tmp_path / "lib.rs").write_text("#![no_std]\n\n" + "".join(f"pub mod {n};\n" for n in names))
    subprocess.run(
        ["rustfmt", "--check", "--config", "reorder_modules=false", *(f"{n}.rs" for n in names)],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    command = ["clippy-driver", "--edition", "2021", "--crate-type=lib", "--emit=metadata"]
    subprocess.run(
        [*command, "-D", "warnings", "-W", "clippy::pedantic", "lib.rs"], cwd=tmp_path, check=True
    )


# -- golden cases, the command line --------------------------------------------------------------

CASES = Path(__file__).parent / "packed"


@pytest.mark.slow
def test_golden_files_are_as_they_should_be():
    """After a change that is meant: lego-emit golden update tests/packed."""
    found = golden.check(CASES)
    assert found == [], "\n".join(map(str, found))
    assert len([*CASES.glob("*/*.h")]) == 2 * 4  # C's, and HIP's


@pytest.mark.parametrize("language", rest_deep(t for t in LANGUAGES if t not in ("glsl", "wgsl")))
def test_golden_cases_are_run(toolchain_of, language):
    toolchain_of(language)
    cases = golden.cases(CASES)
    for numbers in (False, True):
        found = golden.verify(cases, language, numbers)
        assert found.mismatches == []
        assert found.comparisons > 800


def test_golden_tables_are_compared(toolchain_of, tmp_path):
    toolchain_of("c")
    for name in ("layout.py", "table.txt"):
        text = (CASES / "h3_digits" / name).read_text()
        (tmp_path / "h3_digits").mkdir(exist_ok=True)
        (tmp_path / "h3_digits" / name).write_text(text.replace('order="msb"', 'order="lsb"'))
    (wrong,) = golden.verify(golden.cases(tmp_path), "c").mismatches
    assert "h3_digits_shift(i=0) gives 19, the table has 42" in wrong


def test_the_command_line(toolchain_of):
    toolchain_of("c")
    given = f"{CASES / 'bitmap' / 'layout.py'}:layout"
    done = CliRunner().invoke(main, ["generate", given, "-t", "c"])
    assert done.exit_code == 0 and "layout_set(" in done.output
    done = CliRunner().invoke(main, ["verify", given, "-t", "c"])
    assert (
        done.exit_code == 0
        and "bitmap_get and bitmap_set, and fields bit by bit: equal" in done.output
    )


# -- bad input -----------------------------------------------------------------------------------

WRONG = {
    "bits is 0, and is at least 1 and at most 32": lambda: Packed(Row(4), 0),
    "bits is 33, and is at least 1 and at most 32, the bits of a word": lambda: Packed(Row(4), 33),
    "bits is 2.0; give an integer or a symbol": lambda: Packed(Row(4), 2.0),
    "bits is N . 1; give one symbol": lambda: Packed(Row(4), N + 1),
    "offset is -1, and is at least 0": lambda: Packed(Row(4), 1, offset=-1),
    "word is 24; there are 8, 16, 32, 64": lambda: Packed(Row(4), 1, word=24),
    "order is 'big'; there are 'lsb', 'msb'": lambda: Packed(Row(4), 1, order="big"),
    "words is 'atomic'; there are 'array', 'value'; no form sets fields atomically": lambda: Packed(Row(4), 1, words="atomic"),
    "straddle is 1; give True or False": lambda: Packed(Row(4), 1, straddle=1),
    "no field of 5 bits is in a word of 8 behind 4": lambda: Packed(
        Row(4), 5, word=8, straddle=False, offset=4
    ),
    "the first argument is no layout": lambda: Packed(4, 1),
    "the layout masks positions, by -1": lambda: Packed(ExpandBy([5], [6], GroupBy([6])), 1),
    "bits is the symbol bits, whose range is not known": lambda: generate(
        Packed(Row(4), symbols("bits")), "c"
    ),
    "bits is between 1 and 40, and bits between 1 and 32": lambda: generate(
        Packed(Row(4), symbols("bits")), "c", ranges={"bits": (1, 41)}
    ),
    "bits is between 1 and 8, and bits between 1 and 6, those behind offset": lambda: generate(
        Packed(Row(4), symbols("bits"), word=8, straddle=False, offset=2), "c", ranges={"bits": (1, 9)}
    ),
    "the layout may have a negative position": lambda: generate(Packed(Strided((4,), (-1,)), 2), "c"),
    "words='value' takes one word of 64 bits, in which all fields have to be": lambda: generate(
        Packed(Row(16), 3, word=64, order="msb", offset=19, words="value"), "c"
    ),
    "base names word, and words and their bits count from 0": lambda: generate(
        Packed(Row(4), 2), "c", base={"word": 1}
    ),
    "words have 64 bits, and in GLSL 32: give word=32": lambda: generate(
        Packed(Row(4), 2, word=64), "glsl"
    ),
    "it is fields of words; a view is of a layout": lambda: generate(Packed(Row(4), 2), "cpp", view=True),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_bad_input(message):
    with pytest.raises(LegoError, match=message.replace(" . ", r" \+ ")) as error:
        WRONG[message]()
    assert isinstance(error.value, (LayoutError, TargetError, TraceError))
    assert "\n" not in str(error.value)


def test_languages_without_words():
    known = [n for n, p in registry.working().items() if p.has_packed]
    assert set(LANGUAGES) <= {*known}
    for language in ("python", "numpy", "mlir", "triton"):
        with pytest.raises(TargetError, match=r"has no fields of words; c, .* have"):
            generate(Packed(Row(4), 2), language)
