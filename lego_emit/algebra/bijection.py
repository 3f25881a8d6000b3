"""Calls of GenP's functions on Python ints, and the check that they are a bijection.

The check is ours to make: the paper leaves it to the user (section III-B, Correctness).
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice, product
from types import CellType, CodeType, FunctionType, NoneType
from typing import Any, Protocol

from ..ends import Endless, bounded, may_not_end, names_in
from ..errors import LayoutError, a_type, error_text, line_in, short_repr
from ..numeric import as_integer, is_array, is_symbolic

EXHAUSTIVE = 65536
SAMPLES = 4096
NEAR = 16  # numbers that functions hold, about which is looked


class GenP(Protocol):
    """What a GenP block is here."""

    @property
    def dims(self) -> tuple[int, ...]:
        """The sizes of the index."""
        ...

    @property
    def size(self) -> int:
        """How many indices there are."""
        ...

    @property
    def apply_function(self) -> Any:
        """The user's function from an index to its flat position, called as apply(*index)."""
        ...

    @property
    def inv_function(self) -> Any:
        """inv(flat) -> index, or None."""
        ...


def call_apply(genp: GenP, index: tuple[int, ...], watched: bool = False) -> int:
    """genp's position of an index. Raises LayoutError unless it is an integer, and in
    0 <= position < size where genp has an inverse. watched: it is stopped where it does not end."""
    position = _called(genp, "apply", genp.apply_function, index, watched)
    if type(position) is not int:
        position = _integer(genp, "apply", index, position)
    if genp.inv_function is not None and not 0 <= position < genp.size:
        raise LayoutError(
            f"{genp!r}: apply({_listed(index)}) gives {short_repr(position)}, outside 0..{short_repr(genp.size - 1)}: not a bijection. "
            "Correct it, or leave inv out if it is meant to leave its range (section III-D)"
        )
    return position


def call_inv(genp: GenP, flat: int, watched: bool = False) -> tuple[int, ...]:
    """genp's index of a position. Raises LayoutError unless it is one in-range integer for each
    dimension."""
    assert genp.inv_function is not None
    found = _called(genp, "inv", genp.inv_function, (flat,), watched)
    rank = len(genp.dims)
    if rank == 1 and not isinstance(found, list | tuple):
        found = (found,)
    if not isinstance(found, list | tuple) or len(found) != rank:
        raise LayoutError(
            f"{genp!r}: inv({short_repr(flat)}) gives {short_repr(found)}; give a tuple of {rank} integers"
        )
    index = tuple(i if type(i) is int else _integer(genp, "inv", (flat,), i) for i in found)
    if not all(0 <= i < n for i, n in zip(index, genp.dims, strict=True)):
        raise LayoutError(
            f"{genp!r}: inv({short_repr(flat)}) gives {short_repr(index)}, outside its sizes"
        )
    return index


def check(genp: GenP) -> None:
    """Raises LayoutError with the first counterexample if genp, of integer sizes, is no bijection
    or its inv does not invert; without an inverse, only if apply gives no integers."""
    _checked(SameGenP((genp.dims, reads(genp)), genp))


@dataclass(frozen=True)
class SameGenP:
    """A GenP that stands for all that compute the same."""

    key: Hashable
    genp: GenP = field(compare=False)


@lru_cache(maxsize=256)
def _checked(same: SameGenP) -> None:
    genp = same.genp
    seen: dict[int, tuple[int, ...]] = {}
    functions = [f for f in (genp.apply_function, genp.inv_function) if f is not None]
    watched = any(map(may_not_end, functions))
    near = numbers_near(*functions)
    if (
        watched and SAMPLES < genp.size <= EXHAUSTIVE
    ):  # to watch each one takes several times as long
        for index in positions(genp.dims, genp.size, SAMPLES, near=near):
            position = call_apply(genp, index, watched)
            if genp.inv_function is not None:
                call_inv(genp, position, watched)
        watched = False
    for index in positions(genp.dims, genp.size, near=near):
        position = call_apply(genp, index, watched)
        if genp.inv_function is None:
            continue
        if seen.setdefault(position, index) != index:
            raise LayoutError(
                f"{genp!r}: apply({_listed(seen[position])}) and apply({_listed(index)}) both "
                f"give {short_repr(position)}: not a bijection. Correct it, or leave inv out if it is meant to "
                "be many-to-one (section III-D)"
            )
        back = call_inv(genp, position, watched)
        if back != index:
            raise LayoutError(
                f"{genp!r}: apply({_listed(index)}) gives {short_repr(position)} but inv({short_repr(position)}) gives "
                f"({_listed(back)}): inv must undo apply"
            )


def positions(
    dims: tuple[int, ...],
    size: int,
    exhaustive: int = EXHAUSTIVE,
    samples: int = SAMPLES,
    near: Sequence[int] = (),
) -> Iterator[tuple[int, ...]]:
    """Every index of dims, whose product is size; of more than `exhaustive`, the corners, those at
    the numbers `near`, along each axis and as a flat position, and so many samples, the same every
    time; each once."""
    if size <= exhaustive:
        yield from product(*map(range, dims))
        return
    done: set[tuple[int, ...]] = set()
    for index in _chosen(dims, size, exhaustive, samples, near):
        if index not in done:
            done.add(index)
            yield index


