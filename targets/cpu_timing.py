"""Programs that time a unit's functions on the CPU. timing_cpp.py and its like spell them.

Each way is a function of the index. It runs in a chain: the next random index depends on the last
result, so that nothing can be left out, moved or done ahead of time. What is told is the time of a
whole step, drawing the next index included; the same chain with no function in it stands beside.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError, VerifyError
from lego_emit.ir.program import Function
from lego_emit.measure.nest import Language, body
from lego_emit.measure.timing import LOOP, OURS, TABLE, IndexCost, Quartiles, Timing
from lego_emit.packages import numpy as np
from lego_emit.run.devices import Progress, Rivals
from lego_emit.run.space import Axis, Space
from lego_emit.run.target import Target
from lego_emit.templates import environment, named

ROUNDS = 2**17  # indices of one run
# NumPy's types of languages' own integers.
OWN = {"int53": np.float64, "usize": np.uint64, "integer": np.int32}
TABLE_LIMIT = 2**25  # entries; a longer table is not made
STEP, ADD = 1664525, 1013904223
SPINS = (1, 2654435769, 2246822519, 3266489917, 668265263, 374761393, 2654435761, 2246822507)


@dataclass(frozen=True)
class Side:
    """One of a unit's functions, the indices that it runs over, and those of its results."""

    name: str
    function: Function
    space: Space
    results: Space | None

    @property
    def names(self) -> list[str]:
        """The program's names for the index."""
        return [f"i{k}" for k in range(len(self.space.axes))]

    @property
    def draws(self) -> list[tuple[str, int, Axis]]:
        """What an index is drawn by: its name, a multiplier and the axis, for each axis."""
        return list(zip(self.names, SPINS, self.space.axes, strict=False))

    @property
    def width(self) -> int:
        """The bytes of an index."""
        return 4 if self.function.index_type.most < 2**32 else 8


@dataclass(frozen=True)
class WayText:
    """A function of the program: the lines of its body; kind: its name in the program."""

    kind: str
    title: str
    lines: list[str]


class CpuProgram:
    """How a language spells the program. A subclass sets the class attributes and writes ours() and
    command().

    Attributes:
        language: how the ways' statements are spelled.
        types: index type -> spelling.
        template: the Jinja file beside the subclass's module that holds the program's text. It
            sees the unit, this object as program, sides with the ways of each, and the numbers
            rounds, repeat, step and add.
        source: the program's file name. The unit stands beside it as unit.<extension>, unless
            one_file says that the template puts it in.
    """

    language: Language
    types: Mapping[str, str]
    template: str
    source: str
    one_file = False

    def fold(self, values: Sequence[str]) -> list[str]:
        """Statements that return the values, put together to one."""
        return [f"return {' ^ '.join(values)};"]

    def ours(self, unit: Unit, side: Side, arguments: Sequence[str]) -> list[str]:
        """The same of the emitted function's results."""
        raise NotImplementedError

    def command(self, target: Target, folder: Path) -> list[str]:
        """Build the program where it has to be built; the command that runs it."""
        raise NotImplementedError

    def T(self, side: Side) -> str:
        """The spelling of a function's index type."""
        return self.types[side.function.index_type]

    def table(self, side: Side) -> str:
        """The name of the look-up table that holds a function's results."""
        return f"table_{side.name}"

    def parameters(self, side: Side, form: str) -> str:
        """The parameters of a way; form has {name} and {T}."""
        return ", ".join(form.format(name=name, T=self.T(side)) for name in side.names)

    def files(
        self, unit: Unit, sides: Sequence[tuple[Side, list[WayText]]], repeat: int
    ) -> dict[str, str]:
        """The texts of the files that make the program, by name."""
        with named(type(self), unit.printer.title, self.template):
            template = environment(type(self)).get_template(self.template)
            text = template.render(
                unit=unit,
                program=self,
                sides=sides,
                rounds=ROUNDS,
                repeat=repeat,
                step=STEP,
                add=ADD,
            )
        own = {} if self.one_file else {f"unit{unit.printer.extension}": unit.source}
        return {self.source: f"{text}\n", **own}


