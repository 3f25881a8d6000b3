"""Layout.pack, unpack and plan: arrays moved into a layout's memory and out of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..algebra.block import Block
from ..algebra.perms import Row
from ..algebra.sizes import check_sizes
from ..errors import LayoutError, OptionError, a_type, error_text, short_repr
from .owners import Owner, owner_of
from .plan import Movement, Pair, movement
from .sizes import sized

ENGINES = (None, "compiled")
MOST_RECENT = 64

# What was moved lately, by the identity of a layout that it holds.
_recent: dict[Any, tuple[Pair, tuple[int, ...], Block, Any]] = {}


def pack(layout: Block, x: Any, of: Any, fill: Any, out: Any, engine: Any) -> Any:
    """The memory that holds the elements of x, by the options of Block.pack."""
    owner = _owner(layout, x, "pack")
    x, fill = _elements(owner, layout, x, fill, "pack")
    found, shape, layout = _between(layout, x, of, "pack")
    batch = _batch(layout, x, shape, "pack")
    flat = owner.reshaped(x, (*batch, prod(shape)))
    _check_out(layout, x, out, (*batch, found.size), owner)
    if engine not in ENGINES:
        raise OptionError(
            f"{layout!r}.pack: engine is {short_repr(engine)}; give 'compiled' or None"
        )
    if engine == "compiled":
        from .compiled import moved

        return moved(found, flat, fill, out, owner)
    return owner.moved(found, flat, fill, out)


def unpack(layout: Block, m: Any, of: Any, fill: Any, copy: Any) -> Any:
    """The array whose elements a memory holds, by the options of Block.unpack."""
    owner = _owner(layout, m, "unpack")
    m, fill = _elements(owner, layout, m, fill, "unpack")
    found, shape, _ = _between(layout, m, of, "unpack")
    if copy not in (None, True, False):
        raise OptionError(
            f"{layout!r}.unpack: copy is {short_repr(copy)}; give True, False or None"
        )
    copy = None if copy is None else bool(copy)
    batch = _batch(layout, m, (found.source_size,), "unpack")
    view = owner.viewed(found, m, batch, shape) if copy is not True else None
    if view is not None:
        return view
    if copy is False:
        raise LayoutError(
            f"{layout!r}.unpack: no view of the memory has the layout's indices, as {_why_no_view(found, owner)}; "
            "copy=None lets it be copied"
        )
    return owner.reshaped(owner.moved(found, m, fill, None), (*batch, *shape))


def shape_of(layout: Block, x: Any, of: Any, called: str) -> tuple[int, ...]:
    """The shape of what pack or unpack makes of x."""
    found, shape, layout = _between(layout, x, of, called)
    if called == "pack":
        return (*_batch(layout, x, shape, called), found.size)
    return (*_batch(layout, x, (found.source_size,), called), *shape)


def plan(layout: Block, x: Any, of: Any) -> str:
    """How pack would move x, in words, as Block.plan says it."""
    owner = _owner(layout, x, "plan")
    found, shape, layout = _between(layout, x, of, "plan")
    _batch(layout, x, shape, "plan")
    return owner.way(found)


def _owner(layout: Block, x: Any, called: str) -> Owner:
    owner = owner_of(x)
    if owner is not None:
        return owner
    hint = ""
    if isinstance(x, str) and called != "plan":
        hint = f"; {called}(layout, {x!r}) of lego_emit emits a routine"
    raise LayoutError(
        f"{layout!r}.{called} moves an array of NumPy, PyTorch or another library with __array_namespace__, and "
        f"was given {short_repr(x)}, {a_type(x)}{hint}"
    )


def _elements(owner: Owner, layout: Block, x: Any, fill: Any, called: str) -> tuple[Any, Any]:
    """An array of its library's own class, and what is to fill it as one of its elements."""
    try:
        return owner.plain(x), owner.element(x, fill)
    except LayoutError as error:
        raise LayoutError(f"{layout!r}.{called}: {error_text(error)}") from None


def _between(
    layout: Block, x: Any, of: Any, called: str
) -> tuple[Movement, tuple[int, ...], Block]:
    """The movement between an array of a layout's indices and the layout's memory, the array's shape, and the layout
    with the sizes that x decides."""
    plain = type(of) in (tuple, list) and all(type(n) is int for n in of)
    key = called == "unpack", id(layout), (*of,) if plain else id(of)
    known = _recent.get(key)  # which hashes no layout
    if known is None:
        own, by = (layout, of) if called == "unpack" else sized(layout, x.shape, of)
        rows, shape = _rows(own, by, called)
        known = Pair(own, rows) if called == "unpack" else Pair(rows, own), shape, own, of
        if own is layout and (plain or of is None or isinstance(of, Block)):
            if len(_recent) >= MOST_RECENT:
                _recent.clear()
            _recent[key] = known
    return movement(known[0]), known[1], known[2]


def _rows(layout: Block, of: Any, called: str) -> tuple[Block, tuple[int, ...]]:
    """The layout of the array beside the memory, over the layout's indices, and its shape."""
    if not layout.is_concrete:
        raise LayoutError(
            f"{layout!r}.{called}: it has sizes that are symbols; give numbers for them"
        )
    if of is None:
        return Row(*layout.dims), layout.dims
    from ..copies.pairs import pair_of

    if not isinstance(of, Block):
        of = check_sizes([*of] if isinstance(of, tuple | list) else of, f"{called}(of=)")
    rows, _ = pair_of(layout, of, called)
    return rows, (rows.physical_size,) if isinstance(of, Block) else tuple(of)


def _batch(layout: Block, x: Any, shape: Sequence[int], called: str) -> tuple[int, ...]:
    """The sizes before those that are moved. Raises LayoutError where x does not end in shape."""
    given, rank = tuple(x.shape), len(shape)
    if len(given) < rank or given[len(given) - rank :] != tuple(shape):
        wanted = ", ".join(map(str, ("..", *shape)))
        hint = ""
        tails = (given[k:] for k in range(len(given)) if len(given) - k < rank)
        if called != "unpack" and any(prod(tail) == prod(shape) for tail in tails):
            hint = "; where its tiles are cut from a matrix, of= takes the matrix's sizes"
        raise LayoutError(
            f"{layout!r}.{called}: the array's shape is {list(given)}, and ({wanted}) is wanted{hint}"
        )
    return given[: len(given) - rank]


def _check_out(layout: Block, x: Any, out: Any, shape: tuple[int, ...], owner: Owner) -> None:
    if out is None:
        return
    if owner_of(out) is not owner or tuple(out.shape) != shape or out.dtype != x.dtype:
        given = f"{a_type(out)}"
        if hasattr(out, "shape") and hasattr(out, "dtype"):
            given += f" of shape {list(out.shape)} and {out.dtype}"
        raise LayoutError(
            f"{layout!r}.pack: out is {given}; give one of shape {list(shape)} and {x.dtype}, of the array's library"
        )
    _elements(owner, layout, out, 0, "pack")
    if owner.shares(out, x):
        raise LayoutError(f"{layout!r}.pack: out shares memory with the array; give another memory")


def _why_no_view(found: Movement, owner: Owner) -> str:
    if not owner.has_views:
        return "this library has no views"
    if found.boxes is None or found.masks:
        return "its positions are no strides"
    if found.is_falling and not owner.has_falling:
        return "a stride is negative"
    return "an axis has several strides"
