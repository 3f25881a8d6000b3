"""What templates of Hopper's kernels print: descriptors of wgmma, coordinates and maps of TMA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pkgutil import resolve_name
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Expr
from ..errors import TemplateError
from .values import Kernel, Value

WGMMA, TMA = "wgmma", "TMA"
_OLDEST = 90  # of GPUs that have TMA; wgmma is 9.0's alone


class Map:
    """A tensor map as a template sees it: {{ map.coordinates(p, s, 0, 0) }} and so on. boxes, box, bytes,
    dims, strides and swizzle: as cute.TensorMap has them."""

    def __init__(self, kernel: Kernel, name: str, layout: Block, made: Any):
        self._kernel, self._name, self._layout, self._made = kernel, name, layout, made
        self.boxes, self.box, self.bytes = made.boxes, made.box, made.box_bytes
        self.swizzle = made.swizzle.name
        self.dims = tuple(self._size(n, f"dims[{k}]") for k, n in enumerate(made.dims))
        self.strides = tuple(self._size(n, f"strides[{k}]") for k, n in enumerate(made.strides))

    def _size(self, size: Any, said: str) -> Value:
        """A size of the tensor, printed with what the layout says of its sizes."""
        said = f"{self._name}.tensor_map(..).{said}"
        made = Value(self._kernel, lambda: Expr.of(size), said, (), (self._layout,))
        return made.resting_on(self._made)

    def coordinates(self, *index: Any) -> str:
        """Those of an index of the layout, with commas between them: the contiguous dim's first."""
        given = [self._kernel.value(i) for i in index]
        said = f"{self._name}.tensor_map(..).coordinates({', '.join(v.said for v in given)})"

        def one(k: int) -> Value:
            def make() -> Any:
                return self._made.coordinates(*(Expr.of(v.make()) for v in given))[k]

            made = Value(self._kernel, make, f"{said}[{k}]", given, (self._layout,))
            return made.resting_on(self._made)

        self._made.coordinates(*given)  # which counts them
        return ", ".join(str(one(k)) for k in range(len(self._made.dims)))

    def encode(self, name: str) -> str:
        """A host function of this name, (map, memory, sizes..), that calls cuTensorMapEncodeTiled."""
        sizes = sorted(
            {s for n in (*self._made.dims, *self._made.strides) for s in Expr.of(n).symbols()}
        )
        dims, strides = (list(map(str, part)) for part in (self.dims, self.strides))
        return _forms(self._kernel, TMA).encoded(name, sizes, self._made, dims, strides)


def mapped(kernel: Kernel, name: str, tensor: Block, tile: Block, bits: int) -> Map:
    """The tensor map of a layout of global memory. Raises TemplateError where the language or the GPU has
    no TMA, LayoutError as cute.make_tensor_map does."""
    from ..cute import make_tensor_map

    _forms(kernel, TMA)
    return Map(kernel, name, tensor, make_tensor_map(tensor, tile, bits))


def operand(kernel: Kernel, tile: Block, rows: Any, bits: int) -> Any:
    """The operand of wgmma that stands in a tile. Raises TemplateError where the language or the GPU has no
    wgmma, LayoutError as cute.make_gmma_operand does."""
    _forms(kernel, WGMMA)
    return _operand(tile, int(rows), bits)


@lru_cache(maxsize=64)
def _operand(tile: Block, rows: int, bits: int) -> Any:
    from ..cute import make_gmma_operand

    return make_gmma_operand(tile, rows, bits)


def descriptor(
    kernel: Kernel, name: str, made: Any, address: Any, index: Sequence[Value], position: Value
) -> str:
    """The descriptor of a part of a tile. position: of its first element, in elements.

    Raises TemplateError where that is not proven to be a multiple of the operand's shape.
    """
    for value, part in zip(index, made.shape, strict=False):
        if not kernel.is_zero(value % part):
            raise TemplateError(
                f"{name}.gmma_desc: {value.said} is not proven to be a multiple of {part}, where operands of "
                f"{made.shape[0]} x {made.shape[1]} begin; write it so, as {part} * n"
            )
    forms, offset = _forms(kernel, WGMMA), str(position * (256 // made.shape[1] // 8))
    return forms.descriptor(made.descriptor.encoded(0), str(kernel.value(address)), offset)


def _forms(kernel: Kernel, what: str) -> Any:
    """The language's spelling. Raises TemplateError where it or the GPU that is said lacks it."""
    printer, arch = kernel.printer, kernel.arch
    if not printer.hopper:
        raise TemplateError(
            f"{printer.title} has no {what}: it is CUDA C's, for compute capability 9.0"
        )
    number = int((re.findall(r"\d+", arch or "") or [_OLDEST])[0])
    if arch is not None and (arch != "sm_90a" if what == WGMMA else number < _OLDEST):
        needed = "sm_90a" if what == WGMMA else "sm_90 or newer"
        raise TemplateError(f"{arch} has no {what}; it takes arch={needed}")
    return resolve_name(printer.hopper)
