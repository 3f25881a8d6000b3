"""The search for the cheapest form: from the normal form to a straight-line program.

The normal form says what a value is, not how it is computed. 20*(j//6) + j%6 for 0 <= j < 100 costs
9 by the model "latency" (a division 4, its remainder 2.5, a product 1.5, a sum 1). j%6 is
j - 6*(j//6), so that 14*(j//6) + j has the same value; it costs 6.5 and is taken:

    >>> from lego_emit import generate
    >>> unit = generate(lambda j: 20*(j//6) + j%6, "cpp", name="f", ranges={"j": (0, 100)})
    >>> unit.sympy["f"].expressions["result"], unit.functions[0].cost
    (IntAdd(IntMul(14, FloorDiv(j, 6)), j), 6.5)

Such forms are candidates. Generators (candidates.py) yield them: the normal form in several styles
(style.py, forms.py), programs on whole words (search.py), matrices over F2 (linear.py), closed forms
for small tables (small_domain.py). All candidates of a function are nodes of one graph (graph.py), in
which equal operations are one node: a common part is shared and priced once without a search for it.
This is no rewriting system. Equal polynomials are equal already in the normal form, so that what is
left is a finite set of decisions about spelling, and no rule has to be applied until nothing changes.

`lower` promises a program that has the value of the normal form wherever the facts hold and that value
is defined. It is the cheapest of the candidates that were priced, and not of all programs that exist.
Searches end after a number of steps, never after a time, so that the result is the same on every
machine. A generator that finds nothing yields nothing; the plain form is always there. If results fit
32 bits and the cheapest candidate does not on the way, the next one that fits is taken. If no candidate
fits the index types, the cheapest stays, and widths.py decides whether that is an error. Where digits of
several values do not line up, the outputs are also lowered with flat positions kept as opaque terms.

`finish` names what is used more than once. What has a name is computed on every path (it is
speculated): a divisor that may be 0 where its branch is not taken is replaced by 1 there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from types import MappingProxyType

from ..arith.expr import Expr
from ..arith.steps import Log
from ..ir.index_types import INT32, IndexType
from ..ir.nodes import Node
from ..operations import OPS, interval, is_condition
from .candidates import cheapest
from .forms import Form
from .lowering import Candidate, Lowering, price
from .problem import Problem
from .style import Style

LEAST = 2  # operations up to which the form that a function was written in is not asked for
WHOLES = 4  # ways to keep flat positions whole that are tried
LONGEST_NAME = 20  # of a statement that is called by what it is made of


@dataclass
class Lowered:
    """The chosen program: statements and outputs as nodes, the extents of the axes, a view's values,
    and of every operation its node."""

    lowering: Lowering
    body: list[tuple[str, Node]]
    outputs: list[tuple[str, Node]]
    extents: list[tuple[str, Node]]
    viewed: list[Node]
    nodes: dict[Node, Node]
    roots: list[Node]

    @property
    def cost(self) -> float:
        """Of the outputs, by the cost model."""
        return self.lowering.graph.price(self.roots)[0]


def lower(problem: Problem, lowering: Lowering) -> Lowered:
    """The cheapest program for the outputs of a problem, under the facts in force."""
    lowering.log = problem.log
    outputs = [e for _, e in problem.outputs]
    best, aligned = cheapest(lowering, outputs)
    if not lowering.graph.cost.plain:
        best = _cheapest_of_all(problem, lowering, best, aligned)
    roots, asked = best.roots, dict[Node, Node]()
    if not lowering.signed:
        from .unsigned import without_signs

        roots, asked = without_signs(lowering, roots)
    if lowering.graph.launch:
        from .remainders import with_quotients

        roots = with_quotients(lowering, roots)
    made = finished(problem, lowering, roots)
    return replace(made, nodes={**asked, **made.nodes})


def _cheapest_of_all(
    problem: Problem, lowering: Lowering, best: Candidate, aligned: bool
) -> Candidate:
    """The cheapest candidate of the outputs, of which best is that of the normal form, and of all that
    they are written as otherwise; one that fits the types, where one does."""
    outputs = [e for _, e in problem.outputs]
    for variant, log in _variants(problem, aligned, lowering.effort):
        lowering.log = log
        found, _ = cheapest(lowering, variant)
        best = min(best, found, key=price)
    if problem.steps is not None and LEAST < best.ops >= problem.steps.count:
        steps = problem.steps.kept()
        lowering.log = steps.log
        own = [lowering.analyzer.unsubstitute(e) for _, e in steps.outputs]
        nodes = [*map(Form(lowering, Style(), own).expr, own)]
        best = min(best, lowering.priced(nodes, ("as it was written",)), key=price)
    if problem.looked_up is not None:
        lowering.log = problem.looked_up.log
        found, _ = cheapest(lowering, [e for _, e in problem.looked_up.outputs])
        if found.cost + lowering.graph.cost.margin < best.cost:
            best = found
    if _fits_int32(lowering, outputs) and not is_narrow(lowering, best):
        # a form that needs wider values on the way than its results are is no good one
        others = sorted((t.candidate for t in lowering.attempts), key=price)
        best = next((found for found in others if is_narrow(lowering, found)), best)
    else:
        typed = bool(problem.parameters.types)
        others = sorted((t.candidate for t in lowering.attempts if t.cost < inf), key=price)
        for kind in (*lowering.types[: lowering.narrow], *lowering.types[-1:]):
            held = (found for found in (best, *others) if holds(lowering, found, kind, typed))
            if (found := next(held, None)) is not None:
                return found
    return best


def finished(
    problem: Problem,
    lowering: Lowering,
    roots: Sequence[Node],
    given: Mapping[Node, str] = MappingProxyType({}),
) -> Lowered:
    """The program of the nodes that the outputs are. given: names of common parts."""
    plain = Form(lowering, Style(), ())
    extents = {
        n: problem.parameters.extents[n]
        for n in problem.parameters.axes
        if n in problem.parameters.extents
    }
    viewed = problem.view.values if problem.view else ()
    sizes = [plain.expr(problem.analyzer.unsubstitute(e)) for e in (*extents.values(), *viewed)]
    names = [n for n, _ in problem.outputs]
    taken = [*problem.parameters.names, *names]
    return finish(lowering, names, roots, [*extents], sizes, taken, given)


def _variants(problem: Problem, aligned: bool, effort: int) -> Iterator[tuple[list[Expr], Log]]:
    """The outputs again and the steps that lead there: with branches joined where they meet; and where
    digits do not line up one or all of the flat positions on the way kept as one value."""
    if problem.joined is not None:
        yield [e for _, e in problem.joined.outputs], problem.joined.log
    if problem.kept is None or aligned:
        return
    outputs, flats = problem.kept.outputs, problem.kept.flats
    choices = [{atom} for atom in flats]
    if len(flats) > 1:
        choices.append(set(flats))
    for kept in choices[-WHOLES * effort :]:
        analyzer, log = problem.analyzer, Log([*problem.kept.log.entries])
        analyzer.log = log
        found = [analyzer.rebuilt(analyzer.simplifier.opened(e, flats, kept)) for _, e in outputs]
        analyzer.log = None
        yield found, log


def _fits_int32(lowering: Lowering, outputs: Iterable[Expr]) -> bool:
    """Whether 32 bits may be chosen and hold every result."""
    least, most = INT32.ends
    bounds = [b for e in outputs for b in lowering.analyzer.interval(e)]
    return INT32 in lowering.types and all(b is not None and least <= b <= most for b in bounds)


def is_narrow(lowering: Lowering, candidate: Candidate) -> bool:
    """Whether every value on the way fits 32 bits."""
    least, most = INT32.ends
    ranges = lowering.ranges.program(candidate.roots).values()
    return all(
        lo is not None and lo >= least and hi is not None and hi <= most for lo, hi in ranges
    )


def holds(lowering: Lowering, candidate: Candidate, kind: IndexType, typed: bool) -> bool:
    """Whether a type holds every value on the way, as far as they have bounds that are
    numbers; an unsigned one holds none that may be negative. typed: numbers that bound values are those of
    their types, and do not count."""
    least, most = kind.ends
    if most == inf:
        return True
    if least == 0 and not lowering.never_negative(candidate.roots):
        return False
    if typed:
        return True
    ranges = lowering.ranges.program(candidate.roots).values()
    return all((lo is None or lo <= most) and (hi is None or hi <= most) for lo, hi in ranges) and (
        least == 0 or all(end is None or end >= least for ends in ranges for end in ends)
    )


# -- names and ranges ------------------------------------------------------------------------------


def finish(
    lowering: Lowering,
    names: Sequence[str],
    roots: Sequence[Node],
    extent_names: Sequence[str],
    extents: Sequence[Node],
    taken: Sequence[str],
    given: Mapping[Node, str] = MappingProxyType({}),
) -> Lowered:
    """The program of chosen nodes: what stands more than once is named (given: what has a name
    already, however often it stands); every node has its range. extents: of the axes that have
    names, then a view's values.
    What is named is computed whether its branch is taken or not: where it is not, a division by
    what may be 0 there is by 1 instead, and what is known of its value does not hold."""
    graph = lowering.graph
    reached = graph.reached([*roots, *extents])
    ranges = lowering.ranges.program([*roots, *extents])
    body: list[tuple[str, Node]] = []
    used = set(taken)
    needed = set(reached)
    names_given = {k: _fresh(name, used) for k, name in given.items() if k in needed}
    conditions = {k for k in reached if is_condition(k.op)}
    named = {graph.plain(k) for k, uses in graph.uses(roots) if uses > 1 and k.args}
    loops = [k for k in reached if k.op in ("loop", "switch")]
    for k in loops:  # a state may be an expression; what does not change in the loop has a name
        ends = k.args[1:3] if k.op == "loop" else k.args[1:2]
        named |= {k, *map(graph.plain, (*ends, *k.args[k.args[0].value.first :]))}
    named = {k for k in (named | {*names_given}) - conditions if k.args}
    meant = graph.always([*roots, *extents])
    outside = graph.always([*roots, *extents, *named], lowering.lazy) - meant
    loose: set[Node] = set()  # computed where they may mean nothing, or more is known than holds
    for k in graph.reached(outside):
        if k not in meant and (
            k in graph.may_trap or k.op == "within" or not loose.isdisjoint(k.args)
        ):
            loose.add(k)
    ends = ((k, graph.last[k.args[0].value]) for k in loose if k.op == "lookup")
    lasts = {k: last for k, last in ends if last is not None}
    read = lowering.ranges.lasts(reached, ranges)
    ranges = {**lowering.ranges.program([*lasts.values()]), **ranges}

    first = first_places(reached, taken)

    def made(k: Node, nodes: dict[Node, Node]) -> Node:
        op, bounds = k.op, ranges.get(k, (None, None))
        if op == "within":
            (arg,) = k.args
            return nodes[arg] if k in loose else _bounded(nodes[arg], *bounds)
        if k in read:  # what no place leads to need not stand there
            return Node(op, (), k.value.part(last=read[k]), *bounds)
        args = tuple(nodes[a] for a in k.args)
        if k not in loose:
            if lowering.lazy:  # where it is computed, all that it needs means what it should
                args = tuple(
                    _bounded(node, *ranges[a]) if a in loose and a in ranges else node
                    for a, node in zip(k.args, args, strict=True)
                )
            return Node(op, in_order(k, args, first), k.value, *bounds)
        if is_condition(op):
            return Node(op, args)
        if op in ("loop", "switch"):
            return Node(op, args, None, *bounds)
        if op == "lookup":
            table = args[0].value
            last = nodes[lasts[k]] if k in lasts else None
            last = _number(len(table) - 1) if table.values else last
            return _node(op, args[0], _inside(args[1], last), *args[2:])
        return _harmless(op, args, graph.may_trap.get(k, False))

    nodes: dict[Node, Node] = {}
    for k in graph.reached([*roots, *lasts.values()]):
        node = made(k, nodes)
        if k in named:
            hint = node.args[0].value.shown[1 + node.args[0].value.item] if k in loops else ""
            name = names_given.get(k) or _fresh(hint or _hint(node, used - {*taken}), used)
            body.append((name, node))
            node = Node("var", (), name, node.lo, node.hi)
        nodes[k] = node
    whole: dict[Node, Node] = {}  # extents stand outside of the function, where nothing has a name
    for k in graph.reached(extents):
        whole[k] = made(k, whole)
    if loops:
        from ..ir.loops import together

        body = together(body)
    return Lowered(
        lowering,
        body,
        [(n, nodes[k]) for n, k in zip(names, roots, strict=True)],
        [(n, whole[k]) for n, k in zip(extent_names, extents, strict=False)],
        [whole[k] for k in extents[len(extent_names) :]],
        {k: nodes[k] if k in nodes else whole[k] for k in reached},
        [*roots],
    )


def first_places(reached: Iterable[Node], names: Sequence[str]) -> dict[Node, int]:
    """Of each node, operands first, the place among names of the first parameter in it."""
    places = {name: place for place, name in enumerate(names)}
    first: dict[Node, int] = {}
    for k in reached:
        of = [first[a] for a in k.args]
        first[k] = (
            places.get(str(k.value), len(places)) if k.op == "var" else min(of, default=len(places))
        )
    return first


def in_order(node: Node, args: tuple[Node, ...], first: Mapping[Node, int]) -> tuple[Node, ...]:
    """The operands of an exclusive or in the parameters' order; others as they are."""
    if node.op != "xor" or first[node.args[1]] >= first[node.args[0]]:
        return args
    return args if "const" in (args[0].op, args[1].op) else args[::-1]


