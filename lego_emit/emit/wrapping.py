"""Arithmetic that wraps, as a language has it.

A lowered program has (x + y) & (2**bits - 1) where an operation wraps. Where the language's own integers
wrap the operation is left, or its variant add.wrapping where the printer has a spelling for that; where
they are wider the mask stays, once around what is added, subtracted, multiplied, shifted and inverted.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..ir.nodes import Node
from ..ir.program import Function

RING = ("add", "sub", "mul", "shl", "not")  # the lower bits of these come of lower bits alone


def without_masks(function: Function, keeps: bool, ops: Collection[str]) -> Function:
    """A function with the masks that its language needs. keeps: whether it needs them; ops: what the
    language has a spelling for."""

    def changed(node: Node) -> Node:
        if not function.masks(node):
            return node.over(tuple(map(changed, node.args))) if node.args else node
        inner, mask = node.args
        if keeps:
            return node.over((unmasked(inner), mask))
        op = f"{inner.op}.wrapping"
        args = tuple(map(changed, inner.args))
        op = op if op in ops else inner.op
        return replace(inner, op=op, args=args, lo=node.lo, hi=node.hi)

    def unmasked(node: Node) -> Node:
        if node.op not in RING:
            return changed(node)
        distance = node.args[1:] if node.op == "shl" else ()
        args = (a.args[0] if function.masks(a) else a for a in node.args[: 1 if distance else 2])
        return node.over((*map(unmasked, args), *map(changed, distance)))

    return replace(
        function,
        body=tuple((name, changed(node)) for name, node in function.body),
        outputs=tuple((name, changed(node)) for name, node in function.outputs),
    )
