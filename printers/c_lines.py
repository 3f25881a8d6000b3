"""Long statements in C's languages, broken as clang-format breaks them.

By the .clang-format file of this repository: before operators, after the bracket of a call, a
choice's parts below each other.
"""

from collections.abc import Mapping, Set

from lego_emit.emit.printer import BREAK

UNARY = 14  # how tightly C's unary operators bind


def cast_need(cast: str) -> int:
    """How tightly the operand of a cast must bind, where it does not stand in the cast's brackets."""
    return 0 if cast.endswith(")") else UNARY


def broken(text: str, indent: int, width: int, looseness: Mapping[str, int]) -> str:
    """A statement that stands at column indent, its BREAK marks resolved.

    looseness: how tightly each operator binds.
    """
    lines = _Breaker(width, looseness)
    start, equals, value = text.partition(" = ")
    if equals and BREAK not in start:
        if indent + 4 + len(value) <= width:
            return f"{start} =\n{' ' * (indent + 4)}{value}"
        beside = f"{start} = {lines.fit(value, indent + len(start) + 3, indent, whole=True)}"
        below = f"{start} =\n{' ' * (indent + 4)}{lines.fit(value, indent + 4, indent, whole=True)}"
        return min(beside, below, key=lambda text: text.count("\n"))
    word, blank, value = text.partition(" ")
    if blank and word == "return":
        return f"return {lines.fit(value, indent + 7, indent, whole=True)}"
    return lines.fit(text, indent, indent)


class _Breaker:
    def __init__(self, width: int, looseness: Mapping[str, int]):
        self._width, self._looseness = width, looseness

    def fit(
        self,
        text: str,
        column: int,
        indent: int,
        calls: int | None = None,
        bracketed: bool = False,
        whole: bool = False,
    ) -> str:
        """An expression that starts at column; its further lines stand four beyond indent, the
        arguments of a call four beyond calls. bracketed: in parentheses; whole: a statement's."""
        if column + len(text) <= self._width:
            return text
        ranks, bracket = self._marks(text)
        if not ranks:
            return text
        outermost = min(ranks.values())
        places = [p for p, rank in ranks.items() if rank == outermost]
        symbol = self._symbol(text, places[0])
        operators = symbol in self._looseness
        if outermost[0]:
            start, inner = text[: bracket + 1], text[bracket + 1 :]
            before = text[max(bracket - 1, 0)]
            if text[bracket] == "{" or before.isalnum() or before in "_>~-":
                column = (indent if calls is None else calls) + 4
                start = f"{start}\n{' ' * column}"
            else:
                column += len(start)
                operators = True
            return start + self.fit(inner, column, column - 4 * operators, bracketed=operators)
        if not operators:  # the arguments of a call
            lines = [self.fit(line, indent, indent) for line in self._split(text, places)]
            return f"\n{' ' * indent}".join(lines)
        if symbol == "?":
            return self._choice(self._split(text, places[:2]), column, indent + 4 * bracketed)
        return self._operation(self._split(text, places), column, indent, whole)

    def _operation(self, parts: list[str], column: int, indent: int, whole: bool) -> str:
        lines, start = [parts[0]], indent + 4
        for part in parts[1:]:
            at = column if len(lines) == 1 else start
            if at + len(lines[-1]) + 1 + len(part) <= self._width:
                lines[-1] += f" {part}"
            else:
                lines.append(part)
        inner = indent if whole else start
        made = [self.fit(lines[0], column, inner, column, whole=whole)]
        for line in lines[1:]:
            symbol, _, operand = line.partition(" ")
            at, calls = start + len(symbol) + 1, max(column, start)
            made.append(f"{symbol} {self.fit(operand, at, inner, calls, whole=whole)}")
        return f"\n{' ' * start}".join(made)

    def _choice(self, parts: list[str], column: int, indent: int) -> str:
        condition, then, other = parts
        if column + len(condition) + 1 + max(len(then), len(other)) <= self._width:
            return f"{condition} {then}\n{' ' * (column + len(condition) + 1)}{other}"
        made = [self.fit(condition, column, indent + 4)]
        made += [f"{p[:2]}{self.fit(p[2:], indent + 6, indent + 4)}" for p in (then, other)]
        return f"\n{' ' * (indent + 4)}".join(made)

    def _marks(self, text: str) -> tuple[dict[int, tuple[int, int]], int]:
        """The BREAK marks' places with how deep in brackets and how loosely each binds, and the
        bracket around the outermost one."""
        opened: list[int] = []
        ranks, brackets = {}, {}
        for position, char in enumerate(text):
            if char in "([{":
                opened.append(position)
            elif char in ")]}" and opened:
                opened.pop()
            elif char == BREAK:
                ranks[position] = len(opened), self._looseness.get(self._symbol(text, position), 0)
                brackets[position] = opened[-1] if opened else -1
        return ranks, brackets[min(ranks, key=lambda p: ranks[p])] if ranks else -1

    def _split(self, text: str, places: list[int]) -> list[str]:
        starts, ends = [0, *(p + 1 for p in places)], [*places, len(text)]
        return [text[a:b] for a, b in zip(starts, ends, strict=True)]

    def _symbol(self, text: str, mark: int) -> str:
        return text[mark + 1 :].split(None, 1)[0]


def guard(unit: str, extension: str) -> str:
    """The macro that keeps a file from being included twice, in C's languages. Macros are in upper
    case; a number tells units apart whose names differ in case only."""
    capitals = sum(char.isupper() << k for k, char in enumerate(unit))
    ending = extension.removeprefix(".").replace(".", "_")
    return f"LEGO_{unit}_{ending}".upper() + f"_{capitals:X}" * bool(capitals)


def free(name: str, taken: Set[str]) -> str:
    """The name, with a number where it is taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
