"""Functions that read and write fields of words, called over arrays.

Natively each function that says where fields are has beside its own wrapper
    void lego_fields_<unit>_<function position>(
        int64_t set, int64_t n, int64_t count, void *at, const int64_t *in0, .., int64_t *values)
which sets n fields of the `count` words at `at` to values, or puts them into values; where a function takes one
word, each of the n has its own at `at`. Index and value types are those of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import IndexRangeError, ToolchainError
from ..ir.program import Function

if TYPE_CHECKING:
    import numpy as np


class Library(Protocol):
    """What runs functions, those of fields as well."""

    def call(self, unit: int, function: Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """As every library has it."""
        ...

    def fields(
        self,
        unit: int,
        function: Function,
        words: np.ndarray,
        inputs: list[np.ndarray],
        values: np.ndarray,
        sets: bool,
    ) -> None:
        """Set fields of words, an unsigned array of the word's bits, to values, an int64 array, in
        order; or put fields into values. function: says where the fields are."""
        ...


def fields_symbol(unit: int, position: int) -> str:
    """The exported name of a wrapper."""
    return f"lego_fields_{unit}_{position}"


def c_fields_declaration(unit: int, position: int, function: Function) -> str:
    """The C declaration of a wrapper."""
    inputs = [f"const int64_t *in{k}" for k in range(len(function.passed))]
    given = [
        "int64_t set",
        "int64_t n",
        "int64_t count",
        "void *at",
        *inputs,
        "int64_t *values",
    ]
    return f"void {fields_symbol(unit, position)}({', '.join(given)})"


def c_loop(
    function: Function, call: Callable[[str, str, str], str], U: str, S: str, cast: str
) -> str:
    """The body of a wrapper. call: the text of a call of get or set, of its words and, for set, its value;
    U, S: the types of a word and of a field; cast: how a value is cast."""
    p = function.packing
    words = "words[lego_i]" if p.by_value else "words"
    value = cast.replace("{T}", S).replace("{0}", "values[lego_i]")
    put = call(p.set, words, value)
    put = f"words[lego_i] = {put}" if p.by_value else put
    get = cast.replace("{T}", "int64_t").replace("{0}", call(p.get, words, ""))
    pointer = cast.replace("{T}", f"{U} *").replace("{0}", "at")
    return (
        f"  (void)count;\n"
        f"  {U} *const words = {pointer};\n"
        f"  for (int64_t lego_i = 0; lego_i < n; ++lego_i) {{ if (set) {put}; else values[lego_i] = {get}; }}\n"
    )


def accessor(library: Any, unit: int, function: Function, sets: bool) -> Callable[..., Any]:
    """A function of words, of the parameters and, where it sets fields, of their values; over integers or
    arrays, which are broadcast. get gives fields, an integer for all-integer arguments; set gives the
    words, new ones: those that are given stay as they are. Fields are set in order."""
    p = function.packing
    name = p.set if sets else p.get
    own = [q.name for q in function.params]
    if not hasattr(library, "fields"):
        raise ToolchainError(f"{name} is compiled there, and run on the CPU alone")
    wanted = ["word" if p.by_value else "words", *own, *(["value"] if sets else [])]

    def run(*arguments: Any) -> Any:
        from ..packages import numpy as np

        if len(arguments) != len(wanted):
            raise TypeError(
                f"{name} takes {len(wanted)} arguments ({', '.join(wanted)}), got {len(arguments)}"
            )
        kind = np.dtype(f"uint{p.word}")
        given = [_integers(a, name, n) for a, n in zip(arguments, wanted, strict=True)]
        words, rest = given[0], given[1:]
        shape = np.broadcast_shapes(*(a.shape for a in (given if p.by_value else rest)))
        columns = [np.ascontiguousarray(np.broadcast_to(a, shape)).ravel() for a in rest]
        values = (
            columns.pop() if sets else np.zeros(columns[0].shape if columns else (1,), np.int64)
        )
        values = values.copy()
        columns = [c.astype(np.int64) for c in columns]
        if p.by_value:
            held = np.broadcast_to(words, shape).astype(kind).ravel()
        else:
            held = words.astype(kind).ravel()
            bits = columns[own.index(p.bits)] if isinstance(p.bits, str) else p.bits
            places = library.call(unit, function, columns or [values])
            _check_places(places, p, bits, len(held), name)
        passed = [c for c, q in zip(columns, function.params, strict=True) if not q.static]
        held = np.ascontiguousarray(held).copy()
        library.fields(unit, function, held, passed, values, sets)
        if sets:
            found = held.reshape(shape if p.by_value else words.shape)
        else:
            found = values.reshape(shape)
            found = found.astype(np.dtype(f"int{p.word}") if p.signed else kind)
        plain = shape == () and all(not isinstance(a, np.ndarray) for a in arguments[1:])
        return int(found[()]) if plain and (p.by_value or not sets) else found

    run.__name__ = run.__qualname__ = name
    return run


def _integers(given: Any, name: str, what: str) -> np.ndarray:
    """An argument as an array of int64, or of what its bits are."""
    from ..packages import numpy as np

    array = np.asarray(given)
    if array.dtype == object:  # beyond an int64
        array = np.vectorize(lambda v: int(v) % 2**64, otypes=[np.uint64])(array)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name}: {what} must be integers, not {array.dtype}")
    return (
        array.astype(np.uint64).view(np.int64)
        if array.dtype.kind == "u"
        else array.astype(np.int64)
    )


def _check_places(places: Sequence[np.ndarray], p: Any, bits: Any, count: int, name: str) -> None:
    """Raise IndexRangeError where a field is not in the words that are given. bits: of each field."""
    from ..packages import numpy as np

    word, shift = places
    other = np.where(shift > p.word - bits, word + p.step, word) if p.straddles else word
    for place in (word, other):
        if len(place) and (int(place.min()) < 0 or int(place.max()) >= count):
            raise IndexRangeError(
                f"{name}: a field is in word {int(place.max())}, and there are {count}"
            )
