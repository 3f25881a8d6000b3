"""Permutations of bits as products of exchanges at a distance (delta swaps), of as few as are found.

Where the places of bits are numbers whose digits are exchanged, as in a transposition or a perfect
shuffle, each exchange of two digits is one of bits. Any other permutation goes through a network of
Benes, whose 2*n - 1 stages exchange bits of a word of 2**n at distances that are powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .words import Stage

STAGES = 8  # exchanges that lead to a goal one after another
KEPT = 4  # of the places after each of them


def exchange_ways(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """Products of exchanges of bits at a distance, the ways of fewer stages first."""
    if len(inputs) > 1 or len(outs) > 1:
        return
    bits, word, goal = _permutation(inputs[0], outs[0])
    ways = sorted(_approaching(word, goal), key=len)[:KEPT]
    for way in sorted([*ways, *_networks(word, goal, width)], key=len):
        yield [[{bit: stage[k] for bit, k in bits.items()}] for stage in way]


def _permutation(
    word: dict[int, int], goal: dict[int, int]
) -> tuple[dict[int, int], list[int], list[int]]:
    """(the number of each bit, the places of the numbers now, those at the end). Places without a bit
    have numbers, too, in the same order now and at the end: they are free to be moved."""
    numbers = {bit: k for k, bit in enumerate(word)}
    span = max(*word.values(), *goal.values()) + 1
    now, end = [word[bit] for bit in numbers], [goal[bit] for bit in numbers]
    return (
        numbers,
        now + [place for place in range(span) if place not in now],
        end + [place for place in range(span) if place not in end],
    )


def _approaching(word: list[int], goal: list[int]) -> Iterator[list[list[int]]]:
    """Ways of exchanges at one distance each, wherever one brings two bits nearer to their goals: from
    stage to stage the few that leave the fewest distances."""
    kept: list[tuple[list[int], list[list[int]]]] = [(word, [])]
    for _ in range(STAGES):
        found: dict[tuple[int, ...], tuple[tuple[int, ...], list[int], list[list[int]]]] = {}
        for places, way in kept:
            for moved in _nearer(places, goal):
                left = [b - a for a, b in zip(moved, goal, strict=True)]
                score = len({*map(abs, left)} - {0}), len({*left}), sum(map(abs, left))
                found.setdefault(tuple(moved), (score, moved, [*way, moved]))
        kept = []
        for score, moved, way in sorted(found.values(), key=lambda one: one[0])[:KEPT]:
            if score[0] < 2:  # what is left is one exchange at most
                yield way
            else:
                kept.append((moved, way))


def _nearer(places: list[int], goal: list[int]) -> Iterator[list[int]]:
    """Places after the exchanges at each distance that bring two bits nearer to their goals, taken
    together."""
    pairs: dict[int, list[tuple[int, int]]] = {}
    away = [b - a for a, b in zip(places, goal, strict=True)]
    downward = [k for k, d in enumerate(away) if d < 0]
    for low in (k for k, d in enumerate(away) if d > 0):
        for high in downward:
            d = places[high] - places[low]
            if d > 0 and abs(away[low] - d) + abs(away[high] + d) < away[low] - away[high]:
                pairs.setdefault(d, []).append((low, high))
    for d in sorted(pairs):
        moved = [*places]
        for low, high in pairs[d]:
            moved[low], moved[high] = places[high], places[low]
        yield moved


def _networks(word: list[int], goal: list[int], width: int) -> Iterator[list[list[int]]]:
    """The way through a network of Benes, which any permutation has: exchanges at distances that are
    powers of two, the largest first and last, or the smallest; stages that move nothing left out."""
    digits = (len(word) - 1).bit_length()
    if 1 << digits > width:
        return
    word, goal = ([*places, *range(len(places), 1 << digits)] for places in (word, goal))
    for order in (range(digits - 1, -1, -1), range(digits)):
        first, last = [word], [goal]
        for digit in order[:-1]:
            halves = _halves(first[-1], last[-1], 1 << digit)
            for stages in (first, last):
                stages.append(
                    [
                        place & ~(1 << digit) | half << digit
                        for place, half in zip(stages[-1], halves, strict=True)
                    ]
                )
        stages = [*first, *reversed(last)]
        yield [after for before, after in pairwise(stages) if after != before]


def _halves(word: list[int], goal: list[int], distance: int) -> list[int]:
    """Through which half of a network each bit goes, such that of two bits that begin at the distance
    from each other, or end so, one goes through each half."""
    begins = {place: k for k, place in enumerate(word)}
    ends = {place: k for k, place in enumerate(goal)}
    halves: dict[int, int] = {}
    for start in range(len(word)):
        loop: dict[int, int] = {}
        k, half = start, 0
        while k not in halves and k not in loop:
            other = ends[goal[k] ^ distance]
            loop[k], loop[other] = half, 1 - half
            k = begins[word[other] ^ distance]
        moved = [
            (place & distance > 0) != half
            for k, half in loop.items()
            for place in (word[k], goal[k])
        ]
        flip = 2 * sum(moved) > len(moved)
        halves |= {k: half ^ flip for k, half in loop.items()}
    return [halves[k] for k in range(len(word))]
