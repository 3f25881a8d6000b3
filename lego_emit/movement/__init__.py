"""Data movement: what an access of memory costs, and the memory layouts under which it costs least.

>>> from lego_emit import GroupBy, movement
>>> def column(lane):
...     return lane, 0
>>> movement.bank_conflicts(GroupBy([32, 32]), column).wavefronts
32
>>> movement.bank_conflicts(GroupBy([32, 33]), column).wavefronts
1
"""

from typing import TYPE_CHECKING

from ..errors import no_attribute
from .conflicts import Conflicts, bank_conflicts
from .convert import Conversion, convert
from .gather import Gather, gather
from .memories import AMD, NVIDIA, SharedMemory
from .picture import conflict_sheet
from .swizzle import optimal_padding, optimal_swizzle, swizzle_bound

__all__ = [
    "AMD",
    "NVIDIA",
    "Conflicts",
    "Conversion",
    "Gather",
    "SharedMemory",
    "bank_conflicts",
    "conflict_sheet",
    "convert",
    "gather",
    "optimal_padding",
    "optimal_swizzle",
    "swizzle_bound",
]

if not TYPE_CHECKING:
    __getattr__ = no_attribute(__name__, __all__)
