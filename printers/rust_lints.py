"""The lints of rustc and clippy that an emitted function would set off, and why it stands as it is."""

import re
from collections.abc import Iterable
from itertools import combinations

from lego_emit.emit.printer import FunctionView
from lego_emit.ir.index_types import DECLARED
from lego_emit.ir.nodes import Node

NAMED = "The names are those of the definition."
MASKED = "A mask takes the low bits."
EACH_ARM = "Each layout has an arm of its own."
CODE = re.compile(r"\w\(|^\(\w+,$|[][{}<>=*%_/]|[a-z][A-Z]|\w\.\w|[A-Z]{2}|\w\d")


def allowed(function: str, names: list[str], arguments: int, optional: bool) -> list[str]:
    """names: those of parameters and of what is bound in the text."""
    named = ["non_snake_case"] if any(n != n.lower() for n in (function, *names)) else []
    if sum(len(name) == 1 and name.islower() for name in names) > 4:
        named.append("clippy::many_single_char_names")
    if any(similar(a, b) for a, b in combinations(names, 2)):
        named.append("clippy::similar_names")
    reasons = {
        "One argument for each index and size.": ["clippy::too_many_arguments"]
        if arguments > 7
        else [],
        NAMED: named,
    }
    lines = ["#[allow(dead_code)]"] if optional else []
    for reason, lints in reasons.items():
        lines += [f"// {reason}", *(f"#[allow({lint})]" for lint in lints)] if lints else []
    return lines


def of_places(view: FunctionView) -> list[str]:
    """The lints that a look-up's `as usize` sets off."""
    places = [node.args[1] for node in view.nodes() if node.op == "lookup"]
    seen = all(p.op in ("mod", "and") and p.args[1].op == "const" for p in places)  # by clippy, too
    wide = "64" in view.index_type and not seen
    signed = places and not view.index_type.startswith("u")
    return ["cast_possible_truncation"] * wide + ["cast_sign_loss"] * bool(signed)


def of_casts(view: FunctionView) -> list[str]:
    """The lints that conversions of parameters and results set off."""
    own, index, found = {p.name: p.type for p in view.params}, view.index_type, set[str]()
    kinds = [DECLARED[kind] for kind in own.values() if kind in DECLARED]
    if view.fills and any(kind.width < index.width for kind in kinds):  # it is no const fn
        found.add("cast_lossless")
    for node in view.nodes():
        if node.op == "cast":
            kind = own.get(node.args[0].value, "") if node.args[0].op == "var" else ""
            source = DECLARED[kind] if kind else index
            target = DECLARED[node.value] if node.value in DECLARED else index
            if source.least == 0 and target.least < 0 and target.width <= source.width:
                found.add("cast_possible_wrap")
            if target.width < source.width or (
                kind != node.value and {"size", "ssize"} & {kind, node.value}
            ):
                found.add("cast_possible_truncation")
            if source.least < 0 and target.least == 0:
                found.add("cast_sign_loss")
    return sorted(found)


def of_masks(nodes: Iterable[Node]) -> list[str]:
    """The lints that comparisons of low bits with 0 set off."""
    for node in nodes:
        if node.op == "eq" and node.args[0].op == "and" and node.args[1].value == 0:
            mask = node.args[0].args[1].value
            if isinstance(mask, int) and mask > 1 and not mask & mask + 1:
                return ["verbose_bit_mask"]
    return []


def of_arms(nodes: Iterable[Node]) -> list[str]:
    """The lints that equal arms of a switch set off."""
    for node in nodes:
        if node.op == "switch":
            arms = [(part.body, part.outputs) for part in node.args[0].value.parts]
            if any(a == b for a, b in combinations(arms, 2)):
                return ["match_same_arms"]
    return []


def similar(a: str, b: str) -> bool:
    """What clippy::similar_names finds too alike: three letters or more, one changed or put in.
    Digits may differ, a letter beside an underscore at an end may (i_x, i_y), one may be added."""
    if min(len(a), len(b)) < 3 or abs(len(a) - len(b)) > 1 or not (a + b).islower():
        return False
    if len(a) == len(b):
        pairs = enumerate(zip(a, b, strict=True))
        changed = [k for k, (x, y) in pairs if x != y and not (x.isdigit() and y.isdigit())]
        beside = {0: a[1], len(a) - 1: a[-2]}
        return len(changed) == 1 and beside.get(changed[0]) != "_"
    short, long = sorted((a, b), key=len)
    return any(long[:k] + long[k + 1 :] == short for k in range(len(short)))


def in_backticks(text: str, names: set[str]) -> str:
    """A sentence with its code in backticks, as clippy::doc_markdown and rustdoc's link checker
    ask: runs of words that hold an operator, a bracket, an underscore or an inner capital."""
    words, code, depth = [], [], 0

    def close() -> None:
        if code:
            run = " ".join(code)
            end = run[len(run.rstrip(".,:;")) :]
            words.append(f"`{run[: len(run) - len(end)]}`{end}")
            code.clear()

    tokens = re.split(r" (?=(?:[^`]*`[^`]*`)*[^`]*$)", text)  # what is marked already is one
    operators = [bool(re.fullmatch(r"[-+*/%<>=!&|^]+", token)) for token in tokens]
    for k, token in enumerate(tokens):
        beside = any(operators[max(k - 1, 0) : k + 2])
        named = token.strip(".,:;") in names
        if "`" in token:
            close()
            words.append(token)
            continue
        if depth or beside or named or CODE.search(token):
            if code and code[-1][-1] in ".,:;" and not depth:
                close()
            code.append(token)
            depth += sum(token.count(c) for c in "([{") - sum(token.count(c) for c in ")]}")
            # Generics: Vec<u32, A>.
            ends = len(re.findall(r"(?<![-=])>(?!=)", token))
            starts = len(re.findall(r"(?<=\w)<(?![=<])", token))
            more = re.search(r"\w>", " ".join(tokens[k + 1 :]))
            depth = max(0, depth + (starts if more or ends else 0) - min(ends, depth + starts))
        else:
            close()
            words.append(token)
    close()
    return " ".join(words)
