"""Integer expressions and relations as text.

Python text is read into any arithmetic: parsed, never executed. It is spelled as Python again, with the
parentheses that it, or a reader, needs; or, for a comment, what a reader of another language expects.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from keyword import kwlist
from typing import Any, NamedTuple, Protocol

# How tightly an operator binds, as in Python. Conditions bind less than any integer does.
BINDING = {
    "if": -5, "or": -4, "and": -3, "not": -2,
    "<": -1, "<=": -1, ">": -1, ">=": -1, "==": -1, "!=": -1,
    "|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "//": 6, "%": 6,
    "~": 7, "**": 8, "": 9,
}  # fmt: skip
INTEGER, PRODUCT, FACTOR, ATOM = 0, BINDING["*"], BINDING["~"], BINDING[""]
COMPARISONS = frozenset(op for op, binding in BINDING.items() if binding == -1)
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*|\[\d+\])?")


def is_name(text: str) -> bool:
    """Whether a text can name a parameter: i, a struct's member at.x, an array's element X[0]."""
    return NAME.fullmatch(text) is not None


# -- saying --------------------------------------------------------------------------------------


class Spelled(NamedTuple):
    """A text and the operator that binds it least; "" where nothing can take it apart."""

    text: str
    op: str = ""

    @property
    def binding(self) -> int:
        """How tightly it holds together."""
        return BINDING[self.op]

    def within(self, need: int) -> str:
        """The text, in parentheses if it binds less than needed."""
        return f"({self.text})" if self.binding < need else self.text


def infix(op: str, left: Spelled, right: Spelled, *, sign: str = "") -> Spelled:
    """left op right; sign: how the operator is spelled, where that is otherwise."""
    binding, sign = BINDING[op], sign or op
    if op == "*":
        return Spelled(f"{_factor(left)}{sign}{right.within(FACTOR)}", op)
    if op == "**":
        return Spelled(f"{left.within(ATOM)}{sign}{right.within(ATOM)}", op)
    if op in COMPARISONS:  # they would chain
        return Spelled(f"{left.within(INTEGER)} {sign} {right.within(INTEGER)}", op)
    if op in ("and", "or"):
        return Spelled(f"{_joined(op, left)} {sign} {_joined(op, right)}", op)
    return Spelled(f"{left.within(binding)} {sign} {right.within(binding + 1)}", op)


def _factor(left: Spelled) -> str:
    return left.text if left.op == "*" else left.within(FACTOR)


def _joined(op: str, part: Spelled) -> str:
    return part.text if part.op == op else part.within(BINDING["not"])


def negative(value: Spelled) -> Spelled:
    """-value: never a factor without its parentheses."""
    return Spelled(f"-{_factor(value)}", "-")


def inverted(op: str, value: Spelled, sign: str = "") -> Spelled:
    """~value or not value; sign: how that is spelled, where it is otherwise."""
    return Spelled(f"{sign or ('~' if op == '~' else 'not ')}{value.within(FACTOR)}", op)


def call(name: str, args: Sequence[Spelled]) -> Spelled:
    """The text of a call: name(a, b)."""
    return Spelled(f"{name}({', '.join(a.text for a in args)})")


def entry(table: str, place: Spelled) -> Spelled:
    """The text of a look-up: table[place]."""
    return Spelled(f"{table}[{place.text}]")


def choice(condition: Spelled, then: Spelled, other: Spelled) -> Spelled:
    """then if condition else other."""
    need = BINDING["or"]
    parts = then.within(need), condition.within(need), other.within(need)
    return Spelled("{} if {} else {}".format(*parts), "if")


@dataclass(frozen=True)
class Notation:
    """How a language's readers expect integer expressions in a comment. A form has {0}, {1}.. for
    the operands; all are given by Python's signs and names, and what is not given is Python's.

    signs: of operators. forms: of operators, of conditional expressions ("if"), and of a condition's
    number, 0 or 1 ("int"), that are written as calls. floored: the forms of // and % where an operand
    may be negative, for languages whose own round towards zero. loose: whether bit operations bind otherwise than Python's do, and
    are bracketed. most: what the language calls 2**bits - 1.
    """

    signs: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    floored: Mapping[str, str] = field(default_factory=dict)
    loose: bool = True
    most: Mapping[int, str] = field(default_factory=dict)


PYTHON = Notation(loose=False)
C = Notation(
    {"//": "/", "**": "^", "and": "&&", "or": "||", "not": "!"},
    {"if": "{0} ? {1} : {2}"},
    {"//": "floor({0} / {1})", "%": "mod({0}, {1})"},
)


# -- reading -------------------------------------------------------------------------------------

_INFIX: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_COMPARED: dict[type, str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


class Arithmetic(Protocol):
    """What text is read into."""

    def number(self, value: int) -> Any:
        """The value of an integer that was read."""
        ...

    def name(self, name: str) -> Any:
        """The value of a symbol that was read."""
        ...

    def infix(self, op: str, left: Any, right: Any) -> Any:
        """An operation on integers, one of + - * // % ** << >> & | ^."""
        ...

    def negative(self, value: Any) -> Any:
        """The value of -value."""
        ...

    def extreme(self, name: str, left: Any, right: Any) -> Any:
        """The value of min(left, right) or max(left, right), by name."""
        ...

    def compare(self, op: str, left: Any, right: Any) -> Any:
        """A condition, one of < <= > >= == !=."""
        ...


