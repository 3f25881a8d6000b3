"""pack and unpack within torch.compile: one operator of PyTorch's, which its compiler does not look into."""

from __future__ import annotations

import ctypes
from typing import Any

import torch  # pyright: ignore[reportMissingImports]

from ..algebra.block import Block
from ..errors import LayoutError, OptionError
from . import moving

Asked = tuple[str, Block, Any, Any]  # "pack" or "unpack", the layout, of=, fill=

_asked: list[Asked] = []  # by the number that a graph holds
_numbers: dict[Asked, int] = {}


def pack(layout: Block, x: Any, of: Any, fill: Any, out: Any, engine: Any) -> Any:
    """As Block.pack, where torch.compile traces it."""
    if out is not None or engine is not None:
        raise OptionError(
            "pack: torch.compile chooses memory and routine; leave out= and engine= out"
        )
    if isinstance(of, Block):
        return _moved(x, _number_at("pack", id(layout), id(of), True, fill))
    return _moved(x, _number_at("pack", id(layout), of, False, fill))


def unpack(layout: Block, m: Any, of: Any, fill: Any, copy: Any) -> Any:
    """As Block.unpack, where torch.compile traces it: always a copy."""
    if copy is False:
        raise LayoutError("unpack: torch.compile gives no views; leave copy=False out")
    if isinstance(of, Block):
        return _moved(m, _number_at("unpack", id(layout), id(of), True, fill))
    return _moved(m, _number_at("unpack", id(layout), of, False, fill))


@torch.compiler.assume_constant_result
def _number_at(way: str, layout: int, of: Any, is_layout: bool, fill: Any) -> int:
    """The number of a movement. Dynamo takes no layout as a constant but its id(), of an object that lives: it compares
    it before each call of what it compiles."""
    given = _object(of) if is_layout else None if of is None else tuple(of)
    return _number((way, _object(layout), given, fill))


def _object(at: int) -> Block:
    found = ctypes.cast(at, ctypes.py_object).value
    if not isinstance(found, Block):  # what stands for one in the trace
        raise LayoutError(
            "pack: make the layout outside of the function that torch.compile compiles"
        )
    return found


def _number(asked: Asked) -> int:
    if asked not in _numbers:
        _numbers[asked] = len(_asked)
        _asked.append(asked)
    return _numbers[asked]


def _run(x: torch.Tensor, number: int) -> torch.Tensor:
    way, layout, of, fill = _asked[number]
    if way == "pack":
        return moving.pack(layout, x, of, fill, None, None)
    return moving.unpack(layout, x, of, fill, True)


_moved: Any = torch.library.custom_op("lego_emit::moved", _run, mutates_args=())


@_moved.register_fake
def _shaped(x: torch.Tensor, number: int) -> torch.Tensor:
    """Memory of the result's shape."""
    way, layout, of, _ = _asked[number]
    return x.new_empty(moving.shape_of(layout, x, of, way))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.number = inputs[1]


def _gradient(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
    """The movement back, with zeros where there is nothing."""
    way, layout, of, _ = _asked[ctx.number]
    back = "unpack" if way == "pack" else "pack"
    return _moved(gradient, _number((back, layout, of, 0))), None


_moved.register_autograd(_gradient, setup_context=_keep)
