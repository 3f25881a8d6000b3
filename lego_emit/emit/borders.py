"""Parameters and results that are declared as other types: converted from and to the index type."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors import TargetError
from ..ir.index_types import BOOL, DECLARED, IndexType
from ..ir.nodes import Node
from ..ir.program import Function
from ..operations import OPS
from .naming import fresh, keys_of

ANY_TYPE = IndexType("any", 0, 1)  # of a text of which nothing is said
SAME_TYPED = frozenset({"min", "max"})  # calls whose arguments have one type


def converted(function: Function, printer: Any, checks: bool = False) -> Function:
    """A fitted function whose body reads converted parameters, and whose results are converted. One that
    is read more than once is converted once, in a statement of its own. checks: what conversions lose is
    asserted. Raises TargetError where an array form or a view would need the index type."""
    own = {p.name: DECLARED[p.type] for p in function.params if p.type}
    bound = set[str]()
    if printer.implicit:  # a text may be of any type
        inside = {n for g in function.groups if g.bound and g.native is None for n in g.names}
        bound = {p.name for p in function.params if p.bound} | inside
        own |= {name: own.get(name, ANY_TYPE) for name in bound}
    if not own and not any(function.types):
        return function
    cases = tuple((c, converted(case, printer, checks)) for c, case in function.cases)
    what = "an array form" if function.axes else "a view" if function.view is not None else ""
    if what:
        raise TargetError(
            f"{function.name}: it has {what}, whose parameters have the index type; leave the types of "
            "parameters and results out"
        )
    index = function.index_type
    mixes = not any(n.op in SAME_TYPED for n in function.nodes())
    as_given = [  # results that are parameters of their type
        node.op == "var" and bool(kind) and own.get(node.value) is DECLARED[kind]
        for (_, node), kind in zip(function.outputs, function.output_types, strict=True)
    ]
    reads: dict[str, int] = {}
    kept = [n for (_, n), given in zip(function.outputs, as_given, strict=True) if not given]
    for node in (n for top in (*(n for _, n in function.body), *kept) for n in top.walk()):
        again = [n for n in node.value.nodes() if n.op == "var"] if node.op == "round" else []
        for n in [node] if node.op == "var" else [*again, *again]:  # each round reads it
            reads[n.value] = reads.get(n.value, 0) + 1
    taken = {*own, *reads, *(n for n, _ in (*function.body, *function.outputs))}
    static = {p.name for p in function.static}
    kinds = {g.name: DECLARED[g.types[0]] for g in function.groups if g.types and not g.struct}
    arrays = {n: k for n, k in kinds.items() if not _same(k, index, printer)}
    each, body = dict[str, Node](), list[tuple[str, Node]]()
    said = function.spoken_names

    def read(node: Node, kind: IndexType, name: str = "") -> Node:
        if mixes and printer.implicit and promotes(kind, index) and name not in bound:
            return Node("cast", (node,), "")
        return Node("int", (node,)) if kind is BOOL else _cast(node, kind, index, printer)

    for name, kind in own.items():
        if not _same(kind, index, printer):
            each[name] = read(Node("var", (), name), kind, name)
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
        if node.op == "round":
            from ..ir.loops import of_round

            return of_round(node, whole)
        if not node.args:
            return node
        if node.op == "store" and (kind := function.output_types[0]):
            place, value = node.args
            stored = _given(whole(value, known), DECLARED[kind], index, printer)
            return node.over((whole(place, known), stored))
        if node.op == "lookup" and (kind := arrays.get(node.args[0].value.name)) is not None:
            return read(node.over((node.args[0], whole(node.args[1], known))), kind)
        if node.op in ("eq", "ne") and own.get(node.args[0].value) is BOOL:  # flag == 0
            flag, number = node.args
            if number.op == "const" and number.value in (0, 1):
                return flag if (node.op == "eq") == number.value else Node("lnot", (flag,))
        if node.op == "select" and (condition := whole(node.args[0], known)).op == "lnot":
            then, other = (whole(a, known) for a in node.args[1:])
            return node.over((condition.args[0], other, then))
        return node.over(tuple(whole(a, known) for a in node.args))

    # What a conversion would hide from them.
    met = {n.value for c in function.asserted for n in c.walk() if n.op == "var"} | reads.keys()
    lost = [
        c for name in each if checks and name in met for c in _kept(name, own[name], index, printer)
    ]
    outputs = [
        (name, node if given else _given(whole(node), DECLARED[kind], index, printer))
        if kind
        else (name, whole(node))
        for given, (name, node), kind in zip(
            as_given, function.outputs, function.output_types, strict=True
        )
    ]
    return replace(
        function,
        body=(*body, *((name, whole(node)) for name, node in function.body)),
        outputs=tuple(outputs),
        cases=cases,
        asserted=(*lost, *(whole(c, each) for c in function.asserted)),  # before all statements
    )


def _kept(name: str, kind: IndexType, index: IndexType, printer: Any) -> list[Node]:
    """The conditions, in a parameter's own type, that the index type holds it."""

    def number(value: int) -> Node:
        known = str(kind) in printer.types
        return Node("var", (), printer.literal(value, str(kind)) if known else str(value))

    symbol, found = Node("var", (), name), list[Node]()
    if kind.most > index.most:
        found.append(Node("le", (symbol, number(index.most))))
    if kind.least < index.least:
        found.append(Node("ge", (symbol, number(index.least))))
    return [] if kind is ANY_TYPE else found


