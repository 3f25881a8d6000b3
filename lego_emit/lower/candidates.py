"""Generators of forms of equal value: each gives priced candidates, and the cheapest is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.terms import Atom, Identity
from ..operations import OPS
from .forms import Form
from .lowering import Candidate, Identities, Lowering, identities, price
from .shared import shared
from .style import Style, occurrences

SUBSETS = 3  # digits of one base whose forms are all tried; with more, one at a time
BUDGET = 600  # atoms that trying forms may build beyond TRIES times the plain one's, so that long
TRIES = 3  # functions stay quick
MANY = 16  # digits of sums whose styles do not come near words of bits
LONG = 24  # operations of a linear function for which nothing else is tried
CHOSEN = ("choices by digits that are 0 or 1",)
BITS = {op for op, row in OPS.items() if row.bits}
FEW = 3  # operations from which on a form is sought by the tables of its parts


@dataclass
class SearchState:
    """What the generators share while they search for the cheapest form of outputs.

    own: the outputs in the user's symbols; atoms: every occurrence of an atom in them; begun: how many
    atoms had been built before; plain: the candidate in the plain style; best: the cheapest candidate
    so far; style: the cheapest style; settled: no other form can be cheaper; wired: the outputs only
    move bits; parted: the styles in which parts that only move bits were tried; kinds: of the atoms;
    moves_bits: whether some atom takes bits of a value; over_bits: whether all symbols have a number of
    bits. Both need bit operations.
    """

    lowering: Lowering
    outputs: Sequence[Expr]
    own: list[Expr]
    atoms: list[Atom]
    begun: int
    plain: Candidate
    best: Candidate
    style: Style = field(default_factory=Style)
    settled: bool = False
    wired: bool = False
    moves_bits: bool = False
    over_bits: bool = False
    parted: set[Style] = field(default_factory=set)
    kinds: frozenset[str] = field(default=frozenset())


Generator = Callable[[SearchState], Iterable[Candidate]]


def cheapest(lowering: Lowering, outputs: Sequence[Expr]) -> tuple[Candidate, bool]:
    """(the cheapest candidate for outputs, whether the borders of all digits line up)."""
    own = [lowering.analyzer.unsubstitute(e) for e in outputs]
    atoms = [atom for atom, _ in occurrences(own)]
    is_plain = lowering.graph.cost.plain
    begun, plain = lowering.built, _in_style(lowering, Style(plain=is_plain), own)
    if is_plain:
        return plain, True
    state = SearchState(lowering, outputs, own, atoms, begun, plain, plain)
    state.kinds = frozenset(atom.kind for atom in atoms)
    if lowering.bit_operations:
        state.moves_bits = any(map(_moves_bits, atoms))
        state.over_bits = all(_has_bits(lowering, atom) for atom in atoms if atom.kind == "sym")
    linear_sums = all(len(mono) < 2 for e in own for mono in e.terms)
    if state.kinds <= {"sym"} and linear_sums and not lowering.sizes:
        state.settled = True
        if any(map(_nests, own)):
            state.best = min(plain, _in_style(lowering, Style(nested=True), own), key=price)
    for generator in GENERATORS:
        if state.settled:
            return state.best, True
        for found in generator(state):
            state.best = min(state.best, found, key=price)
    return state.best, state.settled or _line_up(state.atoms)


def words(state: SearchState) -> Iterator[Candidate]:
    """Programs on whole words, for what only moves bits."""
    if not state.moves_bits:
        return
    from .search import wired

    found = wired(state.lowering, state.own)
    if found is not None:
        program, plain = found
        state.wired = True
        yield program
        if not plain:
            from .linear import linear

            if (other := linear(state.lowering, program)) is not None:
                yield other


def matrices(state: SearchState) -> Iterator[Candidate]:
    """Programs on whole words, for what is linear over F2 in whatever spelling."""
    count = state.best.ops
    if state.wired or not state.over_bits or count < 1:
        return
    from .linear import linear

    found = linear(state.lowering, state.best)
    if found is not None:
        state.settled = count > LONG
        yield found


def styles(state: SearchState) -> Iterator[Candidate]:
    """The sums as they stand, in other styles; not of many digits where words of bits cost half."""
    if sum(atom.kind == "digit" for atom in state.atoms) >= MANY:
        yield from bits(state)
        if 2 * state.best.cost <= state.plain.cost:
            return
    found, state.style = _cheapest_style(
        state.lowering, state.own, state.atoms, state.plain, state.begun
    )
    yield found


def bits(state: SearchState) -> Iterator[Candidate]:
    """The parts of sums that only move bits as programs on whole words."""
    if state.moves_bits:
        from .search import partly_wired

        for style in dict.fromkeys((state.style, Style())):
            if style in state.parted:
                continue
            state.parted.add(style)
            found = partly_wired(state.lowering, state.own, style)
            if found is not None:
                yield found


def chosen(state: SearchState) -> Iterator[Candidate]:
    """Sums in which a digit that is 0 or 1 has factors as choices, or as exclusive ors: a row that
    runs backwards where it is odd."""
    if all(len(mono) < 2 for e in state.own for mono in e.terms):
        return
    from .choices import chosen_by_digits

    lowering = state.lowering
    made = [chosen_by_digits(e, lowering) for e in state.own]
    for k in range(max(map(len, made))):
        own = [ways[k] if k < len(ways) else e for e, ways in zip(state.own, made, strict=True)]
        yield lowering.priced([*map(Form(lowering, state.style, own).expr, own)], CHOSEN)


def multiplied_out(state: SearchState) -> Iterator[Candidate]:
    """The same with sums that are kept as factors multiplied out."""
    lowering = state.lowering
    expand = lowering.analyzer.simplifier.expand_opaque
    flat = [expand(e) for e in state.outputs] if "opaque" in state.kinds else []
    whole = [e for e in flat if e is not None]
    if not whole or len(whole) < len(flat):
        return
    expanded = [lowering.analyzer.unsubstitute(e) for e in whole]
    state.atoms = [atom for atom, _ in occurrences(expanded)]
    lowering.words = ("products multiplied out",)
    key = identities(expanded)
    if key not in lowering.cheapest:
        begun, plain = lowering.built, _in_style(lowering, Style(), expanded)
        _cheapest_style(lowering, expanded, state.atoms, plain, begun)
    lowering.words = ()
    yield lowering.cheapest[key][0]


def tables(state: SearchState) -> Iterator[Candidate]:
    """Sums of functions of one value of a small range each, found by their tables; what is left of a
    sum may be cheaper in another style then. Each must save the margin where it stands; those that do
    not are tried, too, and taken where all of them together save it and an operation: not over sizes
    that are symbols, where they make larger values on the way, nor where bits are moved by division."""
    lowering, best = state.lowering, state.best
    if best.ops < FEW and "lookup" not in state.kinds:
        return
    from .search import SEARCHED, tabulated

    margin = lowering.graph.cost.margin
    tried = (margin, 0) if lowering.bit_operations and not lowering.sizes else (margin,)
    for least in dict.fromkeys(tried):
        found, own, domains = tabulated(lowering, state.own, best, state.style, least)
        if not domains:
            continue
        ways, atoms = [found], [atom for atom, _ in occurrences(own)]
        if any(atom.kind == "digit" for atom in atoms):
            lowering.words, lowering.domains = SEARCHED, domains
            ways.append(_cheapest_style(lowering, own, atoms, found, lowering.built)[0])
            lowering.words, lowering.domains = (), ()
        for way in ways:
            known = state.best
            if least == margin or (way.cost + margin <= known.cost and way.ops < known.ops):
                yield way


def sharing(state: SearchState) -> Iterator[Candidate]:
    """The best with the low bits of a product taken from one that is there."""
    found = shared(state.lowering, state.best)
    if found is not None:
        yield found


def merging(state: SearchState) -> Iterator[Candidate]:
    """The best with what both branches of a choice do computed once."""
    if "select" in state.kinds:
        from .merged import merged  # few functions choose

        found = merged(state.lowering, state.best)
        if found is not None:
            yield found


GENERATORS: tuple[Generator, ...] = (
    words, matrices, styles, bits, chosen, multiplied_out, tables, sharing, merging,
)  # fmt: skip


def is_aligned(outputs: Iterable[Expr], analyzer: Analyzer) -> bool:
    """Whether the borders of all digits line up: each is one of a single value."""
    outputs = list(outputs)
    atoms = [atom for atom, _ in occurrences(analyzer.unsubstitute(e) for e in outputs)]
    if any(atom.kind == "opaque" for atom in atoms):
        flat = [analyzer.simplifier.expand_opaque(e) for e in outputs]
        if all(e is not None for e in flat):
            expanded = [analyzer.unsubstitute(e) for e in flat if e is not None]
            atoms = [atom for atom, _ in occurrences(expanded)]
    return _line_up(atoms)


def _moves_bits(atom: Atom) -> bool:
    """Whether it is an operation on bits, or a digit between powers of two."""
    if atom.kind != "digit":
        return atom.kind in BITS
    _, *borders = atom.args
    return all(b is None or ((c := b.constant) and not c & (c - 1)) for b in borders)


def _has_bits(lowering: Lowering, symbol: Atom) -> bool:
    """Whether a symbol runs over 0..2**n - 1."""
    lo, hi = lowering.analyzer.interval(lowering.forward(Expr.atom(symbol)))
    return lo == 0 and hi is not None and not hi & (hi + 1)


def _line_up(atoms: Iterable[Atom]) -> bool:
    return all(len(a.args[0].terms) == 1 for a in atoms if a.kind == "digit")


def _in_style(lowering: Lowering, style: Style, outputs: Sequence[Expr]) -> Candidate:
    form = Form(lowering, style, outputs)
    nodes = [form.expr(e) for e in outputs]
    lowering.built += form.built
    return lowering.priced(nodes, style.words())


def _cheapest_style(
    lowering: Lowering, outputs: Sequence[Expr], atoms: Iterable[Atom], best: Candidate, begun: int
) -> tuple[Candidate, Style]:
    """The cheapest of the styles that are tried, and the style; best: that of the plain one; begun: atoms that
    were built before that."""
    style = Style()
    bases: dict[Identity, list[Atom]] = {}
    symbolic = fusible = carry = False
    rests: list[Atom] = []
    starts: set[Identities] = set()
    for atom in dict.fromkeys(atoms):
        if atom.kind == "digit":
            base, lo, hi = atom.args
            start = lo.constant
            fusible = fusible or (start is not None and start > 1 and start & (start - 1) == 0)
            starts.add(identities((base, lo)))
            carry = carry or (hi is None and () in base.terms)
            if hi is not None and lowering.ratio(hi, lo) is not None:
                bases.setdefault(base.identity, []).append(atom)
        elif atom.kind == "sym":
            symbolic = symbolic or atom.args[0] in lowering.sizes
    for digits in bases.values():
        rests += [  # x % 8 is a remainder already
            d
            for d in digits
            if d.args[2].constant
            and d.args[1].constant != 1
            and identities((d.args[0], d.args[2])) in starts
        ]
    limit = begun + lowering.effort * (BUDGET + TRIES * (lowering.built - begun))

    def choose(made: Style) -> None:
        nonlocal best, style
        found = _in_style(lowering, made, outputs)
        if price(found) < price(best):
            best, style = found, made

    if fusible and lowering.bit_operations:
        choose(replace(style, fuse=True))
    if rests:
        choose(replace(style, rests=frozenset(rests)))
    for one in sorted(rests, key=lambda a: a.key) if len(rests) > 1 else ():
        if lowering.built <= limit:
            choose(replace(style, rests=style.rests ^ {one}))
    if symbolic:
        choose(replace(style, collect=True))
    for digits in sorted(bases.values(), key=lambda d: d[0].key):
        for floors in _choices(sorted(digits, key=lambda a: a.key), lowering.effort):
            if lowering.built > limit:
                break
            base = style.floors - set(digits) | floors
            for collect in (False, True) if symbolic else (False,):
                choose(replace(style, floors=base, collect=collect))
    for low, high, top in () if lowering.sizes else _towers(outputs):
        if lowering.built <= limit:
            gone = {low, high, top}
            made = replace(style, fuse=False, nested=False, inner=frozenset([(low, high)]))
            made = replace(made, floors=style.floors - gone, masks=style.masks - gone)
            choose(replace(made, rests=style.rests | {high}, rounds=style.rounds - gone | {top}))
    for masked, digits in _rounded(lowering, outputs):
        if lowering.built > limit:
            break
        (base, *_) = next(iter(digits)).args
        floors, rounds, masks = (
            frozenset(a for a in those if not a.args[0].same(base))
            for those in (style.floors, style.rounds, style.masks)
        )
        if masked:
            masks |= digits
        else:
            rounds |= digits
        choose(replace(style, floors=floors, rounds=rounds, masks=masks))
    if any(_nests(e) for e in outputs):
        choose(replace(style, nested=True))
    if rests and style.floors:
        choose(replace(style, rests=frozenset() if style.rests else frozenset(rests)))
    if carry:
        choose(replace(style, carry=True))
    if symbolic and style.floors:
        choose(replace(style, products=True))
    lowering.cheapest[identities(outputs)] = best, style
    return best, style


def _towers(outputs: Iterable[Expr]) -> Iterator[tuple[Atom, Atom, Atom]]:
    """Three digits of one base in one sum, each from where the one before ends: the two lower ones are
    of a remainder, which the base less the third one is."""
    for e in outputs:
        digits = [m[0] for m in e.terms if len(m) == 1 and m[0].kind == "digit"]
        starts = {identities(digit.args[:2]): digit for digit in digits}
        for low in sorted((d for d in digits if d.args[1].constant == 1), key=lambda a: a.key):
            base, _, end = low.args
            high = (
                starts.get(identities((base, end)))
                if end is not None and len(end.terms) == 1
                else None
            )
            if high is not None and high.args[2] is not None:
                top = starts.get(identities((base, high.args[2])))
                if top is not None:
                    yield low, high, top


def _rounded(lowering: Lowering, outputs: Sequence[Expr]) -> Iterator[tuple[bool, frozenset[Atom]]]:
    """The sets of digits that are tried as differences of remainders, or of masked values: those of
    one base, where the coefficient of one that is a quotient has its divisor, a number: over symbols
    the values on the way grow larger."""
    found: dict[Identity, tuple[set[Atom], set[Atom]]] = {}
    for e in outputs:
        for mono, c in e.terms.items():
            for atom in mono:
                if atom.kind != "digit":
                    continue
                base, lo, _ = atom.args
                highs, lows = found.setdefault(base.identity, (set(), set()))
                if lo.constant == 1:
                    lows.add(atom)
                elif lo.constant and c % lo.constant == 0:
                    highs.add(atom)
    plain = Form(lowering, Style(), outputs)
    for highs, lows in found.values():
        if not highs:
            continue
        yield False, frozenset(highs)
        if len(highs) > 1:
            for one in sorted(highs, key=lambda a: a.key):
                yield False, frozenset([one])
        if all(map(plain.maskable, highs | lows)):
            yield True, frozenset(highs | lows)
            if lows:
                yield True, frozenset(highs)


def _nests(e: Expr) -> bool:
    """Whether a coefficient is another's, which is no power of two, by one."""
    odd = Counter(c // (c & -c) for mono, c in e.terms.items() if mono)
    return any(abs(c) > 1 and count > 1 for c, count in odd.items())


def _choices(digits: list[Atom], effort: int) -> Iterator[set[Atom]]:
    """The sets of one base's digits that are tried as differences of quotients."""
    if 1 << len(digits) <= effort << SUBSETS:
        for mask in range(1, 1 << len(digits)):
            yield {d for k, d in enumerate(digits) if mask >> k & 1}
        return
    yield set(digits)
    for digit in digits:
        yield {digit}
        yield set(digits) - {digit}
