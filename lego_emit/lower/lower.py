"""From normal form to a straight-line program: candidate forms of the same value, the cheapest one
taken, its common parts named, signs and ranges proven."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..arith.expr import Expr
from ..arith.facts import Facts
from ..arith.intervals import interval
from ..arith.knowledge import RECORDER
from ..arith.rebuild import expand_groups, opened, unsubstitute
from ..arith.terms import Atom
from ..ir.program import INDEX_TYPES, OPS, Node
from .forms import Form, Style, standing
from .lowering import Found, Lowering, price
from .problem import Problem
from .search import tabulated, wired

SUBSETS = 3  # digits of one base whose forms are all tried; with more, one at a time
WHOLES = 4  # ways to keep flat positions whole that are tried
BUDGET = 600  # atoms that trying forms may build beyond TRIES times the plain one's, so that long
TRIES = 3  # functions stay quick
DIVIDES = {"div": "floordiv", "mod": "floormod", "floordiv": "floordiv", "floormod": "floormod"}
WIRED = frozenset({"digit", "and", "or", "xor", "shl", "shr"})

NAMES = {
    "add": "total", "sub": "difference", "mul": "scaled", "div": "quotient", "floordiv": "quotient",
    "shr": "quotient", "mod": "rest", "floormod": "rest", "and": "bits", "or": "bits",
    "xor": "bits", "select": "choice", "min": "smaller", "max": "larger", "isqrt": "root",
    "neg": "negated", "int": "flag", "shl": "shifted",
}  # fmt: skip


@dataclass
class Lowered:
    """The chosen program: statements and outputs as nodes, the extents of the axes, and of every
    operation its node."""

    lowering: Lowering
    body: list[tuple[str, Node]]
    outputs: list[tuple[str, Node]]
    extents: list[tuple[str, Node]]
    nodes: dict[int, Node]
    roots: list[int]

    @property
    def cost(self) -> float:
        """Of the outputs, by the cost model."""
        return self.lowering.graph.price(self.roots)[0]


def lower(problem: Problem, lowering: Lowering) -> Lowered:
    """The cheapest program for the outputs of a problem, under the facts in force."""
    outputs = [e for _, e in problem.outputs]
    best, aligned = _best_form(lowering, outputs)
    if not aligned:
        for variant in _variants(problem):
            found, _ = _best_form(lowering, variant)
            best = min(best, found, key=price)
    if _fits_int32(lowering, outputs) and not is_narrow(lowering, best):
        # a form that needs wider values on the way than its results are is no good one
        others = sorted(lowering.tried, key=price)
        best = next((found for found in others if is_narrow(lowering, found)), best)
    if (recorder := RECORDER.get()) is not None:
        recorder.won(best[1], lowering.graph.cost.name)
    return finished(problem, lowering, best[1])


def finished(
    problem: Problem,
    lowering: Lowering,
    roots: Sequence[int],
    given: Mapping[int, str] = MappingProxyType({}),
) -> Lowered:
    """The program of the nodes that the outputs are. given: names of common parts."""
    plain = Form(lowering, Style(), ())
    extents = {n: problem.extents[n] for n in problem.axes if n in problem.extents}
    sizes = [plain.expr(unsubstitute(e, problem.facts)) for e in extents.values()]
    names = [n for n, _ in problem.outputs]
    taken = {*problem.params, *names}
    return finish(lowering, names, roots, [*extents], sizes, taken, given)


def is_aligned(outputs: Iterable[Expr], facts: Facts) -> bool:
    """Whether the borders of all digits line up: each is one of a single value."""
    outputs = list(outputs)
    atoms = [atom for atom, _ in standing(unsubstitute(e, facts) for e in outputs)]
    if any(atom.kind == "group" for atom in atoms):
        flat = [expand_groups(e) for e in outputs]
        if all(e is not None for e in flat):
            expanded = [unsubstitute(e, facts) for e in flat if e is not None]
            atoms = [atom for atom, _ in standing(expanded)]
    return _line_up(atoms)


def _line_up(atoms: Iterable[Atom]) -> bool:
    return all(len(a.args[0].terms) == 1 for a in atoms if a.kind == "digit")


def _variants(problem: Problem) -> Iterator[list[Expr]]:
    """The outputs again, one or all of the flat positions on the way kept as one value."""
    if problem.kept is None:
        return
    outputs, flats = problem.kept
    choices = [{atom} for atom in flats]
    if len(flats) > 1:
        choices.append(set(flats))
    for kept in choices[-WHOLES:]:
        recorder, whole = RECORDER.get(), frozenset(map(flats.index, kept))
        if recorder is not None:
            recorder.variant(problem.facts, whole)
        found = [problem.facts.rebuilt(opened(e, flats, kept)) for _, e in outputs]
        if recorder is not None:
            recorder.stop(whole)
        yield found


def _fits_int32(lowering: Lowering, outputs: Iterable[Expr]) -> bool:
    """Whether 32 bits may be chosen and hold every result."""
    least, most = INDEX_TYPES["int32"]
    bounds = [b for e in outputs for b in lowering.facts.interval(e)]
    return "int32" in lowering.types and all(b is not None and least <= b <= most for b in bounds)


def is_narrow(lowering: Lowering, found: Found) -> bool:
    """Whether every value on the way fits 32 bits."""
    least, most = INDEX_TYPES["int32"]
    ranges = lowering.ranges.program(found[1]).values()
    return all(
        lo is not None and lo >= least and hi is not None and hi <= most for lo, hi in ranges
    )


def _best_form(lowering: Lowering, outputs: Sequence[Expr]) -> tuple[Found, bool]:
    """(the cheapest form, whether the borders of all digits line up)."""
    own = [unsubstitute(e, lowering.facts) for e in outputs]
    atoms = [atom for atom, _ in standing(own)]
    kinds = {atom.kind for atom in atoms}
    begun, best = lowering.built, _tried(lowering, Style(), own)
    if kinds <= {"sym"} and not lowering.sizes:
        return best, True
    words = wired(lowering, own) if kinds & WIRED else None
    if words is not None:
        return min(best, words, key=price), True
    best = _cheapest(lowering, own, atoms, best, begun)
    flat = [expand_groups(e) for e in outputs] if "group" in kinds else []
    if flat and all(e is not None for e in flat):
        expanded = [unsubstitute(e, lowering.facts) for e in flat]
        if (recorder := RECORDER.get()) is not None:
            recorder.context = ("products multiplied out",)
        atoms = [atom for atom, _ in standing(expanded)]
        if tuple(expanded) not in lowering.cheapest:
            begun, plain = lowering.built, _tried(lowering, Style(), expanded)
            _cheapest(lowering, expanded, atoms, plain, begun)
        best = min(best, lowering.cheapest[tuple(expanded)], key=price)
        if recorder is not None:
            recorder.context = ()
    if lowering.signed:
        best = min(best, tabulated(lowering, own, best), key=price)
    return best, _line_up(atoms)


def _tried(lowering: Lowering, style: Style, outputs: Sequence[Expr]) -> Found:
    form = Form(lowering, style, outputs)
    nodes = [form.expr(e) for e in outputs]
    lowering.built += form.built
    return lowering.priced(nodes, style.words())


def _cheapest(
    lowering: Lowering, outputs: Sequence[Expr], atoms: Iterable[Atom], best: Found, begun: int
) -> Found:
    """The cheapest of the styles that are tried; best: that of the plain one; begun: atoms that
    were built before that."""
    style = Style()
    bases: dict[Expr, list[Atom]] = {}
    symbolic = fusible = rests = False
    starts: set[tuple[Expr, Expr]] = set()
    for atom in dict.fromkeys(atoms):
        if atom.kind == "digit":
            base, lo, hi = atom.args
            start = lo.constant
            fusible = fusible or (start is not None and start > 1 and start & (start - 1) == 0)
            starts.add((base, lo))
            if hi is not None and lowering.signed and lowering.ratio(hi, lo) is not None:
                bases.setdefault(base, []).append(atom)
        elif atom.kind == "sym":
            symbolic = symbolic or atom.args[0] in lowering.sizes
    for base, digits in bases.items():
        rests = rests or any((base, d.args[2]) in starts and d.args[2].constant for d in digits)
    limit = begun + BUDGET + TRIES * (lowering.built - begun)

    def choose(made: Style) -> None:
        nonlocal best, style
        found = _tried(lowering, made, outputs)
        if found[0] < best[0]:
            best, style = found, made

    if fusible and lowering.bit_operations:
        choose(replace(style, fuse=True))
    if rests:
        choose(replace(style, rests=True))
    if symbolic:
        choose(replace(style, collect=True))
    for digits in sorted(bases.values(), key=lambda d: d[0].key):
        for floors in _choices(sorted(digits, key=lambda a: a.key)):
            if lowering.built > limit:
                break
            base = style.floors - set(digits) | floors
            for collect in (False, True) if symbolic else (False,):
                choose(replace(style, floors=base, collect=collect))
    if rests and style.floors:
        choose(replace(style, rests=not style.rests))
    lowering.cheapest[tuple(outputs)] = best
    return best


def _choices(digits: list[Atom]) -> Iterator[set[Atom]]:
    """The sets of one base's digits that are tried as differences of quotients."""
    if len(digits) <= SUBSETS:
        for mask in range(1, 1 << len(digits)):
            yield {d for k, d in enumerate(digits) if mask >> k & 1}
        return
    yield set(digits)
    for digit in digits:
        yield {digit}
        yield set(digits) - {digit}


