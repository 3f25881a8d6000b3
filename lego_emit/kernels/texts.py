"""Text of a kernel's own language: marks of index expressions, brackets around and in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..emit.comments import UNSEEN
from ..emit.printer import Printer

START, END, CLOSED = "\ue000", "\ue001", "\ue002"  # around an expression, until all text is there
NOTED = "\ue003"  # around the number of a note, before it
NOTE = re.compile(f"{NOTED}([0-9]+){NOTED}")
MARKED = re.compile(f"{START}({CLOSED}?)([^{START}{END}]*){END}")
COMMENTED = re.compile(r"(//|#|!).*\Z")  # a last line that may end in a comment
CARRIED_ON = re.compile(r"\s*([-+*/%<>=!&|^@.?]|(and|or)\b)")
UNKNOWN = "?"  # a size in a type of MLIR
SIZE = f"{START}{CLOSED}[?]{END}"
NO_SIZE = re.compile(f"(?<![<x]){SIZE}|{SIZE}(?!x)")  # one that is in no type
ANGLE = re.compile(r"\w<([^<>;{}]|<[^<>;{}]*>)*\Z")  # within a template's arguments
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
THOUSANDS = re.compile(r"(?<=\d)'(?=\d)")  # in C++: 1'000
BRACKETS = re.compile(r"\([^][(){}]*\)|\[[^][(){}]*\]|\{[^][(){}]*\}")
ANGLES = re.compile(rf"{BRACKETS.pattern}|(?<=[\w:])<[^<>;=]*>(?=\s*(?:[({{{END}]|::))")
ASSIGNS = re.compile(r"(?:<<|>>|(?<![=!<>~]))=(?![=>])")
STATES = re.compile(
    r"\s*(assert|break|continue|del|goto|import|let|pass|raise|return|throw|var|yield)\b"
)
WORD = re.compile(r"(?<!\w)[^\W\d]\w*")
MEMBER = re.compile(r"(?:(?<!\.)\.|->)\s*\Z")
OUTSIDE = re.compile(rf"{MEMBER.pattern}|(?:::|@)\s*\Z")  # and of a namespace, and Julia's macros
LOOP = re.compile(r"\bfor\s+([\w, ]+?)\s+(?:in\b|=|∈)")
OWN = re.compile(
    rf"{LOOP.pattern}|\blambda\s+([\w, ]+?)\s*:|(\w+)\)?\s*=>"
    r"|(?:\A|[(,=])\s*\|([^|]+)\|"
)
SUBSCRIPT = re.compile(
    r"(?<=[\w)\]])(?<!\bauto)(?<!\bconst)(?<!\blet)(?<!\bvar)(?<!\breturn)\[[^][\n]*\]"
)
USED = re.compile(
    r"(?:[-+/%^~!?<=]|(?:\b\d[\w.]*|[)\]])[ \t]*[*&]"
    r"|\b(?:return|in|and|or|not|if|elif|while|is)\b)[ \t]*\Z"
)
FIELDS = re.compile(  # m in {k, m: n}, and what tells that a comma parts no fields
    r"[][(){}]|[;|]|\b(?:let|const|var|lambda)\b|(?:(?<=\{)|(?<=,))\s*([^\W\d]\w*)(?=\s*:(?![:=]))"
)
SET = re.compile(r"\s*(?:<<|>>|//|\*\*|[-+*/%&|^:])?=(?!=)")
DEFINED = re.compile(  # of MLIR: %a:2, %b = ..
    r"[{}]|^[ \t]*%[\w.$-]+(?::\d+)?(?:\s*,\s*%[\w.$-]+(?::\d+)?)*(?=\s*=(?!=))", re.M
)
FUNCTION = (  # of Python, Julia and Fortran, or its end; [1], [2]: what it is indented by
    r"^([ \t]*)(?!end\b)(?:[\w()@.]+[ \t]+)*(?:def|function|subroutine)[ \t]+\w|^([ \t]*)end\b"
)
STRINGS = r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"'
COMMENTS = {"/*": r"/\*[\s\S]*?\*/"}  # those that do not end with the line
STORAGE = re.compile(
    r"(?:\A|[^\w\s.])\s*(?!return\b|else\b|case\b|in\b)(?:[\w:]+(?:<[^;{}]*>)?[\s*&]+)+"
    r"(?:\w+\s*(?:\[[^][]*\]\s*)*,[\s*&]*)*\w+\s*(?:\[[^][]*\]\s*)*\[[^][;]*\Z"  # float x[3], y[
    r"|\[[^][;]*;[^][;]*\Z"  # [f32;
    r"|(?:\bdimension|\ballocate|::[^!]*?\w)\s*\([^()]*\Z"  # real :: x(
    r"|\b(?:\w*[aA]lloc\w*|empty|zeros|ones|full|undef|resize|reserve|with_capacity|\w*Array|Vector|"
    r"vector|array|make_unique|make_shared)\b[^;]*\Z"
    r"|\]\s*\*\s*\Z"  # [0] *
    r"|<<<[^>]*\Z"  # a kernel's dynamic memory
)
CLOSING = {")": "(", "]": "[", "}": "{"}


def bracketed(whole: str, lines_end: bool) -> Any:
    """Puts an expression into brackets unless those around it, or its place, do. lines_end: a line's
    end is a statement's."""

    def text(match: re.Match[str]) -> str:
        closed, inner = match.groups()
        head, rest = whole[: match.start()], whole[match.end() :]
        before, after = head.rstrip(), rest.lstrip(" \t")[:1]
        if "\n" in head[len(before) :] and COMMENTED.search(before):
            return inner if closed else f"({inner})"
        assigned = re.search(r"(^|[^=<>!:/~])=$|\breturn$", before) is not None
        if lines_end and after in ("", "\n"):
            ends = assigned and not CARRIED_ON.match(rest)
        else:
            after = rest.lstrip()[:1]
            opens = assigned or before[-1:] in ("(", "[", "{", ",", ";")
            ends = opens and after in (")", "]", "}", ",", ";")
            ends = ends or (after == "{" and re.search(r"\b(if|while)$", before) is not None)
        if ends and re.search("[<>]", inner):
            ends = ANGLE.search(re.split("[;{}]", before)[-1]) is None
        return inner if closed or ends else f"({inner})"

    return text


