"""The rounds of loops and the cases of switches, lowered as functions of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..arith.expr import Expr, as_number
from ..arith.loops import Loop
from ..arith.steps import Log
from ..arith.switches import Switch
from ..arith.terms import Atom
from ..ir.index_types import IndexType
from ..ir.loops import COMPOUND, Round
from ..ir.nodes import Node
from ..ir.program import Doc, Function
from ..ir.relations import const, names_in, replaced
from ..ir.switches import Cases
from .problem import AsWritten, Conditions, Counting, Dialect, Parameters, Problem


def node_of(form: Any, atom: Atom) -> Node:
    """The node of a state behind a loop, or of a result of a switch, which is one of selects in a dialect without
    switches."""
    lowering, (made, item, *operands) = form.lowering, atom.args
    if isinstance(made, Switch) and not lowering.dialect.switches:
        return form.expr(made.in_selects(lowering.analyzer, item, *operands))
    leaf = lowering.graph.round(_round_of(lowering, made, item))
    given = [*map(form.expr, operands)]
    guard = made.under(lowering.analyzer, operands[1:]) if isinstance(made, Switch) else None
    if guard is not None:
        last = lowering.graph.const(made.keys[-1])
        given[0] = lowering.graph.op("select", form.condition(guard), given[0], last)
    node = lowering.graph.op(atom.kind, leaf, *given)
    lowering.sources.setdefault(node, Expr.atom(atom))
    return node


def _round_of(lowering: Any, made: Loop | Switch, item: int) -> Round | Cases:
    """The round of a loop, or the cases of a switch, in the narrowest type that holds all of it."""
    known = lowering.rounds.get(made)
    if known is None:
        known = lowering.rounds[made] = _lowered(made, lowering, lowering.dialect)
    return replace(known, item=item)


def _lowered(made: Loop | Switch, lowering: Any, dialect: Dialect) -> Round | Cases:
    """The functions of a round, or of cases, in one type, the narrowest that holds them all."""
    problems = _of_cases(made) if isinstance(made, Switch) else _of_round(made)
    types = dialect.types
    for problem in filter(None, problems):
        found = lowering.function(problem, replace(dialect, types=types))
        types = _from(types, found.index_type)
    own = replace(dialect, types=types[:1], narrow=False)
    parts = [p and replace(lowering.function(p, own), formulas=()) for p in problems]
    if isinstance(made, Switch):
        return Cases(tuple(parts), made.keys, made.labels, 0, made.bounds, made.key, made.shown)
    guard, going, body = parts
    assert body is not None
    own = (made.most, made.bounds, made.key, made.shown, made.ends)
    return Round(_with_elements(body, made), guard, going, 0, *own, fills=made.fills)


def _with_elements(body: Function, loop: Loop) -> Function:
    """A round with the elements of the array of which it writes one."""
    if not loop.fills:
        return body
    (_, place), (_, value) = body.outputs[-2:]
    count, found = len(body.outputs), [*body.outputs]
    for k, name in enumerate(loop.states[-loop.fills :]):
        lo, hi = loop.bounds[count + k]
        before = Node("var", (), name, lo, hi)
        chosen = Node("eq", (place, const(k)))
        found.append((f"next {count + k}", Node("select", (chosen, value, before), None, lo, hi)))
    return replace(body, outputs=tuple(found))


def _of_round(loop: Loop) -> list[Problem | None]:
    names = [loop.counter, *loop.states, *loop.taken]
    asked = {"guard": loop.guard, "going": loop.going}
    problems = [
        None if c is None else _problem(names, name, [as_number(c)], known)
        for (name, c), known in zip(asked.items(), loop.known[:0:-1], strict=True)
    ]
    written = loop.outputs[: len(loop.outputs) - loop.fills]
    return [*problems, _problem(names, "next", written, loop.known[0])]


def _of_cases(switch: Switch) -> list[Problem]:
    cases = zip(switch.keys, switch.outputs, switch.known, strict=True)
    return [_problem(switch.taken, f"case {key}", outputs, known) for key, outputs, known in cases]


def _from(types: Sequence[IndexType], least: IndexType) -> Sequence[IndexType]:
    """The types from one on."""
    return types[types.index(least) :]


def _problem(params: Sequence[str], name: str, outputs: Sequence[Expr], known: Any) -> Problem:
    return problem_of_part(name, params, [(f"{name} {k}", e) for k, e in enumerate(outputs)], known)


def problem_of_part(
    name: str,
    params: Sequence[str],
    outputs: Sequence[tuple[str, Expr]],
    known: Any,
    fit: bool = False,
) -> Problem:
    """What is to be lowered of a part of a function, such as a round of a loop or a step of a walk. fit: whether
    its results are values that fit."""
    return Problem(
        name, Doc(), known, outputs, Log(), None, None, None, None,
        Parameters(params, [], {}, set(), set(), set()),
        Counting(0, 0, [0] * len(outputs), False),
        Conditions([], [], None, {}, {}),
        AsWritten(), None, False, fit=fit,
    )  # fmt: skip


def chosen(
    roots: Sequence[Node], lowering: Any, nodes: Mapping[Node, Node], paths: Mapping[Node, Any]
) -> set[Node]:
    """Roots, and what they choose from where no more than one of it is computed. paths: the conditions under which
    alone each node is."""
    found = {*roots}
    for k in lowering.graph.ordered(nodes)[::-1] if lowering.lazy else ():
        if k.op == "select" and k in found:
            arms = (a for a in k.args[1:] if paths[a] >= paths[k] | {(k.args[0], a == k.args[1])})
            found.update(arms)
    return found


def types_of(rounds: Sequence[Round | Cases], types: Sequence[IndexType]) -> Sequence[IndexType]:
    """The types that hold what is computed in rounds and cases."""
    for found in rounds:
        if found.parts[-1].index_type in types:
            types = _from(types, found.parts[-1].index_type)
    return types


def in_type(node: Node, lowering: Any, index_type: IndexType) -> Node:
    """A node in whose loops and switches all is computed in a type."""
    known = {made.key: made for made in lowering.rounds}

    def changed(leaf: Node) -> Node:
        found: Round | Cases = leaf.value
        if found.parts[-1].index_type == index_type:
            return leaf
        own = replace(lowering.dialect, types=[index_type], narrow=False)
        return replace(
            leaf, value=replace(_lowered(known[found.key], lowering, own), item=found.item)
        )

    return replaced(node, changed, "round")


def needed(
    body: Sequence[tuple[str, Node]], params: Collection[str]
) -> tuple[list[Node], bool, bool]:
    """(conditions on parameters, whether more must hold that no condition says, whether divisors must not
    be 0 of which none does) for all values in the loops and switches of a program to be, and to fit."""
    found, unseen, nonzero = dict[Node, None](), False, False
    for _, node in body:
        if node.op not in COMPOUND:
            continue
        made: Round | Cases = node.args[0].value
        given = node.args[made.first :]
        for f in made.parts:
            taken = dict(zip([p.name for p in f.params[made.own :]], given, strict=True))
            unseen, nonzero = unseen or f.unseen, nonzero or f.nonzero
            for condition in f.assumed:
                said = condition
                if taken.keys() >= {*names_in(condition)}:
                    said = replaced(condition, lambda v, taken=taken: taken[str(v.value)])
                if {*params} >= {*names_in(said)}:
                    found[said] = None
                else:  # a width may depend on a divisor's branch, and is not lost beside it
                    kinds = {n.op for n in said.walk()}
                    nonzero = nonzero or "ne" in kinds
                    unseen = unseen or "ne" not in kinds or not kinds.isdisjoint(("le", "lt"))
    return [*found], unseen, nonzero
