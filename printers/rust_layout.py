"""Lays Rust expressions out as rustfmt does with its default settings.

It then finds nothing to change.

Reference: https://doc.rust-lang.org/style-guide/expressions.html; the
widths are rustfmt's `fn_call_width`, `struct_lit_width`, `single_line_if_else_max_width` and
`short_array_element_width_threshold`.

The spellings in rust.py bracket what may be broken with marks that are no characters of Rust:
PAIR left BREAK operator BREAK right END, LIST element BREAK element END (the arguments of a call
or the parts of a tuple) and IF condition BREAK then BREAK else END.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from lego_emit.emit.printer import BREAK

PAIR, LIST, IF, END = "\x01", "\x02", "\x03", "\x04"
WIDTH, LIST_WIDTH, STRUCT_WIDTH, IF_WIDTH, SHORT, STEP = 100, 60, 18, 50, 10, 4


@dataclass(frozen=True, slots=True)
class Expr:
    """Text with at most one marked group inside, as precedence and brackets leave it."""

    before: str
    kind: str = ""
    parts: tuple[Expr, ...] = ()
    after: str = ""

    @property
    def is_if(self) -> bool:
        """Whether it is an if expression with nothing before it."""
        return self.kind == IF and not self.before

    def one_line(self) -> str | None:
        """The text on one line, None where rustfmt always breaks it."""
        if not self.kind:
            return self.before
        if self.kind == IF and any(part.is_if for part in self.parts[1:]):
            return None
        texts = [text for part in self.parts if (text := part.one_line()) is not None]
        if len(texts) < len(self.parts):
            return None
        if self.kind == IF:
            text = "if {} {{ {} }} else {{ {} }}".format(*texts)
            if len(text) > IF_WIDTH:
                return None
        else:
            text = (" " if self.kind == PAIR else ", ").join(texts)
            several = len(texts) > 1 or self.parts[0].kind == LIST
            if self.kind == LIST and several and len(text) > LIST_WIDTH:
                return None
        return f"{self.before}{text}{self.after}"


def flat(expr: Expr) -> str:
    """An expression on one line, as rustfmt leaves none that is long."""
    texts = [flat(part) for part in expr.parts]
    if expr.kind == IF:
        text = "if {} {{ {} }} else {{ {} }}".format(*texts)
    else:
        text = (" " if expr.kind == PAIR else ", ").join(texts)
    return f"{expr.before}{text}{expr.after}"


def paragraph(text: str) -> list[str]:
    """The lines of a doc comment's paragraph."""
    return wrap(text, WIDTH - 4, break_long_words=False, break_on_hyphens=False)


def parse(text: str) -> Expr:
    """Marked text as an expression."""
    return _expr(iter(text))[0]


def _expr(chars: Iterator[str]) -> tuple[Expr, str]:
    """The expression up to BREAK, END or the end, and what ended it."""
    before, after, kind, parts = "", "", "", []
    for char in chars:
        if char in (BREAK, END):
            return Expr(before, kind, tuple(parts), after), char
        if char in (PAIR, LIST, IF):
            kind, stop = char, BREAK
            while stop == BREAK:
                part, stop = _expr(chars)
                parts.append(part)
        elif kind:
            after += char
        else:
            before += char
    return Expr(before, kind, tuple(parts), after), ""


def binding(head: str, expr: Expr, indent: int) -> str:
    """`head expr;` where head is `let name =`."""
    here = layout(expr, indent, indent + len(head) + 1, 1)
    if "\n" in here or indent + len(head) + len(here) + 2 > WIDTH:
        below = layout(expr, indent + STEP, indent + STEP, 1)
        first, first_below = here.partition("\n")[0], below.partition("\n")[0]
        lines = f"{' ' * (indent + STEP)}{below}".split("\n")
        lines[0], lines[-1] = f"{lines[0]};", f"{lines[-1]};"
        fits = all(len(line) <= WIDTH for line in lines)
        better = (
            "\n" not in below
            or here.count("\n") > below.count("\n") + 1
            or (first.endswith("(") and not first_below.endswith("("))
            or (first.endswith("{") and not first_below.endswith("{"))
        )
        if better and fits:
            return f"{head}\n{' ' * (indent + STEP)}{below};"
    return f"{head} {here};"


def literal(name: str, fields: Sequence[tuple[str, Expr]], indent: int) -> str:
    """A struct's value as the last line of a block; a field that is called as its value stands
    once."""
    texts = [n if e.before == n and not e.kind else None for n, e in fields]
    lines = [t or e.one_line() for t, (_, e) in zip(texts, fields, strict=True)]
    if None not in lines:
        shown = [t or f"{n}: {x}" for t, (n, _), x in zip(texts, fields, lines, strict=True)]
        line = ", ".join(shown)
        if len(line) <= STRUCT_WIDTH:
            return f"{name} {{ {line} }}"
    pad, inner = " " * indent, indent + STEP
    made = [
        t or binding(f"{n}:", e, inner).removesuffix(";")
        for t, (n, e) in zip(texts, fields, strict=True)
    ]
    body = "".join(f"{pad}{' ' * STEP}{text},\n" for text in made)
    return f"{name} {{\n{body}{pad}}}"


def result(expr: Expr, indent: int) -> str:
    """An expression as the last line of a block: an `if` there is never on one line."""
    if expr.is_if:
        return _if(expr, indent, indent)
    return layout(expr, indent, indent, 0)


def function_result(expr: Expr, indent: int) -> str:
    """The value of a function. A short `if` becomes an early return: rustfmt would break it in
    edition 2021 and not in 2024."""
    if not expr.is_if or expr.one_line() is None:
        return result(expr, indent)
    condition, then, other = (part.one_line() for part in expr.parts)
    pad = " " * indent
    return f"if {condition} {{\n{pad}    return {then};\n{pad}}}\n{pad}{other}"


