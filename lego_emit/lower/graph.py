"""Operations as a graph in which equal ones are one: what candidate forms are built in and priced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from ..arith.expr import Expr
from ..ir.cost import SCALES, SHIFTS, Cost, long_reciprocal
from ..ir.nodes import FREE, Node, const
from ..operations import OPS, Operation
from ..table_lookup import Entries

Inputs = tuple[tuple[Node, int], ...]  # nodes of symbols, and their bits


class Own(Node):
    """A node of a graph. Equal ones are one there: it is equal to itself alone, which is asked at no
    cost."""

    __slots__ = ()
    __eq__ = object.__eq__  # pyright: ignore[reportAssignmentType]
    __hash__ = object.__hash__


class Graph:
    """The nodes of candidate forms, each once, in the order in which they were made: operands before
    what uses them. sizes: the names whose values a caller fixes once for many indices; launch: those by
    which a division is as by a number."""

    def __init__(self, cost: Cost, sizes: Collection[str], launch: Collection[str] = ()):
        self.cost, self.sizes, self.launch = cost, sizes, launch
        self.nodes: list[Node] = []
        self.places: dict[Node, int] = {}  # in nodes
        self.prices: dict[Node, tuple[float, bool]] = {}  # and whether it is an operation
        self.hoisted: set[Node] = set()  # those that depend on sizes only
        self.nonnegative: set[Node] = set()  # that are proven, or seen at once, to be >= 0
        self.positive: set[Node] = set()  # divisors that are proven to be >= 1
        self.tops: dict[Node, int] = {}  # of places in tables, what they are proven not to exceed
        self.last: dict[Entries, Node | None] = {}  # the last places of tables
        self.may_trap: dict[Node, bool] = {}  # divisions by what may be 0: whether it is >= 1 where
        # the value is used
        self.quotients: list[Node] = []  # by numbers
        self._known: dict[tuple, Node] = {}
        # modulo -> (its quotient's key, what it costs less where that is there)
        self._remainders: dict[Node, tuple] = {}
        self._scaled: dict[Node, Node] = {}  # sum -> a product that it computes besides
        self._prices: dict[Node, tuple[float, int]] = {}  # of single roots

    def const(self, value: int) -> Node:
        """The node of a number."""
        key = ("const", value)
        found = self._known.get(key)
        if found is None:
            made = Own("const", (), value, value, value)
            found = self._add(key, made, True, value >= 0)
        return found

    def var(self, name: str, nonnegative: bool = False) -> Node:
        """The node of a parameter; nonnegative: known to be >= 0."""
        key = ("var", name)
        found = self._known.get(key)
        if found is None:
            found = self._add(key, Own("var", (), name), name in self.sizes, nonnegative)
        return found

    def parameter(self, name: str) -> Node | None:
        """The node of a parameter that has one."""
        return self._known.get(("var", name))

    def table(self, entries: Entries) -> Node:
        """The node of a table."""
        key = ("table", entries)
        found = self._known.get(key)
        if found is None:
            least = entries.least  # None of an array, whose elements may be negative
            found = self._add(
                key, Own("table", (), entries), True, least is not None and least >= 0
            )
        return found

    def round(self, made: Any) -> Node:
        """The node of a loop's round, or of a switch's cases."""
        key = ("round", made.key, made.item)
        found = self._known.get(key)
        if found is None:
            least = made.bounds[made.item][0]
            own = Own("round", (), made)
            found = self._add(key, own, True, least is not None and least >= 0)
        return found

    def within(self, node: Node, source: Expr) -> Node:
        """A node in a branch in which more is known of it than elsewhere: no operation, and what is
        known of source, its value there, is known of this one alone."""
        key = ("within", node, source.identity)
        found = self._known.get(key)
        if found is None:
            made = Own("within", (node,), source.identity)
            found = self._add(key, made, node in self.hoisted, False)
        return found

    def known(self, op: str, a: Node, b: Node) -> Node | None:
        """The node of a commutative operation that was made before."""
        found = self._known.get((op, a, b))
        return self._known.get((op, b, a)) if found is None else found

    def op(self, op: str, *args: Node) -> Node:
        """The node of an operation over nodes; what numbers say at once is not an operation."""
        known = self._known
        key = (op, *args)
        found = known.get(key)
        if found is not None:
            return found
        row = OPS[op]
        if row.commutes and (found := known.get((op, args[1], args[0]))) is not None:
            return found
        numbers = [a.value for a in args if a.op == "const"]
        if numbers:
            if len(numbers) == len(args) and row.gives == "i":
                return self.const(row.value(*numbers))
            if len(args) == 2:
                plain = self._neutral(row, args)
                if plain is not None:
                    return plain
                if row.quotient and (inner := self._whole(op, *args)) is not None:
                    return self.op(op, inner, args[1])
        if op == "select" and [a.value for a in args[1:]] in ([0, 1], [1, 0]):
            return self._flag(args[0], args[1].value == 1)
        made = Own(op, args)
        if row.floored and not row.quotient and args[1].op == "const" and args[1].value:
            self.quotients.append(made)
        hoisted = self.hoisted.issuperset(args)
        return self._add(key, made, hoisted, row.nonnegative and self.nonnegative.issuperset(args))

    def _price(self, node: Node) -> float:
        """What an operation costs."""
        op, args = node.op, node.args
        if op in FREE or op == "within":
            return 0
        row, cost = OPS[op], self.cost
        price = cost.prices.get(op, 1)
        if op == "switch":
            return price + args[0].value.price
        numbers = [a.value for a in args if a.op == "const"]
        if row.shift and any(x > 0 and x & (x - 1) == 0 for x in numbers):
            price = cost.prices.get(row.shift, 1)  # every compiler's
        elif op == "add" and cost.scaled and (products := [*filter(_is_scaled, args)]):
            self._scaled[node] = products[0]
        if row.floored:
            by = args[1]
            if by.op == "const":
                price += cost.long * long_reciprocal(by.value)
            elif not self.is_launched(by):
                price += cost.symbolic
        if row.quotient and cost.remainder is not None and price > cost.remainder:
            self._remainders[node] = (row.quotient, *args), price - cost.remainder
        if cost.scaled and any(x - 1 in SCALES for x in numbers) and (op == "mul" or row.quotient):
            product, scaled, total = (cost.prices.get(o, 1) for o in ("mul", "shl", "add"))
            saved = max(0, product - scaled - total + cost.scaled)  # of a modulo's product, too
            price -= saved / 2 if op == "mul" and numbers[0] - 1 == _divisor(args[1]) else saved
        return price * cost.hoisted if node in self.hoisted else price

    def is_launched(self, node: Node) -> bool:
        """Whether a value is made of what is known at launch alone."""
        names = {n.value for n in node.walk() if n.op == "var"} if self.launch else None
        return bool(names) and names <= {*self.launch}

    def _flag(self, condition: Node, wanted: bool) -> Node:
        """1 where a condition has the wanted value, else 0."""
        if not wanted:
            opposite = condition.row.opposite
            condition = self.op(opposite or "lnot", *(condition.args if opposite else (condition,)))
        return self.op("int", condition)

    def _neutral(self, row: Operation, args: tuple[Node, ...]) -> Node | None:
        """The operand that an operation leaves as it is, for the other one is a number that does."""
        (a, b), (first, second) = args, row.neutral
        if a.op == "const" and a.value == first:
            return b
        return a if b.op == "const" and b.value == second else None

    def _whole(self, op: str, value: Node, divisor: Node) -> Node | None:
        """x, where value is its remainder by a multiple of the divisor: x % 18 % 9 is x % 9."""
        if value.op != op or divisor.op != "const":
            return None
        inner, border = value.args
        by = divisor.value
        return inner if border.op == "const" and by and not border.value % by else None

    def _add(self, key: tuple, made: Node, hoisted: bool, nonnegative: bool) -> Node:
        self._known[key] = made
        self.places[made] = len(self.nodes)
        self.nodes.append(made)
        if hoisted:
            self.hoisted.add(made)
        self.prices[made] = self._price(made), made.op not in FREE
        if nonnegative:
            self.nonnegative.add(made)
        return made

    def reached(self, roots: Iterable[Node]) -> list[Node]:
        """The nodes that the roots need, operands first."""
        found: set[Node] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack += node.args
        return self.ordered(found)

    def ordered(self, nodes: Iterable[Node]) -> list[Node]:
        """Nodes in the order in which they were made."""
        return sorted(nodes, key=self.places.__getitem__)

    def always(self, roots: Iterable[Node], lazy: bool = True) -> set[Node]:
        """The nodes that are computed whichever branches the selects take; all of them where a
        select is not lazy, which computes both of its branches."""
        found: set[Node] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack.extend(node.args[:1] if lazy and node.op == "select" else node.args)
        return found

    def price(self, roots: Sequence[Node]) -> tuple[float, int]:
        """(the cost of computing the roots, the number of operations)."""
        if len(roots) != 1:
            return self._price_of(roots)
        (root,) = roots
        known = self._prices.get(root)
        if known is None:
            known = self._prices[root] = self._price_of(roots)
        return known

    def _price_of(self, roots: Sequence[Node]) -> tuple[float, int]:
        prices = self.prices
        stack = list(dict.fromkeys(roots))
        found: set[Node | None] = {*stack}
        total, count = 0.0, 0
        scaled: dict[Node, None] = {}
        while stack:
            node = stack.pop()
            price, is_counted = prices[node]
            total += price
            count += is_counted
            if node in self._scaled:
                scaled[self._scaled[node]] = None
            for arg in node.args:
                if arg not in found:
                    found.add(arg)
                    stack.append(arg)
        for product in scaled:
            a, b = product.args
            value, scale = (a, 1 << b.value) if product.op == "shl" else (b, a.value)
            saved = min(prices[product][0], self.cost.scaled)
            total -= saved / 2 if _divisor(value) > scale else saved
        if self.cost.remainder is not None:
            for node, (quotient, saved) in self._remainders.items():
                if node in found and self._known.get(quotient) in found:
                    total -= saved * (self.cost.hoisted if node in self.hoisted else 1)
        return round(total, 6), count

    def trees(self, trees: Iterable[Node], leaves: dict[Node, Node]) -> list[Node]:
        """The nodes of a search's trees over numbers and leaves, which each joins. What is shifted to
        the left is a product, wherever it stands, if it stands in a sum or is compared."""
        trees = [*trees]
        scaled, seen, stack = set(), set(), [*trees]
        while stack:
            tree = stack.pop()
            if tree.args and tree not in leaves and tree not in seen:
                seen.add(tree)
                stack += tree.args
                if tree.op in ("add", "sub", "min", "max"):
                    scaled |= {a for a in tree.args if a.op == "shl"}

        return [self._tree(tree, leaves, scaled) for tree in trees]

    def _tree(self, tree: Node, leaves: dict[Node, Node], scaled: set[Node]) -> Node:
        """The node of a search's tree; scaled: what is shifted, and is a product here."""
        if tree.op == "const":
            return self.const(tree.value)
        if tree not in leaves:
            op, args = tree.op, tree.args
            if tree in scaled:
                op, args = "mul", (const(1 << args[1].value), args[0])
            elif op == "mul" and args[1].op == "const":
                args = args[::-1]
            leaves[tree] = self.op(op, *[self._tree(a, leaves, scaled) for a in args])
        return leaves[tree]

    def plain(self, node: Node) -> Node:
        """The node that is computed: what is known of it in a branch is no operation."""
        while node.op == "within":
            (node,) = node.args
        return node

    def uses(self, roots: Iterable[Node]) -> Iterator[tuple[Node, int]]:
        """(node, how often it stands in what the roots need), those that are computed."""
        reached, roots = self.reached(roots), list(roots)
        users = (n for n in reached if n.op != "within")
        counts = Counter(map(self.plain, [a for n in users for a in n.args] + roots))
        for node in reached:
            if node.op == "within":
                counts[node] = counts[self.plain(node)]
        return iter(counts.items())


def _is_scaled(node: Node) -> bool:
    """Whether it is a product by 2, 4 or 8."""
    if node.op == "shl":
        return node.args[1].op == "const" and node.args[1].value in SHIFTS
    return node.op == "mul" and node.args[0].op == "const" and node.args[0].value in SCALES


def _divisor(node: Node) -> int:
    """2**k of x >> k, 0 of everything else. Of products of it that lea computes and adds gcc computes 9*(x >> 3)
    as (x & ~7) + (x >> 3), and clang 4*(x >> 6) as (x >> 4) & ~3: they save half as much."""
    if node.op not in ("shr", "div", "floordiv") or node.args[1].op != "const":
        return 0
    by = 1 << node.args[1].value if node.op == "shr" else node.args[1].value
    return 0 if by & (by - 1) else by


def apart(inputs: Inputs, x: Any) -> dict[Node, Any]:
    """The symbols' values in one number of all bits."""
    values = {}
    for node, bits in inputs:
        values[node] = x & (1 << bits) - 1
        x = x >> bits
    return values
