"""Layouts over symbolic indices and sizes: Figs. 4, 5 and 9 in terms of Expr.

Flattening is a sum of products, unflattening a chain of divmods; both stay in normal form, so that
what comes out is simplified already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any

from .bijection import positions
from .errors import IndexRangeError, LayoutError, shown
from .evaluate import Undefined, evaluate
from .expr import RECORDER, Atom, Cond, Expr, current, expand_groups, group, select, using
from .layout import ExpandBy, GenP, Layout, OrderBy, RegP
from .sizes import is_sympy
from .trace import alone, called, explore, in_a_branch, running

if TYPE_CHECKING:
    from .facts import Facts

SMALL_SIZES = (1, 2, 3, 5)
LARGER_SIZES = (9, 17, 33, 65, 129, 257, 1025)
CHECKED_POINTS = 1024  # of a GenP over symbolic sizes
SAMPLED = 6  # numbers for the sizes and the other symbols of a GenP that has such


def apply(block: Any, indices: Sequence[Any]) -> Any:
    """The physical position of symbolic indices (SymPy in, SymPy out)."""
    return _converted(lambda values: _apply_checked(block, values), block, indices)


def inv(block: Any, flat: Any) -> tuple:
    """The logical indices of a symbolic position."""
    return _converted(lambda values: _inv_checked(block, values[0]), block, [flat])


def getitem(layout: Any, indices: Sequence[Any]) -> Any:
    """layout[i, j, :, :]: every ':' becomes an axis of the running trace."""

    if any(isinstance(i, slice) for i in indices):
        trace = running()
        if trace is None:
            raise IndexRangeError(
                f"{layout!r}: ':' over a symbolic size works only inside a function given to generate()"
            )
        learn_layout(layout)
        indices = [
            trace.axis(_size(n)) if isinstance(i, slice) else i
            for i, n in zip(indices, layout.dims, strict=True)
        ]
    return apply(layout, indices)


def _converted(compute, block, values):
    """Run compute under the facts in force, or under facts of the layout's own; in SymPy terms
    where the caller's symbols are SymPy's."""

    used_sympy = any(map(is_sympy, (*values, *block._sizes())))
    exprs = [Expr.of(v) for v in values]
    if running() is not None:
        return compute(exprs)
    from .facts import Facts

    facts = Facts()
    with using(facts):
        for _ in range(3):
            before = len(facts.quotients)
            learn_layout(block)
            if len(facts.quotients) == before:
                break
        result = compute([rebuilt(e) for e in exprs])
        result = _map(result, lambda e: unsubstitute(e, facts))
    return _map(result, Expr.to_sympy) if used_sympy else result


def _map(value, change):
    return tuple(change(v) for v in value) if isinstance(value, tuple) else change(value)


def rebuilt(e: Expr) -> Expr:
    """e under the facts in force: substituted symbols, simplified atoms."""
    return current().rebuilt(e)


def unsubstitute(e: Expr, facts) -> Expr:
    """e in the user's own symbols: BM * (M//BM) is M again, a lone M//BM a division."""
    if not facts.quotients and not facts.substitutions:
        return e
    foldings = sorted(
        (
            (name, *next(iter(value.terms.items())))
            for name, value in facts.substitutions.items()
            if value.symbols() & facts.quotients.keys()
        ),
        key=lambda f: (-len(f[1]), f[0]),
    )
    memo: dict[Any, Any] = {}

    def fold(value):
        if isinstance(value, Cond):
            return value.rebuild(fold)
        if not isinstance(value, Expr):
            return value
        if value not in memo:
            terms: dict[tuple, int] = {}
            for mono, coefficient in value.terms.items():
                rest = list(mono)
                for name, target, c in foldings:
                    while coefficient % c == 0 and _contains(rest, target):
                        for a in target:
                            rest.remove(a)
                        coefficient //= c
                        rest.append(Atom("sym", name))
                made = tuple(sorted((fold_atom(a) for a in rest), key=lambda a: a.key))
                terms[made] = terms.get(made, 0) + coefficient
            memo[value] = Expr({m: c for m, c in terms.items() if c})
        return memo[value]

    def fold_atom(atom: Atom) -> Atom:
        if atom not in memo:
            if atom.kind == "sym" and atom.args[0] in facts.quotients:
                dividend, divisor = facts.quotients[atom.args[0]]
                memo[atom] = Atom("digit", fold(dividend), fold(divisor), None)
            else:
                memo[atom] = Atom(atom.kind, *(fold(a) for a in atom.args))
        return memo[atom]

    return fold(e)


