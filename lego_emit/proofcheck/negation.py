"""Conditions turned round, and taken apart."""

from __future__ import annotations

from .terms import Term, made

NOT = {"lt": "le", "le": "lt", "eq": "ne", "ne": "eq"}


def negated(condition: Term) -> Term:
    """The contrary, without lnot where there is another way to say it."""
    args = condition.args
    match condition.op:
        case "lt" | "le":
            return made(NOT[condition.op], args[1], args[0])
        case "eq" | "ne":
            return made(NOT[condition.op], *args)
        case "land" | "lor":
            return made("lor" if condition.op == "land" else "land", *map(negated, args))
        case "lnot":
            return args[0]
    return made("lnot", condition)


def alternatives(condition: Term) -> list[list[Term]]:
    """Cases that make up a condition, each a list of comparisons. What would be too many is said by
    fewer, wider ones."""
    match condition.op:
        case "lor":
            return [way for arg in condition.args for way in alternatives(arg)]
        case "land":
            first, second = map(alternatives, condition.args)
            if len(first) * len(second) > 16:
                return first
            return [a + b for a in first for b in second]
        case "ne":
            a, b = condition.args
            return [[made("lt", a, b)], [made("lt", b, a)]]
        case "lnot":
            found = negated(condition.args[0])
            return [[]] if found is condition else alternatives(found)
        case "false":
            return []
        case "true":
            return [[]]
    return [[condition]]
