"""What an application of a layout says of its sizes and of its indices.

Nothing else learns; what applies a layout reads what was learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import gcd
from typing import Any

from ..algebra.block import Block
from ..algebra.slices import place_of
from ..arith.cases import equal
from ..arith.divisors import nonzero
from ..arith.expr import Cond, Expr, group
from ..arith.facts import current
from ..arith.known import Range
from ..arith.rebuild import expand_groups, rebuild, unsubstitute
from ..arith.terms import Atom
from ..errors import IndexRangeError, LayoutError
from .paths import in_a_branch
from .trace import Trace, running


def size_of(n: Any) -> Expr:
    """A size as an Expr of one term under the facts in force."""
    if type(n) is int:
        return Expr.of(n)
    e = current().rebuilt(Expr.of(n))
    if len(e.terms) < 2:
        return e
    common = gcd(*e.terms.values())  # 16*(q + 1) is 16 times what q + 1 is elsewhere
    return common * group(
        Expr({m: c // common for m, c in e.terms.items()}), Expr.of(1), here=in_a_branch()
    )


def learn_layout(block: Block) -> None:
    """Sizes are at least 1; a floor quotient that is one, or a factor or term of one, divides, unless
    it is rounded up; the blocks' sizes agree."""
    if block.is_concrete:
        return
    trace = running()
    if trace is not None and trace.knows(block):
        return
    _learn_layout(block)
    if trace is not None:
        trace.learned(block)


def _learn_layout(block: Block) -> None:
    facts, trace = current(), running()
    for n in block.sizes():
        e = Expr.of(n)
        for name in sorted(e.symbols() | (facts.rebuilt(e).symbols() & facts.quotients.keys())):
            if name not in facts.substitutions:
                facts.learn_size(name)
                if name not in facts.quotients:
                    _parameter(name)
        for atom in sorted(_wholes(e), key=lambda a: a.key):
            if not (_rounds_up(e, atom) or _asks_for_rest(e, atom)):
                dividend, divisor = facts.rebuilt(atom.args[0]), facts.rebuilt(atom.args[1])
                _note_divides(divisor, dividend)
        value = facts.rebuilt(e)
        top = facts.interval(value)[1]
        if top is not None and top < 1:
            own = unsubstitute(value, facts)
            raise LayoutError(f"{block!r}: the size {own!r} is never positive")
        if value.constant is None and not facts.nonneg(value - 1):
            note(Cond("le", Expr.of(1), unsubstitute(value, facts)))
            if value.single is not None and value.single.kind == "sym":
                facts.learn_range(value.single.args[0], Expr.of(1), None)
    _learn_inequalities(block)
    for one, other in block.equations():
        key = tuple(tuple(Expr.of(n).identity for n in sizes) for sizes in (one, other))
        if trace is not None and key in trace.equal:
            note(trace.equal[key])
            continue
        a, b = product_of(one), product_of(other)
        gap = a - b
        gap = gap if (plain := expand_groups(gap)) is None else plain
        if not gap.terms:
            continue
        if facts.nonneg(gap - 1) or facts.nonneg(-gap - 1) or (condition := equal(a, b)) is False:
            raise LayoutError(
                f"{block!r}: the sizes do not multiply out: "
                f"{unsubstitute(a, facts)!r} is not {unsubstitute(b, facts)!r}"
            )
        if isinstance(condition, Cond):
            condition = condition.rebuild(lambda e: unsubstitute(e, facts))
            note(condition)
            if trace is not None and not in_a_branch():
                trace.equations[key] = a - b, condition


def learn_application(block: Block, values: Sequence[Expr]) -> None:
    """A layout is applied to indices."""
    learn_layout(block)
    for k, (value, n) in enumerate(zip(values, block.dims, strict=True)):
        learn_index(value, size_of(n), block, k)


def learn_inversion(block: Block, flat: Expr) -> None:
    """A layout is inverted at a position."""
    learn_layout(block)
    learn_index(flat, product_of(block.physical_dims), block, None)


