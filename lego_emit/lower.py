"""From normal form to a straight-line program: factored sums, division or shift, common parts
named, signs and widths proven."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .errors import TraceError, WidthError
from .expr import (
    Atom,
    Cond,
    Expr,
    Monomial,
    _distribute,
    divide_terms,
    expand_groups,
    using,
)
from .facts import Facts
from .program import INDEX_TYPES, Node
from .symbolic import rebuilt, unsubstitute

NAMES = {
    "add": "total", "sub": "difference", "mul": "scaled", "div": "quotient", "floordiv": "quotient",
    "shr": "quotient", "mod": "rest", "floormod": "rest", "and": "bits", "or": "bits",
    "xor": "bits", "select": "choice", "min": "smaller", "max": "larger", "isqrt": "root",
    "neg": "negated", "int": "flag", "shl": "shifted",
}  # fmt: skip


class Lowering:
    """One function's outputs on their way to nodes. bit_operations: whether a power of two is
    divided by shifting and masking."""

    def __init__(self, facts: Facts, bit_operations: bool = True):
        self.facts = facts
        self.bit_operations = bit_operations
        self._linear: Counter[Atom] = Counter()  # groups, by how often they stand
        self._exprs: dict[Node, Expr] = {}  # what a node stands for, in the user's symbols
        self._forward: dict[Expr, Expr] = {}
        self._memo: dict[Any, Node] = {}

    # -- ranges ----------------------------------------------------------------------------

    def forward(self, e: Expr) -> Expr:
        """e in the symbols that the facts speak of."""
        known = self._forward.get(e)
        if known is None:
            known = self._forward[e] = rebuilt(e)
        return known

    def range(self, e: Expr) -> tuple[int | None, int | None]:
        """Proven inclusive bounds of an expression in the user's symbols."""
        normal = self.forward(e)
        lo, hi = self.facts.interval(normal)
        if (lo is None or lo < 1) and self.facts.nonneg(normal - 1):
            lo = 1
        elif (lo is None or lo < 0) and self.facts.nonneg(normal):
            lo = 0
        if hi is None or hi > INDEX_TYPES["int32"][1]:
            top = self.facts.upper(normal)
            if top is not None:
                most = self.facts.most(unsubstitute(top, self.facts))
                hi = most if hi is None else hi if most is None else min(hi, most)
        return lo, hi

    def node(self, op: str, e: Expr, *args: Node, value: object = None) -> Node:
        """An integer node that stands for e."""
        lo, hi = self.range(e)
        made = Node(op, args, value, lo, hi)
        self._exprs.setdefault(made, e)
        return made

    def exprs(self, nodes: Iterable[Node]) -> list[Expr]:
        """What the integer nodes stand for."""
        return [self._exprs[n] for n in nodes if n in self._exprs]

    # -- sums and products -------------------------------------------------------------------

    def expr(self, e: Expr) -> Node:
        """The node of an expression in the user's symbols."""
        known = self._memo.get(e)
        if known is None:
            known = self._memo[e] = self._sum(e)
        return known

    def const(self, value: int) -> Node:
        return Node("const", (), value, value, value)

    def _sum(self, e: Expr) -> Node:
        e = self._ungrouped(e)
        if e.constant is not None:
            return self.const(e.constant)
        parts = self._parts(e.terms)
        parts.sort(key=lambda p: p[2])
        # a sum that starts with what is subtracted needs a negation: start with another part
        first = next((k for k, p in enumerate(parts) if p[0] > 0), None)
        if first is None:
            sign, node, _, value = parts.pop(0)
            total = -value
            result = self.node("neg", total, node)
        else:
            sign, result, _, total = parts.pop(first)
        for sign, node, _, value in parts:
            total = total + value if sign > 0 else total - value
            result = self.node("add" if sign > 0 else "sub", total, result, node)
        return result

    def count_groups(self, outputs: Iterable[Expr]) -> None:
        """Note how often each group stands: one that stands once, as a summand, is no factor."""
        seen: set[Any] = set()
        stack: list[Any] = list(outputs)
        while stack:
            value = stack.pop()
            if value is None or value in seen:
                continue
            seen.add(value)
            if isinstance(value, Expr):
                for mono in value.terms:
                    for atom in mono:
                        if atom.kind == "group":
                            self._linear[atom] += 1
                        stack.append(atom)
            elif isinstance(value, (Atom, Cond)):
                stack.extend(
                    value.args[: 1 if value.kind == "group" else None]
                    if isinstance(value, Atom)
                    else value.args
                )

    def _ungrouped(self, e: Expr) -> Expr:
        terms: dict[Monomial, int] = {}
        for mono, c in e.terms.items():
            single = len(mono) == 1 and abs(c) == 1 and self._linear[mono[0]] == 1
            inner = self._ungrouped(mono[0].args[0]).terms if single else {mono: 1}
            for m, k in inner.items():
                terms[m] = terms.get(m, 0) + k * c
        return Expr({m: c for m, c in terms.items() if c})

    def _parts(self, terms: Mapping[Monomial, int]) -> list[tuple[int, Node, tuple, Expr]]:
        """(sign, node, place, value) of the summands, common factors taken out."""
        if len(terms) > 1:
            factor = self._best_factor(terms)
            if factor is not None:
                inside, outside = {}, {}
                for mono, c in terms.items():
                    divided = _divide(mono, c, factor)
                    if divided is None:
                        outside[mono] = c
                    else:
                        inside[divided[0]] = divided[1]
                group = Expr(inside)
                sign = 1
                if all(c < 0 for c in inside.values()):
                    group, sign = -group, -1
                value = _distribute(group, Expr({factor[0]: factor[1]}))
                place = min(self._place(m, c) for m, c in terms.items() if m not in outside)
                node = self._times(Expr({factor[0]: factor[1]}), group, value)
                found = [(sign, node, place, value)]
                return found + (self._parts(outside) if outside else [])
        found = []
        for mono, c in terms.items():
            value = Expr({mono: abs(c)})
            found.append(
                (1 if c > 0 else -1, self._product(mono, abs(c)), self._place(mono, c), value)
            )
        return found

    def _best_factor(self, terms: Mapping[Monomial, int]) -> tuple[Monomial, int] | None:
        """The factor that saves most multiplications when it is taken out, if any does."""
        atoms: Counter[Atom] = Counter()
        coefficients: Counter[int] = Counter()
        for mono, c in terms.items():
            atoms.update(set(mono))
            if mono and abs(c) > 1:
                coefficients[abs(c)] += 1
        best = None
        for atom, count in atoms.items():
            if count > 1:
                rank = (count, self._is_size(atom), atom.key)
                best = (
                    max(best, (rank, ((atom,), 1)), key=lambda b: b[0])
                    if best
                    else (rank, ((atom,), 1))
                )
        for c, count in coefficients.items():
            if count > 1:
                rank = (count, False, f"{c:030}")
                best = max(best, (rank, ((), c)), key=lambda b: b[0]) if best else (rank, ((), c))
        return best[1] if best else None

    def _is_size(self, atom: Atom) -> bool:
        if atom.kind == "sym":
            return self.facts._is_size(atom.args[0]) or atom.args[0] in self.facts.substitutions
        return False

    def _place(self, mono: Monomial, c: int) -> tuple:
        """Where a term stands in a sum: large strides first, constants last."""
        sizes = sum(self._is_size(a) for a in mono)
        return (not mono, -sizes, -abs(c), [a.key for a in mono])

    def _times(self, factor: Expr, group: Expr, value: Expr) -> Node:
        ((mono, c),) = factor.terms.items()
        left = self._product(mono, c)
        return self.node("mul", value, left, self.expr(group))

    def _product(self, mono: Monomial, c: int) -> Node:
        if not mono:
            return self.const(c)
        order = sorted(mono, key=lambda a: (not self._is_size(a), a.key))
        value = Expr.of(1)
        node = None
        if c != 1:
            node, value = self.const(c), Expr.of(c)
        for atom in order:
            value = _distribute(value, Expr.atom(atom))
            this = self.atom(atom)
            node = this if node is None else self.node("mul", value, node, this)
        assert node is not None
        return node

    # -- atoms -------------------------------------------------------------------------------

    def atom(self, atom: Atom) -> Node:
        """The node of an atom."""
        known = self._memo.get(atom)
        if known is None:
            known = self._memo[atom] = self._atom(atom)
        return known

    def _atom(self, atom: Atom) -> Node:
        kind, args = atom.kind, atom.args
        value = Expr.atom(atom)
        if kind == "sym":
            return self.node("var", value, value=args[0])
        if kind == "digit":
            return self._digit(*args)
        if kind in ("fdiv", "fmod"):
            a, b = self.expr(args[0]), self.expr(args[1])
            known = a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo >= 1
            ops = ("div", "mod") if known else ("floordiv", "floormod")
            return self.node(ops[kind == "fmod"], value, a, b)
        if kind == "group":
            return self.expr(args[0])
        if kind == "select":
            return self.node(
                "select", value, self.condition(args[0]), self.expr(args[1]), self.expr(args[2])
            )
        if kind == "bool":
            return self.node("int", value, self.condition(args[0]))
        nodes = [self.expr(a) for a in args]
        if kind == "isqrt" and (nodes[0].lo is None or nodes[0].lo < 0):
            # a branch that is not taken is evaluated too, and must not meet a negative number
            zero = Expr.atom(Atom("max", args[0], Expr.of(0)))
            nodes = [self.node("max", zero, nodes[0], self.const(0))]
        if kind in ("shl", "shr") and not (
            nodes[1].lo is not None
            and nodes[1].lo >= 0
            and nodes[1].hi is not None
            and nodes[1].hi < 64
        ):
            raise TraceError(
                f"{value!r}: the shift distance is not known to lie in 0..63; "
                f"say so with assume=['0 <= {args[1]!r} < 32']"
            )
        return self.node(kind, value, *nodes)

    def _digit(self, base: Expr, lo: Expr, hi: Expr | None) -> Node:
        node, whole = self.expr(base), Expr.atom(Atom("digit", base, lo, hi))
        if hi is None:
            return self._divided(node, whole, lo, "div", "floordiv")
        if lo.constant == 1:
            return self._divided(node, whole, hi, "mod", "floormod")
        ratio, rest = divide_terms(hi, lo)
        if rest.terms:  # the sizes' own symbols do not show that lo divides hi
            low = Expr.atom(Atom("digit", base, Expr.of(1), hi))
            node = self._divided(node, low, hi, "mod", "floormod")
            return self._divided(node, whole, lo, "div", "floordiv")
        high = Expr.atom(Atom("digit", base, lo, None))
        node = self._divided(node, high, lo, "div", "floordiv")
        return self._divided(node, whole, ratio, "mod", "floormod")

    def _divided(self, node: Node, value: Expr, by: Expr, plain: str, floor: str) -> Node:
        size = by.constant
        if self.bit_operations and size is not None and size & (size - 1) == 0:
            if plain == "div":
                return self.node("shr", value, node, self.const(size.bit_length() - 1))
            return self.node("and", value, node, self.const(size - 1))
        divisor = self.expr(by)
        known = node.lo is not None and node.lo >= 0 and divisor.lo is not None and divisor.lo >= 1
        return self.node(plain if known else floor, value, node, divisor)

    # -- conditions --------------------------------------------------------------------------

    def condition(self, condition: Cond) -> Node:
        """The node of a condition."""
        op, args = condition.op, condition.args
        if op in ("and", "or", "not"):
            return Node(
                {"and": "land", "or": "lor", "not": "lnot"}[op], tuple(map(self.condition, args))
            )
        gap = args[1] - args[0]
        positive = Expr({m: c for m, c in gap.terms.items() if m and c > 0})
        negative = Expr({m: -c for m, c in gap.terms.items() if m and c < 0})
        k = gap.terms.get((), 0)
        if op == "lt":
            op, k = "le", k - 1
        if op in ("eq", "ne"):
            left, right = (
                (positive + k, negative)
                if k > 0 or not negative.terms
                else (positive, negative - k)
            )
            if not positive.terms:
                left, right = negative, Expr.of(k)
            elif not negative.terms:
                left, right = positive, Expr.of(-k)
            return Node(op, (self.expr(left), self.expr(right)))
        # negative <= positive + k
        if not positive.terms:
            return Node("le", (self.expr(negative), self.const(k)))
        if not negative.terms:
            return Node("ge", (self.expr(positive), self.const(-k)))
        if k == -1:
            return Node("lt", (self.expr(negative), self.expr(positive)))
        if k < 0:
            return Node("le", (self.expr(negative - k), self.expr(positive)))
        return Node("le", (self.expr(negative), self.expr(positive + k)))


