"""JavaScript: Numbers, which are exact up to 2^53, and BigInts, which have no bounds.

Reference: ECMA-262, 6.1.6.1 (Number::divide, Number::bitwiseAND, ..), 21.3.2 (Math).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from ..launch import Divisions
from ..terms import FALSE, TRUE, Term, made, term_of
from ..text import BOOL, DIVISOR, FITS, INT53, Machine, Text, Type, Value
from .tree import (
    COMPARISONS,
    Call,
    File,
    Scope,
    Statement,
    comment_before,
    inside,
    parsed,
    unread,
    walk,
    words,
)

BIG = Type("bigint", None)
KINDS = {"number": INT53, "bigint": BIG}
# A struct, and a parameter: its type, or that of the elements of an array, its name, how many elements.
TYPEDEF = re.compile(
    r"/\*\*\n \* @typedef \{object\} (\w+)((?:\n \* @property \{(?:number|bigint)\} \w+)+)\n \*/"
)
PARAM = re.compile(r"@param \{(?:(\w+)|ArrayLike<(\w+)>)\} (\w+)(?: (\d+) elements?\b)?")
FRACTION = Type("quotient", None)  # of two Numbers, until it is rounded
ROOT = Type("root", None)  # of a Number, until it is rounded
EXACT_ROOTS = 2**52  # up to which the rounded square root of an integer lies above no next integer
ARRAYS = {
    "Int8": (-(2**7), 2**7), "Uint8": (0, 2**8), "Int16": (-(2**15), 2**15), "Uint16": (0, 2**16),
    "Int32": (-(2**31), 2**31), "Uint32": (0, 2**32), "Float64": (-(2**53) + 1, 2**53),
    "BigInt64": (-(2**63), 2**63), "BigUint64": (0, 2**64),
}  # fmt: skip
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
BITS = {"&": "and", "|": "or", "^": "xor"}
SIGNED, UNSIGNED = (-(2**31), 2**31 - 1), (0, 2**32 - 1)


TAKES: dict[str, tuple[tuple[Type, ...], ...]] = {
    "Math.trunc": ((INT53,), (FRACTION,)), "Math.floor": ((INT53,), (FRACTION,), (ROOT,)),
    "Math.sqrt": ((INT53,),), "Math.min": ((INT53, INT53),), "Math.max": ((INT53, INT53),),
    "Math.abs": ((INT53,),), "Number": ((INT53,), (BIG,), (BOOL,)), "BigInt": ((INT53,), (BIG,), (BOOL,)),
}  # fmt: skip


@dataclass(frozen=True)
class Fraction(Value):
    """term / divisor, not rounded."""

    divisor: Term


def read(source: str, language: str, divisions: Divisions) -> Text:
    """The functions of a module."""
    return _File(parsed(source, "javascript"), language, divisions).text()


# What a file is made of: nothing else brings names, or changes what others mean.
DECLARED = frozenset({"export_statement", "function_declaration", "lexical_declaration"})


class _File(File):
    def collect(self) -> None:
        self.structs: dict[str, list[tuple[str, Type]]] = {}
        for node in inside(self.root):
            if node.type not in DECLARED:
                raise unread(node, "a statement outside of the functions")
        for node in walk(self.root):
            if node.type == "comment" and (found := TYPEDEF.fullmatch(words(node))):
                fields = re.findall(r"@property \{(\w+)\} (\w+)", found[2])
                once = found[1] not in self.structs
                self.structs[found[1]] = [(f, KINDS[kind]) for kind, f in fields if once]
        for node in walk(self.root):
            if node.type == "function_declaration":
                name = words(node.child_by_field_name("name"))
                if name in self.functions:
                    raise unread(node, f"a second function {name}")
                self.functions[name] = [node]
            elif node.type == "variable_declarator":
                self._table(node)
            elif node.type == "identifier" and words(node) in MEANT and _binds(node):
                raise unread(node.parent, "another meaning of a name")
        for node in walk(self.root):
            if node.type == "identifier" and words(node) in self.tables and not _is_read(node):
                self.unclear.add(words(node))

    def _table(self, node: Any) -> None:
        value = node.child_by_field_name("value")
        array = re.fullmatch(r"(\w+)Array\.of\(([-\s\d,n]*)\)", words(value)) if value else None
        if array and array[1] in ARRAYS:
            low, high = ARRAYS[array[1]]
            numbers = [int(n.strip().removesuffix("n")) for n in array[2].split(",") if n.strip()]
            if not all(low <= n < high for n in numbers):
                raise unread(node, "an entry that the array does not hold")
            name = words(node.child_by_field_name("name"))
            self.add_table(name, BIG if array[1].startswith("Big") else INT53, numbers)

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        tags = re.findall(PARAM, self.comment(node))
        types = {name: (kind, element, int(count or 0)) for kind, element, name, count in tags}
        found = []
        for param in inside(node.child_by_field_name("parameters")):
            name = words(param)
            kind, element, count = types.get(name, ("", "", 0))
            members = [(f"{name}[{k}]", KINDS.get(element)) for k in range(count * bool(element))]
            members += [(f"{name}.{field}", known) for field, known in self.structs.get(kind, ())]
            members = members or [(name, KINDS.get(kind))]
            if strict and None in [known for _, known in members]:
                raise unread(param, "a parameter that is no Number and no BigInt")
            found += [(member, known, False) for member, known in members]
        return found

    def comment(self, node: Any) -> str:
        exported = node.parent.type == "export_statement"
        return comment_before(node.parent if exported else node)

    def call(self, node: Any, machine: Machine) -> Call:
        return _Call(self, node, machine)


SETS = ("assignment_expression", "augmented_assignment_expression", "update_expression")
MEANT = ("Math", "Number", "BigInt", *(f"{kind}Array" for kind in ARRAYS))


def _binds(node: Any) -> bool:
    """Whether an identifier, or a part of what it is, gets a meaning here."""
    used = ("call_expression", "member_expression", "new_expression")
    return node.parent.type not in used or _is_set(node.parent)


def _is_set(node: Any) -> bool:
    within = node.parent.type
    return within == "array_pattern" or (within in SETS and node.parent.children[0] == node)


def _is_read(node: Any) -> bool:
    """Whether a table stands here for one of its entries, or is made or exported."""
    if node.parent.type == "subscript_expression":
        return node.parent.child_by_field_name("object") == node and not _is_set(node.parent)
    return node.parent.type in ("variable_declarator", "export_specifier")


class _Call(Call):
    def body(self) -> list[Statement]:
        self.variables = {name for name, _, _ in self.file.parameters(self.node)}
        return self._block(self.node.child_by_field_name("body"))

    def implicit(self, value: Value, kind: Type) -> Value:
        if value.type == kind:
            return value
        raise unread(self.node, f"a {value.type.name} where a {kind.name} is expected")

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        truth = "@returns {boolean}" in self.file.comment(self.node)
        for value in values:
            if value.type not in ((BOOL,) if truth else (INT53, BIG)):
                raise unread(self.node, f"a {value.type.name} is returned")
        return values

    # -- statements --------------------------------------------------------------------------------

    def _block(self, node: Any) -> list[Statement]:
        if node.type != "statement_block":
            return self._statements(node)
        return [s for n in inside(node) for s in self._statements(n)]

    def _statements(self, node: Any) -> list[Statement]:
        match node.type:
            case "lexical_declaration":
                names = {words(n.child_by_field_name("name")) for n in inside(node)}
                if words(node).startswith("const"):
                    self.variables -= names
                else:
                    self.variables |= names
                return [
                    Statement(
                        "set",
                        node,
                        words(n.child_by_field_name("name")),
                        None,
                        n.child_by_field_name("value"),
                        declares=True,
                    )
                    for n in inside(node)
                ]
            case "return_statement":
                if not inside(node) or inside(node)[0].start_point[0] != node.start_point[0]:
                    raise unread(node, "it returns nothing")
                return [self._return(node, inside(node)[0])]
            case "if_statement":
                other = node.child_by_field_name("alternative")
                return [
                    Statement(
                        "if",
                        node,
                        value=node.child_by_field_name("condition"),
                        then=self._block(node.child_by_field_name("consequence")),
                        otherwise=self._block(inside(other)[0]) if other else (),
                    )
                ]
            case "while_statement":
                body = self._block(node.child_by_field_name("body"))
                return [
                    Statement("loop", node, value=node.child_by_field_name("condition"), then=body)
                ]
            case "expression_statement":
                return [self._assignment(inside(node)[0])]
        raise unread(node, "a statement that the checker does not know")

    def _assignment(self, node: Any) -> Statement:
        if node.type not in ("assignment_expression", "augmented_assignment_expression"):
            raise unread(node, "an expression whose value is not used")
        left, right = (node.child_by_field_name(f) for f in ("left", "right"))
        if left.type != "identifier":
            raise unread(left, "what is set is not a variable")
        if words(left) not in self.variables:
            raise unread(node, "what is set is not a variable")
        value: Any = right
        if node.type.startswith("augmented"):
            value = words(node.child_by_field_name("operator"))[:-1], left, right, node
        return Statement("set", node, words(left), None, value)

    def _return(self, node: Any, value: Any) -> Statement:
        if value.type == "array":
            if len(inside(value)) == 1 and "@returns {[" not in self.file.comment(self.node):
                raise unread(value, "an array is returned")
            return Statement("return", node, values=inside(value))
        if value.type == "object":
            names, values = [], []
            for part in inside(value):
                pair = part.type == "pair"
                names.append(words(part.child_by_field_name("key") if pair else part))
                values.append(part.child_by_field_name("value") if pair else part)
            return Statement("return", node, values=values, names=tuple(names))
        return Statement("return", node, values=[value])

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
        found = self._value(node, scope)
        if found.type in (FRACTION, ROOT):
            raise unread(self.node if isinstance(node, tuple) else node, "it is not rounded")
        return found

    def _value(self, node: Any, scope: Scope) -> Value:
        """It may be a quotient or a root that is not rounded."""
        if node is None:
            raise unread(self.node, "an expression is missing")
        if isinstance(node, tuple):
            sign, left, right, whole = node
            return self._binary(whole, sign, self.value(left, scope), self.value(right, scope))
        match node.type:
            case "number":
                text = words(node).replace("_", "")
                if re.fullmatch(r"(0x[0-9a-fA-F]+|0|[1-9]\d*)n?", text):
                    number = int(text.removesuffix("n"), 0)
                    if text.endswith("n") or number <= (INT53.highest or 0):
                        return Value(term_of(number), BIG if text.endswith("n") else INT53)
            case "true" | "false":
                return Value(TRUE if node.type == "true" else FALSE, BOOL)
            case "identifier" | "shorthand_property_identifier":
                if words(node) in scope:
                    return scope[words(node)]
            case "parenthesized_expression":
                return self._value(inside(node)[0], scope)
            case "unary_expression":
                return self._unary(node, scope)
            case "binary_expression":
                return self._infix(node, scope)
            case "ternary_expression":
                return self._conditional(node, scope)
            case "member_expression" if words(node) == "Number.MAX_SAFE_INTEGER":
                return Value(term_of(INT53.highest or 0), INT53)
            case "member_expression" if words(inside(node)[0]) not in scope:
                name = ".".join(map(words, inside(node)))
                if name in scope:
                    return scope[name]
            case "call_expression":
                return self._call(node, scope)
            case "subscript_expression":
                return self._entry(node, scope)
        raise unread(node, "an expression that the checker does not know")

    def _unary(self, node: Any, scope: Scope) -> Value:
        sign = words(node.child_by_field_name("operator"))
        value = self.value(node.child_by_field_name("argument"), scope)
        self.machine.at(node)
        if sign == "!" and value.type == BOOL:
            return Value(made("lnot", value.term), BOOL)
        if value.type not in (INT53, BIG):
            raise unread(node, f"of a {value.type.name}")
        if sign == "-":
            return self.machine.arithmetic("sub", Value(term_of(0), value.type), value, value.type)
        if sign == "~":
            if value.type == INT53:
                self._within(value, SIGNED)
            return Value(made("not", value.term), value.type)
        raise unread(node, "an operator that the checker does not know")

    def _within(self, value: Value, bounds: tuple[int, int]) -> None:
        low, high = bounds
        self.machine.demand(FITS, made("land", value.term >= low, value.term <= high))

    def _bits_fit(self, sign: str, a: Value, b: Value) -> None:
        """Both have 32 bits with the sign; of an & one of 31 bits is enough: it masks the rest."""
        signed, narrow = (
            [made("land", v.term >= low, v.term <= high) for v in (a, b)]
            for low, high in (SIGNED, (0, SIGNED[1]))
        )
        holds = made("land", *signed)
        if sign == "&":
            holds = made("lor", holds, made("lor", *narrow))
        self.machine.demand(FITS, holds)

    def _infix(self, node: Any, scope: Scope) -> Value:
        sign = words(node.child_by_field_name("operator"))
        left, right = (node.child_by_field_name(f) for f in ("left", "right"))
        if sign == ">>>" and words(right) == "0":
            return self._unsigned(left, scope)
        if sign == "|" and words(right) == "0":
            return self._binary(node, sign, self._value(left, scope), self.value(right, scope))
        a = self.value(left, scope)
        if sign in ("&&", "||"):
            with self.machine.under(a.term if sign == "&&" else made("lnot", a.term)):
                b = self.value(right, scope)
            if (a.type, b.type) != (BOOL, BOOL):
                raise unread(node, "not of truth values")
            return Value(made("land" if sign == "&&" else "lor", a.term, b.term), BOOL)
        return self._binary(node, sign, a, self.value(right, scope))

    def _unsigned(self, node: Any, scope: Scope) -> Value:
        """x >>> 0, of a quotient or of a bit operation on numbers below 2^32."""
        while node.type == "parenthesized_expression":
            node = inside(node)[0]
        if node.type == "binary_expression":
            sign = words(node.child_by_field_name("operator"))
            if sign in (*BITS, "<<"):
                a, b = (
                    self._operand(node.child_by_field_name(f), scope) for f in ("left", "right")
                )
                self.machine.at(node)
                if sign == "<<":
                    self._distance(b)
                    found = Value(made("shl", a.term, b.term), INT53)
                else:
                    self._within(b, UNSIGNED)
                    found = Value(made(BITS[sign], a.term, b.term), INT53)
                self._within(a, UNSIGNED)
                self._within(found, UNSIGNED)
                return found
        if node.type == "unary_expression" and words(node).startswith("~"):
            a = self._operand(node.child_by_field_name("argument"), scope)
            self._within(a, UNSIGNED)
            return Value(made("sub", 2**32 - 1, a.term), INT53)
        value = self._value(node, scope)
        self.machine.at(node)
        value = self._truncated(value)
        if value.type != INT53:
            raise unread(node, f"a {value.type.name} >>> 0")
        self._within(value, UNSIGNED)
        return value

    def _operand(self, node: Any, scope: Scope) -> Value:
        """An operand of a bit operation whose result is made unsigned: what it holds of bits."""
        while node.type == "parenthesized_expression":
            node = inside(node)[0]
        if node.type == "binary_expression":
            sign = words(node.child_by_field_name("operator"))
            if sign in (*BITS, "<<"):
                return self._unsigned(node, scope)
        if node.type == "unary_expression" and words(node).startswith("~"):
            return self._unsigned(node, scope)
        found = self.value(node, scope)
        if found.type != INT53:
            raise unread(node, f"an operand of type {found.type.name}")
        return found

    def _distance(self, b: Value) -> None:
        self.machine.demand("shift", made("land", b.term >= 0, b.term < 32))

    def _truncated(self, value: Value) -> Value:
        """A quotient rounded towards zero."""
        if not isinstance(value, Fraction):
            return value
        return self.machine.divided(
            "tdiv", Value(value.term, INT53), Value(value.divisor, INT53), INT53
        )

    def _binary(self, node: Any, sign: str, a: Value, b: Value) -> Value:
        self.machine.at(node)
        if sign in ("===", "!==") and a.type == b.type == BOOL:
            same = made(
                "lor",
                made("land", a.term, b.term),
                made("land", made("lnot", a.term), made("lnot", b.term)),
            )
            return Value(same if sign == "===" else made("lnot", same), BOOL)
        if sign == "|" and isinstance(a, Fraction) and b.term.constant == 0:
            found = self._truncated(a)
            self._within(found, SIGNED)
            return found
        if a.type != b.type or a.type not in (INT53, BIG):
            raise unread(node, f"operands of types {a.type.name} and {b.type.name}")
        kind = a.type
        if sign in ARITHMETIC:
            return self.machine.arithmetic(ARITHMETIC[sign], a, b, kind)
        if sign == "/" and kind == INT53:
            return Fraction(a.term, FRACTION, b.term)
        if sign in ("/", "%"):
            return self.machine.divided("tdiv" if sign == "/" else "tmod", a, b, kind)
        if sign in ("<<", ">>"):
            if kind == INT53:
                self._distance(b)
                self._within(a, SIGNED)
            found = self.machine.shifted("shl" if sign == "<<" else "shr", a, b, kind)
            if kind == INT53:
                self._within(found, SIGNED)
            return found
        if sign == ">>>" and kind == INT53:
            self._distance(b)
            self._within(a, UNSIGNED)
            return Value(made("shr", a.term, b.term), INT53)
        if sign in BITS:
            if kind == INT53:
                self._bits_fit(sign, a, b)
            return Value(made(BITS[sign], a.term, b.term), kind)
        plain = {"===": "==", "!==": "!="}.get(sign, sign)
        if plain in COMPARISONS:
            return self.compared(plain, a, b)
        raise unread(node, "an operator that the checker does not know")

    def _conditional(self, node: Any, scope: Scope) -> Value:
        condition = self.value(node.child_by_field_name("condition"), scope)
        with self.machine.under(condition.term):
            a = self.value(node.child_by_field_name("consequence"), scope)
        with self.machine.under(made("lnot", condition.term)):
            b = self.value(node.child_by_field_name("alternative"), scope)
        if condition.type != BOOL or a.type != b.type:
            raise unread(node, f"branches of types {a.type.name} and {b.type.name}")
        return self.machine.chosen(condition, a, b, a.type)

    def _entry(self, node: Any, scope: Scope) -> Value:
        table = words(node.child_by_field_name("object"))
        if f"{table}[0]" in scope:
            name = f"{table}[{words(node.child_by_field_name('index'))}]"
            if table in scope or name not in scope:
                raise unread(node, "an element that the array does not have")
            return scope[name]
        kind, numbers = self.file.table(node, table)
        place = self.value(node.child_by_field_name("index"), scope)
        if table in scope or place.type not in (INT53, BIG):
            raise unread(node, "not a place in a table")
        self.machine.at(node)
        return self.machine.looked_up(numbers, place, kind)

    def _call(self, node: Any, scope: Scope) -> Value:
        name = words(node.child_by_field_name("function"))
        arguments = inside(node.child_by_field_name("arguments"))
        rounded = name in ("Math.trunc", "Math.floor")
        values = [(self._value if rounded else self.value)(a, scope) for a in arguments]
        self.machine.at(node)
        types = tuple(v.type for v in values)
        if name in TAKES and types not in TAKES[name]:
            raise unread(node, f"of {', '.join(t.name for t in types) or 'nothing'}")
        first = values[0] if values else None
        if first is None:
            return self.helper(node, name, values)
        match name:
            case "Math.trunc" | "Math.floor" if first.type == INT53:
                return first
            case "Math.trunc":
                return self._truncated(first)
            case "Math.floor" if isinstance(first, Fraction):
                a, b = first.term, first.divisor  # it rounds down whatever the divisor's sign is
                self.machine.demand(DIVISOR, made("lor", b > 0, b < 0))
                return self.machine.fits(made("fdiv", a, b), INT53)
            case "Math.floor" if first.type == ROOT:
                number = first.term.constant
                if number is not None:  # it may be one too large
                    return Value(term_of(int(math.sqrt(number))), INT53)
                self.machine.demand(FITS, first.term <= EXACT_ROOTS)
                self.machine.trusted.add("Math.sqrt rounds to nearest")
                return Value(made("isqrt", first.term), INT53)
            case "Math.sqrt":
                self.machine.demand(FITS, first.term >= 0)
                if first.term.constant is not None and first.term.constant < 0:
                    raise unread(node, "the square root of a negative number")
                return Value(first.term, ROOT)
            case "Math.min" | "Math.max":
                return self.extreme(name == "Math.min", first, values[1], first.type)
            case "Math.abs":
                return self.machine.fits(abs(first.term), first.type)
            case "Number":
                return self.machine.converted(first, INT53)
            case "BigInt":
                return self.machine.converted(first, BIG)
        return self.helper(node, name, values)
