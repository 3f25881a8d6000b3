"""The cost model decides which of several equal forms is taken."""

import inspect
import sys
from pathlib import Path

import pytest

import lego_emit
from lego_emit import Cost, GroupBy, LegoError, RegP, Row, generate

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import rows

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
    assert lego_emit.Cost is Cost


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


@pytest.mark.parametrize("cost", ["ops", "latency"])
@pytest.mark.parametrize("case", KNOWN, ids=lambda c: f"{c.name} {c.direction}")
def test_a_units_functions_know_their_cost(case, cost):
    unit = generated(case, cost)
    for function in unit.functions:
        assert function.cost > 0
        assert 0 < function.op_count_hoisted <= function.op_count


@pytest.mark.parametrize("case", KNOWN, ids=lambda c: f"{c.name} {c.direction}")
def test_no_more_operations_than_the_fewest_known(case):
    unit = generated(case, "ops")
    function = unit.functions[case.direction == "inv"]
    assert function.op_count_hoisted <= case.best
