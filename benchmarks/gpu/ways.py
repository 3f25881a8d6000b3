"""Programs of kernels that are compared and timed: what they are made of, how they are built, and the
machines that run them, a GPU or the host."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "kernels"
FLAGS = ("-std=c++17", "-O3", "-Xptxas", "-v")
SERIALIZED = re.compile(r"\(C751[24]\).*")  # what ptxas says of wgmma that waits for each other

Sizes = tuple[int, ...]


class LocalMemoryError(Exception):
    """A kernel of ours that keeps registers in memory: it is refused."""


# -- what is compiled ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A file of CUDA C, or a template of an example with layouts in place of those of its layouts.py.

    name: of the cubin; path: of the file or the template; defines: of the preprocessor; settings: what
    layouts(*settings) of layouts.py takes, texts being names of that file; names: of its results; arch:
    of the GPU.
    """

    name: str
    path: Path
    defines: tuple[tuple[str, int], ...] = ()
    flags: tuple[str, ...] = ()
    settings: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()
    arch: str = "90"

    @property
    def is_ours(self) -> bool:
        """Whether it is a template."""
        return self.path.suffix == ".j2"

    @property
    def suffix(self) -> str:
        """Of the file that nvcc is given."""
        return ".cu"

    def text(self) -> str:
        """The CUDA C."""
        head = "".join(f"#define {name} {value}\n" for name, value in self.defines)
        return head + (self._rendered() if self.is_ours else self.path.read_text())

    def _rendered(self) -> str:
        from lego_emit import render
        from lego_emit.project.loading import subject, subjects, user_file

        layouts = str(self.path.parent / "layouts.py")
        with user_file(layouts) as defined:
            given = {name: subject(defined, name, layouts) for name in subjects(defined)}
            if self.names:
                told = [defined[s] if isinstance(s, str) else s for s in self.settings]
                made = defined["layouts"](*told)
                given |= dict(zip(self.names, made, strict=True))
            return render(self.path, "cuda", **given)


def of_example(folder: str, *settings: Any, names: Sequence[str] = ()) -> Source:
    """The kernel of examples/kernels/FOLDER."""
    told = "_".join(map(str, (folder, *settings)))
    path = EXAMPLES / folder / "kernel.cu.j2"
    return Source(f"ours_{told}", path, settings=settings, names=tuple(names))


def of_baseline(name: str, *flags: str, **defines: int) -> Source:
    """A file of baselines/."""
    told = "_".join([name, *map(str, defines.values())])
    path = HERE / "baselines" / f"{name}.cu"
    return Source(f"baseline_{told}", path, tuple(defines.items()), flags)


SUPPORT = Source("support", HERE / "support.cu")


@dataclass(frozen=True)
class Built:
    """A cubin. kernels: registers and bytes of local memory of each kernel, as ptxas says them."""

    source: Source
    cubin: Path
    kernels: Mapping[str, tuple[int, int]]


def build(source: Source, folder: Path) -> Built:
    """Renders and compiles a source into a folder. Exits with nvcc's message."""
    text, cubin = folder / f"{source.name}{source.suffix}", folder / f"{source.name}.cubin"
    text.write_text(source.text())
    command = [
        "nvcc",
        *FLAGS,
        f"-gencode=arch=compute_{source.arch},code=sm_{source.arch}",
        *source.flags,
        f"-I{source.path.parent}",
        "-cubin",
        text,
        "-o",
        cubin,
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"nvcc refuses {text}:\n{done.stderr[:4000]}")
    if waits := SERIALIZED.search(done.stderr):
        sys.exit(f"{text}: {waits[0]}")
    return Built(source, cubin, resources(done.stderr))


def resources(said: str) -> dict[str, tuple[int, int]]:
    """The registers and the bytes of local memory of each kernel, of what ptxas -v says."""
    found = {}
    for part in re.split(r"Compiling entry function '", said)[1:]:
        name = part.partition("'")[0]
        (stack, stores, loads) = map(
            int,
            re.findall(
                r"(\d+) bytes (?:stack frame|cumulative stack size|spill stores|spill loads)", part
            )[:3],
        )
        registers = re.search(r"Used (\d+) registers", part)
        found[name] = int(registers[1]) if registers else 0, max(stack, stores, loads)
    return found


def build_all(sources: Sequence[Source], folder: Path, jobs: int) -> list[Built]:
    """Several at a time. Raises LocalMemoryError where a kernel of ours, or a baseline, has local memory."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs) as pool:
        made = list(pool.map(build, sources, [folder] * len(sources)))
    spilled = [
        f"{name} of {one.source.name}: {local} bytes"
        for one in made
        if not one.source.name.startswith("original")
        for name, (_, local) in one.kernels.items()
        if local
    ]
    if spilled:
        raise LocalMemoryError(f"local memory: {', '.join(spilled)}")
    return made


# -- what is run ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mapped:
    """A tensor map of a buffer, as an argument. made: lego_emit's cute.TensorMap, of numbers."""

    buffer: str
    made: Any


@dataclass(frozen=True)
class Launch:
    """A kernel's launch. grid: () fills the machine, (0,) has a block for each multiprocessor; arguments:
    names of buffers, tensor maps of them, and NumPy's numbers; shared: bytes of dynamic shared memory."""

    source: Source
    kernel: str
    grid: Sizes
    block: Sizes
    arguments: tuple[Any, ...]
    shared: int = 0