def fault(text: str, printer: Printer) -> str:
    """Why a text can be no expression of the language, as the end of a sentence; the empty string where
    it may be one."""
    if unseen := UNSEEN.search(text.replace("\t", " ")):
        lines = len(f"{text}.".splitlines()) > 1
        return "has a line end" if lines else f"has the character U+{ord(unseen[0]):04X}"
    if "\\" in text:
        return "has a backslash"
    bare = QUOTED.sub("0", THOUSANDS.sub("", text))
    if not bare.strip() or START in text or not _balanced(bare):
        return "is not an expression"
    if marks := [mark for mark in printer.comments if mark in bare]:
        return f"has a comment, {marks[0]}"
    if marks := [mark for mark in "'\"`" if mark in bare]:
        return f"has a quotation mark without its other half, {marks[0]}"
    if printer.suffix and printer.suffix.strip() in bare:
        return f"goes on over a line end, {printer.suffix.strip()}"
    outside = filled(bare, printer.angles)
    if re.search("[,;]", outside):
        return "is more than one expression"
    if (word := STATES.match(bare)) and word[1] in printer.reserved:
        return f"is a statement, {word[1]}"
    in_calls = not printer.statement_ends_line  # where no f(name=value) names an argument
    if ASSIGNS.search(bare if in_calls else outside) or ":=" in bare:
        return "assigns a value"
    return "assigns a value" if in_calls and re.search(r"\+\+|--", bare) else ""


def names_in(text: str, printer: Printer) -> list[str]:
    """The names that an expression takes from around it: no members, arguments' names, or own ones."""
    bare = QUOTED.sub("0", THOUSANDS.sub("", text))
    own = {name for parts in OWN.findall(bare) for part in parts for name in WORD.findall(part)}
    found: dict[str, None] = {}
    for word in WORD.finditer(bare):
        before, after = bare[: word.start()], bare[word.end() :]
        member = OUTSIDE.search(before) or (printer.case_insensitive and before[-1:] == "%")
        argument = printer.statement_ends_line and re.match(r"\s*=(?!=)", after)
        if not (member or argument or word[0] in own):
            found[word[0]] = None
    return [*found]


def _skipped(printer: Printer) -> str:
    """A pattern of strings and comments."""
    marks = "|".join(map(re.escape, printer.comments))
    strings = rf"{STRINGS}|'[^'\n]*(?:{marks})[^'\n]*'"  # of ' alone those that matter: Rust has 'a
    comments = (COMMENTS.get(mark, f"{re.escape(mark)}[^\n]*") for mark in printer.comments)
    return "|".join([strings, *comments])


def declared_in(text: str, printer: Printer) -> list[tuple[str, int]]:
    """The names that a kernel's text may declare or assign, and where they end: all but those that are
    plainly used, as operands, subscripts, members or fields."""
    bare = re.sub(_skipped(printer), blank, text)
    while (less := SUBSCRIPT.sub(blank, bare)) != bare:
        bare = less
    found, fields = [], {*_fields(bare)}
    for word in WORD.finditer(bare):
        before = bare[max(0, word.start() - 40) : word.start()]
        if word.start() in fields:
            continue
        if not MEMBER.search(before) and (not USED.search(before) or SET.match(bare, word.end())):
            found.append((word[0], word.end()))
    for loop in LOOP.finditer(bare):  # of a comprehension they stand before it
        line = bare.rfind("\n", 0, loop.start()) + 1
        found += [(name, line) for name in WORD.findall(loop[1])]
    return sorted(found, key=lambda one: one[1])


