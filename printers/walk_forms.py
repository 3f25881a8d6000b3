"""How each language spells a walk over the positions of a layout."""

import re
from collections.abc import Sequence
from functools import partial

from lego_emit.emit.ops import BREAK
from lego_emit.emit.walks import WalkForms, WalkView
from lego_emit.ir.program import Function
from lego_emit.printers.javascript import wrap
from lego_emit.printers.odometer_forms import (
    c_odometer,
    cpp_odometer,
    fortran_odometer,
    javascript_odometer,
    julia_odometer,
    rust_odometer,
)
from lego_emit.printers.rust_layout import head
from lego_emit.printers.rust_lints import EACH_ARM, MASKED, allowed, of_arms, of_places

AND = f"{BREAK}&& "


def c(v: WalkView, zeroed: str) -> list[str]:
    """A cursor, and the functions that put it at its index, make one, and advance it. zeroed: what it is before."""
    p, cursor = v.printer, v.cursor
    read = ", ".join(f"at.{n}" for n in v.results)
    loop = f"for ({cursor} at = {v.name}(..); at.more; {v.next}(&at)) .. {read}"
    found = ["", *_told(v, f"A walk over {v.summary}."), *_told(v, loop), "typedef struct {"]
    found += [*(f"  {v.T} {name};" for name in v.fields), "  bool more;"]
    found += [f"}} {cursor};", "", *_told(v, v.puts(" of a cursor"))]
    found += [*_head(v, f"void {v.seek}", [f"{cursor} *cursor"]), *_indented(v.start(2)), "}", ""]
    found += _told(v, f"The first cursor of a walk over {v.summary}.")
    found += _conditions(v)
    found += _head(v, f"{cursor} {v.name}", [f"{v.T} {n}" for n in v.parameters])
    found += [f"  {cursor} cursor = {zeroed};"]
    found += [f"  cursor.{n} = {n};" for n in (*v.fixed, *v.first[1:], *v.last)]
    found += [f"  cursor.{n} = {first};" for n, first in zip(v.axes, v.first, strict=True)]
    found += [f"  {p.line(f'cursor.more = {v.some(AND)};', 2)}", "  if (cursor.more) {"]
    found += [f"    {v.seek}(&cursor);", "  }", "  return cursor;", "}", ""]
    found += _told(v, f"Advances a cursor to the next {v.ahead}; more says whether there is one.")
    found += _head(v, f"void {v.next}", [f"{cursor} *cursor"])
    return [*found, *_carried(v, 2, f"{v.seek}(cursor);", "return;"), "}"]


def cpp(v: WalkView) -> list[str]:
    """A range whose iterator it is itself."""
    name, marks = v.name, "[[nodiscard]] constexpr"
    item = v.view.result_type
    values = [f"{n}_" for n in v.results]
    value = values[0] if len(values) == 1 else f"{{{', '.join(values)}}}"
    found = ["", *_told(v, f"The range of {v.summary}.")]
    found += _told(v, f"for (const auto at : {name}(..)) ..")
    found += [*_conditions(v), f"class {name} {{", " public:", f"  using value_type = {item};"]
    found += ["  using difference_type = std::int64_t;", "  struct sentinel {};", ""]
    parameters = f",{BREAK}".join(f"{v.T} {n}" for n in v.parameters)
    kept = [*v.fixed, *v.first[1:], *v.last]
    made = [*((f"{n}_", n) for n in kept)]
    made += [(f"{n}_", first) for n, first in zip(v.axes, v.first, strict=True)]
    made += [(f"{n}_", "0") for n in (*v.results, *v.kept)]
    made += [("more_", v.some(AND))]
    starts = f",{BREAK}".join(f"{n}({e})" for n, e in made)
    explicit = "explicit " if len(v.parameters) == 1 else ""
    found += [f"  {v.printer.head(f'{explicit}constexpr {name}', parameters, ' noexcept', 2)}"]
    found += [
        f"      : {v.printer.line(starts, 8)} {{",
        "    if (more_) {",
        "      seek();",
        "    }",
        "  }",
    ]
    found += [f"  {marks} {name} begin() const noexcept {{", "    return *this;", "  }"]
    found += [f"  {marks} sentinel end() const noexcept {{", "    return {};", "  }"]
    found += [f"  {marks} value_type operator*() const noexcept {{", f"    return {value};", "  }"]
    found += [f"  constexpr {name}& operator++() noexcept {{"]
    found += [*_carried(v, 4, "seek();", "return *this;"), "    return *this;", "  }"]
    found += ["  constexpr void operator++(int) noexcept {", "    ++*this;", "  }"]
    for sign, text in (("==", "!at.more_"), ("!=", "at.more_")):
        head = f"  {marks} friend bool operator{sign}(const {name}& at, sentinel) noexcept {{"
        found += [head, f"    return {text};", "  }"]
    found += ["", " private:", f"  // {v.puts()}", "  constexpr void seek() noexcept {"]
    found += [
        *_indented(v.start(4), 4),
        "  }",
        "",
        *(f"  {v.T} {n};" for n, _ in made[:-1]),
        "  bool more_;",
        "};",
    ]
    return found


