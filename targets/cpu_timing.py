"""Programs that time a unit's functions on the CPU, in C++, CUDA C's host form, Rust, Fortran, Julia
and JavaScript.

Each way is a function of the index. It runs in a chain: the next random index depends on the last
result, so that nothing can be left out, moved or done ahead of time. What is told is the time of a
whole step, drawing the next index included; the same chain with no function in it stands beside.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError, VerifyError
from lego_emit.ir.program import Function
from lego_emit.measure import nest
from lego_emit.measure.nest import Language, body
from lego_emit.measure.timing import LOOP, OURS, TABLE, Cost, Quartiles, Timing
from lego_emit.run.devices import Progress, Rivals
from lego_emit.run.space import Space
from lego_emit.run.target import Target

ROUNDS = 2**17  # indices of one run
TABLE_LIMIT = 2**25  # entries; a longer table is not made
STEP, ADD = 1664525, 1013904223
SPINS = (1, 2654435769, 2246822519, 3266489917, 668265263, 374761393, 2654435761, 2246822507)


@dataclass(frozen=True)
class _Side:
    name: str
    function: Function
    space: Space
    results: Space | None


@dataclass(frozen=True)
class _Way:
    """A function of the program: the lines of its body; kind: its name in the program."""

    kind: str
    title: str
    lines: list[str]


class CpuProgram:
    """How a language spells the program. A subclass sets all names and writes the methods."""

    language: Language
    types: dict[str, str]

    def fold(self, values: Sequence[str]) -> list[str]:
        """Statements that return the values, put together to one."""
        return [f"return {' ^ '.join(values)};"]

    def ours(self, unit: Unit, side: _Side, arguments: Sequence[str]) -> list[str]:
        """The same of the emitted function's results."""
        raise NotImplementedError

    def text(
        self, unit: Unit, sides: Sequence[tuple[_Side, list[_Way]]], repeat: int
    ) -> dict[str, str]:
        """The files of the program; the first one is its own."""
        raise NotImplementedError

    def command(self, target: Target, folder: Path) -> list[str]:
        """Build the program where it has to be built; the command that runs it."""
        raise NotImplementedError

    def names(self, side: _Side) -> list[str]:
        return [f"i{k}" for k in range(len(side.space.axes))]


# -- the languages -------------------------------------------------------------------------------


class CppProgram(CpuProgram):
    language = nest.C
    types = {
        "int32": "int",
        "int64": "long long",
        "uint32": "unsigned",
        "uint64": "unsigned long long",
    }
    scope = "lego::"
    standard = "-std=c++20"

    def ours(self, unit, side, arguments):
        call = f"{self.scope}{side.function.name}({', '.join(arguments)})"
        if len(side.function.outputs) == 1:
            return [f"return {call};"]
        members = " ^ ".join(f"r.{name}" for name, _ in side.function.outputs)
        return [f"const auto r = {call};", f"return {members};"]

    def text(self, unit, sides, repeat):
        parts = [
            "#include <chrono>\n#include <cmath>\n#include <cstdint>\n#include <cstdio>\n"
            "#include <fstream>\n#include <vector>\n#include <algorithm>\n#include <ranges>\n",
            f'#include "unit{unit.printer.extension}"\n',
        ]
        calls = []
        for side, ways in sides:
            T = self.types[side.function.index_type]
            parts.append(f"static const {T} *table_{side.name} = nullptr;")
            parameters = ", ".join(f"[[maybe_unused]] {T} {n}" for n in self.names(side))
            draws = "\n".join(
                f"    const {T} i{k} = static_cast<{T}>(((x * {SPINS[k]}u & mask) * {a.count}u >> 32) + {a.lo}u);"
                for k, a in enumerate(side.space.axes)
            )
            for way in ways:
                lines = "\n".join(way.lines).replace("table[", f"table_{side.name}[")
                parts.append(f'extern "C" {T} lego_one_{way.kind}({parameters}) {{\n{lines}\n}}')
                parts.append(
                    f"static std::uint64_t loop_{way.kind}(std::uint64_t x) {{\n"
                    f"  constexpr std::uint64_t mask = 0xffffffffu;\n"
                    f"  for (int k = 0; k < {ROUNDS}; ++k) {{\n{draws}\n"
                    f"    x = (x * {STEP}u + {ADD}u + static_cast<std::uint64_t>("
                    f"lego_one_{way.kind}({', '.join(self.names(side))}))) & mask;\n"
                    f"  }}\n  return x;\n}}"
                )
                calls.append(f'    run("{way.kind}", loop_{way.kind}, k);')
        reads = [
            f'  const auto values_{s.name} = read<{self.types[s.function.index_type]}>("table_{s.name}");\n'
            f"  table_{s.name} = values_{s.name}.data();"
            for s, _ in sides
        ]
        parts.append(
            "template <class T> static std::vector<T> read(const char *path) {\n"
            "  std::ifstream file(path, std::ios::binary | std::ios::ate);\n"
            "  std::vector<T> values(static_cast<std::size_t>(file.tellg()) / sizeof(T));\n"
            "  file.seekg(0);\n"
            "  file.read(reinterpret_cast<char *>(values.data()), "
            "static_cast<std::streamsize>(values.size() * sizeof(T)));\n"
            "  return values;\n}\n"
            "static void run(const char *name, std::uint64_t (*loop)(std::uint64_t), int seed) {\n"
            "  const auto before = std::chrono::steady_clock::now();\n"
            "  // Ways that are compiled to the same code must all run.\n"
            "  static volatile std::uint64_t start;\n"
            "  start = static_cast<std::uint64_t>(seed);\n"
            "  const auto sum = loop(start);\n"
            "  const std::chrono::duration<double, std::nano> spent =\n"
            "      std::chrono::steady_clock::now() - before;\n"
            f'  std::printf("%s %.6f %llu\\n", name, spent.count() / {ROUNDS},\n'
            "              static_cast<unsigned long long>(sum));\n}\n"
        )
        inner = "\n".join(calls)
        loaded = "\n".join(reads)
        parts.append(
            f"int main() {{\n{loaded}\n  for (int k = 0; k <= {repeat}; ++k) {{\n{inner}\n  }}\n}}\n"
        )
        return {"program.cpp": "\n".join(parts), f"unit{unit.printer.extension}": unit.source}

    def command(self, target, folder):
        path = target.find().path
        target.execute([path, self.standard, "-O2", "-o", "program", "program.cpp"], cwd=folder)
        return [str(folder / "program")]


