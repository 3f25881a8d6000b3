"""ranges= as people write them: {"i": (0, "M")}, half-open, read into analyzer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import AssumptionError, LegoError, short_repr
from ..notation import is_name
from ..numeric import is_integer, is_sympy
from .analyzer import Analyzer
from .assume import parse_value
from .expr import Cond, Expr
from .facts import Cache, Facts, Range
from .formulas import is_symbol, says
from .given import GivenRange
from .terms import Atom


def parse_ranges(ranges: Any) -> list[GivenRange]:
    """ranges= as a list, in order. Raises AssumptionError for anything else."""
    if ranges is None:
        return []
    if not isinstance(ranges, Mapping):
        raise AssumptionError(
            f'ranges is {short_repr(ranges)}; write a dict such as {{"i": (0, "M")}}'
        )
    found: dict[str, GivenRange] = {}
    for key, given in ranges.items():
        name = _name(key)
        if name in found:
            raise AssumptionError(f"ranges has {name} twice")
        if isinstance(given, range) and given.step == 1:
            given = given.start, given.stop
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise AssumptionError(
                f"the range of {name} is {short_repr(given)}; write two bounds such as (0, 'M'), which "
                f"is 0 <= {name} < M; None leaves one open"
            )
        least, end = (_bound(name, b, upper) for upper, b in enumerate(given))
        if least is not None and end is not None and least.constant is not None:
            if end.constant is not None and end.constant <= least.constant:
                raise AssumptionError(
                    f"the range of {name} is empty: {least!r} <= {name} < {end!r}; the second bound "
                    f"is the first number above all that {name} may be"
                )
        found[name] = GivenRange(name, least, end)
    return [*found.values()]


def learn_ranges(
    analyzer: Analyzer, ranges: Iterable[GivenRange], sizes: Mapping[str, int]
) -> None:
    """Put ranges into what is known; sizes: symbols that are numbers. A symbol that ends a range from 0 on
    is a size: where there is an index, it is at least 1."""
    multiples: list[Expr] = []
    for given in ranges:
        least, end = (
            None if e is None else analyzer.rebuilt(analyzer.with_numbers(e, sizes))
            for e in (given.least, given.end)
        )
        high = None if end is None else end - 1
        if given.name in sizes:
            value = Expr.of(sizes[given.name])
            gaps = [value - e for e in (least,) if e is not None]
            gaps += [e - value for e in (high,) if e is not None]
            if any(gap.constant is not None and gap.constant < 0 for gap in gaps):
                raise AssumptionError(
                    f"sizes fixes {given.name} to {value!r}, outside of its range"
                )
            for gap in gaps:
                analyzer.learn_nonneg(gap)
            continue
        least, high = _beside_others(analyzer, given, least, high)
        analyzer.learn_range(given.name, least, high)
        size = None if end is None else end.single
        if least is not None and analyzer.nonneg(least) and size is not None and size.kind == "sym":
            analyzer.learn_size(size.args[0])
        elif size is not None and size.kind == "shl" and size.args[0].constant is not None:
            exponent = size.args[1].single  # of 2**n, which may be 0
            if exponent is not None and exponent.kind == "sym":
                analyzer.facts.sizes.add(exponent.args[0])
        elif least is not None and analyzer.nonneg(least) and given.end is not None:
            multiples.append(given.end)
    for end in multiples:
        _learn_multiple(analyzer, end)
    analyzer.learn_ends()


def _learn_multiple(analyzer: Analyzer, end: Expr) -> None:
    """A size that is known to be a multiple, as M is BM*(M//BM): what is multiplied is positive, where BM
    is."""
    name, made = end.single, analyzer.rebuilt(end)
    if name is None or name.kind != "sym" or len(made.terms) != 1:
        return
    (factors,) = made.terms
    if all(f.kind == "sym" for f in factors):
        if sum(not analyzer.nonneg(Expr.atom(f)) for f in factors) <= 1:
            for f in factors:
                analyzer.learn_size(f.args[0])


def _beside_others(
    analyzer: Analyzer, given: GivenRange, least: Expr | None, high: Expr | None
) -> tuple[Expr | None, Expr | None]:
    """The bounds that a range can have: a bound that leads back to the symbol is a constraint instead."""
    found, symbol = [least, high], analyzer.symbol(given.name)
    for at, bound in enumerate((least, high)):
        if bound is not None and analyzer.facts.reaches(bound, given.name):
            _give_way(given.name, analyzer.facts)
        if bound is not None and analyzer.facts.reaches(bound, given.name):
            gap = bound - symbol if at else symbol - bound
            if analyzer.nonneg(-gap - 1):
                relation = f"< {given.end!r}" if at else f">= {given.least!r}"
                raise AssumptionError(
                    f"the range of {given.name} contradicts what is known already: it is never {relation}"
                )
            analyzer.learn_nonneg(gap)
            found[at] = None
    return found[0], found[1]


def _give_way(name: str, facts: Facts) -> None:
    """Bounds of other symbols that lead to this one, and are constraints as well, become numbers: a bound
    of its own then leads back to it no more."""

    def is_needless(bound: Expr | None, gap: Callable[[Expr], Expr]) -> bool:
        if bound is None or not facts.reaches(bound, name):
            return False
        return any(k.same(gap(bound)) for k in facts.constraints)

    for other, known in facts.ranges.items():
        symbol = Expr.atom(Atom("sym", other))
        if other != name and is_needless(known.lo, lambda lo, s=symbol: s - lo):
            known.lo = None if known.least is None else Expr.of(known.least)
        if other != name and is_needless(known.hi, lambda hi, s=symbol: hi - s):
            known.hi = None if known.most is None else Expr.of(known.most)
    facts.cache = Cache()


def beside_ranges(given: GivenRange, known: Analyzer, sizes: Mapping[str, int]) -> list[Cond]:
    """What a given range says that no symbol's bounds do, but a constraint alone."""
    if not known.facts.constraints:
        return []
    symbol = Expr.atom(Atom("sym", given.name))
    said = [] if given.least is None else [Cond("le", given.least, symbol)]
    said += [] if given.end is None else [Cond("lt", symbol, given.end)]
    found = []
    for c in said:
        smaller, larger = (known.rebuilt(known.with_numbers(e, sizes)) for e in c.args)
        gap = larger - smaller - int(c.op == "lt")
        if any(k.same(gap) for k in known.facts.constraints):
            others = known.copy()
            facts = others.facts
            facts.constraints = [k for k in facts.constraints if not k.same(gap)]
            facts.ranges = {
                n: Range(r.lo, r.hi) for n, r in facts.ranges.items()
            }  # as they are said
            facts.cache = Cache()
            if not others.nonneg(gap):
                found.append(c)
    return found


def _name(key: Any) -> str:
    if isinstance(key, Expr):
        single = key.single
        name = single.args[0] if single is not None and single.kind == "sym" else None
    else:
        name = key.name if is_symbol(key) else key
    if isinstance(name, str) and is_name(name):
        return name
    raise AssumptionError(f"ranges has {short_repr(key)}, which is not a symbol's name")


def _bound(name: str, bound: Any, upper: int) -> Expr | None:
    if bound is None:
        return None
    try:
        if isinstance(bound, str):
            return parse_value(bound)
        if is_sympy(bound):
            open_end = "is_extended_positive" if upper else "is_extended_negative"
            if says(bound, "is_infinite") and says(bound, open_end):
                return None
            from .from_sympy import from_sympy

            return from_sympy(bound)
        if isinstance(bound, Expr) or is_integer(bound):
            return Expr.of(bound)
    except LegoError as error:
        raise AssumptionError(f"the range of {name}: {error}") from None
    raise AssumptionError(
        f"the range of {name}: {short_repr(bound)} is not a bound; write a number, a symbol, text such as "
        f"'M // BM', or None"
    )
