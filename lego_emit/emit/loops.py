"""Loops and switches in a file: names that a language allows in their parts, and the lines of a loop.

The states of a loop are variables, which have the names of the statements that read them behind it. A round
computes the next states and assigns them one by one; where one is read by another after that, it is kept
before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from ..errors import TargetError
from ..ir.loops import COMPOUND, Round, is_same
from ..ir.nodes import Node, const
from ..ir.program import Function
from ..ir.relations import names_in, replaced
from ..ir.switches import Cases
from ..table_lookup import Entries
from .naming import fresh

BODY = "next"  # what a function is called that gives the next state
SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "div": "/",
    "mod": "%",
}
Body = Sequence[tuple[str, Node]]


@dataclass(frozen=True)
class LoopForms:
    """How a language spells a loop. declare: a variable {name} of the type {T} that is {expr} at first; assign:
    sets it; compound: sets it to what {sign} makes of it and {expr}, "" where that is not spelled; first: the
    lines that begin a loop in which {name} goes from {lower} on as long as it is below {upper}, to {last}, over the
    {range} of those, {most} times at most; stop: the lines that end it where {expr} holds; step: the line at the end
    of a round; going: the lines that begin one that goes on as long as {expr} holds; last: the line behind it; indent:
    of a round; plain: whether lines that begin or end something are no statements to the printer."""

    declare: str = "{T} {name} = {expr};"
    assign: str = "{name} = {expr};"
    compound: str = "{name} {sign}= {expr};"
    first: tuple[str, ...] = ("for ({T} {name} = {lower}; {name} < {upper}; ++{name}) {{",)
    stop: tuple[str, ...] = ("if ({expr}) break;",)
    step: str = ""
    going: tuple[str, ...] = ("while ({expr}) {{",)
    last: str = "}"
    indent: int = 2
    plain: bool = False


@dataclass(frozen=True)
class Legal:
    """Names that a language allows in rounds and cases. own(name, scope): a legal name that is not in a scope,
    which it joins; tables: a node with the names of its tables in the file; labels: what the file calls the
    numbers of tags, by what those are called."""

    own: Callable[[str, set[str]], str]
    tables: Callable[[Node], Node]
    labels: Mapping[tuple[str, int], str]

    def body(self, body: Body, scope: set[str]) -> list[tuple[str, Node]]:
        """Statements with such names in their parts, whose own names are legal already."""
        found: list[tuple[str, Node]] = []
        for _, node in body:
            if node.op not in COMPOUND:
                found.append((_, node))
            elif not any(is_same(node, other) for _, other in found):
                states = [(s, n) for s, n in body if is_same(n, node)]
                behind = {n.args[0].value.item: s for s, n in states}
                made = node.args[0].value
                if node.op == "switch":
                    names = ["", *(behind.get(k, "") for k in range(made.count))]
                    named = self._cases(node, names, scope)
                else:
                    states_ = enumerate(made.shown[1:])
                    shown = [behind.get(k) or self.own(n, scope) for k, n in states_]
                    inner = {*scope}  # a state is declared before its loop
                    names = [self.own(made.shown[0], inner), *shown]
                    named = self._round(node, names, inner)
                for state, other in states:
                    leaf = other.args[0]
                    leaf = replace(leaf, value=replace(named, item=leaf.value.item))
                    found.append((state, replace(other, args=(leaf, *other.args[1:]))))
        return found

    def _round(self, node: Node, names: Sequence[str], scope: set[str]) -> Round:
        """The round of a loop in these names of its number and states, which reads what it takes by the names
        outside."""
        made: Round = node.args[0].value
        taken, inner = node.args[made.first :], {*scope}  # which all parts are in

        def part(f: Function) -> Function:
            f = self._part(f, names, taken, inner)
            values = [value for _, value in f.outputs]
            if f.name != BODY:
                return replace(f, outputs=((f.name, values[0]),))
            more, assigned = _assigned(names[1:], values, lambda n: self.own(f"next_{n}", inner))
            return replace(f, body=(*f.body, *more), outputs=tuple(assigned))

        return replace(made.mapped(part), names=tuple(names))

    def _cases(self, node: Node, names: Sequence[str], scope: set[str]) -> Cases:
        """The cases of a switch, which give those of its results that have a name, and read what they take by the
        names outside."""
        made: Cases = node.args[0].value

        def part(f: Function) -> Function:
            f = self._part(f, (), node.args[made.first :], {*scope})
            values = zip(names[1:], f.outputs, strict=True)
            return replace(f, outputs=tuple((n, value) for n, (_, value) in values if n))

        labels = tuple(self.labels.get(key, "") for key in zip(made.labels, made.keys, strict=True))
        return replace(made.mapped(part), names=tuple(names), labels=labels)

    def _part(
        self, f: Function, names: Sequence[str], taken: Sequence[Node], scope: set[str]
    ) -> Function:
        """A part in these names of its own parameters."""
        given: dict[str, Node] = {}
        for p, text in zip(f.params, names, strict=False):
            given[p.name] = Node("var", (), text, p.lo, p.hi)
        for p, outer in zip(f.params[len(names) :], taken, strict=True):
            given[p.name] = outer
        body = list[tuple[str, Node]]()
        for name, value in f.body:
            text = self.own(_plain(name), scope)
            body.append((text, self.tables(_put(value, given))))
            given[name] = Node("var", (), text, value.lo, value.hi)
        values = [self.tables(_put(value, given)) for _, value in f.outputs]
        body = self.body(body, scope)
        known = list[str]()
        for p in f.params:  # what is taken twice, or is a number, has a name that nothing reads
            text = str(given[p.name].value)
            known.append(text if text not in known else f"{text} {len(known)}")
        params = tuple(replace(p, name=name) for p, name in zip(f.params, known, strict=True))
        outputs = tuple((n, value) for (n, _), value in zip(f.outputs, values, strict=True))
        return replace(f, params=params, body=tuple(body), outputs=outputs)


def _plain(name: str) -> str:
    """A statement's name without what sets a round's symbols apart."""
    return re.sub(r"[ _](of[ _]loop|before)([ _]\d+)?", "", name)


def _without_unread(made: Round, behind: Collection[str]) -> Round:
    """A round without the states that nothing reads, whose names are "" in it; behind: those that are read
    behind the loop."""
    body: Function = made.body
    reads: dict[str, list[Node]] = {}
    for name, value in (*body.body, *body.outputs):
        reads.setdefault(name, []).append(value)
    asked = [v for f in made.parts[:-1] for _, v in (*f.body, *f.outputs)]
    written = made.names[made.count - made.fills - 1 :][:2] if made.fills else ()
    left, read = [*behind, *written, *(n for v in asked for n in _reads(v))], set[str]()
    while left:
        name = left.pop()
        if name not in read:
            read.add(name)
            left += [n for v in reads.get(name, ()) for n in _reads(v)]
    counter = made.names[0] if made.counts else ""
    names = (counter, *(n if n in read else "" for n in made.names[1:]))
    own = replace(
        body,
        body=tuple(_kept([(n, v) for n, v in body.body if n in read])),
        outputs=tuple((n, v) for n, v in body.outputs if n in read),
    )
    found = replace(made, body=own, names=names)
    is_settled = _length(own.body) == _length(body.body) and len(own.outputs) == len(body.outputs)
    return found if is_settled else _without_unread(found, behind)


def _of_results(made: Cases, behind: Collection[str]) -> Cases:
    """Cases without the results that nothing reads behind the switch, and what only those need."""
    names = tuple(n if n in behind else "" for n in made.names)

    def part(f: Function) -> Function:
        outputs = tuple((n, v) for n, v in f.outputs if n in names)
        needed = {n for _, v in outputs for n in _reads(v)}
        for name, value in reversed(f.body):
            needed |= _reads(value) if name in needed else set()
        kept = tuple(_kept([(n, v) for n, v in f.body if n in needed]))
        found = replace(f, body=kept, outputs=outputs)
        return found if _length(kept) == _length(f.body) else part(found)

    return replace(made.mapped(part), names=names)


def _length(body: Body) -> int:
    """How many statements and states there are, and values that loops are given: less where any is left out, which
    rounds, which are compared by what they are of, do not show."""
    count = 0
    for _, node in body:
        count += 1
        if node.op in COMPOUND:
            made: Round | Cases = node.args[0].value
            count += sum(map(bool, made.names)) + sum(a.op != "const" for a in node.args[1:])
            count += sum(_length(part.body) for part in made.parts)
    return count


def _kept(body: Body) -> list[tuple[str, Node]]:
    """Statements, where those are left out that nothing reads: loops in them may have more states by now that
    nothing does."""
    found: list[tuple[str, Node]] = []
    for name, node in body:
        if node.op in COMPOUND:
            behind = [s for s, n in body if is_same(n, node)]
            made, rest = node.args[0].value, [*node.args[1:]]
            if node.op == "switch":
                made = _of_results(made, behind)
            else:
                made = _without_unread(made, behind)
                for k, state in enumerate(made.names[1:]):
                    rest[2 + k] = rest[2 + k] if state else const(0)
            read = {n.value for n in made.nodes() if n.op == "var"}
            for k, taken in enumerate(rest[made.first - 1 :], made.first - 1):
                rest[k] = const(0) if taken.op == "var" and taken.value not in read else taken
            node = node.over((replace(node.args[0], value=made), *rest))
        found.append((name, node))
    return found


def _reads(node: Node) -> set[str]:
    """The names that a node reads, in the rounds of loops, too."""
    return {str(n.value) for n in node.deep() if n.op == "var"}


def in_rounds(
    body: Body,
    printer: Any,
    scope: set[str],
    tables: Callable[[Node], Node],
    labels: Mapping[tuple[str, int], str],
    read: Sequence[Node],
) -> list[tuple[str, Node]]:
    """Statements with legal names in their rounds and cases. scope: the names that are taken; labels: see
    Legal; read: the results. What none of them needs is left out."""

    def own(name: str, inner: set[str]) -> str:
        return fresh(printer.naming.local(name), printer, inner)

    found = Legal(own, tables, labels).body(body, scope)
    while True:
        needed = {n for e in read for n in names_in(e)}
        for name, node in reversed(found):
            needed |= _reads(node) if name in needed else set()
        kept = _kept([(n, e) for n, e in found if n in needed])
        if _length(kept) == _length(found):
            return found
        found = kept


def _put(node: Node, given: Mapping[str, Node]) -> Node:
    """A node with others for its names, in the rounds in it, too."""

    def var(v: Node) -> Node:
        found = given[str(v.value)]
        return found if found.op == "const" else replace(v, value=found.value)

    return replaced(node, var)


def _assigned(
    states: Sequence[str], values: Sequence[Node], kept: Callable[[str], str]
) -> tuple[list[tuple[str, Node]], list[tuple[str, Node]]]:
    """(statements before, assignments in an order in which none reads what is set already)."""
    left = dict(zip(states, values, strict=True))
    before, found = list[tuple[str, Node]](), list[tuple[str, Node]]()
    held = set[str]()  # whose value is kept before all are set
    while left:
        reads = {n: {*names_in(v)} for n, v in left.items()}
        free = [n for n in left if not any(n in r for m, r in reads.items() if m != n)]
        if not free:  # each is read by another
            own = {n for n, r in reads.items() if not r.isdisjoint(left.keys() - {n})}
            name = next(n for n in left if n in own and n not in held)
            held.add(name)
            value = left[name]
            text = kept(name)
            before.append((text, value))
            left[name] = Node("var", (), text, value.lo, value.hi)
            continue
        found += [(n, left.pop(n)) for n in free[:1]]
    return before, found


def lines(view: Any, node: Node, before: Body, form: str, indent: int) -> list[str]:
    """The lines of a loop; none of a state of one that is there already."""
    if any(is_same(node, other) for _, other in before):
        return []
    printer: Any = view._printer
    forms = _forms(printer, view, node)
    control = (lambda text, _: printer.inline(text)) if forms.plain else printer.line
    made: Round = node.args[0].value
    lower, upper, *first = node.args[1 : 3 + made.count]
    T, inner = view.T, indent + forms.indent
    counter, *states = made.names
    found = [
        printer.line(forms.declare.format(T=T, name=n, expr=printer.expression(e, view)), indent)
        for n, e in zip(states, first, strict=True)
        if n
    ]
    last = Node("sub", (upper, const(1)))
    last = const(upper.value - 1) if upper.op == "const" else last
    nodes = {"lower": lower, "upper": upper, "last": last}
    ends = {name: printer.expression(n, view) for name, n in nodes.items()}
    ends["most"] = str(made.most)
    ends["range"] = ", ".join([ends["lower"]] * (lower.value != 0) + [ends["upper"]])
    parts, begin, step, going = made.parts, forms.first, forms.step, ""
    if not made.counts:
        parts, begin, step = [made.body], forms.going, ""
        holding = _holding(made.going.outputs[0][1])
        going = printer.expression(holding, view.inside(made.going))
    start = {"T": T, "name": counter, "expr": going}
    found += [control(text.format(**start, **ends), indent) for text in begin]
    within = list[str]()
    for part in parts:
        own = view.inside(part)
        within += own.statements(form, inner)
        if part is not made.body:
            text = printer.expression(_ended(part.outputs[0][1]), own)
            within += [control(line.format(expr=text), inner) for line in forms.stop]
            continue
        for name, value in part.outputs:
            if value.op == "var" and value.value == name:
                continue
            if value.op == "store":
                name, value = printer.inline(printer.expression(value.args[0], own)), value.args[1]
            sign, by = compound(name, value, own) if forms.compound else ("", value)
            form_ = forms.compound if sign else forms.assign
            text = printer.expression(by, own)
            text = form_.format(name=name, expr=text, counter=counter, sign=sign, **ends)
            within.append(printer.line(text, inner))
    within += [control(step.format(name=counter), inner)] if step else []
    found += [" " * forms.indent + line for line in within]
    return [*found, forms.last] if forms.last else found


def _forms(printer: Any, view: Any, node: Node) -> LoopForms:
    """How a loop is spelled. Raises TargetError where the language has none."""
    if not printer.loops:
        raise TargetError(
            f"{view.name}: {printer.title} has no loop in an index function; choose another target"
        )
    module, _, name = printer.loops.partition(":")
    found: Any = getattr(import_module(module), name)
    return found if isinstance(found, LoopForms) else found(printer, view, node)


def compound(name: str, value: Node, view: Any) -> tuple[str, Node]:
    """(the sign, the other operand) of an operation on a variable that a compound assignment spells; "" of
    any other."""
    sign = SIGNS.get(value.op, "")
    spelled = view._printer.op(value, view).text if sign else ""
    if spelled and re.sub(r"[\s\x00-\x1f]+", " ", spelled).strip() == f"{{0}} {sign} {{1}}":
        for one, other in (value.args, value.args[::-1]):
            if one.op == "var" and one.value == name and name not in names_in(other):
                return sign, other
            if not value.row.commutes:
                break
    return "", value


def _holding(node: Node) -> Node:
    """The condition that a number of 0 or 1 is not 0."""
    return node.args[0] if node.op == "int" else Node("ne", (node, const(0)))


def _ended(node: Node) -> Node:
    """The condition that a number of 0 or 1 is 0."""
    condition = _holding(node)
    opposite = condition.row.opposite
    return Node(opposite, condition.args) if opposite else Node("lnot", (condition,))


def writing(function: Function) -> Function:
    """A fitted function whose result is an array that a loop fills, as a printer has it: a round has one node
    "store" of an element and its value in the place of the array's elements, which are no variables."""
    array = function.result
    if array is None or not array.open:
        return function
    body, done = list[tuple[str, Node]](), list[Node]()
    for name, node in function.body:
        if node.op != "loop" or not node.args[0].value.fills:
            body.append((name, node))
        elif not any(is_same(node, other) for other in done):
            done.append(node)
            body.append(_writing(node, array.name))
    return replace(function, body=tuple(_kept(body)))


