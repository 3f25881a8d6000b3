"""What an application of a layout says of its sizes and of its indices.

Nothing else learns; what applies a layout reads what was learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from ..algebra.block import Block
from ..algebra.slices import place_of
from ..arith.analyzer import Analyzer
from ..arith.divisors import nonzero
from ..arith.expr import Cond, Expr, monomial_gcd, opaque
from ..arith.facts import Range
from ..arith.terms import Atom
from ..errors import IndexRangeError, LayoutError
from .paths import Running
from .trace import Trace


def size_of(n: Any, known: Analyzer) -> Expr:
    """A size as an Expr of one term under what is known."""
    if type(n) is int:
        return Expr.of(n)
    e = known.rebuilt(Expr.of(n))
    if len(e.terms) < 2:
        return e
    (first, *others) = e.terms.items()
    common = reduce(lambda g, term: monomial_gcd(g, *term), others, Expr(dict([first])))
    ((mono, c),) = common.terms.items()  # 16*b*q + 16*b is 16*b times what q + 1 is elsewhere
    common = Expr({tuple(filter(known.prover.bounds.is_positive, mono)): c})
    rest = opaque(known.simplifier.divide(e, common)[0], Expr.of(1), here=bool(known.facts.branch))
    return known.simplifier.times(common, rest)


def learn_layout(block: Block, here: Running) -> None:
    """Sizes are at least 1; a floor quotient that is one, or a factor or term of one, divides, unless
    it is rounded up; the blocks' sizes agree."""
    if block.is_concrete:
        return
    known = {} if here.trace is None else here.trace.layouts
    if id(block) not in known:
        _learn_layout(block, here)
        if (
            not here.analyzer.facts.branch
        ):  # they hold on every path, and nothing was wrong with them
            known[id(block)] = block


def _learn_layout(block: Block, here: Running) -> None:
    from ..arith.cases import equal
    from ..arith.wholes import whole_quotients

    known, trace = here.analyzer, here.trace
    facts = known.facts
    for n in block.sizes():
        e = Expr.of(n)
        for name in sorted(e.symbols() | (known.rebuilt(e).symbols() & facts.quotients.keys())):
            if name not in facts.substitutions:
                known.learn_size(name)
                if trace is not None and name not in facts.quotients and name[0] != "?":
                    trace.add_parameter(name)  # a symbol that the user made is one, too
        for quotient in whole_quotients(e, known):
            dividend, divisor = map(known.rebuilt, quotient.args[:2])
            _note_divides(divisor, dividend, here)
        value = known.rebuilt(e)
        top = known.interval(value)[1]
        if top is not None and top < 1:
            own = known.unsubstitute(value)
            raise LayoutError(f"{block!r}: the size {own!r} is never positive")
        if value.constant is None and not known.nonneg(value - 1):
            note(Cond("le", Expr.of(1), known.unsubstitute(value)), trace)
            if value.single is not None and value.single.kind == "sym":
                known.learn_range(value.single.args[0], Expr.of(1), None)
    if block.tags:
        from .tags import learn_tag

        for tag, keys in block.tags:
            learn_tag(tag, keys, here)
    _learn_inequalities(block, here)
    for one, other in block.equations():
        key = tuple(tuple(Expr.of(n).identity for n in sizes) for sizes in (one, other))
        if trace is not None and key in trace.known_equations:
            note(trace.known_equations[key], trace)
            continue
        a, b = product_of(one, known), product_of(other, known)
        gap = known.simplifier.subtract(a, b)
        gap = gap if (plain := known.simplifier.expand_opaque(gap)) is None else plain
        if not gap.terms:
            continue
        condition = None
        if not (known.nonneg(gap - 1) or known.nonneg(-gap - 1)):
            condition = equal(a, b, known)
        if condition is None or condition is False:
            raise LayoutError(
                f"{block!r}: the sizes do not multiply out: "
                f"{known.unsubstitute(a)!r} is not {known.unsubstitute(b)!r}"
            )
        if isinstance(condition, Cond):
            condition = condition.rebuild(known.unsubstitute)
            note(condition, trace)
            if trace is not None and not facts.branch:
                trace.new_equations[key] = a - b, condition


