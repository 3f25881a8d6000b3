"""What kind of number a value is."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Integral
from typing import Any


def is_integer(x: Any) -> bool:
    """Whether x is an integer, Python's or NumPy's; True and False are none."""
    return type(x) is int or (isinstance(x, Integral) and not isinstance(x, bool))


def as_integer(x: Any) -> int | None:
    """The int that x is by its __index__, whatever x is; None where it is none."""
    try:
        return int(operator.index(x))
    except Exception:  # a class has an __index__ that does not take itself; a user's may fail
        return None


def is_array(x: Any) -> bool:
    """Whether x is a NumPy array."""
    # There can be no array before NumPy is loaded.
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.ndarray)


def is_operand(x: Any) -> bool:
    """Whether x is an array or a tracer of integers of another library: it has NumPy's dtype and shape, and
    Python's operators."""
    return bits_of(x) is not None and not is_array(x) and not isinstance(x, Integral)


def bits_of(x: Any) -> tuple[int, bool] | None:
    """(the bits of an array's integers, whether they are unsigned); None of what is no such array.

    A dtype is read by its name: int32, torch.int32, <dtype: 'int32'>.
    """
    dtype = getattr(x, "dtype", None)
    found = _INTEGERS.search(str(dtype)) if dtype is not None and hasattr(x, "shape") else None
    return (int(found[2]), bool(found[1])) if found else None


_INTEGERS = re.compile(r"(?:^|\W)(u?)int(\d+)\W*$")


def is_symbolic(x: Any) -> bool:
    """Whether x is an expression of ours or of SymPy."""
    return hasattr(x, "__lego_symbolic__") or is_sympy(x)


def is_sympy(x: Any) -> bool:
    """Whether x is SymPy's, or one of our own nodes in a SymPy expression."""
    return _is_sympy_class(type(x))


@cache
def _is_sympy_class(cls: type) -> bool:
    return any(str(base.__module__).split(".")[0] == "sympy" for base in cls.__mro__)


def apart(sizes: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Numbers by name with structs and arrays member by member: {"size": Coord(4, 5)} is size.x and size.y."""
    for name, value in sizes.items():
        if named := getattr(value, "_asdict", None):
            yield from ((f"{name}.{field}", v) for field, v in named().items())
        elif isinstance(value, tuple | list):
            yield from ((f"{name}[{k}]", v) for k, v in enumerate(value))
        elif is_dataclass(value) and not isinstance(value, type):
            own = (f.name for f in fields(value) if f.init)
            yield from ((f"{name}.{field}", getattr(value, field)) for field in own)
        else:
            yield name, value
