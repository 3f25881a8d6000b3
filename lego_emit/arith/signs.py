"""Values in which nothing on the way is negative, for types that have no negative numbers."""

from __future__ import annotations

from .expr import Expr
from .facts import Facts
from .rebuild import rebuild
from .terms import Atom


def without_negative_parts(e: Expr, facts: Facts) -> Expr:
    """The same value: a factor that is not positive by its opposite, as (a - n)*(b - n) is
    (n - a)*(n - b); a quotient of such a dividend rounded up, as -(-n // d) is (n + d - 1) // d."""

    def replace(atom: Atom) -> Expr | None:
        if atom.kind == "group":
            inner = inside(atom.args[0])
            if not facts.nonneg(inner) and facts.nonneg(-inner):
                return -Expr.atom(Atom("group", -inner, None, None, atom.args[3]))
        elif atom.kind == "digit" and atom.args[2] is None:
            base, by = inside(atom.args[0]), inside(atom.args[1])
            if not facts.nonneg(base) and facts.nonneg(-base) and facts.nonneg(by - 1):
                return -((by - base - 1) // by)
        return None

    def inside(value: Expr) -> Expr:
        return rebuild(value, replace, made)

    made: dict = {}
    return inside(e)