def rust(v: WalkView) -> list[str]:
    """An iterator, and the function that makes one."""
    cursor, T, names = v.cursor, v.T, [*v.fields, *v.locals(v.walk.parts)]
    item = T if len(v.results) == 1 else f"({', '.join([T] * len(v.results))})"
    values = [f"self.{n}" for n in v.results]
    value = values[0] if len(values) == 1 else f"({', '.join(values)})"
    mark = v.printer.marked(v.view)
    found = ["", f"/// {mark(f'An iterator over {v.summary}, which `{v.name}` makes.')}"]
    found.append("#[allow(dead_code)]")
    lints = allowed("", names, 0, False)
    own = [*lints, *_set_off(v)]
    found += [*lints, "#[derive(Clone, Debug)]", f"pub struct {cursor} {{"]
    found += [*(f"    {n}: {T}," for n in v.fields), "    more: bool,", "}", ""]
    found += [f"/// {mark(f'An iterator over {v.summary}.')}", "///"]
    found += [f"/// - `{said}`" for _, said in v.limits]
    found += [line for said in v.printer.assumed(v.view) for line in ("///", f"/// {said}")]
    found += [*allowed(v.name, v.parameters, len(v.parameters), True), "#[must_use]", "#[inline]"]
    found += head(f"pub fn {v.name}", [f"{n}: {T}" for n in v.parameters], cursor).split("\n")
    given = dict(zip(v.axes, v.first, strict=True))
    given |= {n: n for n in v.fields if n not in given} | {n: "0" for n in (*v.results, *v.kept)}
    found += [f"    let mut cursor = {cursor} {{"]
    found += [f"        {n}," if n == given[n] else f"        {n}: {given[n]}," for n in v.fields]
    found += [f"        more: {' && '.join(f'{a} < {b}' for _, a, b in v.along)},", "    };"]
    found += ["    if cursor.more {", "        cursor.seek();", "    }", "    cursor", "}", ""]
    found += ["#[allow(dead_code)]", *own]
    found += [f"impl {cursor} {{", f"    /// {mark(v.puts())}", "    #[inline]"]
    found += ["    fn seek(&mut self) {", *_indented(v.start(8), 8), "    }", "}", "", *own]
    found += [f"impl Iterator for {cursor} {{", f"    type Item = {item};", "", "    #[inline]"]
    found += ["    fn next(&mut self) -> Option<Self::Item> {"]
    found += ["        if !self.more {", "            return None;"]
    found += ["        }", f"        let item = {value};"]

    def carried(k: int, indent: int) -> list[str]:
        axis, first, last = v.along[k]
        pad, inner = " " * indent, indent + 4
        is_last = k == len(v.axes) - 1
        lines = _indented(v.step(inner), inner) if is_last else [f"{pad}    self.seek();"]
        made, more = [f"{pad}self.{axis} += 1;"], f"self.{axis} < self.{last}"
        if not k:
            return [*made, f"{pad}self.more = {more};", f"{pad}if self.more {{", *lines, f"{pad}}}"]
        made += [f"{pad}if {more} {{", *lines]
        rest = [f"{pad}    self.{axis} = self.{first};", *carried(k - 1, inner)]
        return [*made, f"{pad}}} else {{", *rest, f"{pad}}}"]

    found += [*carried(len(v.axes) - 1, 8), "        Some(item)", "    }", "}", ""]
    return [*found, f"impl core::iter::FusedIterator for {cursor} {{}}"]


