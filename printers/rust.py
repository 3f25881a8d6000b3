"""Rust: one module, `pub const fn`s that need neither `std` nor a newer compiler than 1.56.

Reference: https://doc.rust-lang.org/reference/expressions.html#expression-precedence
(here 13 tightest, the unary operators; 1 the `if` expression).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING

from lego_emit.emit.arrays import coordinates, count, counter
from lego_emit.emit.naming import type_name
from lego_emit.emit.printer import ATOM, BREAK, FunctionView, Op, Printer, unsigned_fit
from lego_emit.ir.index_types import UINT32, UINT64, IndexType
from lego_emit.ir.nodes import Node, const
from lego_emit.ir.program import Function, Group, Program
from lego_emit.notation import C, Notation
from lego_emit.printers import rust_layout, rust_methods, rust_natives
from lego_emit.printers.c_array import free
from lego_emit.printers.rust_layout import END, IF, LIST, PAIR
from lego_emit.printers.rust_lints import (
    EACH_ARM,
    MASKED,
    NAMED,
    allowed,
    in_backticks,
    of_arms,
    of_casts,
    of_masks,
    of_places,
)
from lego_emit.printers.rust_view import RustView
from lego_emit.table_lookup import Entries

if TYPE_CHECKING:
    from lego_emit.emit.methods import ReceiverView

UNARY, CAST, COMPARISON = 13, 12, 5
USIZE = IndexType("usize", *UINT64.ends)  # on a machine of 64 bits


def pair(symbol: str, prec: int, left: int, right: int) -> Op:
    """An infix operator whose operands rustfmt lays out."""
    return Op(f"{PAIR}{{0}}{BREAK}{symbol}{BREAK}{{1}}{END}", prec, (left, right))


def helper_call(name: str, arity: int) -> Op:
    """A call of a helper, which has the type in its name."""
    arguments = BREAK.join(f"{{{k}}}" for k in range(arity))
    return Op(f"{name}_{{T}}({LIST}{arguments}{END})", 100, (0,) * arity, name)


# The prelude's constructors are patterns: a parameter of such a name is no binding.
RESERVED = frozenset(
    """abstract as async await become box break const continue crate do dyn else enum extern false final fn
    for gen if impl in let loop macro match mod move mut override priv pub ref return self Self
    static struct super trait true try type typeof unsafe unsized use virtual where while yield
    Some None Ok Err""".split()
)


CAMEL = re.compile(r"[^\W\d_a-z](?:[^\W_]|\d_(?=\d))*_*")  # what rustc takes for a type's name

TYPES = ("i32", "i64", "u32", "u64", "usize")

INVERSE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}

MIN = """
const fn min_{{ T }}(a: {{ T }}, b: {{ T }}) -> {{ T }} {
    if b < a {
        return b;
    }
    a
}
"""

MAX = """
const fn max_{{ T }}(a: {{ T }}, b: {{ T }}) -> {{ T }} {
    if b > a {
        return b;
    }
    a
}
"""

FLOOR_DIV = """
const fn floor_div_{{ T }}(a: {{ T }}, b: {{ T }}) -> {{ T }} {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    }
}
"""

FLOOR_MOD = """
const fn floor_mod_{{ T }}(a: {{ T }}, b: {{ T }}) -> {{ T }} {
    let remainder = a.wrapping_rem(b); // MIN % -1 would panic
    if remainder != 0 && (remainder < 0) != (b < 0) {
        remainder + b
    } else {
        remainder
    }
}
"""

ISQRT = """
const fn isqrt_{{ T }}(mut n: {{ T }}) -> {{ T }} {
    let mut root = 0;
    let mut bit = 1 << {{ {"int32": 30, "uint32": 30, "usize": "(usize::BITS - 2)"}.get(index_type, 62) }};
    while bit != 0 {
        if n >= root + bit {
            n -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
        bit >>= 2;
    }
    root
}
"""


class RustPrinter(rust_methods.Methods, Printer):
    """Rust's spellings. rust_layout lays the lines out as rustfmt does."""

    name, aliases, title = "rust", ("rs",), "Rust"
    related = ("wasm", "webassembly")
    loops = "lego_emit.printers.loop_forms:RUST"
    switches = "lego_emit.printers.switch_forms:RUST"
    walks = "lego_emit.printers.walk_forms:RUST"
    moves = "lego_emit.printers.bmi2_forms:rust_lines"
    extension = ".rs"
    copies = "lego_emit.printers.copy_rust_simd:CopiesInRust"
    is_module = True
    hexadecimal = True
    remark = "//"
    notation = Notation(
        {**C.signs, "~": "!"},
        {"if": "if {0} {{ {1} }} else {{ {2} }}", "int": "(if {0} {{ 1 }} else {{ 0 }})"},
        C.floored,
        most={31: "i32::MAX", 63: "i64::MAX", 32: "u32::MAX", 64: "u64::MAX"},
    )
    cast = "({0} as {T})"
    declaration = "let {name}: {T} = {expr};"
    names_greatest = names_limits = has_fits = has_checks = True
    static = "template"
    has_structs = has_arrays = gives_arrays = has_packed = True
    fills, native_member = "argument", ".{}"
    receiver, native_receiver, asks_types = "self.{}", "self.{}", True
    types = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", USIZE: "usize"}
    declares = shadows = True
    size_index = "usize"
    wrapping = {"uint32": "wraps", "uint64": "wraps"}
    declared_types = {
        "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
        "uint32": "u32", "uint64": "u64", "size": "usize", "ssize": "isize", "bool": "bool",
    }  # fmt: skip
    # Comparisons do not chain. Operands of shifts and bit operations, and && inside ||, are
    # bracketed as clippy::precedence asks.
    ops = {
        "neg": Op("-{0}", UNARY, (UNARY + 1,)),
        "not": Op("!{0}", UNARY, (UNARY,)),
        "lnot": Op("!{0}", UNARY, (UNARY,)),
        "int": Op(f"{PAIR}{{0}}{BREAK}as{BREAK}{{T}}{END}", CAST, (CAST,)),
        "mul": pair("*", 11, 11, 12),
        "div": pair("/", 11, 11, 12),
        "mod": pair("%", 11, 11, 12),
        "add": pair("+", 10, 10, 11),
        "sub": pair("-", 10, 10, 11),
        "shl": pair("<<", 9, UNARY, UNARY),
        "shr": pair(">>", 9, UNARY, UNARY),
        "and": pair("&", 8, UNARY, UNARY),
        "xor": pair("^", 7, UNARY, UNARY),
        "or": pair("|", 6, UNARY, UNARY),
        "lt": pair("<", COMPARISON, 6, 6),
        "le": pair("<=", COMPARISON, 6, 6),
        "gt": pair(">", COMPARISON, 6, 6),
        "ge": pair(">=", COMPARISON, 6, 6),
        "eq": pair("==", COMPARISON, 6, 6),
        "ne": pair("!=", COMPARISON, 6, 6),
        "land": pair("&&", 4, 4, 5),
        "lor": pair("||", 3, 5, 5),
        "select": Op(f"{IF}{{0}}{BREAK}{{1}}{BREAK}{{2}}{END}", 1, (0, 0, 0)),
        "min": helper_call("min", 2),
        "max": helper_call("max", 2),
        "floordiv": helper_call("floor_div", 2),
        "floormod": helper_call("floor_mod", 2),
        "isqrt": helper_call("isqrt", 1),
        **{
            f"{op}.wrapping": Op(
                f"{{T}}::wrapping_{op}({LIST}{{0}}{BREAK}{{1}}{END})", ATOM, (0, 0)
            )
            for op in ("add", "sub", "mul")
        },
        "lookup": Op(f"{{0}}[{PAIR}{{1}}{BREAK}as{BREAK}usize{END}]", ATOM, (0, CAST)),
    }
    typed_ops = {"usize": {"lookup": Op("{0}[{1}]", ATOM, (0, 0))}}
    helpers = {
        "min": MIN,
        "max": MAX,
        "floor_div": FLOOR_DIV,
        "floor_mod": FLOOR_MOD,
        "isqrt": ISQRT,
    }
    template = "rust.jinja"
    reserved = RESERVED | {f"{h}_{t}" for h in helpers for t in TYPES} | {"FusedIterator"}
    builtins = frozenset(
        """alloc bool char core f32 f64 i128 i16 i32 i64 i8 isize std u128 u16 u32 u64 u8 usize From
        Into Option Vec""".split()
    )
    angles = True

    def fit(self, node: Node, function: Function) -> Node:
        """Negations pushed into comparisons as clippy asks; `a < 0` would be a useless comparison
        of unsigned operands. Of a remainder of such clippy asks for is_multiple_of(), which older
        compilers have not: a condition on sizes multiplies instead."""
        if function.is_condition and node.op == "eq" and node.args[0].op == "mod":
            a, b = node.args[0].args
            if function.index_type.least == 0 and node.args[1].value == 0:
                product = Node("mul", (Node("div", (a, b), None, 0, a.hi), b), None, 0, a.hi)
                return node.over((product, a))
        if node.op == "neg" and function.index_type.least == 0 and not function.wrapping:
            node = replace(node, op="sub", args=(const(0), *node.args))  # which is 0
        return unsigned_fit(_without_not(node), function)

    def op(self, node: Node, view: FunctionView) -> Op:
        """The spelling; an `as` before < is bracketed."""
        op = super().op(node, view)
        if node.op == "lt" and _last(node.args[0]).op in ("int", "cast"):
            return replace(op, needs=(UNARY, op.needs[1]))  # `as i32 <` would open generics
        if view.wrapping and node.op in ("shl", "shr", "select"):
            # In a shift's distance nothing else would say that a number is no i32.
            places = (1, 2) if node.op == "select" else (0,)
            most = view.index_type.most  # which is u32::MAX
            if all(a.op == "const" and a.value != most for a in (node.args[k] for k in places)):
                typed = {f"{{{k}}}": f"{{{k}}}_{{T}}" for k in places}
                return replace(op, text=re.sub(r"{\d}", lambda m: typed.get(m[0], m[0]), op.text))
        return op

    def conversion(self, kind: str) -> Op:
        """An `as` of the value."""
        return self.ops["int"]

    def given(self, kind: str, text: str) -> str:
        """An `as`, or a comparison."""
        return f"{text} != 0" if kind == "bool" else f"{text} as {self.spelled(kind)}"

    def notation_of(self, index_type: str) -> Notation:
        """usize has a greatest number of its own."""
        if index_type != "usize":
            return self.notation
        return replace(self.notation, most={**self.notation.most, 64: "usize::MAX"})

    def literal(self, value: int, index_type: str) -> str:
        """A literal, in groups of three digits from six on."""
        # clippy::unreadable_literal asks for groups from six digits on.
        return f"{value:_}" if abs(value) >= 100_000 else str(value)

    def mask(self, value: int, index_type: str) -> str:
        """A mask, in groups of digits."""
        # clippy::decimal_bitwise_operands wants what masks bits in hexadecimal.
        return f"0x{value:_x}" if value > 9 else self.literal(value, index_type)

    def table_name(self, name: str, unit: str) -> str:
        """In capitals, as constants are."""
        return name.upper()

    def table(self, entries: Entries, index_type: str) -> str:
        """A reference to a constant array: the array itself would be copied where it is read."""
        T, values = self.types[index_type], [self.literal(v, index_type) for v in entries.values]
        head = f"const {entries.name}: &[{T}; {len(entries)}] ="
        listed = rust_layout.parse(f"&[{LIST}{BREAK.join(values)}{END}]")
        return rust_layout.binding(head, listed, 0)

    def table_parameter(self, form: str, T: str) -> str:
        """The parameter of a table that is given: a slice."""
        return f"{{name}}: &[{T}]"

    def line(self, text: str, indent: int) -> str:
        """A statement: a `let` with the expression laid out as rustfmt does."""
        head, _, expr = text.partition(BREAK)
        return rust_layout.binding(head, rust_layout.parse(expr), indent)

    def inline(self, text: str) -> str:
        """An expression's text, on one line however long."""
        return rust_layout.flat(rust_layout.parse(text))

    def asserted(self, condition: str, indent: int = 0) -> str:
        """The statement that asserts a condition, which a const fn may from Rust 1.57 on."""
        call = rust_layout.parse(f"debug_assert!({LIST}{condition}{END})")
        return f"{rust_layout.layout(call, indent + 4, indent + 4, 1)};"

    def accessors(self, view: FunctionView) -> list[str]:
        """The functions that read and write fields of words."""
        from lego_emit.printers.rust_packed import RustFields

        return RustFields(self, view).lines()

    def sizes_type(self, name: str) -> str:
        """As types are called."""
        return name if self.naming.style else type_name(name)

    def companions(self, name: str) -> set[str]:
        """The iterator's name, and that of several results by name."""
        return {self.array_name(name), type_name(name, "Result")}

    def head(self, view: FunctionView, indent: int = 0) -> str:
        """The line or lines from `pub` to the brace; indent: where they begin."""
        parameters = [*filter(None, view.signature("{name}: {T}", None, BREAK).split(BREAK))]
        is_plain = not (view.calls_others or view.fills or view.moves)
        const, name = "const " if is_plain else "", view.name
        if view.fills:  # of a const fn from Rust 1.83 on
            parameters.append(f"{view.fills}: &mut [{view.output_types[0]}]")
        if view.receiver is not None:
            const = "const " if rust_methods.is_constant(view) else const
            name, own = rust_methods.method(view.receiver)
            parameters = [*own, *parameters]
        start = f"pub {const}fn {name}{self.generics(view)}"
        return rust_layout.head(start, parameters, self.item(view), indent)

    def generics(self, view: "FunctionView | ReceiverView") -> str:
        """The static sizes of a function or of a type, as its const generics."""
        sizes = ", ".join(f"const {p.name}: {T}" for p, T in view.template)
        return f"<{sizes}>" if sizes else ""

    def instance(self, function: Function) -> str:
        """With the arguments of its const generics."""
        values = ", ".join(f"{p.default}" for p in function.static)
        return f"{function.name}::<{values}>" if values else function.name

    def unused(self, view: FunctionView, indent: int = 0) -> list[str]:
        """The statement that reads the parameters of which nothing depends."""
        names = [one.name for one in view.entries if not view.is_read(one)]
        if not names:
            return []
        text = f"({LIST}{BREAK.join(names)}{END})" if len(names) > 1 else names[0]
        return [rust_layout.binding("let _ =", rust_layout.parse(text), indent + 4)]

    def item(self, view: FunctionView) -> str:
        """The type of the result, a tuple where there are several."""
        if view.is_condition:
            return "bool"
        if view.aggregate is not None:
            return view.result_type
        if view.named:
            return type_name(view.name, "Result")
        types = ", ".join(view.output_types)
        return f"({types})" if len(view.outputs) > 1 else types

    def tail(self, view: FunctionView, indent: int = 0, told: Sequence[str] = ()) -> str:
        """The expression that ends the block, laid out as rustfmt does; told: its results' texts."""
        indent += 4
        texts = told or [self.expression(node, view) for _, node in view.outputs]
        whole = view.aggregate
        if whole is not None and whole.native is not None and whole.native.make:
            return rust_layout.function_result(rust_natives.value(whole, texts), indent)
        if view.named or (whole is not None and whole.struct):
            fields = [
                (name, rust_layout.parse(text))
                for (name, _), text in zip(view.outputs, texts, strict=True)
            ]
            return rust_layout.literal(self.item(view), fields, indent)
        text = f"{LIST}{BREAK.join(texts)}{END}"
        text = f"[{text}]" if whole else f"({text})" if len(texts) > 1 else texts[0]
        return rust_layout.function_result(rust_layout.parse(text), indent)

    # -- structs and arrays --------------------------------------------------------------------

    def group_type(self, group: Group, T: str) -> str:
        """A struct's name, or the array; "" of one that is filled."""
        return "" if group.open else group.struct or f"[{T}; {len(group.members)}]"

    def group_parameter(self, form: str, group: Group, T: str) -> str:
        """A struct by value, which is copied, and a reference to an array."""
        if group.native is not None and group.native.passing:
            return rust_natives.parameter(group)
        if group.open:
            return super().group_parameter(form, group, T)
        return form.format(name=group.name, T="&" * (not group.struct) + self.group_type(group, T))

    def aggregate(self, group: Group, texts: Sequence[str], T: str) -> str:
        """A struct's or an array's value, or the pattern that takes it apart, on one line."""
        if not group.struct:
            return f"[{', '.join(texts)}]"
        return rust_natives.literal(group, texts)

    def argument(self, module: str) -> Callable[[Group, list[str]], str]:
        """What gives the text of a struct of a module, or of a reference to an array, as an argument."""

        def argument(group: Group, texts: list[str]) -> str:
            if group.native is not None:
                return rust_natives.argument(group, texts)
            return (f"{module}::" * bool(group.struct) or "&") + self.aggregate(group, texts, "")

        return argument

    def pattern(self, function: Function, module: str) -> str:
        """What takes the results of a function of a module apart, as r0, r1 .."""
        names = [f"r{k}" for k in range(len(function.outputs))]
        if (whole := function.aggregate) is not None and whole.native is not None:
            return "r"  # see rust_natives.results
        if whole is not None:
            return f"{module}::" * bool(whole.struct) + self.aggregate(whole, names, "")
        if function.named:
            fields = (f"{n}: {r}" for (n, _), r in zip(function.outputs, names, strict=True))
            return f"{module}::{type_name(function.name, 'Result')} {{ {', '.join(fields)} }}"
        return f"({', '.join(names)})" if names[1:] else names[0]

    def struct_lines(self, group: Group, types: Sequence[str]) -> list[str]:
        """The definition, below the lints that its names would set off."""
        doc = (
            in_backticks(group.doc, set()) or f"The integers `{'`, `'.join(group.fields)}` in one."
        )
        lines = [f"/// {doc}", "#[allow(dead_code)]", "#[allow(missing_docs)]"]
        names = allowed("", [name for name in group.fields if name != name.lower()], 0, False)
        if not CAMEL.fullmatch(group.struct):
            names = [*(names or [f"// {NAMED}"]), "#[allow(non_camel_case_types)]"]
        lines += [*names, "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]"]
        fields = (f"    pub {n}: {T}," for n, T in zip(group.fields, types, strict=True))
        return [*lines, f"pub struct {group.struct} {{", *fields, "}"]

    def dividing(self):
        """With helpers whose products have twice as many bits."""
        from lego_emit.printers.prepared_texts import rust

        return rust(self, helper_call)

    # -- the array form: an iterator over the ':' axes -----------------------------------------

    def counter(self, function: Function) -> IndexType:
        """A range of 64 bits does not know its length, but that of a usize does."""
        narrow = counter(function, function.index_type.most)
        return narrow if "32" in narrow else USIZE

    def iterator_head(self, view: FunctionView) -> str:
        """The line or lines from `pub` to the brace."""
        texts = zip(view.inputs, view.parameters("{name}: {T}"), strict=True)
        parameters = [text for name, text in texts if name in _scalars(view)]
        result = f"impl ExactSizeIterator<Item = {self.item(view)}> + DoubleEndedIterator"
        result += " + FusedIterator + Clone"
        return rust_layout.head(f"pub fn {self.array_name(view.name)}", parameters, result)

    def iterator_body(self, view: FunctionView) -> list[str]:
        """What is more than a name or a number, by names; a range, and the call for each number."""
        taken, lines, extents = self._taken(view), [], []
        name = self._number(view)

        def bound(wanted: str, text: str) -> str:
            made = free(wanted, taken)
            taken.add(made)
            lines.append(rust_layout.binding(f"let {made} =", rust_layout.parse(text), 4))
            return made

        cast = view.counter != view.index_type  # all is counted in usize, and each index cast back
        for axis, extent in view.axes:
            if extent.op != "const" and (cast or extent.op != "var"):
                text = self.expression(extent, view, CAST if cast else 0)
                text = f"{PAIR}{text}{BREAK}as{BREAK}usize{END}" if cast else text
                end = bound(f"{axis}_end" if view.axes[1:] else "len", text)
                extent = Node("var", (), end)
            extents.append(extent)
        size = count(extents)
        places = coordinates(extents, name, view.base)
        if cast:
            places = [Node("int", (place,)) for place in places]
        length = self.expression(size, view)
        if cast and size.op == "const":
            length = f"{length}_usize"
        if size.op not in ("const", "var"):
            length = bound("len", length)
        arrays = _arrays(view)
        lines += [f"let {name} = *{name};" for name in arrays]  # which the closure owns
        texts = [f"&{name}" if name in arrays else name for name in _scalars(view)]
        texts += [self.expression(node, view) for node in places]
        if texts == [name]:
            return [*lines, f"(0..{length}).map({view.name})"]
        call = rust_layout.parse(f"{view.name}({LIST}{BREAK.join(texts)}{END})")
        closure = f"{'move ' * bool(_scalars(view) or lines)}|{name}| "
        return [*lines, rust_layout.mapped(f"(0..{length})", closure, call, 4)]

    def _taken(self, view: FunctionView) -> set[str]:
        return {view.name, self._number(view), *view.inputs}

    def _number(self, view: FunctionView) -> str:
        """What counts the elements: a lone axis itself."""
        if len(view.axes) == 1:
            return view.axes[0][0]
        return free("n", {view.name, *view.inputs})

    def iterator_docs(self, view: FunctionView) -> list[str]:
        """The lines of the iterator's rustdoc comment."""
        ranges = {name: f"`{said or name}`" for name, said in view.header.ranges.items()}
        axes = [ranges[name] for name, _ in view.axes]
        over = " and ".join([", ".join(axes[:-1]), axes[-1]] if len(axes) > 1 else axes)
        order = f", in row-major order: `{view.axes[-1][0]}` runs fastest" if axes[1:] else ""
        return wrap(f"The results of [`{view.name}`] for all {over}{order}.", rust_layout.WIDTH - 4)

    def iterator_attributes(self, view: FunctionView) -> list[str]:
        """The lints that would be set off, as attributes()."""
        names = [*_scalars(view), self._number(view)]
        lines = allowed(view.name, names, len(_scalars(view)), optional=True)
        if not _scalars(view) and "\n" in self.iterator_head(view):
            lines += ["// Its editions break the line at two places.", "#[rustfmt::skip]"]
        casts = _iterator_casts(view)
        reason = "// Indices, and how many there are, fit."
        return [*lines, reason, *(f"#[allow(clippy::{x})]" for x in casts)] if casts else lines

    # -- the view of a layout -------------------------------------------------------------------

    has_views = True

    def view_names(self, name: str) -> set[str]:
        """The type of the view."""
        return {type_name(name, "View")}

    def layout_view(self, apply: FunctionView) -> RustView:
        """What the template of a layout's view sees."""
        return RustView(self, apply)

    def view_head(self, start: str, parameters: list[str], result: str) -> str:
        """A method's line or lines up to the brace."""
        return rust_layout.head(start, parameters, result, 4)

    def field_attributes(self, view: RustView) -> list[str]:
        """The lints that the fields would set off."""
        return allowed("", view.sizes, 0, optional=False)

    def view_attributes(self, view: RustView) -> list[str]:
        """The lints that the methods would set off."""
        made = allowed("", view.sizes, len(view.parameters), optional=False)
        made += allowed("", view.indices, 0, optional=False)
        return list(dict.fromkeys(made))

    def result_attributes(self, view: FunctionView) -> list[str]:
        """The lints that the names of several results would set off."""
        return allowed("", [name for name, _ in view.outputs if name != name.lower()], 0, False)

    def needs_wide(self, program: Program) -> bool:
        """Whether what is proven of a usize holds for one of 64 bits alone."""
        most = UINT32.most
        if any(
            {"size", "ssize"} & {*f.types} and f.index_type.width == 64 for f in program.functions
        ):
            return True  # a result would be cut
        values = (n for f in program.functions if f.index_type == "usize" for n in f.nodes())
        return any((n.hi is None or n.hi > most) for n in values if not n.is_bool)

    # -- comments and lints --------------------------------------------------------------------

    def docs(self, view: FunctionView) -> list[str]:
        """The lines of the rustdoc comment, which is Markdown."""
        mark = self.marked(view)
        paragraphs = [[mark(view.summary)]] if view.summary else []
        header = view.header
        ranges = []
        for one in (*(p for p, _ in view.template), *header.function.entries):
            told = [f"`{one.name}`: {mark(one.meaning)}"] if one.meaning else []
            told += [f"`{', '.join(said)}`"] if (said := header.told(one)) else []
            ranges += [f"- {'; '.join(told)}"] if told else []
        tables = [(t.name, *said) for t, said in zip(view.tables, header.table_ranges, strict=True)]
        ranges += [f"- `{name}`: `{entries}` entries, `{each}`" for name, entries, each in tables]
        returned = [mark(view.returns)] if view.returns else []
        returned += [f"`{promised}`"] if (promised := header.promised("result")) else []
        if view.aggregate is None and len(view.outputs) > 1 and not view.named:
            returned.insert(0, f"`({', '.join(name for name, _ in view.outputs)})`")
        if returned:
            what = f"`{view.fills}`" if view.fills else "result"
            ranges.append(f"- {what}: {'; '.join(returned)}")
        paragraphs.append(ranges)
        paragraphs.append(self.assumed(view))
        paragraphs.append([f"Renamed: `{old}` is `{new}` here." for old, new in view.renamed])
        said = [line for p in paragraphs if p for line in ("", *p)][1:]
        return said or [f"The index function `{view.name}`."]  # a program may ask for missing docs

    def marked(self, view: FunctionView) -> Callable[[str], str]:
        """What puts the code in a sentence on a function in backticks."""
        names = {*view.inputs} - {"a"}  # more often the article
        return partial(in_backticks, names={n for n in names if len(n) == 1 or not n.islower()})

    def assumed(self, view: FunctionView) -> list[str]:
        """What a function assumes, one sentence each."""
        mark = self.marked(view)
        most = ("u64::MAX", "usize::MAX" if view.index_type == "usize" else "u64::MAX")
        return [f"Assumes {mark(a.replace(*most))}." for a in view.header.assumptions]

    def attributes(self, view: FunctionView, optional: bool) -> list[str]:
        """The lints that the number and the names of the parameters would set off, below the
        reason why they stand as they are. optional: there are other functions to choose from."""
        names = [one.name for one in (*view.entries, *view.tables)]
        known = dict.fromkeys([*names, *view.variables])
        own = view.name if view.receiver is None else rust_methods.method(view.receiver)[0]
        lines = allowed(own, [*known], len(names), optional)
        if any(p.name != p.name.upper() for p, _ in view.template):
            lines += [] if f"// {NAMED}" in lines else [f"// {NAMED}"]
            lines.append("#[allow(non_upper_case_globals)]")
        nodes = [*view.header.function.nodes()]  # without those of its walk
        for reason, lints in (
            ("A place in a table is not negative, and fits.", of_places(view)),
            ("What is converted fits.", of_casts(view)),
            (MASKED, of_masks(nodes)),
            (EACH_ARM, of_arms(nodes)),
        ):
            own = [line for x in lints if (line := f"#[allow(clippy::{x})]") not in lines]
            lines += [f"// {reason}", *own] if own else []
        return lines + rust_methods.attributes(view)


def _scalars(view: FunctionView) -> list[str]:
    """The parameters that are no ':' axes."""
    axes = {name for name, _ in view.axes}
    return [name for name in view.inputs if name not in axes]


def _arrays(view: FunctionView) -> list[str]:
    """The parameters that are arrays."""
    return [one.name for one in view.entries if isinstance(one, Group) and not one.struct]


def _iterator_casts(view: FunctionView) -> list[str]:
    """The lints that an iterator's casts from and to usize set off."""
    if view.counter == view.index_type:
        return []
    fixed = all(extent.op == "const" for _, extent in view.axes)
    signed, narrow = not view.index_type.startswith("u"), "32" in view.index_type
    return [
        *["cast_possible_truncation"] * (narrow or not fixed),
        *["cast_possible_wrap"] * signed,
        *["cast_sign_loss"] * (signed and not fixed),
    ]


def _last(node: Node) -> Node:
    """The operation whose text ends the node's text."""
    while node.op in ("add", "sub", "mul", "div", "mod", "neg"):
        node = node.args[-1]
    return node


def _without_not(node: Node) -> Node:
    """clippy::nonminimal_bool wants `!(a < b)` as `a >= b`, clippy::if_not_else the branches of
    `if a != b` and `if !c` swapped."""
    if node.op == "lnot" and node.args[0].op in INVERSE:
        return replace(node.args[0], op=INVERSE[node.args[0].op])
    if node.op == "select":
        condition, then, other = node.args
        if condition.op == "lnot":
            return node.over((condition.args[0], other, then))
        if condition.op == "ne" and condition.args[1].value != 0:
            return node.over((replace(condition, op="eq"), other, then))
    return node
