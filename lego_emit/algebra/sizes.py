"""What may stand for a size or a permutation, with the errors that say otherwise.

A `construct` is the expression at fault as the user wrote it, or the block itself.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

from ..errors import LONGEST, LayoutError, a_type, short_repr
from ..numeric import is_integer, is_symbolic


def product(sizes: Sequence[Any]) -> Any:
    """The product of at least one size."""
    # math.prod would start with 1 * n, which a symbol may keep.
    return reduce(operator.mul, sizes)


def comparable(sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sizes in a form whose == is plain: an expression's own makes a condition, which a trace
    would follow both ways."""
    return tuple(n.key if hasattr(n, "__lego_symbolic__") else n for n in sizes)


def way_out(wrong: Any) -> str:
    """What to write instead of a size that is none, for the end of a message."""
    if isinstance(wrong, str):
        return f"; symbols({short_repr(wrong)}) makes one"
    return "; write // for integer division" if isinstance(wrong, float) else ""


def check_sizes(sizes: Any, construct: object) -> tuple[Any, ...]:
    """The sizes as a tuple of positive integers and symbols. Raises LayoutError."""
    if not isinstance(sizes, list | tuple | range):
        raise LayoutError(
            f"{construct}: the sizes are {short_repr(sizes)}; give a list, as in [6, 4]"
        )
    if not sizes:
        raise LayoutError(f"{construct}: give at least one size")
    found = []
    for axis, n in enumerate(sizes):
        constant = getattr(n, "constant", None)
        n = n if constant is None else constant
        if is_integer(n):
            if n < 1:
                raise LayoutError(
                    f"{construct}: size {axis} is {short_repr(n)}; a size is at least 1"
                )
            if int(n).bit_length() > LONGEST:
                raise LayoutError(
                    f"{construct}: size {axis} is {short_repr(int(n))}; a size is at most 2**{LONGEST}"
                )
            found.append(int(n))
        elif is_symbolic(n):
            found.append(n)
        else:
            raise LayoutError(
                f"{construct}: size {axis} is {short_repr(n)}, {a_type(n)}; a size is an integer "
                f"or a symbol{way_out(n)}"
            )
    return tuple(found)


def check_perm(perm: Any, rank: int, construct: object) -> tuple[int, ...]:
    """The permutation of 0 .. rank - 1 as a tuple of integers. Raises LayoutError."""
    if not isinstance(perm, list | tuple | range) or not all(is_integer(k) for k in perm):
        raise LayoutError(f"{construct}: the permutation must be a list of integers, as in [1, 0]")
    found = tuple(int(k) for k in perm)
    if len(found) != rank:
        raise LayoutError(
            f"{construct}: {rank} sizes and a permutation of {len(found)}; give as many of each"
        )
    if sorted(found) == list(range(1, rank + 1)):
        raise LayoutError(
            f"{construct}: the permutation looks 1-based, as in the paper; permutations are "
            f"0-based here, write [{listed(k - 1 for k in found)}]"
        )
    if sorted(found) != list(range(rank)):
        outside = [k for k in found if not 0 <= k < rank]
        why = (
            f"{short_repr(outside[0])} is outside"
            if outside
            else f"{next(k for k in found if found.count(k) > 1)} stands twice"
        )
        raise LayoutError(f"{construct}: not a permutation of 0..{rank - 1}: {why}")
    return found


def check_same_size(
    construct: object, one: str, ones: tuple[Any, ...], other: object, others: tuple[Any, ...]
) -> None:
    """Raise LayoutError where both products are numbers and differ."""
    if not all(isinstance(n, int) for n in ones + others):
        return
    if product(ones) != product(others):
        raise LayoutError(
            f"{construct}: {one} has {multiplied(ones)} elements and {other} has "
            f"{multiplied(others)}; make the products equal"
        )


def listed(items: Any) -> str:
    """Items as text, with commas between them."""
    return ", ".join(map(short_repr, items))


def multiplied(sizes: tuple[int, ...]) -> str:
    """Sizes as text: "2*3 = 6"."""
    text = "*".join(map(short_repr, sizes))
    return text if len(sizes) == 1 else f"{text} = {short_repr(product(sizes))}"


def unwrapped(dims: tuple[Any, ...]) -> Any:
    """The sizes of f(2, 3) and of f([2, 3])."""
    return dims[0] if len(dims) == 1 and isinstance(dims[0], list | tuple) else dims
