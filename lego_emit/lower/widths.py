"""The narrowest index type that holds all values of a program, and what must hold for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from ..arith.expr import Expr
from ..arith.facts import Facts
from ..arith.rebuild import unsubstitute
from ..arith.terms import without
from ..arith.text import CUT
from ..errors import WidthError, shown
from ..ir.nodes import Node
from ..ir.program import INDEX_TYPES
from ..ir.relations import const
from .graph import Graph
from .lowering import Lowering
from .relations import value as said

MOST_SHOWN = 100  # characters of a value in a message


@dataclass(frozen=True)
class Width:
    """An index type; needed: what must hold for it; unseen: whether every value must fit of which
    nothing more can be said."""

    index_type: str
    needed: tuple[Node, ...] = ()
    unseen: bool = False


def choose_type(
    name: str,
    lowering: Lowering,
    program: Mapping[int, Node],
    candidates: Sequence[str],
    size: Expr | None,
) -> Width:
    """The narrowest candidate that holds every value. program: the node of each operation. Raises WidthError where a value provably does not fit the widest candidate."""
    facts, graph = lowering.facts, lowering.graph
    nodes = {k: n for k, n in program.items() if not n.is_bool}
    # The graph has the operations: the node of one that has a name is a variable.
    shifts = [program[graph.args[k][1]].hi for k in nodes if graph.ops[k] in ("shl", "shr")]
    negated = {k for k in nodes if graph.ops[k] == "neg"}  # unsigned there is no such operation
    lows = [n.lo for n in nodes.values() if n.lo is not None]
    highs = [n.hi for n in nodes.values() if n.hi is not None]
    bounded = len(lows) == len(highs) == len(nodes)
    for candidate in candidates:
        least, most = INDEX_TYPES[candidate]
        known = [by for by in shifts if by is not None]
        farthest = max(known, default=0) if len(known) == len(shifts) else None
        if farthest is None or farthest >= (32 if most <= 2**32 else 64):
            if candidate == candidates[-1]:
                raise WidthError(
                    f"{name}: a shift by up to {_shown(farthest)} does not fit {candidate}"
                )
            continue
        if most == inf:
            return Width(candidate)
        outside = {
            k: n
            for k, n in nodes.items()
            if any(end is not None and not least <= end <= most for end in (n.lo, n.hi))
            or (k in negated and least == 0)
        }
        fits = not outside
        if fits and bounded:
            return Width(candidate)
        if candidate != candidates[-1]:
            continue
        if not fits:
            k, culprit = next(iter(outside.items()))
            raise WidthError(
                f"{name}: {_named(k, culprit, lowering)} lies in "
                f"{_shown(culprit.lo)}..{_shown(culprit.hi)}, which does not fit {candidate} "
                f"({least}..{most}); "
                + (
                    "choose a signed index_type"
                    if least == 0 and (k in negated or min(culprit.lo or 0, culprit.hi or 0) < 0)
                    else "choose a wider index_type or smaller sizes"
                )
            )
        with facts.quick():  # a weaker proof only costs a longer header
            needed, unseen = _preconditions(nodes, lowering, candidate, size)
        return Width(candidate, tuple(needed), unseen)
    raise WidthError(f"{name}: no index type to choose from")


def _named(k: int, node: Node, lowering: Lowering) -> str:
    value = lowering.value(k)
    if value is not None:
        text = repr(unsubstitute(value, lowering.facts))
        return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + CUT
    return node.op if node.value is None else str(node.value)


def _shown(bound: int | None) -> str:
    return "?" if bound is None else shown(bound)


def _preconditions(
    nodes: dict[int, Node],
    lowering: Lowering,
    index_type: str,
    size: Expr | None,
) -> tuple[list[Node], bool]:
    """(what must hold for every unbounded value to fit, the strongest conditions only; whether there
    is one of which that cannot be said)."""
    facts, graph = lowering.facts, lowering.graph
    least, most = INDEX_TYPES[index_type]
    limit = Node("sub", (Node("pow", (const(2), const(most.bit_length()))), const(1)))
    tops: list[Expr] = []
    signs: list[Node] = []
    unseen = False
    covered = _covered(lowering.graph, nodes)
    for k, node in nodes.items():
        if node.lo is not None and (node.hi is not None or k in covered):
            continue
        if graph.ops[k] in ("var", "table"):
            continue  # an argument of the type fits the type
        value = lowering.value(k)
        if value is None:
            unseen = True
            continue
        if node.lo is None and least == 0:
            low = _without_tables(value, facts)
            if low is None:
                unseen = True
            elif not facts.nonneg(low):
                signs.append(Node("ge", (said(low, facts), const(0))))
        found: list[Expr | None] = []
        if node.hi is None:
            found.append(facts.upper(value))
        if node.lo is None:
            bottom = facts.lower(value)
            found.append(None if bottom is None else -bottom)
        if any(bound is None for bound in found):
            found = [facts.magnitude(value)]
        known = [bound for bound in found if bound is not None and not _looks_up(bound)]
        if len(known) < len(found):
            unseen = True
        else:
            tops += known
    if size is not None and tops and all(_at_most(top, size, facts) for top in tops):
        tops = [size]
    kept: list[Expr] = []
    for top in tops:
        constant = top.terms.get((), 0)
        if constant < 0:
            top = top - constant
        if not any(_at_most(top, other, facts) for other in kept):
            kept = [other for other in kept if not _at_most(other, top, facts)] + [top]
    # What is assumed may say it already.
    open_ = [top for top in kept if not facts.nonneg(Expr.of(most) - top)]
    own = [unsubstitute(top, facts) for top in open_]
    own = [e for e in own if e.single is None or e.single.kind != "sym"]  # an argument fits
    needed = [*(Node("le", (said(e, facts), limit)) for e in own), *signs]
    return needed, unseen


def _looks_up(e: Expr) -> bool:
    return any(atom.kind == "lookup" for atom in e.deep_atoms())


def _without_tables(e: Expr, facts: Facts) -> Expr | None:
    """What e is at least, without its tables, of which a reader of the header knows nothing; None where that
    cannot be said."""
    found = e
    for mono, c in e.terms.items():
        tables = [atom for atom in mono if atom.kind == "lookup"]
        if not tables:
            continue
        rest = Expr({without(mono, (tables[0],)) or (): c})
        rises = facts.nonneg(rest)
        if not rises and not facts.nonneg(-rest):
            return None
        entries = tables[0].args[0].values
        found = found - Expr({mono: c}) + rest * (min(entries) if rises else max(entries))
    return None if _looks_up(found) else found


def _at_most(e: Expr, top: Expr, facts: Facts) -> bool:
    """Whether e <= top is proven; at once where e is a part of the product that top is."""
    positive = [(m, c) for m, c in e.terms.items() if c > 0]
    if len(positive) == 1 and len(top.terms) == 1:
        ((mono, c),) = top.terms.items()
        rest = without(mono, positive[0][0])
        if rest is not None and 0 < positive[0][1] <= c:
            factors = [a for m in (mono, *e.terms) for a in m]
            if all((facts.interval(Expr.atom(a))[0] or 0) >= 1 for a in dict.fromkeys(factors)):
                return True
    return facts.nonneg(top - e)


def _covered(graph: Graph, nodes: dict[int, Node]) -> set[int]:
    """Nodes that are never larger than another unbounded one: summands and factors of it."""
    covered: set[int] = set()
    for k, node in nodes.items():
        if node.hi is not None or graph.ops[k] not in ("add", "mul"):
            continue
        a, b = graph.args[k]
        least = 0 if graph.ops[k] == "add" else 1
        for one, other in ((a, b), (b, a)):
            lo, other_lo = nodes[one].lo, nodes[other].lo
            if lo is not None and lo >= 0 and other_lo is not None and other_lo >= least:
                covered.add(one)
    return covered