class CpuTimer:
    """Times one unit on the CPU (lego_emit.run.devices.Timer)."""

    def __init__(self, target: Target, unit: Unit, rivals: Rivals, program: CpuProgram):
        self.target, self.unit, self.rivals, self.program = target, unit, rivals, program
        self.version = target.find().version

    def run(self, progress: Progress) -> Timing:
        """Build the program and run it. Raises ToolchainError where the ways give different
        indices."""
        sides = [(side, self._ways(side)) for side in self._sides()]
        with tempfile.TemporaryDirectory(prefix="lego_emit_") as name:
            folder = Path(name)
            for side, _ in sides:
                self._write_table(folder, side)
            files = self.program.files(self.unit, sides, self.rivals.repeat)
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8")
            progress(1, 3)
            command = self.program.command(self.target, folder)
            progress(2, 3)
            printed = self.target.execute(command, cwd=folder)
            counts = _object_instructions(self.target, folder / "program")
            progress(3, 3)
        samples = self._samples(printed)
        costs: list[IndexCost] = []
        loops = {}
        for side, ways in sides:
            alone = Quartiles.of(samples[f"{side.name}_none"]).median
            loops[side.name] = alone
            for way in ways:
                ns = Quartiles.of(samples[way.kind])
                count = None if way.title == LOOP else counts.get(f"lego_one_{way.kind}")
                costs.append(IndexCost(side.name, way.title, ns, None, count))
        return Timing(
            self.unit.program.name,
            self.unit.printer.name,
            "cpu",
            f"the CPU, {self.version}",
            sides[0][0].space.total,
            self.rivals.repeat,
            tuple(costs),
            loop_ns=loops,
            notes=("a step of a chain of indices, drawing the next one included",),
        )

    def _sides(self) -> list[Side]:
        functions = self.unit.program.functions
        spaces = self.rivals.spaces
        if not self.unit.is_pair:
            return [Side("apply", functions[0], spaces[functions[0].name], None)]
        apply, inv = functions
        a, b = spaces[apply.name], spaces[inv.name]
        return [Side("apply", apply, a, b), Side("inv", inv, b, a)]

    def _ways(self, side: Side) -> list[WayText]:
        program, names = self.program, side.names
        if side.function.index_type not in program.types:
            title, kind = self.unit.printer.title, side.function.index_type
            raise VerifyError(
                f"{title} is not timed with {kind}; it is with {', '.join(program.types)}"
            )
        if not names:
            raise VerifyError(f"{side.function.name} has no index that runs, and nothing to time")
        if len(names) > len(SPINS) or max(a.count for a in side.space.axes) >= 2**31:
            raise VerifyError(f"{side.function.name} has too many or too long axes to be timed")

        def spelled(function: Callable[..., Any]) -> list[str]:
            T = program.T(side)
            return body(function, names, program.language, T, program.fold, program.table(side))

        literal = program.language.number
        given = dict(zip((a.name for a in side.space.axes), names, strict=True))
        arguments = [
            given.get(p.name) or literal.format(side.space.fixed[p.name], T=program.T(side))
            for p in side.function.passed
        ]
        pad = program.language.indent
        own = [f"{pad}{line}" for line in program.ours(self.unit, side, arguments)]
        ways = [
            WayText(f"{side.name}_none", LOOP, spelled(lambda *i: _mixed(i))),
            WayText(f"{side.name}_ours", OURS, own),
        ]
        for k, rival in enumerate(self.rivals.ways):
            function = rival.apply if side.name == "apply" else rival.inv
            if function is not None:
                ways.append(WayText(f"{side.name}_way_{k}", rival.name, spelled(function)))
        if side.space.total <= TABLE_LIMIT:
            ways.append(
                WayText(f"{side.name}_table", TABLE, spelled(lambda *i: _looked_up(side, i)))
            )
        return ways

    def _write_table(self, folder: Path, side: Side) -> None:
        """The results of all indices, as numbers, in the index type."""
        kind = OWN.get(side.function.index_type)
        dtype = np.dtype(kind or side.function.index_type)
        total = side.space.total if side.space.total <= TABLE_LIMIT else 1
        compiled = self.target.compile([self.unit])[0]
        outputs = compiled.columns(side.function, side.space.at(np.arange(total)).arguments)
        value = np.zeros(total, np.int64)
        axes = side.results.axes if side.results else [None]
        for output, axis in zip(outputs, axes, strict=True):
            value = value * (axis.count if axis else 1) + output - (axis.lo if axis else 0)
        (folder / f"table_{side.name}").write_bytes(value.astype(dtype).tobytes())

    def _samples(self, printed: str) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        sums: dict[tuple[str, int], dict[str, str]] = {}
        for line in printed.splitlines():
            parts = line.split()
            if len(parts) != 3:
                continue
            kind, ns, total = parts
            values = found.setdefault(kind, [])
            values.append(float(ns))
            if not kind.endswith("_none"):
                sums.setdefault((kind.partition("_")[0], len(values)), {})[kind] = total
        for different in sums.values():
            if len(set(different.values())) > 1:
                raise ToolchainError(
                    f"{self.unit.program.name}: the ways give different indices "
                    f"({', '.join(f'{k} {v}' for k, v in different.items())}); verify them"
                )
        return {kind: values[1:] for kind, values in found.items()}  # the first warms up


def _mixed(indices: Sequence[Any]) -> Any:
    value = indices[0]
    for index in indices[1:]:
        value = value ^ index
    return value


def _looked_up(side: Side, indices: Sequence[Any]) -> Any:
    number: Any = 0
    for axis, index in zip(side.space.axes, indices, strict=True):
        number = number * axis.count + (index - axis.lo)
    entry = number.pen.let("table", number)
    if side.results is None:
        return entry
    values = []
    for axis in reversed(side.results.axes[1:]):
        values.append(entry % axis.count + axis.lo)
        entry = entry // axis.count
    return (entry + side.results.axes[0].lo, *reversed(values))


def _object_instructions(target: Target, program: Path) -> dict[str, int]:
    """The machine instructions of each function, where the program is native and objdump is
    found."""
    tool = which("objdump")
    if tool is None or not program.exists():
        return {}
    counts: dict[str, int] = {}
    name = ""
    for line in target.execute([tool, "-d", "--no-show-raw-insn", str(program)]).splitlines():
        section = re.fullmatch(r"[0-9a-f]+ <(?:__lego_ways_MOD_)?(\w+)>:", line)
        if section:
            name = section[1]
        elif name.startswith("lego_one_") and re.match(
            r"\s+[0-9a-f]+:\s+(?!nop|xchg|data16|cs)", line
        ):
            counts[name] = counts.get(name, 0) + 1
    return counts
