"""C++: one header, C++17 or newer, constexpr noexcept functions in namespace lego unless another is named.

Reference: ISO C++20, https://en.cppreference.com/w/cpp/language/expressions
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lego_emit.emit.arrays import counter
from lego_emit.emit.printer import call
from lego_emit.printers.c_family import C_OPS, CPP_KEYWORDS, HELPERS, CxxPrinter, shifted
from lego_emit.printers.c_names import MACROS, STDINT

if TYPE_CHECKING:
    from lego_emit.printers.c_array import ArrayForm

VIEWS = "#if defined(__cpp_lib_ranges) && (!defined(__clang__) || __clang_major__ >= 16)"

# A root in floating point is within one of the integer's, and exact below 2**52.
FAST_ISQRT = {
    "int32": """
#ifdef __cpp_lib_is_constant_evaluated
  if (!std::is_constant_evaluated()) {
    return static_cast<std::int32_t>(std::sqrt(static_cast<double>(n)));
  }
#endif""",
    "int64": """
#ifdef __cpp_lib_is_constant_evaluated
  if (!std::is_constant_evaluated()) {
    const auto m = static_cast<std::uint64_t>(n);
    const auto r = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
    return static_cast<std::int64_t>(r * r > m ? r - 1 : (r + 1) * (r + 1) <= m ? r + 1 : r);
  }
#endif""",
}


class CppPrinter(CxxPrinter):
    """C++'s spellings: fixed-width types, helpers in a namespace of the unit's own, views."""

    name = "cpp"
    aliases = ("c++", "cxx")
    related = ("sycl",)
    title = "C++"
    extension = ".hpp"
    default_namespace = "lego"
    names_greatest = True
    types = {
        "int32": "std::int32_t",
        "int64": "std::int64_t",
        "uint32": "std::uint32_t",
        "uint64": "std::uint64_t",
    }
    index_names = {"size_t": ("uint64", "std::size_t")}
    declared_types = {
        "int8": "std::int8_t", "int16": "std::int16_t", "int32": "std::int32_t", "int64": "std::int64_t",
        "uint8": "std::uint8_t", "uint16": "std::uint16_t", "uint32": "std::uint32_t", "uint64": "std::uint64_t",
        "size": "std::size_t", "ssize": "std::ptrdiff_t", "bool": "bool",
    }  # fmt: skip
    suffixes = {"int32": "", "int64": "LL", "uint32": "u", "uint64": "ull"}
    ops = {
        **C_OPS,
        "min": call("std::min<{T}>({0},\v{1})", 2),
        "max": call("std::max<{T}>({0},\v{1})", 2),
        "floordiv": call("{unit}_detail::floor_div({0},\v{1})", 2, "floor_div"),
        "floormod": call("{unit}_detail::floor_mod({0},\v{1})", 2, "floor_mod"),
        "isqrt": call("{unit}_detail::isqrt({0})", 1, "isqrt"),
        "lookup": call("{unit}_detail::{0}[{1}]", 2),
        "int": call("{T}{{{0}}}", 1),
    }
    typed_ops = {
        "int32": {"shl.signed": shifted("std::int32_t", "std::uint32_t")},
        "int64": {"shl.signed": shifted("std::int64_t", "std::uint64_t")},
    }
    helpers = HELPERS
    template = "cpp.jinja"
    views = VIEWS
    array_forms = {**CxxPrinter.array_forms, "std::array": "const std::array<{T}, {n}> &{name}"}
    result_forms = ("struct", "array", "out", "inout")
    reserved = CPP_KEYWORDS | MACROS | STDINT | {"typeof"}
    reserved_functions = frozenset({"assert", "offsetof"})
    builtins = frozenset({"size_t", "ptrdiff_t", "abs", "div"})
    walks = "lego_emit.printers.walk_forms:CPP"
    moves = "lego_emit.printers.bmi2_forms:c_lines"
    copies = "lego_emit.printers.copy_cpp:CopiesInCpp"
    qualifiers, own_qualifiers, qualifiers_of_methods = "constexpr", "inline", "constexpr"
    has_hints = has_fits = has_checks = gives_arrays = True
    names_limits = True

    def prefix(self, unit):
        """The namespace has the unit's name."""
        return ""

    def group_type(self, group, T):
        """The library's array, of a result."""
        return group.struct or f"std::array<{T}, {len(group.members)}>"

    def unit_scope(self, unit):
        """The macros, and the helpers' namespace."""
        return {*super().unit_scope(unit), f"{unit}_detail"}

    def op(self, node, view):
        """An operation, where a table that is given is a parameter and not in the namespace."""
        op = super().op(node, view)
        if node.op == "lookup" and node.args[0].value.given:
            return replace(op, text="{0}[{1}]")
        return op

    def fast_isqrt(self, index_type):
        """std::sqrt's, outside constant evaluation."""
        return FAST_ISQRT.get(index_type, "")

    def counter(self, function):
        """It ends at the count, so every value of the type can be one."""
        return counter(function, function.index_type.most)

    def array_form(self, function) -> ArrayForm:
        """What the view's template sees."""
        from lego_emit.printers.c_array import ArrayForm

        return ArrayForm(self, function, ("n", "element"))

    def view_doc(self, function, array: ArrayForm) -> list[str]:
        """The doc comment of the view."""
        text = f"The results of {function.name} over {array.over}, as a random-access view. "
        text += f"The parameters are those of {function.name}."
        return self.comment(text, "///")

    def view(self, array: ArrayForm) -> str:
        """The statement that returns the view."""
        count = f"{array.C}{{{array.count}}}" if array.fixed else array.count
        element = array.names["element"]
        items = f"std::views::iota({array.C}{{0}},\v{count})"
        return f"return {items}\v| std::views::transform({element});"

    def opening(self, unit, helpers, functions):
        """What the functions include, the namespace's head and the helpers."""
        lines = ["#include <cstdint>", "", *self.namespace_head()]
        if any(f.axes for f in functions):
            lines[1:1] = ["#if __cplusplus >= 202002L", "#include <ranges>", "#endif"]
        if any(node.op == "isqrt" for f in functions for node in f.nodes()):
            lines[1:1] = ["#include <type_traits>"]
            lines.insert(0, "#include <cmath>")
        if any(node.op in ("min", "max") for f in functions for node in f.nodes()):
            lines.insert(0, "#include <algorithm>")
        if any(f.asserted for f in functions):
            lines.insert(0, "#include <cassert>")
        arrays = any(not g.struct for f in functions for g in f.groups)
        given = any(f.aggregate is not None and not f.aggregate.struct for f in functions)
        if (arrays and self.naming.arrays == "std::array") or (given and not self.writes_results):
            lines.insert(lines.index("#include <cstdint>"), "#include <array>")
        if self.sized or any({"size", "ssize"} & f.declared for f in functions):
            lines.insert(lines.index("#include <cstdint>"), "#include <cstddef>")
        if any("__umulh" in text for text in helpers):
            lines[lines.index("#include <cstdint>")] += (
                "\n#ifdef _MSC_VER\n#include <intrin.h>\n#endif"
            )
        if self.sized:
            lines += ["", 'static_assert(sizeof(std::size_t) == 8, "size_t must have 64 bits");']
        if helpers:
            inner = "\n\n".join(helpers)
            detail = f"{unit}_detail"
            lines += ["", f"namespace {detail} {{", "", inner, "", f"}}  // namespace {detail}"]
        return "\n".join(lines)
