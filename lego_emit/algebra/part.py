"""Part: some indices of a box in a memory of their own, as a triangle or a band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LayoutError, LazyText, short_repr
from ..numeric import is_array
from .bijection import call_inv, positions
from .block import Change
from .genp import GenP, OfFunctions, function_name, genp_apply, genp_inv
from .sizes import check_sizes, listed


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Part(OfFunctions):
    """The indices that a memory holds, of those of a box.

    dims: the box's sizes. positions: how many elements the memory has. apply(*index) gives the
    position, -1 of an index that it does not hold. inv(flat) gives the index, a tuple. Both are
    functions as GenP takes them.

    Raises LayoutError on a wrong size or function, and with a counterexample where all sizes are
    integers and the functions do not belong together: tried as a GenP's are.
    """

    dims: tuple[Any, ...]
    positions: Any
    apply_function: Callable[..., Any]
    inv_function: Callable[[Any], Any]
    _there: GenP

    def __init__(
        self,
        dims: Sequence[Any],
        positions: Any,
        apply: Callable[..., Any],
        inv: Callable[[Any], Any],
    ):
        construct = LazyText("Part({}, {}, ..)", dims, positions)
        object.__setattr__(self, "dims", check_sizes(dims, construct))
        object.__setattr__(self, "positions", check_sizes([positions], construct)[0])
        if not callable(apply) or not callable(inv):
            raise LayoutError(f"{construct}: give two functions, apply and inv")
        object.__setattr__(self, "apply_function", apply)
        object.__setattr__(self, "inv_function", inv)
        object.__setattr__(self, "_there", GenP(self.dims, apply))
        if self.is_concrete:
            _check(self)

    @property
    def physical_dims(self) -> tuple[Any, ...]:
        """One size: how many positions the memory has."""
        return (self.positions,)

    @property
    def masks(self) -> bool:
        """Always: the memory does not hold all indices."""
        return True

    def sizes(self) -> tuple[Any, ...]:
        """The sizes of the box, then how many positions the memory has."""
        return (*self.dims, self.positions)

    def with_sizes(self, new: Change) -> Part:
        """The same functions over other sizes."""
        functions = map(new.function, (self.apply_function, self.inv_function))
        return Part([new.size(n) for n in self.dims], new.size(self.positions), *functions)

    def reference_apply(self, index: tuple[Any, ...]) -> Any:
        """The position, or -1."""
        return genp_apply(self._there, index)

    def reference_inv(self, flat: Any) -> tuple[Any, ...]:
        """The index of a position."""
        if not is_array(flat):
            return genp_inv(self, flat)
        from .genp_tables import inv_each

        return inv_each(self, flat, self.positions)

    def __repr__(self) -> str:
        names = ", ".join(map(function_name, (self.apply_function, self.inv_function)))
        return f"Part([{listed(self.dims)}], {self.positions!r}, {names})"


def _check(part: Part) -> None:
    """Raises LayoutError with the first index or position at which the functions contradict."""
    held = 0
    for index in positions(part.dims, part.size):
        flat = part.reference_apply(index)
        if flat == -1:
            continue
        if not 0 <= flat < part.positions:
            raise LayoutError(
                f"{part!r}: apply{_listed(index)} gives {short_repr(flat)}, outside -1..{part.positions - 1}"
            )
        if (back := call_inv(part, flat)) != index:
            raise LayoutError(
                f"{part!r}: apply{_listed(index)} gives {flat} but inv({flat}) gives {_listed(back)}: "
                "inv must undo apply"
            )
        held += 1
    if held == part.positions:  # each one, as inv undoes apply
        return
    for (flat,) in positions((part.positions,), part.positions):
        index = call_inv(part, flat)
        if (there := part.reference_apply(index)) != flat:
            raise LayoutError(
                f"{part!r}: inv({flat}) gives {_listed(index)}, whose position is {short_repr(there)}: each "
                "position is that of an index"
            )


def _listed(index: tuple[int, ...]) -> str:
    return f"({', '.join(map(short_repr, index))})"
