"""What the layouts of a kernel say of its counters: wavefronts of shared memory, by bank_conflicts, and
sectors of global memory, where each warp reads and writes whole ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from ways import EXAMPLES, Launch, Way

LANES = 32
SECTOR = 32  # bytes
FLOAT = 4

Counts = dict[str, int]
Access = Callable[
    [int], "tuple[int, ...] | None"
]  # of a lane: coordinates, or none where it is off


@dataclass
class Shared:
    """Wavefronts of loads and stores, summed access by access."""

    loads: int = 0
    stores: int = 0

    def load(self, memory: Any, access: Access, registers: int = 1, times: int = 1) -> None:
        """A warp reads `registers` neighbors a lane, so many times."""
        self.loads += times * _wavefronts(memory, access, registers, False)

    def store(self, memory: Any, access: Access, times: int = 1) -> None:
        """A warp writes, so many times."""
        self.stores += times * _wavefronts(memory, access, 1, True)

    def counts(self, blocks: int) -> Counts:
        """Of so many blocks alike."""
        return {"shared_loads": blocks * self.loads, "shared_stores": blocks * self.stores}


def _wavefronts(memory: Any, access: Access, registers: int, write: bool) -> int:
    from lego_emit import bank_conflicts

    if all(access(lane) is None for lane in range(LANES)):
        return 0

    def touched(lane: int, register: int) -> tuple[int, ...] | None:
        at = access(lane)
        return None if at is None else (*at[:-1], at[-1] + register)

    found = bank_conflicts(memory, touched, FLOAT, write=write, registers=registers)
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


def predictions(part: str, n: int, way: Way) -> Iterator[tuple[str, int]]:
    """Counters and what they shall be; none where nothing is said of a way."""
    if part == "transposition":
        yield from transposition(n, way).items()
    elif part == "needleman_wunsch" and way.is_ours:
        yield from needleman_wunsch(n, way).items()
    elif part == "lud" and way.is_ours:
        yield from lud(n, way).items()
