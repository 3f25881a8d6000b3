"""Operations as a graph in which equal ones are one: what candidate forms are built in and priced."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..arith.expr import Expr
from ..entries import Entries
from ..ir.cost import Cost
from ..ir.nodes import FREE
from ..operations import LEAF, OPS, Operation

Inputs = tuple[tuple[int, int], ...]  # nodes of symbols, and their bits


class Graph:
    """Nodes are numbers, operands before what uses them. sizes: the names whose values a caller
    fixes once for many indices."""

    def __init__(self, cost: Cost, sizes: Collection[str]):
        self.cost, self.sizes = cost, sizes
        self.ops: list[str] = []
        self.args: list[tuple[int, ...]] = []
        self.values: list[Any] = []  # of a const, a var or a table, as a Node's; None of all others
        self.hoisted: list[bool] = []  # depends on sizes only
        self.natural: list[bool] = []  # seen at once to be >= 0
        self.positive: set[int] = set()  # divisors that are proven to be >= 1
        self.tops: dict[int, int] = {}  # of places in tables, what they are proven not to exceed
        self.last: dict[Entries, int] = {}  # the last places of tables
        self.partial: dict[int, bool] = {}  # divisions by what may be 0: whether it is >= 1 where
        # the value is used
        self.prices: list[float] = []
        self._free: list[bool] = []  # no operation
        self._known: dict[tuple, int] = {}
        self._remainders: dict[int, tuple] = {}  # modulo -> its quotient's key
        self.quotients: list[int] = []  # by numbers

    def const(self, value: int) -> int:
        """The node of a number."""
        key = ("const", value)
        found = self._known.get(key)
        return self._add(key, value, True, 0) if found is None else found

    def var(self, name: str, natural: bool = False) -> int:
        """The node of a parameter; natural: known to be >= 0."""
        key = ("var", name)
        found = self._known.get(key)
        if found is None:
            found = self._add(key, name, name in self.sizes, 0)
            self.natural[found] = natural
        return found

    def table(self, entries: Entries) -> int:
        """The node of a table."""
        key = ("table", entries)
        found = self._known.get(key)
        if found is None:
            found = self._add(key, entries, True, 0)
            self.natural[found] = entries.least >= 0
        return found

    def within(self, node: int, source: Expr) -> int:
        """A node in a branch in which more is known of it than elsewhere: no operation, and what is
        known of source, its value there, is known of this one alone."""
        key = ("within", node, source.identity)
        found = self._known.get(key)
        return self._add(key, None, self.hoisted[node], 0, (node,)) if found is None else found

    def known(self, op: str, a: int, b: int) -> int | None:
        """The node of a commutative operation that was made before."""
        found = self._known.get((op, a, b))
        return self._known.get((op, b, a)) if found is None else found

    def op(self, op: str, *args: int) -> int:
        """The node of an operation over nodes; what numbers say at once is not an operation."""
        known = self._known
        key = (op, *args)
        found = known.get(key)
        if found is not None:
            return found
        row = OPS[op]
        if row.commutes and (found := known.get((op, args[1], args[0]))) is not None:
            return found
        numbers = [self.values[a] for a in args if self.ops[a] == "const"]
        if numbers:
            if len(numbers) == len(args) and row.gives == "i":
                return self.const(row.value(*numbers))
            if len(args) == 2:
                plain = self._neutral(row, args)
                if plain is not None:
                    return plain
                if row.quotient and (inner := self._whole(op, *args)) is not None:
                    return self.op(op, inner, args[1])
        if op == "select" and [self.values[a] for a in args[1:]] in ([0, 1], [1, 0]):
            return self._flag(args[0], self.values[args[1]] == 1)
        hoisted = all(self.hoisted[a] for a in args)
        price = 0 if op in FREE else self.cost.prices.get(op, 1)
        if row.shift and any(x > 0 and x & (x - 1) == 0 for x in numbers):
            price = self.cost.prices.get(row.shift, 1)  # every compiler's
        if row.floored:
            if self.ops[args[1]] != "const":
                price += self.cost.symbolic
            elif not row.quotient and self.values[args[1]]:
                self.quotients.append(len(self.ops))
        if row.quotient and self.cost.remainder is not None and price > self.cost.remainder:
            self._remainders[len(self.ops)] = (row.quotient, *args)
        return self._add(key, None, hoisted, price * self.cost.hoisted if hoisted else price, args)

    def _flag(self, condition: int, wanted: bool) -> int:
        """1 where a condition has the wanted value, else 0."""
        op = self.ops[condition]
        if not wanted:
            if opposite := OPS[op].opposite:
                condition = self.op(opposite, *self.args[condition])
            else:
                condition = self.op("lnot", condition)
        return self.op("int", condition)

    def _neutral(self, row: Operation, args: tuple[int, ...]) -> int | None:
        """The operand that an operation leaves as it is, for the other one is a number that does."""
        numbers = (self.values[a] if self.ops[a] == "const" else None for a in args)
        first, second = (
            n is not None and n == neutral for n, neutral in zip(numbers, row.neutral, strict=True)
        )
        return args[1] if first else args[0] if second else None

    def _whole(self, op: str, value: int, divisor: int) -> int | None:
        """x, where value is its remainder by a multiple of the divisor: x % 18 % 9 is x % 9."""
        if self.ops[value] != op or self.ops[divisor] != "const":
            return None
        inner, border = self.args[value]
        number, by = self.values[border], self.values[divisor]
        return inner if self.ops[border] == "const" and by and not number % by else None

    def _add(
        self, key: tuple, value: Any, hoisted: bool, price: float, args: tuple[int, ...] = ()
    ) -> int:
        made = len(self.ops)
        self._known[key] = made
        self.ops.append(key[0])
        self.args.append(args)
        self.values.append(value)
        self.hoisted.append(hoisted)
        self._free.append(key[0] in FREE)
        self.natural.append(
            value >= 0
            if key[0] == "const"
            else OPS.get(key[0], LEAF).natural and all(self.natural[a] for a in args)
        )
        self.prices.append(price)
        return made

    def reached(self, roots: Iterable[int]) -> list[int]:
        """The nodes that the roots need, operands first."""
        found: set[int] = set()
        stack = list(roots)
        args = self.args
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack.extend(args[node])
        return sorted(found)

    def always(self, roots: Iterable[int], lazy: bool = True) -> set[int]:
        """The nodes that are computed whichever branches the selects take; all of them where a
        select is not lazy, which computes both of its branches."""
        found: set[int] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                args = self.args[node]
                stack.extend(args[:1] if lazy and self.ops[node] == "select" else args)
        return found

    def price(self, roots: Iterable[int]) -> tuple[float, int]:
        """(the cost of computing the roots, the number of operations)."""
        prices, args = self.prices, self.args
        found: set[int] = set()
        stack = list(roots)
        total = 0.0
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                total += prices[node]
                stack.extend(args[node])
        remainder = self.cost.remainder
        if remainder is not None:
            for node, quotient in self._remainders.items():
                if node in found and self._known.get(quotient) in found:
                    total -= prices[node] - remainder * (
                        self.cost.hoisted if self.hoisted[node] else 1
                    )
        return round(total, 6), sum(not self._free[n] for n in found)

    def trees(self, trees: Iterable[Any], leaves: dict[Any, int]) -> list[int]:
        """The nodes of nested tuples (op, a, b) over numbers and leaves, which each joins. What is
        shifted to the left is a product, wherever it stands, if it stands in a sum or is compared."""
        trees = [*trees]
        scaled, seen, stack = set(), set(), [*trees]
        while stack:
            tree = stack.pop()
            if isinstance(tree, tuple) and tree not in leaves and tree not in seen:
                seen.add(tree)
                stack += tree[1:]
                if tree[0] in ("add", "sub", "min", "max"):
                    scaled |= {a for a in tree[1:] if isinstance(a, tuple) and a[0] == "shl"}

        def node(tree: Any) -> int:
            if isinstance(tree, int):
                return self.const(tree)
            if tree not in leaves:
                op, *args = tree
                if tree in scaled:
                    op, args = "mul", [1 << args[1], args[0]]
                elif op == "mul" and isinstance(args[1], int):
                    args.reverse()
                leaves[tree] = self.op(op, *map(node, args))
            return leaves[tree]

        return [node(tree) for tree in trees]

    def plain(self, node: int) -> int:
        """The node that is computed: what is known of it in a branch is no operation."""
        while self.ops[node] == "within":
            (node,) = self.args[node]
        return node

    def uses(self, roots: Iterable[int]) -> Iterator[tuple[int, int]]:
        """(node, how often it stands in what the roots need), those that are computed."""
        counts: dict[int, int] = {}
        reached, roots = self.reached(roots), list(roots)
        users = (n for n in reached if self.ops[n] != "within")
        for node in map(self.plain, [a for n in users for a in self.args[n]] + roots):
            counts[node] = counts.get(node, 0) + 1
        for node in reached:
            if self.ops[node] == "within":
                counts[node] = counts[self.plain(node)]
        return iter(counts.items())


def apart(inputs: Inputs, x: Any) -> dict[int, Any]:
    """The symbols' values in one number of all bits."""
    values = {}
    for node, bits in inputs:
        values[node] = x & (1 << bits) - 1
        x = x >> bits
    return values