class CudaHostProgram(CppProgram):
    scope = "::"


class RustProgram(CpuProgram):
    language = nest.RUST
    types = {"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64"}

    def ours(self, unit, side, arguments):
        call = f"unit::{side.function.name}({', '.join(arguments)})"
        if len(side.function.outputs) == 1:
            return [call]
        names = [f"r{k}" for k in range(len(side.function.outputs))]
        return [f"let ({', '.join(names)}) = {call};", " ^ ".join(names)]

    def text(self, unit, sides, repeat):
        parts = [
            '#![allow(unused, static_mut_refs, clippy::all)]\n#[path = "unit.rs"]\nmod unit;\n'
            "use std::time::Instant;\n"
        ]
        calls, reads = [], []
        for side, ways in sides:
            T = self.types[side.function.index_type]
            parts.append(f"static mut TABLE_{side.name.upper()}: &[{T}] = &[];")
            width = 4 if "32" in side.function.index_type else 8
            reads.append(
                f'    let bytes = std::fs::read("table_{side.name}").unwrap();\n'
                f"    let values: Vec<{T}> = bytes.chunks_exact({width})"
                f".map(|c| {T}::from_ne_bytes(c.try_into().unwrap())).collect();\n"
                f"    unsafe {{ TABLE_{side.name.upper()} = Box::leak(values.into_boxed_slice()) }}"
            )
            parameters = ", ".join(f"{n}: {T}" for n in self.names(side))
            draws = "\n".join(
                f"        let i{k} = (((x.wrapping_mul({SPINS[k]}) & mask) * {a.count} >> 32) + {a.lo}) as {T};"
                for k, a in enumerate(side.space.axes)
            )
            for way in ways:
                lines = "\n".join(way.lines)
                lines = re.sub(
                    r"\btable\[(\w+)\]",
                    rf"unsafe {{ *TABLE_{side.name.upper()}.get_unchecked(\1 as usize) }}",
                    lines,
                )
                parts.append(
                    f'#[no_mangle]\npub extern "C" fn lego_one_{way.kind}({parameters}) -> {T} {{\n'
                    f"{lines}\n}}\n"
                    f"fn loop_{way.kind}(mut x: u64) -> u64 {{\n    let mask = 0xffff_ffffu64;\n"
                    f"    for _ in 0..{ROUNDS} {{\n{draws}\n"
                    f"        x = (x * {STEP} + {ADD} + lego_one_{way.kind}("
                    f"{', '.join(self.names(side))}) as u64) & mask;\n    }}\n    x\n}}"
                )
                calls.append(f'        run("{way.kind}", loop_{way.kind}, k);')
        inner, loaded = "\n".join(calls), "\n".join(reads)
        parts.append(
            "fn run(name: &str, f: fn(u64) -> u64, seed: u64) {\n    let before = Instant::now();\n"
            "    let sum = f(std::hint::black_box(seed));\n"
            f'    println!("{{}} {{:.6}} {{}}", name, before.elapsed().as_nanos() as f64 / {ROUNDS}f64, sum);\n}}\n'
            f"fn main() {{\n{loaded}\n    for k in 0..={repeat}u64 {{\n{inner}\n    }}\n}}\n"
        )
        return {"program.rs": "\n".join(parts), "unit.rs": unit.source}

    def command(self, target, folder):
        path = target.find().path
        flags = ["--edition", "2021", "-C", "opt-level=2", "-A", "warnings"]
        target.execute([path, *flags, "-o", "program", "program.rs"], cwd=folder)
        return [str(folder / "program")]


