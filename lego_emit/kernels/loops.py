"""What a loop in a template's text leaves constant: index expressions are summed so that a compiler
computes it once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ..arith.evaluate import evaluate
from ..arith.expr import Expr
from ..arith.terms import Monomial, Terms
from ..ir.nodes import Node

HEAD = re.compile(r"\bfor\s*\(")
TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.S)
COUNTED = re.compile(r"(\w+)\s*=(?!=)")
PARTS = ("constant", "moved")  # of an index
PAIRS = {"(": ")", "[": "]", "{": "}"}


def counted_in(source: str) -> Iterator[tuple[int, frozenset[str]]]:
    """(line, names) of a template: what the innermost loop around a line's last placeholder counts, as
    `for (int i = 0; i < 8; ++i)` counts i."""
    bare = TAG.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source)
    loops = []
    for head in HEAD.finditer(bare):
        end = _closed(bare, head.end() - 1)
        names = COUNTED.findall(bare[head.end() : end].partition(";")[0])
        if names and bare[head.end() : end].count(";") == 2:
            loops.append((end, _after(bare, end + 1), frozenset(names)))
    last = {source.count("\n", 0, tag.start()) + 1: tag.start() for tag in TAG.finditer(source)}
    for line, place in last.items():
        if around := [loop for loop in loops if loop[0] < place < loop[1]]:
            yield line, max(around)[2]


def _closed(text: str, start: int) -> int:
    """Where the bracket at start is closed, or the end of the text."""
    waiting: list[str] = []
    for place in range(start, len(text)):
        if text[place] in PAIRS:
            waiting.append(PAIRS[text[place]])
        elif waiting and text[place] == waiting[-1]:
            waiting.pop()
            if not waiting:
                return place
    return len(text)


def _after(text: str, start: int) -> int:
    """Where the statement that begins at start ends."""
    place = start
    while place < len(text) and text[place] != ";":
        if text[place] in PAIRS:
            block = text[place] == "{"
            place = _closed(text, place)
            if block:
                return place
        place += 1
    return place


def parted(value: Expr, moves: Callable[[Collection[str]], bool]) -> tuple[Expr, Expr]:
    """The summands that a loop leaves constant, and those that it moves."""
    parts: tuple[Terms, Terms] = {}, {}
    for mono, c in value.terms.items():
        parts[moves(_names(mono))][mono] = c
    return Expr(parts[0]), Expr(parts[1])


def _names(mono: Monomial) -> set[str]:
    return set[str]().union(*(atom.symbols for atom in mono))


class Parted:
    """What the parts of an index are, at numbers: the moved one as it says, the other what is left of the
    whole."""

    def __init__(self, whole: Any, moved: Expr):
        self.name, self.points = whole.name, whole.points
        self.is_total, self.stays_small = whole.is_total, whole.stays_small
        self._whole, self._moved = whole, moved

    def __call__(self, values: Any) -> Any:
        """The results at values of the names. Raises what the whole raises."""
        moved = evaluate(self._moved, values)
        return dict(zip(PARTS, (self._whole(values) - moved, moved), strict=True))


def mixing(root: Node, moves: Callable[[str], bool]) -> int:
    """The operations over both what a loop moves and what it leaves constant, each once."""
    known: dict[Node, tuple[bool, bool]] = {}
    for node in root.walk():
        if node.op == "var":
            moved = moves(str(node.value))
            known[node] = moved, not moved
        elif node not in known:
            below = [known[arg] for arg in node.args]
            known[node] = any(moved for moved, _ in below), any(still for _, still in below)
    return sum(moved and still for moved, still in known.values())