def _divide(mono: Monomial, c: int, factor: tuple[Monomial, int]) -> tuple[Monomial, int] | None:
    atoms, coefficient = factor
    rest = list(mono)
    for atom in atoms:
        if atom not in rest:
            return None
        rest.remove(atom)
    if coefficient != 1 and (abs(c) != coefficient or not mono):
        return None
    return tuple(rest), c // coefficient


def lower(
    outputs: Sequence[tuple[str, Expr]], facts: Facts, bit_operations: bool, taken: Iterable[str]
) -> tuple[list[tuple[str, Node]], list[tuple[str, Node]], Lowering]:
    """(statements, outputs, lowering): the factored and the multiplied-out form are both tried,
    and the one with fewer operations is taken (section IV-A)."""
    best = None
    with using(facts):
        own = [(name, unsubstitute(e, facts)) for name, e in outputs]
        forms = [own]
        if any(a.kind == "group" for _, e in own for a in e.deep_atoms()):
            forms.append([(name, unsubstitute(expand_groups(e), facts)) for name, e in outputs])
        for form in forms:
            lowering = Lowering(facts, bit_operations)
            lowering.count_groups(e for _, e in form)
            nodes = [(name, lowering.expr(e)) for name, e in form]
            body, results = share(nodes, set(taken))
            cost = sum(
                n.op not in ("const", "var", "int")
                for _, node in (*body, *results)
                for n in node.walk()
            )
            if best is None or cost < best[0]:
                best = (cost, body, results, lowering)
    assert best is not None
    return best[1], best[2], best[3]


