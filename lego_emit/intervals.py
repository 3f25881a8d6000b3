"""What the bounds of its operands say of an operation: a rule for each (operations.py has the table).

An interval is (lo, hi), inclusive, None where there is no bound. A rule's interval holds every
value that the operation has over its operands' intervals, in exact integers, floor division and
two's complement. Operands without a value (a divisor of 0, a distance below 0, the root of a
negative number) count for nothing; where there is no other, nothing is known: (None, None).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import isqrt

Interval = tuple[int | None, int | None]

ANY: Interval = (None, None)
FLAG: Interval = (0, 1)
LONGEST = 64  # a shift to the left by more has no bound: the number would be of any length


def tighter(choose: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    """The tighter of two bounds on one side; choose: max of lower bounds, min of upper ones."""
    return b if a is None else a if b is None else choose(a, b)


def both(x: Interval, y: Interval) -> Interval:
    """The bounds of what lies in both."""
    return tighter(max, x[0], y[0]), tighter(min, x[1], y[1])


def either(x: Interval, y: Interval) -> Interval:
    """The bounds of what lies in one or the other."""
    (a, b), (c, d) = x, y
    return (
        None if a is None or c is None else a if a < c else c,
        None if b is None or d is None else b if b > d else d,
    )


# -- sums and products -------------------------------------------------------------------------


def neg(x: Interval) -> Interval:
    """The bounds of -x."""
    a, b = x
    return None if b is None else -b, None if a is None else -a


def add(x: Interval, y: Interval) -> Interval:
    """The bounds of x + y."""
    (a, b), (c, d) = x, y
    return None if a is None or c is None else a + c, None if b is None or d is None else b + d


def sub(x: Interval, y: Interval) -> Interval:
    """The bounds of x - y."""
    (a, b), (c, d) = x, y
    return None if a is None or d is None else a - d, None if b is None or c is None else b - c


def product(x: Interval, y: Interval) -> Interval:
    """The bounds of x * y."""
    (a, b), (c, d) = x, y
    if a is not None and a >= 0:
        return (
            a * c if c is not None and c >= 0 else _end(b, c),
            a * d if d is not None and d < 0 else _end(b, d),
        )
    if c is not None and c >= 0:
        return product(y, x)
    if b is not None and b <= 0:
        return neg(product(neg(x), y))
    if d is not None and d <= 0:
        return neg(product(neg(y), x))
    if a is None or b is None or c is None or d is None:
        return ANY
    return min(a * d, b * c), max(a * c, b * d)


def _end(p: int | None, q: int | None) -> int | None:
    """An end of a product whose factors' ends are p and q: what has no bound times 0 is 0."""
    return p * q if p is not None and q is not None else 0 if p == 0 or q == 0 else None


def power(x: Interval, exponent: int) -> Interval:
    """x ** exponent, for an exponent of 1 or more."""
    if exponent == 1:
        return x
    a, b = x
    if exponent % 2 == 0 and (a is None or a < 0):
        if b is not None and b <= 0:
            a, b = neg(x)
        else:
            return 0, None if a is None or b is None else max(-a, b) ** exponent
    return None if a is None else a**exponent, None if b is None else b**exponent


# -- quotients and remainders ------------------------------------------------------------------


def floordiv(x: Interval, y: Interval) -> Interval:
    """x // y, rounded down."""
    return _by_sign(_quotient, x, y)


def floormod(x: Interval, y: Interval) -> Interval:
    """x % y, of the divisor's sign."""
    return _by_sign(_rest, x, y)


def _by_sign(rule: Callable[[Interval, int, int | None], Interval], x: Interval, y: Interval):
    """A rule for positive divisors, for divisors of any sign but 0: x // y is -x // -y, and x % y
    is -(-x % -y)."""
    least, most = y
    if least is not None and least > 0:
        return ANY if most is not None and most < least else rule(x, least, most)
    found = None if most is not None and most <= 0 else rule(x, 1, most)
    if least is None or least < 0:
        nearest = 1 if most is None or most >= 0 else -most
        below = rule(neg(x), nearest, None if least is None else -least)
        if rule is _rest:
            below = neg(below)
        found = below if found is None else either(found, below)
    return ANY if found is None else found


def _quotient(x: Interval, least: int, most: int | None) -> Interval:
    """x // y for 1 <= least <= y <= most."""
    a, b = x
    if a is not None:
        a = a // least if a < 0 else 0 if most is None else a // most
    if b is not None:
        b = b // least if b >= 0 else -1 if most is None else b // most
    return a, b


def _rest(x: Interval, least: int, most: int | None) -> Interval:
    """x % y for 1 <= least <= y <= most."""
    a, b = x
    top = None if most is None else most - 1
    if a is not None and b is not None:
        if a >= 0 and b < least:
            return x
        if a >= -least and b < 0:
            return a + least, None if most is None else b + most
        if least == most and a // least == b // least:
            return a % least, b % least
    return 0, tighter(min, top, b) if a is not None and a >= 0 else top


