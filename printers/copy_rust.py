"""How Rust spells copies between memory layouts: slices, and no unsafe code.

A kernel takes its registers as arrays, which the compiler holds in vectors; slices are cut to the length of
the memories first, so that one check is made outside of the loops for what it can be made for.

Reference: https://doc.rust-lang.org/core/primitive.slice.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap
from typing import Any

from lego_emit.emit.nests import NestForms
from lego_emit.emit.ops import BREAK
from lego_emit.emit.printer import ATOM
from lego_emit.ir.nests import (
    BUFFER,
    DESTINATION,
    PART,
    SOURCE,
    Body,
    Buffer,
    Call,
    Each,
    Flag,
    Let,
    Loop,
    Move,
    Vectors,
    When,
    Zero,
    helpers,
    kernels,
    names_read,
    walk,
)
from lego_emit.ir.nodes import Node, const, made
from lego_emit.printers import rust_layout
from lego_emit.printers.copy_rust_kernels import MOST_LINES, KernelsInRust
from lego_emit.printers.rust import CAST, USIZE
from lego_emit.printers.rust_layout import END, LIST, WIDTH
from lego_emit.printers.rust_lints import allowed, in_backticks

RUST = NestForms(
    let=f"let {{name}} ={BREAK}{{expr}}",
    loop="for {name} in {start}..{stop} {{",
    steps="for {name} in ({start}..{stop}).step_by({step}) {{",
    one="{to} = {of};",
    run="{to}.copy_from_slice(&{of});",
    zero="{to} = {blank};",
    zeros="{to}.fill({blank});",
    indent=4,
)

CALLER = "#[track_caller]"  # a panic names the line of the call
SHORT = 60  # columns of arguments that rustfmt leaves on one line
LINTS = (
    "#[allow(unknown_lints, unexpected_cfgs)]"  # of a crate that has no feature that is asked for
)
MOST_BY_VALUE = 32  # integers in an array that clippy lets a function take


class LinesInRust(KernelsInRust):
    """The nest of a routine."""

    forms = RUST
    index_type = USIZE

    def __init__(self, printer: Any, routine: Any, names: Any, unit: str):
        super().__init__(printer, routine, names, unit)
        self.generic, self.blank = "<T: Copy>", "T::default()"
        if routine.value is not None:
            self.type, self.generic, self.blank = f"u{8 * routine.element_bytes}", "", "0"
        self.kernels = kernels(routine.body)
        self.asked: list[str] = []  # what is done where registers are asked for
        self.own = self.p = f"{routine.name.rstrip('_')}_"
        self._has_buffer = False

    # -- boxes of one kind -------------------------------------------------------------------------

    def lines(self, body: Body, indent: int) -> list[str]:
        """The lines of statements, calls of one function in a table."""
        found: list[str] = []
        for is_call, some in groupby(body, lambda s: isinstance(s, Call)):
            if not is_call:
                found += super().lines([*some], indent)
                continue
            tables: dict[Any, list[Any]] = {}  # boxes have no order
            for s in some:
                tables.setdefault(getattr(s, "helper", None), []).append(s)
            for own in tables.values():
                found += self._calls(own, indent)
        return found

    def _calls(self, calls: Sequence[Any], indent: int) -> list[str]:
        """Calls of what moves boxes of one kind, which takes its integers in an array."""
        helper, pad = calls[0].helper, " " * indent
        rows = [f"[{', '.join(map(self.text, s.arguments))}]" for s in calls]
        borrow = self._borrow(helper)
        arrays = [SOURCE, DESTINATION] if helper.reads else [DESTINATION]
        name = f"{self.own}{helper.stem}"
        given = ", ".join([borrow + rows[0], *arrays])
        if len(calls) == 1 and len(given) <= rust_layout.LIST_WIDTH:
            return [f"{pad}{name}({given});"]
        call = f"{name}({', '.join([f'{borrow}own', *arrays])});"
        skip = f"{pad}#[rustfmt::skip]"
        if len(calls) == 1:
            return [skip, *_wrapped(f"let own = {rows[0]};", indent), f"{pad}{call}"]
        table = [line for row in rows for line in _wrapped(f"{row},", indent + 4)]
        return [
            *(skip, f"{pad}let boxes = [", *table, f"{pad}];"),
            *(f"{pad}for own in boxes {{", f"{pad}    {call}", f"{pad}}}"),
        ]

    def _borrow(self, helper: Any) -> str:
        """How a function takes its array."""
        return "&" if len(helper.parameters) > MOST_BY_VALUE else ""

    def box_lines(self) -> list[str]:
        """The functions that move boxes of one kind."""
        found: list[str] = []
        for helper in helpers(self.routine.body):
            names = [self.names.get(name, name) for name in helper.parameters]
            read = names_read(helper.body)
            own = [
                name if old in read else "_"
                for old, name in zip(helper.parameters, names, strict=True)
            ]
            named = {s.name for s in walk(helper.body) if isinstance(s, Let | Loop)}
            marks = allowed("", sorted({*own, *named} - {"_"}), 0, False)
            name = self.routine.name
            told = self.box_told(helper).replace(f" {name}.", f" `{name}`.")
            found += ["", f"/// {told}", *marks]
            at, T = len(found), self.type
            kind = f"own: {self._borrow(helper)}[usize; {len(own)}]"
            parameters = [kind, *([f"src: &[{T}]"] if helper.reads else []), f"dst: &mut [{T}]"]
            pads = any(isinstance(s, Zero) for s in walk(helper.body))
            generic = self.generic.replace("Copy", "Copy + Default") if pads else self.generic
            start = f"fn {self.own}{helper.stem}{generic}"
            found += rust_layout.head(start, parameters, "").split("\n")
            taken = f"let [{', '.join(own)}] = {'*' * bool(self._borrow(helper))}own;"
            found += ["    #[rustfmt::skip]"] * (len(taken) + 4 > WIDTH or len(own) > 9)
            found += _wrapped(taken, 4)
            body = [line for text in self.lines(helper.body, 4) for line in text.split("\n")]
            if len(body) > MOST_LINES:
                found.insert(at, "#[allow(clippy::too_many_lines)]")
            found += [*body, "}"]
        return found

    # -- statements --------------------------------------------------------------------------------

    def text(self, node: Node, need: int = 0) -> str:
        """A text on one line."""
        return self.printer.inline(super().text(_without_mod(node), need))

    def value(self, node: Node) -> str:
        """What is laid out after a let."""
        if node.op == "select" and node.args[0].args == node.args[1:]:  # of x < y, x and y
            return f"{self.text(node.args[1], ATOM)}.min({self.text(node.args[2])})"
        if (ratio := _rounded_up(node)) is not None:
            typed = "_usize" * (ratio[0].op == "const")  # of a number alone Rust asks for its type
            return f"{self.text(ratio[0], ATOM)}{typed}.div_ceil({self.text(ratio[1])})"
        if node.op == "max":
            return f"{self.text(node.args[0], ATOM)}.max({self.text(node.args[1])})"
        return super().text(_without_mod(node))

    def line(self, text: str, indent: int) -> str:
        """A let as rustfmt lays it out; other lines are short."""
        if text.startswith("let ") and BREAK in text:
            return f"{' ' * indent}{self.printer.line(text, indent)}"
        return f"{' ' * indent}{text}"

    def loop(self, s: Loop, indent: int) -> list[str]:
        """A loop; what is around all loops that fill a buffer makes it."""
        buffers = [one for one in walk(s.body) if isinstance(one, Buffer)]
        if self._has_buffer or not buffers:
            return super().loop(s, indent)
        self._has_buffer = True
        return self._with_buffer(
            buffers[0], indent, lambda: super(LinesInRust, self).loop(s, indent)
        )

    def buffer(self, s: Buffer, indent: int) -> list[str]:
        """What is done with it; one that is around all loops is made there."""
        if self._has_buffer:
            return self.lines(s.body, indent)
        return self._with_buffer(s, indent, lambda: self.lines(s.body, indent))

    def _with_buffer(self, s: Buffer, indent: int, within: Callable[[], list[str]]) -> list[str]:
        self._has_buffer = True
        found = [f"{' ' * indent}let mut {BUFFER} = [{SOURCE}[0]; {s.count}];", *within()]
        self._has_buffer = False
        return found

    def let(self, s: Let, indent: int) -> list[str]:
        """A name for an integer, which wraps where it may be below 0."""
        return super().let(replace(s, value=_wrapping(s.value)) if s.wraps else s, indent)

    def flag(self, s: Flag, indent: int) -> list[str]:
        """A name for a condition."""
        assert s.condition is not None
        return self.let(Let(s.name, s.condition), indent)

    def when(self, s: When, indent: int) -> list[str]:
        """A choice by a condition, which has a name where it is long."""
        pad, found = " " * indent, list[str]()
        condition = s.flags[0] if s.condition is None else self.text(s.condition)
        if indent + len(f"if {condition} {{") > WIDTH:
            assert s.condition is not None
            found = self.let(Let("holds", s.condition), indent)
            condition = "holds"
        found += [f"{pad}if {condition} {{", *self.lines(s.then, indent + 4)]
        if s.otherwise:
            found += [f"{pad}}} else {{", *self.lines(s.otherwise, indent + 4)]
        return [*found, f"{pad}}}"]

    def vectors(self, s: Vectors, indent: int) -> list[str]:
        """The kernel where blocks fit."""
        if s.condition is None:
            return self.lines(s.body, indent)
        return self.when(When(s.condition, s.body, s.plain), indent)

    def move(self, s: Move, indent: int) -> list[str]:
        """One element, or a run of them."""
        form = RUST.one if s.count == const(1) else RUST.run
        before, to = self._place(s.to, s.count, "dst_at")
        more, of = self._place(s.of, s.count, "src_at")
        line, pad = form.format(to=to, of=of), " " * indent
        if self.routine.value is not None and s.of.array == SOURCE:
            if s.count != const(1):
                head = f"for (to, of) in run.iter_mut().zip(&{of}) {{"
                body = [f"let run = &mut {to};", head, f"    *to = {self.p}value(*of);", "}"]
                return [*self.lines((*before, *more), indent), *(pad + text for text in body)]
            line = f"{to} = {self.p}value({of});"
        if indent + len(line) > WIDTH and s.count != const(1):
            body = [f"let run = &mut {to};", f"run.copy_from_slice(&{of});"]
            return [*self.lines((*before, *more), indent), *(pad + text for text in body)]
        if indent + len(line) > WIDTH:
            before, more = [Let("dst_at", s.to.offset)], [Let("src_at", s.of.offset)]
            line = f"{s.to.array}[dst_at] = {self._changed(f'{s.of.array}[src_at]')};"
        return [*self.lines((*before, *more), indent), f"{' ' * indent}{line}"]

    def zero(self, s: Zero, indent: int) -> list[str]:
        """Zeros in a run of elements."""
        before, to = self._place(s.to, s.count, "dst_at")
        form = RUST.zero if s.count == const(1) else RUST.zeros
        texts = [form.format(to=to, blank=self.blank)]
        if indent + len(texts[0]) > WIDTH and s.count != const(1):
            texts = [f"let run = &mut {to};", form.format(to="run", blank=self.blank)]
        elif indent + len(texts[0]) > WIDTH:
            before = [Let("dst_at", s.to.offset)]
            texts = [form.format(to=f"{s.to.array}[dst_at]", blank=self.blank)]
        return [*self.lines(before, indent), *(" " * indent + text for text in texts)]

    def each(self, s: Each, indent: int) -> list[str]:
        """Loops around a call, whose results are signed."""
        heads = [
            f"for {name} in 0..{n.value}_i64 {{" if n.op == "const" else
            f"for {name} in 0..{self.text(n, CAST)} as i64 {{"
            for name, n in zip(s.names, s.extents, strict=True)
        ]  # fmt: skip
        within = indent + 4 * len(heads)
        pad = " " * within
        given = [f"{self.names[n]} as i64" if n in self.names else n for n in s.arguments]
        call = rust_layout.parse(f"{self.routine.functions[-1]}({LIST}{BREAK.join(given)}{END})")
        body = [f"{pad}{rust_layout.binding('let (src_at, dst_at) =', call, within)}"]
        moved = f"{DESTINATION}[dst_at as usize] = {self._changed(f'{SOURCE}[src_at as usize]')};"
        if s.masked:
            body += [f"{pad}if src_at >= 0 && dst_at >= 0 {{", f"{pad}    {moved}", f"{pad}}}"]
        else:
            body.append(f"{pad}{moved}")
        steps = [" " * (indent + 4 * k) for k in range(len(heads))]
        found = [f"{at}{head}" for at, head in zip(steps, heads, strict=True)]
        return [*found, *body, *(f"{at}}}" for at in reversed(steps))]

    # -- the routine -------------------------------------------------------------------------------

    def routine_lines(self) -> list[str]:
        """The routine with its comment."""
        r, sizes = self.routine, [*self.names.values()]
        named = {s.name for s in walk(r.body) if isinstance(s, Let | Loop)}
        named |= {n for s in walk(r.body) if isinstance(s, Each) for n in s.names}
        locals_of = sorted(named - {*sizes})
        mark = {n for n in sizes if len(n) == 1 or not n.islower()} - {"a"}
        ends = (SOURCE, r.source), (DESTINATION, r.destination)
        ranges = [f"- `{n}`: at least `{self.text(size)}` elements" for n, size in ends]
        plural = "s" * (r.element_bytes != 1)
        panics = "Panics if one of them is shorter."
        if r.value is None:
            panics = f"{panics[:-1]}, or `T` is not of {r.element_bytes} byte{plural}."
        lines = [*rust_layout.paragraph(in_backticks(r.summary, mark)), "", *ranges]
        lines += ["", "# Panics", "", panics]
        found = ["", *(f"/// {line}".rstrip() for line in lines)]
        found += allowed(r.name, [*sizes, *locals_of], len(sizes) + 2, False)
        at = len(found)
        if any(isinstance(s, Each) for s in walk(r.body)):
            casts = ("cast_possible_truncation", "cast_possible_wrap", "cast_sign_loss")
            found += ["// What is converted fits.", *(f"#[allow(clippy::{c})]" for c in casts)]
        found += [LINTS] if self.asked and not r.slices else []
        generic = self.generic
        if r.pads:
            generic = generic.replace("Copy", "Copy + Default")
        if r.slices is not None:
            found += self._head(r.name, generic.replace("Copy", "Copy + Send + Sync"))
            return [*self._chunks(), *self._part(generic), *found, *self._shared(), "}"]
        found += self._head(r.name, generic)
        body = self._body((("src", "&", r.source), ("dst", "&mut ", r.destination)))
        if len(body) - 3 > MOST_LINES:
            found.insert(at, "#[allow(clippy::too_many_lines)]")
        return [*found, *body, "}"]

    def _head(self, name: str, generic: str, *more: str) -> list[str]:
        """What a routine begins with."""
        T, sizes = self.type, [f"{n}: usize" for n in self.names.values()]
        parameters = [*sizes, f"src: &[{T}]", f"dst: &mut [{T}]", *more]
        return [CALLER, *rust_layout.head(f"pub fn {name}{generic}", parameters, "").split("\n")]

    def _body(self, ends: Sequence[tuple[str, str, Node]]) -> list[str]:
        """The nest, after the arrays are cut to their sizes."""
        r = self.routine
        found = []
        if r.value is None:
            size, plural = r.element_bytes, "s" * (r.element_bytes != 1)
            told = f'"T must have {size} byte{plural}"'
            found.append(f"    assert_eq!(core::mem::size_of::<T>(), {size}, {told});")
        for name, borrow, size in ends:
            found += self._cut(name, borrow, size)
        found += self.asked
        return [*found, *(line for text in self.lines(r.body, 4) for line in text.split("\n"))]

    def _cut(self, name: str, borrow: str, size: Node) -> list[str]:
        """What cuts an array to its size, which has a name where it is long, and panics where it is shorter."""
        end, told, lines = self.text(size), f'"{name} is too short"', list[str]()
        if len(f"{name}.len() >= {end}, {told}") > SHORT:
            names = {*self.names.values()}
            end = next(n for n in ("length", "elements", "length_of_all") if n not in names)
            lines = "\n".join(self.lines([Let(end, size)], 4)).split("\n")
        return [
            *lines,
            f"    assert!({name}.len() >= {end}, {told});",
            f"    let {name} = {borrow}{name}[..{end}];",
        ]

    def _unread(self, nodes: Iterable[Node], body: Body = ()) -> list[str]:
        """What takes the sizes that are not read."""
        read = names_read(body) | {n.value for node in nodes for n in node.walk() if n.op == "var"}
        return [f"    let _ = {name};" for old, name in self.names.items() if old not in read]

    def _chunks(self) -> list[str]:
        """What gives each part its slice of the destination."""
        r, T, sizes = self.routine, self.type, [*self.names.values()]
        assert r.slices is not None
        lets, nested = r.slices
        named = [Let(name, node) for name, node in lets]
        lines = [
            f"The parts of the destination of [`{r.name}`] with their numbers, for threads of one's own."
        ]
        lines += ["", "# Panics", "", "Panics if it is shorter."]
        found = ["", *(f"/// {line}".rstrip() for line in lines)]
        found += allowed(r.name, [*sizes, *(let.name for let in named)], len(sizes) + 1, False)
        result = f"impl Iterator<Item = (usize, &mut [{T}])>"
        parameters = [*(f"{n}: usize" for n in sizes), f"dst: &mut [{T}]"]
        generic = "" if r.value is not None else "<T>"
        head = rust_layout.head(f"pub fn {r.name}_chunks{generic}", parameters, result)
        found += [CALLER, *head.split("\n")]
        nodes = [r.destination, *(node for pair in nested for node in pair)]
        found += self._unread([*nodes, *(node for _, node in lets)])
        found += self._cut(DESTINATION, "&mut ", r.destination)
        found += [line for text in self.lines(named, 4) for line in text.split("\n")]
        return [*found, *self._sliced(nested), "}"]

    def _sliced(self, nested: Sequence[tuple[Node, Node]]) -> list[str]:
        """The iterator over slices of slices."""
        if not nested:
            return ["    core::iter::once((0, dst))"]
        found: list[str] = []
        calls = [f"chunks_mut({self.text(length)}).enumerate()" for length, _ in nested]
        if len(nested) == 1:
            return [f"    dst.{calls[0]}"]
        pad, array = "    ", "dst"
        for level, call in enumerate(calls):
            first, second = call.rsplit(".", 1)
            found += [f"{pad}{array}.{first}", f"{pad}    .{second}"]
            array = "own"
            if level + 1 < len(nested):
                found.append(f"{pad}    .flat_map(move |(k{level}, own)| {{")
                pad += "        "
        part = " + ".join(
            [*(f"{self.text(count, 9)} * k{k}" for k, (_, count) in enumerate(nested[:-1])), "k"]
        )
        found.append(f"{pad}    .map(move |(k, own)| ({part}, own))")
        for _ in nested[1:]:
            pad = pad[8:]
            found.append(f"{pad}    }})")
        return found

    def _part(self, generic: str) -> list[str]:
        """What moves a part."""
        r, sizes = self.routine, [*self.names.values()]
        named = {s.name for s in walk(r.body) if isinstance(s, Let | Loop)}
        lines = [
            f"Does a part of [`{r.name}`], for threads of one's own.", "",
            f"- `dst`: what [`{r.name}_chunks`] gives of that number", "", "# Panics", "",
            "Panics if a slice is too short.",
        ]  # fmt: skip
        found = ["", *(f"/// {line}".rstrip() for line in lines)]
        own = [*sizes, *sorted(named - {*sizes}), PART]
        found += allowed(r.name, own, len(sizes) + 3, False)
        at = len(found)
        found += [LINTS] if self.asked else []
        found += self._head(f"{r.name}_part", generic, f"{PART}: usize")
        unread = [] if PART in names_read(r.body) else [f"    let _ = {PART};"]
        body = [*unread, *self._unread([r.source], r.body), *self._body((("src", "&", r.source),))]
        if len(body) > MOST_LINES:
            found.insert(at, "#[allow(clippy::too_many_lines)]")
        return [*found, *body, "}"]

    def _shared(self) -> list[str]:
        """The parts, which the threads of a crate share where it is asked for."""
        r, sizes = self.routine, [*self.names.values()]
        chunks = f"{r.name}_chunks({', '.join([*sizes, 'dst'])})"
        part = f"{r.name}_part({', '.join([*sizes, 'src', 'own', PART])})"
        return [
            '    #[cfg(feature = "rayon")]',
            "    {",
            "        use rayon::iter::{ParallelBridge, ParallelIterator};",
            f"        let parts = {chunks}.par_bridge();",
            f"        parts.for_each(|({PART}, own)| {part});",
            "    }",
            '    #[cfg(not(feature = "rayon"))]',
            f"    for ({PART}, own) in {chunks} {{",
            f"        {part};",
            "    }",
        ]


def _wrapped(text: str, indent: int) -> list[str]:
    """A line in several where it is long."""
    pad = " " * indent
    return wrap(text, WIDTH, initial_indent=pad, subsequent_indent=f"{pad}    ")


def _wrapping(node: Node) -> Node:
    """A sum from which something is subtracted, of operations that wrap."""
    if node.op not in ("add", "sub"):
        return node
    args = tuple(map(_wrapping, node.args))
    if node.op == "add" and args == node.args:
        return node
    return replace(node, op=f"{node.op}.wrapping", args=args)


def _without_mod(node: Node) -> Node:
    """Without comparisons of a remainder and 0, for which clippy wants is_multiple_of(), of Rust 1.87."""
    if not node.args:
        return node
    node = node.over(tuple(map(_without_mod, node.args)))
    if node.op == "eq" and node.args[0].op == "mod" and node.args[1] == const(0):
        a, b = node.args[0].args
        return node.over((made("mul", made("div", a, b), b), a))
    return node


def _rounded_up(node: Node) -> tuple[Node, Node] | None:
    """x and y of (x + y - 1) / y, for which clippy wants div_ceil(), of Rust 1.73."""
    if node.op != "div":
        return None
    of, y = node.args
    if y.op != "const" and of.op == "sub" and of.args[1] == const(1):
        of = of.args[0]
        return (of.args[0], y) if of.op == "add" and of.args[1] == y else None
    is_one = y.op == "const" and of.op == "add" and of.args[1] == const(y.value - 1)
    return (of.args[0], y) if is_one else None