def defined_twice(text: str) -> str:
    """A name %x of MLIR that is defined again where it is known already, in a region or one around it; ""
    where there is none."""
    bare = re.sub(rf"{STRINGS}|//[^\n]*", blank, text)
    regions: list[set[str]] = [set()]
    for part in DEFINED.finditer(bare):
        if part[0] == "{":
            regions.append(set())
        elif part[0] == "}":
            regions[max(1, len(regions) - 1) :] = []
        else:
            for name in re.findall(r"%[\w.$-]+", part[0]):
                if any(name in region for region in regions):
                    return name
                regions[-1].add(name)
    return ""


class Regions:
    """The blocks, of MLIR the regions, that a text, read part by part, has begun and not ended, and the names that the
    statements of its template define in them. Of what #if and #else part, each begins with the same blocks; in a language
    without braces a block is a function, up to the next one that is no further in."""

    def __init__(self, printer: Printer):
        self._open: list[set[str]] = [set()]
        self._before: list[list[set[str]]] = []  # the blocks at each #if
        self._columns: list[int] = []  # of the functions that are open, where there are no braces
        self.braces = bool(printer.kernel_lines) or not printer.statement_ends_line
        inner = r"'[{}]'|([{}])|^[ \t]*#[ \t]*(if|el|endif)" if self.braces else FUNCTION
        self._part = re.compile(f"{_skipped(printer)}|{inner}", re.M | re.I)

    def read(self, text: str) -> None:
        """The next part of the text."""
        for part in self._part.finditer(text):
            if not self.braces:
                if part[1] is not None or part[2] is not None:
                    self._reach(part[1] or part[2] or "", begins=part[1] is not None)
            elif part[1] == "{":
                self._open.append(set())
            elif part[1]:
                self._open[max(1, len(self._open) - 1) :] = []
            elif part[2] == "if":
                self._before.append([*self._open])
            elif part[2] == "el" and self._before:
                self._open = [*self._before[-1]]
            elif part[2] and self._before:
                self._before.pop()

    def _reach(self, indent: str, begins: bool) -> None:
        """A function that begins or ends with this indent: it ends those that are no further out."""
        column = len(indent.expandtabs())
        while self._columns and self._columns[-1] >= column:
            self._columns.pop()
            self._open.pop()
        if begins:
            self._columns.append(column)
            self._open.append(set())

    def define(self, names: Iterable[str]) -> None:
        """Names of the innermost region."""
        self._open[-1].update(names)

    def ended(self, names: Iterable[str]) -> list[str]:
        """Those of the names that none of these has."""
        return [name for name in names if not any(name in known for known in self._open)]


def _fields(text: str) -> Iterator[int]:
    """Where names of fields stand: m in {k, m: n}, which declares n, and in {m: 3}."""
    open_ones = [["", ""]]  # each with what stood in it that is no part of fields
    for part in FIELDS.finditer(text):
        bracket, other = open_ones[-1]
        if part[1]:
            if bracket == "{" and not other:
                yield part.start(1)
        elif part[0] in CLOSING.values():
            open_ones.append([part[0], ""])
        elif part[0] not in CLOSING:
            open_ones[-1][1] = part[0]
        elif bracket == CLOSING[part[0]]:
            open_ones.pop()


def blank(match: re.Match[str]) -> str:
    """Blanks in place of what was found."""
    return " " * len(match[0])


def filled(text: str, angles: bool = True) -> str:
    """The text, as long, with nothing to read in place of quotations and brackets. angles: < and > may
    be brackets."""
    text = QUOTED.sub(lambda m: "0" * len(m[0]), text)
    inner = ANGLES if angles else BRACKETS
    while (less := inner.sub(lambda m: END * len(m[0]), text)) != text:
        text = less
    return text


def _balanced(text: str) -> bool:
    """Whether each bracket has its other half."""
    open_ones: list[str] = []
    for char in text:
        if char in CLOSING.values():
            open_ones.append(char)
        elif char in CLOSING and (not open_ones or open_ones.pop() != CLOSING[char]):
            return False
    return not open_ones


def unbracketed(text: str) -> str:
    """An expression without the brackets that are around the whole of it."""
    depth = 0
    for k, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if not depth:
            return unbracketed(text[1:-1]) if char == ")" and k == len(text) - 1 and k else text
    return text
