"""Rust: arithmetic that panics where it overflows, literals of the type that they meet.

Reference: https://doc.rust-lang.org/reference/expressions/operator-expr.html
"""

from __future__ import annotations

import re
from typing import Any

from ..launch import Divisions
from ..stated import whole
from ..terms import FALSE, TRUE, made, term_of
from ..text import (
    BOOL,
    DIVISOR,
    FITS,
    I8,
    I16,
    I32,
    I64,
    LITERAL,
    U8,
    U16,
    U32,
    U64,
    Machine,
    Text,
    Type,
    Value,
)
from .tree import (
    COMPARISONS,
    MOST_STEPS,
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

TYPES = {
    "i8": I8,
    "i16": I16,
    "u8": U8,
    "u16": U16,
    "i32": I32,
    "i64": I64,
    "u32": U32,
    "u64": U64,
    "usize": Type("usize", 64, False),
    "bool": BOOL,
}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
DIVISIONS = {"/": "tdiv", "%": "tmod"}
SHIFTS = {"<<": "shl", ">>": "shr"}
BITS = {"&": "and", "|": "or", "^": "xor"}
NUMBER = re.compile(
    r"(- *)?(0x[\da-fA-F_]+|0o[0-7_]+|0b[01_]+|\d[\d_]*?)_*([iu](?:8|16|32|64)|usize)?"
)


def read(source: str, language: str, divisions: Divisions) -> Text:
    """The functions of a module."""
    return _File(parsed(source, "rust"), language, divisions).text()


# What a file is made of: nothing else brings names, or changes what others mean.
ITEMS = frozenset("attribute_item const_item function_item impl_item struct_item type_item".split())
USED = frozenset({"use core::iter::FusedIterator;"})
DERIVED = r"(Clone|Copy|Debug|PartialEq|Eq|Hash)(, )?"
ATTRIBUTE = re.compile(
    rf"#\[(inline|must_use|rustfmt::skip|allow\([\w:, ]+\)|derive\(({DERIVED})+\))\]"
)


class _File(File):
    def collect(self) -> None:
        self.structs: dict[str, list[tuple[str, Type | None]]] = {}
        self.narrowest = self._narrowest()
        for node in inside(self.root):
            if node.type not in ITEMS and words(node) not in USED:
                raise unread(node, "an item that the checker does not know")
        for node in walk(self.root):
            if node.type == "function_item":
                name = words(node.child_by_field_name("name"))
                self.functions.setdefault(name, []).append(node)
            elif node.type == "const_item":
                self._table(node)
            elif node.type in ("type_item", "struct_item"):
                if words(node.child_by_field_name("name")) in TYPES:
                    raise unread(node, "another meaning of a type's name")
                if node.type == "struct_item":
                    self._struct(node)
            elif node.type == "attribute_item" and not ATTRIBUTE.fullmatch(words(node)):
                raise unread(node, "an attribute that the checker does not know")

    def _narrowest(self) -> Type:
        """What every type of the text holds that a number without a type may take; usize is none where
        values are but cast to it."""
        named = {
            words(n)
            for n in walk(self.root)
            if n.type == "primitive_type"
            and (words(n) != "usize" or n.parent.type != "type_cast_expression")
        }
        kinds = [TYPES[name] for name in named - {"bool"} if name in TYPES]
        bits = min((kind.bits or 32 for kind in kinds), default=32)
        signed = all(kind.signed for kind in kinds)
        return Type("literal of a type", min(bits, 32) - (not signed), signed)

    def _struct(self, node: Any) -> None:
        name = words(node.child_by_field_name("name"))
        fields = [
            (
                words(part.child_by_field_name("name")).removeprefix("r#"),
                TYPES.get(words(part.child_by_field_name("type"))),
            )
            for part in inside(node.child_by_field_name("body"))
        ]
        self.structs[name] = [] if name in self.structs else fields

    def _table(self, node: Any) -> None:
        """const NAME: [T; n] = [..]; any other constant is one that is not known."""
        name = words(node.child_by_field_name("name"))
        kind, value = (node.child_by_field_name(f) for f in ("type", "value"))
        found = re.match(r"&?(?:'static\s*)?\[\s*(\w+)\s*[;\]]", words(kind))
        numbers = None
        if value is not None and re.fullmatch(r"&?\[[^;\[\]]*\]", words(value)):
            array = next(n for n in walk(value) if n.type == "array_expression")
            numbers = [_number(words(n)) for n in inside(array)]
        if found is None or found[1] not in TYPES or numbers is None or None in numbers:
            self.unclear.add(name)
        else:
            self.add_table(name, TYPES[found[1]], [n[0] for n in numbers if n])

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        found = [(name, kind, False) for name, kind in self._head(node)]
        for param in inside(node.child_by_field_name("parameters")):
            pattern, kind = (param.child_by_field_name(f) for f in ("pattern", "type"))
            name = words(pattern) if pattern is not None else ""
            members = self._members(name, kind) if kind is not None else [(name, None)]
            if None in [known for _, known in members] and strict:
                raise unread(param, "a parameter of a type that no index has")
            found += [(member, known, False) for member, known in members]
        return found

    def static(self, node: Any) -> tuple[str, ...]:
        return tuple(name for name, _ in self._head(node))

    def _head(self, node: Any) -> list[tuple[str, Type | None]]:
        """(name, type) of each constant that a function is generic in."""
        head = node.child_by_field_name("type_parameters")
        found: list[tuple[str, Type | None]] = []
        for param in inside(head) if head is not None else ():
            plain = param.type == "const_parameter"
            kind = TYPES.get(words(param.child_by_field_name("type"))) if plain else None
            name = param.child_by_field_name("name")
            found.append((words(param) if name is None else words(name), kind))
        return found

    def _members(self, name: str, kind: Any) -> list[tuple[str, Type | None]]:
        """(what reads it, its type) of each integer of a parameter: of a struct, or of an array."""
        fields = self.structs.get(words(kind))
        if fields:
            return [(f"{name}.{field}", known) for field, known in fields]
        array = inside(kind)[0] if kind.type == "reference_type" else kind
        if array.type == "array_type":
            element, count = array_of(array)
            return [(f"{name}[{k}]", element) for k in range(count)]
        return [(name, TYPES.get(words(kind)))]

    def comment(self, node: Any) -> str:
        lines = comment_before(node, ("attribute_item",)).splitlines()
        return "\n".join(line for line in lines if line.startswith("///"))

    def call(self, node: Any, machine: Machine) -> Call:
        return _Call(self, node, machine)


def array_of(node: Any) -> tuple[Type, int]:
    """The type of an array's elements, and how many there are."""
    element, count = (words(node.child_by_field_name(f)) for f in ("element", "length"))
    found = _number(count)
    if element not in TYPES or found is None or not 1 <= found[0] <= MOST_STEPS:
        raise unread(node, "an array that the checker does not know")
    return TYPES[element], found[0]


def _number(text: str) -> tuple[int, Type] | None:
    """A literal's value and type; None where it is none that is known."""
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    number = int(found[2].replace("_", ""), 0 if found[2][:2] in ("0x", "0o", "0b") else 10)
    return (-number if found[1] else number), TYPES[found[3]] if found[3] else LITERAL


class _Call(Call):
    file: _File  # pyright: ignore[reportIncompatibleVariableOverride]

    def body(self) -> list[Statement]:
        found = self._block(self.node.child_by_field_name("body"), True)
        groups = {whole(name) for name, _, _ in self.file.parameters(self.node)} - {
            name for name, _, _ in self.file.parameters(self.node)
        }
        for s in found:
            if s.declares and s.target in groups:
                raise unread(s.node, "a second variable of this name")
            s.hides = s.declares
        return found

    def implicit(self, value: Value, kind: Type) -> Value:
        if value.type in (kind, LITERAL) and kind != BOOL:
            return self.machine.fits(value.term, kind) if value.type == LITERAL else value
        if value.type == kind:
            return value
        raise unread(self.node, f"a value of type {value.type.name} where {kind.name} is expected")

    # -- statements --------------------------------------------------------------------------------

    def _block(self, node: Any, is_value: bool = False) -> list[Statement]:
        """The statements of a block; is_value: its last expression is what the function returns."""
        found = []
        parts = inside(node)
        for k, part in enumerate(parts):
            last = is_value and k == len(parts) - 1 and part.type != "expression_statement"
            if part.type == "expression_statement" and words(part).endswith("}") and is_value:
                last = last or k == len(parts) - 1
            found += self._statement(
                inside(part)[0] if part.type == "expression_statement" else part, last
            )
        return found

    def _statement(self, node: Any, last: bool) -> list[Statement]:
        match node.type:
            case "let_declaration":
                pattern, value = (node.child_by_field_name(f) for f in ("pattern", "value"))
                if words(pattern) == "_":
                    return []
                if pattern.type != "identifier" or value is None:
                    raise unread(node, "a pattern that the checker does not know")
                kind = node.child_by_field_name("type")
                known = None if kind is None else self._type(kind)
                return [Statement("set", node, words(pattern), known, value, declares=True)]
            case "assignment_expression" | "compound_assignment_expr":
                left, right = (node.child_by_field_name(f) for f in ("left", "right"))
                sign = node.child_by_field_name("operator")
                value: Any = right if sign is None else (words(sign)[:-1], left, right, node)
                return [Statement("set", node, words(left), None, value)]
            case "while_expression":
                condition, body = (node.child_by_field_name(f) for f in ("condition", "body"))
                return [Statement("loop", node, value=condition, then=self._block(body))]
            case "return_expression":
                return [self._returned(node, inside(node)[0])]
            case "if_expression":
                condition = node.child_by_field_name("condition")
                then = self._block(node.child_by_field_name("consequence"), last)
                other = node.child_by_field_name("alternative")
                otherwise: list[Statement] = []
                if other is not None:
                    inner = inside(other)[0]
                    nested = inner.type == "if_expression"
                    otherwise = self._statement(inner, last) if nested else self._block(inner, last)
                return [Statement("if", node, value=condition, then=then, otherwise=otherwise)]
        if last:
            return [self._returned(node, node)]
        raise unread(node, "a statement that the checker does not know")

    def _returned(self, node: Any, value: Any) -> Statement:
        kind = self.node.child_by_field_name("return_type")
        if (value.type == "array_expression") != (kind.type == "array_type"):
            raise unread(value, "a value of another type than the function's")
        if value.type in ("tuple_expression", "array_expression"):
            return Statement("return", node, values=inside(value))
        if value.type == "struct_expression":
            names, values = [], []
            if words(value.child_by_field_name("name")) != words(kind):
                raise unread(value, "a value of another type than the function's")
            for part in inside(value.child_by_field_name("body")):
                parts = inside(part)
                names.append(words(parts[0]).removeprefix("r#"))
                values.append(parts[-1])
            return Statement("return", node, values=values, names=tuple(names))
        return Statement("return", node, values=[value])

    def _type(self, node: Any) -> Type:
        if words(node) not in TYPES:
            raise unread(node, "a type that the checker does not know")
        return TYPES[words(node)]

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        kind = self.node.child_by_field_name("return_type")
        if kind is not None and words(kind) == "bool":
            return (self.implicit(values[0], BOOL),)
        if kind is not None and kind.type == "primitive_type":
            return (self.implicit(values[0], self._type(kind)),)
        if kind is not None and kind.type == "tuple_type":
            types = [self._type(n) for n in inside(kind)]
            return tuple(self.implicit(v, t) for v, t in zip(values, types, strict=True))
        if kind is not None and kind.type == "array_type":
            element, count = array_of(kind)
            if count != len(values):
                raise unread(kind, f"a function that returns {len(values)} values of this type")
            return tuple(self.implicit(v, element) for v in values)
        fields = dict(self.file.structs.get(words(kind), ()))
        types = [fields.get(name) for name in self.names]
        if len(fields) != len(types) or None in types:
            raise unread(kind, f"a function that returns {len(values)} values of this type")
        return tuple(self.implicit(v, t) for v, t in zip(values, types, strict=True) if t)

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
        if isinstance(node, tuple):
            sign, left, right, whole = node
            return self._binary(whole, sign, self.value(left, scope), self.value(right, scope))
        match node.type:
            case "integer_literal":
                found = _number(words(node))
                if found is not None:
                    return Value(term_of(found[0]), found[1])
            case "boolean_literal":
                return Value(TRUE if words(node) == "true" else FALSE, BOOL)
            case "identifier" | "shorthand_field_initializer":
                if words(node) in scope:
                    return scope[words(node)]
            case "parenthesized_expression":
                return self.value(inside(node)[0], scope)
            case "block":
                if len(inside(node)) == 1:
                    last = inside(node)[0]  # an if at the end of a block is read as a statement
                    if last.type == "expression_statement" and not words(last).endswith(";"):
                        last = inside(last)[0]
                    return self.value(last, scope)
            case "unary_expression":
                return self._unary(node, scope)
            case "binary_expression":
                return self._infix(node, scope)
            case "if_expression":
                return self._if(node, scope)
            case "type_cast_expression":
                value = self.value(node.child_by_field_name("value"), scope)
                kind = self._type(node.child_by_field_name("type"))
                self.machine.at(node)
                if kind is not BOOL:
                    return self.machine.converted(value, kind)
            case "index_expression":
                return self._entry(node, scope)
            case "field_expression":
                owner, field = (node.child_by_field_name(f) for f in ("value", "field"))
                name = f"{words(owner)}.{words(field).removeprefix('r#')}"
                if owner.type == "identifier" and name in scope:
                    return scope[name]
            case "call_expression":
                return self._call(node, scope)
            case "scoped_identifier":
                return self._constant(node)
        raise unread(node, "an expression that the checker does not know")

    def _constant(self, node: Any) -> Value:
        kind, _, name = words(node).partition("::")
        values = {"MAX": lambda t: t.highest, "MIN": lambda t: t.lowest, "BITS": lambda t: t.bits}
        if kind not in TYPES or name not in values:
            raise unread(node, "a name that is not known here")
        return Value(term_of(values[name](TYPES[kind])), U32 if name == "BITS" else TYPES[kind])

    def _unary(self, node: Any, scope: Scope) -> Value:
        sign, value = words(node)[0], self.value(inside(node)[0], scope)
        self.machine.at(node)
        if sign == "-":
            return self.machine.arithmetic("sub", Value(term_of(0), value.type), value, value.type)
        if sign == "!" and value.type == BOOL:
            return Value(made("lnot", value.term), BOOL)
        if sign == "!" and value.type != LITERAL:
            if value.type.signed:
                return self.machine.bits("not", [value], value.type)
            return Value(made("sub", value.type.highest, value.term), value.type)
        raise unread(node, "an operator that the checker does not know")

    def _same(self, node: Any, a: Value, b: Value) -> tuple[Value, Value, Type]:
        kind = b.type if a.type == LITERAL else a.type
        if b.type not in (kind, LITERAL):
            raise unread(node, f"operands of types {a.type.name} and {b.type.name}")
        return self.implicit(a, kind), self.implicit(b, kind), kind

    def _infix(self, node: Any, scope: Scope) -> Value:
        sign = words(node.child_by_field_name("operator"))
        left, right = (node.child_by_field_name(f) for f in ("left", "right"))
        a = self.value(left, scope)
        if sign in ("&&", "||"):
            with self.machine.under(a.term if sign == "&&" else made("lnot", a.term)):
                b = self.value(right, scope)
            return Value(made("land" if sign == "&&" else "lor", a.term, b.term), BOOL)
        return self._binary(node, sign, a, self.value(right, scope))

    def _binary(self, node: Any, sign: str, a: Value, b: Value) -> Value:
        self.machine.at(node)
        if a.type == LITERAL and (b.type == LITERAL or sign in SHIFTS):
            # The type is found from what is around it. Of numbers the compiler says whether they
            # overflow; of what is not known before it runs, the narrowest type of the text must do.
            known = None not in (a.term.constant, b.term.constant)
            kind = Type("literal of a type", None) if known else self.file.narrowest
            a, b = (self.machine.fits(v.term, kind) if v.type == LITERAL else v for v in (a, b))
            found = self._binary(node, sign, a, b)
            return Value(found.term, LITERAL) if found.type == kind else found
        if sign in SHIFTS:
            return self.machine.shifted(SHIFTS[sign], a, b, a.type)
        if a.type == b.type == BOOL:
            if sign in ("==", "!="):
                same = made(
                    "lor",
                    made("land", a.term, b.term),
                    made("land", made("lnot", a.term), made("lnot", b.term)),
                )
                return Value(same if sign == "==" else made("lnot", same), BOOL)
            if sign in ("&", "|"):
                return Value(made("land" if sign == "&" else "lor", a.term, b.term), BOOL)
        a, b, kind = self._same(node, a, b)
        if sign in ARITHMETIC:
            return self.machine.arithmetic(ARITHMETIC[sign], a, b, kind)
        if sign in DIVISIONS:
            if self.machine.depth and kind.signed and kind.bits:
                both = made("land", made("eq", a.term, kind.lowest), made("eq", b.term, -1))
                self.machine.demand(FITS, made("lnot", both))
            return self.machine.divided(DIVISIONS[sign], a, b, kind)
        if sign in BITS:
            return self.machine.bits(BITS[sign], [a, b], kind)
        if sign in COMPARISONS:
            return self.compared(sign, a, b)
        raise unread(node, "an operator that the checker does not know")

    def _if(self, node: Any, scope: Scope) -> Value:
        condition = self.value(node.child_by_field_name("condition"), scope)
        other = node.child_by_field_name("alternative")
        if other is None:
            raise unread(node, "an if without an else")
        with self.machine.under(condition.term):
            a = self.value(node.child_by_field_name("consequence"), scope)
        with self.machine.under(made("lnot", condition.term)):
            b = self.value(inside(other)[0], scope)
        if a.type == b.type == BOOL:
            return Value(made("select", condition.term, a.term, b.term), BOOL)
        a, b, kind = self._same(node, a, b)
        return self.machine.chosen(condition, a, b, kind)

    def _entry(self, node: Any, scope: Scope) -> Value:
        table, place = inside(node)
        if table.type == "identifier" and f"{words(table)}[0]" in scope:
            found = _number(words(place)) if place.type == "integer_literal" else None
            name = f"{words(table)}[{found[0]}]" if found else ""
            if name not in scope:
                raise unread(node, "an element that the array does not have")
            return scope[name]
        kind, entries = self.file.table(node, words(table))
        at = self.value(place, scope)
        self.machine.at(node)
        return self.machine.looked_up(entries, at, kind)

    def _call(self, node: Any, scope: Scope) -> Value:
        function = node.child_by_field_name("function")
        values = [self.value(a, scope) for a in inside(node.child_by_field_name("arguments"))]
        self.machine.at(node)
        if function.type != "field_expression":
            return self.helper(node, words(function), values)
        first = self.value(function.child_by_field_name("value"), scope)
        name = words(function.child_by_field_name("field"))
        if name == "wrapping_rem" and len(values) == 1:
            a, b, kind = self._same(node, first, values[0])
            self.machine.demand(DIVISOR, b.term != 0)
            return Value(made("tmod", a.term, b.term), kind)
        if name in ("min", "max") and len(values) == 1:
            a, b, kind = self._same(node, first, values[0])
            return self.extreme(name == "min", a, b, kind)
        if name in ("div_euclid", "rem_euclid") and len(values) == 1:
            a, b, kind = self._same(node, first, values[0])
            self.machine.demand(DIVISOR, b.term > 0)  # else it rounds otherwise
            return self.machine.floored("fdiv" if name[0] == "d" else "fmod", a, b, kind)
        raise unread(node, "a function that the text does not define")
