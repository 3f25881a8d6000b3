"""Bit wirings: every program is run against the wiring itself, and the known counts are kept."""

import random
import subprocess
import sys
from itertools import pairwise, permutations, product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import rest_slow
from nested import as_tuple, cost, meaning, wire

from lego_emit.lower.assembler import Assembler
from lego_emit.lower.bits import wire as wire_nodes
from lego_emit.lower.trees import cost as cost_of
from lego_emit.lower.words import Word, word_of

PRICES = (
    {},
    {"mul": 1.5, "div": 4, "mod": 4},
    {"mul": 3, "div": 9, "mod": 9},
    {"mul": inf, "div": inf, "mod": inf},
)

APPLY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "mod": lambda a, b: a % b,
    "div": lambda a, b: a // b,
}


def bit(*pairs):
    return frozenset(pairs)


def evaluate(trees, values, width):
    """The value of each tree; every value on the way is in range."""
    known = {}

    def of(tree):
        if tree not in known:
            if isinstance(tree, int):
                value = tree
            elif tree[0] == "in":
                value = values[tree[1]]
            else:
                value = APPLY[tree[0]](of(tree[1]), of(tree[2]))
            assert 0 <= value < 2**width, (tree, value)
            known[tree] = value
        return known[tree]

    return [of(tree) for tree in trees]


def expected(outputs, values):
    words = []
    for output in outputs:
        word = 0
        for place, pairs in enumerate(output):
            for pair in pairs:
                word ^= (1 if pair is None else values[pair[0]] >> pair[1] & 1) << place
        words.append(word)
    return words


def samples(widths):
    """Every input of at most 14 bits; else single bits, all ones, pairs of extremes and noise."""
    if sum(widths) <= 14:
        yield from product(*(range(2**bits) for bits in widths))
        return
    ones = [2**bits - 1 for bits in widths]
    yield ones
    yield from product(*((0, one) for one in ones))
    for k, bits in enumerate(widths):
        for place in range(bits):
            yield [1 << place if k == j else 0 for j in range(len(widths))]
            yield [one ^ (1 << place if k == j else 0) for j, one in enumerate(ones)]
    noise = random.Random(sum(widths))
    for _ in range(200):
        yield [noise.randrange(one + 1) for one in ones]


def check(widths, outputs, price=None, width=31):
    """The cost of the program, which is right."""
    trees = wire(widths, outputs, price or {}, width)
    assert trees is not None and len(trees) == len(outputs)
    for values in samples(widths):
        assert evaluate(trees, values, width) == expected(outputs, values), (trees, values)
    return cost(trees, price or {})


def plain(widths, outputs, price, width):
    """The cost of shifts and masks alone, written down once more."""
    total = 0
    op = lambda name: price.get(name, 1)  # noqa: E731
    for output in outputs:
        groups = {}
        for place, pairs in enumerate(output):
            for pair in pairs:
                if pair is not None:
                    key = pair[0], place - pair[1]
                    groups[key] = groups.get(key, 0) | 1 << place
        for (k, distance), kept in groups.items():
            full = (1 << widths[k]) - 1
            raw = full << distance if distance >= 0 else full >> -distance
            total += op("shl") * (distance > 0) + op("shr") * (distance < 0)
            total += op("and") * (raw != kept)
        flips = any(None in pairs for pairs in output) and bool(groups)
        total += max(map(op, ("add", "or", "xor"))) * (len(groups) - 1 + flips if groups else 0)
    return total


def inverse(widths, outputs):
    (output,) = outputs
    words = [[None] * bits for bits in widths]
    for place, (pair,) in enumerate(output):
        words[pair[0]][pair[1]] = bit((0, place))
    return [len(output)], words


def bricks(words=3, size=6, inner=3):
    fields = ((inner, size), (0, inner))
    output = [
        bit((w, b))
        for low, high in reversed(fields)
        for w in reversed(range(words))
        for b in range(low, high)
    ]
    return [size] * words, [output]


def morton(*widths):
    output = [
        bit((w, b))
        for b in range(max(widths))
        for w in reversed(range(len(widths)))
        if b < widths[w]
    ]
    return list(widths), [output]


def permuted(order, bits=1):
    return [len(order) * bits], [[bit((0, o * bits + b)) for o in order for b in range(bits)]]


SWIZZLE = (
    [6, 6],
    [
        [bit((1, b), (0, b - 2)) if b in (3, 4) else bit((1, b)) for b in range(6)]
        + [bit((0, b)) for b in range(6)]
    ],
)

