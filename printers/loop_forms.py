"""How each language spells a loop of an index function."""

from dataclasses import replace
from itertools import chain, count

from lego_emit.emit.cases import CaseForms
from lego_emit.emit.loops import LoopForms
from lego_emit.errors import TargetError

PLAIN = LoopForms()  # C's family
JAVASCRIPT = LoopForms(
    declare="let {name} = {expr};",
    first=("for (let {name} = {lower}; {name} < {upper}; ++{name}) {{",),
)
WGSL = LoopForms(
    declare="var {name} = {expr};",
    first=("for (var {name} = {lower}; {name} < {upper}; {name}++) {{",),
    stop=("if ({expr}) {{", "  break;", "}}"),
)
RUST = LoopForms(  # a const fn has no for
    declare="let mut {name}: {T} =\v{expr}",
    compound="{name} {sign}=\v{expr}",
    assign="{name} =\v{expr}",
    first=("let mut {name}: {T} = {lower};", "while {name} < {upper} {{"),
    stop=("if {expr} {{", "    break;", "}}"),
    going=("while {expr} {{",),
    step="{name} += 1;",
    indent=4,
    plain=True,
)
FORTRAN = LoopForms(
    declare="{name} = {expr}",
    compound="",
    assign="{name} = {expr}",
    first=("do {name} = {lower}, {last}",),
    stop=("if ({expr}) exit",),
    going=("do while ({expr})",),
    last="end do",
)
PYTHON = LoopForms(
    declare="{name} = {expr}",
    compound="{name} {sign}= {expr}",
    assign="{name} = {expr}",
    first=("for {name} in range({range}):",),
    stop=("if {expr}:", "    break"),
    going=("while {expr}:",),
    last="",
    indent=4,
)
JULIA = replace(
    PYTHON,
    first=("for {name} in {lower}:{last}",),
    stop=("{expr} && break",),
    going=("while {expr}",),
    last="end",
)

PLAIN_CASES = CaseForms()
JAVASCRIPT_CASES = CaseForms(leave=("return {array};",))
RUST_CASES = CaseForms(
    first="if {expr} {{", assign="{name} =\v{expr}", give=("return\v{expr}",), indent=4
)
FORTRAN_CASES = CaseForms(
    first="if ({expr}) then",
    assign="{name} = {expr}",
    give=("{name} = {expr}", "return"),
    leave=("return",),
    last="end if",
)
PYTHON_CASES = CaseForms(
    first="if {expr}:",
    assign="{name} = {expr}",
    give=("return {expr}",),
    leave=("return tuple({array})",),
    last="",
    indent=4,
)
JULIA_CASES = replace(PYTHON_CASES, first="if {expr}", leave=("return {array}",), last="end")


def julia(printer, view, node):
    """A loop over a range, which has no end below an unsigned 0."""
    if view.index_type.least < 0:
        return JULIA
    first = ("{name} = {lower}", "while {name} < {upper}")
    return replace(JULIA, first=first, step="{name} += one({name})")


def arrays(printer, view, node):
    """As many rounds as there may be, in each of which elements that have no more stay what they are. Raises
    TargetError for what cannot be masked."""
    made = node.args[0].value
    is_early = len(made.parts) > 1
    if (made.counts and is_early) or any(_is_unmasked(n, is_early) for n in made.nodes()):
        raise TargetError(
            f"{view.name}: a loop over arrays that ends early, that looks up a table or that has another "
            f"loop in it is not there in {printer.title}; choose the target python"
        )
    rounds = f"for {{name}} in {printer.rounds}({{most}}):"
    if not made.counts:
        taken = {*view.variables, *(p.name for p in view.params)}
        going = next(
            n for n in chain(["going"], map("going_{}".format, count(2))) if n not in taken
        )
        return replace(
            PYTHON,
            compound="",
            assign=f"{{name}} = {printer.where}({going},\v{{expr}},\v{{name}})",
            going=(rounds.replace("{name}", "_"), f"    {going} = {{expr}}"),
        )
    start = ("    {name} = {lower} + {name}",) if node.args[1].value != 0 else ()
    return replace(
        PYTHON,
        compound="",
        assign=f"{{name}} = {printer.where}({{counter}} < {{upper}},\v{{expr}},\v{{name}})",
        first=(rounds, *start),
    )


def _is_unmasked(node, is_early):
    """Whether a node cannot be computed where there are no more rounds. is_early: what divides may be 0 there."""
    op = node.op.partition(".")[0]
    is_divided = op in ("div", "mod", "floordiv", "floormod") and node.args[1].op != "const"
    return op in ("lookup", "loop") or (is_early and is_divided)
