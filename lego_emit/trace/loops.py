"""Loops of a run-time number of rounds: fori_loop.

A loop of a function that is followed is one step of its tape. Its body is gone through with symbols for
the round's number and the state, its branches joined where they meet, and what it gives is one Loop
(arith/loops.py, looping.py). What bounds the states is found in three ways. Without being told, intervals: those
of the first state, of what the body makes of them, of what it makes of those, for as many rounds as there are at
most; and the range of the parameter that a state is at first, where that is proven to stay. And by what
`invariant` says, which holds before the first round and, where it holds before one, behind it.

    >>> from lego_emit import fori_loop, generate
    >>> count = lambda n, i: fori_loop(0, n, lambda k, s: s + (i >> k & 1), 0)
    >>> unit = generate(count, "c", name="count", ranges={"n": (0, 9), "i": (0, 256)})
    >>> unit.functions[0].result_range
    '0 <= the result < 9'
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise, takewhile
from types import CellType, CodeType, FunctionType
from typing import Any

from ..arith.expr import Expr, select
from ..errors import LONGEST, TraceError, a_type, short_repr
from ..numeric import as_integer
from .looping import MOST, Spec, followed, too_many
from .trace import running_trace, step

CALL = "fori_loop(lower, upper, body, init)"


def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[[Any, Any], Any],
    init: Any,
    most: int = 32,
    *,
    while_: Callable[[Any, Any], Any] | None = None,
    invariant: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """The state that body(k, state) -> state leaves after k = lower, lower + 1, .., upper - 1, as JAX's has it.

    init: the first state: an integer, or a tuple or a NamedTuple of integers; body returns one of the same
    shape. most: how many rounds there are at most, up to 4096: where upper - lower is not known to be
    that small, it becomes a precondition. while_(k, state): a round is begun only where it holds; the
    loop ends where it does not. invariant(k, state): conditions, one or a list, that hold before each round
    and behind the last one; they are proven, and bound the state.

    On integers it runs. On symbols the body is followed once, and a loop is emitted; what it reads from
    outside stays what it is in all rounds.

    >>> from lego_emit import fori_loop
    >>> fori_loop(0, 5, lambda k, total: total + k, 0)
    10

    Raises TraceError for a state of another shape, an invariant that is not proven, and more rounds than
    most on integers.
    """
    return _looped(_spec(body, while_, invariant, most, init), lower, upper, init)


def filled(
    lower: Any,
    upper: Any,
    body: Callable[[Any, Any], tuple[Any, Any, Any]],
    init: int,
    count: int,
    names: tuple[str, str, str, str] = ("k", "rest", "place", "value"),
) -> tuple[Any, ...]:
    """The elements of an array of which each round of a loop writes one, 0 where none does.

    body(k, state) gives the next state, and the place and the value of an element; count: how many elements there
    are at most, and rounds; names: what the round's number, the state, the place and the value are called. What is
    emitted has one statement that writes an element. On integers it runs.
    """

    def step(k: Any, state: Any) -> tuple[Any, ...]:
        after, place, value = body(k, state[0])
        index = [_put(place, j, value, one) for j, one in enumerate(state[3:])]
        return after, place, value, *index

    first = (init, *[0] * (2 + count))
    spec = _spec(step, None, None, count, first)
    elements = [f"{names[3]}{j}" for j in range(count)]
    spec = replace(spec, names=(*names, *elements), fills=count)
    return _looped(spec, lower, upper, first)[3:]


def _put(place: Any, own: int, value: Any, before: Any) -> Any:
    """An element behind a round that writes a value at a place."""
    if isinstance(place, int):
        return value if place == own else before
    return select(place == own, value, before)


def _looped(spec: Spec, lower: Any, upper: Any, init: Any) -> Any:
    first = [init] if spec.tuple is None else [*init]
    trace = running_trace()
    ends = [as_integer(lower), as_integer(upper)]
    if trace is None and None not in ends:
        return _run(spec, ends, first)
    if trace is None:
        for bound in (lower, upper):
            if as_integer(bound) is None and not isinstance(bound, Expr):
                raise TraceError(
                    f"fori_loop: a bound is {short_repr(bound)}, {a_type(bound)}; give an integer, or a symbol in a "
                    "function that generate() is given"
                )
        raise TraceError("fori_loop: its bounds are symbols, and no function is followed")
    if trace.words is not None:
        raise TraceError(
            "fori_loop: there is no loop whose arithmetic wraps yet; leave wrapping= out"
        )
    held: dict[int, Any] = {}
    own = {name: getattr(spec, name) for name in ("body", "going", "invariant")}
    spec = replace(spec, **{name: _as_it_is(f, held) for name, f in own.items()})
    found = step(followed, spec, lower, upper, *first)
    return spec.state(found)


def _as_it_is(fn: Any, held: dict[int, Any]) -> Any:
    """A function that reads the variables around it as they are now: it is followed again when they may have
    changed. held: those that were made, by identity."""
    if not isinstance(fn, FunctionType) or not fn.__closure__ or id(fn) in held:
        return held.get(id(fn), fn)
    cells = tuple(CellType() for _ in fn.__closure__)
    made = FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, cells)
    made.__kwdefaults__, held[id(fn)] = fn.__kwdefaults__, made
    for cell, own in zip(cells, fn.__closure__, strict=True):
        try:
            cell.cell_contents = _as_it_is(own.cell_contents, held)
        except ValueError:  # it has no value yet
            pass
    return made


def _run(spec: Spec, ends: Sequence[Any], first: Sequence[Any]) -> Any:
    lower, upper = ends
    if upper - lower > spec.most:
        raise too_many(f"{upper - lower} rounds", upper - lower, spec.most)
    state = spec.state(first)
    for k in range(lower, upper):
        if spec.going is not None and not spec.going(k, state):
            break
        parts = spec.parts(spec.body(k, state))
        if any(isinstance(v, int) and v.bit_length() > LONGEST for v in parts):
            raise TraceError(
                f"fori_loop: after {k - lower + 1} rounds a state has more than {LONGEST} bits, which no type holds"
            )
        state = spec.state(parts)
    return state


def _spec(body: Any, going: Any, invariant: Any, most: Any, init: Any) -> Spec:
    for name, value in (("body", body), ("while_", going), ("invariant", invariant)):
        if not callable(value) and (value is not None or name == "body"):
            raise TraceError(f"fori_loop: {name} is {short_repr(value)}, not a function: {CALL}")
    number = None if isinstance(most, bool) else as_integer(most)
    if number is None or not 1 <= number <= MOST:
        raise TraceError(
            f"fori_loop: most is {short_repr(most)}; give the number of rounds at most, from 1 to {MOST}"
        )
    counter, state, unpacked = _names(body)
    if isinstance(init, tuple | list):
        if not init:
            raise TraceError("fori_loop: init is empty; a state has at least one integer")
        make = getattr(type(init), "_make", type(init))
        named = (
            unpacked if len(unpacked) == len(init) else [f"{state}{k}" for k in range(len(init))]
        )
        parts = getattr(init, "_fields", None) or named
        made = partial(make)
    else:
        parts, made, init = [state], None, [init]
    for name, value in zip(parts, init, strict=True):
        if not isinstance(value, Expr) and as_integer(value) is None:
            raise TraceError(
                f"fori_loop: init has {a_type(value)} for {name}; give an integer, or a tuple or a NamedTuple "
                "of integers"
            )
    return Spec(body, going, invariant, number, made, (counter, *parts))


def _names(body: Callable[..., Any]) -> tuple[str, str, list[str]]:
    """What a body calls the round's number, the state, and its parts where it takes it apart."""
    if isinstance(body, FunctionType) and not hasattr(body, "__wrapped__"):
        code = body.__code__
        return _names_in(code.co_varnames[: code.co_argcount], code)
    try:
        names = [
            p.name
            for p in inspect.signature(body).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        names = []
    return _names_in(tuple(names), getattr(body, "__code__", None))


@lru_cache(maxsize=256)  # on integers a loop is run for each point
def _names_in(names: tuple[str, ...], code: CodeType | None) -> tuple[str, str, list[str]]:
    counter, state = names[:2] if len(names) >= 2 else ("k", "state")
    steps = [*dis.get_instructions(code)] if code is not None else []
    found = list[str]()
    for one, other in pairwise(steps):  # x, y = state
        if one.argval == state and other.opname == "UNPACK_SEQUENCE":
            after = steps[steps.index(other) + 1 :]
            found = [s.argval for s in takewhile(lambda s: s.opname == "STORE_FAST", after)]
            break
    return counter.strip("_") or "k", state.strip("_") or "state", found
