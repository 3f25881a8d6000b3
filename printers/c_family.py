"""Spellings shared by the languages with C's operators and C's precedence.

Reference: https://en.cppreference.com/w/c/language/operator_precedence (15 tightest, 3 ?:).
Operands of shifts and bit operations are bracketed unless they are atoms or products, as
compilers' -Wparentheses asks.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

from lego_emit.emit.printer import (
    ATOM,
    BREAK,
    FunctionView,
    Op,
    Printer,
    infix,
    unsigned_fit,
)
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Group, Program
from lego_emit.ir.relations import Range, const
from lego_emit.notation import C
from lego_emit.printers.c_lines import UNARY, broken, cast_need, guard
from lego_emit.table_lookup import Entries

if TYPE_CHECKING:
    from lego_emit.printers.c_methods import Holder
    from lego_emit.printers.cxx_view import CxxView

C_OPS: dict[str, Op] = {
    "mul": infix("*", 13),
    "div": infix("/", 13),
    "mod": infix("%", 13),
    "add": infix("+", 12),
    "sub": infix("-", 12),
    "shl": infix("<<", 11, 13, 13),
    "shr": infix(">>", 11, 13, 13),
    "lt": infix("<", 10, 11, 11),
    "le": infix("<=", 10, 11, 11),
    "gt": infix(">", 10, 11, 11),
    "ge": infix(">=", 10, 11, 11),
    "eq": infix("==", 9, 11, 11),
    "ne": infix("!=", 9, 11, 11),
    "and": infix("&", 8, 13, 13),
    "xor": infix("^", 7, 13, 13),
    "or": infix("|", 6, 13, 13),
    "land": infix("&&", 5, 5, 6),
    "lor": infix("||", 4, 6, 6),
    "select": Op("{0}\v? {1}\v: {2}", 3, (4, 4, 3)),
    "neg": Op("-{0}", UNARY, (UNARY + 1,)),
    "not": Op("~{0}", UNARY, (UNARY,)),
    "lnot": Op("!{0}", UNARY, (UNARY,)),
}


def below_zero(node: Node) -> bool:
    """Whether the node may be a negative number."""
    low = node.value if node.op == "const" else node.lo
    return not isinstance(low, int) or low < 0


def shifted(signed: str, unsigned: str) -> Op:
    """A shift to the left of what may be negative, in C++; by two types of one width."""
    return Op(f"static_cast<{signed}>(static_cast<{unsigned}>({{0}}) << {{1}})", ATOM, (0, 13))


OVERFLOWING = frozenset({"add", "sub", "mul", "shl", "neg"})

C_KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while""".split()
)

CPP_KEYWORDS = C_KEYWORDS | frozenset(
    """alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor bool
    catch char8_t char16_t char32_t class compl concept consteval constexpr constinit const_cast
    co_await co_return co_yield contract_assert decltype delete dynamic_cast explicit export false friend mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    reinterpret_cast requires static_assert static_cast synchronized template this thread_local
    throw true try typeid typename using virtual wchar_t xor xor_eq std lego main NULL""".split()
)

EXTREME = """
{{ printer.helper_head("NAME", unit, index_type, T ~ " a,\v" ~ T ~ " b") }}
  return a SIGN b ? a : b;
}
"""

EXTREMES = {  # of the languages whose headers have none
    "min": EXTREME.replace("NAME", "min").replace("SIGN", "<"),
    "max": EXTREME.replace("NAME", "max").replace("SIGN", ">"),
}


