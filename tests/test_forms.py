"""What an expression is spelled as keeps its value, in every style: digits as differences of
quotients, quotients of quotients, masks in place, comparisons, words of bits, small tables."""

import random
from itertools import chain, combinations, product
from pathlib import Path

import pytest
from net.machine import Machine, assert_sound
from small_worlds import World
from test_provers import WINDOWS, worlds

from lego_emit import generate, isqrt
from lego_emit.arith.evaluate import evaluate, holds
from lego_emit.arith.expr import Cond, Expr, opaque
from lego_emit.arith.terms import Atom
from lego_emit.errors import WidthError
from lego_emit.golden import load
from lego_emit.ir import relations
from lego_emit.ir.cost import cost_model
from lego_emit.ir.index_types import INT32, INT64
from lego_emit.lower.forms import Form
from lego_emit.lower.lowering import Lowering
from lego_emit.lower.problem import Dialect
from lego_emit.lower.style import Style, census, occurrences
from lego_emit.lower.wiring import Wiring
from lego_emit.operations import OPS
from lego_emit.pipeline import build_program
from lego_emit.run import registry
from lego_emit.trace.mirrored import mirrored as turned_round

CPP = registry.printer("cpp")
COST = cost_model(None, CPP.cost)
GOLDEN = Path(__file__).parent.parent / "golden"


class Computed:
    """Nodes at one point, a select's taken branch only; the promises of each
    operation that the languages lean on."""

    def __init__(self, values):
        self.values, self.known = values, {}

    def __call__(self, node):
        if node not in self.known:
            self.known[node] = self._of(node)
        return self.known[node]

    def _of(self, node):
        op, args, value = node.op, node.args, node.value
        if op == "const":
            return value
        if op == "var":
            return self.values[value]
        if op == "select":
            return self(args[1] if self(args[0]) else args[2])
        numbers = [self(a) for a in args]
        if op in ("div", "mod"):
            assert numbers[0] >= 0 and numbers[1] > 0, (op, numbers, self.values)
        if op in ("shl", "shr"):
            assert 0 <= numbers[1] < 64, (op, numbers, self.values)
        return OPS[op].value(*numbers)


def spelled(world, e, styles):
    """The styles in which e has another form than before; each has e's value at every point, and
    every node lies in its range."""
    own = world.analyzer.unsubstitute(e)
    lowering = Lowering(world.analyzer, Dialect((INT32, INT64), COST, True))
    forms = {}
    for style in styles(own):
        node = Form(lowering, style, [own]).expr(own)
        if node not in forms:
            forms[node] = style, lowering.ranges.program([node])
    for want, values in world.everywhere(e):
        for node, (style, ranges) in forms.items():
            computed = Computed(values)
            assert computed(node) == want, (world.known, e, style, values)
            for part, value in computed.known.items():
                lo, hi = ranges.get(part, (None, None))
                assert lo is None or lo <= value, (world.known, e, style, values, part)
                assert hi is None or value <= hi, (world.known, e, style, values, part)
    return len(forms)


def every_style(e):
    """All subsets of few digits as differences, with each of the other choices."""
    every = {a for a, _ in occurrences([e]) if a.kind == "digit"}
    digits = frozenset(a for a in every if a.args[2] is not None)
    some = sorted(digits, key=lambda a: a.key)[:2]
    sets = chain.from_iterable(combinations(some, k) for k in range(len(some) + 1))
    rests = frozenset(a for a in digits if a.args[2].constant)
    for floors, collect, fuse, kept in product(sets, (False, True), (False, True), ((), rests)):
        yield Style(frozenset(floors), collect=collect, fuse=fuse, rests=frozenset(kept))
    some = sorted(every, key=lambda a: a.key)[:3]
    for kinds in product(("floors", "rounds", "masks", ""), repeat=len(some)):
        pairs = [*zip(some, kinds, strict=True)]
        if all(a in digits for a, kind in pairs if kind == "floors"):
            sets = {k: frozenset(a for a, kind in pairs if kind == k) for k in kinds if k}
            yield Style(**sets, nested=len(pairs) == 2)


def test_a_sum_that_two_equal_outputs_share_stands_once():
    x, y = (Expr.atom(Atom("sym", name)) for name in "xy")
    kept = opaque(x + y)
    assert census([kept + 3, kept + 3])[0] == {kept.single}
    assert census([kept + 3, kept + 4])[0] == set()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_any_expression(seed):
    forms = sum(spelled(world, made, every_style) for world, _, made, _ in worlds(seed))
    assert forms > 48


