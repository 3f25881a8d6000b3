"""The lowered form: what a printer gets. Short straight-line integer programs.

All meaning is settled here: every operation's operands have proven signs and ranges, so that a
printer only spells. A node is an operation over nodes; bool nodes are conditions, all others are
integers of the function's one index type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import InternalError
from ..notation import PYTHON, Notation
from ..operations import OPS
from ..table_lookup import Entries
from .groups import Group
from .index_types import IndexType
from .nodes import FREE, Node, evaluated
from .relations import OPEN, Range, const, renamed, says

if TYPE_CHECKING:
    from .walks import Odometer, Walk


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter. range: what the header says of it; lo and hi are its proven inclusive bounds
    where they are numbers. axis: a ':' or an index of a layout; size: a layout's
    size, which a caller fixes once for many indices; base: what an index of 0 is called; meaning:
    what the user says it is; type: what it is declared as, "" where it has the index type; bound: the text
    that stands in its place; static: whether it is known when the text is compiled; default: its number
    there, where sizes= has one; apart: whether the language has it beside the arguments of a call; held:
    what the receiver of a method calls it, "" where a caller passes it; prepared: whether it
    is fixed at launch, and functions take what is prepared of it."""

    name: str
    range: Range = OPEN
    lo: int | None = None
    hi: int | None = None
    axis: bool = False
    size: bool = False
    base: int = 0
    meaning: str = ""
    type: str = ""
    bound: str = ""
    static: bool = False
    default: int | None = None
    apart: bool = False
    held: str = ""
    prepared: bool = False

    @property
    def range_text(self) -> str:
        """Its range as text: "0 <= i < BM"."""
        return self.range.says(self.name)

    def __repr__(self) -> str:
        return f"<Param {self.range_text or self.name}>"


@dataclass(frozen=True)
class Doc:
    """What the user says. summary: what a function computes; params: what each parameter is;
    returns: what the results are. Each is one line, without its full stop but for the summary; ""
    where nothing is said."""

    summary: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""


V = TypeVar("V")


@dataclass(frozen=True)
class View(Generic[V]):
    """An array that is read and written by a layout's index, as a type of the unit. name: the
    layout's; extents: of its indices; size: how many elements the array has at least; unique:
    whether no two indices share an element; exhaustive: whether every element has an index; masks:
    whether some indices have none."""

    name: str
    extents: tuple[V, ...]
    size: V
    unique: bool = True
    exhaustive: bool = True
    masks: bool = False

    @property
    def values(self) -> tuple[V, ...]:
        """The extents and the size."""
        return (*self.extents, self.size)

    def map(self, change: Callable[[V], Any]) -> View[Any]:
        """The view with its values changed."""
        return replace(self, extents=tuple(map(change, self.extents)), size=change(self.size))


