"""A function's own names, and the values of its indices as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Expr
from ..emit.kernel_language import KernelLanguage
from ..emit.printer import FunctionView
from ..ir.index_types import IndexType
from ..ir.program import Program
from ..kernels.names import Stated
from ..kernels.placed import sizes_of
from ..kernels.spelling import Kernel
from ..kernels.values import Value
from ..trace.follow import go_on
from .kept import Unknown, kept
from .widening import reads, widened


class OwnNames(Kernel):
    """The names of a function, whose texts its tree was asked about."""

    def __init__(self, language: KernelLanguage, own: set[str], unsure: set[str], *given: Any):
        """own: the function's names; unsure: those of an unknown type."""
        super().__init__(language.printer(), *given)
        self.language, self.own, self.unsure = language, own, unsure
        self.counters: set[str] = set()  # names that count rounds, as integers of the language
        self._computed_of = False  # whether more is computed of what is spelled
        self.programs: set[str] = (
            set()
        )  # names that number programs, of which there is one for each position

    def doubts(self, position: Sequence[Value]) -> bool:
        """Whether it is no number of a program: of threads and of elements there may be more than positions."""
        return not {value.said for value in position} <= self.programs

    def noted(self, value: Value) -> str:
        """Nothing: no name is to be looked for in a text."""
        return ""

    def noted_region(self, values: Sequence[Value], defined: Sequence[str] = ()) -> str:
        """Nothing: there is one function."""
        return ""

    @contextmanager
    def under(self, tests: Iterable[Value]) -> Iterator[None]:
        """While the block runs, conditions of indices hold, which is no assumption."""
        before = self.assume, self.asked
        self.asked = [c for test in tests for c in self._conditions(test)]
        self.assume = [*self.assume, *self.asked]
        try:
            yield
        finally:
            self.assume, self.asked = before

    def _conditions(self, test: Value) -> list[Any]:
        """What holds where a condition of indices does; nothing where that is always."""
        layouts = tuple(test.layouts)
        names = test.names.union(*map(sizes_of, layouts))
        known = self._known(layouts, self._said(names))
        trace, made = go_on(known, lambda _: None, lambda _: Expr.of(test.make()))
        found = trace.analyzer.unsubstitute(made).single  # of the kernel's names, not of quotients
        return [] if found is None else [found.args[0]]

    def expression(self, value: Value) -> str:
        """As a kernel's, where what holds wherever it is used is known."""
        with self.under(value.tests):
            return super().expression(value)

    def _lowered(
        self,
        values: Mapping[str, Value],
        layouts: tuple[Block, ...],
        said: Stated,
        wide: bool,
        counted: frozenset[str],
        index_type: IndexType | None,
    ) -> tuple[Program, frozenset[str]]:
        """As of any kernel, or what another run has lowered."""

        def parts() -> Any:
            if self._bindings or counted or any(value.steps for value in values.values()):
                raise Unknown  # of a step it is noted what it is
            named = {n: (type(v), v.said, v.rests_on) for n, v in values.items()}
            types = [f"{self.types[n]} {self.types[n].ends}" for n in said.names]
            texts = [(self._texts.get(n), self._blocks.get(n)) for n in said.names]
            own = type(self.printer), str(self.index_type), self.typed, wide, str(index_type)
            known = said.names, said.assume, said.ranges, self.asked
            return named, layouts, known, types, texts, own

        more = said, wide, counted, index_type
        return kept(parts, lambda: super(OwnNames, self)._lowered(values, layouts, *more))

    def statements(
        self, names: Sequence[str], found: Any, indent: str, types: Sequence[str | None] = ()
    ) -> str:
        """As a kernel's; of the names more is computed."""
        self._computed_of = True
        try:
            return super().statements(names, found, indent, types)
        finally:
            self._computed_of = False

    def _views(self, program: Program) -> list[FunctionView]:
        """As a kernel's, with indices of unknown types as wide as their values need."""
        if (limits := self.language.narrow) is None:
            return super()._views(program)
        (function,) = program.functions
        body, outputs = (
            tuple((n, widened(node, limits, self._wide, must)) for n, node in part)
            for part, must in ((function.body, True), (function.outputs, self._computed_of))
        )
        function = replace(function, body=body, outputs=outputs)
        return super()._views(replace(program, functions=(function,)))

    def _wide(self, name: str) -> str | None:
        """A name or a text of an unknown type, converted."""
        text = self._texts.get(name) or self._blocks.get(name, name)
        if name in self._texts or name in self._blocks:
            unsure = not self.language.loads or reads(text, self.unsure, self.language.loads)
            unsure &= name in self._texts or not self.own.isdisjoint(
                self._words(name) & self.unsure
            )
        else:
            unsure = name in self.unsure - self.sizes - self.written - self.counters
        return self.language.wide.format(text) if unsure else None

    def function(self, name: str, values: Sequence[Value]) -> tuple[str, Program]:
        """(a call of a function of this name, the function, which returns the values)."""
        names = [name, *(f"{name}_{k}" for k in range(2, len(values) + 1))]
        with self.under(dict.fromkeys(test for value in values for test in value.tests)):
            program = self._program(dict(zip(names, values, strict=True)))
        (function,) = program.functions
        given = (
            (self._wide(p.name) if self.language.narrow else None)
            or self._texts.get(p.name)
            or self._blocks.get(p.name, p.name)
            for p in function.params
        )
        said = getattr(values, "said", values[0].said)
        made = replace(program, name=name, title=said, functions=(replace(function, name=name),))
        return f"{name}({', '.join(given)})", made
