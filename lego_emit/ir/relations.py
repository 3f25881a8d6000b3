"""What a header says, as conditions over parameters' names.

Nodes that are read from text, said as text, evaluated on numbers and on arrays of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import Any

from ..errors import short_repr
from ..notation import (
    ATOM,
    BINDING,
    PYTHON,
    Notation,
    Spelled,
    call,
    choice,
    entry,
    infix,
    inverted,
    negative,
    read_relations,
)
from ..operations import IN_RELATIONS, OPS
from ..table_lookup import Entries
from .nodes import Node, const, evaluate, var

MOST = 5000  # nodes of one text
CUT = ".."  # for what is left out of a longer one

_INFIX = {op: row.sign for op, row in IN_RELATIONS.items() if row.sign}
_READ = {sign: op for op, sign in _INFIX.items()}  # of // and % what is right for every sign


@dataclass(frozen=True, slots=True)
class Range:
    """least <= a value < end; None where there is no bound. masked: the one number beyond that stands
    for a masked index or position in an unsigned type."""

    least: Node | None = None
    end: Node | None = None
    masked: Node | None = None

    def says(self, name: str, said: Callable[[Node], str] | None = None) -> str:
        """As text, of a value of that name; "" where there are no bounds. said: how a bound is."""
        said = said or says
        if self.masked is not None:
            found = self.conditions(name)
            return said(all_of(found)) if found else ""
        if self.least == const(1) and self.end is not None and self.end.op == "add":
            *first, last = self.end.args
            if last == const(1) and len(first) == 1:  # what counts from 1
                return f"1 <= {name} <= {said(first[0])}"
        if self.least is not None and self.end is not None:
            return f"{said(self.least)} <= {name} < {said(self.end)}"
        if self.end is not None:
            return f"{name} < {said(self.end)}"
        return "" if self.least is None else f"{name} >= {said(self.least)}"

    def conditions(self, name: str) -> list[Node]:
        """The bounds as conditions on a variable."""
        found = [Node("le", (self.least, var(name)))] if self.least is not None else []
        if self.masked is None:
            return [*found, Node("lt", (var(name), self.end))] if self.end is not None else found
        if self.end is None:
            return []
        is_masked = Node("eq", (var(name), self.masked))
        return [Node("lor", (Node("lt", (var(name), self.end)), is_masked))]

    def map(self, change: Callable[[Node], Node]) -> Range:
        """The range with its bounds changed."""
        least, end = (None if b is None else change(b) for b in (self.least, self.end))
        return Range(least, end, self.masked)

    def at(self, values: Mapping[str, Any]) -> tuple[Any, Any]:
        """The inclusive bounds at numbers; None where there is none, or no value of it."""
        least, end = (None if b is None else evaluate(b, values) for b in (self.least, self.end))
        return least, None if end is None else end - 1

    def names(self) -> set[str]:
        """The names that the bounds stand on."""
        return {n for b in (self.least, self.end) if b is not None for n in names_in(b)}


OPEN = Range()


# -- making --------------------------------------------------------------------------------------


def greatest(number: int) -> Node:
    """An index type's greatest number; 2**bits - 1, which notations may have a name for, as that."""
    if number & (number + 1):
        return const(number)
    return Node("sub", (Node("pow", (const(2), const(number.bit_length()))), const(1)))


def all_of(conditions: list[Node]) -> Node:
    """One condition that is all of them, of which there is one at least."""
    return reduce(lambda a, b: Node("land", (a, b)), conditions)


def between(least: int, end: int) -> Range:
    """A range of numbers."""
    return Range(const(least), const(end))


class _Nodes:
    """Text read as nodes."""

    def number(self, value: int) -> Node:
        return const(value)

    def name(self, name: str) -> Node:
        return var(name)

    def infix(self, op: str, left: Node, right: Node) -> Node:
        return Node(_READ[op], (left, right))

    def negative(self, value: Node) -> Node:
        return const(-value.value) if value.op == "const" else Node("neg", (value,))

    def extreme(self, name: str, left: Node, right: Node) -> Node:
        return Node(name, (left, right))

    compare = infix


def read(text: str) -> Node:
    """A relation as text, such as 0 <= i < N. Raises notation.UnreadableError where it is none."""
    return all_of(read_relations(text, _Nodes()))


# -- looking at ----------------------------------------------------------------------------------


def says(
    node: Node, notation: Notation = PYTHON, lows: Mapping[str, int | None] | None = None
) -> str:
    """Text in a notation, as long as that has no more than MOST nodes. lows: the least value of
    names, where it is known."""
    return _Speaker(notation, lows or {}).said(node).text


_BITS = {row.sign for row in OPS.values() if row.bits}