def scaled_digits(draw):
    """Powers of two and others, at their places and elsewhere."""
    parts = []
    for name in draw.sample(["x", "y", "(x + y)", "(x + 5)"], draw.randint(1, 2)):
        low, wide = 1 << draw.randint(0, 3), draw.choice([2, 4, 8, 3])
        top = draw.choice([f" % {low * wide}", f" % {low * wide}", ""])
        c = draw.choice([1, low, low, 2 * low, 16, 3, -low, -2])
        parts.append(f"{c}*(({name}{top}) // {low})")
    return draw.choice([["0 <= x", "0 <= y"], ["0 <= x <= 60"], ["y >= -3"], []]), " + ".join(parts)


def symbolic_digits(draw):
    """Quotients of one base by products of sizes, some of which divide others."""
    base = draw.choice(["x", "(x + 3*y)", "(x*N + y)"])
    parts = [
        f"{draw.choice(['', '3*', 'N*', '-'])}({base}{draw.choice([' % (N*B*M)', ' % (N*B)', ''])}"
        f" // {draw.choice(['N', '(N*B)', 'B', '(2*N)', '1'])}"
        f"{draw.choice(['', ' % B', ' % N', ' % (B*M)'])})"
        for _ in range(draw.randint(2, 4))
    ]
    known = draw.choice([["0 <= x", "0 <= y"], ["0 <= x < N*B*M"], []])
    return [*known, "N >= 1", "B >= 1", "M >= 1"], " + ".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("write", [scaled_digits, symbolic_digits])
def test_digits_in_every_style(write):
    draw, forms = random.Random(write.__name__), 0
    windows = WINDOWS | {"x": range(-9, 70), "N": range(1, 5), "M": range(1, 4), "B": range(1, 4)}
    for _ in range(50):
        known, text = write(draw)
        world = World(known, text, limit=60, **windows)
        forms += spelled(world, world.symbolic(text), every_style)
    assert forms > 130


SIDES = ["x", "-x", "2*x - y", "x + y + 3", "-y - 4", "5", "-3", "x % 3 - y", "N*x", "-N", "0"]


@pytest.mark.slow
def test_comparisons():
    """Terms go to the side where they are positive, and the constant to where it costs least."""
    world, seen = World(["N >= 1"], "x + y", limit=60, **WINDOWS), 0
    lowering = Lowering(world.analyzer, Dialect((INT32,), COST, True))
    draw = random.Random("comparisons")
    for a, b, op in product(SIDES, SIDES, ["<", "<=", "==", "!=", ">", ">="]):
        text = f"{a} {op} {b}"
        if draw.random() < 0.3:
            text = draw.choice(
                ["both({}, x < y)", "one(y == 1, {})", "no(both({}, x != 2))"]
            ).format(text)
        condition = world.symbolic(text)
        if isinstance(condition, Cond) and condition.op in (
            "lt",
            "le",
            "eq",
            "ne",
            "and",
            "or",
            "not",
        ):
            node = Form(lowering, Style(), ()).condition(condition)
            for values in world.points:
                seen += 1
                assert Computed(values)(node) == holds(condition, values), text
    assert seen > 20000


# -- branches that mirror one another --------------------------------------------------------------


def mirrored(draw):
    """A root or the half of a square of p(x) in one branch and of p(s - x) in the other, and what
    is nearly so."""
    p, q, r, s = (
        draw.choice([0, 0, 1, 2]),
        draw.choice([1, 2, 8]),
        draw.randint(0, 3),
        draw.randint(3, 9),
    )
    other = f"({s} - x)"
    if draw.random() < 0.3:
        other = draw.choice([f"(x + {s})", f"({s} - 2*x)", f"({s} - y)"])
    one = f"{p}*x*x + {q}*x + {r}"
    two = f"{p}*{other}*{other} + {q}*{other} + {draw.choice([r, r, r + 1])}"
    f = draw.choice(["isqrt(max({}, 0))", "({}) // 2", "isqrt(({}) * ({}))"])
    return (
        f"x <= {draw.randint(1, 5)}",
        f.format(one, one),
        f"{draw.randint(4, 9)} - {f.format(two, two)}",
    )


