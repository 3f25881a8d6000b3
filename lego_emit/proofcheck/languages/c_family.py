"""C++, CUDA C and GLSL: C's operators on fixed-width integers.

Reference: ISO C++17, [expr.mul], [expr.shift], [conv.integral], [expr.arith.conv]; GLSL 4.60, 4.1.3
and 5.9. GLSL is read by C++'s grammar after two spellings were changed, for its own one refuses
valid text.
"""

from __future__ import annotations

import re
from typing import Any

from ..terms import FALSE, TRUE, made, term_of
from ..text import BOOL, FITS, I32, I64, U32, U64, Machine, Text, Type, Value
from . import tree
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

TYPES = {
    "int": I32, "int32_t": I32, "std::int32_t": I32, "unsigned": U32, "unsigned int": U32,
    "uint": U32, "uint32_t": U32, "std::uint32_t": U32, "long long": I64, "int64_t": I64,
    "std::int64_t": I64, "unsigned long long": U64, "uint64_t": U64, "std::uint64_t": U64,
    "size_t": U64, "std::size_t": U64, "bool": BOOL,
}  # fmt: skip
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
DIVISIONS = {"/": "tdiv", "%": "tmod"}
SHIFTS = {"<<": "shl", ">>": "shr"}
BITS = {"&": "and", "|": "or", "^": "xor"}
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?:__|inline|static).*$", re.MULTILINE)


# Names in GLSL that C++'s grammar keeps for itself; they are marked while it reads them.
GLSL_NAMES = re.compile(
    r"\b(alignas|alignof|and|auto|catch|class|concept|constexpr|delete|enum|explicit|export|extern|"
    r"friend|goto|inline|long|mutable|namespace|new|noexcept|not|nullptr|operator|or|private|"
    r"protected|public|register|requires|short|signed|sizeof|static|template|this|throw|try|typedef|"
    r"typename|union|using|virtual|xor)\b"
)
MARK = "__name"


def words(node: Any) -> str:
    """A node's text, as it was before names were marked."""
    return tree.words(node).replace(MARK, "")


def read(source: str, language: str) -> Text:
    """The functions of a header."""
    plain = source
    for macro in dict.fromkeys(MACRO.findall(source)):
        plain = re.sub(rf"^(?!\s*#)(.*?)\b{macro}\b", r"\1", plain, flags=re.MULTILINE)
    if language == "glsl":
        plain = GLSL_NAMES.sub(rf"\1{MARK}", plain)
        plain = re.sub(r"const (u?int)\[(\d*)\] (\w+) =", r"const \1 \3[\2] =", plain)
        plain = re.sub(r"\bout (u?int) (\w+)", r"\1 &\2", plain)
        plain = re.sub(r"= u?int\[\d*\]\(([^()]*)\)", r"= {\1}", plain)
    else:
        plain = re.sub(r"#ifdef __CUDA_ARCH__\n__device__\n#endif\n", "\n\n\n", plain)
    return _File(parsed(plain, "cpp"), language).text()


