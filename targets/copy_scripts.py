"""What runs a copy's routine in Julia, in Node and in this interpreter.

Memory goes to the process and comes back, a guard of elements before and behind the destination, which the
process compares.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lego_emit.errors import ToolchainError
from lego_emit.packages import numpy as np
from lego_emit.targets.python import reported

JULIA = """
module {library}
include("unit.jl")
const U = {module}
const E = {element}
const memory = Ref{{Any}}()
const GUARD = 64

elements(words, count) = collect(reinterpret(E, collect(reinterpret(UInt8, words))[1:count]))

function run_bytes(n, inputs, outputs)
    sizes = inputs[1][2:end]
    outputs[1] .= [U.{source_bytes}(sizes...), U.{destination_bytes}(sizes...)]
end

function run_upload(n, inputs, outputs)
    guard = elements(fill(0x5a5a5a5a5a5a5a5a % Int64, sizeof(E) * GUARD), sizeof(E) * GUARD)
    dst = elements(inputs[3], inputs[1][2])
    memory[] = (elements(inputs[2], inputs[1][1]), vcat(guard, dst, guard), guard)
end

function least(call, rounds)
    found = typemax(Int64)
    for _ in 1:rounds
        start = time_ns()
        call()
        found = min(found, Int64(time_ns() - start))
    end
    return found
end

function run_copy(n, inputs, outputs)
    src, whole, _ = memory[]
    GC.@preserve whole begin
        dst = unsafe_wrap(Array, pointer(whole, GUARD + 1), length(whole) - 2 * GUARD)
        outputs[1] .= least(() -> U.{name}(dst, src, inputs[1][2:end]...), inputs[1][1])
    end
end

function run_download(n, inputs, outputs)
    _, whole, guard = memory[]
    guard == whole[1:GUARD] == whole[(end - GUARD + 1):end] || error("the guard was written")
    bytes = collect(reinterpret(UInt8, whole[(GUARD + 1):(end - GUARD)]))
    append!(bytes, zeros(UInt8, 8 * n - length(bytes)))
    outputs[1] .= reinterpret(Int64, bytes)
end

function run_memcpy(n, inputs, outputs)
    src, whole, _ = memory[]
    total, threads = min(length(src), length(whole) - 2 * GUARD), Threads.nthreads()
    outputs[1] .= least(inputs[1][1]) do
        Threads.@threads for own in 1:threads
            before = div(total * (own - 1), threads)
            copyto!(whole, GUARD + 1 + before, src, 1 + before, div(total * own, threads) - before)
        end
    end
end

const runners = [run_bytes, run_upload, run_copy, run_download, run_memcpy]
end
{library}.runners
"""
JULIA_ELEMENTS = {1: "UInt8", 2: "UInt16", 4: "Float32", 8: "ComplexF32", 16: "ComplexF64"}
GUARDED = 64  # bytes beside the destination in Node

NODE = """
import {{ readSync, writeSync }} from "node:fs";
import * as unit from "./unit.mjs";

function read(length) {{
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {{
    const count = readSync(0, bytes, done, length - done);
    if (count === 0) process.exit(0);
    done += count;
  }}
  return bytes;
}}

function write(bytes) {{
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}}

function least(call, rounds) {{
  let found = Infinity;
  for (let k = 0; k < rounds; k += 1) {{
    const start = performance.now();
    call();
    found = Math.min(found, performance.now() - start);
  }}
  return found / 1e3;
}}

