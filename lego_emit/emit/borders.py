"""Parameters and results that are declared as other types: converted from and to the index type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import TargetError
from ..ir.index_types import BOOL, DECLARED, IndexType
from ..ir.nodes import Node
from ..ir.program import Function
from .naming import fresh, keys_of

SAME_TYPED = frozenset({"min", "max"})  # calls whose arguments have one type


def converted(function: Function, printer: Any) -> Function:
    """A fitted function whose body reads converted parameters, and whose results are converted. One that
    is read more than once is converted once, in a statement of its own. Raises TargetError where an array
    form or a view would need the index type."""
    own = {p.name: DECLARED[p.type] for p in function.params if p.type}
    if not own and not any(function.types):
        return function
    what = "an array form" if function.axes else "a view" if function.view is not None else ""
    if what:
        raise TargetError(
            f"{function.name}: it has {what}, whose parameters have the index type; leave the types of "
            "parameters and results out"
        )
    index = function.index_type
    mixes = not any(n.op in SAME_TYPED for n in function.nodes())
    reads: dict[str, int] = {}
    for node in function.nodes():
        if node.op == "var":
            reads[node.value] = reads.get(node.value, 0) + 1
    taken = {*own, *reads, *(n for n, _ in (*function.body, *function.outputs))}
    static = {p.name for p in function.static}
    each, body = dict[str, Node](), list[tuple[str, Node]]()
    said = {text: name for g in function.groups if g.native for text, name in g.spoken.items()}
    for name, kind in own.items():
        if kind == index:
            continue
        node = Node("var", (), name)
        if mixes and printer.implicit and promotes(kind, index):
            each[name] = Node("cast", (node,), "")
        else:
            cast = Node("cast", (node,), str(index))
            each[name] = Node("int", (node,)) if kind is BOOL else cast
    found = {**each}
    for name, node in each.items():
        # GCC warns of a cast that takes a sign away, beside a literal of another type of that width.
        signs = printer.implicit and own[name].least < 0 == index.least
        named = reads.get(name, 0) > (not signs) and not function.is_condition  # without statements
        if named and node.value != "":
            local = _local(said.get(name, name), index, taken, printer, name in static)
            taken.add(local)
            body.append((local, node))
            found[name] = Node("var", (), local)

    def whole(node: Node, known: dict[str, Node] = found) -> Node:
        if node.op == "var":
            return known.get(node.value, node)
        if not node.args:
            return node
        return replace(node, args=tuple(whole(a, known) for a in node.args))

    outputs = [
        (name, _given(whole(node), DECLARED[kind], index, printer) if kind else whole(node))
        for (name, node), kind in zip(function.outputs, function.output_types, strict=True)
    ]
    return replace(
        function,
        body=(*body, *((name, whole(node)) for name, node in function.body)),
        outputs=tuple(outputs),
        asserted=tuple(whole(c, each) for c in function.asserted),  # before all statements
    )


def _given(node: Node, kind: IndexType, index: IndexType, printer: Any) -> Node:
    """A result as the type that it is declared as."""
    if kind is BOOL:
        return node.args[0] if node.op == "int" else Node("ne", (node, Node("const", (), 0)))
    if kind == index or (printer.implicit and holds(kind, index)):
        return node
    return Node("cast", (node,), str(kind))


def promotes(kind: IndexType, index: IndexType) -> bool:
    """Whether a parameter of a type may stand among values of the index type as it is, in languages that
    convert without a word."""
    narrow = kind.least < 0 or kind.width < 32
    return index.least < 0 and narrow and holds(index, kind)


def _local(name: str, index: IndexType, taken: set[str], printer: Any, static: bool) -> str:
    """What a converted parameter is called, of which the names are taken: its own, where that may be,
    and it is no static size."""
    if printer.shadows and name.isidentifier() and not static:
        return name
    mark = index.replace("uint", "u").replace("int", "i")
    keys = {key for n in taken for key in keys_of(n, printer)}
    return fresh(f"{printer.legal_name(name)}_{mark}", printer, keys)


def holds(wide: IndexType, narrow: IndexType) -> bool:
    """Whether a type holds every integer of another."""
    return wide.least <= narrow.least and narrow.most <= wide.most


def check_declared(kinds: Iterable[str], printer: Any) -> None:
    """Raise TargetError for a type that the language has not."""
    for kind in filter(None, kinds):
        if printer.declares and kind not in printer.declared_types:
            raise TargetError(
                f"{printer.title} has no {kind}; parameters and results can be "
                f"{', '.join(printer.declared_types)}"
            )
