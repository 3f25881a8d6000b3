"""Index arithmetic spelled in a language exactly as a Python function does it, step by step.

This is what emitted functions are measured against: the nest of divisions that Figs. 4 and 5 of the
paper give when nobody simplifies it, and what someone wrote by hand. Each Python operation becomes
one statement; where the function branches on a comparison, both ways are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.block import Block
from ..algebra.integer_eval import Plain
from ..algebra.written import Written
from ..errors import LayoutError, LegoError, VerifyError, error_text, line_in
from ..table_lookup import Entries


@dataclass(frozen=True)
class Language:
    """How statements are spelled. {T} is the index type, {0} and {1} are operands.

    let: a variable {name} that holds {value}. when, otherwise, end: a branch. back: the return of
    results. ops: Python's operators, and "int" (a condition as a number), "isqrt" and "table"
    (entry {0} of the look-up table {table}). number: a literal, which is not negative.
    """

    let: str
    when: str
    otherwise: str
    end: str
    back: str
    ops: Mapping[str, str]
    number: str = "{0}"
    indent: str = "  "


# The operators that most languages spell as Python does. What a table lacks, its language adds.
COMMON_OPS = {
    op: f"{{0}} {op} {{1}}"
    for op in (
        *("+", "-", "*", "%", "&", "|", "^", "<<", ">>"),
        *("<", "<=", ">", ">=", "==", "!="),
    )
}


# -- values that write themselves ----------------------------------------------------------------


class _Fork(Exception):
    """A comparison that nobody has decided yet."""


@dataclass
class _Pen:
    """Writes the statements of one way through a function."""

    language: Language
    T: str
    decided: Sequence[bool]
    table: str
    lines: list[str] = field(default_factory=list)
    count: int = 0
    met: int = 0

    def let(self, op: str, *operands: Any) -> _Value:
        # A condition is an operand of "int" alone, which makes a number of it.
        texts = [o.name if op == "int" else self.text(o) for o in operands]
        value = self.language.ops[op].format(*texts, T=self.T, table=self.table)
        self.count += 1
        name = f"t{self.count}"
        self.lines.append(self.language.let.format(T=self.T, name=name, value=value))
        return _Value(self, name)

    def compare(self, op: str, *operands: Any) -> _Truth:
        return _Truth(self, self.language.ops[op].format(*(self.text(o) for o in operands)))

    def text(self, value: Any) -> str:
        if isinstance(value, _Truth):
            value = self.let("int", value)
        if isinstance(value, _Value):
            return value.name
        number = self.language.number.format(abs(int(value)), T=self.T)
        return f"(-{number})" if value < 0 else number

    def decide(self, condition: str) -> bool:
        if self.met == len(self.decided):
            raise _Fork(condition)
        self.lines = []
        self.met += 1
        return self.decided[self.met - 1]


class _Value(Written):
    """An integer of the emitted text."""

    __hash__ = None  # pyright: ignore

    def __init__(self, pen: _Pen, name: str):
        self.pen, self.name = pen, name

    def of(self, op: str, *args: Any) -> _Value:
        return self.pen.let(op, *args)

    def compared(self, op: str, other: Any) -> _Truth:
        return self.pen.compare(op, self, other)

    def isqrt(self) -> _Value:
        """The square root, rounded down."""
        return self.pen.let("isqrt", self)


class _Truth(_Value):
    """A comparison: a condition, or 0 and 1 in arithmetic."""

    def __bool__(self) -> bool:
        return self.pen.decide(self.name)

    def made(self, op: str, left: Any, right: Any) -> Any:
        left, right = (
            self.pen.let("int", x) if isinstance(x, _Truth) else x for x in (left, right)
        )
        return (left if isinstance(left, Written) else right).made(op, left, right)


# -- functions -----------------------------------------------------------------------------------


def body(
    function: Callable[..., Any],
    names: Sequence[str],
    language: Language,
    T: str,
    back: Callable[[list[str]], list[str]] | None = None,
    table: str = "table",
) -> list[str]:
    """The statements of a function of the named integers, its results returned in order.

    back: the lines that return the results, where the language has none for it. table: the name of
    the look-up table.
    """

    def ways(decided: Sequence[bool], depth: int) -> Iterator[str]:
        pen = _Pen(language, T, decided, table)
        pad = language.indent * depth
        try:
            result = function(*(_Value(pen, n) for n in names))
            values = list(result) if isinstance(result, tuple | list) else [result]
            texts = [pen.text(v) for v in values]
            last = back(texts) if back else [language.back.format(", ".join(texts))]
            yield from (f"{pad}{line}" for line in (*pen.lines, *last))
            return
        except _Fork as fork:
            condition = str(fork)
        except LegoError:
            raise
        except (Exception, SystemExit) as error:
            name, line = getattr(function, "__name__", "a function"), line_in(function, error)
            text = f"{type(error).__name__}: {error_text(error)}"
            raise VerifyError(f"{name}{line} cannot be spelled in the language: {text}") from error
        yield from (f"{pad}{line}" for line in pen.lines)
        yield pad + language.when.format(condition)
        yield from ways([*decided, True], depth + 1)
        yield pad + language.otherwise.format()
        yield from ways([*decided, False], depth + 1)
        yield pad + language.end.format()

    return list(ways([], 1))


class _Nest(Plain):
    """Numbers that a nest is made of, in which there is no table."""

    def looked_up(self, entries: Entries, place: Any) -> Any:
        """There is no nest for it."""
        raise LayoutError(f"no nest for a table of {entries.size} entries")

    def masked(
        self, sizes: Sequence[Any], coordinates: Sequence[Any], values: Sequence[Any]
    ) -> list[Any]:
        """The values where each coordinate lies below its size, else -1."""
        if all(c < n for c, n in zip(coordinates, sizes, strict=True)):
            return [*values]
        return [-1 for _ in values]


_NEST = _Nest()


def naive(layout: Block) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
    """(apply, inv) of a layout, as Figs. 4 and 5 put them together and nothing simplified.

    Raises LayoutError for a layout that looks positions up in a table.
    """

    def apply(*indices: Any) -> Any:
        return layout.forward(_NEST, indices)

    def inv(flat: Any) -> Any:
        return tuple(layout.backward(_NEST, flat))

    return apply, inv if layout.has_inverse else None
