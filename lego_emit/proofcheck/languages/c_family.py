"""C++, CUDA C and GLSL: C's operators on fixed-width integers.

Reference: ISO C++17, [expr.mul], [expr.shift], [conv.integral], [expr.arith.conv]; GLSL 4.60, 4.1.3
and 5.9. GLSL is read by C++'s grammar after two spellings were changed, for its own one refuses
valid text.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
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
    Machine,
    Text,
    Type,
    Value,
)
from .c_glsl import VECTORS, array_result, as_cpp
from .c_groups import Structs, add_struct, check_guard, parameters, result_types
from .c_types import (
    FLOATS,
    GREATEST,
    MARK,
    NO_INTEGERS,
    ROOTS,
    TYPES,
    known_type,
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
    comment_before,
    inside,
    parsed,
    unread,
    walk,
)

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
DIVISIONS = {"/": "tdiv", "%": "tmod"}
SHIFTS = {"<<": "shl", ">>": "shr"}
BITS = {"&": "and", "|": "or", "^": "xor"}
ATTRIBUTES = (
    r"(?:[ \t]+(?:__host__|__device__|__forceinline__|inline|static))+"  # without a meaning
)
MACRO = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+(\w+){ATTRIBUTES}[ \t]*$", re.MULTILINE)
# The names of macros of ours, which no code but the preprocessor's has.
CHECKSUM = re.compile(r"0x[0-9a-f]{8}")  # what a guard stands for
GUARD = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+_?|LEGO_STRUCT_\w+")
# What compilers define, that texts ask for.
ASKED = frozenset(
    """__CUDACC__ __CUDA_ARCH__ __cpp_lib_is_constant_evaluated
    __cpp_multidimensional_subscript""".split()
)
# The standard's own, which change no name of a text.
HEADERS = frozenset(
    """<algorithm> <array> <assert.h> <cassert> <cmath> <cstddef> <cstdint> <limits> <math.h> <metal_stdlib> <ranges> <stdbool.h> <stddef.h> <stdint.h>
    <type_traits> <version>""".split()
)
# What tells a compiler that its argument holds: that is demanded, as what is asserted is.
ASSUME = re.compile(
    r"#\s*define \w+_ASSUME\(holds\) (__builtin_assume\(holds\)|__assume\(holds\)|\(void\)0|"
    r"\(\(holds\) \? \(void\)0 : __builtin_unreachable\(\)\))"
)


def read(source: str, language: str) -> Text:
    """The functions of a header."""
    plain = source
    for macro in dict.fromkeys(MACRO.findall(source)):
        plain = re.sub(rf"^(?!\s*#)(.*?)\b{macro}\b", r"\1", plain, flags=re.MULTILINE)
    if language == "glsl":
        plain = as_cpp(plain)
    else:
        plain = re.sub(r"#ifdef __CUDA_ARCH__\n__device__\n#endif\n", "\n\n\n", plain)
    return _File(parsed(plain, "cpp", language), language).text()


# What a file is made of; in a preprocessor's branch, too.
ITEMS = frozenset(
    """alias_declaration class_specifier declaration function_definition namespace_definition
    static_assert_declaration struct_specifier template_declaration type_definition""".split()
)
WITHIN = ("translation_unit", "declaration_list", "preproc_ifdef", "preproc_if")


class _File(File):
    def collect(self) -> None:
        self.structs: Structs = {}
        self._items(self.root)
        self._guarded()
        guards: set[str] = set()
        used: dict[str, Any] = {}
        for node in walk(self.root):
            match node.type:
                case "function_definition":
                    self.functions.setdefault(_function_name(node), []).append(node)
                case "init_declarator" if node.parent.type == "declaration":
                    self._table(node)
                case "struct_specifier" if node.child_by_field_name("body") is not None:
                    add_struct(self.structs, node)
                case "preproc_def" | "preproc_function_def" | "preproc_call":
                    _harmless(node)
                    guard = node.child_by_field_name("name")
                    value = node.child_by_field_name("value")
                    if guard is not None and (
                        value is None or CHECKSUM.fullmatch(words(value).strip())
                    ):
                        guards.add(words(guard))
                case "preproc_include":
                    if words(node).partition("include")[2].strip() not in HEADERS:
                        raise unread(node, "a file that the checker does not know")
                case "attribute" if words(node) not in ("nodiscard", "maybe_unused"):
                    raise unread(node, "an attribute that the checker does not know")
                case "preproc_else" | "preproc_elif":
                    for part in inside(node):
                        if not part.type.startswith("preproc") and part.type != "binary_expression":
                            raise unread(part, "code that may be left out")
                case "identifier" | "type_identifier" | "field_identifier":
                    above = node.parent.parent or node  # of a checksum's name
                    if "preproc" not in node.parent.type and above.type != "preproc_elif":
                        used.setdefault(words(node), node)
                case "alias_declaration" | "type_definition":
                    name = words(inside(node)[0 if node.type[0] == "a" else -1])
                    if name in TYPES or f"std::{name}" in TYPES:
                        raise unread(node, "another meaning of a type's name")
        for name in guards & {*used}:
            raise unread(used[name], "a macro that the checker does not know")

    def _items(self, node: Any) -> None:
        about = [node.child_by_field_name(field) for field in ("name", "condition")]
        for part in inside(node):
            if part.type in WITHIN:
                self._items(part)
            elif part.type == "namespace_definition":
                self._items(part.child_by_field_name("body"))
            elif re.match(r"(export|import|module)\b", words(part)):
                raise unread(part, "names from elsewhere")
            elif part.type not in ITEMS and part.type[:8] != "preproc_" and part not in about:
                raise unread(part, "an item that the checker does not know")

    def _guarded(self) -> None:
        """Raises UnsupportedSyntax where what a branch asks is not what texts of ours ask: whether a name is not
        defined that it defines, or whether one of a compiler's own is."""
        guards: set[str] = set()
        for node in walk(self.root):
            if node.type != "preproc_ifdef":
                continue
            name = words(node.child_by_field_name("name"))
            first = next((n for n in walk(node) if n.type == "preproc_def"), None)
            own = first is not None and words(first.child_by_field_name("name")) == name
            known = name in ASKED if node.children[0].type == "#ifdef" else own
            if own:
                check_guard(node)
                if name in guards:
                    raise unread(node, "a branch that may be left out")
                guards.add(name)
            if not known or (own and not GUARD.fullmatch(name)):
                raise unread(node, "a branch that the checker does not know")
            for other in (n for n in node.children if own and n.type == "preproc_elif"):
                if not re.match(rf"#elif {name} != 0x[0-9a-f]{{8}}\n#error ", words(other)):
                    raise unread(other, "a branch that the checker does not know")

    def _table(self, node: Any) -> None:
        declarator, value = (
            node.child_by_field_name("declarator"),
            node.child_by_field_name("value"),
        )
        if declarator.type != "array_declarator" or value.type != "initializer_list":
            return
        name = words(declarator.child_by_field_name("declarator"))
        qualifiers = [words(n) for n in node.parent.children if n.type == "type_qualifier"]
        if not {"const", "constexpr"} & set(qualifiers):
            self.unclear.add(name)  # it may be changed elsewhere
        entries = inside(value)
        if all(n.type == "number_literal" for n in entries):
            kind = known_type(node.parent.child_by_field_name("type"))
            if kind is not None:
                self.add_table(name, kind, [literal(n, self.language)[0] for n in entries])

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        kind = node.child_by_field_name("type")
        alone = len(self.functions.get(_function_name(node), ())) == 1
        if self.language == "glsl" and alone:
            return parameters(node, {**self.structs, **VECTORS}, strict)
        if kind is not None and words(kind) in VECTORS:
            return [("", None, False)]  # the same with vectors, beside the one that is read
        return parameters(node, self.structs, strict)

    def result_types(self, kind: Any) -> tuple[list[Type | None], tuple[str, ...]]:
        """(the types, the names) of the results of a function that returns this type."""
        if self.language != "glsl":
            return result_types(kind, self.structs)
        return array_result(kind) or result_types(kind, {**self.structs, **VECTORS})

    def definition(self, name: str, count: int | None = None) -> Any:
        found = super().definition(name, count)
        for other in self.functions.get(name, ()) if count is not None else ():
            params = self.parameters(other)
            if len(params) == count and None in [kind for _, kind, _ in params]:
                raise unread(
                    other, f"a second function {name}, which may be the one that is called"
                )
        return found

    def comment(self, node: Any) -> str:
        return comment_before(node).replace(MARK, "")

    def call(self, node: Any, machine: Machine) -> Call:
        return _Call(self, node, machine)