def test_mirrored_branches():
    draw, seen, turned = random.Random("mirrored"), 0, 0
    for _ in range(120):
        condition, one, other = mirrored(draw)
        text = f"pick({condition}, {one}, {other})"
        world = World([], text, **WINDOWS)
        c, a, b = (world.symbolic(t) for t in (condition, one, other))
        new_a, new_b = turned_round(c, a, b, world.analyzer)
        turned += not (new_a.same(a) and new_b.same(b))
        for want, values in world.cases(text):
            seen += 1
            assert evaluate(new_a if holds(c, values) else new_b, values) == want, (text, values)
    assert seen > 1500 and turned > 12, turned


# -- words of bits ---------------------------------------------------------------------------------


def moved_bits(draw, depth=2):
    """Sums of scaled digits and bit operations: places that meet, borrows and gaps among them."""
    if depth == 0 or draw.random() < 0.2:
        name = draw.choice(["i", "j", "(i + j)", "k"])
        low = 1 << draw.randint(0, 2)
        digit = f"({name}{draw.choice(['', f' % {low * 2}', f' % {low * 4}'])} // {low})"
        return f"{draw.choice([1, 1, 2, 4, 8, 16, -1, -4, 3])}*{digit}"
    one, other = moved_bits(draw, depth - 1), moved_bits(draw, depth - 1)
    return draw.choice(
        ["({} + {})", "({} + {})", "(({}) ^ ({}))", "(({}) | ({}))", "(({}) & ({}))", "(31 - {1})"]
    ).format(one, other) + draw.choice(["", "", " + 1", " + 15", " + 48"])


@pytest.mark.slow
def test_wirings():
    """Each bit of a wiring is that bit of the value; what is none is refused."""
    draw, found, refused = random.Random("wirings"), 0, 0
    windows = {"i": range(8), "j": range(8), "k": range(4)}
    told = [f"0 <= {n} < {len(w)}" for n, w in windows.items()]
    for _ in range(250):
        text = moved_bits(draw)
        world = World(told, text, limit=80, **windows)
        made = world.symbolic(text)
        wiring = Wiring(world.analyzer)
        bits = wiring.bits(made)
        if bits is None:
            refused += 1
            continue
        found += 1
        for want, values in world.cases(text):
            words = [evaluate(e, values) for e in wiring.inputs]
            assert all(0 <= w < 1 << n for w, n in zip(words, wiring.widths, strict=True))
            places = [
                sum(1 if bit is None else words[bit[0]] >> bit[1] for bit in mix) & 1
                for mix in bits
            ]
            assert want == sum(b << k for k, b in enumerate(places)), (text, made, values)
    assert found > 50 and refused > 100, (found, refused)


# -- sums of small tables --------------------------------------------------------------------------