class _Speaker:
    def __init__(self, notation: Notation, lows: Mapping[str, int | None]) -> None:
        self.left, self.notation, self.lows = MOST, notation, lows

    def said(self, node: Node) -> Spelled:
        self.left -= 1
        if self.left < 0:
            return Spelled(CUT)
        if node.op == "const":
            number = Spelled(short_repr(abs(node.value)))
            return number if node.value >= 0 else negative(number)
        if node.op == "round":
            return Spelled("")
        if node.op in ("var", "table"):
            return Spelled(str(node.value))
        if most := self.notation.most.get(_ones(node)):
            return Spelled(most)
        if node.op == "land":
            return reduce(lambda a, b: self._infix("and", a, b), map(self._chain, _chains(node)))
        if node.op == "pow" and (factors := self._factors(*node.args)):
            return self.said(reduce(lambda a, b: Node("mul", (a, b)), factors))
        args = [self.said(a) for a in node.args]
        if node.op == "eq" and node.args[0].op in ("mod", "floormod") and args[1].text == "0":
            dividend, divisor = (self.said(a) for a in node.args[0].args)
            return Spelled(f"{self._divided(dividend, divisor)} == 0", "==")
        if node.op in _INFIX:
            sign = _INFIX[node.op]
            floored = self.notation.floored.get(sign)
            if floored and node.op in ("floordiv", "floormod"):
                if any(least(a, self.lows) is None for a in node.args):
                    return _form(floored, args)
            return self._infix(sign, args[0], args[1])
        if node.op == "int":
            form = self.notation.forms.get("int")
            return _form(form, args) if form else args[0]
        if node.op == "lookup":
            return entry(args[0].text, args[1])
        if node.op in ("loop", "switch"):
            made = node.args[0].value
            return call(f"{node.op}_{made.shown[1 + made.item]}", args[1:])
        if node.op == "select":
            return self._choice(*args)
        if node.op in ("not", "lnot"):
            op = "~" if node.op == "not" else "not"
            return inverted(op, args[0], self.notation.signs.get(op, ""))
        return negative(args[0]) if node.op == "neg" else call(node.op, args)

    def _factors(self, base: Node, exponent: Node) -> list[Node]:
        """The factors of a power, where the language's ** would be read as something else."""
        exact = self.notation.signs.get("**") != "^" or base.op == "const"
        return [] if exact or exponent.value not in range(1, 9) else [base] * exponent.value

    def _infix(self, op: str, left: Spelled, right: Spelled) -> Spelled:
        if form := self.notation.forms.get(op):
            return _form(form, [left, right])
        if op in _BITS and self.notation.loose:
            sign = self.notation.signs.get(op, op)
            return Spelled(f"{left.within(ATOM)} {sign} {right.within(ATOM)}", "if")
        return infix(op, left, right, sign=self.notation.signs.get(op, ""))

    def _divided(self, dividend: Spelled, divisor: Spelled) -> str:
        """What is known to be 0, where signs do not matter."""
        if "%" in self.notation.forms:
            return self._infix("%", dividend, divisor).text
        return f"{dividend.within(ATOM)} % {divisor.within(ATOM)}"

    def _choice(self, condition: Spelled, then: Spelled, other: Spelled) -> Spelled:
        if form := self.notation.forms.get("if"):
            need = BINDING["or"]
            text = form.format(*(a.within(need) for a in (condition, then, other)))
            return Spelled(text, "" if form.endswith(")") else "if")
        return choice(condition, then, other)

    def _chain(self, chain: list[Node]) -> Spelled:
        """a <= b < c of a <= b and b < c."""
        if len(chain) == 1:
            return self.said(chain[0])
        text = self.said(chain[0].args[0]).within(0)
        for part in chain:
            text += f" {_INFIX[part.op]} {self.said(part.args[1]).within(0)}"
        return Spelled(text, "<")


def _form(form: str, args: list[Spelled]) -> Spelled:
    """A call, in which there may be an operator."""
    need = ATOM if "/" in form or "}." in form else BINDING["if"]
    return Spelled(form.format(*(a.within(need) for a in args)))


def _ones(node: Node) -> int:
    """The bits of 2**bits - 1; 0 of anything else."""
    if node.op != "sub" or node.args[1] != const(1) or node.args[0].op != "pow":
        return 0
    base, bits = node.args[0].args
    return bits.value if base == const(2) and bits.op == "const" else 0


def least(node: Node, lows: Mapping[str, int | None]) -> int | None:
    """A number that the node's value is never below, which is not below 0; None where none is
    seen. lows: the least value of names."""
    if node.op in ("const", "var"):
        low = node.value if node.op == "const" else lows.get(str(node.value))
        return low if low is not None and low >= 0 else None
    found = [low for a in node.args if (low := least(a, lows)) is not None]
    if node.op == "sub" and node.args[1].op == "const":
        low = least(node.args[0], lows)
        return low - node.args[1].value if low is not None and low >= node.args[1].value else None
    if len(found) < len(node.args):
        return None
    match node.op:
        case "add":
            return sum(found)
        case "mul":
            return prod(found)
        case "div" | "mod" | "floordiv" | "floormod" | "min" | "max" | "pow" | "and" | "or" | "xor":
            return 0
        case _:
            return None


