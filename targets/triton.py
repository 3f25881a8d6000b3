"""Triton: the emitted modules in its interpreter, on the CPU, in blocks of all indices."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import traceback
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lego_emit.emit.unit import Unit
from lego_emit.errors import ToolchainError
from lego_emit.ir.program import Function
from lego_emit.run.target import Library, Target, Toolchain
from lego_emit.targets.python import reported

if TYPE_CHECKING:
    import numpy as np

BLOCK = 2**20  # the most elements of a block

# Nothing is masked: what is beyond the last index computes it again.
CALL = """
@triton.jit
def run_{name}({pointers}, last, BLOCK: tl.constexpr):
    place = tl.minimum(tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), last)
    {results} = {name}({arguments})
"""
ARRAY_CALL = """
@triton.jit
def array_{name}({parameters}):
    {results} = {array}({arguments})
"""


class TritonTarget(Target):
    """Triton's interpreter, which needs neither a GPU nor PyTorch."""

    name = "triton"

    def find(self) -> Toolchain:
        """The Triton that this interpreter imports."""
        found = importlib.util.find_spec("triton")
        if found is None:
            raise ToolchainError("target 'triton' needs Triton: pip install triton")
        return Toolchain(str(found.origin), f"Triton {version('triton')}, interpreted")

    def build(self, units: Sequence[Unit], folder: Path) -> Library:
        """The units' modules, each with kernels that call its functions."""
        self.find()
        return _TritonLibrary(units, folder)


