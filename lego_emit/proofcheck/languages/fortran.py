"""Fortran: integers of a kind, whose overflow is not defined; both arms of merge are evaluated.

Names are the same in capitals and in small letters. An integer of no kind has 32 bits.
Reference: Fortran 2018, 10.1.5.2 (numeric intrinsic operations), 16.9 (intrinsic procedures).
"""

from __future__ import annotations

import re
from typing import Any

from ..launch import Divisions
from ..terms import FALSE, TRUE, made, term_of
from ..text import BOOL, FITS, I8, I16, I32, I64, Machine, Text, Type, Value
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

KINDS = {"int8": I8, "int16": I16, "int32": I32, "int64": I64, "kind(1)": I32, "": I32}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
BITS = {"iand": "and", "ior": "or", "ieor": "xor"}
RELATIONS = {
    ".lt.": "<",
    ".le.": "<=",
    ".gt.": ">",
    ".ge.": ">=",
    ".eq.": "==",
    ".ne.": "!=",
    "/=": "!=",
}
LOGICAL = {".and.": "land", ".or.": "lor"}
TABLE = re.compile(
    r"integer(?:\((\w+)\))?, *parameter *:: *(\w+)\((?:(-?\d+) *: *)?(\d+)\) *= *\[(?:[^:\]]*::)?"
    r"(\s*-?\d+(?:_\w+)?(?:\s*,\s*-?\d+(?:_\w+)?)*\s*)\]"
)
USED = re.compile(
    r"use, *intrinsic *:: *iso_(?:fortran_env|c_binding), *only *: *[\w, ]+", re.IGNORECASE
)
DIRECTIVE = re.compile(r"!\w*\$")
MOST_ELEMENTS = 4096  # of an array
INTRINSIC = {"int", "merge", "mod", "modulo", "min", "max", "not", "shiftl", "shifta", "shiftr",
             "bit_size", "abs", "huge", *BITS}  # fmt: skip


def read(source: str, language: str, divisions: Divisions) -> Text:
    """The procedures of a module."""
    return _File(parsed(source, "fortran"), language, divisions).text()


