"""Tables of conversions and gathers on a GPU: made of their rows, and what the docs say of them."""

import json
import re
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS, RESULTS = ROOT / "benchmarks" / "movement", ROOT / "benchmarks" / "results" / "h100"
BASELINES = {"convert": "padded", "gather": "by hand"}


@pytest.fixture(scope="module")
def programs():
    """The programs, whose names have no endings, and what they import."""
    names = {"device", "padded", "pairs"}
    sys.path.insert(0, str(PROGRAMS))
    found = {}
    for name in BASELINES:
        loader = SourceFileLoader(f"benchmark_{name}", str(PROGRAMS / name))
        module = module_from_spec(spec_from_loader(loader.name, loader))
        loader.exec_module(module)
        found[name] = module
    yield found
    sys.path.remove(str(PROGRAMS))
    for name in names:
        sys.modules.pop(name, None)


def rows_of(name):
    return json.loads((RESULTS / "kernels" / f"{name}.json").read_text())


def table_of(name):
    return (RESULTS / name / "README.md").read_text()


@pytest.mark.parametrize("name", BASELINES)
def test_a_table_is_that_of_its_rows(programs, name):
    table = table_of(name)
    facts = dict(re.findall(r"^- (device|nvcc|seconds): (.*)$", table, re.MULTILINE))
    assert programs[name].report(rows_of(name), facts) == table


def summed(line):
    """The numbers of a line below a table, as the docs say them."""
    found = re.match(r"- (\d+) rows, .* mean (\S+) times .*; (\d+) are slower, (\d+) with", line)
    rows, mean, slower, wholly = found.groups()
    return rows, mean, f"{slower} are slower, {wholly} by more than 5%"


def test_the_docs_say_what_the_tables_do(programs):
    said = " ".join((ROOT / "docs" / "movement.md").read_text().split())
    lines = {name: table_of(name).splitlines() for name in BASELINES}
    asked = []
    for name, what, other in (
        ("convert", "conversions", "padded memory"),
        ("gather", "gathers", "by hand"),
    ):
        (own,) = [
            line
            for line in lines[name]
            if re.search(rf"as fast as {BASELINES[name]};.*[0-9]$", line)
        ]
        rows, mean, losses = summed(own)
        asked.append(f"{rows} {what} are {mean} times as fast as {other}; {losses}.")
        (triton,) = [line for line in lines[name] if "as Triton's own" in line]
        rows, mean, losses = summed(triton)
        asked.append(f"{rows} {what} are {mean} times as fast; {losses}.")
        asked.append(f"Beside {triton.rpartition('(')[2].rstrip(')')},")
    (between,) = [line for line in lines["convert"] if "lanes exchange" in line]
    rows, mean, _ = summed(between)
    asked.append(f"the {rows} in which lanes exchange elements are {mean} times as fast.")
    (turned,) = [line for line in lines["convert"] if line.startswith("- Fig. 2")]
    small, large = re.findall(r"\d\.\d\d", turned)
    asked.append(f"are at least {small} times as fast, from 64 x 64 on {large} times.")
    assert [text for text in asked if text not in said] == []


def test_rows_that_lose_are_counted(programs):
    """Of each the counters of ours and of the baseline: no more wavefronts, and no more instructions."""
    counted = json.loads((RESULTS / "counters" / "movement.json").read_text())
    by_case = programs["convert"].by_case
    ways = by_case(counted)
    for name, baseline in BASELINES.items():
        rows = by_case(rows_of(name))
        lost = [k for k, w in rows.items() if programs[name].over(w["ours"], w[baseline])[2] < 0.95]
        assert len(lost) <= len(rows) / 10
        for key in lost:
            ours, hand = ways[key]["ours"], ways[key][baseline]
            for counter in ("shared_loads", "shared_stores", "instructions"):
                assert round(ours[counter]) <= round(hand[counter])
            assert ours["warps_active"] < hand["warps_active"]
