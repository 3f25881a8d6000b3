"""split=: what each axis gives to the position by itself, and how these parts are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf
from typing import Any

from ..algebra import reference
from ..algebra.block import Block
from ..arith.analyzer import Analyzer
from ..arith.expr import Expr, as_number, lookup
from ..arith.terms import Atom
from ..errors import OptionError
from ..ir.program import Doc
from ..table_lookup import Entries
from .definition import Definition, Values, results_of
from .follow import go_on
from .trace import Trace
from .traced import Outputs, Subject, Traced

MOST = 2**20  # indices at which a layout of numbers is compared with its parts
MOST_ENTRIES = 4096  # of a table
JOINS = {"+": "the sum (+)", "^": "the exclusive or (^)"}  # of parts


class OfPart:
    """What an axis gives to the position: the position where all others are 0, without that of the origin but
    for the first axis. others: numbers of the sizes that it does not depend on."""

    is_total = True

    def __init__(
        self,
        whole: Definition,
        axes: Sequence[str],
        axis: str,
        sign: str,
        others: Mapping[str, int],
    ):
        self._whole, self._axes, self._axis, self._sign = whole, axes, axis, sign
        self._others = others
        self.name, self.points = f"{whole.name}_{axis}", whole.points

    @property
    def stays_small(self) -> bool:
        """Whether sizes without bounds stay small."""
        return self._whole.stays_small

    def __call__(self, values: Values) -> Any:
        """The part at values of the parameters."""
        own = {**self._others, **dict.fromkeys(self._axes, 0)}
        (at,) = results_of(self._whole({**values, **own, self._axis: values[self._axis]}))
        if self._axis == self._axes[0]:
            return at
        (origin,) = results_of(self._whole({**values, **own}))
        return at ^ origin if self._sign == "^" else at - origin


def with_parts(subject: Subject, options: Any) -> Subject:
    """A subject with a function NAME_AXIS for each index of its layouts, by the options of generate(). A part takes the
    sizes that it depends on, and all where they are no parameters of their own. Raises OptionError where axes do not
    separate, or a subject is no layout."""
    held = options.methods or options.prepare or options.group or options.index is not None
    functions, counts = list[Traced](), list[int]()
    parts = subject.parts or (len(subject.functions),)
    start = 0
    for count in parts:
        own = subject.functions[start : start + count]
        start += count
        made = _parts(own[0], options.split, not held)
        functions += [*own, *made]
        counts.append(len(own) + len(made))
    return replace(subject, functions=functions, parts=tuple(counts) if subject.parts else ())


def _parts(traced: Traced, split: bool | str, is_alone: bool) -> list[Traced]:
    stem, _, kind = traced.name.rpartition("_")
    layout = getattr(traced.definition, "_given", None)
    trace, axes = traced.trace, traced.trace.axes
    outputs = traced.counted(traced.result)
    if kind != "apply" or traced.definition is None or not axes or len(outputs) != 1:
        raise OptionError(
            f"split: {traced.name} is not a function of a layout that gives one position, whose axes could be "
            "split; leave split= out"
        )
    if traced.masks or any(trace.base_of(n) for n in axes):
        what = "masks some indices" if traced.masks else "counts from 1"
        raise OptionError(
            f"split: {stem} {what}, and its position is then not a sum of parts; leave split= out"
        )
    ((name, whole),) = outputs
    known, others = trace.analyzer, {n: Atom("sym", n) for n in axes}
    simplifier = known.simplifier

    def alone(axis: str) -> Expr:
        zero = {others[n] for n in axes if n != axis}
        return simplifier.rebuild(whole, lambda a: Expr.of(0) if a in zero else None)

    origin = simplifier.rebuild(whole, lambda a: Expr.of(0) if a in others.values() else None)
    values = {n: alone(n) for n in axes}
    sign = _sign(stem, layout, whole, values, origin, known)
    found = list[Traced]()
    for axis in axes:
        value = values[axis]
        if axis != axes[0]:
            value = (
                simplifier.subtract(value, origin)
                if sign == "+"
                else simplifier.bits("xor", value, origin)
            )
        found.append(_part(traced, stem, axis, value, name, sign, split, is_alone))
    return found


def _part(
    whole: Traced,
    stem: str,
    axis: str,
    value: Expr,
    name: str,
    sign: str,
    split: bool | str,
    is_alone: bool,
) -> Traced:
    axes = whole.trace.axes
    of = " and ".join(filter(None, [", ".join(axes[:-1]), axes[-1]]))
    doc = Doc(
        summary=f"The part of the position that {axis} gives. The position is {JOINS[sign]} of the parts of {of}."
        if len(axes) > 1
        else f"The part of the position that {axis} gives, which is all of it."
    )
    assert whole.definition is not None
    others = _unread(whole.trace, axis, value) if is_alone else {}
    definition = OfPart(whole.definition, axes, axis, sign, others)
    if split == "tables":
        value = _table(whole, stem, axis, definition)
    known = whole.trace.analyzer

    def prepare(t: Any) -> None:
        t.axes = [axis]
        t.extents = {}
        t.signature, t.free = (
            [n for n in names if n not in others] for names in (t.signature, t.free)
        )

    trace, result = go_on(whole.trace, prepare, lambda t: known.unsubstitute(value))

    def named(found: Any) -> Outputs:
        return [(name, Expr.of(found))]

    return Traced(
        f"{stem}_{axis}", doc, trace, result, named, definition=definition, beside=whole.name
    )


def _unread(trace: Trace, axis: str, value: Expr) -> dict[str, int]:
    """The sizes of which neither a value of an axis depends nor what is known of that, with their least numbers."""
    known, facts = trace.analyzer, trace.analyzer.facts
    linked = [{*known.unsubstitute(e).symbols()} for e in facts.constraints]
    linked += [{*as_number(c).symbols()} for c in trace.preconditions]
    for name, r in (facts.ranges | facts.original).items():
        ends = (known.unsubstitute(e).symbols() for e in (r.lo, r.hi) if e is not None)
        linked.append({name}.union(*ends))
    read = {axis, *known.unsubstitute(value).symbols(), *facts.substitutions, *trace.static}
    while more := [group for group in linked if not group.isdisjoint(read) and not group <= read]:
        read = read.union(*more)
    sizes = [n for n in trace.params() if n not in trace.axes and n not in read]
    return {n: max(1, known.interval(known.symbol(n))[0] or 1) for n in sizes}


def _table(whole: Traced, stem: str, axis: str, definition: OfPart) -> Expr:
    """The part as a look-up in a table of its values."""
    last = whole.trace.analyzer.interval(whole.trace.analyzer.symbol(axis))[1]
    sizes = [n for n in whole.trace.params() if n not in whole.trace.axes]
    if sizes or last is None or last >= MOST_ENTRIES:
        raise OptionError(
            f"split='tables': {axis} of {stem} {'depends on sizes' if last is None or sizes else f'has {last + 1} indices'}; a "
            f"table has at most {MOST_ENTRIES} entries, all numbers: give sizes=, or write split=True"
        )
    entries = [definition({axis: x}) for x in range(last + 1)]
    table = Entries(f"{axis}_table", entries, kept=True)
    return lookup(table, whole.trace.symbol(axis))


def _sign(
    stem: str, layout: Any, whole: Expr, values: dict[str, Expr], origin: Expr, known: Analyzer
) -> str:
    """How the parts are joined. Raises OptionError with a pair of axes that do not separate."""
    simplifier, (first, *rest) = known.simplifier, values.values()
    total = first
    for e in rest:
        total = simplifier.add(total, simplifier.subtract(e, origin))
    if not simplifier.subtract(whole, total).terms:
        return "+"
    axes = [*values]
    if _is_exclusive_or(whole, {*axes}, known):
        return "^"
    if isinstance(layout, Block) and layout.is_concrete and layout.size <= MOST:
        table = reference.table(layout).reshape(layout.dims)
        fails = [_apart(table, pair) for pair in combinations(range(len(axes)), 2)]
        for sign in JOINS:
            if _is_joined(table, sign):
                return sign
        pair = next(p for p in fails if p)
        (a, b), what = (axes[k] for k in pair), "is neither a sum nor"
    else:
        what = "is not known to be a sum or"
        mixed = [a.symbols & {*axes} for a in whole.deep_atoms() if len(a.symbols & {*axes}) > 1]
        a, b = (
            sorted(min(mixed, key=lambda s: (len(s), sorted(s))), key=axes.index)[:2]
            if mixed
            else axes[:2]
        )
    raise OptionError(
        f"split: the part of {a} in the position of {stem} depends on {b}, so that the position {what} "
        f"an exclusive or of a part of {a} and a part of {b}; leave split= out"
    )


def _is_exclusive_or(e: Expr, axes: set[str], known: Analyzer) -> bool:
    """Whether a value is proven to be the exclusive or of values that depend on one axis each: an atom of such values,
    or a sum of multiples of them that have no bit in common."""
    if len(axes & e.symbols()) < 2:
        return True
    atom = e.single
    if atom is not None:
        return atom.kind == "xor" and all(_is_exclusive_or(a, axes, known) for a in atom.args)
    above = 0  # the bits of the terms before lie below it
    for mono, c in sorted(e.terms.items(), key=lambda term: term[1] & -term[1]):
        factor = Expr({mono: 1})
        least, most = known.interval(factor)
        if c < 0 or c & -c < above or least is None or least < 0:
            return False
        if len(axes & factor.symbols()) > 1 and (
            c & (c - 1) or len(mono) > 1 or not _is_exclusive_or(factor, axes, known)
        ):
            return False
        above = inf if most is None else 1 << (c * most).bit_length()
    return bool(e.terms)


def _is_joined(table: Any, sign: str) -> bool:
    """Whether an array of positions is the join of what its axes give."""
    import numpy as np

    origin, total = table[(0,) * table.ndim], None
    for k in range(table.ndim):
        part = table[tuple(slice(None) if n == k else slice(1) for n in range(table.ndim))]
        if total is None:
            total = part
        else:
            total = np.bitwise_xor(total, part ^ origin) if sign == "^" else total + part - origin
    return bool((total == table).all())


def _apart(table: Any, pair: tuple[int, int]) -> tuple[int, int] | None:
    """A pair of axes that do not separate; None where they do."""
    part = table[tuple(slice(None) if n in pair else 0 for n in range(table.ndim))]
    return None if any(_is_joined(part, sign) for sign in JOINS) else pair
