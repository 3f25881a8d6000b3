"""Callable structs that hold the sizes, in Julia.

Reference: https://docs.julialang.org/en/v1/manual/methods/#Function-like-objects
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lego_emit.emit import methods
from lego_emit.emit.methods import ReceiverView
from lego_emit.emit.printer import BREAK, FunctionView
from lego_emit.ir.program import Function, Group

WIDER = {"int32": ("Int32", "Int64"), "uint32": ("UInt32", "UInt64")}
COMMA = f",{BREAK}"


class Holder(ReceiverView):
    """The struct as its template sees it."""

    @property
    def docs(self) -> list[str]:
        """The lines of its docstring: the call, and what it holds."""
        f = self.methods[0]
        call = f"{self.name}({', '.join(self.names)})"
        text = [f"Sizes, which are given once: `{call}({', '.join(f.inputs)})`."]
        said = [f"- `{name}`: {what}" for name, what in self._told if what]
        text += ["", *said] if said else []
        return self.outer.docstring_lines(f, self.name, self.names, "", text)

    @property
    def _told(self) -> list[tuple[str, str]]:
        ranges = self.ranges
        return [
            (name, "; ".join(filter(None, [one.meaning, ranges[name] and f"`{ranges[name]}`"])))
            for name, _, one in self.fields
        ]

    @property
    def text(self) -> str:
        """Its definition, and what makes one of integers of several types."""
        f, printer = self.methods[0], self.outer
        wide = WIDER.get(f.index_type, ())
        head = f"{self.name}{{Ti<:Union{{{', '.join(wide)}}}}}" if wide else self.name
        fields = "".join(f"    {name}::{T}\n" for name, T, _ in self.fields)
        text = f"struct {head}\n{fields}end"
        entries = [one for _, _, one in self.fields]
        if not wide or all(isinstance(one, Group) and one.struct for one in entries):
            return text
        widened = [_of_any_type(printer, name, one, wide[-1], f) for name, _, one in self.fields]
        arguments, values = (COMMA.join(texts) for texts in zip(*widened, strict=True))
        made = f"{self.name}{{{wide[-1]}}}({values})"
        return f"{text}\n\n{printer.short_function(f'{self.name}({arguments})', made)}"


def _of_any_type(printer: Any, name: str, one: Any, wide: str, f: FunctionView) -> tuple[str, str]:
    """(a parameter of any type of integers for what is held, it in a type)."""
    if not isinstance(one, Group):
        return f"{name}::Integer", f"{wide}({name})"
    return printer.widened(replace(one, name=name), wide, f)


def receivers(
    printer: Any, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
) -> list[Holder]:
    """The structs whose methods functions are."""
    return methods.receivers(printer, functions, fits, Holder)


def called(f: FunctionView) -> tuple[str, list[str]]:
    """(what stands before the arguments of a method, its first argument where that is none)."""
    own = f"sizes::{f.receiver.name}"
    return (f.receiver.method, [own]) if f.receiver.method else (f"({own})", [])


def _head(f: FunctionView, arguments: Sequence[str]) -> str:
    """A method and its arguments, before the result's type."""
    receiver = f.receiver
    own = f"sizes::{receiver.name}{'{Ti}' * (f.index_type in WIDER)}"
    if not receiver.method:
        return f"({own})({COMMA.join(arguments)})"
    return f"Base.{receiver.method}({COMMA.join([own, *arguments])})"


def signature(printer: Any, f: FunctionView) -> str:
    """What is called, arguments, result and type parameter."""
    wide = WIDER.get(f.index_type)
    where = f" where {{Ti<:Union{{{', '.join(wide)}}}}}" if wide else ""
    head = _head(f, [*f.parameters("{name}::{T}"), *f.given_tables("")])
    return f"{head}::{printer._element(f)}{where}"


def promoted(printer: Any, f: FunctionView) -> str:
    """The method for integers of other types; "" where it has no others, or takes structs alone."""
    wide = f.index_type in WIDER
    structs = all(isinstance(one, Group) and one.struct for one in f.entries)
    if not f.entries or (structs and not wide):
        return ""
    T = "Ti" if wide else printer.types[f.index_type]
    widened = [printer.widened(one, T, f) for one in f.entries]
    given = [t.name for t in f.tables]
    arguments = [*(text for text, _ in widened), *map(printer._vector, given)]
    method = f.receiver.method
    values = [*["sizes"] * bool(method), *(text for _, text in widened), *given]
    call = f"{f'Base.{method}' if method else 'sizes'}({COMMA.join(values)})"
    head = f"{_head(f, arguments)}{' where {Ti}' * wide}"
    return printer.short_function(head, call)


def call(function: Function, held: Sequence[str], scope: str) -> str:
    """What calls a function of a module, or a method of an object that holds something, up to its
    arguments."""
    receiver = function.receiver
    if receiver is None:
        return f"{scope}.{function.name}("
    made = f"{scope}.{receiver.name}({', '.join(held)})"
    return f"inv({made}, " if receiver.method else f"{made}("