def _contains(atoms: list[Atom], wanted: tuple[Atom, ...]) -> bool:
    return all(atoms.count(a) >= wanted.count(a) for a in wanted)


# -- what a layout says of its sizes -------------------------------------------------------------


def _size(n: Any) -> Expr:
    """A size as an Expr of one term under the facts in force."""
    if type(n) is int:
        return Expr.of(n)
    e = rebuilt(Expr.of(n))
    return group(e, Expr.of(1), here=in_a_branch()) if len(e.terms) > 1 else e


def learn_layout(block: Any) -> None:
    """Sizes are at least 1; a floor quotient among them divides; the blocks' sizes agree."""
    if block.is_concrete:
        return
    trace = running()
    if trace is not None and trace.knows(block):
        return
    _learn_layout(block)
    if trace is not None:
        trace.learned(block)


def _learn_layout(block: Any) -> None:
    facts = current()
    for n in block._sizes():
        e = Expr.of(n)
        for name in sorted(e.symbols() | (rebuilt(e).symbols() & facts.quotients.keys())):
            if name not in facts.substitutions:
                facts.learn_size(name)
                if name not in facts.quotients:
                    _parameter(name)
        for atom in sorted(e.deep_atoms(), key=lambda a: a.key):
            if atom.kind in ("digit", "fdiv") and (atom.kind == "fdiv" or atom.args[2] is None):
                dividend, divisor = rebuilt(atom.args[0]), rebuilt(atom.args[1])
                _note_divides(divisor, dividend)
        value = rebuilt(e)
        top = facts.interval(value)[1]
        if top is not None and top < 1:
            raise LayoutError(f"{block!r}: the size {n!r} is never positive")
        if value.constant is None and not facts.nonneg(value - 1):
            _note(f"{unsubstitute(value, facts)!r} >= 1")
            if value.single is not None and value.single.kind == "sym":
                facts.learn_range(value.single.args[0], Expr.of(1), None)
    if isinstance(block, ExpandBy):
        _learn_padding(block)
    for one, other in _size_equations(block):
        a, b = _product(one), _product(other)
        gap = a - b
        gap = gap if (plain := expand_groups(gap)) is None else plain
        if not gap.terms:
            continue
        if facts.nonneg(gap - 1) or facts.nonneg(-gap - 1):
            raise LayoutError(
                f"{block!r}: the sizes do not multiply out: "
                f"{unsubstitute(a, facts)!r} is not {unsubstitute(b, facts)!r}"
            )
        _note(f"{unsubstitute(a, facts)!r} == {unsubstitute(b, facts)!r}")


def _learn_padding(block: ExpandBy) -> None:
    facts = current()
    for n, padded in zip(block.n, block.n_prime, strict=True):
        gap = _size(padded) - _size(n)
        if facts.nonneg(-gap - 1):
            raise LayoutError(f"{block!r}: n is {n!r}, always more than n_prime, {padded!r}")
        if not facts.nonneg(gap):
            _note(f"{unsubstitute(_size(n), facts)!r} <= {unsubstitute(_size(padded), facts)!r}")


def _said(value: Expr) -> str:
    """An expression as a header says it: in the user's own symbols, without stand-ins."""
    trace = running()
    if trace is not None:
        value = trace.put_back(value)
    return repr(unsubstitute(value, current()))


def _note(text: str) -> None:

    trace = running()
    if trace is not None:
        trace.note(text)


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


def _product(sizes: Sequence[Any]) -> Expr:
    return reduce(lambda a, b: a * b, [_size(n) for n in sizes], Expr.of(1))


def _size_equations(block: Any) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    if isinstance(block, Layout):
        return [(block.dims, o.dims) for o in block.chain]
    if isinstance(block, ExpandBy):
        return [*_size_equations(block.layout), (block.n_prime, block.layout.dims)]
    return []


# -- evaluation ----------------------------------------------------------------------------------


