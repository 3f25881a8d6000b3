"""Copies in languages without registers of vectors, beside what their users write: a loop over both index functions,
which stand in it, and what the language has of its own.

Each way is the emitted routine with another body, so that all are called in one way, on the same memories.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lego_emit import copy
from lego_emit.copies.running import Library
from lego_emit.copies.unit import unit_of
from lego_emit.emit.nests import Routines
from lego_emit.emitted import emit_program
from lego_emit.ir.nests import DESTINATION, ONE, SOURCE, Loop, Move, Ref, linear
from lego_emit.ir.nodes import const
from lego_emit.targets import copy_scripts, julia

julia.FLAGS = (
    *(flag for flag in julia.FLAGS if not flag.startswith("-O")),
    "-O2",
)  # Julia's default
USERS = ("-fcheck=no-all", "-Wno-error")  # gfortran's, which has neither by itself
V3 = ("-O3", "-march=x86-64-v3")
MOST_LOOPS = 8
TURN, CALLS = 0.02, 4  # the seconds of a turn, and the calls that are measured together
# Language, flags, heading, and its own ways.
WAYS = (
    ("fortran", ("-O2",), "gfortran -O2", ("transpose", "reshape")),
    ("fortran", V3, "gfortran -O3 v3", ("transpose", "reshape")),
    ("julia", (), "Julia", ("transpose!", "permutedims!")),
    ("javascript", (), "Node", ()),
    ("numpy", (), "NumPy", ("ascontiguousarray",)),
)
HEADINGS = tuple(
    f"{heading}: {way}"
    for language, _, heading, own in WAYS
    for way in ((*(("loop",) if language != "numpy" else ()), *own))
)
FORTRAN = """\
    call own(src, dst)
  contains
    subroutine own(from, into)
      integer({kind}), intent(in) :: from({shape})
      integer({kind}), intent(inout) :: into({made})
      into = {call}
    end subroutine own
"""
JULIA = "    {call}(reshape(dst, {made}), reshape(src, {shape}){perm})\n"


def looped(unit: Any) -> Any:
    """The unit with a loop in the order of the destination, which has both index functions in it, or over calls of
    them where they have many digits."""
    digits = sorted(unit.plan.boxes[0].digits, key=lambda d: -d.b)
    if len(digits) > MOST_LOOPS:
        bare = replace(unit.plan.space, axes=None, why="a loop is wanted")
        plan = replace(unit.plan, space=bare, boxes=(), notes=(), zero=False)
        return unit_of(plan, unit.subject, unit.printer.name, unit.name)
    of, to = (
        linear(const(0), [(const(getattr(d, side)), f"i{k}") for k, d in enumerate(digits)])
        for side in "ab"
    )
    body: Any = Move(Ref(DESTINATION, to), Ref(SOURCE, of), ONE)
    for k, d in reversed([*enumerate(digits)]):
        body = Loop(f"i{k}", const(d.n), (body,))
    routine = replace(unit.program.routines[0], body=(body,))
    program = replace(unit.program, routines=Routines((routine,)))
    return replace(unit, source=emit_program(program, unit.printer.name).source, program=program)


def in_language(unit: Any, loop: Any, way: str) -> Any:
    """The unit with what the language has for the same; None where that is none of this copy."""
    digits = unit.plan.boxes[0].digits
    of, to = (sorted(digits, key=lambda d, side=side: getattr(d, side)) for side in "ab")
    if len(digits) > MOST_LOOPS or (way.startswith("transpose") and len(digits) != 2):
        return None
    shape, made = (", ".join(str(d.n) for d in side) for side in (of, to))
    if unit.printer.name == "julia":
        perm = f", ({', '.join(str(of.index(d) + 1) for d in to)})" if way == "permutedims!" else ""
        text = JULIA.format(call=way, made=made, shape=shape, perm=perm)
        source, count = re.subn(
            r"    @inbounds begin\n.*?\n    end\n", text, loop.source, flags=re.S
        )
        source = re.sub(r"(?m)^(module \w+)$", r"\1\nusing LinearAlgebra: transpose!", source)
    else:
        order = ", ".join(str(to.index(d) + 1) for d in of)
        call = (
            "transpose(from)" if way == "transpose" else f"reshape(from, [{made}], order=[{order}])"
        )
        kind = f"int{8 * unit.plan.element_bytes}"
        text = FORTRAN.format(kind=kind, shape=shape, made=made, call=call)
        source, count = re.subn(r"    do i0 = .*\n    end do\n", text, loop.source, flags=re.S)
    assert count == 1, way
    return replace(unit, source=source)


def contiguous(unit: Any, source: Any) -> Callable[[int], float]:
    """What makes new arrays of the source's strided view; the seconds of the shortest time."""
    digits = sorted(unit.plan.boxes[0].digits, key=lambda d: -d.b)
    strides = [d.a * source.itemsize for d in digits]
    view = as_strided(source, [d.n for d in digits], strides)

    return _runs(lambda _: np.ascontiguousarray(view))


