"""Sizes of a copy at numbers, and as nodes of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache, reduce
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Expr
from ..arith.terms import Atom, Identity
from ..errors import InternalError
from ..ir.nest_runs import Value, reader
from ..ir.nodes import Node, const, made, var
from .digits import IndexSpace, Size

# Of atoms that sizes are made of; operands are never negative and divisors positive.
_NODES = {"floordiv": "div", "floormod": "mod", "min": "min", "max": "max"}


def node_of(size: Size, factors: bool = True) -> Node:
    """A size as a node over the size parameters, which is not negative. factors: whether x * y - x is x * (y - 1), of
    which no part is larger than the whole."""
    return const(size) if isinstance(size, int) else _node_of(size.identity, factors)


@lru_cache(2**14)
def _node_of(identity: Identity, factors: bool) -> Node:
    return least(_of_sum(Expr(dict(sorted(identity, key=_positive_first))), factors), 0)


def least(node: Node, lo: int) -> Node:
    """A node that is known to be at least a number."""
    return node if node.op == "const" else Node(node.op, node.args, node.value, lo, node.hi)


def _of_sum(size: Expr, factored: bool) -> Node:
    terms = []
    sums = dict(sorted(_in_quotients(size).terms.items(), key=_positive_first))
    less = _once_less(sums) if factored else {}
    for mono, coefficient in sums.items():
        if mono in less.values():
            continue
        one = less.get(mono, mono)
        factors = [_of_atom(atom) for atom in one]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, const(abs(coefficient)))
        if mono in less:
            (other,) = (Counter(mono) - Counter(one)).elements()
            factors.append(least(made("sub", _of_atom(other), const(1)), 0))
        terms.append((coefficient < 0, reduce(lambda x, y: made("mul", x, y), factors)))
    if not terms:
        return const(0)
    is_negative, found = terms[0]
    if is_negative:
        found = made("neg", found)
    for is_negative, term in terms[1:]:
        found = made("sub" if is_negative else "add", found, term)
    return found


def _once_less(sums: Mapping[Any, int]) -> dict[Any, Any]:
    """The products x * y of a sum from which x is subtracted, and x."""
    found: dict[Any, Any] = {}
    for mono, coefficient in sums.items():
        for other, factor in sums.items():
            is_one_more = len(other) == len(mono) + 1 and not Counter(mono) - Counter(other)
            if mono and coefficient < 0 and factor == -coefficient and is_one_more:
                if other not in found and mono not in found.values():
                    found[other] = mono
    return found


def _in_quotients(found: Expr) -> Expr:
    """A sum whose constant is within a quotient that may be negative without it: (c - x) // d + k is
    (c + k*d - x) // d, which languages without signed numbers can compute."""
    added = found.terms.get((), 0)
    for mono, factor in found.terms.items():
        if len(mono) != 1 or mono[0].kind not in ("floordiv", "digit") or min(added, factor) <= 0:
            continue
        base, divisor, *high = mono[0].args
        d = Expr.of(divisor).constant
        falls = any(c < 0 for m, c in Expr.of(base).terms.items() if m)
        if d is None or high not in ([], [None]) or not falls or added % factor:
            continue
        whole = Expr.of(base) + added // factor * d
        rest = found - added - Expr.of(factor) * Expr.atom(mono[0])
        return rest + Expr.of(factor) * Expr.atom(Atom(mono[0].kind, whole, *mono[0].args[1:]))
    return found


def _positive_first(term: Any) -> Any:
    mono, coefficient = term
    return coefficient < 0, not mono, [a.key for a in mono]


def _of_atom(atom: Atom) -> Node:
    if atom.kind == "sym":
        return var(str(atom.args[0]))
    if atom.kind == "opaque":
        return node_of(atom.args[0])
    if atom.kind == "digit":
        base, lo, hi = atom.args
        found = node_of(base)
        if hi is not None:
            found = least(made("mod", found, least(node_of(hi), 1)), 0)
        return found if lo.constant == 1 else made("div", found, least(node_of(lo), 1))
    if atom.kind in _NODES:
        return made(_NODES[atom.kind], *(least(node_of(a), k) for k, a in enumerate(atom.args)))
    raise InternalError(f"a size of a copy holds {atom!r}")


def value_of(size: Size, sizes: Mapping[str, int]) -> int:
    """A size at numbers."""
    return size if isinstance(size, int) else int(_reader_of(size.identity)(sizes))


@lru_cache(2**14)
def _reader_of(identity: Identity) -> Value:
    return reader(_node_of(identity, True))


def layout_at(layout: Block, space: IndexSpace, sizes: Mapping[str, int]) -> Any:
    """A layout of these numbers."""
    if layout.is_concrete:
        return layout
    from ..trace.definition import symbols_in
    from ..trace.numbered import Numbered

    cancelled = dict.fromkeys(symbols_in(layout), 1)
    return layout.with_sizes(Numbered(layout, {**cancelled, **space.trace.sizes, **sizes}))
