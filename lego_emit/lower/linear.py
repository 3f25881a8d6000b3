"""Functions that are affine over F2 however they are spelled.

F2 is the field of two elements, where addition is exclusive or. A function of bits is affine if
f(x ^ y) = f(x) ^ f(y) ^ f(0) for all x and y: each bit of the result is an exclusive or of bits of the
input, and perhaps 1. Then f is known by f(0) and the images of the single bits, the columns of a
matrix. Arithmetic hides this. With 0 <= x < 4,

    2*(x % 2) + (x//2 + x) % 2      is 0, 3, 1, 2 at x = 0, 1, 2, 3:

f(0) = 0, the columns are f(1) = 3 and f(2) = 1, and 3 ^ 1 = 2 is f(3). No rule of arithmetic sees an
exclusive or in that sum. Its matrix gives a program of four operations instead of six:

    >>> from lego_emit import generate
    >>> unit = generate(lambda x: 2*(x % 2) + (x//2 + x) % 2, "cpp", name="f", ranges={"x": (0, 4)})
    >>> unit.sympy["f"].expressions["result"]
    BitXor(IntMul(3, BitAnd(x, 1)), ShiftRight(x, 1))

So the function is looked at and not its spelling: the matrix is read from the best candidate so far,
compared with it at every index, and programmed anew (bits.py). To compare at every index is a proof,
because the symbols have few bits: at most 16 together, each of a range 0..2**n - 1. A handful of
sums are tried before, which nearly everything that is not affine fails.

`linear` returns a priced candidate, or None. None says that the outputs are not affine, or that a range
is no power of two, or that there are too many bits or operations to look at, or too few operations to
save any. Nothing is lost by it but this candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ..ir.loops import COMPOUND
from ..ir.nodes import LEAVES, Node, tabulate
from ..operations import OPS
from .graph import Inputs, apart
from .lowering import Candidate, Lowering
from .search import programmed
from .wiring import Bit

BITS = 16  # of all symbols together
LEAST = 3  # a form of fewer operations is looked at where it chooses, or has few bits
FEW = 6  # bits whose values are looked at one by one
WORK = 2**26  # operations on numbers that looking at all values may take
WORDS = ("the matrix over F2 of what it computes, compared at every index",)


def linear(lowering: Lowering, best: Candidate) -> Candidate | None:
    """Outputs that are affine over F2, as programs on whole words; None where some are not, or where
    that is not seen within the budget."""
    _, count, roots = best
    if not lowering.bit_operations or count < 1:
        return None
    reached = lowering.graph.reached(roots)
    inputs = _inputs(lowering, reached)
    if inputs is None or not _plausible(reached, roots, inputs):
        return None
    bits = sum(bits for _, bits in inputs)
    if bits <= FEW:
        columns = _columns(reached, roots, inputs)
    elif count < LEAST and all(k.op != "select" for k in reached):
        return None
    elif len(reached) << bits > WORK or any(k.op in COMPOUND for k in reached):
        return None  # nor are rounds and cases run at all values
    else:
        from .at_every_point import columns_of  # it loads NumPy

        columns = columns_of(lowering.graph, reached, roots, inputs)
    if columns is None:
        return None
    words = []
    for start, images in columns:
        size = max(start, *images).bit_length()
        words.append(tuple(_bit(start, images, inputs, k) for k in range(size)))
    return programmed(lowering, inputs, tuple(words), WORDS)


def _columns(
    reached: Sequence[Node], roots: Sequence[Node], inputs: Inputs
) -> list[tuple[int, list[int]]] | None:
    """As at_every_point.columns_of, without NumPy."""
    bits = sum(bits for _, bits in inputs)
    values = _values(reached, roots, inputs, range(1 << bits))
    if values is None:
        return None
    found = []
    for column in values:
        images = [column[0] ^ column[1 << k] for k in range(bits)]
        wanted = [column[0]]
        for image in images:
            wanted += [other ^ image for other in wanted]
        if column != wanted or min(column) < 0:
            return None
        found.append((column[0], images))
    return found


def _bit(start: int, images: Sequence[int], inputs: Inputs, place: int) -> Bit:
    """The bits of inputs whose exclusive or an output's bit is."""
    found: list[tuple[int, int] | None] = [None] if start >> place & 1 else []
    places = [(k, b) for k, (_, bits) in enumerate(inputs) for b in range(bits)]
    found += [at for at, image in zip(places, images, strict=True) if image >> place & 1]
    return frozenset(found)


def _inputs(lowering: Lowering, reached: Sequence[Node]) -> Inputs | None:
    """The symbols and their bits, where each runs over 0..2**n - 1."""
    analyzer, found = lowering.analyzer, []
    for node in reached:
        if node.op == "var":
            lo, hi = analyzer.interval(analyzer.symbol(str(node.value)))
            if lo != 0 or hi is None or hi & (hi + 1) or hi.bit_length() > BITS:
                return None
            found.append((node, hi.bit_length()))
        elif node.op not in OPS and node.op not in (*LEAVES, "within"):
            return None
        elif node.op == "table" and node.value.kept:
            return None
    total = sum(bits for _, bits in found)
    return tuple(found) if 0 < total <= BITS else None


def _plausible(reached: Sequence[Node], roots: Sequence[Node], inputs: Inputs) -> bool:
    """Whether a few sums go to sums: what is not linear is nearly always seen here."""
    rng, bits = Random(0), sum(bits for _, bits in inputs)
    drawn = [(rng.getrandbits(bits), rng.getrandbits(bits)) for _ in range(3)]
    points = [p for x, y in [(1, (1 << bits) - 2), *drawn] for p in (x, y, x ^ y)]
    values = _values(reached, roots, inputs, [0, *points])
    if values is None:
        return False
    for zero, *column in values:
        sums = zip(column[::3], column[1::3], column[2::3], strict=True)
        if min(zero, *column) < 0 or any(zero ^ a ^ b ^ c for a, b, c in sums):
            return False
    return True


def _values(
    reached: Sequence[Node], roots: Sequence[Node], inputs: Inputs, points: Sequence[int]
) -> list[list[int]] | None:
    """The values of each root at points; None where one has none."""
    given = [apart(inputs, point) for point in points]
    columns: dict[Node, Sequence[int]] = {node: [at[node] for at in given] for node, _ in inputs}
    try:
        tabulate(reached, columns, len(points))
    except (ArithmeticError, ValueError):
        return None
    return [[*map(int, columns[root])] for root in roots]
