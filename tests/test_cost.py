"""The cost model decides which of several equal forms is taken."""

import inspect
import sys
from pathlib import Path

import pytest
from marks import rest_slow

from lego_emit import GroupBy, LegoError, RegP, Row, generate
from lego_emit.ir.cost import Cost

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import compiled
import rows

from lego_emit.ir.cost import COSTS, long_reciprocal
from lego_emit.lower.graph import Graph

FIG6 = (
    GroupBy([6, 6])
    .OrderBy(RegP([2, 3, 2, 3], [0, 2, 1, 3]))
    .OrderBy(RegP([2, 2], [1, 0]), Row(3, 3))
)


def test_operations_and_latency_choose_differently():
    """A remainder by 120 puts two fields together in one operation, but a division is slow."""
    grouped = GroupBy([32, 16]).OrderBy(RegP([4, 8, 16], [0, 2, 1]))
    fewest = generate(grouped, "cuda", cost="ops").functions[1]
    fastest = generate(grouped, "cuda", cost="latency").functions[1]
    assert fewest.op_count < fastest.op_count
    assert any(node.op == "mod" for node in fewest.nodes())
    assert not any(node.op in ("div", "mod") for node in fastest.nodes())
    for flat in range(512):
        wanted = dict(zip("ij", grouped.inv(flat), strict=True))
        assert fewest.evaluate({"flat": flat}) == fastest.evaluate({"flat": flat}) == wanted


def test_a_model_of_ones_own():
    no_modulo = Cost("no modulo", {"mod": 100})
    function = generate(FIG6, "cuda", cost=no_modulo).functions[1]
    assert not any(node.op == "mod" for node in function.nodes())
    assert any(node.op == "mod" for node in generate(FIG6, "cuda", cost="ops").functions[1].nodes())


def test_an_unknown_model():
    with pytest.raises(LegoError, match=r"no cost model 'latncy'.*ops, latency.*Did you mean 'lat"):
        generate(FIG6, "cuda", cost="latncy")


@pytest.mark.parametrize(
    ("prices", "error"),
    [
        ({"mull": 2}, "prices 'mull', which is not an operation. Did you mean 'mul'"),
        ({"mul": -1}, "the price of mul is -1; a price is a number >= 0"),
        ({"mul": "2"}, "the price of mul is '2'"),
    ],
)
def test_prices_that_are_none(prices, error):
    with pytest.raises(LegoError, match=error):
        Cost("mine", prices)


def test_no_model_at_all():
    for cost in (3, {"mul": 2}):
        with pytest.raises(LegoError, match="no cost model"):
            generate(FIG6, "cuda", cost=cost)


def generated(case, cost):
    """The unit of a row of benchmarks/simplify."""
    subject = case.make if case.sizes else case.make()
    if not isinstance(subject, rows.Formula):
        return generate(subject, "cuda", cost=cost)
    names = [*inspect.signature(subject.apply).parameters]
    ranges = {n: (0, m) for n, m in zip(names, subject.dims, strict=True)}
    return generate(subject.apply, "cuda", name="row", cost=cost, ranges=ranges)


KNOWN = [case for case in rows.CASES if case.best is not None]


@pytest.mark.parametrize("cost", rest_slow(["ops", "latency"], 15))
@pytest.mark.parametrize("case", KNOWN, ids=lambda c: f"{c.name} {c.direction}")
@pytest.mark.quick(4)
def test_a_units_functions_know_their_cost(case, cost):
    unit = generated(case, cost)
    for function in unit.functions:
        assert function.cost > 0
        assert 0 < function.op_count_hoisted <= function.op_count


@pytest.mark.parametrize("case", KNOWN, ids=lambda c: f"{c.name} {c.direction}")
@pytest.mark.quick(4)
def test_no_more_operations_than_the_fewest_known(case):
    unit = generated(case, "ops")
    function = unit.functions[case.direction == "inv"]
    assert function.op_count_hoisted <= case.best


