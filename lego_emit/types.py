"""Types for the annotations of index functions.

    >>> from typing import NamedTuple
    >>> import lego_emit
    >>> class Coord(NamedTuple):
    ...     x: int
    ...     y: int
    >>> def position(size: Coord, at: Coord) -> int:
    ...     return at.y * size.x + at.x
    >>> unit = lego_emit.generate(position, "cpp", ranges={"at.x": (0, "size.x")})
    >>> "position(Coord size, Coord at)" in unit.source
    True

A NamedTuple or a dataclass of integers is a struct, as a parameter and as a result; `Array[n]`, or
`tuple[int, .., int]`, is an array of n integers. Members are written as in Python wherever they are
named: `at.x` and `X[0]`.

A struct can be a type that a code base has already, by types= of generate(): see NativeType.

I8, I16, I32, I64, U8, U16, U32, U64, Size (an unsigned integer as wide as a pointer), SSize (one with a sign) and Bool declare one
integer, as a parameter, a field or a result. Values are converted from and to the index type.

    >>> import re
    >>> from lego_emit.types import I8, I16, I32, I64, U8, U16, U32, U64, Bool, Size, SSize, Static
    >>> def of_c(function):
    ...     unit = lego_emit.generate(function, "c", ranges=dict.fromkeys(function.__annotations__, (0, 1)))
    ...     return re.search(rf"{function.__name__}\\((.*)\\) \\{{", unit.source)[1]
    >>> def with_sign(a: I8, b: I16, c: I32, d: I64):
    ...     return a + b + c + d
    >>> of_c(with_sign)
    'int8_t a, int16_t b, int32_t c, int64_t d'
    >>> def without_sign(a: U8, b: U16, c: U32, d: U64):
    ...     return a + b + c + d
    >>> of_c(without_sign)
    'uint8_t a, uint16_t b, uint32_t c, uint64_t d'
    >>> def others(a: Size, b: SSize, c: Bool):
    ...     return a + b if c else 0
    >>> of_c(others)
    'size_t a, ptrdiff_t b, bool c'

`Static[int]`, or `Static[I32]`, is a size that is known when the emitted text is compiled: a template
parameter, a macro or a constant, as the language has it.

    >>> def position(width: Static[I32], x: I32, y: I32) -> I32:
    ...     return y * width + x
    >>> "template <std::int32_t width>" in lego_emit.generate(position, "cpp").source
    True
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from .errors import OptionError, TraceError, did_you_mean, no_attribute, short_repr
from .ir.index_types import BOOL, DECLARED, SIZE, SSIZE, IndexType

__all__ = [
    "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "Array", "Bool", "NativeType", "SSize", "Size", "Static",
]  # fmt: skip

I8 = Annotated[int, DECLARED["int8"]]
I16 = Annotated[int, DECLARED["int16"]]
I32 = Annotated[int, DECLARED["int32"]]
I64 = Annotated[int, DECLARED["int64"]]
U8 = Annotated[int, DECLARED["uint8"]]
U16 = Annotated[int, DECLARED["uint16"]]
U32 = Annotated[int, DECLARED["uint32"]]
U64 = Annotated[int, DECLARED["uint64"]]
Size = Annotated[int, SIZE]
SSize = Annotated[int, SSIZE]
Bool = Annotated[int, BOOL]

if not TYPE_CHECKING:
    __getattr__ = no_attribute(__name__, __all__)


class StaticMark:
    """What Static[..] adds to an annotation."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Static"


STATIC = StaticMark()
T = TypeVar("T", bound=int)
Static = Annotated[T, STATIC]

SHORT_NAMES = {  # of the types, by what they are declared as
    "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "size": "Size", "ssize": "SSize", "bool": "Bool",
}  # fmt: skip
MOST = 4096  # elements of an array


class ArrayType:
    """What Array[n] is: an array of count integers, of any number where that is None. kind: the annotation
    of an element, None where that has the index type."""

    __slots__ = ("count", "kind")

    def __init__(self, count: Any, kind: Any = None):
        known = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MOST
        if not known and count is not ...:
            raise TraceError(
                f"Array[{short_repr(count)}]: an array has a number of elements, 1 to {MOST}, as Array[4], or "
                "any, as Array[...]"
            )
        marks = getattr(kind, "__metadata__", ())
        declared = next((SHORT_NAMES[m] for m in marks if isinstance(m, IndexType)), "")
        if kind not in (None, int) and not declared:
            raise TraceError(
                f"Array[{'...' if count is ... else count}, {short_repr(kind)}]: an element is an integer, such as "
                "I32"
            )
        self.count: int | None = None if count is ... else count
        self.kind: Any = kind if declared else None

    def __repr__(self) -> str:
        count = "..." if self.count is None else f"{self.count}"
        kind = "" if self.kind is None else f", {SHORT_NAMES[self.kind.__metadata__[0]]}"
        return f"Array[{count}{kind}]"


class Array(Protocol):
    """An array of n integers, in an annotation: Array[n], 1 <= n <= 4096; or of any number: Array[...].

    A parameter is read at integers and at symbols, such as the number of a loop's round; of Array[...]
    the header says how many elements are read. Where ranges= bounds the parameter, it bounds each element.
    Array[n] can be a result: the function returns a tuple or a list. A second argument says what each
    element is declared as. Raises TraceError for another n, and an element that is no integer.

        >>> Array[4], Array[...], Array[..., I32]
        (Array[4], Array[...], Array[..., I32])
    """

    def __class_getitem__(cls, count: Any) -> ArrayType:
        return ArrayType(*count) if isinstance(count, tuple) else ArrayType(count)

    def __getitem__(self, index: int, /) -> int:
        """The integer at an index."""
        ...

    def __iter__(self) -> Iterator[int]:
        """All n integers, in order."""
        ...

    def __len__(self) -> int:
        """How many integers it has, n."""
        ...


