"""What the layouts of a kernel say of its counters: wavefronts of shared memory, by bank_conflicts, and
sectors of global memory, where each warp reads and writes whole ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from ways import EXAMPLES, Launch, Way

LANES = 32
SECTOR = 32  # bytes
FLOAT, HALF = 4, 2

Counts = dict[str, int]
Access = Callable[
    [int], "tuple[int, ...] | None"
]  # of a lane: coordinates, or none where it is off


@dataclass
class Shared:
    """Wavefronts of loads, of ldmatrix and of stores, summed access by access."""

    loads: int = 0
    matrices: int = 0
    stores: int = 0

    def load(
        self, memory: Any, access: Access, registers: int = 1, times: int = 1, **how: Any
    ) -> None:
        """A warp reads `registers` neighbors a lane, so many times. how: the bytes of an `element`, and the axis
        `along` which neighbors lie."""
        self.loads += times * _wavefronts(memory, access, registers, write=False, **how)

    def load_matrices(self, memory: Any, access: Access, times: int, along: int = -1) -> None:
        """A warp reads by ldmatrix, 16 bytes where a lane points."""
        found = _wavefronts(memory, access, 16 // HALF, HALF, along, write=False)
        self.matrices += times * found

    def store(
        self, memory: Any, access: Access, registers: int = 1, times: int = 1, **how: Any
    ) -> None:
        """A warp writes, so many times."""
        self.stores += times * _wavefronts(memory, access, registers, write=True, **how)

    def counts(self, blocks: int) -> Counts:
        """Of so many blocks alike."""
        found = {"shared_loads": blocks * self.loads, "shared_stores": blocks * self.stores}
        return found | ({"shared_matrices": blocks * self.matrices} if self.matrices else {})


def _wavefronts(
    memory: Any,
    access: Access,
    registers: int,
    element: int = FLOAT,
    along: int = -1,
    *,
    write: bool,
) -> int:
    from lego_emit import bank_conflicts

    if all(access(lane) is None for lane in range(LANES)):
        return 0

    def touched(lane: int, register: int) -> tuple[int, ...] | None:
        at = access(lane)
        if at is None:
            return None
        axis = along % len(at)
        return (*at[:axis], at[axis] + register, *at[axis + 1 :])

    found = bank_conflicts(memory, touched, element, write=write, registers=registers)
    return found.wavefronts


def layouts_of(folder: str) -> dict[str, Any]:
    """The names of examples/kernels/FOLDER/layouts.py."""
    from lego_emit.project.loading import user_file

    with user_file(str(EXAMPLES / folder / "layouts.py")) as defined:
        return dict(defined)


def transposition(n: int, way: Way) -> Counts:
    """Of ours through shared memory, of its two baselines, and of the naive kernels' sectors."""
    whole = n * n * FLOAT // SECTOR
    (step,) = way.steps
    if not isinstance(step, Launch):
        return {}
    kernel = step.kernel
    if kernel in (
        "transpose_naive",
        "sdk_naive",
    ):  # a warp writes a column: a sector for each element
        return {"global_loads": whole, "global_stores": n * n}
    sectors = {"global_loads": whole, "global_stores": whole}
    if kernel != "transpose_shared":
        accesses = (n // 32) ** 2 * 32  # a row of a tile a warp
        loads = {"sdk_padded": accesses, "sdk_coalesced": 32 * accesses}[kernel]
        return {"shared_loads": loads, "shared_stores": accesses, **sectors}
    known, found = layouts_of("transpose"), Shared()
    tile, elements, work = known["tile"], known["elements"], known["work"]
    for k in range(work.dims[0]):
        for y in range(work.dims[1]):

            def at(lane: int, k: int = k, y: int = y) -> tuple[int, int]:
                return elements.inv(work[k, y, lane, 0])

            for more in (0, 1):
                found.store(tile, lambda lane, more=more: (at(lane)[0], at(lane)[1] + more))
                found.load(tile, lambda lane, more=more: (at(lane)[1] + more, at(lane)[0]))
    return found.counts((n // known["T"]) ** 2) | sectors


def needleman_wunsch(n: int, way: Way) -> Counts:
    """Of ours, on the longest antidiagonal of tiles."""
    _, block, order = way.name.split("_", 2)
    b, known, found = int(block), layouts_of("needleman_wunsch"), Shared()
    _, pairs, _, buffer = known["layouts"](b, known[order])
    for first in range(0, b, LANES):

        def columns(
            at: Callable[[int], tuple[int, int]],
            on: Callable[[int], bool] = lambda x: True,
            first: int = first,
        ) -> Access:
            def access(lane: int) -> tuple[int, int] | None:
                x = first + lane
                return at(x) if x < b and on(x) else None

            return access

        for i in range(b):
            found.store(pairs, columns(lambda x, i=i: (i, x)))
            found.load(buffer, columns(lambda x, i=i: (i + 1, x + 1)))
        found.store(buffer, columns(lambda x: (0, 0), lambda x: x == 0))
        found.store(buffer, columns(lambda x: (0, x + 1)))
        found.store(buffer, columns(lambda x: (x + 1, 0)))
        for d in range(2, 2 * b + 1):

            def on(x: int, d: int = d) -> bool:
                return 1 <= d - x - 1 <= b

            for up, left in ((1, 0), (0, 1), (1, 1)):
                at = lambda x, d=d, up=up, left=left: (d - x - 1 - up, x + 1 - left)  # noqa: E731
                found.load(buffer, columns(at, on))
            found.load(pairs, columns(lambda x, d=d: (d - x - 2, x), on))
            found.store(buffer, columns(lambda x, d=d: (d - x - 1, x + 1), on))
    return found.counts(n // b)


def lud(n: int, way: Way) -> Counts:
    """Of our inner kernel in the first round: a lane reads four elements of a row of L at once."""
    b, factor = (int(part) for part in way.name.split("_")[1:])
    threads, known, found = b // factor, layouts_of("lud"), Shared()
    _, elements, work, tile = known["layouts"](threads, factor)
    for first in range(0, threads * threads, LANES):
        own = cache(partial(_element, elements, work, threads, first))
        for r in range(factor):
            for c in range(factor):
                found.store(tile, partial(own, r, c), times=2)
            for k in range(0, b, 4):
                found.load(tile, lambda lane, own=own, r=r, k=k: (own(r, 0, lane)[0], k), 4)
            for k in range(b):
                found.load(tile, lambda lane, own=own, c=r, k=k: (k, own(0, c, lane)[1]))
    blocks, sectors = (n // b - 1) ** 2, b * b * FLOAT // SECTOR
    whole = {"global_loads": 3 * sectors * blocks, "global_stores": sectors * blocks}
    return found.counts(blocks) | whole


def _element(elements: Any, work: Any, threads: int, first: int, r: int, c: int, lane: int) -> Any:
    y, x = divmod(first + lane, threads)
    return elements.inv(work[r, c, y, x])


def product(n: int) -> Counts:
    """Of our product of half precision by mma.sync: what ldmatrix reads, and the sums through shared memory. What
    cp.async writes is no store."""
    known, found = layouts_of("tensor_core_matmul"), Shared()
    threads = known["read_a"].dims[0]
    for first in range(0, threads, LANES):

        def part(layout: Any, *at: int, first: int = first) -> Access:
            return lambda lane: layout.apply(first + lane, 0, *at)

        for name in ("a", "b"):
            read = known[f"read_{name}"]
            for m, k in np.ndindex(*read.dims[2:]):
                at = part(read, m, k)
                found.load_matrices(known[f"shared_{name}"], at, n // known["BK"])
        for at in np.ndindex(*known["made_c"].dims[2:]):
            found.store(known["shared_c"], part(known["made_c"], *at), 2, element=HALF)
        for v in range(known["taken_c"].dims[2]):
            found.load(known["shared_c"], part(known["taken_c"], v, 0), 8, element=HALF)
    return found.counts((n // known["BM"]) * (n // known["BN"]))


def product_of_int4(way: Way) -> Counts:
    """Of ours of weights of 4 bits by mma.sync: scales, words and what ldmatrix reads of each group of K, and who
    was the last of a tile."""
    from int4 import given

    (step,) = way.steps
    _, tiles, n, k = (int(x) for x in step.arguments[-4:])
    made, found = given((tiles, n, k), *step.source.settings), Shared()
    piece, x, w, s = (made[name] for name in ("piece", "shared_x", "shared_w", "shared_s"))
    groups, blocks = made["units"].dims[2], step.grid[0]
    each, stages = made["units"].size // blocks, x.dims[2]

    def scale(lane: int, slot: int, part: int) -> tuple[int, ...]:
        return slot, part, 0, int(made["row_of"].apply(lane))

    def word(lane: int, slot: int, part: int, half: int) -> tuple[int, ...]:
        return slot, part, half, lane

    def pointed(lane: int, slot: int, i: int, j: int) -> tuple[int, ...] | None:
        row, column = made["read"].apply(lane)
        return None if lane >= 2 * x.dims[0] else (16 * i + row, 16 * j + column, slot)

    for slot in range(min(stages, each)):
        times = (each - slot - 1) // stages + 1
        for part in map(int, piece.apply(*np.indices(piece.dims)).flat):
            found.load(s, partial(scale, slot=slot, part=part), 2, times, element=HALF, along=2)
            for half in range(2):
                found.load(w, partial(word, slot=slot, part=part, half=half), 1, times, element=16)
        for i, j in np.ndindex(-(-x.dims[0] // 16), x.dims[1] // 16):
            at = partial(pointed, slot=slot, i=i, j=j)
            found.load_matrices(x, at, times * piece.dims[0], along=1)
    if each < groups:  # who was the last
        found.loads, found.stores = found.loads + piece.dims[0], found.stores + 1
    return found.counts(blocks)


def predictions(part: str, n: int, way: Way) -> Iterator[tuple[str, int]]:
    """Counters and what they shall be; none where nothing is said of a way."""
    if part == "transposition":
        yield from transposition(n, way).items()
    elif part == "needleman_wunsch" and way.is_ours:
        yield from needleman_wunsch(n, way).items()
    elif part == "lud" and way.is_ours:
        yield from lud(n, way).items()
    elif part == "gemm" and way.name == "ours_mma_sync":
        yield from product(n).items()
    elif part == "int4" and way.is_ours:
        yield from product_of_int4(way).items()
