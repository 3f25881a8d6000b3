"""Methods of a struct that holds the sizes, in Rust.

Reference: https://doc.rust-lang.org/reference/items/associated-items.html#methods
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lego_emit.emit.naming import type_name
from lego_emit.ir.program import Function, Group
from lego_emit.printers.rust_lints import allowed
from lego_emit.printers.rust_natives import argument

if TYPE_CHECKING:
    from lego_emit.emit.methods import Receiver, ReceiverView
    from lego_emit.emit.printer import FunctionView


class Methods:
    """What RustPrinter has for them."""

    naming: Any

    def receiver_type(self, name: str) -> str:
        """What the type of a receiver is called, by the name of its subject."""
        return type_name(self.naming.public(name))

    def receivers(
        self, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
    ) -> list[ReceiverView]:
        """The types whose methods functions are."""
        from lego_emit.emit.methods import ReceiverView, receivers

        return receivers(self, functions, fits, ReceiverView)

    def struct_docs(self, view: ReceiverView) -> list[str]:
        """The lines of the rustdoc comment of the struct."""
        method = view.methods[0]
        name = f"{view.name}::<{', '.join(p.name for p, _ in view.template)}>"
        name = name if view.template else view.name
        held = f" {{ {', '.join(view.names)} }}" if view.names else " {}"
        lines = [f"Sizes, which are given once: `{name}{held}.apply({', '.join(method.inputs)})`."]
        told, ranges = list[str](), view.header.ranges
        for p, _ in view.template:
            said = [f"`{p.name}`: {p.meaning}"] if p.meaning else []
            said += [f"`{ranges[p.name]}`"] if ranges[p.name] else []
            told += [f"- {'; '.join(said)}"] if said else []
        return [*lines, "", *told] if told else lines

    def struct_fields(self, view: ReceiverView) -> list[str]:
        """The lines that declare what it holds, each below what is said of it."""
        lines = list[str]()
        for name, T, one in view.fields:
            told = [one.meaning] if one.meaning else []
            told += [f"`{said}`"] if (said := view.ranges[name]) else []
            lines += [f"/// {'; '.join(told)}"] if told else []
            lines.append(f"pub {name}: {T},")
        return lines

    def receiver_attributes(self, view: ReceiverView) -> list[str]:
        """The lints that the names of what it holds would set off."""
        lines = allowed("", [n for n in view.names if n != n.lower()], 0, False)
        if any(p.name != p.name.upper() for p, _ in view.template):
            lines.append("#[allow(non_upper_case_globals)]")
        if "_" in view.name:  # in which a number or a letter tells it from another name
            lines.append("#[allow(non_camel_case_types)]")
        return lines

    def implementation(self, view: ReceiverView) -> str:
        """What begins the methods."""
        names = ", ".join(p.name for p, _ in view.template)
        sizes = ", ".join(f"const {p.name}: {T}" for p, T in view.template)
        return f"impl<{sizes}> {view.name}<{names}>" if sizes else f"impl {view.name}"


def method(receiver: Receiver) -> tuple[str, list[str]]:
    """(the name of a method, its first parameter where it has one)."""
    name = receiver.method or "apply"
    if receiver.alone:
        return name, []
    return name, ["&self" if receiver.native is not None else "self"]


def is_constant(view: FunctionView) -> bool:
    """Whether a method of a type of a code base reads nothing but its fields."""
    bound = any(one.bound for one in (*view.params, *view.groups))
    texts = (p.name for p in view.params if p.held)
    return not (view.natives or bound or any("(" in text or "!" in text for text in texts))


def attributes(view: FunctionView) -> list[str]:
    """The lints that a method sets off beside those of a function."""
    receiver = view.receiver
    if receiver is None or receiver.alone or any(map(view.is_read, view.held)):
        return []
    return ["// It reads no size.", "#[allow(clippy::unused_self)]"]


def called(function: Function, name: str, held: Sequence[str], module: str) -> str:
    """What calls a function or a method. name: the function's, with its static sizes; held: the texts of what
    the object holds."""
    receiver = function.receiver
    if receiver is None:
        return f"{module}::{name}"
    own, fields = method(receiver)[0], tuple(one.held for one in function.held)
    if receiver.alone:
        return f"{module}::{receiver.name}::{own}"
    if receiver.native is not None:
        group = Group("", fields, receiver.name, fields, native=receiver.native)
        return f"{argument(group, held)}.{own}"
    inner = ", ".join(f"{n}: {text}" for n, text in zip(fields, held, strict=True))
    sizes = ", ".join(f"{p.default}" for p in function.static)
    generics = f"::<{sizes}>" if sizes else ""
    return f"{module}::{receiver.name}{generics} {{ {inner} }}.{own}"
