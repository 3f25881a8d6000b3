"""An emitted unit: the text of a file, and the program that it spells."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from ..errors import LegoWarning, brief_methods
from ..ir.program import Function, Program
from .printer import Printer

_told: set[tuple[str, str]] = set()  # (include guard, name of a file) that were warned of


@brief_methods
@dataclass(frozen=True, repr=False)
class Unit:
    """One emitted unit: the text, the program that it spells, and its printer. fixed: the parameters
    that are numbers in it; known: the program by the names that Python knows it by, which are not in
    the language's own style."""

    source: str
    program: Program
    printer: Printer
    fixed: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    known: Program | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<{self.program.name} in {self.printer.title}: {self._counts}>"

    def _repr_html_(self) -> str:
        """The code for a notebook, what stands before its functions folded."""
        from ..html import code, folded, line

        file = f"{self.program.name}{self.printer.extension}"
        before, after = self._parted()
        header = folded("header", code(before, file)) if before else ""
        return f"{line(f'{file}: {self._counts}')}{header}{code(after, file)}"

    @property
    def _counts(self) -> str:
        """Its functions and how many operations each takes."""
        return ", ".join(
            f"{f.name} {f.op_count} operation{'s' * (f.op_count != 1)}" for f in self.functions
        )

    def _parted(self) -> tuple[str, str]:
        """What stands before the first function with its comment, and the rest."""
        lines = self.source.splitlines(keepends=True)
        marks = tuple(mark for mark in (*self.printer.comments, self.printer.remark) if mark)
        at = next((k for k, text in enumerate(lines) if not text.startswith(marks)), len(lines))
        name = re.compile(rf"\b{re.escape(self.program.functions[0].name)}\b")
        for k in range(at, len(lines)):
            if name.search(lines[k]) and lines[k].strip() != self.program.title:
                while k > at and lines[k - 1].strip():
                    k -= 1
                return "".join(lines[:k]), "".join(lines[k:])
        return "".join(lines[:at]), "".join(lines[at:])

    @property
    def functions(self) -> tuple[Function, ...]:
        """The emitted functions: name, params, outputs, index_type, op_count, assumptions. Names are as in
        Python where the text has the language's own style."""
        return (self.known or self.program).functions

    def files(self, path: str | PathLike[str]) -> dict[Path, str]:
        """What save() writes: the unit at path and, for JavaScript, its declarations beside it, where
        path is no device and no pipe."""
        from ..files import is_stream

        path = Path(path)
        files = {path: self.source}
        beside = self.printer.declarations_path(path)
        if beside is not None and not is_stream(path):
            files[beside] = self.printer.declarations(self.program)
        return files

    def save(self, path: str | PathLike[str]) -> bool:
        """Write the file, and for JavaScript its declarations beside it (atomically; an unchanged
        one is left alone); True where one changed. Warns once (LegoWarning) of a file that is not
        called as the unit whose include guard and functions it has."""
        from ..files import write_if_changed

        self._warn(Path(path))
        return any([write_if_changed(p, text) for p, text in self.files(path).items()])

    def _warn(self, path: Path) -> None:
        """Another unit of that name could not be included beside this one."""
        from ..files import is_stream

        name, guard = self.program.name, self.printer.guard(self.program.name)
        stem = path.name.removesuffix(self.printer.extension)
        called = {stem, path.stem}
        called |= {self.printer.unit_name(self.printer.naming.unit(s)) for s in called}
        if not guard or is_stream(path) or name in called or (guard, stem) in _told:
            return
        _told.add((guard, stem))
        given = stem if stem.isidentifier() else "..."
        warnings.warn(
            f"{path.name} holds the unit {name}: its include guard is {guard}, and its functions are "
            f"{', '.join(f.name for f in self.program.functions)}. No other unit of that name can be included "
            f"beside it; {'copy' if self.program.routines else 'generate'}(.., name={given!r}) names it as the file",
            LegoWarning,
            stacklevel=4,
        )

    @property
    def is_pair(self) -> bool:
        """Whether it is a layout's apply and inv, and not one index function."""
        if len(self.program.functions) != 2 or len(self.program.parts) > 1:
            return False
        apply, inv = self.program.functions
        there, back = ([p for p in f.params if p.axis] for f in (apply, inv))
        return len(apply.outputs) == len(back) and len(inv.outputs) == len(there)
