"""What the candidate forms of one function share: the graph, the facts, proven signs and values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from ..arith.analyzer import Analyzer
from ..arith.expr import Expr
from ..arith.steps import Log
from ..arith.terms import Atom, Identity
from ..ir.nodes import Node
from ..operations import OPS
from .graph import Graph
from .problem import Dialect
from .ranges import Ranges

Identities = tuple[Identity, ...]
BOUND = ("lookup", "within", "loop", "switch")  # of which the graph knows more than their operands


def identities(exprs: Iterable[Expr]) -> Identities:
    """What several expressions are looked up by."""
    return tuple(e.identity for e in exprs)


class Candidate(NamedTuple):
    """A program for all outputs. cost: by the cost model, with the margin for operations beyond the
    first candidate's; ops: the number of operations; roots: the node of each output."""

    cost: float
    ops: int
    roots: list[Node]


def price(candidate: Candidate) -> tuple[float, int]:
    """What candidates are compared by: the cost, then the number of operations."""
    return candidate.cost, candidate.ops


@dataclass(frozen=True)
class Attempt:
    """A candidate and how it came about. words: names of its spelling, for an explanation; cost: of
    the candidate without the margin; log: the steps that led to what it spells; domains: the values
    that its tables were checked on."""

    words: tuple[str, ...]
    cost: float
    candidate: Candidate
    log: Log | None
    domains: tuple[range, ...] = ()

    @property
    def operations(self) -> int:
        """The number of operations of the candidate."""
        return self.candidate.ops


