"""Trees over one variable: what they cost, their values on a table, and their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..operations import OPS

Tree = int | str | tuple
"""An int, "x", or (op, a, b); ("select", condition, a, b) takes a where the condition holds.

div and mod have an a >= 0, floordiv and floormod any; b is a positive constant in all four. The
bitwise ops and the shifts have an a >= 0 and a constant b too, but for an xor of two trees.
"""
LARGEST = 2**31 - 1
"""No constant and no intermediate value of a result is larger than this in size."""


def cost(tree: Tree, price: Mapping[str, float]) -> float:
    """The sum of the prices of a tree's ops; equal subtrees count once."""
    seen: set[tuple] = set()

    def visit(t: Tree) -> None:
        if isinstance(t, tuple) and t not in seen:
            seen.add(t)
            for arg in t[1:]:
                visit(arg)

    visit(tree)
    return sum(price.get(t[0], 1) for t in seen)


def evaluate(tree: Tree, x: int) -> int:
    """The value of a tree at x."""
    if not isinstance(tree, tuple):
        return x if isinstance(tree, str) else tree
    op, a, *rest = tree
    if op == "select":
        return evaluate(rest[0] if evaluate(a, x) else rest[1], x)
    return OPS[op].value(evaluate(a, x), evaluate(rest[0], x))


def replaced(tree: Tree, inner: Tree) -> Tree:
    """The tree with inner in the place of x."""
    if isinstance(tree, tuple):
        return (tree[0], *(replaced(t, inner) for t in tree[1:]))
    return inner if tree == "x" else tree


def summands(tree: Tree) -> tuple[int, Tree, int]:
    """(factor, rest, constant) with the tree's value factor*rest + constant."""
    if isinstance(tree, int):
        return 0, 0, tree
    match tree:
        case ("add", rest, int(constant)):
            factor, rest, more = summands(rest)
            return factor, rest, more + constant
        case ("sub", rest, int(constant)):
            factor, rest, more = summands(rest)
            return factor, rest, more - constant
        case ("sub", int(constant), rest):
            factor, rest, more = summands(rest)
            return -factor, rest, constant - more
        case ("mul", rest, int(factor)):
            return factor, rest, 0
        case ("shl", rest, int(bits)):
            return 1 << bits, rest, 0
    return 1, tree, 0


def chained(parts: Sequence[tuple[int, Tree]], constant: int = 0) -> Tree:
    """The sum of signed trees and a constant, a positive one in front."""
    ordered = sorted(parts, key=lambda part: -part[0])
    sign, total = ordered[0]
    if sign < 0:
        total, constant = ("sub", constant, total), 0
    for sign, tree in ordered[1:]:
        total = ("add" if sign > 0 else "sub", total, tree)
    if constant:
        total = ("add", total, constant) if constant > 0 else ("sub", total, -constant)
    return total


class Wrong(Exception):
    """A tree that is not the table's."""


def settle(tree: Tree, xs: Sequence[int], known: dict) -> tuple[Tree, Sequence[int]]:
    """The tree with each op fit for the sign of its argument, and its values on xs."""
    if isinstance(tree, str):
        return tree, xs
    if isinstance(tree, int):
        if abs(tree) > LARGEST:
            raise Wrong
        return tree, [tree] * len(xs)
    if tree in known:
        return known[tree]
    if tree[0] == "select":
        result = _settle_select(tree, xs, known)
    else:
        op, left, right = tree
        if isinstance(right, int) and abs(right) > LARGEST:
            raise Wrong
        left, a = settle(left, xs, known)
        if isinstance(right, int):
            if op not in ("add", "sub", "mul") and min(a) < 0:
                op, right = _SIGNED.get(op, lambda c: (op, c))(right)
            compute = OPS[op].value
            values = [compute(v, right) for v in a]
        else:
            right, b = settle(right, xs, known)
            values = list(map(OPS[op].value, a, b))
        result = (op, left, right), values
    if max(result[1]) > LARGEST or min(result[1]) < -LARGEST:
        raise Wrong
    known[tree] = result
    return result


_SIGNED: dict[str, Callable[[int], tuple[str, int]]] = {
    "div": lambda c: ("floordiv", c),
    "mod": lambda c: ("floormod", c),
    "shr": lambda bits: ("floordiv", 1 << bits),
    "and": lambda mask: ("floormod", mask + 1),
    "shl": lambda bits: ("mul", 1 << bits),
}


def _settle_select(tree: tuple, xs: Sequence[int], known: dict) -> tuple[Tree, Sequence[int]]:
    """Each branch is settled where it is taken."""
    _, condition, *branches = tree
    condition, taken = settle(condition, xs, known)
    settled, values = [], {}
    for branch, where in zip(branches, (True, False), strict=True):
        part = [x for x, t in zip(xs, taken, strict=True) if t == where]
        branch, found = settle(branch, part, {}) if part else (branch, [])
        settled.append(branch)
        values.update(zip(part, found, strict=True))
    return ("select", condition, *settled), [values[x] for x in xs]
