"""Packed fields in templates and in shared memory, against Packed's own positions, bit by bit."""

import random
import re

import pytest

from lego_emit import (
    Col,
    Linear,
    Packed,
    Row,
    Strided,
    TileBy,
    bank_conflicts,
    hardware,
    render,
    symbols,
)
from lego_emit.errors import LayoutError, TemplateError
from lego_emit.movement import conflict_sheet

M, N, b = symbols("M N b")
TILES = TileBy([M // 16, N // 32], [16, 32]).OrderBy(Row(M, N))
SIZES = {"M": 32, "N": 96, "b": 5}

# -- in templates ----------------------------------------------------------------------------------

TEXT = """{% names I %}
{% index word, shift = W.position(I) %}
words, size, count, bits, places = {{ W.words }}, {{ W.size }}, {{ W.dims[0] }}, {{ W.bits }}, {{ W.word }}
"""
SUBJECTS = [
    (Packed(TILES, 4), "p, q, i, j"),
    (Packed(TILES, 4, word=8, order="msb"), "p, q, i, j"),
    (Packed(TILES, 5, word=16), "p, q, i, j"),
    (Packed(Col(M, N), 3, word=32, straddle=False, offset=1), "i, j"),
    (Packed(Col(M, N), b, word=64, order="msb"), "i, j"),
    (Packed(Strided((6, 8), (11, 1)), 4), "i, j"),
]


@pytest.mark.parametrize(("packed", "index"), SUBJECTS)
@pytest.mark.quick(2)
def test_a_template_prints_the_word_and_the_bits_below_a_field(packed, index):
    text = TEXT.replace("I", index)
    ranges = {"b": (1, 33)} if packed.bits is b else None
    made = render(text, "numpy", W=packed, ranges=ranges, index_type="int64")
    plain = with_numbers(packed)
    draw = random.Random(4)
    for _ in range(40):
        given = [draw.randrange(n) for n in plain.layout.dims]
        names = dict(zip(index.split(", "), given, strict=True))
        scope = {**SIZES, **names}
        exec(made, scope)
        assert (scope["word"], scope["shift"]) == plain.position(*given)
        flat = plain.layout.apply(*given)
        assert plain._places(flat)[0] == (scope["word"], scope["shift"])
    assert scope["words"] == plain.words() and scope["size"] == plain.layout.size
    assert (scope["count"], scope["bits"], scope["places"]) == (
        plain.layout.dims[0], plain.bits, plain.word,
    )  # fmt: skip


def with_numbers(packed):
    """The same with numbers for its symbols."""
    from lego_emit.trace.packed import with_values

    return with_values(packed, SIZES)


def test_nibbles_cost_no_division_and_functions_are_whole():
    made = render(
        "{% names i, j %}{% index word, shift = W.position(i, j) %}",
        "cuda",
        W=Packed(Row(6, 40), 4),
    )
    assert made == "const int word = 5 * i + (j >> 3);\nconst int shift = 4 * (j & 7);\n"
    functions = render("{{ W.functions }}", "cuda", W=Packed(Row(6, 40), 4))
    assert {*re.findall(r"\bW_\w+(?=\()", functions)} == {"W_position", "W_get", "W_set", "W_words"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ W[0, 1] }}", "a field of 4 bits is no element of an array; write {% index word, shift = W.position(..) %}"),
        ("{{ W }}", "W is fields of words, and no index"),
        ("{{ W.position(0) }}", "W.position takes 2 indices, 1 given"),
        ("{{ W.position(0, 1) }}", "has 2 values: write W.position(0, 1)[0]"),
        ("{{ W.position(0, 8)[0] }}", "index 1 is 8, outside 0..7"),
        ("{{ W.apply(0, 1) }}", "W has no 'apply': it is fields of words"),
        ("{{ W.positoin(0, 1) }}", "Did you mean 'position'"),
        ("{{ W.words() }}", "W.words is an index expression, and no function"),
        ("{{ W.gmma_desc('x', 0, 0, rows=64) }}", "W has no 'gmma_desc'"),
        ("{{ A.tensor_map(W).box }}", "takes a layout of shared memory, and W = Packed"),
        ("{% names i %}{{ B.position(i)[1] }}", "the position -i may be negative, and fields count from 0"),
        ("{% if W.position(0, i)[0] == 1 %}{% endif %}", "i is not a declared name"),
    ],
)  # fmt: skip
def test_a_template_is_told_what_fields_are_not(text, said):
    given = {"W": Packed(Row(8, 8), 4), "A": Row(8, 8), "B": Packed(Strided((8,), (-1,)), 4)}
    with pytest.raises(TemplateError, match=re.escape(said)):
        render(text, "cuda", **given)


