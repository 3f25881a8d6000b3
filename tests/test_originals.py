"""The functions of benchmarks/originals have the same values by hand, emitted and in Python; what they
count is nobody's promise."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from by_hand import ORIGINALS
from compiled import loaded

DRAWN = 300


def test_there_are_thirty_functions():
    assert len({o.name for o in ORIGINALS}) == len(ORIGINALS) == 30


@pytest.mark.parametrize("original", ORIGINALS, ids=lambda o: o.name)
def test_a_function_has_the_same_values_in_both_forms(need, original):
    need("gcc", "apt-get install gcc")
    points = original.points(DRAWN)
    points = points[:: max(1, len(points) // DRAWN)]
    wanted = [n for point in points for n in original.value(point)]
    for title, source in original.sources().items():
        assert original.run(loaded(source, "gcc", "-O0"), points) == wanted, title
