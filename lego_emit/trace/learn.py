"""What a layout says of its sizes and of its indices, learned before it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ..algebra.block import Block
from ..arith.expr import Cond, Expr, group
from ..arith.facts import current
from ..arith.rebuild import expand_groups, unsubstitute
from ..arith.terms import Atom
from ..errors import IndexRangeError, LayoutError
from .paths import in_a_branch
from .trace import running


def size_of(n: Any) -> Expr:
    """A size as an Expr of one term under the facts in force."""
    if type(n) is int:
        return Expr.of(n)
    e = current().rebuilt(Expr.of(n))
    return group(e, Expr.of(1), here=in_a_branch()) if len(e.terms) > 1 else e


def learn_layout(block: Block) -> None:
    """Sizes are at least 1; a floor quotient among them divides; the blocks' sizes agree."""
    if block.is_concrete:
        return
    trace = running()
    if trace is not None and trace.knows(block):
        return
    _learn_layout(block)
    if trace is not None:
        trace.learned(block)


def _learn_layout(block: Block) -> None:
    facts = current()
    for n in block.sizes():
        e = Expr.of(n)
        for name in sorted(e.symbols() | (facts.rebuilt(e).symbols() & facts.quotients.keys())):
            if name not in facts.substitutions:
                facts.learn_size(name)
                if name not in facts.quotients:
                    _parameter(name)
        for atom in sorted(e.deep_atoms(), key=lambda a: a.key):
            if atom.kind in ("digit", "fdiv") and (atom.kind == "fdiv" or atom.args[2] is None):
                dividend, divisor = facts.rebuilt(atom.args[0]), facts.rebuilt(atom.args[1])
                _note_divides(divisor, dividend)
        value = facts.rebuilt(e)
        top = facts.interval(value)[1]
        if top is not None and top < 1:
            raise LayoutError(f"{block!r}: the size {n!r} is never positive")
        if value.constant is None and not facts.nonneg(value - 1):
            note(Cond("le", Expr.of(1), unsubstitute(value, facts)))
            if value.single is not None and value.single.kind == "sym":
                facts.learn_range(value.single.args[0], Expr.of(1), None)
    _learn_inequalities(block)
    for one, other in block.equations():
        a, b = product_of(one), product_of(other)
        gap = a - b
        gap = gap if (plain := expand_groups(gap)) is None else plain
        if not gap.terms:
            continue
        if facts.nonneg(gap - 1) or facts.nonneg(-gap - 1):
            raise LayoutError(
                f"{block!r}: the sizes do not multiply out: "
                f"{unsubstitute(a, facts)!r} is not {unsubstitute(b, facts)!r}"
            )
        note(Cond("eq", unsubstitute(a, facts), unsubstitute(b, facts)))


def _learn_inequalities(block: Block) -> None:
    facts = current()
    for n, padded in block.inequalities():
        gap = size_of(padded) - size_of(n)
        if facts.nonneg(-gap - 1):
            raise LayoutError(f"{block!r}: n is {n!r}, always more than n_prime, {padded!r}")
        if not facts.nonneg(gap):
            a, b = (unsubstitute(size_of(x), facts) for x in (n, padded))
            note(Cond("le", a, b))


def in_range(value: Expr, size: Expr, block: Block, axis: int | None) -> tuple[Expr, Expr | None]:
    """(value, None) where 0 <= value < size is known; else a stand-in of that range and the value
    that takes its place afterwards, with a precondition."""
    facts = current()
    found = _index(value)
    if found is not None and _counts_from_base(found[0]):
        return value if size.constant != 1 else Expr.of(0), None
    if size.constant == 1 and found is not None:
        name, shift = found
        if in_a_branch() and not (facts.nonneg(value) and facts.nonneg(-value)):
            note(_within(value, size))  # the range holds in this branch alone
        facts.learn_range(name, Expr.of(shift), Expr.of(shift))
        return Expr.of(0), None
    inside_low, inside_high = facts.nonneg(value), facts.nonneg(size - value - 1)
    if inside_low and inside_high:
        return value, None
    where = "the position" if axis is None else f"index {axis}"
    if facts.nonneg(-value - 1) or facts.nonneg(value - size):
        raise IndexRangeError(
            f"{block!r}: {where} is {own(value)!r}, never in 0..{own(size - 1)!r}"
        )
    if found is not None:
        name, shift = found
        known = facts.ranges.get(name)
        if known is None or known.hi is None:
            if in_a_branch():  # the range holds in this branch alone
                note(_within(value, size))
            facts.learn_range(name, Expr.of(shift), size - 1 + shift)
            return value, None
    note(_within(value, size))
    stand_in = Atom("sym", f"?{value.key}<{size.key}")
    if (trace := running()) is not None:
        trace.stand_ins[stand_in] = value
    facts.learn_range(stand_in.args[0], Expr.of(0), size - 1)
    return Expr.atom(stand_in), value


def _counts_from_base(name: str) -> bool:
    """Whether a parameter turns out to be an index, which counts from the trace's base in the
    next run."""
    trace = running()
    if trace is None or not trace.base or (name in trace.indices and name not in trace.turned):
        return False
    trace.indices.add(name)
    trace.turned.add(name)
    return True


def _index(value: Expr) -> tuple[str, int] | None:
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
    return Cond("and", Cond("le", Expr.of(0), value), Cond("lt", value, size))


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


def _note_divides(divisor: Expr, dividend: Expr) -> None:
    facts = current()
    if divisor.constant is not None and dividend.constant is not None:
        if divisor.constant and dividend.constant % divisor.constant:
            raise LayoutError(
                f"{divisor!r} does not divide {dividend!r}, and a size says that it does"
            )
        return
    if facts.nonneg(divisor - dividend - 1):
        return  # the quotient is 0, as in max(M // GM, 1) with M < GM
    facts.learn_divides(divisor, dividend)


def product_of(sizes: Sequence[Any]) -> Expr:
    """The product of sizes as an Expr, each of one term under the facts in force."""
    return reduce(lambda a, b: a * b, [size_of(n) for n in sizes], Expr.of(1))
