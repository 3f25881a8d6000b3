"""Mistakes that are planted in emitted texts: the checker of certificates proves none of them."""

import hashlib
import json
import re
from functools import cache

import pytest

from lego_emit import Col, ExpandBy, GenP, GroupBy, Lookup, Row, TileBy, generate
from lego_emit.proofcheck.check import check

pytest.importorskip("tree_sitter")
pytestmark = [pytest.mark.slow, pytest.mark.deep]

LANGUAGES = ["cpp", "cuda", "rust", "fortran", "julia", "glsl", "javascript"]
LEAST = 40  # of the mistakes in each language


def tiles(M, N, BM, BN):
    return TileBy([M // BM, N // BN], [BM, BN]).OrderBy(Row(M, N))


def swizzle():
    there = lambda i, j: i * 64 + (j ^ (i % 8 * 8))  # noqa: E731
    back = lambda p: (p // 64, (p % 64) ^ (p // 64 % 8 * 8))  # noqa: E731
    return GroupBy([64, 64]).OrderBy(GenP([64, 64], there, back))


def boustrophedon():
    there = lambda i, j: i * 6 + (j if i % 2 == 0 else 5 - j)  # noqa: E731
    back = lambda p: (p // 6, p % 6 if p // 6 % 2 == 0 else 5 - p % 6)  # noqa: E731
    return GroupBy([5, 6]).OrderBy(GenP([5, 6], there, back))


SUBJECTS = {
    "tiles": tiles,
    "fixed": TileBy([4, 3], [5, 7]).OrderBy(Col(4, 3), Row(5, 7)),
    "swizzle": swizzle(),
    "turning": boustrophedon(),
    "masked": ExpandBy([5, 7], [6, 8], GroupBy([6, 8]).OrderBy(Col(6, 8))),
    "looked_up": Lookup([2, 5], [0, 48, 16, 96, 16, 112, 64, 0, 80, 208]),
}

# (what, pattern, replacement): each is planted at each place where it fits, one at a time.
CODE = [
    ("+ for -", r" - (?=\w|\()", " + "),
    ("- for +", r" \+ (?=\w|\()", " - "),
    ("a quotient for a remainder", r" % ", " / "),
    ("another mask", r"& 7\b", "& 15"),
    ("another mask", r"& 0x3f\b|& 63\b", "& 31"),
    ("another shift", r"<< 3\b", "<< 2"),
    ("another shift", r">> 6\b", ">> 5"),
    ("or for xor", r" \^ ", " | "),
    ("a wrong guard", r" < (?=\d)", " <= "),
    ("a wrong guard", r" <= (?=\d)", " < "),
    ("a wrong guard", r" === 0\b| == 0\b", " != 0"),
    ("another divisor", r"/ (\d+)", lambda m: f"/ {int(m[1]) + 1}"),
    ("another modulus", r"% (\d+)", lambda m: f"% {int(m[1]) + 1}"),
    ("another stride", r"\b(\d+) \*", lambda m: f"{int(m[1]) + 1} *"),
    ("a dropped parenthesis", r"(\w+) \* \((\w+ \* \w+) \+ (\w+)\)", r"\1 * \2 + \3"),
    ("a dropped parenthesis", r"\((\w+) \+ (\w+)\) %", r"\1 + \2 %"),
    ("another entry", r"\b48\b", "49"),
    ("another mask", r"iand\(([^,()]+), 7", r"iand(\1, 15"),
    ("another mask", r"iand\(([^,()]+), 63", r"iand(\1, 31"),
    ("another shift", r"shifta\(([^,()]+), (\d)\)", lambda m: f"shifta({m[1]}, {int(m[2]) + 1})"),
    ("or for xor", r"ieor\(", "ior("),
    ("or for xor", r"xor\(", "max("),
    ("a truncated quotient", r"modulo\(", "mod("),
    ("a quotient for a remainder", r"mod\((\w+), (\w+)\)", r"(\1 / \2)"),
    ("a truncated remainder", r"\bfld?\(|\bmod\((?=flat -)", "rem("),
    ("a quotient for a remainder", r"\bdiv\(", "rem("),
    ("an exact quotient", r"Math\.trunc\(", "("),
    ("rounded up", r"Math\.trunc\(", "Math.ceil("),
    ("a truncated remainder", r"floorMod\(([^()]*), (\w+)\)", r"((\1) % \2)"),
    ("a truncated remainder", r"\w*floor_mod\w*\((?=flat)([^()]*), (\w+)\)", r"((\1) % \2)"),
]
COMMENT = [
    ("a range that is too wide", r"(0 <= (\w+) )<( [\w /(),.]+)", r"\1<=\3"),
    (
        "a result that is promised too small",
        r"(the result|result)( <) (\d+)",
        lambda m: f"{m[1]}{m[2]} {int(m[3]) - 1}",
    ),
    ("an assumption that is left out", r".*(?:@pre|[Aa]ssumes) `?[^\n]*(?:%|mod\()[^\n]*\n", ""),
    (
        "an assumption that is left out",
        r".*(?:@pre|[Aa]ssumes) `?[^\n]*(?:MAX|huge|typemax|2\^)[^\n]*\n",
        "",
    ),
    ("an index that is left out", r"(0 <= \w+ < )(\d+)", lambda m: f"{m[1]}{int(m[2]) - 1}"),
]
TYPES = [
    ("narrowed", r"std::int64_t", "std::int32_t"),
    ("narrowed", r"long long", "int"),
    ("narrowed", r"\bi64\b", "i32"),
    ("narrowed", r"\bint64\b", "int32"),
    ("narrowed", r"::Int64", "::Int32"),
]
MARK = re.compile(r"^\s*(///|//|!|\*|- |#|\"\"\")")


@cache
def emitted(language):
    return {
        name: (generate(subject, language, name=name), subject)
        for name, subject in SUBJECTS.items()
    }


def planted(text):
    """(what, text) for each mistake at each place, in the functions and their comments."""
    lines = text.splitlines(keepends=True)
    for k, line in enumerate(lines):
        if "Lookup(" in line:
            continue  # the file's title
        comment = bool(MARK.match(line)) or line.startswith(("@", "Assumes"))
        if comment and not re.search(r"<|>|%|mod\(|MAX|huge|typemax|2\^", line):
            continue
        result = re.search(r"return|[Rr]esult", line) is not None
        for what, pattern, new in COMMENT if comment else CODE:
            if comment and result and "too wide" in what:
                continue  # a weaker promise is kept, too
            for match in re.finditer(pattern, line):
                changed = (
                    line[: match.start()] + match.expand(new)
                    if isinstance(new, str)
                    else line[: match.start()] + new(match)
                )
                changed += line[match.end() :]
                if changed != line:
                    yield what, "".join([*lines[:k], changed, *lines[k + 1 :]]), line.strip()
    for what, pattern, new in TYPES:
        changed = re.sub(pattern, new, text)
        if changed != text:
            yield what, changed, pattern
    for k, line in enumerate(lines):
        named = re.search(r"\w+_apply\(", line) and not MARK.match(line)
        if named and "Integer" not in line and not line.startswith("    "):
            swapped = re.sub(r"\bi\b(.*?)\bj\b", r"j\1i", line)
            if swapped != line:
                yield "swapped arguments", "".join([*lines[:k], swapped, *lines[k + 1 :]]), line


def certified(certificate, text):
    """The unit's certificate, as if it were the changed text's."""
    return {**json.loads(certificate), "sha256": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_planted_mistakes_are_not_proved(language):
    missed, found = [], 0
    for name, (unit, subject) in emitted(language).items():
        certificate = unit.certificate().json
        assert check(json.loads(certificate), unit.source, subject), name
        for what, text, where in planted(unit.source):
            report = check(certified(certificate, text), text, subject, all=False)
            if report:
                missed.append((name, what, where))
            found += not report
    assert not missed
    assert found >= LEAST
