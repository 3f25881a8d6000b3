"""What comments say of bit tricks, against what the tricks do."""

import itertools
import random
import re

import pytest
from marks import rest_slow

from lego_emit import Linear, OrderBy, RegP, generate
from lego_emit.emit.remarks import WIDTH, _own, remarks
from lego_emit.ir.index_types import INT64
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Param
from lego_emit.ir.relations import const

EVERY = {"other": 2, "third": 3, "fourth": 4}


def step(word):
    return EVERY.get(word) or int(word[:-2])


def var(name, hi):
    return Node("var", (), name, 0, hi)


def op(name, *args):
    return Node(name, tuple(a if isinstance(a, Node) else const(a) for a in args))


def function(params, body, outputs):
    made = tuple(Param(n, lo=0, hi=hi) for n, hi in params.items())
    return Function("f", made, tuple(body), tuple(outputs), INT64)


def listed(said, values):
    """The number that "The bits i[3:2] 0 j[0], highest first." names at values of the variables, or
    another remark."""
    first, place = (
        int(m[1]) if (m := re.search(rf"from {w} (\d+)", said)) else 0 for w in ("bit", "place")
    )
    if row := re.match(r"Spreads (\d+) bits of (\w+) to every (\w+) place", said):
        far = step(row[3])
        return sum((values[row[2]] >> first + k & 1) << place + far * k for k in range(int(row[1])))
    if row := re.match(r"Gathers (\d+) bits of (\w+), every (\w+) one", said):
        bits = (first + k * step(row[3]) for k in range(int(row[1])))
        return sum((values[row[2]] >> bit & 1) << place + k for k, bit in enumerate(bits))
    if row := re.match(r"Reverses bits (\d+) to (\d+) of (\w+)", said):
        low, high = int(row[1]), int(row[2])
        return sum((values[row[3]] >> high - k & 1) << place + k for k in range(high - low + 1))
    word = ""
    for part in re.fullmatch(r"The bits (.+), highest first\.", said)[1].split():
        if row := re.fullmatch(r"(\w+)\[(\d+)(?::(\d+))?\]", part):
            high, low = int(row[2]), int(row[3] or row[2])
            word += "".join(str(values[row[1]] >> k & 1) for k in range(high, low - 1, -1))
        else:
            count, _, bit = part.rpartition("x")
            word += bit * int(count or 1)
    return int(word, 2)


def test_a_spread_over_several_statements_is_said_where_it_begins():
    x = var("x", 15)
    first = op("and", op("or", x, op("shl", x, 2)), 0x33)
    bits = var("bits", 0x33)
    second = op("and", op("or", bits, op("mul", bits, 2)), 0x55)
    found = function({"x": 15}, [("bits", first)], [("result", op("mul", var("spread", 85), 3))])
    spread = function(
        {"x": 15},
        [("bits", first), ("spread", second)],
        [("result", op("add", var("spread", 85), 7))],
    )
    assert remarks(spread) == ({"bits": "Spreads 4 bits of x to every other place."}, {})
    assert remarks(found)[0] == {"bits": "The bits x[3:2] 0 0 x[1:0], highest first."}


def test_a_gather_says_from_which_bit():
    x = var("x", 255)
    odd = op("and", op("shr", x, 1), 0x55)
    a = op("and", op("or", var("a", 85), op("shr", var("a", 85), 1)), 0x33)
    b = op("and", op("or", var("b", 51), op("shr", var("b", 51), 2)), 15)
    found = function({"x": 255}, [("a", odd), ("b", a)], [("result", b)])
    assert remarks(found)[1] == {"result": "Gathers 4 bits of x, every other one, from bit 1."}


def test_a_shift_by_nothing_is_followed():
    x = var("x", 15)
    spread = op("and", op("or", op("shr", x, 0), op("shl", x, 2)), 0x33)
    said = {"r": "The bits x[3:2] 0 0 x[1:0], highest first."}
    assert remarks(function({"x": 15}, [], [("r", op("mul", spread, 1))]))[1] == said


def test_a_mask_may_stand_first():
    x = var("x", 15)
    spread = op("or", x, op("shl", x, 2))
    said = {"r": "The bits x[3:2] 0 0 x[1:0], highest first."}
    for masked in (op("and", spread, 0x33), op("and", 0x33, spread)):
        assert remarks(function({"x": 15}, [], [("r", masked)]))[1] == said


