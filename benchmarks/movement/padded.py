"""The conversion through padded shared memory, as one writes it by hand: row-major, each side with the
widest vectors that its own order of registers allows, the padding under which the fewest wavefronts
are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from device import Case

from lego_emit import Linear, Strided, bank_conflicts, generate
from lego_emit.algebra import f2
from lego_emit.movement.linear_access import split, vector_bits

KINDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2", 16: "uint4"}


@dataclass(frozen=True)
class Padded:
    """Rows of `columns` elements, each `pitch` apart; pairs of one dimension have rows of a power of
    two that fills the banks."""

    pair: Case
    columns: int
    pitch: int

    @property
    def bytes(self) -> int:
        """Of shared memory."""
        return self.pair.start.physical_size // self.columns * self.pitch * self.pair.element_bytes


def padded(pair: Case) -> Padded:
    """The best padding of a pair."""
    sizes = pair.start.physical_dims
    columns = (
        sizes[-1]
        if len(sizes) > 1
        else min(pair.start.physical_size, max(32, 128 // pair.element_bytes))
    )
    widest = max(1 << vector(x, pair, columns) for x in (pair.start, pair.end))
    word = max(1, 4 // pair.element_bytes)
    paddings = {0, max(word, widest), 2 * max(word, widest), 4 * max(word, widest)}

    def cost(pad: int) -> tuple[int, int]:
        memory = Strided((pair.start.physical_size // columns, columns), (columns + pad, 1))
        both = ((pair.start, True), (pair.end, False))
        found = [
            bank_conflicts(memory, flat(x, columns), pair.element_bytes, write=write).wavefronts
            for x, write in both
        ]
        return sum(found), pad

    return Padded(pair, columns, columns + min(map(cost, paddings))[1])


def line(layout: Linear) -> Linear:
    """To the row-major number of an element."""
    ins = [n for n in ("register", "lane", "warp") if n in layout.in_dims]
    last_first = layout.transpose_outs([*layout.results][::-1])
    return last_first.transpose_ins(ins).flatten_outs("element")


def flat(layout: Linear, columns: int) -> Linear:
    """To (row, column) of the memory."""
    sizes = {"column": columns, "row": layout.physical_size // columns}
    return line(layout).reshape_outs(sizes).transpose_outs(["row", "column"])


def vector(layout: Linear, pair: Case, columns: int) -> int:
    """The low bits of the column that one instruction moves."""
    most = min(16 // pair.element_bytes, columns).bit_length() - 1
    return vector_bits(split(line(layout)), most)


def function(name: str, plan: Padded, block: bool) -> str:
    """The device function, of the same signature as ours."""
    pair = plan.pair
    regs = [x.in_dims.get("register", 1) for x in (pair.start, pair.end)]
    lines = []
    for side, layout in (("store", pair.start), ("load", pair.end)):
        at = flat(layout, plan.columns)
        rest = at.sublayout([n for n in at.coordinates if n != "register"], at.results)
        text = generate(rest, "cuda", name=f"{name}_{side}").source
        lines.append(text)
    lines.append(
        f"template <typename T>\n__device__ __forceinline__ void {name}"
        f"(const T (&from)[{regs[0]}], T (&to)[{regs[1]}], void* shared) {{\n"
        "  const int lane = static_cast<int>(threadIdx.x % 32u);\n"
        "  [[maybe_unused]] const int warp = static_cast<int>(threadIdx.x / 32u);\n"
    )
    for side, layout in (("store", pair.start), ("load", pair.end)):
        called = ", ".join(n for n in ("lane", "warp") if n in layout.in_dims)
        lines.append(f"  const auto {side} = {name}_{side}_apply({called});\n")
        lines += [f"  {text}\n" for text in moves(side, layout, plan)]
        if side == "store":
            lines.append(f"  {'__syncthreads' if block else '__syncwarp'}();\n")
    return "".join([*lines, "}\n"])


def moves(side: str, layout: Linear, plan: Padded) -> Iterator[str]:
    """The vectors of one side; what several registers hold is stored once."""
    size = plan.pair.element_bytes
    at = flat(layout, plan.columns)
    bits = vector(layout, plan.pair, plan.columns)
    own = at.bases.get("register", [])
    images = [row * plan.columns + column for row, column in own]
    echelon = f2.Echelon(images)
    low = [echelon.solve(1 << k) or 0 for k in range(bits)]
    kept = f2.complement(f2.identity(bits), [images[k] for k in echelon.pivots])
    high = [(echelon.solve(c) or 0) ^ f2.times(low, c & (1 << bits) - 1) for c in kept]
    taken = [0, 0]
    for name, images_ in at.bases.items():
        for image in images_ if name != "register" else []:
            taken = [t | part for t, part in zip(taken, image, strict=True)]
    kind = KINDS[size << bits]
    first: dict[int, int] = {}
    for k in range(1 << len(high)):
        start = f2.times(high, k)
        row, column = divmod(f2.times(images, start), plan.columns)
        place = (
            f"({joined(f'{side}.row', row, taken[0])}) * {plan.pitch} + "
            f"{joined(f'{side}.column', column, taken[1])}"
        )
        registers = [start ^ f2.times(low, n) for n in range(1 << bits)]
        target = f"reinterpret_cast<{kind}*>(static_cast<T*>(shared) + {place})"
        if side == "store":
            given = ", ".join(f"from[{r}]" for r in registers)
            yield f"*{target} = packed<{kind}>({given});"
        else:
            given = ", ".join(f"to[{r}]" for r in registers)
            yield f"unpack(*{target}, {given});"
        first |= {f2.times(images, r): r for r in registers}
    for register in range(1 << len(own) if side == "load" else 0):
        source = first[f2.times(images, register)]
        if source != register:
            yield f"to[{register}] = to[{source}];"


def joined(name: str, constant: int, taken: int) -> str:
    """A coordinate of a register: its bits are added where no thread has them."""
    inside, beyond = constant & taken, constant & ~taken
    text = f"({name} ^ {inside})" if inside else name
    return f"{text} + {beyond}" if beyond else text


def gathered(name: str, case: Case, block: bool) -> tuple[str, int]:
    """A gather through row-major shared memory, as one writes it by hand, and the memory's bytes."""
    sizes = case.start.physical_dims
    plan = Padded(case, sizes[-1], sizes[-1])
    n = case.start.in_dims.get("register", 1)
    at = flat(case.start, plan.columns)
    rest = at.sublayout([k for k in at.coordinates if k != "register"], at.results)
    called = ", ".join(k for k in ("lane", "warp") if k in case.start.in_dims)
    taken = [0, 0]
    for key, images in at.bases.items():
        for image in images if key != "register" else []:
            taken = [t | part for t, part in zip(taken, image, strict=True)]
    own = at.bases.get("register", [])
    lines = [
        generate(rest, "cuda", name=f"{name}_store").source,
        f"template <typename T>\n__device__ __forceinline__ void {name}"
        f"(const T (&from)[{n}], const int (&index)[{n}], T (&to)[{n}], void* shared) {{\n"
        "  const int lane = static_cast<int>(threadIdx.x % 32u);\n"
        "  [[maybe_unused]] const int warp = static_cast<int>(threadIdx.x / 32u);\n"
        f"  const auto store = {name}_store_apply({called});\n",
        *(f"  {text}\n" for text in moves("store", case.start, plan)),
        f"  {'__syncthreads' if block else '__syncwarp'}();\n",
    ]
    for register in range(n):
        row, column = (f2.times([image[k] for image in own], register) for k in range(2))
        down, across = joined("store.row", row, taken[0]), joined("store.column", column, taken[1])
        if case.axis == "dim1":
            across = f"index[{register}]"
        else:
            down = f"index[{register}]"
        lines.append(
            f"  to[{register}] = static_cast<const T*>(shared)[({down}) * {plan.pitch} + {across}];\n"
        )
    return "".join([*lines, "}\n"]), -(-plan.bytes // 16) * 16
