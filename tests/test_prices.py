"""What the programs cost: operations under cost="ops", then the price under cost="latency", of each
function of a row in tests/prices.txt. `LEGO_UPDATE_PRICES=1 pytest tests/test_prices.py -n 0` writes the
file anew: a price that rises needs a reason."""

import os
from pathlib import Path

import pytest
from marks import rest_slow

import lego_emit

FILE = Path(__file__).with_name("prices.txt")
UPDATE = os.environ.get("LEGO_UPDATE_PRICES", "") not in ("", "0")


def rows():
    """(subject, assumptions, prices) of each row."""
    for line in FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            text, assume, *prices = (part.strip() for part in line.split(";"))
            yield text, assume, "; ".join(prices)


def priced(text, assume):
    subject = eval(text, {name: getattr(lego_emit, name) for name in lego_emit.__all__})
    given = [a.strip() for a in assume.split(",") if a.strip()]
    made = {
        c: lego_emit.generate(subject, "cpp", name="row", assume=given, cost=c)
        for c in ("ops", "latency")
    }
    operations = " ".join(str(f.op_count) for f in made["ops"].functions)
    latency = " ".join(f"{f.cost:g}" for f in made["latency"].functions)
    return f"{operations}; {latency}"


@pytest.mark.skipif(UPDATE, reason="the prices are written anew")
@pytest.mark.parametrize(
    ("text", "assume", "prices"), rest_slow([pytest.param(*row, id=row[0]) for row in rows()], 20)
)
@pytest.mark.quick(4)
def test_a_program_costs_what_it_did(text, assume, prices):
    assert priced(text, assume) == prices, f"{text}: LEGO_UPDATE_PRICES=1 writes {FILE.name} anew"


@pytest.mark.skipif(not UPDATE, reason="only where the prices are written anew")
def test_the_prices_are_written():
    found = {(text, assume): priced(text, assume) for text, assume, _ in rows()}
    lines = FILE.read_text().splitlines()
    for k, line in enumerate(lines):
        if line and not line.startswith("#"):
            key = tuple(part.strip() for part in line.split(";")[:2])
            lines[k] = "; ".join([*key, found[key]])
    FILE.write_text("\n".join(lines) + "\n")
