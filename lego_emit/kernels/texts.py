"""Text of a kernel's own language: marks of index expressions, brackets around and in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

START, END, CLOSED = "\ue000", "\ue001", "\ue002"  # around an expression, until all text is there
MARKED = re.compile(f"{START}({CLOSED}?)([^{START}{END}]*){END}")
COMMENTED = re.compile(r"(//|#|!).*\Z")  # a last line that may end in a comment
CARRIED_ON = re.compile(r"\s*([-+*/%<>=!&|^@.?]|(and|or)\b)")
ANGLE = re.compile(r"\w<([^<>;{}]|<[^<>;{}]*>)*\Z")  # within a template's arguments
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
INNER = re.compile(r"\([^][(){}]*\)|\[[^][(){}]*\]|\{[^][(){}]*\}|(?<=\w)<[^<>;]*>")
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


def fault(text: str, comments: Sequence[str]) -> str:
    """Why a text can be no expression, as the end of a sentence; the empty string where it may be one.
    comments: what begins one in its language."""
    bare = outside = QUOTED.sub("0", text)
    if not bare.strip() or START in text or not _balanced(bare):
        return "is not an expression"
    if marks := [mark for mark in comments if mark in bare]:
        return f"has a comment, {marks[0]}"
    while (less := INNER.sub("", outside)) != outside:
        outside = less
    return "is more than one expression" if re.search("[,;]", outside) else ""


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
