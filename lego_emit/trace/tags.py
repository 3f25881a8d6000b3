"""What a tag of a Choice says: it is one of the numbers that there is a layout for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arith.expr import Cond, Expr, any_of
from .paths import Running


def learn_tag(given: Any, keys: Sequence[int], here: Running) -> Expr:
    """A tag that has a layout for these numbers, from here on one of them; returns it under what is known."""
    known, trace = here.analyzer, here.trace
    tag = known.rebuilt(Expr.of(given))
    own, name = known.unsubstitute(tag if trace is None else trace.put_back(tag)), ""
    if trace is not None:
        for symbol in sorted(own.symbols()):
            if symbol.isidentifier():
                trace.add_parameter(symbol)  # a symbol that the user made is one, too
    least, most = Expr.of(keys[0]), Expr.of(keys[-1])
    if own.single is not None and own.single.kind == "sym":
        name = own.single.args[0]
        if trace is not None:
            trace.placed.add(name)
    if name and not known.facts.branch:
        known.learn_range(name, least, most)
        tag = known.rebuilt(tag)
    for one, other, gap in ((least, own, tag - least), (own, most, most - tag)):
        if trace is not None and not known.nonneg(gap):
            trace.note(Cond("le", one, other))
    first, last = known.interval(tag)
    between = range(keys[0] if first is None else first, (keys[-1] if last is None else last) + 1)
    if trace is not None and any(number not in keys for number in between[: len(keys) + 1]):
        trace.note(any_of([Cond("eq", own, Expr.of(key)) for key in keys]))
    return tag
