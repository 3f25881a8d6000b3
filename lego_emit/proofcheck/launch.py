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
    "e62a35c9f265273210c8966ab2d7f3f9": "int32",  # c
    "b9311c38f6a939be6829e9c47e9eb98b": "uint32",  # c
    "f1515588d78bf5294f575035a696acd0": "int64",  # c
    "55f99bdfd0295e375741e6793f862e61": "uint64",  # c
    "2a6096e50f34af3f030cc4cd506b1ca1": "uint64",  # c
    "7a756e63ff8f1a357a424205b3fe5cc1": "int32",  # cpp
    "a8fce3482453aa249549b5cabea7a2f9": "uint32",  # cpp
    "cae1704465e3c0c73f11bc4f8036e8ee": "int64",  # cpp
    "7d26bfef327c2f2e24004618cd6d8993": "uint64",  # cpp
    "aa3e492be5368244ce9c45d4f86cfc53": "uint64",  # cpp
    "363f63098d25da36c6f7be7abc2515e1": "int32",  # cuda
    "5566d43b6d152f7e805ef463af71908b": "uint32",  # cuda
    "33c66c1ecc52de3f7f363b08bf97d759": "int64",  # cuda
    "79da93a8c95388ea1b1f463b0be83592": "uint64",  # cuda
    "4b5a34acfe172576223a0701d1efcb9e": "uint64",  # cuda
    "37268848790070886cba87c5e105b3c3": "int32",  # rust
    "1b1bb51f2a2a40b3d74b0bd3b3ef065c": "uint32",  # rust
    "00d7fc983caf6b9ba137fe411703bcfb": "int64",  # rust
    "4389117da128a0733a82b2a7124f0c53": "uint64",  # rust
    "6992b640842e75e5857a149902616d79": "int32",  # julia
    "68baccf4b492033f6c67dc108161164d": "uint32",  # julia
    "4be06be2761364ffdb689058e2c4dc94": "int64",  # julia
    "2b18f37010c02930ad355160636d3f4b": "uint64",  # julia
    "ca1cf11e0ddaae6f26358fe050971262": "int32",  # glsl
    "0ddc553b259baf2c1180fd796257bd7a": "uint32",  # glsl
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
    """The helpers of a text, by their names; words: of their texts, which mean there what the language says;
    numbers: by the variable that a helper's result is, the helper and the divisor."""

    helpers: Mapping[str, Helper] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
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
    """(the text without the helpers, as many lines; these helpers), where it has those that are known; of another
    one the text as it is, and none."""
    own = list(_definitions(source, language))
    name = digest(language, [source[start:end] for start, end, _ in own])
    if name not in KNOWN:
        return source, Divisions()
    helpers, words = dict[str, Helper](), set[str]()
    for start, end, called in reversed(own):
        code = re.sub(r"^(?://|#).*", "", source[start:end], flags=re.MULTILINE)
        words |= {*re.findall(r"\w+", code)}
        source = source[:start] + "\n" * source.count("\n", start, end) + source[end:]
        match = NAME.fullmatch(called)
        helpers[called] = Helper((match and match[1]) or "", TYPES[KNOWN[name]])
    return AROUND.sub(lambda m: "\n" * m[0].count("\n"), source), Divisions(
        helpers, frozenset(words)
    )


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
    """Whether what stands before may open a comment, or a text, that is not closed: no file of ours has one that
    reaches over an empty line, but documentation in Julia."""
    if language == "julia":
        alone = len(re.findall(r'^"""$', before, re.MULTILINE))
        return alone % 2 == 1 or before.count('"') != 3 * alone or "#=" in before
    if language == "c":
        before = re.sub(r"^/\*\*?(?:\n \*(?!/).*)*\n \*/$", "", before, flags=re.MULTILINE)
    return "/*" in before or '"' in re.sub(
        r'^(extern "C" \{|[ \w!]+\("[\w :,]+"\);)$', "", before, flags=re.MULTILINE
    )


def digest(language: str, texts: list[str]) -> str:
    """What a text of helpers is known by: not by their unit's name, nor by where their parameters' lists are
    broken for it."""
    plain = NAME.sub(r"fast_div\1", "\n".join(texts))
    if language != "julia":
        plain = re.sub(r"(?<=\()\n {4}(?=\w)", "", plain)
    return hashlib.sha256(f"{language}: {plain}".encode()).hexdigest()[:32]
