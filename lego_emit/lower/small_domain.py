"""A closed form for an integer function of one variable that is known as a table.

Where the borders of two reshapes don't line up, the rules of index arithmetic stop at a nest of
quotients and remainders. Over a small domain the composed function can be tabulated instead: nearly
always it is a line with a few regular jumps, perhaps wrapped around, and the jumps tell the formula.

    >>> from lego_emit.ir.relations import says
    >>> from lego_emit.lower.small_domain import find
    >>> says(find([0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11], price={}, limit=8))
    'x*13 // 2 % 12'

Each candidate is computed from the first differences, never guessed, and checked on the whole table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, pairwise
from math import gcd
from operator import sub as subtract

from ..ir.nodes import Node, const, made
from .lines import hull, line_through
from .trees import LARGEST, ZERO, Wrong, X, chained, cost, evaluate, replaced, settle, summands

DEPTH = 3
EFFORT = 20  # tables that one search looks at
DEEPER = 4  # the effort from which on one more table may stand inside another
MOST_TERMS = 3


def find(
    values: Sequence[int],
    price: Mapping[str, float],
    limit: float,
    domain: Sequence[int] | None = None,
    effort: int = 1,
) -> Node | None:
    """A tree with the value values[k] at x = domain[k] for all k, or None.

    values: the table. price: what an op costs; an op that is missing costs 1. limit: the tree is
    strictly cheaper than this. domain: the distinct values that x >= 0 takes, 0..len(values)-1
    unless given; elsewhere the tree may have any value. effort: how many times the usual number of
    tables the search looks at; from 4 on also tables of tables of tables of tables.

    The same arguments always give the same tree. Raises ValueError where values and domain differ
    in length.
    """
    xs = range(len(values)) if domain is None else domain
    points = sorted(zip(xs, values, strict=True))
    if not points:
        return ZERO if limit > 0 else None
    places, heights = map(list, zip(*points, strict=True))
    depth = DEPTH + (effort >= DEEPER)
    return _Search(_Prices(price), places, heights, limit, depth, effort=[EFFORT * effort]).run()


class _Prices:
    """What operations cost, and the least that one of a kind costs: any, a quotient, a remainder, a
    product, a sum."""

    def __init__(self, of: Mapping[str, float]):
        self.of = of
        self.trees: dict[Node, float] = {}  # those that were asked for
        self.one = min([1, *of.values()])
        self.quotient, self.remainder, self.product, self.sum = (
            min(of.get(op, 1) for op in ops)
            for ops in (("div", "shr"), ("mod", "and"), ("mul", "shl"), ("add", "sub"))
        )


class _Search:
    """The search for the cheapest tree of one table, whose best tree so far sets the limit."""

    def __init__(
        self,
        prices: _Prices,
        xs: list[int],
        vs: list[int],
        limit: float,
        depth: int,
        effort: list[int],
        wrapped: bool = False,
    ):
        self.effort = effort  # tables that may still be looked at, of all searches within one
        self.prices, self.price = prices, prices.of
        self.xs, self.vs, self.limit = xs, vs, limit
        self.depth, self.wrapped = depth, wrapped
        self.best: Node | None = None
        self.tried: set[Node] = set()
        self.steps = [*map(subtract, vs[1:], vs)]
        self.dense = xs[-1] - xs[0] == len(xs) - 1
        if self.dense:
            rates = Counter(self.steps)
        else:
            rates = Counter(
                dv // dx
                for dv, (a, b) in zip(self.steps, pairwise(xs), strict=True)
                if dv % (dx := b - a) == 0
            )
        self.rates = rates
        self.common = _commonest(rates)

    @cached_property
    def corners(self) -> tuple[list[int], list[int]]:
        """The points of the table that bound a slope, whatever line is subtracted before."""
        return hull(self.xs, self.vs)

    def run(self) -> Node | None:
        """The cheapest tree of all families, None where none is below the limit."""
        if self.limit <= 0 or self.affine():
            return self.best
        prices = self.prices
        quotient, remainder, one = prices.quotient, prices.remainder, prices.one
        families = {
            self.bits: min(self.costs("and"), self.costs("xor")),
            self.one_quotient: min(quotient, remainder),
            self.scaled: one + one,
            self.swizzled: self.costs("xor") + one,
            self.wrap: remainder + one,
            self.blocks: quotient + one,
            self.periods: remainder + one,
            self.several_quotients: 2 * quotient + one,
            self.clamped: self.costs("min"),
            self.piecewise: self.costs("lt") + self.costs("select"),
            self.transposed: 4 * one,
        }
        for family, least in families.items():
            if self.limit > max(least, one):
                family()
        return self.best

    def sub(self, xs: list[int], vs: list[int], spent: float, wrapped: bool = False) -> Node | None:
        """The tree of another table that this one needs, where it may cost limit - spent."""
        if self.depth == 0 or self.limit <= spent or self.effort[0] == 0:
            return None
        self.effort[0] -= 1
        limit, depth = self.limit - spent, self.depth - 1
        if limit <= self.prices.one:  # no operation is that cheap
            found = _same(vs)
            return X if found is None and vs == xs else found
        wrapped = wrapped or self.wrapped
        return _Search(self.prices, xs, vs, limit, depth, self.effort, wrapped).run()

    def offer(self, tree: Node) -> None:
        """Keep the tree if it is cheaper and right."""
        if tree in self.tried or self.cost(tree) >= self.limit:
            return
        self.tried.add(tree)
        if any(evaluate(tree, self.xs[k]) != self.vs[k] for k in (0, len(self.xs) // 2, -1)):
            return
        try:
            tree, values = settle(tree, self.xs, {})
        except Wrong:
            return
        price = self.cost(tree)
        if price < self.limit and values == self.vs:
            self.best, self.limit = tree, price

    # trees, in the cheapest spelling of an argument that is not negative

    def cost(self, tree: Node) -> float:
        known = self.prices.trees.get(tree)
        if known is None:
            known = self.prices.trees[tree] = cost([tree], self.price)
        return known

    def costs(self, op: str) -> float:
        return self.price.get(op, 1)

    def mul(self, tree: Node, c: int) -> Node:
        if c == 1:
            return tree
        if c & (c - 1) == 0 and self.costs("shl") < self.costs("mul"):
            return made("shl", tree, c.bit_length() - 1)
        return made("mul", tree, c)

    def div(self, tree: Node, c: int) -> Node:
        if c == 1:
            return tree
        if c & (c - 1) == 0 and self.costs("shr") < self.costs("div"):
            return made("shr", tree, c.bit_length() - 1)
        return made("div", tree, c)

    def mod(self, tree: Node, c: int) -> Node:
        if c & (c - 1) == 0 and self.costs("and") < self.costs("mod"):
            return made("and", tree, c - 1)
        return made("mod", tree, c)

    def sum(self, terms: Sequence[tuple[int, Node]], constant: int = 0) -> Node:
        """constant + the sum of factor * tree; terms with the same factor share a product."""
        groups: dict[int, list[tuple[int, Node]]] = {}
        for factor, tree in terms:
            if tree.op == "const":
                constant += factor * tree.value
            elif factor > 0:
                groups.setdefault(factor, []).append((1, tree))
            elif factor:
                groups.setdefault(-factor, []).append((-1, tree))
        parts = []
        for size, group in groups.items():
            if len(group) == 1:
                ((sign, tree),) = group
            else:
                sign = max(s for s, _ in group)
                tree = chained([(s * sign, t) for s, t in group])
            parts.append((sign, self.mul(tree, size)))
        return chained(parts, constant) if parts else const(constant)

    # families

    def affine(self) -> bool:
        """a*x + b, where the table is one."""
        xs, vs = self.xs, self.vs
        if len(self.rates) > 1:
            return False
        slope = self.common[0] if self.common else 0
        tree = self.sum([(slope, X)], vs[0] - slope * xs[0])
        self.offer(tree)
        return self.best is not None or self.dense

    def bits(self) -> None:
        """x & mask and x ^ mask."""
        if min(self.vs) < 0:
            return
        mask = 0
        for v in self.vs:
            mask |= v
        self.offer(made("and", X, mask))
        self.offer(made("xor", X, self.xs[0] ^ self.vs[0]))

    def one_quotient(self) -> None:
        """slope*x + factor*((a*x + b) // c) + constant, and the remainders that this is."""
        if self.dense and len(self.rates) != 2:
            return
        prices = self.prices
        if self.dense and self.limit <= min(prices.quotient, prices.remainder) + prices.one:
            self.one_operation()
            return
        even = not self.dense or _even([k for k, s in enumerate(self.steps) if s == self.common[1]])
        for slope, size in self.slopes():
            self.remainder(slope, size)
            if not even or self.limit <= self.least_with_quotient(slope, size):
                continue
            us, vs = self.corners
            rest = [v - slope * u for u, v in zip(us, vs, strict=True)]
            factor = size if rest[-1] >= rest[0] else -size
            constant = min(rest) if factor > 0 else max(rest)
            jumps = [(r - constant) // factor for r in rest]
            shifts = [0] if constant % factor else [constant // factor, 0]
            for k in dict.fromkeys(shifts):
                for ratio in self.quotients(us, [v + k for v in jumps]):
                    self.with_quotient(slope, factor, constant - factor * k, ratio)
            self.on_the_line(slope, factor, constant, us, jumps)

    def one_operation(self) -> None:
        """x // c and x % c, whose first jump says what c is."""
        low, high = sorted(self.rates)
        if (low, high) == (0, 1):
            at = self.steps.index(1) + 1
            x, v = self.xs[at], self.vs[at]
            if v > 0 and x % v == 0:
                self.offer(self.div(X, x // v))
        elif high == 1:
            self.remainder(1, 1 - low)

    def least_with_quotient(self, slope: int, size: int) -> float:
        """The least that slope*x and a quotient cost, the jumps being of this size. x % c is no form of
        this kind where slope is 1: as a remainder it was offered already."""
        prices = self.prices
        quotient, scaled = prices.quotient, prices.product * (size > 1)
        if not slope:
            return quotient + scaled
        factor = prices.product * (abs(slope) > 1)
        least = quotient + prices.sum + (factor or min(scaled, prices.remainder))
        if size > 1 and slope != 1:  # slope times a remainder alone
            least = min(least, prices.remainder + (factor or prices.sum))
        return least

    def slopes(self) -> Iterator[tuple[int, int]]:
        """(slope, size) such that the table without slope*x has jumps of multiples of size, where a
        form with this slope may be cheap enough."""
        prices = self.prices
        scaled = min(prices.quotient + prices.sum, prices.remainder) + prices.product
        for slope in dict.fromkeys([0, 1, -1, *self.common]):
            if abs(slope) > 1 and self.limit <= scaled:
                continue
            if self.dense:
                size = gcd(*[rate - slope for rate in self.rates])
            else:
                steps = zip(self.steps, pairwise(self.xs), strict=True)
                size = gcd(*[dv - slope * (b - a) for dv, (a, b) in steps])
            if size:
                yield slope, size

    def quotients(self, us: list[int], vs: list[int]) -> Iterator[tuple[int, int, int, int]]:
        """The ways to write the jumps vs at us as one quotient."""
        plain = line_through(us, vs)
        if plain is None:
            return
        yield plain
        ratio = plain
        if not plain[1] <= 0 <= plain[2] and (ratio := line_through(us, vs, through_origin=True)):
            yield ratio
        scaled = ratio and ratio[0] % ratio[3] > 1  # else it is a plain quotient and a multiple
        if scaled and self.costs("shr") < self.costs("div"):
            for through_origin in (False, True):
                if shifted := line_through(us, vs, through_origin, by_shift=True):
                    yield shifted

    def with_quotient(self, slope: int, factor: int, constant: int, ratio: tuple) -> None:
        """The ways to write slope*x + factor*((a*x + b) // c) + constant."""
        a, low, high, c = ratio
        b = min(max(low, 0), high)
        inner = self.div(self.sum([(a, X)], b), c)
        self.offer(self.sum([(slope, X), (factor, inner)], constant))
        if a != 1:
            return
        starts = [b]
        if slope and constant % slope == 0 and low <= constant // slope <= high:
            starts.append(constant // slope)
        for start in starts:
            x = self.sum([(1, X)], start)
            quotient, remainder = self.div(x, c), self.mod(x, c)
            left = constant - slope * start
            self.offer(self.sum([(slope, x), (factor, quotient)], left))
            self.offer(self.sum([(slope, remainder), (factor + slope * c, quotient)], left))

    def on_the_line(self, slope: int, factor: int, constant: int, xs: list, vs: list) -> None:
        """u + factor*(u // c), u = slope*x + constant."""
        if slope in (0, 1) and constant == 0:
            return
        for k in (0, 1, -1):
            for start in dict.fromkeys((constant - factor * k, 0)):
                if start == 0 and slope == 1:
                    continue
                signs = []
                for sign in (1, -1):
                    ends = [(slope * xs[at] + start, sign * (vs[at] + k)) for at in (0, -1)]
                    if _divides(*ends):
                        signs.append(sign)
                if not signs:
                    continue
                u = self.sum([(slope, X)], start)
                prices = self.prices
                scaled = prices.product * (abs(factor) > 1)
                if self.cost(u) + prices.quotient + prices.sum + scaled >= self.limit:
                    continue
                us = [slope * x + start for x in xs]
                for sign in signs:
                    ratio = line_through(us, [sign * (v + k) for v in vs], through_origin=True)
                    if ratio and ratio[0] == 1:
                        inner = self.div(u, ratio[3])
                        left = constant - factor * k - start
                        self.offer(self.sum([(1, u), (sign * factor, inner)], left))

    def remainder(self, slope: int, modulus: int) -> None:
        """(a*x + b) % modulus + constant."""
        least = min(self.vs)
        if max(self.vs) - least >= modulus:
            return
        constant = 0 if 0 <= least and max(self.vs) < modulus else least
        a = slope % modulus
        if not a:  # it is the same everywhere
            return
        b = (self.vs[0] - constant - a * self.xs[0]) % modulus
        self.offer(self.sum([(1, self.mod(self.sum([(a, X)], b), modulus))], constant))
        a -= modulus
        b = (self.vs[0] - constant - a * self.xs[0]) % modulus
        b += modulus * max(0, -(-(-a * self.xs[-1] - b) // modulus))
        self.offer(self.sum([(1, self.mod(self.sum([(a, X)], b), modulus))], constant))

    def wrap(self) -> None:
        """h(x) % modulus + constant, where h is smoother than the table."""
        if self.wrapped or not self.dense or len(self.rates) > 16:
            return
        least = min(self.vs)
        for constant in dict.fromkeys((0, least)):
            modulus = max(self.vs) - constant + 1
            if least < constant:
                continue
            steps = sorted({step % modulus for step in self.rates})
            if len(steps) > len(self.rates):
                continue
            # The steps start behind the widest gap on the circle.
            gaps = [(b - a, b) for a, b in pairwise([*steps, steps[0] + modulus])]
            start = max(gaps)[1] % modulus
            h = [self.vs[0] - constant]
            for step in self.steps:
                h.append(h[-1] + start + (step - start) % modulus)
            op = self.mod(X, modulus)
            spent = self.cost(op) + (self.costs("add") if constant else 0)
            if h != self.vs and (tree := self.sub(self.xs, h, spent, wrapped=True)) is not None:
                self.offer(self.sum([(1, self.mod(tree, modulus))], constant))

    def blocks(self) -> None:
        """slope*x + F((x + b) // c) and slope*((x + b) % c) + F((x + b) // c)."""
        if not self.dense:
            return
        for slope in self.common:
            places = [*compress(range(1, len(self.xs)), map(slope.__ne__, self.steps))]
            size = 0
            for a, b in pairwise(places):
                size = gcd(size, b - a)
                if size == 1:
                    break
            if size < 2:
                continue
            first = self.xs[0]
            shift = -(places[0] + first) % size
            x = self.sum([(1, X)], shift)
            quotient, remainder = self.div(x, size), self.mod(x, size)
            starts = sorted({0, *range(places[0] % size, len(self.xs), size)})
            where = [(self.xs[k] + shift) // size for k in starts]
            for outer, table in (
                (remainder, [self.vs[k] - slope * ((self.xs[k] + shift) % size) for k in starts]),
                (X, [self.vs[k] - slope * self.xs[k] for k in starts]),
            ):
                spent = self.cost(self.sum([(slope, outer), (1, quotient)]))
                if (tree := self.sub(where, table, spent)) is not None:
                    factor, rest, constant = summands(replaced(tree, {X: quotient}))
                    self.offer(self.sum([(slope, outer), (factor, rest)], constant))
                if slope == 0:
                    break

    def periods(self) -> None:
        """f(x % c) + factor*(x // c) and f(x % c) + slope*x."""
        if not self.dense or self.xs[0] != 0:
            return
        size = _period(self.steps)
        if not 2 <= size <= len(self.xs) // 2:
            return
        rise = self.vs[size] - self.vs[0]
        x = self.mod(X, size)
        choices = [(rise, self.div(X, size), 0)]
        if rise and rise % size == 0:
            choices.append((rise // size, X, rise // size))
        for factor, outer, slope in choices:
            spent = self.cost(self.sum([(factor, outer), (1, x)]))
            table = [v - slope * k for k, v in enumerate(self.vs[:size])]
            if (tree := self.sub(self.xs[:size], table, spent)) is not None:
                for inner in dict.fromkeys((replaced(tree, {X: x}), self.digits(tree, size))):
                    times, rest, constant = summands(inner)
                    self.offer(self.sum([(factor, outer), (times, rest)], constant))

    def digits(self, tree: Node, size: int) -> Node:
        """The tree of x % size, whose own quotients and remainders by divisors of the size are digits of
        x: x % 18 // 9 is x // 9 % 2, and x % 18 % 9 is x % 9."""
        if not tree.args:
            return self.mod(X, size) if tree == X else tree
        if tree.op in ("div", "mod", "and") and tree.args[0] == X and tree.args[1].op == "const":
            by = tree.args[1].value
            if tree.op == "div" and size % by == 0:
                return self.mod(self.div(X, by), size // by)
            if tree.op == "mod" and size % by == 0:
                return tree
            if tree.op == "and" and not by & (by + 1) and size % (by + 1) == 0:
                return tree
        return Node(tree.op, tuple([self.digits(t, size) for t in tree.args]))

    def several_quotients(self) -> None:
        """slope*x + constant + factor1*((x + b1) // c1) + factor2*((x + b2) // c2) ..."""
        if not self.dense or not 3 <= len(self.rates) <= 2**MOST_TERMS:
            return
        each = min(self.costs("div"), self.costs("shr")) + self.costs("add")
        most = min(MOST_TERMS, int(self.limit / each))
        prices = self.prices
        for slope in self.common:
            sizes = [rate - slope for rate in self.rates if rate != slope]
            count = max(2, len(sizes).bit_length())  # of quotients, whose sums these are
            least = count * prices.quotient + (count - (not slope)) * prices.sum
            if self.limit <= least + prices.product * (abs(slope) > 1 or gcd(*sizes) > 1):
                continue
            jumps = {x: step - slope for x, step in enumerate(self.steps, 1) if step != slope}
            for found in self.peel(jumps, most):
                self.with_quotients(slope, found)

    def peel(self, jumps: dict[int, int], most: int) -> Iterator[list[tuple[int, tuple]]]:
        """The (factor, ratio) of at most so many quotients that have these jumps."""
        sizes = Counter(jumps.values())
        if most == 0 or len(sizes) >= 2**most:
            return
        if len(sizes) == 1:
            (size,) = sizes
            if not _even(sorted(jumps)):
                return
            table = [*accumulate(map(jumps.__contains__, range(len(self.xs))), initial=0)][1:]
            ratio = line_through(*hull(self.xs, table))
            if ratio:
                yield [(size, ratio)]
                return
        for size in _commonest(sizes):
            places = [k for k, s in jumps.items() if s == size]
            gaps = Counter(b - a for a, b in pairwise(places))
            for gap in dict.fromkeys(_commonest(gaps)[:1] + sorted(gaps)[:1]):
                every = range(places[0] % gap or gap, len(self.xs), gap)
                if not all(map(jumps.__contains__, every)):
                    continue
                rest = dict(jumps)
                for k in every:
                    rest[k] -= size
                rest = {k: left for k, left in rest.items() if left}
                b = -(places[0] + self.xs[0]) % gap
                for more in self.peel(rest, most - 1):
                    yield [(size, (1, b, b, gap)), *more]

    def with_quotients(self, slope: int, found: list[tuple[int, tuple]]) -> None:
        """The sum, written with quotients of x, and with quotients of quotients."""
        terms: list[tuple[int, Node]] = [(slope, X)]
        for factor, (a, low, high, c) in found:
            b = min(max(low, 0), high)
            terms.append((factor, self.div(self.sum([(a, X)], b), c)))
        tree = self.sum(terms)
        constant = self.vs[0] - evaluate(tree, self.xs[0])
        self.offer(self.sum(terms, constant))
        for k, (factor, _) in enumerate(terms[1:], 1):
            if constant and constant % factor == 0:
                a, low, high, c = found[k - 1][1]
                b = min(max(low, 0), high) + c * (constant // factor)
                other = list(terms)
                other[k] = factor, self.div(self.sum([(a, X)], b), c)
                self.offer(self.sum(other))

    def scaled(self) -> None:
        """Trees of the form factor*F(x) + constant."""
        if len(self.rates) == 2 and self.dense:
            return
        factor = gcd(*self.steps)
        if factor < 2:
            return
        least = min(self.vs)
        constant = least if least % factor else 0
        spent = self.costs("mul") + (self.costs("add") if constant else 0)
        tree = self.sub(self.xs, [(v - constant) // factor for v in self.vs], spent)
        if tree is not None:
            times, rest, more = summands(tree)
            self.offer(self.sum([(factor * times, rest)], constant + factor * more))

    def swizzled(self) -> None:
        """Trees of the form x ^ F(x)."""
        if self.wrapped or min(self.vs) < 0 or len(self.rates) > len(self.xs) // 2:
            return
        table = [x ^ v for x, v in zip(self.xs, self.vs, strict=True)]
        if len({b - a for a, b in pairwise(table)}) < len(self.rates):
            tree = self.sub(self.xs, table, self.costs("xor"), wrapped=True)
            if tree is not None:
                self.offer(made("xor", X, tree))

    def clamped(self) -> None:
        """A line from either end on, then what it never exceeds."""
        if not self.dense or self.wrapped or len(self.rates) > 3:
            return
        least, most = min(self.vs), max(self.vs)
        for end, slope in ((0, self.steps[0]), (-1, self.steps[-1])):
            line = self.sum([(slope, X)], self.vs[end] - slope * self.xs[end])
            rises = (slope > 0) == (end == 0)
            self.offer(made("min", line, most) if rises else made("max", line, least))

    def piecewise(self) -> None:
        """A line below a bound or from a bound on, and anything on the other side."""
        if not self.dense or self.wrapped:
            return
        spent = self.costs("lt") + self.costs("select")
        last = len(self.steps) - 1
        front = next(k for k, step in enumerate(self.steps) if step != self.steps[0]) + 1
        back = next(k for k in range(last, -1, -1) if self.steps[k] != self.steps[-1]) + 1
        for bound, line in ((front, 0), (back, 1), (len(self.xs) - 1, 1)):
            parts = slice(bound), slice(bound, None)
            halves = [ZERO, ZERO]
            more = spent
            for k in (line, 1 - line):
                part = parts[k]
                half = self.sub(self.xs[part], self.vs[part], more, wrapped=True)
                if half is None:
                    break
                halves[k] = half
                more += self.cost(half)
            else:
                self.offer(made("select", made("lt", X, self.xs[bound]), *halves))
        if front == back and len(self.common) == 2 and self.steps[0] == self.steps[-1]:
            slope = self.steps[0]
            ends = [self.vs[k] - slope * self.xs[k] for k in (0, front)]
            choice = made("select", made("lt", X, self.xs[front]), *ends)
            self.offer(self.sum([(slope, X), (1, choice)]))

    def transposed(self) -> None:
        """F(y) and the y of F(x), where y is the transpose of a matrix with c columns."""
        size = len(self.xs)
        if not self.dense or self.xs[0] or self.wrapped or len(self.rates) < 3:
            return
        if min(self.vs) < 0 or max(self.vs) >= size:
            return
        most = min(8, len(self.rates) - 1)
        for c in (c for c in range(2, size // 2 + 1) if size % c == 0):
            rows = size // c
            # v is the transpose of v's place in the transposed matrix.
            inside = _smooth(self.vs[::c], most)
            outside = _smooth([v % rows * c + v // rows for v in self.vs[: 8 * c]], most)
            if not inside and not outside:
                continue
            quotient = self.div(X, c)
            spellings = (
                self.mod(self.div(self.mul(X, size + 1), c), size),
                self.sum([(rows, X), (1 - size, quotient)]),
                self.sum([(rows, self.mod(X, c)), (1, quotient)]),
            )
            transpose = min(spellings, key=lambda tree: self.cost(tree))
            spent = self.cost(transpose)
            if inside:
                table = [v for column in range(c) for v in self.vs[column::c]]
                if _smooth(table, most) and (tree := self.sub(self.xs, table, spent, True)):
                    self.offer(replaced(tree, {X: transpose}))
            if outside:
                table = [v % rows * c + v // rows for v in self.vs]
                if _smooth(table, most) and (tree := self.sub(self.xs, table, spent, True)):
                    self.offer(replaced(transpose, {X: tree}))


def _commonest(counts: Counter[int]) -> list[int]:
    """The two that are counted most."""
    return sorted(counts, key=counts.__getitem__, reverse=True)[:2]


def _same(values: Sequence[int]) -> Node | None:
    """The number that all values are, None where they are not the same."""
    first = values[0]
    return const(first) if abs(first) <= LARGEST and values.count(first) == len(values) else None


def _divides(*points: tuple[int, int]) -> bool:
    """Whether there is a c such that v == u // c at these points (u, v)."""
    least, most = 1, LARGEST
    for u, v in points:
        if u < 0 <= v or v < 0 <= u:
            return False
        if v >= 0:
            least = max(least, u // (v + 1) + 1)
            most = min(most, u // v) if v else most
        else:
            least = max(least, -(u // -v))
            most = min(most, (-u - 1) // -(v + 1)) if v < -1 else most
    return least <= most


def _smooth(values: Sequence[int], most: int) -> bool:
    """Whether there are at most so many different steps."""
    return len({b - a for a, b in pairwise(values)}) <= most


def _even(places: Sequence[int]) -> bool:
    """Whether the distances are as even as a line's jumps."""
    gaps = {b - a for a, b in pairwise(places)}
    return len(gaps) < 2 or max(gaps) - min(gaps) == 1


def _period(items: Sequence[int]) -> int:
    """The smallest period, len(items) where there is no other."""
    borders = [0] * len(items)
    k = 0
    for i in range(1, len(items)):
        while k and items[i] != items[k]:
            k = borders[k - 1]
        k += items[i] == items[k]
        borders[i] = k
    return len(items) - borders[-1]