def fortran(v: WalkView) -> list[str]:
    """The procedures that make a cursor, put it at its index, and advance it."""
    p, T = v.printer, v.printer.declared(v.T)
    cursor = f"type({v.cursor})"

    def told(text: str) -> list[str]:
        return p.wrapped(text, "  !> ")

    def locals_of(parts: Sequence[Function]) -> list[str]:
        text = f",{BREAK}".join(v.locals(parts))
        return [f"    {p.line(f'{T} :: {text}', 4)}"] if text else []

    start, step = v.start(4), v.step(6)
    found = ["", *told(f"The first cursor of a walk over {v.summary}.")]
    found += [line for names, said in v.limits for line in told(f"@param {names} {said}")]
    found += [line for said in v.needed for line in told(f"@pre {said}")]
    given = f",{BREAK}".join(v.parameters)
    found += [f"  {p.line(f'pure function {v.name}({given}) result(cursor)', 2)}"]
    found += [f"    {p.line(f'{T}, intent(in) :: {given}', 4)}"]
    found += [f"    {cursor} :: cursor"]
    found += [f"    cursor%{n} = {n}" for n in (*v.fixed, *v.first[1:], *v.last)]
    found += [f"    cursor%{n} = {first}" for n, first, _ in v.along]
    found += [f"    {p.line('cursor%more = ' + v.some(f'{BREAK}.and. '), 4)}"]
    found += [f"    if (cursor%more) call {v.seek}(cursor)", f"  end function {v.name}", ""]
    found += told(
        f"Advances a cursor to the next {v.ahead}; cursor%more says whether there is one."
    )
    found += [f"  pure subroutine {v.next}(cursor)", f"    {cursor}, intent(inout) :: cursor"]
    found += locals_of(v.walk.step)
    for k, (axis, first, last) in reversed([*enumerate(v.along)]):
        found += [f"    cursor%{axis} = cursor%{axis} + 1"]
        more = f"cursor%{axis} < cursor%{last}"
        found += [] if k else [f"    cursor%more = {more}"]
        found += [f"    if ({more if k else 'cursor%more'}) then"]
        found += _indented(step, 6) if k == len(v.axes) - 1 else [f"      call {v.seek}(cursor)"]
        found += (
            ["      return", "    end if", f"    cursor%{axis} = cursor%{first}"]
            if k
            else ["    end if"]
        )
    found += [f"  end subroutine {v.next}", "", *told(v.puts(" of a cursor"))]
    found += [f"  pure subroutine {v.seek}(cursor)", f"    {cursor}, intent(inout) :: cursor"]
    found += [*locals_of(v.walk.start), *_indented(start, 4), f"  end subroutine {v.seek}"]
    return found


def fortran_type(v: WalkView) -> list[str]:
    """The type of a cursor."""
    p, T = v.printer, v.printer.declared(v.T)
    found = ["", *p.wrapped(f"A walk over {v.summary}.", "  !> ")]
    found += [f"  !> cursor = {v.name}(..)", "  !> do while (cursor%more)"]
    found += [f"  !>   .. {', '.join(f'cursor%{n}' for n in v.results)}"]
    found += [f"  !>   call {v.next}(cursor)", "  !> end do"]
    found += [f"  type, public :: {v.cursor}"]
    fields = f",{BREAK}".join(f"{n} = 0" for n in v.fields)
    found += [f"    {p.line(f'{T} :: {fields}', 4)}", "    logical :: more = .false."]
    return [*found, f"  end type {v.cursor}"]