@dataclass(frozen=True)
class Copy:
    """So many bytes of a buffer, to another."""

    to: str
    start: str
    size: int


@dataclass(frozen=True)
class Solver:
    """cuSOLVER's LU decomposition without pivots of an n x n matrix by columns, in place."""

    matrix: str
    n: int


@dataclass(frozen=True)
class TorchCopy:
    """PyTorch's copy_ of an array in rows into one of other strides. dims: of both; strides: in elements."""

    to: str
    start: str
    element: int
    dims: Sizes
    strides: Sizes


@dataclass(frozen=True)
class TorchProduct:
    """PyTorch's product, which is cuBLAS's: to = a b^T. sizes: M, N and K; kind: "f16" or "bf16"; majors: of
    a and b, "K" where K is contiguous."""

    to: str
    a: str
    b: str
    sizes: tuple[int, int, int]
    kind: str
    majors: str


@dataclass(frozen=True)
class TorchInt4:
    """PyTorch's product in bfloat16 of weights of 4 bits, one a byte: to = x w^T. sizes: M, N and K; group: of
    K, that share a scale. What it takes is made of the buffers once; a graph has the product alone, and no
    copy to the buffer."""

    to: str
    x: str
    weights: str
    scales: str
    sizes: tuple[int, int, int]
    group: int


Step = Launch | Copy | Solver | TorchCopy | TorchProduct | TorchInt4


@dataclass(frozen=True)
class Way:
    """A program that computes what an experiment wants: its steps, and the buffer that holds the result.

    restored: what is copied before each run, untimed. kind: what the comparison is told of the result;
    allowed: the largest error, in place of the experiment's.
    """

    name: str
    steps: tuple[Step, ...]
    result: str
    restored: tuple[Copy, ...] = ()
    kind: str = ""
    allowed: float | None = None

    @property
    def is_ours(self) -> bool:
        """Whether its kernels are rendered."""
        return self.name.startswith("ours")


@dataclass(frozen=True)
class Experiment:
    """What is computed in several ways.

    buffers: sizes in elements, with types; prepare: steps that fill them and compute what is wanted;
    compared(way): steps that compare its result into the buffer "found"; allowed: the largest error,
    relative to the largest value wanted; uploaded: arrays that are copied there first; poison: the word
    that a result is filled with before it is compared, and first: steps after that; flushed: steps that
    bring other data into the cache before a run, in place of writing so much; graphs: also a single
    launch is a CUDA graph.
    """

    name: str
    size: int
    kind: str
    buffers: Mapping[str, tuple[int, Any]]
    prepare: tuple[Step, ...]
    ways: tuple[Way, ...]
    compared: Callable[[Way], tuple[Step, ...]]
    allowed: float = 0.0
    uploaded: Mapping[str, np.ndarray] = field(default_factory=dict)
    poison: int = 0x7FFDDEAD  # a NaN
    first: tuple[Step, ...] = ()
    flushed: tuple[Step, ...] = ()
    graphs: bool = False

    def kernels(self) -> dict[Source, list[str]]:
        """What has to be compiled, and the kernels of it that are launched."""
        steps = [support("fill_words"), *self.first, *self.prepare, *self.flushed]
        for way in self.ways:
            steps += [*way.steps, *self.compared(way)]
        found: dict[Source, dict[str, None]] = {}
        for step in steps:
            if isinstance(step, Launch):
                found.setdefault(step.source, {})[step.kernel] = None
        return {source: [*names] for source, names in found.items()}


THREADS = 256  # of a block of support.cu's kernels
WRONG = 1e300  # the error of a NaN, there


def support(kernel: str, *arguments: Any, grid: Sizes = (), block: Sizes = (THREADS,)) -> Launch:
    """A kernel of support.cu; over the whole machine where no grid is given."""
    return Launch(SUPPORT, kernel, grid, block, arguments)


class Machine(Protocol):
    """What runs programs. blocks: how many fill it."""

    name: str
    blocks: int

    def hold(self, buffers: Mapping[str, tuple[int, Any]]) -> None:
        """Makes these buffers, in place of those that there were."""

    def upload(self, name: str, array: np.ndarray) -> None:
        """An array to a buffer's begin."""

    def download(self, name: str) -> np.ndarray:
        """A buffer."""
        ...

    def do(self, steps: Sequence[Step]) -> None:
        """Runs a program."""


def prepared(machine: Machine, experiment: Experiment) -> None:
    """The buffers of an experiment, filled."""
    found = 2 * machine.blocks * THREADS  # two numbers for each thread
    machine.hold({**experiment.buffers, "found": (found, np.float64)})
    for name, array in experiment.uploaded.items():
        machine.upload(name, array)
    machine.do(experiment.prepare)


def error_of(machine: Machine, experiment: Experiment, way: Way) -> float:
    """Runs a way over poison and compares every element: the largest error, relative to the largest value
    that is wanted."""
    size, kind = experiment.buffers[way.result]
    words = np.uint64(size * np.dtype(kind).itemsize // 4)
    machine.do([support("fill_words", way.result, words, np.uint32(experiment.poison))])
    machine.do([*experiment.first, *way.restored, *way.steps])
    machine.upload("found", np.full(2 * machine.blocks * THREADS, np.nan))
    machine.do(experiment.compared(way))
    found = machine.download("found").reshape(-1, 2)
    error, most = found.max(axis=0)
    return float(error / most) if most > 0 and error < WRONG else np.inf
