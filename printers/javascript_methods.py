"""Classes that hold the sizes, in JavaScript and in its declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lego_emit.emit import methods
from lego_emit.emit.methods import ReceiverView
from lego_emit.emit.printer import FunctionView
from lego_emit.ir.program import Function, Group


class Holder(ReceiverView):
    """The class as its templates see it."""

    @property
    def docs(self) -> list[str]:
        """The lines of the comment above it."""
        call = (
            f"new {self.name}({', '.join(self.names)}).apply({', '.join(self.methods[0].inputs)})"
        )
        return [f"Sizes, which are given once: {call}."]

    def told(self, typed: bool = True) -> list[str]:
        """The lines of the constructor's comment; a declaration has its types itself."""
        said, tags = self.said, list[str]()
        for name, T, one in self.fields:
            count = ""
            if isinstance(one, Group) and not one.struct:
                count = f"{len(one.members)} elements"
            kind = f"{{{self._given(T, one)}}} " if typed else ""
            what = "; ".join(filter(None, [count, said[name]]))
            tags.append(f"@param {kind}{name} {what}".rstrip())
        return tags

    def _given(self, T: str, one: Any) -> str:
        """What a constructor takes for a member: any array."""
        of_array = isinstance(one, Group) and not one.struct
        return f"ArrayLike<{self.methods[0].T}>" if of_array else T

    @property
    def assigned(self) -> list[str]:
        """The statements of the constructor."""
        return [f"this.{name} = {name};" for name in self.names]

    @property
    def declared(self) -> list[str]:
        """The members, as a declaration has them."""
        return [f"readonly {name}: {self._given(T, one)};" for name, T, one in self.fields]

    @property
    def parameters(self) -> list[str]:
        """The constructor's parameters, as a declaration has them."""
        return [f"{name}: {self._given(T, one)}" for name, T, one in self.fields]


def receivers(
    printer: Any, functions: Sequence[FunctionView], fits: Sequence[FunctionView]
) -> list[Holder]:
    """The classes whose methods functions are."""
    return methods.receivers(printer, functions, fits, Holder, 2)


def head(f: FunctionView) -> str:
    """What begins a method, up to its parameters."""
    receiver = f.receiver
    return f"static {receiver.method}" if receiver.alone else receiver.method or "apply"


def call(function: Function, held: Sequence[str], arguments: Sequence[str], own: str) -> str:
    """A call of a function, which is own in the text, or of a method of a class that is."""
    receiver, given = function.receiver, ", ".join(arguments)
    if receiver is None:
        return f"{own}({given})"
    if receiver.alone:
        return f"{own}.{receiver.method}({given})"
    return f"new {own}({', '.join(held)}).{receiver.method or 'apply'}({given})"
