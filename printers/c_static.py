"""Static sizes in the languages of C: parameters of templates, and macros."""

from __future__ import annotations

from collections.abc import Sequence

from lego_emit.ir.program import Param


def argument(value: int) -> str:
    """The number of a static size, as an argument of a template."""
    return f"{value}u" if value >= 2**63 else f"{value}"


def template_head(parameters: Sequence[tuple[Param, str]], width: int) -> list[str]:
    """The head of a template, by (a static size, its type). After one with a default all have one."""
    texts = [f"{T} {p.name}" for p, T in parameters]
    for k in reversed(range(len(texts))):
        value = parameters[k][0].default
        if value is None:
            break
        texts[k] += f" = {argument(value)}"
    whole = f"template <{', '.join(texts)}>"
    if len(whole) <= width:
        return [whole]
    lines = ["template <", f"    {texts[0]}"]
    for text in texts[1:]:
        if len(lines[-1]) + len(text) + 3 <= width:
            lines[-1] += f", {text}"
        else:
            lines[-1] += ","
            lines.append(f"    {text}")
    return [*lines[:-1], f"{lines[-1]}>"]


def macro(constant: Param, said: Sequence[str]) -> str:
    """The text of a macro, which whoever includes the file may define before. said: the lines of its
    comment."""
    name, value = constant.name, constant.default
    lines = [*(f"// {line}" for line in said), f"#ifndef {name}"]
    if value is None:
        said = f"{name} is a static size: define it before this file, as with -D{name}=32"
        lines.append(f"#error {said}")
    else:
        lines.append(f"#define {name} {f'({value})' if value < 0 else argument(value)}")
    return "\n".join([*lines, "#endif"])