class _File(File):
    def collect(self) -> None:
        for node in walk(self.root):
            if node.type == "function_definition":
                self.functions.setdefault(_function_name(node), []).append(node)
            elif node.type == "init_declarator" and node.parent.type == "declaration":
                self._table(node)

    def _table(self, node: Any) -> None:
        declarator, value = (
            node.child_by_field_name("declarator"),
            node.child_by_field_name("value"),
        )
        if declarator.type != "array_declarator" or value.type != "initializer_list":
            return
        name = words(declarator.child_by_field_name("declarator"))
        entries = inside(value)
        if all(n.type == "number_literal" for n in entries):
            kind = _type(node.parent.child_by_field_name("type"))
            self.tables[name] = kind, [_literal(n)[0] for n in entries]

    def parameters(self, node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
        return _parameters(node, strict)

    def comment(self, node: Any) -> str:
        return comment_before(node).replace(MARK, "")

    def call(self, node: Any, machine: Machine) -> Call:
        return _Call(self, node, machine)


class _Call(Call):
    def body(self) -> list[Statement]:
        return self._body(self.node.child_by_field_name("body"))

    def returned(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        kind = TYPES.get(" ".join(words(self.node.child_by_field_name("type")).split()))
        return (self.implicit(values[0], kind),) if len(values) == 1 and kind else values

    def implicit(self, value: Value, kind: Type) -> Value:
        """An implicit conversion."""
        if value.type == kind:
            return value
        if kind == BOOL or value.type == BOOL:
            return self._truth(value) if kind == BOOL else self.machine.converted(value, kind)
        return self.machine.fits(value.term, kind)

    def _truth(self, value: Value) -> Value:
        if value.type == BOOL:
            return value
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
                return [Statement("return", node, values=inside(value[0]) if several else value)]
            case "if_statement":
                condition = inside(node.child_by_field_name("condition"))[0]
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
                return [*self._statements(node.child_by_field_name("initializer")), loop]
            case "compound_statement":
                return self._body(node)
            case "preproc_ifdef" | "preproc_if":
                return self._chosen(node)
        raise unread(node, "a statement that the checker does not know")

    def _chosen(self, node: Any) -> list[Statement]:
        """The plain branch of a square root's #ifdef: the other one uses the machine's own."""
        text = words(node)
        if "sqrt" not in text:
            raise unread(node, "two branches of the preprocessor")
        self.machine.trusted.add("the machine's own square root of a double")
        other = node.child_by_field_name("alternative")
        return [s for n in inside(other) for s in self._statements(n)] if other else []

    def _body(self, node: Any) -> list[Statement]:
        if node.type != "compound_statement":
            return self._statements(node)
        return [s for n in inside(node) for s in self._statements(n)]

    def _declared(self, node: Any) -> list[Statement]:
        kind = _type(node.child_by_field_name("type"))
        made_ = []
        for declarator in inside(node):
            if declarator.type != "init_declarator":
                continue
            target = words(declarator.child_by_field_name("declarator"))
            value = declarator.child_by_field_name("value")
            made_.append(Statement("set", node, target, kind, value))
        if not made_:
            raise unread(node, "a declaration without a value")
        return made_

    def _assignment(self, node: Any) -> list[Statement]:
        if node.type == "comma_expression":
            return [s for n in inside(node) for s in self._assignment(n)]
        if node.type != "assignment_expression":
            if node.type == "cast_expression" and words(node).startswith("(void)"):
                return []
            raise unread(node, "an expression whose value is not used")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = words(node.child_by_field_name("operator"))
        if left.type != "identifier":
            raise unread(left, "not a variable")
        value: Any = right if operator == "=" else (operator[:-1], left, right, node)
        return [Statement("set", node, words(left), None, value)]

    # -- expressions -------------------------------------------------------------------------------

    def value(self, node: Any, scope: Scope) -> Value:
        if isinstance(node, tuple):
            operator, left, right, whole = node
            return self._binary(whole, operator, self.value(left, scope), self.value(right, scope))
        match node.type:
            case "number_literal":
                number, kind = _literal(node)
                return Value(term_of(number), kind)
            case "true" | "false":
                return Value(TRUE if node.type == "true" else FALSE, BOOL)
            case "identifier":
                found = scope.get(words(node))
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
                kind = _type(node.child_by_field_name("type"))
                return self._cast(node.child_by_field_name("value"), kind, scope)
            case "call_expression" | "compound_literal_expression":
                return self._call(node, scope)
            case "subscript_expression":
                return self._entry(node, scope)
        raise unread(node, "an expression that the checker does not know")

    def _promoted(self, value: Value) -> Value:
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
        value = self.value(node, scope)
        self.machine.at(node)
        return self.implicit(value, kind)

    def _call(self, node: Any, scope: Scope) -> Value:
        if node.type == "compound_literal_expression":  # T{x}
            kind = _type(node.child_by_field_name("type"))
            return self._cast(inside(node.child_by_field_name("value"))[0], kind, scope)
        function = node.child_by_field_name("function")
        arguments = inside(node.child_by_field_name("arguments"))
        name = " ".join(words(function).split())
        if function.type == "primitive_type" or name in TYPES:
            return self._cast(arguments[0], TYPES[name], scope)
        if name.startswith("static_cast<"):
            kind = name[len("static_cast<") : -1]
            if kind not in TYPES:
                raise unread(node, "a type that the checker does not know")
            return self._cast(arguments[0], TYPES[kind], scope)
        values = [self.value(a, scope) for a in arguments]
        self.machine.at(node)
        plain = re.sub(r"<.*>", "", name).removeprefix("std::").removeprefix("::")
        if plain in ("min", "max") and plain not in self.file.functions:
            explicit = re.search(r"<(.*)>", name)
            a, b, kind = self._common(*values)
            if explicit and explicit[1] in TYPES:
                kind = TYPES[explicit[1]]
                a, b = (self.implicit(v, kind) for v in values)
            return self.extreme(plain == "min", a, b, kind)
        if plain == "abs" and plain not in self.file.functions:
            return self.machine.fits(abs(values[0].term), values[0].type)
        return self.helper(node, name.rsplit("::", 1)[-1], values)

    def _entry(self, node: Any, scope: Scope) -> Value:
        table = words(node.child_by_field_name("argument")).rsplit("::", 1)[-1]
        if table not in self.file.tables:
            raise unread(node, "a table that is not in the text")
        kind, numbers = self.file.tables[table]
        indices = node.child_by_field_name("indices") or node
        place = self.value(inside(indices)[-1], scope)
        self.machine.at(node)
        return self.machine.looked_up(numbers, place, kind)


# -- what stands in the tree -----------------------------------------------------------------------


def _type(node: Any) -> Type:
    text = " ".join(words(node).split())
    if text not in TYPES:
        raise unread(node, "a type that the checker does not know")
    return TYPES[text]


def _literal(node: Any) -> tuple[int, Type]:
    text = words(node).lower().replace("'", "")
    sign = -1 if text.startswith("-") else 1
    text = text.removeprefix("-")
    hexadecimal = text.startswith("0x")
    digits = text.rstrip("ul")
    suffix = text[len(digits) :]
    try:
        number = int(digits, 0)
    except ValueError:
        raise unread(node, "a number that the checker does not know") from None
    types = (U32, U64) if "u" in suffix else (I32, U32, I64, U64) if hexadecimal else (I32, I64)
    if "l" in suffix:
        types = tuple(t for t in types if t.bits == 64)
    for kind in types:
        if number <= (kind.highest or 0):
            return sign * number, kind
    raise unread(node, "a number that no type holds")


def _function_name(node: Any) -> str:
    declarator = node.child_by_field_name("declarator")
    while declarator.child_by_field_name("declarator") is not None:
        declarator = declarator.child_by_field_name("declarator")
    return words(declarator).rsplit("::", 1)[-1]


def _parameters(node: Any, strict: bool = False) -> list[tuple[str, Any, bool]]:
    """(name, type, whether it is for a result) of each parameter; the type None where it is no plain
    integer."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None:
        return [("", None, False)]
    found = []
    for param in inside(declarator.child_by_field_name("parameters")):
        named, kind = param.child_by_field_name("declarator"), param.child_by_field_name("type")
        known = TYPES.get(" ".join(words(kind).split())) if kind is not None else None
        out = named is not None and named.type == "reference_declarator"
        name = words(inside(named)[0] if out else named) if named is not None else ""
        if named is None or named.type not in ("identifier", "reference_declarator"):
            known = None
        if known is None and strict:
            raise unread(param, "a parameter that is no integer")
        found.append((name, known, out))
    return found
