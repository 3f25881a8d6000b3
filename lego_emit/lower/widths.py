"""The narrowest index type that holds all values of a program, and what must hold for it.

A type fits if every value on the way lies between its ends, not only the results. Of the candidate
types, narrowest first, the first one is taken for which the ranges of all nodes (ranges.py) prove that.
N*i + j for 0 <= i < M and 0 <= j < N is at most M*N - 1; where M and N are at most 1024, that is 1048575,
and int32 fits. Without such bounds the sum has no greatest value. Then the widest candidate is taken, and
what is not proven becomes a precondition of the header, in the user's own symbols:

    >>> from lego_emit import generate
    >>> f, ranges = (lambda i, j, M, N: N*i + j), {"i": (0, "M"), "j": (0, "N")}
    >>> small = generate(f, "cpp", name="f", ranges=ranges, assume=["M <= 1024", "N <= 1024"])
    >>> large = generate(f, "cpp", name="f", ranges=ranges)
    >>> small.functions[0].index_type, large.functions[0].index_type, large.functions[0].assumptions
    ('int32', 'int64', ('M*N <= 2**63 - 1',))

A condition per value would make a header that nobody reads. So each value that may not fit is
replaced by the least upper bound in sizes that the analyzer can give (estimates.py), a bound that
another one implies is left out, and a summand or a factor of a larger value is covered by that value.
What stands in a branch is asked for where the branch's condition holds.

`choose_type` promises that with the returned type no operation overflows, if the conditions of `Width`
hold. If nothing can be said of a value but that it must fit, `unseen` is set, and the header says that
every intermediate value fits. WidthError is raised if a value never fits, if a shift may go too far, or
if all sizes are numbers and some index makes a value that does not fit: no precondition could help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.terms import without
from ..arith.text import CUT
from ..errors import WidthError, short_repr
from ..intervals import ANY, Interval, both
from ..ir.index_types import DECLARED, IndexType
from ..ir.nodes import Node
from ..ir.program import Param
from ..ir.relations import greatest
from ..operations import OPS, interval
from .lowering import Lowering
from .problem import Problem
from .relations import value as said

# of operands that are not negative not negative either; divisors are positive
NONNEGATIVE = {
    "digit",
    "bool",
    *(op for op, row in OPS.items() if row.nonnegative and "t" not in row.takes),
}
Path: TypeAlias = frozenset[tuple[Node, bool]]  # of conditions, with whether each holds
NONE: Path = frozenset()
MOST_SHOWN = 100  # characters of a value in a message
MOST_DIGITS = 12  # in a condition of a header
UNSAID = ("lookup", "loop", "switch")  # of what a condition says nothing
MOST_JOINED = 4  # of its operations on bits


@dataclass(frozen=True)
class Width:
    """An index type; needed: what must hold for it; unseen: whether every value must fit of which
    nothing more can be said."""

    index_type: IndexType
    needed: tuple[Node, ...] = ()
    unseen: bool = False


def choose_type(
    name: str,
    lowering: Lowering,
    program: Mapping[Node, Node],
    candidates: Sequence[IndexType],
    problem: Problem,
    fit: Sequence[Node] = (),
) -> Width:
    """The narrowest candidate that holds every value. program: the node of each operation. Where one
    is not proven to fit the widest candidate, it is needed; raises WidthError where it never fits, or
    not for all indices of layouts whose sizes are numbers. Where the lowering is narrow, it is needed of
    the narrowest candidate that no known bounds exceed. fit: results that fit anyway."""
    analyzer = lowering.analyzer
    nodes = {k: n for k, n in program.items() if not n.is_bool and k.op != "round"}
    # The graph has the operations: the node of one that has a name is a variable.
    shifts = [program[k.args[1]].hi for k in nodes if k.op in ("shl", "shr")]
    farthest = None if None in shifts else max([0, *filter(None, shifts)])
    negated = {k for k in nodes if k.op == "neg"}  # unsigned there is no such operation
    bounds = [(n.lo, n.hi) for n in nodes.values() if n.lo is not None and n.hi is not None]
    bounded = len(bounds) == len(nodes)
    for candidate in candidates:
        least, most = candidate.ends
        if farthest is None or farthest >= candidate.width:
            if candidate == candidates[-1]:
                raise WidthError(
                    f"{name}: a shift by up to {_shown(farthest)} does not fit {candidate}, which takes "
                    f"at most {candidate.width - 1}",
                    "say with ranges= or assume= that it is less, or choose a wider index_type",
                )
            continue
        if most == inf:
            return Width(candidate)
        fits = bounded and all(least <= lo and hi <= most for lo, hi in bounds)
        if fits and (least < 0 or not negated):
            return Width(candidate)
        is_last = candidate == candidates[-1]
        if is_last or lowering.narrow:
            with analyzer.prover.quick():  # a weaker proof only costs a longer header
                needs = _Needs(name, lowering, problem, program, candidate, fit)
                found = needs.width() if is_last else needs.width_within_bounds()
            if found is not None:
                return found
    raise WidthError(f"{name}: no index type to choose from")


def holds_argument(param: Param, index_type: IndexType) -> bool:
    """Whether an argument's range is one of the type's. Nobody said that a size reaches its end, or an
    index that of a range that depends on sizes, or that is open on one side."""
    least, most = index_type.ends
    lo, hi = param.lo, param.hi
    if (lo is not None and lo > most) or (hi is not None and hi < least):
        return False
    if param.size or lo is None or hi is None or param.range.names():
        return True
    return least <= lo and hi <= most


def _named(k: Node, node: Node, lowering: Lowering) -> str:
    value = lowering.value(k)
    if value is not None:
        text = repr(lowering.analyzer.unsubstitute(value))
        return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + CUT
    return node.op if node.value is None else str(node.value)


def _shown(bound: int | None) -> str:
    return "?" if bound is None else short_repr(bound)


class _Needs:
    """What must hold for every value of a program to fit a type."""

    def __init__(
        self,
        name: str,
        lowering: Lowering,
        problem: Problem,
        program: Mapping[Node, Node],
        index_type: IndexType,
        fit: Sequence[Node] = (),
    ):
        self.name, self.lowering, self.program = name, lowering, program
        self.nodes = {k: n for k, n in program.items() if not n.is_bool and k.op != "round"}
        self.analyzer, self.index_type = lowering.analyzer, index_type
        self.least, self.most = index_type.ends
        self.placed, self.params = problem.parameters.placed, problem.parameters.names
        self.stand_ins, self.typed = problem.conditions.stand_ins, problem.parameters.types
        self.open = self._beyond()
        self.paths = self._branches() if lowering.lazy else dict.fromkeys(program, NONE)
        self.covered = self._covered()
        if fit:
            from .loops import chosen

            self.open -= chosen(fit, lowering, self.nodes, self.paths)
        # each is at most the type's greatest number, where the conditions of its branches hold
        self.tops: list[tuple[Expr, Path]] = []
        self.floors: list[Expr] = []  # each is at least its least
        self.unseen = self.exceeded = False

    def width(self) -> Width:
        """The type with what is needed, the strongest conditions only."""
        for k, node in self.nodes.items():
            if k not in self.open:
                continue
            if self.least == 0 and self._masks(k):
                continue  # what it chooses from fits
            low = node.lo is None or node.lo < self.least
            high = node.hi is None or node.hi > self.most
            table = k.op == "table"
            if self._never(node) or (k.op == "neg" and self.least == 0):
                raise self._misfit(k)
            if table and any(
                end not in (None, 0) for end, out in ((node.lo, low), (node.hi, high)) if out
            ):
                raise self._misfit(k)  # all entries are there
            if table:
                continue
            high = high and not (k in self.covered and not low)
            if low or high:
                self._need(k, low, high)
        return Width(self.index_type, tuple(self._conditions()), self.unseen)

    def width_within_bounds(self) -> Width | None:
        """The same, None where the bounds that are known say that some value does not fit."""
        wide = {name for name, kind in self.typed.items() if DECLARED[kind].width >= 32}
        for k in self.open:
            ends = [end for end in (self.nodes[k].lo, self.nodes[k].hi) if end is not None]
            if any(not self.least <= end <= self.most for end in ends):
                value = self.lowering.value(k)
                if value is None or value.symbols().isdisjoint(wide):  # whose bounds say nothing
                    return None
        try:
            width = self.width()
        except WidthError:
            return None
        return None if self.exceeded else width

    def _beyond(self) -> set[Node]:
        """The nodes that are not proven to fit where their operands do. An argument fits, or its
        function says that it does not."""
        beyond, inside = set[Node](), dict[Node, Interval]()
        for k in self.lowering.graph.ordered(self.nodes):  # operands first
            op, node = k.op, self.nodes[k]
            lo, hi = node.lo, node.hi
            if op in OPS:
                operands = [inside.get(a, ANY) for a in k.args]
                lo, hi = both((lo, hi), interval(op, operands))
            fits = lo is not None and self.least <= lo and hi is not None and hi <= self.most
            if op != "var" and not fits:
                beyond.add(k)
            inside[k] = both((lo, hi), (self.least, self.most))
        return beyond

    def _masks(self, k: Node) -> bool:
        """Whether a node chooses between a value and the type's greatest number."""
        return k.op == "select" and any(
            a.op == "const" and a.value == self.most for a in k.args[1:]
        )

    def _never(self, node: Node) -> bool:
        """Whether no value of a node fits."""
        lo, hi = node.lo, node.hi
        return (lo is not None and lo > self.most) or (hi is not None and hi < self.least)

    def _misfit(self, k: Node) -> WidthError:
        node, unsigned = self.nodes[k], self.least == 0
        negative = k.op == "neg" or min(node.lo or 0, node.hi or 0) < 0
        lies = f" lies in {_shown(node.lo)}..{_shown(node.hi)}, which" if k.op != "const" else ""
        if unsigned and negative:
            way_out = "choose a signed index_type"
        elif not negative and node.hi is not None and 2**63 <= node.hi < 2**64:
            way_out = "choose index_type='uint64', where the language has it, or smaller sizes"
        else:
            way_out = "choose a wider index_type or smaller sizes"
        return WidthError(
            f"{self.name}: {_named(k, node, self.lowering)}{lies} does not fit {self.index_type} "
            f"({self.least}..{self.most})",
            way_out,
        )

    def _need(self, k: Node, low: bool, high: bool) -> None:
        node, analyzer = self.nodes[k], self.analyzer
        numbers = [end for end in (node.lo if low else None, node.hi if high else None) if end]
        value = self.lowering.value(k)
        if value is not None and not value.symbols().isdisjoint(self.typed.keys()):
            numbers = []  # they come of types, and say nothing of sizes
        if value is None or (numbers and self._is_fixed(value)):
            if numbers:
                raise self._misfit(k)
            self.unseen = True
            return
        if low and self.least == 0:
            low = False
            floor = _without_tables(value, analyzer)
            if floor is not None and _is_long(floor):
                from .sums_of_digits import as_symbols

                floor = as_symbols(floor, analyzer)
            if floor is None:
                self.unseen = True
            elif not self._is_never_below(floor):
                self.floors.append(floor)
        keep = {
            name
            for name in analyzer.facts.sizes
            if (analyzer.interval(analyzer.symbol(name))[0] or 0) >= 0
        }
        # -value <= most says least <= value unless negative numbers end sooner than the others do
        above = max(0, self.least + self.most)
        signed = ([value] if high else []) + ([above - value] if low else [])
        found = [analyzer.estimates.summits(e, keep) or [None] for e in signed]
        path = self.paths[k]
        for bound in (bound for bounds in found for bound in bounds):
            if bound is None or _looks_up(bound):
                bound = None
            elif bound.constant is not None and bound.constant > self.most:
                bound = None
            elif (analyzer.interval(bound)[0] or 0) > self.most:
                if value.symbols() - keep <= set(self.placed):
                    raise self._misfit(k)
                bound, self.exceeded = None, True  # one of the other parameters may be smaller
            if bound is not None:
                self.tops.append((bound, path))
            elif len(numbers) < low + high or _looks_up(value):
                self.unseen = True
            else:  # what it is itself says it
                tops = map(self._in_few_words, signed)
                self.tops += [(e, path) for e in tops if e is not None]

    def _in_few_words(self, top: Expr) -> Expr | None:
        """What is at most the type's greatest number only where a value is. Where there is nothing but a
        condition that no reader follows, the header says that all values fit."""
        if not _is_long(top):
            return top
        from .sums_of_digits import as_number

        found = as_number(top, self.analyzer, self.most)
        self.unseen = self.unseen or found is None
        return found

    def _is_never_below(self, e: Expr) -> bool:
        """Whether e >= 0: proven, or by the bounds of what it divides (n - b*(i // b) where i < n), or in
        both branches of a choice."""
        if self.analyzer.nonneg(e) or _nonnegative(e):
            return True
        if e.single is not None and e.single.kind == "select":
            return all(map(self._is_never_below, e.single.args[1:]))
        factors = {atom.args[0] for atom in e.atoms() if atom.kind == "sym"}
        top = self.analyzer.estimates.highest(-e, factors)
        return top is not None and self.analyzer.nonneg(-top)

    def _at_most(self, e: Expr, path: Path, top: Expr) -> bool:
        """Whether e <= top is proven where the conditions of the branches of e hold."""
        analyzer = self.analyzer
        with analyzer.scope():
            places = self.lowering.graph.places
            for condition, holds in sorted(path, key=lambda one: (places[one[0]], one[1])):
                for c in self.lowering.ranges.conditions(condition, holds):
                    analyzer.assume(c)
            return at_most(e, top, analyzer)

    def _covered(self) -> set[Node]:
        """Nodes that are never larger than one that may not fit, and that is computed wherever they
        are: summands and factors of it."""
        nodes, covered = self.nodes, set[Node]()
        for k in self.open:
            if k.op not in ("add", "mul"):
                continue
            a, b = k.args
            least = 0 if k.op == "add" else 1
            for one, other in ((a, b), (b, a)):
                lo, other_lo = nodes[one].lo, nodes[other].lo
                if lo is not None and lo >= 0 and other_lo is not None and other_lo >= least:
                    if self.paths[k] <= self.paths[one]:
                        covered.add(one)
        if self.lowering.graph.launch:
            from .remainders import multiples

            covered |= multiples(self.open, nodes)
        return covered

    def _branches(self) -> dict[Node, Path]:
        """The conditions under which alone each node is computed. What has a name is always."""
        found = dict[Node, Path]()
        for k in self.lowering.graph.ordered(self.program)[::-1]:
            if self.program[k].op == "var":
                found[k] = NONE
            path, args = found.setdefault(k, NONE), k.args
            for a in args:
                arms = [i for i, x in enumerate(args) if x == a]
                branch = k.op == "select" and arms in ([1], [2])
                here = path | {(args[0], arms == [1])} if branch else path
                found[a] = found[a] & here if a in found else here
        return found

    def _is_fixed(self, value: Expr) -> bool:
        """Whether nothing but indices of layouts whose sizes are numbers is in a value: all of them
        are to be numbered."""
        seen: set[str] = set()
        waiting = [*value.symbols()]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self.params and name not in self.placed:
                return False
            known = self.analyzer.facts.ranges.get(name)
            for bound in (known.lo, known.hi) if known is not None else ():
                waiting += [] if bound is None else bound.symbols()
            for e in self.analyzer.facts.quotients.get(name, ()):
                waiting += e.symbols()
        return True

    def _conditions(self) -> Iterator[Node]:
        analyzer = self.analyzer
        limit = greatest(self.most)
        always = [_raised(top) for top, path in self.tops if not path]
        # first what a branch says, for what is kept outside of it may be what says so
        tops = always + [
            _raised(top)
            for top, path in self.tops
            if path and not any(self._at_most(top, path, other) for other in always)
        ]
        kept: list[Expr] = []
        for top in tops:
            if not any(at_most(top, other, analyzer) for other in kept):
                kept = [other for other in kept if not at_most(other, top, analyzer)] + [top]
        # What is assumed may say it already.
        open_ = [top for top in kept if not analyzer.nonneg(Expr.of(self.most) - top)]
        own = [
            analyzer.unsubstitute(analyzer.simplifier.put_back(top, self.stand_ins))
            for top in open_
            if not self._is_below_an_argument(top)
        ]
        yield from (Node("le", (said(e, analyzer), limit)) for e in own)
        floors: list[Expr] = []
        for e in self.floors:
            if not any(analyzer.nonneg(e - other) for other in floors):
                floors = [other for other in floors if not analyzer.nonneg(other - e)] + [e]
        for e in floors:
            shown = analyzer.unsubstitute(analyzer.simplifier.put_back(e, self.stand_ins))
            taken = Expr({mono: -c for mono, c in shown.terms.items() if c < 0})
            sides = (
                said(shown + taken, analyzer),
                said(taken, analyzer),
            )  # n - i - 7 >= 0: n >= i + 7
            yield Node("ge", sides) if sides[0].op != "const" else Node("le", sides[::-1])

    def _is_below_an_argument(self, e: Expr) -> bool:
        """Whether e is at most one of the arguments, which fit."""
        names = self.analyzer.unsubstitute(e).symbols()
        symbols = (self.analyzer.symbol(n) for n in self.params if n in names)
        return any(self.analyzer.nonneg(symbol - e) for symbol in symbols)


