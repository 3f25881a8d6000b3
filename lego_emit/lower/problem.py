"""What is to be lowered: the results of one function over symbols, and what is known of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..arith.analyzer import Analyzer
from ..arith.expr import Cond, Expr
from ..arith.steps import Log
from ..arith.terms import Atom
from ..ir.cost import Cost
from ..ir.index_types import IndexType
from ..ir.nodes import Node
from ..ir.program import Doc, View


@dataclass(frozen=True)
class Dialect:
    """What lowering takes from a language.

    types: index types to choose from, narrowest first; cost: prices of operations. bit_operations:
    whether shifts and masks do for divisions. lazy: whether the branch of a select that is not taken
    is not computed. effort: how many times their usual steps searches may take.
    """

    types: Sequence[IndexType]
    cost: Cost
    bit_operations: bool
    lazy: bool = True
    effort: int = 1

    @property
    def is_unsigned(self) -> bool:
        """Whether it has no negative numbers."""
        return all(t.least == 0 for t in self.types)


@dataclass
class Problem:
    """One function.

    outputs: by name, under facts; log: the steps that led to them. kept: the same with flat positions
    kept as one value; None where that is not asked for. params: in order; axes: those that the caller ranges
    over, extents how far; indices: those that count from first; base: what an
    axis counts from; bases: what each output's 0 is called; named: whether the user named what
    counts from 1. spans: (least, end) that are known to hold of each output, counted from 0. view: what a view of
    the layout is to know. by_name: whether the outputs are a dict's. stated: assumptions
    as the user wrote them; preconditions: those that were met on the way. stand_ins: of values out
    of a known range. form: the outputs as SymPy expressions that are spelled as they stand,
    (replacements, expressions by name); None where the cheapest form is searched for.
    equal_form: the form stands for the outputs, and must have a value wherever they have one.
    unsigned: parameters of which nothing but their type says that they are at least 0.
    masked: the outputs that have a number beyond their span for what is masked, and it.
    rewritten: what rewrite= changed, (before, after) as text. placed: parameters that are indices of a
    layout.
    """

    name: str
    doc: Doc
    analyzer: Analyzer
    outputs: Sequence[tuple[str, Expr]]
    params: Sequence[str]
    axes: Sequence[str]
    extents: Mapping[str, Expr]
    indices: Collection[str]
    first: int
    base: int
    bases: Sequence[int]
    named: bool
    spans: Sequence[tuple[int, Expr]] | None
    view: View[Expr] | None
    by_name: bool
    stated: Sequence[Node]
    preconditions: list[Cond]
    stand_ins: Mapping[Atom, Expr]
    log: Log
    kept: Kept | None
    form: tuple[Sequence[tuple[Any, Any]], Mapping[str, Any]] | None
    equal_form: bool = False
    rewritten: Sequence[tuple[str, str]] = ()
    placed: Collection[str] = ()
    masked: Mapping[str, int] = field(default_factory=dict)
    unsigned: Collection[str] = ()


class Kept(Protocol):
    """Outputs in which flat positions are kept as one value, those values, and the steps."""

    @property
    def outputs(self) -> Sequence[tuple[str, Expr]]:
        """As a problem's."""
        ...

    @property
    def flats(self) -> Sequence[Atom]:
        """Groups, in the order in which they were met."""
        ...

    @property
    def log(self) -> Log:
        """What led to the outputs."""
        ...
