"""The product against NumPy's in float64: by its layouts and an emulation of what the instructions do, which no
host has, and on a GPU by the kernel."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "hopper_matmul"), str(ROOT / "benchmarks" / "gpu")]  # fmt: skip
import emulated  # noqa: E402
from harness import Found, main  # noqa: E402
from int4 import GROUP, given  # noqa: E402

from lego_emit import cute  # noqa: E402

EPSILON = 2.0**-10  # of sums in half precision, and of weights in it
LANE = np.arange(32)


def matrices(sizes: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, the integers of W and its scales at random."""
    random, (m, n, k) = np.random.default_rng(8), sizes
    x = random.standard_normal((m, k)).astype(np.float16)
    scales = random.uniform(0.5, 1.5, (n, k // GROUP)).astype(np.float16)
    return x, random.integers(0, 16, (n, k)), scales


def product(x: np.ndarray, weights: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """What is wanted."""
    wide = (weights - 8.0) * scales.astype(np.float64).repeat(GROUP, 1)
    return x.astype(np.float64) @ wide.T


def pack(made: dict[str, Any], weights: np.ndarray, scales: np.ndarray) -> Any:
    """Words and scales as pack.cu.j2 makes them."""
    fields, places = made["fields"], made["scales"]
    q, g, p, h, lane, x = np.indices(made["words"].dims).reshape(6, -1)
    packed = np.zeros(fields.words(), np.uint32)
    for place in range(fields.layout.dims[-1]):
        i, j = made["packed"].apply(place, lane, x, h)
        found = weights.reshape(-1)[made["plain"].apply(q, g, p, 0, i, j)].astype(np.uint32)
        word, shift = fields.position(q, g, p, h, lane, x, place)
        packed[word] |= found << shift.astype(np.uint32)
    q, g, p, i, r = np.indices(places.dims).reshape(5, -1)
    packed_scales = np.zeros(places.physical_size, np.float16)
    at = made["plain_scales"].apply(q, g, p, 0, i, 0, r, 0)
    packed_scales[places.apply(q, g, p, i, r)] = scales.reshape(-1)[at]
    return packed.reshape(-1, 4), packed_scales


def widened(word: np.ndarray) -> np.ndarray:
    """What lop3's masks take of words: [register of 16 bits, ..], register r being 0x000f000f << 4 r."""
    pairs = [word >> np.uint32(4 * r) & np.uint32(0x000F000F) for r in range(4)]
    return np.stack(
        [half for pair in pairs for half in (pair & np.uint32(15), pair >> np.uint32(16))]
    )


def emulate(made: dict[str, Any], sizes: Any, packed: Any, x: np.ndarray) -> np.ndarray:
    """The product, a tile of c after the other, as the template orders its steps."""
    (words, scales), (m, n, k) = packed, sizes
    shared_x, shared_w, shared_s, piece = (
        made[name] for name in ("shared_x", "shared_w", "shared_s", "piece")
    )
    rows, _, stages = shared_x.dims
    map_x = cute.make_tensor_map(made["X"], shared_x, 16)
    tiles, height, groups = made["units"].dims
    there = np.zeros((height * rows, k), np.float16)  # TMA fills with zeros
    there[:m] = x
    c = np.full((height * rows, n), np.nan, np.float16)
    e = np.arange(8)[:, None]
    row, column = LANE // 4 + 8 * (e // 2 % 2), 2 * (LANE % 4) + e % 2 + 8 * (e // 4)
    slot = 0
    for q, p in np.ndindex(tiles, height):
        sums = np.zeros((made["plain"].dims[2], 16, rows))
        for g in range(groups):
            memory = np.full(2 * shared_x.physical_size, 0xFF, np.uint8)
            for i, j in map_x.boxes:
                to = 2 * shared_x.apply(i, j, slot)
                emulated.load_box(
                    memory, there.reshape(-1), map_x, to, map_x.coordinates(p, g, i, j)
                )
            seen = (by_wgmma if rows > 16 else by_ldmatrix)(made, memory, slot)
            for warp, r in np.ndindex(*piece.dims):
                part = piece.apply(warp, r)
                wide = np.zeros((16, GROUP))
                for h in range(2):
                    at = shared_w.apply(slot, part, h, LANE) - shared_w.apply(slot, 0, 0, 0)
                    four = words[made["vectors"].apply(q, g, 0, 0, 0) + at]
                    for step in range(4):
                        wide[row, 64 * h + 16 * step + column] = widened(four[:, step]) - 8.0
                at = shared_s.apply(slot, part, 0, made["row_of"].apply(LANE)) - shared_s.apply(slot, 0, 0, 0)  # fmt: skip
                both = made["scales"].apply(q, g, 0, 0, 0) + at + np.arange(2)[:, None]
                scale = np.zeros(16)
                scale[LANE // 4 + 8 * np.arange(2)[:, None]] = scales[both]
                sums[part] += scale[:, None] * (wide @ seen.T)
            slot = (slot + 1) % stages
        for (warp, r), eight, e2 in (
            (one, eight, e2)
            for one in np.ndindex(*piece.dims)
            for eight in range(rows // 8)
            for e2 in (0, 2)
        ):
            part = piece.apply(warp, r)
            i, j = made["stored"].apply(e2, LANE)
            at = made["C"].apply(p, q, eight, part, i, j)
            block = sums[part, 4 * e2 : 4 * e2 + 8, 8 * eight : 8 * eight + 8]
            held = made["rows_of_x"].apply(p, eight, i) < m
            for half in range(2):  # of a lane's register after movmatrix
                values = block[2 * (LANE % 4) + half, LANE // 4]
                c.reshape(-1)[(at + half)[held]] = values[held]
    return c[:m]


def by_ldmatrix(made: dict[str, Any], memory: np.ndarray, slot: int) -> np.ndarray:
    """x of rows x GROUP as mma.sync takes it: matrices 0 and 1 follow one another along K."""
    shared_x, read = made["shared_x"], made["read"]
    rows = shared_x.dims[0]
    seen = np.full((rows, GROUP), np.nan)
    lane = LANE[: 16 * min(rows // 8, 2)]
    for step, block in np.ndindex(GROUP // 16, -(-rows // 16)):
        i, j = read.apply(lane)
        at = shared_x.apply(16 * block + i, 16 * step + j, slot)
        r, k = lane // 8, lane % 8
        taken = emulated.halves(memory)[at[:, None] + np.arange(8)]
        to = 16 * step + 8 * (r % 2)
        seen[(16 * block + 8 * (r // 2) + k)[:, None], to[:, None] + np.arange(8)] = taken
    return seen


def by_wgmma(made: dict[str, Any], memory: np.ndarray, slot: int) -> np.ndarray:
    """x of rows x GROUP as descriptors give it."""
    shared_x = made["shared_x"]
    rows = shared_x.dims[0]
    one = cute.make_gmma_operand(shared_x, rows, 16)
    starts = [2 * one.plain.apply(0, k, slot) for k in range(0, GROUP, 16)]
    found = [emulated.operand(memory, one.descriptor.encoded(s), rows, one.major) for s in starts]
    return np.concatenate(found, axis=1)


CASES = {
    (3, 448, 256): ((8, 224), 1, 3),
    (21, 256, 256): ((16, 128), 2, 2),
    (70, 256, 256): ((40, 256), 2, 2),
}


def check(sizes: Any) -> Iterator[Found]:
    """By the emulation, under the setting of CASES."""
    (m, n, k), setting = sizes, CASES[sizes]
    made = given((-(-m // setting[0][0]), n, k), *setting)
    x, weights, scales = matrices(sizes)
    c = emulate(made, sizes, pack(made, weights, scales), x)
    yield Found.of("matmul", f"{m} x {n} x {k}", c, product(x, weights, scales), EPSILON)


def check_on_gpu(sizes: Any, folder: Path) -> Iterator[tuple[Found, str]]:
    """By the kernel."""
    from driver import Gpu
    from int4 import experiment, setting
    from measured import GpuMachine
    from ways import build, prepared

    m, n, _ = sizes
    one = experiment(sizes, [setting(m, n)], torch=False)
    machine = GpuMachine(Gpu(), {s: build(s, folder).cubin for s in one.kernels()})
    prepared(machine, one)
    machine.do(one.ways[0].steps)
    c = machine.download("c").view(np.float16).reshape(m, n)
    wanted = machine.download("wanted").reshape(m, n)
    yield Found.of("matmul", " x ".join(map(str, sizes)), c, wanted, EPSILON), machine.name


def checked(folder: Path, check: Any, on_gpu: bool) -> Iterator[tuple[Found, str]]:
    """What is found, and where."""
    if on_gpu:
        with tempfile.TemporaryDirectory() as name:
            for m in (1, 16, 61, 130):
                yield from check_on_gpu((m, 28672, 1024), Path(name))
    else:
        for sizes in CASES:
            yield from ((found, "emulated") for found in check(sizes))


if __name__ == "__main__":
    main(check, __file__, checked)
