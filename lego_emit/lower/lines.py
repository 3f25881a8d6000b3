"""Lines: quotients a*x + b over d that go through given points, rounded down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import ne
from operator import sub as subtract

from .trees import LARGEST

Ratio = tuple[int, int]


def _simplest(low: Ratio, high: Ratio) -> Ratio:
    """The fraction with the smallest numerator and denominator in the open interval."""
    (p, q), (r, s) = low, high
    whole = p // q
    if (whole + 1) * s < r:
        return whole + 1, 1
    p, r = p - whole * q, r - whole * s
    a, c = _simplest((s, r), (q, p)) if p else (s // r + 1, 1)
    return whole * a + c, a


def _shifted(low: Ratio, high: Ratio) -> Ratio:
    """The fraction with the smallest power of two as denominator in the open interval."""
    (p, q), (r, s) = low, high
    c = 1
    while (p * c // q + 1) * s >= r * c and c <= LARGEST:
        c *= 2
    return p * c // q + 1, c


_TINY = 2**60


def line_through(
    us: Sequence[int], vs: Sequence[int], through_origin: bool = False, by_shift: bool = False
) -> tuple[int, int, int, int] | None:
    """(a, low, high, c) such that v == (a*u + b) // c at all points for low <= b <= high.

    The slope a/c is the simplest fraction in the interval of the possible ones, which starts
    at what the two ends allow; two points that rule out a slope give a bound on all slopes.
    us rises, or falls, or is all the same, where there is none.
    through_origin: b = 0. by_shift: c is a power of two.
    """
    du, dv = us[-1] - us[0], vs[-1] - vs[0]
    if du < 0:
        du, dv = -du, -dv
    if not du:
        return None
    least, most = (dv - 1, du), (dv + 1, du)
    while least[0] * most[1] < most[0] * least[1]:
        a, c = _shifted(least, most) if by_shift else _simplest(least, most)
        if c > LARGEST:
            return None
        offsets = [c * v - a * u for u, v in zip(us, vs, strict=True)]
        low, high = max(offsets), min(offsets)
        i, j = offsets.index(low), offsets.index(high)
        high += c - 1
        if through_origin:
            if low <= 0 <= high:
                return a, 0, 0, c
            # v <= slope*u at i, or slope*u < v + 1 at j, is broken: a bound that is allowed itself
            # is moved by next to nothing.
            (u, v, slack) = (us[i], vs[i], 1) if low > 0 else (us[j], vs[j] + 1, 0)
            if u == 0:
                return None
            if u > 0:
                bound = (v * _TINY - slack, u * _TINY)
            else:
                bound = (-v * _TINY + slack, -u * _TINY)
            if (u > 0) == (low > 0):
                least = bound
            else:
                most = bound
        elif low <= high:
            return a, low, high, c
        elif us[i] > us[j]:
            least = vs[i] - vs[j] - 1, us[i] - us[j]
        else:
            most = vs[j] - vs[i] + 1, us[j] - us[i]
    return None


def hull(us: Sequence[int], vs: Sequence[int]) -> tuple[list[int], list[int]]:
    """The corners of the points' convex hull; us ascends."""
    last = len(us) - 1
    slopes = [*map(subtract, vs[1:], vs)]
    if us[-1] - us[0] > last:
        slopes = [*zip(slopes, map(subtract, us[1:], us), strict=True)]
    bends = [0, *compress(range(1, last), map(ne, slopes[1:], slopes)), last]
    hull: set[int] = set()
    for sign in (1, -1):
        chain: list[int] = []
        for k in bends:
            u, v = us[k], vs[k]
            while len(chain) > 1:
                i, j = chain[-2:]
                if sign * ((us[j] - us[i]) * (v - vs[i]) - (vs[j] - vs[i]) * (u - us[i])) > 0:
                    break
                chain.pop()
            chain.append(k)
        hull.update(chain)
    corners = sorted(hull)
    return [us[k] for k in corners], [vs[k] for k in corners]
