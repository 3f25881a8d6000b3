"""generate(): a function or a layout in, a complete file out. The whole way is build_program()."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .algebra.block import Block
from .arith.assume import parse
from .arith.expr import Cond
from .arith.terms import TOO_DEEP
from .emit import registry
from .emit.printer import Printer
from .emitted import Emitted, emit_program
from .errors import LegoWarning, TargetError, TraceError, nearest, shown
from .ir.cost import Cost, cost_model
from .ir.program import INDEX_TYPES, Program
from .ir.relations import reworded
from .kinds import is_integer
from .lower.function import lowered
from .lower.problem import Problem
from .lower.propose import is_aligned
from .trace.subject import Traced, followed


def generate(
    fn_or_layout: Callable[..., Any] | Block,
    target: str,
    *,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    assume: Sequence[Any] = (),
    index_type: str = "auto",
    base: int = 0,
    cost: str | Cost | None = None,
    strict: bool = False,
) -> Emitted:
    """The index functions of a layout as a complete file of the target language.

    fn_or_layout: a function of sizes and indices that returns one index, a tuple or dict of
        indices, or a layout; or a layout (sizes may be `symbols`). The function is called with
        symbols; names that it uses and nobody defined become parameters, after those of the
        signature, in the order of first use; each ':' in an index adds one more. A layout gives
        NAME_apply and, where it exists, NAME_inv.
    target: cuda, cpp, rust, fortran, julia, glsl, javascript, or an installed plug-in's name.
    name: of the unit and its functions; default: the function's name, "layout" for a layout.
    sizes: parameters that are fixed to numbers, as {"BM": 32}.
    assume: relations between the symbols, as text or SymPy relations: "M % BM == 0".
    index_type: auto, int32, int64, uint32 or uint64. auto takes 32 bits where every intermediate
        value provably fits, else 64; what a size without a bound leaves open becomes a
        precondition in `assumptions`.
    base: 0, or 1 for indices and positions that count from 1 (arguments and results; sizes stay,
        and a masked position is 0 then).
    cost: what chooses between equal forms: "latency" (the default of most targets), "ops" (the
        fewest operations), or a Cost.
    strict: refuse what may not be meant and is only warned of else (LegoWarning): a name that nobody
        defined, and a variable of the module, not in capitals, that is taken as an index.

    Raises LegoError (its subclasses say what): an impossible layout, an index provably out of
    range, an unknown target, a value that provably does not fit.
    """
    printer = registry.printer(target)
    if isinstance(assume, Iterable) and not isinstance(assume, (str, Cond)):
        assume = [*assume]
    program = build_program(fn_or_layout, printer, name, sizes, assume, index_type, base, cost)
    if program.doubts and strict:
        raise TraceError("; ".join(program.doubts))
    for text in program.doubts:
        warnings.warn(text, LegoWarning, stacklevel=2)
    return emit_program(program, target, subject=fn_or_layout, sizes=sizes)


def build_program(
    fn_or_layout: Any,
    printer: Printer,
    name: str | None = None,
    sizes: Mapping[str, int] | None = None,
    assume: Sequence[Any] = (),
    index_type: str = "auto",
    base: int = 0,
    cost: str | Cost | None = None,
) -> Program:
    """The lowered program that a printer spells."""
    if not is_integer(base) or base not in (0, 1):
        raise TargetError(f"base is {shown(base)}; indices count from 0 or from 1")
    lists = isinstance(assume, Iterable) and not isinstance(assume, (str, Cond))
    assume = [*assume] if lists else [assume]
    types, model = _candidates(index_type, printer), cost_model(cost, printer.cost)
    spelled = model, printer.bit_operations, printer.lazy_select
    subject = followed(fn_or_layout, name, sizes, assume, base)
    try:
        functions = [lowered(_problem(f, assume), types, *spelled) for f in subject.functions]
    except RecursionError:
        raise TraceError(f"{subject.unit}: {TOO_DEEP}") from None
    program = Program(subject.unit, tuple(functions), subject.title, subject.doubts())
    program.check()
    return program


def _problem(traced: Traced, assume: Iterable[Any]) -> Problem:
    """What is to be lowered of a function that was followed; where digits do not line up, also with
    its flat positions kept whole."""
    trace, (outputs, log) = traced.trace, traced.outputs()
    return Problem(
        traced.name,
        traced.doc,
        trace.facts,
        outputs,
        trace.params(),
        trace.axes,
        trace.extents,
        trace.indices,
        trace.base,
        traced.size,
        traced.spans,
        [text for a in assume for text in _stated(a, trace.sizes)],
        trace.preconditions,
        trace.stand_ins,
        log,
        None if is_aligned((e for _, e in outputs), trace.facts) else traced.kept(),
    )


def _stated(assumption: Any, sizes: Mapping[str, int]) -> list[str]:
    """An assumption as Python text, with the numbers of the sizes that are fixed."""
    texts = [assumption] if isinstance(assumption, str) else [repr(c) for c in parse(assumption)]
    numbers = {name: str(n) if n >= 0 else f"({n})" for name, n in sizes.items()}
    return [reworded(text, numbers) for text in texts]


def _candidates(index_type: str, printer: Printer) -> tuple[str, ...]:
    if isinstance(index_type, str) and index_type == "auto":
        return printer.default_index
    if not isinstance(index_type, str) or index_type not in INDEX_TYPES:
        known = [t for t in INDEX_TYPES if t in printer.types]
        raise TargetError(
            f"no index type {shown(index_type)}; {printer.title} has auto, {', '.join(known)}."
            f"{nearest(shown(index_type), known)}"
        )
    if index_type not in printer.types:
        raise TargetError(f"{printer.title} has no {index_type}; it has {', '.join(printer.types)}")
    return (index_type,)