def _bounded(node: Node, lo: int | None, hi: int | None) -> Node:
    """A node of which more is known where it is used."""
    return node if node.op == "const" else replace(node, lo=lo, hi=hi)


def _harmless(op: str, args: tuple[Node, ...], positive: bool) -> Node:
    """An operation that has a value for all that its operands may be: a divisor is 1 where it is 0,
    or below 1 and positive says that it is not where it is used."""
    if floored := OPS[op].floored:
        a, b = args
        if b.lo is None or b.lo < 1:
            if positive:
                b = _node("max", b, _number(1))
            elif b.hi is None or b.hi >= 0:
                b = _node("select", Node("ne", (b, _number(0))), b, _number(1))
        if a.lo is None or a.lo < 0 or b.lo is None or b.lo < 1:
            op = floored
        args = a, b
    elif op == "isqrt" and (args[0].lo is None or args[0].lo < 0):
        args = (_node("max", args[0], _number(0)),)
    elif op in ("shl", "shr") and (args[1].lo is None or args[1].lo < 0):
        args = args[0], _node("max", args[1], _number(0))
    return _node(op, *args)


def _inside(place: Node, last: Node | None) -> Node:
    """A place of a table, the nearest one where there is none; last: None of an array of any length."""
    if place.lo is None or place.lo < 0:
        place = _node("max", place, _number(0))
    if last is None:
        return place
    if place.hi is not None and last.op == "const" and place.hi <= last.value:
        return place
    return _node("min", place, _bounded(last, 0, last.hi))


