"""C, C++, CUDA C and GLSL: what a file is made of.

GLSL is read by C++'s grammar after two spellings were changed, for its own one refuses valid text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..launch import Divisions
from ..text import (
    Machine,
    Text,
    Type,
)
from .c_call import CallOfC, FileOfC
from .c_glsl import VECTORS, array_result, as_cpp
from .c_groups import Structs, add_struct, check_guard, parameters, result_types, static_parameters
from .c_types import (
    MARK,
    TYPES,
    known_type,
    literal,
    words,
)
from .tree import (
    Call,
    comment_before,
    inside,
    parsed,
    unread,
    walk,
)

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


def read(source: str, language: str, divisions: Divisions) -> Text:
    """The functions of a header."""
    plain = source
    for macro in dict.fromkeys(MACRO.findall(source)):
        before = rf"^( *(?:\[\[nodiscard\]\] )?(?:static )?){macro}(?= constexpr )"
        plain = re.sub(before, r"\1", plain, flags=re.MULTILINE)
    if language == "glsl":
        plain = as_cpp(plain)
    else:
        plain = re.sub(r"#ifdef __CUDA_ARCH__\n__device__\n#endif\n", "\n\n\n", plain)
    return _File(parsed(plain, "cpp", language), language, divisions).text()


# What a file is made of; in a preprocessor's branch, too.
ITEMS = frozenset(
    """alias_declaration class_specifier declaration function_definition namespace_definition
    static_assert_declaration struct_specifier template_declaration type_definition""".split()
)
WITHIN = ("translation_unit", "declaration_list", "preproc_ifdef", "preproc_if")


class _File(FileOfC):
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
            return parameters(node, {**self.structs, **VECTORS}, self.language, self.counts, strict)
        if kind is not None and words(kind) in VECTORS:
            return [("", None, False)]  # the same with vectors, beside the one that is read
        return parameters(node, self.structs, self.language, self.counts, strict)

    def static(self, node: Any) -> tuple[str, ...]:
        return tuple(name for name, _ in static_parameters(node))

    def result_types(self, kind: Any) -> tuple[list[Type | None], tuple[str, ...]]:
        """(the types, the names) of the results of a function that returns this type."""
        if self.language != "glsl":
            return result_types(kind, self.structs)
        return array_result(kind) or result_types(kind, {**self.structs, **VECTORS})

    @property
    def overloads(self) -> bool:
        """In C++ and CUDA C: an overload for exactly the arguments' types is the one that is called."""
        return self.language in ("cpp", "cuda")

    def definition(
        self, name: str, count: int | None = None, types: Sequence[Type] | None = None
    ) -> Any:
        found = super().definition(name, count, types)
        for other in self.functions.get(name, ()) if count is not None else ():
            params = self.parameters(other)
            if len(params) == count and None in [kind for _, kind, _ in params]:
                raise unread(
                    other, f"a second function {name}, which may be the one that is called"
                )
        return found

    def comment(self, node: Any) -> str:
        whole = node.parent if node.parent.type == "template_declaration" else node
        return comment_before(whole).replace(MARK, "")

    def call(self, node: Any, machine: Machine) -> Call:
        return CallOfC(self, node, machine)


# -- what stands in the tree -----------------------------------------------------------------------


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
