"""Calls in C's family: statements, and expressions with C's conversions.

Reference: ISO C++17, [expr.mul], [expr.shift], [conv.integral], [expr.arith.conv]; GLSL 4.60, 4.1.3
and 5.9.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from ..stated import whole
from ..terms import FALSE, TRUE, made, term_of
from ..text import (
    BOOL,
    DIVISOR,
    FITS,
    I32,
    I64,
    U32,
    U64,
    Type,
    Value,
)
from .c_groups import own_name
from .c_types import (
    FLOATS,
    GREATEST,
    NO_INTEGERS,
    ROOTS,
    TYPES,
    literal,
    type_of,
    words,
)
from .tree import (
    COMPARISONS,
    Call,
    File,
    Scope,
    Statement,
    inside,
    unread,
    walk,
)

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
DIVISIONS = {"/": "tdiv", "%": "tmod"}
SHIFTS = {"<<": "shl", ">>": "shr"}
BITS = {"&": "and", "|": "or", "^": "xor"}


class FileOfC(File):
    """A parsed file of C's family."""

    def result_types(self, kind: Any) -> tuple[list[Type | None], tuple[str, ...]]:
        """(the types, the names) of the results of a function that returns this type."""
        raise NotImplementedError


class CallOfC(Call):
    """One run of a function of C's family on terms."""

    file: FileOfC  # pyright: ignore[reportIncompatibleVariableOverride]
    groups: set[str]  # the parameters that are structs or arrays

    def body(self) -> list[Statement]:
        """The statements of the function that is called."""
        found = self._body(self.node.child_by_field_name("body"))
        if self.outs and self.file.language != "glsl":
            self._check_written(found)
        return found

    def _check_written(self, body: Sequence[Statement]) -> None:
        """Raises UnsupportedSyntax unless each result is written once, the last of all, and no element is read
        after that: the array that is written to may be the one that is read."""
        places = {*map(self.place, self.outs)}
        last = body[len(body) - len(places) :]
        if {s.target for s in last if s.kind == "set"} != places:
            raise unread(self.node, "results that are not each written once, at the end")
        if any(s.target in places for s in _every(body[: len(body) - len(places)])):
            raise unread(self.node, "a result that is written twice")
        for s in last[1:]:
            for n in walk(s.value):
                if n.type == "subscript_expression" and _array(n) in self.groups:
                    raise unread(n, "an element that is read after a result was written")

    def run(self, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of the function for these arguments."""
        params = self.file.parameters(self.node)
        self.outs = [name for name, _, out in params if out]
        self.names = tuple(filter(None, map(own_name, self.outs)))
        self.groups = {whole(name) for name, _, out in params if whole(name) != name and not out}
        self.taken = self.groups | {*map(whole, self.outs)}
        if self.outs and words(self.node.child_by_field_name("type")) != "void":
            raise unread(self.node, "results that are returned and others that are written")
        return super().run(arguments)

    def place(self, name: str) -> str:
        """What a result's name is looked up by: nothing that the text can read, but in GLSL."""
        return name if self.file.language == "glsl" else f"-> {name}"

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """What is returned, in the function's type."""
        kind = self.node.child_by_field_name("type")
        plain = self.node.child_by_field_name("declarator").type == "function_declarator"
        types, names = self.file.result_types(kind)
        if not plain or None in types or len(types) != len(values):
            raise unread(kind, f"a function that returns {len(values)} values of this type")
        self.names = names or self.names
        return tuple(self.implicit(v, t) for v, t in zip(values, types, strict=True) if t)

    def implicit(self, value: Value, kind: Type) -> Value:
        """A value converted to a type as C does without a cast."""
        if value.type == kind:
            return value
        if value.type in ROOTS.values() and value.term.constant is not None:
            number = math.sqrt(value.term.constant)
            if value.type == ROOTS["float"]:
                number = _single_precision(number)
            return self.machine.fits(term_of(int(number)), kind)
        if value.type in NO_INTEGERS or kind in NO_INTEGERS:
            raise unread(self.node, "a number that is no integer")
        if kind == BOOL or value.type == BOOL:
            return self._truth(value) if kind == BOOL else self.machine.converted(value, kind)
        return self.machine.fits(value.term, kind)

    def _truth(self, value: Value) -> Value:
        if value.type == BOOL:
            return value
        value = self._promoted(value)
        return Value(made("ne", value.term, 0), BOOL)

    # -- statements --------------------------------------------------------------------------------

    def _statements(self, node: Any) -> list[Statement]:
        match node.type:
            case "declaration":
                return self._declared(node)
            case "expression_statement":
                return self._assignment(inside(node)[0])
            case "return_statement":
                value = inside(node)
                if not value:
                    raise unread(node, "it returns nothing")
                several = value[0].type == "initializer_list"
                if self.file.language == "glsl" and (parts := self._constructed(value[0])):
                    return [Statement("return", node, values=parts)]
                return [Statement("return", node, values=inside(value[0]) if several else value)]
            case "if_statement":
                (condition, *more) = inside(node.child_by_field_name("condition"))
                if more:
                    raise unread(node, "a condition that declares something")
                other = node.child_by_field_name("alternative")
                return [
                    Statement(
                        "if",
                        node,
                        value=condition,
                        then=self._body(node.child_by_field_name("consequence")),
                        otherwise=self._body(inside(other)[0]) if other else (),
                    )
                ]
            case "for_statement":
                step = self._assignment(node.child_by_field_name("update"))
                body = self._body(node.child_by_field_name("body"))
                loop = Statement(
                    "loop", node, value=node.child_by_field_name("condition"), then=[*body, *step]
                )
                first = node.child_by_field_name("initializer")
                whole = [*(self._statements(first) if first is not None else ()), loop]
                return [Statement("block", node, then=whole)]
            case "compound_statement":
                return [Statement("block", node, then=self._body(node))]
            case "preproc_ifdef" | "preproc_if":
                return self._chosen(node)
        raise unread(node, "a statement that the checker does not know")

    def _constructed(self, node: Any) -> list[Any]:
        """The members of a vector, a struct or an array of the type that the function returns; none of
        another value."""
        kind = words(self.node.child_by_field_name("type"))
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is None or words(function) != kind or kind in TYPES:
            return []
        return inside(node.child_by_field_name("arguments"))

    def _chosen(self, node: Any) -> list[Statement]:
        """The branches of a helper that is tried: it is run with each of them."""
        if self.file.branch is None:
            raise unread(node, "what it does depends on the compiler")
        self.file.branched = True
        other = node.child_by_field_name("alternative")
        condition = [node.child_by_field_name(f) for f in ("name", "condition")]
        if self.file.branch:
            chosen = [n for n in inside(node) if n != other and n not in condition]
        else:
            chosen = inside(other) if other is not None else []
        return [s for n in chosen for s in self._statements(n)]

    def _body(self, node: Any) -> list[Statement]:
        if node.type != "compound_statement":
            return self._statements(node)
        found: list[Statement] = []
        parts = inside(node)
        while parts:
            first, *parts = parts
            result = self._result(first, parts)
            found += self._statements(first) if result is None else [result]
            parts = parts if result is None else parts[1:]
        return found

    def _result(self, node: Any, after: Sequence[Any]) -> Statement | None:
        """C's `const T result = {..}; return result;` as one statement; None for anything else."""
        declared = node.child_by_field_name("declarator") if node.type == "declaration" else None
        value = declared.child_by_field_name("value") if declared is not None else None
        if declared is None or value is None or value.type != "initializer_list" or not after:
            return None
        if after[0].type != "return_statement" or len(inside(after[0])) != 1:
            return None
        same_type = words(node.child_by_field_name("type")) == words(
            self.node.child_by_field_name("type")
        )
        name = words(declared.child_by_field_name("declarator"))
        if not same_type or words(inside(after[0])[0]) != name:
            return None
        return Statement("return", after[0], values=inside(value))

    def _declared(self, node: Any) -> list[Statement]:
        if any(n.type == "storage_class_specifier" for n in node.children):
            raise unread(node, "a variable that outlives the call")
        kind = node.child_by_field_name("type")
        kind = None if words(kind) == "auto" else type_of(kind)
        made_ = []
        for declarator in inside(node):
            if declarator.type != "init_declarator":
                continue
            target = words(declarator.child_by_field_name("declarator"))
            if target in self.taken:
                raise unread(node, "a second variable of this name")
            value = declarator.child_by_field_name("value")
            made_.append(Statement("set", node, target, kind, value, declares=True))
        if not made_:
            raise unread(node, "a declaration without a value")
        return made_

    def _assignment(self, node: Any) -> list[Statement]:
        if node is None:
            raise unread(self.node, "a statement is missing")
        if node.type == "comma_expression":
            return [s for n in inside(node) for s in self._assignment(n)]
        if node.type != "assignment_expression":
            if node.type == "cast_expression" and words(node).startswith("(void)"):
                return []
            if node.type == "call_expression" and _is_assume(node):
                (condition,) = inside(node.child_by_field_name("arguments"))
                return [Statement("demand", node, value=condition)]
            raise unread(node, "an expression whose value is not used")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = words(node.child_by_field_name("operator"))
        target = "".join(words(left).split())
        if target in self.outs:
            if operator != "=":
                raise unread(node, "a result that is read")
            return [Statement("set", node, self.place(target), None, right)]
        if left.type != "identifier" or target in self.taken:
            raise unread(left, "what is set is not a variable")
        value: Any = right if operator == "=" else (operator[:-1], left, right, node)
        return [Statement("set", node, target, None, value)]

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
        """The value of an expression in a scope."""
        if isinstance(node, tuple):
            operator, left, right, whole = node
            return self._binary(whole, operator, self.value(left, scope), self.value(right, scope))
        if node is None:
            raise unread(self.node, "an expression is missing")
        match node.type:
            case "number_literal":
                number, kind = literal(node, self.file.language)
                return Value(term_of(number), kind)
            case "true" | "false":
                return Value(TRUE if node.type == "true" else FALSE, BOOL)
            case "identifier":
                found = scope.get(words(node))
                if found is None and words(node) in GREATEST:
                    kind = GREATEST[words(node)]
                    return Value(term_of(kind.highest or 0), kind)
                if found is None:
                    raise unread(node, "a name that is not known here")
                return found
            case "parenthesized_expression":
                return self.value(inside(node)[0], scope)
            case "unary_expression":
                return self._unary(node, scope)
            case "binary_expression":
                return self._infix(node, scope)
            case "conditional_expression":
                return self._conditional(node, scope)
            case "cast_expression":
                kind = type_of(node.child_by_field_name("type"))
                return self._cast(node.child_by_field_name("value"), kind, scope)
            case "call_expression" | "compound_literal_expression":
                return self._call(node, scope)
            case "subscript_expression":
                return self._entry(node, scope)
            case "field_expression" if words(node) in scope:
                return scope[words(node)]
        raise unread(node, "an expression that the checker does not know")

    def _promoted(self, value: Value) -> Value:
        if value.type in NO_INTEGERS:
            raise unread(self.node, "a number that is no integer")
        if value.type == BOOL and self.file.language == "glsl":
            raise unread(self.node, "a truth value where a number is expected")
        return self.implicit(value, I32) if (value.type.bits or 0) < 32 else value

    def _common(self, a: Value, b: Value) -> tuple[Value, Value, Type]:
        """The usual arithmetic conversions."""
        a, b = self._promoted(a), self._promoted(b)
        wide = max(a.type.bits or 0, b.type.bits or 0)
        signed = all(v.type.signed for v in (a, b) if v.type.bits == wide)
        kind = {(32, True): I32, (32, False): U32, (64, True): I64, (64, False): U64}[wide, signed]
        return self.implicit(a, kind), self.implicit(b, kind), kind

    def _unary(self, node: Any, scope: Scope) -> Value:
        operator = words(node.child_by_field_name("operator"))
        value = self.value(node.child_by_field_name("argument"), scope)
        self.machine.at(node)
        if operator == "!":
            return Value(made("lnot", self._truth(value).term), BOOL)
        value = self._promoted(value)
        if operator == "-":
            return self.machine.arithmetic("sub", Value(term_of(0), value.type), value, value.type)
        if operator == "+":
            return value
        if operator == "~" and not value.type.signed:
            return Value(made("sub", value.type.highest, value.term), value.type)
        if operator == "~":
            return self.machine.bits("not", [value], value.type)
        raise unread(node, "an operator that the checker does not know")

    def _infix(self, node: Any, scope: Scope) -> Value:
        operator = words(node.child_by_field_name("operator"))
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        a = self.value(left, scope)
        if operator in ("&&", "||"):
            a = self._truth(a)
            guard = a.term if operator == "&&" else made("lnot", a.term)
            with self.machine.under(guard):
                b = self._truth(self.value(right, scope))
            return Value(made("land" if operator == "&&" else "lor", a.term, b.term), BOOL)
        return self._binary(node, operator, a, self.value(right, scope))

    def _binary(self, node: Any, operator: str, a: Value, b: Value) -> Value:
        self.machine.at(node)
        if operator in SHIFTS:
            a, b = self._promoted(a), self._promoted(b)
            if operator == "<<":
                self.machine.demand(FITS, a.term >= 0)
            return self.machine.shifted(SHIFTS[operator], a, b, a.type)
        if operator in ("==", "!=") and a.type == b.type == BOOL:
            a, b = (self.implicit(v, I32) for v in (a, b))
        a, b, kind = self._common(a, b)
        if operator in ARITHMETIC:
            return self.machine.arithmetic(ARITHMETIC[operator], a, b, kind)
        if operator in DIVISIONS:
            if self.machine.depth and kind.signed:
                both = made("land", made("eq", a.term, kind.lowest), made("eq", b.term, -1))
                self.machine.demand(FITS, made("lnot", both))
            if self.file.language == "glsl":  # of negative numbers it is not defined
                self.machine.demand(DIVISOR, made("land", a.term >= 0, b.term > 0))
            return self.machine.divided(DIVISIONS[operator], a, b, kind)
        if operator in BITS:
            return self.machine.bits(BITS[operator], [a, b], kind)
        if operator in COMPARISONS:
            return self.compared(operator, a, b)
        raise unread(node, "an operator that the checker does not know")

    def _conditional(self, node: Any, scope: Scope) -> Value:
        condition = self._truth(self.value(node.child_by_field_name("condition"), scope))
        with self.machine.under(condition.term):
            a = self.value(node.child_by_field_name("consequence"), scope)
        with self.machine.under(made("lnot", condition.term)):
            b = self.value(node.child_by_field_name("alternative"), scope)
        if a.type == b.type == BOOL:
            return Value(made("select", condition.term, a.term, b.term), BOOL)
        a, b, kind = self._common(a, b)
        return self.machine.chosen(condition, a, b, kind)

    def _cast(self, node: Any, kind: Type, scope: Scope) -> Value:
        value = self._shifted_unsigned(node, kind, scope) or self.value(node, scope)
        self.machine.at(node)
        return self.implicit(value, kind)

    def _shifted_unsigned(self, node: Any, kind: Type, scope: Scope) -> Value | None:
        """What is cast to a signed type, where it is a value of that type shifted to the left as an
        unsigned number: the bits of its product with a power of two, which is demanded to fit."""
        while node.type == "parenthesized_expression":
            node = inside(node)[0]
        if node.type != "binary_expression" or words(node.child_by_field_name("operator")) != "<<":
            return None
        left = node.child_by_field_name("left")
        if left.type == "cast_expression":
            inner = left.child_by_field_name("value")
            unsigned = type_of(left.child_by_field_name("type"))
        elif left.type == "call_expression":
            name = " ".join(words(left.child_by_field_name("function")).split())
            if not name.startswith("static_cast<"):
                return None
            unsigned = TYPES.get(name[len("static_cast<") : -1])
            inner = inside(left.child_by_field_name("arguments"))[0]
        else:
            return None
        if unsigned is None or unsigned.signed or unsigned.bits != kind.bits or not kind.signed:
            return None
        a = self._promoted(self.value(inner, scope))
        b = self._promoted(self.value(node.child_by_field_name("right"), scope))
        self.machine.at(node)
        return self.machine.shifted("shl", a, b, kind) if a.type == kind else None

    def _call(self, node: Any, scope: Scope) -> Value:
        if node.type == "compound_literal_expression":  # T{x}
            kind = type_of(node.child_by_field_name("type"))
            return self._cast(_single(node.child_by_field_name("value")), kind, scope)
        function = node.child_by_field_name("function")
        arguments = inside(node.child_by_field_name("arguments"))
        name = " ".join(words(function).split())
        if function.type == "primitive_type" or name in TYPES:
            return self._cast(_single(arguments), TYPES[name], scope)
        if name.startswith("static_cast<"):
            kind = name[len("static_cast<") : -1]
            if kind in FLOATS and self.file.branch:
                number = self._cast(_single(arguments), I64, scope).term.constant
                number = float(number or 0)
                number = _single_precision(number) if kind == "float" else number
                return Value(term_of(int(number)), FLOATS[kind])
            if kind not in TYPES:
                raise unread(node, "a type that the checker does not know")
            return self._cast(_single(arguments), TYPES[kind], scope)
        if name.removeprefix("std::") in EVALUATED and self.file.branch:
            return Value(FALSE, BOOL)
        values = [self.value(a, scope) for a in arguments]
        self.machine.at(node)
        plain = re.sub(r"<.*>", "", name).removeprefix("std::").removeprefix("::")
        if plain in ("sqrt", "sqrtf") and self.file.branch and len(values) == 1:
            kind = "float" if plain == "sqrtf" else "double"
            if values[0].type != FLOATS[kind]:
                raise unread(node, f"not of a {kind}")
            return Value(values[0].term, ROOTS[kind])
        if plain in ("min", "max") and len(values) == 2 and plain not in self.file.functions:
            explicit = re.search(r"<(.*)>", name)
            a, b, kind = self._common(*values)
            if explicit and explicit[1] in TYPES:
                kind = TYPES[explicit[1]]
                a, b = (self.implicit(v, kind) for v in values)
            return self.extreme(plain == "min", a, b, kind)
        if plain == "abs" and len(values) == 1 and plain not in self.file.functions:
            value = self._promoted(values[0])
            of_int = self.file.language == "c" or (  # what C++ declares outside of std, too
                self.file.language == "cpp" and not name.startswith("std::")
            )
            if not value.type.signed or (of_int and value.type != I32):
                raise unread(node, "the absolute value of another type")
            return self.machine.fits(abs(value.term), value.type)
        return self.helper(node, name.rsplit("::", 1)[-1], values)

    def _entry(self, node: Any, scope: Scope) -> Value:
        array, at = _array(node), node.child_by_field_name("indices")
        if array in self.groups:
            if words(node) not in scope:
                raise unread(
                    node, "an element that the array has not, or that is read at a variable"
                )
            return scope[words(node)]
        kind, numbers = self.file.table(node, array.rsplit("::", 1)[-1])
        place = self._promoted(self.value(_single(at), scope))
        self.machine.at(node)
        return self.machine.looked_up(numbers, place, kind)


def _array(node: Any) -> str:
    """What a subscript is of."""
    return words(node.child_by_field_name("argument"))


def _every(statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statements and those inside of them."""
    for s in statements:
        yield s
        yield from _every((*s.then, *s.otherwise))


def _single_precision(number: float) -> float:
    return struct.unpack("f", struct.pack("f", number))[0]


EVALUATED = ("is_constant_evaluated", "__builtin_is_constant_evaluated")


def _single(node: Any) -> Any:
    """The only one of some nodes."""
    found = node if isinstance(node, list) else inside(node)
    if len(found) != 1:
        raise unread(node, "one expression was expected")
    return found[0]


def _is_assume(call: Any) -> bool:
    """Whether a macro of ASSUME or assert is called, with one argument."""
    name = words(call.child_by_field_name("function"))
    arguments = inside(call.child_by_field_name("arguments"))
    return (name.endswith("_ASSUME") or name == "assert") and len(arguments) == 1
