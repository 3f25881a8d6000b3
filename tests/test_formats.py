"""The catalogue: each entry against its definition, written a second time from the source."""

import os
from itertools import product
from pathlib import Path

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


# -- the page ------------------------------------------------------------------------------------

PAGE = Path(__file__).parent.parent / "docs" / "catalogue.md"
FIRST = "## "


def written():
    """The part of the page that the entries say themselves."""
    lines, family = [], None
    for entry in catalogue.values():
        if entry.name.partition(".")[0] != family:
            family = entry.name.partition(".")[0]
            lines += [f"{FIRST}{family}", ""]
        given = ", ".join(f"{k}={v}" for k, v in entry.example.items())
        lines += [
            f"### {entry.name}({', '.join(entry.parameters)})",
            "",
            entry.about,
            "",
            f"- Source: {entry.source}.",
            f"- Checked: {entry.checked or 'unverified'}.",
            f"- Sizes: {entry.ragged}.",
            "",
            f'<!-- picture: catalogue["{entry.name}"](**catalogue["{entry.name}"].example) -->',
            f"![{given}](pictures/catalogue/{entry.name}.svg)",
            "",
        ]
    return "\n".join(lines).rstrip("\n") + "\n"


def test_the_page_has_every_entry():
    text = PAGE.read_text(encoding="utf-8")
    start = text.find(f"\n{FIRST}") + 1
    if os.environ.get("LEGO_UPDATE_DOCS"):
        PAGE.write_text((text[:start] if start else text) + written(), encoding="utf-8")
        text, start = PAGE.read_text(encoding="utf-8"), start or len(text)
    assert text[start:] == written(), "LEGO_UPDATE_DOCS=1 pytest tests/test_formats.py writes it"