def learn_application(block: Block, values: Sequence[Expr], here: Running) -> None:
    """A layout is applied to indices."""
    learn_layout(block, here)
    for k, (value, n) in enumerate(zip(values, block.dims, strict=True)):
        _learn_index(value, size_of(n, here.analyzer), (block, k), here)


def learn_inversion(block: Block, flat: Expr, here: Running) -> None:
    """A layout is inverted at a position."""
    learn_layout(block, here)
    _learn_index(flat, product_of(block.physical_dims, here.analyzer), (block, None), here)


def _learn_inequalities(block: Block, here: Running) -> None:
    known = here.analyzer
    for n, padded in block.inequalities():
        gap = known.simplifier.subtract(size_of(padded, known), size_of(n, known))
        if known.nonneg(-gap - 1):
            raise LayoutError(f"{block!r}: n is {n!r}, always more than n_prime, {padded!r}")
        plain = known.simplifier.expand_opaque(gap)  # in which a size and its own quotient may meet
        if not known.nonneg(gap) and not (plain is not None and known.nonneg(plain)):
            a, b = (known.unsubstitute(size_of(x, known)) for x in (n, padded))
            note(Cond("le", a, b), here.trace)


def _learn_index(value: Expr, size: Expr, of: tuple[Block, int | None], here: Running) -> None:
    """0 <= value < size: a parameter has that range from now on; for what is not known to lie there
    a stand-in has it, and the header a precondition. of: the block and which index of it, None for a
    position. Raises IndexRangeError where it provably lies outside."""
    known, trace = here.analyzer, here.trace
    found = parameter_of(value, here)
    if found is not None and _counts_from_base(found[0], trace):
        return
    if found is not None and trace is not None:
        trace.placed.add(found[0])
    if size.constant == 1 and found is not None:
        name, shift = found
        if known.facts.branch and not (known.nonneg(value) and known.nonneg(-value)):
            note(_within(value, size, here), trace)  # the range holds in this branch alone
        known.learn_range(name, Expr.of(shift), Expr.of(shift))
        return
    if is_inside(value, size, known):
        return
    if known.nonneg(-value - 1) or known.nonneg(value - size):
        block, axis = of
        where = "the position" if axis is None else place_of(block, axis)
        raise IndexRangeError(
            f"{block!r}: {where} is {_own(value, here)!r}, never in 0..{_own(size - 1, here)!r}"
        )
    if found is not None:
        name, shift = found
        bounds = known.facts.ranges.get(name)
        if bounds is None or bounds.hi is None:
            within = _within(value, size, here)
            if known.facts.branch:  # the range holds in this branch alone
                note(within, trace)
            elif name in known.facts.substitutions and trace is not None:  # no range says it
                trace.assumed_preconditions.append(within)
                note(within, trace)
            known.learn_range(name, Expr.of(shift), size - 1 + shift)
            return
    within = _within(value, size, here)
    note(within, trace)
    if trace is not None:
        trace.stand_ins[stand_in(value, size)] = value
        if not known.facts.branch:
            trace.outside.append((value, size, within))
    known.learn_range(stand_in(value, size).args[0], Expr.of(0), size - 1)


def learn_equations(trace: Trace) -> bool:
    """What the header demands of layouts' sizes, as max(n/b, 1)*min(n, b) == n, is known from here on;
    whether that is news. It is learned last, for it would decide the condition that says it."""
    news = trace.new_equations.keys() - trace.known_equations.keys()
    for key in [key for key in trace.new_equations if key in news]:
        gap, trace.known_equations[key] = trace.new_equations[key]
        trace.analyzer.constrain(gap)
        trace.analyzer.constrain(-gap)
    return bool(news)


