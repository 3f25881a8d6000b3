"""Expressions on a kernel's own variables: what fits their type is computed in it, all else is cast."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ..emit.printer import ATOM, FunctionView, Op, Printer
from ..ir.index_types import IndexType
from ..ir.nodes import Node

SHRINKING = frozenset({"div", "mod", "shr", "and", "or", "xor", "min", "max", "select"})
SHIFTS = ("shl", "shr")


class Widths:
    """A lowered function's expressions with the kernel's names in place of its own.

    types: of the kernel's names; texts: of the names that stand for text of the kernel's own;
    blocks: of those that stand for the numbers below a size.
    """

    def __init__(
        self,
        printer: Printer,
        view: FunctionView,
        types: Mapping[str, IndexType],
        texts: Mapping[str, str],
        blocks: Mapping[str, str],
    ):
        self.printer, self.view, self.texts, self.blocks = printer, view, texts, blocks
        self.types = types if printer.cast else {}  # else narrower names do as they are
        self.wide: IndexType = view.index_type
        self._usual = printer.index_types[printer.default_index[0]]
        one = printer.literal(1, self.wide)
        self.typed_literals = any(printer.literal(1, t) != one for t in printer.types)

    def whole(self, node: Node, typed: bool) -> Node:
        """A fitted node. typed: cast to the index type as a whole, unless it is a condition."""
        made, own = self._typed(node)
        return self._cast(made, own) if typed and not node.is_bool else made

    def declared(self, node: Node, to: IndexType) -> Node:
        """A fitted node as the value of a variable of a type."""
        made, own = self._typed(node)
        if self.printer.infers:
            return self._cast(made, own or self._usual, to)
        becomes = self.printer.widens and (own is None or _widens(own, to))
        return made if becomes or node.is_bool else self._cast(made, own, to)

    def _typed(self, node: Node) -> tuple[Node, IndexType | None]:
        """(a node of the kernel's own names, its type; None where any type will do)."""
        if node.op in ("const", "table"):
            return node, None
        if node.op == "var":
            return self._leaf(node)
        parts = [self._typed(a) for a in node.args]
        args = [a for a, _ in parts]
        deciding = [k for k, a in enumerate(node.args[:1] if node.op in SHIFTS else node.args)
                    if not a.is_bool and a.op != "table"]  # fmt: skip
        types = {own for k in deciding if (own := parts[k][1]) is not None}
        op = self.printer.op(node, self.view)
        if node.op == "lookup":  # in a table of a type that nobody knows
            text = self.printer.expression(node.over(tuple(args)), self.view)
            return self._opaque(node, self.printer.inline(text)), self.wide
        if not types:
            free = node.is_bool or not (self.typed_literals or "{T}" in op.text)
            return node.over(tuple(args)), None if free else self.wide
        (own, *others) = types
        if not others and self._narrow(node, own, op):
            made = [self._literal(a, own) if k in deciding else a for k, a in enumerate(args)]
            return node.over(tuple(made)), own
        narrow = [k for k in deciding if parts[k][1] not in (None, self.wide)]
        widest = max(types, key=lambda t: t.most)
        if self.printer.widens and all(map(_signed, types)) and _is_infix(op):
            if widest.most > self.wide.most:
                return node.over(tuple(args)), self.wide if node.is_bool else widest
            narrow = [] if self.wide in types else narrow[:1]  # one of them makes all as wide
        for k in narrow:
            args[k] = self._cast(args[k], parts[k][1])
        return node.over(tuple(args)), self.wide

    def _narrow(self, node: Node, own: IndexType, op: Op) -> bool:
        """Whether a node of operands of one type can be computed in it."""
        if own == self.wide:
            return True
        if "{T}" in op.text or not (node.is_bool or node.op in SHRINKING or fits(node, own)):
            return False
        if node.op in SHIFTS:
            count = node.args[1]
            return count.hi is not None and count.hi < int(re.sub(r"\D", "", own) or 0)
        return all(fits(a, own) for a in node.args if a.op == "const")

    def _literal(self, node: Node, own: IndexType) -> Node:
        """A number as a literal of a type."""
        if node.op != "const":
            return node
        text = self.printer.literal(abs(node.value), own)
        if text == self.printer.literal(abs(node.value), self.wide):
            return node
        number = replace(node, op="var", value=text)
        return number if node.value >= 0 else replace(node, op="neg", args=(number,), value=None)

    def _leaf(self, node: Node) -> tuple[Node, IndexType | None]:
        name = str(node.value)
        if name in self.texts:
            return self._opaque(node, self.texts[name]), self.wide
        return replace(node, value=self.blocks.get(name, name)), self.types.get(name, self.wide)

    def _opaque(self, node: Node, text: str) -> Node:
        """A text of a type that nobody knows, as a value of the index type."""
        if not text.replace(".", "_").isidentifier() and not self._encloses():
            text = f"({text})"
        text = self.printer.cast.format(text, T=self.view.T) if self.printer.cast else text
        return replace(node, op="var", args=(), value=text)

    def _encloses(self) -> bool:
        """Whether what is cast stands in brackets of the cast's own."""
        return re.search(r"\(\{0\}[),]", self.printer.cast) is not None

    def _cast(self, node: Node, own: IndexType | None, to: IndexType | None = None) -> Node:
        """A node of one type as one of another, which is the index type unless said."""
        types = self.printer.types
        T = types[to or self.wide]
        if own is None or not self.printer.cast or types[own] == T:
            return node
        need = 0 if self._encloses() else ATOM
        inner = self.printer.inline(self.printer.expression(node, self.view, need))
        text = self.printer.cast.format(inner, T=T)
        return replace(node, op="var", args=(), value=text)


def fits(node: Node, index_type: IndexType) -> bool:
    """Whether a value is proven to be one of the type."""
    least, most = index_type.ends
    return node.lo is not None and node.hi is not None and least <= node.lo <= node.hi <= most


def _widens(own: IndexType, to: IndexType) -> bool:
    """Whether a value of one type becomes the same of another, without a warning."""
    (least, most), (lo, hi) = to.ends, own.ends
    return own == to or least <= lo < 0 < hi <= most  # C's unsigned ones warn


def _signed(index_type: IndexType) -> bool:
    return index_type.least < 0


def _is_infix(op: Op) -> bool:
    return re.search(r"\w[>\s]*\(", op.text) is None
