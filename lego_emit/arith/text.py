"""Symbolic expressions as Python text: for error messages, headers and assumptions.

Text has no names for common parts: what is short as a graph can be endless as text. It is then cut
off, and CUT stands for what is left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ..errors import shown
from .terms import Atom, Condition, Sum

CUT = ".."
MOST = 5000  # atoms of one text
_INFIX = {
    "and": (" & ", 3),
    "or": (" | ", 1),
    "xor": (" ^ ", 2),
    "shl": (" << ", 4),
    "shr": (" >> ", 4),
}
_COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_ADD, _MUL, _UNARY, _ATOM = 5, 6, 7, 9


def text(value: Sum | Condition) -> str:
    """Python text with the same value, as long as that has no more than MOST atoms."""
    left = iter(range(MOST))
    return _condition(value, left) if isinstance(value, Condition) else _expr(value, 0, left)


def _expr(e: Sum, need: int, left: Iterator[int]) -> str:
    if not e.terms:
        return "0"
    terms = sorted(e.terms.items(), key=_order)
    parts = [(c < 0, _term(m, abs(c), _MUL if len(terms) > 1 else need, left)) for m, c in terms]
    if terms[0][1] == -1 and len(terms[0][0]) == 1:  # a sign binds tighter than // and %
        parts[0] = True, _term(terms[0][0], 1, _UNARY, left)
    if len(parts) == 1:
        negative, body = parts[0]
        if negative:
            return f"({'-' + body})" if need > _ADD else "-" + body
        return body
    whole = "".join(
        (" - " if negative else " + ") + body if k else ("-" if negative else "") + body
        for k, (negative, body) in enumerate(parts)
    )
    return f"({whole})" if need > _ADD else whole


def _order(term: tuple[tuple[Atom, ...], int]) -> tuple:
    mono, coefficient = term
    return (not mono, coefficient < 0, -len(mono), -abs(coefficient), [a.key for a in mono])


def _term(mono: tuple[Atom, ...], coefficient: int, need: int, left: Iterator[int]) -> str:
    if not mono:
        return shown(coefficient)
    factors = [shown(coefficient)] if coefficient != 1 else []
    if len(mono) == 1 and not factors:
        return _atom(mono[0], need, left)
    for atom, same in groupby(sorted(mono, key=lambda a: (a.kind != "sym", a.key))):
        count = len([*same])
        if count > 3:
            factors.append(f"{_atom(atom, _ATOM, left)}**{count}")
        else:
            factors += [_atom(atom, _MUL + 1, left) for _ in range(count)]
    whole = "*".join(factors)
    return f"({whole})" if need > _MUL else whole


def _atom(atom: Atom, need: int, left: Iterator[int]) -> str:
    kind, args = atom.kind, atom.args
    if next(left, None) is None:
        return CUT
    if kind == "sym":
        name = args[0]
        if name.isidentifier():
            return name
        dividend, _, divisor = name.rpartition("//")
        whole = f"{dividend} // {divisor}"
        return f"({whole})" if need > _MUL else whole
    if kind == "digit":
        base, lo, hi = args
        if hi is None:
            whole = f"{_expr(base, _MUL, left)} // {_expr(lo, _MUL + 1, left)}"
        elif lo.constant == 1:
            whole = f"{_expr(base, _MUL, left)} % {_expr(hi, _MUL + 1, left)}"
        else:
            whole = f"{_expr(base, _MUL, left)} % {_expr(hi, _MUL + 1, left)} // {_expr(lo, _MUL + 1, left)}"
        return f"({whole})" if need > _MUL else whole
    if kind in ("fdiv", "fmod"):
        sign = "//" if kind == "fdiv" else "%"
        whole = f"{_expr(args[0], _MUL, left)} {sign} {_expr(args[1], _MUL + 1, left)}"
        return f"({whole})" if need > _MUL else whole
    if kind == "group":
        return _expr(args[0], need, left)
    if kind in ("min", "max", "isqrt"):
        return f"{kind}({', '.join(_expr(a, 0, left) for a in args)})"
    if kind == "select":
        return f"({_expr(args[1], 0, left)} if {_condition(args[0], left)} else {_expr(args[2], 0, left)})"
    if kind == "bool":
        return f"({_condition(args[0], left)})"
    sign, prec = _INFIX[kind]
    whole = f"{_expr(args[0], prec + 1, left)}{sign}{_expr(args[1], prec + 1, left)}"
    return f"({whole})" if need > prec else whole


def _condition(condition: Condition, left: Iterator[int]) -> str:
    op, args = condition.op, condition.args
    if op == "not":
        return f"not ({_condition(args[0], left)})"
    if op in ("and", "or"):
        return f" {op} ".join(
            f"({_condition(a, left)})" if a.op in ("and", "or") else _condition(a, left)
            for a in args
        )
    return f"{_expr(args[0], 0, left)} {_COMPARE[op]} {_expr(args[1], 0, left)}"
