"""Expressions that only move bits: which bit of which word each result bit is."""

from __future__ import annotations

from collections.abc import Sequence

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.terms import Atom, Identity
from .words import bits_of

Bit = frozenset  # of (input, bit): their exclusive or; None inside: and a one
ZERO: Bit = frozenset()
ONE: Bit = frozenset([None])
MIXED: Bit = frozenset(["mixed"])  # no exclusive or of bits: must be masked away
LONGEST = 64  # bits of an output


class Wiring:
    """Bits of expressions under facts, as exclusive ors of bits of the inputs: symbols and sums
    that are no wiring themselves, whose values have a constant bound. inputs: in the order of first
    use; widths: their bits."""

    def __init__(self, analyzer: Analyzer):
        self.analyzer = analyzer
        self.inputs: list[Expr] = []
        self.widths: list[int] = []
        self._memo: dict[Identity | Atom, list[Bit] | None] = {}

    def bits(self, e: Expr) -> list[Bit] | None:
        """The bits of e, low first; None where e is no wiring."""
        found = self._sum(e)
        return None if found is None or MIXED in found else _trimmed(found)

    def joined(self, a: list[Bit], b: list[Bit]) -> list[Bit] | None:
        """The bits of a sum; None where both have one in a place."""
        return None if _clash(a, b) else _joined(a, b)

    def _sum(self, e: Expr) -> list[Bit] | None:
        key = e.identity
        if key not in self._memo:
            self._memo[key] = self._bits_of_sum(e)
        return self._memo[key]

    def _bits_of_sum(self, e: Expr) -> list[Bit] | None:
        total: list[Bit] = []
        constant = e.terms.get((), 0)
        for mono, c in e.terms.items():
            if not mono:
                continue
            if len(mono) != 1:
                return None
            size = abs(c)
            term = self._atom(mono[0])
            if term is None or size.bit_length() > LONGEST:
                return None
            if c < 0:  # -c*x is c*(all ones - x) less the ones
                term = [_xor(b, ONE) for b in term]
                constant -= size * ((1 << len(term)) - 1)
            for place in bits_of(size):
                moved = _trimmed([ZERO] * place + term)
                if len(moved) > LONGEST or _clash(total, moved):
                    return None
                total = _joined(total, moved)
        if constant < 0:
            return None
        ones = [ONE if constant >> k & 1 else ZERO for k in range(constant.bit_length())]
        return None if _clash(total, ones) else _joined(total, ones)

    def _atom(self, atom: Atom) -> list[Bit] | None:
        if atom not in self._memo:
            self._memo[atom] = self._bits_of_atom(atom)
        return self._memo[atom]

    def _bits_of_atom(self, atom: Atom) -> list[Bit] | None:
        kind, args = atom.kind, atom.args
        if kind == "sym":
            return self._input(Expr.atom(atom))
        if kind == "digit":
            lo, hi = args[1].constant, None if args[2] is None else args[2].constant
            if not lo or lo & (lo - 1) or (args[2] is not None and (not hi or hi & (hi - 1))):
                return None
            base = self._sum(args[0])
            if base is None:
                base = self._input(args[0])
            if base is None:
                return None
            return base[lo.bit_length() - 1 : None if hi is None else hi.bit_length() - 1]
        if kind in ("and", "or", "xor"):
            a, b = self._sum(args[0]), self._sum(args[1])
            if a is None or b is None:
                return None
            length = max(len(a), len(b))
            a, b = a + [ZERO] * (length - len(a)), b + [ZERO] * (length - len(b))
            return [_GATES[kind](x, y) for x, y in zip(a, b, strict=True)]
        return None

    def _input(self, e: Expr) -> list[Bit] | None:
        lo, hi = self.analyzer.interval(e)
        if lo is None or lo < 0 or hi is None or hi.bit_length() > LONGEST:
            return None
        number = len(self.inputs)
        self.inputs.append(e)
        self.widths.append(hi.bit_length())
        return [frozenset([(number, k)]) for k in range(hi.bit_length())]


def _trimmed(bits: list[Bit]) -> list[Bit]:
    """The bits without those on top that are always 0."""
    return bits[: max((k for k, bit in enumerate(bits, 1) if bit), default=0)]


def _clash(a: Sequence[Bit], b: Sequence[Bit]) -> bool:
    return any(x and y for x, y in zip(a, b, strict=False))


def _joined(a: list[Bit], b: list[Bit]) -> list[Bit]:
    short, long = (a, b) if len(a) < len(b) else (b, a)
    return [x or y for x, y in zip(short, long, strict=False)] + long[len(short) :]


def _xor(a: Bit, b: Bit) -> Bit:
    return MIXED if MIXED in (a, b) else a ^ b


def _or(a: Bit, b: Bit) -> Bit:
    if ONE in (a, b):
        return ONE
    return a or b if not a or not b or a == b else MIXED


def _and(a: Bit, b: Bit) -> Bit:
    if not a or not b:
        return ZERO
    if ONE in (a, b):
        return b if a == ONE else a
    return a if a == b else MIXED


_GATES = {"and": _and, "or": _or, "xor": _xor}
