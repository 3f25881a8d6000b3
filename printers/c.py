"""C99: one header of static inline functions, for C23 and C++ too.

Reference: ISO C99, https://en.cppreference.com/w/c/language (7.1.3 and 7.26: reserved names;
6.5.7: a negative number shifted to the left is undefined, and to the right as the compiler says,
which is by its sign in all of them).
"""

from dataclasses import replace

from lego_emit.emit.printer import BREAK, Op, call
from lego_emit.ir.nodes import Node
from lego_emit.printers.c_array import ArrayForm, free
from lego_emit.printers.c_family import (
    C_OPS,
    CPP_KEYWORDS,
    EXTREMES,
    HELPERS,
    UNARY,
    HeaderPrinter,
)
from lego_emit.printers.c_names import FUNCTIONS, MACROS, STDINT

MARKS = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}

SIZED = """#include <stddef.h>
#include <stdint.h>

#if SIZE_MAX < UINT64_MAX
#error "size_t must have 64 bits"
#endif"""


class CPrinter(HeaderPrinter):
    """C's spellings: <stdint.h>'s types, helpers named after the unit and the index type."""

    name = "c"
    aliases = ("c99",)
    title = "C"
    extension = ".h"
    names_greatest = True
    types = {"int32": "int32_t", "int64": "int64_t", "uint32": "uint32_t", "uint64": "uint64_t"}
    index_names = {"size_t": ("uint64", "size_t")}
    declared_types = {
        "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
        "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
        "size": "size_t", "ssize": "ptrdiff_t", "bool": "bool",
    }  # fmt: skip
    suffixes = {"int32": "", "int64": "LL", "uint32": "u", "uint64": "ull"}
    ops = {
        **C_OPS,
        "min": call("{unit}_min({0},\v{1})", 2, "min"),
        "max": call("{unit}_max({0},\v{1})", 2, "max"),
        "floordiv": call("{unit}_floor_div({0},\v{1})", 2, "floor_div"),
        "floormod": call("{unit}_floor_mod({0},\v{1})", 2, "floor_mod"),
        "isqrt": call("{unit}_isqrt({0})", 1, "isqrt"),
        "lookup": call("{0}[{1}]", 2),
        "int": Op("({T}){0}", UNARY, (UNARY,)),
        "shl.signed": Op("({T})((u{T}){0} << {1})", UNARY, (UNARY, 13)),
    }
    typed_ops = {"int32": {"int": call("({0})", 1)}}  # a comparison's value is an int
    helpers = {
        f"{name}_{mark}": text
        for name, text in (EXTREMES | HELPERS).items()
        for mark in MARKS.values()
    }
    cast = "({T}){0}"
    truths = ("0", "1")
    template = "c.jinja"
    reserved = CPP_KEYWORDS - {"std", "lego"} | {"typeof", "typeof_unqual"} | STDINT | MACROS
    reserved_functions = frozenset(FUNCTIONS)
    walks = "lego_emit.printers.walk_forms:C"
    moves = "lego_emit.printers.bmi2_forms:c_lines"
    steps = "divisions"
    copies = "lego_emit.printers.copy_forms:CopiesInC"
    qualifiers = host = "static inline"
    has_hints = has_fits = has_checks = True
    static = "macro"
    names_limits = True

    def fit(self, node, function):
        """The complement of a comparison is a choice: compilers warn of ~ there."""
        node = super().fit(node, function)
        signed = function.index_type.least < 0
        if node.op == "not" and node.args[0].op == "int":
            ones = -1 if signed else function.index_type.most
            choices = (Node("const", (), ones - 1), Node("const", (), ones))
            return Node("select", (*node.args[0].args, *choices))
        return node

    def op(self, node, view):
        """The helpers have the index type in their names: C has no overloads."""
        op = super().op(node, view)
        if op.helper is None:
            return op
        helper = self.helper_name(op.helper, view.index_type)
        return replace(op, text=op.text.replace(op.helper, helper), helper=helper)

    def helper_name(self, name, index_type):
        """Its name and the index type."""
        return f"{name}_{MARKS[index_type]}"

    filled = "{T} *{name}"

    def table_parameter(self, form, T):
        """A pointer to constants."""
        return f"const {T} *{{name}}"

    def head(self, start, parameters, end=None, indent=0):
        """A function's head; one without parameters says so."""
        return super().head(start, parameters or "void", end, indent)

    def unread(self, function):
        """A cast to void for each."""
        return [f"(void){one.name};" for one in function.entries if not function.is_read(one)]

    def struct(self, function, result):
        """A type of its own."""
        first, *members, _ = super().struct(function, result)
        return [f"typedef {first}", *members, f"}} {result};"]

    def struct_lines(self, group, types):
        """A type of its own."""
        first, *members, _ = super().struct_lines(group, types)
        return [f"typedef {first}", *members, f"}} {group.struct};"]

    def several(self, function, result):
        """A variable: C++ has no compound literals."""
        names = {one.name for one in (*function.entries, *function.tables)}
        name = free("result", names | {result} | {name for name, _ in function.body})
        start = f"const {result} {name} = "
        return [self.braced(start, function.texts(), 2), f"return {name};"]

    def array_form(self, function) -> ArrayForm:
        """What the fill's template sees."""
        return ArrayForm(self, function, ("out",))

    def fill_doc(self, function, array: ArrayForm) -> list[str]:
        """The doc comment of the fill function."""
        out = array.names["out"]
        lines = [
            f"Puts the results of {function.name} over {array.over}, into {out}. The parameters "
            f"before {out} are those of {function.name}.",
            f"@param {out} room for {array.plain_count} results",
        ]
        return [part for line in lines for part in self.comment(line, "///")]

    def element(self, function, array: ArrayForm) -> str:
        """The call for one element in the loops over the axes, which count from 0."""
        base = f" + {function.base}" if function.base else ""
        arguments = [*array.scalars, *(f"{name}{base}" for name, _ in array.loops)]
        return f"{function.name}({f',{BREAK}'.join(arguments)})"

    def stepped(self, function, array: ArrayForm) -> list[str]:
        """The loops over the axes, where an element follows from the one before."""
        from lego_emit.printers.step_forms import c

        return c(self, function, array)

    def opening(self, unit, helpers, functions):
        """What the functions include, and the helpers."""
        includes = SIZED if self.sized else "#include <stdint.h>"
        if any(f.is_condition or f.walk or "bool" in f.declared for f in functions):
            includes = f"#include <stdbool.h>\n{includes}"
        if not self.sized and any({"size", "ssize"} & f.declared for f in functions):
            includes = f"#include <stddef.h>\n{includes}"
        if any(f.asserted for f in functions):
            includes = f"#include <assert.h>\n{includes}"
        if any("__umulh" in text for text in helpers):
            includes += "\n#ifdef _MSC_VER\n#include <intrin.h>\n#endif"
        return "\n\n".join([includes, *helpers])