def share(
    nodes: Sequence[tuple[str, Node]], taken: set[str]
) -> tuple[list[tuple[str, Node]], list[tuple[str, Node]]]:
    """Name what is used more than once; (statements in order, outputs)."""
    uses: Counter[Node] = Counter()
    seen: set[Node] = set()

    def count(node: Node) -> None:
        uses[node] += 1
        if node not in seen or node.is_bool:  # a condition is spelled wherever it is used
            seen.add(node)
            for arg in node.args:
                count(arg)

    for _, node in nodes:
        count(node)
    body: list[tuple[str, Node]] = []
    names: dict[Node, Node] = {}

    def rewrite(node: Node) -> Node:
        if node in names:
            return names[node]
        made = node
        if node.args:
            made = Node(node.op, tuple(map(rewrite, node.args)), node.value, node.lo, node.hi)
        if uses[node] > 1 and node.args and not node.is_bool:
            name = _fresh(_hint(made), taken)
            body.append((name, made))
            made = names[node] = Node("var", (), name, node.lo, node.hi)
        return made

    return body, [(name, rewrite(node)) for name, node in nodes]


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


# -- widths --------------------------------------------------------------------------------------


def choose_type(
    name: str,
    nodes: Sequence[Node],
    lowering: Lowering,
    candidates: Sequence[str],
    size: Expr | None,
) -> tuple[str, list[str], str]:
    """(index type, preconditions, why it is wide enough). Raises WidthError where a value
    provably does not fit the widest candidate."""
    facts = lowering.facts
    lows = [n.lo for n in nodes if not n.is_bool]
    highs = [n.hi for n in nodes if not n.is_bool]
    bounded = None not in lows and None not in highs
    for candidate in candidates:
        least, most = INDEX_TYPES[candidate]
        shifts = [n.args[1].hi or 0 for n in nodes if n.op in ("shl", "shr")]
        if most <= 2**32 and max(shifts, default=0) >= 32:
            if candidate == candidates[-1]:
                raise WidthError(f"{name}: a shift by up to {max(shifts)} does not fit {candidate}")
            continue
        fits = all(x is None or x >= least for x in lows) and all(
            x is None or x <= most for x in highs
        )
        if fits and bounded:
            low, high = min(lows, default=0), max(highs, default=0)
            return candidate, [], f"{candidate} is enough: every value lies in {low}..{high}."
        if candidate != candidates[-1]:
            continue
        if not fits:
            culprit = next(
                n
                for n in nodes
                if not n.is_bool
                and ((n.lo is not None and n.lo < least) or (n.hi is not None and n.hi > most))
            )
            shown = lowering.exprs([culprit])
            what = (
                repr(shown[0]) if shown else culprit.op if culprit.value is None else culprit.value
            )
            raise WidthError(
                f"{name}: {what} lies in {_shown(culprit.lo)}..{_shown(culprit.hi)}, which does not "
                f"fit {candidate} ({least}..{most}); "
                + (
                    "choose a signed index_type"
                    if culprit.lo is not None and culprit.lo < 0 and least == 0
                    else "choose a wider index_type or smaller sizes"
                )
            )
        asked, facts.use_z3 = facts.use_z3, False  # a weaker proof only costs a longer header
        needed = _preconditions(nodes, lowering, candidate, size)
        facts.use_z3 = asked
        return candidate, needed, f"{candidate} is enough under the assumptions."
    raise WidthError(f"{name}: no index type to choose from")


