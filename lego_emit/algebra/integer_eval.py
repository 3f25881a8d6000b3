"""Numbers that layouts are evaluated over as they are: Figs. 4 and 5 put together, nothing simplified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import LayoutError
from ..table_lookup import Entries
from .written import Written


class Plain:
    """Numbers that are taken as they are (lego_emit.algebra.block.Numbers)."""

    def size(self, n: Any) -> Any:
        """A size as it is; nothing is learned from it."""
        return n

    def whole(self, flat: Any, sizes: Sequence[Any]) -> Any:
        """A flat position as it is; it is not kept as one term."""
        return flat

    def called(self, block: Any, index: Sequence[Any]) -> Any:
        """What a GenP's apply gives."""
        return block.apply_function(*index)

    def called_back(self, block: Any, flat: Any) -> list[Any]:
        """What a GenP's inv gives."""
        found = block.inv_function(flat)
        return list(found) if isinstance(found, tuple | list) else [found]

    def looked_up(self, entries: Entries, place: Any) -> Any:
        """The entry; of a place that is written down, as that writes it."""
        return place.looked_up(entries) if isinstance(place, Written) else entries.at(place)

    def by_formula(self, entries: Entries) -> bool:
        """Always: what a layout does is written down as a formula."""
        return True

    def masked(
        self, sizes: Sequence[Any], coordinates: Sequence[Any], values: Sequence[Any]
    ) -> list[Any]:
        """There is no nest for it."""
        raise LayoutError(f"no nest for what is masked outside of {list(sizes)}")

    def chosen(
        self, block: Any, results: Callable[[Any, Any], list[Any]], inverse: bool
    ) -> list[Any]:
        """There is no nest for it."""
        raise LayoutError(f"{block!r}: no nest for a layout that a tag chooses")


PLAIN = Plain()
