"""Julia: one process for all units, fed with binary arrays through its pipes."""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import cache
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import Any, cast

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function, Group
from lego_emit.printers import julia_methods
from lego_emit.printers.julia import JuliaPrinter
from lego_emit.run.devices import Rivals, Timer
from lego_emit.run.target import Library, Target, call_arguments
from lego_emit.targets import walks

FLAGS = ("--startup-file=no", "--color=no", "--depwarn=error", "--warn-overwrite=yes", "-O1")
INDEX_TYPES = {"int32": "Int32", "int64": "Int64", "uint32": "UInt32", "uint64": "UInt64"}

# Reads commands from stdin and answers each with "ok", or "error" and the length of a message:
#   load PATH                          include a file whose value is the list of runners
#   call LIBRARY RUNNER N OUTPUTS LENGTHS.., then the inputs' bytes, so many integers each; the
#       outputs' bytes, N integers each, follow "ok"
SERVER = r"""
const libraries = Any[]

function answer(word, parts...)
    write(stdout, word, "\n", parts...)
    flush(stdout)
end

function serve()
    while !eof(stdin)
        words = split(readline(stdin), ' ', limit = 2)
        try
            if words[1] == "load"
                push!(libraries, Base.include(Main, String(words[2])))
                answer("ok")
            else
                numbers = parse.(Int, split(words[2]))
                library, runner, n, outputs = numbers
                given = [read!(stdin, Vector{Int64}(undef, length)) for length in numbers[5:end]]
                made = [Vector{Int64}(undef, n) for _ in 1:outputs]
                Base.invokelatest(libraries[library][runner], n, given, made)
                answer("ok", made...)
            end
        catch error
            message = sprint(showerror, error)
            answer("error $(sizeof(message))", message)
        end
    end
end

serve()
"""


def runner(unit: int, position: int, function: Function, scope: str, printer: JuliaPrinter) -> str:
    """The loop that applies one emitted function to arrays."""
    kind = INDEX_TYPES[function.index_type]
    values = [f"inputs[{k + 1}][i] % {kind}" for k in range(len(function.passed))]
    made = printer.argument(scope)
    text = called(function, values, made, scope)
    stores = [
        f"outputs[{k + 1}][i] = {text} % Int64"
        for k, text in enumerate(printer.parts(function, "result"))
    ]
    return "\n".join(
        [
            f"function run_{unit}_{position}(n, inputs, outputs)",
            "    for i in 1:n",
            f"        result = {text}",
            *(f"        {store}" for store in stores),
            "    end",
            "end",
            "",
        ]
    )


def called(
    function: Function, values: Sequence[str], made: Callable[[Group, list[str]], str], scope: str
) -> str:
    """A call of a function of a module, or of a method of an object that holds some of the values."""
    arguments = call_arguments(function, values, made, static="Val({})".format, scope=f"{scope}.")
    held = call_arguments(function, values, made, held=True)
    return f"{julia_methods.call(function, held, scope)}{', '.join(arguments)})"


def array_runner(
    unit: int, position: int, function: Function, scope: str, printer: JuliaPrinter
) -> str:
    """The call of an array form, its elements put in row-major order."""
    kind, rank = INDEX_TYPES[function.index_type], len(function.axes)
    array = printer.array_name(function.name)
    scalars = range(len(function.passed) - rank)
    given = [f"inputs[{k + 1}][1] % {kind}" for k in scalars]
    arguments = ", ".join(call_arguments(function, given, printer.argument(scope)))
    if not scalars and "32" in kind:
        arguments = kind
    order = ", ".join(str(k) for k in range(rank, 0, -1))
    stores = [
        f"outputs[{k + 1}] .= ({text} % Int64 for value in values)"
        for k, text in enumerate(printer.parts(function, "value"))
    ]
    return "\n".join(
        [
            f"function array_{unit}_{position}(n, inputs, outputs)",
            f"    values = vec(permutedims({scope}.{array}({arguments}), ({order},)))",
            *(f"    {store}" for store in stores),
            "end",
            "",
        ]
    )


