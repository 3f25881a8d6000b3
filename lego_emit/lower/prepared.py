"""Divisors that are known at launch: of which parameters they are made, and remainders by their quotients.

A quotient by such a divisor becomes a product and a shift (lego_emit/emit/prepared.py), so that lowering
prices it as one by a number. Which divisors there are shows in the functions as they are lowered without
this: they are lowered twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import OptionError, TargetError, did_you_mean, short_repr
from ..ir.nodes import Node
from ..ir.program import Function
from ..ir.relations import inlined, names_in, says
from ..operations import DIVISIONS
from .function import lowered
from .problem import Dialect, Problem


def names_of(value: Any) -> bool | list[str]:
    """What prepare= is: True, which "*" says, too, or names. Raises OptionError."""
    names = value.split(",") if isinstance(value, str) else value
    names = [*names] if isinstance(names, list | tuple) else []
    if value is True or names in (["*"], ["True"]):  # of the command line
        return True
    if not names or not all(isinstance(n, str) and n.strip() for n in names):
        raise OptionError(
            f"prepare is {short_repr(value)}; give True, or a list of parameters as ['d1', 'd2']"
        )
    return [*dict.fromkeys(n.strip() for n in names)]


def lowered_prepared(
    problems: Sequence[Problem],
    dialect: Dialect,
    wanted: bool | Sequence[str],
    parts: Sequence[int] = (),
) -> list[Function]:
    """The functions of the problems, those parameters marked that are known at launch. wanted: their names,
    or True for all that divisors are made of that have no index in them; parts: of how many functions each
    subject is. Raises TargetError for a name that divides nothing, and for what may be negative."""
    found: list[Function] = []
    rest = iter(problems)
    known, divided = set[str](), set[str]()
    for count in parts or (len(problems),):
        own = [next(rest) for _ in range(count)]
        before = [lowered(p, dialect) for p in own]
        names = {n for p, f in zip(own, before, strict=True) for n in _names(p, f, wanted)}
        known |= {one.name for f in before for one in (*f.params, *f.groups)}
        launch = replace(dialect, launch=frozenset(names))
        functions = [lowered(p, launch) for p in own] if names else before
        used = {
            n for f in functions for d in _divisors(f) if names.issuperset(d.names) for n in d.names
        }
        divided |= used
        fixed = used if wanted is True else names
        groups = [g for f in functions for g in f.groups if not fixed.isdisjoint(g.names)]
        fixed = fixed.union(*(g.names for g in groups))
        divided |= {g.name for g in groups if not used.isdisjoint(g.names)}
        found += [_marked(f, fixed) for f in functions]
    for name in [] if isinstance(wanted, bool) else wanted:
        if name not in known:
            raise TargetError(
                f"prepare names {name}, which is no parameter; there are {', '.join(sorted(known))}."
                f"{did_you_mean(name, known)}"
            )
        if name not in divided:
            raise TargetError(
                f"prepare names {name}, which divides nothing, or only together with what is not fixed at "
                "launch; leave it out"
            )
    if not any(p.prepared for f in found for p in f.params):
        raise TargetError(
            f"prepare: no divisor of {found[0].name} is made of parameters alone that are fixed at launch; "
            "leave it out, or name them: prepare=['d']"
        )
    return found


class Divisor:
    """A division of a program: the names that its divisor is made of, the node, and its operands in the
    user's own terms."""

    def __init__(self, node: Node, named: Mapping[str, Node]):
        self.node = node
        self.value, self.by = (inlined(a, named) for a in node.args)
        self.names = {*names_in(self.by)}


def _divisors(f: Function) -> Iterator[Divisor]:
    """The divisions by what is no number."""
    named: dict[str, Node] = {}
    for name, node in (*f.body, *f.outputs):
        for one in dict.fromkeys(node.walk()):
            if one.op in DIVISIONS and one.args[1].op != "const":
                found = Divisor(one, named)
                if found.names:
                    yield found
        named[name] = inlined(node, named)


def _names(problem: Problem, f: Function, wanted: bool | Sequence[str]) -> set[str]:
    """The parameters that are fixed at launch: those that are named, or sizes and what is neither an index
    of a layout nor divided itself, where divisors are made of them."""
    static = {p.name for p in f.static}
    if not isinstance(wanted, bool):
        members = {n for g in f.groups if g.name in wanted for n in g.names}
        return ({p.name for p in f.params if p.name in wanted} | members) - static
    divisions = [*_divisors(f)]
    candidates = {n for d in divisions for n in d.names}
    sizes = {p.name for p in f.params if p.size}
    indices = {*problem.parameters.placed, *problem.parameters.axes}
    counted = (p for p in f.params if p.range.end is not None and p.lo == 0)  # 0 <= j < N
    indices |= {p.name for p in counted if p.range.names()}
    for d in divisions:
        if not candidates.issuperset(names_in(d.value)):
            indices |= _summands(d.value, candidates)
    return ((candidates & sizes) | (candidates - indices)) - static


def _summands(node: Node, candidates: set[str]) -> set[str]:
    """The names in a value that stand in it by themselves, not as factors of others and not in divisors."""
    if node.op == "var":
        return {str(node.value)}
    args = node.args[:1] if node.op in DIVISIONS else node.args
    found = set[str]().union(*(_summands(a, candidates) for a in args)) if args else set[str]()
    return found - candidates if node.op == "mul" and not found <= candidates else found


def _marked(f: Function, fixed: set[str]) -> Function:
    """The function with its parameters marked that are fixed at launch; its comment names the divisors that
    have others in them. Raises TargetError where what is divided may be negative."""
    others: dict[str, None] = {}
    for d in _divisors(f):
        if not d.names <= fixed:
            if not d.names <= {p.name for p in f.static}:  # which the compiler knows
                others[says(d.by)] = None
            continue
        for node in () if f.index_type.least == 0 else (d.value, d.by):
            if d.node.op.startswith("floor") and (node.lo is None or node.lo < 0):
                raise TargetError(
                    f"{f.name}: {says(node)} may be negative, and a division that is prepared for launch "
                    f"is of numbers that are not: say assume=['{says(node)} >= 0'], or a range"
                )
    said = f" Divided by {', '.join(others)} as ever." if others else ""
    params = tuple(replace(p, prepared=p.name in fixed) for p in f.params)
    return replace(f, params=params, summary=f.summary + said)
