"""Verifying an emitted unit over its whole index space, on the CPU or on a GPU.

A layout with an inverse: inv(apply(i)) = i and 0 <= apply(i) < size for every index i, which on a
finite set proves that apply is a bijection and inv its inverse (LEGO, section III-A); with masked
positions the same the other way round. Everything else: the results' extremes, and a bitmap of the
results that are given, which shows the first repeated one and the first that is left out. All of it
is compared with the reference evaluator or the user's own function on integers, which share nothing
with what is emitted: on a golden table whole, else at the corners, the first and last indices and
2^20 random ones. Indices that a header rules out are left alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import prod
from typing import Any

from ..algebra.block import Block, is_bundle, is_packed
from ..emit.unit import Unit
from ..errors import VerifyError, short_repr
from ..html import line, table
from ..ir.nodes import evaluate
from ..ir.relations import names_in
from ..run.devices import Progress, round_trips
from ..run.registry import toolchain_of
from ..run.space import Space, check_names, spaces_of
from ..run.target import Compiled, check_given
from ..trace.signature import Signature
from .checks import Check, Checks
from .exhaustive import symbols_of
from .expected import expected, numbers_of
from .host import checker_of
from .tables import query_of

SAMPLES = 2**20
MOST_TAGS = 1024  # layouts of a Choice
CLAIMS = ("", "injective", "bijective")


# -- what comes out ------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Verification:
    """What verify() found; true where everything held.

    counterexample: the first index that breaks a promise, in logical and flat form.
    """

    unit: str
    target: str
    on: str
    device: str
    checks: tuple[Check, ...]
    seconds: float
    counterexample: str = ""

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        count = len(self.checks)
        found = self.counterexample or "WRONG"
        return (
            f"<verification of {self.unit} ({self.target}) on {self.device}: {count} "
            f"check{'s' * (count != 1)}, {'ok' if self.ok else found}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (check.verdict, check.what, check.found, f"{check.indices:,}", f"{check.seconds:.2f} s")
            for check in self.checks
        ]
        wrong = self.counterexample and line(f"first counterexample: {self.counterexample}")
        heading = ("", "check", "found", "indices", "time")
        return f"{line(self._about)}{table(heading, rows)}{wrong}"

    @property
    def _about(self) -> str:
        return f"{self.unit} ({self.target}) on {self.device}"

    def __str__(self) -> str:
        lines = [self._about]
        for check in self.checks:
            kernel = "" if check.kernel_ms is None else f", kernels {check.kernel_ms:.3f} ms"
            lines.append(
                f"  {check.verdict:5} {check.what}: {check.found} "
                f"({check.indices:,} indices, {check.seconds:.2f} s{kernel})"
            )
        if self.counterexample:
            lines.append(f"  first counterexample: {self.counterexample}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict that JSON can hold."""
        return {
            "unit": self.unit,
            "target": self.target,
            "on": self.on,
            "device": self.device,
            "ok": self.ok,
            "seconds": round(self.seconds, 4),
            "counterexample": self.counterexample or None,
            "checks": [vars(check) for check in self.checks],
        }


# -- the whole -----------------------------------------------------------------------------------


def verify(
    unit: Unit,
    on: str = "cpu",
    *,
    sizes: Mapping[str, int] | None = None,
    domain: Mapping[str, int] | None = None,
    reference: Any = None,
    subject: Any = None,
    claim: str = "",
    samples: int = SAMPLES,
    progress: Progress | None = None,
    compiled: Callable[[], Compiled] | None = None,
) -> Verification:
    """Check a unit over its whole index space; see Emitted.verify. subject: what it was made of; compiled:
    gives the unit, or the one that it is a part of, for the CPU."""
    if claim not in CLAIMS:
        raise VerifyError(f"no claim {claim!r}; there are 'injective' and 'bijective'")
    if domain and unit.is_pair:
        raise VerifyError(
            f"domain is {short_repr(domain)}: a layout's indices run over its sizes; domain is for index "
            f"functions"
        )
    case = reference if hasattr(reference, "table") else None
    own = reference is None
    reference = subject if own else reference
    taken = _taken(reference)
    check_given(unit)
    compiled = compiled or _once_compiled(unit)

    def over(spaces: Mapping[str, Space], given: Mapping[str, int]) -> Verification:
        """The check over these spaces."""
        begun = time.perf_counter()
        for name, space in spaces.items():
            if space.conditions and not len(space.kept(numbers_of(space, SAMPLES))):
                raise VerifyError(f"{name}: no index meets {space.conditions_text}")
        with ThreadPoolExecutor(1) as pool:
            # The reference is evaluated while the compiler is at work.
            waiting = None
            if reference is not None and case is None:
                known = {**unit.fixed, **given}
                waiting = pool.submit(expected, unit, spaces, reference, known, samples, own)
            checker = checker_of(toolchain_of(unit.printer), unit, on, spaces, compiled)
            checks = Checks(checker, progress or (lambda done, total: None))
            if unit.is_pair:
                checks.round_trips(round_trips(unit, spaces))
            else:
                for space in spaces.values():
                    checks.results(space, claim)
            if case is not None:
                tabled = [
                    f
                    for f in unit.program.functions
                    if f.packing is not None or not is_packed(subject)
                ]
                for position, function in enumerate(tabled):
                    checks.table(query_of(case, function, inverse=position == 1))
            if waiting is not None:
                waited = time.perf_counter()
                parts = waiting.result()
                waited = (time.perf_counter() - waited) / len(parts)
                for function, part in zip(unit.program.functions, parts, strict=True):
                    checks.reference(function, part, waited)
            for space in spaces.values():
                if space.function.walk is not None:
                    checks.walk(space)
            if is_packed(subject):
                checks.fields(unit, subject, spaces, {**unit.fixed, **given})
        return Verification(
            unit.program.name,
            unit.printer.name,
            on,
            checker.what,
            tuple(checks.made),
            time.perf_counter() - begun,
            checks.counterexample,
        )

    numbers, found = sizes or {}, list[Verification]()
    spaces, given = spaces_of(unit, numbers, domain or {}, case, taken)
    for tags in _tags(unit, spaces, subject):
        if tags:
            more = {**numbers, **tags}
            spaces, given = spaces_of(unit, more, domain or {}, case, taken)
        one = over(spaces, given)
        said = f" where {', '.join(f'{n} = {v}' for n, v in tags.items())}" if tags else ""
        found.append(
            replace(one, checks=tuple(replace(c, what=f"{c.what}{said}") for c in one.checks))
        )
    return _together(found)


