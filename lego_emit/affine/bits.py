"""Bits as digits: what xor, or, and and shifts make of them, as sums modulo 2.

A bit is a set of digits of two, (base floordiv 2**place) mod 2, whose exclusive or it is; the digit of no
base is 1. Each base is an expression of any sign, as in two's complement of any length. A product of two
bits is none; it may stand where a mask leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from .terms import NoAffineMap, Term, add, const, divided, mul

MOST = 64  # bits of a value

Digit = tuple[Term | None, int]
Bit = frozenset[Digit]
ZERO, ONE, PRODUCT = Bit(), Bit({(None, 0)}), Bit({(None, 1)})


def of_number(value: int) -> tuple[Bit, ...]:
    """The bits of a number that is not negative, lowest first."""
    return tuple(ONE if value >> k & 1 else ZERO for k in range(value.bit_length()))


def of_term(term: Term, count: int | None = None) -> tuple[Bit, ...]:
    """The lowest bits of an expression; all of them where no number of bits is given. Raises NoAffineMap
    where it may be negative or has no bound."""
    if count is None:
        if term.lo is None or term.lo < 0 or term.hi is None:
            raise NoAffineMap("bits of a value that may be negative or has no bound")
        count = term.hi.bit_length()
    if count > MOST:
        raise NoAffineMap(f"a value of {count} bits")
    return trimmed([_bit(term, k) for k in range(count)])


def _bit(term: Term, place: int) -> Bit:
    """A bit of an expression, by the base that it comes from."""
    if term.number is not None:
        return ONE if term.number >> place & 1 else ZERO
    if term.lo is not None and term.lo >= 0 and term.hi is not None and term.hi >> place == 0:
        return ZERO
    number = term.args[1].number if term.op in ("mul", "floordiv", "mod") else None
    if number is not None and number > 0 and number & (number - 1) == 0:
        by = number.bit_length() - 1
        if term.op == "mul":
            return _bit(term.args[0], place - by) if place >= by else ZERO
        if term.op == "floordiv":
            return _bit(term.args[0], place + by)
        return _bit(term.args[0], place) if place < by else ZERO
    if number is not None and term.op == "mul" and (inner := _copy(term.args[0], number, place)):
        return _bit(*inner)
    if term.op == "add" and (parts := _parts(term, place)) is not None:
        return _bit(parts, place)
    return Bit({(term, place)})


def _copy(term: Term, factor: int, place: int) -> tuple[Term, int] | None:
    """(term, the place in it) of a bit of a product that puts copies of the term side by side; None of
    another product, or where no copy is."""
    if factor <= 0 or term.lo is None or term.lo < 0 or term.hi is None:
        return None
    starts = [k for k in range(factor.bit_length()) if factor >> k & 1]
    width = term.hi.bit_length()
    if any(b - a < width for a, b in pairwise(starts)):
        return None
    return next(((term, place - k) for k in starts if k <= place < k + width), (const(0), 0))


def _parts(term: Term, place: int) -> Term | None:
    """The terms of a sum that a bit of it is of, where none is carried; None where that is not seen."""
    for by in sorted({_twos(t) for t in term.args} - {0}, reverse=True):
        low = add(const(0), *(t for t in term.args if _twos(t) < by))
        if low.lo is None or low.lo < 0 or low.hi is None or low.hi >= 1 << by:
            continue
        if place < by:
            return low
        if low.number is None:
            return add(*(t for t in term.args if _twos(t) >= by))
    return None


def _twos(term: Term) -> int:
    """How often 2 divides an expression at least, as its factor shows."""
    number = term.args[1].number if term.op == "mul" else term.number
    return (number & -number).bit_length() - 1 if number else 0


def trimmed(bits: Sequence[Bit]) -> tuple[Bit, ...]:
    """The bits up to the last one that is not 0."""
    count = len(bits)
    while count and not bits[count - 1]:
        count -= 1
    return tuple(bits[:count])


def joined(op: str, a: Sequence[Bit], b: Sequence[Bit]) -> tuple[Bit, ...]:
    """and, or, xor of two values."""
    count = max(len(a), len(b))
    pairs = zip(padded(a, count), padded(b, count), strict=True)
    return trimmed([_joined(op, x, y) for x, y in pairs])


def padded(bits: Sequence[Bit], count: int) -> list[Bit]:
    """So many bits, zeros the highest."""
    return [*bits, *[ZERO] * (count - len(bits))]


def _joined(op: str, x: Bit, y: Bit) -> Bit:
    if op == "xor":
        return PRODUCT if PRODUCT in (x, y) else x ^ y
    if x == y:
        return x
    for one, other in ((x, y), (y, x)):
        if one == ZERO:
            return ZERO if op == "and" else other
        if one == ONE:
            return other if op == "and" else ONE
    return PRODUCT


def disjoint(a: Sequence[Bit], b: Sequence[Bit]) -> bool:
    """Whether no place has a bit of both that may be 1."""
    return all(not x or not y for x, y in zip(a, b, strict=False))


def runs(bits: Sequence[Bit]) -> Iterator[tuple[int, int, Bit]]:
    """(place, how many, the first one) of bits that follow one another in a value and in their base."""

    def start(entry: tuple[int, Bit]) -> object:
        place, bit = entry
        digits = {(base, at - place if base is not None else 0) for base, at in bit}
        bases = [base for base, _ in bit if base is not None]
        return frozenset(digits) if len(bases) < 2 else entry

    for _, entries in groupby(enumerate(bits), start):
        run = [*entries]
        if run[0][1]:
            yield run[0][0], len(run), run[0][1]


def as_term(bits: Sequence[Bit]) -> Term:
    """The value of bits as a sum of digits. Raises NoAffineMap where one is a product of two."""
    if PRODUCT in bits:
        raise NoAffineMap("a bitwise product of two indices")
    return add(const(0), *(mul(_run(bit, count), const(1 << at)) for at, count, bit in runs(bits)))


def _run(bit: Bit, count: int) -> Term:
    """The value of bits that follow one another, the first of which is given."""
    flipped = ONE <= bit
    digits = [(base, place) for base, place in bit if base is not None]
    if len(digits) > 1:
        digits.sort(key=lambda digit: (digit[1], repr(digit[0])))
        parts = (divided("floordiv", base, const(1 << place)) for base, place in digits)
        return divided("mod", add(*parts, const(int(flipped))), const(2))
    if not digits:
        return const((1 << count) - 1)
    ((base, place),) = digits
    quotient = divided("floordiv", base, const(1 << place))
    found = divided("mod", quotient, const(1 << count))
    if not flipped:
        return found
    return add(mul(found, const(-1)), const((1 << count) - 1))