def small_function(draw, name):
    n = draw.randint(2, 6)
    return draw.choice(
        [
            f"({name} % {n})*{draw.randint(2, 5)} + {name} // {n}",
            f"({name}*{n} + {draw.randint(0, 4)}) // {draw.randint(2, 7)} % {draw.randint(2, 5)}",
            f"({name} if {name} < {n} else {draw.randint(-9, 20)} - {name})",
            f"min({name} // 2, {n} - {name} % 3)",
            f"({name} // {n} % 2)*{draw.randint(-3, 4)} - {name} % {n} // 2",
            f"isqrt({name}*{n})",
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sums_of_functions_of_small_ranges(seed):
    draw = random.Random(f"tables {seed}")
    for _ in range(15):
        text = (
            f"{small_function(draw, 'x')} + {draw.choice([1, 3, -2])}*({small_function(draw, 'y')})"
        )
        text += f" + {draw.randint(-20, 20)}"
        space = {"isqrt": isqrt}
        exec(f"def f(x, y):\n    return {text}", space)
        starts = draw.choice([(0, 0), (3, 1)])
        assume = [
            f"{lo} <= {n} < {lo + size}" for n, lo, size in zip("xy", starts, (23, 9), strict=True)
        ]
        (found,) = build_program(space["f"], CPP, assume=assume, cost="ops").functions
        for x, y in product(range(starts[0], starts[0] + 23), range(starts[1], starts[1] + 9)):
            assert found.evaluate({"x": x, "y": y}) == {"result": space["f"](x, y)}, (text, x, y)
            assert_sound(found, {"x": x, "y": y})


# -- quotients of one value ------------------------------------------------------------------------


def quotients(draw):
    """Quotients and digits of a value by numbers that divide one another, in branches too."""
    n = draw.choice([3, 5, 6, 12])
    base = draw.choice(["x", "x", "(x + y)", "(7 * x)"])
    signs = draw.choice([(1,), (1,), (1, -1)])

    def part():
        a, b = n * draw.choice([1, 1, 2, 3]), draw.choice([2, 3, 4, 5, 8])
        a, b = a * draw.choice(signs), b * draw.choice(signs)
        digit = draw.choice(
            [
                f"{base} // {a}",
                f"{base} // {a * b}",
                f"{base} // {a} % {b}",
                f"{base} // {a} % {b}",
                f"{base} % {a * b} // {a}",
                f"{base} % {a}",
                f"{base} % {a * b} % {a}",
            ]
        )
        return f"{draw.choice([1, 1, 2, b, n, -1])} * ({digit})"

    parts = [part() for _ in range(draw.randint(2, 4))]
    if draw.random() < 0.3:
        parts[0] = f"({parts[0]} if {draw.choice([parts[-1], 'y'])} < 3 else {part()})"
    return tuple(parts) if draw.random() < 0.5 else (" + ".join(parts),)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("low", "index_type"),
    [
        pytest.param(0, "auto", marks=pytest.mark.slow),
        pytest.param(0, "uint32", marks=pytest.mark.slow),
        pytest.param(-40, "auto", marks=pytest.mark.slow),
        (None, "int32"),
    ],
)
def test_quotients_from_others(low, index_type):
    draw, shifted, differences = random.Random(f"quotients {low}"), 0, 0
    for _ in range(90):
        texts = quotients(draw)
        space = {}
        exec(f"def f(x, y):\n    return {', '.join(texts)},", space)
        assume = [] if low is None else [f"{low} <= x < {low + 200}", "0 <= y < 9"]
        try:
            (found,) = build_program(
                space["f"], CPP, assume=assume, index_type=index_type
            ).functions
        except WidthError:
            continue
        ops = {n.op for _, root in (*found.body, *found.outputs) for n in root.walk()}
        shifted += "shr" in ops
        differences += "sub" in ops
        start = -40 if low is None else low
        for x, y in product(range(start, start + 200), (0, 1, 8)):
            if not all(relations.evaluate(c, {"x": x, "y": y}) for c in found.assumed):
                continue
            want = dict(zip((n for n, _ in found.outputs), space["f"](x, y), strict=True))
            assert found.evaluate({"x": x, "y": y}) == want, (texts, x, y)
            assert_sound(found, {"x": x, "y": y})
    assert shifted > 9 and differences > 5, (shifted, differences)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (
            "x // 12, x // 192 % 2",
            "const std::int32_t x_div_12 = x / 12; return {x_div_12, (x_div_12 >> 4) & 1};",
        ),
        (
            "x // 5, x // 5 % 3, x // 15",
            "const std::int32_t x_div_5 = x / 5; const std::int32_t x_div_15 = x / 15; "
            "return {x_div_5, x_div_5 - 3 * x_div_15, x_div_15};",
        ),
        (
            "x // 5, x % 40, x // 40",
            "const std::int32_t x_div_5 = x / 5; const std::int32_t quotient = x_div_5 >> 3; "
            "return {x_div_5, x - 40 * quotient, quotient};",
        ),
        ("x % 18 % 9 + y,", "return x % 9 + y;"),
    ],
)
def test_what_quotients_are_made_of(text, body):
    space = {}
    exec(f"def f(x, y):\n    return {text}", space)
    assume = ["0 <= x < 5000", "0 <= y < 9"]
    source = generate(space["f"], "cpp", assume=assume, terse=True).source
    made = source.rpartition("noexcept {\n")[2].partition("\n}")[0]
    assert " ".join(line.strip() for line in made.splitlines()) == body


