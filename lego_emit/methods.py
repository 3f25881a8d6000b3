"""What the methods of layouts do by later stages, each loaded when it is first used.

A block declares its methods (algebra/block.py), and the algebra knows no later stage; these functions
are its `Methods` (algebra/later.py has the interface, which pyright holds them to). They stand above
the stages that they call, so that the linter sees each of these arrows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .numeric import is_operand

if TYPE_CHECKING:
    from .algebra.block import Block
    from .algebra.strided import Strided
    from .trace.trace import Trace


def apply(block: Any, indices: Sequence[Any]) -> Any:
    """The position of an index that is a symbol or an array, or of a layout whose sizes are symbols."""
    if any(map(is_operand, indices)):
        from .arrays import indices as arrays

        return arrays.apply(block, indices)
    from .trace import layouts

    return layouts.apply(block, indices)


def inv(block: Any, flat: Any) -> tuple[Any, ...]:
    """The index of such a position."""
    if is_operand(flat):
        from .arrays import indices as arrays

        return arrays.inv(block, flat)
    from .trace import layouts

    return layouts.inv(block, flat)


def getitem(block: Any, indices: Sequence[Any]) -> Any:
    """block[indices]; each ':' is an axis of the running trace, or beside arrays all numbers of its axis."""
    if any(map(is_operand, indices)):
        from .arrays import indices as arrays

        return arrays.getitem(block, indices)
    from .trace import layouts

    return layouts.getitem(block, indices)


def is_following() -> bool:
    """Whether a trace is running."""
    return _trace() is not None


def coordinate(value: Any, size: Any) -> None:
    """The running trace notes the range of a coordinate; where none is running nothing is done."""
    trace = _trace()
    if trace is not None:
        trace.coordinate(value, size)


def _trace() -> Trace | None:
    if "lego_emit.trace.trace" not in sys.modules:  # where it is not loaded, nothing is traced
        return None
    from .trace.trace import running_trace

    return running_trace()


def at_sympy(function: Callable[[Any], Any], value: Any) -> Any:
    """The SymPy expression that a function of our expressions gives at a SymPy expression."""
    from .trace.layouts import in_sympy

    return in_sympy(function, value)


def swizzled(swizzle: Any, position: Any) -> Any:
    """The position that a swizzle of symbols gives, and what the running trace learns of these."""
    from .trace.swizzled import swizzled

    return swizzled(swizzle, position)


def at_most(a: Any, b: Any) -> bool | None:
    """Whether a <= b, under what is known where something runs; None where that is not known."""
    from .cute.known import at_most

    return at_most(a, b)


def in_bounds(layout: Block, indices: Sequence[Any]) -> Any:
    """Whether an index holds an element: a truth, or an array of them."""
    from .arrays import indices as arrays

    return arrays.in_bounds(layout, indices)


def pack(layout: Block, x: Any, of: Any, fill: Any, out: Any, engine: Any) -> Any:
    """The memory that holds an array's elements."""
    if _is_compiling():
        from .arrays import in_graphs

        return in_graphs.pack(layout, x, of, fill, out, engine)
    from .arrays import moving

    return moving.pack(layout, x, of, fill, out, engine)


def unpack(layout: Block, m: Any, of: Any, fill: Any, copy: Any) -> Any:
    """The array whose elements a memory holds, a view where one is wanted."""
    if _is_compiling():
        from .arrays import in_graphs

        return in_graphs.unpack(layout, m, of, fill, copy)
    from .arrays import moving

    return moving.unpack(layout, m, of, fill, copy)


def _is_compiling() -> bool:
    """Whether torch.compile traces what runs."""
    return "torch" in sys.modules and sys.modules["torch"].compiler.is_compiling()


def plan(layout: Block, x: Any, of: Any) -> str:
    """How pack would move an array, in words."""
    from .arrays import moving

    return moving.plan(layout, x, of)


def recognized(table: Any, dims: Sequence[Any]) -> Block | None:
    """The layout of a table, without a search for a formula."""
    from .recognition import recognize

    return recognize(table, dims, formulas=False).layout


def composed(outer: Block, inner: Any) -> Block:
    """outer @ inner; a warning names the line with the @."""
    from .algebra.compose import composed

    return composed(outer, inner, stacklevel=4)


def inverse(layout: Block) -> Block:
    """The layout from positions to row-major indices."""
    from .algebra.compose import inverse

    return inverse(layout)


def step(layout: Block, by: Mapping[str, Any]) -> Any:
    """The next position along an axis, in the names of the index and the position."""
    from .trace.walks import step

    return step(layout, by)


def to_cute(layout: Block) -> Strided:
    """The strided layout of the same map."""
    from .cute import to_cute

    return to_cute(layout)


def right_inverse(layout: Strided) -> Strided:
    """A layout R with layout(R(k)) == k for each k below its own size, as CuTe's right_inverse."""
    from .cute import right_inverse

    return right_inverse(layout)


def left_inverse(layout: Strided) -> Strided:
    """A layout L with L(layout(k)) == k for each k below its size, as CuTe's left_inverse."""
    from .cute import left_inverse

    return left_inverse(layout)


def logical_product(layout: Strided, tiler: Any) -> Strided:
    """The layout repeated in the pattern of a tiler, as CuTe's logical_product."""
    from .cute import logical_product

    return logical_product(layout, tiler)


def picture(layout: Block, **options: Any) -> Any:
    """A picture, by the options of Block.show."""
    from .show import pictures

    return pictures.of_layout(layout, **options)


def notebook(layout: Block) -> str:
    """A picture as HTML, or the expression."""
    from .show import pictures

    return pictures.notebook(layout)


def check(layout: Block, sizes: Mapping[str, int]) -> str:
    """A check at every index; a line that says so."""
    from .check.exhaustive import check

    return check(layout, sizes)


def affine_map(layout: Block) -> Any:
    """The affine map of apply, as a unit of the language of such maps has it."""
    from .pipeline import generate

    return generate(layout, "mlir").affine_map()
