"""pdep and pext of x86's BMI2 in the place of an expression that only moves bits.

pext(x, mask) packs the bits of x where mask has ones, pdep(x, mask) spreads the low bits of x over the ones
of mask: (i, j) -> i's bits at the odd places, j's at the even ones is pdep(i, 0xaa..) | pdep(j, 0x55..).
What each bit of a result is, is proved of the lowered expression (lower/words.py, meaning); a function of which
that cannot be said, or that is as short without, has no such form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import TargetError
from ..ir.nodes import FREE, Node, const
from ..ir.program import Function, Program
from .words import first_bits, meaning, word_of

COMMUTATIVE = ("add", "mul", "and", "or", "xor")
DEAR = 2  # operations that one of these instructions may cost


class Move(NamedTuple):
    """Bits of a parameter, lowest first, to bits of a result in the same order."""

    param: int  # its number
    source: int
    target: int

    @property
    def instructions(self) -> list[tuple[str, int]]:
        """(pext or pdep, its mask) of each that it takes, in order."""
        both = ("pext", self.source), ("pdep", self.target)
        return [(name, mask) for name, mask in both if mask & (mask + 1)]


def with_moves(program: Program, printer: Any) -> Program:
    """A program whose functions know which instructions may stand for them. Raises TargetError where the language
    has none."""
    if not printer.moves:
        raise TargetError(
            f"{printer.title} has no pdep and pext for bmi2=True; choose c, cpp or rust, or leave it out"
        )
    found = tuple(replace(f, moves=moves(f)) for f in program.functions)
    return replace(program, functions=found)


def moves(function: Function) -> tuple[tuple[Move, ...], ...] | None:
    """For each result the moves that are joined by `or`; None where it is no such function, or is not longer than
    they are."""
    widths = []
    for p in function.params:
        if p.lo != 0 or p.hi is None or p.hi & (p.hi + 1) or p.type or p.static:
            return None
        widths.append(p.hi.bit_length())
    plain = not (function.groups or function.types or function.base or function.receiver)
    if (
        not plain
        or function.result
        or any(function.bases)
        or sum(widths) > 64
        or not function.outputs
    ):
        return None
    known = {p.name: word_of(k) for k, p in enumerate(function.params)}
    for name, node in function.body:
        known[name] = _over_words(node, known)
    found = []
    for _, node in function.outputs:
        bits = meaning(_over_words(node, known), widths, 64)
        if bits is None:
            return None
        own = _moves(widths, bits)
        if own is None:
            return None
        found.append(own)
    taken = sum(len(move.instructions) for own in found for move in own)
    nodes = {
        n for _, e in (*function.body, *function.outputs) for n in e.walk() if n.op not in FREE
    }
    return tuple(map(tuple, found)) if 0 < DEAR * taken < len(nodes) else None


def _over_words(node: Node, known: dict[str, Node]) -> Node:
    """An expression over the words of the parameters, in the operations that meaning() reads."""
    if node.op == "var":
        return known.get(str(node.value), node)
    args = tuple(_over_words(a, known) for a in node.args)
    if node.op in COMMUTATIVE and args[0].op == "const":
        args = args[::-1]
    by = args[1].value if len(args) == 2 and args[1].op == "const" else None
    if node.op in ("floordiv", "div") and by and by & (by - 1) == 0:
        return Node("shr", (args[0], const(by.bit_length() - 1)))
    return Node(node.op, args, node.value)


def _moves(widths: Sequence[int], bits: Sequence[int]) -> list[Move] | None:
    """What puts each bit of a result into its place."""
    starts = first_bits(widths)
    places: dict[int, list[tuple[int, int]]] = {}
    for place, bit in enumerate(bits):
        if bit == 0:
            continue
        source = bit.bit_length() - 2
        if bit < 2 or bit != 2 << source:  # a constant, several bits, or not known
            return None
        word = max(k for k, start in enumerate(starts) if start <= source and widths[k])
        places.setdefault(word, []).append((source - starts[word], place))
    found = []
    for word, pairs in sorted(places.items()):
        sources = [s for s, _ in pairs]
        if sources != sorted(set(sources)):
            return None
        source, target = (sum(1 << pair[k] for pair in pairs) for k in (0, 1))
        found.append(Move(word, source, target))
    return found