def _chosen(
    dims: tuple[int, ...], size: int, most: int, samples: int, near: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    yield from islice(product(*(sorted({0, n - 1}) for n in dims)), most)
    for number in near:
        if 0 <= number < size:
            yield unravel(dims, number)
        for axis, n in enumerate(dims):
            if 0 <= number < n:
                yield tuple(number if k == axis else 0 for k in range(len(dims)))
    draw = random.Random(0)
    for _ in range(samples):
        yield tuple(draw.randrange(n) for n in dims)


def unravel(dims: Sequence[int], flat: int) -> tuple[int, ...]:
    """The index of a row-major position."""
    digits = []
    for n in reversed(dims):
        flat, digit = divmod(flat, n)
        digits.append(digit)
    return tuple(reversed(digits))


def numbers_near(*functions: Any) -> list[int]:
    """The numbers that stand in functions, and their neighbors: where these are no bijection at
    a few indices only, most likely there."""
    found: dict[int, None] = {}
    for function in functions:
        while isinstance(function, partial):
            function = function.func
        if isinstance(function, FunctionType):
            found |= dict.fromkeys(islice(_numbers_in(function.__code__), NEAR))
    return [*dict.fromkeys(n + d for n in found for d in (-1, 0, 1))]


def _numbers_in(code: CodeType) -> Iterator[int]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _numbers_in(constant)
        else:
            several = constant if isinstance(constant, tuple | frozenset) else (constant,)
            yield from sorted(n for n in several if type(n) is int and n > 1)


def reads(genp: GenP) -> Hashable:
    """What genp's functions read beside their arguments, as far as it shows: what they captured
    and their module's variables. What was found out about them holds while that stays the same."""
    seen: dict[int, Any] = {}
    try:
        read = _read(genp.apply_function, seen), _read(genp.inv_function, seen)
        hash(read)
    except Exception:  # lists that are nested too deep, a user's __hash__ that fails
        return object()
    return read


def _read(value: Any, seen: dict[int, Any]) -> Hashable:
    """A value that can be compared later with what it is then."""
    if isinstance(value, bool | int | str | NoneType):
        return type(value), value
    if id(value) in seen:
        return None
    seen[id(value)] = value
    if isinstance(value, FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if c != CellType()]  # not empty
        around = value.__globals__
        read = {n: around[n] for n in sorted(names_in(value.__code__)) if n in around}
        for name, found in read.items():  # another module's functions stay as they are
            if isinstance(found, FunctionType) and found.__globals__ is not around:
                read[name] = id(found)
        parts = [cells, read, value.__defaults__, value.__kwdefaults__]
        return (value.__code__, *(_read(x, seen) for x in parts))
    if isinstance(value, partial):
        return tuple(_read(x, seen) for x in (value.func, value.args, value.keywords))
    if isinstance(value, list | tuple):
        return tuple(_read(x, seen) for x in value)
    if isinstance(value, dict):
        return tuple((_read(k, seen), _read(x, seen)) for k, x in value.items())
    if is_array(value):
        return value.shape, value.dtype.str, value.tobytes()
    if hasattr(value, "__lego_symbolic__"):  # in a trace, it depends on what is known there
        return object() if hasattr(value, "context") else value.key
    return value if isinstance(value, Hashable) else object()


def symbols_in(*functions: Any) -> tuple[Any, ...]:
    """The symbolic values that functions hold: what they captured, their defaults, the arguments of a
    partial, and variables of their module."""
    found: dict[Any, Any] = {}
    seen: set[int] = set()
    stack = [*reversed(functions)]
    while stack:
        value = stack.pop()
        if is_symbolic(value):
            found.setdefault(str(value), value)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType):
            cells = [c.cell_contents for c in value.__closure__ or () if c != CellType()]
            around = value.__globals__
            read = [around[n] for n in sorted(names_in(value.__code__)) if n in around]
            read = [x for x in read if is_symbolic(x)]
            stack += [value.__kwdefaults__, value.__defaults__, *read, *reversed(cells)]
        elif isinstance(value, partial):
            stack += [value.keywords, value.args, value.func]
        elif isinstance(value, list | tuple):
            stack += reversed(value)
        elif isinstance(value, dict):
            stack += reversed(value.values())
    return tuple(found.values())


def _called(genp: GenP, name: str, function: Any, arguments: tuple[int, ...], watched: bool) -> Any:
    try:
        return bounded(function, *arguments) if watched else function(*arguments)
    except Endless as error:
        raise LayoutError(
            f"{genp!r}: {name}({_listed(arguments)}) {error}; give its loops an end, whatever the "
            f"arguments"
        ) from None
    except (Exception, SystemExit) as error:
        line = line_in(function, error)
        raise LayoutError(
            f"{genp!r}: {name}({_listed(arguments)}) raised {type(error).__name__}{line}: {error_text(error)}"
        ) from error


def _integer(genp: GenP, name: str, arguments: tuple[int, ...], value: Any) -> int:
    number = as_integer(value)
    if number is None:
        hint = "; write // for integer division, / gives floats" * isinstance(value, float)
        raise LayoutError(
            f"{genp!r}: {name}({_listed(arguments)}) gives {short_repr(value)}, {a_type(value)}, "
            f"where an integer is wanted{hint}"
        )
    return number


def _listed(items: tuple[int, ...]) -> str:
    return ", ".join(map(short_repr, items))
