"""The rounds of loops, lowered as functions of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ..arith.expr import Expr, as_number
from ..arith.loops import Loop
from ..arith.steps import Log
from ..ir.index_types import IndexType
from ..ir.loops import Round
from ..ir.nodes import Node
from ..ir.program import Doc, Function
from ..ir.relations import const, names_in, replaced
from .problem import AsWritten, Conditions, Counting, Dialect, Parameters, Problem


def round_of(lowering: Any, loop: Loop, item: int) -> Round:
    """The round of a loop, in the narrowest type that holds it."""
    known = lowering.rounds.get(loop)
    if known is None:
        known = lowering.rounds[loop] = _lowered(loop, lowering, lowering.dialect)
    return replace(known, item=item)


def _lowered(loop: Loop, lowering: Any, dialect: Dialect) -> Round:
    """The functions of a round in one type, the narrowest that holds them all."""
    asked = {"guard": loop.guard, "going": loop.going}
    problems = [
        None if c is None else _problem(loop, name, [as_number(c)], known)
        for (name, c), known in zip(asked.items(), loop.known[:0:-1], strict=True)
    ]
    written = loop.outputs[: len(loop.outputs) - loop.fills]
    problems.append(_problem(loop, "next", written, loop.known[0]))
    types = dialect.types
    for problem in filter(None, problems):
        found = lowering.function(problem, replace(dialect, types=types))
        types = _from(types, found.index_type)
    own = replace(dialect, types=types[:1], narrow=False)
    parts = [p and replace(lowering.function(p, own), formulas=()) for p in problems]
    guard, going, body = parts
    assert body is not None
    body = _with_elements(body, loop)
    return Round(
        body, guard, going, 0, loop.most, loop.bounds, loop.key, loop.shown, fills=loop.fills
    )


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


def _from(types: Sequence[IndexType], least: IndexType) -> Sequence[IndexType]:
    """The types from one on."""
    return types[types.index(least) :]


def _problem(loop: Loop, name: str, outputs: Sequence[Expr], known: Any) -> Problem:
    names = [loop.counter, *loop.states, *loop.taken]
    return Problem(
        name, Doc(), known, [(f"{name} {k}", e) for k, e in enumerate(outputs)], Log(),
        None, None, None, None,
        Parameters(names, [], {}, set(), set(), set()),
        Counting(0, 0, [0] * len(outputs), False),
        Conditions([], [], None, {}, {}),
        AsWritten(), None, False,
    )  # fmt: skip


def types_of(rounds: Sequence[Round], types: Sequence[IndexType]) -> Sequence[IndexType]:
    """The types that hold what is computed in rounds."""
    for found in rounds:
        if found.body.index_type in types:
            types = _from(types, found.body.index_type)
    return types


def in_type(node: Node, lowering: Any, index_type: IndexType) -> Node:
    """A node in whose loops all is computed in a type."""
    loops = {loop.key: loop for loop in lowering.rounds}

    def changed(leaf: Node) -> Node:
        found: Round = leaf.value
        if found.body.index_type == index_type:
            return leaf
        own = replace(lowering.dialect, types=[index_type], narrow=False)
        return replace(
            leaf, value=replace(_lowered(loops[found.key], lowering, own), item=found.item)
        )

    return replaced(node, changed, "round")


def needed(
    body: Sequence[tuple[str, Node]], params: Collection[str]
) -> tuple[list[Node], bool, bool]:
    """(conditions on parameters, whether more must hold that no condition says, whether divisors must not
    be 0 of which none does) for all values in the loops of a program to be, and to fit."""
    found, unseen, nonzero = dict[Node, None](), False, False
    for _, node in body:
        if node.op != "loop":
            continue
        made: Round = node.args[0].value
        given = node.args[3 + made.count :]
        for f in made.parts:
            taken = dict(zip([p.name for p in f.params[1 + made.count :]], given, strict=True))
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
