"""Trees that a search makes: nodes over one variable X, or over the words of a function.

What they cost, their values on a table, and their parts. div and mod have a first operand >= 0,
floordiv and floormod any; the second one is a positive constant in all four. The bitwise operations
and the shifts have a first operand >= 0 and a constant second one, but for an xor of two trees. A
select's condition is a comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..ir.nodes import Node, const, made, var
from ..operations import OPS

X, ZERO = var("x"), const(0)
LARGEST = 2**31 - 1
"""No constant and no intermediate value of a result is larger than this in size."""


def cost(trees: Iterable[Node], price: Mapping[str, float]) -> float:
    """The price of computing all trees, equal subtrees once."""
    seen: set[Node] = set()
    total = 0.0
    stack = [tree for tree in trees if tree.args]
    while stack:
        tree = stack.pop()
        if tree not in seen:
            seen.add(tree)
            total += price.get(tree.op, 1)
            stack += [arg for arg in tree.args if arg.args]
    return total


def evaluate(tree: Node, x: int) -> int:
    """The value of a tree at x."""
    if not (args := tree.args):
        return x if tree.op == "var" else tree.value
    if tree.op == "select":
        return evaluate(args[1] if evaluate(args[0], x) else args[2], x)
    return OPS[tree.op].value(evaluate(args[0], x), evaluate(args[1], x))


def replaced(tree: Node, inner: Mapping[Node, Node]) -> Node:
    """The tree with others in the place of its variables."""
    if not tree.args:
        return inner.get(tree, tree)
    return Node(tree.op, tuple([replaced(t, inner) for t in tree.args]))


def summands(tree: Node) -> tuple[int, Node, int]:
    """(factor, rest, constant) with the tree's value factor*rest + constant."""
    if tree.op == "const":
        return 0, ZERO, tree.value
    if tree.op in ("add", "sub"):
        sign = 1 if tree.op == "add" else -1
        first, second = tree.args
        if second.op == "const":
            factor, rest, more = summands(first)
            return factor, rest, more + sign * second.value
        if first.op == "const" and sign < 0:
            factor, rest, more = summands(second)
            return -factor, rest, first.value - more
    if tree.op in ("mul", "shl") and tree.args[1].op == "const":
        rest, number = tree.args[0], tree.args[1].value
        return (number if tree.op == "mul" else 1 << number), rest, 0
    return 1, tree, 0


def chained(parts: Sequence[tuple[int, Node]], constant: int = 0) -> Node:
    """The sum of signed trees and a constant, a positive one in front."""
    if len(parts) > 1:
        parts = sorted(parts, key=lambda part: -part[0])
    sign, total = parts[0]
    if sign < 0:
        total, constant = made("sub", constant, total), 0
    for sign, tree in parts[1:]:
        total = made("add" if sign > 0 else "sub", total, tree)
    if constant:
        total = made("add", total, constant) if constant > 0 else made("sub", total, -constant)
    return total


class Wrong(Exception):
    """A tree whose values are not those of the table."""


Settled = tuple[Node, Sequence[int]]


def settle(tree: Node, xs: Sequence[int], known: dict[Node, Settled]) -> Settled:
    """The tree with each op fit for the sign of its argument, and its values on xs."""
    if tree.op == "var":
        return tree, xs
    if tree.op == "const":
        if abs(tree.value) > LARGEST:
            raise Wrong
        return tree, [tree.value] * len(xs)
    if tree in known:
        return known[tree]
    if tree.op == "select":
        result = _settle_select(tree, xs, known)
    else:
        op, (left, right) = tree.op, tree.args
        number = right.value if right.op == "const" else None
        if number is not None and abs(number) > LARGEST:
            raise Wrong
        left, a = settle(left, xs, known)
        if number is not None:
            if op not in ("add", "sub", "mul") and min(a) < 0:
                op, number = _of_any_sign(op, number)
                right = const(number)
            compute = OPS[op].value
            values = [compute(v, number) for v in a]
        else:
            right, b = settle(right, xs, known)
            values = list(map(OPS[op].value, a, b))
        result = Node(op, (left, right)), values
    if max(result[1]) > LARGEST or min(result[1]) < -LARGEST:
        raise Wrong
    known[tree] = result
    return result


def _of_any_sign(op: str, number: int) -> tuple[str, int]:
    """The operation by a number that is the same where the other operand may be negative."""
    match op:
        case "shr":
            return "floordiv", 1 << number
        case "and":
            return "floormod", number + 1
        case "shl":
            return "mul", 1 << number
    return OPS[op].floored or op, number


def _settle_select(tree: Node, xs: Sequence[int], known: dict[Node, Settled]) -> Settled:
    """Each branch is settled where it is taken."""
    condition, *branches = tree.args
    condition, taken = settle(condition, xs, known)
    settled, values = [], {}
    for branch, where in zip(branches, (True, False), strict=True):
        part = [x for x, t in zip(xs, taken, strict=True) if t == where]
        branch, found = settle(branch, part, {}) if part else (branch, [])
        settled.append(branch)
        values.update(zip(part, found, strict=True))
    return Node("select", (condition, *settled)), [values[x] for x in xs]
