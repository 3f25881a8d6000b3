"""Micro-kernels: blocks of elements that are rearranged in vector registers, found at generation.

A kernel loads registers whose lanes are neighbors in the source, exchanges lanes between pairs of
registers, and stores registers whose lanes are neighbors in the destination. Which exchanges are needed is
found by a search: the lanes and the registers are counted by bits of the digits, a zip of two registers
moves a bit of their number into the lanes and the lanes' last bit out, and a breadth-first search over zips
finds the shortest way from the source's lanes to the destination's. A transposition of K x K takes log2(K)
zips a register, a Morton order of bytes two.

    >>> transposition = of_bits([(0, 0), (0, 1)], [(1, 0), (1, 1)], 2)
    >>> len(transposition.loads), len(transposition.steps), transposition.is_right()
    (4, 8, True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from ..ir.nests import Exchange, Kernel, Place

Bit = tuple[int, int]  # (which digit, which bit of it)
MOST_REGISTERS = 16
MOST_FIELDS = 6  # that are interleaved


def of_bits(source: Sequence[Bit], destination: Sequence[Bit], digits: int) -> Kernel | None:
    """The kernel that takes the source's lanes to the destination's, the fastest bit first. digits: how many
    there are. None where no zips do it, or it takes more than 16 registers."""
    outside = [bit for bit in destination if bit not in source]
    if len(source) != len(destination) or 1 << len(outside) > MOST_REGISTERS:
        return None
    start = (tuple(source), frozenset(outside))
    goal = (tuple(destination), frozenset(bit for bit in source if bit not in destination))
    way = _search(start, goal)
    if way is None:
        return None
    block = [1] * digits
    for k, bit in {*source, *destination}:
        block[k] = max(block[k], 2 << bit)
    state, lanes, inner = [*outside], [*source], len(source)
    registers: dict[tuple[int, ...], int] = {
        values: at for at, values in enumerate(product((0, 1), repeat=len(state)))
    }
    loads = [_place(dict(zip(state, v, strict=True)), digits) for v in registers]
    steps, count = list[Exchange](), len(registers)
    for grain, bit in way:
        at, out = state.index(bit), lanes[-1]
        made: dict[tuple[int, ...], int] = {}
        for values, register in registers.items():
            if values[at]:
                continue
            other = registers[(*values[:at], 1, *values[at + 1 :])]
            for high in (0, 1):
                steps.append(Exchange(count, register, other, _zip(inner, grain, high)))
                made[(*values[:at], high, *values[at + 1 :])] = count
                count += 1
        registers, state[at] = made, out
        lanes = [*lanes[:grain], bit, *lanes[grain:-1]]
    stores = [_place(dict(zip(state, v, strict=True)), digits) for v in registers]
    chains = tuple(tuple(dict.fromkeys(k for k, _ in bits)) for bits in (source, destination))
    return Kernel(
        tuple(block),
        1 << inner,
        tuple(loads),
        tuple(steps),
        tuple(stores),
        tuple(registers.values()),
        chains,
    )


State = tuple[tuple[Bit, ...], frozenset[Bit]]


@lru_cache(maxsize=256)  # the boxes of a copy have few kernels, and each is asked for several times
def _search(start: State, goal: State) -> tuple[tuple[int, Bit], ...] | None:
    """The fewest zips: of each the grain, as a power of two of lanes, and the bit that becomes a lane's."""
    before: dict[State, tuple[State, tuple[int, Bit]] | None] = {start: None}
    border = [start]
    while goal not in before and border:
        found: list[State] = []
        for state in border:
            lanes, outside = state
            for bit in sorted(outside):
                for grain in range(len(lanes)):
                    now = (
                        (*lanes[:grain], bit, *lanes[grain:-1]),
                        outside - {bit} | {lanes[-1]},
                    )
                    if now not in before:
                        before[now] = (state, (grain, bit))
                        found.append(now)
        border = found
    if goal not in before:
        return None
    way, at = list[tuple[int, Bit]](), goal
    while (step := before[at]) is not None:
        at = step[0]
        way.append(step[1])
    return tuple(reversed(way))


