"""Divisions by numbers that are computed once for a launch: a product, a sum and a shift.

A text has helpers for them: fast_div_mul(d), fast_div_add(d) and fast_div_shift(d) compute the numbers of a
divisor, and fast_div(n, mul, add, shift) gives n // d, of signed types without the sum. They are known by their
texts: tests/test_prepared.py runs those at small, large and random divisors. A text that is known computes
(n*mul + add) >> shift. With S = 2**shift, its numbers are such that one of these lemmas has it equal n // d:

1. m*d = S + e, 0 <= e, n*e < S: then n*m // S = n // d.
2. q*d = S - e, 0 < e, (n // d)*e <= q: then (n*q + q) // S = n // d.
3. S = P*d, n < P: then (n*(P - 1) + P - 1) // S = n // d.

For which numbers that is, and for which n: lego_emit/emit/prepared.py. tests/test_proofcheck_launch.py has Z3 prove
the lemmas, and tries the numbers at all divisors and dividends of short words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from .terms import Term
from .text import I32, I64, U32, U64, Type

NAME = re.compile(r"\b\w*?fast_div(_mul|_add|_shift)?(?:_(?:[iu](?:32|64)|usize))?\b")
DEFINED = {
    "julia": re.compile(r"^(?:@inline |function )?(\w+)\(", re.MULTILINE),
    "rust": re.compile(r"^const fn (\w+)\(", re.MULTILINE),
}
DEFINED_IN_C = re.compile(r"^\w[\w: ]* (\w+)\(", re.MULTILINE)
# What stands around them alone.
AROUND = re.compile(
    r"^(?:namespace \w+ \{\n\s*\}  // namespace \w+|#ifdef _MSC_VER\n#include <intrin.h>\n#endif)$",
    re.MULTILINE,
)
TYPES = {"int32": I32, "int64": I64, "uint32": U32, "uint64": U64}
# By the digest of the helpers' text, what they divide.
KNOWN = {
    "4f2b4467f26456e6ee5cb45b0e429459": "int32",  # c
    "50a847b5d2551b5e33723d5c51aa4b2d": "uint32",  # c
    "2164a56399d718a7a46cc18417d76523": "int64",  # c
    "bf1ce724841f615cd4b0824a818ba61e": "uint64",  # c
    "d1228b75f7c5d2a201cbad43009743e3": "uint64",  # c
    "989644397a7621ca9addc620c0ceea8f": "int32",  # cpp
    "a75c9befd4cc9e21132ac85c9d993061": "uint32",  # cpp
    "2ab11212b82ed52489f60db08dd47e02": "int64",  # cpp
    "d699aa9416c834d57a26f4bb644e88d9": "uint64",  # cpp
    "b2afc1c33380bbc0e7d810d5c4cab959": "uint64",  # cpp
    "eae62eecde79eb1a03e6245230624813": "int32",  # cuda
    "83426b7c1b24b8123a1b974866d06830": "uint32",  # cuda
    "02f95a2cf10ad613a292393cc7db6df6": "int64",  # cuda
    "ca26de46adb34a59a36f3c2a517ff2b2": "uint64",  # cuda
    "c67f11f3a11feed7a57f7577d7720078": "uint64",  # cuda
    "381c79543014af50d053a76e7f8add4c": "int32",  # rust
    "5d19136f38e48587ad2f83564d546c9d": "uint32",  # rust
    "3486cc6922e550a9fcd0a333d3df098f": "int64",  # rust
    "31877af30af2b1ec0876a9e879389d3b": "uint64",  # rust
    "9939767f6a1797a04ea7cebed3904baf": "int32",  # julia
    "1cb5057e5f7a49616a2ae4bd251c161c": "uint32",  # julia
    "ea53318fa94e55950a1cfd748b597ed9": "int64",  # julia
    "03f9d60cb3fae10488a86feed47cfdee": "uint64",  # julia
    "07aa32d460795f469465f98ce75d5c52": "int32",  # glsl
    "03dbd7043ddb124e445a26cdf72b7922": "uint32",  # glsl
}


@dataclass(frozen=True)
class Helper:
    """A helper of a text. what: "", "_mul", "_add" or "_shift", what ends its name; type: of the numbers that
    are divided."""

    what: str
    type: Type

    @property
    def gives(self) -> Type:
        """The type of its result."""
        if not self.what:
            return self.type
        return U32 if self.what == "_shift" or self.type.bits == 32 else U64


@dataclass
class Divisions:
    """The helpers of a text, by their names; numbers: by the variable that a helper's result is, the helper
    and the divisor."""

    helpers: Mapping[str, Helper] = field(default_factory=dict)
    numbers: dict[str, tuple[Helper, Term]] = field(default_factory=dict)

    def number(self, helper: Helper, divisor: Term) -> str:
        """The name of what a helper makes of a divisor."""
        for name, known in self.numbers.items():
            if known[0] == helper and known[1] is divisor:
                return name
        name = f"fast_div{helper.what} of divisor {len(self.numbers)}"
        self.numbers[name] = helper, divisor
        return name

    def holds(self, condition: Term) -> bool:
        """Whether a condition is that what a helper gives fits its own type, or a wider one."""
        if condition.op != "land" or {a.op for a in condition.args} != {"le"}:
            return False
        (least, value), (same, most) = (a.args for a in condition.args)
        if value is not same or value.op != "var" or value.args[0] not in self.numbers:
            return False
        helper = self.numbers[value.args[0]][0]
        return least.constant == 0 and (most.constant or 0) >= (helper.gives.highest or 0)


def without(source: str, language: str) -> tuple[str, Divisions]:
    """(the text without the helpers, as many lines; these helpers), where it has those that are known; of another one the text as
    it is, and none."""
    own = list(_definitions(source, language))
    name = digest(language, [source[start:end] for start, end, _ in own])
    if name not in KNOWN:
        return source, Divisions()
    helpers = dict[str, Helper]()
    for start, end, called in reversed(own):
        source = source[:start] + "\n" * source.count("\n", start, end) + source[end:]
        match = NAME.fullmatch(called)
        helpers[called] = Helper((match and match[1]) or "", TYPES[KNOWN[name]])
    return AROUND.sub(lambda m: "\n" * m[0].count("\n"), source), Divisions(helpers)


def _definitions(source: str, language: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of each definition of such a helper: what stands between empty lines, and in no
    comment."""
    start = 0
    for part in re.split(r"(\n{2,})", source):
        found = DEFINED.get(language, DEFINED_IN_C).search(part)
        if found and NAME.fullmatch(found[1]) and not _in_comment(source[:start], language):
            yield start, start + len(part), found[1]
        start += len(part)


def _in_comment(before: str, language: str) -> bool:
    if language == "julia":
        return before.count('"""') % 2 == 1 or "#=" in before
    counts = before.count("/*") != before.count("*/")
    return counts or before.rfind("/*") > before.rfind("*/")


def digest(language: str, texts: list[str]) -> str:
    """What a text of helpers is known by: neither by their unit's name nor by its comments and spaces."""
    mark = "#" if language == "julia" else "//"
    lines = [line for text in texts for line in text.splitlines() if not line.startswith(mark)]
    plain = re.sub(r"\s*(\W)\s*", r"\1", NAME.sub(r"fast_div\1", " ".join(lines)))
    return hashlib.sha256(f"{language}: {plain}".encode()).hexdigest()[:32]
