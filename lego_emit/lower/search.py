"""Forms that no rule gives.

Programs on whole words for what only moves bits, and programs that are found for the table of a
function of a small range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from math import inf
from typing import Any

from ..arith.expr import Cond, Expr
from ..arith.terms import Atom, Monomial, Terms
from ..ir.cost import Cost
from ..ir.index_types import INT64, UINT64
from ..ir.nodes import Node, tabulate
from ..operations import OPS
from .forms import Form, placed
from .graph import Graph
from .lowering import Candidate, Lowering, price
from .style import Style
from .trees import X
from .trees import cost as cost_of
from .wiring import Bit, Wiring
from .words import word_of

SMALL = 2048  # values of a base that a table is made of
MOVING = ("and", "or", "xor")
Term = tuple[Monomial, int]  # one term of a sum
WORDS = ("words of bits",)
SEARCHED = ("search among small programs",)
MANY = 5  # digits that are looked at as bits that move
LEAST = 2  # a form that costs no more is not searched for a better one


def wired(lowering: Lowering, outputs: Sequence[Expr]) -> tuple[Candidate, bool] | None:
    """(outputs whose bits are bits of parameters, or of sums, as programs on whole words; whether they
    are of parameters alone); None where some are not."""
    if not lowering.bit_operations:
        return None
    wiring = Wiring(lowering.analyzer)
    found = [bits for bits in map(wiring.bits, outputs) if bits is not None]
    if len(found) < len(outputs):
        return None
    form = Form(lowering, Style(), ())
    leaves = [form.expr(e) for e in wiring.inputs]
    inputs = tuple(zip(leaves, wiring.widths, strict=True))
    made = programmed(lowering, inputs, tuple(map(tuple, found)), WORDS)
    plain = all(e.single is not None and e.single.kind == "sym" for e in wiring.inputs)
    return None if made is None else (made, plain)


def partly_wired(lowering: Lowering, outputs: Sequence[Expr], style: Style) -> Candidate | None:
    """Outputs as a sum of what only moves bits, as a program on whole words, and the rest; None
    where there is nothing of the one or of the other."""
    if not lowering.bit_operations:
        return None
    wiring = Wiring(lowering.analyzer)
    parts = [_parted(wiring, e) for e in outputs]
    words = [tuple(word) for by_factor, _ in parts for word in by_factor.values()]
    rests, within = [rest for _, rest in parts], {}
    if any(_is_long(atom) for e in outputs for mono in e.terms for atom in mono):
        from .words_within import parts_within

        within = parts_within(lowering, rests, partial(_parted, wiring), _is_long)
        words += [tuple(word) for by_factor, _ in within.values() for word in by_factor.values()]
    whole = all(not rest.terms and {*by_factor} <= {((), 1)} for by_factor, rest in parts)
    if not words or whole:
        return None
    form = Form(lowering, style, outputs)
    inputs = tuple(zip(map(form.expr, wiring.inputs), wiring.widths, strict=True))
    nodes = _programs(lowering, inputs, tuple(words))
    if nodes is None:
        return None
    made = iter(nodes)
    sums = [
        sum((placed(lowering, next(made)) * Expr(dict([f])) for f in by_factor), Expr.of(0))
        for by_factor, _ in (*parts, *within.values())
    ]
    if within:
        from .words_within import with_nodes

        rests = with_nodes(form, rests, within, sums[len(parts) :])
    found = [form.expr(rest + moved) for rest, moved in zip(rests, sums, strict=False)]
    for node, e in zip(found, outputs, strict=True):
        if node.args:
            lowering.sources.setdefault(node, e)
    return lowering.priced(found, (*style.words(), *WORDS))


def _parted(wiring: Wiring, e: Expr) -> tuple[dict[Term, list[Bit]], Expr]:
    """(by common factors, the bits of what only moves bits; the rest of the sum). What moves bits
    alone begins such a part, and so do MANY digits with one factor."""
    factored = {mono: _factored(mono, c) for mono, c in e.terms.items()}
    many = Counter(factor for factor, (atom, _) in factored.values() if _is(atom, "digit"))
    parts: dict[Term, list[Bit]] = {}
    rest: Terms = {}
    for mono, c in sorted(e.terms.items(), key=_bits_last):
        factor, (inner, power) = factored[mono]
        joined = None
        begins = _is(inner, *MOVING) or many[factor] >= MANY
        if begins or factor in parts:
            bits = wiring.bits(Expr({inner: power}))
            joined = None if bits is None else wiring.joined(parts.get(factor, []), bits)
        if joined is None:
            rest[mono] = c
        else:
            parts[factor] = joined
    return parts, Expr(rest)


def _is_long(atom: Atom) -> bool:
    """Whether it is a digit of a sum of many terms, or of what operations on bits join."""
    base = atom.args[0].terms if atom.kind == "digit" else {}
    return len(base) >= MANY or any(a.kind in MOVING for mono in base for a in mono)


def _factored(mono: Monomial, c: int) -> tuple[Term, Term]:
    """(the factors beside what may move bits, the odd part of a number among them; the rest)."""
    power = c & -c
    inner = tuple(a for a in mono if a.kind == "digit" or a.kind in MOVING)
    if len(inner) != 1:
        return ((), c // power), (mono, power)
    return (tuple(a for a in mono if a is not inner[0]), c // power), (inner, power)


def _is(mono: Monomial, *kinds: str) -> bool:
    return len(mono) == 1 and mono[0].kind in kinds


def _bits_last(term: tuple[Monomial, int]) -> tuple[bool, bool, int, list[str]]:
    """What bits are moved for comes first: exclusive ors, then digits from the highest on, the constant
    last."""
    mono, c = term
    return not mono, not any(a.kind in MOVING for a in mono), -c, [a.key for a in mono]


def programmed(
    lowering: Lowering,
    inputs: Sequence[tuple[Node, int]],
    outputs: tuple[tuple[Bit, ...], ...],
    words: tuple[str, ...],
) -> Candidate | None:
    """Programs on whole words for outputs of these bits. inputs: nodes, and their bits."""
    nodes = _programs(lowering, inputs, outputs)
    return None if nodes is None else lowering.priced(nodes, words)


def _programs(
    lowering: Lowering,
    inputs: Sequence[tuple[Node, int]],
    outputs: tuple[tuple[Bit, ...], ...],
) -> list[Node] | None:
    """The nodes of these programs."""
    widths = tuple(bits for _, bits in inputs)
    longest = max([*map(len, outputs), *widths])
    width = next((w for w in _word_widths(lowering) if w >= longest), None)
    if width is None:
        return None
    trees = _word_program(widths, outputs, lowering.graph.cost, width, lowering.effort)
    if trees is None:
        return None
    leaves = {word_of(k): node for k, (node, _) in enumerate(inputs)}
    nodes = lowering.graph.trees(trees[0], leaves)
    for tree, most in trees[1].items():
        if tree in leaves:
            lowering.bounds[leaves[tree]] = 0, most
    return nodes


def _word_widths(lowering: Lowering) -> list[int]:
    """The numbers of bits that words may have: 31 always, 32 where all types are unsigned, 63 where a
    type has 64 bits, 64 where that one is unsigned, too."""
    unsigned = not lowering.signed
    has_long = any(t.most in (INT64.most, UINT64.most) for t in lowering.types)
    return [31] + [32] * unsigned + ([63] + [64] * unsigned) * has_long


def tabulated(
    lowering: Lowering, outputs: Sequence[Expr], best: Candidate, style: Style, margin: float
) -> tuple[Candidate, list[Expr], tuple[range, ...]]:
    """(outputs that are a sum of functions of one value of a small range each, by a search for
    forms that have their tables; the outputs with these forms as nodes; what the tables were checked
    on). Each output is tried alone, beside the best form of the others, then those that are cheaper
    by themselves together."""
    graph = lowering.graph
    form, plain = Form(lowering, style, outputs), Form(lowering, Style(), ())
    taken: list[tuple[Expr, tuple[range, ...]]] = [(e, ()) for e in outputs]
    together: dict[int, tuple[Node, Expr, tuple[range, ...]]] = {}
    for k, e in enumerate(outputs):
        _, count, nodes = best
        if count < 3 and not any(atom.kind == "lookup" for atom in e.atoms()):
            break
        least = _price(graph, nodes[k])
        most = _most(graph.cost, best) if len(outputs) == 1 else inf
        for terms, domains in _by_tables(lowering, form, plain, e, most, margin):
            node = form.expr(terms)
            if node.args:
                lowering.sources.setdefault(node, e)
            made = [*nodes[:k], node, *nodes[k + 1 :]]
            found = lowering.priced(made, SEARCHED, domains)
            if price(found) < price(best):
                best, taken[k] = found, (terms, domains)
            if (alone := _price(graph, node)) < least:
                least, together[k] = alone, (node, terms, domains)
    if len(together) > 1:
        made = [together[k][0] if k in together else node for k, node in enumerate(best.roots)]
        domains = tuple(d for _, _, domains in together.values() for d in domains)
        found = lowering.priced(made, SEARCHED, domains)
        if price(found) < price(best):
            best = found
            for k, (_, terms, domains) in together.items():
                taken[k] = terms, domains
    return best, [e for e, _ in taken], tuple(d for _, domains in taken for d in domains)


def _most(cost: Cost, best: Candidate) -> float:
    """What a tree must be cheaper than to take part in a form that is cheaper than the best: a choice
    counts the margin more in a tree, and a remainder whose quotient is there counts more."""
    remainder = cost.prices.get("mod", 1)
    saved = 0 if cost.remainder is None else max(0, remainder - cost.remainder)
    return best.cost + cost.margin + saved


def _by_tables(
    lowering: Lowering, form: Form, plain: Form, e: Expr, most: float, margin: float
) -> Iterator[tuple[Expr, tuple[range, ...]]]:
    """(a sum with the forms that were found for its tables as nodes, what these were checked on). What
    has no such form that is cheaper is spelled in the form's style. A constant goes where it costs
    least. most: what each must be cheaper than."""
    graph = lowering.graph
    constant, parts, rest = _parts_by_base(e)
    tables = []
    for base, part in parts:
        domain = _domain(lowering, base)
        values = None
        if domain is not None and _limit(lowering, plain, base, part) > LEAST:
            values = _table(lowering, plain.expr(part), plain.expr(base), domain)
        if values is None:
            rest = rest + part
        else:
            tables.append((base, part, domain, values))
    if not tables:
        return
    # all the constant to one part, or what makes each table start at 0
    lows, places = [min(t[3]) for t in tables], range(len(tables) if constant else 1)
    ways = [[constant * (part == k) for part in range(len(tables))] for k in places]
    for shifts in (*ways, [-low for low in lows]):
        found = []
        for (base, part, domain, values), shift in zip(tables, shifts, strict=True):
            own = [v + shift for v in values]
            node = _searched(lowering, plain, base, part + shift, own, domain, most, margin)
            if node is not None and _price(graph, node) >= _price(graph, form.expr(part + shift)):
                node = None  # the style has as good a form
            found.append(node)
        if all(f is None for f in found):
            continue
        terms = rest + (constant - sum(shifts))
        for (_, part, _, _), shift, node in zip(tables, shifts, found, strict=True):
            terms = terms + (part + shift if node is None else placed(lowering, node))
        yield terms, tuple(t[2] for t, node in zip(tables, found, strict=True) if node is not None)
        if len(tables) == 1 and shifts[0] == -lows[0]:
            return


def flipped_by(lowering: Lowering, x: Expr, e: Expr) -> Node:
    """The node of x ^ e, where a search may find a cheaper form of e by its table."""
    form, base, found = Form(lowering, Style(), ()), _one_base(e), None
    domain = None if base is None else _domain(lowering, Expr.atom(base))
    if base is not None and domain is not None:
        of = Expr.atom(base)
        values = _table(lowering, form.expr(e), form.expr(of), domain)
        if values is not None:
            found = _searched(lowering, form, of, e, values, domain, inf, None)
    node = lowering.graph.op("xor", form.expr(x), form.expr(e) if found is None else found)
    lowering.sources.setdefault(node, Expr.atom(Atom("xor", x, e)))
    return node


def _price(graph: Graph, node: Node) -> float:
    return graph.price([node])[0]


def _searched(
    lowering: Lowering,
    form: Form,
    base: Expr,
    e: Expr,
    values: list[int],
    domain: range,
    most: float,
    margin: float | None,
) -> Node | None:
    """The node of the cheapest form found for a table, None where none saves the margin, or costs less
    than most. margin: None where the form is in any case one of a choice, which costs no more then."""
    graph, is_choice = lowering.graph, margin is not None
    limit = min(_limit(lowering, form, base, e) - (margin or 0), most)
    if limit <= LEAST:
        return None
    table = tuple(values), domain, is_choice
    known = lowering.searches.get(table)
    if known is None or (known[1] is None and known[0] < limit):
        found = _search(
            tuple(values),
            graph.cost,
            limit,
            domain,
            lowering.bit_operations,
            lowering.effort,
            is_choice,
        )
        known = lowering.searches[table] = limit, found
    if known[1] is None or known[1][1] >= limit:
        return None
    tree, _, bounds = known[1]
    leaves = {X: form.expr(base)}
    (node,) = graph.trees([tree], leaves)
    lowering.bounds.update((leaves[t], b) for t, b in bounds.items() if t in leaves)
    if node.args:
        lowering.sources.setdefault(node, e)
    return node


def _limit(lowering: Lowering, form: Form, base: Expr, e: Expr) -> float:
    """What a form of e must be cheaper than to be of use."""
    graph = lowering.graph
    return graph.price([form.expr(e)])[0] - graph.price([form.expr(base)])[0]


@lru_cache(8192)
def _search(
    values: tuple[int, ...],
    cost: Cost,
    limit: float,
    domain: range,
    bit_operations: bool,
    effort: int,
    is_choice: bool,
) -> tuple[Node, float, dict[Node, tuple[int, int]]] | None:
    """(tree, its price, the range of each of its operations)."""
    from . import small_domain

    prices = {**cost.prices, "select": cost.prices.get("select", 1) + cost.margin * is_choice}
    if not bit_operations:
        prices |= dict.fromkeys((op for op, row in OPS.items() if row.bits), inf)
    tree = small_domain.find(values, prices, limit, domain, effort)
    if tree is None:
        return None
    bounds = _bounds(tree, domain)
    return None if bounds is None else (tree, cost_of([tree], prices), bounds)


@lru_cache(8192)
def _word_program(
    widths: tuple[int, ...],
    bits: tuple[tuple[Bit, ...], ...],
    cost: Cost,
    width: int,
    effort: int,
) -> tuple[list[Node], dict[Node, int]] | None:
    """(a tree for each output, a bound of each of their operations)."""
    from .bits import wire
    from .words import meaning

    trees = wire(widths, bits, cost.prices, width, effort)
    if trees is None:
        return None
    bounds: dict[Node, int] = {}
    made: dict[Node, Node] = {}

    def fields(tree: Node) -> Node:
        """The tree with | between masked fields, as a programmer puts them together (and as GPUs
        do it with the mask in one instruction)."""
        if not tree.args:
            return tree
        if tree not in made:
            op, args = tree.op, tree.args
            if op == "add" and any(a.op == "and" for a in args):
                one, other = (_support(meaning(a, widths, width)) for a in args)
                if one is not None and other is not None and not one & other:
                    op = "or"
            made[tree] = Node(op, tuple(map(fields, args)))
            known = meaning(tree, widths, width)
            if known is not None:
                bounds[made[tree]] = (1 << len(known)) - 1
        return made[tree]

    return [fields(tree) for tree in trees], bounds


def _support(bits: list[int] | None) -> int | None:
    """The bits that are not always 0."""
    return None if bits is None else sum(1 << k for k, bit in enumerate(bits) if bit)


def _domain(lowering: Lowering, base: Expr) -> range | None:
    lo, hi = lowering.analyzer.interval(base)
    if lo is None or lo < 0 or hi is None or hi - lo >= SMALL * lowering.effort or hi <= lo:
        return None
    return range(lo, hi + 1)


def _parts_by_base(e: Expr) -> tuple[int, list[tuple[Expr, Expr]], Expr]:
    """(constant, [(base, the terms that depend on it alone)], the other terms)."""
    parts: dict[Atom, Terms] = {}
    others: Terms = {}
    for mono, c in e.terms.items():
        if not mono:
            continue
        base = _one_base(Expr({mono: c}))
        if base is None:
            others[mono] = c
        else:
            parts.setdefault(base, {})[mono] = c
    found = [(Expr.atom(a), Expr(terms)) for a, terms in parts.items()]
    return e.terms.get((), 0), found, Expr(others)


def _bounds(tree: Node, domain: Sequence[int]) -> dict[Node, tuple[int, int]] | None:
    """The range of every operation of a tree over its domain, also of those in a branch that is
    not taken; None where one divides a negative number as if it were none."""
    columns: dict[Node, Sequence[Any]] = {X: domain}
    try:
        tabulate(tree.walk(), columns, len(domain))
    except ArithmeticError:
        return None
    if any(t.op in ("div", "mod") and min(columns[t.args[0]]) < 0 for t in columns):
        return None
    return {t: (min(c), max(c)) for t, c in columns.items() if not t.is_bool}


def _one_base(e: Expr) -> Atom | None:
    """The one symbol, or the one sum kept whole, that e depends on; None where there are more."""
    found = _bases(e)
    return found.pop() if len(found) == 1 else None


def _bases(e: Expr) -> set[Atom]:
    """The symbols that e depends on; a sum of several that is kept whole stands for itself."""
    found: set[Atom] = set()
    stack: list[Any] = [e]
    seen: set[Any] = set()  # what is shared is looked at once
    while stack:
        value = stack.pop()
        if not isinstance(value, (Expr, Cond)) or value.identity in seen:
            continue
        seen.add(value.identity)
        if isinstance(value, Cond):
            stack.extend(value.args)
        else:
            for mono in value.terms:
                for atom in mono:
                    if atom in seen:
                        continue
                    seen.add(atom)
                    if atom.kind == "sym":
                        found.add(atom)
                    elif atom.kind == "opaque":
                        inner = _bases(atom.args[0])
                        found |= inner if len(inner) < 2 else {atom}
                    else:
                        stack.extend(atom.args)
    return found


def _table(lowering: Lowering, node: Node, leaf: Node, domain: range) -> list[int] | None:
    """A node's values over those of the one that it depends on; None where it has none somewhere, or a
    table in it stays one."""
    columns = lowering.columns.setdefault((leaf, domain), {leaf: domain})
    reached = lowering.graph.reached([node])
    if any(k.op == "table" and k.value.kept for k in reached):
        return None
    try:
        tabulate(reached, columns, len(domain))
    except (ArithmeticError, ValueError):
        return None
    return list(columns[node]) if node in columns else None