HELPERS = {
    "floor_div": """
// The quotient rounded down; the language rounds towards zero.
{{ printer.helper_head("floor_div", unit, index_type, T ~ " a,\v" ~ T ~ " b") }}
  const {{ T }} q = a / b;
  return (a < 0) != (b < 0) && q * b != a ? q - 1 : q;
}
""",
    "floor_mod": """
// The remainder of the quotient rounded down: it has the divisor's sign.
{{ printer.helper_head("floor_mod", unit, index_type, T ~ " a,\v" ~ T ~ " b") }}
  if (b == -1) return 0;  // the least integer % -1 is undefined
  const {{ T }} r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
""",
    "isqrt": """
// The square root rounded down, two bits of n at a time.
{{ printer.helper_head("isqrt", unit, index_type, T ~ " n") }}
{{- printer.fast_isqrt(index_type) }}
  {{ T }} root = 0;
  for ({{ T }} bit = 1{{ printer.suffixes[index_type] }} << {{ 30 if "32" in index_type else 62 }}; bit != 0; bit >>= 2) {
    if (n >= root + bit) {
      n -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return root;
}
""",
}


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """A paragraph as lines, the first one indented and further ones by four more."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


class HeaderPrinter(Printer):
    """What C, C++ and CUDA C share: one header of functions.

    qualifiers: what stands before a function's type.
    host: what stands before that of a condition on sizes, which the host alone asks.
    attributes: what stands before those of an emitted function, with a blank.
    head_end: what ends a function's head.
    constant: what stands before a constant table's type.
    unused: the form of a parameter that is not read.
    device_macro: what the compiler defines while it compiles for a device; "" where there is none.
    """

    loops = "lego_emit.printers.loop_forms:PLAIN"
    switches = "lego_emit.printers.switch_forms:PLAIN"
    device_macro = ""
    host = ""

    hexadecimal = True
    remark = "//"
    notation = replace(
        C, most={31: "INT32_MAX", 63: "INT64_MAX", 32: "UINT32_MAX", 64: "UINT64_MAX"}
    )
    widens = True
    declaration = "const {T} {name} = {expr};"
    qualifiers = qualifiers_of_methods = ""
    attributes = ""
    head_end = " {"
    constant = "static const"
    has_structs = has_arrays = declares = implicit = has_packed = True
    fills, filled = "argument", "{T}* {name}"  # the form of such an array
    array_forms = {"": "const {T} {name}[{n}]", "pointer": "const {T} *{name}"}
    result_forms = ("struct", "out", "inout")
    wrapping = {"uint32": "wraps", "uint64": "wraps"}
    native_member = ".{}"
    # whether it has static_assert; the qualifiers of a function with a type of a code base, where those are
    # others: what it calls may be no constant
    asserts, own_qualifiers = False, ""
    # What is written to: an integer or a struct, an array; the text that does so, and for a member.
    out_forms = ("{T} *{name}", "{T} {name}[{n}]", "*{name}", "->")
    unused: str | None = None
    suffixes: Mapping[str, str] = {}  # index type -> a literal's, where one is needed

    def prefix(self, unit: str) -> str:
        """What stands before the name of a helper or a table: the unit's, where there is no
        namespace."""
        return f"{unit}_"

    def table_name(self, name, unit):
        """It begins as the helpers do."""
        return f"{self.prefix(unit)}{name}"

    def opening(self, unit: str, helpers: list[str], functions: list[FunctionView]) -> str:
        """The text between the include guard and the functions, helpers included."""
        raise NotImplementedError

    def closing(self) -> str:
        """The text after the functions."""
        return f"}}  // namespace {self.namespace}\n" if self.namespace else ""

    @property
    def sized(self) -> bool:
        """Whether the index type is spelled size_t."""
        return self.types.get("uint64", "").endswith("size_t")

    def notation_of(self, index_type):
        """Where size_t is the index type, it has a greatest number of its own."""
        if not self.sized or index_type != "uint64":
            return self.notation
        return replace(self.notation, most={**self.notation.most, 64: "SIZE_MAX"})

    def namespace_head(self) -> list[str]:
        """The line that begins the namespace, where there is one."""
        return [f"namespace {self.namespace} {{"] if self.namespace else []

    def unit_scope(self, unit):
        """The macros that the file defines."""
        return {"LEGO_HOST_DEVICE", self.guard(unit), self.assume(unit)}

    def assume(self, unit: str) -> str:
        """The macro by which the compiler is told a range."""
        return f"{self.guard(unit)}_ASSUME"

    def guard(self, unit: str) -> str:
        """The macro that keeps a file from being included twice."""
        scope = self.naming.namespace.replace("::", "_")
        return guard(f"{scope}_{unit}" if scope else unit, self.extension)

    def unit_mark(self, unit):
        """The include guard, as a message names it."""
        return f"the include guard {self.guard(unit)}"

    def hints(self, function: FunctionView) -> list[str]:
        """Each parameter's range as a condition, as far as numbers and other parameters bound it."""
        found, names = [], {p.name for p in function.alone}
        for p in function.alone:
            if p.static:  # the compiler knows it
                continue
            least, end = (
                bound
                if bound is not None and (bound.op == "const" or bound.value in names)
                else None
                for bound in (p.range.least, p.range.end)
            )
            if least == const(0) and function.index_type.least == 0:
                least = None
            told = [self.expression(c, function) for c in Range(least, end).conditions(p.name)]
            if told:
                found.append(self.inline(" && ".join(told)))
        return found

    def companions(self, name):
        """The struct of several results, and the array form."""
        return {self.result_name(name), self.array_name(name)}

    def head(self, start: str, parameters: str, end: str | None = None, indent: int = 0) -> str:
        """A function's head, its parameters separated by BREAK marks; end: head_end unless given;
        indent: where it begins."""
        end = self.head_end if end is None else end
        whole, width = f"{start}({parameters}){end}", self.line_width - indent
        if len(whole) <= width:
            return whole.replace(BREAK, " ")
        if len(start) >= width:
            start = f"\n{' ' * indent}".join(start.rsplit(" ", 1))
            if len(whole) - start.index("\n") - 1 <= width:
                return f"{start}({parameters}){end}".replace(BREAK, " ")
        lines = self._packed(f"{parameters}){end}".split(BREAK), indent + 4)
        return "\n".join([f"{start}(", *lines])

    def _broken(self, text, indent):
        return broken(text, indent, self.line_width, self._looseness)

    def braced(self, start: str, texts: list[str], indent: int) -> str:
        """A statement that begins with start and puts several results in braces, one on a line
        where they are long."""
        whole = f"{start}{{{f',{BREAK}'.join(texts)}}};"
        if indent + len(whole) <= self.line_width:
            return whole.replace(BREAK, " ")
        lines = [self.line(f"{text},", indent + 4) for text in texts]
        inner = "\n".join(" " * (indent + 4) + line for line in lines)
        return f"{start}{{\n{inner}\n{' ' * indent}}};"

    def struct(self, function: FunctionView, result: str) -> list[str]:
        """The definition of the struct of several results, which is called result."""
        members = (f"  {T} {name};" for name, T in function.typed_outputs)
        return [f"struct {result} {{", *members, "};"]

    def shared(self, group: Group, lines: list[str]) -> list[str]:
        """The definition of a struct that other files may have, too: under a guard of its own."""
        macro = self.struct_guard(group)
        # A preprocessor's integer may have 32 bits with its sign.
        sum_of = f"0x{crc32(chr(10).join(lines).encode()) & 0x7FFFFFFF:08x}"
        return [
            f"#ifndef {macro}",
            f"#define {macro} {sum_of}",
            *lines,
            f"#elif {macro} != {sum_of}",
            f"#error two different structs are named {group.struct}; rename one of them",
            f"#endif  // {macro}",
        ]

    def struct_guard(self, group: Group) -> str:
        """The macro that keeps a struct from being defined twice."""
        scope = self.namespace.replace("::", "_")
        return "_".join(filter(None, ["LEGO_STRUCT", scope, group.struct]))

    def member(self, group, place):
        """Of what is written to in C, through a pointer."""
        if group.native is not None:
            from lego_emit.printers import c_natives

            return c_natives.member(self, group, place)
        if group.written and group.struct:
            return f"{group.name}{self.out_forms[3]}{group.fields[place]}"
        return super().member(group, place)

    def group_parameter(self, form, group, T):
        """An array is an array of constants, of which its elements are read."""
        if group.written:
            from lego_emit.printers import c_results

            return c_results.target(self, group, T)
        if group.native is not None and group.native.passing:
            from lego_emit.printers import c_natives

            return form.replace("{T} {name}", c_natives.passed(group, group.native.passing))
        if group.struct or group.open:
            text = super().group_parameter(form, group, T)
            mark = "[[maybe_unused]] " if group.open else ""
            return f"{mark}{text}" if mark and form.startswith(mark) else text
        form = form.replace("{T} {name}", self.array_forms[self.naming.arrays])
        return form.format(name=group.name, T=T, n=len(group.members))

    def outs(self, function: FunctionView) -> list[str]:
        """The parameters that results are written to, where they are."""
        if function.fills:
            return [self.filled.format(T=function.output_types[0], name=function.fills)]
        if not self.writes(function):
            return []
        from lego_emit.printers import c_results

        return c_results.outs(self, function)

    def writes(self, function: FunctionView) -> bool:
        """Whether results are written to parameters."""
        if function.fills:
            return True
        if not function.several or not self.writes_results:
            return False
        from lego_emit.printers import c_results

        c_results.check(function, self.naming.results)
        return True

    def own_type(self, function: FunctionView) -> str:
        """The type of what is returned where results are written to parameters."""
        return function.output_types[-1] if function.beside else "void"

    def written(self, function: FunctionView) -> list[str]:
        """The statements that write results where they go."""
        if function.fills:
            return []
        from lego_emit.printers import c_results

        return c_results.statements(self, function)

    def returned(self, function: FunctionView, result: str) -> list[str]:
        """The statements that return several results."""
        whole = function.aggregate
        if whole is not None and whole.native is not None and whole.native.make:
            from lego_emit.printers import c_natives

            return [self.line(f"return {c_natives.value(function)};", 2)]
        return self.several(function, result)

    def included(self, program: Program) -> list[str]:
        """The lines that include what types of a code base need."""
        from lego_emit.printers import c_natives

        return c_natives.included(program)

    def checked(self, function: FunctionView) -> list[str]:
        """The statements that check the types of a code base."""
        from lego_emit.printers import c_natives

        return c_natives.checked(self, function)

    def template_lines(self, function: FunctionView | Holder) -> list[str]:
        """The head of a template, of static sizes."""
        if not function.template:
            return []
        from lego_emit.printers.c_static import template_head

        return template_head(function.template, self.line_width)

    def receiver_type(self, name: str) -> str:
        """What the type of a receiver is called, by the name of its subject."""
        return self.naming.type(name)

    def receivers(self, functions: list[FunctionView], fits: list[FunctionView]) -> list[Holder]:
        """The types whose methods functions are."""
        from lego_emit.printers.c_methods import receivers

        return receivers(self, functions, fits)

    def head_of(self, function: FunctionView, result: str, parameters: str) -> str:
        """The head of a function, of a method or of a condition on sizes."""
        if function.receiver is not None:
            from lego_emit.printers.c_methods import head

            return head(self, function, result, parameters)
        if function.is_condition:
            return self.head(f"{self.attributes}{self.host} bool {function.name}", parameters)
        own, outside = self.own_qualifiers, function.calls_others
        start = f"{own if outside and own else self.qualifiers} {result} {function.name}"
        plain = self.writes(function) and not function.beside
        start = start if plain else f"{self.attributes}{start}"
        return self.head(start, parameters, " {" if outside else None)

    def static_macros(self, program: Program) -> list[str]:
        """The texts of the macros that static sizes are."""
        if not program.constants:
            return []
        from lego_emit.emit.static import said_of
        from lego_emit.printers.c_static import macro

        return [macro(p, self.comment(said_of(p, self))) for p in program.constants]

    def instance(self, function):
        """A template with its arguments."""
        if self.static != "template" or not function.static:
            return function.name
        from lego_emit.printers.c_static import argument

        return f"{function.name}<{', '.join(argument(p.default or 0) for p in function.static)}>"

    def several(self, function: FunctionView, result: str) -> list[str]:
        """The statements that return several results as the struct result."""
        raise NotImplementedError

    def unread(self, function: FunctionView) -> list[str]:
        """The statements that keep compilers from warning of parameters that are not read."""
        return []

    def _packed(self, pieces: list[str], indent: int) -> list[str]:
        """Parameters on as few lines as they need."""
        lines: list[str] = []
        for piece in pieces:
            if lines and len(lines[-1]) + 1 + len(piece) <= self.line_width:
                lines[-1] += f" {piece}"
                continue
            long = indent + len(piece) > self.line_width
            if long and (parts := re.fullmatch(r"(.+) (\w+[,)].*)", piece)):
                lines += [" " * indent + parts[1], " " * (indent + 4) + parts[2]]
            else:
                lines.append(" " * indent + piece)
        return lines

    def fast_isqrt(self, index_type: str) -> str:
        """Lines of the square root that use the machine's own where it runs."""
        return ""

    def dividing(self):
        """With helpers whose products are twice as wide as the index type."""
        from lego_emit.printers import c_prepared

        return c_prepared.dividing(self)

    def helper_name(self, name: str, index_type: str) -> str:
        """What the helper for an index type is called."""
        return name

    def helper_head(self, name: str, unit: str, index_type: str, parameters: str) -> str:
        """A helper function's head."""
        called = f"{self.prefix(unit)}{self.helper_name(name, index_type)}"
        return self.head(f"{self.qualifiers} {self.types[index_type]} {called}", parameters)

    def table(self, entries: Entries, index_type: str) -> str:
        """An array, one for each translation unit: where the linker chose one for all, units of one
        name in libraries that are loaded together would read the first one's. clang-format would
        lay it out in columns."""
        head = f"{self.constant} {self.types[index_type]} {entries.name}[{len(entries)}] = {{"
        lines = self.entry_lines(entries, index_type, 4)
        return f"// clang-format off\n{head}\n{lines}}};\n// clang-format on"

    def table_parameter(self, form: str, T: str) -> str:
        """A pointer to constants."""
        return f"const {T}* {{name}}"

    def words_parameter(self, T: str, name: str, writes: bool) -> str:
        """A parameter that is an array of words: whether they are written to."""
        return f"{'' if writes else 'const '}{T} *{name}"

    def accessors(self, function: FunctionView) -> list[str]:
        """The functions that read and write fields of words."""
        from lego_emit.printers.c_packed import CFields

        return CFields(self, function).lines()

    def comment(self, text: str, mark: str = "//") -> list[str]:
        """A paragraph of a comment as lines."""
        return wrapped(text, self.line_width - len(mark) - 1)

    def literal(self, value, index_type):
        """A literal with its suffix where the type would be another one."""
        suffix = self.suffixes[index_type]
        if value == self.index_types[index_type].least < 0:
            return f"({value + 1}{suffix} - 1)"  # -x is an operator on x, and that x is too big
        return f"{value}{suffix if suffix.startswith('u') else ''}"

    def size_type(self, index_type):
        """64 bits: a caller's longer integer would lose its upper ones without a word."""
        return self.index_types["int64" if index_type.least < 0 else "uint64"]

    def fit(self, node, function):
        """Unsigned operands need no helper. What may be negative is shifted to the left as an unsigned
        number: of a signed one that is undefined in C, and in C++ before C++20."""
        node = unsigned_fit(node, function)
        signed = function.index_type.least < 0
        if node.op == "shl" and signed and below_zero(node.args[0]):
            return replace(node, op="shl.signed")
        return node

    def op(self, node, view):
        """C's spelling; an int that would overflow before it is widened is cast first."""
        op = super().op(node, view)
        if view.index_type == "int64" and node.op in OVERFLOWING:
            if not any(map(self.brings_type, node.args[:1] if node.op == "shl" else node.args)):
                k = int(node.op != "shl" and node.args[0].op == "const" and len(node.args) > 1)
                text = op.text.replace(f"{{{k}}}", self.cast.replace("0", str(k)))
                need = cast_need(self.cast)
                return replace(op, text=text, needs=(*op.needs[:k], need, *op.needs[k + 1 :]))
        return op

    def conversion(self, kind: str) -> Op:
        """A cast of the language."""
        need = cast_need(self.cast)
        return Op(self.cast, UNARY if need else ATOM, (need,))

    def brings_type(self, node: Node) -> bool:
        """Whether the text has the index type: a literal, however combined, is an int, and a parameter of
        a narrower type is no more."""
        if node.op == "cast":
            return bool(node.value)
        if node.op in ("const", "var"):
            return node.op == "var"
        if node.op in ("int", "min", "max", "floordiv", "floormod", "isqrt", "lookup"):
            return True
        if node.op in OVERFLOWING:
            return True  # op() sees to it
        value_args = {"shl": node.args[:1], "shr": node.args[:1], "select": node.args[1:]}
        return any(self.brings_type(a) for a in value_args.get(node.op, node.args))

    def doxygen(self, function: FunctionView) -> list[str]:
        """The doc comment's lines."""
        told = function.doxygen
        if self.writes(function):
            from lego_emit.printers import c_results

            told = c_results.told(function)
        return [part for line in told for part in self.comment(line, "///")]


