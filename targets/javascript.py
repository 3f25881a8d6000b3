"""JavaScript through one Node process that lives as long as the library."""

from __future__ import annotations

import json
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function
from lego_emit.printers import javascript_methods
from lego_emit.printers.javascript import JavaScriptPrinter
from lego_emit.run.devices import Rivals, Timer
from lego_emit.run.target import Target, call_arguments
from lego_emit.targets import walks

if TYPE_CHECKING:
    import numpy as np

# A request is a line of JSON and the input arrays, the answer a line (empty, or what went wrong)
# and the output arrays. Number functions get and give float64, BigInt functions int64.
RUNNER = """
import { readSync, writeSync } from "node:fs";

function read(length) {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const count = readSync(0, bytes, done, length - done);
    if (count === 0) process.exit(0);
    done += count;
  }
  return bytes;
}

function write(bytes) {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

function answer(line) {
  write(new TextEncoder().encode(JSON.stringify(line) + "\\n"));
}

// The loop over the arrays, written out for the arguments and the results: an array's or an object's.
function loop(inputs, keys, call) {
  const part = (key) => (key === null ? "" : `[${JSON.stringify(key)}]`);
  const stores = keys.map((key, k) => `r${k}[i] = r${part(key)};`).join(" ");
  return new Function(
    "f, n, given, results, unit",
    `const [${names("a", inputs)}] = given, [${names("r", keys.length)}] = results;
    for (let i = 0; i < n; i += 1) {
      const r = ${call}; ${stores}
    }`,
  );
}

function names(name, count) {
  return Array.from({ length: count }, (_, k) => `${name}${k}`).join();
}

// An array form's results, as arrays of the kind that the answer has.
function fill(f, scalars, Kind, n, keys, call) {
  let results;
  try {
    const given = scalars.map((text) => (Kind === Float64Array ? Number(text) : BigInt(text)));
    results = new Function("f, given", `const [${names("a", given.length)}] = given; return ${call};`)(f, given);
    results = keys.map((key) => (key === null ? results : results[key]));
    if (results.some((result) => result.length !== n)) {
      throw new Error(`results of length ${results.map((result) => result.length)}, wanted ${n}`);
    }
  } catch (error) {
    answer(String(error.stack));
    return;
  }
  answer("");
  for (const result of results) write(new Uint8Array(Kind.from(result).buffer));
}

// Fields are read, or set in order: the words follow the request, then what the function takes, and values.
function fields({ unit, get, put, sets, type, n, inputs, bits, bytes, read_call, set_call }, kinds) {
  const Kind = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array }[bits];
  const words = new Kind(read(bytes).buffer);
  const given = [];
  for (let k = 0; k < inputs; k += 1) given.push(new kinds[type](read(8 * n).buffer));
  const values = new BigInt64Array(read(8 * n).buffer);
  try {
    new Function(
      "get, put, sets, n, words, given, values",
      `const [${names("a", inputs)}] = given;
      const of = (x) => ${bits === 64 ? "x" : "Number(x)"};
      for (let i = 0; i < n; i += 1) if (sets) { ${set_call}; } else values[i] = BigInt(${read_call});`,
    )(units[unit][get], units[unit][put], sets, n, words, given, values);
  } catch (error) {
    answer(String(error.stack));
    return;
  }
  answer("");
  write(new Uint8Array(sets ? words.buffer : values.buffer));
}

const units = [];
try {
  for (const path of JSON.parse(process.argv[2])) units.push(await import(path));
} catch (error) {
  answer(String(error.stack));
  process.exit(1);
}
answer("");

const loops = new Map();
for (;;) {
  const size = new Uint32Array(read(4).buffer)[0];
  const request = JSON.parse(new TextDecoder().decode(read(size)));
  const { unit, name, type, n, inputs, keys, scalars, call } = request;
  const kinds = { number: Float64Array, int64: BigInt64Array, uint64: BigUint64Array };
  if (request.bits !== undefined) {
    fields(request, kinds);
    continue;
  }
  if (scalars !== undefined) {
    fill(units[unit][name], scalars, kinds[type], n, keys, call);
    continue;
  }
  const given = [];
  for (let k = 0; k < inputs; k += 1) given.push(new kinds[type](read(8 * n).buffer));
  const results = [];
  for (let k = 0; k < keys.length; k += 1) results.push(new kinds[type](n));
  try {
    const key = `${unit} ${name} ${call}`;
    if (!loops.has(key)) loops.set(key, loop(inputs, keys, call));
    loops.get(key)(units[unit][name], n, given, results, units[unit]);
  } catch (error) {
    answer(String(error.stack));
    continue;
  }
  answer("");
  for (const result of results) write(new Uint8Array(result.buffer));
}
"""


class JavaScriptTarget(Target):
    """JavaScript in a Node process."""

    name = "javascript"
    program = "node"
    install = "apt-get install nodejs"

    def build(self, units: Sequence[Unit], folder: Path) -> _NodeLibrary:
        """A Node process that has imported all units."""
        paths = []
        for k, unit in enumerate(units):
            path = folder / f"unit_{k}{unit.printer.extension}"
            path.write_text(unit.source)
            paths.append(f"./{path.name}")
        (folder / "runner.mjs").write_text(RUNNER)
        return _NodeLibrary([self.path(), "runner.mjs", json.dumps(paths)], folder, units)

    def copy_runner(self, unit: Unit, threads: int = 1, is_timed: bool = False) -> Any:
        """What runs a copy."""
        from lego_emit.targets.copy_scripts import NodeCopies

        return NodeCopies(unit, self.path())

    def timer(self, unit: Unit, device: str, rivals: Rivals) -> Timer:
        """On the CPU, a Node program."""
        if device != "cpu":
            return super().timer(unit, device, rivals)
        from lego_emit.targets.cpu_timing import CpuTimer
        from lego_emit.targets.timing_javascript import JavaScriptProgram

        return CpuTimer(self, unit, rivals, JavaScriptProgram())