@dataclass(frozen=True, slots=True)
class Function:
    """One emitted function: parameters, named statements in order, named results."""

    name: str
    params: tuple[Param, ...]
    body: tuple[tuple[str, Node], ...]
    outputs: tuple[tuple[str, Node], ...]
    index_type: IndexType
    summary: str = ""  # one line: what it computes
    assumed: tuple[Node, ...] = ()  # conditions on the parameters
    unseen: bool = False  # it is assumed, too, that values fit of which no more can be said
    nonzero: bool = False  # it is assumed, too, that no divisor in a loop is 0
    returns: str = ""  # what the user says that the result is
    renamed: tuple[tuple[str, str], ...] = ()  # (the user's name, the emitted name)
    axes: tuple[tuple[str, Node], ...] = ()  # the ':' parameters (the last ones) and their extents
    view: View[Node] | None = None  # of the layout whose apply it is
    walk: Walk | Odometer | None = None  # over what it gives
    steps: Walk | None = (
        None  # of its array form along an axis, where a call for each element is dearer
    )
    promises: tuple[Range, ...] = ()  # of each output, in the parameters' names
    # of each table that it is given: how many entries, and what they are below
    table_sizes: tuple[tuple[Node, Node], ...] = ()
    named: bool = False  # whether a caller knows several results by their names: those of a dict
    base: int = 0  # what the first index and the first position are called
    bases: tuple[int, ...] = ()  # what the 0 of each output is called, where that is not base
    is_condition: bool = False  # it says whether sizes are allowed, as a truth value
    cost: float = 0  # of one call by the cost model that chose the form
    # (at how many points it was compared with its definition, why at none)
    checked: tuple[int, str] = field(default=(0, "it was not compared"), compare=False)
    asserted: tuple[Node, ...] = ()  # what debug builds assert of the parameters, in order
    moves: Any = None  # of bits, for each output, that pdep and pext of x86 do (lower/bmi2.py)
    map: Any = None  # its affine map (lego_emit.affine.maps), where the file has it
    wrapping: bool = False  # where & most stands, the operation is one that wraps
    types: tuple[str, ...] = ()  # what each output is declared as, () where all have the index type
    # of outputs that are computed otherwise: the plain expression of the parameters, without ranges
    formulas: tuple[tuple[str, Node], ...] = ()
    groups: tuple[Group, ...] = ()  # of parameters that are one to a caller
    result: Group | None = None  # what the outputs are together to a caller
    receiver: Any = None  # whose method it is (lego_emit.emit.methods.Receiver)
    packing: Any = None  # the fields that it says where they are (lego_emit.ir.packing)
    # (a condition, an equal function for it alone), whose text comes before that for all others
    cases: tuple[tuple[Node, Function], ...] = ()
    prepare: str = ""  # the function that makes its first argument of what is fixed at launch
    # of each case of its only switch: the function that is called there, with what, and its results' names
    calls: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    # how it came about (lego_emit.lower.function.Record), to be explained
    record: Any = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        params, outputs = (
            ", ".join(n) for n in ([p.name for p in self.params], dict(self.outputs))
        )
        count = f"{self.op_count} operation{'s' * (self.op_count != 1)}"
        return f"<Function {self.name}({params}) -> {outputs}: {self.index_type}, {count}>"

    def __getstate__(self) -> list[Any]:
        """Without the record: it holds what is known in this process alone."""
        return [None if f.name == "record" else getattr(self, f.name) for f in fields(self)]

    @property
    def problem(self) -> Any:
        """What it was lowered from; None where that is not known."""
        return None if self.record is None else self.record.problem

    @property
    def entries(self) -> list[Param | Group]:
        """The parameters as the language has them: structs and arrays in the place of their members,
        without what a text stands for, what a receiver holds, and static sizes that it has beside them."""
        apart = (one for one in self._whole if not (one.bound or one.held))
        return [one for one in apart if isinstance(one, Group) or not one.apart]

    @property
    def held(self) -> list[Param | Group]:
        """The parameters that the receiver of a method holds, as the language has them."""
        held = (one for one in self._whole if one.held)
        return [one for one in held if isinstance(one, Group) or not one.apart]

    @property
    def arguments(self) -> list[Param | Group]:
        """The parameters as a caller in Python has them."""
        return self._entries(self.groups)

    @property
    def _whole(self) -> list[Param | Group]:
        return self._entries([group for group in self.groups if group.whole])

    def _entries(self, groups: Iterable[Group]) -> list[Param | Group]:
        found = {n: group for group in groups for n in group.names}
        return [*dict.fromkeys(found.get(p.name, p) for p in self.params)]

    @property
    def alone(self) -> list[Param]:
        """The parameters but the known elements of arrays of any length."""
        known = {n for group in self.groups if group.open for n in group.names}
        return [p for p in self.params if p.name not in known] if known else [*self.params]

    @property
    def passed(self) -> list[Param]:
        """The parameters whose values a call gives when it runs: no static sizes."""
        return [p for p in self.params if not p.static]

    @property
    def static(self) -> list[Param]:
        """The static sizes, in order."""
        return [p for p in self.params if p.static]

    @property
    def aggregate(self) -> Group | None:
        """The struct or the array that the outputs are in the language at hand."""
        return self.result if self.result is not None and self.result.whole else None

    @property
    def declared(self) -> set[str]:
        """The types that its parameters and results are declared as, beside the index type."""
        groups = [g for g in (*self.groups, self.result) if g is not None]
        found = {*self.types, *(p.type for p in self.params), *(t for g in groups for t in g.types)}
        return found - {""}

    @property
    def output_types(self) -> tuple[str, ...]:
        """What each output is declared as, "" where it has the index type."""
        return self.types or ("",) * len(self.outputs)

    @property
    def starts(self) -> tuple[int, ...]:
        """What the 0 of each output is called."""
        return self.bases or (self.base,) * len(self.outputs)

    @property
    def masked(self) -> tuple[int, ...]:
        """What each output is where an index or a position is masked: one less than its 0 is
        called, or the greatest number of an unsigned type that counts from 0."""
        most = self.index_type.most
        promises = chain(self.promises, repeat(OPEN))
        return tuple(
            start - 1 if promise.masked is None else most
            for start, promise in zip(self.starts, promises, strict=False)
        )

    @property
    def masked_bits(self) -> tuple[int, ...]:
        """masked as an int64 has it, which a run gives."""
        return tuple(v - 2**64 if v >= 2**63 else v for v in self.masked)

    def called(self, values: Sequence[int]) -> list[int]:
        """The definition's values, which count from 0 and are -1 where masked, as it gives them."""
        return [
            masked if v == -1 else v + start
            for v, start, masked in zip(values, self.starts, self.masked, strict=True)
        ]

    @property
    def roots(self) -> list[Node]:
        """The values of its statements and outputs."""
        return [node for _, node in (*self.body, *self.outputs)]

    def nodes(self) -> Iterator[Node]:
        """Every node of every statement and output, operands first."""
        once = {  # each state of a loop stands for it
            (n.args[0].value.key, n.args[1:]) if n.op == "loop" else k: n
            for k, n in enumerate(self.roots)
        }
        for node in (*once.values(), *(condition for condition, _ in self.cases)):
            yield from node.deep()
        for _, case in self.cases:
            yield from case.nodes()

    @property
    def tables(self) -> list[Entries]:
        """The tables that it is given, after its parameters, in order of first use; no arrays of those."""
        return [t for t in self._given if not t.array]

    @property
    def arrays(self) -> list[Entries]:
        """The arrays among its parameters that are read at a place that is no constant, for each number of
        elements that are read."""
        return [t for t in self._given if t.array]

    @property
    def _given(self) -> list[Entries]:
        found = (n.value for n in self.nodes() if n.op == "table" and n.value.given)
        return list(dict.fromkeys(found))

    @property
    def ranges(self) -> dict[str, str]:
        """What is known of each parameter, as text: {"i": "0 <= i < BM"}."""
        return Header(self).ranges

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed of the parameters, by its walk, too, as text: ("M % BM == 0",)."""
        return Header(self.walk.beside(self) if self.walk else self).assumptions

    @property
    def result_range(self) -> str:
        """What is promised of the results, as text: "0 <= the result < M*N"."""
        return Header(self).promised()

    def renamed_params(self, names: Mapping[str, str]) -> Function:
        """The function with other names for parameters in its header: what is read of it stays."""

        def change(node: Node) -> Node:
            return renamed(node, names)

        return replace(
            self,
            params=tuple(
                replace(p, name=names.get(p.name, p.name), range=p.range.map(change))
                for p in self.params
            ),
            assumed=tuple(map(change, self.assumed)),
            promises=tuple(r.map(change) for r in self.promises),
            table_sizes=tuple((change(n), change(below)) for n, below in self.table_sizes),
            groups=tuple(g.renamed(names) for g in self.groups),
            renamed=tuple((old, names.get(new, new)) for old, new in self.renamed),
        )

    @property
    def spoken(self) -> Function:
        """The function as its comments have it, members called as in Python."""
        names = self.spoken_names
        return self.renamed_params(names) if names else self

    @property
    def spoken_names(self) -> dict[str, str]:
        """What its comments call the parameters that have another text in the code."""
        held = {p.name: p.held for p in self.params if p.held and p.held != p.name}
        return held | {n: said for group in self.groups for n, said in group.spoken.items()}

    @property
    def op_count(self) -> int:
        """Operations: + - * / % & | ^ << >> ~, comparisons, selects, min, max, square roots
        and look-ups; each once, as emitted."""
        return sum(node.op not in FREE and not self.masks(node) for node in self.nodes())

    def masks(self, node: Node) -> bool:
        """Whether a node does no more than take what an operation gives modulo 2**bits."""
        return self.wrapping and node.op == "and" and node.args[1].value == self.index_type.most

    @property
    def op_count_hoisted(self) -> int:
        """As op_count, less the operations on sizes alone: a caller's loop does those once."""
        sizes = {p.name for p in self.params if p.size}

        def fixed(node: Node) -> bool:
            return node.value in sizes if node.op == "var" else all(map(fixed, node.args))

        for name, node in self.body:
            if fixed(node):
                sizes.add(name)
        counted = (n for n in self.nodes() if n.op not in FREE and not self.masks(n))
        return sum(not fixed(node) for node in counted)

    def evaluate(self, values: Mapping[str, int]) -> dict[str, int]:
        """The outputs for given parameter values, in exact Python integers."""
        env, known = dict(values), {}
        for name, node in self.body:
            env[name] = evaluated(node, env, known)
        return {name: int(evaluated(node, env, known)) for name, node in self.outputs}

    @property
    def parts(self) -> tuple[Function, ...]:
        """Those of its walk and of its array form."""
        return tuple(f for walk in (self.walk, self.steps) if walk is not None for f in walk.parts)

    def extents(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """How far each ':' axis runs, for given values of the other parameters."""
        return tuple(evaluated(extent, values, {}) for _, extent in self.axes)

    def check(self) -> None:
        """Raise InternalError unless every node is well formed: a program is checked before it
        is printed."""
        known = {p.name for p in self.params}
        if len(known) != len(self.params):
            raise InternalError(f"{self.name}: a parameter name appears twice")
        lo, hi = self.index_type.ends
        axes = {name for name, _ in self.axes}
        for _, extent in self.axes:
            for part in extent.walk():
                self._check_node(part, known - axes, lo, hi)
        for condition in self.asserted:
            for part in condition.walk():
                self._check_node(part, known, lo, hi)
        for value in self.view.values if self.view else ():
            for part in value.walk():
                self._check_node(part, {p.name for p in self.params if not p.axis}, lo, hi)
        for part in self.parts:
            part.check()
        for name, node in self.body:
            for part in node.walk():
                self._check_node(part, known, lo, hi)
            known.add(name)
        for _, node in self.outputs:
            for part in node.walk():
                self._check_node(part, known, lo, hi)

    def _check_node(self, node: Node, known: set[str], lo: int, hi: int) -> None:
        if node.op == "const":
            if not isinstance(node.value, int) or not lo <= node.value <= hi:
                raise InternalError(f"{self.name}: {node}: a constant outside {self.index_type}")
        elif node.op == "var":
            if node.value not in known:
                raise InternalError(f"{self.name}: {node}: an undefined name")
        elif node.op == "round":
            node.value.check()
        elif node.op == "table":
            most = node.value.most
            if (
                not node.value.array
                and not lo <= node.value.least <= (hi if most is None else most) <= hi
            ):
                raise InternalError(f"{self.name}: {node}: an entry outside {self.index_type}")
        elif node.op.partition(".")[0] not in OPS:
            raise InternalError(f"{self.name}: {node}: an unknown operation")
        elif node.op not in OPS:
            pass  # what only printers have
        else:
            kinds = "".join(arg.kind for arg in node.args)
            if kinds != node.takes:
                raise InternalError(
                    f"{self.name}: {node}: operands {kinds!r}, wanted {node.takes!r}"
                )
            if node.op in ("div", "mod"):
                num, den = node.args
                if num.lo is None or num.lo < 0 or den.lo is None or den.lo < 1:
                    raise InternalError(f"{self.name}: {node}: signs are not proven")
            if node.op == "lookup":
                table, place = node.args[:2]
                inside = not table.value.is_sized or (
                    place.hi is not None and place.hi < len(table.value)
                )
                if place.lo is None or place.lo < 0 or not inside:
                    raise InternalError(f"{self.name}: {node}: the place is not proven")
            if node.op in ("shl", "shr"):
                by, width = node.args[1], self.index_type.width
                if by.lo is None or by.lo < 0 or by.hi is None or by.hi >= width:
                    raise InternalError(f"{self.name}: {node}: the shift distance is not proven")


@dataclass(frozen=True)
class Header:
    """What is said of a function, in a notation."""

    function: Function
    notation: Notation = PYTHON

    def said(self, node: Node) -> str:
        """A condition or a value."""
        return says(node, self.notation, self._lows)

    @cached_property
    def _lows(self) -> dict[str, int | None]:
        return {p.name: p.lo for p in self.function.params}

    @cached_property
    def ranges(self) -> dict[str, str]:
        """The range of each parameter."""
        return {p.name: p.range.says(p.name, self.said) for p in self.function.params}

    @property
    def params(self) -> dict[str, str]:
        """What each parameter is, as the user says it, and its range."""
        meanings = ((p.name, p.meaning) for p in self.function.params)
        return {n: "; ".join(filter(None, [said, self.ranges[n]])) for n, said in meanings}

    @property
    def entries(self) -> dict[str, str]:
        """The same of each parameter as a caller has them: ranges of a struct's members together."""
        return self.of(self.function.entries)

    def of(self, entries: Iterable[Param | Group]) -> dict[str, str]:
        """The same of some of them."""
        params = self.params
        found = {}
        for one in entries:
            if isinstance(one, Group):
                said = self.elements(one) if one.open else (params[n] for n in one.names)
                ranges = ", ".join(filter(None, said))
                found[one.name] = "; ".join(filter(None, [one.meaning, ranges]))
            else:
                found[one.name] = params[one.name]
        return found

    def told(self, one: Param | Group) -> list[str]:
        """The ranges of a parameter, of a struct's members, or of an array's elements."""
        if isinstance(one, Group) and one.open:
            called = "" if one.meaning else f"{one.name}: "
            return [f"{called}{', '.join(found)}"] if (found := self.elements(one)) else []
        names = one.names if isinstance(one, Group) else [one.name]
        return [self.ranges[n] for n in names if self.ranges[n]]

    def elements(self, group: Group) -> list[str]:
        """How many elements an array of any length has at least, and in which range each is."""
        params = [p for p in self.function.params if p.name in group.names]
        each = [params[-1].range.says("each", self.said)] if params else []
        each += [self.ranges[p.name] for p in params if p.range != params[-1].range]
        count = [] if group.count is None else [f"at least {self.said(group.count)} elements"]
        if group.count == const(1):
            count = ["at least 1 element"]
        return [*count, *filter(None, each)]

    @property
    def table_ranges(self) -> list[tuple[str, str]]:
        """How many entries each of the given tables has, and in which range: ("24", "0 <= each < 24")."""
        return [
            (self.said(size), Range(const(0), below).says("each", self.said))
            for size, below in self.function.table_sizes
        ]

    @property
    def tables(self) -> dict[str, str]:
        """What a caller gives as each table: {"perm": "24 entries, 0 <= each < 24"}."""
        texts = (f"{count} entries, {each}" for count, each in self.table_ranges)
        return {t.name: text for t, text in zip(self.function.tables, texts, strict=True)}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed of the parameters."""
        return (*self.of_bound, *map(self.said, self.function.assumed), *self.unseen)

    @property
    def of_bound(self) -> list[str]:
        """The ranges of what texts stand for."""
        f = self.function
        names = {p.name for p in f.params if p.bound} | {
            n for g in f.groups if g.bound for n in g.names
        }
        told = {n: "" for g in f.groups if g.open and g.bound for n in g.names}
        arrays = [said for g in f.groups if g.open and g.bound for said in self.told(g)]
        ranges = self.ranges | told
        return [*(ranges[n] for n in ranges if n in names and ranges[n]), *arrays]

    @property
    def unseen(self) -> tuple[str, ...]:
        """What is assumed that no condition says."""
        f = self.function
        fits, filled = f"every intermediate value fits {f.index_type}", list[str]()
        if f.aggregate is not None and f.aggregate.open and f.types[:1] not in ((), ("",)):
            filled = [f"each element of {f.aggregate.name} fits {f.types[0]}"]
        return (*[fits] * f.unseen, *["no divisor in a loop is 0"] * f.nonzero, *filled)

    def promised(self, single: str = "the result", part: slice = slice(None)) -> str:
        """The ranges of the results, or of a part of them; single: what a lone one is called."""
        f = self.function
        if f.aggregate is not None and f.aggregate.open:
            return self._filled(f.aggregate)
        pairs = [*zip(self.results(single), f.promises, strict=False)][part]
        return ", ".join(filter(None, (r.says(n, self.said) for n, r in pairs)))

    def _filled(self, array: Group) -> str:
        """The number of elements that are written, and the range of each."""
        found = {r.says("each", self.said) for r in self.function.promises}
        count = [] if array.count is None else [f"{self.said(array.count)} elements"]
        return ", ".join([*count, *(found if len(found) == 1 else ())])

    def results(self, single: str) -> list[str]:
        """What the results are called; single: a lone one."""
        f = self.function
        names = [single if len(f.outputs) == 1 else name for name, _ in f.outputs]
        if (whole := f.aggregate) is not None:
            count = len(whole.members)
            if not whole.struct:
                names[:count] = [f"{whole.name or 'result'}[{k}]" for k in range(count)]
            names[count:] = [single] * (whole.beside is not None)
        return names

    @property
    def formulas(self) -> list[str]:
        """The plain expressions of results that are computed otherwise."""
        f = self.function
        names = dict(zip((name for name, _ in f.outputs), self.results(""), strict=True))
        texts = ((names[name], self.said(node)) for name, node in f.formulas)
        return [f"{name} = {text}" if name else text for name, text in texts]

    def result(self, single: str = "the result") -> str:
        """What the user says of the result, and its range."""
        return "; ".join(filter(None, [self.function.returns, self.promised(single)]))


@dataclass(frozen=True, slots=True)
class Program:
    """What one file holds: a name (the namespace, module or file stem), the functions, and the
    layout's text for the header."""

    name: str
    functions: tuple[Function, ...]
    title: str = ""  # the layout or the user's function, as Python text
    diagnostics: tuple[str, ...] = field(default=(), compare=False)  # what may not be meant in it
    parts: tuple[int, ...] = ()  # how many functions each of several subjects has; () of one
    header: tuple[str, ...] = ()  # more lines for the head of the file
    hints: bool = False  # whether the compiler is told the ranges of the parameters
    checks: bool = False  # whether debug builds assert ranges and preconditions
    fits: tuple[Function, ...] = ()  # conditions on the sizes of each subject
    constants: tuple[Param, ...] = ()  # static sizes that the file defines, in the language at hand
    # (name, number, index type, what it is called in Python) of the tags of switches that the file defines
    enumerators: tuple[tuple[str, int, str, str], ...] = ()
    tags: tuple[str, ...] = ()  # their definitions
    routines: Any = ()  # copies of arrays (lego_emit.emit.nests.Routines)
    sizes_types: Mapping[str, Any] = field(default_factory=dict, compare=False)  # of prepared sizes
    printed: Program | None = (
        None  # what the file has in the place of functions with prepared sizes
    )

    def __repr__(self) -> str:
        return f"<Program {self.name}: {', '.join(f.name for f in self.functions)}>"

    def check(self) -> None:
        """Check every function's nodes, names and ranges. Raises InternalError."""
        for function in self.callable:
            function.check()

    @property
    def callable(self) -> tuple[Function, ...]:
        """All functions that a caller has: those, and the conditions on their sizes."""
        return self.functions + self.fits

    @property
    def subjects(self) -> list[tuple[Function, ...]]:
        """The functions of each subject."""
        rest = iter(self.functions)
        return [tuple(islice(rest, n)) for n in self.parts or (len(self.functions),)]

    @property
    def is_layout(self) -> bool:
        """Whether it has one subject, a layout."""
        own = {f"{self.name}_apply", f"{self.name}_inv"}
        return len(self.parts) < 2 and own.issuperset(f.name for f in self.functions)

    @property
    def structs(self) -> list[tuple[Group, IndexType]]:
        """(struct, index type) of all structs that the file defines, each once."""
        found: dict[str, tuple[Group, IndexType]] = {}
        for f in (self.printed or self).functions:
            for group in filter(None, [*f.groups, f.result]):
                own = group.struct and not group.bound and group.native is None
                if own and group.whole:
                    found.setdefault(group.struct, (group, f.index_type))
        return [*found.values()]

    @property
    def natives(self) -> list[Any]:
        """The types of a code base (NativeType) that its functions have, each once."""
        groups = (
            g for f in self.functions for g in (*f.groups, f.result, f.receiver) if g is not None
        )
        return list(dict.fromkeys(g.native for g in groups if g.native is not None))

    @property
    def included(self) -> list[str]:
        """What those want at the beginning of the file."""
        return list(dict.fromkeys(n.include for n in self.natives if n.include))

    @property
    def tables(self) -> list[tuple[Entries, str]]:
        """(table, index type) of all constant tables, each once, in order of first use."""
        found = (
            (node.value, f.index_type)
            for f in self.functions
            for node in f.nodes()
            if node.op == "table" and not node.value.given
        )
        return list(dict.fromkeys(found))
