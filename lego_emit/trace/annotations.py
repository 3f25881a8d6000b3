"""Annotations of a user's function: structs and arrays of integers.

A NamedTuple or a dataclass is a struct, `Array[n]` or `tuple[int, .., int]` an array of n. Everything
else, and nothing, is one integer.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter
from typing import Any, get_origin

from ..arith.context import plain
from ..arith.expr import Expr, lookup
from ..errors import TraceError, WidthError, did_you_mean, short_repr
from ..ir.index_types import DECLARED, IndexType
from ..ir.nodes import Node
from ..ir.program import Function, Group, Program
from ..ir.relations import const
from ..numeric import is_symbolic
from ..table_lookup import Entries
from ..types import STATIC, Array, ArrayType, T
from .docs import doc_of
from .paths import here
from .trace import step

NAME = re.compile(r"[^\W\d]\w*")


KNOWN = 8  # elements of an array of any length that are named


def groups_of(
    fn: Any, notes: Mapping[str, Any], parameters: Mapping[str, Parameter]
) -> tuple[dict[str, Group], Group | None, dict[str, str], set[str]]:
    """(the parameters that are structs or arrays, what the result is, the types that parameters and their
    members are declared as, and "return", one result, the parameters that are static sizes). notes: the
    annotations of fn. Raises TraceError for a struct, an array or a static size that none can be made of."""
    unit = getattr(fn, "__name__", "the function")
    around = inspect.unwrap(fn)
    names = {**vars(builtins), **getattr(around, "__globals__", {}), **_closure(around)}
    found, types, static = {}, dict[str, str](), set[str]()
    for name, note in notes.items():
        place = f"{unit}: the annotation of {name}" if name != "return" else f"{unit}: its result's"
        if name in parameters or name == "return":
            value = _evaluated(note, names, place)
            if is_static(value):
                _check_static(value, name, place)
                static.add(name)
            shape = _shape(value, name, place)
            if name == "return" and shape is None:
                shape = _beside(value, place)
            if shape is not None:
                found[name] = shape
                types |= {m: t for m, t in zip(shape.names, shape.types, strict=False) if t}
            elif kind := scalar(value):
                types[name] = kind
    result = found.pop("return", None)
    if result is not None:
        members = result.fields or _numbered(len(result.members))
        result = dataclasses.replace(result, name="", members=members)
    return found, result, types, static


def is_static(note: Any) -> bool:
    """Whether an annotation is Static[..]."""
    return any(mark is STATIC for mark in getattr(note, "__metadata__", ()))


def _check_static(note: Any, name: str, place: str) -> None:
    if name == "return":
        raise TraceError(f"{place} is Static; a result is no size: write int")
    if scalar(note) == "bool" or note.__origin__ not in (int, T):
        said = (
            "Bool" if scalar(note) == "bool" else getattr(note.__origin__, "__name__", "no integer")
        )
        raise TraceError(
            f"{place} is Static[{said}]; a static size is one integer: write Static[int]"
        )


def scalar(note: Any) -> str:
    """The name of the type that an annotation declares an integer as; "" for the index type."""
    marks = getattr(note, "__metadata__", ())
    return next((str(mark) for mark in marks if isinstance(mark, IndexType)), "")


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
    except TraceError as error:  # of Array[..]
        raise TraceError(f"{place} is {note!r}: {error}") from None
    except Exception:  # a remark in words
        return None


def _shape(note: Any, name: str, place: str) -> Group | None:
    """What an annotation says of a parameter; None where it is one integer."""
    if isinstance(note, Group):  # a result of ours
        return note
    if isinstance(note, ArrayType):
        if note.count is None and name == "return":
            raise TraceError(f"{place} is Array[...]; say how many elements it has, as Array[4]")
        return _array(name, note.count, scalar(note.kind))
    if hasattr(note, "__metadata__"):  # Annotated[..]
        return _shape(note.__origin__, name, place)
    if get_origin(note) is tuple:
        kinds = [scalar(part) for part in note.__args__]
        if kinds and all(k or part is int for k, part in zip(kinds, note.__args__, strict=True)):
            if len({*kinds}) > 1:
                raise TraceError(f"{place} has elements of several types; an array has one type")
            return _array(name, len(kinds), kinds[0])
        return None
    if not isinstance(note, type):
        return None
    if note is Array:
        raise TraceError(
            f"{place} is Array; say how many elements it has, as Array[4], or any: Array[...]"
        )
    if issubclass(note, tuple) and hasattr(note, "_fields"):
        kinds = _of_fields(note)
        fields = {field: kinds.get(field, int) for field in note._fields}  # pyright: ignore[reportAttributeAccessIssue]
    elif dataclasses.is_dataclass(note):
        kinds = _of_fields(note)
        fields = {f.name: kinds.get(f.name, f.type) for f in dataclasses.fields(note) if f.init}
    else:
        return None
    if not fields:
        raise TraceError(f"{place} is {note.__name__}, a struct without fields; give it integers")
    for field, kind in fields.items():
        kind = getattr(kind, "__forward_arg__", kind)
        if is_static(kind):
            raise TraceError(
                f"{place} is {note.__name__}, whose field {field} is Static; a static size is a parameter "
                f"of its own: write {field}: int"
            )
        if kind not in (int, "int") and not scalar(kind):
            text = kind if isinstance(kind, str) else getattr(kind, "__name__", short_repr(kind))
            raise TraceError(
                f"{place} is {note.__name__}, whose field {field} is {text}; a struct holds integers: "
                f"write {field}: int"
            )
    members = tuple(f"{name}.{field}" for field in fields)
    own = tuple(fields)
    types = tuple(map(scalar, fields.values()))
    types = types if any(types) else ()
    doc = doc_of(note).summary
    doc = "" if doc.startswith(f"{note.__name__}(") else doc  # which Python itself gives it
    return Group(name, members, note.__name__, own, own=own, made=note, types=types, doc=doc)


def _beside(note: Any, place: str) -> Group | None:
    """A result that is a struct or an array, and one integer after it; None where it is no such pair."""
    parts = note.__args__ if get_origin(note) is tuple else ()
    if len(parts) != 2 or not (parts[1] is int or scalar(parts[1])):
        return None
    shape = _shape(parts[0], "return", place)
    if shape is None:
        return None
    names = _numbered(len(shape.members) + 1)
    last = next(n for n in (names[-1], "result") if n not in shape.fields)
    return dataclasses.replace(shape, beside=(last, scalar(parts[1])))


def _numbered(count: int) -> tuple[str, ...]:
    """What results without names are called."""
    return tuple(f"out{k}" for k in range(count))


def _of_fields(kind: type) -> dict[str, Any]:
    """The annotations of a class; one that is text as its module reads it, where it can."""
    around = {**vars(builtins), **vars(sys.modules.get(kind.__module__, builtins))}
    found = {}
    for base in reversed(kind.__mro__):
        for name, note in vars(base).get("__annotations__", {}).items():
            note = getattr(note, "__forward_arg__", note)
            if isinstance(note, str) and note != "int":
                try:
                    note = eval(note, around)
                except Exception:  # it is said with the field
                    pass
            found[name] = note
    return found


def regrouped(
    program: Program,
    index: Any,
    groups: Mapping[str, Any],
    sizes: Mapping[str, int],
    types: Mapping[str, str],
) -> Program:
    """A program in which the index of a layout is the struct or the array that a type says, and symbols
    are members of those that are given by name. sizes: members that are numbers; types: what all members
    of one are declared as, by its name. Raises TraceError where they do not fit."""
    shape = None if index is None else _shape(index, "index", "index")
    if index is not None and shape is None:
        raise TraceError(
            f"index is {short_repr(index)}; give a NamedTuple's class or Array[n] for the index of a layout"
        )
    made = [_of_symbols(name, value) for name, value in groups.items()]
    if shape is not None and "index" in groups:
        raise TraceError("group has index, which is what index= calls the index; name it otherwise")
    if shape is not None and "index" in types:
        shape = dataclasses.replace(shape, types=(types["index"],) * len(shape.members))
    for k, group in enumerate(made):
        kinds = (types[group.name],) * len(group.members) if group.name in types else group.types
        members = tuple(sizes.get(str(n), n) for n in group.members)
        made[k] = dataclasses.replace(group, members=members, types=kinds)
    known = {p.name for f in program.functions for p in f.params}
    static = {p.name for f in program.functions for p in f.params if p.static}
    for group in made:
        for n in group.names:
            if n in static:
                raise TraceError(
                    f"group: {group.name} has {n}, a static size, which is a parameter of its own"
                )
            if n not in known:
                raise TraceError(
                    f"group: {group.name} has {n}, which is not a parameter; parameters: "
                    f"{', '.join(sorted(known))}.{did_you_mean(n, known)}"
                )
    layouts = [p for p in program.subjects if any(q.axis for q in p[0].params) and not p[0].axes]
    if shape is not None and not layouts:
        raise TraceError("index= is for layouts; annotate the parameters of an index function")
    functions = []
    for part in program.subjects:
        for k, f in enumerate(part):
            own = _with_groups(f, made)
            is_words = k > 0 and part[0].packing is not None  # how many there are has no index
            if shape and part in layouts and not is_words:
                own = _of_index(own, shape, inverse=k > 0)
            functions.append(own)
    return dataclasses.replace(program, functions=tuple(functions))


def _of_index(f: Function, shape: Group, inverse: bool) -> Function:
    """A layout's function whose index is of a shape. inverse: it gives the index."""
    names = tuple(n for n, _ in f.outputs) if inverse else tuple(p.name for p in f.params if p.axis)
    if len(names) != len(shape.members):
        raise TraceError(
            f"index is a struct or an array of {len(shape.members)} ({shape.struct or 'Array'}), and the "
            f"index of {f.name} has {len(names)} parts: {', '.join(names)}"
        )
    f = dataclasses.replace(f, summary=f.summary.replace(f" ({', '.join(names)})", ""))
    if inverse:
        result = dataclasses.replace(shape, name="", members=names)
        assumed = [*f.assumed, *_kept(f, shape)]
        return dataclasses.replace(
            f, result=result, types=shape.types or f.types, assumed=tuple(assumed)
        )
    return _typed(f, dataclasses.replace(shape, members=names))