def _chains(node: Node) -> list[list[Node]]:
    """The conditions that `and` puts together; of comparisons those in one list that Python chains."""
    found: list[list[Node]] = []
    for part in conjuncts(node):
        last = found[-1] if found else []
        if len(last) == 1 and last[0].op in ("ge", "gt") and part.op in ("lt", "le"):
            turned = Node(OPS[last[0].op].flipped, last[0].args[::-1])  # x >= 0 and x < n
            if turned.args[1] == part.args[0]:
                last[:] = [turned, part]
                continue
        if (last and {last[-1].op, part.op} <= {"lt", "le"}) or (
            last and {last[-1].op, part.op} <= {"gt", "ge"}
        ):
            if last[-1].args[1] == part.args[0]:
                last.append(part)
                continue
        found.append([part])
    return found


def conjuncts(node: Node) -> Iterator[Node]:
    """The conditions that `and` puts together, in order."""
    if node.op != "land":
        yield node
        return
    for arg in node.args:
        yield from conjuncts(arg)


def inlined(node: Node, named: Mapping[str, Node]) -> Node:
    """An expression with the values of named statements in it."""
    if node.op == "var":
        return named.get(str(node.value), node)
    return node.over(tuple(inlined(a, named) for a in node.args)) if node.args else node


def names_in(node: Node) -> list[str]:
    """The names in a relation or an expression, each once."""
    return list(dict.fromkeys(str(n.value) for n in node.walk() if n.op == "var"))


def parts(node: Node) -> Iterator[Node]:
    """The conditions that `and` puts together, each in one form."""
    return map(in_one_form, conjuncts(node))


def in_one_form(node: Node) -> Node:
    """A condition in the form that all its spellings share: a < b, n <= b against a number n, and
    the sides of == and != in the order of their text."""
    if node.op in ("land", "lor", "lnot"):
        return node.over(tuple(map(in_one_form, node.args)))
    if node.op in ("eq", "ne"):
        return node.over(tuple(sorted(node.args, key=_sides)))
    if node.op in ("gt", "ge"):
        node = Node(OPS[node.op].flipped, node.args[::-1])
    if node.op == "le" and node.args[0].op != "const":
        a, b = node.args
        return Node("lt", (a, const(b.value + 1) if b.op == "const" else _one_more(b)))
    if node.op == "lt" and node.args[0].op == "const":
        return Node("le", (const(node.args[0].value + 1), node.args[1]))
    return node


def _sides(node: Node) -> tuple[bool, str]:
    return node.op == "const", says(node)


def _one_more(node: Node) -> Node:
    if node.op == "sub" and node.args[1] == const(1):
        return node.args[0]
    return Node("add", (node, const(1)))


def bounds(condition: Node, name: str, values: Mapping[str, int]) -> tuple[Any, Any]:
    """The inclusive bounds that one of parts() gives to a name at numbers; None where it gives none."""
    if condition.op in ("lt", "le"):
        a, b = condition.args
        strict = condition.op == "lt"
        if a == var(name) and (most := evaluate(b, values)) is not None:
            return None, most - strict
        if b == var(name) and (least := evaluate(a, values)) is not None:
            return least + strict, None
    return None, None


def replaced(node: Node, made: Callable[[Node], Node], leaf: str = "var") -> Node:
    """The node with other nodes for its variables, or its tables."""
    known: dict[int, Node] = {}

    def walk(node: Node) -> Node:
        if node.op == leaf:
            return made(node)
        if not node.args:
            return node
        if id(node) not in known:
            known[id(node)] = node.over(tuple(map(walk, node.args)))
        return known[id(node)]

    return walk(node)


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The node in other names."""
    return replaced(node, lambda v: Node(v.op, (), names.get(str(v.value), v.value), v.lo, v.hi))


def with_tables(node: Node, tables: Mapping[Entries, Entries]) -> Node:
    """The node with other tables for some of its own; an array is read without what is known of it."""

    def walk(node: Node) -> Node:
        if node.op == "table":
            return replace(node, value=tables.get(node.value, node.value))
        if not node.args:
            return node
        if id(node) not in known:
            args = tuple(map(walk, node.args))
            args = args[:2] if node.op == "lookup" and args[0].value.array else args
            known[id(node)] = node.over(args)
        return known[id(node)]

    known: dict[int, Node] = {}
    return walk(node)


def with_numbers(node: Node, numbers: Mapping[str, int]) -> Node:
    """The node with numbers for names."""
    return replaced(node, lambda v: const(numbers[n]) if (n := str(v.value)) in numbers else v)


# -- evaluating ----------------------------------------------------------------------------------