def julia(v: WalkView) -> list[str]:
    """Something to iterate over."""
    p, T, cursor = v.printer, v.T, v.cursor
    wide = p.wider.get(v.view.index_type)
    where = f" where {{Ti<:Union{{{', '.join(wide)}}}}}" if wide else ""
    of, kind = ("{Ti}", f"{{Ti<:Union{{{', '.join(wide)}}}}}") if wide else ("", "")
    held = [*v.fixed, *v.first, *v.last]
    state = ", ".join((*v.axes, *v.results, *v.kept))  # two at least
    item = v.results[0] if len(v.results) == 1 else f"({', '.join(v.results)})"
    element = T if len(v.results) == 1 else f"NTuple{{{len(v.results)}, {T}}}"
    text = [f"The walk over {v.summary}.", "", *(f"- `{said}`" for _, said in v.limits)]
    text += [f"- Assumes `{said}`" for said in v.needed]
    docs = p.docstring_lines(v.view, v.name, v.parameters, "", text)
    found = ["", f"struct {cursor}{kind}", *(f"    {n}::{T}" for n in held), "end", ""]
    found += ['"""', *docs, '"""']
    arguments = f",{BREAK}".join(f"{n}::{T}" for n in held)
    names = f",{BREAK}".join(held)
    found += [p.line(f"function {v.name}({arguments})::{cursor}{of}{where}", 0)]
    found += [f"    {p.line(f'return {cursor}{of}({names})', 4)}", "end", ""]
    if wide:
        given = f",{BREAK}".join(f"{n}::Integer" for n in held)
        values = f",{BREAK}".join(f"{wide[-1]}({n})" for n in held)
        found += [p.short_function(f"{v.name}({given})", f"{v.name}({values})"), ""]
    known = f"walk::{cursor}{of}"
    found += [f"Base.IteratorSize(::Type{{<:{cursor}}}) = Base.SizeUnknown()"]
    found += [f"Base.eltype(::Type{{{cursor}{of}}}){where} = {element}", ""]
    found += [f"@inline function Base.iterate({known}){where}"]
    found += [
        f"    {p.line('if !(' + v.with_limits().some(AND) + ')', 4)}",
        "        return nothing",
        "    end",
    ]
    found += [f"    {n} = walk.{first}" for n, first, _ in v.along]
    found += [*_indented(v.start(4), 4), f"    return {item}, ({state})", "end", ""]
    found += [f"@inline function Base.iterate({known}, state){where}", f"    {state} = state"]

    def carried(k: int, indent: int) -> list[str]:
        axis, first, last = v.along[k]
        pad, inner = " " * indent, indent + 4
        is_last = k == len(v.axes) - 1
        lines = v.step(inner) if is_last else v.start(inner)
        made = [f"{pad}{axis} += one({axis})"]
        if not k:
            ended = [f"{pad}if {axis} >= walk.{last}", f"{pad}    return nothing", f"{pad}end"]
            return [
                *made,
                *ended,
                *_indented(v.step(indent) if is_last else v.start(indent), indent),
            ]
        rest = [f"{pad}    {axis} = walk.{first}", *carried(k - 1, inner)]
        found = [*made, f"{pad}if {axis} < walk.{last}", *_indented(lines, inner)]
        return [*found, f"{pad}else", *rest, f"{pad}end"]

    return [*found, *carried(len(v.axes) - 1, 4), f"    return {item}, ({state})", "end"]


def javascript(v: WalkView) -> list[str]:
    """Loops that call a function."""
    p, visit = v.printer, "visit"
    given = ", ".join(v.results)
    found = ["", "/**"]
    found += [
        f" * {line}" for line in wrap(f"Calls visit({given}) for {v.summary}.", p.line_width - 3)
    ]
    found += [" *", *(f" * Assumes {said}." for said in v.needed)] if v.needed else []
    found += [" *"]
    said = {}
    for names, text in v.limits:  # of two names the text has two parts
        said |= zip(names.split(","), text.split(", ", names.count(",")), strict=True)
    found += [f" * @param {{{v.T}}} {n} {said.get(n, '')}".rstrip() for n in v.parameters]
    typed = ", ".join(f"{n}: {v.T}" for n in v.results)
    found += [f" * @param {{({typed}) => void}} {visit}", " */"]
    found += [*p.head_of(v.name, [*v.parameters, visit], " {").split("\n")]
    *outer, (axis, first, last) = v.along
    pad = "  "
    for name, begin, end in outer:
        found += [f"{pad}for (let {name} = {begin}; {name} < {end}; ++{name}) {{"]
        pad += "  "
    found += [f"{pad}if ({first} < {last}) {{", f"{pad}  let {axis} = {first};"]
    deep = pad + "  "
    declared = v.with_forms(set="let {name} = {expr};", compound="")
    found += _indented(declared.start(len(deep)), len(deep))
    found += [f"{deep}{visit}({given});"]
    found += [f"{deep}for (++{axis}; {axis} < {last}; ++{axis}) {{"]
    found += _indented(v.step(len(deep) + 2), len(deep) + 2)
    found += [f"{deep}  {visit}({given});", f"{deep}}}", f"{pad}}}"]
    for _ in outer:
        pad = pad[2:]
        found += [f"{pad}}}"]
    return [*found, "}"]