def _given(node: Node, kind: IndexType, index: IndexType, printer: Any) -> Node:
    """A result as the type that it is declared as."""
    if kind is BOOL:
        return _truth(node)
    if _same(kind, index, printer) or (printer.implicit and holds(kind, index)):
        return node
    return _cast(node, index, kind, printer)


def _cast(node: Node, source: IndexType, kind: IndexType, printer: Any) -> Node:
    """A value of a type as another one. Where the language's compilers take a sign of what has none, first
    as wide as the other one, and without a sign."""
    if printer.unsigned_first and source.least == 0 > kind.least and source.most < kind.most:
        node = Node("cast", (node,), "uint64")
    return Node("cast", (node,), str(kind))


def _truth(node: Node) -> Node:
    """The condition that an integer is not 0."""
    if node.op == "int":
        return node.args[0]
    if node.op == "select":
        condition, then, other = node.args
        same = Node("int", (condition,))  # what `a and b` gives where a does not hold
        then = Node("const", (), 1) if then == same else then
        other = Node("const", (), 0) if other == same else other
        if (then.value, other.value) == (1, 0) and then.op == other.op == "const":
            return condition
        for joins, one, rest, end in (("land", then, other, 0), ("lor", other, then, 1)):
            if rest.op == "const" and rest.value == end:  # c ? x : 0, c ? 1 : x
                return Node(joins, (condition, _truth(one)))
            if one.op == "const" and one.value == end:  # c ? 0 : x, c ? x : 1
                return Node(joins, (_opposite(condition), _truth(rest)))
    return Node("ne", (node, Node("const", (), 0)))


def _opposite(condition: Node) -> Node:
    row = OPS.get(condition.op)
    if condition.op == "lnot":
        return condition.args[0]
    if row is not None and row.opposite:
        return replace(condition, op=row.opposite)
    return Node("lnot", (condition,))


def _same(kind: IndexType, index: IndexType, printer: Any) -> bool:
    """Whether two types are one in the language."""
    if kind is ANY_TYPE:
        return False
    return kind == index or printer.spelled(str(kind)) == printer.types[index]


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
    digits = "".join(filter(str.isdigit, index))
    mark = f"{index[0]}{digits}" if digits else "index"
    keys = {key for n in taken for key in keys_of(n, printer)}
    words = re.sub(r"\W+", "_", f"{name}_{mark}")
    return fresh(printer.naming.local(words), printer, keys)


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
