"""Triton's kernels of examples/kernels beside the tutorials' and PyTorch's: each result compared, then timed, the ways in
turn. It takes PyTorch and Triton.

A graph launches a way once on each of several copies of the data, which together are more than the L2 holds, so that
short launches are timed without what it takes to launch them.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from ways import EXAMPLES, HERE, LocalMemoryError

ROWS, EPS = 4096, 1e-5
WIDTHS = (512, 1024, 2048, 4096, 8192)
PRODUCTS = (128, 256, 512, 1024, 2048, 4096, 8192)
GROUPED = (1024, 2048, 4096)
KINDS = ("nn", "nt", "tn", "tt")
MOST_COPIES, COLD_BYTES, L2_WORDS = 16, 128 << 20, 64 << 20
CHOSEN_BY = 7  # runs of each configuration, of whose medians the least is taken

Config = Mapping[str, int]
Run = Callable[[int], Any]  # on a copy of the data; gives the compiled kernels


def config(BM: int, BN: int, BK: int, num_stages: int, num_warps: int, **more: int) -> Config:
    """Sizes of tiles, and what the compiler is told."""
    return {"BM": BM, "BN": BN, "BK": BK, "num_stages": num_stages, "num_warps": num_warps, **more}


# Of ours: the programs of layer norm backward, each of which adds up a part of the gradients. Also those of the
# tutorial's groups.
PARTS = [
    {"PARTS": parts, "num_warps": warps}
    for parts, warps in [(128, 8), (128, 16), (256, 4), (256, 8), (256, 16), (512, 4), (512, 8)]
]
# Of the tutorials' own, those that win somewhere; of halves also the two that win where B lies by columns.
CONFIGS = {
    "float16": [
        config(128, 256, 64, 3, 8),
        config(128, 128, 64, 3, 4),
        config(128, 128, 64, 4, 4),
        config(128, 128, 32, 4, 4),
        config(64, 128, 32, 4, 4),
    ],
    "float8_e5m2": [config(128, 256, 128, 3, 8), config(128, 128, 128, 4, 4)],
    "grouped": [
        config(128, 128, 64, 3, 4, PROGRAMS=132),
        config(64, 128, 64, 3, 4, PROGRAMS=132),
        config(128, 128, 32, 3, 4, PROGRAMS=128),
    ],
}


@dataclass
class Way:
    """A program. runs: by configuration, on a copy; results: of a copy; is_poisoned: whether these are memory that is
    there before, and poisoned."""

    name: str
    runs: Mapping[str, Run]
    results: Callable[[int], Sequence[Any]]
    is_poisoned: bool = True


@dataclass
class Made:
    """An experiment's data on the GPU: its ways, and what is wanted of a copy."""

    ways: list[Way]
    wanted: Callable[[int], Sequence[Any]]
    allowed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tutorial:
    """An experiment. size: of a row, or of a matrix' side; bytes: that a launch moves; error: the largest allowed,
    relative to the largest value."""

    name: str
    size: int
    kind: str
    bytes: int
    error: float

    @property
    def copies(self) -> int:
        """Of the data."""
        return max(1, min(MOST_COPIES, ceil(COLD_BYTES / self.bytes)))

    def made(self) -> Made:
        """Its data and ways."""
        return next(make for name, make in MAKERS.items() if self.name.startswith(name))(self)


def experiments(sizes: Sequence[int] = (), **_: Any) -> Iterator[Tutorial]:
    """All of them; sizes: in place of all."""
    wanted = sizes or sorted({*WIDTHS, *PRODUCTS})
    for n in wanted:
        if n in WIDTHS:
            yield Tutorial("softmax", n, "float32", 8 * ROWS * n, 1e-6)
        for kind, element, error in [("float32", 4, 1e-5), ("float16", 2, 2e-3)] * (
            n in WIDTHS[1:]
        ):
            yield Tutorial("layer_forward", n, kind, 2 * element * ROWS * n, error)
            yield Tutorial("layer_backward", n, kind, 3 * element * ROWS * n, error)
        for order in KINDS if n in PRODUCTS else ():
            yield Tutorial(f"matmul_{order}", n, "float16", 6 * n * n, 1e-3)
            if n >= 1024:
                yield Tutorial(f"matmul_{order}", n, "float8_e5m2", 4 * n * n, 2e-2)
        if n in GROUPED:
            yield Tutorial("grouped_gemm", n, "float16", 24 * n * n, 1e-3)


