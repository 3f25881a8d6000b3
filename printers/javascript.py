"""JavaScript: one ES module and, for TypeScript, its declarations.

Reference: https://tc39.es/ecma262/#sec-ecmascript-language-expressions, precedence as C's.
Integers up to 53 and 32 bits are Numbers; 64 bits are BigInts.

The file is .mjs, which Node and bundlers take as a module without a package.json that says so;
TypeScript looks for the declarations of x.mjs in x.d.mts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from math import inf, prod
from pathlib import Path
from textwrap import wrap
from typing import Any, cast

from lego_emit import templates
from lego_emit.emit.comments import in_comments
from lego_emit.emit.naming import type_name
from lego_emit.emit.printer import ATOM, BREAK, FunctionView, Op, Printer, call, infix
from lego_emit.ir.index_types import INT32, IndexType
from lego_emit.ir.nodes import Node
from lego_emit.ir.program import Function, Group, Program
from lego_emit.notation import Notation
from lego_emit.printers import javascript_methods
from lego_emit.printers import javascript_numbers as numbers
from lego_emit.printers.c_family import C_OPS, UNARY
from lego_emit.printers.javascript_numbers import QUOTIENT
from lego_emit.table_lookup import Entries

INT53 = IndexType("int53", -(2**53 - 1), 2**53 - 1)  # exact integers in a double, a Number

# https://tc39.es/ecma262/#prod-ReservedWord, the words reserved in modules, and the globals that
# the emitted text uses.
RESERVED = frozenset(
    """arguments async await break case catch class const continue debugger default delete do else
    enum eval export extends false finally for function if implements import in instanceof
    interface let new null package private protected public return static super switch this throw
    true try typeof undefined var void while with yield Infinity NaN Math Number BigInt
    ArrayLike RangeError Int32Array Uint32Array Float64Array BigInt64Array BigUint64Array""".split()
)

ARRAYS = {
    "int32": "Int32Array",
    "uint32": "Uint32Array",
    INT53: "Float64Array",
    "int64": "BigInt64Array",
    "uint64": "BigUint64Array",
}

FLOOR_MOD = """
/**
 * The remainder of a / b with the sign of b, never -0.
 * @param {number} a
 * @param {number} b
 * @returns {number}
 */
function floorMod(a, b) {
  const remainder = a % b;
  if (remainder === 0) return 0;
  return (remainder < 0) === (b < 0) ? remainder : remainder + b;
}
"""

ISQRT = """
/**
 * The integer square root. Above 2^52 the rounded root can be one too large.
 * @param {number} n
 * @returns {number}
 */
function isqrt(n) {
  const root = Math.floor(Math.sqrt(n));
  return root * root > n ? root - 1 : root;
}
"""

MIN_BIG = """
/**
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint}
 */
function minBig(a, b) {
  return a < b ? a : b;
}
"""

MAX_BIG = """
/**
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint}
 */
function maxBig(a, b) {
  return a > b ? a : b;
}
"""

FLOOR_DIV_BIG = """
/**
 * The quotient a / b rounded down.
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint}
 */
function floorDivBig(a, b) {
  const quotient = a / b;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? quotient - 1n : quotient;
}
"""

FLOOR_MOD_BIG = """
/**
 * The remainder of a / b with the sign of b.
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint}
 */
function floorModBig(a, b) {
  const remainder = a % b;
  return remainder !== 0n && (remainder < 0n) !== (b < 0n) ? remainder + b : remainder;
}
"""

ISQRT_BIG = """
/**
 * The integer square root: the rounded one, put right.
 * @param {bigint} n
 * @returns {bigint}
 */