class FortranProgram(CpuProgram):
    language = nest.FORTRAN
    types = {"int32": "int32", "int64": "int64"}

    def fold(self, values):
        text = values[0]
        for value in values[1:]:
            text = f"ieor({text}, {value})"
        return [f"found = {text}", "return"]

    def ours(self, unit, side, arguments):
        outputs = side.function.outputs
        given = ", ".join(arguments)
        if len(outputs) == 1:
            return [f"found = {side.function.name}({given})"]
        names = [f"t{k + 1}" for k in range(len(outputs))]
        return [f"call {side.function.name}({given}, {', '.join(names)})", *self.fold(names)]

    def text(self, unit, sides, repeat):
        module = unit.printer.module_name(unit.program.name)
        parts = [
            unit.source,
            "module lego_ways",
            "  use, intrinsic :: iso_fortran_env, only: int32, int64, real64",
            f"  use {module}",
            "  implicit none",
            *(
                f"  integer({s.function.index_type}), allocatable :: table_{s.name}(:)"
                for s, _ in sides
            ),
            "contains",
        ]
        calls = []
        for side, ways in sides:
            names = ", ".join(self.names(side))
            kind = f"    integer, parameter :: ik = {side.function.index_type}"
            draws = [
                f"      i{k} = int(shiftr(iand(x * {SPINS[k]}_int64, mask) * {a.count}_int64, 32) + {a.lo}_int64, ik)"
                for k, a in enumerate(side.space.axes)
            ]
            for way in ways:
                lines = [line.replace("table(", f"table_{side.name}(") for line in way.lines]
                used = sorted({t for line in lines for t in re.findall(r"\bt\d+\b", line)})
                parts += [
                    f"  function lego_one_{way.kind}({names}) result(found)",
                    kind,
                    f"    integer(ik), intent(in) :: {names}",
                    "    integer(ik) :: found",
                    *(f"    integer(ik) :: {t}" for t in used),
                    *(f"  {line}" for line in lines),
                    f"  end function lego_one_{way.kind}",
                    f"  subroutine loop_{way.kind}(x)",
                    kind,
                    "    integer(int64), intent(inout) :: x",
                    "    integer(int64), parameter :: mask = 4294967295_int64",
                    f"    integer(ik) :: {names}",
                    "    integer :: k",
                    f"    do k = 1, {ROUNDS}",
                    *draws,
                    f"      x = iand(x * {STEP}_int64 + {ADD}_int64 &",
                    f"        + int(lego_one_{way.kind}({names}), int64), mask)",
                    "    end do",
                    f"  end subroutine loop_{way.kind}",
                ]
                calls += [
                    "    x = int(k, int64)",
                    "    call system_clock(before)",
                    f"    call loop_{way.kind}(x)",
                    "    call system_clock(after, rate)",
                    f"    print '(a, 1x, f0.6, 1x, i0)', \"{way.kind}\", &",
                    f"      1e9_real64 * real(after - before, real64) / real(rate, real64) / {ROUNDS}, x",
                ]
        parts += [
            "end module lego_ways",
            "program lego_time",
            "  use lego_ways",
            "  implicit none",
            "  integer(int64) :: x, before, after, rate, length",
            "  integer :: k",
        ]
        for side, _ in sides:
            width = 4 if "32" in side.function.index_type else 8
            parts += [
                f'  open(10, file="table_{side.name}", access="stream", form="unformatted")',
                "  inquire(10, size=length)",
                f"  allocate(table_{side.name}(0:length / {width} - 1))",
                f"  read(10) table_{side.name}",
                "  close(10)",
            ]
        parts += [f"  do k = 0, {repeat}", *calls, "  end do", "end program lego_time", ""]
        return {"program.f90": "\n".join(parts)}

    def command(self, target, folder):
        path = target.find().path
        target.execute(
            [path, "-O2", "-fno-range-check", "-o", "program", "program.f90"], cwd=folder
        )
        return [str(folder / "program")]


