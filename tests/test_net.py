"""The net: random cases from a fixed seed, what ever failed, and the net itself.

New seeds: ci/fuzz --minutes 10 --seed 1.
"""

import pytest
from net import corpus
from net.case import Case
from net.judge import judge
from net.shrink import case_of

SEED = 1
PARTS, CASES = 16, 125
SECONDS = 20.0  # a hang is a finding here; ci/fuzz asks for less than one second


@pytest.mark.parametrize("path", corpus.paths(), ids=lambda path: path.stem)
def test_corpus(path):
    case = corpus.read(path)
    assert Case.of(case.toml()) == case
    verdict = judge(case, seconds=1.0 if path.stem.startswith(("19", "20")) else SECONDS)
    assert not verdict.findings, "\n".join(f"{f.kind}: {f.text}" for f in verdict.findings)
    assert verdict.points or verdict.refusal


@pytest.mark.parametrize("part", range(PARTS))
def test_random_cases(part):
    found, points = [], 0
    for number in range(part, PARTS * CASES, PARTS):
        case = case_of(SEED, number)
        verdict = judge(case, count=40, deep=number // PARTS % 4 == 0, seconds=SECONDS)
        points += verdict.points
        found += [case.toml(f"{number}: {f.kind}: {f.text}") for f in verdict.findings]
    assert not found, "\n\n".join(found)
    assert points > 40 * CASES
