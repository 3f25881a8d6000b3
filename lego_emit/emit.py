"""From a lowered program to a file: names made legal, text printed, saved, compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import registry
from .files import write_if_changed
from .printer import Printer
from .program import Function, Node, Program
from .relations import reworded
from .target import Compiled

if TYPE_CHECKING:
    from .timing import Timing
    from .verify import Verification


@dataclass(frozen=True)
class Emitted:
    """One emitted unit: the text, the program that it spells, and its printer."""

    source: str
    program: Program
    printer: Printer
    subject: Any = field(default=None, compare=False, repr=False)  # what generate() was given
    fixed: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)  # sizes=
    _make: Callable[[], Program] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.source

    @property
    def functions(self) -> tuple[Function, ...]:
        """The emitted functions: name, params, outputs, index_type, op_count, assumptions."""
        return self.program.functions

    def files(self, path: str | PathLike[str]) -> dict[Path, str]:
        """What save() writes: the unit at path and, for JavaScript, its declarations beside it."""
        path = Path(path)
        files = {path: self.source}
        beside = self.printer.declarations_path(path)
        if beside is not None:
            files[beside] = self.printer.declarations(self.program)
        return files

    def save(self, path: str | PathLike[str]) -> bool:
        """Write the file, and for JavaScript its declarations beside it (atomically; an unchanged
        one is left alone); True where one changed."""
        return any([write_if_changed(p, text) for p, text in self.files(path).items()])

    def compile(self, device: str = "cpu") -> Compiled:
        """Compile with the target's toolchain.

        device: "cpu", or for CUDA C "gpu" or "gpu:1", which loads the functions on that GPU
            through PyCUDA; they then take and give GPU arrays, too.

        Raises ToolchainError where the toolchain is missing or refuses the text, and its subclass
        DeviceError where there is no GPU or something that it needs.
        """
        return registry.toolchain(self.printer.name).compile_for(device, [self])[0]

    def explain(self, name: str | None = None) -> str:
        """The way from the layout's own formulas to what is emitted, step by step: each with its
        rule (LEGO, Table II), and what allows it and how that was proven; then the forms that were
        priced, and the one that was taken.

        name: of one function; default: all of them.

        Raises LegoError for an unknown name, and for a unit that generate() did not make.
        """
        from .explain import explain

        return explain(self, name)

    def verify(
        self,
        on: str = "cpu",
        *,
        sizes: Mapping[str, int] | None = None,
        domain: Mapping[str, int] | None = None,
        reference: Any = None,
        claim: str = "",
        samples: int = 2**20,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Check the unit over its whole index space (LEGO, section III-A: a layout is a bijection).

        A layout's apply and inv make the round trip, and every position stays in its range, which
        on a finite set proves both; an index function, or a layout without an inverse, has its
        range checked, and results that are repeated or left out are found in a bitmap.

        on: "cpu", through this target's toolchain, or for CUDA C "gpu" or "gpu:1".
        sizes: a number for each size that is still a symbol, as {"M": 1024}.
        domain: how far an index runs whose range the unit does not state, as {"x": 8}.
        reference: the layout or the function that was emitted, or a golden case, to compare with
            on integers (default: what generate() was given); over a case's whole table, else at
            the corners, both ends and `samples` random indices, a function that takes no arrays
            at some thousand of them.
        claim: "injective" or "bijective": what the bitmap must show; without a claim its line is
            a note, and nothing in it is wrong.
        progress: called with the indices done and those in all.

        Returns a Verification, true where everything held. Raises VerifyError or AssumptionError
        on sizes that are missing or that the unit rules out, ToolchainError and its subclass
        DeviceError as compile() does.
        """
        from .verify import verify

        return verify(
            self,
            on,
            sizes=sizes,
            domain=domain,
            reference=reference,
            claim=claim,
            samples=samples,
            progress=progress,
        )

    def time(
        self,
        on: str = "cpu",
        *,
        sizes: Mapping[str, int] | None = None,
        layout: Any = None,
        by_hand: tuple[Callable[..., Any], Callable[..., Any] | None] | None = None,
        bytes: int = 2**32,
        repeat: int = 30,
        progress: Callable[[int, int], None] | None = None,
    ) -> Timing:
        """Measure the cost of one index, and on a GPU a gather and a scatter through the layout,
        beside the same index written otherwise.

        on: "cpu", through this target's toolchain, or for CUDA C "gpu" or "gpu:1".
        sizes: a number for each size that is still a symbol, as {"M": 1024}.
        layout: the layout that was emitted; its unsimplified nest of divisions is measured, too.
        by_hand: (apply, inv) as one would write them by hand: Python functions of the indices, in
            + - * // % & | ^ << >> and comparisons, which are spelled in the language as they
            stand; on a GPU in the narrower of int32 and int64 that holds every index.
        bytes: of each float32 array that is gathered from and scattered to; a smaller layout is
            repeated over it.
        repeat: how often each is measured.
        progress: called with the steps done and those in all.

        Returns a Timing: ns for each index, GB/s, medians and quartiles. Raises as verify() does.
        """
        from .timing import measure

        return measure(
            self,
            on,
            sizes=sizes,
            layout=layout,
            by_hand=by_hand,
            bytes=bytes,
            repeat=repeat,
            progress=progress,
        )


