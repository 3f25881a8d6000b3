"""Where a long statement of Python is broken: within brackets, as Black and Ruff do."""

from __future__ import annotations

from collections.abc import Mapping

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
        for start in ("return ", f"{text.partition(' = ')[0]} = "):
            value = text.removeprefix(start)
            if value != text and _outermost(value):
                return [f"{start}(", *self.indented(value, self.width - 4), ")"]
        return self.folded(text, self.width)

    def indented(self, text: str, room: int) -> list[str]:
        """What stands between brackets: on one line, or a line for each operand."""
        return [f"    {line}" for line in self.folded(text, room)]

    def folded(self, text: str, room: int) -> list[str]:
        """A text as lines that are no longer than room, where it can be broken."""
        if len(text) <= room:
            return [text]
        marks = _outermost(text)
        if not marks:
            return self.opened(text, room)
        ranks = [self.rank(text, mark) for mark in marks]
        cuts = [mark for mark, rank in zip(marks, ranks, strict=True) if rank == min(ranks)]
        ends = zip([-1, *cuts], [*cuts, len(text)], strict=True)
        pieces = [text[start + 1 : end] for start, end in ends]
        if min(ranks) == 0:
            pieces[-1] += ","
        return [line for piece in pieces for line in self.folded(piece, room)]

    def opened(self, text: str, room: int) -> list[str]:
        """A text with the inside of its first bracket that can be broken on lines of its own."""
        depth, start = 0, 0
        for position, char in enumerate(text):
            if char in OPEN:
                start = position if depth == 0 else start
                depth += 1
            elif char in CLOSE:
                depth -= 1
                if depth == 0 and BREAK in text[start:position]:
                    inside = self.indented(text[start + 1 : position], room - 4)
                    return [text[: start + 1], *inside, text[position:]]
        return [text]

    def rank(self, text: str, mark: int) -> int:
        """How tightly the operator at a mark binds; a comma least of all."""
        symbol = text[mark + 1 :].split(None, 1)[0]
        return 0 if text[mark - 1] == "," else self.looseness.get(symbol, 0)


def _outermost(text: str) -> list[int]:
    """Where a text may be broken outside of all brackets."""
    depth, found = 0, []
    for position, char in enumerate(text):
        depth += (char in OPEN) - (char in CLOSE)
        if char == BREAK and depth == 0:
            found.append(position)
    return found