let source, whole, destination;
for (;;) {{
  const size = new Uint32Array(read(4).buffer)[0];
  const {{ what, sizes, bytes, rounds }} = JSON.parse(new TextDecoder().decode(read(size)));
  let answer = null;
  try {{
    if (what === "bytes") answer = [unit.{source_bytes}(...sizes), unit.{destination_bytes}(...sizes)];
    if (what === "upload") {{
      source = read(bytes[0]);
      whole = new Uint8Array(bytes[1] + {guard} * 2).fill(0x5a);
      destination = whole.subarray({guard}, {guard} + bytes[1]);
      destination.set(read(bytes[1]));
    }}
    if (what === "copy") answer = least(() => unit.{name}(...sizes, source, destination), rounds);
    if (what === "memcpy") {{
      const count = Math.min(source.length, destination.length);
      answer = least(() => destination.set(source.subarray(0, count)), rounds);
    }}
    if (what === "download" && [...whole.subarray(0, {guard}), ...whole.subarray(-{guard})].some((x) => x !== 0x5a))
      throw new Error("the guard was written");
  }} catch (error) {{
    answer = {{ error: String(error.stack) }};
  }}
  write(new TextEncoder().encode(JSON.stringify(answer) + "\\n"));
  if (what === "download" && answer === null) write(destination);
}}
"""


class Scripted:
    """A copy in another process; memory is sent where it is another one than before."""

    def __init__(self, unit: Any):
        self.unit = unit
        self.routine = unit.program.routines[0]
        self._sent: tuple[int, int] = (0, 0)
        self._folder = tempfile.TemporaryDirectory(prefix="lego_emit_", ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)

    def _values(self, sizes: Mapping[str, int]) -> list[int]:
        return [int(sizes[n]) for n in self.unit.plan.space.sizes]

    def bytes(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """The bytes of both memories, by the emitted functions."""
        found = self.sizes_of(self._values(sizes))
        return int(found[0]), int(found[1])

    def copy(
        self, sizes: Mapping[str, int], source: Any, destination: Any, rounds: int = 0
    ) -> float:
        """Run the routine on two arrays, and so many times on memory that stays, where rounds are given; the seconds
        of the shortest time."""
        if rounds:
            self._send(source, destination)
            return self.run("copy", self._values(sizes), rounds)
        self.upload(source, destination)
        found = self.run("copy", self._values(sizes), 1)
        destination.reshape(-1).view(np.uint8)[:] = self.download(destination.nbytes)
        return found

    def memcpy(self, count: int, source: Any, destination: Any, rounds: int = 1) -> float:
        """Copy the memory as it is; the seconds of the shortest time."""
        self._send(source, destination)
        return self.run("memcpy", [], rounds)

    def _send(self, source: Any, destination: Any) -> None:
        sent = source.ctypes.data, destination.ctypes.data
        if sent != self._sent:
            self.upload(source, destination)
            self._sent = sent

    def sizes_of(self, sizes: Sequence[int]) -> Any:
        """The bytes of both memories."""
        raise NotImplementedError

    def upload(self, source: Any, destination: Any) -> None:
        """Send the bytes of both arrays to the process."""
        raise NotImplementedError

    def run(self, what: str, sizes: Sequence[int], rounds: int) -> float:
        """Run the routine, or a plain copy; the seconds of the shortest time."""
        raise NotImplementedError

    def download(self, count: int) -> Any:
        """The bytes that the destination holds after a run; raises where the guard was written."""
        raise NotImplementedError


class JuliaCopies(Scripted):
    """A copy in the process that runs Julia's functions."""

    def __init__(self, unit: Any, process: Any):
        super().__init__(unit)
        size, library = self.routine.element_bytes, next(process.names)
        (self.folder / "unit.jl").write_text(unit.source)
        text = JULIA.format(
            library=library, module=unit.printer.module_name(unit.program.name),
            element=f"UInt{8 * size}" if self.routine.value is not None else
            JULIA_ELEMENTS.get(size, f"NTuple{{{size}, UInt8}}"),
            name=f"{self.routine.name}!", source_bytes=self.routine.functions[0],
            destination_bytes=self.routine.functions[1],
        )  # fmt: skip
        path = self.folder / "copy.jl"
        path.write_text(text)
        self._process, self._number, self.pid = process, process.load(path), process.pid

    def _call(self, runner: int, n: int, inputs: Sequence[Any], outputs: int) -> Any:
        given = [np.ascontiguousarray(a, np.int64) for a in inputs]
        return self._process.call(self._number, runner, n, given, outputs)

    def sizes_of(self, sizes: Sequence[int]) -> Any:
        """The bytes of both memories."""
        return self._call(1, 2, [[0, *sizes]], 1)[0]

    def upload(self, source: Any, destination: Any) -> None:
        """Send both memories, as integers of 64 bits."""
        whole = [_as_words(a) for a in (source, destination)]
        self._call(2, 0, [[source.nbytes, destination.nbytes], *whole], 0)

    def run(self, what: str, sizes: Sequence[int], rounds: int) -> float:
        """Run the routine, or a plain copy; the seconds of the shortest time."""
        (least,) = self._call(3 if what == "copy" else 5, 1, [[rounds, *sizes]], 1)
        return int(least[0]) / 1e9

    def download(self, count: int) -> Any:
        """The bytes that the destination holds after a run; raises where the guard was written."""
        (found,) = self._call(4, -(-count // 8), [[0]], 1)
        return found.view(np.uint8)[:count]


def _as_words(array: Any) -> Any:
    data = array.reshape(-1).view(np.uint8)
    return np.concatenate([data, np.zeros(-len(data) % 8, np.uint8)]).view(np.int64)


class NodeCopies(Scripted):
    """A copy in a Node process."""

    def __init__(self, unit: Any, program: str):
        super().__init__(unit)
        (self.folder / "unit.mjs").write_text(unit.source)
        text = NODE.format(
            name=self.routine.name, source_bytes=self.routine.functions[0],
            destination_bytes=self.routine.functions[1], guard=GUARDED,
        )  # fmt: skip
        (self.folder / "copy.mjs").write_text(text)
        process = subprocess.Popen(
            [program, "copy.mjs"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None and process.stdout is not None
        self._requests, self._answers, self.pid = process.stdin, process.stdout, process.pid
        weakref.finalize(self, _end, process)

    def _ask(self, what: str, *arrays: Any, **request: Any) -> Any:
        line = json.dumps({"what": what, **request}).encode()
        self._requests.write(len(line).to_bytes(4, "little") + line)
        for array in arrays:
            self._requests.write(array.tobytes())
        self._requests.flush()
        answer = self._answers.readline()
        found = json.loads(answer) if answer else {"error": "node ended without an answer"}
        if isinstance(found, dict):
            raise ToolchainError(f"target 'javascript': node reports:\n{found['error']}")
        return found

    def sizes_of(self, sizes: Sequence[int]) -> Any:
        """The bytes of both memories."""
        return self._ask("bytes", sizes=sizes)

    def upload(self, source: Any, destination: Any) -> None:
        """Send the bytes of both arrays to the process."""
        self._ask("upload", source, destination, bytes=[source.nbytes, destination.nbytes])

    def run(self, what: str, sizes: Sequence[int], rounds: int) -> float:
        """Run the routine, or a plain copy; the seconds of the shortest time."""
        return float(self._ask(what, sizes=sizes, rounds=rounds))

    def download(self, count: int) -> Any:
        """The bytes that the destination holds after a run; raises where the guard was written."""
        self._ask("download")
        return np.frombuffer(self._answers.read(count), np.uint8)


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()


class NumpyCopies:
    """A copy in this interpreter."""

    def __init__(self, unit: Any):
        self.unit, self.routine = unit, unit.program.routines[0]
        self._module: dict[str, Any] = {"__name__": unit.program.name}
        with reported(f"target 'numpy': {unit.program.name} does not load"):
            exec(compile(unit.source, "unit.py", "exec", dont_inherit=True), self._module)
        size = self.routine.element_bytes
        self._dtype = np.dtype(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")

    def _values(self, sizes: Mapping[str, int]) -> list[int]:
        return [int(sizes[n]) for n in self.unit.plan.space.sizes]

    def bytes(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """The bytes of both memories, by the emitted functions."""
        names = self.routine.functions[:2]
        first, second = (int(self._module[n](*self._values(sizes))) for n in names)
        return first, second

    def copy(
        self, sizes: Mapping[str, int], source: Any, destination: Any, rounds: int = 1
    ) -> None:
        """Run the routine on two arrays."""
        src, dst = (a.reshape(-1).view(np.uint8).view(self._dtype) for a in (source, destination))
        function = self._module[self.routine.name]
        with reported(f"{self.routine.name} fails"):
            for _ in range(rounds):
                function(*self._values(sizes), src, dst)

    def memcpy(self, count: int, source: Any, destination: Any, rounds: int = 1) -> None:
        """Copy the memory as it is."""
        src, dst = (a.reshape(-1).view(np.uint8) for a in (source, destination))
        for _ in range(rounds):
            dst[:count] = src[:count]