class _File(File):
    def collect(self) -> None:
        self.starts: dict[str, int] = {}
        self.structs: dict[str, list[tuple[str, Type | None]]] = {}
        for node in walk(self.root):
            if node.type in ("function", "subroutine") and inside(node):
                name = words(inside(node)[0].child_by_field_name("name"))
                self.functions.setdefault(name, []).append(node)
            elif node.type == "derived_type_definition":
                self._struct(node)
            elif node.type == "variable_declaration":
                self._table(node)
                declared = map(_named, node.children_by_field_name("declarator"))
                if any(words(n).lower() in (*KINDS, *INTRINSIC) for n in declared):
                    raise unread(node, "another meaning of a name")
            elif node.type == "use_statement" and not USED.fullmatch(words(node).strip()):
                raise unread(node, "names from elsewhere")
            elif node.type == "implicit_statement" and words(node).lower() != "implicit none":
                raise unread(node, "types of names by their first letters")
            elif node.type == "comment" and DIRECTIVE.match(words(node)):
                raise unread(node, "a comment that some compilers read")
        functions = {*map(str.lower, self.functions)}
        for name in (*functions, *self.structs):
            if name in INTRINSIC or (name in self.structs and name in functions):
                raise unread(self.root, f"another meaning of {name}")

    def _struct(self, node: Any) -> None:
        head, *parts, _ = inside(node)
        name = words(inside(head)[-1]).lower()
        fields = [
            (words(field), self.kind(part.child_by_field_name("type")))
            for part in parts
            for field in part.children_by_field_name("declarator")
        ]
        if name in self.structs or len({field.lower() for field, _ in fields}) != len(fields):
            raise unread(node, "a second meaning of a name")
        self.structs[name] = fields

    def shape(self, part: Any) -> list[tuple[str, Type | None]] | None:
        """(what reads it in a comment, behind the name, its type) of each integer of what a declaration
        declares, a structure or an array; None where it declares something else."""
        kind = part.child_by_field_name("type")
        if kind is not None and kind.type == "derived_type":
            fields = self.structs.get(words(inside(kind)[0]).lower())
            plain = "dimension" not in words(part).lower()
            return [(f".{field}", k) for field, k in fields] if fields and plain else None
        sizes = re.findall(r"\bdimension *\( *(\d+) *\)", words(part).lower())
        element = self.kind(kind)
        if len(sizes) != 1 or element is None or not 1 <= int(sizes[0]) <= MOST_ELEMENTS:
            return None
        return [(f"[{k}]", element) for k in range(int(sizes[0]))]

    def grouped(self, node: Any) -> dict[str, tuple[list[tuple[str, Type | None]], bool]]:
        """(the members, whether it is a parameter that is only read) of each structure and each array of a
        procedure, its result included, by small letters."""
        head, *parts = inside(node)
        found: dict[str, tuple[list[tuple[str, Type | None]], bool]] = {}
        for part in parts:
            if part.type != "variable_declaration" or (shape := self.shape(part)) is None:
                continue
            for declarator in part.children_by_field_name("declarator"):
                if declarator.type == "identifier":
                    read = re.search(r"\bintent *\( *in *\)", words(part).lower()) is not None
                    found[words(declarator).lower()] = shape, read
        of_head = next((n for n in inside(head) if n.type == "derived_type"), None)
        if of_head is not None:
            fields = self.structs.get(words(inside(of_head)[0]).lower(), [])
            found[self.result(node).lower()] = [(f".{f}", k) for f, k in fields], False
        return found

    def result(self, node: Any) -> str:
        """The name of a function's result."""
        head = inside(node)[0]
        found = re.search(r"result *\( *(\w+) *\)", words(head).lower())
        return found[1] if found else words(head.child_by_field_name("name"))

    def _table(self, node: Any) -> None:
        text = re.sub(r"&\s*\n\s*&?", " ", words(node))
        found = TABLE.fullmatch(text.strip())
        if found is None or (found[1] or "") not in KINDS:
            return
        name, start = found[2].lower(), int(found[3] or 1)
        numbers = [int(n.partition("_")[0]) for n in re.split(r"\s*,\s*", found[5].strip())]
        self.add_table(name, KINDS[found[1] or ""], numbers)
        if self.starts.setdefault(name, start) != start:
            self.unclear.add(name)

    def declared(self, node: Any) -> dict[str, tuple[Type | None, bool]]:
        """(type, whether it is for a result) of each variable of a procedure, by small letters."""
        found: dict[str, tuple[Type | None, bool]] = {}
        params = inside(node)[0].child_by_field_name("parameters")
        listed = [words(n).lower() for n in inside(params)] if params is not None else []
        for part in inside(node):
            if part.type != "variable_declaration":
                continue
            kind = self.kind(part.child_by_field_name("type"))
            text = words(part).lower()
            plain = "dimension" not in text and "parameter" not in text
            passed = "intent(" in text
            for declarator in part.children_by_field_name("declarator"):
                single = declarator.type == "identifier" and plain
                name = words(_named(declarator)).lower()
                known = single and passed == (name in listed)
                found[name] = kind if known else None, "intent(out)" in text
        return found

    def kind(self, node: Any) -> Type | None:
        """The type that integer(kind) names, or logical."""
        if node is not None and words(node).lower() == "logical":
            return BOOL
        if node is None or not words(node).lower().startswith("integer"):
            return None
        kind = node.child_by_field_name("kind")
        return KINDS.get("" if kind is None else words(kind).strip("()").lower())

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        head = inside(node)[0]
        declared, grouped = self.declared(node), self.grouped(node)
        listed = head.child_by_field_name("parameters")
        found: list[tuple[str, Any, bool]] = []
        for param in inside(listed) if listed is not None else ():
            members, read = grouped.get(words(param).lower(), ([], False))
            if members and read and None not in [k for _, k in members]:
                found += [(f"{words(param)}{member}", k, False) for member, k in members]
                continue
            kind, out = declared.get(words(param).lower(), (None, False))
            if kind is None and strict:
                raise unread(param, "a parameter of a type that no index has")
            found.append((words(param), kind, out))
        if node.type == "function":
            name = self.result(node)
            members, _ = grouped.get(name.lower(), ([], False))
            if members:
                found += [(f"{name}{member}", k, True) for member, k in members]
                return found
            known = declared.get(name.lower(), (None, False))[0]
            found.append((name, known or self.kind(head.child_by_field_name("type")), True))
        return found

    def comment(self, node: Any) -> str:
        return comment_before(node)

    def call(self, node: Any, machine: Machine) -> Call:
        return _Call(self, node, machine)


def _named(declarator: Any) -> Any:
    """The name that is declared."""
    return next((n for n in walk(declarator) if n.type == "identifier"), declarator)