def verify_each(
    unit: Unit,
    subjects: Sequence[Any],
    on: str,
    sizes: Mapping[str, int] | None,
    domain: Mapping[str, int] | None,
    references: Any,
    options: Mapping[str, Any],
) -> Verification:
    """verify() of a unit of several subjects, one after the other."""
    parts, compiled = _parts(unit), _once_compiled(replace(unit, known=unit.program))
    references = [None] * len(parts) if references is None else references
    if is_bundle(references):
        references = [*references.functions_of().values()]
    if not isinstance(references, list | tuple) or len(references) != len(parts):
        raise VerifyError(f"reference is {short_repr(references)}; give a list of {len(parts)}")
    check_names(unit.program.functions, sizes or {})
    check_names(unit.program.functions, domain or {})
    found = []
    for part, subject, reference in zip(parts, subjects, references, strict=True):
        known = {p.name for f in part.program.functions for p in f.params}
        known |= {old for f in part.program.functions for old, _ in f.renamed}
        given = {n: v for n, v in (sizes or {}).items() if n in known}
        runs = {n: v for n, v in (domain or {}).items() if n in known and not part.is_pair}
        found.append(
            verify(
                part,
                on,
                sizes=given,
                domain=runs,
                reference=reference,
                subject=subject,
                compiled=compiled,
                **options,
            )
        )
    return _together(found)


def _once_compiled(unit: Unit) -> Callable[[], Compiled]:
    """What compiles a unit when it is called first."""
    return cache(lambda: toolchain_of(unit.printer).compile([unit])[0])


def _together(found: Sequence[Verification]) -> Verification:
    return replace(
        found[0],
        checks=tuple(check for one in found for check in one.checks),
        seconds=sum(one.seconds for one in found),
        counterexample=next((one.counterexample for one in found if one.counterexample), ""),
    )


def _tags(unit: Unit, spaces: Mapping[str, Space], subject: Any) -> list[dict[str, int]]:
    """Numbers of the parameters that a layout has beside its sizes and that run, as the tag of a Choice: one of
    these is checked at a time. Raises VerifyError where there are too many."""
    subject = subject.layout if is_packed(subject) else subject
    if not (unit.is_pair or isinstance(subject, Block)):
        return [{}]
    first, *others = (space.axes for space in spaces.values())
    names = symbols_of(subject) if isinstance(subject, Block) else {a.name for a in first}
    if others and not isinstance(subject, Block):
        names &= {a.name for a in others[0]}
        if len(others[0]) == len(unit.program.functions[0].outputs):
            return [{}]
    said = {new: old for f in unit.program.functions for old, new in f.renamed}
    axes = [a for a in first if said.get(a.name, a.name) in names]
    if prod(a.count for a in axes) > MOST_TAGS:
        raise VerifyError(
            f"{unit.program.name} has more than {MOST_TAGS} layouts, by {', '.join(a.name for a in axes)}; give "
            f"numbers: sizes={{'{axes[0].name}': {axes[0].lo}}}"
        )
    each = product(*(range(a.lo, a.lo + a.count) for a in axes))
    found = [dict(zip((a.name for a in axes), values, strict=True)) for values in each]
    conditions = [c for space in spaces.values() for c in space.conditions]
    fixed = next(iter(spaces.values())).fixed
    return [
        one
        for one in found
        if all(
            evaluate(c, {**fixed, **one}) is not False
            for c in conditions
            if {*names_in(c)} <= {*fixed, *one}
        )
    ]


def _parts(unit: Unit) -> list[Unit]:
    """A unit's subjects, each with its functions and the whole text."""
    found, start = [], 0
    for count in unit.program.parts:
        functions = unit.program.functions[start : start + count]
        own = replace(unit.program, functions=functions, parts=())
        found.append(replace(unit, program=own, known=own))
        start += count
    return found


def _taken(reference: Any) -> set[str]:
    """The names that a reference function takes: those that are numbers in the text already."""
    if isinstance(reference, Block) or not callable(reference):
        return set()
    try:
        signature = Signature(reference)
        names = {n for p in signature.parameters for n in signature.members(p)}
    except (TypeError, ValueError):
        return set()
    code = getattr(reference, "__code__", None)
    return names | set(code.co_names if code else ())