def mapped(receiver: str, closure: str, value: Expr, indent: int) -> str:
    """`receiver.map(closure value)` as a block's last line."""
    pad, line = " " * indent, value.one_line()
    if line is not None:
        if indent + len(f"{receiver}.map({closure}{line})") <= WIDTH:
            return f"{receiver}.map({closure}{line})"
        if indent + STEP + len(f".map({closure}{line})") <= WIDTH:
            return f"{receiver}\n{pad}{' ' * STEP}.map({closure}{line})"
    inner = indent + STEP
    return f"{receiver}.map({closure}{{\n{pad}{' ' * STEP}{result(value, inner)}\n{pad}}})"


def layout(expr: Expr, indent: int, column: int, tail: int) -> str:
    """The expression from a column on, in a block of the given indent; tail characters follow."""
    line = expr.one_line()
    if not expr.kind or (line is not None and column + len(line) + tail <= WIDTH):
        return line or ""
    column, tail = column + len(expr.before), tail + len(expr.after)
    if expr.kind == PAIR:
        text = _pair(expr, indent, column, tail)
    elif expr.kind == LIST:
        text = _list(expr, indent, column, tail)
    else:
        text = _if(expr, indent, column)
    return f"{expr.before}{text}{expr.after}"


def _pair(expr: Expr, indent: int, column: int, tail: int) -> str:
    """A chain of one operator, an operand to a line."""
    left, operator, right = expr.parts
    chain = [right]
    while left.kind == PAIR and not left.before and left.parts[1] == operator:
        chain.append(left.parts[2])
        left = left.parts[0]
    chain.append(left)
    chain.reverse()
    symbol = operator.before
    head = chain[0].one_line()
    if len(chain) == 2 and head is not None and len(head) + len(symbol) + 2 <= STEP:
        start = f"{head} {symbol} "
        last = layout(chain[1], indent, column + len(start), tail)
        first = last.partition("\n")[0]
        if not last.startswith("(") and column + len(start) + len(first) + tail <= WIDTH:
            return start + last
    text = layout(chain[0], indent, column, 0 if symbol == "as" else tail)
    for operand in chain[1:]:
        last = text.rpartition("\n")[2]
        end = len(last) + (0 if "\n" in text else column)
        whole = symbol == "as" and column + len(f"{last} as {operand.before}") + tail <= WIDTH
        if end <= indent + STEP or whole:
            used = column + len(last.strip()) + len(symbol) + 2
            text += f" {symbol} " + layout(operand, indent, used, tail)
        else:
            inner = indent + STEP
            text += f"\n{' ' * inner}{symbol} "
            text += layout(operand, inner, inner + len(symbol) + 1, tail)
    return text


def _list(expr: Expr, indent: int, column: int, tail: int) -> str:
    """An element to a line, short ones as many as fit; an only argument that is a call, or an `if`
    whose head is short, keeps the brackets' line."""
    inner = indent + STEP
    only = expr.parts[0]
    if len(expr.parts) == 1 and only.kind == LIST:
        return f"{only.before}{_list(only, indent, column, tail)}{only.after}"
    if len(expr.parts) == 1 and only.is_if:
        text = layout(only, indent, column, tail)
        first = text.partition("\n")[0]
        if first.endswith("{") and len(first) <= LIST_WIDTH:
            return text
    texts = [part.one_line() or "" for part in expr.parts if _is_simple(part)]
    if len(texts) == len(expr.parts) and all(len(text) <= SHORT for text in texts):
        text = ", ".join(texts).replace(" as ", "\xa0as\xa0")
        lines = wrap(text, WIDTH - 1 - inner, break_on_hyphens=False)
        lines = [line.replace("\xa0", " ") for line in lines]
        lines[-1] += ","
    else:
        lines = [f"{layout(part, inner, inner, 1)}," for part in expr.parts]
    pad = "\n" + " " * inner
    return f"{pad}{pad.join(lines)}\n{' ' * indent}"


def _is_simple(expr: Expr) -> bool:
    """Whether it is a name, a number, or one of these cast."""
    cast = expr.kind == PAIR and expr.parts[1].before == "as" and not expr.parts[0].kind
    return not expr.kind or (cast and not expr.before)


def _if(expr: Expr, indent: int, column: int) -> str:
    condition, then, other = expr.parts
    pad, inner = " " * indent, " " * (indent + STEP)
    test = layout(condition, indent, column + 3, 0)
    last = test.rpartition("\n")[2]
    closers = not last.strip(" ()}") and len(last) - len(last.lstrip()) <= column
    if ("\n" in test or column + len(f"if {test} {{") > WIDTH) and not closers:
        head = f"if {test}\n{pad}{{"
    else:
        head = f"if {test} {{"
    text = f"{head}\n{inner}{result(then, indent + STEP)}\n{pad}}} else "
    if other.is_if:
        return text + _if(other, indent, indent + len("} else "))
    return f"{text}{{\n{inner}{result(other, indent + STEP)}\n{pad}}}"


def head(start: str, parameters: list[str], result: str, indent: int = 0) -> str:
    """A function's head, one parameter on a line where it is long. result: its type, "" for none."""
    given = f" -> {result}" if result else ""
    text, pad = f"{start}({', '.join(parameters)}){given} {{", " " * indent
    if indent + len(text) > WIDTH:
        lines = "".join(f"{pad}    {parameter},\n" for parameter in parameters)
        text = f"{start}(\n{lines}{pad}){given} {{" if lines else f"{text[:-2]}\n{{"
    return text
