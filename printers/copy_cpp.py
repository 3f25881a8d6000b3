"""How C++ spells copies between memory layouts: as C does, in templates of any type of the element's size.

Reference: https://en.cppreference.com/w/cpp/container/span.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lego_emit.printers.copy_forms import C, CopiesInC, LinesInC
from lego_emit.printers.copy_kernels import COMMA, WORDS

CPP = replace(
    C,
    one=f"std::memcpy({{to}}{COMMA}{{of}}{COMMA}{{count}});",
    run=f"std::memcpy({{to}}{COMMA}{{of}}{COMMA}{{count}});",
    zeros="std::memset(static_cast<void*>({to}), 0, {count});",
    each=("const auto at = {call};", C.each[1], f"std::{C.each[2]}"),
)


class LinesInCpp(LinesInC):
    """The same as templates, of any type of the element's size."""

    forms = CPP
    restrict, star = " __restrict", "*"
    mark, constant = "inline", "inline constexpr"
    start = "inline void"
    no_parameters = "()"

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        taken = {*names.values(), routine.name}
        self.type = next(n for n in ("T", "Element", "ElementType") if n not in taken)
        self.template = (f"template <class {self.type}>",)
        self.p = f"{routine.name}_detail::"

    def address(self, text: str) -> str:
        """A pointer as a number."""
        return f"reinterpret_cast<std::uintptr_t>({text})"

    def helpers(self) -> list[str]:
        """In a namespace of their own."""
        self.p, scope = "", self.p
        found = super().helpers()
        self.p = scope
        at = next((k for k, line in enumerate(found) if line.startswith("typedef")), None)
        if at is None:
            return found
        name = scope.removesuffix("::")
        return [
            *found[:at],
            f"namespace {name} {{",
            *found[at:-1],
            f"}}  // namespace {name}",
            "#endif",
        ]

    def value_lines(self) -> list[str]:
        """In the same namespace."""
        return self._scoped(super().value_lines)

    def run_lines(self) -> list[str]:
        """In the same namespace."""
        return self._scoped(super().run_lines)

    def _scoped(self, lines: Callable[[], list[str]]) -> list[str]:
        """Lines in the namespace of helpers."""
        self.p, scope = "", self.p
        found = lines()
        self.p = scope
        name = scope.removesuffix("::")
        return ["", f"namespace {name} {{", *found[1:], f"}}  // namespace {name}"] if found else []

    @property
    def own_prefix(self) -> str:
        """The namespace of what no other routine calls."""
        return f"{self.routine.name}_detail::"

    @property
    def own_names(self) -> str:
        """No more in the namespace."""
        return ""

    def box_lines(self) -> list[str]:
        """In the same namespace."""
        scope = self.own_prefix.removesuffix("::")
        found = super().box_lines()
        return (
            ["", f"namespace {scope} {{", *found[1:], f"}}  // namespace {scope}"] if found else []
        )

    def of_word(self, T: str, text: str) -> str:
        """A number as one of another type."""
        return f"static_cast<{T}>({text})"

    def sized(self, text: str) -> str:
        """A number as a size_t."""
        return f"static_cast<std::size_t>({text})"

    def whole(self, text: str) -> str:
        """A number as an int64."""
        return f"static_cast<{self.integer}>({text})"

    def cast(self, T: str, text: str) -> str:
        """A vector as one of another type."""
        return f"reinterpret_cast<{T}>({text})"

    def pointer_to(self, T: str, text: str) -> str:
        """A pointer to another type, of addresses that are known to suit it."""
        return f"static_cast<{T}*>(static_cast<void*>({text}))"

    def word(self, size: int) -> str:
        """An unsigned type of so many bytes."""
        return f"std::{WORDS[size]}"

    def checks(self) -> list[str]:
        """What a type has to be."""
        size = self.routine.element_bytes
        return [
            f'  static_assert(sizeof({self.type}) == {size}, "the elements must have {size} byte{"s" * (size > 1)}");',
            f'  static_assert(std::is_trivially_copyable_v<{self.type}>, "elements are copied as bytes");',
        ]

    def element(self) -> list[str]:
        """Any type has the size of an element."""
        return []

    def overloads(self) -> list[str]:
        """The routine of spans, for C++20."""
        integer, name = self.integer, self.routine.name
        source, destination = self.routine.functions[:2]
        sizes = [f"{integer} {n}" for n in self.names.values()]
        given = ", ".join(self.names.values())
        T = self.type
        S = next(n for n in ("S", "Source", "SourceType") if n not in (*self.names.values(), name))
        parameters = COMMA.join([*sizes, f"std::span<{S}> src", f"std::span<{T}> dst"])
        call = ", ".join([*self.names.values(), "src.data()", "dst.data()"])
        return [
            "",
            "#if defined(__cpp_lib_span)",
            "/// The same of spans, which debug builds check to be as long as the memories.",
            f"template <class {S}, class {T}>",
            f"  requires std::is_same_v<std::remove_const_t<{S}>, {T}>",
            *self.printer.head(f"inline void {name}", parameters, " {").split("\n"),
            f"  assert(src.size_bytes() >= {self.sized(f'{source}({given})')});",
            f"  assert(dst.size_bytes() >= {self.sized(f'{destination}({given})')});",
            f"  {name}<{T}>({call});",
            "}",
            "#endif",
        ]


class CopiesInCpp(CopiesInC):
    """What a file's template has of its copies."""

    lines_of, truths = LinesInCpp, ""
    own = (*CopiesInC.own, "wide")
    headers = (
        "#include <cassert>", "#include <cstddef>", "#include <cstring>", "#include <type_traits>",
        "#if __cplusplus >= 202002L", "#include <span>", "#endif",
    )  # fmt: skip