def _carried(v: WalkView, indent: int, seek: str, end: str) -> list[str]:
    """The statements that take the last axis to its next index, or where it has none the one before it."""
    field, pad = v.forms.field.format, " " * indent
    found = list[str]()
    for k, names in reversed([*enumerate(v.along)]):
        axis, first, last = (field(name=n) for n in names)
        inner = indent + 2
        lines = v.step(inner) if k == len(v.axes) - 1 else [seek]
        if k:
            found += [f"{pad}if (++{axis} < {last}) {{", *_indented(lines, inner)]
            found += [f"{pad}  {end}", f"{pad}}}", f"{pad}{axis} = {first};"]
        else:
            more = field(name="more")
            found += [f"{pad}{more} = ++{axis} < {last};", f"{pad}if ({more}) {{"]
            found += [*_indented(lines, inner), f"{pad}}}"]
    return found


def _set_off(v: WalkView) -> list[str]:
    """The lints that the text of its parts sets off in Rust."""
    lines, places = [*v.start(8), *v.step(8)], of_places(v.view)
    found = [f"#[allow(clippy::{lint})]" for lint in places if any("[" in x for x in lines)]
    found = ["// A place in a table is not negative, and fits.", *found] if found else []
    if any(f" as {v.T}" in line for line in lines):
        found += ["// As in functions, which are const and have no From."]
        found += ["#[allow(clippy::cast_lossless)]"]
    if any(re.search(r"& \w+ == 0", line) for line in lines):
        found += [f"// {MASKED}", "#[allow(clippy::verbose_bit_mask)]"]
    arms = of_arms(v.view.nodes()) if any("match " in line for line in lines) else []
    found += [f"// {EACH_ARM}", *(f"#[allow(clippy::{lint})]" for lint in arms)] if arms else []
    return found


def _told(v: WalkView, text: str) -> list[str]:
    return [f"/// {line}" for line in v.printer.comment(text, "///")]


def _conditions(v: WalkView) -> list[str]:
    limits = [line for names, said in v.limits for line in _told(v, f"@param {names} {said}")]
    return limits + [line for said in v.needed for line in _told(v, f"@pre {said}")]


def _head(v: WalkView, start: str, parameters: list[str]) -> list[str]:
    head = v.printer.head(f"{v.printer.qualifiers} {start}", f",{BREAK}".join(parameters))
    return head.split("\n")


def _indented(lines: list[str], by: int = 2) -> list[str]:
    """Texts whose first lines are indented; further ones are."""
    return [" " * by + line for line in lines]


C = WalkForms(partial(c, zeroed="{0}"), odometer=c_odometer)
CUDA = WalkForms(partial(c, zeroed="{}"), odometer=partial(c_odometer, zeroed="{}"))
CPP = WalkForms(cpp, field="{name}_", odometer=cpp_odometer)
RUST = WalkForms(
    rust,
    declare="let {name} =\v{expr}",
    set="{name} =\v{expr}",
    compound="{name} {sign}=\v{expr}",
    field="self.{name}",
    is_capital=True,
    odometer=rust_odometer,
)
FORTRAN = WalkForms(
    fortran,
    "{name} = {expr}",
    "{name} = {expr}",
    "",
    "cursor%{name}",
    type=fortran_type,
    odometer=fortran_odometer,
)
JULIA = WalkForms(
    julia,
    declare="{name} = {expr}",
    set="{name} = {expr}",
    compound="{name} {sign}= {expr}",
    field="{name}",
    limit="walk.{name}",
    is_capital=True,
    odometer=julia_odometer,
)
JAVASCRIPT = WalkForms(
    javascript, declare="const {name} = {expr};", field="{name}", odometer=javascript_odometer
)
