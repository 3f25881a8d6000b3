"""Divisions by what is fixed at launch, in a file: a product and a shift by numbers that NAME_prepare computes.

A function in which some parameters are prepared is printed with the struct NAME_sizes in their place, its
first parameter. Of each divisor that has a factor and a shift, and of each value that is made of those
parameters alone the value, where the function reads it. NAME_prepare makes the struct of the parameters.

Exactness, for N bits (32 or 64) and a divisor d >= 1:

- Signed, 0 <= n < 2^(N-1): with 2^(l-1) < d <= 2^l, factor m = ceil(2^(N-1+l) / d), n // d is
  n*m >> N-1+l. For m*d = 2^(N-1+l) + e with 0 <= e < d <= 2^l, so that n*m / 2^(N-1+l) is n/d + n*e / (d*2^(N-1+l)),
  and n*e < 2^(N-1+l): what is added is below 1/d, and n/d is at least 1/d below the next integer where it is none
  itself. m < 2^N: of l = 0 it is 2^(N-1), else d >= 2^(l-1) + 1 and 2^(N-1+l) / d < 2^N by more than 1.
- Unsigned, 0 <= n < 2^N: with 2^l <= d < 2^(l+1), n // d is n*m + a >> N+l. Let q, e = 2^(N+l) divmod d.
  Where d = 2^l: m = a = 2^N - 1, and (n+1)*(2^N - 1) = n*2^N + (2^N - 1 - n).
  Where d - e <= 2^l: m = q + 1, a = 0, as above by n*(d - e) < 2^(N+l).
  Else e < d - 2^l < 2^l: m = a = q, and with n = k*d + r (n+1)*q is k*2^(N+l) + (r+1)*q - k*e. That is at
  least k*2^(N+l), for k*e <= q follows of k*d <= 2^N - 1 and q*d = 2^(N+l) - e: (2^N - 1)*e <= 2^(N+l) - e.
  It is below (k+1)*2^(N+l), for (r+1)*q <= d*q = 2^(N+l) - e, and e > 0.
  m < 2^N, for q = 2^N only of d = 2^l; q + 1 = 2^N needs 2^(N+l) >= (2^N - 1)*d and 2^l < d, which is never.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..errors import TargetError, did_you_mean
from ..ir.index_types import IndexType
from ..ir.nodes import Node
from ..ir.program import Function, Group, Param, Program
from ..ir.relations import inlined, names_in, says
from ..operations import DIVISIONS
from .ops import Op
from .printer import Printer

FAST = "div.prepared"  # of a value by a factor and a shift; unsigned a summand is between those
MARKS = ("div.mul", "div.add", "div.shift")  # what prepares a divisor
WORDS = {" // ": "div", " - ": "minus", " + ": "plus", " % ": "mod", " << ": "shl"}  # in names
LONGEST = 40  # letters of the name that an expression gives a field


def shown(program: Program, printer: Printer) -> tuple[Program, Printer]:
    """What the file has of a program with prepared parameters, of each subject NAME_prepare, and its
    functions with the struct in the place of those parameters; and the printer that spells it. Raises
    TargetError where the language has no such division, and for functions that have more than a body."""
    if printer.writes_results:
        raise TargetError(
            f"results is {printer.naming.results!r}, and what is prepared for a launch is returned; leave one "
            "of both out"
        )
    if printer.dividing is None:
        kinds = {f.index_type for f in program.functions if is_prepared(f)}
        raise TargetError(
            f"{printer.title} has no product that is wider than {', '.join(sorted(kinds))} for a division by "
            "prepared numbers: leave prepare= out"
        )
    printer = printer.dividing()
    functions, parts, structs = list[Function](), list[int](), list[str]()
    for subject in program.subjects:
        made = subject
        if any(map(is_prepared, subject)):
            made = _of_subject(subject, printer)
            structs += [made[0].result.struct] if made[0].result else []
            made = _with_type(made, program.sizes_types, printer)
        functions += made
        parts.append(len(made))
    for name in program.sizes_types:
        if name not in structs:
            raise TargetError(
                f"types names {name}, which is no struct of the file; there are {', '.join(structs)}."
                f"{did_you_mean(name, structs)}"
            )
    made = tuple(parts) if len(parts) > 1 else ()
    return replace(program, functions=tuple(functions), parts=made), printer


def whole_groups(program: Program) -> Program:
    """A program in which all members of a struct or an array are fixed at launch where one is."""

    def of(f: Function) -> Function:
        groups = {n for g in f.groups if _is_fixed(g, f) for n in g.names}
        return replace(
            f,
            params=tuple(replace(p, prepared=p.prepared or p.name in groups) for p in f.params),
        )

    return replace(program, functions=tuple(map(of, program.functions)))


def is_prepared(f: Function) -> bool:
    """Whether some parameter of a function is fixed at launch."""
    return any(p.prepared for p in f.params)


def parts_of(index: IndexType) -> list[str]:
    """What prepares a divisor, in the order in which a quotient takes it."""
    return [op for op in MARKS if index.least == 0 or op != "div.add"]


def with_helpers(
    printer: Printer,
    ops: Mapping[str, Op],
    texts: Mapping[str, str],
    parts: Callable[[IndexType], Sequence[str]] = parts_of,
    typed: Mapping[str, Mapping[str, Op]] = MappingProxyType({}),
) -> Printer:
    """A printer with more spellings and helpers. parts: what prepares a divisor, "" for itself; typed:
    spellings of an index type."""
    made = copy(printer)
    made.ops, made.helpers = {**printer.ops, **ops}, {**printer.helpers, **texts}
    own = {t: {**printer.typed_ops.get(t, {}), **ops} for t, ops in typed.items()}
    made.typed_ops, made.dividing = {**printer.typed_ops, **own}, parts
    return made


def called(plain: Program, legal: Program) -> Program:
    """The program that callers in Python have: its functions by their names in the file, which takes what
    its NAME_prepare makes of their sizes. plain: with legal names of its own; legal: what is printed."""
    rest, functions = iter(legal.functions), list[Function]()
    for subject in plain.subjects:
        prepare = next(rest).name if any(map(is_prepared, subject)) else ""
        for f in subject:
            functions.append(replace(f, name=next(rest).name, prepare=prepare))
    return replace(plain, functions=tuple(functions), fits=legal.fits, printed=legal)


def _of_subject(subject: Sequence[Function], printer: Printer) -> tuple[Function, ...]:
    kinds = list(dict.fromkeys(f.index_type for f in subject))
    if len(kinds) > 1:
        raise TargetError(
            f"prepare: {subject[0].name} and {subject[-1].name} share what is prepared, and have the index "
            f"types {', '.join(kinds)}; give one, as index_type='{max(kinds, key=lambda t: t.most)}'"
        )
    (index,) = kinds
    for f in subject:
        more = "an array form" if f.axes else "a view" if f.view is not None else ""
        more = "operations that wrap" if f.wrapping else more
        more = "methods" if f.receiver is not None else more
        if bound := [one for one in (*f.params, *f.groups) if one.bound and _is_fixed(one, f)]:
            raise TargetError(
                f"bind: {bound[0].name} is prepared for a launch; leave one of both out"
            )
        bits = getattr(f.packing, "bits", 0)
        if bits in {p.name for p in f.params if p.prepared}:
            raise TargetError(
                f"{f.name}: the functions of its fields take {bits}, which is not prepared for a launch; name "
                "others in prepare=, or leave it out"
            )
        if more:
            raise TargetError(
                f"{f.name} has {more}, and there prepare= is not; leave one of both out"
            )
    from .fits import stem

    fixed = {p.name: p for f in subject for p in f.params if p.prepared}
    fields = Fields(stem(subject), index, fixed, printer.dividing(index))
    functions = [fields.function(f) for f in subject]
    group = fields.group(printer)
    own = fields.params
    made = [replace(f, params=(*own, *f.params), groups=(group, *f.groups)) for f in functions]
    return (fields.prepare(subject, printer), *made)


def _is_fixed(one: Param | Group, f: Function) -> bool:
    """Whether a parameter, or a member of it, is fixed at launch."""
    fixed = {p.name for p in f.params if p.prepared}
    return not fixed.isdisjoint(one.names if isinstance(one, Group) else [one.name])


def _with_type(
    functions: tuple[Function, ...], types: Mapping[str, Any], printer: Printer
) -> tuple[Function, ...]:
    """The functions of a subject with the name of the struct in the language, or with a type of a code
    base for it, where there is one."""
    prepare, *rest = functions
    assert prepare.result is not None
    name, fields = prepare.result.struct, prepare.result.fields
    native = types.get(name)
    if native is not None:
        from .natives import check

        check(name, native, fields, printer.native_member)
    own = {"native": native, "struct": name if native else printer.sizes_type(name)}
    made = replace(prepare, result=replace(prepare.result, **own))
    return made, *(replace(f, groups=(replace(f.groups[0], **own), *f.groups[1:])) for f in rest)


class Fields:
    """The struct of what functions read of sizes that are fixed at launch."""

    def __init__(
        self, name: str, index: IndexType, fixed: Mapping[str, Param], parts: Sequence[str]
    ):
        self.name, self.index, self.fixed, self.parts = name, index, fixed, parts
        self.made: dict[Node, str] = {}  # by what computes it, a field
        self.divisors: list[Node] = []
        self.kinds: dict[str, str] = {}
        self._unsigned = f"uint{index.width}"

    @property
    def params(self) -> list[Param]:
        """The fields as parameters, which have names that no other one has."""
        return [Param(_inner(n)) for n in self.made.values()]

    def group(self, printer: Printer) -> Group:
        """The struct as a parameter."""
        own = printer.naming.public(f"{self.name}_prepare")
        names = [*self.made.values()]
        return Group(
            "sizes",
            tuple(map(_inner, names)),
            f"{self.name}_sizes",
            tuple(names),
            f"what {own} makes of {', '.join(self.fixed)}",
            types=tuple(self.kinds[n] for n in names),
        )

    def prepare(self, subject: Sequence[Function], printer: Printer) -> Function:
        """The function that makes the struct."""
        called = " and ".join(printer.naming.public(f.name) for f in subject)
        names = [*self.made.values()]
        outputs = tuple((n, node) for node, n in self.made.items())
        params, groups = dict[str, Param](), dict[str, Group]()
        for f in subject:
            params |= {p.name: replace(p, prepared=False) for p in f.params if p.prepared}
            groups |= {g.name: g for g in f.groups if self.fixed.keys() >= {*g.names} and g.names}
        assumed = dict.fromkeys(c for f in subject for c in f.assumed if self._knows(c))
        result = replace(
            Group("", tuple(names), f"{self.name}_sizes", tuple(names)),
            types=tuple(self.kinds[n] for n in names),
        )
        return Function(
            f"{self.name}_prepare", tuple(params.values()), (), outputs, self.index,
            summary=f"What {called} take{'s' * (len(subject) == 1)} of sizes that are fixed for a launch: "
            "factors and shifts that divide.",
            assumed=tuple(assumed), groups=tuple(groups.values()), result=result,
        )  # fmt: skip

    def function(self, f: Function) -> Function:
        """A function that reads the struct: without the parameters that it takes the place of."""
        named: dict[str, Node] = {}
        body = list[tuple[str, Node]]()
        for name, node in f.body:
            whole = inlined(node, named)
            if self._knows(whole):
                named[name] = whole
            else:
                body.append((name, self._read(node, named)))
        outputs = tuple((n, self._read(node, named)) for n, node in f.outputs)
        return replace(
            f,
            params=tuple(p for p in f.params if not p.prepared),
            groups=tuple(g for g in f.groups if not self.fixed.keys() >= {*g.names}),
            body=tuple(body),
            outputs=outputs,
            assumed=tuple(c for c in f.assumed if not self._knows(c)),
        )

    def _knows(self, node: Node) -> bool:
        names = names_in(node)
        return bool(names) and self.fixed.keys() >= {*names}

    def _read(self, node: Node, named: Mapping[str, Node]) -> Node:
        """A node that reads fields in the place of sizes."""
        if node.op == "const" or (not node.args and node.op != "var"):
            return node
        whole = inlined(node, named)
        if self._knows(whole):
            if not whole.is_bool:
                return self._field(whole, whole)
            return node.over(tuple(self._read(a, named) for a in node.args))
        if not node.args:
            return node
        if node.op in DIVISIONS and self._knows(by := inlined(node.args[1], named)):
            value = self._read(node.args[0], named)
            parts = [self._field(Node(op, (by,)) if op else by, by, op[4:]) for op in self.parts]
            quotient = Node(FAST, (value, *parts), None, 0, value.hi)
            if node.op in ("div", "floordiv"):
                return replace(quotient, lo=node.lo, hi=node.hi)
            product = Node("mul", (self._field(by, by), quotient), None, 0, value.hi)
            return Node("sub", (value, product), None, node.lo, node.hi)
        return node.over(tuple(self._read(a, named) for a in node.args))

    def _place(self, field: tuple[Node, str]) -> tuple[int, int]:
        """Where a field stands: with the others of its divisor, in the order in which those were met."""
        op, (of, *_) = field[0].op, (*field[0].args, field[0])
        if op not in MARKS:
            return self.divisors.index(field[0]), len(MARKS)
        return self.divisors.index(of), MARKS.index(op)

    def _field(self, made: Node, of: Node, mark: str = "") -> Node:
        """What reads a field."""
        name = self.made.get(made)
        if name is None:
            text = re.sub(r">> (\d+)", lambda m: f"// {2 ** int(m[1])}", says(of))
            for sign, word in WORDS.items():
                text = text.replace(sign, f"_{word}_")
            stem = re.sub(r"\W+", "_", text)
            stem = re.sub("_+", "_", stem).strip("_")
            stem = stem if len(stem) <= LONGEST else "divisor"
            name = _fresh("_".join(filter(None, (stem, mark))), self.kinds)
            self.made[made] = name
            if of not in self.divisors:
                self.divisors.append(of)
            self.made = dict(sorted(self.made.items(), key=self._place))
            self.kinds[name] = {"": str(self.index), "shift": "uint32"}.get(mark, self._unsigned)
        return Node(
            "var", (), _inner(name), of.lo if not mark else None, of.hi if not mark else None
        )


def _inner(field: str) -> str:
    """The name of a field as a parameter."""
    return f"{field} of sizes"


def _fresh(wanted: str, taken: Iterable[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