SWIZZLED_BRICKS = (
    [6, 6],
    [
        [bit((1, b), (0, b)) for b in range(3)]
        + [bit((0, b)) for b in range(3)]
        + [bit((w, b)) for w in (1, 0) for b in range(3, 6)]
    ],
)


@pytest.mark.parametrize("width", rest_slow([31, 53, 63], 20))
@pytest.mark.parametrize(
    ("wiring", "most"),
    [
        (SWIZZLE, 5),
        (bricks(), 8),
        (inverse(*bricks()), 12),
        (morton(4, 4), 11),
        (inverse(*morton(4, 4)), 11),
        (morton(3, 3), 11),
        (morton(5, 5), 14),
        (morton(8, 8), 14),
        (inverse(*morton(8, 8)), 14),
        (permuted(range(10)), 0),
        (permuted([5, 6, 7, 8, 9, 0, 1, 2, 3, 4]), 4),
        (([8], [[bit((0, b), (0, b + 1)) if b < 7 else bit((0, b)) for b in range(8)]]), 2),
        (([8], [[bit(*((0, c) for c in range(b, 8))) for b in range(8)]]), 6),
        (([5], [[bit(*((0, c) for c in range(b, 5))) for b in range(5)]]), 6),
        (SWIZZLED_BRICKS, 9),
        (([2, 2], [[bit((0, 0), (1, 0))] * 2]), 4),
        (([4], [[bit((0, 0), None), bit((0, 1)), bit((0, 2)), bit((0, 3), None)]]), 1),
        (([2], [[bit((0, 0)), bit((0, 1)), bit(None)]]), 1),
        (([2], [[bit(), bit(None)]]), 0),
    ],
)
@pytest.mark.quick(4)
def test_known_counts(wiring, most, width):
    assert check(*wiring, width=width) <= most


def test_detours_leave_effort_for_others():
    """Steps of five fields would cost the effort that finds this."""
    assert check(*permuted([3, 6, 1, 7, 4, 0, 5, 2]), width=53) <= 6


def moved_by_digits(order, flipped=0):
    """Bits whose places' digits are exchanged, and the flipped ones complemented."""
    places = range(1 << len(order))
    goes = [sum((p >> k & 1) << to for k, to in enumerate(order)) ^ flipped for p in places]
    return permuted([goes.index(place) for place in places])


def exchanged(wiring, width, price=PRICES[1]):
    """The operations of the program of a permutation, which is right; its words are shared, so that
    as tuples they are too large."""
    widths, outputs = wiring
    trees = wire_nodes(widths, outputs, price, width)
    for values in samples(widths):
        known = {}
        for node in [n for tree in trees for n in _in_order(tree, set())]:
            operands = [known[a] for a in node.args]
            leaf = values[0] if node.op == "var" else node.value
            known[node] = APPLY[node.op](*operands) if operands else leaf
            assert 0 <= known[node] < 2**width, (node, values)
        assert [known[tree] for tree in trees] == expected(outputs, values), values
    return cost_of(trees, {})


def _in_order(node, seen):
    """What a node needs and the node itself, each once."""
    if node not in seen:
        seen.add(node)
        for operand in node.args:
            yield from _in_order(operand, seen)
        yield node


@pytest.mark.parametrize(
    ("wiring", "width", "most"),
    rest_slow(
        [
            (moved_by_digits([3, 4, 5, 0, 1, 2]), 64, 15),  # 8 x 8 transposed: three delta swaps
            (moved_by_digits([2, 3, 0, 1]), 31, 10),  # 4 x 4
            (moved_by_digits([2, 0, 1]), 31, 11),
            (moved_by_digits([1, 2, 3, 4, 0]), 32, 20),  # perfect shuffles
            (moved_by_digits([4, 0, 1, 2, 3]), 32, 20),
            (moved_by_digits([1, 2, 3, 0]), 31, 15),
            (moved_by_digits([5, 0, 1, 2, 3, 4]), 64, 20),
            (moved_by_digits(range(5), 31), 32, 25),  # reversed
            (moved_by_digits(range(6), 63), 64, 25),
            (moved_by_digits([1, 0, 2, 3, 5, 4], 10), 64, 20),
            (permuted(range(62, -1, -1)), 63, 20),
            (permuted(range(30, -1, -1)), 31, 20),
        ],
        4,
    ),
)
def test_exchanges_of_bits(wiring, width, most):
    assert exchanged(wiring, width) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("size", "width", "most"), [(64, 64, 55), (32, 32, 45), (16, 31, 35)])