def _kept(f: Function, shape: Group) -> Iterator[Node]:
    """What must hold for the members of a result to hold the index. Raises WidthError where none does."""
    for promise, (name, _), kind in zip(f.promises, f.outputs, shape.types, strict=False):
        most, end = DECLARED[kind].most if kind else None, promise.end
        if most is None or end is None:
            continue
        size = next((p for p in f.params if end.op == "var" and p.name == end.value), None)
        if size is not None and size.type and DECLARED[size.type].most <= most + 1:
            continue
        if end.op != "const":
            yield Node("le", (end, const(most + 1)))
        elif end.value > most + 1:
            raise WidthError(
                f"{f.name}: {name} reaches {end.value - 1}, and {shape.struct or 'the array'} has {kind}, which "
                f"holds {most}; declare a wider type"
            )


def _typed(f: Function, group: Group) -> Function:
    """A function with one struct or array more, whose members are declared as it says."""
    kinds = dict(zip(group.members, group.types, strict=False))
    params = (dataclasses.replace(p, type=kinds.get(p.name) or p.type) for p in f.params)
    return dataclasses.replace(f, params=tuple(params), groups=(*f.groups, group))


def _with_groups(f: Function, groups: Sequence[Group]) -> Function:
    """A function in which symbols are members of groups; of those that it has not, nothing is read."""
    own = {p.name for p in f.params}
    found = []
    for group in groups:
        if not own.isdisjoint(group.names):
            members = tuple(n if isinstance(n, int) or n in own else 0 for n in group.members)
            found.append(dataclasses.replace(group, members=members))
    groups = (*f.groups, *found)
    apart = own - {n for group in groups for n in group.names}
    for group in groups:
        if group.name in apart:
            raise TraceError(
                f"{f.name} has a parameter {group.name} beside the struct or array of that name; "
                "rename one"
            )
    for group in found:
        f = _typed(f, group)
    return f


