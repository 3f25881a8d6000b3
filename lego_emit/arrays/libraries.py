"""What is asked of the library that an array is of: NumPy, PyTorch, and those of the array API standard.

An array knows its library: by `__array_namespace__`, as the standard has it (JAX, CuPy and NumPy 2, tracers
included), or by the package that its class is from, which is loaded then (PyTorch).
"""

from __future__ import annotations

import sys
from typing import Any

from ..errors import IndexRangeError, WidthError
from ..numeric import bits_of, is_array


def library_of(x: Any) -> Any:
    """The functions for an array such as x; None where its library is not known."""
    if is_array(x):
        return sys.modules["numpy"]
    if (namespace := getattr(x, "__array_namespace__", None)) is not None:
        return namespace()
    for base in type(x).__mro__:
        package = sys.modules.get(base.__module__.partition(".")[0])
        if hasattr(package, "arange") and hasattr(package, "where"):
            return package
    return None


def ends_of(x: Any) -> tuple[int, int]:
    """The least and the greatest integer that an array such as x holds; of 64 bits where its dtype says nothing."""
    bits, unsigned = bits_of(x) or (64, False)
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """then where a condition holds, else otherwise; by operators where a library has no function for it."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    library = library_of(condition)
    if library is not None:
        return library.where(condition, then, otherwise)
    return condition * (then - otherwise) + otherwise


def table_on(x: Any, table: Any) -> Any:
    """A NumPy array of integers as an array of the library and on the device of x."""
    library = library_of(x)
    if hasattr(x, "new_tensor"):  # PyTorch
        return x.new_tensor(table, dtype=library.int64)
    if library is None:
        raise IndexRangeError(
            f"this layout is a table or a loop on arrays, and {type(x).__name__} has Python's operators alone; "
            "give an array of NumPy, PyTorch or of a library with __array_namespace__"
        )
    return library.asarray(table, **_place(x, library))


def steps_on(x: Any, first: int, last: int, step: int) -> Any:
    """The numbers range(first, last, step), as an array of the library, the device and the dtype of x."""
    library = library_of(x)
    if library is None:
        raise IndexRangeError(
            f"':' beside a {type(x).__name__} needs its library's arange, which is not known; give its numbers "
            "in the place of the ':'"
        )
    least, most = ends_of(x)
    numbers = range(first, last, step)
    if (
        numbers
        and not least <= min(numbers[0], numbers[-1]) <= max(numbers[0], numbers[-1]) <= most
    ):
        raise WidthError(
            f"':' stands for {len(numbers)} numbers up to {max(numbers[0], numbers[-1])}, and beside it an array of {x.dtype} holds "
            f"{least}..{most}; convert it to wider integers first"
        )
    return library.arange(first, last, step, dtype=x.dtype, **_place(x, library))


def _place(x: Any, library: Any) -> dict[str, Any]:
    """The argument that says on which device an array is made; CuPy's functions have none: the current device's
    arrays are those that it computes with."""
    device = getattr(x, "device", None)
    return {} if device is None or library.__name__ == "cupy" else {"device": device}
