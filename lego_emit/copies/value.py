"""What a copy makes of each element on its way: a function of an unsigned integer, followed once, or of a byte asked for
all of its values.

Its arithmetic wraps. What was followed is compared with the function itself on integers modulo a power of two, by
a class that is not used to follow it (lego_emit/trace/modular.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from ..errors import InternalError, LegoError, OptionError, short_repr
from ..ir.nodes import ENTRIES, VALUE, Node, const, evaluated, made, var
from ..numeric import is_integer
from ..packages import numpy as np

WORDS = (1, 2, 4, 8)  # bytes that an element may have
MADE_OF = "+ - * // % & | ^ ~ << >> of the element and integers, of 1 byte also of anything that gives integers"
SIGNED = ("div", "mod", "shr", ENTRIES)  # of which signed integers have others
POINTS = 2**8  # that are compared, beside powers of two
PLAIN = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}


class _Element:
    """An integer of so many bits that is not known."""

    __array_ufunc__ = None

    def __init__(self, node: Node, bits: int):
        self.node, self.bits = node, bits

    def __repr__(self) -> str:
        return "an element"

    def _operand(self, other: Any) -> Node:
        if isinstance(other, _Element):
            return other.node
        if not is_integer(other):
            raise OptionError(
                f"value computes with {short_repr(other)}, which is no integer; it is made of {MADE_OF}"
            )
        return const(int(other) % 2**self.bits)

    def _made(self, op: str, *args: Any) -> _Element:
        nodes = [self._operand(a) for a in args]
        if all(n.op == "const" for n in nodes):
            return _Element(const(_wrapped(made(op, *nodes), {}, self.bits)), self.bits)
        return _Element(made(op, *nodes), self.bits)

    def _number(self, op: str, other: Any, least: int, end: int, what: str) -> _Element:
        if not is_integer(other) or not least <= other < end:
            raise OptionError(
                f"value takes {what} {short_repr(other)}; give an integer from {least} to {end - 1}"
            )
        return self._made(op, self, other)

    def __lshift__(self, other: Any) -> _Element:
        return self._number("shl", other, 0, self.bits, "a shift by")

    def __rshift__(self, other: Any) -> _Element:
        return self._number("shr", other, 0, self.bits, "a shift by")

    def __floordiv__(self, other: Any) -> _Element:
        return self._number("div", other, 1, 2**self.bits, "a quotient by")

    def __mod__(self, other: Any) -> _Element:
        return self._number("mod", other, 1, 2**self.bits, "a remainder by")

    def __invert__(self) -> _Element:
        return self._made("not", self)

    def __neg__(self) -> _Element:
        return self._made("sub", 0, self)

    def __pos__(self) -> _Element:
        return self

    def _refused(self, *_: Any) -> Any:
        raise OptionError(f"value asks something else of the element; it is made of {MADE_OF}")

    def _divided(self, *_: Any) -> Any:
        raise OptionError(f"value divides by /; write // for integers. It is made of {MADE_OF}")

    __truediv__ = __rtruediv__ = _divided
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refused
    __index__ = __float__ = __pow__ = __rpow__ = __iter__ = _refused
    __rlshift__ = __rrshift__ = __rfloordiv__ = __rmod__ = __getitem__ = __abs__ = _refused
    __hash__ = None  # type: ignore[assignment]


def _binary(op: str, is_reflected: bool) -> Callable[[_Element, Any], _Element]:
    def found(self: _Element, other: Any) -> _Element:
        return self._made(op, *((other, self) if is_reflected else (self, other)))

    return found


for _name, _op in PLAIN.items():
    setattr(_Element, f"__{_name}__", _binary(_op, False))
    setattr(_Element, f"__r{_name}__", _binary(_op, True))


def followed(function: Any, element_bytes: int, element: Any = None) -> Node:
    """What a function makes of an element, as a node over VALUE whose every operation wraps.

    element: what says the type, where its arithmetic may be another one than an unsigned integer's.

    A function of bytes that is none of MADE_OF, as it branches or looks a number up, is a table of its results.

    Raises OptionError where elements are no words, the function is none of MADE_OF, or gives something else than an
    integer; InternalError where the node differs from the function.
    """
    if element_bytes not in WORDS:
        raise OptionError(
            f"value is a function of an unsigned integer, and elements have {element_bytes} bytes; give elements of "
            "1, 2, 4 or 8"
        )
    if not callable(function):
        raise OptionError(
            f"value is {short_repr(function)}; give a function, as lambda v: v ^ 0x80"
        )
    bits = 8 * element_bytes
    try:
        node = _followed(function, bits)
    except OptionError:
        if element_bytes > 1 or (entries := _results(function)) is None:
            raise
        node = Node(ENTRIES, (var(VALUE),), entries)
    else:
        _check(function, node, bits)
    _check_type(element, node, element_bytes)
    return node


def _check_type(element: Any, node: Node, element_bytes: int) -> None:
    """Raise OptionError where elements of a type would not become what its own arithmetic makes of them."""
    if element is None or is_integer(element):
        return
    found = np.dtype(element)
    has_sign = found.kind == "i" and any(n.op in SIGNED for n in _nodes(node))
    if found.kind not in "iu" or not found.isnative or has_sign:
        raise OptionError(
            f"value is a function of an unsigned integer, and {found} computes otherwise; give "
            f"element='uint{8 * element_bytes}' if bits are meant, and view arrays as such"
        )


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for part in node.args:
        yield from _nodes(part)


def _results(function: Any) -> tuple[int, ...] | None:
    """What a function gives for each byte; None where that is no integer, or always the same one."""
    from ..trace.modular import kind

    wraps = kind(255)
    try:
        found = [function(wraps(number)) for number in range(256)]
    except Exception:
        return None
    if not all(map(is_integer, found)) or len({*map(int, found)}) == 1:
        return None
    return tuple(int(x) % 256 for x in found)


def _followed(function: Any, bits: int) -> Node:
    """The node of a function of MADE_OF."""
    try:
        found = function(_Element(var(VALUE), bits))
    except LegoError:
        raise
    except Exception as error:
        raise OptionError(
            f"value fails: {type(error).__name__}: {error}; it is made of {MADE_OF}"
        ) from None
    if is_integer(found) or (isinstance(found, _Element) and found.node.op == "const"):
        raise OptionError(
            "value gives one number for every element; fill the memory with it instead"
        )
    if not isinstance(found, _Element):
        what = "a function" if callable(found) else short_repr(found)
        raise OptionError(
            f"value gives {what}, and an element becomes an element of its own type; it is made of {MADE_OF}"
        )
    return found.node


def _check(function: Any, node: Node, bits: int) -> None:
    """Compare a node with the function, for bytes at all numbers."""
    from ..trace.modular import kind

    drawn = Random(bits)
    ends = [k % 2**bits for b in range(bits + 1) for k in (2**b - 1, 2**b, -(2**b))]
    tried = (
        range(2**bits) if bits == 8 else [*ends, *(drawn.getrandbits(bits) for _ in range(POINTS))]
    )
    wraps = kind(2**bits - 1)
    for number in tried:
        due = int(wraps(function(wraps(number))))
        if _wrapped(node, {VALUE: number}, bits) != due:
            raise InternalError(
                f"value of {number} is {due}, and what was followed gives another number; nothing was emitted. This is "
                "a fault of lego_emit: please report it, with the function"
            )


def _wrapped(node: Node, env: dict[str, int], bits: int) -> int:
    """A node's value where each operation wraps."""
    if not node.args:
        return env[node.value] if node.op == "var" else node.value
    args = [const(_wrapped(a, env, bits)) for a in node.args]
    return int(evaluated(made(node.op, *args), {}, {})) % 2**bits


def of_array(node: Node, array: Any) -> Any:
    """A node's values for an array of unsigned integers, as wide as an element."""
    if node.op == ENTRIES:
        return np.array(node.value, array.dtype)[array]
    if not node.args:
        return array if node.op == "var" else array.dtype.type(node.value)
    args = [of_array(a, array) for a in node.args]
    with np.errstate(over="ignore"):
        return np.asarray(_ARRAYS[node.op](*args), array.dtype)


_ARRAYS: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "shl": lambda x, y: x << y,
    "shr": lambda x, y: x >> y,
    "div": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "not": lambda x: ~x,
}