def _learn_inequalities(block: Block) -> None:
    facts = current()
    for n, padded in block.inequalities():
        gap = size_of(padded) - size_of(n)
        if facts.nonneg(-gap - 1):
            raise LayoutError(f"{block!r}: n is {n!r}, always more than n_prime, {padded!r}")
        plain = expand_groups(gap)  # in which a size and its own quotient may meet
        if not facts.nonneg(gap) and not (plain is not None and facts.nonneg(plain)):
            a, b = (unsubstitute(size_of(x), facts) for x in (n, padded))
            note(Cond("le", a, b))


def learn_index(value: Expr, size: Expr, block: Block, axis: int | None) -> None:
    """0 <= value < size: a parameter has that range from now on; for what is not known to lie there
    a stand-in has it, and the header a precondition. axis: which index of the block, None for a
    position. Raises IndexRangeError where it provably lies outside."""
    facts, trace = current(), running()
    found = parameter_of(value)
    if found is not None and _counts_from_base(found[0]):
        return
    if found is not None and trace is not None:
        trace.placed.add(found[0])
    if size.constant == 1 and found is not None:
        name, shift = found
        if in_a_branch() and not (facts.nonneg(value) and facts.nonneg(-value)):
            note(_within(value, size))  # the range holds in this branch alone
        facts.learn_range(name, Expr.of(shift), Expr.of(shift))
        return
    if is_inside(value, size):
        return
    where = "the position" if axis is None else place_of(block, axis)
    if facts.nonneg(-value - 1) or facts.nonneg(value - size):
        raise IndexRangeError(
            f"{block!r}: {where} is {own(value)!r}, never in 0..{own(size - 1)!r}"
        )
    if found is not None:
        name, shift = found
        known = facts.ranges.get(name)
        if known is None or known.hi is None:
            within = _within(value, size)
            if in_a_branch():  # the range holds in this branch alone
                note(within)
            elif name in facts.substitutions and trace is not None:  # no range says it
                trace.sure.append(within)
                note(within)
            facts.learn_range(name, Expr.of(shift), size - 1 + shift)
            return
    within = _within(value, size)
    note(within)
    if trace is not None:
        trace.stand_ins[stand_in(value, size)] = value
        if not in_a_branch():
            trace.outside.append((value, size, within))
    facts.learn_range(stand_in(value, size).args[0], Expr.of(0), size - 1)


def learn_equations(trace: Trace) -> bool:
    """What the header demands of layouts' sizes, as max(n/b, 1)*min(n, b) == n, is known from here on;
    whether that is news. It is learned last, for it would decide the condition that says it."""
    news = trace.equations.keys() - trace.equal.keys()
    for key in [key for key in trace.equations if key in news]:
        gap, trace.equal[key] = trace.equations[key]
        trace.facts.constrain(gap)
        trace.facts.constrain(-gap)
    return bool(news)


def learn_signs(trace: Trace, result: Any) -> None:
    """Parameters of an unsigned type are not negative; one that divides, whatever branch is taken, is
    not 0 either."""
    facts = trace.facts
    for name in trace.params():
        if _has_no_lower_bound(name):
            facts.learn_range(name, Expr.of(0), None)
            trace.unsigned.add(name)
    facts.learn_ends()
    values = [*result.values()] if isinstance(result, Mapping) else result
    values = values if isinstance(values, tuple | list) else [values]
    for divisor, branch in nonzero((v for v in values if isinstance(v, Expr)), facts):
        single = divisor.single
        if not branch and single is not None and single.kind == "sym" and facts.nonneg(divisor):
            trace.unsigned.discard(single.args[0])
            facts.learn_range(single.args[0], Expr.of(1), None)


