"""Matrices over F2, the field of two elements.

A matrix is the list of its columns, each an int whose bit r is row r; a vector is an int. Addition is
exclusive or.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

LEADERS = 12  # dimensions up to which all of a kernel, or all of an image, is looked at


def times(columns: Sequence[int], x: int) -> int:
    """A x: the columns of the bits of x, added."""
    total = 0
    while x:
        low = x & -x
        total ^= columns[low.bit_length() - 1]
        x ^= low
    return total


def multiplied(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """A B: b first."""
    return [times(a, column) for column in b]


def identity(size: int) -> list[int]:
    """The identity of so many rows."""
    return [1 << k for k in range(size)]


def transposed(columns: Sequence[int], rows: int) -> list[int]:
    """The rows of a matrix, as columns."""
    return [sum((c >> r & 1) << k for k, c in enumerate(columns)) for r in range(rows)]


class Echelon:
    """Columns reduced from the first to the last: what they span, and how each is made.

    pivots: the columns that are independent of those before them; free: the others. kernel: for
    each free column the sum of columns, itself and pivots, that is zero.
    """

    def __init__(self, columns: Sequence[int]):
        self.columns = [*columns]
        self.pivots: list[int] = []
        self.free: list[int] = []
        self.kernel: list[int] = []
        self._rows: dict[
            int, tuple[int, int]
        ] = {}  # leading bit -> (vector, columns it is made of)
        for k, column in enumerate(columns):
            rest, made = self._reduced(column, 1 << k)
            if rest:
                self.pivots.append(k)
                self._rows[rest.bit_length() - 1] = rest, made
            else:
                self.free.append(k)
                self.kernel.append(made)

    def _reduced(self, vector: int, made: int) -> tuple[int, int]:
        rest = vector
        for lead in range(vector.bit_length() - 1, -1, -1):
            if rest >> lead & 1 and lead in self._rows:
                other, how = self._rows[lead]
                rest, made = rest ^ other, made ^ how
        return rest, made

    @property
    def rank(self) -> int:
        """The dimension of what the columns span."""
        return len(self.pivots)

    def solve(self, y: int) -> int | None:
        """The x with A x = y that uses pivots alone; None where there is none."""
        rest, made = self._reduced(y, 0)
        return None if rest else made

    def minimal(self, y: int) -> int | None:
        """The x with A x = y of the fewest ones; of several the one of solve, then the least number.
        Where kernel and image both have more than 12 dimensions that of solve."""
        found = self.solve(y)
        if found is None or found.bit_count() < 2:
            return found
        others: Iterable[int] = ()
        if len(self.kernel) <= LEADERS:
            others = self._solutions(found)
        elif self.rank <= LEADERS:
            others = [self._nearest[y]]
        return min([found, *others], key=lambda x: (x.bit_count(), x != found, x))

    def _solutions(self, x: int) -> Iterator[int]:
        """All that differ from x by what is in the kernel."""
        for step in range(1, 1 << len(self.kernel)):
            x ^= self.kernel[(step & -step).bit_length() - 1]
            yield x

    @cached_property
    def _nearest(self) -> dict[int, int]:
        """For each y of the image the x with A x = y of the fewest ones, of these the least."""
        found, last = {0: 0}, {0: 0}
        while last:
            following: dict[int, int] = {}
            for y, x in last.items():
                for k, column in enumerate(self.columns):
                    if (z := y ^ column) not in found:
                        following[z] = min(following.get(z, x | 1 << k), x | 1 << k)
            found |= following
            last = following
        return found


def rank(columns: Sequence[int]) -> int:
    """The dimension of what the columns span."""
    return Echelon(columns).rank


def kernel(columns: Sequence[int]) -> list[int]:
    """A basis of the x with A x = 0."""
    return Echelon(columns).kernel


def inverse(columns: Sequence[int]) -> list[int] | None:
    """The inverse of a square matrix; None where it has none."""
    return right_inverse(columns, len(columns)) if rank(columns) == len(columns) else None


def right_inverse(columns: Sequence[int], rows: int) -> list[int] | None:
    """The X with A X = 1 of the fewest ones; None where A is not surjective."""
    echelon = Echelon(columns)
    found = [echelon.minimal(1 << r) for r in range(rows)]
    return None if None in found else [x for x in found if x is not None]


def intersection(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """A basis of what lies in the spans of both."""
    first = [a[k] for k in Echelon(a).pivots]
    second = [b[k] for k in Echelon(b).pivots]
    mask = (1 << len(first)) - 1
    return [times(first, x & mask) for x in kernel([*first, *second])]


def complement(a: Sequence[int], of: Sequence[int]) -> list[int]:
    """Those of the vectors that complete a basis of the span of a to one of the span of both."""
    found = Echelon([*a, *of]).pivots
    return [of[k - len(a)] for k in found if k >= len(a)]
