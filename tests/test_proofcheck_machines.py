"""The checker's readers: where a random function's demands hold, its terms are what the machine computes."""

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
import pytest
from machines import EDGES, RANGES, WRITERS

from lego_emit.proofcheck import exhaustive
from lego_emit.proofcheck.languages import read
from lego_emit.proofcheck.text import Unread

pytest.importorskip("tree_sitter")
ROWS = 60  # points that are tried of a function, of which those are run at which all demands hold


@dataclass
class Case:
    """A function, and rows of its arguments with what the checker takes it to give there."""

    name: str
    text: str
    params: list[str]
    rows: list[list[int]] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)


def ends(kind):
    bits, signed = kind
    return (-(2**53) + 1, 2**53 - 1) if bits == 54 else RANGES[bits, signed]


def row(draw, types):
    found = []
    for kind in types:
        low, high = ends(kind)
        pool = draw.choice((range(12), range(-9, 70), EDGES, EDGES))
        number = draw.choice(pool) * draw.choice((1, 1, -1))
        number = draw.choice((number, number, number, low + abs(number), high - abs(number)))
        found.append(max(low, min(high, number)))
    return found


TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
STRANGE = (
    "0 1.5 08 1_0 0b12 0o7 () [] {} ; , = == ! & | - + * ? : . .. -> => # // ++ -- += >>> ** && <= "
    "return if else end for while break x y int i32 i64 u8 unsigned Int16 number int64 real abs not "
    "max let const static var auto"
).split()


def changed(draw, text):
    """A text with tokens that are dropped, doubled, exchanged or new."""
    parts = TOKEN.findall(text)
    for _ in range(draw.choice((1, 1, 1, 2)) if parts else 0):
        at = draw.randrange(len(parts))
        new = ["", parts[at] * 2, draw.choice(parts), draw.choice(STRANGE), f" {draw.choice(STRANGE)} "]
        parts[at] = draw.choice(new)
    return "".join(parts)


def case_of(language, seed, number, seen, strange=False):
    """A random case, changed where it is strange; None where the checker does not read it, or nowhere
    takes it to be defined."""
    draw = Random(f"{language} {seed} {number}")
    writer = WRITERS[language](draw, number)
    text, params, _ = writer.function()
    if strange:
        head = next(line for line in text.splitlines() if re.search(rf"\b{writer.name}\(", line))
        start = text.index(head)
        start = text.rindex("/**", 0, start) if language == "javascript" else start
        end = text.index(head) + len(head)
        helpers, body = text[:start], text[end:]
        if helpers and draw.random() < 0.3:
            helpers = changed(draw, helpers)
        else:
            body = changed(draw, body)
        text = helpers + text[start:end] + body
    case = Case(writer.name, text, params)
    seen["texts"] += 1
    try:
        function = read(writer.whole([case]), language).read(writer.name)
    except Unread:
        function = None
    if function is None or len(function.results) != 1:
        seen["not read"] += 1
        return None
    rows = [row(draw, [writer.TYPES[t] for t in params]) for _ in range(ROWS)]
    columns = {
        name: np.array(column, object)
        for (name, _), column in zip(function.params, zip(*rows, strict=True), strict=True)
    }
    values = exhaustive.Values(columns, ROWS)
    fine = np.ones(ROWS, bool)
    for demand in function.demands:
        holds, defined = values.at(demand.holds)
        fine &= np.broadcast_to(holds.astype(bool) & defined, ROWS)
    result, defined = (np.broadcast_to(a, ROWS) for a in values.at(function.results[0].term))
    for k in np.flatnonzero(fine):
        assert defined[k], f"no value where all demands hold: {rows[k]}\n{text}"
        case.rows.append(rows[k])
        case.wanted.append(int(result[k]))
    return case if case.rows else None


def compared(language, cases, seen):
    """Compile and run cases; those of a text that the compiler refuses one half at a time."""
    writer = WRITERS[language]
    if not cases:
        return []
    with tempfile.TemporaryDirectory() as folder:
        lines = writer.run(writer.program(cases), Path(folder))
    if lines is None and len(cases) > 1:
        half = len(cases) // 2
        return compared(language, cases[:half], seen) + compared(language, cases[half:], seen)
    if lines is None:
        seen["not compiled"] += 1
        return []
    wrong = []
    lines = iter(lines)
    for case in cases:
        seen["functions"] += 1
        for row, want in zip(case.rows, case.wanted, strict=True):
            got = next(lines, "nothing")
            seen["points"] += 1
            if got not in (str(want), "true" if want == 1 else "", "false" if want == 0 else ""):
                wrong.append(f"{language}: {got}, not {want}, at {row}\n{case.text}")
                break_ = got == "nothing"
                if break_:
                    return wrong
    return wrong


def differences(language, seed, count, strange=False):
    """(what differs, how much was tried)."""
    seen = Counter()
    made = (case_of(language, seed, n, seen, strange) for n in range(count))
    return compared(language, [case for case in made if case is not None], seen), seen


@pytest.mark.slow
@pytest.mark.parametrize("language", WRITERS)
def test_random_functions_compute_what_the_checker_reads(language):
    wrong, seen = differences(language, 1, 100)
    assert not wrong, wrong[0]
    assert seen["points"] > 300
