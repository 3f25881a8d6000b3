"""The catalogue: each entry against its definition, written a second time from the source."""

from itertools import product

import pytest
from formats import devices, libraries

from lego_emit import catalogue

DEFINITIONS = {**libraries.DEFINITIONS, **devices.DEFINITIONS}
CASES = [(name, *case) for name, cases in DEFINITIONS.items() for case in cases]
IDS = [f"{name}-{'x'.join(map(str, sizes))}" for name, _, sizes in CASES]


@pytest.mark.parametrize(("name", "define", "sizes"), CASES, ids=IDS)
def test_equals_its_definition(name, define, sizes):
    layout, wanted = catalogue[name](*sizes), define(*sizes)
    for index in product(*map(range, layout.dims)):
        assert layout.apply(*index) == wanted(*index), index


@pytest.mark.parametrize("name", list(catalogue))
def test_says_where_it_comes_from(name):
    entry = catalogue[name]
    assert entry.name == name and entry.summary.endswith(".") and entry.source and entry.ragged
    assert entry.is_verified == (name in DEFINITIONS), "checked= says whether it was compared"


def test_few_could_not_be_verified():
    assert len([e for e in catalogue.values() if not e.is_verified]) <= 5


@pytest.mark.parametrize("name", list(catalogue))
def test_is_a_layout(name):
    entry = catalogue[name]
    layout = entry(**entry.example)
    assert "many-to-one" not in layout.check()