class Lowering:
    """What the candidates of one function share: the graph, the facts, proven signs."""

    def __init__(self, analyzer: Analyzer, dialect: Dialect, known: Lowering | None = None):
        """known: one under the same facts, whose proofs are shared."""
        self.analyzer = analyzer
        self.types, self.lazy, self.effort = dialect.types, dialect.lazy, dialect.effort
        self.narrow, self.dialect = dialect.narrow, dialect
        self.rounds: dict[Any, Any] = {}  # of the loops that are met, and the cases of switches
        self.function: Any = None  # what lowers a problem of its own, as a loop's round is
        self.signed, self.bit_operations = not dialect.is_unsigned, dialect.bit_operations
        self.sizes = analyzer.facts.sizes | {
            name
            for name, value in analyzer.facts.substitutions.items()
            if value.constant is None and analyzer.facts.is_size(name)
        }
        self.graph = Graph(dialect.cost, self.sizes, dialect.launch)
        self.sources: dict[Node, Expr] = {}  # of nodes that arithmetic does not give: their value
        self.built = 0  # atoms, over all candidates
        self.attempts: list[Attempt] = []
        # what the forms that are priced now have in common
        self.words: tuple[str, ...] = ()
        self.domains: tuple[range, ...] = ()
        self.log: Log | None = None  # the steps that led to what is lowered now
        self.cheapest: dict[Identities, tuple[Candidate, Any]] = {}  # of all styles, by outputs
        self.columns: dict[tuple[Node, range], dict[Node, Sequence[int]]] = {}  # of nodes over one
        self.searches: dict[tuple, tuple[float, Any]] = {}  # (limit, what was found), by table
        self.censuses: dict[Identities, Any] = {}  # the census of outputs
        # of digits that forms share, by what else of their styles matters in sums
        self.leaves: dict[tuple[bool, ...], dict[Atom, Node]] = {}
        self.plain: int | None = None  # operations of the first candidate
        self.bounds: dict[Node, tuple[int, int]] = {}  # of nodes whose values were all looked at
        self._nonnegatives: dict[Identity, bool] = known._nonnegatives if known else {}
        self.values = Values(analyzer, self.sources)
        self.forward, self.value = self.values.forward, self.values.of
        self._ratios: dict[Identities, Expr | None] = {}
        self._size_atoms: dict[Atom, bool] = {}
        self.ranges = Ranges(self.graph, analyzer, self.value, self.bounds, self.lazy, self.signed)

    def compound(self, form: Any, atom: Atom) -> Node:
        """The node of a loop, or of a switch, whose parts are lowered (lego_emit.lower.loops.node_of)."""
        from .loops import node_of  # few functions have one

        return node_of(form, atom)

    def priced(
        self, nodes: list[Node], words: tuple[str, ...], domains: Sequence[range] = ()
    ) -> Candidate:
        """A candidate with its price. More operations than the plain form, the first one, has must
        save more than a tenth of the margin each, over sizes that are symbols one and a half times the
        margin: there they also make larger values on the way. One that may be negative is none for
        unsigned types. words and domains: what it is called in an explanation."""
        if len(self.graph.quotients) > 1 and not self.graph.cost.plain:
            nodes = self._with_quotients_shared(nodes)
        cost, operations = self.graph.price(nodes)
        if self.plain is None:
            self.plain = operations
        if not self.signed and not self.never_negative(nodes):
            cost = inf
        margin = self.graph.cost.margin * (1.5 if self.sizes else 0.1)
        longer = margin * max(0, operations - self.plain)
        candidate = Candidate(cost + longer, operations, nodes)
        checked = (*self.domains, *domains)
        self.attempts.append(Attempt((*self.words, *words), cost, candidate, self.log, checked))
        return candidate

    def _with_quotients_shared(self, nodes: list[Node]) -> list[Node]:
        """The same with quotients and digits made of other quotients, where that is cheaper."""
        from .quotients import from_others

        others = from_others(self.graph, nodes, self.bit_operations)
        found = self.replaced(nodes, lambda node, _: others.get(node)) if others else None
        if found is None or self.graph.price(found) >= self.graph.price(nodes):
            return nodes
        for node, other in others.items():
            if (value := self.value(node)) is not None:
                self.values.known.setdefault(other, value)
        return found

    def replaced(
        self, roots: Sequence[Node], change: Callable[[Node, list[Node]], Node | None]
    ) -> list[Node] | None:
        """The roots with other operations of equal value in them; None where nothing changes, or where
        the graph knows more of one that would have to change than its operands say. change: what takes
        the place of a node, whose operands are these now; None: the node stays."""
        graph = self.graph
        made: dict[Node, Node] = {}
        for node in graph.reached(roots):
            args = [made.get(a, a) for a in node.args]
            new = change(node, args)
            if new is None and args != [*node.args]:
                if node.op in BOUND or node in graph.may_trap:
                    return None
                new = graph.op(node.op, *args)
            if new is None:
                continue
            made[node] = new
            self.is_known_as(new, node)
        return [made.get(k, k) for k in roots] if made else None

    def is_known_as(self, new: Node, node: Node) -> None:
        """What is known of a node holds of another one of the same value."""
        graph = self.graph
        if node in graph.nonnegative:
            graph.nonnegative.add(new)
        if node in graph.positive:
            graph.positive.add(new)
        if node in self.sources:
            self.sources.setdefault(new, self.sources[node])
        if node in self.bounds:
            self.bounds.setdefault(new, self.bounds[node])
        if node in graph.tops:
            graph.tops.setdefault(new, graph.tops[node])

    def never_negative(self, nodes: list[Node]) -> bool:
        """Whether no operation on the way has a negative result: what an unsigned type asks."""
        reached = self.graph.reached(nodes)
        if any(
            k.op == "neg"
            or (k.op == "const" and k.value < 0)
            or (k.op == "table" and (k.value.least or 0) < 0)
            for k in reached
        ):
            return False
        if all(k.op != "sub" for k in reached):
            return True
        found = self.ranges.program(nodes).values()
        self.ranges.forget()  # other forms may prove more of these nodes
        return all(lo is not None and lo >= 0 for lo, _ in found)

    def nonnegative(self, e: Expr) -> bool:
        """Whether e >= 0 is proven."""
        known = self._nonnegatives.get(e.identity)
        if known is None:
            known = self._nonnegatives[e.identity] = self.analyzer.nonneg(self.forward(e))
        return known

    def positive(self, e: Expr) -> bool:
        """Whether e >= 1 is proven."""
        constant = e.constant
        return constant >= 1 if constant is not None else self.nonnegative(e - 1)

    def negative(self, e: Expr) -> bool:
        """Whether e <= -1 is proven."""
        return self.nonnegative(-e - 1)

    def place(self, node: Node, value: Expr, last: Expr | None, last_node: Node | None) -> Node:
        """The node of a place in a table, the nearest one where the value that node stands for is
        not proven to be one; the graph remembers the proof, for its range. last: the last place, and
        its node, None where that is no matter."""
        graph = self.graph
        if self.nonnegative(value):
            graph.nonnegative.add(node)
        else:
            value = Expr.atom(Atom("max", value, Expr.of(0)))
            node = graph.op("max", node, graph.const(0))
            self.sources.setdefault(node, value)
        if last is None or last_node is None:
            pass
        elif not self.nonnegative(last - value):
            node = graph.op("min", node, last_node)
            self.sources.setdefault(node, Expr.atom(Atom("min", value, last)))
        elif (top := last.constant) is not None and graph.tops.get(node, top + 1) > top:
            graph.tops[node] = top
        self.ranges.forget()
        return node

    def ratio(self, a: Expr, b: Expr) -> Expr | None:
        """a / b of two products in the user's symbols, None where b is not seen to divide a."""
        key = a.identity, b.identity
        if key not in self._ratios:
            quotient, rest = self.analyzer.simplifier.divide(a, b)
            self._ratios[key] = None if rest.terms else self.analyzer.unsubstitute(quotient)
        return self._ratios[key]

    def is_size(self, atom: Atom) -> bool:
        """Whether an atom depends on sizes only."""
        known = self._size_atoms.get(atom)
        if known is None:
            known = self._size_atoms[atom] = Expr.atom(atom).symbols() <= self.sizes
        return known

    def is_size_symbol(self, atom: Atom) -> bool:
        """Whether an atom is a size itself."""
        return atom.kind == "sym" and atom.args[0] in self.sizes


class Values:
    """What nodes stand for. sources: of nodes that arithmetic does not give: their value."""

    def __init__(self, analyzer: Analyzer, sources: Mapping[Node, Expr]):
        self.analyzer, self.sources = analyzer, sources
        self.known: dict[Node, Expr | None] = {}

    def forward(self, e: Expr) -> Expr:
        """e in the symbols that the facts speak of."""
        return self.analyzer.rebuilt(e) if self.analyzer.facts.substitutions else e

    def of(self, node: Node) -> Expr | None:
        """The value in the facts' symbols, None where it has no such form."""
        if node not in self.known:
            source = self.sources.get(node)
            self.known[node] = self._computed(node) if source is None else self.forward(source)
        return self.known[node]

    def _computed(self, node: Node) -> Expr | None:
        op, known = node.op, node.value
        if op == "const":
            return Expr.of(known)
        if op == "var":
            return self.analyzer.symbol(known)
        if op not in _VALUES:
            return None
        args = [self.of(a) for a in node.args]
        return None if any(a is None for a in args) else self.analyzer.operate(_VALUES[op], *args)


# Of what polynomials and divisions have: by its value, which is Python's operator.
_VALUES: dict[str, Callable[..., Any]] = {
    op: row.value for op, row in OPS.items() if row.gives == "i" and (row.sign or op == "neg")
}