def _of_symbols(name: str, value: Any) -> Group:
    """A struct or an array of symbols, as a value in Python has them."""
    if not name.isidentifier():
        raise TraceError(f"group has {short_repr(name)}, which is no name for a parameter")
    kind = type(value)
    shape = (
        _shape(kind, name, f"group: {name}")
        if kind not in (tuple, list)
        else _array(name, len(value))
    )
    if shape is None or not shape.members:
        raise TraceError(
            f"group: {name} is {short_repr(value)}; give a struct of symbols, such as Coord(M, N), or a tuple"
        )
    members = []
    for member in shape.split(value):
        symbol = Expr.of(member).single if is_symbolic(member) else None
        text = member if isinstance(member, str) else symbol.args[0] if symbol is not None else None
        if not isinstance(text, str) or (symbol is not None and symbol.kind != "sym"):
            raise TraceError(
                f"group: {name} has {short_repr(member)}; its members are symbols, or names of parameters"
            )
        if text in members:
            raise TraceError(f"group: {name} has {text} twice; a member is one symbol")
        members.append(text)
    return dataclasses.replace(shape, members=tuple(members))


def in_symbols(sizes: Mapping[str, int], groups: Mapping[str, Any]) -> dict[str, int]:
    """sizes= of a layout whose symbols are members of structs and arrays, by the symbols' names."""
    names: dict[str, str | int] = {}
    for name, value in groups.items():
        group = _of_symbols(name, value)
        own = [f".{f}" for f in group.fields] or [f"[{k}]" for k in range(len(group.members))]
        names |= {f"{name}{text}": n for text, n in zip(own, group.members, strict=True)}
    return {str(names.get(name, name)): number for name, number in sizes.items()}