def is_exact(factor, shift, divisor):
    """Whether n * factor >> shift is n // divisor below 2**31: where a quotient begins and ends shows it."""
    top = (1 << 31) // divisor
    starts = [k * divisor for k in (1, 2, 3, top - 2, top - 1, top)]
    places = [n for start in starts for n in (start - 1, start) if n < 1 << 31] + [(1 << 31) - 1]
    return all(n * factor >> shift == n // divisor for n in places)


@pytest.mark.parametrize("divisor", [*range(1, 130), 601, 4799, 9063, 2**20, 2**30 - 1])
def test_a_reciprocal_is_long_where_its_least_exact_factor_has_32_bits(divisor):
    if not divisor & (divisor - 1):
        assert not long_reciprocal(divisor)
        return
    factor = next(
        factor
        for shift in range(32, 64)
        for factor in [-(-(1 << shift) // divisor)]
        if is_exact(factor, shift, divisor)
    )
    assert long_reciprocal(divisor) == (factor >= 1 << 31)
    assert long_reciprocal(-divisor) == long_reciprocal(divisor)


def test_a_product_by_2_4_or_8_costs_nothing_in_a_sum():
    graph = Graph(COSTS["latency"], ())
    x, y = graph.var("x"), graph.var("y")

    def times(n, value=x):
        return graph.op("mul", graph.const(n), value)

    def plus(a, b):
        return graph.op("add", a, b)

    price = {n: graph.price([times(n)])[0] for n in (2, 3, 4, 5, 7, 8, 9, 16)}
    assert price == {2: 1, 3: 1, 4: 1, 5: 1, 7: 1.5, 8: 1, 9: 1, 16: 1}
    for n, wanted in [(2, 1), (4, 1), (8, 1), (16, 2), (3, 2), (7, 2.5)]:
        assert graph.price([plus(times(n), y)])[0] == wanted
    assert graph.price([plus(y, graph.op("shl", x, graph.const(3)))])[0] == 1
    assert graph.price([plus(times(2), times(4, y))])[0] == 2  # one of the two
    shared = [plus(times(4), y), plus(times(4), graph.const(3))]
    assert graph.price(shared)[0] == 2  # one product, two sums
    assert graph.price([graph.op("sub", y, times(4))])[0] == 2
    assert graph.price([graph.op("or", y, times(4))])[0] == 2


SPLIT = [(f, k, "gcc") for f in (3, 5, 9) for k in range(1, 5) if f - 1 == 1 << k]
SPLIT += [(f, k, "clang") for f in (2, 4, 8) for k in range(1, 7) if f < 1 << k]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("factor", [2, 3, 4, 5, 8, 9])
def test_what_one_compiler_takes_apart_saves_half_as_much(compiler, factor, need):
    """gcc computes 9*(x >> 3) as (x & ~7) + (x >> 3), clang 4*(x >> 6) as (x >> 4) & ~3."""
    need(compiler, f"apt-get install {compiler}")
    whole, half = (1, 0.5) if factor in (2, 4, 8) else (2, 0.25)  # with a sum
    for k in range(1, 7):
        split = [c for f, by, c in SPLIT if (f, by) == (factor, k)]
        graph = Graph(COSTS["latency"], ())
        x, y = graph.var("x", nonnegative=True), graph.var("y")
        for op, number in (("shr", k), ("div", 1 << k)):
            shifted = graph.op(op, x, graph.const(number))
            product = graph.op("mul", graph.const(factor), shifted)
            price = graph.price([graph.op("add", product, y)])[0] - graph.price([shifted])[0]
            assert price == whole + half * bool(split)
        more, less = (
            compiled.counted(
                "int position(int, int);\n"
                f"int position(int x, int y) {{ return {factor_of}(x >> {k}) + y; }}\n",
                compiler,
                "-O2",
            )
            for factor_of in (f"{factor}*", "")
        )
        assert (more - less >= whole) == (compiler in split)


def test_a_remainder_costs_its_quotient_a_product_and_a_difference():
    for n in (3, 5, 7, 9, 10, 12, 14, 121):
        graph = Graph(COSTS["latency"], ())
        x, by = graph.var("x", nonnegative=True), graph.const(n)
        quotient = graph.op("div", x, by)
        by_hand = graph.op("sub", x, graph.op("mul", by, quotient))
        rest = graph.op("mod", x, by)
        assert graph.price([rest])[0] == graph.price([by_hand])[0], n
        assert graph.price([rest, quotient])[0] == graph.price([by_hand, quotient])[0], n
        assert graph.price([quotient])[0] == 4 + long_reciprocal(n)


def with_ranges(text, ranges):
    told = " ".join(
        f"if (!(0 <= {x} && {x} < {n})) __builtin_unreachable();" for x, n in ranges.items()
    )
    parameters = ", ".join(f"int {x}" for x in ranges)
    head = f"void position({parameters}, int *restrict out)"
    return f"{head};\n{head} {{ {told} *out = {text}; }}\n"


AS_WRITTEN = [
    ("(9 - x%10)*12 + x//10", {"x": 120}),
    ("h*128 + d%64*2 + d//64", {"h": 8, "d": 128}),
    ("h*16 + d%8*2 + d//8", {"h": 7, "d": 16}),
    ("h*256 + d%64*4 + d//64", {"h": 3, "d": 256}),
    ("x%16*8 + x//16%8 + x//128%4*512 + x//512*128", {"x": 2048}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "package"), [("gcc", "gcc"), ("clang", "clang")])
@pytest.mark.parametrize(("text", "ranges"), AS_WRITTEN, ids=[text for text, _ in AS_WRITTEN])
def test_no_more_instructions_than_as_written(text, ranges, program, package, need):
    """Told the ranges, a compiler makes no fewer instructions of the text than of ours."""
    need(program, f"apt-get install {package}")
    written = compiled.counted(with_ranges(text.replace("//", "/"), ranges), program, "-O3")
    subject = eval(f"lambda {', '.join(ranges)}: {text}")
    found = []
    for options in ({}, {"index_type": "uint32"}, {"hints": True}):
        unit = generate(
            subject, "c", name="row", ranges={x: (0, n) for x, n in ranges.items()}, **options
        )
        kind = "unsigned" if options.get("index_type") else "int"
        parameters = ", ".join(f"{kind} {x}" for x in ranges)
        head = f"void position({parameters}, {kind} *restrict out)"
        call = f"*out = row({', '.join(ranges)});"
        found.append(
            compiled.counted(f"{unit.source}{head};\n{head} {{ {call} }}\n", program, "-O3")
        )
    assert min(found) <= written, (found, written)
