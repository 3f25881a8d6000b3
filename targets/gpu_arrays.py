"""Arrays on a GPU of any library: taken by __cuda_array_interface__ or DLPack, and given in the library they are of."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from lego_emit.packages import numpy as np

INTERFACE = "__cuda_array_interface__"
CUDA = 2, 13  # of DLPack's devices: a GPU's memory, and memory that both see
WITH_INTERFACE = ("torch", "cupy")  # that make arrays which have it of DLPack


def is_there(value: Any) -> bool:
    """Whether a value is an array in a GPU's memory."""
    if hasattr(value, "gpudata") or hasattr(value, INTERFACE):
        return True
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and device()[0] in CUDA


def taken(value: Any, number: int, what: str) -> Any:
    """An array as PyCUDA's, of the same memory.

    number: of the GPU; what: how errors call the array. Raises TypeError where it is another GPU's, is
    not contiguous, or nothing here reads its DLPack.
    """
    from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

    if hasattr(value, "gpudata"):
        if not value.flags.c_contiguous:
            raise TypeError(f"the GPU array {what} is not contiguous; pass {what}.copy()")
        return value
    device = getattr(value, "__dlpack_device__", None)
    if device is not None and (at := device())[0] in CUDA and at[1] != number:
        raise TypeError(
            f"{what} is in the memory of GPU {at[1]}, and the functions run on {number}"
        )
    if not hasattr(value, INTERFACE):
        packages = [sys.modules[name] for name in WITH_INTERFACE if name in sys.modules]
        if not packages:
            raise TypeError(
                f"{what} has DLPack and no {INTERFACE}; import PyTorch or CuPy, which read it"
            )
        value = packages[0].from_dlpack(value)
    said = getattr(value, INTERFACE)
    shape, dtype = tuple(said["shape"]), np.dtype(said["typestr"])
    made = gpuarray.GPUArray(shape, dtype, gpudata=said["data"][0], base=value)
    if (strides := said.get("strides")) is not None and tuple(strides) != tuple(made.strides):
        raise TypeError(f"the GPU array {what} is not contiguous; copy it before")
    return made


def given(shape: Sequence[int], like: Any) -> tuple[Any, Any]:
    """(an int64 array for results, the same as PyCUDA's): of PyTorch or CuPy where `like` is, else PyCUDA's."""
    from pycuda import gpuarray  # pyright: ignore[reportMissingImports]

    package = sys.modules.get(type(like).__module__.partition(".")[0])
    if hasattr(like, "new_empty") and package is not None:  # PyTorch
        made = like.new_empty(tuple(shape), dtype=package.int64)
    elif getattr(package, "__name__", "") == "cupy":
        made = package.empty(tuple(shape), dtype="int64")  # type: ignore[union-attr]
    else:
        made = gpuarray.empty(tuple(shape), np.int64)
        return made, made
    pointer = getattr(made, INTERFACE)["data"][0]
    return made, gpuarray.GPUArray(tuple(shape), np.int64, gpudata=pointer, base=made)