def _array(name: str, count: int | None, kind: str = "") -> Group:
    """count: None of an array of any length."""
    known = KNOWN if count is None else count
    types = (kind,) * known if kind else ()
    members = tuple(f"{name}[{k}]" for k in range(known))
    return Group(name, members, types=types, open=count is None)


class Elements(tuple):
    """The elements of an array of n symbols. Raises TraceError for an index that is none of it."""

    group: Group

    def __new__(cls, values: Sequence[Any], group: Group) -> Elements:
        """The elements of the parameter that a group is."""
        made = super().__new__(cls, values)
        made.group = group
        return made

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, Expr):
            return _at(self.group, tuple(self), index)
        try:
            found = super().__getitem__(index)
        except IndexError:
            raise TraceError(
                f"{self.group.name}[{index}]: the array has {len(self)} elements, 0 to {len(self) - 1}"
            ) from None
        return tuple(found) if isinstance(index, slice) else found


class OpenElements:
    """An array of symbols of any length, of which the first elements are known. Raises TraceError for all but an
    index."""

    def __init__(self, values: Sequence[Any], group: Group):
        self._values, self._group = tuple(values), group

    def __getitem__(self, index: Any) -> Any:
        name = self._group.name
        if isinstance(index, slice):
            raise self._endless()
        if not isinstance(index, Expr) and index < 0:
            raise TraceError(
                f"{name}[{index}]: the elements of an array of any length count from 0"
            )
        return _at(self._group, self._values, index)

    def __iter__(self) -> Any:
        raise self._endless()

    def __len__(self) -> int:
        raise self._endless()

    def __eq__(self, other: object) -> bool:
        raise self._endless()

    __hash__ = None  # type: ignore[assignment]

    def _endless(self) -> TraceError:
        return TraceError(
            f"{self._group.name} is an array of any length, which has no len(), slices and comparisons: go through "
            "it with fori_loop up to a parameter"
        )