def _shown(bound: int | None) -> str:
    return "?" if bound is None else str(bound)


def _preconditions(
    nodes: Sequence[Node], lowering: Lowering, index_type: str, size: Expr | None
) -> list[str]:
    """What must hold for every unbounded value to fit, the strongest conditions only."""
    facts = lowering.facts
    least, most = INDEX_TYPES[index_type]
    limit = f"2**{most.bit_length()} - 1"
    tops: list[Expr] = []
    texts: list[str] = []
    for node in dict.fromkeys(nodes):
        if node.is_bool or node.op == "const" or (node.lo is not None and node.hi is not None):
            continue
        e = lowering._exprs.get(node)
        if e is None:
            continue
        if node.op == "var" and e.single is not None and e.single.kind == "sym":
            continue  # an argument of the type fits the type
        normal = lowering.forward(e)
        if node.lo is None and least == 0:
            texts.append(f"{unsubstitute(normal, facts)!r} >= 0")
        found = []
        if node.hi is None:
            found.append(facts.upper(normal))
        if node.lo is None:
            bottom = facts.lower(normal)
            found.append(None if bottom is None else -bottom)
        if None in found:
            found = [facts.magnitude(normal)]
        if None in found:
            texts.append(f"every intermediate value fits {index_type}")
        else:
            tops += found  # type: ignore[arg-type]
    if size is not None and tops and all(facts.nonneg(size - top) for top in tops):
        tops = [size]
    kept: list[Expr] = []
    for top in tops:
        constant = top.terms.get((), 0)
        if constant < 0:
            top = top - constant
        if not any(facts.nonneg(other - top) for other in kept):
            kept = [other for other in kept if not facts.nonneg(top - other)] + [top]
    return list(
        dict.fromkeys([*(f"{unsubstitute(top, facts)!r} <= {limit}" for top in kept), *texts])
    )