# -- in shared memory ------------------------------------------------------------------------------

VECTORS = Linear.identity1D(32, "register", "dim2") * Linear.identity1D(32, "lane", "dim1")


@pytest.mark.parametrize(
    ("memory", "access", "wanted"),
    [
        (Packed(Row(32, 32), 4), lambda lane: (lane, 0), (4, 1, (4,))),
        (Packed(Row(32, 32), 4), lambda lane, register: (lane, register), (4, 4, (16,))),
        (Packed(Row(32, 256), 4), lambda lane: (lane, 0), (32, 1, (4,))),
        (Packed(Row(32, 256), 4), lambda lane: (0, lane), (1, 1, (4,))),
        (Packed(Strided((32, 256), (264, 1)), 4), lambda lane: (lane, 0), (1, 1, (4,))),
        (Packed(Row(32, 32), 4, word=8), lambda lane: (lane, 0), (4, 1, (1,))),
        (Packed(Row(16, 16), 4), hardware.mma("a"), (2, 2, (8, 8))),
        (Packed(Row(32, 32), 5), lambda lane: (lane, 6), (2, 2, (4, 4))),
    ],
)  # fmt: skip
def test_an_access_of_fields_moves_their_words(memory, access, wanted):
    found = bank_conflicts(memory, access)
    assert (found.wavefronts, found.minimum, found.widths) == wanted


@pytest.mark.quick(8)
@pytest.mark.parametrize("seed", range(24))
def test_fields_cost_what_their_words_cost(seed):
    """The words are those that hold a bit of a field, bit by bit."""
    draw = random.Random(seed)
    bits, word = draw.choice([1, 2, 3, 4, 5, 8]), draw.choice([8, 16, 32, 64])
    shape = draw.choice([16, 32]), draw.choice([16, 24, 64])
    layout = draw.choice([Row(*shape), Col(*shape), Strided(shape, (shape[1] + 8, 1))])
    packed = Packed(layout, bits, word=word, order=draw.choice(["lsb", "msb"]), straddle=draw.random() < 0.7)  # fmt: skip
    count, by = draw.choice([1, 2, 4, 8]), draw.choice([1, 2, 3, 5])

    def fields(lane, register):
        return (by * lane) % shape[0], (lane // 16 * 8 + register) % shape[1]

    def words(lane, register):
        places = packed._places(layout.apply(*fields(lane, register % count)))
        held = list(dict.fromkeys(place for place, _ in places))
        if register < count:
            return held[0]
        return held[1] if held[1:] else None

    found = bank_conflicts(packed, fields, registers=count)
    plain = Strided((packed.words(),), (1,))
    assert found == bank_conflicts(plain, words, word // 8, registers=2 * count)


@pytest.mark.parametrize(
    ("memory", "options", "said"),
    [
        (Packed(Row(8), 4, words="value"), {}, "those of one word, which is in no memory"),
        (Packed(Row(N), 4), {}, "has symbols; give numbers for them"),
        (Packed(Row(32), b), {}, "has symbols; give numbers for them"),
        (Packed(Row(32), 4), {"element_bytes": 0.5}, "moves the words of 4 bytes; leave it out"),
        (Packed(Row(32), 4, word=64), {"element_bytes": 2}, "moves the words of 8 bytes"),
        (Packed(Row(8), 4), {}, "8 for coordinate 0"),
    ],
)
def test_fields_that_no_access_moves(memory, options, said):
    with pytest.raises(LayoutError, match=re.escape(said)):
        bank_conflicts(memory, lambda lane: lane, **options)


def test_the_picture_says_words():
    page = conflict_sheet(Packed(Row(32, 16), 4), lambda lane: (lane, 0))
    assert "the word's offset" in str(page.legend)