class _Call(Call):
    file: _File  # pyright: ignore[reportIncompatibleVariableOverride]

    def key(self, name: str) -> str:
        return name.lower()

    def body(self) -> list[Statement]:
        self.declared = self.file.declared(self.node)
        self.grouped = self.file.grouped(self.node)
        self.kinds = {n.lower(): kind for n, kind, _ in self.file.parameters(self.node)}
        self.kinds.update((n, kind) for n, (kind, _) in self.declared.items() if kind)
        return [s for n in inside(self.node)[1:] for s in self._statement(n)]

    def implicit(self, value: Value, kind: Type) -> Value:
        if value.type == kind:
            return value
        if BOOL in (value.type, kind):
            raise unread(
                self.node, "a truth value where a number is expected, or the other way round"
            )
        return self.machine.fits(value.term, kind)

    # -- statements --------------------------------------------------------------------------------

    def _statement(self, node: Any) -> list[Statement]:
        match node.type:
            case "variable_declaration" | "associate_statement" | "end_function_statement":
                return []
            case "end_subroutine_statement" | "end_do_loop_statement" | "end_if_statement":
                return []
            case "assignment_statement":
                left, right = (node.child_by_field_name(f) for f in ("left", "right"))
                if left.type == "identifier":
                    name = words(left).lower()
                    if name in self.grouped:
                        return self._aggregate(node, name, right)
                    kind = self.kinds.get(name)
                    if kind is None:
                        raise unread(left, "no integer of the procedure")
                    return [Statement("set", node, name, kind, right)]
            case "if_statement":
                return [self._if(node)]
            case "do_loop":
                head, *body = inside(node)
                condition = next((n for n in walk(head) if n.type == "while_statement"), None)
                if condition is not None:
                    then = [s for n in body for s in self._statement(n)]
                    return [Statement("loop", node, value=inside(condition)[0], then=then)]
        raise unread(node, "a statement that the checker does not know")

    def _aggregate(self, node: Any, name: str, value: Any) -> list[Statement]:
        """The assignment of a structure or an array to the result, as one for each member."""
        members, _ = self.grouped[name]
        is_struct = members[0][0][0] == "."
        parts = None
        if self.node.type != "function" or name != self.file.result(self.node).lower():
            raise unread(node, "a structure or an array that is set and is no result")
        if not is_struct and value.type == "array_literal":
            parts = inside(value)
        elif is_struct and value.type == "call_expression":
            function, arguments = inside(value)
            own = self.file.structs.get(words(function).lower())
            if own is not None and [f".{field}" for field, _ in own] == [m for m, _ in members]:
                parts = inside(arguments)
                self.names = tuple(field for field, _ in own)
        if parts is None or len(parts) != len(members):
            raise unread(node, "what is no constructor of the result")
        pairs = zip(members, parts, strict=True)
        return [Statement("set", node, f"{name}{m}".lower(), k, part) for (m, k), part in pairs]

    def _member(self, node: Any, scope: Scope) -> Value:
        """A component of a parameter, or an element of one, at a number."""
        owner, *rest = inside(node)
        name = words(owner).lower()
        members, read = self.grouped.get(name, ([], False))
        if node.type == "derived_type_member_expression":
            key = f".{words(rest[0]).lower()}"
        else:
            (place,) = inside(rest[0]) if len(inside(rest[0])) == 1 else (node,)
            text = words(place)
            key = f"[{int(text) - 1}]" if text.isdecimal() else ""
        if not read or key not in [m.lower() for m, _ in members]:
            raise unread(node, "a member that the parameter has not, or that is read at a variable")
        return scope[f"{name}{key}"]

    def _if(self, node: Any) -> Statement:
        condition, *parts = inside(node)
        then: list[Statement] = []
        otherwise: list[Statement] = []
        for part in parts:
            if part.type == "else_clause":
                otherwise += [s for n in inside(part) for s in self._statement(n)]
            elif part.type == "elseif_clause":
                raise unread(part, "a statement that the checker does not know")
            else:
                then += self._statement(part)
        return Statement("if", node, value=condition, then=then, otherwise=otherwise)

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
        match node.type:
            case "number_literal":
                number, _, kind = words(node).lower().partition("_")
                if number.isdigit() and kind in KINDS:
                    return self.machine.fits(term_of(int(number)), KINDS[kind])
            case "boolean_literal":
                return Value(TRUE if "true" in words(node).lower() else FALSE, BOOL)
            case "identifier":
                if words(node).lower() in scope:
                    return scope[words(node).lower()]
            case "parenthesized_expression":
                return self.value(inside(node)[0], scope)
            case "unary_expression" | "logical_expression" if (
                node.child_by_field_name("left") is None
            ):
                return self._unary(node, scope)
            case "math_expression" | "relational_expression" | "logical_expression":
                return self._binary(node, scope)
            case "derived_type_member_expression":
                return self._member(node, scope)
            case "call_expression" if words(inside(node)[0]).lower() in self.grouped:
                return self._member(node, scope)
            case "call_expression":
                return self._call(node, scope)
        raise unread(node, "an expression that the checker does not know")

    def _unary(self, node: Any, scope: Scope) -> Value:
        sign = words(node.child_by_field_name("operator")).lower()
        value = self.value(node.child_by_field_name("argument"), scope)
        self.machine.at(node)
        if sign == ".not." and value.type == BOOL:
            return Value(made("lnot", value.term), BOOL)
        if sign == "-" and value.type != BOOL:
            return self.machine.arithmetic("sub", Value(term_of(0), value.type), value, value.type)
        raise unread(node, "an operator that the checker does not know")

    def _common(self, a: Value, b: Value) -> tuple[Value, Value, Type]:
        kind = max(a.type, b.type, key=lambda t: t.bits or 0)
        return self.implicit(a, kind), self.implicit(b, kind), kind

    def _binary(self, node: Any, scope: Scope) -> Value:
        left, operator, right = (node.child_by_field_name(f) for f in ("left", "operator", "right"))
        sign = words(operator).lower()
        a, b = self.value(left, scope), self.value(right, scope)
        self.machine.at(node)
        if sign in LOGICAL and a.type == b.type == BOOL:
            return Value(made(LOGICAL[sign], a.term, b.term), BOOL)
        if sign in (".eqv.", ".neqv.") and a.type == b.type == BOOL:
            both = made("land", a.term, b.term)
            neither = made("land", made("lnot", a.term), made("lnot", b.term))
            same = made("lor", both, neither)
            return Value(same if sign == ".eqv." else made("lnot", same), BOOL)
        if BOOL in (a.type, b.type):
            raise unread(node, "a truth value where a number is expected")
        a, b, kind = self._common(a, b)
        if sign in ARITHMETIC:
            return self.machine.arithmetic(ARITHMETIC[sign], a, b, kind)
        if sign == "/":
            self._least(a, b, kind)
            return self.machine.divided("tdiv", a, b, kind)
        sign = RELATIONS.get(sign, sign)
        if sign in COMPARISONS:
            return self.compared(sign, a, b)
        raise unread(node, "an operator that the checker does not know")

    def _least(self, a: Value, b: Value, kind: Type) -> None:
        """In a helper: the least number is not divided by -1."""
        if self.machine.depth:
            both = made("land", made("eq", a.term, kind.lowest), made("eq", b.term, -1))
            self.machine.demand(FITS, made("lnot", both))

    def _call(self, node: Any, scope: Scope) -> Value:
        function, arguments = inside(node)
        name, parts = words(function).lower(), inside(arguments)
        if name in self.declared or not parts:
            raise unread(node, "a function that the checker does not know")
        if name in self.file.tables:
            kind, numbers = self.file.table(node, name)
            place = self.value(parts[0], scope)
            self.machine.at(node)
            at = Value(place.term - self.file.starts[name], place.type)
            return self.machine.looked_up(numbers, at, kind)
        if name == "int":
            value = self.value(parts[0], scope)
            kind = KINDS.get(words(parts[1]).lower() if len(parts) == 2 else "")
            if kind is not None and value.type != BOOL:
                self.machine.at(node)
                return self.implicit(value, kind)
        values = [self.value(a, scope) for a in parts]
        self.machine.at(node)
        first = values[0]
        if name == "huge" and len(values) == 1 and first.type != BOOL:
            return Value(term_of(first.type.highest or 0), first.type)
        if name == "merge" and len(values) == 3 and values[2].type == BOOL:
            if first.type == values[1].type == BOOL:
                return Value(made("select", values[2].term, first.term, values[1].term), BOOL)
            if first.type != values[1].type:
                raise unread(node, "a choice between integers of two kinds")
            return self.machine.chosen(values[2], first, values[1], first.type)
        if any(v.type == BOOL for v in values):
            raise unread(node, "a truth value where a number is expected")
        if name in ("mod", "modulo", "min", "max", *BITS) and len(values) == 2:
            a, b, kind = self._common(*values)
            if name == "mod":
                return self.machine.divided("tmod", a, b, kind)
            if name == "modulo":
                return self.machine.floored("fmod", a, b, kind)
            if name in BITS:
                return self.machine.bits(BITS[name], [a, b], kind)
            return self.extreme(name == "min", a, b, kind)
        match name, len(values):
            case "not", 1:
                return self.machine.bits("not", values, first.type)
            case "shiftl", 2:
                return self.machine.shifted("shl", first, values[1], first.type)
            case "shifta", 2:
                return self.machine.shifted("shr", first, values[1], first.type)
            case "shiftr", 2:  # logical: as the arithmetic one where nothing is negative
                self.machine.demand(FITS, first.term >= 0)
                return self.machine.shifted("shr", first, values[1], first.type)
            case "bit_size", 1:
                return Value(term_of(first.type.bits or 0), I32)
            case "abs", 1:
                return self.machine.fits(abs(first.term), first.type)
        return self.helper(node, words(function), values)