def measured(case: Any, memories: Any, runs: int) -> Iterator[str]:
    """How many times as long as the emitted routine each of HEADINGS takes, of the shortest calls; of a loop, also what
    per cent of the language's memcpy it reaches."""
    for language, flags, _, names in WAYS:
        unit = copy(case.source, case.destination, language, element=case.size)
        count = prod(case.source.dims) * case.size
        source, destination = memories(case, [count] * 2)
        if language == "numpy":
            built: list[Any] = [copy_scripts.NumpyCopies(unit)]
            ways: list[Any] = [contiguous(unit, source)]
        else:
            loop = looped(unit)
            units = [unit, loop, *(in_language(unit, loop, way) for way in names)]
            built = [own and _built(own, flags) for own in units]
            ways = [own and _runs(own.copy, {}, source, destination) for own in built[1:]]
        ways.insert(0, _runs(built[0].copy, {}, source, destination))
        _check(case, built, source, destination)
        ways.append(_runs(built[0].memcpy, count, source, destination))
        ours, *others, memcpy = _least(ways, runs)
        for k, own in enumerate(others):
            share = f" ({100 * memcpy / own:.0f})" if k == 0 and language != "numpy" else ""
            yield f"{own / ours:.2f}{share}" if own else ""


def _least(ways: Sequence[Callable[[int], Any] | None], runs: int) -> list[float]:
    """The seconds of the shortest call of each way, in turns of about TURN seconds; 0 of none."""
    found = [0.0 if way is None else math.inf for way in ways]
    for _ in range(runs):
        for k, way in enumerate(ways):
            start = time.perf_counter()
            while way is not None and time.perf_counter() - start < TURN:
                found[k] = min(found[k], way(CALLS))
    return found


def _built(unit: Any, flags: Sequence[str]) -> Any:
    """What runs a unit; of other languages than Fortran, in processes of theirs."""
    from lego_emit.run import registry

    target: Any = registry.toolchain_of(unit.printer)
    runner = getattr(target, "copy_runner", None)
    return Library(unit, (*flags, *USERS)) if runner is None else runner(unit)


def _runs(call: Callable[..., Any], *arguments: Any) -> Callable[[int], float]:
    """What returns the seconds of the shortest of some calls, which processes measure themselves."""

    def least(rounds: int) -> float:
        if isinstance(getattr(call, "__self__", None), copy_scripts.Scripted):
            return float(call(*arguments, rounds))
        found = math.inf
        for _ in range(rounds):
            start = time.perf_counter()
            call(*arguments, 1)
            found = min(found, time.perf_counter() - start)
        return found

    return least


def _check(case: Any, built: Sequence[Any], source: Any, destination: Any) -> None:
    """Raise where ways give different arrays."""
    found = []
    for own in filter(None, built):
        destination.view("u1")[:] = 0
        own.copy({}, source, destination, *([1] if isinstance(own, Library) else []))
        found.append(destination.copy())
    if any((one.view("u1") != found[0].view("u1")).any() for one in found):
        raise ValueError(f"{case.name}: ways give different arrays")