class UnreadableError(Exception):
    """Text that is none of ours. part: what cannot be read of it; "" for the whole."""

    def __init__(self, why: str = "", part: str = ""):
        super().__init__(why)
        self.part = part


# Python's keywords that are names here, as they may be in other languages.
WORD = re.compile(rf"(?<!\w)(?!(?:and|in|is|not|or|[A-Z]\w+)\b)({'|'.join(kwlist)})(?!\w)")
WIDE = 0xFEE0  # from a letter to a wider one, which Python takes for the letter in names alone


def read_value(text: str, kinds: Arithmetic) -> Any:
    """An expression such as M // BM. Raises UnreadableError where it is none."""
    return _value(tree_of(text), kinds)


def read_relations(text: str, kinds: Arithmetic) -> list[Any]:
    """The conditions of a relation such as 0 <= i < N, `and` between them; pow2(n), that n is a power of
    two, is n >= 1 and n & n - 1 == 0. Raises UnreadableError where it is none."""
    return _conditions(tree_of(text), kinds)


def tree_of(text: str) -> ast.expr:
    """Python's tree of an expression, in which names may be keywords, such as class < 4. Raises
    UnreadableError where it is none."""
    try:
        text = WORD.sub(lambda m: chr(ord(m[0][0]) + WIDE) + m[0][1:], text.strip())
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = getattr(error, "msg", None) or f"{error}"
        if isinstance(error, RecursionError | MemoryError):
            why = "it is too long"
        elif "int_max_str_digits" in why:
            why = "a number has too many digits"
        raise UnreadableError(why) from None


def _conditions(tree: ast.expr, kinds: Arithmetic) -> list[Any]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [c for value in tree.values for c in _conditions(value, kinds)]
    match tree:
        case ast.Call(func=ast.Name(id="pow2"), args=[argument], keywords=[]):
            n = f"({ast.unparse(argument)})"
            return read_relations(f"{n} >= 1 and {n} & {n} - 1 == 0", kinds)
    if not isinstance(tree, ast.Compare):
        raise UnreadableError()
    operands = [_value(x, kinds) for x in (tree.left, *tree.comparators)]
    found = []
    for op, a, b in zip(tree.ops, operands, operands[1:], strict=False):
        if type(op) not in _COMPARED:
            raise UnreadableError(part=ast.unparse(tree))
        found.append(kinds.compare(_COMPARED[type(op)], a, b))
    return found


def _value(tree: ast.expr, kinds: Arithmetic) -> Any:
    match tree:
        case ast.Constant(value=int() as number) if type(number) is int:
            return kinds.number(number)
        case ast.Name(id=name):
            return kinds.name(name)
        case ast.Attribute(value=ast.Name(id=name), attr=field):
            return kinds.name(f"{name}.{field}")
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int() as number)):
            return kinds.name(f"{name}[{number}]")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _INFIX:
            return kinds.infix(_INFIX[type(op)], _value(left, kinds), _value(right, kinds))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return kinds.negative(_value(operand, kinds))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right], keywords=[]):
            return kinds.extreme(name, _value(left, kinds), _value(right, kinds))
    raise UnreadableError(part=ast.unparse(tree))