def learn_assumed(trace: Trace) -> None:
    """What the header assumes of indices that were not known to lie in their layout is known from
    here on, for signs and widths: no condition of the function's own is decided by it. A parameter
    i of i + 1, n - i or d - i has the range that follows, in place of the precondition where it says
    as much. Raises IndexRangeError where no value of a parameter has all its indices in their
    layouts."""
    facts, trace.narrowed = trace.facts, set()
    found = [(facts.rebuilt(v), facts.rebuilt(n), within) for v, n, within in trace.outside]
    for value, size, _ in (*found, *found):  # d of d - i may come before i
        _narrow(trace, value, size, trace.is_unsigned)
    said = {within.identity for value, size, within in found if is_inside(value, size)}
    trace.preconditions = [c for c in trace.preconditions if c.identity not in said]
    for value, size, _ in found:
        facts.constrain(value)
        facts.constrain(size - 1 - value)
    if trace.is_unsigned:
        learn_signs(trace, ())
        open_ = trace.unsigned - trace.narrowed
        lows = {n: facts.ranges[n].lo for n in open_ if n in facts.ranges}
        trace.unsigned = {n for n, lo in lows.items() if lo is not None and lo.constant == 0}


def _has_no_lower_bound(name: str) -> bool:
    """Whether nothing was said of what a parameter is at least."""
    facts = current()
    known = facts.ranges.get(name)
    said = name in facts.substitutions or (known is not None and known.lo is not None)
    return not said and facts.interval(facts.symbol(name))[0] is None


def _narrow(trace: Trace, value: Expr, size: Expr, unsigned: bool) -> None:
    """0 <= value < size: parameters without an upper bound lie where the others' bounds leave it."""
    facts = trace.facts
    end = facts.upper(size)
    for mono, sign in value.terms.items():
        name = mono[0].args[0] if len(mono) == 1 and mono[0].kind == "sym" else ""
        if end is None or abs(sign) != 1 or not _is_open(trace, name):
            continue
        rest = value - Expr({mono: sign})
        least, most = facts.lower(rest), facts.upper(rest)
        if least is None or most is None or name in rest.symbols():
            continue
        lo, hi = (-most, end - 1 - least) if sign > 0 else (least + 1 - end, most)
        if facts.reaches(lo, name) or facts.reaches(hi, name):
            continue
        if unsigned and facts.nonneg(-lo) and not facts.nonneg(-hi - 1):
            lo = Expr.of(0)
        known = facts.ranges.get(name, Range())
        for least, most in ((known.lo, hi), (lo, known.hi)):
            if least is not None and most is not None and facts.nonneg(least - most - 1):
                raise IndexRangeError(
                    f"the index {own(value)!r} is never in 0..{own(size - 1)!r} where the others of "
                    f"{name} are in their layouts"
                )
        higher = known.lo is None or facts.nonneg(lo - known.lo)
        lower = known.hi is None or facts.nonneg(known.hi - hi)
        facts.learn_range(name, lo if higher else None, hi if lower else None)
        trace.narrowed.add(name)


def _is_open(trace: Trace, name: str) -> bool:
    """Whether a symbol is a parameter of which no upper bound was said before."""
    if name not in trace.params() or name in trace.axes or current().is_size(name):
        return False
    known = current().ranges.get(name)
    return known is None or known.hi is None or name in trace.narrowed


def is_inside(value: Expr, size: Expr) -> bool:
    """Whether 0 <= value < size is known."""
    facts = current()
    return facts.nonneg(value) and facts.nonneg(size - value - 1)


def stand_in(value: Expr, size: Expr) -> Atom:
    """What takes the place of a value that is not known to lie in 0..size-1."""
    return Atom("sym", f"?{value.key}<{size.key}")


def _counts_from_base(name: str) -> bool:
    """Whether a parameter turns out to be an index, which counts from the trace's base in the
    next run."""
    trace = running()
    if trace is None or not trace.base or trace.named is not None:
        return False
    if name in trace.indices and name not in trace.turned:
        return False
    trace.indices.add(name)
    trace.turned.add(name)
    if trace.tape is not None:  # it counted from 0 in what the function did with it
        trace.tape.stale = True
    return True


def parameter_of(value: Expr) -> tuple[str, int] | None:
    """(name, base) of a value that is a parameter, counted from the trace's base."""
    trace = running()
    for shift in (0, trace.base if trace is not None else 0):
        single = (value + shift).single
        if (
            single is not None
            and single.kind == "sym"
            and single.args[0] not in current().quotients
        ):
            name = single.args[0]
            if shift == 0 or (trace is not None and name in trace.indices):
                return name, shift
    return None


