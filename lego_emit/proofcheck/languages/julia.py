"""Julia: integers that wrap silently, literals of 64 bits, tables that count from 1.

A function of a type parameter Ti is read for the narrowest type that it allows.
Reference: https://docs.julialang.org/en/v1/manual/mathematical-operations
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..launch import Divisions, Helper
from ..terms import FALSE, TRUE, made, term_of
from ..text import BOOL, I32, I64, U32, U64, Machine, Text, Type, Value
from .tree import COMPARISONS, Call, File, Scope, Statement, inside, parsed, unread, walk, words

TYPES = {"Int32": I32, "Int64": I64, "UInt32": U32, "UInt64": U64, "Bool": BOOL}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
SHIFTS = {"<<": "shl", ">>": "shr"}
BITS = {"&": "and", "|": "or", "⊻": "xor"}
FLOORED = {"fld": "fdiv", "mod": "fmod"}
TRUNCATED = {"div": "tdiv", "rem": "tmod", "÷": "tdiv", "%": "tmod"}
KNOWN = {*TYPES, *ARITHMETIC, *SHIFTS, *BITS, *FLOORED, *TRUNCATED, *COMPARISONS, "!",
         "~", "min", "max", "xor", "isqrt"}  # fmt: skip
MACROS = ("@inline", "@noinline", "@propagate_inbounds", "@boundscheck", "@inbounds")
# What a module is made of.
ITEMS = frozenset(
    """assignment const_statement export_statement function_definition macrocall_expression
    string_literal struct_definition""".split()
)
WIDER = ("", "Any", "Number", "Real", "Integer")  # a method of machine integers goes before these


def read(source: str, language: str, divisions: Divisions) -> Text:
    """The functions of a module."""
    return _File(parsed(source, "julia"), language, divisions).text()


# What a view defines for its own type, as methods of Base.
OF_VIEWS = {"size", "getindex", "setindex!", "dataids", "unaliascopy", "IndexStyle"}


class _File(File):
    def collect(self) -> None:
        self.structs: dict[str, tuple[str, list[tuple[str, str]]]] = {}
        for part in inside(self.root):
            if part.type not in (*ITEMS, "module_definition"):
                raise unread(part, "an item that the checker does not know")
        for node in walk(self.root):
            match node.type:
                case "assignment" | "function_definition":
                    self._function(node)
                case "const_statement":
                    self._table(node)
                case "macrocall_expression":
                    found = re.match(r"(?:Base\.)?(@\w+)", words(node))
                    if found is None or found[1] not in MACROS:
                        raise unread(node, "a macro that the checker does not know")
                case "struct_definition":
                    if words(inside(node)[0]).partition("{")[0] in KNOWN:
                        raise unread(node, "another meaning of a name")
                    self._struct(node)
                case "module_definition":
                    for part in inside(node)[1:]:
                        if part.type not in ITEMS:
                            raise unread(part, "an item that the checker does not know")

    def _function(self, node: Any) -> None:
        call = _head(node)
        name = words(inside(node if call is None else call)[0])
        of, _, own = name.rpartition(".")
        of_a_view = of == "Base" and own in OF_VIEWS and self._of_own_type(call)
        if own.strip("(:)") in KNOWN or (call is not None and of and not of_a_view):
            raise unread(node, "another meaning of a name")
        if call is None and node.parent.type in ("module_definition", "source_file"):
            raise unread(node, "an item that the checker does not know")
        if call is not None:
            self.functions.setdefault(name, []).append(node)

    def _of_own_type(self, call: Any) -> bool:
        """Whether the first argument of a method is of a struct of the text."""
        kinds = {
            words(inside(n)[0]).partition("{")[0].partition("<")[0].strip()
            for n in walk(self.root)
            if n.type == "struct_definition"
        }
        first = [words(n) for n in inside(inside(call)[1])[:1]] if call is not None else []
        found = re.search(r"::(?:Type\{<:)?(\w+)", first[0]) if first else None
        return found is not None and found[1] in kinds

    def _struct(self, node: Any) -> None:
        """name{Ti<:Union{..}} or a name alone, and fields of plain types."""
        head, *fields = inside(node)
        found = re.fullmatch(r"(\w+)(?:\{(\w+)<:Union\{[\w, ]+\}\})?", words(head))
        if found is None or any(field.type != "typed_expression" for field in fields):
            return
        if found[1] in self.structs:
            raise unread(node, f"a second struct {found[1]}")
        parts = [words(field).partition("::") for field in fields]
        self.structs[found[1]] = found[2] or "", [(name, kind) for name, _, kind in parts]

    def built(self, node: Any) -> list[str]:
        """The fields of the struct that a call makes by its own constructor; none where it makes none."""
        if node.type != "call_expression":
            return []
        name, _, kind = words(inside(node)[0]).partition("{")
        parameter, fields = self.structs.get(name, ("", []))
        other = [known for known in self.functions if known.partition("{")[0] == name]
        if (
            not fields
            or bool(parameter) != bool(kind)
            or other != [name] * bool(parameter and other)
        ):
            return []
        return [field for field, _ in fields]

    def members(self, node: Any, name: str, kind: str) -> list[tuple[str, Type | None]]:
        """(its name in Python, its type) of each integer of a parameter of a type: of a struct, or of a
        tuple, whose elements the code counts from 1."""
        if tuple_of := re.fullmatch(r"NTuple\{(\d+), (\w+)\}", kind):
            element = self.type_of(node, tuple_of[2])
            return [(f"{name}[{k}]", element) for k in range(int(tuple_of[1]))]
        struct = re.fullmatch(r"(\w+)(?:\{(\w+)\})?", kind)
        parameter, fields = self.structs.get(struct[1], ("", [])) if struct else ("", [])
        if not struct or not fields or bool(parameter) != bool(struct[2]):
            return [(name, self.type_of(node, kind))]
        return [
            (f"{name}.{field}", self.type_of(node, struct[2] if own == parameter else own))
            for field, own in fields
        ]

    def _table(self, node: Any) -> None:
        found = re.fullmatch(
            r"const (\w+) = (\w+)\[\s*(-?\d+(?:\s*,\s*-?\d+)*),?\s*\]", words(node)
        )
        if found and found[2] in TYPES:
            self.add_table(found[1], TYPES[found[2]], [int(n) for n in found[3].split(",")])
        else:
            self.unclear.update(words(n) for n in walk(node) if n.type == "identifier")

    def definition(
        self, name: str, count: int | None = None, types: Sequence[Type] | None = None
    ) -> Any:
        """The method for machine integers. Raises UnsupportedSyntax where another one may be called instead."""
        found = super().definition(name, count, types)
        for node in self.functions.get(name, ()) if count is not None else ():
            params = inside(inside(_head(node))[1])
            plain = all(p.type in ("identifier", "typed_expression") for p in params)
            kinds = [(kind, words(p).partition("::")[2]) for p, (_, kind, _) in
                     zip(params, self.parameters(node), strict=True)]  # fmt: skip
            unknown = any(kind is None and said not in WIDER for kind, said in kinds)
            if not plain or (len(params) == count and unknown):
                raise unread(
                    node, f"a second method of {name}, which may be the one that is called"
                )
        return found

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        call = _head(node)
        found = []
        for param in inside(inside(call)[1]):
            name, _, kind = words(param).partition("::")
            members = self.members(node, name, kind)
            if strict and None in [known for _, known in members]:
                raise unread(param, "a parameter of a type that no index has")
            found += [(member, known, False) for member, known in members]
        return found

    def type_of(self, node: Any, name: str) -> Type | None:
        """A type by its name; of a type parameter the narrowest that it may be."""
        if name in TYPES:
            return TYPES[name]
        head = words(next((n for n in inside(node) if n.type == "signature"), node))
        union = re.search(rf"where \{{?{re.escape(name)}<:Union\{{([\w, ]+)\}}", head)
        types = [TYPES.get(t.strip()) for t in union[1].split(",")] if union and name else [None]
        if None in types or len({t.signed for t in types if t}) > 1:
            return None
        return _narrowest([t for t in types if t])

    def comment(self, node: Any) -> str:
        while node.parent.type not in ("module_definition", "source_file"):
            node = node.parent
        before = node.prev_named_sibling
        return words(before) if before is not None and before.type == "string_literal" else ""

    def call(self, node: Any, machine: Machine) -> Call:
        return _Call(self, node, machine)


def _head(node: Any) -> Any:
    """name(parameters) of a definition; None of another assignment."""
    if node.type == "assignment":
        head = inside(node)[0]
    else:
        head = next((inside(n)[0] for n in inside(node) if n.type == "signature"), None)
    while head is not None and head.type in ("where_expression", "typed_expression"):
        head = inside(head)[0]
    return head if head is not None and head.type == "call_expression" else None


def _narrowest(types: Sequence[Type]) -> Type:
    """What holds of a value of any of these types."""
    kind = min(types, key=lambda t: t.bits or 0)
    if all(t == kind for t in types) or kind.name.endswith(" or wider"):
        return kind
    return Type(f"{kind.name} or wider", kind.bits, kind.signed)


def _compares(node: Any) -> bool:
    """Whether it is a comparison without brackets."""
    sign = inside(node)[1] if node.type == "binary_expression" else None
    return sign is not None and words(sign) in COMPARISONS


class _Call(Call):
    file: _File  # pyright: ignore[reportIncompatibleVariableOverride]

    def body(self) -> list[Statement]:
        return [s for n in inside(self.node) if n.type != "signature" for s in self._statement(n)]

    def implicit(self, value: Value, kind: Type) -> Value:
        """A conversion: it fails where the value does not fit."""
        return value if value.type == kind else self.machine.converted(value, kind)

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        result = self._result()
        if not result:
            return values
        if result.partition("{")[0] in self.file.structs:
            members = self.file.members(self.node, "", result)
            if tuple(name[1:] for name, _ in members) != self.names or len(members) != len(values):
                raise unread(self.node, "a result of a type that the checker does not know")
            return tuple(
                self.implicit(v, k) for v, (_, k) in zip(values, members, strict=True) if k
            )
        named = re.match(
            r"(?:(NamedTuple\{\((.*?),?\),\s*)?NTuple\{(\d+), (\w+)\}(?(1)\})|(\w+))(?= where|$)",
            result,
            re.DOTALL,
        )
        names, count, each, single = named.groups()[1:] if named else (None, None, "", None)
        kind = self.file.type_of(self.node, each or single or "")
        given = tuple(re.findall(r":(\w+)", names or ""))
        if kind is None or int(count or 1) != len(values) or given != self.names:
            raise unread(self.node, "a result of a type that the checker does not know")
        return tuple(self.implicit(v, kind) for v in values)

    def _result(self) -> str:
        """The text of the result's type, "" where none is said."""
        head = words(next(n for n in inside(self.node) if n.type == "signature"))
        return head.rpartition(")::")[2].partition(" where ")[0] if ")::" in head else ""

    def _assigned(self, value: Value, kind: Type | None) -> Value:
        return value  # a variable has the type of what it is

    def prepared(self, node: Any, helper: Helper, values: Sequence[Value]) -> Value:
        if not helper.what and values[0].type != helper.type:
            raise unread(node, "no method for values of these types")
        return super().prepared(node, helper, values)

    def helper(self, node: Any, name: str, values: Sequence[Value]) -> Value:
        definition = self.file.definition(name, len(values))
        if definition is not None:
            types = [kind for _, kind, _ in self.file.parameters(definition)]
            if types != [value.type for value in values]:
                raise unread(node, "no method for values of these types")
        return super().helper(node, name, values)

    def _statement(self, node: Any) -> list[Statement]:
        match node.type:
            case "assignment":
                target, _, value = inside(node)
                if target.type == "identifier":
                    return [Statement("set", node, words(target), None, value)]
            case "return_statement":
                value, result = inside(node)[0], self._result()
                if fields := self.file.built(value):
                    if words(inside(value)[0]) != result:
                        raise unread(value, "a value of another type than the function's")
                    parts = inside(inside(value)[1])
                    return [Statement("return", node, values=parts, names=tuple(fields))]
                if (value.type == "tuple_expression") != ("NTuple" in result) and result:
                    raise unread(value, "a value of another type than the function's")
                if value.type != "tuple_expression":
                    return [Statement("return", node, values=[value])]
                parts = inside(value)
                if parts and parts[0].type == "named_field":
                    names = tuple(words(inside(p)[0]) for p in parts)
                    return [
                        Statement(
                            "return", node, values=[inside(p)[-1] for p in parts], names=names
                        )
                    ]
                return [Statement("return", node, values=parts)]
        raise unread(node, "a statement that the checker does not know")

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
        match node.type:
            case "integer_literal":
                number = words(node).replace("_", "")
                if number.isdecimal():  # those of other bases are unsigned
                    return self.machine.fits(term_of(int(number)), I64)
            case "boolean_literal":
                return Value(TRUE if words(node) == "true" else FALSE, BOOL)
            case "identifier":
                if words(node) in scope:
                    return scope[words(node)]
            case "parenthesized_expression" if len(inside(node)) == 1:
                return self.value(inside(node)[0], scope)
            case "unary_expression":
                return self._unary(node, scope)
            case "binary_expression":
                return self._infix(node, scope)
            case "ternary_expression":
                return self._conditional(node, scope)
            case "field_expression" if words(inside(node)[0]) not in scope:
                if words(node) in scope:
                    return scope[words(node)]
            case "index_expression":
                return self._entry(node, scope)
            case "call_expression":
                return self._call(node, scope)
        raise unread(node, "an expression that the checker does not know")

    def _common(
        self, node: Any, a: Value, b: Value, divided: bool = False
    ) -> tuple[Value, Value, Type]:
        """Promotion: to the wider type, of equal widths to the unsigned one."""
        if BOOL in (a.type, b.type):
            raise unread(node, "arithmetic with a truth value")
        if divided and a.type.signed != b.type.signed:  # the result has the sign of one of them
            raise unread(node, "a division of signed and unsigned numbers")
        kind = max(a.type, b.type, key=lambda t: (t.bits or 0, not t.signed))
        return self.implicit(a, kind), self.implicit(b, kind), kind

    def _unary(self, node: Any, scope: Scope) -> Value:
        sign, operand = inside(node)
        value = self.value(operand, scope)
        self.machine.at(node)
        if words(sign) == "!" and value.type == BOOL:
            return Value(made("lnot", value.term), BOOL)
        if words(sign) == "-":
            return self.machine.arithmetic("sub", Value(term_of(0), value.type), value, value.type)
        if words(sign) == "~":
            if value.type.signed:
                return self.machine.bits("not", [value], value.type)
            return Value(made("sub", value.type.highest, value.term), value.type)
        raise unread(node, "an operator that the checker does not know")

    def _infix(self, node: Any, scope: Scope) -> Value:
        left, operator, right = inside(node)
        sign = words(operator)
        a = self.value(left, scope)
        if sign in ("&&", "||"):
            with self.machine.under(a.term if sign == "&&" else made("lnot", a.term)):
                b = self.value(right, scope)
            if (a.type, b.type) != (BOOL, BOOL):
                raise unread(node, "not of truth values")
            return Value(made("land" if sign == "&&" else "lor", a.term, b.term), BOOL)
        return self._binary(node, sign, a, self.value(right, scope))

    def _binary(self, node: Any, sign: str, a: Value, b: Value) -> Value:
        self.machine.at(node)
        if sign in SHIFTS:
            return self.machine.shifted(SHIFTS[sign], a, b, a.type)
        if sign in COMPARISONS and any(_compares(n) for n in inside(node)):
            raise unread(node, "comparisons in a chain")
        if sign in COMPARISONS and a.type != BOOL != b.type:
            return self.compared(sign, a, b)  # of any types: the numbers are compared
        if a.type == b.type == BOOL and sign in ("==", "!="):
            same = made(
                "lor",
                made("land", a.term, b.term),
                made("land", made("lnot", a.term), made("lnot", b.term)),
            )
            return Value(same if sign == "==" else made("lnot", same), BOOL)
        a, b, kind = self._common(node, a, b, sign in TRUNCATED)
        if sign in ARITHMETIC:
            return self.machine.arithmetic(ARITHMETIC[sign], a, b, kind)
        if sign in TRUNCATED:
            return self.machine.divided(TRUNCATED[sign], a, b, kind)
        if sign in BITS:
            return self.machine.bits(BITS[sign], [a, b], kind)
        raise unread(node, "an operator that the checker does not know")

    def _conditional(self, node: Any, scope: Scope) -> Value:
        condition_, yes, no = inside(node)
        condition = self.value(condition_, scope)
        with self.machine.under(condition.term):
            a = self.value(yes, scope)
        with self.machine.under(made("lnot", condition.term)):
            b = self.value(no, scope)
        if a.type == b.type == BOOL:
            return Value(made("select", condition.term, a.term, b.term), BOOL)
        if condition.type != BOOL or BOOL in (a.type, b.type) or a.type.signed != b.type.signed:
            raise unread(node, f"a choice between {a.type.name} and {b.type.name}")
        # Each keeps its type, so that what comes of it must do in the narrower one.
        kind = _narrowest([a.type, b.type])
        with self.machine.under(condition.term):
            a = self.implicit(a, kind)
        with self.machine.under(made("lnot", condition.term)):
            b = self.implicit(b, kind)
        return self.machine.chosen(condition, a, b, kind)

    def _entry(self, node: Any, scope: Scope) -> Value:
        table, index = inside(node)
        if f"{words(table)}[0]" in scope:  # what comments and certificates count from 0
            place = re.fullmatch(r"\[(\d+)\]", words(index))
            name = f"{words(table)}[{int(place[1]) - 1}]" if place else ""
            if words(table) in scope or name not in scope:
                raise unread(node, "an element that the tuple does not have")
            return scope[name]
        kind, numbers = self.file.table(node, words(table))
        if words(table) in scope or len(inside(index)) != 1:
            raise unread(node, "not a place in a table")
        place = self.value(inside(index)[0], scope)
        self.machine.at(node)
        return self.machine.looked_up(numbers, Value(place.term - 1, I64), kind)

    def _call(self, node: Any, scope: Scope) -> Value:
        function, arguments = inside(node)
        name = words(function)
        if name in scope:
            raise unread(node, "a variable is called")
        if name == "typemax" and name not in self.file.functions and len(inside(arguments)) == 1:
            kind = self.file.type_of(self.node, words(inside(arguments)[0]))
            if kind in (I32, I64, U32, U64):
                return Value(term_of(kind.highest or 0), kind)
        values = [self.value(a, scope) for a in inside(arguments)]
        self.machine.at(node)
        if len(values) == 1:
            kind = self.file.type_of(self.node, name)
            if kind is not None:
                return self.machine.converted(values[0], kind)
            if name == "isqrt":
                return self.root(values[0], values[0].type, "Julia's own isqrt")
        if len(values) == 2 and name in ("min", "max", "xor", *FLOORED, *TRUNCATED):
            a, b, kind = self._common(node, values[0], values[1], name in (*FLOORED, *TRUNCATED))
            if name in ("min", "max"):
                return self.extreme(name == "min", a, b, kind)
            if name == "xor":
                return self.machine.bits("xor", [a, b], kind)
            if name in FLOORED:
                return self.machine.floored(FLOORED[name], a, b, kind)
            return self.machine.divided(TRUNCATED[name], a, b, kind)
        return self.helper(node, name, values)