def _apply_checked(block: Any, values: list[Expr]) -> Expr:
    learn_layout(block)
    if (recorder := RECORDER.get()) is not None:
        recorder.applied(block, values, inverse=False)
    sizes = [_size(n) for n in block.dims]
    bounded = [
        _in_range(v, n, block, k) for k, (v, n) in enumerate(zip(values, sizes, strict=True))
    ]
    result = _apply(block, [b for b, _ in bounded])
    return _put_back(result, bounded)


def _inv_checked(block: Any, flat: Expr) -> tuple[Expr, ...]:
    learn_layout(block)
    if (recorder := RECORDER.get()) is not None:
        recorder.applied(block, [flat], inverse=True)
    size = _product(block.n_prime if isinstance(block, ExpandBy) else block.dims)
    if isinstance(block, ExpandBy) and block.guard == "physical":
        size = _product(block.n)
    bounded = _in_range(flat, size, block, None)
    return tuple(_put_back(e, [bounded]) for e in _inv(block, bounded[0]))


def _in_range(value: Expr, size: Expr, block: Any, axis: int | None) -> tuple[Expr, Expr | None]:
    """(value, None) where 0 <= value < size is known; else a stand-in of that range and the value
    that takes its place afterwards, with a precondition."""
    facts = current()
    found = _index(value)
    if found is not None and _counts_from_base(found[0]):
        return value if size.constant != 1 else Expr.of(0), None
    if size.constant == 1 and found is not None:
        name, shift = found
        if in_a_branch() and not (facts.nonneg(value) and facts.nonneg(-value)):
            _note(f"0 <= {_said(value)} < 1")  # the range holds in this branch alone
        facts.learn_range(name, Expr.of(shift), Expr.of(shift))
        return Expr.of(0), None
    inside_low, inside_high = facts.nonneg(value), facts.nonneg(size - value - 1)
    if inside_low and inside_high:
        return value, None
    where = "the position" if axis is None else f"index {axis}"
    shown = _said(value)
    if facts.nonneg(-value - 1) or facts.nonneg(value - size):
        raise IndexRangeError(f"{block!r}: {where} is {shown}, never in 0..{_said(size - 1)}")
    if found is not None:
        name, shift = found
        known = facts.ranges.get(name)
        if known is None or known.hi is None:
            if in_a_branch():  # the range holds in this branch alone
                _note(f"0 <= {shown} < {_said(size)}")
            facts.learn_range(name, Expr.of(shift), size - 1 + shift)
            return value, None
    _note(f"0 <= {shown} < {_said(size)}")
    stand_in = Atom("sym", f"?{value.key}<{size.key}")
    if (trace := running()) is not None:
        trace.stand_ins[stand_in] = value
    facts.learn_range(stand_in.args[0], Expr.of(0), size - 1)
    if (recorder := RECORDER.get()) is not None:
        recorder.stands_in(stand_in.args[0], value)
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


def _put_back(e: Expr, bounded: list[tuple[Expr, Expr | None]]) -> Expr:
    replaced = {stand_in.single: value for stand_in, value in bounded if value is not None}
    return e.rebuild(replaced.get) if replaced else e


def _flatten(indices: Sequence[Expr], sizes: Sequence[Expr]) -> Expr:
    flat = Expr.of(0)
    for i, n in zip(indices, sizes, strict=True):
        flat = flat * n + i
    return flat


def _unflatten(flat: Expr, sizes: Sequence[Expr]) -> list[Expr]:
    digits: list[Expr] = []
    for n in reversed(sizes[1:]):
        flat, digit = divmod(flat, n)
        digits.insert(0, digit)
    return [flat, *digits]


def _apply(block: Any, indices: Sequence[Expr]) -> Expr:
    sizes = [_size(n) for n in block.dims]
    if isinstance(block, RegP):
        return _flatten([indices[k] for k in block.perm], [sizes[k] for k in block.perm])
    if isinstance(block, GenP):
        return _apply_function(block, indices, sizes)
    if isinstance(block, OrderBy):
        flat, start = Expr.of(0), 0
        for perm in block.perms:
            count = len(perm.dims)
            part = _apply(perm, indices[start : start + count])
            flat = flat * _product(perm.dims) + part
            start += count
        return flat
    if isinstance(block, ExpandBy):
        return _apply_expanded(block, indices)
    flat = _flatten(indices, sizes)
    for order in block.chain:
        flat = _kept(flat, sizes)
        flat = _apply(order, _unflatten(flat, [_size(n) for n in order.dims]))
    return flat