def test_any_permutation_is_a_network_of_exchanges(size, width, most):
    rng = random.Random(size)
    for _ in range(5):
        assert exchanged(permuted(rng.sample(range(size), size)), width) <= most


@pytest.mark.deep
def test_random_exchanges():
    """With places that no bit comes from, and others that none goes to, under every price."""
    rng = random.Random(3)
    for size, width in [(5, 31), (12, 31), (23, 31), (31, 31), (32, 32), (50, 63), (63, 63)] * 2:
        order = rng.sample(range(size), size)
        output = [bit((0, b)) if rng.random() < 0.8 else bit() for b in order]
        for price in PRICES:
            assert exchanged(([size], [output]), width, price) < inf


@pytest.mark.slow
@pytest.mark.parametrize("price", [{}, PRICES[1], {"mod": inf, "div": inf}])
def test_five_twos(price):
    """Every permutation of five bits in ten operations, without remainders too."""
    for order in permutations(range(5)):
        widths, outputs = permuted(order)
        trees = wire(widths, outputs, price, 31)
        assert cost(trees, {}) <= 10 and cost(trees, price) <= 10.5, (order, trees)
        for values in samples(widths):
            assert evaluate(trees, values, 31) == expected(outputs, values)


@pytest.mark.slow
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("width", [31, 63])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (3, 6), (7, 2), (2, 2, 2), (5, 5, 5), (10, 10)])
def test_morton(sizes, width, price):
    wiring = morton(*sizes)
    assert check(*wiring, price, width) <= plain(*wiring, price, width)
    back = inverse(*wiring)
    assert check(*back, price, width) <= plain(*back, price, width)


def test_wide_morton():
    check(*morton(10, 10, 10), {}, 63)
    check(*inverse(*morton(10, 10, 10)), {}, 63)
    check(*morton(15, 15), PRICES[1], 31)


@pytest.mark.slow
@given(st.permutations(range(9)), st.integers(1, 2), st.sampled_from(PRICES))
@settings(deadline=None, max_examples=25)
def test_random_permutations(order, bits, price):
    wiring = permuted(order, bits)
    assert check(*wiring, price) <= plain(*wiring, price, 31)


@st.composite
def field_wirings(draw):
    """Words cut into fields, the fields in any order in one word or several, some left out."""
    widths = draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    fields = []
    for k, bits in enumerate(widths):
        cuts = sorted({0, bits, *draw(st.lists(st.integers(0, bits), max_size=3))})
        fields += [(k, low, high) for low, high in pairwise(cuts)]
    fields = draw(st.permutations(fields))
    outputs = [[] for _ in range(draw(st.integers(1, 3)))]
    for k, low, high in fields:
        word = draw(st.integers(0, len(outputs)))
        if word < len(outputs):
            gap = draw(st.sampled_from([0, 0, 0, 1, 3]))
            outputs[word] += [bit()] * gap + [bit((k, b)) for b in range(low, high)]
    return widths, outputs


@pytest.mark.deep
@given(field_wirings(), st.sampled_from(PRICES), st.sampled_from([31, 53, 63]))
@settings(deadline=None, max_examples=100)
def test_random_fields(wiring, price, width):
    assert check(*wiring, price, width) <= plain(*wiring, price, width)


@st.composite
def linear_maps(draw):
    widths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    pairs = [(k, b) for k, bits in enumerate(widths) for b in range(bits)]
    some = st.frozensets(st.sampled_from([*pairs, None]), max_size=4)
    return widths, draw(st.lists(st.lists(some, max_size=8), min_size=1, max_size=3))


@pytest.mark.slow
@given(linear_maps(), st.sampled_from(PRICES))
@settings(deadline=None, max_examples=25)
def test_random_linear_maps(wiring, price):
    assert check(*wiring, price) <= plain(*wiring, price, 31)


@pytest.mark.parametrize(
    ("widths", "outputs", "trees"),
    [
        ([], [[bit(), bit(None)]], [2]),
        ([3], [], []),
        ([3], [[]], [0]),
        ([0, 2], [[bit((1, 0)), bit((1, 1))]], [("in", 1)]),
        ([5], [[bit((0, 3)), bit((0, 4))]], [("shr", ("in", 0), 3)]),
        (
            [3, 2, 4],
            [[bit((k, b)) for k, bits in ((2, 4), (1, 2), (0, 3)) for b in range(bits)]],
            [("add", ("add", ("shl", ("in", 0), 6), ("shl", ("in", 1), 4)), ("in", 2))],
        ),
        (
            *SWIZZLE,
            [
                (
                    "add",
                    ("shl", ("in", 0), 6),
                    ("xor", ("in", 1), ("and", ("shl", ("in", 0), 2), 24)),
                )
            ],
        ),
    ],
)
def test_plain_forms(widths, outputs, trees):
    assert wire(widths, outputs, PRICES[1], 31) == trees


