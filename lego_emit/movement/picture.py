"""An access of memory as a sheet: a column for each lane, a row for each register, colored by bank."""

from __future__ import annotations

from typing import Any

from ..algebra.block import is_packed
from ..errors import brief, short_repr
from ..show.cells import Cell, Labels, Sheet, colored
from .access import called
from .conflicts import touched
from .memories import NVIDIA

SHOWN = 8  # registers


@brief
def conflict_sheet(
    memory: Any,
    access: Any,
    element_bytes: int = 4,
    *,
    gpu: Any = NVIDIA,
    registers: int | None = None,
) -> Sheet:
    """What each lane of the first warp touches: the offset of the element, or of the word of Packed fields,
    colored by its bank. The first eight registers. Arguments and errors as those of bank_conflicts.

        >>> from lego_emit import GroupBy, movement
        >>> type(movement.conflict_sheet(GroupBy([32, 32]), lambda lane: (lane, 0))).__name__
        'Sheet'
    """
    construct = called("bank_conflicts", memory, access)
    warps, moved = touched(memory, access, element_bytes, gpu, registers, construct)
    found, what = warps[0].T[:SHOWN], "word" if is_packed(memory) else "element"
    offsets = found.tolist()
    height, width = found.shape
    sheet = Sheet(
        f"{getattr(access, '__name__', None) or short_repr(access)} in {memory!r}",
        (height, width),
        (height, width),
        lambda row, column: Cell(offsets[row][column], row * width + column),
        Labels([height]),
        Labels([width]),
        (1, 8),
        axes="register, lane",
        legend=f"down: register; across: lane; a cell says the {what}'s offset",
    )
    return colored(sheet, "bank", 8 * moved, 1)
