"""Choices over a tag that is a symbol: one switch, whose cases are gone through by themselves.

The layout of each tag is applied under what is known where the tag is its number, and is one case of a
Switch (arith/switches.py). What comes of it is one value with the bounds of all cases: what follows is
computed once, and not in each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import count
from typing import Any

from ..algebra.choice import Choice
from ..algebra.slices import index_names
from ..arith.analyzer import Analyzer
from ..arith.context import plain
from ..arith.expr import Cond, Expr, opaque
from ..arith.switches import Switch, switched
from ..errors import AssumptionError, LayoutError, TraceError
from ..intervals import Interval, either
from .apart import Apart
from .joined import Unjoined, selected
from .learn import product_of, size_of
from .paths import Impossible, Running, explore
from .tags import learn_tag
from .trace import Trace

Results = Callable[[Running, Any], Sequence[Any]]


def chosen(block: Choice, results: Results, here: Running, inverse: bool) -> list[Expr]:
    """The results of the tag's layout, known to be in range. results: those of a layout, in what runs."""
    known, found = here.analyzer, _chosen(block, results, here, inverse)
    if not (inverse or block.is_bounded):
        return known.bind(found)
    least = -1 if (block.masks_inverse if inverse else block.masks) else 0
    if inverse:
        sizes = [size_of(n, known) for n in block.dims]
    elif block.results is None:
        sizes = [product_of(block.physical_dims, known)]
    else:
        sizes = [size_of(n, known) for n in block.physical_dims]
    branch, bounded = bool(known.facts.branch), list[Expr]()
    for e, n in zip(found, sizes, strict=True):
        inside = known.nonneg(e - least) and known.nonneg(n - e - 1)
        bounded.append(e if inside else opaque(e, Expr.of(least), n - 1, branch))
    return known.bind(bounded)


def _chosen(block: Choice, results: Results, here: Running, inverse: bool) -> list[Expr]:
    known, outer = here.analyzer, here.trace
    tag = learn_tag(block.tag, sorted(block.layouts), here)
    equal = {key: Cond("eq", tag, Expr.of(key)) for key in block.layouts}
    decided = {key: known.decide(condition) for key, condition in equal.items()}
    left = [key for key, value in decided.items() if value is not False]
    if not left:
        raise LayoutError(f"{block!r}: there is no layout for the tag {known.unsubstitute(tag)!r}")
    if len(left) == 1:
        return [Expr.of(e) for e in results(here, block.layouts[left[0]])]
    trace = outer or Trace(known, {}, lambda _: None)
    own = trace.but(
        preconditions=[], loops=set(), keeps=False, keeps_steps=False, tables=False, tape=None
    )
    branch = [plain(c) for c in known.facts.branch]
    apart, cases = Apart(known, own), dict[int, tuple[Expr, ...]]()
    bounds, facts = list[Interval](), dict[int, Analyzer]()
    guard: Cond | None = None
    with known.scope():
        if branch:
            guard = apart.condition(reduce(lambda a, b: Cond("and", a, b), branch))
        for key in left:
            try:
                with known.scope():
                    known.assume(equal[key])
                    found = _case(block.layouts[key], results, Running(known, own, here.path))
                    values = [apart.expr(e) for e in found]
                    ends = [known.interval(e) for e in values]
                    cases[key] = tuple(map(known.unsubstitute, values))
                    facts[key] = known.copy()
            except (AssumptionError, Impossible):
                continue
            bounds = [either(a, b) for a, b in zip(bounds or ends, ends, strict=True)]
            for condition in own.preconditions:
                trace.note(condition, [equal[key]])
            own.preconditions.clear()
    if not cases:
        raise LayoutError(f"{block!r}: there is no layout for the tag {known.unsubstitute(tag)!r}")
    trace.has_genp = trace.has_genp or own.has_genp
    if guard is not None:  # of a tag elsewhere, where nothing is known
        other = next(n for n in count() if n not in block.layouts)
        cases[other], facts[other] = (Expr.of(0),) * len(bounds), Analyzer(use_z3=False)
        bounds = [either(ends, (0, 0)) for ends in bounds]
    asked = [] if guard is None else [*guard.exprs()]
    read = {n for e in (*asked, *(e for case in cases.values() for e in case)) for n in e.symbols()}
    given = apart.given(read)
    switch = Switch(
        tuple(cases), tuple(".".join(block.labels.get(key, ())) for key in cases), tuple(given),
        tuple(cases.values()), tuple(bounds), ("tag", *_names(block, inverse)), guard,
        tuple(facts.values()),
    )  # fmt: skip
    found = [switched(switch, k, tag, *given.values()) for k in range(len(bounds))]
    trace.loops.add(switch.key)
    trace.states.setdefault(switch.key, []).extend(found)
    return found


def _case(layout: Any, results: Results, within: Running) -> list[Expr]:
    """The results of one layout, its own branches joined where they meet."""
    shared = None if within.path is None else within.path.shared
    paths = 0 if shared is None else shared.paths

    def run() -> tuple[Any, ...]:
        return tuple(results(within, layout))

    try:
        found = explore(run, within, joined=selected)
    except Unjoined:
        raise TraceError(f"{layout!r}: its branches give values that cannot be joined") from None
    finally:
        if shared is not None:
            shared.paths = paths
    return [within.analyzer.rebuilt(plain(Expr.of(e))) for e in found]


def _names(block: Choice, inverse: bool) -> list[str]:
    """What variables for the results are called."""
    if not inverse:
        return [*(block.results or ["position"])]
    return [f"chosen_{n}" for n in block.coordinates or index_names(len(block.dims), set())]