def learn_signs(trace: Trace, result: Any) -> None:
    """Parameters of an unsigned type are not negative; one that divides, whatever branch is taken, is
    not 0 either."""
    known = trace.analyzer
    for name in trace.params():
        if _has_no_lower_bound(name, known):
            known.learn_range(name, Expr.of(0), None)
            trace.unsigned.add(name)
        else:
            known.learn_unsigned(name)
    known.learn_ends()
    learn_divisors(trace, result)


def learn_divisors(trace: Trace, result: Any) -> None:
    """A parameter that is not negative and divides, whatever branch is taken, is not 0 either."""
    known = trace.analyzer
    values = [*result.values()] if isinstance(result, Mapping) else result
    values = values if isinstance(values, tuple | list) else [values]
    for divisor, branch in nonzero((v for v in values if isinstance(v, Expr)), known):
        single = divisor.single
        if not branch and single is not None and single.kind == "sym" and known.nonneg(divisor):
            trace.unsigned.discard(single.args[0])
            known.learn_range(single.args[0], Expr.of(1), None)


def learn_assumed(trace: Trace) -> None:
    """What the header assumes of indices that were not known to lie in their layout is known from
    here on, for signs and widths: no condition of the function's own is decided by it. A parameter
    i of i + 1, n - i or d - i has the range that follows, in place of the precondition where it says
    as much. Raises IndexRangeError where no value of a parameter has all its indices in their
    layouts."""
    known, trace.narrowed = trace.analyzer, set()
    found = [(known.rebuilt(v), known.rebuilt(n), within) for v, n, within in trace.outside]
    for value, size, _ in (*found, *found):  # d of d - i may come before i
        _narrow(trace, value, size, trace.is_unsigned)
    said = {within.identity for value, size, within in found if is_inside(value, size, known)}
    trace.preconditions = [c for c in trace.preconditions if c.identity not in said]
    for value, size, _ in found:
        known.constrain(value)
        known.constrain(size - 1 - value)
    if trace.is_unsigned:
        learn_signs(trace, ())
        open_ = trace.unsigned - trace.narrowed
        ranges = known.facts.ranges
        lows = {n: ranges[n].lo for n in open_ if n in ranges}
        trace.unsigned = {n for n, lo in lows.items() if lo is not None and lo.constant == 0}


def _has_no_lower_bound(name: str, known: Analyzer) -> bool:
    """Whether nothing was said of what a parameter is at least."""
    bounds = known.facts.ranges.get(name)
    said = name in known.facts.substitutions or (bounds is not None and bounds.lo is not None)
    return not said and known.interval(known.symbol(name))[0] is None


def _narrow(trace: Trace, value: Expr, size: Expr, unsigned: bool) -> None:
    """0 <= value < size: parameters without an upper bound lie where the others' bounds leave it."""
    known, facts = trace.analyzer, trace.analyzer.facts
    end = known.prover.proofs.upper(size)
    for mono, sign in value.terms.items():
        name = mono[0].args[0] if len(mono) == 1 and mono[0].kind == "sym" else ""
        if end is None or abs(sign) != 1 or not _is_open(trace, name):
            continue
        rest = value - Expr({mono: sign})
        least, most = known.prover.proofs.lower(rest), known.prover.proofs.upper(rest)
        if least is None or most is None or name in rest.symbols():
            continue
        lo, hi = (-most, end - 1 - least) if sign > 0 else (least + 1 - end, most)
        if facts.reaches(lo, name) or facts.reaches(hi, name):
            continue
        if unsigned and known.nonneg(-lo) and not known.nonneg(-hi - 1):
            lo = Expr.of(0)
        bounds = facts.ranges.get(name, Range())
        for least, most in ((bounds.lo, hi), (lo, bounds.hi)):
            if least is not None and most is not None and known.nonneg(least - most - 1):
                here = trace.running()
                raise IndexRangeError(
                    f"the index {_own(value, here)!r} is never in 0..{_own(size - 1, here)!r} where the "
                    f"others of {name} are in their layouts"
                )
        higher = bounds.lo is None or known.nonneg(lo - bounds.lo)
        lower = bounds.hi is None or known.nonneg(bounds.hi - hi)
        known.learn_range(name, lo if higher else None, hi if lower else None)
        trace.narrowed.add(name)


