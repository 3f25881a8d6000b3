"""Terms at every point of a small domain, on arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isqrt
from typing import TYPE_CHECKING, Any

from .terms import FARTHEST, OPS, Term, both

if TYPE_CHECKING:
    import numpy as np

MOST = 10**6  # points that are all tried
CHUNK = 2**16
INT64 = 2**63 - 1


@dataclass(frozen=True)
class Failure:
    """A point at which a condition does not hold, or something in it has no value. goal: its number."""

    point: Mapping[str, int]
    goal: int

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.point.items()) or "no index"


def bounds(names: Sequence[str], given: Sequence[Term]) -> dict[str, range] | None:
    """The numbers between which each name is known to lie, from conditions that compare it with a
    number or with something whose bounds are known; None where one has no bounds."""
    found: dict[str, list[int | None]] = {name: [None, None] for name in names}
    known = [part for g in given for part in parts(g)]
    for _ in range(len(names) + 1):
        for part in known:
            if part.op not in ("lt", "le", "eq"):
                continue
            a, b = part.args
            off = part.op == "lt"
            if b.op == "var" or b.constant is None:
                low = _least(a, found)
                if b.op == "var" and b.args[0] in found and low is not None:
                    old = found[b.args[0]][0]
                    found[b.args[0]][0] = low + off if old is None else max(old, low + off)
            if a.op == "var" and a.args[0] in found:
                high = _most(b, found)
                if high is not None:
                    old = found[a.args[0]][1]
                    found[a.args[0]][1] = high - off if old is None else min(old, high - off)
            if part.op == "eq" and b.op == "var" and b.args[0] in found:
                high = _most(a, found)
                if high is not None:
                    old = found[b.args[0]][1]
                    found[b.args[0]][1] = high if old is None else min(old, high)
            if part.op == "eq" and a.op == "var" and a.args[0] in found:
                low = _least(b, found)
                if low is not None:
                    old = found[a.args[0]][0]
                    found[a.args[0]][0] = low if old is None else max(old, low)
    if any(low is None or high is None for low, high in found.values()):
        return None
    return {n: range(low, high + 1) for n, (low, high) in found.items()}  # pyright: ignore


def parts(term: Term) -> Iterator[Term]:
    """The conditions that a conjunction joins."""
    if term.op == "land":
        for arg in term.args:
            yield from parts(arg)
    else:
        yield term


def _least(term: Term, known: Mapping[str, Sequence[int | None]]) -> int | None:
    return _ends(term, known)[0]


def _most(term: Term, known: Mapping[str, Sequence[int | None]]) -> int | None:
    return _ends(term, known)[1]


def _ends(term: Term, known: Mapping[str, Sequence[int | None]]) -> tuple[int | None, int | None]:
    """Bounds by interval arithmetic, for the few operations that stand in ranges."""
    if term.constant is not None:
        return term.constant, term.constant
    if term.op == "var":
        low, high = known.get(term.args[0], (None, None))
        return low, high
    if term.op not in ("add", "sub", "mul", "fdiv", "tdiv"):
        return None, None
    a, b = (_ends(arg, known) for arg in term.args)
    if None in a or None in b:
        return None, None
    if term.op in ("fdiv", "tdiv") and min(b) <= 0:  # pyright: ignore
        return None, None
    ends = []
    for x, y in product(a, b):
        assert x is not None and y is not None
        match term.op:
            case "add":
                ends.append(x + y)
            case "sub":
                ends.append(x - y)
            case "mul":
                ends.append(x * y)
            case _:
                ends.append(OPS[term.op](x, y))
    return min(ends), max(ends)


def count(ranges: Mapping[str, range]) -> int:
    """How many points there are."""
    found = 1
    for r in ranges.values():
        found *= length(r)
    return found


def length(r: range) -> int:
    """How many numbers are in a range; len() stops at the largest index of a list."""
    return max(0, r.stop - r.start)


def points(ranges: Mapping[str, range], given: Sequence[Term]) -> Iterator[dict[str, np.ndarray]]:
    """All points at which the given conditions hold, in columns."""
    from ..packages import numpy as np

    total, names = count(ranges), list(ranges)
    for start in range(0, total, CHUNK):
        rest = np.arange(start, min(total, start + CHUNK), dtype=np.int64)
        columns: dict[str, Any] = {}
        for name in reversed(names):
            r = ranges[name]
            columns[name] = rest % length(r) + r.start
            rest = rest // length(r)
        columns = {name: columns[name] for name in names}
        holds, defined = Values(columns, len(rest)).at(both(given))
        kept = np.broadcast_to(holds & defined, (len(rest),))
        if kept.any():
            yield {name: column[kept] for name, column in columns.items()}


def failure(
    goals: Sequence[Term], ranges: Mapping[str, range], given: Sequence[Term]
) -> tuple[int, Failure | None]:
    """(how many points were tried, the first one at which a goal does not hold)."""
    tried = 0
    for columns in points(ranges, given):
        n = len(next(iter(columns.values()))) if columns else 1
        found, wrong = failure_at(goals, columns, n)
        tried += found
        if wrong is not None:
            return tried, wrong
    return tried, None


def failure_at(
    goals: Sequence[Term], columns: Mapping[str, np.ndarray], n: int | None = None
) -> tuple[int, Failure | None]:
    """The same at points in columns."""
    from ..packages import numpy as np

    if n is None:
        n = len(next(iter(columns.values())))
    values = Values(columns, n)
    for k, goal in enumerate(goals):
        holds, defined = values.at(goal)
        wrong = np.broadcast_to(~(holds.astype(bool) & defined), (n,))
        if wrong.any():
            at = int(np.argmax(wrong))
            return at, Failure({name: int(c[at]) for name, c in columns.items()}, k)
    return n, None


class Values:
    """Values of terms at points, in columns: exact, in int64 or, where those would not do, in Python
    ints."""

    def __init__(self, columns: Mapping[str, np.ndarray], n: int):
        self.columns, self.n = columns, n
        self._known: dict[int, tuple[Any, Any]] = {}

    def at(self, term: Term) -> tuple[Any, Any]:
        """(values, where they are defined)."""
        from ..packages import numpy as np

        for part in term.walk(self._known):
            value, ok = self._value(part)
            self._known[part.key] = np.asarray(value), ok
        return self._known[term.key]

    def _value(self, term: Term) -> tuple[Any, Any]:
        from ..packages import numpy as np

        yes = np.True_
        match term.op:
            case "const":
                return _exact([term.args[0]]), yes  # with an axis: without it objects are ints
            case "true" | "false":
                return np.array(term.op == "true"), yes
            case "var":
                return self.columns[term.args[0]], yes
        if term.op == "lookup":
            place, ok = self._known[term.args[0].key]
            entries = _exact([t.args[0] for t in term.args[1:]])
            ok = ok & (place >= 0) & (place < len(entries))
            return entries[np.where(ok, place, 0).astype(np.int64)], ok
        args = [self._known[a.key] for a in term.args]
        values, oks = [a[0] for a in args], [a[1] for a in args]
        if term.op == "select":
            c = values[0].astype(bool)
            return np.where(c, values[1], values[2]), oks[0] & np.where(c, oks[1], oks[2])
        if term.op in ("land", "lor"):
            a, b = (v.astype(bool) for v in values)
            needed = a if term.op == "land" else ~a
            return (a & b if term.op == "land" else a | b), oks[0] & (~needed | oks[1])
        ok = oks[0] if len(oks) == 1 else oks[0] & oks[1]
        a, b = values[0], values[-1]
        match term.op:
            case "fdiv" | "fmod" | "tdiv" | "tmod":
                ok = ok & (b != 0)
                b = np.where(ok, b, 1)
                a, b = _wide(a, b, max(_largest(a), _largest(b)))
                if term.op == "fdiv":
                    return a // b, ok
                if term.op == "fmod":
                    return a % b, ok
                q = abs(a) // abs(b)
                q = np.where((a < 0) == (b < 0), q, -q)
                return (q, ok) if term.op == "tdiv" else (a - q * b, ok)
            case "shl" | "shr":
                ok = ok & (b >= 0) & ((b <= FARTHEST) | (term.op == "shr"))
                b = np.where(ok, b, 0)
                if term.op == "shr":
                    return a >> np.minimum(b, 63) if a.dtype != object else a >> b, ok
                top = int(np.max(b)) if np.size(b) else 0
                a, _ = _wide(a, a, max(_largest(a), 1) << top)
                return a << b.astype(a.dtype), ok
            case "isqrt":
                ok = ok & (a >= 0)
                a = np.where(ok, a, 0)
                return _exact([isqrt(int(n)) for n in np.ravel(a)]).reshape(np.shape(a)), ok
            case "not":
                return ~a, ok
            case "lnot":
                return ~a.astype(bool), ok
        if term.op in ("add", "sub", "mul"):
            top = _largest(a), _largest(b)
            a, b = _wide(a, b, top[0] * top[1] if term.op == "mul" else top[0] + top[1])
        found = {
            "add": np.add, "sub": np.subtract, "mul": np.multiply, "and": np.bitwise_and,
            "or": np.bitwise_or, "xor": np.bitwise_xor, "lt": np.less, "le": np.less_equal,
            "eq": np.equal, "ne": np.not_equal,
        }[term.op](a, b)  # fmt: skip
        return found, ok


def _exact(numbers: Sequence[int]) -> np.ndarray:
    """An array of them; left to itself NumPy takes floats for some that are too large for int64."""
    from ..packages import numpy as np

    fits = all(-INT64 <= n <= INT64 for n in numbers)
    return np.array(numbers, np.int64 if fits else object)


def _largest(a: Any) -> int:
    return max(abs(int(a.min())), abs(int(a.max()))) if a.size else 0


def _wide(a: Any, b: Any, largest: int) -> tuple[Any, Any]:
    """Arrays in which a result of this size is exact."""
    return (a, b) if largest <= INT64 else (a.astype(object), b.astype(object))