# -- kernels -------------------------------------------------------------------------------------


@cache
def module(path: Path) -> ModuleType:
    """A file of kernels."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def theirs() -> ModuleType:
    """The tutorials' kernels."""
    return module(HERE / "baselines" / "tutorials.py")


def ours(name: str) -> ModuleType:
    """An example's kernels."""
    return module(EXAMPLES / f"triton_{name}" / "kernel.py")


def power_of_two(n: int) -> int:
    """The next."""
    return 1 << (n - 1).bit_length()


def warps_of(block: int) -> int:
    """The tutorial's, of a row's block."""
    return min(max(block // 256, 1), 8)


# -- softmax, layer norm -------------------------------------------------------------------------


def random(kind: str, *shape: int) -> Any:
    """Normally distributed."""
    import torch

    of = torch.float16 if kind == "float8_e5m2" else getattr(torch, kind)
    return torch.randn(shape, dtype=of, device="cuda").to(getattr(torch, kind))


def empty(kind: str, *shape: int) -> Any:
    """To be written."""
    import torch

    return torch.empty(shape, dtype=getattr(torch, kind), device="cuda")


def softmax(of: Tutorial) -> Made:
    """Rows of float32."""
    import torch

    n, each = of.size, range(of.copies)
    x = [random(of.kind, ROWS, n) for _ in each]
    y = [empty(of.kind, ROWS, n) for _ in each]
    block, kernel = power_of_two(n), theirs().softmax
    tuned = {"BLOCK": block, "STAGES": 4, "num_warps": 8}

    def persistent(k: int, programs: int) -> Any:
        return kernel[(programs,)](y[k], x[k], n, n, ROWS, n, **tuned)

    probe = persistent(0, 1)
    most = torch.cuda.get_device_properties(0)
    residents = 65536 // (probe.n_regs * 32 * 8)
    if probe.metadata.shared:
        residents = min(residents, most.shared_memory_per_multiprocessor // probe.metadata.shared)
    programs = min(ROWS, most.multi_processor_count * residents)
    own, warps = ours("softmax").softmax, 4 if n <= 1024 else 8

    def rendered(k: int) -> Any:
        return [own[(ROWS,)](x[k], y[k], ROWS, n, BLOCK=block, num_warps=warps)]

    def library(k: int) -> Any:
        torch.ops.aten._softmax.out(x[k], 1, False, out=y[k])

    runs = {"ours": rendered, "tutorial": lambda k: [persistent(k, programs)], "torch": library}
    ways = [Way(name, {"": run}, lambda k: [y[k]]) for name, run in runs.items()]
    return Made(ways, lambda k: [torch.softmax(x[k].double(), 1)])


class Layer:
    """What layer norm reads: a copy's rows, their gradients, weight and bias."""

    def __init__(self, of: Tutorial):
        n, each = of.size, range(of.copies)
        self.x = [random(of.kind, ROWS, n) for _ in each]
        self.weight, self.bias = random(of.kind, n), random(of.kind, n)

    def reference(self, k: int) -> tuple[Any, ...]:
        """In float64: the normalized rows, the means and the inverse deviations."""
        x = self.x[k].double()
        mean = x.mean(1)
        rstd = (x.var(1, correction=0) + EPS).rsqrt()
        return (x - mean[:, None]) * rstd[:, None], mean, rstd


def layer_forward(of: Tutorial) -> Made:
    """Rows of one block."""
    import torch

    given, n, each = Layer(of), of.size, range(of.copies)
    y = [empty(of.kind, ROWS, n) for _ in each]
    mean, rstd = empty("float32", ROWS), empty("float32", ROWS)
    block = min(65536 // y[0].element_size(), power_of_two(n))
    own, other, made = ours("layernorm").layer_norm_forward, theirs().layer_norm_forward, {}

    def rendered(k: int) -> Any:
        read = given.x[k], y[k], given.weight, given.bias, mean, rstd
        return [own[(ROWS,)](*read, ROWS, n, EPS, B=block, num_warps=warps_of(block))]

    def tutorial(k: int) -> Any:
        read = given.x[k], y[k], given.weight, given.bias, mean, rstd
        return [other[(ROWS,)](*read, n, n, EPS, BLOCK=block, num_warps=warps_of(block))]

    def library(k: int) -> Any:
        made[k] = torch.native_layer_norm(given.x[k], [n], given.weight, given.bias, EPS)

    def wanted(k: int) -> Sequence[Any]:
        normal, *rest = given.reference(k)
        return [normal * given.weight.double() + given.bias.double(), *rest]

    ways = [
        Way(name, {"": run}, lambda k: [y[k], mean, rstd])
        for name, run in [("ours", rendered), ("tutorial", tutorial)]
    ]

    def results(k: int) -> Sequence[Any]:
        return [made[k][0], *(t[:, 0] for t in made[k][1:])]

    return Made([*ways, Way("torch", {"": library}, results, is_poisoned=False)], wanted)


def groups_of(n: int) -> int:
    """In which the tutorial adds up gradients."""
    return next(
        (groups for most, groups in ((1024, 256), (4096, 128), (8192, 96)) if n <= most), 64
    )


def layer_backward(of: Tutorial) -> Made:
    """The gradients of rows, weight and bias, of means that are given."""
    import torch

    given, n, each = Layer(of), of.size, range(of.copies)
    groups, block = groups_of(n), power_of_two(n)
    dy, dx = [random(of.kind, ROWS, n) for _ in each], [empty(of.kind, ROWS, n) for _ in each]
    means = [[t.float() for t in given.reference(k)[1:]] for k in each]
    d_weight, d_bias = empty(of.kind, n), empty(of.kind, n)
    parts = [empty("float32", max(groups, *(one["PARTS"] for one in PARTS)), n) for _ in range(2)]
    their_parts = [empty(of.kind, groups, n) for _ in range(2)]
    locks = torch.zeros(2 * groups, dtype=torch.int32, device="cuda")
    own, other, made = ours("layernorm"), theirs(), {}

    def rendered(k: int, one: Config) -> Any:
        count = one["PARTS"]
        first = own.layer_norm_backward[(count,)](
            dx[k], dy[k], given.x[k], given.weight, *means[k], *parts, ROWS, n, count,
            BLOCK=block, num_warps=one["num_warps"],
        )  # fmt: skip
        second = own.layer_norm_gradients[(n // 32,)](
            d_weight, d_bias, *parts, n, count, B=32, BP=128 if count % 128 == 0 else 32
        )
        return [first, second]

    def tutorial(k: int) -> Any:
        locks.zero_()
        first = other.layer_norm_backward[(ROWS,)](
            dx[k], dy[k], *their_parts, given.x[k], given.weight, *means[k], locks, n, n,
            GROUPS=groups, BLOCK=block, num_warps=warps_of(block),
        )  # fmt: skip
        second = other.layer_norm_gradients[(n // 128,)](
            *their_parts, d_weight, d_bias, groups, n, BM=32, BN=128
        )
        return [first, second]

    def library(k: int) -> Any:
        made[k] = torch.ops.aten.native_layer_norm_backward(
            dy[k],
            given.x[k],
            [n],
            *(t[:, None] for t in means[k]),
            given.weight,
            given.bias,
            [True] * 3,
        )

    def wanted(k: int) -> Sequence[Any]:
        normal, _, rstd = given.reference(k)
        d = dy[k].double()
        wd = d * given.weight.double()
        along = (wd * normal).mean(1, keepdim=True)
        rows = (wd - normal * along - wd.mean(1, keepdim=True)) * rstd[:, None]
        return [rows, (d * normal).sum(0), d.sum(0)]

    tried = [{"PARTS": groups, "num_warps": warps_of(block)}, *PARTS]
    runs: dict[str, Mapping[str, Run]] = {
        "ours": {told(one): partial(rendered, one=one) for one in tried},
        "tutorial": {"": tutorial},
    }
    ways = [Way(name, run, lambda k: [dx[k], d_weight, d_bias]) for name, run in runs.items()]
    allowed = {} if of.kind == "float32" else {"tutorial": 2e-2}  # its parts are of float16
    library_way = Way("torch", {"": library}, lambda k: made[k], is_poisoned=False)
    return Made([*ways, library_way], wanted, allowed)


# -- products ------------------------------------------------------------------------------------


def told(one: Config) -> str:
    """A configuration as text."""
    return " ".join(map(str, one.values()))


def matmul(of: Tutorial) -> Made:
    """Of two matrices, each by rows (n) or by columns (t)."""
    import torch

    n, each, order = of.size, range(of.copies), of.name[-2:]
    pairs = [[random(of.kind, n, n) for _ in "ab"] for _ in each]  # as they lie in memory
    views = [[x if by == "n" else x.T for x, by in zip(pair, order, strict=True)] for pair in pairs]
    c = [empty("float16", n, n) for _ in each]
    own, other = ours("matmul").matmul, theirs().matmul
    by_columns = {"TA": order[0] == "t", "TB": order[1] == "t"}
    fitting = [
        one for one in CONFIGS[of.kind] if n % one["BM"] == n % one["BN"] == n % one["BK"] == 0
    ]

    def rendered(k: int, one: Config) -> Any:
        grid = (n // one["BM"] * (n // one["BN"]),)
        return [own[grid](*pairs[k], c[k], n, n, n, GROUP=8, **by_columns, **one)]

    def tutorial(k: int, one: Config, is_masked: bool) -> Any:
        grid = (n // one["BM"] * (n // one["BN"]),)
        strides = [s for x in (*views[k], c[k]) for s in x.stride()]
        return [other[grid](*pairs[k], c[k], n, n, n, *strides, GROUP=8, MASKED=is_masked, **one)]

    def library(k: int) -> Any:
        torch.mm(*views[k], out=c[k])

    runs: dict[str, Mapping[str, Run]] = {
        "ours": {told(one): partial(rendered, one=one) for one in fitting},
        "tutorial": {told(one): partial(tutorial, one=one, is_masked=True) for one in fitting},
        "tutorial_unmasked": {
            told(one): partial(tutorial, one=one, is_masked=False) for one in fitting
        },
    }
    if of.kind == "float16":
        runs["torch"] = {"": library}
    ways = [Way(name, run, lambda k: [c[k]]) for name, run in runs.items()]
    return Made(ways, lambda k: [views[k][0].float() @ views[k][1].float()])


def grouped(of: Tutorial) -> Made:
    """Four products of one size in a launch."""
    import torch

    n, each = of.size, range(of.copies)
    a, b = ([[random(of.kind, n, n) for _ in range(4)] for _ in each] for _ in "ab")
    c = [[empty(of.kind, n, n) for _ in range(4)] for _ in each]
    pointers = [
        [torch.tensor([t.data_ptr() for t in x[k]], device="cuda") for x in (a, b, c)] for k in each
    ]
    sizes = torch.full((4, 3), n, dtype=torch.int32, device="cuda")
    strides = sizes.clone()
    own, other = ours("grouped_gemm").grouped_gemm, theirs().grouped_gemm

    def rendered(k: int, one: Config) -> Any:
        rest = {name: value for name, value in one.items() if name != "PROGRAMS"}
        return [own[(one["PROGRAMS"],)](*pointers[k], sizes, 4, **rest)]

    def tutorial(k: int, one: Config) -> Any:
        return [other[(one["PROGRAMS"],)](*pointers[k], sizes, strides, 4, **one)]

    def library(k: int) -> Any:
        for x, y, z in zip(a[k], b[k], c[k], strict=True):
            torch.mm(x, y, out=z)

    runs: dict[str, Mapping[str, Run]] = {
        name: {told(one): partial(run, one=one) for one in CONFIGS["grouped"]}
        for name, run in [("ours", rendered), ("tutorial", tutorial)]
    }
    runs["torch"] = {"": library}
    ways = [Way(name, run, lambda k: c[k]) for name, run in runs.items()]
    return Made(ways, lambda k: [x.float() @ y.float() for x, y in zip(a[k], b[k], strict=True)])


MAKERS: Mapping[str, Callable[[Tutorial], Made]] = {
    "softmax": softmax,
    "layer_forward": layer_forward,
    "layer_backward": layer_backward,
    "matmul": matmul,
    "grouped_gemm": grouped,
}


# -- compared and timed --------------------------------------------------------------------------


def error_of(of: Tutorial, wanted: Callable[[int], Sequence[Any]], way: Way, run: Run) -> float:
    """The largest of all copies, relative to the largest value; infinite where a NaN is left."""
    import torch

    most = 0.0
    for k in range(of.copies):
        if way.is_poisoned:
            for one in way.results(k):
                one.fill_(float("nan"))
        run(k)
        torch.cuda.synchronize()
        for got, right in zip(way.results(k), wanted(k), strict=True):
            error = ((got.to(right.dtype) - right).abs().max() / right.abs().max()).item()
            most = max(most, error) if error == error else float("inf")
    return most


@dataclass
class Tried:
    """A way in a configuration, and the times by which it is chosen."""

    way: str
    config: str
    graph: Any
    error: float
    registers: int | None
    ms: list[float] = field(default_factory=list)


class Timed:
    """A GPU's stream, its flush and its clock."""

    def __init__(self, gpu: Any):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = False
        torch.manual_seed(0)
        self.torch, self.gpu = torch, gpu
        self.words = torch.empty(L2_WORDS, dtype=torch.int32, device="cuda")
        self.start, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def graph(self, of: Tutorial, run: Run) -> Any:
        """A launch on each copy."""
        made = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(made):
            for k in range(of.copies):
                run(k)
        return made

    def ms(self, of: Tutorial, graph: Any) -> float:
        """Of a launch."""
        self.words.fill_(1)
        self.start.record()
        graph.replay()
        self.end.record()
        self.end.synchronize()
        return self.start.elapsed_time(self.end) / of.copies

    def rows(self, of: Tutorial, _: Path, seconds: float, most: int) -> list[dict[str, Any]]:
        """A row for each way, in its fastest configuration without local memory. Exits where a result is wrong; raises
        LocalMemoryError where each configuration has local memory."""
        made = of.made()  # whose memory the graphs do not hold
        chosen, rows = self.chosen(of, made), []
        for one in chosen:
            row: dict[str, Any] = {"experiment": of.name, "size": of.size, "type": of.kind}
            row |= {"way": one.way, "ms": [], "registers": one.registers, "local_bytes": 0}
            row |= {"mhz": [], "watt": [], "max_error": one.error, "device": self.gpu.name}
            rows.append(row | {"config": one.config, "launches": of.copies})
        begun, count = time.perf_counter(), len(rows)
        for number in range(most):
            for k in range(count):
                now = (number + k) % count
                rows[now]["ms"].append(self.ms(of, chosen[now].graph))
                rows[now]["mhz"].append(self.gpu.clock())
                rows[now]["watt"].append(self.gpu.power())
            spent = time.perf_counter() - begun
            if spent + spent / (number + 1) > seconds:
                break
        return rows

    def chosen(self, of: Tutorial, made: Made) -> list[Tried]:
        """The fastest configuration of each way, of those without local memory, which take turns."""
        tried: dict[str, list[Tried]] = {}
        wanted = cache(made.wanted)
        for way in made.ways:
            tried[way.name] = []
            for name, run in way.runs.items():
                error, kernels = error_of(of, wanted, way, run), run(0) or []
                if not error <= made.allowed.get(way.name, of.error):
                    place = f"{of.name} {of.kind} {of.size}, {way.name} {name}"
                    raise SystemExit(f"{place}: wrong by {error:.1e}")
                if any(kernel.n_spills for kernel in kernels):
                    continue
                registers = max((kernel.n_regs for kernel in kernels), default=None)
                tried[way.name].append(Tried(way.name, name, self.graph(of, run), error, registers))
            if not tried[way.name]:
                raise LocalMemoryError(f"{of.name} {of.kind} {of.size}, {way.name}: local memory")
        every = [one for ones in tried.values() for one in ones]
        for _ in range(CHOSEN_BY if len(every) > len(tried) else 0):
            for one in every:
                one.ms.append(self.ms(of, one.graph))
        return [min(ones, key=lambda one: median(one.ms or [0.0])) for ones in tried.values()]


def compile_one(of: Tutorial) -> str:
    """Every configuration of an experiment runs once: Triton keeps what it compiles."""
    import torch

    torch.manual_seed(0)
    for way in of.made().ways:
        for run in way.runs.values():
            run(0)
    torch.cuda.synchronize()
    return of.name


def compile_all(found: Sequence[Tutorial], folder: Path) -> int:
    """Compiles all kernels into a folder, several at a time; how many experiments there were. Sizes
    of products are arguments, so that one size stands for all."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
    few: dict[Any, Tutorial] = {}
    for one in sorted(found, key=lambda one: one.size):
        of_all = one.name.startswith(("matmul", "grouped"))
        if not of_all or one.size >= 256:
            few.setdefault((one.name, one.kind, None if of_all else one.size), one)
    with ProcessPoolExecutor(min(12, len(few)), mp_context=get_context("spawn")) as pool:
        return len([*pool.map(compile_one, few.values())])