class _Call(Call):
    file: _File  # pyright: ignore[reportIncompatibleVariableOverride]
    groups: set[str]  # the parameters that are structs or arrays

    def body(self) -> list[Statement]:
        return self._body(self.node.child_by_field_name("body"))

    def run(self, arguments: Sequence[Value]) -> tuple[Value, ...]:
        params = self.file.parameters(self.node)
        self.names = tuple(name for name, _, out in params if out)
        self.groups = {whole(name) for name, _, _ in params if whole(name) != name}
        return super().run(arguments)

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
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
            if target in self.groups:
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
        if left.type != "identifier" or words(left) in self.groups:
            raise unread(left, "what is set is not a variable")
        value: Any = right if operator == "=" else (operator[:-1], left, right, node)
        return [Statement("set", node, words(left), None, value)]

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
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
        return self.implicit(value, I32) if value.type == BOOL else value

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
        a = self.value(inner, scope)
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
        array, at = words(node.child_by_field_name("argument")), node.child_by_field_name("indices")
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


# -- what stands in the tree -----------------------------------------------------------------------


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


def _harmless(node: Any) -> None:
    """Raises UnsupportedSyntax for what the preprocessor may do to the text."""
    text = words(node).strip()
    name, value = (node.child_by_field_name(f) for f in ("name", "value"))
    if node.type == "preproc_def" and GUARD.fullmatch(words(name)) and words(name) not in TYPES:
        if value is None or CHECKSUM.fullmatch(words(value).strip()) or MACRO.match(text):
            return
    if node.type == "preproc_function_def" and ASSUME.fullmatch(text):
        return
    if node.type == "preproc_call" and re.fullmatch(r"#\s*undef \w+_ASSUME", text):
        return
    if node.type == "preproc_call" and re.match(r"#\s*(error|extension)\b", text):
        return
    raise unread(node, "a macro that the checker does not know")


def _function_name(node: Any) -> str:
    declarator = node.child_by_field_name("declarator")
    while declarator.child_by_field_name("declarator") is not None:
        declarator = declarator.child_by_field_name("declarator")
    return words(declarator).rsplit("::", 1)[-1]
