"""What a kernel language in Python says of itself: how it wraps functions, and how it says what is known."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from . import registry
from .printer import Printer

Wrap = Callable[[types.FunctionType], Any]
Ask = Callable[..., None]


class KernelLanguage:
    """A language whose kernels are Python functions under a decorator of its own.

    name: as jit(target=..) takes it. target: the printer of its index expressions. index_type: where
    none is said; None leaves it to the printer. aliases: the modules that printed text names, by the
    name that it has there. multiple: the statement that says of a name that a number divides it, or
    "". natural: the functions of the language whose results are at least 0; programs: of these, those that number programs,
    of which a launch has one for each position. package: of the language's own functions;
    pure: those that may be called again, or not at all. calls_by_value: whether no call changes what it is given.
    functions: whether kernels call functions beside them, as generate() prints them for the target.
    imports: whether a module that printed text names is imported beside a kernel whose file does not.
    masked: the functions that use their first argument, a pointer, only where a mask holds, and the mask's place among
    the arguments; `mask` is its name.
    narrow: the least and the greatest number that any type of an index computes as it is; beyond, an index of unknown
    type becomes `wide`, which has {} for it; None where all types are wide enough. loads: the functions whose results
    have such a type; all indices, where none are named.
    descriptors: how a tensor descriptor is made of {pointer} and of sizes, strides and block, and the texts "load",
    "store" (up to its value), "shape" (of a block and its sizes) and "order" (of a block and its axes); none without.
    """

    name: str
    target: str
    index_type: str | None = None
    aliases: Mapping[str, str] = {}
    multiple = ""
    natural: tuple[str, ...] = ()
    pure: tuple[str, ...] = ()
    package = ""
    programs: tuple[str, ...] = ()
    calls_by_value = False
    functions = True
    imports = False
    masked: Mapping[str, int] = {}
    narrow: tuple[int, int] | None = None
    wide = ""
    loads: tuple[str, ...] = ()
    descriptors: Mapping[str, str] = {}

    @property
    def decorates(self) -> bool:
        """Whether its kernels are what a decorator made, and no plain functions."""
        return type(self).unwrap is not KernelLanguage.unwrap

    def printer(self) -> Printer:
        """What spells the language's index expressions."""
        return registry.printer(self.target)

    def unwrap(self, given: Any) -> tuple[types.FunctionType, Wrap] | None:
        """(the plain function of what the language's decorator made, what makes the like of another
        function); None of all else."""
        return None

    def helpers(self, text: str, kernel: Any) -> str:
        """A module of functions that a kernel calls, in the language: as the printer makes it, or with decorators.
        kernel: what jit() was given."""
        return text

    def asking(self, kernel: Any, ask: Ask) -> Any:
        """A kernel like this one whose launches first call ask(arguments, named, depth): the positional
        arguments, those by name, and how many frames the launch is above ask's own. The kernel itself, as
        here, has launches that nobody is asked about; `ask` is false where there is nothing to ask."""
        return kernel

    def is_constant(self, annotation: str) -> bool:
        """Whether a parameter with this annotation, "" where it has none, keeps its value: conditions
        on it can be asked for again."""
        return True