def _within(value: Expr, size: Expr) -> Cond:
    """0 <= value < size in the user's own symbols."""
    value, size = own(value), own(size)
    below = Cond("lt", value, size)
    return below if value.constant else Cond("and", Cond("le", Expr.of(0), value), below)


def own(value: Expr) -> Expr:
    """An expression in the user's own symbols, without stand-ins."""
    trace = running()
    return unsubstitute(value if trace is None else trace.put_back(value), current())


def note(condition: Cond) -> None:
    """A precondition for the header of the function that is followed, if any is."""
    trace = running()
    if trace is not None:
        trace.note(condition)


def _parameter(name: str) -> None:
    """A symbol that the user made is a parameter too."""
    trace = running()
    if trace is not None and not name.startswith("?"):
        trace.add_parameter(name)


def _wholes(size: Expr) -> set[Atom]:
    """The quotients among a size's terms and factors, which it takes to be whole. One under max, min
    or a condition is a case among others, and may be rounded down."""
    found: set[Atom] = set()
    waiting = [size]
    while waiting:
        for atom in waiting.pop().atoms():
            if atom.kind == "group":
                waiting.append(atom.args[0])
            elif atom.kind == "fdiv" or (atom.kind == "digit" and atom.args[2] is None):
                found.add(atom)
                waiting += atom.args[:2]
    return found


def _note_divides(divisor: Expr, dividend: Expr) -> None:
    facts = current()
    if divisor.constant is not None and dividend.constant is not None:
        if divisor.constant and dividend.constant % divisor.constant:
            raise LayoutError(
                f"{divisor!r} does not divide {dividend!r}, and a size says that it does"
            )
        return
    if facts.nonneg(divisor - dividend - 1):
        return  # the quotient is 0, as in M // GM + K // GM with M < GM
    if not in_a_branch():
        facts.learn_divides(divisor, dividend)
    elif len(divisor.terms) == len(dividend.terms) == 1:  # elsewhere it need not divide
        if (rest := dividend % divisor).terms:
            note(Cond("eq", own(rest), Expr.of(0)))
        if facts.nonneg(dividend - 1) and facts.nonneg(divisor - 1):
            facts.constrain(dividend // divisor - 1)


def _rounds_up(size: Expr, quotient: Atom) -> bool:
    """Whether the size is a multiple of the quotient plus a positive number, as (n + b - 1) // b is
    where n is a number, or a symbol plus one."""
    least, next_one = (
        rebuild(size, lambda a, value=value: Expr.of(value) if a is quotient else None)
        for value in (0, 1)
    )
    step = next_one - least
    first = next(iter(step.terms.items()), None)
    if first is None:
        return False
    added, rest = divmod(least.terms.get(first[0], 0), first[1])
    return added > 0 and not rest and not (least - added * step).terms


def _asks_for_rest(size: Expr, quotient: Atom) -> bool:
    """Whether the size is made of what the quotient leaves, too, as n // b + (n % b != 0) is: of the
    remainder, written as such or as n - n // b * b, or of a condition on the quotient."""
    dividend, divisor = quotient.args[:2]
    inner = size.deep_atoms()
    rests = Atom("fmod", dividend, divisor), Atom("digit", dividend, Expr.of(1), divisor)
    if not inner.isdisjoint(rests):
        return True
    if any(
        quotient in c.deep_atoms() for a in inner if a.kind == "bool" for c in a.args[0].exprs()
    ):
        return True
    rest = (dividend - divisor * Expr.atom(quotient)).terms
    held = [(size.terms.get(mono, 0), count) for mono, count in rest.items()]
    if not held:  # the quotient is exact
        return False
    (first, one), *others = held
    return first != 0 and all(c * one == first * count for c, count in others)


def product_of(sizes: Sequence[Any]) -> Expr:
    """The product of sizes as an Expr, each of one term under the facts in force."""
    return reduce(lambda a, b: a * b, [size_of(n) for n in sizes], Expr.of(1))