def _at(group: Group, values: tuple[Any, ...], index: Any) -> Any:
    """The element of an array at an index."""
    name, constant = group.name, index.constant if isinstance(index, Expr) else index
    if constant is not None and 0 <= constant < len(values):
        return values[constant]
    if constant is not None and not group.open:
        raise TraceError(
            f"{name}[{constant}]: the array has {len(values)} elements, 0 to {len(values) - 1}"
        )
    numbers = [k for k, value in enumerate(values) if isinstance(value, int)]
    if numbers and (group.open or len(numbers) < len(values)):
        raise TraceError(
            f"sizes fixes {name}[{numbers[0]}], and {name} is read at {short_repr(index)}, where nobody knows "
            "whether it is that element: leave it out"
        )
    return step(_element, name, None if group.open else len(values), index, *values)


def _element(name: str, count: int | None, place: Any, *members: Any) -> Expr:
    """The element of an array at a place that is known where it is emitted or where it runs. count: how many
    it has, None of one of any length."""
    now = here()
    known, trace = now.analyzer, now.trace
    if trace.words is not None:
        raise TraceError(
            f"{name} is read at {short_repr(place)}: arithmetic that wraps reads arrays at constants"
        )
    own = [known.rebuilt(plain(Expr.of(m))) for m in members]
    at = known.rebuilt(plain(Expr.of(place)))
    trace.coordinate(at, count)
    size = Expr.of(count) if count is not None else _read(name, at, known, trace)
    entries = Entries(name, size=size.constant or size, array="fixed" if count else "open")
    return known.bind(lookup(entries, at, *own))


def _read(name: str, place: Expr, known: Any, trace: Any) -> Expr:
    """How many elements of an array are read where this place is. Raises TraceError where no end is known."""
    params, gaps = {*trace.params()}, known.facts.constraints
    plainly = known.prover.proofs.upper(place, params)
    ends, unknown = [plainly], plainly is None or plainly.constant is not None
    if gaps:  # conditions may say more
        names = sorted({n for gap in gaps for n in gap.symbols()} & params)
        sizes = [known.symbol(n) - 1 for n in names]
        sizes = [e for e in sizes if unknown or known.nonneg(plainly - e)]
        others = [place + gap for gap in gaps] if unknown else []
        ends = [*(e for e in sizes if _is_below(place, e, known)), *others, plainly]
    said = (
        e
        for e in ends
        if e is not None and e.symbols() and params >= known.unsubstitute(e).symbols()
    )
    most = known.interval(place)[1]
    top = next(said, None if most is None else Expr.of(most))
    if top is None:
        raise TraceError(
            f"{name} is read at {short_repr(known.unsubstitute(place))}, of which no end is known, so that nobody knows "
            "how many elements it has: give the index a range, or a loop an invariant"
        )
    return known.unsubstitute(top) + 1


def _is_below(place: Expr, top: Expr, known: Any) -> bool:
    """Whether a place is proven to be at most another one."""
    from ..arith.gaps import sums, without_quotients

    gaps = [*known.facts.constraints]
    for name in sorted(place.symbols()):
        ends, symbol = known.facts.ranges.get(name), known.symbol(name)
        if ends is not None:
            gaps += [symbol - e for e in (ends.lo,) if e is not None and e.symbols()]
            gaps += [e - symbol for e in (ends.hi,) if e is not None and e.symbols()]
    for e in (top - place, *without_quotients(top - place)):
        if known.nonneg(e) or any(known.nonneg(e - gap) for gap in sums(gaps)):
            return True
    return False