def test_a_digit_made_of_quotients_has_its_range():
    """x // 49 % 20 of an x without an end is below 20 all the same."""
    (found,) = build_program(
        lambda x: (x // 49 % 20 // 16, x // 49, x // 980),
        registry.printer("javascript"),
        assume=["x >= 0"],
    ).functions
    (shift,) = [
        n for _, root in (*found.body, *found.outputs) for n in root.walk() if n.op == "shr"
    ]
    assert (shift.args[0].op, shift.args[0].lo, shift.args[0].hi, shift.hi) == ("sub", 0, 19, 1)


@pytest.mark.parametrize("signs", [*product((1, -1), repeat=2)])
def test_a_digit_by_a_negative_number_is_no_difference(signs):
    """(1 // 3) % -5 is 0, and 1 // 3 + 5*(1 // -15) is -5."""
    a, b = 3 * signs[0], 5 * signs[1]
    (found,) = build_program(
        lambda x: (x // a % b, x // (a * b), x // a), CPP, assume=["-50 <= x < 100"]
    ).functions
    for x in range(-50, 100):
        made = found.evaluate({"x": x})
        assert (*made.values(),) == (x // a % b, x // (a * b), x // a), x
        assert_sound(found, {"x": x})


SUMS = {
    "(x+5)//2 + (x+5)//12 + (x+5)%12//2": -200,
    "(15-x)//8 + (15-x)%16//8 + (15-x)//16": 0,
    "(x+5)//6 + (x+5)//3 + (x+5)%6 + (x+5)%6//3": -200,
    "(x+4)//4 - x//4 + (x+8)//8": -200,
    "2*((x+6)//3) - (x+3)//3 + (9-x)//9": -200,
}


@pytest.mark.parametrize("body", SUMS)
@pytest.mark.parametrize("cost", ["ops", "latency"])
def test_a_carried_quotient_is_added_to_an_equal_one(body, cost):
    """x//2 + 5 becomes (x + 10)//2, which may stand in the sum already."""
    names = {}
    exec(f"def f(x):\n    return {body}", names)
    least = SUMS[body]
    assume = [] if least else ["x >= 0"]
    (found,) = build_program(names["f"], CPP, assume=assume, cost=cost).functions
    for x in range(least, 200):
        assert Machine(found, eager=False).run({"x": x})["result"] == names["f"](x)


@pytest.mark.parametrize("index_type", ["int32", "uint32", "auto"])
def test_a_product_of_a_quotient_asks_no_more_than_its_value(index_type):
    """40*(x // 40) is at most x."""
    (found,) = build_program(
        lambda x: (x % 40, x // 5), CPP, assume=["x >= 0"], index_type=index_type
    ).functions
    assert found.assumptions == ()


def test_outputs_are_searched_together():
    """Each alone costs more than the nest whose parts both share."""
    nest = load(GOLDEN / "antidiag_3").subject
    _, found = build_program(nest, CPP).functions
    assert found.op_count == 7


def test_what_tables_leave_is_spelled_in_another_style():
    """12*(j//2) - j % 2 shares the factor with 12*(i//3), until a table has that."""
    (found,) = build_program(
        lambda i, j: 12 * (j // 2) + 6 * (i // 3) - 2 * (i % 3) - j % 2 + 5,
        CPP,
        assume=["0 <= i < 6", "0 <= j < 4"],
    ).functions
    assert found.cost <= 8


# -- products, flips -------------------------------------------------------------------------------


def rows_of_flips(draw):
    """A row index with factors, beside a column that is flipped, or exclusive-ored with low bits of
    the row's products."""
    bits, size = draw.choice([1, 2, 3, 4]), draw.choice([2, 3, 6, 9])
    whole = 1 << bits
    stride = draw.choice([whole, 3 * whole, -whole, draw.randint(-9, 40)])
    low = stride + draw.choice([-1, 0, 1, 2]) * whole
    odd, constant = draw.choice(["i % 2", "(i + 1) % 2", "i // 2 % 2"]), draw.randint(-5, 9)
    sign, flipped = draw.choice([1, 1, -1, 2]), draw.choice([whole - 1, whole - 1, whole])
    text = draw.choice(
        [
            f"{stride}*i + {sign}*((1 - {odd})*j + {odd}*({flipped} - j)) + {constant}",
            f"{stride}*i + {sign}*({odd}*j + (1 - {odd})*({flipped} - j)) + {whole}*{constant}",
            f"{stride}*i + (j ^ {low}*i % {whole}) + {constant}",
            f"{stride}*i + {sign}*(j ^ {low}*(i & {draw.randint(1, 9)}))",
            f"({stride}*i if i < {size // 2} else i) + ({low}*i & {draw.randint(1, whole)})",
        ]
    )
    return text, {"i": range(size), "j": range(whole)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_low_bits_of_products_and_flips_by_digits(seed):
    draw = random.Random(f"flips {seed}")
    for _ in range(40):
        text, windows = rows_of_flips(draw)
        space = {}
        exec(f"def f(i, j):\n    return {text}", space)
        assume = [f"0 <= {n} < {len(w)}" for n, w in windows.items()]
        (found,) = build_program(space["f"], CPP, assume=assume, cost="ops").functions
        for at in product(*windows.values()):
            values = dict(zip(windows, at, strict=True))
            assert found.evaluate(values) == {"result": space["f"](*at)}, (text, at)
            assert_sound(found, values)