def _zip(bits: int, grain: int, high: int) -> tuple[int, ...]:
    """The lanes of a zip of the lower, or the upper, halves of two registers."""
    found = []
    for lane in range(1 << bits):
        own = lane & ((1 << grain) - 1) | lane >> (grain + 1) << grain | high << (bits - 1)
        found.append(own + ((lane >> grain & 1) << bits))
    return tuple(found)


def _place(values: Mapping[Bit, int], digits: int) -> Place:
    index = [0] * digits
    for (k, bit), value in values.items():
        index[k] += value << bit
    return tuple(index), 0


def interleaved(fields: int, lanes: int, packs: bool) -> Kernel:
    """The kernel of digit 0, fields that stand side by side on one side and apart on the other, and digit 1,
    as many elements as lanes. packs: they stand side by side in the destination."""
    together = [((0, 0), k * lanes) for k in range(fields)]
    apart = [((k, 0), 0) for k in range(fields)]
    steps, kept, count = list[Exchange](), list[int](), fields
    for out in range(fields):
        if packs:
            wanted = [
                ((out * lanes + t) % fields, (out * lanes + t) // fields) for t in range(lanes)
            ]
        else:
            wanted = [divmod(t * fields + out, lanes) for t in range(lanes)]
        of = sorted({register for register, _ in wanted})
        have = [lane if register == of[0] else 0 for register, lane in wanted]
        register = of[0]
        for k, other in enumerate(of[1:]):
            taken = [
                lanes + lane if r == other else (have[t] if k == 0 else t)
                for t, (r, lane) in enumerate(wanted)
            ]
            steps.append(Exchange(count, register, other, tuple(taken)))
            register, count = count, count + 1
        if len(of) == 1:
            steps.append(Exchange(count, register, register, tuple(have)))
            register, count = count, count + 1
        kept.append(register)
    return _of_fields(lanes, lanes, (together, apart), steps, kept, packs)


def zipped_fields(fields: int, lanes: int, packs: bool) -> Kernel:
    """What interleaved() does, of twice as many elements, by zips, or by their inverses: for processors that exchange no
    single bytes. The zips are perfect shuffles of the block, one for each bit of an element's number: n elements are
    moved from fields * t + c to n * c + t, which is n times as much modulo fields * n - 1."""
    count, inner = 2 * fields, lanes.bit_length() - 1
    together = [((0, 0), k * lanes) for k in range(count)]
    apart = [((k // 2, 0), k % 2 * lanes) for k in range(count)]
    evens, odds = (tuple(range(k, 2 * lanes, 2)) for k in (0, 1))
    steps, names, made = list[Exchange](), [*range(count)], count
    for _ in range(inner + 1):
        if packs:
            pairs, lanes_of = [*zip(names[::2], names[1::2], strict=True)], (evens, odds)
        else:
            pairs = [*zip(names[:fields], names[fields:], strict=True)]
            lanes_of = _zip(inner, 0, 0), _zip(inner, 0, 1)
        found: dict[tuple[int, int], int] = {}
        for k, (x, y) in enumerate(pairs):
            for half, own in enumerate(lanes_of):
                steps.append(Exchange(made, x, y, own))
                found[(half, k) if packs else (k, half)] = made
                made += 1
        names = [found[key] for key in sorted(found)]
    return _of_fields(2 * lanes, lanes, (together, apart), steps, names, packs)


def _of_fields(
    elements: int,
    lanes: int,
    places: tuple[Sequence[Place], Sequence[Place]],
    steps: Sequence[Exchange],
    kept: Sequence[int],
    packs: bool,
) -> Kernel:
    """A kernel of fields, whose registers have such places where fields are side by side, and where they are apart."""
    fields = 1 + max(index[0] for index, _ in places[1])
    loads, stores = places[::-1] if packs else places
    chains = ((1,), (0, 1)) if packs else ((0, 1), (1,))
    return Kernel(
        (fields, elements), lanes, tuple(loads), tuple(steps), tuple(stores), tuple(kept), chains
    )