def _is_open(trace: Trace, name: str) -> bool:
    """Whether a symbol is a parameter of which no upper bound was said before."""
    if name not in trace.params() or name in trace.axes or trace.analyzer.facts.is_size(name):
        return False
    known = trace.analyzer.facts.ranges.get(name)
    return known is None or known.hi is None or name in trace.narrowed


def is_inside(value: Expr, size: Expr, known: Analyzer) -> bool:
    """Whether 0 <= value < size is known."""
    return known.nonneg(value) and known.nonneg(size - value - 1)


def stand_in(value: Expr, size: Expr) -> Atom:
    """What takes the place of a value that is not known to lie in 0..size-1."""
    return Atom("sym", f"?{value.key}<{size.key}")


def _counts_from_base(name: str, trace: Trace | None) -> bool:
    """Whether a parameter turns out to be an index, which counts from the trace's base in the
    next run."""
    if trace is None or not trace.base or trace.named is not None:
        return False
    if name in trace.indices and name not in trace.turned:
        return False
    trace.indices.add(name)
    trace.turned.add(name)
    if trace.tape is not None:  # it counted from 0 in what the function did with it
        trace.tape.stale = True
    return True


def parameter_of(value: Expr, here: Running) -> tuple[str, int] | None:
    """(name, base) of a value that is a parameter, counted from the trace's base."""
    trace = here.trace
    for shift in (0, trace.base if trace is not None else 0):
        single = (value + shift).single
        if (
            single is not None
            and single.kind == "sym"
            and single.args[0] not in here.analyzer.facts.quotients
        ):
            name = single.args[0]
            if shift == 0 or (trace is not None and name in trace.indices):
                return name, shift
    return None


def _within(value: Expr, size: Expr, here: Running) -> Cond:
    """0 <= value < size in the user's own symbols."""
    value, size = _own(value, here), _own(size, here)
    below = Cond("lt", value, size)
    return below if value.constant else Cond("and", Cond("le", Expr.of(0), value), below)


def _own(value: Expr, here: Running) -> Expr:
    """An expression in the user's own symbols, without stand-ins."""
    trace = here.trace
    return here.analyzer.unsubstitute(value if trace is None else trace.put_back(value))


def note(condition: Cond, trace: Trace | None) -> None:
    """A precondition for the header of the function that is followed, if any is."""
    if trace is not None:
        trace.note(condition)


def _note_divides(divisor: Expr, dividend: Expr, here: Running) -> None:
    known = here.analyzer
    if divisor.constant is not None and dividend.constant is not None:
        if divisor.constant and dividend.constant % divisor.constant:
            raise LayoutError(
                f"{divisor!r} does not divide {dividend!r}, and a size says that it does"
            )
        return
    if known.nonneg(divisor - dividend - 1):
        return  # the quotient is 0, as in M // GM + K // GM with M < GM
    if not known.facts.branch:
        known.learn_divides(divisor, dividend)
    elif len(divisor.terms) == len(dividend.terms) == 1:  # elsewhere it need not divide
        quotient, rest = known.simplifier.divmod(dividend, divisor)
        if rest.terms:
            note(Cond("eq", _own(rest, here), Expr.of(0)), here.trace)
        if known.nonneg(dividend - 1) and known.nonneg(divisor - 1):
            known.constrain(quotient - 1)


def product_of(sizes: Sequence[Any], known: Analyzer) -> Expr:
    """The product of sizes as an Expr, each of one term under what is known."""
    return reduce(known.simplifier.multiply, [size_of(n, known) for n in sizes], Expr.of(1))