def test_a_spread_says_from_which_place():
    x = var("x", 3)
    spread = op("shl", op("and", op("or", x, op("shl", x, 1)), 5), 3)
    said = {"r": "Spreads 2 bits of x to every other place, from place 3."}
    assert remarks(function({"x": 3}, [], [("r", spread)]))[1] == said


def test_bits_that_a_statement_has_copied_are_told_there_and_no_more():
    x = var("x", 15)
    copies, moved = op("or", x, op("shl", x, 4)), op("shr", var("copies", 255), 1)
    found = function({"x": 15}, [("copies", copies)], [("r", moved)])
    assert not remarks(found)[1]


def test_plain_fields_and_arithmetic_are_not_said():
    def plain(i, j):
        return OrderBy(RegP([8, 16], [1, 0]))[i, j]

    def symbols(M, N, i, j):
        return OrderBy(RegP([M, N], [1, 0]))[i, j]

    for fn in (plain, symbols):
        assert remarks(generate(fn, "cpp").functions[0]) == ({}, {})


def test_digits_turned_round_by_one_remainder():
    x = var("x", 58)
    found = op("mod", op("mul", 15, x), 59)
    said = "15*x modulo 59 is 15 times the remainder of x by 4, plus the quotient."
    assert remarks(function({"x": 58}, [], [("r", found)]))[1] == {"r": said}
    assert all(15 * x % 59 == 15 * (x % 4) + x // 4 for x in range(59))
    twice = function({"x": 6}, [], [("r", op("mod", op("mul", 2, var("x", 6)), 7))])
    assert remarks(twice)[1]["r"].startswith("2*x modulo 7 is 2 times the remainder of x by 4,")
    inside = function({"x": 58}, [], [("r", op("add", found, 5))])
    assert remarks(inside)[1] == {"r": said}
    too_far = op("mod", op("mul", 15, var("x", 59)), 59)
    assert remarks(function({"x": 59}, [], [("r", too_far)])) == ({}, {})


def random_node(source, depth):
    """An expression of bit operations; masks make most of the choices of bits."""
    if depth == 0:
        return var(*source.choice([("x", 15), ("y", 7)]))
    kind = source.choice(["shl", "shr", "and", "and", "or", "add", "xor", "mul", "div", "mod"])
    a = random_node(source, depth - 1)
    if kind in ("or", "add", "xor"):
        return op(kind, a, random_node(source, depth - 1))
    if kind in ("div", "mod"):
        return op(kind, a, 1 << source.randrange(5))
    by = {"and": source.randrange(256), "mul": source.choice([2, 3, 5, 17])}
    return op(kind, a, by.get(kind, source.randrange(4)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", rest_slow(range(4)))
def test_what_is_listed_is_what_is_computed(seed):
    source = random.Random(seed)
    told = 0
    for _ in range(3000):
        node = op("and", random_node(source, source.randrange(2, 5)), source.randrange(1, 512))
        found = function({"x": 15, "y": 7}, [], [("r", node)])
        said = remarks(found)[1].get("r", "")
        if not said or "modulo" in said:
            continue
        told += 1
        for x, y in itertools.product(range(16), range(8)):
            assert found.evaluate({"x": x, "y": y})["r"] == listed(said, {"x": x, "y": y}), said
    assert told > 20


def test_comments_stand_in_every_language_that_has_statements():
    table = {"i": [(2,), (8,), (32,), (128,)], "j": [(1,), (4,), (16,), (64,)]}
    layout = Linear(table, out={"flat": 256})
    for target, mark in [("cpp", "//"), ("rust", "//"), ("fortran", "!"), ("julia", "#")]:
        source = generate(layout, target, name="morton").source
        assert re.search(rf"(?m)^\s*{mark} (The bits|Spreads|Gathers) .*\.$", source), source


def test_a_bit_that_an_addition_carries_up_is_followed():
    unit = generate(
        lambda lane, r: 2 * (lane % 4) + r % 2 + 8 * (r // 4),
        "cpp",
        name="column",
        cost="ops",
        ranges={"lane": (0, 32), "r": (0, 8)},
    )
    assert "((r + 4) & 9)" in unit.source
    assert "// The bits r[2] lane[1:0] r[0], highest first." in unit.source


def test_the_bits_of_what_may_be_negative_are_not_named():
    assert _own("x", -4, 7) == _own("x", None, 7) == (None,) * WIDTH
    assert _own("x", 0, 5) == (("x", 0), ("x", 1), ("x", 2))