def emit_program(
    program: Program,
    target: str,
    *,
    subject: Any = None,
    sizes: Mapping[str, int] | None = None,
    make: Callable[[], Program] | None = None,
) -> Emitted:
    """Print a lowered program for a target. subject: the function or layout that it is made of;
    sizes: the parameters that are numbers in it; make(): makes it again."""
    printer = registry.printer(target)
    legal = _legalize(program, printer)
    return Emitted(printer.emit(legal), legal, printer, subject, dict(sizes or {}), make)


def _legalize(program: Program, printer: Printer) -> Program:
    """Rename what the language reserves; functions share one scope, each function's parameters,
    statements and outputs another."""
    unit = printer.unit_name(program.name)
    helpers = (f"{unit}_{helper}" for helper in printer.helpers)
    taken = {h.lower() if printer.case_insensitive else h for h in helpers}
    taken |= printer.unit_scope(unit)
    functions = []
    for function in program.functions:
        meets = function.name in printer.reserved_functions
        wanted = f"{function.name}_v" if meets else function.name
        beside = bool(function.axes) or len(function.outputs) > 1
        name = _fresh(wanted, printer, taken, beside)
        scope = set(taken)
        names: dict[str, str] = {}
        for param in function.params:
            names[param.name] = _fresh(param.name, printer, scope)
        for local, _ in function.body:
            names[local] = _fresh(local, printer, scope)
        variables = printer.outputs_are_variables
        outputs, output_scope = {}, scope if variables else printer.companions(name)
        for output, _ in function.outputs:
            outputs[output] = _fresh(output, printer, output_scope)
        user_names = {**{p.name: names[p.name] for p in function.params}, function.name: name}
        functions.append(
            replace(
                function,
                name=name,
                params=tuple(
                    replace(p, name=names[p.name], range_text=reworded(p.range_text, names))
                    for p in function.params
                ),
                assumptions=tuple(reworded(a, names) for a in function.assumptions),
                promises=tuple(
                    (reworded(least, names), reworded(end, names))
                    for least, end in function.promises
                ),
                axes=tuple((names[n], _rename(e, names)) for n, e in function.axes),
                body=tuple((names[n], _rename(e, names)) for n, e in function.body),
                outputs=tuple((outputs[n], _rename(e, names)) for n, e in function.outputs),
                renamed=tuple((old, new) for old, new in user_names.items() if old != new),
            )
        )
    return replace(program, name=unit, functions=tuple(functions))


def _fresh(name: str, printer: Printer, taken: set[str], beside: bool = False) -> str:
    """A legal name, not taken until now; beside: its companions are not taken either."""
    legal = candidate = printer.legal_name(name)
    number = 2
    while (keys := _keys(candidate, printer, beside)) & taken:
        candidate = printer.legal_name(f"{legal[: printer.max_name - 4]}_{number}")
        number += 1
    taken |= keys
    return candidate


def _keys(name: str, printer: Printer, beside: bool) -> set[str]:
    key = name.lower() if printer.case_insensitive else name
    return {key, *printer.companions(name)} if beside else {key}


def _rename(node: Node, names: dict[str, str]) -> Node:
    if node.op == "var":
        return replace(node, value=names.get(str(node.value), node.value))
    if not node.args:
        return node
    return replace(node, args=tuple(_rename(a, names) for a in node.args))
