"""Functions that read and write fields of words, compared with fields that are taken bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..algebra.packed import Packed
from ..emit.unit import Unit
from ..errors import LegoError
from ..packages import numpy as np
from ..run.space import Space
from ..trace.packed import with_values
from .expected import few, numbers_of

MOST_FIELDS = 2**12  # that are read and written
MOST_WORDS = 2**22


def compared(
    unit: Unit, packed: Packed, space: Space, numbers: Mapping[str, int], compiled: Any
) -> tuple[str, int, str, str]:
    """(what is compared, at how many indices, what is wrong, what is fine): NAME_get and NAME_set of the
    unit's function whose space it is."""
    function, p = space.function, space.function.packing
    back = {new: old for old, new in function.renamed}
    what = f"{p.get} and {p.set}, and fields bit by bit"
    known = {**numbers, **{back.get(n, n): v for n, v in space.fixed.items()}}
    try:
        packed = with_values(packed, known)
        count = packed.words()
    except LegoError as error:
        return what, 0, "", f"not compared: {error}"
    if count > MOST_WORDS:
        return what, 0, "", f"not compared: {count:,} words are more than {MOST_WORDS:,}"
    many = space.kept(numbers_of(space, MOST_FIELDS))
    index = space.at(np.array(sorted(few(space, many, MOST_FIELDS)), np.int64))
    size = len(index.values[0]) if index.values else 1
    zero = [index.named[q.name] - q.base for q in function.params if q.axis]
    flats = np.broadcast_to(packed.layout.apply(*zero), (size,)).tolist()
    draw, kind = np.random.default_rng(0), np.dtype(f"uint{p.word}")
    words = draw.integers(0, 2**p.word, size if p.by_value else count, np.uint64, endpoint=False)
    words = words.astype(kind)
    values = draw.integers(0, 2**p.word, size, np.uint64, endpoint=False).astype(kind)
    values = values.view(f"int{p.word}") if p.signed else values
    held = [[w] for w in words] if p.by_value else [words] * size
    wanted = [packed.field(one, flat) for one, flat in zip(held, flats, strict=True)]
    arguments = [np.broadcast_to(a, (size,)) for a in index.arguments]
    found = compiled.accessor(function, False)(words, *arguments).tolist()
    if found != wanted:
        at = next(k for k in range(size) if found[k] != wanted[k])
        return (
            what,
            size,
            f"{p.get}({index.one(at)}) gives {found[at]}, the field is {wanted[at]}",
            "",
        )
    due = words.copy()
    for k, (flat, value) in enumerate(zip(flats, values.tolist(), strict=True)):
        packed.put(due[k : k + 1] if p.by_value else due, flat, value)
    given = compiled.accessor(function, True)(words, *arguments, values)
    if not np.array_equal(given, due):
        at = int(np.argmax(given != due))
        wrong = f"{p.set} leaves {int(given[at]):#x} as word {at} where {int(due[at]):#x} is due"
        return what, size, wrong, ""
    return what, size, "", "equal, all other bits as they were"