def _raised(top: Expr) -> Expr:
    """A bound without what is taken off in the end."""
    constant = top.terms.get((), 0)
    return top - constant if constant < 0 else top


def _nonnegative(e: Expr) -> bool:
    """Whether e is not negative because no symbol is: arguments of an unsigned type are not."""
    return all(c > 0 for c in e.terms.values()) and all(
        a.kind == "sym"
        or (
            a.kind in NONNEGATIVE
            and (any if a.kind == "max" else all)(
                _nonnegative(x) for x in a.args if isinstance(x, Expr)
            )
        )
        for a in e.atoms()
    )


def _looks_up(e: Expr) -> bool:
    return any(atom.kind in UNSAID for atom in e.deep_atoms())


def _without_tables(e: Expr, analyzer: Analyzer) -> Expr | None:
    """What e is at least, without its tables, of which a reader of the header knows nothing; None where that
    cannot be said."""
    found = e
    for mono, c in e.terms.items():
        tables = [atom for atom in mono if atom.kind in UNSAID]
        if not tables:
            continue
        rest = Expr({without(mono, (tables[0],)) or (): c})
        rises = analyzer.nonneg(rest)
        if not rises and not analyzer.nonneg(-rest):
            return None
        end = analyzer.interval(Expr.atom(tables[0]))[0 if rises else 1]
        if end is None:
            return None
        found = found - Expr({mono: c}) + rest * end
    return None if _looks_up(found) else found