def _inv(block: Any, flat: Expr) -> list[Expr]:
    sizes = [_size(n) for n in block.dims]
    if isinstance(block, RegP):
        digits = _unflatten(flat, [sizes[k] for k in block.perm])
        result = [Expr.of(0)] * len(sizes)
        for k, digit in zip(block.perm, digits, strict=True):
            result[k] = digit
        return result
    if isinstance(block, GenP):
        return _inv_function(block, flat, sizes)
    if isinstance(block, OrderBy):
        parts: list[list[Expr]] = []
        for k, perm in reversed(list(enumerate(block.perms))):
            if k:
                flat, part = divmod(flat, _product(perm.dims))
            else:
                part = flat
            parts.insert(0, _inv(perm, part))
        return [i for part in parts for i in part]
    if isinstance(block, ExpandBy):
        return _inv_expanded(block, flat)
    for order in reversed(block.chain):
        inner = [_size(n) for n in order.dims]
        flat = _kept(_flatten(_inv(order, flat), inner), inner)
    return _unflatten(flat, sizes)


def _kept(flat: Expr, sizes: Sequence[Expr]) -> Expr:
    """A flat position about to be taken apart: as it is, or as one value where the trace says so
    (a form whose quotients share it can be smaller than one that looks into it)."""
    trace = running()
    if trace is None or not trace.keeps() or len(flat.terms) < 2:
        return flat
    size = reduce(lambda a, b: a * b, sizes, Expr.of(1))
    return group(flat, Expr.of(0), size - 1, in_a_branch())


# -- GenP ----------------------------------------------------------------------------------------


def _apply_function(block: GenP, indices: Sequence[Expr], sizes: Sequence[Expr]) -> Expr:

    result = Expr.of(explore(lambda: _called(block, "apply", *indices)))
    if block.inv_function is None:
        return result
    _check_small(block, sizes)
    return _bounded(result, _product(block.dims))


def _inv_function(block: GenP, flat: Expr, sizes: Sequence[Expr]) -> list[Expr]:

    result = explore(lambda: _called(block, "inv", flat))
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(values) != len(sizes):
        raise LayoutError(f"{block!r}: inv gives {len(values)} indices, not {len(sizes)}")
    _check_small(block, sizes)
    return [_bounded(Expr.of(v), n) for v, n in zip(values, sizes, strict=True)]


def _called(block: GenP, method: str, *values: Expr) -> Any:
    """One of the block's functions, called."""
    return called(getattr(block, f"{method}_function"), f"{method} of {block!r}", *values)


def _bounded(e: Expr, size: Expr) -> Expr:
    """e, which is known to be in 0..size-1 because the block is a bijection."""
    facts = current()
    if facts.nonneg(e) and facts.nonneg(size - 1 - e):
        return e
    return group(e, Expr.of(0), size - 1, in_a_branch())


_checked: set[tuple[str, ...]] = set()  # what passed: apply, inv and sizes


def _check_small(block: GenP, sizes: Sequence[Expr]) -> None:
    """A GenP over symbolic sizes: a bijection for small ones? (One whose sizes are numbers is
    checked when it is made.)"""
    if block.is_concrete:
        return
    from .facts import Facts

    facts = current()
    with using(Facts(use_z3=False)), alone():
        parameters = [Expr.atom(Atom("sym", f"?{k}")) for k in range(len(sizes))]
        flat = Expr.atom(Atom("sym", "?flat"))
        forward = Expr.of(explore(lambda: _called(block, "apply", *parameters)))
        back = explore(lambda: _called(block, "inv", flat))
        back = [Expr.of(v) for v in (back if isinstance(back, (tuple, list)) else [back])]
    key = tuple(e.key for e in (forward, *back, *sizes))
    used = forward.symbols().union(*(b.symbols() for b in back))
    names = sorted({name for n in sizes for name in n.symbols()})
    own = {"?flat", *(f"?{k}" for k in range(len(sizes)))}
    others = sorted(used - own.union(names))
    if key in _checked:
        return
    for values, dims in _sampled(facts, sizes, names, others) if others else _small(sizes, names):
        _check_table(block, dims, values, forward, back)
    if not others:
        _checked.add(key)