@dataclass(frozen=True)
class NativeType:
    """A struct of a code base, in the place of one that would be defined: a value of types= of generate().

    name: how the language calls it, "glm::ivec3", "struct coord" or "crate::geometry::Coord"; in Fortran
        "module::type" brings a use statement.
    members: the text that reads a member. {} is the field, {k} its number, counted as the language counts,
        and {name} the parameter; without {name} the text stands behind it: ".{}", ".{}()", "[{k}]", "%{}",
        "->{}", "GET_X({name})". One for all, a list with one for each field, or a dict by field.
        Default: the language's own, ".{}", in Fortran "%{}".
    make: the text that makes one. {type} is the name, {} all members with commas between them, {x} the
        member x: "{type}({})", "{type}{{{}}}", "make_coord({x}, {y})". Default: the language's own, which
        needs a struct with the fields of the NamedTuple, in its order, and no others.
    include: a line of the file: "<glm/vec3.hpp>" or "coord.h" in the languages of C; elsewhere a line as
        it stands, "use crate::geometry::Coord;".
    member_type: what the members are declared as: int8 .. int64, uint8 .. uint64, size or bool. Default:
        what the annotations of the fields say, else the index type.
    passing: a parameter, where it is not passed by value: "const {type} &{name}", "{type} *{name}" (with
        "->{}"), in Rust "{name}: &{type}".

    Braces are doubled, {{ and }}, where they are no place. Raises OptionError for another form.

        >>> NativeType("glm::ivec3", make="{type}({})", include="<glm/vec3.hpp>").name
        'glm::ivec3'
    """

    name: str
    members: str | Sequence[str] | Mapping[str, str] = field(default="", hash=False)
    make: str = ""
    include: str = ""
    member_type: str = ""
    passing: str = ""

    def __post_init__(self) -> None:
        for what in ("name", "make", "include", "member_type", "passing"):
            text = getattr(self, what)
            if not isinstance(text, str) or len(text.splitlines()) > 1:
                raise self._error(what, text, "give a text of one line")
        if not self.name.strip():
            raise self._error("name", self.name, "give the name of a type, such as 'glm::ivec3'")
        if found := re.search(r"[;{}\"]|//|/\*", self.name):
            raise self._error("name", self.name, f"{found[0]} is in no name of a type")
        if self.member_type and self.member_type not in DECLARED:
            known = f"there are {', '.join(DECLARED)}.{did_you_mean(self.member_type, DECLARED)}"
            raise self._error("member_type", self.member_type, known)
        members = self.members
        if not isinstance(members, str | Mapping):
            if not isinstance(members, Sequence):
                raise self._error("members", members, "give a text, a list or a dict of texts")
            object.__setattr__(self, "members", tuple(members))
        for text in self._texts():
            if not isinstance(text, str) or len(text.splitlines()) > 1 or not text:
                raise self._error("members", text, "give a text such as '.{}'")
            self._check("members", text, ("", "k", "name"))
        self._check("passing", self.passing, ("type", "name"))
        if self.passing and not {"type", "name"} <= {p for _, p in parts(self.passing)}:
            raise self._error("passing", self.passing, "write {type} and {name} in it")
        self._check("make", self.make, None)

    def _texts(self) -> list[str]:
        if isinstance(self.members, str):
            return [self.members] if self.members else []
        return [*(self.members.values() if isinstance(self.members, Mapping) else self.members)]

    def _check(self, what: str, text: str, places: Sequence[str] | None) -> None:
        """Raise OptionError for a text with other places; of None any name is one."""
        try:
            found = [place for _, place in parts(text) if place is not None]
        except ValueError as error:
            raise self._error(what, text, f"{error}; double a brace that is no place") from None
        for place in found:
            if place not in places if places is not None else place and not place.isidentifier():
                has = ", ".join(f"{{{known}}}" for known in places or ("type", "", "x"))
                raise self._error(what, text, f"it has no place {{{place}}}; there are {has}")

    def _error(self, what: str, value: object, hint: str) -> OptionError:
        return OptionError(f"NativeType: {what} is {short_repr(value)}; {hint}")


def natives(value: object) -> dict[str, NativeType]:
    """types= of generate(), by the names of structs. Raises OptionError."""
    if not isinstance(value, Mapping) or not all(isinstance(n, str) for n in value):
        raise OptionError(
            f"types is {short_repr(value)}; give a dict such as {{'Coord': 'Vector3i'}}"
        )
    for of, kind in value.items():
        if not isinstance(kind, str | NativeType):
            raise OptionError(
                f"types: {of} is {short_repr(kind)}; give the name of a type, or a NativeType"
            )
    return {of: NativeType(kind) if isinstance(kind, str) else kind for of, kind in value.items()}


def parts(text: str) -> list[tuple[str, str | None]]:
    """(a text, the place after it, None at the end) of a text with places in braces. Raises ValueError."""
    found = list[tuple[str, str | None]]()
    for before, place, form, change in Formatter().parse(text):
        if form or change:
            raise ValueError(f"a place has no form, as {{{place}}} has")
        found.append((before, place))
    return found