def _number(value: int) -> Node:
    return Node("const", (), value, value, value)


def _node(op: str, *args: Node) -> Node:
    """An operation of which no more is known than its operands' ranges say."""
    return Node(op, args, None, *interval(op, [(a.lo, a.hi) for a in args]))


def _hint(node: Node, made: set[str]) -> str:
    """A short name: i_div_3 or at_x_mod_8 of a parameter, else what kind of value it is. made: names that
    are no parameters', of which none is made."""
    a, *rest = node.args
    b = rest[0] if rest else None
    kind = OPS[node.op].name
    if a.op != "var" or b is None or b.op not in ("const", "var") or {a.value, b.value} & made:
        return kind
    size, sign = b.value, {"quotient": "div", "rest": "mod"}.get(kind)
    if isinstance(size, int):
        if size < 0:
            return kind
        if node.op == "shr":
            size = 1 << size
        elif node.op == "and" and size & (size + 1) == 0:
            size, sign = size + 1, "mod"
    name = re.sub(r"[\]\[]", "", f"{a.value}_{sign}_{size}").replace(".", "_")
    return name if sign and "_" not in f"{size}" and len(name) <= LONGEST_NAME else kind


def _fresh(hint: str, taken: set[str]) -> str:
    name, number = hint, 2
    while name in taken:
        name, number = f"{hint}_{number}", number + 1
    taken.add(name)
    return name
