"""The puzzles against NumPy, in one of five ways."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import layouts
import numpy as np
from layouts import T

from lego_emit import render
from lego_emit.algebra.block import Block

HERE = Path(__file__).parent
LAYOUTS = {name: value for name, value in vars(layouts).items() if isinstance(value, Block)}
RNG = np.random.default_rng(1)


@dataclass(frozen=True)
class Puzzle:
    """A kernel's arguments, and what it has to write. grid, block: as CUDA has them, x first."""

    name: str
    given: tuple[np.ndarray, ...]
    wanted: np.ndarray
    sizes: Mapping[str, int]
    grid: tuple[int, int]
    block: tuple[int, int]

    def out(self) -> np.ndarray:
        """Memory for the output, of which nothing is written yet."""
        return np.full(self.wanted.size, np.nan, np.float32)


def random(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 9, shape).astype(np.float32)


def by_tiles(x: np.ndarray) -> np.ndarray:
    m, n = x.shape
    return x.reshape(m // T, T, n // T, T).swapaxes(1, 2)


def puzzles() -> Iterator[Puzzle]:
    """All eight. Numbers are whole, so that every order of a sum gives the same."""

    def square(m: int, n: int) -> tuple[tuple[int, int], tuple[int, int]]:
        return (-(-n // T), -(-m // T)), (T, T)

    m, n = 13, 21
    a, b, c = random(m, n), random(m), random(n)
    sizes = {"M": m, "N": n}
    yield Puzzle("map_2d", (a.ravel("F"),), a + 10, sizes, *square(m, n))
    yield Puzzle("broadcast", (b, c), (b[:, None] + c).T, sizes, *square(m, n))
    m, n, k = 2 * T, 3 * T, 4 * T
    a, sizes = random(m, n), {"M": m, "N": n}
    yield Puzzle("blocks_2d", (a,), by_tiles(a) + 10, sizes, *square(m, n))
    yield Puzzle("shared_tile", (a,), a.T, sizes, *square(m, n))
    v, w = random(n), random(4)
    line = (n // T, 1), (T, 1)
    before = np.concatenate([np.zeros(2, np.float32), v])
    yield Puzzle("pooling", (v,), before[:-2] + before[1:-1] + v, {"N": n}, *line)
    behind = np.concatenate([v, np.zeros(3, np.float32)])
    summed = sum(w[k] * behind[k : k + n] for k in range(4))
    yield Puzzle("convolution", (v, w), np.asarray(summed), {"N": n}, *line)
    yield Puzzle("axis_sum", (a.ravel("F"),), a.sum(axis=1), sizes, (m, 1), (T, 1))
    a, b = random(m, k), random(k, n)
    sizes = {"M": m, "N": n, "K": k}
    yield Puzzle("matmul", (a, b.ravel("F")), by_tiles(a @ b), sizes, *square(m, n))


def text(language: str, suffix: str) -> str:
    """The puzzles in a language, from its template."""
    path = HERE / f"kernels.{suffix}.j2"
    return str(render(path, language, index_type="int32", T=T, **LAYOUTS))


Run = Callable[[Puzzle], np.ndarray]  # of the output's memory


def in_numba() -> Run:
    """Numba's simulator of CUDA."""
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported
    import numba_kernels

    def run(puzzle: Puzzle) -> np.ndarray:
        kernel, out = getattr(numba_kernels, puzzle.name), puzzle.out()
        kernel[puzzle.grid, puzzle.block](
            *(x.ravel() for x in puzzle.given), out, *puzzle.sizes.values()
        )
        return out

    return run


def in_cuda() -> Run:
    """CUDA C++ as host code."""
    sys.path.append(str(HERE.parent / "kernels"))
    from harness import Host

    folder = tempfile.TemporaryDirectory()
    host = Host(text("cuda", "cu"), HERE, Path(folder.name))

    def run(puzzle: Puzzle) -> np.ndarray:
        out, sizes = puzzle.out(), map(np.int32, puzzle.sizes.values())
        host.launch(puzzle.name, puzzle.grid, puzzle.block, *puzzle.given, out, *sizes)
        return out

    folder.cleanup()  # the library is loaded
    return run


def in_opencl() -> Run:
    """OpenCL C, by pocl where there is no GPU."""
    import pyopencl as cl

    context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, text("opencl", "cl")).build(["-cl-std=CL1.2", "-Werror"])

    def run(puzzle: Puzzle) -> np.ndarray:
        out, flags = puzzle.out(), cl.mem_flags
        copied = flags.READ_WRITE | flags.COPY_HOST_PTR
        held = [cl.Buffer(context, copied, hostbuf=x) for x in (*puzzle.given, out)]
        items = tuple(g * b for g, b in zip(puzzle.grid, puzzle.block, strict=True))
        kernel = cl.Kernel(program, puzzle.name)
        kernel(queue, items, puzzle.block, *held, *map(np.int32, puzzle.sizes.values()))
        cl.enqueue_copy(queue, out, held[-1])
        return out

    return run


def in_wgsl() -> Run:
    """WGSL, by Mesa's lavapipe where there is no GPU."""
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    import wgpu

    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    module = device.create_shader_module(code=text("wgsl", "wgsl"))

    def run(puzzle: Puzzle) -> np.ndarray:
        out = puzzle.out()
        sizes = np.array([puzzle.sizes.get(name, 0) for name in "MNK"], np.int32)
        usages = ["STORAGE|COPY_SRC", "UNIFORM", *["STORAGE"] * len(puzzle.given)]
        held = [
            device.create_buffer_with_data(data=np.ascontiguousarray(x), usage=usage)
            for x, usage in zip((out, sizes, *puzzle.given), usages, strict=True)
        ]
        pipeline = device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": puzzle.name}
        )
        unused = {1} if puzzle.name == "pooling" else set()
        bound = [
            {"binding": k, "resource": {"buffer": x}} for k, x in enumerate(held) if k not in unused
        ]
        group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=bound)
        encoder = device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*puzzle.grid)
        work.end()
        device.queue.submit([encoder.finish()])
        return np.frombuffer(device.queue.read_buffer(held[0]), np.float32)

    return run


def in_triton() -> Run:
    """Triton's interpreter."""
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
    import triton_kernels

    from lego_emit.targets.triton import Tensor

    def run(puzzle: Puzzle) -> np.ndarray:
        kernel, out = getattr(triton_kernels, puzzle.name), puzzle.out()
        given: list[Any] = [Tensor(x) for x in (*puzzle.given, out)]
        kernel[puzzle.grid](*given, *puzzle.sizes.values(), T)
        return out

    return run


WAYS = {
    "numba": in_numba,
    "cuda": in_cuda,
    "opencl": in_opencl,
    "wgsl": in_wgsl,
    "triton": in_triton,
}


def main() -> None:
    """Says of each puzzle whether it is right; exits with 1 where one is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=WAYS)
    run, right = WAYS[parser.parse_args().way](), True
    for puzzle in puzzles():
        is_right = np.array_equal(run(puzzle), puzzle.wanted.ravel())
        print(puzzle.name, "right" if is_right else "wrong", flush=True)
        right &= is_right
    sys.exit(not right)


if __name__ == "__main__":
    main()