def _writing(node: Node, array: str) -> tuple[str, Node]:
    """(a state, the loop) of a loop that fills an array."""
    made: Round = node.args[0].value
    last = made.count - made.fills
    states, (place, value) = made.names[1 : last - 1], made.names[last - 1 : last + 1]
    made = _without_unread(made, ())
    values = dict(made.body.outputs)
    table = Node("table", (), Entries(array, size=made.fills, array="filled"))
    stored = Node("store", (Node("lookup", (table, values[place])), values[value]))
    outputs = [("", stored), *((n, v) for n, v in made.body.outputs if n in states)]
    names = (made.names[0], *states, *[""] * (2 + made.fills))
    own = replace(made.body, outputs=tuple(outputs))
    leaf = replace(node.args[0], value=replace(made, body=own, names=names))
    first = [
        const(0) if k >= len(states) else e for k, e in enumerate(node.args[3 : 3 + made.count])
    ]
    args = (leaf, *node.args[1:3], *first, *node.args[3 + made.count :])
    return states[0], node.over(args)


def variables(body: Body) -> Iterator[str]:
    """The variables of a function: of statements and, in loops and cases, of numbers, states and statements."""
    for name, node in body:
        yield name
        if node.op in COMPOUND:
            made: Round | Cases = node.args[0].value
            yield from filter(None, made.names)
            for part in made.parts:
                yield from variables(part.body)