class _TritonLibrary:
    def __init__(self, units: Sequence[Unit], folder: Path):
        self._interpreter, self._units = Interpreter(), units
        for k, unit in enumerate(units):
            path = folder / f"unit_{k}.py"
            printed = {f.name: f for f in (unit.program.printed or unit.program).functions}
            functions = [printed[f.name] for f in unit.program.functions]
            kernels = (_kernels(f, unit.printer.array_name(f.name)) for f in functions)
            path.write_text(unit.source + "".join(kernels))
            with reported(f"target 'triton': {unit.program.name} does not load"):
                self._interpreter.load(path)

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """All indices in as few blocks as hold them; as narrow as its values is each input."""
        count = len(inputs[0])
        block = min(1 << max(count - 1, 0).bit_length(), BLOCK)
        inputs = inputs[: len(function.passed)]
        if function.prepare:
            inputs = _prepared(self._units[unit], function, inputs)
        given = [_narrowed(a) for a in inputs]
        blocks = -(-count // block)
        return self._run(unit, "run", function, count, blocks, given, [count - 1, block])

    def call_array(
        self, unit: int, function: Function, scalars: list[int], count: int
    ) -> list[np.ndarray]:
        """The array form's block."""
        if count.bit_count() != 1:
            raise ToolchainError(
                f"the array form of {function.name} would be a block of {count} elements; "
                "in Triton each axis has a power of two"
            )
        return self._run(unit, "array", function, count, 1, [], scalars)

    def _run(
        self,
        unit: int,
        kind: str,
        function: Function,
        count: int,
        blocks: int,
        given: list[np.ndarray],
        scalars: list[int],
    ) -> list[np.ndarray]:
        import numpy as np

        least = np.iinfo(np.int64).min
        outputs = [np.full(count, least, np.int64) for _ in function.outputs]
        with reported(f"{function.name} fails"):
            arrays = self._interpreter.launch(
                unit, f"{kind}_{function.name}", blocks, [*given, *outputs], scalars
            )
        return arrays[len(given) :]


class Interpreter:
    """Triton's interpreter in a process of its own, one for all that this process runs: Triton takes 0.6 s to load,
    brings an LLVM, and crashes beside the one of OpenGL, Vulkan or OpenCL on a CPU."""

    def __init__(self) -> None:
        self._modules = list[int]()
        self._server = _server()

    def load(self, path: Path) -> None:
        """Load a module of kernels, the next one by number."""
        self._modules.append(self._server.ask("load", str(path)))

    def launch(
        self, module: int, name: str, blocks: int, arrays: list[np.ndarray], scalars: list[int]
    ) -> list[np.ndarray]:
        """Run a kernel on arrays; what it has made of them."""
        return self._server.ask("launch", self._modules[module], name, blocks, arrays, scalars)


class _Server:
    """The process of the interpreter."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import serve; serve()"]
        path = os.pathsep.join(filter(None, sys.path))
        self.owner, self._lock = os.getpid(), Lock()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        weakref.finalize(self, _end, self._process)

    @property
    def is_there(self) -> bool:
        """Whether this process, and not the one that it is a fork of, can ask it."""
        return self.owner == os.getpid() and self._process.poll() is None

    def ask(self, *question: Any) -> Any:
        """Its answer. Raises ToolchainError where it has failed, or ended."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked and answered
        try:
            with self._lock:
                pickle.dump(question, asked)
                asked.flush()
                error, answer = pickle.load(answered)
        except (OSError, EOFError):
            status = self._process.wait()
            raise ToolchainError(f"Triton's interpreter ended with status {status}") from None
        if error:
            raise ToolchainError(error)
        return answer


_servers: list[_Server] = []


def _server() -> _Server:
    """The process of the interpreter, started where there is none."""
    if not _servers or not _servers[0].is_there:
        _servers[:] = [_Server()]
    return _servers[0]


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(OSError):
                pipe.close()
    process.wait()


def serve() -> None:
    """The other end of an Interpreter."""
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what a kernel prints is no answer
    modules: list[ModuleType] = []
    while True:
        try:
            kind, *given = pickle.load(questions)
        except EOFError:
            return
        try:
            with interpreted(), warnings.catch_warnings():
                warnings.simplefilter("error")
                if kind == "load":
                    modules.append(loaded(Path(given[0])))
                    made = len(modules) - 1
                else:
                    module, name, blocks, arrays, scalars = given
                    kernel = getattr(modules[module], name)
                    kernel[(blocks,)](*map(Tensor, arrays), *scalars)
                    made = arrays
            answer = None, made
        except Exception:  # as text: its class is Triton's, which the other end must not load
            answer = traceback.format_exc(limit=-2).rstrip(), None
        pickle.dump(answer, answers)
        answers.flush()


class Tensor:
    """What the interpreter asks of PyTorch's tensors, of an array, and of its storage."""

    def __init__(self, array: np.ndarray):
        self.array, self.dtype = array, array.dtype

    def data_ptr(self) -> int:
        """Where the elements lie."""
        return self.array.ctypes.data

    def untyped_storage(self) -> Tensor:
        """The storage, for which the array itself stands."""
        return self

    def cpu(self) -> Tensor:
        """The storage in the CPU's memory: itself."""
        return self

    def new_empty(self, *_: Any, **__: Any) -> Tensor:
        """A tensor for set_() to fill."""
        return Tensor(self.array)

    def set_(self, *_: Any) -> None:
        """Nothing: the storage is the same."""

    def copy_(self, _: Tensor) -> None:
        """Nothing: the interpreter wrote to the array itself."""

    def storage_offset(self) -> int:
        """Where in its storage it begins."""
        return 0

    def size(self) -> tuple[int, ...]:
        """The shape of the array, as torch.Tensor.size() gives it."""
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        """The strides, in elements."""
        return tuple(s // self.array.itemsize for s in self.array.strides)


@contextmanager
def interpreted() -> Iterator[None]:
    """While the block runs, @triton.jit makes functions for the interpreter."""
    from triton import knobs  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]

    with knobs.runtime.scope():
        knobs.runtime.interpret = True
        yield


def loaded(path: Path) -> ModuleType:
    """The module in a file, where the interpreter reads its functions' text."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _kernels(function: Function, array: str) -> str:
    """The kernels that call a function and its array form, which is called array."""
    names = [p.name for p in function.passed]
    numbers = iter(range(len(names)))
    loads = [
        str(p.default) if p.static else f"tl.load(in_{next(numbers)} + place)"
        for p in function.params
    ]
    results = [f"result_{k}" for k, _ in enumerate(function.outputs)]
    outputs = [f"out_{k}" for k, _ in enumerate(function.outputs)]
    parts = {"name": function.name, "results": ", ".join(results)}
    pairs = [*zip(outputs, results, strict=True)]
    text = CALL.format(
        pointers=", ".join([*(f"in_{k}" for k, _ in enumerate(names)), *outputs]),
        arguments=", ".join(loads),
        **parts,
    )
    for output, result in pairs:
        text += f"    tl.static_assert((place + {result}).dtype.is_int())\n"
        text += f"    tl.store({output} + place, {result})\n"
    if not function.axes:
        return text
    axes = {name for name, _ in function.axes}
    given = {f"given_{k}": name for k, name in enumerate(names) if name not in axes}
    sizes = {n.value for _, extent in function.axes for n in extent.walk() if n.op == "var"}
    parameters = [f"{g}: tl.constexpr" if name in sizes else g for g, name in given.items()]
    text += ARRAY_CALL.format(
        parameters=", ".join([*outputs, *parameters]),
        arguments=", ".join(given),
        array=array,
        **parts,
    )
    for output, result in pairs:
        text += (
            f"    place = tl.reshape(tl.arange(0, {result}.numel), {result}.shape)\n"
            f"    tl.store({output} + place, {result})\n"
        )
    return text


def _prepared(unit: Unit, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The arrays that a function with prepared sizes takes, made by the host's functions of the file."""
    import numpy as np

    host: dict[str, Any] = {}
    exec(unit.source[unit.source.index("\n\n\ndef _fast_div_mul") :], host)
    pairs = [*zip(function.passed, inputs, strict=False)]
    sizes = zip(*(a.tolist() for p, a in pairs if p.prepared), strict=True)
    rows = [host[function.prepare](*row) for row in sizes]
    fields = [np.array(column, dtype=object) for column in zip(*rows, strict=True)]
    fields = [(column % 2**64).astype(np.uint64).view(np.int64) for column in fields]
    return [*fields, *(a for p, a in pairs if not p.prepared)]


def _narrowed(array: np.ndarray) -> np.ndarray:
    """As 32 bits where all values fit, which is how Triton takes numbers."""
    import numpy as np

    narrow = array.astype(np.int32)
    return narrow if np.array_equal(narrow, array) else array