class JuliaProgram(CpuProgram):
    language = nest.JULIA
    types = {"int32": "Int32", "int64": "Int64", "uint32": "UInt32", "uint64": "UInt64"}

    def fold(self, values):
        return [f"return xor({', '.join(values)})" if len(values) > 1 else f"return {values[0]}"]

    def ours(self, unit, side, arguments):
        module = unit.printer.module_name(unit.program.name)
        call = f"{module}.{side.function.name}({', '.join(arguments)})"
        if len(side.function.outputs) == 1:
            return [f"return {call}"]
        return [f"r = {call}", "return xor(r...)"]

    def text(self, unit, sides, repeat):
        parts = ['include("unit.jl")']
        calls = []
        for side, ways in sides:
            T = self.types[side.function.index_type]
            width = 4 if "32" in side.function.index_type else 8
            parts.append(
                f'const table_{side.name} = read!("table_{side.name}", '
                f'Vector{{{T}}}(undef, div(filesize("table_{side.name}"), {width})))'
            )
            parameters = ", ".join(f"{n}::{T}" for n in self.names(side))
            draws = "\n".join(
                f"        i{k} = (((((x * {SPINS[k]}) & mask) * {a.count}) >> 32) + {a.lo}) % {T}"
                for k, a in enumerate(side.space.axes)
            )
            for way in ways:
                lines = "\n".join(way.lines)
                lines = re.sub(
                    r"\btable\[(\w+) \+ 1\]", rf"@inbounds(table_{side.name}[\1 + 1])", lines
                )
                parts.append(
                    f"@inline function lego_one_{way.kind}({parameters})\n{lines}\nend\n"
                    f"function loop_{way.kind}(x::Int64)\n    mask = 4294967295\n"
                    f"    for k in 1:{ROUNDS}\n{draws}\n"
                    f"        x = (x * {STEP} + {ADD} + lego_one_{way.kind}("
                    f"{', '.join(self.names(side))})) & mask\n    end\n    return x\nend"
                )
                calls.append(f'        run("{way.kind}", loop_{way.kind}, k)')
        inner = "\n".join(calls)
        parts.append(
            "function run(name, loop, seed)\n    before = time_ns()\n    sum = loop(seed)\n"
            f"    spent = Float64(time_ns() - before) / {ROUNDS}\n"
            '    println(name, " ", spent, " ", sum)\nend\n'
            f"function main()\n    for k in 0:{repeat}\n{inner}\n    end\nend\nmain()\n"
        )
        return {"program.jl": "\n".join(parts), "unit.jl": unit.source}

    def command(self, target, folder):
        return [target.find().path, "--startup-file=no", "-O3", str(folder / "program.jl")]


class JavaScriptProgram(CpuProgram):
    language = nest.JAVASCRIPT
    types = {"int32": "Int32Array", "int53": "Float64Array", "uint32": "Uint32Array"}

    def fold(self, values):
        return [f"return {' + '.join(values)};"]

    def ours(self, unit, side, arguments):
        call = f"unit.{side.function.name}({', '.join(arguments)})"
        if len(side.function.outputs) == 1:
            return [f"return {call};"]
        parts = " + ".join(f"r[{k}]" for k in range(len(side.function.outputs)))
        return [f"const r = {call};", f"return {parts};"]

    def text(self, unit, sides, repeat):
        parts = ['import { readFileSync } from "node:fs";\nimport * as unit from "./unit.mjs";\n']
        calls = []
        for side, ways in sides:
            kind = self.types[side.function.index_type]
            parts.append(
                f'const table_{side.name} = new {kind}(new Uint8Array(readFileSync("table_{side.name}")).buffer);'
            )
            draws = "\n".join(
                f"    const i{k} = Math.floor((Math.imul(x, {SPINS[k]}) >>> 0) / 4294967296 * {a.count}) + {a.lo};"
                for k, a in enumerate(side.space.axes)
            )
            names = ", ".join(self.names(side))
            for way in ways:
                lines = "\n".join(way.lines).replace("table[", f"table_{side.name}[")
                parts.append(
                    f"function lego_one_{way.kind}({names}) {{\n{lines}\n}}\n"
                    f"function loop_{way.kind}(x) {{\n  for (let k = 0; k < {ROUNDS}; k += 1) {{\n{draws}\n"
                    f"    x = ((Math.imul(x, {STEP}) >>> 0) + {ADD} + lego_one_{way.kind}({names})) >>> 0;\n"
                    f"  }}\n  return x;\n}}"
                )
                calls.append(f'  run("{way.kind}", loop_{way.kind}, k);')
        inner = "\n".join(calls)
        parts.append(
            "function run(name, loop, seed) {\n  const before = process.hrtime.bigint();\n"
            "  const sum = loop(seed);\n"
            f"  const spent = Number(process.hrtime.bigint() - before) / {ROUNDS};\n"
            "  console.log(`${name} ${spent.toFixed(6)} ${sum}`);\n}\n"
            f"for (let k = 0; k <= {repeat}; k += 1) {{\n{inner}\n}}\n"
        )
        return {"program.mjs": "\n".join(parts), "unit.mjs": unit.source}

    def command(self, target, folder):
        return [target.find().path, str(folder / "program.mjs")]