function isqrtBig(n) {
  let root = BigInt(Math.floor(Math.sqrt(Number(n))));
  while (root * root > n) root -= 1n;
  while ((root + 1n) * (root + 1n) <= n) root += 1n;
  return root;
}
"""

EQUALITY = {"eq": infix("===", 9, 10, 10), "ne": infix("!==", 9, 10, 10)}

DECLARATIONS = "javascript_declarations.jinja"

BIGINT = {
    **C_OPS,
    **EQUALITY,
    "floordiv": call("floorDivBig({0}, {1})", 2, "floorDivBig"),
    "floormod": call("floorModBig({0}, {1})", 2, "floorModBig"),
    "min": call("minBig({0}, {1})", 2, "minBig"),
    "max": call("maxBig({0}, {1})", 2, "maxBig"),
    "isqrt": call("isqrtBig({0})", 1, "isqrtBig"),
    "lookup": call("{0}[Number({1})]", 2),
    "int": call("BigInt({0})", 1),
}


class JavaScriptPrinter(Printer):
    """JavaScript's spellings, for Numbers and for BigInts."""

    loops = "lego_emit.printers.loop_forms:JAVASCRIPT"
    switches = "lego_emit.printers.switch_forms:JAVASCRIPT"
    walks = "lego_emit.printers.walk_forms:JAVASCRIPT"
    steps = "all"
    copies = "lego_emit.printers.copy_javascript:CopiesInJavaScript"
    name = "javascript"
    aliases = ("js",)
    related = ("node", "nodejs", "ts", "typescript")
    title = "JavaScript"
    extension = ".mjs"
    hexadecimal = True
    remark = "//"
    notation = Notation(
        {"and": "&&", "or": "||", "not": "!"},
        {"if": "{0} ? {1} : {2}", "//": "Math.floor({0} / {1})"},
        {"%": "mod({0}, {1})"},
        most={53: "Number.MAX_SAFE_INTEGER"},
    )
    declaration = "const {name} = {expr};"
    types = {
        "int32": "number",
        "uint32": "number",
        INT53: "number",
        "int64": "bigint",
        "uint64": "bigint",
    }
    ops = {
        **C_OPS,
        **numbers.OWN_OPS,
        **EQUALITY,
        "neg": Op("0 - {0}", 12, (13,)),  # -x is -0 for 0
        "div": Op("Math.trunc({0} / {1})", ATOM, QUOTIENT),
        "floordiv": Op("Math.floor({0} / {1})", ATOM, QUOTIENT),
        "floormod": call("floorMod({0}, {1})", 2, "floorMod"),
        "min": call("Math.min({0}, {1})", 2),
        "max": call("Math.max({0}, {1})", 2),
        "isqrt": call("isqrt({0})", 1, "isqrt"),
        "lookup": call("{0}[{1}]", 2),
        "int": call("Number({0})", 1),
    }
    # Numbers that the index type keeps within 32 bits: a bit operation cuts quotients off.
    typed_ops = {
        "int32": {"div": Op("({0} / {1}) | 0", 6, QUOTIENT)},
        "uint32": {"div": Op("({0} / {1}) >>> 0", 11, QUOTIENT)},
        "int64": BIGINT,
        "uint64": BIGINT,
    }
    helpers = {
        "floorMod": FLOOR_MOD,
        "isqrt": ISQRT,
        "minBig": MIN_BIG,
        "maxBig": MAX_BIG,
        "floorDivBig": FLOOR_DIV_BIG,
        "floorModBig": FLOOR_MOD_BIG,
        "isqrtBig": ISQRT_BIG,
    }
    template = "javascript.jinja"
    receiver, asks_types = "this.{}", True
    reserved = RESERVED | frozenset(helpers) | {"CHECKS"}
    builtins = frozenset("globalThis isFinite isNaN parseInt parseFloat Boolean String".split())
    default_index = (INT53,)
    style = "camelCase"
    wrapping = {"uint32": "wraps", "uint64": "mask"}
    has_fits = has_checks = names_limits = True
    has_structs = has_arrays = gives_arrays = has_packed = True
    fills = "result"
    holds_sizes = False

    def size_type(self, index_type: IndexType) -> IndexType:
        """Integers without bounds, of a BigInt; else the Numbers' own."""
        whole = self.types[index_type] == "bigint"
        return IndexType(index_type, *cast("tuple[int, int]", (-inf, inf))) if whole else index_type

    def literal(self, value: int, index_type: str) -> str:
        """A Number, or a BigInt with its n."""
        return f"{value}n" if self.types[index_type] == "bigint" else str(value)

    def literal_prec(self, value: int) -> int:
        """A sign binds as a unary operator does."""
        return ATOM if value >= 0 else UNARY

    def table(self, entries: Entries, index_type: str) -> str:
        """A typed array: as narrow as its Numbers, or of BigInts."""
        narrow = index_type == "int53" and max(entries.values) < 2**31
        array = ARRAYS["int32" if narrow else index_type]
        lines = self.entry_lines(entries, index_type, 2)
        return f"const {entries.name} = {array}.of(\n{lines},\n);"

    def table_parameter(self, form: str, T: str) -> str:
        """Any array of Numbers or of BigInts; form has {T} where types are declared."""
        return "{name}" if "{T}" not in form else f"{{name}}: ArrayLike<{T}>"

    def fitted(self, function: Function) -> Function:
        """Without a -0, where Numbers might give one."""
        if self.types[function.index_type] == "number" and not function.is_condition:
            function = numbers.without_minus_zero(function)
        found = super().fitted(function)
        return numbers.without_signs_cast(found) if found.wrapping else found

    def fit(self, node: Node, function: Function) -> Node:
        """As Numbers compute it; a BigInt has every operation."""
        if self.types[function.index_type] == "bigint":
            return node
        return numbers.fit(node, function)

    def body(self, view: FunctionView) -> list[str]:
        """The lines of a function's body."""
        lines = self.checked(view)
        if view.fills:
            count = self.inline(self.expression(view.aggregate.count, view))
            count = count if view.T == "number" else f"Number({count})"
            lines.append(f"const {view.fills} = new Array({count});")
        lines += view.statements("const {name} = {expr};", 2, False)
        if view.fills:
            return [*lines, f"return {view.fills};"]
        values = [self.expression(node, view) for _, node in view.outputs]
        if not view.several:
            return [*lines, self.line(f"return {values[0]};", 2)]
        by_name = _by_name(view)
        if by_name:
            names = (name for name, _ in view.outputs)
            values = [n if n == v else f"{n}: {v}" for n, v in zip(names, values, strict=True)]
        opening, closing = ("{ ", " }") if by_name else "[]"
        whole = f"return {opening}{', '.join(values)}{closing};".replace(BREAK, " ")
        if 2 + len(whole) <= self.line_width:
            return [*lines, whole]
        elements = [f"  {self.line(f'{value},', 4)}" for value in values]
        return [*lines, f"return {opening.strip()}", *elements, f"{closing.strip()};"]

    def checked(self, view: FunctionView) -> list[str]:
        """The lines that check what is asserted."""
        lines = []
        for condition in view.asserted:
            text = self.expression(condition, view)
            said = f'  throw new RangeError("{view.name}: {self.inline(text)}");'
            if len(said) > self.line_width - 2:
                said = f'  throw new RangeError("{view.name}: a precondition does not hold");'
            lines += [self.line(f"if (CHECKS && !({text})) {{", 2), said, "}"]
        return lines

    def accessors(self, view: FunctionView) -> list[str]:
        """The functions that read and write fields of words."""
        from lego_emit.printers.javascript_packed import JavaScriptFields

        return JavaScriptFields(self, view).lines()

    def declared_accessors(self, view: FunctionView) -> list[str]:
        """The lines that declare them, where there are any."""
        if view.packing is None:
            return []
        from lego_emit.printers.javascript_packed import JavaScriptFields

        return JavaScriptFields(self, view).declared()

    def notes(self, functions: list[FunctionView]) -> list[str]:
        """What a reader may ask about the spellings used."""
        numbers = [view for view in functions if view.T == "number"]
        used = {node.op for view in numbers for node in view.nodes()}
        notes = []
        if used & {"div", "floordiv"}:
            most = max(view.index_type.most for view in numbers)
            notes.append(
                f"Quotients are exact: both operands are integers below 2^{most.bit_length()}."
            )
        if "plus_zero" in used:
            notes.append("`+ 0` turns -0 into 0.")
        return notes

    def head(self, view: FunctionView, form: str, end: str) -> str:
        """The function's line up to its brace; form and end are the parameters' and what follows
        them."""
        parameters = view.signature(form, None, BREAK).split(BREAK)
        if view.receiver is not None:
            return self.bracketed(javascript_methods.head(view), [*filter(None, parameters)], end)
        return self.head_of(view.name, parameters, end)

    def head_of(self, name: str, parameters: list[str], end: str) -> str:
        """The line of a function of these parameters, or lines where it is long."""
        return self.bracketed(f"export function {name}", parameters, end)

    def bracketed(self, start: str, parameters: list[str], end: str) -> str:
        """What is called with its parameters, one on a line where they are long."""
        text = f"{start}({', '.join(parameters)}){end}"
        if len(text) + 2 > self.line_width:
            lines = "".join(f"  {parameter},\n" for parameter in parameters)
            text = f"{start}(\n{lines}){end}"
        return text

    def receiver_type(self, name: str) -> str:
        """The class that holds the sizes of a subject."""
        return type_name(self.naming.public(name))

    def receivers(
        self, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
    ) -> list[javascript_methods.Holder]:
        """The classes whose methods functions are."""
        return javascript_methods.receivers(self, functions, fits)

    def result_type(self, view: FunctionView) -> str:
        """A labelled tuple for several outputs, an object for outputs by name."""
        if view.is_condition:
            return "boolean"
        if view.aggregate is not None:
            return view.result_type
        return _labelled(view, [view.T] * len(view.outputs))

    def docs(self, view: FunctionView, typed: bool = True) -> list[str]:
        """The lines of the JSDoc comment; a declaration has its types itself."""
        header = view.header
        renamed = [f"Renamed: {old} is {new} here." for old, new in view.renamed]
        notes = [f"Assumes {a}." for a in header.assumptions]
        kinds = view.parameters("{{{T}}} ") if typed else [""] * len(view.inputs)
        told = zip(kinds, self._told(view).items(), strict=True)
        tags = [f"@param {kind}{name} {said}" for kind, (name, said) in told]
        kind = f"{{ArrayLike<{view.T}>}} " if typed else ""
        tags += [f"@param {kind}{name} {said}" for name, said in header.tables.items()]
        kind = f"{{{self.result_type(view)}}} " if typed else ""
        tags.append(f"@returns {kind}{header.result()}")
        tags = [tag.rstrip() for tag in tags if tag != "@returns "]
        paragraphs = [[view.summary] if view.summary else [], notes, renamed, tags]
        lines = [line for p in paragraphs if p for line in ("", *p)]
        return lines[1:]

    # -- structs and arrays --------------------------------------------------------------------

    def _told(self, view: FunctionView) -> dict[str, str]:
        """What is said of each parameter; of an array first how many elements it has."""
        found = view.header.entries
        for group in view.groups:
            if group.name in found and not group.struct and not group.open:
                count = f"{len(group.members)} element{'s' * (len(group.members) > 1)}"
                found[group.name] = "; ".join(filter(None, [count, found[group.name]]))
        return found

    def group_type(self, group: Group, T: str) -> str:
        """An interface, a tuple, or an array of any length."""
        if group.open:
            return f"{T}[]"
        return group.struct or f"[{', '.join([T] * len(group.members))}]"

    def group_parameter(self, form: str, group: Group, T: str) -> str:
        """Any array of so many, typed ones too."""
        kind = group.struct or f"ArrayLike<{T}>"
        return form.format(name=group.name, T=kind)

    def argument(self, group: Group, texts: Sequence[str]) -> str:
        """The text of an object or of an array, of its members'."""
        if not group.struct:
            return f"[{', '.join(texts)}]"
        members = (f"{name}: {text}" for name, text in zip(group.fields, texts, strict=True))
        return f"{{ {', '.join(members)} }}"

    def keys(self, function: Function) -> list[str | int | None]:
        """What each output is in the result of a call: a member, an element, or all of it, None."""
        if _by_name(function):
            return [name for name, _ in function.outputs]
        if len(function.outputs) == 1 and function.aggregate is None:
            return [None]
        return [*range(len(function.outputs))]

    def struct_lines(self, group: Group, types: Sequence[str]) -> list[str]:
        """The type, for those who read comments."""
        pairs = zip(types, group.fields, strict=True)
        fields = (f" * @property {{{T}}} {name}" for T, name in pairs)
        return ["/**", f" * @typedef {{object}} {group.struct}", *fields, " */"]

    def interface(self, group: Group, index_type: str) -> list[str]:
        """The lines that declare a struct as a type."""
        fields = (f"  readonly {name}: {self.types[index_type]};" for name in group.fields)
        return [f"export interface {group.struct} {{", *fields, "}"]

    def dividing(self):
        """By the reciprocals of Numbers."""
        from lego_emit.printers.prepared_texts import javascript

        return javascript(self)

    # -- the array form: a typed array over the ':' axes ---------------------------------------
    #
    # Not a generator: the length is known before the first element, an element costs no object,
    # and it is what WebGPU, WebGL and WebAssembly take.

    def companions(self, name: str) -> set[str]:
        """The array form's name."""
        return {self.array_name(name)}

    def array_head(self, view: FunctionView, form: str, end: str) -> str:
        """The line that begins the array form, up to its brace."""
        texts = zip(view.inputs, view.parameters(form), strict=True)
        parameters = [text for name, text in texts if name in _scalars(view)]
        return self.head_of(self.array_name(view.name), parameters, end)

    def array_type(self, view: FunctionView) -> str:
        """An array; of several outputs a labelled tuple or an object of them."""
        return _labelled(view, [_array_of(view, node) for _, node in view.outputs])

    def array_body(self, view: FunctionView) -> list[str]:
        """The lines of the array form's body: a loop inside the other for each axis."""
        fresh = _Names({view.name, *view.inputs, *view.stepped})
        ends, lines = [], []
        for axis, extent in view.axes:
            end = self.expression(extent, view)
            if extent.op not in ("const", "var"):
                name = fresh(f"{axis}_end")
                lines.append(self.line(f"const {name} = {end};", 2))
                end = name
            ends.append(end)
        several = view.several
        arrays = [fresh(name if several else "results") for name, _ in view.outputs]
        position, size = fresh("position"), _size(view, ends)
        if several and not size.isdigit():
            length = fresh("length")
            lines.append(f"const {length} = {size};")
            size = length
        lines += [
            f"const {array} = new {_array_of(view, node)}({size});"
            for array, (_, node) in zip(arrays, view.outputs, strict=True)
        ]
        lines.append(f"let {position} = 0;")
        if view.steps:
            from lego_emit.printers.step_forms import javascript

            loops = javascript(self, view, ends, arrays[0], position)
            return [*lines, *(line[2:] for line in loops), f"return {_taken(view, arrays)};"]
        first, one = (self.literal(n, view.index_type) for n in (view.base, 1))
        runs = "<=" if view.base else "<"
        for depth, ((axis, _), end) in enumerate(zip(view.axes, ends, strict=True)):
            pad = "  " * depth
            lines.append(
                f"{pad}for (let {axis} = {first}; {axis} {runs} {end}; {axis} += {one}) {{"
            )
        pad = "  " * len(view.axes)
        call = f"{view.name}({f',{BREAK}'.join(view.inputs)})"
        elements = [f"{array}[{position}]" for array in arrays]
        stores = [f"{_taken(view, elements)} = {call};"]
        if _by_name(view):
            result = fresh("result")
            stores = [f"const {result} = {call};"]
            pairs = zip(elements, view.outputs, strict=True)
            stores += [f"{element} = {result}.{name};" for element, (name, _) in pairs]
        lines += [f"{pad}{self.line(store, 2 + len(pad))}" for store in stores]
        lines.append(f"{pad}{position} += 1;")
        lines += ["  " * depth + "}" for depth in reversed(range(len(view.axes)))]
        return [*lines, f"return {_taken(view, arrays)};"]

    def array_docs(self, view: FunctionView, typed: bool = True) -> list[str]:
        """The lines of the array form's JSDoc comment."""
        ranges = view.header.ranges
        axes = [ranges[name] or name for name, _ in view.axes]
        over = " and ".join([", ".join(axes[:-1]), axes[-1]] if len(axes) > 1 else axes)
        order = f", in row-major order: {view.axes[-1][0]} runs fastest" if axes[1:] else ""
        lines = wrap(f"The results of {view.name} for all {over}{order}.", self.line_width - 3)
        kinds = dict(zip(view.inputs, view.parameters("{{{T}}} "), strict=True)) if typed else {}
        said = {**self._told(view), **ranges}
        tags = [f"@param {kinds.get(n, '')}{n} {said[n]}".rstrip() for n in _scalars(view)]
        tags += [f"@returns {{{self.array_type(view)}}}"] if typed else []
        return [*lines, *([""] if tags else []), *tags]

    # -- TypeScript ----------------------------------------------------------------------------

    def declarations_path(self, path: Path) -> Path:
        """x.d.mts for x.mjs, x.d.ts for x.js."""
        return path.with_suffix(".d.ts" if path.suffix == ".js" else ".d.mts")

    def declarations(self, program: Program) -> str:
        """The module's TypeScript declarations."""
        program = in_comments(program.printed or program, self.naming)
        views = self.fitted_views(program)
        with templates.named(type(self), "TypeScript", DECLARATIONS):
            template = self._environment.get_template(DECLARATIONS)
            fits = self.fitted_views(program, fits=True)
            structs = [self.interface(*one) for one in program.structs]
            tags = [
                f"export const {name}: {self.types[of]};" for name, _, of, _ in program.enumerators
            ]
            structs = [tags, *structs] if tags else structs
            text = template.render(
                program=program, structs=structs, functions=views, fits=fits, printer=self
            )
        lines = [line.rstrip() for line in text.strip("\n").split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


class _Names:
    """Gives names that are not taken."""

    def __init__(self, taken: set[str]):
        self._taken = taken | RESERVED

    def __call__(self, name: str) -> str:
        free = next(n for k in count(1) if (n := f"{name}{k if k > 1 else ''}") not in self._taken)
        self._taken.add(free)
        return free


def _scalars(view: FunctionView) -> list[str]:
    """The parameters that are no ':' axes."""
    axes = {name for name, _ in view.axes}
    return [name for name in view.inputs if name not in axes]


def _by_name(function: Any) -> bool:
    """Whether the results are an object: of a struct, or by name."""
    whole = function.aggregate
    return bool(whole.struct) if whole is not None else function.named


def _size(view: FunctionView, ends: list[str]) -> str:
    """The product of the extents, as a Number."""
    numbers = [e.value for _, e in view.axes if isinstance(e.value, int)]
    others = [n for n, (_, e) in zip(ends, view.axes, strict=True) if not isinstance(e.value, int)]
    number = prod(numbers)
    if not others:
        return str(number)
    suffix = "n" if view.T == "bigint" else ""
    text = " * ".join([*([f"{number}{suffix}"] if number != 1 else []), *others])
    return f"Number({text})" if suffix else text


def _array_of(view: FunctionView, node: Node) -> str:
    """The typed array of an output: of Numbers one of 32 bits where they are proven to fit."""
    narrow = view.index_type == "int53" and numbers.within(node, *INT32.ends)
    return ARRAYS["int32" if narrow else view.index_type]


def _labelled(view: FunctionView, kinds: list[str]) -> str:
    """The type of results of these kinds."""
    names = [name for name, _ in view.outputs]
    if not view.several:
        return kinds[0]
    texts = [f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True)]
    return f"{{ {'; '.join(texts)} }}" if _by_name(view) else f"[{', '.join(texts)}]"


def _taken(view: FunctionView, items: list[str]) -> str:
    """Values, or what is assigned to, in the form of the results."""
    if not view.several:
        return items[0]
    if not _by_name(view):
        return f"[{', '.join(items)}]"
    names = (name for name, _ in view.outputs)
    texts = (n if n == item else f"{n}: {item}" for n, item in zip(names, items, strict=True))
    return f"{{ {', '.join(texts)} }}"
