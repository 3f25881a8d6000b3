"""Where a long statement of Python is broken: within brackets, as Black and Ruff do."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from lego_emit.emit.printer import BREAK

OPEN, CLOSE = "([{", ")]}"


def statement(text: str, indent: int, width: int, looseness: Mapping[str, int]) -> str:
    """A statement with BREAK marks, on one line or broken; indent: of its first line. looseness:
    operator -> how tightly it binds."""
    if indent + len(text) <= width:
        return text.replace(BREAK, " ")
    lines = _Lines(width - indent, looseness).statement(text)
    return f"\n{' ' * indent}".join(lines).replace(BREAK, " ")


class _Lines:
    """Breaks texts into lines of a width."""

    def __init__(self, width: int, looseness: Mapping[str, int]):
        self.width, self.looseness = width, looseness

    def statement(self, text: str) -> list[str]:
        for start in ("return ", "assert ", f"{text.partition(' = ')[0]} = "):
            value = text.removeprefix(start)
            if value != text and (lines := self.hugged(start, value)):
                return lines
            if value != text and _outermost(value):
                is_tuple = min(self.ranks(value)) == 0
                return [f"{start}(", *self.indented(value, self.width - 4, is_tuple), ")"]
        return self.folded(text, self.width)

    def hugged(self, start: str, value: str) -> list[str]:
        """The insides of brackets on lines of their own, each where the text up to the next one is too long, if the
        loosest operator stands once and there is a bracket at an end; else nothing."""
        ranks, groups = self.ranks(value), _groups(value)
        ends = value.endswith(tuple(CLOSE)) or value.startswith("(")
        if not ranks or not ends or min(ranks) == 0 or ranks.count(min(ranks)) > 1:
            return []
        lines, line, at = list[str](), start, 0
        for (first, last), (end, _) in pairwise([*groups, (len(value) - 1, 0)]):
            line += value[at : first + 1]
            at = first + 1
            if len(line) + end + 1 - at > self.width:
                lines += [line, *self.indented(value[at:last], self.width - 4)]
                line, at = "", last
        lines.append(line + value[at:])
        return lines if max(map(len, lines)) <= self.width else []

    def indented(self, text: str, room: int, spread: bool = False) -> list[str]:
        """What stands between brackets: on one line unless it is spread, or a line for each
        operand."""
        return [f"    {line}" for line in self.folded(text, room, spread)]

    def folded(self, text: str, room: int, spread: bool = False) -> list[str]:
        """A text as lines that are no longer than room, where it can be broken."""
        if len(text) <= room and not spread:
            return [text]
        marks, ranks = _outermost(text), self.ranks(text)
        if not marks:
            return self.opened(text, room)
        cuts = [mark for mark, rank in zip(marks, ranks, strict=True) if rank == min(ranks)]
        ends = zip([-1, *cuts], [*cuts, len(text)], strict=True)
        pieces = [text[start + 1 : end] for start, end in ends]
        if min(ranks) == 0:
            pieces[-1] += ","
        return [line for piece in pieces for line in self.folded(piece, room)]

    def opened(self, text: str, room: int) -> list[str]:
        """A text with the inside of its first bracket that can be broken on lines of its own."""
        for start, end in _groups(text):
            if BREAK in text[start:end]:
                inside = self.indented(text[start + 1 : end], room - 4)
                return [text[: start + 1], *inside, text[end:]]
        return [text]

    def ranks(self, text: str) -> list[int]:
        """How tightly the operators and words outside of all brackets bind; a comma does not at
        all."""
        words = [(text[mark - 1], text[mark + 1 :].split(None, 1)[0]) for mark in _outermost(text)]
        return [0 if comma == "," else self.looseness.get(symbol, 1) for comma, symbol in words]


def _outermost(text: str) -> list[int]:
    """Where a text may be broken outside of all brackets."""
    groups = _groups(text)
    marks = (k for k, char in enumerate(text) if char == BREAK)
    return [mark for mark in marks if not any(start < mark < end for start, end in groups)]


def _groups(text: str) -> list[tuple[int, int]]:
    """Where the outermost brackets open and close."""
    depth, start, found = 0, 0, []
    for position, char in enumerate(text):
        if char in OPEN:
            start = position if depth == 0 else start
            depth += 1
        elif char in CLOSE:
            depth -= 1
            if depth == 0:
                found.append((start, position))
    return found