def _is_long(e: Expr) -> bool:
    """Whether a condition on e is longer than a reader of the header follows."""
    kinds = Counter(atom.kind for atom in e.deep_atoms())
    return kinds["digit"] > MOST_DIGITS or kinds["and"] + kinds["or"] + kinds["xor"] > MOST_JOINED


def at_most(e: Expr, top: Expr, analyzer: Analyzer) -> bool:
    """Whether e <= top is proven; at once where e is a part of the product that top is."""
    if any(_is_part(e, form, analyzer) for form in analyzer.estimates.divided_forms(top)):
        return True
    return analyzer.nonneg(top - e) or analyzer.nonneg(top - analyzer.estimates.loosened(e))


def _is_part(e: Expr, top: Expr, analyzer: Analyzer) -> bool:
    """Whether e <= top is seen from the factors that they do not share."""
    positive = [(m, c) for m, c in e.terms.items() if c > 0]
    if len(positive) != 1 or len(top.terms) != 1:
        return False
    (((mono, c),), (part, many)) = top.terms.items(), positive[0]
    shared = Counter(mono) & Counter(part)
    whole, own = (tuple((Counter(m) - shared).elements()) for m in (mono, part))
    factors = dict.fromkeys(a for m in (mono, *e.terms) for a in m)
    if any((analyzer.interval(Expr.atom(a))[0] or 0) < 1 for a in factors):
        return False
    return (not own and 0 < many <= c) or analyzer.nonneg(Expr({whole: c}) - Expr({own: many}))