class CxxPrinter(HeaderPrinter):
    """What C++ and CUDA C share beyond C."""

    attributes = "[[nodiscard]] "
    static = "template"
    receiver, native_receiver, asks_types = "{}", "{}", True
    head_end = " noexcept {"
    asserts = True
    cast = "static_cast<{T}>({0})"
    angles = True
    constant = "static constexpr"
    unused = "[[maybe_unused]] {T} {name}"
    has_views = True
    array_forms = {
        "": "const {T} (&{name})[{n}]",
        "reference": "const {T} (&{name})[{n}]",
        "pointer": "const {T} *{name}",
    }
    out_forms = ("{T} &{name}", "{T} (&{name})[{n}]", "{name}", ".")
    host = "constexpr"
    namespaces = "::"

    def operands(self, node, view, needs):
        """Arguments of a helper that is overloaded have its type: a literal, and what is computed of a
        parameter of a narrower one, are converted."""
        texts = super().operands(node, view, needs)
        if view.overloaded and view.index_type.least < 0 and self.op(node, view).helper:
            for k, a in enumerate(node.args):
                if a.op == "const" or any(n.op == "cast" and not n.value for n in a.walk()):
                    texts[k] = self.cast.format(texts[k], T=view.T)
        return texts

    def view_names(self, name):
        """The type of the view and the layout policy."""
        return {self.naming.type_after(name, word) for word in ("view", "layout")}

    def layout_view(self, apply: FunctionView) -> CxxView:
        """What the template of a layout's view sees."""
        from lego_emit.printers.cxx_view import CxxView

        return CxxView(self, apply)

    def several(self, function, result):
        """The result type is deduced."""
        return [self.braced("return ", function.texts(), 2)]
