"""The one form in which results are counted and evaluated, whoever made them.

A Tree is an integer operation over Trees. Equal ones are the same object, so that a common part
counts once. This file needs the standard library only: lego_layout_worker.py runs it elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isqrt

# op -> how Python computes it.
OPERATIONS = {
    "+": "{} + {}", "-": "{} - {}", "*": "{} * {}", "//": "{} // {}", "%": "{} % {}",
    "&": "{} & {}", "|": "{} | {}", "^": "{} ^ {}", "<<": "{} << {}", ">>": "{} >> {}",
    "~": "~{}", "neg": "-{}", "min": "min({}, {})", "max": "max({}, {})", "isqrt": "isqrt({})",
    "<": "{} < {}", "<=": "{} <= {}", ">": "{} > {}", ">=": "{} >= {}", "==": "{} == {}",
    "!=": "{} != {}", "and": "{} and {}", "or": "{} or {}", "not": "not {}",
    "select": "{1} if {0} else {2}",
}  # fmt: skip
COMMUTATIVE = {"+", "*", "&", "|", "^", "min", "max", "==", "!=", "and", "or"}
_EXACT = {
    "+": int.__add__, "-": int.__sub__, "*": int.__mul__, "//": int.__floordiv__,
    "%": int.__mod__, "&": int.__and__, "|": int.__or__, "^": int.__xor__,
}  # fmt: skip


class Tree:
    """One operation, constant or variable; made by constant(), variable(), made() and operators.

    sized: whether it depends on sizes only, no index: what a compiler hoists out of a kernel.
    """

    __slots__ = ("args", "number", "op", "sized", "value")
    __lego_symbolic__ = True
    __array_ufunc__ = None
    _known: dict[tuple, Tree] = {}

    def __new__(cls, op: str, args: tuple[Tree, ...] = (), value=None, sized: bool = False):
        key = (op, args, value)
        found = cls._known.get(key)
        if found is None:
            found = super().__new__(cls)
            found.op, found.args, found.value = op, args, value
            found.sized = all(a.sized for a in args) if args else sized
            found.number = len(cls._known)
            cls._known[key] = found
        return found

    @property
    def key(self) -> int:
        return self.number

    @property
    def constant(self) -> int | None:
        return self.value if self.op == "const" else None

    def __repr__(self) -> str:
        return text(self)

    def __add__(self, other):
        return made("+", self, other)

    def __radd__(self, other):
        return made("+", other, self)

    def __sub__(self, other):
        return made("-", self, other)

    def __rsub__(self, other):
        return made("-", other, self)

    def __mul__(self, other):
        return made("*", self, other)

    def __rmul__(self, other):
        return made("*", other, self)

    def __floordiv__(self, other):
        return made("//", self, other)

    def __rfloordiv__(self, other):
        return made("//", other, self)

    def __mod__(self, other):
        return made("%", self, other)

    def __rmod__(self, other):
        return made("%", other, self)

    def __xor__(self, other):
        return made("^", self, other)

    def __rxor__(self, other):
        return made("^", other, self)

    def __and__(self, other):
        return made("&", self, other)

    def __rand__(self, other):
        return made("&", other, self)


def constant(value: int) -> Tree:
    return Tree("const", value=int(value), sized=True)


def variable(name: str, sized: bool = False) -> Tree:
    return Tree("var", value=name, sized=sized)


def made(op: str, *args: Tree | int) -> Tree:
    """The operation, less what every reader leaves out: x + 0, x * 1, x // 1, x + -y, arithmetic
    on constants."""
    trees = tuple(a if isinstance(a, Tree) else constant(a) for a in args)
    values = [a.constant for a in trees]
    if op in _EXACT and None not in values and not (op in ("//", "%") and values[1] == 0):
        return constant(_EXACT[op](*values))
    if op in COMMUTATIVE:
        trees = tuple(sorted(trees, key=lambda a: a.number))
    if len(trees) == 2:
        found = _shorter(op, *trees)
        if found is not None:
            return found
    return Tree(op, trees)


def _shorter(op: str, a: Tree, b: Tree) -> Tree | None:
    if op == "+":
        if a.constant == 0 or b.constant == 0:
            return b if a.constant == 0 else a
        if a.op == "neg" or b.op == "neg":
            return made("-", b, a.args[0]) if a.op == "neg" else made("-", a, b.args[0])
        for x, y in ((a, b), (b, a)):
            if y.constant is not None and y.constant < 0:
                return made("-", x, -y.constant)
    elif op == "-":
        if b.constant == 0:
            return a
        if a.constant == 0:
            return Tree("neg", (b,))
        if b.op == "neg":
            return made("+", a, b.args[0])
    elif op == "*":
        for x, y in ((a, b), (b, a)):
            if y.constant == 0:
                return y
            if y.constant == 1:
                return x
            if y.constant == -1:
                return Tree("neg", (x,))
    elif op in ("//", "%") and b.constant == 1:
        return a if op == "//" else constant(0)
    elif op in ("//", "%") and a.constant == 0:
        return a
    elif op == "//" and a.sized and a.op == "*" and b in a.args:
        return a.args[1] if a.args[0] is b else a.args[0]  # (BM * MB) // BM, of sizes
    return None


def total(terms: Iterable[Tree]) -> Tree:
    """The sum, what depends on sizes only first, and the subtracted ones last."""
    ordered = sorted(terms, key=lambda t: (_is_negative(t), not t.sized))
    if not ordered:
        return constant(0)
    result, *rest = ordered
    for term in rest:
        result = result - _negated(term) if _is_negative(term) else result + term
    return result


def product(factors: Iterable[Tree]) -> Tree:
    """The product, what depends on sizes only first."""
    result = constant(1)
    for factor in sorted(factors, key=lambda f: (not f.sized, f.constant is None)):
        result = result * factor
    return result


def _is_negative(tree: Tree) -> bool:
    if tree.op == "*":
        return any(_is_negative(a) for a in tree.args)
    return tree.op == "neg" or (tree.constant is not None and tree.constant < 0)


def _negated(tree: Tree) -> Tree:
    if tree.constant is not None:
        return constant(-tree.constant)
    if tree.op == "neg":
        return tree.args[0]
    a, b = tree.args
    return _negated(a) * b if _is_negative(a) else a * _negated(b)


def walk(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Every different tree below, operands first."""
    seen: set[Tree] = set()
    stack = [(t, False) for t in reversed(tuple(trees))]
    while stack:
        tree, ready = stack.pop()
        if ready:
            yield tree
        elif tree not in seen:
            seen.add(tree)
            stack.append((tree, True))
            stack.extend((a, False) for a in reversed(tree.args))


