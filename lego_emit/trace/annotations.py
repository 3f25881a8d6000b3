"""Annotations of a user's function: structs and arrays of integers.

A NamedTuple or a dataclass is a struct, `Array[n]` or `tuple[int, .., int]` an array of n. Everything
else, and nothing, is one integer.
"""

from __future__ import annotations

import builtins
import dataclasses
import re
from collections.abc import Mapping, Sequence
from inspect import Parameter
from types import GenericAlias
from typing import Any, get_origin

from ..arith.expr import Expr
from ..errors import TraceError, did_you_mean, short_repr
from ..ir.program import Group
from ..types import Array

NAME = re.compile(r"[^\W\d]\w*")


def groups_of(
    fn: Any, notes: Mapping[str, Any], parameters: Mapping[str, Parameter]
) -> tuple[dict[str, Group], Group | None]:
    """(the parameters that are structs or arrays, what the result is). notes: the annotations of fn.
    Raises TraceError for a struct or an array that none can be made of."""
    unit = getattr(fn, "__name__", "the function")
    names = {**vars(builtins), **getattr(fn, "__globals__", {}), **_closure(fn)}
    found = {}
    for name, note in notes.items():
        place = f"{unit}: the annotation of {name}" if name != "return" else f"{unit}: its result's"
        if name in parameters or name == "return":
            shape = _shape(_evaluated(note, names, place), name, place)
            if shape is not None:
                found[name] = shape
    result = found.pop("return", None)
    if result is not None:
        members = result.fields or tuple(f"out{k}" for k in range(len(result.members)))
        result = dataclasses.replace(result, name="", members=members)
    return found, result


def _closure(fn: Any) -> dict[str, Any]:
    """The variables that a function closes over."""
    code, cells = getattr(fn, "__code__", None), getattr(fn, "__closure__", None) or ()
    found = {}
    for name, cell in zip(code.co_freevars if code else (), cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    return found


def _evaluated(note: Any, names: dict[str, Any], place: str) -> Any:
    """An annotation; one that is text as the function's module reads it."""
    if not isinstance(note, str):
        return note
    try:
        return eval(note, names)
    except NameError as error:
        if error.name is None or not NAME.match(note.strip()):
            return None
        raise TraceError(
            f"{place} is {note!r}, and nobody defined {error.name}; import it in the function's module, "
            f"or write int.{did_you_mean(error.name, names)}"
        ) from None
    except Exception:  # a remark in words
        return None


def _shape(note: Any, name: str, place: str) -> Group | None:
    """What an annotation says of a parameter; None where it is one integer."""
    if isinstance(note, Array):
        return _array(name, note.count)
    if isinstance(note, GenericAlias) and get_origin(note) is tuple:
        if all(part is int for part in note.__args__):
            return _array(name, len(note.__args__))
        return None
    if not isinstance(note, type):
        return None
    if note is Array:
        raise TraceError(f"{place} is Array; say how many elements it has, as Array[4]")
    if issubclass(note, tuple) and hasattr(note, "_fields"):
        kinds = getattr(note, "__annotations__", {})
        fields = {field: kinds.get(field, int) for field in note._fields}  # pyright: ignore[reportAttributeAccessIssue]
    elif dataclasses.is_dataclass(note):
        fields = {f.name: f.type for f in dataclasses.fields(note) if f.init}
    else:
        return None
    if not fields:
        raise TraceError(f"{place} is {note.__name__}, a struct without fields; give it integers")
    for field, kind in fields.items():
        kind = getattr(kind, "__forward_arg__", kind)
        if kind not in (int, "int"):
            text = kind if isinstance(kind, str) else getattr(kind, "__name__", short_repr(kind))
            raise TraceError(
                f"{place} is {note.__name__}, whose field {field} is {text}; a struct holds integers: "
                f"write {field}: int"
            )
    members = tuple(f"{name}.{field}" for field in fields)
    return Group(name, members, note.__name__, tuple(fields), made=note)


def _array(name: str, count: int) -> Group:
    return Group(name, tuple(f"{name}[{k}]" for k in range(count)))


class Elements(tuple):
    """The elements of an array of symbols. Raises TraceError for an index that is no constant in it."""

    name: str

    def __new__(cls, values: Sequence[Any], name: str) -> Elements:
        """The elements of the parameter of this name."""
        made = super().__new__(cls, values)
        made.name = name
        return made

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        if isinstance(index, Expr):
            index = index.constant
            if index is None:
                raise TraceError(
                    f"{self.name} is read at an index that is no constant; write out what each element "
                    f"does, as in a loop over range({len(self)})"
                )
        try:
            return super().__getitem__(index)
        except IndexError:
            raise TraceError(
                f"{self.name}[{index}]: the array has {len(self)} elements, 0 to {len(self) - 1}"
            ) from None
