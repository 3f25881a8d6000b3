"""Trees of nodes as nested tuples, which a test can read, and back: ("add", "x", 3), ("in", 0)."""

from lego_emit.ir.nodes import Node, const, var
from lego_emit.lower import bits, small_domain, trees, words


def as_tuple(tree):
    """A tree's nested tuples; a number is an int, and the variable its name."""
    if tree is None or tree.op == "const":
        return tree and tree.value
    if tree.op == "var":
        return tree.value if isinstance(tree.value, str) else ("in", tree.value)
    return (tree.op, *map(as_tuple, tree.args))


def as_node(tree):
    """The tree of nested tuples."""
    if isinstance(tree, int):
        return const(tree)
    if isinstance(tree, str):
        return var(tree)
    op, *args = tree
    return words.word_of(args[0]) if op == "in" else Node(op, tuple(map(as_node, args)))


def find(*args):
    return as_tuple(small_domain.find(*args))


def wire(*args):
    found = bits.wire(*args)
    return None if found is None else [*map(as_tuple, found)]


def cost(tree, price):
    """Of one tree, or of a list of them."""
    several = tree if isinstance(tree, list) else [tree]
    return trees.cost([*map(as_node, several)], price)


def evaluate(tree, x):
    return trees.evaluate(as_node(tree), x)


def meaning(tree, widths, width):
    return words.meaning(as_node(tree), widths, width)
