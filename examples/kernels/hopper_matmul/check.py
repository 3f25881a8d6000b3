"""The product against NumPy's in float64: on a GPU by the kernel, else by its layouts and an emulation of
what TMA and wgmma do, which no host runs."""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(HERE.parents[2] / "benchmarks" / "gpu")]
import emulated  # noqa: E402
from harness import Found, kernel_text, main  # noqa: E402

from lego_emit import cute  # noqa: E402
from lego_emit.project.loading import user_file  # noqa: E402

NAMES = "A B C shared_a shared_b shared_c programs held".split()
EPSILON = float(np.finfo(np.float16).eps)


def loaded(sizes: Any, *settings: Any) -> dict[str, Any]:
    """The layouts of layouts.py by name, for matrices of these sizes."""
    with user_file(str(HERE / "layouts.py")) as defined:
        made = defined["layouts"](*sizes, *settings)
        return {"sums": defined["sums"], **dict(zip(NAMES, made, strict=True))}


def maps_of(given: dict[str, Any]) -> list[Any]:
    """The tensor maps of A, B and C."""
    return [cute.make_tensor_map(given[x], given[f"shared_{x.lower()}"], 16) for x in "ABC"]


def matrices(sizes: Any, majors: str = "KK") -> tuple[np.ndarray, np.ndarray]:
    """A and B at random, as they lie in memory."""
    random, (m, n, k) = np.random.default_rng(6), sizes
    whole = [random.standard_normal((rows, k)).astype(np.float16) for rows in (m, n)]
    return tuple(x if major == "K" else x.T.copy() for x, major in zip(whole, majors, strict=True))  # pyright: ignore


def product(a: np.ndarray, b: np.ndarray, majors: str = "KK") -> np.ndarray:
    """What is wanted."""
    a, b = (x if major == "K" else x.T for x, major in zip((a, b), majors, strict=True))
    return a.astype(np.float64) @ b.astype(np.float64).T


def emulate(given: dict[str, Any], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product, a tile of C after the other, as the template orders its steps."""
    shared, programs, held = [given[f"shared_{x}"] for x in "abc"], given["programs"], given["held"]
    maps, C = maps_of(given), given["C"]
    starts = np.cumsum([0, *(2 * one.physical_size for one in shared)]).tolist()
    memory = np.full(starts[-1], 0xFF, np.uint8)
    c = np.full(C.physical_size, np.nan, np.float16)
    columns, depth, stages = shared[1].dims
    groups, parts, rows = C.dims[2:5]
    operands = [
        cute.make_gmma_operand(t, n, 16) for t, n in zip(shared, (rows, columns), strict=False)
    ]
    majors = [one.major for one in operands]
    register, lane, warp = np.ix_(np.arange(held.dims[1]), np.arange(32), np.arange(4))
    slot = 0
    for tile in range(programs.size):
        p, q = programs.inv(tile)
        d = np.zeros((groups, rows, columns))
        for s in range(given["A"].dims[1]):
            for x, (tensor, at) in enumerate(((a, p), (b, q))):
                for i, j in maps[x].boxes:
                    to = starts[x] + 2 * shared[x].apply(i, j, slot)
                    emulated.load_box(
                        memory, tensor.reshape(-1), maps[x], to, maps[x].coordinates(at, s, i, j)
                    )
            for w in range(groups):
                for k in range(0, depth, 16):
                    read = []
                    for x, (one, n, at) in enumerate(
                        zip(operands, (rows, columns), (rows * w, 0), strict=True)
                    ):
                        start = starts[x] + 2 * one.plain.apply(at, k, slot)
                        read.append(
                            emulated.operand(memory, one.descriptor.encoded(start), n, majors[x])
                        )
                    d[w] += read[0] @ read[1].T
            slot = (slot + 1) % stages
        for w in range(groups):
            values = emulated.fragment(d[w])
            for n in range(parts):
                i, j = given["sums"].apply(register, lane, warp)
                places = starts[2] // 2 + shared[2].apply(i, j, w)
                emulated.halves(memory)[places] = values[held.apply(n, register.reshape(-1))]
                for i, j in maps[2].boxes:
                    start = starts[2] + 2 * shared[2].apply(i, j, w)
                    emulated.store_box(
                        memory, c, maps[2], start, maps[2].coordinates(p, q, w, n, i, j)
                    )
    return c.reshape(a.shape[0] if majors[0] == "K" else a.shape[1], -1)


def check(sizes: Any) -> Iterator[Found]:
    """By the emulation."""
    a, b = matrices(sizes)
    c = emulate(loaded(sizes), a, b)
    yield Found.of("matmul", " x ".join(map(str, sizes)), c, product(a, b), EPSILON)


def check_on_gpu(sizes: Any, folder: Path) -> Iterator[tuple[Found, str]]:
    """By the kernel."""
    from driver import Gpu
    from gemm import launch, source
    from measured import GpuMachine
    from ways import Source, build

    m, n, k = sizes
    text = folder / "kernel.cu"
    text.write_text(kernel_text(HERE))
    made = build(Source("matmul", text, arch="90a"), folder)
    machine = GpuMachine(Gpu(), {made.source: made.cubin})
    a, b = matrices(sizes)
    held = {"a": a, "b": b, "c": np.full((m, n), np.nan, np.float16)}
    machine.hold({name: (x.size, np.uint16) for name, x in held.items()})
    for name, x in held.items():
        machine.upload(name, x.reshape(-1).view(np.uint16))
    step = launch(source("f16", "KK"), sizes)
    machine.do([replace(step, source=made.source)])
    c = machine.download("c").view(np.float16).reshape(m, n)
    yield Found.of("matmul", f"{m} x {n} x {k}", c, product(a, b), EPSILON), machine.name


def checked(folder: Path, check: Any, on_gpu: bool) -> Iterator[tuple[Found, str]]:
    """What is found, and where."""
    if on_gpu:
        with tempfile.TemporaryDirectory() as name:
            yield from check_on_gpu((2048, 4096, 1024), Path(name))
    else:
        yield from ((found, "emulated") for found in check((256, 512, 384)))


if __name__ == "__main__":
    main(check, __file__, checked)
