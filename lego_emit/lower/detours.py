"""Detours on the way from words to words: placements of bits from which the rest is cheap."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import inf

from .words import Places, Stage, places_of


def step_ways(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """Bits spread or squeezed in log steps."""
    targets = places_of(outs)
    if len(outs) == 1:
        fields = [run for word in inputs for run in _rising(word, targets)]
        if 1 < len(fields) <= 4:
            yield from _spreads(fields, targets)
    if len(inputs) == 1:
        fields = [run for out in outs for run in _rising_out(out, inputs[0])]
        if len(fields) <= 4:
            yield from _squeezes(fields, targets)


def pick_ways(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """Bits picked from copies of all words behind one another."""
    word, first = _concatenation(inputs)
    goal, last = _concatenation(outs)
    if len(word) <= 12:
        for stage in _copies(word, goal, width):
            yield [*first, stage, *last]


def swap_ways(inputs: Stage, outs: Stage, width: int) -> Iterator[list[Stage]]:
    """One or two exchanges of bits at a distance, whatever is left assembled."""
    if len(inputs) > 1 or len(outs) > 1:
        return
    word, goal = inputs[0], outs[0]
    span = max(word.values()) + 1

    def left(stage: dict[int, int]) -> int:
        return len({goal[bit] - place for bit, place in stage.items()})

    before = left(word)
    ones = [_swapped(word, goal, d) for d in range(1, span)]
    yield from ([[one]] for one in sorted(ones, key=left)[:4] if left(one) < before)
    twos = (
        stage
        for d in range(1, span)
        for e in range(1, span)
        if d != e and (stage := _first_of_two(word, goal, d, e))
    )
    yield from ([[two]] for two in islice(twos, 2))


def _concatenation(words: Stage) -> tuple[dict[int, int], list[Stage]]:
    """The words in one, the first one highest, and the stage that this makes."""
    whole: dict[int, int] = {}
    for word in reversed(words):
        start = max(whole.values(), default=-1) + 1
        whole |= {bit: start + at for bit, at in word.items()}
    return whole, [[whole]] if len(words) > 1 else []


def _rising(word: dict[int, int], targets: Places) -> Stage:
    """The word cut where the next bit goes to a lower place."""
    runs: Stage = []
    last = inf
    for bit, at in sorted(word.items(), key=lambda one: one[1]):
        if targets[bit][1] < last:
            runs.append({})
        runs[-1][bit] = at
        last = targets[bit][1]
    return runs


def _rising_out(out: dict[int, int], word: dict[int, int]) -> Stage:
    """The bits of the word cut where the next bit of the output comes from a lower place."""
    runs = _rising(out, {bit: (0, word[bit]) for bit in out})
    return [{bit: word[bit] for bit in run} for run in runs]


def _packed(fields: Stage, room: dict[int, int], apart: tuple[int, ...]) -> Iterator[Stage]:
    """Fields beside one another in one word, two to a word, or each alone.

    room: how much farther a bit will go. apart: where the second field may begin, so that moving
    it does not hit the bits of the first one.
    """
    count = len(fields)
    seen = []
    for size in sorted({count, *(size for size in (2, 1) if size < count)}, reverse=True):
        for least in (*apart, 0):
            stage: Stage = []
            for k in range(0, count, size):
                start, packed = 0, {}
                for field in fields[k : k + size]:
                    packed |= {bit: at + start for bit, at in field.items()}
                    top = max(at + room.get(bit, 0) for bit, at in field.items()) + 1
                    start += max(top, least)
                stage.append(packed)
            if stage not in seen:
                seen.append(stage)
                yield stage


def _digits(numbers: dict[int, int]) -> list[int]:
    """The binary digits of the numbers, rising; those that always come together are one."""
    users: dict[tuple[int, ...], int] = {}
    for digit in range(max(numbers.values()).bit_length()):
        if those := tuple(key for key, number in numbers.items() if number >> digit & 1):
            users[those] = users.get(those, 0) | 1 << digit
    return list(users.values())


def _spreads(fields: Stage, targets: Places) -> Iterator[list[Stage]]:
    """Fields packed, spread apart from the highest digit of the way down, folded by the end."""
    fields = sorted(fields, key=lambda field: min(_ways(field, targets).values()))
    least = [min(_ways(field, targets).values()) for field in fields]
    way: dict[int, int] = {}
    for base, field in zip(least, fields, strict=True):
        way |= {bit: d - base for bit, d in _ways(field, targets).items()}
    wide = max(targets[bit][1] for bit in way) + 1
    for stage in _packed(fields, way, (wide, wide + max(map(abs, least)))):
        stages = [stage]
        for digit in reversed(_digits(way)):
            stages.append([{b: at + (way[b] & digit) for b, at in w.items()} for w in stages[-1]])
        if len(stages) > 1:
            yield stages


def _squeezes(fields: Stage, targets: Places) -> Iterator[list[Stage]]:
    """Fields of one word taken apart, then squeezed from the lowest digit of the way up."""
    fields = sorted(fields, key=lambda field: -max(_ways(field, targets).values()))
    most = [max(_ways(field, targets).values()) for field in fields]
    way: dict[int, int] = {}
    for base, field in zip(most, fields, strict=True):
        way |= {bit: base - d for bit, d in _ways(field, targets).items()}
    wide = max(at for field in fields for at in field.values()) + 1
    apart = [{bit: targets[bit][1] + way[bit] for bit in field} for field in fields]
    for stage in _packed(apart, {}, (wide, wide + max(map(abs, most)))):
        stages = [stage]
        for digit in _digits(way):
            stages.append([{b: at - (way[b] & digit) for b, at in w.items()} for w in stages[-1]])
        if len(stages) > 1:
            yield stages


def _ways(field: dict[int, int], targets: Places) -> dict[int, int]:
    """How far each bit has to go."""
    return {bit: targets[bit][1] - at for bit, at in field.items()}


def _copies(word: dict[int, int], goal: dict[int, int], width: int) -> Iterator[Stage]:
    """Copies of the word side by side, each bit picked from one such that the places agree with
    the goal modulo some k; a remainder by 2**k - 1 or a multiplication then sums the digits."""
    size = max(word.values()) + 1
    found = []
    for k in range(max(goal.values(), default=0) + 1, size + 4):
        for stride in range(size, size + 3):
            for offset in range(k):
                picked = _picked(word, goal, k, stride, offset, width)
                if picked is None:
                    continue
                highest = max(picked.values())
                digits = {(picked[b] - goal[b] - offset) // k for b in picked}
                top = highest + k * (max(digits) - min(digits))
                if offset == 0:
                    found.append((0, highest, k, stride, offset, picked))
                if top < width:
                    found.append((1, top, k, stride, offset, picked))
    found.sort(key=lambda one: one[:5])
    for kind in (0, 1):
        for one in [one for one in found if one[0] == kind][:3]:
            yield [one[-1]]


def _picked(word, goal, k: int, stride: int, offset: int, width: int) -> dict[int, int] | None:
    picked = {}
    for bit, at in word.items():
        place = at
        while place < width and (place - goal[bit] - offset) % k:
            place += stride
        if place >= width or place - at > stride * k:
            return None
        picked[bit] = place
    return picked


def _swapped(word: dict[int, int], goal: dict[int, int], d: int) -> dict[int, int]:
    """Exchange at distance d wherever that brings a bit home."""
    at = {place: bit for bit, place in word.items()}
    result = dict(word)
    done: set[int] = set()
    for low in sorted(at):
        high = low + d
        if high not in at or low in done:
            continue
        if goal[at[low]] == high or goal[at[high]] == low:
            result[at[low]], result[at[high]] = high, low
            done |= {low, high}
    return result


def _first_of_two(word: dict, goal: dict, d: int, e: int) -> dict[int, int] | None:
    """Places after an exchange at distance d, if another at distance e then ends it."""
    result = {}
    for bit, place in word.items():
        way = goal[bit] - place
        for step in (0, d, -d):
            if way - step in (0, e, -e):
                result[bit] = place + step
                break
        else:
            return None
    return result if set(result.values()) == set(word.values()) else None