def count(trees: Iterable[Tree]) -> int:
    """The operations: each different one once, those on sizes only are free."""
    return sum(bool(t.args) and not t.sized for t in walk(trees))


def function(trees: tuple[Tree, ...], names: Iterable[str]) -> Callable[..., tuple[int, ...]]:
    """The trees as a Python function of these variables, in exact integers."""
    local: dict[Tree, str] = {}
    lines = []
    for number, tree in enumerate(walk(trees)):
        if tree.args:
            local[tree] = f"_{number}"
            lines.append(f"    _{number} = {_formatted(tree, [local[a] for a in tree.args])}")
        else:
            local[tree] = f"({tree.value})"
    results = "".join(f"{local[t]}, " for t in trees)
    source = [f"def evaluate({', '.join(names)}):", *lines, f"    return ({results})"]
    scope = {"isqrt": isqrt}
    exec("\n".join(source), scope)
    return scope["evaluate"]


def text(tree: Tree) -> str:
    """The tree as a Python expression."""
    if tree.args:
        return f"({_formatted(tree, [text(a) for a in tree.args])})"
    return str(tree.value)


def _formatted(tree: Tree, args: list[str]) -> str:
    return OPERATIONS[tree.op].format(*args)


def translated(
    trees: Iterable[Tree],
    leaf: Callable[[Tree], object],
    operations: Mapping[str, Callable[..., object]],
) -> list:
    """The trees in somebody else's terms: leaf(tree) is a constant or variable, operations[op]
    an operation. Raises Unsupported for an operation that is not there."""
    trees = tuple(trees)
    found: dict[Tree, object] = {}
    for tree in walk(trees):
        if not tree.args:
            found[tree] = leaf(tree)
        elif tree.op in operations:
            found[tree] = operations[tree.op](*(found[a] for a in tree.args))
        else:
            raise Unsupported(f"it has no {tree.op}")
    return [found[t] for t in trees]


class Unsupported(Exception):
    """Something that a peer cannot say, or that has no Tree."""


_SPELLED = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.USub: "neg", ast.Invert: "~", ast.Not: "not", ast.And: "and", ast.Or: "or",
}  # fmt: skip


def parsed(source: str, leaves: Mapping[str, Tree]) -> Tree:
    """The tree that text() gave."""

    def tree_of(node: ast.expr) -> Tree:
        match node:
            case ast.Constant():
                return constant(node.value)
            case ast.Name():
                return leaves[node.id]
            case ast.UnaryOp():
                return made(_SPELLED[type(node.op)], tree_of(node.operand))
            case ast.BinOp():
                return made(_SPELLED[type(node.op)], tree_of(node.left), tree_of(node.right))
            case ast.Compare(ops=[op], comparators=[right]):
                return made(_SPELLED[type(op)], tree_of(node.left), tree_of(right))
            case ast.BoolOp(values=[left, right]):
                return made(_SPELLED[type(node.op)], tree_of(left), tree_of(right))
            case ast.Call(func=ast.Name(id=name)):
                return made(name, *map(tree_of, node.args))
            case ast.IfExp():
                return made("select", *map(tree_of, (node.test, node.body, node.orelse)))
        raise Unsupported(f"no tree for {ast.unparse(node)}")

    return tree_of(ast.parse(source, mode="eval").body)