def _sampled(
    facts: Facts, sizes: Sequence[Expr], names: list[str], others: list[str]
) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Numbers that the facts allow for the symbols, and the sizes that they give."""
    for count, sample in enumerate(islice(facts.samples(), SAMPLED)):
        values = {}
        for name in (*names, *others):
            try:
                values[name] = sample.expr(facts.rebuilt(Expr.atom(Atom("sym", name))))
            except (Undefined, KeyError):  # nothing is known of it
                values[name] = count + 1
        try:
            dims = [evaluate(n, values) for n in sizes]
        except Undefined:
            continue
        if min(dims) >= 1:
            yield values, dims


def _small(sizes: Sequence[Expr], names: list[str]) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Small numbers for the symbols and the sizes that they give; larger ones where small ones
    give none."""
    found = False
    for value in (*SMALL_SIZES, *LARGER_SIZES):
        if found and (value not in SMALL_SIZES or not names):
            return
        values = {name: value + (k if value > 2 else 0) for k, name in enumerate(names)}
        try:
            dims = [evaluate(n, values) for n in sizes]
        except Undefined:
            continue
        if min(dims) >= 1:
            found = True
            yield values, dims


def _check_table(
    block: GenP,
    dims: Sequence[int],
    values: Mapping[str, int],
    forward: Expr,
    back: Sequence[Expr],
) -> None:
    total = reduce(lambda a, b: a * b, dims, 1)
    seen: dict[int, tuple[int, ...]] = {}
    where = f" for {', '.join(f'{k}={v}' for k, v in values.items())}" if values else ""
    for index in positions(tuple(dims), total, CHECKED_POINTS, CHECKED_POINTS // 4):
        point = {**values, **{f"?{k}": i for k, i in enumerate(index)}}
        try:
            flat = evaluate(forward, point)
            again = [evaluate(b, {**values, "?flat": flat}) for b in back]
        except Undefined:
            raise LayoutError(f"{block!r} is undefined at {list(index)}{where}") from None
        if not 0 <= flat < total:
            raise LayoutError(
                f"{block!r} is no bijection{where}: apply{index} is {shown(flat)}, outside 0..{total - 1}"
            )
        if seen.setdefault(flat, index) != index:
            raise LayoutError(
                f"{block!r} is no bijection{where}: {seen[flat]} and {index} both go to {flat}"
            )
        if tuple(again) != index:
            raise LayoutError(
                f"{block!r}{where}: inv({flat}) is {shown(tuple(again))}, but apply{index} is {flat}"
            )


# -- ExpandBy ------------------------------------------------------------------------------------


def _inside(indices: Sequence[Expr], sizes: Sequence[Expr]) -> Cond | bool:
    condition: Cond | bool = True
    for i, n in zip(indices, sizes, strict=True):
        test = i < n
        known = current().decide(test)
        if known is False:
            return False
        if known is None:
            condition = test if condition is True else condition & test
    return condition


def _untiled(block: ExpandBy, indices: Sequence[Expr]) -> list[Expr]:
    """The coordinates in the padded array of an index on the logical side."""
    layout = block.layout
    flat = _flatten(indices, [_size(n) for n in layout.dims])
    if layout.untiling is not None:
        order = layout.untiling
        flat = _apply(order, _unflatten(flat, [_size(n) for n in order.dims]))
    return _unflatten(flat, [_size(n) for n in block.n_prime])


def _apply_expanded(block: ExpandBy, indices: Sequence[Expr]) -> Expr:
    small = [_size(n) for n in block.n]
    flat = _apply(block.layout, indices)
    if block.guard == "logical":
        return select(_inside(_untiled(block, indices), small), flat, -1)
    digits = _unflatten(flat, [_size(n) for n in block.n_prime])
    return select(_inside(digits, small), _flatten(digits, small), -1)


def _inv_expanded(block: ExpandBy, flat: Expr) -> list[Expr]:
    small = [_size(n) for n in block.n]
    if block.guard == "logical":
        indices = _inv(block.layout, flat)
        inside = _inside(_untiled(block, indices), small)
        return [select(inside, i, -1) for i in indices]
    digits = _unflatten(flat, small)
    return _inv(block.layout, _flatten(digits, [_size(n) for n in block.n_prime]))
