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
from ..ir.program import Doc, Group, View


@dataclass(frozen=True)
class Dialect:
    """What lowering takes from a language.

    types: index types to choose from, narrowest first; cost: prices of operations. bit_operations:
    whether shifts and masks do for divisions. lazy: whether the branch of a select that is not taken
    is not computed. effort: how many times their usual steps searches may take. cached: whether small
    tables are as near as a CPU's nearest cache. narrow: whether the first type is taken, with what must
    hold for it, unless known ranges exceed it. launch: the parameters that are fixed at
    launch, by which a division is a multiplication. switches: whether there are any, selects take their
    place otherwise.
    """

    types: Sequence[IndexType]
    cost: Cost
    bit_operations: bool
    lazy: bool = True
    effort: int = 1
    cached: bool = False
    narrow: bool = False
    launch: Collection[str] = ()
    switches: bool = True

    @property
    def is_unsigned(self) -> bool:
        """Whether it has no negative numbers."""
        return all(t.least == 0 for t in self.types)


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function.

    names: in order; axes: those that the caller ranges over; extents: how far, by name; indices: those
    that count from Counting.index; placed: those that are indices of a layout; unsigned: those of
    which nothing but their type says that they are at least 0; groups: those that are one to a caller;
    types: what they are declared as, those that have not the index type; static: static sizes, and the
    numbers of those that have one.
    """

    names: Sequence[str]
    axes: Sequence[str]
    extents: Mapping[str, Expr]
    indices: Collection[str]
    placed: Collection[str]
    unsigned: Collection[str]
    groups: Sequence[Group] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Counting:
    """The numbers by which the caller calls what is 0 in the algebra: those of indices, of axes, and
    of each result. named: whether the user named what counts from 1."""

    index: int
    axis: int
    results: Sequence[int]
    named: bool


@dataclass(frozen=True)
class Conditions:
    """What holds, or must hold, beside what the analyzer knows.

    stated: assumptions as the user wrote them; preconditions: those that were met on the way; spans:
    (least, end) that are known to hold of each output, counted from 0; stand_ins: of values out of a
    known range; masked: the number beyond its span that an output has for what is masked.
    """

    stated: Sequence[Node]
    preconditions: Sequence[Cond]
    spans: Sequence[tuple[int, Expr]] | None
    stand_ins: Mapping[Atom, Expr]
    masked: Mapping[str, int]


@dataclass(frozen=True)
class AsWritten:
    """SymPy expressions that are spelled as they stand.

    form: (replacements, expressions by name); None where the cheapest form is searched for. is_equal:
    whether the form stands for the outputs, and must have a value wherever they have one. changes: what
    rewrite= changed, (before, after) as text.
    """

    form: tuple[Sequence[tuple[Any, Any]], Mapping[str, Any]] | None = None
    is_equal: bool = False
    changes: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Problem:
    """One function that is to be lowered.

    outputs: by name, under the analyzer's facts; log: the steps that led to them; kept: the same with
    flat positions kept as one value, and joined: with branches joined where they meet, each None where
    that is not asked for; steps: what gives the same with the result of each step of a user's function
    kept, None where there is none; looked_up: the same with tables that have a formula looked up, None
    where there are none; view: what a view of the layout has to know; by_name: whether the outputs are a
    dict's; group: what they are together to a caller; types: what each is declared as, () for the index
    type; words: of a function whose arithmetic wraps, its operations (lego_emit.trace.words); fit: whether the
    outputs are values that are known to fit.
    """

    name: str
    doc: Doc
    analyzer: Analyzer
    outputs: Sequence[tuple[str, Expr]]
    log: Log
    kept: Kept | None
    joined: Kept | None
    steps: Steps | None
    looked_up: Kept | None
    parameters: Parameters
    counting: Counting
    conditions: Conditions
    written: AsWritten
    view: View[Expr] | None
    by_name: bool
    group: Group | None = None
    types: Sequence[str] = ()
    words: Any = None
    fit: bool = False


class Kept(Protocol):
    """Outputs that are spelled otherwise, the flat positions in them that are kept as one value, and the
    steps."""

    @property
    def outputs(self) -> Sequence[tuple[str, Expr]]:
        """The outputs by name, in the order of the problem."""
        ...

    @property
    def flats(self) -> Sequence[Atom]:
        """Groups, in the order in which they were met."""
        ...

    @property
    def log(self) -> Log:
        """What led to the outputs."""
        ...


class Steps(Protocol):
    """What a user's function computes step by step."""

    @property
    def count(self) -> int:
        """How many operations it does."""
        ...

    def kept(self) -> Kept:
        """The outputs in which the result of each is kept as one value."""
        ...