def digit(base: Interval, lo: Interval, hi: Interval | None = None) -> Interval:
    """(base % hi) // lo; base // lo without a hi. Wherever the value is used both are positive
    and lo divides hi: the trace has seen to it, even where their own bounds do not show it."""
    small, large = lo
    if small is None or small < 1:
        small = 1
    if large is not None and large < small:
        return ANY
    if hi is None:
        return _quotient(base, small, large)
    least, most = hi
    if least is None or least < 1:
        least = 1
    if most is not None and most < least:
        return ANY
    a, b = _quotient(_rest(base, least, most), small, large)
    if most is not None and b is not None and b >= most // small > 0:
        b = most // small - 1
    return a, b


def root(x: Interval) -> Interval:
    """The integer square root."""
    a, b = x
    if b is not None and b < 0:
        return ANY
    return 0 if a is None or a < 0 else isqrt(a), None if b is None else isqrt(b)


# -- bits --------------------------------------------------------------------------------------


def bit_not(x: Interval) -> Interval:
    """The bounds of ~x."""
    a, b = x
    return None if b is None else ~b, None if a is None else ~a


def bit_and(x: Interval, y: Interval) -> Interval:
    """The bounds of x & y."""
    (a, b), (c, d) = x, y
    if a is not None and a >= 0:
        return 0, tighter(min, b, d) if c is not None and c >= 0 else b
    if c is not None and c >= 0:
        return 0, d
    low = None if a is None or c is None else -1 << max((~a).bit_length(), (~c).bit_length())
    if b is not None and b < 0 and d is not None and d < 0:
        return low, min(b, d)
    return low, None if b is None or d is None else max(b, d)


def bit_or(x: Interval, y: Interval) -> Interval:
    """The bounds of x | y."""
    return bit_not(bit_and(bit_not(x), bit_not(y)))


def bit_xor(x: Interval, y: Interval) -> Interval:
    """The bounds of x ^ y."""
    lows: list[int | None] = []
    tops: list[int | None] = []
    for negative, p in _lengths(x):
        for other, q in _lengths(y):
            ones = None if p is None or q is None else (1 << max(p, q)) - 1
            (tops if negative is other else lows).append(ones)
    # a number and its complement are of one length
    low, top = _largest(lows, -1), _largest(tops, -1)
    return None if low is None else ~low, top


def _largest(numbers: list[int | None], default: int) -> int | None:
    """The largest; None where one is unknown, the default where there are none."""
    known = [n for n in numbers if n is not None]
    return max(known, default=default) if len(known) == len(numbers) else None


def _lengths(x: Interval) -> list[tuple[bool, int | None]]:
    """(whether negative, how many bits at most) of the negative and of the other numbers."""
    a, b = x
    found: list[tuple[bool, int | None]] = []
    if a is None or a < 0:
        found.append((True, None if a is None else (~a).bit_length()))
    if b is None or b >= 0:
        found.append((False, None if b is None else b.bit_length()))
    return found


def shift_left(x: Interval, by: Interval) -> Interval:
    """The bounds of x << by; distances below 0 have no value."""
    (a, b), (c, d) = x, by
    if d is not None and d < 0:
        return ANY
    least = 0 if c is None or c < 0 else c if c < LONGEST else LONGEST
    if d is not None and d > LONGEST:
        d = None
    if a is not None:
        a = a << least if a >= 0 else None if d is None else a << d
    if b is not None:
        b = b << least if b <= 0 else None if d is None else b << d
    return a, b


def shift_right(x: Interval, by: Interval) -> Interval:
    """The bounds of x >> by; distances below 0 have no value."""
    (a, b), (c, d) = x, by
    if d is not None and d < 0:
        return ANY
    least = 0 if c is None or c < 0 else c
    if a is not None:
        a = a >> least if a < 0 else 0 if d is None else a >> d
    if b is not None:
        b = b >> least if b >= 0 else -1 if d is None else b >> d
    return a, b


# -- choices -----------------------------------------------------------------------------------


def entry(table: Interval, place: Interval, *members: Interval) -> Interval:
    """Bounds of an entry of a table of such entries, or of one of the members of an array."""
    return reduce(either, members) if members else table


def minimum(x: Interval, y: Interval) -> Interval:
    """The bounds of min(x, y)."""
    (a, b), (c, d) = x, y
    return None if a is None or c is None else min(a, c), tighter(min, b, d)


def maximum(x: Interval, y: Interval) -> Interval:
    """The bounds of max(x, y)."""
    (a, b), (c, d) = x, y
    return tighter(max, a, c), None if b is None or d is None else max(b, d)