def fields_runner(
    unit: int, position: int, function: Function, scope: str, printer: JuliaPrinter
) -> str:
    """The loop that reads or sets fields: of inputs the first one says which, then come words, what the
    function takes, and values."""
    p, kind = function.packing, INDEX_TYPES[function.index_type]
    values = [f"inputs[{k + 3}][i] % {kind}" for k in range(len(function.passed))]
    made = printer.argument(scope)
    given = call_arguments(function, values, made, static="Val({})".format)
    own = ", ".join(["words[i]" if p.by_value else "words", *given])
    put = f"{scope}.{p.set}({own}, inputs[end][i])"
    return "\n".join(
        [
            f"function fields_{unit}_{position}(n, inputs, outputs)",
            f"    words = [word % UInt{p.word} for word in inputs[2]]",
            "    for i in 1:length(inputs[end])",
            "        if inputs[1][1] != 0",
            f"            {'words[i] = ' * p.by_value}{put}",
            "        else",
            f"            outputs[1][i] = {scope}.{p.get}({own}) % Int64",
            "        end",
            "    end",
            "    inputs[1][1] == 0 || (outputs[1] .= (word % Int64 for word in words))",
            "end",
            "",
        ]
    )


class JuliaTarget(Target):
    """Julia in one process for all units, since it starts slowly."""

    name = "julia"
    program = "julia"
    install = "apt-get install julia (bookworm has none: with bullseye as a second apt source)"

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """The running process, with the units loaded into it."""
        # Two units may have one name: each is loaded inside a module of its own.
        modules, runners, names, positions = [], [], [], []
        for u, unit in enumerate(units):
            source = folder / f"unit_{u}{unit.printer.extension}"
            source.write_text(unit.source, encoding="utf-8")
            modules.append(f'module Unit{u}\n{self.prelude}\ninclude("{source.name}")\nend\n')
            printer = cast(JuliaPrinter, unit.printer)
            scope = f"Unit{u}.{printer.module_name(unit.program.name)}"
            positions.append({})
            for p, function in enumerate(unit.program.callable):
                if unit.program.natives:  # what a type is called is known in the module
                    text = runner(u, p, function, scope.partition(".")[2], printer)
                    runners.append(f"Core.eval({scope}, quote\n{text}end)\n")
                    names.append(f"{scope}.run_{u}_{p}")
                else:
                    runners.append(runner(u, p, function, scope, printer))
                    names.append(f"run_{u}_{p}")
                positions[u][function.name] = len(names)
                if function.axes:
                    runners.append(array_runner(u, p, function, scope, printer))
                    names.append(f"array_{u}_{p}")
                if function.walk is not None:
                    kind = INDEX_TYPES[function.index_type]
                    runners.append(walks.julia(u, p, function, kind, scope))
                    names.append(f"walk_{u}_{p}")
                    positions[u][function.walk.names["walk"]] = len(names)
                if function.packing is not None:
                    runners.append(fields_runner(u, p, function, scope, printer))
                    names.append(f"fields_{u}_{p}")
                    positions[u][function.packing.get] = len(names)
        program = self.path()
        process = _process(program)
        library = next(process.names)
        text = [f"module {library}", *modules, *runners]
        text += [f"const runners = [{', '.join(names)}]", "end", f"{library}.runners"]
        path = folder / "units.jl"
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
        try:
            number = process.load(path)
        except ToolchainError:
            if not process.running:
                # Some builds of Julia crash instead of catching an error; the interpreter names it.
                self.execute([program, *FLAGS, "--compile=min", str(path)])
            raise
        return _JuliaLibrary(process, number, positions)

    def copy_runner(self, unit: Unit, threads: int = 1, is_timed: bool = False) -> Any:
        """What runs a copy, in so many threads."""
        from lego_emit.targets.copy_scripts import JuliaCopies

        return JuliaCopies(unit, _process(self.path(), threads, is_timed))

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU, a Julia program."""
        if device != "cpu":
            return super().timer(unit, device, rivals)
        from lego_emit.targets.cpu_timing import CpuTimer
        from lego_emit.targets.timing_julia import JuliaProgram

        return CpuTimer(self, unit, rivals, JuliaProgram(called))


class _JuliaLibrary:
    def __init__(self, process: _Process, number: int, positions: list[dict[str, int]]):
        self._process, self._number, self._positions = process, number, positions

    def call(self, unit: int, function: Function, inputs: list) -> list:
        given = inputs[: len(function.passed)]
        n, outputs = len(inputs[0]), len(function.outputs)
        position = self._positions[unit][function.name]
        return self._process.call(self._number, position, n, given, outputs)

    def call_array(self, unit: int, function: Function, scalars: list[int], count: int) -> list:
        import numpy as np

        given = [np.array([value], np.int64) for value in scalars]
        position = self._positions[unit][function.name] + 1  # it stands behind the scalar runner
        return self._process.call(self._number, position, count, given, len(function.outputs))

    def call_walk(self, unit: int, function: Function, scalars: list[int], count: int) -> list:
        import numpy as np

        walk = function.walk
        assert walk is not None
        given = [np.array([value], np.int64) for value in scalars]
        position = self._positions[unit][walk.names["walk"]]
        results = len(walk.results)
        found = self._process.call(self._number, position, count + 1, given, results)
        return [*(a[:count] for a in found), int(found[0][count])]

    def fields(
        self, unit: int, function: Function, words: Any, inputs: list, values: Any, sets: bool
    ) -> None:
        import numpy as np

        bits = words.astype(np.uint64).view(np.int64)
        given = [np.array([sets], np.int64), bits, *inputs, values]
        changed = words if sets else values
        position = self._positions[unit][function.packing.get]
        (found,) = self._process.call(self._number, position, len(changed), given, 1)
        changed[:] = found.view(np.uint64).astype(words.dtype) if sets else found


class _Process:
    """A running julia. One command at a time; an error in Julia is a ToolchainError here."""

    def __init__(self, path: str, threads: int = 1, is_timed: bool = False):
        self._warnings = tempfile.TemporaryFile("a+b")
        self._julia = subprocess.Popen(
            [path, *FLAGS, *(["-O2"] if is_timed else []), "-e", SERVER],  # Julia's default
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._warnings,
            env={**os.environ, "JULIA_NUM_THREADS": str(threads)} if threads > 1 else None,
        )
        assert self._julia.stdin is not None and self._julia.stdout is not None
        self._requests, self.pid = self._julia.stdin, self._julia.pid
        self._answers = cast(BufferedReader, self._julia.stdout)
        self._lock = threading.Lock()
        self._libraries = 0
        self.names = (f"LegoLibrary{number}" for number in count(1))
        atexit.register(self.close)

    @property
    def running(self) -> bool:
        return self._julia.poll() is None

    def close(self) -> None:
        """End the Julia process and wait for it."""
        self._julia.kill()
        self._julia.communicate()

    def load(self, path: Path) -> int:
        """Load a file of units; the number of the library."""
        with self._lock:
            before = len(self._seen())
            self._send(f"load {path}")
            self._libraries += 1
            if warnings := self._seen()[before:]:
                raise ToolchainError(
                    f"target 'julia': {warnings.decode(errors='replace').rstrip()}"
                )
            return self._libraries

    def call(self, library: int, runner: int, n: int, inputs: list, outputs: int) -> list:
        """Run a function over arrays; n values of each output."""
        import numpy as np

        with self._lock:
            words = ("call", library, runner, n, outputs, *map(len, inputs))
            self._send(" ".join(map(str, words)), inputs)
            made = [np.empty(n, np.int64) for _ in range(outputs)]
            for array in made:
                if self._answers.readinto(array.data) != array.nbytes:
                    raise self._died()
            return made

    def _send(self, command: str, arrays: Sequence = ()) -> None:
        """Send a command and its arrays, and read Julia's answer."""
        try:
            self._requests.write(f"{command}\n".encode())
            for array in arrays:
                self._requests.write(array.data)
            self._requests.flush()
        except BrokenPipeError:
            raise self._died() from None
        word, _, length = self._answers.readline().decode().strip().partition(" ")
        if word == "error":
            message = self._answers.read(int(length)).decode(errors="replace")
            raise ToolchainError(f"target 'julia': {message}")
        if word != "ok":
            raise self._died()

    def _seen(self) -> bytes:
        """All that julia has written to stderr."""
        self._warnings.seek(0)
        return self._warnings.read()

    def _died(self) -> ToolchainError:
        self._julia.kill()
        self._julia.wait()
        return ToolchainError(
            f"target 'julia': the process ended with exit code {self._julia.returncode}; an error "
            f"in Julia, such as a division by zero, can end it\n"
            f"{self._seen().decode(errors='replace')}".rstrip()
        )


@cache
def _processes() -> dict[tuple[str, int, bool], _Process]:
    return {}


def _process(path: str, threads: int = 1, is_timed: bool = False) -> _Process:
    """The process of this julia with so many threads; a new one where the last has ended."""
    key = path, threads, is_timed
    running = _processes().get(key)
    if running is None or not running.running:
        running = _processes()[key] = _Process(*key)
    return running
