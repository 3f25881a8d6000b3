"""How each language spells a switch of an index function."""

from dataclasses import replace

from lego_emit.emit.printer import BREAK
from lego_emit.emit.switches import SwitchForms
from lego_emit.printers.rust_layout import END, LIST

SHORT = {"int64": "int32", "uint64": "uint32"}  # where a selector has 32 bits
PLAIN = SwitchForms(prefixed=True)  # C's family
JAVASCRIPT = SwitchForms(
    declare="let {name};",
    several=("[{names}] = {call};",),
    each="",
    constant="export const {name} = {value};",
    enum=(),
)
GLSL = SwitchForms(
    several=("{callee}({args}{refs});",),
    each="",
    constant="const {T} {name} = {value};",
    enum=(),
    prefixed=True,
    selects=SHORT,
)
WGSL = SwitchForms(
    declare="var {name} = {zero};",
    first="switch {tag} {{",
    default=("case {key}, default:",),
    always=True,
    end="",
    several=("let found = {call};",),
    constant="const {name}: {T} = {value};",
    enum=(),
    prefixed=True,
    selects=SHORT,
)
FORTRAN = SwitchForms(
    declare="",
    first="select case ({tag})",
    case=("case ({key})",),
    default=("case default",),
    block=("", ""),
    assign="{name} = {expr}",
    several=("call {callee}({args}{refs})",),
    each="",
    end="",
    last="end select",
    indent=(0, 2),
    constant="  integer({T}), parameter, public :: {name} = {value}",
    enum=(),
)
PYTHON = SwitchForms(
    declare="",
    first="",
    begun="if {tag} == {key}:",
    case=("elif {tag} == {key}:",),
    default=("else:",),
    block=("", ""),
    assign="{name} = {expr}",
    several=("{names} = {call}",),
    each="",
    end="",
    last="",
    indent=(0, 4),
    constant="{name} = {number}",
    enum=(),
)
JULIA = replace(
    PYTHON,
    begun="if {tag} == {key}",
    case=("elseif {tag} == {key}",),
    default=("else",),
    last="end",
    constant="const {name} = {number}",
)


def arm(head, before, texts, indent):
    """The lines of a case of Rust's `match`, laid out as rustfmt does. before: its statements, of which the last
    is its value where there are no texts."""
    from lego_emit.printers import rust_layout as layout

    inner = " " * layout.STEP
    if not texts:
        return [f"{head} {{", *(inner + one for one in before), "}"]
    text = f"({LIST}{BREAK.join(texts)}{END})" if len(texts) > 1 else texts[0]
    expr = layout.parse(text)
    line = None if expr.is_if else expr.one_line()
    if not before and line is not None and indent + len(f"{head} {line},") <= layout.WIDTH:
        return [f"{head} {line},"]
    if not before and expr.kind == LIST:
        return [f"{head} {layout.layout(expr, indent, indent + len(head) + 1, 1)},"]
    last = layout.result(expr, indent + layout.STEP)
    return [f"{head} {{", *(inner + one for one in before), inner + last, "}"]


RUST = SwitchForms(
    declare="",
    first="let {names} = match {tag} {{",
    case=("{key} =>",),
    default=("_ =>",),
    last="};",
    arm=arm,
    listed=(LIST, BREAK, END),
    alone=("match {tag} {{", "}"),
    indent=(4, 4),
    constant="/// `{of}`.\n#[allow(dead_code)]\npub const {name}: {T} = {value};",
    enum=(),
)
