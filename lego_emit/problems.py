"""What is to be lowered of a function that was traced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from .arith.given import GivenRange
from .errors import TraceError
from .ir.index_types import IndexType
from .ir.nodes import Node
from .ir.program import Doc, Group
from .ir.relations import greatest, names_in, read, says, with_numbers
from .lower.candidates import is_aligned
from .lower.problem import AsWritten, Conditions, Counting, Parameters, Problem
from .lower.relations import condition
from .notation import Notation
from .trace.learn import learn_assumed
from .trace.trace import Trace
from .trace.traced import Outputs, Traced


def problem_of(
    traced: Traced,
    assume: Iterable[Any],
    widest: IndexType,
    notation: Notation,
    cached: bool = False,
) -> Problem:
    """What is to be lowered of a function that was followed; where digits do not line up, also with
    its flat positions kept whole, and where it has several paths with its branches joined where they
    meet. assume: assumptions, and ranges of parameters. cached: whether tables are as near as a CPU's:
    also with look-ups where a formula is known."""
    trace = traced.trace
    if trace.words is not None:
        trace.words.outputs = traced.named(traced.result)
    outputs, log = traced.outputs()
    doc, masked = traced.doc, dict[str, int]()
    params = {*trace.params()}

    def known(c: Node) -> bool:  # where there are several functions, of this one's parameters
        return params.issuperset(names_in(c))

    looked_into = traced.form is not None or is_aligned((e for _, e in outputs), trace.analyzer)
    kept = None if looked_into else traced.kept()
    joined = traced.joined and traced.joined(traced, outputs)
    steps = None if traced.form is not None else traced.in_steps()
    looked_up = traced.looked_up() if cached and traced.form is None else None
    if trace.is_unsigned:
        outputs = _without_signs(outputs, trace)
        kept, joined, looked_up = (
            k and replace(k, outputs=_without_signs(k.outputs, trace))
            for k in (kept, joined, looked_up)
        )
    if traced.masks:
        starts = {n: trace.result_base(n) for n, _ in outputs}
        shown_as = [f"{start - 1}" for start in starts.values()]
        if trace.is_unsigned:
            most = widest.most
            masked = {n: most for n, start in starts.items() if not start}
            outputs = traced.masked(most, outputs)
            kept, joined, looked_up = (
                k and replace(k, outputs=traced.masked(most, k.outputs))
                for k in (kept, joined, looked_up)
            )
            text = says(greatest(most), notation)
            shown_as = [text if n in masked else f"{start - 1}" for n, start in starts.items()]
        all_of_them = shown_as[0] if len(shown_as) == 1 else f"({', '.join(shown_as)})"
        doc = replace(doc, summary=f"{doc.summary}; {all_of_them} where it is masked.")
    learn_assumed(trace)
    return Problem(
        traced.name,
        doc,
        trace.analyzer,
        outputs,
        log,
        kept,
        joined,
        steps,
        looked_up,
        Parameters(
            trace.params(), trace.axes, trace.extents, trace.indices,
            placed=trace.placed | trace.indices, unsigned=trace.unsigned,
            groups=[_numbered(g, trace, doc) for g in trace.groups], types=trace.types,
            static=trace.static,
        ),
        Counting(
            trace.base, _axes_base(trace, traced.name),
            results=[trace.result_base(n) for n, _ in outputs], named=trace.named is not None,
        ),
        Conditions(
            [*traced.stated, *(c for a in assume for c in stated(a, trace) if known(c))],
            trace.preconditions, traced.spans, trace.stand_ins, masked,
        ),
        AsWritten(traced.form),
        traced.view,
        traced.by_name,
        traced.group,
        _declared(traced, len(outputs)),
        trace.words,
    )  # fmt: skip


def _declared(traced: Traced, count: int) -> Sequence[str]:
    """What each result is declared as; () where none is."""
    if kind := traced.trace.types.get("return"):
        return [kind] * count
    kinds = () if traced.group is None else [kind for _, kind in traced.group.results]
    return kinds if any(kinds) else ()


def _numbered(group: Group, trace: Trace, doc: Doc) -> Group:
    """A struct or an array, with numbers for its members that have one, and what is said of it."""
    members = tuple(trace.sizes.get(n, n) for n in group.names)
    return replace(group, members=members, meaning=doc.params.get(group.name, ""))


def _axes_base(trace: Trace, name: str) -> int:
    """What the axes' first index is called. Raises TraceError where they differ."""
    found = {trace.base_of(n) for n in trace.axes}
    if len(found) > 1 and trace.extents:
        raise TraceError(
            f"{name}: base names some of the axes {', '.join(trace.axes)}, over which one array form "
            "runs; name all of them or none"
        )
    return max(found, default=0)


def _without_signs(outputs: Outputs, trace: Trace) -> Outputs:
    from .arith.signs import without_negative_parts

    return [(n, without_negative_parts(e, trace.analyzer)) for n, e in outputs]


def stated(assumption: Any, trace: Trace) -> list[Node]:
    """An assumption as a header says it, with the numbers of the sizes that are fixed; of a range what
    no symbol's bounds say."""
    if isinstance(assumption, str):
        found = [read(assumption)]
    elif isinstance(assumption, GivenRange):
        from .arith.given_ranges import beside_ranges

        beside = beside_ranges(assumption, trace.analyzer, trace.sizes)
        found = [condition(c, trace.analyzer) for c in beside]
    else:
        from .arith.assume import parse

        found = [condition(c, trace.analyzer) for c in parse(assumption)]
    return [with_numbers(c, trace.sizes) for c in found]