# -- names and ranges ------------------------------------------------------------------------------


def finish(
    lowering: Lowering,
    names: Sequence[str],
    roots: Sequence[int],
    extent_names: Sequence[str],
    extents: Sequence[int],
    taken: Iterable[str],
    given: Mapping[int, str] = MappingProxyType({}),
) -> Lowered:
    """The program of chosen nodes: what stands more than once is named (given: what has a name
    already, however often it stands); every node has its range.
    What is named is computed whether its branch is taken or not: where it is not, a division by
    what may be 0 there is by 1 instead, and what is known of its value does not hold."""
    graph = lowering.graph
    reached = graph.reached([*roots, *extents])
    ranges = lowering.ranges.program([*roots, *extents])
    body: list[tuple[str, Node]] = []
    used = set(taken)
    needed = set(reached)
    names_given = {k: _fresh(name, used) for k, name in given.items() if k in needed}
    conditions = {k for k in reached if OPS.get(graph.ops[k], ("", "i"))[1] == "b"}
    named = {graph.plain(k) for k, uses in graph.uses(roots) if uses > 1 and graph.args[k]}
    named = {k for k in (named | {*names_given}) - conditions if graph.args[k]}
    meant = graph.always([*roots, *extents])
    outside = graph.always([*roots, *extents, *named], lowering.lazy) - meant
    loose: set[int] = set()  # computed where they may mean nothing, or more is known than holds
    for k in graph.reached(outside):
        if k not in meant and (
            k in graph.partial or graph.ops[k] == "within" or not loose.isdisjoint(graph.args[k])
        ):
            loose.add(k)

    def made(k: int, nodes: dict[int, Node]) -> Node:
        op, bounds = graph.ops[k], ranges.get(k, (None, None))
        if op == "within":
            (arg,) = graph.args[k]
            return nodes[arg] if k in loose else _bounded(nodes[arg], *bounds)
        args = tuple(nodes[a] for a in graph.args[k])
        if k not in loose:
            if lowering.lazy:  # where it is computed, all that it needs means what it should
                args = tuple(
                    _bounded(node, *ranges[a]) if a in loose and a in ranges else node
                    for a, node in zip(graph.args[k], args, strict=True)
                )
            return Node(op, args, graph.values[k], *bounds)
        if OPS[op][1] == "b":
            return Node(op, args)
        return _harmless(op, args, graph.partial.get(k, False))

    nodes: dict[int, Node] = {}
    for k in graph.reached(roots):
        node = made(k, nodes)
        if k in named:
            name = names_given.get(k) or _fresh(_hint(node), used)
            body.append((name, node))
            node = Node("var", (), name, node.lo, node.hi)
        nodes[k] = node
    whole: dict[int, Node] = {}  # extents stand outside of the function, where nothing has a name
    for k in graph.reached(extents):
        whole[k] = made(k, whole)
    return Lowered(
        lowering,
        body,
        [(n, nodes[k]) for n, k in zip(names, roots, strict=True)],
        [(n, whole[k]) for n, k in zip(extent_names, extents, strict=True)],
        {k: nodes[k] if k in nodes else whole[k] for k in reached},
        [*roots],
    )