class _NodeLibrary:
    def __init__(self, command: list[str], folder: Path, units: Sequence[Unit]):
        self._printers = [cast(JavaScriptPrinter, unit.printer) for unit in units]
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None and process.stdout is not None
        self._requests, self._answers = process.stdin, process.stdout
        weakref.finalize(self, _end, process, self._requests, self._answers)
        self._check()

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        given = inputs[: len(function.params)]
        call = self._call(unit, function, [f"a{k}[i]" for k in range(len(given))])
        name = (function.receiver or function).name
        request = {"name": name, "inputs": len(given), "call": call}
        return self._ask(unit, function, request, given, len(inputs[0]))

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        name = self._printers[unit].array_name(function.name)
        call = self._call(unit, function, [f"a{k}" for k in range(len(scalars))])
        request = {"name": name, "scalars": [str(s) for s in scalars], "call": call}
        return self._ask(unit, function, request, [], count)

    def call_walk(self, unit: int, function: Function, scalars: list[int], count: int) -> list[Any]:
        import numpy as np

        walk = function.walk
        assert walk is not None
        kind, dtype = self._kind(unit, function)
        call = walks.javascript(function, scalars)
        request = {
            "name": walk.names["walk"], "scalars": [str(s) for s in scalars], "call": call,
            "unit": unit, "type": kind, "n": count, "keys": [*range(len(walk.results))],
        }  # fmt: skip
        self._send(request, [])  # it refuses arrays of another length
        found = [np.frombuffer(self._answers.read(8 * count), dtype) for _ in walk.results]
        found = [_integers(r) if kind == "number" else r.astype(np.int64) for r in found]
        return [*found, count]

    def _call(self, unit: int, function: Function, values: Sequence[str]) -> str:
        """A call of f as text."""
        make = self._printers[unit].argument
        arguments = call_arguments(function, values, make, scope="unit.")
        held = call_arguments(function, values, make, held=True)
        call = javascript_methods.call(function, held, arguments, "f")
        if (whole := function.aggregate) is not None and whole.open:  # what is not written
            zero = "0" if self._kind(unit, function)[0] == "number" else "0n"
            call = f"Object.assign(new Array({len(function.outputs)}).fill({zero}), {call})"
        return call

    def fields(
        self,
        unit: int,
        function: Function,
        words: np.ndarray,
        inputs: list[np.ndarray],
        values: np.ndarray,
        sets: bool,
    ) -> None:
        import numpy as np

        p = function.packing
        texts = [f"a{k}[i]" for k in range(len(inputs))]
        given = ", ".join(call_arguments(function, texts, self._printers[unit].argument))
        own = ", ".join(filter(None, ["words[i]" if p.by_value else "words", given]))
        put = f"{'words[i] = ' * p.by_value}put({own}, of(values[i]))"
        kind, dtype = self._kind(unit, function)
        request = {
            "unit": unit, "get": p.get, "put": p.set, "sets": sets, "type": kind, "n": len(values),
            "inputs": len(inputs), "bits": p.word, "bytes": words.nbytes, "read_call": f"get({own})",
            "set_call": put,
        }  # fmt: skip
        arrays = [words.tobytes(), *(a.astype(dtype).tobytes() for a in inputs), values.tobytes()]
        self._send(request, arrays)
        changed = words if sets else values
        changed[:] = np.frombuffer(self._answers.read(changed.nbytes), changed.dtype)

    def _kind(self, unit: int, function: Function) -> tuple[str, np.dtype]:
        """(what the runner calls the index type, the type of arrays of it)."""
        import numpy as np

        is_number = self._printers[unit].types[function.index_type] == "number"
        return "number" if is_number else function.index_type, np.dtype(
            "<f8" if is_number else "<i8"
        )

    def _send(self, request: dict[str, Any], arrays: Sequence[bytes]) -> None:
        line = json.dumps(request)
        head = len(line).to_bytes(4, "little") + line.encode()
        self._requests.write(b"".join([head, *arrays]))
        self._requests.flush()
        self._check()

    def _ask(
        self,
        unit: int,
        function: Function,
        request: dict[str, Any],
        given: list[np.ndarray],
        n: int,
    ) -> list[np.ndarray]:
        import numpy as np

        kind, dtype = self._kind(unit, function)
        keys = self._printers[unit].keys(function)
        whole = {**request, "unit": unit, "type": kind, "n": n, "keys": keys}
        self._send(whole, [a.astype(dtype).tobytes() for a in given])
        results = [np.frombuffer(self._answers.read(8 * n), dtype) for _ in keys]
        return [_integers(r) if kind == "number" else r.astype(np.int64) for r in results]

    def _check(self) -> None:
        line = self._answers.readline()
        message = json.loads(line) if line else "node ended without an answer"
        if message:
            raise ToolchainError(f"target 'javascript': node reports:\n{message}")


def _integers(values: np.ndarray) -> np.ndarray:
    """Numbers as integers. What is none (a fraction, NaN, -0) becomes the smallest integer, so that
    no comparison takes it for right."""
    import numpy as np

    good = (np.abs(values) < 2.0**53) & (values == np.floor(values))
    good &= ~((values == 0) & np.signbit(values))
    return np.where(good, np.where(good, values, 0).astype(np.int64), np.iinfo(np.int64).min)


def _end(process: subprocess.Popen[bytes], requests: IO[bytes], answers: IO[bytes]) -> None:
    requests.close()  # the runner ends where its input does
    answers.close()
    process.wait()