def test_width_is_kept():
    """A word as wide as the type: products and shifts past it are out."""
    wiring = [31], [[bit((0, b)) for b in range(15, 31)] + [bit((0, b)) for b in range(15)]]
    assert check(*wiring, width=31) <= 4


def test_too_wide():
    assert wire([40], [[bit((0, b)) for b in range(40)]], {}, 31) is None
    assert wire([4], [[bit()] * 31 + [bit((0, 0))]], {}, 31) is None


@pytest.mark.slow
@given(linear_maps(), st.sampled_from(PRICES), st.sampled_from([31, 63]))
@settings(deadline=None, max_examples=30)
def test_meaning_agrees_with_the_values(wiring, price, width):
    """The proof knows every bit of every word on the way that it claims to know."""
    widths, outputs = wiring
    known = {}

    def walk(tree):
        if isinstance(tree, tuple) and tree not in known:
            known[tree] = meaning(tree, widths, width)
            for part in tree[1:] if tree[0] != "in" else ():
                walk(part)

    for tree in wire(widths, outputs, price, width):
        walk(tree)
    noise = random.Random(1)
    for _ in range(20):
        values = [noise.randrange(2**bits) for bits in widths]
        packed = sum(v << sum(widths[:k]) for k, v in enumerate(values)) << 1 | 1
        for tree, bits in known.items():
            (value,) = evaluate([tree], values, width)
            assert value < 2 ** len(bits)
            for place, combination in enumerate(bits):
                if combination >= 0:
                    assert value >> place & 1 == (combination & packed).bit_count() & 1


@pytest.mark.parametrize(
    ("tree", "bits"),
    [
        (("add", ("in", 0), ("in", 0)), [0, -1, -1]),
        (("add", ("and", ("in", 0), 2), ("and", ("in", 0), 2)), [0, 0, 4]),
        (("add", ("in", 0), 6), [2, 5, 5, 4]),
        (("add", ("in", 0), 3), [3, -1, -1]),
        (("add", ("add", ("and", ("in", 0), 1), 1), ("and", ("in", 0), 2)), [3, -1, -1]),
        (("add", ("add", ("and", ("in", 0), 1), 5), ("and", ("in", 0), 1)), [1, 2, 1]),
        (("add", ("in", 0), ("shl", ("in", 0), 1)), [2, -1, -1, -1]),
        (("or", ("in", 0), ("in", 0)), [2, 4]),
        (("or", ("in", 0), ("shr", ("in", 0), 1)), [-1, 4]),
        (("mul", ("in", 0), 5), [2, 4, 2, 4]),
        (("mod", ("in", 0), 3), None),
        (("mod", ("and", ("mul", ("in", 0), 9), 17), 15), None),
        (("mod", ("and", ("mul", ("in", 0), 9), 17), 7), [2, 4]),
        (("div", ("in", 0), 3), None),
        (("mul", ("in", 0), ("in", 0)), None),
        (("shl", ("in", 0), 30), None),
        (-1, None),
    ],
)
def test_meaning(tree, bits):
    assert meaning(tree, [2], 31) == bits


def test_cost_counts_shared_trees_once():
    product_ = ("mul", ("in", 0), 65)
    assert cost([("and", product_, 7), ("shr", product_, 3), 5, ("in", 1)], {"mul": 1.5}) == 3.5


def test_a_mask_serves_several_groups():
    words = [Word(word_of(0), 0xFF)]
    groups = {(0, 3): 0xF8, (0, -5): 7}
    assert as_tuple(Assembler({"mul": inf}, 31).assemble(words, groups)) == (
        "add",
        ("and", ("shl", ("in", 0), 3), 0xF8),
        ("shr", ("in", 0), 5),
    )
    groups = {(0, 4): 0xF0, (0, -5): 6}
    tree = Assembler({"mul": inf, "mod": inf}, 31).assemble(words, groups)
    assert as_tuple(tree) == ("and", ("add", ("shl", ("in", 0), 4), ("shr", ("in", 0), 5)), 0xF6)


@pytest.mark.slow
def test_deterministic():
    code = (
        "from test_bits import *\n"
        "for w in (SWIZZLE, bricks(), inverse(*bricks()), morton(5, 5), permuted((3, 1, 4, 0, 2))):\n"
        "    print(wire(*w, PRICES[1], 53))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1