def _bounded(node: Node, lo: int | None, hi: int | None) -> Node:
    """A node of which more is known where it is used."""
    return node if node.op == "const" else replace(node, lo=lo, hi=hi)


def _harmless(op: str, args: tuple[Node, ...], positive: bool) -> Node:
    """An operation that has a value for all that its operands may be: a divisor is 1 where it is 0,
    or below 1 and positive says that it is not where it is used."""
    if op in DIVIDES:
        a, b = args
        if b.lo is None or b.lo < 1:
            if positive:
                b = _node("max", b, _number(1))
            elif b.hi is None or b.hi >= 0:
                b = _node("select", Node("ne", (b, _number(0))), b, _number(1))
        if a.lo is None or a.lo < 0 or b.lo is None or b.lo < 1:
            op = DIVIDES[op]
        args = a, b
    elif op == "isqrt" and (args[0].lo is None or args[0].lo < 0):
        args = (_node("max", args[0], _number(0)),)
    elif op in ("shl", "shr") and (args[1].lo is None or args[1].lo < 0):
        args = args[0], _node("max", args[1], _number(0))
    return _node(op, *args)


def _number(value: int) -> Node:
    return Node("const", (), value, value, value)


def _node(op: str, *args: Node) -> Node:
    """An operation of which no more is known than its operands' ranges say."""
    return Node(op, args, None, *interval(op, [(a.lo, a.hi) for a in args]))


def _hint(node: Node) -> str:
    """A readable name: i_div_3, pid_mod_8, else what kind of value it is."""
    a, *rest = node.args
    b = rest[0] if rest else None
    if a.op == "var" and b is not None and b.op in ("const", "var"):
        size = b.value
        if node.op in ("div", "floordiv"):
            return f"{a.value}_div_{size}"
        if node.op in ("mod", "floormod"):
            return f"{a.value}_mod_{size}"
        if isinstance(size, int) and node.op == "shr":
            return f"{a.value}_div_{1 << size}"
        if isinstance(size, int) and node.op == "and" and size & (size + 1) == 0:
            return f"{a.value}_mod_{size + 1}"
    return NAMES.get(node.op, "part")


def _fresh(hint: str, taken: set[str]) -> str:
    name, number = hint, 2
    while name in taken:
        name, number = f"{hint}_{number}", number + 1
    taken.add(name)
    return name