# -- the timer -----------------------------------------------------------------------------------


class CpuTimer:
    """Times one unit on the CPU (lego_emit.measure.timing.Timer)."""

    def __init__(self, target: Target, unit: Unit, rivals: Rivals, program: CpuProgram):
        self.target, self.unit, self.rivals, self.program = target, unit, rivals, program
        self.version = target.find().version

    def run(self, progress: Progress) -> Timing:
        sides = [(side, self._ways(side)) for side in self._sides()]
        with tempfile.TemporaryDirectory(prefix="lego_emit_") as name:
            folder = Path(name)
            for side, _ in sides:
                self._write_table(folder, side)
            files = self.program.text(self.unit, sides, self.rivals.repeat)
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8")
            progress(1, 3)
            command = self.program.command(self.target, folder)
            progress(2, 3)
            printed = self.target.execute(command, cwd=folder)
            counts = _object_instructions(self.target, folder / "program")
            progress(3, 3)
        samples = self._samples(printed)
        costs: list[Cost] = []
        loops = {}
        for side, ways in sides:
            alone = Quartiles.of(samples[f"{side.name}_none"]).median
            loops[side.name] = alone
            for way in ways:
                ns = Quartiles.of(samples[way.kind])
                count = None if way.title == LOOP else counts.get(f"lego_one_{way.kind}")
                costs.append(Cost(side.name, way.title, ns, None, count))
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

    def _sides(self) -> list[_Side]:
        functions = self.unit.functions
        spaces = self.rivals.spaces
        if not self.unit.is_pair:
            return [_Side("apply", functions[0], spaces[functions[0].name], None)]
        apply, inv = functions
        a, b = spaces[apply.name], spaces[inv.name]
        return [_Side("apply", apply, a, b), _Side("inv", inv, b, a)]

    def _ways(self, side: _Side) -> list[_Way]:
        program, T = self.program, self._type(side)
        names = program.names(side)
        if len(names) > len(SPINS) or max(a.count for a in side.space.axes) >= 2**31:
            raise VerifyError(f"{side.function.name} has too many or too long axes to be timed")

        def spelled(function: Callable[..., Any]) -> list[str]:
            return body(function, names, program.language, T, program.fold)

        literal = program.language.number
        given = dict(zip((a.name for a in side.space.axes), names, strict=True))
        arguments = [
            given.get(n) or literal.format(side.space.fixed[n], T=T) for n in side.space.names
        ]
        pad = program.language.indent
        own = [f"{pad}{line}" for line in program.ours(self.unit, side, arguments)]
        ways = [
            _Way(f"{side.name}_none", LOOP, spelled(lambda *i: _mixed(i))),
            _Way(f"{side.name}_ours", OURS, own),
        ]
        for k, rival in enumerate(self.rivals.ways):
            function = rival.apply if side.name == "apply" else rival.inv
            if function is not None:
                ways.append(_Way(f"{side.name}_way_{k}", rival.name, spelled(function)))
        if side.space.total <= TABLE_LIMIT:
            ways.append(_Way(f"{side.name}_table", TABLE, spelled(lambda *i: _looked_up(side, i))))
        return ways

    def _type(self, side: _Side) -> str:
        return self.program.types[side.function.index_type]

    def _write_table(self, folder: Path, side: _Side) -> None:
        """The results of all indices, as numbers, in the index type."""
        kind = {"int53": np.float64}.get(side.function.index_type)
        dtype = np.dtype(kind or side.function.index_type)
        total = side.space.total if side.space.total <= TABLE_LIMIT else 1
        numbers = np.arange(total)
        points = side.space.points(numbers)
        compiled = self.target.compile([self.unit])[0][side.function.name]
        found = compiled(*side.space.arguments(points))
        outputs = found if isinstance(found, tuple) else (found,)
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


def _looked_up(side: _Side, indices: Sequence[Any]) -> Any:
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
