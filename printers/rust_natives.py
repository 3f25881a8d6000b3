"""Types of a code base in Rust."""

from __future__ import annotations

from collections.abc import Sequence

from lego_emit.emit.natives import filled, is_plain, made, of_value, unmade
from lego_emit.emit.printer import BREAK
from lego_emit.ir.program import Function, Group
from lego_emit.printers import rust_layout
from lego_emit.types import parts


def parameter(group: Group) -> str:
    """A parameter in the form that its type says; "" by value."""
    return filled(group.native.passing, {"type": group.struct, "name": group.name})


def value(group: Group, texts: Sequence[str]) -> rust_layout.Expr:
    """What makes one, the arguments of a call laid out where they are long."""
    named = all(place != "" for _, place in parts(group.native.make))
    flat = [rust_layout.flat(rust_layout.parse(text)) for text in texts] if named else texts
    listed = f"{rust_layout.LIST}{{}}{rust_layout.END}"
    return rust_layout.parse(made(group, flat, lambda own: listed.format(BREAK.join(own))))


def argument(group: Group, texts: Sequence[str]) -> str:
    """One as an argument. Raises TargetError where nothing says how one is made."""
    if group.native.make:
        text = made(group, texts, ", ".join)
    elif is_plain(group, ".{}"):
        text = literal(group, texts)
    else:
        raise unmade(group)
    return f"&{text}" if "&" in group.native.passing else text


def results(function: Function) -> list[str]:
    """The texts of the outputs where RustPrinter.pattern() has taken them apart."""
    whole = function.aggregate
    if whole is not None and whole.native is not None:
        return of_value(whole, "r")
    return [f"r{k}" for k in range(len(function.outputs))]


def literal(group: Group, texts: Sequence[str]) -> str:
    """A struct's value on one line."""
    fields = (f"{name}: {text}" for name, text in zip(group.fields, texts, strict=True))
    return f"{group.struct} {{ {', '.join(fields)} }}"
